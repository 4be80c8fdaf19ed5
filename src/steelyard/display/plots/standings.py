"""Where classifiers stand: by their errors, by several measures, and over many data sets (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption, harmless
from ...core.table import Table
from ...core.text import estimated, with_interval
from .base import refuse_missing, refuse_strangers, stacked
from .style import (
    COLOURS,
    LINE,
    SMALL_SIZE,
    Looks,
    add_legend,
    canvas,
    dress,
    fitting,
    give_way,
    inches,
    legible,
    name_sides,
    size_in,
    stroke,
    text_colour,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
BOUNDS: Looks = {"color": COLOURS[5], "linewidth": 0.0, "zorder": 0.6}
REFERENCE: Looks = {"alpha": 0.8, "linewidth": 1.2, "zorder": 1.0}
DASHES: tuple[Any, ...] = ((0, (5, 2)), (0, (1.2, 1.6)), (0, (7, 2, 1.2, 2)))
WIDTH, EDGE, LINE_HEIGHT = 7.6, 1.0, 0.25  # inches
NAME = 30


@dataclass(frozen=True, eq=False, repr=False)
class ErrorBoundsDisplay:
    """Estimates of the error of one or more classifiers, on the band that the true error cannot leave.

    Attributes:
        errors: The table of each classifier, with the columns part (estimate, bound or reference), measure, title,
            value, low and high. Its bounds are a pair, the lower before the upper one.
        level: The coverage of the intervals.
    """

    errors: Mapping[str, Table]
    _: KW_ONLY
    level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not self.errors:
            raise BadOption("there is no estimate to draw", mend="Give at least one classifier and its table")
        for table in self.errors.values():
            refuse_missing(table, ("part", "measure", "title", "value", "low", "high"))

    def frame(self) -> Table:
        """All tables below each other, with the classifier's name in the column "model"."""
        return stacked(self.errors)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the estimates into the given axes, or into a new figure."""
        lines = sum(len(self._lines(name)) + 1 for name in self.errors)
        with canvas(ax, (WIDTH, EDGE + LINE_HEIGHT * lines)) as (own, axes), give_way(axes):
            axes.set(ylim=(lines - 0.4, -0.7), xlabel=f"error, with {100 * self.level:.4g} % intervals")
            dress(axes)
            axes.grid(visible=False, axis="y")
            self._draw_bounds(axes)
            self._draw_estimates(axes)
            self._draw_references(axes)
            self._name_lines(axes)
            add_legend(axes, "below", own, outside=True)
        return axes

    def _lines(self, name: str, part: str = "estimate") -> list[dict[str, Any]]:
        return [row for row in self.errors[name] if row["part"] == part]

    def _placed(self) -> Iterator[tuple[int, str, dict[str, Any] | None]]:
        """Every line from above with its place; the first of a classifier bears its name and no estimate."""
        place = 0
        for name in self.errors:
            for row in (None, *self._lines(name)):
                yield place, name, row
                place += 1

    def _draw_bounds(self, axes: Axes) -> None:
        """A band from bound to bound behind all lines of a classifier, and paler how far it may reach."""
        words: Looks = {"label": "bounds of the true error"}
        others: Looks = {"label": "intervals of these bounds"}
        for place, name, row in self._placed():
            if row is None:
                low, high = self._lines(name, "bound")
                ends = (place - 0.45, place + len(self._lines(name)) + 0.45)
                axes.fill_betweenx(ends, low["value"], high["value"], alpha=0.3, **BOUNDS, **words)
                axes.fill_betweenx(ends, low["low"], high["high"], alpha=0.15, **BOUNDS, **others)
                words = others = {}

    def _draw_estimates(self, axes: Axes) -> None:
        """One mark and one bar an estimate; the same measure looks the same for all classifiers."""
        shown = list(dict.fromkeys(row["measure"] for _, _, row in self._placed() if row is not None))
        for place, _, row in self._placed():
            if row is None or math.isnan(row["value"]):
                continue
            look = shown.index(row["measure"])
            colour = COLOURS[look % len(COLOURS)] or text_colour()
            axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=1.8, zorder=3.0)
            mark: Looks = {"marker": MARKERS[look % len(MARKERS)], "markersize": 6.5, "markeredgecolor": "white"}
            axes.plot([row["value"]], [place], color=colour, linestyle="none", zorder=4.0, **mark)
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))

    def _draw_references(self, axes: Axes) -> None:
        """What holds of the rows whatever the classifier: a line through all of them."""
        for row, dashes in zip(self._lines(next(iter(self.errors)), "reference"), DASHES, strict=False):
            words = f"{row['title']} {with_interval(row['value'], row['low'], row['high'])}"
            axes.axvline(row["value"], label=words, color=text_colour(), linestyle=dashes, **REFERENCE)

    def _name_lines(self, axes: Axes) -> None:
        """The estimates in words and numbers beside the axes, below the name of their classifier."""
        room = 72 * inches(axes)[1] / (len(list(self._placed())) + 0.3)
        texts = []
        for _, name, row in self._placed():
            numbers = "" if row is None else with_interval(row["value"], row["low"], row["high"])
            texts.append(legible(name, NAME) if row is None else f"{legible(row['title'])}  {numbers}")
        places = [place for place, _, _ in self._placed()]
        name_sides(axes, (places, texts), fontsize=size_in(room))
        for text, (_, _, row) in zip(axes.get_yticklabels(), self._placed(), strict=True):
            text.set_fontweight("bold" if row is None else "normal")


# --- ranks --------------------------------------------------------------------------------------------------------

COLUMN, ROW, RANKS_EDGE = 1.5, 0.62, 0.9  # inches
RANKS_NAME, HEADING = 24, 16  # how many signs names and headings may have in a line
DIRECTIONS = {"lower": "lower is better", "higher": "higher is better"}


@dataclass(frozen=True, eq=False, repr=False)
class RankingDisplay:
    """Who is first by which measure: one column a measure, the best on top.

    Attributes:
        ranks: The columns model, measure, title, better, value, low, high, rank and place; None is the rank of what
            is undefined.
        level: The coverage of the intervals.
    """

    ranks: Table
    _: KW_ONLY
    level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        refuse_missing(self.ranks, ("model", "measure", "title", "better", "value", "low", "high", "rank", "place"))
        if not len(self.ranks):
            raise BadOption("there is nothing to rank", mend="Give at least one measure and one classifier")

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.ranks

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ranks into the given axes, or into a new figure."""
        count, rows = len(self._columns), max(self.ranks["place"])
        longest = max(written(legible(name, RANKS_NAME), SMALL_SIZE) for name in self.ranks["model"])
        beside = longest * min(count, 2) + 0.3
        size = (COLUMN * max(count, 2) + beside, RANKS_EDGE + ROW * rows)
        # Names take their room from axes that are given, once these are laid out.
        column = COLUMN if ax is None else max(0.3, inches(ax)[0] - beside) / count
        with canvas(ax, size) as (_, axes), give_way(axes):
            axes.set(xlim=(-0.46, count - 0.54), ylim=(rows + 0.62, 0.6))
            axes.set_xlabel(f"value and {100 * self.level:.4g} % interval below each rank")
            dress(axes)
            axes.grid(visible=False)
            axes.spines[["left", "bottom"]].set_visible(False)
            self._draw_lines(axes)
            self._draw_ranks(axes, column)
            self._name(axes, column)
        return axes

    @property
    def _columns(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of every measure, in the order of their places."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in sorted(self.ranks, key=lambda row: row["place"]):
            found.setdefault(row["measure"], []).append(row)
        return {measure: found[measure] for measure in dict.fromkeys(self.ranks["measure"])}

    @property
    def _models(self) -> list[str]:
        """The classifiers in the order of the table, so that they look the same in all pictures."""
        return list(dict.fromkeys(self.ranks["model"]))

    def _draw_lines(self, axes: Axes) -> None:
        for index, name in enumerate(self._models):
            places = [row["place"] for rows in self._columns.values() for row in rows if row["model"] == name]
            axes.plot(range(len(places)), places, **stroke(index), **LINE)

    def _draw_ranks(self, axes: Axes, wide: float) -> None:
        """A disc with the rank in it, and below it what the rank is made of, in columns of so many inches."""
        face, models = axes.get_facecolor(), self._models
        lines = [line for row in self.ranks for line in _numbers(row)]
        small = fitting(lines, SMALL_SIZE - 1, wide)
        for column, rows in enumerate(self._columns.values()):
            for row in rows:
                x, y, colour = column, row["place"], stroke(models.index(row["model"]))["color"]
                disc: Looks = {"marker": "o", "markersize": 15.0, "markerfacecolor": face, "markeredgewidth": 1.8}
                axes.plot([x], [y], color=colour, linestyle="none", zorder=4.0, **disc)
                rank: Looks = {"ha": "center", "va": "center_baseline", "fontsize": SMALL_SIZE, "zorder": 5.0}
                axes.annotate("–" if row["rank"] is None else str(row["rank"]), (x, y), **rank)
                box: Looks = {"facecolor": face, "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
                below: Looks = {"xytext": (0.0, -10.5), "textcoords": "offset points", "va": "top", "bbox": box}
                below |= {"ha": "center", "fontsize": small, "linespacing": 1.05, "zorder": 5.0}
                axes.annotate("\n".join(_numbers(row)), (x, y), **below)

    def _name(self, axes: Axes, wide: float) -> None:
        """Measures above their columns of so many inches; classifiers beside the first and the last of them."""
        heads = [rows[0] for rows in self._columns.values()]
        texts = [f"{fill(legible(head['title']), HEADING)}\n({DIRECTIONS[head['better']]})" for head in heads]
        axes.xaxis.tick_top()
        lines = [line for text in texts for line in text.splitlines()]
        size = fitting(lines, SMALL_SIZE, wide)
        axes.set_xticks(range(len(heads)), texts, fontsize=size)
        axes.tick_params(length=0.0)
        for text in axes.get_xticklabels():
            text.set_usetex(False)
        first, *_, last = (
            ([row["place"] for row in rows], [legible(row["model"], RANKS_NAME) for row in rows])
            for rows in [*self._columns.values()] * 2
        )
        name_sides(axes, first, last if len(heads) > 1 else None, fontsize=SMALL_SIZE)


def _numbers(row: dict[str, Any]) -> list[str]:
    """What a rank is made of, in lines."""
    return ["undefined"] if row["rank"] is None else [*estimated(row["value"], row["low"], row["high"])]


# --- mean ranks over data sets ------------------------------------------------------------------------------------

DIAGRAM_NAME = 32  # how many signs a name may have
MOST_TICKS = 24
MIDDLE = 4.6  # inches between the names
DIAGRAM_ROW, BAR, GAP, DIAGRAM_EDGE, CAPTION = 0.27, 0.15, 0.16, 0.75, 0.35  # inches from above to below
STEM: Looks = {"linewidth": 0.9, "alpha": 0.75, "zorder": 2.0, "solid_capstyle": "butt"}
JOIN: Looks = {"color": COLOURS[0], "linewidth": 3.5, "zorder": 3.0, "solid_capstyle": "round"}
DOT: Looks = {"color": COLOURS[0], "marker": "o", "markersize": 6.0, "linestyle": "none", "zorder": 4.0}


@dataclass(frozen=True, eq=False, repr=False)
class CriticalDifferenceDisplay:
    """Who ranks where over many data sets, the best on the left, and who cannot be told from whom.

    Attributes:
        ranks: The columns model and mean_rank, from the best to the worst.
        groups: The columns group, model and mean_rank: whom a bar joins.
        critical_difference: How far mean ranks must lie apart; None if that is not how classifiers were told apart.
        test: By what classifiers were told apart, in words.
        level: One less the chance that is allowed for telling those apart that do not differ.
    """

    ranks: Table
    groups: Table
    _: KW_ONLY
    critical_difference: float | None = None
    test: str = ""
    level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        for table, columns in ((self.ranks, ("model", "mean_rank")), (self.groups, ("group", "model", "mean_rank"))):
            refuse_missing(table, columns)
        if len(self.ranks) < 2:
            raise BadOption("there is nothing to rank", mend="Give at least two classifiers")
        refuse_strangers("groups", self.groups["model"], self.ranks["model"])

    def frame(self) -> Table:
        """The ranks, with the numbers of the groups that a classifier is in."""
        groups: dict[str, list[str]] = {model: [] for model in self.ranks["model"]}
        for row in self.groups:
            groups[row["model"]].append(str(row["group"]))
        return Table({**self.ranks.columns, "groups": [", ".join(each) for each in groups.values()]})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the diagram into the given axes, or into a new figure."""
        longest = max(written(text, SMALL_SIZE) for text in self._texts())
        high = self._top + DIAGRAM_ROW * self._left + (GAP + BAR if self._shown else 0.0)
        size = (MIDDLE + 2 * longest + 0.4, DIAGRAM_EDGE + high + CAPTION)
        room = 72 * (DIAGRAM_ROW if ax is None else DIAGRAM_ROW * max(inches(ax)[1] - DIAGRAM_EDGE, 0.5) / high)
        with canvas(ax, size) as (_, axes), give_way(axes):
            axes.set(xlim=(0.9, len(self.ranks) + 0.1), ylim=(high, 0.0))
            self._draw_axis(axes)
            self._draw_stems(axes, size_in(room))
            self._draw_bars(axes)
            self._draw_caption(axes, high)
        return axes

    # --- places, in inches from the axis down -----------------------------------------------------------------------

    @property
    def _left(self) -> int:
        """How many classifiers are named on the left: the better half."""
        return math.ceil(len(self.ranks) / 2)

    @property
    def _bars(self) -> list[tuple[int, list[float]]]:
        """The line of every bar and the mean ranks that it joins; bars that do not meet may share a line."""
        ends: list[float] = []
        found = []
        members: dict[Any, list[float]] = {}
        for row in self.groups:
            members.setdefault(row["group"], []).append(row["mean_rank"])
        clear = 0.03 * len(self.ranks)
        for ranks in members.values():
            free = [line for line, end in enumerate(ends) if end + clear < min(ranks)]
            line = free[0] if free else len(ends)
            ends[line : line + 1] = [max(ranks)]
            found.append((line, ranks))
        return found

    @property
    def _top(self) -> float:
        """Where the first name stands: below all bars."""
        return GAP + BAR * (1 + max((line for line, _ in self._bars), default=-1)) + GAP

    @property
    def _shown(self) -> bool:
        """Whether the critical difference can be drawn: of few data sets, it is wider than all ranks."""
        return self.critical_difference is not None and self.critical_difference <= len(self.ranks) - 1

    # --- what is drawn ----------------------------------------------------------------------------------------------

    def _texts(self) -> list[str]:
        """Each classifier with its mean rank, which stands next to the diagram."""
        named = [(legible(row["model"], DIAGRAM_NAME), f"{row['mean_rank']:.2f}") for row in self.ranks]
        left = [f"{name}  {rank}" for name, rank in named[: self._left]]
        return left + [f"{rank}  {name}" for name, rank in named[self._left :]]

    def _draw_axis(self, axes: Axes) -> None:
        axes.spines[["left", "right", "bottom"]].set_visible(False)
        axes.spines["top"].set(visible=True, color=text_colour(), linewidth=1.2, bounds=(1, len(self.ranks)))
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xticks(range(1, len(self.ranks) + 1, math.ceil(len(self.ranks) / MOST_TICKS)))
        axes.set_xlabel("mean rank (1 is the best)", fontsize=SMALL_SIZE)
        axes.tick_params(axis="x", labelsize=SMALL_SIZE)

    def _draw_stems(self, axes: Axes, size: float) -> None:
        """From the axis down, and to the side where the name stands; the outermost names stand highest."""
        left, texts = self._left, self._texts()
        rows = [*range(left), *reversed(range(len(texts) - left))]
        places = [self._top + DIAGRAM_ROW * (row + 0.5) for row in rows]
        edges = axes.get_xlim()
        for index, (rank, place) in enumerate(zip(self.ranks["mean_rank"], places, strict=True)):
            edge = edges[0] if index < left else edges[1]
            axes.plot([rank, rank, edge], [0.0, place, place], color=text_colour(), **STEM)
        name_sides(axes, (places[:left], texts[:left]), (places[left:], texts[left:]), pad=3.0, fontsize=size)

    def _draw_bars(self, axes: Axes) -> None:
        """A bar from the first of a group to the last, with a dot for every member: others may rank in between."""
        for line, ranks in self._bars:
            place = GAP + BAR * (line + 0.5)
            axes.plot([min(ranks), max(ranks)], [place, place], **JOIN)
            axes.plot(ranks, [place] * len(ranks), **DOT)

    def _draw_caption(self, axes: Axes, high: float) -> None:
        """What joins classifiers, and how long the critical difference is."""
        by = f" by {harmless(self.test)}" if self.test else ""
        words = f"joined: not told apart{by} at {100 * self.level:.4g} %"
        if self.critical_difference is not None:
            words = f"critical difference {self.critical_difference:.2f}; {words}"
        if self.critical_difference is not None and self._shown:
            start, place = 1 + (len(self.ranks) - 1 - self.critical_difference) / 2, high - BAR / 2
            ends = [start, start + self.critical_difference]
            axes.plot(ends, [place, place], color=text_colour(), linewidth=1.4, marker="|", markersize=9.0)
        below: Looks = {"xytext": (0.0, -4.0), "textcoords": "offset points", "ha": "center", "va": "top"}
        axes.annotate(words, (0.5, 0.0), xycoords="axes fraction", fontsize=SMALL_SIZE, **below)


# --- posterior probabilities --------------------------------------------------------------------------------------

PAIR_NAME = 28
PAIR_MIDDLE, PAIR_ROW, PAIR_EDGE = 4.2, 0.34, 0.8  # inches
NARROW = 0.09  # a part with less than this has no room for its number
# Told apart by the colour-blind and in grey; what is written on them can be read.
PARTS = {"a_better": (COLOURS[0], "white"), "equivalent": ("#D0D0D0", "black"), "b_better": (COLOURS[4], "black")}


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorDisplay:
    """One bar a pair of classifiers: the left one better, as good as each other, the right one better.

    Attributes:
        pairs: The columns a, b, a_better, equivalent and b_better.
        rope: Up to where a difference does not matter.
    """

    pairs: Table
    _: KW_ONLY
    rope: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        refuse_missing(self.pairs, ("a", "b", *PARTS))
        if not len(self.pairs):
            raise BadOption("there is no pair to draw", mend="Give at least two classifiers")

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.pairs

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the bars into the given axes, or into a new figure."""
        count = len(self.pairs)
        longest = max(written(legible(name, PAIR_NAME), SMALL_SIZE) for name in [*self.pairs["a"], *self.pairs["b"]])
        size = (PAIR_MIDDLE + 2 * longest + 0.3, PAIR_EDGE + PAIR_ROW * count)
        room = 72 * (PAIR_ROW if ax is None else inches(ax)[1] / count)
        with canvas(ax, size) as (own, axes), give_way(axes):
            axes.set(xlim=(0.0, 1.0), ylim=(count - 0.4, -0.6), xlabel="probability")
            dress(axes)
            axes.grid(visible=False)
            axes.spines["left"].set_visible(False)
            self._draw_bars(axes, min(SMALL_SIZE, max(4.0, 0.6 * room)))
            self._name(axes, size_in(room))
            add_legend(axes, "below", own, outside=True)
        return axes

    def _draw_bars(self, axes: Axes, size: float) -> None:
        words = {"a_better": "left one better", "b_better": "right one better"}
        words["equivalent"] = f"no difference that matters (within {self.rope:g})"
        starts = [0.0] * len(self.pairs)
        for part, (colour, ink) in PARTS.items():
            if part == "equivalent" and not self.rope:
                continue
            shares, places = self.pairs[part], range(len(self.pairs))
            axes.barh(places, shares, left=starts, height=0.72, color=colour, label=words[part])
            inside: Looks = {"ha": "center", "va": "center_baseline", "fontsize": size, "color": ink}
            for place, start, share in zip(places, starts, shares, strict=True):
                if share >= NARROW:
                    axes.annotate(f"{share:.2f}", (start + share / 2, place), **inside)
            starts = [start + share for start, share in zip(starts, shares, strict=True)]

    def _name(self, axes: Axes, size: float) -> None:
        places = range(len(self.pairs))
        left, right = ([legible(name, PAIR_NAME) for name in self.pairs[side]] for side in "ab")
        name_sides(axes, (places, left), (places, right), fontsize=size)

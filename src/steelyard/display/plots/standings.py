"""Estimates within the bounds of the true error, and classifiers in their order by several measures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption
from ...core.table import Table
from ...core.text import estimated, with_interval
from .base import refuse_missing, stacked
from .style import (
    COLOURS,
    LINE,
    SMALL_SIZE,
    Looks,
    add_legend,
    dress,
    fitting,
    give_way,
    inches,
    legible,
    literal_text,
    name_sides,
    new_figure,
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
        with literal_text():
            own, axes = new_figure((WIDTH, EDGE + LINE_HEIGHT * lines)) if ax is None else (None, ax)
            with give_way(axes):
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
        name_sides(axes, (places, texts), fontsize=min(SMALL_SIZE, max(4.0, 0.75 * room)))
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
        with literal_text():
            size = (COLUMN * max(count, 2) + beside, RANKS_EDGE + ROW * rows)
            axes = new_figure(size)[1] if ax is None else ax
            # Names take their room from axes that are given, once these are laid out.
            column = COLUMN if ax is None else max(0.3, inches(ax)[0] - beside) / count
            with give_way(axes):
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
            look = stroke(index)
            axes.plot(range(len(places)), places, color=look.color, linestyle=look.linestyle, **LINE)

    def _draw_ranks(self, axes: Axes, wide: float) -> None:
        """A disc with the rank in it, and below it what the rank is made of, in columns of so many inches."""
        face, models = axes.get_facecolor(), self._models
        lines = [line for row in self.ranks for line in _numbers(row)]
        small = fitting(lines, SMALL_SIZE - 1, wide)
        for column, rows in enumerate(self._columns.values()):
            for row in rows:
                x, y, colour = column, row["place"], stroke(models.index(row["model"])).color
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

"""Classifiers over many data sets: mean ranks on a line (Demšar 2006), and bars of posterior probabilities."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption, harmless
from ...core.table import Table
from .base import refuse_missing, refuse_strangers
from .style import (
    COLOURS,
    SMALL_SIZE,
    Looks,
    add_legend,
    dress,
    give_way,
    inches,
    legible,
    literal_text,
    name_sides,
    new_figure,
    text_colour,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = 32  # how many signs a name may have
MOST_TICKS = 24
MIDDLE = 4.6  # inches between the names
ROW, BAR, GAP, EDGE, CAPTION = 0.27, 0.15, 0.16, 0.75, 0.35  # inches from above to below
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
        high = self._foot + (GAP + BAR if self._shown else 0.0)
        with literal_text():
            size = (MIDDLE + 2 * longest + 0.4, EDGE + high + CAPTION)
            axes = new_figure(size)[1] if ax is None else ax
            room = 72 * (ROW if ax is None else ROW * max(inches(ax)[1] - EDGE, 0.5) / high)
            with give_way(axes):
                axes.set(xlim=(0.9, len(self.ranks) + 0.1), ylim=(high, 0.0))
                self._draw_axis(axes)
                self._draw_stems(axes, min(SMALL_SIZE, max(4.0, 0.75 * room)))
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
    def _foot(self) -> float:
        return self._top + ROW * self._left

    @property
    def _shown(self) -> bool:
        """Whether the critical difference can be drawn: of few data sets, it is wider than all ranks."""
        return self.critical_difference is not None and self.critical_difference <= len(self.ranks) - 1

    # --- what is drawn ----------------------------------------------------------------------------------------------

    def _texts(self) -> list[str]:
        """Each classifier with its mean rank, which stands next to the diagram."""
        named = [(legible(row["model"], NAME), f"{row['mean_rank']:.2f}") for row in self.ranks]
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
        places = [self._top + ROW * (row + 0.5) for row in rows]
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
        with literal_text():
            size = (PAIR_MIDDLE + 2 * longest + 0.3, PAIR_EDGE + PAIR_ROW * count)
            own, axes = new_figure(size) if ax is None else (None, ax)
            room = 72 * (PAIR_ROW if ax is None else inches(ax)[1] / count)
            with give_way(axes):
                axes.set(xlim=(0.0, 1.0), ylim=(count - 0.4, -0.6), xlabel="probability")
                dress(axes)
                axes.grid(visible=False)
                axes.spines["left"].set_visible(False)
                self._draw_bars(axes, min(SMALL_SIZE, max(4.0, 0.6 * room)))
                self._name(axes, min(SMALL_SIZE, max(4.0, 0.75 * room)))
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

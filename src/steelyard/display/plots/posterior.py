"""Stacked bars: how probable it is that either of two classifiers is better, or that it does not matter."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...core.errors import BadOption
from ...core.table import Table
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
    new_figure,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = 28
MIDDLE, ROW, EDGE = 4.2, 0.34, 0.8  # inches
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
        for column in ("a", "b", *PARTS):
            self.pairs[column]  # raises if it is not there
        if not len(self.pairs):
            raise BadOption("there is no pair to draw", mend="Give at least two classifiers")

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.pairs

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the bars into the given axes, or into a new figure."""
        count = len(self.pairs)
        longest = max(written(legible(name, NAME), SMALL_SIZE) for name in [*self.pairs["a"], *self.pairs["b"]])
        with literal_text():
            size = (MIDDLE + 2 * longest + 0.3, EDGE + ROW * count)
            own, axes = new_figure(size) if ax is None else (None, ax)
            room = 72 * (ROW if ax is None else inches(ax)[1] / count)
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
        axes.set_yticks(places, [legible(name, NAME) for name in self.pairs["a"]], fontsize=size)
        right = axes.secondary_yaxis("right")
        right.set_yticks(places, [legible(name, NAME) for name in self.pairs["b"]], fontsize=size)
        right.spines["right"].set_visible(False)
        for each in (axes, right):
            each.tick_params(axis="y", length=0.0)
            for text in each.get_yticklabels():
                text.set_usetex(False)

"""What a measure is over the values of a parameter, on rows held out and on rows fitted to."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption
from ...core.table import Table
from .base import refuse_missing
from .style import (
    SMALL_SIZE,
    Looks,
    add_legend,
    dress,
    give_way,
    inches,
    legible,
    literal_text,
    new_figure,
    stroke,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 4.2)
BARS: Looks = {"fmt": "o", "capsize": 3.0, "elinewidth": 1.2, "markersize": 5.0, "zorder": 2.5}
SEEN: Looks = {"marker": "s", "markersize": 3.5, "linewidth": 1.2, "zorder": 2.0}
CHOSEN: Looks = {"marker": "o", "s": 150.0, "facecolors": "none", "linewidths": 1.6, "zorder": 3.0}


@dataclass(frozen=True, eq=False, repr=False)
class TuningDisplay:
    """Values with bars of one standard error, over one parameter.

    Attributes:
        curve: The table, with a column of the parameter's values, and value, se, training and chosen.
        parameter: The name of that column.
        title: What the measure is called.
        limit: Where one standard error beyond the best value is; NaN where it plays no part.
    """

    curve: Table
    parameter: str
    _: KW_ONLY
    title: str
    limit: float = math.nan

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not len(self.curve):
            raise BadOption("there is no candidate to draw", mend="Give at least one")
        refuse_missing(self.curve, (self.parameter, "value", "se", "training", "chosen"))

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.curve

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve into the given axes, or into a new figure."""
        with literal_text():
            own, axes = new_figure(SIZE) if ax is None else (None, ax)
            with give_way(axes):
                self._draw(axes)
                dress(axes)
                add_legend(axes, "best", own)
        return axes

    def _draw(self, axes: Axes) -> None:
        places = self._places(axes)
        # Lines go from left to right, whatever the order in which values were tried.
        order = sorted(range(len(places)), key=places.__getitem__)
        places = [places[row] for row in order]
        value, se, training, chosen = (
            [self.curve[name][row] for row in order] for name in ("value", "se", "training", "chosen")
        )
        held, seen = stroke(0), stroke(1)
        axes.plot(places, value, color=held.color, linewidth=1.4, zorder=2.4)
        axes.errorbar(places, value, yerr=se, color=held.color, label="held out, ± 1 standard error", **BARS)
        if not all(math.isnan(one) for one in training):
            looks = {"color": seen.color, "linestyle": seen.linestyle, **SEEN}
            axes.plot(places, training, label="in training", **looks)
        if math.isfinite(self.limit):
            axes.axhline(
                self.limit,
                color="0.5",
                linestyle=(0, (2, 2)),
                linewidth=1.0,
                label="1 standard error from the best",
            )
        here, there = ([one for one, it in zip(ones, chosen, strict=True) if it] for ones in (places, value))
        axes.scatter(here, there, edgecolors=held.color, label="chosen", **CHOSEN)
        axes.set(xlabel=legible(self.parameter), ylabel=self.title)

    def _places(self, axes: Axes) -> list[Any]:
        """Numbers where they belong, on a scale of powers if they are; anything else one beside the other.

        An infinite one has no place among numbers.
        """
        values = self.curve[self.parameter]
        if all(_is_finite(value) for value in values):
            spread = [value for value in values if value > 0]
            if len(spread) == len(values) and max(spread) > 50 * min(spread):
                axes.set_xscale("log")
            return list(values)
        words = [legible(value, 18) for value in values]
        crowded = sum(written(f"{word}  ", SMALL_SIZE) for word in words) > inches(axes)[0]
        slanted: Looks = {"rotation": 40.0, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
        axes.set_xticks(range(len(values)), words, **slanted)
        return list(range(len(values)))


def _is_finite(value: Any) -> bool:
    """Whether it is a number, and has a place on an axis."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf

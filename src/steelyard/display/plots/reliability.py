"""Forecasts against frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...core.table import Table
from .curves import UNIT
from .display import Display, refuse_strangers
from .style import REFERENCE, SMALL_SIZE, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Where the bars stand, in parts of the axes: above them, as wide as they are.
ABOVE = (0.0, 1.03, 1.0, 0.16)


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """How often what was forecast came true, against the forecast; calibrated forecasts lie on the diagonal.

    The tables have the columns forecast and frequency, and may have low and high: the band in which calibrated
    forecasts would stay.

    Attributes:
        bars: How the forecasts of each curve are spread, with the columns from, to and share; drawn above the curves.
    """

    bars: Mapping[str, Table] = field(default_factory=dict, kw_only=True)

    x = "forecast"
    y = "frequency"
    x_title = "forecast probability"
    y_title = "how often it came true"
    corner = "lower right"
    size = (5.4, 6.0)

    def __post_init__(self) -> None:
        """Refuse bars of curves that are not drawn."""
        super().__post_init__()
        refuse_strangers("bars", self.bars, self.curves)

    def _scale(self, axes: Axes) -> None:
        # Not of equal aspect: the bars above need room that the layout finds only where axes may give way.
        axes.set(xlim=UNIT, ylim=UNIT)

    def _add_reference(self, axes: Axes) -> None:
        axes.plot([0.0, 1.0], [0.0, 1.0], label="calibrated", **REFERENCE)
        if self.bars:
            if axes.figure.get_layout_engine() is None:
                # Nothing else makes room above the axes: they give up some of their own.
                place = axes.get_position()
                axes.set_position((place.x0, place.y0, place.width, place.height / (ABOVE[1] + ABOVE[3])))
            self._draw_bars(axes.inset_axes(ABOVE))

    def _draw_bars(self, above: Axes) -> None:
        """Outlines, so that several can be told apart; the only one is filled."""
        for index, name in enumerate(self.curves):
            if name not in self.bars:
                continue
            table, look = self.bars[name], stroke(index)
            edges, fill = [*table["from"], table["to"][-1]], len(self.bars) == 1
            above.stairs(table["share"], edges, color=look.color, linestyle=look.linestyle, alpha=0.8, fill=fill)
        above.set(xlim=UNIT)
        above.set_ylabel("share", fontsize=SMALL_SIZE)
        above.tick_params(labelsize=SMALL_SIZE, labelbottom=False)
        above.locator_params(axis="y", nbins=2)
        above.spines[["top", "right"]].set_visible(False)

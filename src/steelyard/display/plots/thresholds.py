"""Measures of one classifier against its threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...core.errors import BadOption
from .display import Display, Line
from .style import REFERENCE, SMALL_SIZE, TEXT_SIZE, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdDisplay(Display):
    """What measures of one classifier become as its threshold moves.

    The table has the column threshold and one column a measure, and may have ``<measure>_low`` and
    ``<measure>_high``: its band. Labels are by measure here. Infinite thresholds are left out of the picture.

    Attributes:
        chosen: The threshold in use, drawn as an upright line with its value on top.
    """

    chosen: float | None = field(default=None, kw_only=True)

    x = "threshold"
    x_title = "threshold"
    y_title = "value of the measure"
    corner = "below"
    steps = True  # a row is assigned from the threshold on: what holds at a score holds above the score below it

    def __post_init__(self) -> None:
        """Refuse several classifiers: each has thresholds of its own."""
        super().__post_init__()
        if len(self.curves) > 1:
            raise BadOption(f"there are {len(self.curves)} classifiers", mend="Make one display for each of them")

    def _lines(self) -> Iterator[Line]:
        """The lines to draw: one a measure."""
        for table in self.curves.values():
            names = [name for name in table.column_names if name != self.x]
            bands = {f"{name}{end}" for name in names for end in ("_low", "_high")}
            for name in names:
                if name not in bands:
                    yield Line(name, table, name, f"{name}_low", f"{name}_high")

    def _add_reference(self, axes: Axes) -> None:
        """Mark the chosen threshold. Its value stands above the axes, where no curve can be below it."""
        (name,) = self.curves
        drawn = self.chosen is not None and math.isfinite(self.chosen)
        axes.set_title(legible(name), loc="left", fontsize=TEXT_SIZE, pad=20.0 if drawn else None)
        if self.chosen is not None and drawn:
            axes.axvline(self.chosen, **REFERENCE)
            axes.annotate(
                f"chosen {self.chosen:.4g}",
                (self.chosen, 1.0),
                xycoords=axes.get_xaxis_transform(),
                xytext=(0.0, 4.0),
                textcoords="offset points",
                horizontalalignment="center",
                fontsize=SMALL_SIZE,
            )

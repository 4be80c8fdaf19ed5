"""Pictures of tuning: fills the display with a finished table, and draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadOption, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean
from ..core.table import Table
from ..modelling.tuning import column_of
from .plots.tuning import TuningDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..measures.registry import Measure
    from ..modelling.tuning import Tuning


@dataclass(frozen=True)
class TuningPictures:
    """What can be drawn of a search."""

    tuning: Tuning

    def curve(self, parameter: str | None = None, ax: Axes | None = None) -> TuningDisplay:
        """The measure over one parameter, with bars of one standard error; of several, the best over the others.

        Args:
            parameter: Which one; the first that varies, if not given.
            ax: Where to draw; a figure of its own, if not given.
        """
        table, tuning = self.tuning.table(), self.tuning
        names = list(dict.fromkeys(name for one in tuning.candidates for name in one.parameters))
        varying = [name for name in names if len({repr(value) for value in table[column_of(name)]}) > 1]
        chosen = parameter or (varying or names or [""])[0]
        if chosen not in names:
            mend = did_you_mean(chosen, names, f"There are {listed(names)}")
            raise BadOption(f"there is no parameter {quoted(chosen)}", mend=mend)
        best, measure = tuning.best.estimate, tuning.measure
        limit = measure.loss(measure.loss(best.value) + best.se) if tuning.one_se else np.nan
        rows = _best_of_each(table, column_of(chosen), measure)
        display = TuningDisplay(rows, column_of(chosen), title=measure.title, limit=float(limit))
        display.plot(ax)
        return display


def _best_of_each(table: Table, parameter: str, measure: Measure) -> Table:
    """One row for every value of a parameter: the one that was chosen, or the one with the best value."""
    kept: dict[str, dict[str, Any]] = {}
    # What is undefined comes last: it compares with nothing, and would leave all others in any order.
    for row in sorted(table, key=lambda row: (not row["chosen"], np.isnan(row["value"]), measure.loss(row["value"]))):
        kept.setdefault(repr(row[parameter]), row)
    order = dict.fromkeys(repr(value) for value in table[parameter])
    return Table.of_rows(table.column_names, [tuple(kept[value].values()) for value in order])

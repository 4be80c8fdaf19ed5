"""Pictures of tuning: fills the display with a finished table, and draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BadOption, quoted
from ..plots.tuning import TuningDisplay
from ..scale import listed
from ..table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .tuning import Tuning


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
        varying = [name for name in names if len({repr(value) for value in table[name]}) > 1]
        chosen = parameter or (varying or names or [""])[0]
        if chosen not in names:
            raise BadOption(f"there is no parameter {quoted(chosen)}", mend=f"There are {listed(names)}")
        sign = 1.0 if tuning.measure.better == "lower" else -1.0
        best = tuning.best.estimate
        limit = best.value + sign * best.se if tuning.one_se else np.nan
        display = TuningDisplay(
            _best_of_each(table, chosen, sign), chosen, title=tuning.measure.title, limit=float(limit)
        )
        display.plot(ax)
        return display


def _best_of_each(table: Table, parameter: str, sign: float) -> Table:
    """One row for every value of a parameter: the one with the best value, or the one that was chosen."""
    kept: dict[str, dict[str, object]] = {}
    for row in table:
        key, turned = repr(row[parameter]), sign * row["value"]
        other = kept.get(key)
        if other is None or row["chosen"] or (not other["chosen"] and turned < sign * float(str(other["value"]))):
            kept[key] = row
    return Table({name: [row[name] for row in kept.values()] for name in table.column_names})

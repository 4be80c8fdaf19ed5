"""Wilson's interval of a proportion of observations, and that of an estimate which stays near such a proportion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .hall import HALL
from .skewed import Skewed, SkewedSource, proportion_bounds

if TYPE_CHECKING:
    from ..tails import Tails


@dataclass(frozen=True)
class WilsonOfRows(Skewed):
    """A proportion whose standard error is known from the observations."""

    method: str = "Wilson"
    reach: tuple[float, float] = (0.0, 1.0)

    def of_rows(self, source: SkewedSource, slot: Any, error: float, tails: Tails, level: float) -> tuple[float, float]:
        """Return the bounds by the observations alone."""
        del tails
        found = source.result(slot)
        return proportion_bounds(source, found.value[0], error, level, found.freedom[0])


@dataclass(frozen=True)
class ShiftedWilson(Skewed):
    """Wilson's interval of the proportion that an estimate goes with, moved to the estimate."""

    method: str = "Wilson, moved"

    def of_rows(self, source: SkewedSource, slot: Any, error: float, tails: Tails, level: float) -> tuple[float, float]:
        """Return the bounds by the observations alone."""
        usual = HALL.of_rows(source, slot, error, tails, level)
        (value, _), _, (freedom, _), _ = source.result(slot)
        share, sign = source.counted(slot)
        bounds = proportion_bounds(source, share, error, level, freedom)
        low, high = source.turned(slot, str(slot.measure.counted), bounds) or sorted(
            value + sign * (bound - share) for bound in bounds
        )
        # All rows are right, say: the share may yet be another, and something else makes the value scatter.
        return (low, high) if 0 < share < 1 else (min(low, usual[0]), max(high, usual[1]))


UNSHIFTED, SHIFTED_WILSON = WilsonOfRows(), ShiftedWilson()

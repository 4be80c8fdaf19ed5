"""Wilson's interval of a proportion of observations, and that of an estimate which stays near such a proportion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .hall import of_rows, rare_bounds
from .skewed import proportion_bounds, skewed

if TYPE_CHECKING:
    from ..evaluation import Slot
    from ..row_evaluation import SkewedEvaluation
    from ..tails import Tails


def of_proportion(
    source: SkewedEvaluation, slot: Slot, error: float, tails: Tails, level: float
) -> tuple[float, float]:
    """Return the bounds of a proportion whose standard error is known from the observations."""
    del tails
    found = source.result(slot)
    return proportion_bounds(source, found.value[0], error, level, found.freedom[0])


def moved(source: SkewedEvaluation, slot: Slot, error: float, tails: Tails, level: float) -> tuple[float, float]:
    """Return the bounds of the proportion that an estimate goes with, moved to the estimate."""
    usual = of_rows(source, slot, error, tails, level, rare_bounds)
    (value, _), _, (freedom, _), _ = source.result(slot)
    share, sign = source.counted(slot)
    bounds = proportion_bounds(source, share, error, level, freedom)
    low, high = source.turned(slot, str(slot.measure.counted), bounds) or sorted(
        value + sign * (bound - share) for bound in bounds
    )
    # All rows are right, say: the share may yet be another, and something else makes the value scatter.
    return (low, high) if 0 < share < 1 else (min(low, usual[0]), max(high, usual[1]))


UNSHIFTED = skewed("Wilson", of_proportion, (0.0, 1.0))
SHIFTED_WILSON = skewed("Wilson, moved", moved)

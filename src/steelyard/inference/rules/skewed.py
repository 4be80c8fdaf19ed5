"""What the rules of skewed means have in common: measured values, and distances in a partition space.

Such an interval is that of the observations alone, which each rule makes in its own way, moved outwards by a standard
deviation that was only estimated, and by what these observations really have where that is what is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..design import NO_ERROR
from ..student_t import critical_values
from . import IntervalRule, slot_by_slot
from .wilson import wilson

if TYPE_CHECKING:
    from ..evaluation import Slot
    from ..row_evaluation import SkewedEvaluation
    from ..tails import Tails

    OfRows = Callable[["SkewedEvaluation", "Slot", float, "Tails", float], tuple[float, float]]

ALL = 1 - 1e-9  # of a variance: what is left of it is rounding


def skewed(method: str, of_rows: OfRows, reach: tuple[float, float] = (-np.inf, np.inf)) -> IntervalRule:
    """Return a rule; ``of_rows`` makes bounds by the observations, from a slot, its standard error, tails and level."""
    return IntervalRule(method, reach, bounds=partial(slot_by_slot, partial(_of_slot, of_rows)))


def _of_slot(of_rows: OfRows, source: SkewedEvaluation, slot: Slot, level: float) -> tuple[float, float]:
    """Bounds by the rows, moved outwards by a deviation that was estimated, and by what these rows really have."""
    found = source.result(slot)
    value, variance, freedom = found.value[0], found.variance[0], found.freedom[0]
    if np.isnan(value):
        return np.nan, np.nan
    if freedom <= 0:
        low, high = slot.measure.span
        return low, high
    low, high = _moved_apart(source, slot, _by_rows(of_rows, source, slot, level), level)
    latent = source.latent_bounds(slot, level)
    if latent is not None:
        low, high = min(low, latent[0]), max(high, latent[1])
    if slot.measure.rooted is not None:
        # Near 0 the square hardly moves, whatever its root does.
        if value > 0:
            root, error = np.sqrt(value), np.sqrt(variance / value) / 2
        else:
            (root, _), (variance, _), _, _ = source.result(slot._replace(measure=slot.measure.rooted))
            error = np.sqrt(variance)
        reach = float(critical_values(level, np.array([freedom]))[0] * error)
        high = max(high, max(float(root) + reach, 0.0) ** 2)
    return low, high


def _by_rows(of_rows: OfRows, source: SkewedEvaluation, slot: Slot, level: float) -> tuple[float, float]:
    """Bounds by what the rows alone tell: the share of a deviation in the variance is taken off."""
    found, tails, share = source.result(slot), source.tails_of(slot), source.deviation_share(slot)
    value, variance = found.value[0], found.variance[0]
    if share > 0:
        variance = variance * (1 - share) if share < ALL else 0.0
        tails = tails.with_normal(np.array([-share / (1 - share)])) if share < ALL else tails.none(1)
    error = float(np.sqrt(variance))
    if error < NO_ERROR * max(abs(value), 1e-300) or error == 0:
        return source.without_spread(slot, value, level)
    return of_rows(source, slot, error, tails, level)


def _moved_apart(
    source: SkewedEvaluation, slot: Slot, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """Bounds that also cover what the deviation may be: both distances from the value add up by their squares.

    Each is exact where the other is nothing (Zou & Donner 2008, Statistics in Medicine 27, 1693-1702).
    """
    ends = source.deviation_bounds(slot, level)
    if ends is None:
        return bounds
    power = 2 if source.is_root(slot) else 1
    value, low, high, least, most = (each**power for each in (source.result(slot).value[0], *bounds, *ends))
    low, high = value - np.hypot(value - low, value - least), value + np.hypot(high - value, most - value)
    return (max(low, 0.0) ** 0.5, high**0.5) if power == 2 else (low, high)


def proportion_bounds(
    source: SkewedEvaluation, share: float, error: float, level: float, freedom: float
) -> tuple[float, float]:
    """Return Wilson's bounds by as many trials as would give this standard error.

    At an end of its span no error tells that number, but the rows do.
    """
    variance = share * (1 - share)
    trials = variance / error**2 if variance > 0 else source.total / source.unit
    low, high = wilson(np.array([share]), np.array([trials]), level, freedom)
    return float(low[0]), float(high[0])

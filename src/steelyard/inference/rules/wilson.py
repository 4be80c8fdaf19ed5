"""Wilson's interval of a proportion (1927, J. American Statistical Association 22, 209-212)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..design import NO_ERROR
from ..student_t import critical_values
from . import SIDES, Evidence, IntervalRule

if TYPE_CHECKING:
    from ...core.typing import Array


def by_trials(evidence: Evidence) -> Array:
    """Return score intervals by as many trials as would give the standard error: observations may weigh unequally.

    A proportion that is the same whatever the observations are is its own interval.
    """
    found = score_bounds(evidence.value, evidence.error, evidence.trials, evidence.critical)
    return np.where(evidence.smooth <= NO_ERROR, evidence.value, found)


WILSON = IntervalRule("Wilson", (0.0, 1.0), "delta.logit", bounds=by_trials)


def wilson(value: Array, trials: Array, level: float, freedom: float = np.inf) -> tuple[Array, Array]:
    """Return Wilson's bounds of proportions of so many trials."""
    critical = critical_values(level, np.full(len(value), freedom))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = score_bounds(value, np.zeros(len(value)), trials, critical)
    endless = np.isinf(critical)  # one cluster says nothing about others
    low, high = np.where(endless, 0.0, low), np.where(endless, 1.0, high)
    return np.minimum(low, value), np.maximum(high, value)  # at 0 and at 1 but for rounding


def score_bounds(value: Array, error: Array, trials: Array, critical: Array) -> Array:
    """Return the bounds by the number of trials that would give the standard error found: (2, estimates)."""
    variance = value * (1 - value)
    inside = (variance > 0) & (error > NO_ERROR)
    square = np.square(critical) / np.where(inside, variance / np.square(error), trials)
    shrunk, half = 1 + square, square / 2
    middle, reach = (value + half) / shrunk, np.sqrt(square * variance + np.square(half)) / shrunk
    return np.asarray(np.minimum(np.maximum(middle + SIDES * reach, 0.0), 1.0))

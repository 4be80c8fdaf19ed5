"""Bounds of what is made of values that are normal together: a ratio, a difference on another scale, many at once.

Fieller (1954, J. Royal Statistical Society B 16, 175-185): a ratio is held against the rows by what is left of the one
mean when so many times the other is taken from it: that is a mean itself, and its error is that at this ratio, not that
at the ratio found. Where both means hang on the same few rows, the two errors differ a good deal.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array, Marks


# --- the ratio of two means -----------------------------------------------------------------------------------------


ROUNDING = 1e-13  # of what cancels


class Ratio(NamedTuple):
    """Two means that are not negative, the variances of both and their covariance.

    Attributes:
        above: The one that is divided.
        below: The one that it is divided by.
        of_above: The variance of the first.
        of_below: The variance of the second.
        shared: Their covariance.
    """

    above: float
    below: float
    of_above: float
    of_below: float
    shared: float

    @classmethod
    def of(cls, above: float, below: float, variance: Callable[[float, float], float]) -> Ratio:
        """From two means, and a function that tells the variance of so many times the one and the other together."""
        first, second = variance(1.0, 0.0), variance(0.0, 1.0)
        return cls(above, below, first, second, (variance(1.0, 1.0) - first - second) / 2)

    def bounds(self, reach: float) -> tuple[float, float]:
        """The least and the greatest ratio at which nothing is left that is more than so many standard errors from 0.

        Where the second mean is itself no further from 0, no ratio is too great; where the first is not, none is too
        small.
        """
        if not isfinite(reach):
            return 0.0, inf
        square = reach**2
        first, second = self.above**2 - square * self.of_above, self.below**2 - square * self.of_below
        middle = self.above * self.below - square * self.shared
        # What is under the root, multiplied out, so that large squares do not cancel.
        apart = self.above**2 * self.of_below + self.below**2 * self.of_above
        spread = apart - 2 * self.above * self.below * self.shared
        spread -= square * (self.of_above * self.of_below - self.shared**2)
        # Two means that are one and the same have a ratio that does not scatter, whatever rounding leaves of it.
        root = reach * sqrt(spread) if spread > ROUNDING * apart else 0.0
        low = first / (middle + root) if first > 0 and middle + root > 0 else 0.0
        return low, (middle + root) / second if second > 0 else inf


# --- two log odds ---------------------------------------------------------------------------------------------------


ANGLES = 360  # around an ellipse, before the best of them is looked at closely
CLOSER = 3  # times, each of them narrows the angle by a factor of a quarter of ANGLES


class LogOdds(NamedTuple):
    """The log odds of two classifiers, their standard errors and their correlation, for all slots.

    Attributes:
        first: Those of the first classifier; infinite where its value is at an end.
        second: Those of the second.
        error_a: Standard error of the first.
        error_b: Standard error of the second.
        correlation: What the two have in common.
    """

    first: Array
    second: Array
    error_a: Array
    error_b: Array
    correlation: Array

    @classmethod
    def of(cls, a: Array, b: Array, alone: tuple[Array, Array], shared: Array) -> LogOdds:
        """From values, their variances and their covariance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = [np.sqrt(variance) / slope(value) for value, variance in zip((a, b), alone, strict=True)]
            correlation = np.clip(shared / np.sqrt(alone[0] * alone[1]), -1, 1)
            return cls(np.log(a / (1 - a)), np.log(b / (1 - b)), errors[0], errors[1], correlation)

    @property
    def variance(self) -> Array:
        """That of the difference of the log odds."""
        shared = self.correlation * self.error_a * self.error_b
        return np.asarray(self.error_a**2 + self.error_b**2 - 2 * shared)

    @property
    def known(self) -> Marks:
        """Where neither value is at an end and they can differ."""
        return np.asarray(np.isfinite(self.first - self.second) & (self.variance > 0))

    @property
    def statistic(self) -> Array:
        """The difference in standard errors."""
        return np.asarray((self.first - self.second) / np.sqrt(self.variance))

    def bounds(self, reach: Array) -> tuple[Array, Array]:
        """The least and the greatest difference between values on the ellipse that lies so many errors around.

        Its outermost points in the direction of the difference are those of an interval, whatever the scale: 0 is
        between the bounds just where the difference of the log odds is within so many of its standard errors.
        """
        wide_a, wide_b, apart = reach * self.error_a, reach * self.error_b, np.arccos(self.correlation)

        def difference(angle: Array) -> Array:
            first = self.first + wide_a * np.cos(angle)
            return _value(first) - _value(self.second + wide_b * np.cos(angle - apart))

        return -_greatest(lambda angle: -difference(angle), len(reach)), _greatest(difference, len(reach))


def slope(value: Array) -> Array:
    """How far a value moves when its log odds do."""
    return value * (1 - value)


def _value(log_odds: Array) -> Array:
    from scipy.special import expit

    return np.asarray(expit(log_odds))


def _greatest(function: Callable[[Array], Array], slots: int) -> Array:
    """The greatest value over all angles, of each slot: by looking around, then ever closer at the best."""
    around = np.linspace(-np.pi, np.pi, ANGLES + 1)[:, None]
    best, width, columns = np.zeros(slots), 1.0, np.arange(slots)
    for _ in range(1 + CLOSER):
        angles = best + width * around
        found = np.nan_to_num(function(angles), nan=-np.inf).argmax(axis=0)
        best, width = angles[found, columns], width * 4 / ANGLES
    return function(best)


# --- many estimates at once -----------------------------------------------------------------------------------------


DRAWS = 100_000  # the error of a critical value is then in the third digit


def max_critical(covariance: Array, level: float, freedom: float) -> float:
    """Quantile of the largest of correlated |t| (Hothorn, Bretz & Westfall 2008), by seeded simulation."""
    scale = np.sqrt(np.diag(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    keep = values > 1e-12 * max(values.max(initial=0.0), 1e-300)
    root = vectors[:, keep] * np.sqrt(values[keep])
    random = np.random.default_rng(20_010_101)
    largest = np.empty(DRAWS)
    step = max(1, (1 << 22) // max(len(scale), 1))
    for start in range(0, DRAWS, step):
        drawn = random.standard_normal((min(step, DRAWS - start), root.shape[1])) @ root.T
        largest[start : start + step] = np.abs(drawn).max(axis=1, initial=0.0)
    if np.isfinite(freedom):
        largest /= np.sqrt(random.chisquare(max(freedom, 1.0), DRAWS) / max(freedom, 1.0))
    return float(np.quantile(largest, level))

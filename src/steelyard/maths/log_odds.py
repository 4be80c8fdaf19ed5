"""Two values between 0 and 1 whose log odds are normal together: the bounds of their difference, and its test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array, Marks

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

"""Bounds of the ratio of two means of the same rows (Fieller 1954, J. Royal Statistical Society B 16, 175-185).

A ratio is held against the rows by what is left of the one mean when so many times the other is taken from it: that is
a mean itself, and its error is that at this ratio, not that at the ratio found. Where both means hang on the same few
rows, the two errors differ a good deal. Knows no formula.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, sqrt
from typing import NamedTuple

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

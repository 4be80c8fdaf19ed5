"""Intervals of functions of independent repetitions, such as biases, standard deviations, ratios and maxima of these.

Every estimate carries its influence values: by how much each repetition moves it. Those of sums, products, ratios and
powers follow by the chain rule (the delta method), and their sum of squares is the variance. The interval is a t
interval corrected for skewness (Hall 1992), since squared errors have long tails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from ..inference.rules.hall import hall_bounds
from ..inference.tails import Tails
from .statements import Quantity, exact

if TYPE_CHECKING:
    from ..core.typing import Array

BEYOND = 0.025  # the probability on either side of a 95% interval


@dataclass(frozen=True)
class MonteCarloEstimate:
    """A number that was estimated from repetitions.

    Attributes:
        value: The number.
        influence: What each repetition adds to its error, times the number of repetitions: (strata, repetitions). The
            repetitions of a stratum are alike, those of different strata are independent.
    """

    value: float
    influence: Array

    def __add__(self, other: MonteCarloEstimate) -> MonteCarloEstimate:
        """Return the sum."""
        return MonteCarloEstimate(self.value + other.value, self.influence + other.influence)

    def __neg__(self) -> MonteCarloEstimate:
        """Return the number with the other sign."""
        return self * -1.0

    def __sub__(self, other: MonteCarloEstimate) -> MonteCarloEstimate:
        """Return the difference."""
        return MonteCarloEstimate(self.value - other.value, self.influence - other.influence)

    def __mul__(self, other: MonteCarloEstimate | float) -> MonteCarloEstimate:
        """Return the product."""
        if not isinstance(other, MonteCarloEstimate):
            return MonteCarloEstimate(self.value * other, self.influence * other)
        return MonteCarloEstimate(self.value * other.value, self.influence * other.value + other.influence * self.value)

    def __truediv__(self, other: MonteCarloEstimate | float) -> MonteCarloEstimate:
        """Return the ratio."""
        return self * (other**-1.0)

    def __pow__(self, power: float) -> MonteCarloEstimate:
        """Return a power; of a constant 0 it is 0, and has no influence values."""
        if self.value == 0 and not self.influence.any():
            return self
        return MonteCarloEstimate(self.value**power, self.influence * (power * self.value ** (power - 1)))

    @property
    def repetitions(self) -> int:
        """How many repetitions each stratum has."""
        return len(self.influence[0])

    @property
    def standard_error(self) -> float:
        """The standard error; NaN of a single repetition."""
        count = self.repetitions
        return math.sqrt(float(np.square(self.influence).sum()) / (count * (count - 1))) if count > 1 else math.nan

    def bounds(self, beyond: float = BEYOND) -> tuple[float, float]:
        """Return the ends of an interval outside of which the true value lies with this probability on either side."""
        from scipy.special import stdtrit

        if self.repetitions < 2:
            return -math.inf, math.inf
        variance = float(np.square(self.influence).sum())
        if variance == 0:
            return self.value, self.value
        skew = float((self.influence**3).sum()) / variance**1.5
        fourth = float((self.influence**4).sum()) / variance**2
        freedom = self.repetitions - 1
        terms = self.repetitions * int(self.influence.any(axis=1).sum())
        tails = Tails.of_moments(np.array([skew]), np.array([fourth]), 1 / terms)
        value, error = np.array([self.value]), np.array([self.standard_error])
        reach = np.array([stdtrit(freedom, 1 - beyond)])
        low, high = hall_bounds(value, error, tails, np.array([float(freedom)]), reach)
        return float(low[0]), float(high[0])

    @property
    def quantity(self) -> Quantity:
        """The value with its 95% interval."""
        low, high = self.bounds()
        return exact(self.value) if low == high else Quantity(self.value, low, high, self.repetitions)


def mean(values: Array, stratum: int = 0, strata: int = 1) -> MonteCarloEstimate:
    """Return the mean of the repetitions of one stratum."""
    influence = np.zeros((strata, len(values)))
    influence[stratum] = values - values.mean()
    return MonteCarloEstimate(float(values.mean()), influence)


def deviation(values: Array, stratum: int = 0, strata: int = 1) -> MonteCarloEstimate:
    """Return the standard deviation of the repetitions of one stratum; NaN of a single one."""
    count = len(values)
    if count < 2:
        return MonteCarloEstimate(math.nan, np.zeros((strata, count)))
    return mean(np.square(values - values.mean()) * (count / (count - 1)), stratum, strata) ** 0.5


def average(estimates: Iterable[MonteCarloEstimate]) -> MonteCarloEstimate:
    """Return the mean of several estimates."""
    several = list(estimates)
    return reduce(add, several) * (1 / len(several))


def largest(estimates: Sequence[MonteCarloEstimate]) -> Quantity:
    """Return the largest of several numbers with an interval that is right for a maximum.

    The true maximum is one of the numbers. It lies below that one's own upper end, whichever it is, and so below the
    largest of them. It lies above all lower ends at once: these are further out, as Bonferroni has it.
    """
    low = max(each.bounds(BEYOND / len(estimates))[0] for each in estimates)
    high = max(each.bounds()[1] for each in estimates)
    value = max(each.value for each in estimates)
    return exact(value) if low == high else Quantity(value, low, high, estimates[0].repetitions)


def smallest(estimates: Sequence[MonteCarloEstimate]) -> Quantity:
    """Return the smallest of several numbers with an interval that is right for a minimum."""
    value, low, high, repetitions = largest([-each for each in estimates])
    return Quantity(-value, -high, -low, repetitions)


def furthest(estimates: Sequence[MonteCarloEstimate]) -> Quantity:
    """Return the largest absolute value of several numbers with an interval that is right for it."""
    value, low, high, repetitions = largest([*estimates, *(-each for each in estimates)])
    return Quantity(value, max(low, 0.0), high, repetitions)

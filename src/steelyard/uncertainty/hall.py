"""Means of what is rarely large: the t statistic with its skewness taken off (Hall 1992, JRSS B 54, 221-228).

Such a mean is far from normal at some hundred rows, and so is its logarithm. How skewed it is, and how unsure its
standard error, is found from third and fourth powers of influences. Where what a row may add is bounded, it is the
number of rows that add anything which is unsure, and the bounds are those of a gamma distribution (Fay & Feuer 1997,
Statistics in Medicine 16, 791-801). Knows no formula of a measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..sums.statistics import Patterns
from .intervals import p_values
from .variances import by_cluster, weighted_sums

if TYPE_CHECKING:
    from ..kinds import Array

FLAT = 1e-9  # less skewness than this bends nothing
# Of the degrees of freedom that fourth powers give: where few rows make up a sum, they say too little of themselves.
TRUSTED = 0.5


class Tails(NamedTuple):
    """How far sums are from normal: one number a slot.

    Attributes:
        skew: Their skewness; 0 where what is summed does not differ.
        freedom: As many degrees of freedom as a variance has that scatters as theirs does, given their mean.
    """

    skew: Array
    freedom: Array

    @classmethod
    def none(cls, slots: int) -> Tails:
        """Those of the normal distribution."""
        return cls(np.zeros(slots), np.full(slots, np.inf))

    @classmethod
    def of_moments(cls, skew: Array, fourth: Array, drawn: float, share: Array | float = 1.0) -> Tails:
        """From skewness and fourth powers, both by the variance, and how many were drawn.

        What is drawn may make up a share of the variance only, and a normal error the rest.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            # What the variance has in common with the mean is in the skewness; of two values nothing is left.
            scatter = fourth - np.square(share) / drawn - np.square(skew)
            freedom = TRUSTED * 2 / np.maximum(scatter, 0.0)
        return cls(np.where(np.isfinite(skew), skew, 0.0), np.where(np.isfinite(freedom), freedom, np.inf))

    @classmethod
    def of(cls, patterns: Patterns, influences: Array) -> Tails:
        """Those of sums of influences over the rows, (slots, patterns).

        A pattern without rows adds to the variance only: it stands for a normal error. Of the sampling weights within a
        pattern only the sum and that of squares are known; higher powers are those of a gamma variable that has both.
        """
        if patterns.cluster is None:
            some = patterns.count > 0
            mean = np.divide(patterns.mass, patterns.count, out=np.zeros_like(patterns.mass), where=some)
            terms, second, drawn = influences, patterns.square, patterns.count
            spread = np.divide(second, mean * mean * drawn, out=np.ones_like(mean), where=some & (mean > 0))
        else:
            terms, second = by_cluster(patterns, influences), np.ones(patterns.clusters)
            drawn = (np.bincount(patterns.cluster, patterns.count, patterns.clusters) > 0).astype(np.float64)
            mean, spread = drawn, np.ones_like(drawn)
        spread = np.maximum(spread, 1.0)  # but for rounding, squares are no less than those of equal weights
        squares, third = np.square(terms), drawn * mean * mean * mean * spread * (2 * spread - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = weighted_sums(squares, second)
            skew = weighted_sums(squares * terms, third) / variance**1.5
            shares = squares / variance[:, None]
        share = weighted_sums(shares, second * (drawn > 0))
        fourth = weighted_sums(np.square(shares), third * mean * (3 * spread - 2))
        return cls.of_moments(skew, fourth, float(drawn.sum()), share)


def hall_bounds(value: Array, error: Array, tails: Tails, freedom: Array, reach: Array) -> tuple[Array, Array]:
    """Bounds by the t statistic, its skewness taken off by a cubic that rises everywhere.

    ``reach`` is so many standard errors as belong to these degrees of freedom; with fewer it is further.
    """
    further = at_fewer(reach, freedom, tails.freedom)
    low, high = (value - error * _untwisted(sign * further, tails.skew) for sign in (1.0, -1.0))
    return low, high


def gamma_bounds(value: Array, error: Array, skew: Array, reach: Array) -> tuple[Array, Array]:
    """Bounds of means of rare amounts, which scatter nearly as a gamma distribution of the same mean and variance.

    ``reach`` is so many standard errors as a normal mean would have to either side.

    Of counts, the upper bound is that of one row more, and so it is here. That row adds as much as rows add on average,
    each weighed by what it has of the variance: the third moment over the second.
    """
    from scipy.special import gammaincinv, ndtr

    def quantile(mean: Array, variance: Array, share: Array) -> Array:
        return np.asarray(gammaincinv(np.square(mean) / variance, share) * variance / mean)

    more, variance = np.maximum(skew, 0.0) * error, np.square(error)
    return quantile(value, variance, ndtr(-reach)), quantile(value + more, variance + np.square(more), ndtr(reach))


def hall_p(statistic: Array, tails: Tails, freedom: Array) -> Array:
    """Two-sided p-values of t statistics whose skewness is taken off."""
    return p_values(_twisted(statistic, tails.skew), np.fmin(freedom, tails.freedom))


def at_fewer(reach: Array, freedom: Array, fewer: Array) -> Array:
    """A t statistic with fewer degrees of freedom that is as unlikely as this one; with more, this one."""
    from scipy.special import stdtrit

    less = (fewer < freedom) & np.isfinite(reach)
    return np.where(less, -stdtrit(np.where(less, fewer, 1.0), p_values(reach, freedom) / 2), reach)


def _untwisted(statistic: Array, skew: Array) -> Array:
    """The t statistic that the cubic turns into this one."""
    flat = np.abs(skew) < FLAT
    bend = np.where(flat, 1.0, skew)
    bent = 3 / bend * (np.cbrt(1 + bend * (statistic - bend / 6)) - 1)
    return np.where(flat, statistic, bent)


def _twisted(statistic: Array, skew: Array) -> Array:
    """What the cubic makes of a t statistic: nearly free of skewness."""
    return np.asarray(statistic + skew * statistic**2 / 3 + skew**2 * statistic**3 / 27 + skew / 6)

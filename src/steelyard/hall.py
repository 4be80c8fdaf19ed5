"""Means of what is rarely large: the t statistic with its skewness taken off (Hall 1992, JRSS B 54, 221-228).

Such a mean is far from normal at some hundred rows, and so is its logarithm. How skewed it is, and how unsure its
standard error, is found from third and fourth powers of influences. Knows no formula of a measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .statistics import Patterns
from .uncertainty import by_cluster, p_values, weighted_sums

if TYPE_CHECKING:
    from .kinds import Array

FLAT = 1e-9  # less skewness than this bends nothing
# Of the degrees of freedom that fourth powers give: where few rows make up a sum, they say too little of themselves.
TRUSTED = 0.5


def skewness(patterns: Patterns, influences: Array) -> Array:
    """The skewness of sums of influences over the rows: one number a slot; 0 where they do not differ.

    A pattern without rows adds to the variance only: it stands for a normal error.
    """
    terms, second, drawn, mean = _terms(patterns, influences)
    return _skewness(terms, second, drawn * mean * mean * mean)


def freedom_of_tails(patterns: Patterns, influences: Array) -> Array:
    """As many degrees of freedom as a variance has that scatters like theirs, given their mean: one number a slot."""
    terms, second, drawn, mean = _terms(patterns, influences)
    cubes = drawn * mean * mean * mean
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.square(terms) / weighted_sums(np.square(terms), second)[:, None]
        of_rows = weighted_sums(shares, second * (drawn > 0))
        scatter = weighted_sums(np.square(shares), cubes * mean) - np.square(of_rows) / drawn.sum()
        # What the variance has in common with the mean is in the skewness; of two values nothing is left.
        scatter -= np.square(_skewness(terms, second, cubes))
        found = TRUSTED * 2 / np.maximum(scatter, 0.0)
    return np.where(np.isfinite(found), found, np.inf)


def _terms(patterns: Patterns, influences: Array) -> tuple[Array, Array, Array, Array]:
    """What is summed up: each term, what its square counts, how many rows or clusters it is, and what each weighs."""
    if patterns.cluster is not None:
        drawn = (np.bincount(patterns.cluster, patterns.count, patterns.clusters) > 0).astype(np.float64)
        ones = np.ones(patterns.clusters)
        return by_cluster(patterns, influences), ones, drawn, ones
    mean = np.divide(patterns.mass, patterns.count, out=np.zeros_like(patterns.mass), where=patterns.count > 0)
    return influences, patterns.square, patterns.count, mean


def _skewness(terms: Array, second: Array, third: Array) -> Array:
    squares = np.square(terms)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = weighted_sums(squares * terms, third) / weighted_sums(squares, second) ** 1.5
    return np.where(np.isfinite(found), found, 0.0)


def hall_bounds(value: Array, error: Array, skew: Array, reach: Array) -> tuple[Array, Array]:
    """Bounds by the t statistic, its skewness taken off by a cubic that rises everywhere."""
    low, high = (value - error * _untwisted(sign * reach, skew) for sign in (1.0, -1.0))
    return low, high


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


def twisted(statistic: Array, skew: Array) -> Array:
    """What the cubic makes of a t statistic: nearly free of skewness."""
    return np.asarray(statistic + skew * statistic**2 / 3 + skew**2 * statistic**3 / 27 + skew / 6)

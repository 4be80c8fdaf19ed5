"""Means of what is rarely large: the t statistic with its skewness taken off (Hall 1992, JRSS B 54, 221-228).

Such a mean is far from normal at some hundred rows, and so is its logarithm. How skewed it is, and how unsure its
standard error, is found from third and fourth powers of influences. A sample may well have none of the rows that are
large, so the bound on their side is that of one row more. Where what a row may add is bounded, it is the number of rows
that add anything which is unsure, and the bounds are those of a gamma distribution (Fay & Feuer 1997, Statistics in
Medicine 16, 791-801).

Two classifiers whose errors are of one kind differ by as much to the one side as to the other. Whether they differ at
all is then told by what the sum would be with random signs, which scatters less than t where few rows make it up
(Pitman 1937, JRSS Suppl. 4, 119-130). Knows no formula of a measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..states.statistics import Patterns
from .intervals import p_values
from .variances import by_cluster, weighted_sums

if TYPE_CHECKING:
    from ..core.typing import Array

FLAT = 1e-9  # less skewness than this bends nothing
# Of the degrees of freedom that fourth powers give: where few rows make up a sum, they say too little of themselves.
TRUSTED = 0.5
LESS = 0.8  # of these, for a difference: fewer rows make it up, and they cancel
MANY = 12.0  # rows make up a sum: its signs come in so many ways that no p-value is too small for them
ROUNDING = 1e-9  # of the furthest
TINY = float(np.finfo(np.float64).tiny)


class Tails(NamedTuple):
    """How far sums are from normal: one number a slot.

    Attributes:
        skew: Their skewness; 0 where what is summed does not differ.
        freedom: As many degrees of freedom as a variance has that scatters as theirs does, given their mean.
        fourth: Fourth powers of what is summed, by the squared variance: 1 where a single row makes it up.
        rows: How many rows add something else than most do, as far as these are few.
    """

    skew: Array
    freedom: Array
    fourth: Array
    rows: Array

    @classmethod
    def none(cls, slots: int) -> Tails:
        """Those of the normal distribution."""
        return cls(np.zeros(slots), np.full(slots, np.inf), np.zeros(slots), np.full(slots, np.inf))

    @classmethod
    def of_moments(cls, skew: Array, fourth: Array, even: Array | float) -> Tails:
        """From skewness and fourth powers, both by the variance, and what these are where all rows are as large.

        That is one by how many are drawn; where they make up a share of the variance only, times the square of it.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            # What the variance has in common with the mean is in the skewness; of two values nothing is left.
            scatter = fourth - even - np.square(skew)
            freedom = TRUSTED * 2 / np.maximum(scatter, 0.0)
        known = np.isfinite(skew)
        return cls(
            np.where(known, skew, 0.0),
            np.where(np.isfinite(freedom), freedom, np.inf),
            np.where(known & np.isfinite(fourth), fourth, 0.0),
            np.full(len(known), np.inf),
        )

    def with_one_more(self) -> Tails:
        """Those of the same sums with one more row: see ``one_more``."""
        grown = 1 + np.square(self.skew)
        fourth = (self.fourth + np.square(grown - 1)) / np.square(grown)
        return Tails.of_moments(self.skew / np.sqrt(grown), fourth, self._even)._replace(rows=self.rows + 1)

    def with_normal(self, share: Array) -> Tails:
        """Those of the same sums and a normal error, which has this share of the variance of both."""
        rest = 1 - share
        found = Tails.of_moments(self.skew * rest**1.5, self.fourth * rest**2, self._even * rest**2)
        return found._replace(rows=self.rows)

    @property
    def _even(self) -> Array:
        """What fourth powers would be where all rows are as large."""
        return np.asarray(np.maximum(self.fourth - np.square(self.skew) - 2 * TRUSTED / self.freedom, 0.0))

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
        found = cls.of_moments(skew, fourth, np.square(share) / max(drawn.sum(), 1.0))
        for slot in np.flatnonzero(found.fourth > 1 / MANY):
            found.rows[slot] = _apart(terms[slot], drawn)
        return found


def _apart(terms: Array, drawn: Array) -> float:
    """How many of those that are drawn add something else than the one in the middle, which is what most do, if any."""
    here = drawn > 0
    away = np.abs(terms - np.median(terms[here]))
    return float(drawn[here & (away > ROUNDING * away.max())].sum())


def hall_bounds(value: Array, error: Array, tails: Tails, freedom: Array, reach: Array) -> tuple[Array, Array]:
    """Bounds by the t statistic, its skewness taken off by a cubic that rises everywhere.

    ``reach`` is so many standard errors as belong to these degrees of freedom; with fewer it is further.
    """
    further = at_fewer(reach, freedom, tails.freedom)
    low, high = (value - error * _untwisted(sign * further, tails.skew) for sign in (1.0, -1.0))
    return low, high


def rare_bounds(value: Array, error: Array, tails: Tails, freedom: Array, reach: Array) -> tuple[Array, Array]:
    """The same of means of what is rarely large; where rows are rare, the bound is that of one row more.

    Of counts, the upper bound is that of one more. That row adds as much as rows add on average, each weighed by what
    it has of the variance: the third moment over the second.
    """
    own = hall_bounds(value, error, tails, freedom, reach)
    centre, wider = one_more(value, error, tails.skew)
    longer = hall_bounds(centre, wider, tails.with_one_more(), freedom, reach)
    return np.where(tails.skew < 0, longer[0], own[0]), np.where(tails.skew > 0, longer[1], own[1])


def one_more(value: Array, error: Array, skew: Array) -> tuple[Array, Array]:
    """A mean and its standard error with one more row that is as rare as those which make it skewed."""
    more = skew * error
    return value + more, np.hypot(error, more)


def gamma_bounds(value: Array, error: Array, skew: Array, reach: Array) -> tuple[Array, Array]:
    """Bounds of means of rare amounts, which scatter nearly as a gamma distribution of the same mean and variance.

    ``reach`` is so many standard errors as a normal mean would have to either side.

    As in ``rare_bounds``, the upper bound is that of one row more.
    """
    from scipy.special import gammaincinv, ndtr

    def quantile(mean: Array, variance: Array, share: Array) -> Array:
        return np.asarray(gammaincinv(np.square(mean) / variance, share) * variance / mean)

    centre, wider = one_more(value, error, np.maximum(skew, 0.0))
    return quantile(value, np.square(error), ndtr(-reach)), quantile(centre, np.square(wider), ndtr(reach))


def hall_p(statistic: Array, tails: Tails, freedom: Array) -> Array:
    """Two-sided p-values of t statistics whose skewness is taken off."""
    return p_values(_twisted(statistic, tails.skew), np.fmin(freedom, tails.freedom))


def difference_bounds(
    difference: Array, error: Array, tails: Tails, freedom: Array, reach: Array
) -> tuple[Array, Array]:
    """Bounds of differences: the wider of those with their skewness and those without it, on either side.

    The skewness of few rows is unsure: it may widen, but not shorten. Where the test speaks against no difference and
    these do not, or the other way round, the test is believed.
    """
    curved = hall_bounds(difference, error, tails._replace(freedom=LESS * tails.freedom), freedom, reach)
    low, high = (
        pick(difference + sign * reach * error, bound)
        for pick, sign, bound in zip((np.minimum, np.maximum), (-1.0, 1.0), curved, strict=True)
    )
    kept = difference_p(difference / error, tails, freedom) >= p_values(reach, freedom)
    above, below = ~kept & (difference > 0), ~kept & (difference < 0)
    low, high = np.where(kept, np.minimum(low, 0.0), low), np.where(kept, np.maximum(high, 0.0), high)
    return np.where(above, np.maximum(low, TINY), low), np.where(below, np.minimum(high, -TINY), high)


def difference_p(statistic: Array, tails: Tails, freedom: Array) -> Array:
    """Two-sided p-values of t statistics of differences: with random signs, and with their skewness taken off."""
    with np.errstate(invalid="ignore"):
        return np.fmax(signed_p(statistic, tails, freedom), hall_p(statistic, tails, freedom))


def signed_p(statistic: Array, tails: Tails, freedom: Array) -> Array:
    """Two-sided p-values if all that is summed were as likely of the other sign.

    The sum by the root of the sum of squares then scatters nearly as a symmetric beta variable of the same second and
    fourth moment, of which that of a t statistic is one; the moments here are those around 0. Sums further out than
    such a variable can be are judged by t, and so are those of which fourth powers tell nothing (NaN). No p-value is
    less than the share of the two sums that are furthest out.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        part = 1 / (freedom + 1)  # of all that is drawn, one
        square = np.square(statistic) / (1 - part)
        whole = 1 + square * part
        moved = part * (4 * np.sign(statistic) * np.sqrt(square) * tails.skew + part * square * (6 + part * square))
        fewer = np.maximum(3 * whole**2 / (tails.fourth + moved) - 3, 0.0)
        left = 1 + (1 - square / whole) / fewer
        found = p_values(np.sqrt(square / whole / left), fewer)
    found = np.where((fewer > 0) & (left > 0), found, p_values(statistic, freedom))
    return np.fmax(found, np.minimum(2.0 ** (1 - tails.rows), 1.0))


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

"""Means of what is rarely large: the t statistic with its skewness taken off (Hall 1992, JRSS B 54, 221-228).

Such a mean is far from normal at some hundred rows, and so is its logarithm. How skewed it is, and how unsure its
standard error, is found from third and fourth powers of influences. A sample may well have none of the rows that are
large, so the bound on their side is that of one row more.

Two classifiers whose errors are of one kind differ by as much to the one side as to the other. Whether they differ at
all is then told by what the sum would be with random signs, which scatters less than t where few rows make it up
(Pitman 1937, JRSS Suppl. 4, 119-130). Knows no formula of a measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..student_t import critical_values, p_values
from ..tails import Tails
from .skewed import Skewed, SkewedSource

if TYPE_CHECKING:
    from ...core.typing import Array

FLAT = 1e-9  # less skewness than this bends nothing
LESS = 0.8  # of these, for a difference: fewer rows make it up, and they cancel
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Hall(Skewed):
    """The t statistic with its skewness taken off; where observations that add much are rare, with one more of them."""

    method: str = "Hall's t"

    def of_mean(self, value: Array, error: Array, tails: Tails, freedom: Array, reach: Array) -> tuple[Array, Array]:
        """Return the bounds of a mean."""
        return rare_bounds(value, error, tails, freedom, reach)

    def of_rows(self, source: SkewedSource, slot: Any, error: float, tails: Tails, level: float) -> tuple[float, float]:
        """Return the bounds by the observations alone; those of the root of a mean are the roots of its bounds."""
        found = source.result(slot)
        value, freedom, rooted = found.value[0], found.freedom[0], source.is_root(slot)
        if rooted:
            value, error = value**2, 2 * value * error
        values, errors, known = (np.array([number]) for number in (value, error, freedom))
        low, high = self.of_mean(values, errors, tails, known, critical_values(level, known))
        if rooted:
            low, high = (np.sqrt(np.maximum(bound, 0.0)) for bound in (low, high))
        return float(low[0]), float(high[0])


HALL = Hall()


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

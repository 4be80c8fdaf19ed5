"""Means of what is rarely large: the t statistic with its skewness taken off (Hall 1992, JRSS B 54, 221-228).

Such a mean is far from normal at some hundred rows, and so is its logarithm. How skewed it is, and how unsure its
standard error, is found from third and fourth powers of influences. A sample may well have none of the rows that are
large, so the bound on their side is that of one row more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..student_t import critical_values, p_values
from ..tails import Tails
from .skewed import skewed

if TYPE_CHECKING:
    from ...core.typing import Array
    from ..evaluation import Slot
    from ..row_evaluation import SkewedEvaluation

    # Bounds of means, from values, standard errors, tails, degrees of freedom, and how far to reach.
    OfMean = Callable[[Array, Array, "Tails", Array, Array], tuple[Array, Array]]

FLAT = 1e-9  # less skewness than this bends nothing


def of_rows(
    source: SkewedEvaluation, slot: Slot, error: float, tails: Tails, level: float, of_mean: OfMean
) -> tuple[float, float]:
    """Return the bounds by the observations alone; those of the root of a mean are the roots of its bounds."""
    found = source.result(slot)
    value, freedom, rooted = found.value[0], found.freedom[0], source.is_root(slot)
    if rooted:
        value, error = value**2, 2 * value * error
    values, errors, known = (np.array([number]) for number in (value, error, freedom))
    low, high = of_mean(values, errors, tails, known, critical_values(level, known))
    if rooted:
        low, high = (np.sqrt(np.maximum(bound, 0.0)) for bound in (low, high))
    return float(low[0]), float(high[0])


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


HALL = skewed("Hall's t", partial(of_rows, of_mean=rare_bounds))


def one_more(value: Array, error: Array, skew: Array) -> tuple[Array, Array]:
    """A mean and its standard error with one more row that is as rare as those which make it skewed."""
    more = skew * error
    return value + more, np.hypot(error, more)


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

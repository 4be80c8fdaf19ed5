"""Student's t: how many standard errors an interval reaches, and the p-value of a statistic."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array

MANY, FAR = 2000.0, 5.0  # degrees of freedom, standard errors: from here on, and so far, t is told from the normal


def critical_values(level: float, freedom: Array) -> Array:
    """How many standard errors an interval of this level reaches."""
    normal = _normal_quantile((1 + level) / 2)
    values, finite = np.full(len(freedom), normal), np.isfinite(freedom)
    if finite.any():
        many = finite & (freedom >= MANY) & (normal <= FAR)
        values[many] = _nearly_normal(normal, freedom[many])
        few = finite & ~many
        if few.any():
            from scipy.special import stdtrit  # takes as long to load as all else that there is to do

            with np.errstate(invalid="ignore"):
                values[few] = stdtrit(freedom[few], (1 + level) / 2)
        values[freedom <= 0] = np.inf  # one row or one cluster says nothing about spread
    return values


def _nearly_normal(normal: float, freedom: Array) -> Array:
    """Quantiles of t with many degrees of freedom, from that of the normal (Abramowitz & Stegun 1964, 26.7.5)."""
    square = normal * normal
    terms = (
        normal * (square + 1) / 4,
        normal * ((5 * square + 16) * square + 3) / 96,
        normal * (((3 * square + 19) * square + 17) * square - 15) / 384,
        normal * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    found = np.zeros(len(freedom))
    for term in reversed(terms):
        found = (found + term) / freedom
    return normal + found


@lru_cache(maxsize=16)
def _normal_quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)


def p_values(statistics: Array, freedom: Array) -> Array:
    """Two-sided p-values of t statistics; infinite degrees of freedom are the normal."""
    from scipy.special import ndtr, stdtr

    size = -np.abs(statistics)
    bounded = np.where(np.isfinite(freedom), freedom, 1.0)
    return np.asarray(2 * np.where(np.isfinite(freedom), stdtr(np.maximum(bounded, 1e-9), size), ndtr(size)))

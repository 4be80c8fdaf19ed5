"""Means of rare amounts that are bounded: gamma bounds (Fay & Feuer 1997, Statistics in Medicine 16, 791-801).

What a row may add is bounded, so it is the number of rows that add anything which is unsure.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .hall import of_rows, one_more, rare_bounds
from .skewed import skewed

if TYPE_CHECKING:
    from ...core.typing import Array
    from ..tails import Tails


def of_mean(value: Array, error: Array, tails: Tails, freedom: Array, reach: Array) -> tuple[Array, Array]:
    """Return the bounds of a mean: values above 0 have gamma bounds, others those of Hall's t."""
    if value[0] > 0:
        return gamma_bounds(value, error, tails.skew, reach)
    return rare_bounds(value, error, tails, freedom, reach)


GAMMA = skewed("gamma", partial(of_rows, of_mean=of_mean), (0.0, np.inf))


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

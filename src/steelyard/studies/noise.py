"""How a response is spread around what is expected of it: draws, and where it falls among classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..maths.kernels import expected_sqe, outside_probabilities

if TYPE_CHECKING:
    from ..core.typing import Array

STUDENT_FREEDOM = 4
# Student's variable has the variance freedom / (freedom - 2).
STUDENT_SD = math.sqrt(STUDENT_FREEDOM / (STUDENT_FREEDOM - 2))


@dataclass(frozen=True)
class Noise:
    """A distribution around 0 with a standard deviation of 1.

    Attributes:
        name: What it is called.
        quantile: Its quantile function, by which it is drawn.
        outside: The probability of a value outside each class, by mean, standard deviation and boundaries.
        sqe: The expected squared distance of a value to each class, by the same.
    """

    name: str
    quantile: Callable[[Array], Array]
    outside: Callable[[Any, Any, Any], Array]
    sqe: Callable[[Any, Any, Any], Array]


def _normal_quantile(probability: Array) -> Array:
    from scipy.special import ndtri

    return np.asarray(ndtri(probability))


def _student_quantile(probability: Array) -> Array:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(STUDENT_FREEDOM, probability) / STUDENT_SD)


def _student_outside(mean: Any, sd: Any, boundaries: Any) -> Array:
    from scipy.special import stdtr

    below, above = _places(mean, sd, boundaries)
    return np.asarray(stdtr(STUDENT_FREEDOM, below) + stdtr(STUDENT_FREEDOM, above))


def _student_sqe(mean: Any, sd: Any, boundaries: Any) -> Array:
    below, above = _places(mean, sd, boundaries)
    return np.asarray(np.square(sd / STUDENT_SD) * (_student_shortfall(below) + _student_shortfall(above)))


def _places(mean: Any, sd: Any, boundaries: Any) -> tuple[Array, Array]:
    """How far the lower ends of classes are above the mean, and the mean above their upper ends."""
    ends, centre = np.asarray(boundaries, dtype=np.float64), np.asarray(mean)[..., None]
    return (ends[:-1] - centre) * STUDENT_SD / sd, (centre - ends[1:]) * STUDENT_SD / sd


def _student_shortfall(place: Array) -> Array:
    """E[(t - u)^2; u < t] for Student's u.

    The partial moments of the first and second order are those of the density itself and of the distribution with
    two degrees of freedom less.
    """
    from scipy.special import stdtr

    freedom, finite = STUDENT_FREEDOM, np.isfinite(place)
    t = np.where(finite, place, 0.0)
    # Gamma((freedom + 1) / 2) / Gamma(freedom / 2) / sqrt(pi freedom)
    peak = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(math.pi * freedom)
    density = peak * (1 + t**2 / freedom) ** (-(freedom + 1) / 2)
    whole = stdtr(freedom, t)
    first = -(freedom + t**2) / (freedom - 1) * density
    lower = stdtr(freedom - 2, t * math.sqrt((freedom - 2) / freedom))
    second = freedom * ((freedom - 1) / (freedom - 2) * lower - whole)
    # An infinite boundary is that of an outer class: nothing falls short of it.
    return np.where(finite, t**2 * whole - 2 * t * first + second, 0.0)


NORMAL = Noise("normal", _normal_quantile, outside_probabilities, expected_sqe)
STUDENT = Noise("Student's t with 4 degrees of freedom", _student_quantile, _student_outside, _student_sqe)

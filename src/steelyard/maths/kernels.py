"""Where a normally distributed value falls among classes that are intervals, and how far from them: pure maths.

Everything that is said of classes from a continuum is a mean of these. They keep their relative precision in the far
tails: nothing is taken from 1, and no two large terms cancel. A boundary may be infinite, a deviation may be 0.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array

SURE = 8.5  # standard deviations beyond which nothing is left of the normal distribution beside 1
FAR = (5.0, 8.0, 38.5)  # from the first on the closed form loses digits; from the last on all is 0
TERMS = {5.0: 24, 8.0: 14}  # of the continued fraction from there on: enough for the last bit
NARROW, NODES = 0.5, 8  # widths for which so few places tell the probability to the last bit
Closed = Literal["left", "right"]


def below(mean: Any, sd: Any, boundary: Any, closed: Closed = "left") -> Array:
    """The probability of a value below the lower boundary of a class."""
    from scipy.special import ndtr

    mean, sd, boundary = np.broadcast_arrays(*map(_floats, (mean, sd, boundary)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = ndtr((boundary - mean) / sd)
    exact = sd == 0
    if exact.any():
        # A value that stands on a boundary is in the class that the boundary belongs to.
        found = np.where(exact, mean < boundary if closed == "left" else mean <= boundary, found)
    return np.asarray(found, dtype=np.float64)


def above(mean: Any, sd: Any, boundary: Any, closed: Closed = "left") -> Array:
    """The probability of a value above the upper boundary of a class."""
    return below(-_floats(mean), sd, -_floats(boundary), "right" if closed == "left" else "left")


def squared_shortfall(mean: Any, sd: Any, boundary: Any) -> Array:
    """The expected squared distance to a boundary from below: 0 for values above it."""
    mean, sd, boundary = np.broadcast_arrays(*map(_floats, (mean, sd, boundary)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gap = boundary - mean
        place = np.where(sd > 0, gap / sd, np.copysign(np.inf, gap))
    found = np.zeros(gap.shape)
    short = place > SURE  # and so short by the gap, but for the spread
    found[short] = np.square(gap[short]) + np.square(sd[short])
    near = (place >= -FAR[0]) & ~short
    found[near] = np.square(sd[near]) * _second_moment(place[near])
    for low, high in pairwise(FAR):
        far = (place < -low) & (place >= -high)
        if far.any():
            found[far] = np.square(sd[far]) * _far_moment(-place[far], TERMS[low])
    return found


def _second_moment(place: Array) -> Array:
    """E[(t - u)^2; u < t] for a standard normal u: (1 + t^2) Phi(t) + t phi(t), the density taken out of both."""
    from scipy.special import erfcx

    ratio = math.sqrt(math.pi / 2) * erfcx(place / -math.sqrt(2))
    return np.asarray(((1 + np.square(place)) * ratio + place) * _density(place))


def _density(place: Array) -> Array:
    return np.asarray(np.exp(-np.square(place) / 2) / math.sqrt(2 * math.pi))


def _far_moment(place: Array, terms: int) -> Array:
    """E[(u - t)^2; u > t] for a large t, where the closed form would take large terms from each other.

    Twice the second repeated integral of the normal density. The ratios of successive integrals are a continued
    fraction of positive terms (Gautschi 1977, ACM Trans. Math. Software 3, 240-252), so that nothing cancels.
    """
    ratio: Array = np.zeros_like(place)
    product = 2 * _density(place)
    for order in range(terms, -1, -1):
        ratio = 1 / (place + (order + 1) * ratio)
        if order <= 2:
            product *= ratio
    return product


def squared_excess(mean: Any, sd: Any, boundary: Any) -> Array:
    """The expected squared distance to a boundary from above: 0 for values below it."""
    return squared_shortfall(-_floats(mean), sd, -_floats(boundary))


def squared_shift(mean: Any, sd: Any, low: Any, high: Any) -> Array:
    """The expected squared change of the distance to an interval, from that of the mean to that of a normal value.

    Inside the interval it is the expected squared distance. Outside, at a distance c, it is the sum over the value's
    side, the interval and the far side, where the distance has changed by the error, by c and by the excess less c.
    """
    from scipy.special import ndtr

    mean, sd, low, high = np.broadcast_arrays(*map(_floats, (mean, sd, low, high)))
    away = np.maximum(low - mean, 0.0) + np.maximum(mean - high, 0.0)
    found, out = np.zeros(away.shape), (away > 0) & (sd > 0)
    for bound, distance in ((low, squared_shortfall), (high, squared_excess)):
        inside = (away == 0) & np.isfinite(bound)
        found[inside] += distance(mean[inside], sd[inside], bound[inside])
    if out.any():
        sd, away, width = sd[out], away[out], (high - low)[out]
        with np.errstate(over="ignore"):
            near, far = np.minimum(away / sd, FAR[2]), np.minimum((away + width) / sd, FAR[2])
        own = np.square(sd) * (ndtr(near) - near * _density(near) + np.square(near) * ndtr(-near))
        beyond = far < FAR[2]
        if beyond.any():
            sd, near, far = sd[beyond], near[beyond], far[beyond]
            tail, density = ndtr(-far), _density(far)
            # Beside the first term these are so small that what they lose to each other is rounding.
            excess, squared = density - far * tail, (1 + np.square(far)) * tail - far * density
            own[beyond] += np.square(sd) * (squared - 2 * near * excess)
        found[out] = own
    return found


def outside_probabilities(mean: Any, sd: Any, boundaries: Any, closed: Closed = "left") -> Array:
    """The probability of a value outside each class, (n, C): the chance of being wrong for each class assigned."""
    low, high = _ends(boundaries)
    mean, sd = _column(mean), _column(sd)
    return below(mean, sd, low, closed) + above(mean, sd, high, closed)


def class_probabilities(mean: Any, sd: Any, boundaries: Any, closed: Closed = "left") -> Array:
    """The probability of a value in each class, (n, C); of boundaries, both ends are given."""
    from scipy.special import ndtr

    (low, high), mean, sd = _ends(boundaries), _column(mean), _column(sd)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        place = (_floats(boundaries) - mean) / sd
    tail = ndtr(-np.abs(place))
    # The tail that both ends lie in is small, so that their difference is exact, unless they are nearly the same.
    first, last, beyond = tail[..., :-1], tail[..., 1:], place[..., 1:] > 0
    found = np.where(place[..., :-1] > 0, first - last, np.where(beyond, 1 - last, last) - first)
    if (sd == 0).any():
        certain = below(mean, 0.0, high, closed) - below(mean, 0.0, low, closed)
        found = np.where(sd == 0, certain, found)
    return _narrow_ones(found, mean, sd, low, high)


def _narrow_ones(found: Array, mean: Array, sd: Array, low: Array, high: Array) -> Array:
    """The same with classes that are narrow beside the deviation found by quadrature: nothing is taken from anything.

    Their ends have nearly the same tails, of which little but rounding would be left.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        width = (high - low) / sd
        if not (width < NARROW).any():
            return found
        width, middle = np.broadcast_arrays(width, ((low - mean) / 2 + (high - mean) / 2) / sd)
        narrow = width * np.maximum(np.abs(middle), 1) < NARROW
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    middle, half = middle[narrow], width[narrow] / 2
    found[narrow] = (_density(middle[:, None] + half[:, None] * nodes) * weights).sum(axis=1) * half
    return found


def expected_sqe(mean: Any, sd: Any, boundaries: Any) -> Array:
    """The expected squared distance of a value to the interval of each class, (n, C), likewise."""
    low, high = _ends(boundaries)
    mean, sd = _column(mean), _column(sd)
    return squared_shortfall(mean, sd, low) + squared_excess(mean, sd, high)


def _floats(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


def _column(values: Any) -> Array:
    return _floats(values)[..., None]


def _ends(boundaries: Any) -> tuple[Array, Array]:
    ends = _floats(boundaries)
    return ends[:-1], ends[1:]

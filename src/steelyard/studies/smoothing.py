"""A smooth curve through points: local linear regression on the nearest of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array


def local_linear(x: Array, y: Array, at: Array, span: float = 0.75) -> Array:
    """What is expected of y at some places (loess of degree 1; Cleveland 1979, JASA 74, 829-836).

    Args:
        x: Where points are.
        y: How high they are.
        at: Where the curve is wanted.
        span: Which share of all points, the nearest, has a say; near ones weigh more, by the tricube of the distance.
    """
    distance = np.abs(x - at[:, None])
    number = max(2, int(np.ceil(span * len(x)))) - 1
    reach = np.partition(distance, min(number, len(x) - 1), axis=1)[:, min(number, len(x) - 1), None]
    # A little farther, so that the last one counts where all are as far away as it.
    reach = np.where(reach > 0, reach * (1 + 1e-9), 1.0)
    weight = (1 - np.minimum(distance / reach, 1) ** 3) ** 3
    total = weight.sum(axis=1)
    mean, height = weight @ x / total, weight @ y / total
    away = x - mean[:, None]
    spread = (weight * away**2).sum(axis=1)
    # Points at one place have a height, but no slope.
    flat = spread < 1e-12 * total * reach[:, 0] ** 2
    slope = (weight * away * (y - height[:, None])).sum(axis=1) / np.where(flat, np.inf, spread)
    return np.asarray(height + slope * (at - mean))

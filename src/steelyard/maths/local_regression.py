"""How far values scatter around a smooth surface, by local linear regression without the row in question.

A row that is left out is predicted by a straight plane through its neighbours, near ones weighing more. Its squared
residual is too large by what chance does to the plane, which is known (the weights of the neighbours), and divided out:
what is averaged is free of bias wherever the surface is straight within the reach of the neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array

SHARES = (0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9)  # of the rows, within reach of a row
WIDER = (1.5, 3.0, 1e6)  # times the distance of the farthest row; in the end all rows weigh the same
RIDGE = 1e-10  # keeps a plane definite where its neighbours lie on a line
BLOCK = 1 << 22  # numbers at a time


@dataclass(frozen=True)
class LocalVariance:
    """The variance around a smooth surface.

    Attributes:
        variance: The mean of the squared residuals, each divided by what its expectation is for a variance of 1.
        freedom: Degrees of freedom of a chi-squared variable that is as variable.
    """

    variance: float
    freedom: float


def standardised(covariates: Array) -> Array:
    """Covariates with mean 0 and variance 1; those that do not vary are left out."""
    size = np.abs(covariates).max(axis=0, initial=0.0)
    scaled = covariates / np.where(size > 0, size, 1.0)
    centred = scaled - scaled.mean(axis=0)
    spread = np.sqrt(np.mean(np.square(centred), axis=0))
    varies = spread > 1e-13  # a constant that is no binary fraction seems to vary in its last bits
    return np.asarray(centred[:, varies] / spread[varies])


def local_variance(values: Array, covariates: Array) -> LocalVariance:
    """The variance around the surface whose reach predicts rows left out best (Mevik 2003, section 8.1)."""
    points = standardised(covariates)
    squares = np.square(points).sum(axis=1)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0))
    np.fill_diagonal(distance, 0.0)
    ordered = np.sort(distance, axis=1)  # the row itself comes first
    rows, needed = len(values), points.shape[1] + 2
    places = sorted({min(max(round(share * rows), needed), rows - 1) for share in SHARES})
    reaches = [ordered[:, place] for place in places] + [ordered[:, -1] * factor for factor in WIDER]
    smoothers = (_smoother(points, distance, reach) for reach in reaches)
    best = min(smoothers, key=lambda smoother: float(np.mean(np.square(values - smoother @ values))))
    return _variance(values, best)


def _smoother(points: Array, distance: Array, reach: Array) -> Array:
    away = distance / np.where(reach > 0, reach, 1.0)[:, None]
    near = np.maximum(1 - away * away * away, 0.0)  # powers take longer than products
    weights = near * near * near
    np.fill_diagonal(weights, 0.0)
    return _planes(points, weights)


def _variance(values: Array, smoother: Array) -> LocalVariance:
    residual = values - smoother @ values
    expected = 1 + np.square(smoother).sum(axis=1)
    contrast = (np.eye(len(values)) - smoother) / np.sqrt(expected * len(values))[:, None]
    freedom = 1 / np.square(contrast @ contrast.T).sum()
    return LocalVariance(float(np.mean(residual**2 / expected)), float(freedom))


def _planes(points: Array, weights: Array) -> Array:
    """What every row adds to the prediction of every other one by a plane through its neighbours: (rows, rows)."""
    rows, size = len(points), points.shape[1] + 1
    found = np.empty((rows, rows))
    step = max(1, BLOCK // (rows * size))
    for low in range(0, rows, step):
        weight = weights[low : low + step]
        basis = np.ones((len(weight), rows, size))
        np.subtract(points[None, :, :], points[low : low + step, None, :], out=basis[:, :, 1:])
        normal = np.swapaxes(basis * weight[:, :, None], 1, 2) @ basis
        ridge = RIDGE * np.trace(normal, axis1=1, axis2=2) + np.finfo(float).tiny
        normal += ridge[:, None, None] * np.eye(size)
        first = np.linalg.solve(normal, np.eye(size)[:, :1])[..., 0]
        found[low : low + step] = weight * (basis @ first[:, :, None])[..., 0]
    return found

"""Smooth surfaces through measured values: a Gaussian process, and local linear regression.

A Gaussian process is for a response that was measured with a known error: what is expected of rows left out, how sure.
Covariances are a constant, a plane and a smooth surface with one length a covariate, so that covariates which tell
nothing are smoothed away; the variance of the response around the surface is learned, and the known variance of the
measurement stands beside it (Rasmussen & Williams 2006, chapters 2 and 5). Rows left out are predicted in closed form.

Local linear regression finds how far values scatter around a surface. A row that is left out is predicted by a straight
plane through its neighbours, near ones weighing more. Its squared residual is too large by what chance does to the
plane, which is known (the weights of the neighbours), and divided out: what is averaged is free of bias wherever the
surface is straight within the reach of the neighbours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.cached import cached_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.typing import Array, Places


CONSTANT = 10.0  # prior variance of the level: as good as unknown, in units of the variance of the response
PLANE, SURFACE, NOISE, LENGTHS = 0, 1, 2, 3  # where the logarithms of the parameters stand; lengths come last
# A surface that may rise far beyond the responses follows their bend out to the last row a little better, but squared
# errors of the few rows out there then vary so much that they are found less well.
BOUNDS = ((1e-6, 1e3), (1e-6, 30.0), (1e-6, 10.0), (5e-2, 1e3))
STARTS = ((0.5, 1.0, 0.1, 1.0), (0.3, 1.0, 0.05, 3.0))
# Prior of the logarithm of the noise: so wide that it tells nothing but that there is some. Without it the noise is
# found to be nil in a third of samples of 100 rows that were measured with an error three times as large.
USUAL_NOISE, WIDTH = math.log(0.1), 3.0
FEW = 300  # rows on which parameters are found from several starts; more rows only improve them


class Predicted(NamedTuple):
    """What is expected of rows that were left out: the response, and its variance without the measurement error."""

    mean: Array
    variance: Array


@dataclass(frozen=True)
class Process:
    """A Gaussian process with all its parameters, in units of standardised covariates and responses.

    Attributes:
        points: The covariates, (rows, covariates).
        target: The measured responses.
        known: The variance of the measurement error of every row.
        parameters: Logarithms of the variance of the plane, of the surface and around it, and of its lengths.
    """

    points: Array
    target: Array
    known: Array
    parameters: Array

    @property
    def noise(self) -> float:
        """The variance of the response around the surface."""
        return math.exp(self.parameters[NOISE])

    @property
    def lengths(self) -> Array:
        """How far one must go along each covariate for the surface to turn; one number where all have the same."""
        return np.exp(self.parameters[LENGTHS:])

    def smooth(self, points: Array, others: Array) -> Array:
        """Covariances of the smooth surface between points."""
        ours, theirs = points / self.lengths, others / self.lengths
        distance = ours @ theirs.T
        distance -= np.square(ours).sum(axis=1)[:, None] / 2
        distance -= np.square(theirs).sum(axis=1) / 2
        np.minimum(distance, 0.0, out=distance)
        distance += self.parameters[SURFACE]
        return np.exp(distance, out=distance)

    def straight(self, points: Array, others: Array) -> Array:
        """Covariances of the plane and of its level between points."""
        return np.asarray(CONSTANT + math.exp(self.parameters[PLANE]) * (points @ others.T))

    @cached_property
    def surface(self) -> Array:
        """Covariances of the smooth surface between the rows."""
        return self.smooth(self.points, self.points)

    @cached_property
    def factor(self) -> Any:
        """The Cholesky factor of the covariance of the measurements; None where it has none."""
        from scipy.linalg.lapack import dpotrf

        whole = self.surface + self.straight(self.points, self.points)
        whole.flat[:: len(whole) + 1] += self.noise + self.known
        factor, failed = dpotrf(whole.T, lower=1, overwrite_a=1)
        return None if failed else np.asarray(factor)

    @cached_property
    def unfactor(self) -> Array:
        """The inverse of that factor: its square is the inverse of the covariance."""
        from scipy.linalg.lapack import dtrtri

        return np.asarray(dtrtri(self.factor, lower=1)[0])

    @cached_property
    def weights(self) -> Array:
        """The inverse of the covariance times the responses."""
        from scipy.linalg.lapack import dpotrs

        return np.asarray(dpotrs(self.factor, self.target, lower=1)[0])

    def evidence(self) -> tuple[float, Array]:
        """The logarithm of the likelihood of the responses, and its derivatives by the parameters."""
        if self.factor is None:
            return -math.inf, np.zeros(len(self.parameters))
        determinant = float(np.log(np.diag(self.factor)).sum())
        value = -float(self.target @ self.weights) / 2 - determinant - len(self.target) * math.log(2 * math.pi) / 2
        pull = np.outer(self.weights, self.weights)
        pull -= self.unfactor.T @ self.unfactor
        smooth = pull * self.surface
        plane = math.exp(self.parameters[PLANE]) * float((self.points * (pull @ self.points)).sum())
        # Of (x - x')² summed with symmetric weights, nothing but two products is left.
        turned = smooth.sum(axis=1) @ np.square(self.points) - (self.points * (smooth @ self.points)).sum(axis=0)
        along = 2 * turned / np.square(self.lengths)
        lengths = along if len(self.parameters) == LENGTHS + self.points.shape[1] else [along.sum()]
        return value, np.array([plane, smooth.sum(), self.noise * np.trace(pull), *lengths]) / 2

    # --- predictions ------------------------------------------------------------------------------------------------

    def without_each(self) -> Predicted:
        """Every row as the others predict it."""
        spread = 1 / np.square(self.unfactor).sum(axis=0)
        return Predicted(self.target - self.weights * spread, np.maximum(spread - self.known, self.noise))

    def without_groups(self, groups: Sequence[Places]) -> Predicted:
        """Every row as the rows of other groups predict it."""
        mean, variance = np.empty(len(self.target)), np.empty(len(self.target))
        for rows in groups:
            own = self.unfactor[:, rows]
            spread = np.linalg.inv(own.T @ own)
            mean[rows] = self.target[rows] - spread @ self.weights[rows]
            variance[rows] = np.diag(spread) - self.known[rows]
        return Predicted(mean, np.maximum(variance, self.noise))

    def at(self, points: Array) -> Predicted:
        """What is expected of other points."""
        between = self.smooth(points, self.points) + self.straight(points, self.points)
        own = CONSTANT + math.exp(self.parameters[PLANE]) * np.square(points).sum(axis=1)
        variance = own + math.exp(self.parameters[SURFACE]) - np.square(between @ self.unfactor.T).sum(axis=1)
        return Predicted(between @ self.weights, np.maximum(variance, 0.0) + self.noise)

    @property
    def score(self) -> float:
        """How probable each row is to the others, as the mean of logarithms, less what parameters gain by fitting."""
        mean, variance = self.without_each()
        whole = variance + self.known
        density = -(np.log(2 * math.pi * whole) + np.square(self.target - mean) / whole) / 2
        return float(density.mean()) - len(self.parameters) / len(self.target)


def fit_process(points: Array, target: Array, known: Array, shared: bool = False) -> Process:
    """The most probable parameters.

    Args:
        points: Standardised covariates; rows are in random order.
        target: Standardised responses.
        known: Variances of the measurement error, in units of the variance of the response.
        shared: Whether all covariates have the same length.
    """
    lengths = 1 if shared else points.shape[1]
    starts = [np.log([*variances, *[length] * lengths]) for *variances, length in STARTS]
    few = points[:FEW], target[:FEW], known[:FEW]
    # A few steps show which start leads higher.
    ahead = max((_climb(Process(*few, start), steps=6) for start in starts), key=_posterior)
    best = _climb(ahead)
    return best if len(points) <= FEW else _climb(Process(points, target, known, best.parameters))


def _posterior(process: Process) -> float:
    return process.evidence()[0] - _surprise(process.parameters)[0]


def _surprise(parameters: Array) -> tuple[float, float]:
    """How improbable the noise is before anything is seen, and its derivative."""
    away = (float(parameters[NOISE]) - USUAL_NOISE) / WIDTH
    return away**2 / 2, away / WIDTH


def _climb(process: Process, steps: int = 100) -> Process:
    """The most probable parameters uphill from those of a process."""
    from scipy.optimize import minimize

    def loss(parameters: Array) -> tuple[float, Array]:
        value, slope = Process(process.points, process.target, process.known, parameters).evidence()
        if not math.isfinite(value):
            return 1e25, slope
        surprise, steep = _surprise(parameters)
        slope[NOISE] -= steep
        return surprise - value, -slope

    start = process.parameters
    lengths = len(start) - LENGTHS
    bounds = [(math.log(low), math.log(high)) for low, high in (*BOUNDS[:LENGTHS], *BOUNDS[LENGTHS:] * lengths)]
    # A millionth of a log-likelihood of hundreds changes no prediction.
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps, "ftol": 1e-6})
    return Process(process.points, process.target, process.known, np.asarray(found.x))


# --- local linear regression ----------------------------------------------------------------------------------------


SHARES = (0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9)  # of the rows, within reach of a row
WIDER = (1.5, 3.0, 1e6)  # times the distance of the farthest row; in the end all rows weigh the same
RIDGE = 1e-10  # keeps a plane definite where its neighbours lie on a line
BLOCK = 1 << 22  # numbers at a time


def standardised(covariates: Array) -> Array:
    """Covariates with mean 0 and variance 1; those that do not vary are left out."""
    size = np.abs(covariates).max(axis=0, initial=0.0)
    scaled = covariates / np.where(size > 0, size, 1.0)
    centred = scaled - scaled.mean(axis=0)
    spread = np.sqrt(np.mean(np.square(centred), axis=0))
    varies = spread > 1e-13  # a constant that is no binary fraction seems to vary in its last bits
    return np.asarray(centred[:, varies] / spread[varies])


def local_variance(values: Array, covariates: Array) -> tuple[float, float]:
    """The variance around the surface whose reach predicts rows left out best (Mevik 2003, section 8.1).

    Returns:
        The mean of the squared residuals, each divided by what its expectation is for a variance of 1; and the degrees
        of freedom of a chi-squared variable that is as variable.
    """
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


def _variance(values: Array, smoother: Array) -> tuple[float, float]:
    residual = values - smoother @ values
    expected = 1 + np.square(smoother).sum(axis=1)
    contrast = (np.eye(len(values)) - smoother) / np.sqrt(expected * len(values))[:, None]
    freedom = 1 / np.square(contrast @ contrast.T).sum()
    return float(np.mean(residual**2 / expected)), float(freedom)


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

"""Discriminant analysis, naive Bayes and nearest centroids without a part: what its rows add to means and covariances.

Of discriminant analysis, variables are brought to coordinates in which the covariance of all rows is the unit matrix,
so that neither their units nor their correlations cost digits. Of one row that is left out, covariances change by its
outer product, and their inverse and determinant follow from one squared distance (Sherman and Morrison 1950). Of a
larger part they are looked at once a part. Naive Bayes and centroids need sums of variables by themselves alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .leave_out import LITTLE, LOST, ROUNDING, Chunk, HeldOut, Leaving, known, shares, undecided

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks


SAID = "without a fit a part: sums of all rows, less those of the part"
MARGIN = 2.0  # times the tolerance of a rank: what is nearer to it is left to the fit
WORST = 1e-7  # the least singular value beside the largest: its square still has digits


@dataclass(frozen=True)
class Whitening:
    """Coordinates in which a covariance is the unit matrix.

    Attributes:
        inverse: What rows are multiplied by.
        log_determinant: Of the covariance.
        least: The least singular value of its root.
        condition: How many times as large its largest eigenvalue is as its least.
    """

    inverse: Array
    log_determinant: float
    least: float
    condition: float

    @classmethod
    def of(cls, weighed: Array, ridge: float = 0.0) -> Whitening | None:
        """For the covariance ``weighed.T @ weighed``, and a multiple of the unit matrix besides.

        None where not all directions can be told from rounding. There are at least as many rows as variables.
        """
        if ridge > 0:
            weighed = np.concatenate([weighed, np.sqrt(ridge) * np.eye(weighed.shape[1])])
        scale = np.sqrt(np.square(weighed).sum(axis=0))
        scale = np.where(scale > 0, scale, 1.0)
        root = np.linalg.qr(weighed / scale, mode="r")
        values = np.linalg.svd(root, compute_uv=False)
        if not values[-1] > WORST * values[0]:
            return None
        log_determinant = 2 * float(np.log(np.abs(np.diag(root)) * scale).sum())
        values = np.linalg.svd(root * scale, compute_uv=False)
        condition = float(np.square(values[0] / values[-1]))
        return cls(np.linalg.inv(root) / scale[:, None], log_determinant, float(values[-1]), condition)

    def digits(self, means: Array, by_covariance: bool) -> bool:
        """Whether a fit keeps its digits, however far from 0 the classes are and however unlike the units.

        Args:
            means: The means of the classes.
            by_covariance: Whether it decomposes the covariance itself, instead of rows about their means.
        """
        turned = means @ self.inverse
        far = np.sqrt(np.square(turned).sum(axis=1).max())
        apart = max(1.0, float(np.sqrt(np.square(turned - turned[0]).sum(axis=1).max())))
        return bool(ROUNDING * max(far * apart, self.condition if by_covariance else 0.0) < LOST)


def _by_log(leaving: Leaving, log: Array, doubtful: Marks) -> HeldOut:
    """The answer by log probabilities of classes, up to a constant of each row."""
    return leaving.held_out(log.argmax(axis=1), shares(log), None, doubtful | undecided(log), SAID)


def _log_priors(leaving: Leaving, priors: Array | None) -> Array:
    """Of each class without each part, (parts, classes)."""
    remaining = leaving.remaining
    shape = remaining.shape
    share = remaining / remaining.sum(axis=1, keepdims=True) if priors is None else np.broadcast_to(priors, shape)
    return np.asarray(np.log(share))


# --- linear ---------------------------------------------------------------------------------------------------------


def linear(estimator: Any, leaving: Leaving) -> HeldOut | None:
    """Linear discriminant analysis."""
    names = {"solver", "shrinkage", "priors", "n_components", "store_covariance", "tol", "covariance_estimator"}
    options = known(estimator, names, leaving.classes)
    if options is None or options["shrinkage"] is not None or options["covariance_estimator"] is not None:
        return None
    if options["solver"] not in ("svd", "lsqr", "eigen") or not _fits(options["n_components"], leaving):
        return None
    by_rank = options["solver"] == "svd"
    # Given priors weigh the covariances of the classes too, but not where there is no covariance but an SVD.
    priors = None if by_rank else options["priors"]
    tolerance = float(options["tol"]) if by_rank else 0.0
    log_priors = _log_priors(leaving, options["priors"])
    whitening = _determined(leaving, priors, options["solver"])
    if whitening is None or (by_rank and not _means_apart(leaving, whitening, log_priors, tolerance)):
        return None
    if leaving.singly:
        return _linear_singly(leaving, priors, log_priors, tolerance)
    return _linear_by_part(leaving, priors, whitening, log_priors, tolerance)


def _fits(components: Any, leaving: Leaving) -> bool:
    """Whether a fit would take that number of components; what it predicts does not depend on it."""
    return components is None or 0 < components <= min(leaving.classes - 1, leaving.variables)


def _weights(priors: Array | None, counts: Codes) -> Array:
    """How much the squares of each class count in the covariance within classes, where it has so many rows."""
    return np.full(len(counts), 1.0 / counts.sum()) if priors is None else priors / counts


def _pooled(leaving: Leaving, weights: Array) -> Whitening | None:
    """Coordinates by the squares of all rows, weighed by class."""
    return Whitening.of(leaving.away * np.sqrt(weights[leaving.codes])[:, None])


def _least(leaving: Leaving) -> float:
    """The least singular value that the SVD of scikit-learn sees: of variables with standard deviation 1."""
    scale = np.sqrt(np.square(leaving.away).mean(axis=0))
    scaled = leaving.away / np.where(scale > 0, scale, 1.0)
    return float(np.linalg.svd(np.linalg.qr(scaled, mode="r"), compute_uv=False)[-1] / np.sqrt(leaving.rows))


def _determined(leaving: Leaving, priors: Array | None, solver: str) -> Whitening | None:
    """The coordinates of all rows, where there is a covariance that has an inverse, and a fit that keeps its digits."""
    if leaving.rows - leaving.sizes.max() <= leaving.variables + leaving.classes:
        return None
    whitening = _pooled(leaving, _weights(priors, leaving.counts))
    if whitening is None or not whitening.digits(leaving.means, solver == "lsqr"):
        return None
    # Without the SVD, squares of the means are a term of what is decided by.
    squares = np.square(leaving.means @ whitening.inverse).sum(axis=1).max()
    return whitening if solver == "svd" or ROUNDING * squares < LOST else None


def _means_apart(leaving: Leaving, whitening: Whitening, log_priors: Array, tolerance: float) -> bool:
    """Whether the means of classes differ in as many directions as they can, clearly.

    scikit-learn leaves out those in which they differ by less than its tolerance.
    """
    priors = np.exp(log_priors).mean(axis=0)
    away = (leaving.means - leaving.x.mean(axis=0)) @ whitening.inverse
    away = np.sqrt(priors)[:, None] * (away - priors @ away / priors.sum())
    values = np.linalg.svd(away, compute_uv=False)
    directions = min(leaving.classes - 1, leaving.variables)
    return bool(values[0] > 0 and values[directions - 1] > 10 * tolerance * values[0])


def _linear_singly(leaving: Leaving, priors: Array | None, log_priors: Array, tolerance: float) -> HeldOut | None:
    log, doubtful = np.empty((leaving.rows, leaving.classes)), np.zeros(leaving.rows, dtype=bool)
    least = _least(leaving) if tolerance else 1.0
    for code in range(leaving.classes):
        rows = np.flatnonzero(leaving.codes == code)
        counts = leaving.counts - (np.arange(leaving.classes) == code)
        weights = _weights(priors, counts)
        whitening = _pooled(leaving, weights)
        if whitening is None:  # weighed in another way, it may just fall short
            return None
        grown = leaving.counts[code] / counts[code]
        own = leaving.away[rows] @ whitening.inverse
        kept = 1 - weights[code] * grown * np.square(own).sum(axis=1)
        doubtful[rows] = ~((kept > LITTLE) & (least * np.sqrt(kept.clip(0)) > MARGIN * tolerance))
        factor = weights[code] * grown / np.where(kept > LITTLE, kept, 1.0)
        for other, mean in enumerate(leaving.means):
            # The mean of the row's own class moves away from it, straight on.
            gap = own * grown if other == code else own + (leaving.means[code] - mean) @ whitening.inverse
            squared = np.square(gap).sum(axis=1) + factor * np.square((gap * own).sum(axis=1))
            log[rows, other] = log_priors[leaving.part_of[rows], other] - squared / 2
    return _by_log(leaving, log, doubtful)


def _linear_by_part(
    leaving: Leaving, priors: Array | None, whitening: Whitening, log_priors: Array, tolerance: float
) -> HeldOut:
    log, doubtful = np.empty((leaving.rows, leaving.classes)), np.zeros(leaving.rows, dtype=bool)
    least = _least(leaving) if tolerance else 1.0
    away = leaving.away @ whitening.inverse
    means = (leaving.means - leaving.means[0]) @ whitening.inverse
    scatters = [_scatter(away[leaving.codes == code]) for code in range(leaving.classes)]
    for place, part in enumerate(leaving.parts):
        remaining, codes = leaving.remaining[place], leaving.codes[part]
        weights, moved, pooled = _weights(priors, remaining), means.copy(), np.zeros_like(scatters[0])
        for code, scatter in enumerate(scatters):
            shift, rest = _without(away[part[codes == code]], scatter, int(remaining[code]))
            moved[code] += shift
            pooled += weights[code] * rest
        values, vectors = np.linalg.eigh(pooled)
        if not (values[0] > LITTLE and least * np.sqrt(values[0]) > MARGIN * tolerance):
            doubtful[part] = True
            values = np.ones_like(values)
        here, whiten = away[part] + means[codes], vectors / np.sqrt(values)
        for code, mean in enumerate(moved):
            log[part, code] = log_priors[place, code] - np.square((here - mean) @ whiten).sum(axis=1) / 2
    return _by_log(leaving, log, doubtful)


def _scatter(away: Array) -> Array:
    return np.asarray(away.T @ away)


def _without(left: Array, scatter: Array, remaining: int) -> tuple[Array, Array]:
    """How far the mean of a class moves when rows are left out, and the scatter about it that remains."""
    shift = -left.sum(axis=0) / remaining
    return shift, scatter - left.T @ left - remaining * shift[:, None] * shift


# --- quadratic ------------------------------------------------------------------------------------------------------


def quadratic(estimator: Any, leaving: Leaving) -> HeldOut | None:
    """Quadratic discriminant analysis."""
    names = {"solver", "shrinkage", "priors", "reg_param", "store_covariance", "tol", "covariance_estimator"}
    options = known(estimator, names, leaving.classes)
    if options is None or options.get("shrinkage") is not None or options.get("covariance_estimator") is not None:
        return None
    solver = options.get("solver", "svd")
    if solver not in ("svd", "eigen") or leaving.remaining.min() <= leaving.variables:
        return None
    # The other solver does not look at it.
    ridge = float(options["reg_param"]) if solver == "svd" else 0.0
    if not 0 <= ridge < 1:
        return None
    log = _log_priors(leaving, options["priors"])[leaving.part_of]
    doubtful = np.zeros(leaving.rows, dtype=bool)
    least = MARGIN * float(options["tol"])
    for code in range(leaving.classes):
        whitening = _whitening_of(leaving, code, ridge, int(leaving.counts[code]))
        if whitening is None or not whitening.least**2 > least:
            return None
        if not whitening.digits(leaving.means, solver == "eigen"):
            return None
        gap = (leaving.x - leaving.means[code]) @ whitening.inverse
        density = (np.square(gap).sum(axis=1) + whitening.log_determinant) / -2
        if leaving.singly:
            doubtful |= _leave_rows_out(leaving, code, ridge, least, density)
        else:
            doubtful |= _leave_parts_out(leaving, code, ridge, least, whitening, gap, density)
        log[:, code] += density
    return _by_log(leaving, log, doubtful)


def _whitening_of(leaving: Leaving, code: int, ridge: float, count: int) -> Whitening | None:
    """Coordinates by the squares of all rows of a class, as if there were so many of them."""
    away = leaving.away[leaving.codes == code]
    return Whitening.of(away * np.sqrt((1 - ridge) / count), ridge)


def _leave_rows_out(leaving: Leaving, code: int, ridge: float, least: float, density: Array) -> Marks:
    """Leave each row of a class out of its own log density, and return the rows of which it cannot be told."""
    own, count = np.asarray(leaving.codes == code), int(leaving.counts[code])
    whitening, grown = _whitening_of(leaving, code, ridge, count - 1), count / (count - 1)
    if whitening is None:
        return own
    squared = np.square(leaving.away[own] @ whitening.inverse).sum(axis=1)
    kept = 1 - (1 - ridge) * grown / (count - 1) * squared
    doubtful = np.zeros(leaving.rows, dtype=bool)
    doubtful[own] = ~((kept > LITTLE) & (whitening.least**2 * kept > least))
    kept = np.where(kept > LITTLE, kept, 1.0)
    density[own] = (grown**2 * squared / kept + whitening.log_determinant + np.log(kept)) / -2
    return doubtful


def _leave_parts_out(
    leaving: Leaving, code: int, ridge: float, least: float, whitening: Whitening, gap: Array, density: Array
) -> Marks:
    """Likewise, leave out each part; ``gap`` is how far all rows are from the mean of the class."""
    scatter, doubtful = _scatter(gap[leaving.codes == code]), np.zeros(leaving.rows, dtype=bool)
    fixed = ridge * whitening.inverse.T @ whitening.inverse
    for place, part in enumerate(leaving.parts):
        left, remaining = part[leaving.codes[part] == code], int(leaving.remaining[place, code])
        if not len(left):
            continue
        shift, rest = _without(gap[left], scatter, remaining)
        values, vectors = np.linalg.eigh((1 - ridge) * rest / remaining + fixed)
        if not (values[0] > LITTLE and whitening.least**2 * values[0] > least):
            doubtful[part] = True
            continue
        squared = np.square((gap[part] - shift) @ (vectors / np.sqrt(values))).sum(axis=1)
        density[part] = (squared + whitening.log_determinant + np.log(values).sum()) / -2
    return doubtful


# --- variables one by one: what a part adds to sums -----------------------------------------------------------------


ROUNDED = 1e-11  # the most that may be lost where squares of distances are sums of large squares


def _squares(leaving: Leaving) -> Array:
    """Sums of squares about the means, (classes, variables)."""
    return np.stack([np.square(leaving.away[leaving.codes == code]).sum(axis=0) for code in range(leaving.classes)])


# --- naive Bayes ----------------------------------------------------------------------------------------------------


def naive_bayes(estimator: Any, leaving: Leaving) -> HeldOut | None:
    """Gaussian naive Bayes."""
    options = known(estimator, {"priors", "var_smoothing"}, leaving.classes)
    if options is None or not leaving.precise:
        return None
    log, doubtful = np.empty((leaving.rows, leaving.classes)), np.zeros(leaving.rows, dtype=bool)
    squares, middle = _squares(leaving), leaving.x.mean(axis=0)
    total, log_priors = np.square(leaving.x - middle).sum(axis=0), _log_priors(leaving, options["priors"])
    for chunk in leaving.chunks(leaving.variables):
        rows = chunk.rows
        smoothing, unsure = _smoothing(chunk, float(options["var_smoothing"]), middle, total)
        found = log_priors[leaving.part_of[rows]]
        for code in range(leaving.classes):
            density, doubts = _density(chunk, code, squares[code], smoothing)
            found[:, code] += density
            unsure |= doubts
        log[rows], doubtful[rows] = found, unsure
    if not np.isfinite(log).all():
        return None
    return _by_log(leaving, log, doubtful)


def _smoothing(chunk: Chunk, share: float, middle: Array, total: Array) -> tuple[Array, Marks]:
    """What is added to variances: a share of the largest one in the rows that are fitted to; and rows in doubt."""
    remaining = chunk.leaving.remaining[chunk.parts].sum(axis=1)[:, None]
    rest = chunk.without(chunk.leaving.x[chunk.rows] - middle, total, remaining)[1]
    return share * (rest / remaining).max(axis=1), (rest.max(axis=1) < LITTLE * total.max())[chunk.place]


def _density(chunk: Chunk, code: int, total: Array, smoothing: Array) -> tuple[Array, Marks]:
    """The log density of a class at every row, and rows of which it cannot be told."""
    remaining = chunk.leaving.remaining[chunk.parts, code, None]
    shift, rest, gap = chunk.of_class(code, total)
    variance = rest / remaining + smoothing[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # a variance of 0 is no density, and refused as such
        kept = variance * remaining / (total + smoothing[:, None] * remaining)
        constant = np.log(2 * np.pi * variance).sum(axis=1)
        squared = (np.square(gap - shift[chunk.place]) / variance[chunk.place]).sum(axis=1)
    least = np.asarray(kept.min(axis=1))
    return (squared + constant[chunk.place]) / -2, ~(least > LITTLE)[chunk.place]


# --- centroids ------------------------------------------------------------------------------------------------------


def centroids(estimator: Any, leaving: Leaving) -> HeldOut | None:
    """The nearest centroid, by Euclidean distance.

    With equal priors scikit-learn assigns by distances of the variables as they are, but its probabilities are by
    distances in units of their standard deviation within classes.
    """
    options = known(estimator, {"metric", "shrink_threshold", "priors"}, leaving.classes)
    if options is None or options["metric"] != "euclidean" or options["shrink_threshold"] is not None:
        return None
    squares = _squares(leaving)
    if not _precise(leaving, squares.sum(axis=0)):
        return None
    log, near = (np.empty((leaving.rows, leaving.classes)) for _ in range(2))
    doubtful = np.zeros(leaving.rows, dtype=bool)
    for chunk in leaving.chunks(leaving.variables):
        log[chunk.rows], near[chunk.rows], doubtful[chunk.rows] = _near(chunk, squares, options["priors"])
    slack = 8 * ROUNDING * float(np.square(leaving.x).sum(axis=1).max())
    doubtful |= undecided(near, slack)
    return leaving.held_out(near.argmax(axis=1), shares(log), None, doubtful, SAID)


def _precise(leaving: Leaving, squares: Array) -> bool:
    """Whether scikit-learn's distances, found from the squares of the variables, have their digits."""
    if not squares.min() > 0 or leaving.rows - leaving.sizes.max() <= leaving.classes:
        return False
    largest = float((np.square(leaving.x) * (leaving.rows / squares)).sum(axis=1).max())
    return ROUNDING * largest < ROUNDED


def _near(chunk: Chunk, squares: Array, priors: Array | None) -> tuple[Array, Array, Marks]:
    """Log probabilities of classes, how near rows are to them, and rows in doubt."""
    moved = [chunk.of_class(code, total) for code, total in enumerate(squares)]
    remaining = chunk.leaving.remaining[chunk.parts]
    within = np.sum([rest for _, rest, _ in moved], axis=0)
    variance = within / (remaining.sum(axis=1)[:, None] - chunk.leaving.classes)
    sure = (within > LITTLE * squares.sum(axis=0)).all(axis=1)
    variance = np.where(sure[:, None], variance, 1.0)
    gaps = [np.square(gap - shift[chunk.place]) for shift, _, gap in moved]
    log_priors = _log_priors(chunk.leaving, priors)[chunk.parts]
    log = 2 * log_priors[chunk.place] - np.stack([(gap / variance[chunk.place]).sum(axis=1) for gap in gaps], axis=1)
    # As scikit-learn asks it.
    equal = np.asarray(np.isclose(np.exp(log_priors), 1 / chunk.leaving.classes).all(axis=1))
    near = np.where(equal[chunk.place, None], -np.stack([gap.sum(axis=1) for gap in gaps], axis=1), log)
    return log, near, ~sure[chunk.place]

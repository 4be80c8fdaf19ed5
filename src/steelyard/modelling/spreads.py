"""Gaussian naive Bayes and nearest centroids: means and variances of all rows, less what a part adds to their sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .gaussian import SAID
from .leaving import LITTLE, ROUNDING, Answer, Leaving, given_priors, known, shares, undecided

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Places

ROUNDED = 1e-11  # the most that may be lost where squares of distances are sums of large squares


@dataclass(frozen=True)
class _Chunk:
    """Parts that are looked at together.

    Attributes:
        leaving: All rows.
        parts: Which parts.
        rows: Their rows, part after part.
        starts: Where each part starts among these.
        place: The part of each of these rows, from 0 on.
    """

    leaving: Leaving
    parts: slice
    rows: Places
    starts: Codes
    place: Codes

    @classmethod
    def of(cls, leaving: Leaving, parts: slice, rows: Places) -> _Chunk:
        """The parts in one piece of all of them."""
        sizes = leaving.sizes[parts]
        return cls(leaving, parts, rows, np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes))

    def of_class(self, code: int, total: Array) -> tuple[Array, Array, Array]:
        """Of a class, how far its mean moves, its squares that remain, and how far rows are from its old mean.

        Args:
            code: The class.
            total: Its sum of squares about its mean, by variable.
        """
        gap = self.leaving.x[self.rows] - self.leaving.means[code]
        own = (self.leaving.codes[self.rows] == code)[:, None]
        shift, rest = self.without(gap * own, total, self.leaving.remaining[self.parts, code, None])
        return shift, rest, gap

    def without(self, left: Array, total: Array, remaining: Codes) -> tuple[Array, Array]:
        """How far a mean moves, and the squares that remain, (parts, variables)."""
        shift = -np.add.reduceat(left, self.starts) / remaining
        rest = total - np.add.reduceat(np.square(left), self.starts) - remaining * np.square(shift)
        return shift, np.asarray(rest.clip(0))

    def log_priors(self, priors: Array | None) -> Array:
        """Of each class, (parts, classes)."""
        remaining = self.leaving.remaining[self.parts]
        share = remaining / remaining.sum(axis=1, keepdims=True)
        return np.asarray(np.log(share if priors is None else np.broadcast_to(priors, share.shape)))


def _squares(leaving: Leaving) -> Array:
    """Sums of squares about the means, (classes, variables)."""
    return np.stack([np.square(leaving.away[leaving.codes == code]).sum(axis=0) for code in range(leaving.classes)])


# --- naive Bayes ----------------------------------------------------------------------------------------------------


def naive_bayes(estimator: Any, leaving: Leaving) -> Answer | None:
    """Gaussian naive Bayes."""
    options = known(estimator, {"priors", "var_smoothing"})
    if options is None or not leaving.precise:
        return None
    priors = None if options["priors"] is None else given_priors(options["priors"], leaving.classes)
    if options["priors"] is not None and priors is None:
        return None
    log, doubtful = np.empty((leaving.rows, leaving.classes)), np.zeros(leaving.rows, dtype=bool)
    squares, middle = _squares(leaving), leaving.x.mean(axis=0)
    total = np.square(leaving.x - middle).sum(axis=0)
    for parts, rows in leaving.chunks(leaving.variables):
        chunk = _Chunk.of(leaving, parts, rows)
        smoothing, unsure = _smoothing(chunk, float(options["var_smoothing"]), middle, total)
        found = chunk.log_priors(priors)[chunk.place]
        for code in range(leaving.classes):
            density, doubts = _density(chunk, code, squares[code], smoothing)
            found[:, code] += density
            unsure |= doubts
        log[rows], doubtful[rows] = found, unsure
    if not np.isfinite(log).all():
        return None
    return Answer(log.argmax(axis=1), shares(log), None, doubtful | undecided(log), SAID)


def _smoothing(chunk: _Chunk, share: float, middle: Array, total: Array) -> tuple[Array, Marks]:
    """What is added to variances: a share of the largest one in the rows that are fitted to; and rows in doubt."""
    remaining = chunk.leaving.remaining[chunk.parts].sum(axis=1)[:, None]
    rest = chunk.without(chunk.leaving.x[chunk.rows] - middle, total, remaining)[1]
    return share * (rest / remaining).max(axis=1), (rest.max(axis=1) < LITTLE * total.max())[chunk.place]


def _density(chunk: _Chunk, code: int, total: Array, smoothing: Array) -> tuple[Array, Marks]:
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


def centroids(estimator: Any, leaving: Leaving) -> Answer | None:
    """The nearest centroid, by Euclidean distance.

    With equal priors scikit-learn assigns by distances of the variables as they are, but its probabilities are by
    distances in units of their standard deviation within classes.
    """
    options = known(estimator, {"metric", "shrink_threshold", "priors"})
    if options is None or options["metric"] != "euclidean" or options["shrink_threshold"] is not None:
        return None
    wanted, priors = options["priors"], None
    if not isinstance(wanted, str):
        priors = given_priors(wanted, leaving.classes)
    elif wanted == "uniform":
        priors = np.full(leaving.classes, 1 / leaving.classes)
    if priors is None and not (isinstance(wanted, str) and wanted == "empirical"):
        return None
    squares = _squares(leaving)
    if not _precise(leaving, squares.sum(axis=0)):
        return None
    log, near = (np.empty((leaving.rows, leaving.classes)) for _ in range(2))
    doubtful = np.zeros(leaving.rows, dtype=bool)
    for parts, rows in leaving.chunks(leaving.variables):
        log[rows], near[rows], doubtful[rows] = _near(_Chunk.of(leaving, parts, rows), squares, priors)
    slack = 8 * ROUNDING * float(np.square(leaving.x).sum(axis=1).max())
    doubtful |= undecided(near, slack)
    return Answer(near.argmax(axis=1), shares(log), None, doubtful, SAID)


def _precise(leaving: Leaving, squares: Array) -> bool:
    """Whether scikit-learn's distances, found from the squares of the variables, have their digits."""
    if not squares.min() > 0 or leaving.rows - leaving.sizes.max() <= leaving.classes:
        return False
    largest = float((np.square(leaving.x) * (leaving.rows / squares)).sum(axis=1).max())
    return ROUNDING * largest < ROUNDED


def _near(chunk: _Chunk, squares: Array, priors: Array | None) -> tuple[Array, Array, Marks]:
    """Log probabilities of classes, how near rows are to them, and rows in doubt."""
    moved = [chunk.of_class(code, total) for code, total in enumerate(squares)]
    remaining = chunk.leaving.remaining[chunk.parts]
    within = np.sum([rest for _, rest, _ in moved], axis=0)
    variance = within / (remaining.sum(axis=1)[:, None] - chunk.leaving.classes)
    sure = (within > LITTLE * squares.sum(axis=0)).all(axis=1)
    variance = np.where(sure[:, None], variance, 1.0)
    gaps = [np.square(gap - shift[chunk.place]) for shift, _, gap in moved]
    log_priors = chunk.log_priors(priors)
    log = 2 * log_priors[chunk.place] - np.stack([(gap / variance[chunk.place]).sum(axis=1) for gap in gaps], axis=1)
    # As scikit-learn asks it.
    equal = np.asarray(np.isclose(np.exp(log_priors), 1 / chunk.leaving.classes).all(axis=1))
    near = np.where(equal[chunk.place, None], -np.stack([gap.sum(axis=1) for gap in gaps], axis=1), log)
    return log, near, ~sure[chunk.place]

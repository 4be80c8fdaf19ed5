"""Data sets of a design drawn over and over, classifiers fitted to each, how good these truly are, and estimates of it.

The estimates are those of Mevik (2003), by the numbers of the formulas there, and better ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..core.scale import Continuum
from ..families.continuum.judged import Judged
from ..maths.kernels import class_probabilities, expected_sqe, outside_probabilities
from ..measures import find
from ..modelling.response import fit_response
from .classifiers import (
    DataSets,
    FittedClassifier,
    NearestNeighbours,
    TrialPoints,
    interval,
    least_squares,
    linear_discriminants,
    quadratic_discriminants,
)
from .designs import NORMAL, Cell, Design, representatives

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

CLASSIFIERS = ("lda", "qda", "knn", "regression")
TRIALS = 10_000
LEAST_UNIFORM = 2.0**-54  # in the place of 0, whose quantile is infinite
DISTANCES_AT_A_TIME = 1 << 19


# Points at which classifiers are tried; and the probability of an error and the expected squared error, by class and
# point, times what share of all rows the point stands for.
Examination = tuple[TrialPoints, "Array"]


def true_rates(fitted: FittedClassifier, examination: Examination) -> Array:
    """The error rate and the squared error rate of a classifier in each data set, (sets, 2)."""
    points, risks = examination
    size = len(points.x)
    place = fitted.at(points) * np.intp(size) + np.arange(size)
    return np.stack([np.take(risk, place).sum(axis=-1) for risk in risks], axis=-1)


def examinations(design: Design, trials: int = TRIALS) -> dict[float, Examination]:
    """What is known exactly at so many points that stand for all rows, by the standard deviation of the response."""
    uniform, share = representatives(trials, design.variables)
    points = TrialPoints(design.x(uniform))
    expected, judges = design.expected(points.x), (design.noise.outside, design.noise.sqe)
    found = {}
    for level in {cell.sd_response for cell in design.cells}:
        risk = np.stack([judge(expected, level, design.boundaries).T for judge in judges])
        found[level] = points, risk * share
    return found


@dataclass(frozen=True)
class Replications:
    """Some repetitions of one cell of a design, all that an estimate may need to know and the truth beside it.

    Attributes:
        design: How the data arise.
        cell: How much is random in them.
        first: The number of the first repetition.
        x: The variables, (repetitions, rows, variables).
        y: The response, which is not known in practice, (repetitions, rows).
        z: What was measured of it.
        folds: The fold of each row.
        assigned: The class of each row by a classifier fitted without its fold, by the name of the classifier.
        truth: Its true error rate and squared error rate when fitted to all rows: (repetitions, 2).
    """

    design: Design
    cell: Cell
    first: int
    x: Array
    y: Array
    z: Array
    folds: Codes
    assigned: Mapping[str, Codes]
    truth: Mapping[str, Array]

    @cached_property
    def labels(self) -> Codes:
        """The class of each row as measured."""
        return interval(self.z, self.design.inner)

    @cached_property
    def outside_label(self) -> Array:
        """The probability that the response is not in each class, by its measurement, (repetitions, rows, classes)."""
        return outside_probabilities(self.z, self.cell.sd, self.design.boundaries)

    @cached_property
    def outside(self) -> Array:
        """The probability of a response outside each class where the measurement is what was expected."""
        return outside_probabilities(self.z, self.cell.sd_response, self.design.boundaries)

    @cached_property
    def squared(self) -> Array:
        """The expected squared distance of such a response to each class."""
        return expected_sqe(self.z, self.cell.sd_response, self.design.boundaries)

    @cached_property
    def distance(self) -> Array:
        """The squared distance of the measurement to each class."""
        return expected_sqe(self.z, 0.0, self.design.boundaries)


def replications(
    design: Design,
    cell: Cell,
    repetitions: int,
    seed: int = 0,
    *,
    block: int | None = None,
    examination: Examination | None = None,
) -> Iterator[Replications]:
    """Draw data sets of one cell, in blocks that bound the memory; how many a block holds changes nothing."""
    examination = examination or examinations(design)[cell.sd_response]
    for first, last in blocks(design, repetitions, block):
        yield replicate(design, cell, range(first, last), seed, examination)


def blocks(design: Design, repetitions: int, block: int | None = None) -> list[tuple[int, int]]:
    """The first repetition of every block, and the first that is no longer of it."""
    step = block or max(1, DISTANCES_AT_A_TIME // design.rows**2)
    return [(first, min(first + step, repetitions)) for first in range(0, repetitions, step)]


def replicate(design: Design, cell: Cell, numbers: range, seed: int, examination: Examination) -> Replications:
    """Draw the data sets with these numbers, fit all classifiers to them and try these out."""
    uniform = np.stack([_uniform(design, cell, number, seed) for number in numbers])
    x = design.x(uniform[..., :-2])
    y = design.expected(x) + cell.sd_response * design.noise.quantile(uniform[..., -2])
    z = y + cell.sd * NORMAL.quantile(uniform[..., -1])
    # Rows are independent, so that folds of neighbouring rows are as good as any.
    folds = np.tile(np.arange(design.rows) * design.folds // design.rows, (len(numbers), 1))
    fits = fit_all(design, DataSets(x, interval(z, design.inner), folds, design.classes), z)
    assigned = {name: fitted.held_out() for name, fitted in fits.items()}
    truth = {name: true_rates(fitted, examination) for name, fitted in fits.items()}
    return Replications(design, cell, numbers.start, x, y, z, folds, assigned, truth)


def _uniform(design: Design, cell: Cell, number: int, seed: int) -> Array:
    """What is random in one data set. Each has a seed of its own, so that it is the same whatever else is drawn."""
    random = np.random.default_rng([seed, design.cells.index(cell), number])
    return np.maximum(random.random((design.rows, design.variables + 2)), LEAST_UNIFORM)


def fit_all(design: Design, batch: DataSets, measured: Array) -> dict[str, FittedClassifier]:
    """Fit the classifiers of the study."""
    fits: tuple[FittedClassifier, ...] = (
        linear_discriminants(batch),
        quadratic_discriminants(batch),
        NearestNeighbours(batch),
        least_squares(batch, measured, design.terms, design.inner),
    )
    return dict(zip(CLASSIFIERS, fits, strict=True))


# --- estimates --------------------------------------------------------------------------------------------------------
#
# Another set of estimates is another function of `Replications`, which yields them one by one.

Measure = Literal["pmc", "sqerr", "pmc_min", "sqerr_min", "err_data", "sqerr_data"]


class Key(NamedTuple):
    """Which estimate of what, and where.

    Attributes:
        cell: Where.
        measure: What is estimated.
        estimator: By what.
        classifier: Of which classifier; empty where it is of the data alone.
    """

    cell: Cell
    measure: Measure
    estimator: str
    classifier: str


Estimates = Callable[[Replications], Iterator[tuple[Key, "Array"]]]  # the values, (repetitions,)


PAPER: dict[Measure, tuple[str, ...]] = {
    "err_data": ("err_data_hat",),
    "sqerr_data": ("sqerr_data_hat",),
    "pmc_min": ("pmc_min_hat",),
    "sqerr_min": ("sqerr_min_hat",),
    "pmc": ("erc", "erc_a", "pmc_hat"),
    "sqerr": ("sqerc", "sqerc_a", "sqerr_hat"),
}


def paper_estimates(data: Replications) -> Iterator[tuple[Key, Array]]:
    """All estimates of the paper, with the standard deviations known, by the numbers of its formulas."""
    sd, boundaries = data.cell.sd, data.design.boundaries
    yield Key(data.cell, "err_data", "err_data_hat", ""), _at(data.outside_label, data.labels).mean(axis=-1)  # (18)
    off = class_probabilities(data.z, sd, boundaries) * data.distance
    yield Key(data.cell, "sqerr_data", "sqerr_data_hat", ""), off.sum(axis=-1).mean(axis=-1)  # (22)
    yield Key(data.cell, "pmc_min", "pmc_min_hat", ""), data.outside.min(axis=-1).mean(axis=-1)
    yield Key(data.cell, "sqerr_min", "sqerr_min_hat", ""), data.squared.min(axis=-1).mean(axis=-1)
    weight = 1 - _at(data.outside_label, data.labels)
    for classifier, assigned in data.assigned.items():
        wrong = assigned != data.labels
        erc, sqerc = wrong.mean(axis=-1), _at(data.distance, assigned).mean(axis=-1)
        yield Key(data.cell, "pmc", "erc", classifier), erc  # (23)
        # Rows weigh as much as their labels can be trusted (25).
        yield Key(data.cell, "pmc", "erc_a", classifier), (weight * wrong).sum(axis=-1) / weight.sum(axis=-1)
        yield Key(data.cell, "pmc", "pmc_hat", classifier), _at(data.outside, assigned).mean(axis=-1)
        yield Key(data.cell, "sqerr", "sqerc", classifier), sqerc  # (28)
        # Less what measurements add to it; it may be negative (29).
        yield Key(data.cell, "sqerr", "sqerc_a", classifier), sqerc - sd**2 * erc
        yield Key(data.cell, "sqerr", "sqerr_hat", classifier), _at(data.squared, assigned).mean(axis=-1)


def _at(table: Array, codes: Codes) -> Array:
    """Of each row, what the table says of its class."""
    return np.take_along_axis(table, codes[..., None], axis=-1)[..., 0]


# --- estimates with a response model ------------------------------------------------------------------------------

BETTER: dict[str, tuple[Measure, str]] = {
    "posterior_error": ("pmc", "wrong"),
    "model_error": ("pmc", "wrong"),
    "difference_error": ("pmc", "wrong"),
    "guarded_error": ("pmc", "wrong"),
    "posterior_sqerr": ("sqerr", "distance"),
    "model_sqerr": ("sqerr", "distance"),
    "difference_sqerr": ("sqerr", "distance"),
    "guarded_sqerr": ("sqerr", "distance"),
}
OF_DATA: dict[str, Measure] = {
    "posterior_label_error": "err_data",
    "posterior_label_sqerr": "sqerr_data",
    "model_minimal_error": "pmc_min",
    "model_minimal_sqerr": "sqerr_min",
}


def soft_estimates(data: Replications) -> Iterator[tuple[Key, Array]]:
    """The estimates with a Gaussian process for the response; only the measurement error is known."""
    found: dict[Key, list[float]] = {}
    for repetition in range(len(data.z)):
        response = fit_response(data.x[repetition], data.z[repetition], data.cell.sd)
        for classifier, assigned in data.assigned.items():
            judged = _judged(data, repetition, assigned[repetition], response.mean, response.sd)
            for name, (measure, what) in BETTER.items():
                found.setdefault(Key(data.cell, measure, name, classifier), []).append(_value(name, judged, what))
        for name, measure in OF_DATA.items():
            found.setdefault(Key(data.cell, measure, name, ""), []).append(_value(name, judged, ""))
    for key, values in found.items():
        yield key, np.array(values)


def _judged(data: Replications, repetition: int, assigned: Codes, expected: Array, spread: Array) -> Judged:
    scale = Continuum(data.design.boundaries, list(range(data.design.classes)))
    sd = np.full(len(expected), data.cell.sd)
    label = data.labels[repetition]
    return Judged(scale, label, assigned, data.z[repetition], sd, sd, expected, spread)


def _value(name: str, judged: Judged, what: str) -> float:
    """A measure of one data set, whose rows weigh the same."""
    entry = find(name)
    offered: dict[str, Any] = {}
    for asked in entry.arguments:
        if asked.startswith("doubt"):
            gap = getattr(judged, what) - getattr(judged, f"foreseen_{what}")
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            offered[asked] = gap.mean() / error if error > 0 else 0.0
        else:
            offered[asked] = getattr(judged, asked).mean()
    return float(entry.of(offered))

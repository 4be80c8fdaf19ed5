"""Data sets of a design drawn over and over, classifiers fitted to each, and how good these truly are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..core.cached import cached_property
from ..maths.kernels import expected_sqe, outside_probabilities
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


@dataclass(frozen=True)
class Trials:
    """Rows that stand for all that might be drawn.

    Attributes:
        points: Their variables.
        share: What share of all rows each of them stands for.
    """

    points: TrialPoints
    share: Array

    @classmethod
    def of(cls, design: Design, size: int = TRIALS) -> Trials:
        """Of a design."""
        uniform, share = representatives(size, design.variables)
        return cls(TrialPoints(design.x(uniform)), share)


@dataclass(frozen=True)
class Examination:
    """Points at which classifiers are tried, and what it costs to assign a class there.

    Attributes:
        points: The variables at these points.
        risk: The probability of an error and the expected squared error, by class and point, times what share of all
            rows the point stands for.
    """

    points: TrialPoints
    risk: Array = field(repr=False)

    @classmethod
    def of(cls, design: Design, sd_response: float, trials: Trials) -> Examination:
        """What is known exactly at each point."""
        expected = design.expected(trials.points.x)
        judges = (design.noise.outside, design.noise.sqe)
        risk = np.stack([judge(expected, sd_response, design.boundaries).T for judge in judges])
        return cls(trials.points, risk * trials.share)

    def of_classifier(self, fitted: FittedClassifier) -> Array:
        """The error rate and the squared error rate of a classifier in each data set, (sets, 2)."""
        size = len(self.points.x)
        place = fitted.at(self.points) * np.intp(size) + np.arange(size)
        return np.stack([np.take(risk, place).sum(axis=-1) for risk in self.risk], axis=-1)


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
    examination = examination or Examination.of(design, cell.sd_response, Trials.of(design))
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
    truth = {name: examination.of_classifier(fitted) for name, fitted in fits.items()}
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

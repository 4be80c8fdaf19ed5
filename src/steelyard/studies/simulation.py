"""The repetitions of a simulation: every estimate of every data set beside what is true, and how they vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.table import Table
from .delta_method import Estimate, deviation, mean
from .designs import Cell, Design
from .estimates import Measure
from .population import Population

if TYPE_CHECKING:
    from ..core.typing import Array

COLUMNS = (
    *("design", "sd_response", "sd", "classifier", "measure", "estimator"),
    *("truth", "mean", "bias", "se", "deviation", "rmse"),
)


class Key(NamedTuple):
    """Which estimate of what, and where."""

    cell: Cell
    measure: Measure
    estimator: str
    classifier: str


@dataclass(frozen=True)
class Series:
    """One estimate in all repetitions, beside what is true.

    Attributes:
        values: The estimates, (repetitions,).
        truth: The true values, which for a classifier are others in every repetition.
    """

    values: Array
    truth: Array

    @property
    def errors(self) -> Array:
        """How much too high each estimate is."""
        return self.values - self.truth

    @property
    def bias(self) -> float:
        """Their mean."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Of the bias, as it is found from so many repetitions."""
        return standard_error(self.errors)

    @property
    def deviation(self) -> float:
        """The standard deviation of the estimates."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else float("nan")

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(np.square(self.errors).mean()))


def standard_error(values: Array) -> float:
    """Of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


@dataclass(frozen=True)
class Repetitions:
    """All estimates of all repetitions, beside what is true.

    Attributes:
        design: How the data arose.
        repetitions: How many data sets were drawn in every cell.
        seed: From which they were drawn.
        populations: What is true in every cell.
        series: All estimates of all repetitions.
    """

    design: Design
    repetitions: int
    seed: int
    populations: Mapping[Cell, Population]
    series: Mapping[Key, Series]

    def table(self) -> Table:
        """Every estimate in a row: what is true on average, its mean, bias, standard error of the bias, and spread."""
        rows = []
        for (cell, measure, estimator, classifier), series in self.series.items():
            means = (float(series.truth.mean()), float(series.values.mean()))
            spread = (series.bias, series.standard_error, series.deviation, series.rmse)
            rows.append((self.design.name, *cell, classifier, measure, estimator, *means, *spread))
        return Table.of_rows(COLUMNS, rows)

    def bias(self, key: Key) -> Estimate:
        """How much too high an estimate is on average, with its influence values."""
        return mean(self.series[key].errors, *self._stratum(key))

    def deviation(self, key: Key) -> Estimate:
        """The standard deviation of an estimate, with its influence values."""
        return deviation(self.series[key].values, *self._stratum(key))

    def mean_of(self, key: Key, values: Array) -> Estimate:
        """The mean of other values of the same repetitions, with its influence values."""
        return mean(values, *self._stratum(key))

    def _stratum(self, key: Key) -> tuple[int, int]:
        return self.design.cells.index(key.cell), len(self.design.cells)

    def chosen(self, measure: Measure, estimator: str | None = None) -> Iterator[tuple[Key, Series]]:
        """The series of one measure, or of one estimate of it."""
        for key, series in self.series.items():
            if key.measure == measure and estimator in (None, key.estimator):
                yield key, series

    def estimators(self, measure: Measure) -> list[str]:
        """By what a measure is estimated."""
        return list(dict.fromkeys(key.estimator for key, _ in self.chosen(measure)))

"""The repetitions of a simulation: every estimate of every data set beside what is true, and how they vary.

The averages over repetitions stand beside the numbers that the paper prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..core.table import Table
from .delta_method import MonteCarloEstimate, average, deviation, mean
from .designs import MEVIK, Cell, Design, TrueRates
from .estimates import BETTER, PAPER, Measure

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
        return float(self.errors.std(ddof=1) / np.sqrt(len(self.errors))) if len(self.errors) > 1 else float("nan")

    @property
    def deviation(self) -> float:
        """The standard deviation of the estimates."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else float("nan")

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(np.square(self.errors).mean()))


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
    populations: Mapping[Cell, TrueRates]
    series: Mapping[Key, Series]

    def table(self) -> Table:
        """Every estimate in a row: what is true on average, its mean, bias, standard error of the bias, and spread."""
        rows = []
        for (cell, measure, estimator, classifier), series in self.series.items():
            means = (float(series.truth.mean()), float(series.values.mean()))
            spread = (series.bias, series.standard_error, series.deviation, series.rmse)
            rows.append((self.design.name, *cell, classifier, measure, estimator, *means, *spread))
        return Table.of_rows(COLUMNS, rows)

    def bias(self, key: Key) -> MonteCarloEstimate:
        """How much too high an estimate is on average, with its influence values."""
        return mean(self.series[key].errors, *self._stratum(key))

    def deviation(self, key: Key) -> MonteCarloEstimate:
        """The standard deviation of an estimate, with its influence values."""
        return deviation(self.series[key].values, *self._stratum(key))

    def mean_of(self, key: Key, values: Array) -> MonteCarloEstimate:
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


# --- summary ------------------------------------------------------------------------------------------------------

Level = Literal["sd_response", "sd"]
LEVELS: tuple[Level, Level] = ("sd", "sd_response")
# What is estimated of the data alone, and what it depends on most.
DATA: tuple[tuple[Measure, Level], ...] = (
    ("err_data", "sd"),
    ("sqerr_data", "sd"),
    ("pmc_min", "sd_response"),
    ("sqerr_min", "sd_response"),
)

# Mevik (2003), section 7, as printed, by the levels of what each depends on.
FREQUENCIES = ("0.38", "0.12", "0.50")
TRUE: dict[Measure, dict[float, str]] = {
    "err_data": {0.0: "0", 0.15: "0.05", 0.5: "0.15"},
    "sqerr_data": {0.0: "0", 0.15: "0.0007", 0.5: "0.024"},
    "pmc_min": {0.15: "0.05", 0.3: "0.10", 0.9: "0.20"},
    "sqerr_min": {0.15: "0.00075", 0.3: "0.0060", 0.9: "0.13"},
}
DEVIATIONS: dict[Measure, dict[float, str]] = {
    "err_data": {0.0: "0", 0.15: "0.011", 0.5: "0.020"},
    "sqerr_data": {0.0: "0", 0.15: "1.4e-4", 0.5: "2.0e-3"},
    "pmc_min": {0.15: "0.011", 0.3: "0.016", 0.9: "0.021"},
    "sqerr_min": {0.15: "2.0e-4", 0.3: "1.1e-3", 0.9: "1.6e-2"},
}
PRINTED: dict[tuple[str, Level], dict[float, str]] = {
    **{(str(measure), by): TRUE[measure] for measure, by in DATA},
    **{(f"deviation of {measure}_hat", by): DEVIATIONS[measure] for measure, by in DATA},
    **{
        (f"frequency of class {place + 1}", "sd_response"): dict.fromkeys((0.15, 0.3, 0.9), figure)
        for place, figure in enumerate(FREQUENCIES)
    },
}


def levels(cells: Sequence[Cell], by: Level) -> list[float]:
    """The values that were tried."""
    return sorted({getattr(cell, by) for cell in cells})


def averages(simulation: Repetitions, measure: Measure, by: Level) -> Table:
    """Of each estimate at each level: bias and standard deviation, averaged over cells and classifiers."""
    rows = []
    for estimator in simulation.estimators(measure):
        chosen = list(simulation.chosen(measure, estimator))
        for level in levels(simulation.design.cells, by):
            there = [key for key, _ in chosen if getattr(key.cell, by) == level]
            bias, deviation = average(map(simulation.bias, there)), average(map(simulation.deviation, there))
            spread = (bias.value, bias.standard_error, deviation.value, deviation.standard_error)
            rows.append((estimator, level, *spread))
    return Table.of_rows(("estimator", by, "bias", "se", "deviation", "deviation_se"), rows)


def summary(simulation: Repetitions) -> Table:
    """The numbers that the paper prints, beside what was found."""
    papers = PRINTED if simulation.design.name == MEVIK.name else {}
    rows = []
    for what, by, level, found, error in _found(simulation):
        place = (level, None) if by == "sd_response" else (None, level)
        figure = papers.get((what, by), {}).get(level)
        rows.append((what, *place, None if figure is None else float(figure), found, error))
    return Table.of_rows(("what", *LEVELS[::-1], "paper", "found", "se"), rows)


def _found(simulation: Repetitions) -> Iterator[tuple[str, Level, float, float, float | None]]:
    """What was found: of what, at which level, how much, and its standard error where chance is in it."""
    yield from _true(simulation)
    measures: tuple[Measure, ...] = (*(measure for measure, _ in DATA), "pmc", "sqerr")
    for kind, error in (("bias", "se"), ("deviation", "deviation_se")):
        for measure in measures:
            for by in LEVELS:
                for row in averages(simulation, measure, by):
                    yield f"{kind} of {row['estimator']}", by, row[by], row[kind], row[error]


def _true(simulation: Repetitions) -> Iterator[tuple[str, Level, float, float, None]]:
    """What is true of the data, averaged over what does not matter for it."""
    true = {cell: vars(known) for cell, known in simulation.populations.items()}
    for place in range(simulation.design.classes):
        for level, there in _at_levels(simulation, "sd_response"):
            frequency = np.mean([true[cell]["frequency"][place] for cell in there])
            yield f"frequency of class {place + 1}", "sd_response", level, float(frequency), None
    for measure, by in DATA:
        for level, there in _at_levels(simulation, by):
            yield measure, by, level, float(np.mean([true[cell][measure] for cell in there])), None


def _at_levels(simulation: Repetitions, by: Level) -> Iterator[tuple[float, list[Cell]]]:
    cells = simulation.design.cells
    for level in levels(cells, by):
        yield level, [cell for cell in cells if getattr(cell, by) == level]


def gains(simulation: Repetitions, measure: Measure) -> Table:
    """Root mean squared errors over all classifiers in each cell, relative to the best of the paper's estimates there.

    Which of them is the best is seen in hindsight, so that a ratio below 1 is a gain over all of them.
    """
    names = [*PAPER[measure], *[name for name, (what, _) in BETTER.items() if what == measure]]
    rows = []
    for cell in simulation.design.cells:
        squares = {name: _mean_square(simulation, measure, name, cell) for name in names}
        best = min(squares[name] for name in PAPER[measure])
        rows.append([simulation.design.name, *cell, *[float(np.sqrt(squares[name] / best)) for name in names]])
    return Table.of_rows(("design", "sd_response", "sd", *names), rows)


def _mean_square(simulation: Repetitions, measure: Measure, name: str, cell: Cell) -> float:
    chosen = [series for key, series in simulation.chosen(measure, name) if key.cell == cell]
    return float(np.mean([np.square(series.errors).mean() for series in chosen]))

"""The simulation of Mevik (2003, section 7): how far estimates of error rates are from the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..cached import cached_property
from ..errors import BadOption
from ..table import Table
from ..threads import cores, side_by_side
from .delta_method import Estimate, deviation, mean
from .designs import MEVIK, Cell, Design
from .estimates import Estimated, Estimates, Measure, paper_estimates
from .population import Population, expected_responses, population
from .replications import TRIALS, Examination, Trials, blocks, replicate
from .statements import statement_table

if TYPE_CHECKING:
    from ..kinds import Array

Progress = Callable[[int, int], None]
SEED = 2003
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
class Simulation:
    """What was found.

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

    def summary(self) -> Table:
        """What the paper says in numbers, beside what was found."""
        from .summary import summary

        return summary(self)

    @cached_property
    def statements(self) -> Table:
        """What the paper says in section 7, with what was found and a verdict; empty of another design."""
        from .mevik_statements import statements

        return statement_table(statements(self))

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


def simulate(
    design: Design = MEVIK,
    repetitions: int = 100,
    seed: int = SEED,
    *,
    estimates: Sequence[Estimates] = (paper_estimates,),
    trials: int = TRIALS,
    block: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Draw data sets, fit classifiers to them, estimate how good these are, and hold that against the truth.

    Args:
        design: How the data arise.
        repetitions: How many data sets are drawn in every cell.
        seed: The same seed gives the same data sets.
        estimates: What is estimated, and how: functions of the data that yield estimates.
        trials: At how many points classifiers are tried to find how good they truly are.
        block: How many data sets are worked on at a time; it changes nothing but the memory needed.
        progress: Called with how many data sets are done, and how many there are.
    """
    if repetitions < 1 or seed < 0:
        raise BadOption(f"{repetitions} repetitions from seed {seed}", mend="Give 1 or more, and a seed of 0 or more")
    rows = Trials.of(design, trials)
    examinations = {level: Examination.of(design, level, rows) for level in {cell.sd_response for cell in design.cells}}
    tasks = [(cell, range(*ends)) for cell, ends in product(design.cells, blocks(design, repetitions, block))]

    def work(task: tuple[Cell, range]) -> Block:
        cell, numbers = task
        data = replicate(design, cell, numbers, seed, examinations[cell.sd_response])
        return Block(cell, len(numbers), data.truth, [each for estimate in estimates for each in estimate(data)])

    found = _side_by_side(tasks, work, progress)
    expected = expected_responses(design)
    populations = {cell: population(design, cell, expected) for cell in design.cells}
    return Simulation(design, repetitions, seed, populations, _series(found, populations))


class Block(NamedTuple):
    """What is kept of some repetitions of one cell."""

    cell: Cell
    size: int
    truth: Mapping[str, Array]
    estimated: list[Estimated]


def _side_by_side(
    tasks: Sequence[tuple[Cell, range]], work: Callable[[tuple[Cell, range]], Block], progress: Progress | None
) -> list[Block]:
    """Work on as many blocks at a time as there are cores, and tell how far that is."""
    found: list[Block] = []
    total = sum(len(numbers) for _, numbers in tasks)
    for start in range(0, len(tasks), cores()):
        found += side_by_side(work, tasks[start : start + cores()])
        if progress is not None:
            progress(sum(block.size for block in found), total)
    return found


def _series(found: Sequence[Block], populations: Mapping[Cell, Population]) -> dict[Key, Series]:
    """Put the blocks of each cell together."""
    parts: dict[Key, list[tuple[Array, Array]]] = {}
    for block in found:
        for measure, estimator, classifier, values in block.estimated:
            key = Key(block.cell, measure, estimator, classifier)
            truth = _truth(block, key, populations[block.cell])
            parts.setdefault(key, []).append((values, np.broadcast_to(truth, values.shape)))
    return {key: Series(*map(np.concatenate, zip(*pairs, strict=True))) for key, pairs in parts.items()}


def _truth(block: Block, key: Key, true: Population) -> Array:
    if key.classifier:
        return block.truth[key.classifier][:, 0 if key.measure == "pmc" else 1]
    return np.asarray(getattr(true, key.measure))


def run(
    repetitions: int = 100,
    seed: int = SEED,
    figures: Path | None = None,
    *,
    design: Design = MEVIK,
    better: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Run the simulation, with better estimates beside the paper's if asked, and draw figures 2 to 7 into a folder."""
    estimates: list[Estimates] = [paper_estimates]
    if better:
        from .soft import soft_estimates

        estimates.append(soft_estimates)
    simulation = simulate(design, repetitions, seed, estimates=estimates, progress=progress)
    if figures is not None:
        from .figures import draw

        draw(simulation, figures)
    return simulation

"""The simulation of Mevik (2003, section 7): how far estimates of error rates are from the truth; figures 2 to 7."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption
from ..core.table import Table
from ..core.threads import cores, side_by_side
from .designs import MEVIK, Cell, Design, TrueRates, expected_responses, population
from .estimates import PAPER, Estimated, Estimates, Measure, paper_estimates, soft_estimates
from .replications import TRIALS, Examination, Trials, blocks, replicate
from .simulation import LEVELS, Key, Level, Repetitions, Series, averages, levels
from .statements import NORMAL, statement_table

if TYPE_CHECKING:
    from ..core.typing import Array, Progress
    from .simulation import Repetitions

SEED = 2003


@dataclass(frozen=True)
class Simulation(Repetitions):
    """What was found: all repetitions, with what the paper says of them."""

    def summary(self) -> Table:
        """What the paper says in numbers, beside what was found."""
        from .simulation import summary

        return summary(self)

    @cached_property
    def statements(self) -> Table:
        """What the paper says in section 7, with what was found and a verdict; empty of another design."""
        from .mevik_statements import statements

        return statement_table(statements(self))


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


def _series(found: Sequence[Block], populations: Mapping[Cell, TrueRates]) -> dict[Key, Series]:
    """Put the blocks of each cell together."""
    parts: dict[Key, list[tuple[Array, Array]]] = {}
    for block in found:
        for measure, estimator, classifier, values in block.estimated:
            key = Key(block.cell, measure, estimator, classifier)
            truth = _truth(block, key, populations[block.cell])
            parts.setdefault(key, []).append((values, np.broadcast_to(truth, values.shape)))
    return {key: Series(*map(np.concatenate, zip(*pairs, strict=True))) for key, pairs in parts.items()}


def _truth(block: Block, key: Key, true: TrueRates) -> Array:
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
        estimates.append(soft_estimates)
    simulation = simulate(design, repetitions, seed, estimates=estimates, progress=progress)
    if figures is not None:
        draw(simulation, figures)
    return simulation


# --- figures 2 to 7 --------------------------------------------------------------------------------------------------


Curves = dict[str, Table]
DATA: dict[str, tuple[Measure, Measure]] = {"figure2": ("err_data", "sqerr_data"), "figure3": ("pmc_min", "sqerr_min")}
CLASSIFIERS: dict[tuple[str, str], Measure] = {("figure4", "figure5"): "pmc", ("figure6", "figure7"): "sqerr"}
PLACES = 100
TAIL = 0.005  # of the true values at either end, where too few are near for a curve


def data_curves(simulation: Repetitions, measure: Measure) -> Curves:
    """Figures 2 and 3: the bias in every cell, a curve for each standard deviation of the response."""
    (estimator,) = PAPER[measure]
    chosen = list(simulation.chosen(measure, estimator))
    curves = {}
    for level in levels(simulation.design.cells, "sd_response"):
        there = sorted((key.cell.sd, series) for key, series in chosen if key.cell.sd_response == level)
        biases = [(series.bias, NORMAL * series.standard_error) for _, series in there]
        curves[f"σ of the response {level:g}"] = Table(
            {
                "sd": [sd for sd, _ in there],
                "bias": [bias for bias, _ in biases],
                "low": [bias - half for bias, half in biases],
                "high": [bias + half for bias, half in biases],
            }
        )
    return curves


def bias_curves(simulation: Repetitions, measure: Measure, by: Level) -> Curves:
    """Figures 4 and 6: the average bias of the estimates at each level."""
    curves = {}
    for estimator, rows in _by_estimator(simulation, measure, by).items():
        bands = [(row["bias"], NORMAL * row["se"]) for row in rows]
        columns = {name: [row[name] for row in rows] for name in (by, "bias")}
        columns |= {"low": [bias - half for bias, half in bands], "high": [bias + half for bias, half in bands]}
        curves[estimator] = Table(columns)
    return curves


def deviation_curves(simulation: Repetitions, measure: Measure, by: Level) -> Curves:
    """Figures 5 and 7: the average standard deviation of the estimates at each level."""
    return {
        estimator: Table({name: [row[name] for row in rows] for name in (by, "deviation")})
        for estimator, rows in _by_estimator(simulation, measure, by).items()
    }


def _by_estimator(simulation: Repetitions, measure: Measure, by: Level) -> dict[str, list[dict[str, float]]]:
    rows = list(averages(simulation, measure, by))
    return {estimator: [row for row in rows if row["estimator"] == estimator] for estimator in PAPER[measure]}


def truth_curves(simulation: Repetitions, measure: Measure) -> Curves:
    """Figures 4 and 6, on the left: what bias is to be expected where the true value is so high."""
    curves = {}
    for estimator in PAPER[measure]:
        chosen = [series for _, series in simulation.chosen(measure, estimator)]
        truth, errors = (
            np.concatenate(part) for part in zip(*((each.truth, each.errors) for each in chosen), strict=True)
        )
        low, high = np.quantile(truth, [TAIL, 1 - TAIL])
        at = np.linspace(low, high, PLACES)
        curves[estimator] = Table({"truth": at.tolist(), "bias": local_linear(truth, errors, at).tolist()})
    return curves


def high_truth(simulation: Repetitions, measure: Measure) -> float:
    """Figures 4 and 6, on the left: above which only a tenth of the true values lie."""
    truth = [series.truth for _, series in simulation.chosen(measure, PAPER[measure][0])]
    return float(np.quantile(np.concatenate(truth), 0.9))


def draw(simulation: Repetitions, folder: Path) -> list[Path]:
    """Write all figures into a folder."""
    from ..display.plots import levels as pictures
    from ..display.plots.style import save_figure

    found = {}
    for name, measures in DATA.items():
        found[name] = pictures.data_biases({measure: data_curves(simulation, measure) for measure in measures})
    for (first, second), measure in CLASSIFIERS.items():
        biases = (bias_curves(simulation, measure, by) for by in LEVELS)
        by_truth, high = truth_curves(simulation, measure), high_truth(simulation, measure)
        found[first] = pictures.biases(measure, by_truth, *biases, high=high)
        found[second] = pictures.deviations(measure, *(deviation_curves(simulation, measure, by) for by in LEVELS))
    folder.mkdir(parents=True, exist_ok=True)
    return [save_figure(figure, folder / f"mevik2003_{name}.png") for name, figure in sorted(found.items())]


# --- smoothing ----------------------------------------------------------------------------------------------------


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

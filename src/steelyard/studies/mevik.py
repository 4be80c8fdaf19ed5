"""The simulation of Mevik (2003, section 7): how far estimates of error rates are from the truth; figures 2 to 7."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BadOption
from ..core.table import Table
from ..core.threads import cores, side_by_side
from .designs import MEVIK, Cell, Design, TrueRates, expected_responses, population
from .replications import (
    PAPER,
    TRIALS,
    Estimates,
    Key,
    Measure,
    Replications,
    blocks,
    examinations,
    paper_estimates,
    replicate,
    soft_estimates,
)
from .simulation import LEVELS, Level, Series, Simulation, averages
from .statements import NORMAL

if TYPE_CHECKING:
    from ..core.typing import Array, Progress

SEED = 2003


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
    judges, expected = examinations(design, trials), expected_responses(design)
    populations = {cell: population(design, cell, expected) for cell in design.cells}
    tasks = [(cell, range(*ends)) for cell, ends in product(design.cells, blocks(design, repetitions, block))]

    def work(task: tuple[Cell, range]) -> list[tuple[Key, Series]]:
        cell, numbers = task
        data = replicate(design, cell, numbers, seed, judges[cell.sd_response])
        return [
            (key, Series(values, np.broadcast_to(_truth(data, key, populations[cell]), values.shape)))
            for estimate in estimates
            for key, values in estimate(data)
        ]

    parts: dict[Key, list[Series]] = {}
    done, total = 0, repetitions * len(design.cells)
    for start in range(0, len(tasks), cores()):
        some = tasks[start : start + cores()]
        for key, part in chain.from_iterable(side_by_side(work, some)):
            parts.setdefault(key, []).append(part)
        done += sum(len(numbers) for _, numbers in some)
        if progress is not None:
            progress(done, total)
    series = {
        key: Series(np.concatenate([one.values for one in own]), np.concatenate([one.truth for one in own]))
        for key, own in parts.items()
    }
    return Simulation(design, repetitions, seed, populations, series)


def _truth(data: Replications, key: Key, true: TrueRates) -> Array:
    if key.classifier:
        return data.truth[key.classifier][:, 0 if key.measure == "pmc" else 1]
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


def data_curves(simulation: Simulation, measure: Measure) -> Curves:
    """Figures 2 and 3: the bias in every cell, a curve for each standard deviation of the response."""
    chosen = list(simulation.chosen(measure, PAPER[measure][0]))
    curves = {}
    for level in simulation.levels("sd_response"):
        there = sorted((key.cell.sd, series) for key, series in chosen if key.cell.sd_response == level)
        curves[f"σ of the response {level:g}"] = _band(
            "sd", [(sd, series.bias, series.standard_error) for sd, series in there]
        )
    return curves


def bias_curves(simulation: Simulation, measure: Measure, by: Level) -> Curves:
    """Figures 4 and 6: the average bias of the estimates at each level."""
    return {
        estimator: _band(by, [(row[by], row["bias"], row["se"]) for row in rows])
        for estimator, rows in _by_estimator(simulation, measure, by).items()
    }


def _band(by: str, rows: Sequence[tuple[float, float, float]]) -> Table:
    """A curve of biases with their 95% intervals, by level, bias and standard error."""
    band = [(at, bias, bias - NORMAL * error, bias + NORMAL * error) for at, bias, error in rows]
    return Table.of_rows((by, "bias", "low", "high"), band)


def deviation_curves(simulation: Simulation, measure: Measure, by: Level) -> Curves:
    """Figures 5 and 7: the average standard deviation of the estimates at each level."""
    return {
        estimator: Table({name: [row[name] for row in rows] for name in (by, "deviation")})
        for estimator, rows in _by_estimator(simulation, measure, by).items()
    }


def _by_estimator(simulation: Simulation, measure: Measure, by: Level) -> dict[str, list[dict[str, float]]]:
    rows = list(averages(simulation, measure, by))
    return {estimator: [row for row in rows if row["estimator"] == estimator] for estimator in PAPER[measure]}


def truth_curves(simulation: Simulation, measure: Measure) -> Curves:
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


def high_truth(simulation: Simulation, measure: Measure) -> float:
    """Figures 4 and 6, on the left: above which only a tenth of the true values lie."""
    truth = [series.truth for _, series in simulation.chosen(measure, PAPER[measure][0])]
    return float(np.quantile(np.concatenate(truth), 0.9))


def draw(simulation: Simulation, folder: Path) -> list[Path]:
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

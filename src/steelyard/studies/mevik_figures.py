"""Figures 2 to 7 of Mevik (2003): the tables behind them, and their pictures in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core.table import Table
from .estimates import PAPER, Measure
from .simulation import LEVELS, Level, averages, levels
from .statements import NORMAL

if TYPE_CHECKING:
    from ..core.typing import Array
    from .simulation import Repetitions

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
    from ..display.plots import studies as pictures
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

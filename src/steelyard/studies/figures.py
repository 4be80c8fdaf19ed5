"""Figures 2 to 7 of Mevik (2003): the tables behind them, and their pictures in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core.table import Table
from .estimates import Measure
from .smoothing import local_linear
from .summary import LEVELS, Level, averages, levels

if TYPE_CHECKING:
    from .simulation import Repetitions

Curves = dict[str, Table]
PAPER: dict[Measure, tuple[str, ...]] = {
    "err_data": ("err_data_hat",),
    "sqerr_data": ("sqerr_data_hat",),
    "pmc_min": ("pmc_min_hat",),
    "sqerr_min": ("sqerr_min_hat",),
    "pmc": ("erc", "erc_a", "pmc_hat"),
    "sqerr": ("sqerc", "sqerc_a", "sqerr_hat"),
}
DATA: dict[str, tuple[Measure, Measure]] = {"figure2": ("err_data", "sqerr_data"), "figure3": ("pmc_min", "sqerr_min")}
CLASSIFIERS: dict[tuple[str, str], Measure] = {("figure4", "figure5"): "pmc", ("figure6", "figure7"): "sqerr"}
BAND = 1.959964  # standard errors on either side, for 95 %
PLACES = 100
TAIL = 0.005  # of the true values at either end, where too few are near for a curve


def data_curves(simulation: Repetitions, measure: Measure) -> Curves:
    """Figures 2 and 3: the bias in every cell, a curve for each standard deviation of the response."""
    (estimator,) = PAPER[measure]
    chosen = list(simulation.chosen(measure, estimator))
    curves = {}
    for level in levels(simulation.design.cells, "sd_response"):
        there = sorted((key.cell.sd, series) for key, series in chosen if key.cell.sd_response == level)
        biases = [(series.bias, BAND * series.standard_error) for _, series in there]
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
        bands = [(row["bias"], BAND * row["se"]) for row in rows]
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
    from ..display.plots import mevik as pictures
    from ..display.plots.saving import save_figure

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

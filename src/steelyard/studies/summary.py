"""What a simulation found on average, and the numbers that the paper prints beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..table import Table
from .designs import MEVIK, Cell
from .estimates import Measure

if TYPE_CHECKING:
    from .mevik import Key, Series, Simulation

Level = Literal["sd_response", "sd"]
LEVELS: tuple[Level, Level] = ("sd", "sd_response")
# What is estimated of the data alone, and what it depends on most.
DATA: tuple[tuple[Measure, Level], ...] = (
    ("pmc_min", "sd_response"),
    ("sqerr_min", "sd_response"),
    ("err_data", "sd"),
    ("sqerr_data", "sd"),
)

# Mevik (2003), section 7, by the levels of what is varied.
PRINTED: dict[str, dict[float, float]] = {
    **{
        f"frequency of class {place + 1}": dict.fromkeys((0.15, 0.3, 0.9), (0.38, 0.12, 0.50)[place])
        for place in range(3)
    },
    "pmc_min": {0.15: 0.05, 0.3: 0.10, 0.9: 0.20},
    "sqerr_min": {0.15: 0.00075, 0.3: 0.0060, 0.9: 0.13},
    "err_data": {0.0: 0.0, 0.15: 0.05, 0.5: 0.15},
    "sqerr_data": {0.0: 0.0, 0.15: 0.0007, 0.5: 0.024},
    "deviation of err_data_hat": {0.0: 0.0, 0.15: 0.011, 0.5: 0.020},
    "deviation of sqerr_data_hat": {0.0: 0.0, 0.15: 1.4e-4, 0.5: 2.0e-3},
    "deviation of pmc_min_hat": {0.15: 0.011, 0.3: 0.016, 0.9: 0.021},
    "deviation of sqerr_min_hat": {0.15: 2.0e-4, 0.3: 1.1e-3, 0.9: 1.6e-2},
}
SAID = {
    "err_data_hat": "too low where measurements err",
    "sqerr_data_hat": "too low where measurements err",
    "pmc_min_hat": "too low by up to 14 %",
    "sqerr_min_hat": "too low by up to 14 %",
    "erc": "too high",
    "erc_a": "too low by as much",
    "pmc_hat": "too high, most of all",
    "sqerc": "too high",
    "sqerc_a": "practically unbiased",
    "sqerr_hat": "too high, most of all",
}


def levels(cells: Sequence[Cell], by: Level) -> list[float]:
    """The values that were tried."""
    return sorted({getattr(cell, by) for cell in cells})


def averages(simulation: Simulation, measure: Measure, by: Level) -> Table:
    """Of each estimate at each level: bias and standard deviation, averaged over cells and classifiers."""
    rows = []
    for estimator in simulation.estimators(measure):
        chosen = list(simulation.chosen(measure, estimator))
        for level in levels(simulation.design.cells, by):
            there = [(key, series) for key, series in chosen if getattr(key.cell, by) == level]
            bias, error = _average_bias(there)
            deviation = float(np.mean([series.deviation for _, series in there]))
            rows.append({"estimator": estimator, by: level, "bias": bias, "se": error, "deviation": deviation})
    return Table({name: [row[name] for row in rows] for name in ("estimator", by, "bias", "se", "deviation")})


def _average_bias(there: Sequence[tuple[Key, Series]]) -> tuple[float, float]:
    """The bias over some cells and classifiers, and its standard error: classifiers of a cell share their data."""
    cells: dict[Cell, list[Any]] = {}
    for key, series in there:
        cells.setdefault(key.cell, []).append(series.errors)
    means = [np.mean(errors, axis=0) for errors in cells.values()]
    variances = [np.var(mean, ddof=1) / len(mean) if len(mean) > 1 else np.nan for mean in means]
    return float(np.mean(means)), float(np.sqrt(np.sum(variances)) / len(means))


def summary(simulation: Simulation) -> Table:
    """What the paper says, in numbers or in words, beside what was found."""
    printed = PRINTED if simulation.design.name == MEVIK.name else {}
    said = SAID if simulation.design.name == MEVIK.name else {}
    columns: dict[str, list[Any]] = {name: [] for name in ("what", *LEVELS[::-1], "paper", "found", "se", "paper_says")}
    for what, by, level, found, error in _found(simulation):
        estimator = what.removeprefix("bias of ")
        row = (
            what,
            level if by == "sd_response" else None,
            level if by == "sd" else None,
            printed.get(what, {}).get(level),
            found,
            error,
            said.get(estimator, ""),
        )
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return Table(columns)


def _found(simulation: Simulation) -> Iterator[tuple[str, Level, float, float, float | None]]:
    """What was found: of what, at which level, how much, and its standard error where chance is in it."""
    yield from _true(simulation)
    for measure, by in DATA:
        for row in averages(simulation, measure, by):
            yield f"deviation of {row['estimator']}", by, row[by], row["deviation"], None
    measures: tuple[Measure, ...] = (*(measure for measure, _ in DATA), "pmc", "sqerr")
    for measure in measures:
        for by in LEVELS:
            for row in averages(simulation, measure, by):
                yield f"bias of {row['estimator']}", by, row[by], row["bias"], row["se"]


def _true(simulation: Simulation) -> Iterator[tuple[str, Level, float, float, None]]:
    """What is true of the data, averaged over what does not matter for it."""
    true = {cell: vars(known) for cell, known in simulation.populations.items()}
    for place in range(simulation.design.classes):
        for level, there in _at_levels(simulation, "sd_response"):
            frequency = np.mean([true[cell]["frequency"][place] for cell in there])
            yield f"frequency of class {place + 1}", "sd_response", level, float(frequency), None
    for measure, by in DATA:
        for level, there in _at_levels(simulation, by):
            yield measure, by, level, float(np.mean([true[cell][measure] for cell in there])), None


def _at_levels(simulation: Simulation, by: Level) -> Iterator[tuple[float, list[Cell]]]:
    cells = simulation.design.cells
    for level in levels(cells, by):
        yield level, [cell for cell in cells if getattr(cell, by) == level]

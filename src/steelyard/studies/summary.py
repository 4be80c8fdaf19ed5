"""What a simulation found on average, and the numbers that the paper prints beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..core.table import Table
from .delta_method import average
from .designs import MEVIK, Cell
from .estimates import Measure

if TYPE_CHECKING:
    from .simulation import Repetitions

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

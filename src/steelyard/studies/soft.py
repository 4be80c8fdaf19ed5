"""The estimates with a response model of many data sets: what they gain over those of the paper, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.scale import Continuum
from ..core.table import Table
from ..families.continuum.judged import Judged
from ..measures import find
from ..modelling.response import fit_response
from .estimates import Estimated, Measure

if TYPE_CHECKING:
    from ..core.typing import Array, Codes
    from .replications import Replications
    from .simulation import Key, Repetitions

BETTER: dict[str, tuple[Measure, str]] = {
    "posterior_error": ("pmc", "wrong"),
    "model_error": ("pmc", "wrong"),
    "difference_error": ("pmc", "wrong"),
    "guarded_error": ("pmc", "wrong"),
    "posterior_sqerr": ("sqerr", "distance"),
    "model_sqerr": ("sqerr", "distance"),
    "difference_sqerr": ("sqerr", "distance"),
    "guarded_sqerr": ("sqerr", "distance"),
}
OF_DATA: dict[str, Measure] = {
    "posterior_label_error": "err_data",
    "posterior_label_sqerr": "sqerr_data",
    "model_minimal_error": "pmc_min",
    "model_minimal_sqerr": "sqerr_min",
}
PAPER: dict[Measure, tuple[str, ...]] = {"pmc": ("erc", "erc_a", "pmc_hat"), "sqerr": ("sqerc", "sqerc_a", "sqerr_hat")}


def soft_estimates(data: Replications) -> Iterator[Estimated]:
    """The estimates with a Gaussian process for the response; only the measurement error is known."""
    found: dict[tuple[Measure, str, str], list[float]] = {}
    for repetition in range(len(data.z)):
        response = fit_response(data.x[repetition], data.z[repetition], data.cell.sd)
        for classifier, assigned in data.assigned.items():
            judged = _judged(data, repetition, assigned[repetition], response.mean, response.sd)
            for name, (measure, what) in BETTER.items():
                found.setdefault((measure, name, classifier), []).append(_value(name, judged, what))
        for name, measure in OF_DATA.items():
            found.setdefault((measure, name, ""), []).append(_value(name, judged, ""))
    for key, values in found.items():
        yield Estimated(*key, np.array(values))


def _judged(data: Replications, repetition: int, assigned: Codes, expected: Array, spread: Array) -> Judged:
    scale = Continuum(data.design.boundaries, list(range(data.design.classes)))
    sd = np.full(len(expected), data.cell.sd)
    label = data.labels[repetition]
    return Judged(scale, label, assigned, data.z[repetition], sd, sd, expected, spread)


def _value(name: str, judged: Judged, what: str) -> float:
    """A measure of one data set, whose rows weigh the same."""
    entry = find(name)
    offered: dict[str, Any] = {}
    for asked in entry.arguments:
        if asked.startswith("doubt"):
            gap = getattr(judged, what) - getattr(judged, f"foreseen_{what}")
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            offered[asked] = gap.mean() / error if error > 0 else 0.0
        else:
            offered[asked] = getattr(judged, asked).mean()
    return float(entry.of(offered))


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


def _mean_square(simulation: Repetitions, measure: Measure, name: str, cell: Any) -> float:
    chosen: list[tuple[Key, Any]] = [(key, one) for key, one in simulation.chosen(measure, name) if key.cell == cell]
    return float(np.mean([np.square(series.errors).mean() for _, series in chosen]))

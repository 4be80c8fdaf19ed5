"""Estimates of many data sets at once: those of Mevik (2003), by the numbers of the formulas there, and better ones.

Another set of estimates is another function of `Replications`, which yields them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.scale import Continuum
from ..families.continuum.judged import Judged
from ..maths.kernels import class_probabilities
from ..measures import find
from ..modelling.response import fit_response

if TYPE_CHECKING:
    from ..core.typing import Array, Codes
    from .replications import Replications

Measure = Literal["pmc", "sqerr", "pmc_min", "sqerr_min", "err_data", "sqerr_data"]


class Estimated(NamedTuple):
    """One estimate in each of some repetitions.

    Attributes:
        measure: What is estimated.
        estimator: By what.
        classifier: Of which classifier; empty where it is of the data alone.
        values: (repetitions,).
    """

    measure: Measure
    estimator: str
    classifier: str
    values: Array


Estimates = Callable[["Replications"], Iterator[Estimated]]


PAPER: dict[Measure, tuple[str, ...]] = {
    "err_data": ("err_data_hat",),
    "sqerr_data": ("sqerr_data_hat",),
    "pmc_min": ("pmc_min_hat",),
    "sqerr_min": ("sqerr_min_hat",),
    "pmc": ("erc", "erc_a", "pmc_hat"),
    "sqerr": ("sqerc", "sqerc_a", "sqerr_hat"),
}


def paper_estimates(data: Replications) -> Iterator[Estimated]:
    """All estimates of the paper, with the standard deviations known."""
    yield Estimated("err_data", "err_data_hat", "", err_data(data))
    yield Estimated("sqerr_data", "sqerr_data_hat", "", sqerr_data(data))
    yield Estimated("pmc_min", "pmc_min_hat", "", data.outside.min(axis=-1).mean(axis=-1))
    yield Estimated("sqerr_min", "sqerr_min_hat", "", data.squared.min(axis=-1).mean(axis=-1))
    for classifier, assigned in data.assigned.items():
        yield Estimated("pmc", "erc", classifier, erc(data, assigned))
        yield Estimated("pmc", "erc_a", classifier, erc_a(data, assigned))
        yield Estimated("pmc", "pmc_hat", classifier, _at(data.outside, assigned).mean(axis=-1))
        yield Estimated("sqerr", "sqerc", classifier, sqerc(data, assigned))
        yield Estimated("sqerr", "sqerc_a", classifier, sqerc_a(data, assigned))
        yield Estimated("sqerr", "sqerr_hat", classifier, _at(data.squared, assigned).mean(axis=-1))


def err_data(data: Replications) -> Array:
    """How many labels are wrong (18)."""
    return np.asarray(_at(data.outside_label, data.labels).mean(axis=-1))


def sqerr_data(data: Replications) -> Array:
    """How far off labels are (22)."""
    chance = class_probabilities(data.z, data.cell.sd, data.design.boundaries)
    return np.asarray((chance * data.distance).sum(axis=-1).mean(axis=-1))


def erc(data: Replications, assigned: Codes) -> Array:
    """The apparent error count (23)."""
    return np.asarray((assigned != data.labels).mean(axis=-1))


def erc_a(data: Replications, assigned: Codes) -> Array:
    """The error count in which rows weigh as much as their labels can be trusted (25)."""
    weight = 1 - _at(data.outside_label, data.labels)
    return np.asarray((weight * (assigned != data.labels)).sum(axis=-1) / weight.sum(axis=-1))


def sqerc(data: Replications, assigned: Codes) -> Array:
    """The apparent squared error count (28)."""
    return np.asarray(_at(data.distance, assigned).mean(axis=-1))


def sqerc_a(data: Replications, assigned: Codes) -> Array:
    """The squared error count less what measurements add to it (29); it may be negative."""
    return sqerc(data, assigned) - data.cell.sd**2 * erc(data, assigned)


def _at(table: Array, codes: Codes) -> Array:
    """Of each row, what the table says of its class."""
    return np.take_along_axis(table, codes[..., None], axis=-1)[..., 0]


# --- estimates with a response model ------------------------------------------------------------------------------

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

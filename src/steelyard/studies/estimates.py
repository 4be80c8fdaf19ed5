"""The estimates of Mevik (2003) of many data sets at once, by the numbers of the formulas there.

Another set of estimates is another function of `Replications`, which yields them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..maths.kernels import class_probabilities

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

"""Memberships against true probabilities, where these are known: in simulations, or by repeated draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import TooFewRows, UnequalLengths, WrongShape
from ...core.estimate import Estimate
from ...inference.rules.hall import HALL, rare_bounds
from ...inference.settings import refuse_level
from ...inference.student_t import critical_values
from ...inference.tails import Tails
from .scaling import orders
from .space import corner, distances
from .standardising import standardise

if TYPE_CHECKING:
    from ...core.typing import Array


def membership_precision(memberships: Any, probabilities: Any, *, level: float = 0.95) -> Estimate:
    """How near memberships are to the true probabilities of the classes: 1 - mean distance / sqrt((G - 1) / G).

    Args:
        memberships: What a rule says of each row, one column a class.
        probabilities: The true probabilities, likewise.
        level: Coverage of the interval.
    """
    said, true = standardise(memberships), standardise(probabilities)
    if said.shape[1] != true.shape[1]:
        raise WrongShape(f"{said.shape[1]} memberships for {true.shape[1]} probabilities", mend="One column a class")
    if len(said) != len(true):
        raise UnequalLengths(f"{len(said)} memberships for {len(true)} probabilities", mend="One row a case")
    gaps = np.sqrt(np.square(said - true).sum(axis=1))
    return _estimate("membership_precision", gaps, corner(true.shape[1]), level)


def separability(probabilities: Any, *, level: float = 0.95) -> Estimate:
    """How well the classes can be separated at all: the ability to separate of the true probabilities themselves.

    Args:
        probabilities: The true probabilities of each row, one column a class.
        level: Coverage of the interval.
    """
    true = standardise(probabilities)
    gaps = distances(np.ascontiguousarray(true.T), orders(true, 1)[:, 0])
    return _estimate("separability", gaps, corner(true.shape[1]), level)


def _estimate(name: str, gaps: Array, whole: float, level: float) -> Estimate:
    """1 less the mean of gaps, in units of the distance from the middle to a corner."""
    refuse_level(level)
    rows = len(gaps)
    if rows < 2:
        raise TooFewRows(f"there are {rows} rows", mend="How far rows scatter takes two of them, or more")
    away = gaps - gaps.mean()
    value, error = np.array([1 - gaps.mean() / whole]), np.array([gaps.std(ddof=1) / np.sqrt(rows) / whole])
    square, third, fourth = (np.array([(np.power(-away, power)).sum()]) for power in (2, 3, 4))
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = Tails.of_moments(third / square**1.5, fourth / square**2, 1 / rows)
    freedom = np.array([rows - 1.0])
    low, high = rare_bounds(value, error, tails, freedom, critical_values(level, freedom))
    return Estimate(
        value=float(value[0]),
        low=max(float(low[0]), 1 - float(np.sqrt(2)) / whole),
        high=min(float(high[0]), 1.0),
        se=float(error[0]),
        n=float(rows),
        method=HALL.method,
        note="",
        measure=name,
        label=None,
        average=None,
        level=level,
        sum=None,
    )

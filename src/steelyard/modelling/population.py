"""Errors of a classifier in the whole population, where it is known what values are expected and how they scatter.

Classes are intervals of y = f(x) + ε. Given the covariates, the chance that an assigned class is wrong and the expected
squared distance of y from its interval follow from the distribution of ε, and so do the least that any classifier can
reach (Mevik 2003, equations 2 to 12).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadNoise, BadOption, BadWeights, quoted, refuse_length
from ..core.scale import Continuum
from ..inputs.coded import refuse_missing
from ..inputs.covariates import finite_numbers
from ..inputs.labels import encode
from .noise import read_noise

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

WORST = 1e-4  # relative error of quadrature that makes a result useless


@dataclass(frozen=True)
class PopulationErrors:
    """What a classifier does in a population, and the least that any could.

    Attributes:
        error: The probability of a wrong class; NaN where no classes were assigned.
        sqerr: The expected squared distance of the value from the interval of the assigned class.
        minimal_error: The least error of any classifier that knows the covariates alone.
        minimal_sqerr: The least squared distance of any such classifier.
        error_risks: The probability that the value lies outside each class, given the covariates: (rows, classes).
        sqerr_risks: The expected squared distance from each class: (rows, classes).
        precision: The relative error of quadrature, as estimated; 0 where there was none.
    """

    error: float
    sqerr: float
    minimal_error: float
    minimal_sqerr: float
    error_risks: Array = field(repr=False, compare=False)
    sqerr_risks: Array = field(repr=False, compare=False)
    precision: float = 0.0

    def __str__(self) -> str:
        """Both errors, each with the least that any classifier could have."""
        return (
            f"error {self.error:.4g} (at the least {self.minimal_error:.4g}), "
            f"sqerr {self.sqerr:.4g} (at the least {self.minimal_sqerr:.4g})"
        )

    @property
    def rmse(self) -> float:
        """The squared error rate on the scale of the values: its root."""
        return float(np.sqrt(self.sqerr))


def population_errors(
    expected: Any, assigned: Any, scale: Continuum, noise: Any, weight: Any = None
) -> PopulationErrors:
    """The errors of a classifier under a known model.

    Args:
        expected: The expected value f(x) of every row: a sample of the population, or the nodes of a quadrature.
        assigned: The class that each row is assigned to; None for the least errors alone.
        scale: The classes.
        noise: How values scatter around what is expected. A number, or one a row, is the standard deviation of normal
            noise; else a distribution: frozen ones of ``scipy.stats``, its newer random variables, or anything with
            ``cdf`` (and ``sf`` or ``ccdf`` for the upper tail). Its parameters may have one entry a row; so may a list
            of distributions. Tails without a second moment give an infinite squared error.
        weight: What each row weighs, such as the weights of a quadrature; all the same if left out.
    """
    if not isinstance(scale, Continuum):
        raise BadOption(f"{quoted(scale)} is no continuum", mend="Give the boundaries: Continuum([0, 0.6], classes)")
    means = finite_numbers(expected, "expected")
    codes = None if assigned is None else _codes(assigned, scale, len(means))
    mass = None if weight is None else _mass(weight, len(means))
    risks = read_noise(noise, len(means)).risks(means, np.array(scale.boundaries), scale.closed)
    best, least = risks.sqerr.argmin(axis=1), _mean(risks.sqerr.min(axis=1), mass)
    sqerr = _mean_of(risks.sqerr, codes, mass)
    slack, least_slack = (_mean_of(risks.slack, each, mass) for each in (codes, best))
    return PopulationErrors(
        _mean_of(risks.error, codes, mass),
        sqerr,
        _mean(risks.error.min(axis=1), mass),
        least,
        risks.error,
        risks.sqerr,
        max(_precision(slack, sqerr), _precision(least_slack, least)),
    )


def _precision(slack: float, value: float) -> float:
    """The relative error of a mean; one that spoils it is refused."""
    precision = slack / value if 0 < value < np.inf else 0.0
    if precision > WORST:
        problem = f"squares can be found only to {precision:.1g} of themselves"
        raise BadNoise(problem, column="noise", mend="Check that its cdf rises and its sf falls, smoothly")
    return precision


def _mean_of(risks: Array, codes: Codes | None, mass: Array | None) -> float:
    """The mean over the rows of what the assigned class costs."""
    return float("nan") if codes is None else _mean(risks[np.arange(len(risks)), codes], mass)


def _mean(values: Array, mass: Array | None) -> float:
    if mass is None:
        return float(values.mean())
    counted = mass > 0  # an infinite risk that weighs nothing is none
    return float((values[counted] * mass[counted]).sum() / mass.sum())


def _codes(assigned: Any, scale: Continuum, rows: int) -> Codes:
    column = encode(assigned, "assigned")
    refuse_length("assigned", len(column), rows, "expected")
    refuse_missing(column)
    return column.on(scale)


def _mass(weight: Any, rows: int) -> Array:
    mass = finite_numbers(weight, "weight")
    refuse_length("weight", len(mass), rows, "expected")
    if (mass < 0).any():
        row = int(np.argmax(mass < 0))
        raise BadWeights(
            f"the weight is {mass[row]}", column="weight", row=row, mend="Weights are finite and 0 or above"
        )
    if not mass.any():
        raise BadWeights("all weights are zero", column="weight", mend="At least one row must count")
    return mass

"""Errors of a classifier in the whole population, where it is known what values are expected and how they scatter.

Classes are intervals of y = f(x) + ε. Given the covariates, the chance that an assigned class is wrong and the expected
squared distance of y from its interval follow from the distribution of ε, and so do the least that any classifier can
reach (Mevik 2003, equations 2 to 12). This distribution is a normal one, or any other: one for all rows or one each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.columns import as_floats, as_number
from ..core.errors import (
    BadBoundaries,
    BadDeviation,
    BadNoise,
    BadOption,
    BadWeights,
    NotNumbers,
    UnequalLengths,
    quoted,
    refuse_length,
)
from ..core.scale import Continuum
from ..core.suggestions import refuse_unknown
from ..inputs.categorical import refuse_missing
from ..inputs.covariates import deviations, finite_numbers, refuse_broken
from ..inputs.labels import encode
from ..maths import kernels
from ..maths.distributions import (
    MEND,
    above_of,
    asked,
    beyond_digits,
    end_of_digits,
    is_lost,
    is_one_law,
    refuse_improbable,
    shortened,
    support_of,
    tells_variance,
    told,
)
from ..maths.kernels import Closed
from ..maths.tails import DistributionTails

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
            of distributions. DistributionTails without a second moment give an infinite squared error.
        weight: What each row weighs, such as the weights of a quadrature; all the same if left out.
    """
    if not isinstance(scale, Continuum):
        raise BadOption(f"{quoted(scale)} is no continuum", mend="Give the boundaries: Continuum([0, 0.6], classes)")
    means = finite_numbers(expected, "expected")
    codes = None if assigned is None else _codes(assigned, scale, len(means))
    mass = None if weight is None else _mass(weight, len(means))
    risks = read_noise(noise, len(means))(means, np.array(scale.boundaries), scale.closed)
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


# --- for normal noise, row by row -----------------------------------------------------------------------------------


def class_probabilities(mean: Any, sd: Any, boundaries: Any, closed: Closed = "left") -> Array:
    """The probability of a value in each class, (n, C).

    Args:
        mean: What values are expected, (n,).
        sd: Their standard deviation: one for all, or (n,).
        boundaries: Where classes begin and end, increasing, both ends included: one more than there are classes.
        closed: Which end of an interval belongs to it; it matters where the deviation is 0.
    """
    refuse_unknown("closed", closed, ("left", "right"))
    return kernels.class_probabilities(*_checked(mean, sd, boundaries), closed)


def expected_sqe(mean: Any, sd: Any, boundaries: Any) -> Array:
    """The expected squared distance of a value to the interval of each class, (n, C).

    Args:
        mean: What values are expected, (n,).
        sd: Their standard deviation: one for all, or (n,).
        boundaries: Where classes begin and end, increasing, both ends included: one more than there are classes.
    """
    with np.errstate(over="ignore"):  # the square of what is too large is infinite, and said to be
        return kernels.expected_sqe(*_checked(mean, sd, boundaries))


def _checked(mean: Any, sd: Any, boundaries: Any) -> tuple[Array, Array, Array]:
    means, deviations, ends = (_numbers(*each) for each in ((mean, "mean"), (sd, "sd"), (boundaries, "boundaries")))
    if ends.ndim != 1 or len(ends) < 2 or not (ends[1:] > ends[:-1]).all():
        raise BadBoundaries(
            f"boundaries is {quoted(boundaries)}", mend="Give increasing numbers with both ends: [-inf, 0, 0.6, inf]"
        )
    if not (deviations >= 0).all() or np.isinf(deviations).any():
        raise BadDeviation(f"sd is {quoted(sd)}", mend="A standard deviation is a finite number, 0 or above")
    if deviations.ndim and deviations.shape != means.shape:
        raise UnequalLengths(
            f"sd has {deviations.size} values, mean {means.size}", mend="Give one for all, or one each"
        )
    refuse_broken(means.ravel(), "mean")  # else a missing value would be 0 away from every class
    return means, deviations, ends


def _numbers(values: Any, name: str) -> Array:
    try:
        return as_floats(values)
    except ValueError:
        raise NotNumbers(
            f"{quoted(values)} holds no numbers", column=name, mend="Give a number, or one a row"
        ) from None


# --- what noise costs -----------------------------------------------------------------------------------------------


MOST_ATOMS = 1 << 13
CERTAIN = 1e-6  # by how much the chances of so many values may miss 1
SMALL = 1e-8  # part of the variance that may be missing


class Risks(NamedTuple):
    """What every class costs in every row, (rows, classes).

    Attributes:
        error: The chance of an error.
        sqerr: The expected squared distance.
        slack: By how much that may be off, as estimated.
    """

    error: Array
    sqerr: Array
    slack: Array


# What classes cost every row, by what is expected of the rows, the boundaries and which end belongs to a class.
NoiseLaw = Callable[["Array", "Array", Closed], Risks]


def _gaussian(sd: Array, expected: Array, boundaries: Array, closed: Closed) -> Risks:
    """Return the risks under normal noise, one deviation a row, by the closed forms: exact in the tails."""
    wrong = kernels.outside_probabilities(expected, sd, boundaries, closed)
    return Risks(wrong, kernels.expected_sqe(expected, sd, boundaries), np.zeros(wrong.shape))


def _continuous(tails: DistributionTails, beyond: Array, expected: Array, boundaries: Array, closed: Closed) -> Risks:
    """Return the risks under noise with known tail probabilities: squares by quadrature.

    Args:
        tails: Both tails; rows are in the last axis of what they are asked for.
        beyond: What squares add where a tail has no digits left, below and above, (2, laws); infinite for some.
        expected: The expected value of each row.
        boundaries: Where classes begin and end.
        closed: Which end of an interval belongs to it.
    """
    inner = [place for place, boundary in enumerate(boundaries) if np.isfinite(boundary)]
    places = boundaries[inner][:, None] - expected
    # At a boundary that belongs to the class above it, values on it are not below it.
    ends = np.nextafter(places, -np.inf) if closed == "left" else places
    short, long = tails.squared_shortfall(places), tails.squared_excess(places)
    lower, upper = np.zeros((2, 3, len(boundaries), len(expected)))
    lower[:, inner] = tails.below(ends), short.value + beyond[0], short.error
    upper[:, inner] = tails.above(ends), long.value + beyond[1], long.error
    return Risks(*np.swapaxes(lower[:, :-1] + upper[:, 1:], 1, 2))


def _discrete(
    values: Array, chances: Array, endless: tuple[bool, bool], expected: Array, boundaries: Array, closed: Closed
) -> Risks:
    """Return the risks under noise that takes single values: a value on a boundary falls as a measured one would.

    Args:
        values: The values, (atoms, rows).
        chances: Their probabilities.
        endless: Whether the squares of values below, and of those above, have no expectation.
        expected: The expected value of each row.
        boundaries: Where classes begin and end.
        closed: Which end of an interval belongs to it.
    """
    values = expected + values
    wrong, squared = np.zeros((2, len(boundaries) - 1, len(expected)))
    for place, (low, high) in enumerate(pairwise(boundaries)):
        under = values < low if closed == "left" else values <= low
        over = values >= high if closed == "left" else values > high
        wrong[place] = (chances * (under | over)).sum(axis=0)
        away = np.where(under, low - values, 0.0) + np.where(over, values - high, 0.0)
        squared[place] = (chances * away**2).sum(axis=0)
        if (endless[0] and np.isfinite(low)) or (endless[1] and np.isfinite(high)):
            squared[place] = np.inf
    return Risks(wrong.T, squared.T, np.zeros(wrong.T.shape))


def _by_row(kinds: Sequence[NoiseLaw], which: Codes, expected: Array, boundaries: Array, closed: Closed) -> Risks:
    """Return the risks under noise of several kinds; ``which`` is the kind of each row."""
    found = Risks(*np.zeros((3, len(expected), len(boundaries) - 1)))
    for place, law in enumerate(kinds):
        rows = which == place
        for whole, part in zip(found, law(expected[rows], boundaries, closed), strict=True):
            whole[rows] = part
    return found


# --- reading what users give ------------------------------------------------------------------------------------------


def read_noise(noise: Any, rows: int) -> NoiseLaw:
    """Make out what a user means by noise."""
    if hasattr(noise, "cdf"):
        return _read_distribution(noise, rows)
    if isinstance(noise, Sequence | np.ndarray) and not isinstance(noise, str | bytes):
        entries = list(noise)
        if any(hasattr(entry, "cdf") for entry in entries):
            return _read_each(entries, rows)
    elif np.isnan(as_number(noise)) and not hasattr(noise, "__len__"):
        raise BadNoise(f"{quoted(noise)} is no distribution", column="noise", mend=MEND)
    return partial(_gaussian, deviations(noise, rows, "noise", "expected"))


def _read_each(entries: list[Any], rows: int) -> NoiseLaw:
    if len(entries) != rows:
        problem = f"{len(entries)} distributions, but {rows} rows"
        raise UnequalLengths(problem, column="noise", mend="Give one distribution a row, or one for all")
    if (together := _stacked(entries)) is not None:
        return _read_distribution(together, rows)
    kinds: list[NoiseLaw] = []
    seen: dict[int, int] = {}
    which = np.zeros(rows, dtype=np.int64)
    for row, entry in enumerate(entries):
        # The same distribution, said again, is one law, of which every corner is met once.
        which[row] = seen.setdefault(id(entry) if hasattr(entry, "cdf") else -row - 1, len(kinds))
        if which[row] == len(kinds):
            try:
                kinds.append(read_noise(entry, 1))
            except BadNoise as error:
                raise error.at(row) from None
    return partial(_by_row, kinds, which)


def _stacked(entries: list[Any]) -> Any:
    """One distribution with arrays of parameters for many of one family of SciPy: a hundred times faster."""
    from scipy import stats

    if not all(hasattr(each, "dist") and hasattr(each, "args") and hasattr(each, "kwds") for each in entries):
        return None
    first = entries[0]
    family: Any = getattr(stats, first.dist.name or "", None)
    forms = {(type(each.dist), len(each.args), *each.kwds) for each in entries}
    if len(forms) > 1 or type(family) is not type(first.dist):
        return None
    shapes = [np.array(values) for values in zip(*(each.args for each in entries), strict=True)]
    named = {name: np.array([each.kwds[name] for each in entries]) for name in first.kwds}
    return family(*shapes, **named) if all(values.ndim == 1 for values in (*shapes, *named.values())) else None


def _read_distribution(noise: Any, rows: int) -> NoiseLaw:
    below = asked(noise, "cdf", rows)
    refuse_improbable(below(np.zeros(rows)), rows)
    laws = 1 if is_one_law(below, rows) else rows
    if _takes_single_values(noise, rows):
        return _read_atoms(noise, rows)
    above = above_of(noise, rows)
    tails = DistributionTails.of(below, above, support_of(noise, laws))
    sides = tails, tails.mirrored
    ends = tuple(end_of_digits(side) for side in sides)
    lost = [is_lost(side, end) for side, end in zip(sides, ends, strict=True)]
    tails = shortened(tails, *ends)
    beyond = beyond_digits(noise, tails, lost) if np.any(lost) else np.zeros((2, laws))
    return partial(_continuous, tails, beyond)


def _takes_single_values(noise: Any, rows: int) -> bool:
    """Whether a distribution is discrete: SciPy's continuous ones may have a ``pmf`` too, which is 0, or fails."""
    if not (all(hasattr(noise, name) for name in ("pmf", "median", "mean")) and tells_variance(noise)):
        return False
    try:
        return bool((asked(noise, "pmf", rows)(told(noise, rows, "median")) > 0).all())
    except BadNoise:
        return False


# --- values one by one ------------------------------------------------------------------------------------------------


def _read_atoms(noise: Any, rows: int) -> NoiseLaw:
    listed = getattr(getattr(noise, "dist", noise), "xk", None)
    with np.errstate(all="ignore"):
        low, high = support_of(noise, rows)
        centre, mean = told(noise, rows, "median"), told(noise, rows, "mean")
        variance = told(noise, rows, "var", "variance")
    if listed is not None:
        values = low + (np.asarray(listed, dtype=np.float64) - listed[0])[:, None]
    else:
        values = centre + np.arange(-_reach(noise, centre, -1), _reach(noise, centre, 1) + 1.0)[:, None]
    chances = asked(noise, "pmf", rows)(values)
    if not np.isfinite(variance).all():
        return partial(_discrete, values, chances, (bool(np.isinf(low).any()), bool(np.isinf(high).any())))
    away = values - centre
    rest = variance + (mean - centre) ** 2 - (chances * away**2).sum(axis=0)
    if (np.abs(rest) > SMALL * (variance + (mean - centre) ** 2)).any():
        # A tail may be so heavy that values without end would be needed. For those that were not listed stands one that
        # has the same part in the mean and in the variance.
        part = mean - centre - (chances * away).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            values, chances = np.vstack([values, centre + rest / part]), np.vstack([chances, part**2 / rest])
        outside = (values[-1] < values[0]) | (values[-1] > values[-2])
        if not (outside & (rest > 0)).all():
            raise _too_many(noise)
    if not np.allclose(chances.sum(axis=0), 1.0, atol=CERTAIN):
        raise _too_many(noise)
    return partial(_discrete, values, chances, (False, False))


def _too_many(noise: Any) -> BadNoise:
    problem = f"the values of {quoted(noise)} are too many, or not one apart"
    return BadNoise(problem, column="noise", mend="List them: scipy.stats.rv_discrete(values=(values, chances))")


def _reach(noise: Any, centre: Array, side: int) -> int:
    """How many values on a side of the centre are needed for squares to add up."""
    rows, step = len(centre), 16
    tail = asked(noise, "cdf", rows) if side < 0 else above_of(noise, rows)
    while step < MOST_ATOMS and (step**2 * tail(centre + side * step) > 1e-18).any():
        step *= 2
    return step

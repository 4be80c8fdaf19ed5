"""Memberships of any kind brought into the simplex; and compared with true probabilities, where these are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...core.columns import as_floats, as_number
from ...core.errors import (
    BadOption,
    MissingValues,
    NotNumbers,
    OneClass,
    OutsideUnitInterval,
    SteelyardError,
    SumNotOne,
    TooFewRows,
    UnequalLengths,
    WrongShape,
    foreign,
    quoted,
)
from ...core.estimate import Estimate
from ...core.suggestions import refuse_unknown
from ...inference.rules.hall import HALL, rare_bounds
from ...inference.settings import refuse_level
from ...inference.student_t import critical_values
from ...inference.tails import Tails
from ...inputs.membership import SUM_TOLERANCE
from .scaling import orders
from .space import corner, distances

if TYPE_CHECKING:
    from ...core.typing import Array, Marks

How = Literal["probability", "shift", "softmax", "rank"]
NEGATIVE = 1e-12  # what rounding may leave below 0
NEAR = 1e-9  # of the spread of a row: nearer values may become one by rounding
MENDS = "Say how='shift', 'softmax' or 'rank', whichever suits what the numbers mean"


def standardise(
    memberships: Any, how: How | Callable[[Array], Any] = "probability", *, zero: float | None = None
) -> Array:
    """Bring memberships into the simplex, so that rules of any kind can be compared there.

    Args:
        memberships: One row for each object, one column for each class; the highest is the class that it is assigned.
        how: "probability" where they are there already; "shift" takes the zero-point off and divides by the sum of the
            row; "softmax", for logarithms of odds; "rank", where only the order means something; or a function of the
            array, which is checked to keep the order.
        zero: The zero-point for "shift"; the smallest value of all if not given.

    Returns:
        The memberships, none below 0, with 1 as the sum of every row.
    """
    given = _checked(memberships)
    forms = {"probability": _probabilities, "softmax": _softmax, "rank": _ranks}
    if not callable(how):
        refuse_unknown("how", how, (*forms, "shift"))
    if zero is not None and how != "shift":
        raise BadOption("zero is for how='shift' alone", mend="Leave it out, or say how='shift'")
    if callable(how):
        return _by_function(given, how)
    if how == "shift":
        return _shifted(given, zero)
    return forms[how](given)


def _checked(memberships: Any) -> Array:
    """A table of finite numbers."""
    try:
        given = as_floats(memberships)
    except ValueError:
        raise NotNumbers("memberships are no table of numbers", mend="Give one number for each class") from None
    if given.ndim != 2:
        raise WrongShape(f"memberships have {given.ndim} axes", mend="Give one row per object, one column per class")
    if given.shape[1] < 2:
        raise OneClass("there is one membership a row", mend="Give one for each class, two or more")
    _refuse(np.isnan(given), MissingValues, "a membership is missing", "Leave the row out, or give the number")
    _refuse(np.isinf(given), NotNumbers, "a membership is infinite", "Give finite numbers, or ranks")
    return given


def _refuse(bad: Marks, error: type[SteelyardError], problem: str, mend: str) -> None:
    """Name the first row where something is wrong."""
    rows = bad.any(axis=1) if bad.ndim > 1 else bad
    if rows.any():
        raise error(problem, row=int(np.argmax(rows)), mend=mend)


def _probabilities(given: Array) -> Array:
    _refuse(given < -NEGATIVE, OutsideUnitInterval, "a membership is negative", MENDS)
    _refuse(np.abs(given.sum(axis=1) - 1) > SUM_TOLERANCE, SumNotOne, "memberships do not add up to 1", MENDS)
    found = given.clip(min=0)
    sums = found.sum(axis=1, keepdims=True)
    # What is right to rounding stays as it is.
    return np.where(np.abs(sums - 1) > NEGATIVE, found / sums, found)


def _shifted(given: Array, zero: float | None) -> Array:
    if zero is None:
        zero = float(given.min(initial=np.inf))
    elif not np.isfinite(as_number(zero)):
        raise BadOption(f"zero is {quoted(zero)}", mend="Give a finite number")
    below = f"a membership is below the zero-point {zero:g}"
    _refuse(given < zero, OutsideUnitInterval, below, "Give a lower one, or none: then it is the smallest value")
    return _shares(given / 2 - zero / 2)  # halves, so that nothing overflows


def _shares(values: Array) -> Array:
    """Values divided by the sum of their row; equal shares where that is nothing."""
    tops = values.max(axis=1, keepdims=True)
    equal = np.full_like(values, 1 / values.shape[1])
    # By the highest first: what is tiny would have a sum with few digits.
    lifted: Array = np.divide(values, tops, out=equal, where=tops > 0)
    return np.asarray(lifted / lifted.sum(axis=1, keepdims=True))


def _softmax(given: Array) -> Array:
    with np.errstate(over="ignore"):  # what is further down than any number is 0
        lifted = np.exp(given - given.max(axis=1, keepdims=True))
    return np.asarray(lifted / lifted.sum(axis=1, keepdims=True))


def _ranks(given: Array) -> Array:
    """Ranks within the row, shared where values are tied."""
    ranks = np.full(given.shape, 0.5)
    for column in given.T:
        ranks += (given > column[:, None]) + (given == column[:, None]) / 2
    return np.asarray(ranks / ranks.sum(axis=1, keepdims=True))


def _by_function(given: Array, function: Callable[[Array], Any]) -> Array:
    """What a function makes of memberships, if it is in the simplex and in the same order."""
    with foreign(function, "Let it take an array, and return one of the same shape"):
        made = function(given.copy())
    found = _checked(made)
    if found.shape != given.shape:
        raise WrongShape(
            f"the function makes {found.shape} of {given.shape}", mend="Let it return one number for each it is given"
        )
    _refuse(found < -NEGATIVE, OutsideUnitInterval, "the function makes a negative membership", "Let it stay at 0")
    off = np.abs(found.sum(axis=1) - 1) > SUM_TOLERANCE
    _refuse(off, SumNotOne, "what the function makes does not add up to 1", "Let it divide by the sum of the row")
    kept = _probabilities(found)
    mend = "Let it rise with the membership, and treat all classes of a row alike"
    _refuse(_reordered(given, kept), BadOption, "the function changes the order of the classes", mend)
    return kept


def _reordered(given: Array, found: Array) -> Marks:
    """Rows in which a higher membership is not higher any more, or a tie has been broken."""
    order = np.argsort(given, axis=1, kind="stable")
    before, after = (np.take_along_axis(each, order, axis=1) for each in (given / 2, found))
    rise, steps = np.diff(before, axis=1), np.diff(after, axis=1)
    apart = rise > NEAR * (before[:, -1:] - before[:, :1])
    # All that a function has put at 0 is there together, as the tails of a softmax are.
    merged = apart & (steps == 0) & (after[:, 1:] > 0)
    bad: Marks = np.where(rise == 0, np.abs(steps) > NEGATIVE, (steps < 0) | merged)
    return np.asarray(bad.any(axis=1))


# --- memberships against true probabilities --------------------------------------------------------------------------


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

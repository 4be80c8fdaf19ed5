"""What covariates do not tell of a value: a normal deviation, or any distribution, one for all rows or one each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..columns import as_number
from ..door.covariates import deviations
from ..errors import BadNoise, UnequalLengths, quoted
from .kernels import Closed, expected_sqe, outside_probabilities
from .tails import Tails, halving

if TYPE_CHECKING:
    from ..kinds import Array

NAMES_ABOVE = ("sf", "ccdf")  # what SciPy calls the probability of the upper tail, and what it calls it now
FLOOR = 1e-14  # below this, 1 - cdf has no digits left
LOST = 1e-5  # squares beyond that floor may be, relative to those of the centre
MOST_ATOMS = 1 << 13
MEND = "Give a number, or a distribution with cdf (and sf or ccdf): scipy.stats.t(4, scale=0.3)"


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


class Noise(Protocol):
    """What values do around what is expected of them."""

    def risks(self, expected: Array, boundaries: Array, closed: Closed) -> Risks:
        """What assigning each class to each row costs."""


@dataclass(frozen=True)
class Gaussian:
    """Normally distributed noise: one deviation a row."""

    sd: Array

    def risks(self, expected: Array, boundaries: Array, closed: Closed) -> Risks:
        """By the closed forms, exact in the tails."""
        wrong = outside_probabilities(expected, self.sd, boundaries, closed)
        return Risks(wrong, expected_sqe(expected, self.sd, boundaries), np.zeros(wrong.shape))


@dataclass(frozen=True)
class Continuous:
    """Noise of which tail probabilities are known; rows are in the last axis of what they are asked for."""

    tails: Tails

    def risks(self, expected: Array, boundaries: Array, closed: Closed) -> Risks:
        """Probabilities as they are told, squares by quadrature."""
        inner = [place for place, boundary in enumerate(boundaries) if np.isfinite(boundary)]
        places = boundaries[inner][:, None] - expected
        # At a boundary that belongs to the class above it, values on it are not below it.
        ends = np.nextafter(places, -np.inf) if closed == "left" else places
        short, beyond = self.tails.squared_shortfall(places), self.tails.squared_excess(places)
        lower, upper = np.zeros((2, 3, len(boundaries), len(expected)))
        lower[:, inner] = self.tails.below(ends), *short
        upper[:, inner] = self.tails.above(ends), *beyond
        return Risks(*np.swapaxes(lower[:, :-1] + upper[:, 1:], 1, 2))


@dataclass(frozen=True)
class Atoms:
    """Noise that takes single values.

    Attributes:
        values: The values, (atoms, rows).
        chances: Their probabilities.
        endless: Whether the squares of values below, and of those above, have no expectation.
    """

    values: Array
    chances: Array
    endless: tuple[bool, bool] = (False, False)

    def risks(self, expected: Array, boundaries: Array, closed: Closed) -> Risks:
        """By sums; a value on a boundary falls as it would fall if it were measured."""
        values = expected + self.values
        wrong, squared = np.zeros((2, len(boundaries) - 1, len(expected)))
        for place, (low, high) in enumerate(pairwise(boundaries)):
            under = values < low if closed == "left" else values <= low
            over = values >= high if closed == "left" else values > high
            wrong[place] = (self.chances * (under | over)).sum(axis=0)
            away = np.where(under, low - values, 0.0) + np.where(over, values - high, 0.0)
            squared[place] = (self.chances * away**2).sum(axis=0)
            if (self.endless[0] and np.isfinite(low)) or (self.endless[1] and np.isfinite(high)):
                squared[place] = np.inf
        return Risks(wrong.T, squared.T, np.zeros(wrong.T.shape))


@dataclass(frozen=True)
class Each:
    """Noise of another kind in every row."""

    rows: tuple[Noise, ...]

    def risks(self, expected: Array, boundaries: Array, closed: Closed) -> Risks:
        """One row after the other."""
        found = [noise.risks(expected[row : row + 1], boundaries, closed) for row, noise in enumerate(self.rows)]
        return Risks(*(np.concatenate(part) for part in zip(*found, strict=True)))


# --- the door ---------------------------------------------------------------------------------------------------------


def read_noise(noise: Any, rows: int) -> Noise:
    """Make out what a user means by noise."""
    if hasattr(noise, "cdf"):
        return _read_distribution(noise, rows)
    if isinstance(noise, Sequence | np.ndarray) and not isinstance(noise, str | bytes):
        entries = list(noise)
        if any(hasattr(entry, "cdf") for entry in entries):
            return _read_each(entries, rows)
    elif np.isnan(as_number(noise)) and not hasattr(noise, "__len__"):
        raise BadNoise(f"{quoted(noise)} is no distribution", column="noise", mend=MEND)
    return Gaussian(deviations(noise, rows, "noise", "expected"))


def _read_each(entries: list[Any], rows: int) -> Noise:
    if len(entries) != rows:
        problem = f"{len(entries)} distributions, but {rows} rows"
        raise UnequalLengths(problem, column="noise", mend="Give one distribution a row, or one for all")
    if (together := _stacked(entries)) is not None:
        return _read_distribution(together, rows)
    found: list[Noise] = []
    for row, entry in enumerate(entries):
        try:
            found.append(read_noise(entry, 1))
        except BadNoise as error:
            raise error.at(row) from None
    return Each(tuple(found))


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


def _read_distribution(noise: Any, rows: int) -> Noise:
    below = _asked(noise, "cdf", rows)
    _refuse_improbable(below(np.zeros(rows)), rows)
    if hasattr(noise, "pmf") and (_asked(noise, "pmf", rows)(_told(noise, rows, "median")) > 0).all():
        return _read_atoms(noise, rows)
    name = next((name for name in NAMES_ABOVE if hasattr(noise, name)), None)
    if name is not None:
        return Continuous(Tails.of(below, _asked(noise, name, rows), _support(noise, rows)))

    def above(place: Array) -> Array:
        left = 1 - below(place)
        return np.where(left < FLOOR, 0.0, left)

    tails = Tails.of(below, above, _support(noise, rows))
    _refuse_lost(tails)
    return Continuous(tails)


def _support(noise: Any, rows: int) -> tuple[Array, Array]:
    """Between which values all probability lies, where the distribution says so."""
    ends = noise.support() if hasattr(noise, "support") else (-np.inf, np.inf)
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (rows,)) for end in ends)
    return low, high


def _refuse_lost(tails: Tails) -> None:
    """Say so where squares beyond the last digit of 1 - cdf would still count."""
    near = halving(tails.mirrored.below, -tails.centre)
    far = near
    while (tails.above(tails.centre + far) > 0).any():
        far = np.where(tails.above(tails.centre + far) > 0, 2 * far, far)
    if (FLOOR * far**2 > LOST * near**2).any():
        problem = "the upper tail is too heavy to be found as 1 - cdf"
        raise BadNoise(problem, column="noise", mend="Give the distribution a method sf, its upper tail")


def _asked(noise: Any, name: str, rows: int) -> Callable[[Array], Array]:
    """A method of a distribution, held to answer for every row."""

    def ask(place: Array) -> Array:
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(getattr(noise, name)(place), dtype=np.float64)
        except Exception as error:  # a foreign object may raise anything
            problem = f"{name} of {quoted(noise)} fails ({quoted(str(error), 120)})"
            raise BadNoise(problem, column="noise", mend=MEND) from None
        if found.shape != place.shape:
            problem = f"{name} of {quoted(noise)} has the shape {found.shape} for values of the shape {place.shape}"
            raise BadNoise(problem, column="noise", mend=f"Parameters are single numbers, or have the shape ({rows},)")
        return found

    return ask


def _refuse_improbable(chance: Array, rows: int) -> None:
    broken = ~((chance >= 0) & (chance <= 1))
    if broken.any():
        row = int(np.argmax(broken))
        raise BadNoise(
            f"the probability of a value below 0 is {chance[row]}",
            column="noise",
            row=row if rows > 1 else None,
            mend="Check its parameters; where there is no noise, give the number 0",
        )


# --- values one by one ------------------------------------------------------------------------------------------------


def _told(noise: Any, rows: int, *names: str) -> Array:
    """A figure of a distribution for every row, by the first name that it has."""
    method = next(name for name in names if hasattr(noise, name))
    return np.broadcast_to(np.asarray(getattr(noise, method)(), dtype=np.float64), (rows,))


def _read_atoms(noise: Any, rows: int) -> Noise:
    listed = getattr(getattr(noise, "dist", noise), "xk", None)
    with np.errstate(all="ignore"):
        low, high = _support(noise, rows)
        centre, mean = _told(noise, rows, "median"), _told(noise, rows, "mean")
        variance = _told(noise, rows, "var", "variance")
    if listed is not None:
        values = low + (np.asarray(listed, dtype=np.float64) - listed[0])[:, None]
    else:
        values = centre + np.arange(-_reach(noise, centre, -1), _reach(noise, centre, 1) + 1.0)[:, None]
    chances = _asked(noise, "pmf", rows)(values)
    if not np.isfinite(variance).all():
        return Atoms(values, chances, (bool(np.isinf(low).any()), bool(np.isinf(high).any())))
    found, whole = (chances * (values - centre) ** 2).sum(axis=0), variance + (mean - centre) ** 2
    if not np.allclose(found, whole, rtol=1e-8) or not np.allclose(chances.sum(axis=0), 1.0):
        problem = f"the values of {quoted(noise)} are too many, or not one apart"
        raise BadNoise(problem, column="noise", mend="List them: scipy.stats.rv_discrete(values=(values, chances))")
    return Atoms(values, chances)


def _reach(noise: Any, centre: Array, side: int) -> int:
    """How many values on a side of the centre are needed for squares to add up."""
    rows, step = len(centre), 16
    name = "cdf" if side < 0 else next(name for name in NAMES_ABOVE if hasattr(noise, name))
    tail = _asked(noise, name, rows)
    while step < MOST_ATOMS and (step**2 * tail(centre + side * step) > 1e-18).any():
        step *= 2
    return step

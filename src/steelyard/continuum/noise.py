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
    from ..kinds import Array, Codes, Marks
    from .tails import Probability

NAMES_ABOVE = ("sf", "ccdf")  # what SciPy calls the probability of the upper tail, and what it calls it now
FLOOR = 1e-14  # below this, 1 - cdf has no digits left
DIGIT = 1e-17  # which only a tail can be that is not 1 - cdf
SLIP = 1e-6  # by which a probability may miss 0 or 1
CLOSE = 1e-14
MOST_STEPS = 1_100  # of which each is twice as long: to beyond all numbers
LOST = 30_000  # times as far away as half of a tail, such a probability adds 1e-5 to the squares of that half
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
    """Noise of which tail probabilities are known; rows are in the last axis of what they are asked for.

    Attributes:
        tails: Both of them.
        beyond: What squares add where a tail has no digits left, below and above, (2, laws); infinite for some.
    """

    tails: Tails
    beyond: Array

    def risks(self, expected: Array, boundaries: Array, closed: Closed) -> Risks:
        """Probabilities as they are told, squares by quadrature."""
        inner = [place for place, boundary in enumerate(boundaries) if np.isfinite(boundary)]
        places = boundaries[inner][:, None] - expected
        # At a boundary that belongs to the class above it, values on it are not below it.
        ends = np.nextafter(places, -np.inf) if closed == "left" else places
        short, long = self.tails.squared_shortfall(places), self.tails.squared_excess(places)
        lower, upper = np.zeros((2, 3, len(boundaries), len(expected)))
        lower[:, inner] = self.tails.below(ends), short.value + self.beyond[0], short.error
        upper[:, inner] = self.tails.above(ends), long.value + self.beyond[1], long.error
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
    """Noise of another kind in some rows.

    Attributes:
        kinds: What noise there is.
        which: Which of these a row has.
    """

    kinds: tuple[Noise, ...]
    which: Codes

    def risks(self, expected: Array, boundaries: Array, closed: Closed) -> Risks:
        """One kind after the other."""
        found = Risks(*np.zeros((3, len(expected), len(boundaries) - 1)))
        for place, noise in enumerate(self.kinds):
            rows = self.which == place
            for whole, part in zip(found, noise.risks(expected[rows], boundaries, closed), strict=True):
                whole[rows] = part
        return found


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
    kinds: list[Noise] = []
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
    return Each(tuple(kinds), which)


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
    laws = 1 if _is_one_law(below, rows) else rows
    if hasattr(noise, "pmf") and (_asked(noise, "pmf", rows)(_told(noise, rows, "median")) > 0).all():
        return _read_atoms(noise, rows)
    name = next((name for name in NAMES_ABOVE if hasattr(noise, name)), None)
    above = _asked(noise, name, rows) if name is not None else lambda place: 1 - below(place)
    tails = Tails.of(below, above, _support(noise, laws))
    sides = tails, tails.mirrored
    ends = tuple(_end_of_digits(side) for side in sides)
    lost = [_is_lost(side, end) for side, end in zip(sides, ends, strict=True)]
    tails = _shortened(tails, *ends)
    return Continuous(tails, _beyond(noise, tails, lost) if np.any(lost) else np.zeros((2, laws)))


def _end_of_digits(tails: Tails) -> Array:
    """How far below the centre the lower tail loses its last digit, as 1 - cdf does; infinite for tails that do not.

    Many distributions of SciPy have no more to tell: their ``sf`` is 1 - ``cdf``, or their ``cdf`` 1/2 and something;
    and beyond there are rounding, or quadrature that no longer finds where anything is.
    """
    reach = halving(lambda step: tails.below(tails.centre - step), len(tails.centre))
    near, far, end = np.zeros(reach.shape), np.full(reach.shape, np.inf), np.full(reach.shape, np.inf)
    fine = np.zeros(reach.shape, dtype=bool)
    for _ in range(MOST_STEPS):
        chance = tails.below(tails.centre - reach)
        fine |= (chance > 0) & (chance < DIGIT)
        end = np.where(chance >= FLOOR, end, np.minimum(end, reach))
        ahead = chance >= DIGIT
        near, far = np.where(ahead, reach, near), np.where(ahead, far, reach)
        if (fine | (near >= (1 - CLOSE) * far)).all():
            break
        # Twice as far as long as there is something, then between what is and what is not: a tail may be short.
        with np.errstate(over="ignore", invalid="ignore"):
            reach = np.where(np.isinf(far), 2 * near, near + (far - near) / 2)
    return np.where(fine, np.inf, end)


def _shortened(tails: Tails, below: Array, above: Array) -> Tails:
    """Tails that end where they have no digits left."""
    low, high = tails.centre - below, tails.centre + above
    if np.isinf(low).all() and np.isinf(high).all():
        return tails

    def ended(chance: Probability, none: Array, all_of_it: Array, side: int) -> Probability:
        return lambda place: np.where(side * place < none, 0.0, np.where(side * place > all_of_it, 1.0, chance(place)))

    chances = ended(tails.below, low, high, 1), ended(tails.above, -high, -low, -1)
    return Tails(*chances, tails.centre, tails.lowest, tails.highest, FLOOR * np.isfinite([below, above]))


def _is_lost(tails: Tails, end: Array) -> Marks:
    """Of which laws squares beyond the last digit of the lower tail would still count."""
    near = halving(lambda step: tails.below(tails.centre - step), len(tails.centre))
    return np.asarray((end < tails.centre - tails.lowest) & (end > LOST * near))


def _beyond(noise: Any, tails: Tails, lost: Sequence[Marks]) -> Array:
    """What squares beyond the last digit add, (2, laws), by what the distribution says of its variance."""
    laws = len(tails.centre)
    if not (hasattr(noise, "mean") and (hasattr(noise, "var") or hasattr(noise, "variance"))):
        side, name = ("upper", "sf") if lost[1].any() else ("lower", "cdf")
        problem = f"the {side} tail is too heavy to be found as 1 - cdf"
        raise BadNoise(problem, column="noise", mend=f"Give the distribution a method {name} that tells it by itself")
    with np.errstate(all="ignore"):
        mean, variance = _told(noise, laws, "mean"), _told(noise, laws, "var", "variance")
        found = tails.squared_shortfall(tails.centre).value + tails.squared_excess(tails.centre).value
        # So far out, it is the same for all places.
        rest = np.where(np.isfinite(variance), variance + (mean - tails.centre) ** 2 - found, np.inf)
    both = lost[0] & lost[1] & np.isfinite(rest)
    if both.any():
        raise BadNoise("both tails are too heavy to be found as 1 - cdf", column="noise", mend=MEND)
    return np.where(lost, np.maximum(rest, 0.0), 0.0)


def _is_one_law(below: Probability, rows: int) -> bool:
    """Whether a distribution answers for more rows than there are: then it is the same for all of them."""
    try:
        below(np.zeros(rows + 1))
    except BadNoise:
        return False
    return True


def _support(noise: Any, rows: int) -> tuple[Array, Array]:
    """Between which values all probability lies, where the distribution says so."""
    ends = noise.support() if hasattr(noise, "support") else (-np.inf, np.inf)
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (rows,)) for end in ends)
    return low, high


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
        beyond = (found > 1 + SLIP) | (found < -SLIP)
        if beyond.any():
            problem = f"{name} of {quoted(noise)} is {found[beyond][0]:.4g} at {place[beyond][0]:.4g}"
            raise BadNoise(problem, column="noise", mend="Probabilities are between 0 and 1; angles are no values")
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

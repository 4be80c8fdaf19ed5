"""What covariates do not tell of a value: a normal deviation, or any distribution, one for all rows or one each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..core.columns import as_number
from ..core.errors import BadNoise, UnequalLengths, quoted
from ..inputs.covariates import deviations
from ..maths.digits import beyond_digits, end_of_digits, is_lost, shortened
from ..maths.distributions import MEND, above_of, asked, is_one_law, refuse_improbable, support_of, tells_variance, told
from ..maths.kernels import Closed, expected_sqe, outside_probabilities
from ..maths.tails import Tails

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

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
    below = asked(noise, "cdf", rows)
    refuse_improbable(below(np.zeros(rows)), rows)
    laws = 1 if is_one_law(below, rows) else rows
    if _takes_single_values(noise, rows):
        return _read_atoms(noise, rows)
    above = above_of(noise, rows)
    tails = Tails.of(below, above, support_of(noise, laws))
    sides = tails, tails.mirrored
    ends = tuple(end_of_digits(side) for side in sides)
    lost = [is_lost(side, end) for side, end in zip(sides, ends, strict=True)]
    tails = shortened(tails, *ends)
    return Continuous(tails, beyond_digits(noise, tails, lost) if np.any(lost) else np.zeros((2, laws)))


def _takes_single_values(noise: Any, rows: int) -> bool:
    """Whether a distribution is discrete: SciPy's continuous ones may have a ``pmf`` too, which is 0, or fails."""
    if not (all(hasattr(noise, name) for name in ("pmf", "median", "mean")) and tells_variance(noise)):
        return False
    try:
        return bool((asked(noise, "pmf", rows)(told(noise, rows, "median")) > 0).all())
    except BadNoise:
        return False


# --- values one by one ------------------------------------------------------------------------------------------------


def _read_atoms(noise: Any, rows: int) -> Noise:
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
        return Atoms(values, chances, (bool(np.isinf(low).any()), bool(np.isinf(high).any())))
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
    return Atoms(values, chances)


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

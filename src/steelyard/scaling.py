"""Memberships scaled so that they say how right a rule is, region by region (Sondhauss & Weihs 2001): pure maths.

A region is the set of rows whose highest classes come in the same order. Within it, the membership of the highest class
is taken for a Beta variable and mapped, in order, to the Beta variable whose mean is the share of rows that are of that
class; the next class is scaled likewise within what is left, as a Dirichlet variable is drawn from Beta variables; and
all others keep their ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from .beta_table import BetaTable
from .parallel import chunks, over_rows

if TYPE_CHECKING:
    from .kinds import Array, Places

Variant = Literal["default", "literal", "klar"]
VARIANTS = ("default", "literal", "klar")
NEARLY_ONE = 1 - 1e-6  # klaR shares what is left of this equally
LEAST_VARIANCE = 1e-4  # below this klaR shifts values and does not scale them
MANY_VALUES = 2000  # from here on a table costs less than it saves
ROUNDING = 1e-12
TOO_WIDE = "values are spread wider than any Beta variable"
FEW = 8  # classes that are sooner found one after the other than by sorting
NOTHING = 1e-290  # to divide by less would overflow


class Moments(NamedTuple):
    """What is known of one class in one region.

    Attributes:
        rows: How many rows the region has.
        mean: The mean of the values there: of memberships, or of shares of what is left.
        variance: Their variance (n - 1).
        target: The mean that the scaled values shall have: how often that class is the true one, of what is left.
        span: The least and the greatest of them.
    """

    rows: float
    mean: float
    variance: float
    target: float
    span: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class BetaMap:
    """How values of one class in one region are scaled.

    Attributes:
        kind: "beta" where two Beta variables are matched; "point" where all values go to one; "shift" where they are
            moved together (klaR, where they hardly differ).
        given: The parameters of the Beta variable that values are taken for.
        scaled: The parameters of the one that they become.
        level: The point, or how far to shift.
        note: Why it is not "beta", where it is not.
        span: Between which values it is tabulated where there are many; it holds for all others too.
    """

    kind: Literal["beta", "point", "shift"]
    given: tuple[float, float] = (np.nan, np.nan)
    scaled: tuple[float, float] = (np.nan, np.nan)
    level: float = 0.0
    note: str = ""
    span: tuple[float, float] = (0.0, 1.0)

    def __call__(self, values: Array, many: bool | None = None) -> Array:
        """Scale values; these may be a few of many."""
        if self.kind == "point":
            return np.full_like(values, self.level)
        if self.kind == "shift":
            return np.minimum(values + self.level, 1.0)
        table = self.table if (len(values) > MANY_VALUES if many is None else many) else None
        if table is None:
            return matched(values, self.given, self.scaled)
        found, outside = table(values)
        if outside.any():
            found[outside] = matched(values[outside], self.given, self.scaled)
        return found

    @cached_property
    def table(self) -> BetaTable | None:
        """The map between the values that it was made for, where a table can be made of it."""
        return BetaTable.of(self.given, self.scaled, *self.span) if self.kind == "beta" else None


def matched(values: Array, given: tuple[float, float], scaled: tuple[float, float]) -> Array:
    """The values of one Beta variable that are as rare as these are of another."""
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    below, above = betainc(*given, values), betaincc(*given, values)
    with np.errstate(all="ignore"):  # each tail is only asked for where it is the smaller one
        return np.where(below <= above, betaincinv(*scaled, below), betainccinv(*scaled, above))


def beta_map(moments: Moments, variant: Variant = "default") -> BetaMap:
    """How the values of a class in a region are to be scaled, from their moments."""
    count, mean, variance, target, span = moments
    if variant == "klar":
        return _as_klar(moments)
    if target >= 1 or target <= 0:
        return BetaMap("point", level=float(np.clip(target, 0.0, 1.0)))
    if not count > 1 or not variance > ROUNDING * mean * (1 - mean) or mean <= 0 or mean >= 1:
        return BetaMap("point", level=target, note="all values are alike" if count > 1 else "only one row")
    certainty = mean * (1 - mean) / variance - (1 if variant == "default" else 0)
    if certainty <= 0:
        return BetaMap("point", level=target, note=TOO_WIDE)
    kept = min(count, certainty)
    given = (certainty * mean, certainty * (1 - mean))
    return BetaMap("beta", given, (kept * target, kept * (1 - target)), span=span)


def _as_klar(moments: Moments) -> BetaMap:
    """As klaR 1.7-3 does it: whole numbers for certainty, and values shifted where they hardly differ or are right."""
    count, mean, variance, target, span = moments
    flat = not count > 1 or variance < LEAST_VARIANCE
    if flat or target == 1:
        return BetaMap("shift", level=target - mean)
    certainty = mean * (1 - mean) / variance - 1
    if certainty <= 0:
        # klaR has no answer there.
        return BetaMap("point", level=target, note=TOO_WIDE)
    kept = np.floor(min(count, certainty))
    given = (certainty * mean, certainty * (1 - mean))
    if target == 0 or kept == 0:
        return BetaMap("point", level=0.0)
    return BetaMap("beta", given, (kept * target, kept * (1 - target)), span=span)


# --- regions --------------------------------------------------------------------------------------------------


def orders(memberships: Array, depth: int, random: np.random.Generator | None = None) -> Places:
    """The classes of the highest memberships of each row, from the highest on: (rows, depth).

    Ties go to the class that comes first, or are broken at random.
    """
    rows, classes = memberships.shape
    if random is not None:
        shuffled = random.permuted(np.tile(np.arange(classes), (rows, 1)), axis=1)
        ordered = orders(np.take_along_axis(memberships, shuffled, axis=1), depth)
        return np.take_along_axis(shuffled, ordered, axis=1)
    if depth > FEW:
        return np.argsort(-memberships, axis=1, kind="stable")[:, :depth]
    found = np.empty((rows, depth), dtype=np.min_scalar_type(classes - 1))

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop, classes):
            _highest(np.array(memberships[low:high].T, order="C"), found[low:high])

    over_rows(rows, work, classes)
    return found


def _highest(columns: Array, found: Places) -> None:
    """Write down which columns are the highest, one after the other."""
    for level in range(found.shape[1]):
        top = columns.max(axis=0)
        lower, place = columns[0] < top, np.zeros(len(top), dtype=found.dtype)
        # The first that is the highest comes after as many as are not.
        for column in columns[1:]:
            place += lower
            lower &= column < top
        found[:, level] = place
        if level + 1 < found.shape[1]:
            columns[place, np.arange(len(top))] = -np.inf


def broken(
    columns: Array, order: Sequence[int], rows: slice | Places = slice(None)
) -> Iterator[tuple[Array, Array | float]]:
    """What each of the highest classes takes of what those before it left; and how much they left.

    Columns are those of the classes, (classes, rows).
    """
    for level, place in enumerate(order):
        own = columns[place][rows]
        if not level:
            yield own, 1.0
            continue
        # Summed up, since what is left of 1 has few digits where it is little.
        left = own.copy()
        for other in set(range(len(columns))) - set(order[: level + 1]):
            left += columns[other][rows]
        equal = np.full_like(own, 1 / (len(columns) - level))  # where nothing is left
        yield np.divide(own, left, out=equal, where=left > NOTHING), left


def rescaled(
    columns: Array, order: Sequence[int], maps: Sequence[BetaMap], near_one: float = 1.0, many: bool | None = None
) -> Array:
    """Memberships of rows whose highest classes are these, with these scaled and all others in their ratios.

    Columns are those of the classes, (classes, rows). Where the highest classes had all of it, what they leave now is
    shared equally.
    """
    found = np.empty_like(columns)
    left, rest = np.ones(columns.shape[1]), np.ones(columns.shape[1])
    for place, one, (value, _) in zip(order, maps, broken(columns, order), strict=True):
        share = one(value, many)
        np.multiply(share, left, out=found[place])
        left *= 1 - share
        rest -= columns[place]
    others = [place for place in range(len(columns)) if place not in order]
    # What the others have has all its digits; what is left of 1 has few where it is little.
    held = np.zeros(columns.shape[1])
    for place in others:
        held += columns[place]
    full = (held <= NOTHING) | (rest <= 1 - near_one)
    some = bool(full.any())
    if some:
        held[full] = 1.0
    factor = np.divide(left, held, out=held)
    for place in others:
        np.multiply(columns[place], factor, out=found[place])
        if some:
            found[place, full] = left[full] / len(others)
    return found

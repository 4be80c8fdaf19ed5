"""Memberships scaled so that they say how right a rule is, region by region (Sondhauss & Weihs 2001): pure maths.

A region is the set of rows whose highest classes come in the same order. Within it, the membership of the highest class
is taken for a Beta variable and mapped, in order, to the Beta variable whose mean is the share of rows that are of that
class; the next class is scaled likewise within what is left, as a Dirichlet variable is drawn from Beta variables; and
all others keep their ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ...core.cached import cached_property
from ...core.threads import chunks, over_rows
from ...maths.beta_table import BetaTable

if TYPE_CHECKING:
    from ...core.typing import Array, Marks, Places

Variant = Literal["default", "literal", "klar"]
Blocks = tuple[tuple[int, ...], ...]  # classes in their order; those that stand together stand beside each other
VARIANTS = ("default", "literal", "klar")
NEARLY_ONE = 1 - 1e-6  # klaR shares what is left of this equally
LEAST_VARIANCE = 1e-4  # below this klaR shifts values and does not scale them
MANY_VALUES = 250  # from here on a table costs less than it saves
ROUNDING = 1e-12
TOO_WIDE = "values are spread wider than any Beta variable"
FEW = 8  # classes that are sooner found one after the other than by sorting
NOTHING = 1e-290  # to divide by less would overflow


class BetaMoments(NamedTuple):
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
        if np.allclose(self.given, self.scaled, rtol=ROUNDING, atol=0):
            # To the last digit, so that rows which were tied do not come apart by how others were summed.
            return values.copy()
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
    from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln

    tail = betainc(*given, values)
    upper = tail > 0.5
    tail[upper] = betaincc(*given, values[upper])  # the smaller tail has all its digits
    found = np.empty_like(tail)
    with np.errstate(all="ignore"):
        found[~upper], found[upper] = betaincinv(*scaled, tail[~upper]), betainccinv(*scaled, tail[upper])
        if np.isnan(found).any():
            # In far tails SciPy gives up, where all but the first term of the series have vanished.
            near, far = (np.exp((np.log(tail * one) + betaln(*scaled)) / one) for one in scaled)
            found = np.where(np.isnan(found), np.where(upper, 1 - far, near), found)
    return found


def beta_map(moments: BetaMoments, variant: Variant = "default", like: BetaMap | None = None) -> BetaMap:
    """How the values of a class in a region are to be scaled, from their moments; on the step of another if it has one.

    klaR's certainty is a whole number. Whoever moves the moments a little, to see what that does, stays on its step.
    """
    count, mean, _, target, span = moments
    if variant == "klar":
        return _as_klar(moments, None if like is None or like.kind != "beta" else round(sum(like.scaled)))
    if target >= 1 or target <= 0:
        return BetaMap("point", level=float(np.clip(target, 0.0, 1.0)))
    certainty = certainty_of(moments, variant)
    if not np.isfinite(certainty):
        return BetaMap("point", level=target, note="all values are alike" if count > 1 else "only one row")
    if certainty <= 0:
        return BetaMap("point", level=target, note=TOO_WIDE)
    kept = min(count, certainty)
    given = (certainty * mean, certainty * (1 - mean))
    return BetaMap("beta", given, (kept * target, kept * (1 - target)), span=span)


def certainty_of(moments: BetaMoments, variant: Variant) -> float:
    """Return alpha + beta of the Beta variable that has this mean and variance.

    Infinite where values do not vary, NaN where one row or values of 0 or 1 alone determine no variable, and 0 or less
    where values vary more than those of any Beta variable.
    """
    count, mean, variance, *_ = moments
    if not count > 1 or not 0 < mean < 1:
        return float("nan")
    if not variance > ROUNDING * mean * (1 - mean):
        return float("inf")
    return float(mean * (1 - mean) / variance - (0 if variant == "literal" else 1))


def _as_klar(moments: BetaMoments, whole: int | None) -> BetaMap:
    """As klaR 1.7-3 does it: whole numbers for certainty, and values shifted where they hardly differ or are right."""
    count, mean, variance, target, span = moments
    flat = not count > 1 or variance < LEAST_VARIANCE
    if flat or target == 1:
        return BetaMap("shift", level=target - mean)
    certainty = mean * (1 - mean) / variance - 1
    if certainty <= 0:
        # klaR has no answer there.
        return BetaMap("point", level=target, note=TOO_WIDE)
    # A whole number but for rounding is whole: else the order of rows, in which they are summed, would decide.
    kept = np.floor(min(count, certainty) * (1 + ROUNDING)) if whole is None else whole
    given = (certainty * mean, certainty * (1 - mean))
    if target == 0 or kept == 0:
        return BetaMap("point", level=0.0)
    return BetaMap("beta", given, (kept * target, kept * (1 - target)), span=span)


# --- regions --------------------------------------------------------------------------------------------------


def orders(memberships: Array, depth: int) -> Places:
    """The classes of the highest memberships of each row, from the highest on: (rows, depth).

    Ties go to the class that comes first.
    """
    rows, classes = memberships.shape
    if depth > FEW:
        return np.argsort(-memberships, axis=1, kind="stable")[:, :depth]
    found = np.empty((rows, depth), dtype=np.min_scalar_type(classes - 1))

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop, classes):
            write_highest(np.array(memberships[low:high].T, order="C"), found[low:high])

    over_rows(rows, work, classes)
    return found


def write_highest(columns: Array, found: Places) -> None:
    """Write down which columns are the highest, one after the other; of several, columns are used up for it."""
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


def broken(columns: Array, order: Blocks) -> Iterator[tuple[Array, Array | None]]:
    """What each of the highest classes takes of what those before it left; and how much they left, None for all.

    Columns are those of the classes, (classes, rows).
    """
    taken: tuple[int, ...] = ()
    for level, block in enumerate(order):
        own = _total(columns, block)
        if not level:
            # Together, they may come to more than 1 by rounding.
            yield (np.minimum(own, 1.0) if len(block) > 1 else own), None
        else:
            # Summed up, since what is left of 1 has few digits where it is little.
            later = [place for place in range(len(columns)) if place not in (*taken, *block)]
            left = own + _total(columns, later) if later else own
            equal = np.full_like(own, len(block) / (len(columns) - len(taken)))  # where nothing is left
            yield np.divide(own, left, out=equal, where=left > NOTHING), left
        taken += block


def _total(columns: Array, places: Sequence[int]) -> Array:
    """What some classes have together."""
    first, *others = (columns[place] for place in places)
    found: Array = sum(others, first)
    return found


def rescaled(
    columns: Array, order: Blocks, maps: Sequence[BetaMap], near_one: float = 1.0, many: bool | None = None
) -> Array:
    """Memberships of rows whose highest classes are these, with these scaled and all others in their ratios.

    Columns are those of the classes, (classes, rows). Classes that stand together are scaled together, and keep their
    ratios. Where the highest classes had all of it, what they leave now is shared equally.
    """
    found = np.empty(columns.shape)
    left: Any = None
    taken: Any = None
    for block, one, (value, _) in zip(order, maps, broken(columns, order), strict=True):
        held = _total(columns, block)
        taken = held if taken is None else taken + held
        share = one(value, many)
        _hand_out(columns, block, share if left is None else share * left, found)
        np.subtract(1, share, out=share)
        left = share if left is None else np.multiply(left, share, out=left)
    highest = {place for block in order for place in block}
    others = [place for place in range(len(columns)) if place not in highest]
    _hand_out(columns, others, left, found, taken >= near_one if taken.max(initial=0.0) >= near_one else None)
    return found


def _hand_out(columns: Array, places: Sequence[int], amount: Array, found: Array, even: Marks | None = None) -> None:
    """Give classes so much together, in the ratios that they had; equally where they had nothing, or it is said."""
    if len(places) == 1:
        found[places[0]] = amount
        return
    # What they had has all its digits; what others left of 1 has few where it is little.
    held = _total(columns, places)
    if held.min(initial=1.0) <= NOTHING or even is not None:
        even = (held <= NOTHING) | (False if even is None else even)
        held[even] = 1.0
    factor = np.divide(amount, held, out=held)
    for place in places:
        np.multiply(columns[place], factor, out=found[place])
        if even is not None:
            found[place, even] = amount[even] / len(places)

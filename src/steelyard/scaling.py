"""Memberships scaled so that they say how right a rule is, region by region (Sondhauss & Weihs 2001): pure maths.

A region is the set of rows whose highest classes come in the same order. Within it, the membership of the highest class
is taken for a Beta variable and mapped, in order, to the Beta variable whose mean is the share of rows that are of that
class; the next class is scaled likewise within what is left, as a Dirichlet variable is drawn from Beta variables; and
all others keep their ratios.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from .beta_table import BetaTable

if TYPE_CHECKING:
    from .kinds import Array, Places

Variant = Literal["default", "literal", "klar"]
VARIANTS = ("default", "literal", "klar")
NEARLY_ONE = 1 - 1e-6  # klaR shares what is left of this equally
LEAST_VARIANCE = 1e-4  # below this klaR shifts values and does not scale them
MANY_VALUES = 2000  # from here on a table costs less than it saves
ROUNDING = 1e-12
UNSURE = 1e-5  # of what the others have: where it differs from what is left by more, the latter is all rounding


class Moments(NamedTuple):
    """What is known of one class in one region.

    Attributes:
        rows: How many rows the region has.
        mean: The mean of the values there: of memberships, or of shares of what is left.
        variance: Their variance (n - 1).
        target: The mean that the scaled values shall have: how often that class is the true one, of what is left.
    """

    rows: float
    mean: float
    variance: float
    target: float


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
    """

    kind: Literal["beta", "point", "shift"]
    given: tuple[float, float] = (np.nan, np.nan)
    scaled: tuple[float, float] = (np.nan, np.nan)
    level: float = 0.0
    note: str = ""

    def __call__(self, values: Array) -> Array:
        """Scale values."""
        if self.kind == "point":
            return np.full_like(values, self.level)
        if self.kind == "shift":
            return np.minimum(values + self.level, 1.0)
        table = self._table(values) if len(values) > MANY_VALUES else None
        if table is None:
            return matched(values, self.given, self.scaled)
        found, outside = table(values)
        if outside.any():
            found[outside] = matched(values[outside], self.given, self.scaled)
        return found

    def _table(self, values: Array) -> BetaTable | None:
        return BetaTable.of(self.given, self.scaled, float(values.min()), float(values.max()))


def matched(values: Array, given: tuple[float, float], scaled: tuple[float, float]) -> Array:
    """The values of one Beta variable that are as rare as these are of another."""
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    below, above = betainc(*given, values), betaincc(*given, values)
    with np.errstate(all="ignore"):  # each tail is only asked for where it is the smaller one
        return np.where(below <= above, betaincinv(*scaled, below), betainccinv(*scaled, above))


def beta_map(moments: Moments, variant: Variant = "default") -> BetaMap:
    """How the values of a class in a region are to be scaled, from their moments."""
    count, mean, variance, target = moments
    if variant == "klar":
        return _as_klar(moments)
    if target >= 1 or target <= 0:
        return BetaMap("point", level=float(np.clip(target, 0.0, 1.0)))
    if not count > 1 or not variance > ROUNDING * mean * (1 - mean) or mean <= 0 or mean >= 1:
        return BetaMap("point", level=target, note="all values are alike" if count > 1 else "only one row")
    certainty = mean * (1 - mean) / variance - (1 if variant == "default" else 0)
    if certainty <= 0:
        return BetaMap("point", level=target, note="values are spread wider than any Beta variable")
    kept = min(count, certainty)
    given = (certainty * mean, certainty * (1 - mean))
    return BetaMap("beta", given, (kept * target, kept * (1 - target)))


def _as_klar(moments: Moments) -> BetaMap:
    """As klaR 1.7-3 does it: whole numbers for certainty, and values shifted where they hardly differ or are right."""
    count, mean, variance, target = moments
    flat = not count > 1 or variance < LEAST_VARIANCE
    if flat or target == 1:
        return BetaMap("shift", level=target - mean)
    certainty = mean * (1 - mean) / variance - 1
    kept = np.floor(min(count, certainty))
    given = (certainty * mean, certainty * (1 - mean))
    if target == 0 or kept == 0:
        return BetaMap("point", level=0.0)
    return BetaMap("beta", given, (kept * target, kept * (1 - target)))


# --- regions --------------------------------------------------------------------------------------------------


def orders(memberships: Array, depth: int, random: np.random.Generator | None = None) -> Places:
    """The classes of the highest memberships of each row, from the highest on: (rows, depth).

    Ties go to the class that comes first, or are broken at random.
    """
    if random is None:
        return np.argsort(-memberships, axis=1, kind="stable")[:, :depth]
    shuffled = random.permuted(np.tile(np.arange(memberships.shape[1]), (len(memberships), 1)), axis=1)
    ordered = np.argsort(-np.take_along_axis(memberships, shuffled, axis=1), axis=1, kind="stable")[:, :depth]
    return np.take_along_axis(shuffled, ordered, axis=1)


def sticks(memberships: Array, order: Places) -> Array:
    """What each of the highest classes takes of what those before it left: (rows, depth)."""
    taken = np.take_along_axis(memberships, order, axis=1)
    before = np.cumsum(taken, axis=1) - taken
    left = np.maximum(1 - before, 0.0)
    # Where nothing is left, it does not matter who gets it.
    return np.divide(taken, left, out=np.zeros_like(taken), where=left > ROUNDING).clip(0.0, 1.0)


def rebuilt(memberships: Array, order: Places, scaled: Array, near_one: float = 1.0) -> Array:
    """Memberships whose highest classes take other shares; the others keep their ratios, (rows, classes).

    Where the highest classes had all of it, what they leave now is shared equally.
    """
    rows, classes = memberships.shape
    left = np.cumprod(1 - scaled, axis=1)
    own = scaled * np.concatenate([np.ones((rows, 1)), left[:, :-1]], axis=1)
    found = memberships.copy()
    np.put_along_axis(found, order, 0.0, axis=1)
    rest, held = 1 - np.take_along_axis(memberships, order, axis=1).sum(axis=1), found.sum(axis=1)
    full = (rest <= 1 - near_one) | (rest <= 0) | (held <= 0)
    # What is left of 1 has few digits where it is little; then the others themselves tell better how much they have.
    rest = np.where(np.abs(rest - held) > UNSURE * held, held, rest)
    others = classes - order.shape[1]
    found *= (left[:, -1] / np.where(full, 1.0, rest))[:, None]
    if others and full.any():
        found[full] = (left[full, -1] / others)[:, None]
    np.put_along_axis(found, order, own, axis=1)
    return found

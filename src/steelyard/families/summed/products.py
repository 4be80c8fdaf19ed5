"""Products of the influences of rows: how far slots scatter, and together with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...core.cached import cached_property
from ...core.scale import Label, Scale
from ...inference.evaluation import Slot, key_of
from ...inference.tails import Tails
from ...maths.sides import one_less, spread_of
from ...measures.registry import Measure
from .recipe import added_by_label

if TYPE_CHECKING:
    from ...core.typing import Array, Marks

MOST_SIDES = 10  # of averages over more classes, a few rows or clusters of one of them hardly matter
ROUNDING = 1e-14  # of a correlation
CANCELLED = 1e-9  # of fourth powers: of what is left of them, rounding is no small part
Key = tuple[int, str, int | str | None]  # classifier, measure, class or average


@dataclass(frozen=True)
class Products:
    """Products of influences, summed over rows, or over clusters after influences are summed within each.

    Attributes:
        keys: The slots.
        sums: (slots, slots); with clusters the sums of each cluster, (clusters, slots).
        clusters: The labels of these clusters; None where rows are independent.
        drawn: How many rows there are.
        powers: Third and fourth powers of influences, (2, slots), summed over rows where these are independent.
        within: The same within each true class, (classes, slots, slots), where rows are independent; of very many
            classes squares alone, (classes, slots).
        fourths: Where classifiers are compared, third powers of one slot times another and squares times squares,
            within each true class: (classes, 2, slots, slots).
    """

    keys: tuple[Key, ...]
    sums: Array
    clusters: tuple[Label, ...] | None
    drawn: float
    powers: Array = field(default_factory=lambda: np.zeros((2, 0)))
    within: Array = field(default_factory=lambda: np.zeros((0, 0)))
    fourths: Array = field(default_factory=lambda: np.zeros((0, 2, 0, 0)))

    def __add__(self, other: Products) -> Products:
        """Add what was found on other rows; a cluster may have rows in both."""
        drawn = self.drawn + other.drawn
        if self.clusters is None or other.clusters is None:
            with np.errstate(invalid="ignore"):  # an infinite score has no spread, and its slots are marked by that
                names = ("sums", "powers", "within", "fourths")
                added = {name: getattr(self, name) + getattr(other, name) for name in names}
                return replace(self, drawn=drawn, **added)
        labels, sums = added_by_label((self.clusters, self.sums), (other.clusters, other.sums))
        return replace(self, sums=sums, clusters=labels, drawn=drawn)

    @property
    def parted(self) -> bool:
        """Whether made-up rows are those of one class after the other, as many of each."""
        return self.within.ndim == 3

    @property
    def lost(self) -> float:
        """What products are multiplied with for the degree of freedom that is lost, of rows or of clusters."""
        return one_less(self.freedom + 1)

    @cached_property
    def factor(self) -> Array:
        """Made-up rows with the same products, (slots, made-up rows): one a cluster, where there are any."""
        if self.clusters is not None:
            found = np.asarray(self.sums.T * np.sqrt(self.lost))
            found[~np.isfinite(found).all(axis=1)] = np.nan  # an infinite score has no spread
            return found
        parts = self.within if self.parted else self.sums[None]
        return np.concatenate([made_up(part * self.lost) for part in parts], axis=1)

    @property
    def freedom(self) -> float:
        """Degrees of freedom: one less than what is drawn."""
        return (self.drawn if self.clusters is None else len(self.clusters)) - 1

    def tails(self, key: Key, beside: float = 0.0) -> Tails:
        """Of what is drawn, rows or clusters: a part of the data may have few of them, however many there are.

        Beside it there may be a normal error, of which the variance is told.
        """
        if key not in self.keys:
            return Tails.none(1)
        place, drawn = self.keys.index(key), self.freedom + 1
        if self.clusters is None:
            square, (third, fourth) = self.sums[place, place], self.powers[:, place]
        else:
            square, third, fourth = (np.power(self.sums[:, place], power).sum() for power in (2, 3, 4))
        return tails_of(square, third, fourth, drawn, beside)

    def by_clusters(self, keys: Sequence[Key], sides: Sequence[int]) -> tuple[Array, Marks]:
        """What clusters add to a slot on each side, (clusters, sides), and on which of these each of them has rows.

        Rows of some classes are sides, and so is the rest. Behind the slot stand what clusters add to it by each side
        alone, and how many rows of each class they have.
        """
        columns = [self.sums[:, self.keys.index(key)] for key in keys]
        sums, rows = np.stack(columns[1 : len(sides) + 1], axis=1), np.stack(columns[len(sides) + 1 :], axis=1) > 0
        seen, rest = rows[:, sides], np.delete(rows, sides, axis=1)
        if not rest.size:
            return sums, seen
        others = (columns[0] - sums.sum(axis=1), rest.any(axis=1))
        return np.column_stack([sums, others[0]]), np.column_stack([seen, others[1]])

    def by_class(self, key: Key, sizes: Array, pseudo: float) -> tuple[float, float]:
        """The variance of a slot and its degrees of freedom, where rows are independent and each class is a side."""
        place = self.keys.index(key)
        squares = self.within[:, place, place] if self.parted else self.within[:, place]
        return spread_of(squares, sizes, pseudo=pseudo)

    def powers_of(self, keys: Sequence[Key], factors: Sequence[float]) -> tuple[Array, Array] | None:
        """Second and fourth powers of a sum of two influences times these factors, within each true class.

        None where they were not summed, or where the two influences cancel, so that rounding is left.
        """
        if not self.fourths.size or not {*keys} <= {*self.keys}:
            return None
        (a, b), (one, other) = map(self.keys.index, keys), factors
        within, (uneven, even) = self.within, self.fourths.swapaxes(0, 1)
        squares = one**2 * within[:, a, a] + 2 * one * other * within[:, a, b] + other**2 * within[:, b, b]
        whole = one**4 * even[:, a, a] + other**4 * even[:, b, b]
        mixed = 4 * (one**3 * other * uneven[:, a, b] + one * other**3 * uneven[:, b, a])
        fourths = whole + mixed + 6 * one**2 * other**2 * even[:, a, b]
        return None if fourths.sum() < CANCELLED * whole.sum() else (squares, fourths)

    def row(self, key: Key) -> Array | None:
        """The influences of the made-up rows on one slot."""
        return self.factor[self.keys.index(key)] if key in self.keys else None


def tails_of(square: float, third: float, fourth: float, drawn: float, beside: float) -> Tails:
    """Tails of sums of so many that are drawn, by powers of what each of them adds, and a normal error beside them."""
    whole = square + beside
    if not 0 < whole < np.inf:
        return Tails.none(1)
    even = (square / whole) ** 2 / drawn
    return Tails.of_moments(np.array([third / whole**1.5]), np.array([fourth / whole**2]), even)


def made_up(covariance: Array) -> Array:
    """Rows that have these products."""
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    usable = np.isfinite(deviation) & (deviation > 0)
    scale = np.where(usable, deviation, 1.0)
    correlation = np.where(np.outer(usable, usable), covariance / np.outer(scale, scale), 0.0)
    values, vectors = np.linalg.eigh(correlation)
    # Two classifiers that always agree differ by rounding alone, of which the root would be much more.
    found = vectors * np.sqrt(np.where(values > ROUNDING * len(values), values, 0.0)) * scale[:, None]
    # Where nothing scatters, eigenvectors leave rounding, which would pass for a tiny spread.
    found[~usable] = np.where(np.isfinite(deviation[~usable]), 0.0, np.nan)[:, None]
    return np.asarray(found)


def with_pseudo(slot: Slot, unit: float) -> Slot:
    """What rows add to a slot where pseudo-rows are added that weigh so much."""
    return Slot(slot.measure, None, f"{key_of(slot)[1]} with pseudo-rows of {unit:.6g}")


def side_of(part: int | str | None, code: int) -> str:
    """The name of what rows of a class alone add to a class or an average."""
    return f"{part} by {code}"


def of_side(slot: Slot, code: int) -> Slot:
    """What rows of a class alone add to a slot."""
    return Slot(slot.measure, None, side_of(key_of(slot)[1], code))


def of_rows(measures: Sequence[Measure], scale: Scale) -> list[Slot]:
    """How many rows of each class there are, whatever the measures."""
    return [Slot(measures[0], None, f"rows of {code}") for code in range(len(scale))]


def all_rows(measures: Sequence[Measure]) -> Slot:
    """How many rows there are, whatever the measures."""
    return Slot(measures[0], None, "rows")

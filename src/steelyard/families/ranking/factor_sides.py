"""What the sides of a slot add, of rows that were let go: by the products of influences that a second pass summed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...inference.evaluation import Slot, key_of
from ...maths.sides import scatter_of_clusters, scatter_of_sides, spread_of, spread_of_clusters
from ...states.statistics import Patterns
from ..summed.products import MOST_SIDES, Key, Products, of_side
from .one_against_rest import PSEUDO_ROW

if TYPE_CHECKING:
    from ...core.typing import Array, Marks


def sides_behind(slot: Slot, classes: int) -> Sequence[int]:
    """The classes that are sides of a slot, all others together one more; none of averages over very many."""
    if slot.code is not None:
        return [slot.code]
    return range(classes) if classes <= MOST_SIDES else []


def at_two_sides(by_class: Array, code: int | None) -> Array:
    """Sums by class, or of the class and of the rest."""
    return by_class if code is None else np.array([by_class[code], np.delete(by_class, code).sum()])


@dataclass(frozen=True)
class FactorSides:
    """The sides of the slots of one classifier.

    Influences are those of pseudo-observations that have the products of all rows: as many of each class, or one a
    cluster, which is laid out side by side.

    Attributes:
        products: What the second pass summed.
        model: The place of the classifier.
        sizes: How many rows each class has.
        numbers: The slots that tell how many rows of each class a cluster has.
    """

    products: Products
    model: int
    sizes: Array
    numbers: Sequence[Slot]

    @property
    def parted(self) -> bool:
        """Whether it is known what each side adds."""
        return self.products.clusters is not None or self.products.parted

    @property
    def _blocks(self) -> int:
        """How many sides any slot has."""
        return len(self.sizes) if len(self.sizes) <= MOST_SIDES else 2

    def patterns_of(self, found: Patterns) -> Patterns:
        """One pseudo-observation of each cluster on each side."""
        cluster = np.tile(np.arange(len(self.products.sums)), self._blocks)
        ones, none = np.ones(len(cluster)), np.zeros(len(cluster), np.int64)
        return replace(found, truth=none, count=0 * ones, mass=ones, square=ones, cluster=cluster)

    def laid_out(self, found: Array, slot: Slot, asked: Slot) -> Array:
        """What clusters add to a slot, side by side; on one side, where only the sum over all sides is known."""
        every, sides = np.zeros((self._blocks, len(self.products.sums))), self._by_cluster(slot, asked)
        every[: 1 if sides is None else sides[0].shape[1]] = found if sides is None else sides[0].T
        return every.ravel()

    def _by_cluster(self, slot: Slot, asked: Slot) -> tuple[Array, Marks] | None:
        """What clusters add to a slot on each side, and which have rows there; None where that was not summed.

        What is ``asked`` for is the slot as it is, or with the pseudo-rows.
        """
        sides = sides_behind(slot, len(self.sizes))
        every = (asked, *[of_side(asked, code) for code in sides], *self.numbers)
        keys = [(self.model, *key_of(each)) for each in every]
        return self.products.by_clusters(keys, sides) if sides and {*keys} <= {*self.products.keys} else None

    def told(self, slot: Slot, asked: Slot, pseudo: float) -> tuple[float, float]:
        """The variance of a slot and its degrees of freedom, as it is or with pseudo-rows."""
        key = (self.model, *key_of(asked))
        if self.products.clusters is None:
            return self.products.by_class(key, self.sizes, pseudo)
        sides = self._by_cluster(slot, asked)
        if sides is None:
            return float(np.square(self.products.factor[self.products.keys.index(key)]).sum()), self.products.freedom
        return spread_of_clusters(*sides, pseudo)

    def spread(self, slot: Slot, influence: Array, pseudo: float) -> tuple[float, float]:
        """The variance of influences on a slot and its degrees of freedom, by how many rows each side has."""
        if self.products.clusters is None:
            squares = np.square(influence).reshape(len(self.sizes), -1).sum(axis=1) / self.products.lost
            return spread_of(at_two_sides(squares, slot.code), at_two_sides(self.sizes, slot.code), pseudo=pseudo)
        sums, seen = self._at_sides(slot, influence)
        return (float(np.square(sums).sum()), np.nan) if seen is None else spread_of_clusters(sums, seen, pseudo)

    def scatter(self, slot: Slot, influence: Array, factors: Mapping[Key, float]) -> float:
        """The variance of that variance; the influences are sums of those that are known by keys, times factors."""
        if self.products.clusters is not None:
            sums, seen = self._at_sides(slot, influence)
            if seen is None:
                return float(np.var(np.square(sums)) * len(sums))
            return scatter_of_clusters(sums, seen, PSEUDO_ROW)
        powers = self.products.powers_of([*factors], [*factors.values()])
        if powers is None:
            variance, freedom = self.spread(slot, influence, PSEUDO_ROW)
            return 2 * variance**2 / freedom
        squares, fourths, sizes = (at_two_sides(each, slot.code) for each in (*powers, self.sizes))
        return scatter_of_sides(squares, fourths, sizes, PSEUDO_ROW)

    def _at_sides(self, slot: Slot, influence: Array) -> tuple[Array, Marks | None]:
        """What clusters add on each side of a slot, and which have rows there; of all sides together, if not summed."""
        sums, sides = influence.reshape(self._blocks, -1), self._by_cluster(slot, slot)
        return (sums[0], None) if sides is None else (sums[: sides[1].shape[1]].T, sides[1])

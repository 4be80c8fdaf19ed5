"""Sums over rows by group, and how far sums over rows scatter: rows may be parted by class, and into clusters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.threads import chunks, over_rows

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Numbers, Places

NOTHING = 1e-24  # less than any variance: what rounding makes of 0


@dataclass(frozen=True)
class Sides:
    """Rows parted into sides (a class and the rest, or one side a class), and into clusters.

    Attributes:
        side: The side of each row.
        sizes: How many rows each side has.
        mass: What each row weighs.
        square: Its squared weight.
        cluster: Its cluster; None where rows are independent.
    """

    side: Codes
    sizes: Array
    mass: Array
    square: Array
    cluster: Places | None

    def spread(self, influence: Array, pseudo: float = 0.0) -> tuple[float, float]:
        """The variance of a sum of influences, and its degrees of freedom.

        Every side has one degree of freedom less than rows, or clusters; sides that share clusters have together no
        more than one less than there are.
        """
        if self.cluster is None:
            return spread_of(self._powers(influence)[0], self.sizes, pseudo=pseudo)
        return spread_of_clusters(*self._by_cluster(influence, self.cluster), pseudo)

    def scatter(self, influence: Array, pseudo: float = 0.0) -> float:
        """The variance of that variance, from the fourth powers of the influences: no shape is taken for granted."""
        if self.cluster is not None:
            return scatter_of_clusters(*self._by_cluster(influence, self.cluster), pseudo)
        squares, fourths = self._powers(influence, fourths=True)
        return scatter_of_sides(squares, fourths, self.sizes, pseudo)

    def _by_cluster(self, influence: Array, cluster: Places) -> tuple[Array, Marks]:
        """Sum up influences within clusters, side by side, and say which clusters have rows on a side."""
        shape = int(cluster.max()) + 1, len(self.sizes)
        sums, rows = summed_by_cluster(influence * self.mass, cluster, self.side, shape)
        return sums, rows > 0

    def _powers(self, influence: Array, fourths: bool = False) -> Array:
        """The sums of squares of each side; and of fourth powers, if they are asked for."""

        def work(start: int, stop: int) -> Array:
            sums = np.zeros((1 + fourths, len(self.sizes)))
            for low, high in chunks(start, stop, columns=1 + 2 * fourths):
                side, mass, square = self.side[low:high], self.mass[low:high], self.square[low:high]
                powers = influence[low:high] * influence[low:high]
                powers *= square
                sums[0] += np.bincount(side, powers, len(self.sizes))
                if fourths:
                    powers *= powers
                    # A row of no weight has none of either.
                    powers *= np.divide(square, mass * mass, out=np.zeros(len(powers)), where=mass > 0)
                    sums[1] += np.bincount(side, powers, len(self.sizes))
            return sums

        return np.asarray(reduce(np.add, over_rows(len(influence), work)))


def summed_at(places: Places, values: Iterable[Numbers | None], size: int) -> Array:
    """Sums of values at each of so many places, (slots, rows) to (slots, places); None stands for ones.

    The values may come one slot after the other, so that no more of them than one need be laid out.
    """
    some = max(size, 1)  # a type of no numbers is none
    sums = (np.bincount(places, each, some) for each in values)
    return np.asarray(np.fromiter(sums, np.dtype((np.float64, some)))[:, :size], np.float64)


def summed_by_cluster(values: Array, cluster: Places, side: Places, shape: tuple[int, int]) -> Array:
    """What each cluster adds on each side, and how many rows it has there: (2, clusters, sides)."""
    clusters, sides = shape
    cell = cluster.astype(np.int64, copy=False) * sides + side
    return summed_at(cell, (values, None), clusters * sides).reshape(2, clusters, sides)


def squares_of(values: Array, weight: Array) -> Array:
    """Weighted sums of squares over rows: (slots, rows) to (slots,)."""

    def work(start: int, stop: int) -> Array:
        sums = np.zeros(len(values))
        for low, high in chunks(start, stop):
            here = values[:, low:high]
            sums += np.einsum("ij,ij,j->i", here, here, weight[low:high])
        return sums

    return reduce(np.add, over_rows(len(weight), work), np.zeros(len(values)))


def squares_around(middle: Any, square: Any, first: Any, second: Any) -> Any:
    """Weighted sums of squared distances from a middle: by the sums of weights, of values, and of their squares."""
    return second - 2 * middle * first + middle**2 * square


def sums_of_products(first: Numbers, second: Numbers) -> Array:
    """Sums over rows of the products of columns: (columns, rows) twice to (columns, columns).

    Not a product of matrices: that keeps Python's lock for as long as it takes, and may start threads of its own.
    """
    return np.asarray(np.einsum("ij,kj->ik", first, second))


def spread_of(squares: Array, sizes: Array, together: float = 0.0, pseudo: float = 0.0) -> tuple[float, float]:
    """Put the sums of squares of all sides together, and what their clusters share; each has so much of a pseudo-row.

    One row or cluster tells nothing of others of its side, so that the variance is unknown; with pseudo-rows, it is
    what was seen, and whoever asks must know what else there may be.
    """
    # Sides are few: plain numbers are faster than arrays.
    pairs = zip(squares.tolist(), sizes.tolist(), strict=True)
    sides = [(square, size) for square, size in pairs if size + pseudo >= 1]
    parts = [square * one_less(size, pseudo) for square, size in sides]
    variance = sum(parts) + together
    if variance < NOTHING:
        return 0.0, math.inf
    if math.isnan(variance):
        return math.nan, math.nan
    told = [(part, size + pseudo - 1) for part, (_, size) in zip(parts, sides, strict=True) if size > 1]
    below = sum(part * part / freedom for part, freedom in told)
    return variance, sum(part for part, _ in told) ** 2 / below if below else math.nan


def scatter_of_sides(squares: Array, fourths: Array, sizes: Array, pseudo: float = 0.0) -> float:
    """The variance of that variance, by the sums of squares and of fourth powers on each side."""
    here = sizes >= 1
    parts = fourths[here] - np.square(squares[here]) / sizes[here]
    return float(np.maximum(parts, 0.0) @ np.square(each_one_less(sizes[here], pseudo)))


def spread_of_clusters(sums: Array, seen: Marks, pseudo: float = 0.0) -> tuple[float, float]:
    """The same of what clusters add on each side, (clusters, sides), and on which of these each has rows."""
    clusters = float(np.count_nonzero(seen.any(axis=1)))
    if clusters < 2:
        return math.nan, 0.0  # one cluster says nothing about spread
    squares = np.square(sums).sum(axis=0)
    shared = np.square(sums.sum(axis=1)).sum() - squares.sum()
    together = float(shared * one_less(clusters))
    variance, freedom = spread_of(squares, seen.sum(axis=0).astype(np.float64), together, pseudo)
    return variance, min(freedom, clusters - 1) if variance else freedom  # of none, nothing is unsure


def scatter_of_clusters(sums: Array, seen: Marks, pseudo: float = 0.0) -> float:
    """The variance of that variance; what a cluster adds on one side may cancel what it adds on another."""
    sizes = seen.sum(axis=0)
    added = np.square(sums) @ np.where(sizes > 0, each_one_less(sizes, pseudo), 0.0)
    added += (np.square(sums.sum(axis=1)) - np.square(sums).sum(axis=1)) * one_less(float(seen.any(axis=1).sum()))
    # Clusters of one side alone are like each other, and so are those of several.
    kind = np.where(seen.sum(axis=1) > 1, len(sizes), seen.argmax(axis=1))[seen.any(axis=1)]
    added = added[seen.any(axis=1)]
    number, total, square = (np.bincount(kind, each) for each in (np.ones(len(added)), added, np.square(added)))
    parts = square - np.divide(np.square(total), number, out=np.zeros(len(number)), where=number > 0)
    return float(np.maximum(parts, 0.0).sum())


def one_less(size: float, pseudo: float = 0.0, taken: float = 1.0) -> float:
    """What a sum of squares is multiplied by for the degrees of freedom that are taken: one by a mean.

    What is summed over is rows, or clusters; with so much of a pseudo-row.
    """
    if size <= taken:
        return 1.0 if pseudo else math.nan
    return (size + pseudo) / (size + pseudo - taken)


def each_one_less(sizes: Array, pseudo: float = 0.0) -> Array:
    """The same for each of several sizes."""
    return np.array([one_less(size, pseudo) for size in sizes.tolist()], np.float64)

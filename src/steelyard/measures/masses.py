"""The mass of a class and of the rest at each distinct score, and how far sums over such rows scatter."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.threads import chunks, over_rows, running_sums
from ..states.held_rows import Rows
from .registry import Measure

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Numbers, Places

Slopes = tuple["Array", "Array"]  # by the mass of the class, and by that of the rest
# What some rows of the class add to a value, and some of the rest, counted from the highest score on.
Influences = tuple[Callable[[slice], "Array"], Callable[[slice], "Array"]]
Untied = Callable[["Places", "Places"], tuple[float, Influences]]
Line = tuple[float, float]  # what a row adds to a value: a number, and another for each row of the other side above it
ByCount = Callable[[float, float, float], tuple[float, Line, Line]]
NOTHING = 1e-24  # less than any variance: what rounding makes of 0

UNTIED: dict[Any, Untied] = {}  # by formula
BY_COUNT: dict[Any, ByCount] = {}  # by formula


def where_untied(formula: Any) -> Callable[[Untied], Untied]:
    """Enter a shorter way to a value and its influences, for rows that weigh the same and have no score in common.

    All that such rows can tell is how many of the rest are above each row of the class, and how many of the class above
    each of the rest.
    """

    def enter(short: Untied) -> Untied:
        UNTIED[formula] = short
        return short

    return enter


def _along(line: Line, places: Places, rows: slice) -> Array:
    return np.asarray(line[0] + line[1] * places[rows], dtype=np.float64)


def by_count(formula: Any) -> Callable[[ByCount], ByCount]:
    """Enter a still shorter one, where what a row adds is a straight line of the rows of the other side above it.

    Rows of the same score must count half: this way is taken for tied scores too. It is given how many of the rest are
    above the rows of the class, summed up, and the sizes of the class and rest; it returns the value and the lines of
    the class and of the rest.
    """

    def along_lines(alarms: Places, hits: Places) -> tuple[float, Influences]:
        value, *lines = BY_COUNT[formula](float(alarms.sum()), len(alarms), len(hits))
        of_class, of_rest = (partial(_along, line, places) for line, places in zip(lines, (alarms, hits), strict=True))
        return value, (of_class, of_rest)

    def enter(way: ByCount) -> ByCount:
        BY_COUNT[formula] = way
        where_untied(formula)(along_lines)
        return way

    return enter


@dataclass(frozen=True)
class Masses:
    """What a formula of ranking may ask for, at each distinct score from the highest to the lowest."""

    positive: Array
    negative: Array

    @cached_property
    def hits(self) -> Array:
        """The mass of the class at each score and above."""
        return np.asarray(running_sums(self.positive))

    @cached_property
    def alarms(self) -> Array:
        """The mass of the rest at each score and above."""
        return np.asarray(running_sums(self.negative))

    @property
    def share(self) -> Array:
        """The share of all mass that is at each score."""
        both = self.positive + self.negative
        both /= both.sum()
        return both

    def smoothed(self, row: float) -> Masses:
        """Add a pseudo-row of the class and one of the rest, spread over the scores as all rows are."""
        spread = self.share
        spread *= row
        return Masses(self.positive + spread, self.negative + spread)

    def value(self, measure: Measure) -> Any:
        """The value of a measure, over any leading axes."""
        return measure(**{name: getattr(self, name) for name in measure.arguments})

    def centre(self, measure: Measure, value: float, row: float) -> float:
        """Where its interval is built: at the value, unless that is fitted to the rows which it judges."""
        return value if measure.fair is None else float(measure.fair(self.positive, self.negative, row))

    def slopes(self, measure: Measure, value: float) -> Slopes:
        """The derivatives of a measure by the mass of the class, and by that of the rest, at each score."""
        offered = {"positive": self.positive, "negative": self.negative, "hits": self.hits, "alarms": self.alarms}
        return measure.sloping(**offered, value=value)


@dataclass(frozen=True)
class Weights:
    """How often each row occurs, what it weighs, and its squared weight, in the order of the input."""

    count: Array
    mass: Array
    square: Array
    equal: bool

    @classmethod
    def of(cls, rows: Rows) -> Weights:
        """Read them off; where all are 1, they take no memory."""
        if rows.sums is None:
            ones = np.broadcast_to(np.float64(1.0), len(rows))
            return cls(ones, ones, ones, equal=True)
        count, mass, square = np.ascontiguousarray(rows.sums.T)
        return cls(count, mass, mass if np.array_equal(mass, square) else square, equal=False)

    @property
    def row(self) -> float:
        """What one row weighs."""
        return 1.0 if self.square is self.mass else float(self.square.sum() / self.mass.sum())


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
            return spread_of(self._squares(influence), self.sizes, pseudo=pseudo)
        return spread_of_clusters(*self._by_cluster(influence, self.cluster), pseudo)

    def scatter(self, influence: Array, pseudo: float = 0.0) -> float:
        """The variance of that variance, from the fourth powers of the influences: no shape is taken for granted."""
        if self.cluster is not None:
            return scatter_of_clusters(*self._by_cluster(influence, self.cluster), pseudo)
        squares, fourths = self._powers(influence)
        return scatter_of_sides(squares, fourths, self.sizes, pseudo)

    def _by_cluster(self, influence: Array, cluster: Places) -> tuple[Array, Marks]:
        """Sum up influences within clusters, side by side, and say which clusters have rows on a side."""
        several, clusters = len(self.sizes), int(cluster.max()) + 1
        cell = cluster.astype(np.int64) * several + self.side
        sums = np.bincount(cell, influence * self.mass, clusters * several).astype(np.float64)
        seen = np.bincount(cell, minlength=clusters * several) > 0
        return sums.reshape(clusters, several), seen.reshape(clusters, several)

    def _powers(self, influence: Array) -> Array:
        """The sums of squares and of fourth powers of each side."""

        def work(start: int, stop: int) -> Array:
            sums = np.zeros((2, len(self.sizes)))
            for low, high in chunks(start, stop, columns=3):
                side, mass, square = self.side[low:high], self.mass[low:high], self.square[low:high]
                powers = influence[low:high] * influence[low:high]
                powers *= square
                sums[0] += np.bincount(side, powers, len(self.sizes))
                powers *= powers
                # A row of no weight has none of either.
                powers *= np.divide(square, mass * mass, out=np.zeros(len(powers)), where=mass > 0)
                sums[1] += np.bincount(side, powers, len(self.sizes))
            return sums

        return np.asarray(reduce(np.add, over_rows(len(influence), work)))

    def _squares(self, influence: Array) -> Array:
        """The sum of squares of each side."""

        def work(start: int, stop: int) -> Array:
            sums = np.zeros(len(self.sizes))
            for low, high in chunks(start, stop):
                here, square = influence[low:high], self.square[low:high]
                if len(sums) == 1:
                    sums += np.einsum("i,i,i", here, here, square)
                else:
                    sums += np.bincount(self.side[low:high], here * here * square, len(sums))
            return sums

        return np.asarray(reduce(np.add, over_rows(len(influence), work)))


def summed_at(places: Places, values: Numbers, size: int) -> Array:
    """Sums of values at each of so many places, (replicates, rows) to (replicates, places)."""
    return np.stack([np.bincount(places, each, size) for each in values])


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
    parts = [square * _one_less(size, pseudo) for square, size in sides]
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
    factors = np.array([_one_less(float(size), pseudo) for size in sizes[here]])
    return float(np.maximum(parts, 0.0) @ np.square(factors))


def spread_of_clusters(sums: Array, seen: Marks, pseudo: float = 0.0) -> tuple[float, float]:
    """The same of what clusters add on each side, (clusters, sides), and on which of these each has rows."""
    clusters = float(np.count_nonzero(seen.any(axis=1)))
    if clusters < 2:
        return math.nan, 0.0  # one cluster says nothing about spread
    squares = np.square(sums).sum(axis=0)
    shared = np.square(sums.sum(axis=1)).sum() - squares.sum()
    together = float(shared * _one_less(clusters))
    variance, freedom = spread_of(squares, seen.sum(axis=0).astype(np.float64), together, pseudo)
    return variance, min(freedom, clusters - 1) if variance else freedom  # of none, nothing is unsure


def scatter_of_clusters(sums: Array, seen: Marks, pseudo: float = 0.0) -> float:
    """The variance of that variance; what a cluster adds on one side may cancel what it adds on another."""
    sizes = seen.sum(axis=0)
    factors = np.array([_one_less(float(size), pseudo) if size else 0.0 for size in sizes])
    added = np.square(sums) @ factors
    added += (np.square(sums.sum(axis=1)) - np.square(sums).sum(axis=1)) * _one_less(float(seen.any(axis=1).sum()))
    # Clusters of one side alone are like each other, and so are those of several.
    kind = np.where(seen.sum(axis=1) > 1, len(sizes), seen.argmax(axis=1))[seen.any(axis=1)]
    added = added[seen.any(axis=1)]
    number, total, square = (np.bincount(kind, each) for each in (np.ones(len(added)), added, np.square(added)))
    parts = square - np.divide(np.square(total), number, out=np.zeros(len(number)), where=number > 0)
    return float(np.maximum(parts, 0.0).sum())


def _one_less(size: float, pseudo: float = 0.0) -> float:
    """What a mean square over rows is multiplied with for the degree of freedom that their mean takes."""
    if size <= 1:
        return 1.0 if pseudo else math.nan
    return (size + pseudo) / (size + pseudo - 1)


def pseudo_moments(slopes: Slopes, share: Array) -> tuple[float, Array]:
    """The mean squared influence of a pseudo-row, and the mean influence of one of the rest and of the class."""
    own, other = slopes
    squares = np.einsum("i,i,i", own, own, share) + np.einsum("i,i,i", other, other, share)
    return float(squares / 2), np.array([np.einsum("i,i", other, share), np.einsum("i,i", own, share)])

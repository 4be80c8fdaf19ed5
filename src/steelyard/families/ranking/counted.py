"""Measures that are told by how many rows of the other side are above each row, where all weigh the same.

A row with the same score counts half. Knows of no score: how the counts were found, and what is kept of them, is up to
others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...inference.row_evaluation import AVERAGES, Found
from ...measures.masses import BY_COUNT, spread_of

if TYPE_CHECKING:
    from ...core.typing import Array, Places


@dataclass(frozen=True)
class Counted(ABC):
    """Values and their spread, for every class against the rest and averaged over the classes.

    Attributes:
        sizes: How many rows each class has.
        units: What one count of each class stands for: a row, or half of one where scores are tied.
        above: How many of the rest are above the rows of each class, summed up.
    """

    sizes: Array
    units: Array
    above: Array

    def found(self, formula: object, parts: Collection[int | str]) -> dict[int | str, Found]:
        """A measure with its spread: of some classes, and averaged over all of them in one or both ways."""
        rest, (values, lines) = self.sizes.sum() - self.sizes, self._lines(formula)
        averaging = ways(values, self.sizes)
        means = {average: Mean.of(lines, *way) for average, way in averaging.items() if average in parts}
        codes = [part for part in parts if isinstance(part, int)]
        *squares, every, own = self._squares(list(means.values()), counted=bool(codes))
        found: dict[int | str, Found] = {}
        for code in codes:
            constant, slope = lines[code].T
            sizes = np.array([rest[code], self.sizes[code]])
            # Of any two rows, one of the class and one of the rest, one is above the other.
            first = np.array([sizes.prod() - self.above[code], self.above[code]]) / self.units[code]
            second = np.array([every[code] - own[code], own[code]])
            both = sizes * constant**2 + 2 * constant * slope * first + slope**2 * second
            found[code] = _found(float(values[code]), both, sizes)
        for average, by_class in zip(means, squares, strict=True):
            found[average] = _found(float(averaging[average][0] @ values), by_class, self.sizes)
        return found

    def _lines(self, formula: object) -> tuple[Array, Array]:
        """A measure of each class; and what rows add to it, as lines: (classes, sides, 2)."""
        rest = self.sizes.sum() - self.sizes
        known = [BY_COUNT[formula](*numbers) for numbers in zip(self.above, self.sizes, rest, strict=True)]
        lines = np.array([[of_rest, of_class] for _, of_class, of_rest in known])
        lines[..., 1] *= self.units[:, None]
        return np.array([value for value, _, _ in known]), lines

    @abstractmethod
    def influence(self, formula: object, part: int | str) -> Array:
        """What each row adds to a measure of one class, or averaged over all of them."""

    @abstractmethod
    def _squares(self, means: Sequence[Mean], counted: bool) -> Array:
        """Sums of squares by class: of influences on each mean, and if wanted of counts, of all rows and of its own."""


def ways(values: Array, sizes: Array) -> dict[str, tuple[Array, Array]]:
    """What classes weigh in each average, and what a row moves it by in making its class weigh more."""
    even, share = np.full(len(values), 1 / len(values)), sizes / sizes.sum()
    moved = (values - share @ values) / sizes.sum()
    return dict(zip(AVERAGES, ((even, 0 * moved), (share, moved)), strict=True))


def mean_over(values: Array, weights: Array, undefined: float) -> Array:
    """Means over the classes that have a value, or over all where something stands in: (replicates, classes) each."""
    unknown = np.isnan(values)
    weights = np.where(unknown & np.isnan(undefined), 0.0, weights)
    return np.asarray((np.where(unknown, np.nan_to_num(undefined), values) * weights).sum(axis=1) / weights.sum(axis=1))


class Mean(NamedTuple):
    """What a row adds to a weighted mean over the classes, by its true class: linear in its counts.

    Attributes:
        constant: What it adds where all counts are 0.
        slope: What each count adds, of a row of the rest.
        own: How much more, of a row of the class.
    """

    constant: Array
    slope: Array
    own: Array

    @classmethod
    def of(cls, lines: Array, weights: Array, gaps: Array) -> Mean:
        """Put the lines of all classes together: a row is of the rest to every class but its own."""
        constants, slopes = weights[:, None] * lines[..., 0], weights[:, None] * lines[..., 1]
        constant = constants[:, 0].sum() + constants[:, 1] - constants[:, 0] + gaps
        return cls(constant, slopes[:, 0], slopes[:, 1] - slopes[:, 0])

    def at(self, truth: Places, own: Array, slope: Array, counts: Places) -> Array:
        """What some rows add, by their true class, their count for it, and the slopes and counts of classes."""
        influence: Array = np.einsum("c,cr->r", slope, counts)
        influence += self.own.take(truth) * own
        influence += self.constant.take(truth)
        return influence


def squares_of_products(means: Sequence[Mean], sizes: Array, sums: Array, products: Array) -> Array:
    """Sums of squares by class: of influences on each mean, and of counts, of all rows and of its own.

    Args:
        means: What rows add to each mean.
        sizes: How many rows each class has.
        sums: The counts of the rows of each class, summed up: (true class, class).
        products: The same of their products two by two: (true class, class, class).
    """
    found = []
    for constant, slope, own in means:
        slopes = slope + np.diag(own)  # (true class, class)
        linear, square = (slopes * sums).sum(axis=1), np.einsum("ti,tij,tj->t", slopes, products, slopes)
        found.append(sizes * constant**2 + 2 * constant * linear + square)
    return np.array([*found, np.einsum("tii->i", products), np.einsum("iii->i", products)])


def _found(value: float, squares: Array, sizes: Array) -> Found:
    variance, freedom = spread_of(squares, sizes)
    return Found((value, value), (variance, variance), (freedom, freedom))

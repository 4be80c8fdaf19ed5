"""What rows add to values: influences on the slots of a table, standard errors, and averages over the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..states.statistics import Distances

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks

FEW_CLASSES = 16  # of so many, whole tables are laid out


def pseudo_shares(classes: int) -> tuple[float, float]:
    """How much of a pseudo-row is in each cell of the diagonal, and in each of the others.

    It is right as likely as wrong. Spread evenly over all cells, it would be wrong nearly for certain where there are
    many classes, and move a good classifier further than its standard error.
    """
    if classes == 1:
        return 1.0, 0.0
    return 1 / (2 * classes), 1 / (2 * classes * (classes - 1))


@lru_cache(maxsize=FEW_CLASSES)
def pseudo_table(classes: int) -> Array:
    """The same, cell by cell."""
    right, wrong = pseudo_shares(classes)
    table = np.full((classes, classes), wrong)
    np.fill_diagonal(table, right)
    table.setflags(write=False)
    return table


def pseudo_mean(tables: Array | Distances) -> Any:
    """What a pseudo-row is worth on average, by what it is worth in each cell of a table: (..., classes, classes)."""
    if isinstance(tables, Distances):
        return np.float64(pseudo_shares(tables.classes)[1] * tables.total())
    right, wrong = pseudo_shares(tables.shape[-1])
    return np.asarray(wrong * tables.sum(axis=(-2, -1)) + (right - wrong) * np.einsum("...ii->...", tables))


@dataclass(frozen=True)
class Spread:
    """Standard errors of all slots: as they are, and with the pseudo-rows, for intervals."""

    plain: Array
    smooth: Array


@dataclass(frozen=True)
class Influence:
    """What a row adds to each slot, by its true class i and assigned class j.

    It is base + row[i] + column[j], and + diagonal[i] where i = j, and + penalty * matrix[i, j] in the slots that are
    ``priced`` by a matrix.
    """

    base: Array
    row: Array
    column: Array
    diagonal: Array
    penalty: Array
    priced: Mapping[int, Array | Distances]

    @cached_property
    def tables(self) -> Array:
        """All slots over the whole table: (slots, classes, classes)."""
        values = (self.base[:, None] + self.row)[:, :, None] + self.column[:, None, :]
        values.reshape(len(values), -1)[:, :: values.shape[-1] + 1] += self.diagonal
        for place, matrix in self.priced.items():
            values[place] += self.penalty[place] * np.asarray(matrix)  # of few classes it is always laid out
        return values

    @cached_property
    def priced_tables(self) -> dict[int, Array]:
        """The same over the whole table, (classes, classes) each: matrices cannot be told apart by row and column."""
        return {place: self[place : place + 1].tables[0] for place in self.priced if place not in self.by_distance}

    @property
    def by_distance(self) -> dict[int, Distances]:
        """Slots whose matrix is not laid out."""
        return {place: matrix for place, matrix in self.priced.items() if isinstance(matrix, Distances)}

    @cached_property
    def centred(self) -> tuple[Array, Array]:
        """Row and column, the mean of the column and the base moved into the row."""
        middle = self.column.mean(axis=1, keepdims=True)
        return self.base[:, None] + self.row + middle, self.column - middle

    def at(self, truth: Codes, assigned: Codes) -> Array:
        """Evaluate at pairs of classes: (slots, pairs)."""
        if self.row.shape[1] <= FEW_CLASSES:
            classes = self.row.shape[1]
            cells = truth.astype(np.intp) * classes + assigned
            return np.asarray(self.tables.reshape(-1, classes**2).take(cells, axis=1))
        # Gathered a pair at a time: what is gathered for it lies side by side, a slot next to the other.
        values = np.ascontiguousarray((self.base[:, None] + self.row).T)[truth]
        values += np.ascontiguousarray(self.column.T)[assigned]
        agree = np.flatnonzero(truth == assigned)
        values[agree] += self.diagonal.T[truth[agree]]
        for place, matrix in self.priced.items():
            values[:, place] += self.penalty[place] * matrix[truth, assigned]
        return values.T

    def __getitem__(self, slots: slice) -> Influence:
        """Some of the slots, one next to the other, without a copy."""
        places = range(len(self.base))[slots]
        return Influence(
            self.base[slots],
            self.row[slots],
            self.column[slots],
            self.diagonal[slots],
            self.penalty[slots],
            {place - places.start: matrix for place, matrix in self.priced.items() if place in places},
        )


@dataclass(frozen=True)
class Averages:
    """Macro and weighted averages of the values of classes.

    Attributes:
        known: Where a value is defined: (measures, ..., classes).
        values: The values, with something in place of those that are not.
        counted: What each class counts for in both averages: (2, measures, ..., classes).
    """

    known: Marks
    values: Array
    counted: Array

    @cached_property
    def totals(self) -> Array:
        """What all classes count for together: (2, measures, ..., 1)."""
        return np.asarray(self.counted.sum(axis=-1, keepdims=True))

    @cached_property
    def shares(self) -> Array:
        """The shares of the classes in the averages."""
        return np.asarray(self.counted / self.totals)

    @cached_property
    def means(self) -> Array:
        """The averages, (2, measures, ...); an infinite value of a class that counts for nothing is left out."""
        held = np.where(self.counted > 0, self.counted * self.values, 0.0)
        return np.asarray(held.sum(axis=-1) / self.totals[..., 0])

    @property
    def drift(self) -> Array:
        """How the weighted average moves with the rows of a class: (measures, ..., classes)."""
        return np.asarray(np.where(self.counted[1] > 0, self.values - self.means[1, ..., None], 0.0) / self.totals[1])

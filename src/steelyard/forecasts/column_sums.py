"""Sums over rows of what they are worth by each of several scores, a piece of rows at a time. Knows no formula.

What is told apart by class comes from one product of matrices. A mean over classes is never laid out row by row where
its classes are summed up too: its sums are theirs by the same shares, and its squares are made of their products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..evaluating.evaluation import Slot
from ..evaluating.row_evaluation import AVERAGES, key_of
from ..parallel import SMALL_PRODUCT
from ..sums.rows import counts_of
from .piece import FEW_CLASSES, Piece, Supposed

if TYPE_CHECKING:
    from ..kinds import Array

ROUNDING = 1e-14
PAIRED = 4  # classes: products of more, two by two, take longer than laying out their means

Weights = tuple["Array", "Array"]  # of the rows: the weight of each, and its square


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Sums up columns of rows.

    Attributes:
        worth: What each row of a piece is worth in one column.
        columns: What the columns stand for.
        apart: Which of them must be told apart by class.
        share: The share of each class.
    """

    worth: Callable[[Piece, Slot], Array]
    columns: Sequence[Slot]
    apart: Sequence[bool]
    share: Array

    @cached_property
    def _means(self) -> dict[int, tuple[int, ...]]:
        """The columns that are means over classes, and where the columns of these classes are."""
        if len(self.share) > PAIRED:
            return {}
        places, found = {key_of(slot): place for place, slot in enumerate(self.columns)}, {}
        for place, slot in enumerate(self.columns):
            parts = tuple(places.get((slot.measure.label, code), -1) for code in range(len(self.share)))
            if slot.average is not None and -1 not in parts:
                found[place] = parts
        return found

    @cached_property
    def _together(self) -> dict[int, int]:
        """The columns that are multiplied with others, each with its row among them; those of a mean in one stretch."""
        parts = [part for parts in dict.fromkeys(self._means.values()) for part in parts]
        alone = [place for place, apart in enumerate(self.apart) if apart and place not in {*parts, *self._means}]
        return {place: row for row, place in enumerate([*parts, *alone])}

    def over(self, piece: Piece, shift: Array, weights: Weights | None = None) -> Array:
        """Sums over a piece, less the shift: by weight, of squared weights, by squared weight, of squares by that.

        They are (4, columns, classes). Squares need not be told apart by class: nothing is multiplied with them that
        depends on it. What is not told apart is all in the first place.
        """
        found = np.zeros((4, len(self.columns), len(self.share)))
        together = np.empty((len(self._together), len(piece.truth)))
        for place, slot in enumerate(self.columns):
            if place in self._together:
                np.subtract(self.worth(piece, slot), shift[place], out=together[self._together[place]])
            elif place not in self._means:
                found[:, place, 0] = _sums(self.worth(piece, slot), shift[place], weights)
        if len(together):
            self._write_products(found, piece, together, weights)
        return found

    def over_all_classes(self, pieces: Sequence[Supposed], shift: Array, weight: Array | None = None) -> Array:
        """The same over rows that are supposed to be of each class in turn, where their squared weight is their weight.

        A column of one class has two answers: that of the class, and that of all others.
        """
        found, classes = np.zeros((4, len(self.columns), len(self.share))), len(pieces)
        weights = None if weight is None else (weight, weight)
        for place, slot in enumerate(self.columns):
            asked = range(classes) if slot.code is None else (slot.code, slot.code - 1)
            sums = np.array([_sums(self.worth(pieces[code], slot), shift[place], weights) for code in asked]).T
            if slot.code is not None:
                sums = np.where(np.arange(classes) == slot.code, *sums[..., None].swapaxes(0, 1))
            if self.apart[place]:
                found[:3, place] = sums[:3]
            else:
                found[:3, place, 0] = sums[:3].sum(axis=1)
            found[3, place, 0] = sums[3].sum()
        return found

    def _write_products(self, found: Array, piece: Piece, columns: Array, weights: Weights | None) -> None:
        """Write down the sums of the columns that stand together, and of the means that are made of them."""
        if weights is None:
            first, counts = columns, counts_of(piece.truth, len(self.share))
            sums = weighed = by_class(piece, columns)
        else:
            columns[:, weights[0] == 0] = 0.0  # even an infinite score of a row that weighs nothing
            first, (counts,) = columns * weights[1], by_class(piece, weights[1][None])
            sums, weighed = by_class(piece, first), by_class(piece, columns * weights[0])
        for place, row in self._together.items():
            self._write(found, place, weighed[row], counts, sums[row])
        squares = np.zeros(len(columns))
        for parts in dict.fromkeys(self._means.values()):
            rows = slice(self._together[parts[0]], self._together[parts[-1]] + 1)
            products = np.einsum("ij,kj->ik", first[rows], columns[rows])
            squares[rows] = np.diag(products)
            for place in [place for place, others in self._means.items() if others == parts]:
                share = self._shares(self.columns[place])
                self._write(found, place, share @ weighed[rows], counts, share @ sums[rows])
                square, most = share @ products @ share, np.square(share) @ np.diag(products)
                found[3, place, 0] = square if square > ROUNDING * most else 0.0  # where all of it cancels
        alone = slice(len({part for parts in self._means.values() for part in parts}), None)
        squares[alone] = np.einsum("ij,ij->i", first[alone], columns[alone])
        found[3, list(self._together), 0] = squares

    def _write(self, found: Array, place: int, *sums: Array) -> None:
        """Write down the sums of a column by class; where nobody asks for classes, all of them in the first place."""
        if self.apart[place]:
            found[:3, place] = sums
        else:
            found[:3, place, 0] = np.sum(sums, axis=1)

    def _shares(self, slot: Slot) -> Array:
        """What classes count for in a mean over them."""
        return np.full(len(self.share), 1 / len(self.share)) if slot.average == AVERAGES[0] else self.share


def _sums(column: Array, shift: float, weights: Weights | None) -> tuple[float, float, float, float]:
    """All sums of one column, over all classes."""
    moved = column - shift if shift or weights is not None else column
    if weights is None:
        total = float(moved.sum())
        return total, len(moved), total, float(np.einsum("i,i", moved, moved))
    moved[weights[0] == 0] = 0.0  # even an infinite score of a row that weighs nothing
    first = moved * weights[1]
    weighed = float((moved * weights[0]).sum())
    return weighed, float(weights[1].sum()), float(first.sum()), float(np.einsum("i,i", first, moved))


def by_class(piece: Piece, columns: Array) -> Array:
    """Sums of columns over the rows of each class: (columns, classes)."""
    found, step = np.zeros((len(columns), piece.classes)), max(1, SMALL_PRODUCT // (len(columns) * piece.classes))
    few = piece.classes <= FEW_CLASSES
    for low in range(0, len(piece.truth) if few else 0, step):
        found += columns[:, low : low + step] @ piece.outcomes[:, low : low + step].T
    if few and not np.isnan(found).any():  # a product makes nothing of an infinite score, not even in other classes
        return found
    return np.array([np.bincount(piece.truth, column, piece.classes) for column in columns])

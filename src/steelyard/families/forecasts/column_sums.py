"""Sums over rows of what they are worth by each of several scores, a piece of rows at a time. Knows no formula.

What is told apart by class comes from sums of products. A mean or sum over classes is never laid out row by row where
its classes are summed up too: its sums are theirs by the same shares, and its squares are made of their products. All
of that is worked out once, of the sums over all pieces: while it is, no other thread could do anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.cached import cached_property
from ...inference.averages import class_shares
from ...inference.evaluation import Slot, key_of
from ...maths.sides import squares_around, summed_at, sums_of_products
from ..summed.recipe import Totals
from .piece import Piece, Supposed

if TYPE_CHECKING:
    from ...core.typing import Array

ROUNDING = 1e-14
PAIRED = 4  # classes: products of more, two by two, take longer than laying out their means

Weights = tuple["Array", "Array"]  # of the rows: the weight of each, and its square


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows within each true class, of some columns: (columns, classes).

    Attributes:
        shift: What is taken from each column before it is summed, so that little cancels.
        mass: What the rows weigh, (classes,).
        weighed: Sums by weight. Of a column that need not be told apart by class, all is in the first place, here and
            in what follows.
        square: Sums of squared weights.
        first: Sums by squared weight.
        second: Sums of squares by squared weight; these may be in the first place whether told apart or not.
    """

    shift: Array
    mass: Array
    weighed: Array
    square: Array
    first: Array
    second: Array

    @cached_property
    def means(self) -> Array:
        """The mean of each column."""
        return np.asarray(self.shift + self.weighed.sum(axis=1) / self.mass.sum())

    @cached_property
    def squares(self) -> Array:
        """Squared distances of each column from its mean, summed by squared weight."""
        parts = squares_around((self.means - self.shift)[:, None], self.square, self.first, self.second)
        return np.asarray(np.maximum(parts.sum(axis=1), 0.0))

    def scatter(self, column: int, scale: float, offset: Array) -> float:
        """Squares of scale * column + offset of the class, summed by squared weight."""
        first, second = scale * self.first[column], scale**2 * self.second[column]
        parts = squares_around(-offset - scale * self.shift[column], self.square[column], first, second)
        return max(float(parts.sum()), 0.0)


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
        """The columns that are means or sums over classes, and where the columns of these classes are."""
        if len(self.share) > PAIRED:
            return {}
        places, found = {key_of(slot): place for place, slot in enumerate(self.columns)}, {}
        for place, slot in enumerate(self.columns):
            label = slot.measure.summed or slot.measure.label
            parts = tuple(places.get((label, code), -1) for code in range(len(self.share)))
            if (slot.average or slot.measure.summed) and -1 not in parts:
                found[place] = parts
        return found

    @cached_property
    def _all_classes(self) -> tuple[tuple[int, ...], ...]:
        """Where the columns of all classes are, of each measure whose means are made of them."""
        return tuple(dict.fromkeys(self._means.values()))

    @cached_property
    def _together(self) -> dict[int, int]:
        """The columns that are multiplied with others, each with its row among them; those of a mean in one stretch."""
        parts = [part for parts in self._all_classes for part in parts]
        alone = [place for place, apart in enumerate(self.apart) if apart and place not in {*parts, *self._means}]
        return {place: row for row, place in enumerate([*parts, *alone])}

    @cached_property
    def _single(self) -> tuple[tuple[int, int | None], ...]:
        """The columns that are laid out by themselves, and their rows among those that stand together, if any."""
        made = {*self._means, *(part for parts in self._all_classes for part in parts)}
        return tuple((place, self._together.get(place)) for place in range(len(self.columns)) if place not in made)

    @property
    def room(self) -> int:
        """How many columns a piece must have room for."""
        return len(self._together)

    def none(self) -> Totals:
        """Sums over no rows, in three parts.

        The first is of columns by themselves, over all classes: by weight, by squared weight, and of squares by that.
        The second is of columns that stand together, within each class, by weight; nothing but 0 where all rows weigh
        1. The third is the same by squared weight, and beside it, of the products of each with those up to it.
        """
        together, classes = len(self._together), len(self.share)
        products = np.zeros((together, classes + together))
        return Totals((np.zeros((3, len(self.columns))), np.zeros((together, classes)), products))

    def add(self, sums: Totals, piece: Piece, shift: Array, weights: Weights | None = None) -> None:
        """Add up the rows of a piece that has room for some columns, less the shift."""
        room, (alone, weighed, products) = piece.room, sums.parts
        for parts in self._all_classes:
            some = slice(self._together[parts[0]], self._together[parts[-1]] + 1)
            np.subtract(piece.of_classes(self.columns[parts[0]].measure), shift[list(parts), None], out=room[some])
        for place, row in self._single:
            worth = self.worth(piece, self.columns[place])
            if row is None:
                alone[:, place] += _sums(worth, shift[place], weights)
            else:
                np.subtract(worth, shift[place], out=room[row])
        if self._together and weights is None:
            self._add_products(products, piece, room)
        elif self._together and weights is not None:
            room[:, weights[0] == 0] = 0.0  # even an infinite score of a row that weighs nothing
            weighed += by_class(piece, room * weights[0])
            self._add_products(products, piece, room * weights[1])

    def _add_products(self, sums: Array, piece: Piece, columns: Array) -> None:
        """Add up columns within each class, and their products with those that are laid out in the piece."""
        sums[:, : piece.classes] += by_class(piece, columns)
        products = sums[:, piece.classes :]
        for row, column in enumerate(piece.room):
            first = 0 if piece.few else row  # of many classes, nobody asks for more than squares
            products[first : row + 1, row] += np.einsum("ij,j->i", columns[first : row + 1], column)

    def told(self, sums: Totals, square: Array, weighted: bool) -> Array:
        """By weight, of squared weights, by squared weight, of squares by that: (4, columns, classes).

        Squares need not be told apart by class: nothing is multiplied with them that depends on it. What is not told
        apart is all in the first place.

        Args:
            sums: Sums over all rows.
            square: The sums of squared weights within each class.
            weighted: Whether any row weighs something else than 1.
        """
        classes, (alone, summed, beside) = len(self.share), sums.parts
        first, products = np.split(beside, [classes], axis=1)
        products = products + np.triu(products, 1).T  # two columns were multiplied once
        weighed, found = summed if weighted else first, np.zeros((4, len(self.columns), classes))
        found[:, :, 0] = np.insert(alone, 1, square.sum(), axis=0)
        for place, row in self._together.items():
            self._write(found, place, (weighed[row], square, first[row]), products[row, row])
        for place, parts in self._means.items():
            slot = self.columns[place]
            share = np.ones(classes) if slot.measure.summed else class_shares(slot.average, self.share)
            rows = [self._together[part] for part in parts]
            both = products[np.ix_(rows, rows)]
            squares, most = float(share @ both @ share), float(np.square(share) @ np.diag(both))
            squares = squares if squares > ROUNDING * most else 0.0  # where all of it cancels
            self._write(found, place, (share @ weighed[rows], square, share @ first[rows]), squares)
        return found

    def _write(self, found: Array, place: int, sums: tuple[Array, Array, Array], squares: float) -> None:
        """Write down the sums of a column by class; where nobody asks for classes, all of them in the first place."""
        if self.apart[place]:
            found[:3, place] = sums
        else:
            found[:3, place, 0] = np.sum(sums, axis=1)
        found[3, place, 0] = squares

    def over_all_classes(self, pieces: Sequence[Supposed], shift: Array, weight: Array | None = None) -> Array:
        """The same over rows that are supposed to be of each class in turn, where their squared weight is their weight.

        A column of one class has two answers: that of the class, and that of all others.
        """
        found, classes = np.zeros((4, len(self.columns), len(self.share))), len(pieces)
        weights = None if weight is None else (weight, weight)
        square = float(len(pieces[0].truth)) if weight is None else float(weight.sum())
        for place, slot in enumerate(self.columns):
            asked = range(classes) if slot.code is None else (slot.code, slot.code - 1)
            sums = np.array([_sums(self.worth(pieces[code], slot), shift[place], weights) for code in asked]).T
            if slot.code is not None:
                sums = np.where(np.arange(classes) == slot.code, *sums[..., None].swapaxes(0, 1))
            first = sums[0], np.full(classes, square), sums[1]
            self._write(found, place, first, float(sums[2].sum()))
        return found


def _sums(column: Array, shift: float, weights: Weights | None) -> tuple[float, float, float]:
    """Sums of one column over all classes: by weight, by squared weight, and of squares by that."""
    moved = column - shift if shift or weights is not None else column
    if weights is None:
        total = float(moved.sum())
        return total, total, float(np.einsum("i,i", moved, moved))
    moved[weights[0] == 0] = 0.0  # even an infinite score of a row that weighs nothing
    first = moved * weights[1]
    return float((moved * weights[0]).sum()), float(first.sum()), float(np.einsum("i,i", first, moved))


def by_class(piece: Piece, columns: Array) -> Array:
    """Sums of columns over the rows of each class: (columns, classes)."""
    if piece.few:
        found = sums_of_products(columns, piece.outcomes)
        if not np.isnan(found).any():  # a product makes nothing of an infinite score, not even in other classes
            return found
    return summed_at(piece.truth, columns, piece.classes)

"""Sums of counts of very many rows, of which nobody asks what each of them adds.

No row needs to be known by its place: of one class, how many of the rest are above each row of its own tells
everything. Where one score tells two classes apart, a row of either class has one count, and for the class that the
score speaks against it is what is left of that class: so sums of counts and of squared counts tell everything, for both
classes and for averages over them.

Averages over several scores are made of what a row adds by each of them, and only the spread of that is asked for: so
it is looked up in the cell in which a score lies, where it is the mean of all rows of the same side. Cells are so
narrow that the standard error of an average keeps four digits; values, and what is said of classes, are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Self

import numpy as np

from ...core.cached import cached_property
from ...core.threads import Portions, chunks, dealt_out
from ...maths.label_sort import CellMeans, Cells, ClassOrder, label_sorted
from ...maths.ordered_scores import SORTING
from ...measures.masses import BY_COUNT, summed_at, sums_of_products
from ...measures.registry import Measure
from ...states.held_rows import Rows
from .counted import Counted, Mean, Placements, squares_of_products

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Numbers, Places
    from ...inputs.prediction import Scores

BITS = 13, 15  # of a cell's number: the fewer, the faster one is found
BLURRED = 1e-6  # the part of the spread of rows that may be lost within cells
FEW = 4  # classes: of more, rows are summed up faster than their outcomes are laid out for a product of matrices
LOOKED_UP = 4  # times the work of a pass over a score, at the least
MANY = 1 << 18  # rows: of fewer, each is told from all others
MANY_OF_ONE = 1 << 16  # where one score tells two classes apart
SAMPLE = 1 << 12  # scores that tell whether cells will do, or whether others are negative


@dataclass(frozen=True)
class Unplaced(Counted):
    """Counts that were summed up without telling one row from another.

    Attributes:
        rows: The rows, with what every classifier said of them.
        model: The place of the classifier.
    """

    rows: Rows
    model: int

    def influence(self, formula: object, part: int | str) -> Array:
        """What each row adds to a measure: not to be told by sums, so that rows are placed after all."""
        return self._placements.influence(formula, part)

    @cached_property
    def _placements(self) -> Placements:
        return Placements.of(self.rows, self.model, self.sizes)


@dataclass(frozen=True)
class CountedOnce(Unplaced):
    """Measures of two classes and their averages, from the sums of one score.

    Attributes:
        squares: Squared counts summed up, by true class.
    """

    squares: Array

    @classmethod
    def of(cls, rows: Rows, model: int, sizes: Array) -> Self | None:
        """Sort by the score; None where there are few rows or several scores, or one is negative."""
        columns, speaks = rows.scores[model][:2]
        ordered = (
            label_sorted(columns[0], rows.truth, speaks) if len(columns) == 1 and len(rows) >= MANY_OF_ONE else None
        )
        if ordered is None:
            return None
        order = ClassOrder.of(ordered, int(sizes[speaks]))
        squares = order.squares if speaks else order.squares[::-1]
        return cls(sizes, np.ones(2), np.full(2, order.above), rows, model, squares)

    def _squares(self, means: Sequence[Mean], counted: bool) -> Array:
        del counted  # they are there
        speaks, others = self.rows.scores[self.model].speaks, self.sizes[::-1]
        # Of any two rows, one of each class, one is above the other.
        once = np.full(2, self.sizes.prod() - self.above[0])
        once[speaks] = self.above[0]
        left, left_squares = self.sizes * others - once, self.sizes * others**2 - 2 * others * once + self.squares
        mixed = others * once - self.squares
        sums, products = np.stack([left, once], axis=1), np.array([[left_squares, mixed], [mixed, self.squares]])
        if not speaks:
            sums, products = sums[:, ::-1], products[::-1, ::-1]
        return squares_of_products(means, self.sizes, sums, np.moveaxis(products, -1, 0))


@dataclass(frozen=True)
class CountedByCell(Unplaced):
    """Measures of all classes and their averages, where a row adds what others of its side in its cells do.

    Attributes:
        standings: Where the rows stand by the score of each class.
        places: Where to look this up for each row: twice its cell, and one more for a row of the class.
    """

    standings: Sequence[CellMeans]
    places: Sequence[Places]

    @classmethod
    def of(cls, rows: Rows, model: int, sizes: Array) -> Self | None:
        """Sort by the score of each class; None where there are few rows, or no cells would be narrow enough."""
        columns = rows.scores[model].columns
        if len(rows) < MANY or len(columns) < len(sizes):
            return None
        few = slice(None, None, len(rows) // SAMPLE)
        if _standing(columns[0][few], rows.truth[few], 0) is None:  # there is no need to sort all rows to see this
            return None
        found: list[tuple[CellMeans, Places] | None] = [None] * len(columns)

        def work(code: int) -> None:
            found[code] = _standing(columns[code], rows.truth, code)

        dealt_out(range(len(columns)), work, SORTING * len(rows))
        known = [each for each in found if each is not None]
        if len(known) < len(columns):
            return None
        standings, places = zip(*known, strict=True)
        above = np.array([standing.above for standing in standings])
        return cls(sizes, np.ones(len(sizes)), above, rows, model, standings, places)

    def _squares(self, means: Sequence[Mean], counted: bool) -> Array:
        del counted  # they are there
        of_rest, of_class = np.array([standing.squares for standing in self.standings]).T
        by_mean = self._squares_of_means(means) if means else np.zeros((0, len(self.sizes)))
        return np.concatenate([by_mean, [of_rest + of_class, of_class]])

    def _squares_of_means(self, means: Sequence[Mean]) -> Array:
        every, tables = self.rows.truth, [self._table(code, means) for code in range(len(self.sizes))]

        def work(start: int, stop: int) -> Array:
            found = np.zeros((len(means), len(self.sizes)))
            for low, high in chunks(start, stop, columns=3, parts=2):
                influences, added = np.empty((2, high - low, len(means)), np.float32)
                for code, (table, places) in enumerate(zip(tables, self.places, strict=True)):
                    # Not that a place could lie outside: to raise if one does, NumPy would write to a copy first.
                    table.take(places[low:high], axis=0, mode="clip", out=added if code else influences)
                    if code:
                        influences += added
                squares = np.square(np.ascontiguousarray(influences.T), dtype=np.float64)
                found += _by_class(every[low:high], squares, len(self.sizes))
            return found

        return reduce(np.add, Portions(len(every), work, LOOKED_UP * len(self.sizes)).results())

    def _table(self, code: int, means: Sequence[Mean]) -> Numbers:
        """What a row adds to means by one score: by cell, one of the rest and one of the class in turns.

        In single precision, of which more fits into the cache: cells have fewer digits.
        """
        of_rest, of_class = self.standings[code].means
        found = np.empty((len(of_rest), 2, len(means)), np.float32)
        for place, mean in enumerate(means):
            slope = mean.slope[code]
            found[:, 0, place] = slope * of_rest
            found[:, 1, place] = mean.constant[code] + (slope + mean.own[code]) * of_class
        return found.reshape(-1, len(means))


def _by_class(truth: Codes, columns: Array, classes: int) -> Array:
    """Sums of columns over the rows of each class, (columns, rows) to (columns, classes)."""
    if classes > FEW:
        return summed_at(truth, columns, classes)
    outcomes = np.empty((classes, len(truth)))
    np.equal(truth, np.arange(classes, dtype=truth.dtype)[:, None], out=outcomes)
    return sums_of_products(columns, outcomes)


def _standing(score: Numbers, truth: Codes, code: int) -> tuple[CellMeans, Places] | None:
    """Where rows stand by one score, and where to look it up; None where it can be negative, or cells too wide."""
    rows = label_sorted(score, truth, code)
    if rows is None:
        return None
    order = ClassOrder.of(rows, int(np.count_nonzero(truth == code)))
    for bits in BITS:
        standing = CellMeans.of(order, Cells.of(rows, bits))
        if standing.blurred < BLURRED:
            return standing, _places(standing.cells, rows.numbers, truth, code)
    return None


def _places(cells: Cells, numbers: Places, truth: Codes, code: int) -> Places:
    found: Places = np.empty(len(numbers), np.min_scalar_type(2 * cells.number))
    for low, high in chunks(0, len(found)):
        some = cells.at(numbers[low:high])
        some <<= 1
        some |= (truth[low:high] == code).astype(some.dtype)
        found[low:high] = some
    return found


def one_sort_tells(said: Scores, measures: Iterable[Measure]) -> bool:
    """Whether sums of one score tell all of these measures, of many rows; none is negative, by a sample."""
    score = said.columns[0] if len(said.columns) == 1 else np.zeros(0)
    by_count = len(score) >= MANY_OF_ONE and all(measure.formula in BY_COUNT for measure in measures)
    return by_count and bool(score[:: len(score) // SAMPLE].min() >= 0)


def counted(rows: Rows, model: int, sizes: Array) -> Counted:
    """Where rows stand by the scores of one classifier; where there are others, they are compared row by row."""
    for kind in (CountedByCell, CountedOnce) if len(rows.scores) == 1 else ():
        found = kind.of(rows, model, sizes)
        if found is not None:
            return found
    return Placements.of(rows, model, sizes)

"""Where rows stand among those of the other side, of many rows of which nobody asks what each of them adds.

Of one class, how many of the rest are above each row of its own tells everything, and no row needs to be known by its
place. Averages over classes are made of what a row adds by each of its scores, and only the spread of that is asked
for: so it is looked up in the cell in which a score lies, where it is the mean of all rows of the same side. Cells are
so narrow that the standard error of an average keeps four digits; values, and what is said of classes, are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ...core.threads import Portions, chunks, dealt_out
from ...maths.ordered_scores import SORTING
from ...measures.masses import summed_at, sums_of_products
from ...states.held_rows import Rows
from .class_order import Order
from .counted import Mean
from .placements import Unplaced
from .sided import Sided, sided

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Numbers, Places

BITS = 13, 15  # of a cell's number: the fewer, the faster one is found
BLURRED = 1e-6  # the part of the spread of rows that may be lost within cells
FEW = 4  # classes: of more, rows are summed up faster than their outcomes are laid out for a product of matrices
LOOKED_UP = 4  # times the work of a pass over a score, at the least
LOWEST = 1 << 12  # one score in so many is below all cells but the lowest
MANY = 1 << 18  # rows: of fewer, each is told from all others
SAMPLE = 1 << 12  # scores that tell whether cells will do


class Cells(NamedTuple):
    """Stretches of a score, by the first bits of its numbers: the closer to 0, the shorter.

    Attributes:
        first: The first bits of the lowest cell, which holds all that is below the others.
        shift: How many bits are left out.
        number: How many cells there are.
    """

    first: int
    shift: int
    number: int

    @classmethod
    def of(cls, rows: Sided, bits: int) -> Cells:
        """Make cells of sorted scores, which are numbered by so many bits at most."""
        keys = rows.keys
        zero = keys.dtype.type(np.iinfo(keys.dtype).max - 1)  # the key of a row of the class that has it
        positive = int(np.searchsorted(keys, zero))
        few = positive // LOWEST if positive == len(keys) else 0  # where there are zeros, they stay by themselves
        low, high = (int(~keys[place] >> 1) for place in (max(positive - 1 - few, 0), 0))
        shift = max((high - low).bit_length() - bits, 0)
        first = max((low >> shift) - 1, 0)
        return cls(first, shift, (high >> shift) - first + 1)

    def at(self, numbers: Places) -> Places:
        """The cells of the numbers of scores, none of which is above those that the cells were made of."""
        # With their sign: -0.0 is below all cells, and so in the lowest.
        signed: Places = numbers.view(np.int64) if numbers.itemsize == 8 else numbers.view(np.int32)
        cells = signed >> self.shift
        kind = cells.dtype.type  # between numbers of another kind, NumPy takes three times as long
        np.clip(cells, kind(self.first), kind(self.first + self.number - 1), out=cells)
        cells -= kind(self.first)
        return cells

    def ends(self, keys: Places) -> Places:
        """Where each cell ends in these sorted scores, the highest cell first."""
        lowest = np.arange(self.first + self.number - 1, self.first, -1) << self.shift + 1
        lasts = np.searchsorted(keys, ~lowest.astype(keys.dtype), side="right")
        return np.concatenate([[0], lasts, [len(keys)]])


class Standing(NamedTuple):
    """How many rows of the other side are above those of the class, and of the rest; one of the same score counts half.

    Attributes:
        cells: The cells of the score.
        above: The counts of the rows of the class, summed up.
        squares: Squared counts summed up: of the rest, and of the class.
        means: Counts by cell, from the lowest up: of the rest, and of the class.
        blurred: The part of the spread of counts that is lost within cells.
    """

    cells: Cells
    above: float
    squares: Array
    means: Array
    blurred: float

    @classmethod
    def of(cls, order: Order, cells: Cells) -> Standing:
        """Average over the rows of each cell."""
        ends = cells.ends(order.keys)
        before = np.searchsorted(order.places, ends.astype(order.places.dtype))
        number, others = np.diff([ends - before, before]), np.array([before[:-1], (ends - before)[:-1]])
        filled = number[1] > 0
        last, own, rest = order.ties
        sums = np.bincount(np.searchsorted(ends, last, side="right") - 1, own * rest / 2)
        sums = np.append(sums, np.zeros(len(filled) - len(sums)))
        sums[filled] += np.add.reduceat(order.places, before[:-1][filled], dtype=np.int64)
        # Above a row of a cell are all of the other side in higher ones, and so many in its own.
        sums -= number[1] * (others[1] + (before[:-1] + before[1:] - 1) / 2)
        within = np.where(number > 0, [number.prod(axis=0) - sums, sums], number[::-1] / 2) / np.maximum(number, 1)
        means = within + others
        kept, total = (number * means**2).sum(axis=1), (number * means).sum(axis=1)
        spread = (order.squares - total**2 / np.maximum(number.sum(axis=1), 1)).sum()
        blurred = float((order.squares - kept).sum() / spread) if spread > 0 else 0.0
        return cls(cells, order.above, order.squares, means[:, ::-1], blurred)


@dataclass(frozen=True)
class CountedByCell(Unplaced):
    """Measures of all classes and their averages, where a row adds what others of its side in its cells do.

    Attributes:
        standings: Where the rows stand by the score of each class.
        places: Where to look this up for each row: twice its cell, and one more for a row of the class.
    """

    standings: Sequence[Standing]
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
        found: list[tuple[Standing, Places] | None] = [None] * len(columns)

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


def _standing(score: Numbers, truth: Codes, code: int) -> tuple[Standing, Places] | None:
    """Where rows stand by one score, and where to look it up; None where it can be negative, or cells too wide."""
    rows = sided(score, truth, code)
    if rows is None:
        return None
    order = Order.of(rows, int(np.count_nonzero(truth == code)))
    for bits in BITS:
        standing = Standing.of(order, Cells.of(rows, bits))
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

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
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ...core.threads import Portions, chunks, dealt_out
from ...maths.label_sort import CellMeans, Cells, ClassOrder, label_sorted
from ...maths.ordered_scores import SORTING
from ...maths.sides import summed_at, sums_of_products
from ...measures.masses import BY_COUNT
from ...measures.registry import Measure
from ...states.held_rows import Rows
from .counted import Counted, Mean, squares_of_products

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

Standing = tuple[
    CellMeans, "Places"
]  # how rows stand in the cells of a score; twice the cell of each, and one more for the class


def counted_once(rows: Rows, model: int, sizes: Array) -> Counted | None:
    """Measures of two classes and their averages, from the sums of one score.

    None where there are few rows or several scores, or one is negative.
    """
    columns, speaks = rows.scores[model][:2]
    if len(columns) > 1 or len(rows) < MANY_OF_ONE:
        return None
    ordered = label_sorted(columns[0], rows.truth, speaks)
    if ordered is None:
        return None
    order = ClassOrder.of(ordered, int(sizes[speaks]))
    own, others, above = order.squares if speaks else order.squares[::-1], sizes[::-1], order.above
    # Of any two rows, one of each class, one is above the other.
    once = np.full(2, sizes.prod() - above)
    once[speaks] = above
    left, left_squares = sizes * others - once, sizes * others**2 - 2 * others * once + own
    mixed = others * once - own
    sums, products = np.stack([left, once], axis=1), np.array([[left_squares, mixed], [mixed, own]])
    if not speaks:
        sums, products = sums[:, ::-1], products[::-1, ::-1]
    products = np.moveaxis(products, -1, 0)
    return Counted(
        sizes, np.ones(2), np.full(2, above), lambda means, _: squares_of_products(means, sizes, sums, products)
    )


def counted_by_cell(rows: Rows, model: int, sizes: Array) -> Counted | None:
    """Measures of all classes and their averages, where a row adds what others of its side in its cells do.

    None where there are few rows, or no cells would be narrow enough.
    """
    columns = rows.scores[model].columns
    if len(rows) < MANY or len(columns) < len(sizes):
        return None
    few = slice(None, None, len(rows) // SAMPLE)
    if _standing(columns[0][few], rows.truth[few], 0) is None:  # there is no need to sort all rows to see this
        return None
    found: list[Standing | None] = [None] * len(columns)

    def work(code: int) -> None:
        found[code] = _standing(columns[code], rows.truth, code)

    dealt_out(range(len(columns)), work, SORTING * len(rows))
    known = [each for each in found if each is not None]
    if len(known) < len(columns):
        return None
    of_rest, of_class = np.array([means.squares for means, _ in known]).T

    def squares(means: Sequence[Mean], _: bool) -> Array:
        by_mean = _squares_of_means(means, known, rows.truth) if means else np.zeros((0, len(sizes)))
        return np.concatenate([by_mean, [of_rest + of_class, of_class]])

    return Counted(sizes, np.ones(len(sizes)), np.array([means.above for means, _ in known]), squares)


def _squares_of_means(means: Sequence[Mean], standings: Sequence[Standing], truth: Codes) -> Array:
    """Sums of squares by class of what rows add to means, where each of them is looked up in its cells."""
    classes, tables = len(standings), [_table(code, cells, means) for code, (cells, _) in enumerate(standings)]

    def work(start: int, stop: int) -> Array:
        found = np.zeros((len(means), classes))
        for low, high in chunks(start, stop, columns=3, parts=2):
            influences, added = np.empty((2, high - low, len(means)), np.float32)
            for code, (table, (_, places)) in enumerate(zip(tables, standings, strict=True)):
                # Not that a place could lie outside: to raise if one does, NumPy would write to a copy first.
                table.take(places[low:high], axis=0, mode="clip", out=added if code else influences)
                if code:
                    influences += added
            squares = np.square(np.ascontiguousarray(influences.T), dtype=np.float64)
            found += _by_class(truth[low:high], squares, classes)
        return found

    return reduce(np.add, Portions(len(truth), work, LOOKED_UP * classes).results())


def _table(code: int, cells: CellMeans, means: Sequence[Mean]) -> Numbers:
    """What a row adds to means by one score: by cell, one of the rest and one of the class in turns.

    In single precision, of which more fits into the cache: cells have fewer digits.
    """
    of_rest, of_class = cells.means
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


def _standing(score: Numbers, truth: Codes, code: int) -> Standing | None:
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

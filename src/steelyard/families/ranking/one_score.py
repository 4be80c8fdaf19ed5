"""Two classes that are told apart by one score, of many rows of which nobody asks what each of them adds.

By its score, a row of either class has one count: how many of the other class are above it. For the class that the
score speaks against, it is what is left of that class. So sums of counts and of squared counts tell everything, for
both classes and for averages over them, and no row needs to be known by its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ...measures.masses import BY_COUNT
from ...measures.registry import Measure
from ...states.held_rows import Rows
from .cells import CountedByCell
from .class_order import Order
from .counted import Counted, Mean, squares_of_products
from .placements import Placements, Unplaced
from .sided import sided

if TYPE_CHECKING:
    from ...core.typing import Array
    from ...inputs.prediction import Scores

MANY = 1 << 16  # rows: of fewer, each is told from all others
SAMPLE = 1 << 12  # scores that tell whether others are negative


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
        ordered = sided(columns[0], rows.truth, speaks) if len(columns) == 1 and len(rows) >= MANY else None
        if ordered is None:
            return None
        order = Order.of(ordered, int(sizes[speaks]))
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


def one_sort_tells(said: Scores, measures: Iterable[Measure]) -> bool:
    """Whether sums of one score tell all of these measures, of many rows; none is negative, by a sample."""
    score = said.columns[0] if len(said.columns) == 1 else np.zeros(0)
    by_count = len(score) >= MANY and all(measure.formula in BY_COUNT for measure in measures)
    return by_count and bool(score[:: len(score) // SAMPLE].min() >= 0)


def counted(rows: Rows, model: int, sizes: Array) -> Counted:
    """Where rows stand by the scores of one classifier; where there are others, they are compared row by row."""
    for kind in (CountedByCell, CountedOnce) if len(rows.scores) == 1 else ():
        found = kind.of(rows, model, sizes)
        if found is not None:
            return found
    return Placements.of(rows, model, sizes)

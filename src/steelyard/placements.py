"""Where rows stand among those of the other side, for every class against the rest: many rows, no ties, equal weights.

Most of what averages over classes cost is bringing what is found in the order of each score back to the rows. Of
measures that ask for nothing but how many of the other side are above a row, only these counts need to come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from .masses import BY_COUNT, spread_of
from .parallel import chunks, over_rows, shared
from .ranking import Ranking
from .row_evaluation import AVERAGES, Found
from .rows import Rows

if TYPE_CHECKING:
    from .kinds import Array, Codes, Places

MANY_ROWS = 1 << 17  # below this there is little to gain


@dataclass(frozen=True)
class Placements:
    """How many rows of the other side are above each row, class by class, in the order of the input.

    Attributes:
        counts: (classes, rows).
        above: Summed over the rows of each class.
        truth: The true classes.
        sizes: How many rows each class has.
    """

    counts: Places
    above: Array
    truth: Codes
    sizes: Array

    @classmethod
    def of(cls, rows: Rows, model: int, sizes: Array) -> Placements | None:
        """Sort by the score of each class; None where a score occurs twice."""
        columns, speaks = rows.scores[model][:2]
        counts: Places = np.empty((len(sizes), len(rows)), np.int32)
        above = np.zeros(len(sizes))

        def work(codes: Sequence[int]) -> bool:
            for code in codes:
                ranking = Ranking.of(columns[code if len(columns) > 1 else 0])
                if ranking.tied.any():
                    return False
                above[code] = _placed(ranking.order, rows.truth, code, counts[code])
            return True

        codes = range(len(sizes)) if len(columns) > 1 else [speaks]
        if not all(shared(codes, work, len(rows))):
            return None
        if len(columns) == 1:  # the other class has the same score, turned round
            other = sizes[::-1][rows.truth]
            counts[1 - speaks] = other - counts[speaks]
            above[1 - speaks] = above[speaks]
        return cls(counts, above, rows.truth, sizes)

    def found(self, formula: object, alone: str | None = None) -> dict[int | str, Found]:
        """A measure with its spread: of every class, and averaged over them; or one average alone."""
        rest, share = self.sizes.sum() - self.sizes, self.sizes / self.sizes.sum()
        known = [BY_COUNT[formula](*numbers) for numbers in zip(self.above, self.sizes, rest, strict=True)]
        values = np.array([value for value, _, _ in known])
        lines = np.array([[of_rest, of_class] for _, of_class, of_rest in known])  # (classes, sides, 2)
        found: dict[int | str, Found] = {}
        for code, value in enumerate(values.tolist() if alone is None else ()):
            constant, slope = lines[code].T
            first, second = self.moments[code]
            sizes = np.array([rest[code], self.sizes[code]])
            squares = sizes * constant**2 + 2 * constant * slope * first + slope**2 * second
            found[code] = _found(value, squares, sizes)
        even = np.full(len(values), 1 / len(values))
        moved = (values - share @ values) / self.sizes.sum()  # a row also makes its class weigh more
        for average, weights, gaps in zip(AVERAGES, (even, share), (0 * moved, moved), strict=True):
            if alone in (None, average):
                found[average] = _found(float(weights @ values), self._squares(lines, weights, gaps), self.sizes)
        return found

    @cached_property
    def products(self) -> tuple[Array, Array]:
        """Sums of counts over the rows of each class, (classes, classes), and of their products two by two.

        All variances are made of these: what a row adds to a value, or to a mean of values, is linear in its counts.
        """
        classes = len(self.sizes)

        def work(start: int, stop: int) -> tuple[Array, Array]:
            sums, products = np.zeros((classes, classes)), np.zeros((classes, classes, classes))
            for low, high in chunks(start, stop, classes):
                counts, truth = self.counts[:, low:high].astype(np.float64), self.truth[low:high]
                for code in range(classes):
                    own = counts.compress(truth == code, axis=1)
                    sums[code] += own.sum(axis=1)
                    products[code] += own @ own.T
            return sums, products

        parts = over_rows(len(self.truth), work, classes)
        return reduce(np.add, [part[0] for part in parts]), reduce(np.add, [part[1] for part in parts])

    @cached_property
    def moments(self) -> Array:
        """Sums of counts and of their squares, of the rest and of the class: (classes, 2, sides)."""
        sums, products = self.products
        own = np.array([np.diag(sums), np.einsum("iii->i", products)])
        every = np.array([sums.sum(axis=0), np.diag(products.sum(axis=0))])
        return np.moveaxis(np.array([every - own, own]), -1, 0).swapaxes(1, 2)

    def _squares(self, lines: Array, weights: Array, gaps: Array) -> Array:
        """Squared influences on a weighted mean over the classes, of the rows of each class."""
        constants, slopes = weights[:, None] * lines[..., 0], weights[:, None] * lines[..., 1]
        # A row is of the rest to every class but its own.
        constant = constants[:, 0].sum() + constants[:, 1] - constants[:, 0] + gaps
        slope = np.where(np.eye(len(weights), dtype=bool), slopes[:, 1], slopes[:, 0])  # (true class, class)
        sums, products = self.products
        linear, square = (slope * sums).sum(axis=1), np.einsum("ti,tij,tj->t", slope, products, slope)
        return np.asarray(self.sizes * constant**2 + 2 * constant * linear + square)


def _found(value: float, squares: Array, sizes: Array) -> Found:
    variance, freedom = spread_of(squares, sizes)
    return Found((value, value), (variance, variance), (freedom, freedom))


def _placed(order: Places, truth: Codes, code: int, out: Places) -> float:
    """Count how many of the other side are above each row; return the sum over the rows of the class."""
    reached, total, rows_in_all = 0, 0, len(order)
    for low, high in chunks(0, rows_in_all):
        rows = order[low:high]
        own = (truth[rows] == code).view(np.int8)
        hits = np.cumsum(own, dtype=np.int32)
        hits += reached
        reached, total = int(hits[-1]), total + int(hits.sum(dtype=np.int64))
        # At a row of the class, all that are above it but are not of the class; at one of the rest, those that are.
        beyond = np.arange(low + 1, high + 1, dtype=np.int32)
        beyond -= 2 * hits
        beyond *= own
        hits += beyond
        out[rows] = hits
    # Each row of the class is counted as a hit from its own place on: so its places, and those above it, follow.
    places = reached * (rows_in_all + 1) - total
    return float(places - reached * (reached + 1) // 2)

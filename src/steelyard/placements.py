"""Where rows stand among those of the other side, for every class against the rest: many rows, no ties, equal weights.

Most of what averages over classes cost is bringing what is found in the order of each score back to the rows. Of
measures that ask for nothing but how many of the other side are above a row, only these counts need to come back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .masses import spread_of
from .parallel import chunks, over_rows, shared
from .ranking import Ranking
from .row_evaluation import AVERAGES, Found
from .rows import Rows

if TYPE_CHECKING:
    from .kinds import Array, Codes, Places

Counted = Callable[["Array"], "Array"]  # from how many of the other side are above a row to what it adds to a value
ByCount = Callable[[float, float, float], tuple[float, Counted, Counted]]
BY_COUNT: dict[object, ByCount] = {}  # by formula

MANY_ROWS = 1 << 17  # below this there is little to gain


def by_count(formula: object) -> Callable[[ByCount], ByCount]:
    """Enter a way to a value, and to what rows of the class and of the rest add to it, by counts alone.

    It is given how many of the rest are above the rows of the class, summed up, and the sizes of the class and rest.
    """

    def enter(way: ByCount) -> ByCount:
        BY_COUNT[formula] = way
        return way

    return enter


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

    def found(self, formula: object) -> dict[int | str, Found]:
        """A measure with its spread: of every class, and averaged over them."""
        rest, share = self.sizes.sum() - self.sizes, self.sizes / self.sizes.sum()
        known = [BY_COUNT[formula](*numbers) for numbers in zip(self.above, self.sizes, rest, strict=True)]
        values, rules = [value for value, _, _ in known], [(own, other) for _, own, other in known]
        means = np.array([np.mean(values), share @ values])
        squares, between = self._squares(rules, share, np.array(values) - means[1])
        found: dict[int | str, Found] = {}
        for code, value in enumerate(values):
            variance, freedom = spread_of(squares[code], np.array([rest[code], self.sizes[code]]))
            found[code] = Found((value, value), (variance, variance), (freedom, freedom))
        for kind, average in enumerate(AVERAGES):
            variance, freedom = spread_of(between[kind], self.sizes)
            mean = float(means[kind])
            found[average] = Found((mean, mean), (variance, variance), (freedom, freedom))
        return found

    def _squares(self, rules: Sequence[tuple[Counted, Counted]], share: Array, gaps: Array) -> tuple[Array, Array]:
        """Squared influences: on each class, of the rest and of it; on both averages, of the rows of each class."""
        classes = len(self.sizes)

        def work(start: int, stop: int) -> tuple[Array, Array]:
            squares, between = np.zeros((classes, 2)), np.zeros((2, classes))
            for low, high in chunks(start, stop):
                truth, rows = self.truth[low:high], high - low
                sums = np.zeros((2, rows))
                for code, (of_class, of_rest) in enumerate(rules):
                    count, own = self.counts[code, low:high].astype(np.float64), (truth == code).astype(np.float64)
                    influence = of_rest(count)
                    more = of_class(count)
                    more -= influence
                    more *= own
                    influence += more
                    np.square(influence, out=more)
                    total = more.sum()
                    more *= own
                    part = more.sum()
                    squares[code] += total - part, part
                    sums[0] += influence
                    influence *= share[code]
                    sums[1] += influence
                sums[0] /= classes
                sums[1] += gaps[truth] / self.sizes.sum()
                between += [np.bincount(truth, each * each, classes) for each in sums]
            return squares, between

        parts = over_rows(len(self.truth), work, classes)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)  # type: ignore[return-value]


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

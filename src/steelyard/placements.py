"""Where rows stand among those of the other side, for every class against the rest: no ties, equal weights.

Most of what averages over classes cost is bringing what is found in the order of each score back to the rows. Of
measures that ask for nothing but how many of the other side are above a row, only these counts need to come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .masses import BY_COUNT, spread_of
from .parallel import chunks, comes_later, cores, over_rows, shared
from .ranking import Side, ordering
from .row_evaluation import AVERAGES, Found
from .rows import Rows

if TYPE_CHECKING:
    from .kinds import Array, Codes, Marks, Places

EVERY_BYTE, LAST_BYTE = np.uint64(0x0101010101010101), np.uint64(56)


@dataclass(frozen=True)
class Placements:
    """How many rows of the other side are above each row, class by class, in the order of the input.

    Attributes:
        counts: (classes, rows).
        truth: The true classes.
        sizes: How many rows each class has.
    """

    counts: Places
    truth: Codes
    sizes: Array

    @classmethod
    def of(cls, rows: Rows, model: int, sizes: Array) -> Placements | None:
        """Sort by the score of each class; None where a score occurs twice."""
        columns, speaks = rows.scores[model][:2]
        counts: Places = np.empty((len(sizes), len(rows)), np.int32)

        def write(code: int) -> bool:  # what is made of a class is let go of before the next one is begun with
            order, tied, own = ordering(columns[code if len(columns) > 1 else 0], Side(rows.truth, code))
            if own is None or tied.any():
                return False
            _place(order, own, counts[code])
            return True

        def work(codes: Sequence[int]) -> bool:
            return all(map(write, codes))

        codes = range(len(sizes)) if len(columns) > 1 else [speaks]
        # A class that would keep one core busy while the others wait is shared by all of them.
        dealt = len(codes) - (len(codes) % cores() == 1 and not comes_later())
        if not all(shared(codes[:dealt], work, len(rows))) or not work(codes[dealt:]):
            return None
        if len(columns) == 1:  # the other class has the same score, turned round
            other = sizes[::-1][rows.truth]
            counts[1 - speaks] = other - counts[speaks]
        return cls(counts, rows.truth, sizes)

    def found(self, formula: object) -> dict[int | str, Found]:
        """A measure with its spread: of every class, and averaged over them."""
        rest, share = self.sizes.sum() - self.sizes, self.sizes / self.sizes.sum()
        above = np.diag(self.products[0])  # the rest above the rows of each class
        known = [BY_COUNT[formula](*numbers) for numbers in zip(above, self.sizes, rest, strict=True)]
        values = np.array([value for value, _, _ in known])
        lines = np.array([[of_rest, of_class] for _, of_class, of_rest in known])  # (classes, sides, 2)
        found: dict[int | str, Found] = {}
        for code, value in enumerate(values.tolist()):
            constant, slope = lines[code].T
            first, second = self.moments[code]
            sizes = np.array([rest[code], self.sizes[code]])
            squares = sizes * constant**2 + 2 * constant * slope * first + slope**2 * second
            found[code] = _found(value, squares, sizes)
        even = np.full(len(values), 1 / len(values))
        moved = (values - share @ values) / self.sizes.sum()  # a row also makes its class weigh more
        for average, weights, gaps in zip(AVERAGES, (even, share), (0 * moved, moved), strict=True):
            found[average] = _found(float(weights @ values), self._squares(lines, weights, gaps), self.sizes)
        return found

    @cached_property
    def products(self) -> tuple[Array, Array]:
        """Sums of counts over the rows of each class, (classes, classes), and of their products two by two.

        All variances are made of these: what a row adds to a value, or to a mean of values, is linear in its counts.
        """
        classes = len(self.sizes)

        def work(start: int, stop: int) -> Array:
            found = np.zeros((classes, classes + 1, classes))
            # In longer pieces than elsewhere: threads would spend their time on handing many short calls to each other.
            for low, high in chunks(start, stop, classes, parts=2):
                truth = self.truth[low:high]
                by_class = np.argsort(truth, kind="stable")
                edges = np.cumsum(np.bincount(truth, minlength=classes)).tolist()
                # With ones below the counts, one product of matrices makes both sums.
                counts = np.empty((classes + 1, high - low))
                counts[-1] = 1
                counts[:-1] = self.counts[:, low:high].take(by_class, axis=1)
                for code, ends in enumerate(pairwise([0, *edges])):
                    own = counts[:, slice(*ends)]
                    found[code] += own @ own[:-1].T
            return found

        found = reduce(np.add, over_rows(len(self.truth), work, classes))
        return found[:, -1], found[:, :-1]

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


def _place(order: Places, own: Marks, out: Places) -> None:
    """Count how many of the other side are above each row."""

    def place(start: int, stop: int) -> None:
        reached = int(np.count_nonzero(own[:start]))
        for low, high in chunks(start, stop):
            hits = _running_counts(own[low:high], reached)
            reached = int(hits[-1])
            # At a row of the class, all that are above it but are not of the class; at one of the rest, those that are.
            beyond = np.arange(low + 1, high + 1, dtype=np.int32)
            beyond -= hits
            beyond -= hits
            beyond *= own[low:high].view(np.int8)
            hits += beyond
            np.put(out, order[low:high], hits, mode="clip")  # not that a place could lie outside: it is the faster way

    over_rows(len(order), place)


def _running_counts(marks: Marks, reached: int = 0) -> Places:
    """How many of the marks are set up to each of them, itself included, where so many were before.

    Bytes of eight marks times 1 + 2^8 + 2^16 + ... are their running counts: adding one by one takes twice as long.
    """
    if len(marks) % 8:
        return np.cumsum(marks, dtype=np.int32) + np.int32(reached)
    eights = (marks.view("<u8") * EVERY_BYTE).astype("<u8", copy=False)
    counts = (eights >> LAST_BYTE).astype(np.int32)
    found: Places = np.repeat(np.cumsum(counts, dtype=np.int32) - counts + np.int32(reached), 8)
    found += eights.view(np.uint8)
    return found

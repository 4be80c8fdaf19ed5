"""Rows brought together by region, so that those of one lie side by side in memory: once, for all that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from math import perm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.threads import chunks, over_rows, shared
from .scaling import FEW, orders, write_highest

if TYPE_CHECKING:
    from ...core.typing import Array, Places

Prefix = tuple[int, ...]
Use = Callable[[Prefix, slice, "Array"], None]  # a region, where some of its rows lie now, and their columns


class RegionRows(NamedTuple):
    """Rows of one region that lie side by side."""

    prefix: Prefix
    start: int
    stop: int


@dataclass(frozen=True)
class Arranged:
    """Memberships by region, a stretch of rows at a time.

    Attributes:
        depth: How many of the highest classes a region is made of.
        columns: The memberships, (classes, rows).
        places: Where the rows stood.
        parts: The regions in each stretch, in their order.
        order: The highest classes of each row, as the rows stood.
    """

    depth: int
    columns: Array = field(repr=False)
    places: Places = field(repr=False)
    parts: list[RegionRows] = field(repr=False)
    order: Places = field(repr=False)

    @classmethod
    def of(cls, memberships: Array, order: Places | None = None, depth: int = 1) -> Arranged:
        """Bring rows together whose highest classes are the same; which these are is found on the way, if not told."""
        (rows, classes), told = memberships.shape, order is not None or depth > FEW
        if order is None:
            order = orders(memberships, depth) if told else np.empty((rows, depth), np.min_scalar_type(classes - 1))
        known, depth = order, order.shape[1]
        columns, places = np.empty((classes, rows)), np.empty(rows, dtype=np.intp)

        def work(start: int, stop: int) -> list[RegionRows]:
            found: list[RegionRows] = []
            for low, high in chunks(start, stop, (classes + 1) // 2, perm(classes, depth)):
                given, at = _by_class(memberships[low:high], None if told else known[low:high]), low
                for prefix, here in grouped(known[low:high], classes):
                    found.append(RegionRows(prefix, at, at + len(here)))
                    np.add(here, low, out=places[at : at + len(here)])
                    for column, into in zip(given, columns, strict=True):
                        column.take(here, out=into[at : at + len(here)], mode="clip")  # none lies outside
                    at += len(here)
            return found

        return cls(depth, columns, places, list(chain.from_iterable(over_rows(rows, work, classes))), known)

    def regions(self, depth: int) -> Iterator[RegionRows]:
        """The regions in each stretch by fewer of their classes: those that are parts of one lie side by side too."""
        for prefix, parts in groupby(self.parts, lambda part: part.prefix[:depth]):
            first, *others = parts
            yield RegionRows(prefix, first.start, (others or [first])[-1].stop)

    def each(self, use: Use) -> None:
        """Let somebody use memberships a few rows of one region at a time: what is used at once is not written down."""
        pieces = [RegionRows(prefix, *ends) for prefix, *part in self.parts for ends in chunks(*part)]

        def work(share: Sequence[RegionRows]) -> None:
            for prefix, start, stop in share:
                use(prefix, slice(start, stop), self.columns[:, start:stop])

        shared(pieces, work, self.columns.size // max(len(pieces), 1))


def _by_class(memberships: Array, order: Places | None) -> Array:
    """Memberships with those of a class side by side in memory, (classes, rows); write down the highest, if asked."""
    rows, classes = memberships.shape
    found = np.empty((classes, rows))
    for low, high in chunks(0, rows, classes):
        found[:, low:high] = memberships[low:high].T
        if order is not None:
            some = found[:, low:high]
            write_highest(some if order.shape[1] == 1 else some.copy(), order[low:high])
    return found


def grouped(order: Places, classes: int) -> Iterator[tuple[Prefix, Places]]:
    """The rows of each region, one region after the other."""
    code = order[:, 0]
    if order.shape[1] == 1 and classes <= FEW:
        for place in range(classes):
            if len(here := np.flatnonzero(code == place)):
                yield (place,), here
        return
    for level in range(1, order.shape[1]):
        code = code.astype(np.intp) * classes + order[:, level]
        # Numbered anew, so that numbers stay small however many classes and levels there are.
        code = (np.cumsum(np.bincount(code) > 0) - 1)[code]
    # Short numbers are sorted by counting.
    by_code = np.argsort(code.astype(np.min_scalar_type(int(code.max(initial=0)))), kind="stable")
    counts = np.bincount(code)
    for count, stop in zip(counts, np.cumsum(counts), strict=True):
        if count:
            here = by_code[stop - count : stop]
            yield tuple(order[here[0]].tolist()), here

"""Rows brought together by region, once for all that follows; and rows whose highest memberships are tied.

A tied row lies between regions: it goes to one of them, or the regions are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from math import perm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.threads import chunks, over_rows, shared
from .scaling import FEW, Blocks, orders, write_highest

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Marks, Places

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


# --- rows between regions --------------------------------------------------------------------------------------------


TIES = ("first", "random", "joined")
Tied = Mapping[Prefix, "Array"]  # by region, how many rows are tied between any two classes
Region = tuple["Places", "Places", Blocks]  # its rows, the classes that are left there, and those before


def tied_rows(memberships: Array, depth: int) -> Places:
    """The rows whose highest classes could come in more than one order."""
    highest = -np.sort(-memberships, axis=1)[:, : depth + 1]
    return np.flatnonzero((np.diff(highest, axis=1) == 0).any(axis=1))


def at_random(memberships: Array, depth: int, seed: int, *others: Array | Codes) -> Places:
    """The highest classes of each row, with ties broken at random.

    Random numbers are dealt out in the order of what is known of the rows, others included, and not in that in which
    they happen to stand: rows that are shuffled, or come in pieces, are as the whole. Of rows that are known to be the
    same it does not matter which gets which number.
    """
    found, tied = orders(memberships, depth), tied_rows(memberships, depth)
    if not len(tied):
        return found
    tied = tied[np.lexsort([column[tied] for column in (*others, *memberships.T)])]
    classes = np.tile(np.arange(memberships.shape[1]), (len(tied), 1))
    shuffled = np.random.default_rng(seed).permuted(classes, axis=1)
    ordered = orders(np.take_along_axis(memberships[tied], shuffled, axis=1), depth)
    found[tied] = np.take_along_axis(shuffled, ordered.astype(np.intp), axis=1)
    return found


def by_own_lot(memberships: Array, depth: int, seed: int) -> Places:
    """The highest classes of each row, ties broken by the seed and the row's own memberships, whatever the others are.

    These rows were not there when others drew lots: each must be scaled alike alone and among any others.
    """
    found, tied = orders(memberships, depth), tied_rows(memberships, depth)
    if len(tied):
        alike, which = np.unique(memberships[tied], axis=0, return_inverse=True)
        bits = alike.view(np.uint32).reshape(len(alike), -1)
        shuffled = np.stack([np.random.default_rng([seed, *own]).permutation(alike.shape[1]) for own in bits.tolist()])
        ordered = orders(np.take_along_axis(alike, shuffled, axis=1), depth)
        found[tied] = np.take_along_axis(shuffled, ordered.astype(np.intp), axis=1)[which.reshape(-1)]
    return found


def tied_in(joined_classes: Mapping[Prefix, Blocks], classes: int) -> dict[Prefix, Array]:
    """The classes that rows were tied between, by region, as regions that ties have joined show it."""
    found: dict[Prefix, Array] = {}
    for name, blocks in joined_classes.items():
        known = {place for block in blocks[: len(name) - 1] for place in block}
        block = blocks[-1] if len(blocks) == len(name) else [place for place in range(classes) if place not in known]
        found.setdefault(name[:-1], np.zeros((classes, classes)))[np.ix_(block, block)] = 1.0
    return found


def joined(memberships: Array, depth: int, tied: Tied | None = None) -> tuple[Places, dict[Prefix, Blocks]]:
    """The highest classes of each row, those that any row is tied between together; and which these are, by region.

    Such classes are named by their first. In what they leave, the next are found likewise. The last classes of all are
    told by the others, and are no part of a region. Where these rows are a few of many, ``tied`` tells of all of them.
    """
    rows, classes = memberships.shape
    order = np.zeros((rows, depth), dtype=np.min_scalar_type(classes - 1))
    found: dict[Prefix, Blocks] = {}
    regions = _everywhere(memberships)
    for level in range(depth):
        regions = _within(memberships, regions, tied)
        for name, (here, _, blocks) in regions.items():
            order[here, level] = name[-1]
            found[name] = blocks
    return order, found


def ties_at(memberships: Array, level: int, tied: Tied) -> dict[Prefix, Array]:
    """How many rows are tied between any two classes, in each region of so many levels in which any are.

    ``tied`` says it of the levels before, of all rows.
    """
    regions, classes = _everywhere(memberships), memberships.shape[1]
    for _ in range(level):
        regions = _within(memberships, regions, tied)
    found = {}
    for prefix, (here, left, _) in regions.items():
        pairs = np.zeros((classes, classes))
        pairs[np.ix_(left, left)] = _tied_pairs(memberships[np.ix_(here, left)])
        if pairs.any():
            found[prefix] = pairs
    return found


def _everywhere(memberships: Array) -> dict[Prefix, Region]:
    """All rows, with all classes left."""
    rows, classes = memberships.shape
    return {(): (np.arange(rows), np.arange(classes), ())}


def _within(memberships: Array, regions: Mapping[Prefix, Region], tied: Tied | None) -> dict[Prefix, Region]:
    """The regions of one level more."""
    found: dict[Prefix, Region] = {}
    for prefix, (here, left, blocks) in regions.items():
        some = memberships[np.ix_(here, left)]
        pairs = _tied_pairs(some) if tied is None else _among(tied, prefix, left)
        for block, own in _together(some, pairs):
            name = (*prefix, int(left[block[0]]) if len(left) else prefix[-1])
            rest = np.delete(left, block)
            found[name] = here[own], rest, blocks + ((tuple(left[block].tolist()),) if len(rest) else ())
    return found


def _among(tied: Tied, prefix: Prefix, left: Places) -> Array:
    return tied[prefix][np.ix_(left, left)] if prefix in tied else np.zeros((len(left), len(left)))


def _highest(memberships: Array) -> Marks:
    return np.asarray(memberships == memberships.max(axis=1, keepdims=True, initial=0.0))


def _tied_pairs(memberships: Array) -> Array:
    """How many rows are highest in both of any two classes, among those that are so in several."""
    highest = _highest(memberships)
    tied = highest[highest.sum(axis=1) > 1].astype(np.float64)
    return np.asarray(tied.T @ tied)


def _together(memberships: Array, pairs: Array) -> list[tuple[Places, Places]]:
    """Classes that rows are tied between, by their places, and the rows that are highest in one of them."""
    rows, classes = memberships.shape
    if not classes:
        return [(np.empty(0, dtype=np.intp), np.arange(rows))]
    highest, left = _highest(memberships), np.ones(rows, dtype=bool)
    reached = (pairs + np.eye(classes)) > 0
    for _ in range(classes.bit_length()):  # each time twice as far
        reached = reached @ reached
    found: list[tuple[Places, Places]] = []
    for block in np.unique(reached, axis=0)[::-1]:
        # A tie that none of the rows had that pairs are of belongs to the first class.
        if len(own := np.flatnonzero(left & highest[:, block].any(axis=1))):
            left[own] = False
            found.append((np.flatnonzero(block), own))
    return found

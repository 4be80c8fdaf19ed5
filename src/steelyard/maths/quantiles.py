"""Bins with about as many rows each, found without sorting where there are many rows."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ..core.threads import chunks, over_rows

if TYPE_CHECKING:
    from ..core.typing import Array, Numbers, Places

CELLS = 1 << 12  # of a first count, to find quantiles without sorting
WORTH_COUNTING = 1 << 18  # rows: below this, sorting is as fast
ROUNDING = 1e-12  # of a sum of weights: in another unit, the same rows must be in the same bins


def quantiles(values: Numbers, bins: int, count: Array | None = None) -> Array:
    """Where bins begin that have about as many rows each, but for the first; equal values are never parted.

    Of values that are few, each has its own bin. ``count`` says how often each value occurs, or what it weighs, where
    that is not once.
    """
    few = _few_values(values, bins)
    if few is not None:
        return few[1:]
    if count is not None:
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(count[order])
        wanted = (1 + ROUNDING) * reached[-1] * np.arange(1, bins) / bins
        ranks = np.searchsorted(reached, wanted, side="right")
        found = values[order[np.minimum(ranks, len(values) - 1)]]
    else:
        ranks = np.unique(len(values) * np.arange(1, bins) // bins)
        small = len(values) < WORTH_COUNTING
        found = np.partition(values, ranks)[ranks] if small else _selected(values, ranks)
    edges = np.unique(np.asarray(found, dtype=np.float64))
    return np.asarray(edges[edges > values.min()])


def _few_values(values: Numbers, most: int) -> Array | None:
    """All distinct values where there are no more than so many."""
    if len(np.unique(values[: 64 * most])) > most:
        return None
    distinct = np.unique(values)
    return np.asarray(distinct, dtype=np.float64) if len(distinct) <= most else None


def _selected(values: Numbers, ranks: Places) -> Numbers:
    """The values of some ranks, without sorting: most values are left out once they are counted in cells."""
    cells = np.empty(len(values), np.int16)

    def work(start: int, stop: int) -> Places:
        counts: Places = np.zeros(CELLS + 1, np.int64)
        for low, high in chunks(start, stop):
            cells[low:high] = values[low:high] * CELLS
            counts += np.bincount(cells[low:high], minlength=CELLS + 1)
        return counts

    before = np.concatenate([[0], np.cumsum(reduce(np.add, over_rows(len(values), work)))])
    wanted = np.searchsorted(before, ranks, side="right") - 1
    found = np.empty(len(ranks))
    marked = np.zeros(CELLS + 1, bool)
    marked[wanted] = True
    kept = np.flatnonzero(marked[cells])
    inside, here = values[kept], cells[kept]
    for cell in np.unique(wanted):
        members = inside[here == cell]
        places = ranks[wanted == cell] - before[cell]
        found[wanted == cell] = np.partition(members, places)[places]
    return found

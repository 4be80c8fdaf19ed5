"""Rows whose highest memberships are tied, and so lie between regions: to which they go, or what they join."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .scaling import Blocks, orders

if TYPE_CHECKING:
    from .kinds import Array, Codes, Marks, Places

TIES = ("first", "random", "joined")


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


def joined(memberships: Array, depth: int) -> tuple[Places, dict[tuple[int, ...], Blocks]]:
    """The highest classes of each row, those that any row is tied between together; and which these are, by region.

    Such classes are named by their first. In what they leave, the next are found likewise. The last classes of all are
    told by the others, and are no part of a region.
    """
    rows, classes = memberships.shape
    order = np.zeros((rows, depth), dtype=np.min_scalar_type(classes - 1))
    found: dict[tuple[int, ...], Blocks] = {}
    regions: dict[tuple[int, ...], tuple[Places, Places]] = {(): (np.arange(rows), np.arange(classes))}
    for level in range(depth):
        within: dict[tuple[int, ...], tuple[Places, Places]] = {}
        for prefix, (here, left) in regions.items():
            for block, own in _together(memberships[np.ix_(here, left)]):
                name = (*prefix, int(left[block[0]]) if len(left) else prefix[-1])
                rest = np.delete(left, block)
                order[here[own], level] = name[-1]
                found[name] = found.get(prefix, ()) + ((tuple(left[block].tolist()),) if len(rest) else ())
                within[name] = here[own], rest
        regions = within
    return order, found


def _together(memberships: Array) -> list[tuple[Places, Places]]:
    """Classes that rows are tied between, by their places, and the rows that are highest in one of them."""
    rows, classes = memberships.shape
    if not classes:
        return [(np.empty(0, dtype=np.intp), np.arange(rows))]
    highest: Marks = memberships == memberships.max(axis=1, keepdims=True)
    tied = highest[highest.sum(axis=1) > 1].astype(np.float64)
    reached = (tied.T @ tied + np.eye(classes)) > 0
    for _ in range(classes.bit_length()):  # each time twice as far
        reached = reached @ reached
    found: list[tuple[Places, Places]] = []
    for block in np.unique(reached, axis=0)[::-1]:
        if len(own := np.flatnonzero(highest[:, block].any(axis=1))):
            found.append((np.flatnonzero(block), own))
    return found

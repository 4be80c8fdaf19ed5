"""Which values there are, and which of them are one and the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .typing import Array, Places

ROUNDING = 1e-12  # of the largest number: what differs by less was the same before it was added up


def distinct(values: Places) -> Places:
    """Whole numbers that occur, each once, from the lowest up.

    As ``np.unique`` has them, which looks for each in a table of hashes first: of a million, that took forty times as
    long as sorting them.
    """
    found = np.sort(values)
    new = np.ones(len(found), dtype=bool)
    np.not_equal(found[1:], found[:-1], out=new[1:])
    return np.asarray(found[new])


def evened(values: Array) -> Array:
    """Numbers of which those that differ by rounding alone are made equal, along the last axis.

    Rows of weight 0.2 add up to one sum or another in the last bits, by the order in which they come; who is first must
    not hang on that.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    rising = np.take_along_axis(values, order, axis=-1)
    largest = np.abs(np.where(np.isfinite(rising), rising, 0.0)).max(axis=-1, keepdims=True, initial=0.0)
    first = np.zeros(values.shape, dtype=np.int64)  # the place of the lowest of those that are equal
    with np.errstate(invalid="ignore"):
        apart = ~(np.diff(rising, axis=-1) <= ROUNDING * largest)
    first[..., 1:] = np.where(apart, np.arange(1, values.shape[-1]), 0)
    found = np.empty(values.shape)
    np.put_along_axis(found, order, np.take_along_axis(rising, np.maximum.accumulate(first, axis=-1), axis=-1), axis=-1)
    return found


def apart(first: Array, second: Array) -> Array:
    """By how much numbers differ; 0 where that is rounding alone."""
    found = first - second
    small = np.abs(found) <= ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(small & np.isfinite(found), 0.0, found)

"""Small tools on arrays: copies that nobody else can change and their checksums, distinct values, folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .threads import chunks, over_rows

if TYPE_CHECKING:
    from .typing import AnyArray, Array, Numbers, Places

BLOCK = 1 << 18  # rows of which a sum is made at a time: of columns that must be copied, no more are
ODD = np.uint32(0x9E3779B1)
FACTORS = np.arange(1, 1 << 14, 2, dtype=np.uint32) * ODD  # odd ones lose no bit of what they are multiplied with
LINES = 2 * BLOCK // len(FACTORS) + 1  # that a block has at most, the last of them not a whole one
BESIDE = 0xD1342543DE82EF95  # from a line to the next; any odd number that is not made of the other
POWERS = np.array([pow(BESIDE, line, 2**64) for line in range(LINES)], np.uint64)
ROUNDING = 1e-12  # of the largest number: what differs by less was the same before it was added up


def own(columns: Sequence[Numbers]) -> tuple[Numbers, ...]:
    """Columns of plain numbers that nobody else can change, each in one piece.

    Columns of one matrix are copied together, a few rows at a time, so that the matrix is read once.
    """
    if all(map(_is_own, columns)):
        return tuple(columns)
    kind = np.result_type(np.float16, *columns)  # a threshold of 0.7 is reached by 0.7 of single precision
    kind = kind if kind.itemsize < 8 else np.dtype(np.float64)
    copies, whole = np.empty((len(columns), len(columns[0])), kind), end_to_end(columns)

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop, len(columns)):
            if len(whole) < len(columns):  # one matrix, turned over in one go
                copies[:, low:high] = whole[0].reshape(-1, len(columns))[low:high].T
            else:
                for copy, column in zip(copies, columns, strict=True):
                    copy[low:high] = column[low:high]

    over_rows(len(columns[0]), work, len(columns))
    copies.setflags(write=False)
    return tuple(copies)


def pieces(columns: Sequence[Numbers], low: int, high: int) -> list[Numbers]:
    """Some rows of columns, each in one piece of plain numbers; where they are copied, one below the other."""
    some = [column[low:high] for column in columns]
    if len(some) < 2 or all(column.dtype == np.float64 and column.flags.c_contiguous for column in some):
        return [np.ascontiguousarray(column, dtype=np.float64) for column in some]
    found = np.empty((len(some), len(some[0])))
    for copy, column in zip(found, some, strict=True):
        copy[:] = column
    return list(found)


def checksum(columns: Sequence[Numbers]) -> int:
    """A number that changes when any value does, or its place."""
    columns = end_to_end(columns)

    def work(start: int, stop: int) -> int:
        found = 0
        for block in range(start, stop):
            for place, piece in enumerate(pieces(columns, block * BLOCK, (block + 1) * BLOCK)):
                lines_before = (block * len(columns) + place) * LINES
                found += pow(BESIDE, lines_before, 2**64) * _of_block(piece.view(np.uint32))
        return found

    # Always in the same blocks, however many threads there are.
    return sum(over_rows(-(-len(columns[0]) // BLOCK), work, BLOCK * len(columns))) % 2**64


def _of_block(words: Places) -> int:
    """The checksum of one block of a column, of half a number a word: these are multiplied several at a time."""
    lines, rest = divmod(len(words), len(FACTORS))
    whole, beyond = words[: len(words) - rest].reshape(lines, len(FACTORS)), words[len(words) - rest :]
    found = np.einsum("i,i", np.einsum("ij,j->i", whole, FACTORS).astype(np.uint64), POWERS[:lines])
    return int(found) + int(np.einsum("i,i", beyond, FACTORS[:rest])) * int(POWERS[lines])


def end_to_end(columns: Sequence[Numbers]) -> Sequence[Numbers]:
    """The columns of a matrix as one, row after row, without a copy; others as they are."""
    if len(columns) == 1:
        return columns
    first, size = columns[0], np.dtype(np.float64).itemsize
    starts = [_address(column) - _address(first) for column in columns]
    alike = {(column.dtype, column.strides) for column in columns} == {(np.dtype(np.float64), (len(columns) * size,))}
    if not alike or starts != list(range(0, len(columns) * size, size)):
        return columns
    return [np.lib.stride_tricks.as_strided(first, (len(columns) * len(first),), (size,), writeable=False)]


def stacked(columns: Sequence[Numbers]) -> Array:
    """Columns on top of each other; without a copy where they are stretches of all rows of a matrix, as these come."""
    matrix, rows = columns[0].base, len(columns)
    if isinstance(matrix, np.ndarray) and matrix.dtype == np.float64 and matrix.ndim == 2 and len(matrix) == rows:
        start, (apart, step) = _address(matrix), matrix.strides
        alike = all(column.base is matrix and column.strides == (step,) for column in columns)
        places = [_address(column) - start for column in columns]
        first, left = divmod(places[0], step) if step else (0, 1)
        if alike and not left and places == [places[0] + apart * row for row in range(rows)]:
            return matrix[:, first : first + len(columns[0])]
    return np.stack(columns, dtype=np.float64)


def frozen(column: AnyArray) -> bool:
    """Whether nobody can write into a column, nor into what it is a view of.

    Memory of another make is somebody else's: Arrow hands on that of pandas as if nobody could write into it.
    """
    held: Any = column
    while isinstance(held, np.ndarray):
        if held.flags.writeable:
            return False
        held = held.base
    return held is None


def _address(array: AnyArray) -> int:
    return int(array.__array_interface__["data"][0])


def _is_own(column: Numbers) -> bool:
    plain = column.dtype == np.float64 and column.dtype.isnative
    return bool(plain and column.flags.c_contiguous and frozen(column))


# --- distinct values ------------------------------------------------------------------------------------------


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


# --- folds ----------------------------------------------------------------------------------------------------


def groups_apart(groups: Places) -> list[Places]:
    """The rows of every group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order])) + 1
    return list(np.split(order, starts))


def deal(rows: int, number: int, groups: Places | None, seed: int) -> list[Places]:
    """The rows of every fold, dealt as ``fold_of`` says."""
    return groups_apart(fold_of(rows, number, groups, seed))


def fold_of(rows: int, number: int, groups: Places | None, seed: int) -> Places:
    """The fold of each row: at random, about equally large, and groups stay together."""
    random = np.random.default_rng(seed)
    if groups is None:
        return np.asarray(random.permutation(rows) % number)
    apart = groups_apart(groups)
    sizes, filled = np.array([len(each) for each in apart]), np.zeros(number, dtype=np.int64)
    fold = np.empty(rows, dtype=np.int64)
    shuffled = random.permutation(len(apart))
    for place in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        emptiest = int(np.argmin(filled))
        fold[apart[place]] = emptiest
        filled[emptiest] += sizes[place]
    return fold

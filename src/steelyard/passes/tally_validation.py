"""What a tally is made of, and whether one that was read from a file can have been made of rows.

What stands in a file twice must agree. Before anything is made of it, its Arrow messages are looked at: they hold plain
numbers, as they are, and no more of them than the file has bytes for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..core.scale import Continuum, Label, Scale, of_one_kind, plain_label
from ..data.digests import Source
from ..families.summed.storing import refuse
from ..inputs.dataset import LARGEST_SQUARES
from ..inputs.measured import Knowledge, Measured
from ..inputs.remarks import Remarks
from ..states.held_rows import Rows
from ..states.statistics import CONFUSION, PatternCounts, rows_in

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Places
    from ..families.summed.recipe import Recipe
    from ..families.summed.summary import Summaries

ROUNDING = 1e-6  # sums of weights that were added in another order, or taken out again, differ in their last digits


@dataclass(frozen=True, eq=False)
class Contents:
    """The fields of a tally; the docstring of ``Tally`` describes each of them."""

    scale: Scale
    models: tuple[str, ...]
    sums: PatternCounts
    slices: tuple[Label, ...] = ()
    groups: tuple[Label, ...] = ()
    dropped: int = 0
    scores: Rows | None = None
    reading: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()
    recipe: Recipe | None = None
    summaries: Summaries | None = None
    arrangement: tuple[Label, ...] = ()
    scored: bool = False
    published: bool = False
    where: str | None = None
    made_before: bool = False
    remarks: Remarks = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    veiled: bool = False

    @property
    def rows(self) -> float:
        """How many rows were summed (weights that count repetitions are counted as such)."""
        return rows_in(self.sums.values[:, 0])

    @property
    def tells_rows(self) -> bool:
        """Whether more than counts is known of rows."""
        return self.scores is not None or self.summaries is not None


SCHEMA, RECORDS = 1, 3  # kinds of Arrow messages


def check_sizes(body: bytes) -> None:
    """Refuse Arrow messages that hold more than there are bytes for: compressed ones, and columns of nothing."""
    place, view = 0, memoryview(body)
    while place < len(view):
        mark, size = struct.unpack_from("<ii", view, place)
        refuse(mark == -1 and size >= 0)
        place += 8
        if size:
            message = Fields(view[place : place + size], 0)
            length = message.number(3, "<q")
            place += size + length
            refuse(length >= 0 and place <= len(view))
            kind, header = message.number(1, "<B"), message.table(2)
            refuse(kind in (SCHEMA, RECORDS) and header is not None)
            if kind == RECORDS and header is not None:
                _check_record_sizes(header, length)


def _check_record_sizes(records: Fields, length: int) -> None:
    """Refuse compressed buffers, gaps, and rows without a byte each."""
    rows, columns, buffers = records.number(0, "<q"), records.pairs(1), records.pairs(2)
    refuse(not records.has(3) and not records.has(4) and len(buffers) == 2 * len(columns))
    refuse(all(pair == (rows, 0) for pair in columns) and 0 <= rows <= length)
    refuse(all(start >= 0 and size >= 0 and start + size <= length for start, size in buffers))
    refuse(all(size >= rows for _, size in buffers[1::2]) and sum(size for _, size in buffers) <= length)


class Fields:
    """The fields of a table of FlatBuffers, by their numbers."""

    def __init__(self, view: memoryview, place: int) -> None:
        """Find the fields of the table that the bytes at a place lead to."""
        self.view = view
        self.start = place + self._at("<I", place)
        self.known = self.start - self._at("<i", self.start)
        self.size = self._at("<H", self.known)

    def _at(self, form: str, place: int) -> int:
        refuse(place >= 0)
        return int(struct.unpack_from(form, self.view, place)[0])

    def _place(self, field: int) -> int:
        """Where a field stands; 0 where it is not there."""
        entry = 4 + 2 * field
        found = self._at("<H", self.known + entry) if entry + 2 <= self.size else 0
        return self.start + found if found else 0

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self._place(field) > 0

    def number(self, field: int, form: str) -> int:
        """A number; 0 where it is not there."""
        place = self._place(field)
        return self._at(form, place) if place else 0

    def table(self, field: int) -> Fields | None:
        """A table within this one."""
        place = self._place(field)
        return Fields(self.view, place) if place else None

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """A list of pairs of long numbers."""
        place = self._place(field)
        if not place:
            return []
        start = place + self._at("<I", place)
        count = self._at("<I", start)
        refuse(start + 4 + 16 * count <= len(self.view))
        return [struct.unpack_from("<qq", self.view, start + 4 + 16 * each) for each in range(count)]


def check_sound(tally: Contents) -> None:
    """Refuse what no rows can have left."""
    refuse(all(isinstance(name, str) for name in tally.models) and len(set(tally.models)) == len(tally.models) > 0)
    for labels in (tally.slices, tally.groups, tally.arrangement):
        refuse(of_one_kind(map(plain_label, labels)) == labels and len(set(labels)) == len(labels))
    values = tally.sums.values
    refuse((np.abs(values) < [LARGEST_SQUARES**0.5, LARGEST_SQUARES**0.5, LARGEST_SQUARES]).all())
    for column, labels in ((0, tally.slices), (1, tally.groups)):
        refuse(len(np.unique(tally.sums.keys[:, column])) == len(labels) or not labels)
    classes = len(tally.scale)
    counted = CellSums.of(tally.sums.keys[:, 0] * classes + tally.sums.keys[:, 2], values)
    if tally.tells_rows:
        refuse(counted.agree(_kept(tally, classes)))
    _check_kind(tally)


@dataclass(frozen=True)
class CellSums:
    """How many rows cells of a part and a class have, what they weigh, and their squared weights.

    Only cells that have rows are kept: a few lines may say that there are very many parts and classes.
    """

    places: Places
    sums: Array

    @classmethod
    def of(cls, places: AnyArray, values: Array) -> CellSums:
        """Sum up rows by the places of their cells."""
        found, inverse = np.unique(places.astype(np.int64), return_inverse=True)
        return cls(found, np.stack([np.bincount(inverse, column, len(found)) for column in values.T], axis=1))

    def agree(self, other: CellSums) -> bool:
        """Whether both have the same sums, but for rounding."""
        joined = np.concatenate([self.places, other.places])
        gaps = CellSums.of(joined, np.concatenate([self.sums, -other.sums])).sums
        sizes = CellSums.of(joined, np.concatenate([np.abs(self.sums), np.abs(other.sums)])).sums
        most = np.abs(self.sums).max(initial=0.0)
        return bool((np.abs(gaps) <= ROUNDING * (sizes + most)).all())


def _kept(tally: Contents, classes: int) -> CellSums:
    """The same by what else was kept of the rows of each part."""
    rows = tally.scores
    if rows is not None:
        truth = rows.truth.astype(np.int64)
        return CellSums.of(truth if rows.slice is None else rows.slice.astype(np.int64) * classes + truth, rows.filled)
    # Where all rows were taken out again, no part is left.
    labels: tuple[Label | None, ...] = tally.slices or ((None,) if len(tally.sums.keys) else ())
    summaries = tally.summaries
    found = [summaries.parts[label].by_class.T for label in labels] if summaries is not None else []
    sums = np.concatenate([np.zeros((0, 3)), *found])
    here = sums.any(axis=1)
    return CellSums.of(np.flatnonzero(here), sums[here])


def _check_kind(tally: Contents) -> None:
    """What is said of the rows must be what they have."""
    rows, recipe = tally.scores, tally.recipe
    measured = None if rows is None else rows.measured
    if rows is not None and len(rows):
        refuse((rows.slice is None, rows.cluster is None) == (not tally.slices, not tally.groups))
    if measured is not None:
        refuse(isinstance(tally.scale, Continuum))
        check_measured(measured)
    if recipe is not None:
        refuse(all(measure.statistic is not CONFUSION for measure in recipe.measures))
        refuse(rows is None or tuple(rows.shape) == recipe.shape)


def check_measured(measured: Measured) -> None:
    """Refuse measured values, and what is known of them, that no check would let pass."""
    pair = measured.expected, measured.spread
    refuse((pair[0] is None) == (pair[1] is None))
    Knowledge(measured.sd, measured.blur, None if pair[0] is None else pair).of(measured.value, {})
    for error, known in zip(measured.errors, (measured.sd, measured.blur), strict=True):
        refuse(0 <= error < np.inf and (known is not None or not error))

"""A few of very many rows, chosen by what is said of them: the same ones whoever looks, and in whatever order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import ODD
from ..core.threads import chunks
from .held_rows import Rows

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Places

SIZE = 1 << 12
MANY = 1 << 14
COLUMNS = 2  # as many numbers of a row are at hand at a time


@dataclass(frozen=True)
class Sample:
    """The rows with the least marks, and these marks: whole numbers made of the bits of a score or measured value."""

    marks: Places
    rows: Rows

    @classmethod
    def of(cls, rows: Rows, below: np.uint64 | None = None) -> Sample:
        """Choose from some rows; of those not below a mark, none."""
        number, found = _number(rows), []
        if below is None and len(rows) > MANY:
            # By chance twice as many as are wanted are below this; where chance has no part in it, all rows are seen.
            likely = cls.of(rows, np.uint64(2 * SIZE * 2**64 // len(rows)))
            if len(likely.marks) == SIZE:
                return likely
        for low, high in chunks(0, len(rows), COLUMNS) or [(0, 0)]:
            # Multiplied by a large odd number, all bits of another have a say in the first ones.
            marks: Places = np.asarray(number[low:high], dtype=np.float64).view(np.uint64) * ODD
            here = np.arange(len(marks)) if below is None else np.flatnonzero(marks < below)
            found.append((marks[here], here + low))
        marks, chosen = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return cls(marks, _bare(rows.select(chosen))).cut()

    def cut(self) -> Sample:
        """No more than so many."""
        if len(self.marks) <= SIZE:
            return self
        last = np.partition(self.marks, SIZE - 1)[SIZE - 1]
        chosen = self.marks < last
        chosen[np.flatnonzero(self.marks == last)[: SIZE - np.count_nonzero(chosen)]] = True
        return Sample(self.marks[chosen], self.rows.select(chosen))

    def __add__(self, other: Sample) -> Sample:
        """Choose from the rows of both."""
        return self.beside(other).cut()

    def beside(self, other: Sample) -> Sample:
        """The rows of both, from which to choose."""
        if not len(self.marks) or not len(other.marks):
            return self if len(self.marks) else other
        return Sample(np.concatenate([self.marks, other.marks]), self.rows + other.rows)

    def __neg__(self) -> Sample:
        """What is taken out leaves the others as they are."""
        return Sample(self.marks[:0], self.rows.select(np.zeros(len(self.rows), dtype=bool)))


class Sampling:
    """Chooses rows on the way through them."""

    def __init__(self) -> None:
        """Start with no rows."""
        self.found: Sample | None = None
        self.below: np.uint64 | None = None

    def add(self, rows: Rows) -> None:
        """Choose from some rows; not before there are many to choose from."""
        some = Sample.of(rows, self.below)
        self.found = some if self.found is None else self.found.beside(some)
        if len(self.found.marks) >= (SIZE if self.below is None else 2 * SIZE):
            self.found = self.found.cut()
            self.below = np.uint64(self.found.marks.max())

    def state(self) -> Sample | None:
        """The rows that were chosen."""
        return None if self.found is None else self.found.cut()


def _number(rows: Rows) -> AnyArray:
    columns = [column for said in rows.scores for column in said.columns]
    if columns or rows.measured is None:
        return np.asarray(columns[0] if columns else rows.truth)
    return rows.measured.value


def _bare(rows: Rows) -> Rows:
    """Without parts and clusters, whose numbers hold only for the batch."""
    return replace(rows, slice=None, cluster=None)

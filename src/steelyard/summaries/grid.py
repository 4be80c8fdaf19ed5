"""How many rows of a class and of the rest have a score in each cell of a ruler: all that a ranking of them needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import UnlikeTallies
from ..parallel import LEAST_CHUNK
from ..prediction import Scores
from ..rows import Rows
from .ruler import Ruler

if TYPE_CHECKING:
    from ..kinds import AnyArray, Array, Codes, Marks, Numbers, Places

STEP = 4 * LEAST_CHUNK  # rows: cells of so many scores are found within the cache
EMPTY, ALIKE, MIXED = 0, 1, 2


@dataclass(frozen=True)
class Grid:
    """The cells in which there are rows.

    Attributes:
        ruler: Where cells begin and end.
        cells: Their numbers, rising.
        sums: How many rows of each side a cell has; with weights also what they weigh and their squared weights:
            (cells, sides, 1 or 3).
        score: A score that occurs in each cell.
        mixed: In which cells there are others too.
    """

    ruler: Ruler
    cells: Places
    sums: Array
    score: Array
    mixed: Marks

    def __add__(self, other: Grid) -> Grid:
        """Add cell by cell."""
        if self.ruler != other.ruler or self.sums.shape[1:] != other.sums.shape[1:]:
            raise UnlikeTallies("scores were counted on different grids", mend="Make both with the same options")
        cells = np.concatenate([self.cells, other.cells])
        order = np.argsort(cells, kind="stable")
        cells = cells[order]
        score = np.concatenate([self.score, other.score])[order]
        mixed: Marks = np.concatenate([self.mixed, other.mixed])[order]
        fresh = np.ones(len(cells), dtype=bool)
        fresh[1:] = cells[1:] != cells[:-1]
        mixed[:-1] |= ~fresh[1:] & (mixed[1:] | (score[1:] != score[:-1]))
        starts = np.flatnonzero(fresh)
        sums = np.concatenate([self.sums, other.sums])[order]
        sums = np.add.reduceat(sums, starts, axis=0) if len(starts) else sums
        here = (sums[..., 0] != 0).any(axis=1)  # what was taken out is gone
        starts = starts[here]
        return replace(self, cells=cells[starts], sums=sums[here], score=score[starts], mixed=mixed[starts])

    def __neg__(self) -> Grid:
        """Turn around, so that subtracting is adding."""
        return replace(self, sums=-self.sums)

    @property
    def thresholds(self) -> Array:
        """The score of each cell: the one in it, or the least that could be, from which on its rows are counted."""
        return np.where(self.mixed, self.ruler.low(self.cells), self.score)

    def rows(self, sides: Places, classes: int, speaks: int) -> Rows:
        """Rows that occur more than once: one for each side that has any in a cell. ``sides`` are their classes."""
        cell, side = np.nonzero(self.sums[..., 0])
        sums = np.broadcast_to(self.sums[cell, side], (len(cell), 3)) if self.sums.shape[2] == 1 else None
        filled = self.sums[cell, side] if sums is None else np.ascontiguousarray(sums)
        truth = sides[side].astype(np.min_scalar_type(classes))
        return Rows(truth, (Scores((self.thresholds[cell],), speaks),), sums=filled.astype(np.float64))

    def spread(self, of_rows: Array) -> Array:
        """What is said of the rows above, at every cell of the ruler and side, end to end, for looking it up."""
        sides = self.sums.shape[1]
        found = np.zeros(self.ruler.cells * sides)
        cell, side = np.nonzero(self.sums[..., 0])
        found[self.cells[cell] * sides + side] = of_rows
        return found


class Counter:
    """Counts rows into cells, batch after batch, all cells side by side.

    Memory that was never written to is none: of all cells, only those are held that have rows, or neighbours.
    """

    def __init__(self, ruler: Ruler, sides: int, weighed: bool) -> None:
        """Start with no rows."""
        self.ruler, self.sides = ruler, sides
        kind = np.float64 if weighed else np.int64
        self.sums: list[AnyArray] = [np.zeros(ruler.cells * sides, kind) for _ in range(3 if weighed else 1)]
        self.score = np.zeros(ruler.cells)
        self.state = np.zeros(ruler.cells, np.uint8)

    def add(self, scores: Numbers, side: Codes, sums: Array | None) -> None:
        """Count some rows."""
        for low in range(0, len(scores), STEP):
            some = slice(low, low + STEP)
            piece = np.asarray(scores[some], dtype=np.float64) + 0.0
            cells = self.ruler.place(piece)
            self._look(cells, piece)
            cells *= self.sides
            cells += side[some]
            if sums is None:
                for total in self.sums:
                    np.add.at(total, cells, 1)
            else:
                for total, column in zip(self.sums, sums[some].T, strict=True):
                    np.add.at(total, cells, column)

    def _look(self, cells: Places, scores: Array) -> None:
        """See which cells have more than one score; in most, that is soon known."""
        left = np.flatnonzero(self.state[cells] < MIXED)
        if not len(left):
            return
        cells, scores = cells[left], scores[left]
        new = self.state[cells] == EMPTY
        self.score[cells[new]] = scores[new]
        self.state[cells[new]] = ALIKE
        self.state[cells[self.score[cells] != scores]] = MIXED

    def grid(self) -> Grid:
        """The cells that have rows."""
        cells = np.flatnonzero(self.state)
        sums = [total.reshape(-1, self.sides)[cells] for total in self.sums]
        together = np.stack(sums, axis=2).astype(np.float64)
        return Grid(self.ruler, cells, together, self.score[cells], self.state[cells] == MIXED)

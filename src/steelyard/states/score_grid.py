"""How many rows of a class and of the rest have a score in each cell of a ruler: all that a ranking of them needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.threads import LEAST_CHUNK
from ..inputs.prediction import Scores
from ..maths.ruler import FinerRuler, Ruler
from .held_rows import Rows

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Numbers, Places

STEP = 8 * LEAST_CHUNK  # rows: cells of so many scores are found within the cache; of fewer, threads wait more
EMPTY, ALIKE, MIXED = 0, 1, 2


@dataclass(frozen=True)
class Grid:
    """The cells in which there are rows.

    Attributes:
        ruler: Where cells begin and end.
        cells: Their numbers, rising.
        sums: How many rows of each side a cell has, and what else was summed, such as their weights and squared
            weights: (cells, sides, columns).
        score: A score that occurs in each cell.
        mixed: In which cells there are others too.
    """

    ruler: Ruler | FinerRuler
    cells: Places
    sums: Array
    score: Array
    mixed: Marks

    def __add__(self, other: Grid) -> Grid:
        """Add cell by cell; where one was parted further than the other, by the cells that both have."""
        if self.ruler != other.ruler:
            return self._beside(other) + other._beside(self)
        pairs = [(getattr(self, name), getattr(other, name)) for name in ("cells", "sums", "score", "mixed")]
        cells, sums, score, mixed = (np.concatenate(pair) for pair in pairs)
        order = np.argsort(cells, kind="stable")
        return _joined(Grid(self.ruler, cells[order], sums[order], score[order], mixed[order]))

    def _beside(self, other: Grid) -> Grid:
        """The same counts in cells that another grid may have too: marks of a coarser ruler are those of a finer."""
        if isinstance(self.ruler, FinerRuler) or isinstance(other.ruler, FinerRuler):
            return self.coarser()
        coarse = Ruler(min(self.ruler.bits, other.ruler.bits))
        return _joined(replace(self, cells=coarse.place(self.ruler.low(self.cells)), ruler=coarse))

    def coarser(self) -> Grid:
        """The same counts where no cell is parted; as they are where none is."""
        if not isinstance(self.ruler, FinerRuler):
            return self
        return _joined(replace(self, cells=self.ruler.parent(self.cells), ruler=self.ruler.coarse))

    def __neg__(self) -> Grid:
        """Turn around, so that subtracting is adding."""
        return replace(self, sums=-self.sums)

    @property
    def thresholds(self) -> Array:
        """The score of each cell: the one in it, or the least that could be, from which on its rows are counted."""
        return np.where(self.mixed, self.ruler.low(self.cells), self.score)

    def within(self, scores: Array, turned: bool = False) -> Places:
        """The places of cells that scores lie within, whose rows may be on either side of them; -1 where there is none.

        A row is above a score that is no higher than its own; where the order is turned, below one that is no lower.
        """
        if not len(self.cells):
            return np.full(len(scores), -1)
        cell = self.ruler.place(scores)
        place = np.minimum(np.searchsorted(self.cells, cell), len(self.cells) - 1)
        inside = (self.cells[place] == cell) & self.mixed[place]
        if not turned:  # all rows of a cell are above its least score
            inside &= self.thresholds[place] < scores
        return np.where(inside, place, -1)

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


def _joined(grid: Grid) -> Grid:
    """Cells that are named more than once, one after the other, made one."""
    cells, mixed = grid.cells, grid.mixed
    if not len(cells):
        return grid
    fresh = np.ones(len(cells), dtype=bool)
    fresh[1:] = cells[1:] != cells[:-1]
    starts = np.flatnonzero(fresh)
    other = np.zeros(len(cells), dtype=bool)
    other[1:] = ~fresh[1:] & (grid.score[1:] != grid.score[:-1])
    mixed = np.logical_or.reduceat(mixed | other, starts)
    sums = np.add.reduceat(grid.sums, starts, axis=0)
    here = (sums[..., 0] != 0).any(axis=1)  # what was taken out is gone
    return Grid(grid.ruler, cells[starts][here], sums[here], grid.score[starts][here], mixed[here])


class Counter:
    """Counts rows into cells, batch after batch, all cells side by side.

    Memory that was never written to is none: of all cells, only those are held that have rows, or neighbours.
    """

    def __init__(self, ruler: Ruler | FinerRuler, sides: int, columns: int = 1, exact: bool = True) -> None:
        """Start with no rows; of each, so many columns are summed, or it is counted where there is but one.

        Where it need not be exact, cells do not tell whether all of their rows have the same score.
        """
        self.ruler, self.sides, self.exact = ruler, sides, exact
        kind = np.int64 if columns == 1 else np.float64
        self.sums: list[AnyArray] = [np.zeros(ruler.cells * sides, kind) for _ in range(columns)]
        self.score = np.zeros(ruler.cells)
        self.state = np.zeros(ruler.cells, np.uint8)

    def add(self, scores: Numbers, side: Codes, sums: Array | None) -> None:
        """Count some rows, or sum up their columns, (rows, columns)."""
        for low in range(0, len(scores), STEP):
            some = slice(low, low + STEP)
            piece = np.asarray(scores[some], dtype=np.float64)
            cells = self.ruler.place(piece)
            if self.exact:
                self._look(cells, piece)
            else:
                self.state[cells] = MIXED
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

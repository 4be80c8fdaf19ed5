"""Scores of rows that are not held, counted in the cells of rulers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...maths.ruler import BITS, OCTAVES, FinerRuler, Ruler
from ...states.held_rows import Rows
from ...states.score_grid import Counter, Grid
from ...states.statistics import RANKING
from .recipe import Column, Counting, Recipe

if TYPE_CHECKING:
    from ...core.typing import Codes, Places

Rulers = tuple[tuple[Ruler | FinerRuler, ...], ...]

FINE_COLUMNS = 4  # of scores: with more, each has a coarser ruler, so that all take about as much memory
COARSEST = 9
MOST_PARTED, MOST_CELLS = 1 << 18, 1 << 21
FINEST = 48  # bits
MOST_TIMES = 3  # that cells are parted further
LEFT = 0.01  # of what cells leave open: that much may stay


def sides_of(recipe: Recipe, model: int, column: int) -> Places:
    """The classes that the sides of a column stand for: the rest and the class, or every class by itself."""
    if any(measure.balanced for measure in recipe.made_of(RANKING)):
        return np.arange(len(recipe.scale))
    columns, speaks, _ = recipe.shape[model]
    own = speaks if columns == 1 else column
    return np.array([int(own == 0), own])  # any other class stands for the rest


def side(truth: Codes, sides: Places) -> Codes:
    """The side of each row."""
    return np.asarray(truth == sides[1]).view(np.uint8) if len(sides) == 2 else truth


def rulers_for(recipe: Recipe) -> Rulers:
    """As fine rulers as there is memory for."""
    columns = sum(size for size, *_ in recipe.shape)
    ruler = ruler_for(columns * len(sides_of(recipe, 0, 0)), recipe.bits)
    return tuple((ruler,) * size for size, *_ in recipe.shape)


def ruler_for(sums: int, bits: int = BITS) -> Ruler:
    """As fine a ruler as there is memory for, where so many sums are kept in every cell."""
    return Ruler(max(bits - max(int(np.ceil(np.log2(max(sums, 1) / 2 / FINE_COLUMNS))), 0), COARSEST))


def counting(recipe: Recipe, rulers: Rulers | None = None) -> Counting:
    """Count the scores of all classifiers; on other rulers where cells are parted further."""
    sides = [[sides_of(recipe, model, k) for k in range(size)] for model, (size, *_) in enumerate(recipe.shape)]
    counters = [
        [Counter(ruler, len(each), 3 if recipe.weighed else 1) for ruler, each in zip(*pair, strict=True)]
        for pair in zip(rulers or rulers_for(recipe), sides, strict=True)
    ]

    def columns(rows: Rows) -> Iterator[Iterable[Column]]:
        for said, of_model in zip(rows.scores, sides, strict=True):
            pairs = zip(said.columns, of_model, strict=True)
            yield ((column, side(rows.truth, each), rows.sums) for column, each in pairs)

    return Counting(counters, columns)


def cells_of(recipe: Recipe, grids: Sequence[Grid], model: int, column: int) -> Rows:
    """The rows of a column, as many as there are cells and sides."""
    speaks = recipe.shape[model][1] if len(grids) == 1 else column
    return grids[column].rows(sides_of(recipe, model, column), len(recipe.scale), speaks)


def finer_ruler(grid: Grid, heavy: Places) -> FinerRuler | None:
    """Part some cells, as finely as there is memory for; None where none can be parted, or it was done often enough."""
    ruler, heavy = grid.ruler, heavy[:MOST_PARTED]
    if ruler.parted_times >= MOST_TIMES:
        return None
    fine = ruler if isinstance(ruler, Ruler) else ruler.fine
    low = ruler.low(grid.cells[heavy])
    heavy = heavy[(np.abs(low) < 2.0**OCTAVES) & ((np.abs(low) > 2.0**-OCTAVES) & (np.abs(1 - low) > 2.0**-OCTAVES))]
    parted = np.sort(grid.cells[heavy])
    for bits in range(FINEST, fine.bits, -1):
        # Cells that were not parted before have more to be parted into.
        ends = [Ruler(bits).place(ruler.low(cells)) for cells in (parted, parted + 1)]
        if len(parted) and (ends[1] - ends[0]).sum() <= MOST_CELLS:
            return FinerRuler(ruler, parted, Ruler(bits))
    return None


def mixing(grid: Grid) -> Places:
    """The places of the cells in which most pairs are not told apart, from the one with the most."""
    mass = grid.sums[..., min(1, grid.sums.shape[2] - 1)]
    pairs = (np.square(mass.sum(axis=1)) - np.square(mass).sum(axis=1)) * grid.mixed
    heavy = np.argsort(-pairs, kind="stable")[: np.count_nonzero(pairs > 0)]
    return heavy[: int(np.searchsorted(np.cumsum(pairs[heavy]), (1 - LEFT) * pairs.sum())) + 1]

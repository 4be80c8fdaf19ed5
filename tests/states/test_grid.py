"""Scores counted in cells: the same counts however rows are dealt out, and no score lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.maths.ruler import FinerRuler, Ruler
from steelyard.states.score_grid import Counter, Grid

rows = st.lists(
    st.tuples(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(-1e9, 1e9)), st.booleans()),
    min_size=1,
    max_size=60,
)


def counted(some: list[tuple[float, bool]], ruler: Ruler | FinerRuler, weights: np.ndarray | None = None) -> Grid:
    """Count rows."""
    counter = Counter(ruler, 2, 1 if weights is None else 3)
    scores, side = np.array([score for score, _ in some]), np.array([own for _, own in some], dtype=np.uint8)
    counter.add(
        scores, side, None if weights is None else np.stack([np.ones_like(weights), weights, weights**2], axis=1)
    )
    return counter.grid()


def same(one: Grid, other: Grid) -> bool:
    """Whether two grids say the same; which score stands for a mixed cell does not matter."""
    return (
        np.array_equal(one.cells, other.cells)
        and np.allclose(one.sums, other.sums, rtol=1e-12)
        and np.array_equal(one.mixed, other.mixed)
        and np.array_equal(one.score[~one.mixed], other.score[~other.mixed])
    )


@given(rows, st.integers(0, 60), st.integers(0, 60))
def test_parts_add_up_in_any_order(some: list[tuple[float, bool]], first: int, second: int) -> None:
    ruler, (low, high) = Ruler(7), sorted((first, second))
    parts = [counted(part, ruler) for part in (some[:low], some[low:high], some[high:]) if part]
    total = counted(some, ruler)
    forwards, backwards = parts[0], parts[-1]
    for part in parts[1:]:
        forwards = forwards + part
    for part in parts[-2::-1]:
        backwards = backwards + part
    assert same(forwards, total)
    assert same(backwards, total)
    assert float(total.sums.sum()) == len(some)


@given(rows, st.integers(1, 59))
def test_what_was_added_can_be_taken_out(some: list[tuple[float, bool]], cut: int) -> None:
    ruler = Ruler(7)
    if not some[:cut] or not some[cut:]:
        return
    left = counted(some, ruler) + -counted(some[cut:], ruler)
    kept = counted(some[:cut], ruler)
    assert np.array_equal(left.cells, kept.cells)
    assert np.array_equal(left.sums, kept.sums)


def test_thresholds_count_the_rows_that_reach_them() -> None:
    """At the threshold of each cell, the rows of that cell and of all above are those that reach it: exactly."""
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.beta(0.3, 0.5, 5000), np.round(rng.random(3000), 2), rng.normal(size=2000) * 50])
    grid = counted([(score, False) for score in scores.tolist()], Ruler(6))
    reached = np.cumsum(grid.sums[::-1, 0, 0])[::-1]
    assert reached.tolist() == [int((scores >= threshold).sum()) for threshold in grid.thresholds]


def test_cells_of_one_score_are_known_for_such() -> None:
    scores = np.round(np.random.default_rng(2).random(20_000), 3)
    grid = counted([(score, True) for score in scores.tolist()], Ruler())
    assert not grid.mixed.any()
    assert np.array_equal(grid.thresholds, np.unique(scores))


def test_weights_are_summed() -> None:
    weights = np.array([0.5, 2.0, 0.25])
    grid = counted([(0.3, True), (0.3, True), (0.3, False)], Ruler(), weights)
    assert grid.sums[0].tolist() == [[1.0, 0.25, 0.0625], [2.0, 2.5, 4.25]]


def test_grids_of_different_fineness_add_in_the_cells_that_both_have() -> None:
    rng, ruler = np.random.default_rng(3), Ruler(6)
    some = [(score, bool(own)) for score, own in zip(rng.random(500).tolist(), rng.integers(0, 2, 500), strict=True)]
    finer = FinerRuler(ruler, np.unique(ruler.place(rng.random(50))), Ruler(9))
    assert same(counted(some[:200], finer) + counted(some[200:], ruler), counted(some, ruler))
    assert same((counted(some[:200], finer) + counted(some[200:], finer)).coarser(), counted(some, ruler))
    assert same(counted(some[:200], Ruler(6)) + counted(some[200:], Ruler(11)), counted(some, ruler))
    assert same(counted(some[:200], finer) + counted(some[200:], Ruler(11)), counted(some, ruler))

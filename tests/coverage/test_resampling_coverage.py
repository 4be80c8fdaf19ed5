"""Intervals of cross-validation must hold the error of the classifier about as often as they say. Run with -m slow."""

from __future__ import annotations

import pytest

from tests.coverage.resampling import OFTEN, ONCE, POPULATIONS, WAYS, Cell, Sample, one, section


def test_coverage_counts_the_intervals_that_hold_the_truth() -> None:
    bounds = [(0.1, 0.3), (0.25, 0.4), (0.0, 0.19), (0.2, 0.2)]
    samples = [Sample({("lda",): 0.2}, {(ONCE, "pooled", ("lda",)): pair}) for pair in bounds]
    cell = Cell("normal", 100, tuple(samples))
    assert cell.coverage(ONCE, "pooled", ("lda",)) == 50
    assert cell.width(ONCE, "pooled", ("lda",)) == pytest.approx(100 * (0.2 + 0.15 + 0.19) / 4)


def test_a_sample_has_bounds_by_every_way_and_they_are_written_down() -> None:
    sample = one("three classes", 60, 1, with_nested=False)
    assert {(plan, way) for plan, way, _ in sample.bounds} == {pair for pair in WAYS if pair[1] != "nested"}
    text = section([Cell("three classes", 60, (sample,))], 1, 0)
    assert "| three classes | 60 | lda - tree |" in text


@pytest.mark.slow
@pytest.mark.parametrize("population", POPULATIONS)
def test_repeated_folds_cover(population: str) -> None:
    cell = Cell(population, 100, tuple(one(population, 100, seed, with_nested=False) for seed in range(150)))
    for name in ("lda", "knn:5", "tree", "logistic"):
        for way in ("pooled", "corrected"):
            assert cell.coverage(OFTEN, way, (name,)) > 86

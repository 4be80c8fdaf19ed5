"""Intervals of partition spaces must hold the truth as often as they say. Slow ones: run with -m slow."""

from __future__ import annotations

import pytest

from tests.coverage.forecasts import Population
from tests.coverage.partitions import chosen, coverage, section
from tests.coverage.reporting import EQUAL, VALUE


def test_every_measure_is_covered_and_written_down() -> None:
    both = [Population("calibrated", 0.5, classes, 60) for classes in (2, 3)]
    results = [(one, coverage(one, 3, 1, rows=2_000)) for one in both]
    for population, found in results:
        assert {name for _, name in found} == set(chosen(population.classes))
    text = section(results, 3)
    assert "| `separation` | pairs, equal |" in text


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["calibrated", "overconfident"])
def test_intervals_with_the_scaling_hold_the_truth(shape: str) -> None:
    found = coverage(Population(shape, 0.5, 3, 200), 500, 5, rows=500_000)
    for kind in (VALUE, EQUAL):
        assert found[kind, "partition_accuracy"].shares()[0] > 92

"""Intervals of measures of scores must hold the truth as often as they say. Slow ones: run with -m slow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import steelyard
from steelyard.inference.settings import Method
from tests.coverage.ranking import MEASURES, Cover, Population, coverage, intervals, populations, truths
from tests.coverage.reporting import APART as UNEQUAL
from tests.coverage.reporting import EQUAL, PLAIN, VALUE
from tests.coverage.simulation import rewrite, with_section, with_start

REPETITIONS = 1500


def named(population: Population) -> str:
    return f"{population.shape} {population.auc}, prevalence {population.prevalence}, n={population.rows}"


def bounds(population: Population, kind: str) -> tuple[float, float]:
    """Between 93 and 97 %; but with ten rows of a class intervals of values may be too wide.

    So may those of pairs at 0.99, where three in ten of such samples have a ranking without a fault.
    """
    few = population.rows * population.prevalence < 20
    return 0.93, 1.0 if few and (kind == VALUE or population.auc == 0.99) else 0.97


@pytest.mark.slow
@pytest.mark.parametrize("population", list(populations()), ids=named)
def test_intervals_of_auc_cover(population: Population) -> None:
    found = coverage(population, REPETITIONS, 3, ("auc",))
    doubt = 3 * (0.95 * 0.05 / REPETITIONS) ** 0.5
    shares = {kind: found[kind, "auc"].shares()[0] / 100 for kind in (VALUE, EQUAL, UNEQUAL)}
    ends = {kind: bounds(population, kind) for kind in shares}
    assert not {k: share for k, share in shares.items() if not ends[k][0] - doubt <= share <= ends[k][1] + doubt}


def test_what_is_simulated_is_what_users_get() -> None:
    positive, noise, other = Population("binormal", 0.8, 0.3, 60).draw(np.random.default_rng(0))
    truth, scores = positive.astype(int), {VALUE: noise + positive, EQUAL: other + positive, UNEQUAL: other}
    found = {key: (low, high) for key, low, high in intervals(positive, scores, MEASURES)}
    for measure in MEASURES:
        methods: dict[str, Method] = {VALUE: "delta", PLAIN: "plain"}
        for kind, method in methods.items():
            estimate = steelyard.assess(truth, scores[VALUE], event=1, measures=[measure], method=method)[measure]
            assert found[kind, measure] == pytest.approx((estimate.low, estimate.high))
        for kind in (EQUAL, UNEQUAL):
            pair = {"a": scores[VALUE], "b": scores[kind]}
            row = next(iter(steelyard.compare(truth, pair, event=1, measures=[measure]).differences(measure)))
            assert found[kind, measure] == pytest.approx((row["low"], row["high"]))


@pytest.mark.parametrize("shape", ["binormal", "unequal", "exponential"])
def test_true_auc_is_as_named(shape: str) -> None:
    assert truths(shape, 0.9, 0.1, ("auc",))["auc"] == pytest.approx(0.9, abs=1e-6)


def test_true_partial_auc_is_the_area_under_the_curve() -> None:
    false = (np.arange(100_000) + 0.5) / 1_000_000
    area = float(ndtr(2**0.5 * ndtri(0.8) + ndtri(false)).mean() * 0.1)
    corrected = 0.5 * (1 + (area - 0.005) / (0.1 - 0.005))
    assert truths("binormal", 0.8, 0.5, ("partial_auc",))["partial_auc"] == pytest.approx(corrected, abs=1e-5)


def test_a_truth_outside_is_counted_on_its_side() -> None:
    cover = Cover(0.5)
    for low, high in ((0.4, 0.6), (0.6, 0.8), (0.1, 0.3), (float("nan"), float("nan"))):
        cover.add(low, high)
    assert cover.shares() == pytest.approx([25.0, 25.0, 25.0, 15.0])


def test_sections_are_replaced_and_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "coverage.md"
    rewrite(page, lambda old: with_start(old, "# Start\n"))
    rewrite(page, lambda old: with_section(with_section(old, "one", "first"), "two", "second"))
    rewrite(page, lambda old: with_section(old, "one", "third"))
    rewrite(page, lambda old: with_start(old, "# Another start\n"))
    text = page.read_text(encoding="utf-8")
    assert "first" not in text
    assert [line for line in text.splitlines() if line and "<!--" not in line] == ["# Another start", "third", "second"]

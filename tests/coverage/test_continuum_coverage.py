"""Intervals of measures of a continuum must hold the truth as often as they say. Slow ones: run with -m slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import steelyard
from steelyard.inference.settings import Method
from tests.coverage.continuum import (
    BLURRED,
    COMPARED,
    MEASURES,
    OTHER,
    OWN,
    PAIRS,
    SHAPES,
    Population,
    coverage,
    intervals,
    populations,
    section,
    truths,
)
from tests.coverage.reporting import APART, PLAIN, VALUE
from tests.effort import repeats

REPETITIONS = 300
FEW = repeats(12, 40)
SOME_ROWS = 200_000


def named(population: Population) -> str:
    return f"{population.shape}, n={population.rows}"


def shares(population: Population, repetitions: int, seed: int, rows: int) -> dict[Any, float]:
    found = coverage(population, repetitions, seed, rows)
    return {key: cover.shares()[0] / 100 for key, cover in found.items() if key[0] != PLAIN}


@pytest.mark.slow
@pytest.mark.parametrize("population", list(populations()), ids=named)
def test_intervals_of_all_measures_cover(population: Population) -> None:
    found = shares(population, REPETITIONS, 3, 500_000)
    doubt = 3 * (0.95 * 0.05 / REPETITIONS) ** 0.5
    # Of few rows, a handful make up the squared error that one rule has and another has not.
    few = {key for key in found if population.rows < 1000 and key[0] == APART and key[1].endswith("sqerr")}
    spans = {key: (0.90, 0.97) if key in few else (0.93, 0.97) for key in found}
    assert not {key: found[key] for key, (low, high) in spans.items() if not low - doubt <= found[key] <= high + doubt}


@pytest.mark.study
@pytest.mark.parametrize("shape", ["Mevik, best", "lean meat, biased"])
def test_intervals_of_a_few_samples_cover_most_of_the_time(shape: str) -> None:
    found = shares(Population(shape, 200), FEW, 5, SOME_ROWS)
    least = 0.95 - 4.5 * (0.95 * 0.05 / FEW) ** 0.5
    assert not {key: share for key, share in found.items() if share < least}


def test_every_usual_measure_of_a_continuum_is_in_the_study() -> None:
    random = np.random.default_rng(0)
    population = Population("five classes", 50)
    found = population.compared(population.draw(random), MEASURES)
    assert [row["measure"] for row in found[OWN].table()] == list(MEASURES)
    assert "guarded_error" in MEASURES
    assert "label_error" not in COMPARED


@pytest.mark.parametrize("shape", ["Mevik, linear", "meat, best"])
def test_what_is_simulated_is_what_users_get(shape: str) -> None:
    population = Population(shape, 80)
    sample, drawn = population.draw(np.random.default_rng(0)), SHAPES[shape]
    found = {key: (low, high) for key, low, high in intervals(population, sample)}
    assert len(found) == 2 * len(MEASURES) + 2 * len(COMPARED)
    options: dict[str, Any] = {"scale": population.scale, "sd": drawn.error, "sd_response": drawn.response}
    options["response"] = (sample.expected, drawn.response)
    methods: dict[str, Method] = {VALUE: "delta", PLAIN: "plain"}
    for kind, method in methods.items():
        assessment = steelyard.assess(sample.value, sample.assigned[OWN], method=method, **options)
        for name in MEASURES:
            assert found[kind, name] == pytest.approx((assessment[name].low, assessment[name].high)), name
    for kind, (a, b) in PAIRS.items():
        pair = {name: sample.assigned[name] for name in (a, b)}
        comparison = steelyard.compare(sample.value, pair, **options)
        for name in COMPARED:
            row = next(iter(comparison.differences(name)))
            assert found[kind, name] == pytest.approx((row["low"], row["high"])), name


@pytest.mark.parametrize("shape", list(SHAPES))
def test_true_values_are_those_of_a_large_sample(shape: str) -> None:
    population = Population(shape, 50_000)
    found = population.compared(population.draw(np.random.default_rng(3)), MEASURES)
    for name, values in truths(shape, SOME_ROWS).items():
        for measure in MEASURES:
            estimate = found[name][measure]
            assert abs(estimate.value - values[measure]) < 5.5 * estimate.se, (name, measure)


def test_the_best_rule_has_the_error_that_the_paper_gives() -> None:
    """0.205 where the response scatters by 0.9, and the model knows it."""
    found = truths("Mevik, best", SOME_ROWS)[OWN]
    assert found["model_minimal_error"] == pytest.approx(0.2050, abs=0.002)
    assert found["model_minimal_sqerr"] == pytest.approx(0.1341, abs=0.004)


def test_a_guarded_estimate_tends_to_the_true_error() -> None:
    """Of one boundary, the error of the rule that knows what is expected has a simple integral."""
    found = truths("lean meat, best", SOME_ROWS)[OWN]["guarded_error"]
    expected = 63 + 9 * np.random.default_rng(4).standard_normal(2_000_000)
    assert found == pytest.approx(float(ndtr(-np.abs(expected - 65.0)).mean()), abs=0.001)


def test_two_blurred_rules_are_alike() -> None:
    population = Population("five classes", SOME_ROWS)
    sample = population.draw(np.random.default_rng(4))
    label = population.scale.cut(sample.value)
    wrong = {name: float(np.mean(sample.assigned[name] != label)) for name in (OWN, BLURRED, OTHER)}
    assert wrong[BLURRED] == pytest.approx(wrong[OTHER], abs=0.005)
    assert wrong[OWN] < wrong[BLURRED] - 0.02


def test_the_page_has_a_row_for_every_population_and_measure() -> None:
    population = Population("meat, best", 200)
    text = section([(population, coverage(population, 2, 7, rows=2_000))], 2)
    for measure in MEASURES:
        assert f"### Values of `{measure}`" in text
    for measure in COMPARED:
        assert f"### Paired differences of `{measure}`" in text
    assert text.count("| meat, best | 200 |") == len(MEASURES) + len(COMPARED)

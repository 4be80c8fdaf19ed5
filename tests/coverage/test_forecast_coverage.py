"""Intervals of scores of forecasts must hold the truth as often as they say. Slow ones: run with -m slow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import steelyard
from steelyard.inference.settings import Method
from steelyard.states.statistics import CALIBRATION, FORECASTS
from tests.coverage import asked
from tests.coverage.forecasts import (
    BINS,
    BLURRED,
    CLASSES,
    MEASURES,
    OTHER,
    OWN,
    PAIRS,
    Population,
    chosen,
    coverage,
    expected_values,
    intervals,
    populations,
    section,
    squared_gap,
    truths,
)
from tests.coverage.reporting import PLAIN, VALUE
from tests.effort import repeats

REPETITIONS = 500
UNSURE = ("decision_cost",)  # few rows make up a difference
FEW = repeats(12, 40)
SOME_ROWS = 200_000


def named(population: Population) -> str:
    return f"{population.shape}, {population.classes} classes, {population.prevalence}, n={population.rows}"


@pytest.mark.slow
@pytest.mark.parametrize("population", list(populations()), ids=named)
def test_intervals_of_all_measures_cover(population: Population) -> None:
    found = coverage(population, REPETITIONS, 3)
    doubt = 3 * (0.95 * 0.05 / REPETITIONS) ** 0.5
    few = population.rows < 1000 or population.shape == "sharp"
    shares = {key: cover.shares()[0] / 100 for key, cover in found.items() if key[0] != PLAIN}
    least = {key: 0.91 if few and key[1] in UNSURE else 0.93 for key in shares}
    assert not {key: share for key, share in shares.items() if share < least[key] - doubt}


@pytest.mark.study
@pytest.mark.parametrize(
    "population",
    [Population("calibrated", 0.5, 2, 200), Population("overconfident", 0.1, 3, 200)],
    ids=named,
)
def test_intervals_of_a_few_samples_cover_most_of_the_time(population: Population) -> None:
    found = coverage(population, FEW, 5, rows=SOME_ROWS)
    shares = {key: cover.shares()[0] / 100 for key, cover in found.items() if key[0] != PLAIN}
    least = 0.95 - 4.5 * (0.95 * 0.05 / FEW) ** 0.5
    assert not {key: share for key, share in shares.items() if share < least}


def test_every_measure_of_forecasts_is_in_the_study() -> None:
    statistics, studied = (FORECASTS, CALIBRATION), {*MEASURES, *(name.split("(")[0] for name in asked.MEASURES)}
    assert {name for name, entry in steelyard.all_measures().items() if entry.statistic in statistics} == studied


@pytest.mark.study
@pytest.mark.parametrize("measure", list(asked.MEASURES))
def test_what_is_asked_for_is_covered_most_of_the_time(measure: str) -> None:
    population = Population("calibrated", 0.5, asked.MEASURES[measure][0], 200)
    assert min(asked.coverage((measure, population), FEW, 5, rows=SOME_ROWS)) >= 80


@pytest.mark.parametrize("classes", list(CLASSES))
def test_what_is_simulated_is_what_users_get(classes: int) -> None:
    codes, said = Population("calibrated", 0.5, classes, 80).draw(np.random.default_rng(0))
    truth = np.array(CLASSES[classes])[codes]
    found = {key: (low, high) for key, low, high in intervals(codes, said, MEASURES)}
    scale = steelyard.Scale(CLASSES[classes], event="yes" if classes == 2 else None)
    assert len(found) == 4 * len(MEASURES)
    for measure in chosen(classes):
        methods: dict[str, Method] = {VALUE: "delta", PLAIN: "plain"}
        for kind, method in methods.items():
            assessment = steelyard.assess(truth, said[OWN], scale=scale, measures=[measure], method=method)
            estimate = assessment[measure]
            assert found[kind, measure.name] == pytest.approx((estimate.low, estimate.high), nan_ok=True)
        for kind, (a, b) in PAIRS.items():
            pair = {name: said[name] for name in (a, b)}
            row = next(iter(steelyard.compare(truth, pair, scale=scale, measures=[measure]).differences(measure)))
            assert found[kind, measure.name] == pytest.approx((row["low"], row["high"]), nan_ok=True)


@pytest.mark.parametrize("classes", list(CLASSES))
@pytest.mark.parametrize("prevalence", [0.5, 0.1])
def test_the_last_class_is_as_frequent_as_named(classes: int, prevalence: float) -> None:
    codes, _ = Population("sharp", prevalence, classes, 100_000).draw(np.random.default_rng(1))
    assert np.mean(codes == classes - 1) == pytest.approx(prevalence, abs=0.01)


@pytest.mark.parametrize("classes", list(CLASSES))
def test_true_values_are_those_of_a_large_sample(classes: int) -> None:
    population = Population("overconfident", 0.5, classes, SOME_ROWS)
    codes, said = population.draw(np.random.default_rng(2))
    expected = truths("overconfident", 0.5, classes, SOME_ROWS)
    scale = steelyard.Scale(CLASSES[classes], event="yes" if classes == 2 else None)
    for name in (OWN, BLURRED):
        entries = chosen(classes)
        found = steelyard.assess(np.array(CLASSES[classes])[codes], said[name], scale=scale, measures=entries)
        for entry in entries:
            estimate = found[entry]
            assert abs(estimate.value - expected[name][entry.name]) < 5 * estimate.se + 1e-3, (name, entry.name)


def test_true_values_of_calibrated_forecasts_have_no_calibration_error() -> None:
    random = np.random.default_rng(3)
    chances = expit(random.normal(size=1000))
    both = np.stack([1 - chances, chances], axis=1)
    found = expected_values(both, both)
    assert found["calibration_error"] == found["top_calibration_error"] == 0
    assert found["brier"] == pytest.approx(float(np.mean(chances * (1 - chances))))
    assert found["log_score"] == pytest.approx(float(-(both * np.log(both)).sum(axis=1).mean()))


def test_the_squared_gap_of_a_constant_bias_is_its_square() -> None:
    forecast = np.linspace(0.1, 0.8, 40 * BINS)
    assert squared_gap(forecast, forecast + 0.125) == pytest.approx(0.125**2)


def test_the_page_has_a_row_for_every_population_and_measure() -> None:
    population = Population("calibrated", 0.5, 2, 200)
    text = section([(population, coverage(population, 2, 7, rows=2_000))], 2)
    for measure in MEASURES:
        assert f"### Values of `{measure}`" in text
        assert f"### Paired differences of `{measure}`" in text
    assert text.count("| calibrated | 2 | 0.5 | 200 |") == 2 * len(MEASURES)


def test_two_blurred_classifiers_are_alike() -> None:
    population = Population("calibrated", 0.5, 3, SOME_ROWS)
    codes, said = population.draw(np.random.default_rng(4))
    scores = [float(-np.log(said[name][np.arange(len(codes)), codes]).mean()) for name in (OWN, BLURRED, OTHER)]
    assert scores[1] == pytest.approx(scores[2], abs=0.01)
    assert scores[0] < scores[1] - 0.02

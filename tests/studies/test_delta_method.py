"""Intervals of functions of repetitions: influence values are derivatives, and intervals cover as often as they say."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from steelyard.studies.statements import (
    MonteCarloEstimate,
    Quantity,
    average,
    deviation,
    exact,
    furthest,
    largest,
    mean,
    smallest,
)

SETS = 800
samples = st.lists(st.floats(0.5, 5.0), min_size=3, max_size=12).filter(lambda values: np.ptp(values) > 0.1)


def weighted(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation where repetitions weigh differently."""
    middle = float(weight @ values / weight.sum())
    count = len(values)
    return middle, math.sqrt(float(weight @ (values - middle) ** 2 / weight.sum()) * count / (count - 1))


@given(samples)
def test_influence_values_are_derivatives(given_values: list[float]) -> None:
    """A repetition counts a little more: by how much that moves the result, times the number of repetitions."""
    values = np.array(given_values)
    count, step = len(values), 1e-6

    def by_weights(weight: np.ndarray) -> float:
        middle, spread = weighted(values, weight)
        third = float(weight @ values**3 / weight.sum())
        return float((spread - middle * 2.0) / third**0.5 * (middle + spread))

    middle, spread, third = mean(values), deviation(values), mean(values**3)
    found = (spread - middle * 2.0) / third**0.5 * (middle + spread)
    assert found.value == pytest.approx(by_weights(np.ones(count)))
    for place in range(count):
        moved = step * (np.arange(count) == place)
        derivative = count * (by_weights(1 + moved) - by_weights(1 - moved)) / (2 * step)
        assert found.influence[0, place] == pytest.approx(derivative, rel=1e-4, abs=1e-4)


@given(samples, samples)
def test_strata_are_independent(one: list[float], other: list[float]) -> None:
    size = min(len(one), len(other))
    first, second = (mean(np.array(values[:size]), place, 2) for place, values in enumerate((one, other)))
    for both in (first + second, first - second):
        assert both.standard_error == pytest.approx(math.hypot(stats.sem(one[:size]), stats.sem(other[:size])))
    assert average([first, second]).value == pytest.approx((np.mean(one[:size]) + np.mean(other[:size])) / 2)
    assert (first - first).bounds() == (0.0, 0.0)


def test_the_interval_of_an_even_mean_is_that_of_scipy() -> None:
    values = np.linspace(-1, 1, 41) + 3
    low, high = stats.t.interval(0.95, 40, values.mean(), stats.sem(values))
    assert mean(values).quantity == pytest.approx((values.mean(), low, high, 41), rel=1e-9)


def test_what_does_not_vary_is_exact() -> None:
    same = np.zeros(5)
    assert mean(same).quantity == deviation(same).quantity == exact(0.0)
    assert furthest([mean(same), deviation(same)]) == exact(0.0)


def test_one_repetition_says_nothing_of_chance() -> None:
    one = np.array([2.0])
    assert mean(one).quantity == Quantity(2.0, -math.inf, math.inf, 1)
    assert math.isnan(mean(one).standard_error)
    assert math.isnan(deviation(one).value)
    assert largest([mean(one), mean(one * 2)]) == Quantity(4.0, -math.inf, math.inf, 1)


def test_extremes_mirror_each_other() -> None:
    random = np.random.default_rng(3)
    several = [mean(random.gamma(2.0, size=30) - place, place, 3) for place in range(3)]
    value, low, high, count = largest(several)
    assert smallest([-each for each in several]) == (-value, -high, -low, count)
    assert low <= value == max(each.value for each in several) <= high
    assert furthest(several).value == max(abs(each.value) for each in several)
    assert furthest([mean(random.normal(size=30))]).low == 0


# --- coverage -----------------------------------------------------------------------------------------------------


def coverage(truth: float, draw: Callable[[np.random.Generator], Quantity]) -> float:
    random = np.random.default_rng(39)
    found = [draw(random) for _ in range(SETS)]
    return float(np.mean([low <= truth <= high for _, low, high, _ in found]))


def cells(means: Sequence[float], random: np.random.Generator) -> list[MonteCarloEstimate]:
    return [mean(random.normal(each, 1.0, 60), place, len(means)) for place, each in enumerate(means)]


# Three standard errors of a share of 800: 0.023.
@pytest.mark.parametrize(
    ("name", "truth", "draw"),
    [
        ("mean of squares", 1.0, lambda random: mean(random.normal(size=100) ** 2).quantity),
        ("deviation", 1.0, lambda random: deviation(random.normal(size=100)).quantity),
        ("skewed deviation", 1.0, lambda random: deviation(random.exponential(size=200)).quantity),
        (
            "ratio of deviations",
            0.5,
            lambda random: (
                (deviation(random.normal(size=80), 0, 2) / deviation(random.normal(0, 2, 80), 1, 2)).quantity
            ),
        ),
        (
            "root mean square",
            math.sqrt(2.0),
            lambda random: (mean(random.normal(1.0, 1.0, 100) ** 2) ** 0.5).quantity,
        ),
    ],
)
def test_intervals_cover(name: str, truth: float, draw: Callable[[np.random.Generator], Quantity]) -> None:
    assert 0.925 <= coverage(truth, draw) <= 0.975, name


@pytest.mark.parametrize("means", [(0.0,) * 5, (0.0, 0.0, 2.0), (0.0, 0.2)], ids=["alike", "ahead", "near"])
def test_intervals_of_a_maximum_cover_whatever_is_the_largest(means: Sequence[float]) -> None:
    random, held = np.random.default_rng(40), np.zeros(3)
    truths = (max(means), min(means), max(map(abs, means)))
    for _ in range(SETS // 4):
        found = cells(means, random)
        intervals = (extreme(found) for extreme in (largest, smallest, furthest))
        held += [each.low <= truth <= each.high for each, truth in zip(intervals, truths, strict=True)]
    assert (held / (SETS // 4) >= 0.95 - 3 * 0.0154).all()

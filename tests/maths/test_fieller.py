"""Bounds of the ratio of two means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from steelyard.maths.joint_normal import Ratio

REACH = 1.96


def drawn(seed: int, rows: int = 200) -> Any:
    """Two columns that have much in common, the second rarely large."""
    random = np.random.default_rng(seed)
    rare = random.random(rows) < 0.1
    return np.stack([np.where(rare, random.random(rows), 0.05 * random.random(rows)), np.where(rare, 0.8, 0.02)])


def of_rows(columns: Any) -> Ratio:
    (above, below), covariance = columns.mean(axis=1).tolist(), np.cov(columns) / columns.shape[1]
    return Ratio(above, below, covariance[0, 0], covariance[1, 1], covariance[0, 1])


def statistic(columns: Any, ratio: float) -> float:
    """What is left of the first when so many times the second is taken from it, in its standard errors."""
    left = columns[0] - ratio * columns[1]
    return float(left.mean() / (left.std(ddof=1) / math.sqrt(len(left))))


@pytest.mark.parametrize("seed", range(5))
def test_at_the_bounds_so_many_standard_errors_are_left(seed: int) -> None:
    columns = drawn(seed)
    low, high = of_rows(columns).bounds(REACH)
    assert 0 < low < columns[0].mean() / columns[1].mean() < high
    assert statistic(columns, low) == pytest.approx(REACH)
    assert statistic(columns, high) == pytest.approx(-REACH)


@pytest.mark.parametrize("seed", range(5))
def test_the_inverse_ratio_has_the_inverse_bounds(seed: int) -> None:
    columns = drawn(seed)
    low, high = of_rows(columns).bounds(REACH)
    assert of_rows(columns[::-1]).bounds(REACH) == pytest.approx((1 / high, 1 / low))


def test_a_function_of_variances_tells_what_two_means_share() -> None:
    columns = drawn(7)

    def variance(first: float, second: float) -> float:
        return float(np.var(first * columns[0] + second * columns[1], ddof=1) / columns.shape[1])

    expected = of_rows(columns)
    assert Ratio.of(expected.above, expected.below, variance) == pytest.approx(expected)


def test_no_ratio_is_too_great_where_the_second_mean_may_be_nothing() -> None:
    low, high = Ratio(1.0, 0.1, 0.01, 0.01, 0.0).bounds(REACH)
    assert high == math.inf
    assert (1 - 0.1 * low) / (0.1 * math.sqrt(1 + low**2)) == pytest.approx(REACH)


def test_none_is_too_small_where_the_first_may_be_nothing() -> None:
    low, high = Ratio(0.1, 1.0, 0.01, 0.01, 0.0).bounds(REACH)
    assert low == 0
    assert 0.1 < high < math.inf
    assert Ratio(0.1, 0.1, 0.01, 0.01, 0.0).bounds(REACH) == (0, math.inf)


def test_what_does_not_scatter_has_one_ratio() -> None:
    assert Ratio(2.0, 8.0, 0.0, 0.0, 0.0).bounds(REACH) == (0.25, 0.25)
    assert Ratio(0.0, 8.0, 0.0, 0.0, 0.0).bounds(REACH) == (0, 0)


def test_one_row_leaves_everything_open() -> None:
    assert of_rows(drawn(8)).bounds(math.inf) == (0, math.inf)


@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_mean_over_itself_does_not_scatter_whatever_rounding_leaves(off: int) -> None:
    variance = 0.003
    shared = variance * (1 + off * 1e-15)
    assert Ratio(0.7, 0.7, variance, variance, shared).bounds(REACH) == pytest.approx((1.0, 1.0), abs=1e-13)

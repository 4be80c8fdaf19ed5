"""Gaps between forecast and frequency: their intervals where gaps are normal, and what holds for two classifiers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from steelyard import assess, compare
from steelyard.families.bins.gaps import Gaps, PairedGaps
from tests.effort import repeats

BINS = 15
SAMPLES = repeats(450, 1500)
COVERED = 0.95
Array = Any


def gaps(gap: Array, variance: Array | float = 1e-3) -> Gaps:
    """Bins of like size, whose gaps have these variances and nothing in common."""
    return Gaps(np.full(len(gap), 1 / len(gap)), gap, np.diag(np.full(len(gap), variance)), np.zeros(len(gap)))


def even(error: float) -> Array:
    """Gaps that have this mean square."""
    return error * np.tile([1.0, -1.0], BINS)[:BINS]


def drawn(real: Array, seed: int, variance: float = 1e-3) -> list[Gaps]:
    random = np.random.default_rng(seed)
    return [gaps(real + np.sqrt(variance) * random.standard_normal(BINS), variance) for _ in range(SAMPLES)]


def paired(first: Array, second: Array, seed: int, common: float = 0.5, variance: float = 1e-3) -> list[PairedGaps]:
    """Two classifiers whose gaps are correlated bin by bin."""
    random, found = np.random.default_rng(seed), []
    for _ in range(SAMPLES // 3):
        shared, own, other = np.sqrt(variance) * random.standard_normal((3, BINS))
        noise = [np.sqrt(common) * shared + np.sqrt(1 - common) * each for each in (own, other)]
        between = common * variance * np.eye(BINS)
        found.append(PairedGaps(gaps(first + noise[0], variance), gaps(second + noise[1], variance), between))
    return found


# --- one classifier -------------------------------------------------------------------------------------------


@pytest.mark.study
@pytest.mark.parametrize("error", [0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3])
def test_intervals_hold_the_error_in_95_per_cent_wherever_it_is(error: float) -> None:
    """Also at 0, where an interval with as much on either side would hold it in 97.5 %."""
    bounds = np.array([each.bounds(0.95) for each in drawn(even(error), 1)]).T
    share = float(np.mean((bounds[0] <= error) & (error <= bounds[1])))
    assert abs(share - COVERED) < 3.5 * np.sqrt(COVERED * (1 - COVERED) / SAMPLES)


def test_far_from_0_there_is_as_much_on_either_side() -> None:
    found = gaps(even(0.3))
    low, high = found.bounds(0.9)
    factor = 1e-3 / BINS
    for bound, tail in ((low, 0.95), (high, 0.05)):
        assert stats.ncx2.cdf(found.square / factor, BINS, bound**2 / factor) == pytest.approx(tail, abs=1e-9)


def test_of_very_many_rows_the_root_is_normal() -> None:
    """What is found without quantiles of noncentral chi-squared variables is what they would give."""
    factor, deviates = 1e-8 / BINS, np.array([-8.0, -1.96, 0.0, 1.96, 8.0])
    for error in (0.999 * np.sqrt(1e6 * factor), 1.001 * np.sqrt(1e6 * factor), 1.0):
        found = gaps(even(error), 1e-8)
        assert_allclose(found.at(deviates), error - deviates * np.sqrt(factor), rtol=0, atol=0.02 * np.sqrt(factor))
        low, high = found.bounds(0.95)
        assert low < error < high


def test_what_is_less_than_chance_makes_it_is_no_proof() -> None:
    """However small the gaps are, the interval goes up as far as that of gaps such as chance makes them."""
    low, high = gaps(even(0.0)).bounds(0.95)
    assert low == 0
    assert (low, high) == gaps(even(np.sqrt(1e-3))).bounds(0.95)


def test_intervals_are_nested() -> None:
    for error in (0.0, 0.03, 0.05, 0.2):
        found = [gaps(even(error)).bounds(level) for level in (0.5, 0.8, 0.95, 0.999, 1 - 1e-9)]
        assert all(wide[0] <= low <= high <= wide[1] for (low, high), wide in pairwise(found))


def test_bins_that_scatter_little_are_half_believed() -> None:
    """Where the gaps are: the interval is shorter than if all bins scattered alike, and longer than they say."""
    gap = np.where(np.arange(BINS) < 5, 0.2, 0.0)
    variance = np.where(np.arange(BINS) < 5, 1e-4, 1.45e-3)
    uneven, alike = gaps(gap, variance), gaps(gap, float(variance.mean()))
    widths = [float(np.subtract(*each.bounds(0.95)[::-1])) for each in (uneven, alike)]
    said = 2 * 1.96 * np.sqrt(uneven.pull) / np.sqrt(uneven.square)
    assert said < widths[0] < widths[1]


# --- two classifiers ------------------------------------------------------------------------------------------


def on_a_grid(pair: PairedGaps, reach: float, points: int = 1500) -> tuple[float, float]:
    """The differences of all pairs of errors that may be, looked up one by one."""
    errors, deviates = [], []
    for each in (pair.first, pair.second):
        factor, freedom = each.chi_squared(extra=True)
        grid = np.linspace(0, float(each.at(-reach - 2)), points)
        below = stats.ncx2.cdf(each.square / factor, freedom, np.maximum(grid**2 / factor, 1e-12))
        errors.append(grid)
        deviates.append(stats.norm.ppf(np.clip(below, 1e-300, 1 - 2**-53)) / each.spread)
    one, other, together = deviates[0][:, None], deviates[1][None], pair.correlation
    distance = (one**2 + other**2 - 2 * together * one * other) / (1 - together**2)
    least = distance.min()
    allowed = distance <= least + reach**2
    both = stats.chi2.isf(2 * stats.norm.sf(reach), 2)
    for edge in (np.s_[0], np.s_[:, 0]):
        limit = least + min(reach**2 + distance[edge].min() - least, both)
        allowed[edge] |= distance[edge] <= limit
    differences = (errors[0][:, None] - errors[1][None])[allowed]
    return float(differences.min()), float(differences.max())


@pytest.mark.parametrize(
    ("first", "second"), [(0.0, 0.0), (0.1, 0.1), (0.0, 0.1), (0.15, 0.05), (0.02, 0.03), (0.4, 0.1)]
)
def test_bounds_are_those_of_all_pairs_that_may_be(first: float, second: float) -> None:
    for pair in paired(even(first), even(second), 2)[:10]:
        low, high = on_a_grid(pair, 1.96)
        fine = (abs(low) + abs(high) + 0.1) * 4e-3
        found = pair.bounds(1.96)
        if abs(pair.statistic) <= 1.96:
            low, high = min(low, 0.0), max(high, 0.0)
        elif pair.statistic > 0:
            low = max(low, 0.0)
        else:
            high = min(high, 0.0)
        assert_allclose(found, (low, high), rtol=0, atol=fine)


def test_equal_errors_differ_in_5_per_cent() -> None:
    for error in (0.0, 0.03, 0.2):
        share = float(np.mean([pair.p < 0.05 for pair in paired(even(error), even(error), 3)]))
        assert 0.015 < share < 0.08, error


@pytest.mark.study
@pytest.mark.parametrize(("first", "second"), [(0.0, 0.1), (0.05, 0.1), (0.0, 0.03), (0.3, 0.1)])
def test_differences_are_held_in_about_95_per_cent(first: float, second: float) -> None:
    bounds = np.array([pair.bounds(1.959964) for pair in paired(even(first), even(second), 4)]).T
    share = float(np.mean((bounds[0] <= first - second) & (first - second <= bounds[1])))
    assert 0.92 < share < 0.995


@pytest.mark.study
@pytest.mark.parametrize(("first", "second"), [(0.0, 0.0), (0.1, 0.12), (0.0, 0.1), (0.3, 0.1)])
def test_test_and_interval_agree_and_turn_around(first: float, second: float) -> None:
    for pair in paired(even(first), even(second), 5)[: repeats(12, 60)]:
        turned = PairedGaps(pair.second, pair.first, pair.between.T)
        assert turned.p == pytest.approx(pair.p, rel=1e-9)
        before = (np.inf, -np.inf)
        for level in (0.5, 0.8, 0.95, 0.99, 0.9999):
            low, high = pair.bounds(float(stats.norm.ppf((1 + level) / 2)))
            assert_allclose(turned.bounds(float(stats.norm.ppf((1 + level) / 2))), (-high, -low), rtol=1e-9, atol=1e-12)
            assert (pair.p < 1 - level) == (not low <= 0 <= high)
            assert low <= before[0] + 1e-6
            assert before[1] <= high + 1e-6
            before = low, high


def test_the_same_gaps_do_not_differ() -> None:
    one = drawn(even(0.1), 6)[0]
    pair = PairedGaps(one, one, one.covariance)
    assert pair.p == 1
    low, high = pair.bounds(1.96)
    assert low <= 0 <= high


def test_clusters_that_are_too_few_tell_nothing() -> None:
    one = gaps(even(0.1), np.nan)
    assert np.isnan(PairedGaps(one, one, one.covariance).bounds(1.96)).all()


def test_what_goes_together_makes_a_difference_sure() -> None:
    """Two classifiers with the same noise differ by what they differ by; with noise of their own they may not."""
    random = np.random.default_rng(7)
    noise = 0.03 * random.standard_normal((2, BINS))
    first, second = even(0.2), even(0.15)
    alike = PairedGaps(gaps(first + noise[0], 9e-4), gaps(second + noise[0], 9e-4), 0.95 * 9e-4 * np.eye(BINS))
    apart = PairedGaps(gaps(first + noise[0], 9e-4), gaps(second + noise[1], 9e-4), np.zeros((BINS, BINS)))
    assert alike.p < apart.p
    widths = [float(np.subtract(*each.bounds(1.96)[::-1])) for each in (alike, apart)]
    assert widths[0] < 0.6 * widths[1]


def test_where_rounding_alone_tells_a_gap_from_noise_nothing_is_found() -> None:
    found = assess(["no", "no", "yes"], [0.0, 0.16, 1.0], event="yes", measures=["calibration_error"])
    assert found["calibration_error"].value == 0
    assert np.isnan(found["calibration_error"].se)


def test_gaps_that_do_not_scatter_but_for_rounding_have_nothing_in_common() -> None:
    random = np.random.default_rng(0)
    truth, weight = random.random(30) < 0.5, random.gamma(1.0, 1.0, 30)
    # Of each forecast, all rows or none came true: what rounding leaves of their scatter depends on their order.
    said = {"one": np.where(truth, 0.7, 0.2), "other": np.where(truth, 0.6, 0.1)}
    found = []
    for order in (np.arange(30), *(random.permutation(30) for _ in range(8))):
        rows = {"weight": weight[order], "group": order, "measures": ["calibration_error"]}
        both = compare(truth[order], {name: each[order] for name, each in said.items()}, event=True, **rows)
        found.append([both.differences("calibration_error")[end][0] for end in ("low", "high")])
    assert_allclose(found, found[:1] * 9, rtol=1e-6)

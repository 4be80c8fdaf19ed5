"""Means of what is rarely large: skewness, degrees of freedom of a variance that few rows make up, and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from steelyard.inference.contrasts.random_signs import difference_bounds, difference_p, signed_p
from steelyard.inference.rules.gamma import gamma_bounds
from steelyard.inference.rules.hall import at_fewer, hall_bounds, hall_p, one_more, rare_bounds
from steelyard.inference.tails import TRUSTED, Tails
from steelyard.states.statistics import Patterns

ROWS = 400
DRAWN = np.random.default_rng(3).exponential(size=(3, ROWS)) ** [[1.0], [2.0], [3.0]]
CENTRED = DRAWN - DRAWN.mean(axis=1, keepdims=True)


def patterns(count: Any, mass: Any = None, square: Any = None, cluster: Any = None) -> Patterns:
    size = len(count)
    mass = count if mass is None else mass
    square = mass if square is None else square
    return Patterns(1, np.zeros(size, np.int64), np.zeros((0, size), np.int64), count, mass, square, cluster)


PLAIN = patterns(np.ones(ROWS))


def test_skewness_of_a_mean_is_that_of_rows_by_the_root_of_their_number() -> None:
    assert_allclose(Tails.of(PLAIN, CENTRED).skew, stats.skew(CENTRED, axis=1) / np.sqrt(ROWS), rtol=1e-12)


def test_degrees_of_freedom_follow_from_skewness_and_kurtosis() -> None:
    kurtosis = stats.kurtosis(CENTRED, axis=1, fisher=False)
    expected = TRUSTED * 2 * ROWS / (kurtosis - stats.skew(CENTRED, axis=1) ** 2 - 1)
    assert_allclose(Tails.of(PLAIN, CENTRED).freedom, expected, rtol=1e-10)
    assert (np.diff(expected) < 0).all()  # the rarer the large values, the less their variance is known


def test_a_normal_sample_has_about_as_many_as_rows() -> None:
    normal = stats.norm.ppf((np.arange(100_000) + 0.5) / 100_000)[None]
    assert Tails.of(patterns(np.ones(100_000)), normal).freedom[0] == pytest.approx(TRUSTED * 100_000, rel=0.01)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_what_takes_two_values_is_as_sure_as_its_mean(share: float) -> None:
    values = (np.arange(1000) < 1000 * share).astype(float)
    assert Tails.of(patterns(np.ones(1000)), (values - values.mean())[None]).freedom[0] > 1e9


def test_nothing_differs() -> None:
    assert Tails.of(PLAIN, np.zeros((1, ROWS))) == Tails.none(1)


def test_alike_rows_may_be_one_pattern() -> None:
    times = np.arange(ROWS) % 4 + 1
    apart = np.repeat(CENTRED, times, axis=1)
    together, single = patterns(times.astype(float)), patterns(np.ones(apart.shape[1]))
    assert_allclose(Tails.of(together, CENTRED), Tails.of(single, apart), rtol=1e-10)


def test_a_cluster_of_one_row_is_a_row_and_weights_count_with_their_powers() -> None:
    weight = np.random.default_rng(4).uniform(0.5, 2, ROWS)
    weighed = patterns(np.ones(ROWS), weight, weight**2)
    clusters = patterns(np.ones(ROWS), weight, weight**2, np.arange(ROWS))
    for each in (weighed, clusters):
        assert_allclose(Tails.of(each, CENTRED), Tails.of(PLAIN, weight * CENTRED), rtol=1e-10)


def test_sampling_weights_within_a_pattern_count_with_their_powers() -> None:
    """Only their sum and that of their squares are known: so many gamma variables that have these are as skewed."""
    weight, effects = np.random.default_rng(5).gamma(2.0, size=(2, 200_000)), np.array([1.0, -0.5])
    together = patterns(np.full(2, 2e5), weight.sum(axis=1), np.square(weight).sum(axis=1))
    apart = patterns(np.ones(400_000), weight.ravel(), np.square(weight.ravel()))
    one, other = Tails.of(together, effects[None]), Tails.of(apart, np.repeat(effects, 200_000)[None])
    assert_allclose(one.skew, other.skew, rtol=0.03)
    assert_allclose(one.freedom, other.freedom, rtol=0.1)


def test_a_pattern_without_rows_is_a_normal_error() -> None:
    """It adds to the variance, and neither to third nor to fourth powers."""
    more = patterns(np.append(np.ones(ROWS), 0.0), np.ones(ROWS + 1))
    influences = np.append(CENTRED, np.full((3, 1), 1e4), axis=1)
    mixed, alone = Tails.of(more, influences), Tails.of(PLAIN, CENTRED)
    assert (np.abs(mixed.skew) < np.abs(alone.skew)).all()
    assert (mixed.freedom > alone.freedom).all()
    assert Tails.of(patterns(np.zeros(3), np.ones(3)), np.ones((1, 3))) == Tails.none(1)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.75])
def test_a_normal_error_may_come_on_top_of_what_was_summed(share: float) -> None:
    added = np.square(CENTRED).sum(axis=1) * share / (1 - share)
    more = patterns(np.append(np.ones(ROWS), 0.0), np.ones(ROWS + 1))
    for row, error in zip(CENTRED, np.sqrt(added), strict=True):
        once = Tails.of(more, np.append(row, error)[None])
        later = Tails.of(PLAIN, row[None]).with_normal(np.array([share]))
        assert_allclose(later[:3], once[:3], rtol=1e-10)


def test_one_more_row_adds_what_rows_add_each_weighed_by_its_share_of_the_variance() -> None:
    sums, error = Tails.of(PLAIN, CENTRED), np.sqrt(np.square(CENTRED).sum(axis=1))
    added = (CENTRED**3).sum(axis=1) / (CENTRED**2).sum(axis=1)
    centre, wider = one_more(np.zeros(3), error, sums.skew)
    assert_allclose(centre, added, rtol=1e-12)
    for row, more, total, found in zip(CENTRED, added, wider, zip(*sums.with_one_more(), strict=True), strict=True):
        terms = np.append(row, more)
        assert total**2 == pytest.approx(np.square(terms).sum(), rel=1e-12)
        assert found[0] == pytest.approx((terms**3).sum() / total**3, rel=1e-12)
        assert found[2] == pytest.approx((terms**4).sum() / total**4, rel=1e-12)


def test_of_equal_amounts_one_more_is_the_next_count() -> None:
    count, amount = np.array([1.0, 4.0, 50.0]), 0.3
    centre, wider = one_more(amount * count, amount * np.sqrt(count), 1 / np.sqrt(count))
    assert_allclose(centre, amount * (count + 1), rtol=1e-12)
    assert_allclose(wider, amount * np.sqrt(count + 1), rtol=1e-12)


def test_as_unlikely_with_fewer_degrees_of_freedom() -> None:
    freedom, fewer = np.array([50.0, 50.0, np.inf, 50.0]), np.array([4.0, 80.0, 7.0, np.inf])
    found = at_fewer(np.full(4, 2.5), freedom, fewer)
    expected = [stats.t.isf(stats.t.sf(2.5, 50), 4), stats.t.isf(stats.norm.sf(2.5), 7)]
    assert_allclose(found[[0, 2]], expected, rtol=1e-9)
    assert_allclose(found[[1, 3]], 2.5)
    assert at_fewer(np.array([np.inf]), np.array([9.0]), np.array([2.0]))[0] == np.inf


@pytest.mark.parametrize("freedom", [3.0, 100.0])
@pytest.mark.parametrize("skew", [-0.6, -0.1, 0.0, 0.1, 0.6])
def test_the_p_value_of_a_bound_is_what_the_level_leaves(skew: float, freedom: float) -> None:
    value, error, of_error = np.array([0.7]), np.array([0.2]), np.array([40.0])
    tails = Tails.none(1)._replace(skew=np.array([skew]), freedom=np.array([freedom]))
    reach = np.asarray(stats.t.isf(0.025, of_error))
    for bound in hall_bounds(value, error, tails, of_error, reach):
        assert_allclose(hall_p((value - bound) / error, tails, of_error), 0.05, rtol=1e-9)


@pytest.mark.parametrize("skew", [-0.3, -0.05, 0.05, 0.3])
def test_only_the_bound_where_rows_are_rare_is_that_of_one_more(skew: float) -> None:
    value, error, freedom = np.array([0.7]), np.array([0.2]), np.array([199.0])
    tails = Tails.of_moments(np.array([skew]), np.array([skew**2 + 0.03]), 1 / 200)
    reach = np.asarray(stats.t.isf(0.025, freedom))
    own, found = (bounds(value, error, tails, freedom, reach) for bounds in (hall_bounds, rare_bounds))
    same, moved = (0, 1) if skew > 0 else (1, 0)
    assert found[same] == own[same]
    assert (found[moved] - own[moved]) * skew > 0


def test_one_more_row_than_very_many_that_are_alike_moves_nothing() -> None:
    for skew in (-1e-8, 0.0, 1e-8):
        tails = Tails.none(1)._replace(skew=np.array([skew]))
        given = np.array([0.7]), np.array([0.2]), tails, np.array([1e6]), np.array([1.96])
        assert_allclose(rare_bounds(*given), [[0.7 - 0.392], [0.7 + 0.392]], rtol=1e-7)


def test_a_mean_of_a_few_large_amounts_is_held_more_often() -> None:
    """Of 200 rows, 3 to 4 have an amount that is not 0: exponential."""
    random, freedom = np.random.default_rng(12), np.array([199.0])
    reach, held = np.asarray(stats.t.isf(0.025, freedom)), np.zeros(2)
    for _ in range(1500):
        rows = random.exponential(size=200) * (random.random(200) < 0.018)
        if np.count_nonzero(rows):
            mean, error, tails, freedom = judged(rows)
            for place, bounds in enumerate((hall_bounds, rare_bounds)):
                low, high = bounds(mean, error, tails, freedom, reach)
                held[place] += low[0] <= 0.018 <= high[0]
    plain, one = held / 1500
    assert one > plain + 0.03
    assert 0.86 < one < 0.95


# --- differences ----------------------------------------------------------------------------------------------


def judged(rows: Any) -> tuple[Any, Any, Tails, Any]:
    """The mean of some rows, its standard error, tails, and degrees of freedom."""
    count = len(rows)
    mean, freedom = rows.mean(), np.array([count - 1.0])
    error = np.array([rows.std(ddof=1) / np.sqrt(count)])
    return np.array([mean]), error, Tails.of(patterns(np.ones(count)), (rows - mean)[None]), freedom


@pytest.mark.parametrize("moved", [0.0, 0.4, 0.8])
@pytest.mark.parametrize(("some", "power"), [(25, 1.0), (60, 2.0), (400, 3.0)])
def test_random_signs_tell_how_unlikely_a_difference_is(some: int, power: float, moved: float) -> None:
    """The p-value is the share of sums that are as large where every row has its sign by chance."""
    random = np.random.default_rng([some, int(10 * moved)])
    rows = random.laplace(size=some) * np.abs(random.standard_normal(some)) ** power
    rows += moved * np.sqrt(np.square(rows).sum()) / some * 3
    signs = random.integers(0, 2, (100_000, some)) * 2.0 - 1
    share = (np.abs(signs @ rows) >= np.abs(rows.sum())).mean()
    mean, error, tails, freedom = judged(rows)
    assert signed_p(mean / error, tails, freedom)[0] == pytest.approx(share, abs=0.03)


def test_rows_that_scatter_normally_are_judged_as_by_t() -> None:
    rows = stats.norm.ppf((np.arange(2000) + 0.5) / 2000, loc=0.03)
    mean, error, tails, freedom = judged(rows)
    assert_allclose(difference_p(mean / error, tails, freedom), stats.ttest_1samp(rows, 0).pvalue, rtol=0.02)


def test_one_row_alone_proves_nothing() -> None:
    mean, error, tails, freedom = judged(np.append(np.zeros(199), 5.0))
    assert difference_p(mean / error, tails, freedom)[0] > 0.3
    low, high = difference_bounds(mean, error, tails, freedom, np.asarray(stats.t.isf(0.025, freedom)))
    assert low[0] <= 0 < high[0]


@pytest.mark.parametrize("differ", [2, 4, 5, 6])
def test_few_rows_prove_no_more_than_their_signs_can(differ: int) -> None:
    mean, error, tails, freedom = judged(np.append(np.zeros(300), -np.linspace(1, 1.2, differ)))
    assert tails.rows[0] == differ
    assert difference_p(mean / error, tails, freedom)[0] == max(2.0 ** (1 - differ), 0.03125)
    low, high = difference_bounds(mean, error, tails, freedom, np.asarray(stats.t.isf(0.025, freedom)))
    assert low[0] < mean[0] < high[0]
    assert (high[0] < 0) == (differ == 6)


def test_a_difference_is_0_where_the_test_does_not_speak_against_it() -> None:
    random, freedom = np.random.default_rng(8), np.array([199.0])
    for _ in range(300):
        rows = random.exponential(size=200) ** 2 * (random.random(200) < 0.1) * random.choice([-1, 1, 1], 200)
        mean, error, tails, freedom = judged(rows)
        low, high = difference_bounds(mean, error, tails, freedom, np.asarray(stats.t.isf(0.025, freedom)))
        assert (low[0] <= 0 <= high[0]) == (difference_p(mean / error, tails, freedom)[0] >= 0.05)
        turned = difference_bounds(-mean, error, tails._replace(skew=-tails.skew), freedom, stats.t.isf(0.025, freedom))
        assert_allclose(turned, [-high, -low])


# --- rare amounts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_of_equal_amounts_gamma_bounds_are_those_of_a_count(level: float) -> None:
    """Those of Garwood (1936), which are exact for Poisson counts."""
    count, amount = np.array([1.0, 3.0, 12.0, 400.0]), 0.25
    reach = np.full(4, stats.norm.ppf((1 + level) / 2))
    low, high = gamma_bounds(amount * count, amount * np.sqrt(count), 1 / np.sqrt(count), reach)
    assert_allclose(low, amount * stats.chi2.ppf((1 - level) / 2, 2 * count) / 2, rtol=1e-9)
    assert_allclose(high, amount * stats.chi2.ppf((1 + level) / 2, 2 * (count + 1)) / 2, rtol=1e-9)


def test_gamma_bounds_are_quantiles_of_the_same_mean_and_variance() -> None:
    value, error, skew = np.array([0.02, 2.0]), np.array([0.01, 0.3]), np.array([0.4, -0.1])
    low, high = gamma_bounds(value, error, skew, np.full(2, 2.0))
    more = np.array([0.004, 0.0])  # a row more, unless the tail is on the other side
    for bounds, mean, variance, share in (
        (low, value, error**2, stats.norm.cdf(-2.0)),
        (high, value + more, error**2 + more**2, stats.norm.cdf(2.0)),
    ):
        assert_allclose(bounds, stats.gamma.ppf(share, mean**2 / variance, scale=variance / mean), rtol=1e-9)


def test_gamma_bounds_of_many_rows_are_those_of_a_normal_mean() -> None:
    low, high = gamma_bounds(np.array([3.0]), np.array([1e-4]), np.array([1e-3]), np.array([1.96]))
    assert_allclose([low[0], high[0]], [3 - 1.96e-4, 3 + 1.96e-4], rtol=1e-6)

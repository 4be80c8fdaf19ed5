"""The bootstrap: exact for tables, honest where nothing varies, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import steelyard as sy
from steelyard import Scale, assess, assess_table, compare
from steelyard.inference.bootstrap import bca, replicate
from steelyard.measures import find
from steelyard.states.statistics import Patterns
from tests.cases_of import drawn


@pytest.mark.parametrize("method", ["bootstrap", "bca", "percentile"])
def test_bounds_are_near_those_of_the_delta_method_in_large_samples(method: str) -> None:
    truth, assigned = drawn(4000, 3, 0.7, 1)
    plain, again = assess(truth, assigned), assess(truth, assigned, method=method)  # type: ignore[arg-type]
    for name in ("error", "kappa", "f1", "lr_positive", "g_mean"):
        assert again[name].value == plain[name].value
        assert again[name].method.startswith("bootstrap")
        width = plain[name].high - plain[name].low
        assert_allclose([again[name].low, again[name].high], [plain[name].low, plain[name].high], atol=0.08 * width)


def test_replicates_have_the_distribution_of_resampled_rows() -> None:
    truth, assigned = drawn(150, 3, 0.7, 2)
    evaluation = assess(truth, assigned, measures=["kappa"]).evaluation
    fast = replicate([evaluation], [evaluation.places["kappa", None]], 4000, 0)[0][:, 0]
    random = np.random.default_rng(0)
    slow = []
    for _ in range(1500):
        rows = random.integers(0, 150, 150)
        slow.append(assess(truth[rows], assigned[rows], measures=["kappa"])["kappa"].value)
    assert np.mean(fast) == pytest.approx(np.mean(slow), abs=4 * np.std(slow) / np.sqrt(1500))
    assert np.std(fast) == pytest.approx(np.std(slow), rel=0.1)


@pytest.mark.parametrize("weighting", ["weight", "group"])
def test_spread_of_replicates_is_the_standard_error(weighting: str) -> None:
    truth, assigned = drawn(2000, 3, 0.7, 3)
    random = np.random.default_rng(1)
    option = random.gamma(2.0, size=2000) if weighting == "weight" else np.arange(2000) // 5
    found = assess(truth, assigned, **{weighting: option})  # type: ignore[arg-type]
    names = ("accuracy", "kappa", "f1")
    samples = replicate([found.evaluation], [found.place(name) for name in names], 4000, 0)[0]
    for name, drawn_values in zip(names, samples.T, strict=True):
        assert np.std(drawn_values) == pytest.approx(found[name].se, rel=0.06)


def test_the_seed_decides() -> None:
    truth, assigned = drawn(100, 2, 0.7, 4)
    one, same, other = (assess(truth, assigned, method="bootstrap", seed=seed)["kappa"].low for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_a_table_without_errors_keeps_an_honest_interval() -> None:
    found = assess_table([[30, 0], [0, 20]], method="bootstrap")["kappa"]
    assert found.low < 1 == found.high
    assert not found.method.startswith("bootstrap")


def test_differences_can_be_bootstrapped() -> None:
    truth, first = drawn(1000, 2, 0.8, 5)
    second = drawn(1000, 2, 0.6, 5)[1]
    plain = compare(truth, {"a": first, "b": second})
    again = compare(truth, {"a": first, "b": second}, method="bootstrap")
    for name in ("error", "kappa", "diagnostic_odds_ratio"):
        one, other = plain.differences(name).to_pylist()[0], again.differences(name).to_pylist()[0]
        assert one["difference"] == other["difference"]
        width = one["high"] - one["low"]
        assert_allclose([other["low"], other["high"]], [one["low"], one["high"]], atol=0.25 * width)
        assert (one["p"] < 0.05) == (other["p"] < 0.05)


@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
def test_infinite_values_are_drawn_in_silence(method: str) -> None:
    """A class that is never assigned in vain, and one that was given no chance: no warning tells of it."""
    truth = np.arange(60) % 3
    sure = np.eye(3)[truth]
    wrong = sure[:, [1, 0, 2]] * (np.arange(60) < 20)[:, None] + sure * (np.arange(60) >= 20)[:, None]
    said = {"sure": sure * 0.7 + 0.1, "wrong": wrong, "worse": np.roll(wrong, 1, axis=0)}
    found = compare(truth, said, method=method, replicates=200)  # type: ignore[arg-type]
    assert found["wrong"]["log_score"].value == np.inf
    assert found["wrong"]["lr_positive"].value == np.inf
    assert len(found.table()) and len(found.differences(by_class=True))


@pytest.mark.parametrize("classes", [2, 3, 9])
def test_skill_of_replicates_is_that_of_rows_so_many_times(classes: int) -> None:
    random = np.random.default_rng(classes)
    truth, said = np.arange(90) % classes, random.dirichlet(np.ones(classes), 90)
    measures = [find("skill"), find("skill").with_parameters(score="log_score")]
    forecast = assess(truth, said, measures=measures).forecast
    mass = random.poisson(1.0, (4, 90)).astype(np.float64)
    mass[3] = truth > 0  # a class that is never drawn
    for drawn_values, weight in zip(forecast.reweighed(forecast.slots, mass), mass, strict=True):
        kept = weight > 0
        again = weight[kept].astype(int)
        weighed = assess(truth[kept], said[kept], weight=again, scale=Scale(range(classes)), measures=measures)
        assert_allclose(drawn_values, [weighed[each].value for each in measures], rtol=1e-12)


def test_rounding_does_not_decide_what_is_more_than_the_value() -> None:
    """Brier and log score of forecasts of 0.9 and 0.1 are error rates, on other scales."""
    truth = np.arange(49) % 2
    said = truth.copy()
    said[:5] ^= 1
    found = sy.assess(truth, np.where(said, 0.9, 0.1), event=1, method="bootstrap", measures=["brier", "log_score"])
    brier, log = found["brier"], found["log_score"]
    for bound in ("low", "high"):
        rates = (getattr(brier, bound) - 0.01) / 0.8, (getattr(log, bound) + np.log(0.9)) / np.log(9)
        assert rates[0] == pytest.approx(rates[1]), bound


@pytest.mark.parametrize("weight", [1.0, 0.1, 0.7, 1e3])
def test_equal_weights_change_no_replicate(weight: float) -> None:
    truth = np.arange(40) % 3
    said = np.where(np.arange(40) < 3, (truth + 1) % 3, truth)
    plain, weighed = (
        sy.assess(truth, said, method="bootstrap", weight=each, measures=["error"])["error"]
        for each in (None, np.full(40, weight))
    )
    assert (weighed.low, weighed.high) == pytest.approx((plain.low, plain.high))
    one, other = (np.where(np.isin(np.arange(40), rows), 1 - truth % 2, truth % 2) for rows in ([0, 1, 2, 30], [3]))
    both = sy.compare(truth % 2, {"one": one, "other": other}, event=1, method="bootstrap", weight=np.full(40, weight))
    p = [both.differences(name)["p"][0] for name in ("specificity", "fpr")]
    assert p[0] == p[1]


@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
def test_replicates_that_are_alike_but_for_rounding_say_nothing(method: Any) -> None:
    truth = np.arange(49) % 2
    shares = {"one": np.where(truth, 0.9, 0.1), "other": np.where(truth, 0.8, 0.2)}
    drawn, usual = (sy.compare(truth, shares, event=1, method=each, measures=["brier"]) for each in (method, "delta"))
    for name in shares:
        assert drawn[name]["brier"] == usual[name]["brier"]
    assert drawn.differences().to_json() == usual.differences().to_json()


def test_replicates_without_a_value_move_no_bound() -> None:
    """They lie neither below the value nor above it."""
    random, ones = np.random.default_rng(6), np.ones(30)
    samples, value, influences = random.normal(0.3, 1.0, (999, 1)), np.zeros(1), random.normal(size=(1, 30))
    rows = Patterns(1, np.zeros(30, np.int64), np.zeros((0, 30), np.int64), ones, ones, ones, None)
    with_gaps = np.concatenate([samples, np.full((500, 1), np.nan)])
    assert_allclose(bca(with_gaps, value, influences, rows), bca(samples, value, influences, rows))


def test_replicates_without_a_value_leave_the_shift_as_it_is() -> None:
    random = np.random.default_rng(1)
    samples, influences = random.normal(size=(4000, 1)), np.array([[-1.0, 0.0, 1.0]])
    some = np.where(random.random((4000, 1)) < 0.4, np.nan, samples)
    patterns = assess([0, 1, 1], [0, 1, 0]).evaluation.patterns
    shifts = [bca(each, np.zeros(1), influences, patterns)[0] for each in (samples, some)]
    assert_allclose(shifts, 0.0, atol=0.1)


def test_a_class_that_many_replicates_lack_has_no_lower_interval_for_that() -> None:
    truth, score = np.arange(31) == 0, np.append(15.5, np.arange(1, 31))  # half of the rest is above the one row
    found = assess(truth, score, event=True, measures=["auc"], method="bootstrap")["auc"]
    assert found.value == 0.5
    assert found.low + found.high == pytest.approx(1.0, abs=0.05)


def test_replicates_without_a_value_make_no_difference_surer() -> None:
    truth, above = np.arange(31) == 0, np.append(15.5, np.arange(1, 31))
    below = np.append(15.5, np.arange(30, 0, -1))  # as good as the other, by other rows
    both = compare(truth, {"one": above, "other": below}, event=True, measures=["auc"], method="percentile")
    assert both.differences("auc")["p"][0] > 0.9

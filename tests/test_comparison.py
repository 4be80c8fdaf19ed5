"""Paired differences, tests, bands and the rows that decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest, norm

from steelyard import Scale, SteelyardError, assess, compare, mcnemar
from steelyard.differences import holm, max_critical
from tests.cases_of import drawn


@pytest.fixture(scope="module")
def rows() -> tuple[Any, dict[str, Any]]:
    truth, first = drawn(600, 3, 0.8, 1)
    random = np.random.default_rng(2)
    second = np.where(random.random(600) < 0.5, first, random.integers(0, 3, 600))
    third = np.where(random.random(600) < 0.75, truth, random.integers(0, 3, 600))
    return truth, {"one": first, "two": second, "three": third}


def test_each_classifier_is_assessed_as_if_it_were_alone(rows: Any) -> None:
    truth, models = rows
    together = compare(truth, models)
    for name, assigned in models.items():
        assert_allclose(together[name].results.value, assess(truth, assigned).results.value)
        assert_allclose(together[name].results.low, assess(truth, assigned).results.low)


def test_differences_are_tidy(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models).differences("error")
    assert found.column_names == [*("measure", "class", "a", "b", "difference", "low", "high", "se", "p", "p_adjusted")]
    assert [(row["a"], row["b"]) for row in found] == [("one", "two"), ("one", "three"), ("two", "three")]


def test_the_standard_error_of_a_difference_is_that_of_paired_rows(rows: Any) -> None:
    truth, models = rows
    row = compare(truth, models).differences("accuracy").to_pylist()[0]
    paired = (models["one"] == truth).astype(float) - (models["two"] == truth)
    assert row["difference"] == pytest.approx(paired.mean())
    assert row["se"] == pytest.approx(paired.std() / math.sqrt(600))


def test_holm_against_r() -> None:
    # p.adjust(c(0.01, 0.04, 0.03, NA, 0.005), "holm") in R
    assert_allclose(holm([0.01, 0.04, 0.03, math.nan, 0.005]), [0.03, 0.06, 0.06, math.nan, 0.02])


def test_adjusted_p_values_are_those_of_the_whole_table(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models).differences()
    assert_allclose(found["p_adjusted"], holm(found["p"]))
    assert all(adjusted >= p for p, adjusted in zip(found["p"], found["p_adjusted"], strict=True))


@pytest.mark.parametrize(("b", "c"), [(3, 9), (0, 5), (10, 10), (0, 0), (40, 70)])
def test_mcnemar_is_a_binomial_test(b: int, c: int) -> None:
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(b, c, "exact").p == pytest.approx(expected)
    middle = mcnemar(b, c, "mid-p").p
    assert middle <= expected + 1e-12
    if b + c and b != c:
        smaller = min(b, c)
        below = sum(math.comb(b + c, k) for k in range(smaller)) / 2 ** (b + c)
        at = math.comb(b + c, smaller) / 2 ** (b + c)
        assert middle == pytest.approx(min(1.0, 2 * (below + at / 2)))


def test_mcnemar_chooses_by_the_number_of_discordant_rows() -> None:
    assert mcnemar(5, 19).method == "exact"
    assert mcnemar(5, 20).method == "corrected"
    with pytest.raises(SteelyardError, match="exact"):
        mcnemar(1, 2, "sure")


def test_mcnemar_of_a_comparison_counts_the_rows_that_only_one_gets_right(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models).mcnemar("one", "two")
    assert found.only_a == np.sum((models["one"] == truth) & (models["two"] != truth))
    assert found.only_b == np.sum((models["one"] != truth) & (models["two"] == truth))


def test_simultaneous_bands_are_wider_than_single_and_narrower_than_bonferroni(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models)
    single, bands = found.differences(), found.differences(simultaneous=True)
    assert all(low <= other for low, other in zip(bands["low"], single["low"], strict=True))
    assert all(high >= other for high, other in zip(bands["high"], single["high"], strict=True))
    row = single["measure"].index("kappa")
    ratio = (bands["high"][row] - bands["low"][row]) / (single["high"][row] - single["low"][row])
    bonferroni = norm.ppf(1 - 0.025 / len(single)) / norm.ppf(0.975)
    assert 1.05 < ratio < bonferroni


def test_the_critical_value_of_independent_slots_is_known() -> None:
    expected = norm.ppf((1 + 0.95 ** (1 / 5)) / 2)
    assert max_critical(np.eye(5), 0.95, math.inf) == pytest.approx(expected, abs=0.02)
    assert max_critical(np.ones((5, 5)), 0.95, math.inf) == pytest.approx(norm.ppf(0.975), abs=0.02)


def test_the_simultaneous_table_has_overall_values_only(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models)
    wide = found.table(simultaneous=True)
    assert len(wide) == 3 * len(found.settings.measures)
    row = next(row for row in wide if row["model"] == "two" and row["measure"] == "kappa")
    assert row["low"] < found["two"]["kappa"].low
    assert row["high"] > found["two"]["kappa"].high


def test_effects_of_patterns_add_up_to_nothing_and_rows_to_patterns(rows: Any) -> None:
    """Influences are centred: what favours one classifier and what favours the other balance at the estimate."""
    truth, models = rows
    found = compare(truth, {name: models[name] for name in ("one", "two")})
    patterns = found.deciding_patterns("kappa", "one", "two")
    assert sum(patterns["together"]) == pytest.approx(0, abs=1e-12)
    deciding = found.deciding_rows("kappa", "one", "two", 600)
    assert sum(deciding["effect"]) == pytest.approx(0, abs=1e-12)
    first = deciding.to_pylist()[0]
    assert truth[first["row"]] == first["truth"]
    assert models["one"][first["row"]] == first["one"]


def test_leaving_a_deciding_row_out_moves_the_difference_by_about_its_effect(rows: Any) -> None:
    truth, models = rows
    pair = {name: models[name] for name in ("one", "two")}
    found = compare(truth, pair)
    row = found.deciding_rows("mcc", "one", "two", 1).to_pylist()[0]
    keep = np.arange(600) != row["row"]
    without = compare(truth[keep], {name: values[keep] for name, values in pair.items()}, scale=Scale([0, 1, 2]))
    before, after = (c.differences("mcc")["difference"][0] for c in (found, without))
    assert before - after == pytest.approx(row["effect"], rel=0.05)


def test_rows_keep_their_number_when_others_are_dropped() -> None:
    truth = [None, "a", "b", "a", "b", "a"]
    found = compare(truth, {"x": ["a", "a", "a", "a", "b", "a"], "y": ["a", "a", "b", "a", "b", "a"]}, missing="drop")
    assert found.deciding_rows("error", "x", "y", 1)["row"] == [2]


def test_best_and_verdict(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models)
    assert found.best("error") == found.best("kappa") == "one"
    assert "ahead of two" in found.verdict("error")
    with pytest.raises(SteelyardError, match="better"):
        found.best("prevalence")
    with pytest.raises(SteelyardError, match="no classifier 'four'"):
        _ = found["four"]


def test_slices_are_compared_apart(rows: Any) -> None:
    truth, models = rows
    part = np.where(np.arange(600) < 200, "early", "late")
    found = compare(truth, models, by=part)
    alone = compare(truth[:200], {name: values[:200] for name, values in models.items()})
    assert_allclose(
        found.slices["early"].differences("kappa")["low"], alone.differences("kappa")["low"], rtol=1e-9, atol=1e-12
    )
    assert set(found.table()["slice"]) == {None, "early", "late"}


def test_by_class_adds_the_classes(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models).differences("sensitivity", by_class=True)
    assert found["class"] == [None] * 3 + [0] * 3 + [1] * 3 + [2] * 3


def test_clusters_widen_differences() -> None:
    truth, first = drawn(100, 2, 0.8, 1)
    second = drawn(100, 2, 0.7, 1)[1]
    many = [np.repeat(column, 10) for column in (truth, first, second)]
    alone = compare(truth, {"x": first, "y": second}).differences("kappa").to_pylist()[0]
    copied = compare(many[0], {"x": many[1], "y": many[2]}, group=np.repeat(np.arange(100), 10))
    row = copied.differences("kappa").to_pylist()[0]
    assert row["se"] == pytest.approx(alone["se"] * math.sqrt(100 / 99))


def test_bands_can_be_had_where_some_measures_are_undefined() -> None:
    found = compare(
        ["a", "a", "a", "a"], {"x": ["a", "a", "a", "b"], "y": ["a", "a", "a", "a"]}, scale=Scale(["a", "b"])
    )
    bands = found.differences(simultaneous=True)
    row = bands["measure"].index("error")
    assert bands["low"][row] < bands["difference"][row] < bands["high"][row]
    assert math.isnan(bands["low"][bands["measure"].index("mcc")])


def test_an_infinite_value_leaves_a_one_sided_difference() -> None:
    truth = [0] * 30 + [1] * 30
    never_wrong_on_zero = [0] * 30 + [1] * 20 + [0] * 10
    found = compare(truth, {"x": [0] * 25 + [1] * 5 + [1] * 25 + [0] * 5, "y": never_wrong_on_zero})
    row = found.differences("lr_positive").to_pylist()[0]
    assert row["difference"] == row["low"] == -math.inf
    assert math.isfinite(row["high"])
    assert row["p"] > 0

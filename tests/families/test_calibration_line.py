"""The line along which forecasts came true: what it is, what it is not moved by, and how sure it is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit, logit

import steelyard as sy
from steelyard.core.errors import OutsideUnitInterval

NUMBERS = ("value", "low", "high", "se", "p")


def drawn(rows: int, seed: int, slope: float = 1.0, shift: float = 0.0) -> tuple[Any, Any]:
    """Outcomes, and forecasts along a line: these come true with this slope and this much more often."""
    random = np.random.default_rng(seed)
    odds = random.normal(size=rows)
    return (random.random(rows) < expit(shift + slope * odds)).astype(int), expit(odds)


def line(truth: Any, chance: Any, **options: Any) -> dict[str, dict[str, Any]]:
    table = sy.assess(truth, chance, scale=sy.Scale([0, 1], event=1), measures=["brier"], **options).calibration_line()
    return {row["part"]: row for row in table}


def numbers(found: dict[str, dict[str, Any]]) -> Any:
    return np.array([[row[name] for name in NUMBERS] for row in found.values()])


def test_a_table_with_a_row_for_each_way_to_be_off() -> None:
    truth, chance = drawn(200, 1)
    table = sy.assess(truth, chance, event=1).calibration_line()
    assert table.column_names == ["class", "part", "ideal", "value", "low", "high", "se", "p", "note"]
    assert table["part"] == ["observed / expected", "intercept", "slope"]
    assert table["ideal"] == [1, 0, 1]
    assert table["class"] == [1, 1, 1]
    assert table["note"] == [""] * 3


def test_the_line_is_found_from_which_outcomes_were_drawn() -> None:
    found = line(*drawn(200_000, 2, slope=0.6))
    assert found["slope"]["value"] == pytest.approx(0.6, abs=5 * found["slope"]["se"])
    found = line(*drawn(200_000, 3, shift=-0.5))
    assert found["intercept"]["value"] == pytest.approx(-0.5, abs=5 * found["intercept"]["se"])
    assert found["observed / expected"]["value"] < 0.9
    assert found["intercept"]["p"] < 1e-6 < found["slope"]["p"]


@given(st.integers(0, 10_000), st.sampled_from([20, 60, 300]))
def test_no_other_line_is_likelier(seed: int, rows: int) -> None:
    truth, chance = drawn(rows, seed, slope=0.7, shift=0.3)
    odds, found = logit(chance), line(truth, chance)
    assume(not found["slope"]["note"] and not found["intercept"]["note"])

    def surprise(parameters: Any, fixed: float | None = None) -> float:
        steep = parameters[1] if fixed is None else fixed
        return float(np.logaddexp(0, np.where(truth == 1, -1, 1) * (parameters[0] + steep * odds)).sum())

    least = minimize(surprise, [0.0, 1.0], method="BFGS", options={"gtol": 1e-9})
    assert found["slope"]["value"] == pytest.approx(least.x[1], rel=1e-4, abs=1e-4)
    least = minimize(surprise, [0.0], args=(1.0,), method="BFGS", options={"gtol": 1e-9})
    assert found["intercept"]["value"] == pytest.approx(least.x[0], rel=1e-4, abs=1e-4)
    assert found["observed / expected"]["value"] == pytest.approx(truth.sum() / chance.sum())


def test_the_line_is_found_however_far_out_single_forecasts_are() -> None:
    random = np.random.default_rng(1000)
    odds = np.clip(random.standard_t(1, 1000), -600, 36)
    truth, chance = (random.random(1000) < expit(50 * odds)).astype(int), expit(odds)
    odds, slope = logit(chance), line(truth, chance)["slope"]["value"]
    # At the likeliest line neither a shift nor another slope gains anything: found by the shift that suits the slope.
    shift = brentq(lambda shift: float((truth - expit(shift + slope * odds)).sum()), -50, 50)
    gap = truth - expit(shift + slope * odds)
    assert gap @ odds == pytest.approx(0, abs=1e-6 * np.abs(gap) @ np.abs(odds))


@pytest.mark.parametrize("light", [1e-2, 8e-5, 1e-6])
def test_the_slope_is_found_where_weights_are_far_apart(light: float) -> None:
    """Heavy rows that a threshold sets apart, close to each other, and light ones that it does not."""
    odds = np.array([-4.646, -1.508, -0.638, -0.611, 0.874, 2.84, 3.931])
    truth, weight = np.array([0, 1, 0, 1, 1, 1, 1]), np.array([1.9, light, 0.13, 2e4, 160.0, 5.0, light])

    def lost(slope: float) -> float:  # with the best shift
        def at(shift: float) -> float:
            return float(weight @ (np.logaddexp(0.0, shift + slope * odds) - truth * (shift + slope * odds)))

        middle = 0.6245 * slope  # between the two that are close
        return float(minimize_scalar(at, bounds=(middle - 50, middle + 50), options={"xatol": 1e-9}).fun)

    slope = line(truth, expit(odds), weight=weight)["slope"]["value"]
    assert lost(slope) <= min(lost(0.9 * slope), lost(1.1 * slope))


def test_the_intercept_is_found_where_forecasts_are_far_apart() -> None:
    truth, odds = [0, 1, 1, 1, 1, 0], np.array([18.0, -7.0, 2.0, 16.0, 3.0, 11.0])
    shift = line(truth, expit(odds))["intercept"]["value"]
    assert shift == pytest.approx(brentq(lambda shift: float((truth - expit(shift + odds)).sum()), -20, 20))


def test_a_shift_and_a_stretch_of_log_odds_are_taken_back() -> None:
    truth, chance = drawn(500, 4)
    before, odds = line(truth, chance), logit(chance)
    shifted = line(truth, expit(odds + 0.7))
    assert shifted["intercept"]["value"] == pytest.approx(before["intercept"]["value"] - 0.7)
    assert shifted["slope"]["value"] == pytest.approx(before["slope"]["value"])
    assert shifted["slope"]["se"] == pytest.approx(before["slope"]["se"])
    stretched = line(truth, expit(2 * odds))
    assert stretched["slope"]["value"] == pytest.approx(before["slope"]["value"] / 2)
    assert stretched["slope"]["se"] == pytest.approx(before["slope"]["se"] / 2)


def test_the_other_class_has_the_same_slope_and_the_opposite_intercept() -> None:
    truth, chance = drawn(300, 5, slope=0.5, shift=0.4)
    own, other = line(truth, chance), line(1 - truth, 1 - chance)
    assert_allclose(numbers(own)[2], numbers(other)[2], rtol=1e-7)
    assert own["intercept"]["value"] == pytest.approx(-other["intercept"]["value"])
    assert own["intercept"]["low"] == pytest.approx(-other["intercept"]["high"])
    told = sy.assess(truth, chance, event=1).calibration_line(0)
    assert told["value"][1:] == pytest.approx([other[part]["value"] for part in ("intercept", "slope")])


def test_weights_are_rows_that_repeat() -> None:
    truth, chance = drawn(200, 6)
    weight = np.random.default_rng(6).integers(0, 4, 200)
    repeated = line(np.repeat(truth, weight), np.repeat(chance, weight))
    assert_allclose(numbers(line(truth, chance, weight=weight, weight_kind="frequency")), numbers(repeated), rtol=1e-6)


def test_what_sampling_weights_are_measured_in_does_not_matter() -> None:
    truth, chance = drawn(200, 7)
    weight = np.random.default_rng(7).uniform(0.5, 3, 200)
    assert_allclose(
        numbers(line(truth, chance, weight=weight)), numbers(line(truth, chance, weight=70 * weight)), rtol=1e-6
    )


def test_clusters_that_repeat_their_rows_tell_no_more_than_one_row() -> None:
    truth, chance = drawn(200, 8)
    once = line(truth, chance, group=np.arange(200))
    twice = line(np.repeat(truth, 2), np.repeat(chance, 2), group=np.repeat(np.arange(200), 2))
    assert_allclose(numbers(once), numbers(twice), rtol=1e-6)
    assert line(np.repeat(truth, 2), np.repeat(chance, 2))["slope"]["se"] < 0.8 * once["slope"]["se"]


def test_one_cluster_tells_nothing_of_spread() -> None:
    truth, chance = drawn(50, 9)
    found = line(truth, chance, group=np.zeros(50, int))
    assert (found["observed / expected"]["low"], found["observed / expected"]["high"]) == (0, np.inf)
    assert (found["slope"]["low"], found["slope"]["high"]) == (-np.inf, np.inf)


def test_where_there_is_no_value_the_note_says_why() -> None:
    constant = line([0, 1, 1, 0], [0.3] * 4)
    assert constant["slope"]["note"] == "all forecasts are the same"
    assert constant["intercept"]["value"] == pytest.approx(-logit(0.3))
    parted = line([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    assert "sets the class apart" in line([0, 1, 0, 1, 1], [0.3, 0.3, 1 - 0.7, 1 - 0.7, 0.7])["slope"]["note"]
    assert "sets the class apart" in parted["slope"]["note"]
    assert np.isnan(parted["slope"]["value"])
    assert np.isfinite(parted["intercept"]["value"])
    never, always = line([0, 0, 0], [0.1, 0.2, 0.3]), line([1, 1, 1], [0.1, 0.2, 0.3])
    assert {row["note"] for row in never.values()} == {"the class never came true"}
    assert [row["note"] for row in always.values()] == ["", *["the class always came true"] * 2]
    assert always["observed / expected"]["value"] == pytest.approx(5)
    labels = line([0, 1, 1, 0], [0.0, 1.0, 0.0, 0.0])
    assert labels["slope"]["note"] == "all forecasts are 0 or 1"
    for found in (never, parted, labels):
        assert all(np.isnan(row["low"]) for row in found.values() if np.isnan(row["value"]))


def test_forecasts_that_are_certain_are_left_out_and_counted() -> None:
    truth, chance = drawn(100, 10)
    said, happened = np.append(chance, [0.0, 1.0, 1.0]), np.append(truth, [0, 1, 0])
    found, without = line(happened, said), line(truth, chance)
    for part in ("intercept", "slope"):
        assert found[part]["note"] == "without 3 forecasts of 0 or 1 (1 wrong)"
        assert found[part]["value"] == pytest.approx(without[part]["value"])
    assert not found["observed / expected"]["note"]
    assert found["observed / expected"]["value"] == pytest.approx(happened.sum() / said.sum())


def test_why_rows_that_are_left_have_no_line_is_said_of_these_alone() -> None:
    found = line([0, 0, 1, 1], [0.1, 0.3, 1.0, 1.0])
    assert found["observed / expected"]["value"] > 0
    for part in ("intercept", "slope"):
        assert found[part]["note"] == "without 2 forecasts of 0 or 1 (none wrong), the class never came true"


def test_forecasts_that_are_left_out_are_counted_as_often_as_they_occur() -> None:
    truth, chance = drawn(100, 12)
    said, happened = np.append(chance, 1.0), np.append(truth, 0)
    assert line(happened, said)["slope"]["note"] == "without 1 forecast of 0 or 1 (1 wrong)"
    weight = np.append(np.ones(100, int), 3)
    assert (
        line(happened, said, weight=weight, weight_kind="frequency")["slope"]["note"]
        == "without 3 forecasts of 0 or 1 (3 wrong)"
    )


def test_what_rows_hardly_tell_is_unsure_and_no_warning() -> None:
    far = [1e-300, 1e-200, 1e-300, 1 - 1e-16, 1 - 1e-16, 0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = line([0, 0, 1, 1, 0, 1], far)["intercept"]
        ratio = line([1, 0], [0.3, 0.4], level=0.999)["observed / expected"]
    assert found["high"] - found["low"] > 1e10
    assert (ratio["low"], ratio["high"]) == (0, np.inf)


def test_where_nothing_scatters_what_is_ideal_is_not_doubted_and_what_is_not_is() -> None:
    right = line([0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0])["observed / expected"]
    assert (right["value"], right["low"], right["high"], right["p"]) == (1, 1, 1, 1)
    unlikely = line([1] * 4 + [0], [1e-200, 1e-150, 1e-200, 1e-180, 1e-100])
    assert all(row["p"] < 0.05 or np.isnan(row["value"]) or np.isinf(row["high"]) for row in unlikely.values())


def test_every_class_has_a_line() -> None:
    random = np.random.default_rng(11)
    shares = random.dirichlet([2, 2, 2], 300)
    truth = np.array(list("abc"))[(random.random((300, 1)) > shares.cumsum(axis=1)).sum(axis=1)]
    found = sy.assess(truth, shares, scale=sy.Scale(list("abc")))
    table = found.calibration_line()
    assert table["class"] == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    alone = sy.assess(truth == "b", shares[:, 1], event=True).calibration_line()
    assert_allclose(found.calibration_line("b")["value"], alone["value"])
    assert table["value"][3:6] == found.calibration_line("b")["value"]


def test_scores_that_are_no_probabilities_are_refused() -> None:
    with pytest.raises(OutsideUnitInterval, match="no probabilities"):
        sy.assess([0, 1, 1], [-1.0, 2.0, 3.0], event=1, threshold=0.0).calibration_line()


def test_intervals_hold_the_line_most_of_the_time() -> None:
    held = np.zeros(2)
    for seed in range(200):
        found = line(*drawn(150, seed, slope=0.6, shift=0.0))
        held += found["slope"]["low"] <= 0.6 <= found["slope"]["high"], found["slope"]["p"] < 0.05
    assert held[0] / 200 == pytest.approx(0.95, abs=0.05)
    assert held[1] / 200 > 0.4, "that forecasts are too sure is seen"

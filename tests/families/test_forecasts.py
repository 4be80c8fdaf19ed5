"""Scores of probability forecasts and calibration errors, as a user meets them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn import metrics

from steelyard import Assessment, Scale, all_measures, assess, compare, find
from steelyard.core.errors import BadOption, OutsideUnitInterval, UnknownMeasure
from steelyard.families.bins.evaluation import FEWEST_ROWS
from steelyard.inference.settings import Method
from steelyard.maths.quantiles import WORTH_COUNTING, quantiles
from steelyard.measures.registry import REGISTRY
from steelyard.states.statistics import CALIBRATION, FORECASTS

CHANCE, TRUTH = np.array([0.1, 0.4, 0.5, 0.8, 0.1]), [0, 1, 0, 1, 1]  # the lecture's five rows
COST = {0: {0: 0, 1: 1}, 1: {0: 5, 1: 0}}
NAMES = [entry.name for entry in all_measures().values() if entry.statistic in (FORECASTS, CALIBRATION)]
CALIBRATIONS = ("calibration_error", "top_calibration_error")

each_measure = pytest.mark.parametrize("name", NAMES)


def drawn(rows: int, seed: int, power: float = 1.0) -> tuple[Any, Any]:
    """True labels 0 and 1 with known probabilities, and a forecast that is calibrated if the power is 1."""
    random = np.random.default_rng(seed)
    chance = random.uniform(0.02, 0.98, rows)
    return (random.random(rows) < chance).astype(int), chance**power


def drawn_classes(rows: int, classes: int, seed: int) -> tuple[Any, Any]:
    """True classes, numbered, and memberships that they were drawn by."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.ones(classes), rows)
    codes = (random.random((rows, 1)) > np.cumsum(shares, axis=1)).sum(axis=1)
    return np.minimum(codes, classes - 1), shares


def of_event(truth: Any, chance: Any, *measures: Any, **options: Any) -> Assessment:
    return assess(truth, chance, **{"event": 1, "measures": list(measures), **options})


# --- known values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 7, 20])
@pytest.mark.parametrize("away", [1e-3, 1e-6, 1e-9])
def test_forecasts_that_are_nearly_right_have_a_brier_score_all_the_same(classes: int, away: float) -> None:
    truth = np.arange(40) % classes
    shares = np.full((40, classes), away / (classes - 1))
    shares[np.arange(40), truth] = 1 - away
    expected = (1 - (1 - away)) ** 2 + away**2 / (classes - 1)
    for weight in (None, np.linspace(0.5, 2.0, 40)):
        found = assess(truth, shares, weight=weight, measures=["brier_multiclass"])
        assert found["brier_multiclass"].value == pytest.approx(expected, rel=1e-12, abs=0)
    if classes == 2:
        alone = of_event(truth, shares[:, 1], "brier", "brier_multiclass")
        assert alone["brier_multiclass"].value == pytest.approx(2 * alone["brier"].value, rel=1e-12, abs=0)


def test_scores_of_light_rows_keep_their_digits_beside_heavy_ones() -> None:
    chance, weight = np.array([0.9, 0.8, 0.1, 0.2]), np.array([1e-6, 2e-6, 1e3, 3e3])
    found = assess([1, 1, 0, 0], chance, event=1, weight=weight, measures=["net_benefit"])["net_benefit"]
    assert found.sum == pytest.approx(3e-6, rel=1e-12, abs=0)
    assert found.value == pytest.approx(3e-6 / 4e3, rel=1e-8, abs=0)


def test_the_five_rows_of_the_lecture() -> None:
    found = assess(TRUTH, CHANCE, event=1)
    assert found["log_score"].sum == pytest.approx(4.2405, abs=5e-5)
    assert found["log_score"].value == pytest.approx(4.240527072400182 / 5, rel=1e-12)
    assert found["brier"].value == pytest.approx(0.294, rel=1e-12)
    assert found["brier_multiclass"].value == pytest.approx(0.588, rel=1e-12)
    assert found["brier"].sum == pytest.approx(5 * 0.294)


def test_only_scores_of_rows_have_a_sum() -> None:
    found = assess(TRUTH, CHANCE, event=1)
    assert found["skill"].sum is None
    assert found["calibration_error"].sum is None
    assert found["accuracy"].sum is None


def test_a_sum_counts_weights() -> None:
    found = of_event(TRUTH, CHANCE, "brier", weight=[1, 2, 3, 1, 1], weight_kind="frequency")["brier"]
    expected = [1, 2, 3, 1, 1] @ (CHANCE - np.array(TRUTH)) ** 2
    assert found.sum == pytest.approx(expected)
    assert found.value == pytest.approx(expected / 8)
    assert found.n == 8


def test_the_other_names_of_scores_are_known() -> None:
    assert find("log_loss") is find("cross_entropy") is find("log_score")
    assert find("brier_score") is find("brier")
    assert find("rps") is find("ranked_probability_score")
    with pytest.raises(UnknownMeasure, match="'calibration_error' is another number"):
        find("ece")


@pytest.mark.parametrize("order", [["low", "medium", "high"], ["high", "low", "medium"], ["medium", "high", "low"]])
def test_a_perfect_classifier_in_a_frame_scores_perfectly(order: list[str]) -> None:
    """The classes have names, so their order does not matter; scikit-learn takes columns in sorted order."""
    truth = np.array(["low", "medium", "high"] * 4)
    frame = pd.DataFrame({label: (truth == label).astype(float) for label in order})
    named = frame.rename(columns=lambda label: f"p_{label}").assign(grade=truth)
    columns = {label: f"p_{label}" for label in order}
    for found in (
        assess(truth, frame),
        assess(truth, frame, scale=Scale(["low", "medium", "high"])),
        assess(named, truth="grade", membership=columns),
        assess(named, truth="grade", membership=columns, scale=Scale(["low", "medium", "high"])),
    ):
        assert found["log_score"].value == 0
        assert found["log_score"].sum == 0
        assert found["brier"].value == found["brier_multiclass"].value == 0
        assert found["ranked_probability_score"].value == found["zero_one_score"].value == 0
        assert found["spherical_score"].value == found["skill"].value == 1


def test_the_same_array_is_as_wrong_as_can_be_to_scikit_learn() -> None:
    truth = np.array(["low", "medium", "high"] * 4)
    array = np.stack([truth == label for label in ("low", "medium", "high")], axis=1).astype(float)
    assert metrics.log_loss(truth, array) == pytest.approx(36.04, abs=0.01)
    ours = assess(truth, array, scale=Scale(["low", "medium", "high"]), measures=["log_score"])
    assert ours["log_score"].value == 0


@pytest.mark.parametrize("seed", range(3))
def test_log_and_brier_scores_are_those_of_scikit_learn(seed: int) -> None:
    truth, chance = drawn(200, seed)
    weight = np.random.default_rng(seed).gamma(2.0, size=200)
    for weights in (None, weight):
        found = of_event(truth, chance, "log_score", "brier", weight=weights)
        assert found["log_score"].value == pytest.approx(metrics.log_loss(truth, chance, sample_weight=weights))
        assert found["brier"].value == pytest.approx(metrics.brier_score_loss(truth, chance, sample_weight=weights))


def test_many_classes_are_scored_as_few_are() -> None:
    truth, shares = drawn_classes(300, 20, 1)
    found = assess(truth, shares, measures=["log_score", "brier", "brier_multiclass", "ranked_probability_score"])
    own, happened = shares[np.arange(300), truth], np.eye(20)[truth]
    assert found["log_score"].value == pytest.approx(-np.log(own).mean())
    assert found["brier_multiclass"].value == pytest.approx(np.square(shares - happened).sum(axis=1).mean())
    steps = np.cumsum(shares - happened, axis=1)[:, :-1]
    assert found["ranked_probability_score"].value == pytest.approx(np.square(steps).sum(axis=1).mean())
    for label in (0, 7, 19):
        expected = np.square(shares[:, label] - happened[:, label]).mean()
        assert found["brier", label].value == pytest.approx(expected)


# --- hard classifiers, and probabilities of 0 -----------------------------------------------------------------


def test_a_hard_classifier_has_a_finite_brier_score_and_an_infinite_log_score() -> None:
    truth, assigned = ["a", "b", "c", "b", "a", "c"], ["a", "b", "b", "c", "a", "c"]
    found = assess(truth, assigned, measures=["brier", "brier_multiclass", "log_score"])
    assert found["brier_multiclass"].value == pytest.approx(2 * 2 / 6)
    assert found["brier"].value == pytest.approx(2 * 2 / 6 / 3)
    assert 0 < found["brier"].low < found["brier"].value < found["brier"].high < 1
    score = found["log_score"]
    assert score.value == score.low == score.high == score.sum == math.inf
    assert score.note == "infinite: 2 rows gave probability 0 to the true class"
    assert math.isnan(score.se)


def test_the_note_on_an_infinite_score_counts_rows_not_patterns() -> None:
    truth, assigned = ["a"] * 40 + ["b"] * 41, ["a"] * 39 + ["b"] * 42
    found = assess(truth, assigned, measures=["log_score"])["log_score"]
    assert found.note == "infinite: 1 row gave probability 0 to the true class"
    weighed = assess(truth, assigned, measures=["log_score"], weight=np.full(81, 3), weight_kind="frequency")[
        "log_score"
    ]
    assert weighed.note == "infinite: 3 rows gave probability 0 to the true class"


def test_a_hard_classifier_that_never_errs_has_a_log_score_of_0() -> None:
    found = assess(["a", "b"] * 5, ["a", "b"] * 5, measures=["log_score"])["log_score"]
    assert found.value == found.low == 0
    assert found.high > 0
    assert found.note == ""


def test_labels_are_not_scored_as_forecasts_unless_somebody_asks() -> None:
    shown = {row["measure"] for row in assess(["a", "b", "a"], ["a", "b", "b"]).table()}
    assert not shown & set(NAMES)


def test_clipping_is_asked_for_and_told() -> None:
    chance, truth = np.array([0.0, 1.0, 0.5, 0.2]), [1, 1, 0, 0]
    plain, clipped = find("log_score"), find("log_score", clip=1e-15)
    found = of_event(truth, chance, plain, clipped, threshold=0.5)
    assert found[plain].value == math.inf
    assert found[plain].note == "infinite: 1 row gave probability 0 to the true class"
    expected = -(math.log(1e-15) + math.log(0.5) + math.log(0.8)) / 4
    assert found[clipped].value == pytest.approx(expected)
    assert found[clipped].note == "1 row clipped at 1e-15"
    assert math.isfinite(found[clipped].high)
    assert of_event(truth, np.clip(chance, 0.1, 0.9), clipped)[clipped].note == ""


def test_a_row_that_weighs_nothing_cannot_make_a_score_infinite() -> None:
    chance, truth = np.array([0.0, 0.75, 0.5, 0.25]), [1, 1, 0, 0]
    found = of_event(truth, chance, "log_score", weight=[0, 1, 1, 1])["log_score"]
    without = of_event(truth[1:], chance[1:], "log_score")["log_score"]
    assert found.value == pytest.approx(without.value)
    assert [found.low, found.high] == pytest.approx([without.low, without.high])
    assert found.note == ""


# --- scores that are no probabilities -------------------------------------------------------------------------

LOG_ODDS = np.array([-2.5, 3.5, 0.25, 1.5])


@each_measure
def test_scores_outside_0_and_1_are_refused_by_measures_of_forecasts(name: str) -> None:
    with pytest.raises(UnknownMeasure, match=name) as told:
        of_event([0, 1, 0, 1], LOG_ODDS, name, threshold=0.0, cost=COST)
    assert "exp(-score)" in str(told.value)
    assert "softmax" in str(told.value)


def test_scores_outside_0_and_1_without_a_threshold_are_told_how_to_become_probabilities() -> None:
    with pytest.raises(OutsideUnitInterval, match=r"exp\(-score\)"):
        of_event([0, 1, 0, 1], LOG_ODDS, "log_score")
    with pytest.raises(OutsideUnitInterval, match="softmax"):
        assess(["a", "b", "c"], np.array([[2.0, 1, 0], [0, 3, 1], [1, 1, 5]]), measures=["brier"])


def test_scores_outside_0_and_1_do_without_measures_of_forecasts_where_none_was_named() -> None:
    found = assess([0, 1, 0, 1], LOG_ODDS, event=1, threshold=0.0, cost=COST)
    shown = {row["measure"] for row in found.table()}
    assert {"auc", "accuracy", "cost"} <= shown
    assert not shown & set(NAMES)
    said = {"odds": LOG_ODDS, "sure": [0.1, 0.9, 0.2, 0.6]}
    several = compare([0, 1, 0, 1], said, event=1, threshold={"odds": 0.0, "sure": 0.5})
    assert not {row["measure"] for row in several.table()} & set(NAMES)


@pytest.mark.parametrize("name", ["log_score", "brier", "skill", "calibration_error"])
def test_scores_outside_0_and_1_are_not_scored_later_either(name: str) -> None:
    found = assess([0, 1, 0, 1], LOG_ODDS, event=1, threshold=0.0)
    with pytest.raises((UnknownMeasure, OutsideUnitInterval)):
        float(found[name])  # an estimate of it would be beyond its span


# --- intervals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*[name for name in NAMES if name != "top_k_accuracy"], "top_k_accuracy(k=1)"])
@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
def test_bootstrap_intervals_are_near_those_of_the_delta_method(name: str, method: Method) -> None:
    truth, chance = drawn(400, 1, power=2.0)
    options: dict[str, Any] = {"cost": COST, "replicates": 600}
    usual = of_event(truth, chance, name, **options)[name]
    found = of_event(truth, chance, name, **options, method=method)[name]
    width = usual.high - usual.low
    assert found.value == usual.value
    assert found.low < found.value < found.high
    # Near 0 the usual interval of a calibration error spends all of the chance to miss on one side.
    near = 0.45 if name in CALIBRATIONS else 0.35
    assert abs(found.low - usual.low) < near * width
    assert abs(found.high - usual.high) < near * width
    assert found.method.startswith("bootstrap")


@each_measure
@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
def test_bootstrap_intervals_of_calibrated_memberships_are_finite(name: str, method: Method) -> None:
    truth, shares = drawn_classes(150, 3, 2)
    found = assess(truth, shares, measures=[name], cost=1 - np.eye(3), method=method, replicates=200)[name]
    assert math.isfinite(found.low)
    assert math.isfinite(found.high)
    assert found.low <= found.value <= found.high


@each_measure
def test_a_plain_interval_is_the_value_and_its_standard_errors(name: str) -> None:
    truth, chance = drawn(400, 1, power=2.0)
    found = of_event(truth, chance, name, cost=COST, method="plain")[name]
    assert found.method == "plain"
    reach = 1.959963984540054 * found.se
    low, high = all_measures()[name].span
    assert [found.low, found.high] == pytest.approx([max(found.value - reach, low), min(found.value + reach, high)])


@each_measure
@pytest.mark.parametrize("rows", [6, 30, 300])
def test_the_interval_of_a_forecast_that_was_never_wrong_has_a_width(name: str, rows: int) -> None:
    truth = np.array(["a", "b", "c"])[np.arange(rows) % 3]
    perfect = {label: (truth == label).astype(float) for label in "abc"}
    costs = {i: {j: float(i != j) for j in "abc"} for i in "abc"}
    found = assess(truth, perfect, measures=[name], cost=costs)[name]
    assert found.low < found.high
    if name == "net_benefit":  # the class may be more frequent than it is here
        assert found.low < found.value < found.high
    else:
        assert found.value == (found.low if found.value == 0 else found.high)


@pytest.mark.parametrize("rows", [1, 6, 30])
def test_no_decision_costs_less_than_the_least_cost_or_more_than_the_greatest(rows: int) -> None:
    truth, shares = drawn_classes(rows, 2, 3)
    for said in (np.eye(2)[truth], np.eye(2)[1 - truth], shares):
        options: dict[str, Any] = {"scale": Scale([0, 1]), "cost": COST}
        found = assess(truth, said, measures=["cost", "decision_cost"], **options)
        assert 0 <= found["cost"].low <= found["cost"].high <= 5
        assert 0 <= found["decision_cost"].low <= found["decision_cost"].high <= 5


def test_one_row_tells_nothing_about_spread() -> None:
    found = assess(["a"], {"a": [0.75], "b": [0.25]}, scale=Scale(["a", "b"]))
    assert (found["brier"].low, found["brier"].high) == (0, 1)
    assert (found["log_score"].low, found["log_score"].high) == (0, math.inf)
    assert math.isnan(found["skill"].value)
    assert found["skill"].note


# --- slices, costs, tables ------------------------------------------------------------------------------------


@each_measure
def test_every_slice_has_its_own_value(name: str) -> None:
    truth, chance = drawn(300, 4, power=1.5)
    part = np.array(["old", "new", "new"] * 100)
    found = assess(truth, chance, event=1, by=part, cost=COST, measures=[name])
    for label in ("old", "new"):
        here = part == label
        alone = assess(truth[here], chance[here], event=1, cost=COST)[name]
        sliced = found.slices[label][name]
        assert [sliced.value, sliced.low, sliced.high] == pytest.approx([alone.value, alone.low, alone.high])
    shown = [row["slice"] for row in found.table() if row["measure"] == name]
    assert set(shown) == {None, "old", "new"}


def test_costs_bring_the_cost_of_decisions_along() -> None:
    truth, shares = drawn_classes(200, 3, 5)
    costs = np.array([[0, 1, 4], [3, 0, 1], [8, 2, 0]])
    found = assess(truth, shares, cost=costs)
    total = 0.0
    for y, share in zip(truth, shares, strict=True):
        expected = [sum(share[i] * costs[i, j] for i in range(3)) for j in range(3)]
        total += costs[y, expected.index(min(expected))]
    assert found["decision_cost"].value == pytest.approx(total / 200)
    assert found["decision_cost"].sum == pytest.approx(total)
    assert found["decision_cost"].value < found["cost"].value, "the highest membership is not the cheapest class"
    cheapest = assess(truth, shares, cost=costs, threshold="cost")
    assert cheapest["cost"].value == pytest.approx(total / 200)


def test_the_cost_of_decisions_on_labels_is_their_cost() -> None:
    truth, shares = drawn_classes(100, 2, 6)
    assigned = np.argmax(shares, axis=1)
    found = assess(truth, assigned, cost=COST, measures=["decision_cost", "cost"])
    assert found["decision_cost"].value == pytest.approx(found["cost"].value)
    assert "decision_cost" not in {row["measure"] for row in assess(truth, assigned, cost=COST).table()}


def test_without_costs_there_is_no_cost_of_decisions() -> None:
    assert "decision_cost" not in {row["measure"] for row in assess(TRUTH, CHANCE, event=1).table()}
    with pytest.raises(UnknownMeasure, match="costs"):
        of_event(TRUTH, CHANCE, "decision_cost")


def test_the_table_has_every_measure_with_all_its_parts() -> None:
    truth, shares = drawn_classes(120, 3, 7)
    table = assess(truth, shares, cost=1 - np.eye(3), measures=NAMES).table()
    for name in NAMES:
        rows = [(row["class"], row["average"]) for row in table if row["measure"] == name]
        if all_measures()[name].per_class:
            assert rows == [(None, "macro"), (None, "weighted"), (0, None), (1, None), (2, None)]
        else:
            assert rows == [(None, None)]
    for row in table:
        if row["measure"] in NAMES:
            assert math.isfinite(row["value"])
            assert row["low"] <= row["value"] <= row["high"]


def test_skill_says_what_it_cannot_be_made_of() -> None:
    for score in ("brier", "spherical_score", "skill", "auc", "calibration_error"):
        measure = find("skill", score=score)
        with pytest.raises(BadOption, match="no skill by"):
            float(of_event(TRUTH, CHANCE, measure)[measure])
    absent = find("skill", against="nobody")
    with pytest.raises(BadOption, match="nobody"):
        float(of_event(TRUTH, CHANCE, absent)[absent])


def test_skill_is_undefined_where_nothing_is_left_to_be_better_at() -> None:
    one = assess(["a", "a", "a"], {"a": [0.5, 0.9, 0.8], "b": [0.5, 0.1, 0.2]}, scale=Scale(["a", "b"]))["skill"]
    assert math.isnan(one.value)
    assert "nothing is left" in one.note
    measure = find("skill", against="perfect")
    truth, chance = drawn(50, 8)
    found = compare(
        truth, {"usual": chance, "perfect": truth.astype(float)}, event=1, threshold=0.5, measures=[measure]
    )
    assert math.isnan(found["usual"][measure].value)
    assert "perfect" in found["usual"][measure].note


def test_skill_against_another_classifier_is_paired() -> None:
    truth, chance = drawn(300, 9)
    blunt, measure = 0.5 + (chance - 0.5) / 2, find("skill", against="blunt")
    found = compare(truth, {"sharp": chance, "blunt": blunt}, event=1, measures=[measure])["sharp"][measure]
    ours, theirs = ((each - truth) ** 2 for each in (chance, blunt))
    assert found.value == pytest.approx(1 - ours.mean() / theirs.mean())
    influence = -(ours - ours.mean() / theirs.mean() * theirs) / theirs.mean()
    assert found.se == pytest.approx(np.std(influence, ddof=1) / math.sqrt(300))
    assert found.low < found.value < found.high
    assert found.method == "Fieller"
    for bound, sign in ((found.low, -1), (found.high, 1)):
        left = ours - (1 - bound) * theirs
        assert left.mean() == pytest.approx(sign * stats.t.ppf(0.975, 299) * np.std(left, ddof=1) / math.sqrt(300))


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("score", ["brier_multiclass", "log_score"])
def test_bounds_of_skill_are_those_ratios_that_rows_and_pseudo_rows_speak_against(score: str, clustered: bool) -> None:
    """With clusters of one row each all is as it is without, but for how many degrees of freedom."""
    rows, (truth, chance) = 90, drawn(90, 12)
    less = (rows * chance + 0.5) / (rows + 1)

    def worth(said: Any, happened: Any) -> Any:
        own = np.where(happened == 1, said, 1 - said)
        return 2 * (1 - own) ** 2 if score == "brier_multiclass" else -np.log(own)

    share = (truth.sum() + 1) / (rows + 2)
    scores = np.concatenate([worth(chance, truth), worth(less, 1), worth(less, 0)])
    climatology = np.concatenate([worth(share, truth), np.repeat(worth(share, np.array([1, 0])), rows)])
    mass = np.repeat([1.0, 1 / rows], [rows, 2 * rows])  # two pseudo-rows, of either class, spread over all rows
    spread = np.repeat([rows / (rows - 1), 1 / rows], [rows, 2 * rows])
    measure, batches = find("skill", score=score), np.arange(rows) if clustered else None
    found = assess(truth, chance, event=1, measures=[measure], group=batches)[measure]
    assert found.method == ("Fieller, clustered" if clustered else "Fieller")
    for bound, sign in ((found.low, -1), (found.high, 1)):
        left = scores - (1 - bound) * climatology
        mean = mass @ left / (rows + 2)
        error = math.sqrt(spread @ (left - mean) ** 2) / (rows + 2)
        assert mean == pytest.approx(sign * stats.t.ppf(0.975, rows - 1) * error)


def test_with_few_rows_of_a_class_no_skill_is_too_low() -> None:
    truth = np.arange(200) < 2
    found = assess(truth.astype(int), np.where(truth, 0.6, 0.02), event=1, measures=["skill"])["skill"]
    assert found.low == -math.inf
    assert found.value < found.high <= 1
    assert found.value > 0.5


# --- differences ----------------------------------------------------------------------------------------------


def rows_worth(name: str, chance: Any, truth: Any) -> Any:
    """What each row of two classes is worth."""
    own = np.where(truth == 1, chance, 1 - chance)
    decided = chance * 5 > 1 - chance
    return {
        "log_score": -np.log(own),
        "brier": (chance - truth) ** 2,
        "brier_multiclass": 2 * (chance - truth) ** 2,
        "spherical_score": own / np.sqrt(chance**2 + (1 - chance) ** 2),
        "ranked_probability_score": (chance - truth) ** 2,
        "zero_one_score": own < 0.5,
        "top_k_accuracy": np.ones(len(own)),  # of two classes, both are among the two likeliest
        "decision_cost": np.where(truth == 1, 5.0 * ~decided, 1.0 * decided),
        "net_benefit": (chance >= 0.5) * (2.0 * truth - 1),
    }[name]


@each_measure
def test_differences_are_paired_and_have_a_p_value(name: str) -> None:
    truth, chance = drawn(400, 10)
    blunt = 0.5 + (chance - 0.5) / 3
    found = compare(truth, {"sharp": chance, "blunt": blunt}, event=1, cost=COST, measures=[name])
    row = found.differences(name).to_pylist()[0]
    assert row["difference"] == pytest.approx(found["sharp"][name].value - found["blunt"][name].value)
    assert row["low"] <= row["difference"] <= row["high"]
    assert 0 <= row["p"] <= row["p_adjusted"] <= 1
    assert (row["p"] < 0.05) == (not row["low"] <= 0 <= row["high"])
    if name not in (*CALIBRATIONS, "skill"):
        apart = np.asarray(rows_worth(name, chance, truth) - 1.0 * rows_worth(name, blunt, truth))
        assert row["difference"] == pytest.approx(apart.mean())
        assert row["se"] == pytest.approx(np.std(apart, ddof=1) / math.sqrt(400))
    if name in ("log_score", "brier", "skill", "calibration_error"):
        assert row["p"] < 0.001


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_a_calibration_error_that_may_be_nothing_may_be_all_too_much(name: str) -> None:
    truth, chance = drawn(400, 10)
    found = compare(truth, {"sharp": chance, "blunt": 0.5 + (chance - 0.5) / 3}, event=1, measures=[name])
    sharp, blunt = (found[model][name] for model in ("sharp", "blunt"))
    row = found.differences(name).to_pylist()[0]
    assert sharp.low < 0.02 < sharp.value
    # The difference may be all of the other's error, and both reach about as far.
    assert row["low"] == pytest.approx(-blunt.high, rel=0.12)
    assert row["p"] < 1e-3
    assert row["high"] < -blunt.low / 2


@each_measure
def test_identical_classifiers_do_not_differ(name: str) -> None:
    truth, chance = drawn(200, 11, power=1.5)
    found = compare(truth, {"one": chance, "two": chance.copy()}, event=1, cost=COST)
    row = found.differences(name).to_pylist()[0]
    assert row["difference"] == 0
    assert row["low"] <= 0 <= row["high"]
    assert row["p"] == pytest.approx(1)


def test_all_measures_of_forecasts_are_compared() -> None:
    truth, chance = drawn(150, 12)
    found = compare(truth, {"one": chance, "two": chance**2}, event=1, cost=COST, measures=NAMES)
    rows = [row for row in found.differences() if row["measure"] in NAMES]
    assert [row["measure"] for row in rows] == [entry.name for entry in found.settings.measures if entry.name in NAMES]
    assert {row["measure"] for row in rows} == set(NAMES)
    assert not [row for row in rows if math.isnan(row["low"]) or math.isnan(row["high"]) or math.isnan(row["p"])]


@pytest.mark.parametrize("method", ["bootstrap", "percentile"])
@each_measure
def test_differences_can_be_bootstrapped(name: str, method: Method) -> None:
    truth, chance = drawn(200, 13)
    options: dict[str, Any] = {"event": 1, "cost": COST, "measures": [name], "replicates": 300}
    pair = {"one": chance, "two": chance**2}
    row = compare(truth, pair, method=method, **options).differences(name).to_pylist()[0]
    usual = compare(truth, pair, **options).differences(name).to_pylist()[0]
    assert row["difference"] == usual["difference"]
    assert row["low"] <= row["difference"] <= row["high"]
    if name not in CALIBRATIONS:
        assert [row["low"], row["high"]] == pytest.approx(
            [usual["low"], usual["high"]], abs=0.25 * (usual["high"] - usual["low"])
        )


def test_two_infinite_scores_have_no_difference() -> None:
    truth = ["a", "b", "a", "b", "a", "b"]
    pair = {"one": ["b", "b", "a", "b", "a", "b"], "two": ["a", "a", "a", "b", "a", "b"], "right": truth}
    found = {(row["a"], row["b"]): row for row in compare(truth, pair, measures=["log_score"]).differences("log_score")}
    assert math.isnan(found["one", "two"]["difference"])
    assert found["one", "right"]["difference"] == math.inf


def test_the_rows_that_decide_a_log_score_are_found() -> None:
    truth, chance = drawn(100, 14)
    other = chance.copy()
    other[17] = 0.001 if truth[17] else 0.999
    found = compare(truth, {"one": chance, "two": other}, event=1, measures=["log_score"])
    rows = found.deciding_rows("log_score", "one", "two", 5).to_pylist()
    assert rows[0]["row"] == 17
    apart = rows_worth("log_score", chance, truth) - rows_worth("log_score", other, truth)
    assert rows[0]["effect"] == pytest.approx((apart[17] - apart.mean()) / 100)
    assert len(rows) == 5
    with pytest.raises(BadOption, match="deciding_rows"):
        found.deciding_patterns("log_score", "one", "two")


# --- calibration ----------------------------------------------------------------------------------------------


def bins_by_hand(forecast: Any, bins: int) -> list[Any]:
    """The rows of each bin: as many as can be in each, equal forecasts together; few forecasts have a bin each."""
    bins = min(bins, max(1, len(forecast) // FEWEST_ROWS))
    distinct = sorted(set(forecast.tolist()))
    if len(distinct) <= bins:
        starts = distinct
    else:
        ordered = sorted(forecast.tolist())
        starts = sorted({ordered[0], *[ordered[len(ordered) * k // bins] for k in range(1, bins)]})
    ends = [*starts[1:], math.inf]
    return [(forecast >= start) & (forecast < end) for start, end in zip(starts, ends, strict=True)]


def squared_error_by_hand(forecast: Any, happened: Any, bins: int) -> float:
    """The mean squared gap in bins less what chance adds to it."""
    found, rows = 0.0, len(forecast)
    for here in bins_by_hand(forecast, bins):
        gaps = (forecast - happened)[here]
        size = len(gaps)
        factor = size / (size - 1) if size > 1 else 1.0
        chance = sum((gap - gaps.mean()) ** 2 for gap in gaps) / size**2 * factor
        found += size / rows * (gaps.mean() ** 2 - chance)
    return float(found)


def error_by_hand(forecast: Any, happened: Any, bins: int = 15) -> float:
    return math.sqrt(max(squared_error_by_hand(forecast, happened, bins), 0.0))


@pytest.mark.parametrize("rows", [7, 23, 100, 1003])
@pytest.mark.parametrize("bins", [1, 2, 10, 15, 5000])
@pytest.mark.parametrize("decimals", [1, 2, 9])
def test_the_calibration_error_is_that_of_its_definition(rows: int, bins: int, decimals: int) -> None:
    truth, chance = drawn(rows, rows, power=2.5)
    forecast, measure = np.round(chance, decimals), find("calibration_error", bins=bins)
    found = of_event(truth, forecast, measure, threshold=0.5)
    assert found[measure].value == pytest.approx(error_by_hand(forecast, truth, bins), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("classes", [3, 12])
def test_the_calibration_error_of_several_classes_is_that_of_its_definition(classes: int) -> None:
    truth, shares = drawn_classes(400, classes, 15)
    said = shares**3 / (shares**3).sum(axis=1, keepdims=True)
    found = assess(truth, said, measures=list(CALIBRATIONS))
    squares = np.array([squared_error_by_hand(said[:, code], truth == code, 15) for code in range(classes)])
    for code in range(classes):
        expected = math.sqrt(max(squares[code], 0.0))
        assert found["calibration_error", code].value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert found["calibration_error"].value == pytest.approx(math.sqrt(squares.mean()), rel=1e-12)
    weighted = math.sqrt(squares @ np.bincount(truth, minlength=classes) / 400)
    assert found["calibration_error", "weighted"].value == pytest.approx(weighted, rel=1e-12)
    top = error_by_hand(said.max(axis=1), truth == said.argmax(axis=1))
    assert found["top_calibration_error"].value == pytest.approx(top, rel=1e-12)
    for name in CALIBRATIONS:
        assert 0 < found[name].low < found[name].value < found[name].high < 1


def test_a_tie_for_the_highest_probability_comes_true_in_part() -> None:
    shares = np.array([[0.5, 0.5, 0.0]] * 12 + [[0.2, 0.2, 0.6]] * 12)
    truth = np.array([0, 1, 2, 0] * 3 + [2, 2, 2, 0] * 3)
    found = assess(truth, shares, measures=["top_calibration_error"])["top_calibration_error"]
    happened = np.where(np.arange(24) < 12, 0.5 * (truth < 2), truth == 2)
    expected = squared_error_by_hand(shares.max(axis=1), happened, 15)
    assert found.value == pytest.approx(math.sqrt(max(expected, 0.0)), abs=1e-12)


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_to_the_calibration_error_clusters_of_one_row_are_independent_rows(name: str) -> None:
    truth, shares = drawn_classes(90, 3, 16)
    said = shares**3 / (shares**3).sum(axis=1, keepdims=True)
    alone, grouped = (assess(truth, said, measures=[name], group=group)[name] for group in (None, np.arange(90)))
    assert (grouped.value, grouped.low, grouped.high) == pytest.approx((alone.value, alone.low, alone.high), rel=1e-9)
    pairs = {"one": said, "other": shares}
    first, second = (
        compare(truth, pairs, measures=[name], group=group).differences(name) for group in (None, np.arange(90))
    )
    for column in ("difference", "low", "high", "p"):
        assert second[column] == pytest.approx(first[column], rel=1e-6)


def test_copies_of_rows_in_one_cluster_do_not_move_the_bootstrap_of_calibration_errors() -> None:
    """What chance makes of the gaps in replicates is told by clusters, not by rows."""
    truth, chance = drawn(80, 17, power=2.0)
    given: dict[str, Any] = {"measures": ["calibration_error"], "method": "bootstrap"}
    once = assess(truth, chance, event=1, **given)["calibration_error"]
    copied = assess(np.repeat(truth, 8), np.repeat(chance, 8), event=1, group=np.repeat(np.arange(80), 8), **given)
    low, high = copied["calibration_error"].low, copied["calibration_error"].high
    assert high - low == pytest.approx(once.high - once.low, rel=0.2)


def test_a_bin_has_one_degree_of_freedom_less_than_clusters() -> None:
    """Not one less than there are clusters in all; a bin of one cluster has no spread to tell."""
    forecast, group = np.repeat([0.2, 0.5, 0.8], [6, 6, 3]), np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 5])
    truth = np.array([0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0])
    expected = 0.0
    for number in (0.2, 0.5, 0.8):
        gaps, clusters = (forecast - truth)[here := forecast == number], group[here]
        sums = [(gaps - gaps.mean())[clusters == each].sum() for each in set(clusters)]
        chance = sum(np.square(sums)) / len(gaps) ** 2 * (len(sums) / (len(sums) - 1) if len(sums) > 1 else 1.0)
        expected += here.mean() * (gaps.mean() ** 2 - chance)
    found = of_event(truth, forecast, find("calibration_error", bins=3), group=group)
    assert found[find("calibration_error", bins=3)].value == pytest.approx(math.sqrt(max(expected, 0.0)), rel=1e-12)
    assert expected > 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", CALIBRATIONS)
def test_the_interval_of_calibrated_forecasts_holds_0(name: str, seed: int) -> None:
    truth, chance = drawn(1000, 100 + seed)
    found = of_event(truth, chance, name)[name]
    assert found.low == 0
    assert found.value < 0.06
    assert 0 < found.high < 0.12
    if found.value == 0:
        assert found.note == "no more than chance alone makes of calibrated forecasts"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", CALIBRATIONS)
def test_the_interval_of_forecasts_that_are_badly_off_does_not_hold_0(name: str, seed: int) -> None:
    truth, _ = drawn(1000, 200 + seed)
    found = of_event(truth, np.clip(drawn(1000, 300 + seed)[1], 0.01, 0.99), name)[name]
    assert found.low > 0.1
    assert found.value > 0.2
    assert found.note == ""


def test_one_bin_compares_the_mean_forecast_with_the_share_of_the_class() -> None:
    truth, forecast = drawn(300, 17, power=0.5)
    measure, gaps = find("calibration_error", bins=1), forecast - truth
    found = of_event(truth, forecast, measure)[measure]
    assert found.value == pytest.approx(math.sqrt(gaps.mean() ** 2 - np.var(gaps, ddof=1) / 300), rel=1e-12)


def test_there_are_no_more_bins_than_rows_can_fill() -> None:
    truth, forecast = drawn(40, 18, power=3.0)
    most, more = find("calibration_error", bins=40 // FEWEST_ROWS), find("calibration_error", bins=10_000)
    found = of_event(truth, forecast, most, more)
    assert found[most].value == found[more].value
    few = of_event(truth[:3], forecast[:3], "calibration_error", scale=Scale([0, 1]))["calibration_error"]
    assert few.value == pytest.approx(error_by_hand(forecast[:3], truth[:3]), abs=1e-12)


def test_each_of_a_few_forecasts_has_its_own_bin() -> None:
    truth = np.array([0] * 30 + [1] * 10 + [0] * 10 + [1] * 50)
    forecast = np.array([0.5] * 40 + [0.6] * 60)
    found = of_event(truth, forecast, "calibration_error", threshold=0.5)["calibration_error"]
    noise = 0.4 * (0.25 * 0.75 / 39) + 0.6 * (5 / 36 / 59)
    expected = 0.4 * 0.25**2 + 0.6 * (0.6 - 5 / 6) ** 2 - noise
    assert found.value == pytest.approx(math.sqrt(expected), rel=1e-12)


@pytest.mark.parametrize("bins", [0, -1, 1.5, True, "many", None])
def test_bins_are_a_whole_number(bins: Any) -> None:
    measure = find("calibration_error", bins=bins)
    with pytest.raises((BadOption, UnknownMeasure), match="bins"):
        float(of_event(TRUTH, CHANCE, measure)[measure])


# --- bins of many rows ----------------------------------------------------------------------------------------


def edges_by_sorting(values: Any, bins: int) -> Any:
    ranks = len(values) * np.arange(1, bins) // bins
    edges = np.unique(np.sort(values)[ranks])
    return edges[edges > values.min()]


@pytest.mark.parametrize("bins", [2, 10, 15, 100])
@pytest.mark.parametrize("kind", ["even", "skewed", "crowded", "rounded", "ends", "narrow"])
def test_quantiles_of_many_rows_are_those_of_sorting(kind: str, bins: int) -> None:
    rows, random = 300_001, np.random.default_rng(19)
    assert rows > WORTH_COUNTING
    even = random.random(rows)
    values: Any = {
        "even": even,
        "skewed": even**20,
        "crowded": 0.5 + even * 1e-9,
        "rounded": np.round(even, 3),
        "ends": np.where(even < 0.3, 0.0, np.where(even > 0.7, 1.0, even)),
        "narrow": even.astype(np.float32),
    }[kind]
    found = quantiles(values, bins)
    assert_array_equal(found, edges_by_sorting(values, bins))
    weighed = quantiles(values, bins, np.ones(rows))
    assert_array_equal(found, weighed)


def test_quantiles_are_about_those_of_numpy() -> None:
    values = np.random.default_rng(20).random(300_001)
    expected = np.quantile(values, np.arange(1, 15) / 15, method="higher")
    assert_allclose(quantiles(values, 15), expected, atol=1e-4)


def test_quantiles_do_not_depend_on_the_unit_of_weights() -> None:
    """Half of the weight is reached just where a row ends, but for rounding."""
    values, weight = np.arange(12.0), np.array([0.5, 1.0, 2.5, 7.0, 0.5, 0.5] * 2)
    for unit in (1e-6, 0.1, 3.3, 7.7, 1e40):
        assert_array_equal(quantiles(values, 2, weight * unit), [6.0])
        assert_array_equal(quantiles(values, 4, weight * unit), quantiles(values, 4, weight))


def test_the_calibration_error_of_many_rows_is_that_of_its_definition() -> None:
    truth, forecast = drawn(300_001, 21, power=1.2)
    found = of_event(truth, forecast, "calibration_error", "top_calibration_error", "brier")
    place = np.searchsorted(edges_by_sorting(forecast, 15), forecast, side="right")
    gaps, expected = forecast - truth, 0.0
    for code in range(15):
        here = gaps[place == code]
        expected += len(here) / 300_001 * (here.mean() ** 2 - np.var(here, ddof=1) / len(here))
    assert found["calibration_error"].value == pytest.approx(math.sqrt(expected), rel=1e-9)
    assert found["brier"].value == pytest.approx(float(np.square(gaps).mean()), rel=1e-12)
    assert found["brier"].se == pytest.approx(float(np.std(gaps**2, ddof=1)) / math.sqrt(300_001), rel=1e-9)


def test_many_rows_are_scored_as_their_parts_are() -> None:
    """Threads and chunks must not be seen."""
    truth, shares = drawn_classes(300_001, 3, 22)
    found = assess(truth, shares, measures=["log_score", "brier", "ranked_probability_score", "skill"])
    own, happened = shares[np.arange(300_001), truth], np.eye(3)[truth]
    scores = {
        "log_score": -np.log(own),
        "brier": np.square(shares - happened).mean(axis=1),
        "ranked_probability_score": np.square(np.cumsum(shares - happened, axis=1)[:, :-1]).sum(axis=1),
    }
    for name, each in scores.items():
        assert found[name].value == pytest.approx(float(each.mean()), rel=1e-11)
        assert found[name].se == pytest.approx(float(np.std(each, ddof=1)) / math.sqrt(300_001), rel=1e-9)
        assert found[name].low == pytest.approx(found[name].value - 1.96 * found[name].se, abs=0.1 * found[name].se)


# --- the likeliest classes -----------------------------------------------------------------------------------------


def test_the_true_class_among_the_likeliest_is_what_scikit_learn_finds() -> None:
    random = np.random.default_rng(8)
    truth, shares = random.integers(0, 5, 300), random.dirichlet(np.ones(5), 300)
    weight = random.random(300)
    for k in (1, 2, 3, 4):
        label = f"top_k_accuracy(k={k})"
        found = assess(truth, shares, weight=weight, measures=[label])[label]
        assert found.value == pytest.approx(
            metrics.top_k_accuracy_score(truth, shares, k=k, sample_weight=weight), rel=1e-12
        )
        assert found.low < found.value < found.high


def test_ties_among_the_likeliest_count_in_part() -> None:
    shares = [[0.4, 0.2, 0.2, 0.2], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]]
    truth = ["b", "d", "c", "c"]
    found = {}
    for k in (1, 2, 3, 4, 7):
        label = f"top_k_accuracy(k={k})"
        found[k] = 4 * assess(truth, shares, scale=Scale(list("abcd")), measures=[label])[label].value
    assert found[1] == pytest.approx(0 + 1 / 4 + 0 + 0)
    assert found[2] == pytest.approx(1 / 3 + 2 / 4 + 0 + 1)
    assert found[3] == pytest.approx(2 / 3 + 3 / 4 + 1 / 2 + 1)
    assert found[4] == found[7] == pytest.approx(4)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "two"])
def test_so_many_likeliest_classes_cannot_be(k: Any) -> None:
    with pytest.raises(BadOption, match="k is"):
        assess([0, 1], [[0.5, 0.5], [0.1, 0.9]], measures=[find("top_k_accuracy", k=k)]).table()


@pytest.mark.parametrize("rows", [50, 300_000])
@pytest.mark.filterwarnings("error")
def test_an_infinite_score_is_no_skill_at_all(rows: int) -> None:
    """However many rows there are, and threads that look at them: not undefined, and without a warning."""
    random = np.random.default_rng(0)
    chance = random.random(rows)
    truth = (random.random(rows) < chance).astype(int)
    chance[0], truth[0] = 0.0, 1
    assert assess(truth, chance, event=1)["log_score"].value == np.inf
    assert assess(truth, chance, event=1, measures=["skill(score='log_score')"])["skill"].value == -np.inf


def test_costs_in_another_unit_change_no_interval_but_for_the_unit() -> None:
    random = np.random.default_rng(5)
    truth, said = random.integers(0, 3, 60), random.dirichlet(np.ones(3), 60)
    said[np.arange(60), truth] += 0.5
    costs = np.array([[0, 1, 5], [2, 0, 1], [3, 4, 0]])
    said /= said.sum(axis=1, keepdims=True)
    small, large = (
        assess(truth, said, cost=costs * unit, measures=["decision_cost"])["decision_cost"] for unit in (1, 1000)
    )
    assert (large.low, large.high) == pytest.approx((1000 * small.low, 1000 * small.high))


def test_scores_in_another_unit_change_no_interval_but_for_the_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    truth, said = random.integers(0, 3, 60), random.dirichlet(np.ones(3), 60)
    said[np.arange(60), truth] += 0.5
    said /= said.sum(axis=1, keepdims=True)

    def formula(own: Any) -> Any:
        """Log score in thousandths."""
        return -1000 * np.log(own)

    small = find("log_score")
    large = replace(small, name="large_log_score", formula=formula, aliases=(), parameters={})
    monkeypatch.setitem(REGISTRY, large.name, large)
    found = assess(truth, said, measures=[small, large])
    wanted = 1000 * found[small].low, 1000 * found[small].high
    assert (found[large].low, found[large].high) == pytest.approx(wanted)


def test_a_classifier_has_no_skill_against_itself() -> None:
    """Exactly none: both means are found in the same way, whatever rounding makes of them."""
    random = np.random.default_rng(4)
    truth, said = random.random(400) < 0.4, {"a": random.random(400), "b": random.random(400)}
    measure = "skill(against='b')"
    found = compare(truth, said, event=True, measures=[measure])
    assert (found["b"][measure].value, found["b"][measure].low, found["b"][measure].high) == (0, 0, 0)

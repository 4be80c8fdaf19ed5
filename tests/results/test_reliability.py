"""Forecasts against frequencies: curves, parts of scores, tests and recalibration."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from scipy.special import logit as log_odds

import steelyard as sy
from steelyard import Assessment, Scale, assess, compare
from steelyard.core.errors import BadOption, ChangedInput, OutsideUnitInterval
from steelyard.results.recalibration import MANY, recalibrate
from steelyard.results.reliability import PARTS, Reliability, isotonic
from tests.effort import in_pairs, repeats

RANDOM = np.random.default_rng(20_261_115)
ROWS = 400
LOGIT = 1.5 * RANDOM.standard_normal(ROWS)
TRUTH = (RANDOM.random(ROWS) < expit(LOGIT)).astype(int)
RIGHT, SURE = expit(LOGIT), expit(2.5 * LOGIT)
THREE = RANDOM.dirichlet([1.0, 1.0, 1.0], ROWS)
LABELS = np.array([RANDOM.choice(3, p=row) for row in THREE])


def of_event(forecast: Any = SURE, **options: Any) -> Assessment:
    return assess(TRUTH, forecast, event=1, **options)


def parts_of(table: Any) -> dict[str, float]:
    return dict(zip(table["part"], table["value"], strict=True))


def test_the_curve_is_isotonic_regression() -> None:
    isotonic_model = pytest.importorskip("sklearn.isotonic").IsotonicRegression()
    fitted = isotonic_model.fit(SURE, TRUTH).predict(SURE)
    curve = of_event().reliability(band=False)
    assert_allclose(np.interp(SURE, curve["forecast"], curve["frequency"]), fitted, atol=1e-12)
    assert sum(curve["rows"]) == ROWS
    assert set(curve["class"]) == {1}


def test_calibrated_forecasts_belong_to_their_band() -> None:
    curve = of_event(RIGHT).reliability()
    low, forecast, high = (np.array(curve[name]) for name in ("low", "forecast", "high"))
    assert ((low <= forecast) & (forecast <= high)).all()
    frequency = np.array(curve["frequency"])
    assert ((low <= frequency) & (frequency <= high)).mean() > 0.8
    off = of_event(SURE).reliability()
    outside = (np.array(off["frequency"]) < np.array(off["low"])) | (np.array(off["frequency"]) > np.array(off["high"]))
    assert outside.mean() > 0.4


def test_every_class_has_a_curve_where_there_is_no_event() -> None:
    curve = assess(LABELS, THREE).reliability(band=False)
    assert set(curve["class"]) == {0, 1, 2}
    assert set(assess(LABELS, THREE).reliability(2, band=False)["class"]) == {2}


@pytest.mark.study
@pytest.mark.parametrize(
    ("score", "method", "weight"),
    in_pairs(
        ["brier", "log_score", "ranked_probability_score", "brier_multiclass"],
        ["corp", "murphy"],
        [None, np.arange(ROWS) % 3 + 1, RANDOM.uniform(0.5, 2, ROWS)],
    ),
)
def test_parts_add_up_to_the_score(score: str, method: Any, weight: Any) -> None:
    result = of_event(weight=weight)
    parts = parts_of(result.decomposition(score, method=method))
    total = parts["miscalibration"] * -1 + parts["discrimination"] - parts["uncertainty"]
    assert_allclose(-total, parts["score"], rtol=0, atol=1e-12)
    assert_allclose(parts["score"], result[score].value, rtol=1e-12)
    assert parts["miscalibration"] >= -1e-12
    assert parts["discrimination"] >= -1e-12


def test_parts_of_all_classes_add_up_to_the_score_of_all() -> None:
    result = assess(LABELS, THREE)
    parts = parts_of(result.decomposition("brier_multiclass"))
    assert_allclose(parts["score"], result["brier_multiclass"].value, rtol=1e-12)
    by_class = result.decomposition("brier")
    for part in PARTS:
        values = [value for name, value in zip(by_class["part"], by_class["value"], strict=True) if name == part]
        assert_allclose(sum(values), parts[part], rtol=1e-12)
    assert by_class["class"] == [label for label in (0, 1, 2) for _ in PARTS]


def test_on_few_distinct_forecasts_the_parts_are_murphys() -> None:
    forecast = np.round(RIGHT, 1)
    parts = parts_of(of_event(forecast).decomposition(method="murphy"))
    base, reliability, resolution = TRUTH.mean(), 0.0, 0.0
    for value in np.unique(forecast):
        here = forecast == value
        reliability += here.mean() * (value - TRUTH[here].mean()) ** 2
        resolution += here.mean() * (TRUTH[here].mean() - base) ** 2
    assert_allclose(parts["miscalibration"], reliability, rtol=1e-12)
    assert_allclose(parts["discrimination"], resolution, rtol=1e-12)
    assert_allclose(parts["uncertainty"], base * (1 - base), rtol=1e-12)


def test_a_whole_weight_is_the_row_so_many_times() -> None:
    times = np.arange(ROWS) % 3 + 1
    weighed = of_event(weight=times, weight_kind="frequency").decomposition()
    repeated = assess(np.repeat(TRUTH, times), np.repeat(SURE, times), event=1).decomposition()
    assert_allclose(weighed["value"], repeated["value"], rtol=1e-12)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=40), st.data())
def test_discrimination_does_not_change_with_a_rising_map(rows: list[tuple[float, bool]], data: Any) -> None:
    forecast, happened = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=float)
    power = data.draw(st.sampled_from([0.5, 2.0]))
    if len(np.unique(forecast**power)) < len(np.unique(forecast)):
        return  # rounding made two forecasts one
    one, other = (Reliability.of(values, happened) for values in (forecast, forecast**power))
    assert_allclose(one.frequency, other.frequency, atol=1e-12)


def test_what_is_infinite_leaves_the_other_parts_alone() -> None:
    forecast = np.where(np.arange(ROWS) == np.flatnonzero(TRUTH)[0], 0.0, RIGHT)
    parts = parts_of(of_event(forecast).decomposition("log_score"))
    assert parts["score"] == parts["miscalibration"] == np.inf
    assert 0 < parts["discrimination"] < parts["uncertainty"] < 1


@pytest.mark.study
def test_intervals_of_the_parts_hold_the_truth_most_of_the_time() -> None:
    random, held = np.random.default_rng(5), np.zeros(3)
    many = 1.5 * random.standard_normal(400_000)
    chance, forecast = expit(many), expit(2 * many)
    truth = {
        "miscalibration": np.mean((forecast - chance) ** 2),
        "discrimination": np.var(chance),
        "uncertainty": chance.mean() * (1 - chance.mean()),
    }
    count = repeats(10, 30)
    for _ in range(count):
        some = 1.5 * random.standard_normal(300)
        outcome = (random.random(300) < expit(some)).astype(int)
        table = assess(outcome, expit(2 * some), event=1, measures=["brier"]).decomposition()
        for place, part in enumerate(truth):
            row = table["part"].index(part)
            held[place] += table["low"][row] - 1e-12 <= truth[part] <= table["high"][row] + 1e-12
    assert (held >= 0.8 * count).all()


@pytest.mark.parametrize("method", ["corp", "murphy"])
@pytest.mark.parametrize("rows", [2, 20, 200])
def test_who_was_never_wrong_may_be_yet(rows: int, method: Literal["corp", "murphy"]) -> None:
    """Parts that could not be otherwise would contradict the interval of the uncertainty, which they add up to."""
    truth = np.arange(rows) % 2
    table = assess(truth, 0.1 + 0.8 * truth, event=1, measures=["brier"]).decomposition(method=method)
    bounds = dict(zip(table["part"], zip(table["low"], table["value"], table["high"], strict=True), strict=True))
    low, value, high = bounds["discrimination"]
    assert low < value - 0.1 / rows
    assert value == high == 0.25  # there is no more to be told apart
    low, value, high = bounds["miscalibration"]
    assert low <= value == pytest.approx(0.01)
    assert high > value or low == 0
    assert low < value


@pytest.mark.study
def test_parts_of_a_perfect_looking_forecast_are_covered_more_often() -> None:
    """Forecasts of 0.1 and 0.9 that are wrong in one row of twenty."""
    random, held = np.random.default_rng(6), 0
    count = repeats(12, 40)
    for _ in range(count):
        side = random.random(20) < 0.5
        truth = np.where(random.random(20) < 0.05, ~side, side).astype(int)
        if 0 < truth.sum() < 20:
            result = assess(truth, np.where(side, 0.9, 0.1), event=1, measures=["brier"])
            table = result.decomposition()
            row = table["part"].index("discrimination")
            held += table["low"][row] <= 0.2025 <= table["high"][row]
        else:
            held += 1
    assert held >= 0.75 * count


def test_a_decomposition_needs_a_score_that_has_parts() -> None:
    result = of_event()
    for score in ("auc", "skill", "spherical_score", "error", "calibration_error"):
        with pytest.raises(BadOption, match="cannot be taken apart") as caught:
            result.decomposition(score)
        known = re.findall(r"'(\w+)'", caught.value.mend)
        assert {"brier", "brier_multiclass", "log_score", "ranked_probability_score", "zero_one_score"} <= {*known}
    for name in known:
        assert len(result.decomposition(name)) == 4
    with pytest.raises(BadOption, match="method is 'platt'"):
        result.decomposition(method="platt")  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="bins is 0"):
        result.decomposition(method="murphy", bins=0)
    with pytest.raises(BadOption, match="speaks of all classes"):
        result.decomposition("brier_multiclass", 1)


def test_the_test_tells_calibrated_forecasts_from_others() -> None:
    assert of_event(SURE).calibration_test().p < 0.01
    assert of_event(RIGHT).calibration_test().p > 0.05
    three = assess(LABELS, THREE).calibration_test()
    assert three.p > 0.05
    assert "least of 3 classes" in three.method
    assert assess(LABELS, THREE[:, [1, 2, 0]]).calibration_test().p < 0.01


@pytest.mark.study
def test_of_many_classes_one_that_is_far_off_is_found() -> None:
    random, classes = np.random.default_rng(5), repeats(12, 30)
    memberships = random.dirichlet(np.full(classes, 0.3), repeats(50, 100) * classes)
    truth = (random.random((len(memberships), 1)) > memberships.cumsum(axis=1)).sum(axis=1).clip(max=classes - 1)
    right = assess(truth, memberships, scale=Scale(range(classes)), measures=["brier"]).calibration_test()
    assert right.p > 0.05
    wrong = np.where((truth == 0) & (random.random(len(truth)) < 0.95), 1, truth)
    found = assess(wrong, memberships, scale=Scale(range(classes)), measures=["brier"]).calibration_test()
    assert found.draws == repeats(2_000, 3_000)
    assert found.p == pytest.approx(classes / (found.draws + 1))


@pytest.mark.study
def test_p_values_of_calibrated_forecasts_are_spread_evenly() -> None:
    random, found = np.random.default_rng(11), []
    for seed in range(repeats(15, 40)):
        logit = random.standard_normal(100)
        outcome = (random.random(100) < expit(logit)).astype(int)
        found.append(assess(outcome, expit(logit), event=1, measures=["brier"], seed=seed).calibration_test().p)
    assert 0.3 < np.mean(found) < 0.7
    assert np.mean(np.array(found) < 0.05) <= 0.15


def test_many_rows_cost_no_more_draws() -> None:
    logit = np.random.default_rng(3).standard_normal(30_000)
    one = Reliability.of(expit(logit), (np.random.default_rng(4).random(30_000) < expit(logit)).astype(float))
    assert len(one.few.forecast) <= 1_000
    assert_allclose(one.few.mass.sum(), 30_000)
    assert_allclose(one.few.happened.sum(), one.happened.sum())


@pytest.mark.parametrize("method", ["corp", "murphy"])
@pytest.mark.parametrize(("score", "most", "least_sure"), [("brier", 1.0, 0.25), ("brier_multiclass", 2.0, 0.5)])
def test_one_cluster_says_nothing_about_parts_of_scores(
    method: Any, score: str, most: float, least_sure: float
) -> None:
    found = of_event(SURE, group=np.zeros(ROWS)).decomposition(score, method=method)
    assert found["value"] == of_event(SURE).decomposition(score, method=method)["value"]
    assert found["low"] == [0.0] * 4
    assert_allclose(found["high"], [most, most, least_sure, least_sure])


def test_recalibration_mends_what_is_too_sure() -> None:
    comparison = of_event(SURE).recalibration()
    before, after = comparison.models
    assert (before, after) == ("prediction", "prediction, recalibrated")
    row = comparison.differences("log_score").to_pylist()[0]
    assert row["difference"] > 0
    assert row["p"] < 0.01
    assert comparison[before]["brier"].value == of_event(SURE)["brier"].value
    assert_allclose(comparison[after]["auc"].value, comparison[before]["auc"].value, atol=0.02)
    isotonic_preview = of_event(SURE).recalibration("isotonic")
    assert np.isfinite(isotonic_preview[after]["log_score"].value)
    assert isotonic_preview.differences("brier").to_pylist()[0]["difference"] > 0


@pytest.mark.parametrize("event", ["no", "yes"])
def test_forecasts_of_one_half_are_assigned_in_the_preview_as_they_were(event: str) -> None:
    truth, chance = ["no", "yes", "yes", "no", "yes", "no"] * 5, [0.2, 0.5, 0.9, 0.5, 0.5, 0.1] * 5
    found = assess(truth, chance, event=event)
    preview = found.recalibration()[found.model]
    for name in ("error", "sensitivity", "kappa"):
        assert preview[name].value == pytest.approx(found[name].value)


def test_recalibration_of_three_classes_adds_up_to_one() -> None:
    sharp = THREE**3 / (THREE**3).sum(axis=1, keepdims=True)
    fold = np.arange(ROWS) % 5
    found = recalibrate(sharp.T, LABELS, np.ones(ROWS), fold)
    assert_allclose(found.sum(axis=0), 1.0)
    assert assess(LABELS, sharp).recalibration().differences("log_score").to_pylist()[0]["difference"] > 0


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
def test_no_row_has_a_say_in_its_own_recalibration(method: Any) -> None:
    fold = np.arange(ROWS) % 4
    both = np.stack([1 - SURE, SURE])
    once = recalibrate(both, TRUTH, np.ones(ROWS), fold, method)
    turned = np.where(fold == 2, 1 - TRUTH, TRUTH)
    again = recalibrate(both, turned, np.ones(ROWS), fold, method)
    assert_array_equal(once[:, fold == 2], again[:, fold == 2])
    assert not np.array_equal(once[:, fold == 1], again[:, fold == 1])


def test_a_line_on_log_odds_is_found() -> None:
    logit = np.random.default_rng(8).standard_normal(100_000)
    outcome = (np.random.default_rng(9).random(100_000) < expit(0.5 + 0.8 * logit)).astype(int)
    forecast = np.stack([1 - expit(logit), expit(logit)])
    found = recalibrate(forecast, outcome, np.ones(100_000), np.arange(100_000) % 2)[1]
    assert_allclose(np.log(found / (1 - found)), 0.5 + 0.8 * logit, atol=0.15)


@pytest.mark.parametrize("common", [0.5, 0.001])
@pytest.mark.parametrize("steep", [1.0, 20.0])
def test_a_line_of_many_rows_is_the_likeliest(common: float, steep: float) -> None:
    rows, random = 2 * MANY, np.random.default_rng(10)
    outcome = (random.random(rows) < common).astype(int)
    chance = expit(steep * (random.standard_normal(rows) + 4 * outcome) + np.log(common))
    weight, fold = random.random(rows) + 0.5, np.arange(rows) % 2
    found = recalibrate(np.stack([1 - chance, chance]), outcome, weight, fold)[1]
    other = fold == 1
    x = np.clip(log_odds(chance), *log_odds([0.5 / (other.sum() + 1), 1 - 0.5 / (other.sum() + 1)]))
    x -= np.average(x[other], weights=weight[other])
    x /= np.sqrt(np.average(x[other] ** 2, weights=weight[other]))

    def surprise(line: Any) -> float:
        signs = np.where(outcome[other] == 1, 1, -1)
        lost = np.logaddexp(0.0, -signs * (line[0] + line[1] * x[other]))
        return float(weight[other] @ lost + 0.25 * (line @ line))

    line = minimize(surprise, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9}).x
    assert_allclose(log_odds(found[fold == 0]), line[0] + line[1] * x[fold == 0], rtol=1e-4, atol=1e-4)


def test_clusters_are_recalibrated_together() -> None:
    group = np.arange(ROWS) // 4
    comparison = of_event(SURE, group=group).recalibration(folds=3)
    assert comparison.tally.groups == tuple(range(100))
    assert "clustered" in comparison["prediction"]["brier"].method


def test_recalibration_is_refused_where_it_makes_no_sense() -> None:
    with pytest.raises(BadOption, match="labels cannot be recalibrated"):
        assess(TRUTH, TRUTH, measures=["brier"]).recalibration()
    with pytest.raises(BadOption, match="folds is 1"):
        of_event().recalibration(folds=1)
    with pytest.raises(BadOption, match="method is 'platt'"):
        of_event().recalibration("platt")  # type: ignore[arg-type]


def test_scores_that_are_no_probabilities_have_no_reliability() -> None:
    result = assess(TRUTH, LOGIT, event=1, measures=["auc"])
    for look in (result.reliability, result.calibration_test, result.decomposition, result.recalibration):
        with pytest.raises(OutsideUnitInterval, match="softmax"):
            look()


def test_several_classifiers_share_a_picture() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    comparison = compare(TRUTH, {"sure": SURE, "right": RIGHT, "labels": TRUTH}, event=1)
    display = comparison.plot.reliability()
    assert list(display.curves) == ["sure", "right"]
    assert_allclose(sum(display.bars["sure"]["share"]), 1.0)
    assert "CE 0." in display.labels["sure"]
    classes = assess(LABELS, THREE, scale=Scale([0, 1, 2])).plot.reliability(band=False)
    assert list(classes.curves) == [f"prediction, class {label}" for label in (0, 1, 2)]
    assert classes.frame().column_names == ["model", "forecast", "frequency", "rows"]


def test_isotonic_values_never_fall_and_keep_the_mean() -> None:
    values, weights = RANDOM.random(50), RANDOM.uniform(0.1, 3, 50)
    found = isotonic(values, weights)
    assert (np.diff(found) >= 0).all()
    assert_allclose(found @ weights, values @ weights)


def test_an_array_that_is_changed_behind_our_back_is_noticed() -> None:
    rows = (1 << 19) + 5
    chance = np.random.default_rng(1).random((rows, 2))
    chance[:, 1] = 1 - chance[:, 0]
    truth = (np.random.default_rng(2).random(rows) < chance[:, 1]).astype(int)
    result, alone = assess(truth, chance, event=1), assess(truth, chance, event=1, measures=["auc"])
    before = result["log_score"].value
    assert result["log_score"].value == before
    chance[[0, 1]] = chance[[1, 0]]
    ranked = assess(truth, chance[:, 1].copy(), event=1, measures=["auc"])
    assert ranked["auc"].value > 0.5  # a copy of it was not changed
    looks = (lambda: result["brier"], lambda: result["auc"], result.calibration_test, lambda: result.curve("roc"))
    for look in (*looks, result.table, alone.table):
        with pytest.raises(ChangedInput, match="was changed after it was given"):
            look()
    assert result["error"].value > 0  # what was counted is counted
    chance[[0, 1]] = chance[[1, 0]]
    assert result["log_score"].value == before


def test_few_scores_are_copied() -> None:
    chance = RIGHT.copy()
    result = assess(TRUTH, chance, event=1)
    chance[:] = 0.5
    assert result["brier"].value == of_event(RIGHT)["brier"].value


def test_very_many_forecasts_are_counted_for_a_picture() -> None:
    """Forecasts that differ by less than a four-thousandth of themselves count as one: the curve stays where it is."""
    random = np.random.default_rng(3)
    forecast = random.beta(0.6, 1.2, 50_000)
    happened = random.random(50_000) < forecast**1.3
    for sums in (None, np.repeat(random.random(50_000)[:, None] + 0.5, 3, axis=1)):
        exact = Reliability.of(forecast, happened.astype(float), None if sums is None else sums[:, 1], 1.0)
        drawn = Reliability.of_many(forecast, happened.view(np.uint8), sums, 1.0)
        assert drawn.mass.sum() == pytest.approx(exact.mass.sum())
        assert drawn.happened.sum() == pytest.approx(exact.happened.sum())
        places = np.linspace(0.01, 0.99, 50)
        curves = [np.interp(places, each.forecast, each.frequency) for each in (exact, drawn)]
        assert np.abs(curves[0] - curves[1]).max() < 0.01


@pytest.mark.parametrize("scale", [1e-4, 1e3])
def test_the_scale_of_sampling_weights_is_no_matter(scale: float) -> None:
    random = np.random.default_rng(2)
    share = random.random(120)
    truth, weight = (random.random(120) < share**2).astype(int), random.random(120) + 0.2
    one, other = (sy.assess(truth, share, event=1, weight=weight * each) for each in (1.0, scale))
    methods: tuple[Any, ...] = ("corp", "murphy")
    for method in methods:
        parts = [each.decomposition(method=method)["value"] for each in (one, other)]
        assert parts[0] == pytest.approx(parts[1]), method
    ways: tuple[Any, ...] = ("logistic", "isotonic")
    for way in ways:
        scores = [[found[name]["log_score"].value for name in found.models]
                  for found in (each.recalibration(way) for each in (one, other))]  # fmt: skip
        assert scores[0] == pytest.approx(scores[1]), way


def test_uncertainty_is_as_unsure_as_the_class_is_frequent_where_rows_are_in_clusters() -> None:
    random = np.random.default_rng(3)
    group = np.repeat(np.arange(4), 50)
    chance = random.random(200)
    truth = (random.random(200) < np.array([0.1, 0.3, 0.5, 0.2])[group]).astype(int)
    result = sy.assess(truth, chance, event=1, group=group)
    found = {row["part"]: row for row in result.decomposition()}["uncertainty"]
    low, high = result["prevalence"].low, result["prevalence"].high
    assert low < 0.5 < high
    assert (found["low"], found["high"]) == pytest.approx((min(low * (1 - low), high * (1 - high)), 0.25))
    parts = result.by("brier").decomposition(method="murphy")
    assert parts["low"][-1] == pytest.approx(found["low"])

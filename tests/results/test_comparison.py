"""Paired differences, tests, bands and the rows that decide."""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import binomtest, norm
from scipy.stats import t as student

import steelyard as sy
from steelyard import Scale, SteelyardError, assess, compare, mcnemar
from steelyard.cli.output import markdown_document
from steelyard.core.errors import UnknownMeasure, UnknownPart
from steelyard.display.digest import comparison_digest
from steelyard.inference.differences import Differences, holm
from steelyard.maths.joint_normal import LogOdds, max_critical
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


def test_columns_may_be_called_as_they_are() -> None:
    frame = pa.table({"y": ["a", "b", "a", "b"], "m": ["a", "b", "b", "b"], "k": ["a", "a", "a", "b"]})
    named = compare(frame, {"m": "m", "k": "k"}, truth="y")
    assert str(compare(frame, ["m", "k"], truth="y")) == str(named)
    wrong: list[tuple[Any, str]] = [
        (["m", "m"], "same name"),
        ("m", "no names"),
        (["m", 1], "no names"),
        (["x"], "'x'"),
    ]
    for predictions, told in wrong:
        with pytest.raises(SteelyardError, match=told):
            compare(frame, predictions, truth="y")
    with pytest.raises(SteelyardError, match="no names"):
        compare(["a", "b"], ["a", "b"])


def test_differences_are_tidy(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models).differences("error")
    named = ("measure", "class", "a", "b", "difference", "low", "high", "se", "p", "p_adjusted", "note")
    assert found.column_names == [*named]
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


@pytest.mark.parametrize("method", ["delta", "plain"])
def test_a_difference_that_there_is_not_has_no_standard_error(method: Any) -> None:
    said = {"never": list("aaaaaa"), "some": list("abbbab"), "none wrong": list("aabaab")}
    found = compare(list("aabbab"), said, event="b", method=method)
    for measure in ("mcc", "precision", "lr_positive", "diagnostic_odds_ratio"):
        rows = list(found.differences(measure))
        assert any(not np.isfinite(row["difference"]) for row in rows)
        assert [np.isnan(row["se"]) for row in rows] == [not np.isfinite(row["difference"]) for row in rows]


def test_every_measure_is_adjusted_by_itself_and_classes_once_more(rows: Any) -> None:
    truth, models = rows
    found = compare(truth, models).differences(by_class=True)
    for measure in set(found["measure"]):
        of_all, of_classes = (
            [row for row in found if row["measure"] == measure and (row["class"] is not None) == own]
            for own in (False, True)
        )
        assert len(of_all) == 3
        for some in (of_all, of_classes):
            assert_allclose([row["p_adjusted"] for row in some], holm([row["p"] for row in some]))
    assert compare(truth, models).differences("error")["p_adjusted"] == [
        row["p_adjusted"] for row in found if row["measure"] == "error"
    ]


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
    assert "one has the lowest error: it beats two (" in str(found.verdict("error"))
    with pytest.raises(SteelyardError, match="better"):
        found.best("prevalence")
    with pytest.raises(SteelyardError, match="no classifier 'four'"):
        _ = found["four"]


def test_a_part_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    truth, said, parts = list("abab"), list("abbb"), ["north", "north", "south", "south"]
    one, several = assess(truth, said, by=parts), compare(truth, {"m": said, "n": truth}, by=parts)
    for slices in (one.slices, several.slices):
        with pytest.raises(UnknownPart, match=r"^there is no part 'west'\. There are 'north', 'south'$"):
            slices["west"]
        with pytest.raises(KeyError, match=r"Did you mean 'north'\?"):
            slices["nort"]
        assert slices.get("west") is None
        assert list(slices) == ["north", "south"]
    with pytest.raises(UnknownPart, match="Name the column of parts: by="):
        assess(truth, said).slices["north"]


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


# --- differences of measures of scores ------------------------------------------------------------------------


def scored(rows: int, seed: int, gap: float = 1.0) -> tuple[Any, dict[str, Any]]:
    """Two scores with noise in common, the second of which separates the classes less."""
    random = np.random.default_rng(seed)
    truth = (random.random(rows) < 0.4).astype(int)
    noise, other = random.standard_normal((2, rows))
    return truth, {"x": noise + 3 * truth, "y": 0.6 * noise + 0.8 * other + (3 - gap) * truth}


def of_scores(truth: Any, scores: dict[str, Any], **options: Any) -> dict[str, Any]:
    found = compare(truth, scores, event=1, measures=["auc"], **options).differences("auc")
    return dict(found.to_pylist()[0])


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_of_a_difference_of_scores_agrees_with_its_p_value(seed: int) -> None:
    truth, scores = scored(60, seed)
    p = of_scores(truth, scores)["p"]
    for level, significant in ((1 - p + 1e-4, False), (1 - p - 1e-4, True)):
        row = of_scores(truth, scores, level=level)
        assert (row["low"] > 0 or row["high"] < 0) == significant


@pytest.mark.parametrize("seed", range(4))
def test_a_difference_of_scores_is_judged_as_pair_by_pair(seed: int) -> None:
    truth, scores = scored(40, seed)
    own, rows = np.stack([truth == 1, truth != 1]), len(truth)
    masses = own + 0.25 / rows  # a quarter of a row of either side, spread over all rows
    sizes = masses.sum(axis=1)
    values, added, freedoms = [], [], []
    for score in scores.values():
        wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
        values.append(float(masses[0] @ wins @ masses[1] / sizes.prod()))
        added.append(np.stack([wins @ masses[1] / sizes[1], masses[0] @ wins / sizes[0]]) - values[-1])
        added[-1] /= sizes[:, None]
        parts = (np.square(added[-1]) * own).sum(axis=1) * sizes / (sizes - 1)
        freedoms.append(parts.sum() ** 2 / (parts**2 / (sizes - 1)).sum())
    bent = [each / (value * (1 - value)) for each, value in zip(added, values, strict=True)]
    gaps = (bent[0] - bent[1]) * own
    squares, fourths = (gaps**2).sum(axis=1), (gaps**4).sum(axis=1)
    factors = sizes / (sizes - 1)
    # One pseudo-row, of either side with an even chance; both rankings have in common what it adds on average.
    pseudo = sum(np.square(each).mean() for each in bent) - 2 * (bent[0].mean(axis=1) * bent[1].mean(axis=1)).mean()
    variance = squares @ factors + 0.25**2 * pseudo
    scatter = (fourths - squares**2 / own.sum(axis=1)) @ factors**2
    unsure = 1 / min(freedoms) + scatter / (2 * variance**2)
    statistic = (logit(values[0]) - logit(values[1])) / np.sqrt(variance)
    assert of_scores(truth, scores)["p"] == pytest.approx(2 * student.sf(abs(statistic), 1 / unsure), rel=1e-9)


def test_a_difference_of_scores_reaches_further_to_where_a_ranking_can_get_worse() -> None:
    truth, scores = scored(60, 1)
    row = of_scores(truth, scores)
    assert row["high"] - row["difference"] > row["difference"] - row["low"] > 0


def test_two_rankings_without_a_fault_may_differ() -> None:
    truth, score = np.repeat([0, 1], 20), np.arange(40.0)
    for other in (score, np.concatenate([score[:20][::-1], score[20:][::-1]]), truth - 0.5):
        row = of_scores(truth, {"x": score, "y": other})
        assert row["difference"] == 0
        assert row["p"] > 0.9
        assert -0.2 < row["low"] < -0.001 < 0.001 < row["high"] < 0.2


def test_in_many_rows_a_difference_of_scores_has_the_interval_of_delong() -> None:
    truth, scores = scored(20_000, 2)
    row = of_scores(truth, scores)
    low, high = row["difference"] - 1.96 * row["se"], row["difference"] + 1.96 * row["se"]
    assert_allclose([row["low"], row["high"]], [low, high], atol=0.05 * row["se"])


def test_one_row_far_from_its_place_leaves_few_degrees_of_freedom() -> None:
    truth, scores = scored(400, 3, gap=0.0)
    weak = {name: score - 2 * truth for name, score in scores.items()}
    far = 99 * (np.arange(400) == int(np.flatnonzero(truth)[0]))
    strong = {"x": scores["x"] + 9 * truth, "y": scores["y"] + 9 * truth - far}
    assert freedom(truth, weak) > 100
    assert freedom(truth, strong) < 20


def freedom(truth: Any, scores: dict[str, Any]) -> float:
    found = compare(truth, scores, event=1, measures=["auc"])
    return float(Differences([found[name].ranked for name in scores], [1], 0.95).freedoms[0, 0])


def test_weights_that_are_all_alike_change_nothing_of_a_difference_of_scores() -> None:
    truth, scores = scored(50, 4)
    plain, weighed = (of_scores(truth, scores, **options) for options in ({}, {"weight": np.full(50, 3.0)}))
    assert [weighed[name] for name in ("low", "high", "p")] == pytest.approx(
        [plain[name] for name in ("low", "high", "p")]
    )


def test_clusters_of_one_row_are_rows_also_for_degrees_of_freedom() -> None:
    truth, scores = scored(50, 5)
    alone = of_scores(truth, scores, group=np.arange(50))
    assert [alone["low"], alone["p"]] == pytest.approx(
        [of_scores(truth, scores)[name] for name in ("low", "p")], rel=0.02
    )


@given(
    st.tuples(*[st.floats(0.02, 0.98)] * 2), st.tuples(*[st.floats(0.005, 0.2)] * 2), st.floats(-0.99, 0.99),
    st.floats(0.5, 6),
)  # fmt: skip
def test_bounds_are_the_outermost_of_all_points_around(
    values: Any, errors: Any, correlation: float, reach: float
) -> None:
    a, b = (np.array([value]) for value in values)
    variances = [np.array([error**2]) for error in errors]
    odds = LogOdds.of(a, b, (variances[0], variances[1]), np.array([correlation * errors[0] * errors[1]]))
    low, high = odds.bounds(np.array([reach]))
    # Any point of the ellipse, found another way: by its axes.
    covariance = correlation * odds.error_a[0] * odds.error_b[0]
    table = np.array([[odds.error_a[0] ** 2, covariance], [covariance, odds.error_b[0] ** 2]])
    around = np.linspace(0, 2 * np.pi, 100_001)
    points = reach * np.linalg.cholesky(table) @ np.stack([np.cos(around), np.sin(around)])
    differences = expit(odds.first + points[0]) - expit(odds.second + points[1])
    assert_allclose([low[0], high[0]], [differences.min(), differences.max()], atol=1e-7)
    assert (low[0] <= 0 <= high[0]) == (abs(odds.statistic[0]) <= reach) or abs(odds.statistic[0]) == pytest.approx(
        reach
    )


# --- notes ----------------------------------------------------------------------------------------------------


def test_what_one_classifier_misspells_is_told_with_its_name() -> None:
    truth = ["ill", "well"] * 20
    said = {"plain": truth, "misspelled": ["ill", "wel", *truth[2:]]}
    found = compare(truth, said, measures=["error"])
    assert found.notes == ["misspelled: assigned but never true: 'wel' (rare, or spelled differently?)"]
    assert f"note: {found.notes[0]}" in str(found)


def test_what_has_no_value_has_no_interval_in_a_cell_either() -> None:
    lines = str(sy.assess(["a", "b", "c", "a"], ["a", "b", "b", "a"], measures=["precision"])).splitlines()
    assert next(line for line in lines if line.startswith(" c ") and "–" in line).split() == ["c", "1", "–"]


def test_what_holds_for_all_is_told_once() -> None:
    truth = ["ill", "well"] * 20
    found = compare(truth, {"one": truth, "other": [*truth]}, measures=["error", "precision"])
    assert found.notes == ["no event is named: what each class has of its own is averaged over 'ill', 'well'"]
    assert found["one"].notes == found.notes
    assert str(found).count("no event is named") == 1
    for silent in ({"measures": ["error"]}, {"event": "ill"}):
        assert compare(truth, {"one": truth, "other": [*truth]}, **silent).notes == []


# --- parts of the data ----------------------------------------------------------------------------------------


def test_parts_of_the_data_are_shown_each_by_itself() -> None:
    truth, site = ["ill", "well"] * 20, ["A"] * 24 + ["B"] * 16
    said = {"one": truth, "other": [*truth[::-1][:24], *truth[24:]]}
    found = compare(truth, said, measures=["error"], by=site)
    (row,) = found.slices["A"].differences("error")
    assert row["difference"] == -1
    lines = str(found).split("error in every slice, each by itself")[1].split("\n")
    (a,) = [line.split() for line in lines if line.startswith(" A")]
    assert a[:3] == ["A", "24", "0.000"]
    assert f"{row['low']:.3f}" in " ".join(a)
    (b,) = [line.split() for line in lines if line.startswith(" B")]
    assert b[-1] == "1.000"
    assert "in every slice" not in str(found.slices["A"])
    assert "error by slice" in found._repr_html_()
    third = compare(truth, {**said, "third": truth}, measures=["error"], by=site)
    heads = [line for line in str(third).split("each by itself")[1].split("\n") if line.startswith(" slice")]
    assert heads[0].split() == ["slice", "rows", "one", "other", "third"]


def test_rows_that_decide_a_score_of_labels_are_told_apart() -> None:
    """Labels are kept as patterns; which row is which is told none the less."""
    truth = ["a", "b", "a", "b", "b", "a", "a"]
    first, second = ["a", "b", "b", "b", "a", "a", "a"], ["a", "a", "a", "b", "b", "a", "b"]
    found = compare(truth, {"p": first, "q": second}).deciding_rows("brier_multiclass", "p", "q", most=7)
    mean = (2 * 2 - 2 * 2) / 7
    for row, effect in zip(found["row"], found["effect"], strict=True):
        wrong = 2 * (first[row] != truth[row]) - 2 * (second[row] != truth[row])
        assert effect == pytest.approx((wrong - mean) / 7)


@pytest.mark.filterwarnings("error")
def test_the_row_that_makes_a_score_infinite_decides() -> None:
    """It comes first; without another row nothing would change."""
    found = compare([0, 1, 1], {"a": [0.0, 0.0, 1.0], "b": [0.1, 0.2, 0.3]}).deciding_rows("log_score", "a", "b")
    assert found["row"][0] == 1
    assert found["effect"] == [np.inf, 0.0, 0.0]


def test_measures_that_need_scores_are_refused_for_labels() -> None:
    """By whatever they are asked for."""
    comparison = compare(["a", "b", "a"], {"p": ["a", "b", "b"], "q": ["a", "a", "a"]})
    for ask in (comparison.differences, comparison.verdict, lambda name: comparison.deciding_rows(name, "p", "q")):
        with pytest.raises(UnknownMeasure, match="auc needs scores, and there are only labels"):
            ask("auc")


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_bands_of_few_rows_are_wide_and_no_error(rows: int) -> None:
    """However few rows there are."""
    for seed in range(5):
        random = np.random.default_rng(seed)
        said = {name: random.random(rows) for name in ("p", "q")}
        table = compare([0, 1, 1, 1][:rows], said).table(simultaneous=True)
        assert len(table) > 0


@pytest.mark.parametrize("group", [None, np.arange(60) // 4])
def test_plain_differences_are_so_many_standard_errors_to_either_side(group: Any) -> None:
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 60)
    scores = {name: 1 / (1 + np.exp(-(truth - 0.5 + random.normal(size=60)))) for name in "ab"}
    asked: dict[str, Any] = {"event": 1, "group": group, "measures": ["error", "kappa", "dor", "auc", "log_score"]}
    found = compare(truth, scores, method="plain", **asked).differences()
    assert found["se"] == compare(truth, scores, **asked).differences()["se"]
    for row in found:
        few = group is not None and row["measure"] not in ("auc", "log_score")
        freedom = 14 if few else np.inf  # as for plain intervals of values
        reach = student.ppf(0.975, freedom) * row["se"]
        assert_allclose([row["low"], row["high"]], [row["difference"] - reach, row["difference"] + reach], rtol=1e-9)
        assert_allclose(row["p"], 2 * student.sf(abs(row["difference"]) / row["se"], freedom), rtol=1e-9)


def test_plain_differences_end_where_values_do_and_are_none_where_there_is_none() -> None:
    truth, right, wrong = [0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]
    asked: dict[str, Any] = {"event": 1, "method": "plain", "measures": ["error", "dor", "precision"]}
    found = compare(truth, {"right": right, "wrong": wrong, "never": [0, 0, 0, 0]}, **asked).differences().to_pylist()
    by = {(row["measure"], row["a"], row["b"]): row for row in found}
    sure = by["error", "right", "wrong"]
    assert (sure["low"], sure["high"], sure["se"], sure["p"]) == (-1.0, -1.0, 0.0, 0.0)
    endless = by["diagnostic_odds_ratio", "right", "wrong"]
    assert endless["difference"] == np.inf and endless["note"] == "right is infinite; no p-value"
    assert np.isnan([endless[name] for name in ("low", "high", "p")]).all()
    assert np.isnan([by["precision", "right", "never"][name] for name in ("low", "high", "p")]).all()
    assert by["error", "right", "never"]["high"] <= 1.0


def test_plain_differences_by_rounding_are_none() -> None:
    """Sums of weights in two orders are not quite the same, and neither are perfect values that are made of them."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        truth, weight = random.integers(0, 2, 30), random.random(30) + 0.2
        scores = {name: 0.9 * truth + 0.05 * random.random(30) for name in "ab"}
        found = compare(truth, scores, event=1, weight=weight, measures=["average_precision"], method="plain")
        assert found.differences("average_precision")["p"] == [1.0]


def test_plain_bands_are_plain_too() -> None:
    truth, first = drawn(200, 2, 0.6, 1)
    second = drawn(200, 2, 0.7, 2)[1]
    found = compare(truth, {"a": first, "b": second}, measures=["error", "kappa"], method="plain")
    for table in (found.table(simultaneous=True), found.differences(simultaneous=True)):
        value = "value" if "value" in table.column_names else "difference"
        middle = [(row["low"] + row["high"]) / 2 for row in table]
        assert_allclose(middle, table[value], atol=1e-12)
        assert all(row["high"] - row["low"] > 2 * 1.96 * row["se"] for row in table)


def test_who_does_worse_than_chance_is_asked_what_was_mixed_up() -> None:
    truth = ["ill", "well", "well"] * 10
    score = [0.9 if label == "ill" else 0.2 for label in truth]
    right, wrong = (assess(truth, score, event=event) for event in ("ill", "well"))
    assert right.notes == []
    assert wrong.notes == [
        f"worse than chance, kappa {wrong['kappa']}: do scores speak for another class than the event, 'well'?"
    ]
    assert assess(truth, score, event="well", measures=["auc"]).notes == []
    turned = ["well" if label == "ill" else "ill" for label in truth]
    assert "are labels mixed up?" in compare(truth, {"right": truth, "turned": turned}, event="ill").notes[-1]
    memberships = np.eye(3)[[1, 2, 0] * 10]
    assert "another order of the columns fits far better: 2, 0, 1" in assess([0, 1, 2] * 10, memberships).notes[0]
    by_name = {label: memberships[:, label] for label in range(3)}
    assert assess([0, 1, 2] * 10, by_name).notes[0].endswith("memberships those of 0, 1, 2, in this order?")
    few = assess(["ill", "well"], ["well", "ill"], event="ill")
    assert few["kappa"].value == -1
    assert few.notes == []


def test_bands_over_infinite_scores_make_no_noise() -> None:
    both = {"a": [0.0, 0.0, 0.0, 0.0, 1.0], "b": [1.0, 0.0, 0.0, 0.0, 0.0]}
    found = sy.compare([1, 0, 1, 1, 0], both, event=1, threshold=0.5, measures=["error", "log_score"])
    assert np.isnan(found.differences(simultaneous=True)["difference"][1])


def test_net_benefits_beside_an_infinite_score_make_no_noise() -> None:
    both = {"a": [0.0, 0.2, 0.7, 0.9, 0.1], "b": [0.6, 0.3, 0.8, 0.4, 0.3]}
    found = sy.compare([1, 0, 1, 1, 0], both, event=1, measures=["log_score", "net_benefit"]).differences()
    assert found["difference"][0] == math.inf
    alone = sy.compare([1, 0, 1, 1, 0], both, event=1, measures=["net_benefit"]).differences()
    assert found["p"][1] == alone["p"][0]


def test_mcnemars_test_stands_only_beside_differences_of_counted_rows() -> None:
    truth, models = list("aabbabab"), {"one": list("aabbabbb"), "two": list("abbbaaab")}
    weights: dict[str, dict[str, Any]] = {
        "none": {},
        "counts": {"weight": [1, 2, 1, 3, 1, 1, 2, 1], "weight_kind": "frequency"},
        "sampling": {"weight": [1, 2, 1, 3, 1, 1, 2, 1]},
    }
    shown = {name: str(compare(truth, models, measures=["error"], **options)) for name, options in weights.items()}
    assert {name: "McNemar p" in text for name, text in shown.items()} == {
        "none": True,
        "counts": True,
        "sampling": False,
    }


@pytest.mark.parametrize("seed", range(12))
def test_what_is_the_same_for_all_classifiers_does_not_differ_by_rounding(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth, said = random.integers(0, 3, 60), {name: random.integers(0, 3, 60) for name in ("one", "other")}
    both = compare(truth, said, weight=random.gamma(1.0, 1.0, 60), measures=["detection_prevalence"])
    assert both.differences("detection_prevalence")["p"] == [1.0]


def test_one_cluster_does_not_prove_an_infinite_difference() -> None:
    truth, one, other = list("baabba"), list("baaaba"), list("bbaaba")
    ratio = compare(truth, {"one": one, "other": other}, event="b", group=[0] * 6, measures=["lr_positive"])
    chances = {"one": [0.0, 0.1, 0.2, 0.9, 0.8, 0.3], "other": [0.6, 0.1, 0.2, 0.9, 0.8, 0.3]}
    score = compare(truth, chances, event="b", group=[0] * 6, measures=["log_score"])
    for found in (ratio.differences(), score.differences()):
        (row,) = found
        assert row["difference"] == math.inf and np.isnan([row[name] for name in ("low", "high", "p")]).all()


def test_net_benefits_that_few_rows_tell_apart_may_differ_by_more() -> None:
    random = np.random.default_rng(5)
    truth, low = random.integers(0, 2, 100), random.random((2, 100)) / 4

    def judged(first: Any) -> tuple[float, ...]:
        found = sy.compare(truth, {"a": first, "b": low[1]}, event=1, measures=["net_benefit(at=0.75)"]).differences()
        return tuple(float(found[name][0]) for name in ("difference", "low", "high", "p"))

    t = 1.984217  # of 99 degrees of freedom
    unseen = t**2 / (100 + t**2) * np.hypot(1, 3)  # a hit is worth 1, and a false alarm costs 3
    assert judged(low[0]) == pytest.approx((0, -unseen, unseen, 1), rel=1e-5)
    hits = np.where(np.cumsum(truth) <= 2, truth, low[0])  # two rows alone are acted on
    difference, lowest, highest, p = judged(hits)
    assert difference == pytest.approx(0.02)
    assert lowest < difference - 0.9 * unseen
    assert highest > difference + 0.9 * unseen
    assert p > 0.4
    many = judged(np.where(truth, 0.9, low[0]))
    assert many[1] > 0.3
    assert many[3] < 1e-3


def test_why_values_are_undefined_is_said() -> None:
    one_class = {"x": ["a", "b", "b"], "y": ["a", "a", "a"], "z": ["a", "b", "a"]}
    found = compare(["a", "b", "b"], one_class, measures=["error", "mcc", "kappa", "precision"], event="b")
    for shown in (
        str(found),
        html.unescape(found._repr_html_()),
        html.unescape(markdown_document(comparison_digest(found))),
    ):
        assert "–: y, MCC: only one class is true, or only one is assigned" in shown
        assert "–: y, precision [b]: class 'b' is never assigned" in shown
        assert shown.count("–: ") == 2


def test_only_some_reasons_are_told() -> None:
    models = {f"model {place}": ["a", "a", "a"] for place in range(9)}
    shown = str(compare(["a", "b", "b"], models, measures=["error", "mcc"]))
    assert shown.count("–: model") == 6
    assert "… and 3 more, in table() and --csv" in shown

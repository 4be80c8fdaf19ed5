"""Scores through the front door: what is refused says where and why, and what is odd but right is taken."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from steelyard import Assessment, Scale, Tally, all_measures, assess, assess_table, assess_tally, compare, find
from steelyard.core.errors import (
    BadOption,
    MissingValues,
    OutsideUnitInterval,
    SteelyardError,
    UndefinedValue,
    UnknownMeasure,
)
from steelyard.inputs.validate import Validator
from steelyard.states.statistics import RANKING

TRUTH = np.array(["no", "yes", "no", "yes", "yes", "no", "no", "yes"])
SCORE = np.array([0.1, 0.8, 0.3, 0.4, 0.9, 0.4, 0.2, 0.6])
LABELS = np.where(SCORE >= 0.5, "yes", "no")
RANKED = [name for name, entry in all_measures().items() if entry.statistic is RANKING]


def auc(score: Any, truth: Any = TRUTH, **options: Any) -> Any:
    return assess(truth, score, **{"event": "yes", "measures": ["auc"], **options})["auc"]


def broken(place: int, value: float, score: Any = SCORE) -> Any:
    found = score.copy()
    found[place] = value
    return found


def refused(error: SteelyardError) -> str:
    """The message, which must say how to mend it."""
    assert error.mend
    assert str(error).isprintable()
    return str(error)


# --- numbers that are none ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"threshold": 0.5}])
def test_a_missing_score_is_refused_by_column_and_row(options: dict[str, Any]) -> None:
    with pytest.raises(MissingValues) as caught:
        auc(broken(3, math.nan), **options)
    assert (caught.value.column, caught.value.row) == ("prediction", 3)
    assert "missing='drop'" in refused(caught.value)


def test_a_missing_score_of_a_frame_is_refused_by_the_name_of_its_column() -> None:
    frame = pd.DataFrame({"grade": TRUTH, "p": broken(5, math.nan)})
    with pytest.raises(MissingValues) as caught:
        assess(frame, truth="grade", membership="p", event="yes", measures=["auc"])
    assert (caught.value.column, caught.value.row) == ("p", 5)


def test_a_missing_membership_is_refused_by_its_class() -> None:
    with pytest.raises(MissingValues) as caught:
        auc({"no": 1 - SCORE, "yes": broken(2, math.nan)})
    assert (caught.value.column, caught.value.row) == ("prediction[yes]", 2)


def test_rows_without_a_score_can_be_left_out() -> None:
    found = auc(broken(3, math.nan), missing="drop")
    keep = np.arange(len(TRUTH)) != 3
    assert (found.value, found.low, found.n) == (
        auc(SCORE[keep], TRUTH[keep]).value,
        auc(SCORE[keep], TRUTH[keep]).low,
        7,
    )


def test_a_score_beyond_one_needs_a_threshold_where_rows_are_counted_too() -> None:
    with pytest.raises(OutsideUnitInterval) as caught:
        auc(10 * SCORE, measures=["auc", "error"])
    assert (caught.value.column, caught.value.row) == ("prediction", 1)
    assert refused(caught.value)
    for options in ({"threshold": 5, "measures": ["auc", "error"]}, {"threshold": 5}, {}):
        found, expected = auc(10 * SCORE, **options), auc(SCORE)
        assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)


@pytest.mark.parametrize("options", [{"threshold": 0.5}, {"threshold": 0.5, "measures": ["auc", "error"]}, {}])
def test_infinite_scores_are_ranked(options: dict[str, Any]) -> None:
    endless = np.where(SCORE > 0.7, np.inf, np.where(SCORE < 0.25, -np.inf, SCORE))
    found = auc(endless, **options)
    assert found.value == auc(SCORE).value
    assert 0 < found.low < found.high <= 1


def test_infinite_scores_are_no_probabilities() -> None:
    with pytest.raises(OutsideUnitInterval) as caught:
        auc(broken(6, np.inf), measures=["auc", "error"])
    assert (caught.value.column, caught.value.row) == ("prediction", 6)


@pytest.mark.parametrize("kind", [int, np.int8, object])
def test_whole_numbers_are_ranked_where_nothing_else_is_asked_for(kind: Any) -> None:
    points = np.array([int(10 * score) for score in SCORE]).astype(kind)
    assert auc(points).value == auc(points.astype(float)).value
    assert auc(points, threshold=5, measures=["auc", "error"]).value == auc(SCORE).value


def test_whole_numbers_that_are_all_classes_are_labels() -> None:
    truth, said = (TRUTH == "yes").astype(int), (SCORE > 0.5).astype(int)
    with pytest.raises(UnknownMeasure, match="only labels"):
        assess(truth, said, event=1, measures=["auc"])
    with pytest.raises(UnknownMeasure, match="only labels"):
        assess(truth == 1, said == 1, event=True, measures=["auc"])


@pytest.mark.parametrize("kind", ["f2", "f4", ">f8", ">f4", "longdouble"])
def test_floats_of_any_kind_are_ranked(kind: str) -> None:
    score = SCORE.astype(kind)
    assert auc(score).value == pytest.approx(auc(SCORE).value)


@pytest.mark.parametrize("kind", ["bool", "u1", "i8", "f2", ">f4", "longdouble"])
@pytest.mark.parametrize("alone", [True, False], ids=["one column", "two columns"])
def test_memberships_of_any_kind_are_ranked_kept_and_read_back(kind: str, alone: bool, tmp_path: Path) -> None:
    certain = {"yes": (SCORE > 0.5).astype(kind)} | ({} if alone else {"no": (SCORE <= 0.5).astype(kind)})
    expected = auc((SCORE > 0.5) + 0.0, threshold=0.5)
    found = assess(TRUTH, certain, event="yes", measures=["auc"])
    assert (found["auc"].value, found["auc"].low) == (expected.value, expected.low)
    assert found["auc", "no"].value == expected.value
    Tally.of(Validator(event="yes").validate(TRUTH, {"m": certain})).save(tmp_path / "a.tally")
    again = assess_tally(Tally.load(tmp_path / "a.tally"), measures=["auc"])["auc"]
    assert (again.value, again.low) == (expected.value, expected.low)


def test_what_the_caller_does_to_the_scores_later_does_not_matter() -> None:
    score = SCORE.copy()
    found = assess(TRUTH, score, event="yes", measures=["auc"])
    score[:] = score[::-1].copy()
    assert found["auc"].value == auc(SCORE).value != auc(score).value


# --- scores that say nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_scores_that_are_all_the_same_are_a_guess(value: float) -> None:
    found = assess(TRUTH, np.full(8, value), event="yes", threshold=0.5, measures=RANKED)
    assert found["auc"].value == found["hand_till_auc"].value == found["partial_auc"].value == 0.5
    assert found["average_precision"].value == 0.5
    assert found["h_measure"].value == pytest.approx(0, abs=1e-12)
    assert not any(math.isnan(row["low"]) for row in found.table())


@pytest.mark.parametrize("name", RANKED)
@pytest.mark.parametrize("only", ["no", "yes"])
def test_a_single_class_can_be_an_error(name: str, only: str) -> None:
    options: dict[str, Any] = {"scale": Scale(["no", "yes"], event="yes"), "measures": [name]}
    assert math.isnan(assess(np.repeat(only, 8), SCORE, **options)[name].value)
    with pytest.raises(UndefinedValue) as caught:
        assess(np.repeat(only, 8), SCORE, undefined="error", **options)[name]
    assert name in refused(caught.value)


def test_a_table_of_undefined_values_can_be_shown() -> None:
    found = assess(np.repeat("no", 8), SCORE, scale=Scale(["no", "yes"], event="yes"))
    assert "AUC" in str(found)
    assert all(row["note"] for row in found.table() if row["measure"] == "auc")


# --- labels where scores are needed ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", RANKED)
def test_labels_cannot_be_ranked(name: str) -> None:
    with pytest.raises(UnknownMeasure) as caught:
        assess(TRUTH, LABELS, event="yes", measures=[name])
    assert "only labels" in refused(caught.value)
    assert "score" in caught.value.mend
    with pytest.raises(UnknownMeasure, match="only labels"):
        compare(TRUTH, {"x": LABELS, "y": TRUTH}, event="yes", measures=["error", name])


def test_a_published_table_cannot_be_ranked() -> None:
    with pytest.raises(UnknownMeasure, match="only labels"):
        assess_table([[5, 1], [2, 4]], measures=["auc"])
    assert "auc" not in assess_table([[5, 1], [2, 4]]).table()["measure"]


def test_labels_have_every_other_measure() -> None:
    found = assess(TRUTH, LABELS, event="yes")
    assert not set(found.table()["measure"]) & set(RANKED)
    with pytest.raises(SteelyardError) as caught:
        found["auc"]
    assert refused(caught.value)


def test_scores_have_every_measure_unasked() -> None:
    found = assess(TRUTH, SCORE, event="yes")
    assert found["auc"].value == auc(SCORE).value
    shown = set(found.table()["measure"])
    assert set(RANKED) & shown == {"auc"}
    for name in RANKED:  # those for special purposes are there when they are asked for
        assert found[name] == assess(TRUTH, SCORE, event="yes", measures=[name])[name]


def test_a_tally_of_labels_cannot_be_ranked() -> None:
    labels = Tally.of(Validator(event="yes").validate(TRUTH, {"m": LABELS}))
    with pytest.raises(UnknownMeasure, match="only labels"):
        assess_tally(labels, measures=["auc"])
    assert "auc" not in assess_tally(labels).table()["measure"]


# --- labels among scores --------------------------------------------------------------------------------------

UNKNOWN = "the classifier gave labels, not scores"


def mixed(**options: Any) -> Any:
    return compare(TRUTH, {"scored": SCORE, "labelled": LABELS}, event="yes", **options)


@pytest.mark.parametrize("name", RANKED)
def test_a_classifier_of_labels_among_scored_ones_has_no_value_and_says_why(name: str) -> None:
    found = mixed()
    scored, labelled = (found[model][name] for model in ("scored", "labelled"))
    assert scored.note == ""
    assert not math.isnan(scored.low)
    assert labelled.note == UNKNOWN
    assert all(math.isnan(value) for value in (labelled.value, labelled.low, labelled.high, labelled.se))


def test_a_classifier_of_labels_says_why_in_every_row_of_the_table() -> None:
    rows = [row for row in mixed(measures=RANKED).table() if row["model"] == "labelled"]
    assert rows
    assert {row["note"] for row in rows} == {UNKNOWN}


def test_what_stands_in_for_the_value_of_a_classifier_of_labels_says_so() -> None:
    found = mixed(undefined=0.25)["labelled"]["auc"]
    assert found.value == 0.25
    assert math.isnan(found.low)
    assert UNKNOWN in found.note


@pytest.mark.parametrize("method", ["delta", "percentile", "bca"])
def test_a_classifier_of_labels_has_no_difference_in_ranking(method: Any) -> None:
    found = mixed(measures=["auc", "error"], method=method, replicates=50).differences()
    rows = {row["measure"]: row for row in found}
    assert all(math.isnan(rows["auc"][name]) for name in ("difference", "low", "high", "se", "p"))
    assert rows["error"]["difference"] == 0
    assert not math.isnan(rows["error"]["low"])


def test_bands_and_verdicts_do_without_a_classifier_of_labels() -> None:
    found = mixed(measures=["auc", "error"])
    wide = {(row["model"], row["measure"]): row for row in found.table(simultaneous=True)}
    assert wide["scored", "auc"]["low"] < found["scored"]["auc"].low
    assert math.isnan(wide["labelled", "auc"]["low"])
    assert found.best("auc") == "scored"
    assert str(found.verdict("auc")).startswith("scored and labelled can't be compared by AUC: labelled: ")
    assert "labelled" in str(found)


# --- options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", ["(2, 3)", "0.9", "(0.9,)", "'a'", "(0.9, 0.9)", "(0.5, None)", "(-0.1, 0.5)"])
@pytest.mark.parametrize("side", ["specificity", "sensitivity"])
def test_what_is_no_range_is_refused(side: str, between: str) -> None:
    with pytest.raises(BadOption) as caught:
        found = assess(TRUTH, SCORE, event="yes", measures=[f"partial_auc({side}={between})"])
        assert found["partial_auc"].value
    assert "range" in refused(caught.value)


def test_two_ranges_are_two_measures_in_either_order() -> None:
    wide, usual = find("partial_auc", specificity=(0.5, 1.0)), find("partial_auc")
    for order in ([wide, usual], [usual, wide]):
        found = assess(TRUTH, SCORE, event="yes", measures=order)
        assert len({row["value"] for row in found.table() if row["class"] == "yes"}) == 2
        for measure in order:
            assert found[measure].value == assess(TRUTH, SCORE, event="yes", measures=[measure])[measure].value


def test_a_range_may_be_written_out() -> None:
    text = "partial_auc(specificity=(0.5, 1.0), corrected=False)"
    measure = find("partial_auc", specificity=(0.5, 1.0), corrected=False)
    one, other = (assess(TRUTH, SCORE, event="yes", measures=[each])[each] for each in (text, measure))
    assert (one.value, one.low) == (other.value, other.low)


def test_the_interval_can_be_the_plain_one() -> None:
    plain, usual = (auc(SCORE, method=method) for method in ("plain", "delta"))
    assert plain.value - 1.959964 * plain.se == pytest.approx(plain.low)
    assert plain.high == 1
    assert (plain.method, usual.se) == ("plain", plain.se)
    assert usual.low < plain.low


def test_ranking_is_assessed_by_part_and_on_training_data_too() -> None:
    part = np.array(list("xyxyxyxy"))
    part[4] = "x"
    found: Assessment = assess(TRUTH, SCORE, event="yes", by=part, training=(TRUTH, np.sort(SCORE)), measures=["auc"])
    here = part == "x"
    assert found.slices["x"]["auc"].value == auc(SCORE[here], TRUTH[here]).value
    gap = found.gap("auc")
    assert gap.value == pytest.approx(auc(SCORE).value - auc(np.sort(SCORE)).value)
    assert gap.low < gap.value < gap.high


def test_one_cluster_says_nothing_about_spread() -> None:
    """As with all other measures, the interval then reaches over all values."""
    random = np.random.default_rng(0)
    chances = random.dirichlet(np.ones(3), 300)
    truth = (random.random(300)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    both = compare(truth, {"a": chances, "b": chances[::-1].copy()}, group=np.zeros(300, int))
    assert (both["a"]["auc"].low, both["a"]["auc"].high) == (0.0, 1.0)
    (row,) = both.differences("auc").to_pylist()
    assert (row["low"], row["high"], row["p"]) == (-1.0, 1.0, 1.0)


def of_any_scale(seed: int = 3, rows: int = 150) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    truth, scores = random.integers(0, 3, rows), random.normal(size=(rows, 3))
    scores[np.arange(rows), truth] += 1
    return truth, scores


def test_scores_of_several_classes_may_have_any_scale_where_nothing_but_their_order_counts(tmp_path: Path) -> None:
    truth, scores = of_any_scale()
    result = assess(truth, scores, measures=["auc", "hand_till_auc"])
    for code in range(3):
        own, rest = scores[truth == code, code], scores[truth != code, code]
        assert result["auc", code].value == pytest.approx((own[:, None] > rest).mean())
    turned = assess(truth, np.exp(3 * scores), measures=["auc"])
    assert turned["auc"] == result["auc"]
    result.tally.save(tmp_path / "any.tally")
    kept = assess_tally(tmp_path / "any.tally", measures=["auc"])
    assert kept["auc"] == result["auc"]
    assert not kept.tally.given.probable
    for look in (result.reliability, result.plot.simplex, lambda: assess_tally(kept.tally, measures=["log_score"])):
        with pytest.raises(SteelyardError, match="probabilities"):
            look()


def test_whether_scores_of_any_scale_are_probabilities_is_seen_when_it_matters() -> None:
    truth, scores = of_any_scale()
    chance = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    sure = assess(truth, chance, measures=["auc"])
    assert sure.tally.given.probable
    assert len(sure.reliability(0)) > 1
    assert not assess(truth, chance * 1.1, measures=["auc"]).tally.given.probable
    both = sure.tally + assess(truth, scores, measures=["auc"]).tally
    assert not both.given.probable


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_none_of_them_may_be_missing(dtype: Any) -> None:
    truth, scores = of_any_scale()
    scores = scores.astype(dtype)
    scores[[4, 9], [2, 1]] = np.nan
    with pytest.raises(MissingValues, match=r"prediction\[1\]', row 9"):
        assess(truth, scores, measures=["auc"])
    dropped = assess(truth, scores, measures=["auc"], missing="drop")
    assert dropped.dropped == 2
    rest = np.setdiff1d(np.arange(len(truth)), [4, 9])
    assert dropped["auc"] == assess(truth[rest], scores[rest], measures=["auc"])["auc"]


@pytest.mark.parametrize("kind", ["u1", "i2", "?", ">f8", ">i4", "g"])
def test_many_scores_of_any_type_are_numbers(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.inputs.prediction.WORTH_SEALING", 2)
    score = (SCORE > 0.35 if kind == "?" else np.round(SCORE * 200)).astype(kind)
    options: dict[str, Any] = {"event": "yes", "measures": ["auc", "error"]}
    options |= {} if kind == "?" else {"threshold": 100.0}
    given, plain = (assess(TRUTH, {"no": column}, **options) for column in (score, score.astype(float)))
    assert given.at_threshold(-50.0)["error"].value == plain.at_threshold(-50.0)["error"].value
    assert given["auc"].value == plain["auc"].value
    given.tally.save(tmp_path / "a.tally")
    assert assess_tally(tmp_path / "a.tally")["auc"].value == plain["auc"].value


@pytest.mark.parametrize("name", ["auc", "hand_till_auc", "partial_auc", "average_precision", "h_measure"])
@pytest.mark.parametrize("method", ["delta", "percentile", "bca"])
def test_what_stands_in_for_a_class_counts_in_the_interval_of_an_average(method: Any, name: str) -> None:
    random = np.random.default_rng(0)
    truth, said = random.integers(0, 2, 200), random.dirichlet(np.ones(3), 200)  # no row is of the third class
    said[np.arange(200), truth] += 0.3
    given = dict(enumerate((said / said.sum(axis=1, keepdims=True)).T))
    both = [
        assess(truth, given, scale=Scale([0, 1, 2]), measures=[name], method=method, replicates=500, undefined=stand_in)
        for stand_in in (math.nan, 0.0)
    ]
    without, with_it = (each[name] for each in both)
    # A third of the average is 0 for certain, and the rest is what it was.
    assert with_it.value == pytest.approx(2 / 3 * without.value)
    assert (with_it.low, with_it.high) == pytest.approx((2 / 3 * without.low, 2 / 3 * without.high), abs=0.01)


@pytest.mark.parametrize("missing", ["drop", "error"])
def test_whole_numbers_of_which_one_is_missing_are_labels_still(missing: Any) -> None:
    truth, score = [2, 7, 7, 2, 7, 2], [0.1, 0.9, 0.8, 0.3, 0.4, 0.2]
    said = pd.Series([2, 7, None, 2, 7, 7], dtype="Int64")
    options: dict[str, Any] = {"event": 7, "threshold": 0.5, "missing": missing}
    if missing == "error":
        with pytest.raises(MissingValues, match="row 2"):
            compare(truth, {"score": score, "label": said}, **options)
        return
    both = compare(truth, {"score": score, "label": said}, **options)
    assert both["label"].confusion().tolist() == [[2, 1], [0, 2]]
    assert both["label"].dropped == 1

"""Scores on any scale: they rank and threshold, are never read as probabilities, and one threshold fits one scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score, top_k_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC, LinearSVC

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import BadOption, NotNumbers, SteelyardError, UnknownMeasure, UnknownModel

RNG = np.random.default_rng(38)
N = 400
YES = RNG.random(N) < 0.4
Y = np.where(YES, "yes", "no")
P = np.clip(0.5 * RNG.random(N) + 0.3 * YES, 0.01, 0.99).round(3)
MARGIN = np.log(P / (1 - P))
FRAME = pd.DataFrame({"ill": Y, "p": P, "margin": MARGIN, "pct": 100 * P, "site": np.where(np.arange(N) % 2, "a", "b")})
FORECASTS = ("log_score", "brier", "calibration_error", "net_benefit")
PREDICTED = ("error", "kappa", "sensitivity", "f1")
WAYS = ("arrays", "frame", "file", "engine")


def assessed(way: str, folder: Path, column: str = "margin", **options: Any) -> sy.Assessment:
    """Scores of one column, given as arrays, in a frame, in a file, and in files that are worked on in batches."""
    if way == "arrays":
        if "by" in options:
            options["by"] = FRAME[options["by"]].to_numpy()
        return sy.assess(Y, score=FRAME[column].to_numpy(), event="yes", **options)
    if way == "frame":
        return sy.assess(FRAME, truth="ill", score=column, event="yes", **options)
    for place, part in enumerate((FRAME[:150], FRAME[150:])):
        part.to_csv(folder / f"{place}.csv", index=False)
    engine: dict[str, Any] = {"engine": "local"} if way == "engine" else {}
    return sy.assess(str(folder), truth="ill", score=column, event="yes", **engine, **options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("column", ["margin", "p", "pct"])
def test_scores_rank_and_are_read_as_nothing_else(way: str, column: str, tmp_path: Path) -> None:
    found = assessed(way, tmp_path, column)
    assert found["auc"].value == pytest.approx(roc_auc_score(YES, P), abs=1e-12)
    assert found["average_precision"].value == pytest.approx(average_precision_score(YES, P), abs=1e-12)
    assert not {*FORECASTS, *PREDICTED} & {*found}
    for name in PREDICTED:
        with pytest.raises(UnknownMeasure, match=r"no threshold is given .*Give threshold=0\.5"):
            found[name]
    for name in FORECASTS:
        with pytest.raises(UnknownMeasure, match="needs probabilities"):
            found[name]
    with pytest.raises(BadOption, match="no class was assigned"):
        found.confusion()
    assert any("no threshold is given for the scores" in note for note in found.notes)
    assert any("scores are not read as probabilities" in note for note in found.notes)
    assert "no threshold is given" in str(found)


@pytest.mark.parametrize("way", WAYS)
def test_with_a_threshold_scores_predict_classes(way: str, tmp_path: Path) -> None:
    found = assessed(way, tmp_path, threshold=0.0, by="site")
    assert found["error"].value == pytest.approx(np.mean((MARGIN >= 0) != YES))
    assert not {*FORECASTS} & {*found}
    inside = FRAME["site"].to_numpy() == "a"
    assert found.slices["a"]["error"].value == pytest.approx(np.mean((MARGIN >= 0)[inside] != YES[inside]))


@pytest.mark.parametrize("name", [*FORECASTS, *PREDICTED])
@pytest.mark.parametrize("way", WAYS)
def test_what_scores_do_not_tell_is_an_error_where_it_is_asked_for(way: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownMeasure, match=name):
        assessed(way, tmp_path, "p", measures=[name])
    if name in PREDICTED:  # the hint, done literally
        assert np.isfinite(assessed(way, tmp_path, "p", measures=[name], threshold=0.5)[name].value)


def test_one_score_a_class_ranks_classes() -> None:
    truth, scores = RNG.integers(0, 3, 300), RNG.normal(size=(300, 3))
    found = sy.assess(truth, score=scores, measures=["auc", "top_k_accuracy"])
    assert found["top_k_accuracy"].value == pytest.approx(top_k_accuracy_score(truth, scores, k=2))
    each = [roc_auc_score(truth == code, scores[:, code]) for code in range(3)]
    assert found["auc"].value == pytest.approx(np.mean(each))
    frame = pd.DataFrame(scores, columns=["s_0", "s_1", "s_2"]).assign(truth=truth)
    named = sy.assess(frame, truth="truth", score="s_*", measures=["auc", "top_k_accuracy"])
    assert named["auc"].value == found["auc"].value
    with pytest.raises(UnknownMeasure, match="error needs predicted classes"):
        sy.assess(truth, score=scores, measures=["error"])


@pytest.mark.parametrize("engine", [None, "local"])
def test_scores_stand_beside_probabilities(engine: str | None, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "rows.parquet")
    options: dict[str, Any] = {"truth": "ill", "event": "yes"}
    source = FRAME if engine is None else str(tmp_path / "rows.parquet")
    if engine is not None:
        options["engine"] = engine
    wanted = ["auc", "log_score", "brier", "calibration_error"]
    both = sy.compare(source, {"lr": "p"}, score={"svm": "margin"}, measures=wanted, **options)
    alone = sy.compare(source, {"lr": "p"}, measures=wanted, **options)
    for name in wanted:
        assert both["lr"][name].value == alone["lr"][name].value
    assert both["svm"]["auc"].value == both["lr"]["auc"].value
    for name in wanted[1:]:
        assert np.isnan(both["svm"][name].value)
        assert both["svm"][name].note == "the classifier gave scores, not probabilities"
        assert np.isnan(both.differences(name)["difference"][0])
        assert "can't be compared" in str(both.verdict(name))
    parted = sy.compare(source, {"lr": "p"}, score={"svm": "margin"}, threshold={"lr": 0.5, "svm": 0}, **options)
    assert parted.differences("error")["difference"] == [0.0]
    ranked = sy.compare(source, {"lr": "p"}, score={"svm": "margin"}, **options)
    assert "error" not in [*ranked["lr"]]
    assert any("no threshold is given for the scores of 'svm'" in note for note in ranked.notes)


def test_a_pair_of_others_is_compared_as_if_scores_were_not_there() -> None:
    other = np.clip(P + RNG.normal(0, 0.05, N), 0.01, 0.99)
    wanted = ["log_score", "brier", "calibration_error", "net_benefit", "auc"]
    two = sy.compare(Y, {"a": P, "b": other}, event="yes", measures=wanted)
    three = sy.compare(Y, {"a": P, "b": other}, score={"s": MARGIN}, event="yes", measures=wanted)
    first = sy.compare(Y, {"b": other}, score={"s": MARGIN}, event="yes", measures=wanted)
    for name in wanted:
        rows = [row for row in three.differences(name) if (row["a"], row["b"]) == ("a", "b")]
        for column in ("difference", "low", "high", "p"):
            assert rows[0][column] == pytest.approx(two.differences(name)[column][0], abs=1e-12)
        assert first["b"][name].low == pytest.approx(two["b"][name].low, abs=1e-12)


def test_tallies_of_scores_are_merged_and_kept(tmp_path: Path) -> None:
    parts = [sy.assess(Y[rows], score=MARGIN[rows], event="yes").tally for rows in (slice(0, 150), slice(150, N))]
    (parts[0] + parts[1]).save(tmp_path / "both.tally")
    found = sy.assess_tally(tmp_path / "both.tally")
    assert found["auc"].value == pytest.approx(roc_auc_score(YES, P))
    assert not {*FORECASTS, *PREDICTED} & {*found}
    with pytest.raises(UnknownMeasure, match="no threshold is given"):
        sy.assess_tally(tmp_path / "both.tally", measures=["error"])


def test_values_other_than_numbers_are_no_scores() -> None:
    with pytest.raises(NotNumbers):
        sy.assess(Y, score=Y, event="yes")
    with pytest.raises(BadOption, match="score= holds scores"):
        sy.assess(Y, P, score=P, event="yes")
    with pytest.raises(BadOption, match="both membership= and score= are given"):
        sy.assess(FRAME, truth="ill", membership="p", score="margin", event="yes")
    with pytest.raises(BadOption, match="gives both"):
        sy.compare(Y, {"a": P}, score={"a": MARGIN}, event="yes")


def test_whole_numbers_are_scores_where_that_is_said() -> None:
    votes = RNG.integers(0, 4, N)
    assert sy.assess(YES.astype(int), score=votes, event=1)["auc"].value == pytest.approx(roc_auc_score(YES, votes))
    zero_one = (P > 0.5).astype(int)
    found = sy.assess(YES.astype(int), score=zero_one, event=1)
    assert found["auc"].value == pytest.approx(roc_auc_score(YES, zero_one))


# --- point 15: cross-validation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_weak_point_15_decision_functions_rank_beside_probabilities(classes: int) -> None:
    labels = RNG.integers(0, classes, 150)
    x = RNG.normal(size=(150, 4)) + labels[:, None]
    rules = {"lr": LogisticRegression(), "svc": SVC(), "lda": LinearDiscriminantAnalysis(), "linear": LinearSVC()}
    event = 1 if classes == 2 else None
    found = sy.cross_assess(rules, x, labels, cv=5, event=event)
    for name in ("svc", "linear"):
        scores = cross_val_predict(rules[name], x, labels, cv=5, method="decision_function")
        columns = scores if classes > 2 else np.stack([-scores, scores], axis=1)
        codes = range(classes) if classes > 2 else [1]
        each = [roc_auc_score(labels == code, columns[:, code]) for code in codes]
        assert found[name]["auc"].value == pytest.approx(np.mean(each), abs=1e-10)
        expected = np.mean(cross_val_predict(rules[name], x, labels, cv=5) != labels)
        assert found[name]["error"].value == pytest.approx(expected)
        for measure in ("log_score", "brier_multiclass"):
            assert np.isnan(found[name][measure].value)
            assert "not probabilities" in found[name][measure].note
    assert np.isfinite(found["lr"]["log_score"].value)
    rows = {(row["a"], row["b"]): row for row in found.differences("log_score")}
    assert np.isnan(rows["lr", "svc"]["difference"])
    assert np.isnan(rows["lr", "svc"]["p"])
    assert np.isfinite(rows["lr", "lda"]["difference"])
    assert np.isfinite([row["difference"] for row in found.differences("auc")]).all()
    two = sy.cross_assess({name: rules[name] for name in ("lr", "svc")}, x, labels, cv=5, event=event)
    assert "can't be compared" in str(two.verdict("log_score"))
    assert "can't be compared" not in str(two.verdict("auc"))
    assert not np.isinf(np.array(two.table()["value"], dtype=float)).any()


def test_weak_point_15_scores_of_pairs_fall_back_to_labels() -> None:
    labels = RNG.integers(0, 3, 150)
    x = RNG.normal(size=(150, 4)) + labels[:, None]
    rules = {"lda": LinearDiscriminantAnalysis(), "pairs": SVC(decision_function_shape="ovo")}
    found = sy.cross_assess(rules, x, labels, cv=5)
    assert np.isnan(found["pairs"]["auc"].value)
    assert np.isnan(found["pairs"]["log_score"].value)
    assert found["pairs"]["error"].value == pytest.approx(
        np.mean(cross_val_predict(rules["pairs"], x, labels) != labels)
    )
    assert any(remark.startswith("pairs: its scores are not one for each class") for remark in found.remarks)
    binary = sy.cross_assess({"lda": rules["lda"], "pairs": rules["pairs"]}, x, labels > 0, cv=5, event=True)
    assert binary["pairs"]["auc"].value > 0.8


# --- point 16: one threshold for unlike scales ------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.3, 0.0, 0.5, 50.0])
@pytest.mark.parametrize("other", ["margin", "pct"])
@pytest.mark.parametrize("way", ["arrays", "frame", "engine"])
def test_weak_point_16_one_threshold_is_refused_for_unlike_scales(
    threshold: float, other: str, way: str, tmp_path: Path
) -> None:
    source: Any = Y
    columns: Any = {"p": "p", "other": other}
    options: dict[str, Any] = {"event": "yes", "measures": ["error"]}
    if way == "arrays":
        columns = {name: FRAME[column].to_numpy() for name, column in columns.items()}
    else:
        FRAME[:150].to_csv(tmp_path / "1.csv", index=False)
        FRAME[150:].to_csv(tmp_path / "2.csv", index=False)
        source = FRAME if way == "frame" else str(tmp_path)
        options |= {"truth": "ill"} | ({"engine": "local"} if way == "engine" else {})
    with pytest.raises(BadOption, match=r"unlike scales.*threshold=\{'p': .*, 'other': "):
        sy.compare(source, columns, threshold=threshold, **options)
    found = sy.compare(
        source, columns, threshold={"p": 0.3, "other": {"margin": np.log(3 / 7), "pct": 30}[other]}, **options
    )
    assert found.differences("error")["difference"] == [0.0]
    assert sy.compare(source, {"a": columns["p"], "b": columns["p"]}, threshold=threshold, **options) is not None


def test_a_threshold_by_model_is_a_number_or_a_rule() -> None:
    found = sy.compare(Y, {"p": P}, score={"s": MARGIN}, event="yes", threshold={"p": 0.3, "s": "best:f1"})
    assert found["p"]["error"].value == pytest.approx(np.mean((P >= 0.3) != YES))
    alone = sy.assess(Y, score=MARGIN, event="yes", threshold="best:f1")
    assert found["s"]["f1"].value == alone["f1"].value
    with pytest.raises(UnknownModel, match="'q'"):
        sy.compare(Y, {"p": P}, event="yes", threshold={"q": 0.3})
    with pytest.raises(BadOption, match="gave labels"):
        sy.compare(Y, {"p": P, "l": Y}, event="yes", threshold={"l": 0.3})
    with pytest.raises(BadOption, match="no number"):
        sy.compare(Y, {"p": P}, event="yes", threshold={"p": float("nan")})


# --- point 17: a threshold out of range -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("column", "threshold", "words"),
    [
        ("p", 50, "no score reaches the threshold 50"),
        ("p", 0.0001, "all scores reach the threshold 0.0001"),
        ("pct", 0.5, "all scores reach the threshold 0.5"),
        ("margin", 99.5, "no score reaches the threshold 99.5"),
    ],
)
def test_weak_point_17_a_threshold_out_of_range_is_told(
    way: str, column: str, threshold: float, words: str, tmp_path: Path
) -> None:
    found = assessed(way, tmp_path, column, threshold=threshold, measures=["sensitivity", "auc"])
    notes = [note for note in found.notes if words in note]
    assert len(notes) == 1
    assert f"they lie between {FRAME[column].min():.4g} and {FRAME[column].max():.4g}" in notes[0]
    assert ("per cent" in notes[0]) == (column == "pct")
    counted = assessed(way, tmp_path, column, threshold=threshold, measures=["sensitivity"])
    assert any(words in note for note in counted.notes)
    inside = assessed(way, tmp_path, column, threshold=float(FRAME[column].median()), measures=["sensitivity"])
    assert not any("the threshold" in note for note in inside.notes)


def test_weak_point_17_holds_for_merged_tallies(tmp_path: Path) -> None:
    middle = float(np.median(P))
    parts = [sy.assess(Y[rows], P[rows], event="yes", threshold=middle).tally for rows in (middle > P, middle <= P)]
    assert any("no score reaches" in note for note in sy.assess_tally(parts[0]).notes)
    assert any("all scores reach" in note for note in sy.assess_tally(parts[1]).notes)
    assert not any("the threshold" in note for note in sy.assess_tally(parts[0] + parts[1]).notes)
    parts[0].save(tmp_path / "low.tally")
    assert any("no score reaches" in note for note in sy.assess_tally(tmp_path / "low.tally").notes)


def test_weak_point_17_another_threshold_is_told_of_itself() -> None:
    found = sy.assess(Y, P, event="yes", threshold=0.4)
    assert not any("the threshold" in note for note in found.notes)
    assert any("no score reaches the threshold 2" in note for note in found.at_threshold(2).notes)
    assert not any("the threshold" in note for note in found.at_threshold(2).at_threshold(0.4).notes)


# --- point 25: per cent -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [int, np.float64])
def test_weak_point_25_whole_per_cent_beside_zeros_and_ones_are_refused_with_a_hint(kind: type) -> None:
    with pytest.raises(SteelyardError, match=r"divide per cent by 100.*score="):
        sy.assess(YES.astype(int), (100 * P).astype(int).astype(kind), event=1)
    found = sy.assess(YES.astype(int), (100 * P).astype(int) / 100, event=1)  # the hint, done literally
    assert found["auc"].value > 0.8
    assert sy.assess(YES.astype(int), score=(100 * P).astype(int).astype(kind), event=1)["auc"].value > 0.8
    assert sy.assess(YES.astype(int), np.where(YES, 1, RNG.integers(0, 3, N)), event=1)["error"].value > 0


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def rows(tmp_path: Path) -> str:
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    return str(tmp_path / "rows.csv")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(list(words))
    printed = capsys.readouterr()
    return status, printed.out + printed.err


def test_score_is_an_option_of_its_own(capsys: pytest.CaptureFixture[str], rows: str, tmp_path: Path) -> None:
    said = ["--truth", "ill", "--event", "yes"]
    status, told = run(capsys, "assess", rows, *said, "--score", "p", "--json")
    estimates = json.JSONDecoder().raw_decode(told)[0]["estimates"]
    assert status == 0
    assert {row["measure"] for row in estimates} == {"auc"}
    status, told = run(capsys, "assess", rows, *said, "--score", "p", "--measures", "error")
    assert (status, "--threshold 0.5" in told) == (2, True)
    assert run(capsys, "assess", rows, *said, "--score", "p", "--measures", "error", "--threshold", "0.5")[0] == 0
    assert run(capsys, "thresholds", rows, *said, "--score", "margin", "--choose", "best:f1")[0] == 0
    status, told = run(capsys, "calibration", rows, *said, "--score", "p")
    assert (status, "calibration is of probabilities" in told, "--membership p" in told) == (2, True, True)
    assert run(capsys, "calibration", rows, *said, "--membership", "p")[0] == 0
    sums = str(tmp_path / "a.tally")
    assert run(capsys, "tally", rows, *said, "--score", "margin", "--out", sums)[0] == 0
    status, told = run(capsys, "merge", sums)
    assert (status, "no threshold is given" in told) == (0, True)
    status, told = run(capsys, "tally", rows, *said, "--score", "margin", "--measures", "error", "--out", sums)
    assert (status, "--threshold" in told) == (2, True)


def test_weak_point_16_on_the_command_line(capsys: pytest.CaptureFixture[str], rows: str) -> None:
    said = ["compare", rows, "--truth", "ill", "--event", "yes", "--measures", "error"]
    for words in (["--model", "p", "--model", "margin"], ["--model", "p", "--score", "margin"]):
        status, told = run(capsys, *said, *words, "--threshold", "0.3")
        assert (status, "--threshold p=0.3,margin=0.3" in told) == (2, True)
        status, told = run(capsys, *said, *words, "--threshold", "p=0.5,margin=0")
        assert (status, "can't be told apart" in told) == (0, True)

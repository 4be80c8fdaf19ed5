"""What messages tell to do works when it is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import (
    BadCosts,
    BadFilter,
    BadOption,
    MissingValues,
    NotNumbers,
    OneClass,
    UnknownLabel,
    UnknownOption,
    UnusableLabels,
    UnwritableFile,
)

ROWS = ["yes,yes,0.91,1", "no,no,0.12,2", "yes,no,0.34,1", "no,no,0.08,1"]
ROWS += ["yes,yes,0.77,3", "no,yes,0.62,1", "no,no,0.45,2", "yes,yes,0.58,1"]
SCORE = ["answers.csv", "--truth", "ill", "--event", "yes", "--membership"]
MODEL = ["assess", "answers.csv", "--truth", "ill", "--assigned", "model"]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text("\n".join(["ill,model,score,votes", *ROWS, ""]))
    Path("costs.csv").write_text("true,no,yes\nno,0,1\nyes,10,0\n")


@pytest.mark.parametrize(
    "words",
    [
        ["--choose", "cost"],
        ["--choose", "best:cost"],
        ["--choose", "max f1 where cost <= 1"],
        ["--cost", "costs.csv"],
        ["--measures", "cost"],
    ],
)
def test_costs_of_thresholds_are_named_in_what_is_chosen_for(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    status, _, err = run(capsys, "thresholds", *SCORE, "score", *words)
    assert status == 2
    assert "cost:costs.csv" in err
    assert "'cost' or" not in err
    assert "--cost costs.csv" not in err
    assert run(capsys, "thresholds", *SCORE, "score", "--choose", "cost:costs.csv")[0] == 0


def test_a_tally_of_scores_on_any_scale_needs_a_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tally", *SCORE, "votes", "--measures", "auc", "--out", "votes.tally"]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert err.endswith(
        "or give scores on another scale as --score, with --threshold where classes are to be predicted\n"
    )
    assert run(capsys, *words, "--threshold", "2")[0] == 0
    assert err == run(capsys, "assess", *SCORE, "votes")[2]
    scored = ["--score" if word == "--membership" else word for word in words]
    assert run(capsys, *scored)[0] == run(capsys, *scored, "--threshold", "2")[0] == 0


@pytest.mark.parametrize(("command", "offers"), [("assess", 2), ("tally", 2), ("calibration", 0)])
def test_a_command_offers_only_what_it_takes(capsys: pytest.CaptureFixture[str], command: str, offers: int) -> None:
    Path("grades.csv").write_text("grade,p_a,p_b\na,6,-5\nb,0.2,0.8\n")
    out = ["--out", "grades.tally"] if command == "tally" else []
    status, _, err = run(capsys, command, "grades.csv", "--truth", "grade", "--membership", "p_*", *out)
    assert status == 2
    assert [words in err for words in ("pass the assigned class", "as --score")] == [offers > 0, offers > 1]


COLUMNS = ["grades.csv", "--truth", "grade", "--measures", "error", "--membership"]


@pytest.mark.parametrize("named", ["p_*", "p_low,p_top,p_hgih"])
def test_a_column_that_is_called_otherwise_is_told_from_the_others(
    capsys: pytest.CaptureFixture[str], named: str
) -> None:
    Path("grades.csv").write_text("grade,p_low,p_top,p_hgih\nlow,1,0,0\ntop,0,1,0\nhigh,0,0,1\n")
    status, _, err = run(capsys, "assess", *COLUMNS, named)
    assert status == 2
    assert "class 'high' has no membership column and column 'p_hgih' belongs to no class" in err
    assert err.endswith("call its column 'p_high'\n")
    Path("grades.csv").write_text(Path("grades.csv").read_text().replace("hgih", "high"))
    assert run(capsys, "assess", *COLUMNS, named.replace("hgih", "high"))[0] == 0


def test_a_class_without_a_column_is_named_and_what_its_column_would_be_called(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("grades.csv").write_text("grade,p_low,p_top,p_high\nlow,1,0,0\ntop,0,1,0\nhigh,0,0,1\n")
    status, _, err = run(capsys, "assess", *COLUMNS, "p_low,p_top")
    assert status == 2
    assert "class 'high' has no membership column. " in err
    assert err.endswith("give it one too, such as 'p_high'\n")
    assert run(capsys, "assess", *COLUMNS, "p_low,p_top,p_high")[0] == 0
    status, _, err = run(capsys, "assess", *COLUMNS, "p_low,p_top,p_high", "--where", "grade != 'high'")
    assert status == 2
    assert "column 'p_high' belongs to no class. Classes are 'low', 'top'; name all of them: --scale " in err
    more = ["--where", "grade != 'high'", "--scale", "low,top,high"]
    assert run(capsys, "assess", *COLUMNS, "p_low,p_top,p_high", *more)[0] == 0


@pytest.mark.parametrize("named", [1, 2])
def test_tallies_that_differ_in_the_event_say_so_and_can_be_made_alike(
    capsys: pytest.CaptureFixture[str], named: int
) -> None:
    words = ["tally", "answers.csv", "--truth", "ill", "--assigned", "model"]
    for number in (1, 2):
        event = ["--event", "yes"] if number == named else []
        assert run(capsys, *words, *event, "--out", f"{number}.tally")[0] == 0
    status, _, err = run(capsys, "merge", "1.tally", "2.tally")
    ours, theirs = ("'yes'", "none") if named == 1 else ("none", "'yes'")
    assert status == 2
    assert f"file '2.tally': the event is {ours} in one tally and {theirs} in the other" in err
    assert err.endswith("Make both with --event 'yes'\n")
    assert run(capsys, *words, "--event", "yes", "--out", f"{3 - named}.tally")[0] == 0
    assert run(capsys, "merge", "1.tally", "2.tally", "--allow-overlap")[0] == 0


def test_a_threshold_is_told_even_to_whom_wants_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["thresholds", *SCORE, "score"]
    told = "threshold 0.5800: highest specificity where sensitivity >= 0.75\n"
    choice = ["--choose", "max specificity where sensitivity >= 0.75"]
    status, out, err = run(capsys, *words, "--quiet", *choice)
    assert (status, err) == (0, "")
    assert out.startswith(told)
    assert run(capsys, *words, *choice)[1].endswith(out)
    status, out, err = run(capsys, *words, "--csv", *choice)
    assert out.startswith("threshold,")
    assert err.startswith(told)
    status, out, err = run(capsys, *words, "--quiet", "--choose", "max f1 where accuracy >= 0.9")
    assert (status, out) == (1, "")
    assert err.startswith("no threshold: highest f1 where accuracy >= 0.9; accuracy >= 0.9 is met at no threshold")


@pytest.mark.parametrize("choice", [[], ["--choose", "best:f1"]])
def test_a_guarantee_is_of_conditions(capsys: pytest.CaptureFixture[str], choice: list[str]) -> None:
    words = ["thresholds", *SCORE, "score", *choice, "--guarantee", "0.5"]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert err.endswith("Say of which: --choose 'max specificity where sensitivity >= 0.8'\n")
    status, out, _ = run(capsys, *words, "--choose", "max specificity where sensitivity >= 0.8")
    assert status == 0
    assert "guaranteed with probability 0.5" in out


@pytest.mark.parametrize(
    ("condition", "mend"),
    [
        ("error < 30", "error spans 0 to 1; did you mean 0.3?"),
        ("sensitivity[yes].low >= 80", "sensitivity spans 0 to 1; did you mean 0.8?"),
        ("kappa > -1.5", "kappa spans -1 to 1"),
        ("lr_positive >= -1", "lr_positive spans 0 to ∞"),
    ],
)
def test_limits_that_no_value_reaches_are_refused(
    capsys: pytest.CaptureFixture[str], condition: str, mend: str
) -> None:
    status, out, err = run(capsys, *MODEL, "--require", condition)
    assert (status, out) == (2, "")
    assert f"the condition '{condition}' holds always or never" in err
    assert err.endswith(f"{mend}\n")


@pytest.mark.parametrize(
    "condition", ["error < 1", "error >= 0", "kappa >= -1", "brier_multiclass <= 2", "lr_negative < 5"]
)
def test_limits_may_be_the_ends_of_what_a_measure_can_be(capsys: pytest.CaptureFixture[str], condition: str) -> None:
    status, _, err = run(capsys, "assess", *SCORE, "score", "--require", condition)
    assert (status, err) == (0, "")


def test_a_requirement_of_what_is_undefined_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--scale", "no,perhaps,yes", "--require", "precision[perhaps] < 1"]
    status, _, err = run(capsys, *MODEL, *words, "--quiet")
    assert status == 1
    assert err == "NOT HELD: precision[perhaps] < 1  (it is undefined: class 'perhaps' is never assigned)\n"
    assert "| undefined: class 'perhaps' is never assigned |" in run(capsys, *MODEL, *words, "--markdown")[1]


TRUE, SAID = ["y", "n", "y", "n"], ["y", "n", "n", "n"]


@pytest.mark.parametrize("source", ["frame", "path"])
def test_columns_without_the_one_of_the_truth_say_that_it_must_be_named(source: str) -> None:
    frame = pd.DataFrame({"ill": TRUE, "said": SAID})
    frame.to_csv("said.csv", index=False)
    given = frame if source == "frame" else "said.csv"
    calls: list[Callable[..., Any]] = [
        lambda **more: sy.assess(given, assigned="said", **more),
        lambda **more: sy.compare(given, {"a": "said"}, **more),
        lambda **more: sy.compare(given, ["said"], **more),
    ]
    for call in calls:
        with pytest.raises(
            BadOption, match=r"which column holds the true classes is not said\. Name it: truth='column'$"
        ):
            call()
        call(truth="ill")
    with pytest.raises(BadOption, match="Name it: truth='column', and the prediction in assigned= or membership="):
        sy.assess(given, "said")


def test_arrays_that_are_named_are_told_how_they_are_given() -> None:
    with pytest.raises(
        UnknownOption, match=r"assess\(\) is not given y_true\. Say assess\(y_true, prediction\), or name"
    ):
        sy.assess(truth=TRUE, assigned=SAID)  # type: ignore[call-arg, arg-type]
    with pytest.raises(UnknownOption, match=r"decide\(\) is not given cost\. Say decide\(prediction, cost\)$"):
        sy.decide([0.5])  # type: ignore[call-arg]
    with pytest.raises(UnknownOption, match=r"^tune\(\) is not given y\. Say tune\(estimator, grid, X, y\)$"):
        sy.tune("knn", [[1.0], [2.0]], [0.5, 1.5])  # type: ignore[call-arg]
    with pytest.raises(UnknownOption, match=r"^permutation_test\(\) is not given y\. "):
        sy.permutation_test("knn", [[1.0], [2.0]], permutations=9)  # type: ignore[call-arg]


def test_a_word_among_numbers_with_commas_is_named_rather_than_they(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("ill;score\nyes;0,5\nno;0,2\nyes;#DIV/0!\n")
    status, _, err = run(capsys, "assess", str(path), "--truth", "ill", "--score", "score", "--event", "yes")
    assert status == 2
    assert "column 'score', row 2: '#DIV/0!' is no number" in err
    with pytest.raises(NotNumbers, match="row 1: 'x' is not a number"):
        sy.assess(["0,5", "x"], ["a", "b"], scale=sy.Continuum([0.6]))


@pytest.mark.parametrize("option", ["--score", "--assigned"])
def test_decimals_have_a_comma_where_no_number_of_the_file_has_a_point(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    rows = "w;s;id\nja;0,9;1.000\nnein;0,2;1.001\n"
    Path("comma.csv").write_text(rows)
    words = ["assess", "comma.csv", "--truth", "w", "--event", "ja", option, "s"]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert err.endswith("or all in a file with a comma: then no number in it has a point, as 1.000 has\n")
    Path("comma.csv").write_text(rows.replace("1.00", "100"))
    assert run(capsys, *words)[0] == 0


def test_whole_numbers_beside_an_event_are_taken_for_scores() -> None:
    with pytest.raises(
        UnusableLabels, match=r"column 'prediction': 10 is a number.*divide per cent by 100.*score="
    ) as caught:
        sy.assess(["y", "n", "y"], [90, 10, 60], event="y")
    assert "Use one kind" not in str(caught.value)
    assert sy.assess(["y", "n", "y"], [90, 10, 60], event="y", threshold=50)["error"].value == 0
    assert sy.assess(["y", "n", "y"], np.array([90, 10, 60]) / 100, event="y")["error"].value == 0
    with pytest.raises(UnusableLabels, match="Use one kind"):
        sy.assess(["y", "n", "y"], [1, 0, 1], event="y")


def test_scores_that_are_text_are_to_be_numbers() -> None:
    with pytest.raises(UnknownLabel, match=r"Scores are numbers, not text, as values\.astype\(float\) makes them$"):
        sy.assess(["y", "n"], ["0.9", "0.2"], event="y")
    assert sy.assess(["y", "n"], np.array(["0.9", "0.2"]).astype(float), event="y")["error"].value == 0


@pytest.mark.parametrize("option", ["--by", "--group"])
def test_numbers_that_name_no_parts_are_to_be_rounded(capsys: pytest.CaptureFixture[str], option: str) -> None:
    status, _, err = run(capsys, *MODEL, option, "score")
    assert status == 2
    assert "column 'score', row 0: 0.91 cannot be" in err
    assert err.endswith("round other numbers, or cut them into parts first\n")
    rows = pd.read_csv("answers.csv")
    rows.assign(score=(10 * rows["score"]).round()).to_csv("answers.csv", index=False)
    assert run(capsys, *MODEL, option, "score")[0] == 0


def test_weights_that_are_words_are_not_sent_to_the_labels(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, *MODEL, "--weight", "ill")
    assert status == 2
    assert "column 'ill', row 0: 'yes' is no number. Give numbers; only the labels that a model assigned go with" in err


def test_one_class_of_a_continuum_is_told_how_to_name_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        OneClass, match=r"from the lowest to the highest: Continuum\(boundaries, classes=\['dry', 'wet'\]"
    ):
        sy.Continuum([65], classes=["dry"])
    words = ["assess", "answers.csv", "--truth", "votes", "--cut", "2", "--assigned", "model", "--scale"]
    assert run(capsys, *words, "no")[2].endswith("from the lowest to the highest: --scale dry,wet\n")
    assert run(capsys, *words, "no,yes")[0] == 0


@pytest.mark.parametrize("several", [False, True])
def test_a_classifier_is_asked_for_its_predictions(several: bool) -> None:
    values, y = np.arange(8.0).reshape(-1, 1), np.array([0, 0, 0, 1, 0, 1, 1, 1])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(values, y)
    with pytest.raises(
        BadOption, match=r"a Pipeline stands where .* model\.predict_proba\(X\) or .* or see cross_assess"
    ):
        sy.compare(y, {"a": model}) if several else sy.assess(y, model)
    assert sy.assess(y, model.predict_proba(values)).n == sy.assess(y, model.predict(values)).n == 8


def test_columns_that_are_called_by_numbers_are_named_by_text() -> None:
    frame = pd.DataFrame({0: TRUE, 1: SAID})
    with pytest.raises(BadOption, match=r"1 names no columns\. Columns are named by text, as '1'"):
        sy.assess(frame, truth="0", assigned=1)  # type: ignore[arg-type]
    assert sy.assess(frame, truth="0", assigned="1").n == 4


def test_costs_of_one_class_do_not_tell_the_others() -> None:
    said, cost = pd.DataFrame({"ill": [0.2, 0.8], "well": [0.8, 0.2]}), {"ill": {"well": 1}}
    with pytest.raises(BadCosts, match=r"costs are those of 'ill' alone\. Give the costs of every true class$"):
        sy.decide(said, cost)
    assert sy.decide(said, cost | {"well": {"ill": 1}}) == ["well", "ill"]


@pytest.mark.parametrize("words", [[], ["--quiet"]])
def test_a_page_needs_the_name_of_a_file(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    status, _, err = run(capsys, *MODEL, "--html", *words)
    assert (status, err) == (2, "error: the name of a file must follow --html. Say --html page.html\n")
    assert run(capsys, *MODEL, "--html", "page.html")[0] == 0


@pytest.mark.parametrize("name", ["out.pdf", "out"])
def test_a_page_ends_in_html(capsys: pytest.CaptureFixture[str], name: str) -> None:
    status, out, err = run(capsys, *MODEL, "--html", name)
    assert (status, out) == (2, "")
    assert err == f"error: '{name}' does not end in .html. Give the page such a name, as page.html\n"
    for result in (sy.assess(TRUE, SAID), sy.compare(TRUE, {"a": SAID})):
        with pytest.raises(UnwritableFile, match="does not end in"):
            result.report(name)
        result.report("page.HTM")
    assert not Path(name).exists()


@pytest.mark.parametrize("measures", [[], ["--measures", "error", "--engine", "local"]])
def test_a_row_of_more_values_than_columns_is_told_as_all_rows_are(
    capsys: pytest.CaptureFixture[str], measures: list[str]
) -> None:
    Path("answers.csv").write_text('ill,model\n"yes\nor so",yes\n\nno,no\nyes,no,no\n')
    status, _, err = run(capsys, *MODEL, *measures)
    assert status == 2
    assert "file 'answers.csv', row 2: 3 values, but 2 columns: 'yes,no,no'. Every row has one value a column" in err


@pytest.mark.parametrize(("cell", "told"), [("zehn", "'zehn' is no cost"), ("", "there is no cost")])
def test_a_cell_that_is_no_cost_is_named(capsys: pytest.CaptureFixture[str], cell: str, told: str) -> None:
    Path("costs.csv").write_text(Path("costs.csv").read_text().replace("10", cell))
    status, _, err = run(capsys, *MODEL, "--cost", "costs.csv")
    assert status == 2
    assert f"file 'costs.csv', column 'no', row 1: {told}. " in err


def test_a_true_class_that_has_two_rows_of_costs_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("costs.csv").write_text(Path("costs.csv").read_text() + "yes,3,0\n")
    status, _, err = run(capsys, *MODEL, "--cost", "costs.csv")
    assert status == 2
    assert "file 'costs.csv', column 'true', row 2: 'yes' has two rows. Give every true class one row" in err


@pytest.mark.parametrize("way", [".632", ".632+", "out of bag"])
def test_ways_of_the_bootstrap_need_its_samples(capsys: pytest.CaptureFixture[str], way: str) -> None:
    words = ["cv", "answers.csv", "--target", "ill", "--features", "score", "--models", "centroid", "--intervals", way]
    status, _, err = run(capsys, *words, "--folds", "2")
    assert status == 2
    assert err.endswith(f"{way} is of bootstrap samples: --folds bootstrap\n")
    assert run(capsys, *words, "--folds", "bootstrap:20")[0] == 0


@pytest.mark.parametrize("name", ["Prüf-ID", "a b", "a.b", "rate%"])
def test_names_that_are_no_plain_words_stand_in_backticks(name: str) -> None:
    frame = pd.DataFrame({"ill": TRUE, "said": SAID, name: [1, 2, 3, 4]})
    with pytest.raises(BadFilter, match=f"stands in backticks: `{name}`$"):
        sy.assess(frame, truth="ill", assigned="said", where=f"ill != 'x' and {name} > 1")
    assert sy.assess(frame, truth="ill", assigned="said", where=f"ill != 'x' and `{name}` > 1").n == 3


@pytest.mark.parametrize("measures", [[], ["--measures", "error", "--engine", "local"]])
def test_what_text_files_have_for_nothing_is_told(capsys: pytest.CaptureFixture[str], measures: list[str]) -> None:
    Path("answers.csv").write_text("ill,model\nNA,yes\nno,no\nyes,yes\n")
    status, _, err = run(capsys, *MODEL, *measures)
    assert status == 2
    assert "column 'ill', row 0: the value is missing. " in err
    assert err.endswith("; besides empty cells, NA, N/A, nan and null are missing in text files\n")
    frame = pd.DataFrame({"ill": [None, "no", "yes"], "model": ["yes", "no", "yes"]})
    with pytest.raises(MissingValues, match=r"missing='drop'$"):
        sy.assess(frame, truth="ill", assigned="model")


def test_labels_that_differ_in_capitals_or_blanks_are_noted() -> None:
    true, said = ["Ja", "nein", "ja", "nein", "ja  "], ["ja", "nein", "ja", "nein", "ja"]
    note = "labels that are spelled alike: 'Ja', 'ja', 'ja  ' (are they one class?)"
    assert note in sy.assess(true, said).notes
    assert not any("alike" in word for word in sy.assess([word.strip().lower() for word in true], said).notes)
    named = sy.Scale(["Ja", "ja", "ja  ", "nein"])
    assert not any("alike" in word for word in sy.assess(true, said, scale=named).notes)


@pytest.mark.parametrize("command", ["assess", "merge"])
def test_a_measure_of_costs_asks_for_a_file_of_them(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run(capsys, "tally", *MODEL[1:], "--out", "answers.tally")[0] == 0
    words = [*(MODEL if command == "assess" else ["merge", "answers.tally"]), "--measures", "cost"]
    status, _, err = run(capsys, *words)
    assert (status, err) == (2, "error: cost needs 'costs'. Give --cost costs.csv\n")
    assert run(capsys, *words, "--cost", "costs.csv")[0] == 0


def test_a_measure_that_needs_a_parameter_is_written_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, *MODEL, "--event", "yes", "--require", "precision_at > 0.1")
    assert (status, err) == (2, "error: precision_at needs 'prevalence'. Write precision_at(prevalence=...)\n")
    assert run(capsys, *MODEL, "--event", "yes", "--require", "precision_at(prevalence=0.5) > 0.1")[0] == 0


def test_a_guarantee_of_clusters_is_left_out_as_it_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["thresholds", *SCORE, "score", "--choose", "max specificity where sensitivity >= 0.5"]
    status, _, err = run(capsys, *words, "--group", "votes", "--guarantee", "0.5")
    assert status == 2
    assert err.endswith("Leave --guarantee out\n")
    assert run(capsys, *words, "--group", "votes")[0] == 0


def test_no_part_is_named_as_it_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, *MODEL, "--by", "")
    assert status == 2
    assert "--by names no column. Give at least one, or leave it out" in err


def test_an_average_is_named_where_it_is_nearly_spelled() -> None:
    found = sy.assess(["a", "b", "c"], ["a", "b", "b"])
    with pytest.raises(UnknownLabel, match=r"Did you mean 'macro'\?"):
        found["f1", "marco"]
    with pytest.raises(UnknownLabel, match="Check the spelling"):
        found["f1", "geometric"]
    with pytest.raises(UnknownLabel, match="The classes are text"):
        found["f1", 3]

"""The command line as a user meets it: tables, files, exit codes, and nothing that acts on the terminal."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from steelyard.cli import main
from steelyard.cli.line import app
from steelyard.data import terminal
from steelyard.display.grids import TextGrid
from tests.effort import in_turn

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
LDA = ["assess", IRIS, "--truth", "species", "--membership", "lda_*"]
BOTH = ["compare", IRIS, "--truth", "species", "--model", "lda=lda_*", "--model", "knn=knn_*"]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    rows = "\n".join(
        f"{t},{p},{w},{g}" for t, p, w, g in zip("yynnynyn", "ynnyynyn", "12312312", "aabbccdd", strict=True)
    )
    path.write_text(f"ill,said,weight,batch\n{rows}\n")
    return path


def test_assess_prints_every_measure(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, *LDA)
    assert status == 0
    for word in ("kappa", "MCC", "0.800   [0.729, 0.856]", "setosa", "Wilson"):
        assert word in out


def test_where_leaves_rows_out(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    words = ["assess", str(file), "--truth", "ill", "--assigned", "said", "--measures", "error"]
    assert run(capsys, *words, "--where", "batch in ('a', 'b')")[1].startswith("prediction: 4 rows")
    status, _, err = run(capsys, *words, "--where", "btach == 'a'")
    assert status == 2
    assert "there is no column 'btach'. Did you mean 'batch'?" in err


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ("-0.7 0.1 0.9 -2", ["--cut", "-0.5,0.5", "--scale", "a,b,c"]),
        ("-0.7 0.1 0.9 -2", ["--cut", "-inf,-.5,0.5,inf", "--scale", "a,b,c"]),
        ("-1 0 1 -1", ["--scale", "-1,0,1"]),
    ],
)
def test_several_numbers_may_begin_below_zero(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, values: str, options: list[str]
) -> None:
    said = "abca" if "--cut" in options else values.split()
    rows = "\n".join(f"{value},{label}" for value, label in zip(values.split(), said, strict=True))
    (tmp_path / "rows.csv").write_text(f"value,said\n{rows}\n")
    words = ["assess", str(tmp_path / "rows.csv"), "--truth", "value", "--assigned", "said", "--measures", "error"]
    status, out, _ = run(capsys, *words, *options)
    assert status == 0
    assert out.startswith("prediction: 4 rows, 3 classes")


def test_what_is_no_number_is_not_taken_for_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, *LDA, "--cut", "--level", "0.9")
    assert status == 2
    assert "needs --cut" in err


def test_compare_prints_differences_and_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, *BOTH, "--measure", "kappa")
    assert status == 0
    assert "differences in kappa" in out
    assert "lda and knn can't be told apart by kappa: " in out


CALIBRATION = ["calibration", IRIS, "--truth", "species", "--membership", "lda_*"]


@pytest.fixture
def days(tmp_path: Path) -> list[str]:
    """The words that hold ten forecasts of rain against the weather."""
    path = tmp_path / "days.csv"
    forecasts = [0.1, 0.4, 0.5, 0.8, 0.1, 0.2, 0.3, 0.9, 0.7, 0.2]
    rows = [f"{weather},{chance}" for weather, chance in zip("drdrrddrrd", forecasts, strict=True)]
    path.write_text("\n".join(["weather,chance", *rows, ""]))
    return ["calibration", str(path), "--truth", "weather", "--membership", "chance", "--event", "r"]


def test_calibration_prints_scores_parts_a_test_and_gains(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *CALIBRATION)
    assert status == 0
    assert not err
    for word in ("Brier score (macro)", "log score", "calibration error (macro)", "chance alone may explain this"):
        assert word in out
    for word in ("= miscalibration", "- discrimination", "+ uncertainty", "recalibrated", "gain"):
        assert word in out
    for species in ("setosa", "versicolor", "virginica"):
        assert out.count(species) == 5, "one line a score, and one for each way to be off"


def test_calibration_of_an_event_names_no_class_in_its_parts(
    capsys: pytest.CaptureFixture[str], days: list[str]
) -> None:
    status, out, _ = run(capsys, *days)
    assert status == 0
    assert "10 rows, 2 classes, event r" in out
    assert "0.174 [0.078, 0.418]" in out
    assert "class " not in out


def test_calibration_writes_the_curve_as_csv(
    capsys: pytest.CaptureFixture[str], days: list[str], tmp_path: Path
) -> None:
    import csv

    status, out, _ = run(capsys, *days, "--csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert status == 0
    assert list(rows[0]) == ["class", "forecast", "frequency", "rows", "low", "high"]
    assert sum(float(row["rows"]) for row in rows) == 10
    frequencies = [float(row["frequency"]) for row in rows]
    assert frequencies == sorted(frequencies)
    target = tmp_path / "curve.csv"
    assert "= miscalibration" in run(capsys, *days, "--csv", str(target))[1]
    assert list(csv.DictReader(target.read_text().splitlines())) == rows


def test_calibration_writes_everything_as_json(capsys: pytest.CaptureFixture[str], days: list[str]) -> None:
    status, out, _ = run(capsys, *days, "--json")
    content = json.loads(out)
    assert status == 0
    assert (content["rows"], content["event"]) == (10, "r")
    brier = [row for row in content["estimates"] if row["measure"] == "brier" and row["class"] == "r"]
    assert brier[0]["value"] == pytest.approx(0.174)
    for score in ("brier", "log_score"):
        parts = {row["part"]: row["value"] for row in content["decompositions"][score]}
        assert parts["miscalibration"] - parts["discrimination"] + parts["uncertainty"] == pytest.approx(parts["score"])
    assert 0 < content["test"]["p"] <= 1
    assert [row["part"] for row in content["line"]] == ["observed / expected", "intercept", "slope"]
    assert content["line"][0]["value"] == pytest.approx(5 / 4.2)
    assert {row["measure"] for row in content["recalibration"]} == {"brier", "log_score", "calibration_error"}
    assert {row["class"] for row in content["reliability"]} == {"r"}


def test_options_of_calibration_reach_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    usual = json.loads(run(capsys, *CALIBRATION, "--event", "virginica", "--json")[1])
    words = ["--event", "virginica", "--method", "murphy", "--recalibrate", "isotonic", "--level", "0.8", "--json"]
    other = json.loads(run(capsys, *CALIBRATION, *words)[1])
    assert other["level"] == 0.8
    for key in ("decompositions", "recalibration", "reliability"):
        assert other[key] != usual[key], key


@pytest.mark.parametrize(
    "words",
    [
        ["--membership", "chanc"],
        ["--event", "snow"],
        ["--method", "platt"],
        ["--recalibrate", "platt"],
        ["--level", "95"],
        ["--truth", "wether"],
    ],
)
def test_bad_input_of_calibration_is_status_2(
    capsys: pytest.CaptureFixture[str], days: list[str], words: list[str]
) -> None:
    if words[0] in days:
        days[days.index(words[0]) + 1] = words[1]
        words = []
    status, out, err = run(capsys, *days, *words)
    assert status == 2
    assert not out
    assert err.strip()
    assert "Traceback" not in err


def test_scores_that_are_no_probabilities_cannot_be_calibrated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "odds.csv"
    path.write_text("weather,odds\nr,2.5\nd,-1.5\nr,0.3\n")
    words = ["calibration", str(path), "--truth", "weather", "--membership", "odds", "--event", "r"]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert "is not a probability" in err
    assert "exp(-score)" in err


def test_measures_for_special_purposes_are_not_in_the_table_but_can_be_required(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = {row["measure"] for row in json.loads(run(capsys, *LDA, "--json")[1])["estimates"]}
    assert {"auc", "log_score", "brier", "skill"} <= shown
    assert not {"hand_till_auc", "h_measure", "calibration_error"} & shown
    assert run(capsys, *LDA, "--require", "hand_till_auc > 0.9")[0] == 0
    assert run(capsys, *LDA, "--measures", "error", "--require", "hand_till_auc > 0.9")[0] == 2


def test_the_list_of_measures_says_what_they_are_made_of_and_when_they_are_computed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    listed = {row["name"]: row for row in json.loads(run(capsys, "measures", "--json")[1])}
    made_of = {"error": "table", "f1": "class", "auc": "ranking", "brier": "forecasts", "log_score": "forecasts"}
    made_of |= {"calibration_error": "calibration", "top_calibration_error": "calibration"}
    assert {name: listed[name]["of"] for name in made_of} == made_of
    asked = {name for name, row in listed.items() if row["computed"] != "always"}
    assert {"cost", "precision_at", "h_measure", "calibration_error", "decision_cost"} <= asked
    assert not {"error", "auc", "brier", "skill"} & asked
    assert "forecasts of each class" in run(capsys, "measures", "brier")[1]
    assert "if asked" in run(capsys, "measures", "calibration_error")[1]


def test_demo_and_measures(capsys: pytest.CaptureFixture[str]) -> None:
    told = " ".join(run(capsys, "demo")[1].split())
    assert "irises" in told
    # 8 of 150 flowers more are 5.3 of a hundred, and not 5.3 % more than the 30 that the other errs on.
    assert "Of 100 flowers, knn errs on 5.3 more than lda" in told
    assert "Gordon Ross's lecture Performance Assessment" in told
    assert "the true class, 4.24; tables show its mean, 0.848. The Brier score is the mean of (p - y)², 0.294." in told
    assert "diagnostic_odds_ratio" in run(capsys, "measures")[1]
    assert "van Rijsbergen" in run(capsys, "measures", "fbeta")[1]
    assert json.loads(run(capsys, "measures", "recall", "--json")[1])["name"] == "sensitivity"
    assert len(json.loads(run(capsys, "measures", "--json")[1])) >= 23


def test_json_goes_to_standard_output_or_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(capsys, *LDA, "--json")
    content = json.loads(out)
    assert status == 0
    assert content["confusion"][0] == [49, 1, 0]
    row = next(r for r in content["estimates"] if r["measure"] == "kappa" and r["class"] is None)
    assert row["value"] == pytest.approx(0.7)
    target = tmp_path / "result.json"
    assert "kappa" in run(capsys, *BOTH, "--json", str(target))[1]
    assert json.loads(target.read_text())["differences"][0]["a"] == "lda"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_json_holds_no_nan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("truth,said\na,a\nb,a\nc,a\na,a\n")
    _, out, _ = run(capsys, "assess", str(path), "--truth", "truth", "--assigned", "said", "--json", "-")

    def refuse(word: str) -> Any:
        raise AssertionError(word)

    rows = json.loads(out, parse_constant=refuse)["estimates"]
    undefined = [row for row in rows if row["value"] is None]
    assert undefined
    assert all(row["note"] for row in undefined)


def test_csv_can_be_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    import csv

    _, out, _ = run(capsys, *LDA, "--csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert rows[0]["measure"] == "error"
    assert float(rows[0]["value"]) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("error < 0.3", 0),
        ("error < 0.1", 1),
        ("kappa.low > 0.6", 1),
        ("sensitivity[setosa].low >= 0.8", 0),
        ("f1[weighted] > 0.5", 0),
        ("fbeta(beta=2) > 0.5", 0),
        ("diagnostic_odds_ratio.high < 10", 1),
        ("nonsense > 1", 2),
        ("error", 2),
        ("error[nobody] < 1", 2),
        ("__import__('os').system('true') > 1", 2),
    ],
)
def test_requirements_set_the_exit_status(capsys: pytest.CaptureFixture[str], condition: str, status: int) -> None:
    assert run(capsys, *LDA, "--require", condition)[0] == status


def test_requirements_of_several_models_name_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, *BOTH, "--require", "lda.error < 0.25", "--require", "knn.kappa.low > 0.6")
    assert status == 1
    assert "held: lda.error < 0.25" in out
    assert "NOT HELD: knn.kappa.low > 0.6" in out
    assert run(capsys, *BOTH, "--require", "error < 0.25")[0] == 2


def test_an_undefined_value_meets_no_requirement(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "never.csv"
    path.write_text("truth,said\nyes,no\nno,no\n")
    words = ["assess", str(path), "--truth", "truth", "--assigned", "said", "--event", "yes"]
    for condition in ("precision >= 0", "precision <= 1"):
        assert run(capsys, *words, "--require", condition)[0] == 1


def test_options_reach_the_library(capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path) -> None:
    words = ["assess", str(file), "--truth", "ill", "--assigned", "said", "--event", "y", "--json"]
    plain = json.loads(run(capsys, *words)[1])
    assert plain["event"] == "y"
    weighted = [*words, "--weight", "weight", "--weight-kind"]
    assert json.loads(run(capsys, *weighted, "frequency")[1])["rows"] == 15
    assert json.loads(run(capsys, *weighted, "sampling")[1])["rows"] == 8
    grouped = json.loads(run(capsys, *words, "--group", "batch")[1])
    assert "clustered" in grouped["estimates"][0]["method"]
    sliced = json.loads(run(capsys, *words, "--by", "batch")[1])
    assert {row["slice"] for row in sliced["estimates"]} == {None, "a", "b", "c", "d"}
    costs = tmp_path / "costs.csv"
    costs.write_text("true,n,y\nn,0,1\ny,5,0\n")
    priced = json.loads(run(capsys, *words, "--cost", str(costs))[1])
    assert next(row for row in priced["estimates"] if row["measure"].startswith("cost"))["value"] == pytest.approx(
        6 / 8
    )
    few = json.loads(run(capsys, *words, "--measures", "error,fbeta(beta=0.5)", "--level", "0.8")[1])
    assert {row["measure"] for row in few["estimates"]} == {"error", "fbeta(beta=0.5)"}
    assert few["level"] == 0.8
    trained = json.loads(run(capsys, *words, "--training", str(file))[1])
    assert trained["training"][0]["value"] == trained["estimates"][0]["value"]
    assert [row["measure"] for row in trained["gaps"]] == [row["measure"] for row in trained["estimates"]]
    gap, own = trained["gaps"][0], trained["estimates"][0]
    assert gap["value"] == 0
    assert gap["low"] == pytest.approx(own["low"] - own["high"], rel=0.3)
    assert -gap["low"] == pytest.approx(gap["high"])
    shown = run(capsys, *words[:-1], "--training", str(file))[1]
    assert re.search(r"error +[\d.]+ .* 0\.000 +\[-0\.\d+, 0\.\d+\]", shown)


def test_integer_labels_are_read_as_integers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "score.csv"
    path.write_text("y,p\n1,0.9\n0,0.2\n1,0.4\n0,0.7\n")
    words = ["assess", str(path), "--truth", "y", "--membership", "p", "--event", "1", "--json"]
    content = json.loads(run(capsys, *words)[1])
    assert content["classes"] == [0, 1]
    assert content["confusion"] == [[1, 1], [1, 1]]
    lower = json.loads(run(capsys, *words, "--threshold", "0.3")[1])
    assert lower["confusion"] == [[1, 1], [0, 2]]
    assert run(capsys, *words[:-3], "--event", "one")[0] == 2


def test_a_column_alone_is_a_model_of_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("y,tree,forest\na,a,b\nb,b,b\na,b,a\nb,a,b\n")
    words = ["compare", str(path), "--truth", "y", "--json", "--model"]
    short = json.loads(run(capsys, *words, "tree", "--model", "other=forest")[1])
    long = json.loads(run(capsys, *words, "tree=tree", "--model", "other=forest")[1])
    assert short == long
    for unclear in ("tre*", "tree,forest", "tree=", "=tree", ""):
        assert run(capsys, *words, unclear)[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ["assess", "nowhere.csv", "--truth", "a", "--assigned", "b"],
        ["assess", IRIS, "--truth", "specis", "--membership", "lda_*"],
        ["assess", IRIS, "--truth", "species"],
        ["assess", IRIS],
        ["assess", IRIS, "--truth", "species", "--membership", "lda_*", "--level", "95"],
        ["assess", IRIS, "--truth", "species", "--membership", "lda_*", "--method", "guess"],
        ["compare", IRIS, "--truth", "species", "--model", "lda"],
        ["compare", IRIS, "--truth", "species", "--model", "a=lda_*", "--model", "a=qda_*"],
        ["measures", "acuracy"],
        ["weigh"],
    ],
)
def test_bad_input_is_status_2_without_a_traceback(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    status, _, err = run(capsys, *words)
    assert status == 2
    assert err.strip()
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["assess", "thresholds", "calibration"])
def test_only_columns_that_are_used_must_be_alike(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    (tmp_path / "1.csv").write_text("ill,score,site\nyes,0.9,n\nno,0.2,n\nyes,0.4,s\n")
    (tmp_path / "2.csv").write_text("score,ill,version,version\n0.8,yes,2,2\n0.6,no,2,2\n0.3,no,2,2\n")
    status, out, err = run(capsys, command, str(tmp_path), "--truth", "ill", "--membership", "score", "--event", "yes")
    assert (status, err) == (0, "")
    assert "6 rows" in out


def test_a_slip_is_met_with_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'species'" in run(capsys, "assess", IRIS, "--truth", "specis", "--membership", "lda_*")[2]
    assert "'accuracy'" in run(capsys, "measures", "acuracy")[2]


def test_text_from_a_file_cannot_act_on_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    evil = "\x1b[31mred\x1b]0;title\x07[bold]x[/bold]\u202e"
    path = tmp_path / "evil.csv"
    path.write_text(f"truth,said\n{evil},{evil}\nb,{evil}\nb,b\n")
    status, out, _ = run(capsys, "assess", str(path), "--truth", "truth", "--assigned", "said", "--by", "truth")
    assert status == 0
    assert not set("\x1b\x07\u202e") & set(out)
    assert "\\x1b[31mred" in out
    assert "[bold]x[/bold]" in out
    status, _, err = run(capsys, "assess", str(path), "--truth", "truth", "--assigned", "said", "--event", evil + "!")
    assert status == 2
    assert not set("\x1b\x07\u202e") & set(err)


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m steelyard demo | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602
    assert "irises" in done.stdout
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def unread(words: list[str], *, errors: bool = False) -> tuple[int, str]:
    """Run a command whose output nobody reads, and return its exit status and what it said on standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    heard = writer if errors else subprocess.PIPE
    command = [sys.executable, "-m", "steelyard", *words]
    done = subprocess.run(command, stdout=writer, stderr=heard, text=True, check=False)  # noqa: S603
    os.close(writer)
    return done.returncode, done.stderr or ""


@pytest.mark.parametrize("how", [[], ["--json"], ["--csv"]])
def test_the_verdict_decides_the_exit_status_whether_or_not_somebody_reads(how: list[str]) -> None:
    words = [*LDA, "--measures", "error", *how]
    status, err = unread([*words, "--require", "error < 0.01"])
    assert status == 1
    assert ("NOT HELD: error < 0.01" in err) == bool(how)
    if not how:  # each is a process of its own
        assert unread([*words, "--require", "error < 0.9"])[0] == 0
        assert unread([*words, "--require", "error < 0.01"], errors=True)[0] == 1


def test_a_device_of_standard_output_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*LDA, "--measures", "error"]
    assert run(capsys, *words, "--csv=/dev/stdout") == run(capsys, *words, "--csv")


def test_help_that_nobody_reads_is_no_failure() -> None:
    assert unread(["--help"]) == (0, "")


def test_a_closed_standard_output_is_no_error() -> None:
    words = [sys.executable, "-m", "steelyard", *LDA, "--measures", "error", "--require", "error < 0.01"]
    for closed in (">&-", "--json >&-", ">&- 2>&-"):
        done = subprocess.run(f"{shlex.join(words)} {closed}", shell=True, capture_output=True, text=True, check=False)  # noqa: S602
        assert done.returncode == 1
        assert "Traceback" not in done.stderr


def test_help_teaches_by_example(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--help")
    assert status == 0
    assert "steelyard compare predictions.csv" in out
    assert "--membership" in run(capsys, "assess", "--help")[1]


def test_thresholds_without_an_event_name_the_classes(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "thresholds", IRIS, "--truth", "species", "--membership", "lda_*")
    assert status == 2
    assert "Name one of 'setosa', 'versicolor', 'virginica': --event 'virginica'" in err


def test_a_score_that_bears_the_name_of_a_class_is_taken_for_its_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "said.csv"
    path.write_text("truth,p_ill,p_well\nill,0.7,0.3\nwell,0.2,0.8\n")
    for name in ("ill", "well"):
        status, _, err = run(capsys, "assess", str(path), "--truth", "truth", "--membership", f"p_{name}")
        assert status == 2
        assert f"--event '{name}'" in err


# --- scores ---------------------------------------------------------------------------------------------------


def table_of(folder: Path, name: str, *rows: str) -> str:
    """Write a file of lines, and return its name."""
    path = folder / name
    path.write_text("\n".join([*rows, ""]))
    return str(path)


def test_whole_numbers_in_a_column_of_scores_are_scores(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    votes = table_of(tmp_path, "votes.csv", "ill,votes", "1,3", "0,1", "1,2", "0,0", "0,1", "1,3")
    words = [votes, "--truth", "ill", "--score", "votes", "--event", "1", "--threshold", "2"]
    assert "6 rows, 2 classes" in run(capsys, "assess", *words, "--measures", "error")[1]
    sums = str(tmp_path / "votes.tally")
    assert "6 rows, 2 classes" in run(capsys, "tally", *words, "--out", sums)[1]
    assert "6 rows, 2 classes" in run(capsys, "thresholds", *words[:-2])[1]
    status, _, err = run(capsys, "assess", *words[:-2], "--measures", "error")
    assert status == 2
    assert "error needs predicted classes" in err
    words[3] = "--membership"
    status, _, err = run(capsys, "assess", *words[:-2], "--measures", "error")
    assert status == 2
    assert "row 0: 3.0 is not a probability" in err


@pytest.mark.parametrize("command", ["assess", "thresholds", "calibration"])
def test_a_score_of_zeros_and_ones_is_one_whatever_the_classes_are_called(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    sure = table_of(tmp_path, "sure.csv", "ill,p", "yes,1", "no,0", "yes,0", "no,0")
    status, out, _ = run(capsys, command, sure, "--truth", "ill", "--membership", "p", "--event", "yes")
    assert status == 0
    assert "4 rows, 2 classes, event yes" in out


@pytest.mark.parametrize("command", ["assess", "thresholds", "calibration"])
@pytest.mark.parametrize(
    ("word", "mend"), [("abc", "Give numbers"), ("12%", "0.12, not 12%"), ('"0,7"', "decimals with a point")]
)
def test_a_word_among_scores_is_named_with_its_row(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, word: str, mend: str
) -> None:
    path = table_of(tmp_path, "words.csv", "ill,p", "yes,0.9", "no,0.1", f"yes,{word}")
    for columns in ("p", "p,q"):
        text = path if columns == "p" else table_of(tmp_path, "two.csv", "ill,p,q", "yes,0.9,.1", f"no,{word},.9")
        status, _, err = run(capsys, command, text, "--truth", "ill", "--membership", columns, "--event", "yes")
        assert status == 2
        bare = word.strip('"')
        assert f"column 'p', row {2 if columns == 'p' else 1}: '{bare}' is no number. " in err
        assert mend in err


@pytest.mark.parametrize("command", ["assess", "calibration"])
def test_a_fault_in_one_file_of_a_folder_is_told_of_that_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    table_of(tmp_path, "a.csv", "ill,p", "yes,0.9", "no,0.1")
    second = table_of(tmp_path, "b.csv", "ill,p", "yes,0.9", "no,1.3")
    status, _, err = run(capsys, command, str(tmp_path), "--truth", "ill", "--membership", "p", "--event", "yes")
    assert status == 2
    assert f"file '{second}', column 'p', row 1: 1.3 is not a probability" in err


def test_booleans_are_known_by_their_names_whatever_their_capitals(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = ["ill,p_true,p_false", "true,0.9,0.1", "false,0.3,0.7", "true,0.6,0.4", "false,0.2,0.8"]
    path = table_of(tmp_path, "flags.csv", *rows)
    words = ["assess", path, "--truth", "ill", "--membership", "p_*", "--measures", "sensitivity"]
    for name in ("true", "True", "TRUE"):
        require = ["--require", f"sensitivity[{name}] > 0.2", "--event", name]
        status, out, err = run(capsys, *words, *require)
        assert (status, err) == (0, "")
        assert f"held: sensitivity[{name}] > 0.2  (it is 1.0000)" in out
    assert "'yes' is not one of the classes" in run(capsys, *words, "--require", "sensitivity[yes] > 0.2")[2]


def test_every_option_stands_in_a_table_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"--[\w-]+", "\n".join(line for line in page.splitlines() if line.startswith("| `--"))))
    for command in ("assess", "compare", "cv", "tally", "merge", "thresholds", "calibration"):
        found = app[command].assemble_argument_collection(default_parameter=app.default_parameter)
        names = [name for one in found if not one.field_info.is_positional_only for name in one.names]
        assert {name for name in names if name.startswith("--")} - listed <= {"--file", "--files", "--tallies"}


WIDTHS = (100, 80, 60, 40, 20)


@pytest.mark.study
@pytest.mark.parametrize(("words", "width"), in_turn([[*LDA, "--by", "species"], BOTH, CALIBRATION], WIDTHS))
def test_numbers_never_break_however_narrow_the_screen_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], width: int
) -> None:
    """Where lines are broken only between words, the same words come out."""
    said = {}
    for columns in (400, width):
        monkeypatch.setattr(terminal, "PIPE_WIDTH", columns)
        out = run(capsys, *words)[1]
        assert max(map(len, out.splitlines())) <= columns
        said[columns] = set(re.findall(r"[-\d.,\[\]∞]*\.\d+[],]?", out))
    assert said[width] <= said[400]
    assert "0.800" in said[width] or "calibration" in words


def test_a_narrow_screen_does_without_methods_and_not_without_values(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*LDA, "--measures", "error"]
    monkeypatch.setattr(terminal, "PIPE_WIDTH", 36)
    out = run(capsys, *words)[1]
    assert "Wilson" not in out
    assert "0.200   [0.144," in out
    monkeypatch.setattr(terminal, "PIPE_WIDTH", 20)
    assert "↓ error value 0.200 95% interval [0.144, 0.271]" in " ".join(run(capsys, *words)[1].split())


def test_classes_that_are_not_shown_are_counted_in_plain_words(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = table_of(tmp_path, "many.csv", "truth,said", *[f"c{code},c{code}" for code in range(15)])
    out = run(capsys, "assess", path, "--truth", "truth", "--assigned", "said", "--measures", "sensitivity")[1]
    assert "… and 3 more " in out


def test_intervals_break_only_where_nothing_else_can_give_way(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty column of notes goes first, and methods are folded."""
    rows = [["kappa", "0.464", "[0.357, 0.554]", "0.051", "delta, Fisher scale", ""]]
    grid = TextGrid(["measure", "value", "95% interval", "se", "method", "note"], rows, (1, 3), ["note", "method"])
    for width, whole in ((80, True), (54, True), (38, False)):
        Console(width=width).print(grid)
        assert ("[0.357, 0.554]" in capsys.readouterr().out) == whole


@pytest.mark.parametrize("event", ["2", "2.0"])
def test_whole_numbers_with_a_decimal_are_labels(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, event: str
) -> None:
    path = tmp_path / "floats.csv"
    path.write_text("truth,said,score\n1.0,1.0,0.2\n2.0,2.0,0.8\n2.0,1.0,0.6\n1.0,1.0,0.7\n")
    words = ("assess", str(path), "--truth", "truth", "--event", event, "--json")  # text is what stands in its cell
    assert json.loads(run(capsys, *words, "--assigned", "said")[1])["event"] == "2.0"
    assert json.loads(run(capsys, *words, "--score", "score")[1])["event"] == "2.0"
    assert json.loads(run(capsys, *words, "--assigned", "said", "--scale", "2,1")[1])["classes"] == ["2", "1"]
    assert "'two' is not one of the classes" in run(capsys, *words[:-2], "two", "--assigned", "said")[2]


def test_measures_of_scores_alone_have_no_table_in_json(capsys: pytest.CaptureFixture[str], days: list[str]) -> None:
    code, out, _ = run(capsys, "assess", *days[1:], "--measures", "auc", "--json")
    assert code == 0
    assert json.loads(out)["confusion"] is None


def test_names_with_commas_stand_in_quotes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "commas.csv"
    path.write_text('truth,"new, best","p, yes"\n"a, b","a, b",0.9\nc,c,0.4\n"a, b",c,0.6\n')
    plain = ("assess", str(path), "--truth", "truth", "--json")
    for words in (
        ("--score", '"p, yes"', "--event", "a, b"),
        ("--assigned", "new, best", "--by", '"new, best", truth'),
        ("--assigned", "new, best", "--scale", 'c, "a, b"'),
    ):
        assert run(capsys, *plain, *words)[0] == 0
    assert run(capsys, "compare", *plain[1:], "--model", 'new="new, best"')[0] == 0
    error = run(capsys, *plain, "--assigned", "new, best", "--by", "new best, truth")[2]
    assert "Did you mean 'new, best'? Among others, a name with a comma stands in double quotes" in error


def test_thresholds_of_weighted_rows_reach_to_the_last(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # 30 times 0.03, times 19, divided by 19 again, is more than 30 times 0.03.
    rows = [f"{'ny'[place % 3 == 0]},{place / 100},0.03" for place in range(30)]
    file = table_of(tmp_path, "weighted.csv", "ill,score,weight", *rows)
    words = ["--truth", "ill", "--score", "score", "--event", "y", "--weight", "weight"]
    status, out, _ = run(capsys, "thresholds", file, *words, "--measures", "sensitivity")
    assert status == 0
    assert "0.0000" in out
    assert "more thresholds in between" in out


def test_two_files_of_costs_are_one_too_many(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ill = table_of(tmp_path, "ill.csv", "ill,score", "y,0.9", "n,0.2", "y,0.4", "n,0.6")
    dear, cheap = (
        table_of(tmp_path, f"{name}.csv", "true,n,y", "n,0,1", f"y,{cost},0") for name, cost in (("a", 9), ("b", 1))
    )
    words = ["assess", ill, "--truth", "ill", "--score", "score", "--event", "y", "--measures", "cost"]
    status, _, err = run(capsys, *words, "--cost", dear, "--threshold", f"cost:{cheap}")
    assert (status, "--cost and --threshold name two files of costs" in err) == (2, True)
    one = run(capsys, *words, "--cost", dear, "--threshold", "cost")
    assert one[0] == 0
    assert one == run(capsys, *words, "--threshold", f"cost:{dear}")
    assert one == run(capsys, *words, "--cost", dear, "--threshold", f"cost:{dear}")


def test_rounding_decides_no_requirement(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # Sensitivities of 0, 0 and 0.3, whose mean comes out as 0.09999999999999999.
    pairs = ["a,b"] * 10 + ["b,a"] * 10 + ["c,c"] * 3 + ["c,b"] * 7
    file = table_of(tmp_path, "tenth.csv", "true,said", *pairs)
    words = ["assess", file, "--truth", "true", "--assigned", "said", "--measures", "balanced_accuracy"]
    for sign, status in ((">=", 0), ("<=", 0), (">", 1), ("<", 1)):
        assert run(capsys, *words, "--require", f"balanced_accuracy {sign} 0.1")[0] == status

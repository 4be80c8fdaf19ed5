"""Every command for machines: JSON and CSV of a known shape, quiet, and nothing that a terminal would obey."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.cli.line import app
from steelyard.data.whole_files import CSV, JSON

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
TWO = ["--where", "species != 'setosa'", "--event", "virginica"]
COMMANDS = {
    "assess": ["assess", IRIS, "--truth", "species", "--membership", "lda_*", "--measures", "error,precision"],
    "compare": [
        "compare",
        IRIS,
        "--truth",
        "species",
        "--model",
        "l=lda_*",
        "--model",
        "k=knn_*",
        "--measures",
        "error",
    ],
    "cv": ["cv", IRIS, "--target", "species", "--models", "lda", "--measures", "error", "--seed", "1"],
    "thresholds": ["thresholds", IRIS, "--truth", "species", "--membership", "lda_virginica", *TWO],
    "calibration": ["calibration", IRIS, "--truth", "species", "--membership", "lda_virginica", *TWO],
    "partition": ["partition", IRIS, "--truth", "species", "--membership", "knn_*", "--depth", "2"],
    "measures": ["measures"],
    "tally": [
        "tally",
        IRIS,
        "--truth",
        "species",
        "--membership",
        "lda_*",
        "--measures",
        "error",
        "--out",
        "one.tally",
    ],
    "merge": ["merge", "day.tally", "--measures", "error"],
    "table": ["table", "published.csv", "--measures", "error"],
    "study knn": ["study", "knn", "--splits", "1"],
    "study meat": ["study", "meat", "--repeats", "1"],
    "study mevik2003": ["study", "mevik2003", "--repetitions", "1"],
    "study partitions": ["study", "partitions", "--seeds", "1"],
}
HEAD = ["steelyard", "rows", "dropped", "left_out", "classes", "event", "level"]
KEYS = {
    "assess": [*HEAD, "confusion", "estimates", "training", "gaps", "chosen", "notes"],
    "compare": [*HEAD, "estimates", "differences", "verdict", "chosen", "notes"],
    "cv": [
        *HEAD,
        "held_out",
        "estimates",
        "training",
        "differences",
        "verdict",
        "intervals",
        "times",
        "failures",
        "notes",
    ],
    "thresholds": [*HEAD, "thresholds", "chosen", "notes"],
    "calibration": [*HEAD, "estimates", "decompositions", "line", "test", "recalibration", "reliability", "notes"],
    "partition": [
        *HEAD,
        *("scaling", "depth", "floor", "ties", "seed"),
        *("estimates", "correctness", "regions", "notes"),
    ],
    "tally": ["steelyard", "classes", "tallies", "left_out"],
    "merge": [*HEAD, "confusion", "estimates", "training", "gaps", "chosen", "notes"],
    "table": [*HEAD, "confusion", "estimates", "training", "gaps", "chosen", "notes"],
    **{name: ["steelyard", "study", "results", "statements"] for name in COMMANDS if name.startswith("study")},
}
NOT_FOR_MACHINES = {"demo", "completion", "study", "--help", "-h", "--version"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["tally", IRIS, "--truth", "species", "--membership", "lda_*", "--out", "day.tally", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "published.csv").write_text("truth,no,yes\nno,231,27\nyes,32,54\n")
    return tmp_path


@pytest.fixture(scope="module", autouse=True)
def _studies_are_run_once() -> Iterator[None]:
    """Each study is simulated once: these tests are about what is printed of it."""
    with pytest.MonkeyPatch.context() as patch:
        for study in ("irises", "meat", "mevik", "partitions"):
            module = import_module(f"steelyard.studies.{study}")
            patch.setattr(module, "run", partial(_run_once, cache(partial(_run, module.run))))
        yield


def _run(run: Any, given: tuple[Any, ...], options: tuple[tuple[str, Any], ...]) -> Any:
    return run(*given, **dict(options))


def _run_once(known: Any, *given: Any, progress: Any = None, **options: Any) -> Any:
    """Return the result of the first run with the same options."""
    return known(given, tuple(options.items()))


def refuse(word: str) -> Any:
    raise AssertionError(word)


def test_every_command_is_told_here() -> None:
    assert {name.split()[0] for name in COMMANDS} | NOT_FOR_MACHINES == set(app)


@pytest.mark.parametrize("name", COMMANDS)
def test_json_has_the_keys_that_are_promised_and_no_nan(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main([*COMMANDS[name], "--json"]) == 0
    content = json.loads(capsys.readouterr().out, parse_constant=refuse)
    if name == "measures":
        assert {row["name"] for row in content} >= {"error", "auc"}
    else:
        assert list(content) == KEYS[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_csv_has_a_head_and_rows_of_its_length(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main([*COMMANDS[name], "--csv"]) == 0
    out = capsys.readouterr().out
    head, *rows = csv.reader(out.splitlines())
    assert rows
    assert {len(row) for row in rows} == {len(head)}
    assert not [cell for row in rows for cell in row if cell.lower() == "nan"]
    Path("found.csv").write_text(out)
    assert CSV.is_like(Path("found.csv")), "a repeated command could not replace it"


@pytest.mark.parametrize("name", COMMANDS)
def test_quiet_prints_nothing_and_writes_what_was_asked_for(
    capsys: pytest.CaptureFixture[str], name: str, folder: Path
) -> None:
    assert main([*COMMANDS[name], "--quiet", "--json", "found.json"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")
    assert json.loads((folder / "found.json").read_text())
    assert JSON.is_like(folder / "found.json"), "a repeated command could not replace it"


@pytest.mark.parametrize(
    ("goal", "status", "threshold"),
    [("best:specificity", 0, "Infinity"), ("max specificity where sensitivity >= 0.999", 1, None)],
)
def test_a_threshold_that_is_no_number_is_one_that_json_can_hold(
    capsys: pytest.CaptureFixture[str], goal: str, status: int, threshold: str | None
) -> None:
    words = [*COMMANDS["thresholds"], "--choose", goal, *(["--guarantee", "0.99"] if status else [])]
    assert main([*words, "--json"]) == status
    (chosen,) = json.loads(capsys.readouterr().out)["chosen"]
    assert (chosen["threshold"], bool(chosen["note"])) == (threshold, True)


def test_one_measure_as_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures", "kappa", "--csv"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert (row["name"], row["better"]) == ("kappa", "higher")


def test_quiet_still_tells_what_did_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*COMMANDS["assess"], "--quiet", "--require", "error < 0.1", "--require", "error < 0.9"]
    assert main(words) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "NOT HELD: error < 0.1  (it is 0.2000)\n"


def test_two_kinds_cannot_share_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--json", "--csv"], ["--json", "--markdown"]):
        assert main([*COMMANDS["assess"], *words]) == 2
        assert "two kinds of results on standard output" in capsys.readouterr().err


def test_every_tally_has_its_row(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    for day in ("monday", "tuesday"):
        (folder / f"{day}.csv").write_text("truth,said\na,a\nb,a\n")
    words = ["tally", "*day.csv", "--truth", "truth", "--assigned", "said", "--each", "--out", "tallies", "--json"]
    assert main(words) == 0
    content = json.loads(capsys.readouterr().out)
    assert [row["rows"] for row in content["tallies"]] == [2, 2]
    assert all(Path(row["tally"]).is_file() for row in content["tallies"])


@pytest.fixture
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that can show colours, and nothing that asks for them."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("plain_terminal")
def test_no_colours_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-m", "steelyard", "demo"], capture_output=True, check=True)
    assert done.stdout
    assert b"\x1b" not in done.stdout + done.stderr
    assert not done.stderr


@pytest.mark.parametrize("name", ["assess", "compare", "measures"])
@pytest.mark.usefixtures("plain_terminal")
def test_no_colours_where_output_is_no_terminal(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(COMMANDS[name]) == 0
    printed = capsys.readouterr()
    assert printed.out
    assert "\x1b" not in printed.out
    assert not printed.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_names_commands_and_options(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("assess", "thresholds", "mevik2003", "membership", "bootstrap"):
        assert word in script


def test_bash_completes_commands(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    import shutil

    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here to complete words")
    assert main(["completion", "bash"]) == 0
    (folder / "script").write_text(capsys.readouterr().out)
    ask = 'source ./script; COMP_WORDS=(steelyard ass); COMP_CWORD=1; _steelyard; echo "${COMPREPLY[@]}"'
    done = subprocess.run([bash, "-c", ask], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split() == ["assess"]


def test_the_demonstration_fits_on_80_columns_and_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for word in ("Who is better?", "can't be told apart", "How sure", "threshold", "--require"):
        assert word in out
    assert all("0." in line or "∞" in line for line in out.splitlines() if line.startswith((" lda ", " qda ", " knn ")))


def test_the_demonstration_writes_a_page_where_it_is_told_to(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["demo", "--html", "page.html"]) == 0
    assert "page.html" in capsys.readouterr().out
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Three classifiers of irises" in page
    assert "steelyard compare iris.csv --truth species" in page
    assert main(["demo", "--html", "-"]) == 2
    assert "Name a file" in capsys.readouterr().err
    assert not (folder / "-").exists()


def test_json_has_notes_and_the_differences_in_parts(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rows = ["yes,yes,no,A", "no,no,no,A", "yes,yes,yes,B", "no,no,yse,B"] * 5
    (folder / "said.csv").write_text("\n".join(["truth,a,b,site", *rows]) + "\n")
    tokens = ["compare", "said.csv", "--truth", "truth", "--model", "a=a", "--model", "b=b", "--measures", "error"]
    assert main([*tokens, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["notes"] == ["b: assigned but never true: 'yse' (rare, or spelled differently?)"]
    assert [row["difference"] for row in content["differences"]] == [-0.5]
    assert main([*tokens, "--by", "site", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["differences"]
    assert [(row["slice"], row["difference"]) for row in rows] == [(None, -0.5), ("A", -0.5), ("B", -0.5)]


def test_what_was_chosen_is_told_with_what_it_achieves(capsys: pytest.CaptureFixture[str]) -> None:
    goal = "max specificity where sensitivity >= 0.9"
    rows = [
        IRIS,
        "--truth",
        "species",
        "--membership",
        "lda_virginica",
        "--event",
        "virginica",
        "--where",
        "species != 'setosa'",
    ]
    found = sy.assess(IRIS, truth="species", membership="lda_virginica", event="virginica", where="species != 'setosa'")
    expected = found.best_threshold(goal)
    assert expected.value is not None
    assert expected.honest is not None
    for command in (["thresholds", *rows, "--choose", goal], ["assess", *rows, "--threshold", goal]):
        assert main([*command, "--json"]) == 0
        (chosen,) = json.loads(capsys.readouterr().out)["chosen"]
        assert chosen.pop("model", "prediction") == "prediction"
        assert chosen["threshold"] == expected.threshold
        assert [one["measure"] for one in chosen["achieved"]] == ["specificity", "sensitivity"]
        assert chosen["achieved"][0]["value"] == expected.value.value
        assert chosen["achieved"][0]["elsewhere"]["low"] == expected.honest.low
        assert chosen["achieved"][1]["value"] >= 0.9

"""Whatever a user does wrong on the command line, they get one line that says so, and never a traceback."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest

from steelyard.cli import main

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
LDA = ["assess", IRIS, "--truth", "species", "--membership", "lda_*", "--measures", "error"]


def refused(capsys: pytest.CaptureFixture[str], words: list[str]) -> str:
    """Run a command that must fail in one line, and return that line."""
    status = main(words)
    said = capsys.readouterr()
    assert status == 2, words
    assert said.err.startswith("error: "), said.err
    assert said.err.count("\n") == 1, said.err
    assert not set("\x1b\x07\x00") & set(said.err)
    return said.err


@pytest.fixture
def rubbish(tmp_path: Path) -> Path:
    """A folder of files that are not what they say."""
    noise = random.Random(1).randbytes(2_000)  # noqa: S311
    for name in ("noise.csv", "noise.parquet", "noise.arrow", "noise.csv.gz", "noise.tally", "noise.feather"):
        (tmp_path / name).write_bytes(noise)
        (tmp_path / f"empty-{name}").write_bytes(b"")
    (tmp_path / "latin.csv").write_bytes("truth,said\nä,a\nb,b\n".encode("latin-1"))
    (tmp_path / "ragged.csv").write_text("truth,said\na,a,a\nb\n")
    (tmp_path / "nul.csv").write_bytes(b"truth,said\na\0,a\nb,b\n\0\0\0")
    (tmp_path / "lonely.csv").write_text("truth,said\n")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "noise.exe").write_bytes(noise)
    return tmp_path


def test_files_that_are_not_what_they_say(capsys: pytest.CaptureFixture[str], rubbish: Path) -> None:
    for path in sorted(rubbish.iterdir()):
        words = [str(path), "--truth", "truth", "--assigned", "said"]
        if path.name != "nul.csv":
            refused(capsys, ["assess", *words])
            refused(capsys, ["tally", *words, "--out", str(rubbish / "out.tally")])
        refused(capsys, ["merge", str(path)])
        refused(capsys, [*LDA, "--cost", str(path)])
        refused(capsys, [*LDA, "--training", str(path)])


@pytest.mark.parametrize("option", ["--json", "--csv", "--markdown"])
def test_files_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "nowhere" / "x", tmp_path, tmp_path / "file" / "x"):
        assert "cannot be written" in refused(capsys, [*LDA, "--quiet", f"{option}={target}"])


@pytest.mark.parametrize("study", ["mevik2003", "partitions", "knn"])
def test_what_is_no_folder_is_refused_before_a_study(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, study: str
) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper"):
        assert "is a file. Name a folder" in refused(capsys, ["study", study, "--figures", str(folder)])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--nonsense"],
        ["assess"],
        ["assess", ""],
        ["assess", "\0"],
        ["assess", IRIS, "--truth"],
        ["tally", "--empty-files", "--truth", "species", "--assigned", "species", "--out", "nothing.tally"],
        ["merge", "--empty-tallies"],
        ["assess", IRIS, "--truth", ""],
        [*LDA, "--level", "high"],
        [*LDA, "--level", "nan"],
        [*LDA, "--scale", ","],
        [*LDA, "--by", ""],
        [*LDA, "--require", "\x1b[31m"],
        [*LDA, "--require", ""],
        [*LDA, "--where", "species =="],
        [*LDA, "--where", "__import__('os')"],
        [*LDA, "--threshold", "best:"],
        [*LDA, "--engine", "tcp:/x"],
        [*LDA[:-1], ""],
        [*LDA[:-1], "error,"],
        ["cv", IRIS, "--target", "species", "--jobs", "0", "--models", "lda"],
        ["cv", IRIS, "--target", "species", "--models", ""],
        ["cv", IRIS, "--target", "species", "--folds", "-1"],
        ["thresholds", IRIS, "--truth", "species", "--membership", "lda_*", "--event", "setosa", "--rows", "0"],
        ["compare", IRIS, "--truth", "species", "--model", "=x"],
        ["completion", "tcsh"],
        ["measures", "((("],
        ["study"],
    ],
)
def test_words_that_mean_nothing(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    if not words or words == ["study"]:
        assert main(words) == 0, "help is what such a user needs"
        assert "Usage" in capsys.readouterr().out
        return
    refused(capsys, words)


def test_any_words_in_any_order(capsys: pytest.CaptureFixture[str], rubbish: Path) -> None:
    source = random.Random(7)  # noqa: S311
    commands = ["assess", "compare", "thresholds", "calibration", "cv", "merge", "tally", "measures"]
    options = ["--truth", "--assigned", "--membership", "--model", "--measures", "--level", "--require", "--where"]
    options += ["--event", "--scale", "--cut", "--sd", "--threshold", "--by", "--target", "--models", "--choose"]
    values = [IRIS, "species", "lda_*", "l=lda_*", "error", "0.5", "error < 1", "species == 'setosa'", "setosa", "a,b"]
    values += [
        "",
        "-",
        "--",
        "\0",
        "\ud800",
        "\x1b[0m",
        "1e999",
        "nan",
        "*",
        "[",
        "=",
        "ä" * 300,
        "knn:2",
        str(rubbish),
    ]
    for _ in range(150):
        words = [source.choice(commands), *source.choices([*options, *values], k=source.randint(0, 7))]
        assert main([*words, "--quiet"]) in (0, 1, 2), words
        assert "Traceback" not in capsys.readouterr().err


def start(*words: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "steelyard", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **more},
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "steelyard", *LDA, "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_a_pipe_is_utf8_whatever_the_locale() -> None:
    with start(*LDA, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii") as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "↓ error" in out


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_an_interrupt_ends_it_at_once_and_in_silence() -> None:
    # A child of a process that is deaf to interrupts, as those in the background are, would be deaf too.
    hearing = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{hearing}; from steelyard.cli import main; print('here', flush=True); sys.exit(main())"
    words = ["study", "knn", "--splits", "100000"]
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", "")


def test_results_never_take_the_place_of_the_data(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("truth,said\na,a\nb,b\n")
    words = [str(data), "--truth", "truth", "--assigned", "said"]
    for more in (["assess", *words, "--csv", str(data)], ["tally", *words, "--out", str(tmp_path / "." / "data.csv")]):
        assert "is an input of this command" in refused(capsys, more)
    scored = [str(data), "--truth", "truth", "--membership", "said", "--csv", str(data)]
    assert "is an input of this command" in refused(capsys, ["calibration", *scored])
    assert data.read_text() == "truth,said\na,a\nb,b\n"


def test_results_never_take_the_place_of_what_is_read_beside_the_data(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, other, costs = (tmp_path / name for name in ("data.csv", "other.csv", "costs.csv"))
    for path in (data, other):
        path.write_text("truth,said,score\na,a,0.2\nb,b,0.7\n")
    costs.write_text("true,a,b\na,0,1\nb,9,0\n")
    words = [str(data), "--truth", "truth", "--assigned", "said"]
    scored = [str(data), "--truth", "truth", "--score", "score", "--event", "b"]
    assert main(["tally", *words, "--out", str(tmp_path / "one.tally")]) == 0
    capsys.readouterr()
    for more in (
        ["assess", *words, "--training", str(other), "--csv", str(other)],
        ["assess", *words, "--cost", str(costs), "--csv", str(costs)],
        ["thresholds", *scored, "--choose", f"cost:{costs}", "--csv", str(costs)],
        ["merge", str(tmp_path / "one.tally"), "--cost", str(costs), "--csv", str(costs)],
    ):
        assert "is an input of this command" in refused(capsys, more)
    assert other.read_text() == data.read_text()
    assert costs.read_text() == "true,a,b\na,0,1\nb,9,0\n"

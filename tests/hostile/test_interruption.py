"""Interrupted at any moment, a command ends with its status, says one line at most, and leaves no half file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import pytest

from .amount import cases

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
LDA = [IRIS, "--truth", "species", "--membership", "lda_*"]
TWO = [IRIS, "--truth", "species", "--score", "lda_virginica", "--where", "species != 'setosa'"]
MODELS = ["--model", "lda=lda_*", "--model", "knn=knn_*"]
COMMANDS = (
    ["--help"],
    ["measures"],
    ["demo"],
    ["completion", "bash"],
    ["assess", *LDA],
    ["assess", *LDA, "--html", "page.html"],
    ["assess", *LDA, "--method", "bootstrap", "--csv", "r.csv"],
    ["compare", IRIS, "--truth", "species", *MODELS],
    ["thresholds", *TWO, "--event", "virginica", "--choose", "best:f1"],
    ["calibration", *LDA],
    ["tally", *LDA, "--out", "r.tally"],
    ["study", "knn", "--splits", "100"],
    ["cv", IRIS, "--target", "species", "--models", "lda,tree"],
    ["cv", IRIS, "--target", "species", "--models", "tree,forest", "--repeats", "20", "--jobs", "2"],
)
SECONDS = 2.5
# As the script of the command does it. A child of a process that ignores interrupts would ignore them too.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import steelyard.cli
from steelyard.cli.interruption import Interruption
begin = Interruption.__enter__
def begun(self):
    begin(self)
    print("here", flush=True)  # from here on, signals are handled
    return self
Interruption.__enter__ = begun
sys.exit(steelyard.cli.main())
"""


def interrupted(words: Sequence[str], seconds: float, number: signal.Signals) -> tuple[int, str]:
    """Send a signal to a command and its workers, as a terminal does; its status, and what it says of that."""
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", PROGRAM, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        time.sleep(seconds)
        if process.poll() is None:
            os.killpg(process.pid, number)
        try:
            _, error = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, error


def moments(number: int) -> list[tuple[list[str], float]]:
    """Commands, each at some moment of its first seconds; all commands in turn."""
    source = random.Random(37)  # noqa: S311
    return [(COMMANDS[place % len(COMMANDS)], SECONDS * source.random()) for place in range(number)]


@pytest.mark.parametrize(("words", "seconds"), moments(cases(50)))
def test_weak_point_37_an_interrupt_at_any_moment_is_silent(
    words: list[str], seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, error = interrupted(words, seconds, signal.SIGINT)
    assert status in (0, 130)  # a quick command may have ended before
    assert error == ""
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3][: cases(3)])
def test_weak_point_37_an_interrupt_while_modules_load_has_its_status(seconds: float) -> None:
    assert interrupted(["measures"], seconds, signal.SIGINT) == (130, "")


@pytest.mark.parametrize("seconds", [5.5, 8.5, 7.0, 4.0][: cases(4)])
def test_weak_point_37_workers_are_silent_too(seconds: float) -> None:
    words = ["cv", IRIS, "--target", "species", "--models", "forest", "--repeats", "500", "--jobs", "2"]
    assert interrupted(words, seconds, signal.SIGINT) == (130, "")


# What a command does that waits for ever in the worst moment, and says when that has come.
WAITING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import os
import steelyard.cli
from steelyard.data import whole_files
def wait(_):
    print("here", flush=True)
    {wait}
os.fsync = wait
sys.exit(steelyard.cli.main())
"""
SWALLOWED = """
    class Deaf:
        def __del__(self):
            time.sleep(1)
    Deaf()
    time.sleep(60)
"""
WRAPPED = """
    try:
        time.sleep(60)
    except KeyboardInterrupt as error:
        raise RuntimeError("Error calling __set_name__") from error
"""
LOCKED = """
    import threading
    threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
    threading.Lock().acquire() and threading.Event().wait(60)
"""


@pytest.mark.parametrize("wait", ["time.sleep(60)", SWALLOWED, WRAPPED, LOCKED])
@pytest.mark.parametrize(("number", "status", "said"), [(signal.SIGINT, 130, ""), (signal.SIGTERM, 143, "SIGTERM")])
def test_weak_point_30_a_signal_while_a_file_is_written_leaves_the_old_one(
    wait: str, number: signal.Signals, status: int, said: str, tmp_path: Path
) -> None:
    target = tmp_path / "r.json"
    target.write_text('{"steelyard": "old"}')
    words = ["assess", *LDA, "--measures", "error", "--quiet", f"--json={target}"]
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", WAITING.format(wait=wait.strip()), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        assert len(list(tmp_path.iterdir())) == 2  # the old file, and half of the new one
        time.sleep(0.3)
        os.killpg(process.pid, number)
        _, error = process.communicate(timeout=60)
    assert process.returncode == status
    assert (said in error) and error.count("\n") == bool(said)
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    assert target.read_text() == '{"steelyard": "old"}'


def test_a_process_that_ignores_interrupts_still_does() -> None:
    """As those do that a shell starts in the background."""
    program = PROGRAM.replace("signal.default_int_handler", "signal.SIG_IGN")
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program, "measures"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0


def test_a_call_from_python_leaves_signals_alone() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    from steelyard.cli import main

    assert main(["measures", "--quiet"]) == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())

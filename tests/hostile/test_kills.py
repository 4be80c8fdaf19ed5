"""Killed at any moment while it writes, a command leaves the old file or the new one, whole."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from steelyard.cli import main

from .amount import cases
from .writing import INPUTS, OUTPUTS, inputs, words, write_for_ever

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


def contents(folder: Path, output: str) -> set[bytes]:
    """What the output of each input is, whole."""
    found = set()
    for source in INPUTS:
        assert main(words(folder, source, output)) == 0
        found.add((folder / output).read_bytes())
    assert len(found) == len(INPUTS)
    return found


def killed(folder: Path, output: str, number: int, seconds: float) -> int:
    """Let a process of its own write, and kill it after some time; how it ended."""
    child = os.fork()  # a process that has everything loaded already: it writes at once
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            write_for_ever(folder, output)
        finally:
            os._exit(99)
    time.sleep(seconds)
    os.kill(child, number)
    return os.waitpid(child, 0)[1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning")
def test_a_file_is_the_old_one_or_the_new_one(
    output: str, number: signal.Signals, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs(tmp_path)
    whole = contents(tmp_path, output)
    source = random.Random(f"{output} {number}")  # noqa: S311
    for _ in range(cases(200) // 10):
        status = killed(tmp_path, output, number, source.uniform(0, 0.1))
        assert status != 99 << 8, "it ended by itself"
        assert (tmp_path / output).read_bytes() in whole
    # What was left behind does not stand in the way.
    assert main(words(tmp_path, INPUTS[0], output)) == 0, capsys.readouterr().err
    assert (tmp_path / output).read_bytes() in whole

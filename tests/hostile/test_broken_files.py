"""Three hundred hostile files: a right number or a clear error that names the file; no traceback, no hang."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import EmptyInput, SteelyardError, UnreadableFile

from .amount import cases
from .broken_files import Hostile, Rows, hostile_files

SECONDS = 60  # generous, since machines are shared: what hangs never ends
TURNS = 10
SCALE = sy.Scale(["no", "yes"], event="yes")


@contextmanager
def ending_in_time(what: object) -> Iterator[None]:
    """Make an error of what hangs."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"{what} hangs")

    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def table_of(rows: Rows) -> list[list[float]]:
    return [[sum(row == (true, said) for row in rows) for said in SCALE.classes] for true in SCALE.classes]


def outcome(source: Path, engine: str | None) -> list[list[float]] | SteelyardError:
    """The confusion table of a file, or the library's own error; a warning or any other error fails the test."""
    try:
        found = sy.assess(source, truth="y", assigned="m", scale=SCALE, measures=["accuracy"], engine=engine)
    except SteelyardError as error:
        return error
    table: list[list[float]] = found.confusion().tolist()
    return table


def check(one: Hostile, folder: Path) -> None:
    folder.mkdir()
    for name, content in one.files.items():
        (folder / name).write_bytes(content)
    source = folder if len(one.files) > 1 else folder / next(iter(one.files))
    for engine in (None, "local"):
        found = outcome(source, engine)
        if isinstance(found, SteelyardError):
            message = str(found)
            assert message.isprintable()
            assert any(name in message for name in one.files), f"no file is named: {message}"
            assert one.verdict != "read", message
        else:
            assert one.verdict != "refused", found
            assert one.soundless or one.rows is not None, f"no number is right, yet {found}"
            assert one.soundless or found == table_of(one.rows or []), found


def check_command(one: Hostile, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line says the same in one line."""
    source = folder if len(one.files) > 1 else folder / next(iter(one.files))
    words = ["assess", str(source), "--truth", "y", "--assigned", "m", "--event", "yes", "--scale", "no,yes"]
    status = main([*words, "--measures", "accuracy", "--quiet"])
    said = capsys.readouterr()
    if isinstance(outcome(source, None), SteelyardError):
        assert status == 2
        assert said.err.startswith("error: ")
        assert said.err.count("\n") == 1
        assert any(name in said.err for name in one.files), said.err
    else:
        assert status == 0, said.err


def test_one_file_without_rows_is_named(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("y,m\n")
    found = outcome(tmp_path / "day.csv", None)
    assert isinstance(found, EmptyInput)
    assert found.file is not None
    assert "day.csv" in found.file


@pytest.mark.parametrize("place", ["y", "m"])
def test_labels_that_are_not_in_utf8_are_found_though_the_classes_are_named(place: str, tmp_path: Path) -> None:
    odd = {"y": b"y\xffes,no\n", "m": b"yes,n\xffo\n"}[place]
    (tmp_path / "day.csv").write_bytes(b"y,m\nyes,no\nno,no\n" + odd)
    found = outcome(tmp_path / "day.csv", None)
    assert isinstance(found, UnreadableFile)
    assert (found.column, found.row) == (place, 2)
    assert "day.csv" in str(found)
    assert "UTF-8" in found.mend


@pytest.mark.parametrize("turn", range(TURNS))
def test_a_right_number_or_an_error_that_names_the_file(
    turn: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed, one in hostile_files(range(turn, cases(300), TURNS)):
        try:
            with ending_in_time(one.kind):
                check(one, tmp_path / str(seed))
                check_command(one, tmp_path / str(seed), capsys)
        except BaseException as error:
            error.add_note(f"the file with the seed {seed}: {one.kind}")
            raise

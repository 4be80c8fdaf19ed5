"""Where the disk is full, the old file stays whole, nothing is left behind, and one line says why."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli import main

from .amount import cases
from .writing import INPUTS, OUTPUTS, inputs, words

STEPS = ("open", "write", "sync", "replace")


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes, as on a disk that is full."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def check_failed(folder: Path, output: str, old: bytes | None, status: int, said: str) -> None:
    """The command failed in one line, and the folder is as it was."""
    assert status in (2, 3), said
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert output in said
    kept = {*INPUTS, *([] if old is None else [output])}
    assert {path.name for path in folder.iterdir()} == kept
    assert old is None or (folder / output).read_bytes() == old


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_file_can_grow(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs(tmp_path)
    source = random.Random(output)  # noqa: S311
    for old in (False, True):
        if old:
            assert main(words(tmp_path, INPUTS[0], output)) == 0
        before = (tmp_path / output).read_bytes() if old else None
        for _ in range(cases(100, part=25)):
            size = source.choice([0, 1, 100, source.randrange(1500)])  # the smallest output has more
            with no_file_above(size):
                status = main(words(tmp_path, INPUTS[1], output))
            check_failed(tmp_path, output, before, status, capsys.readouterr().err)
    assert main(words(tmp_path, INPUTS[1], output)) == 0
    assert (tmp_path / output).read_bytes() != before


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_any_step_of_writing_may_fail(
    step: str, output: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    inputs(tmp_path)
    assert main(words(tmp_path, INPUTS[0], output)) == 0
    before = (tmp_path / output).read_bytes()
    with monkeypatch.context() as patch:
        fail_at(step, number, patch)
        status = main(words(tmp_path, INPUTS[1], output))
    check_failed(tmp_path, output, before, status, capsys.readouterr().err)


def fail_at(step: str, number: int, patch: pytest.MonkeyPatch) -> None:
    """Let one step of writing a file fail, whatever the file is."""

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    if step == "sync":
        patch.setattr(os, "fsync", fail)
    elif step == "replace":
        patch.setattr(Path, "replace", fail)
        patch.setattr(os, "replace", fail)
    elif step == "open":
        making = os.open
        patch.setattr(
            os, "open", lambda path, flags, *more: (fail if flags & os.O_CREAT else making)(path, flags, *more)
        )
        patch.setattr(Path, "open", fail)
    else:
        opened, made = Path.open, os.fdopen
        patch.setattr(Path, "open", lambda *given: Failing(opened(*given), fail))
        patch.setattr(os, "fdopen", lambda *given: Failing(made(*given), fail))


class Failing:
    """A file into which nothing can be written."""

    def __init__(self, file: Any, fail: Any) -> None:
        self.file, self.write = file, fail

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> Failing:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount a disk")
def test_a_disk_that_is_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A disk of 512 kB that another file fills, and that has room again afterwards."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(  # noqa: S603
        ["/bin/mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        inputs(disk)
        small = [output for output in OUTPUTS if output != "page.html"]
        for output in small:
            assert main(words(disk, INPUTS[0], output)) == 0, capsys.readouterr().err
        before = {output: (disk / output).read_bytes() for output in small}
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096):
                    pass
            except OSError as error:
                assert error.errno == errno.ENOSPC
        for output in small:
            assert main(words(disk, INPUTS[1], output)) in (2, 3)
            said = capsys.readouterr().err
            assert said.count("\n") == 1
            assert said.startswith("error: ")
            assert output in said
        assert {output: (disk / output).read_bytes() for output in small} == before
        assert not list(disk.glob("*.part"))
        (disk / "filler").unlink()
        for output in small:
            assert main(words(disk, INPUTS[1], output)) == 0
            assert (disk / output).read_bytes() != before[output]
    finally:
        subprocess.run(["/bin/umount", str(disk)], check=True)  # noqa: S603

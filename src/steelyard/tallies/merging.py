"""Tallies on disk: which there are, what they add up to, and which of them need not be made again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from ..door.remarks import joined, on_passed
from ..errors import LONG, EmptyInput, SteelyardError, UnreadableFile, UnwritableFile, quoted
from ..files.folders import below, globbed
from ..files.paths import UNREAD, File, Listed, mend_for_missing, once
from ..scale import Continuum, Scale
from ..sums.tree import Sum
from .plan import Plan
from .tally import Tally

ENDING = ".tally"


def tally_paths(names: Sequence[str], seen: Listed | None = None) -> list[Path]:
    """Return the tallies that names stand for: files, patterns, and folders with all that lie in them.

    What is passed over, and what the system does not let us look at, is found in ``seen`` where that is given.
    """
    listed = Listed() if seen is None else seen
    for name in names:
        before = len(listed.files)
        try:
            _list_tallies(name, listed)
        except (OSError, ValueError) as error:
            raise UnreadableFile(f"{quoted(name, LONG)} is no name of a file", mend=quoted(str(error), 120)) from None
        if seen is None or len(listed.files) == before:
            listed.refuse_unread()
        if len(listed.files) == before:
            raise _no_tally(name)
    return [Path(file.path) for file in once(listed.files)]


def _list_tallies(name: str, listed: Listed) -> None:
    """Sort what one name stands for; of a folder, what is called like a tally."""
    if Path(name).is_dir():
        folders = below(name, told=listed.unread.append)
        inside = [str(Path(folder, one)) for folder, files in folders for one in files if ENDING in one.lower()]
        for path in sorted(inside):
            listed.take(path, lambda one: one.endswith(ENDING))
    else:
        for path in sorted({*globbed(name, listed.unread.append)}):
            listed.take(path)


def _no_tally(name: str) -> UnreadableFile:
    """Return the error of a name that stands for no tally."""
    if Path(name).is_dir():
        return UnreadableFile(f"there is no tally {quoted(name, LONG)}", mend=f"The folder has no {ENDING} file")
    if Path(name).exists():
        return UnreadableFile(f"{quoted(name, LONG)} is no file: pipes and devices are not read", mend=UNREAD)
    return UnreadableFile(f"there is no tally {quoted(name, LONG)}", mend=mend_for_missing(name))


def merged(paths: Sequence[Path], skip: bool = False, seen: Listed | None = None) -> Tally:
    """The sum of tallies; one that does not go with the first is named, and stops the run or is left out.

    Its notes name what was passed over when the tallies were looked for.
    """
    listed = Listed() if seen is None else seen
    if not skip:
        listed.refuse_unread()
    first: Tally | None = None
    total: Sum[Tally] = Sum()
    left_out: list[SteelyardError] = [*listed.unread]
    for path in paths:
        try:
            tally = Tally.load(path)
            if first is not None:
                first.refuse_unlike(tally)
            first = tally if first is None or not len(first.sums.keys) else first
        except SteelyardError as error:
            named = error.within(str(path), None)
            if not skip:
                raise named from None
            left_out.append(named)
        else:
            total.add(tally)
    found = total.total()
    if found is None:
        raise left_out[0]
    remarks = joined(found.remarks, on_passed(listed.passed))
    return replace(found, left_out=found.left_out + tuple(map(str, left_out)), remarks=remarks)


def each_tally(
    plan: Plan, scale: Scale, labels: dict[str, bool], folder: Path, resume: bool
) -> Iterator[tuple[File, Tally | SteelyardError | None]]:
    """Make one tally a file, in a folder; None where it was there, and the fault where a file is left out."""
    targets = tally_names([file.path for file in plan.files.files])
    for file in plan.files.files:
        target = folder / targets[file.path]
        if resume and _is_there(target, file, plan, scale, labels):
            yield file, None
            continue
        try:
            tally = _of_one(plan, file, scale, labels)
        except SteelyardError as error:
            if not plan.skip:
                raise
            yield file, error
            continue
        _make_folder(target.parent)
        tally.save(target)
        yield file, tally


def tally_names(paths: Sequence[str]) -> dict[str, str]:
    """What the tally of each file is called: like the file, below the folders that all of them share."""
    root = _common(paths)
    return {path: f"{'/'.join(PurePath(path).parts[root:])}{ENDING}" for path in paths}


def _of_one(plan: Plan, file: File, scale: Scale, labels: dict[str, bool]) -> Tally:
    # Rows of one file may all weigh nothing, as those of a batch may: others are added later.
    request = replace(plan.request, door=replace(plan.request.door, part=True))
    # What was passed over is told by one of the tallies, so that it is told once by their sum.
    passed = plan.files.passed if file is plan.files.files[0] else ()
    files = replace(plan.files, files=(file,), watch=None, passed=passed)
    alone = replace(plan, request=request, files=files, left_out={}, skip=False)
    try:
        return alone.tally(scale, labels)
    except EmptyInput:
        empty = Tally.empty(scale, list(plan.request.models))
        return replace(empty, reading=plan.reading, remarks=on_passed(passed))


def _common(paths: Sequence[str]) -> int:
    """How many folders all paths begin with."""
    parts = [PurePath(path).parts[:-1] for path in paths]
    same = 0
    while all(len(one) > same and one[same] == parts[0][same] for one in parts):
        same += 1
    return same


def _is_there(target: Path, file: File, plan: Plan, scale: Scale, labels: dict[str, bool]) -> bool:
    """Whether a tally is whole, was made in the same way, and is no older than its file."""
    try:
        tally = Tally.load(target)
        fresh = file.system is not None or os.stat(file.path).st_mtime <= target.stat().st_mtime  # noqa: PTH116
    except (SteelyardError, OSError):
        return False
    rows = plan.settings is not None and (isinstance(scale, Continuum) or not all(labels.values()))
    if len(tally.sums.keys) and tally.tells_rows != rows:
        return False  # it is of counts alone, and scores are asked for, or the other way round
    return fresh and (tally.scale, tally.models, tally.reading) == (scale, tuple(plan.request.models), plan.reading)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFile(
            f"the folder {quoted(str(folder), LONG)} cannot be made", mend=quoted(str(error), 120)
        ) from None

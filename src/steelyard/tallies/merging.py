"""Tallies on disk: which there are, what they add up to, and which of them need not be made again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from ..errors import LONG, EmptyInput, SteelyardError, UnreadableFile, UnwritableFile, quoted
from ..files.paths import File, below, globbed, mend_for_missing, once
from ..scale import Continuum, Scale
from ..sums.tree import Sum
from .plan import Plan
from .tally import Tally

ENDING = ".tally"


def tally_paths(names: Sequence[str]) -> list[Path]:
    """The tallies that names stand for: files, patterns, and folders with all that lie in them."""
    found: list[str] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = [str(Path(folder, one)) for folder, files in below(name) for one in files if one.endswith(ENDING)]
            here = sorted(inside)
        else:
            # A file that is not there is refused when it is loaded; a pattern without a file has nothing to load.
            here = [name] if path.is_file() else sorted(globbed(name))
        if not here:
            mend = f"The folder has no {ENDING} file" if path.is_dir() else mend_for_missing(name)
            raise UnreadableFile(f"there is no tally {quoted(name, LONG)}", mend=mend)
        found += here
    return [Path(file.path) for file in once(File(one, one) for one in found)]


def merged(paths: Sequence[Path], skip: bool = False) -> Tally:
    """The sum of tallies; one that does not go with the first is named, and stops the run or is left out."""
    first: Tally | None = None
    total: Sum[Tally] = Sum()
    left_out = []
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
    return replace(found, left_out=found.left_out + tuple(map(str, left_out)))


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
    files = replace(plan.files, files=(file,), watch=None)
    alone = replace(plan, request=request, files=files, left_out={}, skip=False)
    try:
        return alone.tally(scale, labels)
    except EmptyInput:
        return replace(Tally.empty(scale, list(plan.request.models)), reading=plan.reading)


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

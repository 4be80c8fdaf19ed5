"""Tallies on disk: which there are, what they add up to, and which of them need not be made again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path, PurePath
from typing import Any

from ..core.errors import (
    LONG,
    BadOption,
    EmptyInput,
    OverlappingTallies,
    SteelyardError,
    UnreadableFile,
    UnwritableFile,
    quoted,
)
from ..core.scale import Continuum, Scale
from ..data.digests import FILE, Source, address_of, is_gone, is_untouched, short
from ..data.engines.engine import TreeSum
from ..data.paths import UNREAD, File, Listed, below, globbed, mend_for_missing, once
from ..inputs.remarks import joined, on_passed
from .plan import Plan
from .provenance import OVERLAP, check_no_overlap, settled
from .tally import Tally

ENDING, ASIDE = ".tally", ".gone"
LONGEST_NAME = 120  # bytes of the name of a file that stand in that of its tally


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
            listed.check_all_read()
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


def _tallies_in(folder: Path) -> list[Path]:
    """Return the tallies in a folder, and in those in it; pipes and devices are none."""
    listed = Listed()
    _list_tallies(str(folder), listed)
    return [Path(file.path) for file in listed.files]


def merge(tallies: Iterable[Tally | str | Path], *, allow_overlap: bool = False) -> Tally:
    """Return the sum of tallies that were made of other rows each.

    Args:
        tallies: Tallies, or the files that they were saved to.
        allow_overlap: Whether rows of a source may count more than once: the same file in two tallies, or a total
            beside a part of it. The notes of the result say which.

    Returns:
        The tally of all rows.
    """
    if isinstance(tallies, str | Path | Tally):
        tallies = [tallies]
    try:
        several = list(tallies)
    except TypeError:
        raise BadOption(f"{quoted(tallies)} are no tallies", mend="Give a list of tallies, or of their files") from None
    return _added(((_name(one, place), one) for place, one in enumerate(several)), allow_overlap=allow_overlap)


def merged(paths: Sequence[Path], skip: bool = False, seen: Listed | None = None, allow_overlap: bool = False) -> Tally:
    """Return the sum of tallies; one that does not go with the first is named, and stops the run or is left out.

    Its notes name what was passed over when the tallies were looked for.
    """
    listed = Listed() if seen is None else seen
    if not skip:
        listed.check_all_read()
    found = _added(((str(path), path) for path in paths), skip, allow_overlap)
    unread = tuple(map(str, listed.unread))
    remarks = joined(found.remarks, on_passed(listed.passed))
    return replace(found, left_out=unread + found.left_out, remarks=remarks)


def _name(tally: Any, place: int) -> str:
    return f"tally {place + 1}" if isinstance(tally, Tally) else str(tally)


def _added(tallies: Iterable[tuple[str, Any]], skip: bool = False, allow_overlap: bool = False) -> Tally:
    first: Tally | None = None
    total: TreeSum[Tally] = TreeSum(lambda one, other: one.joined(other, allow_overlap=True))  # it was seen to before
    left_out: list[SteelyardError] = []
    seen = Overlaps()
    for name, one in tallies:
        try:
            tally = one if isinstance(one, Tally) else Tally.load(one)
            if first is not None:
                first.check_addable(tally)
            if not allow_overlap:
                seen.refuse(name, tally)
            first = tally if first is None or not len(first.sums.keys) else first
        except SteelyardError as error:
            named = error if isinstance(error, OverlappingTallies | BadOption) else error.within(name, None)
            if not skip:
                raise named from None
            left_out.append(named)
        else:
            seen.add(name, tally)
            total.add(tally)
    found = total.total()
    if found is None:
        raise left_out[0] if left_out else EmptyInput("there is no tally", mend="Give at least one")
    return replace(found, left_out=found.left_out + tuple(map(str, left_out)))


class Overlaps:
    """Knows the sources of tallies, and which of them counts which."""

    def __init__(self) -> None:
        self.known: dict[str, list[tuple[Source, str]]] = {}
        self.tallies: dict[int, str] = {}

    def refuse(self, name: str, tally: Tally) -> None:
        """Refuse a tally that counts rows of another one before it; both are named."""
        theirs = settled(tally.sources)
        if id(tally) in self.tallies and len(tally.sums.keys):
            raise OverlappingTallies(f"{self.tallies[id(tally)]} and {name} are the same tally", mend=OVERLAP)
        for source in theirs:
            for key in {source.place, source.digest} - {""}:
                for other, first in self.known.get(key, ()):
                    check_no_overlap([other], [source], (_shown(first), _shown(name)))

    def add(self, name: str, tally: Tally) -> None:
        """Keep the sources of a tally."""
        self.tallies[id(tally)] = name
        for source in settled(tally.sources):
            for key in {source.place, source.digest} - {""}:
                self.known.setdefault(key, []).append((source, name))


def _shown(name: str) -> str:
    return name if name.startswith("tally ") else quoted(name, LONG)


# --- one tally a file -------------------------------------------------------------------------------------------


def each_tally(
    plan: Plan, scale: Scale, labels: dict[str, bool], folder: Path, resume: bool, rows: bool = False
) -> Iterator[tuple[File, Tally | SteelyardError | None]]:
    """Make one tally a file, in a folder; None where it was there, and the fault where a file is left out."""
    for file in plan.files.files:
        target = folder / tally_name(file)
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
        tally.save(target, rows)
        yield file, tally


def tally_name(file: File) -> str:
    """What the tally of a file is called: like the file, and by a digest of its address, whatever else is there."""
    plain = "".join(
        sign if sign.isprintable() and sign not in '/\\:*?"<>|' else "_" for sign in PurePath(file.path).name
    )
    while len(plain.encode(errors="replace")) > LONGEST_NAME:
        plain = plain[:-1]
    return f"{plain}-{short(address_of(file))}{ENDING}"


def set_aside(
    folder: Path, files: Sequence[File], names: Sequence[str], faulty: Sequence[File] = ()
) -> tuple[list[tuple[Path, Path]], list[Path]]:
    """Move tallies aside whose files are gone or were left out, and those that an older version made.

    ``names`` are those by which the files were found: below the folders that they name, all files are known. Returns
    which tallies were moved and where to, and the tallies of other files, or of sources that nobody knows.
    """
    expected, spoilt = {tally_name(file) for file in files}, {tally_name(file) for file in faulty}
    plain = {PurePath(file.path).name for file in (*files, *faulty)}
    roots = [*dict.fromkeys(Path(_root(name)) for name in names if "://" not in name)]
    gone, left = [], []
    for path in _tallies_in(folder) if folder.is_dir() else ():
        if path.parent == folder and path.name in expected:
            continue
        try:
            sources = Tally.load(path).sources
        except SteelyardError:
            continue  # merge will say so
        known = [source for source in sources if source.kind == FILE]
        # Older versions named tallies after their files alone, and did not write down what they were made of.
        old = not known and path.name.removesuffix(ENDING) in plain
        ours = len(known) == 1 and path.name.endswith(f"-{known[0].place}{ENDING}")
        if old or path.name in spoilt or (ours and is_gone(known[0], roots)):
            gone.append((path, _aside(path)))
        else:
            left.append(path)
    return gone, left


def _aside(path: Path) -> Path:
    aside = path.with_name(f"{path.name}{ASIDE}")
    try:
        path.replace(aside)
    except OSError as error:
        raise UnwritableFile(
            f"{quoted(str(path), LONG)} is the tally of a file that is not there any more, and cannot be moved aside",
            mend=quoted(str(error), 120),
        ) from None
    return aside


def _root(name: str) -> str:
    """The folder below which all files of a name lie."""
    if Path(name).is_dir():
        return name
    if Path(name).exists() or not has_magic(name):
        return str(Path(name).parent)
    parts = PurePath(name).parts
    return str(PurePath(*parts[: next(place for place, part in enumerate(parts) if has_magic(part))]))


def _of_one(plan: Plan, file: File, scale: Scale, labels: dict[str, bool]) -> Tally:
    # Rows of one file may all weigh nothing, as those of a batch may: others are added later.
    request = replace(plan.request, validator=replace(plan.request.validator, part=True))
    # What was passed over is told by one of the tallies, so that it is told once by their sum.
    passed = plan.files.passed if file is plan.files.files[0] else ()
    files = replace(plan.files, files=(file,), watch=None, passed=passed)
    alone = replace(plan, request=request, files=files, left_out={}, skip=False)
    try:
        return alone.tally(scale, labels)
    except EmptyInput:
        return replace(
            Tally.empty(scale, list(plan.request.models)),
            reading=plan.reading(scale),
            sources=(Source.of(file),),
            remarks=on_passed(passed),
        )


def _is_there(target: Path, file: File, plan: Plan, scale: Scale, labels: dict[str, bool]) -> bool:
    """Whether a tally is whole, was made in the same way, and of the file as it is now."""
    try:
        tally = Tally.load(target)
    except SteelyardError:
        return False
    rows = plan.settings is not None and (isinstance(scale, Continuum) or not all(labels.values()))
    if len(tally.sums.keys) and tally.tells_rows != rows:
        return False  # it is of counts alone, and scores are asked for, or the other way round
    if (tally.scale, tally.models, tally.reading) != (scale, tuple(plan.request.models), plan.reading(scale)):
        return False
    return len(tally.sources) == 1 and is_untouched(tally.sources[0], file, plan.columns)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFile(
            f"the folder {quoted(str(folder), LONG)} cannot be made", mend=quoted(str(error), 120)
        ) from None

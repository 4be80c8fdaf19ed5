"""What lies in folders of this machine: all below one, all that a pattern stands for, and tables of data lakes.

Delta, Iceberg and Hudi tables are folders of which a log says which files count: they are not read as files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from ..core.errors import LONG, UnreadableFile, quoted

Told = Callable[[UnreadableFile], None]
# How to read the current rows of a table, by its kind.
READERS = {
    "Delta": "deltalake.DeltaTable({0}).to_pyarrow_table()",
    "Hudi": "pyarrow.Table.from_batches(hudi.HudiTable({0}).read_snapshot())",
    "Iceberg": "pyiceberg.table.StaticTable.from_metadata({0}).scan().to_arrow()",
}
LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
PLACES = {"Delta": "_delta_log", "Hudi": ".hoodie", "Iceberg": "metadata"}
METADATA = re.compile(r".*\.metadata\.json(\.gz)?")
NUMBERED = re.compile(r"v?\d+(-.*)?(\.gz)?\.metadata\.json(\.gz)?")  # what Iceberg itself calls its metadata


def stop(fault: UnreadableFile) -> None:
    """Raise the fault: a folder that cannot be read may hold rows."""
    raise fault


def unreadable(path: str, error: OSError) -> UnreadableFile:
    """Return the error of a file or folder that the system does not let us look at."""
    why = quoted(error.strerror or str(error), 120)
    mend = "Check the permissions, or leave it out with on_error='skip'"
    return UnreadableFile(f"it cannot be looked at: {why}", file=path, mend=mend)


def place_of(path: str) -> tuple[int, int]:
    """Return what a file or folder of this machine is known by, whatever it is called."""
    found = Path(path).stat()
    return found.st_dev, found.st_ino


def below(
    root: str, hidden: Callable[[str], bool] = lambda _: False, told: Told = stop
) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder with the names of its files; one to which links lead in several ways, or round, comes once.

    ``told`` hears of each folder that cannot be read.
    """

    def fault(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            told(unreadable(str(error.filename), error))

    met = set()
    for folder, folders, names in os.walk(root, followlinks=True, onerror=fault):
        if place_of(folder) in met:
            folders.clear()
            continue
        met.add(place_of(folder))
        folders[:] = sorted(one for one in folders if not hidden(one))
        yield folder, names


def globbed(pattern: str, told: Told = stop) -> Iterator[str]:
    """Yield each path that a pattern stands for, files and folders; ``told`` hears of folders that cannot be read."""
    parts = PurePath(pattern).parts
    deep = parts.index("**") if "**" in parts else len(parts)
    for head in _expanded("", parts[:deep], told) if parts else ():
        if deep == len(parts):
            yield head
        else:
            yield from _below(head, parts[deep:], told)


def _expanded(folder: str, parts: Sequence[str], told: Told) -> Iterator[str]:
    """Yield the paths of a pattern without ``**``, folder by folder."""
    if not parts:
        yield folder
        return
    for path in _in(folder, parts[0], told):
        yield from _expanded(path, parts[1:], told)


def _in(folder: str, part: str, told: Told) -> list[str]:
    """Return the paths in a folder that one part of a pattern stands for."""
    from fnmatch import filter as chosen
    from glob import has_magic

    path = str(PurePath(folder, part))
    try:
        if not has_magic(part):
            os.lstat(path)
            return [path]
        names = [one.name for one in Path(folder or ".").iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        told(unreadable(path if not has_magic(part) else folder or ".", error))
        return []
    seen = [name for name in chosen(names, part) if part.startswith(".") or not name.startswith(".")]
    return [str(PurePath(folder, name)) for name in sorted(seen)]


def _below(root: str, parts: Sequence[str], told: Told) -> Iterator[str]:
    """Yield the paths below a folder that a pattern stands for which begins with ``**``."""
    start = len(PurePath(root).parts)
    for folder, names in below(root or ".", lambda name: name.startswith("."), told):
        inner = PurePath(folder).parts[start:]
        if inner and parts[-1] != "**" and matches(inner, parts):
            yield folder
        for name in names:
            if not name.startswith(".") and matches([*inner, name], parts):
                yield str(PurePath(folder, name))


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Compare a path with a pattern, folder by folder; two stars stand for any number of folders."""
    from fnmatch import fnmatchcase

    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(matches(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and matches(parts[1:], pattern[1:])


# --- tables of data lakes -------------------------------------------------------------------------------------


class LakeTables:
    """The tables of this machine that were looked for, each folder once."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}
        self._clear: set[PurePath] = set()

    def refuse(self, folder: str) -> None:
        """Refuse a folder that is a table."""
        kind = self._kind(folder)
        if kind is not None:
            raise refused_table(folder, kind)

    def check_part(self, path: str) -> None:
        """Refuse a file inside of a table: whether its rows still count is in the log."""
        folder = PurePath(path).parent
        if folder not in self._clear:
            self._check_inside(path, os.path.abspath(folder), os.path.realpath(folder))  # noqa: PTH100
            self._clear.add(folder)
        if Path(path).is_symlink():
            self._check_inside(path, str(PurePath(os.path.realpath(path)).parent))

    def _check_inside(self, path: str, *places: str) -> None:
        for place in dict.fromkeys(places):
            for folder in (place, *map(str, PurePath(place).parents)):
                kind = self._kind(folder)
                if kind is not None:
                    raise refused_table(folder, kind, path)

    def _kind(self, folder: str) -> str | None:
        if folder not in self._known:
            self._known[folder] = _kind_of(folder)
        return self._known[folder]


def _kind_of(folder: str) -> str | None:
    """Return what kind of table a folder is; None where it is none, or cannot be looked at."""
    with suppress(OSError):
        for name, kind in LOGS.items():
            if Path(folder, name).is_dir():
                return kind
    return "Iceberg" if _metadata_in(folder) else None


def _metadata_in(folder: str) -> list[str]:
    """Return the files of metadata of an Iceberg table, the newest last; none where a folder is no such table."""
    with suppress(OSError):
        data = Path(folder, "data").is_dir()
        found = [one for one in Path(folder, "metadata").iterdir() if _is_metadata(one.name, data)]
        return [str(one) for one in sorted(found, key=lambda one: (one.stat().st_mtime_ns, one.name))]
    return []


def _is_metadata(name: str, data: bool) -> bool:
    """Whether a file is metadata of Iceberg; one that Iceberg would call otherwise is where its data lie beside."""
    return bool((METADATA if data else NUMBERED).fullmatch(name))


def tables_among(paths: Iterable[str]) -> dict[str, str]:
    """Return the folders that are tables, with their kinds, by the paths of all files of a store."""
    found: dict[str, str] = {}
    metadata: list[tuple[str, str]] = []
    folders: set[str] = set()
    for path in paths:
        parts = path.split("/")
        folders.update("/".join(parts[:end]) for end in range(1, len(parts)))
        for place, part in enumerate(parts):
            if part in LOGS:
                found["/".join(parts[:place])] = LOGS[part]
        if len(parts) > 1 and parts[-2] == "metadata":
            metadata.append(("/".join(parts[:-2]), parts[-1]))
    for root, name in metadata:
        if _is_metadata(name, f"{root}/data".lstrip("/") in folders or f"{root}/data" in folders):
            found.setdefault(root, "Iceberg")
    return found


def refused_table(folder: str, kind: str, part: str | None = None) -> UnreadableFile:
    """Return the error of a table, or of a part of one."""
    name = quoted(folder, LONG)
    what = f"{name} is" if part is None else f"{quoted(part, LONG)} is part of {name},"
    newest = [f"{folder}/metadata/<newest>.metadata.json", *_metadata_in(folder)][-1]
    reader = READERS[kind].format(quoted(newest if kind == "Iceberg" else folder, LONG))
    return UnreadableFile(
        f"{what} {'an' if kind == 'Iceberg' else 'a'} {kind} table: its log ({PLACES[kind]}) says which rows count",
        mend=f"Read the table, and give assess the frame: {reader}",
    )

"""Delta, Iceberg and Hudi tables: folders of which a log says which files count, so that they are not read as files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath

from ..core.errors import LONG, UnreadableFile, quoted

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


class LakeTables:
    """The tables of this machine that were looked for, each folder once."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}
        self._clear: set[PurePath] = set()

    def refuse(self, folder: str) -> None:
        """Refuse a folder that is a table."""
        kind = self._kind(folder)
        if kind is not None:
            raise refused(folder, kind)

    def refuse_part(self, path: str) -> None:
        """Refuse a file inside of a table: whether its rows still count is in the log."""
        folder = PurePath(path).parent
        if folder not in self._clear:
            self._refuse_inside(path, os.path.abspath(folder), os.path.realpath(folder))  # noqa: PTH100
            self._clear.add(folder)
        if Path(path).is_symlink():
            self._refuse_inside(path, str(PurePath(os.path.realpath(path)).parent))

    def _refuse_inside(self, path: str, *places: str) -> None:
        for place in dict.fromkeys(places):
            for folder in (place, *map(str, PurePath(place).parents)):
                kind = self._kind(folder)
                if kind is not None:
                    raise refused(folder, kind, path)

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


def refused(folder: str, kind: str, part: str | None = None) -> UnreadableFile:
    """Return the error of a table, or of a part of one."""
    name = quoted(folder, LONG)
    what = f"{name} is" if part is None else f"{quoted(part, LONG)} is part of {name},"
    newest = [f"{folder}/metadata/<newest>.metadata.json", *_metadata_in(folder)][-1]
    reader = READERS[kind].format(quoted(newest if kind == "Iceberg" else folder, LONG))
    return UnreadableFile(
        f"{what} {'an' if kind == 'Iceberg' else 'a'} {kind} table: its log ({PLACES[kind]}) says which rows count",
        mend=f"Read the table, and give assess the frame: {reader}",
    )

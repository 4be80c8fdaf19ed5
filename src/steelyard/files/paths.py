"""Which files a name stands for: one file, a pattern, a folder with all that lies in it, here or in an object store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote

from ..errors import LONG, SteelyardError, UnreadableFile, quoted
from ..suggestions import did_you_mean

PLAIN = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather")
TEXT = (".csv", ".tsv", ".txt")
FOREIGN = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "Save the sheet as CSV, or give assess the frame of pandas.read_excel"),
    **dict.fromkeys(
        (".json", ".jsonl", ".ndjson"), "Turn it into CSV or Parquet, or give assess the frame of pandas.read_json"
    ),
    **dict.fromkeys((".npy", ".npz"), "Load it and give assess the arrays: assess(numpy.load(...), ...)"),
}
SQUEEZED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
PATIENCE = 20  # seconds
RAGGED = re.compile(r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
# Of rows that come once, nobody could say in a second pass what the first has found.
UNREAD = "Rows are read more than once: write them to a file first, `cat > data.csv`, and name that"
NOBODY = "__HIVE_DEFAULT_PARTITION__"  # what Hive calls the folder of rows without a value


@dataclass(frozen=True)
class File:
    """A file that has been found, but not opened.

    Attributes:
        path: Where it is within its file system.
        shown: What messages call it.
        system: The file system; None for that of this machine.
        keys: The values that folders called key=value on the way to it give to all of its rows.
        size: Its length in bytes.
    """

    path: str
    shown: str
    system: Any = None
    keys: Mapping[str, str | None] = field(default_factory=dict)
    size: int = 0

    @property
    def ending(self) -> str:
        """What the file is, by its name; the ending of a compression left aside."""
        endings = PurePath(self.path.lower()).suffixes
        plain = endings[:-1] if endings and endings[-1] in SQUEEZED else endings
        return plain[-1] if plain else ""

    @property
    def compression(self) -> str | None:
        """The codec, by the last ending of the name."""
        return SQUEEZED.get(PurePath(self.path.lower()).suffix)

    @property
    def name(self) -> str:
        """Its name without the folders."""
        return quoted(PurePath(self.path).name)

    @property
    def where(self) -> Any:
        """Its file system as Arrow knows it."""
        from pyarrow import fs

        return fs.LocalFileSystem() if self.system is None else self.system

    def refuse_unknown(self) -> None:
        """A file is read as what its name says that it is."""
        if self.ending not in PLAIN:
            usual = "Give the file the ending of what it is"
            raise UnreadableFile(
                f"{self.name} ends in none of {', '.join(PLAIN)}", mend=FOREIGN.get(self.ending, usual)
            )
        if self.compression is not None and self.ending not in TEXT:
            raise UnreadableFile(
                f"{self.name} is compressed from outside", mend="Unpack it: Parquet and Arrow compress from within"
            )

    def failed(self, error: Exception) -> SteelyardError:
        """What to say when it cannot be read."""
        if ragged := RAGGED.match(str(error)):
            number, columns, values, text = ragged.groups()
            return UnreadableFile(
                f"{values} values, but {columns} columns: {quoted(text)}",
                file=self.shown,
                row=int(number) - 2,  # Arrow counts from 1, and the names of the columns too
                mend="Every row has one value a column; one that holds a delimiter stands in double quotes",
            )
        return UnreadableFile(
            f"{self.name} cannot be read as {self.ending[1:]}",
            file=self.shown,
            mend=f"It may be damaged: {quoted(str(error), 200)}",
        )


def once(files: Iterable[File]) -> list[File]:
    """Leave out other names of files that were named before: their rows would count twice."""
    first: dict[Hashable, File] = {}
    for file in files:
        first.setdefault(file.shown if file.system is not None else _place(file.path), file)
    return [*first.values()]


def _place(path: str) -> tuple[int, int]:
    """What a file or folder of this machine is known by, whatever it is called."""
    found = Path(path).stat()
    return found.st_dev, found.st_ino


def discover(source: Any) -> list[File]:
    """All files that a name stands for, in the order of their names."""
    name = os.fspath(source)
    if not isinstance(name, str):
        raise UnreadableFile(f"{quoted(name, LONG)} is no name of a file", mend="Give text, not bytes")
    found = _discover_far(name) if "://" in name else _discover_here(name)
    for file in found:
        file.refuse_unknown()
    return found


def _discover_here(name: str) -> list[File]:
    try:
        path = Path(name)
        if path.is_file():
            return [_here(name)]
        if name and path.is_dir():
            return _in_folder(name)
        if name and path.exists():
            raise UnreadableFile(f"{quoted(name, LONG)} is no file: pipes and devices are not read", mend=UNREAD)
        matching = sorted(globbed(name))
        found = [one for one in matching if Path(one).is_file()]
    except SteelyardError:
        raise
    except (OSError, ValueError, TypeError) as error:
        raise UnreadableFile(f"{quoted(name, LONG)} is no name of a file", mend=quoted(str(error), 120)) from None
    if matching and not found:
        mend = f"Name the files in them, as {quoted(f'{name}/**/*.parquet', LONG)}"
        raise UnreadableFile(f"{quoted(name, LONG)} stands for folders", mend=mend)
    if not found:
        raise UnreadableFile(f"there is no file {quoted(name, LONG)}", mend=mend_for_missing(name))
    return once(_here(one) for one in found)


def mend_for_missing(name: str) -> str:
    """What to do about a file that is not there: another of its folder may have been meant."""
    folder, usual = Path(name).parent, "Check name and folder"
    try:
        beside = [str(folder / one.name) for one in folder.iterdir() if not _is_hidden(one.name)]
    except (OSError, ValueError):
        return usual
    return did_you_mean(name, beside, usual)


def _here(path: str) -> File:
    return File(path, path, None, _keys(path), Path(path).stat().st_size)


def globbed(pattern: str) -> Iterator[str]:
    """All paths that a pattern stands for."""
    import glob

    parts = PurePath(pattern).parts
    if "**" not in parts:
        # Path.glob refuses absolute patterns; glob.glob takes both.
        yield from glob.iglob(pattern)  # noqa: PTH207
        return
    wild = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    for folder, names in below(str(PurePath(*parts[:wild])), lambda name: name.startswith(".")):
        inner = PurePath(folder).parts[wild:]
        for name in names:
            if not name.startswith(".") and _matches([*inner, name], parts[wild:]):
                yield str(PurePath(folder, name))


def below(root: str, hidden: Callable[[str], bool] = lambda _: False) -> Iterator[tuple[str, list[str]]]:
    """All folders with the names of their files; one to which links lead in several ways, or round, is met once."""
    met = set()
    for folder, folders, names in os.walk(root, followlinks=True):
        if _place(folder) in met:
            folders.clear()
            continue
        met.add(_place(folder))
        folders[:] = sorted(one for one in folders if not hidden(one))
        yield folder, names


def _in_folder(name: str) -> list[File]:
    found = []
    for folder, names in below(name, _is_hidden):
        found += [str(Path(folder, one)) for one in names if _is_data(one)]
    if not found:
        raise UnreadableFile(
            f"there is no data file in the folder {quoted(name, LONG)}",
            mend=f"Files end in {', '.join(PLAIN)}; names that begin with . or _ are left out",
        )
    return once(_here(path) for path in sorted(found))


def _is_hidden(name: str) -> bool:
    """Marks of success, checksums and halves of files lie beside data under such names."""
    return name.startswith((".", "_"))


def _is_data(name: str) -> bool:
    return not _is_hidden(name) and File(name, name).ending in PLAIN


def _keys(path: str) -> dict[str, str | None]:
    """What folders called key=value say of all rows of a file."""
    pairs = [folder.partition("=") for folder in PurePath(path).parts[:-1] if "=" in folder]
    return {unquote(key): None if value == NOBODY else unquote(value) for key, _, value in pairs if key}


# --- object stores --------------------------------------------------------------------------------------------


def _discover_far(uri: str) -> list[File]:
    import pyarrow as pa

    fixed, pattern = _split_pattern(uri)
    try:
        system, root = file_system(fixed)
        entries = _entries(system, root, pattern is not None)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise UnreadableFile(
            f"{quoted(uri, LONG)} cannot be reached",
            mend=f"Check the address, and what the store asks of you: {quoted(str(error), 200)}",
        ) from None
    folder = any(entry.path.rstrip("/") != root.rstrip("/") for entry in entries)
    chosen = [entry for entry in entries if _chosen(entry.path, root, pattern, folder)]
    if not chosen:
        raise UnreadableFile(f"there is no file {quoted(uri, LONG)}", mend="Check name and folder")
    scheme = uri.partition("://")[0]
    found = [File(e.path, f"{scheme}://{e.path}", system, _keys(e.path), e.size or 0) for e in chosen]
    return sorted(found, key=lambda file: file.path)


def file_system(uri: str) -> tuple[Any, str]:
    """The store that an address names, and the path within it."""
    from pyarrow import fs

    # Google's client would go on trying for a quarter of an hour before it says that it has no rights.
    patient = uri.startswith(("gs://", "gcs://")) and "retry_limit_seconds" not in uri
    limited = f"{uri}{'&' if '?' in uri else '?'}retry_limit_seconds={PATIENCE}" if patient else uri
    system, path = fs.FileSystem.from_uri(limited)
    return system, path


def _split_pattern(uri: str) -> tuple[str, str | None]:
    """The part of an address without stars, and what files below it must be called.

    A question mark is no wildcard in an address: options stand behind it.
    """
    scheme, _, rest = uri.partition("://")
    rest, mark, options = rest.partition("?")
    folders = rest.split("/")
    wild = next((place for place, folder in enumerate(folders) if any(sign in folder for sign in "*[")), None)
    if wild is None:
        return uri, None
    fixed = "/".join(folders[:wild]) or "/"
    return f"{scheme}://{fixed}{mark}{options}", "/".join(folders[wild:])


def _entries(system: Any, root: str, pattern: bool) -> list[Any]:
    from pyarrow import fs

    entry = system.get_file_info(root)
    if entry.type == fs.FileType.File and not pattern:
        return [entry]
    if entry.type == fs.FileType.NotFound:
        return []
    below = system.get_file_info(fs.FileSelector(root, recursive=True))
    return [one for one in below if one.type == fs.FileType.File]


def _chosen(path: str, root: str, pattern: str | None, folder: bool) -> bool:
    inner = path[len(root) :].strip("/") if path.startswith(root) else path
    parts = inner.split("/")
    if pattern is not None:
        return _matches(parts, pattern.split("/"))
    return not folder or (_is_data(parts[-1]) and not any(_is_hidden(part) for part in parts[:-1]))


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Hold a path against a pattern, folder by folder; two stars stand for any number of folders."""
    from fnmatch import fnmatchcase

    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])

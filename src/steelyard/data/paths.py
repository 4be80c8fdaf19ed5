"""Which files a name stands for: one file, a pattern, a folder with all that lies in it, here or in an object store.

Delta, Iceberg and Hudi tables are folders of which a log says which files count: they are not read as files.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from glob import escape
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..core.columns import pa
from ..core.errors import LONG, ChangedInput, SteelyardError, UnreadableFile, quoted
from ..core.suggestions import did_you_mean

PLAIN = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather")
TEXT = (".csv", ".tsv", ".txt")
SYNONYMS = {".pq": ".parquet", ".parq": ".parquet"}
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


class Scanned:
    """What is known of a text file once it was read to its end: its digest, and whether its quotes may not match."""

    def __init__(self) -> None:
        self.digest = ""
        self.doubtful = False


@dataclass(frozen=True)
class File:
    """A file that has been found, but not opened.

    Attributes:
        path: Where it is within its file system.
        shown: What messages call it.
        system: The file system; None for that of this machine.
        keys: The values that folders called key=value on the way to it give to all of its rows.
        size: Its length in bytes.
        mtime: When it was written last, in nanoseconds since 1970; 0 where that is not known.
        origin: The machine on which it was found and its inode there; None in a store.
        changed: When its entry in the file system was changed last, in nanoseconds; 0 in a store.
        taken: The digest of a text file, once that was read.
    """

    path: str
    shown: str
    system: Any = None
    keys: Mapping[str, str | None] = field(default_factory=dict)
    size: int = 0
    mtime: int = 0
    origin: tuple[str, int] | None = None
    changed: int = 0
    taken: Scanned = field(default_factory=Scanned, compare=False, repr=False)

    @property
    def ending(self) -> str:
        """What the file is, by its name; the ending of a compression left aside."""
        endings = PurePath(self.path.lower()).suffixes
        plain = endings[:-1] if endings and endings[-1] in SQUEEZED else endings
        return SYNONYMS.get(plain[-1], plain[-1]) if plain else ""

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
        return pa.fs.LocalFileSystem() if self.system is None else self.system

    def check_ending(self) -> None:
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

    def refuse_changed(self) -> None:
        """See that it is as it was found; on another machine, where times may differ, that it is as long."""
        if self.origin is None and not self.mtime:
            return  # a store that does not tell
        try:
            size, mtime, origin = self._now()
        except OSError:
            raise self._changed("is not there any more") from None
        if size != self.size:
            raise self._changed(f"had {self.size:,} bytes when it was found, and now has {size:,}")
        elsewhere = self.origin is not None and origin is not None and self.origin[0] != origin[0]
        if not elsewhere and (mtime, origin) != (self.mtime, self.origin):
            raise self._changed("was written again since it was found")

    def _now(self) -> tuple[int, int, tuple[str, int] | None]:
        """Return size, time and origin as they are now."""
        if self.system is None:
            seen = Path(self.path).stat()
            return seen.st_size, seen.st_mtime_ns, (platform.node(), seen.st_ino)
        entry = self.system.get_file_info(self.path)
        if entry.size is None:
            raise FileNotFoundError(self.path)
        return entry.size, entry.mtime_ns or 0, self.origin

    def _changed(self, how: str) -> ChangedInput:
        return ChangedInput(
            f"the file {how}: its rows may be of two versions",
            file=self.shown,
            mend="Wait until it is written to its end, and read it again",
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
        first.setdefault(place_of(file.path) if is_here(file) else file.shown, file)
    return [*first.values()]


def is_here(file: File) -> bool:
    """Whether a file lies on this machine, by whatever address it was named."""
    return file.system is None or file.system.type_name == "local"


class Passed(NamedTuple):
    """A file that a name stands for, too, but that is not read: why, as notes are called, and where it is."""

    kind: str
    path: str

    @property
    def name(self) -> str:
        """Its name without the folders."""
        return PurePath(self.path).name


def not_read(passed: Iterable[Passed], files: Iterable[File]) -> tuple[Passed, ...]:
    """Leave out folders of which files are read, and what was passed over twice."""
    read = {str(folder) for file in files for folder in PurePath(file.path).parents}
    return tuple(dict.fromkeys(one for one in passed if one.path not in read))


def discover(source: Any) -> list[File]:
    """Return all files that a name stands for, in the order of their names."""
    found = listed(source)
    found.check_all_read()
    return found.files


def listed(source: Any) -> Listed:
    """Return what a name stands for."""
    name = os.fspath(source)
    if not isinstance(name, str):
        raise UnreadableFile(f"{quoted(name, LONG)} is no name of a file", mend="Give text, not bytes")
    found = _listed_far(name) if "://" in name else _listed_here(name)
    for file in found.files:
        file.check_ending()
    return found


# --- this machine ---------------------------------------------------------------------------------------------


def _listed_here(name: str, shown: str | None = None) -> Listed:
    """Return what a name of this machine stands for; messages may call it otherwise."""
    seen, tables = Listed(), LakeTables()
    try:
        mode = 0 if (known := _known_of(name)) is None else known.st_mode
        if known is None:
            seen.take_pattern(name)
        elif stat.S_ISDIR(mode):
            seen.take_folder(name, tables)
        elif stat.S_ISREG(mode):
            seen.take(name)
        else:
            raise UnreadableFile(f"{quoted(name, LONG)} is no file: pipes and devices are not read", mend=UNREAD)
    except SteelyardError:
        raise
    except (OSError, ValueError, TypeError) as error:
        raise UnreadableFile(f"{quoted(name, LONG)} is no name of a file", mend=quoted(str(error), 120)) from None
    alone = stat.S_ISREG(mode)
    for file in seen.files:
        if not alone or file.ending not in TEXT:  # text is no part of a table, but may have been put beside one
            tables.check_part(file.path)
    if not seen.files:
        raise seen.nothing(name if shown is None else shown, folder=known is not None)
    seen.files = once(seen.files)
    return seen


def _known_of(path: str) -> os.stat_result | None:
    """Return what the system knows of a path; None where nothing is there."""
    try:
        return Path(path).stat() if path else None
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise


@dataclass
class Listed:
    """What a name stands for, sorted into files that are read, and others.

    Attributes:
        files: The files to be read, in the order of their names.
        passed: What is not read, and why.
        unread: The folders and files that the system does not let us look at.
    """

    files: list[File] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    unread: list[UnreadableFile] = field(default_factory=list)

    def take(self, path: str, wanted: Callable[[str], bool] = lambda _: True) -> None:
        """Sort one path; a file whose name is not wanted is passed over."""
        try:
            seen = _known_of(path)
        except OSError as error:
            self.unread.append(unreadable(path, error))
            return
        if seen is None:
            if os.path.lexists(path):
                self.passed.append(Passed("passed_link", path))
        elif stat.S_ISDIR(seen.st_mode):
            self.passed.append(Passed("passed_folder", path))
        elif not stat.S_ISREG(seen.st_mode):
            self.passed.append(Passed("passed_pipe", path))
        elif not wanted(PurePath(path).name):
            self.passed.append(Passed("passed_ending", path))
        else:
            origin = (platform.node(), seen.st_ino)
            times = seen.st_mtime_ns, origin, seen.st_ctime_ns
            self.files.append(File(path, path, None, keys_of(path), seen.st_size, *times))

    def take_folder(self, name: str, tables: LakeTables) -> None:
        """Sort all that lies in a folder and in its folders."""
        inside = []
        for folder, names in below(name, is_hidden, self.unread.append):
            tables.refuse(folder)
            inside += [str(Path(folder, one)) for one in names if not is_hidden(one)]
        for path in sorted(inside):
            self.take(path, _is_data)

    def take_pattern(self, pattern: str) -> None:
        """Sort all that a pattern stands for; a folder that is read by its files is not passed over."""
        for path in sorted({*globbed(pattern, self.unread.append)}):
            self.take(path)
        self.passed = [*not_read(self.passed, self.files)]

    def check_all_read(self) -> None:
        """Stop at the first folder or file that cannot be looked at: there may be rows in it."""
        for fault in self.unread:
            raise fault

    def nothing(self, name: str, folder: bool) -> UnreadableFile:
        """Return the error where there is no file to be read."""
        if self.unread:
            return self.unread[0]
        if folder:
            return UnreadableFile(
                f"there is no data file in the folder {quoted(name, LONG)}",
                mend=f"Files end in {', '.join(PLAIN)}; names that begin with . or _ are left out",
            )
        kinds = {one.kind for one in self.passed}
        if kinds == {"passed_folder"}:
            mend = f"Name the files in them, as {quoted(f'{name}/**/*.parquet', LONG)}"
            return UnreadableFile(f"{quoted(name, LONG)} stands for folders", mend=mend)
        if kinds:
            links = "links that lead nowhere" if kinds == {"passed_link"} else "folders, pipes and links alone"
            return UnreadableFile(f"{quoted(name, LONG)} stands for {links}", mend="Name the files themselves")
        return UnreadableFile(f"there is no file {quoted(name, LONG)}", mend=mend_for_missing(name))


def mend_for_missing(name: str) -> str:
    """What to do about a file that is not there: another of its folder may have been meant."""
    folder, usual = Path(name).parent, "Check name and folder"
    try:
        beside = [str(folder / one.name) for one in folder.iterdir() if not is_hidden(one.name)]
    except (OSError, ValueError):
        return usual
    return did_you_mean(name, beside, usual)


def is_hidden(name: str) -> bool:
    """Marks of success, checksums and halves of files lie beside data under such names."""
    return name.startswith((".", "_"))


def _is_data(name: str) -> bool:
    return not is_hidden(name) and File(name, name).ending in PLAIN


def keys_of(path: str) -> dict[str, str | None]:
    """What folders called key=value say of all rows of a file; a key with two values is an error."""
    keys: dict[str, str | None] = {}
    for folder in PurePath(path).parts[:-1]:
        key, sign, text = folder.partition("=")
        if not sign or not key:
            continue
        name, value = unquote(key), None if text == NOBODY else unquote(text)
        if keys.setdefault(name, value) != value:
            raise UnreadableFile(
                f"its folders say {name}={keys[name]} and {name}={value}",
                file=path,
                column=name,
                mend="Give each key one value: rename one of the folders",
            )
    return keys


# --- object stores --------------------------------------------------------------------------------------------


def _listed_far(uri: str) -> Listed:
    fixed, pattern = _split_pattern(uri)
    try:
        system, root = file_system(fixed)
        if isinstance(system, pa.fs.LocalFileSystem):
            return _listed_here(root if pattern is None else f"{escape(root)}/{pattern}", uri)
        entries = _entries(system, root, pattern is not None)
    except SteelyardError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise UnreadableFile(
            f"{quoted(uri, LONG)} cannot be reached",
            mend=f"Check the address, and what the store asks of you: {quoted(str(error), 200)}",
        ) from None
    chosen, passed = _sorted_far(entries, root, pattern)
    _check_far_tables(system, root, pattern, [one.path for one in entries], [one.path for one in chosen])
    if not chosen:
        raise UnreadableFile(f"there is no file {quoted(uri, LONG)}", mend="Check name and folder")
    scheme = uri.partition("://")[0]
    found = [
        File(e.path, f"{scheme}://{e.path}", system, keys_of(e.path), e.size or 0, e.mtime_ns or 0) for e in chosen
    ]
    return Listed(sorted(found, key=lambda file: file.path), sorted(passed))


def _sorted_far(entries: list[Any], root: str, pattern: str | None) -> tuple[list[Any], list[Passed]]:
    """Return the entries of a store that are read, and those that are passed over."""
    files = [entry for entry in entries if entry.type == pa.fs.FileType.File]
    folder = any(entry.path.rstrip("/") != root.rstrip("/") for entry in files)
    if pattern is None:
        shown = [one for one in files if not folder or not any(map(is_hidden, _inner(one.path, root)))]
        chosen = [one for one in shown if not folder or _is_data(PurePath(one.path).name)]
        return chosen, [Passed("passed_ending", one.path) for one in shown if one not in chosen]
    wanted = [one for one in entries if matches(_inner(one.path, root), pattern.split("/"))]
    chosen = [one for one in wanted if one.type == pa.fs.FileType.File]
    others = [] if pattern.endswith("**") else [one for one in wanted if one not in chosen]
    kinds = {pa.fs.FileType.Directory: "passed_folder", pa.fs.FileType.NotFound: "passed_link"}
    passed = [Passed(kinds.get(one.type, "passed_pipe"), one.path.rstrip("/")) for one in others]
    return chosen, [*not_read(passed, [File(one.path, one.path) for one in chosen])]


def _inner(path: str, root: str) -> list[str]:
    return (path[len(root) :].strip("/") if path.startswith(root) else path).split("/")


def _check_far_tables(system: Any, root: str, pattern: str | None, paths: list[str], chosen: list[str]) -> None:
    """Refuse tables of a store as those of this machine: folders that are read, and files inside of them."""
    if paths == [root] and File(root, root).ending in TEXT:
        return
    known = tables_among(paths)
    try:
        above = [str(folder) for folder in PurePath(root).parents]
        beside = [f"{folder}/{name}" for folder in above for name in ("_delta_log", ".hoodie", "metadata")]
        for entry in system.get_file_info(beside):
            if entry.type == pa.fs.FileType.Directory:
                inside = system.get_file_info(pa.fs.FileSelector(entry.path))
                known |= tables_among([f"{entry.path}/", *(one.path for one in inside)])
    except (pa.ArrowException, OSError):  # rights may end at the folder that was named
        pass
    for folder, kind in known.items():
        within = [path for path in chosen if path.startswith(f"{folder}/".lstrip("/"))]
        if within or (pattern is None and folder.startswith(root.rstrip("/"))):
            raise refused_table(folder, kind, within[0] if within and folder != root.rstrip("/") else None)


def file_system(uri: str) -> tuple[Any, str]:
    """The store that an address names, and the path within it."""
    # Google's client would go on trying for a quarter of an hour before it says that it has no rights.
    patient = uri.startswith(("gs://", "gcs://")) and "retry_limit_seconds" not in uri
    limited = f"{uri}{'&' if '?' in uri else '?'}retry_limit_seconds={PATIENCE}" if patient else uri
    system, path = pa.fs.FileSystem.from_uri(limited)
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
    entry = system.get_file_info(root)
    if entry.type == pa.fs.FileType.File and not pattern:
        return [entry]
    if entry.type == pa.fs.FileType.NotFound:
        return []
    return list(system.get_file_info(pa.fs.FileSelector(root, recursive=True)))


# --- folders of this machine ------------------------------------------------------------------------------------


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
    """Return each path that a pattern stands for, files and folders; ``told`` hears of folders that cannot be read."""
    parts = PurePath(pattern).parts
    return _expanded("", parts, told) if parts else iter(())


def _expanded(folder: str, parts: Sequence[str], told: Told) -> Iterator[str]:
    """Yield the paths in a folder that the rest of a pattern stands for."""
    if not parts:
        yield folder
    elif parts[0] == "**":
        yield from _below(folder, parts, told)
    else:
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
        self._kind = cache(_kind_of)
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

"""Which files a name stands for: one file, a pattern, a folder with all that lies in it, here or in an object store."""

from __future__ import annotations

import errno
import os
import platform
import re
import stat
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..core.errors import LONG, ChangedInput, SteelyardError, UnreadableFile, quoted
from ..core.suggestions import did_you_mean
from .folders import LakeTables, below, globbed, matches, place_of, refused_table, tables_among, unreadable

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
        from pyarrow import fs

        return fs.LocalFileSystem() if self.system is None else self.system

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
        mode = _mode(name)
        if mode is None:
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
    alone = mode is not None and stat.S_ISREG(mode)
    for file in seen.files:
        if not alone or file.ending not in TEXT:  # text is no part of a table, but may have been put beside one
            tables.check_part(file.path)
    if not seen.files:
        raise seen.nothing(name if shown is None else shown, folder=mode is not None)
    seen.files = once(seen.files)
    return seen


def _mode(path: str) -> int | None:
    """Return what a path is; None where nothing is there."""
    try:
        return Path(path).stat().st_mode if path else None
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
            seen = Path(path).stat()
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                self.unread.append(unreadable(path, error))
            elif os.path.lexists(path):
                self.passed.append(Passed("passed_link", path))
            return
        if stat.S_ISDIR(seen.st_mode):
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
    import pyarrow as pa
    from pyarrow import fs

    fixed, pattern = _split_pattern(uri)
    try:
        system, root = file_system(fixed)
        if isinstance(system, fs.LocalFileSystem):
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
    from pyarrow import fs

    files = [entry for entry in entries if entry.type == fs.FileType.File]
    folder = any(entry.path.rstrip("/") != root.rstrip("/") for entry in files)
    if pattern is None:
        shown = [one for one in files if not folder or not any(map(is_hidden, _inner(one.path, root)))]
        chosen = [one for one in shown if not folder or _is_data(PurePath(one.path).name)]
        return chosen, [Passed("passed_ending", one.path) for one in shown if one not in chosen]
    wanted = [one for one in entries if matches(_inner(one.path, root), pattern.split("/"))]
    chosen = [one for one in wanted if one.type == fs.FileType.File]
    others = [] if pattern.endswith("**") else [one for one in wanted if one not in chosen]
    kinds = {fs.FileType.Directory: "passed_folder", fs.FileType.NotFound: "passed_link"}
    passed = [Passed(kinds.get(one.type, "passed_pipe"), one.path.rstrip("/")) for one in others]
    return chosen, [*not_read(passed, [File(one.path, one.path) for one in chosen])]


def _inner(path: str, root: str) -> list[str]:
    return (path[len(root) :].strip("/") if path.startswith(root) else path).split("/")


def _check_far_tables(system: Any, root: str, pattern: str | None, paths: list[str], chosen: list[str]) -> None:
    """Refuse tables of a store as those of this machine: folders that are read, and files inside of them."""
    import pyarrow as pa
    from pyarrow import fs

    if paths == [root] and File(root, root).ending in TEXT:
        return
    known = tables_among(paths)
    try:
        above = [str(folder) for folder in PurePath(root).parents]
        beside = [f"{folder}/{name}" for folder in above for name in ("_delta_log", ".hoodie", "metadata")]
        for entry in system.get_file_info(beside):
            if entry.type == fs.FileType.Directory:
                inside = system.get_file_info(fs.FileSelector(entry.path))
                known |= tables_among([f"{entry.path}/", *(one.path for one in inside)])
    except (pa.ArrowException, OSError):  # rights may end at the folder that was named
        pass
    for folder, kind in known.items():
        within = [path for path in chosen if path.startswith(f"{folder}/".lstrip("/"))]
        if within or (pattern is None and folder.startswith(root.rstrip("/"))):
            raise refused_table(folder, kind, within[0] if within and folder != root.rstrip("/") else None)


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
    return list(system.get_file_info(fs.FileSelector(root, recursive=True)))

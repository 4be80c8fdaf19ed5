"""Files that steelyard writes: whole or not at all, whatever happens, and in the place of nothing but their like."""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from stat import S_IMODE, S_IWGRP, S_IWOTH, S_IWUSR
from typing import BinaryIO

from ..core.errors import LONG, FailedWrite, ForeignFile, SteelyardError, UnreadableFile, UnwritableFile, quoted
from .paths import mend_for_missing

LOOKED_AT = 1 << 13  # bytes at either end
ENDING_OF_MARKDOWN = "<!-- made by steelyard -->"
_ESTIMATES = "measure,class,average,value,low,high,se,n,method,note"
# How the tables of all commands begin.
_TABLES = (
    rf"(model,)?(slice,)?{_ESTIMATES}",
    r"threshold,tp,fn,fp,tn(,.*)?",
    "class,forecast,frequency,rows,low,high",
    "name,better,span,of,computed,says",
    "name,title,also,beware(,with a class)?,says,better,span,by chance,of,computed,parameters,undefined,source",
    "tally,rows,files",
    "split,k,accuracy,training",
    "split,measure,model,value,rank",
    "seed,rule,scaling,CR,Ac,AS(,CR [0-9]+)*(,reassigned,frequency_gap)?",
    "region,n,weight,mean,alpha,beta,certainty,correct,scaled_alpha,scaled_beta,scaled_by(,.*)?",
    "design,sd_response,sd,classifier,measure,estimator,truth,mean,bias,se,deviation,rmse",
)
_OBJECTS = (rb'"steelyard":\s', rb'"name": "[a-z_0-9]+",\s+"(better|title)":\s')


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        title: What messages call it.
        begins: A pattern of its first bytes.
        ends: A pattern of its last bytes.
    """

    title: str
    begins: bytes = b""
    ends: bytes = b""

    def is_like(self, path: Path) -> bool:
        """Whether a file is empty or of this kind."""
        with path.open("rb") as file:
            head = file.read(LOOKED_AT)
            size = file.seek(0, 2)
            file.seek(max(size - LOOKED_AT, 0))
            tail = file.read(LOOKED_AT)
        if not head:
            return True
        return bool(re.match(self.begins, head, re.DOTALL) and re.search(self.ends + rb"\Z", tail, re.DOTALL))


TALLY = FileKind("a steelyard tally", rb'\xff\xff\xff\xff.*"format": "steelyard tally"')
REPORT = FileKind("a steelyard report", rb'\s*<!doctype html>.*<meta name="generator" content="steelyard ')
JSON = FileKind("JSON that steelyard wrote", rb"(\[\s*)?\{\s*(" + b"|".join(_OBJECTS) + b")")
CSV = FileKind(
    "CSV that steelyard wrote", b"(" + "|".join(_TABLES).encode().replace(b".*", rb"[^\n]*") + rb")\r?(\n|\Z)"
)
# Names in quotes and numbers of 17 decimals, as few others write them: the names are those of any classes.
SCALED = FileKind(
    "scaled memberships that steelyard wrote", rb'"(?:[^"]|"")*"(,"(?:[^"]|"")*")+\n(?:[01]\.[0-9]{17}[,\n]|\Z)'
)
SCALING = FileKind("a steelyard partition scaling", rb'\s*\{\s*"format":\s*"steelyard partition scaling"')
MARKDOWN = FileKind("Markdown that steelyard wrote", rb"", re.escape(ENDING_OF_MARKDOWN).encode() + rb"\s*")
PICTURE = FileKind("a PNG picture", rb"\x89PNG\r\n\x1a\n")


# What the disk has to answer for, and no user.
FAILURES = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EIO", "EFBIG", "ENOMEM") if hasattr(errno, name)}
BINARY = getattr(os, "O_BINARY", 0)  # Windows changes the ends of lines without it
HALF, HALF_ENDING = ".steelyard-", ".part"
_forced: ContextVar[bool] = ContextVar("_forced", default=False)
_numbers = count()


# --- writing and reading --------------------------------------------------------------------------------------


@contextmanager
def forced(wanted: bool) -> Iterator[None]:
    """Let all files that are written here replace what they find, as ``overwrite=True`` does for one."""
    before = _forced.set(wanted)
    try:
        yield
    finally:
        _forced.reset(before)


def write_whole(path: str | Path, content: bytes, kind: FileKind, overwrite: bool = False) -> None:
    """Write beside the file, see to it that the disk has it, and only then put it in its place.

    A file of another kind stays as it is, unless ``overwrite`` says otherwise. A link stays one, and what it leads to
    is written. What is no file, such as a pipe, cannot be put in its place.
    """
    try:
        place = Path(path)
    except Exception:  # a foreign object may raise anything
        raise UnwritableFile(f"{quoted(path)} is no path", mend="Give the name of a file") from None
    try:
        refuse_unwritable(place, kind, overwrite)
        if place.exists() and not place.is_file():
            with suppress(BrokenPipeError):  # whoever read it has heard enough
                place.write_bytes(content)
        else:
            _write_beside(_followed(place), content)
    except UnwritableFile:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise _failed(place, error) from None


def read_whole(path: object, noun: str, wanted: str, is_ours: Callable[[Path], bool]) -> tuple[str, bytes]:
    """Return the name of a file that ``write_whole`` wrote, in quotes, and its content.

    Other files are errors that name them, and are not read to their end. ``noun`` and ``wanted`` say in messages what
    the file should hold: "tally" and "steelyard tally".
    """
    try:
        place = Path(path)  # type: ignore[arg-type]  # anything else raises
    except Exception:  # a foreign object may raise anything
        raise UnreadableFile(f"{quoted(path)} cannot be read", mend="Give the name of a file") from None
    named = quoted(str(place), LONG)
    try:
        if place.exists() and not place.is_file():
            raise UnreadableFile(f"{named} is no file", mend=f"Pipes, devices and folders hold no {noun}")
        if not is_ours(place):
            raise ForeignFile(f"{named} is no {wanted}", mend="Check the name")
        return named, place.read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {named}", mend=mend_for_missing(str(place))) from None
    except SteelyardError:
        raise
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{named} cannot be read", mend=quoted(str(error), 120)) from None


def refuse_unwritable(place: Path, kind: FileKind, overwrite: bool = False) -> None:
    """Refuse a file that must not be replaced: one that is write-protected, or that is not of this kind."""
    named = quoted(str(place), LONG)
    try:
        if not place.exists():
            if not _followed(place).parent.is_dir():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
            return
        if not place.is_file():
            if place.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
            return
        # The owner's system lets an administrator write everywhere; a file that nobody may write is protected.
        if not place.stat().st_mode & (S_IWUSR | S_IWGRP | S_IWOTH) or not os.access(place, os.W_OK):
            mend = "Allow it, as chmod u+w does, or name another file"
            raise UnwritableFile(f"{named} cannot be written: it is write-protected", mend=mend)
        foreign = not (overwrite or _forced.get()) and not kind.is_like(place)
    except (OSError, ValueError, RuntimeError) as error:
        raise error if isinstance(error, UnwritableFile) else _failed(place, error) from None
    if foreign:
        mend = "Name another file, or say overwrite=True to replace it"
        raise UnwritableFile(f"{named} holds something else than {kind.title}", mend=mend)


def refuse_no_page(path: object) -> None:
    """A page that is called otherwise is opened by something that cannot show it; what is no file may be anything."""
    text = str(path) if isinstance(path, str | os.PathLike) else ".html"  # what is no path is told of by its writer
    if text.lower().endswith((".html", ".htm")) or (Path(text).exists() and not Path(text).is_file()):
        return
    raise UnwritableFile(f"{quoted(text, LONG)} does not end in .html", mend="Give the page such a name, as page.html")


def _failed(place: Path, error: Exception) -> UnwritableFile:
    folder = place.parent
    there = os.path.isdir(folder)  # noqa: PTH112  (for Path, a name that cannot be one is an error)
    mend = quoted(str(error), 120) if there else f"There is no folder {quoted(str(folder), LONG)}"
    kind = FailedWrite if isinstance(error, OSError) and error.errno in FAILURES else UnwritableFile
    return kind(f"{quoted(str(place), LONG)} cannot be written", mend=mend)


def _followed(place: Path) -> Path:
    """Where links lead. Newer versions of Python do not mind if they lead round, and a file would take their place."""
    found = place.resolve()
    if found.is_symlink():
        raise OSError("links lead round in a circle")
    return found


def _write_beside(place: Path, content: bytes) -> None:
    remove_stale_halves(place.parent)
    # The name is short, so that there is room for it wherever there is room for that of the file.
    half = place.parent / f"{HALF}{_machine()}-{os.getpid()}-{next(_numbers)}{HALF_ENDING}"
    before = place.stat() if place.exists() else None
    try:
        # Until it has the permissions of the file that it replaces, nobody else reads it.
        mode = 0o666 if before is None else 0o600
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, mode), "wb") as file:
            file.write(content)
            if before is not None:
                _keep_permissions(file, before)
            file.flush()
            os.fsync(file.fileno())
        half.replace(place)
        _settle(half.parent)
    finally:
        with suppress(OSError, ValueError):
            half.unlink(missing_ok=True)


def _keep_permissions(file: BinaryIO, before: os.stat_result) -> None:
    """Give a file the owner, group and mode of another one, as far as that is permitted."""
    if not hasattr(os, "fchown"):  # systems without owners
        return
    for owner, group in ((-1, before.st_gid), (before.st_uid, -1)):
        with suppress(OSError):
            os.fchown(file.fileno(), owner, group)
    os.fchmod(file.fileno(), S_IMODE(before.st_mode))  # last: a new owner takes some bits away


# --- what killed processes left -------------------------------------------------------------------------------


@cache
def remove_stale_halves(folder: Path) -> None:
    """Remove half-written files whose process was killed, and say so; once a folder, which may be large."""
    with suppress(OSError):
        found = [entry.path for entry in os.scandir(folder) if _is_stale(entry.name)]
        for path in found:
            Path(path).unlink(missing_ok=True)
        if found:
            many = "a half-written file" if len(found) == 1 else f"{len(found)} half-written files"
            told = f"note: removed {many} from {quoted(str(folder), LONG)}, left by a run that was killed"
            logging.getLogger(__name__).warning(told)


def _is_stale(name: str) -> bool:
    """Whether a name is that of a half-written file whose process, on this machine, is gone."""
    if not (name.startswith(HALF) and name.endswith(HALF_ENDING)):
        return False
    machine, _, rest = name[len(HALF) : -len(HALF_ENDING)].partition("-")
    process = rest.partition("-")[0]
    if machine != _machine() or not process.isdecimal() or os.name != "posix":  # elsewhere, signal 0 is no question
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _machine() -> str:
    """What tells this machine, or container, from others that write into the same folder."""
    import hashlib
    import socket

    inside = ""
    with suppress(OSError):
        inside = os.readlink("/proc/self/ns/pid")  # noqa: PTH115  (what it leads to is no path)
    return hashlib.sha256(f"{socket.gethostname()} {inside}".encode()).hexdigest()[:8]


def _settle(folder: Path) -> None:
    """Let the disk know of a new name; some systems do not open folders, and lose nothing by it."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)

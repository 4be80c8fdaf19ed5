"""What lies in folders of this machine: all that is below one, and all that a pattern stands for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

from ..core.errors import UnreadableFile, quoted

Told = Callable[[UnreadableFile], None]


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

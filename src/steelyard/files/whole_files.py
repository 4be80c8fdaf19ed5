"""Files that are written whole or not at all, whatever happens in between."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident

from ..errors import LONG, UnwritableFile, quoted


def write_whole(path: str | Path, content: bytes) -> None:
    """Write beside the file, see to it that the disk has it, and only then put it in its place.

    A link stays one, and what it leads to is written. What is no file, such as a pipe, cannot be put in its place.
    """
    try:
        place = Path(path)
    except Exception:  # a foreign object may raise anything
        raise UnwritableFile(f"{quoted(path)} is no path", mend="Give the name of a file") from None
    try:
        if place.exists() and not place.is_file():
            _write_into(place, content)
        else:
            _write_beside(_followed(place), content)
    except (OSError, ValueError, RuntimeError) as error:
        folder = place.parent
        mend = quoted(str(error), 120) if folder.is_dir() else f"There is no folder {quoted(str(folder), LONG)}"
        raise UnwritableFile(f"{quoted(str(place), LONG)} cannot be written", mend=mend) from None


def refuse_no_page(path: object) -> None:
    """A page that is called otherwise is opened by something that cannot show it; what is no file may be anything."""
    text = str(path) if isinstance(path, str | os.PathLike) else ".html"  # what is no path is told of by its writer
    if text.lower().endswith((".html", ".htm")) or (Path(text).exists() and not Path(text).is_file()):
        return
    raise UnwritableFile(f"{quoted(text, LONG)} does not end in .html", mend="Give the page such a name, as page.html")


def _followed(place: Path) -> Path:
    """Where links lead. Newer versions of Python do not mind if they lead round, and a file would take their place."""
    found = place.resolve()
    if found.is_symlink():
        raise OSError("links lead round in a circle")
    return found


def _write_into(place: Path, content: bytes) -> None:
    with suppress(BrokenPipeError):  # whoever read it has heard enough
        place.write_bytes(content)


def _write_beside(place: Path, content: bytes) -> None:
    half = Path(f"{place}.{os.getpid()}-{get_ident()}.part")
    try:
        with half.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        half.replace(place)
        _settle(half.parent)
    finally:
        with suppress(OSError, ValueError):
            half.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Let the disk know of a new name; some systems do not open folders, and lose nothing by it."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)

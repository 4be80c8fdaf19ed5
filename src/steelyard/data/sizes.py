"""How much memory a table would take, and how much there is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core.threads import GROUPS
from .formats import parquet_of
from .paths import File

UNPACKED = 4  # text shrinks to about a quarter
NUMBER = 8  # bytes


def estimate(files: Sequence[File], columns: Sequence[str] | None = None) -> int:
    """About how many bytes the rows of files take in memory, from what files say of themselves."""
    return sum(_estimate(file, columns) for file in files)


def _estimate(file: File, columns: Sequence[str] | None) -> int:
    if file.ending == ".parquet":
        with suppress(Exception):  # a file that cannot be read will say so when it is
            return _of_parquet(file, columns)
    return file.size * (1 if file.compression is None else UNPACKED)


def _of_parquet(file: File, columns: Sequence[str] | None) -> int:
    """Numbers take their width a row; text takes what it takes in the file, unpacked."""
    with parquet_of(file) as opened:
        meta, schema = opened.metadata, opened.schema_arrow
        total = 0
        for group in range(meta.num_row_groups):
            part = meta.row_group(group)
            for place in range(part.num_columns):
                chunk = part.column(place)
                name = chunk.path_in_schema.partition(".")[0]
                if columns is None or name in columns:
                    total += max(_width(schema.field(name).type) * part.num_rows, chunk.total_uncompressed_size)
    return total


def rows_in(files: Sequence[File]) -> int | None:
    """How many rows files say that they have; None where they do not say it."""
    total = 0
    for file in files:
        if file.ending != ".parquet":
            return None
        with suppress(Exception), parquet_of(file) as opened:  # whoever reads it will say so
            total += opened.metadata.num_rows
    return total


def _width(kind: Any) -> int:
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:  # text has no width of its own, but a place for each
        return NUMBER


def available() -> int:
    """How many bytes of memory are free for this process, as far as the system tells."""
    limits = [_free_by_group(), _free_by_machine()]
    return min(limit for limit in limits if limit is not None)


def _free_by_machine() -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62  # a system that does not tell is taken at its word


def _free_by_group() -> int | None:
    """What a container may still take."""
    with suppress(OSError, ValueError):
        most = int((GROUPS / "memory.max").read_text())
        cached = dict(line.split() for line in (GROUPS / "memory.stat").read_text().splitlines())
        # Pages of files are given back when somebody needs them.
        return most - int((GROUPS / "memory.current").read_text()) + int(cached.get("file", 0))
    return None


def in_words(size: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"

"""Where rows come from: which file, in which state, and a digest of its content, so that no row counts twice.

The digest of a text file is taken from its bytes (uncompressed) while they are read. Of Parquet, the bytes of the
columns that are used are read for it, and of Arrow those of the file; of large ones, evenly spaced samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from io import RawIOBase
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ..core.columns import pa
from .paths import TEXT, Scanned, is_here

if TYPE_CHECKING:
    from ..core.typing import AnyArray
    from .paths import File

FILE, DATA, UNKNOWN = "file", "data", "unknown"
HEAD = 1 << 18  # bytes of a text that a strong digest is taken of; of all of them a fast one is
QUOTE, LINE, BOM = ord('"'), ord("\n"), b"\xef\xbb\xbf"
BETWEEN = b",;|\t\r\n"  # what may stand between two cells
CACHED = 1 << 15
PIECE = 1 << 16  # bytes of a sample
MOST_READ = 1 << 22  # bytes that are read for nothing but the digest; of more, samples


@dataclass(frozen=True)
class Source:
    """A file, or data in memory, that rows came from.

    Attributes:
        kind: "file"; "data" for arrays and data frames; or "unknown".
        name: The name of the file, without its folders.
        place: A digest of the whole address of a file; of data, a number that no other data have.
        rows: How many rows came from it; negative where they were taken out of a tally that did not hold them.
        size: Its bytes.
        modified: When it was changed last, in nanoseconds.
        stamp: A digest of what the file system knows it by, and of when that was changed.
        digest: A digest of its content; empty where there is none.
        telling: Whether two sources of the same digest must hold the same rows, and not only rows that are alike.
        folders: Digests of the addresses of all folders above it.
    """

    kind: str
    name: str = ""
    place: str = ""
    rows: int = 0
    size: int = 0
    modified: int = 0
    stamp: str = ""
    digest: str = ""
    telling: bool = False
    folders: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, file: File, rows: int = 0, columns: Sequence[str] = (), digested: bool = True) -> Source:
        """Return the source that a file is, after these columns of it were read."""
        address = address_of(file)
        return cls(
            FILE,
            PurePath(file.path).name,
            short(address),
            rows,
            file.size,
            file.mtime,
            stamp_of(file),
            digest_of(file, columns) if digested else "",
            folders=_folders(str(PurePath(address).parent)),
        )

    @property
    def settled(self) -> Source:
        """Return the source with everything that is known of it."""
        return self


@dataclass(frozen=True)
class Origin:
    """Where rows that are kept in memory come from.

    Attributes:
        sources: The files that they were read from.
        columns: Which column held what.
    """

    sources: tuple[Source, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()


def short(text: str) -> str:
    """Return a digest of a text that can be shown."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def address_of(file: File) -> str:
    """Return the one address of a file, however it was named."""
    return os.path.realpath(file.path) if is_here(file) else file.shown


def stamp_of(file: File) -> str:
    """Return what tells whether it is the same file, untouched; empty for a far store."""
    return short(f"{file.origin} {file.changed}") if file.origin else ""


@lru_cache(maxsize=4096)
def _folders(folder: str) -> tuple[str, ...]:
    path = PurePath(folder)
    return tuple(short(str(each)) for each in (path, *path.parents))


# --- text: while it is read -------------------------------------------------------------------------------------


class Digesting(RawIOBase):
    """A stream that hands on bytes, takes their digest, and sees whether as many quotes open cells as close them."""

    def __init__(self, stream: Any, taken: Scanned) -> None:
        self.stream, self.taken = stream, taken
        self._head, self._fast, self._size = blake2b(digest_size=8), 0, 0
        self._open, self._last = 0, LINE

    def read(self, size: int = -1) -> Any:
        """Hand on some bytes."""
        found = self.stream.read_buffer(size) if size >= 0 else self.stream.read_buffer()
        if found.size:
            self._add(memoryview(found))
        else:
            self.taken.digest = f"{self._head.hexdigest()}{self._fast:08x}{self._size:x}"
            # A quote may be open at the end, or a cell may have ended where none should.
            self.taken.doubtful = self._open != int(self._last == QUOTE)
        return found

    read_buffer = read

    def _add(self, content: memoryview) -> None:
        if self._size < HEAD:
            self._head.update(content[: HEAD - self._size])
        self._fast = mixed(content, self._fast)
        start = 3 if self._last == LINE and content[:3] == BOM else 0
        for place in range(start, len(content), CACHED):
            self._count_quotes(np.frombuffer(content[place : place + CACHED], np.uint8))
        self._size += len(content)

    def _count_quotes(self, signs: AnyArray) -> None:
        quotes = signs == QUOTE
        if self._last == QUOTE or quotes.any():
            ends = signs == BETWEEN[0]
            for sign in BETWEEN[1:]:
                np.logical_or(ends, signs == sign, out=ends)
            opened, closed = np.count_nonzero(quotes[1:] & ends[:-1]), np.count_nonzero(quotes[:-1] & ends[1:])
            opened += self._last in BETWEEN and bool(quotes[0])
            closed += self._last == QUOTE and bool(ends[0])
            self._open += int(opened) - int(closed)
        self._last = int(signs[-1])

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()
        super().close()


def mixed(content: memoryview, before: int) -> int:
    """Return a checksum of bytes behind others: of two for every line of 64 kB, which are seven times as fast."""
    lines = len(content) // PIECE
    whole, rest = content[: lines * PIECE], content[lines * PIECE :]
    for factors in _factors() if lines else ():
        numbers = np.frombuffer(whole, factors.dtype).reshape(lines, len(factors))
        before = crc32(np.einsum("ij,j->i", numbers, factors), before)
    return crc32(rest, before)


@lru_cache
def _factors() -> tuple[AnyArray, ...]:
    """Odd numbers, which lose no bit of what they are multiplied with: for numbers of eight bytes, and of four."""
    dice = np.random.default_rng(0)
    kinds = (np.uint64, np.uint32)
    return tuple(dice.integers(0, np.iinfo(kind).max, PIECE // kind().itemsize, kind) | kind(1) for kind in kinds)


def opened_text(file: File) -> Any:
    """Open a text file, uncompressed; the first time that it is read to its end, its digest is taken."""
    stream = file.where.open_input_stream(file.path, compression=file.compression)
    return stream if file.taken.digest else Digesting(stream, file.taken)


# --- Parquet and Arrow: by what lies in them --------------------------------------------------------------------


def digest_of(file: File, columns: Sequence[str]) -> str:
    """Return the digest of a file that is not read through; empty where it cannot be read any more."""
    with suppress(OSError, pa.ArrowException, ValueError, KeyError):
        if file.taken.digest:
            return file.taken.digest
        if file.ending in TEXT:
            with opened_text(file) as stream:
                while stream.read(1 << 20).size:
                    pass
            return file.taken.digest
        with closing(file.where.open_input_file(file.path)) as source:
            facts, ranges = _chunks(source, columns) if file.ending == ".parquet" else ("", [(0, source.size())])
            found = blake2b(facts.encode(), digest_size=8)
            fast = 0
            for start, length in _sampled(ranges) if is_here(file) else ():
                source.seek(start)
                fast = crc32(source.read_buffer(length), fast)
            return f"{found.hexdigest()}{fast:08x}"
    return ""


def _chunks(source: Any, columns: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return what the footer of a Parquet file says of some columns, and where their values lie."""
    meta = pa.parquet.ParquetFile(source).metadata
    facts, ranges, wanted = [str(meta.num_rows)], [], set(columns)
    for group in map(meta.row_group, range(meta.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            if wanted and chunk.path_in_schema.partition(".")[0] not in wanted:
                continue
            known = chunk.statistics if chunk.is_stats_set else None
            span = () if known is None else (known.null_count, known.has_min_max and (known.min, known.max))
            facts.append(f"{chunk.path_in_schema} {chunk.num_values} {chunk.total_uncompressed_size} {span}")
            start = chunk.data_page_offset if chunk.dictionary_page_offset is None else chunk.dictionary_page_offset
            ranges.append((min(start, chunk.data_page_offset), chunk.total_compressed_size))
    return "\n".join(facts), ranges


def _sampled(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Return stretches of a file: all of it, cut; or where that is too much, some of it, evenly spaced."""
    whole = sum(length for _, length in ranges)
    step = PIECE * max(1, -(-whole // MOST_READ))
    for start, length in ranges:
        for place in range(0, length, step):
            yield start + place, min(PIECE, length - place)


# --- rows of several --------------------------------------------------------------------------------------------


def together(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return each file once: of one that was read in parts, the rows of all of them."""
    found: dict[str, Source] = {}
    for source in sources:
        first = found.get(source.place)
        found[source.place] = source if first is None else replace(
            first,
            rows=first.rows + source.rows,
            digest=first.digest or source.digest,
            telling=first.telling or source.telling,
        )  # fmt: skip
    return tuple(found.values())


def is_untouched(source: Source, file: File, columns: Sequence[str]) -> bool:
    """Whether a file is as it was when it was read; where only the file system knows it otherwise, by its digest."""
    if (source.place, source.size, source.modified) != (short(address_of(file)), file.size, file.mtime):
        return False
    return bool(source.stamp and source.stamp == stamp_of(file)) or (
        bool(source.digest) and source.digest == digest_of(file, columns)
    )


def is_gone(source: Source, roots: Iterable[Path]) -> bool:
    """Whether a file lay below one of these folders, and is not there any more."""
    for root in roots:
        if short(os.path.realpath(root)) not in source.folders:
            continue
        folders = (folder for folder, _, _ in os.walk(root, followlinks=True))
        found = (Path(folder, source.name) for folder in folders)
        return not any(short(os.path.realpath(path)) == source.place and path.exists() for path in found)
    return False

"""What lies in a file: its columns and their types, its rows some at a time or all at once, and the memory these take.

A batch holds so many rows and bytes at most, whatever the file holds; nothing but the columns that are wanted is read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..core.columns import as_numpy, pa
from ..core.errors import SteelyardError, UnreadableFile
from ..core.threads import GROUPS, cores
from .paths import TEXT, File
from .spelling import NumberMarks, Spelled
from .text_files import Text

END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
BATCH_ROWS = 1 << 20
BATCH_BYTES = 1 << 25
BUFFER = 1 << 20  # bytes of a column of Parquet that are read at a time
MAGIC = 8  # bytes at the end of a Parquet file: the length of its footer, and what kind of file it is
SIGNATURE = 28  # bytes behind the footer of a Parquet file with encrypted columns: a nonce and a tag
DECRYPT = "Read it with pyarrow.parquet and its keys, and write it without encryption"
UNPACKED = 4  # text shrinks to about a quarter
NUMBER = 8  # bytes


@contextmanager
def named(file: File, rows: bool = False) -> Iterator[None]:
    """Let whatever goes wrong with a file be told with its name; one that changed since it was found is an error.

    Of a store, that is asked for once the rows are read: it takes a while.
    """
    try:
        yield
    except SteelyardError as error:
        file.refuse_changed()
        raise error.within(file.shown, error.row) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        file.refuse_changed()
        raise file.failed(error) from None
    if rows or file.system is None:
        file.refuse_changed()


def _schema_of(file: File) -> Any:
    """Names and types of the columns of a file that knows them."""
    if file.ending == ".parquet":
        with parquet_of(file) as opened:
            return opened.schema_arrow
    with _arrow(file) as reader:
        return reader.schema


def kinds_of(
    file: File, columns: Sequence[str], labels: Collection[str] = (), marks: NumberMarks | None = None
) -> dict[str, Any]:
    """What columns of a file hold; of labels in text, how they are spelled."""
    with named(file):
        if file.ending in TEXT:
            text = Text.of(file, set(labels) & set(columns), marks).settled(columns)
            return {name: text.spelled.get(name, kind) for name, kind in text.types.items() if name in columns}
        found = _schema_of(file)
    return {name: found.field(name).type for name in columns}


def names_of(file: File) -> list[str]:
    """Names of the columns of a file."""
    with named(file):
        return list(Text.of(file).names() if file.ending in TEXT else _schema_of(file).names)


def read_whole(
    file: File, columns: Sequence[str] | None = None, labels: Collection[str] = (), marks: NumberMarks | None = None
) -> tuple[Any, dict[str, tuple[Spelled, NumberMarks]]]:
    """All rows of a file; labels in text files as text, with how they are spelled and what marks numbers have there."""
    spelled = {}
    with named(file, rows=True):
        if file.ending in TEXT:
            text = Text.of(file, labels if columns is None else set(labels) & set(columns), marks)
            table = text.whole(columns)
            text.check_quotes()
            spelled = {name: (known, text.marks) for name, known in text.spelled_in(table).items()}
        elif file.ending == ".parquet":
            with parquet_of(file) as opened:
                table = opened.read(columns=columns)
        else:
            with _arrow(file) as reader:
                table = reader.read_all()
                table = table if columns is None else table.select(columns)
        # Arrow trusts offsets and text as they stand in a file; a damaged one must not get further.
        table.validate()
        for batch in table.to_batches():
            _validate(batch)
    return table, spelled


def batches_of(
    file: File,
    columns: Sequence[str],
    schema: Any,
    keep: Any = None,
    groups: tuple[int, int] | None = None,
    most: int | None = None,
    marks: NumberMarks | None = None,
) -> Iterator[tuple[int, Any]]:
    """The rows of a file, some at a time, each batch with the number of its first row.

    Text is read as the types of ``schema``; what has types of its own comes in these. ``keep`` is a condition and where
    it is in doubt: parts of a Parquet file in which no row can meet either are passed over. ``groups`` are some of its
    row groups. Whoever wants the first rows only says how many are read ``most`` at a time.
    """
    with named(file, rows=True):
        if file.ending in TEXT:
            text = replace(Text.of(file, (), marks), types={name: schema.field(name).type for name in columns})
            yield from _limited(text.batches(columns))
            text.check_quotes()
        elif file.ending == ".parquet":
            yield from _limited(_parquet_batches(file, columns, keep, groups, most or BATCH_ROWS))
        else:
            with _arrow(file, columns) as reader:
                yield from _limited(_counted(batch.select(list(columns)) for batch in _arrow_batches(reader)))


def _counted(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    first = 0
    for batch in batches:
        yield first, batch
        first += batch.num_rows


def _limited(batches: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Cut batches that are too large, check them, and let go of each before the next."""
    for first, batch in batches:
        _validate(batch)
        rows = max(1, min(BATCH_ROWS, BATCH_BYTES * batch.num_rows // max(_size(batch), 1)))
        for start in range(0, batch.num_rows, rows):
            yield first + start, batch.slice(start, rows)


def _size(batch: Any) -> int:
    """Bytes of a batch; of text that lies elsewhere, Arrow before 24 knows only how much there is of it in all."""
    return sum(
        column.get_total_buffer_size() if pa.types.is_string_view(column.type) else column.nbytes
        for column in batch.columns
    )


def _validate(batch: Any) -> None:
    """Refuse a damaged batch; whether words apart from rows are there is seen faster here than by Arrow."""
    batch.validate()
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and len(column) and not column.null_count:
            places = as_numpy(column.indices)
            if places.view(f"u{places.itemsize}").max() < len(column.dictionary):
                column.dictionary.validate(full=True)
                continue
        column.validate(full=True)


# --- Parquet --------------------------------------------------------------------------------------------------


@contextmanager
def parquet_of(file: File, text: Sequence[str] = (), known: Any = None) -> Iterator[Any]:
    """A reader of a Parquet file, of which the metadata may be known; one with encrypted columns is refused."""
    # Text comes as it is stored, words apart from rows: that is how labels are counted.
    options = {"page_checksum_verification": True, "read_dictionary": list(text), "buffer_size": BUFFER}
    with file.where.open_input_file(file.path) as source:
        end = b"" if known is not None or source.size() < MAGIC else source.read_at(MAGIC, source.size() - MAGIC)
        if end.endswith(b"PARE"):
            raise UnreadableFile(f"{file.name} is encrypted", mend=DECRYPT)
        with pa.parquet.ParquetFile(source, metadata=known, **options) as opened:
            # Arrow ends the process when it is asked about an encrypted column. Where some are, a signature follows the
            # footer, which belongs to its length but not to what can be read of it.
            if end and int.from_bytes(end[:4], "little") - opened.metadata.serialized_size == SIGNATURE:
                raise UnreadableFile(f"{file.name} has encrypted columns", mend=DECRYPT)
            yield opened


def row_groups(file: File, size: int) -> list[tuple[int, int]]:
    """Stretches of row groups of a Parquet file, of about so many bytes each; none where it cannot be cut."""
    if file.ending != ".parquet":
        return []
    with named(file), parquet_of(file) as opened:
        groups = opened.metadata.num_row_groups
    pieces = min(groups, round(file.size / size))
    edges = [groups * piece // pieces for piece in range(pieces + 1)] if pieces else []
    return list(pairwise(edges))


def _parquet_batches(
    file: File, columns: Sequence[str], keep: Any, stretch: tuple[int, int] | None, most: int
) -> Iterator[tuple[int, Any]]:
    with parquet_of(file) as opened:
        schema, meta = opened.schema_arrow, opened.metadata
        groups = list(range(meta.num_row_groups))
        starts = [0]
        for group in groups:
            starts.append(starts[-1] + meta.row_group(group).num_rows)
    text = [name for name in columns if pa.types.is_string(schema.field(name).type)]
    wanted = groups if keep is None else _promising(file, schema, meta, *keep)
    wanted = wanted if stretch is None else [group for group in wanted if stretch[0] <= group < stretch[1]]
    with parquet_of(file, text, meta) as opened:
        for group in wanted:
            rows = min(_rows_at_a_time(meta.row_group(group), len(columns)), most)
            first = starts[group]
            threads = cores() > 1
            for batch in opened.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=threads):
                yield first, batch
                first += batch.num_rows


def _rows_at_a_time(group: Any, columns: int) -> int:
    """How many rows of a row group make a batch, by what a row takes on average."""
    width = group.total_byte_size / max(group.num_rows, 1) * columns / max(group.num_columns, 1)
    return max(1, min(BATCH_ROWS, int(BATCH_BYTES / max(width, 1))))


def _promising(file: File, schema: Any, meta: Any, keep: Any, doubts: Sequence[tuple[str, str, Any]]) -> list[int]:
    """The row groups in which a condition may hold, or be in doubt, by the least and largest values of the file."""
    fragment = pa.dataset.ParquetFileFormat().make_fragment(file.path, file.where)
    try:
        held = {group.id for group in fragment.subset(keep, schema=schema).row_groups}
        return [
            group for group in range(meta.num_row_groups) if group in held or _doubtful(meta.row_group(group), doubts)
        ]
    except pa.ArrowException:  # what cannot be worked out is told of with the rows
        return [group.id for group in fragment.row_groups]


def _doubtful(group: Any, doubts: Sequence[tuple[str, str, Any]]) -> bool:
    """Whether the first or the last text of a column in a row group is one that letters do not order as is meant."""
    columns = (group.column(place) for place in range(group.num_columns))
    known = {one.path_in_schema: one.statistics for one in columns if one.is_stats_set and one.statistics.has_min_max}
    return any(
        len(pa.table({name: [known[name].min, known[name].max]}).filter(doubt))
        for name, _, doubt in doubts
        if name in known
    )


# --- Arrow ----------------------------------------------------------------------------------------------------


@contextmanager
def _arrow(file: File, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """A reader of an Arrow file or stream; of a file, only some columns are read.

    It is not mapped into memory: if somebody cut it off meanwhile, that would end this process.
    """
    with closing(file.where.open_input_file(file.path)) as source:
        start = source.read(6)
        source.seek(max(source.size() - 8, 0))
        end = source.read(8)
        source.seek(0)
        if start == b"ARROW1":
            with pa.ipc.open_file(source) as reader:
                names = reader.schema.names
            wanted = None if columns is None else [place for place, name in enumerate(names) if name in columns]
            with pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(included_fields=wanted)) as reader:
                yield reader
        elif end != END_OF_STREAM:
            raise UnreadableFile(f"{file.name} is no Arrow file, or cut off", mend="Write the file anew")
        else:
            with pa.ipc.open_stream(source) as reader:
                yield reader


def _arrow_batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        for place in range(reader.num_record_batches):
            yield reader.get_batch(place)
    else:
        yield from reader


# --- how much memory rows take --------------------------------------------------------------------------------


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

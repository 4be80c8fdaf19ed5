"""Shards of the rows: what one worker reads by itself, a batch at a time, and knows where its rows come from."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import as_numpy, pa
from ..core.errors import BadFilter, MissingValues, SteelyardError, UnreadableFile, quoted
from . import formats
from .digests import Source
from .formats import batches_of, names_of
from .paths import NOBODY, TEXT, File
from .spelling import NumberMarks, is_spelled_apart
from .where import Filter, out_of_order

if TYPE_CHECKING:
    from ..core.typing import Places

ROW = "\0 row"  # a column of row numbers beside those of a file, which has none of that name


@dataclass(frozen=True)
class Batch:
    """Some rows of a file.

    Attributes:
        table: The rows, as an Arrow table.
        file: What messages call the file; None for rows of a data frame.
        first: The number of the first row, counted in the file.
        places: The numbers of all rows, where a filter left some out.
    """

    table: Any
    file: str | None = None
    first: int = 0
    places: Places | None = None

    def locate(self, error: SteelyardError) -> SteelyardError:
        """Say of the file what was said of the batch."""
        row = error.row
        if row is not None:
            row = self.first + row if self.places is None else int(self.places[row])
        if isinstance(error, MissingValues) and self.file is not None and File(self.file, self.file).ending in TEXT:
            error = error.mended(f"{error.mend}; besides empty cells, NA, N/A, nan and null are missing in text files")
        return error.within(self.file, row)


@dataclass(frozen=True)
class FileShard:
    """A file, or some row groups of it.

    Attributes:
        file: The file.
        filter: Which rows count.
        groups: The row groups, first and behind the last; None for all.
        size: About how many bytes it takes.
        marks: What marks numbers in text have, where that is known.
    """

    file: File
    filter: Filter | None = None
    groups: tuple[int, int] | None = None
    size: int = 0
    marks: NumberMarks | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.file.shown

    @property
    def far(self) -> bool:
        """Whether reading it is waiting for another machine."""
        return self.file.system is not None

    def batches(self, columns: Sequence[str], schema: Any, most: int | None = None) -> Iterator[Batch]:
        """Its rows, some at a time, with these columns in the types of the schema; few where so many are enough."""
        names = with_filter(columns, self.filter)
        keys = self._keys(names)
        inner = [name for name in names if name not in keys]
        if self.filter is not None and not self._may_hold(self.filter, keys, schema):
            return
        # Only what lies in the file, and nowhere else, can tell which parts of it to pass over.
        alone = self.filter is not None and set(self.filter.names) <= set(inner) - set(self.file.keys)
        noted = self.filter.noted(schema) if alone and self.filter is not None else None
        for first, rows in batches_of(self.file, inner, schema, noted, self.groups, most, self.marks):
            table = pa.Table.from_batches([rows])
            check_keys(self.file, table, first)
            for key in keys:
                table = table.append_column(key, repeated(self.file.keys[key], schema.field(key).type, len(table)))
            yield filtered(Batch(cast(table.select(names), schema, self.name), self.name, first), self.filter, columns)

    def source(self, rows: int, columns: Sequence[str]) -> Source:
        """Where so many rows came from, once they were read; the first part of a file takes the digest of all."""
        return Source.of(self.file, rows, columns, digested=self.groups is None or self.groups[0] == 0)

    def _keys(self, names: Sequence[str]) -> list[str]:
        """Columns that are keys of its folders, and do not lie in the file itself."""
        keys = [name for name in names if name in self.file.keys]
        own = names_of(self.file) if keys else []
        return [key for key in keys if key not in own]

    def _may_hold(self, keep: Filter, keys: Sequence[str], schema: Any) -> bool:
        """Whether a condition can hold in a file at all, or be in doubt, by the keys of its folders."""
        said = pa.compute.scalar(True)
        for key in keys:
            value = repeated(self.file.keys[key], schema.field(key).type, 1)[0]
            said &= pa.compute.field(key).is_null() if self.file.keys[key] is None else pa.compute.field(key) == value
        form = pa.dataset.IpcFileFormat()
        fragment = form.make_fragment(self.file.path, pa.fs.LocalFileSystem(), partition_expression=said)
        whole = pa.dataset.FileSystemDataset([fragment], schema=schema, format=form)
        try:
            holds, doubts = keep.with_doubts(schema)
            doubtful = (doubt for name, _, doubt in doubts if name in keys)
            return bool(list(whole.get_fragments(filter=reduce(operator.or_, doubtful, holds))))
        except pa.ArrowException:  # what cannot be worked out is told of with the rows
            return True


@dataclass(frozen=True)
class FrameShard:
    """A partition of a data frame that lies on many machines.

    Attributes:
        name: What messages call it.
        tables: Its rows: Arrow tables or batches, one behind the other.
        filter: Which rows count.
    """

    name: str
    tables: Iterable[Any]
    filter: Filter | None = None
    size: int = 0
    far: bool = False

    def batches(self, columns: Sequence[str], schema: Any) -> Iterator[Batch]:
        """Its rows, some at a time, with these columns in the types of the schema."""
        names, first, rows = with_filter(columns, self.filter), 0, formats.BATCH_ROWS
        for found in self.tables:
            whole = found if isinstance(found, pa.Table) else pa.Table.from_batches([found])
            for start in range(0, len(whole), rows):
                table = self._cast(whole.slice(start, rows).select(names), schema)
                yield filtered(Batch(table, self.name, first + start), self.filter, columns)
            first += len(whole)

    def source(self, rows: int, columns: Sequence[str]) -> Source | None:
        """Nothing: a frame that lies on many machines is not known by its content."""
        del rows, columns
        return None

    def _cast(self, table: Any, schema: Any) -> Any:
        try:
            return cast(table, schema, self.name)
        except UnreadableFile as error:
            raise error.but(problem="the partition does not hold what the frame says that it holds") from None


Shard = FileShard | FrameShard


def with_filter(columns: Sequence[str], keep: Filter | None) -> list[str]:
    """These columns and those that a filter speaks of."""
    return list(dict.fromkeys([*columns, *(() if keep is None else keep.names)]))


def filtered(batch: Batch, keep: Filter | None, columns: Sequence[str] | None = None) -> Batch:
    """The rows of which a condition holds, and where they were; all columns or some."""
    if keep is None:
        return batch if columns is None else replace(batch, table=batch.table.select(list(columns)))
    rows = np.arange(batch.first, batch.first + batch.table.num_rows)
    numbered, (holds, doubts) = batch.table.append_column(ROW, pa.array(rows)), keep.with_doubts(batch.table.schema)
    try:
        found = numbered.filter(holds)
        for name, against, doubt in doubts:
            doubtful = numbered.filter(doubt & holds.is_null())
            if len(doubtful):
                value, row = doubtful.column(name)[0].as_py(), doubtful.column(ROW)[0].as_py()
                raise out_of_order(value, name, against, row, batch.file)
    except pa.ArrowException as error:
        raise BadFilter(
            "the filter compares what cannot be compared",
            file=batch.file,
            mend=f"Compare numbers, text or days: {quoted(str(error), 200)}",
        ) from None
    last = found.num_columns - 1
    kept = found.remove_column(last) if columns is None else found.select(list(columns))
    return replace(batch, table=kept, places=as_numpy(found.column(last)))


def check_keys(file: File, table: Any, first: int = 0) -> None:
    """See that columns of a file hold what the folders say that are called like them."""
    for key in file.keys:
        if key in table.column_names:
            row = _differing(table.column(key), file.keys[key])
            if row is not None:
                value = "no value" if (held := table.column(key)[row].as_py()) is None else quoted(str(held))
                raise UnreadableFile(
                    f"the column holds {value}, and the folder is called {quoted(f'{key}={file.keys[key] or NOBODY}')}",
                    file=file.shown,
                    column=key,
                    row=first + row,
                    mend="Rename the column or the folder: only one of them can be right",
                )


def _differing(column: Any, value: str | None) -> int | None:
    """Return the first row of a column that does not hold the value of a key; None where all do."""
    kind = plain(column.type)
    if not len(column):
        return None
    if value is None:
        same = pa.compute.is_null(column, nan_is_null=True)
    else:
        try:
            meant = pa.scalar(value, pa.string()).cast(kind)
            same = pa.compute.fill_null(pa.compute.equal(column.cast(kind), meant), False)
        except pa.ArrowException:  # the value is none that the column can hold
            return 0
    row = pa.compute.index(same, False).as_py()
    return None if row < 0 else int(row)


def repeated(value: str | None, kind: Any, rows: int) -> Any:
    """One value for all rows; what is a key of one folder may be a column of another file, and hold other numbers."""
    return pa.repeat(pa.scalar(value, pa.string()).cast(kind), rows)


def plain(kind: Any) -> Any:
    """What a column holds; words apart from rows count as words."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def usable(kind: Any) -> Any:
    """The same for text that lies elsewhere, too, in which Arrow cannot choose rows."""
    found = plain(kind)
    return pa.large_string() if pa.types.is_string_view(found) else found


def without_views(table: Any) -> Any:
    """A table in which rows can be chosen."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    return table


def cast(table: Any, schema: Any, file: str) -> Any:
    """Bring columns of a file into common types, but leave words apart from rows where they are."""
    for place, name in enumerate(table.column_names):
        column, kind = table.column(name), schema.field(name).type
        if plain(column.type) != kind:
            apart = pa.types.is_dictionary(column.type) and pa.types.is_large_string(kind)  # they may have an order
            whole = pa.dictionary(column.type.index_type, kind, column.type.ordered) if apart else kind
            try:
                table = table.set_column(place, name, column.cast(whole))
            except pa.ArrowException as error:
                raise UnreadableFile(
                    f"{plain(column.type)} cannot be read as {kind}, which all files together hold",
                    file=file,
                    column=name,
                    mend=f"Bring its columns into one type: {quoted(str(error), 200)}",
                ) from None
        if is_spelled_apart(schema.field(name)):
            table = table.set_column(place, schema.field(name), table.column(place))
    return table

"""Files as one table that is never held: batches of rows that know which file and row they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.columns import pa, refuse_twice
from ..core.errors import BadOption, DuplicateColumns, SteelyardError, TooLarge, UnreadableFile, quoted
from ..core.threads import ahead
from .digests import Source
from .formats import available, estimate, in_words, kinds_of, names_of, read_whole, row_groups
from .paths import TEXT, File, Passed, listed, not_read, once
from .shards import Batch, FileShard, cast, check_keys, plain, repeated, usable, with_filter, without_views
from .spelling import PLAIN, Form, NumberMarks, Spelled, Uses, read_as
from .where import Filter, check_column

if TYPE_CHECKING:
    from ..core.typing import Places

# Of a file: as much as is worth a worker's while, and as much as anybody should wait for.
LEAST_SHARD, LARGEST_SHARD = 1 << 25, 1 << 30
ENOUGH_SHARDS = 8  # of less than that: states of more would take longer to add up than they save
SpelledLabels = Mapping[str, tuple[Spelled, NumberMarks]]
Kinds = dict[str, tuple[Any, File]]  # the type of a column, and the last file that had a say in it


@dataclass(frozen=True)
class Loaded:
    """A table that has been read, where its rows come from, and which files were passed over."""

    table: Any
    batches: tuple[Batch, ...]
    files: tuple[File, ...] = ()
    passed: tuple[Passed, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that rows came from."""
        rows: dict[str | None, int] = {}
        for batch in self.batches:
            rows[batch.file] = rows.get(batch.file, 0) + batch.table.num_rows
        return tuple(Source.of(file, rows.get(file.shown, 0), self.table.column_names) for file in self.files)

    def locate(self, error: SteelyardError) -> SteelyardError:
        """Say of a file what was said of the table."""
        row = error.row
        if row is None:
            return error if len(self.batches) != 1 else self.batches[0].locate(error)
        for batch in self.batches:
            if row < batch.table.num_rows:
                return batch.locate(error.at(row))
            row -= batch.table.num_rows
        return error

    @property
    def places(self) -> Places | None:
        """The numbers of rows, where a filter left some out of one file or frame."""
        if len({batch.file for batch in self.batches}) > 1 or any(batch.places is None for batch in self.batches):
            return None
        return np.concatenate([batch.places for batch in self.batches if batch.places is not None])


@dataclass(frozen=True)
class Files:
    """The files that a name stands for, seen as one table of which nothing has been read yet.

    Attributes:
        files: The files, in the order of their names.
        filter: Which rows count.
        watch: Told how many rows and bytes were worked on so far, and how many bytes there are.
        passed: What the names stand for, too, but is not read, and why.
        unread: The folders and files that the system does not let us look at.
        uses: What columns are used for: those of text files are read as that.
        marks: What marks numbers in text files have, where that was said.
    """

    files: tuple[File, ...]
    filter: Filter | None = None
    watch: Callable[[int, int, int], None] | None = None
    passed: tuple[Passed, ...] = ()
    unread: tuple[UnreadableFile, ...] = ()
    uses: Uses = field(default_factory=Uses)
    marks: NumberMarks | None = None

    @classmethod
    def of(cls, source: Any, where: str | None = None, marks: NumberMarks | None = None) -> Files:
        """Find the files of one name, or of several."""
        names = source if isinstance(source, list | tuple) else [source]
        found = [listed(name) for name in names]
        files = once(file for one in found for file in one.files)
        passed = not_read((each for one in found for each in one.passed), files)
        unread = {str(each.file): each for one in found for each in one.unread}
        check_marks(marks, any(file.ending in TEXT for file in files))
        keep = None if where is None else Filter.read(where)
        return cls(tuple(files), keep, None, passed, tuple(unread.values()), marks=marks)

    def check_all_read(self) -> None:
        """Stop at the first folder that cannot be looked at: there may be rows in it."""
        for fault in self.unread:
            raise fault

    @property
    def size(self) -> int:
        """How many bytes the files have."""
        return sum(file.size for file in self.files)

    @cached_property
    def column_names(self) -> list[str]:
        """The columns of the first file, and the keys of its folders."""
        return self.names_in(self.files[0])

    def names_in(self, file: File) -> list[str]:
        """The columns of one file, and the keys of its folders."""
        names = self._own_names(file)
        return [*names, *[key for key in file.keys if key not in names]]

    def _own_names(self, file: File) -> list[str]:
        if file.path not in self._known:
            self._known[file.path] = names_of(file)
        return self._known[file.path]

    @cached_property
    def _known(self) -> dict[str, list[str]]:
        """Names of columns that were looked up: a file in a far store is not asked twice."""
        return {}

    @cached_property
    def key_types(self) -> dict[str, Any]:
        """What keys of folders hold: whole numbers where all are, and else text; of labels, how they are spelled."""
        values: dict[str, set[str]] = {}
        for file in self.files:
            for key, value in file.keys.items():
                values.setdefault(key, set()).update(() if value is None else (value,))
        kinds: dict[str, Any] = {
            key: pa.int64() if all(map(_is_whole, found)) else pa.string() for key, found in values.items()
        }
        words = {key: pa.array(list(found), pa.string()) for key, found in values.items() if key in self.uses.names}
        spelled = {key: Spelled.of(pa.chunked_array([found])) for key, found in words.items()}
        numbers = (Form.WHOLE, Form.GAPPED, Form.ODD)
        texts = {
            key: known if known.form in numbers else replace(known, form=Form.WORDS) for key, known in spelled.items()
        }
        return {**kinds, **{key: known for key, known in texts.items() if values[key]}}

    def type_of(self, name: str) -> Any:
        """What a column holds in the first file that can be read and has a value there."""
        faults: list[SteelyardError] = []
        for file in self.files:
            try:
                kind = self.types_in(file, [name])[name]
                kind = kind.arrow if isinstance(kind, Spelled) else kind
            except SteelyardError as error:
                faults.append(error)
            else:
                if not pa.types.is_null(kind):
                    return kind
        if len(faults) == len(self.files):
            raise faults[0]
        return pa.null()

    def schema(self, columns: Sequence[str]) -> Any:
        """Types of columns that can hold what all files hold in them; a file in which one is missing is named."""
        kinds: Kinds = {}
        for file in self.files:
            kinds = self.joint_types(kinds, file, self.types_in(file, columns))
        return schema_from(self.settled(kinds), columns)

    def settled(self, kinds: Kinds) -> Kinds:
        """The same, with types of labels by how they are spelled in all files."""
        types = self.uses.settled({name: kind for name, (kind, _) in kinds.items()})
        return {name: (types[name], file) for name, (_, file) in kinds.items()}

    def joint_types(self, kinds: Kinds, file: File, found: Mapping[str, Any]) -> Kinds:
        """Types that hold what was seen before and what one more file holds."""
        return {
            name: (kind, file) if name not in kinds else (_joint(name, *kinds[name], kind, file), file)
            for name, kind in found.items()
        }

    def types_in(self, file: File, columns: Sequence[str]) -> dict[str, Any]:
        """What columns hold in one file, and the keys of its folders."""
        own = self.own_types(file, columns)
        return {name: own[name] if name in own else self.key_types[name] for name in columns}

    def own_types(self, file: File, columns: Sequence[str]) -> dict[str, Any]:
        """What those columns hold that lie in the file itself; words apart from rows count as words."""
        inner = self._inner(file, columns)
        found = kinds_of(file, inner, self.uses.names, self.marks) if inner else {}
        return {name: kind if isinstance(kind, Spelled) else usable(kind) for name, kind in found.items()}

    def _inner(self, file: File, columns: Sequence[str]) -> list[str]:
        """The columns that lie in the file itself; the others are keys of its folders."""
        names = self._own_names(file)
        for name in columns:
            try:
                check_column(name, [*names, *file.keys], self.filter)
                if names.count(name) > 1:
                    raise DuplicateColumns(
                        f"{names.count(name)} columns are called {quoted(name)}", mend="Rename all but one"
                    )
            except SteelyardError as error:
                raise error.within(file.shown, None) from None
        return [name for name in columns if name in names]

    # --- all at once ------------------------------------------------------------------------------------------

    def load(self, columns: Sequence[str] | None = None) -> Loaded:
        """All rows as one table that knows where they come from, if it fits into memory."""
        self.check_all_read()
        if self.filter is not None:
            names = self.column_names
            return self._load_some([names[k] for k in _nameable(names)] if columns is None else columns)
        self._check_fits(estimate(self.files, columns))
        tables: Sequence[Any]
        tables, spelled = zip(*(self._whole(file, columns) for file in self.files), strict=True)
        tables = self._as_spelled(tables, spelled)
        parts = tuple(Batch(table, file.shown) for file, table in zip(self.files, tables, strict=True))
        table = tables[0] if len(tables) == 1 else _join(self.files, tables)
        return Loaded(table, parts, self.files, self.passed)

    def _whole(self, file: File, columns: Sequence[str] | None) -> tuple[Any, SpelledLabels]:
        """The rows of a file with the keys of its folders, and how its labels are spelled."""
        inner = None if columns is None else self._inner(file, columns)
        table, spelled = read_whole(file, inner, self.uses.names, self.marks)
        table = table.select(_nameable(table.column_names)) if columns is None else table
        return self._with_keys(without_views(table), file, columns), spelled

    def _as_spelled(self, tables: Sequence[Any], spelled: Sequence[SpelledLabels]) -> list[Any]:
        """Tables with labels as what their cells, in all files, are spelled like."""
        names = self.uses.names
        if not any(spelled):
            return list(tables)
        kinds: Kinds = {}
        for file, table, known in zip(self.files, tables, spelled, strict=True):
            there = [one for one in table.schema if one.name in names and table.column_names.count(one.name) == 1]
            found = {one.name: known[one.name][0] if one.name in known else usable(one.type) for one in there}
            own = self._own_names(file)
            found |= {key: self.key_types[key] for key in file.keys if key in found and key not in own}
            kinds = self.joint_types(kinds, file, found)
        types = {name: kind for name, (kind, _) in self.settled(kinds).items()}
        return [_read_as(table, types, known) for table, known in zip(tables, spelled, strict=True)]

    def _with_keys(self, table: Any, file: File, columns: Sequence[str] | None) -> Any:
        check_keys(file, table)
        missing = [key for key in file.keys if key not in table.column_names]
        for key in missing if columns is None else [key for key in missing if key in columns]:
            kind = self.key_types[key]
            kind = pa.string() if isinstance(kind, Spelled) else kind
            table = table.append_column(key, repeated(file.keys[key], kind, table.num_rows))
        return table if columns is None else table.select(list(columns))

    def _load_some(self, columns: Sequence[str]) -> Loaded:
        """Only the rows that count, so that only these need to fit."""
        refuse_twice(list(columns))
        parts, held, limit = [], 0, available()
        for batch in self.batches(columns):
            parts.append(batch)
            held += batch.table.nbytes
            if held > limit:
                self._check_fits(held)
        tables = [batch.table for batch in parts] or [self.schema(columns).empty_table()]
        return Loaded(_below(tables), tuple(parts), self.files, self.passed)

    def _check_fits(self, size: int) -> None:
        if size > available():
            raise TooLarge(
                f"the table takes about {in_words(size)}, and {in_words(available())} of memory are free",
                file=self.files[0].shown if len(self.files) == 1 else f"{len(self.files)} files",
                mend="Ask for count measures, scores or forecasts: these are summed without holding the table, "
                "bootstrap samples are not; or leave rows out with where=",
            )

    # --- some at a time ---------------------------------------------------------------------------------------

    def batches(self, columns: Sequence[str], schema: Any = None) -> Iterator[Batch]:
        """The rows, some at a time, in the order of files and rows; the next are read while these are worked on."""
        self.check_all_read()
        found = self.schema(self.with_filter(columns)) if schema is None else schema
        return ahead(batch for shard in self.shards() for batch in shard.batches(columns, found))

    def with_filter(self, columns: Sequence[str]) -> list[str]:
        """These columns and those that the filter speaks of."""
        return with_filter(columns, self.filter)

    def shards(self, cut: bool = False) -> list[FileShard]:
        """The files one by one, or cut where they are large and can be, to be read side by side."""
        size = min(max(self.size // ENOUGH_SHARDS, LEAST_SHARD), LARGEST_SHARD) if cut else self.size
        return [shard for file in self.files for shard in self._shards_of(file, size)]

    def _shards_of(self, file: File, size: int) -> list[FileShard]:
        stretches = row_groups(file, size) if file.size > size else []
        if len(stretches) < 2:
            return [FileShard(file, self.filter, None, file.size, self.marks)]
        return [FileShard(file, self.filter, groups, file.size // len(stretches)) for groups in stretches]


def check_marks(marks: NumberMarks | None, text: bool) -> None:
    """NumberMarks in numbers are those of text; all other data have numbers."""
    if marks is not None and not text:
        problem = "decimal= or thousands= is given, but no text file (CSV)"
        raise BadOption(problem, mend="Leave decimal= and thousands= out: other data hold numbers as such")


def _nameable(names: Sequence[str]) -> list[int]:
    """Places of the columns that can be asked for: of several without a name, as Excel writes behind the last, none."""
    several = names.count("") > 1
    return [place for place, name in enumerate(names) if name or not several]


def schema_from(kinds: Kinds, columns: Sequence[str]) -> Any:
    """Types as a schema."""
    found = [(name, kinds[name][0]) for name in columns]
    return pa.schema([kind if isinstance(kind, pa.Field) else pa.field(name, kind) for name, kind in found])


def _read_as(table: Any, types: Mapping[str, Any], spelled: SpelledLabels) -> Any:
    """A table with labels as the types that were settled."""
    for place, name in enumerate(table.column_names):
        if name in types and table.column_names.count(name) == 1:
            kind = types[name]
            field = kind if isinstance(kind, pa.Field) else pa.field(name, kind)
            column = table.column(name)
            if pa.types.is_string(column.type):
                known, marks = spelled.get(name, (Spelled(), PLAIN))
                done = known.read is not None and known.read.type == field.type
                column = known.read if done else read_as(column, field.type, marks)
            table = table.set_column(place, field.with_type(column.type), column)
    return table


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < 19 and str(int(text)) == text


def _joint(name: str, kind: Any, file: File, other: Any, second: File) -> Any:
    """A type that holds what two files hold."""
    if isinstance(kind, Spelled) and isinstance(other, Spelled) and (both := kind.beside(other)) is not None:
        return both
    kind, other = (each.arrow if isinstance(each, Spelled) else each for each in (kind, other))
    if kind == other:
        return kind
    pair = [pa.schema([(name, kind)]), pa.schema([(name, other)])]
    try:
        return pa.unify_schemas(pair, promote_options="permissive").field(name).type
    except pa.ArrowException:
        raise UnreadableFile(
            f"{second.name} and {file.name} hold different kinds of values: {other} and {kind}",
            file=second.shown,
            column=name,
            mend="Write both files with the same kind of values",
        ) from None


def _join(files: Sequence[File], tables: Sequence[Any]) -> Any:
    names = tables[0].column_names
    for file, table in zip(files, tables, strict=True):
        if sorted(table.column_names) != sorted(names):
            raise UnreadableFile(
                f"{file.name} has other columns than {files[0].name}",
                file=file.shown,
                mend="Files that are read together need the same columns",
            )
    refuse_twice(names)
    kinds = {}
    for name in names:
        kinds[name] = plain(tables[0].schema.field(name).type)
        for file, table in zip(files[1:], tables[1:], strict=True):
            kinds[name] = _joint(name, kinds[name], files[0], plain(table.schema.field(name).type), file)
    schema = pa.schema(kinds)
    return _below([cast(table.select(names), schema, file.shown) for file, table in zip(files, tables, strict=True)])


def _below(tables: Sequence[Any]) -> Any:
    """Tables of the same columns as one; words come to their rows where not all tables have them apart, in one way."""
    for place, name in enumerate(tables[0].column_names):
        kinds = [table.schema.field(name).type for table in tables]
        if len({getattr(kind, "ordered", None) for kind in kinds}) > 1:
            whole = plain(kinds[0])
            tables = [table.set_column(place, name, table.column(place).cast(whole)) for table in tables]
    return pa.concat_tables(tables, promote_options="permissive")

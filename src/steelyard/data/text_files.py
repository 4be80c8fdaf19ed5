"""Text files: CSV in all its dialects, compressed or not. What a column holds is judged by all of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.columns import pa
from ..core.errors import EmptyInput, NotNumbers, UnreadableFile, quoted
from .digests import opened_text
from .paths import File
from .spelling import PLAIN, Form, NumberMarks, Spelled, as_numbers

# What spreadsheets and R write for "nothing here".
NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"]
BLOCK = 1 << 20  # bytes of text that are parsed at a time
LARGEST_BLOCK = 1 << 30
ENOUGH = 1 << 16  # bytes of text that tell how numbers are written
CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error")
COMMA, POINT = (re.compile(rf"[-+]?[0-9]*{mark}[0-9]+([eE][-+]?[0-9]+)?") for mark in (",", r"\."))
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}")
DOTTED = r"^\s*[-+]?[1-9][0-9]{0,2}(\.[0-9]{3})+\s*$"
ANY_NUMBER = r"^\s*[-+]?[0-9.,]*[0-9][0-9.,]*([eE][-+]?[0-9]+)?\s*$"
# What a column is taken for next when a value does not go with what it was taken for, as Arrow has it.
LADDER = {"null": "int64", "int64": "bool", "bool": "double", "double": "string", "string": "binary"}


@dataclass(frozen=True)
class Text:
    """A text file whose dialect is known.

    Attributes:
        file: The file.
        delimiter: What stands between two values.
        marks: What stands before the decimals of a number, a point or a comma as in much of the world, and between
            its thousands.
        commas: Whether some numbers have a comma before their decimals, and nobody said what a point means there.
        types: What columns hold, as far as that is known.
        block: How many bytes are parsed at a time; a row must fit in.
        labels: Columns that are read as text, since what they hold is told by how it is spelled.
        spelled: How cells of these are spelled, where that is known.
        header: The first line.
    """

    file: File
    delimiter: str
    marks: NumberMarks = PLAIN
    types: Mapping[str, Any] = field(default_factory=dict)
    block: int = BLOCK
    commas: bool = False
    labels: frozenset[str] = frozenset()
    spelled: Mapping[str, Spelled] = field(default_factory=dict)
    header: bytes = b""

    @classmethod
    def of(cls, file: File, labels: Collection[str] = (), marks: NumberMarks | None = None) -> Text:
        """Find out the dialect from the first lines, but for marks that are known."""
        with file.where.open_input_stream(file.path, compression=file.compression) as stream:
            beginning = bytes(stream.read(BLOCK))
        header = _header(file, beginning)
        bare = re.sub(b'"[^"]*"', b"", header)
        delimiter = max([b",", b";", b"\t", b"|"], key=bare.count).decode()
        if marks is not None:
            return cls(file, delimiter, marks, labels=frozenset(labels), header=header)
        decimal, commas = _decimal(beginning[len(header) :], delimiter)
        return cls(file, delimiter, NumberMarks(decimal), commas=commas, labels=frozenset(labels), header=header)

    def _options(self, columns: Sequence[str] | None, threads: bool = True) -> dict[str, Any]:
        return {
            "read_options": pa.csv.ReadOptions(block_size=self.block, use_threads=threads),
            "parse_options": pa.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            "convert_options": pa.csv.ConvertOptions(
                null_values=NULLS,
                strings_can_be_null=True,
                decimal_point=self.marks.decimal,
                column_types={**dict.fromkeys(self.labels, pa.string()), **self.types},
                include_columns=None if columns is None else list(columns),
            ),
        }

    @contextmanager
    def _reader(self, columns: Sequence[str] | None) -> Iterator[Any]:
        # One thread is as quick here, and can say in which row something is wrong.
        options = self._options(columns, threads=False)
        with opened_text(self.file) as source, pa.csv.open_csv(source, **options) as reader:
            yield reader

    def schema(self, columns: Sequence[str] | None = None) -> Any:
        """The columns, of types that may be guesses until they are settled."""
        with self._reader(columns) as reader:
            return reader.schema

    def names(self) -> list[str]:
        """The names of all columns, from the first line alone unless a name goes on in the next."""
        if self.header.count(b'"') % 2 == 0:
            line, options = pa.BufferReader(self.header + b"\n"), self._options(None, threads=False)
            names = pa.csv.read_csv(line, options["read_options"], options["parse_options"]).column_names
            return list(names)
        return list(self.schema().names)

    def settled(self, columns: Sequence[str] | None = None) -> Text:
        """The same file with types that hold for all rows of these columns."""
        found = self
        while True:
            try:
                return found._passed_through(columns)._with_thousands(columns)
            except pa.ArrowInvalid as error:
                better = found._wider_block(error) or found._wider_types(error, columns)
                if better is None:
                    raise
                found = better

    def _with_thousands(self, columns: Sequence[str] | None) -> Text:
        """The same, where columns of text turn out to be numbers with a mark between thousands.

        Where a mark could be either, because other numbers have decimal commas, they are refused.
        """
        sought = (pa.string(), pa.float64()) if self.commas else (pa.string(),) if self.marks.thousands else ()
        names = [name for name, kind in self.types.items() if kind in sought and name not in self.labels]
        names = [name for name in names if columns is None or name in columns]
        if not names:
            return self
        plain = replace(self, types=dict.fromkeys(names, pa.string()), labels=frozenset())
        numbers, first = set(names), 0
        decimals: set[str] = set()
        dotted: dict[str, tuple[int, str]] = {}
        with plain._reader(names) as reader:
            for batch in reader:
                for name in sorted(numbers):
                    cells = pa.chunked_array([batch.column(batch.schema.get_field_index(name))])
                    if not _are_numbers(cells, self.marks):
                        numbers.discard(name)
                        continue
                    if name not in decimals and _holds(cells, self.marks.decimal):
                        decimals.add(name)
                    if self.commas and name not in dotted and (cell := _dotted(cells)) is not None:
                        dotted[name] = (first + cell[0], cell[1])
                first += batch.num_rows
                if not numbers:
                    return self
        for name in self.types:
            if name in dotted and name in numbers:
                raise _either(name, *dotted[name])
        found = numbers if self.marks.thousands else set()
        read = {name: pa.float64() if name in decimals else pa.int64() for name in found}
        return replace(self, types={**self.types, **read})

    def _passed_through(self, columns: Sequence[str] | None) -> Text:
        with self._reader(columns) as reader:
            kinds = {one.name: one.type for one in reader.schema}
            # A date in a text file is text: as such it can name a part of the data or a cluster.
            dates = {name: pa.string() for name, kind in kinds.items() if pa.types.is_temporal(kind)}
            if not dates:
                spelled = {name: Spelled() for name in self.labels if pa.types.is_string(kinds.get(name, pa.null()))}
                for batch in reader:
                    for name, known in spelled.items():
                        if known.form is not Form.WORDS:
                            cells = pa.chunked_array([batch.column(batch.schema.get_field_index(name))])
                            spelled[name] = known.with_more(Spelled.of(cells, self.marks))
                return replace(self, types=kinds, spelled=spelled)
        return replace(self, types={**self.types, **dates})._passed_through(columns)

    def _wider_block(self, error: Exception) -> Text | None:
        """A row may be longer than a block."""
        if "straddling" in str(error) and self.block < LARGEST_BLOCK:
            return replace(self, block=self.block * 8)
        return None

    def _wider_types(self, error: Exception, columns: Sequence[str] | None) -> Text | None:
        """Types in which every block of the file can be read, of all columns in one pass.

        What a type holds in one block need not hold in those before: whoever asks passes through once more.
        """
        failed = CONVERSION.match(str(error))
        if failed is None:
            return None
        name = self.names()[int(failed[1])]
        if name in self.labels - self.types.keys():  # not in UTF-8: who reads the rows will say so
            return replace(self, types={**self.types, name: pa.binary()})
        before = {one.name: one.type for one in self.schema(columns)}
        kinds = {name: pa.string() if pa.types.is_temporal(kind) else kind for name, kind in before.items()}
        raw = replace(self, types=dict.fromkeys(kinds, pa.binary()))
        try:
            with raw._reader(columns) as reader:
                for batch in reader:
                    kinds = self._widened(batch, kinds)
        except pa.ArrowInvalid as fault:  # a row is longer than a block, or no row at all
            if kinds == before:
                return self._wider_block(fault)
        return None if kinds == before else replace(self, types={**self.types, **kinds})

    def _widened(self, batch: Any, kinds: Mapping[str, Any]) -> dict[str, Any]:
        """Types that hold in one block, each as near as can be to what it was."""
        sink, found = pa.BufferOutputStream(), dict(kinds)
        pa.csv.write_csv(batch, sink, pa.csv.WriteOptions(include_header=False))
        text, names = sink.getvalue(), list(batch.schema.names)
        same = replace(self, delimiter=",", block=min(max(len(text) + 1, self.block), LARGEST_BLOCK))
        while True:
            places = [str(place) for place in range(len(names))]
            options = replace(same, types=dict(zip(places, map(found.get, names), strict=True)))._options(None)
            options["read_options"].column_names = places
            try:
                pa.csv.read_csv(pa.BufferReader(text), **options)
            except pa.ArrowInvalid as error:
                failed = CONVERSION.match(str(error))
                name = names[int(failed[1])] if failed else ""
                wider = LADDER.get(str(found.get(name)))
                if wider is None:
                    raise
                found[name] = pa.type_for_alias(wider)
            else:
                return found

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[tuple[int, Any]]:
        """The rows from one on, some at a time, each batch with the number of its first row; types must be settled."""
        if self.marks.thousands:
            yield from self._batches_with_thousands(columns, first)
            return
        seen = 0
        try:
            with self._reader(columns) as reader:
                for batch in reader:
                    seen += batch.num_rows
                    if seen > first:
                        fresh = batch.slice(max(batch.num_rows - (seen - first), 0))
                        self._check_decoded(fresh, first)
                        yield first, fresh
                        first = seen
        except pa.ArrowInvalid as error:
            wider = self._wider_block(error)
            if wider is None:
                raise
            yield from wider.batches(columns, first)

    def _batches_with_thousands(self, columns: Sequence[str], first: int) -> Iterator[tuple[int, Any]]:
        """The same where numbers have marks that Arrow does not know: they are read as text and then as numbers."""
        sought = (pa.types.is_floating, pa.types.is_integer)
        numbers = {name: kind for name, kind in self.types.items() if any(is_one(kind) for is_one in sought)}
        plain = replace(self, types={**self.types, **dict.fromkeys(numbers, pa.string())}, marks=PLAIN)
        for start, batch in plain.batches(columns, first):
            table = self._with_numbers(pa.Table.from_batches([batch]), numbers)
            yield start, table.combine_chunks().to_batches()[0] if len(table) else batch

    def _with_numbers(self, table: Any, kinds: Mapping[str, Any]) -> Any:
        """A table in which columns of text are numbers of these types."""
        for place, name in enumerate(table.column_names):
            if name in kinds:
                table = table.set_column(place, name, as_numbers(table.column(place), self.marks).cast(kinds[name]))
        return table

    def spelled_in(self, table: Any) -> dict[str, Spelled]:
        """How the cells of labels are spelled in a table that was read as ``whole`` reads it."""
        # Of a name that several columns have, none is known: whoever asks for it is told so.
        known = [one for one in table.schema if one.name in self.labels and table.column_names.count(one.name) == 1]
        names = [one.name for one in known if pa.types.is_string(one.type)]
        return {name: Spelled.of(table.column(name), self.marks) for name in names}

    def whole(self, columns: Sequence[str] | None = None) -> Any:
        """All rows at once; labels as text."""
        try:
            table, found = self._read(columns), self
        except pa.ArrowInvalid:
            try:
                found = self.settled(columns)
            except pa.ArrowInvalid:
                self._read(columns, threads=False)  # Arrow says in which row: only one thread can count them
                raise
            if self.marks.thousands:  # numbers with such marks are read as text first
                changed = [name for name, kind in found.types.items() if kind != self.types.get(name)]
                found = replace(found, types={**found.types, **dict.fromkeys(changed, pa.string())})
            table = found._read(columns)
        if self.commas or self.marks.thousands:
            kinds = {one.name: one.type for one in table.schema if table.column_names.count(one.name) == 1}
            marked = replace(found, types=kinds)._with_thousands(columns).types
            table = self._with_numbers(table, {name: kind for name, kind in marked.items() if kind != kinds[name]})
        self._check_decoded(table)
        dates = {one.name: pa.string() for one in table.schema if pa.types.is_temporal(one.type)}
        return replace(found, types={**found.types, **dates})._read(columns) if dates else table

    def _read(self, columns: Sequence[str] | None, threads: bool = True) -> Any:
        try:
            with opened_text(self.file) as source:
                return pa.csv.read_csv(source, **self._options(columns, threads))
        except pa.ArrowInvalid as error:
            wider = self._wider_block(error)
            if wider is None:
                raise
        return wider._read(columns, threads)

    def check_quotes(self) -> None:
        """Refuse a file with a quoted cell over several rows that is not closed as a cell is: rows would be lost."""
        row = self._open_quote() if self.file.taken.doubtful else None
        if row is not None:
            raise UnreadableFile(
                f"a double quote is opened in {self.file.name} and not closed: the rows behind it would be lost",
                row=row - 1,  # the first line names the columns
                mend='Close it, or write "" for a quote within quotes',
            )

    def _open_quote(self) -> int | None:
        """Return the line in which the first such cell begins; None where there is none."""
        mark = re.escape(self.delimiter.encode())
        signs = re.compile(b'["\n\r' + mark + b']|[^"\n\r' + mark + b"]+")
        place = start = lines = opened = 0
        closed, within, rows = -2, False, False
        with opened_text(self.file) as stream:
            while block := bytes(stream.read(BLOCK)):
                for found in signs.finditer(block):
                    here, sign = place + found.start(), found[0]
                    if sign == b'"':
                        if within:
                            within, closed = False, here
                        elif here == closed + 1:  # the second of two stands for a quote
                            within = True
                        elif here == start:
                            within, rows, opened = True, False, lines
                    elif sign in (b"\n", b"\r", self.delimiter.encode()):
                        rows |= within and sign == b"\n"
                        lines += sign == b"\n" and not within
                        start = start if within else here + 1
                    elif rows and not within and here == closed + 1:
                        return opened  # text behind the end of a cell that goes over rows
                place += len(block)
        return opened if within else None

    def _check_decoded(self, table: Any, first: int = 0) -> None:
        """Name the first text that is not in UTF-8: Arrow keeps such columns as bytes."""
        for one, column in zip(table.schema, table.columns, strict=True):
            for row, value in enumerate(column.to_pylist() if pa.types.is_binary(one.type) else ()):
                if value is not None and value.decode(errors="ignore").encode() != value:
                    raise UnreadableFile(
                        f"{quoted(value)} in {self.file.name} is not in UTF-8",
                        column=one.name,
                        row=first + row,
                        mend="Save the file in UTF-8 (it may be in Latin-1 or Windows-1252)",
                    )


def _are_numbers(cells: Any, marks: NumberMarks) -> bool:
    """Whether cells could all be numbers, whatever marks they have."""
    if marks.thousands:
        return as_numbers(cells, marks) is not None
    return pa.compute.all(pa.compute.match_substring_regex(cells, ANY_NUMBER)).as_py() is not False


def _holds(cells: Any, mark: str) -> bool:
    """Whether a mark stands in any cell."""
    return bool(pa.compute.any(pa.compute.match_substring(cells, mark)).as_py())


def _dotted(cells: Any) -> tuple[int, str] | None:
    """The first cell that has a point before three digits, and its row."""
    found = pa.compute.index(pa.compute.match_substring_regex(cells, DOTTED), True).as_py()
    return None if found < 0 else (found, cells[found].as_py())


def _either(name: str, row: int, cell: str) -> NotNumbers:
    """What to say of a number that can be read in two ways."""
    cell = cell.strip()
    return NotNumbers(
        f"{quoted(cell)} can be {float(cell):g} or {int(cell.replace('.', ''))}: others of the file have decimal commas"
        if cell.count(".") == 1
        else f"{quoted(cell)} has points between thousands: others of the file have decimal commas",
        column=name,
        row=row,
        mend="Say thousands='.' if points stand between thousands, or decimal='.' if they stand before decimals",
    )


def _decimal(rows: bytes, delimiter: str) -> tuple[str, bool]:
    """What stands before decimals, and whether any number has a comma there.

    A comma where numbers have one before their decimals and none has a point; between commas they are in quotes.

    Whoever parts columns by commas writes 1,200 for twelve hundred: where every comma is before three digits, none is
    taken for that of decimals.
    """
    text = rows[:ENOUGH].decode(errors="replace")
    if ('"' if delimiter == "," else ",") not in text:
        return ".", False
    values = [value.strip('" ') for value in re.findall(rf'"[^"]*"|[^"\r\n{re.escape(delimiter)}]+', text)]
    marked = [value for value in values if COMMA.fullmatch(value)]
    if not marked or (delimiter == "," and all(map(THOUSANDS.fullmatch, marked))):
        return ".", False
    return "." if any(map(POINT.fullmatch, values)) else ",", True


def _header(file: File, beginning: bytes) -> bytes:
    header = re.split(rb"[\r\n]", beginning, maxsplit=1)[0]
    if header.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile(f"{file.name} is in UTF-16", mend="Save it in UTF-8")
    if not header.removeprefix(b"\xef\xbb\xbf").strip():
        raise EmptyInput(f"{file.name} has nothing in its first line", mend="The first line names the columns")
    try:
        header.decode()
    except UnicodeDecodeError:
        raise UnreadableFile(f"the first line of {file.name} is not in UTF-8", mend="Save it in UTF-8") from None
    return header

"""Finished results as a tidy table: columns of plain values, one call away from any data frame."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, overload

from .columns import pa
from .errors import NotNumbers, UnequalLengths, UnknownColumn, harmless, quoted
from .scale import listed
from .suggestions import did_you_mean
from .text import MOST_LINES, add_row, clipped, number, rich_table, to_text

if TYPE_CHECKING:
    from rich.table import Table as RichTable

ENDS = 20  # rows of a long table that are shown at its head, and at its end
FEW_COLUMNS, FIRST_COLUMNS, MOST_COLUMNS = 10, 16, 24

# Text that spreadsheets compute, with the wide signs of East Asian keyboards; a number that begins below 0 is none.
FORMULA = re.compile(r"(?!-[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z)[-=+@\t\r\n＝＋－＠]")  # noqa: RUF001


class Table:
    """A small table of results. Any Arrow consumer takes it as it is; so do pandas, polars and duckdb."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Keep columns of equal length."""
        self.columns = {name: list(values) for name, values in columns.items()}
        rows = len(self)
        for name, values in self.columns.items():
            if len(values) != rows:
                raise UnequalLengths(f"{len(values)} rows, not {rows}", column=name, mend="Give every row a value")

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
        """Put rows below each other."""
        found: dict[str, list[Any]] = {name: [] for name in names}
        for row in rows:
            for column, value in zip(found.values(), row, strict=True):
                column.append(value)
        return cls(found)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def __len__(self) -> int:
        """Count the rows."""
        return self.num_rows

    @overload
    def __getitem__(self, name: str) -> list[Any]: ...
    @overload
    def __getitem__(self, name: list[str]) -> Table: ...
    def __getitem__(self, name: str | list[str]) -> list[Any] | Table:
        """One column as a list; of a list of names, a table of these columns."""
        if isinstance(name, list):
            return Table({each: self[each] for each in name})
        if not isinstance(name, str) or name not in self.columns:
            mend = did_you_mean(name, self.columns, f"There are {listed(self.column_names)}")
            raise UnknownColumn(f"there is no column {quoted(name)}", mend=mend)
        return self.columns[name]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Go through the rows."""
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True))

    def to_pylist(self) -> list[dict[str, Any]]:
        """All rows as dictionaries."""
        return list(self)

    def to_arrow(self) -> Any:
        """As a pyarrow Table."""
        return pa.table({name: _arrow_column(values) for name, values in self.columns.items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The numbers as an array for NumPy, (rows, columns), where every column holds numbers.

        Not ``__array__``: pandas.DataFrame would ask for that first, and lose the names of the columns.
        """
        import numpy as np

        words = [name for name, values in self.columns.items() if not all(map(_is_number, set(map(type, values))))]
        if words:
            values, rest = self.columns[words[0]], [name for name in self.columns if name not in words]
            row = next(row for row, value in enumerate(values) if not _is_number(type(value)))
            mend = f"Take the columns of numbers: table[{rest}]" if rest else "No column holds numbers alone"
            raise NotNumbers(f"{quoted(values[row])} is not a number", column=words[0], row=row, mend=mend)
        found = np.empty((len(self), len(self.columns)))
        for place, values in enumerate(self.columns.values()):
            found[:, place] = values
        return {"shape": found.shape, "typestr": found.dtype.str, "data": found.data, "version": 3}

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        import pandas as pd

        found = pd.DataFrame(self.columns)
        for name, column in self.columns.items():
            if None in column and all(value is None or type(value) is int for value in column):
                # As floats, large ones would become alike.
                present = [value for value in column if value is not None] or [0]
                kind: Any = "Int64" if max(present) < 2**63 else "UInt64" if min(present) >= 0 else "object"
                found[name] = pd.array(column, dtype=kind)
        return found

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        import polars as pl

        return pl.from_arrow(self.to_arrow())

    def to_csv(self, *, safe: bool = False) -> str:
        """Return CSV text, in which an undefined value is an empty cell.

        Args:
            safe: Put an apostrophe before text that a spreadsheet would take for a formula, such as ``=1+1``. Numbers
                stay as they are.
        """
        import csv

        lines, shown = [], _shown_as_text if safe else _shown
        # With both signs in the end of a line, a writer puts quotes around cells that have either.
        writer = csv.writer(SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n"))))
        for row in (self.columns, *zip(*self.columns.values(), strict=True)):
            writer.writerow([shown(value) for value in row])
        return "\n".join([*lines, ""])

    def to_json(self) -> list[dict[str, Any]]:
        """As rows that JSON can hold: NaN becomes null, infinities the words "Infinity" and "-Infinity"."""
        return [{name: json_value(value) for name, value in row.items()} for row in self]

    def __repr__(self) -> str:
        """As aligned text."""
        return table_text(self)

    def _repr_html_(self) -> str:
        return table_html(self)


def whole(value: float) -> int | float:
    """A count of rows as an integer; a sum of weights as it is."""
    return int(value) if float(value).is_integer() else float(value)


def formulas_in(table: Table) -> Iterator[str]:
    """Go through the texts of a table that a spreadsheet would take for formulas."""
    cells = (value for values in ([*table.columns], *table.columns.values()) for value in values)
    return (value for value in cells if isinstance(value, str) and FORMULA.match(value))


def _shown(value: Any) -> Any:
    """A value as a cell of CSV."""
    return "" if value is None or _is_nan(value) else value


def _shown_as_text(value: Any) -> Any:
    """The same, with an apostrophe before what looks like a formula."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else _shown(value)


def _is_number(kind: type) -> bool:
    """Whether cells of a type are numbers, or empty: these are not a number in the sense of NaN."""
    return kind is type(None) or (issubclass(kind, Real) and not issubclass(kind, bool))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def json_value(value: Any) -> Any:
    """What JSON has no word for: NaN becomes null, infinities become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def dump(content: Any) -> str:
    """JSON text that any parser reads."""
    import json

    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False)


def _arrow_column(values: Sequence[Any]) -> Any:
    """Class labels of several kinds share a column as text, and so do integers that Arrow's cannot hold."""
    kinds = {type(value) for value in values if value is not None}
    long = kinds == {int} and any(value is not None and not -(2**63) <= value < 2**63 for value in values)
    if long or (len(kinds) > 1 and not kinds <= {int, float}):
        return pa.array([None if value is None else str(value) for value in values])
    return pa.array(values, type=pa.string() if not kinds else None)


def by_measure(parts: Sequence[Mapping[str, Sequence[Any]]], labels: Sequence[str]) -> dict[str, list[Any]]:
    """Put the columns of several parts below each other, and their rows into the order of these measures."""
    columns = {name: [value for part in parts for value in part[name]] for name in parts[0]}
    rank = {label: place for place, label in enumerate(labels)}
    order = sorted(range(len(columns["measure"])), key=lambda row: rank[columns["measure"][row]])
    return {name: [values[row] for row in order] for name, values in columns.items()}


# --- as text and as HTML ----------------------------------------------------------------------------------------


def table_view(table: Table) -> RichTable:
    """Any tidy table, for a terminal."""
    numeric = [
        place
        for place, values in enumerate(table.columns.values())
        if any(isinstance(value, int | float) for value in values)
    ]
    drawn = rich_table([harmless(name) for name in table.column_names], right=numeric)
    for row in zip(*table.columns.values(), strict=True):
        add_row(drawn, [_cell(value) for value in row])
    return drawn


def _in_part(table: Table, ends: int) -> tuple[Table, str, str]:
    """The first and last rows and the first columns of a large table; what to say of the other rows and columns."""
    size, names = len(table), table.column_names
    hidden = len(names) - FIRST_COLUMNS if len(names) > MOST_COLUMNS else 0
    names = names[: len(names) - hidden]
    aside = f"… and {hidden:,} more columns: to_csv() has all" if hidden else ""
    if size <= 2 * ends:
        return (table[names] if hidden else table), "", aside
    parts = {name: [*table[name][:ends], "…", *table[name][-ends:]] for name in names}
    return type(table)(parts), f" … {size - 2 * ends:,} rows left out: to_csv() has all {size:,}", aside


def table_text(table: Table) -> str:
    """Any tidy table as text: of a long one the first and the last rows, fewer where cells take several lines."""
    ends = ENDS if len(table.columns) <= FEW_COLUMNS else ENDS // 3
    while True:
        part, between, aside = _in_part(table, ends)
        lines = to_text(table_view(part), width=160).splitlines()
        lines = [between if between and set(line.split()) == {"…"} else line for line in lines] + [aside] * bool(aside)
        if len(lines) <= MOST_LINES or ends == 1:
            return clipped("\n".join(lines), "to_csv() has all")
        ends //= 2


def table_html(table: Table) -> str:
    """Any tidy table as HTML."""
    part, between, aside = _in_part(table, ENDS)
    head = "".join(f"<th>{html.escape(harmless(name))}</th>" for name in part.column_names)
    rows = [
        "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in zip(*part.columns.values(), strict=True)
    ]
    if between:
        rows[ENDS] = f"<tr><td colspan='{len(part.columns)}'>{between}</td></tr>"
    more = f"<p>{aside}</p>" if aside else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return number(value, 4) if isinstance(value, float) else harmless(value)

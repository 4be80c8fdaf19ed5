"""Confusion tables as somebody else made them: numbers alone, or with the classes named in rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import is_of_pandas, read_frame
from ..core.errors import BadOption, BadTable, EmptyInput, UnusableLabels, quoted
from ..core.scale import Label, Scale, listed, plain_label, same_number, whole_number

if TYPE_CHECKING:
    from ..core.typing import Array

LARGEST = 1e100  # no number of rows
ROUNDED = 0.005  # how far off a share of two decimals may be
ROUNDED_PER_CENT = 0.05  # and one of 100 with one decimal
EXACTLY = 1e-6  # beside which a number is whole
MARGINS = ("all", "sum", "total", "totals")


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A frame whose first column names the true classes, whatever else it could be taken for."""

    frame: Any


def read_table(counts: Any, scale: Any, classes: Any, event: Any) -> tuple[Scale, Array]:
    """The classes of a table, and its counts in their order."""
    known = _said_of_classes(scale, classes, event)
    rows, columns, numbers = _taken_apart(counts)
    _check_sums(rows, columns, _numbers(numbers))
    if rows is None or columns is None:
        return _without_names(_square(_numbers(numbers)), known, event)
    if known is None and min(len(rows), len(columns)) > 1 and set(rows).isdisjoint(columns):
        raise BadTable(
            f"rows are {listed(rows)}, and columns {listed(columns)}", mend="Name a class alike in rows and in columns"
        )
    labels = _in_order(rows, columns)
    if known is not None and not set(labels) <= set(known.classes):
        overlap = not set(labels).isdisjoint(known.classes)
        if overlap or rows != columns or len(rows) != len(known):
            raise BadTable(f"the table is about {listed(labels)}, not {listed(known.classes)}", mend="Name its classes")
        return known, _filled(_square(_numbers(numbers)), labels)  # the same classes by other names
    found = Scale(labels, event, _is_chosen(counts, labels)) if known is None else known
    table, places = np.zeros((len(found), len(found))), {label: place for place, label in enumerate(found.classes)}
    across = [places[label] for label in columns]
    table[np.ix_([places[label] for label in rows], across)] = _numbers(numbers).reshape(len(rows), len(columns))
    return found, _filled(table, found.classes)


def _in_order(rows: list[Label], columns: list[Label]) -> list[Label]:
    """All classes of a table: as the side names them that has all, sorted where both sides are, or else rows first.

    A class that was never true must not come last for that: to measures of ordered classes it would be another scale.
    """
    for side, other in ((rows, columns), (columns, rows)):
        if set(other) <= set(side):
            return side
    labels = [*rows, *[label for label in columns if label not in rows]]
    alike = len({isinstance(label, str) for label in labels}) == 1
    return sorted(labels) if alike and rows == sorted(rows) and columns == sorted(columns) else labels


def _is_chosen(counts: Any, labels: list[Label]) -> bool:
    """Whether anybody chose the order of the classes of a table: frames of text in the order of letters come sorted."""
    if isinstance(counts, Mapping) or not all(isinstance(label, str) for label in labels):
        return True
    kinds = [getattr(getattr(counts, side, None), "dtype", None) for side in ("index", "columns")]
    return labels != sorted(map(str, labels)) or any(getattr(kind, "ordered", False) for kind in kinds)


def _said_of_classes(scale: Any, classes: Any, event: Any) -> Scale | None:
    """The classes as far as the caller has named them."""
    if scale is None:
        return None if classes is None else Scale(classes, event)
    if not isinstance(scale, Scale):
        raise BadOption(f"scale is {quoted(scale)}", mend="Give scale=Scale(['low', 'high'])")
    return scale if event is None else Scale(scale.classes, event, scale.ordered)


def _without_names(table: Array, known: Scale | None, event: Any) -> tuple[Scale, Array]:
    """Numbers alone: their classes are counted from 0, unless the caller names one a row."""
    found = Scale(list(range(len(table))), event) if known is None else known
    if len(found) != len(table):
        raise BadTable(f"{len(found)} classes for a table of {len(table)}", mend="Name one class a row")
    return found, _filled(table, range(len(table)))


def _taken_apart(counts: Any) -> tuple[list[Label] | None, list[Label] | None, Any]:
    """The names of rows and columns, where there are any, and the numbers."""
    if isinstance(counts, Mapping):
        if not all(isinstance(row, Mapping) for row in counts.values()):
            raise BadTable("the table has no columns", mend="Give {true: {assigned: count}}")
        names = list(dict.fromkeys(name for row in counts.values() for name in row))
        return _named(counts), _named(names), [[row.get(name, 0) for name in names] for row in counts.values()]
    if is_of_pandas(counts) and hasattr(counts, "columns"):
        rows, columns, counted = _named(counts.index), _named(counts.columns), _is_counted(counts.index)
        numeric = [kind.kind in "iufb" for kind in counts.dtypes]
        if counted and numeric[1:] and not numeric[0] and all(numeric[1:]):
            raise BadTable(
                f"column {quoted(columns[0])} holds no counts", mend=f"Classes are the index: set_index({columns[0]!r})"
            )
        if not counted:  # columns of a file have texts for names, as those of Arrow
            columns = [_alike(name, rows) if isinstance(name, str) else name for name in columns]
        # Names on one side hold for the other too, where nobody gave it any.
        alike = len(rows) == len(columns)
        return (
            columns if alike and _is_nameless(counts.index, columns) else rows,
            rows if alike and _is_nameless(counts.columns, rows) else columns,
            _of_frame(counts),
        )
    if isinstance(counts, NamedTable):
        return _with_names(read_frame(counts.frame))
    if hasattr(counts, "__arrow_c_stream__") and not is_of_pandas(counts):
        return _of_arrow(read_frame(counts))
    if isinstance(counts, str | PathLike):
        raise BadTable(
            f"{quoted(str(counts))} is no table", mend="Read it first: pandas.read_csv(..., index_col=0) or read_excel"
        )
    return None, None, counts


def _of_frame(counts: Any) -> Any:
    """The numbers of a frame. Of its columns that can miss values, NumPy would make objects."""
    if all(kind.kind in "iufb" for kind in counts.dtypes):
        return counts.to_numpy(dtype=np.float64, na_value=np.nan)
    return counts.to_numpy()


def _of_arrow(table: Any) -> tuple[list[Label] | None, list[Label] | None, Any]:
    """A frame without an index: columns name the classes, those of rows too, unless the first one does that.

    It does where it holds words, or where there is one column more than rows.
    """
    names, rows = table.column_names, table.num_rows
    if len(names) == rows + 1 or (names and any(isinstance(label, str) for label in table.column(0).to_pylist())):
        return _with_names(table)
    labels = _named(names) if len(names) == rows else None
    return labels, labels, list(zip(*map(_counts, names, table.columns), strict=True))


def _with_names(table: Any) -> tuple[list[Label], list[Label], list[tuple[Any, ...]]]:
    """A frame whose first column names the true classes."""
    labels, names = table.column(0).to_pylist(), table.column_names[1:]
    if "" in names or (labels and not names):
        alone = f"{quoted(table.column_names[0])} is the only column with a name"
        raise BadTable(
            "a column of counts has no name" if names else alone,
            mend="The first line names the columns; leave out titles and empty columns",
        )
    for row, label in enumerate(labels):
        if label is None or label == "":
            raise BadTable(f"row {row} names no class", mend="Leave empty rows out")
    if not labels or not names:
        raise BadTable(f"the table has {len(labels)} rows", mend="One row and one column a class")
    rows = _named(labels)
    columns = _named([_alike(name, rows) for name in names])
    return rows, columns, list(zip(*map(_counts, names, table.columns[1:]), strict=True))


def _alike(name: str, labels: list[Label]) -> Label:
    """The name of a column, which is a text, as the kind of label that rows have."""
    if all(isinstance(label, bool) for label in labels):
        return {"true": True, "false": False}.get(name.lower(), name)
    same = None if name in labels else same_number(name, labels)
    if same is not None:
        return same
    number = None if any(isinstance(label, str) for label in labels) else whole_number(name)
    return name if number is None else number


def _counts(name: str, column: Any) -> list[Any]:
    """The counts of a column of Arrow, with NaN for those that are missing."""
    counts = column.to_pylist()
    for count in counts:
        if isinstance(count, str) and not count.strip().isdecimal():  # one such makes texts of all numbers in a file
            mend = f"Give numbers of rows, {'no mark between thousands' if ',' in count else 'and nothing beside them'}"
            raise BadTable(f"column {quoted(name)} holds {quoted(count)}", mend=mend)
    return [np.nan if count is None else count for count in counts]


def _is_nameless(index: Any, others: list[Label]) -> bool:
    """Whether pandas counted a side that nobody named; beside whole numbers, these are names too."""
    return _is_counted(index) and not any(isinstance(label, int) and not isinstance(label, bool) for label in others)


def _is_counted(index: Any) -> bool:
    """Whether pandas counted what nobody named."""
    return type(index).__name__ == "RangeIndex" and index.name is None and list(index) == list(range(len(index)))


def _named(names: Any) -> list[Label]:
    try:
        labels = [plain_label(name) for name in names]
    except UnusableLabels as error:
        raise BadTable(error.problem, mend=error.mend) from None
    if len(set(labels)) < len(labels):
        raise BadTable(f"a class stands twice in {listed(labels)}", mend="Name every class once")
    if labels and isinstance(labels[-1], str) and labels[-1].lower() in MARGINS:
        raise BadTable(f"{quoted(labels[-1])} is no class", mend="Leave sums out")
    return labels


def _numbers(counts: Any) -> Array:
    try:
        table = np.asarray(counts.filled(np.nan) if isinstance(counts, np.ma.MaskedArray) else counts)
        if table.dtype.kind in "iufb":
            return table.astype(np.float64)
    except Exception:  # noqa: S110  # a foreign object may raise anything
        pass
    raise BadTable("the table does not hold numbers", mend="Give counts: [[231, 27], [32, 54]]")


def _check_sums(rows: list[Label] | None, columns: list[Label] | None, table: Array) -> None:
    """Refuse a last row and column that hold the sums of the others, whatever they are called.

    One of both is taken for sums only where no class of the other side is called like it: that a class is assigned as
    often as two others, whatever is true, can happen.
    """
    if table.ndim != 2 or not 0 < table.max(initial=0) <= LARGEST:  # what cannot be a table is refused later
        return
    below = len(table) > 2 and (table[:-1].sum(axis=0) == table[-1]).all()
    beside = len(table.T) > 2 and (table[:, :-1].sum(axis=1) == table[:, -1]).all()
    if below and beside:
        said = "the last row and the last column hold"
    elif below and rows is not None and rows[-1] not in (columns or rows):
        said = f"row {quoted(rows[-1])} holds"
    elif beside and columns is not None and columns[-1] not in (rows or columns):
        said = f"column {quoted(columns[-1])} holds"
    else:
        return
    raise BadTable(f"{said} the sums of the others", mend="Leave sums out: they are no class")


def _square(table: Array) -> Array:
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise BadTable(f"the table has the shape {table.shape}", mend="One row and one column a class")
    return table


def _filled(table: Array, labels: Sequence[Label]) -> Array:
    """A table with rows in it, and nothing that could be no count."""
    if not np.isfinite(table).all() or (table < 0).any():
        row, column = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0]
        count = "missing" if np.isnan(table[row, column]) else f"{table[row, column]:g}"
        raise BadTable(
            f"the count in row {labels[row]!r}, column {labels[column]!r} is {count}", mend="Counts are 0 or above"
        )
    if table.size and table.max() > LARGEST:
        raise BadTable(f"a count is {table.max():g}", mend="That cannot be a number of rows")
    if table.sum() == 0:
        raise EmptyInput("the table is empty", mend="At least one count must be above 0")
    _check_shares(table)
    return table


def _check_shares(table: Array) -> None:
    """Refuse what tells how rows are divided, and not how many there are: no interval could be made of it."""
    if table.max() <= 1 and (found := _shared_out(table, 1.0, ROUNDED)) is not None:
        raise BadTable(f"the cells are shares: {found[0]} up to 1", mend=f"Give counts: multiply {found[1]}")


def words_on_per_cent(table: Array) -> str:
    """What to ask whose cells look like shares of 100: there may be as many rows, of several tables on average."""
    found = _shared_out(table, 100.0, ROUNDED_PER_CENT) or _whole_per_cent(table)
    return "" if found is None else f"are the cells per cent? {found[0]} up to 100; intervals are those of so many rows"


def _whole_per_cent(table: Array) -> tuple[str, str] | None:
    """What adds up to exactly 100 where all cells are whole numbers: all of them, or every row or column."""
    if (table != table.round()).any():
        return None
    for sums, who in ((table.sum(keepdims=True), "they add"), (table.sum(1), "every row adds")):
        if (sums == 100).all():
            return who, ""
    return None


def words_on_thousands(table: Array) -> str:
    """What to ask whose cells look like 1,234: a mark before three digits was read as that of decimals."""
    whole, thousands = table == table.round(), table * 1000
    marked = ~whole & (np.abs(thousands - thousands.round()) < EXACTLY)
    told = marked & (np.abs(thousands / 10 - (thousands / 10).round()) > EXACTLY)  # 1.5 may be a weight
    if not told.any() or (marked | whole).sum() < table.size or not (table[whole] > 0).any():
        return ""
    cell = table[told][0]
    return f"is {cell:g} a count of {cell * 1000:.0f}? A point or a comma before three digits is read as decimals"


def _shared_out(table: Array, whole: float, rounded: float) -> tuple[str, str] | None:
    """What adds up to a whole where not all cells are whole numbers, and how to make counts of them, or None."""
    if (table == table.round()).all():
        return None
    for sums, who, mend in (
        (table.sum(keepdims=True), "they add", "them by the number of all rows"),
        (table.sum(1), "every row adds", "each row by the number of rows that it divides"),
        (table.sum(0), "every column adds", "each column by the number of rows that it divides"),
    ):
        # Shares may have been rounded, and a class that never occurs has none.
        if (np.abs(sums[sums > 0] - whole) <= rounded * table.size / sums.size).all():
            return who, mend
    return None

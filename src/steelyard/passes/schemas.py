"""What must be known before the first row is counted: the columns that all files have, and the distinct labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import AS_TEXT, as_numpy
from ..core.errors import EmptyInput, SteelyardError, UnusableLabels
from ..data.engines import Engine
from ..data.paths import File
from ..data.shards import Batch
from ..data.spelling import NumberMarks
from ..data.streams import Files, Kinds
from ..data.where import Filter
from ..inputs.categorical import occurring
from ..inputs.labels import order_of
from ..inputs.request import Request, check_same_columns

if TYPE_CHECKING:
    from ..core.typing import Array, Marks


@dataclass(frozen=True)
class Offer:
    """What one file has.

    Attributes:
        file: The file.
        columns: The columns that are needed.
        kinds: What those hold that lie in the file, and those of the filter; the others are keys of its folders.
        fault: Why it is of no use, where it is not.
    """

    file: File
    columns: tuple[str, ...] = ()
    kinds: Mapping[str, Any] = field(default_factory=dict)
    fault: SteelyardError | None = None


def _offered(request: Request, keep: Filter | None, marks: NumberMarks | None, file: File) -> tuple[Offer, ...]:
    """What a file has, told by its columns and not its rows; of text, all rows are read to tell what columns hold.

    Offers add up to all of them, in the order of files.
    """
    alone = Files((file,), keep, uses=request.uses, marks=marks)
    try:
        columns = request.columns_in(alone, file)
        return (Offer(file, tuple(columns), alone.own_types(file, alone.with_filter(columns))),)
    except SteelyardError as error:
        return (Offer(file, fault=error),)


def agreed(
    request: Request, files: Files, engine: Engine, skip: bool
) -> tuple[list[str], Kinds, dict[str, SteelyardError]]:
    """Columns and types that go for all files, and what is wrong with others.

    The first file that can be used says what all must have.
    """
    offers: Sequence[Offer] = engine.fold(partial(_offered, request, files.filter, files.marks), files.files)
    columns: list[str] = []
    kinds: Kinds = {}
    left_out: dict[str, SteelyardError] = {}
    for offer in offers:
        try:
            if offer.fault is not None:
                raise offer.fault
            check_same_columns(offer.columns, columns, offer.file)
            found = {
                name: offer.kinds[name] if name in offer.kinds else files.key_types[name]
                for name in files.with_filter(offer.columns)
            }
            kinds, columns = files.joint_types(kinds, offer.file, found), list(offer.columns)
        except SteelyardError as error:
            if not skip:
                raise
            left_out[offer.file.shown] = error
    return columns, files.settled(kinds), left_out


@dataclass(frozen=True)
class Seen:
    """The distinct values of columns; of numbers with a fraction one is enough, since no class is called so.

    Attributes:
        values: The values, by column.
        missing: Whether any value is missing.
        rows: How many rows were looked at.
        orders: The order that ordered categoricals bring along, by column; nothing where they disagree.
    """

    values: Mapping[str, Any]
    missing: bool = False
    rows: int = 0
    orders: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Any, names: Sequence[str], complete: bool) -> Seen:
        """Look at some rows, or at those of them that are complete."""
        from pyarrow import compute

        kept = _complete(table) if complete else table
        found = {name: _distinct(kept.column(name), name) for name in names}
        gaps = [bool(compute.any(compute.is_null(values, nan_is_null=True)).as_py()) for values in found.values()]
        values = {name: _few(values.drop_null()) for name, values in found.items()}
        orders = {name: order_of(table.column(name)) for name in names}
        return cls(values, kept.num_rows < table.num_rows or any(gaps), kept.num_rows, orders)

    def __add__(self, other: Seen) -> Seen:
        """What both have seen."""
        import pyarrow as pa
        from pyarrow import compute

        values = {
            name: _few(compute.unique(pa.concat_arrays([found, other.values[name]])))
            for name, found in self.values.items()
        }
        orders = {name: order if other.orders[name] == order else () for name, order in self.orders.items()}
        return Seen(values, self.missing or other.missing, self.rows + other.rows, orders)

    @property
    def columns(self) -> dict[str, Any]:
        """The values as columns, which have the order of those that they come from."""
        return {name: _ordered(values, self.orders.get(name, ())) for name, values in self.values.items()}


def labels_in(names: Sequence[str], complete: bool, batch: Batch) -> Seen:
    """The distinct values of some columns of a batch, or of those of its rows that are complete."""
    try:
        return Seen.of(batch.table, names, complete)
    except UnusableLabels as error:
        raise batch.locate(error) from None


def _distinct(column: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        return _unique(column)
    except pa.ArrowNotImplementedError:  # lists and structures, of which no two are told to be the same
        raise UnusableLabels(f"a column of {column.type} cannot hold class labels", column=name, mend=AS_TEXT) from None


def _unique(column: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_floating(column.type) and not column.null_count:
        plain = as_numpy(column)
        first = plain[has_fraction(plain)][:1]
        if len(first):  # one is enough, and a gap, if there is any
            return pa.array(np.concatenate([first, plain[np.isnan(plain)][:1]]), column.type, from_pandas=False)
    if not pa.types.is_dictionary(column.type):
        return compute.unique(column)
    if column.null_count:
        return compute.unique(column).cast(column.type.value_type)
    # Words that stand in no row stand in a dictionary too.
    used = occurring(as_numpy(column.indices), len(column.dictionary))
    return column.dictionary.take(pa.array(np.flatnonzero(used)))


def _ordered(values: Any, order: Sequence[Any]) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    if not order:
        return values
    words = pa.array(order, values.type)
    return pa.DictionaryArray.from_arrays(compute.index_in(values, words), words, ordered=True)


def nothing(dropped: bool) -> EmptyInput:
    """What to say where no row is left."""
    if dropped:
        return EmptyInput("every row misses a value", mend="Nothing is left after missing='drop'")
    return EmptyInput("there is no row to assess", mend="Check the filter or the file")


def _few(values: Any) -> Any:
    """Whole numbers and words as they are, and one of all fractions."""
    import pyarrow as pa

    if not pa.types.is_floating(values.type):
        return values
    plain = as_numpy(values)
    plain = plain[~np.isnan(plain)]
    broken = has_fraction(plain)
    return pa.array(np.concatenate([plain[~broken], plain[broken][:1]]), values.type)


def has_fraction(numbers: Array) -> Marks:
    """Which numbers no class can be called by."""
    return np.asarray(((numbers != np.floor(numbers)) & ~np.isnan(numbers)) | np.isinf(numbers))


def _complete(table: Any) -> Any:
    """The rows in which nothing is missing; NaN is nothing."""
    from pyarrow import compute

    gaps = [compute.is_null(column, nan_is_null=True) for column in table.columns]
    return table.filter(compute.invert(reduce(compute.or_, gaps)))

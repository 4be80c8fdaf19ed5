"""What is seen on the way through the rows before any is counted: the distinct labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import AS_TEXT, as_numpy
from ..core.errors import EmptyInput, UnusableLabels
from ..data.shards import Batch
from ..inputs.coded import occurring
from ..inputs.labels import order_of

if TYPE_CHECKING:
    from ..core.typing import Array, Marks


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


@dataclass(frozen=True)
class Look:
    """Makes a batch of rows the values that it holds.

    Attributes:
        names: The columns that are looked at.
        complete: Whether rows count only where nothing is missing.
    """

    names: tuple[str, ...]
    complete: bool

    def __call__(self, batch: Batch) -> Seen:
        """Look at a batch."""
        try:
            return Seen.of(batch.table, self.names, self.complete)
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

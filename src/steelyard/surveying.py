"""What is gathered on the way through files: the distinct labels, and sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from .errors import EmptyInput
from .tally import Tally


@dataclass
class Sum:
    """Tallies added up in pairs, in the order in which they come: sums of many clusters are not copied every time."""

    parts: list[tuple[int, Tally]] = field(default_factory=list)

    def add(self, tally: Tally) -> None:
        """Add one; two of the same height become one of the next."""
        height = 0
        while self.parts and self.parts[-1][0] == height:
            tally, height = self.parts.pop()[1] + tally, height + 1
        self.parts.append((height, tally))

    def extend(self, other: Sum) -> None:
        """Add what another has added up."""
        found = other.total()
        if found is not None:
            self.add(found)

    def total(self) -> Tally | None:
        """What was added so far."""
        found: Tally | None = None
        for _, tally in reversed(self.parts):
            found = tally if found is None else tally + found
        return found


@dataclass
class Seen:
    """The distinct values of columns; of numbers with a fraction one is enough, since no class is called so.

    ``missing`` tells whether any value is, ``rows`` how many rows were looked at.
    """

    values: dict[str, Any] = field(default_factory=dict)
    missing: bool = False
    rows: int = 0

    def add(self, table: Any, names: list[str], complete: bool) -> None:
        """Look at some rows, or at those of them that are complete."""
        import pyarrow as pa
        from pyarrow import compute

        kept = _complete(table) if complete else table
        self.missing |= kept.num_rows < table.num_rows
        self.rows += kept.num_rows
        for name in names:
            column = kept.column(name)
            # Words that stand in no row stand in a dictionary too.
            found = compute.unique(column.combine_chunks() if column.num_chunks != 1 else column.chunk(0))
            found = found.cast(found.type.value_type) if pa.types.is_dictionary(found.type) else found
            self.missing |= bool(compute.any(compute.is_null(found, nan_is_null=True)).as_py())
            before = self.values.get(name)
            both = found if before is None else pa.concat_arrays([before, found])
            self.values[name] = _few(compute.unique(both.drop_null()))


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
    plain = values.to_numpy()
    plain = plain[~np.isnan(plain)]
    broken = (plain != np.floor(plain)) | np.isinf(plain)
    return pa.array(np.concatenate([plain[~broken], plain[broken][:1]]), values.type)


def _complete(table: Any) -> Any:
    """The rows in which nothing is missing; NaN is nothing."""
    from pyarrow import compute

    gaps = [compute.is_null(column, nan_is_null=True) for column in table.columns]
    return table.filter(compute.invert(reduce(compute.or_, gaps)))

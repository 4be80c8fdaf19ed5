"""From memberships and scores to the assigned class, with every check that a probability must pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import MissingValues, OutsideUnitInterval, SumNotOne, UnusableLabels, WrongShape
from .parallel import chunks, over_rows

if TYPE_CHECKING:
    from .kinds import Codes, Marks, Numbers

# Wide enough for single precision and for files that kept three decimals, too narrow to let a mistake through.
SUM_TOLERANCE = 2e-3


def numbers(values: Any, name: str) -> Numbers:
    """Take a column of numbers from whatever holds it; what is missing becomes NaN."""
    if not isinstance(values, np.ndarray):
        values = _foreign_numbers(values)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise UnusableLabels("the column does not hold numbers", column=name, mend="Give numbers") from None
    if array.ndim != 1:
        raise WrongShape(
            f"the column has the shape {array.shape}",
            column=name,
            mend="One number a row: a flat list or column",
        )
    return array


def _foreign_numbers(values: Any) -> Any:
    """Read Arrow columns and series with nulls without making Python objects of them."""
    if isinstance(values, list | tuple):
        return np.array([np.nan if value is None else value for value in values])
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        import pyarrow as pa

        column = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.chunked_array(values)
        if column.null_count and not pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        return column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    return np.asarray(values)


def missing_rows(columns: Sequence[Numbers]) -> Marks | None:
    """Mark rows in which a number is missing; None where there are no such rows."""
    marked: Marks | None = None
    for column in columns:
        # The sum of a column is NaN if any entry is, at the price of one read and no memory.
        if column.dtype.kind == "f" and np.isnan(column.sum()):
            here = np.isnan(column)
            marked = here if marked is None else marked | here
    return marked if marked is not None and marked.any() else None


def assign_highest(columns: Sequence[Numbers], names: Sequence[str]) -> Codes:
    """Assign every row to the class of its highest probability; the first such class wins a tie."""
    rows = len(columns[0])
    codes = np.empty(rows, dtype=np.min_scalar_type(len(columns) - 1))

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop):
            _assign_chunk(columns, names, low, codes[low:high])

    over_rows(rows, work)
    return codes


def _assign_chunk(columns: Sequence[Numbers], names: Sequence[str], start: int, codes: Codes) -> None:
    stop = start + len(codes)
    highest = columns[0][start:stop].astype(np.float64)
    lowest, total = highest.copy(), highest.copy()
    codes[:] = 0
    for code, column in enumerate(columns[1:], start=1):
        piece = column[start:stop]
        np.putmask(codes, piece > highest, code)
        np.maximum(highest, piece, out=highest)
        np.minimum(lowest, piece, out=lowest)
        total += piece
    if not (lowest.min() >= 0 and highest.max() <= 1):
        _refuse_range([column[start:stop] for column in columns], names, start)
    astray = np.abs(total - 1)
    if not astray.max() <= SUM_TOLERANCE:
        row = int(np.argmax(~(astray <= SUM_TOLERANCE)))
        raise SumNotOne(
            f"the probabilities add up to {total[row]:.6g}, not 1",
            row=start + row,
            mend="Divide each row by its sum; if these are not probabilities, pass the assigned class instead",
        )


def _refuse_range(columns: Sequence[Numbers], names: Sequence[str], start: int) -> None:
    for column, name in zip(columns, names, strict=True):
        outside = ~((column >= 0) & (column <= 1))
        if outside.any():
            row = int(np.argmax(outside))
            raise OutsideUnitInterval(
                f"{float(column[row])!r} is not a probability",
                column=name,
                row=start + row,
                mend="Probabilities lie between 0 and 1; margins and votes must be standardised first",
            )


def assign_threshold(score: Numbers, name: str, event: int, threshold: float | None) -> Codes:
    """Assign a row to the event when its score reaches the threshold.

    Without a threshold the score must be a probability, and one half is the threshold; a user who names a
    threshold may score on any scale.
    """
    if threshold is None:
        _refuse_range([score], [name], 0)
    return np.where(score >= (0.5 if threshold is None else threshold), event, 1 - event).astype(np.uint8)


def refuse_missing_numbers(column: Numbers, name: str) -> None:
    """Name the first row without a number."""
    if (marked := missing_rows([column])) is not None:
        raise MissingValues(
            "the value is missing",
            column=name,
            row=int(np.argmax(marked)),
            mend="Fill it in, or leave such rows out with missing='drop'",
        )

"""From memberships and scores to the assigned class, with every check that a probability must pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..columns import numbers
from ..errors import MissingValues, OutsideUnitInterval, SumNotOne
from ..own_columns import end_to_end, pieces
from ..parallel import chunks, long_chunks, over_rows

if TYPE_CHECKING:
    from ..kinds import Codes, Marks, Numbers

__all__ = [
    "are_probabilities",
    "assign_highest",
    "assign_none",
    "assign_threshold",
    "missing_rows",
    "numbers",
    "refuse_missing_numbers",
]

# Wide enough for single precision and for files that kept three decimals, too narrow to let a mistake through.
SUM_TOLERANCE = 2e-3
DECIMALS = (2, 3, 4)  # of files whose numbers were rounded: sums of many of them are further off
MOST_ROUNDED = 0.05  # that is too far to be rounding, whatever the number of classes
ROUNDING = 1e-7  # of single precision
ONE = np.float64(1).view(np.uint64)


def missing_rows(columns: Sequence[Numbers]) -> Marks | None:
    """Mark rows in which a number is missing; None where there are no such rows."""
    marked = [here for column in columns if column.dtype.kind == "f" and (here := np.isnan(column)).any()]
    return np.logical_or.reduce(marked) if marked else None


def assign_highest(columns: Sequence[Numbers], headings: Sequence[str], name: str) -> Codes:
    """Assign every row to the class of its highest probability; the first such class wins a tie."""
    codes = _unassigned(columns)

    def work(start: int, stop: int) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            for low, high in long_chunks(start, stop, len(columns)):
                some = pieces(columns, low, high)
                _assign_chunk(some, codes[low:high])
                _refuse_improbable(some, headings, name, low)

    over_rows(len(codes), work, len(columns))
    return codes


def assign_none(columns: Sequence[Numbers], headings: Sequence[str]) -> Codes:
    """Codes that nobody will ask for, of scores on any scale: none may be missing."""
    for column in end_to_end(columns):
        if any(over_rows(len(column), partial(_misses_any, column))):
            for each, heading in zip(columns, headings, strict=True):
                refuse_missing_numbers(each, heading)
    return _unassigned(columns)


def _misses_any(column: Numbers, start: int, stop: int) -> bool:
    # Where anything is missing, so is the least.
    return any(np.isnan(column[low:high].min()) for low, high in chunks(start, stop))


def are_probabilities(columns: Sequence[Numbers]) -> bool:
    """Whether all rows are probabilities of all classes."""
    names = [""] * len(columns)

    def work(start: int, stop: int) -> bool:
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                for low, high in long_chunks(start, stop, len(columns)):
                    _refuse_improbable(pieces(columns, low, high), names, "", low)
        except (OutsideUnitInterval, SumNotOne):
            return False
        return True

    return all(over_rows(len(columns[0]), work, len(columns)))


def _unassigned(columns: Sequence[Numbers]) -> Codes:
    return np.zeros(len(columns[0]), dtype=np.min_scalar_type(len(columns) - 1))


def _refuse_improbable(some: Sequence[Numbers], headings: Sequence[str], name: str, start: int) -> None:
    """Name the first of some rows whose numbers are no probabilities, or do not add up to 1."""
    for piece, heading in zip(some, headings, strict=True):
        _refuse_range(piece, heading, start, SEVERAL)
    total = some[0].copy()
    for piece in some[1:]:
        total += piece
    if not (1 - total.min() <= SUM_TOLERANCE and total.max() - 1 <= SUM_TOLERANCE):
        off = np.flatnonzero(~(np.abs(total - 1) <= SUM_TOLERANCE))
        off = off[~_are_rounded([piece[off] for piece in some], total[off])]
        if len(off):
            raise _astray(float(total[off[0]]), name, start + int(off[0]))


def _are_rounded(some: Sequence[Numbers], total: Numbers) -> Marks:
    """Mark rows of rounded numbers whose sum is no further off than rounding brings it.

    Every one of them is off by half a unit at most, and their sum by whole units: of three classes, by one.
    """
    found = np.zeros(len(total), dtype=bool)
    for decimals in DECIMALS:
        whole = np.logical_and.reduce([np.abs(each - np.round(each, decimals)) < ROUNDING for each in some])
        reach = min((len(some) - 1) // 2 * 10.0**-decimals, MOST_ROUNDED)
        found |= whole & (np.abs(total - 1) <= reach + len(some) * ROUNDING)
    return found


def _assign_chunk(pieces: Sequence[Numbers], codes: Codes) -> None:
    """Fill in the codes of a few rows."""
    highest = pieces[0]
    for code, (before, piece) in enumerate(pairwise(pieces), start=1):
        highest = before if code == 1 else np.maximum(highest, before)
        # Later codes are higher: the highest of those that were ahead of all before is the last one.
        np.maximum(codes, (piece > highest) * codes.dtype.type(code), out=codes)


def _astray(total: float, name: str, row: int) -> SumNotOne:
    return SumNotOne(
        f"the probabilities add up to {total:.6g}, not 1",
        column=name,
        row=row,
        mend="Divide each row by its sum, as standardise(memberships, 'shift', zero=0) does; if these are not "
        "probabilities, say 'softmax' or 'rank' there, or pass the assigned class instead",
    )


PER_CENT = "divide per cent by 100, votes by their number"
ALONE = (
    "make them of log odds by 1 / (1 + exp(-score)); or take other scores as they are with threshold=, or "
    "measures=['auc']"
)
SEVERAL = (
    "make them of scores by standardise(scores, 'softmax'), 'shift' or 'rank'; or pass the assigned class instead, or "
    "rank rows by the scores as they are with measures=['auc']"
)


def _refuse_range(column: Numbers, name: str, start: int, mend: str = ALONE) -> None:
    if column.dtype == np.float64:
        # As whole numbers, those from 0 to 1 come before all others: those above, negative ones, and no number at all.
        inside = column.view(np.uint64).max() <= ONE
    else:
        inside = column.min() >= 0 and column.max() <= 1
    if inside:
        return
    refuse_missing_numbers(column, name, start)
    outside = ~((column >= 0) & (column <= 1))
    if outside.any():
        row = int(np.argmax(outside))
        made = f"{PER_CENT}; {mend}" if column.min() >= 0 and column.max() <= 100 else mend
        raise OutsideUnitInterval(
            f"{float(column[row])!r} is not a probability",
            column=name,
            row=start + row,
            mend=f"Probabilities lie between 0 and 1; {made}",
        )


def assign_threshold(score: Numbers, name: str, event: int, threshold: float | None, any_scale: bool = False) -> Codes:
    """Assign a row to the event when its score reaches the threshold.

    Without a threshold the score must be a probability, and one half is the threshold; a user who names a
    threshold, or wants none, may score on any scale.
    """
    refuse = _refuse_range if threshold is None and not any_scale else refuse_missing_numbers
    least = 0.5 if threshold is None else threshold
    reached = np.empty(len(score), dtype=bool)

    def work(start: int, stop: int) -> None:
        with np.errstate(over="ignore"):  # a threshold beyond what the score's type can hold
            for low, high in chunks(start, stop):
                refuse(score[low:high], name, low)
                np.greater_equal(score[low:high], least, out=reached[low:high])

    over_rows(len(score), work)
    return (reached if event else ~reached).view(np.uint8)


def refuse_missing_numbers(column: Numbers, name: str, start: int = 0) -> None:
    """Name the first row without a number."""
    if (marked := missing_rows([column])) is not None:
        raise MissingValues(
            "the value is missing",
            column=name,
            row=start + int(np.argmax(marked)),
            mend="Fill it in, or leave such rows out with missing='drop'",
        )

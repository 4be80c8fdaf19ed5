"""From memberships and scores to the assigned class, with every check that a probability must pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import end_to_end, pieces
from ..core.columns import numbers
from ..core.errors import MissingValues, OutsideUnitInterval, SumNotOne
from ..core.threads import chunks, long_chunks, over_rows

if TYPE_CHECKING:
    from ..core.typing import Codes, Marks, Numbers

__all__ = [
    "Noticed",
    "are_probabilities",
    "assign_highest",
    "assign_none",
    "assign_threshold",
    "check_no_missing",
    "missing_rows",
    "numbers",
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


@dataclass
class Noticed:
    """What was counted while rows were assigned.

    Attributes:
        tied: Rows in which several classes have the highest probability.
        beyond: Rows whose score is no probability: below 0 or above 1.
        scales: Whether anybody wants to know of these where scores may lie on any scale.
    """

    tied: int = 0
    beyond: int = 0
    scales: bool = True


def assign_highest(
    columns: Sequence[Numbers],
    headings: Sequence[str],
    name: str,
    event: int | None = None,
    noticed: Noticed | None = None,
) -> Codes:
    """Return the class of the highest probability of every row; the event wins a tie, or else the first tied class."""
    codes = _unassigned(columns)

    def work(start: int, stop: int) -> int:
        tied = 0
        with np.errstate(invalid="ignore", over="ignore"):
            for low, high in long_chunks(start, stop, len(columns)):
                some = pieces(columns, low, high)
                tied += _assign_chunk(some, codes[low:high], event)
                _check_probable(some, headings, name, low)
        return tied

    tied = sum(over_rows(len(codes), work, len(columns)))
    if noticed is not None:
        noticed.tied += tied
    return codes


def assign_none(columns: Sequence[Numbers], headings: Sequence[str]) -> Codes:
    """Codes that nobody will ask for, of scores on any scale: none may be missing."""
    for column in end_to_end(columns):
        if any(over_rows(len(column), partial(_misses_any, column))):
            for each, heading in zip(columns, headings, strict=True):
                check_no_missing(each, heading)
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
                    _check_probable(pieces(columns, low, high), names, "", low)
        except (OutsideUnitInterval, SumNotOne):
            return False
        return True

    return all(over_rows(len(columns[0]), work, len(columns)))


def _unassigned(columns: Sequence[Numbers]) -> Codes:
    return np.zeros(len(columns[0]), dtype=np.min_scalar_type(len(columns) - 1))


def _check_probable(some: Sequence[Numbers], headings: Sequence[str], name: str, start: int) -> None:
    """Name the first of some rows whose numbers are no probabilities, or do not add up to 1."""
    for piece, heading in zip(some, headings, strict=True):
        _check_range(piece, heading, start, SEVERAL)
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


def _assign_chunk(pieces: Sequence[Numbers], codes: Codes, event: int | None) -> int:
    """Fill in the codes of a few rows, and return in how many of them classes are tied."""
    if len(pieces) == 2:
        winner = event or 0
        won = pieces[winner] >= pieces[1 - winner]
        codes[:] = won if winner else ~won
        return int(np.count_nonzero(pieces[0] == pieces[1]))
    highest, last, found = reduce(np.maximum, pieces), len(pieces) - 1, 0
    for code, piece in enumerate(pieces):
        here = piece == highest
        found += int(np.count_nonzero(here))
        if code < last:  # counted from the last class on, the first one that is tied is the greatest
            np.maximum(codes, here * codes.dtype.type(last - code), out=codes)
    np.subtract(codes.dtype.type(last), codes, out=codes)
    if event is not None and found != len(codes):
        np.copyto(codes, codes.dtype.type(event), where=pieces[event] == highest)
    if found == len(codes):
        return 0
    return int(np.count_nonzero(sum((piece == highest).view(np.uint8) for piece in pieces) > 1))


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
    "make them of log odds by 1 / (1 + exp(-score)); or give scores on another scale as score=, with threshold= where "
    "classes are to be predicted"
)
SEVERAL = (
    "make them of scores by standardise(scores, 'softmax'), 'shift' or 'rank'; or pass the assigned class instead, or "
    "give scores on another scale as score=, which ranks rows"
)


def _check_range(column: Numbers, name: str, start: int, mend: str = ALONE) -> None:
    if column.dtype == np.float64:
        # As whole numbers, those from 0 to 1 come before all others: those above, negative ones, and no number at all.
        inside = column.view(np.uint64).max() <= ONE
    else:
        inside = column.min() >= 0 and column.max() <= 1
    if inside:
        return
    check_no_missing(column, name, start)
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


def assign_threshold(
    score: Numbers,
    name: str,
    event: int,
    threshold: float | None,
    any_scale: bool = False,
    *,
    winner: int | None = None,
    noticed: Noticed | None = None,
) -> Codes:
    """Assign a row to the event when its score reaches the threshold.

    Without a threshold the score must be a probability, and one half is the threshold: then two classes are tied, and
    ``winner`` takes the row (the event if not given). A user who names a threshold, or wants none, may score on any
    scale.
    """
    least, halved = (0.5, True) if threshold is None else (threshold, False)
    reaches = np.greater if halved and winner not in (None, event) else np.greater_equal
    reached = np.empty(len(score), dtype=bool)
    looks = noticed is not None and noticed.scales

    def work(start: int, stop: int) -> tuple[int, int]:
        tied = beyond = 0
        with np.errstate(over="ignore", invalid="ignore"):  # a threshold beyond what the score's type can hold
            for low, high in chunks(start, stop):
                piece = score[low:high]
                if halved and not any_scale:
                    _check_range(piece, name, low)
                elif looks:
                    beyond += _beyond(piece, name, low)
                else:
                    check_no_missing(piece, name, low)
                reaches(piece, least, out=reached[low:high])
                tied += int(np.count_nonzero(piece == least)) if halved else 0
        return tied, beyond

    for tied, beyond in over_rows(len(score), work):
        if noticed is not None:
            noticed.tied, noticed.beyond = noticed.tied + tied, noticed.beyond + beyond
    return (reached if event else ~reached).view(np.uint8)


def _beyond(piece: Numbers, name: str, start: int) -> int:
    """Count the rows whose score is no probability; one that is missing is refused."""
    least, most = piece.min(), piece.max()  # where anything is missing, so are these
    if np.isnan(least):
        check_no_missing(piece, name, start)
    return 0 if least >= 0 and most <= 1 else int(np.count_nonzero((piece < 0) | (piece > 1)))


def check_no_missing(column: Numbers, name: str, start: int = 0) -> None:
    """Name the first row without a number."""
    if column.dtype.kind == "f" and (marked := np.isnan(column)).any():
        raise MissingValues(
            "the value is missing",
            column=name,
            row=start + int(np.argmax(marked)),
            mend="Fill it in, or leave such rows out with missing='drop'",
        )

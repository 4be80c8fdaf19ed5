"""Rows in the order of their scores: what ROC curves, AUC and thresholds are made of. Knows no measure.

A score is sorted once. Everything behind that is sums over the distinct scores, from the highest to the lowest: the
mass of a class at each of them, and that of the rest. New masses (weights, replicates, pseudo-rows) need no new sort.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import distinct
from ..core.cached import cached_property
from ..core.threads import chunks, cores, gathered, over_rows, side_by_side

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Numbers, Places

SIGN = np.int64(-(2**63))
PASSES = 4  # over the rows, to make keys of them, or to count them
SORTING = 4  # times the work of a pass over the same rows, at the least
EVERY_BYTE, LAST_BYTE = np.uint64(0x0101010101010101), np.uint64(56)
WORTH_HALVING = 1 << 19  # keys: of fewer, or where registers are wide, parting them costs about what it saves


@dataclass(frozen=True)
class Tags:
    """What stands in the last bits of a key: the place of a row, and before it the true class where that is asked for.

    Attributes:
        places: The bits of a place.
        all: These, and those of a class.
        truth: The true classes.
        marked: The class that is 1, and all others 0, where one alone is asked for.
        written: The tags of all rows, where they are kept for one score after the other.
    """

    places: np.uint64
    all: np.uint64
    truth: Codes | None = None
    marked: int | None = None
    written: Places | None = None

    @classmethod
    def of(cls, rows: int, truth: Codes | None = None, classes: int = 1) -> Tags:
        """Room for so many rows, and so many classes."""
        width = max(rows - 1, 1).bit_length()
        every = width + (classes - 1).bit_length()
        return cls(np.uint64((1 << width) - 1), np.uint64((1 << every) - 1), truth)

    @classmethod
    def marking(cls, truth: Codes, code: int) -> Tags:
        """Room for one class, told from the rest."""
        return replace(cls.of(len(truth), truth, 2), marked=code)

    def kept(self, rows: int) -> Tags:
        """The same, written down once for all scores of the same rows."""
        written: Places = np.empty(rows, dtype=np.uint64)

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop):
                written[low:high] = self.at(low, high)

        over_rows(rows, work)
        return replace(self, written=written)

    def at(self, low: int, high: int) -> Places:
        """The tags of some rows."""
        if self.written is not None:
            return self.written[low:high]
        tags: Places = np.arange(low, high, dtype=np.uint64)
        if self.truth is not None:
            truth = self.truth[low:high]
            classes = (truth if self.marked is None else truth == self.marked).astype(np.uint64)
            classes *= self._one
            tags |= classes
        return tags

    def are_of(self, code: int, keys: Places) -> Marks:
        """Which keys are those of a class."""
        number = code if self.marked is None else int(code == self.marked)
        return np.asarray(keys & (self.all - self.places) == np.uint64(number) * self._one)

    @property
    def _one(self) -> np.uint64:
        """The tag of the first row of class 1."""
        return self.places + np.uint64(1)


def ordering(score: Numbers, tags: Tags | None = None, code: int | None = None) -> tuple[Places, Marks, Marks]:
    """Order rows from the highest score to the lowest.

    Sorting numbers is several times faster than sorting their places. So the place of a row is written into the last
    bits of its score, the whole is sorted, and where the bits that are left of two scores agree, the scores
    themselves decide. The class of a row may be written there too: to look that up later, row by row in the order of
    scores, would take longer the more rows there are.

    Returns:
        The rows; which of them have the same score as the row before; and which are of a class, if that is asked for.
    """
    tags = Tags.of(len(score)) if tags is None else tags
    keys = in_halves(_keys(score, tags, _negative).view(np.float64))
    if len(keys) and np.isnan(keys[-1]):  # infinite scores, which are no numbers with a place in their last bits
        keys = in_halves(_keys(score, tags, _descending))
    own = np.empty(0 if code is None else len(score), dtype=bool)
    order, alike = _places(keys.view(np.uint64), tags, own, code, len(score) // 4)
    tied, moved = np.zeros(len(score), dtype=bool), None
    if alike is None:  # it is faster to look at all of them than to pick so many out
        ordered = gathered(score, order)
        if (ordered[:-1] < ordered[1:]).any():
            moved = _put_right(order, score, np.arange(len(score) - 1), ordered[:-1] < ordered[1:])
            ordered = gathered(score, order)
        tied[1:] = ordered[:-1] == ordered[1:]
    elif len(alike):
        before, after = score[order[alike]], score[order[alike + 1]]
        if (before < after).any():
            moved = _put_right(order, score, alike, before < after)
            before, after = score[order[alike]], score[order[alike + 1]]
        tied[alike + 1] = before == after
    if moved is not None and code is not None and tags.truth is not None:
        own[moved] = tags.truth[order[moved]] == code
    return order, tied, own


def _keys(score: Numbers, tags: Tags, turn: Callable[[Numbers, Places], None]) -> Places:
    """Scores, turned so that they fall where they rose, with the tag of each row in their last bits."""
    keys: Places = np.empty(len(score), dtype=np.uint64)

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop):
            bits = keys[low:high]
            turn(score[low:high], bits)
            bits &= ~tags.all
            bits |= tags.at(low, high)

    over_rows(len(score), work)
    return keys


def _negative(score: Numbers, bits: Places) -> None:
    """Write negative scores into bits that are read as numbers; 0.0 and -0.0 both become 0.0."""
    np.subtract(0.0, score, out=bits.view(np.float64), dtype=np.float64)


def _places(keys: Places, tags: Tags, own: Marks, code: int | None, most: int) -> tuple[Places, Places | None]:
    """Turn sorted keys into the places that they hold, and nothing else; write down which of them are of a class.

    Returns:
        The places, and where a key and the next one differed in nothing but their tags; None where more did than most.
    """
    found: list[Places] = [np.zeros(0, np.int64)]
    for low, high in chunks(0, len(keys)):
        bits = keys[low:high]
        if most >= 0:
            after = keys[low + 1 : high + 1]
            same = (bits[: len(after)] ^ after) <= tags.all
            alike = int(np.count_nonzero(same))
            most -= alike
            if alike:
                found.append(np.flatnonzero(same) + low)
        if code is not None:
            own[low:high] = tags.are_of(code, bits)
        bits &= tags.places
    return keys.view(np.int64), None if most < 0 else np.concatenate(found)


def _descending(score: Numbers, bits: Places) -> None:
    """Write whole numbers that fall as the scores rise; 0.0 and -0.0 are the same."""
    whole = bits.view(np.int64)
    np.add(0.0, score, out=bits.view(np.float64), dtype=np.float64)
    # Negative scores: all bits are as they should be but the sign; others: all must be turned round but the sign.
    whole ^= ~((whole >> 63) & ~SIGN) & ~SIGN


def in_halves(keys: AnyArray) -> AnyArray:
    """Sort, in place where that is faster; very many keys in two halves, the lower and the upper, side by side."""
    if len(keys) < WORTH_HALVING or cores() < 2:
        keys.sort()
        return keys
    middle, found = np.sort(keys[:: len(keys) // 1000])[500], np.empty_like(keys)
    edge = sum(int(np.count_nonzero(keys[low:high] < middle)) for low, high in chunks(0, len(keys)))

    def half(lower: bool) -> None:
        part, reached = found[:edge] if lower else found[edge:], 0
        for low, high in chunks(0, len(keys)):
            some = keys[low:high]
            some = some.compress((some < middle) == lower)
            part[reached : reached + len(some)] = some
            reached += len(some)
        part.sort()

    side_by_side(half, (True, False))
    return found


def _put_right(order: Places, score: Numbers, alike: Places, wrong: Marks) -> Places:
    """Sort anew, by the scores themselves, the stretches of rows in which one stands before a higher one.

    Returns:
        Where these are.
    """
    stretch: Places = np.cumsum(np.diff(alike, prepend=-2) > 1, dtype=np.int64)
    hurt = np.isin(stretch, distinct(stretch[wrong]))
    first, numbers = alike[hurt], stretch[hurt]
    # A stretch of k pairs has k + 1 rows: those that begin a pair, and the last one.
    last = np.append(np.flatnonzero(np.diff(numbers)), len(numbers) - 1)
    places = np.concatenate([first, first[last] + 1])
    numbers = np.concatenate([numbers, numbers[last]])
    tidy = np.lexsort((places, numbers))
    places, numbers = places[tidy], numbers[tidy]
    rows = order[places]
    order[places] = rows[np.lexsort((-score[rows], numbers))]
    return places


# --- how many of the other side are above each row --------------------------------------------------------------


def count_above(order: Places, tied: Marks, own: Marks, out: Places) -> tuple[float, float]:
    """Count how many rows of the other side are above each row, in the order of the input; one beside it counts half.

    Returns:
        What a count stands for, a row or half of one where scores are tied; and the counts of the rows of the class,
        summed up, in rows.
    """
    if tied.any():
        return 0.5, _count_tied(order, tied, own, out)
    return 1.0, _count_untied(order, own, out)


def write_ranks(order: Places, tied: Marks, out: Places) -> None:
    """Write twice the rank of each row, less 1, in the order of the input; a row beside another counts half."""
    if not tied.any():
        out[order] = np.arange(1, 2 * len(order), 2, dtype=out.dtype)
        return
    starts = np.flatnonzero(~tied)
    lengths = np.diff(starts, append=len(order))
    out[order] = np.repeat((2 * starts + lengths).astype(out.dtype), lengths)


def _count_untied(order: Places, own: Marks, out: Places) -> float:
    """Count how many of the other side are above each row; return the counts of the rows of the class, summed up."""

    def place(start: int, stop: int) -> int:
        reached, total = int(np.count_nonzero(own[:start])), 0
        for low, high in chunks(start, stop, parts=2):  # counts are half as wide as scores
            hits = _running_counts(own[low:high], reached)
            reached = int(hits[-1])
            total += int(hits.sum(dtype=np.int64))
            # At a row of the class, all that are above it but are not of the class; at one of the rest, those that are.
            beyond = np.arange(low + 1, high + 1, dtype=np.int32)
            beyond -= hits
            beyond -= hits
            beyond *= own[low:high].view(np.int8)
            hits += beyond
            out[order[low:high]] = hits  # np.put is as fast, but lets no other thread work meanwhile
        return total

    hits, size = sum(over_rows(len(order), place)), int(np.count_nonzero(own))
    # Of any two rows, one of the class and one of the rest, one is above the other; each of the class is counted too.
    return float(size * (len(order) - size) - (hits - size * (size + 1) // 2))


def _count_tied(order: Places, tied: Marks, own: Marks, out: Places) -> float:
    """The same where scores are tied: twice as many are written down, so that a row of the same score can count half.

    What is returned is as it was.
    """
    starts, hits = np.flatnonzero(~tied), _running_counts(own)
    lengths, before = np.diff(starts, append=len(order)), hits[starts] - own[starts]
    within = np.diff(before, append=hits[-1])
    of_rest = 2 * before + within
    of_class = 2 * (starts - before) + lengths - within
    twice = np.where(own, np.repeat(of_class.astype(np.int32), lengths), np.repeat(of_rest.astype(np.int32), lengths))

    def write(start: int, stop: int) -> None:
        out[order[start:stop]] = twice[start:stop]

    over_rows(len(order), write)
    return float(np.einsum("i,i", within, of_class, dtype=np.float64)) / 2


def _running_counts(marks: Marks, reached: int = 0) -> Places:
    """How many of the marks are set up to each of them, itself included, where so many were before.

    Bytes of eight marks times 1 + 2^8 + 2^16 + ... are their running counts: adding one by one takes twice as long.
    """
    if len(marks) % 8:
        return np.cumsum(marks, dtype=np.int32) + np.int32(reached)
    eights = (marks.view("<u8") * EVERY_BYTE).astype("<u8", copy=False)
    counts = (eights >> LAST_BYTE).astype(np.int32)
    found: Places = np.repeat(np.cumsum(counts, dtype=np.int32) - counts + np.int32(reached), 8)
    found += eights.view(np.uint8)
    return found


# --- sums over the distinct scores -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Groups:
    """Rows that stand next to each other and belong together.

    Attributes:
        rows: How many rows there are.
        starts: Where each group begins; None where every row is a group of its own.
    """

    rows: int
    starts: Places | None

    @cached_property
    def lengths(self) -> Places:
        """How many rows each group has."""
        return np.ones(self.rows, np.int64) if self.starts is None else np.diff(self.starts, append=self.rows)

    def first(self, values: AnyArray) -> AnyArray:
        """What is said of the first row of each group."""
        return values if self.starts is None else values[self.starts]

    def sums(self, values: AnyArray) -> Array:
        """Sum up what is said of rows in each group, over any leading axes."""
        if self.starts is None:
            return values.astype(np.float64, copy=False)
        return np.add.reduceat(values, self.starts, axis=-1, dtype=np.float64)

    def least(self, values: Array) -> Array:
        """The least of what is said of rows in each group."""
        return values if self.starts is None else np.minimum.reduceat(values, self.starts)

    def spread(self, values: Array) -> Array:
        """Say of every row what is said of its group."""
        return values if self.starts is None else np.repeat(values, self.lengths)


@dataclass(frozen=True)
class Ranking:
    """Rows by descending score.

    Attributes:
        order: The rows, from the highest score to the lowest.
        tied: Which of them have the same score as the row before.
        score: The scores, in the order of the input.
    """

    order: Places
    tied: Marks
    score: Numbers

    @classmethod
    def of(cls, score: Numbers) -> Ranking:
        """Sort a score."""
        order, tied, _ = ordering(score)
        return cls(order, tied, score)

    def turned(self) -> Ranking:
        """The same rows by the negative score: from the lowest to the highest."""
        tied = np.zeros_like(self.tied)
        tied[1:] = self.tied[:0:-1]
        return Ranking(self.order[::-1], tied, -self.score)

    @cached_property
    def groups(self) -> Groups:
        """The rows of each distinct score."""
        return Groups(len(self.tied), np.flatnonzero(~self.tied) if self.tied.any() else None)

    @cached_property
    def thresholds(self) -> Array:
        """The distinct scores, falling."""
        return np.asarray(self.score[self.groups.first(self.order)], dtype=np.float64) + 0.0

    def reached(self, thresholds: Array) -> Places:
        """How many of the distinct scores reach each of some thresholds, compared in the precision of the scores."""
        kind = self.score.dtype if self.score.dtype.kind == "f" else np.dtype(np.float64)
        with np.errstate(over="ignore"):  # a threshold beyond what the score's type can hold
            wanted = np.asarray(thresholds, dtype=np.float64).astype(kind).astype(np.float64)
        return np.asarray(np.searchsorted(-self.thresholds, -wanted, side="right"))

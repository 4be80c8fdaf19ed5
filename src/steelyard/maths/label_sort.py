"""Scores sorted with their labels: of each row, nothing is known afterwards but whether it is of a class.

That takes one bit beside those of a score, which scores from 0 up have to spare: their sign. So nothing needs to be
looked up where rows stood before, least of all where scores are tied.

Numbers half as wide are sorted in less than half the time. So many scores are first sorted by 31 of their bits; the few
rows that these do not tell apart are picked out, sorted by all bits, and put where they belong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.arrays import distinct
from ..core.threads import chunks, over_rows
from .ordered_scores import PASSES, in_halves

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Numbers, Places

MANY = 1 << 16  # rows: fewer are sorted by all bits before others were picked out
SAMPLE = 1 << 13  # scores that tell which bits to sort by, and whether these will do
LOWEST = 1 << 12  # one score in so many is below what the bits can tell apart, and below all cells but the lowest
WIDTH = 31  # bits of a number that leave room for a side
ALIKE = 32  # one row in so many may have the same number as the next: more take longer than they save
BLOCK = 16  # scores of a sample that tell how close others are to each other
SPREAD = np.uint32(0x9E3779B1)  # times this, numbers are all over the place in their first bits
SPARSE = 32  # places for each number that is looked for: the more, the fewer others are taken for one of them
LEAST_WIDTH = 17  # bits of a place: as many as the cache holds


class LabelSorted(NamedTuple):
    """Rows from the highest score to the lowest; of the same score, those of the class come first.

    Attributes:
        numbers: Whole numbers that rise with the scores, in the order of the input.
        keys: All bits of each number turned round, and 0 at the end for the class, 1 for the rest.
        alike: The same for all bits of a score, of those rows whose numbers do not tell them apart.
        places: Where these are among the keys; None where they are the keys.
    """

    numbers: Places
    keys: Places
    alike: Places
    places: Places | None = None


def label_sorted(score: Numbers, truth: Codes, code: int) -> LabelSorted | None:
    """Sort the rows of a class and the rest; None where a score is negative."""
    return _by_first_bits(score, truth, code) or _by_all_bits(score, truth, code)


def bits_of(score: Numbers) -> Places:
    """Scores as whole numbers, which rise with them from 0 up: 32 bits of single precision, 64 of all others."""
    single = score.dtype == np.float32
    return score.view(np.uint32) if single else score.astype(np.float64, copy=False).view(np.uint64)


def _write_keys(numbers: Places, truth: Codes, code: int, out: Places) -> None:
    np.invert(numbers, out=out)
    out <<= 1  # there goes the sign, and with it what tells -0.0 from 0.0
    out |= (truth != code).astype(out.dtype)  # left to NumPy, that takes longer


def _by_all_bits(score: Numbers, truth: Codes, code: int) -> LabelSorted | None:
    keys: Places = np.empty(len(score), dtype=bits_of(score[:0]).dtype)

    def write(start: int, stop: int) -> bool:
        for low, high in chunks(start, stop):
            bits = bits_of(score[low:high])
            if bits.max(initial=0) > np.iinfo(keys.dtype).max // 2 and score[low:high].min() < 0:
                return False
            _write_keys(bits, truth[low:high], code, keys[low:high])
        return True

    if not all(over_rows(len(score), write, columns=PASSES)):
        return None
    keys = in_halves(keys)
    return LabelSorted(bits_of(score), keys, keys)


class FirstBits(NamedTuple):
    """The first bits of scores, behind those that nearly all of them have in common.

    Attributes:
        lowest: What all scores below are taken for.
        highest: What all scores above are taken for.
        first: The bits of the lowest.
        shift: How many bits are left out at the end.
    """

    lowest: float
    highest: float
    first: int
    shift: int

    @classmethod
    def of(cls, score: Numbers) -> FirstBits | None:
        """The bits that tell most of these scores apart; None where too many would be alike, by a sample of them."""
        some = np.sort(score[:: max(len(score) // SAMPLE, 1)])
        some = some[len(some) // LOWEST :]
        if not some[0] > 0:
            return None
        low, high = bits_of(some[[0, -1]]).tolist()
        found = cls(float(some[0]), float(some[-1]), low, max((high - low).bit_length() - WIDTH, 0))
        numbers, share = found.at(some).astype(np.float64), len(score) / len(some)
        # Rounded scores are alike in a sample too; of others, the closer so many of them are, the more will be alike.
        rounded = np.count_nonzero(some[1:] == some[:-1])
        with np.errstate(divide="ignore"):
            close = (BLOCK**2 / 2 / np.diff(numbers[::BLOCK])).sum()
        return found if max(rounded, close) * share**2 < len(score) / ALIKE else None

    def at(self, score: Numbers) -> Places:
        """Numbers below 2^31 that rise with the scores."""
        bits = bits_of(np.clip(score, self.lowest, self.highest))
        bits -= np.uint64(self.first)
        bits >>= np.uint64(self.shift)
        return bits


def _by_first_bits(score: Numbers, truth: Codes, code: int) -> LabelSorted | None:
    """The same where it is faster; None where it is not, or a score is negative."""
    first = FirstBits.of(score) if len(score) >= MANY and score.dtype == np.float64 else None
    if first is None:
        return None
    numbers, keys = np.empty((2, len(score)), np.uint32)

    def write(start: int, stop: int) -> None:
        for low, high in chunks(start, stop):
            numbers[low:high] = first.at(score[low:high])
            _write_keys(numbers[low:high], truth[low:high], code, keys[low:high])

    over_rows(len(score), write, columns=PASSES)
    keys = in_halves(keys)
    places = _alike(keys)
    if len(places) > 4 * len(keys) // ALIKE:  # twice as many as could be expected
        return None
    alike = _picked(score, truth, code, first, numbers, distinct(~keys[places] >> 1))
    if alike is None:
        return None
    keys[places] = (keys[places] | 1) ^ (~alike & 1).astype(np.uint32)
    return LabelSorted(numbers, keys, alike, places)


def _alike(keys: Places) -> Places:
    """Where sorted keys are that differ from one beside them in nothing but their side."""
    second = [low + np.flatnonzero(_differ_by_side(keys, low, high)) for low, high in chunks(1, len(keys))]
    places: Places = np.concatenate(second) if second else np.zeros(0, np.int64)
    return distinct(np.concatenate([places - 1, places]))


def _differ_by_side(keys: Places, low: int, high: int) -> Marks:
    """Which of some keys differ from the one before in nothing else."""
    return np.asarray((keys[low - 1 : high - 1] ^ keys[low:high]) <= 1)


def _picked(
    score: Numbers, truth: Codes, code: int, first: FirstBits, numbers: Places, wanted: Places
) -> Places | None:
    """The sorted keys, by all bits, of rows that have one of these numbers; None where a score is negative."""
    width = max((SPARSE * len(wanted)).bit_length(), LEAST_WIDTH)
    shift, marked = np.uint32(32 - width), np.zeros(1 << width, dtype=bool)
    marked[wanted * SPREAD >> shift] = True

    def work(start: int, stop: int) -> list[tuple[Numbers, Codes]]:
        found = []
        for low, high in chunks(start, stop):
            rows = low + np.flatnonzero(marked.take(numbers[low:high] * SPREAD >> shift))
            found.append((score[rows], truth[rows]))  # not by take, which copies a column of a matrix first
        return found

    pieces = [piece for share in over_rows(len(score), work, columns=PASSES) for piece in share]
    scores, classes = zip(*pieces, strict=True)
    some = _by_all_bits(np.concatenate(scores), np.concatenate(classes), code)
    if some is None:
        return None
    seen = first.at((~some.keys >> 1).view(np.float64))
    sure = wanted.take(np.searchsorted(wanted, seen), mode="clip") == seen
    return np.asarray(some.keys[sure])


# --- what the order of a class and the rest tells ------------------------------------------------------------


def _ties(rows: LabelSorted) -> tuple[Places, Places, Places]:
    """Scores that rows of the class have in common with some of the rest.

    Returns:
        Where the last row of the class with such a score is, those of the rest follow; and how many rows of the class
        have it, and how many of the rest.
    """
    keys = rows.alike
    pieces = chunks(0, len(keys) - 1)
    found = [np.flatnonzero(keys[low:high] ^ keys[low + 1 : high + 1] == 1) + low for low, high in pieces]
    last = np.concatenate([np.zeros(0, np.int64), *found])
    key = keys[last]
    own, rest = np.searchsorted(keys, key), np.searchsorted(keys, key + 1, side="right")
    return last if rows.places is None else rows.places[last], last + 1 - own, rest - last - 1


class ClassOrder(NamedTuple):
    """The order of rows by one score, as far as it is told by a class and the rest.

    What is not told of each row takes no memory: where there are no ties, so many of the rest are above a row of the
    class as its place is behind the number of those of the class before it.

    Attributes:
        keys: The sorted scores.
        places: Where the rows of the class are.
        ties: The last rows of the class whose score others of the rest have; how many of each side have it.
        above: How many of the rest are above the rows of the class, summed up.
        squares: Squared counts summed up: of the rest, and of the class.
    """

    keys: Places
    places: Places
    ties: tuple[Places, Places, Places]
    above: float
    squares: Array

    @classmethod
    def of(cls, rows: LabelSorted, size: int) -> ClassOrder:
        """Read it off the sorted scores of a class of this size and the rest."""
        keys, ties = rows.keys, _ties(rows)
        last, tied_own, tied_rest = ties
        places: Places = np.empty(size, np.uint32 if len(keys) <= 1 << 32 else np.int64)
        pieces, reached, total, squares, product = chunks(0, len(keys)), 0, 0, 0, 0
        steps = np.arange(pieces[0][1] if pieces else 0, dtype=np.float64)
        for low, high in pieces:
            own = np.flatnonzero(keys[low:high].astype(np.uint8) & 1 == 0)
            number, beyond, before = len(own), low - reached, steps[: len(own)]
            np.add(own, low, out=places[reached : reached + number], casting="unsafe")
            higher = own - before  # of the rest in this piece; beyond are those before it
            sums = higher.sum(), np.einsum("i,i", higher, higher), np.einsum("i,i", higher, before)
            first, second, both = map(int, sums)  # whole numbers, so that nothing is rounded here
            total += first + number * beyond
            squares += second + 2 * beyond * first + number * beyond**2
            product += both + reached * first + beyond * (number * (number - 1) // 2) + number * beyond * reached
            reached += number
        # A row of the rest with h of the class above it has h squared = 1 + 3 + ... + (2 h - 1): one term for each of
        # these, and so a row of the class gives its term to all of the rest but those above it.
        above, of_class = float(total), float(squares)
        of_rest = float((len(keys) - size) * size**2 - 2 * product - total)
        if len(last):
            end = np.searchsorted(places, last.astype(places.dtype)) + 1
            others = last + 1 - end
            above += float(tied_own @ tied_rest) / 2
            of_class += float(tied_own @ ((others + tied_rest / 2) ** 2 - others**2.0))
            of_rest += float(tied_rest @ ((end - tied_own / 2) ** 2 - end**2.0))
        return cls(keys, places, ties, above, np.array([of_rest, of_class]))


# --- the same by cells of the score ------------------------------------------------------------


class Cells(NamedTuple):
    """Stretches of a score, by the first bits of its numbers: the closer to 0, the shorter.

    Attributes:
        first: The first bits of the lowest cell, which holds all that is below the others.
        shift: How many bits are left out.
        number: How many cells there are.
    """

    first: int
    shift: int
    number: int

    @classmethod
    def of(cls, rows: LabelSorted, bits: int) -> Cells:
        """Make cells of sorted scores, which are numbered by so many bits at most."""
        keys = rows.keys
        zero = keys.dtype.type(np.iinfo(keys.dtype).max - 1)  # the key of a row of the class that has it
        positive = int(np.searchsorted(keys, zero))
        few = positive // LOWEST if positive == len(keys) else 0  # where there are zeros, they stay by themselves
        low, high = (int(~keys[place] >> 1) for place in (max(positive - 1 - few, 0), 0))
        shift = max((high - low).bit_length() - bits, 0)
        first = max((low >> shift) - 1, 0)
        return cls(first, shift, (high >> shift) - first + 1)

    def at(self, numbers: Places) -> Places:
        """The cells of the numbers of scores, none of which is above those that the cells were made of."""
        # With their sign: -0.0 is below all cells, and so in the lowest.
        signed: Places = numbers.view(np.int64) if numbers.itemsize == 8 else numbers.view(np.int32)
        cells = signed >> self.shift
        kind = cells.dtype.type  # between numbers of another kind, NumPy takes three times as long
        np.clip(cells, kind(self.first), kind(self.first + self.number - 1), out=cells)
        cells -= kind(self.first)
        return cells

    def ends(self, keys: Places) -> Places:
        """Where each cell ends in these sorted scores, the highest cell first."""
        lowest = np.arange(self.first + self.number - 1, self.first, -1) << self.shift + 1
        lasts = np.searchsorted(keys, ~lowest.astype(keys.dtype), side="right")
        return np.concatenate([[0], lasts, [len(keys)]])


class CellMeans(NamedTuple):
    """How many rows of the other side are above those of the class, and of the rest; one of the same score counts half.

    Attributes:
        cells: The cells of the score.
        above: The counts of the rows of the class, summed up.
        squares: Squared counts summed up: of the rest, and of the class.
        means: Counts by cell, from the lowest up: of the rest, and of the class.
        blurred: The part of the spread of counts that is lost within cells.
    """

    cells: Cells
    above: float
    squares: Array
    means: Array
    blurred: float

    @classmethod
    def of(cls, order: ClassOrder, cells: Cells) -> CellMeans:
        """Average over the rows of each cell."""
        ends = cells.ends(order.keys)
        before = np.searchsorted(order.places, ends.astype(order.places.dtype))
        number, others = np.diff([ends - before, before]), np.array([before[:-1], (ends - before)[:-1]])
        filled = number[1] > 0
        last, own, rest = order.ties
        sums = np.bincount(np.searchsorted(ends, last, side="right") - 1, own * rest / 2)
        sums = np.append(sums, np.zeros(len(filled) - len(sums)))
        sums[filled] += np.add.reduceat(order.places, before[:-1][filled], dtype=np.int64)
        # Above a row of a cell are all of the other side in higher ones, and so many in its own.
        sums -= number[1] * (others[1] + (before[:-1] + before[1:] - 1) / 2)
        within = np.where(number > 0, [number.prod(axis=0) - sums, sums], number[::-1] / 2) / np.maximum(number, 1)
        means = within + others
        kept, total = (number * means**2).sum(axis=1), (number * means).sum(axis=1)
        spread = (order.squares - total**2 / np.maximum(number.sum(axis=1), 1)).sum()
        blurred = float((order.squares - kept).sum() / spread) if spread > 0 else 0.0
        return cls(cells, order.above, order.squares, means[:, ::-1], blurred)

"""Rows in the order of a score, of which nothing is known but their side: whether they are of a class.

That takes one bit beside those of a score, which scores from 0 up have to spare: their sign. So nothing needs to be
looked up where rows stood before, least of all where scores are tied.

Numbers half as wide are sorted in less than half the time. So many scores are first sorted by 31 of their bits; the few
rows that these do not tell apart are picked out, sorted by all bits, and put where they belong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.arrays import distinct
from ...core.threads import chunks, over_rows
from ...maths.ordered_scores import PASSES, Ranking, in_halves

if TYPE_CHECKING:
    from ...core.typing import Codes, Marks, Numbers, Places

MANY = 1 << 16  # rows: fewer are sorted by all bits before others were picked out
SAMPLE = 1 << 13  # scores that tell which bits to sort by, and whether these will do
LOWEST = 1 << 12  # one score in so many is below what the bits can tell apart
WIDTH = 31  # bits of a number that leave room for a side
ALIKE = 32  # one row in so many may have the same number as the next: more take longer than they save
BLOCK = 16  # scores of a sample that tell how close others are to each other
SPREAD = np.uint32(0x9E3779B1)  # times this, numbers are all over the place in their first bits
SPARSE = 32  # places for each number that is looked for: the more, the fewer others are taken for one of them
LEAST_WIDTH = 17  # bits of a place: as many as the cache holds


class Sided(NamedTuple):
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

    def ties(self) -> Marks:
        """Which of those alike have the same score as the one before."""
        return _same(self.alike)


def unordered(score: Numbers, truth: Codes, code: int) -> tuple[Ranking, Marks] | None:
    """Rank rows without telling one from another but by its side.

    Returns:
        A ranking that knows of no row, and which of them are of the class; None where a score is negative.
    """
    rows = sided(score, truth, code)
    if rows is None:
        return None
    own, tied = np.empty(len(score), dtype=bool), rows.ties()
    for low, high in chunks(0, len(own)):
        np.equal(rows.keys[low:high] & 1, 0, out=own[low:high])
    if rows.places is not None:
        some, tied = tied, np.zeros(len(score), dtype=bool)
        tied[rows.places] = some
    return Ranking(np.zeros(0, np.int64), tied, score), own


def sided(score: Numbers, truth: Codes, code: int) -> Sided | None:
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


def _by_all_bits(score: Numbers, truth: Codes, code: int) -> Sided | None:
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
    return Sided(bits_of(score), keys, keys)


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


def _by_first_bits(score: Numbers, truth: Codes, code: int) -> Sided | None:
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
    return Sided(numbers, keys, alike, places)


def _alike(keys: Places) -> Places:
    """Where sorted keys are that differ from one beside them in nothing but their side."""
    second = [low + np.flatnonzero(_differ_by_side(keys, low, high)) for low, high in chunks(1, len(keys))]
    places: Places = np.concatenate(second) if second else np.zeros(0, np.int64)
    return distinct(np.concatenate([places - 1, places]))


def _same(keys: Places) -> Marks:
    """Which keys differ from the one before in nothing but their side."""
    found = np.zeros(len(keys), dtype=bool)
    for low, high in chunks(1, len(keys)):
        found[low:high] = _differ_by_side(keys, low, high)
    return found


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

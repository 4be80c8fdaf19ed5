"""Where rows stand among those of the other side, for every class against the rest, where all weigh the same.

Most of what averages over classes cost is bringing what is found in the order of each score back to the rows. Of
measures that ask for nothing but how many of the other side are above a row, where one with the same score counts half,
only these counts need to come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...core.cached import cached_property
from ...core.threads import chunks, dealt_out, over_rows
from ...maths.ordered_scores import SORTING, Tags, ordering
from ...measures.masses import sums_of_products
from ...states.held_rows import Rows
from .counted import Counted, Mean, squares_of_products, ways

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Marks, Places

PAIRED = 4  # classes: products of more, two by two, take longer than looking at every row
FEW = 5  # classes: of more, tags are written down once
TOLD_APART = 46  # bits: where places and classes take more, one score in a hundred could not be told from the next
EVERY_BYTE, LAST_BYTE = np.uint64(0x0101010101010101), np.uint64(56)


@dataclass(frozen=True)
class Placements(Counted):
    """How many rows of the other side are above each row, class by class, in the order of the input.

    Attributes:
        counts: (classes, rows).
        truth: The true classes.
    """

    counts: Places
    truth: Codes

    @classmethod
    def of(cls, rows: Rows, model: int, sizes: Array) -> Placements:
        """Sort by the score of each class."""
        columns, speaks = rows.scores[model][:2]
        counts: Places = np.empty((len(sizes), len(rows)), np.int32)
        above, units, tags = np.empty(len(sizes)), np.ones(len(sizes)), _tags(rows.truth, len(sizes))

        def write(code: int) -> None:  # what is made of a class is let go of before the next one is begun with
            score = columns[code if len(columns) > 1 else 0]
            order, tied, own = ordering(score, tags or Tags.marking(rows.truth, code), code)
            if own is None:
                own = rows.truth.take(order) == code
            if tied.any():
                units[code], above[code] = 0.5, _place_tied(order, tied, own, counts[code])
            else:
                above[code] = _place(order, own, counts[code])

        codes = range(len(sizes)) if len(columns) > 1 else [speaks]
        dealt_out(codes, write, SORTING * len(rows))
        if len(columns) == 1:  # the other class has the same score, turned round
            units[1 - speaks], above[1 - speaks] = units[speaks], above[speaks]
            counts[1 - speaks] = (sizes[::-1] / units)[rows.truth] - counts[speaks]
        return cls(sizes, units, above, counts, rows.truth)

    def influence(self, formula: object, part: int | str) -> Array:
        """What each row adds to a measure of one class, or averaged over all of them."""
        values, lines = self._lines(formula)
        alone = np.arange(len(values)) == part, 0 * values
        weights, gaps = ways(values, self.sizes)[part] if isinstance(part, str) else alone
        used, mean = np.flatnonzero(weights), Mean.of(lines, weights, gaps)
        found = np.empty(len(self.truth))

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop, columns=3):
                truth = self.truth[low:high].astype(np.intp)
                counts = self.counts[used, low:high] if len(used) < len(weights) else self.counts[:, low:high]
                own = counts[0].astype(np.float64) if len(used) == 1 else self._own(truth, low, high)
                found[low:high] = mean.at(truth, own, mean.slope[used], counts)

        over_rows(len(found), work, len(used))
        return found

    def _own(self, truth: Places, low: int, high: int) -> Array:
        """The counts of some rows among the rest of their own class."""
        counts = self.counts.ravel().take(truth * self.counts.shape[1] + np.arange(low, high))
        return np.asarray(counts, dtype=np.float64)

    def _squares(self, means: Sequence[Mean], counted: bool) -> Array:
        if len(self.sizes) <= PAIRED:
            return squares_of_products(means, self.sizes, *self._products)
        return self._squares_of_rows(means, counted) if means or counted else np.zeros((2, len(self.sizes)))

    def _squares_of_rows(self, means: Sequence[Mean], counted: bool) -> Array:
        classes, rows = self.counts.shape

        def work(start: int, stop: int) -> Array:
            found = np.zeros((len(means) + 2, classes))
            for low, high in chunks(start, stop, columns=3):
                truth, counts = self.truth[low:high].astype(np.intp), self.counts[:, low:high]
                own = self._own(truth, low, high)
                for place, mean in enumerate(means):
                    influence = mean.at(truth, own, mean.slope, counts)
                    influence *= influence
                    found[place] += np.bincount(truth, influence, classes)
                if counted:
                    found[-2] += [np.einsum("r,r", each, each) for each in map(np.float64, counts)]
                    own *= own
                    found[-1] += np.bincount(truth, own, classes)
            return found

        return reduce(np.add, over_rows(rows, work, classes))

    @cached_property
    def _products(self) -> tuple[Array, Array]:
        """Sums of counts over the rows of each class, (classes, classes), and of their products two by two."""
        classes, rows = self.counts.shape

        def work(start: int, stop: int) -> Array:
            found = np.zeros((classes, classes + 1, classes))
            # In longer pieces than elsewhere: threads would spend their time on handing many short calls to each other.
            for low, high in chunks(start, stop, classes, parts=2):
                truth = self.truth[low:high]
                by_class = np.argsort(truth, kind="stable")
                edges = np.cumsum(np.bincount(truth, minlength=classes)).tolist()
                # With ones below the counts, one product of matrices makes both sums.
                counts = np.ones((classes + 1, high - low))
                counts[:-1] = self.counts[:, low:high].take(by_class, axis=1)
                for code, ends in enumerate(pairwise([0, *edges])):
                    own = counts[:, slice(*ends)]
                    found[code] += sums_of_products(own, own[:-1])
            return found

        found = reduce(np.add, over_rows(rows, work, classes))
        return found[:, -1], found[:, :-1]


@dataclass(frozen=True)
class Unplaced(Counted):
    """Counts that were summed up without telling one row from another.

    Attributes:
        rows: The rows, with what every classifier said of them.
        model: The place of the classifier.
    """

    rows: Rows
    model: int

    def influence(self, formula: object, part: int | str) -> Array:
        """What each row adds to a measure: not to be told by sums, so that rows are placed after all."""
        return self._placements.influence(formula, part)

    @cached_property
    def _placements(self) -> Placements:
        return Placements.of(self.rows, self.model, self.sizes)


def _tags(truth: Codes, classes: int) -> Tags | None:
    """The tags of rows for the scores of all classes; None where these would take too many bits of a score.

    The more rows there are, the more bits it takes to tell their scores apart, and to write down their places.
    """
    if 2 * len(truth).bit_length() + classes.bit_length() > TOLD_APART:
        return None
    tags = Tags.of(len(truth), truth, classes)
    return tags.kept(len(truth)) if classes > FEW else tags


def _place(order: Places, own: Marks, out: Places) -> float:
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


def _place_tied(order: Places, tied: Marks, own: Marks, out: Places) -> float:
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

"""Fixed marks on the line of all numbers, finer towards 0 and 1, so that scores to the nearest mark can be counted.

Between two powers of 2 there are as many marks as ``bits`` can number, of probabilities towards 0 and towards 1 alike:
near both ends it is the logit that is measured. Beyond 2^40 and below 2^-40 there are few. Where marks are depends on
no data, so that counts of cells between them add up, whoever made them and in whatever order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.cached import cached_property

if TYPE_CHECKING:
    from ..core.typing import Array, Numbers, Places

MANTISSA = 52
OCTAVES = 40  # with fine marks, on either side of 1
FEW = 3  # bits of the cells beyond
BITS = 16
LEAST_BITS, MOST_BITS = 12, 18


def bits_for(rows: int | None) -> int:
    """How fine a ruler must be for cells to leave less open than a tenth of a standard error, of usual scores."""
    return BITS if not rows else int(np.clip(np.ceil(np.log2(rows) / 2) + 2, LEAST_BITS, MOST_BITS))


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


@dataclass(frozen=True)
class Ruler:
    """Cells of numbers, counted from minus infinity.

    Attributes:
        bits: So many leading bits of the fraction tell one cell from the next.
    """

    bits: int = BITS

    @property
    def parted_times(self) -> int:
        """How often cells were parted further."""
        return 0

    @property
    def _shift(self) -> int:
        return MANTISSA - self.bits

    @cached_property
    def _ends(self) -> tuple[int, int]:
        """Where fine cells begin and end, as leading bits."""
        low, high = (_bits(2.0**power) >> self._shift for power in (-OCTAVES, OCTAVES))
        return low, high

    def _rank(self, leading: Places) -> Places:
        """The number of the cell of a magnitude, by its leading bits."""
        low, high = self._ends
        coarse = self.bits - FEW
        rank: Places = leading - (low - (low >> coarse))
        if leading.min(initial=low) < low:
            # Counted down from the first fine cell, so that it stays next to them.
            np.copyto(rank, (low >> coarse) - ((low - leading + (1 << coarse) - 1) >> coarse), where=leading < low)
        if leading.max(initial=high) > high:
            beyond = (high - low) + (low >> coarse)
            np.copyto(rank, beyond + ((leading - high) >> coarse), where=leading > high)
        return rank

    def _of_magnitude(self, numbers: Array) -> Places:
        return self._rank(numbers.view(np.int64) >> self._shift)

    def _leading(self, rank: Places) -> Places:
        """The least leading bits of a cell: the inverse of ``_rank``."""
        low, high = self._ends
        coarse, first, fine = self.bits - FEW, low >> (self.bits - FEW), high - low
        found = rank + (low - first)
        found = np.where(rank < first, low - ((first - rank) << coarse), found)
        found = np.where(rank > first + fine, high + ((rank - first - fine) << coarse), found)
        return np.maximum(found, 0)

    @cached_property
    def _marks(self) -> tuple[int, int, int]:
        """The cells of one half, of 1 and of infinity, among magnitudes."""
        half, one, most = (int(self._of_magnitude(np.array([number]))[0]) for number in (0.5, 1.0, np.inf))
        return half, one, most

    @property
    def cells(self) -> int:
        """How many cells there are."""
        half, one, most = self._marks
        return most + 2 * half + (most - one) + 1

    def place(self, scores: Numbers) -> Places:
        """The cell of each score; a higher score is never in a lower cell."""
        numbers = np.asarray(scores, dtype=np.float64) + 0.0
        half, one, most = self._marks
        if not len(numbers) or (numbers.min() >= 0 and numbers.max() <= 1):
            turned = -(numbers > 0.5).astype(np.int64)  # all bits, or none: several times as fast as to choose
            np.minimum(numbers, 1 - numbers, out=numbers)
            found = self._of_magnitude(numbers)
            found ^= turned
            found -= turned
            turned &= 2 * half
            found += turned
        else:
            inner = (numbers > 0.5) & (numbers <= 1)
            found = self._of_magnitude(np.where(inner, 1 - numbers, np.abs(numbers)))
            np.subtract(2 * half, found, out=found, where=inner)
            np.negative(found, out=found, where=numbers < 0)
            np.add(found, 2 * half - one, out=found, where=numbers > 1)
        found += most
        return found

    def low(self, cells: Places) -> Array:
        """The least number in each cell."""
        half, one, most = self._marks
        signed = np.asarray(cells, dtype=np.int64) - most
        found = self._least(np.clip(signed, 0, half))
        found = np.where(signed > half, self._next_to_one(np.clip(2 * half - signed + 1, 0, half + 1)), found)
        above = self._least(np.clip(signed - 2 * half + one, one, most))
        found = np.where(signed > 2 * half, above, found)
        # Below 0 a cell begins behind the magnitude where the next one does; what is next to 0 is one with it.
        negative = np.nextafter(-self._least(np.clip(1 - signed, 0, most + 1)), 0)
        return np.where(signed <= 0, np.where(signed == -most, -np.inf, negative), found)

    def _next_to_one(self, rank: Places) -> Array:
        """The least number that is nearer to 1 than a cell of magnitudes: there, numbers lie 2^-53 apart."""
        return np.asarray(1 - (np.ceil(self._least(rank) * 2.0**53) - 1) * 2.0**-53)

    def _least(self, rank: Places) -> Array:
        bits = np.minimum(self._leading(rank), _bits(np.inf) >> self._shift) << self._shift
        return np.asarray(bits, dtype=np.int64).view(np.float64)


@dataclass(frozen=True, eq=False)
class FinerRuler:
    """A ruler some of whose cells are parted further, as a finer ruler parts them: marks of that are where its are.

    Attributes:
        coarse: The ruler, which may have been made finer before.
        parted: Which of its cells are parted, rising.
        fine: The ruler that parts them.
    """

    coarse: Ruler | FinerRuler
    parted: Places
    fine: Ruler

    @property
    def parted_times(self) -> int:
        """How often cells were parted further."""
        return self.coarse.parted_times + 1

    def __eq__(self, other: object) -> bool:
        """Whether all marks are the same."""
        return (
            isinstance(other, FinerRuler)
            and (self.coarse, self.fine) == (other.coarse, other.fine)
            and np.array_equal(self.parted, other.parted)
        )

    def __hash__(self) -> int:
        """Alike for equal ones."""
        return hash((self.coarse, self.fine, len(self.parted)))

    @cached_property
    def _first(self) -> Places:
        """The first of the finer cells within each parted one."""
        return self.fine.place(self.coarse.low(self.parted))

    @cached_property
    def _starts(self) -> Places:
        """Where the cells of each coarse one begin; behind the last, how many there are."""
        widths = np.ones(self.coarse.cells, np.int64)
        # The last cell has no next one; it is never parted, as what is beyond 2^40 is not.
        widths[self.parted] = self.fine.place(self.coarse.low(self.parted + 1)) - self._first
        return np.concatenate([[0], np.cumsum(widths)])

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(self._starts[-1])

    @cached_property
    def _which(self) -> Places:
        """The number of each coarse cell among the parted ones; -1 for those that are not."""
        found = np.full(self.coarse.cells, -1, np.int32)
        found[self.parted] = np.arange(len(self.parted))
        return found

    def place(self, scores: Numbers) -> Places:
        """The cell of each score."""
        coarse = self.coarse.place(scores)
        found, which = self._starts[coarse], self._which[coarse]
        inside = np.flatnonzero(which >= 0)
        found[inside] += self.fine.place(np.asarray(scores)[inside]) - self._first[which[inside]]
        return found

    def parent(self, cells: Places) -> Places:
        """The coarse cells that these are in."""
        return np.asarray(np.searchsorted(self._starts, cells, side="right") - 1)

    def low(self, cells: Places) -> Array:
        """The least number in each cell."""
        coarse = self.parent(np.asarray(cells))
        which, found = self._which[coarse], self.coarse.low(coarse)
        inside = which >= 0
        found[inside] = self.fine.low(self._first[which[inside]] + (cells - self._starts[coarse])[inside])
        return found

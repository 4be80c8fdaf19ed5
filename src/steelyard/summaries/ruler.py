"""Fixed marks on the line of all numbers, finer towards 0 and 1, so that scores to the nearest mark can be counted.

Between two powers of 2 there are as many marks as ``bits`` can number, of probabilities towards 0 and towards 1 alike:
near both ends it is the logit that is measured. Beyond 2^40 and below 2^-40 there are few. Where marks are depends on
no data, so that counts of cells between them add up, whoever made them and in whatever order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..kinds import Array, Numbers, Places

MANTISSA = 52
BIAS = 1023
OCTAVES = 40  # with fine marks, on either side of 1
FEW = 3  # bits of the cells beyond
BITS = 15


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
            found = self._of_magnitude(np.minimum(numbers, 1 - numbers))
            np.subtract(2 * half, found, out=found, where=numbers > 0.5)
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

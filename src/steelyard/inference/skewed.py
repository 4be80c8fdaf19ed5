"""Slots that are means of what is rarely large, with intervals by Hall's t. Knows no formula."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .row_evaluation import NOT_FOUND, Found, RowEvaluation, key_of
from .table_evaluation import Slot
from .tails import Tails

HALVINGS = 50


@dataclass(frozen=True)
class SkewedEvaluation(RowEvaluation):
    """Slots that are formulas of means over rows, each known by its value and its influences."""

    found: dict[tuple[str, int | str | None], Found] = field(default_factory=dict, repr=False)
    tails: dict[tuple[str, int | str | None], Tails] = field(default_factory=dict, repr=False)

    @abstractmethod
    def value(self, slot: Slot) -> float:
        """The value of a slot."""

    @property
    @abstractmethod
    def freedom(self) -> float:
        """Degrees of freedom of what is drawn, rows or clusters."""

    @abstractmethod
    def scattered(self, slot: Slot) -> tuple[float, Tails]:
        """The variance of a slot that has a value, and how skewed it is."""

    @abstractmethod
    def without_spread(self, slot: Slot, value: float, level: float) -> tuple[float, float]:
        """Bounds of a slot to which every row adds the same."""

    @abstractmethod
    def unseen(self, slot: Slot, share: float) -> float:
        """How far rows unlike all that were seen would move a value, if they were this share of all rows."""

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        if not len(self.rows):
            return NOT_FOUND
        key = key_of(slot)
        if key not in self.found:
            with np.errstate(divide="ignore", invalid="ignore"):
                value, variance = self.value(slot), np.nan
            if not np.isnan(value):
                variance, self.tails[key] = self.scattered(slot)
            self.found[key] = Found((value, value), (variance, variance), (self.freedom, self.freedom))
        return self.found[key]

    def tails_of(self, slot: Slot) -> Tails:
        """How far a slot is from normal."""
        self.result(slot)
        return self.tails[key_of(slot)]

    def deviation_share(self, slot: Slot) -> float:
        """The share of a slot's variance that an estimated deviation has, whose own interval is known."""
        del slot
        return 0.0

    def deviation_bounds(self, slot: Slot, level: float) -> tuple[float, float] | None:
        """The least and the most that a slot is within the interval of that deviation; None where there is none."""
        del slot, level
        return None

    def latent_bounds(self, slot: Slot, level: float) -> tuple[float, float] | None:
        """Bounds of what a slot would be, had these rows been seen without error; None where that is not asked."""
        del slot, level
        return None

    def is_root(self, slot: Slot) -> bool:
        """Whether a slot is the root of a mean."""
        del slot
        return False

    def counted(self, slot: Slot) -> tuple[float, float]:
        """The share of rows that a slot goes with; and 1, or -1 where the one falls as the other rises."""
        raise NotImplementedError(slot)

    def turned(self, slot: Slot, name: str, ends: tuple[float, float]) -> tuple[float, float] | None:
        """What a slot can be between two values of a mean, where it falls at one and rises at the other; else None."""
        raise NotImplementedError(slot, name, ends)

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """None: there are no values of single classes."""
        return iter(())


@dataclass(frozen=True)
class Steady:
    """A difference that every row makes the same: none at all, say, where two classifiers always agree.

    That does not prove that all rows will. So many rows tell how rare others are at most, as they do of one value.
    """

    first: SkewedEvaluation
    second: SkewedEvaluation
    slot: Slot
    difference: float

    def reach(self, critical: float) -> float:
        """How far the difference may be off, by Wilson's bound for what was never seen in so many rows."""
        return self._moved(1.0 if np.isinf(critical) else critical**2 / (self._trials + critical**2))

    @property
    def critical(self) -> float:
        """The critical value at which there may be no difference at all."""
        low, high = 0.0, 1.0
        if self._moved(high) < abs(self.difference):
            return np.inf
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._moved(middle) < abs(self.difference) else (low, middle)
        return float(np.sqrt(self._trials * low / (1 - low)))

    @property
    def _trials(self) -> float:
        return self.first.total / self.first.unit

    def _moved(self, share: float) -> float:
        """By so many rows unlike all others; classifiers that differ can both do something else there."""
        moves = [each.unseen(self.slot, share) for each in (self.first, self.second)]
        return max(moves) if self.difference == 0 else sum(moves)

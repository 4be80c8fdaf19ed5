"""Slots that are means of what is rarely large, with intervals by Hall's t. Knows no formula."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .row_evaluation import NOT_FOUND, Found, RowEvaluation, key_of
from .table_evaluation import Slot
from .tails import Tails


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

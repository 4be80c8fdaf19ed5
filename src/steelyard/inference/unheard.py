"""What measures of probabilities are for a classifier that gave scores on any scale: undefined, and never read so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ..core.cached import cached_property
from ..states.held_rows import Rows
from .evaluation import Slot
from .row_evaluation import NOT_FOUND, Found, RowEvaluation

if TYPE_CHECKING:
    from ..core.typing import Array

Kind = TypeVar("Kind", bound=RowEvaluation)

NO_PROBABILITIES = "the classifier gave scores, not probabilities"
NO_PROBABILITIES_BUT_LABELS = "the classifier gave labels, not probabilities"


def heard(kind: type[Kind], rows: Rows, model: int) -> type[Kind]:
    """Return the evaluation of a family of measures; one without values where a classifier gave no probabilities."""
    return cast("type[Kind]", _without_values(kind)) if rows.scores[model].raw else kind


@cache
def _without_values(kind: type[RowEvaluation]) -> type[RowEvaluation]:
    return type(f"Unheard{kind.__name__}", (Unheard, kind), {"__doc__": f"{kind.__doc__} No slot has a value."})


class Unheard:
    """Put before a family of measures of probabilities: only those have a value that rank the classes of a row."""

    rows: Rows
    model: int
    slots: tuple[Slot, ...]
    heard = False

    def tells(self, slot: Slot) -> bool:
        """Whether a slot has a value: one that is made of the order of the scores of each row."""
        return slot.measure.ranks_classes and len(self.rows.scores[self.model].columns) > 1

    @property
    def scored(self) -> bool:
        """Whether any slot has a value."""
        return any(map(self.tells, self.slots))

    @property
    def silence(self) -> str:
        """Why slots have no value."""
        said = self.rows.scores[self.model]
        return NO_PROBABILITIES if said.columns else NO_PROBABILITIES_BUT_LABELS

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots)."""
        return np.array([self.result(slot).value for slot in self.slots]).reshape(-1, 2).T

    def worth(self, piece: Any, slot: Slot) -> Array:
        """What each row of a piece is worth; nothing where nobody may read it."""
        if not self.tells(slot):
            return np.zeros(len(piece.truth))
        found: Array = super().worth(piece, slot)  # type: ignore[misc]
        return found

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        found: Found = super().result(slot) if self.tells(slot) else NOT_FOUND  # type: ignore[misc]
        return found

    def influence(self, slot: Slot, smooth: bool = False) -> Array:
        """What each row adds to a slot."""
        if not self.tells(slot):
            return np.full(len(self.patterns.mass), np.nan)  # type: ignore[attr-defined]
        found: Array = super().influence(slot, smooth)  # type: ignore[misc]
        return found

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """What a pseudo-row adds to a slot."""
        if not self.tells(self.slots[place]):
            return 0.0, np.zeros(1)
        found: tuple[float, Array] = super().pseudo_at(place)  # type: ignore[misc]
        return found

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else: (replicates, slots)."""
        found = np.full((len(mass), len(slots)), np.nan)
        told = [place for place, slot in enumerate(slots) if self.tells(slot)]
        if told:
            found[:, told] = super().reweighed([slots[place] for place in told], mass)  # type: ignore[misc]
        return found

    def begin(self) -> bool:
        """Nothing that all slots need is worth the while."""
        return False

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Do what must be done once, before rows are weighed anew."""
        told = [slot for slot in slots if self.tells(slot)]
        if told:
            super().prepare(told)  # type: ignore[misc]

    def wavering(self, slot: Slot) -> Array:
        """What a choice between two estimates adds to a slot."""
        del slot
        return np.zeros(1)

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """The classes for which a measure has no value: that of all classes has the same reason."""
        return iter(())

    def remark(self, slot: Slot) -> str:
        """Why a slot has no value."""
        told: str = super().remark(slot) if self.tells(slot) else self.silence  # type: ignore[misc]
        return told

"""Classes of one row, or of one cluster: how far others of them would lie from it, nobody knows.

Their own intervals are from 0 to 1. What such a class has a share in reaches so much further down and up as that share
of its interval does (MOVER; Zou & Donner 2008).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.cached import cached_property
from ...inference.evaluation import Slot
from ...inference.row_evaluation import AVERAGES, Found, RowEvaluation
from ...measures.registry import Measure
from .one_against_rest import PSEUDO_ROW

if TYPE_CHECKING:
    from ...core.typing import Array


class _Classes(NamedTuple):
    """The values of all classes, and which have one row or cluster."""

    values: Array
    lone: Sequence[bool]


@dataclass(frozen=True)
class ToldByClasses(RowEvaluation):
    """Slots of classes against the rest and averages over these, some of which may have one row or cluster."""

    @abstractmethod
    def seen(self, slot: Slot) -> Found:
        """The value of a slot and its spread, as far as rows tell it."""

    @cached_property
    def _classes(self) -> dict[str, _Classes]:
        return {}

    def result(self, slot: Slot) -> Found:
        """The same; the standard error of what a class of one row or cluster has a share in is unknown."""
        found = self.seen(slot)
        if not self._lone(slot, found):
            return found
        freedom = 0.0 if all(self._classes[slot.measure.label].lone) else found.freedom[1]
        return found._replace(variance=(np.nan, found.variance[1]), freedom=(found.freedom[0], freedom))

    def beyond(self, slot: Slot) -> tuple[float, float]:
        """How far below and above a value the shares of such classes in it reach."""
        start, stop = slot.measure.span
        lone = self._lone(slot, self.seen(slot))
        ends = [(share * (value - start), share * (stop - value)) for _, share, value in lone]
        below, above = np.sqrt(np.square(np.reshape(ends, (-1, 2))).sum(axis=0)).tolist()
        return below, above

    def wavering(self, slot: Slot) -> Array:
        """How far they move differences: no value scatters more than a coin that shows 1 as often as the value is high.

        Whether two classifiers go together there, nobody knows.
        """
        found = np.zeros((len(self.rows.scores), len(self.scale)))
        for code, share, value in self._lone(slot, self.seen(slot)):
            found[self.model, code] = share * _deviation(value, slot.measure)
        return found.ravel()

    def _lone(self, slot: Slot, found: Found) -> list[tuple[int, float, float]]:
        """The classes of one row or cluster with a share in a slot that is not their own; that, and their values."""
        paired = slot.measure.balanced and len(self.scale) > 2  # each class is held against each of the others
        if not (found.lone if slot.code is None else paired and not found.lone):
            return []
        label = slot.measure.label
        if label not in self._classes:
            every = [self.seen(Slot(slot.measure, code)) for code in range(len(self.scale))]
            self._classes[label] = _Classes(np.array([one.value[0] for one in every]), [one.lone for one in every])
        values, lone = self._classes[label]
        known = np.isfinite(values) | np.isfinite(self.undefined)
        shares = _shares(slot.code, known * (self.class_mass if slot.average == AVERAGES[1] else 1.0), slot.measure)
        return [(code, float(shares[code]), float(values[code])) for code in np.flatnonzero(lone).tolist()]


def _shares(code: int | None, weights: Array, measure: Measure) -> Array:
    """The share that each class has in a value, of a class or averaged by weights.

    Where all pairs of classes count the same, a class also has a share in the values of all others.
    """
    found = weights / weights.sum() if code is None else (np.arange(len(weights)) == code).astype(np.float64)
    known = np.flatnonzero(weights > 0)
    if measure.balanced and len(known) > 1:
        found[known] += (found.sum() - found[known]) / (len(known) - 1)
    return np.asarray(found)


def _deviation(value: float, measure: Measure) -> float:
    """The largest standard deviation of one value; a pseudo-row in the middle is beside what is as high as can be."""
    start, stop = measure.span
    place = ((value - start) / (stop - start) + PSEUDO_ROW / 2) / (1 + PSEUDO_ROW)
    return (stop - start) * float(np.sqrt(max(place * (1 - place), 0.0)))

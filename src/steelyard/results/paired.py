"""Pairs of classifiers, each judged by what the two of them said: whoever else is compared changes nothing about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..core.cached import cached_property
from ..inference.differences import Differences
from ..inference.row_evaluation import RowEvaluation
from ..inference.student_t import critical_values, p_values
from ..inference.table_evaluation import Evaluation
from ..inference.variances import NO_ERROR

if TYPE_CHECKING:
    from ..core.typing import Array


class EvaluatesModel(Protocol):
    """Evaluates one classifier by measures of one statistic, where an independent observation weighs so much."""

    def __call__(self, model: int, *, unit: float) -> Evaluation | RowEvaluation:
        """All slots of the classifier."""
        ...


@dataclass(frozen=True)
class JudgedDifferences:
    """What is said of all differences, as (pairs, slots) arrays."""

    difference: Array
    low: Array
    high: Array
    se: Array
    p: Array


@dataclass(frozen=True)
class Paired:
    """Slots of measures of one statistic, and all pairs of classifiers by them.

    Attributes:
        evaluate: Evaluates one classifier.
        units: What one weighs, judged by each classifier.
        by_class: Whether slots of classes are wanted beside the overall ones.
        level: Coverage of the intervals.
        textbook: Whether intervals are plain ones: so many standard errors to either side.
    """

    evaluate: EvaluatesModel
    units: Array
    by_class: bool
    level: float
    textbook: bool = False

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of classifiers, the first named before the second."""
        return list(combinations(range(len(self.units)), 2))

    @cached_property
    def together(self) -> Differences:
        """All classifiers at once, an observation as heavy as for any of them: for what is to hold for all."""
        return self._among(range(len(self.units)), float(self.units.max()), self.pairs)

    @property
    def places(self) -> Sequence[int]:
        """Where the slots are."""
        return self.together.places

    def _among(self, models: Sequence[int], unit: float, pairs: Sequence[tuple[int, int]]) -> Differences:
        evaluations = [self.evaluate(model, unit=unit) for model in models]
        return Differences(evaluations, self._places_in(evaluations[0]), self.level, pairs)

    def _places_in(self, evaluation: Evaluation | RowEvaluation) -> list[int]:
        places: list[int] = []
        for measure in evaluation.measures:
            places.append(evaluation.overall(measure))
            if self.by_class and measure.per_class:
                of_classes = [evaluation.places[measure.label, code] for code in range(len(evaluation.scale))]
                places += [place for place in of_classes if place not in places]
        return places

    def _parts(self) -> Iterator[tuple[list[int], Differences]]:
        """Pairs for which an observation weighs the same, the heavier of the two, and their rows among all pairs."""
        units, rank = np.unique(self.units, return_inverse=True)
        if len(units) == 1:
            yield list(range(len(self.pairs))), self.together
            return
        for place, unit in enumerate(units.tolist()):
            rows = [row for row, (a, b) in enumerate(self.pairs) if max(rank[a], rank[b]) == place]
            some = sorted({model for row in rows for model in self.pairs[row]})
            local = [(some.index(self.pairs[row][0]), some.index(self.pairs[row][1])) for row in rows]
            if rows:
                yield rows, self._among(some, unit, local)

    def judged(self, critical: Array | None = None) -> JudgedDifferences:
        """All differences, with bounds that reach so many standard errors, and p-values."""
        found = np.empty((5, len(self.pairs), len(self.places)))
        for rows, part in self._parts():
            low, high = self._plain_bounds(part, critical) if self.textbook else part.bounds(critical)
            found[:, rows] = part.difference, low, high, part.se, self._plain_p(part) if self.textbook else part.p
        return JudgedDifferences(*found)

    def _plain_bounds(self, part: Differences, critical: Array | None) -> tuple[Array, Array]:
        reach = critical_values(self.level, _plain_freedom(part)) if critical is None else critical
        with np.errstate(invalid="ignore"):
            half = reach * part.se
            low, high = part.difference - half, part.difference + half
            low, high = np.maximum(low, -part.width), np.minimum(high, part.width)
        known = np.isfinite(part.difference)
        return np.where(known, low, np.nan), np.where(known, high, np.nan)

    def _plain_p(self, part: Differences) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            # Two perfect classifiers may differ by rounding, and that has no error.
            rounding = [NO_ERROR * np.abs(part.values[[a, b]]).max(axis=0) for a, b in part.pairs]
            alike = np.fmax(np.abs(part.difference), part.se) <= rounding
            statistic = np.where(alike, 0.0, part.difference / part.se)
        found = p_values(np.nan_to_num(statistic, nan=0.0, posinf=np.inf, neginf=-np.inf), _plain_freedom(part))
        return np.where(np.isfinite(part.difference), found, np.nan)


def _plain_freedom(part: Differences) -> Array:
    """As for plain intervals of values: those of rows are normal ones."""
    return np.full(len(part.places), np.inf) if isinstance(part.evaluations[0], RowEvaluation) else part.freedom

"""Classifiers on the same cases: paired differences, tests and simultaneous bands; and pairs judged by themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import apart
from ..core.cached import cached_property
from ..maths.joint_normal import max_critical
from ..states.statistics import RANKING
from .contrasts import ContrastRule, PairEvidence, contrast
from .design import NO_ERROR, parts_of
from .evaluation import PSEUDO_ROWS, Evaluation, Slot
from .student_t import critical_values, p_values
from .tails import Tails

if TYPE_CHECKING:
    from ..core.typing import Array, Marks, Places

EvaluatesModel = Callable[..., Evaluation]  # of the place of a classifier, and what an independent observation weighs
CHOICES = 3.0  # times the variance of a choice between estimates: by the doubt that decided it, it looks too small
PSEUDO_ROWS_RANKED = 1.0  # for two rankings: one row that is of the class or of the rest, not one of either


@dataclass(frozen=True)
class Differences:
    """Paired differences of chosen slots between pairs of classifiers, as (pairs, slots) arrays.

    Each is judged by the contrast rule that its measure names. Estimates that are one of two scatter by that choice as
    well, and two classifiers the less so, the more the same rows decide it for both.
    """

    evaluations: Sequence[Evaluation]
    places: Sequence[int]
    level: float
    chosen: Sequence[tuple[int, int]] | None = None

    @cached_property
    def pairs(self) -> Sequence[tuple[int, int]]:
        """The pairs that were chosen, else all of them, the first named before the second."""
        return list(combinations(range(len(self.evaluations)), 2)) if self.chosen is None else self.chosen

    @cached_property
    def freedom(self) -> Array:
        """Degrees of freedom of each slot, the fewest of all classifiers."""
        return _fewest(self.evaluations, self.places)

    @cached_property
    def plain(self) -> list[Array]:
        """Influences at the sums as they are: (slots, patterns), one a classifier."""
        return [e.influences_at(self.places, smooth=False) for e in self.evaluations]

    @cached_property
    def smooth(self) -> list[Array]:
        """Influences where the pseudo-rows are added."""
        return [self._smoothed(model, evaluation) for model, evaluation in enumerate(self.evaluations)]

    def _smoothed(self, model: int, evaluation: Evaluation) -> Array:
        """Find anew what the pseudo-rows make a difference to."""
        moved = evaluation.moved_at(self.places)
        if not moved:
            return self.plain[model]
        found = evaluation.influences_at([self.places[k] for k in moved], smooth=True)
        if len(moved) == len(self.places):
            return found
        every = self.plain[model].copy()
        every[moved] = found
        return every

    @cached_property
    def values(self) -> Array:
        """Values of each classifier: (models, slots)."""
        return np.stack([e.values_at(self.places)[0] for e in self.evaluations])

    @cached_property
    def centres(self) -> Array:
        """Values where the pseudo-rows are added."""
        return np.stack([e.values_at(self.places)[1] for e in self.evaluations])

    @cached_property
    def difference(self) -> Array:
        """What is to be judged."""
        with np.errstate(invalid="ignore"):
            return np.stack([apart(self.values[a], self.values[b]) for a, b in self.pairs])

    @cached_property
    def se(self) -> Array:
        """Standard errors of the differences; where there is no difference there is none of it either."""
        first, wavered = self.evaluations[0], [self._wavered(a, b) for a, b in self.pairs]
        with np.errstate(invalid="ignore", over="ignore"):
            found = [first.variances(self.places, self.plain[a] - self.plain[b], False) for a, b in self.pairs]
            return np.where(np.isfinite(self.difference), np.sqrt(np.add(found, wavered)), np.nan)

    @cached_property
    def _pseudo(self) -> list[list[tuple[float, Array]]]:
        return [[e.pseudo_at(place) for place in self.places] for e in self.evaluations]

    @cached_property
    def _wavering(self) -> list[list[Array]]:
        several = [] if self.evaluations[0].of_patterns else self.evaluations  # of counts there is no such choice
        return [[each.wavering(each.slots[place]) for place in self.places] for each in several]

    def _wavered(self, a: int, b: int | None) -> Array:
        """The variance that choices between estimates add, of one classifier or of a difference."""
        if not self._wavering:
            return np.zeros(len(self.places))
        others = [np.zeros(1)] * len(self.places) if b is None else self._wavering[b]
        return np.array([np.square(one - other).sum() for one, other in zip(self._wavering[a], others, strict=True)])

    @cached_property
    def _pseudo_rows(self) -> Array:
        """How many there are; a ranking whose thresholds are fitted to the rows is the less sure, and keeps all."""
        plain = [slot.measure.statistic is RANKING and slot.measure.fair is None for slot in self.slots]
        return np.where(plain, PSEUDO_ROWS_RANKED, PSEUDO_ROWS)

    @cached_property
    def _variances(self) -> dict[tuple[int, int | None], Array]:
        return {}

    def _variance(self, a: int, b: int | None) -> Array:
        """Variance with the pseudo-rows, of one classifier or of a difference."""
        if (a, b) not in self._variances:
            self._variances[a, b] = self._variance_of(a, b)
        return self._variances[a, b]

    def _variance_of(self, a: int, b: int | None) -> Array:
        unit = self.evaluations[a].unit
        influences = self.smooth[a] if b is None else self.smooth[a] - self.smooth[b]
        extra = [square for square, _ in self._pseudo[a]]
        if b is not None:
            extra = [
                square_a + square_b - 2 * float(np.mean(mean_a * mean_b))
                for (square_a, mean_a), (square_b, mean_b) in zip(self._pseudo[a], self._pseudo[b], strict=True)
            ]
        variances = self.evaluations[a].variances(self.places, influences, True)
        # What rounding takes from nothing is nothing.
        pseudo = np.maximum(variances + self._pseudo_rows * unit**2 * np.array(extra), 0.0)
        return np.asarray(pseudo + (1.0 if b is None else CHOICES) * self._wavered(a, b))

    @cached_property
    def rules(self) -> dict[ContrastRule, Places]:
        """Which slots each rule judges."""
        rules = [contrast(slot.measure.contrast_rule) for slot in self.slots]
        return {each: np.array([k for k, other in enumerate(rules) if other is each]) for each in dict.fromkeys(rules)}

    @cached_property
    def slots(self) -> Sequence[Slot]:
        """What is compared."""
        return [self.evaluations[0].slots[place] for place in self.places]

    def _judged(self, row: int, critical: Array | None = None) -> Iterator[tuple[Places, ContrastRule, PairEvidence]]:
        """The evidence of one pair, for each rule. It is not kept: what it asks for refers to all influences."""
        a, b = self.pairs[row]
        first, second = self.evaluations[a], self.evaluations[b]
        freedom = _fewest([first, second], self.places)
        ends = np.array([slot.measure.span for slot in self.slots]).T
        for rule, at in self.rules.items():
            yield (
                at,
                rule,
                PairEvidence(
                    values=self.values[[a, b]][:, at],
                    centres=self.centres[[a, b]][:, at],
                    ends=ends[:, at],
                    variance=self._variance(a, b)[at],
                    alone=partial(self._alone_of, a, b, at),
                    freedom=freedom[at],
                    tails=partial(self._tails, a, b, at),
                    influences=partial(self._smooth_of, a, b, at),
                    level=self.level,
                    critical=critical,
                    places=np.asarray(self.places)[at],
                    slots=[self.slots[place] for place in at.tolist()],
                    sources=(first, second),
                ),
            )

    def _alone_of(self, a: int, b: int, at: Places) -> Array:
        return np.array([self._alone[a][at], self._alone[b][at]])

    def _smooth_of(self, a: int, b: int, at: Places) -> tuple[Array, Array]:
        every = len(at) == len(self.places)  # many rows are not copied for nothing
        return (self.smooth[a], self.smooth[b]) if every else (self.smooth[a][at], self.smooth[b][at])

    @cached_property
    def freedoms(self) -> Array:
        """Degrees of freedom of each difference, at most as many as either classifier has: (pairs, slots)."""
        found = np.empty((len(self.pairs), len(self.places)))
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            for row in range(len(self.pairs)):
                for at, rule, pair in self._judged(row):
                    found[row, at] = rule.freedom(pair)
        return found

    def bounds(self, critical: Array | None = None) -> tuple[Array, Array]:
        """Lower and upper bounds of all differences."""
        low, high = np.empty_like(self.difference), np.empty_like(self.difference)
        for row in range(len(self.pairs)):
            reach = critical_values(self.level, self.freedoms[row]) if critical is None else critical
            found = np.empty((2, len(self.places)))
            with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                for at, rule, pair in self._judged(row, critical):
                    found[:, at] = rule.bounds(replace(pair, freedom=self.freedoms[row, at]), reach[at])
                left, right = np.maximum(found[0], -self.width), np.minimum(found[1], self.width)
                left, right = np.where(np.isinf(reach), -self.width, left), np.where(np.isinf(reach), self.width, right)
                low[row] = np.minimum(left, self.difference[row])
                high[row] = np.maximum(right, self.difference[row])
        # Where there is no difference there is no interval, nor where a single row makes it infinite for good.
        lost = np.isnan(self.difference) | self._endless
        return np.where(lost, np.nan, low), np.where(lost, np.nan, high)

    @cached_property
    def p(self) -> Array:
        """Two-sided p-values for no difference."""
        found = np.empty_like(self.difference)
        for row in range(len(self.pairs)):
            with np.errstate(invalid="ignore", divide="ignore"):
                for at, rule, pair in self._judged(row):
                    found[row, at] = rule.p(replace(pair, freedom=self.freedoms[row, at]))
        return np.where(np.isnan(self.difference) | self._endless, np.nan, found)

    @cached_property
    def _endless(self) -> Marks:
        """Which differences are infinite whatever rows are added: rows alone decide that, and not chance."""
        with np.errstate(invalid="ignore"):
            centres = np.stack([self.centres[a] - self.centres[b] for a, b in self.pairs])
        return np.asarray(np.isinf(self.difference) & ~np.isfinite(centres))

    def _tails(self, a: int, b: int, at: Places) -> Tails:
        found = Tails.of(self.evaluations[0].patterns, self.smooth[a][at] - self.smooth[b][at])
        chosen = CHOICES * self._wavered(a, b)[at]  # which of two estimates is taken is like a normal error
        whole = self._variance(a, b)[at]
        return found.with_normal(np.divide(chosen, whole, out=np.zeros_like(chosen), where=chosen > 0))

    @cached_property
    def width(self) -> Array:
        """How far two values of each slot can lie apart."""
        return np.array([slot.measure.span[1] - slot.measure.span[0] for slot in self.slots])

    @cached_property
    def _alone(self) -> list[Array]:
        return [self._variance(model, None) for model in range(len(self.evaluations))]

    def simultaneous(self, of_differences: bool = True, share: float = 1.0) -> Array:
        """The critical value that holds for all slots and pairs (or classifiers) at once.

        Where other slots share in the chance of an error, these have only their share of it.
        """
        level = 1 - (1 - self.level) * share
        with np.errstate(invalid="ignore"):  # infinite scores
            rows = [self.smooth[a] - self.smooth[b] for a, b in self.pairs] if of_differences else self.smooth
        influences = np.concatenate(rows)
        influences = influences[np.isfinite(influences).all(axis=1)]  # what is undefined has no band to share
        fewest = self.freedoms.min(axis=0) if of_differences else self.freedom
        weighted = parts_of(self.evaluations[0].patterns, influences)
        one = max_critical(weighted @ weighted.T, level, float(fewest.min()))
        return np.asarray(np.maximum(one, critical_values(level, fewest)))


def _fewest(evaluations: Sequence[Evaluation], places: Sequence[int]) -> Array:
    """Degrees of freedom of some slots, the fewest of several classifiers."""
    return np.asarray(np.fmin.reduce([evaluation.freedom_at(places) for evaluation in evaluations], axis=0))


def holm_by_family(p: Sequence[float], families: Sequence[Hashable]) -> list[float]:
    """Adjust the p-values of every family by themselves."""
    places: dict[Hashable, list[int]] = {}
    for place, family in enumerate(families):
        places.setdefault(family, []).append(place)
    adjusted = [math.nan] * len(p)
    for members in places.values():
        for place, value in zip(members, holm([p[member] for member in members]), strict=True):
            adjusted[place] = value
    return adjusted


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (1979); NaN stays NaN and counts for nothing."""
    values = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * (len(order) - np.arange(len(order)))
    adjusted = values.copy()
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]


# --- pairs, whoever else is compared ---------------------------------------------------------------------------------


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

    def _places_in(self, evaluation: Evaluation) -> list[int]:
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
    return part.freedom if part.evaluations[0].of_patterns else np.full(len(part.places), np.inf)

"""Classifiers on the same cases: paired differences, tests and simultaneous bands."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import apart
from ..core.cached import cached_property
from ..families.forecasts.calibration import CalibrationEvaluation
from ..families.forecasts.gaps import PairedGaps
from ..families.ranking.evaluation import RankedEvaluation
from ..inference.chosen import freedom_at, influences_at, moved_at, pseudo_at, values_at, variances_at
from ..inference.row_evaluation import RowEvaluation
from ..inference.rules import SIDES, rule_of
from ..inference.rules.delta import LOGIT, on_log
from ..inference.rules.hall import difference_bounds, difference_p
from ..inference.skewed import SkewedEvaluation, Steady
from ..inference.student_t import critical_values, p_values
from ..inference.table_evaluation import PSEUDO_ROWS, Evaluation
from ..inference.tails import Tails
from ..inference.variances import NO_ERROR, by_cluster
from ..maths.joint_normal import LogOdds, max_critical, slope
from ..states.statistics import CALIBRATION, CONTINUUM, PARTITION

if TYPE_CHECKING:
    from ..core.typing import Array, Marks

CHOICES = 3.0  # times the variance of a choice between estimates: by the doubt that decided it, it looks too small
CANCELLED = 1e-7  # of an error: what sums of products leave of it where two classifiers agree
PSEUDO_ROWS_RANKED = 1.0  # for two rankings: one row that is of the class or of the rest, not one of either


@dataclass(frozen=True)
class Differences:
    """Paired differences of chosen slots between pairs of classifiers, as (pairs, slots) arrays.

    A difference is judged where the pseudo-rows are added to the joint table, as Agresti & Min (2005) do for
    proportions. Where estimates can run off to infinity, two intervals are combined instead (MOVER; Zou & Donner
    2008), and the test is one of the ratio. Calibration errors, which have no normal error near 0, are judged by the
    gaps that they are made of. Measures of ranking are judged by their log odds: near a perfect ranking an estimate
    scatters further down than up, and the less the better it looks. Means of what is rarely large have the wider of
    two intervals on either side: by the t statistic, and with its skewness taken off and the fewer degrees of freedom
    of a variance that few rows make up; whether they differ at all is told by random signs. Estimates that are one of
    two scatter by that choice as well, and two classifiers the less so, the more the same rows decide it for both.
    """

    evaluations: Sequence[Evaluation | RowEvaluation]
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
        return freedom_at(self.evaluations, self.places)

    @cached_property
    def freedoms(self) -> Array:
        """Degrees of freedom of each difference, at most as many as either classifier has: (pairs, slots)."""
        found = np.stack([freedom_at([self.evaluations[a], self.evaluations[b]], self.places) for a, b in self.pairs])
        if self.bent.any():
            for row, (a, b) in enumerate(self.pairs):
                found[row] = np.where(self.bent, _fewer(found[row], self._freedom_of_odds(row, a, b)), found[row])
        return found

    def _freedom_of_odds(self, row: int, a: int, b: int) -> Array:
        """As many as make a multiple of chi-squared scatter like the variance of the difference of the log odds.

        That scatter is found from the fourth powers of the influences, as a few rows far from their place make up most
        of the variance of a nearly perfect ranking; what the pseudo-rows add to the variance does not scatter.
        """
        first = self.evaluations[0]
        if not isinstance(first, RankedEvaluation):
            return np.full(len(self.places), np.inf)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steepness = [1 / slope(self.centres[model])[:, None] for model in (a, b)]
            scatter = first.scatters(self.places, self.smooth[a] * steepness[0] - self.smooth[b] * steepness[1])
            return np.asarray(2 * np.square(self._odds[row].variance) / scatter)

    @cached_property
    def plain(self) -> list[Array]:
        """Influences at the sums as they are: (slots, patterns), one a classifier."""
        return [influences_at(e, self.places, smooth=False) for e in self.evaluations]

    @cached_property
    def smooth(self) -> list[Array]:
        """Influences where the pseudo-rows are added."""
        return [self._smoothed(model, evaluation) for model, evaluation in enumerate(self.evaluations)]

    def _smoothed(self, model: int, evaluation: Evaluation | RowEvaluation) -> Array:
        """Find anew what the pseudo-rows make a difference to."""
        moved = moved_at(evaluation, self.places)
        if not moved:
            return self.plain[model]
        found = influences_at(evaluation, [self.places[k] for k in moved], smooth=True)
        if len(moved) == len(self.places):
            return found
        every = self.plain[model].copy()
        every[moved] = found
        return every

    @cached_property
    def values(self) -> Array:
        """Values of each classifier: (models, slots)."""
        return np.stack([values_at(e, self.places)[0] for e in self.evaluations])

    @cached_property
    def centres(self) -> Array:
        """Values where the pseudo-rows are added."""
        return np.stack([values_at(e, self.places)[1] for e in self.evaluations])

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
            found = [variances_at(first, self.places, self.plain[a] - self.plain[b], False) for a, b in self.pairs]
            return np.where(np.isfinite(self.difference), np.sqrt(np.add(found, wavered)), np.nan)

    @cached_property
    def _pseudo(self) -> list[list[tuple[float, Array]]]:
        return [[pseudo_at(e, place) for place in self.places] for e in self.evaluations]

    @cached_property
    def _wavering(self) -> list[list[Array]]:
        made_of_rows = [each for each in self.evaluations if isinstance(each, RowEvaluation)]
        return [[each.wavering(each.slots[place]) for place in self.places] for each in made_of_rows]

    def _wavered(self, a: int, b: int | None) -> Array:
        """The variance that choices between estimates add, of one classifier or of a difference."""
        if not self._wavering:
            return np.zeros(len(self.places))
        others = [np.zeros(1)] * len(self.places) if b is None else self._wavering[b]
        return np.array([np.square(one - other).sum() for one, other in zip(self._wavering[a], others, strict=True)])

    @cached_property
    def _pseudo_rows(self) -> Array:
        """How many there are; a ranking whose thresholds are fitted to the rows is the less sure, and keeps all."""
        ranked = isinstance(self.evaluations[0], RankedEvaluation)
        fitted = [self.evaluations[0].slot(place).measure.fair is not None for place in self.places]
        return np.array([PSEUDO_ROWS if own or not ranked else PSEUDO_ROWS_RANKED for own in fitted])

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
        variances = variances_at(self.evaluations[a], self.places, influences, True)
        # What rounding takes from nothing is nothing.
        pseudo = np.maximum(variances + self._pseudo_rows * unit**2 * np.array(extra), 0.0)
        return np.asarray(pseudo + (1.0 if b is None else CHOICES) * self._wavered(a, b))

    @cached_property
    def bent(self) -> Marks:
        """Which slots are judged by their log odds."""
        slots = [self.evaluations[0].slot(place) for place in self.places]
        ranked = isinstance(self.evaluations[0], RankedEvaluation)
        return np.array([ranked and rule_of(slot.measure.facts, slot.average) is LOGIT for slot in slots])

    @cached_property
    def _odds(self) -> list[LogOdds]:
        return [LogOdds.of(self.centres[a], self.centres[b], *self._covariance(a, b)) for a, b in self.pairs]

    @cached_property
    def heavy(self) -> Marks:
        """Which slots can run off to infinity."""
        return np.array([self.evaluations[0].slots[place].measure.heavy_tailed for place in self.places])

    def bounds(self, critical: Array | None = None) -> tuple[Array, Array]:
        """Lower and upper bounds of all differences."""
        low, high = np.empty_like(self.difference), np.empty_like(self.difference)
        for row, (a, b) in enumerate(self.pairs):
            reach = critical_values(self.level, self.freedoms[row]) if critical is None else critical
            with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                centre = self.centres[a] - self.centres[b]
                error = np.sqrt(self._variance(a, b))
                left, right = centre - reach * error, centre + reach * error
                if self.heavy.any():
                    mover = self._mover(a, b, reach)
                    left, right = np.where(self.heavy, mover[0], left), np.where(self.heavy, mover[1], right)
                if self.bent.any():
                    odds = self._odds[row]
                    bent, (inner, outer) = self.bent & odds.known, odds.bounds(reach)
                    left, right = np.where(bent, inner, left), np.where(bent, outer, right)
                if self.skewed.any():
                    found = difference_bounds(centre, error, self._tails(a, b), self.freedoms[row], reach)
                    left, right = (np.where(self.skewed, *pair) for pair in zip(found, (left, right), strict=True))
                for place, gaps in self._gaps[row].items():
                    left[place], right[place] = gaps.bounds(float(reach[place]))
                for place, steady in self._steady[row].items():
                    many = critical_values(self.level, np.array([np.inf])) if critical is None else reach[[place]]
                    left[place], right[place] = centre[place] + SIDES[:, 0] * steady.reach(float(many[0]))
                if self.traded:
                    # Wilson's bound for what was never seen in so many rows: the less was seen, the more may be unseen.
                    some, (trials, worth) = self.traded, self._unseen
                    wide = (worth * np.square(reach) / (trials + np.square(reach)))[some]
                    left[some] = np.minimum(left[some], centre[some] - wide)
                    right[some] = np.maximum(right[some], centre[some] + wide)
                left, right = self._within_span(left, right)
                left, right = np.where(np.isinf(reach), -self.width, left), np.where(np.isinf(reach), self.width, right)
                low[row] = np.minimum(left, self.difference[row])
                high[row] = np.maximum(right, self.difference[row])
        # Where there is no difference there is no interval, nor where a single row makes it infinite for good.
        lost = np.isnan(self.difference) | self._endless
        return np.where(lost, np.nan, low), np.where(lost, np.nan, high)

    @cached_property
    def _endless(self) -> Marks:
        """Which differences are infinite whatever rows are added: rows alone decide that, and not chance."""
        with np.errstate(invalid="ignore"):
            centres = np.stack([self.centres[a] - self.centres[b] for a, b in self.pairs])
        return np.asarray(np.isinf(self.difference) & ~np.isfinite(centres))

    @cached_property
    def traded(self) -> list[int]:
        """Which slots are made of hits and false alarms. Few rows tell two classifiers apart by them, or none does."""
        return [
            k for k, place in enumerate(self.places) if self.evaluations[0].slot(place).measure.interval == "newcombe"
        ]

    @cached_property
    def _unseen(self) -> tuple[float, Array]:
        """How many trials there are, and what a hit of one alone and a false alarm of the other are worth together."""
        first = self.evaluations[0]
        rows = first.total if isinstance(first, RowEvaluation) else np.nan  # what is counted is not traded
        return rows / first.unit, np.hypot(*np.transpose([first.slot(place).measure.span for place in self.places]))

    @cached_property
    def skewed(self) -> Marks:
        """Which slots are means of what is rarely large."""
        return np.array(
            [self.evaluations[0].slots[place].measure.statistic in (CONTINUUM, PARTITION) for place in self.places]
        )

    @cached_property
    def _steady(self) -> list[dict[int, Steady]]:
        """Of every pair, the slots among these that every row makes the same difference to."""
        found: list[dict[int, Steady]] = [{} for _ in self.pairs]
        for (row, (a, b)), place in product(enumerate(self.pairs), np.flatnonzero(self.skewed).tolist()):
            first, second, most = self.evaluations[a], self.evaluations[b], np.abs(self.values[[a, b], place]).max()
            if not isinstance(first, SkewedEvaluation) or not isinstance(second, SkewedEvaluation):
                continue
            error, alone = np.sqrt(self._variance(a, b)[place]), np.sqrt(max(self._alone[k][place] for k in (a, b)))
            if error <= max(NO_ERROR * most, CANCELLED * alone):
                slot, difference = first.slots[self.places[place]], float(self.difference[row, place])
                difference = 0.0 if abs(difference) <= NO_ERROR * most else difference
                found[row][place] = Steady(first, second, slot, difference)
        return found

    def _tails(self, a: int, b: int) -> Tails:
        found = Tails.of(self.evaluations[0].patterns, self.smooth[a] - self.smooth[b])
        chosen = CHOICES * self._wavered(a, b)  # which of two estimates is taken is like a normal error
        return found.with_normal(np.divide(chosen, self._variance(a, b), out=np.zeros_like(chosen), where=chosen > 0))

    @cached_property
    def binned(self) -> Marks:
        """Which slots have intervals of their own."""
        return np.array([self.evaluations[0].slots[place].measure.statistic is CALIBRATION for place in self.places])

    @cached_property
    def _gaps(self) -> list[dict[int, PairedGaps]]:
        """Of every pair, the gaps behind each slot that is made of them."""
        some = [place for place, binned in enumerate(self.binned) if binned]
        return [dict(self._paired(a, b, some)) for a, b in self.pairs]

    def _paired(self, a: int, b: int, some: Sequence[int]) -> Iterator[tuple[int, PairedGaps]]:
        first, second = self.evaluations[a], self.evaluations[b]
        both = first, second
        if not all(isinstance(each, RowEvaluation) and each.heard for each in both):
            return
        if isinstance(first, CalibrationEvaluation) and isinstance(second, CalibrationEvaluation):
            yield from ((place, first.paired(first.slots[self.places[place]], second)) for place in some)

    @cached_property
    def width(self) -> Array:
        """How far two values of each slot can lie apart."""
        spans = [self.evaluations[0].slots[place].measure.span for place in self.places]
        return np.array([end - start for start, end in spans])

    def _within_span(self, low: Array, high: Array) -> tuple[Array, Array]:
        return np.maximum(low, -self.width), np.minimum(high, self.width)

    def _mover(self, a: int, b: int, reach: Array) -> tuple[Array, Array]:
        """Put two intervals on the log scale together, their correlation minded."""
        alone, shared = self._covariance(a, b)
        centre_a, centre_b = self.centres[a], self.centres[b]
        low_a, high_a = on_log(centre_a, reach * np.sqrt(alone[0]))
        low_b, high_b = on_log(centre_b, reach * np.sqrt(alone[1]))
        correlation = np.clip(np.nan_to_num(shared / np.sqrt(alone[0] * alone[1])), -1, 1)
        first, second = (centre_a - low_a, high_a - centre_a), (centre_b - low_b, high_b - centre_b)
        return _combined(centre_a - centre_b, first, second, correlation)

    @cached_property
    def _alone(self) -> list[Array]:
        return [self._variance(model, None) for model in range(len(self.evaluations))]

    def _covariance(self, a: int, b: int) -> tuple[tuple[Array, Array], Array]:
        """The variances of two classifiers and what they share."""
        alone = self._alone[a], self._alone[b]
        return alone, (alone[0] + alone[1] - self._variance(a, b)) / 2

    @cached_property
    def p(self) -> Array:
        """Two-sided p-values for no difference."""
        found = np.empty_like(self.difference)
        for row, (a, b) in enumerate(self.pairs):
            with np.errstate(invalid="ignore", divide="ignore"):
                difference, error = self.centres[a] - self.centres[b], np.sqrt(self._variance(a, b))
                # What is the same whatever a classifier says, as the mean share of all classes, differs by rounding.
                rounding = NO_ERROR * np.abs(self.centres[[a, b]]).max(axis=0)
                statistic = np.where(np.maximum(np.abs(difference), error) <= rounding, 0.0, difference / error)
                if self.heavy.any():
                    statistic = np.where(self.heavy, self._log_ratio(a, b), statistic)
                if self.bent.any():
                    odds = self._odds[row]
                    statistic = np.where(self.bent & odds.known, odds.statistic, statistic)
            found[row] = p_values(np.nan_to_num(statistic, nan=0.0), self.freedoms[row])
            if self.skewed.any():
                known = np.where(np.isnan(statistic), 0.0, statistic)
                other = difference_p(known, self._tails(a, b), self.freedoms[row])
                found[row] = np.where(self.skewed, other, found[row])
            if self.traded:
                some, (trials, worth) = self.traded, self._unseen
                share = np.abs(difference[some]) / worth[some]
                other = p_values(np.sqrt(trials * share / (1 - share)), self.freedoms[row][some])
                found[row, some] = np.fmax(found[row, some], other)
            for place, steady in self._steady[row].items():
                found[row, place] = p_values(np.array([steady.critical]), np.array([np.inf]))[0]
            for place, gaps in self._gaps[row].items():
                found[row, place] = gaps.p
        return np.where(np.isnan(self.difference) | self._endless, np.nan, found)

    def _log_ratio(self, a: int, b: int) -> Array:
        alone, shared = self._covariance(a, b)
        centre_a, centre_b = self.centres[a], self.centres[b]
        variance = alone[0] / centre_a**2 + alone[1] / centre_b**2 - 2 * shared / (centre_a * centre_b)
        return np.asarray((np.log(centre_a) - np.log(centre_b)) / np.sqrt(np.maximum(variance, 1e-300)))

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
        patterns = self.evaluations[0].patterns
        weighted = np.asarray(
            influences * np.sqrt(patterns.square) if patterns.cluster is None else by_cluster(patterns, influences)
        )
        one = max_critical(weighted @ weighted.T, level, float(fewest.min()))
        return np.asarray(np.maximum(one, critical_values(level, fewest)))


def _fewer(freedom: Array, other: Array) -> Array:
    """Degrees of freedom of a variance that is unsure for two reasons, at least 1 if either alone has as many.

    Fourth powers of few rows say too little of how far these scatter, so that the fewness of the rows comes on top.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        both = np.maximum(1 / (1 / freedom + 1 / other), np.minimum(freedom, 1.0))
    return np.where(np.isnan(both), np.fmin(freedom, other), both)


def _combined(
    difference: Array, first: tuple[Array, Array], second: tuple[Array, Array], correlation: Array
) -> tuple[Array, Array]:
    """The interval of a difference from how far the intervals of both reach down and up (MOVER)."""
    below = np.square(first[0]) + np.square(second[1]) - 2 * correlation * first[0] * second[1]
    above = np.square(first[1]) + np.square(second[0]) - 2 * correlation * first[1] * second[0]
    return difference - np.sqrt(np.maximum(below, 0)), difference + np.sqrt(np.maximum(above, 0))


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

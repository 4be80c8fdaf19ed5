"""From measured values to values and influences of all measures of one classifier on them. Knows no formula.

A measure is a formula of means over rows. The influence of a row is the gradient of the formula at the means, found by
complex step, times the row less the means. Means are those of rows in memory, or come from sums of rows let go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.estimate import Deviation
from ...core.scale import Continuum
from ...inference.design import NO_ERROR, by_cluster
from ...inference.evaluation import Slot
from ...inference.row_evaluation import SkewedEvaluation
from ...inference.rules.wilson import wilson
from ...inference.student_t import critical_values
from ...inference.tails import Tails
from ...inputs.dataset import ASKED, DOUBTS, NEEDS, RESPONSE_SD, SD, Measured
from ...maths.sides import each_one_less, one_less, squares_around
from ...measures.registry import Measure
from ...states.statistics import CONTINUUM, ROUNDING, Patterns
from ..state_evaluation import Influences, StateEvaluation, with_disturbances
from ..summed.products import made_up, tails_of
from .columns import (
    SUMS,
    TOGETHER,
    USUAL_LEVEL,
    Means,
    MeasuredColumns,
    asked_by,
    bounds_of,
    estimated_sd,
    halved,
    pairs_of,
    uncertain_of,
)
from .judged import Judged

if TYPE_CHECKING:
    from ...core.typing import Array

STEADY = 1e-12  # of squares that were summed before their mean was known
CANCELLED = 1e-6  # its root: of what is added up, no more can be told
NEGATIVE = "negative: measurement error explains more than all of the apparent error"
NO_SCATTER = "sd_response is 0: as if the covariates told the response exactly"
UNKNOWN = "{need} is not known of these rows"
ESTIMATED = "sd was estimated with {freedom:.4g} degrees of freedom"


@dataclass(frozen=True)
class ContinuumEvaluation(StateEvaluation, SkewedEvaluation):
    """All slots of one classifier that are made of measured values."""

    @property
    def _truth(self) -> tuple[Continuum, Measured]:
        return self.row_columns.truth

    # --- means -------------------------------------------------------------------------------------------------

    @cached_property
    def row_columns(self) -> MeasuredColumns:
        """The columns of rows in memory; of the few that were kept, where others were let go."""
        asked = asked_by(slot.measure for slot in self.slots)
        return MeasuredColumns(self.rows, self.weights, self.model, self.scale, asked)

    def judged(self, low: int, high: int) -> Judged:
        """Some rows, as they were assigned."""
        return self.row_columns.judged(low, high)

    def column(self, name: str) -> Array:
        """What formulas ask for by a name, of every row."""
        return self.row_columns.column(name)

    @cached_property
    def _summed_means(self) -> list[Means]:
        """Of rows that were let go: the means, those with each estimated deviation moved, and those at bounds of sd."""
        sums = self._state[SUMS].parts[self.model] / self.total
        return [dict(zip(self._summed, row, strict=True)) for row in sums.tolist()]

    @property
    def means(self) -> Means:
        """The means of all columns that are asked for."""
        return self.row_columns.means if self.held else self._summed_means[0]

    @cached_property
    def moves(self) -> list[Means]:
        """By how much one standard error of each estimated deviation moves every mean."""
        return self.row_columns.moves if self.held else halved(self._summed_means[1 : 1 + 2 * self._uncertain])

    @property
    def means_at_bounds(self) -> list[Means]:
        """The means where the sd is at the bounds of its 95% interval; none where it is known."""
        return self.row_columns.means_at_bounds if self.held else self._summed_means[1 + 2 * self._uncertain :]

    @property
    def _uncertain(self) -> int:
        """How many deviations are only estimated."""
        return len(uncertain_of(self._truth[1]))

    # --- sums of rows that were let go ---------------------------------------------------------------------------

    @property
    def _state(self) -> Mapping[str, Any]:
        return self.summary.states[CONTINUUM.name].found  # type: ignore[no-any-return]

    @property
    def _clusters(self) -> Array:
        """The sums of all clusters, one in a row."""
        return self._state[TOGETHER].sums  # type: ignore[no-any-return]

    @cached_property
    def _summed(self) -> tuple[str, ...]:
        """The names of the columns that were summed."""
        return asked_by(self.summary.recipe.made_of(CONTINUUM))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of what is drawn, rows or clusters."""
        if self.held:
            return super().freedom
        return (len(self._clusters) if self.clustered else self.drawn) - 1

    @property
    def _lost(self) -> float:
        return one_less(self.freedom + 1)

    @cached_property
    def _factor(self) -> Array:
        """Pseudo-observations with the products of the columns of all classifiers, or clusters: (columns, these)."""
        means = np.concatenate([sums[0] for sums in self._state[SUMS].parts]) / self.total
        if self.clustered:
            told, mass = self._clusters[:, 2:], self._clusters[:, 1:2]
            around = (told - mass * means).T
            around[np.square(around).sum(axis=1) <= STEADY * np.square(told).sum(axis=0)] = 0.0
            return np.asarray(around * np.sqrt(self._lost) / self.total)
        products = self._state[TOGETHER].parts[-1]
        whole, cross, squares = products[0, 0], products[0, 1:], products[1:, 1:]
        around = squares - np.outer(means, cross) - np.outer(cross, means) + whole * np.outer(means, means)
        steady = np.diag(around) <= STEADY * np.diag(squares)
        around[steady], around[:, steady] = 0.0, 0.0
        return made_up(around * self._lost) / self.total

    def _row(self, name: str) -> Array:
        """What pseudo-observations add to the mean of a column of this classifier; all are asked for the same."""
        return np.asarray(self._factor[self.model * len(self._summed) + self._summed.index(name)])

    def _powers(self, own: Array, of_means: Means) -> tuple[float, float, float]:
        """What second, third and fourth powers of what rows or clusters add come to."""
        square = float(np.square(own).sum())
        if self.clustered:
            return square, float(np.power(own, 3).sum()), float(np.power(own, 4).sum())
        third, fourth = self._state[TOGETHER].parts[2 * self.model : 2 * self.model + 2]
        slopes = np.zeros(1 + len(self._summed))
        for name, slope in of_means.items():
            slopes[1 + self._summed.index(name)] = slope
            slopes[0] -= slope * self.means[name]
        slopes /= self.total
        first, second = pairs_of(self.summary.recipe.made_of(CONTINUUM), self._summed)
        pairs = slopes[first] * slopes[second] * np.where(first == second, 1, 2)
        return square, float(pairs @ third @ slopes), max(float(pairs @ fourth @ pairs), 0.0)

    # --- how a response model fits ---------------------------------------------------------------------------------

    def doubt(self, name: str) -> float:
        """How many standard errors what was seen is from what the response model foresees."""
        if self.held:
            return float(self.doubts(name, np.asarray(self.weights.mass)[None])[0])
        seen, foreseen = DOUBTS[name]
        error = float(np.linalg.norm(self._combined({seen: 1.0, foreseen: -1.0})))
        return (self.means[seen] - self.means[foreseen]) / error if error > 0 else 0.0

    def doubts(self, name: str, mass: Array) -> Array:
        """The same where the rows weigh something else, (replicates, rows): one a replicate; 0 where no row differs."""
        gap = self.column(DOUBTS[name][0]) - self.column(DOUBTS[name][1])
        centre, total = float(self.weights.mass @ gap) / self.total, mass.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = mass @ (gap - centre) / total
            sums = [mass @ moment for moment in self._moments(gap - centre)]
            around = squares_around(middle, *sums[1:])
            variance = np.maximum(around / total**2 * each_one_less(sums[0]), 0.0)
            # Of what is drawn again and again, as one of few clusters, rounding leaves a little.
            told = variance > np.maximum(ROUNDING * sums[-1] / total**2, (NO_ERROR * np.abs(gap).max()) ** 2)
        return np.asarray(np.divide(centre + middle, np.sqrt(variance), out=np.zeros_like(variance), where=told))

    def _moments(self, gap: Array) -> Array:
        """Of what is drawn, rows or whole clusters: number, squared weight and both moments, per weight of a row."""
        patterns = self.row_patterns
        if patterns.cluster is None:
            size, whole = patterns.mass, patterns.square
            found = np.stack([patterns.count, whole, whole * gap, whole * gap**2])
        else:
            summed, size = by_cluster(patterns, np.stack([gap, np.ones_like(gap)]))
            found = np.stack([np.ones_like(size), size**2, size * summed, summed**2])[:, patterns.cluster]
            size = size[patterns.cluster]
        return np.asarray(np.divide(found, size, out=np.zeros_like(found), where=size > 0))

    def _offered(self, slot: Slot) -> dict[str, Any]:
        """The means that a formula asks for, and what else it may ask for."""
        found: dict[str, Any] = {"classes": len(self.scale)}
        for name in slot.measure.arguments:
            if name in DOUBTS:
                found[name] = self.doubt(name)
            elif name in ASKED:
                found[name] = np.float64(self.means[name])  # by a plain 0, nothing can be divided
        return found

    # --- values and influences ---------------------------------------------------------------------------------

    def value(self, slot: Slot) -> float:
        """The formula at the means."""
        return float(np.real(slot.measure.value_of(self._offered(slot))))

    def slopes(self, slot: Slot) -> dict[str, float]:
        """The derivatives of a formula by its means."""
        return slot.measure.slopes_by_name(self._offered(slot), self.means)

    @cached_property
    def source(self) -> Influences:
        """Where variances and covariances come from."""
        if self.held:
            return Influences.of_rows(self.row_patterns)
        return Influences.of_factor(len(self.scale), self._factor.shape[1], self.freedom)

    @cached_property
    def patterns(self) -> Patterns:
        """What influences are of: rows or pseudo-observations; behind them one for every deviation that is estimated.

        What its error does to a value is like the influence of one more row, which all classifiers share. But no row
        is behind it: it is normal, and has no skewness.
        """
        return with_disturbances(self.source.patterns, len(self.moves))

    def influence(self, slot: Slot, smooth: bool = False) -> Array:
        """What each row adds to a slot, in the order of the input; and then, what every estimated deviation does."""
        del smooth
        slopes = self.slopes(slot)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self._combined(slopes)
        moves = [sum(slope * move[name] for name, slope in slopes.items()) for move in self.moves]
        return np.append(found, moves) if moves else found

    def _combined(self, slopes: Means) -> Array:
        """What each row, or pseudo-observation, adds to a sum of means, each so many times."""
        if self.held:
            found = np.zeros(len(self.rows))
            for name, slope in slopes.items():
                found += slope * (self.column(name) - self.means[name])
            found /= self.total
            return found
        rows = np.array([slope * self._row(name) for name, slope in slopes.items()])
        found, largest = rows.sum(axis=0), np.linalg.norm(rows, axis=1).max(initial=0.0)
        # Columns may take each other off, and leave what rounding makes of the products of both.
        return np.zeros(found.shape) if np.linalg.norm(found) <= CANCELLED * largest else found

    def scattered(self, slot: Slot) -> tuple[float, Tails]:
        """The variance of a slot, and how skewed it is."""
        slopes, wavered = self.slopes(slot), float(np.square(self.wavering(slot)).sum())
        influence = self.influence(slot)
        variance = float(self.source.variances(influence[None])[0]) + wavered
        if self.held:  # a choice between estimates adds a normal error
            share = np.array([wavered / variance if wavered > 0 else 0.0])
            tails = Tails.of(self.patterns, influence[None]).with_normal(share)
        else:
            # Powers of rows have not lost a degree of freedom, as the variance has, of which a choice has its share.
            own, moves = np.split(influence, [self._factor.shape[1]])
            steady = float(np.square(moves).sum()) + wavered * self.freedom / (self.freedom + 1)
            tails = tails_of(*self._powers(own / np.sqrt(self._lost), slopes), self.freedom + 1, steady)
        # Means may take each other off: what is left of them is rounding, and so is how far that scatters.
        whole = sum(abs(slope * self.means[name]) for name, slope in slopes.items())
        return 0.0 if np.sqrt(variance) <= NO_ERROR * whole else variance, tails

    @property
    def foretold(self) -> bool:
        """The first pass tells how all slots of all classifiers go together."""
        return True

    def wavering(self, slot: Slot) -> Array:
        """What a choice between two estimates adds to a slot: laid out as the doubt is that decides it."""
        found = slot.measure.wavering_of(self._offered(slot))
        doubts = [name for name in slot.measure.arguments if name in DOUBTS]
        if found == 0 or np.isnan(found) or not doubts:
            return np.array([found])
        seen, foreseen = DOUBTS[doubts[0]]
        parts = self.source.parts(self._combined({seen: 1.0, foreseen: -1.0}))
        length = np.linalg.norm(parts)
        return np.asarray(found * parts / length) if length > 0 else np.array([found])

    # --- deviations that were estimated ------------------------------------------------------------------------

    @cached_property
    def estimated(self) -> Deviation | None:
        """The standard deviation of the measurement error, if it was estimated and for all rows."""
        return estimated_sd(self._truth[1])

    def _means_at(self, level: float) -> Sequence[Means]:
        """The same at another level: by parabolas through the means at these bounds and at the sd itself."""
        known = self.means_at_bounds
        if self.estimated is None or level == USUAL_LEVEL or not known:
            return known
        nodes = np.array([self.estimated.sd, *bounds_of(self.estimated, USUAL_LEVEL)])
        if len(np.unique(nodes)) < len(nodes):
            return known
        found: list[Means] = []
        for sd, nearest in zip(bounds_of(self.estimated, level), known, strict=True):
            weights = [np.prod([(sd - other) / (node - other) for other in nodes if other != node]) for node in nodes]
            at: dict[str, float] = {}
            for name, end in nearest.items():
                centre = self.means[name]
                bent = float(np.dot(weights, [centre, *[each[name] for each in known]]))
                # A parabola may turn back: no mean is nearer than at a bound further in, or further than at one out.
                further = (bent - end) * (end - centre) >= 0
                at[name] = max(bent, 0.0) if further == (level > USUAL_LEVEL) else end
            found.append(at)
        return found

    def deviation_share(self, slot: Slot) -> float:
        """The share of a slot's variance that an estimated sd has."""
        variance = self.result(slot).variance[0]
        if not self.means_at_bounds or not variance > 0:
            return 0.0
        moves = self.moves[uncertain_of(self._truth[1]).index("sd")]
        moved = sum(slope * moves[name] for name, slope in self.slopes(slot).items())
        return min(float(moved**2 / variance), 1.0)

    def deviation_bounds(self, slot: Slot, level: float) -> tuple[float, float] | None:
        """The least and the most that a slot is within the interval of an estimated sd; None where it is known."""
        if not self.means_at_bounds or SD not in self._needs(slot):
            return None
        ends = [self.value(slot), *self._values_at(slot, level)]
        if slot.measure.latent is not None:
            name, means = slot.measure.latent[0], self._means_at(level)
            ends += self.turned(slot, name, (means[0][name], means[1][name])) or ()
        return min(ends), max(ends)

    def _values_at(self, slot: Slot, level: float) -> list[float]:
        """A slot where the sd is at the bounds of its interval; the root of what is negative there is 0."""
        offered = self._offered(slot)
        some = [name for name in slot.measure.arguments if name in self.means]
        with np.errstate(invalid="ignore"):
            values = [
                slot.measure.value_of({**offered, **{name: np.float64(at[name]) for name in some}})
                for at in self._means_at(level)
            ]
        return [float(np.nan_to_num(np.real(value), nan=slot.measure.span[0])) for value in values]

    def latent_bounds(self, slot: Slot, level: float) -> tuple[float, float] | None:
        """Bounds of what a slot would be, had these rows been seen without error.

        What they really have scatters around the mean that is expected of them by at most what the mean of squares
        says. Rows of one cluster may share their errors. Sums of rare amounts are skewed: the upper bound is a quantile
        of the gamma distribution with this mean and variance, the lower one of the normal distribution.
        """
        if slot.measure.latent is None:
            return None
        from scipy.special import gammaincinv, ndtr

        name, square = slot.measure.latent
        mean, squares = self.means[name], self.means[square]
        variance = max(squares - mean**2, 0.0) * self._concentration
        low = high = mean
        if variance > 0 and mean > 0:
            reach = float(critical_values(level, np.array([np.inf]))[0])
            low = max(mean - reach * np.sqrt(variance), 0.0)
            high = float(gammaincinv(mean**2 / variance, float(ndtr(reach))) * variance / mean)
        for at in self._means_at(level):
            low, high = (
                (mean - np.hypot(mean - low, mean - at[name]), high)
                if at[name] < mean
                else (low, mean + np.hypot(high - mean, at[name] - mean))
            )
        most = 1.0 if slot.measure.counted else np.inf
        ends = (max(low, 0.0), min(high, most))
        turned = self.turned(slot, name, ends)
        if turned is not None:
            return turned
        values = [float(np.real(slot.measure.value_of({**self._offered(slot), name: np.float64(end)}))) for end in ends]
        return min(values), max(values)

    @property
    def _concentration(self) -> float:
        """One by the number of equally weighted rows that scatter as much as these; with clusters, of these."""
        squares = self.class_square
        if self.clustered and not self.held:
            squares = np.square(self._clusters[:, 1])
        elif self.row_patterns.cluster is not None:
            squares = np.square(np.bincount(self.row_patterns.cluster, self.row_patterns.mass))
        return float(squares.sum()) / self.total**2

    def counted(self, slot: Slot) -> tuple[float, float]:
        """The share of rows that a slot goes with; and 1, or -1 where the one falls as the other rises."""
        name = str(slot.measure.counted)
        slope = slot.measure.slopes_by_name(self._offered(slot), (name,))[name]
        return self.means[name], -1.0 if slope < 0 else 1.0

    def turned(self, slot: Slot, name: str, ends: tuple[float, float]) -> tuple[float, float] | None:
        """What a slot can be between two values of a mean, where it falls at one and rises at the other; else None.

        Between them it reaches an end of its span: the error less that of labels is nothing where they are the same.
        """
        least, most = slot.measure.span
        moved = [{**self._offered(slot), name: np.float64(end)} for end in ends]
        first, last = (slot.measure.slopes_by_name(offered, (name,))[name] for offered in moved)
        values = [float(np.real(slot.measure.value_of(offered))) for offered in moved]
        if first < 0 < last:
            return least, max(values)
        return (min(values), most) if last < 0 < first else None

    def without_spread(self, slot: Slot, value: float, level: float) -> tuple[float, float]:
        """No row differs from another: all are right, say, which does not prove that all ever will be.

        So many rows tell how rare an error is at most; how far off it would be, the rows themselves, half of which are
        further from the nearest boundary.
        """
        if slot.measure.better == "neither":
            return value, value
        rate, trials = _is_rate(slot.measure), np.array([self.total / self.unit])
        share = min(max(value, 0.0), 1.0) if rate else 0.0
        low, high = (float(bound[0]) for bound in wilson(np.array([share]), trials, level))
        return (low, high) if rate else (value, value + self.unseen(slot, high))

    def unseen(self, slot: Slot, share: float) -> float:
        """How far rows unlike all that were seen would move a value, if they were this share of all rows."""
        if slot.measure.better == "neither":
            return 0.0
        if _is_rate(slot.measure):
            return share
        worst, value = self._usual_distance**2 * share, self.result(slot).value[0]
        return float(np.sqrt(value**2 + worst)) - value if self.is_root(slot) else worst

    def is_root(self, slot: Slot) -> bool:
        """Whether a slot is the root of a mean."""
        return slot.measure.name.endswith("_rmse")

    @cached_property
    def _usual_distance(self) -> float:
        """How far values are from the nearest boundary: half of all rows, by weight, no nearer."""
        scale, measured = self._truth
        inner = np.array([boundary for boundary in scale.boundaries if np.isfinite(boundary)])
        nearest = np.abs(measured.value[:, None] - inner).min(axis=1)
        order = np.argsort(nearest, kind="stable")
        reached = np.cumsum(self.weights.mass[order])
        reached = reached > reached[-1] * (0.5 + ROUNDING)
        return float(nearest[order[np.argmax(reached)]])

    # --- for differences between classifiers, and the bootstrap ---------------------------------------------------

    def shaken(self, slots: Sequence[Slot]) -> Array:
        """What one standard error of each estimated deviation does: (lower and higher, deviations, slots).

        An sd that was estimated is as skewed as its chi-squared distribution: a normal error reaches both its bounds.
        """
        number = len(self.moves)
        found = np.stack([self.influence(slot)[-number:] if number else np.zeros(0) for slot in slots], axis=1)
        pair = np.stack([found, found])
        if self.means_at_bounds:
            reach = float(critical_values(USUAL_LEVEL, np.array([np.inf]))[0])
            for place, slot in enumerate(slots):
                low, high = self._values_at(slot, USUAL_LEVEL)
                value = self.value(slot)
                pair[:, uncertain_of(self._truth[1]).index("sd"), place] = (value - low) / reach, (high - value) / reach
        return pair

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Find the columns once, before rows are weighed anew again and again."""
        asked = {name for slot in slots for each in slot.measure.arguments for name in DOUBTS.get(each, (each,))}
        if self.held:
            self.row_columns.keep(asked & ASKED)

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
        if not self.held:
            return super().reweighed(slots, mass)
        total, found = mass.sum(axis=1), np.empty((len(mass), len(slots)))
        for place, slot in enumerate(slots):
            offered: dict[str, Any] = {"classes": len(self.scale)}
            for name in slot.measure.arguments:
                if name in DOUBTS:
                    offered[name] = self.doubts(name, mass)
                elif name in ASKED:
                    offered[name] = mass @ self.column(name) / total
            with np.errstate(divide="ignore", invalid="ignore"):
                found[:, place] = np.real(slot.measure.value_of(offered))
        return found

    def remark(self, slot: Slot) -> str:
        """What there is to know about a value beside the value itself."""
        needs = self._needs(slot)
        lacking = [need for need in needs if need not in self._truth[1].given]
        if lacking:
            return UNKNOWN.format(need=lacking[0])
        doubts = [name for name in slot.measure.arguments if name in DOUBTS]
        remarks = [self._diagnosis(slot, doubts[0])] if doubts else []
        if RESPONSE_SD in needs and not np.any(self._truth[1].blur):
            remarks.append(NO_SCATTER)
        if slot.measure.better == "lower" and self.result(slot).value[0] < 0:
            remarks.append(NEGATIVE)
        if SD in needs and self.estimated is not None:
            remarks.append(ESTIMATED.format(freedom=self.estimated.freedom))
        return "; ".join(remarks)

    def _needs(self, slot: Slot) -> list[str]:
        """What must be known beside the measured values."""
        return [need for name in slot.measure.arguments for need in NEEDS.get(name, ())]

    def _diagnosis(self, slot: Slot, name: str) -> str:
        """Whether the response model can be believed, and which estimate is taken therefore."""
        seen, foreseen = (self.means[column] for column in DOUBTS[name])
        doubt, limit = self.doubt(name), slot.measure.parameters["limit"]
        taken = "difference" if abs(doubt) > limit else "posterior"
        return f"{taken}: the model foresees {foreseen:.3g} and {seen:.3g} is seen, {doubt:+.1f} standard errors"


def _is_rate(measure: Measure) -> bool:
    """Whether rows are right or wrong to a measure, and not so far off."""
    return measure.span == (0.0, 1.0) or measure.name.endswith("_error")

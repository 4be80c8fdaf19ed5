"""From measured values to values and influences of all measures of one classifier on them. Knows no formula.

A measure is a formula of means over rows. The influence of a row is the gradient of the formula at the means, found by
complex step, times the row less the means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.estimate import Deviation
from ...core.scale import Continuum
from ...core.threads import chunks, over_rows
from ...inference.rules.wilson import wilson
from ...inference.skewed import SkewedEvaluation
from ...inference.student_t import critical_values
from ...inference.table_evaluation import Slot
from ...inference.variances import NO_ERROR, by_cluster
from ...inputs.measured import ASKED, DOUBTS, NEEDS, RESPONSE_SD, SD, Measured
from ...measures.registry import Measure
from ...states.statistics import ROUNDING, Patterns
from .judged import Judged

if TYPE_CHECKING:
    from ...core.typing import Array

MANY_ROWS = 1 << 16
MOST_NUMBERS = 1 << 26  # of columns that are kept
NEGATIVE = "negative: measurement error explains more than all of the apparent error"
NO_SCATTER = "sd_response is 0: as if the covariates told the response exactly"
UNKNOWN = "{need} is not known of these rows"
ESTIMATED = "sd was estimated with {freedom:.4g} degrees of freedom"
USUAL_LEVEL = 0.95  # at whose bounds of an estimated sd all means are computed
MOST_OF_SD = 1e6  # of an estimate of which hardly anything is known


@dataclass(frozen=True)
class ContinuumEvaluation(SkewedEvaluation):
    """All slots of one classifier that are made of measured values."""

    kept: dict[str, Array] = field(default_factory=dict, repr=False)

    @property
    def one_by_one(self) -> bool:
        """A pass over few rows is soon made, for all slots; of many rows, no more is made than asked for."""
        return self.alone is None and len(self.rows) > MANY_ROWS

    @cached_property
    def _truth(self) -> tuple[Continuum, Measured]:
        if not isinstance(self.scale, Continuum) or self.rows.measured is None:
            raise TypeError("the truth was not measured")
        return self.scale, self.rows.measured

    # --- columns of rows ---------------------------------------------------------------------------------------

    def judged(self, low: int, high: int) -> Judged:
        """Some rows, as they were assigned."""
        scale, measured = self._truth
        columns = (measured.sd, measured.blur, measured.expected, measured.spread)
        none = np.full(high - low, np.nan)
        return Judged(
            scale,
            self.rows.truth[low:high],
            measured.assigned[self.model][low:high],
            measured.value[low:high],
            *[none if column is None else column[low:high] for column in columns],
        )

    def column(self, name: str) -> Array:
        """What formulas ask for by a name, of every row."""
        if name in self.kept:
            return self.kept[name]
        found = np.empty(len(self.rows))
        self._pass({name: found})
        return found

    def _pass(self, columns: dict[str, Array]) -> Array:
        """Go through the rows once: sums of columns by weight, and the columns themselves where there is room."""
        mass = None if self.weights.equal else self.weights.mass

        def work(start: int, stop: int) -> Array:
            sums = np.zeros(len(columns))
            for low, high in chunks(start, stop, len(self.scale)):
                judged = self.judged(low, high)
                for place, (name, room) in enumerate(columns.items()):
                    piece = self.kept[name][low:high] if name in self.kept else getattr(judged, name)
                    sums[place] += piece.sum() if mass is None else piece @ mass[low:high]
                    if len(room):
                        room[low:high] = piece
            return sums

        return np.asarray(reduce(np.add, over_rows(len(self.rows), work, len(self.scale))))

    @cached_property
    def asked(self) -> list[str]:
        """The columns that any formula asks for, and those behind its doubts."""
        asked = [name for slot in self.slots for name in slot.measure.means]
        asked += [name for doubt in DOUBTS if doubt in asked for name in DOUBTS[doubt]]
        return [name for name in dict.fromkeys(asked) if name in ASKED and name not in DOUBTS]

    @cached_property
    def means(self) -> dict[str, float]:
        """The means of all columns that are asked for, in one pass over the rows."""
        room = len(self.rows) * len(self.asked) <= MOST_NUMBERS
        columns = {name: np.empty(len(self.rows) if room else 0) for name in self.asked}
        found = dict(zip(self.asked, (self._pass(columns) / self.total).tolist(), strict=True))
        self.kept.update(columns if room else {})
        return found

    def column_sums(self) -> Array:
        """The sums by weight of all columns that are asked for, none of which is kept."""
        return self._pass({name: np.empty(0) for name in self.asked})

    def columns_at(self, low: int, high: int) -> Array:
        """All columns that are asked for, of some rows: (columns, rows)."""
        judged = self.judged(low, high)
        return np.stack([getattr(judged, name) for name in self.asked])

    def moved(self) -> list[ContinuumEvaluation]:
        """The same with every estimated deviation one standard error higher, and lower; then sd at its bounds."""
        return [*self._one_error_away(), *self._at_bounds()]

    def _one_error_away(self) -> list[ContinuumEvaluation]:
        """The same with every estimated deviation one standard error higher, and lower."""
        return [self._moved(name, sign) for name in self._uncertain for sign in (1.0, -1.0)]

    def _at_bounds(self) -> list[ContinuumEvaluation]:
        """The same with the sd at the bounds of its 95% interval, if it was estimated."""
        if self.estimated is None:
            return []
        shape = self._truth[1].value.shape
        return [self._with("sd", np.broadcast_to(sd, shape)) for sd in _bounds_of(self.estimated, USUAL_LEVEL)]

    def _offered(self, slot: Slot) -> dict[str, Any]:
        """The means that a formula asks for, and what else it may ask for."""
        found: dict[str, Any] = {"classes": len(self.scale)}
        for name in slot.measure.arguments:
            if name in DOUBTS:
                found[name] = self.doubt(name)
            elif name in ASKED:
                found[name] = np.float64(self.means[name])  # by a plain 0, nothing can be divided
        return found

    def doubt(self, name: str) -> float:
        """How many standard errors what was seen is from what the response model foresees."""
        return float(self._doubts(name, np.asarray(self.weights.mass)[None])[0])

    def _doubts(self, name: str, mass: Array) -> Array:
        """The same where the rows weigh something else, (replicates, rows): one a replicate; 0 where no row differs."""
        gap = self.column(DOUBTS[name][0]) - self.column(DOUBTS[name][1])
        centre, total = float(self.weights.mass @ gap) / self.total, mass.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = mass @ (gap - centre) / total
            sums = [mass @ moment for moment in self._moments(gap - centre)]
            variance = variance_around(middle, total, sums)
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

    # --- values and influences ---------------------------------------------------------------------------------

    @cached_property
    def patterns(self) -> Patterns:
        """Every row as a pattern of its own; and behind them one for every deviation that is only estimated.

        What its error does to a value is like the influence of one more row, which all classifiers share. But no row
        is behind it: it is normal, and has no skewness.
        """
        rows, more = self.row_patterns, len(self._uncertain)
        if not more:
            return rows
        count = np.append(rows.count, np.zeros(more))
        mass, square = (np.append(column, np.ones(more)) for column in (rows.mass, rows.square))
        cluster = None if rows.cluster is None else np.append(rows.cluster, rows.clusters + np.arange(more))
        truth = np.append(rows.truth, np.zeros(more, rows.truth.dtype))
        return Patterns(rows.classes, truth, np.zeros((0, len(truth)), np.int64), count, mass, square, cluster)

    @cached_property
    def _uncertain(self) -> list[str]:
        """The deviations that are only estimated."""
        errors = self._truth[1].errors
        return [name for name, error in zip(("sd", "blur"), errors, strict=True) if error > 0]

    def _moved(self, name: str, sign: float) -> ContinuumEvaluation:
        """The same with a deviation whose square is one standard error higher or lower."""
        measured = self._truth[1]
        error = measured.errors[("sd", "blur").index(name)]
        return self._with(name, np.sqrt(np.maximum(np.square(getattr(measured, name)) + sign * error, 0.0)))

    def _with(self, name: str, column: Array) -> ContinuumEvaluation:
        """The same with other deviations, which are known."""
        moved: dict[str, Any] = {name: column, "errors": (0.0, 0.0)}
        rows = replace(self.rows, measured=replace(self._truth[1], **moved))
        return replace(self, rows=rows, kept={}, found={}, tails={})

    @cached_property
    def _moves(self) -> list[dict[str, float]]:
        """By how much one standard error of each of these deviations moves every mean."""
        means = [each.means for each in self._one_error_away()]
        pairs = zip(means[::2], means[1::2], strict=True)
        return [{column: (up[column] - down[column]) / 2 for column in up} for up, down in pairs]

    @cached_property
    def estimated(self) -> Deviation | None:
        """The standard deviation of the measurement error, if it was estimated and for all rows."""
        measured = self._truth[1]
        if not measured.errors[0] or measured.sd is None or not np.any(measured.sd[:1]):
            return None
        sd = float(measured.sd[0])
        return Deviation(sd, 2 * (sd**2 / measured.errors[0]) ** 2)

    @cached_property
    def _means_at_bounds(self) -> list[dict[str, float]]:
        """The means where the sd is at the bounds of its 95% interval; none where it is known."""
        return [each.means for each in self._at_bounds()]

    def _means_at(self, level: float) -> list[dict[str, float]]:
        """The same at another level: by parabolas through the means at these bounds and at the sd itself."""
        known = self._means_at_bounds
        if self.estimated is None or level == USUAL_LEVEL or not known:
            return known
        nodes = np.array([self.estimated.sd, *_bounds_of(self.estimated, USUAL_LEVEL)])
        if len(np.unique(nodes)) < len(nodes):
            return known
        found = []
        for sd, nearest in zip(_bounds_of(self.estimated, level), known, strict=True):
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
        if not self._means_at_bounds or not variance > 0:
            return 0.0
        moves = self._moves[self._uncertain.index("sd")]
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = self.slopes(slot, self._offered(slot), self.means)
        return min(float(sum(slope * moves[name] for name, slope in slopes.items()) ** 2 / variance), 1.0)

    def deviation_bounds(self, slot: Slot, level: float) -> tuple[float, float] | None:
        """The least and the most that a slot is within the interval of an estimated sd; None where it is known."""
        if not self._means_at_bounds or SD not in self._needs(slot):
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
        variance = max(squares - mean**2, 0.0) * self.concentration
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
    def concentration(self) -> float:
        """One by the number of equally weighted rows that scatter as much as these; with clusters, of these."""
        patterns = self.row_patterns
        if patterns.cluster is None:
            return float(self.class_square.sum()) / self.total**2
        return float(np.square(np.bincount(patterns.cluster, patterns.mass)).sum()) / self.total**2

    def value(self, slot: Slot) -> float:
        """The formula at the means."""
        return float(np.real(slot.measure.value_of(self._offered(slot))))

    def influence(self, slot: Slot, smooth: bool = False) -> Array:
        """What each row adds to a slot, in the order of the input; and then, what every estimated deviation does."""
        del smooth
        found = np.zeros(len(self.rows))
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = self.slopes(slot, self._offered(slot), self.means)
            for name, slope in slopes.items():
                found += slope * (self.column(name) - self.means[name])
            found /= self.total
        moves = [sum(slope * move[name] for name, slope in slopes.items()) for move in self._moves]
        return np.append(found, moves) if moves else found

    def counted(self, slot: Slot) -> tuple[float, float]:
        """The share of rows that a slot goes with; and 1, or -1 where the one falls as the other rises."""
        name = str(slot.measure.counted)
        slope = self.slopes(slot, self._offered(slot), (name,))[name]
        return self.means[name], -1.0 if slope < 0 else 1.0

    def turned(self, slot: Slot, name: str, ends: tuple[float, float]) -> tuple[float, float] | None:
        """What a slot can be between two values of a mean, where it falls at one and rises at the other; else None.

        Between them it reaches an end of its span: the error less that of labels is nothing where they are the same.
        """
        least, most = slot.measure.span
        moved = [{**self._offered(slot), name: np.float64(end)} for end in ends]
        first, last = (self.slopes(slot, offered, (name,))[name] for offered in moved)
        values = [float(np.real(slot.measure.value_of(offered))) for offered in moved]
        if first < 0 < last:
            return least, max(values)
        return (min(values), most) if last < 0 < first else None

    def wavering(self, slot: Slot) -> Array:
        """What a choice between two estimates adds to a slot: laid out as the doubt is that decides it."""
        found = slot.measure.wavering_of(self._offered(slot))
        if found == 0 or np.isnan(found):
            return np.array([found])
        seen, foreseen = next(DOUBTS[name] for name in slot.measure.arguments if name in DOUBTS)
        gap = self.column(seen) - self.column(foreseen)
        gap, patterns = gap - self.weights.mass @ gap / self.total, self.row_patterns
        parts = by_cluster(patterns, gap[None])[0] if self.clustered else gap * np.sqrt(patterns.square)
        return np.asarray(found * parts / np.linalg.norm(parts))

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
        found = np.stack([self.influence(slot)[len(self.rows) :] for slot in slots], axis=1)
        pair = np.stack([found, found])
        if self._means_at_bounds:
            reach = float(critical_values(USUAL_LEVEL, np.array([np.inf]))[0])
            for place, slot in enumerate(slots):
                low, high = self._values_at(slot, USUAL_LEVEL)
                value = self.value(slot)
                pair[:, self._uncertain.index("sd"), place] = (value - low) / reach, (high - value) / reach
        return pair

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Find the columns once, before rows are weighed anew again and again."""
        asked = {name for slot in slots for each in slot.measure.arguments for name in DOUBTS.get(each, (each,))}
        for name in asked & ASKED:
            self.kept[name] = self.column(name)

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
        total, found = mass.sum(axis=1), np.empty((len(mass), len(slots)))
        for place, slot in enumerate(slots):
            offered: dict[str, Any] = {"classes": len(self.scale)}
            for name in slot.measure.arguments:
                if name in DOUBTS:
                    offered[name] = self._doubts(name, mass)
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


def _bounds_of(estimated: Deviation, level: float) -> tuple[float, float]:
    """The bounds of an estimated deviation, by the chi-squared distribution."""
    low, high = estimated.interval(level)
    return low, min(high, MOST_OF_SD * estimated.sd)


def variance_around(middle: Any, total: Any, sums: Sequence[Any]) -> Any:
    """The variance of a mean, from sums over what is drawn: number, squared weights, and both moments by these."""
    count, whole, cross, square = sums
    return np.maximum((square - 2 * middle * cross + middle**2 * whole) / total**2 * count / (count - 1), 0.0)

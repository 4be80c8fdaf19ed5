"""Count measures of many tables of two by two at once, each with its interval: a curve over thresholds is one call.

With weights, and where rows belong to clusters, the variance of a measure is a quadratic form of its slopes. What is
between them are products of what each cluster has in two cells, summed over clusters; from one threshold to the next,
only clusters of rows between the two change, so that running sums over rows find all of them, however many clusters
there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption
from ..core.scale import Scale
from ..families.ranking.one_against_rest import OneAgainstRest
from ..inference.design import units_of
from ..inference.evaluation import PSEUDO_ROWS
from ..inference.rules import Evidence, IntervalRule, intervals, places_of, rule_of
from ..inference.rules.delta import LOGIT
from ..inference.rules.mean import MEAN
from ..inference.rules.wilson import WILSON
from ..inference.student_t import critical_values
from ..maths.formula_arguments import CELL_STEPS, offered_of_classes, slope
from ..maths.sides import one_less, summed_at
from ..measures.registry import Measure

if TYPE_CHECKING:
    from ..core.typing import Array, Places


@dataclass(frozen=True)
class ThresholdTables:
    """Tables of a class against the rest, one a threshold.

    Attributes:
        cells: What is in them: tp, fn, fp, tn, (4, tables).
        scale: The two classes.
        code: The class.
        unit: What one independent observation weighs.
        prevalence: The share of the class where measures are to hold; that of the tables if not given.
        freedom: The degrees of freedom that clusters leave.
        scatter: How the cells of each table scatter; as those of independent rows of one unit if not given.
    """

    cells: Array
    scale: Scale
    code: int
    unit: float = 1.0
    prevalence: float | None = None
    freedom: float = np.inf
    scatter: Scatter | None = None

    @property
    def units(self) -> Array:
        """What one independent observation weighs, table by table."""
        return np.full(self.cells.shape[1], self.unit) if self.scatter is None else self.scatter.unit

    @property
    def shown(self) -> Array:
        """What would be in them at the prevalence asked for."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._moved(self.cells)

    def _moved(self, cells: Array) -> Array:
        """Let both sides have their shares, and together what they had."""
        if self.prevalence is None:
            return cells
        tp, fn, fp, tn = cells
        own, rest = tp + fn, fp + tn
        more, less = self.prevalence * (own + rest) / own, (1 - self.prevalence) * (own + rest) / rest
        return np.stack([tp * more, fn * more, fp * less, tn * less])

    def values(self, measures: Sequence[Measure]) -> Array:
        """The values of some measures: (measures, tables)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._at(measures, self.cells)

    def _at(self, measures: Sequence[Measure], cells: Array) -> Array:
        results = self._results(measures, self._moved(cells))
        found = [measure.divided(result) for measure, result in zip(measures, results, strict=True)]
        return np.array(found).reshape(len(measures), -1)

    def _results(self, measures: Sequence[Measure], cells: Any) -> list[Any]:
        offered, found = offered_of_classes(cells), []
        for measure in measures:
            if (matrix := self._matrix(measure)) is not None:
                tp, fn, fp, tn = cells
                penalty = tp * matrix[0, 0] + fn * matrix[0, 1] + fp * matrix[1, 0] + tn * matrix[1, 1]
                offered |= {"penalty": penalty, "matrix": matrix}
            found.append(measure.of(offered))
        return found

    def _matrix(self, measure: Measure) -> Array | None:
        """What each kind of assignment costs, the class before the other."""
        if measure.penalty is None:
            return None
        if len(self.scale) > 2:
            raise BadOption(
                f"{measure.label} tells all {len(self.scale)} classes apart, and a threshold only two",
                mend="Choose a measure of one class",
            )
        order = [self.code, 1 - self.code]
        return np.asarray(measure.matrix(self.scale))[np.ix_(order, order)]

    def at(self, places: Places) -> ThresholdTables:
        """Some of the tables."""
        scatter = None if self.scatter is None else self.scatter.at(places)
        return replace(self, cells=self.cells[:, places], scatter=scatter)

    def bounds(self, measures: Sequence[Measure], level: float) -> tuple[Array, Array]:
        """Lower and upper bounds of these values, every one for itself: (measures, tables) each."""
        shape = len(measures), self.cells.shape[1]
        places = self._places(measures)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            drawn = self.cells.sum(axis=0) / self.unit if self.scatter is None else self.scatter.rows
            rows = np.broadcast_to(np.where(np.isinf(self.freedom), drawn - 1, self.freedom), shape[1])
            freedom = np.full(np.prod(shape), self.freedom)
            means = places.get(MEAN, np.zeros(0, np.intp))
            freedom[means] = np.tile(rows, shape[0])[means]
            evidence = Evidence(
                value=self.values(measures).ravel(),
                centre=self._at(measures, self._smoothed).ravel(),
                error=self._errors(measures, self.cells, 0.0),
                smooth=self._errors(measures, self._smoothed, 1.0),
                critical=critical_values(level, freedom),
                trials=self._trials(measures).ravel(),
                ends=np.repeat(np.array([measure.span for measure in measures]), shape[1], axis=0).T,
                level=level,
                places=np.arange(len(freedom)),
                source=self,
            )
            low, high = intervals(places, evidence)
        return self._within_costs(measures, low.reshape(shape), high.reshape(shape))

    def _places(self, measures: Sequence[Measure]) -> dict[IntervalRule, Places]:
        """Where each interval rule is used, among all measures at all tables."""
        tables, found = self.cells.shape[1], places_of([self.rule(measure) for measure in measures])
        return {rule: (rows[:, None] * tables + np.arange(tables)).ravel() for rule, rows in found.items()}

    def _within_costs(self, measures: Sequence[Measure], low: Array, high: Array) -> tuple[Array, Array]:
        """No mean lies beyond the least and the greatest cost."""
        for place, measure in enumerate(measures):
            matrix = self._matrix(measure)
            if matrix is not None and self.rule(measure) is MEAN:
                low[place], high[place] = np.maximum(low[place], matrix.min()), np.minimum(high[place], matrix.max())
        return low, high

    def rule(self, measure: Measure) -> IntervalRule:
        """The interval rule of a measure; rows that stand for unlike numbers of others are no trials."""
        found = rule_of(measure.facts)
        if found is not WILSON or self.prevalence is None:
            return found
        of_sides = self._results([measure], np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))[0][1]
        return LOGIT if np.all(of_sides) else WILSON

    def _trials(self, measures: Sequence[Measure]) -> Array:
        """How many independent trials are behind each proportion."""
        found = np.full((len(measures), self.cells.shape[1]), np.nan)
        for place, (measure, result) in enumerate(zip(measures, self._results(measures, self.cells), strict=True)):
            if rule_of(measure.facts) is WILSON:
                found[place] = result[1] / self.units
        return found

    @cached_property
    def _smoothed(self) -> Array:
        return self.cells + self.units * PSEUDO_ROWS / 4

    def errors(self, measures: Sequence[Measure]) -> Array:
        """Standard errors of these values: (measures, tables)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._errors(measures, self.cells, 0.0).reshape(len(measures), -1)

    def _errors(self, measures: Sequence[Measure], cells: Array, pseudo: float) -> Array:
        """Standard errors by complex steps in each cell, pseudo-rows included where they were added."""
        stepped = self._results(measures, self._moved(cells[:, None] + CELL_STEPS))
        slopes = np.array([np.broadcast_to(slope(measure.divided(result)), cells.shape)
                           for measure, result in zip(measures, stepped, strict=True)])  # fmt: skip
        extra = pseudo * PSEUDO_ROWS * self.units**2 * np.square(slopes).mean(axis=1)
        if self.scatter is None:
            return np.asarray(np.sqrt((np.square(slopes) * self.cells * self.unit).sum(axis=1) + extra).ravel())
        return np.asarray(np.sqrt(self.scatter.variance(slopes) + extra).ravel())


# --- with weights and clusters --------------------------------------------------------------------------------------


ROUNDING = 1e-12  # of what is added up: a variance that is less than this is none


@dataclass(frozen=True)
class Scatter:
    """How cells scatter, one table a threshold.

    Attributes:
        products: Of the cells tp, fn, fp, tn with each other: (4, 4, tables).
        unit: What one independent observation weighs: one number a table.
        rows: How many rows there are.
    """

    products: Array
    unit: Array
    rows: float

    @classmethod
    def of(cls, one: OneAgainstRest) -> Scatter:
        """At all thresholds of the score of a class."""
        population, weights = one.population, one.population.weights
        mass, square = (one.in_order(each) for each in (weights.mass, weights.square))
        alone, cells = cells_at_thresholds(one, square), cells_at_thresholds(one, mass)
        if one.sides.cluster is None:
            unit = population.independent_row
            # Rows that were summed and let go may have had clusters: what one of these weighs is all that is known.
            products = np.eye(4)[..., None] * alone * (unit / weights.row)
            return cls(products, np.full(alone.shape[1], unit), float(weights.count.sum()))
        cluster = np.unique(one.sides.cluster, return_inverse=True)[1]
        clusters = int(cluster.max()) + 1
        products = _products(one, mass, cluster) * one_less(clusters)
        sizes = summed_at(cluster, (np.broadcast_to(mass, len(cluster)),), clusters)[0]
        right = np.array([[1.0], [0.0], [0.0], [1.0]]) - (cells[0] + cells[3]) / cells.sum(axis=0)
        apart = (np.square(right) * alone).sum(axis=0)
        units = units_of(sizes, weights.row, _form(right, products), apart)
        return cls(products, units, float(weights.count.sum()))

    def at(self, places: Places) -> Scatter:
        """At some of the thresholds."""
        return replace(self, products=self.products[..., places], unit=self.unit[places])

    def variance(self, slopes: Array) -> Array:
        """Of measures with these slopes by the cells, (measures, 4, tables): (measures, tables)."""
        found = np.array([_form(each, self.products) for each in slopes]).reshape(len(slopes), -1)
        whole = np.array([_form(np.abs(each), self.products) for each in slopes]).reshape(len(slopes), -1)
        return np.where(found <= ROUNDING * whole, 0.0, found)


def _form(slopes: Array, products: Array) -> Array:
    return np.asarray(np.einsum("it,ijt,jt->t", slopes, products, slopes))


def _running(one: OneAgainstRest, values: Array) -> Array:
    """Sums down to every threshold, none at first."""
    return np.concatenate([[0.0], np.cumsum(one.ranking.groups.sums(values))])


def cells_at_thresholds(one: OneAgainstRest, weight: Array) -> Array:
    """The tables at every threshold, with some weights of the rows in the order of the scores: (4, tables)."""
    hits, alarms = (np.concatenate([[0.0], np.cumsum(part)]) for part in one.parted(weight))
    return np.stack([hits, hits[-1] - hits, alarms, alarms[-1] - alarms])


def _products(one: OneAgainstRest, mass: Array, cluster: Places) -> Array:
    """What each cluster has in two cells, multiplied, and summed over clusters: (4, 4, tables)."""
    own, rest = mass * one.positive, mass * ~one.positive
    owned, rested = summed_at(cluster, (own, rest), int(cluster.max()) + 1)
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))

    def before(values: Array) -> Array:
        """What the cluster of each row has in rows above it."""
        sums = np.cumsum(values[order]) - values[order]
        found = np.empty(len(values))
        found[order] = sums - np.repeat(sums[starts], np.diff(starts, append=len(values)))
        return found

    hits, alarms = before(own), before(rest)
    hit_hit = _running(one, own * (2 * hits + own))
    alarm_alarm = _running(one, rest * (2 * alarms + rest))
    hit_alarm = _running(one, own * alarms + rest * hits)
    hit_own, hit_rest = (_running(one, own * side[cluster]) for side in (owned, rested))
    alarm_own, alarm_rest = (_running(one, rest * side[cluster]) for side in (owned, rested))
    missed = owned @ owned - 2 * hit_own + hit_hit
    passed = rested @ rested - 2 * alarm_rest + alarm_alarm
    neither = owned @ rested - hit_rest - alarm_own + hit_alarm
    return np.array([
        [hit_hit, hit_own - hit_hit, hit_alarm, hit_rest - hit_alarm],
        [hit_own - hit_hit, missed, alarm_own - hit_alarm, neither],
        [hit_alarm, alarm_own - hit_alarm, alarm_alarm, alarm_rest - alarm_alarm],
        [hit_rest - hit_alarm, neither, alarm_rest - alarm_alarm, passed],
    ])  # fmt: skip

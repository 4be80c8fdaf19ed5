"""How far the cells of the table scatter at every threshold at once: with weights, and where rows belong to clusters.

The variance of a measure is a quadratic form of its slopes. What is between them are products of what each cluster has
in two cells, summed over clusters; from one threshold to the next, only clusters of rows between the two change, so
that running sums over rows find all of them, however many clusters there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..families.ranking.one_against_rest import OneAgainstRest

if TYPE_CHECKING:
    from ..core.typing import Array, Places

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
        alone, cells = _cells(one, square), _cells(one, mass)
        if one.sides.cluster is None:
            unit = population.independent_row
            # Rows that were summed and let go may have had clusters: what one of these weighs is all that is known.
            products = np.eye(4)[..., None] * alone * (unit / weights.row)
            return cls(products, np.full(alone.shape[1], unit), float(weights.count.sum()))
        cluster = np.unique(one.sides.cluster, return_inverse=True)[1]
        clusters = int(cluster.max()) + 1
        products = _products(one, mass, cluster) * (clusters / (clusters - 1) if clusters > 1 else np.nan)
        sizes = np.bincount(cluster, np.broadcast_to(mass, len(cluster)))
        most = max(float(np.square(sizes).sum() / sizes.sum() / weights.row), 1.0)
        right = np.array([[1.0], [0.0], [0.0], [1.0]]) - (cells[0] + cells[3]) / cells.sum(axis=0)
        apart = (np.square(right) * alone).sum(axis=0)
        ratio = np.divide(_form(right, products), apart, out=np.full(len(apart), most), where=apart > 0)
        return cls(products, weights.row * np.clip(ratio, 1.0, most), float(weights.count.sum()))

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


def _cells(one: OneAgainstRest, weight: Array) -> Array:
    hits, alarms = (_running(one, weight * side) for side in (one.positive, ~one.positive))
    return np.stack([hits, hits[-1] - hits, alarms, alarms[-1] - alarms])


def _products(one: OneAgainstRest, mass: Array, cluster: Places) -> Array:
    """What each cluster has in two cells, multiplied, and summed over clusters: (4, 4, tables)."""
    own, rest = mass * one.positive, mass * ~one.positive
    owned, rested = (np.bincount(cluster, side) for side in (own, rest))
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

"""Measured values of rows that were not held: measures of them are formulas of means, so sums are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..cached import cached_property
from ..continuum.evaluation import ContinuumEvaluation, variance_around
from ..door.measured import DOUBTS
from ..evaluating.evaluation import Slot
from ..evaluating.row_evaluation import Found, key_of
from ..parallel import SMALL_PRODUCT, chunks, over_rows
from ..registry import Measure
from ..scale import Label
from ..sums.rows import Rows
from ..sums.statistics import CONTINUUM, Patterns
from ..sums.tree import Sum
from ..uncertainty.hall import Tails
from ..uncertainty.variances import NO_ERROR
from .products import made_up, tails_of
from .recipe import Named, Recipe, Totals
from .summed import SummedEvaluation

if TYPE_CHECKING:
    from ..kinds import Array, Codes, Places

ROUNDING = 1e-12  # of squares that were summed before their mean was known
CANCELLED = 1e-6  # its root: of what is added up, no more can be told
SUMS, CLUSTERS = "sums", "clusters"
FEW_ROWS = 128  # of fewer, calling costs more than working


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> ContinuumEvaluation:
    """Some rows of one classifier, by all measures of measured values."""
    return ContinuumEvaluation(rows, model, recipe.scale, recipe.made_of(CONTINUUM), np.nan, 1.0)


class Moments(NamedTuple):
    """What products and powers of the columns of one classifier add up to; a column of ones stands before all others.

    Attributes:
        third: Of pairs and columns, (pairs, columns).
        fourth: Of pairs and pairs.
    """

    third: Array
    fourth: Array


def pairs_of(measures: Sequence[Measure], asked: Sequence[str]) -> tuple[Codes, Codes]:
    """Which columns stand beside each other in a formula: the square of what a row adds to it asks for their products.

    The column of ones is the first; it goes with itself and all others, and these pairs come first.
    """
    places = {name: place + 1 for place, name in enumerate(asked)}
    together = [sorted(places[name] for name in measure.arguments if name in places) for measure in measures]
    later = [(one, other) for some in together for one in some for other in some if one <= other]
    found = dict.fromkeys([*((0, place) for place in range(len(asked) + 1)), *later])
    first, second = zip(*found, strict=True)
    return np.array(first), np.array(second)


@dataclass(frozen=True)
class ClusterSums:
    """What the rows of each cluster add up to.

    Attributes:
        labels: The clusters.
        sums: How many rows each has, what they weigh, and their columns by weight: (clusters, 2 + columns).
    """

    labels: tuple[Label, ...]
    sums: Array

    def __add__(self, other: ClusterSums) -> ClusterSums:
        """Add cluster by cluster; one of which all rows were taken off is gone."""
        labels = list(dict.fromkeys([*self.labels, *other.labels]))
        places = {label: place for place, label in enumerate(labels)}
        sums = np.zeros((len(labels), self.sums.shape[1]))
        for part in (self, other):
            sums[[places[label] for label in part.labels]] += part.sums
        return ClusterSums(tuple(labels), sums).without_empty()

    def without_empty(self) -> ClusterSums:
        """Only clusters that have rows."""
        left = np.flatnonzero(self.sums[:, 0])
        return ClusterSums(tuple(self.labels[place] for place in left), self.sums[left])

    def __neg__(self) -> ClusterSums:
        """Turn around, so that subtracting is adding."""
        return ClusterSums(self.labels, -self.sums)


class Measuring:
    """Sums up the columns that formulas ask for; and these with every estimated deviation a bit larger and smaller.

    Beside them go the products of all columns of all classifiers, and third and fourth powers of those that stand in
    the same formula; where rows belong to clusters, the sums of columns in each. So it is known how far values scatter,
    together with what, and how skewed that is, without seeing the rows again; of tallies that are merged nobody could.
    """

    def __init__(self, recipe: Recipe) -> None:
        """Start with no rows."""
        self.recipe = recipe
        self.total: Sum[Named] = Sum()

    def state(self) -> Named:
        """What is kept of all rows."""
        return self.total.total() or Named()

    def add(self, rows: Rows, clusters: tuple[Label, ...] = ()) -> None:
        """Of each classifier sums, doubts and powers, one after the other; and then products, or sums of clusters."""
        evaluations = [evaluation_of(self.recipe, model, rows) for model in range(len(self.recipe.models))]
        first = evaluations[0]  # all of them are asked for the same
        columns, doubts = len(first.asked), len(first.doubted)
        pairs = pairs_of(first.measures, first.asked)
        count, independent, classes = len(pairs[0]), not self.recipe.clustered, len(self.recipe.scale)
        present, codes = _clusters_of(rows) if self.recipe.clustered else (np.zeros(0, np.int64), None)
        shapes = [(columns,), (doubts, 4), (count * independent, columns + 1), (count * independent, count)]
        every = columns * len(evaluations)
        shapes = [*(shapes * len(evaluations)), (1 + every, 1 + every) if independent else (2 + every, len(present))]
        # Of products that are small, linear algebra makes no threads of its own, which would wait for these here.
        step = max(FEW_ROWS, SMALL_PRODUCT // max(count, 1 + every) ** 2)

        def work(start: int, stop: int) -> list[Array]:
            found = [np.zeros(shape) for shape in shapes]
            for low, high in chunks(start, stop, classes):
                pieces = [each.piece(low, high) for each in evaluations]
                mass = np.ones(high - low) if rows.sums is None else rows.sums[low:high, 1]
                for place, (piece, seen) in enumerate(pieces):
                    found[4 * place] += piece @ mass
                    found[4 * place + 1] += seen
                if codes is not None:
                    times = np.ones(high - low) if rows.sums is None else rows.sums[low:high, 0]
                    told = [times, mass, *(column * mass for piece, _ in pieces for column in piece)]
                    found[-1] += [np.bincount(codes[low:high], each, len(present)) for each in told]
                for part in range(0, (high - low) * independent, step):
                    some = slice(part, part + step)
                    weights = None if rows.sums is None else rows.sums[low:high][some]
                    _add_powers(found, [piece[:, some] for piece, _ in pieces], pairs, weights)
            return found

        whole = [reduce(np.add, parts) for parts in zip(*over_rows(len(rows), work, classes), strict=True)]
        for place, evaluation in enumerate(evaluations):
            whole[4 * place] = np.stack([whole[4 * place], *(each.column_sums() for each in evaluation.moved())])
        if independent:
            self.total.add(Named({SUMS: Totals(tuple(whole))}))
            return
        labels = tuple(clusters[place] for place in present) if clusters else tuple(present.tolist())
        self.total.add(
            Named({SUMS: Totals(tuple(whole[:-1])), CLUSTERS: ClusterSums(labels, whole[-1].T).without_empty()})
        )


def _clusters_of(rows: Rows) -> tuple[Places, Places]:
    """Which clusters rows are of, and the place of each row among these; a few that are kept have lost theirs."""
    present, codes = np.unique(np.zeros(len(rows)) if rows.cluster is None else rows.cluster, return_inverse=True)
    return present.astype(np.int64), codes


def _add_powers(found: list[Array], pieces: list[Array], pairs: tuple[Codes, Codes], weights: Array | None) -> None:
    """Add what powers and products of some rows are, as ``Measuring`` lays them out."""
    size, rows = len(pieces[0]) + 1, pieces[0].shape[1]
    both = np.ones((len(pairs[0]), rows))  # the first ones are the columns themselves
    for place, piece in enumerate(pieces):
        both[1:size] = piece
        for pair in range(size, len(both)):
            np.multiply(both[pairs[0][pair]], both[pairs[1][pair]], out=both[pair])
        if weights is None:
            powers = both @ both.T
            found[4 * place + 2] += powers[:, :size]
            found[4 * place + 3] += powers
        else:
            times, mass, _ = weights.T
            mean = np.divide(mass, times, out=np.zeros(rows), where=times > 0)
            found[4 * place + 2] += both @ (both[:size] * (times * mean**3)).T
            light = both * (np.sqrt(times) * mean**2)
            found[4 * place + 3] += light @ light.T
    columns = both[:size] if len(pieces) == 1 else np.concatenate([both[:1], *pieces])
    light = columns if weights is None else columns * np.sqrt(weights[:, 2])
    found[-1] += light @ light.T


@dataclass(frozen=True)
class SummedContinuum(SummedEvaluation, ContinuumEvaluation):
    """All slots of one classifier that are made of sums of what its rows measured."""

    @property
    def one_by_one(self) -> bool:
        """All sums are there already."""
        return False

    @property
    def _named(self) -> Mapping[str, Any]:
        return self.summary.states[CONTINUUM.name].found  # type: ignore[no-any-return]

    @cached_property
    def _state(self) -> tuple[Array, Array, Moments]:
        parts = self._named[SUMS].parts
        sums, doubts, third, fourth = parts[4 * self.model : 4 * self.model + 4]
        return sums, doubts, Moments(third, fourth)

    @property
    def _clusters(self) -> Array:
        """The sums of all clusters, one in a row."""
        return self._named[CLUSTERS].sums  # type: ignore[no-any-return]

    @property
    def foretold(self) -> bool:
        """The first pass tells how all slots of all classifiers go together."""
        return True

    @cached_property
    def _factor(self) -> Array:
        """Made-up rows with the products of the columns of all classifiers, or clusters: (columns, made-up rows)."""
        parts = self._named[SUMS].parts
        means = np.concatenate([sums[0] for sums in parts[: 4 * len(self.models) : 4]]) / self.total
        if self.clustered:
            told, mass = self._clusters[:, 2:], self._clusters[:, 1:2]
            around = (told - mass * means).T
            around[np.square(around).sum(axis=1) <= ROUNDING * np.square(told).sum(axis=0)] = 0.0
            return np.asarray(around * np.sqrt(self._lost) / self.total)
        products = parts[-1]
        whole, cross, squares = products[0, 0], products[0, 1:], products[1:, 1:]
        around = squares - np.outer(means, cross) - np.outer(cross, means) + whole * np.outer(means, means)
        steady = np.diag(around) <= ROUNDING * np.diag(squares)
        around[steady], around[:, steady] = 0.0, 0.0
        return made_up(around * self._lost) / self.total

    def _place(self, name: str) -> int:
        """Where a column of this classifier is among those of all, which are asked for the same."""
        return self.model * len(self._summed.asked) + self._summed.asked.index(name)

    @property
    def _lost(self) -> float:
        return (self.freedom + 1) / self.freedom if self.freedom > 0 else np.nan

    @property
    def made_up(self) -> int:
        """How many rows are made up."""
        return int(self._factor.shape[1])

    @property
    def freedom(self) -> float:
        """Degrees of freedom of what is drawn, rows or clusters."""
        return (len(self._clusters) if self.clustered else self.drawn) - 1

    def known(self, slot: Slot) -> Array:
        """The influences of the made-up rows on a slot."""
        slopes = self.slopes(slot, self._offered(slot), self.means)
        rows = np.array([slope * self._factor[self._place(name)] for name, slope in slopes.items()])
        found, largest = rows.sum(axis=0), np.linalg.norm(rows, axis=1).max(initial=0.0)
        # Columns may take each other off, and leave what rounding makes of the products of both.
        return np.zeros(found.shape) if np.linalg.norm(found) <= CANCELLED * largest else found

    @cached_property
    def _summed(self) -> ContinuumEvaluation:
        """What was summed up, of the few rows that were kept."""
        return evaluation_of(self.summary.recipe, self.model, self.rows)

    @cached_property
    def _sums(self) -> list[dict[str, float]]:
        return [dict(zip(self._summed.asked, row, strict=True)) for row in (self._state[0] / self.total).tolist()]

    def doubt(self, name: str) -> float:
        """How many standard errors what was seen is from what the response model foresees."""
        seen, foreseen = DOUBTS[name]
        gap = self.means[seen] - self.means[foreseen]
        sums = self._state[1][self._summed.doubted.index(name)]
        if self.clustered:
            mass, told = self._clusters[:, 1], self._clusters[:, 2:]
            apart = told[:, self._place(seen)] - told[:, self._place(foreseen)]
            sums = np.array([len(mass), mass @ mass, mass @ apart, apart @ apart])
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = float(variance_around(gap, self.total, sums))
        return gap / variance**0.5 if variance > ROUNDING * sums[-1] / self.total**2 else 0.0

    @cached_property
    def means(self) -> dict[str, float]:
        """The means of all columns."""
        return self._sums[0]

    @cached_property
    def _moves(self) -> list[dict[str, float]]:
        pairs = zip(self._sums[1::2], self._sums[2::2], strict=True)
        return [{name: (up[name] - down[name]) / 2 for name in up} for up, down in pairs]

    @property
    def patterns(self) -> Patterns:
        """Made-up rows; and behind them what every estimated deviation does, with no row behind it."""
        rows, more = super().patterns, len(self._moves)
        ones, none = np.ones(len(rows.mass) + more), np.zeros(len(rows.mass) + more, np.int64)
        count = np.append(rows.count, np.zeros(more))
        return Patterns(rows.classes, none, np.zeros((0, len(ones)), np.int64), count, ones, ones, None)

    def influence(self, slot: Slot, smooth: bool = False) -> Array:
        """What made-up rows add to a slot, and then, what every estimated deviation does."""
        slopes = self.slopes(slot, self._offered(slot), self.means)
        moves = [sum(slope * move[name] for name, slope in slopes.items()) for move in self._moves]
        return np.append(super().influence(slot, smooth), moves)

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread, and how skewed that is."""
        key = key_of(slot)
        if key not in self.found:
            value = self._defined(slot)
            variance = np.nan if np.isnan(value) else self._scattered(slot)
            self.tails[key] = Tails.none(1) if np.isnan(value) else self._tails(slot)
            self.found[key] = Found((value, value), (variance, variance), (self.freedom, self.freedom))
        return self.found[key]

    def _defined(self, slot: Slot) -> float:
        """The value of a slot; NaN where it is undefined, as the root of a negative number is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.value(slot)

    def _scattered(self, slot: Slot) -> float:
        found = float(np.square(self.influence(slot)).sum() + np.square(self.wavering(slot)).sum())
        slopes = self.slopes(slot, self._offered(slot), self.means)
        # Means may take each other off as well: what is left of them is rounding, and so is how far that scatters.
        whole = sum(abs(slope * self.means[name]) for name, slope in slopes.items())
        return 0.0 if np.sqrt(found) <= NO_ERROR * whole else found

    def wavering(self, slot: Slot) -> Array:
        """What a choice between two estimates adds to a slot: laid out as the doubt is that decides it."""
        found = slot.measure.wavering_of(self._offered(slot))
        doubts = [name for name in slot.measure.arguments if name in DOUBTS]
        if found == 0 or np.isnan(found) or not doubts:
            return np.array([found])
        seen, foreseen = (self._factor[self._place(name)] for name in DOUBTS[doubts[0]])
        length = np.linalg.norm(seen - foreseen)
        return np.asarray(found * (seen - foreseen) / length) if length > 0 else np.array([found])

    def _tails(self, slot: Slot) -> Tails:
        # Powers of rows have not lost a degree of freedom, as the variance has, of which a choice has its share.
        wavered = np.square(self.wavering(slot)).sum() * self.freedom / (self.freedom + 1)
        steady = np.square(self.influence(slot)[self.made_up :]).sum() + wavered
        return tails_of(*self._powers(slot), self.freedom + 1, float(steady))

    def _powers(self, slot: Slot) -> tuple[float, float, float]:
        """What second, third and fourth powers of what rows or clusters add to a slot come to."""
        own = self.influence(slot)[: self.made_up] / np.sqrt(self._lost)
        square = float(np.square(own).sum())
        if self.clustered:
            return square, float(np.power(own, 3).sum()), float(np.power(own, 4).sum())
        asked, moments, slopes = self._summed.asked, self._state[2], np.zeros(1 + len(self._summed.asked))
        for name, slope in self.slopes(slot, self._offered(slot), self.means).items():
            slopes[1 + asked.index(name)] = slope
            slopes[0] -= slope * self.means[name]
        slopes /= self.total
        first, second = pairs_of(self._summed.measures, asked)
        pairs = slopes[first] * slopes[second] * np.where(first == second, 1, 2)
        return square, float(pairs @ moments.third @ slopes), max(float(pairs @ moments.fourth @ pairs), 0.0)

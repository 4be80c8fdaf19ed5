"""Measured values of rows that were not held: measures of them are formulas of means, so sums are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.scale import Label
from ...core.threads import SMALL_PRODUCT, chunks, over_rows
from ...inference.row_evaluation import Found, key_of
from ...inference.table_evaluation import Slot
from ...inference.tails import Tails
from ...inference.variances import NO_ERROR
from ...inputs.measured import DOUBTS
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.statistics import CONTINUUM, Patterns
from ..continuum.evaluation import ContinuumEvaluation
from .products import made_up, tails_of
from .recipe import Batchwise, Named, Recipe, Totals
from .summed import SummedEvaluation

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Places

ROUNDING = 1e-12  # of squares that were summed before their mean was known
CANCELLED = 1e-6  # its root: of what is added up, no more can be told
SUMS, TOGETHER = "sums", "together"
FEW_ROWS = 128  # of fewer, calling costs more than working


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> ContinuumEvaluation:
    """Some rows of one classifier, by all measures of measured values."""
    return ContinuumEvaluation(rows, model, recipe.scale, recipe.made_of(CONTINUUM), np.nan, 1.0)


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


def measuring(recipe: Recipe) -> Batchwise:
    """Sums up the columns that formulas ask for; and these with every estimated deviation a bit larger and smaller.

    Beside them go the products of all columns of all classifiers, and third and fourth powers of those that stand in
    the same formula; where rows belong to clusters, the sums of columns in each. So it is known how far values scatter,
    together with what, and how skewed that is, without seeing the rows again; of tallies that are merged nobody could.
    """
    return Batchwise(partial(_summed, recipe))


def _summed(recipe: Recipe, rows: Rows, clusters: tuple[Label, ...]) -> Named:
    """What is kept of some rows."""
    evaluations = [evaluation_of(recipe, model, rows) for model in range(len(recipe.models))]
    shape = len(evaluations), len(evaluations[0].asked)  # all of them are asked for the same
    together: _Clusters | _Powers
    if recipe.clustered:
        together = _Clusters.of(rows, clusters, shape)
    else:
        together = _Powers(pairs_of(evaluations[0].measures, evaluations[0].asked), shape)

    def work(start: int, stop: int) -> list[Array]:
        sums, more = np.zeros(shape), together.none()
        for low, high in chunks(start, stop, len(recipe.scale)):
            pieces = np.stack([each.columns_at(low, high) for each in evaluations])
            weights = np.ones((high - low, 3)) if rows.sums is None else rows.sums[low:high]
            sums += pieces @ weights[:, 1]
            together.add(more, pieces, weights, slice(low, high))
        return [sums, *more]

    sums, *more = (reduce(np.add, parts) for parts in zip(*over_rows(len(rows), work, len(recipe.scale)), strict=True))
    moved = [[each.column_sums() for each in evaluation.moved()] for evaluation in evaluations]
    own = Totals(tuple(np.stack([row, *others]) for row, others in zip(sums, moved, strict=True)))
    return Named({SUMS: own, TOGETHER: together.kept(more)})


@dataclass(frozen=True)
class _Clusters:
    """Sums columns up within clusters."""

    labels: tuple[Label, ...]
    codes: Places
    shape: tuple[int, int]

    @classmethod
    def of(cls, rows: Rows, clusters: tuple[Label, ...], shape: tuple[int, int]) -> _Clusters:
        """Only those that are here; rows that were kept as a sample have lost theirs."""
        cluster = np.zeros(len(rows), np.int64) if rows.cluster is None else rows.cluster
        present, codes = np.unique(cluster, return_inverse=True)
        return cls(tuple(clusters[place] if clusters else place for place in present.tolist()), codes, shape)

    def none(self) -> list[Array]:
        return [np.zeros((2 + self.shape[0] * self.shape[1], len(self.labels)))]

    def add(self, found: list[Array], pieces: Array, weights: Array, some: slice) -> None:
        told = np.concatenate([weights.T[:2], (pieces * weights[:, 1]).reshape(-1, len(weights))])
        found[0] += [np.bincount(self.codes[some], each, len(self.labels)) for each in told]

    def kept(self, found: list[Array]) -> ClusterSums:
        return ClusterSums(self.labels, found[0].T).without_empty()


@dataclass(frozen=True)
class _Powers:
    """Sums up products and powers of columns, behind a column of ones.

    Of each classifier the products of pairs and columns, and of pairs and pairs, and then of all columns of all.
    """

    pairs: tuple[Codes, Codes]
    shape: tuple[int, int]

    @property
    def _whole(self) -> int:
        return 1 + self.shape[0] * self.shape[1]

    def none(self) -> list[Array]:
        pairs, columns = len(self.pairs[0]), 1 + self.shape[1]
        found = [np.zeros((pairs, size)) for _ in range(self.shape[0]) for size in (columns, pairs)]
        return [*found, np.zeros((self._whole, self._whole))]

    def add(self, found: list[Array], pieces: Array, weights: Array, some: slice) -> None:
        del some
        # Of products that are small, linear algebra makes no threads of its own, which would wait for these here.
        step = max(FEW_ROWS, SMALL_PRODUCT // max(len(self.pairs[0]), self._whole) ** 2)
        for low in range(0, len(weights), step):
            self._add_few(found, pieces[:, :, low : low + step], weights[low : low + step])

    def _add_few(self, found: list[Array], pieces: Array, weights: Array) -> None:
        size, (times, mass, square) = 1 + self.shape[1], weights.T
        both = np.ones((len(self.pairs[0]), len(weights)))  # the first pairs are the columns themselves
        mean = np.divide(mass, times, out=np.zeros(len(mass)), where=times > 0)
        for place, piece in enumerate(pieces):
            both[1:size] = piece
            for pair in range(size, len(both)):
                np.multiply(both[self.pairs[0][pair]], both[self.pairs[1][pair]], out=both[pair])
            found[2 * place] += both @ (both[:size] * (times * mean**3)).T
            light = both * (np.sqrt(times) * mean**2)
            found[2 * place + 1] += light @ light.T
        columns = np.concatenate([both[:1], pieces.reshape(-1, len(weights))]) * np.sqrt(square)
        found[-1] += columns @ columns.T

    def kept(self, found: list[Array]) -> Totals:
        return Totals(tuple(found))


@dataclass(frozen=True)
class SummedContinuum(SummedEvaluation, ContinuumEvaluation):
    """All slots of one classifier that are made of sums of what its rows measured."""

    @property
    def one_by_one(self) -> bool:
        """All sums are there already."""
        return False

    @property
    def _state(self) -> Mapping[str, Any]:
        return self.summary.states[CONTINUUM.name].found  # type: ignore[no-any-return]

    @property
    def _clusters(self) -> Array:
        """The sums of all clusters, one in a row."""
        return self._state[TOGETHER].sums  # type: ignore[no-any-return]

    @property
    def foretold(self) -> bool:
        """The first pass tells how all slots of all classifiers go together."""
        return True

    @cached_property
    def _factor(self) -> Array:
        """Made-up rows with the products of the columns of all classifiers, or clusters: (columns, made-up rows)."""
        means = np.concatenate([sums[0] for sums in self._state[SUMS].parts]) / self.total
        if self.clustered:
            told, mass = self._clusters[:, 2:], self._clusters[:, 1:2]
            around = (told - mass * means).T
            around[np.square(around).sum(axis=1) <= ROUNDING * np.square(told).sum(axis=0)] = 0.0
            return np.asarray(around * np.sqrt(self._lost) / self.total)
        products = self._state[TOGETHER].parts[-1]
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
        sums = self._state[SUMS].parts[self.model] / self.total
        return [dict(zip(self._summed.asked, row, strict=True)) for row in sums.tolist()]

    def doubt(self, name: str) -> float:
        """How many standard errors what was seen is from what the response model foresees."""
        seen, foreseen = (self._place(column) for column in DOUBTS[name])
        largest = np.linalg.norm(self._factor[[seen, foreseen]], axis=1).max()
        error, (first, second) = float(np.linalg.norm(self._gap(name))), (self.means[each] for each in DOUBTS[name])
        return (first - second) / error if error > CANCELLED * largest else 0.0

    def _gap(self, name: str) -> Array:
        """What made-up rows add to what was seen less what was foreseen."""
        seen, foreseen = (self._factor[self._place(column)] for column in DOUBTS[name])
        return np.asarray(seen - foreseen)

    @cached_property
    def means(self) -> dict[str, float]:
        """The means of all columns."""
        return self._sums[0]

    @cached_property
    def _moves(self) -> list[dict[str, float]]:
        moved = self._sums[1 : 1 + 2 * len(self._uncertain)]
        pairs = zip(moved[::2], moved[1::2], strict=True)
        return [{name: (up[name] - down[name]) / 2 for name in up} for up, down in pairs]

    @property
    def concentration(self) -> float:
        """One by the number of equally weighted rows that scatter as much as these; with clusters, of these."""
        squares = np.square(self._clusters[:, 1]) if self.clustered else self.class_square
        return float(squares.sum()) / self.total**2

    @cached_property
    def _means_at_bounds(self) -> list[dict[str, float]]:
        return self._sums[1 + 2 * len(self._uncertain) :]

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
        gap = self._gap(doubts[0])
        length = np.linalg.norm(gap)
        return np.asarray(found * gap / length) if length > 0 else np.array([found])

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
        third, fourth = self._state[TOGETHER].parts[2 * self.model : 2 * self.model + 2]
        asked, slopes = self._summed.asked, np.zeros(1 + len(self._summed.asked))
        for name, slope in self.slopes(slot, self._offered(slot), self.means).items():
            slopes[1 + asked.index(name)] = slope
            slopes[0] -= slope * self.means[name]
        slopes /= self.total
        first, second = pairs_of(self._summed.measures, asked)
        pairs = slopes[first] * slopes[second] * np.where(first == second, 1, 2)
        return square, float(pairs @ third @ slopes), max(float(pairs @ fourth @ pairs), 0.0)

"""Sums of columns of measured values: collected from rows that are let go, and what they tell. Knows no formula.

Formulas of measured values are formulas of means, so sums are enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.scale import Label
from ...core.threads import SMALL_PRODUCT, chunks, over_rows
from ...inference.tails import Tails
from ...inputs.dataset import DOUBTS
from ...measures.masses import Weights
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.statistics import CONTINUUM, Patterns
from ..state_evaluation import FactorInfluences, with_disturbances
from ..summed.products import made_up, tails_of
from ..summed.recipe import Batchwise, ClusterSums, Named, Recipe, Totals
from .columns import Means, MeasuredColumns, asked_by, halved

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Places
    from ..summed.summary import Summary

ROUNDING = 1e-12  # of squares that were summed before their mean was known
CANCELLED = 1e-6  # its root: of what is added up, no more can be told
SUMS, TOGETHER = "sums", "together"
FEW_ROWS = 128  # of fewer, calling costs more than working


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


def measuring(recipe: Recipe) -> Batchwise:
    """Sums up the columns that formulas ask for; and these with every estimated deviation a bit larger and smaller.

    Beside them go the products of all columns of all classifiers, and third and fourth powers of those that stand in
    the same formula; where rows belong to clusters, the sums of columns in each. So it is known how far values scatter,
    together with what, and how skewed that is, without seeing the rows again; of tallies that are merged nobody could.
    """
    return Batchwise(partial(_summed, recipe))


def _summed(recipe: Recipe, rows: Rows, clusters: tuple[Label, ...]) -> Named:
    """What is kept of some rows."""
    measures, weights = recipe.made_of(CONTINUUM), Weights.of(rows)
    asked = asked_by(measures)
    columns = [MeasuredColumns(rows, weights, model, recipe.scale, asked) for model in range(len(recipe.models))]
    shape = len(columns), len(asked)
    together: _Clusters | _Powers
    together = _Clusters.of(rows, clusters, shape) if recipe.clustered else _Powers(pairs_of(measures, asked), shape)

    def work(start: int, stop: int) -> list[Array]:
        sums, more = np.zeros(shape), together.none()
        for low, high in chunks(start, stop, len(recipe.scale)):
            pieces = np.stack([each.columns_at(low, high) for each in columns])
            weighed = np.ones((high - low, 3)) if rows.sums is None else rows.sums[low:high]
            sums += pieces @ weighed[:, 1]
            together.add(more, pieces, weighed, slice(low, high))
        return [sums, *more]

    sums, *more = (reduce(np.add, parts) for parts in zip(*over_rows(len(rows), work, len(recipe.scale)), strict=True))
    moved = [[each.column_sums() for each in one.moved()] for one in columns]
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
class MeasuredSums:
    """Sums of columns of rows that were let go, of one classifier.

    Attributes:
        summary: What was kept of the rows.
        model: The place of the classifier.
        uncertain: How many deviations are only estimated.
    """

    summary: Summary
    model: int
    uncertain: int

    @property
    def _state(self) -> Mapping[str, Any]:
        return self.summary.states[CONTINUUM.name].found  # type: ignore[no-any-return]

    @property
    def _clusters(self) -> Array:
        """The sums of all clusters, one in a row."""
        return self._state[TOGETHER].sums  # type: ignore[no-any-return]

    @property
    def _clustered(self) -> bool:
        return self.summary.recipe.clustered

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(self.summary.by_class[1].sum())

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The names of the columns."""
        return asked_by(self.summary.recipe.made_of(CONTINUUM))

    # --- means -------------------------------------------------------------------------------------------------

    @cached_property
    def _all_means(self) -> list[Means]:
        sums = self._state[SUMS].parts[self.model] / self.total
        return [dict(zip(self.asked, row, strict=True)) for row in sums.tolist()]

    @property
    def means(self) -> Means:
        """The means of all columns."""
        return self._all_means[0]

    @cached_property
    def moves(self) -> list[Means]:
        """By how much one standard error of each estimated deviation moves every mean."""
        return halved(self._all_means[1 : 1 + 2 * self.uncertain])

    @property
    def means_at_bounds(self) -> list[Means]:
        """The means where the sd is at the bounds of its 95% interval; none where it is known."""
        return self._all_means[1 + 2 * self.uncertain :]

    # --- how far means scatter ---------------------------------------------------------------------------------

    @cached_property
    def source(self) -> FactorInfluences:
        """Where variances and covariances come from."""
        return FactorInfluences(len(self.summary.recipe.scale), self._factor.shape[1], self._freedom)

    @cached_property
    def patterns(self) -> Patterns:
        """What influences are of: pseudo-observations, and behind them the deviations that are estimated."""
        return with_disturbances(self.source.patterns, len(self.moves))

    @property
    def _freedom(self) -> float:
        return (len(self._clusters) if self._clustered else float(self.summary.by_class[0].sum())) - 1

    @property
    def _lost(self) -> float:
        return (self._freedom + 1) / self._freedom if self._freedom > 0 else np.nan

    @cached_property
    def _factor(self) -> Array:
        """Pseudo-observations with the products of the columns of all classifiers, or clusters: (columns, these)."""
        means = np.concatenate([sums[0] for sums in self._state[SUMS].parts]) / self.total
        if self._clustered:
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

    def _row(self, name: str) -> Array:
        """What pseudo-observations add to the mean of a column of this classifier; all are asked for the same."""
        return np.asarray(self._factor[self.model * len(self.asked) + self.asked.index(name)])

    def combined(self, slopes: Means) -> Array:
        """What each pseudo-observation adds to a sum of means, each so many times."""
        rows = np.array([slope * self._row(name) for name, slope in slopes.items()])
        found, largest = rows.sum(axis=0), np.linalg.norm(rows, axis=1).max(initial=0.0)
        # Columns may take each other off, and leave what rounding makes of the products of both.
        return np.zeros(found.shape) if np.linalg.norm(found) <= CANCELLED * largest else found

    def doubt(self, name: str) -> float:
        """How many standard errors what was seen is from what the response model foresees."""
        seen, foreseen = DOUBTS[name]
        error = float(np.linalg.norm(self.combined({seen: 1.0, foreseen: -1.0})))
        return (self.means[seen] - self.means[foreseen]) / error if error > 0 else 0.0

    @property
    def concentration(self) -> float:
        """One by the number of equally weighted rows that scatter as much as these; with clusters, of these."""
        squares = np.square(self._clusters[:, 1]) if self._clustered else self.summary.by_class[2]
        return float(squares.sum()) / self.total**2

    def scattered(self, influence: Array, slopes: Means, wavered: float) -> tuple[float, Tails]:
        """The variance of a sum of influences, and how skewed it is; a choice between estimates adds a normal error."""
        variance = float(self.source.variances(influence[None])[0]) + wavered
        # Powers of rows have not lost a degree of freedom, as the variance has, of which a choice has its share.
        own, moves = np.split(influence, [self.source.size])
        steady = float(np.square(moves).sum()) + wavered * self._freedom / (self._freedom + 1)
        return variance, tails_of(*self._powers(own / np.sqrt(self._lost), slopes), self._freedom + 1, steady)

    def _powers(self, own: Array, of_means: Means) -> tuple[float, float, float]:
        """What second, third and fourth powers of what rows or clusters add come to."""
        square = float(np.square(own).sum())
        if self._clustered:
            return square, float(np.power(own, 3).sum()), float(np.power(own, 4).sum())
        third, fourth = self._state[TOGETHER].parts[2 * self.model : 2 * self.model + 2]
        slopes = np.zeros(1 + len(self.asked))
        for name, slope in of_means.items():
            slopes[1 + self.asked.index(name)] = slope
            slopes[0] -= slope * self.means[name]
        slopes /= self.total
        first, second = pairs_of(self.summary.recipe.made_of(CONTINUUM), self.asked)
        pairs = slopes[first] * slopes[second] * np.where(first == second, 1, 2)
        return square, float(pairs @ third @ slopes), max(float(pairs @ fourth @ pairs), 0.0)

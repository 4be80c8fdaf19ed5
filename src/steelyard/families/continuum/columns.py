"""Columns of measured values, all that formulas ask for of rows, and the sums of them. Knows no formula."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.estimate import Deviation
from ...core.scale import Continuum, Label, Scale
from ...core.threads import SMALL_PRODUCT, chunks, over_rows
from ...inputs.dataset import ASKED, DOUBTS, Measured
from ...maths.sides import summed_at
from ...measures.masses import Weights
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.statistics import CONTINUUM
from ..summed.recipe import Batchwise, ClusterSums, Named, Recipe, Totals
from .judged import Judged

if TYPE_CHECKING:
    from ...core.typing import Array, Codes

MOST_NUMBERS = 1 << 26  # of columns that are kept
DEVIATIONS = ("sd", "blur")  # that may only be estimated
USUAL_LEVEL = 0.95  # at whose bounds of an estimated sd all means are computed
MOST_OF_SD = 1e6  # of an estimate of which hardly anything is known

SUMS, TOGETHER = "sums", "together"
FEW_ROWS = 128  # of fewer, calling costs more than working

Means = Mapping[str, float]
Pairs = tuple["Codes", "Codes"]  # the places of both columns


def asked_by(measures: Iterable[Measure]) -> tuple[str, ...]:
    """The columns that any formula asks for, and those behind its doubts."""
    asked = [name for measure in measures for name in measure.means]
    asked += [name for doubt in DOUBTS if doubt in asked for name in DOUBTS[doubt]]
    return tuple(name for name in dict.fromkeys(asked) if name in ASKED and name not in DOUBTS)


def uncertain_of(measured: Measured) -> list[str]:
    """The deviations that are only estimated."""
    return [name for name, error in zip(DEVIATIONS, measured.errors, strict=True) if error > 0]


def estimated_sd(measured: Measured) -> Deviation | None:
    """The standard deviation of the measurement error, if it was estimated and for all rows."""
    if not measured.errors[0] or measured.sd is None or not np.any(measured.sd[:1]):
        return None
    sd = float(measured.sd[0])
    return Deviation(sd, 2 * (sd**2 / measured.errors[0]) ** 2)


def bounds_of(estimated: Deviation, level: float) -> tuple[float, float]:
    """The bounds of an estimated deviation, by the chi-squared distribution."""
    low, high = estimated.interval(level)
    return low, min(high, MOST_OF_SD * estimated.sd)


def halved(moved: list[Means]) -> list[Means]:
    """By how much one standard error moves every mean, from means with each deviation higher, and lower."""
    pairs = zip(moved[::2], moved[1::2], strict=True)
    return [{name: (up[name] - down[name]) / 2 for name in up} for up, down in pairs]


@dataclass(frozen=True)
class MeasuredColumns:
    """Columns of rows in memory, as one classifier assigned them.

    Attributes:
        rows: The rows.
        weights: What they weigh.
        model: The place of the classifier.
        scale: The classes and their boundaries.
        asked: The names of the columns that are asked for.
        kept: Columns that are needed again.
    """

    rows: Rows
    weights: Weights
    model: int
    scale: Scale
    asked: Collection[str]
    kept: dict[str, Array] = field(default_factory=dict, repr=False)

    @cached_property
    def truth(self) -> tuple[Continuum, Measured]:
        """The boundaries of the classes, and what was measured."""
        if not isinstance(self.scale, Continuum) or self.rows.measured is None:
            raise TypeError("the truth was not measured")
        return self.scale, self.rows.measured

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(len(self.rows)) if self.weights.equal else float(self.rows.by_class[1].sum())

    def judged(self, low: int, high: int) -> Judged:
        """Some rows, as they were assigned."""
        scale, measured = self.truth
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
    def means(self) -> Means:
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

    def keep(self, names: Iterable[str]) -> None:
        """Find columns once that are needed again and again."""
        self.kept.update({name: self.column(name) for name in names})

    # --- deviations that are only estimated --------------------------------------------------------------------

    def moved(self) -> list[MeasuredColumns]:
        """The same with every estimated deviation one standard error higher, and lower; then sd at its bounds."""
        return [*self._one_error_away(), *self._at_bounds()]

    def _one_error_away(self) -> list[MeasuredColumns]:
        uncertain = uncertain_of(self.truth[1])
        return [self._moved(name, sign) for name in uncertain for sign in (1.0, -1.0)]

    def _moved(self, name: str, sign: float) -> MeasuredColumns:
        """The same with a deviation whose square is one standard error higher or lower."""
        measured = self.truth[1]
        error = measured.errors[DEVIATIONS.index(name)]
        return self._with(name, np.sqrt(np.maximum(np.square(getattr(measured, name)) + sign * error, 0.0)))

    def _at_bounds(self) -> list[MeasuredColumns]:
        estimated = estimated_sd(self.truth[1])
        if estimated is None:
            return []
        shape = self.truth[1].value.shape
        return [self._with("sd", np.broadcast_to(sd, shape)) for sd in bounds_of(estimated, USUAL_LEVEL)]

    def _with(self, name: str, column: Array) -> MeasuredColumns:
        """The same with other deviations, which are known."""
        moved: dict[str, Any] = {name: column, "errors": (0.0, 0.0)}
        return replace(self, rows=replace(self.rows, measured=replace(self.truth[1], **moved)), kept={})

    @cached_property
    def moves(self) -> list[Means]:
        """By how much one standard error of each of these deviations moves every mean."""
        return halved([each.means for each in self._one_error_away()])

    @cached_property
    def means_at_bounds(self) -> list[Means]:
        """The means where the sd is at the bounds of its 95% interval; none where it is known."""
        return [each.means for each in self._at_bounds()]


# --- rows that are let go: formulas of measured values are formulas of means, so sums are enough ----------------------


def pairs_of(measures: Sequence[Measure], asked: Sequence[str]) -> Pairs:
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
    shape, pairs = (len(columns), len(asked)), pairs_of(measures, asked)
    present, codes = np.zeros((2, 0), np.int64)
    if recipe.clustered:  # only those that are here; rows that were kept as a sample have lost theirs
        cluster = np.zeros(len(rows), np.int64) if rows.cluster is None else rows.cluster
        present, codes = np.unique(cluster, return_inverse=True)

    def work(start: int, stop: int) -> list[Array]:
        sums = np.zeros(shape)
        more = [np.zeros((2 + sums.size, len(present)))] if recipe.clustered else _no_powers(pairs, shape)
        for low, high in chunks(start, stop, len(recipe.scale)):
            pieces = np.stack([each.columns_at(low, high) for each in columns])
            weighed = np.ones((high - low, 3)) if rows.sums is None else rows.sums[low:high]
            sums += pieces @ weighed[:, 1]
            if recipe.clustered:
                told = np.concatenate([weighed.T[:2], (pieces * weighed[:, 1]).reshape(-1, high - low)])
                more[0] += summed_at(codes[low:high], told, len(present))
            else:
                _add_powers(more, pieces, weighed, pairs)
        return [sums, *more]

    sums, *more = (reduce(np.add, parts) for parts in zip(*over_rows(len(rows), work, len(recipe.scale)), strict=True))
    moved = [[each.column_sums() for each in one.moved()] for one in columns]
    own = Totals(tuple(np.stack([row, *others]) for row, others in zip(sums, moved, strict=True)))
    if not recipe.clustered:
        return Named({SUMS: own, TOGETHER: Totals(tuple(more))})
    labels = tuple(clusters[place] if clusters else place for place in present.tolist())
    return Named({SUMS: own, TOGETHER: ClusterSums(labels, more[0].T).without_empty()})


# --- products and powers of columns, behind a column of ones ----------------------------------------------------------


def _no_powers(pairs: Pairs, shape: tuple[int, int]) -> list[Array]:
    """Of each classifier the products of pairs and columns, and of pairs and pairs, and then of all columns of all."""
    models, columns = shape
    found = [np.zeros((len(pairs[0]), size)) for _ in range(models) for size in (1 + columns, len(pairs[0]))]
    return [*found, np.zeros((1 + models * columns, 1 + models * columns))]


def _add_powers(found: list[Array], pieces: Array, weights: Array, pairs: Pairs) -> None:
    # Of products that are small, linear algebra makes no threads of its own, which would wait for these here.
    step = max(FEW_ROWS, SMALL_PRODUCT // max(len(pairs[0]), len(found[-1])) ** 2)
    for low in range(0, len(weights), step):
        _add_few(found, pieces[:, :, low : low + step], weights[low : low + step], pairs)


def _add_few(found: list[Array], pieces: Array, weights: Array, pairs: Pairs) -> None:
    size, (times, mass, square) = 1 + pieces.shape[1], weights.T
    both = np.ones((len(pairs[0]), len(weights)))  # the first pairs are the columns themselves
    mean = np.divide(mass, times, out=np.zeros(len(mass)), where=times > 0)
    for place, piece in enumerate(pieces):
        both[1:size] = piece
        for pair in range(size, len(both)):
            np.multiply(both[pairs[0][pair]], both[pairs[1][pair]], out=both[pair])
        found[2 * place] += both @ (both[:size] * (times * mean**3)).T
        light = both * (np.sqrt(times) * mean**2)
        found[2 * place + 1] += light @ light.T
    columns = np.concatenate([both[:1], pieces.reshape(-1, len(weights))]) * np.sqrt(square)
    found[-1] += columns @ columns.T

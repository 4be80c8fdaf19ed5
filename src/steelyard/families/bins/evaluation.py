"""Calibration error: how far forecasts lie from frequencies, in bins of like forecasts. Knows no formula.

The mean squared gap between forecast and frequency is too high by chance alone: a bin of few rows is off even if its
forecasts are right. What chance adds is known from the spread within bins, and taken off.

Bins are made of rows in memory, or of the cells of a ruler of forecasts in which rows were summed. Those of cells begin
where cells do: they hold exactly the rows that they say they hold, and are as large as bins of rows at hand to within
the rows of a cell. Cells that hold too much of a bin are parted further. How the gaps of bins go together takes another
look at the rows, once bins are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ...core.arrays import distinct
from ...core.errors import TooLarge
from ...core.scale import Label
from ...core.suggestions import refuse_no_count
from ...core.threads import chunks, over_rows
from ...inference.averages import class_shares
from ...inference.design import second_moment
from ...inference.evaluation import PSEUDO_ROWS, Slot, key_of
from ...inference.row_evaluation import NOT_FOUND, Found
from ...maths.quantiles import quantiles
from ...maths.sides import each_one_less, squares_around, summed_at, summed_by_cluster
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.score_grid import Counter, Grid
from ...states.statistics import CALIBRATION
from ..forecasts.piece import Piece
from ..state_evaluation import UNCLUSTERED, UNPAIRED, ProbabilityEvaluation
from ..summed.counting import Rulers, finer_ruler, ruler_for
from ..summed.products import Products
from ..summed.recipe import Batchwise, Column, Counting, Look, Named, Recipe
from .gaps import Gaps, PairedGaps

if TYPE_CHECKING:
    from ...core.typing import Array, Numbers, Places

DECIMALS = 12
CARELESS = 0.5  # the mean squared gap of forecasts of 0 and 1 that say nothing
FEWEST_ROWS = 5  # in a bin, on average: with fewer, a spread within bins says little
PAIRED_CLASSES = 10  # up to here, what the gaps of classes share is counted for every pair of them
FEW_ROWS, FEW_OF_BIN = 4, 0.02  # in a cell, and of what a bin has: these may be on the wrong side of an edge


class Target(NamedTuple):
    """What is forecast: a class, or (without one) whichever is the likeliest; and in how many bins it is looked at."""

    code: int | None
    bins: int


Member = tuple[int, Target]  # a classifier, and what it forecasts
Group = tuple[Member, ...]  # those whose gaps are looked at together


def forecast_of(piece: Piece, code: int | None) -> tuple[Numbers, Any]:
    """The forecasts of some rows, and whether what they speak of happened."""
    if code is None:
        return piece.highest, (piece.own == piece.highest) / piece.ties
    return piece.chance(code), piece.truth == code


@dataclass(frozen=True)
class Binned:
    """The rows of one target in bins, and their sums there.

    Attributes:
        edges: The least forecast of each bin but the first.
        sums: How many rows each bin has, what they weigh, their gaps summed by weight; the squared weights, gaps summed
            by these, and squared gaps summed by these: (6, bins). Where all rows weigh 1, three of them tell the rest.
    """

    edges: Array
    sums: Array

    @classmethod
    def of(cls, edges: Array, sums: Array) -> Binned:
        """Bins of six sums, or of three."""
        return cls(edges, sums if len(sums) == 6 else sums[[0, 0, 1, 0, 1, 2]])

    @property
    def mass(self) -> Array:
        """What the rows of each bin weigh."""
        return np.asarray(self.sums[1])

    @property
    def gap(self) -> Array:
        """The mean forecast less the frequency in each bin."""
        return np.asarray(self.sums[2] / self.sums[1])

    @property
    def variance(self) -> Array:
        """Of the gaps, where rows are independent."""
        count, mass, _, square, first, second = self.sums
        scatter = squares_around(self.gap, square, first, second)
        return np.asarray(np.maximum(scatter, 0.0) / mass**2 * _bin_factors(count))

    def place(self, forecast: Numbers) -> Places:
        """The bin of each forecast."""
        return np.searchsorted(self.edges, forecast, side="right")


def summands(gap: Array, weights: Iterable[Array] | None) -> list[Array | None]:
    """What is summed up in bins: of rows that weigh 1, how many there are (None), their gaps and squared gaps.

    ``weights`` are how often rows occur, what they weigh, and their squared weights.
    """
    if weights is None:
        return [None, gap, gap * gap]
    count, mass, square = weights
    return [count, mass, mass * gap, square, square * gap, square * gap * gap]


def _bin_factors(count: Array) -> Array:
    """For the degree of freedom that the mean of a bin takes; a bin of one row or cluster has no spread to tell."""
    return np.nan_to_num(each_one_less(count), nan=1.0)


# --- how gaps go together: of every row, its bin of each target and what it adds to the gap there ------------------

Pairs = Sequence[tuple["Places", "Array"]]


def starts_of(binned: Sequence[Binned]) -> Places:
    """Where the bins of each target begin, end to end."""
    return np.cumsum([0, *[len(each.mass) for each in binned]])


def between_targets(pairs: Pairs, square: Array, starts: Places, first: int = 0) -> Array:
    """The covariance of gaps of different targets, as far as these rows make it: (bins, bins).

    Where the targets up to the ``first`` are of one classifier, and the others of another, only what is between the two
    is found.
    """
    found, sizes = np.zeros((starts[-1], starts[-1])), np.diff(starts)
    for a, (place, residual) in enumerate(pairs[first:], first):
        for b, (other, beside) in enumerate(pairs[: first or a]):
            cell = place * sizes[b] + other
            block = np.bincount(cell, residual * beside * square, sizes[a] * sizes[b]).reshape(sizes[a], sizes[b])
            found[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = block
    return found + found.T


def at_bins(pairs: Pairs, mass: Array, cluster: Places, clusters: int, starts: Places) -> Array:
    """What the rows of each cluster add to the gaps together, and how many it has in each bin: (2, clusters, bins)."""
    sizes = np.diff(starts).tolist()
    found = [
        summed_by_cluster(residual * mass, cluster, place, (clusters, size))
        for (place, residual), size in zip(pairs, sizes, strict=True)
    ]
    return np.concatenate(found, axis=2)


def of_clusters(sums: Array, seen: Array, starts: Places) -> Array:
    """The covariance of gaps, by what clusters add to them and how many rows these have in each bin.

    The mean of a bin takes a degree of freedom of the clusters that are seen there; what the gaps of two targets share
    is left as it is. So clusters of one row are independent rows.
    """
    if len(sums) < 2:
        return np.full((sums.shape[1], sums.shape[1]), np.nan)
    root = np.sqrt(_bin_factors(np.count_nonzero(seen, axis=0)))
    target = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.asarray(sums.T @ sums * np.where(np.equal.outer(target, target), np.outer(root, root), 1.0))


def off_together(alone: Array, binned: Sequence[Binned]) -> Array:
    """The covariance as if all classes were off together, which makes the interval wider than it need be."""
    deviation = np.sqrt(np.diag(alone))
    together = np.equal.outer(*[np.concatenate([np.arange(len(each.mass)) for each in binned])] * 2)
    return np.asarray(np.outer(deviation, deviation) * together)


@dataclass(frozen=True)
class CalibrationEvaluation(ProbabilityEvaluation):
    """All slots of one classifier that are made of gaps between its forecasts and frequencies."""

    found: dict[Target, Binned] = field(default_factory=dict, repr=False)
    kept: dict[tuple[str, int | str | None], Gaps] = field(default_factory=dict, repr=False)
    placed: dict[Target, tuple[Places, Array, Array]] = field(default_factory=dict, repr=False)

    @property
    def one_by_one(self) -> bool:
        """Each class has bins of its own: no more than asked for."""
        return self.alone is None

    # --- bins of one target ----------------------------------------------------------------------------------------

    def forecast(self, code: int | None) -> tuple[Numbers, Array]:
        """The forecasts of all rows, and whether they came true."""
        if not self.held:
            raise TooLarge(
                "this needs all forecasts, and the rows were too many to be held", mend="Leave rows out with where="
            )
        said, classes = self.rows.scores[self.model], len(self.scale)
        pieces = (
            Piece(said.rows(low, high), self.rows.truth[low:high], classes)
            for low, high in chunks(0, len(self.rows), classes)
        )
        forecast, happened = map(np.concatenate, zip(*[forecast_of(piece, code) for piece in pieces], strict=True))
        return forecast, happened.astype(np.float64)

    def rounded(self, code: int | None) -> tuple[Numbers, Array]:
        """The same with forecasts that differ in their last bits made one: 1 - 0.7 is 0.3."""
        forecast, happened = self.forecast(code)
        return np.round(forecast, DECIMALS), happened

    def _target(self, measure: Measure, code: int | None) -> Target:
        bins = measure.parameters["bins"]
        refuse_no_count("bins", bins)
        return Target(code, min(bins, max(1, int(self.drawn) // FEWEST_ROWS)))

    def binned(self, target: Target) -> Binned:
        """Put the rows of a target into bins."""
        if target not in self.found:
            self.found[target] = self._bins_of_rows(target) if self.held else self._bins_of_cells(target)
        return self.found[target]

    def _bins_of_rows(self, target: Target) -> Binned:
        forecast, happened = self.rounded(target.code)
        weights = self.weights
        columns = None if weights.equal else (weights.count, weights.mass, weights.square)
        edges = quantiles(forecast, target.bins, None if weights.equal else weights.count)
        size = len(edges) + 1

        def work(start: int, stop: int) -> Array:
            sums = np.zeros((3 if columns is None else 6, size))
            for low, high in chunks(start, stop):
                piece = forecast[low:high]
                place, gap = np.searchsorted(edges, piece, side="right"), piece - happened[low:high]
                each = None if columns is None else [column[low:high] for column in columns]
                sums += [np.bincount(place, column, size) for column in summands(gap, each)]
            return sums

        return Binned.of(edges, reduce(np.add, over_rows(len(self.rows), work)))

    def _bins_of_cells(self, target: Target) -> Binned:
        grid = self.grids[codes_of(self.summary.recipe).index(target.code)]
        least, cells = grid.thresholds, grid.sums[:, 0]
        edges = quantiles(least, target.bins, cells[:, 0])
        return Binned.of(edges, np.add.reduceat(cells, np.concatenate([[0], np.searchsorted(least, edges)]), axis=0).T)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The cells of all classes that are looked at, and of the likeliest."""
        found: tuple[Grid, ...] = self.summary.states[CALIBRATION.name].parts[self.model]
        return found

    def heavy(self, place: int) -> Places:
        """The cells of one grid that hold so many rows that bins could be much more alike if these were told apart."""
        grid, code = self.grids[place], codes_of(self.summary.recipe)[place]
        bins = max(self._target(each, code).bins for each in self.measures if each.per_class is (code is not None))
        few = max(FEW_ROWS, FEW_OF_BIN * self.drawn / bins)
        return np.asarray(grid.cells[grid.mixed & (grid.sums[:, 0, 0] > few)])

    def away(self, target: Target) -> tuple[Places, Array]:
        """The bin of every row, and its forecast less whether that came true."""
        forecast, happened = self.rounded(target.code)
        return self.binned(target).place(forecast), np.asarray(forecast - happened)

    def residuals(self, target: Target) -> tuple[Places, Array]:
        """The bin of every row, and what it adds to the gap there."""
        binned, (place, away) = self.binned(target), self.away(target)
        return place, (away - binned.gap[place]) / binned.mass[place]

    # --- gaps of one target, or of all classes together ------------------------------------------------------------

    def gaps(self, slot: Slot) -> Gaps:
        """The bins behind a slot; an average has those of all classes, each class with its weight."""
        if key_of(slot) not in self.kept:
            self.kept[key_of(slot)] = self._gaps(slot)
        return self.kept[key_of(slot)]

    def _behind(self, slot: Slot) -> list[tuple[Target, float]]:
        """The targets that a slot is made of, and what each of them weighs in it."""
        if slot.average is None:
            return [(self._target(slot.measure, slot.code), 1.0)]
        weights = class_shares(slot.average, self.class_mass).tolist()
        return [(self._target(slot.measure, code), weight) for code, weight in enumerate(weights)]

    def _gaps(self, slot: Slot) -> Gaps:
        targets, weights = zip(*self._behind(slot), strict=True)
        binned = [self.binned(target) for target in targets]
        share = np.concatenate([weight * each.mass / self.total for weight, each in zip(weights, binned, strict=True)])
        gap, mass = (np.concatenate([getattr(each, name) for each in binned]) for name in ("gap", "mass"))
        extra = PSEUDO_ROWS * self.unit**2 * CARELESS / (mass * self.total)
        return Gaps(share, gap, self._covariance(targets, binned), extra)

    def _covariance(self, targets: Sequence[Target], binned: Sequence[Binned]) -> Array:
        """Of the gaps of all bins of all targets."""
        alone = np.diag(np.concatenate([each.variance for each in binned]))
        if not self.clustered and len(targets) == 1:
            return alone
        found = self._together(targets)
        if found is None:
            return np.full_like(alone, np.nan) if self.clustered else off_together(alone, binned)
        return found if self.clustered else np.asarray(alone + found)

    def paired(self, slot: Slot, other: Self) -> PairedGaps:
        """The gaps behind a slot, and those that another classifier has there."""
        first, second = self.gaps(slot), other.gaps(slot)
        sizes = len(first.gap), len(second.gap)
        found = self._together([target for target, _ in self._behind(slot)], other)
        unknown = np.full(sizes, np.nan if self.clustered else 0.0)
        return PairedGaps(first, second, unknown if found is None else found[: sizes[0], sizes[0] :])

    def _together(self, targets: Sequence[Target], other: Self | None = None) -> Array | None:
        """The covariance of gaps of different targets, of this classifier or of two; in clusters, also of the same.

        None where that is not known: of so many classes that pairs of them are not counted, or without a second look.
        """
        members = [(each, target) for each in (self, other) if each is not None for target in targets]
        if not self.held:
            return self._seen_together([(each.model, target) for each, target in members])
        if not self.clustered and len(targets) > PAIRED_CLASSES:
            return None
        starts = starts_of([each.binned(target) for each, target in members])
        pairs = [each.residuals(target) for each, target in members]
        cluster, clusters = self.patterns.cluster, self.patterns.clusters
        if cluster is None:
            return between_targets(pairs, self.weights.square, starts, 0 if other is None else len(targets))
        sums, seen = at_bins(pairs, self.weights.mass, cluster, clusters, starts)
        return of_clusters(sums, seen, starts)

    def _seen_together(self, members: Sequence[Member]) -> Array | None:
        """The same from a second look at rows that were let go; without clusters, of two targets."""
        for group, products in self.summary.late.get(CALIBRATION.name, Named()).found.items():
            if set(members) <= set(group):
                starts = starts_of([self._of_model(model).binned(Target(*target)) for model, target in group])
                ends = [(starts[place], starts[place + 1]) for place in map(group.index, members)]
                here = np.concatenate([np.arange(*each) for each in ends])
                if products.clusters is None:
                    return np.asarray(products.sums[np.ix_(here, here)])
                within = np.cumsum([0, *[stop - start for start, stop in ends]])
                return of_clusters(products.sums[:, here], products.sums[:, starts[-1] + here], within)
        return None

    def _of_model(self, model: int) -> Self:
        """The same of another classifier."""
        return self if model == self.model else replace(self, model=model, found={}, kept={})

    @property
    def groups(self) -> Iterator[Group]:
        """The targets of all classifiers of which a second look tells how their gaps go together."""
        models = range(len(self.summary.recipe.models))
        for measure in self.measures:
            codes = range(len(self.scale)) if measure.per_class else [None]
            if self.clustered or (len(models) * len(codes) > 1 and len(codes) <= PAIRED_CLASSES):
                yield tuple((model, self._target(measure, code)) for model in models for code in codes)

    # --- values and influences -------------------------------------------------------------------------------------

    def _result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        if not len(self.rows):
            return NOT_FOUND
        gaps = self.gaps(slot)
        prefix = "" if slot.measure.per_class else "top_"
        value = float(slot.measure.of(gaps.offered(prefix)))
        # Where nothing is found, the slope of the root is infinite: the interval has to tell how sure that is.
        factor, freedom = gaps.chi_squared()
        variance = (2 * factor**2 * freedom + 4 * factor * value**2) / (4 * value**2) if value > 0 else np.nan
        # Differences are centred where less than chance counts as less than nothing: that evens out.
        centre = float(np.sign(gaps.beyond_noise) * np.sqrt(abs(gaps.beyond_noise)))
        return Found((value, centre), (variance, variance), (np.inf, np.inf))

    def _influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot, in the order of the input; NaN where nothing is found."""
        return self._pulled(slot, self) if self.held else super()._influence(slot, smooth)

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows); NaN where nothing is found."""
        some = evaluation_of(self.summary.recipe, self.model, rows)
        return np.stack([self._pulled(slot, some) for slot in slots])

    def _pulled(self, slot: Slot, some: CalibrationEvaluation) -> Array:
        """How some rows pull at a slot: at the mean squared gap of each target, and so at the root of all."""
        value, found = self.result(slot).value[0], np.zeros(len(some.rows))
        if not value > 0:
            return np.full(len(found), np.nan)
        for target, weight in self._behind(slot):
            some.found[target] = self.binned(target)
            place, away = some.away(target)
            gap = self.binned(target).gap[place]
            found += weight * gap * (2 * away - gap)
        found -= self.gaps(slot).square
        return found / (2 * value * self.total)

    def known(self, slot: Slot) -> Array | None:
        """The influences of the made-up rows on a slot: those of bins take their degrees of freedom themselves."""
        found = super().known(slot)
        return found if found is None or self.clustered else found * np.sqrt(1 - 1 / self.drawn)

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        return second_moment(self.patterns, influences) if self.held else super().variances(places, influences, smooth)

    def told_late(self, slot: Slot) -> bool:
        """Gaps tell how far they scatter by themselves."""
        del slot
        return False

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Find the bin and the gap of every row, and what chance makes of the gap of every bin."""
        for target in {target for slot in filter(self.has_value, slots) for target, _ in self._behind(slot)}:
            self.placed[target] = (*self.away(target), np.diag(self._covariance([target], [self.binned(target)])))

    def _reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
        behind = [self._behind(slot) for slot in slots]
        targets = {target for some in behind for target, _ in some}  # those of averages are those of classes
        squares = {target: self._squares(target, mass) for target in targets}
        means = [sum(weight * squares[target] for target, weight in some) for some in behind]
        return np.asarray(np.sqrt(np.maximum(np.stack(means, axis=1), 0.0)))

    def _squares(self, target: Target, mass: Array) -> Array:
        """The mean squared gap of one target in every replicate, less the noise of both draws."""
        place, each, noise = self.placed[target]
        weighed, gap = (summed_at(place, values, len(noise)) for values in (mass, mass * each))
        share = weighed / weighed.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            square = np.where(weighed > 0, share * np.square(gap / weighed), 0.0).sum(axis=1)
        return np.asarray(square - share @ (2 * noise))

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """None: a class that never occurs can be forecast all the same."""
        return iter(())

    def _remark(self, slot: Slot) -> str:
        """What the value hides."""
        value, words = self.result(slot).value[0], []
        if np.isnan(value) and self.clustered:
            words = ["undefined: too few rows or clusters to tell what chance alone makes"]
        elif value == 0:
            words = ["no more than chance alone makes of calibrated forecasts"]
        return "; ".join([*words, *self.unknown(slot)])

    def unknown(self, slot: Slot) -> list[str]:
        """What there is to say where rows that were let go were not seen again."""
        targets = [target for target, _ in self._behind(slot)]
        wanted = not self.held and (self.clustered or 1 < len(targets) <= PAIRED_CLASSES)
        if not wanted or self._together(targets) is not None:
            return []
        return [UNCLUSTERED if self.clustered else UNPAIRED]


# --- rows that are let go -------------------------------------------------------------------------------------------


def codes_of(recipe: Recipe) -> list[int | None]:
    """The classes whose forecasts are looked at, and None for the likeliest."""
    measures = recipe.made_of(CALIBRATION)
    of_classes = list(range(len(recipe.scale))) if any(measure.per_class for measure in measures) else []
    return [*of_classes, *([] if all(measure.per_class for measure in measures) else [None])]


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> CalibrationEvaluation:
    """Some rows of one classifier, by all measures of calibration."""
    rows = rows.muted(model, len(recipe.scale))
    return CalibrationEvaluation(rows, model, recipe.scale, recipe.made_of(CALIBRATION), np.nan, 1.0)


def _summands_of(evaluation: CalibrationEvaluation, code: int | None, weights: Array | None) -> Column:
    """The forecasts of rows, on one side, and what bins sum up of them."""
    forecast, happened = evaluation.rounded(code)
    alone, ones = np.zeros(len(forecast), np.uint8), np.ones(len(forecast))
    columns = [ones if each is None else each for each in summands(forecast - happened, weights)]
    return forecast, alone, np.stack(columns, axis=1)


def binning(recipe: Recipe, rulers: Rulers | None = None) -> Counting:
    """Sum up what bins are made of in every cell of forecasts; with weights these are the sums that bins have.

    On other rulers where cells are parted further.
    """
    codes, sums = codes_of(recipe), 6 if recipe.weighed else 3
    ruler = ruler_for(len(recipe.models) * len(codes) * sums)
    rulers = rulers or ((ruler,) * len(codes),) * len(recipe.models)

    def columns(rows: Rows) -> Iterator[Iterable[Column]]:
        weights = rows.filled.T if recipe.weighed else None
        for model in range(len(recipe.models)):
            evaluation = evaluation_of(recipe, model, rows)
            yield (_summands_of(evaluation, code, weights) for code in codes)

    return Counting([[Counter(each, 1, sums) for each in part] for part in rulers], columns)


def again(evaluations: Mapping[Label | None, Sequence[CalibrationEvaluation]]) -> dict[Label | None, Look]:
    """See rows once more: in finer cells where bins need them, and then to find how the gaps of bins go together."""
    found: dict[Label | None, Look] = {}
    finer = _finer(evaluations)
    if finer is not None:
        parts: list[Label | None] = [label for label in evaluations if label is not None]
        return dict.fromkeys(parts or [None], finer)
    for label, some in evaluations.items():
        summary = some[0].summary
        groups = {group: tuple(some[model].binned(target) for model, target in group) for group in some[0].groups}
        if groups and CALIBRATION.name not in summary.late:
            found[label] = partial(Batchwise, partial(_looked_at, summary.recipe, groups))
    return found


def _finer(evaluations: Mapping[Label | None, Sequence[CalibrationEvaluation]]) -> Look | None:
    """Part the cells that hold too much of a bin, be it of a part of the data or of all; None where there are none."""
    whole = evaluations[None]
    rulers, found = [[grid.ruler for grid in each.grids] for each in whole], False
    for model, each in enumerate(whole):
        for place, grid in enumerate(each.grids):
            cells = distinct(np.concatenate([some[model].heavy(place) for some in evaluations.values()]))
            finer = finer_ruler(grid, np.searchsorted(grid.cells, cells)) if len(cells) else None
            found |= finer is not None
            rulers[model][place] = finer or rulers[model][place]
    return partial(binning, whole[0].summary.recipe, tuple(map(tuple, rulers))) if found else None


def _looked_at(
    recipe: Recipe, groups: Mapping[Group, Sequence[Binned]], rows: Rows, clusters: tuple[Label, ...]
) -> Named:
    """How the gaps of bins go together, as far as some rows make it, by group: each has the bins of its members."""
    evaluations = [evaluation_of(recipe, model, rows) for model in range(len(recipe.models))]
    return Named({group: _products(group, binned, evaluations, clusters) for group, binned in groups.items()})


def _products(
    group: Group, binned: Sequence[Binned], evaluations: Sequence[CalibrationEvaluation], clusters: tuple[Label, ...]
) -> Products:
    starts, first, pairs = starts_of(binned), evaluations[0], []
    for (model, target), bins in zip(group, binned, strict=True):
        evaluations[model].found[target] = bins
        pairs.append(evaluations[model].residuals(target))
    owners = np.repeat([model for model, _ in group], np.diff(starts)).tolist()
    keys = tuple((model, CALIBRATION.name, place) for place, model in enumerate(owners))
    if first.rows.cluster is None:
        return Products(keys, between_targets(pairs, first.weights.square, starts), None, first.drawn)
    # How many rows clusters have in each bin stands beside the sums.
    sums = at_bins(pairs, first.weights.mass, first.rows.cluster, len(clusters), starts)
    return Products((*keys, *keys), np.concatenate(sums, axis=1), clusters, first.drawn)

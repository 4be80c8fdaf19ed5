"""Calibration of rows that were not held, from what was summed in each cell of a ruler of forecasts.

Bins begin where cells do: they hold exactly the rows that they say they hold, and are as large as bins of rows at hand
to within the rows of a cell. Cells that hold too much of a bin are parted further. How the gaps of bins go together
takes another look at the rows, once bins are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...core.arrays import distinct
from ...core.errors import TooLarge
from ...core.scale import Label
from ...inference.evaluation import Slot
from ...maths.quantiles import quantiles
from ...states.held_rows import Rows
from ...states.score_grid import Counter, Grid
from ...states.statistics import CALIBRATION
from ..forecasts.calibration import (
    PAIRED_CLASSES,
    Binned,
    CalibrationEvaluation,
    Target,
    between_targets,
    by_cluster,
    of_clusters,
    off_together,
    seen_by_cluster,
    starts_of,
)
from ..state_evaluation import UNCLUSTERED, UNPAIRED, StateEvaluation
from .counting import Grids, Rulers, finer_ruler, ruler_for
from .products import Products
from .recipe import Batchwise, Look, Named, Recipe

if TYPE_CHECKING:
    from ...core.typing import Array, Numbers, Places

Member = tuple[int, Target]  # a classifier, and what it forecasts
Group = tuple[Member, ...]  # those whose gaps are looked at together
FEW_ROWS, FEW_OF_BIN = 4, 0.02  # in a cell, and of what a bin has: these may be on the wrong side of an edge


def codes_of(recipe: Recipe) -> list[int | None]:
    """The classes whose forecasts are looked at, and None for the likeliest."""
    measures = recipe.made_of(CALIBRATION)
    of_classes = list(range(len(recipe.scale))) if any(measure.per_class for measure in measures) else []
    return [*of_classes, *([] if all(measure.per_class for measure in measures) else [None])]


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> CalibrationEvaluation:
    """Some rows of one classifier, by all measures of calibration."""
    rows = rows.muted(model, len(recipe.scale))
    return CalibrationEvaluation(rows, model, recipe.scale, recipe.made_of(CALIBRATION), np.nan, 1.0)


class Binning:
    """Sums up what bins are made of in every cell of forecasts: how many rows, their gaps, and squared gaps.

    With weights these are the sums that bins have.
    """

    def __init__(self, recipe: Recipe, rulers: Rulers | None = None) -> None:
        """Start with no rows; on other rulers where cells are parted further."""
        self.recipe, self.codes = recipe, codes_of(recipe)
        columns = 6 if recipe.weighed else 3
        ruler = ruler_for(len(recipe.models) * len(self.codes) * columns)
        rulers = rulers or ((ruler,) * len(self.codes),) * len(recipe.models)
        self.counters = [[Counter(each, 1, columns) for each in part] for part in rulers]

    def add(self, rows: Rows, clusters: tuple[Label, ...] = ()) -> None:
        """Sum up some rows."""
        del clusters
        alone = np.zeros(len(rows), np.uint8)
        for model, counters in enumerate(self.counters):
            evaluation = evaluation_of(self.recipe, model, rows)
            for code, counter in zip(self.codes, counters, strict=True):
                forecast, happened = evaluation.rounded(code)
                counter.add(forecast, alone, self._columns(rows, forecast - happened))

    def _columns(self, rows: Rows, gap: Array) -> Array:
        if not self.recipe.weighed:
            return np.stack([np.ones(len(gap)), gap, gap * gap], axis=1)
        count, mass, square = rows.filled.T
        return np.stack([count, mass, mass * gap, square, square * gap, square * gap * gap], axis=1)

    def state(self) -> Grids:
        """The cells that have rows."""
        return Grids(tuple(tuple(counter.grid() for counter in part) for part in self.counters))


@dataclass(frozen=True)
class SummedCalibration(StateEvaluation, CalibrationEvaluation):
    """All slots of one classifier that are made of gaps of forecasts that were summed in cells."""

    @property
    def one_by_one(self) -> bool:
        """Each class has bins of its own: no more than asked for."""
        return self.alone is None

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

    def _binned(self, target: Target) -> Binned:
        grid = self.grids[codes_of(self.summary.recipe).index(target.code)]
        least, cells = grid.thresholds, grid.sums[:, 0]
        edges = quantiles(least, target.bins, cells[:, 0])
        sums = np.add.reduceat(cells, np.concatenate([[0], np.searchsorted(least, edges)]), axis=0).T
        return Binned(edges, sums if len(sums) == 6 else sums[[0, 0, 1, 0, 1, 2]])

    def forecast(self, code: int | None) -> tuple[Numbers, Array]:
        """Forecasts of rows that were not held are gone."""
        del code
        raise TooLarge(
            "this needs all forecasts, and the rows were too many to be held", mend="Leave rows out with where="
        )

    # --- how gaps go together ------------------------------------------------------------------------------------

    @property
    def groups(self) -> Iterator[Group]:
        """The targets of all classifiers of which a second look tells how their gaps go together."""
        models = range(len(self.summary.recipe.models))
        for measure in self.measures:
            codes = range(len(self.scale)) if measure.per_class else [None]
            if self.clustered or (len(models) * len(codes) > 1 and len(codes) <= PAIRED_CLASSES):
                yield tuple((model, self._target(measure, code)) for model in models for code in codes)

    def _covariance(self, targets: Sequence[Target], binned: Sequence[Binned]) -> Array:
        alone = np.diag(np.concatenate([each.variance for each in binned]))
        if not self.clustered and len(targets) == 1:
            return alone
        found = self._together([(self.model, target) for target in targets])
        if found is None:
            return np.full_like(alone, np.nan) if self.clustered else off_together(alone, binned)
        return found if self.clustered else np.asarray(alone + found)

    def _between(self, targets: Sequence[Target], other: CalibrationEvaluation) -> Array:
        sizes = [sum(len(each.binned(target).mass) for target in targets) for each in (self, other)]
        found = self._together([(model, target) for model in (self.model, other.model) for target in targets])
        if found is None:
            return np.full(sizes, np.nan if self.clustered else 0.0)
        return np.asarray(found[: sizes[0], sizes[0] :])

    def _together(self, members: Sequence[Member]) -> Array | None:
        """How the gaps of some targets go together, where that was looked at; without clusters, of two targets."""
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

    def _of_model(self, model: int) -> SummedCalibration:
        """The same of another classifier."""
        return self if model == self.model else replace(self, model=model, found={}, kept={})

    def told_late(self, slot: Slot) -> bool:
        """Gaps tell how far they scatter by themselves."""
        del slot
        return False

    def remark(self, slot: Slot) -> str:
        """What the value hides."""
        members = [(self.model, target) for target, _ in self._behind(slot)]
        wanted = self.clustered or 1 < len(members) <= PAIRED_CLASSES
        unknown = (UNCLUSTERED if self.clustered else UNPAIRED) if wanted and self._together(members) is None else ""
        return "; ".join(word for word in (super().remark(slot), unknown) if word)

    # --- the influences of rows ----------------------------------------------------------------------------------

    def known(self, slot: Slot) -> Array | None:
        """The influences of the made-up rows on a slot: those of bins take their degrees of freedom themselves."""
        found = super().known(slot)
        return found if found is None or self.clustered else found * np.sqrt(1 - 1 / self.drawn)

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows); NaN where nothing is found."""
        evaluation = evaluation_of(self.summary.recipe, self.model, rows)
        found = np.full((len(slots), len(rows)), np.nan)
        for place, slot in enumerate(slots):
            value, behind = self.result(slot).value[0], self._behind(slot)
            evaluation.found.update({target: self.binned(target) for target, _ in behind})
            if value > 0:
                found[place] = (evaluation.pulls(behind) - self.gaps(slot).square) / (2 * value)
        return found / self.total


@dataclass(frozen=True)
class Together:
    """Finds how the gaps of bins go together, as far as some rows make it.

    Attributes:
        recipe: What is asked of the rows.
        groups: The targets that are looked at together, and their bins.
    """

    recipe: Recipe
    groups: Mapping[Group, Sequence[Binned]]

    def __call__(self, rows: Rows, clusters: tuple[Label, ...]) -> Named:
        """Of some rows, by group."""
        evaluations = [evaluation_of(self.recipe, model, rows) for model in range(len(self.recipe.models))]
        return Named({key: self._of(key, binned, evaluations, clusters) for key, binned in self.groups.items()})

    def _of(
        self,
        group: Group,
        binned: Sequence[Binned],
        evaluations: Sequence[CalibrationEvaluation],
        clusters: tuple[Label, ...],
    ) -> Products:
        starts, first = starts_of(binned), evaluations[0]
        pairs = [
            evaluations[model].residuals(target, bins) for (model, target), bins in zip(group, binned, strict=True)
        ]
        owners = np.repeat([model for model, _ in group], np.diff(starts)).tolist()
        keys = tuple((model, CALIBRATION.name, place) for place, model in enumerate(owners))
        if first.rows.cluster is None:
            return Products(keys, between_targets(pairs, first.weights.square, starts), None, first.drawn)
        sums = by_cluster(pairs, first.weights.mass, first.rows.cluster, len(clusters), starts)
        seen = seen_by_cluster(pairs, first.rows.cluster, len(clusters), starts)  # beside the sums, bin by bin
        return Products((*keys, *keys), np.concatenate([sums, seen], axis=1), clusters, first.drawn)


def again(evaluations: Mapping[Label | None, Sequence[SummedCalibration]]) -> dict[Label | None, Look]:
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
            found[label] = partial(Batchwise, Together(summary.recipe, groups))
    return found


def _finer(evaluations: Mapping[Label | None, Sequence[SummedCalibration]]) -> Look | None:
    """Part the cells that hold too much of a bin, be it of a part of the data or of all; None where there are none."""
    whole = evaluations[None]
    rulers, found = [[grid.ruler for grid in each.grids] for each in whole], False
    for model, each in enumerate(whole):
        for place, grid in enumerate(each.grids):
            cells = distinct(np.concatenate([some[model].heavy(place) for some in evaluations.values()]))
            finer = finer_ruler(grid, np.searchsorted(grid.cells, cells)) if len(cells) else None
            found |= finer is not None
            rulers[model][place] = finer or rulers[model][place]
    return partial(Binning, whole[0].summary.recipe, tuple(map(tuple, rulers))) if found else None

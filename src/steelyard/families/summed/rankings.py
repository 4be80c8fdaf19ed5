"""Rankings of rows that were not held, from how many of them lie in each cell of a ruler.

Cells are ties: rows within one are as if they had the same score. So a value is known only to within what any order of
the rows inside their cells could make of it, and both ends of that are told. Where all rows of a cell have one score,
as they do where scores are rounded, nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...inference.row_evaluation import AVERAGES, NOT_FOUND, Found, key_of
from ...inference.table_evaluation import Slot
from ...measures.masses import Masses, scatter_of_clusters, spread_of, spread_of_clusters
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.score_grid import Grid
from ...states.statistics import RANKING, Patterns
from ..ranking.evaluation import RankedEvaluation
from ..ranking.one_against_rest import PSEUDO_ROW, OneAgainstRest, told_of
from ..state_evaluation import StateEvaluation
from .counting import Counting, cells_of, finer_ruler, side, sides_of
from .products import MOST_SIDES, Products, of_rows, of_side
from .recipe import Look

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.typing import Array, Marks, Places


ROUNDING = 1e-12
NARROW = 0.1  # of a standard error: what cells may leave open
LEFT = 0.01  # of what cells leave open: that much may stay


@dataclass(frozen=True)
class SummedRanking(StateEvaluation, RankedEvaluation):
    """All slots of one classifier that are made of the order of scores that were counted in cells."""

    looked_up: dict[tuple[str, int], Array] = field(default_factory=dict, repr=False)

    @property
    def one_by_one(self) -> bool:
        """Cells are few, and all slots soon found."""
        return False

    @property
    def scored(self) -> bool:
        """Whether the classifier gave scores at all."""
        return bool(self.grids)

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        """The grids of its columns."""
        found: tuple[Grid, ...] = self.summary.states[RANKING.name].parts[self.model]
        return found

    def _column(self, code: int) -> int:
        return code if len(self.grids) > 1 else 0

    @cached_property
    def _inner(self) -> dict[int, RankedEvaluation]:
        """The rows of each column, as many as there are cells and sides."""
        found = {}
        for column in range(len(self.grids)):
            rows = cells_of(self.summary.recipe, self.grids, self.model, column)
            found[column] = RankedEvaluation(rows, 0, self.scale, self.measures, self.undefined, self.unit)
        return found

    def against_rest(self, code: int, again: bool = True) -> OneAgainstRest:
        """The cells by the score of a class."""
        return self._inner[self._column(code)].against_rest(code, again)

    def open_at(self, code: int, thresholds: Array) -> Places:
        """How many cells more may reach each threshold: one that it lies in, where rows of it have several scores."""
        turned = code != self._speaks(code)
        wanted = np.asarray(-thresholds if turned else thresholds, dtype=np.float64)
        within = self.grids[self._column(code)].within(wanted, turned) >= 0
        return np.where(within, -1 if turned else 1, 0)  # turned, the whole cell is counted

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots)."""
        return np.array([self.seen(slot).value for slot in self.slots]).reshape(-1, 2).T

    def seen(self, slot: Slot) -> Found:
        """The value of a slot and its spread, as far as rows tell it."""
        key = key_of(slot)
        if not self.scored:
            return NOT_FOUND
        if key not in self.memory.results:
            self.memory.results[key] = self._found(slot)
        return self.memory.results[key]

    def _found(self, slot: Slot) -> Found:
        alone = len(self.grids) == 1  # one score of two classes: everything is told by its cells
        if slot.code is not None or alone:
            found = self._inner[0 if alone else self._column(int(slot.code or 0))].seen(slot)
        else:
            found = self._averaged_over_classes(slot)
        if np.isnan(found.value[0]):  # nothing scatters that has no value
            return found
        return self.found_late(slot, found.value) or found

    def _averaged_over_classes(self, slot: Slot) -> Found:
        """An average; unless a second pass tells more, its classes may all be off together, and their shares too."""
        found = [self.result(Slot(slot.measure, code)) for code in range(len(self.scale))]
        share, values = self._shares(slot, found)
        if not share.any():
            return NOT_FOUND
        with np.errstate(invalid="ignore"):
            means = np.where(share > 0, values, 0.0) @ share
            errors = np.sqrt(np.array([one.variance for one in found]).T)
            variance = np.square(np.where(share > 0, errors, 0.0) @ share + self.shares_error(slot, share, values[0]))
        freedom = min((one.freedom[1] for one, each in zip(found, share, strict=True) if each > 0), default=np.nan)
        both = (float(means[0]), float(means[1])), (float(variance[0]), float(variance[1]))
        return Found(*both, (freedom, freedom)).of_average(len(found), slot.measure)

    def _shares(self, slot: Slot, found: Sequence[Found]) -> tuple[Array, Array]:
        """What each class has in an average, and its values."""
        values = np.array([one.value for one in found]).T
        weights = self.class_mass if slot.average == AVERAGES[1] else np.ones(len(self.scale))
        known = ~np.isnan(values[0]) if np.isnan(self.undefined) else np.ones(len(weights), dtype=bool)
        values = np.where(np.isnan(values), self.undefined, values)
        mass = weights * known
        return mass / (mass.sum() or 1.0), values  # where no class has a value, none has a share

    @property
    def patterns(self) -> Patterns:
        """What influences are of: made-up rows, with clusters one of each on each side."""
        found, products = super().patterns, self.summary.products
        if not self.clustered or products is None:
            return found
        cluster = np.tile(np.arange(len(products.sums)), self._blocks)
        ones, none = np.ones(len(cluster)), np.zeros(len(cluster), np.int64)
        return replace(found, truth=none, count=0 * ones, mass=ones, square=ones, cluster=cluster)

    @property
    def _blocks(self) -> int:
        """How many sides any slot has."""
        return len(self.scale) if len(self.scale) <= MOST_SIDES else 2

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What made-up rows add to a slot."""
        found, products = super().influence(slot, smooth), self.summary.products
        if not self.clustered or products is None:
            return found
        every = np.zeros((self._blocks, len(products.sums)))
        parted = self._parted(slot)
        every[: 1 if parted is None else parted[0].shape[1]] = found if parted is None else parted[0].T
        return every.ravel()

    def _parted(self, slot: Slot) -> tuple[Array, Marks] | None:
        """What clusters add to a slot on each side, and which have rows there; None where that was not summed."""
        products, sides = self.summary.products, self._sides(slot)
        asked = (slot, *[of_side(slot, code) for code in sides], *of_rows(self.measures, self.scale))
        keys = [(self.model, *key_of(each)) for each in asked]
        return products.by_clusters(keys, sides) if products and sides and {*keys} <= {*products.keys} else None

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        products, pseudo = self.summary.products, PSEUDO_ROW if smooth else 0.0
        if products is None or not (self.clustered or products.parted):
            return super().variances(places, influences, smooth)
        if self.clustered:
            sides = map(self._at_sides, places, influences)
            return np.array([_variance(sums, seen, pseudo) for sums, seen in sides])
        return np.array([variance for variance, _ in self._by_side(products, places, influences, pseudo)])

    def scatters(self, places: Sequence[int], influences: Array) -> Array:
        """How far these scatter themselves: a class may have few rows or clusters, however many there are."""
        products = self.summary.products
        if products is None or not (self.clustered or products.parted):
            return np.zeros(len(places))
        if self.clustered:
            sides = map(self._at_sides, places, influences)
            return np.array(
                [
                    _scatter(sums) if seen is None else scatter_of_clusters(sums, seen, PSEUDO_ROW)
                    for sums, seen in sides
                ]
            )
        found = self._by_side(products, places, influences, PSEUDO_ROW)
        return np.array([2 * variance**2 / freedom for variance, freedom in found])

    def _at_sides(self, place: int, influence: Array) -> tuple[Array, Marks | None]:
        """What clusters add on each side of a slot, and which have rows there; of all sides together, if not summed."""
        sums, parted = influence.reshape(self._blocks, -1), self._parted(self.slots[place])
        return (sums[0], None) if parted is None else (sums[: parted[1].shape[1]].T, parted[1])

    def _by_side(
        self, products: Products, places: Sequence[int], influences: Array, pseudo: float
    ) -> Iterator[tuple[float, float]]:
        """The variance of influences on some slots and its degrees of freedom, by how many rows each side has."""
        by_class = np.square(influences).reshape(len(places), len(self.sizes), -1).sum(axis=2) / products.lost
        for place, squares in zip(places, by_class, strict=True):
            code, sides = self.slots[place].code, [squares, self.sizes]
            if code is not None:
                sides = [np.array([each[code], np.delete(each, code).sum()]) for each in sides]
            yield spread_of(sides[0], sides[1], pseudo=pseudo)

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Nothing is drawn again."""
        del slots

    def remark(self, slot: Slot) -> str:
        """How far from the value it may be that the ranking of all rows themselves would give."""
        low, high = self.certified(slot)
        words = [f"for certain between {low:.9g} and {high:.9g}"] if high - low > ROUNDING else []
        return "; ".join([*words, *self.unknown(slot)])

    def told_late(self, slot: Slot) -> bool:
        """Averages, unless one score of two classes tells everything by its cells."""
        return slot.average is not None and len(self.grids) > 1

    # --- what no order of the rows inside their cells can leave --------------------------------------------------

    def certified(self, slot: Slot) -> tuple[float, float]:
        """The least and the greatest value that rows in these cells can have."""
        if not self.scored or np.isnan(self.result(slot).value[0]):
            return np.nan, np.nan
        if slot.code is not None:
            return self._ends(slot.measure, slot.code)
        ends = np.array([self.certified(Slot(slot.measure, code)) for code in range(len(self.scale))])
        share, _ = self._shares(slot, [self.result(Slot(slot.measure, code)) for code in range(len(self.scale))])
        # A class without a value has no share, or what stands in for it for certain.
        low, high = share @ np.where(np.isnan(ends), np.nan_to_num(self.undefined), ends)
        return float(low), float(high)

    def _ends(self, measure: Measure, code: int) -> tuple[float, float]:
        one, grid = self.against_rest(code), self.grids[self._column(code)]
        masses = one.masses(measure) if not measure.corners else _at_scores(one, measure)
        falling = grid.mixed[::-1] if code == self._speaks(code) else grid.mixed
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = [float(_parted(masses, falling, first).value(measure)) for first in (False, True)]
            value = float(masses.value(measure))
        least = measure.least
        if least is not None:
            ends[0] = float(least(masses.positive, masses.negative, falling))
        return min(*ends, value), max(*ends, value)

    def _speaks(self, code: int) -> int:
        return self.summary.recipe.shape[self.model][1] if len(self.grids) == 1 else code

    def uncertain(self) -> list[int]:
        """The columns whose cells leave more open than a tenth of a standard error."""
        found = []
        for measure in self.measures:
            for code in range(len(self.scale)):
                slot = Slot(measure, code)
                low, high = self.certified(slot)
                if high - low > NARROW * np.sqrt(self.result(slot).variance[0]):
                    found.append(self._column(code))
        return sorted(set(found))

    # --- the second pass ---------------------------------------------------------------------------------------

    def _sides(self, slot: Slot) -> Sequence[int]:
        """The classes that are sides of a slot, all others together one more; none of averages over very many."""
        if slot.code is not None:
            return [slot.code]
        return range(len(self.scale)) if len(self.scale) <= MOST_SIDES else []

    def beside(self, slots: Sequence[Slot]) -> list[Slot]:
        """Where rows belong to clusters: what those of each side add alone, and how many of each class there are."""
        sides = [of_side(slot, code) for slot in slots for code in self._sides(slot)]
        return [*sides, *of_rows(self.measures, self.scale)] if self.clustered and self.scored else []

    def found_late(self, slot: Slot, values: tuple[float, float]) -> Found | None:
        """A slot with the spread that the second pass told; sides that have few rows or clusters leave it unsure."""
        found, products, parted = super().found_late(slot, values), self.summary.products, self._parted(slot)
        if found is None or products is None or (self.clustered and parted is None):
            return found
        if parted is None:
            return Found(values, *products.by_class((self.model, *key_of(slot)), self.sizes, PSEUDO_ROW))
        (variance, freedom), (smooth, looser) = (spread_of_clusters(*parted, pseudo) for pseudo in (0.0, PSEUDO_ROW))
        looser = looser if slot.code is None else told_of(variance, smooth, looser)[1]
        return Found(values, (variance, smooth), (freedom, looser))

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows): all of them, or those of one side alone."""
        sides = {key_of(of_side(slot, code)): (slot, code) for slot in self.slots for code in self._sides(slot)}
        numbers = {key_of(slot): code for code, slot in enumerate(of_rows(self.measures, self.scale))}
        whole = [slot for slot in slots if key_of(slot) not in sides and key_of(slot) not in numbers]
        found = dict(zip(map(key_of, whole), self._influences(whole, rows), strict=True))
        found |= {key: (rows.truth == code).astype(np.float64) for key, code in numbers.items()}
        for key in {key_of(slot) for slot in slots} - found.keys():
            slot, code = sides[key]
            found[key] = found[key_of(slot)] * (rows.truth == code)
        return np.stack([found[key_of(slot)] for slot in slots])

    def _influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows): looked up in their cells."""
        if not self.scored:
            return np.zeros((len(slots), len(rows)))
        cells = [self._cells(rows, column) for column in range(len(self.grids))]
        known: dict[tuple[str, int], Array] = {}
        found = np.zeros((len(slots), len(rows)))
        for place, slot in enumerate(slots):
            codes = range(len(self.scale)) if slot.code is None else [slot.code]
            for code in codes:
                if (slot.measure.label, code) not in known:
                    table = self._table(slot.measure, code)
                    known[slot.measure.label, code] = np.take(table, cells[self._column(code)], mode="clip")
            if slot.code is not None:
                found[place] = known[slot.measure.label, slot.code]
                continue
            share, values = self._shares(slot, [self.result(Slot(slot.measure, code)) for code in codes])
            for code in codes:
                found[place] += share[code] * known[slot.measure.label, code] if share[code] else 0.0
            if slot.average == AVERAGES[1] and share.any():  # a row also makes its class weigh more
                moved = np.where(share > 0, values[0] - share @ np.nan_to_num(values[0]), 0.0)
                found[place] += (moved / self.class_mass[share > 0].sum())[rows.truth]
        return found

    def _cells(self, rows: Rows, column: int) -> Places:
        grid, sides = self.grids[column], sides_of(self.summary.recipe, self.model, column)
        cells = grid.ruler.place(rows.scores[self.model].columns[column])
        cells *= len(sides)
        cells += side(rows.truth, sides)
        return cells

    def _table(self, measure: Measure, code: int) -> Array:
        """What a row in each cell and of each side adds to a measure of a class."""
        key = (measure.label, code)
        if key not in self.looked_up:
            inner = self._inner[self._column(code)]
            with np.errstate(divide="ignore", invalid="ignore"):
                of_rows = np.nan_to_num(inner.influence(Slot(measure, code), smooth=False))
            self.looked_up[key] = self.grids[self._column(code)].spread(of_rows)
        return self.looked_up[key]


def again(evaluations: Mapping[Label | None, Sequence[SummedRanking]]) -> dict[Label | None, Look]:
    """Count once more, in finer cells, where values are not certain to a tenth of their standard errors.

    All rows together say how fine; the parts of the data are counted alike, so that they still add up.
    """
    whole = evaluations[None]
    rulers, found = [[grid.ruler for grid in each.grids] for each in whole], False
    for evaluation, each in zip(whole, rulers, strict=True):
        for column in evaluation.uncertain():
            finer = finer_ruler(evaluation.grids[column], _mixing(evaluation.grids[column]))
            found |= finer is not None
            each[column] = finer or each[column]
    if not found:
        return {}
    look = partial(Counting, whole[0].summary.recipe, tuple(map(tuple, rulers)))
    parts: list[Label | None] = [label for label in evaluations if label is not None]
    return dict.fromkeys(parts or [None], look)


def _mixing(grid: Grid) -> Places:
    """The places of the cells in which most pairs are not told apart, from the one with the most."""
    mass = grid.sums[..., min(1, grid.sums.shape[2] - 1)]
    pairs = (np.square(mass.sum(axis=1)) - np.square(mass).sum(axis=1)) * grid.mixed
    heavy = np.argsort(-pairs, kind="stable")[: np.count_nonzero(pairs > 0)]
    return heavy[: int(np.searchsorted(np.cumsum(pairs[heavy]), (1 - LEFT) * pairs.sum())) + 1]


def _variance(sums: Array, seen: Marks | None, pseudo: float) -> float:
    """The variance of what clusters add on each side; of all sides together where they are not told apart."""
    return float(np.square(sums).sum()) if seen is None else spread_of_clusters(sums, seen, pseudo)[0]


def _scatter(sums: Array) -> float:
    """How far the sum of squares of what clusters add scatters."""
    return float(np.var(np.square(sums)) * len(sums))


def _at_scores(one: OneAgainstRest, measure: Measure) -> Masses:
    """The masses at each cell, also of measures that need no more than the corners of a curve."""
    if not measure.balanced:
        return one.plain
    mass = one.in_order(one.population.weights.mass) * one.equal_weight[one.truth]
    return Masses(one.plain.positive, one.ranking.groups.sums(mass))


def _parted(masses: Masses, mixed: Any, class_first: bool) -> Masses:
    """Rows of mixed cells put in order: those of the class before all others of their cell, or behind them."""
    positive, negative = (np.repeat(each, np.where(mixed, 2, 1)) for each in (masses.positive, masses.negative))
    first = np.flatnonzero(np.repeat(mixed, np.where(mixed, 2, 1)))[::2]
    positive[first + class_first] = 0.0
    negative[first + (not class_first)] = 0.0
    return Masses(positive, negative)

"""Rankings of rows that were not held, from how many of them lie in each cell of a ruler.

Cells are ties: rows within one are as if they had the same score. So a value is known only to within what any order of
the rows inside their cells could make of it, and both ends of that are told. Where all rows of a cell have one score,
as they do where scores are rounded, nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...core.cached import cached_property
from ...inference.evaluation import Slot, key_of
from ...inference.row_evaluation import AVERAGES, NOT_FOUND, Found
from ...measures.masses import Masses, scatter_of_clusters, scatter_of_sides, spread_of, spread_of_clusters
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.score_grid import Grid
from ...states.statistics import RANKING, Patterns
from ..ranking.evaluation import Memory, RankedEvaluation
from ..ranking.one_against_rest import PSEUDO_ROW, OneAgainstRest, told_of
from ..state_evaluation import StateEvaluation
from .counting import Counting, cells_of, finer_ruler, side, sides_of
from .products import MOST_SIDES, Key, Products, of_rows, of_side, side_of, with_pseudo
from .recipe import Look

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.typing import Array, Marks, Places


Term = tuple["SummedRanking", "Array"]  # a classifier, and what its influences are multiplied with, slot by slot
ROUNDING = 1e-12
AGREED = 1e-16  # of a variance: less is rounding
NARROW = 0.1  # of a standard error: what cells may leave open
LEFT = 0.01  # of what cells leave open: that much may stay


@dataclass(frozen=True)
class SummedRanking(StateEvaluation, RankedEvaluation):
    """All slots of one classifier that are made of the order of scores that were counted in cells."""

    judged_by_odds = True

    looked_up: dict[tuple[str, int, bool], Array] = field(default_factory=dict, repr=False)

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
        return self._found_late(slot, found) or found

    def _found_late(self, slot: Slot, found: Found) -> Found | None:
        """A slot with the spread that the second pass told, also with the pseudo-rows; None where the first one did."""
        if self.known(slot) is None or not (self.clustered or self.told_late(slot)):
            return self.found_late(slot, found.value)
        (value, centre), added, (variance, freedom) = found.value, found.added, self._spread(slot, slot)
        if self._moved(slot) and self.known(self._smooth(slot)) is None:  # in older tallies
            spread, looser = self._spread(slot, slot, PSEUDO_ROW)
            looser = looser if slot.code is None else told_of(variance, spread, looser)[1]
            return Found(found.value, (variance, spread), (freedom, looser))
        if slot.code is None:
            classes = [self.seen(Slot(slot.measure, code)) for code in range(len(self.scale))]
            share, values = self._shares(slot, classes)
            value, centre = (np.where(share > 0, values, 0.0) @ share).tolist()
            added = sum(float(part**2) * one.added for one, part in zip(classes, share, strict=True) if one.added > 0)
            moved = any(one.moved for one, part in zip(classes, share, strict=True) if part)
        else:
            one = self.against_rest(slot.code)
            moved = found.moved and not one.negligible(slot.measure, variance)
        if not moved:
            return Found((value, value), (variance, variance), (freedom, freedom))
        spread, looser = self._spread(slot, self._smooth(slot), PSEUDO_ROW)
        if slot.code is not None:
            spread, looser = told_of(variance, spread, looser)
        late = Found((value, centre), (variance, spread + added), (freedom, looser), added)
        return late if slot.code is not None else late.of_average(len(self.scale), slot.measure)

    def _spread(self, slot: Slot, asked: Slot, pseudo: float = 0.0) -> tuple[float, float]:
        """The variance of a slot and its degrees of freedom, as the second pass told, as it is or with pseudo-rows."""
        products, known = self.summary.products, self.known(asked)
        if products is None or known is None:
            return np.nan, np.nan
        if not self.clustered:
            return products.by_class((self.model, *key_of(asked)), self.sizes, pseudo)
        parted = self._parted(slot, asked)
        if parted is None:
            return float(np.square(known).sum()), self.freedom
        return spread_of_clusters(*parted, pseudo)

    def heavier(self, unit: float) -> Self:
        """The same where a pseudo-row weighs more, as it does beside another classifier."""
        return replace(self, unit=unit, memory=Memory(), looked_up={})

    def _smooth(self, slot: Slot) -> Slot:
        """What rows add to a slot with the pseudo-rows."""
        return with_pseudo(slot, self.unit)

    def _moved(self, slot: Slot) -> bool:
        """Whether pseudo-rows make a difference, by what the cells tell."""
        codes = range(len(self.scale)) if slot.code is None else [slot.code]
        return any(self._inner[self._column(code)].seen(Slot(slot.measure, code)).moved for code in codes)

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
        smooth, products = smooth and self._seen_smooth(slot), self.summary.products
        asked = self._smooth(slot) if smooth else slot
        found = super().influence(asked, smooth)
        if not self.clustered or products is None:
            return found
        every = np.zeros((self._blocks, len(products.sums)))
        parted = self._parted(slot, asked)
        every[: 1 if parted is None else parted[0].shape[1]] = found if parted is None else parted[0].T
        return every.ravel()

    def _parted(self, slot: Slot, asked: Slot) -> tuple[Array, Marks] | None:
        """What clusters add to a slot on each side, and which have rows there; None where that was not summed.

        What is ``asked`` for is the slot as it is, or with the pseudo-rows.
        """
        products, sides = self.summary.products, self._sides(slot)
        every = (asked, *[of_side(asked, code) for code in sides], *of_rows(self.measures, self.scale))
        keys = [(self.model, *key_of(each)) for each in every]
        return products.by_clusters(keys, sides) if products and sides and {*keys} <= {*products.keys} else None

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        products, pseudo = self.summary.products, PSEUDO_ROW if smooth else 0.0
        if products is None or not (self.clustered or products.parted):
            return super().variances(places, influences, smooth)
        if self.clustered:
            sides = map(self._at_sides, places, influences)
            return np.array([_variance(sums, seen, pseudo) for sums, seen in sides])
        found = np.array([variance for variance, _ in self._by_side(products, places, influences, pseudo)])
        alone = np.array([self.seen(self.slots[place]).variance[1] for place in places])
        # Two that always agree differ by what rounding leaves in the factor of all products.
        return np.where(found < AGREED * alone, 0.0, found)

    def scatters(self, places: Sequence[int], influences: Array, terms: Sequence[Term]) -> Array:
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
        by_side = self._by_side(products, places, influences, PSEUDO_ROW)
        found = np.array([2 * variance**2 / freedom for variance, freedom in by_side])
        for row, place in enumerate(places):
            slots = [each.slots[place] for each, _ in terms]
            keys = [each.key_smooth(slot) for (each, _), slot in zip(terms, slots, strict=True)]
            powers = products.powers_of(keys, [float(factors[row]) for _, factors in terms])
            if powers is not None:
                squares, fourths, sizes = (self._at_two_sides(each, slots[0].code) for each in (*powers, self.sizes))
                found[row] = scatter_of_sides(squares, fourths, sizes, PSEUDO_ROW)
        return found

    def key_smooth(self, slot: Slot) -> Key:
        """What the products of a slot are known by, with the pseudo-rows where these make a difference."""
        return (self.model, *key_of(self._smooth(slot) if self._seen_smooth(slot) else slot))

    def _seen_smooth(self, slot: Slot) -> bool:
        """Whether pseudo-rows make a difference, and the second pass told which; older tallies do not tell it."""
        return self.seen(slot).moved and self.known(self._smooth(slot)) is not None

    def _at_two_sides(self, by_class: Array, code: int | None) -> Array:
        """Sums by class, or of the class and of the rest."""
        return by_class if code is None else np.array([by_class[code], np.delete(by_class, code).sum()])

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Mean squared influence of a pseudo-row on a slot, and the mean influence of one of the rest and the class."""
        if not self._seen_smooth(self.slots[place]):
            return 0.0, np.zeros(2)
        return RankedEvaluation.pseudo_at(self, place)

    def _at_sides(self, place: int, influence: Array) -> tuple[Array, Marks | None]:
        """What clusters add on each side of a slot, and which have rows there; of all sides together, if not summed."""
        sums, parted = influence.reshape(self._blocks, -1), self._parted(self.slots[place], self.slots[place])
        return (sums[0], None) if parted is None else (sums[: parted[1].shape[1]].T, parted[1])

    def _by_side(
        self, products: Products, places: Sequence[int], influences: Array, pseudo: float
    ) -> Iterator[tuple[float, float]]:
        """The variance of influences on some slots and its degrees of freedom, by how many rows each side has."""
        by_class = np.square(influences).reshape(len(places), len(self.sizes), -1).sum(axis=2) / products.lost
        for place, squares in zip(places, by_class, strict=True):
            both = [self._at_two_sides(each, self.slots[place].code) for each in (squares, self.sizes)]
            yield spread_of(both[0], both[1], pseudo=pseudo)

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
        """The same with the pseudo-rows where these make a difference; of clusters, also what each side adds alone."""
        if not self.scored:
            return []
        smooth = [slot for slot in slots if self._moved(slot)]
        sides = [of_side(slot, code) for slot in slots for code in self._sides(slot)]
        sides += [of_side(self._smooth(slot), code) for slot in smooth for code in self._sides(slot)]
        clusters = [*sides, *of_rows(self.measures, self.scale)] if self.clustered else []
        return [*map(self._smooth, smooth), *clusters]

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows): all of them, or those of one side alone."""
        wholes = {key_of(slot): (slot, False) for slot in self.slots}
        wholes |= {key_of(self._smooth(slot)): (slot, True) for slot in self.slots}
        parts = [(key, code) for key, (slot, _) in wholes.items() for code in self._sides(slot)]
        sides = {(key[0], side_of(key[1], code)): (key, code) for key, code in parts}
        numbers = {key_of(slot): code for code, slot in enumerate(of_rows(self.measures, self.scale))}
        asked = [key for key in map(key_of, slots) if key in wholes]
        found = dict(zip(asked, self._influences([wholes[key] for key in asked], rows), strict=True))
        found |= {key: (rows.truth == code).astype(np.float64) for key, code in numbers.items()}
        for key in {key_of(slot) for slot in slots} - found.keys():
            whole, code = sides[key[0], str(key[1])]
            found[key] = found[whole] * (rows.truth == code)
        return np.stack([found[key_of(slot)] for slot in slots])

    def _influences(self, wanted: Sequence[tuple[Slot, bool]], rows: Rows) -> Array:
        """What rows add to some slots, as they are or with pseudo-rows, (slots, rows): looked up in their cells."""
        found = np.zeros((len(wanted), len(rows)))
        if not self.scored:
            return found
        cells = [self._cells(rows, column) for column in range(len(self.grids))]
        known: dict[tuple[str, int, bool], Array] = {}
        for place, (slot, smooth) in enumerate(wanted):
            codes = range(len(self.scale)) if slot.code is None else [slot.code]
            for code in codes:
                key = (slot.measure.label, code, smooth)
                if key not in known:
                    table = self._table(slot.measure, code, smooth)
                    known[key] = np.take(table, cells[self._column(code)], mode="clip")
            if slot.code is not None:
                found[place] = known[slot.measure.label, slot.code, smooth]
                continue
            share, values = self._shares(slot, [self.result(Slot(slot.measure, code)) for code in codes])
            for code in codes:
                found[place] += share[code] * known[slot.measure.label, code, smooth] if share[code] else 0.0
            if slot.average == AVERAGES[1] and share.any():  # a row also makes its class weigh more
                here = values[int(smooth)]
                moved = np.where(share > 0, here - share @ np.nan_to_num(here), 0.0)
                found[place] += (moved / self.class_mass[share > 0].sum())[rows.truth]
        return found

    def _cells(self, rows: Rows, column: int) -> Places:
        grid, sides = self.grids[column], sides_of(self.summary.recipe, self.model, column)
        cells = grid.ruler.place(rows.scores[self.model].columns[column])
        cells *= len(sides)
        cells += side(rows.truth, sides)
        return cells

    def _table(self, measure: Measure, code: int, smooth: bool) -> Array:
        """What a row in each cell and of each side adds to a measure of a class, as it is or with pseudo-rows."""
        key = (measure.label, code, smooth)
        if key not in self.looked_up:
            inner, slot = self._inner[self._column(code)], Slot(measure, code)
            with np.errstate(divide="ignore", invalid="ignore"):
                of_rows = np.nan_to_num(inner.influence(slot, smooth and inner.seen(slot).moved))
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

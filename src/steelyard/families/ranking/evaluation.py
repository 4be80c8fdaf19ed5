"""From scores to values and influences, for all measures of ranking of one classifier. Knows no formula.

As with counts, everything is evaluated twice: on the rows as they are, for values and standard errors, and with
pseudo-rows, for intervals. Here these are a quarter of a row of the class and a quarter of one of the rest, spread over
the scores as all rows are, so that a score that sorts a small sample without a fault does not pass for perfect. The
standard error is that of DeLong et al. (1988), with clusters that of Obuchowski (1997), and its degrees of freedom
those of Brunner & Munzel (2000), which matter where a class has few rows.

Rows in memory are sorted by the score of a class when that class is first asked for. Of rows that were let go, it is
known how many lie in each cell of a ruler. Cells are rows with weights, one for each side in each cell, that all have
one score: so classes are evaluated by the same means. Averages and differences follow from the products of influences
that a second pass sums up. A value is known only to within what any order of the rows inside their cells could make of
it. Where all rows of a cell have one score, as they do where scores are rounded, nothing is lost.

In a class of one row, or of one cluster, nobody knows how far others of it would lie from it. Its own interval is from
0 to 1. What such a class has a share in reaches so much further down and up as that share of its interval does (MOVER;
Zou & Donner 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Self

import numpy as np

from ...core.cached import cached_property
from ...core.threads import chunks, over_rows, shared
from ...inference.averages import MEANS_OF_CLASSES, WEIGHTED, Average, class_weights
from ...inference.evaluation import Slot, key_of
from ...inference.row_evaluation import NOT_FOUND, Found
from ...maths.ordered_scores import SORTING, Ranking
from ...maths.sides import Sides
from ...measures.masses import BY_COUNT, pseudo_moments
from ...measures.registry import Measure
from ...states.statistics import RANKING, Patterns
from ..state_evaluation import StateEvaluation
from ..summed.counting import cells_of, counting, finer_ruler, mixing, side, sides_of
from ..summed.products import Key, of_rows, of_side, side_of, with_pseudo
from ..summed.recipe import Look
from .cell_counts import counted_by_cell, counted_once, one_sort_tells
from .counted import Counted, Placements, Smoothed
from .factor_sides import FactorSides, at_two_sides, sides_behind
from .one_against_rest import NEGLIGIBLE, PSEUDO_ROW, OneAgainstRest, Population, known, told_of, unmoved

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.typing import Array, Places
    from ...states.held_rows import Rows
    from ...states.score_grid import Grid

WORTH_KEEPING = 1 << 23  # rows times classes: beyond, what follows from sorting is made anew where it is asked for
FELT = 2.0**-15  # where pseudo-rows can move a value further, they are seldom negligible
COUNTABLE = 1 << 30  # rows: twice as many fit into a count
TOGETHER = 2  # measures at a time: more would take more memory than they save time
AGREED = 1e-16  # of a variance: less is rounding
ROUNDING = 1e-12
NARROW = 0.1  # of a standard error: what cells may leave open

Term = tuple["RankedEvaluation", "Array"]  # a classifier, and what its influences are multiplied with, slot by slot
# The variance of an average and its degrees of freedom, with the pseudo-rows or not.
SpreadOf = Callable[[Average, bool], tuple[float, float]]


@dataclass(frozen=True)
class Memory:
    """What was found already, shared by all that look at the same rows."""

    sorted: dict[int, OneAgainstRest] = field(default_factory=dict)
    rankings: dict[int, Ranking] = field(default_factory=dict)
    results: dict[tuple[str, int | str | None], Found] = field(default_factory=dict)
    counted: list[Counted] = field(default_factory=list)
    placed: list[Placements] = field(default_factory=list)
    smoothed: dict[str, Smoothed] = field(default_factory=dict)
    by_cell: dict[tuple[str, int, bool], Array] = field(default_factory=dict)
    lone: dict[str, tuple[Array, list[int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class RankedEvaluation(StateEvaluation):
    """All slots of one classifier that are made of the order of its scores."""

    pseudo_row = PSEUDO_ROW
    judged_by_odds = True

    memory: Memory = field(default_factory=Memory, repr=False)

    @property
    def scored(self) -> bool:
        """Whether the classifier gave scores at all."""
        return bool(self.rows.scores[self.model].columns)

    # --- values and spread ---------------------------------------------------------------------------------------

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        if self.held and self.alone is None and self.scored:  # averages find the values of classes on their way
            self._count(self.slots, keep=False)
            missed = {slot.measure.label for slot in self.slots if key_of(slot) not in self.memory.results}
            left = [measure for measure in self.measures if measure.label in missed]
            for start in range(0, len(left), TOGETHER):
                self._average(left[start : start + TOGETHER], MEANS_OF_CLASSES)
        return np.array([self.seen(slot).value for slot in self.slots]).reshape(-1, 2).T

    def seen(self, slot: Slot) -> Found:
        """The value of a slot and its spread, as far as rows tell it."""
        key = key_of(slot)
        if not self.scored:
            return NOT_FOUND
        if key not in self.memory.results:
            if self.held:
                self._find(slot)
            else:
                self.memory.results[key] = self._by_cells(slot)
        return self.memory.results[key]

    def _find(self, slot: Slot) -> None:
        """Find a slot of rows in memory."""
        known = self.memory.counted or slot.measure.label in self.memory.smoothed
        told = one_sort_tells(self.rows.scores[self.model], self.measures) and self._countable and not self._felt
        if slot.code is None or known or told:
            self._count([slot])
        if key_of(slot) in self.memory.results:
            return
        if slot.code is None:
            self._average([slot.measure], [str(slot.average)])
        else:
            one = self.against_rest(slot.code, again=self.alone is None)
            self.memory.results[key_of(slot)] = one.measured(slot.measure)[0]

    def result(self, slot: Slot) -> Found:
        """The same; the standard error of what a class of one row or cluster has a share in is unknown."""
        found = self.seen(slot)
        if not self._lone(slot, found):
            return found
        freedom = 0.0 if len(self.memory.lone[slot.measure.label][1]) == len(self.scale) else found.freedom[1]
        return found._replace(variance=(np.nan, found.variance[1]), freedom=(found.freedom[0], freedom))

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """The classes for which a measure has no value, among those that were asked for."""
        for (label, part), found in self.memory.results.items():
            if isinstance(part, int) and np.isnan(found.value[0]):
                yield label, part

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot, in the order of the input; or each pseudo-observation of rows let go."""
        if not self.held:
            return self._factor_influence(slot, smooth)
        if not self.scored:
            return np.full(len(self.rows), np.nan)
        formula, part = slot.measure.formula, str(slot.average) if slot.code is None else slot.code
        if self.memory.counted and not smooth and formula in BY_COUNT:
            return self._placed().influence(formula, part)
        if slot.measure.label in self.memory.smoothed:
            return self._smoothed_influence(self.memory.smoothed[slot.measure.label], part, smooth)
        if slot.code is None:
            return self._average([slot.measure], [str(slot.average)])[int(smooth)][0, :, 0]
        one = self.against_rest(slot.code)
        with np.errstate(divide="ignore", invalid="ignore"):
            return one.rows_influenced([one.influences_on(slot.measure, smooth)])[:, 0]

    # --- averages over the classes ---------------------------------------------------------------------------------

    def _ways(self, kind: str, classes: Sequence[Found]) -> tuple[Average, Average]:
        """An average of the values of the classes, as they are and with the pseudo-rows."""
        values = np.array([one.value for one in classes]).T
        both = Average.of_both(kind, values, self.class_mass, self.undefined)
        return Average(*(each[0] for each in both)), Average(*(each[1] for each in both))

    def _averaged(self, slot: Slot, classes: Sequence[Found], moved: bool, spread: SpreadOf) -> Found:
        """An average over the classes with its spread, which pseudo-rows have moved or not."""
        plain, smooth = self._ways(str(slot.average), classes)
        value, (variance, freedom) = float(plain.mean), spread(plain, False)
        if not moved:
            return unmoved(value, variance, freedom)
        wider, looser = spread(smooth, True)
        added = np.array([0.0 if np.isnan(one.value[0]) else one.added for one in classes])
        more = float(np.square(plain.share) @ added)
        found = Found((value, float(smooth.mean)), (variance, wider + more), (freedom, looser), more)
        return found.of_average(len(classes), slot.measure)

    def _average(self, measures: Sequence[Measure], kinds: Sequence[str]) -> tuple[Array, Array]:
        """Average some measures over the classes of rows in memory in one or both ways, and keep what comes out.

        Returns:
            The influences on each average, (kinds, rows, measures), twice.
        """
        codes, weights = range(len(self.scale)), class_weights(np.array(kinds)[:, None], self.class_mass)
        if self.rows.scores[self.model].speaks >= 0:
            self._ranking(self.rows.scores[self.model].speaks, keep=True)  # once, before threads share it
        shares = shared(codes, lambda some: self._summed(measures, some, weights), SORTING * len(self.rows))
        plain, smooth = reduce(_added, shares)
        for column, measure in enumerate(measures):
            for place, kind in enumerate(kinds):
                sums, more = plain[place, :, column], smooth[place, :, column]
                found = self._from_sums(Slot(measure, None, kind), sums, sums if smooth is plain else more)
                self.memory.results.setdefault((measure.label, kind), found)
        return plain, smooth

    def _from_sums(self, slot: Slot, plain: Array, smooth: Array) -> Found:
        """An average, by influences that were summed over the classes: they are made those on the average, in place."""

        def spread(average: Average, pseudo: bool) -> tuple[float, float]:
            rows = smooth if pseudo else plain
            self._divide(rows, average)
            return self.sides.spread(rows, PSEUDO_ROW * pseudo)

        with np.errstate(divide="ignore", invalid="ignore"):
            return self._averaged(slot, self._classes(slot.measure), smooth is not plain, spread)

    def _divide(self, rows: Array, average: Average) -> None:
        """Make influences on an average of sums over the classes, in place; a row also makes its class weigh more."""

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop):
                rows[low:high] /= average.total
                if average.gaps.any():
                    rows[low:high] += average.gaps[self.rows.truth[low:high]]

        over_rows(len(rows), work)

    def _summed(self, measures: Sequence[Measure], codes: Sequence[int], weights: Array) -> tuple[Array, Array]:
        """Find the values of some classes, and sum up their influences with each row of weights, twice.

        Both are the same array as long as pseudo-rows make no difference.
        """
        plain = smooth = np.zeros((len(weights), len(self.rows), len(measures)))
        place_for_rows = np.empty(plain.shape[1:])  # new memory for every class would take as long as filling it
        for code in codes:
            one = self.against_rest(code, again=len(self.measures) > TOGETHER)
            found = [one.measured(measure) for measure in measures]
            self.memory.results.update({(m.label, code): f[0] for m, f in zip(measures, found, strict=True)})
            different = any(after is not before for _, before, after in found)
            if different and smooth is plain:
                smooth = plain.copy()
            rows = one.rows_influenced([known(*each[:2]) for each in found], place_for_rows)
            _add(plain, rows, weights[:, code])
            if different:
                rows = one.rows_influenced([known(*each[::2]) for each in found], place_for_rows)
            if smooth is not plain:
                _add(smooth, rows, weights[:, code])
        return plain, smooth

    # --- rows in memory that weigh the same: counts tell everything -------------------------------------------------

    def _count(self, slots: Sequence[Slot], keep: bool = True) -> None:
        """Find slots by counts alone, where rows weigh the same.

        The counts of many rows are kept where one slot is asked for after the other, or its influences are.
        """
        slots = [slot for slot in slots if slot.measure.formula in BY_COUNT and key_of(slot) not in self.memory.results]
        if not slots or not self._countable or (self._felt and not self._small):
            return
        standing = None if self._felt else self._counted(keep)
        for measure in {slot.measure.label: slot.measure for slot in slots}.values():
            parts = {part for label, part in map(key_of, slots) if label == measure.label and part is not None}
            known = {} if standing is None else self._unmoved(standing, measure, parts)
            if self._small:
                known |= {part: self._smoothed(measure, part) for part in parts - known.keys()}
            self.memory.results.update({(measure.label, part): found for part, found in known.items()})

    @property
    def _countable(self) -> bool:
        """Whether counts of rows tell everything."""
        return self.population.alike and bool(self.sizes.all()) and len(self.rows) < COUNTABLE

    @property
    def _pseudo_shares(self) -> Array:
        """The share of the mass that the pseudo-rows are, of each class and the rest together."""
        return np.asarray(self.unit / self.sizes + self.unit / (self.sizes.sum() - self.sizes))

    @cached_property
    def _felt(self) -> bool:
        """Whether there are so few rows that pseudo-rows are likely to be felt."""
        return bool(self._pseudo_shares.max() >= FELT)

    @property
    def _small(self) -> bool:
        """Whether what follows from sorting is worth its memory."""
        return len(self.rows) * len(self.scale) <= WORTH_KEEPING

    def _unmoved(self, standing: Counted, measure: Measure, parts: Set[int | str]) -> dict[int | str, Found]:
        """What a measure is by counts alone, of those parts in which no pseudo-row would be felt."""
        added = self._pseudo_shares
        found, codes = standing.found(measure.formula, parts), set(range(len(added)))

        def unfelt(part: int | str) -> bool:  # no value moves further than the share of the mass that is added
            moved = added.max() if isinstance(part, str) else added[part]
            return bool(moved < NEGLIGIBLE * np.sqrt(found[part].variance[0]))

        kept = {part for part in parts if unfelt(part)}
        if not kept >= parts & set(MEANS_OF_CLASSES):
            # An average has less of an error than its classes: what is nothing beside theirs will do.
            found |= standing.found(measure.formula, codes - parts)
            kept |= parts & set(MEANS_OF_CLASSES) if all(map(unfelt, codes)) else set()
        return {part: found[part] for part in kept}

    def _counted(self, keep: bool) -> Counted:
        """Where rows stand among others; where there are other classifiers, they are compared row by row."""
        if self.memory.counted:
            return self.memory.counted[0]
        given, found = (self.rows, self.model, self.sizes), None
        if len(self.rows.scores) == 1:
            found = counted_by_cell(*given) or counted_once(*given)
        if found is None:
            found = (self._placed() if keep else Placements.of(*given)).counted
        if keep:
            self.memory.counted.append(found)
        return found

    def _placed(self, ranked: bool = False) -> Placements:
        """How many rows of the other side are above each row; and its rank, if that is asked for."""
        placed = self.memory.placed
        if not placed or (ranked and not placed[0].ranks.size):
            placed[:] = [Placements.of(self.rows, self.model, self.sizes, ranked)]
        return placed[0]

    def _smoothed(self, measure: Measure, part: int | str) -> Found:
        """A measure of a class, or averaged over all of them, with the pseudo-rows."""
        if measure.label not in self.memory.smoothed:
            found = Smoothed.of(measure.formula, self._placed(ranked=True), self.unit)
            self.memory.smoothed[measure.label] = found
        smoothed = self.memory.smoothed[measure.label]
        if isinstance(part, int):
            return smoothed.classes[part]

        def spread(average: Average, pseudo: bool) -> tuple[float, float]:
            return self.sides.spread(smoothed.influence(average, self.rows.truth, pseudo), PSEUDO_ROW * pseudo)

        moved = any(found.moved for found in smoothed.classes)
        return self._averaged(Slot(measure, None, part), smoothed.classes, moved, spread)

    def _smoothed_influence(self, smoothed: Smoothed, part: int | str, smooth: bool) -> Array:
        if isinstance(part, int):
            return np.asarray(smoothed.influences[int(smooth), part])
        return smoothed.influence(self._ways(part, smoothed.classes)[smooth], self.rows.truth, smooth)

    # --- one class after the other, as they are asked for ----------------------------------------------------------

    @property
    def population(self) -> Population:
        """What a class needs to know of all rows: not this evaluation, in whose memory it stays.

        Two that hold each other stay, with all of their rows, until Python looks for such circles.
        """
        return Population(self.rows, self.scale, self.weights, self.sizes, self.class_mass, self.unit)

    def against_rest(self, code: int, again: bool = True) -> OneAgainstRest:
        """Sort the rows by the score of a class; many rows are kept in order only where they are asked for again."""
        if not self.held:
            return self._of_cells(code).against_rest(code, again)
        one = self.memory.sorted.get(code)
        if one is None:
            one = OneAgainstRest(self.population, code, self._ranking(code, again or self._small))
        if self._small:
            self.memory.sorted[code] = one
        return one

    def _ranking(self, code: int, keep: bool) -> Ranking:
        columns, speaks = self.rows.scores[self.model][:2]
        known = self.memory.rankings.get(code)
        if known is None and len(columns) == 1 and code != speaks:
            known = self._ranking(speaks, keep).turned()
        elif known is None:
            known = Ranking.of(columns[code if len(columns) > 1 else 0])
        if keep or len(columns) == 1:  # one order serves both classes
            self.memory.rankings[code] = known
        return known

    def open_at(self, code: int, thresholds: Array) -> Places:
        """How many distinct scores more may reach each threshold than are counted; less than 0 where fewer may.

        Of cells, that is one that it lies in, where rows of it have several scores.
        """
        if self.held:
            return np.zeros(len(thresholds), dtype=np.int64)
        turned = code != self._speaks(code)
        wanted = np.asarray(-thresholds if turned else thresholds, dtype=np.float64)
        within = self.grids[self._column(code)].within(wanted, turned) >= 0
        return np.where(within, -1 if turned else 1, 0)  # turned, the whole cell is counted

    # --- classes of one row, or of one cluster ---------------------------------------------------------------------

    def beyond(self, slot: Slot) -> tuple[float, float]:
        """How far below and above a value the shares of such classes in it reach."""
        start, stop = slot.measure.span
        lone = self._lone(slot, self.seen(slot))
        ends = [(share * (value - start), share * (stop - value)) for _, share, value in lone]
        below, above = np.sqrt(np.square(np.reshape(ends, (-1, 2))).sum(axis=0)).tolist()
        return below, above

    def wavering(self, slot: Slot) -> Array:
        """How far they move differences: no value scatters more than a coin that shows 1 as often as the value is high.

        Whether two classifiers go together there, nobody knows.
        """
        found = np.zeros((len(self.rows.scores), len(self.scale)))
        for code, share, value in self._lone(slot, self.seen(slot)):
            found[self.model, code] = share * _deviation(value, slot.measure)
        return found.ravel()

    def _lone(self, slot: Slot, found: Found) -> list[tuple[int, float, float]]:
        """The classes of one row or cluster with a share in a slot that is not their own; that, and their values."""
        balanced, label = slot.measure.balanced, slot.measure.label
        paired = balanced and len(self.scale) > 2  # each class is held against each of the others
        if not (found.lone if slot.code is None else paired and not found.lone):
            return []
        if label not in self.memory.lone:
            every = self._classes(slot.measure)
            self.memory.lone[label] = (
                np.array([one.value[0] for one in every]),
                [code for code, one in enumerate(every) if one.lone],
            )
        values, lone = self.memory.lone[label]
        shares = Average.of(slot.average or MEANS_OF_CLASSES[0], values, self.class_mass, self.undefined).share
        known = np.flatnonzero(shares > 0)
        if slot.code is not None:
            shares = (np.arange(len(values)) == slot.code).astype(np.float64)
        if balanced and len(known) > 1:  # a class also has a share in the values of all others
            shares[known] += (shares.sum() - shares[known]) / (len(known) - 1)
        return [(code, float(shares[code]), float(values[code])) for code in lone]

    def _classes(self, measure: Measure) -> list[Found]:
        return [self.seen(Slot(measure, code)) for code in range(len(self.scale))]

    # --- cells of rows that were let go ----------------------------------------------------------------------------

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        """The cells of each score."""
        found: tuple[Grid, ...] = self.summary.states[RANKING.name].parts[self.model]
        return found

    def _column(self, code: int) -> int:
        return code if len(self.grids) > 1 else 0

    def _speaks(self, code: int) -> int:
        return self.summary.recipe.shape[self.model][1] if len(self.grids) == 1 else code

    @cached_property
    def _of_columns(self) -> list[RankedEvaluation]:
        """The cells of each score as rows, as many as there are cells and sides."""
        each = [cells_of(self.summary.recipe, self.grids, self.model, column) for column in range(len(self.grids))]
        return [RankedEvaluation(rows, 0, self.scale, self.measures, self.undefined, self.unit) for rows in each]

    def _of_cells(self, code: int) -> RankedEvaluation:
        """The cells by the score of a class."""
        return self._of_columns[self._column(code)]

    def _by_cells(self, slot: Slot) -> Found:
        """A slot with its spread, as the cells tell it, or the second pass where that tells more."""
        if slot.code is not None or len(self.grids) == 1:  # one score of two classes tells everything by its cells
            found = self._of_cells(slot.code or 0).seen(slot)
        else:
            found = self._at_most(slot)
        if np.isnan(found.value[0]):  # nothing scatters that has no value
            return found
        if self._factor is None or self.known(slot) is None:  # nobody saw how rows of clusters go together
            unseen = (np.nan, np.nan)
            return Found(found.value, unseen, unseen) if self.clustered else found
        return self._by_products(slot, found, self._factor) if self.clustered or self.told_late(slot) else found

    def _by_products(self, slot: Slot, found: Found, factor: FactorSides) -> Found:
        """A slot with the spread that the second pass told."""
        smooth, plain = self._smooth(slot), factor.told(slot, slot, 0.0)
        if self._moved(slot) and self.known(smooth) is None:  # in older tallies
            spread, looser = factor.told(slot, slot, PSEUDO_ROW)
            looser = looser if slot.code is None else told_of(plain[0], spread, looser)[1]
            return Found(found.value, (plain[0], spread), (plain[1], looser))
        if slot.code is None:
            classes = self._classes(slot.measure)
            share = self._ways(str(slot.average), classes)[0].share
            moved = any(one.moved for one, part in zip(classes, share, strict=True) if part)
            wider = factor.told(slot, smooth, PSEUDO_ROW) if moved else plain
            return self._averaged(slot, classes, moved, lambda _, pseudo: wider if pseudo else plain)
        if not found.moved or self.against_rest(slot.code).negligible(slot.measure, plain[0]):
            return unmoved(found.value[0], *plain)
        spread, looser = told_of(plain[0], *factor.told(slot, smooth, PSEUDO_ROW))
        return Found(found.value, (plain[0], spread + found.added), (plain[1], looser), found.added)

    def _at_most(self, slot: Slot) -> Found:
        """An average; unless a second pass tells more, its classes may all be off together, and their shares too."""
        found = [self.result(Slot(slot.measure, code)) for code in range(len(self.scale))]
        plain, smooth = self._ways(str(slot.average), found)
        if np.isnan(plain.mean):
            return NOT_FOUND
        with np.errstate(invalid="ignore"):
            variance = plain.variances_at_most(np.array([one.variance for one in found]).T, self.class_square)
        known = [one.freedom[1] for one, share in zip(found, plain.share, strict=True) if share > 0]
        value, freedom = (float(plain.mean), float(smooth.mean)), min(known, default=np.nan)
        both = Found(value, (float(variance[0]), float(variance[1])), (freedom, freedom))
        return both.of_average(len(found), slot.measure)

    def heavier(self, unit: float) -> Self:
        """The same where a pseudo-row weighs more, as it does beside another classifier."""
        return replace(self, unit=unit, memory=Memory())

    def _smooth(self, slot: Slot) -> Slot:
        """What rows add to a slot with the pseudo-rows."""
        return with_pseudo(slot, self.unit)

    def _moved(self, slot: Slot) -> bool:
        """Whether pseudo-rows make a difference, by what the cells tell."""
        codes = range(len(self.scale)) if slot.code is None else [slot.code]
        return any(self._of_cells(code).seen(Slot(slot.measure, code)).moved for code in codes)

    def remark(self, slot: Slot) -> str:
        """How far from the value it may be that the ranking of all rows themselves would give."""
        if self.held:
            return super().remark(slot)
        low, high = self.certified(slot) or (0.0, 0.0)
        words = [f"for certain between {low:.9g} and {high:.9g}"] if high - low > ROUNDING else []
        return "; ".join([*words, *self.unknown(slot)])

    def certified(self, slot: Slot) -> tuple[float, float] | None:
        """The least and the greatest value that rows in these cells can have; None where rows are in memory."""
        if self.held:
            return None
        if not self.scored or np.isnan(self.result(slot).value[0]):
            return np.nan, np.nan
        if slot.code is not None:
            grid = self.grids[self._column(slot.code)]
            falling = grid.mixed[::-1] if slot.code == self._speaks(slot.code) else grid.mixed
            return self.against_rest(slot.code).ends(slot.measure, falling)
        ends = np.array([self.certified(Slot(slot.measure, code)) for code in range(len(self.scale))])
        share = self._ways(str(slot.average), self._classes(slot.measure))[0].share
        # A class without a value has no share, or what stands in for it for certain.
        low, high = share @ np.where(np.isnan(ends), np.nan_to_num(self.undefined), ends)
        return float(low), float(high)

    def uncertain(self) -> list[int]:
        """The columns whose cells leave more open than a tenth of a standard error."""
        found = set()
        for measure in self.measures:
            for code in range(len(self.scale)):
                slot = Slot(measure, code)
                low, high = self.certified(slot) or (0.0, 0.0)
                if high - low > NARROW * np.sqrt(self.result(slot).variance[0]):
                    found.add(self._column(code))
        return sorted(found)

    # --- differences between classifiers ---------------------------------------------------------------------------

    @cached_property
    def sides(self) -> Sides:
        """One side a class, in the order of the input: for averages."""
        return Sides(self.rows.truth, self.sizes, self.weights.mass, self.weights.square, self.rows.cluster)

    def _sides_of(self, slot: Slot) -> Sides:
        """How the rows in memory are parted behind a slot, in the order of the input."""
        if slot.code is None:
            return self.sides
        own = np.asarray(self.rows.truth == slot.code).view(np.uint8)
        return replace(self.sides, side=own, sizes=at_two_sides(self.sizes, slot.code)[::-1])

    @cached_property
    def _factor(self) -> FactorSides | None:
        """What each side of a slot adds, of rows that were let go; None where they are at hand, or were not summed."""
        products = None if self.held else self.summary.products
        slots = of_rows(self.measures, self.scale)
        return None if products is None else FactorSides(products, self.model, self.sizes, slots)

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        slots, pseudo = [self.slots[place] for place in places], PSEUDO_ROW if smooth else 0.0
        pairs = list(zip(slots, influences, strict=True))
        if self.held:
            return np.array([self._sides_of(slot).spread(rows, pseudo)[0] for slot, rows in pairs])
        if self._factor is None or not self._factor.parted:
            return super().variances(places, influences, smooth)
        found = np.array([self._factor.spread(slot, rows, pseudo)[0] for slot, rows in pairs])
        alone = np.array([0.0 if self.clustered else self.seen(slot).variance[1] for slot in slots])
        # Two that always agree differ by what rounding leaves in the factor of all products.
        return np.where(found < AGREED * alone, 0.0, found)

    def scatters(self, places: Sequence[int], influences: Array, terms: Sequence[Term]) -> Array:
        """How far each of these variances scatters itself; ``terms`` tell what the influences were made of.

        Each is a classifier and what its influences with the pseudo-rows were multiplied with, slot by slot. A class
        may have few rows or clusters, however many there are.
        """
        slots = [self.slots[place] for place in places]
        if self.held:
            pairs = zip(slots, influences, strict=True)
            return np.array([self._sides_of(slot).scatter(rows, PSEUDO_ROW) for slot, rows in pairs])
        if self._factor is None or not self._factor.parted:
            return np.zeros(len(places))
        found = []
        for row, (slot, influence) in enumerate(zip(slots, influences, strict=True)):
            factors = {each.key_smooth(slot): float(factors[row]) for each, factors in terms}
            found.append(self._factor.scatter(slot, influence, factors))
        return np.array(found)

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Mean squared influence of a pseudo-row on a slot, and the mean influence of one of the rest and the class.

        Pseudo-rows of averages are taken to have nothing in common between classifiers.
        """
        slot = self.slots[place]
        if not (self.held or self._seen_smooth(slot)):
            return 0.0, np.zeros(2)
        if slot.code is None or not self.scored:
            return self.result(slot).added / (2 * self.unit**2), np.zeros(2)
        if not self.result(slot).moved:
            return 0.0, np.zeros(2)
        if slot.measure.label in self.memory.smoothed:
            return self.memory.smoothed[slot.measure.label].pseudo[slot.code]
        with np.errstate(divide="ignore", invalid="ignore"):
            one = self.against_rest(slot.code)
            return pseudo_moments(one.sloped(slot.measure, smooth=True)[1], one.plain.share)

    # --- the same from products that a second pass summed ----------------------------------------------------------

    @property
    def patterns(self) -> Patterns:
        """What influences are of: rows; or pseudo-observations, with clusters one of each on each side."""
        found = super().patterns
        return found if self._factor is None or not self.clustered else self._factor.patterns_of(found)

    def _factor_influence(self, slot: Slot, smooth: bool) -> Array:
        """What pseudo-observations add to a slot."""
        asked = self._smooth(slot) if smooth and self._seen_smooth(slot) else slot
        found = super().influence(asked, smooth)
        return found if self._factor is None or not self.clustered else self._factor.laid_out(found, slot, asked)

    def key_smooth(self, slot: Slot) -> Key:
        """What the products of a slot are known by, with the pseudo-rows where these make a difference."""
        return (self.model, *key_of(self._smooth(slot) if self._seen_smooth(slot) else slot))

    def _seen_smooth(self, slot: Slot) -> bool:
        """Whether pseudo-rows make a difference, and the second pass told which; older tallies do not tell it."""
        return self.seen(slot).moved and self.known(self._smooth(slot)) is not None

    # --- the second pass -------------------------------------------------------------------------------------------

    def told_late(self, slot: Slot) -> bool:
        """Averages, unless one score of two classes tells everything by its cells."""
        return slot.average is not None and len(self.grids) > 1

    def beside(self, slots: Sequence[Slot]) -> list[Slot]:
        """The same with the pseudo-rows where these make a difference; of clusters, also what each side adds alone."""
        if not self.scored:
            return []
        smooth = [self._smooth(slot) for slot in slots if self._moved(slot)]
        if not self.clustered:
            return smooth
        wholes = [(slot, slot) for slot in slots] + [(slot, self._smooth(slot)) for slot in slots if self._moved(slot)]
        sides = [of_side(asked, code) for slot, asked in wholes for code in sides_behind(slot, len(self.scale))]
        return [*smooth, *sides, *of_rows(self.measures, self.scale)]

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows): all of them, or those of one side alone."""
        wholes = {key_of(slot): (slot, False) for slot in self.slots}
        wholes |= {key_of(self._smooth(slot)): (slot, True) for slot in self.slots}
        sides = {
            (key[0], side_of(key[1], code)): (key, code)
            for key, (slot, _) in wholes.items()
            for code in sides_behind(slot, len(self.scale))
        }
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
            average = self._ways(str(slot.average), self._classes(slot.measure))[smooth]
            for code in np.flatnonzero(average.share > 0).tolist():
                found[place] += average.share[code] * known[slot.measure.label, code, smooth]
            if average.share.any():
                found[place] += np.nan_to_num(average.gaps)[rows.truth]
        return found

    def _cells(self, rows: Rows, column: int) -> Places:
        """Where to look up rows in a table of cells and sides."""
        grid, sides = self.grids[column], sides_of(self.summary.recipe, self.model, column)
        cells = grid.ruler.place(rows.scores[self.model].columns[column])
        cells *= len(sides)
        cells += side(rows.truth, sides)
        return cells

    def _table(self, measure: Measure, code: int, smooth: bool) -> Array:
        """What a row in each cell and of each side adds to a measure of a class, as it is or with pseudo-rows."""
        key = (measure.label, code, smooth)
        if key not in self.memory.by_cell:
            inner, slot = self._of_cells(code), Slot(measure, code)
            with np.errstate(divide="ignore", invalid="ignore"):
                of_rows = np.nan_to_num(inner.influence(slot, smooth and inner.seen(slot).moved))
            self.memory.by_cell[key] = self.grids[self._column(code)].spread(of_rows)
        return self.memory.by_cell[key]

    # --- for the bootstrap: sorted once, weighed anew --------------------------------------------------------------

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Sort the rows by the scores that will be asked for."""
        if self.held and self.scored:
            for code in {int(slot.code) for slot in slots if slot.code is not None}:
                self.against_rest(code)

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
        if not self.held:
            return super().reweighed(slots, mass)
        if not self.scored:
            return np.full((len(mass), len(slots)), np.nan)
        by_class = np.zeros((len(mass), len(self.scale)))
        if any(measure.balanced or average == WEIGHTED for measure, _, average in slots):
            by_class = self.mass_by_class(mass)
        values: dict[tuple[str, int], Array] = {}
        found = np.empty((len(mass), len(slots)))
        with np.errstate(divide="ignore", invalid="ignore"):
            for place, (measure, own, kind) in enumerate(slots):
                codes = range(len(self.scale)) if own is None else [own]
                for code in codes:
                    if (measure.label, code) not in values:
                        values[measure.label, code] = self.against_rest(code).reweighed(measure, mass, by_class)
                each = np.stack([values[measure.label, code] for code in codes], axis=1)
                averaged = own is None and Average.of(str(kind), each, by_class, self.undefined)
                found[:, place] = averaged.mean if averaged else each[:, 0]
        return found


def again(evaluations: Mapping[Label | None, Sequence[RankedEvaluation]]) -> dict[Label | None, Look]:
    """Count once more, in finer cells, where values are not certain to a tenth of their standard errors.

    All rows together say how fine; the parts of the data are counted alike, so that they still add up.
    """
    whole = evaluations[None]
    rulers, found = [[grid.ruler for grid in each.grids] for each in whole], False
    for evaluation, each in zip(whole, rulers, strict=True):
        for column in evaluation.uncertain():
            finer = finer_ruler(evaluation.grids[column], mixing(evaluation.grids[column]))
            found |= finer is not None
            each[column] = finer or each[column]
    if not found:
        return {}
    look = partial(counting, whole[0].summary.recipe, tuple(map(tuple, rulers)))
    parts: list[Label | None] = [label for label in evaluations if label is not None]
    return dict.fromkeys(parts or [None], look)


def _add(sums: Array, rows: Array, weights: Array) -> None:
    """Add rows to each of several sums, weighted."""
    for low, high in chunks(0, len(rows), rows.shape[1] * len(sums)):
        for total, weight in zip(sums, weights, strict=True):
            total[low:high] += rows[low:high] if weight == 1 else weight * rows[low:high]


def _added(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Put sums over some classes and over others together, twice; where both times they are the same, in place."""
    if first[0] is first[1] and second[0] is second[1]:
        first[0][...] += second[0]
        return first
    return first[0] + second[0], first[1] + second[1]


def _deviation(value: float, measure: Measure) -> float:
    """The largest standard deviation of one value; a pseudo-row in the middle is beside what is as high as can be."""
    start, stop = measure.span
    place = ((value - start) / (stop - start) + PSEUDO_ROW / 2) / (1 + PSEUDO_ROW)
    return (stop - start) * float(np.sqrt(max(place * (1 - place), 0.0)))

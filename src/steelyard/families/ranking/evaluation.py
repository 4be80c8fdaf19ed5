"""From scores to values and influences, for all measures of ranking of one classifier. Knows no formula.

As with counts, everything is evaluated twice: on the rows as they are, for values and standard errors, and with
pseudo-rows, for intervals. Here these are a quarter of a row of the class and a quarter of one of the rest, spread over
the scores as all rows are, so that a score that sorts a small sample without a fault does not pass for perfect. The
standard error is that of DeLong et al. (1988), with clusters that of Obuchowski (1997), and its degrees of freedom
those of Brunner & Munzel (2000), which matter where a class has few rows.

Rows are sorted by the score of a class when that class is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.threads import chunks, over_rows, shared
from ...inference.evaluation import Slot, key_of
from ...inference.row_evaluation import AVERAGES, NOT_FOUND, Found
from ...maths.ordered_scores import SORTING, Ranking
from ...measures.masses import BY_COUNT, Sides, pseudo_moments
from ...measures.registry import Measure
from .cell_counts import counted, one_sort_tells
from .counted import Counted, Placements, Smoothed, mean_over
from .lone import ToldByClasses
from .one_against_rest import NEGLIGIBLE, PSEUDO_ROW, OneAgainstRest, Population, known

if TYPE_CHECKING:
    from ...core.typing import Array, Places

WORTH_KEEPING = 1 << 23  # rows times classes: beyond, what follows from sorting is made anew where it is asked for
FELT = 2.0**-15  # where pseudo-rows can move a value further, they are seldom negligible
COUNTABLE = 1 << 30  # rows: twice as many fit into a count
TOGETHER = 2  # measures at a time: more would take more memory than they save time


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


@dataclass(frozen=True)
class Memory:
    """What was found already, shared by all that look at the same rows."""

    sorted: dict[int, OneAgainstRest] = field(default_factory=dict)
    rankings: dict[int, Ranking] = field(default_factory=dict)
    results: dict[tuple[str, int | str | None], Found] = field(default_factory=dict)
    counted: list[Counted] = field(default_factory=list)
    placed: list[Placements] = field(default_factory=list)
    smoothed: dict[str, Smoothed] = field(default_factory=dict)


@dataclass(frozen=True)
class RankedEvaluation(ToldByClasses):
    """All slots of one classifier that are made of the order of its scores."""

    pseudo_row = PSEUDO_ROW
    memory: Memory = field(default_factory=Memory, repr=False)

    @property
    def one_by_one(self) -> bool:
        """Each class must be sorted by its own score: no more than asked for."""
        return self.alone is None

    @property
    def scored(self) -> bool:
        """Whether the classifier gave scores at all."""
        return bool(self.rows.scores[self.model].columns)

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        if self.alone is None and self.scored:  # averages find the values of classes on their way
            self._count(self.slots, keep=False)
            left = self._missed
            for start in range(0, len(left), TOGETHER):
                self._average(left[start : start + TOGETHER], range(len(AVERAGES)))
        return np.array([self.seen(slot).value for slot in self.slots]).reshape(-1, 2).T

    @property
    def _missed(self) -> list[Measure]:
        """The measures that are not found yet, or not for all classes and averages."""
        missed = {slot.measure.label for slot in self.slots if key_of(slot) not in self.memory.results}
        return [measure for measure in self.measures if measure.label in missed]

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
                known |= {part: self._smoothed(measure).found(part) for part in parts - known.keys()}
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

    def _unmoved(self, standing: Counted, measure: Measure, parts: Set[int | str]) -> dict[int | str, Found]:
        """What a measure is by counts alone, of those parts in which no pseudo-row would be felt."""
        added = self._pseudo_shares
        found, codes = standing.found(measure.formula, parts), set(range(len(added)))

        def unfelt(part: int | str) -> bool:  # no value moves further than the share of the mass that is added
            moved = added.max() if isinstance(part, str) else added[part]
            return bool(moved < NEGLIGIBLE * np.sqrt(found[part].variance[0]))

        kept = {part for part in parts if unfelt(part)}
        if not kept >= parts & set(AVERAGES):
            # An average has less of an error than its classes: what is nothing beside theirs will do.
            found |= standing.found(measure.formula, codes - parts)
            kept |= parts & set(AVERAGES) if all(map(unfelt, codes)) else set()
        return {part: found[part] for part in kept}

    def _counted(self, keep: bool) -> Counted:
        """Where rows stand among others."""
        if self.memory.counted:
            return self.memory.counted[0]
        found = counted(self.rows, self.model, self.sizes)
        if keep:
            self.memory.counted.append(found)
        return found

    def _smoothed(self, measure: Measure) -> Smoothed:
        """The same of one measure, with the pseudo-rows."""
        if measure.label not in self.memory.smoothed:
            if not self.memory.placed:
                self.memory.placed.append(Placements.of(self.rows, self.model, self.sizes, ranked=True))
            found = Smoothed.of(measure.formula, self.memory.placed[0], self.sides, self.unit)
            self.memory.smoothed[measure.label] = found
        return self.memory.smoothed[measure.label]

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """The classes for which a measure has no value, among those that were asked for."""
        for (label, part), found in self.memory.results.items():
            if isinstance(part, int) and np.isnan(found.value[0]):
                yield label, part

    @cached_property
    def sides(self) -> Sides:
        """One side a class, in the order of the input: for averages."""
        return Sides(self.rows.truth, self.sizes, self.weights.mass, self.weights.square, self.rows.cluster)

    @property
    def population(self) -> Population:
        """What a class needs to know of all rows: not this evaluation, in whose memory it stays.

        Two that hold each other stay, with all of their rows, until Python looks for such circles.
        """
        return Population(self.rows, self.scale, self.weights, self.sizes, self.class_mass, self.unit)

    # --- one class after the other, as they are asked for ----------------------------------------------------

    def against_rest(self, code: int, again: bool = True) -> OneAgainstRest:
        """Sort the rows by the score of a class; many rows are kept in order only where they are asked for again."""
        one = self.memory.sorted.get(code)
        if one is None:
            one = OneAgainstRest(self.population, code, self._ranking(code, again or self._small))
        if self._small:
            self.memory.sorted[code] = one
        return one

    def open_at(self, code: int, thresholds: Array) -> Places:
        """How many distinct scores more may reach each threshold than are counted; less than 0 where fewer may."""
        del code
        return np.zeros(len(thresholds), dtype=np.int64)

    @property
    def _small(self) -> bool:
        """Whether what follows from sorting is worth its memory."""
        return len(self.rows) * len(self.scale) <= WORTH_KEEPING

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

    def seen(self, slot: Slot) -> Found:
        """The value of a slot and its spread, as far as rows tell it."""
        key = key_of(slot)
        if not self.scored:
            return NOT_FOUND
        if key not in self.memory.results:
            known = self.memory.counted or slot.measure.label in self.memory.smoothed
            told = one_sort_tells(self.rows.scores[self.model], self.measures) and self._countable and not self._felt
            if slot.code is None or known or told:
                self._count([slot])
            if key in self.memory.results:
                return self.memory.results[key]
            if slot.code is None:
                self._average([slot.measure], [AVERAGES.index(str(slot.average))])
            else:
                one = self.against_rest(slot.code, again=self.alone is None)
                self.memory.results[key] = one.measured(slot.measure)[0]
        return self.memory.results[key]

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot, in the order of the input."""
        if not self.scored:
            return np.full(len(self.rows), np.nan)
        formula, part = slot.measure.formula, str(slot.average) if slot.code is None else slot.code
        if self.memory.counted and not smooth and formula in BY_COUNT:
            return self.memory.counted[0].influence(formula, part)
        if slot.measure.label in self.memory.smoothed:
            return self.memory.smoothed[slot.measure.label].influence(part, smooth)
        if slot.code is None:
            return self._average([slot.measure], [AVERAGES.index(str(slot.average))])[int(smooth)][0, :, 0]
        one = self.against_rest(slot.code)
        with np.errstate(divide="ignore", invalid="ignore"):
            return one.rows_influenced([one.influences_on(slot.measure, smooth)])[:, 0]

    def _average(self, measures: Sequence[Measure], kinds: Sequence[int]) -> tuple[Array, Array]:
        """Average some measures over the classes in one or both ways, and keep what comes out.

        Returns:
            The influences on each average, (kinds, rows, measures), twice.
        """
        codes, weights = range(len(self.scale)), np.stack([np.ones(len(self.scale)), self.class_mass])[list(kinds)]
        if self.rows.scores[self.model].speaks >= 0:
            self._ranking(self.rows.scores[self.model].speaks, keep=True)  # once, before threads share it
        shares = shared(codes, lambda some: self._summed(measures, some, weights), SORTING * len(self.rows))
        plain, smooth = reduce(_added, shares)
        for column, measure in enumerate(measures):
            found = [self.memory.results[measure.label, code] for code in codes]
            values = np.array([one.value for one in found]).T
            # Pseudo-rows make no value of a class that has none: what stands in for it was not estimated.
            unknown, left_out = np.isnan(values[0]), np.isnan(values[0]) & np.isnan(self.undefined)
            values = np.where(unknown, self.undefined, values)
            for place, kind in enumerate(kinds):
                sums = plain[place, :, column], smooth[place, :, column]
                average = values, weights[place] * ~left_out, AVERAGES[kind] == "weighted"
                averaged = self._averaged(found, sums, *average).of_average(len(codes), measure)
                self.memory.results.setdefault((measure.label, AVERAGES[kind]), averaged)
        return plain, smooth

    def _averaged(
        self, found: Sequence[Found], sums: tuple[Array, Array], values: Array, weights: Array, moving: bool
    ) -> Found:
        """Make an average of values of the classes, and influences on it of weighted sums over them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = weights / weights.sum()
            means = np.where(weights > 0, values, 0.0) @ share
            gaps = np.where(weights > 0, values - means[:, None], 0.0) / weights.sum()
            more = float(np.square(share) @ np.array([0.0 if np.isnan(one.value[0]) else one.added for one in found]))
            spreads: list[tuple[float, float]] = []
            for rows, gap, pseudo in zip(sums, gaps, (0.0, PSEUDO_ROW), strict=True):
                if spreads and np.shares_memory(rows, sums[0]):  # pseudo-rows made no difference
                    spreads *= 2
                else:
                    self._divide(rows, float(weights.sum()), gap if moving else None)
                    spreads.append(self.sides.spread(rows, pseudo))
        (variance, freedom), (spread, looser) = spreads
        return Found((float(means[0]), float(means[1])), (variance, spread + more), (freedom, looser), more)

    def _divide(self, rows: Array, total: float, gap: Array | None) -> None:
        """Divide sums over the classes by the weights, in place; where rows are weights, a row moves these too."""

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop):
                rows[low:high] /= total
                if gap is not None:
                    rows[low:high] += gap[self.rows.truth[low:high]]

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

    # --- for differences between classifiers ------------------------------------------------------------------

    def sides_of(self, slot: Slot) -> Sides:
        """How the rows are parted behind a slot, in the order of the input."""
        if slot.code is None:
            return self.sides
        size, weights = self.sizes[slot.code], self.weights
        sizes = np.array([self.sizes.sum() - size, size])
        side = np.asarray(self.rows.truth == slot.code).view(np.uint8)
        return Sides(side, sizes, weights.mass, weights.square, self.rows.cluster)

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        sides, pseudo = [self.sides_of(self.slots[place]) for place in places], PSEUDO_ROW if smooth else 0.0
        return np.array([side.spread(rows, pseudo)[0] for side, rows in zip(sides, influences, strict=True)])

    def scatters(self, places: Sequence[int], influences: Array, terms: Sequence[Any]) -> Array:
        """How far each of these variances scatters itself; ``terms`` tell what the influences were made of.

        Each is a classifier and what its influences with the pseudo-rows were multiplied with, slot by slot.
        """
        del terms  # rows tell
        sides = [self.sides_of(self.slots[place]) for place in places]
        return np.array([side.scatter(rows, PSEUDO_ROW) for side, rows in zip(sides, influences, strict=True)])

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Mean squared influence of a pseudo-row on a slot, and the mean influence of one of the rest and the class.

        Pseudo-rows of averages are taken to have nothing in common between classifiers.
        """
        slot = self.slots[place]
        if slot.code is None or not self.scored:
            return self.result(slot).added / (2 * self.unit**2), np.zeros(2)
        if not self.result(slot).moved:
            return 0.0, np.zeros(2)
        if slot.measure.label in self.memory.smoothed:
            return self.memory.smoothed[slot.measure.label].pseudo[slot.code]
        with np.errstate(divide="ignore", invalid="ignore"):
            one = self.against_rest(slot.code)
            return pseudo_moments(one.sloped(slot.measure, smooth=True)[1], one.plain.share)

    # --- for the bootstrap: sorted once, weighed anew -----------------------------------------------------------

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Sort the rows by the scores that will be asked for."""
        if self.scored:
            for code in {int(slot.code) for slot in slots if slot.code is not None}:
                self.against_rest(code)

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
        if not self.scored:
            return np.full((len(mass), len(slots)), np.nan)
        by_class = np.zeros((len(mass), len(self.scale)))
        if any(measure.balanced or average == "weighted" for measure, _, average in slots):
            by_class = self.mass_by_class(mass)
        values: dict[tuple[str, int | str | None], Array] = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for measure, code, _ in slots:
                for each_code in range(len(self.scale)) if code is None else (code,):
                    if (measure.label, each_code) not in values:
                        one = self.against_rest(each_code)
                        values[measure.label, each_code] = one.reweighed(measure, mass, by_class)
            return np.stack([self._mean_of(slot, values, by_class) for slot in slots], axis=1)

    def _mean_of(self, slot: Slot, values: dict[tuple[str, int | str | None], Array], by_class: Array) -> Array:
        if slot.code is not None:
            return values[key_of(slot)]
        found = np.stack([values[slot.measure.label, code] for code in range(len(self.scale))], axis=1)
        return mean_over(found, by_class if slot.average == "weighted" else np.ones_like(by_class), self.undefined)

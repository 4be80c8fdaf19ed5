"""From scores to values and influences, for all measures of ranking of one classifier. Knows no formula.

As with counts, everything is evaluated twice: on the rows as they are, for values and standard errors, and with
pseudo-rows, for intervals. Here these are a quarter of a row of the class and a quarter of one of the rest, spread over
the scores as all rows are, so that a score that sorts a small sample without a fault does not pass for perfect. The
standard error is that of DeLong et al. (1988), with clusters that of Obuchowski (1997), and its degrees of freedom
those of Brunner & Munzel (2000), which matter where a class has few rows.

Rows are sorted by the score of a class when that class is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .evaluation import Slot
from .masses import Sides, pseudo_moments
from .one_against_rest import PSEUDO_ROW, OneAgainstRest
from .parallel import shared
from .ranking import Ranking
from .registry import Measure
from .row_evaluation import AVERAGES, NOT_FOUND, Found, RowEvaluation, key_of

if TYPE_CHECKING:
    from .kinds import Array

WORTH_KEEPING = 1 << 23  # rows times classes: beyond, what follows from sorting is made anew for each measure


class Memory(NamedTuple):
    """What was found already, shared by all that look at the same rows."""

    sorted: dict[int, OneAgainstRest]
    rankings: dict[int, Ranking]
    results: dict[tuple[str, int | str | None], Found]


@dataclass(frozen=True)
class RankedEvaluation(RowEvaluation):
    """All slots of one classifier that are made of the order of its scores."""

    memory: Memory = field(default_factory=lambda: Memory({}, {}, {}), repr=False)

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
            for measure in self.measures:
                self._average(measure, range(len(AVERAGES)))
        return np.array([self.result(slot).value for slot in self.slots]).reshape(-1, 2).T

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """The classes for which a measure has no value, among those that were asked for."""
        for (label, part), found in self.memory.results.items():
            if isinstance(part, int) and np.isnan(found.value[0]):
                yield label, part

    @cached_property
    def sides(self) -> Sides:
        """One side a class, in the order of the input: for averages."""
        return Sides(self.rows.truth, self.sizes, self.weights.mass, self.weights.square, self.rows.cluster)

    # --- one class after the other, as they are asked for ----------------------------------------------------

    def against_rest(self, code: int) -> OneAgainstRest:
        """Sort the rows by the score of a class."""
        known = self.memory.rankings
        if code not in known:
            columns, speaks = self.rows.scores[self.model][:2]
            if len(columns) == 1 and code != speaks:
                ranking = self.against_rest(speaks).ranking.turned()
            else:
                ranking = Ranking.of(columns[code if len(columns) > 1 else 0])
            known[code] = ranking
        one = self.memory.sorted.get(code) or OneAgainstRest(self, code, known[code])
        if len(self.rows) * len(self.scale) <= WORTH_KEEPING:
            self.memory.sorted[code] = one
        return one

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        key = key_of(slot)
        if not self.scored:
            return NOT_FOUND
        if key not in self.memory.results:
            if slot.code is None:
                self._average(slot.measure, [AVERAGES.index(str(slot.average))])
            else:
                self.memory.results[key] = self.against_rest(slot.code).measured(slot.measure)[0]
        return self.memory.results[key]

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot, in the order of the input."""
        if not self.scored:
            return np.full(len(self.rows), np.nan)
        if slot.code is None:
            return self._average(slot.measure, [AVERAGES.index(str(slot.average))])[0][int(smooth)]
        one = self.against_rest(slot.code)
        with np.errstate(divide="ignore", invalid="ignore"):
            return one.rows_influenced(slot.measure, one.sloped(slot.measure, smooth)[1], smooth)

    def _average(self, measure: Measure, kinds: Sequence[int]) -> list[tuple[Array, Array]]:
        """Average a measure over the classes in one or both ways, and keep what comes out.

        Returns:
            The influences on each average, twice.
        """
        codes, weights = range(len(self.scale)), np.stack([np.ones(len(self.scale)), self.class_mass])[list(kinds)]
        shares = shared(codes, lambda some: self._summed(measure, some, weights), len(self.rows))
        found = [self.memory.results[measure.label, code] for code in codes]
        values = np.array([one.value for one in found]).T
        weights[:, np.isnan(values[0])] *= not np.isnan(self.undefined)
        values = np.where(np.isnan(values), self.undefined, values)
        all_influences = []
        for place, kind in enumerate(kinds):
            plain, smooth = (reduce(np.add, [sums[place][k] for sums in shares]) for k in (0, 1))
            if all(sums[place][0] is sums[place][1] for sums in shares):
                smooth = plain
            with np.errstate(divide="ignore", invalid="ignore"):
                mean, influences = self._mean(
                    values, weights[place], (plain, smooth), moving=AVERAGES[kind] == "weighted"
                )
                more = float(np.square(weights[place] / weights[place].sum()) @ np.array([one.added for one in found]))
                spreads = [self.sides.spread(influences[0])]
                spreads += spreads if influences[1] is influences[0] else [self.sides.spread(influences[1], PSEUDO_ROW)]
            self.memory.results[measure.label, AVERAGES[kind]] = Found(
                mean, (spreads[0][0], spreads[1][0] + more), (spreads[0][1], spreads[1][1]), more
            )
            all_influences.append(influences)
        return all_influences

    def _summed(self, measure: Measure, codes: Sequence[int], weights: Array) -> list[tuple[Array, Array]]:
        """Find the values of some classes, and sum up their influences with each row of weights, twice.

        Both are the same array as long as pseudo-rows make no difference.
        """
        sums = [(zeros, zeros) for zeros in np.zeros((len(weights), len(self.rows)))]
        place_for_rows = np.empty(len(self.rows))  # new memory for every class would take as long as filling it
        for code in codes:
            one = self.against_rest(code)
            found, slopes, smoother = one.measured(measure)
            self.memory.results[measure.label, code] = found
            if np.isnan(found.value[0]):
                continue
            rows = one.rows_influenced(measure, slopes, smooth=False, out=place_for_rows)
            more = rows if smoother is slopes else one.rows_influenced(measure, smoother, smooth=True)
            for place, weight in enumerate(weights[:, code]):
                plain, smooth = sums[place]
                if smooth is plain and more is not rows:
                    smooth = plain.copy()
                plain += rows if weight == 1 else weight * rows
                if smooth is not plain:
                    smooth += more if weight == 1 else weight * more
                sums[place] = plain, smooth
        return sums

    def _mean(
        self, values: Array, weights: Array, sums: tuple[Array, Array], moving: bool
    ) -> tuple[tuple[float, float], tuple[Array, Array]]:
        """Divide weighted sums over the classes by the weights; where rows are weights, a row moves these too."""
        total, counted = weights.sum(), np.where(weights > 0, values, 0.0)
        means = counted @ weights / total
        influences = [rows / total for rows in ((sums[0],) if sums[1] is sums[0] else sums)]
        if moving:
            gaps = np.where(weights > 0, values - means[:, None], 0.0) / total
            influences = [rows + gap[self.rows.truth] for rows, gap in zip(influences, gaps, strict=False)]
        return (float(means[0]), float(means[1])), (influences[0], influences[-1])

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

    def scatters(self, places: Sequence[int], influences: Array) -> Array:
        """How far each of these variances scatters itself."""
        sides = [self.sides_of(self.slots[place]) for place in places]
        return np.array([side.scatter(rows, PSEUDO_ROW) for side, rows in zip(sides, influences, strict=True)])

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Mean squared influence of a pseudo-row on a slot, and the mean influence of one of the rest and the class.

        Pseudo-rows of averages are taken to have nothing in common between classifiers.
        """
        slot = self.slots[place]
        if slot.code is None or not self.scored:
            return self.result(slot).added / (2 * self.unit**2), np.zeros(2)
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
            by_class = np.stack(
                [mass[:, self.rows.truth == code].sum(axis=1) for code in range(len(self.scale))], axis=1
            )
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
        weights = (by_class if slot.average == "weighted" else np.ones_like(by_class)) * ~np.isnan(found)
        return np.asarray((np.nan_to_num(found) * weights).sum(axis=1) / weights.sum(axis=1))

"""From sums to values and influences, for all measures of one classifier at once. Knows no formula.

Every value gets a *slot*: a measure of the whole table, of one class, or averaged over the classes. The influence
of a row on a slot is the gradient of the formula at the sums, which comes by complex step; since a row adds to
the diagonal, to one row sum and to one column sum, an influence is three vectors over the classes.

Everything is evaluated twice: on the table as it is, for values and standard errors; and with two more rows
spread over its cells, for intervals, one of them right and one wrong, any class as likely as the others. That keeps
intervals honest where a cell is empty (an all-right table says little about errors, but not that there are none) and
brings their coverage close to nominal in small samples. On a table of two by two it is the half row a cell of Haldane
(1956) and Anscombe (1956), on matched pairs the method of Agresti & Min (2005). For what is said of one class, the two
rows are spread over the 2x2 table of that class; for everything else over the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..core.scale import Scale
from ..maths.formula_arguments import ComplexSteps
from ..measures.registry import Measure
from ..states.statistics import Margins, Patterns
from .influence import FEW_CLASSES, Averages, Influence, pseudo_mean, pseudo_shares
from .layout import AVERAGES, Layout
from .table_formulas import STEP, Formulas

if TYPE_CHECKING:
    from ..core.typing import Array, Marks

PSEUDO_ROWS = 2.0
MOST_NUMBERS = 1 << 21  # held at once by a complex step
MADE_OF = ({"true", "total"}, {"assigned"}, {"correct"})  # by which names formulas ask for the sums of a table


class Slot(NamedTuple):
    """Where a value belongs: a measure, and a class or an average (neither: the whole table)."""

    measure: Measure
    code: int | None = None
    average: str | None = None


@dataclass(frozen=True)
class Evaluation:
    """All slots of one classifier.

    They stand as their layout says: those of classes, averages over classes, and those of the whole table.
    """

    patterns: Patterns
    model: int
    scale: Scale
    formulas: Formulas
    undefined: float
    unit: float

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is computed."""
        return self.formulas.measures

    @property
    def single(self) -> tuple[Measure, ...]:
        """The measures of one class against the rest."""
        return self.formulas.single

    @property
    def whole(self) -> tuple[Measure, ...]:
        """The measures of the whole table."""
        return self.formulas.whole

    @property
    def by_class(self) -> tuple[Measure, ...]:
        """The measures that have a value for every class."""
        return self.formulas.by_class

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return self.patterns.cluster is not None

    @cached_property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.scale)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """What the values stand for, in order."""
        return (
            *[Slot(measure, code) for measure in self.by_class for code in range(len(self.scale))],
            *[Slot(measure, None, average) for measure in self.single for average in AVERAGES],
            *[Slot(measure) for measure in self.whole],
        )

    def slot(self, place: int) -> Slot:
        """What one value stands for."""
        if place < self.class_slots:
            measure, code = divmod(place, len(self.scale))
            return Slot(self.by_class[measure], code)
        measure, average = divmod(place - self.class_slots, len(AVERAGES))
        if measure < len(self.single):
            return Slot(self.single[measure], None, AVERAGES[average])
        return Slot(self.whole[place - self.class_slots - len(self.single) * len(AVERAGES)])

    @cached_property
    def layout(self) -> Layout:
        """Where the slots are."""
        return self.formulas.layout(self.classes)

    @property
    def places(self) -> dict[tuple[str, int | str | None], int]:
        """Where to find a slot: by the measure's label, and a class's code, an average or None."""
        return self.layout.places

    def overall(self, measure: Measure) -> int:
        """The slot that stands for a measure: the event's where there is an event, else the mean over classes."""
        if not measure.per_class:
            return self.places[measure.label, None]
        event = self.scale.event_code
        return self.places[measure.label, "macro" if event is None else event]

    @property
    def class_slots(self) -> int:
        """How many slots speak of one class."""
        return self.layout.class_slots

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """The classes for which a measure has no value."""
        plain = self if np.isnan(self.undefined) else replace(self, undefined=float("nan"))
        by_class = plain.values[0, : self.class_slots].reshape(-1, self.classes)
        places, codes = np.isnan(by_class).nonzero()
        labels = [measure.label for measure in self.by_class] if len(places) else []
        for place, code in zip(places.tolist(), codes.tolist(), strict=True):
            yield labels[place], code

    @cached_property
    def matrices(self) -> dict[str, Array]:
        """The penalty matrices of the measures that have one."""
        found = {measure.label: measure.matrix(self.scale) for measure in self.formulas.priced}
        return {label: matrix for label, matrix in found.items() if matrix is not None}

    @cached_property
    def margins(self) -> Margins:
        """The table's sums."""
        return self.patterns.margins(self.model)

    # --- values, over any leading axes ----------------------------------------------------------------------

    def evaluate(self, margins: Margins, penalties: dict[str, Any]) -> Array:
        """Compute every slot from sums: (..., slots)."""
        cells, single = margins.against_rest(), len(self.single)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_class, pooled = map(self.formulas.at_classes, (cells, cells.sum(axis=-1)))
            averages = self._averages(by_class[:single], ~np.isnan(by_class[:single]), margins.true)
            whole = self._of_table(self.whole, margins, penalties)
            return self._join(by_class, averages.means, pooled[:single], np.array(whole))

    def _join(self, by_class: Array, means: Array, pooled: Array, whole: Array) -> Array:
        """Lay all slots out in order; measures come first in each part, slots last in the result."""
        leading, axes, start = by_class.shape[1:-1], range(1, by_class.ndim - 1), self.class_slots
        stop = start + len(self.single) * len(AVERAGES)
        values = np.empty((*leading, stop + len(self.whole)))
        values[..., :start].reshape(*leading, -1, self.classes)[:] = by_class.transpose(*axes, 0, by_class.ndim - 1)
        averages = values[..., start:stop].reshape(*leading, -1, len(AVERAGES))
        averages[..., :2] = means.transpose(*range(2, means.ndim), 1, 0)
        averages[..., 2] = pooled.transpose(*axes, 0)
        values[..., stop:] = whole.reshape(-1, *leading).transpose(*axes, 0)
        if not np.isnan(self.undefined):
            values[np.isnan(values)] = self.undefined
        return values

    def _averages(self, values: Array, known: Marks, true: Array) -> Averages:
        """Macro and weighted averages of the values of classes, (measures, ..., classes)."""
        counted = np.empty((2, *values.shape))
        if np.isnan(self.undefined):
            counted[0], values = known, np.where(known, values, 0.0)
            np.multiply(true, known, out=counted[1])
        else:
            counted[0], counted[1], values = 1.0, true, np.where(known, values, self.undefined)
        return Averages(known, values, counted)

    # --- at the sums themselves, always twice: as they are, and with the pseudo-rows ------------------------

    @cached_property
    def pair(self) -> Margins:
        """The table's sums, the pseudo-rows spread over all of the table: (2, classes)."""
        share = np.array([[0.0], [self.unit * PSEUDO_ROWS / self.classes]])
        margins, right = self.margins, self.classes * pseudo_shares(self.classes)[0]
        return Margins(margins.correct + right * share, margins.true + share, margins.assigned + share)

    @cached_property
    def cells(self) -> Array:
        """The 2x2 tables of the classes: (4, classes)."""
        return self.margins.against_rest()

    @cached_property
    def square_cells(self) -> Array:
        """The same, summed over squared weights."""
        if self.patterns.square is self.patterns.mass:
            return self.cells
        return replace(self.patterns, mass=self.patterns.square).margins(self.model).against_rest()

    @cached_property
    def penalties(self) -> dict[str, Any]:
        """The penalty matrices summed over the table; spread over all cells, pseudo-rows bear their part of each."""
        if not self.matrices:
            return {}
        extra = np.array([0.0, self.unit * PSEUDO_ROWS])
        return {
            label: self.patterns.penalty(self.model, matrix) + extra * pseudo_mean(matrix)
            for label, matrix in self.matrices.items()
        }

    @cached_property
    def _tables(self) -> Array:
        """All 2x2 tables that are needed, end to end, so that each formula is called once: (4, tables).

        The classes' own, as they are, with the pseudo-rows spread over each of them, and with the pseudo-rows spread
        over the one table behind them; then the sums of the first and the last of these, for micro averages.
        """
        tables = np.empty((4, 3 * self.classes + 2))
        by_class = self._by_class(tables)
        by_class[:, 0] = self.cells
        np.add(self.cells[:, None], self.unit * _pseudo_cells(self.classes), out=by_class[:, 1:])
        np.add.reduce(by_class[:, ::2], axis=-1, out=tables[:, -2:])
        return tables

    def _by_class(self, at_tables: Array) -> Array:
        """What was found at the tables of the classes, without the sums over them: (..., 3, classes)."""
        return at_tables[..., :-2].reshape(*at_tables.shape[:-1], 3, self.classes)

    @cached_property
    def _at_tables(self) -> tuple[Array, Array, Array]:
        """Values at these tables, what the ratios among them are divided by, and slopes: (4, measures, tables)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.formulas.sloping_at_classes(self._tables)

    @cached_property
    def own_slopes(self) -> Array:
        """Slopes of the class slots by the cells of the class's table: (4, measures, 2, classes)."""
        return self._by_class(self._at_tables[2])[..., :2, :]

    @property
    def class_slopes(self) -> Array:
        """The same, cells last: (2, measures, classes, 4)."""
        return self.own_slopes.transpose(2, 1, 3, 0)

    @cached_property
    def trials(self) -> Array:
        """How many rows each slot is a share of, should it be a proportion."""
        found = np.full(self.values.shape[1], self.margins.true.sum())
        by_class = found[: self.class_slots].reshape(-1, self.classes)
        by_class[self.formulas.ratios] = self._at_tables[1][:, : self.classes]
        return found

    @cached_property
    def _pair_averages(self) -> Averages:
        """Averages over the classes for which a measure is defined without pseudo-rows."""
        values = self._by_class(self._at_tables[0])[: len(self.single), ::2]
        return self._averages(values, ~np.isnan(values[:, :1]), self.pair.true)

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        found, single = self._at_tables[0], len(self.single)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            own, pooled = self._by_class(found)[:, :2], found[:single, -2:]
            return self._join(own, self._pair_averages.means, pooled, self._whole_values())

    @property
    def _on_table(self) -> tuple[tuple[Measure, ...], Any]:
        """The measures that have to be evaluated on the whole table, and where they are among those of it.

        A table of two classes is that of the first class against the rest: most are known from there.
        """
        formulas = self.formulas
        return (formulas.priced, formulas.priced_places) if self.classes == 2 else (formulas.whole, slice(None))

    def _of_first_class(self, at_tables: Array) -> Array:
        """What was found of the first class by measures of the whole table: (..., measures, 2)."""
        return self._by_class(at_tables)[..., len(self.single) :, ::2, 0]

    def _whole_values(self) -> Array:
        """The values of the measures of the whole table: (measures, 2)."""
        measures, places = self._on_table
        found = np.empty((len(self.whole), 2))
        found[places] = np.array(self._of_table(measures, self.pair, self.penalties)).reshape(-1, 2)
        if self.classes == 2:
            found[self.formulas.unpriced_places] = self._of_first_class(self._at_tables[0])
        return found

    @cached_property
    def influence(self) -> Influence:
        """Influences on the slots behind the class slots, at the sums as they are and then with the pseudo-rows."""
        classes, averages = self.classes, len(self.single) * len(AVERAGES)
        slots = averages + len(self.whole)
        slopes, penalty = np.zeros((4, 2, slots, classes)), np.zeros((2, slots))
        whole, places = slopes[:, :, averages:], self._on_table[1]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_sum, by_margin = _by_sum(self._at_tables[2]), self._margin_slopes()
            self._average(by_sum, slopes[:, :, :averages].reshape(4, 2, -1, len(AVERAGES), classes))
        whole[1:, :, places] = by_margin[:, :-1].reshape(-1, 3, classes, 2).transpose(1, 3, 0, 2)
        penalty[:, averages:][:, places] = by_margin[:, -1].T
        if classes == 2:
            whole[:, :, self.formulas.unpriced_places, 0] = self._of_first_class(by_sum).swapaxes(1, 2)
        base, row, column, diagonal = slopes.reshape(4, -1, classes)
        matrices = zip(self.formulas.priced_places.tolist(), self.matrices.values(), strict=True)
        priced = {start + averages + place: matrix for place, matrix in matrices for start in (0, slots)}
        return Influence(base.sum(axis=-1), row, column, diagonal, penalty.ravel(), priced)

    @cached_property
    def influences(self) -> tuple[Influence, Influence]:
        """The same, told apart."""
        half = len(self.influence.base) // 2
        return self.influence[:half], self.influence[half:]

    def _average(self, by_sum: Array, out: Array) -> None:
        """Write down the slopes of macro, weighted and micro averages: (4, 2, measures, 3, classes).

        A row adds to one cell of every class's table, which is said as base, row, column and diagonal; to micro
        averages all classes add the same.
        """
        averages, single = self._pair_averages, by_sum[:, : len(self.single)]
        own = np.where(averages.known, self._by_class(single)[..., ::2, :], 0.0)
        out[..., :2, :] = (own[:, None] * averages.shares).transpose(0, 3, 2, 1, 4)
        out[1, ..., 1, :] += averages.drift.swapaxes(0, 1)
        out[..., 2, :] = single[..., -2:].swapaxes(1, 2)[..., None]

    def _of_table(self, measures: Sequence[Measure], margins: Margins, penalties: dict[str, Any]) -> list[Any]:
        return self.formulas.at_table(measures, margins, penalties, self.matrices)

    def _margin_slopes(self) -> Array:
        """Slopes of measures that are evaluated on the whole table, by complex steps in each sum: (measures, sums, 2).

        The sums are those of the true classes, of the assigned ones, the diagonal, and last the penalty.
        """
        measures, classes, total = self._on_table[0], self.classes, 3 * self.classes + 1
        sums = np.array([self.pair.true, self.pair.assigned, self.pair.correct])
        if classes <= FEW_CLASSES:  # all steps at once
            steps, last = _all_steps(classes)
            true, assigned, correct = sums[:, None] + steps
            penalties = {label: penalty + last for label, penalty in self.penalties.items()}
            found = self._of_table(measures, Margins(correct, true, assigned), penalties)
            return np.array(found).reshape(-1, total, 2).imag / STEP
        slopes = np.zeros((len(measures), total, 2))
        # So few steps at once that arrays stay small where a formula has them laid out.
        most = max(1, min(classes, MOST_NUMBERS // (2 * classes)))
        for part, low in product(range(3), range(0, classes, most)):
            moved: list[Any] = [*sums]
            moved[part] = ComplexSteps(sums[part], sums[part][:, low : low + most] + 1j * STEP, low)
            true, assigned, correct = moved
            start, stop = part * classes + low, part * classes + min(low + most, classes)
            self._slope(slopes[:, start:stop], Margins(correct, true, assigned), self.penalties, MADE_OF[part])
        penalties = {label: penalty + 1j * STEP for label, penalty in self.penalties.items()}
        self._slope(slopes[:, -1], self.pair, penalties, {"penalty"})
        return slopes

    def _slope(self, out: Array, margins: Margins, penalties: dict[str, Any], stepped: set[str]) -> None:
        """Write down the slopes of those measures that ask for what takes a step; the others do not move."""
        asking = [place for place, measure in enumerate(self.whole) if stepped.intersection(measure.arguments)]
        found = self._of_table([self.whole[place] for place in asking], margins, penalties)
        for place, value in zip(asking, found, strict=True):
            out[place] = value.imag / STEP


@lru_cache(maxsize=FEW_CLASSES)
def _all_steps(classes: int) -> tuple[Any, Any]:
    """Complex steps in all sums, one after the other: in the three of each class, (3, steps, 1, classes), and last."""
    total = 3 * classes + 1
    steps = 1j * STEP * np.eye(total)
    steps.setflags(write=False)
    return steps[:, :-1].reshape(total, 3, 1, classes).swapaxes(0, 1), steps[:, -1:]


@lru_cache(maxsize=FEW_CLASSES)
def _pseudo_cells(classes: int) -> Array:
    """Where pseudo-rows go in the tables of classes: over each table, or over the one behind them: (4, 2, 1)."""
    right = pseudo_shares(classes)[0]
    wrong = 1 / classes - right
    behind = np.array([right, wrong, wrong, 1 - right - 2 * wrong])
    cells = PSEUDO_ROWS * np.array([np.full(4, 1 / 4), behind]).T[..., None]
    cells.setflags(write=False)
    return cells


def _by_sum(slopes: Array) -> Array:
    """From slopes by the cells of a class's table to slopes by all rows, its true, its assigned and its right ones."""
    tp, fn, fp, tn = slopes
    column = fp - tn
    return np.array([tn, fn - tn, column, tp - fn - column])

"""From sums to values and influences, for all measures of one classifier at once. Knows no formula.

Every value gets a *slot*: a measure of the whole table, of one class, or averaged over the classes. The influence
of a row on a slot is the gradient of the formula at the sums, which comes by complex step; since a row adds to
the diagonal, to one row sum and to one column sum, an influence is three vectors over the classes.

Everything is evaluated twice: on the table as it is, for values and standard errors; and with two more rows
spread evenly over its cells, for intervals. That keeps intervals honest where a cell is empty (an all-right table
says little about errors, but not that there are none) and brings their coverage close to nominal in small samples.
On a table of two by two it is the half row a cell of Haldane (1956) and Anscombe (1956), on matched pairs the method
of Agresti & Min (2005). For what is said of one class, the two rows are spread over the 2x2 table of that class; for
everything else over the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .layout import AVERAGES, Layout, layout_of
from .registry import Measure
from .scale import Scale
from .statistics import Margins, Patterns
from .stepped import Stepped

if TYPE_CHECKING:
    from .kinds import Array, Codes, Marks

STEP = 1e-100  # of a complex step: nothing cancels, so it can be as small as floats go
PSEUDO_ROWS = 2.0
FEW_CLASSES = 16
MOST_NUMBERS = 1 << 21  # held at once by a complex step
CELLS = ("tp", "fn", "fp", "tn")
MADE_OF = ({"true", "total"}, {"assigned"}, {"correct"})  # by which names formulas ask for the sums of a table
CELL_STEPS = 1j * STEP * np.eye(4)[..., None]  # each cell in its turn


class Slot(NamedTuple):
    """Where a value belongs: a measure, and a class or an average (neither: the whole table)."""

    measure: Measure
    code: int | None = None
    average: str | None = None


def _offered(margins: Margins) -> dict[str, Any]:
    """What formulas of the whole table may ask for."""
    return {
        "correct": margins.correct,
        "true": margins.true,
        "assigned": margins.assigned,
        "total": margins.true.sum(axis=-1),
    }


def offered_of_classes(cells: Array) -> dict[str, Any]:
    """What formulas may ask for of 2x2 tables, (4, ...): their cells, and the sums of tables of two classes."""
    tp, fn, fp, tn = cells
    last = (*range(1, cells.ndim), 0)

    def two(own: Array, rest: Array) -> Array:
        return np.array([own, rest]).transpose(last)

    halves = Margins(two(tp, tn), two(tp + fn, fp + tn), two(tp + fp, fn + tn))
    return {"tp": tp, "fn": fn, "fp": fp, "tn": tn, **_offered(halves)}


@dataclass(frozen=True)
class Spread:
    """Standard errors of all slots: as they are, and with the pseudo-rows, for intervals."""

    plain: Array
    smooth: Array


@dataclass(frozen=True)
class Influence:
    """What a row adds to each slot, by its true class i and assigned class j.

    It is base + row[i] + column[j], and + diagonal[i] where i = j, and + penalty * matrix[i, j] in the slots that are
    ``priced`` by a matrix.
    """

    base: Array
    row: Array
    column: Array
    diagonal: Array
    penalty: Array
    priced: Mapping[int, Array]

    @cached_property
    def tables(self) -> Array:
        """All slots over the whole table: (slots, classes, classes)."""
        values = (self.base[:, None] + self.row)[:, :, None] + self.column[:, None, :]
        values.reshape(len(values), -1)[:, :: values.shape[-1] + 1] += self.diagonal
        for place, matrix in self.priced.items():
            values[place] += self.penalty[place] * matrix
        return values

    @cached_property
    def priced_tables(self) -> dict[int, Array]:
        """The same over the whole table, (classes, classes) each: matrices cannot be told apart by row and column."""
        return {place: self[place : place + 1].tables[0] for place in self.priced}

    @cached_property
    def centred(self) -> tuple[Array, Array]:
        """Row and column, the mean of the column and the base moved into the row."""
        middle = self.column.mean(axis=1, keepdims=True)
        return self.base[:, None] + self.row + middle, self.column - middle

    def at(self, truth: Codes, assigned: Codes) -> Array:
        """Evaluate at pairs of classes: (slots, pairs)."""
        if self.row.shape[1] <= FEW_CLASSES:
            return self.tables[:, truth, assigned]
        # Gathered a pair at a time: what is gathered for it lies side by side, a slot next to the other.
        values = np.ascontiguousarray((self.base[:, None] + self.row).T)[truth]
        values += np.ascontiguousarray(self.column.T)[assigned]
        agree = np.flatnonzero(truth == assigned)
        values[agree] += self.diagonal.T[truth[agree]]
        for place, matrix in self.priced.items():
            values[:, place] += self.penalty[place] * matrix[truth, assigned]
        return values.T

    def __getitem__(self, slots: slice) -> Influence:
        """Some of the slots, one next to the other, without a copy."""
        places = range(len(self.base))[slots]
        return Influence(
            self.base[slots],
            self.row[slots],
            self.column[slots],
            self.diagonal[slots],
            self.penalty[slots],
            {place - places.start: matrix for place, matrix in self.priced.items() if place in places},
        )


@dataclass(frozen=True)
class Evaluation:
    """All slots of one classifier.

    They stand as their layout says: those of classes, averages over classes, and those of the whole table.
    """

    patterns: Patterns
    model: int
    scale: Scale
    measures: tuple[Measure, ...]
    undefined: float
    unit: float

    @cached_property
    def single(self) -> tuple[Measure, ...]:
        """The measures of one class against the rest."""
        return tuple(measure for measure in self.measures if measure.per_class)

    @cached_property
    def whole(self) -> tuple[Measure, ...]:
        """The measures of the whole table."""
        return tuple(measure for measure in self.measures if not measure.per_class)

    @cached_property
    def by_class(self) -> tuple[Measure, ...]:
        """The measures that have a value for every class: a class and the rest make a whole table of two."""
        return (*self.single, *[measure for measure in self.whole if measure.penalty is None])

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
        return layout_of(tuple([measure.facts for measure in self.measures]), len(self.scale))

    @cached_property
    def places(self) -> dict[tuple[str, int | str | None], int]:
        """Where to find a slot: by the measure's label, and a class's code, an average or None."""
        return {
            (slot.measure.label, slot.average if slot.code is None else slot.code): place
            for place, slot in enumerate(self.slots)
        }

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
        by_class = plain.values[0, : self.class_slots].reshape(-1, len(self.scale))
        places, codes = np.isnan(by_class).nonzero()
        for place, code in zip(places.tolist(), codes.tolist(), strict=True):
            yield self.by_class[place].label, code

    @cached_property
    def matrices(self) -> dict[str, Array]:
        """The penalty matrices of the measures that have one."""
        found = {measure.label: measure.matrix(self.scale) for measure in self.whole}
        return {label: matrix for label, matrix in found.items() if matrix is not None}

    @cached_property
    def margins(self) -> Margins:
        """The table's sums."""
        return self.patterns.margins(self.model)

    # --- values, over any leading axes ----------------------------------------------------------------------

    def evaluate(self, margins: Margins, penalties: dict[str, Any]) -> Array:
        """Compute every slot from sums: (..., slots)."""
        cells = margins.against_rest()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_class, pooled = (self._at_cells(part)[0] for part in (cells, cells.sum(axis=-1)))
            of_classes = by_class[: len(self.single)]
            weights = self._weights(of_classes, ~np.isnan(of_classes), margins.true)
            whole = np.array(self._of_table(margins, penalties)).reshape(-1, *margins.true.shape[:-1])
            return self._join(by_class, weights.means(pooled[: len(self.single)]), whole)

    def _join(self, by_class: Array, averages: Array, whole: Array) -> Array:
        """Lay all slots out in order; measures come first in each part, slots last in the result."""
        leading = range(1, whole.ndim)
        flat = [part.transpose(*leading, 0, whole.ndim).reshape(*whole.shape[1:], -1) for part in (by_class, averages)]
        values = np.concatenate([*flat, whole.transpose(*leading, 0)], axis=-1)
        return values if np.isnan(self.undefined) else np.where(np.isnan(values), self.undefined, values)

    def _at_cells(self, cells: Array) -> tuple[Array, list[Array]]:
        """Every measure of a class at tables of classes against the rest, (4, ...): values, (measures, ...).

        Proportions come in two parts; what they are shares of is handed back too.
        """
        offered, shape = offered_of_classes(cells), (-1, *cells.shape[1:])
        results = [measure.of(offered) for measure in self.by_class]
        below = []
        for place in self.layout.proportions.tolist():
            numerator, denominator = results[place]
            results[place] = numerator / denominator
            below.append(denominator)
        return np.array(results).reshape(shape), below

    def _of_table(
        self, margins: Margins, penalties: dict[str, Any], measures: Sequence[Measure] | None = None
    ) -> list[Any]:
        """Every measure of the whole table, or some of them."""
        offered, found = _offered(margins), []
        for m in self.whole if measures is None else measures:
            if m.penalty is not None:
                offered |= {"penalty": penalties[m.label], "matrix": self.matrices[m.label]}
            found.append(m.divided(m.of(offered)))
        return found

    def _weights(self, values: Array, known: Marks, true: Array) -> Weights:
        """How averages weigh the values of classes, (measures, ..., classes)."""
        if np.isnan(self.undefined):
            return Weights(known, np.where(known, values, 0.0), known, true * known)
        values = np.where(known, values, self.undefined)
        return Weights(known, values, np.ones_like(known), np.broadcast_to(true, values.shape))

    # --- at the sums themselves, always twice: as they are, and with the pseudo-rows ------------------------

    @cached_property
    def pair(self) -> Margins:
        """The table's sums, the pseudo-rows spread over all of the table: (2, classes)."""
        share = np.array([[0.0], [self.unit * PSEUDO_ROWS / len(self.scale)]])
        margins = self.margins
        return Margins(margins.correct + share / len(self.scale), margins.true + share, margins.assigned + share)

    @cached_property
    def shared_cells(self) -> Array:
        """The 2x2 tables of the classes, the pseudo-rows spread over the one table behind them: (4, 2, classes)."""
        return self.pair.against_rest()

    @cached_property
    def square_cells(self) -> Array:
        """The 2x2 tables of the classes, summed over squared weights: (4, classes)."""
        if self.patterns.square is self.patterns.mass:
            return self.shared_cells[:, 0]
        return replace(self.patterns, mass=self.patterns.square).margins(self.model).against_rest()

    @cached_property
    def penalties(self) -> dict[str, Any]:
        """The penalty matrices summed over the table; spread over all cells, pseudo-rows bear the mean."""
        extra = np.array([0.0, self.unit * PSEUDO_ROWS])
        return {
            label: self.patterns.penalty(self.model, matrix) + extra * (matrix.sum() / matrix.size)
            for label, matrix in self.matrices.items()
        }

    @cached_property
    def _tables(self) -> Array:
        """All 2x2 tables that are needed, end to end, so that each formula is called once: (4, tables).

        The classes' own, with the pseudo-rows spread over each of them, and as they are; the same with the pseudo-rows
        spread over the one table behind them; and the sums of the latter two, for micro averages.
        """
        cells, classes = self.shared_cells, len(self.scale)
        tables = np.empty((4, 3 * classes + 2))
        tables[:, :classes] = cells[:, 0] + self.unit * PSEUDO_ROWS / 4
        tables[:, classes:-2] = cells.reshape(4, -1)
        tables[:, -2:] = cells.sum(axis=-1)
        return tables

    def _own(self, at_tables: Array) -> Array:
        """What was found at the classes' own tables: (..., measures, 2, classes)."""
        classes = len(self.scale)
        return at_tables[..., : 2 * classes].reshape(*at_tables.shape[:-1], 2, classes)[..., ::-1, :]

    def _behind_averages(self, at_tables: Array) -> tuple[Array, Array]:
        """What was found at the tables behind macro and weighted averages, and at those behind micro averages.

        That is (..., single measures, 2, classes) and (..., single measures, 2).
        """
        classes = len(self.scale)
        single = at_tables[..., : len(self.single), classes:]
        return single[..., :-2].reshape(*single.shape[:-1], 2, classes), single[..., -2:]

    @cached_property
    def _at_tables(self) -> tuple[Array, list[Array]]:
        """Values at these tables, (measures, tables), and what the proportions among them are shares of."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._at_cells(self._tables)

    @property
    def _table_values(self) -> Array:
        return self._at_tables[0]

    @cached_property
    def _table_slopes(self) -> Array:
        """Gradients at these tables by their cells: (4, measures, tables).

        Every cell takes a complex step in its turn (Squire & Trapp 1998).
        """
        stepped = self._tables[:, None] + CELL_STEPS
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return (self._at_cells(stepped)[0].imag / STEP).swapaxes(0, 1)

    @cached_property
    def trials(self) -> Array:
        """How many rows each class slot is a share of, for proportions: (measures, classes); NaN for others."""
        found, classes = np.full((len(self.by_class), len(self.scale)), np.nan), len(self.scale)
        if below := self._at_tables[1]:
            found[self.layout.proportions] = np.array(below)[:, classes : 2 * classes]
        return found

    @cached_property
    def _pair_weights(self) -> Weights:
        """How averages weigh classes: those for which a measure is defined, with pseudo-rows or not."""
        values, _ = self._behind_averages(self._table_values)
        return self._weights(values, ~np.isnan(values[:, :1]), self.pair.true)

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        _, pooled = self._behind_averages(self._table_values)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            whole = np.array(self._of_table(self.pair, self.penalties)).reshape(-1, 2)
            return self._join(self._own(self._table_values), self._pair_weights.means(pooled), whole)

    @cached_property
    def class_slopes(self) -> Array:
        """Gradients of the class slots by the cells of the class's table: (2, measures, classes, 4)."""
        return self._own(self._table_slopes).transpose(2, 1, 3, 0)

    @cached_property
    def influence(self) -> Influence:
        """Influences on the slots behind the class slots, at the sums as they are and then with the pseudo-rows."""
        classes, averages = len(self.scale), len(self.single) * len(AVERAGES)
        slots = averages + len(self.whole)
        slopes, penalty = np.zeros((4, 2, slots, classes)), np.zeros((2, slots))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for place, slopes_of_average in enumerate(self._average_slopes()):
                slopes[:, :, place : averages : len(AVERAGES)] = slopes_of_average.swapaxes(1, 2)
            by_sum = self._margin_slopes()
        slopes[1:, :, averages:] = by_sum[:, :-1].reshape(-1, 3, classes, 2).transpose(1, 3, 0, 2)
        penalty[:, averages:] = by_sum[:, -1].T
        base, row, column, diagonal = slopes.reshape(4, -1, classes)
        at = {averages + place: self.matrices.get(measure.label) for place, measure in enumerate(self.whole)}
        priced = {start + place: m for start in (0, slots) for place, m in at.items() if m is not None}
        return Influence(base.sum(axis=-1), row, column, diagonal, penalty.ravel(), priced)

    @cached_property
    def influences(self) -> tuple[Influence, Influence]:
        """The same, told apart."""
        half = len(self.influence.base) // 2
        return self.influence[:half], self.influence[half:]

    def _margin_slopes(self) -> Array:
        """Slopes of the measures of the whole table, by complex steps in each sum: (measures, sums, 2).

        The sums are those of the true classes, of the assigned ones, the diagonal, and last the penalty.
        """
        classes, total = len(self.scale), 3 * len(self.scale) + 1
        sums = np.array([self.pair.true, self.pair.assigned, self.pair.correct])
        if classes <= FEW_CLASSES:  # all steps at once
            steps, last = _all_steps(classes)
            true, assigned, correct = sums[:, None] + steps
            penalties = {label: penalty + last for label, penalty in self.penalties.items()}
            found = self._of_table(Margins(correct, true, assigned), penalties)
            return np.array(found).reshape(-1, total, 2).imag / STEP
        slopes = np.zeros((len(self.whole), total, 2))
        # So few steps at once that arrays stay small where a formula has them laid out.
        most = max(1, min(classes, MOST_NUMBERS // (2 * classes)))
        for part, low in product(range(3), range(0, classes, most)):
            moved: list[Any] = [*sums]
            moved[part] = Stepped(sums[part], sums[part][:, low : low + most] + 1j * STEP, low)
            true, assigned, correct = moved
            start, stop = part * classes + low, part * classes + min(low + most, classes)
            self._slope(slopes[:, start:stop], Margins(correct, true, assigned), self.penalties, MADE_OF[part])
        penalties = {label: penalty + 1j * STEP for label, penalty in self.penalties.items()}
        self._slope(slopes[:, -1], self.pair, penalties, {"penalty"})
        return slopes

    def _slope(self, out: Array, margins: Margins, penalties: dict[str, Any], stepped: set[str]) -> None:
        """Write down the slopes of those measures that ask for what takes a step; the others do not move."""
        asking = [place for place, measure in enumerate(self.whole) if stepped.intersection(measure.arguments)]
        found = self._of_table(margins, penalties, [self.whole[place] for place in asking])
        for place, value in zip(asking, found, strict=True):
            out[place] = value.imag / STEP

    def _average_slopes(self) -> tuple[Array, Array, Array]:
        """Slopes of macro, weighted and micro averages: (4, measures, 2, classes) each, by the parts of an influence.

        A row adds to one cell of every class's table, which is said as base, row, column and diagonal; to micro
        averages all classes add the same.
        """
        weights, (own, pooled) = self._pair_weights, map(_by_sum, self._behind_averages(self._table_slopes))
        by_sum = np.where(weights.known, own, 0.0)
        macro, weighted = by_sum * weights.macro, by_sum * weights.weighted
        weighted[1] += weights.drift
        return macro, weighted, pooled[..., None]


@dataclass(frozen=True)
class Weights:
    """How averages weigh the values of classes: (measures, ..., classes) each.

    Attributes:
        known: Where a value is defined.
        values: The values, with something in place of those that are not.
        counted: What the macro average is over.
        true: The rows of each class, for the weighted average.
    """

    known: Marks
    values: Array
    counted: Marks
    true: Array

    @cached_property
    def macro(self) -> Array:
        """The shares of the classes in the macro average."""
        return np.asarray(self.counted / self.counted.sum(axis=-1, keepdims=True))

    @cached_property
    def weighted(self) -> Array:
        """The shares of the classes in the weighted average."""
        return np.asarray(self.true / self.total)

    @cached_property
    def total(self) -> Array:
        """What the classes weigh in the weighted average together."""
        return np.asarray(self.true.sum(axis=-1, keepdims=True))

    @cached_property
    def weighted_mean(self) -> Array:
        """The weighted average; an infinite value of a class without rows counts for nothing in it."""
        held = np.where(self.true > 0, self.values * self.true, 0.0)
        return np.asarray(held.sum(axis=-1, keepdims=True) / self.total)

    @property
    def drift(self) -> Array:
        """How the weighted average moves with the rows of a class."""
        return np.where(self.true > 0, self.values - self.weighted_mean, 0.0) / self.total

    def means(self, micro: Array) -> Array:
        """Macro, weighted and micro: (measures, ..., 3)."""
        macro = self.values.sum(axis=-1) / self.counted.sum(axis=-1)
        return np.stack([macro, self.weighted_mean[..., 0], micro], axis=-1)


@lru_cache(maxsize=FEW_CLASSES)
def _all_steps(classes: int) -> tuple[Any, Any]:
    """Complex steps in all sums, one after the other: in the three of each class, (3, steps, 1, classes), and last."""
    total = 3 * classes + 1
    steps = 1j * STEP * np.eye(total)
    steps.setflags(write=False)
    return steps[:, :-1].reshape(total, 3, 1, classes).swapaxes(0, 1), steps[:, -1:]


def _by_sum(slopes: Array) -> Array:
    """From slopes by the cells of a class's table to slopes by all rows, its true, its assigned and its right ones."""
    tp, fn, fp, tn = slopes
    column = fp - tn
    return np.array([tn, fn - tn, column, tp - fn - column])

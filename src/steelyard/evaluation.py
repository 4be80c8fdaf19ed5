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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .registry import Measure
from .scale import Scale
from .statistics import Margins, Patterns

if TYPE_CHECKING:
    from .kinds import Array, Codes, Marks, Places, Slopes

STEP = 1e-100  # of a complex step: nothing cancels, so it can be as small as floats go
PSEUDO_ROWS = 2.0
FEW_CLASSES = 16
MOST_NUMBERS = 1 << 21  # held at once by a complex step
AVERAGES = ("macro", "weighted", "micro")
CELLS = ("tp", "fn", "fp", "tn")
VECTORS = frozenset({"correct", "true", "assigned"})


class Slot(NamedTuple):
    """Where a value belongs: a measure, and a class or an average (neither: the whole table)."""

    measure: Measure
    code: int | None = None
    average: str | None = None


def slopes_by_cell(formula: Callable[[dict[str, Any]], Any], cells: dict[str, Array]) -> Array:
    """Differentiate what is made of 2x2 tables by their cells, in one call: (measures, ..., 4).

    Every cell takes a complex step in its turn (Squire & Trapp 1998).
    """
    steps = (1j * STEP * np.eye(4)).reshape(4, 4, *[1] * cells["tp"].ndim)
    found = formula({name: cells[name] + steps[k] for k, name in enumerate(CELLS)})
    return np.asarray(np.moveaxis(found.imag, 1, -1) / STEP)


def _arguments(measure: Measure, margins: Margins, penalty: Any = None) -> dict[str, Any]:
    """Give a formula of the whole table what it asks for."""
    offered = {
        "correct": margins.correct,
        "true": margins.true,
        "assigned": margins.assigned,
        "total": margins.true.sum(axis=-1),
        "penalty": penalty,
    }
    return {name: offered[name] for name in measure.arguments if name != "matrix"}


def _pick(measure: Measure, cells: dict[str, Array]) -> dict[str, Array]:
    """Give a formula of one class what it asks for."""
    return {name: cells[name] for name in measure.arguments}


def _halves(cells: dict[str, Array]) -> Margins:
    """See each class's table as a table of two classes, the class and the rest."""
    tp, fn, fp, tn = (cells[name] for name in CELLS)
    return Margins(np.stack([tp, tn], -1), np.stack([tp + fn, fp + tn], -1), np.stack([tp + fp, fn + tn], -1))


@dataclass(frozen=True)
class Influence:
    """What a row adds to each slot, by its true class i and assigned class j.

    It is base + row[i] + column[j], and + diagonal[i] where i = j, and + penalty * matrix[i, j].
    """

    base: Array
    row: Array
    column: Array
    diagonal: Array
    penalty: Array
    matrices: tuple[Array | None, ...]

    def at(self, truth: Codes, assigned: Codes) -> Array:
        """Evaluate at pairs of classes: (slots, pairs)."""
        # Gathered a pair at a time: what is gathered for it lies side by side, a slot next to the other.
        values = np.ascontiguousarray((self.base[:, None] + self.row).T)[truth]
        values += np.ascontiguousarray(self.column.T)[assigned]
        agree = np.flatnonzero(truth == assigned)
        values[agree] += self.diagonal.T[truth[agree]]
        for place, matrix in enumerate(self.matrices):
            if matrix is not None:
                values[:, place] += self.penalty[place] * matrix[truth, assigned]
        return values.T

    def by_true_class(self) -> Iterator[Array]:
        """Go through the whole table one true class at a time: (slots, classes) each."""
        priced = [place for place, matrix in enumerate(self.matrices) if matrix is not None]
        for code in range(self.row.shape[1]):
            values = self.column + (self.base + self.row[:, code])[:, None]
            values[:, code] += self.diagonal[:, code]
            for place in priced:
                values[place] += self.penalty[place] * np.asarray(self.matrices[place])[code]
            yield values

    def __getitem__(self, slots: Any) -> Influence:
        """Some of the slots."""
        chosen = np.arange(len(self.base))[slots]
        return Influence(
            self.base[chosen],
            self.row[chosen],
            self.column[chosen],
            self.diagonal[chosen],
            self.penalty[chosen],
            tuple(self.matrices[place] for place in chosen),
        )


@dataclass(frozen=True)
class Evaluation:
    """All slots of one classifier.

    Class slots come first: measure by measure, in class order. Then the averages over classes, then what is said
    of the whole table.
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
        return (*[Slot(measure, code) for measure in self.by_class for code in range(len(self.scale))], *self.rest)

    @cached_property
    def rest(self) -> tuple[Slot, ...]:
        """The slots behind the class slots, which are as many with few classes as with many."""
        return (
            *[Slot(measure, None, average) for measure in self.single for average in AVERAGES],
            *[Slot(measure) for measure in self.whole],
        )

    @cached_property
    def spans(self) -> dict[str, tuple[list[int], range]]:
        """Where the slots of each measure are, in the order of the measures: of all classes together, of each class."""
        size = len(self.scale)
        spans: dict[str, tuple[list[int], range]] = {measure.label: ([], range(0)) for measure in self.measures}
        for place, measure in enumerate(self.by_class):
            spans[measure.label] = ([], range(place * size, (place + 1) * size))
        for place, slot in enumerate(self.rest, self.class_slots):
            spans[slot.measure.label][0].append(place)
        return spans

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
        return len(self.by_class) * len(self.scale)

    @cached_property
    def matrices(self) -> dict[str, Array]:
        """The penalty matrices of the measures that have one."""
        found = {measure.label: measure.matrix(self.scale) for measure in self.whole}
        return {label: matrix for label, matrix in found.items() if matrix is not None}

    def _constants(self, measure: Measure) -> dict[str, Any]:
        return {"matrix": self.matrices[measure.label]} if "matrix" in measure.arguments else {}

    @cached_property
    def margins(self) -> Margins:
        """The table's sums."""
        return self.patterns.margins(self.model)

    # --- values, over any leading axes ----------------------------------------------------------------------

    def evaluate(self, margins: Margins, penalties: dict[str, Any]) -> Array:
        """Compute every slot from sums: (..., slots)."""
        cells = margins.against_rest()
        pooled = {name: cell.sum(axis=-1) for name, cell in cells.items()}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_class, single = self._of_classes(cells), len(self.single)
            known = ~np.isnan(by_class[:single])
            averages = self._averages(by_class[:single], known, cells, self._of_classes(pooled)[:single])
            return self._join(by_class, averages, self._of_table(margins, penalties))

    def _join(self, by_class: Array, averages: Array, whole: Array) -> Array:
        """Lay all slots out in order; measures come first in each part, slots last in the result."""
        flat = [np.moveaxis(part, 0, -2).reshape(*part.shape[1:-1], -1) for part in (by_class, averages)]
        values = np.concatenate([*flat, np.moveaxis(whole, 0, -1)], axis=-1)
        return values if np.isnan(self.undefined) else np.where(np.isnan(values), self.undefined, values)

    def _of_classes(self, cells: dict[str, Any]) -> Any:
        """Every measure that a class has, from the tables of classes against the rest: (measures, ...)."""
        halves = _halves(cells)
        found = [m(**_pick(m, cells)) if m.per_class else m(**_arguments(m, halves)) for m in self.by_class]
        return np.stack(found) if found else np.zeros((0, *cells["tp"].shape))

    def _of_table(self, margins: Margins, penalties: dict[str, Any]) -> Any:
        """Every measure of the whole table: (measures, ...)."""
        found = [m(**_arguments(m, margins, penalties.get(m.label)), **self._constants(m)) for m in self.whole]
        return np.stack(found) if found else np.zeros((0, *margins.true.shape[:-1]))

    def _averages(self, values: Array, known: Marks, cells: dict[str, Array], micro: Array) -> Array:
        """Macro, weighted and micro of values (measures, ..., classes): (measures, ..., 3)."""
        if not np.isnan(self.undefined):
            values, known = np.where(known, values, self.undefined), np.ones_like(known)
        weight = np.where(known, cells["tp"] + cells["fn"], 0.0)
        held = np.where(known, values, 0.0)
        # An infinite value of a class without rows counts for nothing in the weighted mean.
        weighted = np.where(weight > 0, held * weight, 0.0).sum(axis=-1) / weight.sum(axis=-1)
        return np.stack([held.sum(axis=-1) / known.sum(axis=-1), weighted, micro], axis=-1)

    # --- at the sums themselves, always twice: as they are, and with the pseudo-rows ------------------------

    @cached_property
    def pair(self) -> Margins:
        """The table's sums, the pseudo-rows spread over all of the table: (2, classes)."""
        share = np.array([[0.0], [self.unit * PSEUDO_ROWS / len(self.scale)]])
        margins = self.margins
        return Margins(margins.correct + share / len(self.scale), margins.true + share, margins.assigned + share)

    @cached_property
    def shared_cells(self) -> dict[str, Array]:
        """The 2x2 tables of the classes, the pseudo-rows spread over the one table behind them: (2, classes)."""
        return self.pair.against_rest()

    @cached_property
    def penalties(self) -> dict[str, Any]:
        """The penalty matrices summed over the table; spread over all cells, pseudo-rows bear the mean."""
        extra = np.array([0.0, self.unit * PSEUDO_ROWS])
        return {
            label: self.patterns.penalty(self.model, matrix) + extra * matrix.mean()
            for label, matrix in self.matrices.items()
        }

    @cached_property
    def _tables(self) -> dict[str, Array]:
        """All 2x2 tables that are needed, end to end, so that each formula is called once.

        The classes' own; the same with the pseudo-rows spread over each of them; with the pseudo-rows spread over the
        one table behind them; and the sums of the first and of the third, for micro averages.
        """
        extra = self.unit * PSEUDO_ROWS / 4
        return {
            name: np.concatenate([plain, plain + extra, shared, [plain.sum(), shared.sum()]])
            for name, (plain, shared) in self.shared_cells.items()
        }

    @cached_property
    def _table_values(self) -> Array:
        """Values at these tables: (measures, tables)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(self._of_classes(self._tables))

    @cached_property
    def _table_slopes(self) -> Array:
        """Gradients at these tables: (measures, tables, 4)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return slopes_by_cell(self._of_classes, self._tables)

    def _own(self, at_tables: Array) -> Array:
        """What belongs to the classes' own tables: (2, measures, classes, ...)."""
        classes = len(self.scale)
        return np.stack([at_tables[:, :classes], at_tables[:, classes : 2 * classes]])

    def _shared(self, at_tables: Array) -> Array:
        """What averages are made of: (single measures, 2, classes, ...)."""
        classes, single = len(self.scale), at_tables[: len(self.single)]
        return np.stack([single[:, :classes], single[:, 2 * classes : 3 * classes]], axis=1)

    def _pooled(self, at_tables: Array) -> Array:
        """What micro averages are made of: (single measures, 2, ...)."""
        return at_tables[: len(self.single), 3 * len(self.scale) :]

    @cached_property
    def known(self) -> Marks:
        """The classes for which each measure is defined: averages are over these, with pseudo-rows or not."""
        plain = ~np.isnan(self._table_values[: len(self.single), None, : len(self.scale)])
        return np.broadcast_to(plain, (len(self.single), 2, len(self.scale)))

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        found = self._table_values
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            averages = self._averages(self._shared(found), self.known, self.shared_cells, self._pooled(found))
            whole = self._of_table(self.pair, self.penalties)
        return self._join(np.moveaxis(self._own(found), 0, 1), averages, whole)

    @cached_property
    def class_slopes(self) -> Array:
        """Gradients of the class slots by the cells of the class's table: (2, measures, classes, 4)."""
        return self._own(self._table_slopes)

    @cached_property
    def influences(self) -> tuple[Influence, Influence]:
        """Influences on the slots behind the class slots, at the sums as they are and with the pseudo-rows."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            parts = [self._average_slopes(), self._margin_slopes()]
        matrices = tuple(self.matrices.get(slot.measure.label) for slot in self.rest)
        base, row, column, diagonal, penalty = (np.concatenate(field, axis=1) for field in zip(*parts, strict=True))
        return (
            Influence(base[0], row[0], column[0], diagonal[0], penalty[0], matrices),
            Influence(base[1], row[1], column[1], diagonal[1], penalty[1], matrices),
        )

    def _margin_slopes(self) -> Slopes:
        """Slopes of the measures of the whole table, by complex steps in each sum: (2, measures, ...)."""
        classes = len(self.scale)
        blocks = [range(start, start + classes) for start in (0, classes, 2 * classes)]
        total = 3 * classes + 1
        slopes = np.empty((len(self.whole), total, 2))
        # Few classes: all steps at once. Many: so few that the arrays stay small and most of them real.
        most = total if classes <= FEW_CLASSES else max(1, min(classes, MOST_NUMBERS // (2 * classes)))
        for low in range(0, total, most):
            places = np.arange(low, min(low + most, total))[:, None, None]
            stepped = [_stepped(part, places, block) for part, block in zip(_parts(self.pair), blocks, strict=True)]
            priced = 1j * STEP * (places[..., 0] == total - 1) if low + most >= total else 0.0
            penalties = {label: penalty + priced for label, penalty in self.penalties.items()}
            for k, m in enumerate(self.whole):
                arguments = _arguments(m, Margins(*stepped), penalties.get(m.label))
                slopes[k, low : low + most] = np.imag(m(**arguments, **self._constants(m))) / STEP
        by_sum = np.moveaxis(slopes, -1, 0)
        correct, true, assigned = (by_sum[..., block.start : block.stop] for block in blocks)
        return np.zeros(by_sum.shape[:2]), true, assigned, correct, by_sum[..., -1]

    def _average_slopes(self) -> Slopes:
        """Slopes of macro, weighted and micro averages, in slot order: (2, measures * 3, ...)."""
        cells, known, classes = self.shared_cells, self.known, len(self.scale)
        own = np.where(known[..., None], self._shared(self._table_slopes), 0.0)
        pooled = np.repeat(self._pooled(self._table_slopes)[:, :, None], classes, axis=2)
        values = np.where(known, self._shared(self._table_values), self.undefined)
        counted = known if np.isnan(self.undefined) else np.ones_like(known)
        weight = np.where(counted, cells["tp"] + cells["fn"], 0.0)
        total = weight.sum(axis=-1, keepdims=True)
        mean = np.where(weight > 0, values * weight, 0.0).sum(axis=-1, keepdims=True) / total
        drift = np.zeros((3, *weight.shape))
        drift[1] = np.where(weight > 0, values - mean, 0.0) / total
        shares = np.stack([counted / counted.sum(axis=-1, keepdims=True), weight / total, np.ones_like(weight)])
        tp, fn, fp, tn = np.moveaxis(np.stack([own, own, pooled]) * shares[..., None], -1, 0)
        # A row adds to one cell of every class's table: said as base, row, column and diagonal over the classes.
        by_sum = tn.sum(axis=-1), fn - tn + drift, fp - tn, tp - fn - fp + tn, np.zeros(tn.shape[:-1])
        base, row, column, diagonal, penalty = (_by_slot(field) for field in by_sum)
        return base, row, column, diagonal, penalty


def _parts(margins: Margins) -> tuple[Array, Array, Array]:
    return margins.correct, margins.true, margins.assigned


def _stepped(part: Array, places: Places, block: range) -> Any:
    """Sums with a complex step in one of them after the other; as they are where no step falls among them."""
    if places[-1, 0, 0] < block.start or places[0, 0, 0] >= block.stop:
        return part
    return part + 1j * STEP * (places == np.arange(block.start, block.stop))


def _by_slot(field: Array) -> Array:
    """Averages, measures and the pair of sums, (3, measures, 2, ...), to (2, measures * 3, ...)."""
    return np.moveaxis(field, (2, 1, 0), (0, 1, 2)).reshape(2, -1, *field.shape[3:])

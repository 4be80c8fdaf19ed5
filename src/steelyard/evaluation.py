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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .registry import Measure
from .scale import Scale
from .statistics import Margins, Patterns

if TYPE_CHECKING:
    from .kinds import Array, Codes, Marks, Slopes

STEP = 1e-100  # of a complex step: nothing cancels, so it can be as small as floats go
PSEUDO_ROWS = 2.0
MOST_NUMBERS = 1 << 21  # held at once by a complex step
AVERAGES = ("macro", "weighted", "micro")
CELLS = ("tp", "fn", "fp", "tn")
VECTORS = frozenset({"correct", "true", "assigned"})


@dataclass(frozen=True)
class Slot:
    """Where a value belongs: a measure, and a class or an average (neither: the whole table)."""

    measure: Measure
    code: int | None = None
    average: str | None = None


def slopes_by_cell(measure: Measure, cells: dict[str, Array]) -> Array:
    """Differentiate a formula of one class by the cells of its table, elementwise: (..., 4).

    One call with a complex step in each argument in turn (Squire & Trapp 1998).
    """
    asked = measure.arguments
    shape = (len(asked), *[1] * cells["tp"].ndim)
    steps = 1j * STEP * np.eye(len(asked))
    found = measure(**{name: cells[name] + steps[k].reshape(shape) for k, name in enumerate(asked)})
    slopes = np.zeros((*cells["tp"].shape, 4))
    for k, name in enumerate(asked):
        slopes[..., CELLS.index(name)] = found[k].imag
    return slopes / STEP


def slopes_by_margin(measure: Measure, margins: Margins, penalty: Any, constants: dict[str, Any]) -> Slopes:
    """Differentiate a formula of the whole table by everything it asks for, over one leading axis."""
    arguments = _arguments(measure, margins, penalty)
    rows, classes = margins.true.shape
    most = max(1, MOST_NUMBERS // (rows * classes))
    slopes = {}
    for name, value in arguments.items():
        if name not in VECTORS:
            slopes[name] = measure(**{**arguments, name: value + 1j * STEP}, **constants).imag / STEP
            continue
        slopes[name] = np.empty((rows, classes))
        for low in range(0, classes, most):
            steps = 1j * STEP * np.eye(classes)[low : low + most, None]
            found = measure(**{**arguments, name: value + steps}, **constants).imag
            slopes[name][:, low : low + most] = found.T / STEP
    none, nothing = np.zeros((rows, classes)), np.zeros(rows)
    vectors = [slopes.get(name, none) for name in ("true", "assigned", "correct")]
    return slopes.get("total", nothing), *vectors, slopes.get("penalty", nothing)


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
        values = self.base[:, None] + self.row[:, truth] + self.column[:, assigned]
        values += np.where(truth == assigned, self.diagonal[:, truth], 0.0)
        for place, matrix in enumerate(self.matrices):
            if matrix is not None:
                values[place] += self.penalty[place] * matrix[truth, assigned]
        return values

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
        return (
            *[Slot(measure, code) for measure in self.by_class for code in range(len(self.scale))],
            *[Slot(measure, None, average) for measure in self.single for average in AVERAGES],
            *[Slot(measure) for measure in self.whole],
        )

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
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            single, halved = self._single(cells), self._halved(cells)
            averages = self._averages(single, ~np.isnan(single), cells)
            return self._join(single, halved, averages, self._whole(margins, penalties))

    def _join(self, single: Array, halved: Array, averages: Array, whole: Array) -> Array:
        """Lay all slots out in order; measures come first in each part, slots last in the result."""
        by_class = np.concatenate([single, halved])
        flat = [np.moveaxis(part, 0, -2).reshape(*part.shape[1:-1], -1) for part in (by_class, averages)]
        values = np.concatenate([*flat, whole], axis=-1)
        return values if np.isnan(self.undefined) else np.where(np.isnan(values), self.undefined, values)

    def _single(self, cells: dict[str, Array]) -> Array:
        return _stacked([m(**_pick(m, cells)) for m in self.single], cells["tp"].shape)

    def _halved(self, cells: dict[str, Array]) -> Array:
        halves = _halves(cells)
        rest = self.by_class[len(self.single) :]
        return _stacked([m(**_arguments(m, halves)) for m in rest], cells["tp"].shape)

    def _whole(self, margins: Margins, penalties: dict[str, Any]) -> Array:
        columns = [m(**_arguments(m, margins, penalties.get(m.label)), **self._constants(m)) for m in self.whole]
        return np.moveaxis(_stacked(columns, margins.true.shape[:-1]), 0, -1)

    def _averages(self, values: Array, known: Marks, cells: dict[str, Array]) -> Array:
        """Macro, weighted and micro of values (measures, ..., classes): (measures, ..., 3)."""
        if not np.isnan(self.undefined):
            values, known = np.where(known, values, self.undefined), np.ones_like(known)
        weight = np.where(known, cells["tp"] + cells["fn"], 0.0)
        held = np.where(known, values, 0.0)
        # An infinite value of a class without rows counts for nothing in the weighted mean.
        weighted = np.where(weight > 0, held * weight, 0.0).sum(axis=-1) / weight.sum(axis=-1)
        pooled = {name: value.sum(axis=-1) for name, value in cells.items()}
        micro = _stacked([m(**_pick(m, pooled)) for m in self.single], pooled["tp"].shape)
        return np.stack([held.sum(axis=-1) / known.sum(axis=-1), weighted, micro], axis=-1)

    # --- at the sums themselves, always twice: as they are, and with the pseudo-rows ------------------------

    @cached_property
    def pair(self) -> Margins:
        """The table's sums, the pseudo-rows spread over all of the table: (2, classes)."""
        share = np.array([[0.0], [self.unit * PSEUDO_ROWS / len(self.scale)]])
        margins = self.margins
        return Margins(margins.correct + share / len(self.scale), margins.true + share, margins.assigned + share)

    @cached_property
    def own_cells(self) -> dict[str, Array]:
        """The 2x2 tables of the classes, the pseudo-rows spread over each of them: (2, classes)."""
        extra = np.array([[0.0], [self.unit * PSEUDO_ROWS / 4]])
        return {name: cell + extra for name, cell in self.margins.against_rest().items()}

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
    def known(self) -> Marks:
        """The classes for which each measure is defined: averages are over these, with pseudo-rows or not."""
        return np.asarray(~np.isnan(self._shared_values[:, :1]))

    @cached_property
    def _shared_values(self) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._single(self.shared_cells)

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            single, halved = self._single(self.own_cells), self._halved(self.own_cells)
            known = np.broadcast_to(self.known, single.shape)
            averages = self._averages(self._shared_values, known, self.shared_cells)
            return self._join(single, halved, averages, self._whole(self.pair, self.penalties))

    @cached_property
    def class_slopes(self) -> Array:
        """Gradients of the class slots by the cells of the class's table: (2, measures, classes, 4)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slopes = [_class_slopes(measure, self.own_cells) for measure in self.by_class]
        return np.moveaxis(_stacked(slopes, (2, len(self.scale), 4)), 0, 1)

    @cached_property
    def influences(self) -> tuple[Influence, Influence]:
        """Influences on the slots behind the class slots, at the sums as they are and with the pseudo-rows."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            parts = self._average_slopes()
            for m in self.whole:
                slopes = slopes_by_margin(m, self.pair, self.penalties.get(m.label), self._constants(m))
                parts.append(tuple(slope[:, None] for slope in slopes))
        matrices = tuple(self.matrices.get(slot.measure.label) for slot in self.slots[self.class_slots :])
        base, row, column, diagonal, penalty = (
            np.concatenate([part[place] for part in parts], axis=1) for place in range(5)
        )
        return (
            Influence(base[0], row[0], column[0], diagonal[0], penalty[0], matrices),
            Influence(base[1], row[1], column[1], diagonal[1], penalty[1], matrices),
        )

    def _average_slopes(self) -> list[tuple[Array, ...]]:
        """Slopes of macro, weighted and micro averages, in slot order: (2, measures * 3, ...)."""
        if not self.single:
            return []
        cells, classes = self.shared_cells, len(self.scale)
        both = {name: np.append(cell, cell.sum(-1, keepdims=True), -1) for name, cell in cells.items()}
        raw = np.stack([slopes_by_cell(measure, both) for measure in self.single])
        known = np.broadcast_to(self.known, self._shared_values.shape)
        own = np.where(known[..., None], raw[:, :, :classes], 0.0)
        pooled = np.repeat(raw[:, :, classes:], classes, axis=2)
        values = np.where(known, self._shared_values, self.undefined)
        counted = known if np.isnan(self.undefined) else np.ones_like(known)
        weight = np.where(counted, cells["tp"] + cells["fn"], 0.0)
        total = weight.sum(axis=-1, keepdims=True)
        mean = np.where(weight > 0, values * weight, 0.0).sum(axis=-1, keepdims=True) / total
        drift = np.where(weight > 0, values - mean, 0.0) / total
        none = np.zeros_like(drift)
        shares = [counted / counted.sum(axis=-1, keepdims=True), weight / total, np.ones_like(drift)]
        parts = [
            _as_margins(slope * share[..., None], extra)
            for slope, share, extra in zip((own, own, pooled), shares, (none, drift, none), strict=True)
        ]
        joined = [np.stack([part[k] for part in parts], axis=1) for k in range(5)]  # (measures, 3, 2, ...)
        return [tuple(np.moveaxis(f.reshape(-1, *f.shape[2:]), 1, 0) for f in joined)]


def _stacked(parts: Sequence[Array], shape: tuple[int, ...]) -> Array:
    return np.stack(parts) if parts else np.zeros((0, *shape))


def _as_margins(slope: Array, drift: Array) -> Slopes:
    """A row adds to one cell of every class's table: said as base, row, column and diagonal over the classes."""
    tp, fn, fp, tn = (slope[..., place] for place in range(4))
    return tn.sum(axis=-1), fn - tn + drift, fp - tn, tp - fn - fp + tn, np.zeros(tn.shape[:-1])


def _class_slopes(measure: Measure, cells: dict[str, Array]) -> Array:
    """Differentiate by the cells of the class's table, a measure of the whole table too: (2, classes, 4)."""
    if measure.per_class:
        return slopes_by_cell(measure, cells)
    halves = _halves(cells)
    flat = Margins(*[part.reshape(-1, 2) for part in (halves.correct, halves.true, halves.assigned)])
    total, true, assigned, correct, _ = slopes_by_margin(measure, flat, None, {})
    by_cell = [
        correct[:, 0] + true[:, 0] + assigned[:, 0],
        true[:, 0] + assigned[:, 1],
        true[:, 1] + assigned[:, 0],
        correct[:, 1] + true[:, 1] + assigned[:, 1],
    ]
    return (np.stack(by_cell, axis=-1) + total[:, None]).reshape(*cells["tp"].shape, 4)

"""The formulas of count measures, evaluated all at once on stacks of tables: values, and slopes by complex step.

Many are ratios of two sums of cells, and which cells these are a formula tells itself when it is given tables with one
row each. All of them together are then one product of matrices, and so are their slopes. The others are called: with
numbers for their values, and for their slopes with numbers of which each takes a complex step in its turn. Nothing that
is kept here depends on data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..maths.formula_arguments import STEP, SUM_STEPS, SUMS, ComplexSteps, by_name, offered_of_classes, slope
from ..states.statistics import Margins
from .registry import Measure

if TYPE_CHECKING:
    from ..core.typing import Array, Places


FEW_CLASSES = 16  # of so many, whole tables are laid out
MOST_NUMBERS = 1 << 21  # held at once by a complex step
MADE_OF = ({"true", "total"}, {"assigned"}, {"correct"})  # by which names formulas ask for the sums of a table


@dataclass(frozen=True, eq=False)
class Formulas:
    """Measures of counts, told apart by what they are made of."""

    measures: tuple[Measure, ...]

    @cached_property
    def single(self) -> tuple[Measure, ...]:
        """The measures of one class against the rest."""
        return tuple(measure for measure in self.measures if measure.per_class)

    @cached_property
    def whole(self) -> tuple[Measure, ...]:
        """The measures of the whole table."""
        return tuple(measure for measure in self.measures if not measure.per_class)

    @cached_property
    def priced(self) -> tuple[Measure, ...]:
        """Those of the whole table that have a penalty matrix."""
        return tuple(measure for measure in self.whole if measure.penalty is not None)

    @cached_property
    def priced_places(self) -> Places:
        """Where these are among those of the whole table."""
        return np.array([place for place, measure in enumerate(self.whole) if measure.penalty is not None], np.intp)

    @cached_property
    def unpriced_places(self) -> Places:
        """Where the others are."""
        return np.array([place for place, measure in enumerate(self.whole) if measure.penalty is None], np.intp)

    @cached_property
    def by_class(self) -> tuple[Measure, ...]:
        """The measures that have a value for every class: a class and the rest make a whole table of two."""
        return (*self.single, *[measure for measure in self.whole if measure.penalty is None])

    def alone(self, measure: Measure) -> Formulas:
        """One of the measures by itself."""
        if measure.label not in self._alone:
            self._alone[measure.label] = Formulas((measure,))
        return self._alone[measure.label]

    @cached_property
    def _alone(self) -> dict[str, Formulas]:
        return {}

    @cached_property
    def ratios(self) -> Places:
        """Which measures that have a value for every class are ratios of two sums of cells."""
        return np.array([place for place, measure in enumerate(self.by_class) if measure.cells is not None], np.intp)

    @cached_property
    def _called(self) -> dict[int, Measure]:
        """The others, which have to be called."""
        return {place: measure for place, measure in enumerate(self.by_class) if measure.cells is None}

    @cached_property
    def _cells(self) -> Array:
        """The cells that the ratios are made of, (2, ratios, 4)."""
        return np.array([self.by_class[place].cells for place in self.ratios]).reshape(-1, 2, 4).swapaxes(0, 1)

    @cached_property
    def _sums(self) -> Array:
        """The cells of all sums that are needed: those that formulas ask for, and both parts of the ratios."""
        return np.concatenate([SUMS, self._cells.reshape(-1, 4)])

    def at_classes(self, cells: Array) -> Array:
        """Values at tables of classes against the rest, (4, ...): (measures, ...)."""
        offered = offered_of_classes(cells)
        found = [measure.value_of(offered) for measure in self.by_class]
        return np.array(found).reshape(-1, *cells.shape[1:])

    def sloping_at_classes(self, cells: Array) -> tuple[Array, Array, Array]:
        """Values at (4, tables), what the ratios are divided by, and slopes by the cells: (4, measures, tables)."""
        sums, values = self._sums @ cells, np.empty((len(self.by_class), cells.shape[1]))
        slopes, asked = np.empty((4, *values.shape)), sums[: len(SUMS)]
        above, below = sums[len(SUMS) :].reshape(2, len(self.ratios), cells.shape[1])
        if len(self.ratios):
            values[self.ratios] = shares = above / below
            above_slopes, below_slopes = self._cells.swapaxes(1, 2)[..., None]
            slopes[:, self.ratios] = (above_slopes - below_slopes * shares) / below
        if self._called:
            plain, stepped = by_name(asked), by_name(asked[:, None] + SUM_STEPS)
            found = []
            for place, measure in self._called.items():
                values[place] = measure.value_of(plain)
                found.append(measure.value_of(stepped))
            slopes[:, [*self._called]] = slope(found).swapaxes(0, 1)
        return values, below, slopes

    def at_table(
        self,
        measures: Sequence[Measure],
        margins: Margins,
        penalties: Mapping[str, Any],
        matrices: Mapping[str, Array],
    ) -> list[Any]:
        """Some measures of the whole table, from its sums."""
        offered: dict[str, Any] = {**vars(margins), "total": margins.true.sum(axis=-1)}
        found = []
        for measure in measures:
            if measure.penalty is not None:
                offered |= {"penalty": penalties[measure.label], "matrix": matrices[measure.label]}
            found.append(measure.value_of(offered))
        return found

    def slopes_at_table(
        self,
        measures: Sequence[Measure],
        margins: Margins,
        penalties: Mapping[str, Any],
        matrices: Mapping[str, Array],
    ) -> Array:
        """Slopes of some measures of the whole table by each of its sums: (measures, sums, ...).

        The sums are those of the true classes, of the assigned ones, the diagonal, and last the penalty.
        """
        rows, classes = margins.true.shape
        total, sums = 3 * classes + 1, np.array([margins.true, margins.assigned, margins.correct])
        if classes <= FEW_CLASSES:  # all steps at once
            steps, last = _all_steps(classes)
            true, assigned, correct = sums[:, None] + steps
            stepped = {label: penalty + last for label, penalty in penalties.items()}
            found = self.at_table(measures, Margins(correct, true, assigned), stepped, matrices)
            return np.asarray(slope(found).reshape(-1, total, rows))
        slopes = np.zeros((len(measures), total, rows))
        # So few steps at once that arrays stay small where a formula has them laid out.
        most = max(1, min(classes, MOST_NUMBERS // (rows * classes)))
        moves: list[tuple[slice, set[str], Margins, Mapping[str, Any]]] = []
        for part, low in product(range(3), range(0, classes, most)):
            moved: list[Any] = [*sums]
            moved[part] = ComplexSteps(sums[part], sums[part][:, low : low + most] + STEP, low)
            true, assigned, correct = moved
            places = slice(part * classes + low, part * classes + min(low + most, classes))
            moves.append((places, MADE_OF[part], Margins(correct, true, assigned), penalties))
        stepped = {label: penalty + STEP for label, penalty in penalties.items()}
        moves.append((slice(total - 1, total), {"penalty"}, margins, stepped))
        for places, names, at, priced in moves:
            # Those that ask for what takes a step; the others do not move.
            asking = [place for place, measure in enumerate(measures) if names.intersection(measure.arguments)]
            found = self.at_table([measures[place] for place in asking], at, priced, matrices)
            for place, value in zip(asking, found, strict=True):
                slopes[place, places] = slope(value)
        return slopes


@lru_cache(maxsize=FEW_CLASSES)
def _all_steps(classes: int) -> tuple[Any, Any]:
    """Complex steps in all sums, one after the other: in the three of each class, (3, steps, 1, classes), and last."""
    total = 3 * classes + 1
    steps = STEP * np.eye(total)
    steps.setflags(write=False)
    return steps[:, :-1].reshape(total, 3, 1, classes).swapaxes(0, 1), steps[:, -1:]

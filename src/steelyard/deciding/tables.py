"""Count measures of many tables of two by two at once, each with its interval: a curve over thresholds is one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadOption
from ..evaluating.evaluation import PSEUDO_ROWS, Slot
from ..evaluating.formulas import CELL_STEPS, STEP
from ..evaluating.influence import Spread
from ..registry import Measure
from ..scale import Scale
from ..sums.cells import offered_of_classes
from ..uncertainty.intervals import critical_values, interval_method, intervals

if TYPE_CHECKING:
    from ..kinds import Array


@dataclass(frozen=True)
class Tables:
    """Tables of a class against the rest, one a threshold.

    Attributes:
        cells: What is in them: tp, fn, fp, tn, (4, tables).
        squares: The same, summed over squared weights.
        scale: The two classes.
        code: The class.
        unit: What one independent observation weighs.
    """

    cells: Array
    squares: Array
    scale: Scale
    code: int
    unit: float = 1.0

    def values(self, measures: Sequence[Measure]) -> Array:
        """The values of some measures: (measures, tables)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._at(measures, self.cells)

    def _at(self, measures: Sequence[Measure], cells: Array) -> Array:
        results = self._results(measures, cells)
        found = [measure.divided(result) for measure, result in zip(measures, results, strict=True)]
        return np.array(found).reshape(len(measures), -1)

    def _results(self, measures: Sequence[Measure], cells: Any) -> list[Any]:
        offered, found = offered_of_classes(cells), []
        for measure in measures:
            if (matrix := self._matrix(measure)) is not None:
                tp, fn, fp, tn = cells
                penalty = tp * matrix[0, 0] + fn * matrix[0, 1] + fp * matrix[1, 0] + tn * matrix[1, 1]
                offered |= {"penalty": penalty, "matrix": matrix}
            found.append(measure.of(offered))
        return found

    def _matrix(self, measure: Measure) -> Array | None:
        """What each kind of assignment costs, the class before the other."""
        if measure.penalty is None:
            return None
        if len(self.scale) > 2:
            raise BadOption(
                f"{measure.label} tells all {len(self.scale)} classes apart, and a threshold only two",
                mend="Choose a measure of one class",
            )
        order = [self.code, 1 - self.code]
        return np.asarray(measure.matrix(self.scale))[np.ix_(order, order)]

    def at(self, place: int) -> Tables:
        """One of the tables."""
        return replace(self, cells=self.cells[:, [place]], squares=self.squares[:, [place]])

    def bounds(self, measures: Sequence[Measure], level: float) -> tuple[Array, Array]:
        """Lower and upper bounds of these values, every one for itself: (measures, tables) each."""
        shape = len(measures), self.cells.shape[1]
        methods = [interval_method(Slot(measure, 0)) for measure in measures for _ in range(shape[1])]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            trials = self._trials(measures)
            spread = Spread(self._errors(measures, self.cells, 0.0), self._errors(measures, self._smoothed, 1.0))
            centre = self._at(measures, self._smoothed)
            critical = critical_values(level, np.full(len(methods), np.inf))
            places = {method: np.flatnonzero([other == method for other in methods]) for method in set(methods)}
            low, high = intervals(
                places, self.values(measures).ravel(), centre.ravel(), spread, trials.ravel(), critical
            )
        return low.reshape(shape), high.reshape(shape)

    def _trials(self, measures: Sequence[Measure]) -> Array:
        """How many independent trials are behind each proportion: as many as would have the same variance."""
        found = np.full((len(measures), self.cells.shape[1]), np.nan)
        pairs = zip(self._results(measures, self.cells), self._results(measures, self.squares), strict=True)
        for place, (measure, (whole, squares)) in enumerate(zip(measures, pairs, strict=True)):
            if measure.proportion:
                found[place] = np.square(whole[1]) / squares[1]
        return found

    @cached_property
    def _smoothed(self) -> Array:
        return self.cells + self.unit * PSEUDO_ROWS / 4

    def errors(self, measures: Sequence[Measure]) -> Array:
        """Standard errors of these values: (measures, tables)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._errors(measures, self.cells, 0.0).reshape(len(measures), -1)

    def _errors(self, measures: Sequence[Measure], cells: Array, pseudo: float) -> Array:
        """Standard errors by complex steps in each cell, pseudo-rows included where they were added."""
        stepped = self._results(measures, cells[:, None] + CELL_STEPS)
        slopes = np.array([np.broadcast_to(measure.divided(result).imag, cells.shape) / STEP
                           for measure, result in zip(measures, stepped, strict=True)])  # fmt: skip
        extra = pseudo * PSEUDO_ROWS * self.unit**2 * np.square(slopes).mean(axis=1)
        return np.asarray(np.sqrt((np.square(slopes) * self.squares).sum(axis=1) + extra).ravel())

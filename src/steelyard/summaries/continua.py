"""Measured values of rows that were not held: measures of them are formulas of means, so sums are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..cached import cached_property
from ..continuum.evaluation import ContinuumEvaluation, variance_around
from ..door.measured import DOUBTS
from ..evaluating.evaluation import Slot
from ..evaluating.row_evaluation import Found, key_of
from ..sums.rows import Rows
from ..sums.statistics import CONTINUUM, Patterns
from ..uncertainty.hall import Tails
from .recipe import Recipe, Totalling
from .summed import SummedEvaluation

if TYPE_CHECKING:
    from ..kinds import Array

UNSEEN = "how far it scatters is not known of merged tallies: assess the files together"
ROUNDING = 1e-12  # of squares that were summed before their mean was known


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> ContinuumEvaluation:
    """Some rows of one classifier, by all measures of measured values."""
    return ContinuumEvaluation(rows, model, recipe.scale, recipe.made_of(CONTINUUM), np.nan, 1.0)


class Measuring(Totalling):
    """Sums up the columns that formulas ask for; and these with every estimated deviation a bit larger and smaller."""

    def of_model(self, model: int, rows: Rows) -> list[Array]:
        """The sums of one classifier over some rows."""
        evaluation = evaluation_of(self.recipe, model, rows)
        sums, doubts = np.split(evaluation.column_sums(evaluation.doubted), [len(evaluation.asked)])
        return [np.stack([sums, *(each.column_sums() for each in evaluation.moved())]), doubts.reshape(-1, 4)]


@dataclass(frozen=True)
class SummedContinuum(SummedEvaluation, ContinuumEvaluation):
    """All slots of one classifier that are made of sums of what its rows measured."""

    @property
    def one_by_one(self) -> bool:
        """All sums are there already."""
        return False

    @cached_property
    def _state(self) -> tuple[Array, Array]:
        parts = self.summary.states[CONTINUUM.name].parts
        return parts[2 * self.model], parts[2 * self.model + 1]

    @cached_property
    def _summed(self) -> ContinuumEvaluation:
        """What was summed up, of the few rows that were kept."""
        return evaluation_of(self.summary.recipe, self.model, self.rows)

    @cached_property
    def _sums(self) -> list[dict[str, float]]:
        return [dict(zip(self._summed.asked, row, strict=True)) for row in (self._state[0] / self.total).tolist()]

    def doubt(self, name: str) -> float:
        """How many standard errors what was seen is from what the response model foresees.

        Rows of a cluster, which may lie far apart, pass for rows of their own here. If anything, that makes the doubt
        larger, and the estimate is taken sooner that believes less of the model.
        """
        seen, foreseen = DOUBTS[name]
        gap = self.means[seen] - self.means[foreseen]
        sums = self._state[1][self._summed.doubted.index(name)]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = float(variance_around(gap, self.total, sums))
        return gap / variance**0.5 if variance > ROUNDING * sums[-1] / self.total**2 else 0.0

    def told_late(self, slot: Slot) -> bool:
        """Which columns are behind a slot is known before, how steep it is not."""
        del slot
        return True

    @cached_property
    def means(self) -> dict[str, float]:
        """The means of all columns."""
        return self._sums[0]

    @cached_property
    def _moves(self) -> list[dict[str, float]]:
        pairs = zip(self._sums[1::2], self._sums[2::2], strict=True)
        return [{name: (up[name] - down[name]) / 2 for name in up} for up, down in pairs]

    @property
    def patterns(self) -> Patterns:
        """Made-up rows; and behind them what every estimated deviation does, with no row behind it."""
        rows, more = super().patterns, len(self._moves)
        ones, none = np.ones(len(rows.mass) + more), np.zeros(len(rows.mass) + more, np.int64)
        count = np.append(rows.count, np.zeros(more))
        return Patterns(rows.classes, none, np.zeros((0, len(ones)), np.int64), count, ones, ones, None)

    def influence(self, slot: Slot, smooth: bool = False) -> Array:
        """What made-up rows add to a slot, and then, what every estimated deviation does."""
        slopes = self.slopes(slot, self._offered(slot), self.means)
        moves = [sum(slope * move[name] for name, slope in slopes.items()) for move in self._moves]
        return np.append(super().influence(slot, smooth), moves)

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread, and how skewed that is."""
        key = key_of(slot)
        if key not in self.found:
            value = self._defined(slot)
            late = self.found_late(slot, (value, value))
            unknown = late is None or late.freedom[0] != late.freedom[0] or np.isnan(value)
            variance = np.nan if unknown else self._scattered(slot)
            freedom = self.drawn - 1 if late is None else late.freedom[0]
            self.tails[key] = Tails.none(1) if np.isnan(value) else self._tails(slot)
            self.found[key] = Found((value, value), (variance, variance), (freedom, freedom))
        return self.found[key]

    def _defined(self, slot: Slot) -> float:
        """The value of a slot; NaN where it is undefined, as the root of a negative number is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.value(slot)

    def remark(self, slot: Slot) -> str:
        """What the measure says of it, and why there is no interval where rows were not seen again."""
        said = super().remark(slot)
        found = self.result(slot)
        unseen = self.summary.products is None and np.isnan(found.variance[0]) and not np.isnan(found.value[0])
        return "; ".join(filter(None, [said, UNSEEN if unseen else ""]))

    def _scattered(self, slot: Slot) -> float:
        return float(np.square(self.influence(slot)).sum() + np.square(self.wavering(slot)).sum())

    def wavering(self, slot: Slot) -> Array:
        """What a choice between two estimates adds to a slot; whether it goes with others, no row is left to tell."""
        found = np.zeros(len(self.summary.recipe.models))
        found[self.model] = slot.measure.wavering_of(self._offered(slot))
        return found

    def _tails(self, slot: Slot) -> Tails:
        products = self.summary.products
        if products is None or self.known(slot) is None:
            return Tails.none(1)
        moves = self.influence(slot)[products.factor.shape[1] :]
        steady = np.square(moves).sum() + np.square(self.wavering(slot)).sum()
        return products.tails((self.model, *key_of(slot)), float(steady))

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows)."""
        columns = evaluation_of(self.summary.recipe, self.model, rows)
        found = np.zeros((len(slots), len(rows)))
        with np.errstate(invalid="ignore"):
            for place, slot in enumerate(slots):
                if np.isnan(self._defined(slot)):
                    continue  # beside what is undefined, a step along the imaginary axis is a slope of nothing
                for name, slope in self.slopes(slot, self._offered(slot), self.means).items():
                    found[place] += slope * (columns.column(name) - self.means[name])
        return found / self.total

"""Scores of forecasts of rows that were not held: a score is a mean over rows, so sums are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...core.cached import cached_property
from ...core.scale import Label
from ...core.threads import long_chunks
from ...inference.row_evaluation import AVERAGES, Found, key_of
from ...inference.table_evaluation import Slot
from ...inference.unheard import heard
from ...inputs.prediction import Scores
from ...maths.joint_normal import Ratio
from ...maths.moments import Moments
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.statistics import FORECASTS
from ..forecasts.evaluation import ForecastEvaluation, gradient
from ..forecasts.piece import Piece
from .recipe import Batchwise, Recipe, Totals
from .summed import SummedEvaluation

if TYPE_CHECKING:
    from ...core.typing import Array


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> ForecastEvaluation:
    """Some rows of one classifier, by all measures of its forecasts."""
    measures = recipe.made_of(FORECASTS)
    kind = heard(ForecastEvaluation, rows, model)
    return kind(rows, model, recipe.scale, measures, np.nan, 1.0, models=recipe.models)


def summed_columns(evaluation: ForecastEvaluation) -> tuple[Slot, ...]:
    """The columns that are summed: those that do not depend on the shares of classes, which the rest must tell."""
    columns = [slot for slot in evaluation.columns if slot.average != AVERAGES[1]]
    for measure in evaluation.measures:
        if measure.per_class:
            columns += [Slot(measure, code) for code in range(len(evaluation.scale))]
    return tuple({key_of(slot): slot for slot in columns}.values())


def _serves_both(measure: Measure) -> bool:
    """Whether what a row is worth stays the same when everything is said of the other one of two classes."""
    chance, happened = np.tile(np.linspace(0.0, 1.0, 12), 2), np.repeat([0.0, 1.0], 12)
    with np.errstate(all="ignore"):
        here = measure.of({"chance": chance, "happened": happened})
        there = measure.of({"chance": 1 - chance, "happened": 1 - happened})
    return bool(np.allclose(here, there, rtol=1e-12, atol=1e-12))


def _bounded(measures: Sequence[Measure]) -> list[float]:
    """The probabilities below which rows are counted, since they are clipped or make a score infinite."""
    return sorted({float(each.parameters["clip"]) for each in measures if each.name == "log_score"} | {0.0})


def _infinite(slot: Slot) -> bool:
    """Whether a column may be infinite: that of logarithms that are not clipped."""
    return slot.measure.name == "log_score" and not slot.measure.parameters["clip"]


def _finite(evaluation: ForecastEvaluation, piece: Piece, slot: Slot) -> Array:
    """What rows are worth, infinite ones nothing: they are counted, since nothing can be taken off infinity again."""
    worth = evaluation.worth(piece, slot)
    return np.where(piece.own <= 0, 0.0, worth) if _infinite(slot) else worth


class Summing(Batchwise):
    """Sums up what rows are worth, by every score of every classifier."""

    def __init__(self, recipe: Recipe) -> None:
        """Start with no rows."""
        super().__init__(self._of_all)
        self.recipe = recipe
        classwise = [measure for measure in recipe.made_of(FORECASTS) if measure.per_class]
        self.both = {measure.label for measure in classwise if _serves_both(measure)}

    def _of_all(self, rows: Rows, clusters: tuple[Label, ...]) -> Totals:
        """The sums of all classifiers, one after the other."""
        del clusters
        return Totals(tuple(part for model in range(len(self.recipe.models)) for part in self._of_model(model, rows)))

    def _of_model(self, model: int, rows: Rows) -> list[Array]:
        """The sums of one classifier over some rows, and how many of them are clipped or make a score infinite."""
        evaluation = evaluation_of(self.recipe, model, rows)
        columns, classes = summed_columns(evaluation), len(self.recipe.scale)
        limits, told_by = _bounded(self.recipe.made_of(FORECASTS)), self._told_by(columns, rows.scores[model])
        places, inverse = np.unique(told_by, return_inverse=True)
        columns = tuple(columns[place] for place in places)
        summing = replace(evaluation.sums_of(columns), worth=partial(_finite, evaluation))
        sums, shift, lost = summing.none(), np.zeros(len(columns)), np.zeros(len(limits))
        with np.errstate(divide="ignore", invalid="ignore"):
            for low, high in long_chunks(0, len(rows), classes):
                piece = evaluation.piece(low, high, more=summing.room)
                weights = None if rows.sums is None else (rows.sums[low:high, 1], rows.sums[low:high, 2])
                summing.add(sums, piece, shift, weights)
                marked = [piece.own < limit if limit else piece.own <= 0 for limit in limits]
                if rows.sums is None:
                    lost += [np.count_nonzero(marks) for marks in marked]
                else:
                    lost += [rows.sums[low:high, 0][marks].sum() for marks in marked]
        told = summing.told(sums, evaluation.class_square, weighted=rows.sums is not None)
        return [told[:, inverse], lost]

    def _told_by(self, columns: Sequence[Slot], said: Scores) -> list[int]:
        """The place of a column that has the sums of each: where one score serves both classes, theirs are alike."""
        keys = [key_of(slot) for slot in columns]
        alone = {label for label, _ in keys if label in self.both and len(said.columns) == 1}
        return [keys.index((key[0], said.speaks) if key[0] in alone else key) for key in keys]


@dataclass(frozen=True)
class SummedForecasts(SummedEvaluation, ForecastEvaluation):
    """All slots of one classifier that are made of sums of what its forecasts were worth."""

    @property
    def one_by_one(self) -> bool:
        """All sums are there already."""
        return False

    @cached_property
    def _state(self) -> tuple[Array, Array]:
        parts = self.summary.states[FORECASTS.name].parts
        return parts[2 * self.model], parts[2 * self.model + 1]

    @cached_property
    def moments(self) -> Moments:
        """Sums over the rows; those of averages by the shares of classes follow from those of the classes."""
        recipe = self.summary.recipe
        known = summed_columns(evaluation_of(recipe, self.model, self.rows))
        places = {key_of(slot): place for place, slot in enumerate(known)}
        sums = np.full((4, len(self.columns), len(self.scale)), np.nan)
        for row, slot in enumerate(self.columns):
            if key_of(slot) in places:
                sums[:, row] = self._state[0][:, places[key_of(slot)]]
            else:
                of_classes = [places[slot.measure.label, code] for code in range(len(self.scale))]
                sums[0, row] = self.share @ self._state[0][0, of_classes]
            if _infinite(slot) and self.lost(0.0) > 0:
                sums[:, row, 0] = np.inf
        return Moments(np.zeros(len(self.columns)), self.class_mass, *sums)

    @cached_property
    def _masses(self) -> Array:
        return self.class_mass

    def lost(self, least: float) -> float:
        """How many rows gave the true class less than this probability; or 0, if that is the least."""
        return float(self._state[1][_bounded(self.summary.recipe.made_of(FORECASTS)).index(least)])

    def told_late(self, slot: Slot) -> bool:
        """Averages by the shares of classes that differ, and where two classifiers are behind a value."""
        if slot.average == AVERAGES[1]:
            return len(self.scale) > 2 or not _serves_both(slot.measure)
        return self.reference(slot) is not None

    def _result(self, slot: Slot) -> Found:
        value = self._value(slot)
        late = self.found_late(slot, (value, value))
        if late is None and slot.average == AVERAGES[1]:
            return self._at_most(slot)
        if late is None and self.reference(slot) is None:
            return super()._result(slot)
        if late is None or not np.isfinite(value):
            return Found((value, value), (np.nan, np.nan), (self.drawn - 1, self.drawn - 1))
        return late

    def _at_most(self, slot: Slot) -> Found:
        """An average by the shares of classes, as if all classes, and their shares, were off together."""
        value, found = self._value(slot), [self.result(Slot(slot.measure, code)) for code in range(len(self.scale))]
        beside = self.shares_error(slot, self.share, np.array([one.value[0] for one in found]))
        variance = np.square(self.share @ np.sqrt([one.variance for one in found]) + beside)
        return Found((value, value), (float(variance[0]), float(variance[1])), (self.drawn - 1, self.drawn - 1))

    def beside(self, slots: Sequence[Slot]) -> list[Slot]:
        """The scores of skills that a first pass does not tell enough of."""
        late = [slot for slot in slots if self.clustered or self.told_late(slot)]
        return [self.base(slot) for slot in late if self.base(slot) is not slot]

    def ratio(self, slot: Slot) -> Ratio | None:
        """The two scores that a skill is made of: how they scatter is known by the pass that told of the skill."""
        if not self.clustered and not self.told_late(slot):
            return super().ratio(slot)
        skill, own, other = self.known(slot), self.known(self.base(slot)), self.reference(slot)
        if skill is None or own is None:
            return None
        mean = self._mean(slot)
        if other is None:
            reference = float(self.share @ self._climatology(self.base(slot), self.share))
        else:
            reference = self._other(other)._mean(slot)
        _, by_mean, by_reference = gradient(slot.measure, mean, reference)
        beside = (skill - by_mean * own) / by_reference
        return Ratio.of(mean, reference, lambda a, b: float(np.square(a * own + b * beside).sum()))

    def _value(self, slot: Slot) -> float:
        other = self.reference(slot)
        if other is None:
            return self.sloped(slot, self.moments.means, self.class_mass).value
        return gradient(slot.measure, self._mean(slot), self._other(other)._mean(slot))[0]

    def _other(self, model: int) -> SummedForecasts:
        return replace(self, model=model, found={}, kept={})

    def _mean(self, slot: Slot) -> float:
        return float(self.moments.means[self._column_of[key_of(self.base(slot))]])

    def remark(self, slot: Slot) -> str:
        """What the value hides."""
        return "; ".join(word for word in (super().remark(slot), *self.unknown(slot)) if word)

    # --- the second pass ---------------------------------------------------------------------------------------

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows)."""
        found = np.empty((len(slots), len(rows)))
        with np.errstate(divide="ignore", invalid="ignore"):
            for low, high in long_chunks(0, len(rows), len(self.scale)):
                piece = Piece(rows.scores[self.model].rows(low, high), rows.truth[low:high], len(self.scale))
                for place, slot in enumerate(slots):
                    found[place, low:high] = self._added(slot, piece, rows, low, high)
        return found / self.total

    def _added(self, slot: Slot, piece: Piece, rows: Rows, low: int, high: int) -> Array:
        base, other = self.base(slot), self.reference(slot)
        column = self.worth(piece, base)
        if other is None:
            sloped = self.sloped(slot, self.moments.means, self.class_mass)
            centre = sloped.scale * self._mean(slot) + self.share @ sloped.offset
            return np.asarray(sloped.scale * column + sloped.offset[piece.truth] - centre)
        said = rows.scores[other].rows(low, high)
        means = self._mean(slot), self._other(other)._mean(slot)
        beside = self.worth(Piece(said, piece.truth, len(self.scale)), base)
        _, by_mean, by_reference = gradient(slot.measure, *means)
        return np.asarray(by_mean * (column - means[0]) + by_reference * (beside - means[1]))

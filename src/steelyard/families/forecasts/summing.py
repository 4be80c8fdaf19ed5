"""Scores of forecasts of rows that are let go: a score is a mean over rows, so sums are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...core.scale import Label
from ...core.threads import long_chunks
from ...inference.row_evaluation import key_of
from ...inference.table_evaluation import Slot
from ...inputs.prediction import Scores
from ...states.held_rows import Rows
from ...states.statistics import FORECASTS
from ..summed.recipe import Batchwise, Recipe, Totals
from .columns import below, limits_of, may_be_infinite, serves_both
from .evaluation import ForecastEvaluation
from .piece import Piece

if TYPE_CHECKING:
    from ...core.typing import Array


def evaluation_of(recipe: Recipe, model: int, rows: Rows) -> ForecastEvaluation:
    """Some rows of one classifier, by all measures of its forecasts."""
    measures = recipe.made_of(FORECASTS)
    return ForecastEvaluation(rows, model, recipe.scale, measures, np.nan, 1.0, models=recipe.models)


class ForecastCollector(Batchwise):
    """Sums up what rows are worth, by every score of every classifier."""

    def __init__(self, recipe: Recipe) -> None:
        """Start with no rows."""
        super().__init__(self._of_all)
        self.recipe = recipe
        classwise = [measure for measure in recipe.made_of(FORECASTS) if measure.per_class]
        self.both = {measure.label for measure in classwise if serves_both(measure)}

    def _of_all(self, rows: Rows, clusters: tuple[Label, ...]) -> Totals:
        """The sums of all classifiers, one after the other."""
        del clusters
        return Totals(tuple(part for model in range(len(self.recipe.models)) for part in self._of_model(model, rows)))

    def _of_model(self, model: int, rows: Rows) -> list[Array]:
        """The sums of one classifier over some rows, and how many of them are clipped or make a score infinite."""
        evaluation = evaluation_of(self.recipe, model, rows)
        columns, classes = evaluation.summed_columns, len(self.recipe.scale)
        limits, told_by = limits_of(self.recipe.made_of(FORECASTS)), self._told_by(columns, rows.scores[model])
        places, inverse = np.unique(told_by, return_inverse=True)
        columns = tuple(columns[place] for place in places)

        def finite(piece: Piece, slot: Slot) -> Array:
            """What rows are worth; infinite ones are counted, since nothing can be taken off infinity again."""
            worth = evaluation.worth(piece, slot)
            return np.where(piece.own <= 0, 0.0, worth) if may_be_infinite(slot) else worth

        summing = replace(evaluation.sums_of(columns), worth=finite)
        sums, shift, lost = summing.none(), np.zeros(len(columns)), np.zeros(len(limits))
        with np.errstate(divide="ignore", invalid="ignore"):
            for low, high in long_chunks(0, len(rows), classes):
                piece = evaluation.piece(low, high, more=summing.room)
                weights = None if rows.sums is None else (rows.sums[low:high, 1], rows.sums[low:high, 2])
                summing.add(sums, piece, shift, weights)
                marked = [below(piece, limit) for limit in limits]
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

"""Values, influences, variances and degrees of freedom of chosen slots, whatever they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .influence import pseudo_shares
from .row_evaluation import RowEvaluation
from .rules import places_in
from .rules.mean import MEAN
from .student_t import degrees_of_freedom
from .table_evaluation import Evaluation
from .variances import counted_moment, pseudo_squares

if TYPE_CHECKING:
    from ..core.typing import Array, Codes


def influence_at(evaluation: Evaluation, place: int, truth: Codes, assigned: Codes, smooth: bool = False) -> Array:
    """What a row with these classes adds to one slot, of a class or not."""
    row = int(smooth)
    if place < evaluation.class_slots:
        measure, code = divmod(place, len(evaluation.scale))
        cell = 2 * (truth != code) + (assigned != code)
        return np.asarray(evaluation.class_slopes[row, measure, code][cell])
    slot = place - evaluation.class_slots
    influence = evaluation.influences[row][slot : slot + 1]
    return np.asarray(influence.at(truth, assigned)[0])


def influences_at(evaluation: Evaluation | RowEvaluation, places: Sequence[int], smooth: bool) -> Array:
    """What a row of each pattern adds to chosen slots, (slots, patterns); not finite where a value is infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if isinstance(evaluation, RowEvaluation):
            several = [evaluation.influence(evaluation.slots[place], smooth) for place in places]
            return np.stack(several) if len(several) > 1 else several[0][None]  # many rows are not copied for nothing
        truth, assigned = evaluation.patterns.truth, evaluation.patterns.assigned[evaluation.model]
        found = np.empty((len(places), len(truth)))
        for k, place in enumerate(places):
            found[k] = influence_at(evaluation, place, truth, assigned, smooth)
        return found


def moved_at(evaluation: Evaluation | RowEvaluation, places: Sequence[int]) -> list[int]:
    """Which of chosen slots pseudo-rows make a difference to."""
    if isinstance(evaluation, RowEvaluation):
        return [k for k, place in enumerate(places) if evaluation.result(evaluation.slots[place]).moved]
    return list(range(len(places)))


def values_at(evaluation: Evaluation | RowEvaluation, places: Sequence[int]) -> Array:
    """The values of chosen slots, as they are and with the pseudo-rows: (2, slots)."""
    if isinstance(evaluation, RowEvaluation):
        return np.array([evaluation.result(evaluation.slots[place]).value for place in places]).T
    return evaluation.values[:, places]


def variances_at(
    evaluation: Evaluation | RowEvaluation, places: Sequence[int], influences: Array, smooth: bool
) -> Array:
    """The variance of influences on chosen slots, (slots, patterns): one number a slot."""
    if isinstance(evaluation, RowEvaluation):
        return evaluation.variances(places, influences, smooth)
    return counted_moment(evaluation, influences)


def freedom_at(evaluations: Sequence[Evaluation | RowEvaluation], places: Sequence[int]) -> Array:
    """Degrees of freedom of chosen slots; of several classifiers, the fewest."""
    first = evaluations[0]
    if isinstance(first, RowEvaluation):
        made_of_rows = [each for each in evaluations if isinstance(each, RowEvaluation)]
        freedoms = [[each.result(each.slots[place]).freedom[1] for place in places] for each in made_of_rows]
        return np.asarray(np.fmin.reduce(freedoms, axis=0))
    means = np.flatnonzero(np.isin(places, places_in(first.layout).get(MEAN, ())))
    return degrees_of_freedom(first.patterns, len(places), means)


def pseudo_at(evaluation: Evaluation | RowEvaluation, place: int) -> tuple[float, Array]:
    """Mean squared influence of a pseudo-row on a slot, and its mean influence within each true class."""
    if isinstance(evaluation, RowEvaluation):
        return evaluation.pseudo_at(place)
    if place < evaluation.class_slots:
        slope = evaluation.class_slopes[1, place // len(evaluation.scale), place % len(evaluation.scale)]
        return float(np.square(slope).mean()), slope.reshape(2, 2).mean(axis=1)
    slot = place - evaluation.class_slots
    influence = evaluation.influences[1][slot : slot + 1]
    table, (right, wrong) = influence.tables[0], pseudo_shares(evaluation.classes)
    within = evaluation.classes * (wrong * table.sum(axis=1) + (right - wrong) * np.diag(table))
    return float(pseudo_squares(influence)[0]), within

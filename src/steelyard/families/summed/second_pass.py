"""The second pass over rows: of which slots it tells how far they scatter, and the products that it sums up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.scale import Label
from ...inference.averages import MEANS_OF_CLASSES
from ...inference.evaluation import Slot, key_of
from ...maths.sides import summed_at
from ..state_evaluation import StateEvaluation
from .products import MOST_SIDES, Products

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Marks
    from ...states.held_rows import Rows

Wanted = Sequence[tuple[StateEvaluation, Sequence[Slot]]]


def wanted_of(evaluations: Sequence[StateEvaluation]) -> Wanted:
    """The slots of which a second pass tells how far they scatter.

    These are all of them where there are clusters; all that stand for measures, and all averages, where classifiers are
    compared; and else those of which a first pass did not tell. Some take others with them.
    """
    found = []
    for evaluation in evaluations:
        if evaluation.foretold or not evaluation.heard:
            continue
        always = len(evaluation.models) > 1 or evaluation.clustered
        slots = evaluation.slots if evaluation.clustered else _standing(evaluation)
        late = [slot for slot in slots if always or evaluation.told_late(slot)]
        late = list({key_of(slot): slot for slot in [*late, *evaluation.beside(late)]}.values())
        found += [(evaluation, late)] if late else []
    return [*found, *_beside_heavier(found)]


def _beside_heavier(wanted: Wanted) -> Iterator[tuple[StateEvaluation, Sequence[Slot]]]:
    """What differences need: beside a classifier whose rows weigh more, pseudo-rows weigh as much for both."""
    ranked = [(each, slots) for each, slots in wanted if each.judged_by_odds]
    for each, slots in ranked:
        known = {*map(key_of, slots)}
        for unit in sorted({other.unit for other, _ in ranked if other.unit > each.unit}):
            heavier = each.heavier(unit)
            beside = [slot for slot in heavier.beside(_own(each, slots)) if key_of(slot) not in known]
            known |= {*map(key_of, beside)}
            if beside:
                yield heavier, beside


def _own(evaluation: StateEvaluation, slots: Sequence[Slot]) -> list[Slot]:
    """Those that are slots of the evaluation, and not only beside them."""
    own = {*map(key_of, evaluation.slots)}
    return [slot for slot in slots if key_of(slot) in own]


def _standing(evaluation: StateEvaluation) -> list[Slot]:
    """The slots that stand for measures, and averages over classes."""
    slots = []
    for measure in evaluation.measures:
        averages = [Slot(measure, None, average) for average in MEANS_OF_CLASSES] if measure.per_class else []
        slots += [evaluation.slots[evaluation.overall(measure)], *averages]
    return list({key_of(slot): slot for slot in slots}.values())


def products_of(wanted: Wanted, rows: Rows, clusters: tuple[Label, ...]) -> Products:
    """Products of the influences of some rows; ``clusters`` are the labels of their clusters."""
    keys = tuple((each.model, *key_of(slot)) for each, slots in wanted for slot in slots)
    influences = np.concatenate([each.row_influences(slots, rows) for each, slots in wanted])
    count = float(len(rows)) if rows.sums is None else float(rows.sums[:, 0].sum())
    if rows.cluster is None:
        root, cubes = influences, influences * influences * influences
        times, mean = np.ones((2, len(rows)))
        if rows.sums is not None:
            times, mass, square = rows.sums.T
            root, mean = influences * np.sqrt(square), np.divide(mass, times, out=np.zeros(len(rows)), where=times > 0)
        third = times * mean * mean * mean
        with np.errstate(invalid="ignore"):  # an infinite score has no spread, and its slots are marked by that
            powers = np.stack([cubes @ third, (cubes * influences) @ (third * mean)])
            within = _within(root, rows.truth, len(wanted[0][0].scale))
            sums = within.sum(axis=0) if within.ndim == 3 else root @ root.T
            ranked = np.array([each.judged_by_odds for each, slots in wanted for _ in slots])
            fourths = np.zeros((0, 2, 0, 0))
            if within.ndim == 3 and ranked.any() and len(wanted[0][0].models) > 1:
                fourths = _fourths(influences[ranked] * np.sqrt(np.sqrt(third * mean)), rows.truth, ranked, len(within))
            return Products(keys, sums, None, count, powers, within, fourths)
    weighed = influences if rows.sums is None else influences * rows.sums[:, 1]
    return Products(keys, np.ascontiguousarray(summed_at(rows.cluster, weighed, len(clusters)).T), clusters, count)


def _within(root: Array, truth: Codes, classes: int) -> Array:
    """Products of influences within each class; of very many, squares alone."""
    if classes > MOST_SIDES:
        return summed_at(truth, root * root, classes).T
    # Not root[:, truth == code], which takes several times as long.
    parts = [np.compress(truth == code, root, axis=1) for code in range(classes)]
    return np.stack([part @ part.T for part in parts])


def _fourths(root: Array, truth: Codes, here: Marks, classes: int) -> Array:
    """Third powers of one influence times another, and squares times squares, within each class; 0 elsewhere."""
    found = np.zeros((classes, 2, len(here), len(here)))
    for code in range(classes):
        part = np.compress(truth == code, root, axis=1)
        square = part * part
        places = np.ix_(np.arange(2), np.flatnonzero(here), np.flatnonzero(here))
        found[code][places] = [(square * part) @ part.T, square @ square.T]
    return found

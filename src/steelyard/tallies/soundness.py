"""Whether a tally that was read from a file can have been made of rows: what stands in it twice must agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..door.measured import Knowledge, Measured
from ..door.weights import LARGEST_SQUARES
from ..scale import Continuum, Label, of_one_kind, plain_label
from ..summaries.states import refuse
from ..sums.statistics import CONFUSION
from .tally import ROUNDING, Tally

if TYPE_CHECKING:
    from ..kinds import AnyArray, Array


def refuse_unsound(tally: Tally) -> None:
    """Refuse what no rows can have left."""
    refuse(all(isinstance(name, str) for name in tally.models) and len(set(tally.models)) == len(tally.models) > 0)
    for labels in (tally.slices, tally.groups, tally.arrangement):
        refuse(of_one_kind(map(plain_label, labels)) == labels and len(set(labels)) == len(labels))
    values = tally.sums.values
    refuse((np.abs(values) < [LARGEST_SQUARES**0.5, LARGEST_SQUARES**0.5, LARGEST_SQUARES]).all())
    for column, labels in ((0, tally.slices), (1, tally.groups)):
        refuse(len(np.unique(tally.sums.keys[:, column])) == len(labels) or not labels)
    parts, classes = max(len(tally.slices), 1), len(tally.scale)
    counted = _by_part(tally.sums.keys[:, 0], tally.sums.keys[:, 2], values, parts, classes)
    for part, found in _kept(tally):
        refuse(np.allclose(counted[part], found, rtol=ROUNDING, atol=ROUNDING * np.abs(counted).max()))
    _refuse_other_kind(tally)


def _by_part(part: AnyArray, truth: AnyArray, values: Array, parts: int, classes: int) -> Array:
    """How many rows each part has of each class, what they weigh, and their squared weights: (parts, 3, classes)."""
    places = part.astype(np.int64) * classes + truth
    sums = [np.bincount(places, column, parts * classes).reshape(parts, classes) for column in values.T]
    return np.stack(sums, axis=1)


def _kept(tally: Tally) -> Iterator[tuple[int, Array]]:
    """The same by what else was kept of the rows of each part."""
    rows, parts, classes = tally.scores, max(len(tally.slices), 1), len(tally.scale)
    if rows is not None:
        none = np.zeros(len(rows), np.int64)
        found = _by_part(none if rows.slice is None else rows.slice, rows.truth, rows.filled, parts, classes)
        yield from enumerate(found)
    if tally.summaries is not None:
        # Where all rows were taken out again, no part is left.
        labels: tuple[Label | None, ...] = tally.slices or ((None,) if len(tally.sums.keys) else ())
        yield from ((place, tally.summaries.parts[label].by_class) for place, label in enumerate(labels))


def _refuse_other_kind(tally: Tally) -> None:
    """What is said of the rows must be what they have."""
    rows, recipe = tally.scores, tally.recipe
    measured = None if rows is None else rows.measured
    if rows is not None and len(rows):
        refuse((rows.slice is None, rows.cluster is None) == (not tally.slices, not tally.groups))
    if measured is not None:
        refuse(isinstance(tally.scale, Continuum))
        refuse_unmeasured(measured)
    if recipe is not None:
        refuse(all(measure.statistic is not CONFUSION for measure in recipe.measures))
        refuse(rows is None or tuple(rows.shape) == recipe.shape)


def refuse_unmeasured(measured: Measured) -> None:
    """Refuse measured values, and what is known of them, that the door would not let in."""
    pair = measured.expected, measured.spread
    refuse((pair[0] is None) == (pair[1] is None))
    Knowledge(measured.sd, measured.blur, None if pair[0] is None else pair).of(measured.value, {})
    for error, known in zip(measured.errors, (measured.sd, measured.blur), strict=True):
        refuse(0 <= error < np.inf and (known is not None or not error))

"""The partition space of a classifier that gave probabilities, and how often what it assigns in it is right."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import OutsideUnitInterval
from ..core.table import Table
from ..core.threads import chunks, over_rows
from ..families.partition.space import Space
from ..inference.settings import STANDARDISE
from ..measures import find

if TYPE_CHECKING:
    from ..core.typing import Array
    from .assessment import Assessment


def space_of(assessment: Assessment, scaling: str = "default", depth: int = 1) -> Space:
    """The partition space of a classifier that gave probabilities."""
    rows = assessment.ranked.rows.refuse_changed()  # of labels there is nothing to see
    if not rows.scores[assessment.evaluation.model].are_probabilities:
        raise OutsideUnitInterval("the scores are no probabilities", mend=STANDARDISE)
    return assessment.partition.scaled(scaling, depth)


def table_of(space: Space) -> Array:
    """What rows of every true class weigh that were assigned to every class: (classes, classes)."""
    size, assigned = space.memberships.shape[1], space.assigned

    def count(start: int, stop: int) -> Array:
        found = np.zeros(size * size)
        for low, high in chunks(start, stop):
            code = space.truth[low:high].astype(np.int64) * size + assigned[low:high]
            found += np.bincount(code, space.mass[low:high], size * size)
        return found

    return reduce(np.add, over_rows(len(space.truth), count)).reshape(size, size)


def correctness(assessment: Assessment, space: Space) -> Table:
    """How many of the rows that were assigned to a class are of that class: label, value, low, high.

    An interval comes with those assignments that were assessed; a threshold, or klaR's scaling, may make others.
    """
    counts, known = table_of(space), assessment.evaluation.patterns.table(assessment.evaluation.model)
    if np.allclose(counts, known):
        precision = assessment.by(find("precision"))
        found = [precision["precision", label] for label in assessment.classes]
        rates = [(one.value, one.low, one.high) for one in found]
    else:
        sums = counts.sum(axis=0)
        values = np.divide(np.diag(counts), sums, out=np.full(len(sums), np.nan), where=sums > 0)
        rates = [(value, np.nan, np.nan) for value in values.tolist()]
    value, low, high = zip(*rates, strict=True)
    return Table({"label": assessment.classes, "value": value, "low": low, "high": high})

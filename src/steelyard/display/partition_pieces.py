"""What pictures of partition spaces are made of: the rows of classifiers, and the classes to show of many.

Up to four classes make one simplex. Of more classes, the triples that are confused most make a triangle each, the same
ones for all classifiers: the rows that belong or were assigned to one of the three, by their memberships in these.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.errors import OutsideUnitInterval
from ..core.table import Table
from ..core.text import number, with_interval
from ..core.threads import chunks, over_rows
from ..families.partition.space import Space
from ..inference.settings import STANDARDISE
from ..maths.simplex import MOST_CLASSES
from ..measures import find

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Places
    from ..results.assessment import Assessment

LINES = {"truth": "partition_accuracy", "assigned": "separation"}  # and the measures that these distances make
FORMER = {"accuracy": "truth", "separation": "assigned"}  # what they were called before
MOST_PANELS = 6  # of triples
MOST_CONFUSED = 40  # classes that triples are made of


class Piece(NamedTuple):
    """The rows of one panel.

    Attributes:
        model: The classifier.
        codes: The classes at the corners.
        memberships: Those in these classes, (rows, corners).
        truth: Codes of the true classes.
        assigned: Codes of the assigned ones.
        mass: What rows weigh.
        left_out: How many rows have no membership in any of these classes, and so no place.
    """

    model: str
    codes: tuple[int, ...]
    memberships: Array
    truth: Codes
    assigned: Codes
    mass: Array
    left_out: int = 0

    def places(self, codes: Codes) -> Places:
        """The corners of classes; one more stands for any other class."""
        if self.codes == tuple(range(len(self.codes))):
            return np.minimum(codes, len(self.codes))
        corner = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(np.array(self.codes)[corner] == codes, corner, len(self.codes))


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


def facts(title: str, value: float, low: float = np.nan, high: float = np.nan) -> str:
    """A measure in words and numbers, with its interval where there is one."""
    return f"{title} {number(value) if np.isnan(low + high) else with_interval(value, low, high)}"


# --- which classes, and their rows ---------------------------------------------------------------------------------


def pieces_of(spaces: Mapping[str, Space]) -> list[Piece]:
    """The rows of every panel, those of one classifier after the other."""
    classes = next(iter(spaces.values())).memberships.shape[1]
    if classes <= MOST_CLASSES:
        codes = tuple(range(classes))
        return [Piece(name, codes, each.scaled, each.truth, each.assigned, each.mass) for name, each in spaces.items()]
    confusion = np.sum([table_of(each) for each in spaces.values()], axis=0)
    chosen = triples(confusion, max(1, MOST_PANELS // len(spaces)))
    return [_within(name, each, codes) for name, each in spaces.items() for codes in chosen]


def triples(confusion: Array, most: int) -> list[tuple[int, ...]]:
    """The triples of classes that are confused most: each the one that shows most of what those before it do not."""
    wrong = confusion + confusion.T
    np.fill_diagonal(wrong, 0.0)
    by_class = np.lexsort((-confusion.sum(axis=1), -wrong.sum(axis=1)))[:MOST_CONFUSED]
    candidates = np.array(list(combinations(sorted(by_class.tolist()), 3)))
    first, second, third = candidates.T
    # Where nothing is confused, the largest classes are shown.
    size = confusion.sum(axis=1)[candidates].sum(axis=1) / (confusion.sum() + 1) / 4
    found: list[tuple[int, ...]] = []
    while len(found) < most:
        shown = wrong[first, second] + wrong[first, third] + wrong[second, third]
        if found and not shown.max() > 0:
            break
        best = tuple(candidates[np.argmax(shown + size * (shown.max() <= 0))].tolist())
        found.append(best)
        wrong[np.ix_(best, best)] = 0.0
    return found


def _within(model: str, space: Space, codes: tuple[int, ...]) -> Piece:
    """The rows of some classes, by what their memberships in these are of their sum."""
    assigned, scaled = space.assigned, space.scaled[:, list(codes)]
    total = scaled.sum(axis=1)
    here = np.isin(space.truth, codes) | np.isin(assigned, codes)
    kept = here & (total > 0)
    left_out = int(here.sum() - kept.sum())
    inside = scaled[kept] / total[kept, None]
    return Piece(model, codes, inside, space.truth[kept], assigned[kept], space.mass[kept], left_out)

"""Where thresholds lie on the ROC curve: the false-positive rate and the sensitivity of each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.columns import as_number, things_in
from ..core.errors import BadOption, quoted
from ..core.table import Table
from ..core.text import down_to, named, shortened
from ..inputs.remarks import told_of_thresholds

if TYPE_CHECKING:
    from ..core.typing import Array
    from ..families.ranking.one_against_rest import OneAgainstRest
    from .assessment import Assessment

Own = Literal["own"]

HALF = 0.5  # from which on a row is assigned where nobody gives a threshold
MOST = 50  # of more, hardly any label would find a place
GIVE = "Give numbers, such as [0.3, 0.5, 0.7], 'own' for the threshold of the result, or None"
UNREACHED = "no score reaches this threshold"
KNOWN = ("", UNREACHED)  # notes of points that are exact
NO_THRESHOLD = "rows are not assigned by one threshold"
LONGEST = 14  # signs of a class in a label
SAME = 1e-9


class Mark(NamedTuple):
    """A threshold on a curve: where it lies, its label, whether any score reaches it, and what there is to know."""

    threshold: float
    fpr: float
    sensitivity: float
    text: str
    reached: bool
    note: str


def wanted_thresholds(thresholds: Any) -> Own | list[float] | None:
    """Which thresholds are asked for, each once: those of a list, the result's own, or none."""
    if thresholds is None:
        return None
    if isinstance(thresholds, str):
        if thresholds != "own":
            raise BadOption(f"thresholds is {quoted(thresholds)}", mend=GIVE)
        return "own"
    listed = things_in(thresholds)
    found = [thresholds] if listed is None else listed
    numbers = [as_number(value) for value in found]
    for value, number in zip(found, numbers, strict=True):
        if math.isnan(number):
            raise BadOption(f"{quoted(value)} is not a threshold", mend=GIVE)
    numbers = list(dict.fromkeys(number + 0.0 for number in numbers))
    if len(numbers) > MOST:
        raise BadOption(f"{len(numbers):,} thresholds are too many to be marked", mend=f"Give {MOST} at most")
    return numbers or None


def operating_points(
    assessment: Assessment,
    thresholds: Own | Sequence[float] | None,
    label: Any = None,
    one: OneAgainstRest | None = None,
) -> Table:
    """Where thresholds lie on the ROC curve of a class.

    Args:
        assessment: A classifier that gave scores.
        thresholds: Numbers; "own" for the threshold by which rows are assigned.
        label: The class; the event if not given.
        one: The rows by the score of the class, where they were sorted already.

    Returns:
        A table with the columns threshold, fpr, sensitivity, text (the threshold as it is labelled; empty where there
        is none), reached (whether any score reaches it) and note.
    """
    code = assessment.code(label)
    assessment.refuse_hidden()
    if thresholds is None or isinstance(thresholds, str):
        own = None if thresholds is None else _own(assessment, code, one)
        return Table.of_rows(Mark._fields, [] if own is None else [own])
    curve = _Curve(assessment, code, one)
    marks = [curve.at(threshold, text) for threshold, text in zip(thresholds, curve.texts(thresholds), strict=True)]
    if any(mark.note not in KNOWN for mark in marks):
        # At the threshold of the result, rows were counted one by one.
        own = _own(assessment, code, one)
        if own is not None and own.note in KNOWN:
            marks = [own if mark.threshold == own.threshold else mark for mark in marks]
    return Table.of_rows(Mark._fields, marks)


def _own(assessment: Assessment, code: int, one: OneAgainstRest | None) -> Mark | None:
    """Where rows are assigned now; None where no class is assigned to them."""
    if assessment.model in assessment.tally.given.unassigned:
        return None
    table = assessment.evaluation.patterns.table(assessment.evaluation.model)
    own, rest = table[code], np.delete(table, code, axis=0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        fpr, sensitivity = (float(side[code] / side.sum()) for side in (rest, own))
    found = Mark(math.nan, fpr, sensitivity, "", True, NO_THRESHOLD)
    told = {each.threshold for each in told_of_thresholds(assessment.tally.remarks, assessment.model)}
    if len(assessment.classes) > 2 or len(told) > 1:
        return found
    reached = fpr > 0 or sensitivity > 0
    found = found._replace(reached=reached, note="" if reached else UNREACHED)
    if not told:
        return found._replace(threshold=HALF, text=f"{HALF:g}")
    (threshold,) = told
    curve = _Curve(assessment, code, one)
    if curve.meets(threshold, fpr, sensitivity):
        return found._replace(threshold=threshold, text=curve.text(threshold))
    # Rows reach a threshold of the other class: here, they are those that are left.
    other, turned = assessment.classes[1 - code], _Curve(assessment, 1 - code)
    if not turned.meets(threshold, 1 - sensitivity, 1 - fpr):
        return found._replace(reached=True, note=NO_THRESHOLD)
    text = f"{shortened(named(other), LONGEST)} ≥ {turned.text(threshold)}"
    return Mark(threshold, fpr, sensitivity, text, True, f"a threshold of the score of {quoted(other)}")


class _Curve:
    """The ROC curve of a class, and what thresholds reach on it."""

    def __init__(self, assessment: Assessment, code: int, one: OneAgainstRest | None = None) -> None:
        """Sort the rows by the score of the class, unless they are sorted."""
        self.code, self.ranked = code, assessment.ranked
        one = one or assessment.event_ranking(assessment.classes[code])
        self.ranking = one.ranking
        sums = [np.concatenate([[0.0], side]) for side in (one.plain.alarms, one.plain.hits)]
        with np.errstate(invalid="ignore", divide="ignore"):
            self.rates: Array = np.array([side / side[-1] for side in sums])

    def at(self, threshold: float, text: str) -> Mark:
        """Where a threshold lies, with its label."""
        self.ranked.rows.scores[self.ranked.model].refuse_turned(self.code, threshold)
        place, other = self._places(threshold)
        fpr, sensitivity = self.rates[:, place].tolist()
        reached, note = place > 0 or other > 0, ""
        if other != place:
            low, high = sorted((place, other))
            (fpr_low, low_), (fpr_high, high_) = self.rates[:, low].tolist(), self.rates[:, high].tolist()
            note = (
                f"scores were counted in cells: sensitivity is between {low_:.6g} and {high_:.6g}, fpr between "
                f"{fpr_low:.6g} and {fpr_high:.6g}"
            )
            text = f"≈ {text}"
        return Mark(threshold, fpr, sensitivity, text, reached, note if reached else UNREACHED)

    def meets(self, threshold: float, fpr: float, sensitivity: float) -> bool:
        """Whether rows that reach a threshold are as many as those of a point."""
        low, high = sorted(self._places(threshold))
        point = np.array([fpr, sensitivity])
        known = ~np.isnan(point)
        above, below = (self.rates[:, low] - SAME <= point), (point <= self.rates[:, high] + SAME)
        return bool((above & below)[known].all())

    def _places(self, threshold: float) -> tuple[int, int]:
        """Where a threshold lies on the curve, and how far from there it may lie where scores were counted in cells."""
        wanted = np.array([threshold])
        place = int(self.ranking.reached(wanted)[0])
        return place, place + int(self.ranked.open_at(self.code, wanted)[0])

    def texts(self, thresholds: Sequence[float]) -> list[str]:
        """Thresholds in words, each with as many digits as tell it from the others."""
        found = [self.text(threshold) for threshold in thresholds]
        digits = 5
        while len(set(found)) < len(set(thresholds)) and digits < 18:
            found, digits = [_written(threshold, digits) for threshold in thresholds], digits + 1
        return found

    def text(self, threshold: float) -> str:
        """A threshold in words: in four digits, or in as many as do the same."""
        if not math.isfinite(threshold):
            return "∞" if threshold > 0 else "−∞"
        short = f"{threshold:.4g}"
        if self._places(float(short)) == self._places(threshold):
            return short.replace("-", "−")
        place = self._places(threshold)[0]
        below = self.ranking.thresholds[place] if place < len(self.ranking.thresholds) else -math.inf
        return down_to(threshold, float(below)).replace("-", "−")


def _written(threshold: float, digits: int) -> str:
    if not math.isfinite(threshold):
        return "∞" if threshold > 0 else "−∞"
    return f"{threshold:.{digits}g}".replace("-", "−")

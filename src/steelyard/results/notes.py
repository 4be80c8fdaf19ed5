"""What there is to know about an assessment as a whole: what was noticed in its input, and what may be a mistake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import quoted
from ..core.estimate import Estimate
from ..core.scale import Continuum, Label, listed
from ..inputs.misreadings import same_numbers, words_for_missing
from ..inputs.published import words_on_per_cent, words_on_thousands
from ..inputs.remarks import UNNAMED, Remark, thresholds_of
from ..measures import find
from ..measures.counts import words_on_gains
from ..measures.table_formulas import Formulas
from ..states.statistics import CALIBRATION, CONFUSION, FORECASTS, PARTITION
from .evaluated import Evaluated
from .hypothesis_tests import MOST_CLASSES, words_on_order
from .parts import Part

LABELS_AS_FORECASTS = "no probabilities are given: each label is scored as a forecast that gives it probability 1"


def notes_on(one: Evaluated) -> list[str]:
    """Return what there is to know about a classifier and its rows as a whole."""
    if one.hidden:
        return [one.hidden]
    counts, scale = one.evaluation, one.tally.scale
    notes = [*one.tally.words_on_input, *_on_order(one), *one.words_on_names, *_on_gains(one), *_on_alike(one)]
    for word in words_for_missing(one.classes):
        code = scale.code(word)
        here = (counts.patterns.truth == code) | (counts.patterns.assigned[counts.model] == code)
        rows = counts.patterns.count[here].sum()
        many = f"{rows:,.0f} row{'' if rows == 1 else 's'}"
        notes.append(f"{quoted(word)} is a class of {many}: is it a missing value?")
    notes += words_on_labels(one)
    notes += _on_scores(one)
    strangers = (counts.margins.true == 0) & (counts.margins.assigned > 0)
    if strangers.any() and not one.unassigned:
        labels = [one.classes[code] for code in np.flatnonzero(strangers)]
        notes.append(f"assigned but never true: {listed(labels, 3)} (rare, or spelled differently?)")
    if order := _better_order(one):
        notes.append(order)
    elif one.settings.made_of(CONFUSION) and (agreement := _less_than_chance(one)):
        notes.append(f"worse than chance, kappa {agreement}: {_mixed_up(one)}?")
    if one.tally.published:
        table = counts.patterns.table(counts.model)
        notes.extend(filter(None, (words_on_per_cent(table), words_on_thousands(table))))
    if counts.patterns.clusters == 1:
        notes.append("all rows are in one cluster, which says nothing about spread: intervals reach over all values")
    if counts.patterns.sampled:
        effective = counts.patterns.mass.sum() ** 2 / counts.patterns.square.sum()
        notes.append(f"sampling weights: {one.n:,.0f} rows weigh as much as {effective:,.1f} equal ones")
    return notes


def _said(one: Evaluated) -> Any:
    """What the classifier said in numbers, as far as rows were kept."""
    rows = one.tally.some_rows
    return None if rows is None else rows.scores[one.evaluation.model]


def _on_order(one: Evaluated) -> list[str]:
    """Return notes where nobody said how the classes are ordered, or which of them is the event."""
    scale = one.tally.scale
    if isinstance(scale, Continuum):
        if scale.ordered or scale.named_after_intervals:
            return []
        order = " < ".join(str(label) for label in one.classes)
        return [f"classes in the order of what was measured: {order}; name them to be sure"]
    if len(scale) == 2 and scale.event is None and any(measure.per_class for measure in one.settings.measures):
        return [f"no event is named: what each class has of its own is averaged over {listed(one.classes)}"]
    return []


def _on_gains(one: Evaluated) -> list[str]:
    """Return what to ask about matrices of costs by which mistakes are better than right answers."""
    found = []
    for measure in one.settings.measures:
        of_text = all(isinstance(value, str) for value in measure.parameters.values())
        matrix = None if of_text else measure.matrix(one.tally.scale)
        found.append("" if matrix is None else words_on_gains(one.tally.scale, matrix))
    return list(dict.fromkeys(filter(None, found)))


def _on_alike(one: Evaluated) -> list[str]:
    """Return what to ask about classes that may be one; whoever named them knows what they are."""
    if one.tally.scale.ordered:
        return []
    found: dict[str, list[Label]] = {}
    for label in one.classes:  # that differ in nothing but capitals and blanks
        found.setdefault(" ".join(str(label).casefold().split()), []).append(label)
    spelled = [("spelled alike", labels) for labels in found.values() if len(labels) > 1]
    same = [("the same number", labels) for labels in same_numbers(one.classes)]
    return [f"labels that are {what}: {listed(labels)} (are they one class?)" for what, labels in spelled + same]


def words_on_labels(one: Evaluated) -> list[str]:
    """Return a note where forecasts are scored, and the classifier gave labels alone."""
    said = _said(one)
    labels = not one.tally.given.scored if said is None else not said.columns and not said.raw
    scored = any(map(one.settings.made_of, (FORECASTS, CALIBRATION, PARTITION)))
    return [LABELS_AS_FORECASTS] if labels and scored else []


def _on_scores(one: Evaluated) -> list[str]:
    """Return what there is to know about scores: what was not made of them, and a threshold that parts no rows."""
    notes, given, asked = [], one.tally.given, one.settings.everything
    if given.unassigned and asked:
        whose = "" if len(one.tally.models) == 1 else f" of {listed(list(given.unassigned), 3)}"
        notes.append(
            f"no threshold is given for the scores{whose}: measures of predicted classes (error, kappa, "
            "sensitivity, the confusion table) are left out"
        )
    if one.raw and asked:
        why = "scores are not read as probabilities" if one.has_scores else "labels are no probabilities"
        how = "have no value" if given.probable else "are left out"
        notes.append(f"{why}: log score, Brier score and calibration {how}")
    for threshold, reached, unreached in thresholds_of(one.tally.remarks, one.model) if one.slice is None else ():
        if 0 in (reached, unreached):
            notes.append(_on_threshold(one, threshold, all_reach=not unreached))
    return notes


def _on_threshold(one: Evaluated, threshold: float, all_reach: bool) -> str:
    """Return what to say of a threshold that no score reaches, or that all reach."""
    words = f"{'all scores reach' if all_reach else 'no score reaches'} the threshold {threshold:g}"
    said = _said(one) if one.tally.summaries is None else None
    if said is None or not said.columns or not len(said.columns[0]):
        return words
    event = one.tally.scale.event_code
    column = said.columns[0 if len(said.columns) == 1 or event is None else event]
    low, high = float(column.min()), float(column.max())
    per_cent = threshold <= 1 < high <= 100 and low >= 0
    return f"{words}: they lie between {low:.4g} and {high:.4g}{' (are they per cent?)' if per_cent else ''}"


def _less_than_chance(one: Evaluated) -> Estimate | None:
    """Return kappa, where all of its interval is below 0."""
    margins = one.evaluation.margins
    if margins.correct.sum() * margins.true.sum() >= margins.true @ margins.assigned:
        return None
    kappa = find("kappa")
    counts = replace(one.evaluation, formulas=Formulas((kappa,)))
    agreement = Part(counts, replace(one.settings, method="delta"), one.n).estimate(counts.overall(kappa))
    return agreement if agreement.high < 0 else None


def _better_order(one: Evaluated) -> str:
    """Return what to ask where another order of columns without names fits far better, or nothing."""
    patterns, classes = one.evaluation.patterns, len(one.classes)
    if not one.tally.remarks.get(Remark(UNNAMED, one.model)) or not len(patterns.mass) or classes > MOST_CLASSES:
        return ""
    table, rows, said = patterns.table(one.evaluation.model), one.tally.some_rows, _said(one)
    if rows is not None and said.free and one.slice is None:  # no class was assigned
        weight = None if rows.sums is None else rows.sums[:, 1]
        cells = rows.truth * np.intp(classes) + said.likeliest()
        table = np.bincount(cells, weight, classes**2).astype(np.float64).reshape(table.shape)
    units = patterns.mass.sum() ** 2 / patterns.square.sum()
    return words_on_order(table, min(units, patterns.clusters or np.inf), one.classes)


def _mixed_up(one: Evaluated) -> str:
    """Return what users may have mixed up whose classifier does worse than chance."""
    event = one.tally.scale.event
    if not one.tally.given.scored:
        return "are labels mixed up"
    if event is None:
        return f"are the columns of memberships those of {listed(one.classes, 3)}, in this order"
    return f"do scores speak for another class than the event, {quoted(event)}"

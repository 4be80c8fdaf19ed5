"""The tables of the page: measures overall, by class and by part of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.table import json_value
from ...core.text import count
from ...results.standings import title
from ...states.statistics import CONFUSION, CONTINUUM
from ..grids import ARROWS, IN_SHORT, OF_SLICES, of_classes, of_parts, size_title
from ..listing import parted, span_text
from .wording import percent, shown, told, worded

if TYPE_CHECKING:
    from ...core.estimate import Estimate
    from ...core.scale import Label
    from ...core.typing import Array, Places
    from ...measures.registry import Measure
    from ...results.assessment import Assessment

Assessments = Mapping[str, "Assessment"]
Overall = Sequence[tuple[str, "Estimate"]]

MOST_CLASSES = 20  # in tables and matrices
MOST_SLICES = 40


def explained(measure: Measure, classes: int) -> dict[str, Any]:
    """All that the page tells of a measure to whoever points at it."""
    sentence, formula, aside, more = parted(measure)
    chance = 1 / classes if measure.chance == "1/C" else measure.chance
    ends = [json_value(end) for end in measure.span]
    return {
        "name": measure.label,
        "better": measure.better,
        "arrow": ARROWS[measure.better].strip(),
        "says": sentence,
        "formula": formula,
        "more": " ".join(filter(None, [f"{aside[:1].upper()}{aside[1:]}." if aside else "", more])),
        "span": ends,
        "span_text": span_text(measure),
        "chance": chance,
        "chance_text": "" if chance is None else f"{chance:.3g}",
        "source": measure.cite,
    }


def measures_of(first: Assessment, overall: Sequence[Overall]) -> list[dict[str, Any]]:
    """Every measure with its overall estimate for every classifier, of which one tells what measures are.

    Those of measured values come first, behind the error that they correct. A single classifier has its value in
    training beside, and how far that is off.
    """

    def comes_later(rows: Sequence[tuple[str, Estimate]]) -> bool:
        measure = first.find(rows[0][1].measure)
        return measure.statistic is not CONTINUUM and measure.name != "error"

    found = []
    for rows in sorted(zip(*overall, strict=True), key=comes_later):
        label, estimate = rows[0]
        facts = explained(first.find(estimate.measure), len(first.classes))
        if len(rows) == 1 and first.training is not None:
            part = estimate.label if estimate.average is None else estimate.average
            facts["training"] = worded(first.training[estimate.measure, part])
            facts["gap"] = worded(first.gap(estimate.measure, part))
        found.append({**facts, "title": _titled(first, estimate, label), "estimates": [worded(e) for _, e in rows]})
    return found


def _titled(assessment: Assessment, estimate: Estimate, label: str) -> str:
    """The title of a measure and what it is of; against measured values the error is only an apparent one."""
    measure = assessment.find(estimate.measure)
    return title(assessment, measure) if measure.name == "error" else label[2:]


# --- classes ---------------------------------------------------------------------------------------------------------


def chosen_classes(assessments: Assessments) -> Places:
    """The classes that are shown: all, or of many those on which most errors fall, then the most frequent ones."""
    first = next(iter(assessments.values()))
    classes = len(first.classes)
    if classes <= MOST_CLASSES:
        return np.arange(classes)
    wrong, rows = np.zeros(classes), first.evaluation.margins.true
    for each in assessments.values():
        margins = each.evaluation.margins
        wrong = wrong + margins.true + margins.assigned - 2 * margins.correct
    return np.sort(np.lexsort((-rows, -wrong))[:MOST_CLASSES])


def words_on_classes(assessments: Assessments) -> str:
    """Which classes are shown, where not all are."""
    classes = len(next(iter(assessments.values())).classes)
    if classes <= MOST_CLASSES:
        return ""
    return f"{MOST_CLASSES} of {classes:,} classes are shown: those on which most errors fall."


def classes_of(assessments: Assessments) -> dict[str, Any] | None:
    """The main measures of every class that is shown, for every classifier."""
    first = next(iter(assessments.values()))
    wanted = of_classes(first, (*IN_SHORT, "auc"))
    if not wanted:
        return None
    codes = chosen_classes(assessments)
    labels = [first.classes[code] for code in codes]
    rows = first.evaluation.margins.true[codes]
    return {
        "names": [shown(label) for label in labels],
        "size": size_title(first),
        "rows": [count(float(value)) for value in rows],
        "measures": [measure.title for measure in wanted],
        "cells": [
            [_cells([_of_class(each, measure, code) for code in codes.tolist()]) for each in assessments.values()]
            for measure in wanted
        ],
        "left_out": words_on_classes(assessments),
    }


def _of_class(assessment: Assessment, measure: Measure, code: int) -> Estimate:
    """One class by one measure. That the scores are still what they were was seen to by the overall estimates."""
    part = assessment.parts[measure.statistic.name]
    return part.estimate(part.evaluation.places[measure.label, code])


def slices_of(assessments: Assessments) -> dict[str, Any] | None:
    """The main measures of every part of the data, for every classifier."""
    first = next(iter(assessments.values()))
    if first.slice is not None or not first.tally.slices:
        return None
    parts = {name: each.slices for name, each in assessments.items()}
    sizes = {label: 0.0 if part.hidden else part.n for label, part in parts[first.model].items()}
    labels = _largest(sizes)
    wanted = of_parts(first, (*OF_SLICES, "auc"))
    hidden = len(sizes) - len(labels)
    return {
        "names": [shown(label) for label in labels],
        "size": "rows",
        "rows": [parts[first.model][label].size_words for label in labels],
        "measures": [measure.title for measure in wanted],
        "cells": [[_cells([part[label][m] for label in labels]) for part in parts.values()] for m in wanted],
        "left_out": f"The {len(labels)} largest of {len(sizes):,} parts are shown." if hidden > 0 else "",
    }


def _largest(sizes: Mapping[Label, float]) -> list[Label]:
    """The parts that are shown, in their own order."""
    if len(sizes) <= MOST_SLICES:
        return list(sizes)
    kept = set(sorted(sizes, key=lambda label: -sizes[label])[:MOST_SLICES])
    return [label for label in sizes if label in kept]


def _cells(found: Sequence[Estimate]) -> list[list[str]]:
    """Values and intervals in words."""
    return [[*told(one.value, one.low, one.high)] for one in found]


# --- the confusion table ---------------------------------------------------------------------------------------------


def confusion_of(assessments: Assessments) -> dict[str, Any] | None:
    """The counts of every classifier, as they are and as shares of rows and of columns."""
    first = next(iter(assessments.values()))
    if not first.settings.made_of(CONFUSION):
        return None
    codes = chosen_classes(assessments)
    names = [shown(first.classes[code]) for code in codes]
    rest = len(first.classes) - len(codes)
    return {
        "classes": names + ([f"{rest:,} other classes"] if rest else []),
        "rest": bool(rest),
        "left_out": words_on_classes(assessments),
        "tables": [matrix_texts(table_among(each, codes)) for each in assessments.values()],
    }


def table_among(assessment: Assessment, codes: Places) -> Array:
    """The table of some classes; all others, if there are any, make one more. Never the whole of a huge table."""
    evaluation = assessment.evaluation
    patterns, classes = evaluation.patterns, len(assessment.classes)
    size = len(codes) + (len(codes) < classes)
    place = np.full(classes, len(codes))
    place[codes] = np.arange(len(codes))
    cell = place[patterns.truth] * size + place[patterns.assigned[evaluation.model]]
    return np.bincount(cell, patterns.mass, size * size).astype(np.float64).reshape(size, size)


def matrix_texts(table: Array) -> dict[str, Any]:
    """A table in words: counts, their sums, and shares of rows and columns; with how dark each cell is."""
    with np.errstate(invalid="ignore", divide="ignore"):
        of_true, of_assigned = table / table.sum(axis=1, keepdims=True), table / table.sum(axis=0, keepdims=True)
    return {
        "counts": [[count(value) for value in row] for row in table.tolist()],
        "of_true": [[percent(value) for value in row] for row in of_true.tolist()],
        "of_assigned": [[percent(value) for value in row] for row in of_assigned.tolist()],
        "true": [count(value) for value in table.sum(axis=1).tolist()],
        "assigned": [count(value) for value in table.sum(axis=0).tolist()],
        "all": count(float(table.sum())),
        "shade": [[0 if np.isnan(value) else round(value, 2) for value in row] for row in of_true.tolist()],
    }

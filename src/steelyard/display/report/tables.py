"""The tables of the page: measures overall, by class and by part of the data, and differences between classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import SteelyardError
from ...core.table import json_value
from ...core.text import count, estimated, number, p_value
from ...modelling.cross_assessment import CrossAssessment
from ...results.verdicts import title
from ...states.statistics import CONFUSION, CONTINUUM
from ..grids import ARROWS, IN_SHORT, OF_SLICES, of_classes, of_parts, size_title
from ..listing import parted, span_text
from .wording import drawn, percent, shown, told, worded

if TYPE_CHECKING:
    from ...core.estimate import Estimate
    from ...core.scale import Label
    from ...core.table import Table
    from ...core.typing import Array, Places
    from ...measures.registry import Measure
    from ...results.assessment import Assessment
    from ...results.comparison import Comparison
    from ...results.verdicts import Verdict

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
        measure = first.find(estimate.measure)
        # Against measured values the error is only an apparent one.
        titled = title(first, measure) if measure.name == "error" else label[2:]
        facts = explained(measure, len(first.classes))
        if len(rows) == 1 and first.training is not None:
            part = estimate.label if estimate.average is None else estimate.average
            facts["training"] = worded(first.training[estimate.measure, part])
            facts["gap"] = worded(first.gap(estimate.measure, part))
        found.append({**facts, "title": titled, "estimates": [worded(e) for _, e in rows]})
    return found


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


# --- differences between classifiers ------------------------------------------------------------------------------

MOST_ROWS, MOST_PATTERNS, MOST_RIVALS = 10, 8, 4
MOST_SPLITS = 100
VERDICTS = {
    "neither": "can't be told apart",
    "equivalent": "as good as each other",
    "undefined": "can't be compared",
}


def differences_of(verdict: Verdict) -> dict[str, Any]:
    """All pairs by the measures of the verdict; pairs with the best one first."""
    rows = list(verdict.table())
    order = sorted(
        range(len(rows)), key=lambda k: verdict.first[rows[k]["measure"]] not in (rows[k]["a"], rows[k]["b"])
    )
    found = []
    for row in (rows[k] for k in order):
        numbers = {name: json_value(row[name]) for name in ("difference", "low", "high", "p", "p_adjusted")}
        known = not math.isnan(row["difference"])
        text, bounds = estimated(row["difference"], row["low"], row["high"])
        words = f"{shown(row[row['verdict']])} is better" if row["verdict"] in ("a", "b") else VERDICTS[row["verdict"]]
        found.append(
            {
                **numbers,
                "measure": verdict.titles[row["measure"]],
                "a": verdict.models.index(row["a"]),
                "b": verdict.models.index(row["b"]),
                "text": text,
                "interval": bounds if known else "",
                "p_text": p_value(row["p"]),
                "p_adjusted_text": p_value(row["p_adjusted"]),
                "verdict": words,
                "told_apart": row["verdict"] in ("a", "b"),
                "note": row["note"],
            }
        )
    return {"rows": found}


def deciding_of(comparison: Comparison, verdict: Verdict, by_row: bool) -> list[dict[str, Any]]:
    """The patterns, and the rows if asked for, that decide between the first one and the next, by the first measure."""
    label = next(iter(verdict.titles))
    first, entry = verdict.first[label], comparison.find_measures(label)[0]
    if first is None:
        return []
    found = []
    for rival in _rivals(comparison, entry, first):
        rows = _rows(comparison, entry, first, rival) if by_row else None
        patterns = None
        if entry.statistic is CONFUSION:
            patterns = _plain(comparison.deciding_patterns(entry, first, rival), MOST_PATTERNS)
        if rows is not None or patterns is not None:
            pair = {"a": comparison.models.index(first), "b": comparison.models.index(rival)}
            found.append({**pair, "measure": verdict.titles[label], "rows": rows, "patterns": patterns})
    return found


def _rivals(comparison: Comparison, entry: Measure, first: str) -> list[str]:
    """The next best ones."""
    values = {name: comparison[name][entry].value for name in comparison.models if name != first}
    known = [name for name, value in values.items() if not math.isnan(value)]
    return sorted(known, key=lambda name: entry.loss(values[name]))[:MOST_RIVALS]


def _rows(comparison: Comparison, entry: Measure, first: str, rival: str) -> dict[str, Any] | None:
    """Single rows, where they are at hand; files are not read again for them."""
    if comparison.cases is None or comparison.reread is not None:
        return None
    try:
        return _plain(comparison.deciding_rows(entry, first, rival, MOST_ROWS), MOST_ROWS)
    except SteelyardError:
        return None


def _plain(table: Table, most: int) -> dict[str, Any] | None:
    """A tidy table in words; what has no effect decides nothing, and where nothing has there is none."""
    names, deciding = table.column_names, [row for row in table if row["effect"]]
    if not deciding:
        return None
    rows = [[_cell(name, row[name]) for name in names] for row in deciding[:most]]
    return {"columns": [shown(name) for name in names], "rows": rows, "more": max(0, len(deciding) - most)}


def _cell(name: str, value: Any) -> str:
    if name in ("effect", "together"):
        return f"{value:+.3g}"
    return count(value) if name == "rows" else shown(value)


def folds_of(comparison: Comparison) -> dict[str, Any] | None:
    """The main measure in every fold, for each classifier, with the estimate over all of them."""
    if not isinstance(comparison, CrossAssessment) or comparison.plan.kind == "leave one out":
        return None
    if not 1 < len(comparison.plan.splits) <= MOST_SPLITS:
        return None
    entry = comparison.settings.measures[0]
    rows = list(comparison.folds(entry))
    return {
        "measure": entry.title,
        "words": comparison.plan.words,
        "models": [_of_model([row for row in rows if row["model"] == name]) for name in comparison.models],
        "overall": [worded(comparison[name][entry]) for name in comparison.models],
    }


def _of_model(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The folds of one classifier."""
    values = [row["value"] for row in rows]
    seen = [row["training"] for row in rows]
    names = [f"fold {row['fold'] + 1}" + (f", repeat {row['repeat'] + 1}" if row["repeat"] else "") for row in rows]
    texts = [f"{name}: {number(value)}" for name, value in zip(names, values, strict=True)]
    return {"value": drawn(values), "training": drawn(seen), "text": texts}

"""Classifiers in the order that measures put them in: as tables, and ranks of names in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import evened
from ..core.errors import BadOption, quoted
from ..core.scale import Continuum
from ..core.table import Table
from ..measures import listed_names
from ..measures.registry import Measure
from .comparison import Comparison

if TYPE_CHECKING:
    from ..core.estimate import Estimate
    from .assessment import Assessment


def ranking_table(comparison: Comparison, measures: str | Measure | Iterable[str | Measure]) -> Table:
    """The classifiers from the best to the worst by each measure.

    Args:
        comparison: The classifiers.
        measures: By what they are ranked: measures that have a better end.

    Returns:
        A tidy table with the columns measure, rank, model, value, low, high. Equal values share the better rank; a
        classifier of which a measure is undefined comes last and has none.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("measure", "rank", "model", "value", "low", "high")}
    if not isinstance(comparison, Comparison):
        raise BadOption(f"{quoted(comparison)} is no comparison", mend="Give what compare() returns")
    for measure in comparison.find_measures(measures):
        found, ranks = _ranked({model: comparison[model] for model in comparison.models}, measure)
        columns["measure"] += [measure.label] * len(ranks)
        columns["rank"] += ranks.values()
        columns["model"] += ranks
        for bound in ("value", "low", "high"):
            columns[bound] += [getattr(found[model], bound) for model in ranks]
    return Table(columns)


# --- how classifiers stand by several measures ----------------------------------------------------------------------


ESTIMATES = ("error", "adjusted_error", "smoothed_error", "guarded_error")
BOUNDS = ("true_error_low", "true_error_high")
REFERENCES = ("label_error", "minimal_error", "model_minimal_error")
OF_A_CONTINUUM = ("error", "adjusted_error", "apparent_sqerr", "adjusted_sqerr")
OF_SCORES = ("error", "auc", "log_score")

ELSE = {"error": "accuracy"}  # what says the same, where it alone was asked for

Names = Iterable[str | Measure]


def computed(assessment: Assessment, names: Sequence[str]) -> list[str]:
    """Those of some measures that were computed."""
    known = {measure.name for measure in assessment.settings.measures}
    return [name for name in names if name in known]


def usual_measures(assessment: Assessment) -> list[str]:
    """Those of the usual measures that were computed; accuracy counts as error does, where only that was."""
    names = OF_A_CONTINUUM if isinstance(assessment.tally.scale, Continuum) else OF_SCORES
    wanted = [name if computed(assessment, [name]) else ELSE.get(name, name) for name in names]
    return computed(assessment, wanted)


def title(assessment: Assessment, measure: Measure) -> str:
    """How a measure is shown. Against measured values the error is only an apparent one."""
    if measure.name == "error" and isinstance(assessment.tally.scale, Continuum):
        return "apparent error"
    return measure.label if measure.changed else measure.title


def error_tables(assessments: Mapping[str, Assessment], measures: Names | None = None) -> dict[str, Table]:
    """Estimates of the error, the bounds that hold for it without any model, and what it can be held against.

    Columns: part (estimate, bound or reference), measure, title, value, low, high, note. If no measures are named, all
    of the usual estimates that were computed. References are the same for all classifiers, and so computed once.
    """
    first = next(iter(assessments.values()))
    named = computed(first, ESTIMATES) if measures is None else listed_names(measures)
    references = _errors(first, "reference", computed(first, REFERENCES))
    return {
        name: _below([*_errors(each, "estimate", named), *_errors(each, "bound", BOUNDS), *references])
        for name, each in assessments.items()
    }


def _errors(assessment: Assessment, part: str, names: Sequence[str | Measure]) -> list[dict[str, Any]]:
    """Some measures of one classifier, a row each."""
    rows = []
    for name in names:
        measure, found = assessment.find(name), assessment[name]
        shown = title(assessment, measure)
        if measure.name.startswith("guarded"):
            shown += f" ({found.note.partition(':')[0]})"
        facts = {"part": part, "measure": measure.label, "title": shown, "value": found.value}
        rows.append({**facts, "low": found.low, "high": found.high, "note": found.note})
    return rows


def _below(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows below each other."""
    return Table({column: [row[column] for row in rows] for column in rows[0]})


def standing_table(assessments: Mapping[str, Assessment], measures: Names | None = None) -> Table:
    """The place of every classifier by every measure, one a row; the best has the first place.

    Columns: model, measure, title, better, value, low, high, rank, place. Equal values have equal ranks; where one is
    undefined it has none, and the last place.
    """
    first = next(iter(assessments.values()))
    if len(assessments) < 2:
        raise BadOption("a ranking needs two classifiers", mend="Compare at least two")
    named = usual_measures(first) if measures is None else listed_names(measures)
    entries = {entry.label: entry for entry in map(first.find, named)}
    if not entries:
        raise BadOption("there is no measure to rank by", mend="Name at least one: ranking(['accuracy'])")
    return _below([row for entry in entries.values() for row in _standings(assessments, entry)])


def _standings(assessments: Mapping[str, Assessment], measure: Measure) -> list[dict[str, Any]]:
    """All classifiers by one measure."""
    found, ranks = _ranked(assessments, measure)
    order = list(ranks)
    shown = title(next(iter(assessments.values())), measure)
    facts = {"measure": measure.label, "title": shown, "better": measure.better}
    rows = []
    for name, one in found.items():
        numbers = {"value": one.value, "low": one.low, "high": one.high, "rank": ranks[name]}
        rows.append({"model": name, **facts, **numbers, "place": order.index(name) + 1})
    return rows


def _ranked(assessments: Mapping[str, Assessment], measure: Measure) -> tuple[dict[str, Estimate], Ranks]:
    """A measure of each classifier, and their ranks by it, the best first."""
    lower = measure.with_better_end().better == "lower"
    found = {name: each[measure] for name, each in assessments.items()}
    return found, ranked({name: one.value for name, one in found.items()}, lower)


def best_first(assessments: Mapping[str, Assessment]) -> tuple[Measure | None, list[str]]:
    """The first measure that has a better end, and the classifiers by it, the best first; as they are without one."""
    measures = next(iter(assessments.values())).settings.measures
    measure = next((entry for entry in measures if entry.better != "neither"), None)
    if measure is None:
        return None, list(assessments)
    losses = {name: measure.loss(each[measure].value) for name, each in assessments.items()}
    return measure, sorted(assessments, key=lambda name: (math.isnan(losses[name]), losses[name]))


# --- ranks of names -------------------------------------------------------------------------------------------------


Ranks = Mapping[str, int | None]


def ranked(values: Mapping[str, float], lower: bool = True) -> dict[str, int | None]:
    """The rank of each name by its value, best first; equal values share a rank, and what is undefined has none."""
    losses = np.array([value if lower else -value for value in values.values()])
    turned = dict(zip(values, evened(losses).tolist(), strict=True))
    order = sorted(turned, key=lambda name: (np.isnan(turned[name]), turned[name]))
    ahead = {name: sum(other < turned[name] for other in turned.values()) for name in order}
    return {name: None if np.isnan(turned[name]) else 1 + ahead[name] for name in order}


def in_words(ranks: Ranks) -> str:
    """A ranking as papers print it: ``qda < lda < 3-nn = tree``."""
    names = list(ranks)
    signs = ["", *[" = " if ranks[a] == ranks[b] else " < " for a, b in pairwise(names)]]
    return "".join(sign + name for sign, name in zip(signs, names, strict=True))


def swapped(one: Ranks, other: Ranks) -> set[frozenset[str]]:
    """The pairs of names that two rankings have the other way round; what has no rank is in none."""
    places = {name: (one[name], other.get(name)) for name in one}
    known = [(name, a, b) for name, (a, b) in places.items() if a is not None and b is not None]
    return {frozenset((x[0], y[0])) for x, y in combinations(known, 2) if (x[1] - y[1]) * (x[2] - y[2]) < 0}

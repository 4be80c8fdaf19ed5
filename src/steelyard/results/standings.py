"""How classifiers stand: estimates of the error within its bounds, and ranks by several measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import BadOption
from ..core.scale import Continuum
from ..core.table import Table
from ..measures.registry import Measure
from .ranks import ranked

if TYPE_CHECKING:
    from .assessment import Assessment

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
    named = computed(first, ESTIMATES) if measures is None else _listed(measures)
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
    named = usual_measures(first) if measures is None else _listed(measures)
    entries = {entry.label: entry for entry in map(first.find, named)}
    if not entries:
        raise BadOption("there is no measure to rank by", mend="Name at least one: ranking(['accuracy'])")
    return _below([row for entry in entries.values() for row in _ranked(assessments, entry)])


def _ranked(assessments: Mapping[str, Assessment], measure: Measure) -> list[dict[str, Any]]:
    """All classifiers by one measure."""
    measure.with_better_end()
    found = {name: each[measure] for name, each in assessments.items()}
    ranks = ranked({name: one.value for name, one in found.items()}, lower=measure.better == "lower")
    order = list(ranks)
    shown = title(next(iter(assessments.values())), measure)
    facts = {"measure": measure.label, "title": shown, "better": measure.better}
    rows = []
    for name, one in found.items():
        place = order.index(name) + 1
        numbers = {"value": one.value, "low": one.low, "high": one.high, "rank": ranks[name], "place": place}
        rows.append({"model": name, **facts, **numbers})
    return rows


def best_first(assessments: Mapping[str, Assessment]) -> tuple[Measure | None, list[str]]:
    """The first measure that has a better end, and the classifiers by it, the best first; as they are without one."""
    measures = next(iter(assessments.values())).settings.measures
    measure = next((entry for entry in measures if entry.better != "neither"), None)
    if measure is None:
        return None, list(assessments)
    losses = {name: measure.loss(each[measure].value) for name, each in assessments.items()}
    return measure, sorted(assessments, key=lambda name: (math.isnan(losses[name]), losses[name]))


def _listed(measures: Names) -> list[str | Measure]:
    """One measure alone may be named without a list."""
    return [measures] if isinstance(measures, str | Measure) else list(measures)

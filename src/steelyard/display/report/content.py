"""All that the page shows, as one plain dictionary: every number comes from the library, none is made by the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...core.text import in_percent
from ...core.threads import meanwhile
from ...results.assessment import Assessment
from ...results.parts import compute_all
from ...results.verdicts import spoken
from ..grids import heading, overall_rows, titled
from ..plots.style import COLOURS
from .call import call_of
from .contests import deciding_of, differences_of, folds_of
from .facts import data_of, methods_of, sources_of, versions
from .figures import curves_of, reliability_of, simplex_of, strip_of
from .measured import MOST_CLASSES, Overall, classes_of, confusion_of, measures_of, slices_of
from .operating import operating_of
from .wording import sentences, shown

if TYPE_CHECKING:
    from ...results.comparison import Comparison
    from ...results.verdicts import Verdict
    from .operating import Rankings

MOST_NOTES = 12


def content_of(
    result: Assessment | Comparison, title: str | None = None, command: str | None = None, rows: bool = False
) -> dict[str, Any]:
    """Everything about one or more classifiers that the page shows; JSON can hold it.

    Single rows are part of it only where that is asked for.
    """
    comparison = None if isinstance(result, Assessment) else result
    assessments = {result.model: result} if isinstance(result, Assessment) else result.assessments
    first = next(iter(assessments.values()))
    first.refuse_hidden()
    _compute(assessments)
    ranked: Rankings = {}
    operating = operating_of(assessments, ranked)
    overall = [overall_rows(each) for each in assessments.values()]
    # Neither keeps two cores busy all of the time.
    with meanwhile(lambda: reliability_of(assessments, ranked)) as curves:
        simplex = simplex_of(assessments, rows)
    reliability = curves.result()
    verdict = None if comparison is None else spoken(comparison)
    content: dict[str, Any] = {
        "steelyard": __version__,
        "title": shown(title) if title else _title(assessments),
        "models": [shown(name) for name in assessments],
        "ticked": _ticked(assessments),
        "heading": heading(first),
        "level": in_percent(first.settings.level),
        "verdict": _said(verdict, assessments, overall),
        "measures": measures_of(first, overall),
        "confusion": confusion_of(assessments),
        "operating": operating,
        "classes": classes_of(assessments),
        "slices": slices_of(assessments),
        "curves": curves_of(first, reliability),
        "reliability": reliability,
        "simplex": simplex,
        "strip": strip_of(assessments, rows),
        "differences": None if verdict is None else differences_of(verdict),
        "deciding": [] if verdict is None or comparison is None else deciding_of(comparison, verdict, rows),
        "folds": None if comparison is None else folds_of(comparison),
        "data": data_of(assessments, result),
        "notes": result.notes[:MOST_NOTES],
        "versions": [list(pair) for pair in versions()],
        "call": command or call_of(result, assessments),
    }
    return content | {"methods": methods_of(content), "sources": sources_of(content)}


def _compute(assessments: Mapping[str, Assessment]) -> None:
    """Compute all slots at once, which is quicker than one by one; of many classes few are shown."""
    for each in assessments.values():
        if len(each.classes) <= MOST_CLASSES:
            compute_all([part for part in each.parts.values() if part.evaluation.measures])


def _ticked(assessments: Mapping[str, Assessment]) -> dict[str, Any]:
    """Which classifiers are shown at first, and how they were picked: of many, as many as there are colours."""
    every, first = list(assessments.values()), next(iter(assessments.values()))
    judged = [entry for entry in first.settings.measures if entry.better != "neither"]
    if len(every) <= len(COLOURS) or not judged:
        return {"models": list(range(len(every))), "words": ""}
    entry = judged[0]
    losses = [entry.loss(each[entry].value) for each in every]
    best = sorted(range(len(every)), key=lambda place: (math.isnan(losses[place]), losses[place]))[: len(COLOURS)]
    end = "highest" if entry.better == "higher" else "lowest"
    return {"models": sorted(best), "words": f"the {len(best)} with the {end} {shown(titled(entry))} are shown"}


def _title(assessments: Mapping[str, Assessment]) -> str:
    """What the page is called where nobody says so."""
    names = [shown(name) for name in assessments]
    if len(names) == 1:
        return f"Assessment of {names[0]}"
    return f"Comparison of {' and '.join(names)}" if len(names) == 2 else f"Comparison of {len(names)} classifiers"


def _said(verdict: Verdict | None, assessments: Mapping[str, Assessment], overall: Sequence[Overall]) -> list[str]:
    """The verdict as the library says it, a line an item; of one classifier, what its measures say."""
    if verdict is not None:
        return verdict.words().splitlines()
    pairs = zip(assessments.values(), overall, strict=True)
    return [line for each, rows in pairs for line in sentences(each, rows)]

"""A result in short, for notebooks and pull requests: a headline, the main measures, and the rest folded away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.text import bare, in_percent
from ..results.verdicts import judged_first, spoken
from ..states.statistics import CONFUSION
from .grids import (
    Grid,
    both,
    class_grid,
    confusion_grid,
    continuum_notes,
    differences_grid,
    heading,
    in_short,
    measures_grid,
    overall_rows,
    parts_grid,
    side_by_side,
    slice_grid,
    some_notes,
    told,
    why_undefined,
)

if TYPE_CHECKING:
    from ..inference.settings import Settings
    from ..measures.registry import Measure
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison

FEW = 12
MAIN = (
    *("error", "guarded_error", "adjusted_error", "apparent_sqerr", "guarded_sqerr", "kappa"),
    *("auc", "log_score", "brier", "sensitivity", "specificity", "precision", "f1"),
)


@dataclass(frozen=True)
class Digest:
    """What is told at once, and what can be unfolded. Nothing in it is harmless yet."""

    headline: str
    facts: str
    main: Grid
    folded: dict[str, Grid]
    notes: Sequence[str]
    said: Sequence[str] = ()


def main_measures(settings: Settings) -> Sequence[Measure]:
    """All measures if they are few, else those that most people look for."""
    computed = {measure.name: measure for measure in settings.measures}
    known = [computed[name] for name in MAIN if name in computed]
    return settings.measures if len(settings.measures) <= FEW or not known else known


def assessment_digest(assessment: Assessment) -> Digest:
    """One classifier in short."""
    measures, everything = main_measures(assessment.settings), assessment.settings.measures
    rows = overall_rows(assessment, measures)
    noted = any(e.note for _, e in rows)
    cells = [[label, *told(e), *([e.note] if noted else [])] for label, e in rows]
    columns = ["measure", "value", f"{in_percent(assessment.settings.level)} interval", *(["note"] if noted else [])]
    counted = bool(assessment.settings.made_of(CONFUSION))
    whole = measures_grid(assessment, everything)
    folded = {
        "confusion table": confusion_grid(assessment) if counted else None,
        "by class": class_grid(assessment),
        "by slice": slice_grid(assessment),
        f"all {len(whole.rows)} measures" if len(everything) > len(measures) else "how these were computed": whole,
    }
    return Digest(
        f"{assessment.model}: {rows[0][0][2:]} {both(rows[0][1])}" if rows else assessment.model,
        heading(assessment),
        Grid(columns, cells, (1,)),
        {title: grid for title, grid in folded.items() if grid is not None},
        [*_chosen(assessment), *continuum_notes(assessment), *some_notes(assessment.notes)],
    )


def _chosen(assessment: Assessment) -> list[str]:
    return [] if assessment.decision is None else str(assessment.decision).splitlines()


def comparison_digest(comparison: Comparison, measure: str | None = None) -> Digest:
    """Several classifiers in short, with the verdict by one measure at the head."""
    first = comparison[comparison.models[0]]
    if len(comparison.models) == 1:
        return assessment_digest(first)
    measures, everything = main_measures(comparison.settings), comparison.settings.measures
    name = measure or judged_first(comparison)
    judged, verdict = first.find(name).better != "neither", spoken(comparison, measure)
    folded = {f"differences in {name} (a - b)": differences_grid(comparison, name)}
    if len(everything) > len(measures):
        whole = side_by_side(comparison)
        folded[f"all {len(whole.rows)} measures"] = whole
    parts = parts_grid(comparison, name)
    if parts is not None:
        folded[f"{name} by slice"] = parts
    many = f"{len(comparison.models)} classifiers"
    chosen = [f"{model}: {line}" for model, how in comparison.decisions.items() for line in str(how).splitlines()]
    said = [f"{model}, {note}" for model in comparison.models for note in continuum_notes(comparison[model])]
    return Digest(
        bare(comparison.verdict(name).words(numbers=False)) if judged else f"{many} by {name}",
        f"{many} on the same {heading(first)}",
        in_short(comparison, measures),
        folded,
        some_notes([*chosen, *why_undefined(comparison), *said, *comparison.notes]),
        [] if verdict is None else bare(verdict.words()).splitlines(),
    )


def with_more(digest: Digest, facts: str = "", notes: Sequence[str] = ()) -> Digest:
    """The same with what only some commands know."""
    told = f"{digest.facts}; {facts}" if facts else digest.facts
    return replace(digest, facts=told, notes=[*digest.notes, *notes])

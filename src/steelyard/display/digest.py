"""A result in short, for notebooks and pull requests: a headline, the main measures, and the rest folded away.

As HTML for a notebook it has no script and fetches nothing, and everything that came from data is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.errors import harmless
from ..core.text import bare, in_percent
from ..results.verdicts import judged_first, spoken
from ..states.statistics import CONFUSION
from .grids import (
    TextGrid,
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
    main: TextGrid
    folded: dict[str, TextGrid]
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
    chosen = [] if assessment.decision is None else str(assessment.decision).splitlines()
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
        TextGrid(columns, cells, (1,)),
        {title: grid for title, grid in folded.items() if grid is not None},
        [*chosen, *continuum_notes(assessment), *some_notes(assessment.notes)],
    )


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


# --- HTML for a notebook ------------------------------------------------------------------------------------------

# Colours are the notebook's own, in full or in part, so that all can be read in the light and in the dark: its theme
# may be dark where prefers-color-scheme, which speaks of the system, says light.
STYLE = """<style>
.steelyard{font:13px/1.45 system-ui,sans-serif;overflow-x:auto}
.steelyard b{font-size:14px}
.steelyard .dim,.steelyard summary{opacity:.72}
.steelyard p{margin:.2em 0 .4em;max-width:60em}
.steelyard table{border-collapse:collapse;margin:.3em 0 .6em;font-variant-numeric:tabular-nums}
.steelyard th,.steelyard td{padding:.15em .8em .15em 0;border:0;text-align:left;vertical-align:top}
.steelyard th,.steelyard td{background:none;white-space:pre}
.steelyard th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.5)}
.steelyard td{border-bottom:1px solid rgba(128,128,128,.15)}
.steelyard .number{text-align:right}
.steelyard .long{white-space:normal;max-width:36em}
.steelyard summary{cursor:pointer}
</style>"""
LONG_CELL = 40


def digest_html(digest: Digest) -> str:
    """The headline, the main measures, and the rest to be unfolded."""
    parts = [f"<p><b>{escaped(digest.headline)}</b><br><span class='dim'>{escaped(digest.facts)}</span></p>"]
    parts += [f"<p>{escaped(line)}</p>" for line in digest.said]
    parts.append(grid_html(digest.main))
    for title, grid in digest.folded.items():
        parts.append(f"<details><summary>{escaped(title)}</summary>{grid_html(grid)}</details>")
    parts += [f"<p class='dim'>note: {escaped(note)}</p>" for note in digest.notes]
    return f"{STYLE}<div class='steelyard'>{''.join(parts)}</div>"


def grid_html(grid: TextGrid) -> str:
    """A grid as a table."""
    head = "".join(_cell("th", name, place in grid.right) for place, name in enumerate(grid.columns))
    rows = "".join(
        f"<tr>{''.join(_cell('td', cell, place in grid.right) for place, cell in enumerate(row))}</tr>"
        for row in grid.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(kind: str, text: str, right: bool) -> str:
    classes = " ".join([*(["number"] if right else []), *(["long"] if len(text) > LONG_CELL else [])])
    named = f" class='{classes}'" if classes else ""
    return f"<{kind}{named}>{escaped(text)}</{kind}>"


def escaped(text: object) -> str:
    """Text that stands for itself."""
    return html.escape(harmless(text))

"""Who beats whom: the differences between classifiers, the rows that decide them, and the folds they come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import SteelyardError
from ...core.table import json_value
from ...core.text import count, estimated, number, p_value
from ...modelling.cross_assessment import CrossAssessment
from ...states.statistics import CONFUSION
from .wording import drawn, shown, worded

if TYPE_CHECKING:
    from ...core.table import Table
    from ...measures.registry import Measure
    from ...results.comparison import Comparison
    from ...results.verdicts import Verdict

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

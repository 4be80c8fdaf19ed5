"""The list of measures, made from the registry: for the terminal and for the docs."""

from __future__ import annotations

import inspect
from typing import Any

from .measures import all_measures
from .registry import Measure
from .table import Table


def span_text(measure: Measure) -> str:
    """The values that a measure can take, in words."""
    low, high = ("-∞" if end == float("-inf") else "∞" if end == float("inf") else f"{end:g}" for end in measure.span)
    return f"{low} to {high}"


def explain(measure: Measure) -> dict[str, Any]:
    """All that is known of one measure."""
    doc = " ".join((inspect.getdoc(measure.formula) or "").split())
    parameters = ", ".join(f"{key}={value!r}" for key, value in measure.parameters.items())
    return {
        "name": measure.name,
        "title": measure.title,
        "also": ", ".join(measure.aliases),
        "says": doc,
        "better": measure.better,
        "span": span_text(measure),
        "by chance": None if measure.chance is None else str(measure.chance),
        "of": _of(measure),
        "parameters": parameters,
        "undefined": measure.undefined.replace("{class}", "X"),
        "source": measure.cite,
    }


def _of(measure: Measure) -> str:
    if measure.slopes is not None:
        return "the ranking of each class, and averages"
    return "each class, and averages" if measure.per_class else "the whole table"


def listing() -> Table:
    """Every measure in a line."""
    entries = all_measures().values()
    return Table(
        {
            "name": [entry.name for entry in entries],
            "better": [entry.better for entry in entries],
            "span": [span_text(entry) for entry in entries],
            "of": ["ranking" if e.slopes else "class" if e.per_class else "table" for e in entries],
            "says": [entry.summary for entry in entries],
        }
    )

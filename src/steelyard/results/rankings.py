"""Classifiers in the order that a measure puts them in, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.errors import BadOption, quoted
from ..core.table import Table
from ..measures.registry import Measure
from .comparison import Comparison
from .ranks import ranked


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
        entry = measure.with_better_end()
        found = {model: comparison[model][entry] for model in comparison.models}
        ranks = ranked({model: each.value for model, each in found.items()}, lower=entry.better == "lower")
        columns["measure"] += [entry.label] * len(ranks)
        columns["rank"] += ranks.values()
        columns["model"] += ranks
        for bound in ("value", "low", "high"):
            columns[bound] += [getattr(found[model], bound) for model in ranks]
    return Table(columns)

"""Classifiers in the order that a measure puts them in, and where two measures put them in another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ..distinct import evened
from ..errors import BadOption, quoted
from ..registry import Measure
from ..table import Table
from .comparison import Comparison

Ranks = Mapping[str, int | None]


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

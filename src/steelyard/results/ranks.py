"""Ranks of names by their values, in words, and where two rankings differ."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise

import numpy as np

from ..core.arrays import evened

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

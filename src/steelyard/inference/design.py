"""How rows were drawn, and what follows from it: the variance of sums of what they add.

Rows are drawn one by one, or by clusters: then a cluster adds as a whole. Rows of one pattern are alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import distinct
from ..maths.sides import one_less, squares_of, summed_at
from ..states.statistics import Patterns

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

NO_ERROR = 1e-12  # less than any standard error: what rounding makes of 0


def weighted_sums(values: Array, weight: Array) -> Array:
    """Return weighted sums of rows. Not a product of matrices: threads for so little cost more than they save."""
    return np.asarray(np.einsum("ij,j->i", values, weight))


def by_cluster(patterns: Patterns, influences: Array) -> Array:
    """Sum influences within clusters: (slots, patterns) to (slots, clusters)."""
    if patterns.cluster is None:
        raise TypeError("the rows belong to no clusters")
    return summed_at(patterns.cluster, (row * patterns.mass for row in influences), patterns.clusters)


def parts_of(patterns: Patterns, influences: Array) -> Array:
    """Return what each pattern or cluster adds to a slot: the squares add up to a multiple of the variance."""
    if patterns.cluster is not None:
        return by_cluster(patterns, influences)
    return np.asarray(influences * np.sqrt(patterns.square))


def second_moment(patterns: Patterns, influences: Array) -> Array:
    """Return the variance of sums of influences over the rows: one number a slot."""
    if patterns.cluster is None:
        return squares_of(influences, patterns.square)
    return np.asarray(np.square(by_cluster(patterns, influences)).sum(axis=1) * one_less(patterns.clusters))


def variances_of(patterns: Patterns, influences: Array, unit: float) -> Array:
    """Return the same with what classes add whose rows are all of one cluster.

    There, what they add cancels: the mean of the class is that of the cluster. So the rows give how far it scatters, as
    many of them as are worth one that is independent, which weighs ``unit``.
    """
    found = second_moment(patterns, influences)
    for code in lone_classes(patterns).tolist():
        own = patterns.truth == code
        rows = influences[:, own] - np.average(influences[:, own], axis=1, weights=patterns.mass[own])[:, None]
        found += unit / row_mass(patterns) * squares_of(rows, patterns.square[own])
    return found


def lone_classes(patterns: Patterns) -> Codes:
    """Return the classes whose rows are all of one cluster; none where there is no other."""
    if patterns.cluster is None or patterns.clusters < 2:
        return np.zeros(0, np.int64)
    here = patterns.mass > 0  # what was taken out again leaves nothing that could scatter
    seen = distinct(patterns.truth[here] * patterns.clusters + patterns.cluster[here]) // patterns.clusters
    return np.flatnonzero(np.bincount(seen) == 1)


def row_mass(patterns: Patterns) -> float:
    """Return what one row weighs."""
    return 1.0 if patterns.square is patterns.mass else float(patterns.square.sum() / patterns.mass.sum())


def unit_of(patterns: Patterns, model: int) -> float:
    """Return what one independent observation weighs: more than one row where rows of a cluster are alike.

    How many rows of a cluster tell as much as one independent row is judged by the error rate. They are between 1 and
    the (size-biased) mean size of a cluster; the latter where there is nothing to judge by.
    """
    row = row_mass(patterns)
    if patterns.cluster is None:
        return row
    right = (patterns.truth == patterns.assigned[model]).astype(float)
    centred = (right - np.average(right, weights=patterns.mass))[None]
    together, alone = second_moment(patterns, centred), squares_of(centred, patterns.square)
    sizes = summed_at(patterns.cluster, (patterns.mass,), patterns.clusters)[0]
    return float(units_of(sizes, row, together, alone)[0])


def units_of(sizes: Array, row: float, together: Array, alone: Array) -> Array:
    """Return the same by what clusters weigh, and variances of rows: together in their clusters, and each alone."""
    most = max(float(np.square(sizes).sum() / sizes.sum() / row), 1.0)
    ratio = np.divide(together, alone, out=np.full(len(alone), most), where=alone > 0)
    return np.asarray(row * np.clip(ratio, 1.0, most))

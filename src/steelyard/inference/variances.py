"""From influences to variances, once for all measures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import distinct
from ..core.threads import SMALL_PRODUCT, chunks
from ..states.statistics import MOST_LAID_OUT, Patterns
from .influence import FEW_CLASSES, Influence, Spread, pseudo_mean, pseudo_shares, pseudo_table
from .table_evaluation import PSEUDO_ROWS, Evaluation

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

NO_ERROR = 1e-12  # less than any standard error: what rounding makes of 0
DENSE = 4  # patterns a class from which on the whole table is cheaper than its patterns
MOST_NUMBERS = 1 << 24  # held at once when influences are laid out pattern by pattern


def by_cluster(patterns: Patterns, influences: Array) -> Array:
    """Sum influences within clusters: (slots, patterns) to (slots, clusters)."""
    cluster = np.arange(len(patterns.mass)) if patterns.cluster is None else patterns.cluster
    found = np.empty((len(influences), patterns.clusters))
    for sums, row in zip(found, influences, strict=True):
        sums[:] = np.bincount(cluster, row * patterns.mass, patterns.clusters)
    return found


def second_moment(patterns: Patterns, influences: Array) -> Array:
    """The variance of sums of influences over the rows: one number a slot."""
    if patterns.cluster is None:
        return weighted_sums(np.square(influences), patterns.square)
    return np.asarray(np.square(by_cluster(patterns, influences)).sum(axis=1) * _few_clusters(patterns))


def counted_moment(evaluation: Evaluation, influences: Array) -> Array:
    """The same of counts, (slots, patterns), with what classes add whose rows are all of one cluster.

    There, what they add cancels: the mean of the class is that of the cluster. So the rows tell how far it scatters, as
    many of them as are worth one that is independent.
    """
    patterns, found = evaluation.patterns, second_moment(evaluation.patterns, influences)
    for code in lone_classes(patterns).tolist():
        own = patterns.truth == code
        rows = influences[:, own] - np.average(influences[:, own], axis=1, weights=patterns.mass[own])[:, None]
        found += _effect(evaluation) * weighted_sums(np.square(rows), patterns.square[own])
    return found


def lone_classes(patterns: Patterns) -> Codes:
    """The classes whose rows are all of one cluster; none where there is no other."""
    if patterns.cluster is None or patterns.clusters < 2:
        return np.zeros(0, np.int64)
    here = patterns.mass > 0  # what was taken out again leaves nothing that could scatter
    seen = distinct(patterns.truth[here] * patterns.clusters + patterns.cluster[here]) // patterns.clusters
    return np.flatnonzero(np.bincount(seen) == 1)


def weighted_sums(values: Array, weight: Array) -> Array:
    """Weighted sums of rows. Not a product of matrices: threads for so little cost more than they save."""
    return np.asarray(np.einsum("ij,j->i", values, weight))


def _few_clusters(patterns: Patterns) -> float:
    count = patterns.clusters
    return count / (count - 1) if count > 1 else float("nan")


def design_effect(patterns: Patterns, model: int) -> float:
    """How many rows of a cluster tell as much as one independent row, judged by the error rate.

    Between 1 and the (size-biased) mean size of a cluster; the latter where there is nothing to judge by.
    """
    if patterns.cluster is None:
        return 1.0
    sizes = np.bincount(patterns.cluster, patterns.mass)
    most = float((sizes**2).sum() / sizes.sum() / (patterns.square.sum() / patterns.mass.sum()))
    right = (patterns.truth == patterns.assigned[model]).astype(float)
    centred = (right - np.average(right, weights=patterns.mass))[None]
    alone = float(np.square(centred[0]) @ patterns.square)
    together = float(second_moment(patterns, centred)[0]) if alone > 0 else np.inf
    return float(np.clip(together / alone, 1.0, max(most, 1.0))) if alone > 0 else max(most, 1.0)


def class_variance(evaluation: Evaluation) -> Array:
    """Variances of the class slots, (2, slots), the pseudo-rows over the table of each class among the rows."""
    patterns, model, slopes = evaluation.patterns, evaluation.model, evaluation.own_slopes
    squares, pseudo = np.square(slopes), PSEUDO_ROWS * evaluation.unit**2 / 4
    if patterns.cluster is None:
        weights = np.array([evaluation.square_cells, evaluation.square_cells + pseudo]).swapaxes(0, 1)[:, None]
        return np.asarray(np.add.reduce(squares * weights).swapaxes(0, 1).reshape(2, -1))
    variances = np.zeros(slopes.shape[1:])
    for code in range(patterns.classes if slopes.size else 0):  # no slots where no measure speaks of one class
        # Cells in the order tp, fn, fp, tn: true and assigned, true only, assigned only, neither.
        cell = 2 * (patterns.truth != code) + (patterns.assigned[model] != code)
        counts = np.bincount(4 * patterns.cluster + cell, patterns.mass, 4 * patterns.clusters).reshape(-1, 4)
        for low, high in chunks(0, len(counts), slopes[..., code].size):
            variances[..., code] += np.square(np.einsum("kc,cij->kij", counts[low:high], slopes[..., code])).sum(axis=0)
    variances *= _few_clusters(patterns)
    for lone in lone_classes(patterns).tolist():
        variances += _effect(evaluation) * _within_cells(patterns, model, lone, slopes)
    variances[:, 1] += pseudo * np.add.reduce(squares[:, :, 1])
    return variances.swapaxes(0, 1).reshape(2, -1)


def _within_cells(patterns: Patterns, model: int, lone: int, slopes: Array) -> Array:
    """How far the rows of a class scatter around their mean by these slopes, (4, measures, 2, classes): all but 4."""
    own = patterns.truth == lone
    assigned, found = patterns.assigned[model][own], np.zeros(slopes.shape[1:])
    for code in range(patterns.classes):
        cell = 2 * (lone != code) + (assigned != code)
        mass, square = (np.bincount(cell, each[own], 4) for each in (patterns.mass, patterns.square))
        mean = np.einsum("c,cij->ij", mass, slopes[..., code]) / mass.sum()
        found[..., code] = np.einsum("c,cij->ij", square, np.square(slopes[..., code] - mean))
    return found


def table_variance(evaluation: Evaluation) -> Array:
    """Variances of the slots behind the class slots, (2, slots), the pseudo-rows over the table among the rows."""
    patterns, model, influence = evaluation.patterns, evaluation.model, evaluation.influence
    pseudo, squares = PSEUDO_ROWS * evaluation.unit**2, replace(patterns, mass=patterns.square)
    if patterns.cluster is None and patterns.classes <= FEW_CLASSES:
        table = squares.table(model)
        weights = np.array([table, table + pseudo * pseudo_table(patterns.classes)]).reshape(2, -1, 1)
        return np.asarray((np.square(influence.tables).reshape(2, -1, table.size) @ weights)[..., 0])
    dense = DENSE * patterns.classes < len(patterns.truth) and patterns.classes <= MOST_LAID_OUT
    if patterns.cluster is None and dense:
        variances = _variance_over_table(squares.table(model), influence).reshape(2, -1)
    else:
        variances = _variance_over_patterns(evaluation, influence).reshape(2, -1)
    variances[1] += pseudo * pseudo_squares(influence, first=variances.shape[1])
    return variances


def _variance_over_patterns(evaluation: Evaluation, influence: Influence) -> Array:
    """Sum squared influences pattern by pattern, or those of clusters, a few slots at a time."""
    truth, assigned = evaluation.patterns.truth, evaluation.patterns.assigned[evaluation.model]
    step = max(1, MOST_NUMBERS // max(len(truth), 1))
    pieces = [influence[low : low + step] for low in range(0, len(influence.base), step)]
    return np.concatenate([counted_moment(evaluation, piece.at(truth, assigned)) for piece in pieces])


def _variance_over_table(squares: Array, influence: Influence) -> Array:
    """Sum squared influences over a full table, without laying them out: (row + column)^2 is multiplied out.

    The diagonal is left as it is, and row and column are centred, so that little cancels.
    """
    right, wrong = np.diag(squares), squares - np.diag(np.diag(squares))
    row, column = influence.centred
    variance = weighted_sums(np.square(row), wrong.sum(axis=1)) + weighted_sums(np.square(column), wrong.sum(axis=0))
    variance += weighted_sums(np.square(row + column + influence.diagonal), right)
    step = max(16, SMALL_PRODUCT // wrong.size)
    for low in range(0, len(row), step):
        variance[low : low + step] += 2 * (row[low : low + step] @ wrong * column[low : low + step]).sum(axis=1)
    for place, table in influence.priced_tables.items():
        variance[place] = (np.square(table) * squares).sum()
    return np.asarray(np.maximum(variance, 0.0))


def pseudo_squares(influence: Influence, first: int = 0) -> Array:
    """Mean squared influence of a pseudo-row, on the slots from the first one on."""
    classes = influence.row.shape[1]
    if classes <= FEW_CLASSES:
        return np.asarray(pseudo_mean(np.square(influence.tables[first:])))
    row, column, diagonal = (part[first:] for part in (*influence.centred, influence.diagonal))
    right, wrong = pseudo_shares(classes)
    # Over all cells, as if there were no diagonal, the sum of row * column is 0.
    everywhere = classes * (np.square(row) + np.square(column)).sum(axis=1)
    without, on_diagonal = np.square(row + column), np.square(row + column + diagonal)
    squares = wrong * (everywhere - without.sum(axis=1)) + right * on_diagonal.sum(axis=1)
    for place, table in influence.priced_tables.items():
        if place >= first:
            squares[place - first] = pseudo_mean(np.square(table))
    for place, matrix in influence.by_distance.items():
        if place >= first:
            price, at = float(influence.penalty[place]), place - first
            together = float((row[at] @ matrix).sum() + (column[at] @ matrix).sum())
            squares[at] += wrong * (2 * price * together + price**2 * matrix.total(2))
    return np.asarray(squares)


def spread(evaluation: Evaluation) -> Spread:
    """Find both standard errors of every slot."""
    with np.errstate(invalid="ignore", over="ignore"):
        variances = np.concatenate([class_variance(evaluation), table_variance(evaluation)], axis=1)
        plain, smooth = np.sqrt(variances)
        # Where there is no value there is no error of it either; what rounding makes of 0 is 0.
        plain[plain < NO_ERROR] = 0.0
        plain[~np.isfinite(evaluation.values[0] + plain)] = np.nan
        return Spread(plain, smooth)


def unit_of(patterns: Patterns, model: int) -> float:
    """What one independent observation weighs: more than one row where rows of a cluster are alike."""
    return _per_row(patterns) * design_effect(patterns, model)


def _effect(evaluation: Evaluation) -> float:
    """How many rows are worth one that is independent."""
    return evaluation.unit / _per_row(evaluation.patterns)


def _per_row(patterns: Patterns) -> float:
    return 1.0 if patterns.square is patterns.mass else float(patterns.square.sum() / patterns.mass.sum())

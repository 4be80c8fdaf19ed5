"""From influences to variances to intervals, once for all measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..evaluating.evaluation import FEW_CLASSES, PSEUDO_ROWS, Evaluation, Influence, Slot, Spread
from ..evaluating.layout import Layout
from ..evaluating.row_evaluation import RowEvaluation
from ..parallel import SMALL_PRODUCT, chunks
from ..registry import Facts
from ..sums.statistics import Patterns

if TYPE_CHECKING:
    from ..kinds import Array, Codes, Places

NO_ERROR = 1e-12  # less than any standard error: what rounding makes of 0
DENSE = 4  # patterns a class from which on the whole table is cheaper than its patterns
MOST_NUMBERS = 1 << 24  # held at once when influences are laid out pattern by pattern

SIDES = np.array([[-1.0], [1.0]])  # the lower bound and the upper

WILSON, LOGIT, FISHER, LOG, RATIO, MEAN = (
    "Wilson",
    "delta, logit scale",
    "delta, Fisher scale",
    "delta, log scale",
    "delta, log scale of 1 - value",
    "t",
)
PLAIN = "plain"
CHI_SQUARED = "noncentral chi-squared"
SKEWED = "Hall's t"
FIELLER = "Fieller"
MOVED = "Wilson, moved"
GAMMA = "gamma"
OF_THEIR_OWN = (CHI_SQUARED, SKEWED, MOVED, GAMMA)  # bounds that evaluations bring along
SPANS = {
    WILSON: (0.0, 1.0),
    LOGIT: (0.0, 1.0),
    FISHER: (-1.0, 1.0),
    LOG: (0.0, np.inf),
    RATIO: (-np.inf, 1.0),
    FIELLER: (-np.inf, 1.0),
    MEAN: (-np.inf, np.inf),
    CHI_SQUARED: (0.0, 1.0),
    SKEWED: (-np.inf, np.inf),
    MOVED: (-np.inf, np.inf),
    GAMMA: (0.0, np.inf),
}
BY_SPAN = {
    (0.0, 1.0): LOGIT,
    (0.0, 2.0): LOG,
    (0.0, float("inf")): LOG,
    (-1.0, 1.0): FISHER,
    (float("-inf"), 1.0): RATIO,
}


def interval_method(slot: Slot) -> str:
    """Which interval suits a slot, by what the measure is and the values it can take."""
    method = _method(slot.measure.facts, slot.average)
    return FIELLER if method == RATIO and "reference" in slot.measure.arguments else method


def _method(measure: Facts, average: str | None) -> str:
    if measure.binned:
        return CHI_SQUARED
    if measure.proportion and average in (None, "micro"):
        return WILSON
    if measure.skewed:
        return MOVED if measure.counted else GAMMA if measure.bounded else SKEWED
    return BY_SPAN.get(measure.span, MEAN)


@lru_cache(maxsize=16)
def interval_methods(layout: Layout) -> tuple[str, ...]:
    """The same for all slots: what holds for one class holds for all."""
    methods: dict[int, str] = {}
    for measure in layout.measures:
        together, of_classes = layout.spans[measure.label]
        averages = layout.kinds if measure.per_class else (None,)
        methods |= {place: _method(measure, average) for place, average in zip(together, averages, strict=True)}
        methods |= dict.fromkeys(of_classes, _method(measure, None))
    return tuple(methods[place] for place in range(len(methods)))


@lru_cache(maxsize=16)
def method_places(layout: Layout) -> dict[str, Places]:
    """Where each method is used."""
    methods = interval_methods(layout)
    return {
        method: np.array([place for place, other in enumerate(methods) if other == method])
        for method in dict.fromkeys(methods)
    }


# --- variances ------------------------------------------------------------------------------------------------


def by_cluster(patterns: Patterns, influences: Array) -> Array:
    """Sum influences within clusters: (slots, patterns) to (slots, clusters)."""
    cluster = np.zeros(0, np.int64) if patterns.cluster is None else patterns.cluster
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(patterns.clusters))
    return np.add.reduceat((influences * patterns.mass)[:, order], starts, axis=1)


def second_moment(patterns: Patterns, influences: Array) -> Array:
    """The variance of sums of influences over the rows: one number a slot."""
    if patterns.cluster is None:
        return weighted_sums(np.square(influences), patterns.square)
    return np.asarray(np.square(by_cluster(patterns, influences)).sum(axis=1) * _few_clusters(patterns))


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
    for code in range(patterns.classes):
        # Cells in the order tp, fn, fp, tn: true and assigned, true only, assigned only, neither.
        cell = 2 * (patterns.truth != code) + (patterns.assigned[model] != code)
        counts = np.bincount(4 * patterns.cluster + cell, patterns.mass, 4 * patterns.clusters).reshape(-1, 4)
        for low, high in chunks(0, len(counts), slopes[..., code].size):
            variances[..., code] += np.square(np.einsum("kc,cij->kij", counts[low:high], slopes[..., code])).sum(axis=0)
    variances *= _few_clusters(patterns)
    variances[:, 1] += pseudo * np.add.reduce(squares[:, :, 1])
    return variances.swapaxes(0, 1).reshape(2, -1)


def table_variance(evaluation: Evaluation) -> Array:
    """Variances of the slots behind the class slots, (2, slots), the pseudo-rows over the table among the rows."""
    patterns, model, influence = evaluation.patterns, evaluation.model, evaluation.influence
    pseudo, squares = PSEUDO_ROWS * evaluation.unit**2, replace(patterns, mass=patterns.square)
    if patterns.cluster is None and patterns.classes <= FEW_CLASSES:
        table = squares.table(model).ravel()
        weights = np.array([table, table + pseudo / len(table)])[..., None]
        return np.asarray((np.square(influence.tables).reshape(2, -1, len(table)) @ weights)[..., 0])
    if patterns.cluster is None and len(patterns.truth) > DENSE * patterns.classes:
        variances = _variance_over_table(squares.table(model), influence).reshape(2, -1)
    else:
        variances = _variance_over_patterns(patterns, model, influence).reshape(2, -1)
    variances[1] += pseudo * pseudo_squares(influence, first=variances.shape[1])
    return variances


def _variance_over_patterns(patterns: Patterns, model: int, influence: Influence) -> Array:
    """Sum squared influences pattern by pattern, or those of clusters, a few slots at a time."""
    truth, assigned = patterns.truth, patterns.assigned[model]
    step = max(1, MOST_NUMBERS // max(len(truth), 1))
    pieces = [influence[low : low + step] for low in range(0, len(influence.base), step)]
    return np.concatenate([second_moment(patterns, piece.at(truth, assigned)) for piece in pieces])


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
    """Mean squared influence of a row spread evenly over the table, on the slots from the first one on."""
    classes = influence.row.shape[1]
    if classes <= FEW_CLASSES:
        return np.asarray(np.square(influence.tables[first:]).sum(axis=(1, 2)) / classes**2)
    row, column, diagonal = (part[first:] for part in (*influence.centred, influence.diagonal))
    # The mean of row * column is 0 but for the diagonal.
    squares = (np.square(row) + np.square(column)).sum(axis=1) / classes
    squares += (diagonal * (2 * (row + column) + diagonal)).sum(axis=1) / classes**2
    for place, table in influence.priced_tables.items():
        if place >= first:
            squares[place - first] = np.square(table).mean()
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
    per_row = 1.0 if patterns.square is patterns.mass else float(patterns.square.sum() / patterns.mass.sum())
    return per_row * design_effect(patterns, model)


# --- intervals ------------------------------------------------------------------------------------------------


def degrees_of_freedom(patterns: Patterns, slots: int, means: Sequence[int] | Places) -> Array:
    """Infinite but for means, which have one less than rows, and for clusters, one less than clusters."""
    if patterns.cluster is not None:
        return np.full(slots, patterns.clusters - 1.0)
    freedom = np.full(slots, np.inf)
    if len(means):
        freedom[means] = patterns.count.sum() - 1
    return freedom


def critical_values(level: float, freedom: Array) -> Array:
    """How many standard errors an interval of this level reaches."""
    values = np.full(len(freedom), _normal_quantile((1 + level) / 2))
    finite = np.isfinite(freedom)
    if finite.any():
        from scipy.special import stdtrit

        with np.errstate(invalid="ignore"):
            values[finite] = stdtrit(freedom[finite], (1 + level) / 2)
        values[freedom <= 0] = np.inf  # one row or one cluster says nothing about spread
    return values


@lru_cache(maxsize=16)
def _normal_quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)


def p_values(statistics: Array, freedom: Array) -> Array:
    """Two-sided p-values of t statistics; infinite degrees of freedom are the normal."""
    from scipy.special import ndtr, stdtr

    size = -np.abs(statistics)
    bounded = np.where(np.isfinite(freedom), freedom, 1.0)
    return np.asarray(2 * np.where(np.isfinite(freedom), stdtr(np.maximum(bounded, 1e-9), size), ndtr(size)))


def intervals(
    methods: Mapping[str, Places], value: Array, centre: Array, errors: Spread, trials: Array, critical: Array
) -> tuple[Array, Array]:
    """Lower and upper bounds, every slot by its own method; ``methods`` says where each is used."""
    bounds = np.empty((2, len(value)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach, unbounded = critical * errors.smooth, np.isinf(critical).any()
        for method, at in methods.items():
            if method == WILSON:
                bounds[:, at] = _wilson(*[each.take(at) for each in (value, errors.plain, trials, critical)])
            elif method == MEAN or method in OF_THEIR_OWN:
                bounds[:, at] = centre[at] + SIDES * reach[at]
            else:
                bounds[:, at] = on_scale(method, centre.take(at), reach.take(at))
            if unbounded:
                bounds[:, at[np.isinf(critical[at])]] = np.array([SPANS[method]]).T
    low, high = bounds
    # The estimate itself always belongs to its interval, also where the pseudo-rows moved the centre.
    # Where there is none there is no interval: NaN is the least and the greatest of all.
    return np.minimum(low, value), np.maximum(high, value)


def plain_intervals(
    slots: Sequence[Slot], value: Array, errors: Spread, critical: Array
) -> tuple[Sequence[str], Array, Array]:
    """The value and so many standard errors to either side, cut off where no value can be: textbooks' intervals."""
    spans = np.array([slot.measure.span for slot in slots])
    with np.errstate(invalid="ignore"):
        reach = critical * errors.plain
    return [PLAIN] * len(slots), np.maximum(value - reach, spans[:, 0]), np.minimum(value + reach, spans[:, 1])


def wilson(value: Array, trials: Array, level: float, freedom: float = np.inf) -> tuple[Array, Array]:
    """Wilson's interval of proportions of so many trials."""
    critical = critical_values(level, np.full(len(value), freedom))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _wilson(value, np.zeros(len(value)), trials, critical)
    return np.minimum(low, value), np.maximum(high, value)  # at 0 and at 1 but for rounding


def _wilson(value: Array, error: Array, trials: Array, critical: Array) -> Array:
    """Wilson (1927), with the number of trials that would give the standard error found: (2, slots)."""
    variance = value * (1 - value)
    inside = (variance > 0) & (error > NO_ERROR)
    square = np.square(critical) / np.where(inside, variance / np.square(error), trials)
    shrunk, half = 1 + square, square / 2
    middle, reach = (value + half) / shrunk, np.sqrt(square * variance + np.square(half)) / shrunk
    return np.asarray(np.minimum(np.maximum(middle + SIDES * reach, 0.0), 1.0))


def on_scale(method: str, centre: Array, reach: Array) -> Array:
    """A symmetric interval on a scale without ends, brought back: (2, slots)."""
    if method == LOGIT:
        rest = 1 - centre
        bounds = 1 / (1 + np.exp(SIDES * (reach / (centre * -rest)) - np.log(centre / rest)))
        # At an end there is no logit; what is on the inner side of it is told by the standard error alone.
        ended = np.minimum(centre, rest) <= NO_ERROR
        if ended.any():
            bounds = np.where(ended, np.minimum(np.maximum(centre + SIDES * reach, 0.0), 1.0), bounds)
        return np.asarray(bounds)
    if method == FISHER:
        return np.asarray(np.tanh(np.arctanh(centre) + SIDES * (reach / (1 - centre**2))))
    if method in (RATIO, FIELLER):  # the latter brings bounds of its own, where it is known how both scores scatter
        return 1 - on_scale(LOG, 1 - centre, reach)[::-1]
    return np.asarray(np.exp(np.log(centre) + SIDES * (reach / centre)))


def trials_of(evaluation: Evaluation) -> Array:
    """How many independent trials are behind each slot, should it be a proportion."""
    return evaluation.trials / evaluation.unit


# --- influences of chosen slots -------------------------------------------------------------------------------


def influence_at(evaluation: Evaluation, place: int, truth: Codes, assigned: Codes, smooth: bool = False) -> Array:
    """What a row with these classes adds to one slot, of a class or not."""
    row = int(smooth)
    if place < evaluation.class_slots:
        measure, code = divmod(place, len(evaluation.scale))
        cell = 2 * (truth != code) + (assigned != code)
        return np.asarray(evaluation.class_slopes[row, measure, code][cell])
    slot = place - evaluation.class_slots
    influence = evaluation.influences[row][slot : slot + 1]
    return np.asarray(influence.at(truth, assigned)[0])


def influences_at(evaluation: Evaluation | RowEvaluation, places: Sequence[int], smooth: bool) -> Array:
    """What a row of each pattern adds to chosen slots: (slots, patterns)."""
    if isinstance(evaluation, RowEvaluation):
        return np.stack([evaluation.influence(evaluation.slots[place], smooth) for place in places])
    truth, assigned = evaluation.patterns.truth, evaluation.patterns.assigned[evaluation.model]
    found = np.empty((len(places), len(truth)))
    for k, place in enumerate(places):
        found[k] = influence_at(evaluation, place, truth, assigned, smooth)
    return found


def values_at(evaluation: Evaluation | RowEvaluation, places: Sequence[int]) -> Array:
    """The values of chosen slots, as they are and with the pseudo-rows: (2, slots)."""
    if isinstance(evaluation, RowEvaluation):
        return np.array([evaluation.result(evaluation.slots[place]).value for place in places]).T
    return evaluation.values[:, places]


def variances_at(
    evaluation: Evaluation | RowEvaluation, places: Sequence[int], influences: Array, smooth: bool
) -> Array:
    """The variance of influences on chosen slots, (slots, patterns): one number a slot."""
    if isinstance(evaluation, RowEvaluation):
        return evaluation.variances(places, influences, smooth)
    return second_moment(evaluation.patterns, influences)


def freedom_at(evaluations: Sequence[Evaluation | RowEvaluation], places: Sequence[int]) -> Array:
    """Degrees of freedom of chosen slots; of several classifiers, the fewest."""
    first = evaluations[0]
    if isinstance(first, RowEvaluation):
        made_of_rows = [each for each in evaluations if isinstance(each, RowEvaluation)]
        freedoms = [[each.result(each.slots[place]).freedom[1] for place in places] for each in made_of_rows]
        return np.asarray(np.fmin.reduce(freedoms, axis=0))
    means = [k for k, place in enumerate(places) if interval_method(first.slot(place)) == MEAN]
    return degrees_of_freedom(first.patterns, len(places), means)


def pseudo_at(evaluation: Evaluation | RowEvaluation, place: int) -> tuple[float, Array]:
    """Mean squared influence of a pseudo-row on a slot, and its mean influence within each true class."""
    if isinstance(evaluation, RowEvaluation):
        return evaluation.pseudo_at(place)
    if place < evaluation.class_slots:
        slope = evaluation.class_slopes[1, place // len(evaluation.scale), place % len(evaluation.scale)]
        return float(np.square(slope).mean()), slope.reshape(2, 2).mean(axis=1)
    slot = place - evaluation.class_slots
    influence = evaluation.influences[1][slot : slot + 1]
    return float(pseudo_squares(influence)[0]), influence.tables[0].mean(axis=1)

"""From values and their standard errors to intervals: which kind for which measure, and the bounds of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..measures.registry import Facts
from ..states.statistics import Patterns
from .influence import Spread
from .layout import Layout
from .table_evaluation import Evaluation, Slot
from .variances import NO_ERROR

if TYPE_CHECKING:
    from ..core.typing import Array, Places

SIDES = np.array([[-1.0], [1.0]])  # the lower bound and the upper

WILSON, LOGIT, FISHER, LOG, RATIO, MEAN = (
    "Wilson",
    "delta, logit scale",
    "delta, Fisher scale",
    "delta, log scale",
    "delta, log scale of 1 - value",
    "t",
)
MANY, FAR = 2000.0, 5.0  # degrees of freedom, standard errors: from here on, and so far, t is told from the normal
PLAIN = "plain"
CHI_SQUARED = "noncentral chi-squared"
SKEWED = "Hall's t"
FIELLER = "Fieller"
MOVED = "Wilson, moved"
ADDED = "Wilson, added"
GAMMA = "gamma"
OF_THEIR_OWN = (CHI_SQUARED, SKEWED, MOVED, ADDED, GAMMA)  # bounds that evaluations bring along
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
    ADDED: (-np.inf, np.inf),
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
    if measure.traded and average is None:
        return ADDED
    return LOGIT if measure.spanned else BY_SPAN.get(measure.span, MEAN)


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
    normal = _normal_quantile((1 + level) / 2)
    values, finite = np.full(len(freedom), normal), np.isfinite(freedom)
    if finite.any():
        many = finite & (freedom >= MANY) & (normal <= FAR)
        values[many] = _nearly_normal(normal, freedom[many])
        few = finite & ~many
        if few.any():
            from scipy.special import stdtrit  # takes as long to load as all else that there is to do

            with np.errstate(invalid="ignore"):
                values[few] = stdtrit(freedom[few], (1 + level) / 2)
        values[freedom <= 0] = np.inf  # one row or one cluster says nothing about spread
    return values


def _nearly_normal(normal: float, freedom: Array) -> Array:
    """Quantiles of t with many degrees of freedom, from that of the normal (Abramowitz & Stegun 1964, 26.7.5)."""
    square = normal * normal
    terms = (
        normal * (square + 1) / 4,
        normal * ((5 * square + 16) * square + 3) / 96,
        normal * (((3 * square + 19) * square + 17) * square - 15) / 384,
        normal * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    found = np.zeros(len(freedom))
    for term in reversed(terms):
        found = (found + term) / freedom
    return normal + found


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
                fixed = at[errors.smooth.take(at) <= NO_ERROR]  # whatever rows there are: the mean of all prevalences
                bounds[:, fixed] = value[fixed]
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


def spanned_intervals(
    slots: Sequence[Slot], methods: Mapping[str, Places], value: Array, centre: Array, errors: Spread, critical: Array
) -> tuple[Array, Array]:
    """The same of measures of rows. The scale of some ends where their span does, which need not be 0 and 1."""
    ends = [slot.measure.span if slot.measure.facts.spanned else (0.0, 1.0) for slot in slots]
    start, stop = np.array(ends).reshape(-1, 2).T
    whole = stop - start
    spread = Spread(errors.plain / whole, errors.smooth / whole)
    unit = (value - start) / whole, (centre - start) / whole, spread, np.full(len(value), np.nan)
    low, high = (start + whole * bound for bound in intervals(methods, *unit, critical))
    return np.minimum(low, value), np.maximum(high, value)  # but for rounding, they are no further in


def plain_intervals(
    slots: Sequence[Slot], value: Array, errors: Spread, critical: Array
) -> tuple[Sequence[str], Array, Array]:
    """The value and so many standard errors to either side, cut off where no value can be: textbooks' intervals."""
    spans = np.array([slot.measure.span for slot in slots])
    with np.errstate(invalid="ignore"):
        reach = critical * errors.plain
    # A value that rounding brought beyond its span still belongs to its interval.
    least, most = np.fmin(spans[:, 0], value), np.fmax(spans[:, 1], value)
    return [PLAIN] * len(slots), np.maximum(value - reach, least), np.minimum(value + reach, most)


def wilson(value: Array, trials: Array, level: float, freedom: float = np.inf) -> tuple[Array, Array]:
    """Wilson's interval of proportions of so many trials."""
    critical = critical_values(level, np.full(len(value), freedom))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _wilson(value, np.zeros(len(value)), trials, critical)
    endless = np.isinf(critical)  # one cluster says nothing about others
    low, high = np.where(endless, 0.0, low), np.where(endless, 1.0, high)
    return np.minimum(low, value), np.maximum(high, value)  # at 0 and at 1 but for rounding


def added(shares: Array, worths: Array, trials: float, level: float, freedom: float) -> tuple[float, float]:
    """How far below and above a gain is that two shares of the same trials make, the second one a loss (Newcombe 1998).

    Each share has Wilson's interval, so that what was never seen may yet be. The less is neither of both, the more the
    one is lost to the other.
    """
    shares = np.where(np.minimum(shares, 1 - shares) < NO_ERROR, np.round(shares), shares)
    low, high = wilson(shares, np.full(2, trials), level, freedom)
    below, above = worths * (shares - low), worths * (high - shares)
    rest = 1 - shares[::-1]
    opposed = np.sqrt(np.prod(np.divide(shares, rest, out=np.ones(2), where=rest > 0)))
    ends = np.array([[below[0], above[1]], [above[0], below[1]]])
    down, up = np.sqrt(np.square(ends).sum(axis=1) + 2 * min(opposed, 1.0) * ends.prod(axis=1)).tolist()
    return down, up


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

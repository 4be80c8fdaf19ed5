"""Bootstrap intervals at a price that does not depend on the number of rows.

Rows of one pattern are alike, so drawing rows with replacement is a multinomial draw of pattern counts: the exact
bootstrap, not an approximation. With sampling weights, the weights drawn within a pattern are summed up by a gamma
variable of the same mean and variance. With clusters, whole clusters are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.threads import shared
from ..states.statistics import Patterns
from .evaluation import Evaluation, Slot
from .row_evaluation import RowEvaluation
from .tails import Tails

if TYPE_CHECKING:
    from ..core.typing import Array, Marks
    from .settings import Settings

MOST_NUMBERS = 1 << 24  # held at once while drawing
TIED = 1e-12  # of a value, what rounding makes of none
IN_CACHE = 1 << 17  # numbers that stay in the cache while rows are weighed anew


def replicate(evaluations: Sequence[Evaluation], places: Sequence[int], replicates: int, seed: int) -> list[Array]:
    """Return values of chosen slots in every replicate, (replicates, slots), the same draws for each classifier."""
    slots = [evaluations[0].slots[place] for place in places]
    rows = [one for one in evaluations if isinstance(one, RowEvaluation)]
    if rows:
        return _replicate_rows(rows, slots, replicates, seed)
    return _replicate_patterns(evaluations, slots, replicates, seed)


def _replicate_rows(
    evaluations: Sequence[RowEvaluation], slots: Sequence[Slot], replicates: int, seed: int
) -> list[Array]:
    """Draw rows and weigh them anew, a few replicates at a time: they need not be sorted again."""
    rows = len(evaluations[0].rows)
    size = max(1, min(replicates, IN_CACHE // max(rows, 1)))
    starts = range(0, replicates, size)
    for evaluation in evaluations:
        evaluation.prepare(slots)  # once, before threads share it
    *seeds, last = np.random.SeedSequence(seed).spawn(len(starts) + 1)
    found = [np.empty((replicates, len(slots))) for _ in evaluations]

    def work(some: Sequence[int]) -> None:
        for start in some:
            random = np.random.default_rng(seeds[start // size])
            mass = _drawn_rows(evaluations[0], min(size, replicates - start), random)
            for samples, evaluation in zip(found, evaluations, strict=True):
                samples[start : start + size] = evaluation.reweighed(slots, mass)

    shared(starts, work, rows * replicates)
    return _shaken(evaluations, slots, found, np.random.default_rng(last))


def _shaken(
    evaluations: Sequence[RowEvaluation], slots: Sequence[Slot], found: list[Array], random: np.random.Generator
) -> list[Array]:
    """Add the error of what was estimated from other data, which no row can show; all classifiers share it."""
    effects = [evaluation.shaken(slots) for evaluation in evaluations]
    estimates = effects[0].shape[1]
    if not estimates:
        return found
    drawn = random.standard_normal((len(found[0]), estimates))
    lower, higher = np.minimum(drawn, 0.0), np.maximum(drawn, 0.0)
    return [samples + lower @ effect[0] + higher @ effect[1] for samples, effect in zip(found, effects, strict=True)]


def _drawn_rows(evaluation: RowEvaluation, replicates: int, random: np.random.Generator) -> Array:
    """What every row weighs in each replicate: as often as it, or its cluster, was drawn."""
    rows, patterns = len(evaluation.rows), evaluation.row_patterns
    if patterns.cluster is not None:
        return _drawn_clusters(patterns, replicates, random)
    if evaluation.weights.equal:
        drawn = random.integers(0, rows, (replicates, rows))
        drawn += np.arange(0, replicates * rows, rows)[:, None]
        return np.bincount(drawn.ravel(), minlength=replicates * rows).reshape(replicates, rows).astype(np.float64)
    count, mass = patterns.count, patterns.mass
    times = random.multinomial(int(count.sum()), count / count.sum(), replicates)
    return np.asarray(times * np.divide(mass, count, out=np.zeros(rows), where=count > 0))


def _drawn_clusters(patterns: Patterns, replicates: int, random: np.random.Generator) -> Array:
    """What every row or pattern weighs where whole clusters are drawn."""
    clusters = patterns.clusters
    times = random.multinomial(clusters, np.full(clusters, 1 / clusters), replicates)
    return np.asarray(times[:, patterns.cluster] * patterns.mass)


def _replicate_patterns(
    evaluations: Sequence[Evaluation], slots: Sequence[Slot], replicates: int, seed: int
) -> list[Array]:
    """Draw patterns, so many replicates at a time as memory holds all values of."""
    patterns = evaluations[0].patterns
    widest = max(len(patterns.mass), patterns.clusters, *(len(e.slots) for e in evaluations))
    size = max(1, min(replicates, MOST_NUMBERS // widest))
    pieces: list[list[Array]] = [[] for _ in evaluations]
    for mass in _draws(patterns, replicates, size, np.random.default_rng(seed)):
        for piece, evaluation in zip(pieces, evaluations, strict=True):
            piece.append(evaluation.reweighed(slots, mass))
    return [np.concatenate(piece) for piece in pieces]


def _draws(patterns: Patterns, replicates: int, size: int, random: np.random.Generator) -> Iterator[Array]:
    for start in range(0, replicates, size):
        wanted = min(size, replicates - start)
        if patterns.cluster is not None:
            yield _drawn_clusters(patterns, wanted, random)
            continue
        rows = patterns.count.sum()
        drawn = random.multinomial(round(rows), patterns.count / rows, wanted).astype(float)
        yield _weigh(patterns, drawn, random)


def _weigh(patterns: Patterns, drawn: Array, random: np.random.Generator) -> Array:
    """Turn numbers of drawn rows into their summed weight."""
    mean = patterns.mass / patterns.count
    variance = np.maximum(patterns.square / patterns.count - mean**2, 0.0)
    varied = variance > 1e-12 * mean**2
    mass = drawn * mean
    if varied.any():
        shape = drawn[:, varied] * mean[varied] ** 2 / variance[varied]
        mass[:, varied] = random.gamma(shape) * variance[varied] / mean[varied]
    return mass


def bounds(samples: Array, level: float, shift: Array, acceleration: Array) -> tuple[Array, Array]:
    """Percentiles of the replicates, moved as BCa asks (Efron 1987); shift and acceleration 0 leave them alone."""
    from scipy.special import ndtr, ndtri

    ordered = np.sort(samples, axis=0)
    known = (~np.isnan(ordered)).sum(axis=0)
    found = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        reach = shift + ndtri(tail)
        share = ndtr(shift + reach / (1 - acceleration * reach))
        place = np.clip(share * known - 0.5, 0, np.maximum(known - 1, 0))
        low, high = np.floor(place).astype(int), np.ceil(place).astype(int)
        left, right = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (low, high))
        with np.errstate(invalid="ignore"):
            between = left + (right - left) * (place - low)
        found.append(np.where(left == right, left, between))
    return found[0], found[1]


def bca(samples: Array, value: Array, influences: Array, patterns: Patterns) -> tuple[Array, Array]:
    """The shift and the acceleration of BCa, the latter from the third moment of the influences."""
    from scipy.special import ndtri

    known = np.maximum((~np.isnan(samples)).sum(axis=0), 1)  # a replicate without a value is on neither side of one
    with np.errstate(invalid="ignore", divide="ignore"):
        below = ((samples < value).sum(axis=0) + 0.5 * (samples == value).sum(axis=0)) / known
        shift = ndtri(np.clip(below, 0.5 / known, 1 - 0.5 / known))
    return shift, Tails.of(patterns, influences).skew / 6


def p_of_no_difference(samples: Array) -> Array:
    """Two-sided, by how many of the replicates that have a value lie on either side of 0."""
    known = (~np.isnan(samples)).sum(axis=0)
    beyond = np.minimum((samples <= 0).sum(axis=0), (samples >= 0).sum(axis=0)) / np.maximum(known, 1)
    return np.asarray(np.minimum(1.0, 2 * np.maximum(beyond, 1 / (known + 1))))


def replace_intervals(
    evaluation: Evaluation, settings: Settings, methods: Sequence[str], low: Array, high: Array
) -> list[str]:
    """Put bootstrap bounds in place of others, and their name too, wherever the replicates differ at all."""
    value = evaluation.values[0]
    samples = replicate([evaluation], range(len(value)), settings.replicates, settings.seed)[0]
    samples = tied(samples, np.abs(value), value)
    shift = acceleration = np.zeros(len(value))
    if settings.method != "percentile":
        influences = evaluation.influences_at(range(len(value)), smooth=False)
        shift, acceleration = bca(samples, value, influences, evaluation.patterns)
    lower, upper = bounds(samples, settings.level, shift, acceleration)
    spread_out = differs(samples) & ~np.isnan(value)
    low[spread_out], high[spread_out] = lower[spread_out], upper[spread_out]
    name = "bootstrap, percentile" if settings.method == "percentile" else "bootstrap, BCa"
    return [name if moved else method for moved, method in zip(spread_out, methods, strict=True)]


def tied(samples: Array, size: Array, *values: Array | float) -> Array:
    """Replicates that are one of these values but for rounding are that value: else ties would be more or less than it.

    ``size`` is how large the numbers are that replicates are made of, at the least.
    """
    with np.errstate(invalid="ignore"):
        largest = np.abs(np.where(np.isfinite(samples), samples, 0.0)).max(axis=0, initial=0.0)
        for value in values:
            samples = np.where(np.abs(samples - value) <= TIED * np.fmax(largest, size), value, samples)
    return samples


def differs(samples: Array) -> Marks:
    """Whether replicates of a slot differ: they do not where a table has nothing but right answers."""
    first = samples[:1]
    return np.asarray(((samples != first) & ~(np.isnan(samples) & np.isnan(first))).any(axis=0))

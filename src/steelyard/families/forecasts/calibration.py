"""Calibration error: how far forecasts lie from frequencies, in bins of like forecasts. Knows no formula.

The mean squared gap between forecast and frequency is too high by chance alone: a bin of few rows is off even if its
forecasts are right. What chance adds is known from the spread within bins, and taken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.suggestions import refuse_no_count
from ...core.threads import chunks, over_rows
from ...inference.evaluation import PSEUDO_ROWS, Slot, key_of
from ...inference.row_evaluation import NOT_FOUND, Found, RowEvaluation
from ...maths.quantiles import quantiles
from ...maths.sides import summed_at
from ...measures.registry import Measure
from .gaps import Gaps, PairedGaps
from .piece import Piece

if TYPE_CHECKING:
    from ...core.typing import Array, Numbers, Places

DECIMALS = 12
CARELESS = 0.5  # the mean squared gap of forecasts of 0 and 1 that say nothing
FEWEST_ROWS = 5  # in a bin, on average: with fewer, a spread within bins says little
PAIRED_CLASSES = 10  # up to here, what the gaps of classes share is counted for every pair of them


class Target(NamedTuple):
    """What is forecast: a class, or (without one) whichever is the likeliest; and in how many bins it is looked at."""

    code: int | None
    bins: int


def forecast_of(piece: Piece, code: int | None) -> tuple[Numbers, Any]:
    """The forecasts of some rows, and whether what they speak of happened."""
    if code is None:
        return piece.highest, (piece.own == piece.highest) / piece.ties
    return piece.chance(code), piece.truth == code


@dataclass(frozen=True)
class Binned:
    """The rows of one target in bins, and their sums there.

    Attributes:
        edges: The least forecast of each bin but the first.
        sums: How many rows each bin has, what they weigh, their gaps summed by weight; the squared weights, gaps summed
            by these, and squared gaps summed by these: (6, bins).
    """

    edges: Array
    sums: Array

    @property
    def mass(self) -> Array:
        """What the rows of each bin weigh."""
        return np.asarray(self.sums[1])

    @property
    def gap(self) -> Array:
        """The mean forecast less the frequency in each bin."""
        return np.asarray(self.sums[2] / self.sums[1])

    @property
    def variance(self) -> Array:
        """Of the gaps, where rows are independent."""
        count, mass, _, square, first, second = self.sums
        scatter = second - 2 * self.gap * first + self.gap**2 * square
        return np.asarray(np.maximum(scatter, 0.0) / mass**2 * _one_less(count))

    def place(self, forecast: Numbers) -> Places:
        """The bin of each forecast."""
        return np.searchsorted(self.edges, forecast, side="right")


def _one_less(count: Array) -> Array:
    """For the degree of freedom that the mean of a bin takes; a bin of one row or cluster has no spread to tell."""
    return np.asarray(np.where(count > 1, count / np.maximum(count - 1, 1.0), 1.0))


# --- how gaps go together: of every row, its bin of each target and what it adds to the gap there ------------------

Pairs = Sequence[tuple["Places", "Array"]]


def starts_of(binned: Sequence[Binned]) -> Places:
    """Where the bins of each target begin, end to end."""
    return np.cumsum([0, *[len(each.mass) for each in binned]])


def between_targets(pairs: Pairs, square: Array, starts: Places, first: int = 0) -> Array:
    """The covariance of gaps of different targets, as far as these rows make it: (bins, bins).

    Where the targets up to the ``first`` are of one classifier, and the others of another, only what is between the two
    is found.
    """
    found, sizes = np.zeros((starts[-1], starts[-1])), np.diff(starts)
    for a, (place, residual) in enumerate(pairs[first:], first):
        for b, (other, beside) in enumerate(pairs[: first or a]):
            cell = place * sizes[b] + other
            block = np.bincount(cell, residual * beside * square, sizes[a] * sizes[b]).reshape(sizes[a], sizes[b])
            found[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = block
    return found + found.T


def by_cluster(pairs: Pairs, mass: Array, cluster: Places, clusters: int, starts: Places) -> Array:
    """What the rows of each cluster add to the gaps together: (clusters, bins)."""
    sums = []
    for (place, residual), size in zip(pairs, np.diff(starts), strict=True):
        cell = cluster * size + place
        sums.append(np.bincount(cell, residual * mass, clusters * size).reshape(clusters, size))
    return np.concatenate(sums, axis=1)


def seen_by_cluster(pairs: Pairs, cluster: Places, clusters: int, starts: Places) -> Array:
    """How many rows of each cluster are in each bin: (clusters, bins)."""
    sizes = np.diff(starts)
    cells = [cluster * size + place for (place, _), size in zip(pairs, sizes, strict=True)]
    counts = [np.bincount(cell, minlength=clusters * size) for cell, size in zip(cells, sizes, strict=True)]
    return np.concatenate([each.reshape(clusters, -1) for each in counts], axis=1)


def of_clusters(sums: Array, seen: Array, starts: Places) -> Array:
    """The covariance of gaps, by what clusters add to them and how many rows these have in each bin.

    The mean of a bin takes a degree of freedom of the clusters that are seen there; what the gaps of two targets share
    is left as it is. So clusters of one row are independent rows.
    """
    if len(sums) < 2:
        return np.full((sums.shape[1], sums.shape[1]), np.nan)
    root = np.sqrt(_one_less(np.count_nonzero(seen, axis=0)))
    target = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.asarray(sums.T @ sums * np.where(np.equal.outer(target, target), np.outer(root, root), 1.0))


def off_together(alone: Array, binned: Sequence[Binned]) -> Array:
    """The covariance as if all classes were off together, which makes the interval wider than it need be."""
    deviation = np.sqrt(np.diag(alone))
    together = np.equal.outer(*[np.concatenate([np.arange(len(each.mass)) for each in binned])] * 2)
    return np.asarray(np.outer(deviation, deviation) * together)


@dataclass(frozen=True)
class CalibrationEvaluation(RowEvaluation):
    """All slots of one classifier that are made of gaps between its forecasts and frequencies."""

    found: dict[Target, Binned] = field(default_factory=dict, repr=False)
    kept: dict[tuple[str, int | str | None], Gaps] = field(default_factory=dict, repr=False)
    placed: dict[Target, tuple[Places, Array, Array]] = field(default_factory=dict, repr=False)

    @property
    def one_by_one(self) -> bool:
        """Each class has bins of its own: no more than asked for."""
        return self.alone is None

    def _pieces(self, start: int, stop: int) -> Iterator[tuple[int, int, Piece]]:
        said = self.rows.scores[self.model]
        for low, high in chunks(start, stop, len(self.scale)):
            yield low, high, Piece(said.rows(low, high), self.rows.truth[low:high], len(self.scale))

    def forecast(self, code: int | None) -> tuple[Numbers, Array]:
        """The forecasts of all rows, and whether they came true."""
        pairs = [forecast_of(piece, code) for _, _, piece in self._pieces(0, len(self.rows))]
        forecast, happened = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
        return forecast, happened.astype(np.float64)

    def rounded(self, code: int | None) -> tuple[Numbers, Array]:
        """The same with forecasts that differ in their last bits made one: 1 - 0.7 is 0.3."""
        forecast, happened = self.forecast(code)
        return np.round(forecast, DECIMALS), happened

    def _target(self, measure: Measure, code: int | None) -> Target:
        bins = measure.parameters["bins"]
        refuse_no_count("bins", bins)
        return Target(code, min(bins, max(1, int(self.drawn) // FEWEST_ROWS)))

    def binned(self, target: Target) -> Binned:
        """Put the rows of a target into bins."""
        if target not in self.found:
            self.found[target] = self._binned(target)
        return self.found[target]

    def _binned(self, target: Target) -> Binned:
        forecast, happened = self.rounded(target.code)
        weights = self.weights
        edges = quantiles(forecast, target.bins, None if weights.equal else weights.count)
        size = len(edges) + 1

        def work(start: int, stop: int) -> Array:
            sums = np.zeros((6, size))
            for low, high in chunks(start, stop):
                piece = forecast[low:high]
                place, gap = np.searchsorted(edges, piece, side="right"), piece - happened[low:high]
                count = np.bincount(place, minlength=size)
                if weights.equal:
                    first = np.bincount(place, gap, size)
                    second = np.bincount(place, gap * gap, size)
                    sums += np.array([count, count, first, count, first, second])
                    continue
                columns = (weights.count, weights.mass, weights.square)
                each = [column[low:high] for column in columns]
                sums += [
                    np.bincount(place, each[0], size), np.bincount(place, each[1], size),
                    np.bincount(place, each[1] * gap, size), np.bincount(place, each[2], size),
                    np.bincount(place, each[2] * gap, size), np.bincount(place, each[2] * gap * gap, size),
                ]  # fmt: skip
            return sums

        return Binned(edges, reduce(np.add, over_rows(len(self.rows), work)))

    # --- gaps of one target, or of all classes together ---------------------------------------------------------

    def gaps(self, slot: Slot) -> Gaps:
        """The bins behind a slot; an average has those of all classes, each class with its weight."""
        if key_of(slot) not in self.kept:
            self.kept[key_of(slot)] = self._gaps(slot)
        return self.kept[key_of(slot)]

    def _behind(self, slot: Slot) -> list[tuple[Target, float]]:
        """The targets that a slot is made of, and what each of them weighs in it."""
        if slot.average is None:
            return [(self._target(slot.measure, slot.code), 1.0)]
        classes = len(self.scale)
        even = slot.average == "macro"
        weights = np.full(classes, 1 / classes) if even else self.class_mass / self.total
        return [(self._target(slot.measure, code), float(weights[code])) for code in range(classes)]

    def _gaps(self, slot: Slot) -> Gaps:
        targets, weights = zip(*self._behind(slot), strict=True)
        binned = [self.binned(target) for target in targets]
        share = np.concatenate([weight * each.mass / self.total for weight, each in zip(weights, binned, strict=True)])
        gap, mass = (np.concatenate([getattr(each, name) for each in binned]) for name in ("gap", "mass"))
        extra = PSEUDO_ROWS * self.unit**2 * CARELESS / (mass * self.total)
        return Gaps(share, gap, self._covariance(targets, binned), extra)

    def _covariance(self, targets: Sequence[Target], binned: Sequence[Binned]) -> Array:
        """Of the gaps of all bins of all targets."""
        starts = starts_of(binned)
        found = np.diag(np.concatenate([each.variance for each in binned]))
        if self.rows.cluster is None and len(targets) == 1:
            return found
        if self.rows.cluster is None and len(targets) > PAIRED_CLASSES:
            return off_together(found, binned)
        pairs = [self.residuals(*pair) for pair in zip(targets, binned, strict=True)]
        if self.rows.cluster is None:
            return found + between_targets(pairs, self.weights.square, starts)
        return self._by_clusters(pairs, starts)

    def paired(self, slot: Slot, other: CalibrationEvaluation) -> PairedGaps:
        """The gaps behind a slot, and those that another classifier has there."""
        targets = [target for target, _ in self._behind(slot)]
        return PairedGaps(self.gaps(slot), other.gaps(slot), self._between(targets, other))

    def _between(self, targets: Sequence[Target], other: CalibrationEvaluation) -> Array:
        """The covariance of the gaps of two classifiers; none of so many classes that pairs of them are not counted."""
        both = [(each, each.binned(target)) for each in (self, other) for target in targets]
        starts, first = starts_of([binned for _, binned in both]), len(targets)
        if self.rows.cluster is None and first > PAIRED_CLASSES:
            return np.zeros((starts[first], starts[-1] - starts[first]))
        pairs = [each.residuals(target, binned) for (each, binned), target in zip(both, [*targets] * 2, strict=True)]
        if self.rows.cluster is None:
            found = between_targets(pairs, self.weights.square, starts, first)
        else:
            found = self._by_clusters(pairs, starts)
        return np.asarray(found[: starts[first], starts[first] :])

    def _by_clusters(self, pairs: Pairs, starts: Places) -> Array:
        """The covariance of gaps where rows belong to clusters."""
        cluster, clusters = self.patterns.cluster, self.patterns.clusters
        if cluster is None:
            return np.full((starts[-1], starts[-1]), np.nan)
        sums = by_cluster(pairs, self.weights.mass, cluster, clusters, starts)
        return of_clusters(sums, seen_by_cluster(pairs, cluster, clusters, starts), starts)

    def residuals(self, target: Target, binned: Binned) -> tuple[Places, Array]:
        """The bin of every row, and what it adds to the gap there."""
        forecast, happened = self.rounded(target.code)
        place = binned.place(forecast)
        return place, (forecast - happened - binned.gap[place]) / binned.mass[place]

    # --- values ------------------------------------------------------------------------------------------------

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        if not len(self.rows):
            return NOT_FOUND
        gaps = self.gaps(slot)
        prefix = "" if slot.measure.per_class else "top_"
        value = float(slot.measure.of(gaps.offered(prefix)))
        # Where nothing is found, the slope of the root is infinite: the interval has to tell how sure that is.
        factor, freedom = gaps.chi_squared()
        variance = (2 * factor**2 * freedom + 4 * factor * value**2) / (4 * value**2) if value > 0 else np.nan
        # Differences are centred where less than chance counts as less than nothing: that evens out.
        centre = float(np.sign(gaps.beyond_noise) * np.sqrt(abs(gaps.beyond_noise)))
        return Found((value, centre), (variance, variance), (np.inf, np.inf))

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot, in the order of the input; NaN where nothing is found."""
        del smooth
        found, value = self.pulls(self._behind(slot)), self.result(slot).value[0]
        found -= self.weights.mass @ found / self.total
        return found / self.total / (2 * value) if value > 0 else np.full(len(found), np.nan)

    def pulls(self, behind: Sequence[tuple[Target, float]]) -> Array:
        """How each row pulls at the mean squared gap of some targets, up to what all rows do together."""
        found = np.zeros(len(self.rows))
        for target, weight in behind:
            binned, (forecast, happened) = self.binned(target), self.rounded(target.code)
            gap = binned.gap[binned.place(forecast)]
            found += weight * gap * (2 * (forecast - happened) - gap)
        return found

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        from ...inference.design import second_moment

        del places, smooth
        return second_moment(self.patterns, influences)

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """There are no pseudo-rows: intervals are made without them."""
        del place
        return 0.0, np.zeros(1)

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Find the bin and the gap of every row, and what chance makes of the gap of every bin."""
        for target in {target for slot in slots for target, _ in self._behind(slot)}:
            forecast, happened = self.rounded(target.code)
            binned = self.binned(target)
            noise = np.diag(self._covariance([target], [binned]))
            self.placed[target] = binned.place(forecast), forecast - happened, noise

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
        behind = [self._behind(slot) for slot in slots]
        targets = {target for some in behind for target, _ in some}  # those of averages are those of classes
        squares = {target: self._reweighed(target, mass) for target in targets}
        means = [sum(weight * squares[target] for target, weight in some) for some in behind]
        return np.asarray(np.sqrt(np.maximum(np.stack(means, axis=1), 0.0)))

    def _reweighed(self, target: Target, mass: Array) -> Array:
        """The mean squared gap of one target in every replicate, less the noise of both draws."""
        place, each, noise = self.placed[target]
        weighed, gap = (summed_at(place, values, len(noise)) for values in (mass, mass * each))
        share = weighed / weighed.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            square = np.where(weighed > 0, share * np.square(gap / weighed), 0.0).sum(axis=1)
        return np.asarray(square - share @ (2 * noise))

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """None: a class that never occurs can be forecast all the same."""
        return iter(())

    def remark(self, slot: Slot) -> str:
        """What the value hides."""
        value = self.result(slot).value[0]
        if np.isnan(value) and self.clustered:
            return "undefined: too few rows or clusters to tell what chance alone makes"
        return "no more than chance alone makes of calibrated forecasts" if value == 0 else ""

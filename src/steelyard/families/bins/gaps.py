"""Gaps between forecast and frequency in bins: how far they are beyond chance, of one classifier or of two.

The mean squared gap is a quadratic form of nearly normal gaps, and so nearly a multiple of a noncentral chi-squared
variable (its degrees of freedom chosen to match two moments; Satterthwaite 1946). Knows no formula of a measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property

if TYPE_CHECKING:
    from ...core.typing import Array

TRUSTED = 0.5  # of what bins tell of their own scatter, where that is less than bins have on average
AROUND = 31  # directions in which the edge of a region is looked at,
CLOSER = 2  # and how often again, between the two next to the furthest
UNLIKELY = 1.5  # standard deviations above its mean, from which on what gaps scatter by is not put down to chance
FAR = 1e6  # from there on the root of a noncentral chi-squared variable is normal, and its own quantiles take long
ALIKE = 0.999  # the most that two classifiers are taken to have in common
ROUNDING = 1e-13  # of a sum
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Gaps:
    """Bins of like forecasts.

    Attributes:
        share: The share of rows in each bin.
        gap: The mean forecast less the frequency there.
        covariance: Of the gaps, (bins, bins).
        extra: What two more rows, spread over the bins, would add to their variances, for intervals: forecasts of 0 and
            1 that were always right do not pass for certain.
    """

    share: Array
    gap: Array
    covariance: Array
    extra: Array

    @cached_property
    def noise(self) -> float:
        """What chance alone makes of the mean squared gap; all of it, where rounding alone tells the two apart."""
        found = float(self.share @ np.diag(self.covariance))
        return self.square if abs(self.square - found) < ROUNDING * self.square else found

    @cached_property
    def square(self) -> float:
        """The mean squared gap, summed up as the formula does."""
        return float((self.share * self.gap**2).sum())

    @property
    def beyond_noise(self) -> float:
        """The mean squared gap without what chance alone makes of it; below 0 where that is less than expected."""
        return self.square - self.noise

    @cached_property
    def weighed(self) -> Array:
        """Half the slopes of the mean squared gap."""
        return np.asarray(self.share * self.gap)

    @cached_property
    def pull(self) -> float:
        """A quarter of the variance that the mean squared gap has as these gaps move; chance makes it too high."""
        return float(self.weighed @ self.covariance @ self.weighed)

    @cached_property
    def chance(self) -> float:
        """Half the variance that the mean squared gap has where no gap is real."""
        return self._form(self.covariance)[1]

    @property
    def added(self) -> float:
        """What the two more rows add to that."""
        return self._fitted[0] ** 2 * self._fitted[1] - self.chance

    def _form(self, covariance: Array) -> tuple[float, float]:
        """The mean of the quadratic form where no gap is real, and half its variance."""
        root = np.sqrt(self.share)
        form = root[:, None] * covariance * root
        return float(np.trace(form)), float(np.square(form).sum())

    def chi_squared(self, extra: bool = False) -> tuple[float, float]:
        """The multiple of a chi-squared variable that the noise is, and its degrees of freedom."""
        trace, squares = self._form(self.covariance + np.diag(self.extra) if extra else self.covariance)
        return (squares / trace, trace**2 / squares) if not trace <= 0 else (0.0, 1.0)

    @cached_property
    def _fitted(self) -> tuple[float, float]:
        return self.chi_squared(extra=True)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of that chi-squared variable."""
        return self._fitted[1]

    @cached_property
    def _statistic(self) -> float:
        """The mean squared gap as a value of that chi-squared variable."""
        return (self.square + float(self.share @ self.extra)) / self._fitted[0]

    @cached_property
    def spread(self) -> float:
        """How much wider the mean squared gap scatters than that multiple of chi-squared does, as a ratio.

        Gaps that go together, as those of several classes do, scatter more than their number tells. Where the large
        gaps are in bins that scatter little, it is less. That is half believed: a bin in which nothing happened has a
        large gap, and tells of no scatter, for one and the same reason.
        """
        factor, freedom = self._fitted
        noise, expected = 2 * factor**2 * freedom, 4 * factor * max(self.beyond_noise, 0.0)
        real = 4 * max(self.pull - factor**2 * freedom, 0.0)
        real = max(real, TRUSTED * real + (1 - TRUSTED) * expected)
        return float(np.sqrt((noise + real) / (noise + expected)))

    def at(self, deviates: Array | float, statistic: float | None = None) -> Array:
        """The calibration errors for which what was found lies so many standard deviates above what is expected.

        0 where it lies lower than that even if nothing is off.
        """
        from scipy.special import chndtr, chndtrinc, ndtr

        (factor, freedom), found = self._fitted, self._statistic if statistic is None else statistic
        wider = self.spread * np.asarray(deviates, dtype=np.float64)
        if found > FAR:
            root = np.sqrt(found)
            return np.asarray(np.sqrt(factor) * np.maximum(root - (freedom - 1) / (2 * root) - wider, 0.0))
        tails = ndtr(wider)
        with np.errstate(invalid="ignore"):
            squares = np.where(chndtr(found, freedom, 0.0) > tails, chndtrinc(found, freedom, tails), 0.0)
            return np.asarray(np.sqrt(factor * squares))

    @cached_property
    def highest(self) -> float:
        """How many standard deviates above what is expected the gaps lie if nothing is off."""
        from scipy.special import chndtr, ndtri

        share = float(chndtr(self._statistic, self._fitted[1], 0.0))
        return float(ndtri(min(max(share, TINY), 1 - 2**-53)) / self.spread)

    def bounds(self, level: float) -> tuple[float, float]:
        """The interval of the calibration error.

        Where an error is so small that no sample could look too good for it, the chance to miss it is spent on samples
        that look too bad, all of it (as in Feldman & Cousins 1998): intervals hold 0 as often as other values.
        """
        from scipy.special import ndtri

        reach, once = ndtri((1 + level) / 2), ndtri(level)
        # Gaps smaller than chance makes them are no proof of calibration: they count as what chance makes of them.
        least = self._fitted[1]
        statistic = max(self._statistic, least)
        low, lower, high = (float(bound) for bound in self.at(np.array([reach, once, -reach]), statistic))
        return max(low, min(lower, float(self.at(-reach, least)))), high

    def offered(self, prefix: str = "") -> dict[str, Any]:
        """What formulas may ask for."""
        return {f"{prefix}gap": self.gap, f"{prefix}share": self.share, f"{prefix}noise": self.noise}


@dataclass(frozen=True)
class PairedGaps:
    """The gaps of two classifiers on the same rows.

    Attributes:
        first: Those of one.
        second: Those of the other.
        between: Their covariance, (bins of the first, bins of the second).
    """

    first: Gaps
    second: Gaps
    between: Array

    @cached_property
    def _shared(self) -> tuple[float, float]:
        """What the mean squared gaps share: of their pulls, and of chance."""
        first, second = self.first, self.second
        pull = float(first.weighed @ self.between @ second.weighed)
        return pull, float(np.square(np.sqrt(first.share)[:, None] * self.between * np.sqrt(second.share)).sum())

    @cached_property
    def statistic(self) -> float:
        """The difference of the mean squared gaps beyond noise, in standard errors: a test of whether it is 0.

        These differences are not cut off at 0, as calibration errors are, and chance is taken off both: where both are
        0, they scatter around 0 like all others. Their variance, as far as gaps are real, is the mean of what is found
        with the gaps as they are, and of what is left if all of them shrink to what is beyond noise. Of the former,
        what chance may well make is left out: a large difference by chance would be its own excuse.
        """
        first, second = self.first, self.second
        pull, chance = self._shared
        pull, chance = first.pull + second.pull - 2 * pull, first.chance + second.chance - 2 * chance
        by_chance = chance * (1 + UNLIKELY * float(np.sqrt(4 / (first.freedom + second.freedom))))
        squares = first.square + second.square
        share = max(first.beyond_noise + second.beyond_noise, 0.0) / squares if squares > 0 else 0.0
        variance = 2 * (chance + first.added + second.added + max(pull - by_chance, 0.0) + share * pull)
        return (first.beyond_noise - second.beyond_noise) / float(np.sqrt(max(variance, TINY)))

    @property
    def p(self) -> float:
        """The two-sided p-value of no difference."""
        from scipy.special import ndtr

        return float(2 * ndtr(-abs(self.statistic)))

    @cached_property
    def correlation(self) -> float:
        """Of the two mean squared gaps; none where the gaps of one do not scatter but for rounding."""
        pull, chance = self._shared
        first, second = (max(2 * each.pull - each.chance, each.chance) for each in (self.first, self.second))
        if first <= ROUNDING * self.first.added or second <= ROUNDING * self.second.added:
            return 0.0
        return float(np.clip((2 * pull - chance) / np.sqrt(max(first * second, TINY)), -ALIKE, ALIKE))

    def bounds(self, reach: float) -> tuple[float, float]:
        """The interval of the difference of calibration errors: that of all pairs of errors that may be.

        A pair may be if what was found of both is not much further from it than from the pair that it is nearest to.
        Where the test speaks against no difference, and this does not, or the other way round, the test is believed.
        """
        if not np.isfinite(self.statistic) or not np.isfinite(reach):
            return np.nan, np.nan
        found = np.concatenate([self._on_edges(reach), self._around(reach)])
        low, high = float(found.min()), float(found.max())
        if abs(self.statistic) <= reach:
            return min(low, 0.0), max(high, 0.0)
        return (max(low, TINY), max(high, TINY)) if self.statistic > 0 else (min(low, -TINY), min(high, -TINY))

    @cached_property
    def _apart(self) -> tuple[float, tuple[float, float]]:
        """How far all pairs of errors are from what was found, at least: all, and those of which one is 0, and which.

        Distances are squares, in standard deviates.
        """
        most = self.first.highest, self.second.highest
        edges = tuple(self._distance(one, min(self.correlation * one, other)) for one, other in (most, most[::-1]))
        return (0.0 if min(most) >= 0 else min(edges)), (edges[0], edges[1])

    def _distance(self, one: float, other: float) -> float:
        square = one * one + other * other - 2 * self.correlation * one * other
        return float(square / (1 - self.correlation**2))

    def _on_edges(self, reach: float) -> Array:
        """The differences furthest from 0, and nearest to it, of pairs of which one is 0 and which may be.

        If what was found is nearer to a pair without a 0, two errors at once are held against it, and so they may be
        further from it.
        """
        from scipy.special import log_ndtr

        nearest, edges = self._apart
        further = -2 * float(log_ndtr(-reach) + np.log(2.0))  # as a square of two deviates
        found = []
        for one, other, edge, sign in zip(
            (self.first, self.second), (self.second, self.first), edges, (-1.0, 1.0), strict=True
        ):
            limit = nearest + min(reach**2 + edge - nearest, further)
            if limit >= edge:
                side = np.sqrt(max((1 - self.correlation**2) * (limit - one.highest**2), 0.0))
                found.append(sign * other.at(self.correlation * one.highest + side * np.array([-1.0, 1.0])))
        return np.concatenate([np.zeros(0), *found])

    def _around(self, reach: float) -> Array:
        """The least and the greatest difference of pairs that just may be, both errors above 0."""
        radius, turn = np.sqrt(self._apart[0] + reach**2), np.arccos(self.correlation) / 2

        def differences(directions: Array) -> Array:
            one, other = radius * np.cos(directions + turn), radius * np.cos(directions - turn)
            above = (one <= self.first.highest) & (other <= self.second.highest)
            return np.where(above, self.first.at(one) - self.second.at(other), np.nan)

        # As many to either side: whoever is named first, the same pairs are looked at.
        steps = np.linspace(-1.0, 1.0, AROUND)
        found = differences(np.pi * steps)
        if np.isnan(found).all():
            return np.zeros(0)
        every = [found]
        for furthest in (np.nanargmin, np.nanargmax):
            seen, near, step = found, np.pi * steps, np.pi * (steps[1] - steps[0])
            for _ in range(CLOSER):
                near = near[furthest(seen)] + step * steps
                seen, step = differences(near), step * (steps[1] - steps[0])
                every.append(seen)
        ends = np.concatenate(every)
        return np.asarray(ends[~np.isnan(ends)])

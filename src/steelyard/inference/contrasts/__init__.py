"""Rules that judge differences. A measure names the rule that suits it: ``contrast="ratio"``.

A rule sees the evidence of one pair of classifiers, as arrays with one entry for each difference. It makes the bounds
and the p-value from the same statistic. The rules that stand on this evidence alone are here; what a rule needs beside,
it asks the two sources for: such rules have a file each.

Most differences are judged where pseudo-observations are added to the joint table. Agresti & Min (2005), Statistics in
Medicine 24, 729-740, do so for proportions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...core.errors import UnknownMeasure, quoted
from ...maths.joint_normal import LogOdds, slope
from ..design import NO_ERROR
from ..evaluation import Slot
from ..rules import SIDES
from ..rules.delta import on_log
from ..student_t import p_values
from ..tails import Tails

if TYPE_CHECKING:
    from ...core.typing import Array, Places


@dataclass(frozen=True)
class PairEvidence:
    """What rules see of some differences of two classifiers: arrays with one entry each.

    Attributes:
        values: The values of both, (2, differences).
        centres: The values with the pseudo-observations.
        ends: The least and the greatest value that there can be.
        variance: The variance of the difference of the centres.
        alone: Returns the variances of both, (2, differences).
        freedom: Degrees of freedom of the variance.
        tails: Returns how far the difference is from normal.
        influences: Returns the influences on both with the pseudo-observations, (differences, patterns) each.
        level: The coverage of an interval, where no critical values are given.
        critical: How many standard errors an interval reaches, where it is not for itself.
        places: Where the differences stand among the slots of the sources.
        slots: What each of them stands for.
        sources: What knows more of both classifiers.
    """

    values: Array
    centres: Array
    ends: Array
    variance: Array
    alone: Callable[[], Array]
    freedom: Array
    tails: Callable[[], Tails]
    influences: Callable[[], tuple[Array, Array]]
    level: float
    critical: Array | None
    places: Places
    slots: Sequence[Slot]
    sources: tuple[Any, Any]

    @property
    def centre(self) -> Array:
        """The difference of the centres."""
        return np.asarray(self.centres[0] - self.centres[1])

    @property
    def difference(self) -> Array:
        """The difference of the values."""
        return np.asarray(self.values[0] - self.values[1])

    @property
    def error(self) -> Array:
        """The standard error of the difference of the centres."""
        return np.sqrt(self.variance)

    @property
    def shared(self) -> Array:
        """The covariance of both."""
        alone = self.alone()
        return np.asarray((alone[0] + alone[1] - self.variance) / 2)

    @property
    def statistic(self) -> Array:
        """The difference in standard errors; 0 where it is rounding alone."""
        # What is the same whatever a classifier says, as the mean share of all classes, differs by rounding.
        rounding = NO_ERROR * np.abs(self.centres).max(axis=0)
        alike = np.maximum(np.abs(self.centre), self.error) <= rounding
        return np.where(alike, 0.0, self.centre / self.error)


@dataclass(frozen=True)
class ContrastRule:
    """A way to judge differences: so many standard errors around the difference of the centres, and its t statistic."""

    def bounds(self, pair: PairEvidence, reach: Array) -> Array:
        """Return the lower and the upper bounds, which reach so many standard errors: (2, differences)."""
        return np.asarray(pair.centre + SIDES * (reach * pair.error))

    def freedom(self, pair: PairEvidence) -> Array:
        """Return the degrees of freedom of the variance."""
        return pair.freedom

    def p(self, pair: PairEvidence) -> Array:
        """Return the two-sided p-values for no difference."""
        return p_values(np.nan_to_num(self.statistic(pair), nan=0.0), pair.freedom)

    def statistic(self, pair: PairEvidence) -> Array:
        """Return the statistic behind the p-values."""
        return pair.statistic


class RatioContrast(ContrastRule):
    """Differences of estimates that can run off to infinity: two intervals on the log scale, and a test of their ratio.

    The intervals are put together with their correlation (MOVER; Zou & Donner 2008, Statistics in Medicine 27,
    1693-1702). The statistic is that of the difference of the logarithms.
    """

    def bounds(self, pair: PairEvidence, reach: Array) -> Array:
        """Return the bounds."""
        alone, (first, second) = pair.alone(), pair.centres
        low_a, high_a = on_log(first, reach * np.sqrt(alone[0]))
        low_b, high_b = on_log(second, reach * np.sqrt(alone[1]))
        correlation = np.clip(np.nan_to_num(pair.shared / np.sqrt(alone[0] * alone[1])), -1, 1)
        below = _together(first - low_a, high_b - second, correlation)
        above = _together(high_a - first, second - low_b, correlation)
        return np.array([first - second - below, first - second + above])

    def statistic(self, pair: PairEvidence) -> Array:
        """Return the statistic."""
        alone, (first, second) = pair.alone(), pair.centres
        variance = alone[0] / first**2 + alone[1] / second**2 - 2 * pair.shared / (first * second)
        return np.asarray((np.log(first) - np.log(second)) / np.sqrt(np.maximum(variance, 1e-300)))


def _together(own: Array, other: Array, correlation: Array) -> Array:
    """How far a difference reaches, from how far both intervals do."""
    square = np.square(own) + np.square(other) - 2 * correlation * own * other
    return np.sqrt(np.maximum(square, 0))


class Unseen(ContrastRule):
    """Differences of net benefits: at least Wilson's bound for what was never seen in so many observations.

    Few observations tell two classifiers apart by true and false positives, or none does: the less was seen, the more
    may be unseen.
    """

    def bounds(self, pair: PairEvidence, reach: Array) -> Array:
        """Return the bounds."""
        low, high = super().bounds(pair, reach)
        trials, worth = _unseen(pair)
        wide = worth * np.square(reach) / (trials + np.square(reach))
        return np.array([np.minimum(low, pair.centre - wide), np.maximum(high, pair.centre + wide)])

    def p(self, pair: PairEvidence) -> Array:
        """Return the p-values."""
        trials, worth = _unseen(pair)
        share = np.abs(pair.centre) / worth
        other = p_values(np.sqrt(trials * share / (1 - share)), pair.freedom)
        return np.asarray(np.fmax(super().p(pair), other))


def _unseen(pair: PairEvidence) -> tuple[float, Array]:
    """How many trials there are, and what a true positive of one and a false positive of the other are worth."""
    first = pair.sources[0]
    return first.total / first.unit, np.hypot(*pair.ends)


class OnLogOdds(ContrastRule):
    """Differences of rankings: both values are judged by their log odds, which are normal together.

    Near a perfect ranking an estimate scatters further down than up, and the less the better it looks. Where the values
    of a measure do not end at 0 and 1, the log odds are those of the share of their range. Bounds are those of the
    ellipse around both log odds; where a value is at an end, so many standard errors.
    """

    def bounds(self, pair: PairEvidence, reach: Array) -> Array:
        """Return the bounds."""
        odds, whole = _odds(pair), pair.ends[1] - pair.ends[0]
        return np.where(odds.known, whole * np.array(odds.bounds(reach)), super().bounds(pair, reach))

    def statistic(self, pair: PairEvidence) -> Array:
        """Return the statistic."""
        odds = _odds(pair)
        return np.where(odds.known, odds.statistic, pair.statistic)

    def freedom(self, pair: PairEvidence) -> Array:
        """Return as many as make a multiple of chi-squared scatter like the variance of the difference of the log odds.

        That scatter is found from the fourth powers of the influences, as a few rows far from their place make up most
        of the variance of a nearly perfect ranking; what the pseudo-rows add to the variance does not scatter.
        """
        start, stop = pair.ends
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            whole = stop - start
            steep_a, steep_b = (1 / slope((centre - start) / whole) / whole for centre in pair.centres)
            first, second = pair.influences()
            scaled = first * steep_a[:, None] - second * steep_b[:, None]
            scatter = pair.sources[0].scatters(
                pair.places, scaled, [*zip(pair.sources, (steep_a, -steep_b), strict=True)]
            )
            other = np.asarray(2 * np.square(_odds(pair).variance) / scatter)
            # Fourth powers of few rows say too little of how far these scatter: the fewness of the rows comes on top.
            both = np.maximum(1 / (1 / pair.freedom + 1 / other), np.minimum(pair.freedom, 1.0))
        return np.where(np.isnan(both), np.fmin(pair.freedom, other), both)


def _odds(pair: PairEvidence) -> LogOdds:
    """The log odds of the share that each centre has of the range of its measure."""
    start, stop = pair.ends
    whole = stop - start
    first, second = (pair.centres - start) / whole
    alone = pair.alone() / np.square(whole)
    return LogOdds.of(first, second, (alone[0], alone[1]), pair.shared / np.square(whole))


RULES = {"smoothed": ContrastRule(), "ratio": RatioContrast(), "unseen": Unseen(), "log_odds": OnLogOdds()}


@lru_cache(maxsize=64)
def contrast(name: str) -> ContrastRule:
    """Return the rule of a name: one of these, or ``BINS`` of ``bins.py`` for ``bins``."""
    if name in RULES:
        return RULES[name]
    try:
        found = getattr(import_module(f"{__name__}.{name}"), name.upper())
    except (ModuleNotFoundError, AttributeError):
        raise UnknownMeasure(f"there is no contrast {quoted(name)}", mend="Name a rule, such as smoothed") from None
    return cast("ContrastRule", found)

"""Differences of rankings: both values are judged by their log odds, which are normal together.

Near a perfect ranking an estimate scatters further down than up, and the less the better it looks. Where the values of
a measure do not end at 0 and 1, the log odds are those of the share of their range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...maths.joint_normal import LogOdds, slope
from . import ContrastRule, PairEvidence

if TYPE_CHECKING:
    from ...core.typing import Array


class OnLogOdds(ContrastRule):
    """Bounds from the ellipse around both log odds; where a value is at an end, so many standard errors."""

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


LOG_ODDS = OnLogOdds()


def _odds(pair: PairEvidence) -> LogOdds:
    """The log odds of the share that each centre has of the range of its measure."""
    start, stop = pair.ends
    whole = stop - start
    first, second = (pair.centres - start) / whole
    alone = pair.alone() / np.square(whole)
    return LogOdds.of(first, second, (alone[0], alone[1]), pair.shared / np.square(whole))

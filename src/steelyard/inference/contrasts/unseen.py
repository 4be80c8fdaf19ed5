"""Differences of net benefits: at least Wilson's bound for what was never seen in so many observations.

Few observations tell two classifiers apart by true and false positives, or none does: the less was seen, the more may
be unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..student_t import p_values
from . import ContrastRule, PairEvidence

if TYPE_CHECKING:
    from ...core.typing import Array


class Unseen(ContrastRule):
    """Bounds no nearer than what may be unseen, and p no less than what that makes of it."""

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


UNSEEN = Unseen()


def _unseen(pair: PairEvidence) -> tuple[float, Array]:
    """How many trials there are, and what a true positive of one and a false positive of the other are worth."""
    first = pair.sources[0]
    return first.total / first.unit, np.hypot(*pair.ends)

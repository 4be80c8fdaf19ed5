"""Differences of estimates that can run off to infinity: two intervals on the log scale, and a test of their ratio.

The intervals are put together with their correlation (MOVER; Zou & Donner 2008, Statistics in Medicine 27, 1693-1702).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..rules.delta import on_log
from . import ContrastRule, PairEvidence

if TYPE_CHECKING:
    from ...core.typing import Array


class RatioContrast(ContrastRule):
    """Bounds from both intervals; the statistic is that of the difference of the logarithms."""

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


RATIO = RatioContrast()


def _together(own: Array, other: Array, correlation: Array) -> Array:
    """How far a difference reaches, from how far both intervals do."""
    square = np.square(own) + np.square(other) - 2 * correlation * own * other
    return np.sqrt(np.maximum(square, 0))

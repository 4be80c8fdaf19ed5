"""Calibration errors: noncentral chi-squared bounds of the mean squared gap between forecasts and frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import Evidence, IntervalRule

if TYPE_CHECKING:
    from ...core.typing import Array


@dataclass(frozen=True)
class Bins(IntervalRule):
    """The source has the gaps in bins of like forecasts; they know how far their mean square is beyond chance."""

    method: str = "noncentral chi-squared"
    reach: tuple[float, float] = (0.0, 1.0)

    def bounds(self, evidence: Evidence) -> Array:
        """Return the bounds."""
        found = [evidence.source.gaps(slot).bounds(evidence.level) for slot in evidence.slots]
        return np.array(found, dtype=np.float64).reshape(-1, 2).T


BINS = Bins()

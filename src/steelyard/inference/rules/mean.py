"""Student's t interval of a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import SIDES, Evidence, IntervalRule

if TYPE_CHECKING:
    from ...core.typing import Array


@dataclass(frozen=True)
class StudentMean(IntervalRule):
    """So many standard errors to either side of the centre."""

    method: str = "t"

    def bounds(self, evidence: Evidence) -> Array:
        """Return the bounds."""
        return np.asarray(evidence.centre + SIDES * (evidence.critical * evidence.smooth))


MEAN = StudentMean()

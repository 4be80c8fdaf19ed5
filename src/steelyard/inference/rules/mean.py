"""Student's t interval of a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import SIDES, Evidence, IntervalRule

if TYPE_CHECKING:
    from ...core.typing import Array


def student(evidence: Evidence) -> Array:
    """Return so many standard errors to either side of the centre."""
    return np.asarray(evidence.centre + SIDES * (evidence.critical * evidence.smooth))


MEAN = IntervalRule("t", bounds=student)

"""The interval of textbooks: so many standard errors to either side, cut off where no value can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import SIDES, Evidence, IntervalRule

if TYPE_CHECKING:
    from ...core.typing import Array


def textbook(evidence: Evidence) -> Array:
    """Return value and standard error as they are: without pseudo-observations, on the scale of the measure."""
    with np.errstate(invalid="ignore"):
        low, high = evidence.value + SIDES * (evidence.critical * evidence.error)
    # A value that rounding brought beyond its span still belongs to its interval.
    least, most = np.fmin(evidence.ends[0], evidence.value), np.fmax(evidence.ends[1], evidence.value)
    return np.array([np.maximum(low, least), np.minimum(high, most)])


PLAIN = IntervalRule("plain", bounds=textbook)

"""Skill, 1 - score / reference: Fieller's bounds of the ratio of two scores of the same observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..student_t import critical_values
from . import Evidence, IntervalRule
from .delta import LOG_OF_REST, on_log_of_rest

if TYPE_CHECKING:
    from ...core.typing import Array


def of_ratios(evidence: Evidence) -> Array:
    """Return the bounds; the source has both scores, with their joint covariance. Where not, the delta method."""
    found = on_log_of_rest(evidence.centre, evidence.critical * evidence.smooth)
    for place, (slot, value) in enumerate(zip(evidence.slots, evidence.value.tolist(), strict=True)):
        ratio = evidence.source.ratio(slot) if np.isfinite(value) else None
        if ratio is not None and np.isfinite(ratio).all():
            reach = critical_values(evidence.level, np.array([evidence.source.result(slot).freedom[1]]))
            ends = ratio.bounds(float(reach[0]))
            found[:, place] = sorted(float(slot.measure.of({"mean": end, "reference": 1.0})) for end in ends)
    return found


FIELLER = IntervalRule("Fieller", LOG_OF_REST.reach, bounds=of_ratios)

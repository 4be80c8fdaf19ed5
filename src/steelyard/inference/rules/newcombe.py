"""Net benefit: Wilson's intervals of two shares of the same trials, put together by squares (Newcombe 1998).

An observation is a true positive, a false positive, or not acted on. Where a threshold is reached by few or none, the
delta method takes what was not seen for what there is not. So both shares have Wilson's intervals.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..averages import class_shares
from ..design import NO_ERROR
from . import Evidence, IntervalRule, slot_by_slot
from .delta import LOGIT
from .wilson import wilson

if TYPE_CHECKING:
    from ...core.typing import Array


def averaged(evidence: Evidence) -> Array:
    """Return the bounds of means over classes: on the logit scale, but where no observation is acted on for any."""
    found = LOGIT.bounds(evidence)
    for place, slot in enumerate(evidence.slots):
        if evidence.error[place] <= NO_ERROR:
            found[:, place] = _all_off_together(evidence.source, slot, evidence.level)
    return found


def of_shares(source: Any, slot: Any, level: float) -> tuple[float, float]:
    """Return the bounds of a class; where the spread is not known there are none.

    The source has the mean of the squares, from which both shares follow.
    """
    (value, _), (variance, _), (freedom, _), _ = source.result(slot)
    worst, best = slot.measure.span
    if np.isnan(variance):
        return (worst, best) if freedom <= 0 else (np.nan, np.nan)  # one observation tells nothing of others
    square = source.mean_square(slot)
    # Of worths that are 1 for a true positive and as much less than 0 for a false one, two means tell both shares.
    # Where observations weigh differently they do so about; how far the value scatters is known nevertheless.
    false = max((square - value) / (worst * (worst - 1)), 0.0) if worst < 0 else 0.0
    shares = np.clip([value - worst * false, false], 0.0, 1.0)
    trials = (square - value**2) / variance if variance > NO_ERROR**2 else source.total / source.unit
    below, above = added(shares, np.array([best, -worst]), trials, level, freedom)
    return value - below, value + above


def _all_off_together(source: Any, slot: Any, level: float) -> tuple[float, float]:
    """Bounds of an average, as if all classes were off together."""
    classes = [slot._replace(code=code, average=None) for code in range(len(source.scale))]
    share = class_shares(slot.average, source.class_mass)
    bounds = [of_shares(replace(source, alone=each), each, level) for each in classes]
    low, high = (share @ np.array(bounds)).tolist()
    return low, high


def added(shares: Array, worths: Array, trials: float, level: float, freedom: float) -> tuple[float, float]:
    """Return how far below and above a gain is that two shares of the same trials make, the second one a loss.

    Each share has Wilson's interval, so that what was never seen may yet be. The less is neither of both, the more the
    one is lost to the other.
    """
    shares = np.where(np.minimum(shares, 1 - shares) < NO_ERROR, np.round(shares), shares)
    low, high = wilson(shares, np.full(2, trials), level, freedom)
    below, above = worths * (shares - low), worths * (high - shares)
    rest = 1 - shares[::-1]
    opposed = np.sqrt(np.prod(np.divide(shares, rest, out=np.ones(2), where=rest > 0)))
    ends = np.array([[below[0], above[1]], [above[0], below[1]]])
    down, up = np.sqrt(np.square(ends).sum(axis=1) + 2 * min(opposed, 1.0) * ends.prod(axis=1)).tolist()
    return down, up


NEWCOMBE = IntervalRule("Wilson, added", of_averages="newcombe.averaged", bounds=partial(slot_by_slot, of_shares))
AVERAGED = IntervalRule(LOGIT.method, (0.0, 1.0), bounds=averaged)

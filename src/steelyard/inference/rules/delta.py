"""The delta method: an interval that is symmetric on a scale without ends, brought back to the scale of the measure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..design import NO_ERROR
from . import SIDES, Evidence, IntervalRule

if TYPE_CHECKING:
    from ...core.typing import Array


def around_centre(on_scale: Callable[[Array, Array], Array], evidence: Evidence) -> Array:
    """Return the bounds around the centres on a scale, which makes them of these and how far to reach."""
    return on_scale(evidence.centre, evidence.critical * evidence.smooth)


def on_stretched_logit(evidence: Evidence) -> Array:
    """Return the bounds on the logit scale, which ends where the values of the measure do: they need not be 0 and 1."""
    start, stop = evidence.ends
    whole = stop - start
    reach = evidence.critical * (evidence.smooth / whole)
    return np.asarray(start + whole * on_logit((evidence.centre - start) / whole, reach))


def on_logit(centre: Array, reach: Array) -> Array:
    """On the scale of log odds."""
    rest = 1 - centre
    bounds = 1 / (1 + np.exp(SIDES * (reach / (centre * -rest)) - np.log(centre / rest)))
    # At an end there is no logit; what is on the inner side of it is told by the standard error alone.
    ended = np.minimum(centre, rest) <= NO_ERROR
    if ended.any():
        bounds = np.where(ended, np.minimum(np.maximum(centre + SIDES * reach, 0.0), 1.0), bounds)
    return np.asarray(bounds)


def on_fisher(centre: Array, reach: Array) -> Array:
    """On Fisher's z scale, for values between -1 and 1."""
    return np.asarray(np.tanh(np.arctanh(centre) + SIDES * (reach / (1 - centre**2))))


def on_log(centre: Array, reach: Array) -> Array:
    """On the log scale, for values above 0."""
    return np.asarray(np.exp(np.log(centre) + SIDES * (reach / centre)))


def on_log_of_rest(centre: Array, reach: Array) -> Array:
    """On the log scale of 1 - value, for values below 1."""
    return 1 - on_log(1 - centre, reach)[::-1]


LOGIT = IntervalRule("delta, logit scale", None, bounds=on_stretched_logit)
FISHER = IntervalRule("delta, Fisher scale", (-1.0, 1.0), bounds=partial(around_centre, on_fisher))
LOG = IntervalRule("delta, log scale", (0.0, np.inf), bounds=partial(around_centre, on_log))
LOG_OF_REST = IntervalRule(
    "delta, log scale of 1 - value", (-np.inf, 1.0), bounds=partial(around_centre, on_log_of_rest)
)

"""Net benefit over all thresholds: what it brings to act on forecasts, for whoever would act from a probability on."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BadOption
from ..core.suggestions import refuse_unknown
from ..core.table import Table
from ..maths.simultaneous import max_critical
from ..measures import find

if TYPE_CHECKING:
    from ..core.typing import Array
    from .assessment import Assessment
    from .ranking_curves import Band
    from .reliability import Reliability

THRESHOLDS = np.arange(100) / 100  # that of 1 would ask for certainty, and one false alarm would outweigh all hits
ROUNDING = 1e-12


def decision_curve(assessment: Assessment, code: int, band: Band) -> Table:
    """The net benefit of acting on a class from each threshold on, and of acting on all rows."""
    refuse_unknown("band", band, ("pointwise", "simultaneous", "none"))
    if not assessment.tally.given.kept:
        raise assessment.no_scores
    if not assessment.has_scores:
        raise BadOption("labels have one net benefit", mend="Give probabilities, or ask for 'net_benefit(at=0.2)'")
    label, measures = assessment.classes[code], [find("net_benefit", at=at) for at in THRESHOLDS.tolist()]
    found = assessment.by(*measures)
    if band == "simultaneous":
        level = _together(assessment.reliabilities(label)[label], assessment.settings.level)
        found = replace(found, settings=replace(found.settings, level=level))
    estimates = [found[measure, label] for measure in measures]
    odds, base = THRESHOLDS / (1 - THRESHOLDS), estimates[0].value  # from 0 on, all rows are acted on
    columns = {
        "threshold": THRESHOLDS.tolist(),
        "net_benefit": [each.value for each in estimates],
        "all": (base - (1 - base) * odds).tolist(),
    }
    if band != "none":
        columns |= {"low": [each.low for each in estimates], "high": [each.high for each in estimates]}
    return Table(columns)


def _together(forecasts: Reliability, level: float) -> float:
    """The level of intervals that hold all at once: net benefits at thresholds next to each other go together."""
    place = np.searchsorted(THRESHOLDS, forecasts.forecast + ROUNDING, side="right") - 1
    reached = np.arange(len(THRESHOLDS)) <= np.arange(len(THRESHOLDS))[:, None]  # thresholds, by those in between
    mean, square = np.zeros(len(THRESHOLDS)), np.zeros((len(THRESHOLDS), len(THRESHOLDS)))
    false: Array = -THRESHOLDS / (1 - THRESHOLDS)
    for mass, worth in ((forecasts.happened, np.ones(len(false))), (forecasts.mass - forecasts.happened, false)):
        rows = np.bincount(place, mass, len(THRESHOLDS)) / forecasts.mass.sum()
        each = reached * worth
        mean += rows @ each
        square += each.T @ (rows[:, None] * each)
    spread = square - np.outer(mean, mean)
    scatters = np.diag(spread) > ROUNDING * np.diag(square)  # where all rows are worth the same, one interval does
    reach = max_critical(spread[np.ix_(scatters, scatters)], level, np.inf)
    return max(2 * NormalDist().cdf(reach) - 1, level)

"""Intervals of net benefits: rows are hits, false alarms, or not acted on, and a few of either make up the value.

Where a threshold is reached by few rows or none, the delta method takes what was not seen for what there is not. So the
shares of hits and of false alarms have Wilson's intervals, and these are put together by their squares.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...inference.intervals import added
from ...inference.row_evaluation import AVERAGES
from ...inference.table_evaluation import Slot
from ...inference.variances import NO_ERROR
from .columns import ForecastColumns


def benefit_bounds(evaluation: ForecastColumns, slot: Slot, level: float) -> tuple[float, float] | None:
    """The bounds of a net benefit; none where its spread is not known."""
    (value, _), (variance, _), (freedom, _), _ = evaluation.result(slot)
    worst, best = slot.measure.span
    if np.isnan(variance):
        return (worst, best) if freedom <= 0 else None  # one row, or one cluster, tells nothing about others
    square = evaluation.mean_square(slot)
    # Of worths that are 1 for a hit and as much less than 0 for a false alarm, two means tell the shares of both. Where
    # rows weigh differently they do so about; how far the value scatters is known nevertheless.
    false = max((square - value) / (worst * (worst - 1)), 0.0) if worst < 0 else 0.0
    shares = np.clip([value - worst * false, false], 0.0, 1.0)
    trials = (square - value**2) / variance if variance > NO_ERROR**2 else evaluation.total / evaluation.unit
    below, above = added(shares, np.array([best, -worst]), trials, level, freedom)
    return value - below, value + above


def average_bounds(evaluation: ForecastColumns, slot: Slot, level: float) -> tuple[float, float] | None:
    """Those of an average where no row is a hit or a false alarm of any class, as if all classes were off together."""
    if not evaluation.result(slot).variance[0] <= NO_ERROR**2:
        return None
    classes = [Slot(slot.measure, code) for code in range(len(evaluation.scale))]
    share = np.full(len(classes), 1 / len(classes)) if slot.average == AVERAGES[0] else evaluation.share
    bounds = [benefit_bounds(replace(evaluation, alone=each), each, level) for each in classes]
    low, high = (share @ np.array(bounds)).tolist()
    return low, high

"""Calibration errors: noncentral chi-squared bounds of the mean squared gap between forecasts and frequencies."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import IntervalRule, slot_by_slot


def of_gaps(source: Any, slot: Any, level: float) -> tuple[float, float]:
    """Return the bounds; the gaps that the source has in bins know how far their mean square is beyond chance."""
    low, high = source.gaps(slot).bounds(level)
    return low, high


BINS = IntervalRule("noncentral chi-squared", (0.0, 1.0), bounds=partial(slot_by_slot, of_gaps))

"""Differences of calibration errors: judged by the gaps between forecasts and frequencies that they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import ContrastRule, PairEvidence

if TYPE_CHECKING:
    from ...core.typing import Array


class PairedBins(ContrastRule):
    """Near 0 a calibration error has no normal error; the sources put the gaps of both together."""

    def bounds(self, pair: PairEvidence, reach: Array) -> Array:
        """Return the bounds."""
        found, gaps = super().bounds(pair, reach), _gaps(pair)
        for place, each in enumerate(gaps):
            found[:, place] = each.bounds(float(reach[place]))
        return found

    def p(self, pair: PairEvidence) -> Array:
        """Return the p-values."""
        gaps = _gaps(pair)
        return np.array([each.p for each in gaps]) if gaps else super().p(pair)


BINS = PairedBins()


def _gaps(pair: PairEvidence) -> list[Any]:
    """The gaps behind each difference; none where a classifier gave no probabilities."""
    first, second = pair.sources
    return [first.paired(slot, second) for slot in pair.slots] if first.heard and second.heard else []

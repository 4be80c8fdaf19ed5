"""Long curves drawn with few points. This and the placing of labels are the only arithmetic that drawing does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

LONGEST = 2000
"""A curve with more points than this is thinned, and has no more than this afterwards."""

ONE_WAY = 2.0 + 1e-9
"""How far it is along a curve that only rises or only falls, as a share of the span of x and of y together."""

_STRETCHES = LONGEST // 4


def thin(x: Numbers, y: Numbers) -> NDArray[np.intp]:
    """Choose which points of a curve to draw: of a short one all, of a long one those that the eye can tell apart.

    The way along the curve is cut into stretches of equal length, about a pixel or two each; a curve that goes up and
    down has a long way, and is cut along x alone. A stretch keeps its first, last, lowest and highest point, so that
    neither a steep rise nor a single peak is lost. Whether drawn by lines or in steps, the picture and the whole curve
    are nowhere farther apart than a 250th of the span of x and y.
    """
    if len(x) <= LONGEST:
        return np.arange(len(x))
    way = np.cumsum(_steps(x) + _steps(y))
    if way[-1] > ONE_WAY:
        way = np.cumsum(_steps(x))
    stretch = np.floor(way * (_STRETCHES / (way[-1] or 1.0))).clip(max=_STRETCHES - 1)
    first = np.flatnonzero(np.diff(stretch, prepend=-1.0))
    last = np.append(first[1:], len(x)) - 1
    from_low_to_high = np.lexsort((y, stretch))
    return np.unique(np.concatenate([first, last, from_low_to_high[first], from_low_to_high[last]]))


def _steps(values: Numbers) -> Numbers:
    """How far each point lies from the one before it, as a share of the span of all."""
    return np.abs(np.diff(values, prepend=values[0])) / (np.ptp(values) or 1.0)

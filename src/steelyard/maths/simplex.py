"""Where memberships lie in a simplex of two, three or four classes, its borders and its cells: pure geometry."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array, Places

MOST_CLASSES = 4  # a simplex of more has no picture
AZIMUTH, ELEVATION = np.radians(-41.0), np.radians(21.0)  # from here no corner of the four hides behind others


def corners(classes: int) -> Array:
    """Where the corners are, (classes, classes - 1): a segment, a triangle or a tetrahedron, the latter two as in klaR.

    The triangle stands around 0: the first class lower left, the second on top, the third lower right.
    """
    if classes == 2:
        return np.array([[0.0], [1.0]])
    if classes == 3:
        half = 1 / np.sqrt(3)
        return np.array([[-half, -1 / 3], [0.0, 2 / 3], [half, -1 / 3]])
    high = np.sqrt(3) / 2
    return np.array([[1.0, 0.0, 0.0], [0.5, high, 0.0], [0.5, high / 3, np.sqrt(2 / 3)], [0.0, 0.0, 0.0]])


def coordinates(memberships: Array) -> Array:
    """Where rows are, (rows, classes - 1)."""
    return np.asarray(memberships @ corners(memberships.shape[1]))


def seen(places: Array) -> Array:
    """Places of a tetrahedron from the viewer's side: across, up and towards the viewer, around its middle."""
    sideways, upwards = np.array([np.cos(AZIMUTH), np.sin(AZIMUTH)]), np.array([np.cos(ELEVATION), np.sin(ELEVATION)])
    across = np.array([-sideways[1], sideways[0], 0.0])
    up = np.array([*(-upwards[1] * sideways), upwards[0]])
    towards = np.array([*(upwards[0] * sideways), upwards[1]])
    middle = corners(4).mean(axis=0)
    return np.asarray((places - middle) @ np.stack([across, up, towards], axis=1))


# --- lines, given as the memberships of their two ends: (lines, 2, classes) ---------------------------------------


def edges(classes: int) -> Array:
    """From every corner to every other one."""
    return np.array([np.eye(classes)[list(pair)] for pair in combinations(range(classes), 2)])


def assigned_borders(classes: int) -> Array:
    """Where two classes share the highest membership: from the middle to the middle of every edge."""
    middle = np.full(classes, 1 / classes)
    return np.array([[middle, ends.mean(axis=0)] for ends in edges(classes)])


def second_borders(classes: int) -> Array:
    """Where all classes but the highest share what is left: from the middle to every corner."""
    middle = np.full(classes, 1 / classes)
    return np.array([[middle, corner] for corner in np.eye(classes)])


# --- cells --------------------------------------------------------------------------------------------------------


def cells(memberships: Array, steps: int) -> Places:
    """Memberships in whole steps that add up to so many: the nearest such point, (rows, classes).

    Around these points lie hexagons in a triangle. The largest remainders are rounded up, which finds the nearest point
    (Conway & Sloane 1982).
    """
    parts = np.ascontiguousarray(memberships.T)  # sums of rows that lie side by side take far longer
    parts = parts * (steps / parts.sum(axis=0))
    found = np.floor(parts)
    lacking = steps - found.sum(axis=0)
    rest = found - parts
    for code, own in enumerate(rest):
        # How many remainders are larger, or as large and before it: sorting every row would take far longer.
        rank = sum((other < own).astype(np.int8) for other in rest[code + 1 :])
        rank = rank + sum((other <= own).astype(np.int8) for other in rest[:code])
        found[code] += rank < lacking
    return np.asarray(found.astype(np.int64).T)


def cell_codes(whole: Places, steps: int) -> Places:
    """One number for every cell; the last class follows from the others."""
    found = whole[:, 0].copy()
    for place in range(1, whole.shape[1] - 1):
        found += whole[:, place] * (steps + 1) ** place
    return found


def cells_of(codes: Places, steps: int, classes: int) -> Array:
    """The memberships in the middles of cells, from their numbers."""
    first = np.stack([codes // (steps + 1) ** place % (steps + 1) for place in range(classes - 1)], axis=1)
    return np.asarray(np.append(first, steps - first.sum(axis=1, keepdims=True), axis=1) / steps)

"""Where the panels of simplexes stand, how large they are, and where there is room for text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from .style import SMALL_SIZE, Looks


class Box(NamedTuple):
    """From where to where a panel reaches around its simplex.

    Besides, how many inches a unit of it usually is, and how many units wide the texts at its corners may be.
    """

    left: float
    right: float
    bottom: float
    top: float
    unit: float
    label: float

    @property
    def wide(self) -> float:
        """The width of a panel."""
        return self.right - self.left

    @property
    def high(self) -> float:
        """The height of a panel."""
        return self.top - self.bottom


BOXES = {
    2: Box(-0.3, 1.3, -0.32, 0.48, 4.3, 0.27),
    3: Box(-0.9, 0.9, -0.63, 1.2, 2.1, 0.63),
    4: Box(-1.08, 1.08, -0.72, 1.08, 2.1, 0.54),
}
WIDEST, HIGHEST = 11.0, 15.0  # inches: of a figure
ALONE = 1.35  # how much larger a panel is that has a figure of its own
SECOND_LINE = 0.09  # of a panel: the height of what is said of a classifier below its name
CAPTION = 0.16  # inches: of a line


@dataclass(frozen=True)
class Grid:
    """Where panels stand, the first one in the upper left; below them is room for a caption.

    Attributes:
        box: The room of a panel.
        count: How many panels there are.
        columns: How many of them stand beside each other.
        unit: How many inches a unit is.
        lines: How many lines the caption has.
    """

    box: Box
    count: int
    columns: int
    unit: float
    lines: int = 1

    @classmethod
    def of_own(cls, box: Box, count: int) -> Grid:
        """In a figure of our own: four columns or fewer, and panels of the usual size, if not too many."""
        segments = box.unit == BOXES[2].unit
        columns = 1 if segments else {1: 1, 2: 2, 4: 2}.get(count, 3 if count <= 9 else 4)
        rows, usual = math.ceil(count / columns), box.unit * (ALONE if count == 1 and not segments else 1.0)
        return cls(box, count, columns, min(usual, WIDEST / columns / box.wide, HIGHEST / rows / box.high))

    @classmethod
    def within(cls, box: Box, count: int, wide: float, high: float) -> Grid:
        """In so many inches: as many columns as make panels largest."""
        tries = [(columns, math.ceil(count / columns)) for columns in range(1, count + 1)]
        units = [min(wide / columns / box.wide, high / rows / box.high) for columns, rows in tries]
        return cls(box, count, 1 + units.index(max(units)), max(units))

    @property
    def inches(self) -> tuple[float, float]:
        """How wide and how high all of it is."""
        return self.columns * self.box.wide * self.unit, self.rows * self.box.high * self.unit + CAPTION * self.lines

    @property
    def rows(self) -> int:
        """How many panels stand below each other."""
        return math.ceil(self.count / self.columns)

    @property
    def size(self) -> float:
        """The size of text: panels that are smaller than usual have smaller text, so that it still fits."""
        return max(4.5, SMALL_SIZE * self.scale)

    @property
    def scale(self) -> float:
        """How large panels are, if they are smaller than usual."""
        return min(1.0, self.unit / self.box.unit)

    def origin(self, place: int) -> tuple[float, float]:
        """How far a panel is moved."""
        row, column = divmod(place, self.columns)
        return column * self.box.wide, -row * self.box.high

    @property
    def limits(self) -> Looks:
        """What the axes reach over."""
        bottom = self.box.bottom - (self.rows - 1) * self.box.high - CAPTION * self.lines / self.unit
        right = self.box.right + (self.columns - 1) * self.box.wide
        return {"xlim": (self.box.left, right), "ylim": (bottom, self.box.top)}


def beside(x: float, y: float, corners: int) -> Looks:
    """On which side of a corner its text stands: away from the simplex."""
    place: Looks = {"textcoords": "offset points", "ha": "center", "zorder": 4.0}
    outwards = "right" if x < 0 else "left"
    if corners == 2:
        return place | {"xytext": (-9.0 if x < 0.5 else 9.0, 0.0), "ha": "right" if x < 0.5 else "left", "va": "center"}
    if y > 0.2:
        return place | {"xytext": (0.0, 7.0), "va": "bottom"}
    if corners == 4 and abs(x) > 0.3:
        return place | {"xytext": (-5.0 if x < 0 else 5.0, -4.0), "va": "top", "ha": outwards}
    return place | {"xytext": (0.0, -7.0), "va": "top"}

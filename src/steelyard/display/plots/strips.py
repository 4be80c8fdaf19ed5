"""Rows along the continuum that their classes were cut from, a lane for every class that they were assigned to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...core.errors import BadOption
from ...core.table import Table
from .base import refuse_missing, refuse_strangers, stacked
from .style import (
    SMALL_SIZE,
    Look,
    Looks,
    add_legend,
    canvas,
    dress,
    entry,
    fitting,
    give_way,
    inches,
    legible,
    name_sides,
    size_in,
    text_colour,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...core.scale import Label
    from .base import Numbers

    Segments = Sequence[Sequence[tuple[float, float]]]


# How rows of each severity look. Shapes tell marks apart in grey; of bars, darkness does.
# Near blue, orange and vermilion of Okabe & Ito, in even steps of grey: the worse, the darker. None is that of text.
GRADES = {
    "right": Look("#B9D6EA", "o", 0.9),
    "near": Look("#DE8F00", "^", 1.1),
    "next": Look("#B84300", "s", 0.95),
    "far": Look(None, "X", 1.12),
}
ZONE: Looks = {"color": "0.5", "alpha": 0.13, "linewidth": 0.0, "zorder": 0.5}
BOUNDARY: Looks = {"alpha": 0.65, "linewidth": 1.0, "linestyle": (0, (4, 2)), "zorder": 1.0}
FLOOR: Looks = {"color": "0.5", "alpha": 0.35, "linewidth": 0.6, "zorder": 1.2}
HOME: Looks = {"alpha": 0.75, "linewidth": 2.6, "zorder": 3.6}

WIDTH, EDGE, SIDE = 7.6, 1.15, 0.5  # inches: of a figure, and what all but lanes and names takes of height and width
HEAD, SECOND_LINE = 0.29, 0.17
LOWEST, HIGHEST, ALL_BARS = 0.3, 0.62, 7.0  # inches: of a lane of bars, and of all of them where they are not lower
SMALLEST_MARK, MARK, ALL_MARKS = 3.6, 5.0, 480.0  # points
ALL_LEVELS = 150
FILLED = 0.86  # of a lane, so that lanes stay apart
NAME = 24
TIERS, TIER = 3, 12.0  # how many lines names of classes may take above the axes, and the height of one in points


@dataclass(frozen=True)
class Lanes:
    """Where the lanes of classifiers stand, those of the first one on top, in units of a lane.

    Attributes:
        models: The classifiers.
        classes: The classes: a lane each.
        levels: How many marks stand on top of each other in a lane; 0 where there are bars.
        wide: How many inches wide they are.
        head: The height in inches of what stands above the lanes of a classifier.
        lane: That of a lane.
    """

    models: Sequence[str]
    classes: Sequence[Label]
    levels: int
    wide: float
    head: float
    lane: float

    @property
    def block(self) -> float:
        """The height of all that belongs to a classifier."""
        return len(self.classes) + self.head / self.lane

    @property
    def height(self) -> float:
        """The height of all."""
        return self.block * len(self.models)

    @property
    def mark(self) -> float:
        """How large a mark may be, in points, so that those on top of each other do not overlap."""
        return max(1.5, min(MARK, self.lane * 72 * FILLED / max(self.levels, 1) - 0.4))

    def feet(self, name: str) -> dict[Label, float]:
        """Where the lanes of a classifier begin."""
        foot = self.block * (len(self.models) - 1 - self.models.index(name))
        return {label: foot + place for place, label in enumerate(self.classes)}


def levels_in(ax: Axes | None, models: int) -> int:
    """How many marks on top of each other, in all lanes together, axes have room for; or a figure of our own."""
    return ALL_LEVELS if ax is None else int((_room(ax) - HEAD * models) * 72 * FILLED / (SMALLEST_MARK + 0.4))


def _room(axes: Axes) -> float:
    """About how many inches are left for lanes: the legend and names of classes take their part."""
    high = inches(axes)[1]
    return max(high / 2, high - 1.3)


@dataclass(frozen=True, eq=False, repr=False)
class ContinuumDisplay:
    """Rows at their measured values, by the class assigned: above its interval they are right, beside it wrong.

    Attributes:
        strips: The rows of each classifier: marks (assigned, severity, value, level) or bars (assigned, severity,
            from, to, foot, top). Severities are right, near, next and far.
        classes: The classes from the lowest to the highest.
        boundaries: Where they end, one more than there are classes; the outer ones may be infinite.
        span: From where to where the axis reaches.
        zones: Where labels are uncertain, with the columns from and to.
        sd: The deviation that zones were made of, in words: "sd 0.5".
        labels: What stands above the lanes of a classifier instead of its bare name.
    """

    strips: Mapping[str, Table]
    classes: Sequence[Label]
    boundaries: Sequence[float]
    span: tuple[float, float]
    _: KW_ONLY
    zones: Table = field(default_factory=lambda: Table({"from": [], "to": []}))
    sd: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not self.strips:
            raise BadOption("there is no strip to draw", mend="Give at least one classifier and its table")
        if len(self.boundaries) != len(self.classes) + 1:
            raise BadOption(
                f"{len(self.boundaries)} boundaries do not cut {len(self.classes)} classes",
                mend="Give both ends of every class",
            )
        for table in self.strips.values():
            refuse_missing(
                table, ("assigned", "severity", *(("value", "level") if self._marked else ("from", "foot", "top")))
            )
        refuse_strangers("labels", self.labels, self.strips)

    def frame(self) -> Table:
        """All tables below each other, with the classifier's name in the column "model"."""
        return stacked(self.strips)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rows into the given axes, or into a new figure."""
        lanes = self._lanes(ax)
        with canvas(ax, (WIDTH, EDGE + lanes.height * lanes.lane)) as (own, axes), give_way(axes):
            shown = "one mark a row" if self._marked else "height: root of the number of rows"
            axes.set(xlim=self.span, ylim=(-0.12, lanes.height))
            axes.set(xlabel=f"measured value ({shown})", ylabel="assigned class")
            dress(axes)
            axes.grid(visible=False, axis="y")
            (self._draw_marks if self._marked else self._draw_bars)(axes, lanes)
            self._draw_zones(axes)
            self._draw_floors(axes, lanes)
            self._name_lanes(axes, lanes)
            self._write_headings(axes, lanes)
            self._name_classes(axes, lanes)
            add_legend(axes, "below", own, outside=True)
        return axes

    # --- where things stand ------------------------------------------------------------------------------------

    @property
    def _marked(self) -> bool:
        """Whether there are marks, not bars."""
        return any("value" in table.column_names for table in self.strips.values())

    def _lanes(self, ax: Axes | None) -> Lanes:
        """As many lanes as there are classes and classifiers, and as high as they need to be or as there is room."""
        models, count, levels = list(self.strips), len(self.strips) * len(self.classes), 0
        lane = min(HIGHEST, max(LOWEST, ALL_BARS / count))
        if self._marked:
            levels = 1 + max(3, *[int(level) for table in self.strips.values() for level in table["level"]])
            mark = min(MARK, max(SMALLEST_MARK, ALL_MARKS / (levels * count)))
            lane = max(LOWEST, levels * (mark + 0.4) / 72 / FILLED)
        # Names of lanes take their room from these, once they are laid out.
        beside = max(written(legible(label, NAME), SMALL_SIZE) for label in self.classes)
        wide = max(0.5, (WIDTH - SIDE if ax is None else inches(ax)[0]) - beside)
        broken = any(written(line, SMALL_SIZE) > wide for name in models for line in self._heading(name))
        head = HEAD + SECOND_LINE * broken
        if ax is not None:
            lane = max(0.02, (_room(ax) - head * len(models)) / count)
        return Lanes(models, self.classes, levels, wide, head, lane)

    def _heading(self, name: str, broken: bool = False) -> list[str]:
        """What stands above the lanes of a classifier; its name in a line of its own, where that is broken."""
        short, whole = entry(name, name), entry(name, self.labels.get(name, name))
        return [line for line in (short, whole.removeprefix(short).strip(": ")) if line] if broken else [whole]

    def _of(self, lanes: Lanes, severity: str, *columns: str) -> Numbers:
        """Some columns of all rows of a severity, and before them the foot of the lane that each is in."""
        found = []
        for name, table in self.strips.items():
            feet, rows = lanes.feet(name), zip(*[table[column] for column in columns], strict=True)
            kept = zip(table["severity"], table["assigned"], rows, strict=True)
            found += [(feet[label], *row) for grade, label, row in kept if grade == severity]
        return np.array(found, dtype=float).reshape(-1, len(columns) + 1).T

    # --- what is drawn -----------------------------------------------------------------------------------------

    def _words(self, severity: str) -> str:
        """What the legend says of a severity, no more than tells it from the others that there can be."""
        if severity == "right":
            return severity
        if severity == "near":
            return "wrong by less than 1.64 sd"
        steps = {"next": ", one class off", "far": ", two classes off or more"}[severity]
        more = any("near" in table["severity"] for table in self.strips.values())
        return ("wrong by more" if more else "wrong") + (steps if len(self.classes) > 2 else "")

    def _draw_marks(self, axes: Axes, lanes: Lanes) -> None:
        """One mark a row, the worst on top."""
        for order, (severity, grade) in enumerate(GRADES.items()):
            foot, value, level = self._of(lanes, severity, "value", "level")
            if len(foot):
                places = foot + (level + 0.8) * FILLED / lanes.levels
                look: Looks = {"color": grade.colour or text_colour(), "zorder": 3.0 + order / 10}
                edge: Looks = {"markeredgecolor": "0.25", "markeredgewidth": 0.4}
                look |= {"marker": grade.marker, "markersize": lanes.mark * grade.size, "linestyle": "none", **edge}
                axes.plot(value, places, label=self._words(severity), **look)

    def _draw_bars(self, axes: Axes, lanes: Lanes) -> None:
        """All bars of a severity in one piece, with edges of their own colour, so that no gap shines through."""
        from matplotlib.collections import PolyCollection

        for order, (severity, grade) in enumerate(GRADES.items()):
            foot, start, stop, low, high = self._of(lanes, severity, "from", "to", "foot", "top")
            if len(foot):
                low, high = foot + FILLED * low, foot + FILLED * high
                corners = np.stack([[start, low], [start, high], [stop, high], [stop, low]]).transpose(2, 0, 1)
                colour = grade.colour or text_colour()
                look: Looks = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.3, "zorder": 3.0 + order / 10}
                bars = PolyCollection(list(corners), label=self._words(severity), **look)
                axes.add_collection(bars, autolim=False)

    def _draw_zones(self, axes: Axes) -> None:
        """Where labels are uncertain, and where classes end."""
        words = f"P(label wrong) > 5 % ({self.sd})"
        for place, (start, stop) in enumerate(zip(self.zones["from"], self.zones["to"], strict=True)):
            axes.axvspan(start, stop, label=None if place else words, **ZONE)
        inner = self.boundaries[1:-1]
        shown = f": {', '.join(f'{boundary:g}' for boundary in inner)}" if len(inner) <= 4 else ""
        words = f"boundary of classes{shown}".replace("-", "−")
        for place, boundary in enumerate(self.boundaries):
            if self.span[0] <= boundary <= self.span[1]:
                axes.axvline(boundary, label=words if place == 1 else None, color=text_colour(), **BOUNDARY)

    def _draw_floors(self, axes: Axes, lanes: Lanes) -> None:
        """A line below every lane, thick where the class that is assigned there lies."""
        from matplotlib.collections import LineCollection

        feet = [foot for name in self.strips for foot in lanes.feet(name).values()]
        floors: Segments = [[(self.span[0], foot), (self.span[1], foot)] for foot in feet]
        axes.add_collection(LineCollection(floors, **FLOOR), autolim=False)
        pairs = [*pairwise(np.clip(self.boundaries, *self.span).tolist())] * len(self.strips)
        homes: Segments = [[(low, foot), (high, foot)] for foot, (low, high) in zip(feet, pairs, strict=True)]
        look: Looks = {"label": "interval of the assigned class", "capstyle": "butt", "color": text_colour(), **HOME}
        axes.add_collection(LineCollection(homes, **look), autolim=False)

    def _name_lanes(self, axes: Axes, lanes: Lanes) -> None:
        """Classes beside their lanes."""
        feet = {name: lanes.feet(name) for name in self.strips}
        names = [legible(label, NAME) for each in feet.values() for label in each]
        places = [foot + FILLED / 2 for each in feet.values() for foot in each.values()]
        name_sides(axes, (places, names), fontsize=size_in(72 * lanes.lane))

    def _write_headings(self, axes: Axes, lanes: Lanes) -> None:
        """What there is to say of a classifier, above its lanes."""
        place: Looks = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "va": "top"}
        place |= {"bbox": {"facecolor": axes.get_facecolor(), "edgecolor": "none", "alpha": 0.8, "pad": 1.0}}
        lines = {name: self._heading(name, broken=lanes.head > HEAD) for name in self.strips}
        size = fitting([line for each in lines.values() for line in each], SMALL_SIZE, lanes.wide)
        for name, each in lines.items():
            top = lanes.feet(name)[self.classes[0]] + lanes.block
            axes.annotate("\n".join(each), (0.0, top), xytext=(4.0, -5.0), fontsize=size, zorder=2.0, **place)
            if top < lanes.height - 0.01:
                axes.axhline(top, color="0.5", linewidth=0.8)

    def _name_classes(self, axes: Axes, lanes: Lanes) -> None:
        """Classes above their intervals, on several lines where they would run into each other."""
        wide = min(lanes.wide, 0.9 * inches(axes)[0]) / (self.span[1] - self.span[0])
        ends, taken = np.clip(self.boundaries, *self.span), [-math.inf] * TIERS
        place: Looks = {"xycoords": axes.get_xaxis_transform(), "textcoords": "offset points", "ha": "center"}
        for label, (low, high) in zip(self.classes, pairwise(ends.tolist()), strict=True):
            name, middle = legible(label, NAME), (low + high) / 2
            half = written(f"{name}  ", SMALL_SIZE) / 2
            left = (middle - self.span[0]) * wide - half
            tier = next((tier for tier, end in enumerate(taken) if end <= left), None)
            if tier is not None:  # those without room above still stand beside their lanes
                taken[tier] = left + 2 * half
                offset = (0.0, 4.0 + TIER * tier)
                axes.annotate(name, (middle, 1.0), xytext=offset, fontsize=SMALL_SIZE, **place)

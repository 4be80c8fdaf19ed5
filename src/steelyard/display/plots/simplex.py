"""Rows between corners that stand for the classes: a segment, a triangle or a tetrahedron for every classifier."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.errors import BadOption
from ...core.table import Table
from ...core.text import estimated
from .base import refuse_missing, refuse_strangers, stacked
from .style import (
    SMALL_SIZE,
    TEXT_SIZE,
    Look,
    Looks,
    add_legend,
    canvas,
    fitting,
    give_way,
    inches,
    legible,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..partition_panels import Panel
    from .base import Numbers


class PanelBox(NamedTuple):
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
    2: PanelBox(-0.3, 1.3, -0.32, 0.48, 4.3, 0.27),
    3: PanelBox(-0.9, 0.9, -0.63, 1.2, 2.1, 0.63),
    4: PanelBox(-1.08, 1.08, -0.72, 1.08, 2.1, 0.54),
}
WIDEST, HIGHEST = 11.0, 15.0  # inches: of a figure
ALONE = 1.35  # how much larger a panel is that has a figure of its own
SECOND_LINE = 0.09  # of a panel: the height of what is said of a classifier below its name
CAPTION = 0.16  # inches: of a line


@dataclass(frozen=True)
class PanelGrid:
    """Where panels stand, the first one in the upper left; below them is room for a caption.

    Attributes:
        box: The room of a panel.
        count: How many panels there are.
        columns: How many of them stand beside each other.
        unit: How many inches a unit is.
        lines: How many lines the caption has.
    """

    box: PanelBox
    count: int
    columns: int
    unit: float
    lines: int = 1

    @classmethod
    def of_own(cls, box: PanelBox, count: int) -> PanelGrid:
        """In a figure of our own: four columns or fewer, and panels of the usual size, if not too many."""
        segments = box.unit == BOXES[2].unit
        columns = 1 if segments else {1: 1, 2: 2, 4: 2}.get(count, 3 if count <= 9 else 4)
        rows, usual = math.ceil(count / columns), box.unit * (ALONE if count == 1 and not segments else 1.0)
        return cls(box, count, columns, min(usual, WIDEST / columns / box.wide, HIGHEST / rows / box.high))

    @classmethod
    def within(cls, box: PanelBox, count: int, wide: float, high: float) -> PanelGrid:
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


# --- the picture --------------------------------------------------------------------------------------------------


# How the rows of each class look: shapes tell true classes apart in grey.
# Near blue, orange, green and purple of Okabe & Ito, in steps of grey.
CLASSES = (
    Look("#005F94", "o"),
    Look("#EFA500", "s", 0.92),
    Look("#14A07A", (3, 0, 0), 1.22),
    Look("#B3478E", "D", 0.86),
)
OTHER = Look("#8C8C8C", (3, 0, 180), 1.22)

BORDERS: dict[str, Looks] = {
    "edge": {"linewidth": 1.0, "alpha": 0.9, "zorder": 1.0},
    "hidden": {"linewidth": 0.7, "alpha": 0.45, "zorder": 0.9},
    "assigned": {"linewidth": 0.9, "alpha": 0.6, "zorder": 1.0},
    "second": {"linewidth": 0.7, "alpha": 0.5, "zorder": 1.0, "linestyle": (0, (4, 3))},
}
DISTANCES = {"truth": "distance to the true class", "assigned": "distance to the assigned class"}
GAP, CORE = 0.74, 0.5  # of a mark: how much lies inside its ring, and inside the gap within that
CELL_CORE, BAR_CORE = (0.72, 0.72), (0.5, 0.9)  # the same of cells and of bars, across and up
HEXAGON = np.array([[np.cos(angle), np.sin(angle)] for angle in np.radians(30 + 60 * np.arange(6))])
SMALLEST, LARGEST, ALL_MARKS = 4.6, 9.0, 8000.0  # points, and square points
DOT = 0.0188  # of a segment
CORNERS = ("class at the left corner", "class at the upper corner", "class at the right corner")
NAME, HEADING = 24, 40
ROOM_FOR_RATES, ROOM_FOR_INTERVALS = 0.5, 0.65  # of the usual size of a panel
NARROW = 5.0  # inches: axes that have no room to tell what lines are


@dataclass(frozen=True, eq=False, repr=False)
class SimplexDisplay:
    """Rows in their partition spaces, a panel for each classifier, or for each triple of classes of each.

    Inside, a mark has the colour of the true class; its ring has that of the assigned one. Around the middle of the
    simplex are the regions of the assigned classes; at the corners, how often assignments to a class are right.

    Attributes:
        panels: What is drawn.
        scaling: How memberships were scaled; "raw" where they were not.
        depth: How many of the highest classes a region of the scaling is made of.
        lines: Where lines go to: "truth" to the corners of the true classes, "assigned" to those of the assigned ones.
        labels: What is said of classifiers below their names.
    """

    panels: Sequence[Panel]
    _: KW_ONLY
    scaling: str = "default"
    depth: int = 1
    lines: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not self.panels:
            raise BadOption("there is no simplex to draw", mend="Give at least one classifier and its rows")
        sizes = {len(panel.classes) for panel in self.panels}
        if len(sizes) > 1 or not sizes <= set(BOXES):
            raise BadOption("simplexes have two, three or four corners, all as many", mend="Draw them one at a time")
        for panel in self.panels:
            refuse_missing(panel.marks, ("truth", "assigned", "foot" if self._barred else "x"))
        refuse_strangers("labels", self.labels, [panel.model for panel in self.panels])

    def frame(self) -> Table:
        """The marks of all panels below each other, with the classifier's name in the column "model".

        Where a classifier has several panels, the column "corners" says which classes are at the corners.
        """
        found: dict[str, list[Table]] = {}
        for panel in self.panels:
            corners = {"corners": [", ".join(map(str, panel.classes))] * len(panel.marks)} if self._several else {}
            found.setdefault(panel.model, []).append(Table({**corners, **panel.marks.columns}))
        joined = {}
        for model, tables in found.items():
            names = tables[0].column_names
            joined[model] = Table({name: [value for table in tables for value in table[name]] for name in names})
        return stacked(joined)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the panels into the given axes, or into a new figure."""
        grid = self._captioned(PanelGrid.of_own(self._box, len(self.panels)))
        with canvas(ax, grid.inches) as (own, axes), give_way(axes):
            axes.spines[:].set_visible(False)
            axes.grid(visible=False)
            self._explain(axes, brief=own is None and inches(axes)[0] < NARROW)
            add_legend(axes, "below", own, outside=True)
            grid = grid if own is not None else self._captioned(self._given(axes))
            # At the foot of the room that it has: a layout reserves room for the legend from there on.
            axes.set(**grid.limits, aspect="equal", anchor="C" if ax is None else "S", xticks=[], yticks=[])
            for place, panel in enumerate(self.panels):
                self._draw_borders(axes, panel, grid.origin(place))
                self._draw_lines(axes, panel, grid.origin(place))
                self._draw_rows(axes, panel, grid, grid.origin(place))
                self._name(axes, panel, grid, grid.origin(place))
            (left, right), (bottom, _) = grid.limits["xlim"], grid.limits["ylim"]
            below: Looks = {"ha": "center", "va": "bottom", "fontsize": min(SMALL_SIZE, grid.size + 1)}
            axes.annotate(self._caption(grid), ((left + right) / 2, bottom), **below)
        return axes

    # --- where things stand ------------------------------------------------------------------------------------

    @property
    def _corners(self) -> int:
        return len(self.panels[0].classes)

    @property
    def _several(self) -> bool:
        """Whether there are several panels of a classifier."""
        return len({panel.model for panel in self.panels}) < len(self.panels) or self._within

    @property
    def _within(self) -> bool:
        """Whether rows of other classes than those at the corners are shown."""
        return any({*panel.marks["truth"], *panel.marks["assigned"]} - {*panel.classes} for panel in self.panels)

    @property
    def _binned(self) -> bool:
        return "rows" in self.panels[0].marks.column_names

    @property
    def _barred(self) -> bool:
        return "top" in self.panels[0].marks.column_names

    @property
    def _box(self) -> PanelBox:
        box = BOXES[self._corners]
        return box if self.labels else box._replace(top=box.top - SECOND_LINE)

    def _given(self, axes: Axes) -> PanelGrid:
        """In axes that are given, of which the legend takes its part."""
        legend, (wide, high) = axes.get_legend(), inches(axes)
        taken = 0.0 if legend is None else legend.get_window_extent().height / axes.figure.dpi
        return PanelGrid.within(self._box, len(self.panels), wide, max(high / 3, high - taken - 2 * CAPTION))

    def _captioned(self, grid: PanelGrid) -> PanelGrid:
        return replace(grid, lines=self._caption(grid).count("\n") + 1)

    def _look(self, panel: Panel, label: Any) -> Look:
        return CLASSES[panel.classes.index(label)] if label in panel.classes else OTHER

    # --- what is drawn -----------------------------------------------------------------------------------------

    def _draw_borders(self, axes: Axes, panel: Panel, origin: tuple[float, float]) -> None:
        from matplotlib.collections import LineCollection

        kinds, ends = np.array(panel.borders["kind"]), _ends(panel.borders, origin)
        for kind, look in BORDERS.items():
            lines = LineCollection(list(ends[kinds == kind]), color=text_colour(), **look)
            axes.add_collection(lines, autolim=False)

    def _draw_lines(self, axes: Axes, panel: Panel, origin: tuple[float, float]) -> None:
        """Lines to corners, in the colours of these; wider where there are more rows."""
        from matplotlib.collections import LineCollection

        if not len(panel.lines):
            return
        colours = [self._look(panel, label).colour for label in panel.lines["label"]]
        look: Looks = {"colors": colours, "alpha": 0.35 if self._binned else 0.45, "zorder": 1.5}
        look["linewidths"] = [0.9 * width for width in panel.lines["width"]]
        axes.add_collection(LineCollection(list(_ends(panel.lines, origin)), **look), autolim=False)

    def _draw_rows(self, axes: Axes, panel: Panel, grid: PanelGrid, origin: tuple[float, float]) -> None:
        if self._barred:
            start, stop, foot, top = (np.array(panel.marks[name]) for name in ("from", "to", "foot", "top"))
            bars = np.stack([[start, foot], [start, top], [stop, top], [stop, foot]]).transpose(2, 0, 1)
            self._draw_shapes(axes, panel, bars + np.array(origin), BAR_CORE)
        elif self._binned:
            x, y = _places(panel.marks, origin)
            reach = np.array(panel.marks["radius"])[:, None, None]
            self._draw_shapes(axes, panel, np.stack([x, y], axis=1)[:, None] + reach * HEXAGON, CELL_CORE)
        else:
            self._draw_marks(axes, panel, grid, origin)

    def _draw_shapes(self, axes: Axes, panel: Panel, shapes: Numbers, core: tuple[float, float]) -> None:
        """A ring and a core of every shape, those farthest away first; a core is paler where it is mixed."""
        from matplotlib.collections import PolyCollection
        from matplotlib.colors import to_rgb

        table = panel.marks
        order = np.argsort(table["depth"], kind="stable") if "depth" in table.column_names else range(len(table))
        opacity = table["opacity"] if "opacity" in table.column_names else [1.0] * len(table)
        middle = shapes.mean(axis=1, keepdims=True)
        cores = middle + np.array(core) * (shapes - middle)
        polygons, colours, face = [], [], np.array(to_rgb(axes.get_facecolor()))
        for place in order:
            ring, inner = (to_rgb(self._look(panel, table[name][place]).colour) for name in ("assigned", "truth"))
            polygons += [shapes[place], cores[place]]
            # As seen through, but opaque: it must hide the ring and what lies behind.
            colours += [ring, tuple(face + opacity[place] * (np.array(inner) - face))]
        drawn = PolyCollection(polygons, facecolors=colours, edgecolors="none", zorder=3.0)
        axes.add_collection(drawn, autolim=False)

    def _draw_marks(self, axes: Axes, panel: Panel, grid: PanelGrid, origin: tuple[float, float]) -> None:
        """One mark a row; where it is wrong, a gap parts its ring from what is inside."""
        x, y = _places(panel.marks, origin)
        face, size = axes.get_facecolor(), self._mark(grid)
        truth, assigned = panel.marks["truth"], panel.marks["assigned"]
        pairs = [*zip(truth, assigned, strict=True)]
        # Wrong rows are drawn last, on top.
        wrong_last = sorted(set(pairs), key=lambda pair: (pair[0] != pair[1], str(pair[0]), str(pair[1])))
        for order, (label, other) in enumerate(wrong_last):
            here = [place for place, pair in enumerate(pairs) if pair == (label, other)]
            inner, ring = self._look(panel, label), self._look(panel, other)
            layers = [(1.0, ring.colour), (GAP, face), (CORE, inner.colour)] if label != other else [(1.0, ring.colour)]
            for part, colour in layers:
                look: Looks = {"marker": inner.marker, "markersize": size * inner.size * part, "color": colour}
                look |= {
                    "markeredgecolor": face,
                    "markeredgewidth": 0.4 * (part == 1.0),
                    "linestyle": "none",
                    "snap": False,
                }
                axes.plot(x[here], y[here], zorder=3.0 + order / 100, **look)

    def _mark(self, grid: PanelGrid) -> float:
        """How large marks are in points: those of many rows are smaller, those of a segment just do not touch."""
        if self._corners == 2:
            return 72 * grid.unit * DOT
        most = max(len(panel.marks) for panel in self.panels)
        usual = max(SMALLEST, min(LARGEST, math.sqrt(ALL_MARKS / max(most, 1))))
        return usual * grid.scale

    # --- what is written ---------------------------------------------------------------------------------------

    def _name(self, axes: Axes, panel: Panel, grid: PanelGrid, origin: tuple[float, float]) -> None:
        """The classifier above its panel, and at every corner its class and how often assignments to it are right."""
        middle = origin[0] + (grid.box.left + grid.box.right) / 2, origin[1] + grid.box.top - 0.02
        room = grid.box.wide * grid.unit
        heads = [legible(panel.model, HEADING), *([self.labels[panel.model]] if panel.model in self.labels else [])]
        lines = sum(grid.scale > least for least in (0.0, ROOM_FOR_RATES, ROOM_FOR_INTERVALS))
        size = fitting(heads, grid.size * TEXT_SIZE / SMALL_SIZE, 0.95 * room)
        axes.annotate("\n".join(heads), middle, ha="center", va="top", fontsize=size, linespacing=1.25)
        x, y = _places(panel.corners, origin)
        texts = [[legible(row["label"], NAME), *_rate(row)][:lines] for row in panel.corners]
        size = fitting([line for text in texts for line in text], grid.size, grid.box.label * grid.unit)
        for place, text in enumerate(texts):
            offset = beside(x[place] - origin[0], y[place] - origin[1], self._corners)
            axes.annotate("\n".join(text), (x[place], y[place]), fontsize=size, linespacing=1.2, **offset)

    def _caption(self, grid: PanelGrid) -> str:
        """What the picture shows, in words."""
        scaled = f"scaled memberships ({legible(self.scaling)}, depth {self.depth})"
        said = ["memberships as given" if self.scaling == "raw" else scaled]
        if self._within:
            said.append("shares within the three classes at the corners")
        left_out = sum(panel.left_out for panel in self.panels)
        if left_out:
            said.append(f"{left_out:,} rows without any left out")
        if self._binned:
            shape = "height" if self._barred else "area"
            said.append(f"{shape}: root of the number of rows" + ("" if self._barred else "; pale: mixed classes"))
        text = "; ".join(said)
        room = grid.columns * grid.box.wide * grid.unit
        return fill(text, max(30, int(room / 0.068)))

    def _explain(self, axes: Axes, brief: bool) -> None:
        """Entries of the legend: the classes, or the corners that they stand at, rings, and lines if not too brief."""
        first, many = self.panels[0], self._corners > 2
        alike = all(panel.classes == first.classes for panel in self.panels)
        names = [f"class: {legible(label, NAME)}" for label in first.classes] if alike else list(CORNERS)
        looks = [*zip(CLASSES, names, strict=False)]
        if self._within:
            looks.append((OTHER, "class: another one"))
        for look, name in looks:
            marker = ("h" if many else "s") if self._binned else look.marker
            axes.plot([], [], color=look.colour, marker=marker, markersize=7.0, linestyle="none", label=f"true {name}")
        ring: Looks = {"markerfacecolor": "0.65", "markeredgecolor": text_colour(), "markeredgewidth": 1.4}
        axes.plot([], [], marker="o", markersize=7.0, linestyle="none", label="ring: assigned class", **ring)
        words = {"assigned": "border of assigned classes"} | ({"second": "border of second classes"} if many else {})
        for kind, name in {} if brief else words.items():
            axes.plot([], [], color=text_colour(), label=name, **BORDERS[kind])
        if self.lines is not None and many and not brief:
            axes.plot([], [], color=CLASSES[0].colour, alpha=0.6, linewidth=0.9, label=DISTANCES[self.lines])


def _places(table: Table, origin: tuple[float, float]) -> tuple[Numbers, Numbers]:
    """Where marks are on paper."""
    names = ("across", "up") if "across" in table.column_names else ("x", "y")
    x, y = (np.array(table[name], float) for name in names)
    return x + origin[0], y + origin[1]


def _ends(table: Table, origin: tuple[float, float]) -> Numbers:
    """Both ends of lines: (lines, 2, 2)."""
    columns = np.array([table[name] for name in ("x", "y", "to_x", "to_y")], float)
    return np.asarray(columns.T.reshape(-1, 2, 2) + np.array(origin))


def _rate(row: Mapping[str, Any]) -> list[str]:
    """How often assignments to a class are right, in lines."""
    if math.isnan(row["value"]):
        return ["never assigned"]
    value, bounds = estimated(row["value"], row["low"], row["high"])
    return [f"CR {value}", *([] if math.isnan(row["low"]) else [bounds])]

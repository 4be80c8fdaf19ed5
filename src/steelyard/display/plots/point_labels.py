"""Labels of points: the artist that writes them each time a picture is drawn, and where each of them finds a place.

It loads matplotlib, and so is loaded when there is something to draw.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from ...core.text import in_words
from .base import Label, Numbers
from .style import MARKER, SMALL_SIZE, Looks, legible

Marks = NDArray[np.bool_]
Point = tuple[float, float]

CELL = 1.0  # points of 1/72 inch
MOST_CELLS = 1_000_000
CLEAR = 1  # cells on either side of a line that stay free
NEAR = 4.5  # between a marker and its label: farther, a line joins them
TELLING = 3.0  # so much nearer a label is to its own marker than to any other, or a line joins them
HANDY = 24.0  # points: within so much, most labels find their place
REACH = 110.0  # farther from its point, a label tells nothing
BIAS = 5.0  # what it costs to stand on the side where curves tend to be: left and above
SIDE = (0.8, -0.6)  # right and below: there is room beside the curve of a good classifier
CROSSED = 8.0  # what it costs if the line that joins a label and its point crosses a curve
FAR_STEP = 3  # cells between the places that are tried far away
AT_A_TIME = 256
SAME = 1e-6  # points apart: markers so close are one


class Box(NamedTuple):
    """A rectangle with upright sides."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def centre(self) -> Point:
        """The middle."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def nearest(self, point: Point) -> Point:
        """The point of the box that is nearest to a point."""
        return min(max(point[0], self.left), self.right), min(max(point[1], self.bottom), self.top)

    def holds(self, point: Point) -> bool:
        """Whether a point lies in the box."""
        return self.left <= point[0] <= self.right and self.bottom <= point[1] <= self.top


class Placed(NamedTuple):
    """Where a label stands, and the line that joins it with its point: its two ends, None where none is needed."""

    box: Box
    leader: tuple[Point, Point] | None


class Room:
    """The cells of an area, and what is in them."""

    def __init__(self, area: Box) -> None:
        """Start with an empty area."""
        wide, high = max(area.right - area.left, 0.0), max(area.top - area.bottom, 0.0)
        self.area, self.cell = area, max(CELL, math.sqrt(wide * high / MOST_CELLS))
        self.shape = (int(wide / self.cell), int(high / self.cell))
        self.taken: Marks = np.zeros(self.shape, dtype=bool)  # no label may stand there
        self.closed: Marks = np.zeros(self.shape, dtype=bool)  # no leader may pass there
        self.curves: Marks = np.zeros(self.shape, dtype=bool)  # a leader better does not pass there

    @classmethod
    def filled(
        cls, area: Box, lines: Iterable[Numbers], boxes: Iterable[Box], markers: Iterable[Point], radius: float
    ) -> Room:
        """An area with curves, boxes and markers in it."""
        room = cls(area)
        for line in lines:
            room.add_line(line)
        for box in boxes:
            room.add_box(box)
        for marker in markers:
            room.add_marker(marker, radius)
        return room

    def copy(self) -> Room:
        """The same, to be filled further by itself."""
        found = copy(self)
        found.taken, found.closed = self.taken.copy(), self.closed.copy()
        return found

    def add_line(self, line: Numbers) -> None:
        """Enter a curve, given by its points: (points, 2)."""
        self._mark(self.curves, line)
        self.taken |= self.curves

    def add_label(self, placed: Placed) -> None:
        """Enter a label, and the line to its point if there is one."""
        self.add_box(placed.box)
        for grid in (self.taken, self.closed) if placed.leader is not None else ():
            self._mark(grid, np.array(placed.leader))

    def add_box(self, box: Box) -> None:
        """Enter a rectangle, with a margin for the lines that pass it."""
        self.taken[self._cells(box, 0)] = True
        self.closed[self._cells(box, CLEAR)] = True

    def add_marker(self, point: Point, radius: float) -> None:
        """Enter a marker."""
        x, y = point
        self.add_box(Box(x - radius, y - radius, x + radius, y + radius))

    def free(self, size: tuple[int, int], low: tuple[int, int], high: tuple[int, int]) -> Marks:
        """Whether a box of so many cells may stand at each lower left cell of a window (the last one included)."""
        window = self.taken[low[0] : high[0] + size[0], low[1] : high[1] + size[1]]
        sums = np.zeros((window.shape[0] + 1, window.shape[1] + 1), np.int32)
        sums[1:, 1:] = window.cumsum(axis=0, dtype=np.int32).cumsum(axis=1)
        wide, high_ = size
        inside = sums[wide:, high_:] - sums[:-wide, high_:] - sums[wide:, :-high_] + sums[:-wide, :-high_]
        return np.asarray(inside == 0)

    def positions(self, point: Point, size: Point, reach: float, step: int = 1) -> tuple[Numbers, tuple[int, int]]:
        """The lower left corners of free places within reach of a point, (places, 2), and the cells of a place.

        With a step, only every so many cells of the whole area are looked at.
        """
        cells = (math.ceil(size[0] / self.cell), math.ceil(size[1] / self.cell))
        origin = (self.area.left, self.area.bottom)
        here = [math.floor((at - zero) / self.cell) for at, zero in zip(point, origin, strict=True)]
        far = math.ceil(min(reach / self.cell, sum(self.shape)))
        low = [max(place - far - wide, 0) for place, wide in zip(here, cells, strict=True)]
        low = [-(-each // step) * step for each in low]
        most = [whole - wide for whole, wide in zip(self.shape, cells, strict=True)]
        high = [min(place + far, last) for place, last in zip(here, most, strict=True)]
        if high[0] < low[0] or high[1] < low[1]:
            return np.zeros((0, 2)), cells
        found = np.argwhere(self.free(cells, (low[0], low[1]), (high[0], high[1]))[::step, ::step])
        return np.asarray((found * step + low) * self.cell + origin, dtype=np.float64), cells

    def passes(self, grid: Marks, starts: Numbers, ends: Numbers) -> Marks:
        """Whether straight lines pass cells that are marked in a grid: one a line."""
        longest = float(np.abs(ends - starts).max(initial=0.0))
        share = np.linspace(0.0, 1.0, math.ceil(longest / self.cell) + 2)[:, None, None]
        places = self._places(starts + share * (ends - starts))
        inside = ((places >= 0) & (places < self.shape)).all(axis=2)
        places[~inside] = 0
        return np.asarray((grid[places[..., 0], places[..., 1]] & inside).any(axis=0))

    def _mark(self, grid: Marks, line: Numbers) -> None:
        """Mark all cells that a line passes, and those beside them."""
        line = np.asarray(line, dtype=np.float64).reshape(-1, 2)
        starts, ends = (line, line) if len(line) == 1 else (line[:-1], line[1:])
        known = np.isfinite(starts).all(axis=1) & np.isfinite(ends).all(axis=1)
        starts, ends = self._clipped(starts[known], ends[known])
        counts = np.ceil(2 * np.abs(ends - starts).max(axis=1, initial=0.0) / self.cell).astype(int) + 1
        which = np.repeat(np.arange(len(counts)), counts + 1)
        step = np.arange(len(which)) - np.repeat(np.cumsum(counts + 1) - counts - 1, counts + 1)
        share = (step / counts[which])[:, None]
        places = self._places(starts[which] + share * (ends - starts)[which])
        for across in range(-CLEAR, CLEAR + 1):
            for up in range(-CLEAR, CLEAR + 1):
                beside = places + np.array([across, up])
                inside = ((beside >= 0) & (beside < self.shape)).all(axis=1)
                grid[tuple(beside[inside].T)] = True

    def _clipped(self, starts: Numbers, ends: Numbers) -> tuple[Numbers, Numbers]:
        """The parts of lines that lie in the area, or next to it (Liang & Barsky 1984)."""
        margin = (CLEAR + 1) * self.cell
        low = np.array([self.area.left - margin, self.area.bottom - margin])
        high = np.array([self.area.right + margin, self.area.top + margin])
        way = ends - starts
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.stack([(low - starts) / way, (high - starts) / way])
        still = way == 0
        beyond = (still & ((starts < low) | (starts > high))).any(axis=1)
        first = np.where(still, 0.0, at.min(axis=0)).max(axis=1, initial=0.0)
        last = np.where(still, 1.0, at.max(axis=0)).min(axis=1, initial=1.0)
        kept = ~beyond & (first <= last)
        begin, way = starts[kept], way[kept]
        return begin + first[kept, None] * way, begin + last[kept, None] * way

    def _places(self, points: Numbers) -> NDArray[np.int_]:
        """The cells that points lie in."""
        return np.floor((points - (self.area.left, self.area.bottom)) / self.cell).astype(int)

    def _cells(self, box: Box, margin: int) -> tuple[slice, slice]:
        """The cells that a box touches, and so many more around them."""
        pairs = ((box.left, box.right, self.area.left, 0), (box.bottom, box.top, self.area.bottom, 1))
        found = []
        for low, high, zero, axis in pairs:
            first = math.floor((low - zero) / self.cell) - margin
            last = math.ceil((high - zero) / self.cell) + margin
            found.append(slice(min(max(first, 0), self.shape[axis]), min(max(last, 0), self.shape[axis])))
        return found[0], found[1]


def place_labels(
    points: Sequence[Point],
    sizes: Sequence[Point],
    lines: Iterable[Numbers],
    markers: Sequence[Point],
    boxes: Iterable[Box],
    area: Box,
    radius: float = 4.0,
) -> list[Placed | None]:
    """Place the label of each point: within the area, over no other label, marker, line or box.

    A label stands as near to its point as can be. Where that is not near, or another marker is about as near, a
    straight leader joins both, which passes no label, no box and no other marker. A label for which there is no such
    place within reach is left out: it is None.

    Args:
        points: The points.
        sizes: How wide and how high their labels are.
        lines: Curves, each by its points: (points, 2).
        markers: The centres of all markers, of these points and of others.
        boxes: What else is taken, such as the legend.
        area: Where labels may stand.
        radius: How far markers reach.
    """
    room = Room.filled(area, lines, boxes, markers, radius)
    others = np.array(markers, dtype=np.float64).reshape(-1, 2)
    labels = [*zip(points, sizes, strict=True)]
    found = _in_turn(room.copy(), labels, range(len(labels)), others, radius)
    if None in found:  # those that came too late may fit if they come first
        again = sorted(range(len(labels)), key=lambda place: found[place] is not None)
        better = _in_turn(room, labels, again, others, radius)
        found = min(found, better, key=lambda each: each.count(None))
    return found


def _in_turn(
    room: Room, labels: Sequence[tuple[Point, Point]], order: Iterable[int], markers: Numbers, radius: float
) -> list[Placed | None]:
    """Place one label after the other, in an order."""
    found: list[Placed | None] = [None] * len(labels)
    for place in order:
        placed = found[place] = _place(room, *labels[place], markers, radius)
        if placed is not None:
            room.add_label(placed)
    return found


def place_note(corner: Point, size: Point, room: Room) -> Box | None:
    """Where a note goes that belongs to no point: the free place that is nearest to a corner."""
    corners, cells = room.positions(corner, size, math.inf)
    if not len(corners):
        return None
    wide, high = (each * room.cell for each in cells)
    away = np.hypot(*(corners + np.array([wide / 2, high / 2]) - corner).T)
    x, y = corners[int(away.argmin())].tolist()
    return Box(x, y, x + wide, y + high)


def _place(room: Room, point: Point, size: Point, markers: Numbers, radius: float) -> Placed | None:
    """The best free place of one label."""
    if not (math.isfinite(point[0]) and math.isfinite(point[1])):
        return None
    # Most find a place nearby: what lies beyond it costs more than it does.
    near = _within_reach(room, point, size, markers, radius, HANDY)
    if near is not None and near[0] <= HANDY:
        return near[1]
    far = _within_reach(room, point, size, markers, radius, REACH, FAR_STEP)
    found = [each for each in (near, far) if each is not None]
    return min(found)[1] if found else None


def _within_reach(
    room: Room, point: Point, size: Point, markers: Numbers, radius: float, reach: float, step: int = 1
) -> tuple[float, Placed] | None:
    """The place that costs least within reach of a point, and what it costs; a place every so many cells is tried."""
    corners, cells = room.positions(point, size, reach, step)
    extent = np.array(cells) * room.cell
    gaps = _gaps(corners, extent, np.array(point))
    within = gaps <= reach
    corners, gaps = corners[within], gaps[within]
    ways = corners + extent / 2 - point
    away = np.hypot(*ways.T)
    cost = gaps + BIAS * (1 - (ways @ np.array(SIDE)) / np.maximum(away, 1e-9))
    order = np.argsort(cost, kind="stable")
    corners, gaps, cost = corners[order], gaps[order], cost[order]
    beside = np.hypot(*(markers - point).T)
    others = markers[(beside > SAME) & (beside <= 2 * reach + float(np.hypot(*extent)) + TELLING)]
    best: tuple[float, Placed] | None = None
    for start in range(0, len(corners), AT_A_TIME):
        if best is not None and cost[start] >= best[0]:
            break
        some = slice(start, start + AT_A_TIME)
        found = _first_clear(room, point, corners[some], extent, gaps[some], cost[some], others, radius)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return best


def _first_clear(
    room: Room,
    point: Point,
    corners: Numbers,
    extent: Numbers,
    gaps: Numbers,
    cost: Numbers,
    others: Numbers,
    radius: float,
) -> tuple[float, Placed] | None:
    """Of some places the one that costs least, and needs no leader or has one that passes nothing."""
    lead = gaps > radius + NEAR
    if len(others):
        rival = np.min([_gaps(corners, extent, other) for other in others], axis=0)
        lead |= rival < gaps + TELLING
    ends = np.clip(point, corners, corners + extent)
    length = np.maximum(np.hypot(*(ends - point).T), 1e-9)[:, None]
    starts = point + (ends - point) * np.minimum((radius + 2 * CLEAR * room.cell + 1.0) / length, 1.0)
    price, led = cost.copy(), np.flatnonzero(lead)
    blocked = room.passes(room.closed, starts[led], ends[led])
    price[led[blocked]] = np.inf
    led = led[~blocked]
    price[led] += CROSSED * room.passes(room.curves, starts[led], ends[led])
    place = int(price.argmin())
    if not math.isfinite(price[place]):
        return None
    (x, y), (wide, high) = corners[place].tolist(), extent.tolist()
    edge = point + (ends[place] - point) * min(radius / float(length[place, 0]), 1.0)
    leader = ((float(edge[0]), float(edge[1])), (float(ends[place, 0]), float(ends[place, 1])))
    return float(price[place]), Placed(Box(x, y, x + wide, y + high), leader if lead[place] else None)


def _gaps(corners: Numbers, extent: Numbers, point: Numbers) -> Numbers:
    """How far a point is from boxes of one size."""
    beyond = np.maximum(np.maximum(corners - point, point - corners - extent), 0.0)
    return np.asarray(np.hypot(*beyond.T))


# --- the artist ---------------------------------------------------------------------------------------------------

SIZES = (SMALL_SIZE - 1, SMALL_SIZE - 2, SMALL_SIZE - 3)  # the largest at which all labels find a place
PAD = 1.0  # points around a label
RADIUS = (MARKER["markersize"] + 1.0) / 2
SHADE = 0.35  # of the colour of text in that of a classifier: pale ones could not be read
NOTE_WIDE, NOTE_HIGH = 34, 4  # signs and lines


class PointLabels(Artist):
    """Labels of points: where they stand is found anew for every size of the picture."""

    zorder = 4.5

    def __init__(self, ink: str) -> None:
        """Start without labels, in the colour of text."""
        super().__init__()
        self.set_in_layout(False)  # they stand within the axes
        self.ink = ink
        self.labels: list[Label] = []
        self.texts: list[Text] = []
        self.apart = False
        self.placed: list[Placed | None] = []
        self.note = ""
        self.note_box: Box | None = None

    def add(self, labels: Iterable[Label], apart: bool) -> None:
        """Write some more labels."""
        self.apart |= apart or bool(self.labels)
        for label in labels:
            self.labels.append(label)
            self.texts.append(self._text(label.text, self._shade(label.colour)))

    def _shade(self, colour: str | None) -> str:
        """A colour that can be read on the background."""
        if colour is None:
            return self.ink
        mixed = (1 - SHADE) * np.array(to_rgb(colour)) + SHADE * np.array(to_rgb(self.ink))
        return to_hex(tuple(mixed.tolist()))

    def _text(self, words: str, colour: str) -> Text:
        looks: Looks = {"ha": "center", "va": "center", "usetex": False, "parse_math": True, "fontsize": SIZES[0]}
        text = Text(0.0, 0.0, words, color=colour, transform=IdentityTransform(), **looks)
        text.set_linespacing(1.1)
        return text

    def _let_in(self, artist: Artist) -> None:
        """Make something a part of the figure, as far as it must know how large its dots are."""
        figure: Any = self.get_figure(root=True)
        artist.set_figure(figure)

    def get_children(self) -> list[Artist]:
        """The texts."""
        return [*self.texts]

    def draw(self, renderer: Any, *_: Any, **__: Any) -> None:
        """Place the labels, and draw them with their leaders."""
        axes: Any = self.axes
        if not self.get_visible() or axes is None:
            return
        scale = float(renderer.points_to_pixels(1.0))
        for text in self.texts:
            self._let_in(text)
        points = axes.transData.transform([label.at for label in self.labels]) / scale
        frame = axes.bbox
        area = Box(*(float(each) / scale for each in (frame.x0, frame.y0, frame.x1, frame.y1)))
        seen = [place for place, point in enumerate(points.tolist()) if area.holds((point[0], point[1]))]
        lines, markers = self._drawn(axes, scale)
        boxes = self._boxes(axes, renderer, scale)
        anchors = [(float(x), float(y)) for x, y in points[seen].tolist()]
        tried: list[tuple[float, list[Placed | None]]] = []
        for size in SIZES:
            sizes = [self._size(self.texts[place], size, renderer, scale) for place in seen]
            tried.append((size, place_labels(anchors, sizes, lines, markers, boxes, area, RADIUS)))
            if None not in tried[-1][1]:
                break
        size, found = min(tried, key=lambda each: each[1].count(None))
        for text in self.texts:
            text.set_fontsize(size)
        self.placed = [None] * len(self.labels)
        for place, placed in zip(seen, found, strict=True):
            self.placed[place] = placed
            if placed is not None:
                self._draw_one(renderer, self.texts[place], placed, scale)
        self.note, self.note_box = "", None
        left_out = [self.labels[place] for place in seen if self.placed[place] is None]
        if left_out:
            room = Room.filled(area, lines, boxes, markers, RADIUS)
            for placed in filter(None, found):
                room.add_label(placed)
            self._draw_note(renderer, left_out, room, scale)
        self.stale = False

    def _drawn(self, axes: Axes, scale: float) -> tuple[list[Numbers], list[tuple[float, float]]]:
        """All lines of the axes, and all markers, in points of 1/72 inch."""
        lines, markers = [], []
        for line in axes.lines:
            if not (isinstance(line, Line2D) and line.get_visible()):
                continue
            way = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=np.float64)) / scale
            if line.get_linestyle() not in ("None", "none", " ", ""):
                lines.append(way)
            if line.get_marker() not in (None, "None", "none", " ", ""):
                markers += [(float(x), float(y)) for x, y in way.tolist() if np.isfinite((x, y)).all()]
        return lines, markers

    def _boxes(self, axes: Axes, renderer: Any, scale: float) -> list[Box]:
        """The legend and other texts in the axes."""
        legend = axes.get_legend()
        others: list[Any] = [*axes.texts, *([] if legend is None else [legend])]
        extents = [each.get_window_extent(renderer) for each in others if each.get_visible()]
        return [Box(*(float(each) / scale for each in extent.extents)) for extent in extents]

    def _size(self, text: Text, size: float, renderer: Any, scale: float) -> tuple[float, float]:
        """How much room a text takes, in points."""
        text.set_fontsize(size)
        extent = text.get_window_extent(renderer)
        return float(extent.width) / scale + 2 * PAD, float(extent.height) / scale + 2 * PAD

    def _draw_one(self, renderer: Any, text: Text, placed: Placed, scale: float) -> None:
        """A label, and the line to its point if there is one."""
        if placed.leader is not None:
            (x, y), (end, up) = placed.leader
            leader = Line2D([x * scale, end * scale], [y * scale, up * scale], color=text.get_color(), linewidth=0.6)
            leader.set_transform(IdentityTransform())
            self._let_in(leader)
            leader.draw(renderer)
        x, y = placed.box.centre
        text.set_position((x * scale, y * scale))
        text.draw(renderer)

    def _draw_note(self, renderer: Any, left_out: Sequence[Label], room: Room, scale: float) -> None:
        """Name the labels that were left out where there is room for it, or else say how many they are."""
        for words in self._notes(left_out):
            text = self._text(words, self.ink)
            text.set_alpha(0.75)
            self._let_in(text)
            corner = room.area.right, room.area.bottom
            found = place_note(corner, self._size(text, SIZES[-1], renderer, scale), room)
            if found is not None:
                self.note, self.note_box = words, found
                self._draw_one(renderer, text, Placed(found, None), scale)
                return

    def _notes(self, left_out: Sequence[Label]) -> list[str]:
        """What to say of labels that were left out, in many words and in few."""
        of_model: dict[str, list[str]] = {}
        for label in left_out:
            of_model.setdefault(label.model, []).append(label.text)
        named = [f"{legible(name, 16)}: " * self.apart + ", ".join(texts) for name, texts in of_model.items()]
        lines = wrap(f"not labelled: {'; '.join(named)}", NOTE_WIDE)
        short = f"{in_words(len(left_out), 'label')} left out"
        return ["\n".join(lines), short] if len(lines) <= NOTE_HIGH else [short]

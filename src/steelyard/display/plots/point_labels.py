"""The artist that places labels of points each time a picture is drawn. It loads matplotlib: see `labels`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from ...core.text import in_words
from .base import Numbers
from .placing import Box, Label, Placed, Room, place_labels, place_note
from .style import MARKER, SMALL_SIZE, Looks, legible

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
        left_out = [self.labels[place] for place, placed in zip(seen, found, strict=True) if placed is None]
        self._draw_note(renderer, left_out, lines, markers, boxes, area, scale)
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

    def _draw_note(
        self,
        renderer: Any,
        left_out: Sequence[Label],
        lines: Sequence[Numbers],
        markers: Sequence[tuple[float, float]],
        boxes: Sequence[Box],
        area: Box,
        scale: float,
    ) -> None:
        """Name the labels that were left out where there is room for it, or else say how many they are."""
        self.note, self.note_box = "", None
        if not left_out:
            return
        room = Room(area)
        for line in lines:
            room.add_line(line)
        for box in [*boxes, *[placed.box for placed in self.placed if placed is not None]]:
            room.add_box(box)
        for placed in self.placed:
            if placed is not None and placed.leader is not None:
                room.add_leader(placed.leader)
        for marker in markers:
            room.add_marker(marker, RADIUS)
        for words in self._notes(left_out):
            text = self._text(words, self.ink)
            text.set_alpha(0.75)
            self._let_in(text)
            found = place_note((area.right, area.bottom), self._size(text, SIZES[-1], renderer, scale), room)
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

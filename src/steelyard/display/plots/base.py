"""What pictures of curves have in common: tables in, lines and bands out. Long curves are drawn with few points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadOption, quoted
from ...core.table import Table
from .style import BAND, LINE, REFERENCE, Corner, Looks, add_legend, band_alpha, canvas, dress, entry, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


# --- displays -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Display:
    """Curves of one or more classifiers, ready to be drawn.

    Attributes:
        curves: The finished table of each classifier, by its name.
        labels: What the legend says instead of the bare name, such as ``"lda: AUC 0.912 [0.88, 0.94]"``.
    """

    curves: Mapping[str, Table]
    _: KW_ONLY
    labels: Mapping[str, str] = field(default_factory=dict)

    # Columns of the tables, titles and limits of the axes, and what a line from corner to corner shows, if anything.
    x = y = x_title = y_title = diagonal = ""
    limits: ClassVar[Looks] = {}
    corner: ClassVar[Corner] = "best"
    steps: ClassVar[bool] = False
    size: ClassVar[tuple[float, float]] = (6.0, 5.0)

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        lines = self._lines()
        if not lines:
            raise BadOption("there is no curve to draw", mend="Give at least one classifier and its table")
        for table in lines.values():
            refuse_missing(table, (self.x, self.y))
        refuse_strangers("labels", self.labels, lines)

    def plot(self, ax: Axes | None = None, *, band: bool = True) -> Axes:
        """Draw the curves into the given axes, or into a new figure, with their bands unless those are not wanted."""
        with canvas(ax, self.size) as (own, axes):
            axes.set(xlabel=self.x_title, ylabel=self.y_title)
            self._scale(axes)
            lines = self._lines()
            for index, (name, table) in enumerate(lines.items()):
                self._draw(axes, name, table, stroke(index), band_alpha(len(lines)) if band else 0.0)
            self._add_reference(axes)
            dress(axes)
            add_legend(axes, self._corner(), own)
        return axes

    def frame(self) -> Table:
        """All tables below each other, with the classifier's name in the column "model"."""
        return stacked(self.curves)

    def _lines(self) -> Mapping[str, Table]:
        """The lines to draw by their names: one a classifier."""
        return self.curves

    def _trace(self, table: Table) -> Numbers:
        """What can be drawn of a line, from left to right, with no more points than the eye can tell apart.

        It is x, y, and the ends of the band, which are NaN where there is none.
        """
        band = (_column_or_nan(table, end) for end in ("low", "high"))
        points = np.array([table[self.x], table[self.y], *band], float)
        points = points[:, np.isfinite(points[:2]).all(axis=0)]
        if points.shape[1] and points[0, 0] > points[0, -1]:
            points = points[:, ::-1]
        points = self._completed(points)
        points = points[:, thin(self._scaled(points[0]), self._scaled(points[1]))]
        return self._between(points)

    def _draw(self, axes: Axes, name: str, table: Table, look: Looks, alpha: float) -> None:
        """One line, and its band unless that would be fully transparent."""
        x, y, low, high = self._trace(table)
        if alpha and (np.isfinite(low) & np.isfinite(high)).any():
            step: Literal["pre"] | None = "pre" if self.steps else None
            axes.fill_between(x, low, high, step=step, color=look["color"], alpha=alpha, **BAND)
        label = entry(name, self.labels.get(name, name))
        style = "steps-pre" if self.steps else "default"
        # A line of one point would not be seen.
        mark = "o" if len(x) == 1 else None
        axes.plot(x, y, label=label, drawstyle=style, marker=mark, **look, **LINE)

    def _scale(self, axes: Axes) -> None:
        """Set the limits and the scale of the axes."""
        axes.set(**self.limits)

    def _scaled(self, values: Numbers) -> Numbers:
        """Where values lie on the axes; only `thin` asks."""
        return values

    def _corner(self) -> Corner:
        """Where the legend goes."""
        return self.corner

    def _completed(self, points: Numbers) -> Numbers:
        """Add a point that every such curve has and that tables may leave out."""
        return points

    def _between(self, points: Numbers) -> Numbers:
        """Add points where the curve between two points of its table is no straight line."""
        return points

    def _add_reference(self, axes: Axes) -> None:
        """Draw what the curves are compared with."""
        if self.diagonal:
            axes.plot([0.0, 1.0], [0.0, 1.0], label=self.diagonal, **REFERENCE)


def stacked(tables: Mapping[str, Table]) -> Table:
    """Tables of classifiers below each other, with the classifier's name in the column "model"."""
    columns = {name: None for table in tables.values() for name in table.column_names}
    models = [model for model, table in tables.items() for _ in range(len(table))]
    rows = {name: [value for table in tables.values() for value in _column_or_nan(table, name)] for name in columns}
    return Table({"model": models, **rows})


def refuse_missing(table: Table, columns: Iterable[str]) -> None:
    """What cannot be drawn is refused when a display is made, not when it is drawn."""
    for column in columns:
        table[column]  # raises if it is not there


def refuse_strangers(what: str, given: Iterable[str], names: Iterable[str]) -> None:
    """Facts about something that is not drawn would be lost in silence."""
    known = set(names)
    strangers = [name for name in given if name not in known]
    if strangers:
        raise BadOption(f"{what} are given for {quoted(strangers[0])}, which is not drawn", mend="Leave it out")


def _column_or_nan(table: Table, name: str) -> list[object]:
    return table[name] if name in table.column_names else [math.nan] * len(table)


# --- labels of points ---------------------------------------------------------------------------------------------

NO_SCORE = "no score ≥ "  # before a threshold that none reaches


class Label(NamedTuple):
    """What is written beside a point.

    Attributes:
        at: The point, in the numbers of the axes.
        text: The label.
        colour: That of the classifier; None for the colour of text.
        model: The classifier.
    """

    at: tuple[float, float]
    text: str
    colour: str | None = None
    model: str = ""

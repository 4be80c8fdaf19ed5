"""Estimates of the error below each other, each with its interval, within the bounds of the true error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption
from ...core.table import Table
from ...core.text import with_interval
from .display import stacked
from .style import (
    COLOURS,
    SMALL_SIZE,
    Looks,
    add_legend,
    dress,
    give_way,
    inches,
    legible,
    literal_text,
    new_figure,
    text_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
BOUNDS: Looks = {"color": COLOURS[5], "linewidth": 0.0, "zorder": 0.6}
REFERENCE: Looks = {"alpha": 0.8, "linewidth": 1.2, "zorder": 1.0}
DASHES: tuple[Any, ...] = ((0, (5, 2)), (0, (1.2, 1.6)), (0, (7, 2, 1.2, 2)))
WIDTH, EDGE, LINE_HEIGHT = 7.6, 1.0, 0.25  # inches
NAME = 30


@dataclass(frozen=True, eq=False, repr=False)
class ErrorBoundsDisplay:
    """Estimates of the error of one or more classifiers, on the band that the true error cannot leave.

    Attributes:
        errors: The table of each classifier, with the columns part (estimate, bound or reference), measure, title,
            value, low and high. Its bounds are a pair, the lower before the upper one.
        level: The coverage of the intervals.
    """

    errors: Mapping[str, Table]
    _: KW_ONLY
    level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not self.errors:
            raise BadOption("there is no estimate to draw", mend="Give at least one classifier and its table")
        for table in self.errors.values():
            for column in ("part", "measure", "title", "value", "low", "high"):
                table[column]  # raises if it is not there

    def frame(self) -> Table:
        """All tables below each other, with the classifier's name in the column "model"."""
        return stacked(self.errors)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the estimates into the given axes, or into a new figure."""
        lines = sum(len(self._lines(name)) + 1 for name in self.errors)
        with literal_text():
            own, axes = new_figure((WIDTH, EDGE + LINE_HEIGHT * lines)) if ax is None else (None, ax)
            with give_way(axes):
                axes.set(ylim=(lines - 0.4, -0.7), xlabel=f"error, with {100 * self.level:.4g} % intervals")
                dress(axes)
                axes.grid(visible=False, axis="y")
                self._draw_bounds(axes)
                self._draw_estimates(axes)
                self._draw_references(axes)
                self._name_lines(axes)
                add_legend(axes, "below", own, outside=True)
        return axes

    def _lines(self, name: str, part: str = "estimate") -> list[dict[str, Any]]:
        return [row for row in self.errors[name] if row["part"] == part]

    def _placed(self) -> Iterator[tuple[int, str, dict[str, Any] | None]]:
        """Every line from above with its place; the first of a classifier bears its name and no estimate."""
        place = 0
        for name in self.errors:
            for row in (None, *self._lines(name)):
                yield place, name, row
                place += 1

    def _draw_bounds(self, axes: Axes) -> None:
        """A band from bound to bound behind all lines of a classifier, and paler how far it may reach."""
        words: Looks = {"label": "bounds of the true error"}
        others: Looks = {"label": "intervals of these bounds"}
        for place, name, row in self._placed():
            if row is None:
                low, high = self._lines(name, "bound")
                ends = (place - 0.45, place + len(self._lines(name)) + 0.45)
                axes.fill_betweenx(ends, low["value"], high["value"], alpha=0.3, **BOUNDS, **words)
                axes.fill_betweenx(ends, low["low"], high["high"], alpha=0.15, **BOUNDS, **others)
                words = others = {}

    def _draw_estimates(self, axes: Axes) -> None:
        """One mark and one bar an estimate; the same measure looks the same for all classifiers."""
        shown = list(dict.fromkeys(row["measure"] for _, _, row in self._placed() if row is not None))
        for place, _, row in self._placed():
            if row is None or math.isnan(row["value"]):
                continue
            look = shown.index(row["measure"])
            colour = COLOURS[look % len(COLOURS)] or text_colour()
            axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=1.8, zorder=3.0)
            mark: Looks = {"marker": MARKERS[look % len(MARKERS)], "markersize": 6.5, "markeredgecolor": "white"}
            axes.plot([row["value"]], [place], color=colour, linestyle="none", zorder=4.0, **mark)
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))

    def _draw_references(self, axes: Axes) -> None:
        """What holds of the rows whatever the classifier: a line through all of them."""
        for row, dashes in zip(self._lines(next(iter(self.errors)), "reference"), DASHES, strict=False):
            words = f"{row['title']} {with_interval(row['value'], row['low'], row['high'])}"
            axes.axvline(row["value"], label=words, color=text_colour(), linestyle=dashes, **REFERENCE)

    def _name_lines(self, axes: Axes) -> None:
        """The estimates in words and numbers beside the axes, below the name of their classifier."""
        room = 72 * inches(axes)[1] / (len(list(self._placed())) + 0.3)
        texts = []
        for _, name, row in self._placed():
            numbers = "" if row is None else with_interval(row["value"], row["low"], row["high"])
            texts.append(legible(name, NAME) if row is None else f"{legible(row['title'])}  {numbers}")
        places = [place for place, _, _ in self._placed()]
        axes.set_yticks(places, texts, fontsize=min(SMALL_SIZE, max(4.0, 0.75 * room)))
        axes.tick_params(axis="y", length=0.0)
        for text, (_, _, row) in zip(axes.get_yticklabels(), self._placed(), strict=True):
            text.set(usetex=False, fontweight="bold" if row is None else "normal")

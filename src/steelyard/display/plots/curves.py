"""The curves of ranking, reliability and thresholds: what each one shows, and what it is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadOption
from ...core.table import Table
from .base import NO_SCORE, Display, Label, Numbers, refuse_missing, refuse_strangers, stacked
from .style import MARKER, REFERENCE, SMALL_SIZE, TEXT_SIZE, Corner, Looks, legible, stroke, text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A little more than from 0 to 1: a line along the edge is not cut in half.
UNIT = (-0.015, 1.015)
WIDE: Looks = {"xlim": UNIT}
OBLONG: Looks = {"xlim": UNIT, "ylim": UNIT}
SQUARE: Looks = OBLONG | {"aspect": "equal"}
FINE, BENT = 0.05, 1e-4  # how long lines are where a curve is bent, and from where on it is
MOST_JOINED = 3  # thresholds on one point that are all named in its label
HARDLY_ANY = 0.05  # of the rows: what is said of less hides all else


@dataclass(frozen=True, eq=False, repr=False)
class RocDisplay(Display):
    """Sensitivity against the share of false alarms, over all thresholds.

    The tables have the columns fpr and sensitivity, and may have low and high: the band of sensitivity at that fpr.

    Attributes:
        marks: The points of a classifier that are marked, with the columns threshold, fpr, sensitivity, text (its
            label, empty where it has none), reached (whether any score reaches the threshold) and note.
    """

    marks: Mapping[str, Table] = field(default_factory=dict, kw_only=True)

    x = "fpr"
    y = "sensitivity"
    x_title = "1 − specificity (false alarms)"
    y_title = "sensitivity"
    diagonal = "guessing"
    limits = SQUARE
    corner = "lower right"
    size = (5.4, 5.0)

    def __post_init__(self) -> None:
        """Refuse marks of classifiers that are not drawn."""
        super().__post_init__()
        refuse_strangers("marks", self.marks, self.curves)
        for table in self.marks.values():
            refuse_missing(table, ("threshold", "fpr", "sensitivity", "text", "reached", "note"))

    def marked(self) -> Table:
        """The marked points of all classifiers below each other, with the classifier's name in the column "model"."""
        return stacked(self.marks)

    def _corner(self) -> Corner:
        """Below the diagonal, unless a curve runs there."""
        gaps = [np.subtract(table[self.y], table[self.x], dtype=float) for table in self.curves.values()]
        worse = any((gap < -HARDLY_ANY).any() for gap in gaps)
        return "best" if worse else self.corner

    def _add_reference(self, axes: Axes) -> None:
        super()._add_reference(axes)
        labels = []
        for index, name in enumerate(self.curves):
            if name in self.marks and len(self.marks[name]):
                table, colour = self.marks[name], stroke(index)["color"]
                axes.plot(table["fpr"], table["sensitivity"], color=colour, linestyle="none", **MARKER)
                shown = colour if len(self.curves) > 1 else None
                labels += [Label(at, legible(text), shown, name) for at, text in _joined(table).items()]
        if labels:
            _label_points(axes, labels, apart=len(self.curves) > 1)


def _label_points(axes: Axes, labels: Iterable[Label], *, apart: bool) -> None:
    """Write labels beside points; ``apart`` says whose they are where some must be left out.

    Where each of them goes is found when the picture is drawn: only then its size is known, and the legend has its
    place. Labels that find none are left out, and a line of the picture names them.
    """
    from .point_labels import PointLabels

    shown = next((artist for artist in axes.artists if isinstance(artist, PointLabels)), None)
    if shown is None:
        shown = PointLabels(text_colour())
        axes.add_artist(shown)
    shown.add(labels, apart)


def _joined(table: Table) -> dict[tuple[float, float], str]:
    """The labels of points: thresholds that lie on the same point share one."""
    found: dict[tuple[float, float, bool], list[tuple[float, str]]] = {}
    for row in table:
        at = (row["fpr"], row["sensitivity"], row["reached"])
        if row["text"] and all(map(math.isfinite, at)):
            found.setdefault(at, []).append((row["threshold"], row["text"]))
    labels: dict[tuple[float, float], str] = {}
    for (fpr, sensitivity, reached), pairs in found.items():
        texts = [text for _, text in sorted(pairs)]
        words = ", ".join(texts) if len(texts) <= MOST_JOINED else f"{texts[0]} … {texts[-1]}"
        words = words if reached else f"{NO_SCORE}{words}"
        known = labels.get((fpr, sensitivity))
        labels[fpr, sensitivity] = words if known is None else f"{known}; {words}"
    return labels


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallDisplay(Display):
    """Precision against recall, over all thresholds.

    The tables have the columns recall and precision, and may have low and high: the band of precision. The precision
    of a point holds for the recall to its left, so that the area below the steps is the average precision.

    Attributes:
        base: The prevalence of the event: the precision of guessing.
    """

    base: float | None = field(default=None, kw_only=True)

    x = "recall"
    y = "precision"
    x_title = "recall (sensitivity)"
    y_title = "precision"
    limits = OBLONG
    steps = True

    def _completed(self, points: Numbers) -> Numbers:
        """Let the first step begin at a recall of 0, where precision itself is undefined: no row is assigned."""
        return _from_zero(points)

    def _add_reference(self, axes: Axes) -> None:
        if self.base is not None:
            axes.axhline(self.base, label=f"prevalence {self.base:.3g}", **REFERENCE)


@dataclass(frozen=True, eq=False, repr=False)
class DetDisplay(Display):
    """Misses against false alarms, both on the normal-deviate scale: scores from two normals give a straight line.

    The tables have the columns fpr and fnr. Shares of 0 and 1 lie infinitely far out and are drawn at the edge.
    """

    x = "fpr"
    y = "fnr"
    x_title = "false alarms (1 − specificity), %"
    y_title = "misses (1 − sensitivity), %"
    corner = "upper right"
    size = (5.4, 5.0)

    _percents = (0.1, 1, 5, 10, 20, 40, 60, 80, 95, 99)
    _limits = (0.0005, 0.995)

    def _scale(self, axes: Axes) -> None:
        from scipy.special import ndtr

        axes.set_xscale("function", functions=(self._scaled, ndtr))
        axes.set_yscale("function", functions=(self._scaled, ndtr))
        axes.set(xlim=self._limits, ylim=self._limits)
        ticks, texts = [percent / 100 for percent in self._percents], [f"{percent:g}" for percent in self._percents]
        axes.set_xticks(ticks, texts)
        axes.set_yticks(ticks, texts)
        axes.set_box_aspect(1)

    def _scaled(self, values: Numbers) -> Numbers:
        from scipy.special import ndtri

        return np.asarray(ndtri(np.clip(values, *self._limits)))

    def _between(self, points: Numbers) -> Numbers:
        """Between the ends of a tie the shares are on a straight line, which is bent on this scale."""
        fpr, fnr = self._scaled(points[0]), self._scaled(points[1])
        bent = np.fmin(np.abs(np.diff(fpr)), np.abs(np.diff(fnr))) > 0
        length = np.maximum(np.abs(np.diff(fpr)), np.abs(np.diff(fnr)))
        place, step, parts = _steps_within(np.where(bent, np.floor(length / FINE), 0))
        # Closer together near the ends, where the scale is stretched.
        return _inserted(points, place, np.square(np.sin(np.pi / 2 * (step + 0.5) / parts)))


@dataclass(frozen=True, eq=False, repr=False)
class GainDisplay(Display):
    """The share of the event's rows that is found among the rows ranked highest.

    The tables have the columns share (of all rows) and sensitivity, and may have low and high.
    """

    x = "share"
    y = "sensitivity"
    x_title = "share of rows, highest scores first"
    y_title = "share of the event found (sensitivity)"
    diagonal = "guessing"
    limits = SQUARE
    corner = "lower right"
    size = (5.4, 5.0)


@dataclass(frozen=True, eq=False, repr=False)
class LiftDisplay(Display):
    """How many times more often than overall the event occurs among the rows ranked highest.

    The tables have the columns share (of all rows) and lift, and may have low and high.
    """

    x = "share"
    y = "lift"
    x_title = "share of rows, highest scores first"
    y_title = "lift"
    limits = WIDE
    corner = "upper right"

    def _completed(self, points: Numbers) -> Numbers:
        """Rows of the highest score stand in no order: however many of them are taken, the lift to come is theirs."""
        return _from_zero(points)

    def _between(self, points: Numbers) -> Numbers:
        """Between the ends of a tie the rows that are found are on a straight line, and so the lift is not."""
        return _ratios_between(points)

    def _add_reference(self, axes: Axes) -> None:
        axes.axhline(1.0, label="guessing", **REFERENCE)


@dataclass(frozen=True, eq=False, repr=False)
class RejectionDisplay(Display):
    """The error among the rows that are kept, against how many are kept when the least certain are rejected.

    The tables have the columns coverage and risk, and may have low and high: the band of risk. That of hardly any rows
    reaches up to 1: it is drawn as long as it is in sight.
    """

    x = "coverage"
    y = "risk"
    x_title = "coverage (share of rows not rejected)"
    y_title = "risk (error among them)"
    limits = WIDE

    def _scale(self, axes: Axes) -> None:
        super()._scale(axes)
        if highest := self._highest():
            axes.set(ylim=(-0.05 * highest, 1.08 * highest))

    def _between(self, points: Numbers) -> Numbers:
        """Between the ends of a tie the errors are on a straight line, and so their share is not."""
        return _ratios_between(points)

    def _highest(self) -> float:
        """The highest risk, or end of a band, among more rows than hardly any."""
        found = [0.0]
        for table in self.curves.values():
            many = np.asarray(table[self.x], float) >= HARDLY_ANY
            for name in {self.y, "high"}.intersection(table.column_names):
                risks = np.asarray(table[name], float)
                found += risks[many & np.isfinite(risks)].tolist()
        return max(found)


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurveDisplay(Display):
    """What it brings to act on forecasts, against the probability from which on somebody would act.

    The tables have the columns threshold, net_benefit and all (the net benefit of acting on all rows), and may have low
    and high. Acting on all brings less and less: it is drawn as long as it is in sight.
    """

    x = "threshold"
    y = "net_benefit"
    x_title = "threshold: act from this probability on"
    y_title = "net benefit"

    def _scale(self, axes: Axes) -> None:
        highest = self._highest() or 1.0  # where nobody gains, it is seen what there is to lose
        axes.set(xlim=UNIT, ylim=(-0.2 * highest, 1.08 * highest))

    def _highest(self) -> float:
        """The most that anybody gains: that of acting on all where it costs nothing, or the end of a band."""
        tables = self.curves.values()
        columns = [table[name] for table in tables for name in (self.y, "high") if name in table.column_names]
        return float(np.nanmax(np.concatenate([np.asarray(column, float) for column in columns])))

    def _add_reference(self, axes: Axes) -> None:
        table = next(iter(self.curves.values()))
        axes.plot(table[self.x], table["all"], label="act on all", **REFERENCE)
        axes.axhline(0.0, label="act on none", **{**REFERENCE, "linestyle": ":"})


def _ratios_between(points: Numbers) -> Numbers:
    """A share y of x, where x * y goes straight from point to point: y = a / x + b.

    Where that is convex, corners stand where tangents meet, else on the curve: lines are never above it, and at most a
    thousandth of it below.
    """
    x, sums = points[0], points[0] * points[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.log(x[1:] / x[:-1])
    bent = np.isfinite(length) & (length > BENT)
    place, step, parts = _steps_within(np.where(bent, np.ceil(length / FINE), 0))
    first, last = x[place], x[place + 1]
    start, end = (first * (last / first) ** (at / parts) for at in (step, step + 1))
    slope = (sums[place + 1] - sums[place]) / (last - first)
    above = sums[place] - slope * first
    corner = np.where(above > 0, 2 * start * end / (start + end), end)
    height = slope + np.where(above > 0, 2 * above / (start + end), above / end)
    found = _inserted(points, place, (corner - first) / (last - first))
    found[:2, np.arange(len(place)) + place + 1] = corner, height
    return found


def _steps_within(parts: Numbers) -> tuple[NDArray[np.int_], NDArray[np.int_], NDArray[np.int_]]:
    """For so many parts between each point and the next: the point before each part, its number, and their number."""
    counts = parts.astype(int)
    place = np.repeat(np.arange(len(counts)), counts)
    return place, np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts), counts[place]


def _inserted(points: Numbers, place: NDArray[np.int_], share: Numbers) -> Numbers:
    """Points with others between them, each behind a point, after a share of the way to the next."""
    with np.errstate(invalid="ignore"):  # an end of a band may be infinite
        new = points[:, place] + share * (points[:, place + 1] - points[:, place])
    return np.insert(points, place + 1, new, axis=1)


def _from_zero(points: Numbers) -> Numbers:
    """Let the first value hold from 0 on, where the measure itself is undefined."""
    if not points.shape[1] or points[0, 0] == 0:
        return points
    start = points[:, :1].copy()
    start[0] = 0.0
    return np.hstack([start, points])


# --- reliability --------------------------------------------------------------------------------------------------

# Where the bars stand, in parts of the axes: above them, as wide as they are.
ABOVE = (0.0, 1.03, 1.0, 0.16)


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """How often what was forecast came true, against the forecast; calibrated forecasts lie on the diagonal.

    The tables have the columns forecast and frequency, and may have low and high: the band in which calibrated
    forecasts would stay.

    Attributes:
        bars: How the forecasts of each curve are spread, with the columns from, to and share; drawn above the curves.
    """

    bars: Mapping[str, Table] = field(default_factory=dict, kw_only=True)

    x = "forecast"
    y = "frequency"
    x_title = "forecast probability"
    y_title = "how often it came true"
    diagonal = "calibrated"
    # Not of equal aspect: the bars above need room that the layout finds only where axes may give way.
    limits = OBLONG
    corner = "lower right"
    size = (5.4, 6.0)

    def __post_init__(self) -> None:
        """Refuse bars of curves that are not drawn."""
        super().__post_init__()
        refuse_strangers("bars", self.bars, self.curves)

    def _add_reference(self, axes: Axes) -> None:
        super()._add_reference(axes)
        if self.bars:
            if axes.figure.get_layout_engine() is None:
                # Nothing else makes room above the axes: they give up some of their own.
                place = axes.get_position()
                axes.set_position((place.x0, place.y0, place.width, place.height / (ABOVE[1] + ABOVE[3])))
            self._draw_bars(axes.inset_axes(ABOVE))

    def _draw_bars(self, above: Axes) -> None:
        """Outlines, so that several can be told apart; the only one is filled."""
        for index, name in enumerate(self.curves):
            if name not in self.bars:
                continue
            table, fill = self.bars[name], len(self.bars) == 1
            above.stairs(table["share"], [*table["from"], table["to"][-1]], alpha=0.8, fill=fill, **stroke(index))
        above.set(xlim=UNIT)
        above.set_ylabel("share", fontsize=SMALL_SIZE)
        above.tick_params(labelsize=SMALL_SIZE, labelbottom=False)
        above.locator_params(axis="y", nbins=2)
        above.spines[["top", "right"]].set_visible(False)


# --- thresholds ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdDisplay(Display):
    """What measures of one classifier become as its threshold moves.

    The table has the column threshold and one column a measure, and may have ``<measure>_low`` and
    ``<measure>_high``: its band. Labels are by measure here. Infinite thresholds are left out of the picture.

    Attributes:
        chosen: The threshold in use, drawn as an upright line with its value on top.
    """

    chosen: float | None = field(default=None, kw_only=True)

    x = x_title = "threshold"
    y = "value"
    y_title = "value of the measure"
    corner = "below"
    steps = True  # a row is assigned from the threshold on: what holds at a score holds above the score below it

    def __post_init__(self) -> None:
        """Refuse several classifiers: each has thresholds of its own."""
        super().__post_init__()
        if len(self.curves) > 1:
            raise BadOption(f"there are {len(self.curves)} classifiers", mend="Make one display for each of them")

    def _lines(self) -> Mapping[str, Table]:
        """The lines to draw by their names: one a measure."""
        lines = {}
        for table in self.curves.values():
            names = [name for name in table.column_names if name != self.x]
            bands = {f"{name}{end}" for name in names for end in ("_low", "_high")}
            for name in [name for name in names if name not in bands]:
                columns = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
                known = {column: table[there] for column, there in columns.items() if there in names}
                lines[name] = Table({self.x: table[self.x], **known})
        return lines

    def _add_reference(self, axes: Axes) -> None:
        """Mark the chosen threshold. Its value stands above the axes, where no curve can be below it."""
        (name,) = self.curves
        drawn = self.chosen is not None and math.isfinite(self.chosen)
        axes.set_title(legible(name), loc="left", fontsize=TEXT_SIZE, pad=20.0 if drawn else None)
        if self.chosen is not None and drawn:
            axes.axvline(self.chosen, **REFERENCE)
            axes.annotate(
                f"chosen {self.chosen:.4g}",
                (self.chosen, 1.0),
                xycoords=axes.get_xaxis_transform(),
                xytext=(0.0, 4.0),
                textcoords="offset points",
                horizontalalignment="center",
                fontsize=SMALL_SIZE,
            )

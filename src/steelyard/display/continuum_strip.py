"""Rows along the continuum that their classes were cut from, ready to be drawn: marks of few rows, bars of many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption
from ..core.scale import Continuum
from ..core.table import Table
from ..families.continuum.judged import Judged
from ..inference.settings import MEASURED, MENDS
from ..maths.kernels import above, below

if TYPE_CHECKING:
    from ..core.typing import Array, Places
    from ..results.assessment import Assessment

DOUBT = 0.05  # from this probability on, a label is uncertain
REACH = NormalDist().inv_cdf(1 - DOUBT)  # standard deviations from a boundary where it is that, if no other is near
SEVERITIES = ("right", "near", "next", "far")
WIDTHS = 90  # how many marks go beside each other
MOST_LEVELS = 16  # how many go on top of each other in a lane
MOST_MARKS = 4000
FEWEST_BINS, MOST_BINS = 30, 120
LEAST = 0.04  # of a lane: no bar is lower, so that a single row among a million is seen
MARGIN = 0.02


@dataclass(frozen=True)
class Strips:
    """The rows of one or more classifiers, with what they weigh; None where all weigh the same."""

    judged: Mapping[str, Judged]
    mass: Array | None = None

    @classmethod
    def of(cls, assessments: Mapping[str, Assessment]) -> Strips:
        """Take the rows out of assessments, where their truth was measured and is still at hand."""
        judged = {}
        for name, each in assessments.items():
            if not isinstance(each.tally.scale, Continuum):
                raise BadOption("the truth was not measured", mend=MENDS[MEASURED])
            if each.tally.scores is None:
                raise BadOption(
                    "no measure asked for what was measured, and so it was not kept",
                    mend="Add 'apparent_sqerr' to measures=[...], or leave measures= out",
                )
            rows = each.continuum.rows
            judged[name] = each.continuum.judged(0, len(rows))
        return cls(judged, None if rows.sums is None else rows.sums[:, 1])

    @cached_property
    def _first(self) -> Judged:
        """Any classifier: what was measured is the same for all."""
        return next(iter(self.judged.values()))

    @property
    def scale(self) -> Continuum:
        """The classes and their boundaries."""
        return self._first.scale

    @cached_property
    def span(self) -> tuple[float, float]:
        """From where to where there is something to see: all rows and every boundary between classes."""
        seen = [*self.scale.boundaries[1:-1], float(self._first.value.min()), float(self._first.value.max())]
        low, high = min(seen), max(seen)
        margin = MARGIN * (high - low) or max(abs(low), 1.0) * MARGIN
        return low - margin, high + margin

    # --- how sure the labels are -------------------------------------------------------------------------------

    @cached_property
    def deviation(self) -> float | None:
        """The standard deviation of the measurement error, or the median of several; None where it is not known."""
        middle = float(np.median(self._first.sd))
        return None if np.isnan(middle) else middle

    @property
    def deviations_differ(self) -> bool:
        """Whether rows have deviations of their own."""
        return self.deviation is not None and bool(np.ptp(self._first.sd) > 0)

    def zones(self) -> Table:
        """Where a label is wrong with a probability above 5 %, by the usual deviation: columns from and to."""
        low, high = self.span
        ends = self.scale.boundaries
        if not self.deviation:
            return Table({"from": [], "to": []})
        sure = [self._sure(*pair) for pair in pairwise(ends)]
        edges = [ends[0], *[edge for pair in sure if pair is not None for edge in pair], ends[-1]]
        shown = np.clip(edges, low, high).reshape(-1, 2).tolist()
        kept = [(start, stop) for start, stop in shown if stop > start]
        return Table({"from": [start for start, _ in kept], "to": [stop for _, stop in kept]})

    def _sure(self, low: float, high: float) -> tuple[float, float] | None:
        """The part of a class in which labels are sure; none of a class that is narrow."""
        from scipy.optimize import brentq

        sd = self.deviation or 0.0
        if np.isinf(high - low):
            return low + REACH * sd, high - REACH * sd

        def unsure(inwards: float) -> float:
            place = low + inwards
            return float(below(place, sd, low) + above(place, sd, high)) - DOUBT

        middle = (high - low) / 2
        if unsure(middle) >= 0:
            return None
        inwards = float(brentq(unsure, 0.0, middle))
        return low + inwards, high - inwards

    # --- rows --------------------------------------------------------------------------------------------------

    def tables(self, levels_in_all: int) -> dict[str, Table]:
        """One mark a row, where there is room for them and all rows weigh the same; else bars."""
        return self.marks(levels_in_all) or self.bars()

    def marks(self, levels_in_all: int) -> dict[str, Table]:
        """One row a mark: assigned, label, severity, value, level (0 at the foot); nothing where it is too crowded.

        It is where more marks stand on top of each other than there are levels, shared out among all lanes.
        """
        if self.mass is not None or len(self._first.value) > MOST_MARKS:
            return {}
        width, classes = (self.span[1] - self.span[0]) / WIDTHS, np.array(self.scale.classes, dtype=object)
        most = min(MOST_LEVELS, levels_in_all // (len(self.judged) * len(classes)))
        found: dict[str, Table] = {}
        for name, rows in self.judged.items():
            level = np.zeros(len(rows.value), dtype=np.int64)
            for code in range(len(classes)):
                here = np.flatnonzero(rows.assigned == code)
                level[here] = levels(rows.value[here], width, most)
            if level.max(initial=0) >= most:
                return {}
            columns: dict[str, Any] = {"assigned": classes[rows.assigned], "label": classes[rows.label]}
            columns |= {"severity": np.array(SEVERITIES)[severity(rows)], "value": rows.value, "level": level}
            found[name] = table_of_arrays(columns)
        return found

    def bars(self) -> dict[str, Table]:
        """One row a bar: assigned, severity, from, to, rows (or their weight), and its foot and top, from 0 to 1.

        Heights are roots of densities, the same for all classifiers: chance moves roots equally everywhere.
        """
        counts = {name: self._counts(rows) for name, rows in self.judged.items()}
        widths = np.diff(self._edges, axis=0)[0]
        most = max(float((each.sum(axis=1) / widths).max()) for each in counts.values())
        return {name: self._bars(each, np.sqrt(each.sum(axis=1) / widths / most)) for name, each in counts.items()}

    @cached_property
    def _width(self) -> float:
        """About how wide bins are: by Freedman and Diaconis, which no single value far off makes wider.

        Values that were rounded have bins as wide as their steps: others would hold now more of these, now fewer.
        """
        value, whole = self._first.value, self.span[1] - self.span[0]
        quarters = np.percentile(value, [25, 75])
        usual = 2 * float(np.diff(quarters)[0]) / np.cbrt(len(value))
        width = float(np.clip(usual, whole / MOST_BINS, whole / FEWEST_BINS))
        step = float(np.diff(np.unique(value)).min(initial=whole))
        return step if step > width / 4 else width

    @cached_property
    def _cuts(self) -> list[Array]:
        """The edges of the bins of every class: no bin reaches across a boundary, and only the outermost beyond all."""
        ends, width = np.clip(self.scale.boundaries, *self.span).tolist(), self._width
        sizes = [max(1, round((stop - start) / width)) for start, stop in pairwise(ends)]
        cuts = [np.linspace(start, stop, size + 1) for (start, stop), size in zip(pairwise(ends), sizes, strict=True)]
        if np.isinf(self.scale.boundaries[0]):
            cuts[0] = ends[1] - width * np.arange(math.ceil((ends[1] - ends[0]) / width), -1, -1)
        if np.isinf(self.scale.boundaries[-1]):
            cuts[-1] = ends[-2] + width * np.arange(math.ceil((ends[-1] - ends[-2]) / width) + 1)
        return cuts

    @cached_property
    def _edges(self) -> Array:
        """Where bins begin, and where they end: (2, bins)."""
        return np.concatenate([[cuts[:-1], cuts[1:]] for cuts in self._cuts], axis=1)

    @cached_property
    def _places(self) -> Places:
        """The bin of every row. The label says which class it is in, also where a value stands on a boundary."""
        sizes = np.array([len(cuts) - 1 for cuts in self._cuts])
        starts, lows = np.cumsum(sizes) - sizes, np.array([cuts[0] for cuts in self._cuts])
        widths, label = np.array([cuts[1] - cuts[0] for cuts in self._cuts]), self._first.label
        steps = (self._first.value - lows[label]) / widths[label]
        # A value that was rounded and stands at the edge of a bin is in its own one, whatever its last digit.
        within = np.floor(steps + 1e-9) if self.scale.closed == "left" else np.ceil(steps - 1e-9) - 1
        return np.asarray(starts[label] + within.astype(np.int64).clip(0, sizes[label] - 1))

    def _counts(self, rows: Judged) -> Array:
        """How many rows are in each bin: (assigned classes, severities, bins)."""
        shape = len(self.scale), len(SEVERITIES), self._edges.shape[1]
        place = (rows.assigned.astype(np.int64) * shape[1] + severity(rows)) * shape[2] + self._places
        return np.bincount(place, self.mass, int(np.prod(shape))).astype(np.float64).reshape(shape)

    def _bars(self, counts: Array, height: Array) -> Table:
        """Bars of one classifier; those of one bin stand on top of each other and share its height."""
        total = counts.sum(axis=1)
        share = np.divide(counts, total[:, None], out=np.zeros_like(counts), where=total[:, None] > 0)
        top = np.cumsum(share, axis=1) * np.maximum(height, LEAST)[:, None]
        code, grade, place = np.nonzero(counts)
        return table_of_arrays(
            {
                "assigned": np.array(self.scale.classes, dtype=object)[code],
                "severity": np.array(SEVERITIES)[grade],
                "from": self._edges[0][place],
                "to": self._edges[1][place],
                "rows": counts[code, grade, place],
                "foot": (top - share * np.maximum(height, LEAST)[:, None])[code, grade, place],
                "top": top[code, grade, place],
            }
        )


def table_of_arrays(columns: Mapping[str, Any]) -> Table:
    """A table of what arrays hold."""
    return Table({name: values.tolist() for name, values in columns.items()})


def severity(rows: Judged) -> Places:
    """How wrong rows are, by place among the severities.

    Near are those that measurement error may explain: the class assigned is less than 1.64 standard deviations away.
    Of the others, next are those whose label is beside the class assigned, far those with a class between.
    """
    steps = np.abs(rows.assigned.astype(np.int64) - rows.label)
    near = (steps > 0) & (rows.distance < np.square(REACH * rows.sd))
    return np.where(near, 1, np.where(steps > 1, 3, 2 * np.minimum(steps, 1)))


def levels(value: Array, width: float, most: int) -> Places:
    """The lowest level on which each mark touches no other, set from left to right, and ``most`` where none is free."""
    found, ends = np.full(len(value), most), [-np.inf] * most
    for place in np.argsort(value, kind="stable").tolist():
        free = next((level for level, end in enumerate(ends) if end <= value[place]), most)
        found[place], ends[free : free + 1] = free, [float(value[place]) + width] * (free < most)
    return found

"""Columns of measured values: all that formulas ask for of rows in memory. Knows no formula."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.estimate import Deviation
from ...core.scale import Continuum, Scale
from ...core.threads import chunks, over_rows
from ...inference.row_evaluation import patterns_of
from ...inference.tails import Tails
from ...inference.variances import NO_ERROR, by_cluster
from ...inputs.dataset import ASKED, DOUBTS, Measured
from ...measures.masses import Weights
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.statistics import ROUNDING, Patterns
from ..state_evaluation import RowInfluences, with_disturbances
from .judged import Judged

if TYPE_CHECKING:
    from ...core.typing import Array

MOST_NUMBERS = 1 << 26  # of columns that are kept
DEVIATIONS = ("sd", "blur")  # that may only be estimated
USUAL_LEVEL = 0.95  # at whose bounds of an estimated sd all means are computed
MOST_OF_SD = 1e6  # of an estimate of which hardly anything is known

Means = Mapping[str, float]


def asked_by(measures: Iterable[Measure]) -> tuple[str, ...]:
    """The columns that any formula asks for, and those behind its doubts."""
    asked = [name for measure in measures for name in measure.means]
    asked += [name for doubt in DOUBTS if doubt in asked for name in DOUBTS[doubt]]
    return tuple(name for name in dict.fromkeys(asked) if name in ASKED and name not in DOUBTS)


def uncertain_of(measured: Measured) -> list[str]:
    """The deviations that are only estimated."""
    return [name for name, error in zip(DEVIATIONS, measured.errors, strict=True) if error > 0]


def estimated_sd(measured: Measured) -> Deviation | None:
    """The standard deviation of the measurement error, if it was estimated and for all rows."""
    if not measured.errors[0] or measured.sd is None or not np.any(measured.sd[:1]):
        return None
    sd = float(measured.sd[0])
    return Deviation(sd, 2 * (sd**2 / measured.errors[0]) ** 2)


def bounds_of(estimated: Deviation, level: float) -> tuple[float, float]:
    """The bounds of an estimated deviation, by the chi-squared distribution."""
    low, high = estimated.interval(level)
    return low, min(high, MOST_OF_SD * estimated.sd)


def halved(moved: list[Means]) -> list[Means]:
    """By how much one standard error moves every mean, from means with each deviation higher, and lower."""
    pairs = zip(moved[::2], moved[1::2], strict=True)
    return [{name: (up[name] - down[name]) / 2 for name in up} for up, down in pairs]


@dataclass(frozen=True)
class MeasuredColumns:
    """Columns of rows in memory, as one classifier assigned them.

    Attributes:
        rows: The rows.
        weights: What they weigh.
        model: The place of the classifier.
        scale: The classes and their boundaries.
        asked: The names of the columns that are asked for.
        kept: Columns that are needed again.
    """

    rows: Rows
    weights: Weights
    model: int
    scale: Scale
    asked: Collection[str]
    kept: dict[str, Array] = field(default_factory=dict, repr=False)

    @cached_property
    def _truth(self) -> tuple[Continuum, Measured]:
        if not isinstance(self.scale, Continuum) or self.rows.measured is None:
            raise TypeError("the truth was not measured")
        return self.scale, self.rows.measured

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(len(self.rows)) if self.weights.equal else float(self.rows.by_class[1].sum())

    @cached_property
    def source(self) -> RowInfluences:
        """Where variances and covariances come from."""
        return RowInfluences(patterns_of(self.rows, self.weights, len(self.scale)))

    @cached_property
    def patterns(self) -> Patterns:
        """What influences are of: rows, and behind them the deviations that are estimated."""
        return with_disturbances(self.source.patterns, len(self.moves))

    def judged(self, low: int, high: int) -> Judged:
        """Some rows, as they were assigned."""
        scale, measured = self._truth
        columns = (measured.sd, measured.blur, measured.expected, measured.spread)
        none = np.full(high - low, np.nan)
        return Judged(
            scale,
            self.rows.truth[low:high],
            measured.assigned[self.model][low:high],
            measured.value[low:high],
            *[none if column is None else column[low:high] for column in columns],
        )

    def column(self, name: str) -> Array:
        """What formulas ask for by a name, of every row."""
        if name in self.kept:
            return self.kept[name]
        found = np.empty(len(self.rows))
        self._pass({name: found})
        return found

    def _pass(self, columns: dict[str, Array]) -> Array:
        """Go through the rows once: sums of columns by weight, and the columns themselves where there is room."""
        mass = None if self.weights.equal else self.weights.mass

        def work(start: int, stop: int) -> Array:
            sums = np.zeros(len(columns))
            for low, high in chunks(start, stop, len(self.scale)):
                judged = self.judged(low, high)
                for place, (name, room) in enumerate(columns.items()):
                    piece = self.kept[name][low:high] if name in self.kept else getattr(judged, name)
                    sums[place] += piece.sum() if mass is None else piece @ mass[low:high]
                    if len(room):
                        room[low:high] = piece
            return sums

        return np.asarray(reduce(np.add, over_rows(len(self.rows), work, len(self.scale))))

    @cached_property
    def means(self) -> Means:
        """The means of all columns that are asked for, in one pass over the rows."""
        room = len(self.rows) * len(self.asked) <= MOST_NUMBERS
        columns = {name: np.empty(len(self.rows) if room else 0) for name in self.asked}
        found = dict(zip(self.asked, (self._pass(columns) / self.total).tolist(), strict=True))
        self.kept.update(columns if room else {})
        return found

    def column_sums(self) -> Array:
        """The sums by weight of all columns that are asked for, none of which is kept."""
        return self._pass({name: np.empty(0) for name in self.asked})

    def columns_at(self, low: int, high: int) -> Array:
        """All columns that are asked for, of some rows: (columns, rows)."""
        judged = self.judged(low, high)
        return np.stack([getattr(judged, name) for name in self.asked])

    def keep(self, names: Iterable[str]) -> None:
        """Find columns once that are needed again and again."""
        self.kept.update({name: self.column(name) for name in names})

    # --- deviations that are only estimated --------------------------------------------------------------------

    def moved(self) -> list[MeasuredColumns]:
        """The same with every estimated deviation one standard error higher, and lower; then sd at its bounds."""
        return [*self._one_error_away(), *self._at_bounds()]

    def _one_error_away(self) -> list[MeasuredColumns]:
        uncertain = uncertain_of(self._truth[1])
        return [self._moved(name, sign) for name in uncertain for sign in (1.0, -1.0)]

    def _moved(self, name: str, sign: float) -> MeasuredColumns:
        """The same with a deviation whose square is one standard error higher or lower."""
        measured = self._truth[1]
        error = measured.errors[DEVIATIONS.index(name)]
        return self._with(name, np.sqrt(np.maximum(np.square(getattr(measured, name)) + sign * error, 0.0)))

    def _at_bounds(self) -> list[MeasuredColumns]:
        estimated = estimated_sd(self._truth[1])
        if estimated is None:
            return []
        shape = self._truth[1].value.shape
        return [self._with("sd", np.broadcast_to(sd, shape)) for sd in bounds_of(estimated, USUAL_LEVEL)]

    def _with(self, name: str, column: Array) -> MeasuredColumns:
        """The same with other deviations, which are known."""
        moved: dict[str, Any] = {name: column, "errors": (0.0, 0.0)}
        return replace(self, rows=replace(self.rows, measured=replace(self._truth[1], **moved)), kept={})

    @cached_property
    def moves(self) -> list[Means]:
        """By how much one standard error of each of these deviations moves every mean."""
        return halved([each.means for each in self._one_error_away()])

    @cached_property
    def means_at_bounds(self) -> list[Means]:
        """The means where the sd is at the bounds of its 95% interval; none where it is known."""
        return [each.means for each in self._at_bounds()]

    # --- how far means scatter ---------------------------------------------------------------------------------

    def combined(self, slopes: Means) -> Array:
        """What each row adds to a sum of means, each so many times."""
        found = np.zeros(len(self.rows))
        for name, slope in slopes.items():
            found += slope * (self.column(name) - self.means[name])
        found /= self.total
        return found

    def scattered(self, influence: Array, slopes: Means, wavered: float) -> tuple[float, Tails]:
        """The variance of a sum of influences, and how skewed it is; a choice between estimates adds a normal error."""
        del slopes
        variance = float(self.source.variances(influence[None])[0]) + wavered
        share = np.array([wavered / variance if wavered > 0 else 0.0])
        return variance, Tails.of(self.patterns, influence[None]).with_normal(share)

    @property
    def concentration(self) -> float:
        """One by the number of equally weighted rows that scatter as much as these; with clusters, of these."""
        patterns = self.source.rows
        if patterns.cluster is None:
            return float(self.rows.by_class[2].sum()) / self.total**2
        return float(np.square(np.bincount(patterns.cluster, patterns.mass)).sum()) / self.total**2

    def doubt(self, name: str) -> float:
        """How many standard errors what was seen is from what the response model foresees."""
        return float(self.doubts(name, np.asarray(self.weights.mass)[None])[0])

    def doubts(self, name: str, mass: Array) -> Array:
        """The same where the rows weigh something else, (replicates, rows): one a replicate; 0 where no row differs."""
        gap = self.column(DOUBTS[name][0]) - self.column(DOUBTS[name][1])
        centre, total = float(self.weights.mass @ gap) / self.total, mass.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = mass @ (gap - centre) / total
            sums = [mass @ moment for moment in self._moments(gap - centre)]
            variance = variance_around(middle, total, sums)
            # Of what is drawn again and again, as one of few clusters, rounding leaves a little.
            told = variance > np.maximum(ROUNDING * sums[-1] / total**2, (NO_ERROR * np.abs(gap).max()) ** 2)
        return np.asarray(np.divide(centre + middle, np.sqrt(variance), out=np.zeros_like(variance), where=told))

    def _moments(self, gap: Array) -> Array:
        """Of what is drawn, rows or whole clusters: number, squared weight and both moments, per weight of a row."""
        patterns = self.source.rows
        if patterns.cluster is None:
            size, whole = patterns.mass, patterns.square
            found = np.stack([patterns.count, whole, whole * gap, whole * gap**2])
        else:
            summed, size = by_cluster(patterns, np.stack([gap, np.ones_like(gap)]))
            found = np.stack([np.ones_like(size), size**2, size * summed, summed**2])[:, patterns.cluster]
            size = size[patterns.cluster]
        return np.asarray(np.divide(found, size, out=np.zeros_like(found), where=size > 0))


def variance_around(middle: Any, total: Any, sums: Sequence[Any]) -> Any:
    """The variance of a mean, from sums over what is drawn: number, squared weights, and both moments by these."""
    count, whole, cross, square = sums
    return np.maximum((square - 2 * middle * cross + middle**2 * whole) / total**2 * count / (count - 1), 0.0)

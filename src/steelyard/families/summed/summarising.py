"""Rows are summed up on the way through them: what each family of measures keeps, and how it is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.arrays import distinct
from ...core.scale import Label
from ...states.held_rows import Sampling
from ...states.statistics import CALIBRATION, CONTINUUM, FORECASTS, PARTITION, RANKING, Statistic
from . import calibrations, partitions, rankings
from .calibrations import Binning, SummedCalibration
from .continua import SummedContinuum, measuring
from .counting import Counting
from .forecasts import SummedForecasts, Summing
from .partitions import SummedPartition, placing
from .rankings import SummedRanking
from .recipe import Look, Recipe, Taking
from .summary import Summaries, Summary
from .summed import SummedEvaluation

if TYPE_CHECKING:
    from ...states.held_rows import Rows

GATHERINGS: dict[Statistic, Any] = {
    CONTINUUM: measuring,
    RANKING: Counting,
    FORECASTS: Summing,
    CALIBRATION: Binning,
    PARTITION: placing,
}
EVALUATIONS: dict[Statistic, type[SummedEvaluation]] = {
    CONTINUUM: SummedContinuum,
    RANKING: SummedRanking,
    FORECASTS: SummedForecasts,
    CALIBRATION: SummedCalibration,
    PARTITION: SummedPartition,
}
# What rows must be seen again for, of each part of the data, once something is known of all of them.
AGAIN: dict[Statistic, Callable[[Mapping[Label | None, Any]], Mapping[Label | None, Look]]] = {
    RANKING: rankings.again,
    CALIBRATION: calibrations.again,
    PARTITION: partitions.again,
}


class Summarising:
    """Sums rows up on the way through them, and lets them go."""

    def __init__(self, recipe: Recipe) -> None:
        """Start with no rows."""
        self.recipe = recipe
        self.parts: dict[Label | None, _Part] = {}

    def add(self, rows: Rows, labels: tuple[Label, ...] = (), clusters: tuple[Label, ...] = ()) -> None:
        """Sum up some rows; ``labels`` are those of their parts, beside those of their clusters."""
        if rows.slice is None:
            self._part(None).add(rows, clusters)
            return
        for code in distinct(rows.slice).tolist():
            self._part(labels[code]).add(rows.select(np.asarray(rows.slice == code)), clusters)

    def _part(self, label: Label | None) -> _Part:
        if label not in self.parts:
            self.parts[label] = _Part(self.recipe)
        return self.parts[label]

    def narrow(self, recipe: Recipe) -> None:
        """Ask no more than this of the rows, of those before and of those to come."""
        self.recipe = recipe
        for part in self.parts.values():
            part.narrow(recipe)

    def state(self) -> Summaries:
        """What is kept of all rows."""
        return Summaries({label: part.state() for label, part in self.parts.items()})


class _Part:
    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.sampling = recipe, Sampling()
        self.by_class = np.zeros((3, len(recipe.scale)))
        wanted = {measure.statistic: None for measure in recipe.measures}
        self.gatherings: dict[str, Taking] = {each.name: GATHERINGS[each](recipe) for each in wanted}

    def add(self, rows: Rows, clusters: tuple[Label, ...]) -> None:
        seen = rows.by_class
        self.by_class[:, : seen.shape[1]] += seen
        self.sampling.add(rows)
        for gathering in self.gatherings.values():
            gathering.add(rows, clusters)

    def narrow(self, recipe: Recipe) -> None:
        kept = {measure.statistic.name for measure in recipe.measures}
        self.recipe = recipe
        self.gatherings = {name: gathering for name, gathering in self.gatherings.items() if name in kept}

    def state(self) -> Summary:
        states = {name: gathering.state() for name, gathering in self.gatherings.items()}
        sample = self.sampling.state()
        if sample is None:
            raise ValueError("no row was added")
        return Summary(self.recipe, self.by_class, states, sample)

"""How the measures that are made of each statistic of rows are evaluated and summed: one line a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.scale import Label, Scale
from ..measures.registry import Measure
from ..states.held_rows import Rows
from ..states.statistics import CALIBRATION, CONTINUUM, FORECASTS, PARTITION, RANKING, Statistic
from .bins import evaluation as bins
from .bins.evaluation import CalibrationEvaluation, binning
from .continuum.columns import measuring
from .continuum.evaluation import ContinuumEvaluation
from .forecasts.evaluation import ForecastEvaluation, scoring
from .partition import evaluation as partitions
from .partition.evaluation import PartitionEvaluation
from .partition.looks import placing
from .ranking import evaluation as rankings
from .ranking.evaluation import RankedEvaluation
from .state_evaluation import StateEvaluation
from .summed.counting import counting
from .summed.recipe import Look, Recipe, Taking
from .summed.summary import Summary


class Family(NamedTuple):
    """How the measures of one statistic are evaluated and summed.

    Attributes:
        evaluation: Evaluates rows in memory, or sums of rows that were let go.
        summing: Starts to sum up rows.
        again: Tells what rows must be seen again for, of each part of the data, once something is known of all of them.
    """

    evaluation: type[StateEvaluation]
    summing: Callable[[Recipe], Taking]
    again: Callable[[Mapping[Label | None, Any]], Mapping[Label | None, Look]] = lambda _: {}


FAMILIES: dict[Statistic, Family] = {
    CONTINUUM: Family(ContinuumEvaluation, measuring),
    RANKING: Family(RankedEvaluation, counting, rankings.again),
    FORECASTS: Family(ForecastEvaluation, scoring),
    CALIBRATION: Family(CalibrationEvaluation, binning, bins.again),
    PARTITION: Family(PartitionEvaluation, placing, partitions.again),
}
SAYS_MORE = (RANKING, CONTINUUM)  # than patterns of classes can: they need the rows themselves


def evaluate(
    statistic: Statistic,
    rows: Rows | Summary,
    model: int,
    *,
    scale: Scale,
    measures: Sequence[Measure],
    stand_in: float,
    unit: float,
    models: tuple[str, ...],
) -> StateEvaluation:
    """All slots of one classifier that are made of a statistic, of rows or of what was kept of them."""
    evaluation = FAMILIES[statistic].evaluation
    common = (model, scale, tuple(measures), stand_in, evaluation.pseudo_row * unit)
    if isinstance(rows, Rows):
        return evaluation(rows, *common, models=models)
    rows.refuse_unsummed(measures)
    return evaluation(rows.sample.bare, *common, models=models, summary=rows)

"""Which evaluation computes the measures that are made of each statistic of rows: one line a family."""

from __future__ import annotations

from collections.abc import Sequence

from .calibration import CalibrationEvaluation
from .continuum import ContinuumEvaluation
from .forecasts import ForecastEvaluation
from .partitioned import PartitionEvaluation
from .ranked import RankedEvaluation
from .registry import Measure
from .row_evaluation import RowEvaluation
from .rows import Rows
from .scale import Scale
from .statistics import CALIBRATION, CONTINUUM, FORECASTS, PARTITION, RANKING, Statistic
from .summaries.summary import EVALUATIONS, Summary

OF_ROWS: dict[Statistic, type[RowEvaluation]] = {
    CONTINUUM: ContinuumEvaluation,
    RANKING: RankedEvaluation,
    FORECASTS: ForecastEvaluation,
    CALIBRATION: CalibrationEvaluation,
    PARTITION: PartitionEvaluation,
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
) -> RowEvaluation:
    """All slots of one classifier that are made of a statistic, of rows or of what was kept of them."""
    family = OF_ROWS[statistic]
    common = (model, scale, tuple(measures), stand_in, family.pseudo_row * unit)
    if isinstance(rows, Rows):
        return family(rows, *common, models=models)
    rows.refuse_unsummed(measures)
    return EVALUATIONS[statistic](rows.sample.rows, *common, models=models, summary=rows)

"""Which evaluation computes the measures that are made of each statistic of rows: one line a family."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.scale import Scale
from ..inference.row_evaluation import RowEvaluation
from ..inference.unheard import heard
from ..measures.registry import Measure
from ..states.held_rows import Rows
from ..states.statistics import CALIBRATION, CONTINUUM, FORECASTS, PARTITION, RANKING, Statistic
from .continuum.evaluation import ContinuumEvaluation
from .forecasts.calibration import CalibrationEvaluation
from .forecasts.evaluation import ForecastEvaluation
from .partition.evaluation import PartitionEvaluation
from .ranking.evaluation import RankedEvaluation
from .summed.summarising import EVALUATIONS
from .summed.summary import Summary

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
    family, kept = OF_ROWS[statistic], rows if isinstance(rows, Rows) else rows.sample.rows
    reads_scores = statistic in SAYS_MORE  # all others read probabilities
    common = (model, scale, tuple(measures), stand_in, family.pseudo_row * unit)
    if isinstance(rows, Rows):
        kind = family if reads_scores else heard(family, rows, model)
        return kind(rows, *common, models=models)
    rows.refuse_unsummed(measures)
    summed = EVALUATIONS[statistic]
    kind_summed = summed if reads_scores else heard(summed, kept, model)
    return kind_summed(kept, *common, models=models, summary=rows)

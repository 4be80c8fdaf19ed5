"""The forecasts of a classifier beside the same forecasts, recalibrated by rows of other folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import fold_of
from ..core.errors import BadOption, quoted
from ..inputs.categorical import Categorical
from ..inputs.dataset import Dataset
from ..inputs.prediction import Scores
from ..passes.tally import Tally
from .comparison import Comparison
from .recalibration import Recalibration, recalibrate

if TYPE_CHECKING:
    from .assessment import Assessment


def recalibrated(assessment: Assessment, method: Recalibration, folds: int, seed: int) -> Comparison:
    """Compare forecasts with what they would be if they were recalibrated."""
    if not isinstance(folds, int) or isinstance(folds, bool) or not 2 <= folds <= 1000:
        raise BadOption(f"folds is {quoted(folds)}", mend="Give a whole number, 2 or above")
    name, tally = assessment.model, assessment.tally
    rows, model = assessment.calibration.rows, assessment.evaluation.model
    said, weights = rows.scores[model], assessment.calibration.weights
    if not said.columns:
        raise BadOption("labels cannot be recalibrated", mend="Give probabilities")
    if assessment.calibration.patterns.clusters == 1 or len(rows) < 2:
        raise BadOption("there is nothing to recalibrate by", mend="It takes two rows, or two clusters, at least")
    units = assessment.calibration.patterns.clusters or len(rows)
    fold = fold_of(len(rows), min(folds, units), rows.cluster, seed)
    memberships = np.stack([np.asarray(column, dtype=np.float64) for column in said.memberships()])
    # By how many rows there are: half a row more, by which fits are held back, is half of one however it is weighed.
    better = Scores(tuple(recalibrate(memberships, rows.truth, weights.mass / weights.row, fold, method)))
    names = (name, f"{name}, recalibrated")
    both = dict(zip(names, (Scores(tuple(memberships)), better), strict=True))
    cases = Dataset(
        scale=tally.scale,
        truth=rows.truth,
        assigned={each: scores.likeliest(tally.scale.event_code) for each, scores in both.items()},
        scores=both,
        measured=rows.measured,
        weight=None if weights.equal else np.asarray(weights.mass),
        counted=weights.square is weights.mass,
        group=None if rows.cluster is None else Categorical(rows.cluster, tally.groups, "group"),
    )
    return Comparison(Tally.of(cases), assessment.settings, cases)

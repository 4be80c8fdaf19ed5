"""Forecasts as they would be if recalibrated: each class against the rest, every row by rows of other folds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.arrays import fold_of
from ..core.errors import BadOption, quoted
from ..core.suggestions import refuse_unknown
from ..core.threads import dealt_out, gathered
from ..inputs.categorical import Categorical
from ..inputs.dataset import Dataset
from ..inputs.prediction import Scores
from ..passes.tally import Tally
from .calibration_line import chance_on, likeliest, log_odds
from .comparison import Comparison
from .reliability import Reliability, ends

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Places
    from .assessment import Assessment


Recalibration = Literal["logistic", "isotonic"]
# What is done to forecasts beforehand; and then, by forecasts, outcomes and weights of some rows, to those of others.
Way = tuple[Callable[[Any], Any], Callable[[Any, Any, Any, Any], Any]]

FITTING = 100  # so many passes over the rows outside a fold does a line take, give or take


def recalibrate(
    memberships: Array, truth: Codes, weight: Array, fold: Places, method: Recalibration = "logistic"
) -> Array:
    """Forecasts as they would be if recalibrated, every row by what the rows of other folds say: (classes, rows).

    Each class is recalibrated against the rest; of more than two classes the results are scaled to add up to 1.
    """
    ways: dict[str, Way] = {"logistic": (log_odds, _logistic), "isotonic": (np.asarray, _isotonic)}
    refuse_unknown("method", method, ways)
    (prepare, fit), found = ways[method], np.empty_like(memberships)
    # One fold after the other, so that those outside a fold are what is before and behind it.
    order, folds = np.argsort(fold, kind="stable"), np.append(0, np.cumsum(np.bincount(fold)))
    held_out = [(low, high) for low, high in pairwise(folds.tolist()) if low < high]
    weights, codes = weight[order], range(1, 2) if len(memberships) == 2 else range(len(memberships))

    def work(code: int) -> None:
        prepared, happened = prepare(gathered(memberships[code], order)), (truth[order] == code).astype(np.float64)
        fitted = np.empty(len(prepared))
        for low, high in held_out:
            seen, came_true, mass = (np.delete(values, slice(low, high)) for values in (prepared, happened, weights))
            fitted[low:high] = fit(seen, came_true, mass, prepared[low:high])
        found[code, order] = fitted

    dealt_out(codes, work, FITTING * len(order))
    if len(memberships) == 2:
        found[0] = 1 - found[1]
        return found
    return np.asarray(found / found.sum(axis=0))


def _logistic(odds: Array, happened: Array, weight: Array, new: Array) -> Array:
    """A straight line on the scale of log odds (Cox 1958; Platt 2000), none of them surer than rows can tell."""
    surest = float(-log_odds(np.array(0.5 / (len(odds) + 1))))
    x = np.clip(odds, -surest, surest)
    centre = float(np.average(x, weights=weight))
    x -= centre
    spread = float(np.sqrt(np.average(np.square(x), weights=weight))) or 1.0
    x /= spread
    line = likeliest(x, happened, weight)
    return chance_on((np.clip(new, -surest, surest) - centre) / spread, line)


def _isotonic(chance: Array, happened: Array, weight: Array, new: Array) -> Array:
    """Isotonic regression; between the forecasts that were seen, along straight lines.

    Half a row of either kind is added to every level stretch, so that none is surer than its rows can tell.
    """
    seen = Reliability.of(chance, happened, weight)
    kept = ends(seen.frequency)
    stretch = np.cumsum(np.append(0, np.diff(seen.frequency) != 0))
    mass = np.bincount(stretch, seen.mass)[stretch]
    frequency = (seen.frequency * mass + 0.5) / (mass + 1)
    return np.interp(new, seen.forecast[kept], np.maximum.accumulate(frequency)[kept])


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

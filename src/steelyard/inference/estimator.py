"""From the values and influences of a family of measures to estimates with intervals, for all slots at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ..core.threads import one_thread
from .influence import Spread
from .row_evaluation import RowEvaluation
from .rules import Evidence, IntervalRule, ends_in, intervals, places_in, places_of, rule_of, rules_in
from .rules.mean import MEAN
from .rules.plain import PLAIN
from .settings import Settings
from .student_t import critical_values, degrees_of_freedom
from .table_evaluation import Evaluation, Slot
from .variances import spread

if TYPE_CHECKING:
    from ..core.typing import Array, Places

    Groups = tuple[Sequence[IntervalRule], Mapping[IntervalRule, Places], Array]

SUREST = 1 - 2.0**-52  # a level of 1 would reach for ever
MANY_CLASSES = 128  # products of tables of more are so large that threads are started for them


@dataclass(frozen=True)
class Results:
    """The columns behind an assessment, one entry a slot."""

    evaluation: Evaluation | RowEvaluation
    value: Array
    low: Array
    high: Array
    errors: Spread
    centre: Array
    methods: tuple[str, ...]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What the columns stand for."""
        return self.evaluation.slots


def compute(
    evaluation: Evaluation | RowEvaluation, settings: Settings, critical: Array | None = None, times: float = 1.0
) -> Results:
    """Return the value of every slot with its interval.

    Intervals reach so many standard errors (``critical``); or so many times as far as they would by themselves.
    """
    with one_thread(len(evaluation.scale) > MANY_CLASSES):
        return _computed(evaluation, settings, critical, times)


def _computed(
    evaluation: Evaluation | RowEvaluation, settings: Settings, critical: Array | None, times: float
) -> Results:
    value, centre = evaluation.values
    errors, freedom, trials = _spread(evaluation)
    rules, places, ends = _groups(evaluation)
    everywhere, plain = np.arange(len(value)), settings.method == "plain"
    if plain:
        rules, places = [PLAIN] * len(value), {PLAIN: everywhere}
        freedom = np.full(len(value), np.inf) if isinstance(evaluation, RowEvaluation) else freedom
    if critical is None:
        reach, level = times * critical_values(settings.level, freedom), _level(settings.level, None, times)
    else:
        reach, level = critical, _level(settings.level, critical, times)
    evidence = Evidence(value, centre, errors.plain, errors.smooth, reach, trials, ends, level, everywhere, evaluation)
    low, high = intervals(places, evidence)
    methods: Sequence[str] = [rule.method for rule in rules]
    if not isinstance(evaluation, RowEvaluation):
        _within_costs(evaluation, methods, low, high)
    elif not plain:
        _moved_beyond(evaluation, value, low, high)
    if settings.resampled:
        from .bootstrap import replace_intervals

        methods = replace_intervals(evaluation, settings, methods, low, high)
    if evaluation.clustered:
        methods = [f"{method}, clustered" for method in methods]
    if isinstance(evaluation, RowEvaluation):
        low, high = _within_limits(evaluation, value, low, high)
        if not np.isnan(evaluation.undefined):
            value = np.where(np.isnan(value), evaluation.undefined, value)
    return Results(evaluation, value, low, high, errors, centre, tuple(methods))


def _spread(evaluation: Evaluation | RowEvaluation) -> tuple[Spread, Array, Array]:
    """Standard errors, degrees of freedom, and how many independent trials are behind each slot."""
    if isinstance(evaluation, RowEvaluation):
        errors, freedom = evaluation.spread
        return errors, freedom, np.full(len(freedom), np.nan)
    errors, means = spread(evaluation), places_in(evaluation.layout).get(MEAN, ())
    freedom = degrees_of_freedom(evaluation.patterns, len(errors.plain), means)
    return errors, freedom, evaluation.trials / evaluation.unit


def _groups(evaluation: Evaluation | RowEvaluation) -> Groups:
    """The rule of each slot, where each rule is used, and the least and the greatest value of each slot."""
    if isinstance(evaluation, RowEvaluation) and evaluation.alone is not None:
        slot = evaluation.alone
        rules = [rule_of(slot.measure.facts, slot.average)]
        return rules, places_of(rules), np.array([slot.measure.span]).T
    return rules_in(evaluation.layout), places_in(evaluation.layout), ends_in(evaluation.layout)


def _level(level: float, critical: Array | None, times: float) -> float:
    """The level of intervals that reach so many standard errors, or so many times as far as others of a level."""
    if critical is None and times == 1:
        return level
    normal = NormalDist()
    reach = times * normal.inv_cdf((1 + level) / 2) if critical is None else float(np.max(critical))
    return min(2 * normal.cdf(reach) - 1, SUREST)


def _moved_beyond(evaluation: RowEvaluation, value: Array, low: Array, high: Array) -> None:
    """Move bounds outwards by what no spread tells."""
    for place, slot in enumerate(evaluation.slots):
        below, above = evaluation.beyond(slot)
        if below or above:
            low[place] = value[place] - np.hypot(value[place] - low[place], below)
            high[place] = value[place] + np.hypot(high[place] - value[place], above)


def _within_costs(evaluation: Evaluation, methods: Sequence[str], low: Array, high: Array) -> None:
    """No mean lies beyond the least and the greatest cost, and what stands in for a value has no interval."""
    for label, matrix in evaluation.matrices.items():
        place = evaluation.layout.spans[label][0][0]
        if methods[place] == MEAN.method:
            low[place], high[place] = max(low[place], matrix.min()), min(high[place], matrix.max())
    if not np.isnan(evaluation.undefined):
        unknown = np.isnan(replace(evaluation, undefined=float("nan")).values[0])
        low[unknown], high[unknown] = np.nan, np.nan


def _within_limits(evaluation: RowEvaluation, value: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """No bound lies where no value can be; what is infinite once is so for good."""
    spans = np.array([evaluation.limits(slot) for slot in evaluation.slots])
    # A value that rounding brought beyond its span still belongs to its interval.
    least, most = np.fmin(spans[:, 0], value), np.fmax(spans[:, 1], value)
    low, high = np.maximum(low, least), np.minimum(high, most)
    known = ~np.isnan(value)
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    endless = np.isinf(value)
    return np.where(endless, value, low), np.where(endless, value, high)

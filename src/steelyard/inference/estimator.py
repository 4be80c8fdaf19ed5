"""From the values and influences of a family of measures to estimates with intervals, for all slots at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ..core.threads import one_thread
from .evaluation import Evaluation, Slot, Spread
from .rules import Evidence, intervals, places_of, rule_of, rules_in
from .rules.plain import PLAIN
from .settings import Settings
from .student_t import critical_values

if TYPE_CHECKING:
    from ..core.typing import Array

SUREST = 1 - 2.0**-52  # a level of 1 would reach for ever
MANY_CLASSES = 128  # products of tables of more are so large that threads are started for them


@dataclass(frozen=True)
class Results:
    """The columns behind an assessment, one entry a slot."""

    evaluation: Evaluation
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


def compute(evaluation: Evaluation, settings: Settings, critical: Array | None = None, times: float = 1.0) -> Results:
    """Return the value of every slot with its interval.

    Intervals reach so many standard errors (``critical``); or so many times as far as they would by themselves.
    """
    with one_thread() if len(evaluation.scale) > MANY_CLASSES else nullcontext():
        value, centre = evaluation.values
        errors, freedom, trials = evaluation.spread
        everywhere, plain = np.arange(len(value)), settings.method == "plain"
        if evaluation.alone is None:
            rules, places, ends = rules_in(evaluation.layout)
        else:
            rules = [rule_of(evaluation.alone.measure.facts, evaluation.alone.average)]
            places, ends = places_of(rules), np.array([evaluation.alone.measure.span]).T
        if plain:
            rules, places = [PLAIN] * len(value), {PLAIN: everywhere}
            freedom = freedom if evaluation.of_patterns else np.full(len(value), np.inf)
        reach = times * critical_values(settings.level, freedom) if critical is None else critical
        level = settings.level if critical is None and times == 1 else _level(settings.level, critical, times)
        evidence = Evidence(
            value, centre, errors.plain, errors.smooth, reach, trials, ends, level, everywhere, evaluation
        )
        low, high = intervals(places, evidence)
        evaluation.correct_bounds(value, low, high, plain)
        methods: Sequence[str] = [rule.method for rule in rules]
        if settings.resampled:
            from .bootstrap import replace_intervals

            methods = replace_intervals(evaluation, settings, methods, low, high)
        if evaluation.clustered:
            methods = [f"{method}, clustered" for method in methods]
        value, low, high = evaluation.within_limits(value, low, high)
        return Results(evaluation, value, low, high, errors, centre, tuple(methods))


def _level(level: float, critical: Array | None, times: float) -> float:
    """The level of intervals that reach so many standard errors, or so many times as far as others of a level."""
    normal = NormalDist()
    reach = times * normal.inv_cdf((1 + level) / 2) if critical is None else float(np.max(critical))
    return min(2 * normal.cdf(reach) - 1, SUREST)

"""Intervals of what cross-validation estimates: the value of a classifier fitted to these rows, on rows to come.

Rows held out are judged by fits that share most of what they saw, so that no simple sum of their scatter is right.
Each way here takes something for granted, and says what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadOption, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean
from ..core.table import Table
from ..inference.intervals import critical_values, p_values
from ..measures.registry import Measure
from ..results.parts import compute
from .assembling import assembled, compared

if TYPE_CHECKING:
    from ..core.typing import Array
    from ..results.assessment import Assessment
    from .crossed import CrossAssessment

POOLED, CORRECTED, NESTED = "pooled", "corrected", "nested"
OUT_OF_BAG, MIXED, WEIGHED = "out of bag", ".632", ".632+"
ASSUMES: Mapping[str, str] = {
    POOLED: "rows held out are independent; that fits share rows is left aside",
    CORRECTED: "values of two folds go together as rows held out to all rows (Nadeau & Bengio 2003)",
    NESTED: "a fold differs from the cross-validation of the others as all rows from those to come (Bates et al. 2024)",
    OUT_OF_BAG: "as pooled; fits see 63 % of the rows, so that the value is that of a smaller sample",
    MIXED: "training flatters as much as fewer rows cost, at .368 to .632 (Efron 1983); width of out of bag",
    WEIGHED: "as .632, with less of training the more it overfits (Efron & Tibshirani 1997); width of out of bag",
}
MOST_PAIRS = 1_000_000  # of rows and answers, from which the value without information is found


@dataclass(frozen=True)
class Found:
    """A value with its interval, by one method."""

    value: float
    low: float
    high: float
    se: float
    p: float = float("nan")


def by_methods(
    cross: CrossAssessment,
    measure: Measure,
    methods: str | Sequence[str] | None,
    pairs: bool,
    options: Mapping[str, Any],
) -> Table:
    """All methods, or some, for every classifier or every pair of them."""
    possible = _possible(cross, pairs)
    free = [name for name in possible if name != NESTED]
    head, tail = (("a", "b", "method", "difference"), ["p"]) if pairs else (("model", "method", "value"), [])
    rows: list[tuple[Any, ...]] = []
    for method in free if methods is None else [methods] if isinstance(methods, str) else methods:
        if method not in possible:
            mend = did_you_mean(method, possible, f"There are {listed(possible)}")
            if method in (OUT_OF_BAG, MIXED, WEIGHED) and cross.plan.kind != "bootstrap":
                mend = f"{method} is of bootstrap samples: cv='bootstrap'"
            raise BadOption(f"there is no interval {quoted(method)} of this", mend=mend)
        with np.errstate(invalid="ignore"):  # what is infinite in a fold has no scatter, and two such no difference
            ways = _WAYS[method](cross, measure, pairs, options)
        for names, found in ways.items():
            p = [found.p] if pairs else []
            rows.append((*names, method, found.value, found.low, found.high, found.se, *p, ASSUMES[method]))
    return Table.of_rows((*head, "low", "high", "se", *tail, "assumes"), rows)


def _possible(cross: CrossAssessment, pairs: bool) -> list[str]:
    if cross.plan.kind == "bootstrap":
        return [OUT_OF_BAG] if pairs or cross.trained is None else [OUT_OF_BAG, MIXED, WEIGHED]
    if cross.plan.kind == "leave one out" or len(cross.plan.splits) < 2:
        return [POOLED]
    return [POOLED, CORRECTED, NESTED] if cross.plan.kind == "folds" else [POOLED, CORRECTED]


Names = tuple[str, ...]
Way = Callable[["CrossAssessment", Measure, bool, Mapping[str, Any]], dict[Names, Found]]


def targets(models: Sequence[str], pairs: bool) -> list[Names]:
    """What is estimated: one classifier each, or the difference of two."""
    return list(combinations(models, 2)) if pairs else [(name,) for name in models]


def _pooled(cross: CrossAssessment, measure: Measure, pairs: bool, options: Mapping[str, Any]) -> dict[Names, Found]:
    if pairs:
        rows = cross.differences(measure)
        return {(r["a"], r["b"]): Found(r["difference"], r["low"], r["high"], r["se"], r["p"]) for r in rows}
    estimates = {(name,): cross[name][measure] for name in cross.models}
    return {name: Found(e.value, e.low, e.high, e.se) for name, e in estimates.items()}


def _corrected(cross: CrossAssessment, measure: Measure, pairs: bool, options: Mapping[str, Any]) -> dict[Names, Found]:
    """A t interval over folds, its variance widened by what folds share."""
    table = cross.folds(measure)
    values = np.array(table["value"]).reshape(len(cross.plan.splits), len(cross.models))
    sizes = np.array([[len(split.test), split.size] for split in cross.plan.splits], dtype=np.float64)
    ratio = float((sizes[:, 0] / sizes[:, 1]).mean())
    place = {name: number for number, name in enumerate(cross.models)}
    found = {}
    for names in targets(cross.models, pairs):
        own = values[:, place[names[0]]]
        found[names] = corrected_t(own - values[:, place[names[1]]] if pairs else own, ratio, cross.settings.level)
    return {name: _within(one, measure, pairs) for name, one in found.items()}


def corrected_t(values: Array, ratio: float, level: float) -> Found:
    """Nadeau & Bengio's corrected resampled t of the values of several splits.

    Args:
        values: One a split.
        ratio: Rows held out to rows fitted to.
        level: Coverage of the interval.
    """
    splits = len(values)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    se = float(np.sqrt(variance * (1 / splits + ratio)))
    freedom = np.array([splits - 1.0])
    reach = float(critical_values(level, freedom)[0]) * se
    statistic = mean / se if se else np.inf * np.sign(mean) if mean else 0.0
    return Found(mean, mean - reach, mean + reach, se, float(p_values(np.array([statistic]), freedom)[0]))


def _within(found: Found, measure: Measure, pairs: bool) -> Found:
    """No bound lies where no value can be."""
    low, high = measure.span
    low, high = (low - high, high - low) if pairs else (low, high)
    return Found(found.value, max(found.low, low), min(found.high, high), found.se, found.p)


# --- bootstrap ------------------------------------------------------------------------------------------------


def _mixed(cross: CrossAssessment, measure: Measure, pairs: bool, options: Mapping[str, Any]) -> dict[Names, Found]:
    return _shifted(cross, measure, lambda held, trained, _: 0.368 * trained + 0.632 * held)


def _weighed(cross: CrossAssessment, measure: Measure, pairs: bool, options: Mapping[str, Any]) -> dict[Names, Found]:
    def weigh(held: float, trained: float, model: str) -> float:
        return less_flattered(held, trained, uninformed(cross, model, measure))

    return _shifted(cross, measure, weigh)


def _shifted(cross: CrossAssessment, measure: Measure, mix: Callable[[float, float, str], float]) -> dict[Names, Found]:
    """Out-of-bag intervals, moved to where the value is put."""
    found: dict[Names, Found] = {}
    for model, seen in () if cross.trained is None else cross.trained.assessments.items():
        held, trained = cross[model][measure], seen[measure]
        value = mix(held.value, trained.value, model)
        shift = value - held.value
        found[(model,)] = _within(Found(value, held.low + shift, held.high + shift, held.se), measure, pairs=False)
    return found


def less_flattered(held: float, trained: float, uninformed: float) -> float:
    """The .632+ value, from those of rows held out, of rows fitted to, and without information.

    That of Efron & Tibshirani (1997), (32): what is added to .632 counts no more than being without information does.
    """
    mixed = 0.368 * trained + 0.632 * held
    if not (uninformed - trained) * (held - trained) > 0:
        return mixed
    overfit = min((held - trained) / (uninformed - trained), 1.0)
    lost = overfit * (uninformed - trained)
    return mixed + lost * 0.368 * 0.632 * overfit / (1 - 0.368 * overfit)


def uninformed(cross: CrossAssessment, model: str, measure: Measure) -> float:
    """The value of a measure were classes independent of what the classifier says: every answer beside every truth."""
    whole = next(run.whole for run in cross.runs if run.model == model and run.whole is not None)
    rows = cross.plan.rows
    number = max(1, min(rows, MOST_PAIRS // rows))
    # Of few shifts none is to lay an answer beside its own truth, nor beside one of a class because rows are sorted.
    shifts = ((np.arange(number) + 0.5) * rows / number).astype(np.int64)
    order = np.random.default_rng(0).permutation(rows)
    truth = np.concatenate([np.roll(order, -shift) for shift in shifts])
    answers = whole.some(np.tile(order, number))
    return compared(assembled(cross.base, truth, {model: answers}), cross.by(measure))[model][measure].value


# --- nested ---------------------------------------------------------------------------------------------------


def _nested(cross: CrossAssessment, measure: Measure, pairs: bool, options: Mapping[str, Any]) -> dict[Names, Found]:
    from .nesting import nested

    key = measure.label, options["rounds"]
    if key not in cross.nestings:
        cross.nestings[key] = nested(cross, measure, **options)
    found = cross.nestings[key]
    single = _pooled(cross, measure, pairs, {})
    results = {}
    for names in targets(cross.models, pairs):
        value, factor = found.value(names), found.inflation(names, single[names].se)
        one, se = single[names], factor * single[names].se
        if pairs:
            # By how far pooled intervals reach: that is never nothing, even where two classifiers always agreed.
            low, high = value - factor * (one.value - one.low), value + factor * (one.high - one.value)
            results[names] = Found(value, low, high, se, _p(value, low, high, cross.settings.level))
        else:
            low, high = _widened(cross[names[0]], measure, factor)
            results[names] = Found(value, low + value - one.value, high + value - one.value, se)
    return {names: _within(one, measure, pairs) for names, one in results.items()}


def _p(value: float, low: float, high: float, level: float) -> float:
    """The p-value of no difference, by how far the interval reaches towards it: below 1 - level where it is outside."""
    reach, endless = value - low if value > 0 else high - value, np.array([np.inf])
    with np.errstate(divide="ignore"):  # a plain interval may be a point
        statistic = value * critical_values(level, endless) / reach if value else np.zeros(1)
    return float(p_values(statistic, endless)[0])


def _widened(assessment: Assessment, measure: Measure, factor: float) -> tuple[float, float]:
    """The interval of a measure, on its own scale, had its standard error been so many times as large."""
    part = assessment.by(measure).part(measure.statistic)
    place = part.evaluation.overall(measure)
    results = compute(part.evaluation, part.settings, times=factor)
    return float(results.low[place]), float(results.high[place])


_WAYS: Mapping[str, Way] = {
    POOLED: _pooled,
    CORRECTED: _corrected,
    NESTED: _nested,
    OUT_OF_BAG: _pooled,
    MIXED: _mixed,
    WEIGHED: _weighed,
}

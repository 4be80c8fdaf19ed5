"""Intervals of what cross-validation estimates: the value of a classifier fitted to these rows, on rows to come.

Rows held out are judged by fits that share most of what they saw, so that no simple sum of their scatter is right.
Each way here takes something for granted, and says what.

Nested cross-validation sees how far cross-validation is off by doing it within itself (Bates et al. 2024): each fold in
turn is set aside, and the others are cross-validated. That estimate and the value in the fold that was set aside are
independent given the rows, so that their squared distance, less the variance in the fold, tells how far estimates are
off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import distinct
from ..core.errors import BadOption, FailedFits, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean, refuse_no_count
from ..core.table import Table
from ..data.terminal import watched
from ..inference.estimator import compute
from ..inference.student_t import critical_values, p_values
from ..measures.registry import Measure
from .cross_assessment import assembled, compared
from .fits import Fit, Said, Task, fit_all, stacked
from .splits import MOST_REPEATS, Split, make_plan

if TYPE_CHECKING:
    from ..core.typing import Array, Places
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison
    from .cross_assessment import CrossAssessment


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
class MethodInterval:
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
            intervals = _intervals(cross, measure, method, pairs, options)
        for names, found in intervals.items():
            p = [found.p] if pairs else []
            rows.append((*names, method, found.value, found.low, found.high, found.se, *p, ASSUMES[method]))
    return Table.of_rows((*head, "low", "high", "se", *tail, "assumes"), rows)


def _possible(cross: CrossAssessment, pairs: bool) -> list[str]:
    if cross.plan.kind == "bootstrap":
        return [OUT_OF_BAG] if pairs or cross.trained is None else [OUT_OF_BAG, MIXED, WEIGHED]
    if cross.plan.kind == "leave one out" or len(cross.plan.splits) < 2:
        return [POOLED]
    return [POOLED, CORRECTED, NESTED] if cross.plan.kind == "folds" else [POOLED, CORRECTED]


Names = tuple[str, ...]  # of one classifier, or of two whose difference is meant


def _intervals(
    cross: CrossAssessment, measure: Measure, method: str, pairs: bool, options: Mapping[str, Any]
) -> dict[Names, MethodInterval]:
    if method in (POOLED, OUT_OF_BAG):
        return _pooled(cross, measure, pairs)
    if method in (MIXED, WEIGHED):
        found = _shifted(cross, measure, method)
    else:
        targets: list[Names] = list(combinations(cross.models, 2)) if pairs else [(name,) for name in cross.models]
        if method == CORRECTED:
            found = _corrected(cross, measure, targets)
        else:
            found = _nested(cross, measure, targets, pairs, options)
    low, high = measure.span
    low, high = (low - high, high - low) if pairs else (low, high)
    # No bound lies where no value can be.
    return {names: replace(one, low=max(one.low, low), high=min(one.high, high)) for names, one in found.items()}


def _pooled(cross: CrossAssessment, measure: Measure, pairs: bool) -> dict[Names, MethodInterval]:
    if pairs:
        rows = cross.differences(measure)
        return {(r["a"], r["b"]): MethodInterval(r["difference"], r["low"], r["high"], r["se"], r["p"]) for r in rows}
    estimates = {(name,): cross[name][measure] for name in cross.models}
    return {name: MethodInterval(e.value, e.low, e.high, e.se) for name, e in estimates.items()}


def _corrected(cross: CrossAssessment, measure: Measure, targets: Sequence[Names]) -> dict[Names, MethodInterval]:
    """A t interval over folds, its variance widened by what folds share."""
    values = np.array(cross.folds(measure)["value"]).reshape(len(cross.plan.splits), len(cross.models))
    own = dict(zip(cross.models, values.T, strict=True))
    sizes = np.array([[len(split.test), split.size] for split in cross.plan.splits], dtype=np.float64)
    ratio = float((sizes[:, 0] / sizes[:, 1]).mean())
    found = {}
    for names in targets:
        values = own[names[0]] - own[names[1]] if len(names) > 1 else own[names[0]]
        found[names] = corrected_t(values, ratio, cross.settings.level)
    return found


def corrected_t(values: Array, ratio: float, level: float) -> MethodInterval:
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
    return MethodInterval(mean, mean - reach, mean + reach, se, float(p_values(np.array([statistic]), freedom)[0]))


# --- bootstrap ------------------------------------------------------------------------------------------------


def _shifted(cross: CrossAssessment, measure: Measure, method: str) -> dict[Names, MethodInterval]:
    """Out-of-bag intervals, moved to where the value is put."""
    found: dict[Names, MethodInterval] = {}
    for model, seen in () if cross.trained is None else cross.trained.assessments.items():
        held, trained = cross[model][measure], seen[measure]
        value = 0.368 * trained.value + 0.632 * held.value
        if method == WEIGHED:
            value = less_flattered(held.value, trained.value, uninformed(cross, model, measure))
        shift = value - held.value
        found[(model,)] = MethodInterval(value, held.low + shift, held.high + shift, held.se)
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


def _nested(
    cross: CrossAssessment, measure: Measure, targets: Sequence[Names], pairs: bool, options: Mapping[str, Any]
) -> dict[Names, MethodInterval]:
    key = measure.label, options["rounds"]
    if key not in cross.nestings:
        cross.nestings[key] = nested(cross, measure, **options)
    found, single = cross.nestings[key], _pooled(cross, measure, pairs)
    most = np.sqrt(len(cross.plan.of_repeat(0)))
    results = {}
    for names in targets:
        one, (value, off) = single[names], found[names]
        # How many times as far estimates are off as the standard error of independent rows says.
        factor = float(np.clip(off / one.se, 1.0, most)) if one.se > 0 and not np.isnan(off) else 1.0
        if len(names) > 1:
            # By how far pooled intervals reach: that is never nothing, even where two classifiers always agreed.
            low, high = value - factor * (one.value - one.low), value + factor * (one.high - one.value)
            results[names] = MethodInterval(
                value, low, high, factor * one.se, _p(value, low, high, cross.settings.level)
            )
        else:
            low, high = _widened(cross[names[0]], measure, factor)
            results[names] = MethodInterval(value, low + value - one.value, high + value - one.value, factor * one.se)
    return results


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


# --- cross-validation within cross-validation -----------------------------------------------------------------------


def nested(
    cross: CrossAssessment, measure: Measure, *, rounds: int, n_jobs: int | None, progress: Any
) -> dict[Names, tuple[float, float]]:
    """Cross-validate within cross-validation, with the folds that a result was made with, shuffled anew each time.

    Returns:
        By classifier and by pair of them, the value by cross-validation, freed of the bias of fitting to fewer rows,
        and how far estimates are off; NaN where nothing tells.
    """
    refuse_no_count("rounds", rounds, most=MOST_REPEATS)
    folds = len(cross.plan.of_repeat(0))
    if folds < 3:
        raise BadOption(f"{folds} folds leave nothing to nest", mend="Take three folds at least, better ten")
    base, seed = cross.base, 1 + cross.settings.seed
    if base.group is not None and folds >= (groups := len(distinct(base.group.codes))):
        problem = f"{folds} folds of {groups} groups: within one group nothing tells how groups differ"
        raise BadOption(problem, mend="Take fewer folds than groups, half as many at most")
    plan = make_plan(folds, cross.data.x, base.truth, group=base.group, repeats=rounds, seed=seed)
    dealt = [[split.test for split in plan.of_repeat(repeat)] for repeat in range(rounds)]
    # Fits without one fold, and without two; the latter serve both of them.
    aside = [frozenset(out) for out in [*combinations(range(folds), 1), *combinations(range(folds), 2)]]
    keys, tasks = [], []
    for model, repeat, out in product(cross.rules, range(rounds), aside):
        test = np.concatenate([dealt[repeat][fold] for fold in sorted(out)])
        keys.append((model, repeat, out))
        tasks.append(Task(model, *cross.rules[model], Split(repeat, min(out), None, test, plan.rows), False))
    with watched("fits", progress) as told:
        fits = fit_all(tasks, cross.data, n_jobs, told)
    said = {key: _heard(task, fit) for key, task, fit in zip(keys, tasks, fits, strict=True)}
    return _gathered(cross, measure, dealt, said)


def _heard(task: Task, fit: Fit) -> Said:
    if fit.test is None:
        raise FailedFits(
            f"a fit of {quoted(task.model)} to {task.split.size:,} rows says {fit.failure}",
            mend="Take fewer folds, or another method",
        )
    return fit.test


def _gathered(
    cross: CrossAssessment, measure: Measure, rounds: Sequence[Sequence[Places]], said: Mapping[Any, Said]
) -> dict[Names, tuple[float, float]]:
    settings, models, folds = cross.by(measure), cross.models, range(len(rounds[0]))

    def judged(repeat: int, pairs: Sequence[tuple[int, int]]) -> Comparison:
        """Of each pair, the rows of the second fold by the fit without both; if they are one fold, without that."""
        parts = rounds[repeat]
        together = {
            name: stacked([_of_fold(said[name, repeat, frozenset(pair)], pair, parts) for pair in pairs])
            for name in models
        }
        return compared(assembled(cross.base, np.concatenate([parts[fold] for _, fold in pairs]), together), settings)

    inner, outer, plain = [], [], []
    noise: dict[Names, list[float]] = {}
    for repeat, parts in enumerate(rounds):
        plain.append(_values(judged(repeat, [(fold, fold) for fold in folds]), measure))
        for out in folds:
            inner.append(_values(judged(repeat, [(out, fold) for fold in folds if fold != out]), measure))
            aside = judged(repeat, [(out, out)])
            outer.append(_values(aside, measure))
            for names, variance in _noise(aside, measure).items():
                # A variance that is found around a mean of the same rows is too small by as much.
                noise.setdefault(names, []).append(variance * len(parts[out]) / max(len(parts[out]) - 1, 1))
    found = {}
    for names, variances in noise.items():
        places = [models.index(name) for name in names]
        within, outside, whole = (_of(np.array(values), places) for values in (inner, outer, plain))
        bias = (1 + (len(folds) - 2) / len(folds)) * (within.mean() - whole.mean())
        gaps = np.square(within - outside) - variances
        gaps = gaps[~np.isnan(gaps)]  # what is infinite within and outside has no gap
        square = max(float(gaps.mean()), 0.0) if len(gaps) else np.nan
        found[names] = float(within.mean() - bias), float(np.sqrt(square * (len(folds) - 1) / len(folds)))
    return found


def _of(values: Array, places: Sequence[int]) -> Array:
    """Of values by model, those of one, or the differences of two."""
    return np.asarray(values[:, places[0]] - (values[:, places[1]] if len(places) > 1 else 0.0))


def _of_fold(said: Said, pair: tuple[int, int], parts: Sequence[Places]) -> Said:
    """What a fit says of the second fold of a pair, where it was asked about both in their order."""
    size = len(parts[min(pair)])
    return said.some(slice(0, size) if pair[1] == min(pair) else slice(size, None))


def _values(comparison: Comparison, measure: Measure) -> list[float]:
    return [comparison[name][measure].value for name in comparison.models]


def _noise(comparison: Comparison, measure: Measure) -> dict[Names, float]:
    found: dict[Names, float] = {(name,): comparison[name][measure].se ** 2 for name in comparison.models}
    if len(comparison.models) > 1:
        for row in comparison.differences(measure):
            found[row["a"], row["b"]] = row["se"] ** 2
    return found

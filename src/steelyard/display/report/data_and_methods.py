"""What the numbers rest on: rows, methods, sources and versions, and the call that makes them again."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ...core.errors import quoted
from ...core.estimate import Deviation
from ...core.scale import Continuum
from ...core.text import count, in_percent, rows_in_words, shortened
from ...inference.settings import Settings
from ...inputs.dataset import FREQUENCY
from ...modelling.cross_assessment import CrossAssessment
from ...modelling.splits import HELD_OUT, make_plan
from ...states.statistics import CONFUSION
from .wording import shown

if TYPE_CHECKING:
    from ...core.scale import Scale
    from ...measures.registry import Measure
    from ...results.assessment import Assessment
    from ...results.comparison import Comparison
    from ...results.decisions import Goal

LIBRARIES = ("numpy", "scipy", "pyarrow", "scikit-learn")
MOST_NAMES = 12

# How intervals are made, by how their names begin.
METHODS = {
    "Wilson": "Wilson's score interval of a proportion (Wilson 1927, JASA 22).",
    "Wilson, moved": "Wilson's score interval of the share of errors that a measure goes with, moved to its value.",
    "Wilson, added": "Wilson's score intervals of the shares of hits and of false alarms, put together by squares "
    "(Newcombe 1998, Statistics in Medicine 17).",
    "delta": "The delta method: the standard error from the influence of every row, with two pseudo-rows, on the scale "
    "that suits the span of the measure (Agresti & Coull 1998, American Statistician 52; logit, Fisher's z or log).",
    "noncentral": "Noncentral chi-squared, from the mean squared gap between forecast and frequency.",
    "t": "Student's t with n - 1 degrees of freedom, where n is how many rows there are, or clusters of them.",
    "gamma": "Quantiles of gamma distributions, as sums of rare amounts have (Fay & Feuer 1997, Stat. Med. 16).",
    "Hall's t": "Student's t corrected for skewness (Hall 1992, JRSS B 54).",
    "Fieller": "Those ratios of two scores that a t test would not reject (Fieller 1954, JRSS B 16).",
    "plain": "Textbook interval: the value and its standard error.",
    "bootstrap, BCa": "Bootstrap, bias-corrected and accelerated (Efron 1987, JASA 82).",
    "bootstrap, percentile": "Bootstrap percentiles (Efron 1979, Annals of Statistics 7).",
}
CLUSTERS = (
    "Rows of a cluster are alike: influences are summed within clusters before they are squared, and intervals have at "
    "most one degree of freedom less than there are clusters (Liang & Zeger 1986, Biometrika 73; of AUC: "
    "Obuchowski 1997, Biometrics 53)."
)
DIFFERENCES = (
    "Differences are paired: the same rows were classified by all. Their standard errors come from the difference of "
    "influences, row by row; p-values are adjusted by Holm's method (Holm 1979, Scandinavian Journal of Statistics 6)."
)
RANKINGS = (
    "AUC and its standard error are DeLong's (DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44); bands of curves "
    "come from bootstrap samples, each point for itself."
)
RELIABILITY = (
    "Reliability curves are isotonic regressions (CORP; Dimitriadis, Gneiting & Jordan 2021, PNAS 118); their bands "
    "are where calibrated forecasts would stay. Intercept and slope are those of a logistic regression on the log odds "
    "of forecasts, the intercept where the slope is held at 1 (Cox 1958, Biometrika 45), with robust standard errors."
)
SIMPLEX = "Memberships are scaled to say how right they are, region by region (Sondhauss & Weihs 2001)."
NO_WEIGHTS = "none: every row counts once"
NO_OTHERS = "no sampling weights: a row counts as often as it occurred"
STRIP = "Classes are cut from what was measured; corrections for measurement error follow Mevik (2003)."


def data_of(assessments: Mapping[str, Assessment], result: Assessment | Comparison) -> list[list[str]]:
    """Rows, classes, weights, clusters: pairs of a term and what there is to say."""
    first = next(iter(assessments.values()))
    scale, patterns, classes = first.tally.scale, first.evaluation.patterns, [shown(c) for c in first.classes[:50]]
    more = len(first.classes) - len(classes)
    facts = [] if first.slice is None else [["Part of the data", shown(first.slice)]]
    whole = "" if first.slice is None else " of all parts"  # nobody counted them part by part
    facts += [["Rows", count(first.n)], ["Dropped", f"{rows_in_words(first.dropped)}{whole} with a missing value"]]
    facts.append(["Classes", f"{len(first.classes):,}: {_several(classes + [''] * more)}"])
    facts += [] if scale.event is None else [["Event", shown(scale.event)]]
    if isinstance(scale, Continuum):
        inner = [f"{boundary:g}" for boundary in scale.boundaries if np.isfinite(boundary)]
        facts.append(["Cut at", _several(inner)])
    weights = weighed(first, result)
    facts.append(["Weights", NO_WEIGHTS if weights == "" else weights or NO_OTHERS])
    facts.append(["Clusters", f"{patterns.clusters:,}" if first.tally.groups else "none: rows are independent"])
    settings = first.settings
    resampled = f", {settings.replicates:,} replicates, seed {settings.seed}" if settings.resampled else ""
    facts.append(["Intervals", f"{in_percent(settings.level)}, {settings.method}{resampled}"])
    if isinstance(result, CrossAssessment):
        facts.append(["Held out", result.plan.words])
    return facts


def weighed(assessment: Assessment, result: Assessment | Comparison) -> str | None:
    """What rows weigh; nothing where all count once, and None where that cannot be told from counts."""
    patterns, rows, cases = assessment.evaluation.patterns, assessment.tally.scores, getattr(result, "cases", None)
    if isinstance(result, CrossAssessment):
        return ""  # how often rows were held out is no weight
    if patterns.sampled:
        effective = patterns.mass.sum() ** 2 / patterns.square.sum()
        return f"sampling weights: as much as {effective:,.1f} equal rows"
    if rows is None and cases is None:
        return None
    weight = rows.sums if rows is not None else getattr(cases, "weight", None)
    return "" if weight is None else f"how often rows occurred: {count(float(patterns.mass.sum()))} in all"


def methods_of(content: Mapping[str, Any]) -> list[str]:
    """How the numbers of the page were made."""
    used = {one["method"] for measure in content["measures"] for one in measure["estimates"]}
    known = [text for name, text in METHODS.items() if any(_is(method, name) for method in used)]
    known += [CLUSTERS] if any("clustered" in method for method in used) else []
    known += [DIFFERENCES] if content["differences"] else []
    known += [RANKINGS] if content["operating"] else []
    known += [RELIABILITY] if content["reliability"] else []
    known += [SIMPLEX] if content["simplex"] else []
    return [*known, *([STRIP] if content["strip"] else [])]


def _is(method: str, name: str) -> bool:
    return method.partition(",")[0] == name if name == "t" else method.startswith(name)


def sources_of(content: Mapping[str, Any]) -> list[list[str]]:
    """Where the measures come from: each source once, with what it is the source of."""
    found: dict[str, list[str]] = {}
    for measure in content["measures"]:
        found.setdefault(measure["source"], []).append(measure["title"])
    return [[source, ", ".join(dict.fromkeys(titles))] for source, titles in sorted(found.items()) if source]


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """What computed it."""
    found = [("steelyard", __version__), ("Python", platform.python_version())]
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


# --- the call -----------------------------------------------------------------------------------------------------

MOST_COSTS, LONGEST_CALL = 4, 2_000
GIVEN = "..."  # stands for what was given and is not kept


def call_of(result: Assessment | Comparison, assessments: Mapping[str, Assessment]) -> str:
    """A call of the library that makes the same, where no command is known."""
    names = [quoted(name) for name in assessments]
    table = result.tally.where is not None  # nothing else tells a table from arrays once its rows were let in
    several_models = len(names) > 1 or hasattr(result, "models")
    if isinstance(result, CrossAssessment):
        head = f"cross_assess([{_several(names)}], X, y"
    elif result.tally.made_before:
        named = "" if several_models or len(result.tally.models) == 1 else f", {names[0]}"
        head = "compare_tally(tally" if several_models else f"assess_tally(tally{named}"
    elif several_models:
        pairs = [f"{name}: {GIVEN if table else f'prediction_{place + 1}'}" for place, name in enumerate(names)]
        head = f"compare({'table' if table else 'y_true'}, {{{_several(pairs)}}}"
    elif result.tally.published:
        head = f"assess_table({_counts(next(iter(assessments.values())))}"
    else:
        scored = "assess(y_true, score=scores" if result.tally.given.raw else "assess(y_true, prediction"
        head = "assess(table" if table else scored
    options = _of_settings(result)
    if not result.tally.made_before:  # sums hold the rest
        options = _of_table(result) | _of_classes(result.tally.scale) | _of_rows(result, assessments) | options
    words = [f"{name}={value}" for name, value in options.items()]
    part = "" if result.slice is None else f".slices[{quoted(result.slice)}]"
    return shortened(", ".join([f"steelyard.{head}", *words]) + f"){part}.report(...)", LONGEST_CALL)


def _of_table(result: Assessment | Comparison) -> dict[str, str]:
    """Which columns and rows of a table, where rows were chosen; classifiers have their columns with their names."""
    tally = result.tally
    if tally.where is None:
        return {}
    said = "score" if tally.given.raw else "membership" if tally.given.scored else "assigned"
    own = {} if hasattr(result, "models") else {said: GIVEN}
    return {"truth": GIVEN, **own, "where": quoted(tally.where, LONGEST_CALL)}


def _counts(assessment: Assessment) -> str:
    """A table of counts, if it is not too large to be told."""
    if len(assessment.classes) > MOST_NAMES:
        return GIVEN
    table = assessment.evaluation.patterns.table(assessment.evaluation.model)
    rows = [", ".join(map(_number, row)) for row in table.tolist()]
    return f"[[{'], ['.join(rows)}]]"


def _of_classes(scale: Scale) -> dict[str, str]:
    """The scale, where somebody chose it, and the event."""
    found, classes = {}, _listed(scale.classes)
    if isinstance(scale, Continuum):
        inner = [end for end in scale.boundaries if math.isfinite(end)]
        more = [] if scale.named_after_intervals else [f"classes={classes}"]
        more += [f"sd={_number(scale.sd)}"] if _is_number(scale.sd) else []
        more += [] if scale.closed == "left" else [f"closed={scale.closed!r}"]
        found["scale"] = f"steelyard.Continuum({', '.join([_listed(inner), *more])})"
    elif scale.ordered and scale.classes != (0, 1):  # which have their order in themselves
        found["scale"] = f"steelyard.Scale({classes})"
    return found if scale.event is None else {**found, "event": quoted(scale.event)}


def _of_rows(result: Assessment | Comparison, assessments: Mapping[str, Assessment]) -> dict[str, str]:
    """What was given for the rows: of columns only that they were."""
    tally, crossed = result.tally, isinstance(result, CrossAssessment)
    known = (None if crossed else tally.given.measured) or frozenset()
    first = next(iter(assessments.values()))
    here = {
        "weight": weighed(first, result) not in (None, ""),
        "groups" if crossed else "group": bool(tally.groups),
        "by": bool(tally.slices),
        "sd": "sd" in known and not _is_number(getattr(tally.scale, "sd", None)),
        "sd_response": "sd_response" in known,
        "response": "response" in known,
        "training": not crossed and any(each.training is not None for each in assessments.values()),
    }
    found = {name: GIVEN for name, given in here.items() if given}
    if "weight" in found and tally.remarks.get(FREQUENCY):
        found = {"weight": GIVEN, "weight_kind": "'frequency'", **found}
    found |= {"missing": "'drop'"} if tally.dropped else {}
    return found | (_of_folds(result) if isinstance(result, CrossAssessment) else _threshold(assessments))


def _threshold(assessments: Mapping[str, Assessment]) -> dict[str, str]:
    """How rows were assigned, where not by the usual rule."""
    for each in assessments.values():
        if each.decision is not None:
            return {"threshold": _goal(each.decision.goal)}
    return {} if all(map(_is_usual, assessments.values())) else {"threshold": GIVEN}


def _goal(goal: Goal) -> str:
    """What a threshold was chosen for, as users write it."""
    if goal.measure.name == "cost":
        return "'cost'"
    way = "max" if goal.measure.better == "higher" else "min"
    where = f" where {' and '.join(map(str, goal.limits))}" if goal.limits else ""
    return quoted(f"{way} {goal.measure.label}{where}", 200)


def _is_usual(assessment: Assessment) -> bool:
    """Whether classes have as many rows as the usual rule assigns to them: from one half on, or the likeliest."""
    rows, scale = assessment.tally.scores, assessment.tally.scale
    if rows is None or not assessment.has_scores or not assessment.settings.made_of(CONFUSION):
        return True
    if assessment.slice is not None:
        return True  # the rows at hand are not all its own
    if not assessment.has_probabilities:
        return False
    codes = rows.scores[assessment.tally.models.index(assessment.model)].likeliest(scale.event_code)
    mass = None if rows.sums is None else rows.sums[:, 1]
    return np.allclose(np.bincount(codes, mass, len(scale)), assessment.evaluation.margins.assigned)


def _of_folds(result: CrossAssessment) -> dict[str, str]:
    """How rows were held out."""
    plan, folds = result.plan, len(result.plan.of_repeat(0))
    known = {"leave one out": "'loo'", "bootstrap": f"steelyard.Bootstrap({folds})", "folds": f"{folds}"}
    found = {"cv": known.get(plan.kind, GIVEN)}
    if plan.words.startswith("one group"):
        found["cv"] = "'loo'"
    elif plan.kind == "hold out" and f"{HELD_OUT:.0%}" in plan.words:
        found["cv"] = "'hold-out'"
    elif plan.kind == "folds" and plan.repeats == 1 and result.settings.seed == 0:
        # Without a seed rows stay in their order; with the seed 0 they do not, and nothing else tells which it was.
        plain = make_plan(folds, result.data.x, result.base.truth, group=result.base.group)
        pairs = zip(plain.splits, plan.splits, strict=True)
        found |= {} if all(np.array_equal(a.test, b.test) for a, b in pairs) else {"seed": "0"}
    return found | ({"repeats": f"{plan.repeats}"} if plan.repeats > 1 else {})


def _of_settings(result: Assessment | Comparison) -> dict[str, str]:
    """Costs, measures and intervals, where they are not the usual ones."""
    settings, found = result.settings, {}
    for measure in settings.measures:
        if measure.name == "cost":
            found["cost"] = _costs(measure, result.tally.scale)
    if not settings.everything:
        found["measures"] = f"{[entry.label for entry in settings.measures]!r}"
    for name in ("level", "method", "replicates", "seed", "undefined", "least"):
        value = getattr(settings, name)
        if value != getattr(Settings, name) and value == value:  # noqa: PLR0124  (undefined values stay so)
            found[name] = repr(value)
    return found


def _costs(measure: Measure, scale: Scale) -> str:
    """Costs by class, of few classes."""
    matrix = measure.matrix(scale)
    if matrix is None or len(scale) > MOST_COSTS:
        return GIVEN
    rows = []
    for true, costs in zip(scale.classes, matrix.tolist(), strict=True):
        cells = [f"{quoted(label)}: {_number(cost)}" for label, cost in zip(scale.classes, costs, strict=True)]
        rows.append(f"{quoted(true)}: {{{', '.join(cells)}}}")
    return f"{{{', '.join(rows)}}}"


def _listed(values: Sequence[Any]) -> str:
    """Some of many labels or numbers, as a list."""
    words = [_number(value) if isinstance(value, float) else quoted(value) for value in values]
    return f"[{_several(words)}]"


def _is_number(value: Any) -> bool:
    """Whether a deviation is one number, which is known."""
    return isinstance(value, int | float | np.number) and not isinstance(value, Deviation)


def _several(words: Sequence[str]) -> str:
    """Some of many words, and how many more there are."""
    rest = len(words) - MOST_NAMES
    return ", ".join(words[:MOST_NAMES]) + (f" and {rest:,} more" if rest > 0 else "")


def _number(value: Any) -> str:
    """A number with all its digits, and none that it does not have."""
    return repr(float(value)).removesuffix(".0")

"""What the numbers rest on: rows, methods, sources and versions, and how to get the numbers again."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ...core.scale import Continuum
from ...core.text import count, in_percent, rows_in_words
from ...modelling.cross_assessment import CrossAssessment
from .wording import several, shown

if TYPE_CHECKING:
    from ...results.assessment import Assessment
    from ...results.comparison import Comparison

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
    facts.append(["Classes", f"{len(first.classes):,}: {several(classes + [''] * more, MOST_NAMES)}"])
    facts += [] if scale.event is None else [["Event", shown(scale.event)]]
    if isinstance(scale, Continuum):
        inner = [f"{boundary:g}" for boundary in scale.boundaries if np.isfinite(boundary)]
        facts.append(["Cut at", several(inner, MOST_NAMES)])
    weights = weighed(first, result)
    facts.append(["Weights", NO_WEIGHTS if weights == "" else weights or NO_OTHERS])
    facts.append(["Clusters", f"{patterns.clusters:,}" if first.tally.groups else "none: rows are independent"])
    facts.append(["Intervals", f"{in_percent(first.settings.level)}, {_method(first)}"])
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


def _method(assessment: Assessment) -> str:
    """How intervals were asked for."""
    settings = assessment.settings
    if not settings.resampled:
        return settings.method
    return f"{settings.method}, {settings.replicates:,} replicates, seed {settings.seed}"


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

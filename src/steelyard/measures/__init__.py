"""The measures: their formulas, one file a family, and how to find one by name.

Names come in, and declarations with formula, direction, range and citation go out. This room knows no data and no
interval. Importing it enters all formulas into the registry.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ..core.columns import things_in
from ..core.errors import UnknownMeasure, quoted
from ..core.scale import listed
from ..core.suggestions import nearest
from ..states.statistics import CONFUSION
from . import continuum as continuum
from . import counts as counts
from . import partition as partition
from . import ranking as ranking
from . import scores as scores
from .registry import ALIASES, AVERAGES, REGISTRY, WITH_CLASS, Measure, as_alias

WRITTEN = "Give parameters by name, and text in quotes: fbeta(beta=0.5), weighted_kappa(weights='quadratic')"
NAMED = r"[^\W\d]\w*(?:(?:-|\s+)\w+)*"  # a name in a condition, which may have blanks in it: type I error
# What other tools call measures, and where it is here.
ELSEWHERE = {
    **dict.fromkeys(
        ("calibration_slope", "calibration_intercept", "calibration_in_the_large", "observed_expected", "oe_ratio"),
        "assessment.calibration_line() and `steelyard calibration` have it",
    ),
    **dict.fromkeys(("decision_curve", "dca"), "assessment.decision_curve() has the net benefit at every threshold"),
    **dict.fromkeys(
        ("nri", "net_reclassification_improvement", "net_reclassification_index"),
        "What reclassified rows are worth is in the difference of 'net_benefit(at=0.2)', at the threshold that counts",
    ),
    **dict.fromkeys(("idi", "integrated_discrimination_improvement"), "Compare 'brier', 'log_score' or 'skill'"),
    **dict.fromkeys(("agreement", "percent_agreement"), "Say 'accuracy'"),
    "somers_d": "Of two classes it is 2 AUC - 1: say 'gini'",
    **dict.fromkeys(("c_index", "concordance"), "Say 'auc'"),
    **dict.fromkeys(
        ("ks", "ks_statistic", "kolmogorov_smirnov"),
        "It is the highest informedness of all thresholds: say 'informedness', and threshold best:informedness",
    ),
    **dict.fromkeys(("lift", "gain"), "assessment.curve('lift') and curve('gain') have it"),
    **dict.fromkeys(("quadratic_kappa", "quadratic_weighted_kappa"), "Say \"weighted_kappa(weights='quadratic')\""),
    **dict.fromkeys(("f2", "f0.5"), "Say 'fbeta(beta=2)' or 'fbeta(beta=0.5)'"),
    **dict.fromkeys(("fdr", "false_discovery_rate"), "It is 1 - precision: say 'precision'"),
    **dict.fromkeys(("ber", "balanced_error", "balanced_error_rate"), "It is 1 - balanced_accuracy: say that"),
    **dict.fromkeys(("csi", "critical_success_index", "threat_score"), "Say 'jaccard'"),
    **dict.fromkeys(
        ("false_alarm_rate", "false_alarm_ratio"),
        "Of the rows of other classes it is 'fpr', of the rows assigned to the class 1 - 'precision'",
    ),
    "for": "Say 'false_omission_rate'",
    **dict.fromkeys(
        ("ece", "expected_calibration_error", "expected_calibration"),
        "The ECE of other libraries is a mean absolute gap in bins of equal width, and is not computed yet. "
        "'calibration_error' is another number: the root mean square gap, debiased",
    ),
    **dict.fromkeys(
        ("mce", "maximum_calibration_error", "max_calibration_error", "ace", "adaptive_calibration_error"),
        "It is not computed. 'calibration_error' is another number: the root mean square gap, debiased",
    ),
    **dict.fromkeys(("markedness", "delta_p"), "It is precision + npv - 1: say 'precision' and 'npv'"),
    **dict.fromkeys(("zero_one_loss", "0-1_loss"), "Say 'error'"),
    "training_error": "It is 'error' of the rows that the classifier was fitted to: give these as training=",
    **dict.fromkeys(("bss", "brier_skill_score"), "Say 'skill'"),
}
# Names that more than one measure could be meant by. No hint offers them: each has an opposite.
SEVERAL = {
    **dict.fromkeys(("type_error", "error_type"), "The type I error is 'fpr', the type II error is 'fnr'"),
    **dict.fromkeys(("lr", "likelihood_ratio"), "The positive one is 'lr_positive', the negative one 'lr_negative'"),
    **dict.fromkeys(("pv", "predictive_value"), "The positive one is 'precision', the negative one 'npv'"),
    "true_error_count": "It lies between 'true_error_low' and 'true_error_high'; 'guarded_error' estimates it",
    "bayes_error": "It is estimated by 'minimal_error', and by 'model_minimal_error' under a response model",
}


def all_measures() -> Mapping[str, Measure]:
    """All measures by name, in the order in which they are shown."""
    return MappingProxyType(REGISTRY)


def find(name: str | Measure, **parameters: Any) -> Measure:
    """Return a measure by its name or another name that people use for it.

    ``CR 1`` is that of one class, here precision: results find the class by its name, or else by its place.
    """
    if isinstance(name, Measure):
        return name.with_parameters(**parameters) if parameters else name
    text, in_text = _parse(name)
    key = _resolved(text)
    if key is None and (found := of_class(text)):
        return replace(REGISTRY[found.measure], asked=(text,)).with_parameters(**in_text, **parameters)
    if key is None:
        raise _unknown(text)
    entry = REGISTRY[_known(key)]
    if key in entry.cautions:
        entry = replace(entry, asked=(key,))
    given = {**in_text, **parameters}
    return entry.with_parameters(**given) if given else entry


class OfClass(NamedTuple):
    """A name with a class behind it, "CR 1": the measure that it means, and the class as it was written."""

    measure: str
    label: str


def of_class(name: object) -> OfClass | None:
    """Take such a name apart, which may be written CR_1 and CR1 where the class is a number; None for all others."""
    if not isinstance(name, str) or name in REGISTRY:
        return None
    found = _names_with_class(tuple(WITH_CLASS)).fullmatch(name)
    if found is None or _resolved(found.string) is not None:
        return None
    return OfClass(WITH_CLASS[as_alias(found["name"])], found["label"] or found["number"])


@lru_cache(maxsize=8)
def _names_with_class(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of names with a class behind them; it is looked for at every lookup."""
    written = "|".join(name.replace("_", "[ _]") for name in names)
    return re.compile(rf"\s*(?P<name>{written})(?:\s+(?P<label>.*\S)|_?(?P<number>[0-9]+))\s*", re.IGNORECASE)


def means_a_class(name: object) -> str | None:
    """Return the measure that a name means where a class stands beside it: precision for CR of a class."""
    return WITH_CLASS.get(as_alias(name)) if isinstance(name, str) and name not in REGISTRY else None


def refuse_of_class(name: object) -> None:
    """Raise the error for a name with a class behind it, where the value that is judged has its class already."""
    if found := of_class(name):
        raise UnknownMeasure(
            f"{quoted(str(name).strip())} is {found.measure} of one class, and the overall value is judged here",
            mend=f"Say '{found.measure}', and name that class as event=",
        )


def _resolved(text: str) -> str | None:
    """Return the name or alias that a text stands for; however it is spelled, if it differs only in signs."""
    for spelling in _spellings(text):
        if spelling in REGISTRY or spelling in ALIASES:
            return spelling
        if spelling in SEVERAL:  # LR is not LR- without its sign
            return None
    squeezed = {_squeezed(name): name for name in (*REGISTRY, *ALIASES)}
    return squeezed.get(_squeezed(text))


def _unknown(text: str) -> UnknownMeasure:
    """Return the error for a name that no measure has, with the name to use instead where there is one."""
    listed = "`steelyard measures` lists them all"
    elsewhere = {"all": f"Name none for all that suit the data; {listed}", **ELSEWHERE, **SEVERAL}
    known = next((elsewhere[each] for each in _spellings(text) if each in elsewhere), None)
    known = known or {_squeezed(name): mend for name, mend in elsewhere.items()}.get(_squeezed(text)) or _average(text)
    if known is None:
        near = nearest(text, [*REGISTRY, *ALIASES, *ELSEWHERE])
        known = listed if near is None else f"Did you mean {quoted(near)}? {ELSEWHERE.get(str(near), '')}".rstrip()
    return UnknownMeasure(f"there is no measure {quoted(text)}", mend=known)


def _average(text: str) -> str | None:
    """Where an average over classes is, for whoever asks for it as for a measure of its own: f1_macro, f1[macro]."""
    words = re.findall("[a-z0-9]+", text.lower())
    name = "_".join(word for word in words if word not in AVERAGES)
    asked, measure = [word for word in words if word in AVERAGES], REGISTRY.get(_known(name))
    if len(asked) != 1 or measure is None or not measure.per_class:
        return None
    if asked[0] == "micro" and measure.statistic is not CONFUSION:
        return None
    where = f"result['{name}', '{asked[0]}'] in Python, {name}[{asked[0]}] in --require, and a row of --csv and --json"
    return f"Say '{name}', and the average is there: {where}"


def _known(name: str) -> str:
    return ALIASES.get(name, name)


def _squeezed(name: str) -> str:
    """Return the letters and digits of a name alone."""
    return re.sub("[^a-z0-9.+]", "", name.lower())


def _spellings(text: str) -> tuple[str, ...]:
    """A name as it is written, as it would be written here, and without what scikit-learn puts behind it."""
    plain = text.lower().replace(" ", "_").replace("-", "_")
    return text, text.lower(), plain, plain.removesuffix("_score"), plain.removesuffix("_loss")


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """Read "fbeta(beta=0.5)" as a name and its parameters, without running anything."""
    if not isinstance(text, str):
        raise UnknownMeasure(f"{quoted(text)} is no name of a measure", mend="Give its name as text")
    name, bracket, _ = text.partition("(")
    if not bracket:
        return text.strip(), {}
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Call) and not call.args:
            return name.strip(), {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    raise UnknownMeasure(f"{quoted(text)} cannot be read", mend=WRITTEN)


def listed_names(names: Iterable[str | Measure] | str | Measure) -> list[str | Measure]:
    """One name or several as a list."""
    if isinstance(names, str | Measure):
        return [names]
    found = things_in(names)
    if found is None:
        raise UnknownMeasure(f"{quoted(names)} names no measures", mend="Give a list of names")
    return found


def lacking(entry: Measure) -> str:
    """What to do about a measure that cannot be computed without further input."""
    need = entry.needs[0]
    return "Give cost={true: {assigned: cost}}" if need == "costs" else f"Write {entry.name}({need}=...)"


def choose(names: Iterable[str | Measure] | None) -> tuple[Measure, ...]:
    """The measures that were asked for, or all that need no further input and serve no special purpose."""
    if names is None:
        return tuple(entry for entry in all_measures().values() if not entry.needs and not entry.special)
    entries: dict[str, Measure] = {}
    for entry in map(find, listed_names(names)):
        if entry.needs:
            raise UnknownMeasure(f"{entry.name} needs {listed(entry.needs)}", mend=lacking(entry))
        if not entry.agrees_with(entries.setdefault(entry.label, entry)):
            raise UnknownMeasure(f"two measures are called {entry.label}", mend="Assess them one after the other")
        if entry.asked:
            asked = (*entries[entry.label].asked, *entry.asked)
            entries[entry.label] = replace(entry, asked=tuple(dict.fromkeys(asked)))
    return tuple(entries.values())

"""Conditions that a result must meet, as users write them: ``lda.sensitivity[yes].low >= 0.8``."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .assessment import Assessment
from .errors import SteelyardError, UnknownLabel, quoted

OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}

FORM = re.compile(
    r"\s*(?P<measure>\w+\s*(?:\([^()]*\))?)\s*(?:\[(?P<part>.*)\])?\s*(?:\.(?P<bound>value|low|high))?\s*"
    r"(?P<operator>>=|<=|>|<)\s*(?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*"
)


class BadRequirement(SteelyardError):
    """A condition that cannot be read."""


@dataclass(frozen=True)
class Verdict:
    """Whether a condition held, and on what value."""

    text: str
    value: float
    held: bool


def judge(text: str, assessments: Mapping[str, Assessment]) -> Verdict:
    """Hold a condition against the results; an undefined value meets no condition.

    The value itself is judged, or a bound of its interval where ``.low`` or ``.high`` says so. With several
    classifiers, the condition starts with the name of one.
    """
    model, condition = _split_model(text, assessments)
    found = FORM.fullmatch(condition)
    if found is None:
        raise BadRequirement(
            f"the condition {quoted(text)} cannot be read",
            mend="Write it like 'sensitivity[yes] >= 0.8', 'kappa.low > 0.6' or 'lda.error < 0.1'",
        )
    assessment = assessments[model]
    part = found["part"]
    estimate = assessment[found["measure"].strip(), None if part is None else _part(part.strip(), assessment)]
    value = {"low": estimate.low, "high": estimate.high}.get(found["bound"], estimate.value)
    return Verdict(text.strip(), value, bool(OPERATORS[found["operator"]](value, float(found["number"]))))


def _split_model(text: str, assessments: Mapping[str, Assessment]) -> tuple[str, str]:
    if len(assessments) == 1:
        return next(iter(assessments)), text
    named = [name for name in assessments if text.strip().startswith(f"{name}.")]
    if not named:
        raise BadRequirement(
            f"the condition {quoted(text)} does not say which classifier",
            mend=f"Begin it with one of {', '.join(quoted(name) for name in assessments)} and a full stop",
        )
    model = max(named, key=len)
    return model, text.strip()[len(model) + 1 :]


def _part(text: str, assessment: Assessment) -> object:
    """Find the class that was written, whatever kind of label it is; averages go by their names."""
    by_text = {str(label): label for label in assessment.classes}
    if text in by_text:
        return by_text[text]
    if text in ("macro", "weighted", "micro"):
        return text
    raise UnknownLabel(f"{quoted(text)} is not one of the classes", mend=f"There are {', '.join(by_text)}")

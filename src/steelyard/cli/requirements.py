"""Conditions that a result must meet, as users write them: ``lda.sensitivity[yes].low >= 0.8``.

Or of a difference: ``(new - old).error.high < 0.02``; of all rows, or ``in every part`` of them.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from ..core.errors import SteelyardError, UnknownLabel, UnknownMeasure, quoted
from ..core.scale import Label, label_among, listed
from ..core.suggestions import did_you_mean
from ..core.text import number
from ..display.listing import span_text
from ..measures import NAMED, find, means_a_class
from ..measures.registry import AVERAGES, Measure
from ..results.assessment import Assessment
from ..results.comparison import Comparison
from .parsing import label_or_word

ROUNDING = 1e-12  # as in conditions on thresholds: a mean of shares is not exactly the decimal number that it is

BOUNDS = ("value", "low", "high")

OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}

FORM = re.compile(
    rf"\s*(?P<measure>{NAMED}\s*(?:\([^()]*\))?)\s*(?:\[(?P<part>.*)\])?\s*(?:\.(?P<bound>value|low|high))?\s*"
    r"(?P<operator>>=|<=|>|<)\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:\s+in\s+(?P<rows>.*\S))?\s*",
    re.DOTALL,
)
EVERY = "every part"


class BadRequirement(SteelyardError):
    """A condition that cannot be read."""


@dataclass(frozen=True)
class RequirementResult:
    """Whether a condition held, on what value, and why there is none where there is none.

    Of every part of the data, the value is that of the part which is the furthest from holding.
    """

    text: str
    value: float
    held: bool
    note: str = ""
    part: Label | None = None
    limit: float = math.nan
    meaning: str = ""

    @property
    def found(self) -> str:
        """What was found, in words, with as many digits as it takes to see on which side of the limit that is."""
        undefined = f"undefined: {self.note}" if self.note else "undefined"
        words = undefined if math.isnan(self.value) else number(self.value, 4)
        for digits in range(4, 18) if math.isfinite(self.value) else ():
            if _side(float(words.replace(",", "")), self.limit) == _side(self.value, self.limit):
                break
            words = f"{self.value:.{digits}g}"
        words = words if self.part is None else f"{words} in {self.part}"
        return f"{words}; {self.meaning}" if self.meaning else words


@dataclass(frozen=True)
class Requirement:
    """A condition that has been read.

    Attributes:
        text: As it was written.
        model: The classifier whose measure is judged.
        other: The classifier whose measure is taken off, where a difference is judged.
        measure: The measure.
        part: The class or average, as it was written.
        bound: The bound of the interval, where not the value is judged.
        holds: How value and limit must compare.
        limit: The limit.
        rows: The part of the data, as it was written; or every part.
    """

    text: str
    model: str
    other: str | None
    measure: str
    part: str | None
    bound: str | None
    holds: Callable[[float, float], bool]
    limit: float
    rows: str | None = None

    def judge(self, result: Assessment | Comparison) -> RequirementResult:
        """Hold it against the results; an undefined value meets no condition."""
        if self.rows is None:
            return self._judge(result)
        slices: Mapping[Label, Assessment | Comparison] = result.slices
        if self.rows != EVERY or EVERY in slices:
            return self._judge(slices[label_or_word(list(slices), self.rows)])
        found = [replace(self._judge(part), part=label) for label, part in slices.items()]
        return min(found, key=lambda verdict: self._to_spare(verdict.value))

    def _to_spare(self, value: float) -> float:
        """How far a value is on the right side of the limit."""
        if math.isnan(value):
            return -math.inf
        return self.limit - value if self.holds(self.limit - 1, self.limit) else value - self.limit

    def _judge(self, result: Assessment | Comparison) -> RequirementResult:
        assessments = {result.model: result} if isinstance(result, Assessment) else result.assessments
        for model in filter(None, (self.model, self.other)):
            if model not in assessments:  # fits of it failed, and the others went on
                return RequirementResult(self.text, math.nan, held=False, note=f"{quoted(model)} could not be fitted")
        assessment = assessments[self.model]
        # A class that stands behind CR may be named by its place.
        read = self.part is not None and means_a_class(self.measure) is None
        name, part, meaning = assessment.meant(self.measure, _part(str(self.part), assessment) if read else self.part)
        try:
            estimate = assessment[name, part]
        except UnknownMeasure as error:
            if "was not asked for" not in error.problem:
                raise
            named = ",".join([*[entry.label for entry in assessment.settings.measures], name])
            raise error.mended(f"Name it too: --measures '{named}'") from None
        found, note = {name: getattr(estimate, name) for name in BOUNDS}, estimate.note
        if self.other is not None and isinstance(result, Comparison):
            found, note = self._difference(result, name, part)
        value = found[self.bound or "value"]
        held = bool(self.holds(_side(value, self.limit), 0))
        return RequirementResult(self.text, value, held, note, limit=self.limit, meaning=meaning)

    def _difference(self, comparison: Comparison, name: str, part: object) -> tuple[dict[str, float], str]:
        """The difference between both classifiers, the way round that was written, its bounds, and why it has none."""
        table = comparison.differences(name, by_class=part is not None)
        pair = {self.model, self.other}
        # The overall value is the event's where there is an event, and its row bears the name of that class.
        of_part = [row for row in table.to_pylist() if part is None or row["class"] == part]
        rows = [row for row in of_part if {row["a"], row["b"]} == pair]
        if not rows:
            raise BadRequirement(
                f"the condition {quoted(self.text)} is on the difference of an average",
                mend="Leave the average out, or name a class: of others there are no differences",
            )
        row = rows[0]
        # What rows of probability 0 make infinite is decided by them alone, and meets no condition.
        value = math.nan if row["note"] else row["difference"]
        low, high = row["low"], row["high"]
        bounds = (value, low, high) if row["a"] == self.model else (-value, -high, -low)
        return dict(zip(BOUNDS, bounds, strict=True)), row["note"]


def _side(value: float, limit: float) -> float:
    """On which side of a limit a value lies: -1, 1, or 0 where rounding alone tells it from the limit."""
    if math.isclose(value, limit, rel_tol=ROUNDING, abs_tol=ROUNDING):
        return 0.0
    return math.copysign(1.0, value - limit) if not math.isnan(value) else math.nan


def read_requirement(text: str, models: Sequence[str], divided: bool = False) -> Requirement:
    """Read a condition.

    The value itself is judged, or a bound of its interval where ``.low`` or ``.high`` says so. With several
    classifiers, the condition starts with the name of one, or with the difference of two in brackets. Where the data
    are divided, it may end with the name of a part, or ``in every part``.
    """
    model, other, condition = _split_model(text, models)
    found = FORM.fullmatch(condition)
    if found is None:
        several = "; one classifier goes without its name"
        if len(models) > 1:
            several = f" or '{models[0]}.error < 0.1' or '({models[1]} - {models[0]}).error.high < 0.02'"
        raise BadRequirement(
            f"the condition {quoted(text)} cannot be read",
            mend=f"Write it like 'sensitivity[yes] >= 0.8', 'kappa.low > 0.6'{several}",
        )
    if found["rows"] is not None and not divided:
        raise BadRequirement(
            f"the condition {quoted(text)} is on parts of the data, and there are none",
            mend="Divide them with --by, which assess, compare and tally take, or end with the number",
        )
    part = None if found["part"] is None else found["part"].strip()
    name, limit = found["measure"].strip(), float(found["number"])
    _refuse_beyond(find(name), limit, text, other is not None)  # before anything is computed, as an unknown measure is
    holds = OPERATORS[found["operator"]]
    return Requirement(text.strip(), model, other, name, part, found["bound"], holds, limit, found["rows"])


def _refuse_beyond(measure: Measure, limit: float, text: str, of_difference: bool) -> None:
    """A limit that no value can be beyond would hold, or fail, for ever: most such are per cent."""
    (low, high), size = measure.span, limit
    spans = f"{measure.label} spans {span_text(measure)}"
    if of_difference:
        low, high, size = low - high, high - low, abs(limit)  # less by 5 % is -5
        spans = f"Differences in {measure.label} are from {low:g} to {high:g}"
    if not low <= limit <= high:
        meant = f"; did you mean {limit / 100:g}?" if high < size <= 100 * high else ""
        raise BadRequirement(f"the condition {quoted(text)} holds always or never", mend=f"{spans}{meant}")


def _split_model(text: str, models: Sequence[str]) -> tuple[str, str | None, str]:
    """The classifier that a condition is about, the one that is taken off it, if any, and the rest."""
    text = text.strip()
    if len(models) == 1:
        return models[0], None, text.removeprefix(f"{models[0]}.")
    longest_first = sorted(models, key=len, reverse=True)  # a longer name may begin with another
    for name in longest_first:
        if text.startswith(f"{name}."):
            return name, None, text[len(name) + 1 :]
    for one, other in permutations(longest_first, 2):
        form = rf"\(\s*{re.escape(one)}\s*-\s*{re.escape(other)}\s*\)\s*\.\s*(.*)"
        if found := re.fullmatch(form, text, re.DOTALL):
            return one, other, found[1]
    meant = (
        f"Begin it with one of {', '.join(quoted(name) for name in models)} and a full stop, or with their "
        f"difference, as '({models[1]} - {models[0]}).'"
    )
    raise BadRequirement(
        f"the condition {quoted(text)} does not say which classifier",
        mend=meant if text.startswith("(") else did_you_mean(text.partition(".")[0].strip(), models, meant),
    )


def _part(text: str, assessment: Assessment) -> object:
    """Find the class that was written, whatever kind of label it is; averages go by their names."""
    label = label_among(assessment.classes, text)
    if label is not None:
        return label
    if text in AVERAGES:
        return text
    mend = did_you_mean(text, [*map(str, assessment.classes), *AVERAGES], f"There are {listed(assessment.classes)}")
    raise UnknownLabel(f"{quoted(text)} is not one of the classes", mend=mend)

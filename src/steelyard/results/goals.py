"""What a threshold is chosen for: the best value of a measure, under conditions, as users write it."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.columns import as_number
from ..core.errors import BadOption, quoted
from ..measures import NAMED, find, lacking, refuse_of_class
from ..measures.registry import Measure
from ..states.statistics import CONFUSION, CONTINUUM
from .threshold_tables import ThresholdTables

if TYPE_CHECKING:
    from ..core.typing import Array, Marks

LIMIT = re.compile(
    rf"\s*(?P<measure>{NAMED}\s*(?:\([^()]*\))?)\s*(?P<sign>>=|<=)\s*"
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
ALL_DIGITS = ".15g"  # 0.9999999 is not 1


class Limit(NamedTuple):
    """A condition on what a threshold achieves: sensitivity >= 0.8."""

    measure: Measure
    at_least: bool
    bound: float

    @classmethod
    def read(cls, text: str | Limit, known: Sequence[Measure] = ()) -> Limit:
        """Read a condition as users write it; one that was read already is as it is, and so are costs ``known``."""
        if isinstance(text, Limit):
            return text
        found = LIMIT.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            several = [part.strip() for part in text.split(" and ")] if isinstance(text, str) else []
            mend = f"Give several in a list: {several}" if len(several) > 1 else "Write it like 'sensitivity >= 0.8'"
            raise BadOption(f"the condition {quoted(text)} cannot be read", mend=mend)
        return cls(counted(found["measure"], known), found["sign"] == ">=", float(found["number"]))

    def met(self, values: Array) -> Marks:
        """Where it is met; an undefined value meets nothing."""
        compare = operator.ge if self.at_least else operator.le
        # A share of rows is not exactly a decimal number: 0.8 of 10 is met by 8.
        slack = 1e-12 * (1 if not self.at_least else -1)
        return np.asarray(compare(values, self.bound + slack))

    def __str__(self) -> str:
        """As it was written."""
        return f"{self.measure.label} {'>=' if self.at_least else '<='} {self.bound:{ALL_DIGITS}}"


def counted(name: str | Measure, known: Sequence[Measure] = ()) -> Measure:
    """A measure that is made of counts: these can be had at every threshold at once.

    Costs, and whatever else it needs, are those of the one of its name that is known, where nobody says others.
    """
    refuse_of_class(name)
    entry = find(name)
    same = [other for other in known if other.name == entry.name]
    if entry.needs and len(same) == 1:
        entry = same[0]
    if entry.statistic is not CONFUSION:
        if "at" in entry.parameters:
            raise BadOption(f"{entry.label} has a threshold of its own", mend="Say decision_curve() for all of them")
        why = "is made of measured values" if entry.statistic is CONTINUUM else "is the same at every threshold"
        raise BadOption(f"{entry.label} {why}", mend="Name a measure of counts, such as f1")
    if entry.needs:
        raise BadOption(f"{entry.label} needs {', '.join(entry.needs)}", mend=lacking(entry))
    return entry


def refuse_no_share(**options: Any) -> None:
    """Options that are shares lie between 0 and 1, where they are given."""
    for name, value in options.items():
        if value is not None and not 0 < as_number(value) < 1:
            raise BadOption(f"{name} is {quoted(value)}", mend="It lies between 0 and 1")


def conditions(where: Any) -> list[Any]:
    """What must hold: one condition, or several."""
    return list(where) if isinstance(where, Iterable) and not isinstance(where, str) else [where]


class WrittenGoal(NamedTuple):
    """A goal in one line of text: what is to be best, what must hold, and which way is better where that is said."""

    measure: str
    where: list[str]
    way: str | None

    @classmethod
    def of(cls, text: str) -> WrittenGoal | None:
        """Take it apart; None where it is no such line."""
        plain = text.strip()
        if plain.startswith("best:"):
            return cls(plain.removeprefix("best:"), [], None)
        found = re.fullmatch(r"(?P<way>max|min)\s+(?P<measure>.+?)(?:\s+where\s+(?P<limits>.+))?", plain)
        if found is None:
            return None
        return cls(found["measure"], found["limits"].split(" and ") if found["limits"] else [], found["way"])


@dataclass(frozen=True)
class Goal:
    """What a threshold is chosen for: the best value of a measure, under conditions.

    Attributes:
        measure: What is to be best.
        limits: What must hold.
        prevalence: The share of the event where the threshold will be used; that of the rows if not given.
        guarantee: The probability with which the conditions must hold for all rows to come; None to hold them against
            the rows at hand.
    """

    measure: Measure
    limits: tuple[Limit, ...] = ()
    prevalence: float | None = None
    guarantee: float | None = None

    @classmethod
    def of(
        cls,
        measure: str | Measure,
        where: Any = (),
        prevalence: Any = None,
        guarantee: Any = None,
        way: str | None = None,
        known: Sequence[Measure] = (),
    ) -> Goal:
        """Check what a user asks for; where it is said which way is better, that too."""
        entry = counted(measure, known).with_better_end()
        if way is not None and (way == "max") != (entry.better == "higher"):
            mend = f"Say {'max' if entry.better == 'higher' else 'min'} {entry.label}"
            raise BadOption(f"of {entry.label}, {entry.better} is better", mend=mend)
        limits = tuple(Limit.read(text, known) for text in conditions(where))
        refuse_no_share(prevalence=prevalence, guarantee=guarantee)
        if guarantee is not None and not limits:
            raise BadOption("a guarantee needs a condition", mend="Say where='sensitivity >= 0.8'")
        return cls(entry, limits, prevalence, guarantee)

    @classmethod
    def read(cls, text: str, known: Sequence[Measure] = ()) -> Goal:
        """Read a goal as users write it: "best:f1", "max specificity where sensitivity >= 0.8"."""
        written = WrittenGoal.of(text)
        if written is None:
            raise BadOption(
                f"the threshold {quoted(text)} cannot be read",
                mend="Give a number, 'best:f1', 'cost' or 'max specificity where sensitivity >= 0.8'",
            )
        return cls.of(written.measure, written.where, way=written.way, known=known)

    @property
    def measures(self) -> list[Measure]:
        """The measure, and those of the conditions."""
        return [self.measure, *[limit.measure for limit in self.limits]]

    def choose(self, tables: ThresholdTables, allowed: Marks | None = None) -> int | None:
        """The place of the best threshold, the highest of equally good ones; None where none will do."""
        values = tables.values(self.measures)
        fit = ~np.isnan(values[0])
        if allowed is None:
            for limit, held in zip(self.limits, values[1:], strict=True):
                fit &= limit.met(held)
        else:
            fit &= allowed
        if not fit.any():
            return None
        sign = 1.0 if self.measure.better == "higher" else -1.0
        ranked = np.where(fit, sign * values[0], -np.inf)
        best = ranked.max()
        return int(np.argmax(ranked >= (best - 1e-12 * abs(best) if np.isfinite(best) else best)))

    def __str__(self) -> str:
        """In words."""
        where = f" where {' and '.join(map(str, self.limits))}" if self.limits else ""
        at = "" if self.prevalence is None else f" at prevalence {self.prevalence:{ALL_DIGITS}}"
        sure = "" if self.guarantee is None else f", guaranteed with probability {self.guarantee:{ALL_DIGITS}}"
        return f"{'highest' if self.measure.better == 'higher' else 'lowest'} {self.measure.label}{at}{where}{sure}"

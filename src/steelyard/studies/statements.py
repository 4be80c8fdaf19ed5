"""Statements of a paper beside the figures of a run, with a verdict by one rule.

A statement is read as a range in which some quantity lies. The run estimates that quantity, with an interval:

- "holds": the whole interval lies in the range;
- "does not hold": the whole interval lies outside;
- "not settled": the interval reaches over an end of the range, and so many repetitions would bring it off that end;
- "other data": the figure is of data that are not public, and cannot be judged by others.

No verdict is written by hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.table import Table
from ..core.text import number, with_interval
from ..inference.rules.hall import hall_bounds
from ..inference.tails import Tails

if TYPE_CHECKING:
    from ..core.typing import Array

Verdict = Literal["holds", "does not hold", "not settled", "other data"]
NEGLIGIBLE = 0.05  # of the true value: "negligible", "practically" and "hardly" mean less
NORMAL = 1.959964  # standard errors on either side, for 95%
MOST = 1e9  # repetitions: an estimate that would need more of them lies on the end of a range, but for rounding
COLUMNS = ("statement", "source", "paper", "value", "low", "high", "verdict", "repetitions", "note")
PRINTED = re.compile(r"([0-9]*)\.?([0-9]*)(?:e([-+]?[0-9]+))?")


class Range(NamedTuple):
    """Where a quantity lies if a statement is true; both ends belong to it."""

    low: float
    high: float


ABOVE_ZERO = Range(math.ulp(0.0), math.inf)
BELOW_ZERO = Range(-math.inf, -math.ulp(0.0))
ABOVE_ONE = Range(math.nextafter(1.0, 2.0), math.inf)


def printed(figure: str, sign: int = 1) -> Range:
    """Return the range of numbers that are printed as a figure: half a unit of its last digit on either side."""
    found = PRINTED.fullmatch(figure)
    if not found or not (found[1] or found[2]):
        raise ValueError(f"{figure!r} is not a printed figure")
    half = 0.5 * 10.0 ** (int(found[3] or 0) - len(found[2]))
    value = sign * float(figure)
    return Range(value - half, value + half)


def within(share: float) -> Range:
    """Return the range of what differs from 0 by this much at most."""
    return Range(-share, share)


def at_most(figure: str) -> Range:
    """Return the range of numbers that are printed as a figure or are less."""
    return Range(-math.inf, printed(figure).high)


def at_least(figure: str) -> Range:
    """Return the range of numbers that are printed as a figure or are more."""
    return Range(printed(figure).low, math.inf)


class Quantity(NamedTuple):
    """An estimate with its 95% interval; without one if it is exact.

    Attributes:
        value: The estimate.
        low: The lower end.
        high: The upper end.
        repetitions: How many repetitions the interval is made of; 0 where more of them would not change it.
    """

    value: float
    low: float
    high: float
    repetitions: int = 0


def exact(value: float) -> Quantity:
    """Return a number that chance has no part in."""
    return Quantity(value, value, value)


def mean_of(values: Array | Sequence[float]) -> Quantity:
    """Return the mean of independent repetitions with its t interval."""
    from scipy.special import stdtrit

    known = np.asarray(values, dtype=np.float64)
    count, mean = len(known), float(known.mean())
    if count < 2:
        return Quantity(mean, -math.inf, math.inf, count)
    half = float(stdtrit(count - 1, 0.975) * known.std(ddof=1) / math.sqrt(count))
    return Quantity(mean, mean - half, mean + half, count)


def spread(values: Array) -> float:
    """Return the standard deviation of independent repetitions; NaN of a single one."""
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def share_of(hits: int, trials: int) -> Quantity:
    """Return a share of independent repetitions with Wilson's interval."""
    from ..inference.rules.wilson import wilson

    low, high = wilson(np.array([hits / trials]), np.array([float(trials)]), 0.95)
    return Quantity(hits / trials, float(low[0]), float(high[0]), trials)


@dataclass(frozen=True)
class Statement:
    """One statement of a paper.

    Attributes:
        text: What it says, in a sentence.
        source: The paper, section and figure.
        paper: The figure that the paper gives, or the word.
        range: Where the quantity lies if it is true; None where the paper's data are not public.
        quantity: What the run found.
        note: On what the verdict rests.
        reason: Why it does not hold; left out where it holds.
    """

    text: str
    source: str
    paper: str
    range: Range | None
    quantity: Quantity
    note: str = ""
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether it comes out."""
        if self.range is None:
            return "other data"
        value, low, high, _ = self.quantity
        if math.isnan(value):
            return "not settled"
        if self.range.low <= low and high <= self.range.high:
            return "holds"
        return "does not hold" if high < self.range.low or low > self.range.high else "not settled"

    @property
    def remark(self) -> str:
        """What a reader needs to know beside the verdict."""
        return "; ".join(filter(None, (self.note, self.reason if self.verdict == "does not hold" else "")))

    @property
    def repetitions(self) -> int | None:
        """How many repetitions would settle it if the estimate stayed; None if it is settled, or never would be."""
        if self.verdict != "not settled" or self.range is None or not self.quantity.repetitions:
            return None
        value, low, high, made = self.quantity
        factors = [
            ((high - value if end > value else value - low) / abs(end - value)) ** 2
            for end in self.range
            if math.isfinite(end) and low <= end <= high and end != value
        ]
        most = max(factors, default=math.inf)
        return math.ceil(made * most) if made * most <= MOST else None


def chance_explains(asked: Range, quantity: Quantity, papers: int, unit: str = "repetitions") -> str:
    """Say how far chance moves the paper's figure and ours apart, and whether it reaches what is said."""
    value, low, high, made = quantity
    if not made:
        return ""
    below = value < asked.low
    apart = (high - value if below else value - low) * math.sqrt(1 + made / papers)
    enough = "explains" if apart >= (asked.low - value if below else value - asked.high) else "does not explain"
    return f"with {papers} {unit} in the paper, chance moves the two apart by up to {number(apart)}: it {enough} this"


def statement_table(statements: Iterable[Statement]) -> Table:
    """Return one row a statement, with the verdict and, where there is none yet, how many repetitions it needs."""
    return Table.of_rows(
        COLUMNS,
        [
            (each.text, each.source, each.paper, *each.quantity[:3], each.verdict, each.repetitions, each.remark)
            for each in statements
        ],
    )


def shown(table: Table) -> Table:
    """Return the same table to be read: below each source its statements, and below each of these its remarks."""
    rows: list[tuple[str, str, str, str]] = []
    before = None
    for row in table:
        if row["source"] != before:
            before = row["source"]
            rows.append((f"{before}:", "", "", ""))
        rows.append((row["statement"], row["paper"], ours(row), row["verdict"]))
        rows += [(f"({remark})", "", "", "") for remark in _remarks(row)]
    return Table.of_rows(("statement", "paper", "ours", "verdict"), rows)


def paragraphs(*parts: str) -> str:
    """Return texts and tables, one below the other."""
    return "\n".join(part.rstrip("\n") for part in parts)


def ours(row: Mapping[str, Any]) -> str:
    """Return the estimate of a row of the table with its interval; alone where it is exact."""
    value, low, high = row["value"], row["low"], row["high"]
    return number(value) if low == high or math.isnan(value) else with_interval(value, low, high)


def _remarks(row: dict[str, Any]) -> list[str]:
    needed = "" if row["repetitions"] is None else f"about {row['repetitions']:,} repetitions would settle it"
    return [remark for remark in (needed, row["note"]) if remark]


# --- estimates with influence values ----------------------------------------------------------------------------------
#
# Biases, standard deviations, ratios and maxima of these are functions of independent repetitions. Every estimate
# carries its influence values: by how much each repetition moves it. Those of sums, products, ratios and powers follow
# by the chain rule (the delta method), and their sum of squares is the variance. The interval is a t interval corrected
# for skewness (Hall 1992), since squared errors have long tails.

BEYOND = 0.025  # the probability on either side of a 95% interval


@dataclass(frozen=True)
class MonteCarloEstimate:
    """A number that was estimated from repetitions.

    Attributes:
        value: The number.
        influence: What each repetition adds to its error, times the number of repetitions: (strata, repetitions). The
            repetitions of a stratum are alike, those of different strata are independent.
    """

    value: float
    influence: Array

    def __add__(self, other: MonteCarloEstimate) -> MonteCarloEstimate:
        """Return the sum."""
        return MonteCarloEstimate(self.value + other.value, self.influence + other.influence)

    def __neg__(self) -> MonteCarloEstimate:
        """Return the number with the other sign."""
        return self * -1.0

    def __sub__(self, other: MonteCarloEstimate) -> MonteCarloEstimate:
        """Return the difference."""
        return MonteCarloEstimate(self.value - other.value, self.influence - other.influence)

    def __mul__(self, other: MonteCarloEstimate | float) -> MonteCarloEstimate:
        """Return the product."""
        if not isinstance(other, MonteCarloEstimate):
            return MonteCarloEstimate(self.value * other, self.influence * other)
        return MonteCarloEstimate(self.value * other.value, self.influence * other.value + other.influence * self.value)

    def __truediv__(self, other: MonteCarloEstimate | float) -> MonteCarloEstimate:
        """Return the ratio."""
        return self * (other**-1.0)

    def __pow__(self, power: float) -> MonteCarloEstimate:
        """Return a power; of a constant 0 it is 0, and has no influence values."""
        if self.value == 0 and not self.influence.any():
            return self
        return MonteCarloEstimate(self.value**power, self.influence * (power * self.value ** (power - 1)))

    @property
    def repetitions(self) -> int:
        """How many repetitions each stratum has."""
        return len(self.influence[0])

    @property
    def standard_error(self) -> float:
        """The standard error; NaN of a single repetition."""
        count = self.repetitions
        return math.sqrt(float(np.square(self.influence).sum()) / (count * (count - 1))) if count > 1 else math.nan

    def bounds(self, beyond: float = BEYOND) -> tuple[float, float]:
        """Return the ends of an interval outside of which the true value lies with this probability on either side."""
        from scipy.special import stdtrit

        if self.repetitions < 2:
            return -math.inf, math.inf
        variance = float(np.square(self.influence).sum())
        if variance == 0:
            return self.value, self.value
        skew = float((self.influence**3).sum()) / variance**1.5
        fourth = float((self.influence**4).sum()) / variance**2
        freedom = self.repetitions - 1
        terms = self.repetitions * int(self.influence.any(axis=1).sum())
        tails = Tails.of_moments(np.array([skew]), np.array([fourth]), 1 / terms)
        value, error = np.array([self.value]), np.array([self.standard_error])
        reach = np.array([stdtrit(freedom, 1 - beyond)])
        low, high = hall_bounds(value, error, tails, np.array([float(freedom)]), reach)
        return float(low[0]), float(high[0])

    @property
    def quantity(self) -> Quantity:
        """The value with its 95% interval."""
        low, high = self.bounds()
        return exact(self.value) if low == high else Quantity(self.value, low, high, self.repetitions)


def mean(values: Array, stratum: int = 0, strata: int = 1) -> MonteCarloEstimate:
    """Return the mean of the repetitions of one stratum."""
    influence = np.zeros((strata, len(values)))
    influence[stratum] = values - values.mean()
    return MonteCarloEstimate(float(values.mean()), influence)


def deviation(values: Array, stratum: int = 0, strata: int = 1) -> MonteCarloEstimate:
    """Return the standard deviation of the repetitions of one stratum; NaN of a single one."""
    count = len(values)
    if count < 2:
        return MonteCarloEstimate(math.nan, np.zeros((strata, count)))
    return mean(np.square(values - values.mean()) * (count / (count - 1)), stratum, strata) ** 0.5


def average(estimates: Iterable[MonteCarloEstimate]) -> MonteCarloEstimate:
    """Return the mean of several estimates."""
    several = list(estimates)
    return reduce(add, several) * (1 / len(several))


def largest(estimates: Sequence[MonteCarloEstimate]) -> Quantity:
    """Return the largest of several numbers with an interval that is right for a maximum.

    The true maximum is one of the numbers. It lies below that one's own upper end, whichever it is, and so below the
    largest of them. It lies above all lower ends at once: these are further out, as Bonferroni has it.
    """
    low = max(each.bounds(BEYOND / len(estimates))[0] for each in estimates)
    high = max(each.bounds()[1] for each in estimates)
    value = max(each.value for each in estimates)
    return exact(value) if low == high else Quantity(value, low, high, estimates[0].repetitions)


def smallest(estimates: Sequence[MonteCarloEstimate]) -> Quantity:
    """Return the smallest of several numbers with an interval that is right for a minimum."""
    value, low, high, repetitions = largest([-each for each in estimates])
    return Quantity(-value, -high, -low, repetitions)


def furthest(estimates: Sequence[MonteCarloEstimate]) -> Quantity:
    """Return the largest absolute value of several numbers with an interval that is right for it."""
    value, low, high, repetitions = largest([*estimates, *(-each for each in estimates)])
    return Quantity(value, max(low, 0.0), high, repetitions)

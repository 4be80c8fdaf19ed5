"""Numbers and how sure they are: an estimate and its interval, a standard deviation and its degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .columns import as_number
from .errors import BadDeviation, BadOption, quoted

if TYPE_CHECKING:
    from .scale import Label

LEAST_FREEDOM = 0.1  # fewer degrees tell nothing, and their quantiles are beyond all numbers


@dataclass(frozen=True)
class Estimate:
    """A value and how sure it is.

    Attributes:
        value: The estimate; NaN where the measure is undefined.
        low: Lower bound of the interval.
        high: Upper bound of the interval.
        se: Standard error.
        n: Rows behind it.
        method: How the interval was made.
        note: What there is to know: why it is undefined, which classes were left out of a mean.
        measure: The measure.
        label: The class, where it speaks of one.
        average: How classes were averaged, where they were.
        level: Coverage of the interval.
        sum: Of scores of forecasts: the sum over the rows, of which the value is the mean; else None.
        certified: Numbers between which the value lies for certain; both are the value itself where it is exact, as it
            always is unless very many scores were counted in cells.
    """

    value: float
    low: float
    high: float
    se: float
    n: float
    method: str
    note: str = ""
    measure: str = ""
    label: Label | None = None
    average: str | None = None
    level: float = 0.95
    sum: float | None = None
    certified: tuple[float, float] | None = None

    def __float__(self) -> float:
        """The value."""
        return self.value

    def __format__(self, form: str) -> str:
        """The value in the form of a number, as in ``f"{estimate:.3f}"``; without one, with its interval."""
        return format(self.value, form) if form else str(self)

    def __str__(self) -> str:
        """Value and interval."""
        from .text import with_interval

        text = with_interval(self.value, self.low, self.high)
        return f"{text} ({self.note})" if self.note else text


@dataclass(frozen=True)
class Deviation:
    """A standard deviation and how well it is known.

    Attributes:
        sd: The standard deviation.
        freedom: Degrees of freedom of its square; infinite where it is known.
        truncated: Whether a difference of variances came out negative, so that 0 stands for it.
        method: How it was found.
        parts: The two whose squares were subtracted, where it is a difference: the whole and what was taken from it.
    """

    sd: float
    freedom: float = math.inf
    truncated: bool = False
    method: str = ""
    parts: tuple[Deviation, Deviation] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a standard deviation."""
        if not 0 <= as_number(self.sd) < math.inf:
            problem = f"sd is {quoted(self.sd)}"
            raise BadDeviation(problem, mend="A standard deviation is a finite number, 0 or above")
        if not as_number(self.freedom) >= 0:
            raise BadOption(f"freedom is {quoted(self.freedom)}", mend="Degrees of freedom are 0 or more")
        method: object = self.method
        if not isinstance(method, str):
            raise BadOption(f"method is {quoted(method)}", mend="Say in words how it was found")
        if self.parts is not None and not _is_pair(self.parts):
            mend = "Give a pair of Deviation: the whole, and what was taken from it"
            raise BadOption(f"parts is {quoted(self.parts)}", mend=mend)

    def __float__(self) -> float:
        """The standard deviation."""
        return self.sd

    @property
    def error(self) -> float:
        """The standard error of the variance, the square of the standard deviation."""
        if self.parts is None:
            return math.sqrt(2 / self.freedom) * self.sd**2 if self.freedom > 0 else math.inf
        return math.hypot(*(part.error for part in self.parts))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Bounds of the standard deviation, for normal errors.

        By the chi-squared distribution; that of a difference of variances by the modified large-sample method of
        Ting, Burdick, Graybill, Jeyaratnam & Lu (1990), J. Statistical Computation and Simulation 35, 135-143.
        """
        if not 0 < as_number(level) < 1:
            raise BadOption(f"level is {quoted(level)}", mend="Give a number between 0 and 1, such as 0.95")
        tail = (1 - level) / 2
        if self.parts is not None:
            low, high = _difference_bounds(*self.parts, tail)
        else:
            falls, rises = _shifts(self.freedom, tail)
            low, high = self.sd**2 * (1 - falls), self.sd**2 * (1 + rises)
        return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))

    def __str__(self) -> str:
        """The value, its interval, and where it comes from."""
        known = math.isinf(self.freedom)
        low, high = self.interval()
        text = f"{self.sd:.4g}" if known else f"{self.sd:.4g} [{low:.4g}, {high:.4g}]"
        if self.truncated and self.parts is not None:
            whole, part = (each.sd for each in self.parts)
            return f"{text}: measurement error {part:.4g} exceeds all scatter {whole:.4g}, so 0 stands for the rest"
        if known:
            return f"{text} ({self.method or 'known'})"
        return f"{text} ({self.method or 'estimated'}, {self.freedom:.4g} degrees of freedom)"


def _is_pair(parts: object) -> bool:
    return isinstance(parts, tuple) and len(parts) == 2 and all(isinstance(part, Deviation) for part in parts)


def _shifts(freedom: float, tail: float) -> tuple[float, float]:
    """By what shares of itself a variance must be lowered and raised to reach the bounds of its interval."""
    from scipy.special import chdtri

    if math.isinf(freedom):
        return 0.0, 0.0
    low, high = float(chdtri(freedom, 1 - tail)), float(chdtri(freedom, tail))
    return 1 - freedom / high if high > 0 else 1.0, freedom / low - 1 if low > 0 else math.inf


def _difference_bounds(whole: Deviation, part: Deviation, tail: float) -> tuple[float, float]:
    """Bounds of a difference of two independent variances."""
    first, second = whole.sd**2, part.sd**2
    falls, rises = _shifts(whole.freedom, tail)
    part_falls, part_rises = _shifts(part.freedom, tail)
    if min(whole.freedom, part.freedom) < LEAST_FREEDOM:
        # Of one of them nothing is known: what is taken away may be anything, and what it is taken from.
        return 0.0, first * (1 + rises) if whole.freedom >= LEAST_FREEDOM else math.inf
    few, many = (_ratio(whole.freedom, part.freedom, probability) for probability in (tail, 1 - tail))
    # The cross terms make the bounds exact where the difference is 0.
    below = ((many - 1) ** 2 - (falls * many) ** 2 - part_rises**2) / many
    above = ((1 - few) ** 2 - (rises * few) ** 2 - part_falls**2) / few
    low = (falls * first) ** 2 + (part_rises * second) ** 2 + below * first * second
    high = (rises * first) ** 2 + (part_falls * second) ** 2 + above * first * second
    return first - second - math.sqrt(max(low, 0.0)), first - second + math.sqrt(max(high, 0.0))


def _ratio(freedom: float, other: float, probability: float) -> float:
    """A quantile of the ratio of two independent estimates of one variance."""
    from scipy.special import chdtri, fdtri

    if math.isinf(freedom):
        return 1.0 if math.isinf(other) else other / float(chdtri(other, probability))
    if math.isinf(other):
        return float(chdtri(freedom, 1 - probability)) / freedom
    return float(fdtri(freedom, other, probability))

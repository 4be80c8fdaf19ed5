"""A number and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scale import Label


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

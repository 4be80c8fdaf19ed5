"""The mass of a class and of the rest at each distinct score, which formulas of ranking are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.threads import running_sums
from ..states.held_rows import Rows
from .registry import Measure

if TYPE_CHECKING:
    from ..core.typing import Array, Places

Slopes = tuple["Array", "Array"]  # by the mass of the class, and by that of the rest
# What some rows of the class add to a value, and some of the rest, counted from the highest score on.
Influences = tuple[Callable[[slice], "Array"], Callable[[slice], "Array"]]
Untied = Callable[["Places", "Places"], tuple[float, Influences]]
Line = tuple[float, float]  # what a row adds to a value: a number, and another for each row of the other side above it
ByCount = Callable[[float, float, float], tuple[float, Line, Line]]

UNTIED: dict[Any, Untied] = {}  # by formula
BY_COUNT: dict[Any, ByCount] = {}  # by formula


def where_untied(formula: Any) -> Callable[[Untied], Untied]:
    """Enter a shorter way to a value and its influences, for rows that weigh the same and have no score in common.

    All that such rows can tell is how many of the rest are above each row of the class, and how many of the class above
    each of the rest.
    """

    def enter(short: Untied) -> Untied:
        UNTIED[formula] = short
        return short

    return enter


def _along(line: Line, places: Places, rows: slice) -> Array:
    return np.asarray(line[0] + line[1] * places[rows], dtype=np.float64)


def by_count(formula: Any) -> Callable[[ByCount], ByCount]:
    """Enter a still shorter one, where what a row adds is a straight line of the rows of the other side above it.

    Rows of the same score must count half: this way is taken for tied scores too. It is given how many of the rest are
    above the rows of the class, summed up, and the sizes of the class and rest; it returns the value and the lines of
    the class and of the rest.
    """

    def along_lines(alarms: Places, hits: Places) -> tuple[float, Influences]:
        value, *lines = BY_COUNT[formula](float(alarms.sum()), len(alarms), len(hits))
        of_class, of_rest = (partial(_along, line, places) for line, places in zip(lines, (alarms, hits), strict=True))
        return value, (of_class, of_rest)

    def enter(way: ByCount) -> ByCount:
        BY_COUNT[formula] = way
        where_untied(formula)(along_lines)
        return way

    return enter


@dataclass(frozen=True)
class Masses:
    """What a formula of ranking may ask for, at each distinct score from the highest to the lowest."""

    positive: Array
    negative: Array

    @cached_property
    def hits(self) -> Array:
        """The mass of the class at each score and above."""
        return np.asarray(running_sums(self.positive))

    @cached_property
    def alarms(self) -> Array:
        """The mass of the rest at each score and above."""
        return np.asarray(running_sums(self.negative))

    @property
    def share(self) -> Array:
        """The share of all mass that is at each score."""
        both = self.positive + self.negative
        both /= both.sum()
        return both

    def smoothed(self, row: float) -> Masses:
        """Add a pseudo-row of the class and one of the rest, spread over the scores as all rows are."""
        spread = self.share
        spread *= row
        return Masses(self.positive + spread, self.negative + spread)

    def value(self, measure: Measure) -> Any:
        """The value of a measure, over any leading axes."""
        return measure(**{name: getattr(self, name) for name in measure.arguments})

    def centre(self, measure: Measure, value: float, row: float) -> float:
        """Where its interval is built: at the value, unless that is fitted to the rows which it judges."""
        return value if measure.fair is None else float(measure.fair(self.positive, self.negative, row))

    def slopes(self, measure: Measure, value: float) -> Slopes:
        """The derivatives of a measure by the mass of the class, and by that of the rest, at each score."""
        offered = {"positive": self.positive, "negative": self.negative, "hits": self.hits, "alarms": self.alarms}
        return measure.sloping(**offered, value=value)


@dataclass(frozen=True)
class Weights:
    """How often each row occurs, what it weighs, and its squared weight, in the order of the input."""

    count: Array
    mass: Array
    square: Array
    equal: bool

    @classmethod
    def of(cls, rows: Rows) -> Weights:
        """Read them off; where all are 1, they take no memory."""
        if rows.sums is None:
            ones = np.broadcast_to(np.float64(1.0), len(rows))
            return cls(ones, ones, ones, equal=True)
        count, mass, square = np.ascontiguousarray(rows.sums.T)
        return cls(count, mass, mass if np.array_equal(mass, square) else square, equal=False)

    @property
    def row(self) -> float:
        """What one row weighs."""
        return 1.0 if self.square is self.mass else float(self.square.sum() / self.mass.sum())


def pseudo_moments(slopes: Slopes, share: Array) -> tuple[float, Array]:
    """The mean squared influence of a pseudo-row, and the mean influence of one of the rest and of the class."""
    own, other = slopes
    squares = np.einsum("i,i,i", own, own, share) + np.einsum("i,i,i", other, other, share)
    return float(squares / 2), np.array([np.einsum("i,i", other, share), np.einsum("i,i", own, share)])

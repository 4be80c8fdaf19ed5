"""A map from one Beta variable to another, tabulated: for many values at a small part of the price, to the last digits.

On the scale of log odds the map is smooth and nearly a straight line towards both ends, and its first two derivatives
are known, so that a piecewise polynomial of degree five that meets all of them is exact to rounding on a coarse grid:
inverses are dear. Cubics on a finer grid, which are cheap once these are known, then take fewer steps a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array, Marks

TOLERANCE = 5e-13  # of the error half way between the nodes, where it is greatest
RAREST = 1e-250  # tails beyond which the Beta variable itself has no digits left
LEAST_NODES, MOST_NODES = 1 << 5, 1 << 15
FINE = (1 << 9, 1 << 11, 1 << 13)  # intervals; what lies nearest to the processor holds the first
LOSS = 1e-13  # that they may be off further
WIDEST_STEP = 0.25  # log odds, or their standard deviations: a coarser grid may step over a rise, and never know
JUMPY = 1e-5  # parameters of a variable that is all but 0 or 1, and may go from one to the other between two nodes
END = 36.0  # log odds beyond which a value is 0 or 1 to rounding

Parameters = tuple[float, float]


@dataclass(frozen=True)
class BetaTable:
    """Polynomials between evenly spaced log odds.

    Attributes:
        low: The first node.
        step: From each node to the next.
        polynomials: Their coefficients, from the constant on, (degree + 1, intervals + 1); of log odds the other way
            round, as the exponential wants them. The last goes on from the last node, for what lies there.
    """

    low: float
    step: float
    polynomials: Array = field(repr=False)

    @classmethod
    def of(cls, given: Parameters, scaled: Parameters, low: float, high: float) -> BetaTable | None:
        """Tabulate the map between two values, as finely as it takes; None where even the finest grid will not do."""
        from scipy.special import betainccinv, betaincinv, expit, logit, polygamma

        low, high = max(low, float(betaincinv(*given, RAREST))), min(high, float(betainccinv(*given, RAREST)))
        low, high = (float(np.clip(logit(value), -END, END)) for value in (low, high))
        if not high > low or min(scaled) < JUMPY:
            return None
        widest = WIDEST_STEP * min(1.0, float(np.sqrt(polygamma(1, given).sum())))
        places = np.linspace(low, high, max(LEAST_NODES, int(np.ceil((high - low) / widest))) + 1)
        known = _nodes(places, given, scaled)
        while True:
            middle = (places[:-1] + places[1:]) / 2
            halved = _nodes(middle, given, scaled)
            if not (np.isfinite(known).all() and np.isfinite(halved).all()):
                return None
            found = _between(places, *known)
            off = np.abs(expit(-found._at(middle)) - expit(halved[0]))
            if off.max() <= TOLERANCE:
                return found.finer()
            if len(middle) >= MOST_NODES:
                return None
            # What it was tried with is what a finer one starts from.
            places, known = _interleaved(places, middle), _interleaved(known, halved)

    @property
    def high(self) -> float:
        """The last node."""
        return self.low + self.step * (int(self.polynomials.shape[1]) - 1)

    def finer(self) -> BetaTable:
        """The same by cubics, where a fine grid makes them as good; itself where none does."""
        from scipy.special import expit

        slopes = self.polynomials * np.arange(len(self.polynomials))[:, None] / self.step
        slope = BetaTable(self.low, self.step, slopes[1:])
        for intervals in FINE:
            places = np.linspace(self.low, self.high, intervals + 1)
            found = _cubics(places, -self._at(places), -slope._at(places))
            middle = (places[:-1] + places[1:]) / 2
            if np.abs(expit(found._at(middle)) - expit(self._at(middle))).max() <= LOSS:
                return found
        return self

    def __call__(self, values: Array) -> tuple[Array, Marks]:
        """Map values; and mark those that lie outside the table, and so are not mapped."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            odds = 1 - values
            np.divide(values, odds, out=odds)
            np.log(odds, out=odds)
            found = self._at(odds)
            np.exp(found, out=found)
            found += 1
            np.divide(1, found, out=found)
        # As a rule there are none, and two numbers tell.
        if odds.min(initial=self.low) >= self.low and odds.max(initial=self.high) <= self.high:
            return found, np.zeros(len(values), dtype=bool)
        return found, ~((odds >= self.low) & (odds <= self.high))

    def _at(self, odds: Array) -> Array:
        """The polynomials at log odds."""
        place = odds - self.low
        place *= 1 / self.step
        whole = np.floor(place)
        number = whole.astype(np.intp)
        place -= whole
        found: Array = self.polynomials[-1].take(number, mode="clip")
        fetched = whole  # of no more use
        for coefficients in self.polynomials[-2::-1]:
            found *= place
            found += coefficients.take(number, out=fetched, mode="clip")
        return found


def _interleaved(ends: Array, middle: Array) -> Array:
    """Nodes with those half way between them, along the last axis."""
    found = np.empty((*ends.shape[:-1], ends.shape[-1] + middle.shape[-1]))
    found[..., ::2], found[..., 1::2] = ends, middle
    return found


def _nodes(odds: Array, given: Parameters, scaled: Parameters) -> Array:
    """The log odds that others are mapped to, with the first two derivatives."""
    from scipy.special import betainc, betaincinv, betaln, expit

    (a, b), (c, d) = given, scaled
    value, rest = expit(odds), expit(-odds)
    lower, upper = betainc(a, b, value), betainc(b, a, rest)
    below = lower <= upper
    mapped, left = np.empty_like(odds), np.empty_like(odds)
    with np.errstate(all="ignore"):
        # Each tail by itself, so that nothing is lost near 0 or 1.
        mapped[below], left[~below] = betaincinv(c, d, lower[below]), betaincinv(d, c, upper[~below])
        mapped[~below], left[below] = 1 - left[~below], 1 - mapped[below]
        target = np.log(mapped) - np.log(left)
        size = a * np.log(value) + b * np.log(rest) - betaln(a, b)
        first = np.exp(size - (c * np.log(mapped) + d * np.log(left) - betaln(c, d)))
        second = first * (a - (a + b) * value - (c - (c + d) * mapped) * first)
    return np.stack([target, first, second])


def _between(places: Array, value: Array, first: Array, second: Array) -> BetaTable:
    """The polynomials that meet values and derivatives at both of their ends."""
    step = float(places[-1] - places[0]) / (len(places) - 1)
    one, two = first * step, second * step**2 / 2
    rise = value[1:] - value[:-1] - one[:-1] - two[:-1]
    slope = one[1:] - one[:-1] - 2 * two[:-1]
    bend = two[1:] - two[:-1]
    coefficients = [
        value[:-1],
        one[:-1],
        two[:-1],
        10 * rise - 4 * slope + bend,
        -15 * rise + 7 * slope - 2 * bend,
        6 * rise - 3 * slope + bend,
    ]
    return _table(places, coefficients, [value[-1], one[-1], two[-1], 0, 0, 0])


def _cubics(places: Array, value: Array, first: Array) -> BetaTable:
    """The polynomials that meet values and first derivatives at both of their ends."""
    one = first * float(places[-1] - places[0]) / (len(places) - 1)
    rise, slope = value[1:] - value[:-1] - one[:-1], one[1:] - one[:-1]
    return _table(places, [value[:-1], one[:-1], 3 * rise - slope, slope - 2 * rise], [value[-1], one[-1], 0, 0])


def _table(places: Array, coefficients: list[Array], last: list[float]) -> BetaTable:
    """Polynomials between nodes, the other way round, and the one that goes on from the last of these."""
    found = np.empty((len(coefficients), len(places)))
    found[:, :-1], found[:, -1] = coefficients, last
    return BetaTable(float(places[0]), float(places[-1] - places[0]) / (len(places) - 1), -found)

"""A map from one Beta variable to another, tabulated: for many values at a small part of the price, to the last digits.

On the scale of log odds the map is smooth and nearly a straight line towards both ends, and its first two derivatives
are known, so that a piecewise polynomial of degree five that meets all of them is exact to rounding on a fine grid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .kinds import Array, Marks

TOLERANCE = 5e-13  # of the error half way between the nodes, where it is greatest
RAREST = 1e-250  # tails beyond which the Beta variable itself has no digits left
LEAST_NODES, MOST_NODES = 1 << 8, 1 << 15
END = 36.0  # log odds beyond which a value is 0 or 1 to rounding

Parameters = tuple[float, float]


@dataclass(frozen=True)
class BetaTable:
    """Polynomials between evenly spaced log odds.

    Attributes:
        low: The first node.
        step: From each node to the next.
        polynomials: Their coefficients, from the constant on, (6, intervals).
    """

    low: float
    step: float
    polynomials: Array = field(repr=False)

    @classmethod
    def of(cls, given: Parameters, scaled: Parameters, low: float, high: float) -> BetaTable | None:
        """Tabulate the map between two values, as finely as it takes; None where even the finest grid will not do."""
        from scipy.special import betainccinv, betaincinv, expit, logit

        low, high = max(low, float(betaincinv(*given, RAREST))), min(high, float(betainccinv(*given, RAREST)))
        low, high = (float(np.clip(logit(value), -END, END)) for value in (low, high))
        if not high > low:
            return None
        nodes = LEAST_NODES
        while nodes <= MOST_NODES:
            places = np.linspace(low, high, nodes + 1)
            at_nodes = _nodes(places, given, scaled)
            if not np.isfinite(at_nodes).all():
                return None
            found, middle = _between(places, *at_nodes), (places[:-1] + places[1:]) / 2
            off = np.abs(expit(found._at(middle)) - expit(_nodes(middle, given, scaled)[0]))
            if off.max() <= TOLERANCE:
                return found
            nodes *= 4
        return None

    @property
    def high(self) -> float:
        """The last node."""
        return self.low + self.step * int(self.polynomials.shape[1])

    def __call__(self, values: Array) -> tuple[Array, Marks]:
        """Map values; and mark those that lie outside the table, and so are not mapped."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            odds = np.log(values / (1 - values))
            found = self._at(odds)
            np.negative(found, out=found)
            np.exp(found, out=found)
            found += 1
            np.divide(1, found, out=found)
        return found, ~((odds >= self.low) & (odds <= self.high))

    def _at(self, odds: Array) -> Array:
        """The polynomials at log odds."""
        place = (odds - self.low) * (1 / self.step)
        whole = np.minimum(np.trunc(place), self.polynomials.shape[1] - 1)
        number = whole.astype(np.intp)
        place -= whole
        found: Array = self.polynomials[5].take(number, mode="clip")
        for coefficients in self.polynomials[4::-1]:
            found *= place
            found += coefficients.take(number, mode="clip")
        return found


def _nodes(odds: Array, given: Parameters, scaled: Parameters) -> tuple[Array, Array, Array]:
    """The log odds that others are mapped to, with the first two derivatives."""
    from scipy.special import betainc, betaincinv, betaln, expit

    (a, b), (c, d) = given, scaled
    value, rest = expit(odds), expit(-odds)
    lower, upper = betainc(a, b, value), betainc(b, a, rest)
    with np.errstate(all="ignore"):
        # Each tail by itself, so that nothing is lost near 0 or 1.
        small, large = betaincinv(c, d, lower), betaincinv(d, c, upper)
        below = lower <= upper
        mapped, left = np.where(below, small, 1 - large), np.where(below, 1 - small, large)
        target = np.log(mapped) - np.log(left)
        size = a * np.log(value) + b * np.log(rest) - betaln(a, b)
        first = np.exp(size - (c * np.log(mapped) + d * np.log(left) - betaln(c, d)))
        second = first * (a - (a + b) * value - (c - (c + d) * mapped) * first)
    return target, first, second


def _between(places: Array, value: Array, first: Array, second: Array) -> BetaTable:
    """The polynomials that meet values and derivatives at both of their ends."""
    step = float(places[1] - places[0])
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
    return BetaTable(float(places[0]), step, np.stack(coefficients))

"""Expected squares beyond a place, for any continuous distribution that tells how probable its tails are.

E[(t - u)²; u < t] is the integral of 2 (t - u) F(u) over all u below t. It is taken over panels that double in length,
outwards from t or from the median, whichever is lower; the first one is as long as it takes the tail to halve. So the
far tail is found as precisely as the centre, and a tail without a second moment shows: its panels do not fade.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..kinds import Array, Marks

    Probability = Callable[[Array], Array]

# Gauss-Kronrod rule of 15 points (Piessens and others 1983, QUADPACK): half of the points, and their weights.
_POINTS = np.array(
    (
        *(0.991455371120812639, 0.949107912342758525, 0.864864423359769073, 0.741531185599394440),
        *(0.586087235467691130, 0.405845151377397167, 0.207784955007898468, 0.0),
    )
)
_WEIGHTS = np.array(
    (
        *(0.0229353220105292250, 0.0630920926299785533, 0.104790010322250184, 0.140653259715525919),
        *(0.169004726639267903, 0.190350578064785410, 0.204432940075298892, 0.209482141084727828),
    )
)
_FEWER = np.array((0.129484966168869693, 0.279705391489276668, 0.381830050505118945, 0.417959183673469388))
POINTS = np.concatenate([-_POINTS, _POINTS[-2::-1]])
WEIGHTS = np.concatenate([_WEIGHTS, _WEIGHTS[-2::-1]])
FEWER = np.concatenate([_FEWER, _FEWER[-2::-1]])  # the weights of every second point, for the estimate of the error

PRECISION = 1e-12  # of a panel, relative to what has been found so far
MOST_SPLITS = 60  # of one panel, where the distribution has a corner or a step
MOST_PANELS = 1_000
ROUGH = 1e-10  # probability of a tail below which panels are not split
STEADY = 1e-11  # by how much the ratio of panels may still change where a tail falls like a power
NEVER = 1e-4  # panels that fade more slowly than this do not add up to anything


class Found(NamedTuple):
    """What integrals were found to be, and estimates of their errors."""

    value: Array
    error: Array


@dataclass(frozen=True)
class Tails:
    """Both tails of a continuous distribution, which may be another one for every row: rows are in the last axis.

    Attributes:
        below: The probability of values up to this one.
        above: The probability of values beyond this one, with all its digits where it is small.
        centre: A value with about half of the probability on either side, for every row.
        lowest: Below this there is nothing, where that is known.
        highest: Above this there is nothing.
    """

    below: Probability
    above: Probability
    centre: Array
    lowest: Array
    highest: Array

    @classmethod
    def of(cls, below: Probability, above: Probability, ends: tuple[Array, Array]) -> Tails:
        """Find the centre."""
        return cls(below, above, _median(below, len(ends[0])), *ends)

    @property
    def mirrored(self) -> Tails:
        """The same of the negative value."""
        ends = -self.highest, -self.lowest
        return Tails(lambda place: self.above(-place), lambda place: self.below(-place), -self.centre, *ends)

    def squared_shortfall(self, place: Array) -> Found:
        """The expected squared distance to places from below: 0 for values above them; infinite for some tails."""
        anchor = np.minimum(place, self.centre)
        # Some distributions are rough where they are next to nothing: splitting panels would not smooth them.
        weighty = self.below(anchor) > ROUGH
        tail = self._outwards(place, anchor, weighty)
        middle = self._inwards(place, anchor, weighty)
        return Found(tail.value + middle.value, tail.error + middle.error)

    def squared_excess(self, place: Array) -> Found:
        """The expected squared distance to places from above: 0 for values below them."""
        return self.mirrored.squared_shortfall(-place)

    def _outwards(self, place: Array, anchor: Array, weighty: Marks) -> Found:
        """The part below an anchor that is the place or the centre, without end."""
        total = _Total.of(anchor.shape)
        end = np.maximum(anchor - self.lowest, 0.0)
        near, far = np.zeros(anchor.shape), halving(self.below, anchor)
        for number in range(MOST_PANELS):
            near, far = np.minimum(near, end), np.minimum(far, end)
            panel = self._panel((anchor - far, anchor - near), place, total.value, weighty)
            # The law of a tail shows where its own length is all that counts.
            total.add(panel, number, (far < end) & (near > place - anchor), far < end)
            if total.settled.all():
                return Found(total.value, total.error)
            near, far = far, 2 * far
        return Found(np.where(total.settled, total.value, np.inf), total.error)

    def _inwards(self, place: Array, anchor: Array, weighty: Marks) -> Found:
        """The part between the centre and a place above it."""
        value, error = np.zeros(place.shape), np.zeros(place.shape)
        near, step = anchor, halving(self.mirrored.below, -anchor)
        while (near < place).any():
            # Where nothing is left above, the rest is a polynomial, and one panel is exact.
            ahead = np.where(near < self.highest, np.minimum(near + step, self.highest), np.inf)
            far = np.minimum(np.where(self.above(near) > 0, ahead, np.inf), place)
            panel = self._panel((near, far), place, value, weighty)
            value, error = value + panel.value, error + panel.error
            near, step = far, 2 * step
        return Found(value, error)

    def _panel(self, ends: tuple[Array, Array], place: Array, before: Array, weighty: Marks) -> Found:
        """The integral over a panel, split where that is needed."""
        value, error = np.zeros(place.shape), np.zeros(place.shape)
        waiting, splits = [ends], 0
        while waiting:
            low, high = waiting.pop()
            found = self._rule(place, low, high)
            wrong = weighty & (found.error > PRECISION * (before + value + found.value))
            if splits < MOST_SPLITS and wrong.any():
                middle = low + (high - low) / 2
                waiting += [(low, middle), (middle, high)]
                splits += 1
            else:
                value, error = value + found.value, error + found.error
        return Found(value, error)

    def _rule(self, place: Array, low: Array, high: Array) -> Found:
        half = (high - low) / 2
        points = (low + half) + np.multiply.outer(POINTS, half)
        heights = 2 * (place - points) * self.below(points)
        value, fewer = (
            half * np.tensordot(rule, part, 1) for rule, part in ((WEIGHTS, heights), (FEWER, heights[1::2]))
        )
        spread = half * np.tensordot(WEIGHTS, np.abs(heights - np.tensordot(WEIGHTS, heights, 1) / 2), 1)
        # How QUADPACK turns the difference of the two rules into the error of the better one.
        apart = np.divide(200 * np.abs(value - fewer), spread, out=np.zeros(value.shape), where=spread > 0)
        return Found(value, spread * np.minimum(1.0, apart**1.5))


@dataclass
class _Total:
    """What panels of a tail add up to, and how they fade."""

    value: Array
    error: Array
    settled: Marks
    last: Array
    ratio: Array
    steady: Array

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> _Total:
        nothing = [np.zeros(shape) for _ in range(5)]
        return cls(nothing[0], nothing[1], np.zeros(shape, dtype=bool), *nothing[2:])

    def add(self, panel: Found, number: int, lawful: Marks, open_end: Marks) -> None:
        """Add a panel; where panels fade like powers without end, add all that are to come."""
        live = ~self.settled
        self.value = self.value + np.where(live, panel.value, 0.0)
        self.error = self.error + np.where(live, panel.error, 0.0)
        ratio = np.divide(panel.value, self.last, out=np.zeros(live.shape), where=self.last > 0)
        allowed = STEADY if number < 100 else 1e-6
        self.steady = np.where(np.abs(ratio - self.ratio) <= allowed * ratio, self.steady + 1, 0)
        # Across a gap without any probability panels grow by 4, and no conclusion can be drawn.
        ending = live & lawful & (self.steady >= 3) & (ratio > 0) & (ratio < 4 - NEVER)
        endless = ending & (ratio > 1 - NEVER)
        rest = np.divide(panel.value * ratio, 1 - ratio, out=np.zeros(live.shape), where=ending & ~endless)
        self.value = np.where(endless, np.inf, self.value + rest)
        faded = ~open_end | ((number > 3) & (panel.value <= 1e-17 * self.value))
        self.settled = self.settled | ending | (faded & live)
        self.last, self.ratio = panel.value, ratio


def _median(below: Probability, rows: int) -> Array:
    """A value with about half of the probability below, for every row, by bisection."""
    low, high = np.full(rows, -1.0), np.full(rows, 1.0)
    for _ in range(MOST_PANELS):
        short, long = below(low) > 0.5, below(high) < 0.5
        if not (short | long).any():
            break
        low, high = np.where(short, 2 * low, low), np.where(long, 2 * high, high)
    for _ in range(60):
        middle = low + (high - low) / 2
        under = below(middle) < 0.5
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return high


def halving(below: Probability, anchor: Array) -> Array:
    """About how far below an anchor half of what is below it is left, to the nearest power of 2."""
    target, step = below(anchor) / 2, np.ones(anchor.shape)
    alive = target > 0
    for _ in range(MOST_PANELS):
        longer = alive & (below(anchor - step) > target)
        if not longer.any():
            break
        step = np.where(longer, 2 * step, step)
    for _ in range(100):
        shorter = alive & (below(anchor - step / 2) <= target)
        if not shorter.any():
            break
        step = np.where(shorter, step / 2, step)
    return step

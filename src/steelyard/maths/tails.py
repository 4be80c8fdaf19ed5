"""Expected squares beyond places, for any continuous distribution that tells how probable its tails are.

E[(t - u)²; u < t] is the integral of 2 (t - u) F(u) over all u below t. Places are taken in order: what is below one of
them is below the next one too, at a distance that is larger by what lies between both, and only that is integrated
anew. So where all rows have the same law a corner of it is met once, not once a row, and nothing is ever subtracted.

Below the lowest place, and between places that are far apart, panels double in length; the first one is as long as it
takes the tail to halve. So the far tail is found as precisely as the centre, and a tail without a second moment shows:
its panels do not fade.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .quadrature import PRECISION, Integrals, Panels, integrals, refined, summed

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks

    Probability = Callable[[Array], Array]

MOST_PANELS = 1_000
ROUGH = 1e-9  # probability of a tail below which panels are not split
STEADY = 1e-11  # by how much the ratio of panels may still change where a tail falls like a power
NEVER = 1e-4  # panels that fade more slowly than this do not add up to anything
EMPTY = np.array([[2.0], [4.0]])  # by how much panels grow, of which each is twice as long, where there is no value


@dataclass(frozen=True)
class DistributionTails:
    """Both tails of one continuous distribution, or of as many as there are rows: laws are in the last axis.

    Attributes:
        below: The probability of values up to this one.
        above: The probability of values beyond this one, with all its digits where it is small.
        centre: A value with about half of the probability on either side, for every law.
        lowest: Below this there is nothing, where that is known.
        highest: Above this there is nothing.
        grain: What probabilities below and above may be off by, (2, laws); 0 where small ones have all their digits.
    """

    below: Probability
    above: Probability
    centre: Array
    lowest: Array
    highest: Array
    grain: Array

    @classmethod
    def of(cls, below: Probability, above: Probability, ends: tuple[Array, Array]) -> DistributionTails:
        """Find the centre."""
        laws = len(ends[0])
        return cls(below, above, _median(below, laws), *ends, np.zeros((2, laws)))

    @property
    def mirrored(self) -> DistributionTails:
        """The same of the negative value."""
        chances = (lambda place: self.above(-place)), (lambda place: self.below(-place))
        return DistributionTails(*chances, -self.centre, -self.highest, -self.lowest, self.grain[::-1])

    def squared_shortfall(self, place: Array) -> Integrals:
        """The expected squared distance to places from below: 0 for values above them; infinite for some tails."""
        columns = place.reshape(-1, len(self.centre))
        nodes = np.concatenate([columns, self.centre[None]])
        order = nodes.argsort(axis=0)
        found = self._at(np.take_along_axis(nodes, order, axis=0))
        back = order.argsort(axis=0)[:-1]
        return Integrals(*(np.take_along_axis(each, back, axis=0).reshape(place.shape) for each in found))

    def squared_excess(self, place: Array) -> Integrals:
        """The expected squared distance to places from above: 0 for values below them."""
        return self.mirrored.squared_shortfall(-place)

    def _at(self, nodes: Array) -> Integrals:
        """The same of places in order, of which one is the centre."""
        first, gaps = self._endless(nodes[0]), np.diff(nodes, axis=0)
        panels = self._between(nodes)
        once = integrals(self._heights, panels)
        rough = _chained(first.value, summed(once, panels.part, gaps.size).value, gaps)
        # Some distributions are rough where they are next to nothing: splitting panels would not smooth them.
        weighty = self.below(nodes[1:]).ravel() > ROUGH
        # An error is none where it is small beside its panel, or beside all that is below divided by the panels.
        allowed = PRECISION / len(gaps) * rough[:, 1:].reshape(2, -1)
        found = refined(self._heights, panels, once, allowed, weighty, np.tile(self.grain[0], len(gaps)))
        return Integrals(_chained(first.value, found.value, gaps)[1], _chained(first.error, found.error, gaps)[1])

    def _heights(self, points: Array, part: Codes) -> Array:
        return self._asked(self.below, points, part % len(self.centre))

    def _asked(self, chance: Probability, points: Array, law: Codes) -> Array:
        """A probability for points of which the last axis says of which law they are, in any order."""
        if len(self.centre) == 1:
            return chance(points[..., None])[..., 0]
        order = law.argsort(kind="stable")
        rank = np.empty(len(law), dtype=np.int64)
        rank[order] = np.arange(len(law)) - np.searchsorted(law[order], law[order])
        # Distributions with a parameter a row are asked for whole rows: where there are fewer points, for any value.
        table = np.empty((*points.shape[:-1], int(rank.max(initial=-1)) + 1, len(self.centre)))
        table[:] = self.centre
        table[..., rank, law] = points
        return chance(table)[..., rank, law]

    def _between(self, nodes: Array) -> Panels:
        """Panels from every place to the next one; both are on one side of the centre."""
        low, high = nodes[:-1].ravel(), nodes[1:].ravel()
        under = high <= np.tile(self.centre, len(nodes) - 1)
        below, above = np.flatnonzero(under), np.flatnonzero(~under)
        near, far, part = self._steps(high[below], low[below], below)
        down = Panels(high[part] - far, far - near, near, part)
        near, far, part = self.mirrored._steps(-low[above], -high[above], above)
        up = Panels(low[part] + near, far - near, high[part] - low[part] - far, part)
        return Panels(*(np.concatenate(pair) for pair in zip(down, up, strict=True)))

    def _steps(self, start: Array, stop: Array, part: Codes) -> tuple[Array, Array, Codes]:
        """How far from its upper end panels of each gap begin and end, and which gap they are of."""
        law, length = part % len(self.centre), start - stop
        lowest = np.minimum(np.maximum(start - self.lowest[law], 0.0), length)

        def tail(step: Array, which: Marks | Codes) -> Array:
            return self._asked(self.below, start[which] - step, law[which])

        everywhere = np.arange(len(start))
        short = 2 * tail(lowest, everywhere) >= tail(np.zeros(len(start)), everywhere)
        found, rest = [(np.zeros(short.sum()), length[short], part[short])], np.flatnonzero(~short)
        near, far = np.zeros(len(rest)), halving(lambda step: tail(step, rest), len(rest))
        while len(rest):
            # Where nothing is left, the function is flat, and one panel is exact.
            over = (near >= lowest[rest]) | (tail(near, rest) == 0)
            chances = [tail(step, rest) for step in _marks(near, lowest[rest])]
            reach = np.where(over, length[rest], _reach(chances, near, far, lowest[rest]))
            found.append((near, reach, part[rest]))
            going = reach < length[rest]
            rest, near, far = rest[going], reach[going], 2 * far[going]
        near, far, part = (np.concatenate(each) for each in zip(*found, strict=True))
        return near, far, part

    def _endless(self, place: Array) -> Integrals:
        """What is below the lowest place of every law, and its squares: both integrals, (2, laws)."""
        total = _Total.of((2, len(place)))
        law, end = np.arange(len(place)), np.maximum(place - self.lowest, 0.0)
        weighty = self.below(place) > ROUGH
        near, far = np.zeros(place.shape), halving(lambda step: self.below(place - step), len(place))
        for number in range(MOST_PANELS):
            reach = _reach([self.below(place - step) for step in _marks(near, end)], near, far, end)
            panels = Panels(place - reach, reach - near, near, law)
            once = integrals(self._heights, panels)
            panel = refined(self._heights, panels, once, PRECISION * total.value, weighty, self.grain[0])
            # The law of a tail shows where its own length is all that counts.
            total.add(panel, number, (far < end) & (near > 0), reach < end)
            if total.settled.all():
                return Integrals(total.value, total.error)
            near, far = reach, 2 * far
        return Integrals(np.where(total.settled, total.value, np.inf), total.error)


@dataclass
class _Total:
    """What panels of a tail add up to, and how they fade: both integrals of every law."""

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

    def add(self, panel: Integrals, number: int, lawful: Marks, open_end: Marks) -> None:
        """Add a panel; where panels fade like powers without end, add all that are to come."""
        live = ~self.settled
        self.value = self.value + np.where(live, panel.value, 0.0)
        self.error = self.error + np.where(live, panel.error, 0.0)
        ratio = np.divide(panel.value, self.last, out=np.zeros(live.shape), where=self.last > 0)
        allowed = STEADY if number < 100 else 1e-6
        self.steady = np.where(np.abs(ratio - self.ratio) <= allowed * ratio, self.steady + 1, 0)
        # From a gap without any value no conclusion can be drawn.
        ending = live & lawful & (self.steady >= 3) & (ratio > 0) & (ratio < EMPTY - NEVER)
        endless = ending & (ratio > 1 - NEVER)
        rest = np.divide(panel.value * ratio, 1 - ratio, out=np.zeros(live.shape), where=ending & ~endless)
        self.value = np.where(endless, np.inf, self.value + rest)
        faded = ~open_end | ((number > 3) & (panel.value <= 1e-17 * self.value))
        self.settled = self.settled | ending | (faded & live)
        self.last, self.ratio = panel.value, ratio


def _marks(near: Array, end: Array) -> tuple[Array, Array, Array]:
    """Where a panel begins, where the tail ends, and the middle between both."""
    return near, near + (end - near) / 2, end


def _reach(chances: Sequence[Array], near: Array, far: Array, end: Array) -> Array:
    """Where a panel ends: far away, or where the tail does; a tail that falls late is met in halves of what is left."""
    now, halfway, last = chances
    middle = _marks(near, end)[1]
    late = (2 * last < now) & (2 * halfway > now) & (near < middle) & (middle < end)
    return np.where(far < end, far, np.where(late, middle, end))


def _chained(first: Array, parts: Array, gaps: Array) -> Array:
    """Both integrals up to every place, (2, places, laws), from those below the first and between one and the next."""
    mass, squares = parts.reshape(2, *gaps.shape)
    whole = np.cumsum(np.concatenate([first[:1], mass]), axis=0)
    moved = np.multiply(2 * gaps, whole[:-1], out=np.zeros(gaps.shape), where=gaps > 0)
    return np.stack([whole, np.cumsum(np.concatenate([first[1:], squares + moved]), axis=0)])


def _median(below: Probability, laws: int) -> Array:
    """A value with about half of the probability below, for every law, by bisection."""
    low, high = np.full(laws, -1.0), np.full(laws, 1.0)
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


def halving(beyond: Probability, count: int) -> Array:
    """At what distance about half of what is beyond the distance 0 is left, to the nearest power of 2."""
    target, step = beyond(np.zeros(count)) / 2, np.ones(count)
    alive = target > 0
    for _ in range(MOST_PANELS):
        longer = alive & (beyond(step) > target)
        if not longer.any():
            break
        step = np.where(longer, 2 * step, step)
    for _ in range(100):
        shorter = alive & (beyond(step / 2) <= target)
        if not shorter.any():
            break
        step = np.where(shorter, step / 2, step)
    return step

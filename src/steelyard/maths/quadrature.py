"""Integrals over stretches of a line, by panels that are halved where they are wrong, all of them at once.

Of a function of which no more is known than that it rises, two integrals are taken at once: itself, and twice itself
times the distance to a place above. A corner or a step is found by halving the one panel that holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks

    Heights = Callable[[Array, Codes], Array]  # of points, (points, panels), and which integral each panel is part of

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
POINTS = np.concatenate([-_POINTS, _POINTS[-2::-1]])[:, None]
WEIGHTS = np.concatenate([_WEIGHTS, _WEIGHTS[-2::-1]])
FEWER = np.concatenate([_FEWER, _FEWER[-2::-1]])  # the weights of every second point, for the estimate of the error

PRECISION = 1e-12  # of an integral
MOST_HALVINGS = 60
MOST_PANELS = 100_000  # that are looked at in all, beside sixty of every panel to begin with
BLOCK = 1 << 15  # panels at a time
BETTER = 0.75  # of the error should be left at the most where a panel is halved
MOST_STUCK = 3  # times in a row
ROUNDING = 1e-7  # what halving changes where a function has so few digits


class Integrals(NamedTuple):
    """What integrals were found to be, and estimates of their errors."""

    value: Array
    error: Array

    def at(self, which: Marks) -> Integrals:
        """Some of them."""
        return Integrals(*(each[:, which] for each in self))


class Panels(NamedTuple):
    """Stretches of a line.

    Attributes:
        low: Where they begin.
        length: How long they are.
        past: How far it is from their upper end to the place from which distances are taken.
        part: Which integral each of them is a part of.
    """

    low: Array
    length: Array
    past: Array
    part: Codes

    def at(self, which: Marks | slice) -> Panels:
        """Some of them."""
        return Panels(self.low[which], self.length[which], self.past[which], self.part[which])

    @property
    def halved(self) -> Panels:
        """The lower halves, and behind them the upper ones."""
        half = self.length / 2
        return Panels(
            np.concatenate([self.low, self.low + half]),
            np.tile(half, 2),
            np.concatenate([self.past + half, self.past]),
            np.tile(self.part, 2),
        )


def integrals(heights: Heights, panels: Panels) -> Integrals:
    """What is under a function over panels, and the same times twice the distance from above: (2, panels)."""
    value, error = np.zeros((2, 2, len(panels.low)))
    size = max(BLOCK, int(panels.part.max(initial=0)) + 1)
    for start in range(0, len(panels.low), size):
        some = slice(start, start + size)
        value[:, some], error[:, some] = _by_rule(heights, panels.at(some))
    return Integrals(value, error)


def _by_rule(heights: Heights, panels: Panels) -> Integrals:
    half = panels.length / 2
    found = heights(panels.low + half * (1 + POINTS), panels.part)
    both = np.stack([found, 2 * (panels.past + half * (1 - POINTS)) * found])
    value, fewer = (
        half * np.einsum("p,kpm->km", rule, part) for rule, part in ((WEIGHTS, both), (FEWER, both[:, 1::2]))
    )
    middle = np.einsum("p,kpm->km", WEIGHTS, both)[:, None] / 2
    spread = half * np.einsum("p,kpm->km", WEIGHTS, np.abs(both - middle))
    # How QUADPACK turns the difference of the two rules into the error of the better one.
    apart = np.divide(200 * np.abs(value - fewer), spread, out=np.zeros(value.shape), where=spread > 0)
    return Integrals(value, spread * np.minimum(1.0, apart**1.5))


def refined(
    heights: Heights, panels: Panels, found: Integrals, allowed: Array, weighty: Marks, grain: Array
) -> Integrals:
    """The integrals that panels are parts of, (2, integrals); panels are halved where their errors are too large.

    Args:
        heights: The function.
        panels: The panels.
        found: Their integrals.
        allowed: An error that is small enough for a panel of each integral, (2, integrals).
        weighty: Of which integrals a panel may be halved.
        grain: What the function may be off by: no panel tells more.
    """
    done, left = [], MOST_PANELS + MOST_HALVINGS * len(panels.low)
    stuck = np.zeros(found.error.shape)
    for _ in range(MOST_HALVINGS):
        blur = grain[panels.part] * panels.length
        blurs = np.stack([blur, 2 * blur * (panels.past + panels.length)])
        enough = np.maximum(np.maximum(PRECISION * found.value, allowed[:, panels.part]), blurs)
        # Of a function with few digits errors do not fall, however short panels are.
        wrong: Marks = np.any(weighty[panels.part] & (found.error > enough) & (stuck < MOST_STUCK), axis=0)
        if not wrong.any() or left < 0:
            break
        done.append((found.at(~wrong), panels.part[~wrong]))
        whole, stuck, panels = found.at(wrong), stuck[:, wrong], panels.at(wrong).halved
        found = integrals(heights, panels)
        stuck = np.tile(np.where(_is_no_better(whole, found), stuck + 1, 0), 2)
        left -= len(panels.low)
    done.append((found, panels.part))
    return Integrals(*np.sum([summed(*each, len(weighty)) for each in done], axis=0))


def summed(found: Integrals, part: Codes, parts: int) -> Integrals:
    """The integrals that panels are parts of: (2, integrals)."""
    value, error = (np.stack([np.bincount(part, row, parts) for row in each]) for each in found)
    return Integrals(value.astype(np.float64), error.astype(np.float64))


def _is_no_better(whole: Integrals, halves: Integrals) -> Marks:
    value, error = (each[:, : each.shape[1] // 2] + each[:, each.shape[1] // 2 :] for each in halves)
    same = np.abs(value - whole.value) <= ROUNDING * value
    return np.asarray(same & (error > BETTER * whole.error))

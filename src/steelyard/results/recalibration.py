"""Forecasts as they would be if recalibrated: each class against the rest, every row by rows of other folds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.suggestions import refuse_unknown
from ..core.threads import chunks, dealt_out, gathered, over_rows
from .reliability import Reliability, ends

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Places

Recalibration = Literal["logistic", "isotonic"]
# What is done to forecasts beforehand; and then, by forecasts, outcomes and weights of some rows, to those of others.
Way = tuple[Callable[[Any], Any], Callable[[Any, Any, Any, Any], Any]]

FITTING = 100  # so many passes over the rows outside a fold does a line take, give or take
PULL = 0.5  # towards a level line, which keeps it finite where a threshold sets the classes apart
MOST_STEPS = 100
MANY = 1 << 14  # rows from which on a line is looked for among fewer of them first
FEWER = 16
CLOSE = 1e-7  # a step of Newton's that leaves the square of it at most
FURTHEST = 10.0  # that one leads, and as far again as all before it


def recalibrate(
    memberships: Array, truth: Codes, weight: Array, fold: Places, method: Recalibration = "logistic"
) -> Array:
    """Forecasts as they would be if recalibrated, every row by what the rows of other folds say: (classes, rows).

    Each class is recalibrated against the rest; of more than two classes the results are scaled to add up to 1.
    """
    ways: dict[str, Way] = {"logistic": (log_odds, _logistic), "isotonic": (np.asarray, _isotonic)}
    refuse_unknown("method", method, ways)
    (prepare, fit), found = ways[method], np.empty_like(memberships)
    # One fold after the other, so that those outside a fold are what is before and behind it.
    order, folds = np.argsort(fold, kind="stable"), np.append(0, np.cumsum(np.bincount(fold)))
    held_out = [(low, high) for low, high in pairwise(folds.tolist()) if low < high]
    weights, codes = weight[order], range(1, 2) if len(memberships) == 2 else range(len(memberships))

    def work(code: int) -> None:
        prepared, happened = prepare(gathered(memberships[code], order)), (truth[order] == code).astype(np.float64)
        fitted = np.empty(len(prepared))
        for low, high in held_out:
            seen, came_true, mass = (np.delete(values, slice(low, high)) for values in (prepared, happened, weights))
            fitted[low:high] = fit(seen, came_true, mass, prepared[low:high])
        found[code, order] = fitted

    dealt_out(codes, work, FITTING * len(order))
    if len(memberships) == 2:
        found[0] = 1 - found[1]
        return found
    return np.asarray(found / found.sum(axis=0))


def log_odds(chance: Array) -> Array:
    """Log odds, infinite ones included."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chance) - np.log1p(-chance))


def _logistic(odds: Array, happened: Array, weight: Array, new: Array) -> Array:
    """A straight line on the scale of log odds (Cox 1958; Platt 2000), none of them surer than rows can tell."""
    surest = float(-log_odds(np.array(0.5 / (len(odds) + 1))))
    x = np.clip(odds, -surest, surest)
    centre = float(np.average(x, weights=weight))
    x -= centre
    spread = float(np.sqrt(np.average(np.square(x), weights=weight))) or 1.0
    x /= spread
    line = likeliest(x, happened, weight)
    return chance_on((np.clip(new, -surest, surest) - centre) / spread, line)


def likeliest(x: Array, happened: Array, weight: Array, pull: float = PULL) -> Array:
    """The likeliest line, by Newton's method: from a level one it always gets there, from that of fewer rows faster."""
    starts: list[Array] = [np.zeros(2)]
    if len(x) >= MANY:
        few = slice(None, None, FEWER)
        starts.insert(0, likeliest(x[few], happened[few], weight[few]))
    for start in starts:
        line, step, before = start, np.zeros(2), np.zeros(2)
        for _ in range(MOST_STEPS):
            gradient, curvature = slopes_of(x, happened, weight, line)
            gradient = gradient - pull * line
            if (2 * gradient + before) @ step < 0:  # behind the top, and well below it: half the way back
                step = step / 2
                line = line - step
                continue
            step = np.asarray(np.linalg.solve(curvature + pull * np.eye(2), gradient), dtype=np.float64)
            # Where hardly any row tells, a step is all but endless, and leads to where none does.
            furthest, reached = float(np.abs(step).max()), float(np.abs(line).max())
            step = step * min(1.0, (FURTHEST + reached) / furthest) if furthest else step
            before = gradient
            line = line + step
            if furthest < CLOSE * max(1.0, reached):
                return line
    return line


def chance_on(x: Array, line: Array) -> Array:
    """The probability that a line on the scale of log odds gives."""
    found = x * -line[1]
    found -= line[0]
    with np.errstate(over="ignore"):  # 1 / infinity is what it is
        np.exp(found, out=found)
    found += 1.0
    return np.asarray(np.divide(1.0, found, out=found))


def slopes_of(x: Array, happened: Array, weight: Array, line: Array) -> tuple[Array, Array]:
    """Gradient and (negative) curvature of the log likelihood of a line."""

    def work(start: int, stop: int) -> Array:
        sums = np.zeros(5)
        for low, high in chunks(start, stop, columns=4):
            some, rows, chance = x[low:high], weight[low:high], chance_on(x[low:high], line)
            gap = happened[low:high] - chance
            gap *= rows
            chance *= 1.0 - chance  # from here on: how fast it rises
            chance *= rows
            turned = chance * some
            sums += gap.sum(), np.einsum("i,i", gap, some), chance.sum(), turned.sum(), np.einsum("i,i", turned, some)
        return sums

    by_level, by_slope, level, both, slope = sum(over_rows(len(x), work, columns=10), np.zeros(5))
    return np.array([by_level, by_slope]), np.array([[level, both], [both, slope]])


def _isotonic(chance: Array, happened: Array, weight: Array, new: Array) -> Array:
    """Isotonic regression; between the forecasts that were seen, along straight lines.

    Half a row of either kind is added to every level stretch, so that none is surer than its rows can tell.
    """
    seen = Reliability.of(chance, happened, weight)
    kept = ends(seen.frequency)
    stretch = np.cumsum(np.append(0, np.diff(seen.frequency) != 0))
    mass = np.bincount(stretch, seen.mass)[stretch]
    frequency = (seen.frequency * mass + 0.5) / (mass + 1)
    return np.interp(new, seen.forecast[kept], np.maximum.accumulate(frequency)[kept])

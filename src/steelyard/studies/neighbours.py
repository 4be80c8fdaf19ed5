"""Votes of the nearest rows in many data sets, at the same points for all of them.

Points that lie close together are looked at together. A row can be among the nearest of any of them only if it is not
much farther from their middle than the last of the nearest there. Mostly these few rows are of one class, or so nearly
that the others cannot win, and then no distance to any point is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .spread import Groups, Spread

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks

Places = np.int16  # of classes: short, as there are many of them
AT_A_TIME = 1 << 16  # distances that stay in the cache


def highest(scores: Array | Codes) -> Codes:
    """The first class with the highest score: (sets, classes, points) to (sets, points)."""
    best, found = scores[:, 0], np.zeros((len(scores), *scores.shape[2:]), dtype=Places)
    for code in range(1, scores.shape[1]):
        # A later class has a larger code, so that the largest is that of the last one that was higher.
        np.maximum(found, (scores[:, code] > best) * Places(code), out=found)
        best = np.maximum(best, scores[:, code])
    return found


def held_out_votes(x: Array, codes: Codes, folds: Codes, classes: int, number: int) -> Array:
    """Votes of the rows nearest to each row that are not of its fold, (sets, classes, rows)."""
    distance = _squared_distances(x, x)
    distance[folds[:, :, None] == folds[:, None, :]] = np.inf
    voting = (distance <= _last(distance, number)) & np.isfinite(distance)
    return np.swapaxes(voting.astype(np.float64) @ _ballots(codes, classes), 1, 2)


def _squared_distances(one: Array, other: Array) -> Array:
    """Between all rows of one and all rows of the other, set by set."""
    found = np.square(one[..., :, None, 0] - other[:, None, :, 0])
    for variable in range(1, other.shape[-1]):
        gap = one[..., :, None, variable] - other[:, None, :, variable]
        found += np.square(gap, out=gap)
    return found


def _last(distance: Array, number: int) -> Array:
    """The distance of the last of the nearest."""
    place = min(number, distance.shape[-1]) - 1
    return np.asarray(np.partition(distance, place, axis=-1)[..., place, None])


def _ballots(codes: Codes, classes: int) -> Array:
    """1 for the class of each row and 0 for the others, (sets, rows, classes)."""
    return np.asarray(codes[..., None] == np.arange(classes), dtype=np.float64)


# --- votes at points ------------------------------------------------------------------------------------------------


def votes(points: Spread, x: Array, codes: Codes, classes: int, number: int) -> Codes:
    """The class with most votes among the rows nearest to each point, (sets, points)."""
    (sets, rows, variables), groups = x.shape, points.groups
    near = _within_reach(groups, x, number)
    ballots = _ballots(codes, classes)
    count = near.astype(np.float64) @ ballots
    found = np.repeat(count.argmax(axis=-1).astype(Places)[..., None], groups.members.shape[1], axis=-1)
    # One more row, which is nowhere near and has no vote.
    x = np.concatenate([x, np.full((sets, 1, variables), np.inf)], axis=1)
    ballots = np.concatenate([ballots, np.zeros((sets, 1, classes))], axis=1)
    # Where the others are fewer than half of those who vote, they cannot win.
    doubtful = count.sum(axis=-1) - count.max(axis=-1) > (number - 1) // 2
    for set_, group, row in _pieces(near, doubtful, groups.members.shape[1]):
        distance = _squared_distances(points.x[groups.members[group]], x[set_[:, None], row])
        count = (distance <= _last(distance, min(number, rows))).astype(np.float64) @ ballots[set_[:, None], row]
        found[set_, group] = highest(np.swapaxes(count, 1, 2))
    assigned = np.empty((sets, len(points.x)), dtype=Places)
    assigned[:, groups.members.ravel()] = found.reshape(sets, -1)
    return assigned


def _within_reach(groups: Groups, x: Array, number: int) -> Marks:
    """Which rows may be among the nearest of any point of a group, (sets, groups, rows)."""
    near = np.empty((len(x), len(groups.radius), x.shape[1]), dtype=bool)
    for place in range(len(x)):  # the distances of one set stay in the cache
        squared = _squared_distances(groups.centre, x[place : place + 1])[0]
        reach = np.sqrt(_last(squared, number)) + 2 * groups.radius[:, None]
        # A little more than the distance that counts, as distances are rounded.
        near[place] = squared <= np.square(reach) * (1 + 1e-9)
    return near


def _pieces(near: Marks, doubtful: Marks, points: int) -> Iterator[tuple[Codes, Codes, Codes]]:
    """Sets and groups where votes are to be counted, and the rows within reach there.

    Groups with about as many rows come together, as many as stay in the cache. The others are filled up with a row
    that is one past the last.
    """
    sets, groups = np.nonzero(doubtful)
    inside = near[sets, groups]
    size = inside.sum(axis=1)
    rows, start, order = np.nonzero(inside)[1], np.cumsum(size) - size, np.argsort(-size)
    rows = np.append(rows, near.shape[-1])
    while len(order):
        most = int(size[order[0]])
        chosen, order = np.split(order, [max(1, AT_A_TIME // (points * most))])
        places = np.arange(most)
        yield (
            sets[chosen],
            groups[chosen],
            rows[np.where(places < size[chosen, None], start[chosen, None] + places, -1)],
        )

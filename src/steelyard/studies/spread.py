"""Points at which many classifiers are to assign a class, and how near they lie to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.cached import cached_property

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

CLOSE = 20  # points of a group at the most


class Groups(NamedTuple):
    """Points that lie close together.

    Attributes:
        members: The points of each group, (groups, size); one may stand twice to fill a group up.
        centre: The middle of each group, (groups, variables).
        radius: How far the farthest of its points is from there, (groups,).
    """

    members: Codes
    centre: Array
    radius: Array


@dataclass(frozen=True)
class Spread:
    """Points.

    Attributes:
        x: (points, variables).
    """

    x: Array

    @cached_property
    def centre(self) -> Array:
        """Their mean."""
        return np.asarray(self.x.mean(axis=0))

    @cached_property
    def away(self) -> Array:
        """How far they are from it, (variables, points)."""
        return np.ascontiguousarray((self.x - self.centre).T)

    @cached_property
    def products(self) -> Array:
        """All products of two such distances, (variables squared, points)."""
        return (self.away[:, None] * self.away).reshape(-1, len(self.x))

    @cached_property
    def groups(self) -> Groups:
        """The points in groups, halved at the median of the widest variable until they are small."""
        parts: list[Codes] = [np.arange(len(self.x))]
        while max(map(len, parts)) > CLOSE:
            parts = [half for part in parts for half in _halves(self.x, part)]
        most = max(map(len, parts))
        members = np.stack([np.resize(part, most) for part in parts])
        inside = self.x[members]
        centre = (inside.min(axis=1) + inside.max(axis=1)) / 2
        radius = np.sqrt(np.square(inside - centre[:, None]).sum(axis=-1).max(axis=1))
        return Groups(members, centre, radius)


def _halves(x: Array, part: Codes) -> tuple[Codes, Codes]:
    widest = np.ptp(x[part], axis=0).argmax()
    order, middle = np.argsort(x[part, widest], kind="stable"), len(part) // 2
    return part[order[:middle]], part[order[middle:]]

"""A scaling of memberships that is fitted to some rows and can be applied to others: sums by region, then maps.

The sums of regions add, so that rows may come in any number of pieces. A region with too few rows takes the scaling of
the wider region that it is a part of; a class that was never assigned is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .errors import BadOption, quoted
from .scaling import NEARLY_ONE, VARIANTS, BetaMap, Moments, Variant, beta_map, orders, rebuilt, sticks

if TYPE_CHECKING:
    from .kinds import Array, Codes, Places

Prefix = tuple[int, ...]


class Sums(NamedTuple):
    """What is summed over the rows of a region.

    Attributes:
        rows: How many there are.
        mass: What they weigh.
        classes: What those of each class weigh.
        mean: The means of what each of the highest classes takes of what those before it left.
        scatter: Sums of squares around these.
    """

    rows: float
    mass: float
    classes: Array
    mean: Array
    scatter: Array

    def __add__(self, other: object) -> Sums:
        """The sums of both (Chan, Golub & LeVeque 1983)."""
        if not isinstance(other, Sums):
            return NotImplemented
        mass, apart = self.mass + other.mass, other.mean - self.mean
        return Sums(
            self.rows + other.rows,
            mass,
            self.classes + other.classes,
            self.mean + apart * (other.mass / mass),
            self.scatter + other.scatter + np.square(apart) * (self.mass * other.mass / mass),
        )

    def moments(self, level: int, prefix: Prefix) -> Moments:
        """Of one of the highest classes: its values, and the mean that they should have."""
        left = 1 - self.classes[list(prefix[:level])].sum() / self.mass
        share = self.classes[prefix[level]] / self.mass
        target = float(share / left) if left > 1e-12 else 1.0
        # As many rows less one as there are, by what they weigh.
        variance = self.scatter[level] / self.mass * (self.rows / (self.rows - 1)) if self.rows > 1 else 0.0
        return Moments(self.rows, float(self.mean[level]), float(variance), min(target, 1.0))


@dataclass(frozen=True)
class Regions:
    """The sums of all regions, of every depth up to the greatest."""

    classes: int
    depth: int
    sums: Mapping[Prefix, Sums] = field(repr=False)

    @classmethod
    def of(cls, memberships: Array, order: Places, truth: Codes, mass: Array | None = None) -> Regions:
        """Sum up some rows."""
        (rows, classes), depth = memberships.shape, order.shape[1]
        weight = np.ones(rows) if mass is None else mass
        parts, found = sticks(memberships, order), {}
        for level in range(1, depth + 1):
            for prefix, here in grouped(order[:, :level], classes):
                own, values = weight[here], parts[here, :level]
                total = float(own.sum())
                mean = own @ values / total if total > 0 else values.mean(axis=0)
                by_class = np.asarray(np.bincount(truth[here], own, classes), dtype=np.float64)
                found[prefix] = Sums(float(len(own)), total, by_class, mean, own @ np.square(values - mean))
        return cls(classes, depth, found)

    def __add__(self, other: Regions) -> Regions:
        """The sums of both."""
        joined = dict(self.sums)
        for prefix, sums in other.sums.items():
            joined[prefix] = joined[prefix] + sums if prefix in joined else sums
        return Regions(self.classes, self.depth, joined)


def grouped(order: Places, classes: int) -> Iterator[tuple[Prefix, Places]]:
    """The rows of each region, one region after the other."""
    code = order @ classes ** np.arange(order.shape[1])[::-1]
    by_code = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[by_code], prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(code)], strict=True):
        here = by_code[start:stop]
        yield tuple(order[here[0]].tolist()), here


@dataclass(frozen=True)
class Scaling:
    """How memberships are scaled, region by region.

    Attributes:
        regions: The sums that it was made of.
        variant: "default"; "literal", the formulas as they are printed; or "klar", as the R package klaR has them.
        floor: How many rows a region needs to be scaled on its own.
    """

    regions: Regions
    variant: Variant = "default"
    floor: int = 1

    def __post_init__(self) -> None:
        """Check the options."""
        if self.variant not in VARIANTS:
            raise BadOption(f"variant is {quoted(self.variant)}", mend=f"Say one of {', '.join(VARIANTS)}")
        if self.variant == "klar" and self.regions.depth > 1:
            raise BadOption("klaR knows depth 1 only", mend="Say depth=1, or variant='default'")

    @cached_property
    def maps(self) -> dict[Prefix, tuple[BetaMap, ...]]:
        """The maps of the highest classes in every region that has rows enough."""
        found = {}
        for prefix, sums in self.regions.sums.items():
            if sums.rows >= self.floor or len(prefix) == 1:
                levels = range(len(prefix))
                found[prefix] = tuple(beta_map(sums.moments(level, prefix), self.variant) for level in levels)
        return found

    def region(self, prefix: Prefix) -> Prefix:
        """The region whose scaling rows of a region take: its own, or the least wide one around it."""
        while prefix and prefix not in self.maps:
            prefix = prefix[:-1]
        return prefix

    def __call__(self, memberships: Array, order: Places | None = None) -> Array:
        """Scale memberships, (rows, classes)."""
        order = orders(memberships, self.regions.depth) if order is None else order
        found = memberships.copy()
        for prefix, here in grouped(order, self.regions.classes):
            found[here] = self.of_region(prefix, memberships[here])
        return found

    def of_region(self, prefix: Prefix, memberships: Array, maps: Sequence[BetaMap] | None = None) -> Array:
        """Scale the memberships of rows of one region, by its own maps or by others."""
        used = self.region(prefix)
        if not used:
            return memberships
        order = np.broadcast_to(np.array(used), (len(memberships), len(used)))
        values = sticks(memberships, order)
        scaled = np.stack([one(values[:, level]) for level, one in enumerate(maps or self.maps[used])], axis=1)
        return rebuilt(memberships, order, scaled, NEARLY_ONE if self.variant == "klar" else 1.0)

    @property
    def notes(self) -> list[str]:
        """Regions that could not be scaled as the rest, and why."""
        regions = [prefix for prefix in self.regions.sums if len(prefix) == self.regions.depth]
        small = [prefix for prefix in regions if self.region(prefix) != prefix]
        found = [f"{len(small)} of {len(regions)} regions have too few rows and take the scaling of a wider one"]
        told = {one.note for prefix in regions for one in self.maps.get(prefix, ()) if one.note}
        return [*(found if small else []), *sorted(told)]

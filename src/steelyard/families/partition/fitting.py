"""A scaling of memberships that is fitted to some rows and can be applied to others: sums by region, then maps.

The sums of regions add, so that rows may come in any number of pieces. A region with too few rows takes the scaling of
the wider region that it is a part of; a class that was never assigned is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.cached import cached_property
from ...core.errors import BadOption
from ...core.suggestions import refuse_unknown
from ...core.threads import shared
from ...maths.sides import one_less
from ...states.held_rows import counts_of
from ..summed.recipe import added_by_name
from .rows import Arranged, Prefix, RegionRows, Use
from .scaling import (
    MANY_VALUES,
    NEARLY_ONE,
    VARIANTS,
    BetaMap,
    BetaMoments,
    Blocks,
    Variant,
    beta_map,
    broken,
    rescaled,
)

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Places

ROUNDING = 1e-12  # of shares
Joined = Mapping[Prefix, Blocks]
NOTHING_JOINED: Joined = {}  # what nobody may write into; a read-only view could not be handed to other processes


class RegionSums(NamedTuple):
    """What is summed over the rows of a region.

    Attributes:
        rows: How many there are.
        mass: What they weigh.
        classes: What those of each class weigh.
        left: What those before each of the highest classes left, as it weighs.
        mean: The means of what each takes of that, by how much it is: then the means of probabilities that are right
            are the shares of the classes, whether or not what one takes depends on what was left.
        scatter: Sums of squares around these.
        low: The least of what they take.
        high: The greatest.
    """

    rows: float
    mass: float
    classes: Array
    left: Array
    mean: Array
    scatter: Array
    low: Array
    high: Array

    def __add__(self, other: object) -> RegionSums:
        """The sums of both (Chan, Golub & LeVeque 1983)."""
        if not isinstance(other, RegionSums):
            return NotImplemented
        left, apart = self.left + other.left, other.mean - self.mean
        share = other.left / np.where(left > 0, left, 1.0)
        return RegionSums(
            self.rows + other.rows,
            self.mass + other.mass,
            self.classes + other.classes,
            left,
            self.mean + apart * share,
            self.scatter + other.scatter + np.square(apart) * self.left * share,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def __neg__(self) -> RegionSums:
        """Turn around, so that subtracting is adding; the least and the greatest stay, as if nothing were taken out."""
        scatter = -self.scatter
        return RegionSums(-self.rows, -self.mass, -self.classes, -self.left, self.mean, scatter, self.low, self.high)

    def moments(self, level: int, order: Blocks) -> BetaMoments:
        """Of one of the highest classes: its values, and the mean that they should have."""
        left = 1 - self.classes[list(chain(*order[:level]))].sum() / self.mass
        share = self.classes[list(order[level])].sum() / self.mass
        # But for rounding, nothing is left, or all that is left is of these classes.
        whole = left <= ROUNDING or share >= left * (1 - ROUNDING)
        target = 1.0 if whole else float(share / left)
        # As many rows less one as there are, by what they weigh.
        spread = self.scatter[level] / self.left[level] if self.left[level] > 0 else 0.0
        variance = spread * one_less(self.rows) if self.rows > 1 else 0.0
        span = (float(self.low[level]), float(self.high[level]))
        return BetaMoments(self.rows, float(self.mean[level]), float(variance), target, span)


@dataclass(frozen=True)
class Regions:
    """The sums of all regions, of every depth up to the greatest.

    Attributes:
        classes: How many there are.
        depth: The greatest.
        sums: Those of the regions, by their highest classes.
        joined: The classes that stand together in regions that ties have joined; in no others.
    """

    classes: int
    depth: int
    sums: Mapping[Prefix, RegionSums] = field(repr=False)
    joined: Joined = field(default_factory=dict, repr=False)

    def order(self, prefix: Prefix) -> Blocks:
        """The highest classes of a region, those together that ties have joined."""
        return self.joined.get(prefix, tuple((place,) for place in prefix))

    @classmethod
    def of(
        cls,
        rows: Arranged,
        truth: Codes,
        mass: Array | None = None,
        times: Array | None = None,
        joined: Joined = NOTHING_JOINED,
    ) -> Regions:
        """Sum up some rows, by what they weigh and by how often they occur; 1 where nothing is said of these."""
        nothing = cls(len(rows.columns), rows.depth, {}, joined)
        parts = [part for level in range(1, rows.depth + 1) for part in rows.regions(level)]

        def work(share: Sequence[RegionRows]) -> Regions:
            found: dict[Prefix, list[RegionSums]] = {}
            for part in share:
                found.setdefault(part.prefix, []).extend(nothing._sums(part, rows, truth, mass, times))
            return replace(nothing, sums={prefix: reduce(add, sums) for prefix, sums in found.items() if sums})

        return reduce(add, shared(parts, work, rows.columns.size // max(len(parts), 1)))

    def _sums(
        self, part: RegionRows, rows: Arranged, truth: Codes, mass: Array | None, times: Array | None
    ) -> Iterator[RegionSums]:
        """Those of some rows of a region; none where they weigh nothing, and so have no say."""
        here = slice(part.start, part.stop)
        places = rows.places[here]
        own = None if mass is None else mass.take(places)
        total = float(len(places) if own is None else own.sum())
        if total > 0:
            codes = truth.take(places)
            by_class = counts_of(codes, self.classes)
            if own is not None:
                by_class = np.bincount(codes, own, self.classes).astype(np.float64)
            shares = broken(rows.columns[:, here], self.order(part.prefix))
            parts = [_summed(value, _product(left, own)) for value, left in shares]
            count = float(len(places) if times is None else times.take(places).sum())
            yield RegionSums(count, total, by_class, *np.reshape(parts, (-1, 5)).T)

    def __add__(self, other: Regions) -> Regions:
        """The sums of both; regions of which every row was taken out are gone."""
        both = added_by_name(self.sums, other.sums)
        left = {prefix: sums for prefix, sums in both.items() if sums.rows}
        return replace(self, sums=left, joined={**self.joined, **other.joined})

    def __neg__(self) -> Regions:
        """Turn around, so that subtracting is adding."""
        return replace(self, sums={prefix: -sums for prefix, sums in self.sums.items()})


def _product(left: Array | None, mass: Array | None) -> Array | None:
    """What was left, as it weighs; None stands for 1."""
    return left if mass is None else mass if left is None else left * mass


def _summed(values: Array, weight: Array | None) -> tuple[float, float, float, float, float]:
    """What they weigh, their mean, the sum of squares around it, the least and the greatest."""
    total = float(len(values) if weight is None else weight.sum())
    # Not by linear algebra, whose own threads would get in the way of others.
    heavy = values if weight is None else values * weight
    mean = float(heavy.sum()) / total if total > 0 else float(values.mean())
    away = values - mean
    # The mean is off in its last digit; near 1, where 1 - mean is tiny, that digit counts.
    heavy = away if weight is None else away * weight
    off = float(heavy.sum()) / total if total > 0 else 0.0
    away *= heavy
    scatter = max(float(away.sum()) - total * off * off, 0.0)
    return total, mean + off, scatter, float(values.min()), float(values.max())


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
        refuse_unknown("variant", self.variant, VARIANTS)
        if self.variant == "klar" and self.regions.depth > 1:
            raise BadOption("klaR knows depth 1 only", mend="Say depth=1, or scaling='default'")
        if self.variant == "klar" and self.regions.joined:
            raise BadOption("klaR joins no regions", mend="Say ties='first' or 'random', or scaling='default'")

    @cached_property
    def maps(self) -> dict[Prefix, tuple[BetaMap, ...]]:
        """The maps of the highest classes in every region that has rows enough."""
        found = {}
        for prefix, sums in self.regions.sums.items():
            if sums.rows >= self.floor or len(prefix) == 1:
                order = self.regions.order(prefix)
                moments = [sums.moments(level, order) for level in range(len(order))]
                found[prefix] = tuple(beta_map(each, self.variant) for each in moments)
        return found

    def region(self, prefix: Prefix) -> Prefix:
        """The region whose scaling rows of a region take: its own, or the least wide one around it."""
        while prefix and prefix not in self.maps:
            prefix = prefix[:-1]
        return prefix

    def __call__(self, memberships: Array, order: Places | None = None) -> Array:
        """Scale memberships, (rows, classes)."""
        if order is None and self.regions.joined:
            raise BadOption("ties have joined regions, and rows may lie there", mend="Give the order of the rows too")
        return self.all(Arranged.of(memberships, order, self.regions.depth))

    def all(self, rows: Arranged) -> Array:
        """Scale the memberships of all rows, (rows, classes)."""
        found = np.empty(rows.columns.shape[::-1])

        def write(_: Prefix, here: slice, scaled: Array) -> None:
            for place, column in enumerate(scaled):
                found[:, place][rows.places[here]] = column

        self.each(rows, write)
        return found

    def each(self, rows: Arranged, use: Use) -> None:
        """Scale memberships a few rows of one region at a time, and let somebody use them."""
        many = self._tabulated(len(rows.places))

        def scale(prefix: Prefix, here: slice, columns: Array) -> None:
            use(prefix, here, self.of_region(prefix, columns, many=many))

        rows.each(scale)

    def _tabulated(self, rows: int) -> bool:
        """Whether so many rows are worth tables; if they are, they are made before any thread asks for them."""
        many = rows > MANY_VALUES * len(self.maps)
        if many:
            for one in chain.from_iterable(self.maps.values()):
                _ = one.table
        return many

    def of_region(
        self, prefix: Prefix, columns: Array, maps: Sequence[BetaMap] | None = None, many: bool | None = None
    ) -> Array:
        """Scale the memberships of rows of one region, (classes, rows), by its own maps or by others."""
        used = self.region(prefix)
        order = self.regions.order(used)
        if not order:
            return columns
        return rescaled(columns, order, maps or self.maps[used], NEARLY_ONE if self.variant == "klar" else 1.0, many)

    @property
    def notes(self) -> list[str]:
        """Regions that could not be scaled as the rest, and why."""
        regions = [prefix for prefix in self.regions.sums if len(prefix) == self.regions.depth]
        small = [prefix for prefix in regions if self.region(prefix) != prefix]
        found = [f"{len(small)} of {len(regions)} regions have too few rows and take the scaling of a wider one"]
        told = {one.note for prefix in regions for one in self.maps.get(prefix, ()) if one.note}
        spared = [f"in some regions {note}: their rows get the share of right ones" for note in sorted(told)]
        joined = sum(self.regions.order(prefix) != tuple((place,) for place in prefix) for prefix in regions)
        tied = [f"{joined} of {len(regions)} regions are made of several that rows are tied between"]
        return [*(tied if joined else []), *(found if small else []), *spared]

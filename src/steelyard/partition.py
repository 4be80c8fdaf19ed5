"""Rows in a standardized partition space: how far their scaled memberships are from the corners of the simplex."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .parallel import chunks, over_rows
from .partition_scaling import Prefix, Regions, Scaling, grouped
from .scaling import Moments, beta_map, broken, orders

if TYPE_CHECKING:
    from .kinds import Array, Codes, Places
    from .scaling import Variant

STEP = 1e-5  # of what a moment can differ: for slopes by differences
COLUMNS = ("true_gap", "assigned_gap", "top")


@dataclass(frozen=True)
class Space:
    """Rows with their memberships, scaled as asked for.

    Attributes:
        memberships: As the classifier gave them, (rows, classes).
        truth: Codes of the true classes.
        mass: What the rows weigh.
        variant: How they are scaled; "raw" where they are not.
        depth: How many of the highest classes a region is made of.
        floor: How many rows a region needs to be scaled on its own.
        seed: Where the random numbers start by which ties are broken.
        times: How often each row occurs; once where nothing is said of it.
    """

    memberships: Array = field(repr=False)
    truth: Codes = field(repr=False)
    mass: Array = field(repr=False)
    variant: str = "default"
    depth: int = 1
    floor: int = 1
    seed: int | None = None
    times: Array | None = field(default=None, repr=False)

    @cached_property
    def order(self) -> Places:
        """The highest classes of each row."""
        return orders(self.memberships, self.depth, None if self.seed is None else np.random.default_rng(self.seed))

    @cached_property
    def scaling(self) -> Scaling | None:
        """What is fitted to these rows; nothing where they stay as they are."""
        if self.variant == "raw":
            return None
        variant: Variant = self.variant  # type: ignore[assignment]  # checked there
        regions = Regions.of(self.memberships, self.order, self.truth, self.mass, self.times)
        return Scaling(regions, variant, self.floor)

    @cached_property
    def scaled(self) -> Array:
        """The memberships that count."""
        return self.memberships if self.scaling is None else self.scaling(self.memberships, self.order)

    @property
    def assigned(self) -> Codes:
        """The class of each row: by the memberships as given; klaR looks at the scaled ones."""
        assigned = orders(self.scaled, 1) if self.variant == "klar" else self.order
        return assigned[:, 0].astype(np.intp)

    def column(self, name: str) -> Array:
        """What formulas ask for by a name, of every row."""
        (rows, classes), found, codes = self.scaled.shape, np.empty(len(self.truth)), self._corners(name)

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop, classes):
                columns = np.ascontiguousarray(self.scaled[low:high].T)
                found[low:high] = _from(columns, None if codes is None else codes[low:high])

        over_rows(rows, work, classes)
        return found

    def _corners(self, name: str) -> Codes | None:
        """The classes of the corners that a column looks at."""
        if name == "true_gap":
            return self.truth
        return self.assigned if name == "assigned_gap" else None

    # --- what rows do to the scaling of others ----------------------------------------------------------------

    def influence(self, name: str) -> Array:
        """What each row adds to the mean of a column, per unit of its weight over all: its own value, and by scaling.

        The scaling of a region depends on the mean and the variance of the values there and on how often its classes
        are the true ones; every row has a part in these.
        """
        column = self.column(name)
        found: Array = column - float(self.mass @ column / self.mass.sum())
        if self.scaling is None:
            return found
        affected: dict[Prefix, list[tuple[Prefix, Places]]] = {}
        for prefix, here in grouped(self.order, self.memberships.shape[1]):
            affected.setdefault(self.scaling.region(prefix), []).append((prefix, here))
        for used, leaves in affected.items():
            if used:
                self._spread(name, used, leaves, found)
        return found

    def _spread(self, name: str, used: Prefix, leaves: list[tuple[Prefix, Places]], found: Array) -> None:
        """Add what rows of a region do to the scaling there."""
        scaling = self.scaling
        if scaling is None:
            return
        sums = scaling.regions.sums[used]
        inside = np.flatnonzero((self.order[:, : len(used)] == used).all(axis=1))
        hits = (self.truth[inside, None] == np.array(used)).astype(np.float64)
        shares = sums.classes[list(used)] / sums.mass
        for level, (values, weight) in enumerate(broken(self.memberships[inside].T, used)):
            moments = sums.moments(level, used)
            away = values - moments.mean
            spread = np.square(away) * (sums.rows / max(sums.rows - 1, 1)) - moments.variance
            left = max(1 - shares[:level].sum(), 1e-300)
            hit = hits[:, level] - shares[level] + moments.target * (hits[:, :level] - shares[:level]).sum(axis=1)
            own = weight / max(sums.left[level], 1e-300)
            parts = {"mean": away * own, "variance": spread * own, "target": hit / left / sums.mass}
            for moment, part in parts.items():
                found[inside] += self._slope(name, used, leaves, level, moment) * part

    def _slope(self, name: str, used: Prefix, leaves: list[tuple[Prefix, Places]], level: int, moment: str) -> float:
        """How the sum of a column over rows that share a scaling moves with one of its moments, by differences."""
        scaling = self.scaling
        if scaling is None:
            return 0.0
        moments = scaling.regions.sums[used].moments(level, used)
        at = getattr(moments, moment)
        reach = {"mean": at * (1 - at), "variance": at, "target": at * (1 - at)}[moment] * STEP
        if not reach > 0:
            return 0.0
        codes, totals = self._corners(name), []
        for sign in (1.0, -1.0):
            moved: Moments = moments._replace(**{moment: at + sign * reach})
            maps = [*scaling.maps[used]]
            maps[level] = beta_map(moved, scaling.variant)
            pieces = [
                (here, scaling.of_region(prefix, self.memberships[here].T.copy(), maps)) for prefix, here in leaves
            ]
            columns = [(here, _from(piece, None if codes is None else codes[here])) for here, piece in pieces]
            totals.append(sum(float(self.mass[here] @ column) for here, column in columns))
        return float((totals[0] - totals[1]) / (2 * reach))

    def but(self, rows: Places) -> Space:
        """Some of the rows, scaled by themselves."""
        times = None if self.times is None else self.times[rows]
        return replace(
            self, memberships=self.memberships[rows], truth=self.truth[rows], mass=self.mass[rows], times=times
        )


def _from(columns: Array, codes: Codes | None) -> Array:
    """The distances to corners; the highest membership where there are none to look at."""
    return np.asarray(columns.max(axis=0)) if codes is None else distances(columns, codes)


def distances(columns: Array, codes: Codes) -> Array:
    """Euclidean distances to the corners of classes, of memberships (classes, rows)."""
    squares, short = np.zeros(len(codes)), codes.astype(np.min_scalar_type(len(columns) - 1))
    for place, column in enumerate(columns):
        # Class by class, so that nothing cancels at a corner.
        away = column - (short == place)
        squares += np.square(away, out=away)
    return np.asarray(np.sqrt(squares, out=squares))


def corner(classes: int) -> float:
    """How far the middle of the simplex is from its corners."""
    return float(np.sqrt((classes - 1) / classes))

"""Rows in a standardized partition space: how far their scaled memberships are from the corners of the simplex."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.cached import cached_property
from ...core.errors import BadOption, quoted
from ...core.suggestions import refuse_unknown
from ...measures.registry import Measure
from ..forecasts.piece import Piece
from .fitting import NOTHING_JOINED, Joined, Regions, Scaling
from .rows import TIES, Arranged, Prefix, at_random, grouped, joined
from .scaling import VARIANTS, BetaMoments, beta_map, broken, orders

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Places
    from ...states.held_rows import Rows
    from .rows import Use
    from .scaling import Variant

RAW = "raw"
Chosen = tuple[str, int, int, str, int]
PARAMETERS = ("scaling", "depth", "floor", "ties", "seed")
STEP = 1e-5  # of what a moment can differ: for slopes by differences
CANCELS = 1e-4  # squared distances below which a difference of larger numbers has lost digits that count
GAPS = ("true_gap", "assigned_gap")
COLUMNS = (*GAPS, "top")
MOMENTS = ("mean", "variance", "target")


class Leaf(NamedTuple):
    """The rows of a region, in one place since they are scaled again and again.

    Attributes:
        prefix: The region.
        memberships: What the classifier gave them, (classes, rows).
        mass: What they weigh.
        corners: The classes of the corners that each column looks at.
    """

    prefix: Prefix
    memberships: Array
    mass: Array
    corners: Mapping[str, Codes | None]


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
        ties: Where rows go that are tied: to the "first" class, to one at "random", or to a region that is "joined".
        seed: Where the random numbers start.
        times: How often each row occurs; once where nothing is said of it.
    """

    memberships: Array = field(repr=False)
    truth: Codes = field(repr=False)
    mass: Array = field(repr=False)
    variant: str = "default"
    depth: int = 1
    floor: int = 1
    ties: str = "first"
    seed: int = 0
    times: Array | None = field(default=None, repr=False)

    @cached_property
    def codes(self) -> Codes:
        """The true classes by numbers that are as short as can be."""
        return self.truth.astype(np.min_scalar_type(self.memberships.shape[1] - 1))

    @cached_property
    def equal(self) -> bool:
        """Whether all rows weigh 1, as they do as a rule: such are sooner summed."""
        return bool((self.mass == 1).all())

    @cached_property
    def placed(self) -> tuple[Places, Joined]:
        """The highest classes of each row; and which of them stand together, where ties have joined them."""
        if self.ties == "joined":
            return joined(self.memberships, self.depth)
        if self.ties == "random":
            known: list[Array | Codes] = [self.truth, self.mass, *([] if self.times is None else [self.times])]
            return at_random(self.memberships, self.depth, self.seed, *known), NOTHING_JOINED
        return self.arranged.order, NOTHING_JOINED

    @property
    def order(self) -> Places:
        """The highest classes of each row, as regions are named by them."""
        return self.placed[0]

    @cached_property
    def arranged(self) -> Arranged:
        """The rows by region."""
        return Arranged.of(self.memberships, None if self.ties == "first" else self.order, self.depth)

    @cached_property
    def scaling(self) -> Scaling | None:
        """What is fitted to these rows; nothing where they stay as they are."""
        if self.variant == RAW:
            return None
        variant: Variant = self.variant  # type: ignore[assignment]  # checked there
        return Scaling(self.regions, variant, self.floor)

    @cached_property
    def regions(self) -> Regions:
        """The sums of all regions."""
        return Regions.of(self.arranged, self.codes, None if self.equal else self.mass, self.times, self.placed[1])

    @cached_property
    def scaled(self) -> Array:
        """The memberships that count."""
        return self.memberships if self.scaling is None else self.scaling.all(self.arranged)

    @cached_property
    def assigned(self) -> Codes:
        """The class of each row: by the memberships as given; klaR looks at the scaled ones."""
        if self.variant == "klar" or self.ties == "joined":
            # Classes that are tied and joined stay tied, so that any of their corners is as far away.
            return orders(self.scaled if self.variant == "klar" else self.memberships, 1)[:, 0].astype(np.intp)
        return self.order[:, 0].astype(np.intp)

    def column(self, name: str) -> Array:
        """What formulas ask for by a name, of every row."""
        if name not in self._columns:
            found = np.empty(len(self.truth))
            found[self.arranged.places] = self._by_region(name)
            self._columns[name] = found
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, Array]:
        return {}

    def _by_region(self, name: str) -> Array:
        """The same in the order of regions: who wants no more than its mean need not wait for the order of the rows."""
        return self._top if name == "top" else self._gaps[GAPS.index(name)]

    @cached_property
    def _gaps(self) -> Array:
        """The distances to the corners of the true and of the assigned classes: both from one pass."""
        found = np.empty((len(GAPS), len(self.truth)))
        # There, rows of one region may be assigned to several classes.
        assigned = self.assigned if self.variant == "klar" or self.ties == "joined" else None

        def write(prefix: Prefix, here: slice, scaled: Array) -> None:
            places = self.arranged.places[here]
            truth = self.codes.take(places)
            if assigned is None:
                both_distances(scaled, truth, prefix[0], out=found[:, here])
            else:
                found[:, here] = distances(scaled, truth), distances(scaled, assigned.take(places))

        self._each(write)
        return found

    @cached_property
    def _top(self) -> Array:
        """The highest memberships."""
        found = np.empty(len(self.truth))

        def write(_: Prefix, here: slice, scaled: Array) -> None:
            scaled.max(axis=0, out=found[here])

        self._each(write)
        return found

    def _each(self, use: Use) -> None:
        """Let somebody use the memberships that count, a few rows of one region at a time."""
        if self.scaling is None:
            self.arranged.each(use)
        else:
            self.scaling.each(self.arranged, use)

    def _corners(self, name: str) -> Codes | None:
        """The classes of the corners that a column looks at."""
        if name == "true_gap":
            return self.truth
        return self.assigned if name == "assigned_gap" else None

    # --- what rows do to the scaling of others ----------------------------------------------------------------

    def influence(self, name: str) -> Array:
        """What each row adds to the mean of a column, per unit of its weight over all: by itself, and by scaling."""
        return self._influences[name]

    @cached_property
    def _influences(self) -> dict[str, Array]:
        """Those on all columns: what is dear, to scale anew with other moments, serves all of them.

        The scaling of a region depends on the mean and the variance of the values there and on how often its classes
        are the true ones; every row has a part in these.
        """
        found: dict[str, Array] = {}
        for name in COLUMNS:
            found[name] = self.column(name) - self.mean(name)
        if self.scaling is not None:
            for used, leaves in self.affected(self.scaling).items():
                self._spread(self.scaling, used, leaves, found)
        return found

    def mean(self, name: str) -> float:
        """The mean of a column."""
        if self.equal:
            return float(self._by_region(name).mean())
        return float(self.mass.take(self.arranged.places) @ self._by_region(name) / self.mass.sum())

    def affected(self, scaling: Scaling) -> dict[Prefix, list[Leaf]]:
        """The regions that have a scaling of their own, and those whose rows take it."""
        found: dict[Prefix, list[Leaf]] = {}
        for prefix, here in grouped(self.order, self.memberships.shape[1]):
            used = scaling.region(prefix)
            if scaling.regions.order(used):
                found.setdefault(used, []).append(self._leaf(prefix, here))
        return found

    def _leaf(self, prefix: Prefix, here: Places) -> Leaf:
        corners = {name: self._corners(name) for name in COLUMNS}
        taken = {name: None if codes is None else codes[here] for name, codes in corners.items()}
        return Leaf(prefix, np.ascontiguousarray(self.memberships[here].T), self.mass[here], taken)

    def _spread(self, scaling: Scaling, used: Prefix, leaves: list[Leaf], found: dict[str, Array]) -> None:
        """Add what rows of a region do to the scaling there."""
        sums, order = scaling.regions.sums[used], scaling.regions.order(used)
        inside = np.flatnonzero((self.order[:, : len(used)] == used).all(axis=1))
        hits = np.stack([np.isin(self.truth[inside], block) for block in order], axis=1).astype(np.float64)
        shares = np.array([sums.classes[list(block)].sum() for block in order]) / sums.mass
        for level, (values, weight) in enumerate(broken(self.memberships[inside].T, order)):
            moments = sums.moments(level, order)
            away = values - moments.mean
            spread = np.square(away) * (sums.rows / max(sums.rows - 1, 1)) - moments.variance
            left = max(1 - shares[:level].sum(), 1e-300)
            hit = hits[:, level] - shares[level] + moments.target * (hits[:, :level] - shares[:level]).sum(axis=1)
            own = (1.0 if weight is None else weight) / max(sums.left[level], 1e-300)
            parts = away * own, spread * own, hit / left / sums.mass
            for moment, part in zip(MOMENTS, parts, strict=True):
                for name, slope in self.slopes(scaling, used, leaves, level, moment).items():
                    found[name][inside] += slope * part

    def slopes(
        self, scaling: Scaling, used: Prefix, leaves: list[Leaf], level: int, moment: str
    ) -> Mapping[str, float]:
        """How sums of columns over rows that share a scaling move with one of its moments, by differences."""
        moments = scaling.regions.sums[used].moments(level, scaling.regions.order(used))
        at = getattr(moments, moment)
        reach = {"mean": at * (1 - at), "variance": at, "target": at * (1 - at)}[moment] * STEP
        if not reach > 0:
            return {}
        found = dict.fromkeys(COLUMNS, 0.0)
        for sign in (1.0, -1.0):
            moved: BetaMoments = moments._replace(**{moment: at + sign * reach})
            maps = [*scaling.maps[used]]
            maps[level] = beta_map(moved, scaling.variant, scaling.maps[used][level])
            for leaf in leaves:
                piece = scaling.of_region(leaf.prefix, leaf.memberships, maps)
                for name, codes in leaf.corners.items():
                    # Not a product of vectors: for those, threads are started that cost more.
                    total = float(np.einsum("i,i", leaf.mass, _from(piece, codes)))
                    found[name] += sign * total / (2 * reach)
        return found

    def but(self, rows: Places) -> Space:
        """Some of the rows, scaled by themselves."""
        times = None if self.times is None else self.times[rows]
        return replace(
            self, memberships=self.memberships[rows], truth=self.truth[rows], mass=self.mass[rows], times=times
        )


def _from(columns: Array, codes: Codes | None) -> Array:
    """The distances to corners; the highest membership where there are none to look at."""
    return np.asarray(columns.max(axis=0)) if codes is None else distances(columns, codes)


def distances(columns: Array, codes: Codes | int) -> Array:
    """Euclidean distances to the corners of classes, or to that of one class, of memberships (classes, rows)."""
    short = codes if isinstance(codes, int) else codes.astype(np.min_scalar_type(len(columns) - 1))
    squares, away = np.zeros((2, columns.shape[1]))
    for place, column in enumerate(columns):
        # Class by class, so that nothing cancels at a corner.
        here = short == place
        squares += np.square(column if here is False else np.subtract(column, here, out=away), out=away)
    return np.asarray(np.sqrt(squares, out=squares))


def both_distances(columns: Array, codes: Codes, one: int, out: Array) -> None:
    """Write the distances to the corners of classes, and to that of one class, of memberships (classes, rows).

    Squared, the two differ by twice the difference of the memberships.
    """
    rows = columns.shape[1]
    squares, spare = 1 - columns[one], np.empty(rows)
    squares *= squares
    for place, column in enumerate(columns):
        if place != one:
            squares += np.square(column, out=spare)
    np.sqrt(squares, out=out[1])
    spots = codes.astype(np.intp)
    spots *= rows
    spots += np.arange(rows)
    away = np.subtract(columns[one], columns.ravel().take(spots, out=spare, mode="clip"), out=spare)
    away *= 2
    squares += away
    if squares.min(initial=1.0) < CANCELS:
        # Little is left of a difference near the corner, unless it is the same corner and nothing was added.
        lost = np.flatnonzero((squares < CANCELS) & (away != 0))
        squares[lost] = np.square(distances(columns[:, lost], codes[lost]))
    np.sqrt(squares, out=out[0])


def corner(classes: int) -> float:
    """How far the middle of the simplex is from its corners."""
    return float(np.sqrt((classes - 1) / classes))


def memberships_of(rows: Rows, model: int, classes: int) -> Array:
    """What a classifier said of rows, (rows, classes)."""
    said = Piece(rows.scores[model], rows.truth, classes)
    return np.stack([np.asarray(column, dtype=np.float64) for column in said.memberships], axis=1)


# --- how memberships are scaled -----------------------------------------------------------------------------------


def chosen_by(measure: Measure, classes: int) -> Chosen:
    """How a measure asks for memberships to be scaled."""
    scaling, depth, floor, ties, seed = (measure.parameters[name] for name in PARAMETERS)
    return checked_choice((scaling, depth, floor, ties, seed), classes)


def checked_choice(chosen: Chosen, classes: int) -> Chosen:
    """How memberships are to be scaled, once that has passed every check."""
    scaling, depth, floor, ties, seed = chosen
    for name, word, known in (("scaling", scaling, (RAW, *VARIANTS)), ("ties", ties, TIES)):
        refuse_unknown(name, word, known)
    most = 10**9
    for name, number, low, high in (
        ("depth", depth, 1, classes - 1),
        ("floor", floor, 1, most),
        ("seed", seed, 0, most),
    ):
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            raise BadOption(f"{name} is {quoted(number)}", mend=f"Say a whole number from {low} to {high}")
    if seed and ties != "random":
        raise BadOption(f"seed is {seed}, and ties are not random", mend="Say ties='random', or leave the seed out")
    return chosen

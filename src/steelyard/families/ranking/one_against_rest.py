"""One class against the rest, sorted by its score: values, slopes, and how far they scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.arrays import distinct
from ...core.cached import cached_property
from ...core.scale import Scale
from ...core.threads import chunks, gathered, over_rows, summed
from ...inference.row_evaluation import Found
from ...maths.ordered_scores import PASSES, Groups, Ranking
from ...maths.sides import Sides, spread_of
from ...measures.masses import UNTIED, Influences, Masses, Slopes, pseudo_moments
from ...measures.registry import Measure

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Marks, Places
    from ...measures.masses import Weights
    from ...states.held_rows import Rows

PSEUDO_ROW = 0.25
MIXED = 3  # rows of the class and of the rest with one score
NEGLIGIBLE = 0.02  # of a standard error: where pseudo-rows could not move a value by more, they are left out

Late = Callable[[], Influences]


def known(found: Found, influences: Late) -> Influences:
    """The influences on a value; none where there is no value."""
    return (_nothing, _nothing) if np.isnan(found.value[0]) else influences()


def unmoved(value: float, variance: float, freedom: float) -> Found:
    """A value to which pseudo-rows make no difference."""
    return Found((value, value), (variance, variance), (freedom, freedom))


def told_of(variance: float, spread: float, freedom: float) -> tuple[float, float]:
    """The spread with the pseudo-rows, and its degrees of freedom: none where one row or cluster is all of a side.

    Pseudo-rows make a spread of it, but a row in the middle of the others would pass for one that is known well.
    """
    return spread, 0.0 if np.isnan(variance) and np.isfinite(spread) else freedom


def _nothing(some: slice) -> Array:
    return np.zeros(some.stop - some.start)


class Population(NamedTuple):
    """All rows, of which a class and the rest are made up.

    Attributes:
        rows: The rows, with what every classifier said of them.
        scale: The classes.
        weights: What the rows weigh.
        sizes: How many of them each class has.
        class_mass: What these weigh.
        unit: What a pseudo-row weighs.
    """

    rows: Rows
    scale: Scale
    weights: Weights
    sizes: Array
    class_mass: Array
    unit: float

    @property
    def alike(self) -> bool:
        """Whether all rows weigh the same and are independent."""
        return self.weights.equal and self.rows.cluster is None

    @property
    def independent_row(self) -> float:
        """What one independent row weighs."""
        return self.unit / PSEUDO_ROW

    @property
    def freedom(self) -> float:
        """The degrees of freedom that clusters leave."""
        return np.inf if self.rows.cluster is None else len(distinct(self.rows.cluster)) - 1.0


@dataclass(frozen=True)
class OneAgainstRest:
    """One class against the rest, sorted by its score.

    Attributes:
        population: The rows of all classes.
        code: The class.
        ranking: The rows by its score; or no rows, where nobody asks which is which.
        own: Which of them are of the class, in that order, where it is known already.
    """

    population: Population
    code: int
    ranking: Ranking
    own: Marks | None = None

    @cached_property
    def truth(self) -> Codes:
        """The true classes in the order of the scores."""
        return np.asarray(gathered(self.population.rows.truth, self.ranking.order))

    @cached_property
    def positive(self) -> Marks:
        """Which rows are of the class, in the order of the scores."""
        return np.asarray(self.truth == self.code) if self.own is None else self.own

    @cached_property
    def above(self) -> tuple[Places, Places]:
        """How many of the rest are above each row of the class, and how many of the class above each of the rest."""
        own = self.positive
        kind = np.int32 if len(own) < 2**31 else np.int64
        found: list[Places] = [np.empty(size, kind) for size in (self.rows, len(own) - self.rows)]

        def work(start: int, stop: int) -> None:
            before = int(np.count_nonzero(own[:start]))
            counts = [before, start - before]
            for low, high in chunks(start, stop):
                for side, marks in enumerate((own[low:high], ~own[low:high])):
                    places, first = np.flatnonzero(marks), counts[side]
                    counts[side] += len(places)
                    places -= np.arange(first - low, counts[side] - low)
                    found[side][first : counts[side]] = places

        over_rows(len(own), work, columns=PASSES)
        return found[0], found[1]

    def places(self, side: int, rows: slice) -> Places:
        """Where some rows of the class (side 0) or of the rest (side 1) stand in the order of the scores."""
        return self.above[side][rows] + np.arange(rows.start, rows.stop)

    def in_order(self, values: Array) -> Array:
        """Bring what is said of rows into the order of the scores."""
        return values if self.population.weights.equal else np.asarray(gathered(values, self.ranking.order))

    @cached_property
    def sides(self) -> Sides:
        """The rest and the class, in the order of the scores."""
        weights, cluster = self.population.weights, self.population.rows.cluster
        return Sides(
            self.positive.view(np.uint8),
            self.sizes,
            self.in_order(weights.mass),
            self.in_order(weights.square),
            None if cluster is None else cluster[self.ranking.order],
        )

    @cached_property
    def plain(self) -> Masses:
        """The masses at each distinct score."""
        return self._masses(self.ranking.groups)

    @cached_property
    def corners(self) -> Groups:
        """Rows between two corners of the ROC curve: of the class alone, of the rest alone, or of one score."""
        groups, positive = self.ranking.groups, self.positive
        if groups.starts is None:
            return Groups(groups.rows, np.concatenate([[0], np.flatnonzero(positive[1:] != positive[:-1]) + 1]))
        own = groups.sums(positive)
        kind = (own > 0) + 2 * (own < groups.lengths)
        fresh = np.concatenate([[True], (kind[1:] != kind[:-1]) | (kind[1:] == MIXED)])
        return Groups(groups.rows, groups.starts[fresh])

    def groups(self, measure: Measure, smooth: bool) -> Groups:
        """The rows that are alike to a measure; pseudo-rows tell every score from the next."""
        return self.corners if measure.corners and not smooth else self.ranking.groups

    @cached_property
    def at_corners(self) -> Masses:
        """The masses between the corners."""
        return self._masses(self.corners)

    def _masses(self, groups: Groups) -> Masses:
        if self.population.weights.equal and groups is not self.ranking.groups and self.ranking.groups.starts is None:
            # Between two corners all rows are of one side.
            own = groups.lengths * self.positive[groups.starts]
            return Masses(own.astype(np.float64), (groups.lengths - own).astype(np.float64))
        return Masses(*self.parted(self.in_order(self.population.weights.mass), groups))

    def masses(self, measure: Measure, smooth: bool = False, at_scores: bool = False) -> Masses:
        """The masses that a measure is made of, between the corners if it needs no more, or at all scores.

        Where it is balanced, all classes of the rest weigh the same.
        """
        groups = self.groups(measure, smooth or at_scores)
        masses = self.plain if groups is self.ranking.groups else self.at_corners
        if measure.balanced:
            mass = self.in_order(self.population.weights.mass) * self.equal_weight[self.truth]
            masses = Masses(masses.positive, groups.sums(mass))
        return masses.smoothed(self.population.unit) if smooth else masses

    def ends(self, measure: Measure, mixed: Marks) -> tuple[float, float]:
        """The least and the greatest value where rows of some scores may be in any order: scores are cells of them."""
        masses = self.masses(measure, at_scores=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = (_parted(masses, mixed, first) for first in (False, True))
            found = [float(some.value(measure)) for some in (*each, masses)]
        if measure.least is not None:
            found[0] = float(measure.least(masses.positive, masses.negative, mixed))
        return min(found), max(found)

    @cached_property
    def equal_weight(self) -> Array:
        """What each class of the rest is multiplied with to weigh the same as all others of the rest."""
        mass = np.where(np.arange(len(self.population.class_mass)) == self.code, 0.0, self.population.class_mass)
        each = float(mass.sum()) / max(int((mass > 0).sum()), 1)
        return np.asarray(np.divide(each, mass, out=np.zeros_like(mass), where=mass > 0))

    def parted(self, weight: Array, groups: Groups | None = None) -> tuple[Array, Array]:
        """Sum up weights in the order of the scores, of the class and of the rest, at each score or in other groups."""
        groups, positive = groups or self.ranking.groups, self.positive
        if self.population.weights.equal and weight is self.population.weights.mass:
            own = groups.sums(positive)
            return own, groups.lengths - own
        return groups.sums(weight * positive), groups.sums(weight * ~positive)

    def influence(self, measure: Measure, slopes: Slopes, smooth: bool) -> Array:
        """What a row adds to a measure, in the order of the scores."""
        groups, positive = self.groups(measure, smooth), self.positive
        if groups is self.corners and self.ranking.groups.starts is None and not measure.balanced:
            return groups.spread(np.where(groups.first(positive), *slopes))
        own, other = (groups.spread(slope) for slope in slopes)
        if measure.balanced:
            # A row of the rest also takes weight from all others of its class.
            mass = self.in_order(self.population.weights.mass)
            sums = np.bincount(self.truth, other * mass, len(self.equal_weight))
            mean = sums / np.where(self.population.class_mass > 0, self.population.class_mass, 1.0)
            other = (other - mean[self.truth]) * self.equal_weight[self.truth]
        return np.where(positive, own, other)

    def spread(self, measure: Measure, slopes: Slopes, smooth: bool) -> tuple[float, float]:
        """The variance of a value and its degrees of freedom."""
        pseudo = PSEUDO_ROW if smooth else 0.0
        if self.population.rows.cluster is not None or measure.balanced:
            return self.sides.spread(self.influence(measure, slopes, smooth), pseudo)
        # Rows of one group and one side are alike.
        weights, groups = self.population.weights, self.groups(measure, smooth)
        if weights.square is weights.mass:
            masses = self.at_corners if groups is self.corners else self.plain
            squares: Slopes = masses.positive, masses.negative
        else:
            squares = self.parted(self.in_order(weights.square), groups)
        pairs = zip(slopes, squares, strict=True)
        sums = [summed(lambda slope, square: slope * slope * square, *pair) for pair in pairs]
        return spread_of(np.array(sums[::-1]), self.sizes, pseudo=pseudo)

    @cached_property
    def rows(self) -> int:
        """How many rows of the class there are, whatever they weigh."""
        return int(np.count_nonzero(self.population.rows.truth == self.code))

    @cached_property
    def sizes(self) -> Array:
        """How many rows the rest and the class have."""
        if self.population.weights.equal:
            return np.array([len(self.population.rows) - self.rows, self.rows], dtype=np.float64)
        size = self.population.sizes[self.code]
        return np.array([self.population.sizes.sum() - size, size])

    def reweighed(self, measure: Measure, mass: Array, by_class: Array) -> Array:
        """The value of a measure where the rows weigh something else: (replicates, rows) to (replicates,)."""
        ordered, groups = mass.take(self.ranking.order, axis=1), self.ranking.groups
        positive = ordered * self.positive
        negative = ordered - positive
        if measure.balanced:
            rest = by_class.copy()
            rest[:, self.code] = 0.0
            share = rest.sum(axis=1, keepdims=True) / np.maximum((rest > 0).sum(axis=1, keepdims=True), 1)
            equal = np.divide(share, rest, out=np.zeros_like(rest), where=rest > 0)
            negative *= equal[:, self.truth]
        return np.asarray(Masses(groups.sums(positive), groups.sums(negative)).value(measure))

    def sloped(self, measure: Measure, smooth: bool) -> tuple[float, Slopes]:
        """The value of a measure and its slopes, on the rows as they are or with the pseudo-rows."""
        masses = self.masses(measure, smooth)
        value = float(masses.value(measure))
        return value, masses.slopes(measure, value)

    def untied(self, measure: Measure) -> bool:
        """Whether the short way to a measure can be taken."""
        return (
            self.population.alike
            and measure.formula in UNTIED
            and self.ranking.groups.starts is None
            and bool(self.sizes.all())
        )

    def measured(self, measure: Measure) -> tuple[Found, Late, Late]:
        """A measure with its spread, twice; and the influences behind both, for those who ask for them."""
        row = self.population.unit
        with np.errstate(divide="ignore", invalid="ignore"):
            value, (variance, freedom), influences = self._as_they_are(measure)
            if self.negligible(measure, variance):
                return unmoved(value, variance, freedom), influences, influences
            centre, smooth = self.sloped(measure, smooth=True)
            spread, looser = told_of(variance, *self.spread(measure, smooth, smooth=True))
            added = 2 * row**2 * pseudo_moments(smooth, self.plain.share)[0]
            centre = self.masses(measure, smooth=True).centre(measure, centre, row / PSEUDO_ROW)
            found = Found((value, centre), (variance, spread + added), (freedom, looser), added)
        return found, influences, partial(self.influences, measure, smooth, smooth=True)

    def negligible(self, measure: Measure, variance: float) -> bool:
        """Whether pseudo-rows can be left out: no value moves further than the share of the mass that is added."""
        share = (self.population.unit / self.class_and_rest).sum()
        return measure.fair is None and bool(share < NEGLIGIBLE * np.sqrt(variance))

    def _as_they_are(self, measure: Measure) -> tuple[float, tuple[float, float], Late]:
        """A measure without the pseudo-rows: its value, its spread and the influences behind it."""
        if self.untied(measure):
            value, influences = UNTIED[measure.formula](*self.above)
            squares = [_squared(side, len(above)) for side, above in zip(influences, self.above, strict=True)]
            return value, spread_of(np.array(squares[::-1]), self.sizes), lambda: influences
        value, slopes = self.sloped(measure, smooth=False)
        spread = self.spread(measure, slopes, smooth=False)
        return value, spread, partial(self.influences, measure, slopes, smooth=False)

    @property
    def class_and_rest(self) -> Array:
        """What the class and the rest weigh."""
        if self.population.weights.equal:
            return self.sizes
        mass = self.population.class_mass
        return np.array([mass[self.code], mass.sum() - mass[self.code]])

    def influences_on(self, measure: Measure, smooth: bool) -> Influences:
        """What rows of the class add to a measure, and rows of the rest, where its slopes are not known yet."""
        if not smooth and self.untied(measure):
            return UNTIED[measure.formula](*self.above)[1]
        return self.influences(measure, self.sloped(measure, smooth)[1], smooth)

    def influences(self, measure: Measure, slopes: Slopes, smooth: bool) -> Influences:
        """The same where they are."""
        rows = self.influence(measure, slopes, smooth)
        return lambda some: rows[self.places(0, some)], lambda some: rows[self.places(1, some)]

    def rows_influenced(self, several: Sequence[Influences], out: Array | None = None) -> Array:
        """Bring influences on some measures into the order of the input: (rows, measures).

        They are written side by side, since finding the place of a row takes longer than writing there.
        """
        found = np.empty((len(self.population.rows), len(several))) if out is None else out
        record = f"V{found.itemsize * len(several)}"
        records = found.view(record)[:, 0]

        def work(side: int, start: int, stop: int) -> None:
            for ends in chunks(start, stop, len(several)):
                rows = self.ranking.order[self.places(side, slice(*ends))]
                columns = [influences[side](slice(*ends)) for influences in several]
                together = np.stack(columns, axis=1) if len(columns) > 1 else columns[0][:, None]
                records[rows] = together.view(record)[:, 0]

        for side, above in enumerate(self.above):
            over_rows(len(above), partial(work, side))
        return found


def _parted(masses: Masses, mixed: Marks, class_first: bool) -> Masses:
    """Rows of mixed cells put in order: those of the class before all others of their cell, or behind them."""
    times = np.where(mixed, 2, 1)
    positive, negative = (np.repeat(each, times) for each in (masses.positive, masses.negative))
    first = np.flatnonzero(np.repeat(mixed, times))[::2]
    positive[first + class_first] = 0.0
    negative[first + (not class_first)] = 0.0
    return Masses(positive, negative)


def _squared(influences: Callable[[slice], Array], rows: int) -> float:
    """The sum of squares of the influences of one side."""

    def work(start: int, stop: int) -> float:
        pieces = (influences(slice(*ends)) for ends in chunks(start, stop))
        return sum(float(np.einsum("i,i", piece, piece)) for piece in pieces)

    return sum(over_rows(rows, work))

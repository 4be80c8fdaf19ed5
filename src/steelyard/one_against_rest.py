"""One class against the rest, sorted by its score: values, slopes, and how far they scatter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .masses import Masses, Sides, Slopes, pseudo_moments, spread_of
from .parallel import gathered, summed
from .ranking import Groups, Ranking
from .registry import Measure
from .row_evaluation import Found

if TYPE_CHECKING:
    from .kinds import Array, Codes, Marks
    from .ranked import RankedEvaluation

PSEUDO_ROW = 0.25
MIXED = 3  # rows of the class and of the rest with one score
NEGLIGIBLE = 0.02  # of a standard error: where pseudo-rows could not move a value by more, they are left out


@dataclass(frozen=True)
class OneAgainstRest:
    """One class against the rest, sorted by its score."""

    evaluation: RankedEvaluation
    code: int
    ranking: Ranking

    @cached_property
    def truth(self) -> Codes:
        """The true classes in the order of the scores."""
        return np.asarray(gathered(self.evaluation.rows.truth, self.ranking.order))

    @cached_property
    def positive(self) -> Marks:
        """Which rows are of the class, in the order of the scores."""
        return np.asarray(self.truth == self.code)

    def in_order(self, values: Array) -> Array:
        """Bring what is said of rows into the order of the scores."""
        return values if self.evaluation.weights.equal else values[self.ranking.order]

    @cached_property
    def sides(self) -> Sides:
        """The rest and the class, in the order of the scores."""
        weights, cluster = self.evaluation.weights, self.evaluation.rows.cluster
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
        kind = (groups.sums(positive) > 0) + 2 * (groups.sums(~positive) > 0)
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
        if self.evaluation.weights.equal and groups is not self.ranking.groups and self.ranking.groups.starts is None:
            # Between two corners all rows are of one side.
            own = groups.lengths * self.positive[groups.starts]
            return Masses(own.astype(np.float64), (groups.lengths - own).astype(np.float64))
        return Masses(*self.parted(self.in_order(self.evaluation.weights.mass), groups))

    def masses(self, measure: Measure, smooth: bool = False) -> Masses:
        """The masses that a measure is made of: where it is balanced, all classes of the rest weigh the same."""
        groups = self.groups(measure, smooth)
        masses = self.plain if groups is self.ranking.groups else self.at_corners
        if measure.balanced:
            mass = self.in_order(self.evaluation.weights.mass) * self.equal_weight[self.truth]
            masses = Masses(masses.positive, groups.sums(mass))
        return masses.smoothed(self.evaluation.unit) if smooth else masses

    @cached_property
    def equal_weight(self) -> Array:
        """What each class of the rest is multiplied with to weigh the same as all others of the rest."""
        mass = np.where(np.arange(len(self.evaluation.class_mass)) == self.code, 0.0, self.evaluation.class_mass)
        each = float(mass.sum()) / max(int((mass > 0).sum()), 1)
        return np.asarray(np.divide(each, mass, out=np.zeros_like(mass), where=mass > 0))

    def parted(self, weight: Array, groups: Groups | None = None) -> tuple[Array, Array]:
        """Sum up weights in the order of the scores, of the class and of the rest, at each score or in other groups."""
        groups, positive = groups or self.ranking.groups, self.positive
        if self.evaluation.weights.equal and weight is self.evaluation.weights.mass:
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
            mass = self.in_order(self.evaluation.weights.mass)
            sums = np.bincount(self.truth, other * mass, len(self.equal_weight))
            mean = sums / np.where(self.evaluation.class_mass > 0, self.evaluation.class_mass, 1.0)
            other = (other - mean[self.truth]) * self.equal_weight[self.truth]
        return np.where(positive, own, other)

    def spread(self, measure: Measure, slopes: Slopes, smooth: bool) -> tuple[float, float]:
        """The variance of a value and its degrees of freedom."""
        pseudo = PSEUDO_ROW if smooth else 0.0
        if self.evaluation.rows.cluster is not None or measure.balanced:
            return self.sides.spread(self.influence(measure, slopes, smooth), pseudo)
        # Rows of one group and one side are alike.
        weights, groups = self.evaluation.weights, self.groups(measure, smooth)
        if weights.square is weights.mass:
            masses = self.at_corners if groups is self.corners else self.plain
            squares: Slopes = masses.positive, masses.negative
        else:
            squares = self.parted(self.in_order(weights.square), groups)
        pairs = zip(slopes, squares, strict=True)
        sums = [summed(lambda slope, square: slope * slope * square, *pair) for pair in pairs]
        return spread_of(np.array(sums[::-1]), self.sizes + pseudo)

    @cached_property
    def sizes(self) -> Array:
        """How many rows the rest and the class have."""
        if self.evaluation.weights.equal:
            size = np.count_nonzero(self.positive)
            return np.array([len(self.truth) - size, size], dtype=np.float64)
        size = self.evaluation.sizes[self.code]
        return np.array([self.evaluation.sizes.sum() - size, size])

    def reweighed(self, measure: Measure, mass: Array, by_class: Array) -> Array:
        """The value of a measure where the rows weigh something else: (replicates, rows) to (replicates,)."""
        ordered, groups = mass[:, self.ranking.order], self.ranking.groups
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

    def measured(self, measure: Measure) -> tuple[Found, Slopes, Slopes]:
        """A measure with its spread, twice; and the slopes behind both."""
        row = self.evaluation.unit
        with np.errstate(divide="ignore", invalid="ignore"):
            value, slopes = self.sloped(measure, smooth=False)
            variance, freedom = self.spread(measure, slopes, smooth=False)
            # No value moves further than the share of the mass that is added.
            if (row / self.class_and_rest).sum() < NEGLIGIBLE * np.sqrt(variance):
                return Found((value, value), (variance, variance), (freedom, freedom)), slopes, slopes
            centre, smooth = self.sloped(measure, smooth=True)
            spread, looser = self.spread(measure, smooth, smooth=True)
            added = 2 * row**2 * pseudo_moments(smooth, self.plain.share)[0]
            found = Found((value, centre), (variance, spread + added), (freedom, looser), added)
        return found, slopes, smooth

    @property
    def class_and_rest(self) -> Array:
        """What the class and the rest weigh."""
        if self.evaluation.weights.equal:
            return self.sizes
        mass = self.evaluation.class_mass
        return np.array([mass[self.code], mass.sum() - mass[self.code]])

    def rows_influenced(self, measure: Measure, slopes: Slopes, smooth: bool, out: Array | None = None) -> Array:
        """What each row adds to a measure, in the order of the input."""
        return self.ranking.scatter(self.influence(measure, slopes, smooth), out)

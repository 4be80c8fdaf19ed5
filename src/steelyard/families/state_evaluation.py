"""Evaluations of a state: of rows in memory, or of sums of rows that were let go. Knows no formula.

The two differ in where it is known from how far slots scatter, and together with what. Of rows in memory, each has an
influence on a slot. Of others, a pass over them sums up the products of influences. A matrix of such products is the
same as that of a few pseudo-observations, the columns of its factor: these stand in for the rows wherever influences
are asked for. They count as no rows, so that nothing about them is skewed: of so many rows, a mean is as good as
normal.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption
from ..inference.design import parts_of, second_moment
from ..inference.evaluation import Slot, key_of
from ..inference.row_evaluation import NOT_FOUND, Found, RowEvaluation
from ..maths.sides import one_less
from ..states.statistics import Patterns

if TYPE_CHECKING:
    from ..core.typing import Array
    from ..states.held_rows import Rows
    from .summed.summary import Summary

UNPAIRED = "at most: how the classes go together was not summed"
UNCLUSTERED = "how rows of a cluster go together was not summed"
UNSEEN = "Merged tallies of very many rows do not tell differences; assess the files together"
NO_PROBABILITIES = "the classifier gave scores, not probabilities"
NO_PROBABILITIES_BUT_LABELS = "the classifier gave labels, not probabilities"
OVERALL = "Very many rows are seen again for overall differences; leave by_class= out, or give a data frame"


@dataclass(frozen=True)
class Influences:
    """Influences of rows in memory, or of the pseudo-observations that have the products of all rows.

    Attributes:
        patterns: What influences are of: every row as a pattern of its own, or pseudo-observations.
        freedom: Degrees of freedom: one less than what is drawn, rows or clusters; NaN where that is not known.
        lost: What squares are multiplied by for the degree of freedom that their mean takes. Those of
            pseudo-observations have been.
    """

    patterns: Patterns
    freedom: float
    lost: float = 1.0

    @classmethod
    def of_rows(cls, rows: Patterns) -> Self:
        """Return those of rows in memory."""
        drawn = float(rows.count.sum() if rows.cluster is None else rows.clusters)
        return cls(rows, drawn - 1, one_less(drawn))

    @classmethod
    def of_factor(cls, classes: int, size: int, freedom: float) -> Self:
        """Return those of so many pseudo-observations, with no row behind them."""
        ones, none = np.ones(size), np.zeros(size, np.int64)
        return cls(Patterns(classes, none, np.zeros((0, size), np.int64), np.zeros(size), ones, ones, None), freedom)

    def variances(self, influences: Array) -> Array:
        """The variance of sums of influences, (slots, observations): one number a slot.

        Behind the observations may stand disturbances, errors with no row behind them: these take no degree of freedom.
        """
        size = len(self.patterns.mass)
        found = second_moment(self.patterns, influences[:, :size])
        if self.patterns.cluster is None:
            found = found * self.lost
        return np.asarray(found + np.square(influences[:, size:]).sum(axis=1))

    def parts(self, influence: Array) -> Array:
        """What each observation or cluster adds to a slot: the squares add up to a multiple of its variance."""
        return np.asarray(parts_of(self.patterns, influence[None])[0])


def with_disturbances(patterns: Patterns, number: int) -> Patterns:
    """Patterns, and behind them so many errors with no row behind them, which all classifiers share."""
    if not number:
        return patterns
    count = np.append(patterns.count, np.zeros(number))
    mass, square = (np.append(column, np.ones(number)) for column in (patterns.mass, patterns.square))
    cluster = patterns.cluster
    cluster = None if cluster is None else np.append(cluster, patterns.clusters + np.arange(number))
    truth = np.append(patterns.truth, np.zeros(number, patterns.truth.dtype))
    return Patterns(patterns.classes, truth, np.zeros((0, len(truth)), np.int64), count, mass, square, cluster)


@dataclass(frozen=True)
class StateEvaluation(RowEvaluation):
    """Slots of one classifier that are made of a state.

    Attributes:
        summary: What was kept of rows that were let go, of which ``rows`` are a few; None where all are in memory.
    """

    summary: Summary = field(default=None, repr=False)  # type: ignore[assignment]

    @property
    def held(self) -> bool:
        """Whether all rows are in memory."""
        return self.summary is None

    @cached_property
    def by_class(self) -> Array:
        """How many rows each class has, what they weigh, and their squared weights: (3, classes)."""
        return super().by_class if self.held else np.asarray(self.summary.by_class)

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return super().total if self.held else float(self.class_mass.sum())

    @cached_property
    def drawn(self) -> float:
        """How many rows there are."""
        return super().drawn if self.held else float(self.sizes.sum())

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return super().clustered if self.held else self.summary.recipe.clustered

    @property
    def one_by_one(self) -> bool:
        """Whether a slot should be evaluated alone, since all of them take longer: of sums, none does."""
        return self.held and self.alone is None

    # --- how far slots scatter -----------------------------------------------------------------------------------

    @cached_property
    def source(self) -> Influences:
        """Where variances and covariances come from."""
        if self.held:
            return Influences.of_rows(self.row_patterns)
        products = self.summary.products
        if products is None:
            return Influences.of_factor(len(self.scale), 0, np.nan if self.clustered else self.drawn - 1)
        return Influences.of_factor(len(self.scale), products.factor.shape[1], products.freedom)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of what is drawn, rows or clusters."""
        return self.source.freedom if self.clustered else self.drawn - 1

    @property
    def patterns(self) -> Patterns:
        """What influences are of: rows, or pseudo-observations."""
        return self.source.patterns

    def known(self, slot: Slot) -> Array | None:
        """The influences of the pseudo-observations on a slot; None where the second pass did not ask for it."""
        products = self.summary.products
        return None if products is None else products.row((self.model, *key_of(slot)))

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What pseudo-observations add to a slot."""
        del smooth
        found = self.known(slot)
        if found is None:
            raise BadOption(
                f"how {slot.measure.label} goes together with others was not summed",
                mend=UNSEEN if self.summary.products is None else OVERALL,
            )
        return found

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        del places, smooth
        return self.source.variances(influences)

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Of sums of rows: so many feel no pseudo-row."""
        del place
        return 0.0, np.zeros(1)

    # --- the second pass -----------------------------------------------------------------------------------------

    judged_by_odds: ClassVar[bool] = False  # whether differences are: how far their variances scatter must be summed

    def heavier(self, unit: float) -> Self:
        """The same where a pseudo-row weighs more, as it does beside another classifier."""
        return replace(self, unit=unit)

    @property
    def foretold(self) -> bool:
        """Whether sums tell how all slots of all classifiers go together: no row need be seen again for that."""
        return False

    def told_late(self, slot: Slot) -> bool:
        """Whether it takes a second pass to know how far a slot scatters, even by itself."""
        return slot.average is not None and len(self.scale) > 2

    def beside(self, slots: Sequence[Slot]) -> list[Slot]:
        """What else the second pass must tell of, for the intervals of some slots."""
        del slots
        return []

    def unknown(self, slot: Slot) -> list[str]:
        """What there is to say where a second pass was not made."""
        if self.held or self.known(slot) is not None or not (self.clustered or self.told_late(slot)):
            return []
        return [UNCLUSTERED if self.clustered else UNPAIRED]

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows): for the second pass."""
        raise NotImplementedError

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """Rows that are not held cannot be drawn again."""
        del slots, mass
        raise BadOption(
            "the bootstrap draws rows, and these are too many to be held",
            mend="Leave method= out: of so many rows the usual intervals are as good",
        )


@dataclass(frozen=True)
class ProbabilityEvaluation(StateEvaluation):
    """Slots of one classifier that are made of probabilities. Families say how those are evaluated that have a value.

    Of a classifier that gave scores on any scale, only those have one that are made of the order of the classes in each
    row: scores are never read as probabilities.
    """

    @cached_property
    def heard(self) -> bool:
        """Whether the classifier gave probabilities, or labels, which are 0 and 1."""
        return not self.rows.scores[self.model].raw

    def has_value(self, slot: Slot) -> bool:
        """Whether a slot has a value."""
        return self.heard or (slot.measure.ranks_classes and len(self.rows.scores[self.model].columns) > 1)

    @property
    def scored(self) -> bool:
        """Whether any slot has a value."""
        return any(map(self.has_value, self.slots))

    @property
    def silence(self) -> str:
        """Why slots have no value."""
        return NO_PROBABILITIES if self.rows.scores[self.model].columns else NO_PROBABILITIES_BUT_LABELS

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        return self._result(slot) if self.has_value(slot) else NOT_FOUND

    @abstractmethod
    def _result(self, slot: Slot) -> Found:
        """The same of a slot that has a value."""

    def influence(self, slot: Slot, smooth: bool = False) -> Array:
        """What each row adds to a slot, in the order of the input; or each pseudo-observation of rows let go."""
        return self._influence(slot, smooth) if self.has_value(slot) else np.full(len(self.patterns.mass), np.nan)

    def _influence(self, slot: Slot, smooth: bool) -> Array:
        """The same of a slot that has a value."""
        return super().influence(slot, smooth)

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""
        found = np.full((len(mass), len(slots)), np.nan)
        places = [place for place, slot in enumerate(slots) if self.has_value(slot)]
        if places and not self.held:
            return super().reweighed(slots, mass)
        if places:
            found[:, places] = self._reweighed([slots[place] for place in places], mass)
        return found

    @abstractmethod
    def _reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The same of slots that have a value, of rows in memory."""

    def remark(self, slot: Slot) -> str:
        """What there is to know about a slot beside its value, or why it has none."""
        return self._remark(slot) if self.has_value(slot) else self.silence

    @abstractmethod
    def _remark(self, slot: Slot) -> str:
        """The same of a slot that has a value."""

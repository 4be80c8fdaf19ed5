"""What evaluations have in common whose rows were not held. Knows no formula.

Values come from sums. How far they scatter, and together with what, comes from the products of influences, which a
second pass over the rows sums up. A matrix of such products is the same as that of a few made-up rows: these stand in
for the rows wherever influences are asked for. They count as no rows, so that nothing about them is skewed: of so many
rows, a mean is as good as normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...core.cached import cached_property
from ...core.errors import BadOption
from ...inference.row_evaluation import AVERAGES, Found, RowEvaluation, key_of
from ...inference.table_evaluation import Slot
from ...states.statistics import Patterns

if TYPE_CHECKING:
    from ...core.typing import Array
    from ...states.held_rows import Rows
    from .summary import Summary

UNPAIRED = "at most: how the classes go together was not summed"
UNCLUSTERED = "how rows of a cluster go together was not summed"
UNSEEN = "Merged tallies of very many rows do not tell differences; assess the files together"
OVERALL = "Very many rows are seen again for overall differences; leave by_class= out, or give a data frame"


@dataclass(frozen=True)
class SummedEvaluation(RowEvaluation):
    """Slots of one classifier whose rows were summed and let go; ``rows`` are a few of them."""

    summary: Summary = field(default=None, repr=False)  # type: ignore[assignment]

    @cached_property
    def sizes(self) -> Array:
        """How many rows each class has."""
        return np.asarray(self.summary.by_class[0])

    @cached_property
    def class_mass(self) -> Array:
        """What the rows of each class weigh."""
        return np.asarray(self.summary.by_class[1])

    @cached_property
    def class_square(self) -> Array:
        """The sums of their squared weights."""
        return np.asarray(self.summary.by_class[2])

    def shares_error(self, slot: Slot, share: Array, values: Array) -> float:
        """How far an average by the shares of classes scatters since these do: rows of a class make it count more."""
        if slot.average != AVERAGES[1]:
            return 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # the mean of infinite values has no error
            moved = np.where(share > 0, values - share @ np.nan_to_num(values), 0.0)
            return float(np.sqrt(self.class_square @ np.square(moved)) / self.class_mass[share > 0].sum())

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(self.class_mass.sum())

    @cached_property
    def drawn(self) -> float:
        """How many rows there are."""
        return float(self.sizes.sum())

    @property
    def one_by_one(self) -> bool:
        """All sums are there already."""
        return False

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return self.summary.recipe.clustered

    @property
    def made_up(self) -> int:
        """How many rows are made up."""
        products = self.summary.products
        return 0 if products is None else products.factor.shape[1]

    @property
    def freedom(self) -> float:
        """Degrees of freedom of what is drawn, rows or clusters."""
        products = self.summary.products
        return self.drawn - 1 if products is None else products.freedom

    @property
    def patterns(self) -> Patterns:
        """What influences are of: made-up rows, with none behind them."""
        size = self.made_up
        ones, none = np.ones(size), np.zeros(size, np.int64)
        return Patterns(len(self.scale), none, np.zeros((0, size), np.int64), np.zeros(size), ones, ones, None)

    def known(self, slot: Slot) -> Array | None:
        """The influences of the made-up rows on a slot; None where the second pass did not ask for it."""
        products = self.summary.products
        return None if products is None else products.row((self.model, *key_of(slot)))

    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What made-up rows add to a slot."""
        del smooth
        found = self.known(slot)
        if found is None:
            raise BadOption(
                f"how {slot.measure.label} goes together with others was not summed",
                mend=UNSEEN if self.summary.products is None else OVERALL,
            )
        return found

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

    def found_late(self, slot: Slot, values: tuple[float, float]) -> Found | None:
        """A slot with the spread that the second pass told; None where the first one told it as well.

        Where rows of clusters go together, and nobody saw how, nothing is known of the spread.
        """
        known = self.known(slot)
        if known is None:
            return Found(values, (np.nan, np.nan), (np.nan, np.nan)) if self.clustered else None
        if not self.clustered and not self.told_late(slot):
            return None
        variance = float(np.square(known).sum())
        return Found(values, (variance, variance), (self.freedom, self.freedom))

    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""
        del places, smooth
        return np.asarray(np.square(influences).sum(axis=1))

    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """So many rows feel no pseudo-row."""
        del place
        return 0.0, np.zeros(1)

    def unknown(self, slot: Slot) -> list[str]:
        """What there is to say where a second pass was not made."""
        if self.known(slot) is not None or not (self.clustered or self.told_late(slot)):
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

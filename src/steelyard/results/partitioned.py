"""What there is of one classifier beside its measures: its scaled memberships, and the regions that scale them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import BadOption, OutsideUnitInterval
from ..core.table import Table
from ..families.partition.evaluation import Chosen, checked_choice
from ..inference.settings import STANDARDISE
from .calibrated import Calibrated

if TYPE_CHECKING:
    from ..families.partition.partition_scaling import PartitionScaling

IN_BATCHES = "Scale them in batches: result.scaling().transform(memberships)"


@dataclass(frozen=True, eq=False)
class Partitioned(Calibrated):
    """One classifier, evaluated, with its forecasts and its partition spaces."""

    def scaled_memberships(
        self, scaling: str = "default", *, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0
    ) -> Table:
        """Return the memberships, scaled to say how right the classifier is (Sondhauss & Weihs 2001).

        Args:
            scaling: "default"; "literal", the formulas as printed; "klar", as in the R package klaR; or "raw", the
                memberships as they were given.
            depth: How many of the highest classes a region is made of.
            floor: How many rows a region needs to be scaled on its own.
            ties: Where rows go whose highest memberships are tied: "first", "random" or "joined".
            seed: Where the random numbers for these start.

        Returns:
            A Table: one row an observation in the order given, without those that were left out, and one column a
            class. ``np.asarray(table)`` has the numbers, (n, C). Of tallies that were added, the rows of the first come
            first; where rows were taken out again, others are in another order.
        """
        from ..families.partition.partition_scaling import memberships_table

        chosen = self._chosen_scaling(scaling, depth, floor, ties, seed)
        rows = self.tally.kept_of(self.slice)
        if rows is None:
            mend = "Scale the labels themselves: result.scaling().transform(labels)"
            raise BadOption("labels were counted, and no row was kept", mend=mend)
        if self.tally.summaries is not None or self.tally.veiled:
            lost = "a saved tally" if self.tally.summaries is None else "streaming"
            raise BadOption(f"{lost} does not keep the order of rows", mend=IN_BATCHES)
        return memberships_table(self.partition.scaled(*chosen).scaled, self.tally.scale)

    def scaling(
        self, scaling: str = "default", *, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0
    ) -> PartitionScaling:
        """Return the scaling itself, which scales other rows by the regions of these, and can be saved.

        The arguments are those of ``scaled_memberships``.
        """
        from ..families.partition.partition_scaling import PartitionScaling

        chosen = self._chosen_scaling(scaling, depth, floor, ties, seed)
        found = PartitionScaling(self.tally.scale, chosen, self.partition.regions(chosen))
        _ = found.fitted  # what cannot be scaled so is refused now
        return found

    def regions(
        self, scaling: str = "default", *, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0
    ) -> Table:
        """Return the regions with the parameters of their scaling: a tidy table, one row a region.

        At depth 1 the regions are the classes in the order of the scale, also those that no row was assigned to.
        ``PartitionScaling.regions`` explains the columns: region, n, weight, mean, alpha, beta, certainty, correct,
        scaled_alpha, scaled_beta, scaled_by and note. The arguments are those of ``scaled_memberships``.
        """
        return self.scaling(scaling, depth=depth, floor=floor, ties=ties, seed=seed).regions()

    def _chosen_scaling(self, *chosen: Any) -> Chosen:
        """The options of a scaling, once the classifier is known to have memberships."""
        self.refuse_hidden()
        rows = self.tally.rows_of(self.slice) if self.tally.summaries is None else None
        if rows is None:
            probable = not self.tally.scored or self.has_probabilities
        else:
            probable = rows.refuse_changed().scores[self.evaluation.model].are_probabilities
        if not probable:
            raise OutsideUnitInterval("the scores are no probabilities", mend=STANDARDISE)
        scaling, depth, floor, ties, seed = chosen
        return checked_choice((scaling, depth, floor, ties, seed), len(self.classes))

"""From memberships to values and influences of all measures of partition spaces of one classifier. Knows no formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.errors import TooLarge
from ...inference.evaluation import Slot, key_of
from ...inference.row_evaluation import SkewedEvaluation
from ...inference.rules.wilson import wilson
from ...inference.tails import Tails
from ...measures import find
from ...measures.registry import Measure
from ...states.statistics import PARTITION
from ..state_evaluation import ProbabilityEvaluation
from ..summed.recipe import Batchwise, Look, Named
from .fitting import Regions, Scaling
from .looks import REGIONS, SUMS, TIED, Passing, Task, all_chosen, next_task, space_of, steps, tied_of
from .space import COLUMNS, RAW, Chosen, Space, checked_choice, chosen_by, corner, memberships_of

if TYPE_CHECKING:
    from ...core.scale import Label
    from ...core.typing import Array
    from ...states.held_rows import Rows

UNSCALED = "not known of merged tallies: all rows together say how they are scaled; assess the files together"
UNMULTIPLIED = "how far it scatters was not summed"


@dataclass(frozen=True)
class PartitionEvaluation(ProbabilityEvaluation, SkewedEvaluation):
    """All slots of one classifier that are made of its memberships in a partition space."""

    spaces: dict[Chosen, Space] = field(default_factory=dict, repr=False)
    fits: dict[Chosen, Scaling] = field(default_factory=dict, repr=False)

    # --- rows in their spaces ------------------------------------------------------------------------------------

    def space(self, measure: Measure) -> Space:
        """The rows, scaled as a measure asks for it."""
        return self.scaled(*self._chosen(measure))

    def _chosen(self, measure: Measure) -> Chosen:
        return chosen_by(measure, len(self.scale))

    def scaled(self, scaling: str, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0) -> Space:
        """The rows, scaled as somebody asks for it; memberships of rows that were not held are gone."""
        if not self.held:
            raise TooLarge(
                "this needs all memberships, and the rows were too many to be held", mend="Leave rows out: where="
            )
        chosen = checked_choice((scaling, depth, floor, ties, seed), len(self.scale))
        if chosen not in self.spaces:
            times = None if self.weights.equal else self.weights.count
            given = memberships_of(self.rows, self.model, len(self.scale))
            self.spaces[chosen] = Space(given, self.rows.truth, self.weights.mass, *chosen, times=times)
        return self.spaces[chosen]

    # --- values and influences -----------------------------------------------------------------------------------

    def offered(self, slot: Slot, space: Space | None = None) -> dict[str, Any]:
        """What a formula may ask for: means of columns."""
        columns = [name for name in slot.measure.arguments if name in COLUMNS]
        if space is None and not self.held:
            means = self.means(self._chosen(slot.measure))
        else:
            space = self.space(slot.measure) if space is None else space
            means = {name: space.mean(name) for name in columns}
        return {"corner": corner(len(self.scale)), **{name: means[name] for name in columns}}

    def value(self, slot: Slot) -> float:
        """The formula at the means."""
        return float(slot.measure.of(self.offered(slot)))

    _result = SkewedEvaluation.result

    def _influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot: by itself, and by its part in the scaling of others."""
        return self._along(slot, self.space(slot.measure)) if self.held else super()._influence(slot, smooth)

    def _along(self, slot: Slot, space: Space) -> Array:
        """What some rows add to a slot."""
        found = np.zeros(len(space.truth))
        for name, slope in slot.measure.slopes_by_name(self.offered(slot), COLUMNS).items():
            found += slope * space.influence(name)
        return found / self.total

    def scattered(self, slot: Slot) -> tuple[float, Tails]:
        """The variance of a slot, and how skewed it is; NaN where it was not summed."""
        products = None if self.held else self.summary.products
        if not self.held and self.known(slot) is None:
            return np.nan, Tails.none(1)
        influence = self.influence(slot)[None]
        tails = Tails.of(self.patterns, influence) if products is None else products.tails((self.model, *key_of(slot)))
        return float(self.source.variances(influence)[0]), tails

    def without_spread(self, slot: Slot, value: float, level: float) -> tuple[float, float]:
        """Every row lies in the same corner, say: what an error rate of none in so many rows may be tells the rest."""
        trials = np.array([self.total / self.unit])
        reach = self.unseen(slot, float(wilson(np.zeros(1), trials, level)[1][0]))
        low, high = self.limits(slot)
        return max(value - reach, low), min(value + reach, high)

    def unseen(self, slot: Slot, share: float) -> float:
        """How far rows unlike all that were seen would move a value, if they were this share of all rows.

        A row in a wrong corner is further from the right one than the middle by the root of 2 over the corner.
        """
        del slot
        return float(share * np.sqrt(2) / corner(len(self.scale)))

    def limits(self, slot: Slot) -> tuple[float, float]:
        """The least and the greatest value: all rows in a wrong corner, or in the right one."""
        low, high = slot.measure.span
        return (max(low, 1 - float(np.sqrt(2)) / corner(len(self.scale))), high) if low < 0 else (low, high)

    def _reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else: every replicate is scaled by itself."""
        found = np.empty((len(mass), len(slots)))
        for place, slot in enumerate(slots):
            space, each = self.space(slot.measure), self.weights.mass / np.maximum(self.weights.count, 1.0)
            for row, weight in enumerate(mass):
                kept = np.flatnonzero(weight > 0)
                drawn = replace(space.but(kept), mass=weight[kept], times=weight[kept] / each[kept])
                found[row, place] = float(slot.measure.of(self.offered(slot, drawn)))
        return found

    def _remark(self, slot: Slot) -> str:
        """What could not be scaled as the rest, or was not seen."""
        if self.held:
            scaling, unknown = self.space(slot.measure).scaling, []
        else:
            chosen = self._chosen(slot.measure)
            if not self.seen(chosen):
                return UNSCALED
            scaling, unknown = self.fitted(chosen), [UNMULTIPLIED] if self.known(slot) is None else []
        return "; ".join([*([] if scaling is None else scaling.notes), *unknown])

    # --- what looks at all rows have found so far of rows that are let go --------------------------------------------

    @cached_property
    def facts(self) -> Mapping[Task, Any]:
        """What was found so far, of all classifiers."""
        first: Named = self.summary.states.get(PARTITION.name, Named())
        later: Named = self.summary.late.get(PARTITION.name, Named())
        return (first + later).found

    def tasks(self) -> Iterator[tuple[Task, tuple[Chosen, Scaling | None]]]:
        """What has to be found next, and how memberships are scaled for it."""
        for chosen in all_chosen(self.summary.recipe):
            self._refuse_tied(chosen)
            task = next_task(self.model, chosen, self.facts)
            if task is not None:
                yield task, (chosen, self.fitted(chosen) if task[0] == SUMS else None)

    def _refuse_tied(self, chosen: Chosen) -> None:
        tied = self.facts.get((TIED, self.model, chosen[1]))  # counted only where they are parted at random
        if tied is not None and tied[0]:
            raise TooLarge(
                f"{tied[0]:,.0f} rows are tied, and it takes all of them at hand to part them at random",
                mend="Say ties='first' or ties='joined'",
            )

    def fitted(self, chosen: Chosen) -> Scaling | None:
        """How memberships are scaled; None where they are not."""
        scaling, _, floor, _, _ = chosen
        if scaling == RAW:
            return None
        if chosen not in self.fits:
            self.fits[chosen] = Scaling(self.regions(chosen), scaling, floor)  # type: ignore[arg-type]  # checked there
        return self.fits[chosen]

    def regions(self, chosen: Chosen) -> Regions:
        """The sums of the regions of a scaling, where any measure that was asked for needs the same."""
        if self.held:
            return self.scaled(*chosen).regions
        _, depth, _, ties, _ = chosen
        found: Regions | None = self.facts.get((REGIONS, self.model, depth, ties))
        if found is None:
            needed = [name for name, usual in (("depth", depth == 1), ("ties", ties == "first")) if not usual]
            given = {"depth": depth, "ties": ties}
            label = find("partition_accuracy", **{name: given[name] for name in needed}).label
            raise TooLarge(
                "these regions were not summed, and the rows were too many to be held",
                mend=f"Name a measure of them: measures=[{label!r}]",
            )
        return found

    def seen(self, chosen: Chosen) -> bool:
        """Whether rows were seen again, once it was known how they are scaled."""
        return (SUMS, self.model, chosen) in self.facts

    def means(self, chosen: Chosen) -> Mapping[str, float]:
        """The means of columns over all rows; NaN where rows were not seen again."""
        found = np.full(len(COLUMNS), np.nan)
        if self.seen(chosen):
            found = self.facts[SUMS, self.model, chosen].found[()] / self.total
        return dict(zip(COLUMNS, found.tolist(), strict=True))

    def passing(self, chosen: Chosen, rows: Rows) -> Passing:
        """Some rows, in the space that was fitted to all of them."""
        sums = self.facts[SUMS, self.model, chosen].found if self.seen(chosen) else {}
        moved = {used: moves for used, moves in sums.items() if used}
        known = {"means": self.means(chosen), "moved": moved, "tied": tied_of(self.model, self.facts)}
        return space_of(self.summary.recipe, self.model, rows, chosen, fitted=self.fitted(chosen), **known)

    # --- the second pass -----------------------------------------------------------------------------------------

    def told_late(self, slot: Slot) -> bool:
        """What rows do to the scaling of others is known only when they are scaled."""
        del slot
        return True

    def row_influences(self, slots: Sequence[Slot], rows: Rows) -> Array:
        """What rows add to some slots, (slots, rows): by themselves, and by their part in the scaling of others."""
        choices = dict.fromkeys(self._chosen(slot.measure) for slot in slots)
        spaces = {chosen: self.passing(chosen, rows) for chosen in choices}
        return np.stack([self._along(slot, spaces[self._chosen(slot.measure)]) for slot in slots])


def again(evaluations: Mapping[Label | None, Sequence[PartitionEvaluation]]) -> dict[Label | None, Look]:
    """See rows once more, for what comes next."""
    found: dict[Label | None, Look] = {}
    for label, some in evaluations.items():
        tasks = {task: way for each in some for task, way in each.tasks()}
        if tasks:
            found[label] = partial(Batchwise, partial(steps, some[0].summary.recipe, tasks, some[0].facts))
    return found

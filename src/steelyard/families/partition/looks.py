"""Partition spaces of rows that are let go: sums of regions first, then what rows are worth once these are scaled.

Every look at the rows finds what the next one has to know. Where ties join regions, the classes that any row is tied
between are found level by level. Then come the sums of regions, which tell how memberships are scaled; and then the
means of what formulas ask for, with how they move with every scaling. The products of influences come last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import perm
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.errors import TooLarge
from ...core.scale import Label
from ...measures.masses import Weights
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.statistics import PARTITION
from ..summed.recipe import Batchwise, Named, Recipe
from .fitting import NOTHING_JOINED, Joined, Scaling
from .rows import Prefix, Tied, joined, tied_rows, ties_at
from .scaling import orders
from .space import COLUMNS, MOMENTS, RAW, Chosen, Leaf, Space, chosen_by, memberships_of

if TYPE_CHECKING:
    from ...core.typing import Array, Places

PAIRS, REGIONS, SUMS, TIED = "pairs", "regions", "sums", "tied"
Task = tuple[Any, ...]  # one of these words, a classifier, and what the rest of it depends on
MOST_NUMBERS = 1 << 25  # that the sums of all regions may have


@dataclass(frozen=True)
class Passing(Space):
    """Some of many rows, in a space that was fitted to all of them.

    Attributes:
        fitted: How memberships are scaled; None where they are not.
        tied: The classes that any row is tied between, by region, where ties join regions.
        means: The means of columns over all rows.
        moved: How sums of columns over all rows move with the moments of a region: (levels, moments, columns).
    """

    fitted: Scaling | None = None
    tied: Tied = field(default_factory=dict, repr=False)
    means: Mapping[str, float] = field(default_factory=dict)
    moved: Mapping[Prefix, Array] = field(default_factory=dict, repr=False)

    @cached_property
    def placed(self) -> tuple[Places, Joined]:
        """The highest classes of each row, and which of them stand together."""
        if self.ties == "joined" and self.variant != RAW:
            return joined(self.memberships, self.depth, self.tied)
        if self.ties == "first":
            return self.arranged.order, NOTHING_JOINED
        return orders(self.memberships, self.depth), NOTHING_JOINED

    @property
    def scaling(self) -> Scaling | None:
        """What was fitted to all rows."""
        return self.fitted

    @property
    def sums(self) -> Named:
        """The columns summed up over these rows, under (); and how that moves with every scaling, by region."""
        found: dict[Prefix, Array] = {(): np.array([float(self.mass @ self.column(name)) for name in COLUMNS])}
        if self.fitted is not None:
            for used, leaves in super().affected(self.fitted).items():
                found[used] = self._moves(self.fitted, used, leaves)
        return Named(found)

    def _moves(self, scaling: Scaling, used: Prefix, leaves: list[Leaf]) -> Array:
        found = np.zeros((len(scaling.regions.order(used)), len(MOMENTS), len(COLUMNS)))
        for level, by_moment in enumerate(found):
            for moment, row in zip(MOMENTS, by_moment, strict=True):
                slopes = super().slopes(scaling, used, leaves, level, moment)
                row[:] = [slopes.get(name, 0.0) for name in COLUMNS]
        return found

    # --- what is known of all rows stands in for what these rows would say ---------------------------------------

    def mean(self, name: str) -> float:
        """The mean of a column over all rows."""
        return self.means[name]

    def affected(self, scaling: Scaling) -> dict[Prefix, list[Leaf]]:
        """All regions with a scaling of their own: which rows take it was seen before."""
        del scaling
        return {used: [] for used in self.moved}

    def slopes(
        self, scaling: Scaling, used: Prefix, leaves: list[Leaf], level: int, moment: str
    ) -> Mapping[str, float]:
        """How sums of columns over all rows move with a moment."""
        del scaling, leaves
        return dict(zip(COLUMNS, self.moved[used][level, MOMENTS.index(moment)].tolist(), strict=True))


# --- one look after the other -----------------------------------------------------------------------------------


def all_chosen(recipe: Recipe) -> list[Chosen]:
    """Every scaling that is asked for."""
    return list(dict.fromkeys(chosen_by(measure, len(recipe.scale)) for measure in recipe.made_of(PARTITION)))


def next_task(model: int, chosen: Chosen, known: Mapping[Task, Any]) -> Task | None:
    """What has to be found next of a classifier and a scaling; None where everything is known."""
    scaling, depth, _, ties, _ = chosen
    tasks: list[Task] = []
    if scaling != RAW:
        tasks += [(PAIRS, model, level) for level in range(depth)] if ties == "joined" else []
        tasks += [(REGIONS, model, depth, ties)]
    return next((task for task in [*tasks, (SUMS, model, chosen)] if task not in known), None)


def tied_of(model: int, known: Mapping[Task, Any]) -> dict[Prefix, Array]:
    """The classes that any row is tied between, on all levels that are known."""
    levels = [state.found for task, state in known.items() if task[:2] == (PAIRS, model)]
    return {prefix: pairs for level in levels for prefix, pairs in level.items()}


def steps(
    recipe: Recipe,
    tasks: Mapping[Task, tuple[Chosen, Scaling | None]],
    known: Mapping[Task, Any],
    rows: Rows,
    clusters: tuple[Label, ...],
) -> Named:
    """Do what has to be done next, on some of the rows: by task.

    Args:
        recipe: What is asked of the rows.
        tasks: What has to be found, and how memberships are scaled for it.
        known: What was found before.
        rows: Some of the rows.
        clusters: Not asked for.
    """
    del clusters
    found: dict[Task, Any] = {}
    for task, (chosen, scaling) in tasks.items():
        tied = tied_of(task[1], known)
        space = space_of(recipe, task[1], rows, chosen, fitted=scaling, tied=tied)
        if chosen[3] == "random":
            found[TIED, task[1], chosen[1]] = np.array([float(len(tied_rows(space.memberships, chosen[1])))])
        found[task] = _done(task, space)
    return Named(found)


def _done(task: Task, space: Passing) -> Any:
    if task[0] == PAIRS:
        return Named(ties_at(space.memberships, task[2], space.tied))
    return space.regions if task[0] == REGIONS else space.sums


def space_of(recipe: Recipe, model: int, rows: Rows, chosen: Chosen, **known: Any) -> Passing:
    """Some rows of a classifier in a space."""
    classes, weights = len(recipe.scale), Weights.of(rows)
    given = memberships_of(rows.muted(model, classes), model, classes)
    times = None if weights.equal else weights.count
    return Passing(given, rows.truth, weights.mass, *chosen, times=times, **known)


def placing(recipe: Recipe) -> Batchwise:
    """The first look: what needs no knowledge of all rows."""
    tasks: dict[Task, tuple[Chosen, Scaling | None]] = {}
    for chosen in all_chosen(recipe):
        _refuse_deep(chosen, len(recipe.scale))
        for model in range(len(recipe.models)):
            task = next_task(model, chosen, {})
            if task is not None:
                tasks[task] = chosen, None
    return Batchwise(partial(steps, recipe, tasks, {}))


def _refuse_deep(chosen: Chosen, classes: int) -> None:
    scaling, depth, *_ = chosen
    if scaling != RAW and perm(classes, depth) * (classes + 5 * depth) > MOST_NUMBERS:
        raise TooLarge(
            f"{classes:,} classes have too many regions of depth {depth} to be summed",
            mend="Say a lower depth, or leave rows out with where=",
        )


def needs_all_rows(measure: Measure) -> bool:
    """Whether rows must be at hand: random numbers are dealt out to all rows that are tied, in their order."""
    return measure.statistic is PARTITION and measure.parameters["ties"] == "random"

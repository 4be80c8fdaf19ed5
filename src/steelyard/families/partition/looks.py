"""Partition spaces of rows that are let go: sums of regions first, then what rows are worth once these are scaled.

Every look at the rows finds what the next one has to know. Where ties join regions, the classes that any row is tied
between are found level by level. Then come the sums of regions, which tell how memberships are scaled; and then the
means of what formulas ask for, with how they move with every scaling. The products of influences come last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import perm
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.cached import cached_property
from ...core.errors import TooLarge
from ...core.scale import Label
from ...measures import find
from ...measures.masses import Weights
from ...measures.registry import Measure
from ...states.held_rows import Rows
from ...states.statistics import PARTITION
from ..summed.recipe import Batchwise, Named, Recipe
from .fitting import NOTHING_JOINED, Joined, Regions, Scaling
from .rows import Prefix, Tied, joined, tied_rows, ties_at
from .scaling import orders
from .space import COLUMNS, MOMENTS, RAW, Chosen, Leaf, Space, chosen_by, memberships_of

if TYPE_CHECKING:
    from ...core.typing import Array, Places
    from ..summed.summary import Summary

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


@dataclass(frozen=True)
class Steps:
    """Does what has to be done next, on some of the rows.

    Attributes:
        recipe: What is asked of the rows.
        tasks: What has to be found, and how memberships are scaled for it.
        known: What was found before.
    """

    recipe: Recipe
    tasks: Mapping[Task, tuple[Chosen, Scaling | None]]
    known: Mapping[Task, Any] = field(default_factory=dict)

    def __call__(self, rows: Rows, clusters: tuple[Label, ...]) -> Named:
        """Of some rows, by task."""
        del clusters
        found: dict[Task, Any] = {}
        for task, (chosen, scaling) in self.tasks.items():
            tied = tied_of(task[1], self.known)
            space = space_of(self.recipe, task[1], rows, chosen, fitted=scaling, tied=tied)
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
    return Batchwise(Steps(recipe, tasks))


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


# --- what is known of all rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SummedSpaces:
    """What looks at all rows have found so far, of one classifier.

    Attributes:
        summary: What was kept of the rows.
        model: The place of the classifier.
        fits: How memberships are scaled, as far as it was asked for.
    """

    summary: Summary
    model: int
    fits: dict[Chosen, Scaling] = field(default_factory=dict, repr=False)

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
            found = self.facts[SUMS, self.model, chosen].found[()] / float(self.summary.by_class[1].sum())
        return dict(zip(COLUMNS, found.tolist(), strict=True))

    def space(self, chosen: Chosen, rows: Rows) -> Passing:
        """Some rows, in the space that was fitted to all of them."""
        sums = self.facts[SUMS, self.model, chosen].found if self.seen(chosen) else {}
        moved = {used: moves for used, moves in sums.items() if used}
        known = {"means": self.means(chosen), "moved": moved, "tied": tied_of(self.model, self.facts)}
        return space_of(self.summary.recipe, self.model, rows, chosen, fitted=self.fitted(chosen), **known)

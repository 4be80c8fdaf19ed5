"""Rows are summed up on the way through them: what each family of measures keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.arrays import distinct
from ...core.scale import Label
from ...states.held_rows import Sampling
from ..by_statistic import FAMILIES
from .recipe import Recipe, Taking
from .summary import Summaries, Summary

if TYPE_CHECKING:
    from ...states.held_rows import Rows


class Summarising:
    """Sums rows up on the way through them, and lets them go."""

    def __init__(self, recipe: Recipe) -> None:
        """Start with no rows."""
        self.recipe = recipe
        self.parts: dict[Label | None, _Part] = {}

    def add(self, rows: Rows, labels: tuple[Label, ...] = (), clusters: tuple[Label, ...] = ()) -> None:
        """Sum up some rows; ``labels`` are those of their parts, beside those of their clusters."""
        if rows.slice is None:
            self._part(None).add(rows, clusters)
            return
        for code in distinct(rows.slice).tolist():
            self._part(labels[code]).add(rows.select(np.asarray(rows.slice == code)), clusters)

    def _part(self, label: Label | None) -> _Part:
        if label not in self.parts:
            self.parts[label] = _Part(self.recipe)
        return self.parts[label]

    def narrow(self, recipe: Recipe) -> None:
        """Ask no more than this of the rows, of those before and of those to come."""
        self.recipe = recipe
        for part in self.parts.values():
            part.narrow(recipe)

    def state(self) -> Summaries:
        """What is kept of all rows."""
        return Summaries({label: part.state() for label, part in self.parts.items()})


class _Part:
    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.sampling = recipe, Sampling()
        self.by_class = np.zeros((3, len(recipe.scale)))
        wanted = {measure.statistic: None for measure in recipe.measures}
        self.gatherings: dict[str, Taking] = {each.name: FAMILIES[each].summing(recipe) for each in wanted}

    def add(self, rows: Rows, clusters: tuple[Label, ...]) -> None:
        seen = rows.by_class
        self.by_class[:, : seen.shape[1]] += seen
        self.sampling.add(rows, clusters)
        for gathering in self.gatherings.values():
            gathering.add(rows, clusters)

    def narrow(self, recipe: Recipe) -> None:
        kept = {measure.statistic.name for measure in recipe.measures}
        self.recipe = recipe
        self.gatherings = {name: gathering for name, gathering in self.gatherings.items() if name in kept}

    def state(self) -> Summary:
        states = {name: gathering.state() for name, gathering in self.gatherings.items()}
        sample = self.sampling.state()
        if sample is None:
            raise ValueError("no row was added")
        return Summary(self.recipe, self.by_class, states, sample)

"""Batches of rows into one tally: rows are held with their scores while they are few, and then summed up.

Rows that were summed up and let go may have to be seen again: where cells of scores leave values too uncertain, by
finer ones; and to find how the influences of rows on values go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from . import tally as tallies
from .cases import Cases
from .engines.tree import Sum
from .families import evaluate
from .rows import Rows
from .scale import Label
from .settings import Settings
from .summaries.products import Products, Wanted, products_of, wanted_of
from .summaries.rankings import SummedRanking, refined
from .summaries.recipe import Recipe, Rulers
from .summaries.ruler import BITS
from .summaries.summary import EVALUATIONS, Summarising
from .summaries.summed import SummedEvaluation
from .tally import Tally
from .uncertainty import unit_of


class Gathering:
    """Takes in batches of rows with their scores."""

    def __init__(self, settings: Settings, rulers: Rulers = (), bits: int = BITS) -> None:
        """Start with no rows."""
        self.settings, self.rulers, self.bits = settings, rulers, bits
        self.recipe: Recipe | None = None
        self.total: Sum[Tally] = Sum()
        self.held = 0
        self.summarising: Summarising | None = None

    def add(self, cases: Cases) -> None:
        """Take in some rows; of labels, their counts tell everything."""
        if not cases.scored and cases.measured is None:
            self.total.add(Tally.of(cases))
            return
        known = Recipe.of(cases, self.settings, self.rulers, self.bits)
        self.recipe = known if self.recipe is None else self.recipe.meeting(known)
        rows = Rows.of(cases, passing=self.summarising is not None)
        counts = Tally.of(cases, with_scores=False)
        if self.summarising is not None:
            self.summarising.narrow(self.recipe)
            self.summarising.add(rows, counts.slices)
            self.total.add(counts)
            return
        self.total.add(replace(counts, scores=rows))
        self.held += len(rows)
        if self.held > tallies.MOST_ROWS:
            self._let_go(self.recipe)

    def miss(self, dropped: Tally) -> None:
        """Take note of rows that were dropped."""
        self.total.add(dropped)

    def _let_go(self, recipe: Recipe) -> None:
        """Sum up the rows that were held so far."""
        held = self.total.total()
        self.total, self.summarising = Sum(), Summarising(recipe)
        if held is not None and held.scores is not None:
            self.summarising.add(held.scores, held.slices)
            self.total.add(replace(held, scores=None))

    def state(self) -> Tally | None:
        """The tally of all rows."""
        total = self.total.total()
        if total is None:
            return None
        summaries = None if self.summarising is None else self.summarising.state()
        return replace(total, recipe=self.recipe, summaries=summaries)


def evaluations_of(tally: Tally, label: Label | None = None) -> list[SummedEvaluation]:
    """Every classifier by every measure whose rows were summed up, of one part of the data or of all."""
    summaries = tally.summaries
    if summaries is None:
        return []
    summary, patterns = summaries.of(label), tally.patterns(label)
    found = []
    for statistic in EVALUATIONS:
        measures = summary.recipe.made_of(statistic)
        for model in range(len(tally.models)) if measures else ():
            common = {"scale": tally.scale, "stand_in": np.nan, "models": tally.models}
            unit = unit_of(patterns, model)
            found.append(evaluate(statistic, summary, model, measures=measures, unit=unit, **common))  # type: ignore[arg-type]
    return cast(list[SummedEvaluation], found)


def finer_rulers(tally: Tally) -> Rulers:
    """On which the scores must be counted once more; none where all values are certain enough."""
    rankings = [each for each in evaluations_of(tally) if isinstance(each, SummedRanking)]
    recipe = None if tally.recipe is None or not rankings else refined(tally.recipe, rankings)
    return () if recipe is None else recipe.rulers


@dataclass(frozen=True)
class Together:
    """How influences go together, of every part of the data and, under None, of all rows."""

    found: Mapping[Label | None, Products]

    def __add__(self, other: Together) -> Together:
        """Add part by part."""
        found = dict(self.found)
        for label, products in other.found.items():
            found[label] = found[label] + products if label in found else products
        return Together(found)


class Multiplying:
    """Takes in batches of rows a second time."""

    def __init__(self, wanted: Mapping[Label | None, Wanted]) -> None:
        """Start with no rows."""
        self.wanted = wanted
        self.total: Sum[Together] = Sum()

    def add(self, cases: Cases) -> None:
        """Take in some rows."""
        rows, found = Rows.of(cases, passing=True), {}
        clusters = () if cases.group is None else cases.group.labels
        for label, wanted in self.wanted.items():
            some = rows
            if label is not None and cases.slice is not None:
                some = rows.select(np.array([each == label for each in cases.slice.labels])[cases.slice.codes])
            if len(some):
                found[label] = products_of(wanted, some, clusters)
        self.total.add(Together(found))

    def state(self) -> Together | None:
        """The products of all rows."""
        return self.total.total()


def second_pass(tally: Tally) -> dict[Label | None, Wanted]:
    """What has to be found by seeing all rows again; nothing where one pass told everything."""
    if tally.summaries is None:
        return {}
    found = {label: wanted_of(evaluations_of(tally, label)) for label in tally.summaries.labels}
    return {label: wanted for label, wanted in found.items() if wanted}


def with_products(tally: Tally, together: Together) -> Tally:
    """A tally that knows how influences go together."""
    if tally.summaries is None:
        return tally
    return replace(tally, summaries=replace(tally.summaries, products=together.found))

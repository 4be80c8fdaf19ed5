"""Batches of rows into one tally: rows are held with their scores while they are few, and then summed up.

Rows that were summed up and let go may have to be seen again, by what was found of all of them: as often as any family
of measures asks for it, and then once to find how the influences of rows on values go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from ..core.scale import Label
from ..core.tree import Sum
from ..families.by_statistic import evaluate
from ..families.summed.recipe import Batchwise, Look, Named, Recipe, Taking
from ..families.summed.second_pass import products_of, wanted_of
from ..families.summed.summarising import AGAIN, EVALUATIONS, Summarising
from ..families.summed.summary import PRODUCTS
from ..families.summed.summed import SummedEvaluation
from ..inference.settings import Settings
from ..inference.variances import unit_of
from ..inputs.cases import Cases
from ..maths.ruler import BITS
from ..states.held_rows import Rows
from . import tally as tallies
from .tally import Tally

Looks = Mapping[Label | None, Mapping[str, Look]]


class Gathering:
    """Takes in batches of rows with their scores."""

    def __init__(self, settings: Settings, bits: int = BITS, most: int | None = None) -> None:
        """Start with no rows; so many are held at most."""
        self.settings, self.bits = settings, bits
        self.most = tallies.MOST_ROWS if most is None else most
        self.recipe: Recipe | None = None
        self.total: Sum[Tally] = Sum()
        self.held = 0
        self.summarising: Summarising | None = None

    def add(self, cases: Cases) -> None:
        """Take in some rows; of labels, their counts tell everything."""
        if not len(cases):  # all rows of the batch weigh nothing: what is asked of others cannot be seen by them
            self.total.add(Tally.of(cases, with_scores=False))
            return
        if not cases.scored and cases.measured is None:
            self.total.add(Tally.of(cases))
            return
        known = Recipe.of(cases, self.settings, self.bits)
        self.recipe = known if self.recipe is None else self.recipe.meeting(known)
        rows = Rows.of(cases, passing=self.summarising is not None)
        counts = Tally.of(cases, with_scores=False)
        if self.summarising is not None:
            self.summarising.narrow(self.recipe)
            self.summarising.add(rows, counts.slices, () if cases.group is None else cases.group.labels)
            self.total.add(counts)
            return
        self.total.add(replace(counts, scores=rows))
        self.held += len(rows)
        if self.held > self.most:
            self._let_go(self.recipe)

    def miss(self, dropped: Tally) -> None:
        """Take note of rows that were dropped."""
        self.total.add(dropped)

    def _let_go(self, recipe: Recipe) -> None:
        """Sum up the rows that were held so far."""
        held = self.total.total()
        self.total, self.summarising = Sum(), Summarising(recipe)
        if held is not None and held.scores is not None:
            self.summarising.add(held.scores, held.slices, held.groups)
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


def looks_of(tally: Tally) -> Looks:
    """What all rows have to be seen again for; nothing where everything is known."""
    found: dict[Label | None, dict[str, Look]] = {}
    summaries = tally.summaries
    if summaries is None or summaries.has(PRODUCTS):
        return {}
    evaluations = {label: evaluations_of(tally, label) for label in summaries.labels}
    for statistic, again in AGAIN.items():
        kind = EVALUATIONS[statistic]
        some = {label: [each for each in every if isinstance(each, kind)] for label, every in evaluations.items()}
        for label, look in again(some).items() if some[None] else ():
            found.setdefault(label, {})[statistic.name] = look
    return found or _products(evaluations)


def _products(evaluations: Mapping[Label | None, list[SummedEvaluation]]) -> Looks:
    wanted = {label: wanted_of(every) for label, every in evaluations.items()}
    return {label: {PRODUCTS: partial(Batchwise, partial(products_of, each))} for label, each in wanted.items() if each}


class Seeing:
    """Takes in batches of rows that were summed up before."""

    def __init__(self, looks: Looks) -> None:
        """Start with no rows."""
        self.looks = looks
        self.found: dict[Label | None, dict[str, Taking]] = {}

    def add(self, cases: Cases) -> None:
        """Take in some rows."""
        rows = Rows.of(cases, passing=True)
        for label, looks in self.looks.items():
            some, clusters = rows, () if cases.group is None else cases.group.labels
            if label is not None and cases.slice is not None:
                some = rows.select(np.array([each == label for each in cases.slice.labels])[cases.slice.codes])
                some, clusters = _renumbered(some, clusters)
            if not len(some):
                continue
            if label not in self.found:
                self.found[label] = {name: look() for name, look in looks.items()}
            for looking in self.found[label].values():
                looking.add(some, clusters)

    def state(self) -> Named | None:
        """What was found, by name, of every part of the data and, under None, of all rows."""
        found = {
            label: Named({name: each.state() for name, each in some.items()}) for label, some in self.found.items()
        }
        return Named(found) if found else None


def _renumbered(rows: Rows, clusters: tuple[Label, ...]) -> tuple[Rows, tuple[Label, ...]]:
    """Clusters numbered anew where others have no row in a part of the data, and so count for nothing there."""
    if rows.cluster is None:
        return rows, clusters
    found, numbers = np.unique(rows.cluster, return_inverse=True)
    return replace(rows, cluster=numbers), tuple(clusters[number] for number in found)


def seen(tally: Tally, found: Named | None) -> Tally:
    """A tally that knows what was found when rows were seen again."""
    if tally.summaries is None or found is None:
        return tally
    return replace(tally, summaries=tally.summaries.seen(found))

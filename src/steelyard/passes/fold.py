"""From batches of rows to states: what is done with a shard of the rows, wherever that is, and what its batches become.

Rows are held with their scores while they are few, and then summed up. Rows that were summed up and let go may have to
be seen again, by what was found of all of them: as often as any family of measures asks for it, and then once to find
how the influences of rows on values go together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..core.errors import EmptyInput, SteelyardError, UnusableLabels, quoted
from ..core.scale import Label, Scale
from ..core.threads import ahead
from ..data.digests import Source
from ..data.engines.engine import TreeSum
from ..data.shards import Batch, Shard
from ..families.by_statistic import FAMILIES, evaluate
from ..families.state_evaluation import StateEvaluation
from ..families.summed.recipe import Batchwise, Look, Named, Recipe, Taking
from ..families.summed.second_pass import products_of, wanted_of
from ..families.summed.summarising import Summarising
from ..families.summed.summary import PRODUCTS
from ..inference.design import unit_of
from ..inference.settings import Settings
from ..inputs.dataset import Dataset
from ..inputs.request import Request
from ..inputs.validate import Validator
from ..maths.ruler import BITS
from ..states.held_rows import Rows
from . import tally as tallies
from .tally import Tally

State = TypeVar("State")
Made_co = TypeVar("Made_co", covariant=True)
Watch = Callable[[int, int, int], None]
Looks = Mapping[Label | None, Mapping[str, Look]]


@dataclass(frozen=True)
class Folded(Generic[State]):
    """What has become of some shards.

    Attributes:
        state: The states of their batches, added up; None where there was no row.
        rows: How many rows they are of.
        faults: What was wrong with shards that were left out, by name.
        sources: Where the rows come from, as far as that was asked for.
    """

    state: State | None = None
    rows: int = 0
    faults: Mapping[str, SteelyardError] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()

    def __add__(self, other: Folded[State]) -> Folded[State]:
        """What has become of both."""
        both: Any = self.state if other.state is None else other.state
        if self.state is not None and other.state is not None:
            both = self.state + other.state  # type: ignore[operator]
        faults, sources = {**self.faults, **other.faults}, self.sources + other.sources
        return Folded(both, self.rows + other.rows, faults, sources)


class Progress:
    """Tells somebody how many rows and bytes were worked on; sent to another machine, it has nobody to tell."""

    def __init__(self, watch: Watch | None = None, size: int = 0) -> None:
        self.watch, self.size = watch, size
        self._rows = self._bytes = 0
        self._lock = Lock()

    def rows(self, count: int) -> None:
        """Some rows of a shard were worked on."""
        self._tell(count, 0)

    def shard(self, shard: Shard) -> None:
        """A shard is done."""
        self._tell(0, shard.size)

    def _tell(self, rows: int, size: int) -> None:
        if self.watch is None:
            return
        with self._lock:
            self._rows, self._bytes = self._rows + rows, self._bytes + size
            self.watch(self._rows, self._bytes, self.size)

    def __reduce__(self) -> tuple[type[Progress], tuple[()]]:
        return Progress, ()


class Gatherer(Protocol[Made_co]):
    """Something that takes in the batches of a shard."""

    def add(self, batch: Batch) -> None:
        """Take in a batch."""

    def state(self) -> Made_co | None:
        """What has become of all of them; None where there was no row."""


class Adding(Generic[State]):
    """Makes a state of each batch, and adds the states up."""

    def __init__(self, make: Callable[[Batch], State]) -> None:
        self.make = make
        self.total: TreeSum[State] = TreeSum()

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        self.total.add(self.make(batch))

    def state(self) -> State | None:
        """The states added up."""
        return self.total.total()


@dataclass(frozen=True)
class Work(Generic[State]):
    """From a shard to its state; everything that is needed for it comes along, and nothing else.

    Attributes:
        start: Makes what takes in the batches of a shard.
        columns: The columns that it needs.
        schema: What these hold, and what those of the filter hold.
        skip: Whether a shard that cannot be used is left out; else it stops the run.
        progress: Told of the rows, where somebody listens.
        telling: Whether what a shard holds tells it from others, by its rows and its state; None where no source is
            asked for.
    """

    start: Callable[[], Gatherer[State]]
    columns: list[str]
    schema: Any
    skip: bool = False
    progress: Progress = field(default_factory=Progress)
    telling: Callable[[int, Any], bool] | None = None

    def __call__(self, shard: Shard) -> Folded[State]:
        """Work on a shard to its end; of one with a fault nothing counts."""
        gatherer, rows = self.start(), 0
        try:
            for batch in ahead(shard.batches(self.columns, self.schema), far=shard.far):
                if batch.table.num_rows:
                    gatherer.add(batch)
                    rows += batch.table.num_rows
                    self.progress.rows(batch.table.num_rows)
        except SteelyardError as error:
            if not self.skip:
                raise
            return Folded(faults={shard.name: error})
        state = gatherer.state()
        return Folded(state, rows, sources=self._sources(shard, rows, state))

    def _sources(self, shard: Shard, rows: int, state: Any) -> tuple[Source, ...]:
        found = None if self.telling is None else shard.source(rows, self.columns)
        if found is None or self.telling is None:
            return ()
        return (replace(found, telling=self.telling(rows, state)),)


# --- batches as they are counted ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """Makes a batch of rows their tally.

    Attributes:
        request: Which columns hold what.
        validator: The options under which rows are checked, with the classes.
        forms: Which classifiers gave labels.
    """

    request: Request
    validator: Validator
    forms: Mapping[str, bool]

    def __call__(self, batch: Batch) -> Tally:
        """Count a batch; an empty tally where every row was dropped."""
        dataset = self.dataset(batch)
        return self.nothing(batch) if dataset is None else Tally.of(dataset, with_scores=False)

    def dataset(self, batch: Batch) -> Dataset | None:
        """Let a batch in; None where every row was dropped."""
        try:
            dataset = self.request.validate_table(batch.table, self.validator, self.forms)
            self._check_unambiguous(() if dataset.slice is None else dataset.slice.labels)
            return dataset
        except EmptyInput:
            return None
        except SteelyardError as error:
            raise batch.locate(error) from None

    def nothing(self, batch: Batch) -> Tally:
        """The tally of a batch of which every row was dropped."""
        empty = Tally.empty(self.validator.scale or Scale([]), list(self.request.models))
        return replace(empty, dropped=int(batch.table.num_rows))

    def _check_unambiguous(self, slices: Sequence[Label]) -> None:
        """A part called like two could only be told apart from others by all rows at once."""
        names = self.validator.by if isinstance(self.validator.by, list | tuple) else []
        for label in slices if len(names) > 1 else ():
            if any(str(label).count(f", {name}=") > 1 for name in names):
                raise UnusableLabels(
                    f"{quoted(label, 100)} could be two parts",
                    mend="Rename it, or read the files into a data frame first",
                )


def find_fault(request: Request, validator: Validator, kind: type[SteelyardError], batch: Batch) -> int:
    """Raise the fault of a batch, with its file and row, if it is of a kind; nothing is counted."""
    try:
        request.validate_table(batch.table, validator)
    except kind as found:
        raise batch.locate(found) from None
    except SteelyardError:
        pass
    return 0


# --- batches with their scores --------------------------------------------------------------------------------


class Gathering:
    """Makes batches of rows one tally that knows more than counts: rows are held while they are few, and then summed.

    Args:
        count: Checks batches.
        settings: Which measures are asked for.
        bits: Of the rulers on which scores are counted where rows are not held.
        most: How many rows of a shard are held at most; None for as many as there may be of all.
    """

    def __init__(self, count: Count, settings: Settings, bits: int = BITS, most: int | None = None) -> None:
        """Start with no rows."""
        self.count, self.settings, self.bits = count, settings, bits
        self.most = tallies.MOST_ROWS if most is None else most
        self.recipe: Recipe | None = None
        self.total: TreeSum[Tally] = TreeSum()
        self.held = 0
        self.summarising: Summarising | None = None

    def add(self, batch: Batch) -> None:
        """Take in a batch; of labels, their counts tell everything."""
        dataset = self.count.dataset(batch)
        if dataset is None:
            self.total.add(self.count.nothing(batch))
            return
        if not len(dataset):  # all rows of the batch weigh nothing: what is asked of others cannot be seen by them
            self.total.add(Tally.of(dataset, with_scores=False))
            return
        if not dataset.scored and dataset.measured is None:
            self.total.add(Tally.of(dataset))
            return
        known = Recipe.of(dataset, self.settings, self.bits)
        self.recipe = known if self.recipe is None else self.recipe.meeting(known)
        rows = Rows.of(dataset, passing=self.summarising is not None)
        counts = Tally.of(dataset, with_scores=False)
        if self.summarising is not None:
            self.summarising.narrow(self.recipe)
            self.summarising.add(rows, counts.slices, () if dataset.group is None else dataset.group.labels)
            self.total.add(counts)
            return
        self.total.add(replace(counts, scores=rows))
        self.held += len(rows)
        if self.held > self.most:
            self._let_go(self.recipe)

    def _let_go(self, recipe: Recipe) -> None:
        """Sum up the rows that were held so far."""
        held = self.total.total()
        self.total, self.summarising = TreeSum(), Summarising(recipe)
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


def evaluations_of(tally: Tally, label: Label | None = None) -> list[StateEvaluation]:
    """Every classifier by every measure whose rows were summed up, of one part of the data or of all."""
    summaries = tally.summaries
    if summaries is None:
        return []
    summary, patterns = summaries.of(label), tally.patterns(label)
    found = []
    for statistic in FAMILIES:
        measures = summary.recipe.made_of(statistic)
        for model in range(len(tally.models)) if measures else ():
            common = {"scale": tally.scale, "stand_in": np.nan, "models": tally.models}
            unit = unit_of(patterns, model)
            found.append(evaluate(statistic, summary, model, measures=measures, unit=unit, **common))  # type: ignore[arg-type]
    return found


def looks_of(tally: Tally) -> Looks:
    """What all rows have to be seen again for; nothing where everything is known."""
    found: dict[Label | None, dict[str, Look]] = {}
    summaries = tally.summaries
    if summaries is None or summaries.has(PRODUCTS):
        return {}
    evaluations = {label: evaluations_of(tally, label) for label in summaries.labels}
    for statistic, family in FAMILIES.items():
        kind = family.evaluation
        some = {label: [each for each in every if isinstance(each, kind)] for label, every in evaluations.items()}
        for label, look in family.again(some).items() if some[None] else ():
            found.setdefault(label, {})[statistic.name] = look
    return found or _products(evaluations)


def _products(evaluations: Mapping[Label | None, list[StateEvaluation]]) -> Looks:
    wanted = {label: wanted_of(every) for label, every in evaluations.items()}
    return {label: {PRODUCTS: partial(Batchwise, partial(products_of, each))} for label, each in wanted.items() if each}


class Seeing:
    """Sees batches of rows again that were summed up before.

    Args:
        count: Checks batches.
        looks: What has to be found, of every part of the data.
    """

    def __init__(self, count: Count, looks: Looks) -> None:
        """Start with no rows."""
        self.count, self.looks = count, looks
        self.found: dict[Label | None, dict[str, Taking]] = {}

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        dataset = self.count.dataset(batch)
        if dataset is None:
            return
        rows = Rows.of(dataset, passing=True)
        for label, looks in self.looks.items():
            some, clusters = rows, () if dataset.group is None else dataset.group.labels
            if label is not None and dataset.slice is not None:
                some = rows.select(np.array([each == label for each in dataset.slice.labels])[dataset.slice.codes])
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

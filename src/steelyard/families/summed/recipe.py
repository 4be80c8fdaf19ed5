"""What is asked of rows that are too many to be held, and what a family of measures keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...core.cached import cached_property
from ...core.scale import Label, Scale
from ...data.engines.engine import TreeSum
from ...inputs.dataset import Available, Dataset
from ...maths.ruler import BITS
from ...measures.registry import Measure
from ...states.score_grid import Counter, Grid
from ...states.statistics import CONFUSION, Statistic

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Numbers
    from ...inference.settings import Settings
    from ...states.held_rows import Rows

Name = TypeVar("Name")
Column = tuple["Numbers", "Codes", "Array | None"]  # the number of each row, its side, and what is summed up


@dataclass(frozen=True)
class Recipe:
    """What is asked of rows that are not held.

    Attributes:
        scale: The classes.
        models: The names of the classifiers.
        shape: How many columns each of them has, the class that a single one speaks for, and whether they are scores
            that are no probabilities.
        measures: The measures that are made of rows.
        given: What there is for measures to be made of.
        weighed: Whether rows have weights.
        clustered: Whether rows belong to clusters.
        bits: Of the rulers on which scores are counted first.
    """

    scale: Scale
    models: tuple[str, ...]
    shape: tuple[tuple[int, int, bool], ...]
    measures: tuple[Measure, ...]
    given: Available
    weighed: bool = False
    clustered: bool = False
    bits: int = BITS

    def made_of(self, statistic: Statistic) -> tuple[Measure, ...]:
        """The measures that are made of one statistic."""
        return tuple(measure for measure in self.measures if measure.statistic is statistic)

    @property
    def labels(self) -> set[str]:
        """The measures, by their labels."""
        return {measure.label for measure in self.measures}

    @classmethod
    def of(cls, cases: Dataset, settings: Settings, bits: int = BITS) -> Recipe:
        """What is asked of rows like these."""
        given = cases.given()
        measures = [each for each in settings.fitted(given).measures if each.statistic is not CONFUSION]
        speaks = tuple((len(said.columns), said.speaks, said.raw) for said in cases.scores.values())
        weighed, clustered = cases.weight is not None, cases.group is not None
        asked = (tuple(cases.assigned), speaks, tuple(measures), given)
        return cls(cases.scale, *asked, weighed, clustered, bits)

    def meeting(self, other: Recipe | None) -> Recipe:
        """What can be asked of both: scores of which some are no probabilities are none."""
        return other if other is not None and not other.given.probable else self

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The same in words, to see whether two are alike."""
        measures = [f"{measure.label} {dict(measure.parameters)}" for measure in self.measures]
        return (*measures, f"columns {self.shape}", f"weights {self.weighed}", f"clusters {self.clustered}")


class Batchwise:
    """Makes a state of each batch of rows, and adds the states up."""

    def __init__(self, make: Callable[[Rows, tuple[Label, ...]], Any]) -> None:
        """Start with no rows."""
        self.make = make
        self.total: TreeSum[Any] = TreeSum()

    def add(self, rows: Rows, clusters: tuple[Label, ...] = ()) -> None:
        """Add some rows."""
        self.total.add(self.make(rows, clusters))

    def state(self) -> Any:
        """What is kept of all of them."""
        return self.total.total()


class Counting:
    """Counts numbers of rows into grids.

    Args:
        counters: One a column of every classifier.
        columns: Returns what is counted of some rows, for every column of every classifier.
    """

    def __init__(
        self, counters: Sequence[Sequence[Counter]], columns: Callable[[Rows], Iterable[Iterable[Column]]]
    ) -> None:
        """Start with no rows."""
        self.counters, self.columns = counters, columns

    def add(self, rows: Rows, clusters: tuple[Label, ...] = ()) -> None:
        """Count some rows."""
        del clusters
        for counters, columns in zip(self.counters, self.columns(rows), strict=True):
            for counter, column in zip(counters, columns, strict=True):
                counter.add(*column)

    def state(self) -> Grids:
        """The cells that have rows."""
        return Grids(tuple(tuple(counter.grid() for counter in part) for part in self.counters))


Taking = Batchwise | Counting  # rows are added to it, batch after batch, with the labels of their clusters
Look = Callable[[], Taking]  # it starts with no rows


# --- what is kept of rows: states of one kind can be added, and taken off -------------------------------------------


@dataclass(frozen=True)
class Totals:
    """Sums that are added up number by number."""

    parts: tuple[Array, ...]

    def __add__(self, other: Totals) -> Totals:
        """Add."""
        return Totals(tuple(mine + yours for mine, yours in zip(self.parts, other.parts, strict=True)))

    def __neg__(self) -> Totals:
        """Turn around, so that subtracting is adding."""
        return Totals(tuple(-part for part in self.parts))


@dataclass(frozen=True)
class Grids:
    """The grids of all columns of all classifiers."""

    parts: tuple[tuple[Grid, ...], ...]

    def __add__(self, other: Grids) -> Grids:
        """Add grid by grid."""
        pairs = zip(self.parts, other.parts, strict=True)
        return Grids(tuple(tuple(a + b for a, b in zip(*pair, strict=True)) for pair in pairs))

    def __neg__(self) -> Grids:
        """Turn around, so that subtracting is adding."""
        return Grids(tuple(tuple(-grid for grid in part) for part in self.parts))


def added_by_name(first: Mapping[Name, Any], second: Mapping[Name, Any]) -> dict[Name, Any]:
    """Return what stands under any name: what has the same name in both is added up."""
    found = dict(first)
    for name, state in second.items():
        found[name] = found[name] + state if name in found else state
    return found


@dataclass(frozen=True)
class Named:
    """What is kept under names: what two have under the same name is added up, and what one has alone stays."""

    found: Mapping[Any, Any] = field(default_factory=dict)

    def __add__(self, other: Named) -> Named:
        """Add name by name."""
        return Named(added_by_name(self.found, other.found))

    def __neg__(self) -> Named:
        """Turn around, so that subtracting is adding."""
        return Named({name: -state for name, state in self.found.items()})


def added_by_label(*parts: tuple[Sequence[Label], Array]) -> tuple[tuple[Label, ...], Array]:
    """Return all labels, and their sums added up, one label in a row."""
    labels = list(dict.fromkeys(label for some, _ in parts for label in some))
    places = {label: place for place, label in enumerate(labels)}
    found = np.zeros((len(labels), parts[0][1].shape[1]))
    for some, sums in parts:
        found[[places[label] for label in some]] += sums
    return tuple(labels), found


@dataclass(frozen=True)
class ClusterSums:
    """What the rows of each cluster add up to.

    Attributes:
        labels: The clusters.
        sums: How many rows each has, what they weigh, and their columns by weight: (clusters, 2 + columns).
    """

    labels: tuple[Label, ...]
    sums: Array

    def __add__(self, other: ClusterSums) -> ClusterSums:
        """Add cluster by cluster; one of which all rows were taken off is gone."""
        return ClusterSums(*added_by_label((self.labels, self.sums), (other.labels, other.sums))).without_empty()

    def without_empty(self) -> ClusterSums:
        """Only clusters that have rows."""
        left = np.flatnonzero(self.sums[:, 0])
        return ClusterSums(tuple(self.labels[place] for place in left), self.sums[left])

    def __neg__(self) -> ClusterSums:
        """Turn around, so that subtracting is adding."""
        return ClusterSums(self.labels, -self.sums)

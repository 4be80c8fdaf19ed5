"""What evaluations have in common that are made of rows rather than of counts. Knows no formula."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from ..core.cached import cached_property
from ..core.scale import Scale
from ..measures.masses import Weights, summed_at
from ..measures.registry import Measure
from ..states.held_rows import Rows
from ..states.statistics import Patterns
from .influence import Spread
from .layout import Layout, layout_of
from .table_evaluation import Slot

if TYPE_CHECKING:
    from ..core.typing import Array

AVERAGES = ("macro", "weighted")
NO_SCORES = "the classifier gave labels, not scores"


class Found(NamedTuple):
    """A value, its variance and its degrees of freedom, on the rows as they are and with the pseudo-rows.

    ``added`` is the part of the second variance that is due to the pseudo-rows.
    """

    value: tuple[float, float]
    variance: tuple[float, float]
    freedom: tuple[float, float]
    added: float = 0.0

    @property
    def moved(self) -> bool:
        """Whether pseudo-rows make a difference."""
        return self.value[0] != self.value[1] or self.variance[0] != self.variance[1]

    @property
    def lone(self) -> bool:
        """Whether there is a value, and one row or cluster, on a side of it, that tells nothing of its spread."""
        return not np.isnan(self.value[0]) and bool(np.isnan(self.variance[0]) > np.isnan(self.variance[1]))

    def of_average(self, classes: int, measure: Measure | None = None) -> Found:
        """The same of an average over so many classes: all pairs of them share the pseudo-rows of one.

        What pseudo-rows do to every class they do to the average, too, but that has less of an error: of a hundred
        classes, it would be pulled away from its value by ten standard errors. Not so of a measure that is corrected
        for having been fitted: every class is.
        """
        if measure is not None and measure.fair is not None:
            return self
        part = 2 / max(classes * (classes - 1), 2)
        (value, centre), (variance, spread) = self.value, self.variance
        added, rows = part**2 * self.added, spread - self.added
        if np.isfinite(variance):  # single rows have no spread but with the pseudo-rows
            rows = variance + part * (rows - variance)
        return Found((value, value + part * (centre - value)), (variance, rows + added), self.freedom, added)


NOT_FOUND = Found((np.nan, np.nan), (np.nan, np.nan), (np.nan, np.nan))


def patterns_of(rows: Rows, weights: Weights, classes: int) -> Patterns:
    """Return every row as a pattern of its own."""
    cluster, none = rows.cluster, np.zeros((0, len(rows)), np.int64)
    seen = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    return Patterns(classes, rows.truth, none, weights.count, weights.mass, weights.square, seen)


def key_of(slot: Slot) -> tuple[str, int | str | None]:
    """What a slot is known by: the measure's label, and a class's code or an average."""
    return slot.measure.label, slot.average if slot.code is None else slot.code


@dataclass(frozen=True)
class RowEvaluation(ABC):
    """Slots of one classifier that are made of its rows.

    They stand as their layout says: those of classes, averages over classes, and those of all rows.

    Attributes:
        rows: The rows, with what every classifier said of them.
        model: The place of the classifier.
        scale: The classes.
        measures: What is evaluated.
        undefined: What stands in for values that are undefined.
        unit: What a pseudo-row weighs.
        alone: The one slot that is wanted, where it is one.
        models: The names of all classifiers, for measures that hold one against another.
        pseudo_row: What part of a row a pseudo-row is.
    """

    pseudo_row: ClassVar[float] = 1.0

    rows: Rows
    model: int
    scale: Scale
    measures: tuple[Measure, ...]
    undefined: float
    unit: float
    alone: Slot | None = None
    models: tuple[str, ...] = ()

    @property
    def one_by_one(self) -> bool:
        """Whether a slot should be evaluated alone, since all of them take longer."""
        return False

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """What the values stand for, in order."""
        if self.alone is not None:
            return (self.alone,)
        of_classes = [measure for measure in self.measures if measure.per_class]
        return (
            *[Slot(measure, code) for measure in of_classes for code in range(len(self.scale))],
            *[Slot(measure, None, average) for measure in of_classes for average in AVERAGES],
            *[Slot(measure) for measure in self.measures if not measure.per_class],
        )

    def slot(self, place: int) -> Slot:
        """What one value stands for."""
        return self.slots[place]

    def only(self, place: int) -> Self:
        """One slot alone; what was found for others is not lost."""
        return replace(self, alone=self.slots[place])

    @cached_property
    def layout(self) -> Layout:
        """Where the slots are."""
        return layout_of(tuple([measure.facts for measure in self.measures]), len(self.scale), AVERAGES)

    @property
    def places(self) -> dict[tuple[str, int | str | None], int]:
        """Where to find a slot: by the measure's label, and a class's code, an average or None."""
        return self.layout.places if self.alone is None else {key_of(self.alone): 0}

    def overall(self, measure: Measure) -> int:
        """The slot that stands for a measure: the event's where there is an event, else the mean over classes."""
        if not measure.per_class:
            return self.places[measure.label, None]
        event = None if measure.balanced else self.scale.event_code
        return self.places[measure.label, "macro" if event is None else event]

    @cached_property
    def weights(self) -> Weights:
        """What the rows weigh."""
        return Weights.of(self.rows)

    @cached_property
    def drawn(self) -> float:
        """How many rows there are."""
        return float(self.weights.count.sum())

    @cached_property
    def by_class(self) -> Array:
        """How many rows each class has, what they weigh, and their squared weights: (3, classes)."""
        found, seen = np.zeros((3, len(self.scale))), self.rows.by_class
        found[:, : seen.shape[1]] = seen  # classes that come last on the scale may not have been seen
        return found

    @property
    def sizes(self) -> Array:
        """How many rows each class has."""
        return np.asarray(self.by_class[0])

    @property
    def class_mass(self) -> Array:
        """What the rows of each class weigh."""
        return np.asarray(self.by_class[1])

    @property
    def class_square(self) -> Array:
        """The squared weights of the rows of each class."""
        return np.asarray(self.by_class[2])

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(len(self.rows)) if self.weights.equal else float(self.class_mass.sum())

    def mass_by_class(self, mass: Array) -> Array:
        """What each class weighs where rows weigh something else: (replicates, rows) to (replicates, classes)."""
        return summed_at(self.rows.truth, mass, len(self.scale))

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return self.rows.cluster is not None

    @property
    def patterns(self) -> Patterns:
        """What influences are of: the rows."""
        return self.row_patterns

    @cached_property
    def row_patterns(self) -> Patterns:
        """Every row as a pattern of its own."""
        return patterns_of(self.rows, self.weights, len(self.scale))

    # --- what there is to find, at every slot --------------------------------------------------------------------

    @property
    def heard(self) -> bool:
        """Whether slots can have values at all."""
        return True

    @property
    def scored(self) -> bool:
        """Whether the classifier said anything that these measures can be made of; labels are enough for most."""
        return True

    @property
    def silence(self) -> str:
        """Why slots have no value where it did not."""
        return NO_SCORES

    @abstractmethod
    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""

    @abstractmethod
    def influence(self, slot: Slot, smooth: bool) -> Array:
        """What each row adds to a slot, in the order of the input."""

    @abstractmethod
    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """The variance of influences on some slots: one number a slot."""

    def wavering(self, slot: Slot) -> Array:
        """What a choice between two estimates adds to a slot: errors whose squares add up to its variance.

        Every one belongs to a row, or to a cluster: classifiers that are doubted by the same rows waver together.
        """
        del slot
        return np.zeros(1)

    @abstractmethod
    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Mean squared influence of a pseudo-row on a slot; and its influence wherever it may be, evenly spread."""

    @abstractmethod
    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else, (replicates, rows): (replicates, slots)."""

    @abstractmethod
    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """The classes for which a measure has no value, among those that were asked for."""

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        return np.array([self.result(slot).value for slot in self.slots]).reshape(-1, 2).T

    @cached_property
    def spread(self) -> tuple[Spread, Array]:
        """Both standard errors of every slot, and the degrees of freedom of the second."""
        found = [self.result(slot) for slot in self.slots]
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.array([each.variance for each in found]).reshape(-1, 2).T)
        return Spread(errors[0], errors[1]), np.array([each.freedom[1] for each in found])

    def begin(self) -> bool:
        """Do some of what all slots need, before anybody asks for them; tell whether there was anything left to do."""
        return False  # where each needs something else

    def prepare(self, slots: Sequence[Slot]) -> None:
        """Do what must be done once, before rows are weighed anew again and again."""
        del slots

    def shaken(self, slots: Sequence[Slot]) -> Array:
        """What one standard error of what was estimated from other data does: (lower and higher, estimates, slots)."""
        return np.zeros((2, 0, len(slots)))

    def limits(self, slot: Slot) -> tuple[float, float]:
        """The least and the greatest value that a slot can have."""
        return slot.measure.span

    def beyond(self, slot: Slot) -> tuple[float, float]:
        """How far below and above its value a slot may be by what no spread tells."""
        del slot
        return 0.0, 0.0

    def certified(self, slot: Slot) -> tuple[float, float] | None:
        """Between which numbers the value lies for certain, where it was not found to the last digit."""
        del slot
        return None

    def remark(self, slot: Slot) -> str:
        """What there is to know about a slot beside its value."""
        del slot
        return ""

"""What evaluations of one classifier have in common: values that stand in slots, and what is asked about them.

A *slot* is a measure of the whole data, of one class, or averaged over the classes. Class slots come first: measure by
measure, in class order. Then the averages over classes, then the measures of the whole. Where each of them stands
depends on the measures and the number of classes, never on data: such a layout is made once and kept.

Everything is evaluated twice: as it is, for values and standard errors; and with pseudo-observations, for intervals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..core.scale import Scale
from ..measures.registry import AVERAGES, Facts, Measure
from ..states.statistics import Patterns

if TYPE_CHECKING:
    from ..core.typing import Array, Places

PSEUDO_ROWS = 2.0


class Slot(NamedTuple):
    """Where a value belongs: a measure, and a class or an average (neither: the whole table)."""

    measure: Measure
    code: int | None = None
    average: str | None = None


def key_of(slot: Slot) -> tuple[str, int | str | None]:
    """Return what a slot is known by: the measure's label, and a class's code or an average."""
    return slot.measure.label, slot.average if slot.code is None else slot.code


@dataclass(frozen=True, eq=False)
class Layout:
    """The slots of some measures on a number of classes, with these kinds of averages."""

    measures: tuple[Facts, ...]
    classes: int
    kinds: tuple[str, ...] = AVERAGES

    @cached_property
    def class_slots(self) -> int:
        """How many slots speak of one class."""
        return self.classes * sum(not measure.undivided for measure in self.measures)

    @cached_property
    def spans(self) -> dict[str, tuple[range, range]]:
        """Where the slots of each measure are, in the order of the measures: of all classes together, of each class."""
        of_classes, together, place, start = {}, {}, 0, self.class_slots
        for measure in sorted(self.measures, key=lambda measure: not measure.per_class):
            stop = place if measure.undivided else place + self.classes
            of_classes[measure.label], place = range(place, stop), stop
            stop = start + (len(self.kinds) if measure.per_class else 1)
            together[measure.label], start = range(start, stop), stop
        return {measure.label: (together[measure.label], of_classes[measure.label]) for measure in self.measures}

    @cached_property
    def rows(self) -> list[tuple[int, Facts, str | None, int | None]]:
        """The slots as they are shown, by measure, overall values before those of classes.

        Each has its place, and its measure, average and class.
        """
        rows: list[tuple[int, Facts, str | None, int | None]] = []
        for measure in self.measures:
            together, of_classes = self.spans[measure.label]
            averages = self.kinds if measure.per_class else (None,)
            rows += [(place, measure, average, None) for place, average in zip(together, averages, strict=True)]
            rows += [(place, measure, None, code) for code, place in enumerate(of_classes)]
        return rows

    @cached_property
    def places(self) -> dict[tuple[str, int | str | None], int]:
        """Where to find a slot: by the measure's label, and a class's code, an average or None."""
        return {
            (measure.label, average if code is None else code): place for place, measure, average, code in self.rows
        }

    @cached_property
    def by_place(self) -> list[tuple[Facts, str | None, int | None]]:
        """The measure, the average and the class of every slot, in the order in which they stand."""
        return [(measure, average, code) for _, measure, average, code in sorted(self.rows, key=itemgetter(0))]

    @cached_property
    def order(self) -> Places:
        """Where the slots stand that are shown one after the other."""
        order = np.array([place for place, *_ in self.rows], dtype=np.intp)
        order.setflags(write=False)
        return order

    @cached_property
    def shown(self) -> Callable[[Sequence[str]], Sequence[str]]:
        """Brings texts of all slots into that order."""
        places = self.order.tolist()
        return itemgetter(*places) if len(places) > 1 else list

    @cached_property
    def classes_shown(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Brings the classes, and behind them what stands for none, into that order."""
        codes = [-1 if code is None else code for *_, code in self.rows]
        return itemgetter(*codes) if len(codes) > 1 else itemgetter(slice(-1, None))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The measure of every slot, as they are shown."""
        return tuple(measure.label for _, measure, _, _ in self.rows)

    @cached_property
    def averages(self) -> tuple[str | None, ...]:
        """The average of every slot, as they are shown."""
        return tuple(average for _, _, average, _ in self.rows)


@lru_cache(maxsize=16)
def layout_of(measures: tuple[Facts, ...], classes: int, kinds: tuple[str, ...] = AVERAGES) -> Layout:
    """The layout of some measures."""
    return Layout(measures, classes, kinds)


@dataclass(frozen=True)
class Spread:
    """Standard errors of all slots: as they are, and with the pseudo-rows, for intervals."""

    plain: Array
    smooth: Array


class Evaluation(ABC):
    """All slots of one classifier that are made of one statistic, evaluated when they are asked for.

    Attributes:
        of_patterns: Whether they are made of counts of patterns, so that rows of a pattern are alike.
        kinds: The averages over classes that there are.
        model: The place of the classifier.
        scale: The classes.
        measures: What is evaluated.
        undefined: What stands in for values that are undefined.
        unit: What a pseudo-row weighs.
        alone: The one slot that is wanted, where it is one.
    """

    of_patterns: ClassVar[bool] = False
    kinds: ClassVar[tuple[str, ...]] = AVERAGES
    alone: Slot | None = None

    model: int
    scale: Scale
    measures: tuple[Measure, ...]
    undefined: float
    unit: float

    if TYPE_CHECKING:  # fields of some evaluations, derived in others

        @property
        def patterns(self) -> Patterns:
            """What influences are of."""

        @property
        def values(self) -> Array:
            """The values of all slots: (2, slots). The second row is where intervals are built."""

        @property
        def total(self) -> float:
            """What all rows weigh."""

    # --- where values stand --------------------------------------------------------------------------------------

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """What the values stand for, in order."""
        if self.alone is not None:
            return (self.alone,)
        measures = {measure.label: measure for measure in self.measures}
        return tuple([Slot(measures[facts.label], code, average) for facts, average, code in self.layout.by_place])

    @cached_property
    def layout(self) -> Layout:
        """Where the slots are."""
        return layout_of(tuple(map(attrgetter("facts"), self.measures)), len(self.scale), self.kinds)

    @property
    def places(self) -> dict[tuple[str, int | str | None], int]:
        """Where to find a slot: by the measure's label, and a class's code, an average or None."""
        return self.layout.places if self.alone is None else {key_of(self.alone): 0}

    def overall(self, measure: Measure) -> int:
        """Return the slot that stands for a measure: the event's if there is an event, else the mean over classes."""
        if not measure.per_class:
            return self.places[measure.label, None]
        event = None if measure.balanced else self.scale.event_code
        return self.places[measure.label, "macro" if event is None else event]

    @property
    @abstractmethod
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""

    @abstractmethod
    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """Return the classes for which a measure has no value, among those that were asked for."""

    # --- what intervals are made of ------------------------------------------------------------------------------

    @property
    @abstractmethod
    def spread(self) -> tuple[Spread, Array, Array]:
        """Standard errors, degrees of freedom, and how many independent trials are behind each slot."""

    def correct_bounds(self, value: Array, low: Array, high: Array, plain: bool) -> None:
        """Change bounds of interval rules by what no rule knows; ``plain`` says that all are plain ones."""
        del value, low, high, plain

    def within_limits(self, value: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
        """Return values and final bounds: none lies beyond what a value can be."""
        return value, low, high

    # --- of chosen slots: what differences and bands are made of -------------------------------------------------

    @abstractmethod
    def values_at(self, places: Sequence[int]) -> Array:
        """Return the values of chosen slots, as they are and with the pseudo-rows: (2, slots)."""

    @abstractmethod
    def influences_at(self, places: Sequence[int], smooth: bool) -> Array:
        """Return what a row of each pattern adds, (slots, patterns); not finite where a value is infinite."""

    @abstractmethod
    def variances(self, places: Sequence[int], influences: Array, smooth: bool) -> Array:
        """Return the variance of influences on some slots: one number a slot."""

    @abstractmethod
    def freedom_at(self, places: Sequence[int]) -> Array:
        """Return the degrees of freedom of chosen slots."""

    @abstractmethod
    def pseudo_at(self, place: int) -> tuple[float, Array]:
        """Return the mean squared influence of a pseudo-row on a slot; and its influence in places that count alike."""

    def moved_at(self, places: Sequence[int]) -> list[int]:
        """Return which of chosen slots pseudo-rows make a difference to."""
        return list(range(len(places)))

    def wavering(self, slot: Slot) -> Array:
        """Return what a choice between two estimates adds to a slot: errors whose squares add up to its variance.

        Every one belongs to a row, or to a cluster: classifiers that are doubted by the same rows waver together.
        """
        del slot
        return np.zeros(1)

    @abstractmethod
    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """Return the values of some slots where rows weigh something else, (replicates, rows): (replicates, slots)."""

"""What evaluations have in common that are made of rows rather than of counts. Knows no formula."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from ..core.cached import cached_property
from ..core.scale import Scale
from ..maths.sides import summed_at
from ..measures.masses import Weights
from ..measures.registry import Measure
from ..states.held_rows import Rows
from ..states.statistics import Patterns
from .averages import MEANS_OF_CLASSES
from .evaluation import Evaluation, Slot, Spread, key_of
from .tails import Tails

if TYPE_CHECKING:
    from ..core.typing import Array

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


@dataclass(frozen=True)
class RowEvaluation(Evaluation):
    """Slots of one classifier that are made of its rows.

    Attributes:
        rows: The rows, with what every classifier said of them.
        models: The names of all classifiers, for measures that hold one against another.
        pseudo_row: What part of a row a pseudo-row is.
    """

    kinds: ClassVar[tuple[str, ...]] = MEANS_OF_CLASSES
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

    def only(self, place: int) -> Self:
        """One slot alone; what was found for others is not lost."""
        return replace(self, alone=self.slots[place])

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

    @cached_property
    def values(self) -> Array:
        """The values of all slots: (2, slots). The second row is where intervals are built."""
        return np.array([self.result(slot).value for slot in self.slots]).reshape(-1, 2).T

    @cached_property
    def spread(self) -> tuple[Spread, Array, Array]:
        """Standard errors, degrees of freedom of the second ones, and no numbers of trials."""
        found = [self.result(slot) for slot in self.slots]
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.array([each.variance for each in found]).reshape(-1, 2).T)
        freedom = np.array([each.freedom[1] for each in found])
        return Spread(errors[0], errors[1]), freedom, np.full(len(found), np.nan)

    def values_at(self, places: Sequence[int]) -> Array:
        """Return the values of chosen slots, as they are and with the pseudo-rows: (2, slots)."""
        return np.array([self.result(self.slots[place]).value for place in places]).T

    def influences_at(self, places: Sequence[int], smooth: bool) -> Array:
        """Return what a row adds to chosen slots, (slots, rows); not finite where a value is infinite."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            several = [self.influence(self.slots[place], smooth) for place in places]
        return np.stack(several) if len(several) > 1 else several[0][None]  # many rows are not copied for nothing

    def freedom_at(self, places: Sequence[int]) -> Array:
        """Return the degrees of freedom of chosen slots."""
        return np.array([self.result(self.slots[place]).freedom[1] for place in places])

    def moved_at(self, places: Sequence[int]) -> list[int]:
        """Return which of chosen slots pseudo-rows make a difference to."""
        return [k for k, place in enumerate(places) if self.result(self.slots[place]).moved]

    def correct_bounds(self, value: Array, low: Array, high: Array, plain: bool) -> None:
        """Move bounds outwards by what no spread covers."""
        for place, slot in enumerate(() if plain else self.slots):
            below, above = self.beyond(slot)
            if below or above:
                low[place] = value[place] - np.hypot(value[place] - low[place], below)
                high[place] = value[place] + np.hypot(high[place] - value[place], above)

    def within_limits(self, value: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
        """Return values and final bounds: none lies beyond what a value can be, and what is infinite once stays so."""
        spans = np.array([self.limits(slot) for slot in self.slots])
        # A value that rounding brought beyond its span still belongs to its interval.
        least, most = np.fmin(spans[:, 0], value), np.fmax(spans[:, 1], value)
        known = np.isfinite(value)
        low = np.where(known, np.maximum(low, least), value)
        high = np.where(known, np.minimum(high, most), value)
        return value if np.isnan(self.undefined) else np.where(np.isnan(value), self.undefined, value), low, high

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


# --- means of what is rarely large -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SkewedEvaluation(RowEvaluation):
    """Slots that are formulas of means over rows, each known by its value and its influences."""

    found: dict[tuple[str, int | str | None], Found] = field(default_factory=dict, repr=False)
    tails: dict[tuple[str, int | str | None], Tails] = field(default_factory=dict, repr=False)

    @abstractmethod
    def value(self, slot: Slot) -> float:
        """The value of a slot."""

    @property
    @abstractmethod
    def freedom(self) -> float:
        """Degrees of freedom of what is drawn, rows or clusters."""

    @abstractmethod
    def scattered(self, slot: Slot) -> tuple[float, Tails]:
        """The variance of a slot that has a value, and how skewed it is."""

    @abstractmethod
    def without_spread(self, slot: Slot, value: float, level: float) -> tuple[float, float]:
        """Bounds of a slot to which every row adds the same."""

    @abstractmethod
    def unseen(self, slot: Slot, share: float) -> float:
        """How far rows unlike all that were seen would move a value, if they were this share of all rows."""

    def result(self, slot: Slot) -> Found:
        """The value of a slot and its spread."""
        if not len(self.rows):
            return NOT_FOUND
        key = key_of(slot)
        if key not in self.found:
            with np.errstate(divide="ignore", invalid="ignore"):
                value, variance = self.value(slot), np.nan
            if not np.isnan(value):
                variance, self.tails[key] = self.scattered(slot)
            self.found[key] = Found((value, value), (variance, variance), (self.freedom, self.freedom))
        return self.found[key]

    def tails_of(self, slot: Slot) -> Tails:
        """How far a slot is from normal."""
        self.result(slot)
        return self.tails[key_of(slot)]

    def deviation_share(self, slot: Slot) -> float:
        """The share of a slot's variance that an estimated deviation has, whose own interval is known."""
        del slot
        return 0.0

    def deviation_bounds(self, slot: Slot, level: float) -> tuple[float, float] | None:
        """The least and the most that a slot is within the interval of that deviation; None where there is none."""
        del slot, level
        return None

    def latent_bounds(self, slot: Slot, level: float) -> tuple[float, float] | None:
        """Bounds of what a slot would be, had these rows been seen without error; None where that is not asked."""
        del slot, level
        return None

    def is_root(self, slot: Slot) -> bool:
        """Whether a slot is the root of a mean."""
        del slot
        return False

    def counted(self, slot: Slot) -> tuple[float, float]:
        """The share of rows that a slot goes with; and 1, or -1 where the one falls as the other rises."""
        raise NotImplementedError(slot)

    def turned(self, slot: Slot, name: str, ends: tuple[float, float]) -> tuple[float, float] | None:
        """What a slot can be between two values of a mean, where it falls at one and rises at the other; else None."""
        raise NotImplementedError(slot, name, ends)

    def undefined_classes(self) -> Iterator[tuple[str, int]]:
        """None: there are no values of single classes."""
        return iter(())

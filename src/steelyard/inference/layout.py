"""Where the values of measures stand: this depends on the measures and the number of classes, never on data.

Every value has a *slot*. Class slots come first: measure by measure, in class order. Then the averages over classes,
then what is said of the whole table. A layout is worked out once and kept, since small data are soon evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..measures.registry import Facts

if TYPE_CHECKING:
    from ..core.typing import Places

AVERAGES = ("macro", "weighted", "micro")


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
    def places(self) -> dict[tuple[str, int | str | None], int]:
        """Where to find a slot: by the measure's label, and a class's code, an average or None."""
        found: dict[tuple[str, int | str | None], int] = {}
        for measure in self.measures:
            together, of_classes = self.spans[measure.label]
            averages = self.kinds if measure.per_class else (None,)
            found |= {(measure.label, average): place for average, place in zip(averages, together, strict=True)}
            found |= {(measure.label, code): place for code, place in enumerate(of_classes)}
        return found

    @cached_property
    def order(self) -> Places:
        """The slots as they are shown: by measure, overall values before those of classes."""
        order = np.array([place for spans in self.spans.values() for span in spans for place in span], dtype=np.intp)
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
        places = [
            place for together, each in self.spans.values() for place in (*[-1] * len(together), *range(len(each)))
        ]
        return itemgetter(*places) if len(places) > 1 else itemgetter(slice(-1, None))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The measure of every slot, as they are shown."""
        return tuple(label for label, spans in self.spans.items() for span in spans for _ in span)

    @cached_property
    def averages(self) -> tuple[str | None, ...]:
        """The average of every slot, as they are shown."""
        found: list[str | None] = []
        for together, of_classes in self.spans.values():
            found += [*(self.kinds if len(together) > 1 else [None]), *[None] * len(of_classes)]
        return tuple(found)


@lru_cache(maxsize=16)
def layout_of(measures: tuple[Facts, ...], classes: int, kinds: tuple[str, ...] = AVERAGES) -> Layout:
    """The layout of some measures."""
    return Layout(measures, classes, kinds)

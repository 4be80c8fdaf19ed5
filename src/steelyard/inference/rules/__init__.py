"""Rules that make intervals, one file a rule. A measure names the rule that suits it: ``interval="wilson"``.

What a rule sees of the estimates is their evidence, as arrays with one entry each, so that a rule is called once for
all measures that name it. A rule of an uncommon kind asks the source of the evidence for what it needs beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...core.errors import UnknownMeasure, quoted
from ..averages import MEANS_OF_CLASSES
from ..evaluation import Layout, Slot

if TYPE_CHECKING:
    from ...core.typing import Array, Places
    from ...measures.registry import Facts

    RulesBySlot = tuple[Sequence["IntervalRule"], Mapping["IntervalRule", Places], Array]

SIDES = np.array([[-1.0], [1.0]])  # the lower bound and the upper


@dataclass(frozen=True)
class Evidence:
    """What rules see of some estimates: arrays with one entry each.

    Attributes:
        value: The estimates.
        centre: The estimates with the pseudo-observations, around which most intervals are built.
        error: Standard errors at the values.
        smooth: Standard errors at the centres.
        critical: How many standard errors an interval reaches.
        trials: How many independent observations an estimate of a class, or a micro average, is a proportion of. Of
            other averages it is all observations, and of what is not made of counts NaN: where the error is above 0,
            value (1 - value) / error² tells more.
        ends: The least and the greatest value: (2, estimates).
        level: The coverage that the critical values belong to.
        places: Where the estimates stand among those of the source.
        source: What knows more of them than these arrays.
    """

    value: Array
    centre: Array
    error: Array
    smooth: Array
    critical: Array
    trials: Array
    ends: Array
    level: float
    places: Places
    source: Any

    def at(self, places: Places) -> Evidence:
        """Return that of some of the estimates."""
        return Evidence(
            self.value.take(places),
            self.centre.take(places),
            self.error.take(places),
            self.smooth.take(places),
            self.critical.take(places),
            self.trials.take(places),
            self.ends[:, places],
            self.level,
            self.places[places],
            self.source,
        )

    @property
    def slots(self) -> Sequence[Slot]:
        """What each estimate stands for."""
        return [self.source.slots[place] for place in self.places.tolist()]


@dataclass(frozen=True)
class IntervalRule:
    """A way to make intervals.

    Attributes:
        method: How it is named in results.
        reach: The bounds of an estimate of whose spread nothing is known; None: all values of its measure.
        of_averages: The name of the rule for means over classes, where it is another one.
        bounds: Makes the lower and the upper bounds of evidence: (2, estimates).
    """

    method: str
    reach: tuple[float, float] | None = (-np.inf, np.inf)
    of_averages: str | None = None
    bounds: Callable[[Evidence], Array] = field(kw_only=True)

    def unbounded(self, evidence: Evidence) -> Array:
        """Return the bounds of estimates of whose spread nothing is known: (2, estimates)."""
        if self.reach is None:
            return evidence.ends
        return np.repeat(np.array([self.reach]).T, len(evidence.value), axis=1)


@lru_cache(maxsize=256)
def rule(name: str) -> IntervalRule:
    """Return the rule of a name: ``wilson`` is in ``wilson.py``, and ``delta.logit`` is ``LOGIT`` of ``delta.py``."""
    module, _, part = name.partition(".")
    try:
        found = getattr(import_module(f"{__name__}.{module}"), (part or module).upper())
    except (ModuleNotFoundError, AttributeError):
        raise UnknownMeasure(f"there is no interval {quoted(name)}", mend="Name a rule, such as wilson") from None
    return cast("IntervalRule", found)


def rule_of(measure: Facts, average: str | None = None) -> IntervalRule:
    """Return the rule of a measure: of a class or of all observations, or of an average over the classes."""
    own = rule(measure.interval)
    return rule(own.of_averages) if own.of_averages and average in MEANS_OF_CLASSES else own


@lru_cache(maxsize=16)
def rules_in(layout: Layout) -> RulesBySlot:
    """Return the rule of each slot, where each rule is used, and the least and the greatest value of each slot."""
    rules = tuple([rule_of(measure, average) for measure, average, _ in layout.by_place])
    return rules, places_of(rules), np.array([measure.span for measure, _, _ in layout.by_place]).reshape(-1, 2).T


def slot_by_slot(bounds_of: Callable[[Any, Slot, float], tuple[float, float]], evidence: Evidence) -> Array:
    """Return the bounds where each takes more than arrays: they are made of the source, the slot and the level."""
    found = [bounds_of(evidence.source, slot, evidence.level) for slot in evidence.slots]
    return np.array(found, dtype=np.float64).reshape(-1, 2).T


def places_of(rules: Sequence[IntervalRule]) -> dict[IntervalRule, Places]:
    """Return where each of these rules stands."""
    return {
        each: np.array([place for place, other in enumerate(rules) if other is each]) for each in dict.fromkeys(rules)
    }


def intervals(places: Mapping[IntervalRule, Places], evidence: Evidence) -> tuple[Array, Array]:
    """Return lower and upper bounds, each estimate by its own rule; ``places`` says where each is used."""
    bounds, endless = np.empty((2, len(evidence.value))), np.isinf(evidence.critical)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for each, at in places.items():
            bounds[:, at] = each.bounds(evidence.at(at))
            if endless.any():
                bounds[:, at[endless[at]]] = each.unbounded(evidence.at(at[endless[at]]))
    low, high = bounds
    # The estimate itself always belongs to its interval, also where pseudo-observations moved the centre.
    # Where there is no estimate there is no interval: NaN is the least and the greatest of all.
    return np.minimum(low, evidence.value), np.maximum(high, evidence.value)

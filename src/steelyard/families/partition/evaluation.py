"""From memberships to values and influences of all measures of partition spaces of one classifier. Knows no formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import BadOption, quoted
from ...core.suggestions import refuse_unknown
from ...inference.rules.wilson import wilson
from ...inference.skewed import SkewedEvaluation
from ...inference.table_evaluation import Slot
from ...measures.registry import Measure
from ..forecasts.piece import Piece
from .fitting import Regions
from .scaling import VARIANTS
from .space import COLUMNS, Space, corner
from .ties import TIES

if TYPE_CHECKING:
    from ...core.typing import Array

RAW = "raw"
Chosen = tuple[str, int, int, str, int]
PARAMETERS = ("scaling", "depth", "floor", "ties", "seed")


@dataclass(frozen=True)
class PartitionEvaluation(SkewedEvaluation):
    """All slots of one classifier that are made of its memberships in a partition space."""

    spaces: dict[Chosen, Space] = field(default_factory=dict, repr=False)

    @property
    def one_by_one(self) -> bool:
        """Each scaling is made when it is asked for."""
        return self.alone is None

    def space(self, measure: Measure) -> Space:
        """The rows, scaled as a measure asks for it."""
        return self.scaled(*chosen_by(measure, len(self.scale)))

    def scaled(self, scaling: str, depth: int = 1, floor: int = 1, ties: str = "first", seed: int = 0) -> Space:
        """The rows, scaled as somebody asks for it."""
        chosen = checked_choice((scaling, depth, floor, ties, seed), len(self.scale))
        if chosen not in self.spaces:
            times = None if self.weights.equal else self.weights.count
            self.spaces[chosen] = Space(self.memberships, self.rows.truth, self.weights.mass, *chosen, times=times)
        return self.spaces[chosen]

    def regions(self, chosen: Chosen) -> Regions:
        """The sums of the regions of a scaling."""
        return self.scaled(*chosen).regions

    @property
    def memberships(self) -> Array:
        """What the classifier said, (rows, classes)."""
        said = Piece(self.rows.scores[self.model], self.rows.truth, len(self.scale))
        return np.stack([np.asarray(column, dtype=np.float64) for column in said.memberships], axis=1)

    def offered(self, slot: Slot, mean: Callable[[str], float]) -> dict[str, Any]:
        """What a formula may ask for, by the means of columns."""
        columns = [name for name in slot.measure.arguments if name in COLUMNS]
        return {"corner": corner(len(self.scale)), **{name: mean(name) for name in columns}}

    def value(self, slot: Slot) -> float:
        """The formula at the means."""
        return float(slot.measure.of(self.offered(slot, self.space(slot.measure).mean)))

    def influence(self, slot: Slot, smooth: bool = False) -> Array:
        """What each row adds to a slot: by itself, and by its part in the scaling of others."""
        del smooth
        space, found = self.space(slot.measure), np.zeros(len(self.rows))
        for name, slope in self.slopes(slot, self.offered(slot, space.mean), COLUMNS).items():
            found += slope * space.influence(name)
        return found / self.total

    def without_spread(self, slot: Slot, value: float, level: float) -> tuple[float, float]:
        """Every row lies in the same corner, say: what an error rate of none in so many rows may be tells the rest."""
        trials = np.array([self.total / self.unit])
        reach = self.unseen(slot, float(wilson(np.zeros(1), trials, level)[1][0]))
        low, high = self.limits(slot)
        return max(value - reach, low), min(value + reach, high)

    def unseen(self, slot: Slot, share: float) -> float:
        """How far rows unlike all that were seen would move a value, if they were this share of all rows.

        A row in a wrong corner is further from the right one than the middle by the root of 2 over the corner.
        """
        del slot
        return float(share * np.sqrt(2) / corner(len(self.scale)))

    def limits(self, slot: Slot) -> tuple[float, float]:
        """The least and the greatest value: all rows in a wrong corner, or in the right one."""
        low, high = slot.measure.span
        return (max(low, 1 - float(np.sqrt(2)) / corner(len(self.scale))), high) if low < 0 else (low, high)

    def reweighed(self, slots: Sequence[Slot], mass: Array) -> Array:
        """The values of some slots where the rows weigh something else: every replicate is scaled by itself."""
        found = np.empty((len(mass), len(slots)))
        for place, slot in enumerate(slots):
            space, each = self.space(slot.measure), self.weights.mass / np.maximum(self.weights.count, 1.0)
            for row, weight in enumerate(mass):
                kept = np.flatnonzero(weight > 0)
                drawn = replace(space.but(kept), mass=weight[kept], times=weight[kept] / each[kept])
                found[row, place] = float(slot.measure.of(self.offered(slot, drawn.mean)))
        return found

    def remark(self, slot: Slot) -> str:
        """What could not be scaled as the rest."""
        scaling = self.space(slot.measure).scaling
        return "" if scaling is None else "; ".join(scaling.notes)


def chosen_by(measure: Measure, classes: int) -> Chosen:
    """How a measure asks for memberships to be scaled."""
    scaling, depth, floor, ties, seed = (measure.parameters[name] for name in PARAMETERS)
    return checked_choice((scaling, depth, floor, ties, seed), classes)


def checked_choice(chosen: Chosen, classes: int) -> Chosen:
    """How memberships are to be scaled, once that has passed every check."""
    scaling, depth, floor, ties, seed = chosen
    for name, word, known in (("scaling", scaling, (RAW, *VARIANTS)), ("ties", ties, TIES)):
        refuse_unknown(name, word, known)
    most = 10**9
    for name, number, low, high in (
        ("depth", depth, 1, classes - 1),
        ("floor", floor, 1, most),
        ("seed", seed, 0, most),
    ):
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            raise BadOption(f"{name} is {quoted(number)}", mend=f"Say a whole number from {low} to {high}")
    if seed and ties != "random":
        raise BadOption(f"seed is {seed}, and ties are not random", mend="Say ties='random', or leave the seed out")
    return chosen

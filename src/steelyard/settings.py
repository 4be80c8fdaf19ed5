"""What a user may say about how results are computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from .columns import as_number
from .errors import BadOption, quoted
from .measures import choose, find
from .registry import Measure

Method = Literal["delta", "bootstrap", "percentile", "bca"]
METHODS = ("delta", "bootstrap", "percentile", "bca")


@dataclass(frozen=True)
class Settings:
    """How results are computed: which measures, at what level, by which method.

    Attributes:
        measures: What to compute.
        level: Coverage of the intervals.
        method: "delta", or "bootstrap" (BCa), or one of its kinds by name: "bca", "percentile".
        replicates: How many bootstrap samples.
        seed: Where their random numbers start.
        undefined: What stands in for an undefined value: NaN, a number, or "error".
    """

    measures: tuple[Measure, ...]
    level: float = 0.95
    method: Method = "delta"
    replicates: int = 10_000
    seed: int = 0
    undefined: float | Literal["error"] = float("nan")

    def __post_init__(self) -> None:
        """Check the options."""
        if not 0 < as_number(self.level) < 1:
            raise BadOption(f"level is {quoted(self.level)}", mend="It lies between 0 and 1, as in level=0.95")
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise BadOption(f"method is {quoted(self.method)}", mend=f"Say one of {', '.join(METHODS)}")
        if not isinstance(self.replicates, int) or self.replicates < 1:
            raise BadOption(f"replicates is {quoted(self.replicates)}", mend="A bootstrap needs at least one")
        if not isinstance(self.seed, int) or self.seed < 0:
            raise BadOption(f"seed is {quoted(self.seed)}", mend="Give a whole number, 0 or above")
        if not (isinstance(self.undefined, int | float) or self.undefined == "error"):
            raise BadOption(f"undefined is {quoted(self.undefined)}", mend="Say 'error' or give a number")
        if not self.measures:
            raise BadOption("no measure is asked for", mend="Name at least one, or leave measures= out")

    @property
    def stand_in(self) -> float:
        """The number that stands in for an undefined value."""
        return float("nan") if self.undefined == "error" else float(self.undefined)


class Options(TypedDict, total=False):
    """What a user may say, by name."""

    measures: Iterable[str | Measure] | None
    cost: Any
    level: float
    method: Method
    undefined: Any
    replicates: int
    seed: int


def settle(measures: Iterable[str | Measure] | None = None, cost: Any = None, **options: Any) -> Settings:
    """Make settings of what a user says; costs bring their measure along."""
    if cost is None:
        return Settings(choose(measures), **options)
    priced = find("cost", costs=cost)
    if measures is None:
        return Settings((*choose(None), priced), **options)
    named = [measures] if isinstance(measures, str | Measure) else measures
    wanted = [priced if name in ("cost", "expected_cost") else name for name in named]
    return Settings(choose([*wanted, priced]), **options)

"""The engine of this process, from which others derive, and the order in which all of them add states."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ...core.errors import BadOption, quoted
from ...core.threads import in_order

State = TypeVar("State")


def make(frame: Any) -> str | None:
    """Who made a data frame that lies on many machines; None where it is something else."""
    return maker(frame) if type(frame).__name__ == "DataFrame" else None


def maker(thing: Any) -> str | None:
    """Told by the module, so that nothing is loaded to find out."""
    home = type(thing).__module__.partition(".")[0]
    return {"dask": "dask", "dask_expr": "dask", "distributed": "dask", "pyspark": "spark"}.get(home)


def extra(name: str, error: ImportError) -> BadOption:
    """What to say where a package is not there."""
    return BadOption(
        f"{name} is not installed ({quoted(str(error), 100)})", mend=f"pip install 'steelyard[{name.lower()}]'"
    )


@dataclass
class TreeSum(Generic[State]):
    """States added up in pairs, in the order in which they come: sums of many clusters are not copied every time.

    The tree depends on how many states there are and on nothing else. Whole branches of it may be added up elsewhere:
    so many states in a row as a power of two, counted from the first.

    Attributes:
        join: How two are added; an engine may only write down that they shall be.
        parts: What was added up so far, and how high each branch is.
    """

    join: Callable[[Any, Any], Any] = operator.add
    parts: list[tuple[int, State]] = field(default_factory=list)

    def add(self, state: State) -> None:
        """Add one; two of the same height become one of the next."""
        height = 0
        while self.parts and self.parts[-1][0] == height:
            state, height = self.join(self.parts.pop()[1], state), height + 1
        self.parts.append((height, state))

    def total(self) -> State | None:
        """What was added so far."""
        found: State | None = None
        for _, state in reversed(self.parts):
            found = state if found is None else self.join(state, found)
        return found


class Engine:
    """Works on shards here; of each, some batches are in memory at a time. Engines of clusters derive from this one."""

    def fold(self, work: Callable[[Any], Any], shards: Any, done: Callable[[Any], None] = lambda _: None) -> Any:
        """Add up what becomes of every shard, in a fixed order; None where there is no shard.

        Args:
            work: Shard in, state out; it can be pickled, and a state can be added to another of its kind.
            shards: The shards, in order; or a frame whose partitions are the shards.
            done: Called with every shard whose state is there, where that is known.

        Raises:
            SteelyardError: What the work said of the first shard, in their order, that was faulty.
        """
        total: TreeSum[Any] = TreeSum()
        for shard, state in zip(shards, in_order(work, shards), strict=True):
            total.add(state)
            done(shard)
        return total.total()

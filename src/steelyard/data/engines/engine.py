"""What an engine is, who made a frame or a cluster, and what to say where its package is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...core.errors import BadOption, quoted


class Engine(Protocol):
    """Somewhere to work."""

    def fold(self, work: Callable[[Any], Any], shares: Any, done: Callable[[Any], None] = ...) -> Any:
        """Add up what becomes of every share, in a fixed order; None where there is no share.

        Args:
            work: Share in, state out; it can be pickled, and a state can be added to another of its kind.
            shares: The shares, in order; or a frame whose partitions are the shares.
            done: Told of every share whose state is there, where that is known.

        Raises:
            SteelyardError: What the work said of the first share, in their order, that was faulty.
        """


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

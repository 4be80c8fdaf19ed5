"""Where the work on rows is done: in this process, on a Dask cluster, on Spark.

An engine knows shards, work and states, and nothing of rows or measures. It applies the work to every shard and adds
the states with ``+``, in the order of ``TreeSum``, which is the same for all of them: the result does not depend on
who was faster. Work is a function of the shard alone, so that a shard whose worker was lost can be given to another:
its state replaces the one that was lost, and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.errors import BadOption, quoted
from ...core.suggestions import did_you_mean
from .engine import Engine, make, maker

__all__ = ["Engine", "frame_of", "make", "started"]

ENGINES = ("local", "dask", "spark")
NAMES = "'local', 'dask', 'spark', the address of a Dask scheduler, a distributed.Client or a SparkSession"


@contextmanager
def started(engine: Any = None, source: Any = None) -> Iterator[Engine]:
    """The engine that a user names, or the one that a source brings along; what was started for it is ended."""
    home = make(source)
    kind = home or "local" if engine is None else _kind(engine)
    if home not in (None, kind):
        raise BadOption(f"the rows lie in {home}, and the engine is {quoted(engine)}", mend="Leave engine= out")
    if kind == "dask":
        from . import dask

        with dask.started(engine) as found:
            yield found
    elif kind == "spark":
        from . import spark

        yield spark.started(engine, source)
    else:
        yield Engine()


def _kind(engine: Any) -> str:
    """What an engine is: by its name, by an address, or by who made it."""
    named = isinstance(engine, str) and ("dask" if "://" in engine else engine)
    found = named or maker(engine)
    if found not in ENGINES:
        raise BadOption(f"engine is {quoted(engine)}", mend=did_you_mean(engine, ENGINES, f"Say {NAMES}"))
    return str(found)


def frame_of(source: Any, where: str | None = None) -> Any:
    """A data frame that lies on many machines, as something that has shards; None where it is something else."""
    home, keep = make(source), None
    if home is not None and where is not None:
        from ..where import Filter

        keep = Filter.read(where)
    if home == "dask":
        from .dask import DaskFrame

        return DaskFrame(source, keep)
    if home == "spark":
        from .spark import SparkFrame

        return SparkFrame(source, keep)
    return None

"""Dask: clusters that are started, connected to or found; work as a graph of tasks; data frames by partitions."""

from __future__ import annotations

import asyncio
import logging
import operator
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pkgutil import resolve_name
from time import monotonic
from typing import Any

from ... import __version__
from ...core.columns import pa, read_frame
from ...core.errors import BadOption, LostWorker, SteelyardError, UnreadableFile, quoted
from ...core.threads import alone, in_time
from ..formats import in_words
from ..shards import FrameShard, plain
from ..where import Filter
from .engine import Engine, TreeSum, extra

PATIENCE = 20  # seconds
SLOW_START = 60  # seconds
WORKER = 1 << 31  # bytes: the libraries that a worker loads take most of it, as addresses if not as memory
MORE_MEMORY = "They may have had too little memory: give them more, start fewer, or work here with engine='local'"
PULSE, LONGEST_SILENCE = 5, 60  # seconds
CANCELLED = (asyncio.CancelledError, futures.CancelledError)


@contextmanager
def started(engine: Any = None) -> Iterator[Engine]:
    """A cluster of this machine for as long as it is needed; one that runs; or Dask's own choice."""
    if engine == "dask":
        _check_memory()  # libraries that Dask loads can hang where there is little
    try:
        import_module("dask.dataframe")
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise extra("dask", error) from None
    if engine == "dask":
        with _cluster_here(distributed) as found:
            yield found
    elif isinstance(engine, str):
        with _connected(distributed, engine) as client:
            yield _greeted(client)
    else:
        with suppress(ValueError):  # there is no cluster that this process is connected to
            engine = distributed.Client.current() if engine is None else engine
        yield _greeted(engine)


@contextmanager
def _cluster_here(distributed: Any) -> Iterator[Dask]:
    """A cluster of this machine; one that does not start in time, for want of memory, is given up."""

    def begin() -> tuple[Any, Any]:
        cluster = distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL)
        return cluster, distributed.Client(cluster, set_as_default=False, timeout=PATIENCE)

    try:
        cluster, client = in_time(begin, SLOW_START)
    except (RuntimeError, OSError, TimeoutError, MemoryError) as error:
        raise LostWorker(f"Dask could not start its workers: {quoted(str(error), 120)}", mend=MORE_MEMORY) from None
    try:
        yield Dask(client, lambda: len(cluster.scheduler.workers))
    finally:
        with suppress(Exception):  # what cannot be closed ends with this process
            in_time(lambda: (client.close(PATIENCE), cluster.close(PATIENCE)), 2 * PATIENCE)


def _check_memory() -> None:
    """Where this process may have little memory, so may workers: Dask would start them again and again."""
    try:
        resource: Any = import_module("resource")  # not on every system
    except ImportError:
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY and most < WORKER:
        raise LostWorker(
            f"each worker of Dask needs {in_words(WORKER)} of memory, and {in_words(most)} are allowed (ulimit -v)",
            mend="Allow more, or work here with engine='local'",
        )


def _greeted(client: Any) -> Dask:
    """See that all workers have this release: what they cannot read, Dask would wait for without end."""
    try:
        found = {} if client is None else client.run(resolve_name, "steelyard:__version__")
    except ImportError:
        raise BadOption("a worker of the cluster has no steelyard", mend="Install it on all workers") from None
    for version in {*found.values()} - {__version__}:
        raise BadOption(f"workers have steelyard {version}, and this is {__version__}", mend="Install the same on all")
    return Dask(client)


def _connected(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise BadOption(
            f"there is no Dask scheduler at {quoted(address)}", mend=f"Check the address: {quoted(str(error), 120)}"
        ) from None


# --- work -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dask(Engine):
    """Works on shards as tasks of a graph; a task whose worker was lost is given to another by Dask.

    Attributes:
        client: The cluster; None for Dask's own choice.
        workers: Tells how many workers there are, of a cluster that was started here.
    """

    client: Any = None
    workers: Callable[[], int] | None = None

    def fold(self, work: Callable[[Any], Any], shards: Any, done: Callable[[Any], None] = lambda _: None) -> Any:
        """Add up what becomes of every shard."""
        from dask.delayed import Delayed, delayed

        run, sent = delayed(_worked, traverse=False), delayed(work, traverse=False)
        nodes = [shard if isinstance(shard, Delayed) else delayed(shard, traverse=False) for shard in shards]
        states = [run(sent, node) for node in nodes]
        tree: TreeSum[Any] = TreeSum(delayed(operator.add, traverse=False))
        for state in states:
            tree.add(state)
        total = tree.total()
        if total is None:
            return None
        return _here(states, total) if self.client is None else self._there(states, total, shards, done)

    def _there(self, states: list[Any], total: Any, shards: Sequence[Any], done: Callable[[Any], None]) -> Any:
        """Wait for states in their order, so that of several faults the first is told; only their sum comes here."""
        with warnings.catch_warnings():
            # What was found before is in the graph, once: there, no lost worker takes it along.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            *found, last = self.client.compute([*states, total])
        waiting = deque(found)
        del found
        try:
            for shard in shards:
                future = waiting.popleft()
                error = self._fault(future)
                if future is not last:  # as the state of a single shard is
                    future.release()  # what nobody asks for any more is forgotten by the cluster too
                if error is not None:
                    raise _told(error)
                done(shard)
            if (error := self._fault(last)) is not None:
                raise _told(error)
            return last.result()
        finally:
            for future in (*waiting, last):
                future.release()

    def _fault(self, future: Any) -> BaseException | None:
        """Wait for a task, and return what went wrong with it; where all workers stay away, nobody waits for them."""
        seen = monotonic()
        while True:
            try:
                fault: BaseException | None = future.exception(None if self.workers is None else PULSE)
                return fault
            except CANCELLED as error:  # as by a cluster that ended
                return error
            except TimeoutError:
                if self.workers is None:
                    raise
                if self._alive():
                    seen = monotonic()
                elif monotonic() - seen > LONGEST_SILENCE:
                    raise LostWorker("Dask has lost all its workers", mend=MORE_MEMORY) from None

    def _alive(self) -> bool:
        """Whether there are workers, and whoever gives them work answers."""
        try:
            return bool(self.client.sync(_counted, self.workers, callback_timeout=PULSE))
        except TimeoutError:
            return False


async def _counted(workers: Callable[[], int]) -> int:
    return workers()


def _told(error: BaseException) -> BaseException:
    """Return the error as a user is told it: one of Dask itself says that workers were lost."""
    home = type(error).__module__.partition(".")[0]
    if isinstance(error, CANCELLED) or home == "distributed":
        return LostWorker(f"Dask has lost its workers: {quoted(str(error), 200)}", mend=MORE_MEMORY)
    return error


def _worked(work: Callable[[Any], Any], shard: Any) -> Any:
    """A function of its own, whose name is what a dashboard shows."""
    with alone():
        return work(shard)


def _here(states: Sequence[Any], total: Any) -> Any:
    try:
        return total.compute()
    except SteelyardError:
        for state in states:  # again in their order, since of several faults the first is told
            state.compute()
        raise


# --- data frames ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DaskFrame:
    """A Dask data frame, each partition of which is a shard."""

    frame: Any
    filter: Filter | None = None

    @property
    def names(self) -> list[str]:
        """Its columns."""
        return [str(name) for name in self.frame.columns]

    def schema(self, columns: Sequence[str], engine: Engine) -> Any:
        """What columns hold, as the frame says; where it does not say it, all partitions are asked."""
        said = pa.Schema.from_pandas(self._some(columns)._meta, preserve_index=False)
        if any(pa.types.is_null(plain(column.type)) for column in said):
            said = _joint(engine.fold(_schemas, self.shards(columns)))
        return pa.schema([(name, plain(said.field(name).type)) for name in columns])

    def shards(self, columns: Sequence[str]) -> list[Any]:
        """Its partitions, with no more than these columns."""
        from dask.delayed import delayed

        parts = self._some(columns).to_delayed()
        shard = delayed(_shard, traverse=False)
        return [shard(place, part, delayed(self.filter, traverse=False)) for place, part in enumerate(parts)]

    def _some(self, columns: Sequence[str]) -> Any:
        # Arrow writes names as text, whatever they were.
        return self.frame[[name for name in self.frame.columns if str(name) in columns]]

    def collected(self, columns: Sequence[str]) -> Any:
        """All rows, as one table."""
        return read_frame(self._some(columns).compute())


def _shard(place: int, part: Any, keep: Filter | None) -> FrameShard:
    """A partition as a shard, wherever it is."""
    name = f"partition {place}"
    try:
        return FrameShard(name, (read_frame(part),), keep)
    except SteelyardError as error:
        raise error.within(name, None) from None


def _schemas(shard: FrameShard) -> list[Any]:
    """The types of the columns of a partition, as the only schema of a list: lists can be added."""
    (table,) = shard.tables
    return [pa.schema([(column.name, plain(column.type)) for column in table.schema])]


def _joint(schemas: list[Any]) -> Any:
    """Types that hold what all partitions hold."""
    try:
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise UnreadableFile(
            "partitions hold different kinds of values", mend=f"Bring them into one type: {quoted(str(error), 120)}"
        ) from None

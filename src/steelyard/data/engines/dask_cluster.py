"""Clusters of Dask: started for a call, connected to, or found running."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pkgutil import resolve_name
from typing import Any

from ... import __version__
from ...core.errors import BadOption, LostWorker, quoted
from ...core.threads import in_time
from ..sizes import in_words
from .dask import MORE_MEMORY, Dask
from .engine import Engine, extra

PATIENCE = 20  # seconds
SLOW_START = 60  # seconds
WORKER = 1 << 31  # bytes: the libraries that a worker loads take most of it, as addresses if not as memory


@contextmanager
def started(engine: Any = None) -> Iterator[Engine]:
    """A cluster of this machine for as long as it is needed; one that runs; or Dask's own choice."""
    if engine == "dask":
        _refuse_little_memory()  # libraries that Dask loads can hang where there is little
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
        yield _greeted(_current() if engine is None else engine)


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


def _refuse_little_memory() -> None:
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


def _current() -> Any:
    """The cluster that this process is connected to, if there is one."""
    try:
        return sys.modules["distributed"].Client.current()
    except (KeyError, ValueError):
        return None

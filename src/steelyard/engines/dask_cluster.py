"""Clusters of Dask: started for a call, connected to, or found running."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import resolve_name
from typing import Any

from .. import __version__
from ..errors import BadOption, quoted
from . import Engine, extra
from .dask import Dask

PATIENCE = 20  # seconds


@contextmanager
def started(engine: Any = None) -> Iterator[Engine]:
    """A cluster of this machine for as long as it is needed; one that runs; or Dask's own choice."""
    try:
        import_module("dask.dataframe")
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise extra("dask", error) from None
    if engine == "dask":
        with (
            distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield Dask(client)
    elif isinstance(engine, str):
        with _connected(distributed, engine) as client:
            yield _greeted(client)
    else:
        yield _greeted(_current() if engine is None else engine)


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

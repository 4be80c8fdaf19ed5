"""Dask: the work as a graph of tasks, on a cluster or as Dask itself chooses."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..errors import BadOption, quoted
from . import Engine, extra
from .tree import Sum

PATIENCE = 20  # seconds


@dataclass(frozen=True)
class Dask:
    """Works on shares as tasks of a graph; a task whose worker was lost is given to another by Dask.

    Attributes:
        client: The cluster; None for Dask's own choice.
    """

    client: Any = None

    def fold(
        self, work: Callable[[Any], Any], shares: Sequence[Any], done: Callable[[Any], None] = lambda _: None
    ) -> Any:
        """Add up what becomes of every share."""
        from dask.delayed import Delayed, delayed

        run, add = delayed(work, traverse=False), delayed(operator.add, traverse=False)
        states = [run(share if isinstance(share, Delayed) else delayed(share, traverse=False)) for share in shares]
        tree: Sum[Any] = Sum(add)
        for state in states:
            tree.add(state)
        total = tree.total()
        if total is None or self.client is None:
            return None if total is None else total.compute()
        *found, last = self.client.compute([*states, total])
        waiting = deque(found)
        del found, states  # what nobody asks for any more is forgotten by the cluster too
        try:
            for share in shares:
                error = waiting.popleft().exception()
                if error is not None:
                    raise error
                done(share)
            return last.result()
        finally:
            self.client.cancel([*waiting, last])


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
            distributed.LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield Dask(client)
    elif isinstance(engine, str):
        with _connected(distributed, engine) as client:
            yield Dask(client)
    else:
        yield Dask(_current() if engine is None else engine)


def _connected(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=PATIENCE)
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

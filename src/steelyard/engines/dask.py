"""Dask: the work as a graph of tasks, on a cluster or as Dask itself chooses."""

from __future__ import annotations

import operator
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import SteelyardError
from ..sums.tree import Sum
from ..threads import alone


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

        run, sent = delayed(_worked, traverse=False), delayed(work, traverse=False)
        nodes = [share if isinstance(share, Delayed) else delayed(share, traverse=False) for share in shares]
        states = [run(sent, node) for node in nodes]
        tree: Sum[Any] = Sum(delayed(operator.add, traverse=False))
        for state in states:
            tree.add(state)
        total = tree.total()
        if total is None:
            return None
        return _here(states, total) if self.client is None else self._there(states, total, shares, done)

    def _there(self, states: list[Any], total: Any, shares: Sequence[Any], done: Callable[[Any], None]) -> Any:
        """Wait for states in their order, so that of several faults the first is told; only their sum comes here."""
        with warnings.catch_warnings():
            # What was found before is in the graph, once: there, no lost worker takes it along.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            *found, last = self.client.compute([*states, total])
        waiting = deque(found)
        del found
        try:
            for share in shares:
                future = waiting.popleft()
                error = future.exception()
                if future is not last:  # as the state of a single share is
                    future.release()  # what nobody asks for any more is forgotten by the cluster too
                if error is not None:
                    raise error
                done(share)
            return last.result()
        finally:
            for future in (*waiting, last):
                future.release()


def _worked(work: Callable[[Any], Any], share: Any) -> Any:
    """A function of its own, whose name is what a dashboard shows."""
    with alone():
        return work(share)


def _here(states: Sequence[Any], total: Any) -> Any:
    try:
        return total.compute()
    except SteelyardError:
        for state in states:  # again in their order, since of several faults the first is told
            state.compute()
        raise

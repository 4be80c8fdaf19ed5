"""Dask: the work as a graph of tasks, on a cluster or as Dask itself chooses."""

from __future__ import annotations

import asyncio
import operator
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass
from time import monotonic
from typing import Any

from ...core.errors import LostWorker, SteelyardError, quoted
from ...core.threads import alone
from ...core.tree import Sum

MORE_MEMORY = "They may have had too little memory: give them more, start fewer, or work here with engine='local'"
PULSE, PATIENCE = 5, 60  # seconds
CANCELLED = (asyncio.CancelledError, futures.CancelledError)


@dataclass(frozen=True)
class Dask:
    """Works on shares as tasks of a graph; a task whose worker was lost is given to another by Dask.

    Attributes:
        client: The cluster; None for Dask's own choice.
        workers: Tells how many workers there are, of a cluster that was started here.
    """

    client: Any = None
    workers: Callable[[], int] | None = None

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
                error = self._fault(future)
                if future is not last:  # as the state of a single share is
                    future.release()  # what nobody asks for any more is forgotten by the cluster too
                if error is not None:
                    raise _told(error)
                done(share)
            if (error := self._fault(last)) is not None:
                raise _told(error)
            return last.result()
        finally:
            for future in (*waiting, last):
                future.release()

    def _fault(self, future: Any) -> BaseException | None:
        """Wait for a task, and return what went wrong with it; where all workers stay away, nobody waits for them."""
        if self.workers is None:
            return _exception(future)
        seen = monotonic()
        while True:
            try:
                return _exception(future, PULSE)
            except TimeoutError:
                if self._alive():
                    seen = monotonic()
                elif monotonic() - seen > PATIENCE:
                    raise LostWorker("Dask has lost all its workers", mend=MORE_MEMORY) from None

    def _alive(self) -> bool:
        """Whether there are workers, and whoever gives them work answers."""
        try:
            return bool(self.client.sync(_counted, self.workers, callback_timeout=PULSE))
        except TimeoutError:
            return False


async def _counted(workers: Callable[[], int]) -> int:
    return workers()


def _exception(future: Any, seconds: float | None = None) -> BaseException | None:
    """Return what a task has raised; what was cancelled, as by a cluster that ended, raises that itself."""
    try:
        found: BaseException | None = future.exception(seconds)
    except CANCELLED as error:
        return error
    return found


def _told(error: BaseException) -> BaseException:
    """Return the error as a user is told it: one of Dask itself says that workers were lost."""
    home = type(error).__module__.partition(".")[0]
    if isinstance(error, CANCELLED) or home == "distributed":
        return LostWorker(f"Dask has lost its workers: {quoted(str(error), 200)}", mend=MORE_MEMORY)
    return error


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

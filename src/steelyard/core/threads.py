"""Work for other threads than this one, as many at a time as there are cores.

NumPy lets go of the interpreter lock inside its loops, so plain threads are enough.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import lru_cache
from importlib import import_module
from math import ceil, inf
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread, local
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

_here = local()

GROUPS = Path("/sys/fs/cgroup")  # what Linux grants to a container
PATIENCE = 0.2  # seconds


def cores() -> int:
    """How many threads can work at a time; within one of them, none but itself."""
    return 1 if getattr(_here, "busy", False) else allowed()


@lru_cache(maxsize=1)
def allowed() -> int:
    """How many cores this process may use: on clusters and in containers, often fewer than there are.

    To start a thread for each that there is would make all of them wait.
    """
    held_to = getattr(os, "sched_getaffinity", None)  # not on every system
    count = len(held_to(0)) if held_to else os.cpu_count() or 1
    return max(1, ceil(min(count, quota(GROUPS))))


def quota(groups: Path) -> float:
    """How many cores' worth of time Linux grants to a container, told by the folder of its control groups."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        share, period = (groups / "cpu.max").read_text().split()
        return inf if share == "max" else int(share) / int(period)
    with suppress(OSError, ValueError, ZeroDivisionError):  # as older systems have it
        share, period = ((groups / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return int(share) / int(period) if int(share) > 0 else inf
    return inf


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Call ``work`` on every item, each in a thread of its own but the first, which is this one's; results in order."""
    from concurrent.futures import Future, wait

    def busy(item: Item) -> Result:
        before, _here.busy = getattr(_here, "busy", False), True
        try:
            return work(item)
        finally:
            _here.busy = before

    def begun(item: Item) -> Future[Result]:
        found = Future[Result]()

        def fill() -> None:
            try:
                found.set_result(busy(item))
            except BaseException as error:  # told to whoever waits, who cannot see into this thread
                found.set_exception(error)

        # Not by Thread, which waits until it has begun. Each in a copy of this context: which warnings NumPy was told
        # to keep to itself is part of it.
        try:
            start_new_thread(copy_context().run, (fill,))
        except RuntimeError:  # there are no more to be had
            fill()
        return found

    others = [begun(item) for item in items[1:]]
    try:
        own = [busy(item) for item in items[:1]]
    finally:
        wait(others)
    return own + [each.result() for each in others]


@contextmanager
def meanwhile(work: Callable[[], Result]) -> Iterator[Future[Result]]:
    """Let a thread work on something else; it has finished when the block has."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(copy_context().run, work)


def in_order(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Call ``work`` on items, as many at a time as there are cores; results in the order of the items.

    Few results wait for their turn. Whoever stops asking, or is interrupted, stops the threads too.
    """
    from concurrent.futures import Future, ThreadPoolExecutor, wait

    workers = min(cores(), len(items))
    if workers < 2:
        yield from map(work, items)
        return
    enough, waiting = Event(), deque[Future[Result]]()

    def alone(item: Item) -> Result:
        _here.busy, _here.enough = True, enough
        return work(item)

    def first() -> Result:
        while not wait(list(waiting)[:1], PATIENCE).done:  # whoever sleeps for good can miss an interrupt
            pass
        return waiting.popleft().result()

    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(copy_context().run, alone, item))
                if len(waiting) > workers:
                    yield first()
            while waiting:
                yield first()
        finally:
            enough.set()
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def alone() -> Iterator[None]:
    """Keep to this thread: where a cluster gives out the work, the other cores have theirs."""
    before = getattr(_here, "busy", False), getattr(_here, "alone", False)
    _here.busy = _here.alone = True
    try:
        yield
    finally:
        _here.busy, _here.alone = before


class Abandoned(Exception):
    """Nobody waits for this work any more."""


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Let linear algebra keep to one thread: small matrices are done before a second one has woken up.

    NumPy and SciPy bring a pool of threads each, and on a busy machine these waited for each other thirty times as
    long as they worked. They can be told so where threadpoolctl is installed, as it is with scikit-learn.
    """
    try:
        controller = import_module("threadpoolctl").ThreadpoolController() if wanted else None
    except ImportError:
        controller = None
    if controller is None:
        yield
        return
    with controller.limit(limits=1, user_api="blas"):
        yield


def ahead(items: Iterator[Item], waiting: int = 2, far: bool = False) -> Iterator[Item]:
    """Let a thread fetch what comes next while this one works; so many items wait at most.

    Where all cores have work of their own, only what comes from far is worth a thread. Items come in their order.
    Whoever stops asking stops the thread too, and where nobody waits for what is made of the items there are no more
    of them.
    """
    over: Event | None = getattr(_here, "enough", None)
    if getattr(_here, "alone", False) or (over is not None and not far):
        for each in items:
            if over is not None and over.is_set():
                raise Abandoned
            yield each
        return
    fetched: Queue[tuple[Item | None, BaseException | None]] = Queue(waiting)
    enough, end = Event(), StopIteration()
    thread = Thread(target=_fetch, args=(items, fetched, enough, end), daemon=True)
    thread.start()
    try:
        while True:
            item, error = fetched.get()
            if error is end:
                return
            if error is not None:
                raise error
            if over is not None and over.is_set():
                raise Abandoned
            yield cast(Item, item)
    finally:
        enough.set()
        thread.join()


def _fetch(items: Iterator[Any], fetched: Queue[Any], enough: Event, end: BaseException) -> None:
    """Put items into a queue, and behind the last one the end, or what went wrong."""

    def hand_over(item: Any, error: BaseException | None) -> None:
        while not enough.is_set():
            with suppress(Full):
                fetched.put((item, error), timeout=0.1)
                return

    try:
        for item in items:
            hand_over(item, None)
            if enough.is_set():
                return
        hand_over(None, end)
    except BaseException as error:  # told to whoever waits, who cannot see into this thread
        hand_over(None, error)

"""Threads: no other module of the package starts any; as many work at a time as there are cores.

NumPy lets go of the interpreter lock inside its loops, so plain threads are enough. Three kinds of callers ask for it:

- one pass over memory, in pieces that stay in the cache (``over_rows``, ``shared``, ``dealt_out``, ``Portions``): the
  checks of inputs, sums of rows, sorting, influences;
- whole shares of the rows, or whole fits of a model (``in_order``, ``side_by_side``): the engine of this process,
  cross-validation, tuning;
- what waits for others (``ahead``, ``meanwhile``, ``in_time``): the next rows of a file, a cluster that starts.

The command line alone watches for signals by itself (``cli.interruption``), before any of this is loaded.
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
from itertools import pairwise
from math import ceil, inf
from pathlib import Path
from threading import Event, Thread, local
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

_here = local()

GROUPS = Path("/sys/fs/cgroup")  # what Linux grants to a container
PATIENCE = 0.2  # seconds
CHUNK = 3 << 16  # rows: a few columns of this length fit into the last-level cache; fewer, and threads wait more
FREED = (32 << 20) - (1 << 13)  # bytes: the largest block of which glibc learns, less what it adds to it
LEAST_CHUNK = 1 << 12  # rows: below this, calling costs more than working
LONG_CHUNK = 1 << 16  # rows: of fewer, threads that make many calls would wait for each other's
MOST_PORTIONS = 16  # enough for cores to end at about the same time
MOST_VALUES = 1 << 21  # in a long chunk of many columns: some of these must fit into memory
WAITING = 3  # items that are fetched before they are asked for
SMALL_PRODUCT = 1 << 18  # multiplications in a product of matrices for which no threads are started
WORTH_A_THREAD = 1 << 19  # values: below this, starting threads costs more than it saves


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
        # Not by Thread, which waits until it has begun. Each in a copy of this context: which warnings NumPy was told
        # to keep to itself is part of it.
        try:
            start_new_thread(copy_context().run, (_fill, found, busy, item))
        except RuntimeError:  # there are no more to be had
            _fill(found, busy, item)
        return found

    others = [begun(item) for item in items[1:]]
    try:
        own = [busy(item) for item in items[:1]]
    finally:
        wait(others)
    return own + [each.result() for each in others]


def _fill(future: Future[Result], work: Callable[..., Result], *values: Any) -> None:
    """Put what work comes to into a future: whoever waits for that cannot see into this thread."""
    try:
        future.set_result(work(*values))
    except BaseException as error:
        future.set_exception(error)


@contextmanager
def meanwhile(work: Callable[[], Result]) -> Iterator[Future[Result]]:
    """Let a thread work on something else; it has finished when the block has."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(copy_context().run, work)


def in_time(work: Callable[[], Result], seconds: float) -> Result:
    """Return what work comes to; TimeoutError where it does not end in time, and then nobody waits for it."""
    from concurrent.futures import Future

    found: Future[Result] = Future()
    Thread(target=_fill, args=(found, work), daemon=True).start()
    try:
        return found.result(seconds)
    except TimeoutError:
        raise TimeoutError(f"not within {seconds:.0f} seconds") from None


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


def ahead(items: Iterator[Item], far: bool = False) -> Iterator[Item]:
    """Let a thread fetch what comes next while this one works; few items wait.

    Where all cores have work of their own, only what comes from far is worth a thread. Items come in their order.
    Whoever stops asking stops the thread too, and where nobody waits for what is made of the items there are no more
    of them.
    """
    from concurrent.futures import CancelledError

    over: Event | None = getattr(_here, "enough", None)
    here = getattr(_here, "alone", False) or (over is not None and not far)
    for item in items if here else _fetched(items):
        if over is not None and over.is_set():
            raise CancelledError
        yield item


def _fetched(items: Iterator[Item]) -> Iterator[Item]:
    """Fetch items in a thread, each as soon as there is room for it."""
    from concurrent.futures import ThreadPoolExecutor

    end = cast(Item, object())
    with ThreadPoolExecutor(1) as pool:
        try:
            coming = deque(pool.submit(next, items, end) for _ in range(WAITING))
            while (item := coming.popleft().result()) is not end:
                coming.append(pool.submit(next, items, end))
                yield item
        finally:
            pool.shutdown(cancel_futures=True)


# --- one pass over memory -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Have memory that was freed at hand for what comes next, once for this process.

    glibc gives blocks back to the system that are large to it, and is given new ones page by page: of columns of some
    ten thousand rows, that takes longer than most of what is done with them. But it learns from what it is handed, and
    keeps up to twice the largest block that it has seen freed. One that nobody has written into costs nothing.
    """
    np.empty(FREED, dtype=np.uint8)


def _workers(wanted: int) -> int:
    """As many threads as are wanted and can be had; asking how many can be had takes its time."""
    return wanted if wanted < 2 else min(wanted, cores())


def over_rows(rows: int, work: Callable[[int, int], Result], columns: int = 1) -> list[Result]:
    """Call ``work(start, stop)`` on consecutive stretches that cover all rows; results in row order."""
    wanted = min(rows * columns // WORTH_A_THREAD, rows)
    if wanted < 2 or (workers := _workers(wanted)) < 2:
        return [work(0, rows)]
    edges = [rows * part // workers for part in range(workers + 1)]
    return side_by_side(lambda ends: work(*ends), list(pairwise(edges)))


def shared(items: Sequence[Item], work: Callable[[Sequence[Item]], Result], rows: int) -> list[Result]:
    """Deal items out to all cores, where the rows behind an item are worth it; ``work`` gets a share of them.

    A core that has done its share goes on with what comes later, where somebody has said what that is.
    """
    workers = _workers(min(len(items), rows * len(items) // WORTH_A_THREAD))
    if workers < 2:
        return [work(items)]
    later: Callable[[], bool] = getattr(_here, "later", None) or (lambda: False)

    def deal(place: int) -> Result:
        found = work(items[place::workers])
        while later():
            pass
        return found

    return side_by_side(deal, range(workers))


def dealt_out(items: Sequence[Item], work: Callable[[Item], object], rows: int) -> None:
    """The same one by one, to whichever core is free; one that others would have to wait for is shared by all cores."""
    dealt = len(items) - (len(items) % cores() == 1 and not comes_later())
    left = deque(items[:dealt])

    def take(_: Sequence[Item]) -> None:
        while True:
            try:
                item = left.popleft()
            except IndexError:
                return
            work(item)

    shared(items[:dealt], take, rows)
    for item in items[dealt:]:
        work(item)


@contextmanager
def ahead_of(later: Callable[[], bool] | None) -> Iterator[None]:
    """Say what a core may go on with that would wait for others otherwise.

    It is called again and again, by several cores at a time, as long as there was something left to do; and not at all
    where no core has to wait.
    """
    _here.later = later
    try:
        yield
    finally:
        _here.later = None


def comes_later() -> bool:
    """Whether there may be something that a core can go on with."""
    return getattr(_here, "later", None) is not None


class Portions(Generic[Result]):
    """Stretches of rows, of which whoever has nothing else to do takes the next one.

    They are the same however many cores there are, and so is what their results add up to.
    """

    def __init__(self, rows: int, work: Callable[[int, int], Result], columns: int = 1) -> None:
        """Cut all rows into portions; nothing is done yet."""
        number = max(min(rows * columns // WORTH_A_THREAD, MOST_PORTIONS), 1)
        self._left = deque(pairwise([rows * part // number for part in range(number + 1)]))
        self._work = work
        self._done: dict[tuple[int, int], Result] = {}

    def take(self) -> bool:
        """Work on the next portion; tell whether there was one."""
        try:
            ends = self._left.popleft()
        except IndexError:
            return False
        self._done[ends] = self._work(*ends)
        return True

    def results(self) -> list[Result]:
        """Work on all that are left, side by side; all results, in row order."""
        workers = _workers(len(self._left))
        if workers > 1:
            side_by_side(lambda _: all(iter(self.take, False)), range(workers))
        while self.take():
            pass
        return [result for _, result in sorted(self._done.items())]


def in_pieces(formula: Callable[..., tuple[Any, ...]], *columns: Any) -> tuple[Any, ...]:
    """Evaluate a formula row by row, on pieces that stay in the cache: what it makes on the way is never as long.

    Columns are as long as each other; the formula returns a tuple of columns.
    """
    rows = len(columns[0])
    if rows <= CHUNK:
        return formula(*columns)
    found: list[Any] = []

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop):
            results = formula(*[column[low:high] for column in columns])
            for whole, piece in zip(found, results, strict=True):
                whole[low:high] = piece

    found += [np.empty(rows) for _ in formula(*[column[:1] for column in columns])]
    over_rows(rows, work)
    return tuple(found)


def summed(formula: Callable[..., Any], *columns: Any) -> float:
    """The sum of a formula over all rows, on pieces that stay in the cache."""

    def work(start: int, stop: int) -> float:
        return float(sum(formula(*[column[low:high] for column in columns]).sum() for low, high in chunks(start, stop)))

    return sum(over_rows(len(columns[0]), work))


def gathered(values: Any, order: Any) -> Any:
    """Bring values into another order."""
    found = np.empty(len(order), dtype=values.dtype)

    def work(start: int, stop: int) -> None:
        # Not that a place could lie outside: to raise if one does, NumPy would write to a copy first.
        np.take(values, order[start:stop], out=found[start:stop], mode="clip")

    over_rows(len(order), work)
    return found


def running_sums(values: Any) -> Any:
    """Sums of each value and all before it, in the last axis."""
    if values.ndim > 1 or len(values) < 2 * WORTH_A_THREAD:
        return np.cumsum(values, axis=-1)
    sums = np.empty(len(values))

    def work(start: int, stop: int) -> int:
        np.cumsum(values[start:stop], out=sums[start:stop])
        return stop

    ends = over_rows(len(values), work)
    for start, stop in pairwise(ends):
        sums[start:stop] += sums[start - 1]
    return sums


def long_chunks(start: int, stop: int, columns: int) -> list[tuple[int, int]]:
    """Cut one stretch into pieces of many columns that are gone through by many calls."""
    step = max(CHUNK // columns, LEAST_CHUNK, min(LONG_CHUNK, MOST_VALUES // columns))
    return [(low, min(low + step, stop)) for low in range(start, stop, step)]


def chunks(start: int, stop: int, columns: int = 1, parts: int = 1) -> list[tuple[int, int]]:
    """Cut one stretch into pieces that fit the cache, of so many columns side by side; or so that their parts do."""
    step = max(CHUNK // columns, LEAST_CHUNK) * parts
    return list(pairwise([*range(start, stop, step), stop]))

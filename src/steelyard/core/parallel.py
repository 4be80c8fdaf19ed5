"""One pass over memory, in pieces that stay in the cache, on all cores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from threading import local
from typing import Any, Generic, TypeVar

import numpy as np

from .threads import cores, side_by_side

Item = TypeVar("Item")
Result = TypeVar("Result")

_here = local()

CHUNK = 3 << 16  # rows: a few columns of this length fit into the last-level cache; fewer, and threads wait more
FREED = (32 << 20) - (1 << 13)  # bytes: the largest block of which glibc learns, less what it adds to it
LEAST_CHUNK = 1 << 12  # rows: below this, calling costs more than working
LONG_CHUNK = 1 << 16  # rows: of fewer, threads that make many calls would wait for each other's
MOST_PORTIONS = 16  # enough for cores to end at about the same time
MOST_VALUES = 1 << 21  # in a long chunk of many columns: some of these must fit into memory
SMALL_PRODUCT = 1 << 18  # multiplications in a product of matrices for which no threads are started
WORTH_A_THREAD = 1 << 19  # values: below this, starting threads costs more than it saves


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
    workers = _workers(min(rows * columns // WORTH_A_THREAD, rows))
    if workers < 2:
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
    return _cut(start, stop, max(CHUNK // columns, LEAST_CHUNK, min(LONG_CHUNK, MOST_VALUES // columns)))


def chunks(start: int, stop: int, columns: int = 1, parts: int = 1) -> list[tuple[int, int]]:
    """Cut one stretch into pieces that fit the cache, of so many columns side by side; or so that their parts do."""
    return _cut(start, stop, max(CHUNK // columns, LEAST_CHUNK) * parts)


def _cut(start: int, stop: int, step: int) -> list[tuple[int, int]]:
    return [(low, min(low + step, stop)) for low in range(start, stop, step)]

"""One pass over memory, in pieces that stay in the cache, on all cores.

NumPy lets go of the interpreter lock inside its loops, so plain threads are enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

CHUNK = 1 << 16  # rows: a few columns of this length fit into the second-level cache
WORTH_A_THREAD = 1 << 19  # rows: below this, starting threads costs more than it saves


def over_rows(rows: int, work: Callable[[int, int], Result]) -> list[Result]:
    """Call ``work(start, stop)`` on consecutive stretches that cover all rows; results in row order."""
    if rows < 2 * WORTH_A_THREAD:
        return [work(0, rows)]
    from concurrent.futures import ThreadPoolExecutor

    workers = min(os.cpu_count() or 1, rows // WORTH_A_THREAD)
    edges = [rows * part // workers for part in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, edges[:-1], edges[1:]))


def chunks(start: int, stop: int) -> list[tuple[int, int]]:
    """Cut one stretch into pieces that fit the cache."""
    return [(low, min(low + CHUNK, stop)) for low in range(start, stop, CHUNK)]

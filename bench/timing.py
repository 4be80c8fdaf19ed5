"""Fair timing: everybody takes turns in one process, and the best turn counts."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Call = Callable[[], object]

FEW_TURNS = 3
CLOSE = 10  # times as many rows: near enough to tell from one size to the next


class Unfit(Exception):
    """Somebody cannot take part; the message says why."""


@dataclass(frozen=True)
class Pace:
    """How long to measure.

    Attributes:
        patience: Seconds after which somebody has had enough turns; a few turns may take longer.
        budget: Seconds that one turn may take; whoever is expected to need more is left out.
        most: The most turns that anybody gets.
    """

    patience: float
    budget: float
    most: int = 60


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what happens in between out of the times: garbage collection, and warnings about empty classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
        # What is alive already need not be looked at again between turns.
        gc.freeze()
        gc.disable()
        try:
            yield
        finally:
            gc.enable()
            gc.unfreeze()


def take_turn(call: Call) -> float:
    """Time one call; whatever others left behind is cleared away before it."""
    gc.collect()
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result
    return seconds


def best_times(calls: Mapping[str, Call], pace: Pace) -> dict[str, float]:
    """The best time of each, from turns taken in rounds so that a busy moment of the machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    with quiet():
        for _ in range(pace.most):
            for name in [name for name, spent in times.items() if _wants_a_turn(spent, pace)]:
                times[name].append(take_turn(calls[name]))
    return {name: min(spent) for name, spent in times.items()}


def _wants_a_turn(spent: Sequence[float], pace: Pace) -> bool:
    return sum(spent) < (pace.patience if len(spent) >= FEW_TURNS else FEW_TURNS * pace.patience)


def forecast(seen: Sequence[tuple[int, float]], rows: int) -> float:
    """Expected seconds at a number of rows: on the line through the two largest sizes seen.

    One size alone cannot tell a fixed price from a price a row, and the second size is small yet.
    """
    if len(seen) < 2:
        return 0.0
    (rows_before, before), (rows_last, last) = seen[-2:]
    slope = max(last - before, 0.0) / (rows_last - rows_before)
    return last + slope * (rows - rows_last)


@dataclass
class Growth:
    """What each contestant needed at the sizes so far, to tell beforehand who would take too long."""

    budget: float
    seen: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def note(self, rows: int, times: Mapping[str, float]) -> None:
        """Remember the times at one size; sizes come in increasing order."""
        for name, seconds in times.items():
            self.seen.setdefault(name, []).append((rows, seconds))

    def expected(self, name: str, rows: int) -> float:
        """How many seconds somebody will probably need."""
        return forecast(self.seen.get(name, []), rows)

    def in_doubt(self, name: str, rows: int) -> bool:
        """Whether somebody seems too slow, but only by sizes that are far from this one."""
        return self.expected(name, rows) > self.budget and self.seen[name][-1][0] < rows // CLOSE

    def refuse_slow(self, name: str, rows: int) -> None:
        """Leave somebody out who is expected to need more than the budget."""
        expected = self.expected(name, rows)
        if expected > self.budget:
            raise Unfit(f"skipped: over budget (about {expected:.0f} s)")

"""Spark: shares as rows of a small frame, or partitions of a data frame, each a task of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from ...core.errors import SteelyardError
from ...core.threads import alone
from ...core.tree import Sum
from ..shards import FrameShare
from ..where import Filter
from .spark_frame import SparkFrame

STATES = "place long, state binary"
MOST_TASKS = 1 << 10  # each brings a state to the driver


@dataclass(frozen=True)
class Spark:
    """Works on shares as tasks of Spark, which gives a task whose worker was lost to another."""

    session: Any

    def fold(self, work: Callable[[Any], Any], shares: Any, done: Callable[[Any], None] = lambda _: None) -> Any:
        """Add up what becomes of every share."""
        if isinstance(shares, SparkFrame):
            named = partial(_of_partition, work, shares.filter, list(shares.columns))
            tasks = shares.selected.mapInArrow(named, STATES)
        else:
            blocks = in_blocks(shares)
            count = len(blocks)
            tasks = self.session.range(0, count, 1, max(count, 1)).mapInArrow(partial(_of_blocks, work, blocks), STATES)
        total: Sum[Any] = Sum()
        for row in sorted(tasks.collect(), key=lambda row: row.place):
            state = _serializer().loads(bytes(row.state))
            if isinstance(state, SteelyardError):
                raise state
            total.add(state)
        for share in () if isinstance(shares, SparkFrame) else shares:
            done(share)
        return total.total()


def in_blocks(shares: Sequence[Any]) -> list[Sequence[Any]]:
    """Shares in a row for every task: a power of two of them, so that each adds up a branch of the one tree."""
    size = 1
    while size * MOST_TASKS < len(shares):
        size *= 2
    return [shares[place : place + size] for place in range(0, len(shares), size)]


def _of_blocks(work: Callable[[Any], Any], blocks: Sequence[Sequence[Any]], batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for place in batch.column(0).to_pylist():
            yield _stated(place, work, blocks[place])


def _of_partition(
    work: Callable[[Any], Any], keep: Filter | None, names: list[str], batches: Iterable[Any]
) -> Iterator[Any]:
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    place, named = context.partitionId(), (batch.rename_columns(names) for batch in batches)
    yield _stated(place, work, [FrameShare(f"partition {place}", named, keep)])


def _stated(place: int, work: Callable[[Any], Any], shares: Iterable[Any]) -> Any:
    """The state of some shares for the driver; a fault is one too, since Spark would tell it as text."""
    import pyarrow as pa

    total: Sum[Any] = Sum()
    found: Any
    try:
        with alone():
            for share in shares:
                total.add(work(share))
        found = total.total()
    except SteelyardError as error:
        found = error
    state = pa.array([_serializer().dumps(found)], pa.binary())
    return pa.RecordBatch.from_arrays([pa.array([place], pa.int64()), state], ["place", "state"])


def _serializer() -> Any:
    """What Spark itself sends functions and rows with."""
    return import_module("pyspark.serializers").CloudPickleSerializer()

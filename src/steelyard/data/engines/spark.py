"""Spark: sessions that are given, running or started here; work as tasks; data frames by partitions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from ...core.columns import pa, read_frame
from ...core.errors import BadOption, SteelyardError, quoted
from ...core.threads import alone
from ..shards import FrameShard, plain
from ..where import Filter
from .engine import Engine, TreeSum, extra, make

PYTHON = "PYSPARK_PYTHON"
FAILURES = 4  # how often a task may lose its worker, as on a cluster; on one machine Spark forgives none
STATES = "place long, state binary"
MOST_TASKS = 1 << 10  # each brings a state to the driver


def started(engine: Any = None, source: Any = None) -> Engine:
    """The session that is given or that runs; else one on this machine, for as long as this process runs."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise extra("spark", error) from None
    if make(source) == "spark":
        return Spark(source.sparkSession)
    running = SparkSession.getActiveSession() if isinstance(engine, str) else engine
    if running is not None:
        return Spark(running)
    builder: Any = SparkSession.builder.appName("steelyard")
    if not {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"} & set(os.environ):
        builder = builder.config("spark.master", f"local[*,{FAILURES}]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    try:
        with _same_python():
            return Spark(builder.getOrCreate())
    except (PySparkException, OSError) as error:
        raise BadOption(
            "Spark cannot be started", mend=f"It needs Java: see that it is on the PATH ({quoted(str(error), 200)})"
        ) from None


@contextmanager
def _same_python() -> Iterator[None]:
    """Workers of this machine run this Python, unless somebody named another; Spark asks when it starts."""
    before = os.environ.get(PYTHON)
    os.environ[PYTHON] = before or sys.executable
    try:
        yield
    finally:
        if before is None:
            del os.environ[PYTHON]


# --- work -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spark(Engine):
    """Works on shards as tasks of Spark, which gives a task whose worker was lost to another."""

    session: Any

    def fold(self, work: Callable[[Any], Any], shards: Any, done: Callable[[Any], None] = lambda _: None) -> Any:
        """Add up what becomes of every shard."""
        if isinstance(shards, SparkFrame):
            named = partial(_of_partition, work, shards.filter, list(shards.columns))
            tasks = shards.selected.mapInArrow(named, STATES)
        else:
            blocks = in_blocks(shards)
            count = len(blocks)
            tasks = self.session.range(0, count, 1, max(count, 1)).mapInArrow(partial(_of_blocks, work, blocks), STATES)
        total: TreeSum[Any] = TreeSum()
        for row in sorted(tasks.collect(), key=lambda row: row.place):
            state = _serializer().loads(bytes(row.state))
            if isinstance(state, SteelyardError):
                raise state
            total.add(state)
        for shard in () if isinstance(shards, SparkFrame) else shards:
            done(shard)
        return total.total()


def in_blocks(shards: Sequence[Any]) -> list[Sequence[Any]]:
    """Shards in a row for every task: a power of two of them, so that each adds up a branch of the one tree."""
    size = 1
    while size * MOST_TASKS < len(shards):
        size *= 2
    return [shards[place : place + size] for place in range(0, len(shards), size)]


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
    yield _stated(place, work, [FrameShard(f"partition {place}", named, keep)])


def _stated(place: int, work: Callable[[Any], Any], shards: Iterable[Any]) -> Any:
    """The state of some shards for the driver; a fault is one too, since Spark would tell it as text."""
    total: TreeSum[Any] = TreeSum()
    found: Any
    try:
        with alone():
            for shard in shards:
                total.add(work(shard))
        found = total.total()
    except SteelyardError as error:
        found = error
    state = pa.array([_serializer().dumps(found)], pa.binary())
    return pa.RecordBatch.from_arrays([pa.array([place], pa.int64()), state], ["place", "state"])


def _serializer() -> Any:
    """What Spark itself sends functions and rows with."""
    return import_module("pyspark.serializers").CloudPickleSerializer()


# --- data frames ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SparkFrame:
    """A Spark data frame, each partition of which is a shard."""

    frame: Any
    filter: Filter | None = None
    columns: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Its columns."""
        return list(self.frame.columns)

    @property
    def selected(self) -> Any:
        """The frame with no more than the columns that are needed, under numbers: Spark stumbles over odd names."""
        some = self.frame.select(*["`" + name.replace("`", "``") + "`" for name in self.columns])
        return some.toDF(*map(str, range(len(self.columns))))

    def schema(self, columns: Sequence[str], engine: Engine) -> Any:
        """What columns hold, as the frame says."""
        said = self.shards(columns).selected.limit(0).toArrow().schema
        return pa.schema([(name, plain(kind)) for name, kind in zip(columns, said.types, strict=True)])

    def shards(self, columns: Sequence[str]) -> SparkFrame:
        """Its partitions, with no more than these columns."""
        return SparkFrame(self.frame, self.filter, tuple(columns))

    def collected(self, columns: Sequence[str]) -> Any:
        """All rows, as one table."""
        return read_frame(self.shards(columns).selected.toArrow().rename_columns(list(columns)))

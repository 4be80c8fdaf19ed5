"""What is done with a share of the rows, wherever that is: read it, make a state of each batch, add the states up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from ..core.errors import SteelyardError
from ..core.threads import ahead
from ..core.tree import Sum
from ..data.digests import Source
from ..data.shards import Batch, Share

State = TypeVar("State")
Made_co = TypeVar("Made_co", covariant=True)
Watch = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Part(Generic[State]):
    """What has become of some shares.

    Attributes:
        state: The states of their batches, added up; None where there was no row.
        rows: How many rows they are of.
        faults: What was wrong with shares that were left out, by name.
        sources: Where the rows come from, as far as that was asked for.
    """

    state: State | None = None
    rows: int = 0
    faults: Mapping[str, SteelyardError] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()

    def __add__(self, other: Part[State]) -> Part[State]:
        """What has become of both."""
        both: Any = self.state if other.state is None else other.state
        if self.state is not None and other.state is not None:
            both = self.state + other.state  # type: ignore[operator]
        faults, sources = {**self.faults, **other.faults}, self.sources + other.sources
        return Part(both, self.rows + other.rows, faults, sources)


class Progress:
    """Tells somebody how many rows and bytes were worked on; sent to another machine, it has nobody to tell."""

    def __init__(self, watch: Watch | None = None, size: int = 0) -> None:
        self.watch, self.size = watch, size
        self._rows = self._bytes = 0
        self._lock = Lock()

    def rows(self, count: int) -> None:
        """Some rows of a share were worked on."""
        self._tell(count, 0)

    def share(self, share: Share) -> None:
        """A share is done."""
        self._tell(0, share.size)

    def _tell(self, rows: int, size: int) -> None:
        if self.watch is None:
            return
        with self._lock:
            self._rows, self._bytes = self._rows + rows, self._bytes + size
            self.watch(self._rows, self._bytes, self.size)

    def __reduce__(self) -> tuple[type[Progress], tuple[()]]:
        return Progress, ()


class Gatherer(Protocol[Made_co]):
    """Something that takes in the batches of a share."""

    def add(self, batch: Batch) -> None:
        """Take in a batch."""

    def state(self) -> Made_co | None:
        """What has become of all of them; None where there was no row."""


class Adding(Generic[State]):
    """Makes a state of each batch, and adds the states up."""

    def __init__(self, make: Callable[[Batch], State]) -> None:
        self.make = make
        self.total: Sum[State] = Sum()

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        self.total.add(self.make(batch))

    def state(self) -> State | None:
        """The states added up."""
        return self.total.total()


@dataclass(frozen=True)
class Work(Generic[State]):
    """From a share to its state; everything that is needed for it comes along, and nothing else.

    Attributes:
        start: Makes what takes in the batches of a share.
        columns: The columns that it needs.
        schema: What these hold, and what those of the filter hold.
        skip: Whether a share that cannot be used is left out; else it stops the run.
        progress: Told of the rows, where somebody listens.
        telling: Whether what a share holds tells it from others, by its rows and its state; None where no source is
            asked for.
    """

    start: Callable[[], Gatherer[State]]
    columns: list[str]
    schema: Any
    skip: bool = False
    progress: Progress = field(default_factory=Progress)
    telling: Callable[[int, Any], bool] | None = None

    def __call__(self, share: Share) -> Part[State]:
        """Work on a share to its end; of one with a fault nothing counts."""
        gatherer, rows = self.start(), 0
        try:
            for batch in ahead(share.batches(self.columns, self.schema), far=share.far):
                if batch.table.num_rows:
                    gatherer.add(batch)
                    rows += batch.table.num_rows
                    self.progress.rows(batch.table.num_rows)
        except SteelyardError as error:
            if not self.skip:
                raise
            return Part(faults={share.name: error})
        state = gatherer.state()
        return Part(state, rows, sources=self._sources(share, rows, state))

    def _sources(self, share: Share, rows: int, state: Any) -> tuple[Source, ...]:
        found = None if self.telling is None else share.source(rows, self.columns)
        if found is None or self.telling is None:
            return ()
        return (replace(found, telling=self.telling(rows, state)),)

"""From a batch of rows to their tally: every row passes the same door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ..core.errors import EmptyInput, SteelyardError, UnusableLabels, quoted
from ..core.scale import Label, Scale
from ..data.shards import Batch
from ..inputs.admission import Request
from ..inputs.cases import Cases, Door
from ..maths.ruler import BITS
from .gathering import Gathering, Looks, Seeing
from .tally import Tally

if TYPE_CHECKING:
    from ..families.summed.recipe import Named
    from ..inference.settings import Settings

State = TypeVar("State")
Made_co = TypeVar("Made_co", covariant=True)


@dataclass(frozen=True)
class Count:
    """Makes a batch of rows their tally.

    Attributes:
        request: Which columns hold what.
        door: The options under which rows are let in, with the classes.
        forms: Which classifiers gave labels.
    """

    request: Request
    door: Door
    forms: Mapping[str, bool]

    def __call__(self, batch: Batch) -> Tally:
        """Count a batch; an empty tally where every row was dropped."""
        cases = self.cases(batch)
        return self.nothing(batch) if cases is None else Tally.of(cases, with_scores=False)

    def cases(self, batch: Batch) -> Cases | None:
        """Let a batch in; None where every row was dropped."""
        try:
            cases = self.request.let_in(batch.table, self.door, self.forms)
            self._refuse_ambiguous(() if cases.slice is None else cases.slice.labels)
            return cases
        except EmptyInput:
            return None
        except SteelyardError as error:
            raise batch.locate(error) from None

    def nothing(self, batch: Batch) -> Tally:
        """The tally of a batch of which every row was dropped."""
        empty = Tally.empty(self.door.scale or Scale([]), list(self.request.models))
        return replace(empty, dropped=int(batch.table.num_rows))

    def _refuse_ambiguous(self, slices: Sequence[Label]) -> None:
        """A part called like two could only be told apart from others by all rows at once."""
        names = self.door.by if isinstance(self.door.by, list | tuple) else []
        for label in slices if len(names) > 1 else ():
            if any(str(label).count(f", {name}=") > 1 for name in names):
                raise UnusableLabels(
                    f"{quoted(label, 100)} could be two parts",
                    mend="Rename it, or read the files into a data frame first",
                )


@dataclass(frozen=True)
class Gather:
    """Makes batches of rows one tally that knows more than counts: rows are held while they are few, and then summed.

    Attributes:
        count: Lets batches in.
        settings: Which measures are asked for.
        bits: Of the rulers on which scores are counted where rows are not held.
        most: How many rows of a share are held at most; None for as many as there may be of all.
    """

    count: Count
    settings: Settings
    bits: int = BITS
    most: int | None = None

    def __call__(self) -> LettingIn[Tally]:
        """Start with no rows."""
        gathering = Gathering(self.settings, self.bits, self.most)
        return LettingIn(self.count, gathering, gathering.miss)


@dataclass(frozen=True)
class See:
    """Sees batches of rows again.

    Attributes:
        count: Lets batches in.
        looks: What has to be found, of every part of the data.
    """

    count: Count
    looks: Looks

    def __call__(self) -> LettingIn[Named]:
        """Start with no rows."""
        return LettingIn(self.count, Seeing(self.looks))


class LettingIn(Generic[State]):
    """Lets batches in, and hands their rows on."""

    def __init__(self, count: Count, taker: Taker[State], missed: Callable[[Tally], None] = lambda _: None) -> None:
        self.count, self.taker, self.missed = count, taker, missed

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        cases = self.count.cases(batch)
        if cases is None:
            self.missed(self.count.nothing(batch))
        else:
            self.taker.add(cases)

    def state(self) -> State | None:
        """What has become of all of them."""
        return self.taker.state()


class Taker(Protocol[Made_co]):
    """Something that takes in rows that were let in."""

    def add(self, cases: Cases) -> None:
        """Take in some rows."""

    def state(self) -> Made_co | None:
        """What has become of all of them."""


@dataclass(frozen=True)
class Find:
    """Lets batches in until a fault of a kind turns up, to find the file and row of what is known of all rows.

    Attributes:
        request: Which columns hold what.
        door: The options under which rows are let in.
        kind: The kind of fault.
    """

    request: Request
    door: Door
    kind: type[SteelyardError]

    def __call__(self, batch: Batch) -> int:
        """Raise the fault of a batch; nothing is counted."""
        try:
            self.request.let_in(batch.table, self.door)
        except self.kind as found:
            raise batch.locate(found) from None
        except SteelyardError:
            pass
        return 0

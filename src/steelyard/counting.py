"""From a batch of rows to their tally: every row passes the same door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .admission import Request
from .cases import Cases, Door
from .errors import EmptyInput, SteelyardError, UnusableLabels, quoted
from .scale import Label, Scale
from .shares import Batch
from .tally import Tally


def state_of(cases: Cases, with_scores: bool) -> Tally:
    """What is kept of the rows of a batch: their sums, and the rows with their scores where measures need them."""
    return Tally.of(cases, with_scores)


@dataclass(frozen=True)
class Count:
    """Makes a batch of rows their tally.

    Attributes:
        request: Which columns hold what.
        door: The options under which rows are let in, with the classes.
        forms: Which classifiers gave labels.
        with_scores: Whether measures need scores.
    """

    request: Request
    door: Door
    forms: Mapping[str, bool]
    with_scores: bool = False

    def __call__(self, batch: Batch) -> Tally:
        """Count a batch; an empty tally where every row was dropped."""
        try:
            tally = state_of(self.request.let_in(batch.table, self.door, self.forms), self.with_scores)
            self._refuse_ambiguous(tally.slices)
            return tally
        except EmptyInput:
            nothing = Tally.empty(self.door.scale or Scale([]), list(self.request.models))
            return replace(nothing, dropped=int(batch.table.num_rows))
        except SteelyardError as error:
            raise batch.locate(error) from None

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

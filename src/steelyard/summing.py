"""Files into one tally, a batch at a time: every row passes the same door, and none is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import sources
from .admission import Request
from .cases import Door, Prediction
from .columns import is_single
from .errors import EmptyInput, MissingValues, SteelyardError
from .labels import encode
from .scale import Continuum, Scale
from .streams import Batch, Files
from .tally import Tally
from .weights import refuse_weightless

if TYPE_CHECKING:
    from .rules import Rule
    from .settings import Settings


@dataclass
class Sum:
    """Tallies added up in pairs, in the order in which they come: sums of many clusters are not copied every time."""

    parts: list[tuple[int, Tally]] = field(default_factory=list)

    def add(self, tally: Tally) -> None:
        """Add one; two of the same height become one of the next."""
        height = 0
        while self.parts and self.parts[-1][0] == height:
            tally, height = self.parts.pop()[1] + tally, height + 1
        self.parts.append((height, tally))

    def total(self) -> Tally | None:
        """What was added so far."""
        found: Tally | None = None
        for _, tally in reversed(self.parts):
            found = tally if found is None else tally + found
        return found


@dataclass(frozen=True)
class Plan:
    """How files are summed.

    Attributes:
        request: Which columns hold what.
        files: The files.
        columns: The columns that are needed.
        schema: What these hold, and what the columns of the filter hold.
    """

    request: Request
    files: Files
    columns: list[str]
    schema: Any

    @classmethod
    def of(cls, request: Request, source: Any) -> Plan:
        """Look at the files, but not at their rows."""
        files = sources.opened(source, request.where)
        columns = request.columns_of(files)
        return cls(request, files, columns, files.schema(files.with_filter(columns)))

    @property
    def door(self) -> Door:
        """The door of a batch."""
        return replace(self.request.door, part=True)

    def batches(self, columns: list[str]) -> Iterator[Batch]:
        """All batches that have rows."""
        return (batch for batch in self.files.batches(columns, self.schema) if batch.table.num_rows)

    # --- what must be known before the first row is counted -----------------------------------------------------

    def settled(self) -> tuple[Scale, dict[str, bool]]:
        """The classes, and which classifiers gave labels."""
        known = self._known_forms()
        if self.request.door.scale is not None and known is not None:
            scale, _ = self._survey({}, known)
            return scale, known
        seen = Seen()
        for batch in self.batches(self._surveyed):
            seen.add(batch.table, self._labelled, complete=self.request.door.missing == "drop")
        if not seen.rows:
            raise _nothing(seen.missing)
        try:
            scale, forms = self._survey(seen.values, {})
        except SteelyardError as error:
            raise self._told(error, seen.missing) from None
        return scale, forms

    @property
    def _labelled(self) -> list[str]:
        """Columns whose distinct values say which classes there are."""
        truth = [] if isinstance(self.request.door.scale, Continuum) else [str(self.request.truth)]
        return list(dict.fromkeys([*truth, *self.request.headings.values()]))

    @property
    def _surveyed(self) -> list[str]:
        """Where rows are dropped, a label counts only if nothing else is missing in its row."""
        return self.columns if self.request.door.missing == "drop" else self._labelled

    def _known_forms(self) -> dict[str, bool] | None:
        """Which classifiers gave labels, where types alone tell it."""
        import pyarrow.types as kinds

        scale, forms = self.request.door.scale, dict.fromkeys(self.request.models, False)
        words = scale is not None and isinstance(scale.classes[0], str)
        for name, column in self.request.headings.items():
            kind = self.schema.field(column).type
            numeric = kinds.is_floating(kind) or kinds.is_decimal(kind)
            whole = kinds.is_integer(kind) and self.request.door.threshold is not None
            if (numeric and not words) or whole:
                return None
            forms[name] = not numeric
        return forms

    def _survey(self, values: Mapping[str, Any], known: Mapping[str, bool]) -> tuple[Scale, dict[str, bool]]:
        """Ask the door about distinct values as if they were all rows."""
        empty = self.schema.empty_table()
        columns = {name: values.get(name, empty.column(name)) for name in empty.column_names}
        truth, predictions = self.request.taken(columns.__getitem__, empty)
        for name, labels in known.items():
            if name in self.request.headings:
                predictions[name] = Prediction(name, encode(predictions[name], name) if labels else None)
        names = {"truth": str(self.request.truth)}
        plain = replace(self.door, weight=None, group=None, by=None, names=names, headings=self.request.headings)
        scale, found = plain.survey(truth, predictions)
        return scale, {name: said.labels is not None for name, said in found.items()}

    def _told(self, error: SteelyardError, missing: bool) -> SteelyardError:
        """Find the file and row of which distinct values do not tell."""
        gaps = missing and self.request.door.missing == "error"
        kind = MissingValues if gaps else type(error)
        if not gaps and error.row is None:
            return error
        for batch in self.batches(self.columns):
            try:
                self.request.let_in(batch.table, self.door)
            except kind as found:
                return batch.locate(found)
            except SteelyardError:
                continue
        return error

    # --- counting -----------------------------------------------------------------------------------------------

    def tally(self, scale: Scale, forms: Mapping[str, bool]) -> Tally:
        """Sum up all rows, in the order of files and batches: the result does not depend on timing."""
        total, dropped, rows, done = Sum(), 0, 0, 0
        door, sizes = replace(self.door, scale=scale), {file.shown: file.size for file in self.files.files}
        for batch in self.batches(self.columns):
            found = self._counted(batch, door, forms)
            if isinstance(found, int):
                dropped += found
            else:
                total.add(found)
            rows += batch.table.num_rows
            done += sizes.pop(str(batch.file), 0)
            if self.files.watch is not None:
                self.files.watch(rows, done, self.files.size)
        tally = total.total()
        if tally is None:
            raise _nothing(bool(dropped))
        self._refuse_weightless(tally)
        return replace(tally, dropped=tally.dropped + dropped)

    def _counted(self, batch: Batch, door: Door, forms: Mapping[str, bool]) -> Tally | int:
        """The tally of a batch, or how many rows were dropped where none is left."""
        try:
            return Tally.of(self.request.let_in(batch.table, door, forms), with_scores=False)
        except EmptyInput:
            return int(batch.table.num_rows)
        except SteelyardError as error:
            raise batch.locate(error) from None

    def _refuse_weightless(self, tally: Tally) -> None:
        if self.request.door.weight is not None:
            _, mass, square = tally.sums.values.sum(axis=0)
            refuse_weightless(bool(mass > 0), float(square), self.request.door.weight)


@dataclass
class Seen:
    """The distinct values of columns; of numbers with a fraction one is enough, since no class is called so.

    ``missing`` tells whether any value is, ``rows`` how many rows were looked at.
    """

    values: dict[str, Any] = field(default_factory=dict)
    missing: bool = False
    rows: int = 0

    def add(self, table: Any, names: list[str], complete: bool) -> None:
        """Look at some rows, or at those of them that are complete."""
        import pyarrow as pa
        from pyarrow import compute

        kept = _complete(table) if complete else table
        self.missing |= kept.num_rows < table.num_rows
        self.rows += kept.num_rows
        for name in names:
            column = kept.column(name)
            # Words that stand in no row stand in a dictionary too.
            found = compute.unique(column.combine_chunks() if column.num_chunks != 1 else column.chunk(0))
            found = found.cast(found.type.value_type) if pa.types.is_dictionary(found.type) else found
            self.missing |= bool(compute.any(compute.is_null(found, nan_is_null=True)).as_py())
            before = self.values.get(name)
            both = found if before is None else pa.concat_arrays([before, found])
            self.values[name] = _few(compute.unique(both.drop_null()))


def _nothing(dropped: bool) -> EmptyInput:
    if dropped:
        return EmptyInput("every row misses a value", mend="Nothing is left after missing='drop'")
    return EmptyInput("there is no row to assess", mend="Check the filter or the file")


def _few(values: Any) -> Any:
    """Whole numbers and words as they are, and one of all fractions."""
    import pyarrow as pa

    if not pa.types.is_floating(values.type):
        return values
    plain = values.to_numpy()
    plain = plain[~np.isnan(plain)]
    broken = (plain != np.floor(plain)) | np.isinf(plain)
    return pa.array(np.concatenate([plain[~broken], plain[broken][:1]]), values.type)


def _complete(table: Any) -> Any:
    """The rows in which nothing is missing; NaN is nothing."""
    from functools import reduce

    from pyarrow import compute

    gaps = [compute.is_null(column, nan_is_null=True) for column in table.columns]
    return table.filter(compute.invert(reduce(compute.or_, gaps)))


def can_be_summed(request: Request, source: Any, rule: Rule) -> bool:
    """Whether all that is said of rows stands in files, and nothing needs all rows at once."""
    if not isinstance(source, str | os.PathLike | Files) or request.truth is None:
        return False
    door = request.door
    named = isinstance(door.weight, str | None) and isinstance(door.group, str | None) and request.parts_are_named
    scale, known = door.scale, door.knowledge
    plain = known.response is None and all(
        is_single(one) and not isinstance(one, str) for one in (known.sd, known.sd_response)
    )
    if isinstance(scale, Continuum) and scale.named_after_intervals:
        return False
    return named and plain and rule.goal is None and not rule.any_scale


def summed(request: Request, source: Any, settings: Settings, rule: Rule) -> tuple[Tally, bool] | None:
    """The tally of files, and whether any classifier gave scores; None where measures need the rows themselves."""
    if not can_be_summed(request, source, rule):
        return None
    counts = not settings.everything and not settings.of_rows
    scored = len(request.headings) < len(request.models)
    if not counts and (scored or isinstance(request.door.scale, Continuum)):
        return None
    plan = Plan.of(request, source)
    scale, forms = plan.settled()
    if not counts and not all(forms.values()):
        return None
    return plan.tally(scale, forms), not all(forms.values())

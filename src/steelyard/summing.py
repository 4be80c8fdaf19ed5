"""Files into one tally, a batch at a time: every row passes the same door, and none is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from . import sources
from .admission import Request
from .cases import Door, Prediction
from .columns import is_single
from .errors import EmptyInput, MissingValues, SteelyardError, UnusableLabels, quoted
from .labels import encode
from .scale import Continuum, Label, Scale
from .streams import Batch, Failure, Files, Kinds, schema_from
from .surveying import Seen, Sum, nothing
from .tally import Tally
from .weights import refuse_weightless

if TYPE_CHECKING:
    from .rules import Rule
    from .settings import Settings

Result = TypeVar("Result")


@dataclass(frozen=True)
class Plan:
    """How files are summed.

    Attributes:
        request: Which columns hold what.
        files: The files.
        columns: The columns that are needed.
        schema: What these hold, and what the columns of the filter hold.
        skip: Whether a file that cannot be used is left out; else it stops the run.
        left_out: What was wrong with files that were left out, by file.
    """

    request: Request
    files: Files
    columns: list[str]
    schema: Any
    skip: bool = False
    left_out: Mapping[str, SteelyardError] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Request, source: Any, skip: bool = False) -> Plan:
        """Look at the files, but not at their rows; the first that can be used says what all must have."""
        files = sources.opened(source, request.where)
        columns: list[str] = []
        kinds: Kinds = {}
        left_out: dict[str, SteelyardError] = {}
        for file in files.files:
            try:
                here = request.columns_in(files, file, columns)
                kinds, columns = files.joint_types(kinds, file, files.with_filter(here)), here
            except SteelyardError as error:
                if not skip:
                    raise
                left_out[file.shown] = error
        schema = schema_from(kinds, list(kinds))
        if files.filter is not None and kinds:
            files.filter.on(schema)
        return cls(request, files, columns, schema, skip).without(left_out)

    def without(self, left_out: Mapping[str, SteelyardError]) -> Plan:
        """Leave out files, but not all."""
        kept = tuple(file for file in self.files.files if file.shown not in left_out)
        if not kept:
            raise next(iter(left_out.values()))
        return replace(self, files=replace(self.files, files=kept), left_out={**self.left_out, **left_out})

    @property
    def door(self) -> Door:
        """The door of a batch."""
        return replace(self.request.door, part=True)

    def by_file(self, columns: list[str]) -> Iterator[tuple[str, Iterator[Batch | Failure]]]:
        """The batches of each file; the last may be a failure, which ends the run unless files may be left out."""
        for file, items in groupby(self.files.attempts(columns, self.schema), lambda item: str(item.file)):
            yield file, (item for item in items if isinstance(item, Failure) or item.table.num_rows)

    @property
    def reading(self) -> tuple[tuple[str, str], ...]:
        """How rows are read, so that what was read otherwise is never added."""
        import pyarrow as pa

        door, empty = self.request.door, self.schema.empty_table()
        said: dict[str, Any] = {
            "truth": self.request.truth,
            "missing": door.missing,
            "where": None if self.files.filter is None else self.files.filter.text,
        }
        for name, spec in self.request.models.items():
            alone = name in self.request.headings
            said[f"model {name}"] = spec if alone else sources.membership_columns(empty, spec)
        if door.weight is not None:
            whole = pa.types.is_integer(self.schema.field(door.weight).type)
            said["weight"] = f"{door.weight} ({'counts' if whole else 'numbers'})"
        said |= {"group": door.group, "by": door.by, "threshold": door.threshold}
        return tuple((what, str(value)) for what, value in sorted(said.items()) if value is not None)

    # --- what must be known before the first row is counted -----------------------------------------------------

    def settled(self) -> tuple[Scale, dict[str, bool]]:
        """The classes, and which classifiers gave labels."""
        known = self._known_forms()
        if self.request.door.scale is not None and known is not None:
            scale, _ = self._survey({}, known)
            return scale, known
        seen = self._seen()
        if not seen.rows:
            raise nothing(seen.missing)
        try:
            return self._survey(seen.values, {})
        except SteelyardError as error:
            raise self._told(error, seen.missing) from None

    def _seen(self) -> Seen:
        """The distinct labels of all files that can be read to their end."""
        total, drop = Seen(), self.request.door.missing == "drop"
        faults: dict[str, SteelyardError] = {}
        for file, items in self.by_file(self._surveyed):
            seen = Seen(dict(total.values), total.missing, total.rows)
            try:
                for batch in unfailing(items):
                    seen.add(batch.table, self._labelled, complete=drop)
            except SteelyardError as error:
                self._noted(faults, file, error)
            else:
                total = seen
        if faults:
            raise Unusable(faults)
        return total

    def _noted(self, faults: dict[str, SteelyardError], file: str, error: SteelyardError) -> None:
        """Stop at a fault, or remember it."""
        if not self.skip:
            raise error
        faults[file] = error

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
        for batch in self.files.batches(self.columns, self.schema):
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
        total, rows, done, faults = Sum(), 0, 0, dict(self.left_out)
        door, sizes = replace(self.door, scale=scale), {file.shown: file.size for file in self.files.files}
        for file, items in self.by_file(self.columns):
            part = Sum()
            try:
                for batch in unfailing(items):
                    part.add(self._counted(batch, door, forms))
                    rows += batch.table.num_rows
                    self._watched(rows, done)
            except SteelyardError as error:
                self._noted(faults, file, error)
            else:
                total.extend(part)
            done += sizes[file]
            self._watched(rows, done)
        if len(faults) > len(self.left_out) and self.request.door.scale is None:
            raise Unusable(faults)  # what they called classes may be none
        return self._checked(total.total(), faults, rows)

    def _checked(self, tally: Tally | None, faults: Mapping[str, SteelyardError], rows: int) -> Tally:
        if tally is None and faults:
            raise next(iter(faults.values()))
        if tally is None or tally.dropped == rows:
            raise nothing(rows > 0)
        self._refuse_weightless(tally)
        return replace(tally, reading=self.reading, left_out=tuple(str(error) for error in faults.values()))

    def _watched(self, rows: int, done: int) -> None:
        if self.files.watch is not None:
            self.files.watch(rows, done, self.files.size)

    def _counted(self, batch: Batch, door: Door, forms: Mapping[str, bool]) -> Tally:
        """The tally of a batch; an empty one where every row was dropped."""
        try:
            tally = Tally.of(self.request.let_in(batch.table, door, forms), with_scores=False)
            self._refuse_ambiguous(tally.slices)
            return tally
        except EmptyInput:
            nothing = Tally.empty(door.scale or Scale([]), list(self.request.models))
            return replace(nothing, dropped=int(batch.table.num_rows))
        except SteelyardError as error:
            raise batch.locate(error) from None

    def _refuse_ambiguous(self, slices: Sequence[Label]) -> None:
        """A part called like two could only be told apart from others by all rows at once."""
        names = self.request.door.by if isinstance(self.request.door.by, list | tuple) else []
        for label in slices if len(names) > 1 else ():
            if any(str(label).count(f", {name}=") > 1 for name in names):
                raise UnusableLabels(
                    f"{quoted(label, 100)} could be two parts",
                    mend="Rename it, or read the files into a data frame first",
                )

    def _refuse_weightless(self, tally: Tally) -> None:
        if self.request.door.weight is not None:
            _, mass, square = tally.sums.values.sum(axis=0)
            refuse_weightless(bool(mass > 0), float(square), self.request.door.weight)


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


def summed(
    request: Request, source: Any, settings: Settings, rule: Rule, skip: bool = False
) -> tuple[Tally, bool] | None:
    """The tally of files, and whether any classifier gave scores; None where measures need the rows themselves."""
    if not can_be_summed(request, source, rule):
        return None
    counts = not settings.everything and not settings.of_rows
    scored = len(request.headings) < len(request.models)
    if not counts and (scored or isinstance(request.door.scale, Continuum)):
        return None
    plan = Plan.of(request, source, skip)

    def work(plan: Plan) -> tuple[Tally, bool] | None:
        scale, forms = plan.settled()
        if not counts and not all(forms.values()):
            return None
        return plan.tally(scale, forms), not all(forms.values())

    return persisting(plan, work)


def persisting(plan: Plan, work: Callable[[Plan], Result]) -> Result:
    """Do something with files; where some cannot be used and may be left out, do it again without these.

    From the start: a class that only a faulty file had is then no class, and no row of it was counted.
    """
    while True:
        try:
            return work(plan)
        except Unusable as found:
            plan = plan.without(found.faults)
        except SteelyardError as error:
            if not plan.skip or error.file is None or error.file in plan.left_out:
                raise
            plan = plan.without({error.file: error})


class Unusable(Exception):
    """Files turned out to be of no use, and may be left out."""

    def __init__(self, faults: Mapping[str, SteelyardError]) -> None:
        super().__init__(", ".join(faults))
        self.faults = faults


def unfailing(items: Iterator[Batch | Failure]) -> Iterator[Batch]:
    """Batches, until one could not be read."""
    for item in items:
        if isinstance(item, Failure):
            raise item.error
        yield item

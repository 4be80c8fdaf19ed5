"""How rows that nobody holds are summed: what must be known of all of them first, and then their sums.

Every pass is a fold of the shards of the rows, on the engine that was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import islice
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..core.columns import AS_TEXT, as_numpy, is_listed
from ..core.errors import EmptyInput, MissingValues, SteelyardError, UnusableLabels
from ..core.scale import Continuum, Scale
from ..data import sources
from ..data.digests import together
from ..data.engines import Engine, frame_of
from ..data.formats import rows_in
from ..data.paths import File
from ..data.shards import Batch, with_filter
from ..data.spelling import NumberMarks
from ..data.streams import Files, Kinds, check_marks, schema_from
from ..data.where import Filter
from ..inputs.categorical import occurring
from ..inputs.dataset import Knowledge, refuse_weightless
from ..inputs.labels import encode, order_of
from ..inputs.prediction import Prediction
from ..inputs.remarks import check_scales_alike, joined, on_passed
from ..inputs.request import Request, check_same_columns
from ..inputs.validate import Validator
from ..maths.ruler import bits_for
from . import tally as tallies
from .fold import Adding, Count, Folded, Gatherer, Gathering, Progress, Seeing, Work, find_fault, looks_of, seen
from .provenance import Facts, as_pairs, asked, facts_of, is_telling
from .tally import Tally

if TYPE_CHECKING:
    from ..core.typing import Array, Marks
    from ..inference.settings import Settings


# A file, the columns that are needed, what those hold that lie in the file (the others are keys of its folders), and
# why it is of no use where it is not.
Offer = tuple[File, Sequence[str], Mapping[str, Any], SteelyardError | None]


def _offered(request: Request, keep: Filter | None, marks: NumberMarks | None, file: File) -> tuple[Offer, ...]:
    """What a file has, told by its columns and not its rows; of text, all rows are read to tell what columns hold.

    Offers add up to all of them, in the order of files.
    """
    alone = Files((file,), keep, uses=request.uses, marks=marks)
    try:
        columns = request.columns_in(alone, file)
        return ((file, columns, alone.own_types(file, alone.with_filter(columns)), None),)
    except SteelyardError as error:
        return ((file, (), {}, error),)


def agreed(
    request: Request, files: Files, engine: Engine, skip: bool
) -> tuple[list[str], Kinds, dict[str, SteelyardError]]:
    """Columns and types that go for all files, and what is wrong with others.

    The first file that can be used says what all must have.
    """
    offers: Sequence[Offer] = engine.fold(partial(_offered, request, files.filter, files.marks), files.files)
    columns: list[str] = []
    kinds: Kinds = {}
    left_out: dict[str, SteelyardError] = {}
    for file, here, own, fault in offers:
        try:
            if fault is not None:
                raise fault
            check_same_columns(here, columns, file)
            found = {name: own[name] if name in own else files.key_types[name] for name in files.with_filter(here)}
            kinds, columns = files.joint_types(kinds, file, found), list(here)
        except SteelyardError as error:
            if not skip:
                raise
            left_out[file.shown] = error
    return columns, files.settled(kinds), left_out


@dataclass(frozen=True)
class Seen:
    """The distinct values of columns; of numbers with a fraction one is enough, since no class is called so.

    Attributes:
        values: The values, by column.
        missing: Whether any value is missing.
        rows: How many rows were looked at.
        orders: The order that ordered categoricals bring along, by column; nothing where they disagree.
    """

    values: Mapping[str, Any]
    missing: bool = False
    rows: int = 0
    orders: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Any, names: Sequence[str], complete: bool) -> Seen:
        """Look at some rows, or at those of them that are complete."""
        from pyarrow import compute

        kept = _complete(table) if complete else table
        found = {name: _distinct(kept.column(name), name) for name in names}
        gaps = [bool(compute.any(compute.is_null(values, nan_is_null=True)).as_py()) for values in found.values()]
        values = {name: _few(values.drop_null()) for name, values in found.items()}
        orders = {name: order_of(table.column(name)) for name in names}
        return cls(values, kept.num_rows < table.num_rows or any(gaps), kept.num_rows, orders)

    def __add__(self, other: Seen) -> Seen:
        """What both have seen."""
        import pyarrow as pa
        from pyarrow import compute

        values = {
            name: _few(compute.unique(pa.concat_arrays([found, other.values[name]])))
            for name, found in self.values.items()
        }
        orders = {name: order if other.orders[name] == order else () for name, order in self.orders.items()}
        return Seen(values, self.missing or other.missing, self.rows + other.rows, orders)

    @property
    def columns(self) -> dict[str, Any]:
        """The values as columns, which have the order of those that they come from."""
        return {name: _ordered(values, self.orders.get(name, ())) for name, values in self.values.items()}


def labels_in(names: Sequence[str], complete: bool, batch: Batch) -> Seen:
    """The distinct values of some columns of a batch, or of those of its rows that are complete."""
    try:
        return Seen.of(batch.table, names, complete)
    except UnusableLabels as error:
        raise batch.locate(error) from None


def _distinct(column: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        return _unique(column)
    except pa.ArrowNotImplementedError:  # lists and structures, of which no two are told to be the same
        raise UnusableLabels(f"a column of {column.type} cannot hold class labels", column=name, mend=AS_TEXT) from None


def _unique(column: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_floating(column.type) and not column.null_count:
        plain = as_numpy(column)
        first = plain[has_fraction(plain)][:1]
        if len(first):  # one is enough, and a gap, if there is any
            return pa.array(np.concatenate([first, plain[np.isnan(plain)][:1]]), column.type, from_pandas=False)
    if not pa.types.is_dictionary(column.type):
        return compute.unique(column)
    if column.null_count:
        return compute.unique(column).cast(column.type.value_type)
    # Words that stand in no row stand in a dictionary too.
    used = occurring(as_numpy(column.indices), len(column.dictionary))
    return column.dictionary.take(pa.array(np.flatnonzero(used)))


def _ordered(values: Any, order: Sequence[Any]) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    if not order:
        return values
    words = pa.array(order, values.type)
    return pa.DictionaryArray.from_arrays(compute.index_in(values, words), words, ordered=True)


def nothing(dropped: bool) -> EmptyInput:
    """What to say where no row is left."""
    if dropped:
        return EmptyInput("every row misses a value", mend="Nothing is left after missing='drop'")
    return EmptyInput("there is no row to assess", mend="Check the filter or the file")


def _few(values: Any) -> Any:
    """Whole numbers and words as they are, and one of all fractions."""
    import pyarrow as pa

    if not pa.types.is_floating(values.type):
        return values
    plain = as_numpy(values)
    plain = plain[~np.isnan(plain)]
    broken = has_fraction(plain)
    return pa.array(np.concatenate([plain[~broken], plain[broken][:1]]), values.type)


def has_fraction(numbers: Array) -> Marks:
    """Which numbers no class can be called by."""
    return np.asarray(((numbers != np.floor(numbers)) & ~np.isnan(numbers)) | np.isinf(numbers))


def _complete(table: Any) -> Any:
    """The rows in which nothing is missing; NaN is nothing."""
    from pyarrow import compute

    gaps = [compute.is_null(column, nan_is_null=True) for column in table.columns]
    return table.filter(compute.invert(reduce(compute.or_, gaps)))


State = TypeVar("State")

WORTH_A_GLIMPSE = 1 << 20  # bytes of files: labels of fewer are soon seen
GLIMPSE = 1 << 14  # rows: whatever they do not tell turns up soon, or is so rare that many more would not tell it
FEW_HELD = 1 << 16  # rows of a shard: fewer are not worth summing up by themselves, even where all are very many
MOST_LOOKS = 32  # more than any measure asks for: files that change meanwhile are not read forever


@dataclass(frozen=True)
class Plan:
    """How rows are summed.

    Attributes:
        request: Which columns hold what.
        files: The files; or a data frame that lies on many machines.
        columns: The columns that are needed.
        schema: What these hold, and what the columns of the filter hold.
        engine: Where the work is done.
        skip: Whether a file that cannot be used is left out; else it stops the run.
        left_out: What was wrong with files that were left out, by file.
        settings: Which measures are asked for, where some need more than counts.
        saved: Whether the tally will be added to others: then how fine it is must not depend on how many rows it has.
    """

    request: Request
    files: Any
    columns: list[str]
    schema: Any
    engine: Engine = field(default_factory=Engine)
    skip: bool = False
    left_out: Mapping[str, SteelyardError] = field(default_factory=dict)
    settings: Settings | None = None
    saved: bool = False

    @classmethod
    def of(
        cls,
        request: Request,
        source: Any,
        skip: bool = False,
        engine: Engine | None = None,
        settings: Settings | None = None,
    ) -> Plan:
        """Look at the files, but not at their rows; the first that can be used says what all must have."""
        engine = Engine() if engine is None else engine
        frame = frame_of(source, request.where)
        if frame is not None:
            check_marks(request.marks, text=False)
            columns = request.columns_among(frame.names)
            schema = frame.schema(with_filter(columns, frame.filter), engine)
            if frame.filter is not None:
                frame.filter.on(schema)
            return cls(request, frame, columns, schema, engine, settings=settings)
        files = replace(sources.opened(source, request.where, request.marks), uses=request.uses)
        if not skip:
            files.check_all_read()
        columns, kinds, left_out = agreed(request, files, engine, skip)
        left_out |= {str(fault.file): fault for fault in files.unread}
        schema = schema_from(kinds, list(kinds))
        if files.filter is not None and kinds:
            files.filter.on(schema)
        return cls(request, files, columns, schema, engine, skip, settings=settings).without(left_out)

    def without(self, left_out: Mapping[str, SteelyardError]) -> Plan:
        """Leave out files, but not all."""
        if not left_out:
            return self
        kept = tuple(file for file in self.files.files if file.shown not in left_out)
        if not kept:
            raise next(iter(left_out.values()))
        return replace(self, files=replace(self.files, files=kept), left_out={**self.left_out, **left_out})

    @property
    def validator(self) -> Validator:
        """The checks of a batch."""
        return replace(self.request.validator, part=True)

    def fold(
        self, make: Callable[[Batch], State], columns: list[str], progress: Progress | None = None
    ) -> Folded[State]:
        """Add up what becomes of every batch."""
        return self.gather(partial(Adding, make), columns, progress)

    def gather(
        self,
        start: Callable[[], Gatherer[State]],
        columns: list[str],
        progress: Progress | None = None,
        telling: Callable[[int, Any], bool] | None = None,
    ) -> Folded[State]:
        """Add up what becomes of every shard, and perhaps where its rows come from."""
        told = Progress() if progress is None else progress
        work = Work(start, columns, self.schema, self.skip, told, telling)
        whole = isinstance(self.files, Files)  # one that may be left out is not cut, so that all of it counts or none
        shards = (
            self.files.shards(not self.skip) if whole else self.files.shards(with_filter(columns, self.files.filter))
        )
        found: Folded[State] | None = self.engine.fold(work, shards, told.shard)
        return Folded() if found is None else found

    def reading(self, scale: Scale) -> Facts:
        """How rows are read, so that what was read otherwise is never added."""
        where = None if self.files.filter is None else self.files.filter.text
        columns = self.request.columns_read(_no_rows(self.schema), scale)
        facts = facts_of(self.request, columns, where, self.request.validator.weight_kind)
        return as_pairs(facts | asked(self.settings))

    # --- what must be known before the first row is counted -----------------------------------------------------

    def glimpsed(self) -> tuple[Scale, dict[str, bool]] | None:
        """The same by the first rows of every shard of many: a label that is not among them will be found unknown."""
        if not isinstance(self.files, Files) or self.skip or self.files.size < WORTH_A_GLIMPSE:
            return None
        with suppress(SteelyardError):
            return self.settled(glimpse=True)
        return None

    def settled(self, glimpse: bool = False) -> tuple[Scale, dict[str, bool]]:
        """The classes, and which classifiers gave labels."""
        known = self._known_forms()
        told = self.request.validator.scale is not None and known.keys() == self.request.models.keys()
        if told and not self._holds_bytes():
            scale, _ = self._survey({}, known)
            return scale, known
        scores = {name: labels for name, labels in known.items() if not labels}
        seen = self._seen([column for name, column in self.request.headings.items() if name not in scores], glimpse)
        if not seen.rows:
            raise self._of_one_file(nothing(seen.missing))
        try:
            return self._survey(seen.columns, scores)
        except SteelyardError as error:
            raise self._told(error, seen.missing) from None

    def _seen(self, labels: Sequence[str], glimpse: bool) -> Seen:
        """The distinct true labels, and those of some columns, of all files that can be read to their end.

        Where rows are dropped, a label counts only if nothing else is missing in its row.
        """
        truth = [] if isinstance(self.request.validator.scale, Continuum) else [str(self.request.truth)]
        names, drop = tuple(dict.fromkeys([*truth, *labels])), self.request.validator.missing == "drop"
        if not names and not drop:
            return Seen({}, rows=1)  # there is nothing to be seen
        columns = self.columns if drop else list(names)
        if glimpse:
            shards = self.files.shards(True)
            first = [batch for shard in shards for batch in islice(shard.batches(columns, self.schema, GLIMPSE), 1)]
            # A filter may have passed over all of them.
            return reduce(add, [Seen.of(batch.table, names, drop) for batch in first]) if first else Seen({})
        found = self.fold(partial(labels_in, names, drop), columns)
        if found.faults:
            raise Unusable(found.faults)
        return Seen({}) if found.state is None else found.state

    def _known_forms(self) -> dict[str, bool]:
        """Which classifiers gave labels, of those where types tell it, or the first rows."""
        import pyarrow.types as kinds

        scale = self.request.validator.scale
        forms = {
            name: False
            for name in self.request.models
            if name not in self.request.headings or name in self.request.validator.scores
        }
        words = scale is not None and isinstance(scale.classes[0], str)
        for name, column in self.request.headings.items():
            if name in forms:
                continue
            kind = self.schema.field(column).type
            if is_listed(self.schema.field(column)):
                forms[name] = False
                continue
            numeric = kinds.is_floating(kind) or kinds.is_decimal(kind)
            whole = kinds.is_integer(kind) and self.request.validator.takes_numbers(name)
            if words or not (numeric or whole):
                forms[name] = not (numeric or whole)
            elif kinds.is_floating(kind) and self._starts_with_fractions(column):
                forms[name] = False
        return forms

    def _starts_with_fractions(self, column: str) -> bool:
        """Whether the first rows of files hold what no class can be called by; then all of it are scores."""
        if not isinstance(self.files, Files) or self.skip:
            return False
        for shard in self.files.shards(True)[:1]:
            for batch in islice(shard.batches([column], self.schema, GLIMPSE), 1):
                return bool(has_fraction(as_numpy(batch.table.column(column))).any())
        return False

    def _survey(self, values: Mapping[str, Any], known: Mapping[str, bool]) -> tuple[Scale, dict[str, bool]]:
        """Check distinct values as if they were all rows."""
        empty = _no_rows(self.schema)
        columns = {name: values.get(name, empty.column(name)) for name in empty.column_names}
        truth, predictions = self.request.taken(columns.__getitem__, empty)
        for name, labels in known.items():
            if name in self.request.headings:
                predictions[name] = Prediction(name, encode(predictions[name], name) if labels else None)
        names = {"truth": str(self.request.truth)}
        # What is said row by row says nothing of classes.
        unsaid = replace(self.validator, weight=None, group=None, by=None, knowledge=Knowledge())
        plain = replace(unsaid, names=names, headings=self.request.headings)
        scale, found = plain.survey(truth, predictions)
        return scale, {name: said.labels is not None for name, said in found.items()}

    def _told(self, error: SteelyardError, missing: bool) -> SteelyardError:
        """Find the file and row of which distinct values do not tell."""
        gaps = missing and self.request.validator.missing == "error"
        kind = MissingValues if gaps else type(error)
        if not gaps and error.row is None:
            return self._of_one_file(error)
        try:
            replace(self, skip=False).fold(partial(find_fault, self.request, self.validator, kind), self.columns)
        except kind as found:
            return found
        return error

    def _holds_bytes(self) -> bool:
        """Whether labels are bytes, as text that is not in UTF-8 is: only its rows say where that is."""
        import pyarrow.types as kinds

        labels = [str(self.request.truth), *self.request.headings.values()]
        return any(kinds.is_binary(self.schema.field(name).type) for name in labels)

    def _of_one_file(self, error: SteelyardError) -> SteelyardError:
        """Name the file where there is no other."""
        files = self.files.files if isinstance(self.files, Files) else ()
        return error.within(files[0].shown, error.row) if len(files) == 1 else error

    # --- counting -----------------------------------------------------------------------------------------------

    def tally(self, scale: Scale, forms: Mapping[str, bool]) -> Tally:
        """Sum up all rows, in the order of shards and batches: the result does not depend on timing."""
        count, settings = Count(self.request, replace(self.validator, scale=scale), forms), self.settings
        if settings is None:
            return self._counted(partial(Adding, count))
        rows = rows_in(self.files.files) if isinstance(self.files, Files) else None
        most = min(FEW_HELD, tallies.MOST_ROWS) if self._certain(rows or 0) else None
        tally = self._counted(partial(Gathering, count, settings, bits_for(None if self.saved else rows), most))
        for _ in range(MOST_LOOKS):
            looks = looks_of(tally)
            if not looks:
                break
            tally = seen(tally, self.gather(partial(Seeing, count, looks), self.columns, self._progress).state)
        return tally

    def _certain(self, rows: int) -> bool:
        """Whether so many rows will not be held in the end: none of them can turn out not to count."""
        every = self.request.validator.missing == "error" and self.request.validator.weight is None and not self.skip
        return every and self.files.filter is None and rows > tallies.MOST_ROWS

    def _counted(self, start: Callable[[], Gatherer[Tally]]) -> Tally:
        found = self.gather(start, self.columns, self._progress, _is_telling)
        if found.faults and self.request.validator.scale is None:
            raise Unusable(found.faults)  # what they called classes may be none
        return self._checked(found, {**self.left_out, **found.faults})

    @property
    def _progress(self) -> Progress:
        return Progress(self.files.watch, self.files.size) if isinstance(self.files, Files) else Progress()

    def _checked(self, found: Folded[Tally], faults: Mapping[str, SteelyardError]) -> Tally:
        tally = found.state
        if tally is None and faults:
            raise next(iter(faults.values()))
        if tally is None or tally.dropped == found.rows:
            raise self._of_one_file(nothing(found.rows > 0))
        self._check_weights(tally)
        check_scales_alike(tally.remarks, self.request.validator.threshold)
        passed = on_passed(self.files.passed) if isinstance(self.files, Files) else {}
        return replace(
            tally,
            reading=self.reading(tally.scale),
            sources=together(found.sources),
            left_out=tuple(str(error) for error in faults.values()),
            remarks=joined(tally.remarks, passed),
        )

    def _check_weights(self, tally: Tally) -> None:
        if self.request.validator.weight is not None and not self.request.validator.part:
            _, mass, square = tally.sums.values.sum(axis=0)
            refuse_weightless(bool(mass > 0), float(square), self.request.validator.weight)


def _is_telling(rows: int, state: Tally | None) -> bool:
    """Whether another file of the same bytes as one shard must be a copy of it."""
    return state is not None and is_telling(rows, state.scored, state.sums.values[:, 0])


def _no_rows(schema: Any) -> Any:
    """A table without rows. Not ``schema.empty_table()``, for which Arrow loads pandas wherever it is installed."""
    import pyarrow as pa

    return pa.Table.from_batches([], schema)


class Unusable(Exception):
    """Files turned out to be of no use, and may be left out."""

    def __init__(self, faults: Mapping[str, SteelyardError]) -> None:
        super().__init__(", ".join(faults))
        self.faults = faults

"""What commands on data have in common: their options, and how these make them read files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..core.errors import BadOption, SteelyardError, UnknownModel
from ..data.terminal import complain, counting, working
from .parsing import (
    columns,
    costs,
    label_reader,
    measure_names,
    number_or_column,
    numbers,
    scores_in,
    whole_or_text,
    words,
    words_told,
)
from .parsing import thresholds as read_thresholds

if TYPE_CHECKING:
    from ..core.scale import Label, Scale
    from ..data.spelling import NumberMarks
    from ..data.streams import Files, Loaded
    from ..inputs.request import Request
    from ..results.assessment import Assessment
    from .parsing import ReadLabel
    from .requirements import Requirement

HELD, NOT_HELD = 0, 1
REPLICATES = 10_000
File = Annotated[str, Parameter(help="CSV, Parquet or Arrow file, a pattern like 'part-*.parquet', or a folder.")]
Truth = Annotated[str, Parameter(help="Column of the true class.")]
Forecasts = Annotated[str | None, Parameter(help="Columns of probabilities: 'p_*'; one column: that of the event.")]
Quiet = Annotated[bool, Parameter(help="Print no tables, bars and held requirements: only what was asked for.")]
ShowRows = Annotated[bool, Parameter(help="Let the page of --html show single rows; it holds none otherwise.")]
ShownMeasure = Annotated[str | None, Parameter(help="The measure whose differences are shown.")]
EngineName = Annotated[
    str | None, Parameter(help="Where the work is done: local, dask, spark, or a Dask scheduler like tcp://host:8786.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class OutputOptions:
    """Where results go."""

    json: Annotated[str | None, Parameter(help="Write JSON to this file; to standard output without one.")] = None
    csv: Annotated[str | None, Parameter(help="Write CSV to this file; to standard output without one.")] = None
    csv_safe: Annotated[
        bool, Parameter(help="Put ' before text in CSV that a spreadsheet would take for a formula, as =1+1.")
    ] = False
    force: Annotated[
        bool, Parameter(help="Replace files that hold something else than results, too; never inputs.")
    ] = False
    quiet: Quiet = False

    def __post_init__(self) -> None:
        """Refuse what would be mixed up."""
        if self.targets.count("-") > 1:
            raise BadOption("two kinds of results on standard output", mend="Name a file for one: --json result.json")

    @property
    def targets(self) -> tuple[str | None, ...]:
        """Where results are written."""
        return self.json, self.csv

    @property
    def prints_tables(self) -> bool:
        """Whether standard output is free for people, who want to see tables."""
        return not self.quiet and "-" not in self.targets


@Parameter(name="*")
@dataclass(frozen=True)
class ResultOptions(OutputOptions):
    """How results are made and written."""

    level: Annotated[float, Parameter(help="Coverage of the intervals.")] = 0.95


@Parameter(name="*")
@dataclass(frozen=True)
class EvaluationOptions(ResultOptions):
    """What classifiers are weighed by."""

    html: Annotated[
        str | None,
        Parameter(help="Write all of it to this file as one page to look at and send; - for standard output."),
    ] = None
    open: Annotated[bool, Parameter(help="Show the page in a browser; without --html, from a temporary file.")] = False
    show_rows: ShowRows = False
    least: Annotated[
        int, Parameter(help="Parts of the data with fewer rows are not reported: a note stands in for them.")
    ] = 0
    cost: Annotated[
        Path | None, Parameter(help="CSV of costs: first column true class, one column an assigned class.")
    ] = None
    measures: Annotated[str | None, Parameter(help="Which measures, with commas; all if not given.")] = None
    markdown: Annotated[
        str | None, Parameter(help="Write Markdown for a pull request to this file; to standard output without one.")
    ] = None
    method: Annotated[
        Literal["delta", "plain", "bootstrap", "percentile", "bca"], Parameter(help="How intervals are made.")
    ] = "delta"
    replicates: Annotated[int, Parameter(help="How many samples a bootstrap draws.")] = REPLICATES
    require: Annotated[
        tuple[str, ...],
        Parameter(
            help="A condition, as 'sensitivity[yes].low >= 0.8', or of several models '(new - old).error.high < 0.02'; "
            "of parts of the data 'error < 0.3 in every part'; sets the exit status.",
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Refuse a number of samples where none is drawn: the bootstrap was forgotten."""
        super().__post_init__()
        if self.replicates != REPLICATES and self.method in ("delta", "plain"):
            mend = "Say --method bootstrap, or leave --replicates out"
            raise BadOption(f"--replicates is given, but --method {self.method} draws no samples", mend=mend)

    @property
    def targets(self) -> tuple[str | None, ...]:
        """Where results are written."""
        return *super().targets, self.markdown, self.html

    def conditions(self, models: Sequence[str], divided: bool = False) -> list[Requirement]:
        """What results must meet, for classifiers of these names, on data that may be divided into parts."""
        from .requirements import read_requirement

        return [read_requirement(text, models, divided) for text in self.require]

    def wanted(self, label: Callable[[str], Label]) -> dict[str, Any]:
        """Which measures are wanted, and how intervals are made, for the library."""
        return {
            "measures": None if self.measures is None else measure_names(self.measures),
            "cost": None if self.cost is None else costs(self.cost, label),
            "level": self.level,
            "method": self.method,
            "replicates": self.replicates,
        }


@Parameter(name="*")
@dataclass(frozen=True)
class RowOptions:
    """Which rows count, and how they are read."""

    scale: Annotated[str | None, Parameter(help="The classes in order, with commas: low,mid,high.")] = None
    event: Annotated[str | None, Parameter(help="The class of interest.")] = None
    weight: Annotated[str | None, Parameter(help="Column of weights.")] = None
    weight_kind: Annotated[
        Literal["sampling", "frequency"],
        Parameter(help="What weights say: how much a row stands for, or how often it occurred."),
    ] = "sampling"
    group: Annotated[str | None, Parameter(help="Column of clusters: patients, batches.")] = None
    missing: Annotated[Literal["error", "drop"], Parameter(help="What to do with rows that miss a value.")] = "error"
    where: Annotated[str | None, Parameter(help="Which rows count: 'year == 2024 and score >= 0.5'.")] = None
    decimal: Annotated[
        str | None, Parameter(help="CSV: mark before decimals, . or , (found out from the first lines).")
    ] = None
    thousands: Annotated[str | None, Parameter(help="CSV: mark between thousands, such as . or , (none).")] = None
    cut: Annotated[
        str | None, Parameter(help="Where classes are cut from a truth that was measured, with commas: 0,0.6.")
    ] = None
    closed: Annotated[
        Literal["left", "right"], Parameter(help="Which class a value on a cut belongs to: left, the one above it.")
    ] = "left"
    sd: Annotated[str | None, Parameter(help="Standard deviation of the measurement error: number or column.")] = None
    sd_response: Annotated[
        str | None, Parameter(help="That of the response around what covariates tell: number or column.")
    ] = None
    response: Annotated[
        str | None, Parameter(help="Columns of a response model's expectation and its sd, out of fold: f,f_sd.")
    ] = None

    @property
    def marks(self) -> NumberMarks | None:
        """What marks numbers in text files have."""
        from ..data.spelling import NumberMarks

        return NumberMarks.of(self.decimal, self.thousands)

    @property
    def knowledge(self) -> dict[str, Any]:
        """What is said of measured values: numbers, and names of columns."""
        return {
            "sd": number_or_column(self.sd),
            "sd_response": number_or_column(self.sd_response),
            "response": columns(self.response),
        }


@Parameter(name="*")
@dataclass(frozen=True)
class DataOptions(RowOptions, ResultOptions):
    """What all commands on data understand."""


@Parameter(name="*")
@dataclass(frozen=True)
class AssessOptions(DataOptions, EvaluationOptions):
    """What commands understand that weigh classifiers by all measures."""

    threshold: Annotated[
        str | None,
        Parameter(
            help="Score from which on a row is assigned to the event (0.5); or how to choose it: best:f1, "
            "cost:costs.csv, 'max specificity where sensitivity >= 0.8'; of several models, model=0.5,other=0."
        ),
    ] = None
    by: Annotated[str | None, Parameter(help="Column(s), with commas: results for each part too.")] = None
    bad_files: Annotated[
        Literal["stop", "skip"], Parameter(help="What to do with a file that cannot be used, where rows are counted.")
    ] = "stop"


@Parameter(name="*")
@dataclass(frozen=True)
class CrossValidationOptions(AssessOptions):
    """The same where classifiers are fitted; what does not go with that is refused there, and so no help lists it."""

    weight: Annotated[str | None, Parameter(show=False)] = None
    weight_kind: Annotated[Literal["sampling", "frequency"], Parameter(show=False)] = "sampling"
    threshold: Annotated[str | None, Parameter(show=False)] = None
    by: Annotated[str | None, Parameter(show=False)] = None
    least: Annotated[int, Parameter(show=False)] = 0
    bad_files: Annotated[Literal["stop", "skip"], Parameter(show=False)] = "stop"


def columns_of(table: Any, truth: str, reading: DataOptions) -> dict[str, Any]:
    """Turn words into labels of the kind that the column of truth holds."""
    labels = labels_in(table, truth, reading)
    return {
        "scale": scale_in(labels, reading),
        "event": event_in(labels, reading),
        **reading.knowledge,
        "weight": reading.weight,
        "weight_kind": reading.weight_kind,
        "group": reading.group,
        "level": reading.level,
        "missing": reading.missing,
    }


def scale_in(labels: ReadLabel, reading: RowOptions) -> Scale | None:
    """The classes, where they were named or cut."""
    from ..core.scale import Continuum, Scale

    named = None if reading.scale is None else [labels(word) for word in words(reading.scale)]
    if reading.cut is not None:
        return Continuum(numbers(reading.cut), named, closed=reading.closed)
    if reading.closed != "left":
        raise BadOption("--closed is of cuts, and none is given", mend="Say where classes are cut: --cut 0.5")
    return None if named is None else Scale(named)


def event_in(labels: ReadLabel, reading: RowOptions) -> Label | None:
    """The class of interest; where classes are text, a whole number finds 1 and 1.0 among them."""
    found = None if reading.event is None else labels(reading.event)
    return whole_or_text(found) if isinstance(found, str) else found


def labels_in(table: Any, truth: str, reading: RowOptions) -> ReadLabel:
    """How labels are to be read; the truth does not say it where it was measured."""
    return whole_or_text if reading.cut is not None else label_reader(table, truth)


def keywords_of(table: Any, truth: str, options: AssessOptions, names: Iterable[str] = ()) -> dict[str, Any]:
    """The same with all that is said of measures and thresholds; these may be those of classifiers of some names."""
    threshold, priced = read_thresholds(options.threshold, names)
    if options.cost is not None and priced not in (None, options.cost):
        mend = "Name one file, --cost costs.csv, and say --threshold cost"
        raise BadOption("--cost and --threshold name two files of costs", mend=mend)
    said = columns_of(table, truth, options)
    wanted = replace(options, cost=options.cost or priced).wanted(labels_in(table, truth, options))
    return {
        **said,
        **wanted,
        "threshold": threshold,
        "by": parts_in(options.by),
        "decimal": options.decimal,
        "thousands": options.thousands,
        "least": options.least,
    }


def parts_in(by: str | None) -> str | list[str] | None:
    """The column that parts the data, or several."""
    named = None if by is None else words(by)
    return named[0] if named is not None and len(named) == 1 else named


def load_file(file: str, options: DataOptions, truth: str | None, request: Request | None = None) -> Loaded:
    """Read a file, with a sign of life: all columns, or those that are needed; its labels as they are spelled."""
    from ..data.sources import opened
    from ..data.spelling import Uses

    with working(f"reading {file}", options.quiet):
        parts = () if options.group is None else (options.group,)
        uses = Uses(truth=None if options.cut is not None else truth, parts=parts)
        files = replace(opened(file, options.where, options.marks), uses=uses)
        return files.load(None if request is None else request.columns_of(files))


def notes_on(loaded: Loaded) -> list[str]:
    """Return what a reader must know of files that were passed over."""
    from ..inputs.remarks import on_passed
    from ..inputs.remarks import words as words_of

    return words_of(on_passed(loaded.passed))


def with_passed(result: Assessment, loaded: Loaded) -> Assessment:
    """Return a result that knows which files were passed over."""
    from ..inputs.remarks import joined, on_passed

    remarks = joined(result.tally.remarks, on_passed(loaded.passed))
    return replace(result, tally=replace(result.tally, remarks=remarks))


@contextmanager
def located(loaded: Loaded) -> Iterator[Any]:
    """The table of files; whatever is wrong with it is told of the file and the row there."""
    try:
        with words_told(loaded.table):
            yield loaded.table
    except SteelyardError as error:
        # Of an option that cannot be, no file is to blame.
        raise (error if isinstance(error, BadOption | UnknownModel) else loaded.locate(error)) from None


def assess_scores(
    file: str, truth: str, membership: str, reading: DataOptions, measures: Sequence[str], raw: bool = False
) -> tuple[Loaded, Assessment]:
    """Read the columns that scores are judged by, and evaluate probabilities, or raw scores on any scale.

    Other columns may differ from file to file.
    """
    from ..inputs.dataset import Knowledge
    from ..inputs.request import Request
    from ..inputs.validate import Validator
    from ..results import api

    door = Validator(weight=reading.weight, group=reading.group, knowledge=Knowledge(**reading.knowledge))
    loaded = load_file(file, reading, truth, Request(truth, {membership: columns(membership)}, door))
    for note in notes_on(loaded):
        complain("note", note)
    with located(loaded) as table:
        said = columns_of(table, truth, reading)
        if raw:
            said["score"] = columns(membership)
        else:
            said["membership"] = scores_in(table, membership, said["event"], reading.cut is not None)
        return loaded, with_passed(api.assess(table, truth=truth, measures=measures, **said), loaded)


@contextmanager
def opened_file(file: str | list[str], taken: RowOptions, output: OutputOptions) -> Iterator[Files]:
    """Files that have not been read, with a bar while they are."""
    from ..data.formats import in_words
    from ..data.streams import Files

    named = file if isinstance(file, str) else file[0] if len(file) == 1 else f"{len(file)} names"
    with counting(f"reading {named}", output.quiet) as shown:

        def watch(rows: int, done: int, total: int) -> None:
            counted = f"{rows:,} rows, " if rows else ""  # of rows that are counted elsewhere nobody tells
            shown(done, total, f"{counted}{in_words(done)} of {in_words(total)}")

        files = replace(Files.of(file, taken.where, taken.marks), watch=watch)
        with words_told(files):
            yield files

"""What commands on data have in common: their options, and how results are judged and written."""

from __future__ import annotations

import re
import shlex
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from .. import __version__
from ..core.errors import BadOption, SteelyardError, UnknownModel, quoted
from ..data.own_kinds import CSV, JSON, MARKDOWN
from ..data.terminal import command_line, complain, console, counting, error_console, put_out, working, write_to
from .scores import scores_in, words_told
from .words import columns, costs, label_reader, measure_names, number_or_column, numbers, whole_or_text, words
from .words import thresholds as read_thresholds

if TYPE_CHECKING:
    from ..core.scale import Label, Scale
    from ..core.table import Table
    from ..data.spelling import NumberMarks
    from ..data.streams import Files, Loaded
    from ..display.digest import Digest
    from ..inputs.admission import Request
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison
    from .requirements import Verdict
    from .words import ReadLabel

HELD, NOT_HELD = 0, 1
REPLICATES = 10_000
EngineName = Annotated[
    str | None,
    Parameter(help="Where the work is done: local, dask, spark, or a Dask scheduler like tcp://host:8786."),
]


@Parameter(name="*")
@dataclass(frozen=True)
class Given:
    """Where results go."""

    json: Annotated[str | None, Parameter(help="Write JSON to this file; to standard output without one.")] = None
    csv: Annotated[str | None, Parameter(help="Write CSV to this file; to standard output without one.")] = None
    csv_safe: Annotated[
        bool,
        Parameter(help="Put ' before text in CSV that a spreadsheet would take for a formula, as =1+1.", negative=""),
    ] = False
    force: Annotated[
        bool, Parameter(help="Replace files that hold something else than results, too; never inputs.", negative="")
    ] = False
    quiet: Annotated[
        bool, Parameter(help="Print no tables, bars and held requirements: only what was asked for.", negative="")
    ] = False

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
class Written(Given):
    """How results are made and written."""

    level: Annotated[float, Parameter(help="Coverage of the intervals.")] = 0.95


@Parameter(name="*")
@dataclass(frozen=True)
class Judged(Written):
    """What classifiers are weighed by."""

    html: Annotated[
        str | None,
        Parameter(help="Write all of it to this file as one page to look at and send; - for standard output."),
    ] = None
    open: Annotated[
        bool, Parameter(help="Show the page in a browser; without --html, from a temporary file.", negative="")
    ] = False
    show_rows: Annotated[
        bool, Parameter(help="Let the page of --html show single rows; it holds none otherwise.", negative="")
    ] = False
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
            negative="",
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


@Parameter(name="*")
@dataclass(frozen=True)
class Taken:
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
class Reading(Taken, Written):
    """What all commands on data understand."""


@Parameter(name="*")
@dataclass(frozen=True)
class Options(Reading, Judged):
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
class Crossed(Options):
    """The same where classifiers are fitted; what does not go with that is refused there, and so no help lists it."""

    weight: Annotated[str | None, Parameter(show=False)] = None
    weight_kind: Annotated[Literal["sampling", "frequency"], Parameter(show=False)] = "sampling"
    threshold: Annotated[str | None, Parameter(show=False)] = None
    by: Annotated[str | None, Parameter(show=False)] = None
    least: Annotated[int, Parameter(show=False)] = 0
    bad_files: Annotated[Literal["stop", "skip"], Parameter(show=False)] = "stop"


def columns_of(table: Any, truth: str, reading: Reading) -> dict[str, Any]:
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


def scale_in(labels: ReadLabel, reading: Taken) -> Scale | None:
    """The classes, where they were named or cut."""
    from ..core.scale import Continuum, Scale

    named = None if reading.scale is None else [labels(word) for word in words(reading.scale)]
    if reading.cut is not None:
        return Continuum(numbers(reading.cut), named, closed=reading.closed)
    if reading.closed != "left":
        raise BadOption("--closed is of cuts, and none is given", mend="Say where classes are cut: --cut 0.5")
    return None if named is None else Scale(named)


def event_in(labels: ReadLabel, reading: Taken) -> Label | None:
    """The class of interest; where classes are text, a whole number finds 1 and 1.0 among them."""
    found = None if reading.event is None else labels(reading.event)
    return whole_or_text(found) if isinstance(found, str) else found


def labels_in(table: Any, truth: str, reading: Taken) -> ReadLabel:
    """How labels are to be read; the truth does not say it where it was measured."""
    return whole_or_text if reading.cut is not None else label_reader(table, truth)


def keywords_of(table: Any, truth: str, options: Options, names: Iterable[str] = ()) -> dict[str, Any]:
    """The same with all that is said of measures and thresholds; these may be those of classifiers of some names."""
    threshold, priced = read_thresholds(options.threshold, names)
    if options.cost is not None and priced not in (None, options.cost):
        mend = "Name one file, --cost costs.csv, and say --threshold cost"
        raise BadOption("--cost and --threshold name two files of costs", mend=mend)
    cost = options.cost or priced
    return columns_of(table, truth, options) | {
        "threshold": threshold,
        "by": parts_in(options.by),
        "cost": None if cost is None else costs(cost, labels_in(table, truth, options)),
        "measures": None if options.measures is None else measure_names(options.measures),
        "method": options.method,
        "replicates": options.replicates,
        "decimal": options.decimal,
        "thousands": options.thousands,
        "least": options.least,
    }


def parts_in(by: str | None) -> str | list[str] | None:
    """The column that parts the data, or several."""
    named = None if by is None else words(by)
    return named[0] if named is not None and len(named) == 1 else named


def load_file(file: str, options: Reading, truth: str | None, request: Request | None = None) -> Loaded:
    """Read a file, with a sign of life: all columns, or those that are needed; its labels as they are spelled."""
    from dataclasses import replace

    from ..data.sources import opened
    from ..data.spelling import Uses

    with working(f"reading {file}", options.quiet):
        parts = () if options.group is None else (options.group,)
        uses = Uses(truth=None if options.cut is not None else truth, parts=parts)
        files = replace(opened(file, options.where, options.marks), uses=uses)
        return files.load(None if request is None else request.columns_of(files))


def load_scores(file: str, truth: str, membership: str, reading: Reading) -> Loaded:
    """Read what scores are judged by; other columns may differ from file to file."""
    from ..inputs.admission import Request
    from ..inputs.cases import Door
    from ..inputs.measured import Knowledge

    door = Door(weight=reading.weight, group=reading.group, knowledge=Knowledge(**reading.knowledge))
    loaded = load_file(file, reading, truth, Request(truth, {membership: columns(membership)}, door))
    for note in notes_on(loaded):
        complain("note", note)
    return loaded


def notes_on(loaded: Loaded) -> list[str]:
    """Return what a reader must know of files that were passed over."""
    from ..inputs.remarks import on_passed
    from ..inputs.remarks import words as words_of

    return words_of(on_passed(loaded.passed))


def with_passed(result: Assessment, loaded: Loaded) -> Assessment:
    """Return a result that knows which files were passed over."""
    from dataclasses import replace

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
    loaded: Loaded, truth: str, membership: str, reading: Reading, measures: Sequence[str], raw: bool = False
) -> Assessment:
    """Weigh a classifier that gave probabilities, or raw scores on any scale, by rows that were read."""
    from ..results import api

    with located(loaded) as table:
        said = columns_of(table, truth, reading)
        if raw:
            said["score"] = columns(membership)
        else:
            said["membership"] = scores_in(table, membership, said["event"], reading.cut is not None)
        return with_passed(api.assess(table, truth=truth, measures=measures, **said), loaded)


@contextmanager
def opened_file(file: str | list[str], taken: Taken, output: Given) -> Iterator[Files]:
    """Files that have not been read, with a bar while they are."""
    from dataclasses import replace

    from ..data.sizes import in_words
    from ..data.streams import Files

    named = file if isinstance(file, str) else file[0] if len(file) == 1 else f"{len(file)} names"
    with counting(f"reading {named}", output.quiet) as shown:

        def watch(rows: int, done: int, total: int) -> None:
            counted = f"{rows:,} rows, " if rows else ""  # of rows that are counted elsewhere nobody tells
            shown(done, total, f"{counted}{in_words(done)} of {in_words(total)}")

        files = replace(Files.of(file, taken.where, taken.marks), watch=watch)
        with words_told(files):
            yield files


def head_of(result: Assessment) -> dict[str, Any]:
    """What was assessed, for JSON."""
    scale = result.tally.scale
    return {
        "steelyard": __version__,
        "rows": result.n,
        "dropped": result.dropped,
        "left_out": list(result.tally.left_out),
        "classes": list(scale.classes),
        "event": scale.event,
        "level": result.settings.level,
    }


def write(options: Given, table: Table, content: Callable[[], Any], labelled: bool = True) -> None:
    """Write what was asked for, where it was asked for; text may be ``labelled`` by names that come from data."""
    from ..core.table import dump

    if options.json is not None:
        write_to(options.json, dump(content()) + "\n", JSON)
    if options.csv is not None:
        if labelled and not options.csv_safe:
            note_formulas(table)
        write_to(options.csv, table.to_csv(safe=options.csv_safe), CSV)


def note_formulas(table: Table) -> None:
    """Say that a spreadsheet would compute a cell instead of showing it."""
    from ..core.table import formulas_in

    found = next(formulas_in(table), None)
    if found is not None:
        complain("note", f"a spreadsheet takes {quoted(found)} in the CSV for a formula. --csv-safe prevents that")


def without_folders(command: str | None) -> str | None:
    """A command with the names of its files, but not of the folders in which they lie."""
    if command is None:
        return None
    return shlex.join(["".join(map(_base_name, re.split("([=,])", word))) for word in shlex.split(command)])


def _base_name(word: str) -> str:
    """What stands behind the last folder, where there is one: names of columns and conditions have a "/", too."""
    path = word.rpartition("cost:")[2]
    first, _, rest = path.partition("/")
    if not rest or not (first in ("", ".", "..", "~") or path.startswith("file:") or Path(first).is_dir()):
        return word
    return word[: len(word) - len(path)] + path.rstrip("/").rpartition("/")[2]


def write_page(options: Judged, result: Assessment | Comparison) -> None:
    """Write the page, if one is asked for; it tells the command that makes it again."""
    if options.html is None and not options.open:
        return
    named = options.html not in (None, "-")
    target = Path(str(options.html)) if named else Path(mkdtemp(prefix="steelyard-")) / "page.html"
    with working("drawing the page"):
        result.report(target, command=without_folders(command_line()), rows=options.show_rows)
    if options.html == "-":
        put_out(target.read_text(encoding="utf-8"))
    if options.open:
        webbrowser.open(target.resolve().as_uri())
    elif not named:
        rmtree(target.parent)


def write_markdown(options: Judged, digest: Callable[[], Digest], verdicts: Sequence[Verdict]) -> None:
    """Write the result in short, where it was asked for."""
    from .markdown import document

    if options.markdown is not None:
        write_to(options.markdown, document(digest(), verdicts), MARKDOWN)


def tell_left_out(options: Given, notes: Sequence[str]) -> None:
    """Say which files were left out, where no table has a note of it."""
    for note in () if options.prints_tables else notes:
        complain("note", note)


def tell_verdicts(options: Given, verdicts: Sequence[Verdict]) -> int:
    """Say how the requirements fared; those that did not hold are told even to whom wants quiet."""
    from ..core.errors import harmless

    screen = console() if options.prints_tables else error_console()
    for verdict in verdicts:
        if verdict.held and options.quiet:
            continue
        word, style = ("held", "green") if verdict.held else ("NOT HELD", "bold red")
        line = Text(f"{word}: ", style=style) + Text(f"{harmless(verdict.text)}  (it is {harmless(verdict.found)})")
        screen.print(line)
    return HELD if all(verdict.held for verdict in verdicts) else NOT_HELD

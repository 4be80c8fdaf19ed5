"""What users write on the command line, turned into what the library takes."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

from ..core.columns import POINT, as_number
from ..core.errors import BadCosts, BadOption, SteelyardError, UnknownLabel, quoted
from ..core.scale import Label, label_among, whole_number
from ..data import sources
from ..data.shards import plain
from ..data.spelling import Uses
from ..data.whole_files import refuse_no_page

ReadLabel = Callable[[str], Label]

OPTIONS = (
    *("assigned", "by", "cost", "engine", "event", "group", "guarantee", "level", "measures", "membership", "method"),
    *(
        "decimal",
        "least",
        "missing",
        "replicates",
        "response",
        "scale",
        "score",
        "sd",
        "sd_response",
        "thousands",
        "threshold",
    ),
    *("training", "truth", "weight", "weight_kind", "where"),
)
AS_TYPED = [
    (re.compile(r"^Name it in measures=\[\.\.\.\]"), lambda _: "Name it in --measures, with commas"),
    (
        re.compile(r"The truth comes first: .*"),
        lambda _: "Name the true class in --truth; with --cut, what was measured",
    ),
    (
        re.compile(r"response=fit_response\([^)]*\), or \(mean, sd\)"),
        lambda _: "--response expected,expected_sd: columns of the mean and sd",
    ),
    (
        re.compile(r"Say how many folds \(cv=.*"),
        lambda _: "Say how many, --folds 10; or loo, a share to hold out as 0.25, bootstrap or bootstrap:500",
    ),
    (
        re.compile(r"Continuum\(boundaries, classes=\[(.*?)\]\)"),
        lambda found: f"--scale {_with_commas(found[1], 'low,mid,high')}",
    ),
    (re.compile(r"scale=Continuum\([^)]*\)"), lambda _: "--cut 65"),
    (re.compile(r"Say extend=True to .*, or leave"), lambda _: "Leave"),
    (re.compile(r"scale=Scale\(\[(.*?)\]\)"), lambda found: f"--scale {_with_commas(found[1], 'low,mid,high')}"),
    (re.compile(r"measures=\[(.*?)\]"), lambda found: f"--measures {_with_commas(found[1], 'error,kappa')}"),
    (re.compile(r", or bind them by name: \{class: column\}"), lambda _: ""),
    (re.compile(r"\bstandardise\("), lambda _: "Python's steelyard.standardise("),
    (re.compile(r"cost=\{.*\}"), lambda _: "--cost costs.csv"),
    (re.compile(r"threshold=\{(.*?)\}"), lambda found: f"--threshold {_by_name(found[1])}"),
    (re.compile(r"score=\{name: scores\}"), lambda _: "--score NAME=COLUMN"),
    (re.compile(r"label=(.*) here, or event=\1 in assess or compare"), lambda found: f"event={found[1]}"),
    (
        re.compile(r"Read the table, and give assess the frame: (.*)"),
        lambda found: f"Write its rows to a file, in Python: pyarrow.parquet.write_table({found[1]}, 'rows.parquet')",
    ),
    (re.compile(r"overwrite=True"), lambda _: "--force"),
    (re.compile(r"on_error='(\w+)'"), lambda found: f"--bad-files {found[1]}"),
    (re.compile(r"merge\(tallies, allow_overlap=True\)"), lambda _: "--allow-overlap"),
    (re.compile(r"cv='(\w+)'"), lambda found: f"--folds {found[1]}"),
    (re.compile(r"cv=10, or let the splitter repeat itself"), lambda _: "--folds 10, or a share to hold out as 0.25"),
    (
        re.compile(rf"(?<!['\"\w])({'|'.join(OPTIONS)})=('[^']*'|[\w.:]*)"),
        lambda found: f"--{found[1].replace('_', '-')} {found[2]}".rstrip(),
    ),
]

# What is wrong, where that is told in the words of the library: names that came from data stand in others.
PROBLEMS = {
    "both membership= and assigned= ": "both --membership and --assigned ",
    "decimal= or thousands= is given": "--decimal or --thousands is given",
    "both membership= and score= ": "both --membership and --score ",
    "both score= and assigned= ": "both --score and --assigned ",
    "score= takes": "--score takes",
    "one threshold": "one threshold",
    "threshold=": "--threshold ",
    "threshold= is given": "--threshold is given",
    "by= names": "--by names",
    "weight_kind= is given": "--weight-kind is given",
    "repeats= needs": "--repeats needs",
    "engine= is given": "--engine is given",
    "on_error='skip' is": "--bad-files skip is",
    "n_jobs is": "--jobs is",
    "cv is": "--folds is",
}
COSTS_OF_THRESHOLDS = "Costs are named in what is chosen for, and nowhere else: --choose cost:costs.csv"

NO_SCORES = [  # for commands that take probabilities and nothing else
    (re.compile(r"; or give scores on another scale as score=.*"), ""),
    (re.compile(r"; or pass the assigned class instead, or give scores .*"), ""),
    (re.compile(r", or pass the assigned class instead$"), ""),
]
NO_LABELS = (re.compile(r"; only the labels that a model assigned .*"), "")

# What does not help in some commands, and what to do there instead.
INSTEAD = {
    "calibration": NO_SCORES,
    "cv": [NO_LABELS],  # nothing is assigned yet
    "merge": [  # what is known of measured values is kept with the rows
        (re.compile(r"Give (?=the standard deviation of the |response=)"), "Make the tallies with "),
    ],
    "partition": [  # it has options for what others say with a measure
        *NO_SCORES,
        NO_LABELS,
        (re.compile(r"(?<!['\"\w])(scaling|depth|floor|ties|seed|unseen)='?(\w+)'?"), r"--\1 \2"),
    ],
    "tally": [  # it counts rows by the classes that they are assigned to, whatever else is asked for
        (re.compile(r"Give cost=\{.*\}"), "Leave --measures out: merge takes --cost costs.csv"),
    ],
    "thresholds": [(re.compile(r"Give cost=.*"), COSTS_OF_THRESHOLDS)],
}


def as_typed(mend: str) -> str:
    """What to do, said to those who use the library, as one types it on the command line."""
    if mend.startswith("Did you mean"):  # then a name follows that came from data
        return f"{mend} Among others, a name with a comma stands in double quotes" if "," in mend else mend
    for pattern, written in AS_TYPED:
        mend = pattern.sub(written, mend)
    return mend


def told_as_typed(error: SteelyardError, command: str) -> SteelyardError:
    """An error of the library, as one who typed a command is told it."""
    mend = error.mend
    for useless, instead in INSTEAD.get(command, ()):
        mend = useless.sub(instead, mend)
    begun = next((words for words in PROBLEMS if error.problem.startswith(words)), "")
    problem = PROBLEMS.get(begun, "") + error.problem.removeprefix(begun)
    return error.but(problem=problem, mend=as_typed(mend))


def _by_name(pairs: str) -> str:
    """Numbers by name, {'a': 0.5}, as they are typed: a=0.5."""
    return ",".join("=".join(part.strip(" '\"") for part in pair.rsplit(":", 1)) for pair in pairs.split(","))


def _with_commas(names: str, example: str) -> str:
    return example if names == "..." else ",".join(name.strip(" '") for name in names.split(","))


def words(text: str) -> list[str]:
    """Split at commas, but not at those between double quotes."""
    try:
        return [word.strip() for word in next(csv.reader([text], skipinitialspace=True), [""])]
    except csv.Error:
        mend = "Put a name that holds a line break, a comma or a quote in double quotes: 'a,\"b,c\"'"
        raise BadOption(f"{quoted(text)} is not a list of names", mend=mend) from None


def measure_names(text: str) -> list[str]:
    """Split at commas outside brackets: error,fbeta(beta=0.5)."""
    names, depth = [""], 0
    for sign in text:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            names.append("")
        else:
            names[-1] += sign
    return [name.strip() for name in names]


def label_reader(source: Any, truth: str) -> ReadLabel:
    """How to read a label: as the kind of value that the column of truth holds, in a table or in files."""
    import pyarrow as pa

    @cache  # files are looked into only if there is a label to be read
    def held() -> Any:
        files = isinstance(source, sources.Files)
        return kind_in(replace(source, uses=Uses(truth)) if files else source, truth)

    def read(word: str) -> Label:
        kind = held()
        try:
            if pa.types.is_boolean(kind):
                return {"true": True, "false": False, "1": True, "0": False}[word.lower()]
            if pa.types.is_integer(kind):
                if isinstance(whole_or_text(word), str):
                    raise ValueError(word)
                return int(word)
            if pa.types.is_floating(kind) and float(word).is_integer():  # as pandas writes whole numbers beside gaps
                return int(float(word))
            return word
        except (KeyError, ValueError):
            raise UnknownLabel(
                f"{quoted(word)} cannot be a label there", column=truth, mend=f"The column holds {kind}"
            ) from None

    return read


def label_or_word(classes: Sequence[Label], word: str) -> Label:
    """The class that a word stands for; the word itself where there is none, so that it is refused by its name."""
    found = label_among(classes, word)
    return word if found is None else found


def kind_in(source: Any, name: str) -> Any:
    """The kind of value that a column of a table or of files holds; words apart from rows count as words."""
    return source.type_of(name) if isinstance(source, sources.Files) else plain(sources.column(source, name).type)


def whole_or_text(word: str) -> Label:
    """Read a label of which nothing is known: a whole number where it is plainly spelled as one."""
    number = whole_number(word)
    return number if number is not None and str(number) == word else word


def numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(word) for word in words(text)]
    except ValueError:
        raise BadOption(f"{quoted(text)} are no numbers", mend="Write them with commas: 0,0.6") from None


def number_or_column(text: str | None) -> float | str | None:
    """A number where it is one, and else the name of a column."""
    try:
        return None if text is None else float(text)
    except ValueError:
        if text is not None and (comma := re.fullmatch(r"(-?\d+),(\d+)", text)):
            raise BadOption(f"{quoted(text)} is no number", mend=POINT.format(*comma.groups())) from None
        return text


def costs(path: Path, label: ReadLabel) -> dict[Label, dict[Label, float]]:
    """Read a file of costs: the first column names the true class, each other column an assigned class."""
    table = sources.load_named(path).table
    names = table.column_names
    found: dict[Label, dict[Label, float]] = {}
    for place, row in enumerate(table.to_pylist()):
        true, *values = (row[name] for name in names)
        for name, value in zip(names[1:], values, strict=True):
            if isnan(as_number(value, text=True)):
                raise BadCosts(
                    "there is no cost" if value is None else f"{quoted(value)} is no cost",
                    file=path.name,
                    column=name,
                    row=place,
                    mend="First column the true class, then one column of numbers an assigned class",
                )
        assigned, named = [label(name) for name in names[1:]], label(str(true))
        if named in found:
            mend = "Give every true class one row"
            raise BadCosts(f"{quoted(true)} has two rows", file=path.name, column=names[0], row=place, mend=mend)
        found[named] = dict(zip(assigned, map(float, values), strict=True))
    return found


def thresholds(text: str | None, names: Iterable[str]) -> tuple[Any, Path | None]:
    """Read one threshold for all classifiers, or NAME=THRESHOLD with commas, where these are names of classifiers."""
    parts = [] if text is None else words(text)
    pairs = [part.partition("=") for part in parts]
    if not any(name in [*names] for name, says, _ in pairs if says):
        return threshold(text)
    found: dict[str, float | str | None] = {}
    priced = None
    for part, (name, says, value) in zip(parts, pairs, strict=True):
        if not says or not value or name in found:
            mend = "Write NAME=NUMBER with commas, each name once: a=0.5,b=0"
            raise BadOption(f"--threshold {quoted(part)} cannot be read", mend=mend)
        found[name], file = threshold(value)
        priced = priced or file
    return found, priced


def threshold(text: str | None) -> tuple[float | str | None, Path | None]:
    """Read a threshold: a number, "best:f1", "max A where B >= b", or "cost:FILE", which also names a file of costs."""
    if text is None:
        return None, None
    if text.startswith("cost:"):
        return "cost", Path(text.removeprefix("cost:"))
    try:
        return float(text), None
    except ValueError:
        return text, None


def columns(text: str | None) -> str | list[str] | None:
    """One column or a pattern as it is, several columns as a list."""
    named = [] if text is None else words(text)
    return named if len(named) > 1 else next(iter(named), None)


def models(texts: Iterable[str], option: str = "--model") -> dict[str, Any]:
    """Read NAME=COLUMNS, once a model; one column may give the model its name."""
    found: dict[str, Any] = {}
    for text in texts:
        name, says, named = text.partition("=")
        alone = not says and "*" not in name and "," not in name
        if not name or not (named or alone) or name in found:
            mend = "Write NAME=COLUMNS, or one COLUMN alone, each name once"
            raise BadOption(f"{option} {quoted(text)} cannot be read", mend=mend)
        found[name] = name if alone else columns(named)
    return found


NAMED = ("--html", "--scaled", "--regions")  # they write to standard output only where that is said
TARGETS = {"--json": ".json", "--csv": ".csv", "--markdown": ".md"}
# A file of that name would be written beside what is printed, and into it where that goes into a file.
STANDARD_OUTPUT = [f"{option}=/dev/stdout" for option in (*TARGETS, *NAMED)]


def with_targets(tokens: Sequence[str]) -> list[str]:
    """Let --json, --csv and --markdown stand alone, meaning standard output: a file to write has its own ending.

    Numbers that begin below 0 are no option, and belong to the one before them.
    """
    found: list[str] = []
    waiting = list(tokens)
    while waiting:
        word = waiting.pop(0)
        if word in TARGETS:
            named = bool(waiting) and (waiting[0] == "-" or waiting[0].lower().endswith(TARGETS[word]))
            word = f"{word}={waiting.pop(0) if named else '-'}"
        elif word in NAMED and waiting[:1] == ["-"]:
            word = f"{word}={waiting.pop(0)}"
        elif word in STANDARD_OUTPUT:
            word = word.replace("/dev/stdout", "-")
        elif word == "--html" and waiting and not waiting[0].startswith("-"):
            refuse_no_page(waiting[0])  # now, rather than when all is done
        elif word.startswith("--") and "=" not in word and waiting and _begin_below_zero(waiting[0]):
            word = f"{word}={waiting.pop(0)}"
        found.append(word)
    return found


def _begin_below_zero(text: str) -> bool:
    """Whether words are nothing but numbers, of which the first is negative: -0.5,0.5."""
    try:
        return text.startswith("-") and bool(numbers(text))
    except BadOption:
        return False

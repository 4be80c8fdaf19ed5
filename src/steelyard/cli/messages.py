"""What is wrong, for one who typed a command: errors of the library in its options, and words that no command takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from cyclopts import CycloptsError, MissingArgumentError, RepeatArgumentError, UnknownOptionError, UnusedCliTokensError

from ..core.errors import SteelyardError, quoted
from ..core.scale import listed
from ..data.formats import names_of
from ..data.paths import UNREAD, discover
from .parsing import TARGETS

OPTIONS = (
    "assigned|by|cost|decimal|engine|event|group|guarantee|least|level|measures|membership|method|missing|replicates|"
    "response|scale|score|sd|sd_response|thousands|threshold|training|truth|weight|weight_kind|where"
)
# Patterns of what the library says to do, and what to say instead, or how to make it.
AS_TYPED: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"^Name it in measures=\[\.\.\.\]", "Name it in --measures, with commas"),
    (r"The truth comes first: .*", "Name the true class in --truth; with --cut, what was measured"),
    (r"response=fit_response\([^)]*\), or \(mean, sd\)", "--response expected,expected_sd: columns of the mean and sd"),
    (
        r"Say how many folds \(cv=.*",
        "Say how many, --folds 10; or loo, a share to hold out as 0.25, bootstrap or bootstrap:500",
    ),
    (r"Continuum\(boundaries, classes=\[(.*?)\]\)", lambda found: f"--scale {_with_commas(found[1], 'low,mid,high')}"),
    (r"scale=Continuum\([^)]*\)", "--cut 65"),
    (r"Say extend=True to .*, or leave", "Leave"),
    (r"scale=Scale\(\[(.*?)\]\)", lambda found: f"--scale {_with_commas(found[1], 'low,mid,high')}"),
    (r"measures=\[(.*?)\]", lambda found: f"--measures {_with_commas(found[1], 'error,kappa')}"),
    (r", or bind them by name: \{class: column\}", ""),
    (r"\bstandardise\(", "Python's steelyard.standardise("),
    (r"cost=\{.*\}", "--cost costs.csv"),
    (r"threshold=\{(.*?)\}", lambda found: f"--threshold {_by_name(found[1])}"),
    (r"score=\{name: scores\}", "--score NAME=COLUMN"),
    (r"label=(.*) here, or event=\1 in assess or compare", r"event=\1"),
    (
        r"Read the table, and give assess the frame: (.*)",
        r"Write its rows to a file, in Python: pyarrow.parquet.write_table(\1, 'rows.parquet')",
    ),
    (r"overwrite=True", "--force"),
    (r"on_error='(\w+)'", r"--bad-files \1"),
    (r"merge\(tallies, allow_overlap=True\)", "--allow-overlap"),
    (r"cv='(\w+)'", r"--folds \1"),
    (r"cv=10, or let the splitter repeat itself", "--folds 10, or a share to hold out as 0.25"),
    (
        rf"(?<!['\"\w])({OPTIONS})=('[^']*'|[\w.:]*)",
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
    "threshold=": "--threshold ",
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
    (r"; or give scores on another scale as score=.*", ""),
    (r"; or pass the assigned class instead, or give scores .*", ""),
    (r", or pass the assigned class instead$", ""),
]
NO_LABELS = (r"; only the labels that a model assigned .*", "")

# What does not help in some commands, and what to do there instead.
INSTEAD = {
    "calibration": NO_SCORES,
    "cv": [NO_LABELS],  # nothing is assigned yet
    "merge": [  # what is known of measured values is kept with the rows
        (r"Give (?=the standard deviation of the |response=)", "Make the tallies with "),
    ],
    "partition": [  # it has options for what others say with a measure
        *NO_SCORES,
        NO_LABELS,
        (r"(?<!['\"\w])(scaling|depth|floor|ties|seed|unseen)='?(\w+)'?", r"--\1 \2"),
    ],
    "tally": [  # it counts rows by the classes that they are assigned to, whatever else is asked for
        (r"Give cost=\{.*\}", "Leave --measures out: merge takes --cost costs.csv"),
    ],
    "thresholds": [(r"Give cost=.*", COSTS_OF_THRESHOLDS)],
}


def as_typed(mend: str) -> str:
    """What to do, said to those who use the library, as one types it on the command line."""
    if mend.startswith("Did you mean"):  # then a name follows that came from data
        return f"{mend} Among others, a name with a comma stands in double quotes" if "," in mend else mend
    for pattern, written in AS_TYPED:
        mend = re.sub(pattern, written, mend)
    return mend


def told_as_typed(error: SteelyardError, command: str) -> SteelyardError:
    """An error of the library, as one who typed a command is told it."""
    mend = error.mend
    for useless, instead in INSTEAD.get(command, ()):
        mend = re.sub(useless, instead, mend)
    begun = next((words for words in PROBLEMS if error.problem.startswith(words)), "")
    problem = PROBLEMS.get(begun, "") + error.problem.removeprefix(begun)
    return error.but(problem=problem, mend=as_typed(mend))


def _by_name(pairs: str) -> str:
    """Numbers by name, {'a': 0.5}, as they are typed: a=0.5."""
    return ",".join("=".join(part.strip(" '\"") for part in pair.rsplit(":", 1)) for pair in pairs.split(","))


def _with_commas(names: str, example: str) -> str:
    return example if names == "..." else ",".join(name.strip(" '") for name in names.split(","))


# --- words that no command takes ----------------------------------------------------------------------------------

COLUMNS = ("--assigned", "--membership", "--score")
SEVERAL = {"assess": "assess takes one classifier; compare", "tally": "tally"}


def mistake(error: CycloptsError, given: Sequence[str]) -> str:
    """What is wrong with the words of a command, and what to write instead."""
    if isinstance(error, MissingArgumentError):
        return _needed(error, given)
    if isinstance(error, UnknownOptionError) and "-" in (error.token.keyword, error.token.value):
        return f"standard input is not read. {UNREAD}"
    if isinstance(error, UnknownOptionError) and error.token.keyword == "--cost" and "thresholds" in given[:1]:
        return f"thresholds has no option --cost. {COSTS_OF_THRESHOLDS}"
    if isinstance(error, RepeatArgumentError) and error.token.keyword:
        return _again(error.token.keyword, given)
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return _left_over(error.unused_tokens[0], given)
    return str(error)


def _again(option: str, given: Sequence[str]) -> str:
    """An option that stands twice, and which command takes several classifiers."""
    taker = SEVERAL.get(given[0]) if option in COLUMNS else None
    more = f"{taker} takes several by --model NAME=COLUMN, once a classifier" if taker else "Say it once"
    return f"{option} is said twice. {more}"


def _needed(error: MissingArgumentError, given: Sequence[str]) -> str:
    """What a command lacks; where that is a column, which ones the file has."""
    if error.argument is None or not error.command_chain or "Did you mean" in str(error):
        return str(error)
    option = error.argument
    if option.name == "--html":
        return "the name of a file must follow --html. Say --html page.html"
    name = option.name.lstrip("-").upper() if option.field_info.is_positional else option.name
    needed = f"{' '.join(error.command_chain)} needs {name}: {option.parameter.help}"
    return " ".join([needed, *columns_in(given[1:])[:1]])


def columns_in(words: Sequence[str]) -> list[str]:
    """Which columns the files have that are among some words, in words."""
    found = []
    for word in words:
        with suppress(SteelyardError, OSError, ValueError):
            if Path(word).is_file():
                found.append(f"{quoted(Path(word).name)} has the columns {listed(names_of(discover(word)[0]), 12)}")
    return found


def _left_over(word: str, given: Sequence[str]) -> str:
    """A word that stands alone: a file to write, or one file too many."""
    before = given[given.index(word) - 1] if word in given else ""
    if before in TARGETS:
        return f"{quoted(word)} does not end in {TARGETS[before]}. Join it by a sign: {before}={word}"
    if Path(word).suffix:
        return f"{quoted(word)} is one file too many. Name several by a pattern in quotes, 'data/*.csv', or by a folder"
    return f"{quoted(word)} belongs to no option. Put values of several words in quotes, and see --help"

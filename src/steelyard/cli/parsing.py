"""What users write on the command line, turned into what the library takes.

Columns that a user calls scores are taken as such whatever their numbers look like; a word among them is named.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

from ..core.columns import DECIMAL_SIGNS, DECIMALS, POINT, as_number, first_word, pa
from ..core.errors import BadCosts, BadOption, NotNumbers, SteelyardError, UnknownLabel, quoted
from ..core.scale import Label, label_among, whole_number
from ..data import sources
from ..data.shards import Batch, plain
from ..data.spelling import Uses
from ..data.whole_files import refuse_no_page

ReadLabel = Callable[[str], Label]


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


# --- columns of scores --------------------------------------------------------------------------------------------


def refuse_no_probabilities(score: str | None) -> None:
    """Refuse scores on any scale where nothing but probabilities will do."""
    if score is not None:
        raise BadOption(
            "calibration is of probabilities, and --score is on any scale",
            mend=f"Say --membership {score}, if these are probabilities; thresholds and assess take --score",
        )


def either(membership: str | None, score: str | None, there: Sequence[str]) -> str:
    """The columns of probabilities or those of scores, whichever were named; else an error that says what is there."""
    named = [text for text in (membership, score) if text is not None]
    if len(named) == 1:
        return named[0]
    problem = "both --membership and --score are given" if named else "no column of scores is named"
    mend = "Give --score COLUMN of scores on any scale, or --membership of probabilities"
    raise BadOption(problem, mend="; ".join([mend, *([] if named else there)]))


def scores_in(source: Any, membership: str | None, event: Label | None, measured: bool = False) -> Any:
    """The columns of scores; one alone speaks for the event, or on a measured truth may be a value."""
    named = columns(membership)
    if not isinstance(named, str) or "*" in named or (measured and event is None):
        return named
    if pa.types.is_floating(kind_in(source, named)):  # these are told from labels by themselves, with better messages
        return named
    return [named] if event is None else {event: named}


@contextmanager
def words_told(source: Any) -> Iterator[None]:
    """Where a column must hold numbers and does not, name the first word in it, with its file and row."""
    try:
        yield
    except NotNumbers as error:
        for decimal in DECIMAL_SIGNS:
            for batch in _batches(source, error.column):
                _refuse_words(batch, str(error.column), decimal)
        raise


def _batches(source: Any, column: str | None) -> Iterator[Batch]:
    """The rows of one column; none where that is no column of the data."""
    if column is None or column not in source.column_names:
        return iter(())
    return source.batches([column]) if isinstance(source, sources.Files) else iter([Batch(source.select([column]))])


def _refuse_words(batch: Batch, name: str, decimal: str) -> None:
    found = first_word(batch.table.column(name).to_pylist(), decimal)
    if found is not None:
        row, word = found
        error: SteelyardError = NotNumbers(f"{quoted(word)} is no number", column=name, row=row, mend=_mend(word))
        raise batch.locate(error) from None


def _mend(word: str) -> str:
    if word.rstrip().endswith("%"):
        return "Write shares instead of per cent: 0.12, not 12%"
    if "," in word:
        return DECIMALS
    return "Give numbers; only the labels that a model assigned go with --assigned"

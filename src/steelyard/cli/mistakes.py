"""What is said of words that no command takes: what is missing, left over, or not read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cyclopts import CycloptsError, MissingArgumentError, RepeatArgumentError, UnknownOptionError, UnusedCliTokensError

from ..core.errors import SteelyardError, quoted
from ..core.scale import listed
from ..data.formats import names_of
from ..data.paths import UNREAD, discover
from .words import COSTS_OF_THRESHOLDS, TARGETS

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

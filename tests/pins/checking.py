"""The check as a whole: which data sets are assessed in which ways, and what differs."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .comparing import Difference, differences
from .problems import Problem, problems
from .storing import Pins, read
from .ways import WAYS, rows_of

FULL = os.environ.get("STEELYARD_PINS") == "full"
KINDS = ("counts", "rankings", "forecasts", "continuum", "partition")
THREADS = 4
APART = 6  # data sets, of which the part looks at one in more ways than in memory
ROTATED = (*[(way, 1) for way in WAYS[1:]], ("memory", THREADS), ("streamed", THREADS))


def of_kind(kind: str) -> list[Problem]:
    """Return the data sets of a kind."""
    return [problem for problem in problems() if problem.kind == kind]


def ways_of(problem: Problem) -> tuple[str, ...]:
    """Return the ways in which a data set is assessed."""
    return WAYS[:1] if problem.only_memory else WAYS


def made(problem: Problem, way: str, threads: int = 1) -> Pins:
    """Assess a data set in one way."""
    return {f"{problem.name}/{way}/{key}": row for key, row in rows_of(problem, way, threads).items()}


def chosen(kind: str, full: bool) -> Iterator[tuple[Problem, str, int]]:
    """Return what is assessed: all of it, or each data set in memory and every sixth in one more way in turn."""
    for place, problem in enumerate(problems()):
        if problem.kind != kind:
            continue
        yield problem, "memory", 1
        more = [each for each in ROTATED if each[0] in ways_of(problem)]
        if full:
            yield from ((problem, *each) for each in more)
        elif place % APART == 1 and len(more) == len(ROTATED):
            yield (problem, *more[place // APART % len(more)])


def checked(kind: str, full: bool = FULL) -> Iterator[Difference]:
    """Assess the data sets of a kind, and return what differs from their pins."""
    before = read(kind)
    seen = set[str]()
    for problem, way, threads in chosen(kind, full):
        start = f"{problem.name}/{way}/"
        seen.add(problem.name)
        pins = {key: fields for key, fields in before.items() if key.startswith(start)}
        yield from differences(pins, made(problem, way, threads))
    for name in dict.fromkeys(key.partition("/")[0] for key in before):
        if name not in seen:
            yield Difference(name, "data set", "pinned", "(absent)", float("inf"))

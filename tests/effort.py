"""How much is tried: little by `make test`, where each fact is tested once; all of it by `make study`."""

import os
from collections.abc import Iterable, Sequence
from itertools import combinations, groupby, product
from pathlib import Path
from typing import Any

import pytest

FULL = os.environ.get("STEELYARD_STUDY") == "full"


def repeats(few: int, full: int) -> int:
    """Return how often a simulation or a comparison is repeated: `full` times where STEELYARD_STUDY is "full"."""
    return full if FULL else few


def in_turn(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return as many combinations as the longest axis has values, each value at least once; all by `make study`."""
    longest = max(map(len, axes))
    return [*product(*axes)] if FULL else [tuple(axis[place % len(axis)] for axis in axes) for place in range(longest)]


def in_pairs(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return combinations in which each value meets each value of every other axis; all combinations by `make study`.

    Three axes of three values have 27 combinations; 10 of them have all pairs.
    """
    every = {each: set(combinations(enumerate(each), 2)) for each in product(*(range(len(axis)) for axis in axes))}
    left, chosen = set().union(*every.values()), set(every) if FULL else set()
    while left and not FULL:
        best = max(every, key=lambda each: len(every[each] & left))
        chosen.add(best)
        left -= every[best]
    return [tuple(axis[place] for axis, place in zip(axes, each, strict=True)) for each in every if each in chosen]


def left_out(items: Iterable[pytest.Item], folder: Path, step: int, many: int = 8) -> set[str]:
    """Return which variants to leave out of tests with many: all of a folder but the first of each so many."""
    prefix = f"{folder}{os.sep}"
    ours = (item for item in items if str(item.path).startswith(prefix))
    groups = [list(group) for _, group in groupby(ours, key=lambda item: item.nodeid.partition("[")[0])]
    return {item.nodeid for group in groups if len(group) >= many for place, item in enumerate(group) if place % step}


def leave_out(config: pytest.Config, items: list[pytest.Item], names: set[str]) -> None:
    """Take tests out of the list that is run, and report how many."""
    if names:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
        items[:] = [item for item in items if item.nodeid not in names]

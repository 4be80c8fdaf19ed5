"""How much is tried: little by `make test`, where each fact is tested once; all of it by `make study`."""

import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import pytest

FULL = os.environ.get("STEELYARD_STUDY") == "full"


def repeats(few: int, full: int) -> int:
    """Return how often a simulation or a comparison is repeated: `full` times where STEELYARD_STUDY is "full"."""
    return full if FULL else few


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

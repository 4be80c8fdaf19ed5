"""Of tests with many variants, `make test` runs a tenth; `make hostile` runs all."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from .amount import FULL

HERE = Path(__file__).parent
MANY, STEP = 8, 10  # variants of one test, and which of them are run: the first, the eleventh and so on


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if FULL:
        return
    left_out: set[str] = set()
    ours = [item for item in items if HERE in item.path.parents]
    for _, group in groupby(ours, key=lambda item: item.nodeid.partition("[")[0]):
        variants = list(group)
        if len(variants) >= MANY:
            left_out |= {item.nodeid for place, item in enumerate(variants) if place % STEP}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]

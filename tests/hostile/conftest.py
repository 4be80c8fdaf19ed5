"""Of tests with many variants, `make test` runs a twentieth; `make hostile` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.effort import leave_out, left_out

from .amount import FULL

STEP = 20  # of the variants of one test, the first, the twenty-first and so on are run


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not FULL:
        leave_out(config, items, left_out(items, Path(__file__).parent, STEP))

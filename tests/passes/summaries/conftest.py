"""Few rows pass for many, so that they are summed and let go."""

from __future__ import annotations

import pytest

from steelyard.passes import tally
from steelyard.results import evaluate


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rows go as soon as there are a thousand of them, and pass through every file."""
    monkeypatch.setattr(tally, "MOST_ROWS", 1000)
    monkeypatch.setattr(evaluate, "MOST_HELD", 0)

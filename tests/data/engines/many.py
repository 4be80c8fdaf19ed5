"""More rows than are held, in files, and what becomes of them on an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy
from steelyard.passes.tally import MOST_ROWS

ROWS = MOST_ROWS + 50_000
MODELS = {"a": "a", "b": "b"}


def many(folder: Path) -> tuple[str, pa.Table]:
    """Two scores of an event, in three files, and as one table."""
    rng = np.random.default_rng(11)
    odds = 1.5 * rng.normal(size=ROWS)
    table = pa.table({
        "truth": pa.array(np.where(rng.random(ROWS) < 1 / (1 + np.exp(-odds)), "yes", "no")),
        "a": 1 / (1 + np.exp(-odds - 0.4 * rng.normal(size=ROWS))),
        "b": 1 / (1 + np.exp(-odds - 0.9 * rng.normal(size=ROWS))),
    })  # fmt: skip
    edges = [0, ROWS // 2, ROWS // 2 + 1000, ROWS]
    for place in range(3):
        part = table.slice(edges[place], edges[place + 1] - edges[place])
        parquet.write_table(part, folder / f"{place}.parquet", row_group_size=1 << 18)
    return str(folder), table


def summed_alike(folder: Path, engine: Any) -> None:
    """Summed on an engine and here, values are the same; and both are what all rows at once give."""
    path, table = many(folder)
    given: dict[str, Any] = {"truth": "truth", "event": "yes", "measures": ["error", "auc", "log_score", "brier"]}
    there, here = sy.compare(path, MODELS, **given, engine=engine), sy.compare(path, MODELS, **given, engine="local")
    held = sy.compare(table, MODELS, **given)
    assert there.tally.summaries is not None
    assert there.tally.scores is None
    for model in MODELS:
        for name in given["measures"]:
            found, near, exact = there[model][name], here[model][name], held[model][name]
            for column in ("value", "low", "high", "se"):
                assert getattr(found, column) == pytest.approx(getattr(near, column), rel=1e-11)
            assert found.se == pytest.approx(exact.se, rel=1e-4)
            assert found.certified is not None
            assert found.certified[0] - 1e-12 <= exact.value <= found.certified[1] + 1e-12
            assert found.certified[1] - found.certified[0] <= 0.1 * exact.se
        assert there[model]["log_score"].value == pytest.approx(held[model]["log_score"].value, rel=1e-12)
    mine, yours = there.differences(), held.differences()
    for row, error in enumerate(yours["se"]):
        assert mine["difference"][row] == pytest.approx(yours["difference"][row], abs=0.1 * error)
        assert mine["se"][row] == pytest.approx(error, rel=1e-3)

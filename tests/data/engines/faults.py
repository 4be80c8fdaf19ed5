"""Files that cannot be used, and what every engine must say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy
from steelyard.core.errors import MissingValues, SteelyardError, UnknownColumn, UnknownLabel, UnreadableFile

FAULTS: dict[str, tuple[type[SteelyardError], str]] = {
    "no column": (UnknownColumn, r"file '.*9\.parquet': there is no column 'm'"),
    "another class": (UnknownLabel, r"file '.*9\.parquet', column 'y', row 1: 'zebra' is not one of the classes"),
    "cut off": (UnreadableFile, r"file '.*9\.parquet': .* cannot be read as parquet"),
    "a gap": (MissingValues, r"file '.*9\.parquet', column 'm', row 0: the value is missing"),
}
ASKED: dict[str, Any] = {"truth": "y", "assigned": "m", "scale": sy.Scale(["low", "mid", "high"])}


def spoiled(fault: str, folder: Path, skips: bool = True, **where: Any) -> None:
    """Put a faulty file among others: it stops the run, or nothing of it counts."""
    right = sy.assess(folder, **ASKED)
    path = folder / "9.parquet"
    rows: dict[str, list[Any]] = {"y": ["low", "zebra"], "m": ["mid", "mid"]}
    if fault == "no column":
        rows = {"y": ["low"], "k": ["low"]}
    elif fault == "a gap":
        rows = {"y": ["low", "mid"], "m": [None, "low"]}
    parquet.write_table(pa.table(rows), path)
    if fault == "cut off":
        path.write_bytes(path.read_bytes()[:-20])
    kind, words = FAULTS[fault]
    with pytest.raises(kind, match=words):
        sy.assess(folder, **ASKED, **where)
    if not skips:
        return
    found = sy.assess(folder, **ASKED, **where, on_error="skip")
    assert found.table().to_csv() == right.table().to_csv()
    assert found.notes[0].startswith(f"1 file was left out: file '{path}'")

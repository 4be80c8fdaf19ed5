"""Files made by somebody else under a right checksum: refused before they take memory or time."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.core.errors import DamagedFile, SteelyardError, UnreadableFile
from steelyard.passes.tally_files import _seal, _to_arrow

ONE = sy.assess(list("aabbab"), list("abbbaa")).tally
MOST = 10 << 20  # bytes
WRONG = [0, 1, 2**20, 2**31, 2**40, 2**62, 2**64 - 1]
SLOWEST = 5.0  # seconds, on a busy machine


def stream(table: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def tables_of(tally: sy.Tally) -> list[Any]:
    source, found = pa.BufferReader(_to_arrow(tally)), []
    while source.tell() < source.size():
        found.append(pa.ipc.open_stream(source).read_all())
    return found


TABLES = tables_of(ONE)
HEADER = json.loads(TABLES[0].schema.metadata[b"steelyard"])


def headed(table: Any, **other: Any) -> Any:
    return table.replace_schema_metadata({"steelyard": json.dumps(HEADER | other)})


def zeros(rows: int) -> Any:
    names = TABLES[0].column_names
    return pa.table({name: np.zeros(rows, np.int64 if name.startswith("key") else np.float64) for name in names})


def load(body: bytes, path: Path) -> sy.Tally:
    """Load what was crafted, within bounds of time and memory."""
    path.write_bytes(body + _seal(body))
    pool = pa.default_memory_pool()
    before, started = pool.bytes_allocated(), time.perf_counter()
    tracemalloc.start()
    try:
        return sy.Tally.load(path)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MOST + 8 * len(body)
        assert pool.bytes_allocated() - before < MOST
        assert time.perf_counter() - started < SLOWEST


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crafted.tally"


def crafted() -> Iterator[tuple[str, bytes]]:
    rest = stream(TABLES[1])
    for codec in ("zstd", "lz4"):
        for rows in (100, 10**6):
            yield f"{codec} {rows}", stream(headed(zeros(rows)), compression=codec) + rest
        yield f"{codec} rows", stream(headed(TABLES[0])) + stream(zeros(10**6), compression=codec)
        yield (
            f"{codec} array",
            stream(headed(TABLES[0])) + rest + stream(pa.table({"v": np.zeros(10**6)}), compression=codec),
        )
    names = TABLES[0].column_names
    yield "nothing", stream(headed(pa.table({name: pa.nulls(10**7) for name in names}))) + rest
    yield "arrays of nothing", stream(headed(TABLES[0])) + rest + stream(pa.table({"v": pa.nulls(10**7)})) * 5
    yield "bits", stream(headed(pa.table({name: np.zeros(10**5, bool) for name in names}))) + rest
    words = pa.array(["x" * 100] * 1000).dictionary_encode()
    yield "words", stream(headed(pa.table(dict.fromkeys(names, words)))) + rest
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 1], pa.int32()), pa.array([1]))
    yield "runs", stream(headed(pa.table(dict.fromkeys(names, runs)))) + rest
    yield "lists", stream(headed(pa.table(dict.fromkeys(names, pa.array([[1] * 10] * 100))))) + rest
    yield "gaps", stream(headed(pa.table(dict.fromkeys(names, pa.array([None, 1, 2]))))) + rest
    whole = stream(headed(TABLES[0])) + rest
    yield "cut", whole[:-40]
    yield "beginning", whole[8:]
    yield "end", whole + b"\xff\xff\xff\xff\xff\xff\xff\x7f"
    yield "empty", b'{"format": "steelyard tally"}'


@pytest.mark.parametrize(("name", "body"), list(crafted()), ids=[name for name, _ in crafted()])
def test_weak_point_33_what_takes_more_than_its_bytes_is_refused(name: str, body: bytes, path: Path) -> None:
    del name
    with pytest.raises(DamagedFile, match="no tally that can be read"):
        load(body, path)


def test_weak_point_33_every_number_of_a_message_can_be_wrong(path: Path) -> None:
    """Lengths, counts and places of buffers: whatever stands there, nothing is read beyond the file."""
    whole = stream(headed(TABLES[0])) + stream(TABLES[1])
    dice = np.random.default_rng(0)
    for _ in range(60):
        body = bytearray(whole)
        place = int(dice.integers(0, len(body) - 8))
        body[place : place + 8] = WRONG[int(dice.integers(len(WRONG)))].to_bytes(8, "little")
        try:
            found = load(bytes(body), path)
        except SteelyardError:
            continue
        assert len(found.sums.keys) <= len(body)


@pytest.mark.parametrize("classes", [300, 4000])
def test_weak_point_33_many_names_take_no_table(classes: int, path: Path) -> None:
    slices = list(range(200))
    keys = {name: np.zeros(200, np.int64) for name in TABLES[0].column_names if name.startswith("key")}
    sums = {name: np.ones(200) for name in ("count", "mass", "square")}
    table = pa.table({**keys, **sums, "key0": np.arange(200)}).select(TABLES[0].column_names)
    scale = {"classes": list(range(classes)), "event": None, "ordered": False}
    body = stream(headed(table, slices=slices, arrangement=slices, scale=scale)) + stream(TABLES[1])
    assert load(body, path).rows == 200


FILE = ["file", "a.csv", "0a" * 8, 6, 10, 5, "0b" * 8, "0c" * 8, True, []]
ODD: dict[str, Any] = {
    "no list": {"a": 1},
    "number": 7,
    "too few": [FILE[:-1]],
    "too many": [[*FILE, 1]],
    "kind": [["folder", *FILE[1:]]],
    "name": [["file", 7, *FILE[2:]]],
    "place": [["file", "a", "../../etc", *FILE[3:]]],
    "no place": [["file", "a", "", *FILE[3:]]],
    "long place": [["file", "a", "0" * 100, *FILE[3:]]],
    "rows": [[*FILE[:3], -1, *FILE[4:]]],
    "fraction": [[*FILE[:3], 1.5, *FILE[4:]]],
    "truth for rows": [[*FILE[:3], True, *FILE[4:]]],
    "huge": [[*FILE[:3], 10**30, *FILE[4:]]],
    "size": [[*FILE[:4], -5, *FILE[5:]]],
    "text for truth": [[*FILE[:8], "yes", []]],
    "folders": [[*FILE[:9], ["/home"]]],
}


@pytest.mark.parametrize("odd", ODD)
def test_forged_sources_are_refused(odd: str, path: Path) -> None:
    assert load(stream(headed(TABLES[0], sources=[FILE])) + stream(TABLES[1]), path).sources[0].name == "a.csv"
    with pytest.raises(DamagedFile):
        load(stream(headed(TABLES[0], sources=ODD[odd])) + stream(TABLES[1]), path)


@pytest.mark.parametrize(
    "other",
    [
        {"reading": [["a", "b"], ["a", "c"]]},
        {"reading": [["a"]]},
        {"reading": 7},
        {"remarks": [["nonsense", "", 1]]},
        {"remarks": [[1]]},
        {"remarks": 7},
        {"left_out": 7},
        {"groups": ["a", "a"]},
    ],
    ids=str,
)
def test_forged_readings_and_remarks_are_refused(other: dict[str, Any], path: Path) -> None:
    with pytest.raises(DamagedFile):
        load(stream(headed(TABLES[0], **other)) + stream(TABLES[1]), path)


def test_what_is_no_file_is_no_tally(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.tally")
    ONE.save(tmp_path / "a.tally")
    with pytest.raises(UnreadableFile, match="is no file"):
        sy.Tally.load(tmp_path / "p.tally")
    from steelyard.passes.merging import tally_paths

    assert [found.name for found in tally_paths([str(tmp_path)])] == ["a.tally"]


def test_a_large_file_of_another_kind_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "a.tally").open("wb") as file:
        file.truncate(1 << 34)
    tracemalloc.start()
    with pytest.raises(SteelyardError, match="is no steelyard tally"):
        sy.Tally.load(tmp_path / "a.tally")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MOST

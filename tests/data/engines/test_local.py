"""The engine of this process, and the one order in which all engines add."""

from __future__ import annotations

import operator
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy
from steelyard.core.errors import BadOption, MissingValues, UnknownLabel
from steelyard.core.threads import ahead
from steelyard.data import formats, streams
from steelyard.data.engines import Engine, started
from steelyard.data.engines.engine import TreeSum
from steelyard.data.engines.spark import MOST_TASKS, in_blocks
from tests.data.engines.faults import FAULTS, spoiled
from tests.data.engines.rows import ASKED, files, same, table
from tests.passes.test_summing import alike

NAMED: dict[str, Any] = {"truth": "y", "assigned": "m"}


@pytest.fixture(params=["whole", "cut"])
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    if request.param == "cut":
        monkeypatch.setattr(streams, "LEAST_SHARD", 4000)
    monkeypatch.setattr(formats, "BATCH_ROWS", 7)
    return files(tmp_path)


@pytest.mark.parametrize(
    ("folder", "kind"), [("whole", "labels"), *(("cut", kind) for kind in ASKED)], indirect=["folder"]
)
def test_shares_side_by_side_are_the_table(folder: Path, kind: str) -> None:
    same(kind, folder, engine="local")


def test_a_large_file_is_cut_at_row_groups(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "large.parquet"
    parquet.write_table(table(), path, row_group_size=10)
    monkeypatch.setattr(streams, "LEAST_SHARD", 1 + path.stat().st_size // 5)
    shards = streams.Files.of(path).shards(cut=True)
    assert [share.groups for share in shards] == [(0, 4), (4, 9), (9, 14), (14, 19), (19, 24)]
    assert len(streams.Files.of(path).shards()) == 1
    alike(sy.assess(path, **NAMED), sy.assess(table(), **NAMED))
    with pytest.raises(UnknownLabel, match=r"file '.*large\.parquet', column 'y', row "):
        sy.assess(path, **NAMED, scale=sy.Scale(["low", "mid"]))
    changed = table().set_column(1, "y", pa.array([*table()["y"].to_pylist()[:-3], None, "low", "mid"]))
    parquet.write_table(changed, path, row_group_size=10)
    with pytest.raises(MissingValues, match=r"file '.*large\.parquet', column 'y', row 237: the value is missing"):
        sy.assess(path, **NAMED)


def test_rows_and_bytes_are_told(folder: Path) -> None:
    told: list[tuple[int, int, int]] = []
    found = streams.Files.of(folder)
    sy.assess(replace(found, watch=lambda *said: told.append(said)), **NAMED)
    assert [rows for rows, _, _ in told] == sorted(rows for rows, _, _ in told)
    assert told[-1][0] == len(table())
    assert found.size - len(found.files) * 9 <= told[-1][1] <= found.size == told[-1][2]


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(tmp_path: Path, fault: str) -> None:
    spoiled(fault, files(tmp_path), engine="local")


def test_of_several_faults_the_first_is_told(tmp_path: Path) -> None:
    for place in range(6):
        labels = ["a", "zebra"] if place in (2, 4) else ["a", "b"]
        parquet.write_table(pa.table({"y": labels, "m": ["a", "b"]}), tmp_path / f"{place}.parquet")
    for _ in range(5):
        with pytest.raises(UnknownLabel, match=r"2\.parquet', column 'y', row 1"):
            sy.assess(tmp_path, **NAMED, scale=sy.Scale(["a", "b"]))


@pytest.mark.parametrize("far", [False, True])
def test_ctrl_c_stops_the_threads(monkeypatch: pytest.MonkeyPatch, far: bool) -> None:
    """Sent for real, while two shards without an end are worked on."""
    monkeypatch.setattr("steelyard.core.threads.allowed", lambda: 2)
    before, began = threading.enumerate(), threading.Barrier(3)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # other packages put their own in its place

    def endless() -> Iterator[int]:
        while True:
            yield 0

    def work(_: int) -> int:
        began.wait()
        return sum(ahead(endless(), far=far))

    def press() -> None:
        began.wait()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    finger = threading.Thread(target=press)
    finger.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            Engine().fold(work, [1, 2, 3])
    finally:
        signal.signal(signal.SIGINT, handler)
    for thread in threading.enumerate():
        if thread not in before:  # an interrupt can come before the pool has noted that it started a thread
            thread.join(timeout=60)
            assert not thread.is_alive()


# --- the tree -------------------------------------------------------------------------------------------------


def spelled(states: Any) -> Any:
    tree: TreeSum[str] = TreeSum(lambda left, right: f"({left}+{right})")
    for state in states:
        tree.add(state)
    return tree.total()


def test_the_tree_depends_on_nothing_but_the_number_of_states() -> None:
    assert [spelled("abcdefg"[:size]) for size in (0, 1, 2, 3, 5)] == [
        None,
        "a",
        "(a+b)",
        "((a+b)+c)",
        "(((a+b)+(c+d))+e)",
    ]
    assert spelled("abcdefg") == "(((a+b)+(c+d))+((e+f)+g))"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 29, 64, 100])
@pytest.mark.parametrize("block", [1, 2, 4, 8])
def test_branches_may_be_added_elsewhere(size: int, block: int) -> None:
    leaves = [chr(200 + place) for place in range(size)]
    assert spelled(spelled(leaves[low : low + block]) for low in range(0, size, block)) == spelled(leaves)


def test_tasks_of_spark_are_such_branches() -> None:
    for size in (0, 3, MOST_TASKS, MOST_TASKS + 1, 9 * MOST_TASKS + 5):
        blocks = in_blocks(range(size))
        assert [one for block in blocks for one in block] == list(range(size))
        assert len(blocks) <= MOST_TASKS
        assert len({len(block) for block in blocks[:-1]}) < 2
        assert all(len(block).bit_count() == 1 for block in blocks[:-1])


def test_no_share_is_no_state() -> None:
    assert Engine().fold(operator.neg, []) is None
    assert Engine().fold(operator.neg, [2, 3]) == -5


# --- what users may say ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["fast", 3, object(), "", pd.DataFrame()])
def test_what_is_no_engine_is_refused(tmp_path: Path, engine: Any) -> None:
    with pytest.raises(BadOption, match=r"engine is .*Say 'local', 'dask', 'spark'"):
        sy.assess(files(tmp_path), **NAMED, engine=engine)


def test_rows_that_are_here_need_no_engine() -> None:
    for engine in ("local", "dask"):
        with pytest.raises(BadOption, match="the rows are here already"):
            sy.assess(table(), **NAMED, engine=engine)
        with pytest.raises(BadOption, match="the rows are here already"):
            sy.assess([0, 1], [0, 1], engine=engine)


@pytest.mark.parametrize(("name", "package"), [("dask", "distributed"), ("spark", "pyspark.sql"), ("dask", "dask")])
def test_what_is_not_installed_is_named_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.delitem(sys.modules, "dask.dataframe", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BadOption, match=rf"{name} is not installed .*pip install 'steelyard\[{name}\]'"):
        sy.assess(files(tmp_path), **NAMED, engine=name)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weight": [1.0] * 240}, "weight= is an array"),
        ({"group": [1] * 240}, "group= is an array"),
        ({"by": [1] * 240}, "by= is an array"),
        ({"truth": "z", "scale": sy.Continuum([64, 66])}, "have no names"),
        ({"truth": "z", "scale": sy.Continuum([64, 66], ["low", "mid", "high"]), "sd": [0.1] * 240}, "sd= is an array"),
    ],
)
def test_what_does_not_travel_is_refused(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadOption, match=words):
        sy.assess(files(tmp_path), **{**NAMED, **options}, engine="local")


def test_a_threshold_is_chosen_by_rows_that_were_kept(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"truth": "y", "membership": "p_high", "event": "yes", "threshold": "best:f1"}
    changed = table().set_column(1, "y", pa.array(["yes" if y == "high" else "no" for y in table()["y"].to_pylist()]))
    parquet.write_table(changed, tmp_path / "a.parquet", row_group_size=20)
    here: dict[str, Any] = {"engine": "local"}
    several: list[dict[str, Any]] = [
        {},
        {"weight": "weight", "group": "patient"},
        {"weight": "often", "weight_kind": "frequency", "by": "site"},
    ]
    for options in several:
        found, right = sy.assess(tmp_path, **asked, **options, **here), sy.assess(changed, **asked, **options)
        assert found.decision is not None
        assert right.decision is not None
        assert found.decision.threshold == right.decision.threshold
        alike(found, right)
    models = {"p": "p_high", "q": "q_high"}
    asked = {"truth": "y", "event": "yes", "threshold": "best:f1"}
    both, two = sy.compare(tmp_path, models, **asked, **here), sy.compare(changed, models, **asked)
    alike(both, two)
    assert both.deciding_rows("error", "p", "q").to_pylist() == two.deciding_rows("error", "p", "q").to_pylist()


@pytest.mark.parametrize("options", [{}, {"group": "patient"}, {"by": "site"}])
def test_a_file_whose_rows_weigh_nothing_is_no_file(tmp_path: Path, options: dict[str, Any]) -> None:
    score = [0.9, 0.2, 0.7, 0.4, 0.8, 0.3, 0.6, 0.1]
    rows = {"ill": ["yes", "no"] * 4, "score": score, "weight": [0.0] * 4 + [1.5, 2.0, 0.5, 1.0]}
    whole = pa.table(rows | {"patient": [1, 2, 3, 4, 5, 6, 1, 7], "site": ["a"] * 2 + ["b"] * 6})
    for place in range(2):
        parquet.write_table(whole.slice(4 * place, 4), tmp_path / f"{place}.parquet")
    asked: dict[str, Any] = {"truth": "ill", "membership": "score", "event": "yes", "weight": "weight"}
    alike(sy.assess(tmp_path, **asked, **options, engine="local"), sy.assess(whole, **asked, **options))


def test_an_engine_is_found_by_what_is_said() -> None:
    with started() as engine:
        assert type(engine) is Engine
    with started("local") as engine:
        assert type(engine) is Engine

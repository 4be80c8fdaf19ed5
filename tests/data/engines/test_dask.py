"""Dask: clusters, data frames, faults of files and of workers."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import BadOption, UnknownColumn, UnknownLabel, UnreadableFile
from steelyard.data.engines.dask import Dask
from steelyard.data.streams import Files
from tests.data.engines.faults import FAULTS, spoiled
from tests.data.engines.killing import survived
from tests.data.engines.many import summed_alike
from tests.data.engines.rows import ASKED, MODELS, files, same, table
from tests.passes.test_summing import alike

NAMED: dict[str, Any] = {"truth": "y", "assigned": "m"}


@pytest.fixture(scope="module")
def dask() -> Any:
    """Dask with its data frames, loaded where they are used: every process that collects tests reads this file."""
    import dask.dataframe

    return dask


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers, each a process of its own."""
    from distributed import Client, LocalCluster

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[3])  # workers import tests, too
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster, set_as_default=False) as connected,
        ):
            yield connected


@pytest.fixture
def frame(dask: Any) -> Any:
    return dask.dataframe.from_pandas(table().to_pandas(), npartitions=4, sort=False)


@pytest.mark.parametrize("kind", ASKED)
def test_files_on_a_cluster_are_the_table(client: Any, tmp_path: Path, kind: str) -> None:
    same(kind, files(tmp_path), engine=client)


@pytest.mark.parametrize("kind", ASKED)
def test_a_frame_on_a_cluster_is_the_table(client: Any, frame: Any, kind: str) -> None:
    same(kind, frame, engine=client)


@pytest.mark.parametrize("kind", ["clustered", "compared"])
def test_a_frame_without_a_cluster_is_the_table(frame: Any, kind: str) -> None:
    same(kind, frame)


def test_every_engine_gives_the_same_bits(client: Any, tmp_path: Path) -> None:
    folder = files(tmp_path)
    asked: dict[str, Any] = {**NAMED, "weight": "weight", "group": "patient"}
    here, there = (sy.assess(folder, **asked, engine=engine).tally.sums for engine in ("local", client))
    assert np.array_equal(here.keys, there.keys)
    assert np.array_equal(here.values, there.values)


def test_a_cluster_is_started_for_the_call_and_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["assess", str(files(tmp_path)), "--truth", "y", "--assigned", "m", "--engine", "dask", "--csv"]
    assert main(words) == 0
    assert capsys.readouterr().out == sy.assess(table(), **NAMED).table().to_csv()
    from distributed import Client

    with pytest.raises(ValueError, match="No clients found"):
        Client.current()


def test_a_scheduler_is_found_by_its_address(
    client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = str(files(tmp_path)), client.scheduler.address
    alike(sy.assess(folder, **NAMED, engine=address), sy.assess(table(), **NAMED))
    models = ["--model", "p=p_*", "--model", "m=m", "--measures", "error", "--engine", address]
    assert main(["compare", folder, "--truth", "y", *models]) == 0
    monkeypatch.chdir(tmp_path)
    words = ["--truth", "y", "--assigned", "m", "--engine", address]
    assert main(["tally", folder, *words, "--out", "all.tally"]) == 0
    assert main(["tally", folder, *words, "--each", "--out", "each"]) == 0
    assert "5 tallies made of 240 rows" in capsys.readouterr().out
    assert sy.Tally.load("all.tally").rows == 240
    with pytest.raises(BadOption, match="there is no Dask scheduler at 'nonsense://host'"):
        sy.assess(folder, **NAMED, engine="nonsense://host")


# --- frames ---------------------------------------------------------------------------------------------------


def test_only_the_columns_that_are_needed_are_taken(dask: Any) -> None:
    def part(place: int, columns: Any = None) -> Any:
        found = table().slice(place * 60, 60).to_pandas()
        assert columns is not None
        assert set(columns) <= {"y", "m", "often"}
        return found[list(columns)]

    meta = table().slice(0, 0).to_pandas()
    frame = dask.dataframe.from_map(part, range(4), meta=meta)
    alike(sy.assess(frame, **NAMED, weight="often"), sy.assess(table(), **NAMED, weight="often"))


def test_types_of_objects_are_asked_of_all_partitions(dask: Any, client: Any) -> None:
    with dask.config.set({"dataframe.convert-string": False}):
        plain = table().select(["y", "m", "often"]).to_pandas().astype({"y": object, "m": object})
        plain.loc[plain.index[:60], "m"] = None
        plain["site"] = pd.Categorical(np.where(plain["often"] > 1, "n", "s"))
        frame = dask.dataframe.from_pandas(plain, npartitions=4, sort=False)
        asked: dict[str, Any] = {**NAMED, "missing": "drop", "by": "site", "where": "often < 3"}
        right = sy.assess(plain, **asked)
        assert right.dropped > 20
        for where in ({}, {"engine": client}):
            found = sy.assess(frame, **asked, **where)
            alike(found, right)
            assert found.dropped == right.dropped


def test_rows_that_decide_are_collected_when_somebody_asks(frame: Any) -> None:
    found, right = (sy.compare(x, MODELS, truth="y", where="hour == 1") for x in (frame, table()))
    assert found.deciding_rows("error", "p", "m").to_pylist() == right.deciding_rows("error", "p", "m").to_pylist()


def test_training_data_may_lie_in_a_frame_or_here(frame: Any) -> None:
    right = sy.assess(table(), truth="y", membership="p_*", training=table())
    for training in (frame, table()):
        found = sy.assess(frame, truth="y", membership="p_*", training=training)
        assert found.training is not None
        assert right.training is not None
        alike(found.training, right.training)


def test_faults_of_frames_name_the_partition(dask: Any, client: Any, frame: Any) -> None:
    scale = sy.Scale(["low", "mid"])
    row = table()["y"].to_pylist().index("high")
    for where in ({}, {"engine": client}):
        with pytest.raises(UnknownLabel, match=rf"partition 0, column 'y', row {row}: 'high' is not one of"):
            sy.assess(frame, **NAMED, scale=scale, **where)
        with pytest.raises(UnknownColumn, match="there is no column 'n'"):
            sy.assess(frame, truth="y", assigned="n", **where)
    with dask.config.set({"dataframe.convert-string": False}):
        mixed = dask.dataframe.from_map(
            lambda k: pd.DataFrame({"y": [k], "m": ["a"]}), [1, "a"], meta={"y": object, "m": object}
        )
        with pytest.raises(UnreadableFile, match="partitions hold different kinds of values"):
            sy.assess(mixed, **NAMED)
    lying = dask.dataframe.from_map(lambda k: pd.DataFrame({"y": [k], "m": [1]}), [1, "a"], meta={"y": int, "m": int})
    with pytest.raises(UnreadableFile, match=r"partition 1.*: the partition does not hold what the frame says"):
        sy.assess(lying, **NAMED)


def test_what_does_not_go_with_frames_is_refused(client: Any, frame: Any) -> None:
    with pytest.raises(BadOption, match="a data frame has none"):
        sy.assess(frame, **NAMED, on_error="skip")
    with pytest.raises(BadOption, match="the rows lie in dask, and the engine is 'spark'"):
        sy.assess(frame, **NAMED, engine="spark")
    with pytest.raises(BadOption, match="Name the columns"):
        sy.assess(frame)


# --- faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(client: Any, tmp_path: Path, fault: str) -> None:
    spoiled(fault, files(tmp_path), engine=client)


def test_a_worker_that_is_killed_loses_nothing(client: Any, tmp_path: Path) -> None:
    survived(Dask(client), files(tmp_path), "3.parquet", tmp_path)


def test_nor_one_that_works_on_a_frame(client: Any, tmp_path: Path, frame: Any) -> None:
    survived(Dask(client), frame, "partition 2", tmp_path)


def test_an_interrupt_passes_through_and_the_cluster_lives_on(client: Any, tmp_path: Path) -> None:
    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    folder = files(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        sy.assess(replace(Files.of(folder), watch=interrupt), **NAMED, engine=client)
    assert Dask(client).fold(operator.neg, [1, 2, 3]) == -6
    assert Dask(client).fold(operator.neg, []) is None


def test_more_rows_than_are_held(client: Any, tmp_path: Path) -> None:
    summed_alike(tmp_path, client)

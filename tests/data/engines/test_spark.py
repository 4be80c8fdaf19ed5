"""Spark: sessions, data frames, faults of files and of workers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import UnknownColumn, UnknownLabel
from steelyard.data.engines.spark import Spark, started
from steelyard.data.streams import Files
from tests.data.engines import killing
from tests.data.engines.faults import FAULTS, spoiled
from tests.data.engines.killing import survived
from tests.data.engines.many import summed_alike
from tests.data.engines.rows import MODELS, files, same, table

pyspark = pytest.importorskip("pyspark", reason="`make spark` installs Spark and runs these")
cloudpickle = pytest.importorskip("pyspark.cloudpickle")
SparkSession = pytest.importorskip("pyspark.sql").SparkSession

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, and there is none on the PATH"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
NAMED: dict[str, Any] = {"truth": "y", "assigned": "m"}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """The session that is started where nobody has one."""
    cloudpickle.register_pickle_by_value(killing)  # workers cannot import tests
    assert SparkSession.getActiveSession() is None
    session = started("spark").session  # type: ignore[attr-defined]
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    """The rows in three partitions, in their order."""
    kinds = spark.createDataFrame(table().slice(0, 1).to_pandas()).schema
    rows = [tuple(row.values()) for row in table().to_pylist()]
    found = spark.createDataFrame(spark.sparkContext.parallelize(rows, 3), kinds)
    assert found.rdd.getNumPartitions() == 3
    return found


@pytest.mark.parametrize("kind", ["measured", "labels", "compared"])
def test_files_are_the_table(spark: Any, tmp_path: Path, kind: str) -> None:
    same(kind, files(tmp_path), engine=spark)


@pytest.mark.parametrize("kind", ["measured", "clustered", "compared"])
def test_a_frame_is_the_table(frame: Any, kind: str) -> None:
    same(kind, frame)


@pytest.mark.usefixtures("spark")
def test_a_session_that_runs_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "PYSPARK_PYTHON" not in os.environ
    words = ["assess", str(files(tmp_path)), "--truth", "y", "--assigned", "m", "--engine", "spark", "--csv"]
    assert main(words) == 0
    assert capsys.readouterr().out == sy.assess(table(), **NAMED).table().to_csv()


def test_rows_that_decide_are_collected_when_somebody_asks(frame: Any) -> None:
    found = sy.compare(frame, MODELS, truth="y", measures=["error"])
    right = sy.compare(frame.toArrow(), MODELS, truth="y", measures=["error"])
    assert found.deciding_rows("error", "p", "m").to_pylist() == right.deciding_rows("error", "p", "m").to_pylist()


def test_names_are_taken_as_they_are(frame: Any) -> None:
    renamed = frame.select("y", "m").toDF("true.class", "a`b")
    assert sy.assess(renamed, truth="true.class", assigned="a`b", measures=["error"]).n == 240


def test_faults_of_frames_name_the_partition(frame: Any) -> None:
    with pytest.raises(UnknownLabel, match=r"partition 0, column '[ym]', row \d+: 'high' is not one of"):
        sy.assess(frame, **NAMED, scale=sy.Scale(["low", "mid"]))
    with pytest.raises(UnknownColumn, match="there is no column 'n'"):
        sy.assess(frame, truth="y", assigned="n")


@pytest.mark.parametrize("fault", list(FAULTS)[:3])
def test_faults_are_named(spark: Any, tmp_path: Path, fault: str) -> None:
    spoiled(fault, files(tmp_path), skips=fault == "another class", engine=spark)


def test_a_worker_that_is_killed_loses_nothing(spark: Any, tmp_path: Path) -> None:
    survived(Spark(spark), files(tmp_path), "3.parquet", tmp_path)


def test_nor_one_that_works_on_a_frame(spark: Any, frame: Any, tmp_path: Path) -> None:
    survived(Spark(spark), frame, "partition 1", tmp_path)


def test_an_interrupt_passes_through(spark: Any, tmp_path: Path) -> None:
    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sy.assess(replace(Files.of(files(tmp_path)), watch=interrupt), **NAMED, engine=spark)


def test_more_rows_than_are_held(spark: Any, tmp_path: Path) -> None:
    summed_alike(tmp_path, spark)

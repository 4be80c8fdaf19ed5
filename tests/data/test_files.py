"""Files in pieces: folders, partitions, compression, stores, and batches that know where they come from."""

from __future__ import annotations

import bz2
import gzip
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import fs, parquet

import steelyard as sy
from steelyard.core.errors import (
    BadFilter,
    DuplicateColumns,
    EmptyInput,
    MissingValues,
    TooLarge,
    UnknownColumn,
    UnknownLabel,
    UnreadableFile,
    UnwritableFile,
)
from steelyard.core.threads import ahead
from steelyard.data import formats, sources, streams, text_files
from steelyard.data import paths as files
from steelyard.data.whole_files import JSON, write_whole
from steelyard.passes import plan

TEXT = "y,m,k\na,a,1\nb,a,2\nb,b,3\n"
ROWS: dict[str, list[Any]] = {"y": ["a", "b", "b"], "m": ["a", "a", "b"], "k": [1, 2, 3]}


def whole(source: Any, columns: list[str], where: str | None = None) -> dict[str, list[Any]]:
    """What all batches hold together."""
    found: dict[str, list[Any]] = {name: [] for name in columns}
    for batch in sources.opened(source, where).batches(columns):
        for name in columns:
            found[name] += batch.table.column(name).to_pylist()
    return found


def write(path: Path, table: Any, **options: Any) -> Path:
    """Write a table as what the name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, **options)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=max(2, len(table) // 10))
    elif path.suffix == ".feather":
        with pa.ipc.new_stream(path, table.schema) as file:
            file.write_table(table, max_chunksize=max(2, len(table) // 10))
    else:
        from pyarrow import csv

        csv.write_csv(table, path)
    return path


ENDINGS = ["csv", "parquet", "arrow", "feather"]


# --- compression ----------------------------------------------------------------------------------------------


def squeezed(codec: str) -> Callable[[bytes], bytes]:
    def work(content: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(content)
        return bytes(sink.getvalue())

    return work


@pytest.mark.parametrize(
    ("ending", "squeeze"),
    [
        ("csv.gz", gzip.compress),
        ("csv.bz2", bz2.compress),
        ("csv.zst", squeezed("zstd")),
        ("csv.lz4", squeezed("lz4")),
        ("tsv.GZ", gzip.compress),
        ("txt.br", squeezed("brotli")),
    ],
)
def test_compressed_text_is_read(tmp_path: Path, ending: str, squeeze: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(squeeze(TEXT.encode()))
    assert sources.read(path).to_pydict() == ROWS
    assert whole(path, ["k", "y"]) == {"k": [1, 2, 3], "y": ["a", "b", "b"]}
    path.write_bytes(squeeze(TEXT.encode())[:-12])
    with pytest.raises(UnreadableFile, match="cannot be read"):
        sources.read(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.parquet.gz", "is compressed from outside"), ("a.csv.xz", "ends in none of .csv"), ("a.gz", "ends in none")],
)
def test_other_compression_is_refused(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(UnreadableFile, match=words):
        sources.read(tmp_path / name)


# --- folders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "mend"),
    [("xlsx", "Save the sheet as CSV"), ("jsonl", "pandas.read_json"), ("doc", "the ending")],
)
def test_what_to_do_with_other_files_is_said(tmp_path: Path, ending: str, mend: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text("y,p\n")
    with pytest.raises(sy.SteelyardError, match=mend):
        sy.assess(path, truth="y", assigned="p")


def test_a_folder_is_all_its_data_files(tmp_path: Path) -> None:
    table = pa.table(ROWS)
    write(tmp_path / "b" / "part.parquet", table)
    write(tmp_path / "a.csv", table)
    write(tmp_path / "c" / "d" / "e.arrow", table)
    for name in ("_SUCCESS", "_half.csv", ".hidden.parquet", "notes.md", ".git/x.csv", "_temporary/0/x.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("nothing of this")
    assert [Path(file.path).name for file in files.discover(tmp_path)] == ["a.csv", "part.parquet", "e.arrow"]
    assert sources.read(tmp_path).to_pydict() == {name: values * 3 for name, values in ROWS.items()}
    assert sy.assess(tmp_path, truth="y", assigned="m").n == 9


@pytest.mark.parametrize("pattern", ["", "**/*.csv", "**/a*.csv", "*/**/*.csv"])
def test_links_do_not_count_rows_twice(tmp_path: Path, pattern: str) -> None:
    folder = tmp_path / "days"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "a.csv").write_text("y,p\n1,1\n0,1\n")
    (folder / "latest.csv").symlink_to(folder / "inner" / "a.csv")
    for name in ("round", "about"):  # each doubles the ways to every file, at each of forty levels
        (folder / "inner" / name).symlink_to(folder, target_is_directory=True)
    assert len(files.discover(str(folder / pattern))) == 1
    assert sy.assess(folder / pattern, truth="y", assigned="p").n == 2


def test_stars_stand_for_folders(tmp_path: Path) -> None:
    for name in ("a.csv", "x/b.csv", "x/y/c.csv", "x/.z/d.csv", "x/.e.csv", "x/_f/g.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("y,p\n1,1\n")
    found = {
        pattern: [
            str(Path(one.path).relative_to(tmp_path).as_posix()) for one in files.discover(str(tmp_path / pattern))
        ]
        for pattern in ("**/*.csv", "x/**/*.csv", "**/y/*.csv", "*/*.csv", "**/[bc].csv")
    }
    assert found == {
        "**/*.csv": ["a.csv", "x/_f/g.csv", "x/b.csv", "x/y/c.csv"],
        "x/**/*.csv": ["x/_f/g.csv", "x/b.csv", "x/y/c.csv"],
        "**/y/*.csv": ["x/y/c.csv"],
        "*/*.csv": ["x/b.csv"],
        "**/[bc].csv": ["x/b.csv", "x/y/c.csv"],
    }


def test_a_pattern_of_folders_is_told_to_name_files(tmp_path: Path) -> None:
    for day in ("1", "2"):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "part.csv").write_text("y,p\n1,1\n")
    with pytest.raises(UnreadableFile, match=r"day=\*' stands for folders. Name the files in them, as '.*day=\*/\*\*/"):
        files.discover(str(tmp_path / "day=*"))
    assert len(files.discover(str(tmp_path / "day=*" / "**" / "*.csv"))) == 2


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(UnreadableFile, match=r"no data file in the folder .*Files end in \.csv"):
        sources.read(tmp_path)


def test_keys_of_folders_are_columns(tmp_path: Path) -> None:
    for year, site in ((2023, "north"), (2024, "a b"), (2024, None)):
        shown = "__HIVE_DEFAULT_PARTITION__" if site is None else site.replace(" ", "%20")
        write(tmp_path / f"year={year}" / f"site={shown}" / "p.parquet", pa.table({"y": ["a", "b"], "m": ["a", "a"]}))
    table = sources.read(tmp_path)
    assert table.column("year").to_pylist() == [2023, 2023, 2024, 2024, 2024, 2024]
    assert table.column("site").to_pylist() == ["north", "north", None, None, "a b", "a b"]
    assert table.schema.field("year").type == pa.int64()
    result = sy.assess(tmp_path, truth="y", assigned="m", by="year", where="site is not null")
    assert {label: part.n for label, part in result.slices.items()} == {2023: 2, 2024: 2}
    pattern = str(tmp_path / "year=*" / "*" / "*.parquet")
    assert whole(pattern, ["year"], "year < 2024") == {"year": [2023, 2023]}


def test_keys_that_are_not_all_whole_numbers_are_text(tmp_path: Path) -> None:
    for run in ("1", "02"):
        write(tmp_path / f"run={run}" / "a.csv", pa.table({"y": ["a"]}))
    assert sorted(whole(tmp_path, ["run"])["run"]) == ["02", "1"]


def test_a_column_of_a_file_that_contradicts_a_key_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "k=9" / "a.parquet", pa.table(ROWS))
    assert whole(tmp_path, ["y"]) == {"y": ROWS["y"]}
    with pytest.raises(UnreadableFile, match="the column holds '1', and the folder is called 'k=9'"):
        sources.read(tmp_path)
    with pytest.raises(UnreadableFile, match="the folder is called 'k=9'"):
        whole(tmp_path, ["k"], "k == 2")


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.int16()])
def test_a_key_may_be_a_column_of_another_file(tmp_path: Path, kind: Any) -> None:
    write(tmp_path / "k=9" / "a.parquet", pa.table(ROWS).drop_columns("k"))
    write(tmp_path / "z=1" / "b.parquet", pa.table({**ROWS, "k": pa.array(ROWS["k"]).cast(kind)}))
    assert whole(tmp_path, ["k"], "k > 2") == {"k": [9, 9, 9, 3]}
    assert sources.opened(tmp_path).load(["k"]).table.to_pydict() == {"k": [9, 9, 9, 1, 2, 3]}
    for measures in (["error"], None):
        found = sy.assess(tmp_path, truth="y", assigned="m", group="k", measures=measures)
        assert len(found.tally.groups) == 4


def test_folders_in_which_a_filter_cannot_hold_are_not_opened(tmp_path: Path) -> None:
    write(tmp_path / "year=2024" / "a.csv", pa.table(ROWS))
    damaged = tmp_path / "year=2023" / "a.csv"
    damaged.parent.mkdir()
    damaged.write_text("y,m,k\n1,2\n")
    named = streams.Files.of(tmp_path, "year == 2024 and k > 1")
    schema = pa.schema([("y", pa.string()), ("k", pa.int64()), ("year", pa.int64())])
    assert [batch.table.to_pydict() for batch in named.batches(["y"], schema)] == [{"y": ["b", "b"]}]


@pytest.mark.parametrize("where", ["year == 2025", "k > 99"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_filter_that_passes_over_all_files_leaves_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, where: str
) -> None:
    monkeypatch.setattr(plan, "WORTH_A_GLIMPSE", 0)  # as it is of larger files
    for year in (2023, 2024):
        write(tmp_path / f"year={year}" / f"a.{ending}", pa.table(ROWS))
    with pytest.raises(EmptyInput, match="there is no row to assess"):
        sy.assess(tmp_path, truth="y", assigned="m", measures=["error"], where=where)


# --- batches --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("where", [None, "k > 3 and k < 700", "k == 4 or y == 'b'", "k < 0"])
def test_batches_are_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, where: str | None) -> None:
    monkeypatch.setattr(formats, "BATCH_ROWS", 7)
    monkeypatch.setattr(text_files, "BLOCK", 256)
    rows = 1000
    table = pa.table({"y": ["a", "b"] * (rows // 2), "x": np.arange(rows) / 4, "k": np.arange(rows), "z": ["x"] * rows})
    options = {"row_group_size": 100} if ending == "parquet" else {}
    path = write(tmp_path / f"a.{ending}", table, **options)
    kept = sources.read(path, where)
    assert kept.num_rows == {None: 1000, "k > 3 and k < 700": 696, "k < 0": 0}.get(where, 501)
    assert whole(path, ["x", "y"], where) == kept.select(["x", "y"]).to_pydict()
    batches = list(sources.opened(path, where).batches(["k"]))
    for batch in batches:
        assert len(batch.table) <= 7
        assert batch.file == str(path)
        places = np.arange(batch.first, batch.first + len(batch.table)) if batch.places is None else batch.places
        assert batch.table.column("k").to_pylist() == places.tolist()


def test_row_groups_without_a_row_that_counts_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", pa.table({"k": np.arange(100)}), row_group_size=10)
    assert [batch.first for batch in sources.opened(path, "k in (15, 93)").batches(["k"])] == [10, 90]


def test_a_batch_is_limited_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "BATCH_BYTES", 10_000)
    path = write(tmp_path / "a.arrow", pa.table({"y": ["x" * 1000] * 100}))
    assert max(batch.table.nbytes for batch in sources.opened(path).batches(["y"])) < 11_000


def test_types_of_text_are_judged_by_all_files_and_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK", 64)
    many = 200
    (tmp_path / "1.csv").write_text(
        "n,f,b,t,d,e,long\n" + "1,1,true,1,2020-01-02,,x\n" * many + "2,0.5,,a,2020-01-03,q," + "x" * 500 + "\n"
    )
    (tmp_path / "2.csv").write_text("n,f,b,t,d,e,long\n7,1,false,b,2020-01-02,,\n")
    names = ["n", "f", "b", "t", "d", "e", "long"]
    table = sources.read(tmp_path / "1.csv")
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "bool", *["string"] * 4]
    seen = whole(tmp_path, names)
    assert {name: seen[name][:-1] for name in names} == table.to_pydict()
    assert [seen[name][-1] for name in names] == [7, 1.0, False, "b", "2020-01-02", None, None]


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_that_do_not_go_together_are_named(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"1.{ending}", pa.table({"y": ["a"], "m": ["b"]}))
    write(tmp_path / f"2.{ending}", pa.table({"y": ["a"], "n": ["b"]}))
    with pytest.raises(UnknownColumn, match=rf"file '.*2\.{ending}': there is no column 'm'"):
        whole(tmp_path, ["y", "m"])
    write(tmp_path / f"2.{ending}", pa.table({"y": ["a"], "m": [1]}))
    with pytest.raises(UnreadableFile, match=rf"file '.*2\.{ending}', column 'm': .* hold different kinds of values"):
        whole(tmp_path, ["y", "m"])
    with pytest.raises(UnreadableFile, match=r"hold different kinds of values: int64 and string"):
        sources.read(tmp_path)


def categories(words: Sequence[str], ordered: bool = False) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(range(len(words)), pa.int8()), pa.array(words), ordered=ordered)


@pytest.mark.parametrize(
    "other", [pa.array(["b", "a"]), pa.array(["b", "a"], pa.large_string()), categories("ba"), pa.nulls(2)]
)
@pytest.mark.parametrize("where", [None, "k > 0"])
def test_categories_and_words_go_together(tmp_path: Path, other: Any, where: str | None) -> None:
    for turn in (0, 1):
        columns = [categories("ab", ordered=True), other]
        for name, column in zip("12", columns[::-1] if turn else columns, strict=True):
            write(tmp_path / f"{name}.parquet", pa.table({"y": column, "k": [1, 2]}))
        found = sources.read(tmp_path, where).column("y").to_pylist()
        said = ["a", "b", *other.to_pylist()]
        assert found == (said[2:] + said[:2] if turn else said)


def test_categories_keep_their_order_beside_longer_words(tmp_path: Path) -> None:
    levels = pd.Categorical(["low", "mid", "high"], ["low", "mid", "high"], ordered=True)
    table = pa.Table.from_pandas(pd.DataFrame({"y": levels, "p": [0.1, 0.2, 0.9], "q": [0.9, 0.8, 0.1]}))
    for name, kind in (("1", pa.string()), ("2", pa.large_string())):
        column = table.column("y").cast(pa.dictionary(pa.int8(), kind, ordered=True))
        write(tmp_path / f"{name}.parquet", table.set_column(0, "y", column))
    for engine in (None, "local"):
        found = sy.assess(tmp_path, truth="y", assigned="y", measures=["error", "weighted_kappa"], engine=engine)
        assert found.classes == ("low", "mid", "high")
    assert sources.read(tmp_path).column("y").type.ordered


def test_a_file_whose_numbers_no_common_type_can_hold_is_named(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", pa.table({"y": ["a", "b"], "p": [0.1, 0.9], "k": [0.5, 1.0]}))
    write(tmp_path / "2.parquet", pa.table({"y": ["a", "b"], "p": [0.1, 0.9], "k": [2**53 + 1, 1]}))
    for engine in (None, "local"):
        with pytest.raises(UnreadableFile, match=r"2\.parquet', column 'k': int64 cannot be read as double"):
            sy.assess(tmp_path, truth="y", membership="p", event="b", weight="k", engine=engine)


def test_only_columns_that_are_used_must_be_alike(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", pa.table({"y": ["a", "b"], "m": ["b", "b"], "p_a": [0.1, 0.2], "p_b": [0.9, 0.8]}))
    write(tmp_path / "2.csv", pa.table({"m": ["b"], "y": ["a"], "p_a": [0.3], "p_b": [0.7], "p_c": [0.0], "z": [1]}))
    assert sy.assess(tmp_path, truth="y", assigned="m").n == 3
    with pytest.raises(UnknownColumn, match=r"file '.*2\.csv': 'p_c' is a column of some files, not of all"):
        sy.assess(tmp_path, truth="y", membership="p_*")


def test_a_name_that_stands_twice_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,m,m\na,b,c\n")
    assert whole(tmp_path, ["y"]) == {"y": ["a"]}
    with pytest.raises(DuplicateColumns, match=r"file '.*a\.csv': 2 columns are called 'm'"):
        whole(tmp_path, ["m"])


def test_errors_name_file_and_row(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(TEXT)
    (tmp_path / "2.csv").write_text("y,m,k\na,a,1\nb,a,2\nb,,3\n")
    membership = {"truth": "y", "assigned": "m", "measures": ["brier"]}
    with pytest.raises(MissingValues, match=r"file '.*2\.csv', column 'm', row 2: the value is missing"):
        sy.assess(tmp_path, **membership)  # type: ignore[arg-type]
    with pytest.raises(UnknownLabel, match=r"file '.*1\.csv', column 'y', row 1: 'b' is not one"):
        sy.assess(tmp_path, **membership, scale=sy.Scale(["a", "c"]), where="k == 2")  # type: ignore[arg-type]
    with pytest.raises(UnreadableFile, match=r"file '.*bad\.csv', row 2: 1 values, but 2 columns: 'a'"):
        (tmp_path / "bad.csv").write_text("y,m\na,a\na,a\na\n")
        whole(tmp_path / "bad.csv", ["y"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_damaged_file_is_named(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"1.{ending}", pa.table(ROWS))
    (tmp_path / f"2.{ending}").write_bytes(b"\xff\xfe" + b"nonsense" * 20)
    with pytest.raises(UnreadableFile, match=rf"file '.*2\.{ending}'"):
        whole(tmp_path, ["y"])


@pytest.mark.parametrize("places", [[0, 2, 1], [0, -1, 1], [0, 2, None]])
def test_words_that_are_not_there_are_refused(tmp_path: Path, places: list[int | None]) -> None:
    codes = pa.array(places, pa.int8())
    words = pa.DictionaryArray.from_arrays(codes, pa.array(["no", "yes"]), safe=False)
    path = tmp_path / "words.arrow"
    table = pa.table({"y": words})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(UnreadableFile, match=r"words\.arrow"):
        list(streams.Files.of(path).batches(["y"]))


def test_a_filter_is_held_against_the_types_of_all_files(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", pa.table({"y": ["a"], "k": [1]}))
    write(tmp_path / "2.csv", pa.table({"y": ["a"], "k": [0.5]}))
    assert whole(tmp_path, ["k"], "k < 1") == {"k": [0.5]}
    with pytest.raises(BadFilter, match="column 'k': the column holds double, and 'x' is text"):
        whole(tmp_path, ["k"], "k == 'x'")
    with pytest.raises(UnknownColumn, match="Did you mean 'k'"):
        whole(tmp_path, ["y"], "kk == 1")


# --- stores ---------------------------------------------------------------------------------------------------


def test_addresses_of_this_machine(tmp_path: Path) -> None:
    write(tmp_path / "k=1" / "a.parquet", pa.table({"y": ["a", "b"], "m": ["a", "a"]}))
    write(tmp_path / "k=2" / "b.parquet", pa.table({"y": ["a", "b"], "m": ["a", "b"]}))
    address = tmp_path.as_uri()
    for name in (address, f"{address}/*/*.parquet", f"{address}/**/*.parquet"):
        assert whole(name, ["k"]) == {"k": [1, 1, 2, 2]}
    assert whole(f"{address}/k=2/b.parquet", ["m"]) == {"m": ["a", "b"]}
    assert sy.assess(f"{address}/k=1", truth="y", assigned="m")["accuracy"].value == 0.5
    with pytest.raises(UnreadableFile, match="there is no file 'file://"):
        sources.read(f"{address}/nothing.csv")
    with pytest.raises(UnreadableFile, match="there is no file 'file://"):
        sources.read(f"{address}/*.csv")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_a_store_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    far = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(files, "file_system", lambda uri: (far, uri.partition("://")[2]))
    if ending == "csv.gz":
        (tmp_path / "bucket" / "x").mkdir(parents=True)
        (tmp_path / "bucket" / "x" / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    else:
        write(tmp_path / "bucket" / "x" / f"a.{ending}", pa.table(ROWS))
    (tmp_path / "bucket" / "_SUCCESS").write_text("")
    for name in ("far://bucket", "far://bucket/x", f"far://bucket/*/a.{ending}", f"far://bucket/x/a.{ending}"):
        assert whole(name, ["y", "k"], "k > 1") == {"y": ["b", "b"], "k": [2, 3]}
    assert sources.read("far://bucket").to_pydict() == ROWS
    with pytest.raises(UnknownColumn, match=rf"file 'far://bucket/x/a\.{ending}'"):
        whole("far://bucket", ["q"])


@pytest.mark.parametrize("address", ["nonsense://bucket/a.csv", "http://host/a.csv", "abfs://x/y.csv"])
def test_a_store_that_cannot_be_reached_is_a_clear_error(address: str) -> None:
    with pytest.raises(UnreadableFile, match=r"cannot be reached\. Check the address") as caught:
        sources.read(address)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("asked", ["gs://bucket/a.csv", "gs://bucket/a.csv?anonymous=true", "s3://bucket/a.csv"])
def test_a_store_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    seen: list[str] = []

    class Store:
        @staticmethod
        def from_uri(uri: str) -> tuple[None, str]:
            seen.append(uri)
            return None, uri

    monkeypatch.setattr(fs, "FileSystem", Store)
    files.file_system(asked)
    assert seen[0].startswith(asked)
    assert seen[0].count("?") == (asked[:2] == "gs")
    assert ("retry_limit_seconds=20" in seen[0]) == (asked[:2] == "gs")


def test_a_refusal_of_a_store_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(uri: str) -> Any:
        raise PermissionError(f"ACCESS_DENIED for {uri}")

    monkeypatch.setattr(files, "file_system", refuse)
    with pytest.raises(UnreadableFile, match="ACCESS_DENIED for s3://bucket"):
        sources.read("s3://bucket/*.csv")


# --- size -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_that_does_not_fit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    rows = 10_000
    path = write(tmp_path / f"a.{ending}", pa.table({"y": ["a", "b"] * (rows // 2), "p": np.linspace(0, 1, rows)}))
    size = formats.estimate(files.discover(path))
    assert 0.8 < size / sources.read(path).nbytes < 2.5
    monkeypatch.setattr(streams, "available", lambda: 50_000)
    monkeypatch.setattr(streams, "read_whole", lambda *_: pytest.fail("it was read"))
    with pytest.raises(TooLarge, match=r"takes about .* kB, and 50 kB of memory are free\. Ask for count measures"):
        sy.assess(path, truth="y", membership="p", event="b")
    some = sy.assess(path, truth="y", membership="p", event="b", where="p < 0.01")
    assert some.n == 100
    with pytest.raises(TooLarge):
        sy.assess(path, truth="y", membership="p", event="b", where="p < 0.9")


def test_the_memory_of_this_machine_is_known() -> None:
    assert 1 << 20 < formats.available() < 1 << 50
    assert [formats.in_words(size) for size in (17, 2_500, 3e9, 2e15)] == ["17 bytes", "2.5 kB", "3 GB", "2e+03 TB"]


# --- writing --------------------------------------------------------------------------------------------------


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    real, link, loose = tmp_path / "folder" / "real.json", tmp_path / "link.json", tmp_path / "loose.json"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    loose.symlink_to(tmp_path / "folder" / "new.json")
    for name in (link, loose):
        write_whole(name, b"new", JSON, overwrite=True)
        assert name.is_symlink()
        assert name.resolve().read_bytes() == b"new"
    assert sorted(one.name for one in real.parent.iterdir()) == ["new.json", "real.json"]


def test_what_is_no_file_is_written_into(tmp_path: Path) -> None:
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"all of it", JSON)
    reader.join()
    assert heard == [b"all of it"]
    assert pipe.is_fifo()


def test_links_that_lead_round_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(UnwritableFile, match="cannot be written"):
        write_whole(tmp_path / "round", b"", JSON)


# --- reading ahead --------------------------------------------------------------------------------------------


def test_reading_ahead_keeps_order_and_is_bounded() -> None:
    made: list[int] = []

    def items() -> Any:
        for item in range(100):
            made.append(item)
            yield item

    seen = []
    for item in ahead(items()):
        seen.append(item)
        assert len(made) <= len(seen) + 4
    assert seen == list(range(100))


def test_an_error_behind_comes_to_the_front() -> None:
    def items() -> Any:
        yield 1
        raise MissingValues("here")

    source = ahead(items())
    assert next(source) == 1
    with pytest.raises(MissingValues, match="here"):
        next(source)


def test_whoever_stops_asking_stops_the_thread() -> None:
    before = threading.active_count()
    source = ahead(iter(range(1000)))
    assert next(source) == 0
    source.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_types_of_many_columns_are_settled_in_a_few_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide, whole, passed = 60, 40, list[int]()
    rows = [["1"] * wide for _ in range(whole)] + [["1"] * k + ["0.5"] + ["1"] * (wide - k - 1) for k in range(1, wide)]
    rows += [["true"] + ["1"] * (wide - 1), ["2"] + ["NA"] * (wide - 1)]
    names = [f"p_{k}" for k in range(wide)]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    through = text_files.Text._passed_through

    def counted(self: text_files.Text, columns: Any) -> Any:
        passed.append(1)
        return through(self, columns)

    monkeypatch.setattr(text_files.Text, "_passed_through", counted)
    (file,) = files.discover(str(tmp_path / "a.csv"))
    found = replace(text_files.Text.of(file), block=1 << 9).settled()
    assert [str(found.types[name]) for name in names] == ["string"] + ["double"] * (wide - 1)
    assert len(passed) < 6


def test_values_that_do_not_go_with_those_of_other_files_are_named(tmp_path: Path) -> None:
    kept = {"y": ["a", "b"], "m": ["a", "b"]}
    parquet.write_table(pa.table({**kept, "g": [2**60 + 1, 2**60 + 3]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({**kept, "g": [1.0, 2.0]}), tmp_path / "2.parquet")
    options: dict[str, Any] = {"truth": "y", "assigned": "m", "group": "g", "measures": ["error"]}
    with pytest.raises(UnreadableFile, match=r"1\.parquet', column 'g': int64 cannot be read as double"):
        sy.assess(tmp_path, **options)
    with warnings.catch_warnings(action="ignore"):
        assert sy.assess(tmp_path, on_error="skip", **options).n == 2


def test_parts_by_several_columns_have_the_order_of_rows_in_memory_whatever_files_hold(tmp_path: Path) -> None:
    """Numbers came in the order of their text where files had other parts than others: 10, 100, 9."""
    doses = [10, 9, 100, 7, -8, 1000]
    lines = [f"{row % 2},{row % 3 == 0:d},{dose},b" for row, dose in enumerate(doses * 2)]
    for name, some in (("1", lines[:3] + lines[6:9]), ("2", lines[3:6] + lines[9:]), ("3", lines[:1] + lines[5:6])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["truth,said,dose,arm", *some]) + "\n")
    found = sy.assess(str(tmp_path), truth="truth", assigned="said", by=["dose", "arm"], measures=["error"])
    assert list(found.slices) == [f"dose={dose}, arm=b" for dose in (-8, 7, 9, 10, 100, 1000)]

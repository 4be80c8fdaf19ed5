"""Weak points of files: rows that were lost or counted though they do not count, and reads that never ended."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import platform
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, fs, parquet

import steelyard as sy
from steelyard.cli import main
from steelyard.cli.messages import as_typed
from steelyard.core.errors import ChangedInput, LostWorker, SteelyardError, UnreadableFile
from steelyard.data import formats, paths, sources
from steelyard.data.engines import dask as dask_engine
from steelyard.data.streams import Files
from steelyard.modelling.fits import workers_kept

from .amount import cases

ROWS = pa.table(
    {
        "ill": ["yes", "no", "yes", "no"],
        "model": ["yes", "no", "no", "no"],
        "score": [0.9, 0.1, 0.3, 0.2],
    }
)
LABELS = {"truth": "ill", "assigned": "model", "event": "yes"}
SCORES = {"truth": "ill", "membership": "score", "event": "yes"}
WORDS = ["--truth", "ill", "--assigned", "model", "--event", "yes"]
FORMATS = ("csv", "parquet", "arrow")
# In memory, summed while it is read, and by an engine: all must tell the same.
WAYS: dict[str, dict[str, Any]] = {
    "held": {**SCORES, "measures": ["auc"]},
    "summed": {**LABELS, "measures": ["error"]},
    "engine": {**LABELS, "engine": "local"},
}
far_or_near = pytest.mark.parametrize("far", [False, True])
each_way = pytest.mark.parametrize("way", WAYS)
each_format = pytest.mark.parametrize("ending", FORMATS)


def write(path: Path | str, table: Any = ROWS) -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix == ".csv":
        csv.write_csv(table, place)
    elif place.suffix == ".arrow":
        feather.write_feather(table, str(place), compression="uncompressed", chunksize=2)
    else:
        parquet.write_table(table, place, row_group_size=2)
    return place


def assess(name: Any, way: str = "summed", **others: Any) -> Any:
    return sy.assess(name, **{**WAYS[way], **others})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(here: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store that holds what lies in this folder."""
    inside = fs.SubTreeFileSystem(str(here), fs.LocalFileSystem())
    monkeypatch.setattr(paths, "file_system", lambda uri: (inside, uri.partition("://")[2].partition("?")[0]))
    return "far://"


# --- 6: tables of Delta, Iceberg and Hudi ------------------------------------------------------------------------


def delta(root: str, part: str) -> None:
    write(f"{root}/{part}a.parquet")
    write(f"{root}/{part}b.parquet")
    log = Path(root, "_delta_log")
    log.mkdir()
    (log / "00000000000000000000.json").write_text("{}")


def iceberg(root: str, part: str) -> None:
    write(f"{root}/data/{part}a.parquet")
    write(f"{root}/data/{part}b.parquet")
    Path(root, "metadata").mkdir()
    Path(root, "metadata", "v1.metadata.json").write_text("{}")


def iceberg_of_a_catalogue(root: str, part: str) -> None:
    write(f"{root}/{part}a.parquet")
    Path(root, "metadata").mkdir()
    Path(root, "metadata", "00002-9c12d441-03fe-4693-9a96-a0705ddf69c1.gz.metadata.json").write_text("{}")


def hudi(root: str, part: str) -> None:
    write(f"{root}/{part}f1_1.parquet")
    write(f"{root}/{part}f1_2.parquet")
    Path(root, ".hoodie").mkdir()
    Path(root, ".hoodie", "hoodie.properties").write_text("")


KINDS: Mapping[str, Callable[[str, str], None]] = {
    "Delta": delta,
    "Iceberg": iceberg,
    "Iceberg ": iceberg_of_a_catalogue,
    "Hudi": hudi,
}


@pytest.mark.parametrize(("kind", "part"), [*product(KINDS, ("", "year=2024/", "a=1/b=2/"))])
@far_or_near
def test_weak_point_6_tables_are_refused_however_they_are_named(
    here: Path, kind: str, part: str, far: bool, request: pytest.FixtureRequest
) -> None:
    KINDS[kind]("lake/t", part)
    write("lake/plain/x.parquet")
    inside = next(Path("lake/t").rglob("*a.parquet" if kind != "Hudi" else "*_1.parquet"))
    names = ["lake", "lake/t", "lake/**/*.parquet", "lake/t/**/*.parquet", str(inside), str(inside.parent)]
    names += [f"{inside.parent}/*.parquet"]
    prefix = request.getfixturevalue("store") if far else ""
    for name, way in [*((name, "summed") for name in names), ("lake", "held"), ("lake", "engine")]:
        with pytest.raises(UnreadableFile, match=rf"an? {kind.strip()} table") as caught:
            assess(f"{prefix}{name}", way)
        assert "Read the table" in str(caught.value)
    assert assess(f"{prefix}lake/plain").n == 4
    if not far:
        with pytest.raises(UnreadableFile, match=f"{kind.strip()} table"):
            assess((here / "lake").as_uri())
        with pytest.raises(UnreadableFile, match=f"{kind.strip()} table"):
            assess(f"{here.as_uri()}/lake/t/**/*.parquet")


def test_weak_point_6_links_into_a_table_and_a_table_that_one_stands_in(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delta("t", "")
    Path("links").mkdir()
    Path("links/x.parquet").symlink_to("../t/a.parquet")
    Path("whole").symlink_to("t")
    for name in ("links", "links/x.parquet", "links/*.parquet", "whole", "whole/*.parquet", "whole/a.parquet"):
        with pytest.raises(UnreadableFile, match="Delta table"):
            assess(name)
    monkeypatch.chdir(here / "t")
    for name in (".", "*.parquet", "a.parquet", "./a.parquet"):
        with pytest.raises(UnreadableFile, match="Delta table"):
            assess(name)


def test_weak_point_6_what_only_looks_like_a_table_is_read(here: Path) -> None:
    write("a/part.parquet")
    Path("a/metadata").mkdir()
    Path("a/metadata/readme.json").write_text("{}")
    write("b/part.parquet")
    Path("b/_delta_log").write_text("a file, and no log")
    write("c/x.csv")
    Path("c/_delta_log").mkdir()
    assert assess("a").n == assess("a/part.parquet").n == assess("b").n == 4
    assert assess("c/x.csv").n == 4  # no table holds text: it was put there by somebody, and is named by itself
    with pytest.raises(UnreadableFile, match="Delta table"):
        assess("c")


@pytest.mark.parametrize(
    "words",
    [["assess", "dt", *WORDS], ["tally", "dt/*.parquet", *WORDS, "--out", "t.tally"], ["compare", "dt", *WORDS[:2],
     "--model", "model", "--event", "yes"], ["cv", "dt", "--target", "ill", "--models", "lda"]],
)  # fmt: skip
def test_weak_point_6_commands_refuse_tables(here: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    delta("dt", "")
    assert main(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "Delta table" in said
    assert "pyarrow.parquet.write_table(deltalake.DeltaTable(" in said


def test_a_hint_for_tables_is_one_that_can_be_typed() -> None:
    found = as_typed("Read the table, and give assess the frame: deltalake.DeltaTable('x').to_pyarrow_table()")
    assert found.endswith("pyarrow.parquet.write_table(deltalake.DeltaTable('x').to_pyarrow_table(), 'rows.parquet')")


# --- 10: folders that cannot be read -----------------------------------------------------------------------------


@pytest.fixture
def locked(here: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder in a folder that the system does not let us read, also where root runs the tests."""
    write("d/a.csv")
    write("d/sub/b.csv")
    write("d/sub/deep/c.csv")
    scandir, listdir = os.scandir, os.listdir

    def refusing(real: Callable[[Any], Any]) -> Callable[..., Any]:
        def look(path: Any = ".") -> Any:
            if Path(path).name == "sub":
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return real(path)

        return look

    monkeypatch.setattr(os, "scandir", refusing(scandir))
    monkeypatch.setattr(os, "listdir", refusing(listdir))
    return "d"


@each_way
@pytest.mark.parametrize("name", ["d", "d/**/*.csv", "d/*/*.csv", "./d", "**/*.csv"])
def test_weak_point_10_unreadable_folders_are_errors(locked: str, name: str, way: str) -> None:
    with pytest.raises(UnreadableFile, match=r"sub.*Permission denied"):
        assess(name, way)


@pytest.mark.parametrize("name", ["d", "d/**/*.csv"])
def test_weak_point_10_unreadable_folders_are_named_where_they_are_skipped(locked: str, name: str) -> None:
    result = assess(name, on_error="skip")
    assert result.n == 4
    assert any("left out" in note and "sub" in note for note in result.notes)


def test_weak_point_10_a_pattern_that_cannot_match_in_a_folder_does_not_mind_it(locked: str) -> None:
    write("d/also/b.csv")
    assert assess("d/*.csv").n == assess("d/a*/**/*.csv").n == assess("d/a*/*.csv").n == 4


def test_weak_point_10_tally_and_merge(locked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tally", "d", *WORDS, "--out", "t.tally"]) == 2
    assert not Path("t.tally").exists()
    assert main(["tally", "d", *WORDS, "--out", "t.tally", "--bad-files", "skip"]) == 0
    assert "sub" in capsys.readouterr().out
    assert any("sub" in why for why in sy.Tally.load("t.tally").left_out)
    assert main(["tally", "d", *WORDS, "--out", "s", "--each", "--bad-files", "skip"]) == 0
    assert "sub" in capsys.readouterr().out
    Path("t.tally").rename("d/t.tally")
    for name in ("d", "d/**/*.tally", "d/*/*.tally"):
        assert main(["merge", name, "--measures", "error"]) == 2
        assert "Permission denied" in capsys.readouterr().err
    assert main(["merge", "d", "--measures", "error", "--bad-files", "skip"]) == 0
    assert "sub" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="Permissions of this kind are those of Unix")
def test_weak_point_10_permissions_of_the_system(here: Path) -> None:
    write("d/a.csv")
    write("d/sub/b.csv")
    Path("d/sub").chmod(0)
    drop = "-dac_override,-dac_read_search"
    bounded = ["setpriv", "--bounding-set", drop, "--inh-caps", drop] if os.getuid() == 0 else []
    code = """
import steelyard as sy
from steelyard.core.errors import UnreadableFile
for name in ("d", "d/**/*.csv", "d/*/b.csv", "d/*/*.csv", "d/sub/*.csv", "d/sub", "d/sub/b.csv"):
    try:
        print(sy.assess(name, truth="ill", assigned="model").n)
    except UnreadableFile as error:
        print("Permission denied" in str(error))
"""
    try:
        done = subprocess.run([*bounded, sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError:
        pytest.skip("setpriv is not here")
    finally:
        Path("d/sub").chmod(stat.S_IRWXU)
    assert done.stdout.split() == ["True"] * 7, done.stderr


def test_globbing_finds_what_glob_finds(here: Path) -> None:
    import glob

    for name in ("a/1.csv", "a/b/2.csv", "a/.h/3.csv", "a/_u.csv", ".x/4.csv", "k=1/5.csv", "a/[z].csv", "a/.y.csv"):
        write(name)
    patterns: tuple[str, ...] = (
        "*",
        "a/*",
        "*/*.csv",
        "a/*/*.csv",
        "?/1.csv",
        "a/[0-9].csv",
        "a/[[]z].csv",
        ".x/*",
        "a/.*",
        "a/1.csv",
    )
    patterns += ("k=*/*.csv", "nothing/*", "a/1.csv/*", f"{here}/a/*.csv", "a/b/../*.csv", "[ak]*/*", "a/.h/*.csv")
    for pattern in patterns:
        assert sorted(paths.globbed(pattern)) == sorted(glob.glob(pattern)), pattern  # noqa: PTH207
    for pattern in ("**/*.csv", "a/**/*.csv", "**/b/*.csv", "*/**/2.csv", f"{here}/**/1.csv"):
        found = [path for path in glob.glob(pattern, recursive=True) if Path(path).is_file()]  # noqa: PTH207
        assert sorted(paths.globbed(pattern)) == sorted(found), pattern


# --- 12, 32: what is passed over ---------------------------------------------------------------------------------

OTHERS = ("day2.csv.gzip", "day4.csv.zip", "x.bak", "part-00000", "x.xlsx", "x.json", "notes.md")


@pytest.fixture
def mixed(here: Path) -> Path:
    """A folder in which most is no file that can be read."""
    data = write("m/day1.csv").read_bytes()
    for name in OTHERS:
        Path("m", name).write_bytes(data)
    os.mkfifo("m/p.csv")
    Path("m/l.csv").symlink_to("nowhere.csv")
    Path("m/round.csv").symlink_to("round.csv")
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as one:
        one.bind("m/s.csv")
    return here


def passed(notes: Any) -> str:
    return " ".join(note for note in notes if note.startswith("not read"))


@each_way
def test_weak_point_12_what_a_folder_holds_besides_is_named(mixed: Path, way: str) -> None:
    result = assess("m", way)
    assert result.n == 4
    said = passed(result.notes)
    for name in (*OTHERS, "p.csv", "l.csv", "round.csv", "s.csv"):
        assert f"'{name}'" in said
    assert "because of the ending: 7 files" in said


@each_way
def test_weak_point_12_hidden_files_and_endings_in_capitals(here: Path, way: str) -> None:
    write("m/a.csv")
    Path("m/b.CSV").write_bytes(Path("m/a.csv").read_bytes())
    write("m/c.pq" if way != "held" else "m/c.parquet")
    write("m/d.parq")
    for name in ("_SUCCESS", ".a.csv.crc", "_temporary.csv"):
        Path("m", name).write_text("no rows")
    result = assess("m", way)
    assert result.n == 16
    assert passed(result.notes) == ""


@each_format
def test_weak_point_12_folders_that_a_pattern_stands_for(here: Path, ending: str) -> None:
    write(f"f/a.{ending}")
    write(f"f/z.{ending}/part-0.{ending}")
    assert assess("f").n == 8
    for way in WAYS:
        result = assess(f"f/*.{ending}", way)
        assert result.n == 4
        assert f"1 folder ('z.{ending}')" in passed(result.notes)
    deep = assess(f"f/**/*.{ending}")
    assert (deep.n, passed(deep.notes)) == (8, "")
    with pytest.raises(UnreadableFile, match="stands for folders"):
        assess(f"f/z.*{ending}")


def test_weak_point_12_patterns_name_links_and_pipes(mixed: Path) -> None:
    for way in WAYS:
        said = passed(assess("m/*.csv", way).notes)
        for name in ("p.csv", "l.csv", "round.csv", "s.csv"):
            assert f"'{name}'" in said
    for name in ("m/l*.csv", "m/l.csv", "m/p*.csv", "m/p.csv"):
        with pytest.raises(UnreadableFile):
            assess(name)


def test_weak_point_12_many_are_counted_and_few_are_named(here: Path) -> None:
    write("m/a.csv")
    for number in range(250):
        Path(f"m/x{number:03}.bak").write_text("")
    said = passed(assess("m").notes)
    assert "250 files ('x000.bak', " in said
    assert "and 240 more)" in said


def test_weak_point_12_a_file_that_is_read_by_another_name_is_not_passed_over(here: Path) -> None:
    write("f/z.csv/a.csv")
    write("f/b.csv")
    found = Files.of(["f", "f/*.csv"])
    assert len(found.files) == 2
    assert [one.path for one in found.passed] == []


@far_or_near
def test_weak_point_12_in_stores(mixed: Path, far: bool, request: pytest.FixtureRequest) -> None:
    prefix = request.getfixturevalue("store") if far else f"{mixed.as_uri()}/"
    said = passed(assess(f"{prefix}m").notes)
    assert all(f"'{name}'" in said for name in OTHERS)
    write("f/z.csv/a.csv")
    write("f/b.csv")
    assert "1 folder ('z.csv')" in passed(assess(f"{prefix}f/*.csv").notes)


def test_weak_point_12_in_tallies(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("m/day9.csv")
    assert main(["tally", "m", *WORDS, "--out", "t.tally"]) == 0
    assert "'x.bak'" in capsys.readouterr().out
    assert "'x.bak'" in passed(sy.assess_tally(sy.Tally.load("t.tally")).notes)
    assert main(["tally", "m", *WORDS, "--each", "--out", "s", "--json", "s.json"]) == 0
    assert "'x.bak'" in capsys.readouterr().out
    assert "x.bak" in Path("s.json").read_text()
    assert main(["merge", "s", "--measures", "error", "--json", "all.json"]) == 0
    notes = json.loads(Path("all.json").read_text())["notes"]
    assert "because of the ending: 7 files" in passed(notes)  # once, though there are two tallies


@pytest.mark.parametrize(
    "words",
    [
        ["assess", "m", *WORDS],
        ["compare", "m", "--truth", "ill", "--model", "model", "--event", "yes"],
        ["thresholds", "m", "--truth", "ill", "--score", "score", "--event", "yes"],
        ["calibration", "m", "--truth", "ill", "--membership", "score", "--event", "yes"],
    ],
)
def test_weak_point_12_every_command_names_them(
    mixed: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--json", "r.json"]) == 0
    told = capsys.readouterr()
    assert "x.bak" in told.out + told.err
    assert "x.bak" in passed(json.loads(Path("r.json").read_text())["notes"])


def test_weak_point_12_a_table_and_cross_validation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    write("d/x.csv", pa.table({"y": ["a", "b"] * 20, "x": rng.normal(size=40), "z": rng.normal(size=40)}))
    Path("d/more.xlsx").write_text("")
    assert main(["cv", "d", "--target", "y", "--models", "lda", "--folds", "4"]) == 0
    assert "'more.xlsx'" in capsys.readouterr().out
    write("t/t.csv", pa.table({"true": ["a", "b"], "a": [3, 1], "b": [1, 3]}))
    Path("t/more.xlsx").write_text("")
    assert main(["table", "t"]) == 0
    assert "'more.xlsx'" in capsys.readouterr().out


def test_weak_point_32_pipes_among_tallies(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("a.csv")
    Path("s").mkdir()
    assert main(["tally", "a.csv", *WORDS, "--out", "s/a.tally"]) == 0
    os.mkfifo("s/p.tally")
    Path("s/l.tally").symlink_to("nowhere")
    Path("s/b.tally.gz").write_text("")
    capsys.readouterr()
    for name in ("s", "s/*.tally", "s/**/*.tally"):
        assert main(["merge", name, "--measures", "error", "--json", "r.json"]) == 0
        said = passed(json.loads(Path("r.json").read_text())["notes"])
        assert "'p.tally'" in said
        assert "'l.tally'" in said
        assert ("'b.tally.gz'" in said) == (name == "s")
    assert main(["merge", "s/p.tally"]) == 2
    assert "pipes and devices are not read" in capsys.readouterr().err


# --- 11: files that change while they are read -------------------------------------------------------------------


def longer(rows: int) -> Any:
    rng = np.random.default_rng(rows)
    truth = np.where(rng.random(rows) < 0.5, "yes", "no")
    return pa.table({"ill": truth, "model": truth, "score": rng.random(rows)})


def half(path: Path) -> None:
    write(path, longer(200))


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def replaced(path: Path) -> None:
    """Another file of the same length and time takes the place."""
    before = path.stat()
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b"yes", b"no "))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def same_length(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data)
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1_000_000))


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(path.read_bytes()[-20:])


CHANGES = (half, cut, replaced, same_length, grown, Path.unlink)


@each_format
@pytest.mark.parametrize(("change", "way"), [*product(CHANGES, WAYS)])
def test_weak_point_11_a_file_that_changed_since_it_was_found(
    here: Path, ending: str, change: Callable[[Path], Any], way: str
) -> None:
    path = write(f"a.{ending}", longer(400))
    found = sources.opened(f"a.{ending}")
    assert assess(found, way).n == 400
    change(path)
    with pytest.raises(ChangedInput, match=rf"a\.{ending}"):
        assess(found, way)


@each_format
@pytest.mark.parametrize("change", [half, cut, replaced, same_length])
@pytest.mark.parametrize("form", ["folder", "pattern", "hive"])
def test_weak_point_11_between_two_batches(
    here: Path, ending: str, change: Callable[[Path], Any], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "BATCH_ROWS", 64)
    place = write(f"d/k=2/a.{ending}" if form == "hive" else f"d/a.{ending}", longer(400))
    name = f"d/**/*.{ending}" if form == "pattern" else "d"
    (file,) = Files.of(name).files
    schema = pa.schema([("ill", pa.string()), ("score", pa.float64())])
    rows = formats.batches_of(file, ["ill", "score"], schema)
    next(rows)
    change(place)
    with pytest.raises(ChangedInput):
        list(rows)


@each_format
def test_weak_point_11_a_second_pass_sees_what_the_first_has_seen(here: Path, ending: str) -> None:
    path = write(f"a.{ending}", longer(400))
    models = {"model": "model", "other": "score"}
    result = sy.compare(f"a.{ending}", models, truth="ill", event="yes", measures=["error"])
    half(path)
    with pytest.raises(ChangedInput):
        result.deciding_rows("error", "model", "other")


def test_weak_point_11_one_of_many_may_be_skipped(here: Path) -> None:
    write("d/a.csv", longer(400))
    changed = write("d/b.csv", longer(300))
    found = sources.opened("d")
    half(changed)
    with pytest.raises(ChangedInput):
        assess(found)
    result = assess(found, on_error="skip")
    assert result.n == 400
    assert any("b.csv" in note for note in result.notes)


def test_weak_point_11_files_of_stores(here: Path, store: str) -> None:
    path = write("b/a.csv", longer(400))
    found = sources.opened(f"{store}b/a.csv")
    assert assess(found).n == 400
    half(path)
    with pytest.raises(ChangedInput):
        assess(found)


def test_weak_point_11_on_another_machine_only_the_length_counts(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.csv", longer(400))
    (file,) = Files.of("a.csv").files
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    same_length(path)
    file.refuse_changed()
    half(path)
    with pytest.raises(ChangedInput, match="bytes"):
        file.refuse_changed()


def test_weak_point_11_an_arrow_file_that_is_cut_does_not_end_the_process(here: Path) -> None:
    code = """
import os, sys
import pyarrow as pa
from steelyard.data import sources
from steelyard.core.errors import SteelyardError
table = pa.table({"x": [float(i) for i in range(1 << 16)]})
with pa.ipc.new_file("a.arrow", table.schema) as writer:
    for _ in range(64):
        writer.write_table(table)
rows = sources.opened("a.arrow").batches(["x"])
next(rows)
os.truncate("a.arrow", 4096)
try:
    print(sum(float(batch.table["x"].to_numpy().sum()) for batch in rows))
except SteelyardError as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout) == (0, "ChangedInput\n")


# --- 31: encrypted Parquet ---------------------------------------------------------------------------------------


def encrypt(path: str, columns: list[str], plain_footer: bool) -> None:
    from pyarrow.parquet import encryption

    class Keys(encryption.KmsClient):  # type: ignore[misc]
        def __init__(self, _: Any) -> None:
            encryption.KmsClient.__init__(self)

        def wrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64encode(key)

        def unwrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64decode(key)

    config = encryption.EncryptionConfiguration(
        footer_key="f", column_keys={"c": columns}, plaintext_footer=plain_footer
    )
    factory = encryption.CryptoFactory(Keys)
    how = factory.file_encryption_properties(encryption.KmsConnectionConfig(), config)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with parquet.ParquetWriter(path, ROWS.schema, encryption_properties=how) as writer:
        for _ in range(3):
            writer.write_table(ROWS)


def test_weak_point_31_encrypted_columns_are_an_error(here: Path) -> None:
    every = [*product((["score"], ["ill", "model"], ["ill", "model", "score"]), (True, False))]
    for number, (columns, plain_footer) in enumerate(every):
        encrypt(f"{number}/k=1/e.parquet", columns, plain_footer)
    code = f"""
import steelyard as sy
from steelyard.core.errors import UnreadableFile
from steelyard.data import sources
import itertools
ways = {[*WAYS.values()]!r}
ways += [{{**ways[1], "where": "score > 0.2"}}, {{**ways[1], "where": "k == 1 and score > 0.2"}}]
for folder in map(str, range({len(every)})):
    for name, way in itertools.product([folder, folder + "/**/*.parquet", folder + "/k=1/e.parquet"], ways):
        try:
            print(sy.assess(name, **way))
        except UnreadableFile as error:
            print("encrypted" in str(error))
    try:
        sources.read(folder)
    except UnreadableFile as error:
        print("encrypted" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"True"}
    assert len(done.stdout.split()) == 16 * len(every)


def test_weak_point_31_what_is_not_encrypted_is_read(here: Path) -> None:
    for codec in ("none", "snappy", "zstd"):
        parquet.write_table(ROWS, "a.parquet", compression=codec)
        assert assess("a.parquet").n == 4
    parquet.write_table(ROWS.slice(0, 0), "b.parquet")
    parquet.write_table(ROWS, "a.parquet", version="1.0", write_statistics=False, store_schema=False)
    assert assess("a.parquet").n == 4


# --- 38: workers that are lost -----------------------------------------------------------------------------------


class Silent:
    """A cluster without workers: it takes work, and never does any."""

    def __init__(self, answers: Iterator[BaseException | None]) -> None:
        self.answers = answers

    def sync(self, ask: Callable[[Any], Any], workers: Callable[[], int], callback_timeout: float) -> int:
        return workers()

    def exception(self, seconds: float | None = None) -> BaseException | None:
        found = next(self.answers)
        if isinstance(found, TimeoutError):
            raise found
        return found


def test_weak_point_38_workers_that_stay_away_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 10))
    monkeypatch.setattr(dask_engine, "monotonic", lambda: next(clock))
    silent = Silent(iter([TimeoutError()] * 1000))
    with pytest.raises(LostWorker, match="has lost all its workers"):
        dask_engine.Dask(silent, lambda: 0)._fault(silent)
    patient = Silent(iter([*[TimeoutError()] * 1000, None]))
    assert dask_engine.Dask(patient, lambda: 2)._fault(patient) is None  # they work for long


def test_weak_point_38_too_little_memory_is_an_error_at_once(here: Path) -> None:
    pytest.importorskip("distributed")
    resource = pytest.importorskip("resource")
    write("a.csv")
    code = "import sys; from steelyard.cli import main; sys.exit(main(sys.argv[1:]))"
    for kilobytes in (1_000_000, 1_500_000)[: cases(2)]:
        size = kilobytes * 1024
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code, "assess", "a.csv", *WORDS, "--measures", "error", "--engine", "dask"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},  # each takes its addresses
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (size, size)),
        )
        assert done.returncode in (2, 3)
        assert "each worker of Dask needs" in done.stderr or "not enough memory" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") <= 3


def test_weak_point_38_a_start_that_fails_or_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    class Failing:
        @staticmethod
        def LocalCluster(**_: Any) -> None:  # noqa: N802
            raise RuntimeError("Nanny failed to start.")

    class Hanging:
        @staticmethod
        def LocalCluster(**_: Any) -> None:  # noqa: N802
            Event().wait()

    monkeypatch.setattr(dask_engine, "SLOW_START", 0.05)
    with pytest.raises(LostWorker, match="Nanny failed"), dask_engine._cluster_here(Failing):
        pass
    with pytest.raises(LostWorker, match="not within"), dask_engine._cluster_here(Hanging):
        pass


def die(_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_weak_point_38_work_that_kills_its_workers_is_an_error() -> None:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(LostWorker, match="lost its workers") as caught,
    ):
        dask_engine.Dask(client).fold(die, [1])
    assert caught.value.exit_code == 3


def test_lost_workers_have_an_exit_status_of_their_own() -> None:
    assert (LostWorker.exit_code, SteelyardError.exit_code, UnreadableFile.exit_code) == (3, 2, 2)


def test_a_process_of_cross_validation_that_ends_is_an_error() -> None:
    with pytest.raises(LostWorker, match="has ended"), workers_kept():
        raise BrokenProcessPool("a process was terminated abruptly")


# --- 40: keys of folders -----------------------------------------------------------------------------------------


def keyed(values: list[Any]) -> Any:
    return ROWS.append_column("t", pa.array(values))


@each_format
@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("x", ["y"] * 4),
        ("x", ["x", "x", "x", "y"]),
        ("x", ["x", None, "x", "x"]),
        ("2024", [2023] * 4),
        ("2024", [2024, 2024, 2024, 2025]),
        ("x", [1, 1, 1, 1]),
        ("__HIVE_DEFAULT_PARTITION__", ["x"] * 4),
        ("true", [True, False, True, True]),
    ],
)
def test_weak_point_40_keys_that_contradict_the_file(here: Path, ending: str, key: str, values: list[Any]) -> None:
    write(f"d/t={key}/a.{ending}", keyed(values))
    uses: list[dict[str, Any]] = [{"by": "t"}, {"group": "t"}, {"where": "t is not null or t is null"}]
    for way, used in product(WAYS, uses):
        with pytest.raises(UnreadableFile, match="the folder is called") as caught:
            assess("d", way, **used)
        assert caught.value.column == "t"
        assert f"t={key}" in str(caught.value)
    assert assess("d").n == 4  # nobody asks for the column


@each_format
@pytest.mark.parametrize(
    ("key", "values"), [("x", ["x"] * 4), ("2024", [2024] * 4), ("01", [1] * 4), ("true", [True] * 4)]
)
def test_weak_point_40_keys_that_agree_with_the_file(here: Path, ending: str, key: str, values: list[Any]) -> None:
    # In text files, 1 and 01 are two labels.
    write(f"d/t={key}/a.{ending}", keyed([key] * 4 if key == "01" and ending == "csv" else values))
    for way in WAYS:
        assert assess("d", way, by="t").n == 4


@each_format
@far_or_near
def test_weak_point_40_a_key_given_twice(here: Path, ending: str, far: bool, request: pytest.FixtureRequest) -> None:
    write(f"d/t=x/t=y/a.{ending}")
    prefix = request.getfixturevalue("store") if far else ""
    for name in (
        f"{prefix}d",
        f"{prefix}d/**/*",
        f"{prefix}d/t=x/t=y/a.{ending}",
        *([] if far else [f"{here.as_uri()}/d"]),
    ):
        with pytest.raises(UnreadableFile, match="t=x and t=y"):
            assess(name)
    write(f"e/t=x/t=x/a.{ending}")
    assert assess("e", by="t").n == 4

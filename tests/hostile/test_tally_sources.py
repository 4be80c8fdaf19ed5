"""Tallies know where their rows come from and how they were read: no row counts twice, no two readings are mixed."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import OverlappingTallies, UnlikeTallies
from steelyard.passes.merging import tally_paths

PLAIN = ["--truth", "ill", "--assigned", "model", "--event", "yes"]
ROWS = "ill,model,score\nyes,yes,.9\nno,no,.1\nyes,no,.3\nno,no,.2\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(list(words))
    printed = capsys.readouterr()
    return status, " ".join((printed.out + printed.err).split())


def write(path: str, rows: str = ROWS) -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(rows)
    return place


def rows_of(seed: int, rows: int = 80) -> str:
    """A table with two truths, two scores, parts, weights, clusters and a gap-free rest."""
    dice = random.Random(seed)  # noqa: S311
    lines = ["y,y2,p,q,a,b,w,v,g"]
    for row in range(rows):
        truth = dice.random() < 0.5
        score = min(max(0.3 * truth + 0.7 * dice.random(), 0), 1)
        words = [("no", "yes")[truth], dice.choice(["no", "yes"]), f"{score:.4f}", f"{dice.random():.4f}"]
        lines.append(
            ",".join([*words, "xz"[row % 2], "xz"[row % 3 > 0], str(row % 3 + 1), f"{row % 3}.5", str(row % 7)])
        )
    return "\n".join(lines) + "\n"


def merged_rows(capsys: pytest.CaptureFixture[str], *names: str) -> int:
    status, told = run(capsys, "merge", *names, "--measures", "error")
    assert status == 0, told
    return int(told.split("prediction: ")[1].split(" row")[0])


# --- 1 and 2: names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folders", [["mon", "tue"], ["mon/am", "tue"], ["2024/01", "2024/02", "2025/01"]])
def test_weak_point_1_a_name_does_not_depend_on_what_else_is_there(
    capsys: pytest.CaptureFixture[str], folders: list[str]
) -> None:
    rows = 0
    for place, folder in enumerate(folders):
        write(f"e/{folder}/a.csv", ROWS + f"no,yes,.{place + 1}\n" * (place + 1))
        rows += 4 + place + 1
        assert run(capsys, "tally", "e", *PLAIN, "--each", "--out", "s", "--resume")[0] == 0
    assert merged_rows(capsys, "s") == rows
    before = sorted(path.name for path in Path("s").iterdir())
    for names in (["e"], ["e/**/*.csv"], [str(Path("e").resolve())], [f"file://{Path('e').resolve()}"]):
        status, told = run(capsys, "tally", *names, *PLAIN, "--each", "--out", "s", "--resume")
        assert (status, f"{len(folders)} kept" in told) == (0, True)
        assert sorted(path.name for path in Path("s").iterdir()) == before


@pytest.mark.parametrize("how", ["..", "absolute", "both", "same name", "link"])
def test_weak_point_2_tallies_lie_below_the_folder_that_was_named(
    capsys: pytest.CaptureFixture[str], here: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    write("w/here.csv")
    write("x/b.csv", ROWS.replace(".9", ".8"))
    write("x/here.csv", ROWS.replace(".9", ".7"))
    (here / "w" / "l.csv").symlink_to(here / "x" / "b.csv")
    monkeypatch.chdir("w")
    names = {
        "..": ["here.csv", "../x/b.csv"],
        "absolute": [str(here / "w/here.csv"), str(here / "x/b.csv")],
        "both": ["here.csv", str(here / "x/b.csv")],
        "same name": ["here.csv", "../x/here.csv"],
        "link": ["here.csv", "l.csv"],
    }[how]
    assert run(capsys, "tally", *names, *PLAIN, "--each", "--out", "s")[0] == 0
    assert len(list(Path("s").iterdir())) == 2
    assert {path.parent.resolve() for path in here.rglob("*.tally")} == {here / "w" / "s"}
    assert merged_rows(capsys, "s") == 8


def test_weak_point_2_long_and_odd_names_are_cut_and_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["ä" * 60 + ending for ending in ("a.csv", "b.csv")] + ["x" * 240 + ".csv", "a b:c?.csv"]
    for place, name in enumerate(names):
        write(f"d/{name}", ROWS.replace(".9", f".{place + 5}"))
    assert run(capsys, "tally", "d", *PLAIN, "--each", "--out", "s")[0] == 0
    made = [path.name for path in Path("s").iterdir()]
    assert len(made) == 4
    assert all(len(name.encode()) < 160 for name in made)
    assert merged_rows(capsys, "s") == 16


# --- 3: how rows were read --------------------------------------------------------------------------------------

UNLIKE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "threshold": ({"threshold": 0.3}, {"threshold": 0.7}),
    "one threshold": ({}, {"threshold": 0.7}),
    "chosen": ({"threshold": "best:f1"}, {"threshold": "best:f1"}),
    "weight": ({}, {"weight": "w"}),
    "other weight": ({"weight": "w"}, {"weight": "v"}),
    "score": ({}, {"membership": "q"}),
    "truth": ({}, {"truth": "y2"}),
    "by": ({"by": "a"}, {"by": "b"}),
    "group": ({}, {"group": "g"}),
    "missing": ({}, {"missing": "drop"}),
    "where": ({}, {"where": "q > 0.01"}),
    "cost": ({"cost": {"yes": {"no": 1}, "no": {"yes": 2}}}, {"cost": {"yes": {"no": 1}, "no": {"yes": 3}}}),
}
ENGINES = [{}, {"engine": "local"}]


def made(path: str, **options: Any) -> sy.Tally:
    return sy.assess(path, **{"truth": "y", "membership": "p", "event": "yes", **options}).tally


@pytest.mark.parametrize("what", UNLIKE)
def test_weak_point_3_unlike_readings_do_not_add_up(what: str) -> None:
    write("u.csv", rows_of(1))
    write("v.csv", rows_of(2))
    one, other = UNLIKE[what]
    for engine in ENGINES if what != "chosen" else ENGINES[:1]:
        first, second = made("u.csv", **one, **engine), made("v.csv", **other)
        for pair in ((first, second), (second, first)):
            with pytest.raises(UnlikeTallies, match="read differently"):
                pair[0] + pair[1]
            with pytest.raises(UnlikeTallies, match="read differently"):
                sy.merge(pair, allow_overlap=True)
        if what != "chosen":
            assert (first + made("v.csv", **one)).rows > 0


@pytest.mark.parametrize("threshold", ["0.3", "0.7"])
def test_weak_point_3_python_and_the_command_line_read_alike(
    capsys: pytest.CaptureFixture[str], threshold: str
) -> None:
    write("u.csv", rows_of(1))
    write("v.csv", rows_of(2))
    made("u.csv", threshold=0.3).save("u.tally")
    words = ["--truth", "y", "--membership", "p", "--event", "yes", "--threshold", threshold]
    assert run(capsys, "tally", "v.csv", *words, "--out", "v.tally")[0] == 0
    status, told = run(capsys, "merge", "u.tally", "v.tally", "--measures", "error")
    assert status == (0 if threshold == "0.3" else 2), told
    assert ("threshold is '0.3' and '0.7'" in told) == (threshold == "0.7")


def test_weak_point_3_columns_are_compared_where_both_name_them() -> None:
    write("u.csv", rows_of(1))
    frame = pd.read_csv(write("v.csv", rows_of(2)))
    arrays = sy.assess(frame.y, frame.p, event="yes").tally
    assert (made("u.csv") + arrays).rows == 160
    assert dict((made("u.csv") + arrays).reading)["truth"] == "y"
    with pytest.raises(UnlikeTallies, match=r"threshold is not given and '0\.3'"):
        made("u.csv") + sy.assess(frame.y, frame.p, event="yes", threshold=0.3).tally
    with pytest.raises(UnlikeTallies, match="weight is not given and 'given as an array'"):
        made("u.csv") + sy.assess(frame.y, frame.p, event="yes", weight=frame.w).tally
    with pytest.raises(UnlikeTallies, match="missing is"):
        arrays + sy.assess(frame.y[::-1], frame.p[::-1], event="yes", missing="drop").tally


# --- 4: what is kept on a folder --------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["older", "same time", "shrunk", "parquet"])
def test_weak_point_4_a_changed_file_is_counted_again(capsys: pytest.CaptureFixture[str], how: str) -> None:
    words = ["tally", "d", *PLAIN, "--each", "--out", "s", "--resume"]
    path = write("d/mon.parquet" if how == "parquet" else "d/mon.csv")
    other = ROWS.replace("yes,yes", "yes,no")
    if how == "parquet":
        parquet.write_table(csv.read_csv(pa.BufferReader(ROWS.encode())), path)
    assert "1 tally made" in run(capsys, *words)[1]
    known = path.stat()
    if how == "parquet":
        parquet.write_table(csv.read_csv(pa.BufferReader(other.encode())), path)
    else:
        path.write_text({"older": other + "no,no,.4\n", "same time": ROWS.replace(".9", ".8")}.get(how, other[:-9]))
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns if how in ("same time", "parquet") else 10**18))
    assert how == "parquet" or (path.stat().st_size == known.st_size) == (how == "same time")
    assert "1 tally made" in run(capsys, *words)[1]
    assert "1 kept" in run(capsys, *words)[1]


def test_weak_point_4_a_file_that_was_only_touched_by_the_system_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tally", "d", *PLAIN, "--each", "--out", "s", "--resume"]
    path = write("d/mon.csv")
    parquet.write_table(csv.read_csv(path), "d/tue.parquet")
    assert "2 tallies made" in run(capsys, *words)[1]
    for name in ("d/mon.csv", "d/tue.parquet"):
        shutil.copy2(name, "copy")
        Path("copy").replace(name)  # the same bytes and times, and another inode
    assert "2 kept" in run(capsys, *words)[1]


@pytest.mark.parametrize("how", ["deleted", "renamed", "folder deleted", "folder renamed", "spoilt"])
@pytest.mark.parametrize("named", ["d", "d/**/*.csv"])
@pytest.mark.parametrize("resume", [True, False])
def test_weak_point_4_tallies_of_files_that_are_gone_do_not_count(
    capsys: pytest.CaptureFixture[str], how: str, named: str, resume: bool
) -> None:
    words = ["tally", named, *PLAIN, "--each", "--out", "s", "--bad-files", "skip", *(["--resume"] if resume else [])]
    write("d/sub/mon.csv")
    write("d/tue.csv", ROWS.replace(".9", ".8"))
    assert "2 tallies made" in run(capsys, *words)[1]
    path = Path("d/sub/mon.csv")
    if how == "deleted":
        path.unlink()
    elif how == "renamed":
        path.rename("d/sub/neu.csv")
    elif how == "spoilt":
        path.write_text("ill,other\nyes,no\n")
    elif how == "folder deleted":
        shutil.rmtree("d/sub")
    else:
        Path("d/sub").rename("d/neu")
    status, told = run(capsys, *words)
    assert status == 0
    assert "is of a file that is gone or cannot be used, and is now" in told
    assert merged_rows(capsys, "s") == (8 if "renamed" in how else 4)


def test_weak_point_4_another_folder_is_another_source(capsys: pytest.CaptureFixture[str]) -> None:
    write("d/mon.csv")
    write("g/mon.csv", ROWS.replace(".9", ".8") + "no,no,.5\n")
    assert run(capsys, "tally", "d", *PLAIN, "--each", "--out", "s", "--resume")[0] == 0
    status, told = run(capsys, "tally", "g", *PLAIN, "--each", "--out", "s", "--resume")
    assert (status, "1 tally made of 5 rows, 0 kept" in told) == (0, True)
    assert "1 tally of other files is in the folder too" in told
    assert merged_rows(capsys, "s") == 9


# --- 5: the same rows twice -------------------------------------------------------------------------------------


def test_weak_point_5_the_same_source_is_merged_once(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.csv")
    write("o.csv", ROWS.replace(".9", ".7"))
    for out in ("m1", "m2"):
        assert run(capsys, "tally", "a.csv", *PLAIN, "--out", f"{out}.tally")[0] == 0
    status, told = run(capsys, "merge", "m1.tally", "m2.tally")
    assert (status, "'m1.tally' and 'm2.tally' both count 'a.csv' (4 rows)" in told) == (2, True)
    assert "--allow-overlap" in told
    status, told = run(capsys, "merge", "m1.tally", "m2.tally", "--allow-overlap", "--measures", "error")
    assert (status, "8 rows" in told, "'a.csv' (4 rows) counts 2 times" in told) == (0, True, True)
    Path("s").mkdir()
    shutil.copy("m1.tally", "s/m1.tally")
    assert run(capsys, "tally", "o.csv", *PLAIN, "--out", "s/o.tally")[0] == 0
    assert run(capsys, "merge", "s", "--out", "s/all.tally")[0] == 0
    status, told = run(capsys, "merge", "s")
    assert (status, "'s/all.tally' and 's/m1.tally' both count 'a.csv'" in told) == (2, True)
    status, told = run(capsys, "merge", "s/all.tally", "m1.tally")
    assert (status, "'s/all.tally' and 'm1.tally' both count 'a.csv'" in told) == (2, True)
    shutil.copy("s/m1.tally", "s/c.tally")
    Path("s/all.tally").unlink()
    assert run(capsys, "merge", "s")[0] == 2


@pytest.mark.parametrize("name", ["a_backup.csv", "a (1).csv", "a.csv.gz", "sub/a.csv"])
def test_weak_point_5_equal_content_under_two_names_is_told(capsys: pytest.CaptureFixture[str], name: str) -> None:
    for rows in (ROWS, rows_of(3).replace("y,y2,p,", "ill,model,score,")):
        shutil.rmtree("f", ignore_errors=True)
        write("f/a.csv", rows)
        copy = write(f"f/{name}", rows)
        if name.endswith(".gz"):
            copy.write_bytes(gzip.compress(rows.encode()))
        for more in ([], ["--engine", "local"]):
            status, told = run(capsys, "assess", "f", *PLAIN, *more)
            assert status == 0
            assert "have the same content" in told
        for place, path in enumerate((Path("f/a.csv"), copy)):
            assert run(capsys, "tally", str(path), *PLAIN, "--out", f"{place}.tally")[0] == 0
        status, told = run(capsys, "merge", "0.tally", "1.tally", "--measures", "error")
        # A few rows may be alike by chance; many are a copy.
        assert (status, "have the same content" in told) == (0 if rows == ROWS else 2, True)


@pytest.mark.parametrize("engine", ENGINES)
def test_weak_point_5_other_content_is_not_told(engine: dict[str, Any]) -> None:
    for place in range(6):
        write(f"f/{place}.csv", rows_of(place))
    assert not any("content" in note for note in made("f", **engine).words_on_input)
    total = sy.merge([made(f"f/{place}.csv", **engine) for place in range(6)])
    assert total.rows == 480
    assert not total.words_on_input


@pytest.mark.parametrize("kind", ["labels", "scores"])
def test_weak_point_5_days_that_are_alike_by_chance_add_up(kind: str) -> None:
    """Where nothing happens, one day is like the other."""
    said = ["no"] * 60 if kind == "labels" else [0.01] * 60
    days = [sy.assess(["no"] * 60, said, scale=sy.Scale(["no", "yes"], "yes")).tally for _ in range(5)]
    assert sy.merge(days).rows == 300
    for place in range(3):
        write(f"{place}.csv", "y,m\n" + "no,no\n" * 60)
    asked: dict[str, Any] = {"truth": "y", "assigned": "m", "scale": sy.Scale(["no", "yes"], "yes")}
    assert sy.merge([sy.assess(f"{place}.csv", **asked).tally for place in range(3)]).rows == 180


def test_weak_point_5_files_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("d/a.csv")
    names = [f"file://{path.resolve()}", "d/a.csv", str(path.resolve()), "d", f"file://{Path('d').resolve()}"]
    assert run(capsys, "tally", *names, *PLAIN, "--out", "z.tally")[0] == 0
    assert sy.Tally.load("z.tally").rows == 4


@pytest.mark.parametrize("kind", ["arrays", "frame", "file", "local", "saved"])
def test_weak_point_5_a_tally_is_not_added_to_itself(kind: str) -> None:
    frame = pd.read_csv(write("u.csv", rows_of(1)))

    def again() -> sy.Tally:
        if kind == "arrays":
            return sy.assess(frame.y.to_numpy(), frame.p.to_numpy(), event="yes").tally
        if kind == "frame":
            return made(frame)  # type: ignore[arg-type]
        if kind == "saved":
            made("u.csv").save("u.tally")
            return sy.Tally.load("u.tally")
        return made("u.csv", **({"engine": "local"} if kind == "local" else {}))

    one = again()
    for other in (one, again()):
        with pytest.raises(OverlappingTallies):
            one + other
        with pytest.raises(OverlappingTallies):
            sy.merge([one, other])
        with pytest.raises(OverlappingTallies):
            sy.assess_tally([one, other])
    assert sy.assess_tally([one, again()], allow_overlap=True).n == 160
    total = one + made(str(write("v.csv", rows_of(2))))
    with pytest.raises(OverlappingTallies):
        total + one
    assert ((total - one) + one).rows == 160


def test_weak_point_5_few_rows_in_memory_know_themselves() -> None:
    one = sy.assess(list("ab"), list("aa")).tally
    one.save("one.tally")
    with pytest.raises(OverlappingTallies):
        sy.merge(["one.tally", "one.tally"])
    with pytest.raises(OverlappingTallies):
        one + sy.Tally.load("one.tally")
    assert (one + sy.assess(list("ab"), list("aa")).tally).rows == 4


def test_sources_without_rows_never_clash(capsys: pytest.CaptureFixture[str]) -> None:
    write("d/0.csv")
    for name in ("1", "2"):
        write(f"d/{name}.csv", "ill,model,score\n")
    words = ["tally", "d", *PLAIN, "--scale", "no,yes", "--each", "--out", "s"]
    assert run(capsys, *words)[0] == 0
    for path in list(Path("s").iterdir()):
        if "-" in path.name and not path.name.startswith("0"):
            shutil.copy(path, f"s/copy-{path.name}")
    assert merged_rows(capsys, "s") == 4


def test_what_is_taken_out_must_have_been_added() -> None:
    days = [made(str(write(f"{place}.csv", rows_of(place)))) for place in range(3)]
    week = sy.merge(days)
    window = week - days[0]
    assert (window.rows, [source.name for source in window.sources]) == (160, ["1.csv", "2.csv"])
    with pytest.raises(UnlikeTallies, match=r"'0\.csv' is taken out of a tally that does not count it"):
        sy.assess_tally(window - days[0])
    assert sy.assess_tally(window - days[0] + days[0]).n == 160
    assert (window + days[0]).rows == 240


def test_a_file_that_grew_is_told() -> None:
    write("log.csv", rows_of(1))
    first = made("log.csv")
    write("log.csv", rows_of(1) + rows_of(2).partition("\n")[2])
    both = first + made("log.csv")
    assert any("counts as it was at 2 times (80 and 160 rows)" in note for note in both.words_on_input)


# --- disclosure and older tallies -------------------------------------------------------------------------------


def test_a_saved_tally_holds_no_id_and_no_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = here / "ward-seven"
    text = "y,p,patient\n" + "".join(f"{'yes' if i % 3 else 'no'},{i / 100},anna-{i // 2}\n" for i in range(60))
    write(str(secret / "u.csv"), text)
    words = ["--truth", "y", "--membership", "p", "--event", "yes", "--group", "patient"]
    assert run(capsys, "tally", str(secret / "u.csv"), *words, "--out", "u.tally")[0] == 0
    content = Path("u.tally").read_bytes()
    assert b"anna-" not in content
    assert b"ward-seven" not in content
    assert run(capsys, "tally", str(secret / "u.csv"), *words, "--out", "r.tally", "--rows")[0] == 0
    assert b"anna-" in Path("r.tally").read_bytes()
    kept, rows = sy.Tally.load("u.tally"), sy.Tally.load("r.tally")
    assert rows.scores is not None
    assert kept.scores is not None
    assert sorted(map(tuple, np.c_[kept.scores.truth, kept.scores.scores[0].columns[0]].tolist())) == [
        tuple(row) for row in np.c_[kept.scores.truth, kept.scores.scores[0].columns[0]].tolist()
    ]
    for measure in ("error", "auc", "brier"):
        one, other = (sy.assess_tally(each)[measure] for each in (kept, rows))
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-12)


def test_clusters_join_across_saved_tallies(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(1, 120).splitlines(keepends=True)
    write("d/1.csv", "".join(rows[:61]))
    write("d/2.csv", "".join([rows[0], *rows[61:]]))
    words = ["--truth", "y", "--membership", "p", "--event", "yes", "--group", "g"]
    assert run(capsys, "tally", "d", *words, "--each", "--out", "s")[0] == 0
    saved = [sy.Tally.load(path) for path in tally_paths(["s"])]
    raw = [made(f"d/{place}.csv", group="g") for place in (1, 2)]
    whole = made("d", group="g")
    assert len(whole.groups) == 7
    for parts in (saved, raw, [saved[0], raw[1]], [raw[0], saved[1]]):
        total = sy.merge(parts)
        assert len(total.groups) == 7
        for measure in ("error", "auc"):
            one, other = (sy.assess_tally(each)[measure] for each in (total, whole))
            assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-9)
    text = made(str(write("t.csv", rows_of(5).replace(",g\n", ",g\n"))), group="a")
    text.save("t.tally")
    del text
    assert run(capsys, "tally", "t.csv", *words[:-1], "a", "--out", "t.tally")[0] == 0
    with pytest.raises(UnlikeTallies):
        saved[0] + sy.Tally.load("t.tally")


def test_a_tally_of_the_version_before_is_read_and_told() -> None:
    from steelyard.passes.tally_files import _seal, _to_arrow

    write("u.csv", rows_of(1))
    source, tables = pa.BufferReader(_to_arrow(made("u.csv", assigned=None), rows=True)), []
    while source.tell() < source.size():
        tables.append(pa.ipc.open_stream(source).read_all())
    header = json.loads(tables[0].schema.metadata[b"steelyard"])
    header = {name: value for name, value in header.items() if name not in ("sources", "veiled")} | {"version": 9}
    tables[0] = tables[0].replace_schema_metadata({"steelyard": json.dumps(header)})
    sink = pa.BufferOutputStream()
    for table in tables:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    body = bytes(sink.getvalue())
    Path("old.tally").write_bytes(body + _seal(body))
    old = sy.Tally.load("old.tally")
    assert (old.rows, old.reading) == (80, ())
    total = old + made(str(write("v.csv", rows_of(2))))
    assert any("80 rows come from tallies of an older version" in note for note in total.words_on_input)


@pytest.mark.parametrize("way", [{}, {"engine": "local", "measures": ["error"]}])
def test_weak_point_5_a_file_in_two_formats_is_told(here: Path, way: dict[str, Any]) -> None:
    table = pa.table({"y": ["yes", "no"] * 20, "m": ["yes", "no", "no", "no"] * 10})
    Path("both").mkdir()
    csv.write_csv(table, "both/a.csv")
    parquet.write_table(table, "both/a.parquet")
    csv.write_csv(table.slice(0, 30), "both/a.txt")
    notes = sy.assess("both", truth="y", assigned="m", event="yes", **way).notes
    assert "'a.csv' and 'a.parquet' have 40 rows each: are these the same rows twice?" in notes


def test_marks_of_numbers_are_a_part_of_how_rows_were_read(here: Path) -> None:
    """Where 1.200 is 1.2 in one tally and 1200 in the other, they do not add up."""
    for name, mark in (("a", "."), ("b", ",")):
        write(f"{name}.csv", "y;m;w\nyes;yes;1.200\nno;yes;2.100\nyes;no;1.300\n")
        words = ["tally", f"{name}.csv", "--truth", "y", "--assigned", "m", "--event", "yes", "--weight", "w"]
        assert main([*words, "--decimal", mark, *(["--thousands", "."] if mark == "," else []), "--out", name]) == 0
    with pytest.raises(UnlikeTallies, match=r"decimal is '\.' and ','"):
        sy.merge(["a", "b"])

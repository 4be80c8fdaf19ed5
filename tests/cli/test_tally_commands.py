"""Tallies on the command line: made, resumed, merged; and what faults leave behind."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy
from steelyard import Tally
from steelyard.cli import main
from steelyard.core.errors import BadOption, DamagedFile, SteelyardError, UnlikeTallies, UnwritableFile
from steelyard.passes import fold
from steelyard.passes.merging import merge, merged, tally_paths

DAYS: dict[str, dict[str, list[Any]]] = {
    "mon": {"y": ["a", "b", "a"], "m": ["a", "b", "b"], "o": ["a", "a", "a"], "p_a": [0.9, 0.2, 0.4], "w": [1, 2, 1]},
    "tue": {"y": ["b", "b"], "m": ["b", "b"], "o": ["b", "a"], "p_a": [0.1, 0.3], "w": [1, 3]},
    "wed": {"y": ["a", "a"], "m": ["a", "b"], "o": ["b", "a"], "p_a": [0.8, 0.4], "w": [2, 2]},
}


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, columns in DAYS.items():
        table = pa.table({**columns, "p_b": [1 - value for value in columns["p_a"]]})
        (tmp_path / "days").mkdir(exist_ok=True)
        parquet.write_table(table, tmp_path / "days" / f"{name}.parquet")
    return tmp_path / "days"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


PLAIN = ["--truth", "y", "--assigned", "m", "--scale", "a,b"]


def estimates(text: str) -> list[dict[str, Any]]:
    return list(json.loads(text)["estimates"])


def test_days_counted_apart_are_the_days_together(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    for name in DAYS:
        status, out, _ = run(capsys, "tally", f"days/{name}.parquet", *PLAIN, "--out", f"{name}.tally")
        assert status == 0
        assert f"{name}.tally: {len(DAYS[name]['y'])} rows, 2 classes, 1 file" in out
    status, out, _ = run(capsys, "merge", "*.tally", "--out", "all.tally", "--json")
    assert status == 0
    together = run(capsys, "assess", "days", *PLAIN, "--json")[1]
    assert estimates(out) == estimates(together)
    assert json.loads(out)["confusion"] == json.loads(together)["confusion"]
    assert Tally.load("all.tally").rows == 7
    words = ["tally", "days/mon.parquet", "days/tue.parquet", "days/wed.parquet", *PLAIN, "--out", "once.tally"]
    assert run(capsys, *words)[0] == 0
    assert estimates(run(capsys, "merge", "once.tally", "--json")[1]) == estimates(together)
    assert run(capsys, "merge", "once.tally", "--require", "error < 0.01")[0] == 1


def test_a_sum_is_not_written_among_what_it_is_the_sum_of(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    """Else the same command, run twice, would count everything twice."""
    assert run(capsys, "tally", "days/*.parquet", *PLAIN, "--out", "one.tally")[0] == 0
    assert run(capsys, "merge", "*.tally", "--out", "all.tally")[0] == 0
    status, _, error = run(capsys, "merge", "*.tally", "--out", "all.tally")
    assert (status, Tally.load("all.tally").rows) == (2, 7)
    assert "'all.tally' is an input of this command" in error


MEASURED = ["--truth", "w", "--assigned", "m", "--scale", "b,a", "--cut", "1.5", "--response", "p_a,p_b"]


def test_what_is_known_of_measured_values_is_kept(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    wanted = ["--measures", "adjusted_error,guarded_error,smoothed_sqerr", "--json"]
    for name in DAYS:
        known = [*MEASURED, "--sd", "p_a", "--sd-response", "0.3"]
        assert run(capsys, "tally", f"days/{name}.parquet", *known, "--out", f"{name}.tally")[0] == 0
    added, whole = (
        {(row["measure"], bound): row[bound] for row in estimates(out) for bound in ("value", "low", "high")}
        for out in (run(capsys, "merge", "*.tally", *wanted)[1], run(capsys, "assess", "days", *known, *wanted)[1])
    )
    assert added == pytest.approx(whole, rel=1e-9)
    for words, why in (
        (["--sd", "0.1", "--sd-response", "0.3"], "rows were read differently: sd is '0.1' and 'p_a'"),
        ([], "rows were read differently: sd is not given and 'p_a'"),
    ):
        assert run(capsys, "tally", "days/mon.parquet", *MEASURED, *words, "--out", "other.tally")[0] == 0
        assert why in run(capsys, "merge", "other.tally", "tue.tally")[2]
    told = run(capsys, "merge", "other.tally", "--measures", "adjusted_error")[2]
    assert "needs sd. Make the tallies with the standard deviation of the measurement error: --sd" in told


def test_tallies_are_made_anew_where_something_else_is_known(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    each = ["tally", str(days), *MEASURED, "--each", "--resume", "--out", "sums"]
    assert "3 tallies made" in run(capsys, *each, "--sd", "0.1")[1]
    assert "3 kept" in run(capsys, *each, "--sd", "0.1")[1]
    assert "3 tallies made" in run(capsys, *each, "--sd", "0.2")[1]


@pytest.mark.parametrize("rows", ["", "a,0,0.4\nb,0,0.7\n"])
@pytest.mark.parametrize("said", [["--assigned", "y"], ["--membership", "s", "--event", "b"]])
def test_a_file_in_which_no_row_counts_stops_no_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rows: str, said: list[str]
) -> None:
    (tmp_path / "days").mkdir()
    (tmp_path / "days" / "1.csv").write_text("y,w,s\na,1,0.2\nb,2,0.6\n")
    (tmp_path / "days" / "2.csv").write_text("y,w,s\n" + rows)
    words = ["tally", str(tmp_path / "days"), "--truth", "y", *said, "--scale", "a,b"]
    words += ["--weight", "w", "--weight-kind", "frequency"]
    status, told, complaint = run(capsys, *words, "--each", "--out", str(tmp_path / "sums"))
    assert (status, complaint) == (0, "")
    assert "2 tallies made" in told
    status, told, _ = run(capsys, "merge", str(tmp_path / "sums"), "--measures", "error")
    assert status == 0
    assert "prediction: 3 rows" in told


def test_where_costs_are_given_is_told(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    status, _, complaint = run(capsys, "assess", str(days), *PLAIN, "--measures", "cost")
    assert (status, complaint) == (2, "error: cost needs 'costs'. Give --cost costs.csv\n")
    tally = ["tally", str(days), *PLAIN, "--out", str(days / "all.tally"), "--measures"]
    status, _, complaint = run(capsys, *tally, "error,cost")
    assert (status, complaint) == (2, "error: cost needs 'costs'. Leave --measures out: merge takes --cost costs.csv\n")
    status, _, complaint = run(capsys, *tally, "decision_cost")
    assert "Leave --measures out: merge takes --cost costs.csv" in complaint


def test_what_is_named_twice_counts_once(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    (days / "latest.parquet").symlink_to(days / "mon.parquet")
    assert run(capsys, "tally", "days/*.parquet", "days/mon.parquet", *PLAIN, "--out", "all.tally")[0] == 0
    assert Tally.load("all.tally").rows == 7
    Path("again.tally").symlink_to("all.tally")
    Path("round").symlink_to(Path.cwd(), target_is_directory=True)
    for names in (["."], ["*.tally"], ["all.tally", "./again.tally", str(Path.cwd() / "all.tally")], ["**/*.tally"]):
        status, out, _ = run(capsys, "merge", *names, "--json")
        assert (status, json.loads(out)["rows"]) == (0, 7)


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "m=m", "--model", "o=o"],
        ["--model", "m=m", "--model", "p=p_*"],
        ["--model", "m=m", "--model", "o=o", "--weight", "w"],
        ["--model", "m=m", "--model", "o=o", "--by", "o", "--group", "w"],
        ["--model", "m=m", "--model", "o=o", "--where", "w > 1", "--event", "b"],
    ],
)
def test_several_classifiers_are_compared_when_merged(
    capsys: pytest.CaptureFixture[str], days: Path, words: list[str]
) -> None:
    status, out, _ = run(capsys, "tally", "days", "--truth", "y", *words, "--each", "--out", "sums")
    assert status == 0
    assert "3 tallies made of" in out
    merge = ["merge", "sums", "--measures", "error,kappa", "--measure", "kappa"]
    assert "differences in kappa" in run(capsys, *merge)[1]
    together = run(
        capsys, "compare", "days", "--truth", "y", *words, "--measures", "error,kappa", "--measure", "kappa", "--json"
    )[1]
    found, whole = json.loads(run(capsys, *merge, "--json")[1]), json.loads(together)
    if "--group" in words:  # clusters are added in another order: that of their digests
        for place, estimates_found in enumerate(found.pop("estimates")):
            assert estimates_found == pytest.approx(whole["estimates"][place], nan_ok=True)
        for place, difference in enumerate(found.pop("differences")):
            assert difference == pytest.approx(whole["differences"][place], nan_ok=True)
        whole = {name: value for name, value in whole.items() if name not in ("estimates", "differences")}
    assert found == whole


def test_what_is_there_is_not_made_again(
    capsys: pytest.CaptureFixture[str], days: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["tally", "days", "--truth", "y", "--assigned", "m", "--out", "sums", "--each", "--resume"]
    assert "3 tallies made of 7 rows, 0 kept" in run(capsys, *words)[1]
    names = sorted(path.name for path in Path("sums").iterdir())
    assert [re.sub("-[0-9a-f]{16}", "", name) for name in names] == [f"{name}.parquet.tally" for name in DAYS]
    assert "0 tallies made of 0 rows, 3 kept" in run(capsys, *words)[1]
    damaged = Path("sums", names[1])
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert "1 tally made of 2 rows, 2 kept" in run(capsys, *words)[1]
    parquet.write_table(pa.table({"y": ["a"], "m": ["a"]}), days / "thu.parquet")
    assert "1 tally made of 1 row, 3 kept" in run(capsys, *words)[1]
    later = Path("sums", names[0]).stat().st_mtime + 5
    os.utime(days / "mon.parquet", (later, later))
    assert "1 tally made of 3 rows, 3 kept" in run(capsys, *words)[1]
    (days / "thu.parquet").unlink()
    weighed = ["--weight", "w", "--weight-kind", "frequency"]
    assert "3 tallies made of 12 rows, 0 kept" in run(capsys, *words, *weighed)[1], "made in another way"
    without = [word for word in words if word != "--resume"]
    assert "3 tallies made of 7 rows, 0 kept" in run(capsys, *without)[1]


@pytest.mark.parametrize(
    "truth", [["--truth", "y", "--event", "b"], ["--truth", "k", "--cut", "4", "--scale", "low,high"]]
)
def test_what_is_there_of_counts_alone_is_made_again_where_scores_are_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, truth: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = ["--membership", "s"] if "y" in truth else ["--assigned", "guess"]
    words = ["tally", "scored", *truth, *said, "--out", "sums", "--each", "--resume"]
    Path("scored").mkdir()
    for day in ("1", "2"):
        text = "y,s,k,guess\na,0.2,1,2\nb,0.8,6,5\nb,0.4,3,5\na,0.1,2,3\n"
        Path(f"scored/{day}.csv").write_text(text, encoding="utf-8")
    for more in (["--measures", "error"], [], ["--measures", "error"]):
        assert "2 tallies made of 8 rows, 0 kept" in run(capsys, *words, *more)[1]
        assert "0 tallies made of 0 rows, 2 kept" in run(capsys, *words, *more)[1]
        assert run(capsys, "merge", "sums")[0] == 0


def test_folders_of_shards_keep_their_shape(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    for year in (2023, 2024):
        (days / f"year={year}").mkdir()
        (days / f"{'mon' if year == 2023 else 'tue'}.parquet").rename(days / f"year={year}" / "p.parquet")
    words = ["tally", "days/year=2023", "days/year=2024", "--truth", "y", "--assigned", "m", "--by", "year"]
    assert run(capsys, *words, "--each", "--out", "sums")[0] == 0
    names = [path.name for path in tally_paths(["sums"])]
    assert len(set(names)) == 2
    assert all(re.fullmatch("p[.]parquet-[0-9a-f]{16}[.]tally", name) for name in names)
    assert merged(tally_paths(["sums/**/*.tally"])).slices == (2023, 2024)


# --- what does not go together --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--truth", "y", "--assigned", "m", "--scale", "a,b,c"], "has the classes 'a', 'b', the other 'a', 'b', 'c'"),
        (["--truth", "y", "--model", "other=m", "--scale", "a,b"], "is of 'prediction', the other of 'other'"),
        (["--truth", "y", "--assigned", "o", "--scale", "a,b"], "model prediction is 'm' and 'o'"),
        (["--truth", "o", "--assigned", "m", "--scale", "a,b"], "truth is 'y' and 'o'"),
        ([*PLAIN, "--weight", "w"], "weight is not given and 'w'"),
        ([*PLAIN, "--where", "w > 0"], "where is not given and 'w > 0'"),
        ([*PLAIN, "--missing", "drop"], "missing is 'error' and 'drop'"),
        ([*PLAIN, "--by", "o"], "by is not given and 'o'"),
    ],
)
def test_unlike_tallies_are_named_with_the_difference(
    capsys: pytest.CaptureFixture[str], days: Path, words: list[str], why: str
) -> None:
    assert run(capsys, "tally", "days/mon.parquet", *PLAIN, "--out", "1.tally")[0] == 0
    assert run(capsys, "tally", "days/tue.parquet", *words, "--out", "2.tally")[0] == 0
    status, out, err = run(capsys, "merge", "1.tally", "2.tally", "--out", "no.tally")
    assert status == 2
    assert not out
    assert "file '2.tally'" in err
    assert why in err
    assert not Path("no.tally").exists()
    status, out, _ = run(capsys, "merge", "1.tally", "2.tally", "--bad-files", "skip")
    assert status == 0
    assert "prediction: 3 rows" in out
    assert "1 file was left out: file '2.tally'" in " ".join(out.split())


def test_damaged_and_foreign_tallies_are_named(capsys: pytest.CaptureFixture[str], days: Path) -> None:
    assert run(capsys, "tally", "days", *PLAIN, "--out", "1.tally")[0] == 0
    Path("2.tally").write_bytes(Path("1.tally").read_bytes()[:-1])
    Path("3.tally").write_text("hello")
    for name in ("2.tally", "3.tally", "nothing.tally", "x*.tally"):
        status, _, err = run(capsys, "merge", "1.tally", name)
        assert status == 2
        assert f"'{name}'" in err
    with pytest.raises(DamagedFile):
        merged([Path("2.tally"), Path("3.tally")], skip=True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["tally", "days", "--truth", "y", "--out", "x.tally"], "Give one of --assigned"),
        (["tally", "days", *PLAIN, "--membership", "p_*", "--out", "x.tally"], "Give one of --assigned"),
        (["tally", "days", *PLAIN, "--resume", "--out", "x.tally"], "--resume is for --each"),
        (["tally", "days", *PLAIN, "--out", "nowhere/x.tally"], "cannot be written"),
        (["tally", "nowhere", *PLAIN, "--out", "x.tally"], "there is no file 'nowhere'"),
        (["tally", "days", *PLAIN, "--where", "q > 1", "--out", "x.tally"], "there is no column 'q'"),
    ],
)
def test_bad_words_are_status_2(capsys: pytest.CaptureFixture[str], days: Path, words: list[str], why: str) -> None:
    status, _, err = run(capsys, *words)
    assert status == 2
    assert why in err
    assert not list(Path().glob("*.tally*"))


# --- faults of files ------------------------------------------------------------------------------------------


def spoil(days: Path, how: str) -> None:
    """Put a file among the days that cannot be used."""
    path = days / "sun.parquet"
    tables: dict[str, dict[str, list[Any]]] = {
        "no column": {"y": ["a"], "x": ["a"]},
        "another class": {"y": ["zebra"], "m": ["a"]},
        "another kind": {"y": [1], "m": [2]},
        "a gap": {"y": ["a", None], "m": ["a", "b"]},
    }
    if how == "not Parquet":
        path.write_bytes(b"nonsense")
    elif how == "cut off":
        content = (days / "mon.parquet").read_bytes()
        path.write_bytes(content[: len(content) // 2])
    elif how == "damaged inside":
        parquet.write_table(pa.table({"y": ["a", "b"] * 5000, "m": ["a", "b"] * 5000}), path, write_page_checksum=True)
        changed = bytearray(path.read_bytes())
        changed[40] ^= 255
        path.write_bytes(changed)
    else:
        parquet.write_table(pa.table(tables[how]), path)


FAULTS = ["not Parquet", "cut off", "damaged inside", "no column", "another class", "another kind", "a gap"]


@pytest.mark.parametrize("how", FAULTS)
def test_a_faulty_file_stops_the_run_or_is_left_out(capsys: pytest.CaptureFixture[str], days: Path, how: str) -> None:
    right = sy.assess(days, truth="y", assigned="m", scale=sy.Scale(["a", "b"]))
    spoil(days, how)
    asked: dict[str, Any] = {"truth": "y", "assigned": "m", "scale": sy.Scale(["a", "b"])}
    with pytest.raises(SteelyardError, match=r"file '.*sun\.parquet'"):
        sy.assess(days, **asked)
    result = sy.assess(days, **asked, on_error="skip")
    assert result.table().to_csv() == right.table().to_csv()
    assert result.notes[0].startswith(f"1 file was left out: file '{days / 'sun.parquet'}'")
    words = ["tally", "days", *PLAIN, "--out", "x.tally"]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert "sun.parquet" in err
    assert not Path("x.tally").exists()
    status, out, _ = run(capsys, *words, "--bad-files", "skip")
    assert status == 0
    assert "1 file was left out" in out
    assert len(Tally.load("x.tally").left_out) == 1
    status, out, _ = run(capsys, "merge", "x.tally", "--json")
    assert "sun.parquet" in json.loads(out)["left_out"][0]
    status, out, _ = run(capsys, "tally", "days", *PLAIN, "--out", "sums", "--each", "--bad-files", "skip")
    assert "3 tallies made of 7 rows, 0 kept, 1 file left out" in out
    assert merged(tally_paths(["sums"])).rows == 7


@pytest.mark.parametrize("how", ["--quiet", "--csv", "--json"])
def test_files_that_are_left_out_are_told_where_no_table_is_printed(
    capsys: pytest.CaptureFixture[str], days: Path, how: str
) -> None:
    spoil(days, "not Parquet")
    for words in (
        ["assess", "days", *PLAIN],
        ["compare", "days", "--truth", "y", "--model", "m", "--scale", "a,b"],
        ["tally", "days", *PLAIN, "--out", "x.tally"],
        ["tally", "days", *PLAIN, "--out", "sums", "--each"],
    ):
        status, _, err = run(capsys, *words, "--bad-files", "skip", how)
        assert status == 0
        assert err.startswith("note: ")
        assert "left out: file" in err
        assert "sun.parquet" in err
    assert "sun.parquet" in run(capsys, "merge", "x.tally", how)[2]


def test_a_class_that_only_a_faulty_file_had_is_no_class(days: Path) -> None:
    parquet.write_table(pa.table({"y": ["zebra", None], "m": ["a", "a"]}), days / "sun.parquet")
    parquet.write_table(pa.table({"y": ["yak", None], "m": ["a", "a"]}), days / "sat.parquet")
    result = sy.compare(days, {"m": "m"}, truth="y", on_error="skip")
    assert result.tally.scale.classes == ("a", "b")
    assert len(result.tally.left_out) == 2
    assert result["m"].n == 7


def test_if_no_file_can_be_used_the_first_fault_is_told(days: Path) -> None:
    with pytest.raises(SteelyardError, match=r"file '.*mon\.parquet': there is no column 'q'"):
        sy.assess(days, truth="q", assigned="m", on_error="skip")


def test_files_are_left_out_only_where_rows_are_counted(days: Path) -> None:
    with pytest.raises(BadOption, match="on_error='skip' is for files whose rows are counted"):
        sy.assess(days, truth="y", membership="p_*", on_error="skip")
    with pytest.raises(BadOption, match="on_error is 'sometimes'"):
        sy.assess(days, truth="y", assigned="m", on_error="sometimes")  # type: ignore[arg-type]


def test_tallies_keep_what_was_left_out_and_forget_it_when_taken_away(days: Path) -> None:
    spoil(days, "cut off")
    faulty = sy.assess(days, truth="y", assigned="m", on_error="skip").tally
    faulty.save("x.tally", rows=True)
    assert Tally.load("x.tally").left_out == faulty.left_out
    assert merge([faulty, faulty], allow_overlap=True).left_out == faulty.left_out * 2
    assert (faulty - faulty).left_out == ()
    with pytest.raises(UnlikeTallies, match="rows were read differently: model prediction is 'm' and 'o'"):
        faulty + sy.assess(days, truth="y", assigned="o", on_error="skip").tally


# --- what a crash, a full disk and Ctrl-C leave behind ----------------------------------------------------------


CRASH = """
import os, sys
from pathlib import Path
from steelyard.cli import main
{fault}
sys.exit(main(["tally", "days", "--truth", "y", "--assigned", "m", "--out", "x.tally"]))
"""
WORST = {
    "before it is in its place": "Path.replace = lambda *_: os._exit(9)",
    "half written": "os.fsync = lambda place: (os.ftruncate(place, 100), os._exit(9))",
}


@pytest.mark.parametrize("moment", WORST)
@pytest.mark.parametrize("there", [False, True])
def test_a_crash_leaves_the_old_file_or_none(days: Path, moment: str, there: bool) -> None:
    if there:
        sy.assess(days / "mon.parquet", truth="y", assigned="m").tally.save("x.tally")
    home = {**os.environ, "PYTHONPATH": str(Path(str(sy.__file__)).parents[1])}
    words = [sys.executable, "-c", CRASH.format(fault=WORST[moment])]
    done = subprocess.run(words, check=False, env=home)  # noqa: S603
    assert done.returncode == 9
    assert [path.name for path in tally_paths(["."])] == ["x.tally"] if there else not list(Path().glob("*.tally"))
    if there:
        assert Tally.load("x.tally").rows == 3


def test_a_full_disk_leaves_nothing(
    capsys: pytest.CaptureFixture[str], days: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    tally = sy.assess(days, truth="y", assigned="m").tally
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnwritableFile, match=r"'x\.tally' cannot be written\. .*No space left"):
        tally.save("x.tally")
    status, _, err = run(capsys, "tally", "days", *PLAIN, "--out", "x.tally")
    assert status == 3
    assert "No space left" in err
    assert sorted(path.name for path in Path().iterdir()) == ["days"]


@pytest.mark.parametrize("moment", ["counting", "writing"])
def test_an_interrupted_run_leaves_nothing(
    capsys: pytest.CaptureFixture[str], days: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    if moment == "counting":
        monkeypatch.setattr(fold.Count, "dataset", interrupt)
    else:
        monkeypatch.setattr(os, "fsync", interrupt)
    status, out, _ = run(capsys, "tally", "days", *PLAIN, "--out", "x.tally")
    assert status == 130
    assert not out
    assert sorted(path.name for path in Path().iterdir()) == ["days"]


@pytest.mark.parametrize("what", ["by", "group"])
def test_labels_of_another_kind_are_named_and_can_be_left_out(what: str, tmp_path: Path) -> None:
    paths = []
    for place, label in enumerate((2, 3, "z")):
        rows = f"a,a,{label}\nb,a,{label}\nb,b,{label}\n"
        (tmp_path / "a.csv").write_text(f"y,m,u\n{rows}")
        options: dict[str, Any] = {what: "u"}
        paths.append(tmp_path / f"{place}.tally")
        sy.assess(tmp_path / "a.csv", truth="y", assigned="m", **options).tally.save(paths[-1])
    with pytest.raises(UnlikeTallies, match=r"2\.tally': the (slices|groups) of one are text"):
        merged(paths)
    found = merged(paths, skip=True)
    assert found.sums.values[:, 0].sum() == 6
    assert len(found.left_out) == 1

"""Every output of every command beside every form of input: no input is lost, and nothing is replaced by accident."""

from __future__ import annotations

import errno
import io
import json
import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.cli.overwriting import READ, WRITTEN
from steelyard.core import errors
from steelyard.core.errors import FailedWrite, SteelyardError, TooLarge, UnwritableFile
from steelyard.data import whole_files
from steelyard.data.whole_files import JSON, PICTURE, write_whole

from .amount import cases

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="files have no mode and no owner there")
ROWS = "ill,model,score,site\nyes,yes,0.9,a\nno,no,0.1,a\nyes,no,0.3,b\nno,no,0.2,b\n"
COSTS = "true,no,yes\nno,0,1\nyes,9,0\n"
TABLE = "truth,no,yes\nno,231,27\nyes,32,54\n"
LABELS = ["--truth", "ill", "--assigned", "model", "--event", "yes"]
SCORES = ["--truth", "ill", "--score", "score", "--event", "yes"]
PARTS = ["--truth", "ill", "--membership", "score", "--event", "yes", "--quiet"]
MODELS = ["--truth", "ill", "--model", "model", "--model", "s=score", "--event", "yes"]
QUICK = ["--measures", "error", "--quiet"]
SWITCHES = {"bad_files", "force", "each", "open", "resume", "rows", "show_rows", "allow_overlap"}
PARTED = {"--scaled": ".csv", "--regions": ".csv", "--save": ".json"}  # outputs of one command
ENDINGS = {"--csv": ".csv", "--json": ".json", "--markdown": ".md", "--html": ".html", "--out": ".tally"}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data of every form."""
    monkeypatch.chdir(tmp_path)
    names = ("one.csv", "d/a.csv", "d/b.csv", "h/site=a/x.csv", "h/site=b/x.csv", "deep/er/x.csv", "away/x.csv")
    for place, name in enumerate(names):
        path, rows = Path(name), ROWS.replace("0.9", f"0.9{place}")  # no file is the copy of another
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rows.replace(",site", "").replace(",a\n", "\n").replace(",b\n", "\n") if "=" in name else rows)
    Path("costs.csv").write_text(COSTS)
    Path("tab1.csv").write_text(TABLE)
    Path("pq").mkdir()
    pyarrow.parquet.write_table(pyarrow.csv.read_csv("one.csv"), "pq/a.parquet")
    Path("links").mkdir()
    Path("links/x.csv").symlink_to(tmp_path / "away" / "x.csv")
    Path("linked.csv").symlink_to("one.csv")
    sy.partition_scaling([[0.9, 0.1], [0.2, 0.8]], ["no", "yes"], event="yes").save("l.json")
    os.link("one.csv", "hard.csv")
    for name in ("s/m1.tally", "s/m2.tally"):
        Path("s").mkdir(exist_ok=True)
        assert main(["tally", "d/a.csv" if "1" in name else "away/x.csv", *LABELS, "--out", name, "--quiet"]) == 0
    return tmp_path


# How an input is named, and a file that is part of it.
INPUTS = {
    "a file": ("one.csv", "one.csv"),
    "a file by another name": ("./d/../one.csv", "one.csv"),
    "a link": ("linked.csv", "one.csv"),
    "a hard link": ("hard.csv", "one.csv"),
    "a folder": ("d", "d/b.csv"),
    "a folder with a slash": ("d/", "d/a.csv"),
    "a pattern": ("d/*.csv", "d/a.csv"),
    "a deep pattern": ("deep/**/*.csv", "deep/er/x.csv"),
    "a nested folder": ("deep", "deep/er/x.csv"),
    "a hive": ("h", "h/site=b/x.csv"),
    "a pattern of a hive": ("h/**/*.csv", "h/site=a/x.csv"),
    "a folder of links": ("links", "away/x.csv"),
    "a pattern of links": ("links/*.csv", "away/x.csv"),
    "an address of a file": ("file://{home}/one.csv", "one.csv"),
    "an address of a folder": ("file://{home}/d", "d/a.csv"),
    "an address with a star": ("file://{home}/d/*.csv", "d/a.csv"),
    "a Parquet folder": ("pq", "pq/a.parquet"),
}
# Commands, where {} stands for the input, and the outputs that they have.
COMMANDS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "assess": (["assess", "{}", *LABELS, *QUICK], ("--csv", "--json", "--markdown", "--html")),
    "assess by an engine": (["assess", "{}", *LABELS, *QUICK, "--engine", "local"], ("--csv",)),
    "training": (["assess", "tab1.csv", *LABELS, *QUICK, "--training", "{}"], ("--csv", "--json")),
    "compare": (["compare", "{}", *MODELS, *QUICK], ("--csv", "--json", "--markdown", "--html")),
    "thresholds": (["thresholds", "{}", *SCORES, "--quiet"], ("--csv", "--json")),
    "calibration": (["calibration", "{}", *SCORES, "--quiet"], ("--csv", "--json")),
    "partition": (["partition", "{}", *PARTS], ("--csv", "--json", *PARTED)),
    "cv": (["cv", "{}", "--target", "ill", "--folds", "2", *QUICK], ("--csv", "--json", "--markdown", "--html")),
    "tally": (["tally", "{}", *LABELS, "--quiet"], ("--out",)),
    "tally with more": (["tally", "{}", *LABELS, "--quiet", "--out", "new.tally"], ("--csv", "--json")),
    "tally of several": (["tally", "tab1.csv", "{}", *LABELS, "--quiet"], ("--out",)),
    "tally each": (["tally", "{}", *LABELS, "--quiet", "--each", "--out", "new"], ("--csv", "--json")),
}
NAMES = ("itself", "absolute", "link", "hard link")


def alias(home: Path, victim: str, ending: str, how: str) -> str:
    """Another name of a file, with an ending that an option takes."""
    target = home / victim
    name = f"alias-{how}{ending}"
    if how == "itself":
        return victim
    if how == "absolute":
        return str(target)
    Path(name).unlink(missing_ok=True)
    if how == "link":
        Path(name).symlink_to(target)
    else:
        os.link(target, name)
    return name


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must be refused in one line, and return that line."""
    status = main(words)
    said = capsys.readouterr()
    assert status == 2, (words, said.err)
    assert said.err.startswith("error: "), said.err
    assert said.err.count("\n") == 1, said.err
    assert said.out == ""
    return said.err


@pytest.mark.parametrize("form", INPUTS)
def test_weak_point_27_no_output_replaces_an_input(
    form: str, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named, victim = INPUTS[form]
    named, before = named.format(home=data), (data / victim).read_bytes()
    monkeypatch.setattr("steelyard.data.formats.read_whole", None)  # it is refused before anything is read
    every = [(*one, option) for one in COMMANDS.items() for option in one[1][1]]
    tried = [(command, words, option, how) for command, (words, _), option in every for how in NAMES]
    # No page can have the name of data; a link to them can.
    tried = [one for one in tried if one[2] != "--html" or "link" in one[3]]
    for command, words, option, how in random.Random(form).sample(tried, cases(len(tried))):  # noqa: S311
        target = alias(data, victim, (ENDINGS | PARTED)[option], how)
        given = [word.format(named) if word == "{}" else word for word in words]
        for more in ([], ["--force"]):
            said = refused([*given, f"{option}={target}", *more], capsys)
            assert "is an input of this command" in said, (command, said)
        assert (data / victim).read_bytes() == before, (command, option, how)
        if "link" in how:
            Path(target).unlink()


@pytest.mark.parametrize(
    ("words", "victim"),
    [
        (["assess", "one.csv", *LABELS, "--cost", "costs.csv", "--csv", "costs.csv"], "costs.csv"),
        (["assess", "one.csv", *SCORES, "--threshold", "cost:costs.csv", "--csv", "./costs.csv"], "costs.csv"),
        (["compare", "d", *MODELS, "--cost", "costs.csv", "--json=costs.csv"], "costs.csv"),
        (["cv", "one.csv", "--target", "ill", "--cost", "costs.csv", "--csv", "costs.csv"], "costs.csv"),
        (["thresholds", "one.csv", *SCORES, "--choose", "cost:costs.csv", "--csv", "costs.csv"], "costs.csv"),
        (["thresholds", "one.csv", *SCORES, "--choose", "best:f1", "--choose", "cost:d/../costs.csv"], "costs.csv"),
        (["table", "tab1.csv", "--csv", "tab1.csv"], "tab1.csv"),
        (["table", "tab*.csv", "--csv", "tab1.csv"], "tab1.csv"),
        (["table", "tab1.csv", "--cost", "costs.csv", "--markdown=costs.csv"], "costs.csv"),
        (["merge", "s/m1.tally", "s/m2.tally", "--cost", "costs.csv", "--out", "costs.csv"], "costs.csv"),
        (["merge", "s", "--out", "s/m1.tally"], "s/m1.tally"),
        (["partition", "one.csv", "--membership", "score", "--learned", "l.json", "--scaled", "l.json"], "l.json"),
        (["partition", "one.csv", "--membership", "score", "--learned", "./d/../l.json", "--json=l.json"], "l.json"),
        (["merge", "s/*.tally", "--csv=s/m2.tally"], "s/m2.tally"),
        (["merge", "s/m1.tally", "--json=./s/m1.tally", "--force"], "s/m1.tally"),
    ],
)
def test_weak_point_27_nor_costs_tables_and_tallies(
    words: list[str], victim: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not any(word.startswith(tuple(ENDINGS | PARTED)) for word in words):
        words = [*words, "--csv", victim]
    before = (data / victim).read_bytes()
    assert "is an input of this command" in refused(words, capsys)
    assert (data / victim).read_bytes() == before


def test_weak_point_27_nor_what_links_in_a_folder_lead_to(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tally", "d", *LABELS, "--quiet", "--each", "--out", "new"]
    before = [Path("d/a.csv").read_text(), Path("d/b.csv").read_text()]
    assert main(words) == 0
    for path in Path("new").rglob("*.tally"):
        path.unlink()
        path.symlink_to(data / "d" / "b.csv")
    refused(words, capsys)
    refused([*words, "--force"], capsys)
    assert [Path("d/a.csv").read_text(), Path("d/b.csv").read_text()] == before


def test_every_file_that_a_command_names_is_compared() -> None:
    """A new option that names a file must be listed, or else nothing protects it."""
    from steelyard.cli.line import app

    known = {*READ, *(option.removeprefix("--") for option in WRITTEN), "figures"}
    commands = [app[name] for name in app.resolved_commands() if not name.startswith("-")]
    commands += [app["study"][name] for name in app["study"].resolved_commands() if not name.startswith("-")]
    for command in commands:
        if command.default_command is not None:
            for one in command.assemble_argument_collection(default_parameter=app.default_parameter):
                name = one.name.lstrip("-").replace("-", "_")
                said = str(one.parameter.help).lower()
                about = "file" in said or "folder" in said or "path" in str(one.hint).lower()
                assert not about or name.lower() in known | {
                    "bad_files",
                    "force",
                    "each",
                    "open",
                    "resume",
                    "rows",
                    "show_rows",
                    "allow_overlap",
                }, (command.name, name)


# --- two outputs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        ["--csv=x.html", "--html", "x.html"],
        ["--csv=x", "--json=x"],
        ["--csv=x", "--json=./d/../x"],
        ["--csv=x", "--markdown", "{home}/x.md", "--json={home}/x.md"],
        ["--csv=x", "--json=to-x"],
        ["--csv=new/x", "--json=to-new/x"],
        ["--csv=old", "--json=to-old", "--force"],
    ],
)
def test_weak_point_28_two_outputs_are_two_files(
    more: list[str], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("to-x").symlink_to("x")
    Path("new").mkdir()
    Path("to-new").symlink_to("new")
    Path("old").write_text("old")
    os.link("old", "to-old")
    before = sorted(data.rglob("*"))
    said = refused(["assess", "d", *LABELS, *QUICK, *[word.format(home=data) for word in more]], capsys)
    assert "are the same file" in said
    assert sorted(data.rglob("*")) == before
    assert Path("old").read_text() == "old"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tally", "d", *LABELS, "--out", "t.csv", "--csv", "t.csv"], "the same file"),
        (["merge", "s", "--out", "x.csv", "--csv", "x.csv"], "the same file"),
        (["tally", "d", *LABELS, "--each", "--out", "td", "--csv=td/a.csv.tally"], "writes its own files"),
        (["tally", "d", *LABELS, "--each", "--out", "td", "--json=td"], "writes its own files"),
        (["tally", "d", *LABELS, "--each", "--out", "td", "--csv=s/../td/more/a.tally"], "writes its own files"),
        (["study", "knn", "--figures", "pictures", "--csv=pictures/knn.png"], "writes its own files"),
    ],
)
def test_weak_point_28_nor_does_one_lie_among_those_of_another(
    words: list[str], said: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(data.rglob("*"))
    assert said in refused(words, capsys)
    assert sorted(data.rglob("*")) == before


def test_devices_and_standard_output_can_be_named_more_than_once(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["assess", "d", *LABELS, *QUICK, f"--csv={os.devnull}", f"--json={os.devnull}"]) == 0
    assert main(["assess", "d", *LABELS, *QUICK, "--csv", "--json", "out.json"]) == 0


# --- what is replaced -------------------------------------------------------------------------------------------

IRIS = str(resources.files("steelyard") / "data" / "examples" / "iris.csv")
FOREIGN = {
    "text": b"notes of mine\n",
    "other CSV": ROWS.encode(),
    "other JSON": b'{"my": 1}\n',
    "a list": b'[{"name": "x"}]',
    "other Markdown": b"### mine\n\n| measure | value |\n",
    "another page": b"<!doctype html><title>steelyard</title>",
    "zeros": bytes(10_000),
    "one byte": b"\n",
    "a header with a column of mine": b"measure,class,average,value,low,high,se,n,method,note,comment\n",
    "a picture": b"\x89PNG\r\n\x1a\n",
}


@pytest.mark.parametrize("option", [*ENDINGS])
def test_what_is_no_result_is_replaced_by_force_alone(
    option: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["merge", "s", *QUICK, option, target := f"target{ENDINGS[option]}"]
    for content in FOREIGN.values():
        Path(target).write_bytes(content)
        assert "Name another file, or say --force" in refused(words, capsys)
        assert Path(target).read_bytes() == content
    assert main([*words, "--force"]) == 0, capsys.readouterr().err
    made = Path(target).read_bytes()
    assert made not in FOREIGN.values()
    # What is there now is a result, and so is replaced; and an empty file has nothing to lose.
    assert main(words) == 0, capsys.readouterr().err
    Path(target).write_bytes(b"")
    assert main(words) == 0, capsys.readouterr().err
    # It is no result of another kind.
    for other, ending in ENDINGS.items():
        if other != option:
            shutil.copy(target, f"copy{ending}")
            assert "--force" in refused(["merge", "s", *QUICK, f"{other}=copy{ending}"], capsys)
            assert Path(f"copy{ending}").read_bytes() == Path(target).read_bytes()


REPEATED = ["--scaled", "scaled.csv", "--regions", "regions.csv", "--save", "scaling.json"]
RERUN = {
    "assess": ["assess", "d", *LABELS, "--quiet"],
    "assess by": ["assess", "d", *LABELS, *QUICK, "--by", "site"],
    "assess training": ["assess", "d", *LABELS, *QUICK, "--training", "one.csv"],
    "compare": ["compare", "d", *MODELS, *QUICK],
    "compare by": ["compare", "d", *MODELS, *QUICK, "--by", "site"],
    "table": ["table", "tab1.csv", *QUICK],
    "merge": ["merge", "s", *QUICK],
    "thresholds": ["thresholds", "d", *SCORES, "--quiet", "--measures", "kappa,precision"],
    "calibration": ["calibration", IRIS, "--truth", "species", "--membership", "lda_*", "--quiet"],
    "cv": ["cv", IRIS, "--target", "species", "--models", "lda,qda", "--folds", "3", *QUICK],
    "measures": ["measures", "--quiet"],
    "a measure": ["measures", "kappa", "--quiet"],
    "tally": ["tally", "d", *LABELS, "--out", "again.tally", "--quiet"],
    "tally each": ["tally", "d", *LABELS, "--each", "--out", "each", "--quiet"],
    "partition": ["partition", IRIS, "--truth", "species", "--membership", "lda_*", "--quiet", *REPEATED],
    "learned": ["partition", "one.csv", "--membership", "score", "--learned", "l.json", "--quiet", *REPEATED[:4]],
    "knn": ["study", "knn", "--splits", "1", "--figures", "pictures", "--quiet"],
}


@pytest.mark.parametrize("command", RERUN)
def test_a_command_that_is_repeated_replaces_its_results(
    command: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*RERUN[command], "--csv", "r.csv", "--json", "r.json"]
    if command in ("assess", "compare", "table", "merge", "cv"):
        words += ["--markdown", "r.md", "--html", "r.html"]
    if command == "merge":
        words += ["--out", "sum.tally"]
    for _ in range(2):
        assert main(words) == 0, capsys.readouterr().err
        assert capsys.readouterr().err == ""
    # Only the results are there: nothing was left behind.
    assert not list(data.rglob("*.part"))


@pytest.mark.parametrize("option", [*PARTED])
def test_what_is_no_result_of_partition_is_replaced_by_force_alone(
    option: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["partition", "one.csv", *PARTS, option, target := f"target{PARTED[option]}"]
    numbers = b'"no","yes"\n0.1,0.9\n'  # as R writes memberships
    for content in (*FOREIGN.values(), numbers, b"no,yes\n0.10000000000000000,0.90000000000000000\n"):
        Path(target).write_bytes(content)
        assert "Name another file, or say --force" in refused(words, capsys)
        assert Path(target).read_bytes() == content
    assert main([*words, "--force"]) == 0, capsys.readouterr().err
    assert main(words) == 0, capsys.readouterr().err
    for other, ending in PARTED.items():
        if other != option:
            shutil.copy(target, copy := f"copy{ending}")
            assert "--force" in refused(["partition", "one.csv", *PARTS, f"{other}={copy}"], capsys)


def test_a_picture_of_another_kind_stays(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pictures").mkdir()
    Path("pictures/knn.png").write_bytes(ROWS.encode())
    assert main(["study", "knn", "--splits", "1", "--figures", "pictures", "--quiet"]) == 2
    assert "holds something else than a PNG picture" in capsys.readouterr().err
    assert Path("pictures/knn.png").read_text() == ROWS


def test_weak_point_27_the_library_replaces_nothing_but_results(data: Path) -> None:
    result = sy.assess("d", truth="ill", assigned="model", event="yes", measures=["error"])
    both = sy.compare("d", {"a": "model", "b": "model"}, truth="ill", event="yes", measures=["error"])
    page = Path("mine.html")
    page.write_text("<!doctype html><p>mine")
    writers: list[tuple[Callable[..., None], str]] = [
        (result.tally.save, "one.csv"),
        (result.tally.save, "pq/a.parquet"),
        (result.report, "mine.html"),
        (both.report, "mine.html"),
    ]
    for write, name in writers:
        before = Path(name).read_bytes()
        with pytest.raises(UnwritableFile, match="overwrite=True"):
            write(name)
        assert Path(name).read_bytes() == before
    result.report("mine.html", overwrite=True)
    both.report("mine.html")
    result.tally.save("one.csv", overwrite=True)
    result.tally.save("one.csv")
    assert sy.Tally.load("one.csv").rows == 8
    os.link("one.csv", "tally.html")
    with pytest.raises(UnwritableFile, match="holds something else than a steelyard report"):
        both.report("tally.html")


# --- what stays of a file that is replaced ------------------------------------------------------------------------


def mode_of(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


@POSIX
@pytest.mark.parametrize("option", [*ENDINGS])
def test_weak_point_29_mode_and_group_stay(option: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = Path(f"r{ENDINGS[option]}")
    words = ["merge", "s", *QUICK, option, str(target)]
    for umask, expected in ((0o077, 0o600), (0o027, 0o640), (0o022, 0o644)):
        before = os.umask(umask)
        try:
            target.unlink(missing_ok=True)
            assert main(words) == 0, capsys.readouterr().err
        finally:
            os.umask(before)
        assert mode_of(target) == expected
    for mode in (0o600, 0o640, 0o664, 0o660, 0o604):
        target.chmod(mode)
        if os.geteuid() == 0:
            os.chown(target, 12, 34)
        assert main(words) == 0, capsys.readouterr().err
        assert mode_of(target) == mode
        assert os.geteuid() != 0 or (target.stat().st_uid, target.stat().st_gid) == (12, 34)
    target.chmod(0o444)
    content = target.read_bytes()
    for more in ([], ["--force"]):
        assert "write-protected" in refused([*words, *more], capsys)
    assert target.read_bytes() == content


@POSIX
def test_weak_point_29_nobody_else_reads_what_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "secret.json"
    seen: list[int] = []
    target.write_text('{"steelyard": "0"}')
    target.chmod(0o600)
    monkeypatch.setattr(whole_files, "_keep_permissions", lambda *_: seen.extend(map(mode_of, tmp_path.glob(".*"))))
    write_whole(target, b"{}", JSON)
    assert seen == [0o600]


# --- half files ---------------------------------------------------------------------------------------------------

KILLED = """
import os, sys
from steelyard.data import whole_files
from steelyard.data.whole_files import JSON
os.fsync = lambda _: os._exit(9)
whole_files.write_whole(sys.argv[1], b"half of it", JSON)
"""


@POSIX
def test_weak_point_30_halves_of_killed_runs_are_told_and_removed(
    data: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("r").mkdir()
    with subprocess.Popen([sys.executable, "-c", KILLED, "r/x.json"]) as process:  # noqa: S603
        pass
    assert process.returncode == 9
    Path(f"r/.steelyard-{whole_files._machine()}-{process.pid}-7.part").write_text("half")
    whole_files.remove_stale_halves.cache_clear()
    mine = Path(f"r/.steelyard-{whole_files._machine()}-{os.getpid()}-x.part")
    elsewhere = Path("r/.steelyard-00000000-999999-0.part")
    users = [Path("r/x.part"), Path("r/.x.12-34.part"), Path("r/.steelyard-notes.part")]
    for path in (mine, elsewhere, *users):
        path.write_text("at work")
    assert len([*Path("r").iterdir()]) == 7
    for _ in range(2):
        assert main(["assess", "d", *LABELS, *QUICK, "--json", "r/x.json"]) == 0
    assert {*Path("r").iterdir()} == {mine, elsewhere, *users, Path("r/x.json")}
    folder = str(data.resolve() / "r")
    assert caplog.messages == [f"note: removed 2 half-written files from {folder!r}, left by a run that was killed"]


@POSIX
@pytest.mark.parametrize("length", [100, 204, 244, 250, 255])
def test_weak_point_30_long_names_work(length: int, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, ending in ENDINGS.items():
        for sign in ("n", "ä"):
            name = sign * ((length - len(ending)) // len(sign.encode())) + ending
            for _ in range(2):
                assert main(["merge", "s", *QUICK, option, name]) == 0, capsys.readouterr().err
            assert Path(name).stat().st_size > 0
    assert "cannot be written" in refused(["merge", "s", *QUICK, "--csv", "n" * 300 + ".csv"], capsys)


# --- exit codes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG])
def test_what_cannot_be_finished_is_status_3(
    number: int, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    before = sorted(data.rglob("*"))
    monkeypatch.setattr(os, "fsync", fail)
    for option, ending in ENDINGS.items():
        assert main(["merge", "s", *QUICK, option, f"r{ending}"]) == 3
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert os.strerror(number) in error
        assert error.count("\n") == 1
    with pytest.raises(FailedWrite):
        sy.Tally.load("s/m1.tally").save("r.tally")
    assert sorted(data.rglob("*")) == before


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MemoryError(), 3),
        (ImportError("libarrow.so: failed to map segment from shared object"), 3),
        (RuntimeError("can't start new thread"), 3),
        (TooLarge("x"), 3),
        (OSError(errno.ENOSPC, "x"), 3),
        (OSError(errno.EACCES, "x"), 2),
        (FileNotFoundError(errno.ENOENT, "x"), 2),
        (errors.BadOption("x"), 2),
        (errors.NoThreshold("x"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_error_has_its_status(
    error: BaseException, status: int, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("steelyard.results.api.assess", fail)
    assert main(["assess", "d", *LABELS]) == status
    said = capsys.readouterr().err
    assert said.count("\n") == (status != 130)


def test_statuses_of_errors_are_those_of_the_documentation() -> None:
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, SteelyardError)]
    assert {one.exit_code for one in classes} <= {1, 2, 3}
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    for status in (0, 1, 2, 3, 130, 143):
        assert f"\n| {status} | " in page


# --- names with control signs, and formulas -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["si\rte", "si\nte", "\ra", "a\r\nb", "a,b\rc", 'a,"b\rc', "a\r\rb"])
def test_weak_point_34_lists_of_names_with_control_signs(
    name: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assess = ["assess", "one.csv", *QUICK, "--truth", "ill"]
    for words in (
        [*assess, "--assigned", "model", "--by", name],
        [*assess, "--assigned", "model", "--scale", name],
        [*assess, "--assigned", "model", "--cut", name],
        [*assess, "--assigned", "model", "--measures", name],
        [*assess, "--assigned", "model", "--cut", "1", "--response", name],
        [*assess, "--membership", name],
        ["compare", "one.csv", "--truth", "ill", "--model", f"m={name}"],
        ["tally", "one.csv", "--truth", "ill", "--assigned", "model", "--out", "x.tally", "--by", name],
        ["tally", "one.csv", "--truth", "ill", "--membership", name, "--out", "x.tally"],
        ["tally", "one.csv", "--truth", "ill", "--model", f"m={name}", "--out", "x.tally"],
        ["thresholds", "one.csv", "--truth", "ill", "--score", name],
        ["calibration", "one.csv", "--truth", "ill", "--score", name],
        ["partition", "one.csv", "--truth", "ill", "--membership", name],
        ["partition", "one.csv", "--membership", name, "--learned", "l.json"],
        ["cv", "one.csv", "--target", "ill", "--features", name],
        ["cv", "one.csv", "--target", "ill", "--models", name],
        ["cv", "one.csv", "--target", "ill", "--intervals", name, "--folds", "2"],
        ["table", "tab1.csv", "--scale", name],
    ):
        said = refused(words, capsys)
        assert "\r" not in said


@pytest.mark.parametrize("sign", [chr(code) for code in (*range(1, 32), 127, 0x85, 0x2028)])
def test_weak_point_34_any_control_sign_is_refused_in_one_line(
    sign: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--by", "--scale"):
        refused(["assess", "one.csv", *LABELS, *QUICK, option, f"a{sign}b"], capsys)


FORMULAS = ["=1+1", "+1", "-1+2", "@cmd", "\tx", "\rx", "=cmd|'/c calc'!A1"]
PLAIN = ["a", "-1", "-1.5", "-2e-3", "1+1", "'=1", "a=1", " =1", ""]


def test_weak_point_40_labels_like_formulas_are_escaped() -> None:
    table = sy.Table({"class": [*FORMULAS, *PLAIN], "value": [-1.5] * len(FORMULAS + PLAIN)})
    safe = [row[0] for row in read_csv(table.to_csv(safe=True))[1:]]
    assert safe == [*[f"'{text}" for text in FORMULAS], *PLAIN]
    assert [row[0] for row in read_csv(table.to_csv())[1:]] == [*FORMULAS, *PLAIN]
    assert {row[1] for row in read_csv(table.to_csv(safe=True))[1:]} == {"-1.5"}


def read_csv(text: str) -> list[list[str]]:
    import csv

    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("label", [label for label in FORMULAS if label.strip() == label])
def test_weak_point_40_a_note_tells_of_formulas_where_they_are_not_escaped(
    label: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("f.csv").write_text(f'ill,model\n"{label}",a\na,a\na,"{label}"\n')
    words = ["assess", "f.csv", "--truth", "ill", "--assigned", "model", "--measures", "recall", "--quiet", "--csv"]
    assert main(words) == 0
    found = capsys.readouterr()
    assert "--csv-safe" in found.err
    assert found.err.count("\n") == 1
    assert label in {row[1] for row in read_csv(found.out)}
    assert main([*words, "-", "--csv-safe"]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    assert f"'{label}" in {row[1] for row in read_csv(found.out)}
    assert main([*words[:-1], "--json", "r.json", "--csv-safe", "--csv", "r.csv"]) == 0
    assert label in json.loads(Path("r.json").read_text())["classes"]
    assert main([*words[:-1], "--csv", "r.csv"]) == 0


def test_pictures_are_known_by_their_bytes(tmp_path: Path) -> None:
    target = tmp_path / "x.png"
    for content, ok in ((b"\x89PNG\r\n\x1a\nold", True), (b"GIF89a", False), (b"", True)):
        target.write_bytes(content)
        if ok:
            write_whole(target, b"\x89PNG\r\n\x1a\nnew", PICTURE)
        else:
            with pytest.raises(UnwritableFile):
                write_whole(target, b"\x89PNG\r\n\x1a\nnew", PICTURE)

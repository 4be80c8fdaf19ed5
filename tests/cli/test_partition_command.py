"""The command ``partition``: files of scaled memberships, regions and scalings, and what it refuses."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.cli import main

IRIS = Path(sy.__file__).parent / "data" / "examples" / "iris.csv"
RUN = ["partition", "iris.csv", "--truth", "species", "--membership", "lda_*"]
APPLY = ["partition", "iris.csv", "--membership", "lda_*", "--learned", "s.json"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(IRIS, "iris.csv")
    return tmp_path


def said(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints on success, or says is wrong."""
    assert main(words) == status
    found = capsys.readouterr()
    assert found.err == "" if not status else found.err.count("\n") == 1
    return found.err if status else found.out


def read(name: str) -> tuple[list[str], Any]:
    with Path(name).open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, np.array(rows, dtype=float)


@pytest.mark.parametrize("options", [{}, {"depth": 2, "floor": 4}, {"scaling": "literal", "ties": "joined"}])
def test_files_hold_what_the_library_finds(options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    more = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    outputs = ["--scaled", "scaled.csv", "--regions", "regions.csv", "--save", "s.json", "--json", "r.json"]
    shown = said([*RUN, *more, *outputs, "--csv", "r.csv"], 0, capsys)
    found = sy.assess("iris.csv", truth="species", membership="lda_*")
    head, rows = read("scaled.csv")
    assert head == list(found.classes)
    assert np.abs(rows - np.asarray(found.scaled_memberships(**options))).max() < 1e-16
    assert Path("regions.csv").read_text() == found.regions(**options).to_csv()
    facts = json.loads(Path("r.json").read_text())
    assert facts["regions"] == json.loads(json.dumps(found.regions(**options).to_json()))
    assert {name: facts[name] for name in options} == options
    values = {row["measure"]: row["value"] for row in facts["estimates"] if row["class"] is None}
    assert values["accuracy"] == 0.8
    (label,) = (name for name in values if name.startswith("partition_accuracy"))
    assert found[label].value == pytest.approx(values[label])
    assert [row["label"] for row in facts["correctness"]] == list(found.classes)
    for words in ("partition accuracy", "separation", "correctness rate (CR)", "0.720 [0.583, 0.825]", "certainty"):
        assert words in shown
    assert Path("r.csv").read_text().startswith("measure,class,")
    # What was saved scales the same rows to the same.
    assert "150 rows scaled by s.json" in said([*APPLY, "--scaled", "again.csv"], 0, capsys)
    if "ties" not in options:
        assert Path("again.csv").read_bytes() == Path("scaled.csv").read_bytes()


def test_standard_output_takes_one_result(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said([*RUN, "--scaled", "-"], 0, capsys)
    assert shown.startswith('"setosa","versicolor","virginica"\n0.99')
    assert shown.count("\n") == 151
    assert said([*RUN, "--regions", "-"], 0, capsys).startswith("region,n,weight,mean,")
    assert "two kinds of results on standard output" in said([*RUN, "--regions", "-", "--json"], 2, capsys)
    assert said([*RUN, "--quiet"], 0, capsys) == ""


def test_other_rows_and_filters(capsys: pytest.CaptureFixture[str]) -> None:
    said([*RUN, "--save", "s.json", "--where", "sepal_length > 5", "--quiet"], 0, capsys)
    said([*APPLY, "--scaled", "other.csv", "--where", "sepal_length <= 5", "--json", "r.json", "--quiet"], 0, capsys)
    facts = json.loads(Path("r.json").read_text())
    assert facts["rows"] == len(read("other.csv")[1]) == 150 - sum(row["n"] for row in facts["regions"])
    Path("no_truth.csv").write_text("id,b,a\n1,0.2,0.8\n2,,0.5\n")
    sy.partition_scaling([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]], ["a", "b", "b"]).save("ab.json")
    words = ["partition", "no_truth.csv", "--membership", "a,b", "--learned", "ab.json", "--scaled", "x.csv"]
    assert "file 'no_truth.csv', column 'b', row 1: the value is missing. Fill it in, or leave" in said(
        words, 2, capsys
    )
    assert "1 row scaled by ab.json, 1 row left out" in said([*words, "--missing", "drop"], 0, capsys)
    assert read("x.csv")[0] == ["a", "b"]


def test_one_column_speaks_for_the_event(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.csv").write_text("ill,risk\nyes,0.9\nno,0.2\nyes,0.6\nno,0.7\nno,0.1\nyes,0.3\n")
    words = ["partition", "p.csv", "--membership", "risk", "--quiet"]
    said([*words, "--truth", "ill", "--event", "yes", "--scaled", "a.csv", "--save", "s.json"], 0, capsys)
    said([*words, "--learned", "s.json", "--scaled", "b.csv"], 0, capsys)
    assert read("a.csv")[0] == ["no", "yes"]
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_rows_of_an_unseen_region(capsys: pytest.CaptureFixture[str]) -> None:
    said([*RUN, "--save", "s.json", "--where", "species != 'virginica'", "--scale", "setosa,versicolor,virginica",
          "--quiet"], 0, capsys)  # fmt: skip
    sy.partition_scaling([[0.9, 0.1, 0], [0.2, 0.8, 0]], ["setosa", "versicolor"], scale=sy.Scale(
        ["setosa", "versicolor", "virginica"])).save("s.json")  # fmt: skip
    told = said([*APPLY, "--scaled", "x.csv"], 2, capsys)
    assert "'virginica' has the highest membership here" in told
    assert "say --unseen keep to leave such rows as they are" in told
    assert not Path("x.csv").exists()
    said([*APPLY, "--scaled", "x.csv", "--unseen", "keep"], 0, capsys)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (RUN[:2] + RUN[4:], "partition needs --truth: column of the true class. Say --truth COLUMN, or --learned"),
        (RUN[:4], "partition needs --membership"),
        ([*RUN, "--depth", "3"], "depth is 3. Say a whole number from 1 to 2"),
        ([*RUN, "--scaling", "klar", "--depth", "2"], "klaR knows depth 1 only. Say --depth 1, or --scaling default"),
        ([*RUN, "--seed", "2"], "ties are not random. Say --ties random, or leave the seed out"),
        ([*RUN, "--unseen", "keep"], "--unseen is for --learned. Leave it out, or say --learned scaling.json"),
        ([*RUN, "--learned", "s.json"], "--truth is given, and --learned only scales. Leave --truth out"),
        ([*APPLY, "--save", "t.json"], "--save is given, and --learned only scales. Leave --save out"),
        ([*APPLY, "--weight", "w"], "--weight is given, and --learned only scales. Leave --weight out"),
        ([*APPLY, "--sd-response", "1"], "--sd-response is given"),
        ([*APPLY, "--depth", "2"], "--depth is given, and the saved scaling has its own. Leave --depth out"),
        (APPLY, "there is no file 's.json'"),
        ([*APPLY[:-1], "iris.csv"], "'iris.csv' is no scaling that steelyard saved. Check the name"),
        ([*RUN[:5], "sepal_*"], "class 'setosa' has no membership column"),
    ],
)
def test_what_does_not_go_together_is_refused(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in said(words, 2, capsys)


@pytest.mark.parametrize("chance", ["1.5", "x.0"])
def test_hints_name_options_that_there_are(chance: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.csv").write_text(f"t,p_a,p_b\na,{chance},0.1\nb,0.2,0.8\na,0.7,0.3\n")
    told = said(["partition", "bad.csv", "--truth", "t", "--membership", "p_*"], 2, capsys)
    assert "file 'bad.csv', column 'p_a', row 0" in told
    assert not any(words in told for words in ("--score", "score=", "--assigned", "assigned class"))


def test_names_that_spreadsheets_take_for_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    Path("f.csv").write_text("t,=1+1,b\n=1+1,0.9,0.1\nb,0.3,0.7\n")
    words = ["partition", "f.csv", "--truth", "t", "--membership", '"=1+1",b', "--scaled", "x.csv", "--quiet"]
    assert main(words) == 0
    assert "--csv-safe prevents that" in capsys.readouterr().err
    said([*words, "--csv-safe"], 0, capsys)
    assert read("x.csv")[0] == ["'=1+1", "b"]

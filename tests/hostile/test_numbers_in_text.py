"""Numbers in text files that could be read in two ways are refused, and ``decimal=`` and ``thousands=`` settle it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import BadOption, NotNumbers, SteelyardError
from steelyard.data import sources
from steelyard.data.spelling import NumberMarks

GERMAN = "t;p;w;s\nja;ja;1.200;0,5\nnein;ja;3;0,25\nnein;nein;2.500;0,7\n"
T: dict[str, Any] = {"truth": "t", "assigned": "p"}


@pytest.fixture
def german(tmp_path: Path) -> str:
    path = tmp_path / "m.csv"
    path.write_text(GERMAN)
    return str(path)


@pytest.mark.parametrize("engine", [None, "local"])
@pytest.mark.parametrize("cell", ["1.200", "-7.001", "12.345", "999.999"])
def test_weak_point_13_a_point_before_three_digits_beside_decimal_commas(
    german: str, engine: str | None, cell: str
) -> None:
    Path(german).write_text(GERMAN.replace("1.200", cell))
    with pytest.raises(NotNumbers) as caught:
        sy.assess(german, **T, weight="w", engine=engine)
    error = caught.value
    assert (error.column, error.row) == ("w", 0)
    assert f"'{cell}' can be {float(cell):g} or {cell.replace('.', '')}" in error.problem
    assert "thousands='.'" in error.mend


@pytest.mark.parametrize("engine", [None, "local"])
def test_weak_point_13_marks_settle_it(german: str, engine: str | None) -> None:
    both: list[dict[str, Any]] = [{"thousands": "."}, {"decimal": ",", "thousands": "."}]
    for marks in both:
        found = sy.assess(german, **T, weight="w", engine=engine, **marks)
        assert found["accuracy"].value == pytest.approx(3700 / 3703)
    assert sy.assess(german, **T, weight="w", engine=engine, decimal=".")["accuracy"].value == pytest.approx(3.7 / 6.7)
    halves = sy.assess(german, **T, weight="s", engine=engine, decimal=",")
    assert halves["accuracy"].value == pytest.approx(1.2 / 1.45)
    assert sy.assess(german, **T, engine=engine).n == 3  # nobody asks for these numbers


def test_weak_point_13_far_down_and_in_other_columns(german: str) -> None:
    rows = GERMAN.splitlines()[0] + "\n" + "ja;ja;3;0,5\nnein;nein;7;0,5\n" * 20_000 + "ja;nein;1.200;0,1\n"
    Path(german).write_text(rows)
    with pytest.raises(NotNumbers) as caught:
        sy.assess(german, **T, weight="w")
    assert caught.value.row == 40_000
    Path(german).write_text(rows.replace("ja;ja;3;0,5", "ja;ja;3;0.5", 1))  # decimal points there, too
    with pytest.raises(NotNumbers, match=r"1\.2 or 1200"):
        sy.assess(german, **T, weight="w")


def test_weak_point_13_a_table(german: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(german).write_text(";yes;no\nyes;54;1.231\nno;27;0,5\n")
    assert main(["table", german, "--event", "yes"]) == 2
    assert "'1.231' can be 1.231 or 1231" in (said := capsys.readouterr().err)
    assert "--thousands '.'" in said
    assert main(["table", german, "--event", "yes", "--thousands", ".", "--measures", "accuracy"]) == 0
    assert "1,231" in capsys.readouterr().out
    Path(german).write_text(";yes;no\nyes;54;1.231\nno;27;32\n")  # nothing beside it has a decimal comma
    assert main(["table", german, "--event", "yes"]) == 0
    assert "is 1.231 a count of 1231?" in capsys.readouterr().out


def test_the_command_line_has_them_too(german: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["assess", german, "--truth", "t", "--assigned", "p", "--weight", "w", "--measures", "accuracy"]
    assert main(words) == 2
    assert "--decimal '.'" in capsys.readouterr().err
    assert main([*words, "--thousands", "."]) == 0
    assert main([*words, "--decimal", "."]) == 0


@pytest.mark.parametrize(
    ("cells", "marks", "values"),
    [
        (["1,200", "35", "2,300"], NumberMarks(".", ","), [1200, 35, 2300]),
        (["1.234.567,5", "0,5", "1e3"], NumberMarks(",", "."), [1234567.5, 0.5, 1000]),
        (["1 200", "12"], NumberMarks(".", " "), [1200, 12]),
        (["1'200.25", "-3'000"], NumberMarks(".", "'"), [1200.25, -3000]),
    ],
)
def test_numbers_with_marks(tmp_path: Path, cells: list[str], marks: NumberMarks, values: list[float]) -> None:
    path = tmp_path / "n.csv"
    path.write_text("name;w\n" + "".join(f'a;"{cell}"\n' for cell in cells))
    files = sources.opened(path, marks=marks)
    assert files.load(["w"]).table["w"].to_pylist() == values
    assert [value for batch in files.batches(["w"]) for value in batch.table["w"].to_pylist()] == values


@pytest.mark.parametrize(
    "marks", [{"decimal": ";"}, {"thousands": "x"}, {"decimal": ".", "thousands": "."}, {"decimal": ""}, {"decimal": 1}]
)
def test_marks_that_cannot_be(german: str, marks: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        sy.assess(german, **T, **marks)


def test_marks_are_those_of_text(german: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": ["a", "b"], "p": ["a", "b"]})
    frame.to_parquet(tmp_path / "a.parquet")
    for source in (frame, str(tmp_path / "a.parquet")):
        with pytest.raises(BadOption, match="no text file"):
            sy.assess(source, **T, decimal=",")
        with pytest.raises(BadOption, match="no text file"):
            sy.compare(source, ["p"], truth="t", thousands=".")
    with pytest.raises(SteelyardError, match="no text file"):
        sy.assess(["a", "b"], ["a", "b"], decimal=".")
    both = sy.compare(german, ["p"], truth="t", weight="w", weight_kind="frequency", thousands=".")
    assert both["p"].n == 3703

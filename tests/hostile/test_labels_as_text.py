"""Labels, clusters and subgroups are what stands in their cells; numbers only where all are plainly spelled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steelyard as sy
from steelyard.core.errors import AmbiguousPrediction, SteelyardError, UnreadableFile
from steelyard.data import sources

Write = Callable[..., str]
T: dict[str, Any] = {"truth": "t", "assigned": "p"}
ONE_CLASS = "they count as the same label"


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(text: str, name: str = "c.csv") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    return write


def columns(names: str, *rows: tuple[str, ...]) -> str:
    return "\n".join([names, *(",".join(row) for row in rows)]) + "\n"


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("engine", [None, "local"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1E2", "100"),
        ("1e5", "100000"),
        ("2E1", "20"),
        ("0x1F", "31"),
        ("1.0", "1"),
        ("01", "1"),
        ("+1", "1"),
        ("007", "7"),
        ("-0", "0"),
        ("1.", "1"),
        ("1E0", "1.0"),
        ("0x1f", "0X1F"),
        ("9223372036854775808", "9223372036854775809"),
    ],
)
def test_weak_point_9_codes_that_are_spelled_differently_are_different_classes(
    written: Write, one: str, other: str, quote: str, engine: str | None
) -> None:
    pairs = [(one, other), (other, one), ("2", "2"), (one, one)]
    path = written(columns("t,p", *[(quote + a + quote, quote + b + quote) for a, b in pairs]))
    result = sy.assess(path, **T, measures=["accuracy"], engine=engine)
    frame = sy.assess(pd.DataFrame(pairs, columns=["t", "p"]), **T, measures=["accuracy"])
    assert result["accuracy"].value == frame["accuracy"].value == 0.5
    assert set(result.classes) == set(frame.classes) == {one, other, "2"}


def test_weak_point_9_as_the_list_has_it(written: Write) -> None:
    path = written("t,p\n1E2,100\n100,1E2\n1E3,1000\n2,2\n")
    result = sy.assess(path, **T)
    assert result["accuracy"].value == 0.25
    assert any("same number: '100', '1E2'" in note for note in result.notes)


@pytest.mark.parametrize("engine", [None, "local"])
def test_weak_point_9_clusters_and_subgroups(written: Write, engine: str | None) -> None:
    ids = [f"{k}E{d}" for k in range(1, 21) for d in range(10)]
    rows = [(str(k % 2), str(k % 2 if k % 7 else 1 - k % 2), word, word[-2:]) for k, word in enumerate(ids)]
    path = written(columns("t,p,g,e", *rows))
    assert len(sy.assess(path, **T, group="g", engine=engine).tally.groups) == 200
    parts = sy.assess(written("t,p,s\n1,1,1E2\n0,0,100\n1,0,1E2\n0,0,100\n"), **T, by="s", engine=engine).slices
    assert list(parts) == ["100", "1E2"]


@pytest.mark.parametrize("engine", [None, "local"])
def test_weak_point_9_one_file_of_several_makes_text_of_the_column(written: Write, engine: str | None) -> None:
    first = written("t,p,g\n1,1,1\n2,2,2\n", "d/a.csv")
    written("t,p,g\n01,1,01\n2,2,2\n", "d/b.csv")
    result = sy.assess(str(Path(first).parent), **T, group="g", engine=engine)
    assert result.classes == ("01", "1", "2")
    assert set(result.tally.groups) == {"01", "1", "2"}
    assert result["accuracy"].value == 0.75


def test_weak_point_9_keys_of_folders(written: Write) -> None:
    first = written("t,p\n1,1\n2,2\n", "h/code=1E2/a.csv")
    written("t,p\n1,2\n2,2\n", "h/code=100/a.csv")
    parts = sy.assess(str(Path(first).parents[1]), **T, by="code").slices
    assert {part: result["accuracy"].value for part, result in parts.items()} == {"100": 0.5, "1E2": 1.0}


@pytest.mark.parametrize("kind", ["whole", "boolean", "capitals", "words", "text"])
def test_plain_columns_are_read_as_ever(written: Write, kind: str) -> None:
    one, zero = {"whole": (1, 0), "boolean": (True, False), "capitals": (True, False)}.get(kind, ("yes", "no"))
    words = {"whole": "1,0", "boolean": "true,false", "capitals": "TRUE,FALSE", "words": "yes,no", "text": '"yes","no"'}
    a, b = words[kind].split(",")
    result = sy.assess(written(columns("t,p", (a, a), (b, b), (a, b))), **T)
    assert result.classes == (zero, one)
    assert [type(label) for label in result.classes] == [type(zero), type(one)]


@pytest.mark.parametrize("engine", [None, "local"])
@pytest.mark.parametrize("swap", [False, True])
def test_whole_numbers_beside_gaps_are_the_same_classes_with_a_note(
    written: Write, engine: str | None, swap: bool
) -> None:
    rows = [("1", "1.0"), ("0", "0.0"), ("1", "0.0"), ("0", "")]
    path = written(columns("p,t" if swap else "t,p", *rows))
    result = sy.assess(path, **T, missing="drop", engine=engine)
    assert result.classes == (0, 1)
    assert result["accuracy"].value == pytest.approx(2 / 3)
    (note,) = [note for note in result.notes if ONE_CLASS in note]
    assert f"column '{'t' if swap else 'p'}'" in note
    assert "(3 rows)" in note


@pytest.mark.parametrize("engine", [None, "local"])
def test_files_of_which_one_has_gaps_have_the_same_classes_and_clusters(written: Write, engine: str | None) -> None:
    first = written("t,p,g\n1,1,1\n0,0,2\n", "d/a.csv")
    written("t,p,g\n1.0,1,1.0\n0.0,1,2.0\n", "d/b.csv")
    result = sy.assess(str(Path(first).parent), **T, group="g", engine=engine)
    assert result.classes == (0, 1)
    assert result.tally.groups == (1, 2)
    assert sum(ONE_CLASS in note for note in result.notes) == 2


def test_decimals_alone_are_text_and_an_event_a_scale_and_costs_find_them(written: Write) -> None:
    path = written("t,p\n1.0,1.0\n0.0,0.0\n1.0,0.0\n")
    assert sy.assess(path, **T).classes == ("0.0", "1.0")
    costs = {1: {0: 5}, 0: {1: 1}}
    result = sy.assess(path, **T, event=1, cost=costs)
    assert result.tally.scale.event == "1.0"
    assert result["cost"].value == pytest.approx(5 / 3)
    assert any("no class is spelled '1'" in note for note in result.notes)
    scaled = sy.assess(path, **T, scale=sy.Scale([0, 1]))
    assert scaled["sensitivity"].value == 0.5
    assert any(ONE_CLASS in note for note in scaled.notes)
    assert not any("no class" in note for note in sy.assess(path, **T, event="1.0").notes)


@pytest.mark.parametrize(
    ("truth", "said", "classes"),
    [
        (["1", "0", "1"], [1.0, 0.0, np.nan], (0, 1)),
        (["1", "0", "1"], [1, 0, 0], (0, 1)),
        (pd.Series([1.0, 0.0, np.nan]), ["1", "0", "0"], (0, 1)),
        (["1.0", "0.0", "1.0"], ["1", "0", "0"], ("0", "1")),
        ([1, 0, 1], ["1.0", "0.0", "0.0"], (0, 1)),
    ],
)
def test_text_of_whole_numbers_and_numbers_are_one_class_in_lists_and_frames(
    truth: Any, said: Any, classes: tuple[Any, ...], tmp_path: Path
) -> None:
    result = sy.assess(truth, said, missing="drop")
    assert result.classes == classes
    assert sum(ONE_CLASS in note for note in result.notes) == 1
    pq.write_table(
        pa.table({"t": pa.array(truth, from_pandas=True), "p": pa.array(said, from_pandas=True)}),
        tmp_path / "a.parquet",
    )
    for engine in (None, "local"):
        again = sy.assess(str(tmp_path / "a.parquet"), **T, missing="drop", engine=engine)
        assert (again.classes, again["accuracy"].value) == (classes, result["accuracy"].value)
        assert [note for note in again.notes if ONE_CLASS in note and "3 rows" in note] or again.dropped


def test_both_spellings_in_one_column_are_two_classes(written: Write) -> None:
    path = written('t,p\n"1",1.0\n1.0,1\n0,0\n')
    result = sy.assess(path, **T)
    assert result.classes == ("0", "1", "1.0")
    assert any("same number: '1', '1.0'" in note for note in result.notes)


def test_what_is_a_score_stays_one(written: Write) -> None:
    path = written("t,p\nyes,1.0\nno,0.0\nyes,0.25\n")
    assert sy.assess(path, **T, event="yes")["sensitivity"].value == 0.5
    assert sy.assess(written("t,p\nyes,1.0\nno,0.0\n"), **T, event="yes")["auc"].value == 1
    assert sy.assess(written("t,p\nyes,1E2\nno,01\n"), **T, event="yes", threshold=50)["error"].value == 0
    with pytest.raises(AmbiguousPrediction):
        sy.assess(written("t,p\n1,1.0\n0,0.0\n"), **T, event=0)
    water = sy.Continuum([65.0], classes=["dry", "wet"])
    assert sy.assess(written("t,p\n64.0,60.0\n70,66.0\n"), **T, scale=water)["error"].value == 0


def test_a_filter_and_a_label_are_the_same_thing(written: Write) -> None:
    path = written("t,p\n1E2,100\n100,1E2\n2,2\n")
    assert sy.assess(path, **T, where="t != '2'").n == 2
    assert sy.assess(path, **T, where="t in ('1E2', '2')").n == 2
    with pytest.raises(SteelyardError, match="Put it in quotes: '100'"):
        sy.assess(path, **T, where="t == 100")
    assert sy.assess(written("t,p\n1,1\n0,1\n2,2\n"), **T, where="t > 0").n == 2


def test_files_of_other_kinds_are_still_refused(written: Write) -> None:
    first = written("t,p\n1,1\n2,2\n", "d/a.csv")
    written("t,p\nyes,yes\nno,no\n", "d/b.csv")
    with pytest.raises(UnreadableFile, match="different kinds of values"):
        sy.assess(str(Path(first).parent), **T)


def test_names_in_tables_and_costs_are_text(written: Write) -> None:
    table = sources.load_named(written("true,1E2,100\n1E2,5,1\n100,2,7\n")).table
    assert table.column(0).to_pylist() == ["1E2", "100"]
    assert sources.load_named(written("true,1,2\n1,5,1\n2,2,7\n")).table.column(0).to_pylist() == [1, 2]


MISSING = ["None", "-", "?", "missing", " ", "<NA>", "NaT", "nil", "#REF!", ".", "n/a", "#VALUE!", "??"]


@pytest.mark.parametrize("word", MISSING)
@pytest.mark.parametrize("form", ["list", "array", "frame", "csv", "local"])
def test_weak_point_23_words_for_missing_values_are_asked_about(written: Write, word: str, form: str) -> None:
    truth, said = ["a", word, "b", word], ["a", "a", "b", "b"]
    if form in ("list", "array"):
        result = sy.assess(truth if form == "list" else np.array(truth), said)
    elif form == "frame":
        result = sy.assess(pd.DataFrame({"t": truth, "p": said}), **T)
    else:
        path = written(columns("t,p", *[(f'"{one}"', two) for one, two in zip(truth, said, strict=True)]))
        result = sy.assess(path, **T, engine="local" if form == "local" else None)
    assert f"'{word}' is a class of 2 rows: is it a missing value?" in result.notes


def test_weak_point_23_arrays_that_numpy_made_text_of() -> None:
    result = sy.assess(np.array(["a", np.nan, "b"]), ["a", "b", "b"])
    assert "'nan' is a class of 1 row: is it a missing value?" in result.notes
    assert any("'None'" in note for note in sy.assess(["a", "b"], np.array(["a", None]).astype(str)).notes)
    for fine in (["+", "-"], ["none", "mild"], ["unknown", "known"], ["0", "1"]):
        assert not any("missing value" in note for note in sy.assess(fine, fine).notes)

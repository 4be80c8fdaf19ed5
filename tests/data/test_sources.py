"""Files: CSV in all its dialects, Parquet, Arrow; and what is wrong with them, in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import steelyard as sy
from steelyard.core.errors import (
    DuplicateColumns,
    EmptyInput,
    MissingValues,
    NotNumbers,
    SteelyardError,
    UnboundClasses,
    UnknownColumn,
    UnreadableFile,
    UnusableLabels,
)
from steelyard.data import sources
from steelyard.data.paths import File
from tests.effort import repeats

TABLE = pa.table({"grade": ["low", "high", "low"], "p_low": [0.9, 0.2, 0.8], "p_high": [0.1, 0.8, 0.2]})
TEXT = "grade,p_low,p_high\nlow,0.9,0.1\nhigh,0.2,0.8\nlow,0.8,0.2\n"


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., str]:
    """Write a file and say where it is."""

    def save(content: str | bytes, name: str = "data.csv") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return save


# --- CSV ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace(",", ";"),
        TEXT.replace(",", "\t"),
        TEXT.replace(",", "|"),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\r"),
        TEXT.rstrip("\n"),
        "\ufeff" + TEXT,
        "\ufeff" + TEXT.replace(",", ";").replace("\n", "\r\n"),
        TEXT.replace("low,", '"low",').replace("high,", '"high",').replace('_"low"', "_low"),
        TEXT + "\n\n",
        TEXT.replace("grade", '"grade"'),
    ],
    ids=[
        "comma",
        "semicolon",
        "tab",
        "bar",
        "windows",
        "old mac",
        "no end",
        "mark",
        "excel",
        "quoted",
        "blank",
        "head",
    ],
)
@pytest.mark.parametrize("ending", ["csv", "CSV", "tsv", "txt"])
def test_csv_in_all_its_dialects(saved: Callable[..., str], text: str, ending: str) -> None:
    path = saved(text, f"data.{ending}")
    assert sources.read(path).to_pydict() == TABLE.to_pydict()
    assert sources.read(Path(path)).num_rows == 3
    assert sy.assess(path, truth="grade", membership="p_*")["accuracy"].value == 1.0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("y;p\na;0,25\nb;1\n", [0.25, 1.0]),
        ("y\tp\na\t-0,25\nb\t1,5e-3\n", [-0.25, 0.0015]),
        ('y;p\n"a";"0,25"\n"b";"1,0"\n', [0.25, 1.0]),
        ('y,p\na,"0,25"\nb,"1"\n', [0.25, 1.0]),
        ('y,p\na,"0,125"\nb,"1,250"\n', [0.125, 1.25]),
        ('y,p\na,"1,200"\nb,35\n', ["1,200", "35"]),  # twelve hundred, more likely
        ("y;p\na;1,200\nb;35\n", [1.2, 35.0]),
        ("y;p\r\na;,25\r\nb;NA\r\n", [0.25, None]),
        ("y;p\na;0,25\nb;1.5\n", ["0,25", "1.5"]),  # which of the two are decimals?
        ("y;p\na;0.25\n1,5;1\n", [0.25, 1.0]),
        ("y,p\na,25\nb,1\n", [25, 1]),
        ('y,p\n"a, b",0.5\n"1,5",1\n', [0.5, 1.0]),
    ],
)
def test_decimals_come_after_a_comma_where_all_numbers_have_one(
    saved: Callable[..., str], text: str, values: list[object]
) -> None:
    assert sources.read(saved(text)).column("p").to_pylist() == values


def test_a_mark_between_thousands_is_named(saved: Callable[..., str]) -> None:
    path = saved('y,m,w\na,a,"1,200"\na,b,35\nb,a,48\nb,b,"2,300"\n', "thousands.csv")
    with pytest.raises(NotNumbers, match=r"column 'w', row 0: '1,200' is no.* number.*no mark between thousands"):
        sy.assess(path, truth="y", assigned="m", weight="w")


def test_a_decimal_comma_among_points_is_named(saved: Callable[..., str]) -> None:
    path = saved("y;p_a;p_b\na;0.25;0.75\nb;0,75;0.25\n")
    with pytest.raises(NotNumbers, match=r"column 'p_a', row 1: '0,75' is not a number. Write decimals with a point"):
        sy.assess(path, truth="y", membership="p_*")


def test_the_word_that_makes_text_of_a_column_is_named(saved: Callable[..., str]) -> None:
    path = saved("y,p\n1,1\n2,2\n3,unknown\n1,2\n")
    with pytest.raises(UnusableLabels, match=r"text \('unknown'\) .* a column with 'unknown' in it is text"):
        sy.assess(path, truth="y", assigned="p")


def test_commas_in_quotes_do_not_separate(saved: Callable[..., str]) -> None:
    table = sources.read(saved('"a, b, c";y\n1;2\n'))
    assert table.to_pydict() == {"a, b, c": [1], "y": [2]}


def test_a_line_may_break_inside_quotes(saved: Callable[..., str]) -> None:
    table = sources.read(saved('y,m\n"two\nlines","two\nlines"\none,"say ""hi"""\n'))
    assert table.column("y").to_pylist() == ["two\nlines", "one"]
    assert table.column("m").to_pylist() == ["two\nlines", 'say "hi"']


@pytest.mark.parametrize("word", ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", '""', '"NA"'])
def test_words_for_nothing_are_missing(saved: Callable[..., str], word: str) -> None:
    path = saved(f"y,m,p\na,a,0.5\n{word},b,{word}\nb,b,1\n")
    assert sources.read(path).column("y").to_pylist() == ["a", None, "b"]
    assert sources.read(path).column("p").to_pylist() == [0.5, None, 1.0]
    with pytest.raises(MissingValues, match=r"column 'y', row 1: .*missing='drop'"):
        sy.assess(path, truth="y", assigned="m")
    assert sy.assess(path, truth="y", assigned="m", missing="drop").dropped == 1


@pytest.mark.parametrize("word", ["None", "none", "-", "?", "na", "0"])
def test_other_words_are_labels(saved: Callable[..., str], word: str) -> None:
    assert sources.read(saved(f"y\na\n{word}\n")).column("y").to_pylist() == ["a", word]


def test_a_date_stays_text(saved: Callable[..., str]) -> None:
    path = saved("y,m,day,at,clock\n0,0,2020-01-02,2020-01-02 10:00,10:30\n1,1,2020-01-03,2020-01-02 10:05,10:40\n")
    table = sources.read(path)
    assert table.column("day").to_pylist() == ["2020-01-02", "2020-01-03"]
    assert table.column("at").to_pylist() == ["2020-01-02 10:00", "2020-01-02 10:05"]
    assert table.column("clock").to_pylist() == ["10:30", "10:40"]
    assert table.column("y").to_pylist() == [0, 1]
    assert list(sy.assess(path, truth="y", assigned="m", by="day").slices) == ["2020-01-02", "2020-01-03"]


def test_the_kind_of_a_column_is_judged_by_all_of_it(saved: Callable[..., str]) -> None:
    rows = 200_000
    table = sources.read(saved("p,word\n" + "1,1\n" * rows * 2 + "0.5,a\n"))
    assert table.column("p").to_pylist()[-2:] == [1.0, 0.5]
    assert table.column("word").to_pylist()[-2:] == ["1", "a"]


def test_a_row_may_be_longer_than_a_block(saved: Callable[..., str]) -> None:
    long = "x" * 3_000_000
    assert sources.read(saved(f"y,m\n{long},a\nb,b\n")).column("y").to_pylist() == [long, "b"]


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", EmptyInput, "has nothing in its first line"),
        (b"\n\n", EmptyInput, "The first line names the columns"),
        (b"\xef\xbb\xbf", EmptyInput, "has nothing in its first line"),
        (b"y,m\na,b,c\n", UnreadableFile, "row 0: 3 values, but 2 columns: 'a,b,c'"),
        (b"y,m\na,b\nc\n", UnreadableFile, "row 1: 1 values, but 2 columns: 'c'"),
        ("y,m\ncafé,b\n".encode("latin-1"), UnreadableFile, "column 'y', row 0: b'caf\\xe9' in 'data.csv'"),
        ("y,m\na,b\nc,é\n".encode("latin-1"), UnreadableFile, "column 'm', row 1: b'\\xe9'"),
        ("é,m\na,b\n".encode("latin-1"), UnreadableFile, "the first line of 'data.csv' is not in UTF-8"),
        ("y,m\na,b\n".encode("utf-16"), UnreadableFile, "is in UTF-16"),
        (b"y,m\n\x00\xff\xfe,b\n", UnreadableFile, "is not in UTF-8"),
    ],
)  # fmt: skip
def test_csv_that_cannot_be_read_is_refused(
    saved: Callable[..., str], content: bytes, error: type[SteelyardError], words: str
) -> None:
    path = saved(content)
    with pytest.raises(error) as caught:
        sy.assess(path, truth="y", assigned="m")
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_header_alone_is_an_empty_table(saved: Callable[..., str]) -> None:
    with pytest.raises(EmptyInput, match="there is no row to assess"):
        sy.assess(saved("y,m\n"), truth="y", assigned="m")


def test_a_name_that_stands_twice_is_refused_where_it_is_asked_for(saved: Callable[..., str]) -> None:
    path = saved("y,m,m\na,a,b\nb,b,a\n")
    with pytest.raises(DuplicateColumns, match="2 columns are called 'm'"):
        sy.assess(path, truth="y", assigned="m")
    with pytest.raises(DuplicateColumns, match="called 'm'"):
        sy.assess(path, truth="y", membership="m*")


# --- Parquet and Arrow ----------------------------------------------------------------------------------------


def write_stream(table: Any, path: str) -> None:
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=2)


def write_file(table: Any, path: str) -> None:
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=2)


WRITERS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "parquet": ("a.parquet", parquet.write_table),
    "parquet of polars": ("a.parquet", lambda table, path: polars_of(table).write_parquet(path)),
    "arrow file": ("a.arrow", write_file),
    "arrow stream": ("a.arrow", write_stream),
    "feather": ("a.feather", feather.write_feather),
    "ipc of polars": ("a.arrow", lambda table, path: polars_of(table).write_ipc(path)),
    "ipc stream of polars": ("a.arrow", lambda table, path: polars_of(table).write_ipc_stream(path)),
}


def polars_of(table: Any) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


@pytest.mark.parametrize("writer", WRITERS)
def test_binary_files_are_read(tmp_path: Path, writer: str) -> None:
    name, write = WRITERS[writer]
    path = str(tmp_path / name)
    write(TABLE, path)
    assert sources.read(path).to_pydict() == TABLE.to_pydict()
    assert sy.assess(path, truth="grade", membership="p_*")["accuracy"].value == 1.0


@pytest.mark.study
@pytest.mark.parametrize("writer", ["parquet", "arrow file", "arrow stream", "feather"])
def test_a_file_that_was_cut_off_is_refused_or_whole(tmp_path: Path, writer: str) -> None:
    name, write = WRITERS[writer]
    path = tmp_path / name
    write(TABLE, str(path))
    content = path.read_bytes()
    for length in range(0, len(content), repeats(23, 7)):
        path.write_bytes(content[:length])
        with pytest.raises(UnreadableFile) as caught:
            sources.read(str(path))
        assert str(caught.value).isprintable()


@pytest.mark.study
@pytest.mark.parametrize("writer", ["parquet", "arrow file", "arrow stream"])
def test_a_damaged_file_never_raises_anything_else(tmp_path: Path, writer: str) -> None:
    name, write = WRITERS[writer]
    path = tmp_path / name
    write(TABLE, str(path))
    content = path.read_bytes()
    refused, step = 0, repeats(11, 3)
    for place in range(0, len(content), step):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        try:
            sy.assess(str(path), truth="grade", membership="p_*")
        except SteelyardError as error:
            refused += 1
            assert str(error).isprintable()
    assert refused > len(content) // (10 * step)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.xlsx", "ends in none of .csv"),
        ("a", "ends in none of .csv"),
        ("a.parquet", "cannot be read as parquet"),
        ("a.arrow", "is no Arrow file, or cut off"),
        ("a.feather", "is no Arrow file, or cut off"),
    ],
)
def test_a_file_with_the_wrong_ending_is_refused(saved: Callable[..., str], name: str, words: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        sources.read(saved(TEXT, name))
    assert words in str(caught.value)


# --- names of files -------------------------------------------------------------------------------------------


def test_several_files_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.csv").write_text("y,m\nx,x\n")
    (tmp_path / "b" / "c.csv").write_text("m,y\ny,x\n")
    (tmp_path / "b" / "d.csv").write_text("y,m\n")
    parquet.write_table(pa.table({"y": ["z"], "m": ["z"]}), tmp_path / "e.parquet")
    together = sources.read(str(tmp_path / "**" / "*.*"))
    assert together.to_pydict() == {"y": ["x", "x", "z"], "m": ["x", "y", "z"]}
    assert sources.read(str(tmp_path / "*.csv")).num_rows == 1
    assert sy.assess(str(tmp_path / "**/*.*"), truth="y", assigned="m").n == 3


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [("y\n1\n", "y\n0.5\n", [1.0, 0.5]), ("y\nNA\n", "y\na\n", [None, "a"]), ("y\n1\n", "y\nNA\n", [1, None])],
)
def test_files_may_differ_in_what_numbers_they_hold(tmp_path: Path, first: str, second: str, kinds: list[Any]) -> None:
    (tmp_path / "1.csv").write_text(first)
    (tmp_path / "2.csv").write_text(second)
    assert sources.read(str(tmp_path / "?.csv")).column("y").to_pylist() == kinds


@pytest.mark.parametrize(
    ("second", "error", "words"),
    [
        ("y,n\na,b\n", UnreadableFile, "'2.csv' has other columns than '1.csv'"),
        ("y\na\n", UnreadableFile, "'2.csv' has other columns than '1.csv'"),
        ("y,m\n1,2\n", UnreadableFile, "hold different kinds of values"),
    ],
)
def test_files_that_do_not_go_together_are_refused(
    tmp_path: Path, second: str, error: type[SteelyardError], words: str
) -> None:
    (tmp_path / "1.csv").write_text("y,m\na,b\n")
    (tmp_path / "2.csv").write_text(second)
    with pytest.raises(error) as caught:
        sources.read(str(tmp_path / "*.csv"))
    assert words in str(caught.value)


def test_a_name_with_brackets_is_a_name_first(saved: Callable[..., str]) -> None:
    assert sources.read(saved(TEXT, "run[1].csv")).num_rows == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.csv", "Check name and folder"),
        ("*.nothing", "there is no file"),
        ("", "there is no file"),
        ("a\x00b.csv", r"'a\x00b.csv'"),
        ("x" * 5000, "x…"),
        ("\ud800.csv", r"'\ud800.csv'"),
    ],
)
def test_files_that_are_not_there(name: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableFile) as caught:
        sources.read(name)
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_file_that_may_not_be_read(saved: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(TEXT)

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError("not for you")

    monkeypatch.setattr(File, "where", property(refuse))
    with pytest.raises(UnreadableFile, match="not for you"):
        sources.read(path)


# --- columns --------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name_alone() -> None:
    assert sources.column(TABLE, "grade").to_pylist() == ["low", "high", "low"]
    with pytest.raises(UnknownColumn, match=r"there is no column 'grades'\. Did you mean 'grade'\?"):
        sources.column(TABLE, "grades")
    with pytest.raises(UnknownColumn, match="There are 'grade', 'p_low', 'p_high'"):
        sources.column(TABLE, "zzz")


def test_a_column_is_found_without_a_list_of_all_names() -> None:
    """To list the names for each of a thousand memberships took longer than all else, for every batch of a file."""
    table = pa.table({"a": [1], "b": [2]})
    unlisted = SimpleNamespace(schema=table.schema, column=table.column)
    assert sources.column(unlisted, "b").to_pylist() == [2]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("p_*", {"low": "p_low", "high": "p_high"}),
        ("*_low", {"p": "p_low"}),
        ("*", {"grade": "grade", "p_low": "p_low", "p_high": "p_high"}),
        (["p_low", "p_high"], {"p_low": "p_low", "p_high": "p_high"}),
        ({"low": "p_low", "high": "p_high"}, {"low": "p_low", "high": "p_high"}),
        ({0: "p_low", 1.0: "p_high"}, {"0": "p_low", "1": "p_high"}),
    ],
)  # fmt: skip
def test_membership_columns_are_found(wanted: Any, found: dict[str, str]) -> None:
    assert sources.membership_columns(TABLE, wanted) == found


def test_signs_in_a_pattern_other_than_the_star_are_signs() -> None:
    table = pa.table({"p[a]": [1.0], "p[b]": [0.0], "pa": [0.0]})
    assert sources.membership_columns(table, "p[*]") == {"a": "p[a]", "b": "p[b]"}


@pytest.mark.parametrize(
    ("names", "classes", "order"),
    [
        (["b", "a"], ["a", "b"], [1, 0]),
        (["p_b", "p_a"], ["a", "b"], [1, 0]),
        (["a.p", "b.p"], ["a", "b"], [0, 1]),
        (["p_a_x", "p_b_x"], ["b", "a"], [1, 0]),
        (["10", "1"], [1, 10], [1, 0]),
        (["c1", "c11", "c111"], [111, 11, 1], [2, 1, 0]),
    ],
)
def test_classes_are_bound_one_to_one(names: list[str], classes: list[Any], order: list[int]) -> None:
    assert sources.bind(names, sy.Scale(classes)) == order


@pytest.mark.parametrize(
    "names", [["a"], ["a", "b", "c"], ["a", "c"], ["a", "a"], ["p_a", "q_b"], ["p_a", "p_b", "p_c"], [], ["ab", "b"]]
)
def test_less_than_one_to_one_is_refused(names: list[str]) -> None:
    with pytest.raises(UnboundClasses, match="Classes are 'a', 'b'"):
        sources.bind(names, sy.Scale(["a", "b"]))


def test_a_thousand_classes_are_bound() -> None:
    names = [f"prob_{number}_of" for number in range(1000)]
    assert sources.bind(names, sy.Scale(list(range(999, -1, -1)))) == list(range(999, -1, -1))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([["a"], ["b"]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([[("k", "a")], [("k", "b")]], pa.map_(pa.string(), pa.string())),
    ],
)
@pytest.mark.parametrize("column", ["truth", "said"])
def test_lists_and_structures_are_no_labels(tmp_path: Path, values: Any, column: str) -> None:
    path = tmp_path / "nested.parquet"
    parquet.write_table(pa.table({"truth": ["a", "b"], "said": ["a", "b"]} | {column: values}), path)
    with pytest.raises(UnusableLabels, match=f"nested.parquet', column '{column}': a column of .* cannot hold class"):
        sy.assess(path, truth="truth", assigned="said")

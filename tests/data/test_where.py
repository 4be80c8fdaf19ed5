"""The language of row filters: what it says, what it refuses, and that nothing in it can act."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steelyard as sy
from steelyard.core.errors import BadFilter, BadOption, SteelyardError, UnknownColumn, UnknownLabel
from steelyard.data import sources
from steelyard.data.where import Filter

TABLE = pa.table(
    {
        "year": [2023, 2024, 2024, None],
        "score": [0.1, 0.5, float("nan"), 0.9],
        "site": ["n", "s", None, "n"],
        "valid": [True, False, None, True],
        "odd name": [0, 1, 2, 3],
        "coded": pa.array(["n", "s", None, "n"]).dictionary_encode(),
        "empty": pa.nulls(4),
        "short": pa.array([1, 2, 3, 4], pa.float32()),
        "day": [date(2024, 1, 1), date(2024, 6, 1), None, date(2025, 1, 1)],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("year == 2024", [1, 2]),
        ("year != 2024", [0]),
        ("2024 == year", [1, 2]),
        ("year < 2024", [0]),
        ("2023 < year", [1, 2]),
        ("year == 2024 and score >= 0.5", [1]),
        ("year == 2023 or score > 0.5", [0, 3]),
        ("(year == 2023 or score > 0.5) and site == 'n'", [0, 3]),
        ("year == 2023 or score > 0.5 and site == 's'", [0]),
        ("not year == 2024", [0]),
        ("0.1 < score <= 0.5", [1]),
        ("year > -1", [0, 1, 2]),
        ("year in (2024, 2025)", [1, 2]),
        ("year in (2024.0, 1.5)", [1, 2]),
        ("year in [2023]", [0]),
        ("year not in (2024,)", [0]),
        ("not (year in (2024,))", [0]),
        ("short in (1, 2)", [0, 1]),
        ("site in ('n', 'x')", [0, 3]),
        ("site in ('n')", [0, 3]),
        ('site == "n"', [0, 3]),
        ("coded == 's'", [1]),
        ("coded in ('s',)", [1]),
        ("site == coded", [0, 1, 3]),
        ("year is null", [3]),
        ("site is not null", [0, 1, 3]),
        ("site is None", [2]),
        ("score is null", [2]),
        ("empty is null", [0, 1, 2, 3]),
        ("empty == 1", []),
        ("empty in (1, 2) or year == 2023", [0]),
        ("not empty in ('n',)", []),
        ("valid", [0, 3]),
        ("not valid", [1]),
        ("valid == true", [0, 3]),
        ("valid != False", [0, 3]),
        ("`odd name` >= 2", [2, 3]),
        ("`odd name` >= 2 and `year` == 2024", [2]),
        ("site == '`n`'", []),
        ("true", [0, 1, 2, 3]),
        ("day < '2024-12-31'", [0, 1]),
        ("day in ('2025-01-01',)", [3]),
        (" year == 2024 ", [1, 2]),
    ],
)
def test_a_filter_keeps_the_rows_that_it_says(text: str, rows: list[int]) -> None:
    assert TABLE.filter(Filter.read(text).on(TABLE.schema)).column("odd name").to_pylist() == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "where is ''"),
        ("   ", "where is"),
        ("year = 2024", "Equal is written =="),
        ("year <> 2024", "Unequal is written !="),
        ("year == 2024 AND valid", "in small letters"),
        ("year IS NULL", "in small letters"),
        ("valid & valid", "Write and, or, not"),
        ("year == '2024'", "column 'year': the column holds int64, and '2024' is text. Leave out the quotes"),
        ("site == 3", "column 'site': the column holds string, and 3 is a number. Put it in quotes: '3'"),
        ("site > 3", "the column holds string, and 3 is a number. Some value of it is no number"),
        ("valid == 1", "the column holds bool, and 1 is a number. Say true or false"),
        ("year == true", "and True is a boolean. Compare it with a number"),
        ("day == 3", "and 3 is a number. Write it as in '2024-12-31'"),
        ("day == 'yesterday'", "'yesterday' cannot be compared with date32[day]"),
        ("year == null", "Write `is null`"),
        ("year is 3", "is not understood"),
        ("year", "is no condition. Compare it: year == ..."),
        ("year == valid", "cannot be compared"),
        ("1 == 1", "no column is compared"),
        ("year in ()", "empty list"),
        ("year in site", "'site' is not understood"),
        ("`year` in `site`", "'`site`' is not understood"),
        ("`year` >= 10,5", "Decimals stand behind a point: 10.5"),
        ("day >= 2024-03-02", "Days stand in quotes: '2024-03-02'"),
        ("day < 2024-12-31", "Days stand in quotes: '2024-12-31'"),
        ("year + 1 == 2024", "'year + 1' is not understood"),
        ("site == 'it''s'", "two texts stand side by side"),
        ("f(year)", "is not understood"),
        ("year.real == 1", "is not understood"),
        ("__import__('os').system('true')", "is not understood"),
        ("(lambda: 1)()", "is not understood"),
        ("[year for year in (1,)]", "is not understood"),
        ("year if valid else valid", "is not understood"),
        ("(x := 1)", "is not understood"),
        ("f'{year}' == site", "is not understood"),
        ("site == b'n'", "is not understood"),
        ("year == 3j", "is not understood"),
        ("not " * 2000 + "valid", "nested too deeply"),
        ("(" * 500 + "valid" + ")" * 500, "cannot be read"),
        ("year == 1 or " * 2000 + "valid", "26,005 signs"),
        ("year == 1\nvalid", "cannot be read"),
        ("null", "is not understood"),
        (7, "where is 7"),
    ],
)
def test_what_is_no_filter_is_refused_with_a_mend(text: Any, words: str) -> None:
    with pytest.raises(BadFilter) as caught:
        Filter.read(text).on(TABLE.schema)
    assert words in str(caught.value)
    assert str(caught.value).isprintable()
    assert caught.value.mend


def test_an_unknown_column_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownColumn, match=r"there is no column 'yaer'\. Did you mean 'year'\?"):
        Filter.read("yaer == 2024").on(TABLE.schema)


def test_names_are_those_of_columns() -> None:
    assert Filter.read("`a b` == 1 and c in (1, 2) and (c is null or d == true)").names == ["a b", "c", "d"]


@pytest.mark.parametrize("seed", range(3))
def test_any_text_is_read_or_refused(seed: int) -> None:
    random = np.random.default_rng(seed)
    pieces = ["year", "site", "valid", "==", "<", "and", "or", "not", "in", "(", ")", "'n'", "2024", "null", "is", "`"]
    for _ in range(300):
        text = " ".join(random.choice(pieces, size=random.integers(1, 9)))
        try:
            TABLE.filter(Filter.read(text).on(TABLE.schema))
        except SteelyardError as error:
            assert str(error).isprintable()


# --- in assess and compare ------------------------------------------------------------------------------------


def test_frames_are_filtered_and_rows_keep_their_numbers() -> None:
    frame = pa.table({"y": ["a", "b", "a", "b"], "m": ["a", "b", "b", "a"], "k": [1, 1, 2, 2], "bad": [1, 2, 3, 0.5]})
    assert sy.assess(frame, truth="y", assigned="m", where="k == 1")["accuracy"].value == 1.0
    both = sy.compare(frame, {"m": "m", "y": "y"}, truth="y", where="k == 2")
    assert both["m"]["accuracy"].value == 0.0
    assert sorted(both.deciding_rows("error", "m", "y", 5)["row"]) == [2, 3]
    with pytest.raises(UnknownLabel, match="column 'm', row 3"):
        sy.assess(frame, truth="y", assigned="m", scale=sy.Scale(["b", "c"]), where="k == 2 and y == 'b'")


def test_a_filter_needs_columns() -> None:
    with pytest.raises(BadOption, match="where= names a column, but arrays were given"):
        sy.assess(["a", "b"], ["a", "b"], where="a == 1")
    with pytest.raises(BadOption, match="weight= is an array"):
        sy.assess(pa.table({"y": ["a", "b"]}), truth="y", assigned="y", where="y == 'a'", weight=[1, 2])


def test_training_data_are_taken_as_they_are() -> None:
    frame = pa.table({"y": ["a", "b", "a", "b"], "m": ["a", "b", "b", "a"], "k": [1, 1, 2, 2]})
    result = sy.assess(frame, truth="y", assigned="m", where="k == 1", training=frame)
    assert result.n == 2
    assert result.training is not None
    assert result.training.n == 4


WIDE = pa.table(
    {
        "nan": [float("nan"), 0.1, 0.9, None],
        "large": [16777217, 2**53 + 1, -(2**63), 2**63 - 1],
        "huge": pa.array([0, 5, 2**63, 2**64 - 1], pa.uint64()),
        "byte": pa.array([1, 2, 3, -4], pa.int8()),
        "exact": [Decimal("0.1"), Decimal("0.2"), Decimal("-0.3"), None],
        "moment": pa.array([datetime(2024, 1, day) for day in (1, 2, 3, 4)], pa.timestamp("us", tz="UTC")),
        "seen": pa.array(["a", "b", None, "c"], pa.string_view()),
        "single": pa.array([0.7, 0.1, None, float("nan")], pa.float32()),
        "half": pa.array([0.7, 0.1, None, float("nan")], pa.float16()),
        "list": [[1], [2], [3], [4]],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("nan is null", [0, 3]),
        ("nan is not null", [1, 2]),
        ("nan != 0.1", [2]),
        ("not nan > 0.5", [1]),
        ("not nan == nan", []),
        ("nan not in (0.1, 0.2)", [2]),
        ("nan == 0.1 or nan is null", [0, 1, 3]),
        ("large > 1.5", [0, 1, 3]),
        ("large > 9007199254740992", [1, 3]),
        ("large >= 9007199254740993.0", [1, 3]),
        ("large < 9223372036854775808", [0, 1, 2, 3]),
        ("large < 1e30", [0, 1, 2, 3]),
        ("large > huge", [0, 1]),
        ("huge > 5", [2, 3]),
        ("huge > -1", [0, 1, 2, 3]),
        ("huge == 18446744073709551615", [3]),
        ("huge in (-1, 5, 9223372036854775808)", [1, 2]),
        ("byte in (1, 2, 300, 2.5)", [0, 1]),
        ("byte in (300, 301)", []),
        ("byte < 300 and byte > -300", [0, 1, 2, 3]),
        ("byte > exact", [0, 1, 2]),
        ("exact > 0", [0, 1]),
        ("exact == 0.1", [0]),
        ("moment >= '2024-01-03'", [2, 3]),
        ("moment >= '2024-01-03T00:00:00Z'", [2, 3]),
        ("single >= 0.7", [0]),
        ("single == 0.7 or single < 1e-300", [0]),
        ("0.1 < single < 1e300", [0]),
        ("single in (0.7, 2)", [0]),
        ("single not in (0.7, 2)", [1]),
        ("not half > 0.1", [1]),
        ("half == 0.7 and half < 1e9", [0]),
        ("half in (0.1, 2)", [1]),
        ("half is null", [2, 3]),
        ("seen != 'b'", [0, 3]),
        ("seen in ('a', 'c')", [0, 3]),
    ],
)
def test_numbers_of_any_type_from_memory_and_from_files(text: str, rows: list[int], tmp_path: Path) -> None:
    table = WIDE.append_column("row", pa.array(range(4)))
    assert sources.read(table, text)["row"].to_pylist() == rows
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    assert sources.read(tmp_path / "a.parquet", text)["row"].to_pylist() == rows


@pytest.mark.parametrize("text", ["list == list", "list == list or byte == 1"])
def test_what_cannot_be_compared_is_named(text: str, tmp_path: Path) -> None:
    pq.write_table(WIDE, tmp_path / "a.parquet")
    for source in (WIDE, tmp_path / "a.parquet"):
        with pytest.raises(BadFilter, match="the filter compares what cannot be compared"):
            sources.read(source, text)


def test_text_that_lies_elsewhere_goes_with_other_text(tmp_path: Path) -> None:
    for place, kind in enumerate((pa.string_view(), pa.string(), pa.large_string())):
        pq.write_table(pa.table({"y": pa.array(["a", "b"], kind), "m": ["a", "b"]}), tmp_path / f"{place}.parquet")
    assert sy.assess(tmp_path, truth="y", assigned="m").n == 6
    assert sources.read(tmp_path, "y == 'a'").num_rows == 3
    assert sources.read(tmp_path).num_rows == 6


# --- text in order ----------------------------------------------------------------------------------------------

WRITTEN = pa.table(
    {
        "german": ["31.12.2024", "01.02.2024", "03.03.2025", "15.01.2024"],
        "iso": ["2024-12-31", "2024-01-01 10:00", None, "2025-03-03"],
        "mixed": ["2024-12-31", "2024-01-01", "unknown", "2025-03-03"],
        "short": ["2024-1-5", "2024-12-31", "2024-2-1", None],
        "size": ["9", "10", "15", "large"],
        "age": ["20-29", "30-39", "80+", None],
        "letters": ["b", "a", None, "31.12.2024"],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("iso >= '2024-02-01'", [0, 3]),
        ("'2024' <= iso < '2025'", [0, 1]),
        ("iso < mixed", []),
        ("mixed != 'unknown' and mixed >= '2024-02-01'", [0, 3]),
        ("not (mixed == 'unknown' or mixed < '2024-02-01')", [0, 3]),
        ("age > '30-39'", [2]),
        ("letters >= 'b'", [0]),
        ("german == '01.02.2024'", [1]),
        ("size in ('9', '15')", [0, 2]),
    ],
)
def test_text_is_ordered_where_letters_tell_its_order(text: str, rows: list[int], tmp_path: Path) -> None:
    table = WRITTEN.append_column("row", pa.array(range(4)))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    for source in (table, tmp_path / "a.parquet"):
        assert sources.read(source, text)["row"].to_pylist() == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("german >= '2024-02-01'", "column 'german', row 0: days like '31.12.2024' are not in the order"),
        ("german >= '01.02.2024'", "days like '01.02.2024' are not in the order of their letters. Write days as in"),
        ("iso < german", "column 'german', row 0: days like '31.12.2024'"),
        ("mixed >= '2024-02-01'", "column 'mixed', row 2: 'unknown' has not the form of '2024-02-01'"),
        ("mixed >= '2024-02-01'", "or leave such rows out: mixed != 'unknown' and ..."),
        ("short >= '2024-02-01'", "column 'short', row 0: '2024-1-5' has not the form of '2024-02-01'"),
        ("size > '10'", "column 'size', row 0: '9' has not the form of '10', and text is ordered letter by letter"),
    ],
)
def test_text_that_letters_do_not_put_into_order_is_refused(text: str, words: str, tmp_path: Path) -> None:
    pq.write_table(WRITTEN, tmp_path / "a.parquet")
    for source in (WRITTEN, tmp_path / "a.parquet"):
        with pytest.raises(BadFilter) as caught:
            sources.read(source, text)
        assert words in str(caught.value)


def test_keys_of_folders_are_ordered_as_text_is(tmp_path: Path) -> None:
    for form, days in (("iso", ("2024-12-31", "2025-01-01")), ("german", ("31.12.2024", "01.01.2025"))):
        for day in days:
            (tmp_path / form / f"day={day}").mkdir(parents=True)
            (tmp_path / form / f"day={day}" / "a.csv").write_text("y\na\n")
    files = sources.opened(tmp_path / "iso", "day >= '2025-01-01'")
    assert [len(list(shard.batches(["y"], files.schema(["y", "day"])))) for shard in files.shards()] == [0, 1]
    with pytest.raises(BadFilter, match=r"column 'day', row 0: days like '.*' are not in the order"):
        sources.read(tmp_path / "german", "day < '2024-02-01'")


def test_row_groups_of_text_that_letters_do_not_order_are_not_passed_over(tmp_path: Path) -> None:
    """By letters, 01.03.2024 comes before 2024-03-01: the rows were left out without a word."""
    days = ["2024-03-01", "2024-03-28", "01.03.2024", "19.03.2024", "2023-01-01", "2023-05-01"]
    table = pa.table({"day": days, "truth": [0, 1] * 3, "said": [0, 1] * 3})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    given: dict[str, Any] = {"truth": "truth", "assigned": "said", "measures": ["error"]}
    with pytest.raises(BadFilter, match=r"row 2: days like '01\.03\.2024'"):
        sy.assess(str(tmp_path / "a.parquet"), where="day >= '2024-03-01'", **given)
    pq.write_table(table.take([0, 1, 4, 5]), tmp_path / "b.parquet", row_group_size=2)
    assert sy.assess(str(tmp_path / "b.parquet"), where="day >= '2024-03-01'", **given).n == 2
    batches = sources.opened(tmp_path / "b.parquet", "day >= '2024-03-01'").batches(["day"])
    assert [batch.first for batch in batches] == [0]  # where all is in its order, the rest is passed over as before

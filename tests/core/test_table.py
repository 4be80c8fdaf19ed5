"""Finished results as a tidy table, in whatever form they are wanted."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard import Table
from steelyard.core.errors import UnequalLengths, UnknownColumn
from steelyard.core.table import dump, json_value, whole

COLUMNS: dict[str, list[Any]] = {
    "measure": ["error", "kappa", 'odd, "quoted"\nlabel'],
    "class": [None, "yes", "=1+1"],
    "value": [0.25, math.nan, math.inf],
    "n": [5, 6, 7],
}
TABLE = Table(COLUMNS)


def test_rows_and_columns() -> None:
    assert (len(TABLE), TABLE.num_rows) == (3, 3)
    assert TABLE.column_names == ["measure", "class", "value", "n"]
    assert TABLE["n"] == [5, 6, 7]
    assert TABLE[["n", "measure"]].columns == {"n": [5, 6, 7], "measure": COLUMNS["measure"]}
    assert next(iter(TABLE)) == {"measure": "error", "class": None, "value": 0.25, "n": 5}
    assert [row["n"] for row in TABLE.to_pylist()] == [5, 6, 7]


def test_a_table_of_nothing() -> None:
    empty = Table({})
    assert (len(empty), empty.to_pylist(), empty.to_arrow().num_rows, empty.to_csv()) == (0, [], 0, "\n")
    assert Table({"a": []}).to_arrow().schema == pa.schema({"a": pa.string()})


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(UnknownColumn, match=r"there is no column 'valeu'\. Did you mean 'value'\?"):
        TABLE["valeu"]
    with pytest.raises(UnknownColumn, match="There are 'measure', 'class', 'value', 'n'"):
        TABLE["zzz"]
    odd: Any
    for odd in (["n", "valeu"], np.array([0, 1]), slice(1), 0, None):
        with pytest.raises(UnknownColumn):
            TABLE[odd]


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(UnequalLengths, match="column 'b': 1 rows, not 2"):
        Table({"a": [1, 2], "b": [1]})


@pytest.mark.parametrize(
    "columns",
    [
        lambda: TABLE.to_arrow().to_pydict(),
        lambda: pa.table(TABLE).to_pydict(),
        lambda: TABLE.to_polars().to_dict(as_series=False),
        lambda: pl.DataFrame(TABLE).to_dict(as_series=False),
        lambda: pa.table(duckdb.from_arrow(TABLE.to_arrow())).to_pydict(),
        lambda: TABLE.to_pandas().to_dict("list"),
    ],
    ids=["arrow", "stream", "polars", "polars from stream", "duckdb", "pandas"],
)
def test_any_data_frame_takes_it(columns: Any) -> None:
    found = columns()
    assert list(found) == list(COLUMNS)
    assert found["measure"] == COLUMNS["measure"]
    assert found["n"] == COLUMNS["n"]
    assert found["value"][0] == 0.25
    assert math.isnan(found["value"][1])
    assert math.isinf(found["value"][2])
    assert found["class"][1:] == COLUMNS["class"][1:]
    assert found["class"][0] is None or math.isnan(found["class"][0])


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        ([1, None], pa.int64(), [1, None]),
        ([1, 2.5], pa.float64(), [1.0, 2.5]),
        ([True, None], pa.bool_(), [True, None]),
        (["a", 1, None], pa.string(), ["a", "1", None]),
        ([True, 1], pa.string(), ["True", "1"]),
        ([2**63, 1], pa.string(), [str(2**63), "1"]),
        ([None, None], pa.string(), [None, None]),
    ],
)
def test_labels_of_any_kind_fit_into_a_column(values: list[Any], kind: Any, found: list[Any]) -> None:
    column = Table({"label": values}).to_arrow().column("label")
    assert (column.type, column.to_pylist()) == (kind, found)


def test_csv_has_empty_cells_for_what_is_undefined() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert rows[0] == list(COLUMNS)
    assert rows[1] == ["error", "", "0.25", "5"]
    assert rows[2] == ["kappa", "yes", "", "6"]
    assert rows[3] == ['odd, "quoted"\nlabel', "=1+1", "inf", "7"]


LABELS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1)


@given(st.lists(st.tuples(LABELS, st.floats(allow_nan=False)), min_size=1))
def test_csv_loses_no_digit_and_no_sign(rows: list[tuple[str, float]]) -> None:
    text = Table({"label": [row[0] for row in rows], "value": [row[1] for row in rows]}).to_csv()
    read = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [(label, float(value)) for label, value in read] == rows


def test_json_has_words_for_what_it_cannot_hold() -> None:
    rows = json.loads(dump(TABLE.to_json()))
    assert [row["value"] for row in rows] == [0.25, None, "Infinity"]
    assert json_value(-math.inf) == "-Infinity"
    assert json_value("Infinity") == "Infinity"
    assert rows[2]["measure"] == COLUMNS["measure"][2]
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump({"value": math.nan})


@pytest.mark.parametrize(("value", "found"), [(3.0, 3), (2.5, 2.5), (0.0, 0), (1e300, int(1e300))])
def test_counts_are_whole_where_they_can_be(value: float, found: float) -> None:
    assert whole(value) == found
    assert type(whole(value)) is type(found)


def test_what_is_shown_can_do_no_harm() -> None:
    evil = Table({"label": ["<script>alert(1)</script>", "\x1b[31mred\x07"], "value": [1.0, 2.0]})
    assert "<script>" not in evil._repr_html_()
    assert "&lt;script&gt;" in evil._repr_html_()
    assert all(sign.isprintable() or sign == "\n" for sign in repr(evil))
    assert "\\x1b" in repr(evil)


def test_the_table_of_an_assessment_survives_every_form() -> None:
    truth = np.array([0, 1, 2, 1, 0, 2])
    table = sy.assess(truth, np.roll(truth, 1), by=["x", "y"] * 3).table()
    arrow = table.to_arrow()
    assert arrow.num_rows == len(table.to_polars()) == len(table.to_pandas()) == len(table)
    assert arrow.column_names == table.column_names
    again = pa.table(table.to_polars()).column("value").to_pylist()
    assert np.array_equal(again, table["value"], equal_nan=True)
    assert len(json.loads(dump(table.to_json()))) == len(table)

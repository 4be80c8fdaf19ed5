"""Numbers from anything that holds them, and the class that memberships and scores assign."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import steelyard
from steelyard.core.arrays import checksum
from steelyard.core.errors import MissingValues, NotNumbers, OutsideUnitInterval, SteelyardError, SumNotOne, WrongShape
from steelyard.core.threads import CHUNK, WORTH_A_THREAD
from steelyard.inputs.membership import SUM_TOLERANCE, assign_highest, assign_threshold, missing_rows, numbers

HALVES = [0.5, 0.0, 1.0]


def masked(values: list[Any], gaps: list[int]) -> Any:
    return np.ma.masked_array(np.array(values), np.isin(np.arange(len(values)), gaps))


def decimals_of_duckdb() -> Any:
    """A number with a point in it is a decimal to duckdb."""
    relation = duckdb.sql("select * from (values (0.5), (0.0), (1.0)) t(p)")
    assert relation is not None
    return pa.table(relation).column("p")


@pytest.mark.parametrize(
    "values",
    [
        HALVES,
        tuple(HALVES),
        [0.5, 0, True],
        np.array(HALVES),
        np.array(HALVES, dtype=">f4"),
        np.array(HALVES, dtype=np.float16),
        np.array(HALVES, dtype=object),
        np.repeat(HALVES, 2)[::2],
        masked(HALVES, []),
        [Decimal("0.5"), Decimal(0), Decimal(1)],
        pd.Series(HALVES, index=[5, 5, 5]),
        pd.Series(HALVES, dtype="Float64"),
        pd.Series(HALVES).astype("category"),
        pd.Index(HALVES),
        pl.Series(HALVES),
        pl.Series(HALVES).cast(pl.Decimal(10, 2)),
        pa.array(HALVES),
        pa.array([9.0, *HALVES]).slice(1),
        pa.chunked_array([HALVES[:1], HALVES[1:]]),
        pa.array([Decimal("0.5"), Decimal(0), Decimal(1)]),
        pa.array(HALVES).dictionary_encode(),
        decimals_of_duckdb(),
    ],
)
def test_numbers_come_from_anything_that_holds_them(values: Any) -> None:
    assert numbers(values, "x").tolist() == HALVES


@pytest.mark.parametrize("values", [np.array([1, 2], dtype=np.uint8), [True, False], pa.array([1, 2], pa.int8())])
def test_whole_numbers_stay_as_they_are(values: Any) -> None:
    assert numbers(values, "x").dtype.kind in "iub"


@pytest.mark.parametrize(
    "values",
    [
        [0.5, None, 1],
        [0.5, float("nan"), 1],
        np.array([0.5, None, 1], dtype=object),
        masked([0.5, 7, 1], [1]),
        pd.Series([0.5, None, 1]),
        pd.Series([0.5, pd.NA, 1], dtype="Float64"),
        pl.Series([0.5, None, 1]),
        pa.array([0.5, None, 1]),
        pa.array([Decimal("0.5"), None, Decimal(1)]),
        [Decimal("0.5"), None, Decimal(1)],
    ],
)
def test_what_is_missing_is_not_a_number(values: Any) -> None:
    found = numbers(values, "x")
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[[0, 2]].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    "values", [[1, None, 3], [True, None, False], pa.array([1, None, 3]), pd.Series([1, pd.NA, 3], dtype="Int64")]
)
def test_whole_numbers_may_be_missing_too(values: Any) -> None:
    assert np.isnan(numbers(values, "x")).tolist() == [False, True, False]


@pytest.mark.parametrize("values", [[None, None], pa.nulls(2), pl.Series([None, None])])
def test_nothing_at_all_is_not_a_number(values: Any) -> None:
    assert np.isnan(numbers(values, "x")).all()


@pytest.mark.parametrize(
    ("values", "error", "row", "words"),
    [
        (["0.5", "1"], NotNumbers, None, "Turn the text into numbers"),
        (np.array(["0.5", "1"]), NotNumbers, None, "Turn the text into numbers"),
        (["0.5", None, "n/a"], NotNumbers, 2, "'n/a' is not a number"),
        (pd.Series(["0.5", "x"]), NotNumbers, 1, "'x' is not a number"),
        (pl.Series(["0.5", None, "x"]), NotNumbers, 2, "'x' is not a number"),
        ([0.5, "x"], NotNumbers, 1, "'x' is text, but there was a number before"),
        ([0.5, {}], NotNumbers, 1, "{} is a dict"),
        ([object()], NotNumbers, 0, "is a object"),
        (np.array([1j]), NotNumbers, None, "complex128"),
        (np.array(["2020-01-01"], dtype="M8[D]"), NotNumbers, None, "datetime64[D]"),
        (np.array([1], dtype="m8[s]"), NotNumbers, None, "timedelta64[s]"),
        ([datetime.date(2020, 1, 1)], NotNumbers, 0, "is a date"),
        (pa.array([datetime.date(2020, 1, 1)]), NotNumbers, None, "date32"),
        (pd.Series(pd.to_timedelta([1])), NotNumbers, None, "duration"),
        (np.array([b"1"]), NotNumbers, None, "|S1"),
        (np.zeros(2, dtype=[("a", float)]), NotNumbers, None, "does not hold numbers"),
        ([[0.5], [0.5]], WrongShape, None, "(2, 1)"),
        (np.zeros((2, 2, 2)), WrongShape, None, "(2, 2, 2)"),
        (0.5, WrongShape, None, "a float is not a column"),
        (None, WrongShape, None, "a NoneType is not a column"),
        (iter([0.5]), WrongShape, None, "is not a column"),
        (pd.DataFrame({"p": [0.5]}), WrongShape, None, "a table stands where a column must"),
    ],
)
def test_what_is_no_column_of_numbers_is_refused(
    values: Any, error: type[SteelyardError], row: int | None, words: str
) -> None:
    with pytest.raises(error) as caught:
        numbers(values, "p_low")
    assert words in str(caught.value)
    assert (caught.value.column, caught.value.row) == ("p_low", row)
    assert caught.value.mend


def test_rows_with_gaps_are_marked_over_all_columns() -> None:
    gaps = missing_rows([np.array([np.nan, 1, np.inf]), np.array([1.0, 1, np.nan]), np.array([1, 2, 3])])
    assert gaps is not None
    assert gaps.tolist() == [True, False, True]
    assert missing_rows([np.array([np.inf, -np.inf]), np.array([6e4] * 2, dtype=np.float16)]) is None


# --- the highest probability ----------------------------------------------------------------------------------


def highest(*rows: list[Any], dtype: Any = float) -> list[int]:
    columns = list(np.array(rows, dtype=dtype).T)
    codes = assign_highest(columns, [f"p{place}" for place in range(len(columns))], "model")
    return [int(code) for code in codes]


def test_the_highest_probability_decides_and_the_first_wins_a_tie() -> None:
    assert highest([0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]) == [1, 0, 0, 2]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble, ">f8"])
def test_any_kind_of_number_will_do(dtype: Any) -> None:
    assert highest([0, 1, 0], [1, 0, 0], [0, 0, 1], dtype=dtype) == [1, 0, 2]


@given(npst.arrays(float, st.tuples(st.integers(1, 20), st.integers(2, 5)), elements=st.floats(0, 1)))
def test_it_is_what_argmax_says(raw: Any) -> None:
    shares = (raw + 0.01) / (raw + 0.01).sum(axis=1, keepdims=True)
    assert highest(*shares.tolist()) == np.argmax(shares, axis=1).tolist()


@pytest.mark.parametrize(
    ("row", "error", "column", "words"),
    [
        ([0.5, 0.6], SumNotOne, "model", "add up to 1.1, not 1"),
        ([0.0, 0.0], SumNotOne, "model", "add up to 0, not 1"),
        ([0.5 + 2 * SUM_TOLERANCE, 0.5], SumNotOne, "model", "not 1. Divide each row by its sum"),
        ([-0.1, 1.1], OutsideUnitInterval, "p0", "-0.1 is not a probability"),
        ([0.5, 1.5], OutsideUnitInterval, "p1", "1.5 is not a probability"),
        ([np.inf, -np.inf], OutsideUnitInterval, "p0", "inf is not a probability"),
        ([0.5, np.nan], MissingValues, "p1", "the value is missing"),
        ([np.nan, 5.0], MissingValues, "p0", "the value is missing"),
        (
            [10**6, -(10**6) + 1],
            OutsideUnitInterval,
            "p0",
            "Probabilities lie between 0 and 1; make them of scores",
        ),
        ([80, 20], OutsideUnitInterval, "p0", "divide per cent by 100"),
    ],
)
@pytest.mark.parametrize("place", [0, 3, CHUNK + 5, 2 * WORTH_A_THREAD])
def test_what_is_no_probability_is_refused(
    row: list[float], error: type[SteelyardError], column: str, words: str, place: int
) -> None:
    columns = [np.full(place + 3, 0.25), np.full(place + 3, 0.75)]
    columns[0][place], columns[1][place] = row
    with pytest.raises(error) as caught:
        assign_highest(columns, ["p0", "p1"], "model")
    assert (caught.value.column, caught.value.row) == (column, place)
    assert words in str(caught.value)


@pytest.mark.parametrize("row", [[1 / 3] * 3, [0.333] * 3, [0.3334, 0.3333, 0.3334]])
def test_rounded_probabilities_are_let_in(row: list[float]) -> None:
    assert highest(row) in ([0], [2])
    assert highest(row, dtype=np.float32) in ([0], [2])


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(2, 4), st.sampled_from([np.float32, np.float64]))
def test_what_rounding_does_to_sums_is_no_mistake(seed: int, classes: int, decimals: int, dtype: Any) -> None:
    shares = np.random.default_rng(seed).dirichlet(np.full(classes, 0.7), 50)
    rounded = shares.round(decimals)
    assert highest(*rounded.tolist(), dtype=dtype) == np.argmax(rounded, axis=1).tolist()


@pytest.mark.parametrize(
    "row",
    [
        [0.5, 0.49],  # two that were rounded add up to 1
        [0.5, 0.3, 0.18],
        [0.333, 0.333, 0.33],
        [0.3, 0.3, 0.3],
        [0.3301, 0.3301, 0.35],
        [0.33, 0.33, 0.33 + 1e-5],
        [0.02] * 40,
    ],
)
def test_what_rounding_cannot_do_is_refused(row: list[float]) -> None:
    with pytest.raises(SumNotOne):
        highest(row)


# --- a score --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "threshold", "codes"),
    [(1, None, [0, 1, 1]), (0, None, [1, 0, 0]), (1, 0.7, [0, 0, 1]), (1, -3.0, [1, 1, 1]), (0, 2.0, [1, 1, 1])],
)
def test_a_score_that_reaches_the_threshold_is_the_event(event: int, threshold: float | None, codes: list[int]) -> None:
    assert assign_threshold(np.array([0.4, 0.5, 0.7]), "score", event, threshold).tolist() == codes


def test_a_threshold_is_met_in_the_precision_of_the_score() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        assert assign_threshold(np.array([0.7], dtype=dtype), "score", 1, 0.7).tolist() == [1]
    assert assign_threshold(np.array([0.7], dtype=np.float16), "score", 1, 1e10).tolist() == [0]


@pytest.mark.parametrize(
    ("value", "threshold", "error"),
    [
        (1.5, None, OutsideUnitInterval),
        (-0.1, None, OutsideUnitInterval),
        (np.inf, None, OutsideUnitInterval),
        (np.nan, None, MissingValues),
        (np.nan, 0.3, MissingValues),
    ],
)
@pytest.mark.parametrize("place", [0, CHUNK + 5])
def test_a_score_that_cannot_be_read_is_refused(
    value: float, threshold: float | None, error: type[SteelyardError], place: int
) -> None:
    score = np.full(place + 3, 0.5)
    score[place] = value
    with pytest.raises(error) as caught:
        assign_threshold(score, "score", 1, threshold)
    assert (caught.value.column, caught.value.row) == ("score", place)


def test_with_a_threshold_any_scale_will_do() -> None:
    assert assign_threshold(np.array([-np.inf, -5.0, 12.0, np.inf]), "score", 1, 0.0).tolist() == [0, 0, 1, 1]


def test_zero_has_no_sign_among_probabilities() -> None:
    columns = [np.array([-0.0, 1.0, 0.5]), np.array([1.0, -0.0, 0.5])]
    assert assign_highest(columns, ["a", "b"], "p").tolist() == [1, 0, 0]
    assert assign_threshold(columns[0], "p", 1, None).tolist() == [0, 1, 1]


@pytest.mark.parametrize("layout", ["rows", "columns", "apart", "single precision"])
@given(st.integers(0, 2**31))
def test_a_checksum_knows_values_and_their_places(layout: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.random((50, 3)).astype(np.float32 if layout == "single precision" else np.float64)
    matrix = np.asfortranarray(matrix) if layout == "columns" else matrix
    columns = [column.copy() if layout == "apart" else column for column in matrix.T]
    before, (row, other), (place, beside) = checksum(columns), random.permutation(50)[:2], random.permutation(3)[:2]
    assert checksum(columns) == before
    columns[place][row], columns[beside][other] = columns[beside][other], columns[place][row]
    assert checksum(columns) != before
    columns[place][row], columns[beside][other] = columns[beside][other], columns[place][row]
    assert checksum(columns) == before
    columns[place][row] = np.nextafter(columns[place][row], matrix.dtype.type(2))
    assert checksum(columns) != before


def test_a_row_that_does_not_add_up_names_the_columns_of_the_table() -> None:
    frame = {"truth": ["a", "b"], "p_a": [0.5, 0.5], "p_b": [0.5, 0.6]}
    with pytest.raises(SumNotOne, match=r"column 'p_a to p_b', row 1: the probabilities add up to 1\.1"):
        steelyard.assess(pa.table(frame), truth="truth", membership="p_*")

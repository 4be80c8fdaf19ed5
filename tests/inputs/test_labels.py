"""Labels of every kind, in everything that can hold a column, come out as the same codes."""

from __future__ import annotations

import array
import datetime
import uuid
from collections import deque
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import Scale
from steelyard.core.errors import MissingValues, SteelyardError, UnknownLabel, UnusableLabels, WrongShape
from steelyard.core.threads import LEAST_CHUNK, WORTH_A_THREAD
from steelyard.inputs.categorical import Categorical, look_up, occurring, refuse_missing, scale_of
from steelyard.inputs.labels import FEW_WORDS, WIDEST_RANGE, encode

WORDS = ["b", "a", "b", "ä"]
TEXT = np.array(WORDS)
NUMBERS = np.array([7, -2, 7, 300])
MARKS = np.array([True, False, True, True])


class Rude:
    def __array__(self, *_: Any) -> Any:
        raise RuntimeError("not me")


def chunked(*parts: Any) -> Any:
    return pa.chunked_array(list(parts))


def masked(values: Any, gaps: list[int]) -> Any:
    return np.ma.masked_array(np.asarray(values), np.isin(np.arange(len(values)), gaps))


def frozen(values: Any) -> Any:
    values.flags.writeable = False
    return values


HOLDERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "list": (WORDS, ("a", "b", "ä")),
    "tuple": (tuple(WORDS), ("a", "b", "ä")),
    "deque": (deque(WORDS), ("a", "b", "ä")),
    "numpy U": (TEXT, ("a", "b", "ä")),
    "numpy U, other byte order": (TEXT.astype(TEXT.dtype.newbyteorder()), ("a", "b", "ä")),
    "numpy U, strided": (np.repeat(TEXT, 2)[::2], ("a", "b", "ä")),
    "numpy U, read-only": (frozen(TEXT.copy()), ("a", "b", "ä")),
    "numpy U, masked nowhere": (masked(TEXT, []), ("a", "b", "ä")),
    "numpy objects": (TEXT.astype(object), ("a", "b", "ä")),
    "numpy StringDType": (TEXT.astype(np.dtypes.StringDType()), ("a", "b", "ä")),
    "list of numpy strings": (list(TEXT), ("a", "b", "ä")),
    "pandas str": (pd.Series(WORDS, index=[9, 9, 1, 0]), ("a", "b", "ä")),
    "pandas object": (pd.Series(WORDS, dtype=object, index=[3, 2, 1, 0]), ("a", "b", "ä")),
    "pandas string[python]": (pd.Series(WORDS, dtype=pd.StringDtype("python")), ("a", "b", "ä")),
    "pandas category": (pd.Series(pd.Categorical(WORDS, ["z", "ä", "b", "a"])), ("a", "b", "ä")),
    "pandas ordered category": (pd.Series(pd.Categorical(WORDS, ["ä", "b", "a"], ordered=True)), ("a", "b", "ä")),
    "pandas Categorical": (pd.Categorical(WORDS), ("a", "b", "ä")),
    "pandas Index": (pd.Index(WORDS), ("a", "b", "ä")),
    "pandas CategoricalIndex": (pd.CategoricalIndex(WORDS), ("a", "b", "ä")),
    "polars": (pl.Series(WORDS), ("a", "b", "ä")),
    "polars Categorical": (pl.Series(WORDS).cast(pl.Categorical), ("a", "b", "ä")),
    "polars Enum": (pl.Series(WORDS).cast(pl.Enum(["ä", "b", "a", "z"])), ("a", "b", "ä")),
    "arrow string": (pa.array(WORDS), ("a", "b", "ä")),
    "arrow large_string": (pa.array(WORDS, pa.large_string()), ("a", "b", "ä")),
    "arrow string_view": (pa.array(WORDS, pa.string_view()), ("a", "b", "ä")),
    "arrow chunks": (chunked(["b"], ["a", "b"], [], ["ä"]), ("a", "b", "ä")),
    "arrow slice": (pa.array(["x", "y", *WORDS, "z"]).slice(2, 4), ("a", "b", "ä")),
    "arrow dictionary": (pa.array(WORDS).dictionary_encode(), ("a", "b", "ä")),
    "arrow dictionary slice": (pa.array(["x", *WORDS, "z"]).dictionary_encode().slice(1, 4), ("a", "b", "ä")),
    "arrow dictionaries": (
        chunked(pa.array(WORDS[:2]).dictionary_encode(), pa.array(WORDS[2:]).dictionary_encode()),
        ("a", "b", "ä"),
    ),
    "arrow dictionary with a word twice": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 3, 2]), pa.array(["b", "a", "ä", "b"])),
        ("a", "b", "ä"),
    ),
    "arrow runs": (pa.RunEndEncodedArray.from_arrays([1, 2, 3, 4], pa.array(WORDS)), ("a", "b", "ä")),
    "numpy int64": (NUMBERS, (-2, 7, 300)),
    "numpy int16": (NUMBERS.astype(np.int16), (-2, 7, 300)),
    "numpy other byte order": (NUMBERS.astype(">i4"), (-2, 7, 300)),
    "numpy strided": (np.stack([NUMBERS, NUMBERS], axis=1)[:, 0], (-2, 7, 300)),
    "numpy backwards": (NUMBERS[::-1].copy()[::-1], (-2, 7, 300)),
    "numpy read-only": (frozen(NUMBERS.copy()), (-2, 7, 300)),
    "whole floats": (NUMBERS.astype(float), (-2, 7, 300)),
    "whole half floats": (NUMBERS.astype(np.float16), (-2, 7, 300)),
    "whole long doubles": (NUMBERS.astype(np.longdouble), (-2, 7, 300)),
    "list of ints": (NUMBERS.tolist(), (-2, 7, 300)),
    "list of floats": (NUMBERS.astype(float).tolist(), (-2, 7, 300)),
    "ints and floats": ([7, -2.0, 7.0, 300], (-2, 7, 300)),
    "objects that are ints": (NUMBERS.astype(object), (-2, 7, 300)),
    "array.array": (array.array("l", NUMBERS.tolist()), (-2, 7, 300)),
    "memoryview": (memoryview(array.array("l", NUMBERS.tolist())), (-2, 7, 300)),
    "pandas int64": (pd.Series(NUMBERS, index=list("wxyz")), (-2, 7, 300)),
    "pandas Int64": (pd.Series(NUMBERS, dtype="Int64"), (-2, 7, 300)),
    "pandas category of ints": (pd.Series(NUMBERS).astype("category"), (-2, 7, 300)),
    "pandas category of floats": (pd.Series(NUMBERS.astype(float)).astype("category"), (-2, 7, 300)),
    "polars ints": (pl.Series(NUMBERS), (-2, 7, 300)),
    "arrow int32 chunks": (chunked(pa.array([7, -2], pa.int32()), pa.array([7, 300], pa.int32())), (-2, 7, 300)),
    "arrow half floats": (pa.array(NUMBERS.astype(np.float16)), (-2, 7, 300)),
    "numpy bools": (MARKS, (False, True)),
    "numpy bools, strided": (np.repeat(MARKS, 3)[::3], (False, True)),
    "list of bools": (MARKS.tolist(), (False, True)),
    "pandas boolean": (pd.Series(MARKS, dtype="boolean"), (False, True)),
    "polars bools": (pl.Series(MARKS), (False, True)),
    "arrow bools": (pa.array([None, *MARKS]).slice(1, 4), (False, True)),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_whatever_holds_them_the_codes_are_the_same(holder: str) -> None:
    values, labels = HOLDERS[holder]
    coded = encode(values, "x")
    assert coded.labels == labels
    assert [type(label) for label in coded.labels] == [type(label) for label in labels]
    assert coded.codes.tolist() == ([1, 0, 1, 2] if len(labels) == 3 else [1, 0, 1, 1])
    assert coded.codes.dtype.itemsize == 1
    assert not coded.has_missing


GAPS: dict[str, Any] = {
    "list": ["b", None, "a", "b"],
    "list with NaN": ["b", float("nan"), "a", "b"],
    "list that starts with None": [None, "b", "a", "b"],
    "numpy objects": np.array(["b", None, "a", "b"], dtype=object),
    "numpy StringDType": np.array(["b", None, "a", "b"], dtype=np.dtypes.StringDType(na_object=None)),
    "masked text": masked(["b", "?", "a", "b"], [1]),
    "masked objects": masked(np.array(["b", {}, "a", "b"], dtype=object), [1]),
    "pandas": pd.Series(["b", None, "a", "b"]),
    "pandas object": pd.Series(["b", np.nan, "a", "b"], dtype=object),
    "pandas NA": pd.Series(["b", pd.NA, "a", "b"], dtype="string"),
    "pandas category": pd.Series(["b", None, "a", "b"]).astype("category"),
    "polars": pl.Series(["b", None, "a", "b"]),
    "polars Categorical": pl.Series(["b", None, "a", "b"]).cast(pl.Categorical),
    "polars Enum": pl.Series(["b", None, "a", "b"]).cast(pl.Enum(["b", "a"])),
    "arrow": pa.array(["b", None, "a", "b"]),
    "arrow string_view": pa.array(["b", None, "a", "b"], pa.string_view()),
    "arrow dictionary": pa.array(["b", None, "a", "b"]).dictionary_encode(),
    "arrow dictionary that holds a null": pa.DictionaryArray.from_arrays(
        pa.array([2, 1, 0, 2]), pa.array(["a", None, "b"])
    ),
    "arrow dictionaries": chunked(
        pa.array(["b", None]).dictionary_encode(),
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array([], pa.string()).dictionary_encode(),
    ),
    "floats": np.array([2.0, np.nan, 1.0, 2.0]),
    "half floats": np.array([2.0, np.nan, 1.0, 2.0], dtype=np.float16),
    "list of ints": [2, None, 1, 2],
    "list of floats": [2.0, None, 1.0, 2.0],
    "list of bools": [True, None, False, True],
    "masked ints, other byte order": masked(np.array([2, 9, 1, 2], dtype=">i8"), [1]),
    "masked bools": masked([True, True, False, True], [1]),
    "pandas Int64": pd.Series([2, pd.NA, 1, 2], dtype="Int64"),
    "pandas boolean": pd.Series([True, pd.NA, False, True], dtype="boolean"),
    "pandas Float64": pd.Series([2.0, pd.NA, 1.0, 2.0], dtype="Float64"),
    "polars ints": pl.Series([2, None, 1, 2]),
    "polars floats": pl.Series([2.0, None, 1.0, 2.0]),
    "arrow uint64": pa.array([2**63, None, 1, 2**63], pa.uint64()),
    "arrow half floats": pa.array(np.array([2, 0, 1, 2], dtype=np.float16), mask=np.array([False, True, False, False])),
    "arrow dictionary of floats": pa.array([2.0, float("nan"), 1.0, 2.0]).dictionary_encode(),
}


@pytest.mark.parametrize("holder", GAPS)
def test_a_missing_label_has_the_code_minus_one(holder: str) -> None:
    coded = encode(GAPS[holder], "x")
    gap = 0 if holder == "list that starts with None" else 1
    expected = [1, 0, 1]
    expected.insert(gap, -1)
    assert coded.codes.tolist() == expected
    assert len(coded.labels) == 2
    assert coded.missing().tolist() == [code < 0 for code in expected]
    with pytest.raises(MissingValues, match="missing='drop'") as caught:
        refuse_missing(coded)
    assert (caught.value.column, caught.value.row) == ("x", gap)


@pytest.mark.parametrize(
    "values",
    [
        [None, None],
        [float("nan")] * 2,
        np.array([np.nan, np.nan]),
        pa.nulls(2),
        pa.nulls(2, pa.int64()),
        pa.nulls(2, pa.string()),
        pa.nulls(2, pa.bool_()),
        pa.nulls(2, pa.dictionary(pa.int8(), pa.string())),
        pd.Series([pd.NA, pd.NA], dtype="Int64"),
        pd.Series([pd.NaT, None], dtype=object),
        pl.Series([None, None]),
        masked([7.5, 8.5], [0, 1]),
    ],
)
def test_a_column_of_nothing_has_no_labels(values: Any) -> None:
    coded = encode(values, "x")
    assert coded.labels == ()
    assert coded.codes.tolist() == [-1, -1]
    assert coded.has_missing


@pytest.mark.parametrize(
    "values",
    [
        [],
        (),
        np.array([]),
        np.array([], dtype="U3"),
        np.array([], dtype=object),
        pa.array([], pa.string()),
        pa.chunked_array([], pa.string()),
        pa.chunked_array([], pa.dictionary(pa.int8(), pa.string())),
        pa.nulls(0),
        pd.Series([], dtype=object),
        pl.Series([]),
    ],
)
def test_no_rows_are_no_labels(values: Any) -> None:
    coded = encode(values, "x")
    assert (len(coded), coded.labels, coded.has_missing) == (0, (), False)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["", "a"], ("", "a")),
        (np.array(["", ""]), ("",)),
        (["a", "a "], ("a", "a ")),
        (["é", "e\u0301"], ("e\u0301", "é")),
        (np.array(["é", "e\u0301"]), ("e\u0301", "é")),
        (["a\x00b", "a"], ("a", "a\x00b")),
        (["A", "a"], ("A", "a")),
        (["10", "9"], ("10", "9")),
        ([10, 9], (9, 10)),
        ([0.0, -0.0], (0,)),
        (np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64), (2**64 - 2, 2**64 - 1)),
        (np.array([-(2**63), 2**63 - 1]), (-(2**63), 2**63 - 1)),
        ([2**64 - 1, 5], (5, 2**64 - 1)),
        (np.array([-128, 127], dtype=np.int8), (-128, 127)),
        ([2.0**53, -(2.0**53)], (-(2**53), 2**53)),
    ],
)
def test_labels_are_what_they_are(values: Any, labels: tuple[Any, ...]) -> None:
    assert encode(values, "x").labels == labels


REFUSED: dict[str, tuple[Any, type[SteelyardError], int | None, str]] = {
    "text and numbers": (["a", "b", 1], UnusableLabels, 2, "1 is a number, but there was text before"),
    "numbers and text": ([1, None, "a"], UnusableLabels, 2, "'a' is text, but there was a number before"),
    "text and a float": (["a", 0.5], UnusableLabels, 1, "0.5 is a number"),
    "text and bytes": (["a", b"a"], UnusableLabels, 1, "b'a' is a bytes"),
    "pandas, mixed": (pd.Series(["a", 1]), UnusableLabels, 1, "1 is a number"),
    "objects, mixed": (np.array([True, "a"], dtype=object), UnusableLabels, 1, "'a' is text"),
    "booleans and numbers": ([True, 2, None], UnusableLabels, 1, "2 is a number, but there was a boolean before"),
    "bytes": ([b"a", b"b"], UnusableLabels, None, "Decode them"),
    "numpy bytes": (np.array([b"a"]), UnusableLabels, None, "Decode them"),
    "arrow bytes": (pa.array([b"a"]), UnusableLabels, None, "a column of binary"),
    "bytes as objects": (np.array([b"a"], dtype=object), UnusableLabels, 0, "b'a' is a bytes"),
    "fractions": (np.array([1.0, 0.25]), UnusableLabels, 1, "0.25 cannot be a class label"),
    "fractions in a list": ([1, 0.25], UnusableLabels, 1, "0.25 cannot be a class label"),
    "infinity": (np.array([1.0, np.nan, np.inf]), UnusableLabels, 2, "inf cannot be"),
    "huge floats": ([1.0, 1e300], UnusableLabels, 1, "1e+300 cannot be"),
    "floats that have lost digits": ([1.0, 2.0**53 + 2], UnusableLabels, 1, "cannot be"),
    "huge integers": ([1, 2**70], UnusableLabels, 1, "beyond 64 bits"),
    "integers that no 64 bits hold together": ([2**63, -1], UnusableLabels, 0, "cannot be a class label"),
    "huge negative integers": ([-(2**63) - 1, None], UnusableLabels, 0, "beyond 64 bits"),
    "unspeakable integers": ([10**5000], UnusableLabels, 0, "<int> is a number beyond 64 bits"),
    "broken text": (["a", "\ud800"], UnusableLabels, 1, r"'\ud800' is broken text"),
    "broken text in an array": (np.array(["a", "\ud800"]), UnusableLabels, 1, r"'\ud800' cannot be"),
    "dictionaries": (np.array([{"a": 1}, {}], dtype=object), UnusableLabels, 0, "is a dict"),
    "sets": ([{1}, {2}], UnusableLabels, 0, "is a set"),
    "a complex number": ([1, 1j], UnusableLabels, None, "complex128"),
    "decimals": ([Decimal("1"), Decimal("2")], UnusableLabels, None, "decimal128"),
    "dates": ([datetime.date(2020, 1, 1)], UnusableLabels, 0, "is a date"),
    "numpy dates": (np.array(["2020-01-01"], dtype="M8[D]"), UnusableLabels, None, "datetime64[D]"),
    "numpy dates and numbers": ([np.datetime64("2020-01-01"), np.float32(1)], UnusableLabels, 0, "is a datetime64"),
    "pandas dates": (pd.Series(pd.to_datetime(["2020-01-01"])), UnusableLabels, None, "timestamp"),
    "pandas periods": (pd.Series(pd.period_range("2020", periods=2, freq="D")), UnusableLabels, None, "period"),
    "pandas intervals": (pd.Series(pd.interval_range(0, 2)), UnusableLabels, None, "interval"),
    "pandas category of dates": (
        pd.Series(pd.to_datetime(["2020-01-01"])).astype("category"), UnusableLabels, 0, "cannot be a class label",
    ),
    "arrow dictionary of fractions": (pa.array([1.0, 0.5]).dictionary_encode(), UnusableLabels, 1, "0.5 cannot be"),
    "numbers that lose digits": ([2**60 + 1, None, 1.5], UnusableLabels, None, "mixes values"),
    "an object that cannot be read": (Rude(), UnusableLabels, None, "the Rude cannot be read ('not me')"),
    "uuids": ([uuid.UUID(int=1)], UnusableLabels, 0, "is a UUID"),
    "records": (np.zeros(2, dtype=[("a", int)]), UnusableLabels, None, "[('a', '<i8')]"),
    "nested lists": ([["a"], ["b"]], WrongShape, None, "(2, 1)"),
    "ragged lists": ([["a", "b"], ["a"]], WrongShape, 1, "1 values, but 2 in row 0"),
    "a column vector": (np.zeros((3, 1)), WrongShape, None, "values.ravel()"),
    "three dimensions": (np.zeros((2, 2, 2)), WrongShape, None, "(2, 2, 2)"),
    "no dimension": (np.array(1), WrongShape, None, "a int is not a column"),
    "a number": (1, WrongShape, None, "a int is not a column"),
    "text": ("abc", WrongShape, None, "a str is not a column"),
    "nothing": (None, WrongShape, None, "a NoneType is not a column"),
    "pandas' nothing": (pd.NA, WrongShape, None, "a NAType is not a column"),
    "a set": ({"a", "b"}, WrongShape, None, "a set is not a column"),
    "a dictionary": ({"a": 1}, WrongShape, None, "a dict is not a column"),
    "a generator": ((label for label in "ab"), WrongShape, None, "a generator is not a column"),
    "a table": (pd.DataFrame({"a": [1]}), WrongShape, None, "a table stands where a column must"),
    "a lazy frame": (pl.LazyFrame({"a": [1]}), WrongShape, None, "a LazyFrame is not a column"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_labels_is_refused(what: str) -> None:
    values, error, row, words = REFUSED[what]
    with pytest.raises(error) as caught:
        encode(values, "grade")
    assert words in str(caught.value)
    assert str(caught.value).startswith("column 'grade'")
    assert caught.value.row == row
    assert caught.value.mend
    assert str(caught.value).isprintable()


def test_text_that_is_not_utf_8_is_refused() -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], "i4")), pa.py_buffer(b"\xe9")])
    with pytest.raises(UnusableLabels, match="utf-8"):
        encode(broken, "x")


# --- any labels -----------------------------------------------------------------------------------------------


def decoded(coded: Categorical) -> list[Any]:
    return [None if code < 0 else coded.labels[code] for code in coded.codes.tolist()]


COLUMNS = st.one_of(
    st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.none() | st.integers(-3, 300)),
    st.lists(st.none() | st.booleans()),
)


@given(COLUMNS)
def test_no_label_is_lost_or_changed(values: list[Any]) -> None:
    coded = encode(values, "x")
    assert decoded(coded) == values
    assert list(coded.labels) == sorted({value for value in values if value is not None})
    assert coded.has_missing == (None in values)


@given(COLUMNS, st.integers(0, 5), st.integers(1, 3))
def test_arrow_chunks_and_slices_change_nothing(values: list[Any], start: int, size: int) -> None:
    column = pa.array(values)
    parts = [column.slice(low, size) for low in range(0, len(values), size)]
    expected = decoded(encode(values, "x"))
    assert decoded(encode(pa.chunked_array(parts, column.type), "x")) == expected
    assert decoded(encode(column.slice(start), "x")) == expected[start:]
    if not pa.types.is_null(column.type):
        dictionaries = [part.dictionary_encode() for part in parts]
        kind = pa.dictionary(pa.int32(), column.type)
        assert decoded(encode(pa.chunked_array(dictionaries, kind), "x")) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=3), min_size=1))
def test_numpy_text_is_coded_as_lists_are(values: list[str]) -> None:
    expected = encode(values, "x")
    for array_ in (np.array(values), np.array(values, dtype=object), np.array(values, np.dtypes.StringDType())):
        coded = encode(array_, "x")
        assert coded.labels == expected.labels
        assert coded.codes.tolist() == expected.codes.tolist()


# --- many rows: several threads, several cache-sized pieces ---------------------------------------------------

ROWS = 2 * WORTH_A_THREAD + 77


@pytest.mark.parametrize("spread", [1, 200, 20_000, WIDEST_RANGE])
def test_sorted_integers_show_their_range_late(spread: int) -> None:
    values = np.sort(np.arange(ROWS) % 5) * spread - 3
    coded = encode(values, "x")
    assert coded.labels == tuple(range(-3, 5 * spread - 3, spread))
    assert np.array_equal(np.array(coded.labels)[coded.codes], values)


@pytest.mark.parametrize("kind", ["U", "arrow", "string_view", "float", "bool"])
def test_many_rows_are_coded_in_parts(kind: str) -> None:
    number = np.sort(np.arange(ROWS) % 3)
    words = np.array(["no", "perhaps", "yes"])
    made: dict[str, Any] = {
        "U": words[number],
        "arrow": pa.DictionaryArray.from_arrays(number, words).cast(pa.string()),
        "string_view": pa.DictionaryArray.from_arrays(number, words).cast(pa.string()).cast(pa.string_view()),
        "float": number.astype(float),
        "bool": number > 0,
    }
    coded = encode(made[kind], "x")
    assert coded.labels == {"float": (0, 1, 2), "bool": (False, True)}.get(kind, ("no", "perhaps", "yes"))
    assert np.array_equal(coded.codes, np.minimum(number, len(coded.labels) - 1))


def test_more_words_than_a_byte_can_count() -> None:
    words = [f"patient {number:04}" for number in range(1000)]
    values = pa.chunked_array([words[:500], words[500:], [None], words])
    coded = encode(values, "x")
    assert coded.labels == tuple(words)
    assert coded.codes.tolist() == [*range(1000), -1, *range(1000)]


# --- on a scale -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int32, np.int64])
@pytest.mark.parametrize("target", [[0], [1, 0], [2, 0, 1], [3, 1, 0, 2], [4, 3, 1, 0, 2]])
def test_few_codes_are_translated_as_many_are(kind: Any, target: list[int]) -> None:
    codes: Any = np.random.default_rng(0).integers(0, len(target), 100_000).astype(kind)
    for narrow in (np.uint8, np.int8, np.int64):
        wanted = np.array(target, dtype=narrow)
        found = look_up(codes, wanted)
        assert found.dtype == narrow
        assert np.array_equal(found, wanted[codes])


@pytest.mark.parametrize("late", [0, LEAST_CHUNK - 1, LEAST_CHUNK, 90_000, None])
def test_a_word_occurs_wherever_it_stands(late: int | None) -> None:
    places = np.zeros(100_000, np.int32)
    places[5] = 2
    if late is not None:
        places[late] = 1
    assert occurring(places, 4).tolist() == [True, late is not None, True, False]
    assert occurring(places[:0], 2).tolist() == [False, False]


def test_codes_follow_the_scale() -> None:
    scale = Scale(["low", "mid", "high"])
    assert encode(["high", "low", "mid"], "x").on(scale).tolist() == [2, 0, 1]
    assert encode(["low", "mid"], "x").on(Scale(["low", "mid", "other"])).tolist() == [0, 1]
    assert encode([True, False], "x").on(Scale([0, 1])).tolist() == [1, 0]
    assert encode([1.0, 0.0], "x").on(Scale([1, 0])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "classes", "row", "words"),
    [
        (["low", "high", "hihg"], ["low", "high"], 2, "'hihg' is not one of the classes 'low', 'high'"),
        ([0, 1, 2], [0, 1], 2, "2 is not one of the classes 0, 1. Check the spelling"),
        ([1, 0], ["0", "1"], 0, "The classes are text, this is a number"),
        (["1", "0"], [0, 1], 0, "The classes are numbers, this is text"),
        (["a\x1b[31m", "a"], ["a", "b"], 0, r"'a\x1b[31m' is not"),
    ],
)
def test_the_first_label_off_the_scale_is_named(values: Any, classes: Any, row: int, words: str) -> None:
    with pytest.raises(UnknownLabel) as caught:
        encode(values, "grade").on(Scale(classes))
    assert (caught.value.column, caught.value.row) == ("grade", row)
    assert words in str(caught.value)


def test_labels_of_rows_left_out_are_forgotten() -> None:
    coded = encode(["a", "b", None, "c"], "x").keep(np.array([True, False, False, True]))
    assert (coded.labels, coded.codes.tolist(), coded.has_missing) == (("a", "c"), [0, 1], False)


def test_a_scale_of_all_labels_seen() -> None:
    scale = scale_of([encode(["b", "a"], "truth"), encode(["c"], "model")], "b")
    assert (scale.classes, scale.event, scale.ordered) == (("a", "b", "c"), "b", False)
    assert scale_of([encode([2, 1], "truth")], None).ordered
    mixed = scale_of([encode([True, True], "truth"), encode([0, 1], "model")], None)
    assert [(label, type(label)) for label in mixed.classes] == [(0, int), (1, int)]


@pytest.mark.parametrize(
    ("truth", "model", "kind"), [([0, 1], ["0", "1"], "numbers"), ([True, False], ["True", "False"], "booleans")]
)
def test_text_and_numbers_make_no_scale(truth: Any, model: Any, kind: str) -> None:
    for columns in ([encode(truth, "truth"), encode(model, "model")], [encode(model, "model"), encode(truth, "truth")]):
        with pytest.raises(UnusableLabels, match=rf"are text .* and some are {kind} .*, those of 'truth'") as caught:
            scale_of(columns, None)
        assert caught.value.column == "model"


@pytest.mark.parametrize("words", [["a", "b", ""], ["yes ", "yes", "ä\u00df"], ["x" * 50, "x" * 49 + "y", "z"]])
def test_few_words_are_coded_like_many(words: list[str]) -> None:
    random = np.random.default_rng(0)
    many = np.array(words)[random.integers(0, len(words), 4 * FEW_WORDS)]
    for values in (many, many.astype(many.dtype.newbyteorder(">")), many[::2]):
        long, short = encode(values, "y"), encode(values[:FEW_WORDS], "y")
        assert short.labels == long.labels
        np.testing.assert_array_equal(short.codes, long.codes[:FEW_WORDS])
        assert [long.labels[code] for code in long.codes.tolist()] == values.tolist()

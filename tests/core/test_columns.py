"""Arrow columns seen as NumPy arrays, whatever part of them is meant."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from steelyard.core.columns import as_numpy

KINDS = [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_numbers_are_seen_as_they_are(kind: pa.DataType) -> None:
    whole = np.array([1, 0, 1, 1, 0, 1, 0, 0, 1, 1], dtype=kind.to_pandas_dtype())
    column = pa.array(whole, kind)
    parts = [
        (column, whole),
        (column.slice(3, 4), whole[3:7]),
        (column.slice(9, 1), whole[9:]),
        (column.slice(2, 0), whole[:0]),
        (pa.chunked_array([column.slice(1, 3), column.slice(5, 2)]), whole[[1, 2, 3, 5, 6]]),
        (pa.chunked_array([column.slice(1, 3)]), whole[1:4]),
        (pa.chunked_array([], kind), whole[:0]),
    ]
    for part, values in parts:
        found = as_numpy(part)
        assert found.dtype == whole.dtype
        assert_array_equal(found, values)


def test_what_is_no_number_or_has_gaps_is_seen_too() -> None:
    assert as_numpy(pa.array(["a", "b"])).tolist() == ["a", "b"]
    assert_array_equal(as_numpy(pa.array([1.0, None])), [1.0, np.nan])


def test_an_array_outlives_the_column_that_it_shows() -> None:
    found = as_numpy(pa.array(np.arange(10_000)))
    assert not found.flags.writeable
    assert found.sum() == 49_995_000

"""Columns that lie on top of each other, and such as seem to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from steelyard.own_columns import pieces, stacked

MATRIX = np.arange(15.0).reshape(3, 5).copy()
TURNED = np.asfortranarray(MATRIX)


@pytest.mark.parametrize(
    ("columns", "copied"),
    [
        (list(MATRIX), False),
        ([row[1:4] for row in MATRIX], False),
        ([row[2:] for row in TURNED], False),
        (pieces(list(TURNED), 1, 4), False),
        (list(MATRIX[::-1]), True),
        ([MATRIX[1], MATRIX[0], MATRIX[2]], True),
        ([MATRIX[0, 1:], MATRIX[1, 1:], MATRIX[2, :-1]], True),
        ([TURNED[1, :-1], TURNED[2, :-1], TURNED[0, 1:]], True),
        ([row[::2] for row in MATRIX], True),
        (list(MATRIX[:2]), True),
        (list(MATRIX.astype(np.float32)), True),
        (list(np.broadcast_to(np.arange(5.0), (3, 5))), True),
        ([np.arange(5.0), np.arange(5.0)], True),
        ([np.arange(5.0)], True),
    ],
)
def test_columns_are_stacked_as_they_come(columns: list[Any], copied: bool) -> None:
    found = stacked(columns)
    assert found.tolist() == [column.tolist() for column in columns]
    assert found.dtype == np.float64
    assert np.shares_memory(found, columns[0]) is not copied

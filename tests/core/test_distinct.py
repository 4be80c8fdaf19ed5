"""Which values there are, and which of them are one and the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.arrays import apart, distinct, evened


@given(st.lists(st.integers(-5, 5)), st.sampled_from(["int64", "int8"]))
def test_every_value_once_in_order(values: list[int], kind: str) -> None:
    found = distinct(np.array(values, kind))
    assert found.tolist() == sorted(set(values))
    assert found.dtype == kind


def test_what_differs_by_rounding_alone_is_made_equal() -> None:
    sums = np.array([0.1 + 0.2, 0.5, 0.3, np.nan, 0.3 + 1e-9, np.inf, np.inf, -np.inf])
    assert sums[0] != sums[2]
    np.testing.assert_array_equal(evened(sums), [0.3, 0.5, 0.3, np.nan, 0.3 + 1e-9, np.inf, np.inf, -np.inf])
    rows = np.array([[0.1 + 0.2, 0.3, 7.0], [3e-13, 0.0, 1e-13]])  # the size of what is compared tells what is small
    np.testing.assert_array_equal(evened(rows), [[0.3, 0.3, 7.0], [3e-13, 0.0, 1e-13]])
    assert evened(np.empty((2, 0))).shape == (2, 0)


def test_a_difference_that_is_rounding_alone_is_none() -> None:
    with np.errstate(invalid="ignore"):
        found = apart(np.array([0.1 + 0.2, 1e-20, np.inf, np.nan, 1.0]), np.array([0.3, 0.0, np.inf, 1.0, np.inf]))
    np.testing.assert_array_equal(found, [0.0, 1e-20, np.nan, np.nan, -np.inf])

"""Memberships of any kind in the simplex: order kept, nothing lost, and what cannot be there refused with a mend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_allclose
from scipy.special import softmax
from scipy.stats import rankdata

from steelyard.core.errors import (
    BadOption,
    MissingValues,
    NotNumbers,
    OneClass,
    OutsideUnitInterval,
    SteelyardError,
    SumNotOne,
    WrongShape,
)
from steelyard.core.typing import Array
from steelyard.families.partition.memberships import standardise

WAYS: tuple[Any, ...] = ("shift", "softmax", "rank")
finite = st.floats(allow_nan=False, allow_infinity=False)
tables = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6), elements=finite)


@given(tables, st.sampled_from(WAYS))
def test_any_finite_numbers_find_a_place_in_the_simplex_in_their_order(values: Array, how: Any) -> None:
    found = standardise(values, how)
    assert (found >= 0).all()
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    higher = values[:, :, None] > values[:, None, :]
    assert (found[:, :, None] >= found[:, None, :])[higher].all()
    tied = values[:, :, None] == values[:, None, :]
    assert (found[:, :, None] == found[:, None, :])[tied].all()


def test_probabilities_stay_what_they_are() -> None:
    given = np.random.default_rng(1).dirichlet([1, 2, 3], 50)
    assert (standardise(given) == given).all()
    corners = np.eye(3)
    assert (standardise(corners) == corners).all()


def test_probabilities_written_with_six_digits_are_divided_by_their_sum() -> None:
    given = np.array([[0.333333, 0.333333, 0.333333]])
    assert_allclose(standardise(given), 1 / 3, rtol=1e-12)


def test_rounding_below_zero_is_zero() -> None:
    assert standardise([[1.0, -1e-17, 0.0]]).tolist() == [[1.0, 0.0, 0.0]]


def test_shift_takes_the_zero_point_off() -> None:
    values = [[1.0, 3.0, 2.0], [1.0, 1.0, 1.0], [5.0, 1.0, 1.0]]
    expected = np.array([[0, 2, 1], [1, 1, 1], [3, 0, 0]]) / 3
    assert_allclose(standardise(values, "shift"), expected, atol=1e-15)
    assert_allclose(standardise([[1.0, 3.0]], "shift", zero=-1), [[2 / 6, 4 / 6]])
    assert_allclose(standardise([[0.2, 0.8]], "shift", zero=0), [[0.2, 0.8]])


def test_softmax_is_that_of_scipy_and_stable() -> None:
    values = np.random.default_rng(2).normal(0, 5, (40, 4))
    assert_allclose(standardise(values, "softmax"), softmax(values, axis=1), rtol=1e-13)
    assert standardise([[1e308, -1e308]], "softmax").tolist() == [[1.0, 0.0]]
    assert_allclose(standardise([[5000.0, 5000.0 - np.log(3)]], "softmax"), [[0.75, 0.25]], rtol=1e-9)


def test_ranks_are_shared_where_values_are_tied() -> None:
    values = np.random.default_rng(3).integers(0, 3, (30, 5)).astype(float)
    ranks = rankdata(values, axis=1)
    assert_allclose(standardise(values, "rank"), ranks / ranks.sum(axis=1, keepdims=True), rtol=1e-15)
    assert_allclose(standardise([[7.0, -2.0, 7.0]], "rank"), [[2.5 / 6, 1 / 6, 2.5 / 6]])


def test_a_function_that_keeps_the_order_is_taken() -> None:
    values = np.random.default_rng(4).normal(size=(20, 3))
    assert_allclose(standardise(values, lambda rows: softmax(2 * rows, axis=1)), softmax(2 * values, axis=1))


def test_what_was_given_is_not_changed() -> None:
    values = np.array([[0.5, 0.5], [0.2, 0.8]])

    def meddling(rows: Array) -> Array:
        rows[:] = 0.5
        return rows

    with pytest.raises(BadOption):
        standardise(values, meddling)
    assert values.tolist() == [[0.5, 0.5], [0.2, 0.8]]


def reversed_last(rows: Array) -> Array:
    found: Array = softmax(rows, axis=1)
    found[-1] = found[-1][::-1]
    return found


def broken_tie(rows: Array) -> Array:
    return np.tile([0.6, 0.4], (len(rows), 1))


@pytest.mark.parametrize(
    ("values", "how", "error", "text"),
    [
        ([[0.5, 0.5], [np.nan, 1]], "rank", MissingValues, "row 1: a membership is missing. Leave"),
        ([[0.5, 0.5], [np.inf, 1]], "softmax", NotNumbers, "row 1: a membership is infinite"),
        ([[0.5], [1.0]], "rank", OneClass, "one membership a row"),
        ([0.5, 0.5], "rank", WrongShape, "1 axes"),
        ([["a", "b"]], "rank", NotNumbers, "no table of numbers"),
        ([[0.5, 0.5], [0.5]], "rank", NotNumbers, "no table of numbers"),
        ([[0.5, 0.5], [-0.5, 1.5]], "probability", OutsideUnitInterval, "row 1: a membership is negative.*softmax"),
        ([[0.5, 0.5], [0.5, 0.6]], "probability", SumNotOne, "row 1: memberships do not add up to 1.*'shift'"),
        ([[0.5, 0.5]], "logit", BadOption, "how is 'logit'. Say 'probability', 'softmax', 'rank' or 'shift'"),
        ([[0.5, 0.5]], None, BadOption, "how is None"),
        ([[0.5, 0.4], [1.0, 2.0], [1.0, 2.0]], reversed_last, BadOption, "row 2: the function changes the order"),
        ([[0.6, 0.4], [0.5, 0.5]], broken_tie, BadOption, "row 1: the function changes the order"),
        ([[0.5, 0.5]], lambda rows: rows * 2, SumNotOne, "row 0.*add up to 1"),
        ([[0.5, 0.5]], lambda rows: rows - 1, OutsideUnitInterval, "row 0.*negative"),
        ([[0.5, 0.5]], lambda rows: rows[:, :1], OneClass, "one membership"),
        ([[0.5, 0.5]], lambda rows: np.hstack([rows, rows]) / 2, WrongShape, r"makes \(1, 4\) of \(1, 2\)"),
    ],
)
def test_what_cannot_be_there_is_refused(
    values: Any, how: str | Callable[[Array], Array], error: type[SteelyardError], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        standardise(values, how)  # type: ignore[arg-type]
    assert caught.value.mend


def test_zero_points_are_checked() -> None:
    with pytest.raises(OutsideUnitInterval, match="row 1: a membership is below the zero-point 0"):
        standardise([[1.0, 2.0], [-1.0, 2.0]], "shift", zero=0)
    with pytest.raises(BadOption, match="zero is nan"):
        standardise([[1.0, 2.0]], "shift", zero=np.nan)
    with pytest.raises(BadOption, match="alone"):
        standardise([[1.0, 2.0]], "softmax", zero=0)


def test_no_rows_are_no_rows() -> None:
    for how in ("probability", *WAYS):
        assert standardise(np.empty((0, 3)), how).shape == (0, 3)

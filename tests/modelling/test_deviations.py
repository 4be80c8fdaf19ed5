"""Standard deviations from replicates, from separate objects, and what is left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from steelyard.core.errors import (
    BadDeviation,
    BadOption,
    EmptyInput,
    MissingValues,
    NotNumbers,
    SteelyardError,
    TooFewRows,
    UnequalLengths,
    WrongShape,
)
from steelyard.core.estimate import Deviation
from steelyard.core.typing import Array
from steelyard.modelling import deviations
from steelyard.modelling.deviations import intrinsic_sd, measurement_sd, total_sd

WATER, SAMPLE = [60.1, 60.5, 71.2, 71.0, 71.4, 65.0], ["a", "a", "b", "b", "b", "c"]


def paper(random: np.random.Generator, rows: int, epsilon: float, delta: float) -> tuple[Array, Array]:
    """Covariates and measurements of the simulation in section 7 of Mevik (2003)."""
    covariates = random.multivariate_normal([0, 0], [[2, 0.4], [0.4, 1]], rows)
    expected = covariates.sum(axis=1) + covariates[:, 1] ** 2
    return covariates, expected + random.normal(0, math.hypot(epsilon, delta), rows)


def quadratic(covariates: Array, measured: Array) -> Array:
    """Fitted values of the paper's regression, which has four parameters."""
    basis = np.column_stack([np.ones(len(covariates)), covariates, covariates[:, 1] ** 2])
    return np.asarray(basis @ np.linalg.lstsq(basis, measured)[0])


def test_replicates_are_pooled_within_objects() -> None:
    found = measurement_sd(WATER, SAMPLE)
    # 60.1 and 60.5 are 0.2 from their mean; 71.2, 71.0 and 71.4 are 0, 0.2 and 0.2 from theirs.
    assert found.sd == pytest.approx(math.sqrt((2 * 0.04 + 2 * 0.04) / 3), rel=1e-12)
    assert (found.freedom, found.truncated, float(found)) == (3, False, found.sd)
    assert found.error == pytest.approx(math.sqrt(2 / 3) * found.sd**2)
    assert str(found) == "0.2309 [0.1308, 0.8611] (pooled within objects, 3 degrees of freedom)"


@pytest.mark.parametrize("names", [np.array([0, 0, 7, 7, 7, 3]), pd.Series(SAMPLE), [True, True, *[False] * 3, True]])
def test_objects_may_be_named_in_any_way(names: Any) -> None:
    alike = pd.DataFrame({"z": WATER, "name": list(names)}).groupby("name")["z"]
    expected = math.sqrt(alike.apply(lambda z: ((z - z.mean()) ** 2).sum()).sum() / (len(WATER) - alike.ngroups))
    assert measurement_sd(pd.Series(WATER), names).sd == pytest.approx(expected, rel=1e-12)


def test_a_large_offset_costs_no_digits() -> None:
    assert measurement_sd(np.array(WATER) + 2.0**30, SAMPLE).sd == pytest.approx(
        measurement_sd(WATER, SAMPLE).sd, rel=1e-6
    )


def test_pooled_intervals_are_those_of_chi_squared() -> None:
    found = Deviation(2.0, 10)
    low, high = found.interval(0.9)
    assert low == pytest.approx(math.sqrt(40 / stats.chi2(10).ppf(0.95)))
    assert high == pytest.approx(math.sqrt(40 / stats.chi2(10).ppf(0.05)))
    assert Deviation(2.0).interval() == (2.0, 2.0)
    assert Deviation(2.0, 0).interval() == (0.0, math.inf)
    assert Deviation(2.0).error == 0.0
    assert str(Deviation(2.0)) == "2 (known)"


# --- all scatter ------------------------------------------------------------------------------------------------------


def test_objects_with_equal_covariates_are_pooled() -> None:
    covariates = [[1, 0.0], [1, -0.0], [2, 0.0], [1, 1.0], [2, 0.0], [1, 0.0]]
    found = total_sd([1.0, 2.0, 5.0, 9.0, 7.0, 3.0], covariates)
    assert found.sd == pytest.approx(math.sqrt((2 + 2) / 3))
    assert found.freedom == 3


def test_residuals_are_divided_by_what_is_left_after_fitting() -> None:
    found = total_sd([1.0, 2.0, 4.0, 3.0], method="residual", predicted=[1.5, 2.0, 3.0, 3.0], parameters=2)
    assert found.sd == pytest.approx(math.sqrt(1.25 / 2))
    assert found.freedom == 2
    left_out = total_sd([1.0, 2.0, 4.0, 3.0], method="residual", predicted=[1.5, 2.0, 3.0, 3.0])
    assert left_out.sd == pytest.approx(math.sqrt(1.25 / 4))
    assert left_out.freedom == 4
    assert "left out" in left_out.method


def test_local_regression_through_all_rows_is_leave_one_out_regression() -> None:
    random = np.random.default_rng(1)
    covariates = random.normal(size=(30, 2))
    values = covariates @ [1.0, 2.0] + random.normal(0, 0.3, 30)
    found = total_sd(values, covariates, "local")
    basis = np.column_stack([np.ones(30), covariates])
    hat = basis @ np.linalg.pinv(basis)
    residual = (values - hat @ values) / (1 - np.diag(hat))
    # The variance of a residual of a row left out is 1 / (1 - h) times that of a row.
    expected = np.mean(residual**2 * (1 - np.diag(hat)))
    assert found.sd**2 == pytest.approx(expected, rel=1e-7)
    assert 20 < found.freedom < 30


def test_local_regression_finds_the_scatter_around_a_curve() -> None:
    random, found = np.random.default_rng(2), []
    for _ in range(60):
        place = random.uniform(size=100)
        found.append(total_sd(np.sin(4 * place) + random.normal(0, 0.2, 100), place, "local"))
    variance = np.array([each.sd**2 for each in found])
    assert variance.mean() == pytest.approx(0.04, rel=0.06)
    told = np.mean([each.freedom for each in found])
    assert 2 * variance.mean() ** 2 / variance.var() == pytest.approx(told, rel=0.4)


def test_local_regression_does_not_mind_units_constants_or_repeated_rows() -> None:
    covariates, values = paper(np.random.default_rng(3), 60, 0.3, 0.2)
    found = total_sd(values, covariates, "local")
    with_constant = np.column_stack([covariates * [1e3, 1e-3] + 5, np.full(60, 0.1)])
    again = total_sd(values * 10 + 3, with_constant, "local")
    assert again.sd == pytest.approx(10 * found.sd, rel=1e-5)
    assert again.freedom == pytest.approx(found.freedom, rel=1e-5)
    repeated = np.repeat(np.arange(6), 10)
    design = total_sd(values, repeated, "design")
    assert total_sd(values, repeated, "local").sd == pytest.approx(design.sd, rel=0.2)
    assert total_sd(values, np.ones(60), "local").sd == pytest.approx(values.std(ddof=1), rel=1e-9)


def test_of_many_rows_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert deviations.MOST_ROWS == 1_500
    monkeypatch.setattr(deviations, "MOST_ROWS", 500)
    random = np.random.default_rng(4)
    place = random.uniform(size=600)
    found = total_sd(2 * place + random.normal(0, 0.5, 600), place, "local")
    assert found.sd == pytest.approx(0.5, rel=0.05)
    assert "500 rows" in found.method


# --- what is left -----------------------------------------------------------------------------------------------------


def test_variances_are_subtracted_and_their_errors_added() -> None:
    total, part = Deviation(0.6, 96), Deviation(0.5, 20)
    found = intrinsic_sd(total, part)
    assert found.sd == pytest.approx(math.sqrt(0.36 - 0.25))
    assert found.error == pytest.approx(math.hypot(total.error, part.error))
    assert found.error == pytest.approx(math.sqrt(2 * 0.36**2 / 96 + 2 * 0.25**2 / 20))
    assert found.freedom == pytest.approx(2 * (0.36 - 0.25) ** 2 / found.error**2)
    assert not found.truncated
    assert intrinsic_sd(0.5, 0.3).sd == pytest.approx(0.4)
    assert intrinsic_sd(0.5, 0.3).interval() == pytest.approx((0.4, 0.4))


def test_a_negative_difference_is_0_and_says_so() -> None:
    found = intrinsic_sd(Deviation(0.5, 96), 0.55)
    assert (found.sd, found.truncated, found.freedom) == (0.0, True, 0.0)
    assert found.interval()[0] == 0
    assert found.interval()[1] > 0
    assert str(found).startswith("0 [0, ")
    assert "0.55 exceeds all scatter 0.5" in str(found)


def test_without_measurement_error_nothing_is_subtracted() -> None:
    found = intrinsic_sd(Deviation(0.5, 12), 0)
    assert found.sd == 0.5
    assert found.freedom == pytest.approx(12)
    assert found.interval(0.9) == pytest.approx(Deviation(0.5, 12).interval(0.9))


@pytest.mark.parametrize(
    ("whole", "part", "freedom"), [(0.522, 0.5, (96, 40)), (1.0, 0.5, (20, 10)), (1.0, 0.1, (50, 5))]
)
def test_intervals_of_differences_cover(whole: float, part: float, freedom: tuple[int, int]) -> None:
    random, truth, draws = np.random.default_rng(5), math.sqrt(whole**2 - part**2), 1_500
    missed = np.zeros(2)
    for _ in range(draws):
        found = [
            Deviation(sd * math.sqrt(random.chisquare(free) / free), free)
            for sd, free in zip((whole, part), freedom, strict=True)
        ]
        low, high = intrinsic_sd(*found).interval()
        missed += [truth < low, truth > high]
    assert (missed / draws < 0.025 + 4 * math.sqrt(0.025 / draws)).all()
    assert missed.sum() / draws > 0.03


def test_how_often_the_measurement_error_explains_all() -> None:
    # "It is 0 in 29 % of samples of 100": the share of chi-squared variables below their bound says the same.
    random, draws, truncated = np.random.default_rng(6), 600, 0
    for _ in range(draws):
        covariates, values = paper(random, 100, 0.15, 0.5)
        total = total_sd(values, method="residual", predicted=quadratic(covariates, values), parameters=4)
        truncated += intrinsic_sd(total, 0.5).truncated
    exact = stats.chi2(96).cdf(96 * 0.25 / (0.25 + 0.15**2))
    assert exact == pytest.approx(0.29, abs=0.01)
    assert truncated / draws == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / draws))


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "names", "error", "words"),
    [
        ([1.0, 2.0], ["a", "b"], TooFewRows, "no object was measured twice"),
        ([1.0, math.nan], ["a", "a"], MissingValues, "column 'values', row 1"),
        ([1.0, None], ["a", "a"], MissingValues, "column 'values', row 1"),
        ([1.0, math.inf], ["a", "a"], NotNumbers, "row 1: the value is inf"),
        (["x", "y"], ["a", "a"], NotNumbers, "'x' is not a number"),
        ([1.0, 2.0], ["a", None], MissingValues, "column 'object_id', row 1"),
        ([1.0, 2.0], ["a"], UnequalLengths, "1 rows, but 'values' has 2"),
        ([], [], EmptyInput, "no rows"),
        ([[1.0, 2.0]], ["a"], WrongShape, "(1, 2)"),
    ],
)
def test_bad_replicates_are_refused(values: Any, names: Any, error: type[SteelyardError], words: str) -> None:
    with pytest.raises(error) as caught:
        measurement_sd(values, names)
    assert words in str(caught.value)
    assert caught.value.mend


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, BadOption, "needs covariates"),
        ({"covariates": [1, 2, 3]}, TooFewRows, "method='local'"),
        ({"covariates": [1, 2]}, UnequalLengths, "2 rows"),
        ({"covariates": [[1, 2], [3, math.nan], [5, 6]]}, MissingValues, "column 'covariates[1]', row 1"),
        ({"covariates": pd.DataFrame({"fat": [1, 2, math.inf]})}, NotNumbers, "column 'fat', row 2"),
        ({"covariates": np.zeros((3, 2, 2))}, WrongShape, "(3, 2, 2)"),
        ({"covariates": [1, 1, 1], "method": "median"}, BadOption, "'median'"),
        ({"method": "residual"}, BadOption, "predicted="),
        ({"method": "residual", "predicted": [1, 2]}, UnequalLengths, "2 rows"),
        ({"method": "residual", "predicted": [1, 2, 3], "parameters": 3}, TooFewRows, "3 parameters"),
        ({"method": "residual", "predicted": [1, 2, 3], "parameters": -1}, BadOption, "parameters is -1"),
        ({"covariates": [1, 2, 3], "method": "local"}, TooFewRows, "Give 4 rows or more"),
    ],
)
def test_bad_samples_are_refused(arguments: dict[str, Any], error: type[SteelyardError], words: str) -> None:
    with pytest.raises(error) as caught:
        total_sd([1.0, 2.0, 3.0], **arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize("sd", [-0.1, math.nan, math.inf, "0.3", None])
def test_bad_deviations_are_refused(sd: Any) -> None:
    with pytest.raises(BadDeviation):
        intrinsic_sd(sd, 0.1)
    with pytest.raises(BadDeviation):
        intrinsic_sd(0.1, sd)


def test_what_is_no_deviation_cannot_be_one() -> None:
    with pytest.raises(BadDeviation):
        Deviation(-1.0)
    with pytest.raises(BadOption):
        Deviation(1.0, math.nan)
    with pytest.raises(BadOption):
        Deviation(1.0, 3).interval(95)


def test_what_is_left_of_a_difference_that_0_stands_for() -> None:
    error = measurement_sd([1, 1.5, 2, 2], [1, 1, 2, 2])
    nothing = intrinsic_sd(0.1, error)
    again = intrinsic_sd(nothing, 0.0)
    assert (again.sd, again.freedom, again.truncated) == (0, 0, True)
    assert again.interval() == pytest.approx(nothing.interval())
    assert str(again) == str(nothing)
    more = intrinsic_sd(intrinsic_sd(Deviation(0.5, 5), 0.5), Deviation(0.1, 5))
    assert 0 < more.interval()[1] < math.inf


def test_what_is_left_where_one_of_the_two_is_not_known() -> None:
    assert intrinsic_sd(Deviation(0.5, 0), 0.1).freedom == 0
    assert intrinsic_sd(Deviation(0.5, 0), 0.1).interval() == (0, math.inf)
    assert intrinsic_sd(0.5, Deviation(0.1, 0)).freedom == 0
    assert intrinsic_sd(0.5, Deviation(0.1, 0)).interval() == (0, 0.5)
    nothing = intrinsic_sd(0.1, Deviation(0.25, 2))
    assert 0 < intrinsic_sd(0.2, nothing).freedom < 2


def test_what_is_taken_from_a_difference_is_taken_with_what_was_taken_before() -> None:
    total, error = Deviation(0.5, 10), Deviation(0.3, 8)
    twice, once = intrinsic_sd(intrinsic_sd(total, error), 0.4), intrinsic_sd(total, error)
    assert twice.sd == pytest.approx(0, abs=1e-8)
    assert twice.interval()[1] < once.interval()[1]
    known = intrinsic_sd(intrinsic_sd(0.5, 0.3), 0.2)
    assert known.sd == pytest.approx(math.sqrt(0.12))
    assert known.interval() == pytest.approx((known.sd, known.sd))


@pytest.mark.parametrize("freedom", [1e-9, 1e-3, 0.02, 0.099, 0.1, 0.3])
@pytest.mark.parametrize("other", [1e-6, 0.01, 0.15, 4, math.inf])
def test_hardly_any_degrees_of_freedom_are_no_obstacle(freedom: float, other: float) -> None:
    for one, two in ((0.5, 0.3), (0.3, 0.5), (0.5, 0.0)):
        for first, second in ((freedom, other), (other, freedom)):
            found = intrinsic_sd(Deviation(one, first), Deviation(two, second))
            low, high = found.interval()
            assert 0 <= low <= found.sd <= high
            assert str(found)


@pytest.mark.parametrize("method", ["design", "local"])
@pytest.mark.parametrize("option", [{"predicted": [1, 2, 3, 4]}, {"parameters": 2}], ids=str)
def test_only_residuals_are_of_predictions(method: Any, option: Any) -> None:
    with pytest.raises(BadOption, match=f"the method '{method}' takes no {next(iter(option))}="):
        total_sd([1, 2, 3, 4.0], [[1], [1], [2], [2]], method=method, **option)

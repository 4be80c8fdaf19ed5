"""What covariates say of a response: rows left out, how sure that is, and any regressor in the place of ours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import ARDRegression, BayesianRidge, LinearRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from steelyard.core.errors import (
    BadDeviation,
    BadOption,
    EmptyInput,
    MissingValues,
    NotNumbers,
    NoVariance,
    SteelyardError,
    StraddlingGroups,
    TooFewRows,
    UnequalLengths,
    WrongShape,
)
from steelyard.core.estimate import Deviation
from steelyard.core.threads import one_thread
from steelyard.core.typing import Array
from steelyard.inputs.covariates import design
from steelyard.modelling import response as response_module
from steelyard.modelling.response import Response, fit_response

QUADRATIC = make_pipeline(PolynomialFeatures(2), BayesianRidge())


def paper(rows: int, epsilon: float, delta: float, seed: int = 0) -> tuple[Array, Array, Array]:
    """Covariates, true expectations and measurements of the simulation in section 7 of Mevik (2003)."""
    random = np.random.default_rng(seed)
    covariates = random.multivariate_normal([0, 0], [[2, 0.4], [0.4, 1]], rows)
    expected = covariates.sum(axis=1) + covariates[:, 1] ** 2
    return covariates, expected, expected + random.normal(0, math.hypot(epsilon, delta), rows)


def distance(first: Array, second: Array) -> float:
    return math.sqrt(np.mean(np.square(first - second)))


def spectra(rows: int, seed: int = 0) -> tuple[Array, Array]:
    """A hundred channels that rise and fall together with three contents, and one of the contents."""
    random = np.random.default_rng(seed)
    contents = random.uniform(size=(rows, 3))
    peaks = np.exp(-np.square(np.linspace(0, 1, 100) - np.array([[0.3], [0.5], [0.8]])) / 0.02)
    level = random.normal(0, 1, (rows, 1))
    return contents @ peaks * (1 + 0.2 * level) + level + random.normal(0, 0.01, (rows, 100)), 10 * contents[:, 1] ** 2


# --- the Gaussian process ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "delta"), [(0.15, 0.0), (0.15, 0.5), (0.3, 0.15), (0.9, 0.5)])
def test_the_surface_and_the_scatter_of_the_paper_are_found(epsilon: float, delta: float) -> None:
    found = [(fit_response(x, z, delta), f) for x, f, z in (paper(100, epsilon, delta, seed) for seed in range(8))]
    total = math.hypot(epsilon, delta)
    assert np.mean([distance(each.mean, f) for each, f in found]) < 0.45 * total
    # What is not known of the surface comes on top of the scatter around it.
    assert epsilon * 0.8 < np.mean([each.sd.mean() for each, _ in found]) < epsilon * 1.15 + 0.2 * total


def test_standard_deviations_are_of_the_true_response() -> None:
    ratios = []
    for seed in range(12):
        covariates, expected, measured = paper(100, 0.3, 0.5, seed)
        found = fit_response(covariates, measured, 0.5)
        ratios.append(np.mean((np.square(expected - found.mean) + 0.09) / np.square(found.sd)))
    assert np.mean(ratios) == pytest.approx(1, abs=0.25)


def test_units_do_not_matter() -> None:
    covariates, _, measured = paper(80, 0.3, 0.2)
    found = fit_response(covariates, measured, 0.2)
    again = fit_response(covariates * [1e4, 1e-3] + [5.0, -2.0], measured * 50 - 7, 10.0)
    assert again.mean == pytest.approx(found.mean * 50 - 7, rel=1e-4, abs=1e-2)
    assert again.sd == pytest.approx(found.sd * 50, rel=1e-3)


def test_the_order_of_rows_does_not_matter() -> None:
    covariates, _, measured = paper(80, 0.3, 0.2)
    order = np.random.default_rng(1).permutation(80)
    found, again = fit_response(covariates, measured, 0.2), fit_response(covariates[order], measured[order], 0.2)
    assert again.mean == pytest.approx(found.mean[order], abs=5e-3)
    assert again.sd == pytest.approx(found.sd[order], rel=1e-2)


def test_a_deviation_may_be_given_as_it_was_found_or_for_every_row() -> None:
    covariates, _, measured = paper(60, 0.3, 0.2)
    found = fit_response(covariates, measured, 0.2)
    for sd in (Deviation(0.2, 30), np.full(60, 0.2), pd.Series(np.full(60, 0.2))):
        assert fit_response(covariates, measured, sd).mean == pytest.approx(found.mean)
    worse = measured.copy()
    worse[::10] += 30
    careful = fit_response(covariates, worse, np.where(np.arange(60) % 10 == 0, 30.0, 0.2))
    rest = np.arange(60) % 10 != 0
    assert distance(careful.mean[rest], found.mean[rest]) < 0.2
    assert (careful.sd[~rest] < 5).all()


def test_rows_do_not_predict_themselves() -> None:
    covariates, _, measured = paper(80, 0.3, 0.2)
    changed = measured.copy()
    changed[11] += 0.5
    before, after = (fit_response(covariates, z, 0.2) for z in (measured, changed))
    # Only through the parameters, which hardly change.
    assert after.mean[11] == pytest.approx(before.mean[11], abs=0.05)


def test_copies_predict_each_other_unless_they_are_grouped() -> None:
    random = np.random.default_rng(4)
    covariates = np.repeat(random.normal(size=(60, 6)), 2, axis=0)
    measured = np.repeat(random.normal(size=60), 2)  # nothing to be learned
    names = np.repeat([f"object {number}" for number in range(60)], 2)
    apart, together = (fit_response(covariates, measured, 0.0, groups=groups) for groups in (None, names))
    assert "60 rows are copies" in apart.note
    assert distance(apart.mean, measured) < 0.5
    assert "each group left out" in together.note
    assert "learned from 60 rows" in together.note
    assert distance(together.mean, measured) > 0.9
    assert together.sd.mean() == pytest.approx(measured.std(), rel=0.3)


def test_folds_leave_rows_out_together() -> None:
    covariates, expected, measured = paper(60, 0.3, 0.2)
    each, tenth = fit_response(covariates, measured, 0.2), fit_response(covariates, measured, 0.2, folds=10, seed=3)
    assert "10 folds" in tenth.note
    assert distance(tenth.mean, expected) == pytest.approx(distance(each.mean, expected), rel=0.5)
    same = fit_response(covariates, measured, 0.2, folds=KFold(60))
    assert same.mean == pytest.approx(each.mean, rel=1e-8)


@pytest.mark.parametrize(
    "covariates",
    [
        lambda x: np.column_stack([x, np.full(len(x), 0.1)]),
        lambda x: np.column_stack([x, x[:, 0] * 2 - x[:, 1], x]),
        lambda x: pd.DataFrame(x, columns=["first", "second"]),
        lambda x: x.tolist(),
    ],
    ids=["constant", "collinear", "frame", "lists"],
)
def test_odd_covariates_are_no_obstacle(covariates: Any) -> None:
    table, expected, measured = paper(80, 0.3, 0.2)
    found = fit_response(covariates(table), measured, 0.2)
    assert distance(found.mean, expected) < 0.25


def test_without_anything_to_learn_the_mean_is_expected() -> None:
    random = np.random.default_rng(5)
    measured = random.normal(3, 2, 50)
    found = fit_response(np.ones(50), measured, 0.5)
    left = (measured.sum() - measured) / 49
    assert found.mean == pytest.approx(left, abs=0.1)
    assert found.sd.mean() == pytest.approx(math.sqrt(measured.var() - 0.25), rel=0.1)
    same = fit_response(random.normal(size=50), np.full(50, 3.0), 0.0)
    assert same.mean == pytest.approx(np.full(50, 3.0))
    assert (same.sd < 0.1).all()


def test_spectra_are_summed_up_in_principal_components() -> None:
    covariates, content = spectra(200)
    measured = content + np.random.default_rng(1).normal(0, 0.2, 200)
    found = fit_response(covariates, measured, 0.2)
    assert "20 principal components of 100 covariates" in found.note
    assert distance(found.mean, content) < 0.08 * content.std()


def test_many_unrelated_covariates_share_a_length() -> None:
    random = np.random.default_rng(2)
    covariates = random.normal(size=(200, 50))
    expected = 2 * covariates[:, 0] + covariates[:, 1] - covariates[:, 7]
    found = fit_response(covariates, expected + random.normal(0, 0.5, 200), 0.1)
    assert "one length for all covariates" in found.note
    assert distance(found.mean, expected) < 0.5


def test_more_covariates_than_rows_are_no_obstacle() -> None:
    covariates, content = spectra(40)
    assert distance(fit_response(covariates, content, 0.01).mean, content) < 0.5 * content.std()


def test_of_many_rows_only_some_are_taken_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_module, "MOST_ROWS", 120)
    monkeypatch.setattr(response_module, "LEARN_ROWS", 80)
    covariates, expected, measured = paper(300, 0.3, 0.2)
    done: list[tuple[int, int]] = []
    found = fit_response(covariates, measured, 0.2, progress=lambda *numbers: done.append(numbers))
    assert "10 folds, each predicted from 120 other rows" in found.note
    assert "learned from 80 rows" in found.note
    assert done == [(number, 10) for number in range(1, 11)]
    assert distance(found.mean, expected) < 0.15
    assert found.sd.mean() == pytest.approx(0.3, rel=0.2)
    groups = np.arange(300) // 2
    grouped = fit_response(covariates, measured, 0.2, groups=groups, folds=5)
    assert distance(grouped.mean, expected) < 0.15


# --- other regressors -------------------------------------------------------------------------------------------------


def test_an_estimator_is_fitted_without_the_rows_that_it_predicts() -> None:
    covariates, _, measured = paper(60, 0.3, 0.2)
    found = fit_response(covariates, measured, 0.2, model=QUADRATIC, folds=KFold(6))
    for train, test in KFold(6).split(covariates):
        mean, sd = QUADRATIC.fit(covariates[train], measured[train]).predict(covariates[test], return_std=True)
        assert found.mean[test] == pytest.approx(mean)
        assert found.sd[test] == pytest.approx(np.sqrt(sd**2 - 0.04))
    assert "Pipeline; 6 folds" in found.note
    assert "of measurements" in found.note


@pytest.mark.parametrize(
    "model",
    [
        QUADRATIC,
        make_pipeline(PolynomialFeatures(2), StandardScaler(), ARDRegression()),
        GaussianProcessRegressor(ConstantKernel(9.0) * RBF([4.0, 2.0]) + WhiteKernel(0.34), optimizer=None),
        GaussianProcessRegressor(ConstantKernel(9.0) * RBF([4.0, 2.0]) + WhiteKernel(0.09), alpha=0.25, optimizer=None),
        GaussianProcessRegressor(ConstantKernel(9.0) * RBF([4.0, 2.0]), alpha=0.34, optimizer=None),
        GaussianProcessRegressor(ConstantKernel(1.0) * RBF([4.0, 2.0]), alpha=0.04, normalize_y=True, optimizer=None),
    ],
    ids=["ridge", "ard", "white", "white and alpha", "alpha", "normalised alpha"],
)
def test_whatever_an_estimator_tells_the_deviation_of_the_response_is_found(model: Any) -> None:
    covariates, _, measured = paper(150, 0.3, 0.5)
    with one_thread():
        found = fit_response(covariates, measured, 0.5, model=model)
    assert found.sd.mean() == pytest.approx(0.33, abs=0.12)
    assert "taken to be of measurements" in found.note
    ratio = np.mean(np.square(measured - found.mean) / (np.square(found.sd) + 0.25))
    assert ratio == pytest.approx(1, abs=0.35)
    assert f"{ratio:.2f} times" in found.note


def test_residuals_tell_what_an_estimator_of_the_surface_alone_does_not() -> None:
    covariates, _, measured = paper(100, 0.9, 0.2)
    surface = GaussianProcessRegressor(ConstantKernel(9.0) * RBF([4.0, 2.0]), alpha=1e-7, optimizer=None)
    with one_thread():
        found = fit_response(covariates, measured, 0.2, model=surface)
        theirs = cross_val_predict(surface, covariates, measured, cv=KFold(20))
    assert "taken to be of the surface" in found.note
    assert np.mean(np.square(found.sd) + 0.04) == pytest.approx(np.mean(np.square(measured - found.mean)), rel=1e-6)
    assert distance(found.mean, measured) == pytest.approx(distance(theirs, measured), rel=0.5)


def test_groups_stay_together_in_the_folds_of_an_estimator() -> None:
    random = np.random.default_rng(6)
    groups = random.integers(0, 40, 120)
    seen: list[set[int]] = []

    def model(train: Array, values: Array, test: Array) -> tuple[Array, float]:
        assert not set(train[:, 0]) & set(test[:, 0])
        seen.append({int(group) for group in test[:, 0]})
        return np.full(len(test), values.mean()), 1.0

    found = fit_response(groups, random.normal(size=120), 0.1, model=model, groups=groups)
    assert len(seen) == 20
    assert set().union(*seen) == set(groups.tolist())
    assert "model; 20 folds" in found.note
    fit_response(groups, random.normal(size=120), 0.1, model=model, groups=groups, folds=GroupKFold(5))
    assert len(seen) == 25


@pytest.mark.parametrize("model", [None, BayesianRidge()])
def test_a_splitter_that_parts_groups_is_refused(model: Any) -> None:
    random = np.random.default_rng(6)
    rows, values, groups = random.normal(size=(60, 2)), random.normal(size=60), np.arange(60) // 3
    folds = KFold(5, shuffle=True, random_state=0)
    with pytest.raises(StraddlingGroups, match=r"'groups', row \d+: KFold leaves this row out without row"):
        fit_response(rows, values, 0.1, model=model, groups=groups, folds=folds)
    kept = fit_response(rows, values, 0.1, model=model, groups=groups, folds=GroupKFold(5))
    assert "5 folds" in kept.note


def test_a_function_tells_mean_and_deviation_of_the_response() -> None:
    covariates, expected, measured = paper(60, 0.3, 0.2)
    table = np.column_stack([covariates, expected])
    found = fit_response(table, measured, 0.2, model=lambda _, __, test: (test[:, 2], 0.3))
    assert found.mean == pytest.approx(expected)
    assert found.sd == pytest.approx(np.full(60, 0.3))
    sure = fit_response(table, measured, 0.2, model=lambda _, __, test: (test[:, 2] + 1, 0.01))
    assert "surer than they should be" in sure.note


def test_a_regressor_that_tells_no_deviation_is_refused_unless_residuals_shall_tell() -> None:
    covariates, _, measured = paper(100, 0.9, 0.2)
    model = make_pipeline(PolynomialFeatures(2), LinearRegression())
    with pytest.raises(NoVariance, match="spread='residual'"):
        fit_response(covariates, measured, 0.2, model=model)
    found = fit_response(covariates, measured, 0.2, model=model, spread="residual")
    expected = np.mean(np.square(measured - found.mean)) - 0.04
    assert found.sd == pytest.approx(np.full(100, math.sqrt(expected)))
    exact = fit_response(covariates, measured, 5.0, model=model, spread="residual")
    assert "leaves no variance in 100 of 100 rows" in exact.note
    assert (exact.sd > 0).all()
    assert (exact.sd < 1e-4).all()
    level = fit_response(covariates, measured, 0.2, model=lambda _, z, x: np.full(len(x), z.mean()), spread="residual")
    assert level.sd == pytest.approx(np.full(100, measured.std()), rel=0.1)
    ours = fit_response(covariates, measured, 0.2, spread="residual")
    assert len(np.unique(ours.sd)) == 1


def test_the_same_seed_deals_the_same_folds() -> None:
    covariates, _, measured = paper(50, 0.3, 0.2)
    first, same, other = (
        fit_response(covariates, measured, 0.2, model=QUADRATIC, seed=seed).mean for seed in (1, 1, 2)
    )
    assert (first == same).all()
    assert (first != other).any()


def test_estimators_without_parameters_to_ask_for_are_copied() -> None:
    class Level:
        level = 0.0

        def fit(self, _: Array, values: Array) -> Level:
            assert self.level == 0
            self.level = float(values.mean())
            return self

        def predict(self, points: Array, return_std: bool = False) -> Any:
            mean = np.full((len(points), 1), self.level)
            return (mean, np.full(len(points), 2.0)) if return_std else mean

    measured = np.random.default_rng(7).normal(5, 2, 80)
    found = fit_response(np.arange(80), measured, 0.5, model=Level())
    assert found.sd == pytest.approx(np.full(80, math.sqrt(4 - 0.25)))
    spread_wide = fit_response(np.arange(80), measured * 10, 0.5, model=Level())
    assert "of the surface" in spread_wide.note
    assert spread_wide.sd.mean() == pytest.approx(20, rel=0.2)


# --- ready arrays, and bad input --------------------------------------------------------------------------------------


def test_ready_arrays_are_checked_and_kept() -> None:
    mean = np.array([1.0, 2.0, 3.0])
    found = Response(mean, np.array([0.1, 0.2, 0.3]))
    mean[0] = 9
    assert found.mean[0] == 1
    assert len(found) == 3
    with pytest.raises(ValueError, match="read-only"):
        found.sd[0] = 1
    assert Response([1, 2], 0.5).sd.tolist() == [0.5, 0.5]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mean", "sd", "error"),
    [
        ([1.0, math.nan], [0.1, 0.1], MissingValues),
        ([1.0, 2.0], [0.1, -0.1], BadDeviation),
        ([1.0, 2.0], [0.1], UnequalLengths),
        ([1.0, math.inf], [0.1, 0.1], NotNumbers),
        ([], [], EmptyInput),
    ],
)
def test_bad_arrays_are_refused(mean: Any, sd: Any, error: type[SteelyardError]) -> None:
    with pytest.raises(error):
        Response(mean, sd)


class Rude:
    def split(self, *_: Any) -> Any:
        raise RuntimeError("\x1b[31mno\x07")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"measured": [1, 2, 3, 4, 5, math.nan]}, MissingValues, "column 'measured', row 5"),
        ({"measured": [1, 2, 3, 4, 5, math.inf]}, NotNumbers, "column 'measured', row 5"),
        ({"measured": list("abcdef")}, NotNumbers, "'a' is not a number"),
        ({"measured": [1, 2, 3, 4, 5]}, UnequalLengths, "6 rows, but 'measured' has 5"),
        ({"covariates": [[1, math.inf]] * 6}, NotNumbers, "column 'covariates[1]', row 0"),
        ({"covariates": pd.DataFrame({"fat": [1, 2, 3, None, 5, 6]})}, MissingValues, "column 'fat', row 3"),
        ({"covariates": np.zeros((6, 0))}, EmptyInput, "no covariates"),
        ({"covariates": np.zeros((6, 2, 2))}, WrongShape, "(6, 2, 2)"),
        ({"covariates": [1, 2], "measured": [1, 2]}, TooFewRows, "2 rows are too few"),
        ({"groups": [1, 1, 1, 2, 2, 2]}, TooFewRows, "2 groups are too few"),
        ({"groups": [1, 2]}, UnequalLengths, "column 'groups'"),
        ({"groups": [1, 2, 3, 4, 5, None]}, MissingValues, "column 'groups', row 5"),
        ({"sd": -1}, BadDeviation, "sd is -1"),
        ({"sd": [0.1] * 5}, UnequalLengths, "column 'sd'"),
        ({"sd": None}, BadDeviation, "sd is None"),
        ({"folds": 1}, BadOption, "folds is 1"),
        ({"folds": "ten"}, BadOption, "folds is 'ten'"),
        ({"folds": True}, BadOption, "folds is True"),
        ({"folds": 7}, TooFewRows, "6 rows cannot be dealt into 7 folds"),
        ({"folds": ShuffleSplit(3, random_state=0)}, BadOption, "KFold"),
        ({"folds": Rude()}, BadOption, "cannot split"),
        ({"seed": -1}, BadOption, "seed is -1"),
        ({"spread": "wide"}, BadOption, "spread is 'wide'"),
        ({"model": "gp"}, BadOption, "'gp' is no regressor"),
        ({"model": LinearRegression}, BadOption, "no regressor"),
        ({"model": LinearRegression()}, NoVariance, "LinearRegression does not tell"),
        ({"model": TransformedTargetRegressor(BayesianRidge())}, NoVariance, "TransformedTargetRegressor"),
        ({"model": lambda a, b, c: b.mean()}, NoVariance, "does not return mean and sd"),
        ({"model": lambda a, b, c: ([1.0] * 9, 1.0)}, UnequalLengths, "column 'prediction'"),
        ({"model": lambda a, b, c: ([math.nan] * len(c), 1.0)}, MissingValues, "column 'prediction'"),
        ({"model": lambda a, b, c: ([1.0] * len(c), -1.0)}, BadDeviation, "sd is -1.0"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], error: type[SteelyardError], words: str) -> None:
    given = {"covariates": [1, 2, 3, 4, 5, 7], "measured": [1.0, 2.1, 2.9, 4.2, 5.0, 6.8], "sd": 0.1, **arguments}
    with pytest.raises(error) as caught:
        fit_response(given.pop("covariates"), given.pop("measured"), given.pop("sd"), **given)
    assert words in str(caught.value)
    assert caught.value.mend
    assert str(caught.value).isprintable()


def test_covariates_of_the_same_name_are_all_there() -> None:
    table = pa.Table.from_arrays([pa.array([1.0, 2.0]), pa.array([3.0, 4.0])], names=["x", "x"])
    assert design(table).tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_a_response_is_told_in_one_line() -> None:
    told = repr(Response(np.arange(500.0), np.full(500, 0.25), "by hand"))
    assert told == "response of 500 rows; mean 0 to 499; sd 0.25 to 0.25; by hand"

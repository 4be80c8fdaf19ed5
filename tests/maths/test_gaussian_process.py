"""A Gaussian process beside a known measurement error: slopes, rows left out, and the same by other means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from steelyard.core.threads import one_thread
from steelyard.core.typing import Array
from steelyard.maths.smoothing import BOUNDS, CONSTANT, LENGTHS, NOISE, Process, fit_process

EACH = np.log([0.4, 1.5, 0.08, 0.7, 2.5])
SHARED = np.log([0.4, 1.5, 0.08, 1.3])
PARAMETERS = pytest.mark.parametrize("parameters", [EACH, SHARED], ids=["one length each", "one length for all"])


def sample(rows: int = 40, seed: int = 1) -> tuple[Array, Array, Array]:
    """Points, responses and known variances; two points are the same."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(rows, 2))
    points[7] = points[3]
    known = random.uniform(0.01, 0.2, rows)
    target = np.sin(2 * points[:, 0]) + points[:, 1] + random.normal(0, np.sqrt(0.09 + known))
    return points, target, known


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def alone(process: Process, kept: Array) -> Process:
    return Process(process.points[kept], process.target[kept], process.known[kept], process.parameters)


@PARAMETERS
def test_slopes_are_those_of_finite_differences(parameters: Array) -> None:
    data = sample()
    slopes = Process(*data, parameters).evidence()[1]
    for place, step in enumerate(1e-5 * np.eye(len(parameters))):
        ahead, behind = (Process(*data, parameters + sign * step).evidence()[0] for sign in (1, -1))
        assert slopes[place] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-6)


def test_the_likelihood_is_that_of_a_normal_distribution() -> None:
    process = Process(*sample(), EACH)
    scaled = process.points / process.lengths
    apart = np.square(scaled[:, None] - scaled).sum(axis=2)
    whole = CONSTANT + 0.4 * process.points @ process.points.T + 1.5 * np.exp(-apart / 2)
    whole += np.diag(0.08 + process.known)
    sign, logarithm = np.linalg.slogdet(2 * np.pi * whole)
    expected = -(logarithm + process.target @ np.linalg.solve(whole, process.target)) / 2
    assert sign == 1
    assert process.evidence()[0] == pytest.approx(expected, rel=1e-10)


@PARAMETERS
def test_a_row_left_out_in_closed_form_is_predicted_as_if_it_had_never_been_there(parameters: Array) -> None:
    process = Process(*sample(), parameters)
    found = process.without_each()
    for row in range(len(process.target)):
        kept = np.arange(len(process.target)) != row
        mean, variance = alone(process, kept).at(process.points[[row]])
        assert found.mean[row] == pytest.approx(mean[0], rel=1e-8, abs=1e-8)
        assert found.variance[row] == pytest.approx(variance[0], rel=1e-8)


def test_a_group_left_out_in_closed_form_is_predicted_as_if_it_had_never_been_there() -> None:
    process = Process(*sample(), EACH)
    groups = [np.array([3, 7, 30]), np.array([0]), np.setdiff1d(np.arange(40), [0, 3, 7, 30])]
    found = process.without_groups(groups)
    for rows in groups:
        mean, variance = alone(process, np.setdiff1d(np.arange(40), rows)).at(process.points[rows])
        assert found.mean[rows] == pytest.approx(mean, rel=1e-8, abs=1e-8)
        assert found.variance[rows] == pytest.approx(variance, rel=1e-8)
    each = process.without_groups([np.array([row]) for row in range(40)])
    assert each.mean == pytest.approx(process.without_each().mean, rel=1e-10)


def test_predictions_are_those_of_scikit_learn() -> None:
    process = Process(*sample(), EACH)
    kernel = ConstantKernel(CONSTANT) + ConstantKernel(0.4) * DotProduct(1e-9) + ConstantKernel(1.5) * RBF([0.7, 2.5])
    theirs = GaussianProcessRegressor(kernel, alpha=process.noise + process.known, optimizer=None)
    theirs.fit(process.points, process.target)
    new = np.random.default_rng(2).normal(size=(9, 2)) * 2
    mean, sd = theirs.predict(new, return_std=True)
    found = process.at(new)
    assert found.mean == pytest.approx(mean, rel=1e-8)
    assert found.variance - process.noise == pytest.approx(sd**2, rel=1e-7, abs=1e-10)
    assert process.evidence()[0] == pytest.approx(theirs.log_marginal_likelihood(kernel.theta), rel=1e-9)


def test_parameters_that_are_found_are_on_top() -> None:
    data = sample(80)
    process = fit_process(*data)
    ends = np.array([*BOUNDS, BOUNDS[-1]]).T
    inside = (ends[0] < np.exp(process.parameters)) & (np.exp(process.parameters) < ends[1])
    slopes = process.evidence()[1]
    slopes[NOISE] -= (process.parameters[NOISE] - np.log(0.1)) / 9
    assert np.abs(slopes[inside]).max() < 0.2
    assert process.lengths[0] < process.lengths[1] / 2  # the surface turns along the first covariate alone
    assert process.noise == pytest.approx(0.09, rel=0.5)


def test_more_rows_than_are_used_for_a_start_improve_what_they_found() -> None:
    points, target, known = sample(420)
    some, whole = (fit_process(points[:rows], target[:rows], known[:rows]) for rows in (300, 420))
    at_some = Process(points, target, known, some.parameters)
    assert whole.evidence()[0] >= at_some.evidence()[0] - 1e-3
    assert len(whole.target) == 420


def test_covariances_that_cannot_be_inverted_are_impossible() -> None:
    points, target, _ = sample()
    parameters = np.array([0.0, 40.0, -60.0, 3.0, 3.0])
    value, slopes = Process(points, target, np.zeros(40), parameters).evidence()
    assert value == -np.inf
    assert (slopes == 0).all()


def test_the_prior_of_the_noise_keeps_it_from_vanishing() -> None:
    # Of 40 samples a third have residuals smaller than the measurement error alone would make them.
    random, found = np.random.default_rng(3), []
    for _ in range(40):
        points = random.normal(size=(60, 1))
        target = points[:, 0] + random.normal(0, np.hypot(0.15, 0.5), 60)
        found.append(fit_process(points, target, np.full(60, 0.25)).noise)
    assert min(found) > 1e-4
    assert 0.005 < np.median(found) < 0.08


def test_there_is_one_length_where_one_is_shared() -> None:
    points, target, known = sample()
    process = fit_process(points, target, known, shared=True)
    assert len(process.parameters) == LENGTHS + 1
    assert np.isfinite(process.score)

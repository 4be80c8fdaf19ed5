"""What is true of a design, by other ways to find it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ndtr

from steelyard.studies.designs import (
    DESIGNS,
    HEAVY_TAILS,
    MEVIK,
    NORMAL,
    STUDENT,
    STUDENT_FREEDOM,
    STUDENT_SD,
    Cell,
    Design,
    ResponseNoise,
    TrueRates,
    expected_responses,
    population,
    representatives,
)

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "references" / "data" / "continuum" / "simulation.json").read_text(encoding="utf-8")
)
CLOSE = 1.2e-4
INFINITE = float("inf")

each_cell = pytest.mark.parametrize("cell", MEVIK.cells, ids=str)
each_noise = pytest.mark.parametrize("noise", [NORMAL, STUDENT], ids=lambda noise: noise.name)


@pytest.fixture(scope="module")
def mevik() -> dict[Cell, TrueRates]:
    expected = expected_responses(MEVIK)
    return {cell: population(MEVIK, cell, expected) for cell in MEVIK.cells}


@each_cell
def test_true_values_are_those_of_quadrature(cell: Cell, mevik: dict[Cell, TrueRates]) -> None:
    found, known = mevik[cell], GOLDEN["population"][str(cell.sd_response)]
    assert found.frequency == pytest.approx(known["class_freq"], rel=CLOSE)
    assert found.pmc_min == pytest.approx(known["pmc_min"], rel=CLOSE)
    assert found.sqerr_min == pytest.approx(known["sqerr_min"], rel=CLOSE)
    assert found.sqerr_data == pytest.approx(known["sqerr_data"].get(str(cell.sd), 0.0), rel=CLOSE)
    # The reference itself is that far off where the integrand jumps.
    assert found.err_data == pytest.approx(known["err_data"].get(str(cell.sd), 0.0), rel=2e-4)


@each_cell
def test_wrong_labels_by_quadrature_from_boundary_to_boundary(cell: Cell, mevik: dict[Cell, TrueRates]) -> None:
    """Given x2, the response is normal; between boundaries nothing jumps."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x2 = np.linspace(-8, 8, 2001)
    share = np.exp(-(x2**2) / 2) / np.exp(-(x2**2) / 2).sum()
    spread = np.sqrt(2 - 0.4**2 + cell.sd_response**2)
    reach, wrong = 9 * cell.sd, 0.0
    for low, high, below, above in (-reach, 0, -INFINITE, 0), (0, 0.6, 0, 0.6), (0.6, 0.6 + reach, 0.6, INFINITE):
        y = (high - low) / 2 * nodes + (high + low) / 2
        density = stats.norm.pdf(y[:, None], 1.4 * x2 + x2**2, spread) @ share
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = np.nan_to_num(ndtr((below - y) / cell.sd) + ndtr((y - above) / cell.sd))
        wrong += (high - low) / 2 * weights @ (density * outside)
    assert mevik[cell].err_data == pytest.approx(wrong, rel=5e-5)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_true_values_are_those_of_a_large_sample(design: Design) -> None:
    random, size, cell = np.random.default_rng(1), 200_000, Cell(0.3, 0.5)
    x = design.x(random.random((size, design.variables)))
    y = design.expected(x) + cell.sd_response * design.noise.quantile(random.random(size))
    label, true = (np.digitize(values, design.inner) for values in (y + random.normal(0, cell.sd, size), y))
    ends = np.array(design.boundaries)
    squared = np.square(np.maximum(np.maximum(ends[label] - y, y - ends[label + 1]), 0))
    found = population(design, cell, expected_responses(design, 1 << 16))
    assert found.frequency == pytest.approx(np.bincount(true) / size, abs=0.006)
    assert found.err_data == pytest.approx((label != true).mean(), abs=4 * np.std(label != true) / np.sqrt(size))
    assert found.sqerr_data == pytest.approx(squared.mean(), abs=4 * squared.std() / np.sqrt(size))
    assert 0 < found.pmc_min < found.err_data + 0.5
    assert found.sqerr_min > 0


def test_no_label_is_wrong_where_nothing_is_measured_wrongly(mevik: dict[Cell, TrueRates]) -> None:
    for cell, found in mevik.items():
        assert (found.err_data == 0) == (cell.sd == 0)
        assert (found.sqerr_data == 0) == (cell.sd == 0)


def test_heavy_tails_make_large_errors_dearer_and_small_ones_rarer(mevik: dict[Cell, TrueRates]) -> None:
    cell = Cell(0.9, 0.5)
    heavy = population(HEAVY_TAILS, cell, expected_responses(HEAVY_TAILS, 1 << 16))
    assert heavy.pmc_min < mevik[cell].pmc_min
    assert heavy.sqerr_min > mevik[cell].sqerr_min


# --- noise ------------------------------------------------------------------------------------------------------


@each_noise
def test_noise_has_a_standard_deviation_of_1(noise: ResponseNoise) -> None:
    draws = noise.quantile(np.random.default_rng(0).random(400_000))
    assert draws.std() == pytest.approx(1, abs=0.02)
    assert abs(draws.mean()) < 0.01


@pytest.mark.parametrize("mean", [-3.0, -0.2, 0.1, 0.4, 5.0])
def test_students_distances_are_those_of_quadrature(mean: float) -> None:
    sd, ends = 0.7, np.array([-INFINITE, 0.0, 0.6, INFINITE])
    spread = stats.t(STUDENT_FREEDOM, loc=mean, scale=sd / STUDENT_SD)

    def beyond(power: int) -> list[float]:
        found = []
        for low, high in pairwise(ends):
            below, above = (_integral(spread, end, power, side) for end, side in ((low, -1), (high, 1)))
            found.append(below + above)
        return found

    assert STUDENT.outside(mean, sd, ends) == pytest.approx(np.array(beyond(0)), rel=1e-6)
    assert STUDENT.sqe(mean, sd, ends) == pytest.approx(np.array(beyond(2)), rel=1e-6)


def _integral(spread: Any, end: float, power: int, side: int) -> float:
    if np.isinf(end):
        return 0.0
    limits = (-INFINITE, end) if side < 0 else (end, INFINITE)
    return float(integrate.quad(lambda value: abs(value - end) ** power * spread.pdf(value), *limits, epsabs=1e-12)[0])


@pytest.mark.parametrize("variables", [1, 2, 3])
def test_representatives_average_better_than_random_points(variables: int) -> None:
    points, share = representatives(4096, variables)
    assert points.shape == (4096, variables)
    assert ((points > 0) & (points < 1)).all()
    assert share.sum() == pytest.approx(1)
    assert share @ points.prod(axis=1) == pytest.approx(0.5**variables, rel=1e-3)
    # The mean of a square that few points far out decide on.
    assert share @ np.square(NORMAL.quantile(points)).sum(axis=1) == pytest.approx(variables, rel=1e-3)

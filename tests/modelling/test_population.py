"""Errors in the population, where it is known what values are expected and how they scatter."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from steelyard import Continuum, Scale
from steelyard.core.errors import (
    BadDeviation,
    BadNoise,
    BadOption,
    BadWeights,
    MissingValues,
    NotNumbers,
    SteelyardError,
    UnequalLengths,
    UnknownLabel,
)
from steelyard.core.typing import Array
from steelyard.modelling.population import PopulationErrors, population_errors
from tests.effort import repeats

REFERENCES = Path(__file__).parents[1] / "references" / "data" / "continuum" / "population.json"
CASES: dict[str, Any] = {case["name"]: case for case in json.loads(REFERENCES.read_text(encoding="utf-8"))["cases"]}
THREE = Continuum([0.0, 0.6], ["low", "middle", "high"])
EXPECTED = np.linspace(-2.0, 3.0, 21)
ASSIGNED = np.array(["low", "middle", "high"])[np.digitize(EXPECTED, [-0.1, 0.8])]

HALF = stats.norm(0, 0.5)
HALF_NORMAL = stats.Normal(mu=0.0, sigma=0.5)

each_case = pytest.mark.parametrize("name", list(CASES))


class Mixture:
    """Two normal distributions: only the probability of values up to a place is told."""

    parts = stats.norm(-0.15, 0.2), stats.norm(0.35, 0.5)

    def cdf(self, place: Any) -> Any:
        return 0.7 * self.parts[0].cdf(place) + 0.3 * self.parts[1].cdf(place)

    def rvs(self, size: int, random_state: np.random.Generator) -> Any:
        first = random_state.random(size) < 0.7
        return np.where(first, random_state.normal(-0.15, 0.2, size), random_state.normal(0.35, 0.5, size))


def of_case(name: str, noise: Any) -> tuple[list[float], list[float]]:
    """What is found and what is expected of a reference."""
    case = CASES[name]
    boundaries = [float(boundary) for boundary in case["boundaries"]]
    scale = Continuum(boundaries, list(range(1, len(boundaries))))
    found = population_errors(case["expected"], case["assigned"], scale, noise)
    assert found.precision < 1e-9
    return figures(found), [case["population"][key] for key in ("pmc", "sqerr", "pmc_min", "sqerr_min")]


def figures(found: PopulationErrors) -> list[float]:
    return [found.error, found.sqerr, found.minimal_error, found.minimal_sqerr]


def squared_distance(values: Array, low: float, high: float) -> Array:
    return np.asarray(np.where(values < low, (values - low) ** 2, np.where(values >= high, (values - high) ** 2, 0.0)))


# --- normal noise -----------------------------------------------------------------------------------------------------


@each_case
def test_normal_noise_agrees_with_arithmetic_of_50_digits(name: str) -> None:
    found, expected = of_case(name, CASES[name]["sigma_eps"])
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("form", ["frozen", "random variable", "one each", "parameters a row", "cdf alone"])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["sigma_eps"]])
def test_normal_distributions_agree_with_the_closed_form(name: str, form: str) -> None:
    sd, rows = CASES[name]["sigma_eps"], len(CASES[name]["expected"])

    class Plain:
        cdf = staticmethod(stats.norm(0, sd).cdf)

    forms: dict[str, Any] = {
        "frozen": stats.norm(scale=sd),
        "random variable": stats.Normal(mu=0.0, sigma=sd),
        "one each": [stats.norm(0, sd) for _ in range(rows)],
        "parameters a row": stats.norm(np.zeros(rows), sd),
        "cdf alone": Plain(),
    }
    found, expected = of_case(name, forms[form])
    assert found == pytest.approx(expected, rel=1e-9)


def test_without_noise_every_row_is_what_is_expected() -> None:
    codes = THREE.cut(EXPECTED)
    found = population_errors(EXPECTED, ASSIGNED, THREE, 0)
    assigned = np.array([THREE.code(label) for label in ASSIGNED])
    ends = np.array(THREE.boundaries)
    apart = [float(squared_distance(EXPECTED[[row]], *ends[[code, code + 1]])[0]) for row, code in enumerate(assigned)]
    assert figures(found) == pytest.approx([np.mean(codes != assigned), np.mean(apart), 0.0, 0.0], rel=1e-12)
    assert (found.error_risks.sum(axis=1) == 2).all()


def test_a_deviation_may_be_0_in_some_rows() -> None:
    sd = np.where(EXPECTED < 0, 0.0, 0.3)
    found = population_errors(EXPECTED, ASSIGNED, THREE, sd)
    parts = [population_errors(EXPECTED[rows], ASSIGNED[rows], THREE, sd[rows]) for rows in (sd == 0, sd > 0)]
    share = np.mean(sd > 0)
    assert figures(found) == pytest.approx(
        (1 - share) * np.array(figures(parts[0])) + share * np.array(figures(parts[1]))
    )


# --- other noise ------------------------------------------------------------------------------------------------------

NOISES: dict[str, Any] = {
    "t4": stats.t(4, scale=0.3),
    "skew normal": stats.skewnorm(5, loc=-0.3, scale=0.5),
    "gamma": stats.gamma(2, loc=-0.4, scale=0.2),
    "laplace": stats.laplace(scale=0.3),
    "uniform": stats.uniform(-0.5, 1.0),
    "logistic": stats.Logistic() * 0.2,
    "mixture": Mixture(),
    "poisson": stats.poisson(1.3, loc=-1),
    "binomial": stats.Binomial(n=3, p=0.4),
    "two values": stats.rv_discrete(values=([-0.25, 0.4], [0.6, 0.4])),
    "two values elsewhere": stats.rv_discrete(values=([-0.25, 0.4], [0.6, 0.4]))(loc=0.1),
}
CONTINUOUS = ["t4", "skew normal", "gamma", "laplace", "uniform"]


def drawn(noise: Any, size: int) -> Array:
    random = np.random.default_rng(11)
    if hasattr(noise, "sample"):
        return np.asarray(noise.sample(size, rng=random))
    return np.asarray(noise.rvs(size=size, random_state=random))


@pytest.mark.parametrize("name", list(NOISES))
def test_risks_agree_with_draws(name: str) -> None:
    expected = np.array([-0.7, 0.2, 1.3])
    found = population_errors(expected, None, THREE, NOISES[name])
    draws = drawn(NOISES[name], 100_000)
    for row, mean in enumerate(expected):
        values = mean + draws
        for place, (low, high) in enumerate(pairwise(THREE.boundaries)):
            for risk, worth in (
                (found.error_risks[row, place], ~((values >= low) & (values < high))),
                (found.sqerr_risks[row, place], squared_distance(values, low, high)),
            ):
                assert risk == pytest.approx(worth.mean(), abs=6 * worth.std() / math.sqrt(len(draws)) + 1e-5)


def test_single_values_may_lie_between_whole_numbers() -> None:
    # SciPy draws whole numbers even here, so that only sums can be held against it.
    noise, values = stats.poisson(1.3, loc=-1.3), np.arange(60.0) - 1.3
    found = population_errors([0.2], None, THREE, noise)
    chances = stats.poisson(1.3).pmf(np.arange(60))
    for place, (low, high) in enumerate(pairwise(THREE.boundaries)):
        worth = squared_distance(values + 0.2, low, high)
        assert found.sqerr_risks[0, place] == pytest.approx(chances @ worth, rel=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_squares_agree_with_the_expectations_of_scipy(name: str) -> None:
    noise = NOISES[name]
    places = [-0.35, 0.0, 0.2, 0.7]
    found = population_errors(-np.array(places), None, Continuum([0.0], ["below", "above"]), noise)
    for row, place in enumerate(places):
        low, high = noise.support()
        below = noise.expect(lambda u, t=place: (t - u) ** 2, lb=low, ub=place, epsabs=1e-13, epsrel=1e-12)
        above = noise.expect(lambda u, t=place: (t - u) ** 2, lb=place, ub=high, epsabs=1e-13, epsrel=1e-12)
        assert found.sqerr_risks[row] == pytest.approx([above, below], rel=1e-8)
        assert found.error_risks[row] == pytest.approx([noise.sf(place), noise.cdf(place)], rel=1e-12)


def one_boundary(place: float, noise: Any) -> tuple[float, float]:
    """The expected squares below a place and above it."""
    found = population_errors([0.0], None, Continuum([place], ["below", "above"]), noise)
    return float(found.sqerr_risks[0, 1]), float(found.sqerr_risks[0, 0])


@pytest.mark.parametrize("place", [-300.0, -5.0, -0.5, 0.0])
def test_the_tail_of_laplace_is_exact_however_far(place: float) -> None:
    assert one_boundary(place, stats.laplace())[0] == pytest.approx(math.exp(place), rel=1e-12)
    assert one_boundary(-place, stats.laplace())[1] == pytest.approx(math.exp(place), rel=1e-12)


@pytest.mark.parametrize("place", [-1.2, -0.99, -0.3, 0.0, 0.7, 3.0])
def test_the_squares_of_a_uniform_distribution_are_those_of_algebra(place: float) -> None:
    beyond = max(place - 1, 0) ** 3
    expected = (max(place + 1, 0) ** 3 - beyond) / 6
    assert one_boundary(place, stats.uniform(-1, 2))[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("freedom", [2.01, 2.1, 2.5, 3, 4, 30])
def test_heavy_tails_add_up(freedom: float) -> None:
    half = freedom / (freedom - 2) / 2
    assert one_boundary(0.0, stats.t(freedom)) == pytest.approx((half, half), rel=1e-9)


@pytest.mark.parametrize("spread", [0.5, 2.0, 5.0])
def test_skewed_tails_add_up(spread: float) -> None:
    def moment(order: int, tail: Any) -> float:
        return float(math.exp(order**2 * spread**2 / 2) * tail(math.log(3) / spread - order * spread))

    below, above = (
        moment(2, tail) - 6 * moment(1, tail) + 9 * moment(0, tail) for tail in (stats.norm.cdf, stats.norm.sf)
    )
    assert one_boundary(3.0, stats.lognorm(spread)) == pytest.approx((below, above), rel=1e-9)


@pytest.mark.parametrize("noise", [stats.t(2), stats.t(1.5), stats.cauchy(), stats.t(2, loc=0.1, scale=3)])
def test_tails_without_a_second_moment_have_no_squared_error(noise: Any) -> None:
    found = population_errors(EXPECTED, ASSIGNED, THREE, noise)
    assert found.sqerr == found.minimal_sqerr == math.inf
    assert 0 < found.minimal_error < found.error < 1


def test_of_a_one_sided_tail_only_that_side_is_infinite() -> None:
    noise = stats.pareto(1.5)
    below, above = one_boundary(2.0, noise)
    assert above == math.inf
    assert below == pytest.approx(noise.expect(lambda u: (2 - u) ** 2, lb=1, ub=2), rel=1e-9)
    found = population_errors([0.0], ["high"], THREE, noise)
    assert found.sqerr == 0
    assert one_boundary(2.5, stats.zipf(2.5))[1] == math.inf
    assert one_boundary(2.5, stats.zipf(2.5))[0] < math.inf


def test_a_gap_or_an_end_of_a_tail_is_not_taken_for_its_law() -> None:
    class Apart:
        """Two uniform distributions, a million of their widths apart."""

        def cdf(self, place: Any) -> Any:
            return (np.clip(place + 1e6, 0, 1) + np.clip(place, 0, 1)) / 2

    assert one_boundary(0.5, Apart())[0] == pytest.approx(((1e6 + 0.5) ** 2 - (1e6 + 0.5) + 1 / 3) / 2, rel=1e-6)
    noise = stats.truncpareto(1.5, 1e13)
    # The density is 1.5 u^-2.5 between 1 and 1e13.
    second = 1.5 / 0.5 * (1e13**0.5 - 1) - 4 * 1.5 / -0.5 * (1e13**-0.5 - 1) + 4 * (1 - 1e13**-1.5)
    below = 1.5 / 0.5 * (2**0.5 - 1) - 4 * 1.5 / -0.5 * (2**-0.5 - 1) + 4 * (1 - 2**-1.5)
    assert one_boundary(2.0, noise) == pytest.approx((below, second - below), rel=1e-8)


@pytest.mark.parametrize("name", ["t4", "mixture", "gamma"])
def test_another_unit_gives_the_square_of_it(name: str) -> None:
    noise = NOISES[name]

    class InGrams:
        cdf = staticmethod(lambda place: noise.cdf(place / 1000))

    scale = Continuum([0.0, 600.0], THREE.classes)
    found = population_errors(EXPECTED, ASSIGNED, THREE, noise)
    grams = population_errors(EXPECTED * 1000, ASSIGNED, scale, InGrams())
    assert grams.error == pytest.approx(found.error, rel=1e-9)
    assert grams.sqerr == pytest.approx(found.sqerr * 1e6, rel=1e-5)
    assert grams.rmse == pytest.approx(found.rmse * 1000, rel=1e-5)


# --- corners, and tails without digits --------------------------------------------------------------------------------

MANY = np.random.default_rng(3).normal(0.3, 1.0, 3_000)
EIGHTS = np.arange(9) / 4 - 1
FAR_APART = np.array([-1.0, 0.0, 999.0, 1000.0])
CORNERS: dict[str, tuple[Any, Array]] = {
    "triangular": (stats.triang(0.3, loc=-0.5, scale=1.2), np.array([-0.5, -0.14, 0.7])),
    "trapezoid": (stats.trapezoid(0.2, 0.7, loc=-0.4, scale=1.1), np.array([-0.4, -0.18, 0.37, 0.7])),
    "histogram": (stats.rv_histogram((np.array([3, 0, 7, 1, 0, 0, 4, 2]), EIGHTS)), EIGHTS),
    "late": (stats.rv_histogram((np.array([0.6, 0, 0.4]), FAR_APART), density=True), FAR_APART),
}


def squares_below(place: float, noise: Any, corners: Array) -> float:
    """What four points of Gauss and Legendre are exact for: between corners the density is straight."""
    points, weights = np.polynomial.legendre.leggauss(4)
    ends = np.minimum(corners, place)
    half = np.diff(ends)[:, None] / 2
    at = ends[:-1, None] + half * (1 + points)
    return float((half * weights * (place - at) ** 2 * noise.pdf(at)).sum())


class Mirrored:
    """The density of the negative value."""

    def __init__(self, noise: Any) -> None:
        self.noise = noise

    def pdf(self, place: Any) -> Any:
        return self.noise.pdf(-place)


@pytest.mark.parametrize("name", list(CORNERS))
def test_corners_are_met_in_every_row(name: str) -> None:
    noise, corners = CORNERS[name]
    found = population_errors(MANY, None, THREE, noise)
    assert found.precision < 1e-9
    for row in range(0, len(MANY), 10):
        mean = MANY[row]
        under = squares_below(0.6 - mean, noise, corners)
        over = squares_below(mean, Mirrored(noise), -corners[::-1])
        assert found.sqerr_risks[row, [2, 0]] == pytest.approx([under, over], rel=1e-8, abs=1e-15)


def test_of_a_sharp_peak_far_tails_are_as_precise_as_the_centre() -> None:
    kappa = 2.0
    noise = stats.laplace_asymmetric(kappa)
    found = population_errors(MANY * 30, None, THREE, noise)
    low, high = 0.6 - MANY * 30, 0.0 - MANY * 30
    assert found.sqerr_risks[low < 0, 2] == pytest.approx(2 * kappa**2 * noise.cdf(low[low < 0]), rel=1e-11, abs=0)
    assert found.sqerr_risks[high > 0, 0] == pytest.approx(2 / kappa**2 * noise.sf(high[high > 0]), rel=1e-11, abs=0)


@pytest.mark.parametrize("family", [stats.t(4), stats.triang(0.3), stats.gamma(2)], ids=["t4", "triangular", "gamma"])
def test_one_law_for_all_rows_is_that_law_in_every_row(family: Any) -> None:
    expected = MANY[:200]
    one = population_errors(expected, None, THREE, family.dist(*family.args, scale=0.3))
    each = population_errors(expected, None, THREE, family.dist(*family.args, scale=np.full(200, 0.3)))
    assert one.error_risks == pytest.approx(each.error_risks, rel=1e-12)
    assert one.sqerr_risks == pytest.approx(each.sqerr_risks, rel=1e-9, abs=1e-15)


def test_a_distribution_said_again_is_worked_out_once() -> None:
    asked = []

    class Counted:
        def cdf(self, place: Any) -> Any:
            asked.append(np.size(place))
            return stats.logistic.cdf(place)

    first, second = Counted(), stats.triang(0.3)
    found = population_errors(MANY[:60], None, THREE, [first, second] * 30)
    times = len(asked)
    assert found.sqerr_risks[::2] == pytest.approx(
        population_errors(MANY[:60:2], None, THREE, stats.logistic()).sqerr_risks, rel=1e-8
    )
    asked.clear()
    population_errors(MANY[:1], None, THREE, first)
    assert times < 3 * len(asked)


# Some end where 1 - cdf has no digits left, in noise, or in quadrature that no longer finds them.
WHOLE = [
    *(stats.fisk(3.0857), stats.mielke(10.4, 4.6), stats.rel_breitwigner(36.5), stats.burr(10.5, 4.3)),
    *(stats.geninvgauss(2.3, 1.5), stats.lomax(2.5), stats.genpareto(0.3)),
    *(stats.gumbel_r(), stats.weibull_min(10), stats.beta(0.3, 0.4), stats.argus(1.0)),
]


@pytest.mark.study
@pytest.mark.parametrize("noise", WHOLE, ids=lambda noise: noise.dist.name)
def test_squares_on_both_sides_of_any_place_are_those_of_the_moments(noise: Any) -> None:
    width = np.diff(noise.ppf([0.25, 0.75]))
    places = noise.median() + width * np.array([-4, 3, 0, -1, -0.2, 0.3, 1.2])[: repeats(3, 7)]
    found = population_errors(-places, None, Continuum([0.0], ["below", "above"]), noise)
    whole = noise.var() + (noise.mean() - places) ** 2
    assert found.sqerr_risks.sum(axis=1) == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize("noise", [stats.zipf(3.01), stats.yulesimon(4.5), stats.zipf(3.5, loc=-2)])
def test_single_values_without_end_have_the_squares_of_the_moments(noise: Any) -> None:
    places = np.array([-1.5, 0.0, 0.5, 2.5, 7.0])
    found = population_errors(-places, None, Continuum([0.0], ["below", "above"]), noise)
    whole = noise.var() + (noise.mean() - places) ** 2
    assert found.sqerr_risks.sum(axis=1) == pytest.approx(whole, rel=1e-8)
    values = np.arange(noise.support()[0], 8)
    below = [(noise.pmf(values) * np.maximum(place - values, 0) ** 2).sum() for place in places]
    assert found.sqerr_risks[:, 1] == pytest.approx(below, rel=1e-9, abs=1e-15)
    assert found.error_risks[:, 0] == pytest.approx(noise.sf(np.ceil(places) - 1), abs=1e-6)


@pytest.mark.parametrize(
    "noise",
    [stats.truncate(HALF_NORMAL, -1, 2), stats.exp(HALF_NORMAL), stats.abs(HALF_NORMAL)],
    ids=["cut", "exp", "abs"],
)
def test_random_variables_that_are_made_of_others_are_continuous(noise: Any) -> None:
    places = np.array([-0.7, 0.3, 1.5])
    found = population_errors(-places, None, Continuum([0.0], ["below", "above"]), noise)
    whole = noise.variance() + (noise.mean() - places) ** 2
    assert found.sqerr_risks.sum(axis=1) == pytest.approx(whole, rel=1e-6)


def test_the_end_of_the_digits_is_not_the_end_of_the_tail() -> None:
    noise = stats.fisk(3.0857)
    _, above = one_boundary(2.0, noise)
    near = noise.expect(lambda u: (u - 2) ** 2, lb=2, ub=50, epsrel=1e-12)
    # Beyond, the density is a power of u and little else: one of its logarithm is smooth.
    logarithms, step = np.linspace(math.log(50), math.log(50) + 60, 600_001, retstep=True)
    heights = (np.exp(logarithms) - 2) ** 2 * noise.pdf(np.exp(logarithms)) * np.exp(logarithms)
    far = step * (heights.sum() - (heights[0] + heights[-1]) / 2)
    assert above == pytest.approx(near + far, rel=1e-7)


@pytest.mark.parametrize("noise", [stats.alpha(3.57), stats.levy_l(), stats.skewcauchy(0.5)])
def test_tails_without_digits_or_a_second_moment_have_no_squared_error(noise: Any) -> None:
    found = population_errors(EXPECTED, ASSIGNED, THREE, noise)
    assert found.sqerr == math.inf
    assert 0 < found.error < 1


# --- noise that depends on the row ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["arrays", "list", "mixed list"])
def test_every_row_may_have_noise_of_its_own(form: str) -> None:
    spread = 0.1 + 0.1 * np.abs(EXPECTED)
    one_each: list[Any] = [stats.t(5, scale=sd) for sd in spread]
    if form == "mixed list":
        one_each[3], one_each[4], one_each[5] = stats.laplace(scale=0.3), NOISES["two values"], 0.25
    noise = stats.t(5, scale=spread) if form == "arrays" else one_each
    found = population_errors(EXPECTED, ASSIGNED, THREE, noise)
    for row in range(0, len(EXPECTED), 3):
        alone = population_errors(EXPECTED[[row]], ASSIGNED[[row]], THREE, one_each[row])
        assert found.error_risks[row] == pytest.approx(alone.error_risks[0], rel=1e-10)
        assert found.sqerr_risks[row] == pytest.approx(alone.sqerr_risks[0], rel=1e-10)


def test_random_variables_may_have_parameters_a_row() -> None:
    spread = 0.1 + 0.1 * np.abs(EXPECTED)
    found = population_errors(EXPECTED, ASSIGNED, THREE, stats.Normal(mu=0.0, sigma=spread))
    assert figures(found) == pytest.approx(figures(population_errors(EXPECTED, ASSIGNED, THREE, spread)), rel=1e-9)


# --- steps, boundaries and weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", ["left", "right"])
def test_single_values_on_a_boundary_fall_as_measurements_do(closed: Any) -> None:
    scale = Continuum([0.0, 1.0], ["low", "middle", "high"], closed=closed)
    noise = stats.rv_discrete(values=([-1, 0, 1], [0.2, 0.5, 0.3]))
    expected = np.array([0.0, 1.0, 0.5])
    found = population_errors(expected, None, scale, noise)
    for row, mean in enumerate(expected):
        codes = scale.cut(mean + np.array([-1.0, 0.0, 1.0]))
        inside = [np.array([0.2, 0.5, 0.3])[codes == code].sum() for code in range(3)]
        assert found.error_risks[row] == pytest.approx(1 - np.array(inside))


def test_a_step_in_a_distribution_of_which_only_cdf_is_known_is_found() -> None:
    class Sometimes:
        """Nothing in a third of the cases, else normal."""

        def cdf(self, place: Any) -> Any:
            return (place >= 0) / 3 + 2 / 3 * HALF.cdf(place)

    below, above = one_boundary(0.25, Sometimes())
    normal = one_boundary(0.25, 0.5)
    assert below == pytest.approx(0.25**2 / 3 + 2 / 3 * normal[0], rel=1e-8)
    assert above == pytest.approx(2 / 3 * normal[1], rel=1e-8)
    assert population_errors([0.0], None, THREE, Sometimes()).error_risks[0, 0] == pytest.approx(2 / 3)
    right = Continuum([0.0, 0.6], THREE.classes, closed="right")
    assert population_errors([0.0], None, right, Sometimes()).error_risks[0, 0] == pytest.approx(1 / 3)


def test_weights_are_those_of_a_quadrature() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    found = population_errors(nodes, None, THREE, 0.4, weights)
    draws = np.random.default_rng(5).normal(size=40_000)
    sample = population_errors(draws, None, THREE, 0.4)
    assert found.minimal_error == pytest.approx(sample.minimal_error, abs=0.01)
    twice = population_errors([0.1, 0.1, 0.5], ["low", "low", "high"], THREE, 0.3)
    assert figures(population_errors([0.1, 0.5], ["low", "high"], THREE, 0.3, [2, 1])) == pytest.approx(figures(twice))
    without = population_errors([0.1, 0.5], ["middle", "low"], THREE, [0.3, 0.4], [1, 0])
    assert figures(without) == pytest.approx(figures(population_errors([0.1], ["middle"], THREE, 0.3)))


def test_without_assigned_classes_only_the_least_errors_are_known() -> None:
    found = population_errors(EXPECTED, None, THREE, 0.3)
    assert math.isnan(found.error)
    assert math.isnan(found.sqerr)
    whole = population_errors(EXPECTED, ASSIGNED, THREE, 0.3)
    assert (found.minimal_error, found.minimal_sqerr) == (whole.minimal_error, whole.minimal_sqerr)


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 2), st.floats(0, 3)), min_size=1, max_size=8),
    st.sampled_from(["normal", "t", "laplace"]),
)
def test_no_classifier_is_better_than_the_best(rows: list[tuple[float, int, float]], family: str) -> None:
    expected, codes, sd = (np.array(column) for column in zip(*rows, strict=True))
    families: dict[str, Any] = {
        "normal": sd,
        "t": stats.t(3, scale=sd + 0.01),
        "laplace": stats.laplace(scale=sd + 0.01),
    }
    found = population_errors(expected, np.array(THREE.classes)[codes], THREE, families[family])
    assert found.minimal_error <= found.error <= 1
    assert 0 <= found.minimal_sqerr <= found.sqerr
    assert (found.error_risks >= 0).all()
    assert found.error_risks.sum(axis=1) == pytest.approx(2, abs=1e-9)


# --- bad input --------------------------------------------------------------------------------------------------------


class Silent:
    """Says what it is, but not how probable anything is."""

    def cdf(self, place: Any) -> Any:
        return np.full(np.shape(place), np.nan)


class Heavy:
    """A tail without a second moment of which 1 - cdf is all that is known."""

    def cdf(self, place: Any) -> Any:
        return stats.t(2).cdf(place)


class Halves:
    """Values half of one apart."""

    whole = stats.binom(3, 0.4)

    def cdf(self, place: Any) -> Any:
        return self.whole.cdf(2 * place)

    def pmf(self, place: Any) -> Any:
        return self.whole.pmf(2 * place)

    def median(self) -> float:
        return 0.5

    def mean(self) -> float:
        return 0.6

    def var(self) -> float:
        return 0.18


class Rude:
    def cdf(self, place: Any) -> Any:
        raise RuntimeError("\x1b[31mno\x07")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"expected": [0.1, math.nan]}, MissingValues, "column 'expected', row 1"),
        ({"expected": [0.1, math.inf]}, NotNumbers, "row 1: the value is inf"),
        ({"assigned": ["low"]}, UnequalLengths, "1 rows, but 'expected' has 2"),
        ({"assigned": ["low", "lowest"]}, UnknownLabel, "'lowest'"),
        ({"assigned": ["low", None]}, MissingValues, "column 'assigned', row 1"),
        ({"scale": Scale(["a", "b"])}, BadOption, "no continuum"),
        ({"noise": -0.1}, BadDeviation, "-0.1"),
        ({"noise": [0.1, -0.1]}, BadDeviation, "row 1"),
        ({"noise": [0.1]}, UnequalLengths, "1 rows"),
        ({"noise": [stats.norm()]}, UnequalLengths, "1 distributions, but 2 rows"),
        ({"noise": None}, BadNoise, "None is no distribution"),
        ({"noise": stats.norm(scale=0)}, BadNoise, "give the number 0"),
        ({"noise": stats.norm(scale=[1, 0])}, BadNoise, "row 1"),
        ({"noise": stats.norm(scale=[1, 1, 1])}, BadNoise, "shape"),
        ({"noise": stats.norm(scale=[[1], [2]])}, BadNoise, "the shape (2,)"),
        ({"noise": stats.t}, BadNoise, "cdf of"),
        ({"noise": Silent()}, BadNoise, "is nan"),
        ({"noise": Heavy()}, BadNoise, "too heavy"),
        ({"noise": Rude()}, BadNoise, "cdf of"),
        ({"noise": stats.vonmises(2.0)}, BadNoise, "angles are no values"),
        ({"noise": [stats.norm(), Silent()]}, BadNoise, "row 1"),
        ({"noise": Halves()}, BadNoise, "too many"),
        ({"weight": [1, -1]}, BadWeights, "row 1"),
        ({"weight": [0, 0]}, BadWeights, "all weights are zero"),
        ({"weight": [1]}, UnequalLengths, "1 rows"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], error: type[SteelyardError], words: str) -> None:
    given_in = {"expected": [0.1, 0.5], "assigned": ["low", "high"], "scale": THREE, "noise": 0.3, **arguments}
    with pytest.raises(error) as caught:
        population_errors(**given_in)
    assert words in str(caught.value)
    assert caught.value.mend
    assert str(caught.value).isprintable()

"""Where a normal value falls among intervals, and how far from them: laws, limits and far tails."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import norm

import steelyard
from steelyard import Continuum
from steelyard.core.errors import MissingValues, NotNumbers, SteelyardError
from steelyard.maths.kernels import (
    FAR,
    SURE,
    Closed,
    above,
    below,
    class_probabilities,
    expected_sqe,
    outside_probabilities,
    squared_excess,
    squared_shift,
    squared_shortfall,
)
from tests.effort import in_pairs

INFINITE = math.inf
CLOSE = 3e-13  # the square of 37 standard deviations has no more digits
SIDES: tuple[Closed, ...] = ("left", "right")
each_side = pytest.mark.parametrize("closed", SIDES)

means = st.floats(-50, 50).map(lambda value: round(value, 3))
deviations = st.one_of(st.just(0.0), st.floats(1e-3, 30))
sides = st.sampled_from(SIDES)


@st.composite
def boundaries(draw: st.DrawFn, infinite: bool | None = None) -> list[float]:
    """Two to five classes; the outer ones often reach to infinity."""
    inner = sorted(draw(st.lists(st.integers(-40, 40), min_size=1, max_size=4, unique=True)))
    reach = draw(st.booleans()) if infinite is None else infinite
    return [-INFINITE if reach else inner[0] - 3.0, *map(float, inner), INFINITE if reach else inner[-1] + 2.5]


def mirrored(ends: list[float]) -> list[float]:
    return [-end for end in ends[::-1]]


def other(closed: Closed) -> Closed:
    return "right" if closed == "left" else "left"


# --- probabilities --------------------------------------------------------------------------------------------


@given(mean=means, sd=deviations, ends=boundaries(infinite=True), closed=sides)
def test_a_value_is_in_one_class(mean: float, sd: float, ends: list[float], closed: Closed) -> None:
    found = class_probabilities([mean], sd, ends, closed)[0]
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() == pytest.approx(1, abs=1e-14)


@given(mean=means, sd=deviations, ends=boundaries(), closed=sides)
def test_a_value_is_inside_or_outside(mean: float, sd: float, ends: list[float], closed: Closed) -> None:
    inside, outside = (kernel([mean], sd, ends, closed)[0] for kernel in (class_probabilities, outside_probabilities))
    assert ((outside >= 0) & (outside <= 1 + 1e-15)).all()
    assert_allclose(inside + outside, 1, atol=1e-14)


@given(mean=means, sd=st.floats(1e-3, 30), ends=boundaries())
def test_probabilities_are_those_of_scipy(mean: float, sd: float, ends: list[float]) -> None:
    reached = norm.cdf(ends, mean, sd)
    assert_allclose(class_probabilities([mean], sd, ends)[0], np.diff(reached), atol=1e-14)


@given(mean=means, sd=st.floats(1e-3, 30), step=st.floats(1e-3, 10), boundary=st.floats(-40, 40))
def test_the_higher_a_value_is_the_less_it_falls_short(mean: float, sd: float, step: float, boundary: float) -> None:
    assert below(mean, sd, boundary) >= below(mean + step, sd, boundary)
    assert above(mean, sd, boundary) <= above(mean + step, sd, boundary)
    assert squared_shortfall(mean, sd, boundary) >= squared_shortfall(mean + step, sd, boundary)
    assert squared_excess(mean, sd, boundary) <= squared_excess(mean + step, sd, boundary)


@given(mean=means, sd=deviations, more=st.floats(0, 10), ends=boundaries())
def test_the_more_a_value_scatters_the_further_it_is_off(
    mean: float, sd: float, more: float, ends: list[float]
) -> None:
    """The squared distance to an interval is convex."""
    less, further = (expected_sqe([mean], spread, ends)[0] for spread in (sd, sd + more))
    assert (less <= further * (1 + 1e-12)).all()


# --- squared distances ----------------------------------------------------------------------------------------


def integrated(mean: float, sd: float, low: float, high: float) -> float:
    """The expected squared distance to an interval, by quadrature of either tail."""
    found, reach = 0.0, 12 * sd
    if low > mean - reach:
        found += quad(lambda y: (low - y) ** 2 * norm.pdf(y, mean, sd), mean - reach, min(low, mean + reach),
                      epsabs=0, epsrel=1e-11, limit=200)[0]  # fmt: skip
    if high < mean + reach:
        found += quad(lambda y: (y - high) ** 2 * norm.pdf(y, mean, sd), max(high, mean - reach), mean + reach,
                      epsabs=0, epsrel=1e-11, limit=200)[0]  # fmt: skip
    return found


@pytest.mark.study
@pytest.mark.parametrize(
    ("mean", "sd", "ends"),
    in_pairs(
        [-4.0, -0.3, 0.0, 0.25, 0.6, 1.7, 9.0],
        [0.2, 1.0, 5.0],
        [[-INFINITE, 0.0, 0.6, INFINITE], [-1.0, 0.0, 0.6, 2.0]],
    ),
)
def test_squared_distances_are_those_of_quadrature(mean: float, sd: float, ends: list[float]) -> None:
    found = expected_sqe([mean], sd, ends)[0]
    expected = [integrated(mean, sd, low, high) for low, high in pairwise(ends)]
    assert_allclose(found, expected, rtol=1e-9, atol=1e-25)


@given(mean=means, sd=deviations, ends=boundaries())
def test_a_squared_distance_lies_between_those_of_jensen_and_of_a_point(
    mean: float, sd: float, ends: list[float]
) -> None:
    """It is at least that of the mean, and at most by the variance more."""
    away = np.maximum(np.array(ends[:-1]) - mean, 0) + np.maximum(mean - np.array(ends[1:]), 0)
    found = expected_sqe([mean], sd, ends)[0]
    assert (found >= away**2 * (1 - 1e-14)).all()
    assert (found <= (away**2 + sd**2) * (1 + 1e-14)).all()


@given(mean=means, sd=st.floats(1e-2, 30), boundary=st.floats(-40, 40))
def test_both_sides_of_a_boundary_make_up_the_whole(mean: float, sd: float, boundary: float) -> None:
    whole = (mean - boundary) ** 2 + sd**2
    parts = squared_shortfall(mean, sd, boundary) + squared_excess(mean, sd, boundary)
    assert parts == pytest.approx(whole, rel=1e-13)
    assert below(mean, sd, boundary) + above(mean, sd, boundary) == pytest.approx(1, abs=1e-15)


# --- without error --------------------------------------------------------------------------------------------


@given(value=st.integers(-60, 60), ends=boundaries(), closed=sides)
def test_without_error_a_value_is_in_the_class_that_it_is_cut_into(
    value: int, ends: list[float], closed: Closed
) -> None:
    """On a boundary too, whichever class this belongs to; beyond the outer boundaries it is in none."""
    found = class_probabilities([value], 0.0, ends, closed)[0]
    inside = ends[0] < value < ends[-1] or value == (ends[0] if closed == "left" else ends[-1])
    expected = np.zeros(len(found))
    if inside:
        expected[Continuum(ends, list(range(len(found))), closed=closed).cut([value])[0]] = 1
    assert_array_equal(found, expected)
    assert_array_equal(outside_probabilities([value], 0.0, ends, closed)[0], 1 - expected)


@each_side
def test_a_value_on_a_boundary_belongs_to_the_class_that_is_closed_there(closed: Closed) -> None:
    found = class_probabilities([0.0, 1.0], 0.0, [-INFINITE, 0.0, 1.0, INFINITE], closed)
    expected = [[0, 1, 0], [0, 0, 1]] if closed == "left" else [[1, 0, 0], [0, 1, 0]]
    assert_array_equal(found, expected)


@given(value=means, ends=boundaries())
def test_without_error_the_squared_distance_is_that_of_the_value(value: float, ends: list[float]) -> None:
    away = np.maximum(np.array(ends[:-1]) - value, 0) + np.maximum(value - np.array(ends[1:]), 0)
    assert_allclose(expected_sqe([value], 0.0, ends)[0], away**2, rtol=1e-15)


@given(value=means, ends=boundaries(), closed=sides)
def test_a_small_deviation_is_nearly_none(value: float, ends: list[float], closed: Closed) -> None:
    exact, nearly = (class_probabilities([value], sd, ends, closed)[0] for sd in (0.0, 1e-9))
    if value not in ends:
        assert_array_equal(exact, nearly)
    exact, nearly = (expected_sqe([value], sd, ends)[0] for sd in (0.0, 1e-9))
    assert_allclose(exact, nearly, rtol=1e-12, atol=1e-17)


def test_on_a_boundary_half_of_the_least_deviation_falls_to_either_side() -> None:
    found = class_probabilities([0.0], 1e-300, [-INFINITE, 0.0, INFINITE])[0]
    assert_array_equal(found, [0.5, 0.5])


def test_deviations_can_differ_from_row_to_row() -> None:
    mean, sd, ends = np.array([0.1, 0.1, 0.7]), np.array([0.0, 0.5, 2.0]), [-INFINITE, 0.0, 0.6, INFINITE]
    for kernel in (class_probabilities, outside_probabilities, expected_sqe):
        kernel_of: Any = kernel
        one_by_one = [kernel_of([m], s, ends)[0] for m, s in zip(mean, sd, strict=True)]
        assert_array_equal(kernel_of(mean, sd, ends), one_by_one)


# --- units, mirrors and infinity ------------------------------------------------------------------------------


@given(mean=means, sd=deviations, ends=boundaries(), power=st.integers(-20, 20), closed=sides)
def test_another_unit_changes_nothing_but_the_unit(
    mean: float, sd: float, ends: list[float], power: int, closed: Closed
) -> None:
    """To the last bit, where the factor is a power of 2."""
    unit = 2.0**power
    scaled = [unit * end for end in ends]
    for kernel in (class_probabilities, outside_probabilities):
        assert_array_equal(kernel([mean], sd, ends, closed), kernel([unit * mean], unit * sd, scaled, closed))
    assert_array_equal(unit**2 * expected_sqe([mean], sd, ends), expected_sqe([unit * mean], unit * sd, scaled))


@given(mean=means, sd=st.floats(1e-2, 30), ends=boundaries(), shift=st.integers(-1000, 1000))
def test_another_zero_changes_nothing(mean: float, sd: float, ends: list[float], shift: int) -> None:
    moved = [shift + end for end in ends]
    here, there = class_probabilities([mean], sd, ends), class_probabilities([shift + mean], sd, moved)
    assert_allclose(here, there, atol=1e-9)
    assert_allclose(expected_sqe([mean], sd, ends), expected_sqe([shift + mean], sd, moved), rtol=1e-8, atol=1e-9)


@given(mean=means, sd=deviations, ends=boundaries(), closed=sides)
def test_a_mirror_turns_the_classes_round(mean: float, sd: float, ends: list[float], closed: Closed) -> None:
    for kernel in (class_probabilities, outside_probabilities):
        here, there = kernel([mean], sd, ends, closed)[0], kernel([-mean], sd, mirrored(ends), other(closed))[0]
        assert_allclose(here, there[::-1], rtol=1e-13, atol=1e-15)
    here, there = expected_sqe([mean], sd, ends)[0], expected_sqe([-mean], sd, mirrored(ends))[0]
    assert_allclose(here, there[::-1], rtol=1e-14)


@given(mean=means, sd=deviations, inner=st.integers(-40, 40))
def test_a_boundary_that_is_far_off_is_as_good_as_infinite(mean: float, sd: float, inner: int) -> None:
    infinite, far = [-INFINITE, inner, INFINITE], [-1e6, inner, 1e6]
    assert_allclose(class_probabilities([mean], sd, infinite), class_probabilities([mean], sd, far), atol=1e-15)
    assert_array_equal(expected_sqe([mean], sd, infinite), expected_sqe([mean], sd, far))


@given(mean=means, sd=deviations)
def test_one_class_without_ends_holds_everything(mean: float, sd: float) -> None:
    everything = [-INFINITE, INFINITE]
    assert class_probabilities([mean], sd, everything).item() == 1
    assert outside_probabilities([mean], sd, everything).item() == 0
    assert expected_sqe([mean], sd, everything).item() == 0


# --- far tails ------------------------------------------------------------------------------------------------


def exact_tails(place: float) -> tuple[float, float]:
    """P(u > t) and E[(u - t)^2; u > t] of a standard normal u, with 800 digits.

    P(u < t) = 1/2 + density * (t + t^3 / 3 + t^5 / (3 * 5) + ...): positive terms, and what cancels at the end leaves
    hundreds of digits.
    """
    with localcontext() as context:
        context.prec = 800
        t = Decimal(place)
        density = (-t * t / 2).exp() / (2 * circle()).sqrt()
        term, total, order = t, Decimal(0), 1
        while term > Decimal(10) ** -780:
            total, order = total + term, order + 2
            term = term * t * t / order
        tail = Decimal(1) / 2 - density * total
        return float(tail), float((1 + t * t) * tail - t * density)


def circle() -> Decimal:
    """The number pi, by Machin's formula."""

    def arccot(number: int) -> Decimal:
        term, total, order, sign = Decimal(1) / number, Decimal(0), 1, 1
        while term > Decimal(10) ** -810:
            total, sign = total + sign * term / order, -sign
            term, order = term / (number * number), order + 2
        return total

    return 4 * (4 * arccot(5) - arccot(239))


@pytest.mark.parametrize(
    "place", [0.5, 1.0, 2.0, 4.9375, 5.0, 5.0625, 7.9375, 8.0, 8.0625, 8.5625, 13.0, 20.0, 30.0, 37.0]
)
def test_far_tails_keep_their_digits(place: float) -> None:
    """Against arithmetic of 800 digits; on both sides of the places from which on another form is used, too."""
    tail, moment = exact_tails(place)
    ends = [-INFINITE, 0.0, INFINITE]
    assert class_probabilities([-place], 1.0, ends)[0, 1] == pytest.approx(tail, rel=CLOSE, abs=0)
    assert class_probabilities([place], 1.0, ends)[0, 0] == pytest.approx(tail, rel=CLOSE, abs=0)
    assert outside_probabilities([place], 1.0, ends)[0, 1] == pytest.approx(tail, rel=CLOSE, abs=0)
    assert expected_sqe([place], 1.0, ends)[0, 1] == pytest.approx(moment, rel=CLOSE, abs=0)
    assert expected_sqe([-place], 1.0, ends)[0, 0] == pytest.approx(moment, rel=CLOSE, abs=0)
    assert expected_sqe([place], 1.0, ends)[0, 0] == pytest.approx(1 + place**2 - moment, rel=1e-15)


@pytest.mark.parametrize("place", [15.0, 25.0, 35.0])
def test_far_tails_are_those_of_their_asymptotic_series(place: float) -> None:
    """E[(u - t)^2; u > t] = 2 density / t^3 (1 - 6 / t^2 + 45 / t^4 - 420 / t^6 + ...)."""
    density, square = math.exp(-(place**2) / 2) / math.sqrt(2 * math.pi), place**2
    series = 1 - 6 / square + 45 / square**2 - 420 / square**3 + 4725 / square**4
    found = float(squared_shortfall(place, 1.0, 0.0))
    assert found == pytest.approx(2 * density / place**3 * series, rel=60_000 / square**5)


@pytest.mark.parametrize("place", [38.0, 39.0, 41.0, 1e3, 1e150])
def test_beyond_the_least_number_there_is_nothing(place: float) -> None:
    assert 0 <= float(squared_shortfall(place, 1.0, 0.0)) < 1e-300
    assert float(squared_excess(place, 1.0, 0.0)) == pytest.approx(place**2 + 1, rel=1e-15)
    assert 0 <= float(below(place, 1.0, 0.0)) < 1e-300


@pytest.mark.parametrize("place", [-SURE, *FAR[:2]])
def test_nothing_jumps_where_another_form_takes_over(place: float) -> None:
    before, after = (float(squared_shortfall(place + step, 1.0, 0.0)) for step in (-1e-9, 1e-9))
    slope = 2 * (place * norm.cdf(-place) - norm.pdf(place))
    assert after - before == pytest.approx(2e-9 * slope, rel=0, abs=1e-12 * before)


def test_an_interval_far_out_has_the_digits_of_its_small_probability() -> None:
    """Neither end is taken from 1: the difference of both is as exact as they are."""
    low, high = exact_tails(20.0)[0], exact_tails(20.5)[0]
    for mean, ends in ((0.0, [-INFINITE, 20.0, 20.5, INFINITE]), (0.0, [-INFINITE, -20.5, -20.0, INFINITE])):
        assert class_probabilities([mean], 1.0, ends)[0, 1] == pytest.approx(low - high, rel=1e-12, abs=0)


@pytest.mark.parametrize("sd", [1e4, 1e9, 1e15, 1e300])
@pytest.mark.parametrize("place", [0.0, 0.5, -1.0, 7.0, -30.0])
def test_a_class_that_is_narrow_beside_the_deviation_keeps_its_digits(sd: float, place: float) -> None:
    """The series of the normal density around the middle of the class; its next term is of the fourth power."""
    mean = -place * sd
    found = class_probabilities([mean], sd, [-INFINITE, 0.0, 0.5, INFINITE])[0, 1]
    width, middle = 0.5 / sd, (0.25 - mean) / sd
    expected = width * norm.pdf(middle) * (1 + (middle**2 - 1) * width**2 / 24)
    assert found == pytest.approx(expected, rel=CLOSE, abs=0)


@pytest.mark.parametrize("kernel", [steelyard.class_probabilities, steelyard.expected_sqe])
@pytest.mark.parametrize(
    ("broken", "error"), [(math.nan, MissingValues), (INFINITE, NotNumbers), (-INFINITE, NotNumbers)]
)
@pytest.mark.parametrize("sd", [0.0, 1.0])
def test_what_is_not_known_is_in_no_class(kernel: Any, broken: float, error: type[SteelyardError], sd: float) -> None:
    with pytest.raises(error) as caught:
        kernel([0.5, broken], sd, [-INFINITE, 0.0, INFINITE])
    assert (caught.value.column, caught.value.row) == ("mean", 1)


# --- how far a distance changes -------------------------------------------------------------------------------


def change(mean: float, low: float, high: float) -> Any:
    """What an error changes of the distance to an interval."""

    def distance(value: float) -> float:
        return max(low - value, 0.0) + max(value - high, 0.0)

    return lambda error: distance(mean + error) - distance(mean)


def moment(mean: float, sd: float, low: float, high: float, power: int) -> float:
    """The expected power of that change, by quadrature between its corners."""
    of_error = change(mean, low, high)
    inner = sorted(end - mean for end in (low, high) if abs(end - mean) < 14 * sd)
    corners = [-14 * sd, *([0.0] if low < mean < high else []), *inner, 14 * sd]
    parts = pairwise(sorted(set(corners)))
    return math.fsum(
        quad(lambda error: of_error(error) ** power * norm.pdf(error, 0, sd), *part, epsabs=0, epsrel=1e-12)[0]
        for part in parts
    )


@pytest.mark.study
@pytest.mark.parametrize(
    ("mean", "sd", "ends"),
    in_pairs([-0.01, 0.0, 0.2, 0.7, 4.0], [0.05, 0.5, 30.0], [(-INFINITE, 0.0), (0.0, 0.6), (0.6, INFINITE)]),
)
def test_the_expected_squared_shift_is_the_integral(mean: float, sd: float, ends: tuple[float, float]) -> None:
    low, high = ends
    found, expected = float(squared_shift(mean, sd, low, high)), moment(mean, sd, low, high, 2)
    if expected > 1e-30:
        assert found == pytest.approx(expected, rel=1e-11)
    # What bounds its scatter: the fourth power is at most 3 variances of the error times the second.
    assert moment(mean, sd, low, high, 4) <= 3 * sd**2 * found * (1 + 1e-9) + 1e-300


@given(mean=means, sd=deviations, ends=boundaries())
def test_a_distance_changes_by_no_more_than_the_error(mean: float, sd: float, ends: list[float]) -> None:
    low, high = np.array(ends[:-1]), np.array(ends[1:])
    found = squared_shift(mean, sd, low, high)
    assert (found >= 0).all()
    assert (found <= sd**2 * (1 + 1e-12)).all()
    assert_allclose(squared_shift(-mean, sd, -high, -low), found, rtol=1e-12, atol=0)
    inside = (low <= mean) & (mean <= high)
    expected = squared_shortfall(mean, sd, low) + squared_excess(mean, sd, high)
    assert_allclose(found[inside], expected[inside], rtol=1e-12)


def test_far_away_a_distance_changes_by_the_whole_error() -> None:
    assert squared_shift(1e9, 0.5, -INFINITE, 0.0) == pytest.approx(0.25, rel=1e-12)
    assert squared_shift(1.0, 0.0, -INFINITE, 0.0) == 0

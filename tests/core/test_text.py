"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.core.text import down_to, estimated, in_percent, named, p_value, with_interval


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.5, 0.4, 0.6, "0.500 [0.400, 0.600]"),
        (0.99961, 0.99275, 0.99961, "0.9996 [0.9928, 0.9996]"),
        (0.00824, 0.005, 0.03, "0.00824 [0.005, 0.030]"),
        (math.inf, 17.16, math.inf, "∞ [17.160, ∞]"),
        (math.nan, math.nan, math.nan, "– [–, –]"),
        (0.5, 0.5, 0.5, "0.500 [0.500, 0.500]"),
        (1.2e-12, -3.456e-13, 2.7e-12, "1.2e-12 [-3.46e-13, 2.7e-12]"),
        (1.2e-12, 1.2e-12, 1.2e-12, "1.2e-12 [1.2e-12, 1.2e-12]"),
        (0.0000124, 0.0000123, 0.0000125, "0.00001240 [0.00001230, 0.00001250]"),
        (0.5, 0.5 - 1e-12, 0.5 + 1e-12, "0.50000000 [0.50000000, 0.50000000]"),
        (5.3e24, 5.1e24, 5.5e24, "5.3e+24 [5.1e+24, 5.5e+24]"),
    ],
)
def test_a_value_stands_before_its_interval(value: float, low: float, high: float, text: str) -> None:
    assert with_interval(value, low, high) == text


@given(st.floats(0.01, 0.99), st.floats(1e-5, 0.005), st.floats(1e-5, 0.004))
def test_a_value_is_seen_to_lie_in_a_narrow_interval(value: float, below: float, above: float) -> None:
    text, bounds = estimated(value, value - below, value + above)
    low, high = map(float, bounds.strip("[]").split(", "))
    assert low <= float(text) <= high


def test_no_name_floods_a_table() -> None:
    long = "x" * 10_000 + "end"
    assert len(named(long)) == 80
    assert named(long).endswith("end")
    assert len(str(sy.assess([long, "y"] * 10, [long, long] * 10))) < 15_000


@pytest.mark.parametrize(
    ("level", "text"), [(0.95, "95%"), (0.9, "90%"), (0.975, "97.5%"), (0.999, "99.9%"), (0.9999, "99.99%")]
)
def test_a_level_is_told_with_all_its_digits(level: float, text: str) -> None:
    assert in_percent(level) == text
    told = str(sy.assess([0, 1, 1], [0, 1, 0], level=level))
    assert f"{text} intervals" in told
    assert f"{text} interval " in told


def test_of_very_small_p_values_how_small_does_not_matter() -> None:
    assert [p_value(p) for p in (0.0, 0.0009, 0.001, 0.04, 1.0)] == ["<0.001", "<0.001", "0.001", "0.040", "1.000"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2, unique=True).map(sorted))
def test_a_threshold_as_it_is_written_does_the_same(scores: list[float]) -> None:
    below, threshold = scores
    assert below < float(down_to(threshold, below)) <= threshold


def test_a_threshold_has_as_many_digits_as_it_needs() -> None:
    assert down_to(0.48, 0.3) == "0.4800"
    assert down_to(0.5427815, 0.5) == "0.5427"
    assert down_to(0.5427815, 0.54277) == "0.54278"
    assert down_to(0.1 + 0.2, 0.3) == "0.30000000000000004"
    assert down_to(1e12 + 2, 1e12) == "1000000000002"
    assert down_to(1181.0, 1180.0) == "1181"
    assert down_to(math.inf, 0.9) == "∞"
    assert down_to(0.25, -math.inf) == "0.2500"

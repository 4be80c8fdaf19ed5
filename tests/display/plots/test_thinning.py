"""Long curves keep their looks with few points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.display.plots.base import LONGEST, Numbers, thin


def long_curves() -> dict[str, tuple[Numbers, Numbers]]:
    random = np.random.default_rng(3)
    x = np.linspace(0.0, 1.0, 200_000)
    peak = np.zeros(len(x))
    peak[123_457] = 1.0
    return {
        "smooth": (x, np.sqrt(x)),
        "noise": (x, random.random(len(x))),
        "one peak": (x, peak),
        "steep rise": (np.repeat([0.0, 1.0], len(x) // 2), x),
        "one point": (np.ones(len(x)), np.ones(len(x))),
    }


def test_a_short_curve_is_left_as_it_is() -> None:
    x = np.linspace(0.0, 1.0, LONGEST)
    assert thin(x, x**2).tolist() == list(range(LONGEST))
    assert thin(x[:0], x[:0]).tolist() == []


@pytest.mark.parametrize("kind", long_curves())
def test_a_long_curve_keeps_its_ends_and_extremes(kind: str) -> None:
    x, y = long_curves()[kind]
    kept = thin(x, y)
    assert len(kept) <= LONGEST
    assert (np.diff(kept) > 0).all()
    assert (kept[0], kept[-1]) == (0, len(x) - 1)
    assert (y[kept].min(), y[kept].max()) == (y.min(), y.max())


def test_no_point_of_a_smooth_curve_is_far_from_the_line_that_is_drawn() -> None:
    x, y = long_curves()["smooth"]
    kept = thin(x, y)
    assert np.abs(np.interp(x, x[kept], y[kept]) - y).max() < 0.001


def test_noise_is_drawn_as_high_and_as_low_as_it_is_everywhere() -> None:
    x, y = long_curves()["noise"]
    kept = thin(x, y)
    for part in range(100):
        inside = (x[kept] >= part / 100) & (x[kept] < (part + 1) / 100)
        assert y[kept][inside].min() < 0.01
        assert y[kept][inside].max() > 0.99


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-12, 1.0, 1e12]))
def test_the_unit_of_the_axes_does_not_matter(seed: int, scale: float) -> None:
    y = np.cumsum(np.random.default_rng(seed).normal(size=LONGEST + 500))
    x = np.arange(len(y), dtype=float)
    kept = thin(x, y * scale)
    assert len(kept) <= LONGEST
    assert {0, len(y) - 1, int(y.argmin()), int(y.argmax())} <= set(kept.tolist())

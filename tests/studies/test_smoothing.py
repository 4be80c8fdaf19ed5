"""A smooth curve through points."""

from __future__ import annotations

import numpy as np

from steelyard.studies.mevik import local_linear

RANDOM = np.random.default_rng(0)


def test_a_straight_line_stays_what_it_is() -> None:
    x, at = RANDOM.random(50), np.linspace(-0.2, 1.3, 9)
    np.testing.assert_allclose(local_linear(x, 3 - 2 * x, at), 3 - 2 * at)


def test_it_is_weighted_least_squares_at_each_place() -> None:
    x, y, place = RANDOM.random(40), RANDOM.random(40), 0.3
    distance = np.abs(x - place)
    weight = np.clip(1 - (distance / np.sort(distance)[19]) ** 3, 0, None) ** 3
    slope, height = np.polyfit(x, y, 1, w=np.sqrt(weight))
    np.testing.assert_allclose(local_linear(x, y, np.array([place]), span=0.5), [height + slope * place])


def test_points_at_one_place_are_averaged() -> None:
    found = local_linear(np.full(6, 2.0), np.arange(6.0), np.array([2.0, 2.5]))
    np.testing.assert_allclose(found, [2.5, 2.5])


def test_one_point_alone_is_the_curve() -> None:
    np.testing.assert_allclose(local_linear(np.array([1.0]), np.array([4.0]), np.array([1.0])), [4.0])

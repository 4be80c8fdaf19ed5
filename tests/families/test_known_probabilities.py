"""Memberships against true probabilities that are known."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard import assess, membership_precision, separability
from steelyard.core.errors import OutsideUnitInterval, UnequalLengths, WrongShape

TRUE = np.random.default_rng(1).dirichlet([1.0, 2.0, 0.7], 300)


def test_true_probabilities_are_precise_and_the_middle_is_not() -> None:
    assert membership_precision(TRUE, TRUE).value == 1
    corners = np.eye(3)[[0, 1, 2]]
    assert membership_precision(np.full((3, 3), 1 / 3), corners).value == pytest.approx(0, abs=1e-12)
    assert separability(corners).value == 1
    assert separability(np.full((5, 3), 1 / 3)).value == pytest.approx(0, abs=1e-12)


def test_precision_is_a_mean_of_distances() -> None:
    said = np.roll(TRUE, 1, axis=0)
    gaps = np.linalg.norm(said - TRUE, axis=1) / np.sqrt(2 / 3)
    found = membership_precision(said, TRUE)
    assert found.value == pytest.approx(1 - gaps.mean())
    assert found.se == pytest.approx(gaps.std(ddof=1) / np.sqrt(300))
    assert found.low < found.value < found.high
    narrow = membership_precision(said, TRUE, level=0.5)
    assert narrow.high - narrow.low < found.high - found.low


def test_separability_is_the_ability_to_separate_of_the_truth() -> None:
    """Whatever the true classes are, memberships as they are given separate as the measure says."""
    labels = np.array([0, 1, 2] * 100)
    raw = assess(labels, TRUE, measures=["separation(scaling='raw')"])["separation(scaling='raw')"]
    found = separability(TRUE)
    assert found.value == pytest.approx(raw.value)
    assert (found.low, found.high) == pytest.approx((raw.low, raw.high), rel=1e-6)


def test_the_interval_covers() -> None:
    """Of 400 samples, as many as the level says."""
    random, whole = np.random.default_rng(5), separability(np.random.default_rng(2).dirichlet([1, 1, 1], 400_000)).value
    held = 0
    for _ in range(400):
        found = separability(random.dirichlet([1, 1, 1], 100))
        held += found.low <= whole <= found.high
    assert 0.92 < held / 400 < 0.98


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UnequalLengths, match="299 memberships for 300"):
        membership_precision(TRUE[1:], TRUE)
    with pytest.raises(WrongShape, match="2 memberships for 3"):
        membership_precision([[0.5, 0.5]], [[0.2, 0.3, 0.5]])
    with pytest.raises(OutsideUnitInterval):
        separability([[1.5, -0.5], [0.5, 0.5]])

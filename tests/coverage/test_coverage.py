"""Intervals must hold the truth as often as they say. Slow: run with -m slow."""

from __future__ import annotations

import pytest

from tests.coverage.simulation import Setting, outside, paired_coverage, settings, single_coverage

REPETITIONS = 1500


def named(setting: Setting) -> str:
    return f"{setting.name}, n={setting.rows}"


@pytest.mark.slow
@pytest.mark.parametrize("setting", list(settings()), ids=named)
def test_intervals_cover(setting: Setting) -> None:
    assert not outside(single_coverage(setting, REPETITIONS, 1), REPETITIONS)


@pytest.mark.slow
@pytest.mark.parametrize("setting", list(settings()), ids=named)
def test_intervals_of_paired_differences_cover(setting: Setting) -> None:
    assert not outside(paired_coverage(setting, REPETITIONS, 2), REPETITIONS)

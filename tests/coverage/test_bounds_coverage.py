"""Bounds of the true error must hold as often as they say, an sd that was estimated included."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard
from steelyard import Deviation
from steelyard.studies.designs import PAPER_CELLS, Cell
from tests.coverage.bounds import (
    FREEDOMS,
    LABELS,
    PAIRS,
    RULES,
    SCALE,
    TRUTH,
    Setting,
    bounds,
    coverage,
    section,
    settings,
)
from tests.effort import repeats

HARD = Cell(0.9, 0.15)  # few labels are wrong, so that their number is skewed
FEW = repeats(25, 400)


@pytest.mark.study
@pytest.mark.parametrize("freedom", [10.0, 100.0])
def test_bounds_cover_the_true_errors_of_the_rows(freedom: float) -> None:
    found = coverage(Setting(HARD, freedom), FEW, 6)
    least = 95 - 350 * (0.95 * 0.05 / FEW) ** 0.5
    assert not {key: held.share() for key, held in found.items() if held.share() < least}


def test_where_nothing_is_measured_with_error_the_bounds_are_the_truth() -> None:
    for held in coverage(Setting(Cell(0.3, 0.0), np.inf), 3, 7).values():
        for (low, high), true in zip(held.values, held.true, strict=True):
            assert low == pytest.approx(true, abs=1e-15)
            assert high == pytest.approx(true, abs=1e-15)


def test_the_rules_of_the_bounds_reach_them() -> None:
    """Without their intervals the bounds would be too narrow for these: the actual share of wrong labels is another."""
    found = coverage(Setting(Cell(0.3, 0.5), np.inf), 6, 8)
    assert set(found) == {(rule, error) for rule in RULES for error in PAIRS}
    assert found[LABELS, "error"].share("values") == 0
    assert found[TRUTH, "error"].share("values") == 0
    assert set(found[TRUTH, "error"].true) == set(found[TRUTH, "sqerr"].true) == {0.0}
    assert set(found[LABELS, "error"].apparent) == {0.0}
    for rule in (LABELS, TRUTH):
        assert found[rule, "error"].share() >= 80
    assert np.isfinite(found["lda", "error"].population).all()


def test_what_is_simulated_is_what_users_get() -> None:
    random = np.random.default_rng(3)
    value, sd = random.normal(0.3, 1, 60), Deviation(0.4, 10)
    codes = SCALE.cut(value + random.normal(0, 0.3, 60))
    ((_, errors), (_, squares)) = bounds(value, {"lda": codes}, sd)
    found = steelyard.assess(value, codes, scale=SCALE, sd=sd)
    for numbers, pair in ((errors, found.true_error_bounds), (squares, found.true_sqerr_bounds)):
        assert numbers == pytest.approx(np.array([[each.value, each.low, each.high] for each in pair]), rel=1e-12)


def test_the_section_has_a_row_for_every_rule_and_every_cell() -> None:
    some = [setting for setting in settings() if setting.cell in PAPER_CELLS[:2]]
    text = section([(setting, coverage(setting, 2, 9)) for setting in some], 2)
    assert "| labels | sqerr | rows |" in text
    assert text.count("| 0.15 | 0.15 |") == text.count("| 0.15 | 0 |") == 4
    assert {setting.freedom for setting in settings()} == set(FREEDOMS)

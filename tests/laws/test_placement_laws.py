"""Counts of rows above others tell as much as the rows themselves, where no score occurs twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import steelyard.ranked
from steelyard import assess
from steelyard.masses import BY_COUNT
from steelyard.measures.ranking import auc
from steelyard.placements import Placements


def sample(rows: int, classes: int, seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    score = random.standard_normal((rows, classes))
    truth = random.integers(0, classes, rows)
    score[np.arange(rows), truth] += 1.0
    chance = np.exp(score)
    return truth, chance / chance.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_counts_tell_as_much_as_rows(classes: int) -> None:
    truth, chance = sample(3_000, classes, classes)
    rows = assess(truth, chance, measures=["auc"]).ranked
    found = Placements.of(rows.rows, 0, rows.sizes)
    assert found is not None
    for slot in rows.slots:
        usual, by_count = rows.result(slot), found.found(auc)[slot.code if slot.code is not None else str(slot.average)]
        assert_allclose(by_count.value[0], usual.value[0], rtol=1e-13)
        assert_allclose(by_count.variance[0], usual.variance[0], rtol=1e-11)
        assert_allclose(by_count.freedom[0], usual.freedom[0], rtol=1e-11)


@pytest.mark.parametrize("event", [0, 1])
def test_one_score_serves_both_classes(event: int) -> None:
    truth, chance = sample(2_500, 2, 7)
    rows = assess(truth, chance[:, event], event=event, measures=["auc"]).ranked
    found = Placements.of(rows.rows, 0, rows.sizes)
    assert found is not None
    for slot in rows.slots:
        usual, by_count = rows.result(slot), found.found(auc)[slot.code if slot.code is not None else str(slot.average)]
        assert_allclose([by_count.value[0], by_count.variance[0]], [usual.value[0], usual.variance[0]], rtol=1e-11)


def test_a_score_that_occurs_twice_is_left_to_others() -> None:
    truth, chance = sample(500, 3, 1)
    chance[3] = chance[4]
    rows = assess(truth, chance, measures=["auc"]).ranked
    assert Placements.of(rows.rows, 0, rows.sizes) is None


def test_many_rows_take_the_short_way_to_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, chance = sample(1 << 17, 3, 2)
    short = assess(truth, chance, measures=["auc"]).table()
    monkeypatch.setattr(steelyard.ranked, "MANY_ROWS", 1 << 60)
    usual = assess(truth, chance, measures=["auc"]).table()
    for column in ("value", "low", "high", "se"):
        assert_allclose(short[column], usual[column], rtol=1e-11)
    assert auc in BY_COUNT

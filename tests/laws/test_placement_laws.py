"""Counts of rows above others tell as much as the rows themselves, where no score occurs twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import steelyard.core.threads
import steelyard.families.ranking.evaluation
from steelyard import assess
from steelyard.families.ranking.counted import Placements
from steelyard.maths.ordered_scores import _running_counts
from steelyard.measures.masses import BY_COUNT
from steelyard.measures.ranking import auc
from tests.effort import in_pairs


def sample(rows: int, classes: int, seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    score = random.standard_normal((rows, classes))
    truth = random.integers(0, classes, rows)
    score[np.arange(rows), truth] += 1.0
    chance = np.exp(score)
    return truth, chance / chance.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("decimals", [17, 3, 1])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_counts_tell_as_much_as_rows(classes: int, decimals: int) -> None:
    truth, chance = sample(3_000, classes, classes)
    chance = chance.round(decimals)
    rows = assess(truth, chance, measures=["auc"]).ranked
    found = Placements.of(rows.rows, 0, rows.sizes).counted
    parts = [slot.code if slot.code is not None else str(slot.average) for slot in rows.slots]
    together = found.found(auc, parts)
    assert together.keys() == set(parts)
    for slot, part in zip(rows.slots, parts, strict=True):
        usual, by_count = rows.result(slot), together[part]
        assert found.found(auc, [part]) == {part: by_count}
        assert_allclose(by_count.value[0], usual.value[0], rtol=1e-13)
        assert_allclose(by_count.variance[0], usual.variance[0], rtol=1e-11)
        assert_allclose(by_count.freedom[0], usual.freedom[0], rtol=1e-11)


@pytest.mark.parametrize("decimals", [17, 2])
@pytest.mark.parametrize("event", [0, 1])
def test_one_score_serves_both_classes(event: int, decimals: int) -> None:
    truth, chance = sample(2_500, 2, 7)
    chance = chance.round(decimals)
    rows = assess(truth, chance[:, event], event=event, measures=["auc"]).ranked
    found = Placements.of(rows.rows, 0, rows.sizes)
    for slot in rows.slots:
        part = slot.code if slot.code is not None else str(slot.average)
        usual, by_count = rows.result(slot), found.counted.found(auc, [part])[part]
        assert_allclose([by_count.value[0], by_count.variance[0]], [usual.value[0], usual.variance[0]], rtol=1e-11)


def test_many_rows_take_the_short_way_to_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, chance = sample(1 << 17, 3, 2)
    short = assess(truth, chance, measures=["auc"]).table()
    monkeypatch.setattr(steelyard.families.ranking.evaluation, "FELT", 0.0)
    usual = assess(truth, chance, measures=["auc"]).table()
    for column in ("value", "low", "high", "se"):
        assert_allclose(short[column], usual[column], rtol=1e-11)
    assert auc in BY_COUNT


@pytest.mark.parametrize("several", [1, 2, 3, 4])
def test_classes_are_dealt_out_and_the_last_one_is_shared(several: int, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, chance = sample(200_003, 3, 3)
    rows = assess(truth, chance, measures=["auc"]).ranked
    alone = Placements.of(rows.rows, 0, rows.sizes)
    monkeypatch.setattr(steelyard.core.threads, "cores", lambda: several)
    monkeypatch.setattr(steelyard.core.threads, "WORTH_A_THREAD", 1 << 12)
    together = Placements.of(rows.rows, 0, rows.sizes)
    assert_array_equal(together.counts, alone.counts)
    assert_array_equal(together.above, alone.above)
    parts: list[int | str] = [0, 1, 2, "macro", "weighted"]
    for mine, other in zip(*(each.counted.found(auc, parts).values() for each in (together, alone)), strict=True):
        assert_allclose(mine[:3], other[:3], rtol=1e-12)


@pytest.mark.parametrize("decimals", [17, 1])
def test_counts_are_those_of_pairs_and_a_tie_is_half(decimals: int) -> None:
    truth, chance = sample(300, 3, 4)
    chance = chance.round(decimals)
    rows = assess(truth, chance, measures=["auc"]).ranked
    found = Placements.of(rows.rows, 0, rows.sizes)
    for code in range(3):
        above = np.sign(chance[:, None, code] - chance[None, :, code]) / 2 + 0.5
        other = (truth == code)[:, None] != (truth == code)[None, :]
        counts = found.units[code] * found.counts[code]
        assert_array_equal(counts, (above * other).sum(axis=0))
        assert found.above[code] == counts[truth == code].sum()


@pytest.mark.study
@pytest.mark.parametrize(
    ("rows", "classes", "decimals", "apart"), in_pairs([15, 60, 5_000, 50_000], [1, 2, 3, 7], [17, 2, 1], [0.0, 1.0])
)
def test_few_rows_by_counts_are_what_they_are_by_the_long_way(
    rows: int, classes: int, decimals: int, apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the pseudo-rows, which are felt by all, by some or by no classes; also where one score speaks for two."""
    random, several = np.random.default_rng(rows), max(classes, 2)
    truth = random.permutation(np.arange(rows) % several)
    chance = random.dirichlet(np.ones(several), rows)
    chance[np.arange(rows), truth] += apart
    chance = (chance / (1 + apart)).round(decimals)
    said = chance[:, 1] if classes == 1 else chance / chance.sum(axis=1, keepdims=True)

    def found(kept: int) -> list[Any]:
        monkeypatch.setattr(steelyard.families.ranking.evaluation, "WORTH_KEEPING", kept)
        monkeypatch.setattr(steelyard.families.ranking.evaluation, "FELT", 1e-9)
        ranked = assess(truth, said, event=1 if classes == 1 else None, measures=["auc"]).ranked
        results: list[Any] = [ranked.values, ranked.spread[0].plain, ranked.spread[0].smooth, ranked.spread[1]]
        assert bool(ranked.memory.smoothed) == (kept > 0)
        results += [ranked.influence(slot, smooth=False) for slot in ranked.slots]
        results += [ranked.influence(slot, smooth=True) for slot in ranked.slots if ranked.result(slot).moved]
        results += [each for place in range(len(ranked.slots)) for each in ranked.pseudo_at(place)]
        return results

    for short, long in zip(found(1 << 23), found(0), strict=True):
        assert_allclose(short, long, rtol=1e-7, atol=1e-14)  # of a nearly perfect ranking, few digits are left


@pytest.mark.parametrize("rows", [60_000, 300_000])
def test_a_slot_alone_is_what_it_is_among_all(rows: int) -> None:
    """Whether pseudo-rows are felt is decided for each slot, whoever else is asked for."""
    truth, chance = sample(rows, 3, 5)
    together = assess(truth, chance, measures=["auc"]).table().to_pylist()
    alone = assess(truth, chance, measures=["auc"])
    for name in ("macro", 0, "weighted", 2, 1):
        one = alone["auc", name]
        (row,) = [each for each in together if name in (each["class"], each["average"])]
        columns = ("value", "low", "high", "se")
        assert_allclose([getattr(one, column) for column in columns], [row[column] for column in columns], rtol=1e-11)


@given(st.lists(st.booleans(), max_size=50), st.integers(0, 1000))
def test_running_counts_are_running_sums(marks: list[bool], before: int) -> None:
    column = np.array(marks, dtype=bool)
    assert_array_equal(_running_counts(column), np.cumsum(column))
    assert_array_equal(_running_counts(column, before), np.cumsum(column) + before)

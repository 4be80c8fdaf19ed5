"""Rows in the order of their scores, whatever floats these are."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_array_equal

import steelyard.core.threads
import steelyard.maths.ordered_scores
from steelyard import Scale, assess, compare
from steelyard.core.threads import CHUNK, WORTH_A_THREAD
from steelyard.maths.label_sort import (
    MANY,
    CellMeans,
    Cells,
    ClassOrder,
    LabelSorted,
    _by_all_bits,
    _by_first_bits,
    label_sorted,
)
from steelyard.maths.ordered_scores import Ranking, Tags, ordering
from steelyard.maths.sides import Sides
from tests.effort import repeats

LEAST, MOST = 5e-324, 1.7976931348623157e308
ODD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, LEAST, -LEAST, MOST, -MOST, 1e300, -1e300, 2.2250738585072014e-308]
NEAR = [1 + k * 2**-52 for k in range(-4, 5)]

any_float = st.one_of(
    st.floats(allow_nan=False), st.sampled_from(ODD), st.sampled_from(NEAR), st.sampled_from([-x for x in NEAR])
)


def assert_ordered(score: Any) -> None:
    """Every row once, scores falling, and exactly those rows marked that repeat the score before them.

    So it is where a class is marked too, and then no other rows are.
    """
    truth = np.arange(len(score), dtype=np.uint8) % 3
    tags = Tags.of(len(score), truth, 3)
    assert_in_order(score, *ordering(score)[:2])
    for code, kept in ((0, tags), (1, tags.kept(len(score))), (2, tags)):
        order, tied, own = ordering(score, kept, code)
        assert_in_order(score, order, tied)
        assert own is not None
        assert_array_equal(own, truth[order] == code)
        again, _, marked = ordering(score, Tags.marking(truth, code), code)
        assert_array_equal(marked, truth[again] == code)


def assert_in_order(score: Any, order: Any, tied: Any) -> None:
    wide = score.astype(np.float64)
    assert_array_equal(np.sort(order), np.arange(len(score)))
    assert_array_equal(wide[order], wide[np.argsort(-wide, kind="stable")])
    expected = np.zeros(len(score), dtype=bool)
    expected[1:] = wide[order][1:] == wide[order][:-1]
    assert_array_equal(tied, expected)


@given(npst.arrays(np.float64, st.integers(1, 60), elements=any_float))
def test_rows_come_from_the_highest_score_to_the_lowest(score: Any) -> None:
    assert_ordered(score)


@given(st.lists(st.integers(-40, 40), min_size=2, max_size=300), st.sampled_from([1.0, -1.0, 3e-5, 1e300, 2.0**-1060]))
def test_scores_that_differ_in_their_last_bits_are_told_apart(steps: list[int], near: float) -> None:
    """The place of a row is written over these bits: the scores themselves must decide."""
    assert_ordered(near + np.array(steps) * np.spacing(near))


@given(
    npst.arrays(
        st.sampled_from([np.float32, np.float16, np.int64, np.uint8, np.int8, np.bool_]),
        st.integers(1, 40),
        elements={"allow_nan": False, "min_value": 0, "max_value": 1},
    )
)
def test_narrow_numbers_are_ordered_too(score: Any) -> None:
    assert_ordered(score)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 1023, 1024, 1025])
def test_rows_of_one_score_are_all_tied(rows: int) -> None:
    order, tied, _ = ordering(np.full(rows, -0.25))
    assert_array_equal(np.sort(order), np.arange(rows))
    assert_array_equal(tied, np.arange(rows) > 0)


def crowded(rows: int) -> Any:
    """Scores of which many differ in the last bits only, and many not at all."""
    random = np.random.default_rng(0)
    score = random.integers(-3, 3, rows) + random.integers(0, 2000, rows) * 2.0**-50
    score[:: rows // 11] = ODD[: len(score[:: rows // 11])]
    return score


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads begin at few rows."""
    monkeypatch.setattr(steelyard.core.threads, "WORTH_A_THREAD", 1 << 14)
    monkeypatch.setattr(steelyard.maths.ordered_scores, "WORTH_HALVING", 1 << 13)


@pytest.mark.study
@pytest.mark.usefixtures("few_are_many")
def test_many_rows_are_ordered_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (steelyard.core.threads, steelyard.maths.ordered_scores):
        monkeypatch.setattr(module, "cores", lambda: 3)
    score = crowded(2 ** repeats(15, 20) + 12_345)
    assert len(score) > 2 * steelyard.core.threads.WORTH_A_THREAD
    assert_ordered(score)
    assert_ordered(np.full(len(score), -np.inf))


@pytest.mark.study
@pytest.mark.usefixtures("few_are_many")
def test_one_thread_orders_as_several_do(monkeypatch: pytest.MonkeyPatch) -> None:
    score, found = crowded(2 ** repeats(15, 20) + 1), []
    for several in (1, 4):
        for module in (steelyard.core.threads, steelyard.maths.ordered_scores):
            monkeypatch.setattr(module, "cores", lambda several=several: several)
        found.append(ordering(score))
    assert_array_equal(score[found[0][0]], score[found[1][0]])
    assert_array_equal(found[0][1], found[1][1])


@given(npst.arrays(np.float64, st.integers(1, 40), elements=any_float))
def test_turned_round_is_the_order_of_the_negative_score(score: Any) -> None:
    turned, straight = Ranking.of(score).turned(), Ranking.of(-score)
    assert_array_equal(turned.tied, straight.tied)
    assert_array_equal(turned.thresholds, straight.thresholds)
    assert_array_equal(score[turned.order], score[straight.order])


@given(npst.arrays(np.float64, st.integers(1, 40), elements=any_float))
def test_sums_at_scores_are_those_over_rows_of_one_score(score: Any) -> None:
    ranking, weight = Ranking.of(score), np.arange(1, len(score) + 1, dtype=np.float64)
    distinct = np.unique(score)[::-1]
    assert_array_equal(ranking.thresholds, distinct)
    groups, ordered = ranking.groups, weight[ranking.order]
    sums = np.array([weight[score == value].sum() for value in distinct])
    assert_array_equal(groups.lengths, [(score == value).sum() for value in distinct])
    assert_array_equal(groups.sums(ordered), sums)
    assert_array_equal(groups.sums(np.stack([ordered, -ordered])), [sums, -sums])
    assert_array_equal(groups.sums(ordered > 2), [(weight[score == value] > 2).sum() for value in distinct])
    assert_array_equal(groups.first(score[ranking.order]), distinct)
    assert_array_equal(groups.spread(distinct), score[ranking.order])
    assert_array_equal(ordered[np.argsort(ranking.order)], weight)


def test_a_ranking_without_ties_needs_no_groups() -> None:
    ranking = Ranking.of(np.array([0.5, 2.0, -1.0]))
    assert ranking.groups.starts is None
    assert ranking.groups.lengths.tolist() == [1, 1, 1]
    assert ranking.order.tolist() == [1, 0, 2]


def test_thresholds_have_no_negative_zero() -> None:
    found = Ranking.of(np.array([-0.0, 1.0])).thresholds
    assert not np.signbit(found).any()


# --- sides alone --------------------------------------------------------------------------------------------------

ODD_SCORES = [0.0, -0.0, 5e-324, 0.1, 0.1 + 2**-56, 0.25, 0.5, np.nextafter(0.5, 1), 1.0, 2.0, 1e300, np.inf]


def tied_and_own(rows: LabelSorted) -> tuple[Any, Any]:
    """Which rows have the same score as the one before, and which are of the class, from the highest score on."""
    alike = np.append(False, rows.alike[1:] >> 1 == rows.alike[:-1] >> 1)
    tied = np.zeros(len(rows.keys), dtype=bool)
    tied[slice(None) if rows.places is None else rows.places] = alike
    return tied, rows.keys & 1 == 0


@given(st.lists(st.tuples(st.sampled_from(ODD_SCORES), st.integers(0, 2)), min_size=1, max_size=60))
def test_sides_are_ranked_as_rows_are(drawn: list[tuple[float, int]]) -> None:
    score, truth = np.array([one for one, _ in drawn]), np.array([code for _, code in drawn], np.uint8)
    found = label_sorted(score, truth, 1)
    assert found is not None
    tied, own = tied_and_own(found)
    ordered = np.sort(score)[::-1]
    assert_array_equal(tied, np.append(False, ordered[1:] == ordered[:-1]))
    starts = np.flatnonzero(~tied)
    hits = [np.count_nonzero((truth == 1) & (score == value)) for value in ordered[starts]]
    assert_array_equal(np.add.reduceat(own, starts, dtype=np.int64), hits)


@pytest.mark.parametrize("rows", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1, 2 * WORTH_A_THREAD + 3])
@pytest.mark.parametrize("decimals", [2, 17])
def test_sides_of_many_rows_are_ranked_as_rows_are(rows: int, decimals: int) -> None:
    random = np.random.default_rng(rows)
    score, truth = random.random(rows).round(decimals).astype(np.float32), random.integers(0, 3, rows)
    found = label_sorted(score, truth, 2)
    assert found is not None
    tied, own = tied_and_own(found)
    order = np.lexsort((truth != 2, -score))
    assert_array_equal(own, truth[order] == 2)
    assert_array_equal(tied, np.append(False, score[order][1:] == score[order][:-1]))


def uneven(random: np.random.Generator, rows: int) -> Any:
    """Scores close to 0, a few of them 0 or as high as can be, and some that occur twice."""
    score = random.random(rows) ** 6
    score[1:5] = [0.0, -0.0, 5e-324, np.inf]
    score[10:110] = score[110:210]
    return score


@pytest.mark.parametrize("rows", [MANY, 3 * MANY + 5, 2 * WORTH_A_THREAD + 3])
@pytest.mark.parametrize(
    "drawn",
    [
        uneven,
        lambda random, rows: random.random(rows),
        lambda random, rows: 0.5 + random.random(rows) * 2.0**-22,  # few numbers tell them apart
        lambda random, rows: random.integers(1, 2**28, rows) / 2**28,  # some are tied
    ],
)
def test_first_bits_sort_rows_as_all_bits_do(rows: int, drawn: Any) -> None:
    random = np.random.default_rng(rows)
    score, truth = drawn(random, rows), random.integers(0, 3, rows).astype(np.uint8)
    fast, slow = _by_first_bits(score, truth, 2), _by_all_bits(score, truth, 2)
    assert fast is not None
    assert slow is not None
    assert fast.keys.dtype == np.uint32
    assert_array_equal(fast.keys & 1, slow.keys & 1)
    assert_array_equal(tied_and_own(fast)[0], tied_and_own(slow)[0])
    assert (np.sort(fast.numbers)[::-1] == ~fast.keys >> 1).all()
    for bits in (4, 13):
        cells = [
            CellMeans.of(ClassOrder.of(each, int((truth == 2).sum())), Cells.of(each, bits)) for each in (fast, slow)
        ]
        assert cells[0].above == cells[1].above
        assert_array_equal(cells[0].squares, cells[1].squares)


@pytest.mark.parametrize(
    "drawn",
    [
        lambda random, rows: random.random(rows).round(2),
        lambda random, rows: random.random(rows) * (random.random(rows) < 0.9),  # one in ten is 0
        lambda random, rows: random.random(rows) - 0.5,
        lambda random, rows: 1 / (1 + np.exp(-20 * random.normal(size=rows))),  # all but sure
        lambda random, rows: np.full(rows, 0.25),
        lambda random, rows: random.random(rows, dtype=np.float32),  # no wider than the first bits
    ],
)
def test_first_bits_are_left_alone_where_they_would_tell_too_few_apart(drawn: Any) -> None:
    random = np.random.default_rng(0)
    assert _by_first_bits(drawn(random, 2 * MANY), random.integers(0, 2, 2 * MANY), 1) is None


def test_what_is_asked_for_is_not_kept_once_nobody_asks() -> None:
    """Memory comes back at once, and not when Python looks for objects that hold each other."""
    random = np.random.default_rng(0)
    truth, score = random.integers(0, 2, 500), random.random(500)
    gc.collect()
    gc.disable()
    try:
        for measure in ("auc", "average_precision", "partial_auc"):
            found = assess(truth, score, event=1, measures=[measure])
            evaluation = weakref.ref(found.ranked)
            assert 0 <= found[measure].value <= 1
            assert evaluation() is not None
            del found
            assert evaluation() is None
    finally:
        gc.enable()


def test_negative_scores_leave_no_room_for_a_side() -> None:
    assert label_sorted(np.array([0.5, -1e-300]), np.array([0, 1]), 1) is None


@pytest.mark.parametrize("classes", [10, 40])
def test_pseudo_rows_do_not_pull_averages_over_many_classes_away(classes: int) -> None:
    """Every class has its own, and the average less of an error than each: its interval reaches to both sides."""
    random, rows = np.random.default_rng(classes), 60 * classes
    truth = np.arange(rows) % classes
    said = random.normal(size=(rows, classes)) + 3 * (truth[:, None] == np.arange(classes))
    said = np.exp(said) / np.exp(said).sum(axis=1, keepdims=True)
    for measure in ("auc", "hand_till_auc"):
        found = assess(truth, said, measures=[measure])[measure]
        below, above = (found.value - found.low) / found.se, (found.high - found.value) / found.se
        assert 1.5 < below < 3
        assert 1.5 < above < 3


def test_an_average_of_two_classes_has_the_interval_of_either() -> None:
    truth, said = np.arange(30) % 2, np.random.default_rng(0).random(30)
    both = assess(truth, np.stack([1 - said, said], axis=1), measures=["auc"])
    assert both["auc"].low == pytest.approx(both["auc", 1].low, abs=2e-3)
    assert both["auc"].high == pytest.approx(both["auc", 1].high, abs=2e-3)


@pytest.mark.parametrize("seed", range(10))
def test_a_perfect_ranking_belongs_to_its_interval_whatever_rows_weigh(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth, chance = np.arange(30) % 2, random.random(30) / 4
    said = {0: np.where(truth, chance, 1 - chance), 1: np.where(truth, 1 - chance, chance)}
    weight, clusters, measures = random.gamma(1.0, 1.0, 30), np.arange(30) // 15, ["auc", "average_precision"]
    found = assess(truth, said, weight=weight, group=clusters, measures=measures)
    assert all(row["low"] <= row["value"] <= row["high"] for row in found.table())


@pytest.mark.parametrize("measure", ["auc", "hand_till_auc", "average_precision", "h_measure"])
def test_one_row_or_cluster_of_a_class_tells_nothing_of_spread(measure: str) -> None:
    """In the middle of the others it passed for one that is known well: 0.5 from 0.37 to 0.65."""
    score = np.append(0.5, np.linspace(0.0, 1.0, 100))
    alone = assess([1] + [0] * 100, score, event=1, measures=[measure])
    truth, group = [1] * 6 + [0] * 60, ["one"] * 6 + [f"other {row // 3}" for row in range(60)]
    clustered = assess(truth, np.sin(np.arange(66.0)) ** 2, event=1, group=group, measures=[measure])
    for found in (alone, clustered):
        for part in (0, 1, "macro", "weighted"):
            assert (found[measure, part].low, found[measure, part].high) == (0, 1)
            assert np.isnan(found[measure, part].se)


@pytest.mark.parametrize("rows", [1, 8])
@pytest.mark.parametrize("measure", ["auc", "hand_till_auc", "average_precision", "h_measure"])
def test_averages_are_as_unsure_as_a_class_of_one_row_or_cluster_can_make_them(measure: str, rows: int) -> None:
    """Its rows do not differ from their mean: intervals of Hand and Till's AUC held the truth in 4 of 5 samples."""
    random = np.random.default_rng(3)
    for classes, others in ((3, 40), (16, 8)):
        truth = np.repeat(np.arange(classes), [others * rows] * (classes - 1) + [rows])
        said = random.dirichlet(np.ones(classes), len(truth)) + 0.8 / classes * (truth[:, None] == np.arange(classes))
        group = None if rows == 1 else np.arange(len(truth)) // rows
        options: dict[str, Any] = {"scale": Scale(range(classes)), "group": group, "measures": [measure]}
        models = {"a": said / said.sum(axis=1, keepdims=True), "b": random.dirichlet(np.ones(classes), len(truth))}
        both = compare(truth, models, **options)
        found = both["a"][measure]
        share = (2 if measure == "hand_till_auc" else 1) / classes
        assert np.isnan(found.se)
        assert share * 0.6 < found.high - found.low < share + 0.25
        assert 0 < found.low < found.high < 1
        difference = both.differences(measure)
        assert difference["high"][0] - difference["low"][0] > share
    values = [both["a"]["hand_till_auc", code] for code in (0, 15)] if measure == "hand_till_auc" else []
    assert all(np.isnan(value.se) for value in values)  # every class is held against every other


def test_what_clusters_add_on_two_sides_may_cancel() -> None:
    """An effect that moves all scores of a cluster moves its rows of the class and of the rest to opposite ends."""
    random = np.random.default_rng(7)
    cluster, side, ones = np.repeat(np.arange(6), 2), np.tile([0, 1], 6), np.ones(12)
    influence = random.normal(size=12) + np.tile([50, -50], 6) * np.repeat(random.normal(size=6), 2)
    both = Sides(side, np.array([6, 6]), ones, ones, cluster)
    totals = Sides(np.zeros(6, int), np.array([6]), ones[:6], ones[:6], None)
    assert both.scatter(influence) == pytest.approx(totals.scatter(influence.reshape(6, 2).sum(axis=1)), rel=1e-6)
    apart = Sides(side, np.array([6, 6]), ones, ones, np.arange(12))  # each cluster on one side alone
    assert apart.scatter(influence) == pytest.approx(Sides(side, np.array([6, 6]), ones, ones, None).scatter(influence))


def test_differences_of_rankings_of_few_clusters_are_not_as_wide_as_their_effects() -> None:
    random = np.random.default_rng(1)
    group, truth = np.repeat(np.arange(6), 100), random.integers(0, 2, 600)
    scores = {name: truth + 0.6 * random.normal(size=6)[group] + random.normal(size=600) for name in "ab"}
    found = compare(truth, scores, event=1, group=group, measures=["auc"]).differences("auc")
    assert found["high"][0] - found["low"][0] < 2 * 5 * found["se"][0]  # t with 2 degrees of freedom reaches as far

"""The short way to a measure, where no two scores are the same, ends where the long one does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import assess, compare
from steelyard.families.ranking.evaluation import FELT, Memory
from steelyard.measures.masses import BY_COUNT, UNTIED
from steelyard.measures.registry import REGISTRY, Measure
from tests.effort import in_pairs

SHORT = [measure for measure in REGISTRY.values() if measure.formula in UNTIED]


def test_the_measures_that_everybody_asks_for_have_a_short_way() -> None:
    assert {"auc", "average_precision"} <= {measure.name for measure in SHORT}


@pytest.mark.parametrize("measure", SHORT, ids=[measure.name for measure in SHORT])
@pytest.mark.parametrize(("rows", "classes"), [(6, 2), (40, 3), (2_000, 4), (70_000, 2)])
def test_the_short_way_ends_where_the_long_one_does(
    measure: Measure, rows: int, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(rows)
    truth = np.arange(rows) % classes
    shares = random.dirichlet(np.ones(classes), rows)
    found = []
    for short in (True, False):
        if not short:
            monkeypatch.delitem(UNTIED, measure.formula)
        ranked = assess(truth, shares, measures=[measure]).ranked
        assert ranked.memory == Memory()
        assert ranked.against_rest(0).untied(measure) == short
        averages = [ranked.influence(slot, smooth=False) for slot in ranked.slots if slot.code is None]
        found.append([*ranked.values, ranked.spread[0].plain, ranked.spread[0].smooth, ranked.spread[1], *averages])
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("decimals", [17, 5, 2])
@pytest.mark.parametrize("classes", [1, 2, 3, 6])
def test_counts_tell_values_and_influences_of_classes_and_of_averages(
    classes: int, decimals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where scores are tied, and where one score speaks for two classes."""
    random, rows = np.random.default_rng(classes), 30_000 * max(classes, 2)
    truth = random.integers(0, max(classes, 2), rows)
    said = random.random(rows) if classes == 1 else random.dirichlet(np.ones(classes), rows)
    said = said.round(decimals).astype(np.float32 if decimals == 5 else np.float64)
    event, measures = 1 if classes == 1 else None, [measure for measure in SHORT if measure.formula in BY_COUNT]

    def found() -> list[Any]:
        ranked = assess(truth, said, event=event, measures=measures).ranked
        for slot in ranked.slots:
            if slot.code is None:
                ranked.result(slot)
        assert bool(ranked.memory.counted) == (FELT > 0)
        influences = [ranked.influence(slot, smooth=False) for slot in ranked.slots]
        return [*ranked.values, ranked.spread[0].plain, ranked.spread[0].smooth, *influences]

    short = found()
    monkeypatch.setattr("steelyard.families.ranking.evaluation.FELT", 0.0)
    monkeypatch.setattr("tests.laws.test_untied_laws.FELT", 0.0)
    for measure in measures:
        monkeypatch.delitem(UNTIED, measure.formula)
    for one, other in zip(short, found(), strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("classes", [2, 3])
def test_differences_of_many_rows_are_those_of_the_long_way(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random, rows = np.random.default_rng(classes), 60_000 * classes
    truth = random.integers(0, classes, rows)
    said = {name: random.dirichlet(np.ones(classes), rows) for name in "ab"}
    said["a"][np.arange(rows), truth] += 0.5
    said["a"] /= said["a"].sum(axis=1, keepdims=True)
    measures = ["auc", "average_precision", "log_score", "brier"]
    short = compare(truth, said, event=1, measures=measures).differences(by_class=True).to_pandas()
    # Where pseudo-rows are always felt, and every row has a weight, nothing is spared.
    monkeypatch.setattr("steelyard.families.ranking.one_against_rest.NEGLIGIBLE", 0.0)
    monkeypatch.setattr("steelyard.families.forecasts.evaluation.NEGLIGIBLE", 0.0)
    weight = np.ones(rows)
    weight[0] = 1 + 1e-9
    long = compare(truth, said, event=1, measures=measures, weight=weight).differences(by_class=True).to_pandas()
    for column in ("difference", "se"):
        assert_allclose(short[column], long[column], rtol=1e-6, err_msg=column)
    for column in ("low", "high"):  # pseudo-rows are left out where they move nothing by a fiftieth of an error
        assert np.all(np.abs(short[column] - long[column]) < 0.04 * long["se"]), column


@pytest.mark.parametrize("measure", SHORT, ids=[measure.name for measure in SHORT])
def test_the_short_way_is_not_taken_where_it_does_not_lead(measure: Measure) -> None:
    truth, score = np.array([0, 1, 0, 1]), np.array([0.1, 0.9, 0.4, 0.3])

    def taken(**options: object) -> bool:
        given = {"event": 1, "measures": [measure]} | options
        return assess(truth, score, **given).ranked.against_rest(1).untied(measure)  # type: ignore[arg-type]

    assert taken()
    assert not taken(weight=[1.0, 0.5, 2.0, 1.0])
    assert not taken(group=[0, 1, 1, 0])
    assert not assess(truth, score.round(), event=1, measures=[measure]).ranked.against_rest(1).untied(measure)


@pytest.mark.study
@pytest.mark.parametrize(
    ("rows", "decimals", "options"), in_pairs([30, 3_000, 70_000], [1, 17], [{}, {"weight": True}, {"group": True}])
)
def test_a_slot_for_itself_is_what_it_is_among_others(rows: int, decimals: int, options: dict[str, bool]) -> None:
    """Also where scores are negative."""
    random = np.random.default_rng(rows)
    truth, given = random.integers(0, 2, rows), {name: random.integers(1, 4, rows) for name in options}
    measures = ["auc", "average_precision", "partial_auc", "h_measure"]
    score = (random.random(rows) + 0.3 * truth).round(decimals)
    for said in (score, score - 0.7, -score):
        every = assess(truth, said, event=1, measures=measures, **given).table().to_json()  # type: ignore[arg-type]
        alone = assess(truth, said, event=1, measures=measures, **given)  # type: ignore[arg-type]
        for row in every:
            if row["class"] == 1 or (row["class"] is None and row["average"] is None):
                found = alone[row["measure"], 1]
                told = [found.value, found.low, found.high, found.se]
                assert_allclose(told, [row[name] for name in ("value", "low", "high", "se")], rtol=1e-9, atol=1e-12)

"""The short way to a measure, where no two scores are the same, ends where the long one does."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import assess
from steelyard.evaluating.masses import UNTIED
from steelyard.ranking.evaluation import Memory
from steelyard.registry import REGISTRY, Measure

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

"""Results can be handed to other processes, whatever was asked of them before."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from steelyard import Continuum, assess, compare

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.integers(0, 3, 200)
FORECASTS = RANDOM.dirichlet(np.ones(3), 200)
MEASURED = RANDOM.normal(size=200)


def again(result: Any) -> Any:
    return pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)


@pytest.mark.parametrize(
    "measures", [None, ["error"], ["log_score"], ["auc"], ["weighted_kappa"], ["partition_accuracy"]]
)
@pytest.mark.parametrize("groups", [None, np.arange(200) // 4])
def test_an_assessment_before_and_after_it_was_looked_at(measures: list[str] | None, groups: Any) -> None:
    result = assess(TRUTH, FORECASTS, group=groups, measures=measures)
    fresh = again(result)
    shown = str(result)
    result.table()
    assert str(fresh) == shown
    assert str(again(result)) == shown


def test_a_comparison_before_and_after_it_was_looked_at() -> None:
    result = compare(TRUTH, {"a": FORECASTS, "b": FORECASTS[:, ::-1]})
    fresh = again(result)
    shown, differences = str(result), result.differences()
    assert str(fresh) == shown
    assert again(result).differences().to_pylist() == differences.to_pylist()


def test_classes_from_a_continuum() -> None:
    scale = Continuum([0.0], classes=["low", "high"], sd=0.3)
    result = assess(MEASURED, np.where(MEASURED + RANDOM.normal(size=200) > 0, "high", "low"), scale=scale)
    shown = str(result)
    assert str(again(result)) == shown


def test_an_event_and_its_thresholds() -> None:
    result = assess(TRUTH == 0, FORECASTS[:, 0], event=True)
    found = result.best_threshold("f1")
    shown = str(result)
    assert str(again(result)) == shown
    assert again(result).best_threshold("f1").threshold == found.threshold
    assert again(found).threshold == found.threshold

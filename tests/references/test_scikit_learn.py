"""The same point values as scikit-learn, wherever it has them, on tables of many shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from steelyard import Scale, assess, find
from tests.cases_of import drawn

Pair = tuple[Any, Any]

OVERALL: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": metrics.accuracy_score,
    "error": metrics.zero_one_loss,
    "kappa": metrics.cohen_kappa_score,
    "mcc": metrics.matthews_corrcoef,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "weighted_kappa": lambda y, p: metrics.cohen_kappa_score(y, p, weights="linear"),
    "weighted_kappa(weights='quadratic')": lambda y, p: metrics.cohen_kappa_score(y, p, weights="quadratic"),
}
AVERAGED: dict[str, Callable[..., Any]] = {
    "sensitivity": metrics.recall_score,
    "precision": metrics.precision_score,
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
    "fbeta(beta=0.5)": lambda y, p, **options: metrics.fbeta_score(y, p, beta=0.5, **options),
}
SHAPES = [(2, 40, 1), (3, 200, 2), (5, 1000, 3), (12, 3000, 4)]


@pytest.fixture(params=SHAPES, ids=str)
def pair(request: pytest.FixtureRequest) -> Pair:
    classes, rows, seed = request.param
    return drawn(rows, classes, 0.6, seed)


@pytest.mark.parametrize("name", list(OVERALL))
def test_values_of_the_whole_table(pair: Pair, name: str) -> None:
    assert assess(*pair, measures=[name])[name].value == pytest.approx(OVERALL[name](*pair), abs=1e-12)


@pytest.mark.parametrize("name", list(AVERAGED))
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_averages_over_classes(pair: Pair, name: str, average: str) -> None:
    expected = AVERAGED[name](*pair, average=average)
    assert assess(*pair, measures=[name])[name, average].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", list(AVERAGED))
def test_values_of_classes_under_weights(pair: Pair, name: str) -> None:
    weight = np.random.default_rng(5).uniform(0.1, 3, len(pair[0]))
    found = assess(*pair, measures=[name], weight=weight)
    expected = AVERAGED[name](*pair, average=None, sample_weight=weight)
    assert [found[name, label].value for label in found.classes] == pytest.approx(list(expected), abs=1e-12)


def test_likelihood_ratios() -> None:
    truth, assigned = drawn(500, 2, 0.6, 9)
    found = assess(truth, assigned)
    positive, negative = metrics.class_likelihood_ratios(truth, assigned)
    assert found["lr_positive"].value == pytest.approx(positive)
    assert found["lr_negative"].value == pytest.approx(negative)
    assert found["diagnostic_odds_ratio"].value == pytest.approx(positive / negative)


def test_a_perfect_classifier_in_a_frame_is_perfect_whatever_the_order_of_its_columns() -> None:
    import pandas as pd

    truth = np.array(["low", "medium", "high"] * 4)
    frame = pd.DataFrame({label: (truth == label).astype(float) for label in ("low", "medium", "high")})
    for order in (["low", "medium", "high"], ["high", "low", "medium"], ["medium", "high", "low"]):
        assert assess(truth, frame[order])["accuracy"].value == 1
    measure = find("accuracy")
    assert assess(truth, frame, scale=Scale(["low", "medium", "high"]), measures=[measure])[measure].value == 1

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


# --- ranking --------------------------------------------------------------------------------------------------

Scored = tuple[Any, Any, Any]


@pytest.fixture(params=[(60, 1, 1), (500, 2, 9), (2000, 3, 2)], ids=str)
def scored(request: pytest.FixtureRequest) -> Scored:
    """True labels 0 and 1, a score with as many decimals, and weights."""
    rows, seed, decimals = request.param
    random = np.random.default_rng(seed)
    truth = (random.random(rows) < 0.3).astype(int)
    return truth, np.round(random.normal(size=rows) + truth, decimals), random.gamma(2.0, size=rows)


def of_event(truth: Any, score: Any, name: str, **options: Any) -> float:
    options = {"event": 1, "threshold": 0.0, "measures": [name], **options}
    return assess(truth, score, **options)[name].value


RANKED: dict[str, Callable[..., float]] = {
    "auc": metrics.roc_auc_score,
    "average_precision": metrics.average_precision_score,
}


@pytest.mark.parametrize("name", list(RANKED))
def test_ranking_of_a_score(scored: Scored, name: str) -> None:
    truth, score, weight = scored
    assert of_event(truth, score, name) == pytest.approx(RANKED[name](truth, score), abs=1e-12)
    weighted = RANKED[name](truth, score, sample_weight=weight)
    assert of_event(truth, score, name, weight=weight) == pytest.approx(weighted, abs=1e-12)


@pytest.mark.parametrize("most", [0.05, 0.1, 0.5, 1.0])
def test_partial_auc_up_to_a_false_positive_rate(scored: Scored, most: float) -> None:
    truth, score, weight = scored
    measure = find("partial_auc", specificity=(1 - most, 1.0))
    for weights in (None, weight):
        found = assess(truth, score, event=1, threshold=0.0, measures=[measure], weight=weights)[measure].value
        expected = metrics.roc_auc_score(truth, score, max_fpr=most, sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-9)


def memberships(rows: int, classes: int, seed: int) -> Pair:
    """True classes and a share for each, with ties."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, rows)
    parts = random.integers(1, 9, (rows, classes)) + 4 * np.eye(classes)[truth]
    return truth, parts / parts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize(("rows", "classes"), [(50, 3), (800, 5)])
def test_ranking_of_memberships(rows: int, classes: int, average: str) -> None:
    truth, shares = memberships(rows, classes, 4)
    weight = np.random.default_rng(6).gamma(2.0, size=rows)
    for weights in (None, weight):
        found = assess(truth, shares, measures=["auc", "average_precision"], weight=weights)
        given = {"average": average, "sample_weight": weights}
        expected = metrics.roc_auc_score(truth, shares, multi_class="ovr", **given)
        assert found["auc", average].value == pytest.approx(expected, abs=1e-12)
        expected = metrics.average_precision_score(np.eye(classes)[truth], shares, **given)
        assert found["average_precision", average].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("rows", "classes"), [(50, 3), (800, 5)])
def test_hand_till_is_one_class_against_another(rows: int, classes: int) -> None:
    truth, shares = memberships(rows, classes, 5)
    found = assess(truth, shares, measures=["hand_till_auc"])["hand_till_auc"].value
    expected = metrics.roc_auc_score(truth, shares, multi_class="ovo", average="macro")
    assert found == pytest.approx(expected, abs=1e-12)

"""Ten thousand problems: every value equals scikit-learn's, and that of a definition written down by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn import config_context, metrics

import steelyard as sy

from . import references
from .problems import Problem, alike, each, held, in_batches, numbers_held, problem, scores_of, shares_of, weights_of

OVERALL = [
    "accuracy", "error", "kappa", "weighted_kappa", "weighted_kappa(weights='quadratic')", "mcc", "balanced_accuracy",
    "g_mean",
]  # fmt: skip
OF_CLASSES = [
    "sensitivity", "specificity", "precision", "npv", "fpr", "fnr", "f1", "fbeta(beta=0.5)", "jaccard", "informedness",
    "prevalence", "detection_rate", "detection_prevalence",
]  # fmt: skip


def check_labels(found: sy.Assessment, one: Problem) -> None:
    """Hold all count measures of an assessment against the definitions."""
    table = references.confusion(one.truth, one.said, one.classes, one.weight)
    for name, expected in references.overall(table).items():
        alike(found[name].value, expected, name)
    for label, cells in zip(one.classes, references.counts(table), strict=True):
        for name, expected in references.of_a_class(*cells).items():
            alike(found[name, label].value, expected, (name, label))
    for name in OF_CLASSES:
        for average, expected in references.averages(table, name).items():
            alike(found[name, average].value, expected, (name, average))


def check_by_scikit_learn(found: sy.Assessment, one: Problem, turn: int) -> None:
    """Hold the same against scikit-learn, where both have a value: most of the time is its, so in turns."""
    order = {label: code for code, label in enumerate(one.classes)}
    truth, said = (np.array([order[label] for label in labels]) for labels in (one.truth, one.said))
    given: dict[str, Any] = {"sample_weight": one.weight}
    places = range(len(one.classes))
    if turn == 0:
        each_class = metrics.precision_recall_fscore_support(truth, said, labels=places, zero_division=np.nan, **given)
        for name, values in zip(("precision", "sensitivity", "f1"), each_class[:3], strict=True):
            for label, expected in zip(one.classes, values.tolist(), strict=True):
                alike(found[name, label].value, expected, (name, label))
        return
    others: list[tuple[str, Callable[[], float]]] = [
        ("accuracy", lambda: metrics.accuracy_score(truth, said, **given)),
        ("mcc", lambda: metrics.matthews_corrcoef(truth, said, **given)),
        ("kappa", lambda: metrics.cohen_kappa_score(truth, said, labels=places, **given)),
        (
            "weighted_kappa",
            lambda: metrics.cohen_kappa_score(truth, said, labels=places, weights="linear", **given),
        ),
        ("balanced_accuracy", lambda: metrics.balanced_accuracy_score(truth, said, **given)),
    ]
    name, theirs = others[turn - 1]
    if not math.isnan(found[name].value):
        alike(found[name].value, theirs(), name)


@in_batches(4_000)
def test_labels_in_whatever_holds_them(batch: int) -> None:
    with config_context(skip_parameter_validation=True):
        for random, told in each(batch, 1):
            with told:
                one = problem(random)
                given = one.options
                if one.weighted:
                    given["weight"] = numbers_held(random, one.weight)
                found = sy.assess(
                    held(random, one.truth), held(random, one.said), measures=OVERALL + OF_CLASSES, **given
                )
                assert list(found.classes) == one.classes
                check_labels(found, one)
                check_by_scikit_learn(found, one, int(random.integers(6)))


@in_batches(1_000)
def test_rows_with_gaps_are_left_out(batch: int) -> None:
    """Gaps in labels and weights: the values are those of the other rows."""
    for random, told in each(batch, 2):
        with told:
            one = problem(random)
            lost: Any = random.random((2, len(one.truth))) < 0.15
            truth, said = with_gaps(one.truth, lost[0]), with_gaps(one.said, lost[1])
            kept = [place for place, gone in enumerate(lost.any(axis=0).tolist()) if not gone]
            true, other = ({labels[k] for k in kept} for labels in (one.truth, one.said))
            if not kept or not (one.given or (len(true | other) == len(one.classes) and true & other)):
                continue
            some = Problem([one.truth[k] for k in kept], [one.said[k] for k in kept], one.weight[kept], one.weighted,
                           one.classes, one.given)  # fmt: skip
            holder = [objects_in_a_frame, in_polars, in_arrow][random.integers(3)]
            frame = holder({"y": truth, "m": said} | ({"w": one.weight} if one.weighted else {}))
            given = one.options | ({"weight": "w"} if one.weighted else {})
            found = sy.assess(frame, truth="y", assigned="m", missing="drop", measures=OVERALL + OF_CLASSES, **given)
            check_labels(found, some)
            if len(kept) < len(truth):
                assert any("left out" in note or "dropped" in note for note in found.notes) or found.tally.dropped
                try:
                    sy.assess(frame, truth="y", assigned="m", **given)
                except sy.errors.MissingValues:
                    continue
                raise AssertionError("gaps were passed over in silence")


def with_gaps(labels: list[Any], gaps: Any) -> list[Any]:
    return [None if gone else label for label, gone in zip(labels, gaps.tolist(), strict=True)]


def objects_in_a_frame(columns: dict[str, Any]) -> Any:
    return pd.DataFrame(
        {name: pd.Series(values, dtype=object if name != "w" else float) for name, values in columns.items()}
    )


def in_polars(columns: dict[str, Any]) -> Any:
    return pl.DataFrame(columns)


def in_arrow(columns: dict[str, Any]) -> Any:
    return pa.table(columns)


@in_batches(3_000)
def test_scores_of_an_event(batch: int) -> None:
    """Ranking by pairs and by scikit-learn, with ties and weights; on any scale, and probabilities."""
    with config_context(skip_parameter_validation=True):
        for random, told in each(batch, 3):
            with told:
                check_scores(random)


def check_scores(random: np.random.Generator) -> None:
    rows = int(random.integers(6, 120))
    truth = (random.random(rows) < random.choice([0.1, 0.3, 0.5, 0.9])).astype(int)
    truth[:2] = 0, 1
    probability = bool(random.integers(2))
    score = scores_of(random, truth, probability)
    weight, weighted = weights_of(random, rows)
    own = truth == 1
    kinds: list[list[Any]] = [["no", "yes"], [0, 1], [False, True], [3, 7]]
    words = kinds[random.integers(4)]
    labels = [words[code] for code in truth.tolist()]
    threshold = float(np.sort(score)[rows // 2])
    measures = ["auc", "average_precision", "partial_auc", "sensitivity", "specificity", "accuracy"]
    measures += ["brier", "log_score(clip=0.01)", "net_benefit(at=0.3)"] if probability else []
    given: dict[str, Any] = {"weight": numbers_held(random, weight)} if weighted else {}
    found = sy.assess(held(random, labels), numbers_held(random, score), event=words[1], threshold=threshold,
                      measures=measures, **given)  # fmt: skip
    alike(found["auc"].value, references.auc(own, score, weight), "auc")
    alike(found["auc"].value, metrics.roc_auc_score(truth, score, sample_weight=weight), "auc")
    alike(found["average_precision"].value, references.average_precision(own, score, weight), "average precision")
    expected = metrics.average_precision_score(truth, score, sample_weight=weight)
    alike(found["average_precision"].value, expected, "average precision")
    alike(found["partial_auc"].value, references.partial_auc(own, score, weight, 0.1), "partial auc")
    reached = score >= threshold
    alike(found["sensitivity"].value, weight[own & reached].sum() / weight[own].sum(), "sensitivity")
    alike(found["specificity"].value, weight[~own & ~reached].sum() / weight[~own].sum(), "specificity")
    alike(found["accuracy"].value, weight[own == reached].sum() / weight.sum(), "accuracy")
    if probability:
        alike(found["brier"].value, references.brier(own, score, weight), "brier")
        alike(found["brier"].value, metrics.brier_score_loss(truth, score, sample_weight=weight), "brier")
        alike(found["net_benefit(at=0.3)"].value, references.net_benefit(own, score, weight, 0.3), "net benefit")
        true_class = np.where(own, score, 1 - score)
        mean = (weight * -np.log(np.maximum(true_class, 0.01))).sum() / weight.sum()
        alike(found["log_score(clip=0.01)"].value, mean, "log score")


@in_batches(1_000)
def test_probabilities_of_all_classes(batch: int) -> None:
    with config_context(skip_parameter_validation=True):
        for random, told in each(batch, 4):
            with told:
                check_memberships(random)


def check_memberships(random: np.random.Generator) -> None:
    size = int(random.integers(3, 6))
    rows = int(random.integers(2 * size, 100))
    truth = np.concatenate([np.arange(size), random.integers(0, size, rows - size)])
    shares, (weight, weighted) = shares_of(random, truth, size), weights_of(random, rows)
    words = sorted(f"class {place}" for place in range(size)) if random.integers(2) else list(range(size))
    labels = held(random, [words[code] for code in truth.tolist()])
    order = random.permutation(size).tolist()
    named = {words[k]: shares[:, k] for k in order}
    said = [shares, pd.DataFrame(named), named, pl.DataFrame({str(k): v for k, v in named.items()})][
        random.integers(4 if isinstance(words[0], str) else 3)
    ]
    measures = ["auc", "average_precision", "brier", "log_score", "log_score(clip=0.01)", "brier_multiclass",
                "spherical_score", "ranked_probability_score", "zero_one_score", "top_k_accuracy",
                "top_k_accuracy(k=1)"]  # fmt: skip
    given: dict[str, Any] = {"weight": numbers_held(random, weight)} if weighted else {}
    found = sy.assess(labels, said, measures=measures + ([] if weighted else ["hand_till_auc"]), **given)
    for name, expected in references.of_forecasts(truth, shares, weight).items():
        alike(found[name].value, expected, name)
    alike(found["log_score"].value, metrics.log_loss(truth, shares, sample_weight=weight), "log score")
    for k, label in enumerate(words):
        own = truth == k
        alike(found["auc", label].value, references.auc(own, shares[:, k], weight), ("auc", label))
        expected = references.average_precision(own, shares[:, k], weight)
        alike(found["average_precision", label].value, expected, ("average precision", label))
        alike(found["brier", label].value, references.brier(own, shares[:, k], weight), ("brier", label))
    average = ["macro", "weighted"][random.integers(2)]
    if random.integers(2):
        expected = metrics.roc_auc_score(truth, shares, multi_class="ovr", average=average, sample_weight=weight)
        alike(found["auc", average].value, expected, average)
    else:
        expected = metrics.average_precision_score(np.eye(size)[truth], shares, average=average, sample_weight=weight)
        alike(found["average_precision", average].value, expected, average)
    if not weighted:
        alike(found["hand_till_auc"].value, references.hand_till(truth, shares), "Hand-Till")
    ranks = np.sort(shares, axis=1)
    if (np.diff(ranks, axis=1) > 0).all():
        for name, k in (("top_k_accuracy", 2), ("top_k_accuracy(k=1)", 1)):
            alike(found[name].value, metrics.top_k_accuracy_score(truth, shares, k=k, sample_weight=weight), name)

"""What is measured: steelyard, and the libraries that people use for the same job.

A contestant gets a sample and hands back the call to be timed, with everything outside of the job done before:
imports, conversion into the form that it likes best, and whatever it can keep from one call to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import steelyard

from .samples import Sample
from .timing import Call, Unfit

Contestant = Callable[[Sample], Call]

OURS = "steelyard"
AVERAGES = (None, "macro", "weighted", "micro")


def load(module: str) -> Any:
    """Import a library that need not be there."""
    try:
        return import_module(module)
    except ImportError:
        raise Unfit("not installed") from None


def _integers_only(sample: Sample) -> None:
    if sample.kind != "integers":
        raise Unfit("integers only")


# --- steelyard ------------------------------------------------------------------------------------------------


def assess_arrays(sample: Sample) -> Call:
    """All default measures with intervals, from NumPy arrays."""
    truth, assigned = sample.truth, sample.assigned
    return lambda: steelyard.assess(truth, assigned).table()


def assess_pandas(sample: Sample) -> Call:
    """The same from pandas columns."""
    pandas = load("pandas")
    truth, assigned = pandas.Series(sample.truth), pandas.Series(sample.assigned)
    return lambda: steelyard.assess(truth, assigned).table()


def assess_arrow(sample: Sample) -> Call:
    """The same from Arrow columns."""
    arrow = load("pyarrow")
    truth, assigned = arrow.array(sample.truth), arrow.array(sample.assigned)
    return lambda: steelyard.assess(truth, assigned).table()


# --- scikit-learn ---------------------------------------------------------------------------------------------


def sklearn_points(sample: Sample) -> Call:
    """The same values one by one, without intervals."""
    metrics = load("sklearn.metrics")
    return partial(sklearn_values, metrics, sample.truth, sample.assigned, two_classes=sample.classes == 2)


def sklearn_values(metrics: Any, truth: Any, assigned: Any, *, two_classes: bool) -> list[Any]:
    """Every value that scikit-learn has a function for, or that follows from its 2x2 tables in one line."""
    found: list[Any] = [
        metrics.accuracy_score(truth, assigned),
        metrics.balanced_accuracy_score(truth, assigned),
        metrics.cohen_kappa_score(truth, assigned),
        metrics.cohen_kappa_score(truth, assigned, weights="linear"),
        metrics.matthews_corrcoef(truth, assigned),
        metrics.confusion_matrix(truth, assigned),
    ]
    options: dict[str, Any] = {"zero_division": 0}
    for average in AVERAGES:
        found.append(metrics.precision_recall_fscore_support(truth, assigned, average=average, **options))
    for average in AVERAGES[:2]:
        found.append(metrics.fbeta_score(truth, assigned, beta=2.0, average=average, **options))
        found.append(metrics.jaccard_score(truth, assigned, average=average, **options))
    if two_classes:
        found.append(metrics.class_likelihood_ratios(truth, assigned))
    return [*found, *_rates(metrics.multilabel_confusion_matrix(truth, assigned))]


def _rates(tables: Any) -> list[Any]:
    """Specificity, NPV, FPR and FNR of each class."""
    tn, fp, fn, tp = tables.reshape(-1, 4).T
    with np.errstate(divide="ignore", invalid="ignore"):
        return [tn / (tn + fp), tn / (tn + fn), fp / (fp + tn), fn / (fn + tp)]


# --- others ---------------------------------------------------------------------------------------------------


def pycm_matrix(sample: Sample) -> Call:
    """What PyCM computes when its matrix is built: many values, two intervals."""
    return partial(load("pycm").ConfusionMatrix, sample.truth, sample.assigned)


def analytic_intervals(sample: Sample) -> Call:
    """The analytic intervals of confidenceinterval: accuracy, and precision, recall and F1, micro and macro."""
    _integers_only(sample)
    library = load("confidenceinterval")
    scores = [library.precision_score, library.recall_score, library.f1_score]
    calls = [library.accuracy_score, *(partial(score, average=each) for score in scores for each in ("micro", "macro"))]
    if sample.classes == 2:
        calls += [library.ppv_score, library.npv_score, library.tpr_score, library.fpr_score, library.tnr_score]
    truth, assigned = sample.truth, sample.assigned
    return lambda: [call(truth, assigned) for call in calls]


def bootstrap_intervals(sample: Sample, replicates: int) -> Call:
    """The percentile bootstrap of confidenceinterval, for accuracy and macro F1 alone."""
    library = load("confidenceinterval")
    options = {"method": "bootstrap_percentile", "n_resamples": replicates, "random_state": 0}
    truth, assigned = sample.truth, sample.assigned
    return lambda: [
        library.accuracy_score(truth, assigned, **options),
        library.f1_score(truth, assigned, average="macro", **options),
    ]


def torchmetrics_collection(sample: Sample) -> Call:
    """A collection of torchmetrics on tensors, values by class, without intervals."""
    torch = load("torch")
    _integers_only(sample)
    collection = _collection(sample.classes)
    truth, assigned = torch.from_numpy(sample.truth), torch.from_numpy(sample.assigned)
    # Which metrics can share their sums is found out at the first update, and kept.
    collection.update(assigned[:100], truth[:100])

    def call() -> Any:
        collection.reset()
        collection.update(assigned, truth)
        return collection.compute()

    return call


def _collection(classes: int) -> Any:
    library = load("torchmetrics.classification")
    by_class = ("Accuracy", "F1Score", "Precision", "Recall", "Specificity", "JaccardIndex")
    whole = ("CohenKappa", "MatthewsCorrCoef", "ConfusionMatrix")
    metrics = [getattr(library, f"Multiclass{name}")(num_classes=classes, average="none") for name in by_class]
    metrics += [getattr(library, f"Multiclass{name}")(num_classes=classes) for name in whole]
    return load("torchmetrics").MetricCollection(metrics)


def repeated(contestant: Contestant, times: int) -> Contestant:
    """The same job on so many samples: what a bootstrap takes of whoever has values alone, drawing rows not counted."""

    def prepared(sample: Sample) -> Call:
        calls = [contestant(replace(sample, seed=seed)) for seed in range(1, times + 1)]
        return lambda: [call() for call in calls]

    return prepared


# --- two classifiers ------------------------------------------------------------------------------------------


def compare_arrays(sample: Sample) -> Call:
    """Paired differences of two classifiers with intervals and tests."""
    truth, predictions = sample.truth, {"a": sample.assigned, "b": sample.rival}
    return lambda: steelyard.compare(truth, predictions).differences()


def sklearn_twice(sample: Sample) -> Call:
    """The values of both classifiers from scikit-learn, from which no test follows."""
    two_classes = sample.classes == 2
    values = partial(sklearn_values, load("sklearn.metrics"), sample.truth, two_classes=two_classes)
    assigned, rival = sample.assigned, sample.rival
    return lambda: [values(assigned), values(rival)]


# --- scores ---------------------------------------------------------------------------------------------------


def assess_auc(sample: Sample) -> Call:
    """AUC of the event with its interval."""
    truth, score = sample.truth, sample.score
    return lambda: steelyard.assess(truth, score, event=1, measures=["auc"])["auc"]


def sklearn_auc(sample: Sample) -> Call:
    """AUC alone, without an interval."""
    return partial(load("sklearn.metrics").roc_auc_score, sample.truth, sample.score)


def delong_interval(sample: Sample) -> Call:
    """AUC with the DeLong interval of confidenceinterval."""
    return partial(load("confidenceinterval").roc_auc_score, sample.truth, sample.score, method="delong")


def assess_one_against_rest(sample: Sample) -> Call:
    """AUC of each class against the rest, averaged, with its interval."""
    truth, memberships = sample.truth, sample.memberships
    return lambda: steelyard.assess(truth, memberships, measures=["auc"])["auc"]


def sklearn_one_against_rest(sample: Sample) -> Call:
    """The same average without an interval."""
    return partial(load("sklearn.metrics").roc_auc_score, sample.truth, sample.memberships, multi_class="ovr")


def assess_thresholds(sample: Sample) -> Call:
    """F1 with its interval at every threshold, from the arrays on."""
    truth, score = sample.truth, sample.score
    return lambda: steelyard.assess(truth, score, event=1).thresholds(["f1"])


def sklearn_thresholds(sample: Sample, levels: int) -> Call:
    """F1 without intervals at so many thresholds: as many different scores are left of the sample's."""
    metrics = load("sklearn.metrics")
    if not hasattr(metrics, "metric_at_thresholds"):
        raise Unfit("needs scikit-learn 1.9")
    ranks = sample.score.argsort().argsort()
    return partial(metrics.metric_at_thresholds, sample.truth, ranks * levels // sample.rows, metrics.f1_score)


def assess_auc_bootstrap(sample: Sample, replicates: int) -> Call:
    """AUC with the BCa interval of the bootstrap."""
    truth, score = sample.truth, sample.score
    options: Any = {"event": 1, "measures": ["auc"], "method": "bootstrap", "replicates": replicates}
    return lambda: steelyard.assess(truth, score, **options)["auc"]


def auc_bootstrap_interval(sample: Sample, replicates: int) -> Call:
    """AUC with the percentile interval of confidenceinterval's bootstrap."""
    options = {"method": "bootstrap_percentile", "n_resamples": replicates, "random_state": 0}
    return partial(load("confidenceinterval").roc_auc_score, sample.truth, sample.score, **options)


def assess_memberships(sample: Sample) -> Call:
    """All default measures of counts and of scores with intervals, from memberships."""
    truth, memberships = sample.truth, sample.memberships
    return lambda: steelyard.assess(truth, memberships).table()


def sklearn_memberships(sample: Sample) -> Call:
    """Values of counts, of ranking and of forecasts, one by one, without intervals."""
    metrics = load("sklearn.metrics")
    truth, memberships = sample.truth, sample.memberships
    of_counts = ("confusion_matrix", "precision_recall_fscore_support", "cohen_kappa_score", "matthews_corrcoef")

    def call() -> list[Any]:
        assigned = memberships.argmax(axis=1)
        return [
            *[getattr(metrics, name)(truth, assigned) for name in of_counts],
            metrics.log_loss(truth, memberships),
            metrics.brier_score_loss(truth, memberships),
            metrics.roc_auc_score(truth, memberships, multi_class="ovr"),
        ]

    return call


def assess_forecasts(sample: Sample) -> Call:
    """Log score and Brier score of an event, with intervals."""
    truth, score = sample.truth, sample.score
    measures = ["log_score", "brier"]

    def call() -> list[Any]:
        result = steelyard.assess(truth, score, event=1, measures=measures)
        return [result[name] for name in measures]

    return call


def sklearn_forecasts(sample: Sample) -> Call:
    """Both values alone."""
    metrics = load("sklearn.metrics")
    truth, score = sample.truth, sample.score
    return lambda: [metrics.log_loss(truth, score), metrics.brier_score_loss(truth, score)]


def compare_auc(sample: Sample) -> Call:
    """The paired difference of two AUCs with interval and test."""
    truth, predictions = sample.truth, {"a": sample.score, "b": sample.rival_score}
    return lambda: steelyard.compare(truth, predictions, event=1, measures=["auc"]).differences("auc")


def sklearn_auc_twice(sample: Sample) -> Call:
    """Both AUCs from scikit-learn, from which no test follows."""
    auc = partial(load("sklearn.metrics").roc_auc_score, sample.truth)
    score, rival = sample.score, sample.rival_score
    return lambda: [auc(score), auc(rival)]


PEERS: dict[str, Contestant] = {
    "scikit-learn": sklearn_points,
    "PyCM": pycm_matrix,
    "confidenceinterval": analytic_intervals,
    "torchmetrics": torchmetrics_collection,
}

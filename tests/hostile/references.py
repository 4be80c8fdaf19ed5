"""Measures written down from their definitions, one row or one pair at a time: slow, plain, and nothing of the library.

Labels are those of the problem; ``weight`` has one number a row. A share of nothing is NaN, what is infinite is inf.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Labels = Sequence[Any]
Numbers = Any  # an array of floats


def ratio(part: float, whole: float) -> float:
    """Divide as limits do: something by nothing is infinite, nothing by nothing has no value."""
    if whole == 0:
        return math.nan if part == 0 else math.copysign(math.inf, part)
    return part / whole


def confusion(truth: Labels, said: Labels, classes: Labels, weight: Numbers) -> Numbers:
    """The mass of each pair of true and predicted class."""
    place = {label: number for number, label in enumerate(classes)}
    table = np.zeros((len(classes), len(classes)))
    for true, other, mass in zip(truth, said, weight, strict=True):
        table[place[true], place[other]] += mass
    return table


def overall(table: Numbers) -> dict[str, float]:
    """Measures of the whole table."""
    total, size = table.sum(), len(table)
    true, said, right = table.sum(axis=1), table.sum(axis=0), np.trace(table)
    expected = np.outer(true, said) / total
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    # Gorodkin's correlation as what it is: covariances of indicators, summed over the classes.
    share_true, share_said = true / total, said / total
    together = sum(table[k, k] / total - share_true[k] * share_said[k] for k in range(size))
    spreads = [sum(share * (1 - share) for share in shares) for shares in (share_true, share_said)]
    one = (true > 0).sum() == 1 or (said > 0).sum() == 1
    recalls = [ratio(table[k, k], true[k]) for k in range(size)]
    same = bool((np.count_nonzero(expected) == 1) and np.trace(expected) > 0)
    return {
        "accuracy": right / total,
        "error": (total - right) / total,
        "kappa": math.nan if same else ratio(right - np.trace(expected), total - np.trace(expected)),
        "weighted_kappa": math.nan if same else 1 - (steps * table).sum() / (steps * expected).sum(),
        "weighted_kappa(weights='quadratic')": (
            math.nan if same else 1 - (steps**2 * table).sum() / (steps**2 * expected).sum()
        ),
        "mcc": math.nan if one else together / math.sqrt(spreads[0] * spreads[1]),
        "balanced_accuracy": float(np.mean(recalls)),
        "g_mean": math.prod(recalls) ** (1 / size),
    }


def of_a_class(tp: float, fn: float, fp: float, tn: float) -> dict[str, float]:
    """Measures of one class against the rest."""
    total = tp + fn + fp + tn
    sensitivity, specificity = ratio(tp, tp + fn), ratio(tn, tn + fp)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "precision": ratio(tp, tp + fp),
        "npv": ratio(tn, tn + fn),
        "fpr": ratio(fp, fp + tn),
        "fnr": ratio(fn, fn + tp),
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "fbeta(beta=0.5)": ratio(1.25 * tp, 1.25 * tp + 0.25 * fn + fp),
        "jaccard": ratio(tp, tp + fn + fp),
        "informedness": sensitivity + specificity - 1,
        "prevalence": ratio(tp + fn, total),
        "detection_rate": ratio(tp, total),
        "detection_prevalence": ratio(tp + fp, total),
    }


def counts(table: Numbers) -> list[tuple[float, float, float, float]]:
    """True positives, false negatives, false positives and true negatives of each class."""
    total = table.sum()
    found = []
    for k in range(len(table)):
        tp, of_it, said = table[k, k], table[k].sum(), table[:, k].sum()
        rest = np.delete(np.delete(table, k, axis=0), k, axis=1).sum()
        found.append((tp, np.delete(table[k], k).sum(), np.delete(table[:, k], k).sum(), rest))
        assert math.isclose(tp + rest + of_it - tp + said - tp, total, rel_tol=1e-9)
    return found


def averages(table: Numbers, name: str) -> dict[str, float]:
    """Macro and weighted averages over the classes that have a value, and the micro average of the pooled counts."""
    each = counts(table)
    values = [of_a_class(*cells)[name] for cells in each]
    defined = [k for k, value in enumerate(values) if not math.isnan(value)]
    masses = table.sum(axis=1)
    pooled = of_a_class(*(sum(cells[j] for cells in each) for j in range(4)))
    return {
        "macro": float(np.mean([values[k] for k in defined])) if defined else math.nan,
        "weighted": ratio(sum(masses[k] * values[k] for k in defined), sum(masses[k] for k in defined)),
        "micro": pooled[name],
    }


def auc(own: Numbers, score: Numbers, weight: Numbers) -> float:
    """The share of pairs of a row of the class and one of the rest that are in order; a tie is half a pair."""
    above = score[own][:, None] - score[~own][None, :]
    mass = weight[own][:, None] * weight[~own][None, :]
    return ratio(float((mass * ((above > 0) + 0.5 * (above == 0))).sum()), float(mass.sum()))


def average_precision(own: Numbers, score: Numbers, weight: Numbers) -> float:
    """Precision at each threshold, weighted by the step of the sensitivity there."""
    total, before, value = weight[own].sum(), 0.0, 0.0
    if total == 0 or weight[~own].sum() == 0:
        return math.nan
    for threshold in sorted(set(score.tolist()), reverse=True):
        reached = score >= threshold
        hits = weight[own & reached].sum()
        if weight[reached].sum() > 0:
            value += (hits - before) / total * hits / weight[reached].sum()
        before = hits
    return float(value)


def partial_auc(own: Numbers, score: Numbers, weight: Numbers, most: float) -> float:
    """The area under the ROC curve up to a false positive rate, rescaled by McClish; trapezoid by trapezoid."""
    points = [(0.0, 0.0)]
    for threshold in sorted(set(score.tolist()), reverse=True):
        reached = score >= threshold
        points.append(
            (weight[~own & reached].sum() / weight[~own].sum(), weight[own & reached].sum() / weight[own].sum())
        )
    area = 0.0
    for (left, down), (right, up) in itertools.pairwise(points):
        if left < most and right > left:
            end = min(right, most)
            at_end = down + (up - down) * (end - left) / (right - left)
            area += (end - left) * (down + at_end) / 2
    least = most**2 / 2
    return 0.5 * (1 + (area - least) / (most - least))


def hand_till(truth: Numbers, shares: Numbers) -> float:
    """The AUC of each class against each other one, averaged over all ordered pairs."""
    classes = range(shares.shape[1])
    found = []
    for k in classes:
        for other in classes:
            if k != other:
                rows = (truth == k) | (truth == other)
                found.append(auc(truth[rows] == k, shares[rows, k], np.ones(rows.sum())))
    return float(np.mean(found))


def of_forecasts(truth: Numbers, shares: Numbers, weight: Numbers) -> dict[str, float]:
    """Scores of probabilities over all classes, row by row."""
    rows: dict[str, list[float]] = {
        name: []
        for name in (
            "log_score", "log_score(clip=0.01)", "brier_multiclass", "spherical_score", "ranked_probability_score",
            "zero_one_score", "top_k_accuracy", "top_k_accuracy(k=1)",
        )
    }  # fmt: skip
    for true, row in zip(truth.tolist(), shares.tolist(), strict=True):
        own, happened = row[true], [float(k == true) for k in range(len(row))]
        rows["log_score"].append(-math.log(own) if own > 0 else math.inf)
        rows["log_score(clip=0.01)"].append(-math.log(max(own, 0.01)))
        rows["brier_multiclass"].append(sum((p - y) ** 2 for p, y in zip(row, happened, strict=True)))
        rows["spherical_score"].append(own / math.sqrt(sum(p * p for p in row)))
        steps = [sum(row[: k + 1]) - sum(happened[: k + 1]) for k in range(len(row) - 1)]
        rows["ranked_probability_score"].append(sum(step**2 for step in steps))
        ahead, beside = sum(p > own for p in row), sum(p == own for p in row)
        rows["zero_one_score"].append(1 - (ahead == 0) / beside)
        for name, k in (("top_k_accuracy", 2), ("top_k_accuracy(k=1)", 1)):
            rows[name].append(min(max((k - ahead) / beside, 0.0), 1.0))
    return {
        name: math.fsum(map(math.prod, zip(values, weight, strict=True))) / weight.sum()
        for name, values in rows.items()
    }


def brier(own: Numbers, chance: Numbers, weight: Numbers) -> float:
    """The mean squared distance of the probability of a class from 1 or 0."""
    return float((weight * (chance - own) ** 2).sum() / weight.sum())


def net_benefit(own: Numbers, chance: Numbers, weight: Numbers, at: float) -> float:
    """True positives less false positives at the odds of a threshold, per row."""
    reached = chance >= at
    return float((weight[own & reached].sum() - weight[~own & reached].sum() * at / (1 - at)) / weight.sum())

"""Measures made of counts: how often each true class was assigned to each class.

For a class against the rest: ``tp`` true positives, ``fn`` false negatives, ``fp`` false positives, ``tn`` true
negatives. For the whole table: ``correct`` its diagonal, ``true`` its row sums, ``assigned`` its column sums,
``total`` all rows. See ``registry.py`` for what a formula may ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import as_floats
from ..core.errors import BadCosts, BadOption, quoted
from ..core.scale import Scale
from ..states.statistics import MOST_LAID_OUT, Distances
from .registry import LECTURE, MEVIK, ROSS, SONDHAUSS, UNBOUNDED, called, measure, proportion

if TYPE_CHECKING:
    from ..core.typing import Array

Sum = Any  # one sum or an array of them, real or complex

ALTMAN = "Altman & Bland (1994), BMJ 309, 102"
KUHN = "Kuhn (2008), J. Statistical Software 28(5), 1-26"
POWERS = "Powers (2011), J. Machine Learning Technologies 2(1), 37-63"
AT_LEAST_ZERO = (0.0, float("inf"))
PMC = (
    "the share of errors against the labels (erc), which estimates the probability of misclassification; other "
    "estimates, of labels cut from measured values, are adjusted_error (erc_a), smoothed_error (pmc_hat), guarded_error"
)


@proportion(
    better="lower", undefined="there are no rows", cite=LECTURE,
    aliases=("hamming_loss", "apparent_error"), title="error",
    terms={
        **called(LECTURE, "misclassification rate", "test error", at="lecture"),
        **called(ROSS, "error rate", at="lecture"),
        **called(MEVIK, "pmc", "probability of misclassification", at="(2)"),
        **called(MEVIK, "erc", "apparent error count", at="(23)"),
        **called(MEVIK, "err", at="section 6"),
        **called("", "expected error rate"),
    },
    cautions={
        "expected_error_rate": "the share of errors on these rows, an estimate if they had no part in fitting",
        "test_error": "the share of errors on these rows, which must have had no part in fitting",
        **dict.fromkeys(("pmc", "probability_of_misclassification"), PMC),
    },
)  # fmt: skip
def error(correct: Sum, total: Sum) -> tuple[Sum, Sum]:
    """Share of rows assigned to a wrong class: 1 - correct / total."""
    return total - correct.sum(axis=-1), total


@proportion(
    better="higher", undefined="there are no rows", cite=LECTURE,
    aliases=("acc", "classification_rate", "correct_classification_rate"),
    terms=called(SONDHAUSS, "CR", "correctness rate", at="section 3")
    | called(SONDHAUSS, "expected rate of correct classifications", at="summary"),
    cautions={
        "expected_rate_of_correct_classifications": "the share of right assignments on these rows, an estimate if they "
        "had no part in fitting",
    },
)  # fmt: skip
def accuracy(correct: Sum, total: Sum) -> tuple[Sum, Sum]:
    """Share of rows assigned to their true class: correct / total."""
    return correct.sum(axis=-1), total


@measure(
    better="higher", span=(-1.0, 1.0), chance=0.0, undefined="truth and assignment are the same one class",
    cite="Cohen (1960), Educational and Psychological Measurement 20(1), 37-46", aliases=("cohen_kappa",), title="kappa"
)  # fmt: skip
def kappa(correct: Sum, true: Sum, assigned: Sum, total: Sum) -> Sum:
    """Agreement beyond chance: (O - E) / (1 - E), O = accuracy, E = sum(true * assigned) / total^2."""
    by_chance = (true * assigned).sum(axis=-1)
    return (correct.sum(axis=-1) * total - by_chance) / (total**2 - by_chance)


@lru_cache(maxsize=16)
def _steps_between(classes: int) -> Array:
    """By how many places two classes are apart."""
    places = np.arange(classes, dtype=float)
    steps: Array = np.abs(places[:, None] - places)
    steps.setflags(write=False)
    return steps


def distance_weights(scale: Scale, weights: Any = "linear") -> Any:
    """How far apart two classes are: by place (linear), by its square, or by a matrix of the user's."""
    if isinstance(weights, str):
        if weights not in ("linear", "quadratic"):
            raise BadOption(f"weights is {quoted(weights)}", mend="Say 'linear', 'quadratic' or give a matrix")
        if len(scale) > MOST_LAID_OUT:
            return Distances(len(scale), 1 if weights == "linear" else 2)
        steps = _steps_between(len(scale))
        return steps if weights == "linear" else steps**2
    return cost_matrix(scale, weights)


@measure(
    better="higher", span=(-1.0, 1.0), chance=0.0, undefined="truth and assignment are the same one class",
    cite="Cohen (1968), Psychological Bulletin 70(4), 213-220", penalty=distance_weights,
)  # fmt: skip
def weighted_kappa(penalty: Sum, matrix: Sum, true: Sum, assigned: Sum, total: Sum, *, weights: Any = "linear") -> Sum:
    """Agreement beyond chance for ordered classes: 1 - sum(d * N) / sum(d * expected N), d the distance."""
    del weights  # they made the matrix
    # Whichever has fewer numbers goes through the matrix, which matters for a hundred classes.
    if np.size(true) <= np.size(assigned):
        expected = (true @ matrix * assigned).sum(axis=-1) / total
    else:
        expected = (true * (assigned @ matrix.T)).sum(axis=-1) / total
    return 1 - penalty / expected


@measure(
    better="higher", span=(-1.0, 1.0), chance=0.0,
    undefined="only one class is true, or only one is assigned", title="MCC",
    cite="Gorodkin (2004), Computational Biology and Chemistry 28, 367-374",
    aliases=("matthews_correlation", "matthews_corrcoef", "phi_coefficient"),
)  # fmt: skip
def mcc(correct: Sum, true: Sum, assigned: Sum, total: Sum) -> Sum:
    """Correlation of true and assigned class: (O n^2 - E n^2) / sqrt((n^2 - sum true^2) (n^2 - sum assigned^2)).

    O and E as in kappa, n the number of rows; Matthews' for two classes, Gorodkin's R_K for more.
    """
    together = correct.sum(axis=-1) * total - (true * assigned).sum(axis=-1)
    # By a total of its own: added up in another order, weights leave some rounding where one class has all of them.
    of_true, of_assigned = (np.square(sums.sum(axis=-1)) - np.square(sums).sum(axis=-1) for sums in (true, assigned))
    spread = of_true * of_assigned
    return np.where(spread == 0, np.nan, together / np.sqrt(spread))


@measure(
    better="higher", chance="1/C", undefined="a class never occurs",
    cite="Brodersen et al. (2010), ICPR, 3121-3124",
)  # fmt: skip
def balanced_accuracy(correct: Sum, true: Sum) -> Sum:
    """Mean of the classes' sensitivities: mean(correct / true)."""
    return (correct / true).sum(axis=-1) / correct.shape[-1]


@measure(
    better="higher", undefined="a class never occurs", title="G-mean",
    cite="Kubat & Matwin (1997), ICML, 179-186; Sun et al. (2006), ICDM, 592-602",
)  # fmt: skip
def g_mean(correct: Sum, true: Sum) -> Sum:
    """Geometric mean of the classes' sensitivities: prod(correct / true)^(1 / C)."""
    return (correct / true).prod(axis=-1) ** (1 / correct.shape[-1])


@proportion(
    better="higher", undefined="class {class} never occurs", cite=LECTURE,
    aliases=("tpr", "true_positive_rate", "tp_rate", "true_pos_rate", "sens"),
    terms=called(LECTURE, "recall", "power", at="lecture"),
    cautions={"hit_rate": "the share of the rows of a class that are assigned to it; elsewhere it can be the accuracy"},
)  # fmt: skip
def sensitivity(tp: Sum, fn: Sum) -> tuple[Sum, Sum]:
    """Share of the rows of a class that are assigned to it: TP / (TP + FN)."""
    return tp, tp + fn


@proportion(
    better="higher", undefined="no row is of another class than {class}", cite=LECTURE,
    aliases=("tnr", "true_negative_rate", "tn_rate", "true_neg_rate", "selectivity", "spec"),
)  # fmt: skip
def specificity(fp: Sum, tn: Sum) -> tuple[Sum, Sum]:
    """Share of the rows of other classes that are not assigned to the class: TN / (TN + FP)."""
    return tn, tn + fp


def _at_prevalence(right: Sum, wrong: Sum, prevalence: Any) -> Sum:
    """Bayes: predictive value from two rates and a prevalence that need not be the sample's."""
    return right * prevalence / (right * prevalence + wrong * (1 - prevalence))


@proportion(
    better="higher", undefined="class {class} is never assigned", cite=LECTURE,
    aliases=("ppv", "positive_predictive_value", "pos_pred_value"),
    terms=called(SONDHAUSS, "CR 1", at="figure 1"), with_class=("cr", "correctness_rate"),
)  # fmt: skip
def precision(tp: Sum, fp: Sum) -> tuple[Sum, Sum]:
    """Share of the rows assigned to a class that are of it: TP / (TP + FP)."""
    return tp, tp + fp


@proportion(
    better="higher", undefined="every row is assigned to class {class}", title="NPV", cite=ALTMAN,
    aliases=("negative_predictive_value", "neg_pred_value"),
)  # fmt: skip
def npv(fn: Sum, tn: Sum) -> tuple[Sum, Sum]:
    """Share of the rows not assigned to a class that are not of it: TN / (TN + FN)."""
    return tn, tn + fn


@proportion(
    better="lower", undefined="every row is assigned to class {class}", cite=ALTMAN, special=True,
)  # fmt: skip
def false_omission_rate(fn: Sum, tn: Sum) -> tuple[Sum, Sum]:
    """Share of the rows not assigned to a class that are of it, 1 - NPV: FN / (FN + TN)."""
    return fn, fn + tn


@measure(
    better="higher", undefined="a class never occurs, or {class} is never assigned", title="precision at prevalence",
    cite=ALTMAN, aliases=("ppv_at",), ranges={"prevalence": (0.0, 1.0)},
)  # fmt: skip
def precision_at(tp: Sum, fn: Sum, fp: Sum, tn: Sum, *, prevalence: float | None = None) -> Sum:
    """Precision where the class has another prevalence p: Se p / (Se p + (1 - Sp) (1 - p))."""
    return _at_prevalence(tp / (tp + fn), fp / (fp + tn), prevalence)


@measure(
    better="higher", undefined="a class never occurs, or all are assigned to {class}", title="NPV at prevalence",
    cite=ALTMAN, ranges={"prevalence": (0.0, 1.0)},
)  # fmt: skip
def npv_at(tp: Sum, fn: Sum, fp: Sum, tn: Sum, *, prevalence: float | None = None) -> Sum:
    """NPV where the class has another prevalence p: Sp (1 - p) / (Sp (1 - p) + (1 - Se) p)."""
    return _at_prevalence(tn / (tn + fp), fn / (fn + tp), 1 - prevalence if prevalence is not None else None)


@proportion(
    better="lower", undefined="no row is of another class than {class}", cite=LECTURE, title="FPR",
    aliases=(
        "false_positive_rate", "fp_rate", "false_pos_rate", "type_1_error", "type_one_error", "type_1_error_rate",
        "type_i_error_rate", "fall_out",
    ),
    terms=called(LECTURE, "type I error", at="lecture"),
)  # fmt: skip
def fpr(fp: Sum, tn: Sum) -> tuple[Sum, Sum]:
    """False positive rate, the type I error: FP / (FP + TN)."""
    return fp, fp + tn


@proportion(
    better="lower", undefined="class {class} never occurs", cite=LECTURE, title="FNR",
    aliases=(
        "false_negative_rate", "fn_rate", "false_neg_rate", "type_2_error", "type_two_error", "type_2_error_rate",
        "type_ii_error_rate", "miss_rate",
    ),
    terms=called(LECTURE, "type II error", at="lecture"),
)  # fmt: skip
def fnr(tp: Sum, fn: Sum) -> tuple[Sum, Sum]:
    """False negative rate, the type II error: FN / (FN + TP)."""
    return fn, fn + tp


@measure(
    better="higher", undefined="class {class} neither occurs nor is assigned", cite=LECTURE, title="F1",
    aliases=("f1_score", "dice"),
)  # fmt: skip
def f1(tp: Sum, fn: Sum, fp: Sum) -> tuple[Sum, Sum]:
    """Harmonic mean of precision and sensitivity, on counts: 2 TP / (2 TP + FP + FN)."""
    return 2 * tp, 2 * tp + fp + fn


@measure(
    better="higher", undefined="class {class} neither occurs nor is assigned", title="F-beta",
    cite="van Rijsbergen (1979), Information Retrieval, ch. 7", ranges={"beta": (0.0, 1e6)},
)  # fmt: skip
def fbeta(tp: Sum, fn: Sum, fp: Sum, *, beta: float = 2.0) -> tuple[Sum, Sum]:
    """Precision and sensitivity, the latter beta times as important: (1+b^2) TP / ((1+b^2) TP + b^2 FN + FP)."""
    square = beta**2
    return (1 + square) * tp, (1 + square) * tp + square * fn + fp


@proportion(
    better="higher", undefined="class {class} neither occurs nor is assigned",
    cite="Jaccard (1901), Bull. Soc. Vaud. Sci. Nat. 37, 547-579", aliases=("iou",),
)  # fmt: skip
def jaccard(tp: Sum, fn: Sum, fp: Sum) -> tuple[Sum, Sum]:
    """Rows of a class that are assigned to it, among all that are either: TP / (TP + FN + FP)."""
    return tp, tp + fn + fp


@measure(
    better="higher", span=(-1.0, 1.0), chance=0.0, undefined="class {class} never occurs, or no other does",
    cite=f"Youden (1950), Cancer 3, 32-35; {POWERS}", aliases=("youden", "youden_j", "bookmaker_informedness"),
)  # fmt: skip
def informedness(tp: Sum, fn: Sum, fp: Sum, tn: Sum) -> Sum:
    """Sensitivity + specificity - 1 (Youden's J)."""
    return tp / (tp + fn) + tn / (tn + fp) - 1


@measure(
    better="higher", span=AT_LEAST_ZERO, chance=1.0, contrast="ratio", title="LR+",
    aliases=("positive_likelihood_ratio", "likelihood_ratio_positive", "lr_plus", "lr+", "plr"),
    undefined="class {class} never occurs, no other does, or it is never assigned",
    cite="Simel, Samsa & Matchar (1991), J. Clinical Epidemiology 44, 763-770",
)  # fmt: skip
def lr_positive(tp: Sum, fn: Sum, fp: Sum, tn: Sum) -> Sum:
    """Positive likelihood ratio: sensitivity / (1 - specificity)."""
    return tp * (fp + tn) / (fp * (tp + fn))


@measure(
    better="lower", span=AT_LEAST_ZERO, chance=1.0, title="LR-",
    aliases=("negative_likelihood_ratio", "likelihood_ratio_negative", "lr_minus", "lr-", "nlr"),
    undefined="class {class} never occurs, no other does, or all are assigned to it",
    cite="Simel, Samsa & Matchar (1991), J. Clinical Epidemiology 44, 763-770",
)  # fmt: skip
def lr_negative(tp: Sum, fn: Sum, fp: Sum, tn: Sum) -> Sum:
    """Negative likelihood ratio: (1 - sensitivity) / specificity."""
    return fn * (fp + tn) / (tn * (tp + fn))


@measure(
    better="higher", span=AT_LEAST_ZERO, chance=1.0, contrast="ratio",
    undefined="the odds are 0 / 0 for class {class}", aliases=("dor",),
    cite="Glas et al. (2003), J. Clinical Epidemiology 56, 1129-1135",
)  # fmt: skip
def diagnostic_odds_ratio(tp: Sum, fn: Sum, fp: Sum, tn: Sum) -> Sum:
    """Odds of being assigned to the class, in it against outside it: TP TN / (FP FN)."""
    return tp * tn / (fp * fn)


@proportion(better="neither", undefined="there are no rows", cite=KUHN)
def prevalence(tp: Sum, fn: Sum, fp: Sum, tn: Sum) -> tuple[Sum, Sum]:
    """Share of rows that are of the class: (TP + FN) / total."""
    return tp + fn, tp + fn + fp + tn


@proportion(
    better="neither", undefined="there are no rows", cite=KUHN,
)  # fmt: skip
def detection_rate(tp: Sum, fn: Sum, fp: Sum, tn: Sum) -> tuple[Sum, Sum]:
    """Share of all rows that are of the class and assigned to it: TP / total."""
    return tp, tp + fn + fp + tn


@proportion(
    better="neither", undefined="there are no rows", cite=KUHN,
)  # fmt: skip
def detection_prevalence(tp: Sum, fn: Sum, fp: Sum, tn: Sum) -> tuple[Sum, Sum]:
    """Share of all rows that are assigned to the class: (TP + FP) / total."""
    return tp + fp, tp + fn + fp + tn


def cost_matrix(scale: Scale, costs: Any = None) -> Array:
    """Lay out costs by class name: {true: {assigned: cost}}, {(true, assigned): cost}, or rows in class order.

    The diagonal is 0 where it is not given; anything else that is not given is an error.
    """
    size = len(scale)
    if costs is None:
        raise BadCosts("the cost measure needs costs", mend="Give cost={'yes': {'no': 5}, 'no': {'yes': 1}}")
    if not isinstance(costs, Mapping):
        try:
            matrix = as_floats(costs)
        except ValueError:
            raise BadCosts("the costs are not numbers", mend="Give one row of numbers a true class") from None
    else:
        matrix = np.full((size, size), np.nan)
        np.fill_diagonal(matrix, 0.0)
        for (true, assigned), value in _cells(costs):
            matrix[scale.code(true), scale.code(assigned)] = value
    if matrix.shape != (size, size):
        raise BadCosts(f"costs have the shape {matrix.shape}", mend=f"{size} classes need {size} rows of {size}")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise BadCosts(
            f"there is no cost for true {quoted(scale.classes[row])} assigned to {quoted(scale.classes[column])}",
            mend="Every kind of mistake needs a finite cost",
        )
    return matrix


def words_on_gains(scale: Scale, matrix: Array) -> str:
    """Return what to ask where a mistake costs less than the right answer, or nothing."""
    cheaper = matrix < np.diag(matrix)[:, None]
    if not cheaper.any():
        return ""
    row, column = np.argwhere(cheaper)[0]
    true, assigned = (quoted(scale.classes[place]) for place in (row, column))
    found = f"true {true} assigned to {assigned} costs {matrix[row, column]:g}, and to {true} {matrix[row, row]:g}"
    return f"a mistake costs less than the right answer: {found}; are these gains? Then turn their signs"


def _cells(costs: Mapping[Any, Any]) -> list[tuple[tuple[Any, Any], float]]:
    cells: list[tuple[tuple[Any, Any], float]] = []
    for key, value in costs.items():
        if isinstance(value, Mapping):
            cells += [((key, assigned), _number(cost)) for assigned, cost in value.items()]
        elif isinstance(key, tuple) and len(key) == 2:
            cells.append((key, _number(value)))
        else:
            raise BadCosts(f"{quoted(key)} is no pair of classes", mend="Write {true: {assigned: cost}}")
    return cells


def _number(cost: Any) -> float:
    try:
        return float(cost)
    except (TypeError, ValueError):
        raise BadCosts(f"{quoted(cost)} is no cost", mend="Costs are numbers") from None


@measure(
    better="lower", span=UNBOUNDED, undefined="there are no rows", penalty=cost_matrix,
    cite="Elkan (2001), IJCAI, 973-978", aliases=("expected_cost",), title="mean cost",
)  # fmt: skip
def cost(penalty: Sum, total: Sum, *, costs: Any = None) -> Sum:
    """Mean cost of an assignment, from a matrix of costs by true and assigned class: sum(N * cost) / total."""
    del costs  # they made the matrix
    return penalty / total

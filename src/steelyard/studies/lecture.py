"""What Ross's lecture says, as statements that a run on the irises and on draws like them can judge.

How much cross-validated error rates scatter over data sets is seen on draws from normal classes with the means and
covariances of the irises, as many of each class as there, each cross-validated once in every way. The true error rate
of linear discriminants fitted to all rows stands beside, so that bias and mean squared error are known too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from ..core.cached import cached_property
from ..core.threads import side_by_side
from ..results.api import assess
from .classifiers import DataSets, FittedClassifier, NearestNeighbours, TrialPoints, linear_discriminants
from .designs import NORMAL, representatives
from .replications import Examination, true_rates
from .statements import (
    ABOVE_ONE,
    ABOVE_ZERO,
    NEGLIGIBLE,
    Quantity,
    Range,
    Statement,
    exact,
    mean,
    mean_of,
    printed,
    share_of,
    within,
)

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

FOLDS = (5, 10)
ONE_BY_ONE, ONE_FOLD, TRUTH = "leave-one-out", "test set", "truth"
WAYS = (ONE_BY_ONE, *(f"{folds}-fold" for folds in FOLDS), ONE_FOLD)
POINTS = 4096  # of each class, to find true error rates with
WITH_TRUTH = ("lda",)  # nearest neighbours at so many points take long
RULES: dict[str, Callable[[DataSets], FittedClassifier]] = {
    "lda": linear_discriminants,
    "10-nn": lambda batch: NearestNeighbours(batch, 10),
    "1-nn": lambda batch: NearestNeighbours(batch, 1),
}


@dataclass(frozen=True)
class NormalClasses:
    """Normal classes, all as frequent.

    Attributes:
        means: (classes, variables).
        roots: Cholesky factors of the covariances, (classes, variables, variables).
        each: Rows of each class in a data set.
    """

    means: Array
    roots: Array
    each: int

    @classmethod
    def like(cls, x: Array, codes: Codes) -> NormalClasses:
        """Return classes with the means and covariances of these rows."""
        classes = [x[codes == code] for code in range(codes.max() + 1)]
        roots = [np.linalg.cholesky(np.cov(rows.T)) for rows in classes]
        return cls(np.array([rows.mean(axis=0) for rows in classes]), np.array(roots), len(classes[0]))

    @property
    def codes(self) -> Codes:
        """The class of each row of a data set."""
        return np.repeat(np.arange(len(self.means)), self.each)

    def draw(self, sets: int, random: np.random.Generator) -> Array:
        """Return data sets, (sets, rows, variables)."""
        classes, variables = self.means.shape
        normal = random.normal(size=(sets, classes, self.each, variables))
        x = self.means[:, None] + np.einsum("rcnj,cij->rcni", normal, self.roots)
        return np.asarray(x.reshape(sets, classes * self.each, variables))

    @cached_property
    def examination(self) -> Examination:
        """Return points that stand for all rows, and what it costs to assign each class there."""
        classes, variables = self.means.shape
        uniform, share = representatives(POINTS, variables)
        normal = NORMAL.quantile(uniform)
        x = (self.means[:, None] + np.einsum("nj,cij->cni", normal, self.roots)).reshape(-1, variables)
        wrong = np.arange(classes)[:, None] != np.repeat(np.arange(classes), POINTS)
        return TrialPoints(x), (wrong * np.tile(share, classes) / classes)[None]


def dealt(codes: Codes, sets: int, folds: int, random: np.random.Generator) -> Codes:
    """Deal the rows of each class into folds at random, (sets, rows)."""
    found = np.empty((sets, len(codes)), dtype=np.intp)
    for code in range(codes.max() + 1):
        here = np.flatnonzero(codes == code)
        found[:, here] = random.permuted(np.tile(np.arange(len(here)) % folds, (sets, 1)), axis=1)
    return found


def errors(population: NormalClasses, sets: int, random: np.random.Generator) -> dict[str, dict[str, Array]]:
    """Return error rates on data sets that are drawn, by rule and by the way in which they are estimated.

    Beside the estimates are the true error rates, where they are computed, of the rule that is fitted to all rows.
    """
    x, codes = population.draw(sets, random), population.codes
    repeated = np.broadcast_to(codes, (sets, len(codes)))
    dealings = {way: dealt(codes, sets, folds, random) for way, folds in zip(WAYS[1:-1], FOLDS, strict=True)}
    dealings[ONE_BY_ONE] = np.broadcast_to(np.arange(len(codes)), (sets, len(codes)))

    def of_rule(name: str) -> dict[str, Array]:
        found = {}
        for way, folds in dealings.items():
            fitted = RULES[name](DataSets(x, repeated, folds, len(population.means)))
            wrong = fitted.held_out() != repeated
            found[way] = wrong.mean(axis=1)
            if way == WAYS[1]:
                found[ONE_FOLD] = (wrong & (folds == 0)).sum(axis=1) / (folds == 0).sum(axis=1)
        if name in WITH_TRUTH:
            found[TRUTH] = true_rates(fitted, population.examination)[:, 0]
        return found

    return dict(zip(RULES, side_by_side(of_rule, list(RULES)), strict=True))


def below_each_other(parts: Sequence[dict[str, dict[str, Array]]]) -> dict[str, dict[str, Array]]:
    """Put the data sets of several parts into one."""
    return {
        name: {way: np.concatenate([part[name][way] for part in parts]) for way in own}
        for name, own in parts[0].items()
    }


# --- statements ---------------------------------------------------------------------------------------------------

LECTURE = 10  # the number of neighbours that its single split chose
IN_ITS_CODE = 3  # the number of neighbours of its example
BEST_IN_R, BEST_OF_MORE = 9, 14  # of 1 to 10 and of 11 to 20: the highest mean over 50 splits in R
FIVE = resources.files("steelyard") / "data" / "examples" / "forecasts.csv"  # its five forecasts
SURE, UNSURE = 0.9, 0.51  # its two forecasts that are both right
LOG, BRIER, COUNT = ("log score", "Brier score", "error count")
HARD = f"{LECTURE}-nn"  # a classifier without probabilities
OWN_VOTE = "in training each flower is one of its own neighbours, so that only k - 1 others vote, which may err more"
MORE_ROWS = "the correlation of its fits adds less variance here than the fewer rows of the other fits"


@dataclass(frozen=True)
class Runs:
    """What the study found, one row a split.

    Attributes:
        numbers: Of neighbours.
        held: Accuracy on held-out rows, (splits, numbers).
        seen: The same in training.
        more: Accuracy on held-out rows with a larger number of neighbours, (splits,).
        scores: By score and by classifier, its value on every split.
        errors: By rule and way of estimating, error rates on data sets like the irises; and the true ones.
    """

    numbers: Sequence[int]
    held: Array
    seen: Array
    more: Array
    scores: dict[str, dict[str, Array]]
    errors: dict[str, dict[str, Array]]

    def accuracy(self, number: int) -> Array:
        """Return the accuracy with so many neighbours on every split."""
        return self.held[:, list(self.numbers).index(number)]

    def per_split(self, found: Quantity) -> Quantity:
        """Return the same estimate with the number of splits for that of the data sets that come with these."""
        return found._replace(repetitions=len(self.held))


def statements(runs: Runs) -> list[Statement]:
    """Return the statements in the order of the lecture."""
    return [
        *_of_training(runs),
        *_of_folds(runs),
        *_of_neighbours(runs),
        *_of_scores(runs),
    ]


def _of_training(runs: Runs) -> Iterator[Statement]:
    source, gaps = "Ross, overfitting", runs.seen - runs.held
    for number, why in ((IN_ITS_CODE, "as in its code"), (LECTURE, "its choice")):
        text = f"The training error is below the test error, k = {number}, {why} (difference)"
        own = gaps[:, list(runs.numbers).index(number)]
        yield Statement(text, source, "lower", ABOVE_ZERO, mean_of(own), reason=OWN_VOTE)
    text = "The training error is below the test error, mean over k = 1 to 10 (difference)"
    yield Statement(text, source, "lower", ABOVE_ZERO, mean_of(gaps.mean(axis=1)), reason=OWN_VOTE)


def _of_folds(runs: Runs) -> Iterator[Statement]:
    source = "Ross, cross-validation"
    for rule, found in runs.errors.items():
        spread = {way: mean(np.square(values - values.mean())) for way, values in found.items()}
        for folds in FOLDS:
            text = f"Leave-one-out has a larger variance than {folds}-fold cross-validation ({rule}, ratio)"
            ratio = runs.per_split((spread[ONE_BY_ONE] / spread[f"{folds}-fold"]).quantity)
            yield Statement(text, source, "larger", ABOVE_ONE, ratio, reason=MORE_ROWS)
    for rule, found in runs.errors.items():
        if TRUTH in found:
            yield from _beside_truth(runs, rule, found, found[TRUTH])


def _beside_truth(runs: Runs, rule: str, estimates: dict[str, Array], truth: Array) -> Iterator[Statement]:
    """What is said of estimates where the true error rate is known."""
    source = "Ross, cross-validation"
    away = {way: mean(np.square(values - truth)) for way, values in estimates.items()}
    off = mean_of((estimates[ONE_BY_ONE] - truth) / truth.mean())
    text = f"Leave-one-out is unbiased ({rule}, bias relative to the true error)"
    yield Statement(text, source, "0", within(NEGLIGIBLE), runs.per_split(off))
    for folds in FOLDS:
        text = f"{folds}-fold cross-validation is often the better choice ({rule}, ratio of mean squared errors)"
        ratio = runs.per_split((away[ONE_BY_ONE] / away[f"{folds}-fold"]).quantity)
        yield Statement(text, source, "better", ABOVE_ONE, ratio, reason=MORE_ROWS)
    ratio = runs.per_split((away[ONE_FOLD] / away[f"{FOLDS[0]}-fold"]).quantity)
    text = f"One test set, a fifth of the rows, is less accurate than 5-fold cross-validation ({rule}, ratio)"
    yield Statement(text, source, "worse", ABOVE_ONE, ratio)


def _of_neighbours(runs: Runs) -> Iterator[Statement]:
    source, ten = "Ross, choice of k, figure", runs.accuracy(LECTURE)
    best = ten >= runs.held.max(axis=1) - 1e-9
    share = share_of(int(best.sum()), len(best))
    text = f"Of k = 1 to 10, {LECTURE} has the highest accuracy, on one split (share of such)"
    yield Statement(text, source, "one", ABOVE_ZERO, share)
    text = f"It has the highest accuracy in the mean over splits (less that of k = {BEST_IN_R}, the best in R)"
    reason = f"the lecture shows one split: k = {LECTURE} is the best on {share.value:.0%} of these"
    yield Statement(text, source, "higher", ABOVE_ZERO, mean_of(ten - runs.accuracy(BEST_IN_R)), reason=reason)
    text = f"Higher values do not improve it (k = {BEST_OF_MORE}, the best of 11 to 20 in R, less k = {LECTURE})"
    rise = runs.more - ten
    reason = f"the lecture shows one split: k = {BEST_OF_MORE} is no better on {np.mean(rise <= 1e-9):.0%} of these"
    yield Statement(text, source, "not higher", Range(-math.inf, 0.0), mean_of(rise), reason=reason)


def _of_scores(runs: Runs) -> Iterator[Statement]:
    source = "Ross, scoring rules"
    right, less = -math.log(SURE), -math.log(UNSURE)
    text = f"Of two right forecasts, {SURE} scores better than {UNSURE} (difference of log scores)"
    yield Statement(text, source, "better", ABOVE_ZERO, exact(less - right))
    with resources.as_file(FIVE) as file:
        five = assess(file, truth="y", membership="p_1", event=1, measures=["log_score", "brier"])
    log, brier = exact(five["log_score"].sum or math.nan), exact(five["brier"].value)
    yield Statement("The log score of the five forecasts", source, "4.24", printed("4.24"), log)
    yield Statement("Their Brier score", source, "0.294", printed("0.294"), brier)
    for score in (LOG, BRIER):
        other = prefers_another(runs.scores[COUNT], runs.scores[score])
        names = ", ".join(runs.scores[score])
        text = f"The {score} may prefer another model than the error count (share of splits; {names})"
        yield Statement(text, source, "may", ABOVE_ZERO, share_of(int(other.sum()), len(other)))


def prefers_another(count: dict[str, Array], score: dict[str, Array]) -> Array:
    """Return on which splits the model with the lowest score is none of those with the lowest count."""
    counts, scores = (np.array([each[name] for name in score]) for each in (count, score))
    chosen = scores.argmin(axis=0)
    least = np.take_along_axis(counts, chosen[None], axis=0)[0]
    return np.asarray(least > counts.min(axis=0) + 1e-9)

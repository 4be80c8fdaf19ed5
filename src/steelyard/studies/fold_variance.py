"""How much cross-validated error rates scatter over data sets: leave-one-out, ten folds, five folds and one test set.

Data sets are drawn from normal classes with the means and covariances of the irises, as many of each class as there,
and each is cross-validated once in every way. The true error rate of linear discriminants fitted to all rows stands
beside, so that bias and mean squared error are known too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.cached import cached_property
from ..core.threads import side_by_side
from .classifiers import DataSets, FittedClassifier, NearestNeighbours, TrialPoints, linear_discriminants
from .designs import NORMAL, representatives

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

FOLDS = (5, 10)
ONE_BY_ONE, ONE_FOLD = "leave-one-out", "test set"
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
    def points(self) -> tuple[TrialPoints, Array]:
        """Return points that stand for all rows, and by class and point what it costs to assign the class there."""
        classes, variables = self.means.shape
        uniform, share = representatives(POINTS, variables)
        normal = NORMAL.quantile(uniform)
        x = (self.means[:, None] + np.einsum("nj,cij->cni", normal, self.roots)).reshape(-1, variables)
        wrong = np.arange(classes)[:, None] != np.repeat(np.arange(classes), POINTS)
        return TrialPoints(x), wrong * np.tile(share, classes) / classes


def dealt(codes: Codes, sets: int, folds: int, random: np.random.Generator) -> Codes:
    """Deal the rows of each class into folds at random, (sets, rows)."""
    found = np.empty((sets, len(codes)), dtype=np.intp)
    for code in range(codes.max() + 1):
        here = np.flatnonzero(codes == code)
        found[:, here] = random.permuted(np.tile(np.arange(len(here)) % folds, (sets, 1)), axis=1)
    return found


@dataclass(frozen=True)
class Errors:
    """Error rates of one rule on every data set.

    Attributes:
        estimates: By the way in which they are estimated.
        truth: The true error rate of the rule that is fitted to all rows; None where it is not computed.
    """

    estimates: dict[str, Array]
    truth: Array | None


def errors(population: NormalClasses, sets: int, random: np.random.Generator) -> dict[str, Errors]:
    """Return error rates of every rule on data sets that are drawn."""
    x, codes = population.draw(sets, random), population.codes
    repeated = np.broadcast_to(codes, (sets, len(codes)))
    dealings = {way: dealt(codes, sets, folds, random) for way, folds in zip(WAYS[1:-1], FOLDS, strict=True)}
    dealings[ONE_BY_ONE] = np.broadcast_to(np.arange(len(codes)), (sets, len(codes)))

    def of_rule(name: str) -> Errors:
        estimates = {}
        for way, folds in dealings.items():
            fitted = RULES[name](DataSets(x, repeated, folds, len(population.means)))
            wrong = fitted.held_out() != repeated
            estimates[way] = wrong.mean(axis=1)
            if way == WAYS[1]:
                estimates[ONE_FOLD] = (wrong & (folds == 0)).sum(axis=1) / (folds == 0).sum(axis=1)
        return Errors(estimates, true_errors(fitted, population) if name in WITH_TRUTH else None)

    return dict(zip(RULES, side_by_side(of_rule, list(RULES)), strict=True))


def true_errors(fitted: FittedClassifier, population: NormalClasses) -> Array:
    """Return the true error rates of a rule fitted to each data set."""
    points, cost = population.points
    size = cost.shape[1]
    return np.asarray(np.take(cost, fitted.at(points) * np.intp(size) + np.arange(size)).sum(axis=1))


def below_each_other(parts: Sequence[dict[str, Errors]]) -> dict[str, Errors]:
    """Put the data sets of several parts into one."""
    found = {}
    for name in parts[0]:
        estimates = {way: np.concatenate([part[name].estimates[way] for part in parts]) for way in WAYS}
        truths = [part[name].truth for part in parts]
        known = [truth for truth in truths if truth is not None]
        found[name] = Errors(estimates, np.concatenate(known) if known else None)
    return found

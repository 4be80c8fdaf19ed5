"""Classifiers ranked on many data sets: Friedman's test, Nemenyi's critical difference, and who goes together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import evened

if TYPE_CHECKING:
    from ..core.table import Table
    from ..core.typing import Array, Marks


@dataclass(frozen=True)
class Friedman:
    """A test of whether all classifiers rank alike, on data sets that each rank them.

    Attributes:
        chi_squared: Friedman's statistic (1937), corrected for ties.
        freedom: Its degrees of freedom.
        p: Its p-value, by the chi-squared distribution.
        f: The statistic of Iman & Davenport (1980), which is less conservative; infinite where all data sets agree.
        freedoms: Its degrees of freedom.
        f_p: Its p-value, by the F distribution; where all data sets agree, the chance of that.
        note: What there is to know.
    """

    chi_squared: float
    freedom: int
    p: float
    f: float
    freedoms: tuple[int, int]
    f_p: float
    note: str = ""


@dataclass(frozen=True)
class Nemenyi:
    """All pairs of classifiers by their mean ranks (Nemenyi 1963; Demšar 2006).

    Attributes:
        critical_difference: How far mean ranks must lie apart.
        q: The critical value that it is made of: the studentized range over the root of 2.
        pairs: The columns a, b, difference (of the mean ranks, a - b), p and verdict ("a" or "b" for the better one,
            "neither" where they cannot be told apart). The p-values are those of all pairs at once.
    """

    critical_difference: float
    q: float
    pairs: Table


def mean_ranks_by_row(values: Array, lower: bool) -> Array:
    """The rank of each classifier on each data set, 1 for the best; equal values share the mean of their ranks."""
    turned = evened(values if lower else -values)
    ahead = (turned[:, None, :] < turned[:, :, None]).sum(axis=2)
    level = (turned[:, None, :] == turned[:, :, None]).sum(axis=2)
    return np.asarray(ahead + (level + 1) / 2)


def friedman_test(ranks: Array) -> Friedman:
    """Friedman's test of ranks, one row a data set."""
    from scipy.special import chdtrc, fdtrc

    rows, models = ranks.shape
    freedoms = (models - 1, (models - 1) * (rows - 1))
    middle = (models + 1) / 2
    scatter = float(np.square(ranks - middle).sum())
    if scatter == 0:
        return Friedman(0.0, models - 1, 1.0, 0.0, freedoms, 1.0, "all classifiers are equal on every data set")
    between = rows**2 * float(np.square(ranks.mean(axis=0) - middle).sum())
    chi_squared = (models - 1) * between / scatter
    p = float(chdtrc(models - 1, chi_squared))
    if (ranks == ranks[0]).all():
        note = "all data sets rank the classifiers alike"
        return Friedman(chi_squared, models - 1, p, math.inf, freedoms, _chance_of_agreement(ranks), note)
    f = (rows - 1) * chi_squared / (rows * (models - 1) - chi_squared)
    return Friedman(chi_squared, models - 1, p, f, freedoms, float(fdtrc(*freedoms, f)))


def _chance_of_agreement(ranks: Array) -> float:
    """How probable it is that all other rows come in the order of the first, if all orders are alike."""
    ties = np.unique(ranks[0], return_counts=True)[1]
    orders = math.factorial(ranks.shape[1]) // math.prod(math.factorial(int(size)) for size in ties)
    return float(orders) ** -(len(ranks) - 1)


def rank_error(rows: int, models: int) -> float:
    """The standard error of a difference of mean ranks, if all orders are alike."""
    return math.sqrt(models * (models + 1) / (6 * rows))


def critical_value(models: int, level: float) -> float:
    """How many standard errors the farthest of so many mean ranks lie apart at most, with this probability."""
    from scipy.optimize import brentq

    return float(brentq(lambda reach: range_p_values([reach], models)[0] - (1 - level), 0.0, 40.0, xtol=1e-12))


def range_p_values(statistics: Sequence[float], models: int) -> list[float]:
    """The probability that the farthest of so many mean ranks lie that many standard errors apart.

    The range of independent normal deviates, with the lowest at any place and all others within reach above it. A sum
    over equal steps is exact to rounding there, and scipy's studentized range takes fifty times as long.
    """
    from scipy.special import ndtr

    places = np.linspace(-9.0, 9.0, 1801)
    density = np.exp(-np.square(places) / 2) / math.sqrt(2 * math.pi)
    reach = math.sqrt(2) * np.abs(np.asarray(statistics, dtype=float))[:, None]
    others = (ndtr(places + reach) - ndtr(places)) ** (models - 1)
    within = models * (places[1] - places[0]) * (density * others).sum(axis=1)
    return [float(p) for p in np.clip(1 - within, 0.0, 1.0)]


def cliques(alike: Marks) -> list[list[int]]:
    """The largest groups in which all are alike, by Bron & Kerbosch (1973); nobody is a group alone."""
    everyone = set(range(len(alike)))
    friends = [{other for other in everyone - {one} if alike[one, other]} for one in range(len(alike))]
    found: list[list[int]] = []

    def extend(group: list[int], open_to: set[int], done: set[int]) -> None:
        if not open_to and not done:
            found.append(sorted(group))
            return
        pivot = max(open_to | done, key=lambda one: len(friends[one] & open_to))
        for one in sorted(open_to - friends[pivot]):
            extend([*group, one], open_to & friends[one], done & friends[one])
            open_to, done = open_to - {one}, done | {one}

    extend([], everyone, set())
    return sorted(group for group in found if len(group) > 1)

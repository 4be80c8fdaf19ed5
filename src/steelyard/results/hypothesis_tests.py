"""Tests of classifiers against each other: McNemar's, Wilcoxon's signed-rank test, Friedman's and Nemenyi's.

McNemar's test is of two classifiers on the same rows: which one was right where the other was wrong. The others are of
many data sets. A last one asks whether columns of memberships without names stand in another order than the classes.

The signed-rank test, and the Bayesian one with a region of equivalence, rank zero differences with the others and then
leave them out (Pratt 1959). If they are left out before that, as Wilcoxon did, one classifier may gain on the other on
every data set and yet seem less sure to be better: a loss that becomes a tie takes its rank away from all others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.arrays import evened
from ..core.columns import as_number
from ..core.errors import BadOption, quoted
from ..core.scale import Label, listed
from ..core.suggestions import refuse_unknown

if TYPE_CHECKING:
    from ..core.table import Table
    from ..core.typing import Array, Marks


# --- two classifiers on the same rows -------------------------------------------------------------------------------


MOST_ROWS = 1e15  # beyond, counts are no longer told apart


@dataclass(frozen=True)
class McNemar:
    """A test of whether two classifiers err equally often on the same cases.

    Attributes:
        only_a: Rows that only the first gets right.
        only_b: Rows that only the second gets right.
        statistic: Chi-squared with one degree of freedom; NaN for the exact tests.
        p: Two-sided p-value.
        method: Which form of the test.
    """

    only_a: float
    only_b: float
    statistic: float
    p: float
    method: str


def _count(name: str, number: object) -> float:
    found = as_number(number)
    if not 0 <= found < MOST_ROWS:
        raise BadOption(f"{name} is {quoted(number)}", mend="Give a number of rows, 0 or above")
    return found


def mcnemar(only_a: float, only_b: float, method: str = "auto") -> McNemar:
    """McNemar's test (1947) on the discordant counts.

    Args:
        only_a: Rows that only the first gets right.
        only_b: Rows that only the second gets right.
        method: "exact" (binomial), "mid-p" (Fagerland, Lydersen & Laake 2013), "corrected" (chi-squared with
            continuity correction, as R's mcnemar.test), "chi-squared" (without), or "auto": exact below 25
            discordant rows, corrected from there on; without correction where counts are not whole.
    """
    from scipy.special import bdtr, chdtrc  # scipy.stats would take longer to load than all else takes

    known = ("auto", "exact", "mid-p", "corrected", "chi-squared")
    refuse_unknown("method", method, known)
    only_a, only_b = (_count(name, number) for name, number in (("only_a", only_a), ("only_b", only_b)))
    total, smaller = only_a + only_b, min(only_a, only_b)
    if method == "auto":
        whole = float(only_a).is_integer() and float(only_b).is_integer()
        method = ("exact" if total < 25 else "corrected") if whole else "chi-squared"
    if method in ("exact", "mid-p"):
        if only_a != round(only_a) or only_b != round(only_b):
            raise BadOption("the exact tests need whole counts", mend="Use 'chi-squared' with weights")
        up_to = float(bdtr(smaller, int(total), 0.5)) if total else 1.0
        below = up_to
        if method == "mid-p":  # half of what is as likely as the counts themselves
            below = float(bdtr(smaller - 1, int(total), 0.5)) if smaller else 0.0
        return McNemar(only_a, only_b, float("nan"), min(1.0, up_to + below), method)
    gap = abs(only_a - only_b) - (1.0 if method == "corrected" else 0.0)
    statistic = max(gap, 0.0) ** 2 / total if total else 0.0
    return McNemar(only_a, only_b, statistic, float(chdtrc(1, statistic)), method)


# --- two classifiers on many data sets ------------------------------------------------------------------------------


MOST_EXACT = 50  # differences; with more, the normal distribution is as good
DECIMALS = 12  # what differs by less, as a share of the values, differs by rounding only
MOST_DECIMALS = 290  # more would leave the range of numbers
STRENGTH = 0.5  # of the prior, as a number of data sets; its one observation is no difference at all
NUMBERS_AT_ONCE = 1 << 21


class SignedRank(NamedTuple):
    """The rank sums of the positive and of the negative differences, the two-sided p-value, and how that was made."""

    statistic: float
    opposite: float
    p: float
    method: str


def steady(first: Array, second: Array) -> Array:
    """Differences of two columns without the noise of rounding: 0.8 - 0.7 is 0.7 - 0.6."""
    return _rounded(first - second, max(float(np.abs(first).max()), float(np.abs(second).max())))


def _rounded(numbers: Array, size: float) -> Array:
    """Numbers without what is nothing beside a number of this size; decimal, as a multiple of it would be noise."""
    decimals = DECIMALS - math.ceil(math.log10(size)) if size > 0 else 0
    return np.asarray(np.round(numbers, min(decimals, MOST_DECIMALS)))


def mean_ranks(values: Array) -> Array:
    """The ranks of values along the last axis, from 1 on; equal values share the mean of their ranks."""
    own, others = values[..., :, None], values[..., None, :]
    return np.asarray((others < own).sum(axis=-1) + ((others == own).sum(axis=-1) + 1) / 2)


def signed_rank(differences: Array) -> SignedRank:
    """Wilcoxon's test (1945) of whether differences scatter evenly about 0.

    Exact up to 50 differences other than 0, also with ties: all signs are gone through, with the ranks as they are.
    """
    size = np.abs(differences)
    largest = size.max(initial=0.0)
    if largest == 0:
        return SignedRank(0.0, 0.0, 1.0, "no difference")
    size = np.round(size / largest, DECIMALS)
    ranks = mean_ranks(size)[size > 0]
    statistic = float(ranks[differences[size > 0] > 0].sum())
    opposite = float(ranks.sum()) - statistic
    if len(ranks) <= MOST_EXACT:
        return SignedRank(statistic, opposite, _exact(ranks, statistic), "exact")
    return SignedRank(statistic, opposite, _normal(ranks, statistic), "normal")


def _exact(ranks: Array, statistic: float) -> float:
    """Twice the smaller tail, where every rank has either sign alike. Doubled, mean ranks are whole."""
    doubled = np.round(2 * ranks).astype(int)
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for step in doubled.tolist():
        moved = np.zeros_like(chances)
        moved[step:] = chances[: len(chances) - step]
        chances = (chances + moved) / 2
    place = round(2 * statistic)
    return min(1.0, 2 * min(float(chances[: place + 1].sum()), float(chances[place:].sum())))


def _normal(ranks: Array, statistic: float) -> float:
    """The same by the normal distribution, whose variance knows of ties; no correction for continuity."""
    from scipy.special import ndtr

    spread = math.sqrt(float(np.square(ranks).sum()) / 4)
    return float(2 * ndtr(-abs(statistic - ranks.sum() / 2) / spread))


def posterior(differences: Array, rope: float, draws: int, seed: int) -> Array:
    """How probable it is that each of three is the likeliest: above the region, within it, below it.

    The Bayesian signed-rank test (Benavoli et al. 2014): data sets have weights that are drawn from a Dirichlet
    distribution, and the mean of two drawn differences lies above, within or below. One row a pair of classifiers,
    whose differences stand in the rows of what is given.
    """
    pairs, rows = differences.shape
    forms = [_forms(each, rope) for each in differences]
    random, counts = np.random.default_rng(seed), np.zeros((pairs, 3))
    step = max(1, NUMBERS_AT_ONCE // (rows + 1))
    for start in range(0, draws, step):
        weights = random.dirichlet([STRENGTH, *[1.0] * rows], min(step, draws - start))
        for pair, (above, below) in enumerate(forms):
            high, low = (((weights @ form) * weights).sum(axis=1) for form in (above, below))
            within = 1 - (high + low) if rope > 0 else np.full(len(weights), -1.0)  # a region of no width holds nothing
            shares = np.stack([high, within, low])
            top = shares == shares.max(axis=0)
            counts[pair] += (top / top.sum(axis=0)).sum(axis=1)
    return np.asarray(counts / draws)


def _forms(differences: Array, rope: float) -> tuple[Array, Array]:
    """Which means of two differences lie above the region and which below; those on its edge do so by half.

    In the order of their size, so that neither the order of the data sets nor the sign matters to what is drawn.
    """
    ordered = np.concatenate([[0.0], differences[np.argsort(np.abs(differences), kind="stable")]])
    sums, size = ordered[:, None] + ordered, max(float(np.abs(ordered).max()), rope)
    above, below = (_rounded(way * sums - 2 * rope, size) for way in (1.0, -1.0))
    return (above > 0) + (above == 0) / 2, (below > 0) + (below == 0) / 2


# --- several classifiers on many data sets --------------------------------------------------------------------------


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
    return mean_ranks(evened(values if lower else -values))


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


# --- columns in another order ---------------------------------------------------------------------------------------


RARE = 0.025  # how often chance alone may make some other order look better
FAR = 0.1  # of all rows, which are right in the other order and wrong in this one, net
HALVED = 0.5  # of the errors
MOST_CLASSES = 1_000  # looking for the best order of more takes seconds
MOST_LISTED = 12


def words_on_order(table: Array, units: float, classes: Sequence[Label]) -> str:
    """Return what to ask where another order of the columns fits far better, or nothing.

    ``table`` has the true classes in rows and the assigned ones in columns; ``units`` is how many rows, of equal
    weight, or clusters there are. The best order is one of C!, so chance must be that much less likely.
    """
    total = table.sum()
    if not total > 0:
        return ""
    from scipy.optimize import linear_sum_assignment

    assigned, fits = linear_sum_assignment(table.T, maximize=True)
    now, then = np.diag(table).sum() / total, table[fits, assigned].sum() / total
    moved = fits != assigned
    gained, lost = (table[fits, assigned][moved].sum() / total, np.diag(table)[moved].sum() / total)
    enough = sqrt(2 * (lgamma(len(classes) + 1) - log(RARE)))
    sure = (gained - lost) * sqrt(units) > enough * sqrt(gained + lost)
    if not sure or not (then - now >= FAR or 1 - then <= HALVED * (1 - now)):
        return ""
    order = listed([classes[int(place)] for place in fits], MOST_LISTED)
    better = f"another order of the columns fits far better: {order} (accuracy {then:.3f}, not {now:.3f})"
    return f"{better}; name the columns, or give scale=Scale([...]) in their order"

"""Two classifiers on many data sets: Wilcoxon's signed-rank test, and the Bayesian one with a region of equivalence.

Zero differences are ranked with the others and then left out (Pratt 1959). If they are left out before that, as
Wilcoxon did, one classifier may gain on the other on every data set and yet seem less sure to be better: a loss that
becomes a tie takes its rank away from all others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array

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


def signed_rank(differences: Array) -> SignedRank:
    """Wilcoxon's test (1945) of whether differences scatter evenly about 0.

    Exact up to 50 differences other than 0, also with ties: all signs are gone through, with the ranks as they are.
    """
    size = np.abs(differences)
    largest = size.max(initial=0.0)
    if largest == 0:
        return SignedRank(0.0, 0.0, 1.0, "no difference")
    size = np.round(size / largest, DECIMALS)
    below, level = (size[:, None] > size).sum(axis=1), (size[:, None] == size).sum(axis=1)
    ranks = (below + (level + 1) / 2)[size > 0]
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

"""Measures of ranking and their variances by the definitions of textbooks, pair by pair: slow, and sure."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import beta

Array = NDArray[np.float64]


def wins(event: Any, rest: Any) -> Array:
    """For every pair of a row of the event and one of the rest: 1 where the first is above, a half where they tie."""
    one, other = np.asarray(event, dtype=float)[:, None], np.asarray(rest, dtype=float)[None]
    return np.asarray((one > other) + 0.5 * (one == other), dtype=float)


def auc(truth: Any, score: Any, event: Any = "yes") -> float:
    """The share of pairs that are won (Mann & Whitney 1947)."""
    return float(wins(score[truth == event], score[truth != event]).mean())


def weighted_auc(truth: Any, score: Any, weight: Any, event: Any = "yes") -> float:
    """The same where a pair counts by the product of its weights."""
    here, there = truth == event, truth != event
    return float(np.average(wins(score[here], score[there]), weights=np.outer(weight[here], weight[there])))


def placements(truth: Any, score: Any, event: Any = "yes") -> Array:
    """Of every row, the share of the pairs with the other side that are won (DeLong et al. 1988)."""
    pairs = wins(score[truth == event], score[truth != event])
    found = np.empty(len(truth))
    found[truth == event], found[truth != event] = pairs.mean(axis=1), pairs.mean(axis=0)
    return found


def delong(truth: Any, placed: Any, event: Any = "yes") -> float:
    """The variance of an AUC, or of a difference of two, from the placements or their differences."""
    sides = [placed[truth == event], placed[truth != event]]
    return float(sum(np.var(side, ddof=1) / len(side) for side in sides))


def obuchowski(truth: Any, placed: Any, value: float, cluster: Any, event: Any = "yes") -> float:
    """The same where rows come in clusters (Obuchowski 1997, Biometrics 53, 567-578)."""
    here = truth == event
    total, rest = here.sum(), (~here).sum()
    own: list[tuple[float, bool]] = []
    other: list[tuple[float, bool]] = []
    for label in np.unique(cluster):
        inside = cluster == label
        for sums, side in ((own, here), (other, ~here)):
            sums.append((placed[inside & side].sum() - (inside & side).sum() * value, (inside & side).any()))
    first, second = (np.array([gap for gap, _ in sums]) for sums in (own, other))
    with_own, with_other = (sum(seen for _, seen in sums) for sums in (own, other))
    clusters = len(first)
    between_own = with_own / (with_own - 1) * np.sum(first**2) / total**2
    between_other = with_other / (with_other - 1) * np.sum(second**2) / rest**2
    shared = clusters / (clusters - 1) * np.sum(first * second) / (total * rest)
    return float(between_own + between_other + 2 * shared)


def average_precision(truth: Any, score: Any, event: Any = "yes") -> float:
    """Of every row of the event, the precision of the threshold at its score; averaged."""
    called = [truth[score >= each] == event for each in score[truth == event]]
    return float(np.mean([each.mean() for each in called]))


def hand_till(truth: Any, memberships: dict[Any, Any]) -> float:
    """The AUC of each class against each other one by its own score, averaged over ordered pairs."""
    labels = [label for label in memberships if (truth == label).any()]
    pairs = [(i, j) for i in labels for j in labels if i != j]
    return float(np.mean([wins(memberships[i][truth == i], memberships[i][truth == j]).mean() for i, j in pairs]))


def h_measure(truth: Any, score: Any, event: Any = "yes") -> float:
    """One less the ratio of two losses, integrated over the cost of a false alarm: at the best threshold, and blind."""
    here = truth == event
    share = here.mean()
    limits = [np.inf, *np.unique(score)]
    missed = np.array([(score[here] < limit).mean() for limit in limits])
    alarms = np.array([(score[~here] >= limit).mean() for limit in limits])
    costs = beta(1 + share, 2 - share)

    def lost(cost: float) -> float:
        best = np.min((1 - cost) * share * missed + cost * (1 - share) * alarms)
        return float(best * costs.pdf(cost))

    def lost_without(cost: float) -> float:
        return float(min((1 - cost) * share, cost * (1 - share)) * costs.pdf(cost))

    # In pieces: where the best threshold changes, the integrand has a corner.
    edges = np.linspace(0, 1, 11).tolist()
    with_score, without = (
        sum(quad(loss, low, high, epsabs=1e-9, limit=200)[0] for low, high in pairwise(edges))
        for loss in (lost, lost_without)
    )
    return float(1 - with_score / without)

"""The example of Sondhauss & Weihs (2001): three chi-squared classes, three rules, and what is measured of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.threads import one_thread
from ..families.partition.memberships import standardise
from ..families.partition.scaling import BetaMap
from ..families.partition.space import Space, corner, distances
from .statements import NEGLIGIBLE

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

DEGREES = (2, 8, 16)
EACH = 9  # objects of a class, in training and in the test
SEED = 2001
TRUE, NORMAL, NETWORK = RULES = ("true Bayes", "Bayes-QDA", "network")
NODES = 3  # of the hidden layer
DECAY = 0.01


def drawn(random: np.random.Generator, each: int = EACH) -> tuple[Array, Codes]:
    """Objects of the three classes, as many of each."""
    truth = np.repeat(np.arange(len(DEGREES)), each)
    return random.chisquare(np.array(DEGREES)[truth]), truth


def true_bayes(x: Array) -> Array:
    """The true probabilities of the classes."""
    from scipy.special import gammaln

    half = np.array(DEGREES) / 2
    densities = (half - 1) * np.log(x)[:, None] - x[:, None] / 2 - half * np.log(2) - gammaln(half)
    return standardise(densities, "softmax")


def normal_bayes(x: Array, truth: Codes, at: Array) -> Array:
    """Probabilities as if classes were normal, each with its own variance."""
    found = []
    for place in range(len(DEGREES)):
        own = x[truth == place]
        spread = own.var(ddof=1)
        found.append(-np.log(spread) / 2 - np.square(at - own.mean()) / (2 * spread))
    return standardise(np.stack(found, axis=1), "softmax")


def network(x: Array, truth: Codes, at: Array, seed: int) -> Array:
    """Probabilities of a small network with one hidden layer."""
    from warnings import catch_warnings, simplefilter

    from sklearn.neural_network import MLPClassifier

    centre, spread = x.mean(), x.std()
    model = MLPClassifier(
        (NODES,), activation="logistic", solver="lbfgs", alpha=DECAY, max_iter=300, random_state=seed % 2**32
    )
    with catch_warnings(), one_thread():
        simplefilter("ignore")  # that a network could be trained for longer is no news
        model.fit(((x - centre) / spread)[:, None], truth)
    return np.asarray(model.predict_proba(((at - centre) / spread)[:, None]))


def memberships(seed: int) -> tuple[dict[str, Array], Codes]:
    """What each rule says of the test objects of one data set, and the classes that they have."""
    random = np.random.default_rng(seed)
    x, truth = drawn(random)
    at, classes = drawn(random)
    return {
        TRUE: true_bayes(at),
        NORMAL: normal_bayes(x, truth, at),
        NETWORK: network(x, truth, at, seed),
    }, classes


# --- what is measured ---------------------------------------------------------------------------------------------

RAW, DEFAULT, ORIGINAL, SCALED = SCALINGS = ("raw", "default", "klar, as given", "klar, as scaled")
MEASURES = ("CR", "Ac", "AS")


def measured(given: Array, truth: Codes, scaling: str) -> dict[str, float]:
    """Return what is measured of memberships scaled in one way.

    That is the correctness rate, accuracy and ability to separate, and the correctness rates of the assignments to each
    class; further, the share of objects that scaled memberships assign to another class, and ``frequency_gap``.
    """
    rows = Space(given, truth, np.ones(len(truth)), "klar" if scaling in (ORIGINAL, SCALED) else scaling)
    original = rows.order[:, 0].astype(np.intp)
    assigned = rows.assigned if scaling == SCALED else original
    right, furthest = assigned == truth, corner(given.shape[1])
    found = {
        "CR": float(right.mean()),
        "Ac": 1 - float(rows.column("true_gap").mean()) / furthest,
        "AS": 1 - float(distances(rows.scaled.T, assigned).mean()) / furthest,
    }
    for place in range(given.shape[1]):
        here = assigned == place
        found[f"CR {place + 1}"] = float(right[here].mean()) if here.any() else float("nan")
    found["reassigned"] = float((rows.scaled.argmax(axis=1) != original).mean())
    found["frequency_gap"] = frequency_gap(rows.scaled, original, truth)
    return found


def frequency_gap(scaled: Array, assigned: Codes, truth: Codes) -> float:
    """Return how far mean assignment values of regions are from the class frequencies there, in shares of these.

    It is the mean over the regions in which the assigned class occurs.
    """
    gaps = []
    for place in np.unique(assigned):
        here = assigned == place
        frequency = float((truth[here] == place).mean())
        if frequency > 0:
            gaps.append(abs(float(scaled[here, place].mean()) / frequency - 1))
    return float(np.mean(gaps)) if gaps else float("nan")


def leaning(given: Array) -> float:
    """Return the mean membership in the first class less that in the last, of objects assigned to the second."""
    here = given[given.argmax(axis=1) == 1]
    return float((here[:, 0] - here[:, -1]).mean()) if len(here) else float("nan")


def certainty(given: Array, truth: Codes) -> dict[str, float]:
    """Scale memberships at depth 1 by both choices of the certainty N^s that the paper discusses.

    Returns:
        "change": the mean relative change of the assignment values with min(N, alpha + beta); "far": the share of
        scaled values that differ from the frequency p of their region by more than 5%; "change_by_count" and
        "far_by_count": the same with N.
    """
    rows = Space(given, truth, np.ones(len(truth)))
    assigned = rows.order[:, 0].astype(np.intp)
    before, after = (np.take_along_axis(each, assigned[:, None], axis=1)[:, 0] for each in (given, rows.scaled))
    by_count, frequency = after.copy(), np.ones_like(after)
    for (place,), (fitted,) in rows.scaling.maps.items() if rows.scaling else ():
        here = assigned == place
        count, share = float(here.sum()), float((truth[here] == place).mean())
        frequency[here] = share
        if fitted.kind == "beta":
            other = BetaMap("beta", fitted.given, (count * share, count * (1 - share)), span=fitted.span)
            by_count[here] = other(before[here])
    return {
        "change": _relative(after, before).mean(),
        "far": (_relative(after, frequency) > NEGLIGIBLE).mean(),
        "change_by_count": _relative(by_count, before).mean(),
        "far_by_count": (_relative(by_count, frequency) > NEGLIGIBLE).mean(),
    }


def _relative(values: Array, others: Array) -> Array:
    """Return how far values are from others, in shares of these; nothing of 0 from 0."""
    return np.abs(values - others) / np.where(others > 0, others, 1.0)


def apart(one: Array, other: Array) -> float:
    """Return the mean distance of memberships from others, in distances of the centroid from a corner."""
    return float(np.sqrt(np.square(one - other).sum(axis=1)).mean()) / corner(one.shape[1])

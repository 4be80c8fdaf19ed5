"""The example of Sondhauss & Weihs (2001): three chi-squared classes, and three rules that assign objects to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.threads import one_thread
from ..families.partition.standardising import standardise

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

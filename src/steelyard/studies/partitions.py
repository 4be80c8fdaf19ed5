"""The example of Sondhauss & Weihs (2001): three chi-squared classes, three rules, and their memberships scaled.

Whether scaled memberships of many more objects are the true probabilities is tried beside it, which the paper does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadOption, quoted
from ..partition.space import Space, corner, distances
from ..partition.standardising import standardise
from ..table import Table
from ..threads import one_thread

if TYPE_CHECKING:
    from ..kinds import Array, Codes

Progress = Callable[[int, int], None]

DEGREES = (2, 8, 16)
EACH = 9  # objects of a class, in training and in the test
SEED = 2001
TRUE, NORMAL, NETWORK = RULES = ("true Bayes", "Bayes-QDA", "network")
RAW, DEFAULT, ORIGINAL, SCALED = SCALINGS = ("raw", "default", "klar, as given", "klar, as scaled")
MEASURES = ("CR", "Ac", "AS")
# Means over ten data sets of R's own random numbers, scaled.
KLAR = {TRUE: (0.778, 0.513, 0.617), NORMAL: (0.737, 0.458, 0.544), NETWORK: (0.774, 0.497, 0.610)}
KLAR_SETS = 10
OTHER_DRAWS = (
    "klaR's means are of ten other data sets, and not told is whether objects were assigned by memberships as given or "
    "as scaled, so they stand beside both; z is how many standard errors these are from them."
)
SIZES = (10**3, 10**4, 10**5)
POWERS = {TRUE: 1.0, "too sure": 2.0, "too timid": 0.5}
OBJECTS, DRAWS = 10**5, 10  # in all draws of a size together, and how many there are at most
NODES = 3  # of the hidden layer
DECAY = 0.01


@dataclass(frozen=True)
class Partitions:
    """What was found.

    Attributes:
        example: Correctness rate, accuracy and ability to separate of the rules: means and standard deviations over
            the data sets, as given and scaled, beside klaR's.
        classes: The correctness rates of assignments to each class.
        consistency: How far memberships are from the true probabilities, before and after, with ever more objects.
        draws: The measures on every data set.
        seeds: How many data sets were drawn.
    """

    example: Table
    classes: Table
    consistency: Table
    draws: Table
    seeds: int

    def __str__(self) -> str:
        """All tables, and what is in them."""
        parts = (
            f"Chi-squared classes with {DEGREES[0]}, {DEGREES[1]} and {DEGREES[2]} degrees of freedom, "
            f"{len(DEGREES) * EACH} objects for training and for the test, {self.seeds} data sets. {OTHER_DRAWS}",
            repr(self.example),
            "Correctness rates of the assignments to each class:",
            repr(self.classes),
            "Mean distance from the true probabilities, in distances of the centroid from a corner, before and after "
            "scaling, and between the two:",
            repr(self.consistency),
        )
        return "\n".join(part.rstrip("\n") for part in parts)

    __repr__ = __str__


# --- the rules ------------------------------------------------------------------------------------------------


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


# --- the example ----------------------------------------------------------------------------------------------


def measured(given: Array, truth: Codes, scaling: str) -> dict[str, float]:
    """Correctness rate, accuracy, ability to separate, and correctness rates of the assignments to each class."""
    rows = Space(given, truth, np.ones(len(truth)), "klar" if scaling in (ORIGINAL, SCALED) else scaling)
    assigned = rows.assigned if scaling == SCALED else rows.order[:, 0]
    right, furthest = assigned == truth, corner(given.shape[1])
    found = {
        "CR": float(right.mean()),
        "Ac": 1 - float(rows.column("true_gap").mean()) / furthest,
        "AS": 1 - float(distances(rows.scaled.T, assigned).mean()) / furthest,
    }
    for place in range(given.shape[1]):
        here = assigned == place
        found[f"CR {place + 1}"] = float(right[here].mean()) if here.any() else float("nan")
    return found


def _example(draws: Table) -> Table:
    rows = []
    for rule, scaling, measure, values in _series(draws, MEASURES):
        mean, spread = float(values.mean()), _spread(values)
        klar = KLAR[rule][MEASURES.index(measure)] if scaling in (ORIGINAL, SCALED) else None
        error = spread * np.sqrt(1 / len(values) + 1 / KLAR_SETS)
        z = None if klar is None else float((mean - klar) / error)
        rows.append((rule, scaling, measure, mean, spread, klar, z))
    return _table(("rule", "scaling", "measure", "mean", "sd", "klar", "z"), rows)


def _classes(draws: Table) -> Table:
    rows = []
    for rule, scaling, measure, values in _series(draws, [f"CR {place + 1}" for place in range(len(DEGREES))]):
        known = values[~np.isnan(values)]
        if scaling == RAW:
            rows.append((rule, measure, float(known.mean()) if known.size else None, _spread(known), len(known)))
    return _table(("rule", "measure", "mean", "sd", "seeds"), rows)


def _spread(values: Array) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _series(draws: Table, measures: Sequence[str]) -> Iterator[tuple[str, str, str, Array]]:
    """The values of each measure over all data sets."""
    columns = {name: np.array(draws[name]) for name in draws.column_names}
    for rule in RULES:
        for scaling in SCALINGS:
            here = (columns["rule"] == rule) & (columns["scaling"] == scaling)
            for measure in measures:
                yield rule, scaling, measure, columns[measure][here]


def _table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Table:
    return Table({name: [row[place] for row in rows] for place, name in enumerate(names)})


# --- many objects ---------------------------------------------------------------------------------------------


def consistency(sizes: Sequence[int] = SIZES, seed: int = SEED, powers: Mapping[str, float] = POWERS) -> Table:
    """How far memberships are from the true probabilities: true ones, and such as are too sure or too timid of them.

    A rule that knows the true probabilities is left as it is but for chance, which goes with the root of the number of
    objects. One that is too sure or too timid comes nearer to them; how near depends on how well its memberships are
    Beta variables within regions, and no number of objects brings it all the way.
    """
    depths = range(1, len(DEGREES))
    rows = []
    for size in sizes:
        found = [_distances(size, (seed, size, draw), powers) for draw in range(max(1, min(OBJECTS // size, DRAWS)))]
        keys = [(size, rule, depth) for rule in powers for depth in depths]
        rows += [(*key, *far) for key, far in zip(keys, np.mean(found, axis=0).tolist(), strict=True)]
    return _table(("objects", "rule", "depth", "before", "after", "moved"), rows)


def _distances(size: int, seed: tuple[int, ...], powers: Mapping[str, float]) -> list[tuple[float, float, float]]:
    """Of one draw: for each rule and depth, before and after scaling, and between the two."""
    x, truth = drawn(np.random.default_rng(seed), -(-size // len(DEGREES)))
    true, found = true_bayes(x), []
    for power in powers.values():
        given = standardise(true**power, "shift", zero=0.0) if power != 1 else true
        for depth in range(1, len(DEGREES)):
            scaled = Space(given, truth, np.ones(len(truth)), depth=depth).scaled
            found.append((_apart(given, true), _apart(scaled, true), _apart(scaled, given)))
    return found


def _apart(one: Array, other: Array) -> float:
    """The mean distance, in those of the centroid from a corner."""
    return float(np.sqrt(np.square(one - other).sum(axis=1)).mean()) / corner(one.shape[1])


def run(
    seeds: int = 100, seed: int = SEED, *, sizes: Sequence[int] = SIZES, progress: Progress | None = None
) -> Partitions:
    """Draw data sets, fit the rules to each, scale what they say of the test, and measure it.

    Args:
        seeds: How many data sets are drawn.
        seed: Where the random numbers start.
        sizes: How many objects there are where memberships are held against the true probabilities.
        progress: Called with how many data sets are done, and how many there are.

    Returns:
        A Partitions.
    """
    for name, value, least in (("seeds", seeds, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or value < least:
            raise BadOption(f"{name} is {quoted(value)}", mend=f"Give a whole number, {least} or above")
    rows: list[dict[str, Any]] = []
    for number in range(seeds):
        said, truth = memberships(seed + number)
        for rule, given in said.items():
            for scaling in SCALINGS:
                key = {"seed": seed + number, "rule": rule, "scaling": scaling}
                rows.append(key | measured(given, truth, scaling))
        if progress is not None:
            progress(number + 1, seeds)
    draws = Table({name: [row[name] for row in rows] for name in rows[0]})
    return Partitions(_example(draws), _classes(draws), consistency(sizes, seed), draws, seeds)

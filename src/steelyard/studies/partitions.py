"""The example of Sondhauss & Weihs (2001) on many data sets: three rules and their memberships, scaled and drawn.

Whether scaled memberships of many more objects are the true probabilities is tried beside it, which the paper does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.scale import Scale
from ..core.suggestions import refuse_no_count, refuse_no_seed
from ..core.table import Table
from ..families.partition.memberships import standardise
from ..families.partition.space import Space
from ..results.api import compare
from .chi_squared import (
    DEGREES,
    EACH,
    MEASURES,
    NETWORK,
    NORMAL,
    ORIGINAL,
    RAW,
    RULES,
    SCALED,
    SCALINGS,
    SEED,
    TRUE,
    Certainty,
    apart,
    certainty,
    drawn,
    leaning,
    measured,
    memberships,
    true_bayes,
)
from .partition_statements import KLAR, KLAR_SETS, Many, statements
from .statements import statement_table

if TYPE_CHECKING:
    from ..core.typing import Array, Progress

OTHER_DRAWS = (
    "klaR's means are of ten other data sets, and not told is whether objects were assigned by memberships as given or "
    "as scaled, so they stand beside both; z is how many standard errors these are from them."
)
SIZES = (10**3, 10**4, 10**5)
POWERS = {TRUE: 1.0, "too sure": 2.0, "too timid": 0.5}
OBJECTS, DRAWS = 10**5, 10  # in all draws of a size together, and how many there are at most
MANY, SOME = 10**5, 10**3  # objects that statements are tried with: of a certainty, and of a depth
EVERY = 10  # data sets of the example for one draw of that many


@dataclass(frozen=True)
class PartitionStudy:
    """What was found.

    Attributes:
        example: Correctness rate, accuracy and ability to separate of the rules: means and standard deviations over
            the data sets, as given and scaled, beside klaR's.
        classes: The correctness rates of assignments to each class.
        consistency: How far memberships are from the true probabilities, before and after, with ever more objects.
        draws: The measures on every data set; ``reassigned`` is the share of objects that scaled memberships assign to
            another class, ``frequency_gap`` how far mean scaled assignment values are from the frequencies of regions.
        seeds: How many data sets were drawn.
        statements: What the paper says, beside what was found, with a verdict.
    """

    example: Table
    classes: Table
    consistency: Table
    draws: Table
    seeds: int
    statements: Table

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


# --- the example ----------------------------------------------------------------------------------------------


def _example(draws: Table) -> Table:
    rows = []
    for rule, scaling, measure, values in _series(draws, MEASURES):
        mean, spread = float(values.mean()), _spread(values)
        klar = KLAR[rule][MEASURES.index(measure)] if scaling in (ORIGINAL, SCALED) else None
        error = spread * np.sqrt(1 / len(values) + 1 / KLAR_SETS)
        z = None if klar is None else float((mean - klar) / error)
        rows.append((rule, scaling, measure, mean, spread, klar, z))
    return Table.of_rows(("rule", "scaling", "measure", "mean", "sd", "klar", "z"), rows)


def _classes(draws: Table) -> Table:
    rows = []
    for rule, scaling, measure, values in _series(draws, [f"CR {place + 1}" for place in range(len(DEGREES))]):
        known = values[~np.isnan(values)]
        if scaling == RAW:
            rows.append((rule, measure, float(known.mean()) if known.size else None, _spread(known), len(known)))
    return Table.of_rows(("rule", "measure", "mean", "sd", "seeds"), rows)


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
    return Table.of_rows(("objects", "rule", "depth", "before", "after", "moved"), rows)


def _distances(size: int, seed: tuple[int, ...], powers: Mapping[str, float]) -> list[tuple[float, float, float]]:
    """Of one draw: for each rule and depth, before and after scaling, and between the two."""
    x, truth = drawn(np.random.default_rng(seed), -(-size // len(DEGREES)))
    true, found = true_bayes(x), []
    for power in powers.values():
        given = _distorted(true, power)
        for depth in range(1, len(DEGREES)):
            scaled = Space(given, truth, np.ones(len(truth)), depth=depth).scaled
            found.append((apart(given, true), apart(scaled, true), apart(scaled, given)))
    return found


def _distorted(true: Array, power: float) -> Array:
    """Probabilities that are too sure of the true ones, by a power above 1, or too timid, by one below."""
    return standardise(true**power, "shift", zero=0.0) if power != 1 else true


def run(
    seeds: int = 100, seed: int = SEED, *, sizes: Sequence[int] = SIZES, progress: Progress | None = None
) -> PartitionStudy:
    """Draw data sets, fit the rules to each, scale what they say of the test, and measure it.

    Args:
        seeds: How many data sets are drawn.
        seed: Where the random numbers start.
        sizes: How many objects there are where memberships are held against the true probabilities.
        progress: Called with how many data sets are done, and how many there are.

    Returns:
        A PartitionStudy.
    """
    refuse_no_count("seeds", seeds)
    refuse_no_seed(seed)
    rows: list[dict[str, Any]] = []
    certain: dict[str, list[Certainty]] = {rule: [] for rule in POWERS}
    moves, changes = np.empty((seeds, 2)), np.empty(seeds)
    leans = {rule: np.empty(seeds) for rule in RULES}
    for number in range(seeds):
        said, truth = memberships(seed + number)
        for rule, given in said.items():
            leans[rule][number] = leaning(given)
            for scaling in SCALINGS:
                key = {"seed": seed + number, "rule": rule, "scaling": scaling}
                rows.append(key | measured(given, truth, scaling))
        changes[number] = certainty(said[TRUE], truth).change
        moves[number] = [moved for *_, moved in _distances(SOME, (seed + number, SOME), {TRUE: 1.0})]
        if number % EVERY == 0:
            x, classes = drawn(np.random.default_rng((seed + number, MANY)), MANY // len(DEGREES))
            for rule, power in POWERS.items():
                certain[rule].append(certainty(_distorted(true_bayes(x), power), classes))
        if progress is not None:
            progress(number + 1, seeds)
    draws = Table({name: [row[name] for row in rows] for name in rows[0]})
    many = Many(seeds, MANY, certain, changes, leans, moves)
    judged = statement_table(statements(draws, many))
    return PartitionStudy(_example(draws), _classes(draws), consistency(sizes, seed), draws, seeds, judged)


# --- figures ------------------------------------------------------------------------------------------------------

CLASSES = ("G1", "G2", "G3")
FIGURES: dict[str, tuple[tuple[str, str], dict[str, str]]] = {
    "figure1": ((TRUE, NORMAL), {"scaling": "raw"}),
    "figure2": ((NORMAL, NETWORK), {"lines": "truth"}),
    "figure3": ((NORMAL, NETWORK), {"lines": "assigned"}),
}


def draw(folder: Path, seed: int = SEED) -> list[Path]:
    """Draw what three rules say of the objects of one data set: as given, and scaled with lines to corners."""
    import matplotlib.pyplot as plt

    from ..display.plots.style import save_figure

    said, truth = memberships(seed)
    labels = np.array(CLASSES)[truth]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, (rules, options) in FIGURES.items():
        both = compare(labels, {rule: said[rule] for rule in rules}, scale=Scale(CLASSES))
        figure, axes = plt.subplots(figsize=(8.0, 5.0), layout="constrained")
        both.plot.simplex(options.get("scaling", "default"), lines=options.get("lines"), ax=axes)
        paths.append(save_figure(figure, folder / f"partitions_{name}.png"))
    return paths

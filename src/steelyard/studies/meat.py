"""Meat by its water (Mevik 2003, section 6): is the classifier with the fewest errors the one with the least?

The paper's 103 samples are not public. These are 193 others, measured by an instrument of the same principle (Tecator
Infratec; ``data/examples/tecator.txt`` tells more), and the paper's figures stand beside them only to be looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption, quoted
from ..core.suggestions import refuse_no_count
from ..core.table import Table
from ..maths.kernels import expected_sqe
from ..results.api import compare
from ..results.comparison import Comparison
from ..results.rankings import ranking_table
from ..results.ranks import Ranks, in_words, ranked, swapped
from .meat_figures import BY_DISTANCE, BY_ERROR, PAPER, RANKED, WATER
from .statements import statement_table

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes

Progress = Callable[[int, int], None]

COMPONENTS = 6
MEASURES = (
    *("error", "adjusted_error", "apparent_sqerr", "adjusted_sqerr"),
    *("label_error", "label_sqerr", "true_error_low", "true_error_high"),
)
OTHER_DATA = "The paper's figures are of 103 other samples of meat, which are not public."
SEED = 1
LEAST = 80  # samples: of fewer in two halves, a class may be too small for six components


@dataclass(frozen=True)
class Meat:
    """What was found.

    Attributes:
        comparison: All classifiers on the first split, with intervals; ``comparison.differences("error")`` holds them
            against each other.
        rankings: From the best to the worst by error and by squared error: on the first split, with the mean and the
            standard deviation over all splits, beside the paper's value and rank.
        orders: How often each ranking came out.
        swaps: How often the two rankings have two classifiers the other way round, and whether the paper's have.
        splits: Value and rank of each classifier on every split.
        samples: How many samples there are in a split.
        duplicates: How many rows of the data were left out because they are there twice.
        water: The water content of all samples that were drawn for some split.
        losses: By measure and classifier: the mean error and squared error of each of these samples over the splits.
    """

    comparison: Comparison
    rankings: Table
    orders: Table
    swaps: Table
    splits: Table
    samples: int
    duplicates: int
    water: Array
    losses: Mapping[str, Mapping[str, Array]]

    @cached_property
    def statements(self) -> Table:
        """What the paper says in section 6, with what was found and a verdict on the orders."""
        from .meat_statements import statements

        return statement_table(statements(self.comparison, self.water, self.losses))

    def __str__(self) -> str:
        """The rankings, and how much they depend on the split."""
        count = max(self.splits["split"]) + 1
        parts = (
            f"{self.samples} samples of meat; {self.duplicates} duplicates were left out. {OTHER_DATA}",
            repr(self.rankings),
            f"Rankings on {count} splits:",
            repr(self.orders),
            f"On how many of {count} splits the two rankings have a pair the other way round:",
            repr(self.swaps),
        )
        return "\n".join(part.rstrip("\n") for part in parts)

    __repr__ = __str__


def samples() -> tuple[Array, Array, int]:
    """Spectra and water, without rows that are there twice, which would be in training and test; and their number."""
    from ..data.sources import read

    with resources.as_file(resources.files("steelyard") / "data" / "examples" / "tecator.csv") as file:
        table = read(file)
    rows = np.stack([np.asarray(table[name], dtype=np.float64) for name in table.column_names], axis=1)
    kept = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    channels = [name.startswith("ch") for name in table.column_names]
    water = table.column_names.index("moisture")
    return rows[kept][:, channels], rows[kept, water], len(rows) - len(kept)


def rules() -> dict[str, Any]:
    """The classifiers of the paper, fitted to the classes of water."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    from ..modelling.cut_rules import CutClassifier

    classifiers = {
        "lda": LinearDiscriminantAnalysis(),
        "qda": QuadraticDiscriminantAnalysis(),
        "1-nn": KNeighborsClassifier(1),
        "3-nn": KNeighborsClassifier(3),
        "tree": DecisionTreeClassifier(criterion="gini", random_state=0),
    }
    return {name: CutClassifier(classifier, WATER) for name, classifier in classifiers.items()}


def assigned(
    spectra: Array, water: Array, contestants: Mapping[str, Any], folds: int, seed: int
) -> dict[str, AnyArray]:
    """What each rule assigns out of fold; principal components are found anew in each training segment."""
    from sklearn.base import clone
    from sklearn.decomposition import PCA
    from sklearn.model_selection import KFold

    found = {name: np.empty(len(water), dtype=object) for name in contestants}
    small = seed % 2**32  # scikit-learn takes no other
    for train, test in KFold(folds, shuffle=True, random_state=small).split(spectra):
        # Six of a hundred components are found sooner alone than among all.
        components = PCA(COMPONENTS, svd_solver="arpack", random_state=small).fit(spectra[train])
        seen, unseen = components.transform(spectra[train]), components.transform(spectra[test])
        for name, rule in contestants.items():
            found[name][test] = clone(rule).fit(seen, water[train]).predict(unseen)
    return found


def meat(
    folds: int = 10,
    repeats: int = 1,
    seed: int = SEED,
    *,
    size: int | None = None,
    others: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Meat:
    """Cross-validate the paper's classifiers of meat, and rank them by error and by squared error.

    Args:
        folds: Into how many segments the samples are split.
        repeats: How many times they are, at random.
        seed: Where the random numbers start.
        size: How many samples are drawn for each split, all if not given: with 103, as many as the paper had, rankings
            depend on the samples too.
        others: Further rules by name, which are fitted to the principal components and the water:
            ``{"regression": RegressionRule(LinearRegression(), WATER)}``.
        progress: Called with how many splits are done, and how many there are.

    Returns:
        A Meat.
    """
    spectra, water, duplicates = samples()
    size = len(water) if size is None else size
    _check(folds, repeats, seed, size, len(water))
    contestants = rules() | dict(others or {})
    losses = Losses(water, contestants)
    comparisons = []
    for split in range(repeats):
        drawn = np.sort(np.random.default_rng(seed + split).permutation(len(water))[:size])
        labels = assigned(spectra[drawn], water[drawn], contestants, folds, seed + split)
        comparisons.append(compare(water[drawn], labels, scale=WATER, measures=RANKED if split else MEASURES))
        losses.add(drawn, labels)
        if progress is not None:
            progress(split + 1, repeats)
    return _summed_up(comparisons, losses, size, duplicates)


class Losses:
    """The error and squared error of each sample, summed over the splits in which it was drawn."""

    def __init__(self, water: Array, names: Iterable[str]) -> None:
        """Begin with no split."""
        self.water = water
        self.times = np.zeros(len(water))
        self.sums = {measure: {name: np.zeros(len(water)) for name in names} for measure in RANKED}
        self.distance = expected_sqe(water, 0.0, WATER.boundaries)
        self.labels = WATER.cut(water)

    def add(self, drawn: Codes, assigned: Mapping[str, AnyArray]) -> None:
        """Add a split."""
        self.times[drawn] += 1
        for name, labels in assigned.items():
            codes = np.searchsorted(WATER.classes, labels.astype(str))
            self.sums[BY_ERROR][name][drawn] += codes != self.labels[drawn]
            self.sums[BY_DISTANCE][name][drawn] += self.distance[drawn, codes]

    def means(self) -> tuple[Array, dict[str, dict[str, Array]]]:
        """The water of the samples that were drawn, and their mean losses."""
        some = self.times > 0
        return self.water[some], {
            measure: {name: total[some] / self.times[some] for name, total in totals.items()}
            for measure, totals in self.sums.items()
        }


def _summed_up(comparisons: Sequence[Comparison], losses: Losses, size: int, duplicates: int) -> Meat:
    """One comparison a split, as tables."""
    water, means = losses.means()
    found = [ranking_table(comparison, RANKED) for comparison in comparisons]
    splits, ranks = _below_each_other(found), [_ranks(each) for each in found]
    return Meat(
        comparisons[0],
        rankings=_beside(found[0], splits),
        orders=_orders(ranks),
        swaps=_swaps(ranks, comparisons[0].models),
        splits=splits,
        samples=size,
        duplicates=duplicates,
        water=water,
        losses=means,
    )


def run(
    folds: int = 10, repeats: int = 20, seed: int = SEED, *, size: int | None = None, progress: Progress | None = None
) -> Meat:
    """Run the study on so many splits that it shows how much the rankings depend on them."""
    return meat(folds, repeats, seed, size=size, progress=progress)


def _check(folds: int, repeats: int, seed: int, size: int, most: int) -> None:
    if not isinstance(size, int) or not LEAST <= size <= most:
        raise BadOption(f"size is {quoted(size)}", mend=f"Give a whole number from {LEAST} to {most}")
    if not isinstance(folds, int) or not 2 <= folds <= size:
        raise BadOption(f"folds is {quoted(folds)}", mend=f"Give a whole number from 2 to {size}")
    refuse_no_count("repeats", repeats)
    if not isinstance(seed, int) or seed < 0:
        raise BadOption(f"seed is {quoted(seed)}", mend="Give a whole number, 0 or above")


def _ranks(ranking: Table) -> dict[str, Ranks]:
    """The rank of each classifier by each measure."""
    found: dict[str, dict[str, int | None]] = {measure: {} for measure in RANKED}
    for row in ranking:
        found[row["measure"]][row["model"]] = row["rank"]
    return dict(found)


def _below_each_other(rankings: Sequence[Table]) -> Table:
    columns = ("measure", "model", "value", "rank")
    return Table(
        {"split": [split for split, table in enumerate(rankings) for _ in range(len(table))]}
        | {name: [value for table in rankings for value in table[name]] for name in columns}
    )


def _beside(ranking: Table, splits: Table) -> Table:
    """The ranking of one split with mean and standard deviation over all, and what the paper has."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in splits:
        values.setdefault((row["measure"], row["model"]), []).append(row["value"])
    keys = list(zip(ranking["measure"], ranking["model"], strict=True))
    return Table(
        ranking.columns
        | {
            "mean": [float(np.mean(values[key])) for key in keys],
            "deviation": [float(np.std(values[key], ddof=1)) if len(values[key]) > 1 else np.nan for key in keys],
            "paper": [PAPER[measure].get(model) for measure, model in keys],
            "paper_rank": [ranked(PAPER[measure]).get(model) for measure, model in keys],
        }
    )


def _orders(ranks: Sequence[Mapping[str, Ranks]]) -> Table:
    counts = [
        (measure, *count)
        for measure in RANKED
        for count in Counter(in_words(each[measure]) for each in ranks).most_common()
    ]
    return Table(
        {
            "measure": [measure for measure, _, _ in counts],
            "ranking": [ranking for _, ranking, _ in counts],
            "splits": [splits for _, _, splits in counts],
            "share": [splits / len(ranks) for _, _, splits in counts],
        }
    )


def _swaps(ranks: Sequence[Mapping[str, Ranks]], names: Sequence[str]) -> Table:
    """Every pair of classifiers, and how often the two measures disagree about it."""
    counts = Counter(pair for each in ranks for pair in swapped(each[BY_ERROR], each[BY_DISTANCE]))
    paper = swapped(ranked(PAPER[BY_ERROR]), ranked(PAPER[BY_DISTANCE]))
    pairs = [frozenset(pair) for pair in combinations(names, 2)]
    return Table(
        {
            "a": [a for a, _ in combinations(names, 2)],
            "b": [b for _, b in combinations(names, 2)],
            "splits": [counts[pair] for pair in pairs],
            "share": [counts[pair] / len(ranks) for pair in pairs],
            "paper": [pair in paper if pair <= PAPER[BY_ERROR].keys() else None for pair in pairs],
        }
    )

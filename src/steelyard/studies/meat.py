"""Meat by its water (Mevik 2003, section 6): is the classifier with the fewest errors the one with the least?

The paper's 103 samples are not public. These are 193 others, measured by an instrument of the same principle (Tecator
Infratec; ``data/examples/tecator.txt`` tells more), and the paper's figures stand beside them only to be looked at.
Printed values get no verdict. Orders do: the losses of each sample are averaged over the splits, and the interval of a
difference is that of a mean over samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption, quoted
from ..core.scale import Continuum
from ..core.suggestions import refuse_no_count, refuse_no_seed
from ..core.table import Table
from ..maths.kernels import expected_sqe, outside_probabilities
from ..modelling.fits import counted
from ..results.api import compare
from ..results.comparison import Comparison
from ..results.verdicts import Ranks, in_words, ranked, ranking_table, swapped
from .statements import (
    ABOVE_ZERO,
    MonteCarloEstimate,
    Quantity,
    Range,
    Statement,
    chance_explains,
    furthest,
    mean,
    paragraphs,
    smallest,
    spread,
    statement_table,
    within,
)

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Progress

    Means = Mapping[str, Mapping[str, MonteCarloEstimate]]
    Losses = Mapping[str, Mapping[str, Array]]

WATER = Continuum([65.0], ["at most 65 %", "more than 65 %"], sd=0.22, closed="right")
BY_ERROR, BY_DISTANCE = RANKED = ("error", "apparent_sqerr")
PRINTED = {
    BY_ERROR: {"qda": "0.18", "lda": "0.20", "3-nn": "0.28", "tree": "0.28", "1-nn": "0.33"},
    BY_DISTANCE: {"lda": "0.55", "qda": "1.10", "tree": "2.44", "1-nn": "7.74", "3-nn": "11.1"},
}
PAPER = {measure: {name: float(figure) for name, figure in figures.items()} for measure, figures in PRINTED.items()}


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
        return statement_table(statements(self.comparison, self.water, self.losses))

    def __str__(self) -> str:
        """The rankings, and how much they depend on the split."""
        count = max(self.splits["split"]) + 1
        return paragraphs(
            f"{self.samples} samples of meat; {self.duplicates} duplicates were left out. {OTHER_DATA}",
            repr(self.rankings),
            f"Rankings on {count} splits:",
            repr(self.orders),
            f"On how many of {count} splits the two rankings have a pair the other way round:",
            repr(self.swaps),
        )

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


def run(
    folds: int = 10,
    repeats: int = 20,
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
    comparisons, assignments = [], []
    for split in counted(range(repeats), progress):
        drawn = np.sort(np.random.default_rng(seed + split).permutation(len(water))[:size])
        labels = assigned(spectra[drawn], water[drawn], contestants, folds, seed + split)
        comparisons.append(compare(water[drawn], labels, scale=WATER, measures=RANKED if split else MEASURES))
        assignments.append((drawn, labels))
    found = [ranking_table(comparison, RANKED) for comparison in comparisons]
    splits, ranks = _below_each_other(found), [_ranks(each) for each in found]
    some, losses = _mean_losses(water, assignments)
    return Meat(
        comparisons[0],
        rankings=_beside(found[0], splits),
        orders=_orders(ranks),
        swaps=_swaps(ranks, comparisons[0].models),
        splits=splits,
        samples=size,
        duplicates=duplicates,
        water=water[some],
        losses=losses,
    )


def _mean_losses(water: Array, assignments: Sequence[tuple[Codes, Mapping[str, AnyArray]]]) -> tuple[Marks, Losses]:
    """Return which samples were drawn for some split, and the mean error and squared error of each over its splits."""
    times, distance, truth = np.zeros(len(water)), expected_sqe(water, 0.0, WATER.boundaries), WATER.cut(water)
    sums = {measure: {name: np.zeros(len(water)) for name in assignments[0][1]} for measure in RANKED}
    for drawn, assigned in assignments:
        times[drawn] += 1
        for name, labels in assigned.items():
            codes = np.searchsorted(WATER.classes, labels.astype(str))
            sums[BY_ERROR][name][drawn] += codes != truth[drawn]
            sums[BY_DISTANCE][name][drawn] += distance[drawn, codes]
    some = times > 0
    return some, {
        measure: {name: total[some] / times[some] for name, total in totals.items()} for measure, totals in sums.items()
    }


def _check(folds: int, repeats: int, seed: int, size: int, most: int) -> None:
    if not isinstance(size, int) or not LEAST <= size <= most:
        raise BadOption(f"size is {quoted(size)}", mend=f"Give a whole number from {LEAST} to {most}")
    if not isinstance(folds, int) or not 2 <= folds <= size:
        raise BadOption(f"folds is {quoted(folds)}", mend=f"Give a whole number from 2 to {size}")
    refuse_no_count("repeats", repeats)
    refuse_no_seed(seed)


def _ranks(ranking: Table) -> dict[str, Ranks]:
    """The rank of each classifier by each measure."""
    found: dict[str, dict[str, int | None]] = {measure: {} for measure in RANKED}
    for row in ranking:
        found[row["measure"]][row["model"]] = row["rank"]
    return dict(found)


def _below_each_other(rankings: Sequence[Table]) -> Table:
    names = ("measure", "model", "value", "rank")
    rows = [(split, *(row[name] for name in names)) for split, table in enumerate(rankings) for row in table]
    return Table.of_rows(("split", *names), rows)


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
            "deviation": [spread(np.array(values[key])) for key in keys],
            "paper": [PAPER[measure].get(model) for measure, model in keys],
            "paper_rank": [ranked(PAPER[measure]).get(model) for measure, model in keys],
        }
    )


def _orders(ranks: Sequence[Mapping[str, Ranks]]) -> Table:
    rows = [
        (measure, ranking, splits, splits / len(ranks))
        for measure in RANKED
        for ranking, splits in Counter(in_words(each[measure]) for each in ranks).most_common()
    ]
    return Table.of_rows(("measure", "ranking", "splits", "share"), rows)


def _swaps(ranks: Sequence[Mapping[str, Ranks]], names: Sequence[str]) -> Table:
    """Every pair of classifiers, and how often the two measures disagree about it."""
    counts = Counter(pair for each in ranks for pair in swapped(each[BY_ERROR], each[BY_DISTANCE]))
    paper = swapped(ranked(PAPER[BY_ERROR]), ranked(PAPER[BY_DISTANCE]))
    rows: list[tuple[Any, ...]] = []
    for a, b in combinations(names, 2):
        pair = frozenset((a, b))
        swaps = pair in paper if pair <= PAPER[BY_ERROR].keys() else None
        rows.append((a, b, counts[pair], counts[pair] / len(ranks), swaps))
    return Table.of_rows(("a", "b", "splits", "share", "paper"), rows)


# --- statements ---------------------------------------------------------------------------------------------------

SOURCE = "Mevik 2003, section 6"
PAPERS = 103  # samples of the paper
SHORT = {BY_ERROR: "err", BY_DISTANCE: "sqerr"}
EQUAL = within(0.01)  # figures of two decimals that are printed alike
NO_REPLICATES = "the Tecator data has no repeated measurements: the study takes this figure from the paper"


def statements(comparison: Comparison, water: Array, losses: Losses) -> list[Statement]:
    """Return every statement: printed values beside ours, and orders with their verdict.

    Args:
        comparison: All classifiers on the first split.
        water: The water content of all samples.
        losses: By measure and classifier: the mean loss of each sample over the splits.
    """
    means = {measure: {name: mean(values) for name, values in by_name.items()} for measure, by_name in losses.items()}
    return [
        *_figures(comparison, means, _of_error(water, losses[BY_ERROR])),
        *_order_statements(means),
        *_disagreements(means),
    ]


def _figures(comparison: Comparison, means: Means, of_error: list[MonteCarloEstimate]) -> Iterator[Statement]:
    unknown = Quantity(np.nan, np.nan, np.nan)
    yield Statement("The standard deviation of the measurements is .22%", SOURCE, "0.22", None, unknown, NO_REPLICATES)
    label = comparison[comparison.models[0]]
    for measure, name, figure in (("label_error", "err", "0.015"), ("label_sqerr", "sqerr", "3.2e-4")):
        value = label[measure]
        quantity = Quantity(value.value, value.low, value.high)
        yield Statement(f"The estimated data {name} is {figure}", SOURCE, figure, None, quantity)
    text = "Adjusted and unadjusted estimates differ by less than"
    for name, figure, adjustments in (
        ("erc", "0.01", of_error),
        ("sqerc", "0.02", [each * -(WATER.sd**2) for each in means[BY_ERROR].values()]),
    ):
        quantity = furthest(adjustments)._replace(repetitions=0)
        yield Statement(f"{text} {figure} ({name})", SOURCE, f"below {figure}", None, quantity)
    for measure in RANKED:
        for name, figure in PRINTED[measure].items():
            quantity = means[measure][name].quantity._replace(repetitions=0)
            yield Statement(f"The {SHORT[measure]} of {name} is {figure}", SOURCE, figure, None, quantity)


def _of_error(water: Array, losses: Mapping[str, Array]) -> list[MonteCarloEstimate]:
    """How much the adjusted error count of each classifier differs from the unadjusted one (25)."""
    label = WATER.cut(water)
    wrong = outside_probabilities(water, WATER.sd, WATER.boundaries, WATER.closed)
    weight = 1 - wrong[np.arange(len(label)), label]
    return [mean(weight * losses[name]) / mean(weight) - mean(losses[name]) for name in PRINTED[BY_ERROR]]


def _order_statements(means: Means) -> Iterator[Statement]:
    """The two orders by their neighbouring pairs."""
    for measure in RANKED:
        for one, other in pairwise(PRINTED[measure]):
            yield _pair(means, measure, one, other)
    yield _pair(means, BY_ERROR, "3-nn", "1-nn")
    yield _pair(means, BY_DISTANCE, "tree", "3-nn")


def _pair(means: Means, measure: str, one: str, other: str) -> Statement:
    difference, short = means[measure][other] - means[measure][one], SHORT[measure]
    if PAPER[measure][one] == PAPER[measure][other]:
        return _judged(f"{one} and {other} are equal by {short}: difference", "0", EQUAL, difference.quantity)
    return _judged(f"{one} is better than {other} by {short}: difference", "above 0", ABOVE_ZERO, difference.quantity)


def _disagreements(means: Means) -> Iterator[Statement]:
    """Pairs that the two measures put the other way round: both differences, as shares of the mean of the two."""
    for by_error, by_distance in (("qda", "lda"), ("3-nn", "1-nn")):
        shares = [
            _share(means[BY_ERROR], by_error, by_distance),
            _share(means[BY_DISTANCE], by_distance, by_error),
        ]
        text = f"{by_error} is better than {by_distance} by err and worse by sqerr: smaller relative difference"
        yield _judged(text, "above 0", ABOVE_ZERO, smallest(shares))


def _share(means: Mapping[str, MonteCarloEstimate], one: str, other: str) -> MonteCarloEstimate:
    return (means[other] - means[one]) / (means[other] + means[one]) * 2.0


def _judged(text: str, paper: str, asked: Range, quantity: Quantity) -> Statement:
    """Return a statement whose interval more samples would narrow, but not more splits."""
    statement = Statement(text, SOURCE, paper, asked, quantity)
    samples = f"about {needed:,} samples" if (needed := statement.repetitions) else "more samples"
    note = f"{samples} would settle it, more splits would not" if statement.verdict == "not settled" else ""
    because = f"these are other samples; {chance_explains(asked, quantity, PAPERS, 'samples')}"
    return replace(statement, quantity=quantity._replace(repetitions=0), note=note, reason=because)

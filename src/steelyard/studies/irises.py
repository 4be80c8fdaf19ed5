"""The example of Ross's lecture: irises by their nearest neighbours, and how many of these should vote.

The lecture shows one curve of one split. Many splits show how much of that curve is chance, and R's means over many
splits stand beside ours. Ties are treated as in R's class::knn, since 150 flowers measured to a tenth are often as far
away as each other: all rows as far away as the last that votes have a vote, too, and a class is drawn among those with
the most votes. (The first class of them, as scikit-learn has it, would be another classifier where k is even.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import deal
from ..core.cached import cached_property
from ..core.errors import BadOption
from ..core.suggestions import refuse_no_count, refuse_no_seed
from ..core.table import Table
from ..modelling.fits import counted
from ..modelling.leave_out import shares
from ..modelling.splits import make_plan
from .classifiers import DataSets, linear_discriminants, quadratic_discriminants
from .classifiers import NearestNeighbours as Nearest
from .lecture import (
    BEST_OF_MORE,
    BRIER,
    COUNT,
    HARD,
    LECTURE,
    LOG,
    NormalClasses,
    Runs,
    below_each_other,
    errors,
    statements,
)
from .statements import paragraphs, statement_table

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Places, Progress
    from ..display.plots.levels import IrisesDisplay


NUMBERS = range(1, 11)  # of neighbours
FOLDS = 10
SEED = 1
AS_FAR = 1e-4  # of a squared distance: what differs by less is the same to class::knn
SETS = 20  # data sets like the irises for each split
# Mean and standard error of the accuracy over 50 splits into ten folds, k = 1 to 10: R 4.2.2, class::knn 7.3-21, folds
# by caret::createFolds 6.0-93, which stratifies, and by sample(), which does not.
R_SPLITS = 50
R_MEANS = {
    True: (0.959200, 0.954133, 0.960667, 0.962533, 0.965467, 0.966667, 0.968000, 0.968533, 0.971333, 0.967733),
    False: (0.958667, 0.955467, 0.961467, 0.964000, 0.964800, 0.965333, 0.965733, 0.968000, 0.968133, 0.965067),
}
R_ERRORS = {
    True: (0.000309, 0.000777, 0.000547, 0.000828, 0.000730, 0.000852, 0.001043, 0.001250, 0.001012, 0.001050),
    False: (0.000426, 0.000795, 0.000514, 0.000952, 0.000990, 0.001263, 0.001143, 0.000971, 0.001115, 0.001243),
}


@dataclass(frozen=True, eq=False)
class Irises:
    """What was found.

    Attributes:
        curve: For every number of neighbours k, the accuracy on rows held out: mean, sd, min and max over the splits,
            and se of the mean; that in training, and the gap; on how many splits no other k is better; R's mean, and z,
            how many standard errors of the difference ours is from it.
        splits: The accuracy of every k on every split, held out and in training.
        rows: How many flowers there are.
        folds: Into how many parts they are split.
        stratified: Whether every part has as many flowers of each species.
        statements: What the lecture says, beside what was found, with a verdict.
    """

    curve: Table
    splits: Table
    rows: int
    folds: int
    stratified: bool
    statements: Table

    @cached_property
    def counts(self) -> Table:
        """On how many splits each accuracy came out, for every k."""
        pairs = list(zip(self.splits["k"], self.splits["accuracy"], strict=True))
        rounded = [(k, round(accuracy, 9)) for k, accuracy in pairs]
        return Table.of_rows(
            ("k", "accuracy", "splits"), [(*pair, rounded.count(pair)) for pair in sorted(set(rounded))]
        )

    def display(self) -> IrisesDisplay:
        """The picture of the curve, ready to be drawn."""
        from ..display.plots.levels import IrisesDisplay

        return IrisesDisplay(self.curve, self.counts)

    def draw(self, folder: Path) -> Path:
        """Draw the curve into a folder."""
        from matplotlib import pyplot

        from ..display.plots.levels import IRISES
        from ..display.plots.style import save_figure

        folder.mkdir(parents=True, exist_ok=True)
        figure, axes = pyplot.subplots(figsize=IRISES, layout="constrained")
        self.display().plot(axes)
        return save_figure(figure, folder / "knn.png")

    def __str__(self) -> str:
        """The curve, and what is to be learned from it."""
        dealt = "stratified by species" if self.stratified else "not stratified"
        count = max(self.splits["split"]) + 1
        return paragraphs(
            f"{self.rows} irises by 4 variables as they were measured; {self.folds} folds, {dealt}, "
            f"dealt {count:,} times. Accuracy of k nearest neighbours on rows held out, and in training; r is the mean "
            f"over {R_SPLITS} splits in R, z how many standard errors of the difference lie between.",
            repr(self.curve),
            *_lessons(self.curve, self.rows, count),
        )

    __repr__ = __str__


def _lessons(curve: Table, rows: int, splits: int) -> list[str]:
    """What the curve says, in sentences."""
    first, *_, last = found = list(curve)
    best = max(found, key=lambda row: row["mean"])
    chosen = [row["k"] for row in found if row["best"]]
    error = float(np.sqrt(best["mean"] * (1 - best["mean"]) / rows))
    return [
        f"Training flatters: it has {first['training']:.3f} at k = {first['k']}, where rows held out have "
        f"{first['mean']:.3f}; the gap is {first['gap']:.3f} there and {last['gap']:.3f} at k = {last['k']}.",
        f"The mean is highest at k = {best['k']}. Single splits are best at k = {', '.join(map(str, chosen))}; "
        f"the one of the lecture was at k = {LECTURE}.",
        f"sd and se tell how much hangs on the split, and nothing else: that {best['mean']:.3f} of {rows} flowers are "
        f"right has a standard error of {error:.3f}, on however many splits ({splits:,} here).",
    ]


# --- votes ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankedNeighbours:
    """All rows as seen from each row, nearest first; those that are not there are passed over.

    Attributes:
        codes: The class of each row.
        order: The other rows and itself, from the nearest to the farthest, (rows, places).
        reach: The last place that is as far away as a place, (rows, places).
    """

    codes: Codes
    order: Places
    reach: Places

    @classmethod
    def of(cls, x: Array, codes: Codes) -> RankedNeighbours:
        """Look for the neighbours, once for all."""
        distance = np.square(x[:, None] - x).sum(axis=-1)
        order = np.argsort(distance, axis=1, kind="stable")
        distance = np.take_along_axis(distance, order, axis=1)
        as_far = distance * (1 + AS_FAR)
        reach = [np.searchsorted(own, limit, side="right") - 1 for own, limit in zip(distance, as_far, strict=True)]
        return cls(codes, order, np.stack(reach))

    def votes(self, away: Marks, numbers: Sequence[int]) -> Codes:
        """Votes for every class at every row where some rows are away, (rows, numbers, classes)."""
        # Farther than this no row has a vote, even if all that are away were the nearest.
        deepest = int(self.reach[:, int(away.sum()) + max(numbers) - 1].max()) + 1
        order = self.order[:, :deepest]
        here = ~away[order]
        ballots = here[..., None] & (self.codes[order][..., None] == np.arange(self.codes.max() + 1))
        place = (np.cumsum(here, axis=1)[..., None] < np.asarray(numbers)).sum(axis=1)
        reached = np.take_along_axis(self.reach, place, axis=1)
        return np.asarray(np.take_along_axis(np.cumsum(ballots, axis=1), reached[..., None], axis=1))


def one_of_the_first(votes: Codes, random: np.random.Generator) -> Codes:
    """The class with the most votes, drawn where there are several: less than one vote decides between them."""
    return np.asarray((votes + random.random(votes.shape)).argmax(axis=-1))


def accuracies(
    neighbours: RankedNeighbours,
    parts: Sequence[Places],
    numbers: Sequence[int],
    random: np.random.Generator,
    training: bool = True,
) -> tuple[Array, Array]:
    """Shares of right rows, in the mean over parts: of those held out, and of those that a fit has seen, if asked."""
    held, seen = [], []
    for part in parts:
        away = np.zeros(len(neighbours.codes), dtype=bool)
        away[part] = True
        rows = np.arange(len(away)) if training else part
        own = replace(neighbours, order=neighbours.order[rows], reach=neighbours.reach[rows])
        right = one_of_the_first(own.votes(away, numbers), random) == neighbours.codes[rows, None]
        held.append(right[away[rows]].mean(axis=0))
        seen.append(right[~away[rows]].mean(axis=0) if training else np.full(len(numbers), np.nan))
    return np.mean(held, axis=0), np.mean(seen, axis=0)


# --- the study ------------------------------------------------------------------------------------------------


def irises() -> tuple[Array, Codes]:
    """Sepals and petals, by length and width, and the species."""
    from sklearn.datasets import load_iris

    x, codes = load_iris(return_X_y=True)
    return np.asarray(x, dtype=np.float64), np.asarray(codes)


def run(
    splits: int = 50,
    seed: int = SEED,
    folds: int = FOLDS,
    *,
    stratified: bool = True,
    sets: int = SETS,
    progress: Progress | None = None,
) -> Irises:
    """Cross-validate nearest neighbours of irises on many splits, with 1 to 10 of them voting.

    Args:
        splits: How often the flowers are dealt into folds; the folds are those of ``cross_assess(cv=folds,
            repeats=splits, seed=seed)``.
        seed: Where the random numbers start.
        folds: How many folds.
        stratified: Whether each has as many flowers of each species.
        sets: How many data sets like the irises are drawn for each split, to see how error rates scatter.
        progress: Called with how many splits are done, and how many there are.

    Returns:
        An Irises.
    """
    for name, value, least in (("splits", splits, 1), ("folds", folds, 2), ("sets", sets, 1)):
        refuse_no_count(name, value, least)
    refuse_no_seed(seed)
    x, codes = irises()
    most, what = (int(np.bincount(codes).max()), "each species") if stratified else (len(codes), "all")
    if folds > most:
        raise BadOption(f"{folds} folds, and {most} flowers of {what}", mend=f"Take {most} folds at most")
    neighbours, population = RankedNeighbours.of(x, codes), NormalClasses.like(x, codes)
    held, seen = np.empty((2, splits, len(NUMBERS)))
    more, folds_of = np.empty(splits), np.empty((splits, len(codes)), dtype=np.intp)
    drawn: list[dict[str, dict[str, Array]]] = []
    for split in counted(range(splits), progress):
        parts = _parts(x, codes, folds, seed + split, stratified)
        # Another stream than that of the folds, which starts at the same number.
        held[split], seen[split] = accuracies(neighbours, parts, NUMBERS, np.random.default_rng((seed + split, 1)))
        random = np.random.default_rng((seed + split, 2))
        more[split] = accuracies(neighbours, parts, (BEST_OF_MORE,), random, training=False)[0][0]
        for fold, part in enumerate(parts):
            folds_of[split, part] = fold
        drawn.append(errors(population, sets, np.random.default_rng((seed + split, 3))))
    curve = _curve(held, seen, stratified if folds == FOLDS else None)
    runs = Runs(NUMBERS, held, seen, more, scores(x, codes, folds_of), below_each_other(drawn))
    judged = statement_table(statements(runs))
    return Irises(curve, _splits(held, seen), len(codes), folds, stratified, judged)


def scores(x: Array, codes: Codes, folds: Codes) -> dict[str, dict[str, Array]]:
    """Return the error count, the log score and the Brier score of some classifiers on every split.

    Args:
        x: The variables of all rows.
        codes: Their classes.
        folds: The fold of each row on every split, (splits, rows).
    """
    splits, classes = len(folds), int(codes.max()) + 1
    batch = DataSets(np.broadcast_to(x, (splits, *x.shape)), np.broadcast_to(codes, folds.shape), folds, classes)
    soft = {"lda": linear_discriminants(batch), "qda": quadratic_discriminants(batch)}
    chances = {name: shares(fitted.held_out_scores()) for name, fitted in soft.items()}
    true = codes == np.arange(classes)[:, None]
    # A classifier without probabilities gives its class the probability 1.
    hard = np.arange(classes)[:, None] == Nearest(batch, LECTURE).held_out()[:, None]
    every = chances | {HARD: hard.astype(np.float64)}
    return {
        COUNT: {name: (each.argmax(axis=1) != codes).mean(axis=1) for name, each in every.items()},
        LOG: {name: -np.log((each * true).sum(axis=1)).mean(axis=1) for name, each in chances.items()},
        BRIER: {name: np.square(each - true).sum(axis=1).mean(axis=1) for name, each in every.items()},
    }


def _parts(x: Array, codes: Codes, folds: int, seed: int, stratified: bool) -> Sequence[Places]:
    if stratified:
        return [split.test for split in make_plan(folds, x, codes, seed=seed).splits]
    return deal(len(codes), folds, None, seed)


def _curve(held: Array, seen: Array, like: bool | None) -> Table:
    """One row a number of neighbours, beside R's where it has split the rows alike."""
    spread = held.std(axis=0, ddof=1) if len(held) > 1 else np.full(len(NUMBERS), np.nan)
    mean, error, training = held.mean(axis=0), spread / np.sqrt(len(held)), seen.mean(axis=0)
    nobody_better = (held >= held.max(axis=1, keepdims=True) - 1e-9).sum(axis=0)
    beside: dict[str, list[float | None]] = {name: [None] * len(NUMBERS) for name in ("r", "z")}
    if like is not None:
        apart = (mean - R_MEANS[like]) / np.hypot(error, R_ERRORS[like])
        beside = {"r": list(R_MEANS[like]), "z": apart.tolist()}
    columns = {"mean": mean, "sd": spread, "min": held.min(axis=0), "max": held.max(axis=0), "se": error}
    columns |= {"training": training, "gap": training - mean, "best": nobody_better}
    return Table({"k": list(NUMBERS)} | {name: values.tolist() for name, values in columns.items()} | beside)


def _splits(held: Array, seen: Array) -> Table:
    pairs = [(split, number) for split in range(len(held)) for number in NUMBERS]
    columns = zip(pairs, held.ravel().tolist(), seen.ravel().tolist(), strict=True)
    return Table.of_rows(("split", "k", "accuracy", "training"), [(*pair, *values) for pair, *values in columns])

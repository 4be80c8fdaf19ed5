"""Classifiers on many data sets: mean ranks, Friedman's test, and all pairs by three methods."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.arrays import evened
from ..core.cached import cached_property
from ..core.columns import as_number, is_missing, read_frame, refuse_twice, things_in
from ..core.errors import (
    BadOption,
    MissingValues,
    NotNumbers,
    TooFewRows,
    UnknownMeasure,
    UnknownModel,
    WrongShape,
    harmless,
    quoted,
)
from ..core.scale import listed
from ..core.suggestions import did_you_mean, refuse_no_count, refuse_no_seed, refuse_unknown, with_known_options
from ..core.table import Table, table_html, table_text
from ..core.text import number
from ..inference.differences import holm
from ..inference.settings import refuse_level
from ..measures import find, refuse_of_class
from ..measures.registry import Measure
from . import accessors
from .comparison import Comparison
from .hypothesis_tests import (
    Friedman,
    Nemenyi,
    cliques,
    critical_value,
    friedman_test,
    mean_ranks_by_row,
    posterior,
    range_p_values,
    rank_error,
    signed_rank,
    steady,
)
from .verdicts import p_value

if TYPE_CHECKING:
    from ..core.typing import Array
    from .accessors import AcrossPictures


Better = Literal["lower", "higher"]
Method = Literal["nemenyi", "wilcoxon"]
METHODS = ("nemenyi", "wilcoxon")


@dataclass(frozen=True, eq=False, repr=False)
class AcrossDatasets:
    """One value of every classifier on every data set, and what can be said of the classifiers by them.

    Attributes:
        values: One row a data set, one column a classifier.
        datasets: The names of the data sets.
        models: The names of the classifiers.
        better: Which end of the values is better.
        level: One less the chance that is allowed for calling classifiers different that are not.
        measure: What the values are, if that was said.
    """

    values: Array
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    better: Better
    level: float = 0.95
    measure: str = ""

    @cached_property
    def _ranks(self) -> Array:
        return mean_ranks_by_row(self.values, self.better == "lower")

    @cached_property
    def _mean_ranks(self) -> Array:
        return np.asarray(self._ranks.mean(axis=0))

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """All pairs of classifiers, the first named before the second."""
        return list(combinations(range(len(self.models)), 2))

    def ranks(self) -> Table:
        """The classifiers from the best mean rank to the worst.

        Columns: model, mean_rank, wins (the data sets on which nobody is better) and mean_value. Equal values share
        the mean of their ranks.
        """
        turned = evened(self.values if self.better == "lower" else -self.values)
        wins = (turned == turned.min(axis=1, keepdims=True)).sum(axis=0)
        order = np.argsort(self._mean_ranks, kind="stable").tolist()
        return Table(
            {
                "model": [self.models[place] for place in order],
                "mean_rank": [float(self._mean_ranks[place]) for place in order],
                "wins": [int(wins[place]) for place in order],
                "mean_value": [float(self.values[:, place].mean()) for place in order],
            }
        )

    def friedman(self) -> Friedman:
        """Do all classifiers rank alike? Friedman's test, and the less conservative form of Iman and Davenport."""
        return friedman_test(self._ranks)

    def nemenyi(self) -> Nemenyi:
        """All pairs by their mean ranks, with the difference that these must have (Nemenyi 1963; Demšar 2006).

        Whether two classifiers differ then also depends on which others there are; ``pairs`` is free of that.
        """
        rows, models = self.values.shape
        error, q = rank_error(rows, models), critical_value(models, self.level)
        gaps = [float(self._mean_ranks[a] - self._mean_ranks[b]) for a, b in self._pairs]
        p = range_p_values([gap / error for gap in gaps], models)
        verdicts = [self._kind(each, gap) for each, gap in zip(p, gaps, strict=True)]
        return Nemenyi(q * error, q, Table({**self._named(), "difference": gaps, "p": p, "verdict": verdicts}))

    def pairs(self) -> Table:
        """All pairs by Wilcoxon's signed-rank test, with Holm's adjustment.

        Columns: a, b, wins_a, wins_b, ties, difference (the median of a - b), statistic (the rank sum of the
        differences in favour of a), p, p_adjusted, method ("exact" up to 50 differences other than 0, with ties too,
        else "normal"; "no difference" where all are 0) and verdict ("a" or "b" for the better one, "neither"). Zero
        differences are ranked and then left out (Pratt 1959).
        """
        gains = [self._gain(a, b) for a, b in self._pairs]
        found = [signed_rank(gain) for gain in gains]
        adjusted = holm([one.p for one in found])
        sign = -1.0 if self.better == "lower" else 1.0
        return Table(
            {
                **self._named(),
                "wins_a": [int((gain > 0).sum()) for gain in gains],
                "wins_b": [int((gain < 0).sum()) for gain in gains],
                "ties": [int((gain == 0).sum()) for gain in gains],
                "difference": [float(np.median(sign * gain)) + 0.0 for gain in gains],
                "statistic": [one.statistic for one in found],
                "p": [one.p for one in found],
                "p_adjusted": adjusted,
                "method": [one.method for one in found],
                "verdict": [
                    self._kind(p, one.opposite - one.statistic) for p, one in zip(adjusted, found, strict=True)
                ],
            }
        )

    def groups(self, method: Method = "nemenyi") -> Table:
        """Who cannot be told from whom: the largest groups in which no two classifiers differ.

        Args:
            method: "nemenyi" (by mean ranks) or "wilcoxon" (signed ranks with Holm's adjustment). By the latter a
                group may leave out one that ranks between its members.

        Returns:
            The columns group (numbered from the best mean rank), model and mean_rank. Who differs from all others is
            in no group.
        """
        refuse_unknown("method", method, METHODS)
        table = self.nemenyi().pairs if method == "nemenyi" else self.pairs()
        alike = np.eye(len(self.models), dtype=bool)
        for (a, b), verdict in zip(self._pairs, table["verdict"], strict=True):
            alike[a, b] = alike[b, a] = verdict == "neither"
        found = [sorted(group, key=self._mean_ranks.__getitem__) for group in cliques(alike)]
        found.sort(key=lambda group: [float(self._mean_ranks[place]) for place in group])
        members = [(rank, place) for rank, group in enumerate(found, 1) for place in group]
        return Table(
            {
                "group": [rank for rank, _ in members],
                "model": [self.models[place] for _, place in members],
                "mean_rank": [float(self._mean_ranks[place]) for _, place in members],
            }
        )

    def bayesian(
        self, rope: float = 0.01, a: str | None = None, b: str | None = None, *, draws: int = 50_000, seed: int = 0
    ) -> Table:
        """All pairs, or one, by the Bayesian signed-rank test with a region of practical equivalence.

        Benavoli et al. (2014), with a Dirichlet process of strength 1/2 as the prior, whose one observation is no
        difference.

        Args:
            rope: Differences up to this one do not matter, in units of the values; with 0, all do.
            a: One classifier; if not named, all pairs.
            b: The other one.
            draws: How many times weights of the data sets are drawn: the probabilities are shares of the draws.
            seed: Where the random numbers start.

        Returns:
            The columns a, b, a_better, equivalent, b_better (probabilities that add up to 1) and verdict ("a", "b" or
            "equivalent" for what has at least the probability ``level``, else "neither").
        """
        _check_drawing(rope, draws, seed)
        pairs = self._pairs if a is None and b is None else [self._pair(a, b)]
        gains = np.stack([self._gain(first, second) for first, second in pairs])
        shares = posterior(gains, float(rope), draws, seed)
        kinds = np.array(["a", "equivalent", "b"])[shares.argmax(axis=1)].tolist()
        sure = (shares.max(axis=1) >= self.level).tolist()
        return Table(
            {
                **self._named(pairs),
                **dict(zip(("a_better", "equivalent", "b_better"), shares.T.tolist(), strict=True)),
                "verdict": [kind if known else "neither" for kind, known in zip(kinds, sure, strict=True)],
            }
        )

    def _gain(self, a: int, b: int) -> Array:
        """How much better one is than the other on each data set."""
        gain = steady(self.values[:, a], self.values[:, b])
        return -gain if self.better == "lower" else gain

    def _kind(self, p: float, gap: float) -> str:
        """Which of two is better, if one is; the gap is negative where the first one is ahead."""
        if p > 1 - self.level or gap == 0:
            return "neither"
        return "a" if gap < 0 else "b"

    def _named(self, pairs: Sequence[tuple[int, int]] | None = None) -> dict[str, list[str]]:
        chosen = self._pairs if pairs is None else pairs
        return {"a": [self.models[a] for a, _ in chosen], "b": [self.models[b] for _, b in chosen]}

    def _pair(self, a: str | None, b: str | None) -> tuple[int, int]:
        """The places of two classifiers."""
        if a is None or b is None or a == b:
            raise BadOption("a pair is two classifiers", mend="Name a and b, or neither for all pairs")
        for name in (a, b):
            if name not in self.models:
                mend = did_you_mean(name, self.models, f"There are {listed(self.models)}")
                raise UnknownModel(f"there is no classifier {quoted(name)}", mend=mend)
        return self.models.index(a), self.models.index(b)

    @property
    def plot(self) -> AcrossPictures:
        """Pictures: ``plot.critical_difference()`` and ``plot.posterior()``."""
        return accessors.AcrossPictures(self)

    # --- in words ------------------------------------------------------------------------------------------------

    def heading(self) -> str:
        """What is compared, in one line."""
        by = f" by {harmless(self.measure)}" if self.measure else ""
        return f"{len(self.models)} classifiers on {len(self.datasets)} data sets{by}, {self.better} is better"

    def summary(self) -> str:
        """What the tests say, in two sentences: whether all rank alike, and how the first one stands to the others."""
        test, first = self.friedman(), self.ranks()["model"][0]
        alike = "may" if test.f_p > 1 - self.level else "do not"
        said = f"F = {number(test.f)}, p {p_value(test.f_p, 1 - self.level)}"
        won: dict[str, list[str]] = {"beats": [], "is beaten by": [], "can't be told apart from": []}
        for row in self.pairs():
            if first in (row["a"], row["b"]):
                # Ranks only count who is ahead, and signed ranks also how far: the first one may lose.
                better, other = row.get(row["verdict"]), row["b" if row["a"] == first else "a"]
                how = "beats" if better == first else "is beaten by" if better == other else "can't be told apart from"
                won[how].append(harmless(other))
        words = [f"{how} {', '.join(others)}" for how, others in won.items() if others]
        return (
            f"The classifiers {alike} rank alike (Friedman's test by Iman & Davenport: {said}).\n"
            f"{harmless(first)} has the best mean rank. By Wilcoxon's test with Holm's adjustment it "
            f"{_joined(words)}."
        )

    def __str__(self) -> str:
        """Mean ranks, and what the tests say."""
        return f"{self.heading()}\n{table_text(self.ranks())}\n\n{self.summary()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary().splitlines())
        return f"<p>{html.escape(self.heading())}</p>{table_html(self.ranks())}{lines}"


@with_known_options
def across_datasets(
    values: Any,
    *,
    names: Sequence[str] | None = None,
    measure: Any = None,
    better: Better | None = None,
    level: float = 0.95,
) -> AcrossDatasets:
    """Compare classifiers by one value each on many data sets.

    Args:
        values: ``{data set: {classifier: number}}``; or ``{data set: Comparison}`` and a measure; or a data frame with
            one row a data set and one column a classifier (a column of text names the data sets, else the index of
            pandas does); or a two-dimensional array of that form, and names.
        names: The classifiers, for the columns of an array, or those columns of a data frame that are meant.
        measure: What the values are: a measure, from which its better end is known. Other words are only shown.
        better: Which end is better, "lower" or "higher"; needed if no measure says so.
        level: One less the chance that is allowed for calling classifiers different that are not.

    Every classifier needs a finite value on every data set. How sure a single value is does not enter.
    """
    refuse_level(level)
    return _read(values, names, measure, better, level)


def _joined(clauses: Sequence[str]) -> str:
    """Two clauses or three, the last of which says something else."""
    return " but ".join(filter(None, [", ".join(clauses[:-1]), clauses[-1]]))


def _check_drawing(rope: Any, draws: Any, seed: Any) -> None:
    if not 0 <= as_number(rope) < np.inf:
        raise BadOption(f"rope is {quoted(rope)}", mend="Give a number, 0 or above, in units of the values")
    refuse_no_count("draws", draws)
    refuse_no_seed(seed)


# --- values in any form, checked ------------------------------------------------------------------------------------


Cells = Sequence[Sequence[Any]]

FORMS = "Give {data set: {classifier: number}}, {data set: Comparison}, a data frame or a two-dimensional array"
LARGEST = 1e300  # two numbers beyond it may have no difference
COMPLETE = "Give every classifier a finite value on every data set, or leave the data set out"


def _read(values: Any, names: Sequence[str] | None, measure: Any, better: Any, level: float) -> AcrossDatasets:
    """Bring any form of values into one table of numbers."""
    compared = isinstance(values, Mapping) and any(isinstance(each, Comparison) for each in values.values())
    entry, title = _entry(measure, better, compared)
    if isinstance(values, Mapping):
        if names is not None:
            raise BadOption("names are given twice", mend="The values name their classifiers: leave names= out")
        datasets, models, cells = _of_mapping(values, entry)
    elif hasattr(values, "__arrow_c_stream__"):
        datasets, models, cells = _of_frame(values, names)
    else:
        datasets, models, cells = _of_array(values, names)
    refuse_twice(models)
    _refuse_twice(datasets)
    numbers, end = _numbers(datasets, models, cells), _better(entry, better)
    return AcrossDatasets(numbers, tuple(datasets), tuple(models), end, float(level), title)


def _entry(measure: Any, better: Any, compared: bool) -> tuple[Measure | None, str]:
    """The measure, where it is one, and how it is called."""
    if measure is None:
        if compared:
            raise BadOption("comparisons hold many measures", mend="Name one: measure='error'")
        return None, ""
    refuse_of_class(measure)
    try:
        entry = find(measure)
    except UnknownMeasure:
        # Values from elsewhere may be of a measure that is not known here.
        if compared or better is None or not isinstance(measure, str):
            raise
        return None, measure
    return entry, entry.label if entry.changed else entry.title


def _better(entry: Measure | None, better: Any) -> Better:
    if better is None and entry is None:
        raise BadOption("nobody says which end is better", mend="Say better='lower' or better='higher'")
    if better is not None:
        refuse_unknown("better", better, ("lower", "higher"))
    known = better if entry is None else entry.better
    if known == "neither":
        raise BadOption(f"no value of {quoted(entry and entry.label)} is better than another", mend="Choose another")
    if better not in (None, known):
        raise BadOption(f"of {quoted(entry and entry.label)}, {known} is better", mend="Leave better= out")
    found: Better = known
    return found


# --- the forms ------------------------------------------------------------------------------------------------------


def _of_mapping(values: Mapping[Any, Any], entry: Measure | None) -> tuple[list[str], list[str], Cells]:
    """One mapping, or one comparison, a data set; all of the same classifiers, in any order."""
    datasets = [str(name) for name in values]
    rows = [_by_model(name, each, entry) for name, each in zip(datasets, values.values(), strict=True)]
    models = list(rows[0]) if rows else []
    for name, row in zip(datasets, rows, strict=True):
        missed = [model for model in models if model not in row]
        extra = [model for model in row if model not in models]
        if missed or extra:
            where, what = (name, missed[0]) if missed else (datasets[0], extra[0])
            raise MissingValues(f"data set {quoted(where)} has no value of {quoted(what)}", mend=COMPLETE)
    return datasets, models, [[row[model] for model in models] for row in rows]


def _by_model(dataset: str, values: Any, entry: Measure | None) -> dict[str, Any]:
    """The values of all classifiers on one data set."""
    if isinstance(values, Mapping):
        found = {str(model): value for model, value in values.items()}
        if len(found) < len(values):
            raise BadOption(f"two classifiers on data set {quoted(dataset)} have one name", mend="Rename one")
        return found
    if not isinstance(values, Comparison) or entry is None:
        raise WrongShape(f"data set {quoted(dataset)} holds {quoted(values)}", mend=FORMS)
    estimates = {model: values[model][entry] for model in values.models}
    for model, one in estimates.items():
        if np.isnan(one.value):
            raise MissingValues(
                f"{entry.label} of {quoted(model)} is undefined on data set {quoted(dataset)}: {one.note}",
                mend=COMPLETE,
            )
    return {model: one.value for model, one in estimates.items()}


def _of_frame(frame: Any, wanted: Sequence[str] | None) -> tuple[list[str], list[str], Cells]:
    """One row a data set; the one column of text names them."""
    import pyarrow as pa

    from ..data.sources import column

    names = [wanted] if isinstance(wanted, str) else things_in(wanted)  # once: they may come one by one
    table = read_frame(frame)
    refuse_twice(table.column_names)
    kinds = {field.name: field.type for field in table.schema}
    texts = [name for name, kind in kinds.items() if not (pa.types.is_floating(kind) or pa.types.is_integer(kind))]
    texts = [name for name in texts if names is None or name not in names]
    if len(texts) > 1 and names is None:
        raise NotNumbers(
            "it does not hold numbers", column=texts[1], mend="One column may name the data sets; or say names=[...]"
        )
    models = [name for name in table.column_names if name not in texts] if names is None else names
    columns = [column(table, name).to_pylist() for name in models]
    if texts:
        datasets = table.column(texts[0]).to_pylist()
    else:
        datasets = list(frame.index) if hasattr(frame, "reset_index") else list(range(1, table.num_rows + 1))
    return [str(name) for name in datasets], models, list(zip(*columns, strict=True))


def _of_array(values: Any, names: Sequence[str] | None) -> tuple[list[str], list[str], Cells]:
    """One row a data set, one column a classifier."""
    try:
        array = np.asarray(values)
    except Exception:  # a foreign object may raise anything
        raise WrongShape("the rows have different lengths", mend=COMPLETE) from None
    if array.ndim != 2:
        raise WrongShape(f"the values have {array.ndim} dimensions", mend=FORMS)
    if names is None:
        raise BadOption("nobody names the classifiers", mend="Say names=['lda', 'qda'], one a column")
    every = things_in(names)
    if every is None or len(every) != array.shape[1]:
        size = 1 if every is None else len(every)
        raise WrongShape(f"{size} names for {array.shape[1]} columns", mend="Name every column once")
    return [str(row + 1) for row in range(len(array))], [str(name) for name in every], array.tolist()


# --- the checks -----------------------------------------------------------------------------------------------------


def _numbers(datasets: Sequence[str], models: Sequence[str], cells: Cells) -> Array:
    """All cells as numbers; the first one that is none is named."""
    if len(models) < 2:
        raise BadOption(f"there is {'one classifier' if models else 'no classifier'}", mend="Compare at least two")
    if len(datasets) < 2:
        raise TooFewRows(f"there is {'one data set' if datasets else 'no data set'}", mend="Give at least two")
    for dataset, row in zip(datasets, cells, strict=True):
        for model, value in zip(models, row, strict=True):
            where = f"of {quoted(model)} on data set {quoted(dataset)}"
            if value is None or is_missing(value):
                raise MissingValues(f"the value {where} is missing", mend=COMPLETE)
            if not abs(as_number(value)) < LARGEST:
                raise NotNumbers(f"the value {where} is {quoted(value)}", mend=COMPLETE)
    return np.array([[as_number(value) for value in row] for row in cells])


def _refuse_twice(datasets: Sequence[str]) -> None:
    if len(set(datasets)) < len(datasets):
        twice = [name for name in dict.fromkeys(datasets) if datasets.count(name) > 1]
        raise BadOption(f"two data sets are called {listed(twice)}", mend="Give every data set its own name")

"""The result of cross-validation: a comparison that knows folds, training errors and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.errors import BadOption, UnknownPart, quoted
from ..core.table import Table
from ..core.text import clipped, to_text
from ..inference.settings import Settings
from ..inputs.dataset import Dataset
from ..inputs.prediction import Prediction, Scores
from ..measures.registry import Measure
from ..passes.tally import Tally
from ..results import accessors
from ..results.assessment import Assessment
from ..results.comparison import Comparison
from .fits import Data, Run, Said
from .splits import SplitPlan

if TYPE_CHECKING:
    from ..core.scale import Scale
    from ..core.typing import Array, Places


NAN = float("nan")
SEEN = ("value", "training", "fit_seconds", "predict_seconds")


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossAssessment(Comparison):
    """Assessments of several classifiers on rows that they had not seen, and the differences between them.

    A Comparison, and beside it: ``folds("error")``, the value in every fold; ``intervals("error")``, by other ways to
    an interval; ``times()``; ``cross["lda"].training``, the same classifier on the rows that it has seen.

    Attributes:
        base: All rows, with their true classes.
        data: What classifiers were fitted to.
        plan: Which rows were held out when.
        runs: What came of each classifier.
        rules: What was fitted, and whether it learns measured values.
        failures: Fits that failed: model, repeat, fold and problem.
        trained: The classifiers on the rows that they have seen.
        remarks: What there is to know about the fits.
    """

    base: Dataset
    data: Data
    plan: SplitPlan
    runs: tuple[Run, ...]
    rules: Mapping[str, tuple[Any, bool]]
    failures: tuple[Mapping[str, Any], ...] = ()
    trained: Comparison | None = None
    remarks: tuple[str, ...] = ()

    @cached_property
    def assessments(self) -> dict[str, Assessment]:
        """One assessment a classifier, with its training error beside it."""
        found = super().assessments
        if self.slice is not None or self.trained is None:
            return found
        return {name: replace(one, training=self.trained[name]) for name, one in found.items()}

    def held_out(self, place: int) -> dict[str, Said]:
        """What every classifier said of the rows held out by one split."""
        sizes = np.cumsum([0, *[len(split.test) for split in self.plan.splits]])
        here = slice(int(sizes[place]), int(sizes[place + 1]))
        return {run.model: run.said.some(here) for run in self.runs}

    def fold(self, place: int, settings: Settings | None = None) -> Comparison:
        """The classifiers on the rows held out by one split, counted from 0 over all repeats."""
        count = len(self.plan.splits)
        if place not in range(count):
            raise UnknownPart(f"there is no split {quoted(place)}", mend=f"There are 0 to {count - 1}")
        rows = self.plan.splits[place].test
        return compared(assembled(self.base, rows, self.held_out(place)), settings or self.settings)

    def folds(self, measure: str | Measure = "error") -> Table:
        """The value of a measure in every fold, on the rows held out and on those fitted to.

        Returns:
            A tidy table with the columns model, repeat, fold, rows, value, training, fit_seconds and predict_seconds;
            those that are not known are NaN.
        """
        entry = self[self.models[0]].find(measure)
        if self.plan.kind == "leave one out":
            raise BadOption("every fold has one row", mend="Take fewer folds: cv=10")
        alone, found = self.by(entry), []
        for place, split in enumerate(self.plan.splits):
            tested, trained = self.fold(place, alone), self._seen(place, alone)
            for run in self.runs:
                times = (run.fits[place].fit_seconds, run.fits[place].predict_seconds) if run.fits else (NAN, NAN)
                seen = NAN if trained is None else trained[run.model][entry].value
                value = tested[run.model][entry].value
                found.append((run.model, split.repeat, split.fold, len(split.test), value, seen, *times))
        return Table.of_rows(("model", "repeat", "fold", "rows", *SEEN), found)

    def _seen(self, place: int, settings: Settings) -> Comparison | None:
        """The classifiers on the rows that one split fitted them to, where they were asked about those."""
        said = {run.model: run.fits[place].train for run in self.runs if run.fits}
        known = {name: one for name, one in said.items() if one is not None}
        if len(known) < len(self.runs):
            return None
        return compared(assembled(self.base, self.plan.splits[place].train, known), settings)

    def by(self, measure: Measure) -> Settings:
        """The same settings for one measure alone."""
        return replace(self.settings, measures=(measure,), everything=False).fitted(self.tally.given)

    def times(self) -> Table:
        """How long every classifier took.

        Returns:
            A tidy table with the columns model, how, seconds (in all), fit_seconds and predict_seconds (of a fit, in
            the mean).
        """
        found = []
        for run in self.runs:
            each = np.array([[fit.fit_seconds, fit.predict_seconds] for fit in run.fits] or [[np.nan, np.nan]])
            found.append((run.model, run.how, run.seconds, *each.mean(axis=0).tolist()))
        return Table.of_rows(("model", "how", "seconds", "fit_seconds", "predict_seconds"), found)

    def fold_of(self) -> Table:
        """The fold in which each row was held out: a tidy table with the columns row, repeat and fold."""
        parts = [(split.test, split.repeat, split.fold) for split in self.plan.splits]
        rows = np.concatenate([test for test, _, _ in parts])
        repeats, folds = (np.repeat([part[k] for part in parts], [len(part[0]) for part in parts]) for k in (1, 2))
        order = np.lexsort((repeats, rows))
        rows = rows if self.base.kept is None else self.base.kept[rows]
        return Table({"row": rows[order].tolist(), "repeat": repeats[order].tolist(), "fold": folds[order].tolist()})

    def intervals(
        self,
        measure: str | Measure = "error",
        methods: str | Sequence[str] | None = None,
        *,
        pairs: bool = False,
        rounds: int = 10,
        n_jobs: int | None = None,
        progress: Any = True,
    ) -> Table:
        """Several ways to an interval of what cross-validation estimates, and what each takes for granted.

        Args:
            measure: Of what.
            methods: "pooled" (rows held out, as if they were independent), "corrected" (t over folds, by Nadeau &
                Bengio 2003), "nested" (cross-validation within cross-validation, by Bates, Hastie & Tibshirani 2024),
                and of bootstrap samples "out of bag", ".632" and ".632+"; all that cost no more fits if not given.
            pairs: Whether of the differences between all pairs of classifiers, not of their values.
            rounds: How often "nested" deals rows out anew; with K folds, each makes K (K + 1) / 2 fits.
            n_jobs: How many of these fits are made at once.
            progress: Whether to show a bar on a terminal; or a function that is told how many fits are done.

        Returns:
            A tidy table with the columns model, method, value, low, high, se and assumes; of pairs, a, b, method,
            difference (a - b), low, high, se, p and assumes.
        """
        options = {"rounds": rounds, "n_jobs": n_jobs, "progress": progress}
        return accessors.by_methods(self, self[self.models[0]].find(measure), methods, pairs, options)

    @cached_property
    def nestings(self) -> dict[tuple[str, int], dict[tuple[str, ...], tuple[float, float]]]:
        """What nested cross-validation found, by measure and how often it was done: it is too dear to be done twice."""
        return {}

    def __str__(self) -> str:
        """How rows were held out, measures by classifiers, and what training made of them."""
        return clipped(to_text(accessors.cross_view(self)), accessors.DIFFERENCES)

    __repr__ = __str__


# --- rows held out, as cases to be assessed -------------------------------------------------------------------------


def assembled(base: Dataset, rows: Places, said: Mapping[str, Said], share: Array | None = None) -> Dataset:
    """Some rows, each as often as it is named, with what was said of them.

    ``share`` is what each counts for, where a row is named more than once. The interval is then that of a single run:
    what is said of a row again and again is no new row.
    """
    others = any(one.memberships is not None for one in said.values())
    return replace(
        base.some(rows),
        assigned={name: one.codes for name, one in said.items()},
        scores={name: _scores(name, one, base.scale, others) for name, one in said.items()},
        weight=share,
        counted=True,
    )


def _scores(name: str, said: Said, scale: Scale, others: bool) -> Scores:
    """What a classifier said in numbers: without probabilities, its scores rank rows, and are read as nothing else.

    Labels beside the probabilities of others are no probabilities of 0 and 1, by which a log score would be infinite,
    unless a score of forecasts was asked for by name.
    """
    if said.memberships is not None:
        columns = tuple(np.ascontiguousarray(column) for column in said.memberships.T)
        checked = Prediction(name, columns=columns, class_names=tuple(str(label) for label in scale.classes))
        checked.assigned(scale, None)  # every check that probabilities must pass
        return Scores(columns)
    if said.scores is None:
        return Scores(raw=others and not said.certain)
    if said.scores.ndim == 2:
        return Scores(tuple(np.ascontiguousarray(column) for column in said.scores.T), free=True, raw=True)
    return Scores((said.scores,), said.speaks, raw=True)


def compared(cases: Dataset, settings: Settings) -> Comparison:
    """Several classifiers on these cases."""
    return Comparison(Tally.of(cases), settings, cases)

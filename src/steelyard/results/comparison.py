"""Several classifiers on the same cases: side by side, and which of them differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import evened
from ..core.cached import cached_property
from ..core.columns import things_in
from ..core.errors import BadOption, UnknownModel, quoted
from ..core.scale import Label, listed
from ..core.suggestions import did_you_mean, refuse_no_count
from ..core.table import Table, by_measure, whole
from ..core.text import clipped, rows_in_words, to_text
from ..families.by_statistic import FAMILIES, SAYS_MORE, evaluate
from ..families.counts import Counts
from ..families.forecasts.evaluation import ForecastEvaluation
from ..inference.bootstrap import bca, bounds, differs, p_of_no_difference, replicate, tied
from ..inference.design import unit_of
from ..inference.differences import Differences, EvaluatesModel, JudgedDifferences, Paired, holm_by_family
from ..inference.estimator import compute
from ..inference.evaluation import Evaluation
from ..inference.row_evaluation import RowEvaluation
from ..inference.settings import Settings
from ..inputs.dataset import Dataset
from ..measures.registry import Measure
from ..measures.table_formulas import Formulas
from ..passes.tally import Tally
from ..states.held_rows import Rows
from ..states.statistics import CONFUSION, STATISTICS, rows_in
from . import accessors
from .assessment import Assessment
from .evaluated import Slices, refuse_too_many_values
from .hypothesis_tests import McNemar, mcnemar

if TYPE_CHECKING:
    from pathlib import Path

    from ..core.typing import Array, Codes
    from .accessors import Decision, Pictures, Verdict

BOTH_INFINITE = "both are infinite"
DECIDING = ("truth", "row", "rows", "effect", "together")  # columns of what decides: whoever is called so is marked


@dataclass(frozen=True, eq=False)
class Comparison:
    """Assessments of several classifiers on the same cases, and the differences between them.

    ``comparison["lda"]`` is an Assessment; ``comparison.differences("error")`` a tidy table.
    """

    tally: Tally
    settings: Settings
    cases: Dataset | None = None
    slice: Label | None = None
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    reread: Callable[[], Dataset] | None = None

    def __post_init__(self) -> None:
        """Refuse more values than memory holds, before any of it is taken."""
        refuse_too_many_values(len(self.tally.scale), self.settings)
        if self.settings.asked:
            self[self.models[0]].words_on_names  # noqa: B018  (a class that there is not is refused)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the classifiers."""
        return self.tally.models

    @cached_property
    def assessments(self) -> dict[str, Assessment]:
        """One assessment a classifier."""
        return {
            name: Assessment(self.tally, self.settings, name, slice=self.slice, decision=self.decisions.get(name))
            for name in self.models
        }

    def __iter__(self) -> Iterator[str]:
        """The names of the classifiers, as of a dictionary."""
        return iter(self.models)

    def __getitem__(self, name: str) -> Assessment:
        """The assessment of one classifier."""
        if not isinstance(name, str) or name not in self.assessments:
            mend = did_you_mean(name, self.models, f"There are {listed(self.models)}")
            raise UnknownModel(f"there is no classifier {quoted(name)}", mend=mend)
        return self.assessments[name]

    @property
    def slices(self) -> Slices[Comparison]:
        """One comparison for every part of the data that ``by=`` named."""
        without: dict[str, Any] = {"cases": None, "decisions": {}, "reread": None}
        return Slices((part, replace(self, slice=part, **without)) for part in self.tally.parts)

    def table(self, simultaneous: bool = False) -> Table:
        """All estimates of all classifiers, one a row; the first column is the classifier.

        With ``simultaneous``, the overall estimates only, in bands that hold for all classifiers and measures at
        once with the probability ``level``.
        """
        parts = [(name, self._wide(name) if simultaneous else self[name].table()) for name in self.models]
        names = ["model", *parts[0][1].column_names]
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for model, part in parts:
            columns["model"] += [model] * len(part)
            for name in names[1:]:
                columns[name] += part[name]
        return Table(columns)

    def _wide(self, name: str) -> Table:
        """The overall estimates, had the level been that of all of them at once."""
        assessment, parts = self[name], []
        method = "delta" if self.settings.resampled else self.settings.method
        for found, critical in self._critical:
            evaluation = found.evaluations[self.models.index(name)]
            part = assessment.part(evaluation.slots[found.places[0]].measure.statistic)
            wide = replace(part)
            slots = np.full(len(part.evaluation.slots), critical)
            wide.__dict__["results"] = compute(part.evaluation, replace(self.settings, method=method), slots)
            shown = {part.evaluation.overall(evaluation.slots[place].measure) for place in found.places}
            rows = [row for row, place in enumerate(wide.order.tolist()) if place in shown]
            parts.append({column: [values[row] for row in rows] for column, values in wide.columns().items()})
        return Table(by_measure(parts, [measure.label for measure in self.settings.measures]))

    @cached_property
    def _critical(self) -> list[tuple[Differences, float]]:
        found = [each.together for each in self._differences(self.settings.measures)]
        total = sum(len(each.places) for each in found)
        return [(e, float(e.simultaneous(of_differences=False, share=len(e.places) / total).max())) for e in found]

    def _refuse_changed(self, measures: Sequence[Measure]) -> None:
        """Refuse to go on with rows that somebody changed meanwhile."""
        if self.tally.scores is not None and any(measure.statistic is not CONFUSION for measure in measures):
            self.tally.scores.refuse_changed()

    def _differences(self, measures: Sequence[Measure], by_class: bool = False) -> list[Paired]:
        """Set up the differences of the overall slots of some measures, and of their class slots if asked for.

        Measures of one statistic go together.
        """
        self._refuse_changed(measures)
        patterns, rows = self.tally.patterns(self.slice), self.tally.kept_of(self.slice)
        scale, stand_in = self.tally.scale, self.settings.stand_in
        by_statistic = {one: tuple(m for m in measures if m.statistic is one) for one in STATISTICS}
        families: list[EvaluatesModel] = []
        if some := by_statistic[CONFUSION]:
            formulas = Formulas(some)
            families.append(lambda model, *, unit: Counts(patterns, model, scale, formulas, stand_in, unit))
        if rows is None:
            by_statistic |= dict.fromkeys(SAYS_MORE, ())
        kept = patterns.as_rows() if rows is None else rows
        common: dict[str, Any] = {"scale": scale, "stand_in": stand_in, "models": self.models}
        for statistic in FAMILIES:
            if some := by_statistic[statistic]:
                families.append(partial(evaluate, statistic, kept, measures=some, **common))
        units = np.array([unit_of(patterns, model) for model in range(len(self.models))])
        plain = self.settings.method == "plain"
        return [Paired(evaluate, units, by_class, self.settings.level, plain) for evaluate in families]

    def differences(
        self,
        measure: str | Measure | Iterable[str | Measure] | None = None,
        *,
        by_class: bool = False,
        simultaneous: bool = False,
    ) -> Table:
        """Paired differences between all pairs of classifiers, with interval and p-value.

        Args:
            measure: One measure or several; if none is named, all that have a better end.
            by_class: Also the differences for every class.
            simultaneous: Bands that hold for all rows of the table at once.

        Returns:
            A tidy table with the columns measure, class, a, b, difference (a - b), low, high, se, p, p_adjusted and
            note (why there is no difference, or no p-value). Every measure is a family of its own: p_adjusted is
            Holm's over all pairs by that measure; single classes are one more family.
        """
        if len(self.models) < 2:
            raise BadOption("a difference needs two classifiers", mend="Compare at least two")
        if measure is None:
            measures = [entry for entry in self.settings.measures if entry.better != "neither"]
        else:
            measures = self.find_measures(measure)
        labels = [entry.label for entry in measures]
        if simultaneous:
            ordered = by_measure(self._tables(measures, by_class, simultaneous=True), labels)
        else:
            self._refuse_changed(measures)
            known = self._known
            if new := [entry for entry in measures if (entry.label, by_class) not in known]:
                for label, some in _apart(self._tables(new, by_class)).items():
                    known[label, by_class] = some
            ordered = by_measure([known[label, by_class] for label in labels], labels)
        families, notes = list(zip(ordered["measure"], ordered.pop("of_class"), strict=True)), ordered.pop("note")
        return Table({**ordered, "p_adjusted": holm_by_family(ordered["p"], families), "note": notes})

    @cached_property
    def _known(self) -> dict[tuple[str, bool], dict[str, list[Any]]]:
        """Differences that were computed, by measure: every output asks for them again."""
        return {}

    def _tables(
        self, measures: Sequence[Measure], by_class: bool, simultaneous: bool = False
    ) -> list[dict[str, list[Any]]]:
        """Differences by some measures as tidy columns, a part for every statistic."""
        found = self._differences(measures, by_class)
        total = sum(len(each.places) for each in found)
        tables = []
        for each in found:
            share = len(each.places) / total
            judged = each.judged(each.together.simultaneous(share=share) if simultaneous else None)
            if self.settings.resampled and not simultaneous:
                self._bootstrap(each.together, judged)
            tables.append(self._tidy(each.together, judged if not self._hidden else _unknown(judged)))
        return tables

    @property
    def _hidden(self) -> str:
        """Why a subgroup is not reported; empty where it is."""
        return self[self.models[0]].hidden

    def _bootstrap(self, found: Differences, judged: JudgedDifferences) -> None:
        """Put bounds and p-values in place that come from replicates of the differences themselves."""
        samples = replicate(found.evaluations, found.places, self.settings.replicates, self.settings.seed)
        for row, (a, b) in enumerate(found.pairs):
            with np.errstate(invalid="ignore"):
                drawn, influences = samples[a] - samples[b], found.plain[a] - found.plain[b]
                drawn = tied(drawn, np.abs(found.values[[a, b]]).max(axis=0), 0.0, found.difference[row])
            shift = acceleration = np.zeros(drawn.shape[1])
            if self.settings.method != "percentile":
                patterns = found.evaluations[0].patterns
                shift, acceleration = bca(drawn, found.difference[row], influences, patterns)
            lower, upper = bounds(drawn, self.settings.level, shift, acceleration)
            moved = differs(drawn) & ~np.isnan(judged.p[row])
            judged.low[row, moved], judged.high[row, moved] = lower[moved], upper[moved]
            judged.p[row, moved] = p_of_no_difference(drawn)[moved]

    def _tidy(self, found: Differences, judged: JudgedDifferences) -> dict[str, list[Any]]:
        slots = [found.evaluations[0].slots[place] for place in found.places]
        classes = [None if slot.code is None else self.tally.scale.classes[slot.code] for slot in slots]
        size = len(found.pairs)

        def by_slot(values: Array) -> list[float]:
            return [float(value) for value in np.asarray(values).T.ravel()]

        first = found.evaluations[0]
        of_class = [place != first.overall(slot.measure) for place, slot in zip(found.places, slots, strict=True)]
        columns: dict[str, list[Any]] = {
            "measure": [slot.measure.label for slot in slots for _ in range(size)],
            "class": [label for label in classes for _ in range(size)],
            "a": [self.models[a] for a, _ in found.pairs] * len(slots),
            "b": [self.models[b] for _, b in found.pairs] * len(slots),
            **{column: by_slot(values) for column, values in vars(judged).items()},
            "of_class": [own for own in of_class for _ in range(size)],
        }
        unknown = (np.isnan(judged.difference) | np.isnan(judged.p)).T.ravel()
        columns["note"] = [
            self._why(found, row // size, found.pairs[row % size]) if none else "" for row, none in enumerate(unknown)
        ]
        return columns

    def _why(self, found: Differences, place: int, pair: tuple[int, int]) -> str:
        """Why there is no difference between two classifiers, or no p-value of it."""
        if self._hidden:
            return self._hidden
        slot, infinite, missed = found.evaluations[0].slots[found.places[place]], [], []
        for model in pair:
            name, value = self.models[model], float(found.values[model, place])
            if math.isinf(value):
                infinite.append(_decided(name, found.evaluations[model], slot.measure.name))
            elif math.isnan(value):
                label = None if slot.code is None else self.tally.scale.classes[slot.code]
                note = self[name][slot.measure.label, slot.average if slot.code is None else label].note
                missed.append(f"{name}: {note or 'undefined'}")
        if missed:
            return "; ".join(missed)
        return BOTH_INFINITE if len(infinite) > 1 else "".join(infinite)

    @property
    def notes(self) -> list[str]:
        """What there is to know about the data as a whole, and about what single classifiers said of them."""
        each = {name: self[name].notes for name in self.models}
        shared = [note for note in each[self.models[0]] if all(note in notes for notes in each.values())]
        return [*shared, *[f"{name}: {note}" for name in self.models for note in each[name] if note not in shared]]

    def find_measures(self, measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
        """Some measures by their names, each once; one alone needs no list."""
        named = None if isinstance(measures, Measure) else things_in(measures)
        named = [measures] if named is None else named
        entries = [self[self.models[0]].find(name) for name in named]
        if not entries:
            raise BadOption("no measure is named", mend="Name at least one, or leave measures out")
        found = tuple({entry.label: entry for entry in entries}.values())
        return list(replace(self.settings, measures=found, everything=False).fitted(self.tally.given).measures)

    def best(self, measure: str | Measure) -> str:
        """The classifier that comes out first by a measure (whether by more than chance, ``verdict`` says)."""
        entry = self[self.models[0]].find(measure).with_better_end()
        values = {name: self[name][entry].value for name in self.models}
        known = {name: value for name, value in values.items() if not np.isnan(value)}
        if not known:
            raise BadOption(f"{entry.label} is undefined for every classifier", mend="Choose another measure")
        return list(known)[int(np.argmin(evened(entry.loss(np.array(list(known.values()))))))]

    def verdict(
        self,
        measures: str | Measure | Iterable[str | Measure] | None = None,
        *,
        margin: float | Mapping[str | Measure, float] | None = None,
    ) -> Verdict:
        """Who is better by which measure, and who cannot be told apart, in words and as a table.

        Two classifiers differ where the p-value, adjusted by Holm's method over all pairs and all of these measures,
        is at most 1 - ``level``.

        Args:
            measures: By what to judge: measures that have a better end. If none is named, those of the usual ones that
                were computed: error and squared error of a continuum, apparent and adjusted; else error (or
                accuracy, where only that was asked for), AUC and log score.
            margin: Up to where a difference does not matter: one number, or one a measure. Classifiers are as good as
                each other where the whole interval of their difference lies within it.
        """
        return accessors.judge(self, measures, margin)

    def mcnemar(self, a: str, b: str, method: str = "auto") -> McNemar:
        """Do two classifiers err equally often? McNemar's test on the rows that only one of them gets right.

        It counts rows: sampling weights do not enter, and rows of a cluster are taken as independent.
        """
        self[self.models[0]].refuse_hidden()
        patterns = self.tally.patterns(self.slice)
        first, second = (self.models.index(self[name].model) for name in (a, b))
        right_a, right_b = (patterns.assigned[model] == patterns.truth for model in (first, second))
        only_a = rows_in(patterns.count[right_a & ~right_b])
        only_b = rows_in(patterns.count[right_b & ~right_a])
        return mcnemar(only_a, only_b, method)

    def _pair(self, measure: str | Measure, a: str, b: str) -> tuple[Evaluation, Evaluation, int]:
        """Two classifiers evaluated by one measure, and the slot that stands for it."""
        (entry,) = self.find_measures(measure)
        evaluations = self._differences([entry])[0].together.evaluations
        first, second = (evaluations[self.models.index(self[name].model)] for name in (a, b))
        return first, second, first.overall(entry)

    def deciding_patterns(self, measure: str | Measure, a: str, b: str) -> Table:
        """Which kinds of rows pull a difference which way: every combination of true and assigned classes.

        ``effect`` is how much the difference a - b would fall without one row of the pattern, ``together`` the same for
        all of its rows, to first order. Over all patterns the effects balance.
        """
        self[self.models[0]].refuse_hidden()
        first, second, place = self._pair(measure, a, b)
        if not isinstance(first, Counts) or not isinstance(second, Counts):
            raise BadOption(
                f"{first.slots[place].measure.label} has no patterns: every row has a score of its own",
                mend="See deciding_rows",
            )
        patterns = first.patterns
        columns = [patterns.truth, patterns.assigned[first.model], patterns.assigned[second.model]]
        effect = first.influence_at(place, columns[0], columns[1]) - second.influence_at(place, columns[0], columns[2])
        seen, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        rows = np.bincount(inverse, patterns.count).astype(np.float64)
        together = np.bincount(inverse, effect * patterns.mass)
        order = [k for k in np.argsort(-np.abs(together), kind="stable") if rows[k] > 0 and together[k] != 0]
        return self._labelled(
            seen[order].T,
            (a, b),
            rows=[whole(rows_in(rows[[k]])) for k in order],
            effect=[float(together[k] / rows[k]) for k in order],
            together=[float(together[k]) for k in order],
        )

    def deciding_rows(self, measure: str | Measure, a: str, b: str, most: int = 10) -> Table:
        """The rows with the largest influence on a difference: the ones to look at before believing it.

        ``row`` counts the rows of the input from 0; without the row, the difference a - b would be smaller by
        about ``effect``. Of a row that was held out several times, effects are added up, and the classes are those
        that had the largest of them. Rows of files that were summed without being held are read for it.
        """
        refuse_no_count("most", most)
        cases = self.cases if self.reread is None else self.reread()
        if cases is None:
            raise BadOption("the rows are not at hand", mend="Compare rows, not a saved tally or a slice")
        # Of labels no rows were kept, since their patterns tell as much; but not which row is which.
        by_row = self if self.tally.tells_rows else replace(self, tally=replace(self.tally, scores=Rows.of(cases)))
        first, second, place = by_row._pair(measure, a, b)
        columns = [cases.truth, cases.assigned[a], cases.assigned[b]]
        if isinstance(first, RowEvaluation) and isinstance(second, RowEvaluation):
            slot = first.slots[place]
            with np.errstate(invalid="ignore"):  # what is infinite for both has no difference
                effect = first.influence(slot, smooth=False) - second.influence(slot, smooth=False)
            effect = effect[: len(cases)]  # behind the rows stand the effects of estimated deviations
        elif isinstance(first, Counts) and isinstance(second, Counts):
            effect = first.influence_at(place, columns[0], columns[1])
            effect = effect - second.influence_at(place, columns[0], columns[2])
        if np.isinf(effect).any():  # nothing but the rows that made it infinite can undo it
            effect = np.where(np.isinf(effect), effect, 0.0)
        effect = effect if cases.weight is None else effect * cases.weight
        kept = np.arange(len(cases)) if cases.kept is None else cases.kept
        largest = np.lexsort((-np.abs(effect), kept))  # of a row, what moves the difference most comes first
        rows, first_of, again = np.unique(kept[largest], return_index=True, return_inverse=True)
        total = np.bincount(again, effect[largest])
        order = np.argsort(-np.abs(total), kind="stable")[:most]
        codes = np.stack([column[largest[first_of[order]]] for column in columns])
        return self._labelled(codes, (a, b), row=rows[order].tolist(), effect=total[order].tolist())

    def _labelled(self, codes: Codes, names: tuple[str, str], **others: list[Any]) -> Table:
        """Rows of class labels under the names of the classifiers, with other columns around them."""
        shown = ["truth", *[f"{name} (model)" if name in DECIDING else name for name in names]]
        labels = [[self.tally.scale.classes[code] for code in column] for column in codes]
        row = {"row": others.pop("row")} if "row" in others else {}
        return Table({**row, **dict(zip(shown, labels, strict=True)), **others})

    @property
    def plot(self) -> Pictures:
        """Pictures of all classifiers in one: ``comparison.plot.roc()``."""
        return accessors.Pictures(self.assessments)

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        command: str | None = None,
        rows: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Write all about all classifiers as one HTML page that needs nothing else: no network, no other file.

        Args:
            path: The file, which ends in .html. A report that is there already is replaced.
            title: What the page is called.
            command: The command or call that makes it again, where that is known better than the result knows it.
            rows: Whether single rows may be shown: those that decide, and a mark for each of few.
            overwrite: Replace a file that is not a report, too; otherwise that is an error.
        """
        accessors.write_report(self, path, title, command, rows, overwrite)

    def __str__(self) -> str:
        """Measures by classifiers, and the differences of the first measure."""
        return clipped(to_text(accessors.comparison_view(self)), accessors.DIFFERENCES)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return accessors.digest_html(accessors.comparison_digest(self))


def _apart(tables: Sequence[Mapping[str, list[Any]]]) -> dict[str, dict[str, list[Any]]]:
    """Tidy columns apart, by measure."""
    found: dict[str, dict[str, list[Any]]] = {}
    for table in tables:
        for place, label in enumerate(table["measure"]):
            columns = found.setdefault(label, {name: [] for name in table})
            for name, values in table.items():
                columns[name].append(values[place])
    return found


def _unknown(judged: JudgedDifferences) -> JudgedDifferences:
    """Nothing of it."""
    return JudgedDifferences(*[np.full_like(values, np.nan) for values in vars(judged).values()])


def _decided(name: str, evaluation: Evaluation, measure: str) -> str:
    """Which rows make a value infinite, and that these alone decide."""
    lost = evaluation.lost(0.0) if isinstance(evaluation, ForecastEvaluation) and measure == "log_score" else 0.0
    if not lost:
        return f"{name} is infinite; no p-value"
    rows = rows_in_words(lost)
    return f"{rows} to which {name} gave probability 0 decide{'s' if rows == '1 row' else ''} this; no p-value"

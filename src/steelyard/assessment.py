"""One classifier, weighed: every measure with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .errors import BadOption, UndefinedValue, UnknownMeasure, quoted
from .evaluation import Evaluation, Slot
from .layout import AVERAGES
from .measures import find
from .registry import Measure
from .scale import Label, listed
from .settings import Settings
from .table import Table
from .tally import Tally
from .uncertainty import (
    MEAN,
    Spread,
    critical_values,
    degrees_of_freedom,
    interval_methods,
    intervals,
    method_places,
    spread,
    trials_of,
    unit_of,
)

if TYPE_CHECKING:
    from .kinds import Array, Places

INFINITE = "infinite: a count in the denominator is 0"


@dataclass(frozen=True)
class Estimate:
    """A value and how sure it is.

    Attributes:
        value: The estimate; NaN where the measure is undefined.
        low: Lower bound of the interval.
        high: Upper bound of the interval.
        se: Standard error.
        n: Rows behind it.
        method: How the interval was made.
        note: What there is to know: why it is undefined, which classes were left out of a mean.
        measure: The measure.
        label: The class, where it speaks of one.
        average: How classes were averaged, where they were.
        level: Coverage of the interval.
    """

    value: float
    low: float
    high: float
    se: float
    n: float
    method: str
    note: str = ""
    measure: str = ""
    label: Label | None = None
    average: str | None = None
    level: float = 0.95

    def __float__(self) -> float:
        """The value."""
        return self.value

    def __str__(self) -> str:
        """Value and interval."""
        from .text import number, span

        text = f"{number(self.value)} {span(self.low, self.high)}"
        return f"{text} ({self.note})" if self.note else text


@dataclass(frozen=True)
class Results:
    """The columns behind an assessment, one entry a slot."""

    evaluation: Evaluation
    value: Array
    low: Array
    high: Array
    errors: Spread
    centre: Array
    methods: tuple[str, ...]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What the columns stand for."""
        return self.evaluation.slots


def compute(evaluation: Evaluation, settings: Settings, critical: Array | None = None) -> Results:
    """Evaluate every slot and its interval."""
    places: Mapping[str, Any] = method_places(evaluation.layout)
    methods: Sequence[str] = interval_methods(evaluation.layout)
    errors, trials = spread(evaluation), trials_of(evaluation)
    value, centre = evaluation.values
    if critical is None:
        freedom = degrees_of_freedom(evaluation.patterns, len(value), places.get(MEAN, ()))
        critical = critical_values(settings.level, freedom)
    low, high = intervals(places, value, centre, errors, trials, critical)
    for label, matrix in evaluation.matrices.items():
        place = evaluation.layout.spans[label][0][0]
        if methods[place] == MEAN:  # no mean lies beyond the least and the greatest cost
            low[place], high[place] = max(low[place], matrix.min()), min(high[place], matrix.max())
    if not np.isnan(evaluation.undefined):
        # What stands in for a value that is undefined was not estimated: it has no interval.
        unknown = np.isnan(replace(evaluation, undefined=float("nan")).values[0])
        low[unknown], high[unknown] = np.nan, np.nan
    if settings.method != "delta":
        from .bootstrap import replace_intervals

        methods = replace_intervals(evaluation, settings, methods, low, high)
    if evaluation.patterns.cluster is not None:
        methods = [f"{method}, clustered" for method in methods]
    return Results(evaluation, value, low, high, errors, centre, tuple(methods))


@dataclass(frozen=True)
class Assessment:
    """Every measure of one classifier, each with its interval.

    ``assessment["kappa"]`` is an Estimate; ``assessment["sensitivity", "yes"]`` that of one class;
    ``assessment["f1", "weighted"]`` an average other than the usual one.
    """

    tally: Tally
    settings: Settings
    model: str = "prediction"
    training: Assessment | None = None
    slice: Label | None = None

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluated slots of this classifier."""
        patterns, model = self.tally.patterns(self.slice), self.tally.models.index(self.model)
        return Evaluation(
            patterns,
            model,
            self.tally.scale,
            self.settings.measures,
            self.settings.stand_in,
            unit_of(patterns, model),
        )

    @cached_property
    def results(self) -> Results:
        """All values and bounds as columns."""
        return compute(self.evaluation, self.settings)

    @property
    def notes(self) -> list[str]:
        """What there is to know about the data as a whole."""
        patterns, notes = self.evaluation.patterns, []
        strangers = (self.evaluation.margins.true == 0) & (self.evaluation.margins.assigned > 0)
        if strangers.any():
            labels = [self.classes[code] for code in np.flatnonzero(strangers)]
            notes.append(f"assigned but never true: {listed(labels, 3)} (rare, or spelled differently?)")
        if patterns.clusters == 1:
            notes.append(
                "all rows are in one cluster, which says nothing about spread: intervals reach over all values"
            )
        if not np.array_equal(patterns.square, patterns.mass):
            effective = patterns.mass.sum() ** 2 / patterns.square.sum()
            notes.append(f"sampling weights: {self.n:,.0f} rows weigh as much as {effective:,.1f} equal ones")
        return notes

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.tally.scale.classes

    @property
    def n(self) -> float:
        """How many rows were assessed."""
        return float(self.evaluation.patterns.count.sum())

    @property
    def dropped(self) -> int:
        """How many rows were left out because a value was missing."""
        return self.tally.dropped

    def __getitem__(self, key: str | Measure | tuple[str | Measure, Any]) -> Estimate:
        """Look up an estimate by measure, or by measure and class (or average)."""
        name, part = key if isinstance(key, tuple) else (key, None)
        return self.estimate(self.place(name, part))

    def place(self, name: str | Measure, part: Any = None) -> int:
        """Find the slot of a measure, for a class, an average or overall."""
        entry, evaluation = self.find(name), self.evaluation
        if part is None:
            return evaluation.overall(entry)
        average = isinstance(part, str) and part not in self.classes and part in AVERAGES
        place = evaluation.places.get((entry.label, part if average else self.tally.scale.code(part)))
        if place is None:
            raise UnknownMeasure(f"{entry.label} has no value for {quoted(part)}", mend="It speaks of the whole table")
        return place

    def find(self, name: str | Measure) -> Measure:
        """Find a measure among the computed ones; costs given before need not be repeated."""
        computed = {entry.label: entry for entry in self.settings.measures}
        if isinstance(name, str) and name in computed:
            return computed[name]
        entry = find(name)
        if entry.label in computed:
            return computed[entry.label]
        same = [other for other in self.settings.measures if other.name == entry.name]
        if len(same) == 1 and not entry.changed:
            return same[0]
        if not entry.needs:
            raise UnknownMeasure(f"{entry.label} was not asked for", mend="Name it in measures=[...]")
        mend = "Give cost={true: {assigned: cost}}" if entry.name == "cost" else f"Ask for '{entry.name}(...)'"
        raise UnknownMeasure(f"{entry.label} needs {listed(entry.needs)}", mend=mend)

    def estimate(self, place: int) -> Estimate:
        """Build the Estimate of one slot."""
        results, slot = self.results, self.evaluation.slot(place)
        note = self._notes[place]
        if self.settings.undefined == "error" and np.isnan(results.value[place]):
            raise UndefinedValue(f"{slot.measure.label} is undefined: {note}", mend="See undefined=")
        return Estimate(
            value=float(results.value[place]),
            low=float(results.low[place]),
            high=float(results.high[place]),
            se=float(results.errors.plain[place]),
            n=self.n,
            method=results.methods[place],
            note=note,
            measure=slot.measure.label,
            label=None if slot.code is None else self.classes[slot.code],
            average=slot.average,
            level=self.settings.level,
        )

    @cached_property
    def _gaps(self) -> dict[str, list[int]]:
        """The classes for which a measure is undefined, where there are any."""
        plain = replace(self.evaluation, undefined=float("nan")).values[0] if self._stands_in else self.results.value
        by_class = plain[: self.evaluation.class_slots].reshape(-1, len(self.classes))
        gaps: dict[str, list[int]] = {}
        for place, code in np.argwhere(np.isnan(by_class)).tolist():
            gaps.setdefault(self.evaluation.by_class[place].label, []).append(code)
        return gaps

    @property
    def _stands_in(self) -> bool:
        return not np.isnan(self.settings.stand_in)

    @cached_property
    def _notes(self) -> list[str]:
        """The notes of all slots. Most have none, so only those are gone through that have something to say."""
        evaluation, value = self.evaluation, self.results.value
        notes, spans, first = [""] * len(value), evaluation.layout.spans, evaluation.class_slots
        sorted_only = not self.tally.scale.ordered and len(self.classes) > 2
        names = {code: quoted(self.classes[code]) for code in set().union(*self._gaps.values())}
        for place in np.flatnonzero(np.isinf(value)).tolist():
            notes[place] = INFINITE
        told = set((first + np.flatnonzero(np.isnan(value[first:]))).tolist())
        for measure in self.settings.measures:
            together, of_classes = spans[measure.label]
            for code in self._gaps.get(measure.label, ()):
                notes[of_classes[code]] = measure.undefined.replace("{class}", names[code]) + self._stand_in_words
            if measure.label in self._gaps or (sorted_only and measure.name == "weighted_kappa"):
                told.update(together)
        for place in told:
            notes[place] = self._note_together(place)
        return notes

    def _note_together(self, place: int) -> str:
        """The note of a slot that speaks of all classes together."""
        slot, value = self.evaluation.slot(place), self.results.value[place]
        if np.isnan(value):
            return "undefined for every class" if slot.average in ("macro", "weighted") else slot.measure.undefined
        notes = [INFINITE] if np.isinf(value) else []
        if slot.average in ("macro", "weighted") and slot.measure.label in self._gaps:
            notes.append(self._gap_words[tuple(self._gaps[slot.measure.label])])
        if slot.measure.name == "weighted_kappa" and not self.tally.scale.ordered and len(self.classes) > 2:
            notes.append("classes in sorted order; give scale= to order them")
        return "; ".join(notes)

    @cached_property
    def _gap_words(self) -> dict[tuple[int, ...], str]:
        """What an average says of the classes that it leaves out; most measures leave out the same ones."""
        words = {}
        for gaps in {tuple(codes) for codes in self._gaps.values()}:
            without = listed([self.classes[code] for code in gaps], 3)
            kept = f"mean over {len(self.classes) - len(gaps)} of {len(self.classes)} classes: "
            words[gaps] = f"{'' if self._stands_in else kept}undefined for {without}{self._stand_in_words}"
        return words

    @cached_property
    def _stand_in_words(self) -> str:
        return f"; {self.settings.stand_in:g} stands in" if self._stands_in else ""

    @property
    def slices(self) -> dict[Label, Assessment]:
        """One assessment for every part of the data that ``by=`` named."""
        return {label: replace(self, slice=label, training=None) for label in self.tally.slices}

    def confusion(self, share: Literal["none", "true", "assigned", "all"] = "none") -> Array:
        """The table: rows are true classes, columns assigned ones; as counts, or shares of a row, column or all."""
        table = self.evaluation.patterns.table(self.evaluation.model)
        axes: dict[str, Any] = {"true": 1, "assigned": 0, "all": None}
        if share == "none":
            return table
        if share not in axes:
            raise BadOption(f"share is {quoted(share)}", mend="Say 'none', 'true', 'assigned' or 'all'")
        with np.errstate(invalid="ignore"):
            return np.asarray(table / table.sum(axis=axes[share], keepdims=True))

    def error_matrix(self, relative: bool = False) -> Array:
        """The table with its errors summed up at the margins, as klaR's errormatrix prints it: (C + 1, C + 1).

        Relative to the rows of each true class; the last row then says how the errors fall on the assigned classes,
        and the corner is the error rate. A share of nothing is 0.
        """
        table: Array = self.confusion()
        wrong: Array = table - np.diag(np.diag(table))
        whole: Array = np.block([[table, wrong.sum(axis=1)[:, None]], [wrong.sum(axis=0)[None], wrong.sum()]])
        if not relative:
            return whole
        below = np.append(table.sum(axis=1), wrong.sum())[:, None]
        shares: Array = np.divide(whole, below, out=np.zeros_like(whole), where=below > 0)
        shares[-1, -1] = wrong.sum() / table.sum()
        return shares

    @property
    def order(self) -> Places:
        """The slots as they are shown: by measure, overall values before those of classes."""
        return self.evaluation.layout.order

    def table(self) -> Table:
        """All estimates, one a row: measure, class, average, value, low, high, se, n, method, note.

        With ``by=``, every part of the data has its rows too, marked in the column ``slice``.
        """
        parts = [self] if self.slice is not None else [self, *self.slices.values()]
        columns = [part._columns() for part in parts]
        if len(columns) == 1:
            return Table(columns[0])
        return Table({name: [value for column in columns for value in column[name]] for name in columns[0]})

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        results, layout = self.results, self.evaluation.layout
        rows, classes = len(layout.order), list(self.classes)
        named: list[Label | None] = []
        for together, of_classes in layout.spans.values():
            named += [*[None] * len(together), *classes[: len(of_classes)]]
        numbers = np.array([results.value, results.low, results.high, results.errors.plain])[:, layout.order].tolist()
        columns: dict[str, Sequence[Any]] = {"slice": [self.slice] * rows} if self.tally.slices else {}
        columns |= {"measure": layout.labels, "class": named, "average": layout.averages}
        columns |= dict(zip(("value", "low", "high", "se"), numbers, strict=True))
        return columns | {
            "n": [self.n] * rows,
            "method": layout.shown(results.methods),
            "note": layout.shown(self._notes),
        }

    def gap(self, name: str | Measure, part: Any = None) -> Estimate:
        """The value on test data less that on training data, with the interval of two independent samples."""
        if self.training is None:
            raise BadOption("no training data were given", mend="Give training=(y_true, prediction)")
        test, fitted = self[name, part], self.training[name, part]
        reach = [np.hypot(test.value - test.low, fitted.high - fitted.value),
                 np.hypot(test.high - test.value, fitted.value - fitted.low)]  # fmt: skip
        difference = test.value - fitted.value
        return replace(
            test,
            value=difference,
            low=float(difference - reach[0]),
            high=float(difference + reach[1]),
            se=float(np.hypot(test.se, fitted.se)),
            method="MOVER, independent samples",
        )

    def __str__(self) -> str:
        """Confusion table, measures and classes."""
        from .rendering import assessment_view
        from .text import to_text

        return to_text(assessment_view(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .rendering import assessment_html

        return assessment_html(self)

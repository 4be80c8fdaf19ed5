"""The measures of one classifier that are made of one statistic: values, intervals and notes, as columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.errors import UndefinedValue, quoted
from ..core.estimate import Estimate
from ..core.scale import Label, listed
from ..core.threads import ahead_of, one_thread
from ..inference.influence import Spread
from ..inference.intervals import (
    MEAN,
    critical_values,
    degrees_of_freedom,
    interval_method,
    interval_methods,
    intervals,
    method_places,
    plain_intervals,
    spanned_intervals,
    trials_of,
)
from ..inference.row_evaluation import RowEvaluation
from ..inference.settings import Settings
from ..inference.table_evaluation import Evaluation, Slot
from ..inference.variances import spread
from ..measures.registry import Measure

if TYPE_CHECKING:
    from ..core.typing import Array, Places

SUREST = 1 - 2.0**-52  # a level of 1 would reach for ever
MANY_CLASSES = 128  # products of tables of more are so large that threads are started for them
ORDERED = ("weighted_kappa", "ranked_probability_score")  # measures for which it matters which class is next to which
INFINITE = "infinite: a count in the denominator is 0"


@dataclass(frozen=True)
class Results:
    """The columns behind an assessment, one entry a slot."""

    evaluation: Evaluation | RowEvaluation
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


def compute(
    evaluation: Evaluation | RowEvaluation, settings: Settings, critical: Array | None = None, times: float = 1.0
) -> Results:
    """Evaluate every slot and its interval.

    Intervals reach so many standard errors (``critical``); or so many times as far as they would by themselves.
    """
    if isinstance(evaluation, RowEvaluation):
        return _of_rows(evaluation, settings, critical, times)
    with one_thread(evaluation.classes > MANY_CLASSES):
        return _of_counts(evaluation, settings, critical, times)


def _of_counts(evaluation: Evaluation, settings: Settings, critical: Array | None, times: float) -> Results:
    places: Mapping[str, Any] = method_places(evaluation.layout)
    methods: Sequence[str] = interval_methods(evaluation.layout)
    errors, trials = spread(evaluation), trials_of(evaluation)
    value, centre = evaluation.values
    if critical is None:
        freedom = degrees_of_freedom(evaluation.patterns, len(value), places.get(MEAN, ()))
        critical = times * critical_values(settings.level, freedom)
    if settings.method == "plain":
        methods, low, high = plain_intervals(evaluation.slots, value, errors, critical)
    else:
        low, high = intervals(places, value, centre, errors, trials, critical)
    for label, matrix in evaluation.matrices.items():
        place = evaluation.layout.spans[label][0][0]
        if methods[place] == MEAN:  # no mean lies beyond the least and the greatest cost
            low[place], high[place] = max(low[place], matrix.min()), min(high[place], matrix.max())
    if not np.isnan(evaluation.undefined):
        # What stands in for a value that is undefined was not estimated: it has no interval.
        unknown = np.isnan(replace(evaluation, undefined=float("nan")).values[0])
        low[unknown], high[unknown] = np.nan, np.nan
    if settings.resampled:
        from ..inference.bootstrap import replace_intervals

        methods = replace_intervals(evaluation, settings, methods, low, high)
    if evaluation.patterns.cluster is not None:
        methods = [f"{method}, clustered" for method in methods]
    return Results(evaluation, value, low, high, errors, centre, tuple(methods))


def _of_rows(evaluation: RowEvaluation, settings: Settings, critical: Array | None, times: float) -> Results:
    value, centre = evaluation.values
    errors, freedom = evaluation.spread
    if settings.method == "plain":
        reach = times * critical_values(settings.level, np.full(len(value), np.inf)) if critical is None else critical
        methods, low, high = plain_intervals(evaluation.slots, value, errors, reach)
    else:
        methods = [interval_method(slot) for slot in evaluation.slots]
        reach = times * critical_values(settings.level, freedom) if critical is None else critical
        places = {method: np.flatnonzero([other == method for other in methods]) for method in set(methods)}
        low, high = spanned_intervals(evaluation.slots, places, value, centre, errors, reach)
    if settings.method != "plain":
        for place, (lower, upper) in evaluation.own_bounds(_level(settings.level, critical, times)).items():
            low[place], high[place] = min(lower, value[place]), max(upper, value[place])
        for place, slot in enumerate(evaluation.slots):
            below, above = evaluation.beyond(slot)
            if below or above:
                low[place] = value[place] - np.hypot(value[place] - low[place], below)
                high[place] = value[place] + np.hypot(high[place] - value[place], above)
    if settings.resampled:
        from ..inference.bootstrap import replace_intervals

        methods = replace_intervals(evaluation, settings, methods, low, high)
    if evaluation.clustered:
        methods = [f"{method}, clustered" for method in methods]
    low, high = _within_spans(evaluation, value, low, high)
    if not np.isnan(evaluation.undefined):
        value = np.where(np.isnan(value), evaluation.undefined, value)
    return Results(evaluation, value, low, high, errors, centre, tuple(methods))


def _within_spans(evaluation: RowEvaluation, value: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """No bound lies where no value can be; what is infinite once is so for good."""
    spans = np.array([evaluation.limits(slot) for slot in evaluation.slots])
    # A value that rounding brought beyond its span still belongs to its interval.
    least, most = np.fmin(spans[:, 0], value), np.fmax(spans[:, 1], value)
    low, high = np.maximum(low, least), np.minimum(high, most)
    known = ~np.isnan(value)
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    endless = np.isinf(value)
    return np.where(endless, value, low), np.where(endless, value, high)


def _level(level: float, critical: Array | None, times: float) -> float:
    """The level of intervals that reach so many standard errors, or so many times as far as others of a level."""
    from statistics import NormalDist

    if critical is None and times == 1:
        return level
    normal = NormalDist()
    reach = times * normal.inv_cdf((1 + level) / 2) if critical is None else float(np.max(critical))
    return min(2 * normal.cdf(reach) - 1, SUREST)


def compute_all(parts: Sequence[Part]) -> None:
    """Compute all slots of some parts; a core that would wait for others goes on with the next part."""
    for part, following in zip_longest(parts, parts[1:]):
        with ahead_of(None if following is None else following.begin):
            part.results  # noqa: B018  (computed when it is first asked for, and kept)


@dataclass(frozen=True)
class Part:
    """All slots of one evaluation, with what there is to say about them."""

    evaluation: Evaluation | RowEvaluation
    settings: Settings
    rows: float
    hidden: str = ""

    @cached_property
    def results(self) -> Results:
        """All values and bounds as columns; of a subgroup that is not reported there are none."""
        found = compute(self.evaluation, self.settings)
        if not self.hidden:
            return found
        none = np.full(len(found.value), np.nan)
        methods = ("",) * len(none)
        return replace(found, value=none, low=none, high=none, centre=none, errors=Spread(none, none), methods=methods)

    def begin(self) -> bool:
        """Do some of what all slots need, before anybody asks for them; tell whether there was anything left to do."""
        return isinstance(self.evaluation, RowEvaluation) and self.evaluation.begin()

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.evaluation.scale.classes

    @property
    def looks_at_rows(self) -> bool:
        """Whether rows have yet to be looked at."""
        return isinstance(self.evaluation, RowEvaluation) and "results" not in self.__dict__

    def estimate(self, place: int) -> Estimate:
        """Build the Estimate of one slot."""
        one_by_one = isinstance(self.evaluation, RowEvaluation) and self.evaluation.one_by_one
        if isinstance(self.evaluation, RowEvaluation) and one_by_one and self.looks_at_rows and not self.hidden:
            return replace(self, evaluation=self.evaluation.only(place)).estimate(0)
        results, slot, note = self.results, self.evaluation.slot(place), self.notes[place]
        if self.settings.undefined == "error" and np.isnan(results.value[place]) and not self.hidden:
            raise UndefinedValue(f"{slot.measure.label} is undefined: {note}", mend="See undefined=")
        return Estimate(
            value=float(results.value[place]),
            low=float(results.low[place]),
            high=float(results.high[place]),
            se=float(results.errors.plain[place]),
            n=self.rows,
            method=results.methods[place],
            note=note,
            measure=slot.measure.label,
            label=None if slot.code is None else self.classes[slot.code],
            average=slot.average,
            level=self.settings.level,
            sum=float(results.value[place]) * self.mass if slot.measure.of_rows else None,
            certified=self._certified(slot, float(results.value[place])),
        )

    def _certified(self, slot: Slot, value: float) -> tuple[float, float]:
        """Between which numbers a value lies for certain."""
        of_rows = isinstance(self.evaluation, RowEvaluation) and not self.hidden
        known = self.evaluation.certified(slot) if isinstance(self.evaluation, RowEvaluation) and of_rows else None
        return (value, value) if known is None else known

    @cached_property
    def mass(self) -> float:
        """What all rows weigh."""
        evaluation = self.evaluation
        return evaluation.total if isinstance(evaluation, RowEvaluation) else float(evaluation.patterns.mass.sum())

    # --- notes ----------------------------------------------------------------------------------------------

    @cached_property
    def gaps(self) -> dict[str, list[int]]:
        """The classes for which a measure is undefined, where there are any."""
        gaps: dict[str, list[int]] = {}
        for label, code in self.evaluation.undefined_classes():
            gaps.setdefault(label, []).append(code)
        return gaps

    @property
    def _stands_in(self) -> bool:
        return not np.isnan(self.settings.stand_in)

    @cached_property
    def _stand_in_words(self) -> str:
        return f"; {self.settings.stand_in:g} stands in" if self._stands_in else ""

    @cached_property
    def notes(self) -> list[str]:
        """The notes of all slots."""
        evaluation = self.evaluation
        if self.hidden:
            return [self.hidden] * len(self.results.value)
        if not isinstance(evaluation, RowEvaluation):
            return self._of_values
        if not evaluation.scored:
            return [evaluation.silence + self._stand_in_words] * len(self.results.value)
        if evaluation.alone is not None:
            return [evaluation.remark(evaluation.alone) or self._note(evaluation.alone, float(self.results.value[0]))]
        remarks = map(evaluation.remark, evaluation.slots)
        return [remark or note for remark, note in zip(remarks, self._of_values, strict=True)]

    @property
    def _of_values(self) -> list[str]:
        """What values alone give cause to say. Most are as usual, so only the others are gone through."""
        value, layout, sorted_only = self.results.value, self.evaluation.layout, self.evaluation.scale.sorted_only
        notes, unusual = [""] * len(value), (~np.isfinite(value)).nonzero()[0].tolist()
        if not unusual and not sorted_only and not self._stands_in:
            return notes
        told = {place for place in unusual if place >= layout.class_slots and math.isnan(value[place])}
        for place in unusual:
            notes[place] = INFINITE if math.isinf(value[place]) else ""
        for measure in self.evaluation.measures if self.gaps or sorted_only else ():
            if measure.label in self.gaps or (sorted_only and measure.name in ORDERED):
                together, of_classes = layout.spans[measure.label]
                told.update(together)
                for code in self.gaps.get(measure.label, ()):
                    notes[of_classes[code]] = self._reason(measure, code)
        for place in told:
            notes[place] = self._note(self.evaluation.slot(place), float(value[place]))
        return notes

    def _reason(self, measure: Measure, code: int) -> str:
        """Why a measure has no value for a class."""
        return measure.undefined.replace("{class}", self._quoted[code]) + self._stand_in_words

    @cached_property
    def _quoted(self) -> dict[int, str]:
        """The names of the classes for which some measure is undefined."""
        return {code: quoted(self.classes[code]) for code in set().union(*self.gaps.values())}

    def _note(self, slot: Slot, value: float) -> str:
        """The note of one slot."""
        if slot.code is not None:
            missing = slot.code in self.gaps.get(slot.measure.label, ())
            return self._reason(slot.measure, slot.code) if missing else ""
        if math.isnan(value):
            return "undefined for every class" if slot.average in ("macro", "weighted") else slot.measure.undefined
        notes = [INFINITE] if math.isinf(value) else []
        if slot.average in ("macro", "weighted") and slot.measure.label in self.gaps:
            notes.append(self._gap_words[slot.measure.label])
        if slot.measure.name in ORDERED and len(self.classes) > 2 and self.evaluation.scale.sorted_only:
            notes.append("classes in sorted order; give a scale to order them")
        return "; ".join(notes)

    @cached_property
    def _gap_words(self) -> dict[str, str]:
        """What the averages of a measure say of the classes that they leave out; most leave out the same ones."""
        left_out, words = {label: tuple(codes) for label, codes in self.gaps.items()}, {}
        for gaps in set(left_out.values()):
            without = listed([self.classes[code] for code in gaps], 3)
            kept = f"mean over {len(self.classes) - len(gaps)} of {len(self.classes)} classes: "
            words[gaps] = f"{'' if self._stands_in else kept}undefined for {without}{self._stand_in_words}"
        return {label: words[gaps] for label, gaps in left_out.items()}

    # --- columns --------------------------------------------------------------------------------------------

    @property
    def order(self) -> Places:
        """The slots as they are shown: by measure, overall values before those of classes."""
        return self.evaluation.layout.order

    def columns(self) -> dict[str, Sequence[Any]]:
        """All estimates, one a row, measure by measure."""
        results, layout = self.results, self.evaluation.layout
        numbers = np.array([results.value, results.low, results.high, results.errors.plain]).take(layout.order, 1)
        value, low, high, se = numbers.tolist()
        return {
            "measure": layout.labels,
            "class": layout.classes_shown((*self.classes, None)),
            "average": layout.averages,
            "value": value,
            "low": low,
            "high": high,
            "se": se,
            "n": [self.rows] * len(value),
            "method": layout.shown(results.methods),
            "note": layout.shown(self.notes),
        }

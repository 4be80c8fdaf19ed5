"""The measures of one classifier that are made of one statistic: values, intervals and notes, as columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property
from ..core.errors import UndefinedValue, quoted
from ..core.estimate import Estimate
from ..core.scale import Label, listed
from ..core.threads import ahead_of
from ..inference.estimator import Results, compute
from ..inference.evaluation import Evaluation, Slot, Spread
from ..inference.row_evaluation import RowEvaluation
from ..inference.settings import Settings
from ..measures.registry import Measure

if TYPE_CHECKING:
    from ..core.typing import Places

ORDERED = ("weighted_kappa", "ranked_probability_score")  # measures for which it matters which class is next to which
INFINITE = "infinite: a count in the denominator is 0"


def compute_all(parts: Sequence[Part]) -> None:
    """Compute all slots of some parts; a core that would wait for others goes on with the next part."""
    for part, following in zip_longest(parts, parts[1:]):
        with ahead_of(None if following is None else following.begin):
            part.results  # noqa: B018  (computed when it is first asked for, and kept)


@dataclass(frozen=True)
class Part:
    """All slots of one evaluation, with what there is to say about them."""

    evaluation: Evaluation
    settings: Settings
    rows: float
    hidden: str = ""
    _known: dict[int, Estimate] = field(default_factory=dict, init=False, repr=False, compare=False)

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
    def is_computed(self) -> bool:
        """Whether all values and bounds are known already."""
        return "results" in self.__dict__

    @property
    def looks_at_rows(self) -> bool:
        """Whether rows have yet to be looked at."""
        return isinstance(self.evaluation, RowEvaluation) and not self.is_computed

    def estimate(self, place: int) -> Estimate:
        """Build the Estimate of one slot; of rows, this one is evaluated alone, unless all are known already."""
        evaluation = self.evaluation
        if isinstance(evaluation, RowEvaluation) and evaluation.one_by_one and self.looks_at_rows and not self.hidden:
            if place not in self._known:
                self._known[place] = replace(self, evaluation=evaluation.only(place)).estimate(0)
            return self._known[place]
        results, slot, note = self.results, evaluation.slots[place], self.notes[place]
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
        if self.hidden or not isinstance(self.evaluation, RowEvaluation):
            return value, value
        return self.evaluation.certified(slot) or (value, value)

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
        return not math.isnan(self.evaluation.undefined)

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
            notes[place] = self._note(self.evaluation.slots[place], float(value[place]))
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

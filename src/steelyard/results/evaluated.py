"""What there is of one classifier: its slots, evaluated when they are asked for, and where each measure stands."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..core.cached import cached_property
from ..core.errors import BadOption, EventNeeded, TooLarge, UnknownLabel, UnknownMeasure, UnknownPart, quoted
from ..core.scale import Label, label_among, listed, whole_number
from ..core.suggestions import did_you_mean
from ..core.text import count, in_words
from ..data.formats import available
from ..data.formats import in_words as bytes_in_words
from ..families.by_statistic import FAMILIES, SAYS_MORE, evaluate
from ..families.counts import Counts
from ..families.ranking.one_against_rest import OneAgainstRest
from ..families.summed.summary import Summary
from ..inference.design import unit_of
from ..inference.estimator import Results
from ..inference.evaluation import Evaluation
from ..inference.row_evaluation import RowEvaluation
from ..inference.settings import Settings
from ..measures import find, lacking, means_a_class, of_class, refuse_of_class
from ..measures.registry import AVERAGES, REGISTRY, Measure
from ..passes.tally import Tally
from ..states.held_rows import Rows
from ..states.statistics import CALIBRATION, CONFUSION, CONTINUUM, FORECASTS, PARTITION, RANKING, Statistic, rows_in
from .parts import Part

if TYPE_CHECKING:
    from ..families.bins.evaluation import CalibrationEvaluation
    from ..families.continuum.evaluation import ContinuumEvaluation
    from ..families.forecasts.evaluation import ForecastEvaluation
    from ..families.partition.evaluation import PartitionEvaluation
    from ..families.ranking.evaluation import RankedEvaluation

Kind = TypeVar("Kind")


BYTES_A_VALUE = 800  # of a class by a measure, with slopes and intervals
FEW_ENOUGH = 2_000  # classes that need no look at the memory
MOST_VALUES = 1_000_000


class Slices(dict[Label, Kind]):
    """One result for every part of the data; a part that there is not is answered with those that there are."""

    def __missing__(self, part: Any) -> Kind:
        """Name the parts."""
        there = f"There are {listed(list(self))}" if self else "Name the column of parts: by="
        raise UnknownPart(f"there is no part {quoted(part)}", mend=did_you_mean(part, self, there))

    def __repr__(self) -> str:
        """Name the parts, not all that is known of each of them."""
        return f"{in_words(len(self), 'part')} of the data: {listed(list(self))}"


def refuse_too_many_values(classes: int, settings: Settings) -> None:
    """Refuse measures of very many classes: each has a value for every class, and slopes by all of them."""
    measures = settings.measures
    values = classes * len(measures)
    size = values * BYTES_A_VALUE
    if classes <= FEW_ENOUGH or (values <= MOST_VALUES and size <= (free := available())):
        return
    memory = "" if values > MOST_VALUES else f", and {bytes_in_words(free)} of memory are free"
    raise TooLarge(
        f"{in_words(len(measures), 'measure')} of {classes:,} classes take about {bytes_in_words(size)}{memory}",
        mend="Ask for fewer measures, as in measures=['error']; or are the labels numbers that were measured?",
    )


@dataclass(frozen=True, eq=False)
class Evaluated:
    """One classifier, evaluated.

    Attributes:
        tally: The sums.
        settings: What was asked for, and how it is computed.
        model: What the classifier is called.
        slice: The part of the data; all of them where it is None.
    """

    tally: Tally
    settings: Settings
    model: str = "prediction"
    slice: Label | None = None
    _evaluated: dict[Statistic, RowEvaluation] = field(default_factory=dict, init=False, repr=False)
    _parts: dict[str, Part] = field(default_factory=dict, init=False, repr=False)
    _alone: dict[str, Part] = field(default_factory=dict, init=False, repr=False)  # of single measures of counts

    def __post_init__(self) -> None:
        """Refuse more values than memory holds, before any of it is taken."""
        refuse_too_many_values(len(self.tally.scale), self.settings)
        if self.settings.asked:
            self.words_on_names  # noqa: B018  (a class that there is not is refused before anything is computed)

    @cached_property
    def evaluation(self) -> Counts:
        """The evaluated slots of this classifier that are made of counts."""
        patterns, model = self.tally.patterns(self.slice), self.tally.models.index(self.model)
        return Counts(
            patterns,
            model,
            self.tally.scale,
            self.settings.formulas,
            self.settings.stand_in,
            unit_of(patterns, model),
        )

    def of(self, statistic: Statistic) -> RowEvaluation:
        """The evaluated slots of this classifier that are made of one statistic of its rows."""
        if statistic not in self._evaluated:
            counts = self.evaluation
            self._evaluated[statistic] = evaluate(
                statistic,
                self._kept,
                counts.model,
                scale=counts.scale,
                measures=self.settings.made_of(statistic),
                stand_in=self.settings.stand_in,
                unit=counts.unit,
                models=self.tally.models,
            )
        return self._evaluated[statistic]

    @property
    def ranked(self) -> RankedEvaluation:
        """The evaluated slots of this classifier that are made of its scores."""
        if not self.tally.tells_rows:
            raise self.no_scores
        return cast("RankedEvaluation", self.of(RANKING))

    @property
    def forecast(self) -> ForecastEvaluation:
        """The evaluated slots of this classifier that are made of its probabilities."""
        return cast("ForecastEvaluation", self.of(FORECASTS))

    @property
    def calibration(self) -> CalibrationEvaluation:
        """The evaluated slots of this classifier that hold its probabilities against frequencies."""
        return cast("CalibrationEvaluation", self.of(CALIBRATION))

    @property
    def continuum(self) -> ContinuumEvaluation:
        """The evaluated slots of this classifier that are made of measured values."""
        return cast("ContinuumEvaluation", self.of(CONTINUUM))

    @property
    def partition(self) -> PartitionEvaluation:
        """The evaluated slots of this classifier that are made of its memberships in a partition space."""
        return cast("PartitionEvaluation", self.of(PARTITION))

    @property
    def _kept(self) -> Rows | Summary:
        """The rows with what was said of them, or what was kept of them; of labels, their patterns tell as much."""
        kept = self.tally.kept_of(self.slice)
        if not self.tally.given.kept:
            raise self.no_scores
        return self.evaluation.patterns.as_rows() if kept is None else kept

    @property
    def parts(self) -> dict[str, Part]:
        """What is made of counts, of the order of scores, and of probabilities."""
        there = [CONFUSION, *filter(self._is_asked_of_rows, FAMILIES)]
        return {statistic.name: self._part(statistic) for statistic in there}

    def _is_asked_of_rows(self, statistic: Statistic) -> bool:
        return bool(self.settings.made_of(statistic)) and (self.tally.tells_rows or statistic not in SAYS_MORE)

    def _part(self, statistic: Statistic) -> Part:
        if statistic.name not in self._parts:
            evaluation = self.evaluation if statistic is CONFUSION else self.of(statistic)
            self._parts[statistic.name] = Part(evaluation, self.settings, self.n, self.hidden)
        return self._parts[statistic.name]

    def part(self, statistic: Statistic) -> Part:
        """What is made of one of them."""
        if statistic is not CONFUSION and not self._is_asked_of_rows(statistic):
            raise self.no_scores
        part = self._part(statistic)
        if statistic is not CONFUSION:
            self._refuse_changed([part])
        return part

    def part_with(self, measure: Measure) -> Part:
        """What tells of one measure: of counts, this one alone, unless all of them are known already."""
        if measure.statistic is not CONFUSION or self.settings.resampled:
            return self.part(measure.statistic)
        part = self._part(CONFUSION)
        if part.is_computed:
            return part
        if measure.label not in self._alone:
            alone = replace(self.evaluation, formulas=self.settings.formulas.alone(measure))
            self._alone[measure.label] = replace(part, evaluation=alone)
        return self._alone[measure.label]

    def _refuse_changed(self, parts: Iterable[Part]) -> None:
        """See whether the scores are still those that were given, before anything new is made of them."""
        if self.tally.scores is not None and any(part.looks_at_rows for part in parts):
            self.tally.scores.refuse_changed()

    @property
    def results(self) -> Results:
        """All values and bounds that are made of counts, as columns."""
        return self.part(CONFUSION).results

    @property
    def unassigned(self) -> bool:
        """Whether the scores of this classifier assign rows to no class."""
        return self.model in self.tally.given.unassigned

    @property
    def raw(self) -> bool:
        """Whether this classifier gave scores on any scale, or in cross-validation none, and no probabilities."""
        rows = self.tally.some_rows
        return rows is not None and rows.scores[self.evaluation.model].raw

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.tally.scale.classes

    @property
    def n(self) -> float:
        """How many rows were assessed; of a subgroup that is not reported, NaN."""
        return math.nan if self.hidden else rows_in(self.evaluation.patterns.count)

    @property
    def hidden(self) -> str:
        """Why a subgroup is not reported; empty where it is.

        This is the one place that decides: all columns, estimates and numbers of rows come from here.
        """
        least = self.settings.least
        small = self.slice is not None and rows_in(self.evaluation.patterns.count) < least
        return f"fewer than {in_words(least, 'row')}" if small else ""

    @property
    def size_words(self) -> str:
        """How many rows there are, or only that there are few."""
        return f"<{self.settings.least:,}" if self.hidden else count(self.n)

    def refuse_hidden(self) -> None:
        """Refuse what would tell of a subgroup that is not reported."""
        if self.hidden:
            raise BadOption(f"{quoted(self.slice)} has {self.hidden}", mend="Leave least= out, or take a larger part")

    @property
    def dropped(self) -> int:
        """How many rows were left out because a value was missing."""
        return self.tally.dropped

    def place(self, name: str | Measure, part: Any = None) -> int:
        """Find the slot of a measure among those of its kind, for a class, an average or overall."""
        entry = self.find(name)
        return self.place_in(self.part(entry.statistic).evaluation, entry, part)

    def place_in(self, evaluation: Evaluation, entry: Measure, part: Any = None) -> int:
        """Find the slot of a measure in an evaluation that has it."""
        if part is None:
            return evaluation.overall(entry)
        average = isinstance(part, str) and part not in self.classes and part in AVERAGES
        try:
            place = evaluation.places.get((entry.label, part if average else self.tally.scale.code(part)))
        except UnknownLabel as error:
            raise error.but(mend=did_you_mean(part, AVERAGES, error.mend)) from None
        if place is None:
            has = f"It has {listed(evaluation.layout.kinds)} averages"
            mend = has if entry.per_class else "It speaks of all classes together"
            raise UnknownMeasure(f"{entry.label} has no value for {quoted(part)}", mend=mend)
        return place

    def meant(self, name: Any, part: Any = None) -> tuple[Any, Any, str]:
        """Return the measure and the class that a name with a class means, and a word on it; others as they are."""
        found = None if isinstance(name, str) and name in self.settings.by_label else of_class(name)
        if found is None and part is None:
            return name, None, ""
        if found is not None and part is not None:
            raise UnknownMeasure(f"{quoted(name)} names its class", mend=f"Leave {quoted(part)} out")
        if found is not None:
            label, words = self._class_meant(found.label)
            return found.measure, label, REGISTRY[found.measure].caution(name, words)
        measure = means_a_class(name)
        if isinstance(part, str) and part in AVERAGES and part not in self.classes:
            measure = None
        if measure is None:
            return name, part, ""
        label, words = self._class_meant(part)
        return measure, label, REGISTRY[measure].caution(f"{name} {part}", words)

    def _class_meant(self, word: Any) -> tuple[Label, str]:
        """Return the class of that name, or else the one in that place, counted from 1; and which it is, in words."""
        text, number = str(word), whole_number(word)
        numbers = {str(int(label)): label for label in self.classes if isinstance(label, bool)}  # as 1 and 0 in files
        named = numbers.get(text, label_among(self.classes, text))
        if named is not None:
            return named, f"class {quoted(named)}"
        if number is not None and 1 <= number <= len(self.classes):
            label = self.classes[number - 1]
            return label, f"class {quoted(label)}, number {number} of {listed(self.classes, 5)}"
        mend = f"There are {listed(self.classes, 5)}, or their places from 1 to {len(self.classes)}"
        raise UnknownLabel(f"{quoted(word)} is not one of the classes", mend=did_you_mean(text, self.classes, mend))

    @property
    def words_on_names(self) -> list[str]:
        """Return what there is to know about the names that measures were asked for by."""
        return [self.meant(name)[2] or measure.caution(name) for measure, name in self.settings.asked]

    def find(self, name: str | Measure) -> Measure:
        """Find a measure among the computed ones; costs given before need not be repeated."""
        computed = self.settings.by_label
        if isinstance(name, str) and name in computed:
            return computed[name]
        refuse_of_class(name)
        entry = find(name)
        # Costs are not part of a name: those that a measure brings along need not be those that were given before.
        if entry.label in computed and entry.agrees_with(computed[entry.label]):
            return computed[entry.label]
        same = [other for other in self.settings.measures if other.name == entry.name]
        if len(same) == 1 and not entry.changed:
            return same[0]
        if not entry.needs:
            if self.settings.everything:
                return entry  # there is nothing that stands in the way of computing it now
            raise UnknownMeasure(f"{entry.label} was not asked for", mend="Name it in measures=[...]")
        raise UnknownMeasure(f"{entry.label} needs {listed(entry.needs)}", mend=lacking(entry))

    def code(self, label: Any) -> int:
        """The class that a curve is about: the one that is named, or the event."""
        code = self.tally.scale.event_code if label is None else self.tally.scale.code(label)
        if code is None:
            last = quoted(self.classes[-1])
            mend = f"Name one of {listed(self.classes, 5)}: label={last} here, or event={last} in assess or compare"
            raise EventNeeded("curves and thresholds are those of one class, and no event is named", mend=mend)
        return code

    def code_of_two(self, label: Any = None) -> int:
        """The class that a threshold parts from the other one; more than two are not parted by one."""
        if len(self.classes) > 2:
            mend = "Give a truth that is one class and the rest, or see steelyard.decide"
            raise BadOption(f"a threshold parts two classes, not {len(self.classes)}", mend=mend)
        return self.code(label)

    @property
    def has_probabilities(self) -> bool:
        """Whether its scores are read as probabilities."""
        return self.tally.given.probable and not self.raw

    @property
    def has_scores(self) -> bool:
        """Whether the classifier gave scores, from which curves and thresholds follow."""
        return self.tally.given.scored and self.tally.given.kept and self.ranked.scored

    @property
    def no_scores(self) -> UnknownMeasure:
        """What to tell whoever asks for something that needs scores, where there are none."""
        if self.tally.given.kept:
            return UnknownMeasure("there are no scores", mend="Give scores or memberships, not labels")
        return UnknownMeasure(
            "nothing but the classes that scores assigned was counted",
            mend="Ask for a measure of the scores too, such as auc or brier, where rows are counted",
        )

    def event_ranking(self, label: Any = None) -> OneAgainstRest:
        """The rows sorted by the score of the event, or of another class."""
        if not self.has_scores:
            raise self.no_scores
        self.ranked.rows.refuse_changed()
        return self.ranked.against_rest(self.code(label))

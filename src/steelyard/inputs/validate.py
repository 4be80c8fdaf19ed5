"""The way from raw input to checked rows: everything is read, compared and coded on one scale here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.columns import as_number, flattened, is_table, numbers, refuse_twice, take
from ..core.errors import (
    BadOption,
    EmptyInput,
    NotNumbers,
    OneClass,
    OutsideContinuum,
    SteelyardError,
    UnknownLabel,
    UnusableLabels,
    WrongShape,
    quoted,
)
from ..core.scale import Continuum, Label, Scale, listed, plain_label, same_number, whole_number
from ..core.suggestions import did_you_mean, refuse_unknown
from .categorical import Categorical, refuse_missing, respelled, scale_of
from .dataset import WEIGHT_KINDS, Dataset, Knowledge, Measured, Raw, WeightKind, checked_weight, remarks_on
from .labels import coded, crossed, encode_parts, take_parts
from .membership import Noticed, check_no_missing
from .misreadings import check_lengths, check_named, check_not_swapped, refuse_strangers
from .prediction import Prediction, Scores, recognise, recognise_scores
from .remarks import UNNAMED, Remark, check_scales_alike, kinds_of, noticed_of

if TYPE_CHECKING:
    from ..core.typing import Array, Codes

Missing = Literal["error", "drop"]


@dataclass(frozen=True)
class Validator:
    """The options under which rows are checked and coded.

    Attributes:
        scale: The classes, where the user named them.
        event: The class of interest.
        threshold: The score from which on a row is assigned to the event.
        missing: What to do about missing values.
        weight: What each row weighs.
        group: The cluster of each row.
        by: The part of the data that each row belongs to.
        names: What messages call the truth, the weight, the group and the parts, where they are columns of a table.
        headings: What messages call a classifier's column of labels or scores, where it is a column of a table.
        any_scale: Whether a score need not be a probability, since it is not held against one half.
        knowledge: What is said about measured values, where the truth was measured.
        part: Whether more rows follow: what must hold of all rows together is then for others to check.
        weight_kind: Whether weights are sampling weights, or frequency weights that count repeated rows.
        thresholds: The thresholds of single classifiers, by name: they come before the common one.
        scores: The classifiers that give scores on any scale, which are never read as probabilities.
        later: The classifiers whose threshold will be chosen once all rows are known.
    """

    scale: Scale | None = None
    event: Any = None
    threshold: float | None = None
    missing: Missing = "error"
    weight: Any = None
    group: Any = None
    by: Any = None
    names: Mapping[str, str] = field(default_factory=dict)
    headings: Mapping[str, str] = field(default_factory=dict)
    any_scale: bool = False
    knowledge: Knowledge = field(default_factory=Knowledge)
    part: bool = False
    weight_kind: WeightKind = "sampling"
    thresholds: Mapping[str, float] = field(default_factory=dict)
    scores: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Check the options themselves."""
        refuse_unknown("missing", self.missing, ("error", "drop"))
        refuse_unknown("weight_kind", self.weight_kind, WEIGHT_KINDS)
        if self.scale is not None and not isinstance(self.scale, Scale):
            raise BadOption(f"scale is {quoted(self.scale)}", mend="Give scale=Scale(['low', 'high'])")
        if self.threshold is not None:
            object.__setattr__(self, "threshold", as_number(self.threshold))
            if np.isnan(self.threshold):
                raise BadOption("threshold is no number", mend="Give a number, or leave it out")
        if self.thresholds:
            object.__setattr__(self, "thresholds", {name: as_number(each) for name, each in self.thresholds.items()})
        for name, each in self.thresholds.items():
            if np.isnan(each):
                raise BadOption(f"the threshold of {quoted(name)} is no number", mend="Give a number, or leave it out")
        object.__setattr__(self, "event", None if self.event is None else plain_label(self.event))
        if isinstance(self.scale, Continuum):
            if self.knowledge.sd is None:
                object.__setattr__(self, "knowledge", replace(self.knowledge, sd=self.scale.sd))
        elif self.knowledge.said:
            raise BadOption(
                f"{self.knowledge.said[0]} is given, but the truth was not measured",
                mend="Say where classes are cut: scale=Continuum([65], ['dry', 'wet'])",
            )

    def validate(self, truth: Any, predictions: Mapping[str, Any]) -> Dataset:
        """Check and code everything; the way from raw input to a data set."""
        if not predictions:
            raise EmptyInput("there is no classifier to assess", mend="Give at least one prediction")
        raw = self._read(truth, predictions)
        check_lengths(raw, self._name("weight"))
        if len(raw.truth) == 0:
            raise EmptyInput("there is no row to assess", mend="Check the filter or the file")
        gaps = raw.missing() if self.missing == "drop" else None
        if gaps is None or not gaps.any():
            return self._place(raw).present()
        if gaps.all():
            raise EmptyInput("every row misses a value", mend="Nothing is left after missing='drop'")
        kept = np.flatnonzero(~gaps)
        try:
            dataset = self._place(raw.keep(~gaps))
        except SteelyardError as error:
            raise error if error.row is None else error.at(int(kept[error.row])) from None
        return replace(dataset, kept=kept, dropped=len(gaps) - len(kept)).present()

    def survey(self, truth: Any, predictions: Mapping[str, Any]) -> tuple[Scale, Mapping[str, Prediction]]:
        """The classes and the form of every prediction, from the distinct values that the rows hold."""
        raw, _ = self._spelled_alike(self._read(truth, predictions))
        return self._settle(raw), raw.predictions

    def threshold_of(self, name: str) -> float | None:
        """The threshold of one classifier; None where probabilities are compared, or where it will be chosen."""
        return None if name in self.later else self.thresholds.get(name, self.threshold)

    def expects_scores(self, name: str) -> bool:
        """Whether it was said that a classifier gave scores, or a threshold that only scores have."""
        return self.threshold_of(name) is not None or self.any_scale or name in self.scores | self.later

    def takes_numbers(self, name: str) -> bool:
        """Whether whole numbers that are no classes are scores, or guesses at what was measured."""
        if self.expects_scores(name):
            return True
        if not isinstance(self.scale, Continuum) or self.scale.named_after_intervals:
            return False
        return self._event is None and isinstance(self.scale.classes[0], str)

    @property
    def _event(self) -> Any:
        return self.event if self.event is not None or self.scale is None else self.scale.event

    def _name(self, what: str) -> str:
        return self.names.get(what, what)

    def _read(self, truth: Any, predictions: Mapping[str, Any]) -> Raw:
        true, measured = self._truth(truth, next(iter(predictions.values())))
        known: Sequence[Label] = true.labels if self.scale is None else self.scale.classes
        event, read = self._event, {}
        if known and isinstance(known[0], str):
            known, event = _as_numbers(known, event)
        if isinstance(self.scale, Continuum) and self.scale.named_after_intervals:
            known = ()  # what they are called is up to the predictions
        for name, value in predictions.items():
            heading = self.headings.get(name, name)
            if name in self.scores:
                read[name] = recognise_scores(value, heading)
            else:
                read[name] = recognise(value, heading, known, event, self.takes_numbers(name))
        return Raw(
            true,
            measured,
            read,
            None if self.weight is None else numbers(self.weight, self._name("weight")),
            None if self.group is None else encode_parts(self.group, self._name("group")),
            None if self.by is None else self._slice(),
        )

    def _truth(self, truth: Any, prediction: Any) -> tuple[Categorical, Measured | None]:
        name = self._name("truth")
        taken = take(truth, name)
        try:
            if not isinstance(self.scale, Continuum):
                return coded(flattened(taken, name), name), None
            values = numbers(taken, name)
            codes = self.scale.cut(values)
        except OutsideContinuum as error:
            raise error.but(column=name) from None
        except (UnusableLabels, WrongShape, NotNumbers) as error:
            check_not_swapped(taken, prediction, isinstance(self.scale, Continuum))
            raise error from None
        cut = Categorical(codes, self.scale.classes, name, has_missing=bool((codes < 0).any()))
        return cut, self.knowledge.of(self.scale.in_double(values), self.names)

    def _slice(self) -> Categorical:
        if isinstance(self.by, Mapping):
            names, columns = [str(plain_label(name)) for name in self.by], list(self.by.values())
        else:
            names, columns = [self._name("by")], [take_parts(self.by, self._name("by"))]
            if is_table(columns[0]):
                names, columns = [field.name for field in columns[0].type], columns[0].flatten()
        if not columns:
            raise BadOption("by= names no column", mend="Give at least one, or leave it out")
        refuse_twice(names)
        return crossed([encode_parts(column, name) for name, column in zip(names, columns, strict=True)])

    def _place(self, raw: Raw) -> Dataset:
        """Code everything on one scale; a row without a value is refused."""
        for column in (raw.truth, raw.group, raw.slice):
            if column is not None and column.has_missing:
                refuse_missing(column)
        if self.threshold is not None or self.thresholds:
            self._check_thresholds_used(raw)
        raw, remarks = self._spelled_alike(raw)
        scale, truth = self._settle(raw), raw.truth
        if self.event is not None and str(self.event) not in map(str, scale.classes):
            remarks[Remark("number_meant", str(self.event))] = len(truth)
        if isinstance(scale, Continuum) and isinstance(self.scale, Continuum):
            truth = renamed(truth, self.scale, scale)
        weight = raw.weight
        if weight is not None:
            weight = checked_weight(weight, self._name("weight"), self.part, self.weight_kind)
            remarks |= remarks_on(weight, self.weight_kind)
        codes = truth.on(scale)
        assigned, scores, noticed = self._assigned(raw, scale)
        for name, values in () if raw.measured is None else raw.measured.said():
            check_no_missing(values, self._name(name))
        return Dataset(
            scale=scale,
            truth=codes,
            assigned=assigned,
            scores=scores,
            measured=raw.measured,
            weight=weight,
            counted=weight is None or self.weight_kind == "frequency",
            group=raw.group,
            slice=raw.slice,
            remarks=remarks | noticed,
        )

    def _spelled_alike(self, raw: Raw) -> tuple[Raw, dict[Remark, int]]:
        """Spell whole numbers in one way in all columns of labels, and count the rows in which that changed labels."""
        before, names, said = [raw.truth], list[str](), list[str]()
        for name, one in raw.predictions.items():
            names += one.class_names
            if one.labels is not None:
                before.append(one.labels)
                said.append(name)
        if isinstance(self.scale, Continuum) and self.scale.named_after_intervals:
            return raw, {}
        after = respelled(before, None if self.scale is None else self.scale.classes, names)
        if after is before:
            return raw, {}
        changed = [(old, old.rows_unlike(new)) for old, new in zip(before, after, strict=True) if new is not old]
        if not changed:
            return raw, {}
        labels = dict(zip(said, after[1:], strict=True))
        predictions = {
            name: replace(one, labels=labels[name]) if name in labels else one for name, one in raw.predictions.items()
        }
        return replace(raw, truth=after[0], predictions=predictions), {
            Remark("whole_number", column.name): rows for column, rows in changed if rows
        }

    def _check_thresholds_used(self, raw: Raw) -> None:
        """Refuse a threshold that no score is held against."""
        scored = [name for name, said in raw.predictions.items() if said.labels is None]
        if self.threshold is not None and not scored:
            raise BadOption("threshold= is given, but no score", mend="Leave it out, or give scores for the event")
        for name in self.thresholds:
            if name not in scored:
                there = f"{quoted(name)} gave labels" if name in raw.predictions else f"there is no {quoted(name)}"
                mend = did_you_mean(name, scored, "Name classifiers that gave scores")
                raise BadOption(f"threshold= is given for {quoted(name)}, but {there}", mend=mend)

    def _assigned(self, raw: Raw, scale: Scale) -> tuple[dict[str, Codes], dict[str, Scores], dict[Remark, int]]:
        """The class of every row by each classifier, its scores, and what there is to know about that."""
        found: dict[str, Codes] = {}
        scores: dict[str, Scores] = {}
        remarks: dict[Remark, int] = {}
        shared = () if self.threshold is None else self._sharing(raw)
        for name, said in raw.predictions.items():
            threshold, free = self.threshold_of(name), self.any_scale or name in self.later
            noticed = Noticed(scales=threshold is None or name in shared)
            found[name] = codes = said.assigned(scale, threshold, free, noticed)
            scores[name] = each = said.scores(scale, self.any_scale)
            if said.labels is None:
                speaks = None if threshold is None else each.parts_by(scale)
                remarks |= noticed_of(name, codes, speaks, threshold, noticed, scale.event is not None)
                ranks_only = said.raw or (free and (len(said.columns) > 1 or noticed.beyond > 0))
                if ranks_only and threshold is None and name not in self.later:
                    remarks[Remark("unassigned", name)] = len(codes)
                if len(said.columns) > 1 and not said.class_names:
                    remarks[Remark(UNNAMED, name)] = len(codes)
                if name in shared:
                    remarks |= kinds_of(name, len(codes), noticed.beyond, said.raw)
        if shared and not self.part:
            check_scales_alike(remarks, self.threshold)
        return found, scores, remarks

    def _sharing(self, raw: Raw) -> Sequence[str]:
        """The classifiers that gave scores under the threshold that is common to all, where these are several."""
        apart = self.later | self.thresholds.keys()
        found = [name for name, said in raw.predictions.items() if said.labels is None and name not in apart]
        return found if len(found) > 1 else ()

    def _settle(self, raw: Raw) -> Scale:
        """Take the scale that was given, or make one of all labels seen."""
        if self.scale is not None:
            scale = self.scale
            if isinstance(scale, Continuum) and scale.named_after_intervals and raw.measured is not None:
                scale = named_after(scale, raw.predictions, raw.measured.value)
            return scale if self.event is None else replace_event(scale, self.event)
        columns, named, labels, event = [raw.truth], list[Categorical](), set[Label](), self.event
        for said in raw.predictions.values():
            if said.labels is not None:
                columns.append(said.labels)
            if said.class_names:
                named.append(_bearing_names(said.class_names, raw.truth.labels))
        columns += named
        for column in columns:
            labels.update(column.labels)
        if event is not None and event not in labels and (same := same_number(event, labels)) is not None:
            event = same
        if event is not None and event not in labels:
            if len(labels) > 1:
                known, usual = sorted(labels, key=str), "Check the spelling, or name all classes: scale=Scale([...])"
                raise UnknownLabel(
                    f"the event {quoted(self.event)} is not one of the classes seen, {listed(known)}",
                    mend=did_you_mean(self.event, known, usual),
                )
            columns.append(Categorical(np.zeros(0, np.uint8), (event,), "event"))
        elif len(labels) < 2:
            raise OneClass(
                f"only one class is seen: {quoted(next(iter(labels), None))}",
                column=raw.truth.name,
                mend="Name all classes that can occur: scale=Scale([...])",
            )
        scale = scale_of(columns, event)
        refuse_strangers(raw, self.event)
        check_named(raw, scale)
        return scale


def _as_numbers(known: Sequence[Label], event: Any) -> tuple[Sequence[Label], Any]:
    """Classes and the event as whole numbers where these are spelled as text: predictions may be such numbers."""
    numbers = [number for label in known if (number := whole_number(label)) is not None]
    if len(set(numbers)) < len(known):
        return known, event
    number = whole_number(event)
    return numbers, event if number is None else number


def replace_event(scale: Scale, event: Any) -> Scale:
    """Name another event on the same scale."""
    if isinstance(scale, Continuum):
        return scale.but(event=event)
    return Scale(scale.classes, event, scale.ordered)


def _bearing_names(names: Sequence[str], labels: Sequence[Label]) -> Categorical:
    """Let membership columns say which classes there are, when they bear the plain names of those seen."""
    seen = {str(label) for label in labels}
    others = [name for name in names if name not in seen] if seen <= set(names) else []
    unseen: list[Label] = list(others)
    if all(isinstance(label, bool) for label in labels):
        unseen = [name == "True" for name in others if name in ("False", "True")]
    elif not any(isinstance(label, str) for label in labels):
        numbers = [(name, whole_number(name)) for name in others]
        unseen = [number for name, number in numbers if number is not None and str(number) == name]
    return Categorical(np.zeros(0, np.uint8), tuple(unseen), "membership")


# --- classes of a continuum that nobody named -------------------------------------------------------------------


def named_after(scale: Continuum, predictions: Mapping[str, Prediction], values: Array) -> Continuum:
    """Name the classes after the labels of the classifiers, where these are others than the names of intervals.

    Numbers are taken in their order; text by the mean of what was measured where it was assigned.
    """
    said = list(predictions.values())
    known: list[Label] = [label for one in said if one.labels is not None for label in one.labels.labels]
    known += [name for one in said if one.labels is None for name in one.class_names]
    labels = list(dict.fromkeys(known))
    if set(labels) <= set(scale.classes):
        return scale
    if len(labels) != len(scale):
        raise UnknownLabel(
            f"the boundaries cut {len(scale)} classes, and the classifiers know {listed(labels)}",
            mend="Name the classes from the lowest to the highest: Continuum(boundaries, classes=[...])",
        )
    if not any(isinstance(label, str) for label in labels):
        return scale.but(classes=sorted(labels), ordered=False)
    means = [_mean_where(label, said, values) for label in labels]
    order = np.argsort(means, kind="stable")
    return scale.but(classes=[labels[place] for place in order.tolist()], ordered=False)


def _mean_where(label: Label, said: Sequence[Prediction], values: Array) -> float:
    """The mean of what was measured, over the rows that were assigned to a class."""
    total = mass = 0.0
    for one in said:
        if one.labels is not None and label in one.labels.labels:
            weight = (one.labels.codes == one.labels.labels.index(label)).astype(np.float64)
        elif one.labels is None and label in one.class_names:
            weight = np.nan_to_num(one.columns[one.class_names.index(str(label))].astype(np.float64))
        else:
            continue
        total, mass = total + float(weight @ np.nan_to_num(values)), mass + float(weight.sum())
    return total / mass if mass else 0.0


def renamed(truth: Categorical, old: Continuum, new: Continuum) -> Categorical:
    """The same classes under their new names."""
    if old.classes == new.classes:
        return truth
    return replace(truth, labels=tuple(new.classes[old.classes.index(label)] for label in truth.labels))

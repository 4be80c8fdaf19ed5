"""One validated batch of rows. What gets past this door is right, so nothing behind it checks again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import sources
from .errors import (
    BadOption,
    BadWeights,
    EmptyInput,
    EventNeeded,
    OneClass,
    SwappedArguments,
    UnequalLengths,
    WrongShape,
    quoted,
)
from .labels import Coded, encode, refuse_missing, scale_of
from .membership import assign_highest, assign_threshold, missing_rows, numbers, refuse_missing_numbers
from .scale import Continuum, Scale

if TYPE_CHECKING:
    from .kinds import Array, Codes, Marks, Numbers, Places

Missing = Literal["error", "drop"]


@dataclass(frozen=True)
class Cases:
    """Rows with their true class and the class that each classifier assigned, coded on one scale.

    Attributes:
        scale: The classes.
        truth: Codes of the true classes.
        assigned: Codes of the assigned classes, by classifier.
        weight: What each row weighs; None where all weigh the same.
        counted: True when weights say how often a row occurred, False when they say how much it stands for.
        group: The cluster that each row belongs to.
        slice: The part of the data that each row belongs to, for results by part.
        kept: Which rows of the input these are; None for all.
        dropped: How many rows were left out because a value was missing.
    """

    scale: Scale
    truth: Codes
    assigned: Mapping[str, Codes]
    weight: Array | None = None
    counted: bool = True
    group: Coded | None = None
    slice: Coded | None = None
    kept: Places | None = None
    dropped: int = 0

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.truth)


@dataclass(frozen=True)
class Prediction:
    """What one classifier said, in one of three forms: labels, a score for the event, or memberships."""

    name: str
    labels: Coded | None = None
    columns: tuple[Numbers, ...] = ()
    class_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.columns[0]) if self.labels is None else len(self.labels)

    def missing(self) -> Marks | None:
        """Mark the rows without a prediction."""
        if self.labels is None:
            return missing_rows(self.columns)
        return self.labels.missing() if self.labels.has_missing else None

    def refuse_missing(self) -> None:
        """Name the first row without a prediction."""
        if self.labels is not None:
            refuse_missing(self.labels)
        for column, label in zip(self.columns, self.class_names or [""] * len(self.columns), strict=True):
            refuse_missing_numbers(column, f"{self.name}[{label}]" if label else self.name)

    def keep(self, rows: Marks) -> Prediction:
        """Leave out the rows that are not marked."""
        labels = None if self.labels is None else self.labels.keep(rows)
        return replace(self, labels=labels, columns=tuple(column[rows] for column in self.columns))


@dataclass(frozen=True)
class Door:
    """The options under which rows are let in."""

    scale: Scale | None = None
    event: Any = None
    threshold: float | None = None
    missing: Missing = "error"
    weight: Any = None
    group: Any = None
    by: Any = None
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the options themselves."""
        if self.missing not in ("error", "drop"):
            raise BadOption(f"missing is {quoted(self.missing)}", mend="Say 'error' or 'drop'")

    def admit(self, truth: Any, predictions: Mapping[str, Any]) -> Cases:
        """Check and code everything; the way from raw input to Cases."""
        if not predictions:
            raise EmptyInput("there is no classifier to assess", mend="Give at least one prediction")
        first = next(iter(predictions.values()))
        _refuse_swapped(truth, first, self.scale)
        true = self._truth(truth)
        read = {name: _prediction(value, name, true) for name, value in predictions.items()}
        weight, group, by = self._weight(), self._group(), self._slice()
        extras = {"weight": weight, "group": group, "by": by}
        _refuse_unequal(true, {**read, **{key: value for key, value in extras.items() if value is not None}})
        if len(true) == 0:
            raise EmptyInput("there is no row to assess", mend="Check the filter or the file")
        return self._place(true, read, weight, group, by)

    def _truth(self, truth: Any) -> Coded:
        name = self.names.get("truth", "truth")
        if not isinstance(self.scale, Continuum):
            return encode(truth, name)
        measured = numbers(truth, name)
        codes = np.full(len(measured), -1)
        here = ~np.isnan(measured)
        codes[here] = self.scale.cut(measured[here])
        return Coded(codes, self.scale.classes, name, has_missing=not here.all())

    def _weight(self) -> Numbers | None:
        return None if self.weight is None else numbers(self.weight, self.names.get("weight", "weight"))

    def _group(self) -> Coded | None:
        return None if self.group is None else encode(self.group, self.names.get("group", "group"))

    def _slice(self) -> Coded | None:
        if self.by is None:
            return None
        columns = self.by if isinstance(self.by, Mapping) else {self.names.get("by", "by"): self.by}
        coded = [encode(values, name) for name, values in columns.items()]
        return coded[0] if len(coded) == 1 else _cross(coded)

    def _place(
        self,
        true: Coded,
        read: Mapping[str, Prediction],
        weight: Numbers | None,
        group: Coded | None,
        by: Coded | None,
    ) -> Cases:
        keep = self._kept(true, read, weight, group, by)
        dropped = 0 if keep is None else int(len(true) - keep.sum())
        if keep is not None:
            if dropped == len(true):
                raise EmptyInput("every row misses a value", mend="Nothing is left after missing='drop'")
            true, read = true.keep(keep), {name: prediction.keep(keep) for name, prediction in read.items()}
            weight = None if weight is None else weight[keep]
            group, by = (None if column is None else column.keep(keep) for column in (group, by))
        scale = self._settle(true, read)
        return Cases(
            scale=scale,
            truth=true.on(scale),
            assigned={name: self._assigned(prediction, scale) for name, prediction in read.items()},
            weight=None if weight is None else _checked_weight(weight, self.names.get("weight", "weight")),
            counted=weight is None or weight.dtype.kind in "iub",
            group=group,
            slice=by,
            kept=None if keep is None else np.flatnonzero(keep),
            dropped=dropped,
        )

    def _kept(
        self,
        true: Coded,
        read: Mapping[str, Prediction],
        weight: Numbers | None,
        group: Coded | None,
        by: Coded | None,
    ) -> Marks | None:
        labelled = [column for column in (true, group, by) if column is not None]
        marks = [column.missing() for column in labelled if column.has_missing]
        marks += [mark for prediction in read.values() if (mark := prediction.missing()) is not None]
        if weight is not None and (mark := missing_rows([weight])) is not None:
            marks.append(mark)
        if not marks:
            return None
        if self.missing == "error":
            for column in labelled:
                refuse_missing(column)
            for prediction in read.values():
                prediction.refuse_missing()
            if weight is not None:
                refuse_missing_numbers(weight, self.names.get("weight", "weight"))
        return np.asarray(~np.logical_or.reduce(marks))

    def _settle(self, true: Coded, read: Mapping[str, Prediction]) -> Scale:
        """Take the scale that was given, or make one of all labels seen."""
        if self.scale is not None:
            return self.scale if self.event is None else replace_event(self.scale, self.event)
        columns = [
            true,
            *(prediction.labels for prediction in read.values() if prediction.labels is not None),
        ]
        named = next((prediction.class_names for prediction in read.values() if prediction.class_names), ())
        if named and all(isinstance(label, str) for label in true.labels):
            columns.append(_classes_as_column(named, true.labels))
        labels = {label for column in columns for label in column.labels}
        if len(labels) < 2 and (self.event is None or self.event in labels):
            raise OneClass(
                f"only one class is seen: {quoted(next(iter(labels), None))}",
                column=true.name,
                mend="Name all classes that can occur: scale=Scale([...])",
            )
        if self.event is not None and self.event not in labels:
            columns.append(Coded(np.zeros(0, np.int8), (self.event,), "event"))
        return scale_of(columns, self.event)

    def _assigned(self, prediction: Prediction, scale: Scale) -> Codes:
        if prediction.labels is not None:
            return prediction.labels.on(scale)
        if len(prediction.columns) == 1:
            return assign_threshold(
                prediction.columns[0], prediction.name, _event_code(prediction, scale), self.threshold
            )
        columns, names = prediction.columns, [f"{prediction.name}[{label}]" for label in scale.classes]
        if prediction.class_names:
            order = sources.bind({name: place for place, name in enumerate(prediction.class_names)}, scale)
            columns = tuple(columns[place] for place in order)
        elif len(columns) != len(scale):
            raise WrongShape(
                f"{len(columns)} membership columns for {len(scale)} classes",
                column=prediction.name,
                mend="Give one column a class, in the order of scale=Scale([...]), or a frame with class names",
            )
        return assign_highest(columns, names)


def replace_event(scale: Scale, event: Any) -> Scale:
    """Name another event on the same scale."""
    if isinstance(scale, Continuum):
        return Continuum(scale.boundaries, scale.classes, sd=scale.sd, closed=scale.closed, event=event)
    return Scale(scale.classes, event, scale.ordered)


def _event_code(prediction: Prediction, scale: Scale) -> int:
    if len(scale) != 2 or scale.event_code is None:
        raise EventNeeded(
            f"a single score cannot be read: {len(scale)} classes and "
            + ("no event" if scale.event is None else f"the event {quoted(scale.event)}"),
            column=prediction.name,
            mend="Name the class that the score speaks for: event='yes' (two classes), or give one column a class",
        )
    return scale.event_code


def _classes_as_column(named: Sequence[str], labels: Sequence[Any]) -> Coded:
    """Let membership columns say which classes there are, when they bear the plain class names."""
    known = set(labels)
    extra = tuple(named) if known <= set(named) else ()
    return Coded(np.zeros(0, np.int8), extra, "membership")


def _prediction(value: Any, name: str, true: Coded) -> Prediction:
    """Recognise the form of a prediction."""
    if isinstance(value, Prediction):
        return value
    if isinstance(value, Mapping):
        columns = tuple(numbers(column, f"{name}[{label}]") for label, column in value.items())
        return Prediction(name, columns=columns, class_names=tuple(str(label) for label in value))
    if sources.is_frame(value):
        table = sources.read(value)
        return _prediction({column: sources.column(table, column) for column in table.column_names}, name, true)
    if not isinstance(value, np.ndarray) and hasattr(value, "__arrow_c_stream__"):
        return _flat_prediction(value, name, true)
    array = value if isinstance(value, np.ndarray) else None
    if array is None and isinstance(value, list | tuple) and value and np.ndim(value[0]) == 1:
        array = np.asarray(value, dtype=np.float64)
    if array is not None and array.ndim == 2 and array.shape[1] > 1:
        return Prediction(name, columns=tuple(numbers(array[:, j], name) for j in range(array.shape[1])))
    if array is not None and array.ndim != 1:
        raise WrongShape(
            f"the prediction has the shape {array.shape}",
            column=name,
            mend="Give labels or scores (n,), or one membership column a class (n, C)",
        )
    return _flat_prediction(value, name, true)


def _flat_prediction(value: Any, name: str, true: Coded) -> Prediction:
    """Tell labels from scores: whole numbers that are all among the true labels are labels."""
    if not _is_floating(value):
        return Prediction(name, labels=encode(value, name))
    score = numbers(value, name)
    known = np.array([label for label in true.labels if not isinstance(label, str)], dtype=np.float64)
    sample = score[~np.isnan(score)]
    if len(known) and np.isin(sample[:1000], known).all() and np.isin(sample, known).all():
        return Prediction(name, labels=encode(score, name))
    return Prediction(name, columns=(score,))


def _is_floating(value: Any) -> bool:
    kind = getattr(value, "dtype", None) if isinstance(value, np.ndarray) else None
    if kind is not None:
        return bool(kind.kind == "f")
    if isinstance(value, list | tuple):
        present = [item for item in value if item is not None]
        return any(isinstance(item, float | np.floating) for item in present) and all(
            isinstance(item, int | float | np.number) for item in present
        )
    text = str(getattr(value, "dtype", getattr(value, "type", ""))).lower()
    return text.startswith(("float", "double", "halffloat"))


def _refuse_swapped(truth: Any, prediction: Any, scale: Scale | None) -> None:
    shape = np.shape(truth) if isinstance(truth, np.ndarray | list) else ()
    scores_first = _is_floating(truth) and not isinstance(scale, Continuum)
    if scores_first:
        values = numbers(truth, "truth")
        values = values[np.isfinite(values)]
        scores_first = bool((values != np.floor(values)).any())
    flat = not isinstance(prediction, Mapping | Prediction) and not sources.is_frame(prediction)
    labels_second = flat and not _is_floating(prediction) and np.ndim(prediction) == 1
    if len(shape) == 2 or (scores_first and labels_second):
        raise SwappedArguments(
            "the truth looks like a prediction" + (" and the prediction like labels" if labels_second else ""),
            mend="The truth comes first: assess(y_true, prediction)",
        )


def _refuse_unequal(true: Coded, columns: Mapping[str, Any]) -> None:
    for name, column in columns.items():
        lengths = {len(part) for part in getattr(column, "columns", ())} | {len(column)}
        for length in lengths - {len(true)}:
            raise UnequalLengths(
                f"{length} rows, but the truth has {len(true)}",
                column=name,
                mend="Every column needs one value a row",
            )


def _checked_weight(weight: Numbers, name: str) -> Array:
    broken = ~(np.isfinite(weight) & (weight >= 0))
    if broken.any():
        row = int(np.argmax(broken))
        raise BadWeights(f"the weight is {weight[row]}", column=name, row=row, mend="Weights are finite and 0 or above")
    if not weight.any():
        raise BadWeights("all weights are zero", column=name, mend="At least one row must count")
    return weight.astype(np.float64)


def _cross(columns: Sequence[Coded]) -> Coded:
    """One slice for every combination that occurs, labelled 'a=1, b=2'."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code = code * (len(column.labels) + 1) + column.codes + 1
    seen, codes = np.unique(code, return_inverse=True)
    labels, missing = [], []
    for value in seen.tolist():
        parts = []
        for column in reversed(columns):
            value, place = divmod(value, len(column.labels) + 1)  # noqa: PLW2901
            parts.append(f"{column.name}={column.labels[place - 1]}" if place else "")
        labels.append(", ".join(reversed(parts)))
        missing.append("" in parts)
    codes = np.where(np.array(missing)[codes], -1, codes)
    return Coded(codes, tuple(labels), " × ".join(column.name for column in columns), any(missing))

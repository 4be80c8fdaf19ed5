"""Rows of a data set: columns as they were read, and rows that were checked, behind which nothing is checked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from ..core.errors import BadOption, BadWeights
from ..core.scale import Scale
from ..data.digests import Origin
from .categorical import Categorical
from .measured import Measured
from .membership import check_no_missing, missing_rows
from .prediction import Prediction, Scores
from .remarks import Remark, Remarks, unassigned

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Numbers, Places

MOST_REPEATED = 20  # times that a row occurs on average: more often, weights may be those of a sample
WHOLE, FREQUENCY = Remark("whole_weights"), Remark("frequency_weights")
LARGEST_SQUARES = 1e100  # formulas multiply four sums of weights, and take steps that are small beside all of them
# What a weight says of its row: how much of the population it stands for, or how often it occurred.
WeightKind = Literal["sampling", "frequency"]
WEIGHT_KINDS: tuple[str, ...] = get_args(WeightKind)


@dataclass(frozen=True)
class Raw:
    """Columns that have been read, but not yet held against each other."""

    truth: Categorical
    measured: Measured | None
    predictions: Mapping[str, Prediction]
    weight: Numbers | None
    group: Categorical | None
    slice: Categorical | None

    def labelled(self) -> list[Categorical]:
        """The columns of labels beside the predictions."""
        return [column for column in (self.truth, self.group, self.slice) if column is not None]

    def missing(self) -> Marks:
        """Mark the rows in which anything is missing."""
        marks = [column.missing() for column in self.labelled() if column.has_missing]
        found = [prediction.missing() for prediction in self.predictions.values()]
        found.append(None if self.weight is None else missing_rows([self.weight]))
        found += [] if self.measured is None else self.measured.missing()
        marks += [mark for mark in found if mark is not None]
        return np.logical_or.reduce(marks) if marks else np.zeros(len(self.truth), dtype=bool)

    def keep(self, rows: Marks) -> Raw:
        """Leave out the rows that are not marked."""
        return Raw(
            self.truth.keep(rows),
            None if self.measured is None else self.measured.keep(rows),
            {name: prediction.keep(rows) for name, prediction in self.predictions.items()},
            None if self.weight is None else self.weight[rows],
            None if self.group is None else self.group.keep(rows),
            None if self.slice is None else self.slice.keep(rows),
        )


@dataclass(frozen=True)
class Dataset:
    """Rows with their true class and the class that each classifier assigned, coded on one scale.

    Attributes:
        scale: The classes.
        truth: Codes of the true classes.
        assigned: Codes of the assigned classes, by classifier.
        scores: Scores or memberships, by classifier.
        measured: The values that true classes were cut from, where they are.
        weight: What each row weighs; None where all weigh the same.
        counted: True when weights say how often a row occurred (or there are none), False for sampling weights.
        group: The cluster that each row belongs to.
        slice: The part of the data that each row belongs to, for results by part.
        kept: Which rows of the input these are; None for all.
        dropped: How many rows were left out because a value was missing.
        remarks: What was noticed that a reader of the result must know.
        origin: Where the rows come from, if they were read from files or a table.
    """

    scale: Scale
    truth: Codes
    assigned: Mapping[str, Codes]
    scores: Mapping[str, Scores]
    measured: Measured | None = None
    weight: Array | None = None
    counted: bool = True
    group: Categorical | None = None
    slice: Categorical | None = None
    kept: Places | None = None
    dropped: int = 0
    remarks: Remarks = field(default_factory=dict)
    origin: Origin | None = None

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.truth)

    def some(self, rows: Places) -> Dataset:
        """Some of the rows, each as often as it is named."""
        return replace(
            self,
            truth=self.truth[rows],
            assigned={name: codes[rows] for name, codes in self.assigned.items()},
            scores={name: said.at(rows) for name, said in self.scores.items()},
            measured=None if self.measured is None else self.measured.keep(rows),
            weight=None if self.weight is None else self.weight[rows],
            group=None if self.group is None else replace(self.group, codes=self.group.codes[rows]),
            slice=None if self.slice is None else replace(self.slice, codes=self.slice.codes[rows]),
            kept=rows if self.kept is None else self.kept[rows],
        )

    def present(self) -> Dataset:
        """Without rows that weigh nothing: they are no rows, and make no cluster and no part."""
        if self.weight is None or not (absent := self.weight == 0).any():
            return self
        group, parts = (None if one is None else one.keep(~absent) for one in (self.group, self.slice))
        return replace(self.some(np.flatnonzero(~absent)), group=group, slice=parts)

    @property
    def scored(self) -> bool:
        """Whether any classifier gave scores."""
        return any(scores.columns for scores in self.scores.values())

    def given(self, checked: bool = False) -> Available:
        """What there is for measures to be made of; scores may have been found to be probabilities before."""
        found = available_from(list(self.scores.values()), self.measured, checked)
        return found._replace(unassigned=unassigned(self.remarks, tuple(self.assigned)))


class Available(NamedTuple):
    """What there is for measures to be made of.

    Attributes:
        scored: Whether any classifier gave scores.
        probable: Whether all scores can be probabilities.
        measured: What is known about measured values; None where the truth was not measured.
        kept: Whether the scores are at hand; else classes were assigned by them, and they were let go.
        ordered: Whether any classifier gave one score a class that rank the classes of a row, and are no probabilities.
        raw: Whether any classifier gave scores on any scale, which are never read as probabilities.
        unassigned: The classifiers whose scores assign rows to no class, since no threshold was given.
    """

    scored: bool = False
    probable: bool = True
    measured: frozenset[str] | None = None
    kept: bool = True
    ordered: bool = False
    raw: bool = False
    unassigned: tuple[str, ...] = ()


def available_from(scores: Sequence[Scores], measured: Measured | None, checked: bool = False) -> Available:
    """See what there is.

    Scores that were given as such take nothing from the probabilities of other classifiers.
    """
    raw = [said for said in scores if said.raw]
    likely = [said for said in scores if not said.raw and (said.columns or not raw)]
    probable = bool(likely) and (checked or all(said.are_probabilities for said in likely))
    ordered = any(len(said.columns) > 1 for said in raw)
    known = None if measured is None else measured.given
    return Available(any(said.columns for said in scores), probable, known, ordered=ordered, raw=bool(raw))


def checked_weight(weight: Numbers, name: str, part: bool, kind: WeightKind = "sampling") -> Array:
    """Return weights that rows can have; those of a part of the rows may all be zero."""
    check_no_missing(weight, name)
    with np.errstate(over="ignore"):
        checked = weight.astype(np.float64)
        squares = float(checked @ checked)
    broken = ~(np.isfinite(checked) & (checked >= 0))
    if broken.any():
        row = int(np.argmax(broken))
        raise BadWeights(f"the weight is {weight[row]}", column=name, row=row, mend="Weights are finite and 0 or above")
    if kind == "frequency" and not (whole := checked == np.floor(checked)).all():
        row = int(np.argmin(whole))
        raise BadWeights(
            f"the weight is {checked[row]:g}, and frequency weights are whole numbers",
            column=name,
            row=row,
            mend="Leave weight_kind='frequency' out if the weights are sampling weights",
        )
    if not part or squares >= LARGEST_SQUARES:  # what is too large in part is too large as a whole
        refuse_weightless(bool(checked.any()), squares, name)
    return checked


def remarks_on(weight: Array | None, kind: WeightKind) -> dict[Remark, int]:
    """Return how many rows have frequency weights, or sampling weights that are whole numbers."""
    if weight is None:
        return {}
    if kind == "frequency":
        return {FREQUENCY: int(np.count_nonzero(weight))}
    return {WHOLE: whole} if (whole := int(np.count_nonzero((weight == np.floor(weight)) & (weight > 0)))) else {}


def words_on_weights(remarks: Remarks, rows: float, sampled: bool) -> list[str]:
    """Return what to ask whose weights look like those of the other kind; ``rows`` is how many rows were counted."""
    given = remarks.get(FREQUENCY, 0)
    if sampled and rows == remarks.get(WHOLE, 0):
        return [
            "all weights are whole numbers and taken as sampling weights: if they count repeated rows, say "
            "weight_kind='frequency' (--weight-kind frequency)"
        ]
    if given and rows > MOST_REPEATED * given:
        return [
            f"frequency weights make {rows:,.0f} rows of {given:,}: if each weight is what one row stands for, leave "
            "weight_kind='frequency' out"
        ]
    return []


def refuse_kind_alone(weight: object, kind: str) -> None:
    """Refuse a kind of weights where no weights are given."""
    if weight is None and kind != "sampling":
        raise BadOption("weight_kind= is given, but no weights", mend="Give weight=, or leave weight_kind= out")


def refuse_weightless(any_counts: bool, squares: float, name: str) -> None:
    """Refuse weights that cannot be worked with, all rows together."""
    if not any_counts:
        raise BadWeights("all weights are zero", column=name, mend="At least one row must count")
    if not 1 / LARGEST_SQUARES < squares < LARGEST_SQUARES:
        raise BadWeights("the weights are too large or too small to reckon with", column=name, mend="Rescale them")

"""Rows of a data set: columns as they were read, and rows that were checked, behind which nothing is checked again.

Where the truth was measured, rows have the values, how far these may be off, and what a response model expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ..core.columns import as_number, flat_numbers, is_single, numbers
from ..core.errors import BadDeviation, BadOption, BadWeights, NotNumbers, UnequalLengths, quoted
from ..core.scale import LARGEST, RESCALE, Scale, checked_deviation
from ..data.digests import Origin
from .categorical import Categorical
from .membership import check_no_missing, missing_rows
from .prediction import Prediction, Scores
from .remarks import Remark, Remarks, unassigned

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Numbers, Places


SD, RESPONSE_SD, RESPONSE = "sd", "sd_response", "response"
SD_OF_RESPONSE = f"the sd of {RESPONSE}"

# What formulas may ask for of measured values needs something beside these.
NEEDS = {
    **dict.fromkeys(("sure", "sure_wrong", "unsure", "label_distance", "noise", "shift", "shift_squared"), (SD,)),
    **dict.fromkeys(("smoothed_wrong", "smoothed_distance", "least_wrong", "least_distance"), (RESPONSE_SD,)),
    **dict.fromkeys(("model_wrong", "model_distance", "model_least_wrong", "model_least_distance"), (RESPONSE,)),
    **dict.fromkeys(("posterior_wrong", "posterior_distance", "unsure_label", "unsure_label_distance"), (SD, RESPONSE)),
    **dict.fromkeys(("foreseen_wrong", "foreseen_distance", "doubt_wrong", "doubt_distance"), (SD, RESPONSE)),
}
ASKED = frozenset({"wrong", "distance", *NEEDS})
DOUBTS = {"doubt_wrong": ("wrong", "foreseen_wrong"), "doubt_distance": ("distance", "foreseen_distance")}
COLUMNS = ("value", "sd", "blur", "expected", "spread")


@dataclass(frozen=True)
class Measured:
    """Measured values of rows, with what is known about them.

    Attributes:
        value: What was measured.
        sd: The standard deviation of the measurement error; None where it is not known, as for those that follow.
        blur: The standard deviation of the response around what the covariates tell.
        expected: What a response model expects of the response.
        spread: The standard deviation of the response around that.
        assigned: The classes that each classifier assigned; filled in when rows are kept.
        errors: The standard errors of sd**2 and blur**2, where these are estimates for all rows; 0 where known.
    """

    value: Array
    sd: Array | None = None
    blur: Array | None = None
    expected: Array | None = None
    spread: Array | None = None
    assigned: tuple[Codes, ...] = ()
    errors: tuple[float, float] = (0.0, 0.0)

    @property
    def given(self) -> frozenset[str]:
        """What is known beside the values, by the names that users give it under."""
        known = ((SD, self.sd), (RESPONSE_SD, self.blur), (RESPONSE, self.expected))
        return frozenset(name for name, column in known if column is not None)

    def columns(self) -> list[AnyArray | None]:
        """All columns, end to end."""
        return [*[getattr(self, name) for name in COLUMNS], *self.assigned]

    def with_columns(self, columns: Sequence[AnyArray | None]) -> Measured:
        """Put other columns in the place of these."""
        some: dict[str, Any] = dict(zip(COLUMNS, columns, strict=False))
        return replace(self, **some, assigned=tuple(map(np.asarray, columns[len(COLUMNS) :])))

    def keep(self, rows: Marks | Places) -> Measured:
        """The rows that are marked, or those of these numbers."""
        return self.with_columns([None if column is None else column[rows] for column in self.columns()])

    def said(self) -> list[tuple[str, Array]]:
        """The columns that are known, by the names that users give them under."""
        names = ("truth", SD, RESPONSE_SD, RESPONSE, SD_OF_RESPONSE)
        found = zip(names, (getattr(self, name) for name in COLUMNS), strict=True)
        return [(name, column) for name, column in found if column is not None]

    def missing(self) -> list[Marks]:
        """Mark the rows in which anything is missing."""
        return [marks for _, column in self.said() if (marks := np.isnan(column)).any()]


@dataclass(frozen=True)
class Knowledge:
    """What a user says about measured values: numbers, columns or estimates, not yet held against the rows."""

    sd: Any = None
    sd_response: Any = None
    response: Any = None

    @property
    def said(self) -> list[str]:
        """What was said, by name."""
        return [name for name in (SD, RESPONSE_SD, RESPONSE) if getattr(self, name) is not None]

    @property
    def of_any_rows(self) -> Knowledge:
        """What holds for other rows as well: not what was said row by row."""
        pair = self.response
        named = isinstance(pair, tuple | list) and all(isinstance(name, str) for name in pair)
        sd, blur = (one if is_single(one) else None for one in (self.sd, self.sd_response))
        return Knowledge(sd, blur, pair if named else None)

    @property
    def named(self) -> dict[str, str]:
        """What messages call it, where it is columns of a table."""
        pair = self.response if isinstance(self.response, tuple | list) else ()
        said = zip((SD, RESPONSE_SD, RESPONSE, SD_OF_RESPONSE), (self.sd, self.sd_response, *pair), strict=False)
        return {what: name for what, name in said if isinstance(name, str)}

    def of(self, value: Array, names: Mapping[str, str]) -> Measured:
        """Hold it against the values of the truth; messages call all of it by these names, where there are any."""
        name = names.get("truth", "truth")
        if (large := np.abs(value) > LARGEST).any():
            row = int(np.argmax(large))
            mend = "Measured values are finite" if np.isinf(value[row]) else RESCALE
            raise NotNumbers(f"{value[row]} was measured", column=name, row=row, mend=mend)
        sd, error = _deviation(self.sd, names.get(SD, SD), value, name)
        blur, other = _deviation(self.sd_response, names.get(RESPONSE_SD, RESPONSE_SD), value, name)
        expected, spread = self._response(value, names)
        return Measured(value, sd, blur, expected, spread, errors=(error, other))

    def _response(self, value: Array, names: Mapping[str, str]) -> tuple[Array | None, Array | None]:
        if self.response is None:
            return None, None
        said = self.response
        # The mean of a data frame is no column of it but a function.
        known = hasattr(said, "mean") and hasattr(said, "sd") and not callable(said.mean)
        pair = (said.mean, said.sd) if known else said
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise BadOption(
                "response is no pair of expected values and standard deviations",
                mend="Give response=fit_response(covariates, measured, sd), or (mean, sd) out of fold",
            )
        name, what = names.get("truth", "truth"), names.get(RESPONSE, RESPONSE)
        expected = _column(pair[0], what, value, name)
        _check_none(np.isinf(expected), expected, what, "Expected values are finite")
        _check_none(np.abs(expected) > LARGEST, expected, what, RESCALE)
        return expected, _deviation(pair[1], names.get(SD_OF_RESPONSE, SD_OF_RESPONSE), value, name)[0]


def _deviation(said: Any, what: str, value: Array, name: str) -> tuple[Array | None, float]:
    """A standard deviation for every row, and the standard error of its square where it was estimated."""
    if said is None:
        return None, 0.0
    if hasattr(said, "sd") and hasattr(said, "error"):
        sd, error = checked_deviation(said.sd, what), as_number(said.error)
        if not 0 <= error < np.inf:
            raise BadDeviation(
                f"the standard error of {what} squared is {quoted(said.error)}",
                mend="Estimate it from more measurements, or give a number",
            )
        return np.broadcast_to(sd, value.shape), error
    if is_single(said):
        return np.broadcast_to(checked_deviation(said, what), value.shape), 0.0
    column = _column(said, what, value, name)
    _check_none((column < 0) | np.isinf(column), column, what, "A standard deviation is a finite number, 0 or above")
    _check_none(column > LARGEST, column, what, RESCALE)
    return column, 0.0


def _column(said: Any, what: str, value: Array, name: str) -> Array:
    column = numbers(flat_numbers(said, what), what).astype(np.float64)
    if len(column) != len(value):
        raise UnequalLengths(
            f"{len(column)} rows, but {quoted(name)} has {len(value)}",
            column=what,
            mend="Give one number for all rows, or one a row",
        )
    return column


def _check_none(wrong: Marks, column: Array, what: str, mend: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadDeviation(f"it is {column[row]}", column=what, row=row, mend=mend)


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

    def missing(self) -> Marks:
        """Mark the rows in which anything is missing."""
        labelled = (self.truth, self.group, self.slice)
        marks = [column.missing() for column in labelled if column is not None and column.has_missing]
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
    scored = raw = ordered = False
    for said in scores:
        scored |= bool(said.columns)
        raw |= said.raw
        ordered |= said.raw and len(said.columns) > 1
    likely = [said for said in scores if not said.raw and (said.columns or not raw)]
    probable = bool(likely) and (checked or all(said.are_probabilities for said in likely))
    return Available(scored, probable, None if measured is None else measured.given, ordered=ordered, raw=raw)


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

"""The measured truth of rows: what was measured, how far it may be off, and what a response model expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import as_number, flat_numbers, is_single, numbers
from ..core.errors import BadDeviation, BadOption, NotNumbers, UnequalLengths, quoted
from ..core.scale import LARGEST, RESCALE, checked_deviation

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Places

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

"""What the covariates say of a response: an expectation for every row that had no part in it, and how sure that is.

Measured responses carry an error of known size. Together with what the covariates say, they tell more of the true
response, and so of its class, than either does alone; for that, predictions must not know the row they speak of, and
their variance must be that of the true response, without the measurement error.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.errors import StraddlingGroups
from ..core.suggestions import refuse_unknown, with_known_options
from ..inputs.covariates import deviations, finite_numbers
from .observations import Observations
from .process_predictions import predict_left_out
from .regressors import LeftOut, left_out, predicted, response_variance

if TYPE_CHECKING:
    from ..core.typing import Array, Places

    Progress = Callable[[int, int], None]

Spread = Literal["model", "residual"]
FOLDS = 20
LEAST_VARIANCE = 1e-12  # of a response, relative to that of all measurements


@dataclass(frozen=True, eq=False)
class Response:
    """What is expected of every row by a model that had not seen it.

    Attributes:
        mean: The expected response.
        sd: The standard deviation of the true response around that, without the error of measuring it.
        note: How it was found, and what there is to know of it.
    """

    mean: Array
    sd: Array
    note: str = ""

    def __post_init__(self) -> None:
        """Check arrays that a user made, and keep them from being changed."""
        mean = np.array(finite_numbers(self.mean, "mean"))
        sd = np.array(deviations(self.sd, len(mean), "sd"))
        for name, column in (("mean", mean), ("sd", sd)):
            column.setflags(write=False)
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.mean)

    def __str__(self) -> str:
        """In one sentence; the rows themselves are in the arrays."""
        from ..core.text import rows_in_words

        mean, sd = (
            f"{name} {column.min():.4g} to {column.max():.4g}"
            for name, column in (("mean", self.mean), ("sd", self.sd))
        )
        return "; ".join([f"response of {rows_in_words(len(self))}", mean, sd, *filter(None, [self.note])])

    __repr__ = __str__


@with_known_options
def fit_response(
    covariates: Any,
    measured: Any,
    sd: Any,
    *,
    model: Any = None,
    folds: Any = None,
    groups: Any = None,
    spread: Spread = "model",
    seed: int = 0,
    progress: Progress | None = None,
) -> Response:
    """Predict the response of every row from the covariates of the others.

    Args:
        covariates: A table, one row an object and one column a covariate.
        measured: The measured response of each.
        sd: The standard deviation of the measurement error: one number, or one a row.
        model: None for a Gaussian process that knows the measurement error. Else an estimator in the style of
            scikit-learn whose ``predict`` takes ``return_std=True``, or a function of (train_x, train_z, test_x) that
            returns the expected response of the test rows and its standard deviation without the measurement error.
        folds: How many parts the rows are dealt into, or an object with ``split``. Left out, the Gaussian process
            leaves out one row (or group) at a time, and others are fitted 20 times.
        groups: Which rows belong together, such as copies of one row: they are left out together.
        spread: ``"residual"`` gives all rows the variance of the residuals of rows left out, less that of measuring:
            for models that do not tell how sure they are.
        seed: What decides which rows share a fold.
        progress: Called with how many folds are done, and of how many.
    """
    rows = Observations.read(covariates, measured, sd, groups, seed)
    refuse_unknown("spread", spread, ("model", "residual"))
    told = spread == "model"
    if rows.groups is not None and hasattr(folds, "split") and not isinstance(folds, str | bytes):
        folds = _together(folds, rows, rows.groups)
    if model is None:
        found, words = predict_left_out(rows, folds, progress)
        some = LeftOut(found.mean, found.variance if told else None, "response")
    else:
        parts = rows.folds(folds, FOLDS)
        some, words = left_out(model, rows, parts, told, progress), f"{_name(model)}; {len(parts)} folds"
    variance, how = response_variance(some, rows.values, rows.known)
    return _response(rows, some.mean, variance, f"{words}; {how}" if how else words)


def response_of(fitted: Any, covariates: Any, measured: Any, sd: Any) -> Response:
    """What an estimator that was fitted to other rows says of the response of these, without the measurement error."""
    values = finite_numbers(measured, "measured")
    known = deviations(sd, len(values), other="measured") ** 2
    found = predicted(fitted, covariates, len(values), values)
    variance, how = response_variance(found, values, known)
    return Response(found.mean, np.sqrt(np.maximum(variance, _least(values))), how)


def _least(values: Array) -> float:
    return LEAST_VARIANCE * (float(values.var()) or 1.0)


@dataclass(frozen=True)
class _Dealt:
    """Folds that a splitter has dealt: asked again, it may deal others."""

    parts: Sequence[Places]

    def split(self, *_: Any) -> Iterator[tuple[None, Places]]:
        """The rows of every fold."""
        return ((None, part) for part in self.parts)


def _together(splitter: Any, rows: Observations, groups: Places) -> _Dealt:
    """What a splitter says, once and for all, if it keeps groups together; many do not look at them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that groups are not looked at is told by the error
        parts = rows.folds(splitter, FOLDS)
    fold = np.empty(len(rows), dtype=np.int64)
    for place, part in enumerate(parts):
        fold[part] = place
    _, first, code = np.unique(groups, return_index=True, return_inverse=True)
    apart = fold != fold[first[code]]
    if apart.any():
        row = int(np.argmax(apart))
        raise StraddlingGroups(
            f"{type(splitter).__name__} leaves this row out without row {first[code[row]]} of its group",
            row=row,
            column="groups",
            mend="Keep groups together: folds=10 does, or GroupKFold",
        )
    return _Dealt(parts)


def _name(model: Any) -> str:
    return type(model).__name__ if hasattr(model, "fit") else getattr(model, "__name__", type(model).__name__)


def _response(rows: Observations, mean: Array, variance: Array, words: str) -> Response:
    """Predictions with variances above 0, and what their residuals say of them."""
    notes = [words]
    least = _least(rows.values)
    if low := int((variance < least).sum()):
        notes.append(f"the measurement error leaves no variance in {low:,} of {len(mean):,} rows")
    kept = np.maximum(variance, least)
    notes.append(_calibration(np.square(rows.values - mean) / (kept + rows.known)))
    if rows.groups is None and (copies := _copies(rows)):
        notes.append(f"{copies:,} rows are copies of others and predict each other: give groups=")
    return Response(mean, np.sqrt(kept), "; ".join(notes))


def _calibration(ratios: Array) -> str:
    """Squared residuals relative to what was expected of them."""
    ratio, error = float(ratios.mean()), float(ratios.std()) / math.sqrt(len(ratios))
    text = f"squared residuals are {ratio:.2f} times what is expected of them"
    if abs(ratio - 1) > max(3 * error, 0.2):
        return f"{text}: predictions are {'surer' if ratio > 1 else 'less sure'} than they should be"
    return text


def _copies(rows: Observations) -> int:
    """How many rows repeat another one, response and all."""
    whole = np.column_stack([rows.points, rows.values])
    return len(whole) - len(np.unique(whole, axis=0))

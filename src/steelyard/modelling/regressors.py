"""Rows left out as any regressor predicts them: estimators in the style of scikit-learn, or plain functions.

Measured responses and their covariates are checked, and dealt into parts that are left out together.

What an estimator returns beside its predictions is a standard deviation either of a new measurement or of the surface
alone. Bayesian linear models and Gaussian processes with a white kernel give the former, Gaussian processes without one
the latter; of others the residuals of rows left out tell.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.arrays import deal, distinct
from ..core.errors import BadOption, NoVariance, StraddlingGroups, TooFewRows, foreign, quoted, refuse_length
from ..core.suggestions import refuse_no_seed
from ..inputs.covariates import design, deviations, finite_numbers, grouping
from ..inputs.misreadings import refuse_misaligned
from .estimators import copy_of, found_by_search, innermost

if TYPE_CHECKING:
    from ..core.typing import Array, Places

    Progress = Callable[[int, int], None]

LEAST_ROWS = 5
FOLDS_MEND = "Give a number of folds from 2 on, or an object with split()"


@dataclass(frozen=True)
class Observations:
    """What is known of every row.

    Attributes:
        points: The covariates, (rows, covariates).
        values: The measured responses.
        known: The variance of the measurement error of each.
        groups: Which rows belong together, as codes; None where every row stands for itself.
        seed: What decides all that is left to chance.
    """

    points: Array
    values: Array
    known: Array
    groups: Places | None = None
    seed: int = 0

    @classmethod
    def read(cls, covariates: Any, measured: Any, sd: Any, groups: Any, seed: Any) -> Observations:
        """Check what a user hands in."""
        refuse_misaligned(measured, {"covariates": covariates, "sd": sd, "groups": groups}, called="measured")
        values, points = finite_numbers(measured, "measured"), design(covariates)
        refuse_length("covariates", len(points), len(values), "measured")
        known = deviations(sd, len(values), other="measured") ** 2
        codes = None if groups is None else grouping(groups, len(values), "groups", "measured")
        refuse_no_seed(seed)
        found = cls(points, values, known, codes, int(seed))
        if found.units < LEAST_ROWS:
            problem = f"{found.units} {found.unit} are too few to learn from"
            raise TooFewRows(problem, column="measured", mend=f"Give {LEAST_ROWS} {found.unit} or more")
        return found

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.values)

    @property
    def unit(self) -> str:
        """What is left out at a time, at least."""
        return "rows" if self.groups is None else "groups"

    @property
    def units(self) -> int:
        """How many there are of these."""
        return len(self) if self.groups is None else len(distinct(self.groups))

    def folds(self, folds: Any, usual: int) -> list[Places]:
        """The rows that are left out together, by number or by a splitter; as usual where nobody asks."""
        if folds is None:
            return deal(len(self), min(usual, self.units), self.groups, self.seed)
        if hasattr(folds, "split") and not isinstance(folds, str | bytes):
            return _split(folds, self)
        if not isinstance(folds, int | np.integer) or isinstance(folds, bool) or folds < 2:
            raise BadOption(f"folds is {quoted(folds)}", mend=FOLDS_MEND)
        if folds > self.units:
            problem = f"{self.units} {self.unit} cannot be dealt into {folds} folds"
            raise TooFewRows(problem, mend=f"Give folds={self.units} or fewer")
        return deal(len(self), int(folds), self.groups, self.seed)


def _split(splitter: Any, rows: Observations) -> list[Places]:
    try:
        with warnings.catch_warnings():
            if rows.groups is not None:
                warnings.simplefilter("ignore")  # that groups are not looked at is told by the error
            split = splitter.split(rows.points, rows.values, rows.groups)
            parts: list[Places] = [np.asarray(test, dtype=np.int64) for _, test in split]
    except Exception as error:  # a foreign object may raise anything
        problem = f"{quoted(splitter)} cannot split the rows ({quoted(str(error), 120)})"
        raise BadOption(problem, mend=FOLDS_MEND) from None
    counts = np.bincount(np.concatenate([np.zeros(0, dtype=np.int64), *parts]), minlength=len(rows))
    if (counts != 1).any():
        row = int(np.argmax(counts != 1))
        problem = f"{quoted(splitter)} leaves row {row} out {counts[row]} times"
        raise BadOption(problem, mend="Every row must be left out once: use KFold or GroupKFold")
    if rows.groups is not None:
        _refuse_straddling(splitter, parts, rows.groups)
    return parts


def _refuse_straddling(splitter: Any, parts: Sequence[Places], groups: Places) -> None:
    """Refuse a splitter that parts groups; many do not look at them."""
    fold = np.empty(len(groups), dtype=np.int64)
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


# --- predictions of rows left out -----------------------------------------------------------------------------------


TELL_NOISE = ("BayesianRidge", "ARDRegression")
TOO_SURE = 1.5  # squared residuals relative to what is told, from which on the surface alone was meant
MEND = (
    "Give a regressor whose predict takes return_std=True, such as BayesianRidge() or GaussianProcessRegressor(), "
    "or a function of (train_x, train_z, test_x) that returns mean and sd; or say spread='residual'"
)


class LeftOut(NamedTuple):
    """Predictions of rows left out.

    Attributes:
        mean: What is expected.
        variance: Its variance as told; None where nothing is.
        meaning: Of what: a measurement, the response without its error, the surface alone; empty where unknown.
    """

    mean: Array
    variance: Array | None
    meaning: str


def is_estimator(model: Any) -> bool:
    """Tell what can be fitted and asked to predict."""
    return hasattr(model, "fit") and hasattr(model, "predict") and not inspect.isclass(model)


def tells_spread(model: Any) -> bool:
    """Whether a regressor, or the pipeline that ends in one, gives a standard deviation beside what it predicts."""
    inner = innermost(model)
    if hasattr(inner, "refit") and hasattr(inner, "estimator"):  # a search that has found nothing yet
        inner = innermost(inner.estimator)
    return "return_std" in inspect.signature(inner.predict).parameters


def left_out(model: Any, rows: Observations, parts: Sequence[Places], told: bool, progress: Progress | None) -> LeftOut:
    """Every row as predicted by a model that was fitted without its part.

    Args:
        model: An estimator, or a function of (train_x, train_z, test_x) that returns means and deviations.
        rows: Covariates and measured responses.
        parts: Rows that are left out together.
        told: Whether the model shall tell how sure it is.
        progress: Called after each part with how many are done, and of how many.
    """
    predict = _by_estimator(model, told) if is_estimator(model) else _by_function(model, told)
    (mean, variance), meaning = np.empty((2, len(rows))), ""
    for number, part in enumerate(parts, start=1):
        kept = np.ones(len(rows), dtype=bool)
        kept[part] = False
        found = predict(rows.points[kept], rows.values[kept], rows.points[part])
        mean[part], meaning = found.mean, found.meaning
        variance[part] = np.nan if found.variance is None else found.variance
        if progress is not None:
            progress(number, len(parts))
    return LeftOut(mean, variance if told else None, meaning)


def refuse_silent(model: Any, name: str, mend: str) -> None:
    """Refuse a regressor that does not tell how sure it is."""
    if not tells_spread(model):
        problem = f"{type(innermost(model)).__name__} does not tell how sure its predictions are"
        raise NoVariance(problem, column=name, mend=mend)


Predict = Callable[["Array", "Array", "Array"], LeftOut]


def _by_function(model: Any, told: bool) -> Predict:
    if not callable(model) or inspect.isclass(model):
        raise BadOption(f"{quoted(model)} is no regressor", column="model", mend=MEND)

    def predict(train: Array, values: Array, test: Array) -> LeftOut:
        with foreign(model, MEND):
            found = model(train, values, test)
        mean, *sd = found if isinstance(found, tuple) else (found,)
        if told and len(sd) != 1:
            raise NoVariance(f"{quoted(model)} does not return mean and sd", column="model", mend=MEND)
        variance = deviations(sd[0], len(test), "sd", "test_x") ** 2 if told else None
        return LeftOut(_checked(mean, len(test)), variance, "response")

    return predict


def _by_estimator(model: Any, told: bool) -> Predict:
    if told:
        refuse_silent(model, "model", MEND)

    def predict(train: Array, values: Array, test: Array) -> LeftOut:
        with foreign(model, MEND):
            fitted = copy_of(model).fit(train, values)
            if not told:
                return LeftOut(_checked(fitted.predict(test), len(test)), None, "")
            return predicted(fitted, test, len(test), values)

    return predict


def predicted(fitted: Any, test: Any, rows: int, values: Array) -> LeftOut:
    """What a fitted estimator expects of so many rows, and how sure it is; values are such as it has learned from."""
    mean, sd = found_by_search(fitted).predict(test, return_std=True)
    added, meaning = _noise_told(innermost(fitted), values)
    variance = deviations(np.ravel(sd), rows, "sd", "test_x") ** 2
    return LeftOut(_checked(mean, rows), variance + added, meaning)


def _checked(mean: Any, rows: int) -> Array:
    flat = isinstance(mean, np.ndarray) and mean.ndim == 2 and mean.shape[1] == 1
    column = finite_numbers(np.ravel(mean) if flat else mean, "prediction")
    refuse_length("prediction", len(column), rows, "test_x")
    return column


def _noise_told(fitted: Any, values: Array) -> tuple[float, str]:
    """What an estimator knows of noise but leaves out of its variances; and what these are variances of with it."""
    if any(kind.__name__ in TELL_NOISE for kind in type(fitted).__mro__):
        return 0.0, "measurement"
    kernel = getattr(fitted, "kernel_", None)
    if kernel is None:
        return 0.0, ""
    white = any(type(part).__name__ == "WhiteKernel" for part in (kernel, *kernel.get_params().values()))
    # What a Gaussian process adds to its diagonal is noise to it, which its predictions leave out.
    scale = float(np.var(values)) if getattr(fitted, "normalize_y", False) else 1.0
    added = float(np.mean(getattr(fitted, "alpha", 0.0))) * scale
    return added, "measurement" if white or added > 1e-6 * float(np.var(values)) else "surface"


def response_variance(found: LeftOut, values: Array, known: Array) -> tuple[Array, str]:
    """The variance of the response without its measurement error, and in words how it was found."""
    squares = np.square(values - found.mean)
    if found.variance is None:
        return np.full(len(values), float(np.mean(squares - known))), "one variance, of the residuals of rows left out"
    if found.meaning == "response":
        return found.variance, ""
    sure = float(np.mean(squares / np.maximum(found.variance, np.finfo(float).tiny)))
    if found.meaning == "measurement" or (not found.meaning and sure <= TOO_SURE):
        return found.variance - known, "told variances are taken to be of measurements"
    rest = max(float(np.mean(squares - found.variance - known)), 0.0)
    return (
        found.variance + rest,
        "told variances are taken to be of the surface; residuals of rows left out tell the rest",
    )

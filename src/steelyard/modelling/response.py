"""What the covariates say of a response: an expectation for every row that had no part in it, and how sure that is.

Measured responses carry an error of known size. Together with what the covariates say, they tell more of the true
response, and so of its class, than either does alone; for that, predictions must not know the row they speak of, and
their variance must be that of the true response, without the measurement error. A Gaussian process is the usual model:
it chooses among forms of the covariates, learns from some of the rows, and predicts all of them.

What an estimator returns beside its predictions is a standard deviation either of a new measurement or of the surface
alone. Bayesian linear models and Gaussian processes with a white kernel give the former, Gaussian processes without one
the latter; of others the residuals of rows left out tell.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..core.arrays import deal, distinct, groups_apart
from ..core.errors import BadOption, NoVariance, StraddlingGroups, TooFewRows, foreign, quoted, refuse_length
from ..core.suggestions import refuse_no_seed, refuse_unknown, with_known_options
from ..core.threads import one_thread
from ..inputs.covariates import design, deviations, finite_numbers, grouping
from ..inputs.misreadings import refuse_misaligned
from ..maths.smoothing import Predicted, Process, fit_process, standardised
from .estimators import copy_of, found_by_search, innermost, is_estimator, refuse_silent
from .fits import counted

if TYPE_CHECKING:
    from ..core.typing import Array, Places, Progress

    Form = tuple[Array, bool, str]  # standardised covariates, whether one length is for all, and that in words

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
    whole = np.column_stack([rows.points, rows.values])
    if rows.groups is None and (copies := len(whole) - len(np.unique(whole, axis=0))):
        notes.append(f"{copies:,} rows are copies of others and predict each other: give groups=")
    return Response(mean, np.sqrt(kept), "; ".join(notes))


def _calibration(ratios: Array) -> str:
    """Squared residuals relative to what was expected of them."""
    ratio, error = float(ratios.mean()), float(ratios.std()) / math.sqrt(len(ratios))
    text = f"squared residuals are {ratio:.2f} times what is expected of them"
    if abs(ratio - 1) > max(3 * error, 0.2):
        return f"{text}: predictions are {'surer' if ratio > 1 else 'less sure'} than they should be"
    return text


# --- rows and their parts ---------------------------------------------------------------------------------------------


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


def left_out(model: Any, rows: Observations, parts: Sequence[Places], told: bool, progress: Progress | None) -> LeftOut:
    """Every row as predicted by a model that was fitted without its part.

    Args:
        model: An estimator, or a function of (train_x, train_z, test_x) that returns means and deviations.
        rows: Covariates and measured responses.
        parts: Rows that are left out together.
        told: Whether the model shall tell how sure it is.
        progress: Called after each part with how many are done, and of how many.
    """
    if not is_estimator(model) and (not callable(model) or inspect.isclass(model)):
        raise BadOption(f"{quoted(model)} is no regressor", column="model", mend=MEND)
    if is_estimator(model) and told:
        refuse_silent(model, "model", MEND)
    predict = _by_estimator if is_estimator(model) else _by_function
    (mean, variance), meaning = np.empty((2, len(rows))), ""
    for part in counted(parts, progress):
        kept = np.ones(len(rows), dtype=bool)
        kept[part] = False
        found = predict(model, told, rows.points[kept], rows.values[kept], rows.points[part])
        mean[part], meaning = found.mean, found.meaning
        variance[part] = np.nan if found.variance is None else found.variance
    return LeftOut(mean, variance if told else None, meaning)


def _by_function(model: Any, told: bool, train: Array, values: Array, test: Array) -> LeftOut:
    with foreign(model, MEND):
        found = model(train, values, test)
    mean, *sd = found if isinstance(found, tuple) else (found,)
    if told and len(sd) != 1:
        raise NoVariance(f"{quoted(model)} does not return mean and sd", column="model", mend=MEND)
    variance = deviations(sd[0], len(test), "sd", "test_x") ** 2 if told else None
    return LeftOut(_checked(mean, len(test)), variance, "response")


def _by_estimator(model: Any, told: bool, train: Array, values: Array, test: Array) -> LeftOut:
    with foreign(model, MEND):
        fitted = copy_of(model).fit(train, values)
        if not told:
            return LeftOut(_checked(fitted.predict(test), len(test)), None, "")
        return predicted(fitted, test, len(test), values)


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


# --- by a Gaussian process ------------------------------------------------------------------------------------------


MOST_ROWS = 2_000  # whose covariances are inverted at once
PROCESS_FOLDS = 10  # where there are more
MANY_ROWS = 500  # from which on linear algebra gains by more than one thread
BATCH = 4_096  # rows predicted at a time
LEARN_ROWS = 1_000  # from which the parameters are learned
LEAST_GROUPS = 50  # from which on one row a group is enough to learn from
MOST_LENGTHS = 20  # covariates with a length of their own; more are summed up in principal components
ROWS_A_LENGTH = 5  # and fewer where there are fewer rows than this for each


def predict_left_out(rows: Observations, folds: Any, progress: Progress | None) -> tuple[Predicted, str]:
    """What is expected of every row by the others, its variance without that of measuring, and how it was found."""
    centre, spread = float(rows.values.mean()), float(rows.values.std()) or 1.0
    target, known = (rows.values - centre) / spread, rows.known / spread**2
    learned = _to_learn_from(rows)
    parts, words = _parts(rows, folds)
    with one_thread(len(rows) < MANY_ROWS):
        form, process = _learn(standardised(rows.points), target, known, learned)
        if parts is None:
            found = process.without_each()
        elif len(rows) <= MOST_ROWS:
            found = process.without_groups(parts)
        else:
            found = _in_turns(process, parts, rows.seed, progress)
    words = f"Gaussian process{form}; {words}"
    if len(learned) < len(rows):
        words += f"; its parameters are learned from {len(learned):,} rows"
    return Predicted(centre + spread * found.mean, spread**2 * found.variance), words


def _learn(points: Array, target: Array, known: Array, rows: Places) -> tuple[str, Process]:
    """The process that predicts best, with parameters learned from some rows; and which covariates it looks at."""
    forms = _forms(points, len(rows))
    fitted = [fit_process(form[rows], target[rows], known[rows], shared) for form, shared, _ in forms]
    place = max(range(len(forms)), key=lambda place: fitted[place].score) if len(forms) > 1 else 0
    form, _, words = forms[place]
    return words, Process(form, target, known, fitted[place].parameters)


def _parts(rows: Observations, folds: Any) -> tuple[list[Places] | None, str]:
    """The rows that are left out together; None where every row is left out by itself."""
    if folds is None and len(rows) <= MOST_ROWS:
        if rows.groups is None:
            return None, "each row left out"
        return groups_apart(rows.groups), "each group left out"
    parts = rows.folds(folds, PROCESS_FOLDS)
    words = f"{len(parts)} folds"
    return parts, words if len(rows) <= MOST_ROWS else f"{words}, each predicted from {MOST_ROWS:,} other rows"


def _to_learn_from(rows: Observations) -> Places:
    """Rows in random order: not too many, and one a group, since copies would tell of less noise than there is."""
    order = np.random.default_rng(rows.seed).permutation(len(rows))
    if rows.groups is not None and rows.units >= LEAST_GROUPS:
        order = order[np.sort(np.unique(rows.groups[order], return_index=True)[1])]
    return np.asarray(order[:LEARN_ROWS])


def _forms(points: Array, rows: int) -> list[Form]:
    """The covariates as they are; if there are many, also their principal components, and one length for all."""
    count = points.shape[1]
    most = max(1, min(MOST_LENGTHS, rows // ROWS_A_LENGTH))
    if count <= most:
        return [(points, False, "")]
    together = (points, True, " with one length for all covariates")
    left, sizes, _ = np.linalg.svd(points, full_matrices=False)
    components = left[:, :most][:, sizes[:most] > 1e-9 * sizes[0]] * np.sqrt(len(points))
    words = f" of {components.shape[1]} principal components of {count} covariates"
    return [(components, False, words), together]


def _in_turns(process: Process, parts: list[Places], seed: int, progress: Progress | None) -> Predicted:
    """Fold by fold, each from some of the other rows, so that memory stays bounded."""
    random, mean, variance = np.random.default_rng(seed), *np.empty((2, len(process.target)))
    for part in counted(parts, progress):
        chosen = random.permutation(np.setdiff1d(np.arange(len(mean)), part))[:MOST_ROWS]
        some = Process(process.points[chosen], process.target[chosen], process.known[chosen], process.parameters)
        for low in range(0, len(part), BATCH):
            rows = part[low : low + BATCH]
            mean[rows], variance[rows] = some.at(process.points[rows])
    return Predicted(mean, variance)

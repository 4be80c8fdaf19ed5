"""What the covariates say of a response: an expectation for every row that had no part in it, and how sure that is.

Measured responses carry an error of known size. Together with what the covariates say, they tell more of the true
response, and so of its class, than either does alone; for that, predictions must not know the row they speak of, and
their variance must be that of the true response, without the measurement error. A Gaussian process is the usual model:
it chooses among forms of the covariates, learns from some of the rows, and predicts all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.arrays import groups_apart
from ..core.suggestions import refuse_unknown, with_known_options
from ..core.threads import one_thread
from ..inputs.covariates import deviations, finite_numbers
from ..maths.smoothing import Predicted, Process, fit_process, standardised
from .regressors import LeftOut, Observations, left_out, predicted, response_variance

if TYPE_CHECKING:
    from ..core.typing import Array, Places

    Progress = Callable[[int, int], None]
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
    for number, part in enumerate(parts, start=1):
        chosen = random.permutation(np.setdiff1d(np.arange(len(mean)), part))[:MOST_ROWS]
        some = Process(process.points[chosen], process.target[chosen], process.known[chosen], process.parameters)
        for low in range(0, len(part), BATCH):
            rows = part[low : low + BATCH]
            mean[rows], variance[rows] = some.at(process.points[rows])
        if progress is not None:
            progress(number, len(parts))
    return Predicted(mean, variance)

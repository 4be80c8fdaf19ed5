"""Fits of classifiers to some rows, and what they predict for others.

What no classifier can learn from is refused before any of them is fitted, with the row and the column.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..core.errors import (
    BadOption,
    LostWorker,
    MissingValues,
    NotNumbers,
    OneClass,
    OutsideUnitInterval,
    SumNotOne,
    harmless,
    quoted,
    refuse_length,
)
from ..core.scale import Scale
from ..core.suggestions import is_whole
from ..core.text import shortened
from ..inputs.dataset import RESPONSE, RESPONSE_SD, SD
from ..inputs.labels import encode
from ..inputs.membership import assign_highest
from .estimators import classes_of, copy_of, decisions_of, labels_of, memberships_of

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Places, Progress
    from ..inputs.dataset import Measured
    from .splits import Split

Result = TypeVar("Result")

ROUNDING = 1e-12
AT_ONCE = 4  # fits handed to every worker before the next sign of life
LONGEST = 300  # signs of what went wrong
MOST_JOBS = 10_000  # more processes than any machine is asked for


@dataclass(frozen=True)
class Data:
    """What classifiers are fitted to.

    Attributes:
        x: The variables; rows can be picked from it.
        y: The labels, one a row.
        known: What was measured, and what is known about that; None where the truth was not measured.
        scale: The classes.
        scored: Whether anybody wants to know more than the classes that are assigned.
        groups: Which rows belong together, as codes; None where every row stands for itself.
        certain: Whether classifiers without probabilities are scored as forecasts of probability 1 for the class that
            they predict.
        ranked: Whether scores that are no probabilities are read, to rank rows by them.
    """

    x: Any
    y: AnyArray
    known: Measured | None
    scale: Scale
    scored: bool = True
    groups: Codes | None = None
    certain: bool = False
    ranked: bool = True

    @property
    def measured(self) -> Array | None:
        """The values that classes are cut from, where the truth was measured."""
        return None if self.known is None else self.known.value

    def target(self, takes_measured: bool) -> AnyArray:
        """What an estimator learns: labels, or measured values where it cuts them itself."""
        return self.measured if takes_measured and self.measured is not None else self.y

    def beside(self, estimator: Any, takes_measured: bool, rows: Places) -> dict[str, Any]:
        """What else is known of rows, as far as the fit of an estimator names it: one that tunes itself does."""
        found: dict[str, Any] = {"groups": None if self.groups is None else self.groups[rows]}
        if takes_measured and self.known is not None:
            some = self.known.keep(rows)
            pair = None if some.expected is None else (some.expected, some.spread)
            found |= {SD: some.sd, RESPONSE_SD: some.blur, RESPONSE: pair}
        return {name: column for name, column in found.items() if column is not None and _asks(estimator, name)}


def _asks(estimator: Any, name: str) -> bool:
    """Whether the fit of an estimator takes something by this name."""
    try:
        return name in inspect.signature(estimator.fit).parameters
    except (TypeError, ValueError):  # compiled functions need not tell
        return False


@dataclass(frozen=True)
class Said:
    """What a fitted classifier says of rows.

    Attributes:
        codes: The classes that it assigns, as places on the scale.
        memberships: Probabilities in the order of the scale, (rows, classes); None where it has none.
        scores: Where it has none, a score for one class of two, or one a class of several, (rows, classes).
        speaks: The class that a single score speaks for.
        certain: Whether the assigned classes are read as forecasts of probability 1, where there is nothing else.
    """

    codes: Codes
    memberships: Array | None = None
    scores: Array | None = None
    speaks: int = -1
    certain: bool = False

    @property
    def contradictions(self) -> int:
        """In how many rows another class than the one assigned has a higher probability."""
        if self.memberships is None:
            return 0
        own = np.take_along_axis(self.memberships, self.codes[:, None].astype(np.int64), axis=1)[:, 0]
        return int((own < self.memberships.max(axis=1) - ROUNDING).sum())

    def some(self, rows: Places | slice) -> Said:
        """What it says of some of them."""
        memberships = None if self.memberships is None else self.memberships[rows]
        scores = None if self.scores is None else self.scores[rows]
        return replace(self, codes=self.codes[rows], memberships=memberships, scores=scores)


class Fit(NamedTuple):
    """What came of one fit."""

    test: Said | None = None
    train: Said | None = None
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    failure: str = ""
    warned: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """All that came of one classifier.

    Attributes:
        model: Its name.
        fits: One a split; none where there was a shorter way.
        whole: What the fit to all rows says of them, where that was asked for.
        said: What was said of the rows held out, split by split.
        how: In how many fits, or in closed form.
        seconds: How long all of it took.
        detail: By which shorter way, where there was one.
    """

    model: str
    fits: tuple[Fit, ...]
    whole: Said | None
    said: Said
    how: str
    seconds: float
    detail: str = ""


class Task(NamedTuple):
    """One classifier to be fitted to the rows of one split."""

    model: str
    estimator: Any
    takes_measured: bool
    split: Split
    with_training: bool


def pick(x: Any, rows: Places) -> Any:
    """Some rows of a table, whatever its kind."""
    if hasattr(x, "iloc"):
        return x.iloc[rows]
    return x.take(rows) if hasattr(x, "__arrow_c_stream__") and hasattr(x, "take") else x[rows]


def fit(task: Task, data: Data) -> Fit:
    """Fit a copy of a classifier and hear what it says; what goes wrong is told, not raised."""
    target = data.target(task.takes_measured)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            start, rows = perf_counter(), task.split.train
            beside = data.beside(task.estimator, task.takes_measured, rows)
            estimator = copy_of(task.estimator)
            fitted = estimator.fit(pick(data.x, rows), target[rows], **beside)
            fitted = estimator if fitted is None else fitted  # not all give themselves back
            done = perf_counter()
            test = said_by(fitted, pick(data.x, task.split.test), data)
            told = perf_counter()
            seen = pick(data.x, rows) if task.with_training else None
            train = None if seen is None else said_by(fitted, seen, data)
        except Exception as error:  # an estimator may raise anything, and the others go on
            return Fit(failure=f"{type(error).__name__}: {_first_line(error)}")
    words = dict.fromkeys(f"{one.category.__name__}: {_first_line(one.message)}" for one in caught)
    return Fit(test, train, done - start, told - done, warned=tuple(words))


def _first_line(error: object) -> str:
    text = str(error).strip()
    return harmless(shortened(text.splitlines()[0], LONGEST).rstrip(": ")) if text else "no message"


def said_by(estimator: Any, x: Any, data: Data) -> Said:
    """What a fitted classifier says, on the scale."""
    scale = data.scale
    codes = encode(labels_of(estimator, x, scale), "prediction").on(scale)
    refuse_length("prediction", len(codes), int(x.shape[0]), "X")
    if not data.scored:
        return Said(codes)
    if hasattr(estimator, "predict_proba"):
        columns = memberships_of(estimator, x, scale)
        table = np.stack([np.asarray(columns[label], dtype=np.float64) for label in scale.classes], axis=1)
        refuse_length("predict_proba", len(table), len(codes), "X")
        _refuse_no_numbers("predict_proba", table)
        _refuse_improbable(table)
        return Said(codes, table)
    decisions = decisions_of(estimator, x, scale) if data.ranked else None
    if decisions is None:
        return Said(codes, certain=data.certain)
    scores = np.stack([decisions[label] for label in scale.classes], axis=1)
    refuse_length("decision_function", len(scores), len(codes), "X")
    _refuse_no_numbers("decision_function", scores)
    # Of two classes, one score serves both, and speaks for the one that the estimator means.
    speaks = scale.code(classes_of(estimator)[-1]) if len(scale) == 2 else -1
    return Said(codes, None, scores if speaks < 0 else scores[:, speaks], speaks)


def _refuse_no_numbers(name: str, table: Array) -> None:
    """Say so where a classifier is lost for an answer: rows that are not ranked cannot be held against others."""
    lost = int(np.isnan(table).any(axis=1).sum())
    if lost:
        problem = f"{name} gives no number in {lost:,} of {len(table):,} rows"
        raise MissingValues(problem, mend="Variables that hardly vary may be why")


def _refuse_improbable(table: Array) -> None:
    """Say so where what a classifier gives for probabilities is none: the others have theirs."""
    try:
        assign_highest(list(table.T), [""] * table.shape[1], "")
    except (OutsideUnitInterval, SumNotOne) as error:
        mend = "Mend it, or ask for nothing but counts: measures=['error']"
        raise type(error)(f"predict_proba gives no probabilities: {error.problem}", mend=mend) from None


def refuse_no_jobs(n_jobs: object) -> None:
    """Raise the error for what is no number of things done at once; below 0, all cores but some are meant."""
    if n_jobs is not None and not (is_whole(n_jobs) and 0 < abs(n_jobs) <= MOST_JOBS):
        raise BadOption(
            f"n_jobs is {quoted(n_jobs)}",
            mend=f"Give how many fits are made at once, up to {MOST_JOBS:,}, or -1 for all cores",
        )


@contextmanager
def workers_kept() -> Iterator[None]:
    """Tell in one sentence of processes that ended before their work was done."""
    from concurrent.futures.process import BrokenProcessPool

    _start_tracker()
    try:
        yield
    except BrokenProcessPool as error:
        raise LostWorker(
            f"a process that made fits has ended: {quoted(str(error), 120)}",
            mend="It may have had too little memory: make fewer fits at once, n_jobs=1",
        ) from None


def _start_tracker() -> None:
    """Start the process that cleans up after workers, and block again what it unblocks in this thread.

    Workers inherit the mask: with SIGINT unblocked, each would print a traceback on Ctrl-C.
    """
    import signal
    import sys

    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ()) if hasattr(signal, "pthread_sigmask") else set()
    if sys.platform != "win32" and signal.SIGINT in blocked:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def counted(items: Sequence[Result], progress: Progress | None) -> Iterator[Result]:
    """Yield one item after the other, and tell of each when it is done with."""
    for number, item in enumerate(items, start=1):
        yield item
        if progress is not None:
            progress(number, len(items))


def in_parallel(
    work: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    total: int,
    n_jobs: int | None,
    progress: Progress | None,
    alone: int = 1,
) -> list[Result]:
    """Make all calls, in parallel where that is asked for, and return their results in order.

    Args:
        work: What is called.
        calls: Its arguments.
        total: How many calls there are.
        n_jobs: How many are made at once, as joblib understands it.
        progress: Called with how many are done, and of how many.
        alone: How many are made between two such calls where there is one worker.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    refuse_no_jobs(n_jobs)
    found: list[Result] = []
    # Some at a time, since not every back-end of joblib tells of a task when it is done.
    step, rest = alone if (workers := effective_n_jobs(n_jobs)) == 1 else AT_ONCE * workers, iter(calls)
    with workers_kept(), Parallel(n_jobs=n_jobs) as parallel:
        while len(found) < total:
            found += parallel(delayed(work)(*call) for call in islice(rest, step))
            if progress is not None:
                progress(len(found), total)
    return found


def fit_all(tasks: Sequence[Task], data: Data, n_jobs: int | None, progress: Progress | None) -> list[Fit]:
    """Make all fits in the order of the tasks."""
    return in_parallel(fit, ((task, data) for task in tasks), len(tasks), n_jobs, progress)


def stacked(parts: Sequence[Said]) -> Said:
    """What was said of several sets of rows, one after the other."""
    codes = np.concatenate([part.codes for part in parts])
    tables = [part.memberships for part in parts if part.memberships is not None]
    scores = [part.scores for part in parts if part.scores is not None]
    return Said(
        codes,
        np.concatenate(tables) if len(tables) == len(parts) else None,
        np.concatenate(scores) if len(scores) == len(parts) else None,
        parts[0].speaks,
        all(part.certain for part in parts),
    )


# --- what no classifier can learn from ------------------------------------------------------------------------------


FILL = "Leave the row out, or fill it in: make_pipeline(SimpleImputer(), classifier)"
FEW_VALUES = 100  # of a column, by which its kind is told


def refuse_one_class(rules: Mapping[str, tuple[Any, bool]], data: Data) -> None:
    """Say so where classifiers have nothing to tell apart; who learns measured values has."""
    learners = [name for name, (_, takes_measured) in rules.items() if not takes_measured]
    if learners and (data.y == data.y[0]).all():
        problem = f"all rows are of the class {quoted(data.y[0].item())}, and {quoted(learners[0])} tells classes apart"
        raise OneClass(problem, column="y", mend="Give rows of two classes at least")


def refuse_gaps(models: Mapping[str, Any], x: Any, names: Sequence[str] | None = None, mend: str = FILL) -> None:
    """Say where a number is missing that some classifier cannot do without."""
    found = _first_gap(x, names)
    for name, estimator in models.items() if found else ():
        if found and _is_picky(estimator, "allow_nan"):
            problem = f"a number is missing or infinite, and {quoted(name)} needs all of them"
            raise MissingValues(problem, column=found[1], row=found[0], mend=mend)


def refuse_words(models: Mapping[str, Any], x: Any) -> None:
    """Say which columns hold words that some classifier cannot learn from."""
    found = _of_words(x)
    for name, estimator in models.items() if found else ():
        # Others than scikit-learn's may learn from words without saying so.
        if type(estimator).__module__.startswith("sklearn.") and _is_picky(estimator, "string"):
            coded = f"make_column_transformer((OneHotEncoder(), {found}), remainder='passthrough')"
            mend = f"Leave such columns out, or code them: make_pipeline({coded}, classifier)"
            raise NotNumbers(f"it holds words, and {quoted(name)} learns from numbers", column=found[0], mend=mend)


def _is_picky(estimator: Any, what: str) -> bool:
    """Whether a classifier says that it cannot do with some kind of input.

    What is made of several parts may see to it in one of them, but not by bringing columns to one scale; if not, its
    fits will say so.
    """
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import get_tags

    if hasattr(estimator, "steps") and all(type(step) is StandardScaler for _, step in estimator.steps[:-1]):
        estimator = estimator.steps[-1][1]
    if hasattr(estimator, "steps") or hasattr(estimator, "estimator") or not hasattr(estimator, "__sklearn_tags__"):
        return False
    tags = get_tags(estimator)
    return not (tags.no_validation or getattr(tags.input_tags, what))


def _of_words(x: Any) -> list[str]:
    """The columns of a data frame that hold words; categories are told apart by some classifiers."""
    found = []
    for name in _names_of(x):
        column = np.asarray(x[name])
        words = column.dtype.kind in "OUT" and any(isinstance(value, str) for value in column[:FEW_VALUES])
        if words and "categor" not in str(getattr(x[name], "dtype", "")).lower():
            found.append(str(name))
    return found


def _names_of(x: Any) -> Iterable[Any]:
    """The columns of a data frame by their names; those of an Arrow table are asked for otherwise."""
    arrow = hasattr(x, "column_names") and not hasattr(x, "iloc")
    return x.column_names if arrow else getattr(x, "columns", ())


def _first_gap(x: Any, names: Sequence[str] | None) -> tuple[int, str] | None:
    """The first row and column of a table in which a number is missing or infinite; columns of text are passed over."""
    if hasattr(x, "iloc") or hasattr(x, "columns"):
        for name in _names_of(x):
            column = np.asarray(x[name])
            broken = ~np.isfinite(column) if column.dtype.kind == "f" else np.zeros(1, dtype=bool)
            if broken.any():
                return int(np.argmax(broken)), str(name)
        return None
    table = np.asarray(x) if isinstance(x, np.ndarray) else np.zeros((1, 1))
    if table.dtype.kind != "f" or np.isfinite(table).all():
        return None
    row, column = np.argwhere(~np.isfinite(table))[0]
    return int(row), f"X[{column}]" if names is None else names[column]

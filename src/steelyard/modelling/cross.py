"""Cross-validation: every row judged by classifiers that have not seen it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import numbers, take
from ..core.errors import BadOption, FailedFits, SteelyardError, UnknownMeasure, WrongShape, quoted, refuse_length
from ..core.scale import Continuum, Scale, plain_label
from ..core.suggestions import with_known_options
from ..data.terminal import watched
from ..inference.settings import Method, as_seed, settle
from ..inputs.categorical import Categorical
from ..inputs.dataset import Dataset, Knowledge
from ..inputs.labels import encode
from ..inputs.misreadings import BY_POSITION, refuse_misaligned
from ..inputs.prediction import Prediction
from ..inputs.validate import Missing, Validator
from ..measures.registry import Measure
from ..passes.tally import Tally
from .closed_form import closed_form
from .cross_assessment import CrossAssessment, assembled, compared
from .estimators import LOWEST
from .fits import Data, Fit, Run, Said, Task, fit_all, pick, refuse_gaps, refuse_one_class, refuse_words, stacked
from .leave_out import HeldOut
from .models import read_models, rule_of
from .splits import Split, SplitPlan, make_plan, rare_classes

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Places, Progress
    from ..inference.settings import Settings
    from ..results.comparison import Comparison
FEW_FITS = 20  # up to here all fits are made: each then tells its training error and how long it took


@with_known_options
def cross_assess(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    scale: Scale | None = None,
    event: Any = None,
    groups: Any = None,
    repeats: int = 1,
    cost: Any = None,
    sd: Any = None,
    sd_response: Any = None,
    response: Any = None,
    measures: Iterable[str | Measure] | None = None,
    level: float = 0.95,
    method: Method = "delta",
    missing: Missing = "error",
    undefined: Any = float("nan"),
    replicates: int = 10_000,
    seed: int | None = None,
    training: bool = True,
    closed: bool = True,
    n_jobs: int | None = None,
    progress: Progress | bool = True,
) -> CrossAssessment:
    """Weigh classifiers that are yet to be fitted, each row by fits that have not seen it; all see the same folds.

    Args:
        estimators: {name: estimator}, a list of them, or one; estimators of scikit-learn or names such as "knn:5".
        X: The variables, one row an object: an array, a data frame, a sparse matrix.
        y: The true labels; with scale=Continuum(...), what was measured.
        cv: How many folds: those of scikit-learn, stratified by class, groups kept together. Or "loo" to leave one row
            (or group) out at a time; a share of the rows to hold out (0.25); ``Bootstrap(200)``, from which
            .632 and .632+ follow; a splitter of scikit-learn; or pairs of row numbers, to fit to and to hold out,
            of the rows as they are handed in.
        scale: The classes and their order; all labels seen, sorted, if not given. With a Continuum, classifiers learn
            the classes that are cut from y, and regressors learn y, from which the class follows.
        event: The class of interest.
        groups: Rows that belong together (patients, batches): they are held out together, and are the clusters of
            intervals.
        repeats: How often folds are made anew, each time with rows shuffled.
        cost: Costs by class name, {true: {assigned: cost}}.
        sd: With scale=Continuum(...): the standard deviation of the measurement error.
        sd_response: That of the response around what the covariates tell.
        response: What a response model expects of each row, and the standard deviation around that.
        measures: What to compute; everything that needs no further input, if not given. Where scores of forecasts are
            named, a classifier that gives no probabilities is scored as one that gives its predicted class the
            probability 1, and a note says so.
        level: Coverage of the intervals.
        method: "delta"; "plain" for textbook intervals; or "bootstrap" (BCa), "bca", "percentile".
        missing: "error", or "drop" to leave rows out that have no y or no group; gaps in X are for classifiers to fill.
        undefined: What stands in for undefined values: NaN, a number, or "error".
        replicates: How many bootstrap samples, where intervals are bootstrapped.
        seed: Where random numbers start; without one, folds are in the order of rows, as those of scikit-learn.
        training: Whether what fits say of the rows that they have seen is assessed, too.
        closed: Whether the shorter way is taken where there is one: leave-one-out, and many folds, at about the price
            of one fit. It gives the same predictions.
        n_jobs: How many fits are made at once, as joblib understands it; its back-ends, Dask and Ray among them, do
            the work where they are chosen.
        progress: Whether to show a bar on a terminal; or a function that is told how many fits are done, and of how
            many.

    Returns:
        A CrossAssessment: a Comparison that also knows the folds, training errors and times.
    """
    start = as_seed(seed, None)
    settings = settle(
        measures, cost, level=level, method=method, undefined=undefined, replicates=replicates, seed=start or 0
    )
    models = read_models(estimators)
    names, knowledge = {"truth": "y", "group": "groups"}, Knowledge(sd, sd_response, response)
    door = Validator(scale, event, missing=missing, group=groups, names=names, knowledge=knowledge)
    base, data = admit(X, y, door, settings)
    refuse_words(models, data.x)
    rules = {name: rule_of(estimator, data.scale) for name, estimator in models.items()}
    with counted_from(base.kept):
        refuse_gaps(models, data.x)
        refuse_one_class(rules, data)
        # Who learns measured values needs no two classes to be fitted to.
        classes = 1 if all(takes_measured for _, takes_measured in rules.values()) else 2
        rows: dict[str, Any] = {"group": base.group, "kept": base.kept, "dropped": base.dropped}
        plan = make_plan(cv, data.x, base.truth, repeats=repeats, seed=start, classes=classes, **rows)
    with watched("fits", progress) as told:
        runs, failures = run_all(rules, data, plan, training, closed, n_jobs, told)
    return gathered(rules, data, base, plan, runs, failures, settings)


@contextmanager
def counted_from(kept: Places | None) -> Iterator[None]:
    """Rows in messages are those that were handed in, not those of what was kept of them."""
    try:
        yield
    except SteelyardError as error:
        raise (error if error.row is None or kept is None else error.at(int(kept[error.row]))) from None


def admit(X: Any, y: Any, door: Validator, settings: Settings) -> tuple[Dataset, Data]:
    """Check what classifiers are to be fitted to."""
    by_position = refuse_misaligned(y, {"X": X, "groups": door.group, **vars(door.knowledge)})
    truth = take(y, "y")
    if isinstance(door.scale, Continuum):
        codes = door.scale.cut(numbers(truth, "y"))
        said = Categorical(np.maximum(codes, 0), door.scale.classes, "y")  # gaps are found in the truth itself
    else:
        said = encode(truth, "y")
    base = door.validate(truth, {"y": Prediction("y", labels=said)})
    if by_position:
        base = replace(base, remarks={**base.remarks, BY_POSITION: len(base)})
    try:
        x = X if hasattr(X, "shape") else np.asarray(X)
    except Exception:  # a foreign object may raise anything
        raise WrongShape(
            "X is no table, or its rows differ in length", mend="Give one row an object and one column a variable"
        ) from None
    if len(x.shape) != 2:
        raise BadOption(f"X has the shape {tuple(x.shape)}", mend="One row an object and one column a variable")
    refuse_length("X", int(x.shape[0]), len(base) + base.dropped, "y")
    x = x.tocsr() if hasattr(x, "tocsr") else x  # of sparse matrices, not all kinds can be asked for rows
    x = x if base.kept is None else pick(x, base.kept)
    labels = np.array([plain_label(label) for label in base.scale.classes])
    groups = None if base.group is None else base.group.codes
    certain, ranked = settings.of_forecasts, settings.of_ranks or not settings.of_forecasts
    return base, Data(
        x, labels[base.truth], base.measured, base.scale, settings.of_rows, groups, certain=certain, ranked=ranked
    )


def run_all(
    rules: Mapping[str, tuple[Any, bool]],
    data: Data,
    plan: SplitPlan,
    training: bool,
    closed: bool,
    n_jobs: int | None,
    progress: Progress | None,
) -> tuple[list[Run], list[dict[str, Any]]]:
    """Everything that is to be fitted, and what went wrong."""
    shortened = {name: found for name, rule in rules.items() if closed and (found := _shorter(*rule, data, plan))}
    # What is seen in training is to mean the same for all classifiers.
    by_fold = training and plan.kind not in ("leave one out", "bootstrap") and not shortened
    everything = np.arange(plan.rows)
    at_once = (training and not by_fold) or plan.kind == "bootstrap"
    whole = [Split(-1, -1, everything, everything, plan.rows)] if at_once else []
    tasks = [
        Task(name, *rule, split, by_fold)
        for name, rule in rules.items()
        for split in [*(() if name in shortened else plan.splits), *whole]
    ]
    fits: dict[str, list[tuple[Task, Fit]]] = {name: [] for name in rules}
    for task, fit in zip(tasks, fit_all(tasks, data, n_jobs, progress), strict=True):
        fits[task.model].append((task, fit))
    runs, failures = [], []
    for name, made in fits.items():
        failed = [_failure(task, fit) for task, fit in made if fit.failure]
        failures += failed
        if not failed:
            runs.append(_run(name, made, shortened.get(name)))
    return runs, failures


def _failure(task: Task, fit: Fit) -> dict[str, Any]:
    repeat, fold = (None, None) if task.split.repeat < 0 else (task.split.repeat, task.split.fold)
    return {"model": task.model, "repeat": repeat, "fold": fold, "problem": fit.failure}


def _run(name: str, found: Sequence[tuple[Task, Fit]], short: tuple[Said, str, float] | None) -> Run:
    whole = [fit.test for task, fit in found if task.split.repeat < 0]
    fits = [fit for task, fit in found if task.split.repeat >= 0]
    spent = float(np.sum([[fit.fit_seconds, fit.predict_seconds] for _, fit in found]))
    if short is not None:
        return Run(name, (), whole[0] if whole else None, short[0], "closed form", spent + short[2], short[1])
    said = stacked([fit.test for fit in fits if fit.test is not None])
    return Run(name, tuple(fits), whole[0] if whole else None, said, f"{len(fits):,} fit{'s' * (len(fits) > 1)}", spent)


def _shorter(estimator: Any, takes_measured: bool, data: Data, plan: SplitPlan) -> tuple[Said, str, float] | None:
    """What the fits of all folds would say, without making them, where there is a way to it."""
    if len(plan.splits) <= FEW_FITS or not isinstance(data.x, np.ndarray) or data.x.dtype.kind not in "fiu":
        return None
    start, x, parts = perf_counter(), data.x.astype(np.float64), []
    for repeat in range(plan.repeats):
        folds = plan.parts(repeat)
        found = None if folds is None else closed_form(estimator, x, data.target(takes_measured), folds)
        if folds is None or found is None or found.lost:  # fits say what is lost
            return None
        parts.append(_on_scale(found, data).some(np.concatenate(folds)))
        words = found.said
    return stacked(parts), words, perf_counter() - start


def _on_scale(found: HeldOut, data: Data) -> Said:
    scale = data.scale
    codes = encode(found.labels, "prediction").on(scale)
    places = [scale.code(plain_label(label)) for label in found.classes]
    if found.probabilities is not None:
        table = np.zeros((len(codes), len(scale)))
        table[:, places] = found.probabilities
        return Said(codes, table)
    if data.ranked and found.scores is not None and len(scale) == 2 and np.ndim(found.scores) == 1:
        return Said(codes, None, found.scores, places[1])
    if data.ranked and found.scores is not None and np.ndim(found.scores) == 2:
        several = np.full((len(codes), len(scale)), LOWEST)
        several[:, places] = found.scores
        return Said(codes, None, several)
    return Said(codes, certain=data.certain)


def gathered(
    rules: Mapping[str, tuple[Any, bool]],
    data: Data,
    base: Dataset,
    plan: SplitPlan,
    runs: Sequence[Run],
    failures: Sequence[Mapping[str, Any]],
    settings: Settings,
) -> CrossAssessment:
    """Put together what was said of rows held out, and beside it what was said of rows that were seen."""
    if not runs:
        first = failures[0]
        where = "to all rows" if first["fold"] is None else f"of fold {first['fold']}"
        told = f"the fit {where} of {quoted(first['model'])} says {str(first['problem']).rstrip('.')}"
        raise FailedFits(
            f"no classifier could be fitted; {told}",
            mend="Look at X and y as the classifier would, or take another",
        )
    rows = np.concatenate([split.test for split in plan.splits])
    order = np.argsort(rows, kind="stable")
    share = None if plan.times.max() == 1 else 1 / plan.times[rows[order]]
    cases = assembled(base, rows[order], {run.model: run.said.some(order) for run in runs}, share)
    fitted = _fitted(settings, cases)
    return CrossAssessment(
        Tally.of(cases),
        fitted,
        cases,
        base=base,
        data=data,
        plan=plan,
        runs=tuple(runs),
        rules={run.model: rules[run.model] for run in runs},
        failures=tuple(failures),
        trained=_trained(base, plan, runs, fitted),
        remarks=tuple(rare_classes(base.truth, base.scale.classes, plan) + _remarks(runs, failures, plan, data, rules)),
    )


def _fitted(settings: Settings, cases: Dataset) -> Settings:
    """The measures that can be made of what classifiers said."""
    try:
        return settings.fitted(cases.given())
    except UnknownMeasure as error:
        if not (settings.of_forecasts and settings.of_ranks and cases.given().raw):
            raise
        mend = "Ask for it apart from measures of ranking: then the predicted class counts as a forecast of 1"
        raise error.mended(mend) from None


def _trained(base: Dataset, plan: SplitPlan, runs: Sequence[Run], settings: Settings) -> Comparison | None:
    """The classifiers on rows that they were fitted to: of each fold, or of the fit to all rows."""
    if whole := {run.model: run.whole for run in runs if run.whole is not None}:
        return compared(assembled(base, np.arange(plan.rows), whole), settings)
    seen = {run.model: [fit.train for fit in run.fits if fit.train is not None] for run in runs}
    if not all(seen.values()):
        return None
    rows: Places = np.concatenate([split.train for split in plan.splits])
    share = 1 / np.bincount(rows, minlength=plan.rows)[rows]
    return compared(assembled(base, rows, {name: stacked(parts) for name, parts in seen.items()}, share), settings)


def _remarks(
    runs: Sequence[Run],
    failures: Sequence[Mapping[str, Any]],
    plan: SplitPlan,
    data: Data,
    rules: Mapping[str, tuple[Any, bool]],
) -> list[str]:
    notes = []
    if (never := int((plan.times == 0).sum())) and plan.kind != "hold out":
        notes.append(f"{never:,} of {plan.rows:,} rows were never held out, and are not assessed")
    for model in dict.fromkeys(failure["model"] for failure in failures):
        own = [failure for failure in failures if failure["model"] == model]
        notes.append(f"{model} is left out: {len(own):,} of its fits failed; the first says {own[0]['problem']}")
    for run in runs:
        warned: AnyArray = np.array([word for fit in run.fits for word in fit.warned], dtype=object)
        for word in dict.fromkeys(warned.tolist()):
            notes.append(f"{run.model}: {int((warned == word).sum()):,} fits warn: {word}")
        if not run.fits:
            notes.append(f"{run.model}: {run.how}, {run.detail}")
        if apart := run.said.contradictions:
            notes.append(f"{run.model}: predict() and the highest probability differ in {apart:,} rows")
        silent = run.said.memberships is None and run.said.scores is None
        if data.scored and data.ranked and silent and _ranks(rules[run.model][0]):
            notes.append(
                f"{run.model}: its scores are not one for each class: it is assessed by its predicted classes alone"
            )
    return notes


def _ranks(estimator: Any) -> bool:
    """Whether a classifier has a decision function, of whatever form; a search has it only once it is fitted."""
    return hasattr(getattr(estimator, "estimator", estimator), "decision_function")

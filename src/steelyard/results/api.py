"""The front door: assess one classifier, compare several, read a published table."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..core.columns import as_number
from ..core.errors import (
    BadCosts,
    BadOption,
    EmptyInput,
    OutsideUnitInterval,
    SteelyardError,
    SumNotOne,
    SwappedArguments,
    UnknownModel,
    quoted,
)
from ..core.scale import Continuum, Label, Scale, listed
from ..core.suggestions import refuse_options, with_known_options
from ..data.spelling import NumberMarks
from ..inference.settings import ALONE, Method, Options, settle
from ..inputs.dataset import Knowledge, WeightKind, refuse_kind_alone, refuse_weightless
from ..inputs.prediction import recognise
from ..inputs.published import read_table
from ..inputs.request import Request, names_columns, predictions_by_name, refuse_untold
from ..inputs.validate import Missing, Validator, replace_event
from ..measures import find
from ..measures.counts import words_on_gains
from ..measures.registry import Measure
from ..passes.merging import merge
from ..passes.tally import Tally
from ..states.statistics import PatternCounts
from .assessment import Assessment
from .decisions import least_cost
from .evaluate import OnError, Rule, evaluate, evaluate_beside

if TYPE_CHECKING:
    from ..families.partition.partition_scaling import PartitionScaling
    from .comparison import Comparison

MODEL = ALONE
Threshold = float | str | Mapping[str, float | str] | None


@with_known_options
def assess(
    y_true: Any,
    prediction: Any = None,
    *,
    truth: str | None = None,
    membership: Any = None,
    score: Any = None,
    assigned: str | None = None,
    scale: Scale | None = None,
    event: Any = None,
    threshold: Threshold = None,
    weight: Any = None,
    weight_kind: WeightKind = "sampling",
    group: Any = None,
    by: Any = None,
    cost: Any = None,
    sd: Any = None,
    sd_response: Any = None,
    response: Any = None,
    training: Any = None,
    measures: Iterable[str | Measure] | None = None,
    level: float = 0.95,
    method: Method = "delta",
    missing: Missing = "error",
    where: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    on_error: OnError = "stop",
    engine: Any = None,
    undefined: Any = float("nan"),
    replicates: int = 10_000,
    seed: int = 0,
    least: int = 0,
) -> Assessment:
    """Weigh one classifier by every measure, each with its interval.

    Give arrays, ``assess(y_true, prediction)``; or a data frame or the name of a file, and its columns:
    ``assess(frame, truth="grade", assigned="model")``.

    Args:
        y_true: The true labels; or a data frame, also one of Dask or Spark; or a path (CSV, Parquet, Arrow): a file, a
            pattern, a folder, or an address such as "s3://bucket/folder".
        prediction: Labels (n,), a score for the event (n,), or memberships (n, C): an array in the order of the
            scale, or a frame or dictionary whose names are the classes. On a Continuum without an event, numbers (n,)
            are guesses at the measured values, and cut like these.
        truth: With a frame: the column of true labels.
        membership: With a frame: the membership columns, as a pattern ("p_*"), a list, or {class: column}; a single
            column is a score for the event, or holds a list of memberships in every row, in the order of the scale.
        score: Scores on any scale, higher for the event: an array (n,), or with a frame a column. They rank rows, and
            assign them where a ``threshold`` is given; they are never read as probabilities. Or one score a class,
            (n, C) or several columns, by which classes are ranked.
        assigned: With a frame: the column of assigned labels.
        scale: The classes and their order; all labels seen, sorted, if not given.
        event: The class of interest.
        threshold: The score from which on a row is assigned to the event; 0.5 on probabilities if not given. Or how
            to choose it: "best:f1", "max specificity where sensitivity >= 0.8", or "cost" to make ``cost`` least (with
            more than two classes, by the least expected cost of each row). See ``Assessment.best_threshold``.
        weight: The weight of each row.
        weight_kind: "sampling" where a weight says how much of the population its row stands for, or "frequency" where
            it says how often the row occurred, as a whole number. The type of the numbers decides nothing.
        group: The cluster of each row, where rows are not independent (patients, batches).
        by: Parts of the data that are assessed apart too; an array, a column, or several.
        cost: Costs by class name, {true: {assigned: cost}}; brings the measure "cost" along.
        sd: With scale=Continuum(...), where y_true is measured: the standard deviation of the measurement error, for
            all rows or one a row (with a frame: a number or a column); that of the scale if not given. An estimate of
            it (``measurement_sd``) brings its uncertainty along.
        sd_response: The standard deviation of the response around what the covariates tell, likewise.
        response: What a response model expects of each row, and the standard deviation of the response around that, out
            of fold: ``fit_response(...)``, or a pair of arrays (with a frame: of columns).
        training: The same on the data that the classifier was fitted to: a pair (y_true, prediction), or a
            frame or path with the same columns, those of weight and group among them. Its values stand beside the test
            values. Weights and groups that are arrays are those of the test rows: training rows then count alike.
        measures: What to compute; everything that needs no further input, if not given.
        level: Coverage of the intervals.
        method: "delta"; "plain" for textbook intervals; or "bootstrap" (BCa), "bca", "percentile".
        missing: "error", or "drop" to leave rows out in which a value is missing.
        where: With a frame or path: which rows count, as in "year == 2024 and score >= 0.5"; training data are taken
            as they are.
        decimal: With a path to text (CSV): the mark before decimals, "." or ","; found out from the first lines if not
            given.
        thousands: With a path to text: the mark between thousands, such as "." or ","; none if not given.
        on_error: With a path whose rows are not held: "stop" at a file that cannot be used, or "skip" to leave it out;
            the notes of the result name it.
        engine: With a path: where the work is done. "local"; "dask" (a cluster on this machine for this call), the
            address of a Dask scheduler or a ``distributed.Client``; "spark" or a ``SparkSession``. Data frames of Dask
            and Spark are worked on where they are, also without it. None reads the files here.
        undefined: What stands in for undefined values: NaN, a number, or "error".
        replicates: How many bootstrap samples.
        seed: Where the random numbers of the bootstrap start.
        least: With ``by=``: parts of fewer rows are not reported; a note stands in for their values and their size.

    Returns:
        An Assessment.
    """
    settings = settle(
        measures, cost, level=level, method=method, undefined=undefined, replicates=replicates, seed=seed, least=least
    )
    rule = Rule.of(threshold, settings)
    known = Knowledge(sd, sd_response, response)
    refuse_kind_alone(weight, weight_kind)
    wanted = _one_kind(prediction, {"assigned": assigned, "membership": membership, "score": score})
    scores = frozenset() if score is None else frozenset({MODEL})
    if truth is None:
        named = isinstance(score, str) if score is not None else wanted is not None or isinstance(prediction, str)
        refuse_untold(y_true, named, "" if wanted is not None else ", and the prediction in assigned= or membership=")
        if score is not None:  # an array
            prediction, wanted = score, None
    options: dict[str, Any] = {"missing": missing, "knowledge": known, "scores": scores, "weight_kind": weight_kind}
    options |= rule.options([MODEL])
    validator = Validator(scale, event, weight=weight, group=group, by=by, **options)
    request = Request(truth, {MODEL: wanted}, validator, where, NumberMarks.of(decimal, thousands))
    found = evaluate(
        request, y_true, None if prediction is None else {MODEL: prediction}, settings, rule, on_error, engine
    )
    assessment = Assessment(found.tally, found.settings, MODEL, decision=found.decisions.get(MODEL))
    if training is None:
        return assessment
    chosen = rule.number if assessment.decision is None else assessment.decision.threshold
    # What was said row by row was said of other rows; a deviation that holds for all is among what is known, and a
    # column that was named is there too.
    scale = found.tally.scale
    classes = scale.but(sd=None) if isinstance(scale, Continuum) else scale
    general = validator.knowledge.of_any_rows
    weighed, grouped = (name if isinstance(name, str) else None for name in (weight, group))
    options |= {"threshold": chosen, "knowledge": general, "later": frozenset()}
    fitted = Validator(classes, None, weight=weighed, group=grouped, **options)
    pair = training if prediction is not None else (training, None)
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise BadOption("training is no pair", mend="Give training=(y_true, prediction)")
    beside = Request(truth, {MODEL: wanted}, fitted, marks=request.marks)
    seen = evaluate_beside(beside, pair[0], None if pair[1] is None else {MODEL: pair[1]}, found, rule, engine)
    return replace(assessment, training=Assessment(seen, found.settings, MODEL))


@with_known_options
def compare(
    y_true: Any,
    predictions: Any = None,
    *,
    score: Any = None,
    truth: str | None = None,
    scale: Scale | None = None,
    event: Any = None,
    threshold: Threshold = None,
    weight: Any = None,
    weight_kind: WeightKind = "sampling",
    group: Any = None,
    by: Any = None,
    cost: Any = None,
    sd: Any = None,
    sd_response: Any = None,
    response: Any = None,
    measures: Iterable[str | Measure] | None = None,
    level: float = 0.95,
    method: Method = "delta",
    missing: Missing = "error",
    where: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    on_error: OnError = "stop",
    engine: Any = None,
    undefined: Any = float("nan"),
    replicates: int = 10_000,
    seed: int = 0,
    least: int = 0,
) -> Comparison:
    """Weigh several classifiers on the same cases.

    Args:
        y_true: The true labels; or a data frame or path, with ``truth=`` naming the column.
        predictions: {name: prediction}, each in any form that ``assess`` takes; or a frame with a column of labels or
            scores for each classifier. Where y_true is a frame: {name: columns}, where columns are a pattern ("lda_*"),
            a list or {class: column} of memberships, or one column of labels or scores; or a list of such columns, each
            of which is a classifier.
        score: {name: scores} of classifiers whose scores lie on any scale, beside the others, in the forms of
            ``predictions``; see ``assess``.
        truth: With a frame: the column of true labels.
        scale: See ``assess``, as for all that follow.
        event: The class of interest.
        threshold: The score from which on a row is assigned to the event, or how each classifier's is chosen; or
            either of these by classifier, {name: number}, as scores on unlike scales need it.
        weight: The weight of each row.
        weight_kind: "sampling", or "frequency" where a weight says how often its row occurred.
        group: The cluster of each row.
        by: Parts of the data that are compared apart too.
        cost: Costs by class name.
        sd: With scale=Continuum(...): the standard deviation of the measurement error.
        sd_response: That of the response around what the covariates tell.
        response: What a response model expects, and the standard deviation around that.
        measures: What to compute.
        level: Coverage of the intervals.
        method: "delta"; "plain" for textbook intervals; or "bootstrap" (BCa), "bca", "percentile".
        missing: "error", or "drop" to leave rows out in which any classifier misses a value.
        where: With a frame or path: which rows count, as in "year == 2024 and score >= 0.5".
        decimal: With a path to text (CSV): the mark before decimals, "." or ",".
        thousands: With a path to text: the mark between thousands.
        on_error: With a path whose rows are not held: "stop" at a file that cannot be used, or "skip" to leave it out.
        engine: With a path: where the work is done: "local", "dask", "spark", or a cluster.
        undefined: What stands in for undefined values.
        replicates: How many bootstrap samples.
        seed: Where the random numbers of the bootstrap start.
        least: With ``by=``: parts of fewer rows are not reported.

    Returns:
        A Comparison.
    """
    settings = settle(
        measures, cost, level=level, method=method, undefined=undefined, replicates=replicates, seed=seed, least=least
    )
    rule = Rule.of(threshold, settings)
    known = Knowledge(sd, sd_response, response)
    refuse_kind_alone(weight, weight_kind)
    if truth is None:
        refuse_untold(y_true, names_columns(predictions) or names_columns(score))
    named, scores = _predictions_and_scores(predictions, score, of_columns=truth is not None)
    options: dict[str, Any] = {"missing": missing, "knowledge": known, "scores": scores, "weight_kind": weight_kind}
    options |= rule.options(named)
    validator = Validator(scale, event, weight=weight, group=group, by=by, **options)
    found = evaluate(
        Request(truth, named, validator, where, NumberMarks.of(decimal, thousands)),
        y_true,
        named if truth is None else None,
        settings,
        rule,
        on_error,
        engine,
    )
    from .comparison import Comparison

    return Comparison(found.tally, found.settings, found.cases, decisions=found.decisions, reread=found.reread)


def _one_kind(prediction: Any, said: Mapping[str, Any]) -> Any:
    """What is said by one of several keywords, and by it alone."""
    given = [name for name, value in said.items() if value is not None]
    if len(given) > 1:
        first, second = sorted(given, key=["membership", "score", "assigned"].index)[:2]
        raise BadOption(f"both {first}= and {second}= are given", mend="Give one of them")
    if given and prediction is not None:
        what = (
            "holds scores, and predictions are given too"
            if given == ["score"]
            else "names columns, but arrays were given"
        )
        mend = "Give one of them" if given == ["score"] else "Leave it out, or give a frame"
        raise BadOption(f"{given[0]}= {what}", mend=mend)
    return said[given[0]] if given else None


def _predictions_and_scores(predictions: Any, score: Any, of_columns: bool) -> tuple[dict[str, Any], frozenset[str]]:
    """All classifiers by name, and which of them gave scores on any scale."""
    if predictions is None and score is None:
        raise BadOption("there is no classifier to compare", mend="Give {name: prediction}, or score={name: scores}")
    named = {} if predictions is None else predictions_by_name(predictions, of_columns)
    scored = {} if score is None else predictions_by_name(score, of_columns)
    both = sorted({*named} & {*scored})
    if both:
        raise BadOption(f"{quoted(both[0])} gives both predictions and scores", mend="Give each classifier once")
    return named | scored, frozenset(scored)


@with_known_options
def decide(
    prediction: Any, cost: Any, *, scale: Scale | None = None, event: Any = None, decline: float | None = None
) -> list[Label | None]:
    """Assign every row to the class with the least expected cost, or to none where declining costs less.

    Args:
        prediction: Memberships (n, C), in the order of the scale or as a frame or dictionary whose names are the
            classes; or a probability of the event (n,).
        cost: Costs by class name, {true: {assigned: cost}}.
        scale: The classes; those that ``cost`` names, if not given.
        event: The class that a single probability speaks for.
        decline: What it costs not to decide; rows whose least expected cost is higher are left undecided.

    Returns:
        The class of every row; None where it is declined. Where classes cost as little, the event wins, or else the
        first of them.
    """
    if scale is None:
        if not isinstance(cost, Mapping):
            raise BadOption("the classes are not known", mend="Give scale=Scale([...]), or costs by class name")
        if len(cost) < 2:
            told = listed(list(cost)) or "no class"
            raise BadCosts(f"costs are those of {told} alone", mend="Give the costs of every true class")
        scale = Scale(list(cost), event)
    elif event is not None:
        scale = replace_event(scale, event)
    if decline is not None and not as_number(decline) >= 0:
        raise BadOption(f"declining costs {quoted(decline)}", mend="Give a number, 0 or above")
    matrix = find("cost", costs=cost).matrix(scale)
    said = recognise(prediction, MODEL, scale.classes, scale.event, as_scores=True)
    said.assigned(scale, None)  # every check that probabilities must pass
    columns = said.scores(scale).memberships()
    if not columns or matrix is None:
        raise BadOption("labels have no expected cost", mend="Give probabilities")
    if doubtful := words_on_gains(scale, matrix):
        warnings.warn(doubtful, stacklevel=3)  # a list of labels has no other place for a note
    labels = (*scale.classes, None)
    return [labels[code] for code in least_cost(columns, matrix, decline, scale.event_code).tolist()]


@with_known_options
def partition_scaling(
    memberships: Any,
    truth: Any,
    *,
    scale: Scale | None = None,
    event: Any = None,
    weight: Any = None,
    weight_kind: WeightKind = "sampling",
    missing: Missing = "error",
    scaling: str = "default",
    depth: int = 1,
    floor: int = 1,
    ties: str = "first",
    seed: int = 0,
) -> PartitionScaling:
    """Learn how memberships are to be scaled, region by region, so that they say how right a rule is.

    Args:
        memberships: One row an observation, one column a class: an array (n, C) in the order of the scale, or a frame
            or dictionary whose names are the classes; see ``standardise`` for memberships of other kinds.
        truth: The true labels.
        scale: The classes and their order; all labels seen, sorted, if not given.
        event: The class that a single probability speaks for.
        weight: The weight of each row.
        weight_kind: "sampling", or "frequency" where a weight says how often its row occurred.
        missing: "error", or "drop" to leave rows out in which a value is missing.
        scaling: "default"; "literal", the formulas as printed; or "klar", as in the R package klaR.
        depth: How many of the highest classes a region is made of.
        floor: How many rows a region needs to be scaled on its own.
        ties: Where rows go whose highest memberships are tied: "first", "random" or "joined".
        seed: Where the random numbers for these start.

    Returns:
        A PartitionScaling: its ``transform`` scales memberships, these and others, and ``regions`` shows what it
        learned.
    """
    given: dict[str, Any] = {"scale": scale, "event": event, "weight": weight, "weight_kind": weight_kind}
    try:
        found = assess(truth, memberships, missing=missing, measures=["partition_accuracy"], **given)
    except SwappedArguments as error:
        raise error.but(
            problem="the truth looks like memberships, and the memberships like labels",
            mend="Memberships come first: partition_scaling(memberships, truth)",
        ) from None
    except SteelyardError as error:
        place = error.column
        named = place if place is None else re.sub(rf"^{MODEL}(?=\[|$)", "memberships", place)
        improbable = isinstance(error, OutsideUnitInterval | SumNotOne)
        mend = "Standardise them first: standardise(memberships, how), by 'shift', 'softmax' or 'rank'"
        raise error.but(column=named, mend=mend if improbable else error.mend) from None
    return found.scaling(scaling, depth=depth, floor=floor, ties=ties, seed=seed)


@with_known_options
def assess_table(
    counts: Any,
    *,
    classes: Any = None,
    scale: Scale | None = None,
    event: Any = None,
    cost: Any = None,
    measures: Iterable[str | Measure] | None = None,
    level: float = 0.95,
    method: Method = "delta",
    undefined: Any = float("nan"),
    replicates: int = 10_000,
    seed: int = 0,
    truth_in_rows: bool = True,
) -> Assessment:
    """Weigh a classifier of which only the confusion table is known, as in a publication.

    Args:
        counts: The table: rows are true classes, columns assigned ones. A frame of pandas (as of ``crosstab``) or
            another kind, which may have a first column with the true classes, and {true: {assigned: count}} name the
            classes themselves, and rows and columns are bound by these names.
        classes: The class labels, in order; 0, 1, ... if neither given nor named by the table.
        scale: The same as a Scale.
        event: The class of interest.
        cost: Costs by class name.
        measures: What to compute.
        level: Coverage of the intervals.
        method: "delta"; "plain" for textbook intervals; or "bootstrap" (BCa), "bca", "percentile".
        undefined: What stands in for undefined values.
        replicates: How many bootstrap samples.
        seed: Where the random numbers of the bootstrap start.
        truth_in_rows: False for a table with predictions in rows and truth in columns.

    Returns:
        An Assessment.
    """
    settings = settle(measures, cost, level=level, method=method, undefined=undefined, replicates=replicates, seed=seed)
    if not isinstance(truth_in_rows, bool | np.bool_):
        raise BadOption(f"truth_in_rows is {quoted(truth_in_rows)}", mend="Say True or False")
    named, table = read_table(counts, scale, classes, event)
    table = table if truth_in_rows else table.T
    cells = np.argwhere(table > 0)
    keys = np.concatenate([np.zeros_like(cells), cells], axis=1)
    sums = PatternCounts(keys, np.repeat(table[table > 0][:, None], 3, axis=1))
    tally = Tally(named, (MODEL,), sums, published=True)
    return Assessment(tally, settings.fitted(tally.given))


def assess_tally(
    tally: Tally | str | Path | Sequence[Tally | str | Path],
    model: str | None = None,
    allow_overlap: bool = False,
    **options: Unpack[Options],
) -> Assessment:
    """Weigh a classifier from sums that were made before: loaded, merged, or taken from an assessment.

    Args:
        tally: The sums, or the file that they were saved to; or a list of these, which are merged.
        model: Which classifier, if the tally holds several.
        allow_overlap: Of several: whether rows of one source may count more than once. See ``merge``.
        **options: cost, measures, level, method, undefined, replicates, seed and least, as in ``assess``.

    Returns:
        An Assessment.
    """
    refuse_options("assess_tally", options, Options.__annotations__)
    found = compare_tally(tally, allow_overlap, **options)
    if model is None and len(found.models) > 1:
        raise UnknownModel(f"the tally holds {listed(found.models)}", mend="Name one: assess_tally(tally, 'name')")
    return found[found.models[0] if model is None else model]


def compare_tally(
    tally: Tally | str | Path | Sequence[Tally | str | Path], allow_overlap: bool = False, **options: Unpack[Options]
) -> Comparison:
    """Compare the classifiers of sums that were made before: loaded, merged, or taken from a comparison.

    Args:
        tally: The sums, or the file that they were saved to; or a list of these, which are merged.
        allow_overlap: Of several: whether rows of one source may count more than once. See ``merge``.
        **options: cost, measures, level, method, undefined, replicates, seed and least, as in ``compare``.

    Returns:
        A Comparison; the rows that decide are not at hand, since a tally holds none.
    """
    refuse_options("compare_tally", options, Options.__annotations__)
    if isinstance(tally, str | Path):
        tally = Tally.load(tally)
    elif not isinstance(tally, Tally):
        tally = merge(tally, allow_overlap=allow_overlap)
    tally.refuse_negative()
    if tally.rows == 0:
        raise EmptyInput("the tally is empty", mend="Add rows to it first")
    _, mass, squares = tally.sums.values.sum(axis=0).tolist()
    refuse_weightless(mass > 0, squares, "weight")
    from .comparison import Comparison

    known = None if tally.summaries is None else tally.summaries.whole.recipe.labels
    settings = settle(**options).fitted(tally.given).summed(known)
    return Comparison(replace(tally, made_before=True), settings)

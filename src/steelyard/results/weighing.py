"""From rows to what measures are made of: by sums alone where these are enough, and else with the rows at hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ..core.errors import BadOption, TooLarge
from ..core.suggestions import refuse_unknown
from ..core.threads import keep_freed_memory
from ..data import sources
from ..data.digests import Origin
from ..data.engines import frame_of
from ..data.shards import with_filter
from ..data.streams import Files
from ..data.where import Filter
from ..inference.settings import Settings
from ..inputs.categorical import Categorical
from ..inputs.dataset import Dataset
from ..inputs.prediction import Scores
from ..inputs.request import Request
from ..passes.provenance import COST, FEW_SCORED, InMemory, as_pairs, content_of, facts_of, is_telling
from ..passes.tally import Tally
from .assessment import Assessment
from .decisions import Decision, choose_threshold
from .summing import lies_apart, summed
from .threshold_rules import Rule

OnError = Literal["stop", "skip"]


@dataclass(frozen=True)
class Weighed:
    """What is known of the rows.

    Attributes:
        tally: Their sums, with scores where measures need them.
        settings: How results are computed; measures that cannot be made of what there is are left out.
        cases: The rows, where they are held.
        decisions: The thresholds that were chosen.
        reread: How to get the rows where they are not.
    """

    tally: Tally
    settings: Settings
    cases: Dataset | None = None
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    reread: Callable[[], Dataset] | None = None


def weigh(
    request: Request,
    source: Any,
    predictions: Mapping[str, Any] | None,
    settings: Settings,
    rule: Rule,
    on_error: OnError = "stop",
    engine: Any = None,
) -> Weighed:
    """Sum files where counts are asked for, and rows that lie elsewhere; let everything else in as a whole."""
    refuse_unknown("on_error", on_error, ("stop", "skip"))
    keep_freed_memory()
    if engine is not None and (predictions is not None or not lies_apart(source, engine)):
        raise BadOption(
            "engine= is given, but the rows are here already",
            mend="Give a path or a data frame of Dask or Spark, or leave engine= out",
        )
    skip, source = on_error == "skip", _opened(request, source, predictions)
    streamed = None if predictions is not None else summed(request, source, settings, rule, skip, engine)
    if streamed is None and skip:
        raise BadOption(
            "on_error='skip' is for files whose rows are counted, not held",
            mend="Give a path and engine='local', or ask for count measures only, as in measures=['error', 'kappa']",
        )
    if streamed is not None:
        tally, given = replace(streamed[0], where=request.where), streamed[1]
        return _judged(tally, settings.fitted(given), rule, lambda: request.validate(collected(request, source), None))
    cases = request.validate(source, predictions)
    settings = settings.fitted(cases.given(rule.checks_scores))
    cases, decisions = rule.applied(cases, settings)
    tally = _known(Tally.of(cases), cases, request, source)
    return Weighed(_decided(tally, settings, rule, decisions), settings, cases, decisions)


def _known(tally: Tally, cases: Dataset, request: Request, source: Any) -> Tally:
    """The tally of rows that were held, with where they come from and how they were read."""
    origin = cases.origin or Origin()
    keep = source.filter if isinstance(source, Files) else None if request.where is None else Filter.read(request.where)
    kind = "frequency" if cases.counted else "sampling"
    reading = facts_of(request, origin.columns, None if keep is None else keep.text, kind)
    telling = is_telling(0, False, tally.sums.values[:, 0]) if origin.sources else False
    files = tuple(
        replace(each, telling=telling or (cases.scored and each.rows >= FEW_SCORED)) for each in origin.sources
    )
    sources = files or (InMemory.of_rows(cases, content_of(cases, tally.scores)),)
    return replace(tally, where=request.where, reading=as_pairs(reading), sources=sources)


def _decided(tally: Tally, settings: Settings, rule: Rule, decisions: Mapping[str, Decision]) -> Tally:
    """The tally with its costs, the rule by which rows were assigned, and the thresholds that it led to."""
    costs = [str(each.parameters.get("costs")) for each in settings.measures if each.name == "cost"]
    facts = {COST: costs[0]} if costs else {}
    if rule.goal is not None:
        found = ", ".join(f"{name} {decision.threshold!r}" for name, decision in decisions.items())
        facts["threshold"] = f"best {rule.goal} ({found})" if found else f"best {rule.goal}"
    for name, one in rule.by_model.items():
        if one.goal is not None:
            found = f" ({decisions[name].threshold!r})" if name in decisions else ""
            facts[f"threshold of {name}"] = f"best {one.goal}{found}"
    return replace(tally, reading=as_pairs(dict(tally.reading) | facts)) if facts else tally


def _opened(request: Request, source: Any, predictions: Mapping[str, Any] | None) -> Any:
    """Find the files of a path once, so that each pass reads what the first has found; everything else as it is."""
    path = predictions is None and request.truth is not None and isinstance(source, str | os.PathLike)
    return sources.opened(source, request.where, request.marks) if path else source


def _judged(tally: Tally, settings: Settings, rule: Rule, reread: Callable[[], Dataset]) -> Weighed:
    """Assign rows that were kept by a threshold that is chosen; forget them where no measure needs them."""
    if not rule.chooses:
        kept = tally if settings.of_rows else replace(tally, scores=None, recipe=None, summaries=None)
        return Weighed(_decided(kept, settings, rule, {}), settings, reread=reread)
    if tally.summaries is not None:
        return _judged_by_cells(tally, settings, rule, reread)
    cases, decisions = rule.applied(rule.assigned_anew(cases_of(tally)), settings)
    told = {name: getattr(tally, name) for name in ("dropped", "reading", "left_out", "where", "sources")}
    found = _decided(replace(Tally.of(cases), **told), settings, rule, decisions)
    return Weighed(found, settings, None, decisions, lambda: rule.applied(reread(), settings)[0])


def _judged_by_cells(tally: Tally, settings: Settings, rule: Rule, reread: Callable[[], Dataset]) -> Weighed:
    """Choose the threshold of one classifier whose rows were not held, by the cells that its scores lie in."""
    goal = rule.goal_of(tally.models[0])
    if len(tally.models) > 1 or len(tally.scale) > 2 or goal is None:
        raise TooLarge(
            "thresholds of several classifiers or classes are chosen by rows at hand, and these are too many",
            mend="Choose the threshold of one classifier at a time, and give it as a number",
        )
    (name,) = tally.models
    decision = choose_threshold(Assessment(tally, settings, name), goal, settings.seed).refuse_none(name)
    counts = tally.at_threshold(0, int(tally.scale.event_code or 0), decision.threshold)
    found = _decided(replace(tally, sums=counts.sums, remarks=counts.remarks), settings, rule, {name: decision})
    return Weighed(found, settings, None, {name: decision}, reread)


def cases_of(tally: Tally) -> Dataset:
    """The rows that a tally kept; the classes that scores were assigned to are for others to choose."""
    rows = tally.scores
    if rows is None:
        raise BadOption("a threshold is to be chosen, but there is no score", mend="Give scores for the event")
    nowhere = np.zeros(len(rows), np.uint8)
    said = dict(zip(tally.models, rows.scores, strict=True))
    counted = rows.sums is None or np.array_equal(rows.sums[:, 0], rows.sums[:, 1])
    return Dataset(
        tally.scale,
        rows.truth,
        {name: nowhere if one.assigned is None else one.assigned for name, one in said.items()},
        {name: Scores() if one.assigned is not None else one for name, one in said.items()},
        rows.measured,
        None if rows.sums is None else rows.sums[:, 1],
        bool(counted),
        None if rows.cluster is None else Categorical(rows.cluster, tally.groups, "group"),
        None if rows.slice is None else Categorical(rows.slice, tally.slices, "by", order=tally.arrangement),
        remarks=tally.remarks,
    )


def collected(request: Request, source: Any) -> Any:
    """Rows that lie on many machines as one table; everything else as it is."""
    frame = frame_of(source, request.where)
    return source if frame is None else frame.collected(with_filter(request.columns_among(frame.names), frame.filter))


def weigh_beside(
    request: Request,
    source: Any,
    predictions: Mapping[str, Any] | None,
    test: Weighed,
    assigning: Rule,
    engine: Any = None,
) -> Tally:
    """Sum other rows as those were that they stand beside: training data beside test data."""
    keep, apart = test.tally.tells_rows, lies_apart(source, engine)
    source = _opened(request, source, predictions)
    if assigning.cost is not None and len(test.tally.scale) > 2:  # what costs least is found row by row
        cases = request.validate(collected(request, source), predictions)
        return Tally.of(assigning.applied(cases, test.settings)[0], with_scores=keep)
    rule = Rule(request.validator.threshold, any_scale=request.validator.any_scale)
    if predictions is not None or (keep and not apart):
        return Tally.of(request.validate(source, predictions), with_scores=keep)
    streamed = summed(request, source, test.settings, rule, engine=engine if apart else None)
    if streamed is None:
        return Tally.of(request.validate(source, predictions), with_scores=keep)
    return streamed[0] if keep else replace(streamed[0], scores=None, recipe=None, summaries=None)

"""From rows to what measures are made of: by sums alone where these are enough, and else with the rows at hand.

Rows that have nothing but scores are assigned here, by what users say of thresholds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from ..core.columns import is_single
from ..core.errors import BadOption, SteelyardError, TooLarge, UnknownModel, quoted
from ..core.scale import Continuum, Scale, listed
from ..core.suggestions import did_you_mean, refuse_unknown
from ..core.threads import keep_freed_memory
from ..data import sources
from ..data.digests import Origin, Source
from ..data.engines import frame_of, make, started
from ..data.formats import estimate
from ..data.shards import with_filter
from ..data.streams import Files
from ..data.where import Filter
from ..families.partition.looks import needs_all_rows
from ..inference.settings import Settings
from ..inputs.categorical import Categorical
from ..inputs.dataset import Available, Dataset
from ..inputs.prediction import Scores
from ..inputs.remarks import reached_of, without_thresholds
from ..inputs.request import Request
from ..measures.registry import Measure
from ..passes.plan import Plan, Unusable
from ..passes.provenance import COST, FEW_SCORED, InMemory, as_pairs, facts_of, is_telling
from ..passes.tally import Tally
from .assessment import Assessment
from .decisions import Decision, Goal, choose_threshold, least_cost


@dataclass(frozen=True)
class Rule:
    """How rows are assigned by their scores: from a number on, by the best threshold, or at the least cost.

    Attributes:
        number: The threshold, where it is a number.
        goal: What it is chosen for, where it is not.
        cost: The measure of cost, where that is to be least.
        any_scale: Whether scores need not be probabilities.
        by_model: The rules of single classifiers, which come before the common one.
    """

    number: float | None = None
    goal: Goal | None = None
    cost: Measure | None = None
    any_scale: bool = False
    by_model: Mapping[str, Rule] = field(default_factory=dict)

    @classmethod
    def of(cls, threshold: Any, settings: Settings) -> Rule:
        """Read what a user says; with nothing but measures of ranking, no threshold is needed at all."""
        ranked = settings.ranks_alone
        if isinstance(threshold, Mapping):
            if not threshold:
                raise BadOption("threshold={} names no classifier", mend="Give {name: number}, or leave it out")
            rules = {str(name): cls.of(each, settings) for name, each in threshold.items()}
            return cls(any_scale=ranked, by_model=rules)
        if not isinstance(threshold, str):
            return cls(threshold, any_scale=threshold is None and ranked)
        if threshold.strip() not in ("cost", "best:cost", "min cost"):
            return cls(goal=Goal.read(threshold, settings.measures), any_scale=True)
        if settings.costs is None:
            raise BadOption("a threshold by cost needs costs", mend="Give cost={true: {assigned: cost}}")
        return cls(goal=Goal.of(settings.costs), cost=settings.costs, any_scale=True)

    def options(self, names: Collection[str]) -> dict[str, Any]:
        """What a door must know of this, where there are classifiers of these names."""
        for name in self.by_model:
            if name not in names:
                mend = did_you_mean(name, names, f"There are {listed(list(names))}")
                raise UnknownModel(
                    f"threshold= is given for {quoted(name)}, and there is no such classifier", mend=mend
                )
        found: dict[str, Any] = {"threshold": self.number, "any_scale": self.any_scale}
        if self.goal is None and not self.by_model:
            return found
        numbers = {name: rule.number for name, rule in self.by_model.items() if rule.number is not None}
        later = frozenset(name for name in names if self.goal_of(name) is not None)
        return found | {"thresholds": numbers, "later": later}

    def goal_of(self, name: str) -> Goal | None:
        """What the threshold of a classifier is chosen for."""
        return self.by_model.get(name, self).goal

    @property
    def chooses(self) -> bool:
        """Whether any threshold is chosen by the rows."""
        return self.goal is not None or any(rule.goal for rule in self.by_model.values())

    @property
    def checks_scores(self) -> bool:
        """Whether scores passed for probabilities when they came in, or nothing is asked for which they must be."""
        return self.number is None and self.goal is None and not self.by_model

    def applied(self, cases: Dataset, settings: Settings) -> tuple[Dataset, dict[str, Decision]]:
        """Assign the rows of every classifier that gave scores, and tell what was decided."""
        if not self.chooses:
            return cases, {}
        if not cases.scored:
            raise BadOption("a threshold is to be chosen, but there is no score", mend="Give scores for the event")
        if len(cases.scale) > 2:
            return self._at_least_cost(cases), {}
        tally, assigned, decisions, remarks = Tally.of(cases), dict(cases.assigned), {}, dict(cases.remarks)
        for name, scores in cases.scores.items():
            goal = self.goal_of(name)
            if not scores.columns or goal is None:
                continue
            assessment = Assessment(tally, settings, name)
            decision = decisions[name] = choose_threshold(assessment, goal, settings.seed).refuse_none(name)
            code = int(cases.scale.event_code or 0)
            assigned[name] = codes = scores.reaches(code, decision.threshold)
            reached = int((codes == code).sum())
            remarks = without_thresholds(remarks, (name,))
            remarks |= reached_of(name, decision.threshold, reached, len(codes) - reached)
        return replace(cases, assigned=assigned, remarks=remarks), decisions

    def assigned_anew(self, cases: Dataset) -> Dataset:
        """Assign the rows again of classifiers whose threshold is not chosen, where nothing but scores was kept."""
        event, assigned = cases.scale.event_code, dict(cases.assigned)
        for name, scores in cases.scores.items():
            rule = self.by_model.get(name, self)
            if not scores.columns or rule.goal is not None:
                continue
            if rule.number is not None:
                assigned[name] = scores.reaches(scores.speaks if scores.speaks >= 0 else int(event or 0), rule.number)
            elif not scores.raw:
                assigned[name] = scores.likeliest(event)
        return replace(cases, assigned=assigned)

    def _at_least_cost(self, cases: Dataset) -> Dataset:
        rules = {name: self.by_model.get(name, self) for name in cases.scores}
        assigned = dict(cases.assigned)
        for name, scores in cases.scores.items():
            rule = rules[name]
            if rule.goal is None or not scores.columns:
                continue
            costs = None if rule.cost is None else rule.cost.matrix(cases.scale)
            if costs is None:
                raise BadOption(
                    f"a threshold parts two classes, not {len(cases.scale)}",
                    mend="With more classes, give cost= and threshold='cost'",
                )
            if scores.raw:
                raise BadOption(
                    f"the cost of a decision is expected by probabilities, and {quoted(name)} gave scores",
                    mend="Give membership= for threshold='cost', or leave threshold= out",
                )
            assigned[name] = least_cost(scores.columns, costs, event=cases.scale.event_code)
        chosen = tuple(name for name, rule in rules.items() if rule.goal is not None)
        return replace(cases, assigned=assigned, remarks=without_thresholds(cases.remarks, chosen))


OnError = Literal["stop", "skip"]


@dataclass(frozen=True)
class EvaluatedRows:
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


def evaluate(
    request: Request,
    source: Any,
    predictions: Mapping[str, Any] | None,
    settings: Settings,
    rule: Rule,
    on_error: OnError = "stop",
    engine: Any = None,
) -> EvaluatedRows:
    """Sum files where counts are asked for, and rows that lie elsewhere; let everything else in as a whole."""
    refuse_unknown("on_error", on_error, ("stop", "skip"))
    keep_freed_memory()
    if engine is not None and (predictions is not None or not lies_apart(source, engine)):
        raise BadOption(
            "engine= is given, but the rows are here already",
            mend="Give a path or a data frame of Dask or Spark, or leave engine= out",
        )
    skip = on_error == "skip"
    source = source if predictions is not None else _opened(request, source)
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
    cases, decisions = rule.applied(cases, settings) if rule.chooses else (cases, {})
    tally = _known(Tally.of(cases), cases, request, source)
    return EvaluatedRows(_decided(tally, settings, rule, decisions), settings, cases, decisions)


def _known(tally: Tally, cases: Dataset, request: Request, source: Any) -> Tally:
    """The tally of rows that were held, with where they come from and how they were read."""
    origin = cases.origin or Origin()
    keep = source.filter if isinstance(source, Files) else None if request.where is None else Filter.read(request.where)
    kind = "frequency" if cases.counted else "sampling"
    reading = as_pairs(facts_of(request, origin.columns, None if keep is None else keep.text, kind))
    sources: tuple[Source, ...] = (InMemory.of_rows(cases, tally.scores),)
    if origin.sources:
        telling = is_telling(0, False, tally.sums.values[:, 0])
        scored = [telling or (tally.scored and each.rows >= FEW_SCORED) for each in origin.sources]
        sources = tuple(replace(each, telling=tells) for each, tells in zip(origin.sources, scored, strict=True))
    return replace(tally, where=request.where, reading=reading, sources=sources)


def _decided(tally: Tally, settings: Settings, rule: Rule, decisions: Mapping[str, Decision]) -> Tally:
    """The tally with its costs, the rule by which rows were assigned, and the thresholds that it led to."""
    facts = {} if settings.costs is None else {COST: str(settings.costs.parameters.get("costs"))}
    if rule.goal is not None:
        found = ", ".join(f"{name} {decision.threshold!r}" for name, decision in decisions.items())
        facts["threshold"] = f"best {rule.goal} ({found})" if found else f"best {rule.goal}"
    for name, one in rule.by_model.items():
        if one.goal is not None:
            found = f" ({decisions[name].threshold!r})" if name in decisions else ""
            facts[f"threshold of {name}"] = f"best {one.goal}{found}"
    return replace(tally, reading=as_pairs(dict(tally.reading) | facts)) if facts else tally


def _opened(request: Request, source: Any) -> Any:
    """Find the files of a path once, so that each pass reads what the first has found; everything else as it is."""
    path = request.truth is not None and isinstance(source, str | os.PathLike)
    return sources.opened(source, request.where, request.marks) if path else source


def _judged(tally: Tally, settings: Settings, rule: Rule, reread: Callable[[], Dataset]) -> EvaluatedRows:
    """Assign rows that were kept by a threshold that is chosen; forget them where no measure needs them."""
    if not rule.chooses:
        kept = tally if settings.of_rows else replace(tally, scores=None, recipe=None, summaries=None)
        return EvaluatedRows(_decided(kept, settings, rule, {}), settings, reread=reread)
    if tally.summaries is not None:
        return _judged_by_cells(tally, settings, rule, reread)
    cases, decisions = rule.applied(rule.assigned_anew(cases_of(tally)), settings)
    told = {name: getattr(tally, name) for name in ("dropped", "reading", "left_out", "where", "sources")}
    found = _decided(replace(Tally.of(cases), **told), settings, rule, decisions)
    return EvaluatedRows(found, settings, None, decisions, lambda: rule.applied(reread(), settings)[0])


def _judged_by_cells(tally: Tally, settings: Settings, rule: Rule, reread: Callable[[], Dataset]) -> EvaluatedRows:
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
    return EvaluatedRows(found, settings, None, {name: decision}, reread)


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


def evaluate_beside(
    request: Request,
    source: Any,
    predictions: Mapping[str, Any] | None,
    test: EvaluatedRows,
    assigning: Rule,
    engine: Any = None,
) -> Tally:
    """Sum other rows as those were that they stand beside: training data beside test data."""
    keep, apart = test.tally.tells_rows, lies_apart(source, engine)
    source = source if predictions is not None else _opened(request, source)
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


# --- rows that are not kept in memory -------------------------------------------------------------------------------


Result = TypeVar("Result")

MOST_HELD = 1 << 27  # bytes of a table: smaller ones are read as a whole


def lies_apart(source: Any, engine: Any = None) -> bool:
    """Whether rows are worked on elsewhere: files where an engine is named, and frames of Dask and Spark."""
    return make(source) is not None or (engine is not None and isinstance(source, str | os.PathLike | Files))


def can_be_summed(request: Request, source: Any, rule: Rule) -> bool:
    """Whether all that is said of rows stands in files, and nothing needs all rows at once."""
    if not isinstance(source, str | os.PathLike | Files) or request.truth is None:
        return False
    known = request.validator.knowledge
    plain = known.response is None and not any(isinstance(one, str) for one in (known.sd, known.sd_response))
    return plain and _loose(request) is None and not rule.chooses and not rule.any_scale


def _loose(request: Request) -> str | None:
    """What was said of rows but does not stand beside them in a column, or needs all rows at once."""
    validator = request.validator
    beside = {"weight": validator.weight, "group": validator.group, "sd": validator.knowledge.sd}
    beside["sd_response"] = validator.knowledge.sd_response
    for name, value in beside.items():
        if not (value is None or isinstance(value, str) or (name[:2] == "sd" and is_single(value))):
            return f"{name}= is an array"
    pair = validator.knowledge.response
    if not request.parts_are_named or not (pair is None or all(isinstance(name, str) for name in pair)):
        return "by= is an array" if pair is None else "response= is no pair of columns"
    if isinstance(validator.scale, Continuum) and validator.scale.named_after_intervals:
        return "the classes of the Continuum have no names"
    return None


def summed(
    request: Request, source: Any, settings: Settings, rule: Rule, skip: bool = False, engine: Any = None
) -> tuple[Tally, Available] | None:
    """The tally of rows that nobody holds, and what there is for measures; None where rows must be held."""
    apart = lies_apart(source, engine)
    if apart:
        _refuse_loose(request, source, skip)
    counts = settings.of_counts and not rule.chooses
    passing = apart or (not counts and _is_large(request, source, settings))
    if not passing and not can_be_summed(request, source, rule):
        return None
    scored = len(request.headings) < len(request.models)
    if not (passing or counts) and (scored or isinstance(request.validator.scale, Continuum)):
        return None

    def counted(plan: Plan, scale: Scale, forms: dict[str, bool]) -> tuple[Tally, Available] | None:
        if not (passing or counts) and not all(forms.values()):
            return None
        tally = plan.tally(scale, forms)
        return tally, tally.given

    def work(plan: Plan) -> tuple[Tally, Available] | None:
        likely = plan.glimpsed()
        if likely is not None:
            with suppress(SteelyardError):  # whatever it is, it is told better when all labels are known
                return counted(plan, *likely)
        return counted(plan, *plan.settled())

    with started(engine, source) as found:
        return persisting(Plan.of(request, source, skip, found, settings if passing and not counts else None), work)


def _is_large(request: Request, source: Any, settings: Settings) -> bool:
    """Whether files hold more rows than should be held, and nothing is asked for that needs them all at once."""
    if not isinstance(source, str | os.PathLike | Files) or request.truth is None or _loose(request) is not None:
        return False
    asked = () if settings.everything else settings.measures
    if settings.resampled or any(needs_all_rows(each) for each in asked):
        return False
    with suppress(SteelyardError):  # whoever reads the files will say so
        files = sources.opened(source, request.where, request.marks)
        return estimate(files.files, request.columns_of(files)) > MOST_HELD
    return False


def _refuse_loose(request: Request, source: Any, skip: bool) -> None:
    loose = _loose(request)
    if loose is not None:
        raise BadOption(f"{loose}, and the rows are worked on elsewhere", mend="Name columns, and name the classes")
    if skip and make(source) is not None:
        raise BadOption("on_error='skip' leaves out files, and a data frame has none", mend="Leave it out")
    if request.truth is None:
        raise BadOption("there is no prediction", mend="Name the columns: assess(frame, truth=..., assigned=...)")


def persisting(plan: Plan, work: Callable[[Plan], Result]) -> Result:
    """Do something with files; where some cannot be used and may be left out, do it again without these.

    From the start: a class that only a faulty file had is then no class, and no row of it was counted.
    """
    while True:
        try:
            return work(plan)
        except Unusable as found:
            plan = plan.without(found.faults)
        except SteelyardError as error:
            if not plan.skip or error.file is None or error.file in plan.left_out:
                raise
            plan = plan.without({error.file: error})

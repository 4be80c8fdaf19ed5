"""How rows are assigned by their scores: what users say of thresholds, applied to the cases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import BadOption, UnknownModel, quoted
from ..core.scale import listed
from ..core.suggestions import did_you_mean
from ..inference.settings import Settings
from ..inputs.dataset import Dataset
from ..inputs.remarks import reached_of, without_thresholds
from ..measures.registry import Measure
from ..passes.tally import Tally
from ..states.statistics import RANKING
from .assessment import Assessment
from .decisions import Decision, choose_threshold, least_cost
from .goals import Goal


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
        ranked = all(measure.statistic is RANKING for measure in settings.measures)
        if isinstance(threshold, Mapping):
            if not threshold:
                raise BadOption("threshold={} names no classifier", mend="Give {name: number}, or leave it out")
            rules = {str(name): cls.of(each, settings) for name, each in threshold.items()}
            return cls(any_scale=ranked, by_model=rules)
        if not isinstance(threshold, str):
            return cls(threshold, any_scale=threshold is None and ranked)
        if threshold.strip() not in ("cost", "best:cost", "min cost"):
            return cls(goal=Goal.read(threshold, settings.measures), any_scale=True)
        priced = [measure for measure in settings.measures if measure.name == "cost"]
        if not priced:
            raise BadOption("a threshold by cost needs costs", mend="Give cost={true: {assigned: cost}}")
        return cls(goal=Goal.of(priced[0]), cost=priced[0], any_scale=True)

    def options(self, names: Collection[str]) -> dict[str, Any]:
        """What a door must know of this, where there are classifiers of these names."""
        for name in self.by_model:
            if name not in names:
                mend = did_you_mean(name, names, f"There are {listed(list(names))}")
                raise UnknownModel(
                    f"threshold= is given for {quoted(name)}, and there is no such classifier", mend=mend
                )
        return {
            "threshold": self.number,
            "any_scale": self.any_scale,
            "thresholds": {name: rule.number for name, rule in self.by_model.items() if rule.number is not None},
            "later": frozenset(name for name in names if self.goal_of(name) is not None),
        }

    def goal_of(self, name: str) -> Goal | None:
        """What the threshold of a classifier is chosen for."""
        return self.by_model.get(name, self).goal

    @property
    def chooses(self) -> bool:
        """Whether any threshold is chosen by the rows."""
        return self.goal is not None or any(rule.chooses for rule in self.by_model.values())

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

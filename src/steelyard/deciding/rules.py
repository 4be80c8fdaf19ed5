"""How rows are assigned by their scores: what users say of thresholds, applied to the cases."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..assessing.assessment import Assessment
from ..door.cases import Cases
from ..errors import BadOption
from ..registry import Measure
from ..settings import Settings
from ..sums.statistics import RANKING
from ..tallies.tally import Tally
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
    """

    number: float | None = None
    goal: Goal | None = None
    cost: Measure | None = None
    any_scale: bool = False

    @classmethod
    def of(cls, threshold: float | str | None, settings: Settings) -> Rule:
        """Read what a user says; with nothing but measures of ranking, no threshold is needed at all."""
        if not isinstance(threshold, str):
            ranked = all(measure.statistic is RANKING for measure in settings.measures)
            return cls(threshold, any_scale=threshold is None and ranked)
        if threshold.strip() not in ("cost", "best:cost", "min cost"):
            return cls(goal=Goal.read(threshold, settings.measures), any_scale=True)
        priced = [measure for measure in settings.measures if measure.name == "cost"]
        if not priced:
            raise BadOption("a threshold by cost needs costs", mend="Give cost={true: {assigned: cost}}")
        return cls(goal=Goal.of(priced[0]), cost=priced[0], any_scale=True)

    @property
    def checks_scores(self) -> bool:
        """Whether scores passed for probabilities when they came in, or nothing is asked for which they must be."""
        return self.number is None and self.goal is None

    @property
    def keeps_scores(self) -> bool:
        """Whether scores must be at hand whatever is measured."""
        return self.goal is not None

    def applied(self, cases: Cases, settings: Settings) -> tuple[Cases, dict[str, Decision]]:
        """Assign the rows of every classifier that gave scores, and tell what was decided."""
        if self.goal is None:
            return cases, {}
        if not cases.scored:
            raise BadOption("a threshold is to be chosen, but there is no score", mend="Give scores for the event")
        if len(cases.scale) > 2:
            return self._at_least_cost(cases), {}
        tally, assigned, decisions = Tally.of(cases), dict(cases.assigned), {}
        for name, scores in cases.scores.items():
            if not scores.columns:
                continue
            assessment = Assessment(tally, settings, name)
            decision = decisions[name] = choose_threshold(assessment, self.goal, settings.seed).refuse_none(name)
            assigned[name] = scores.reaches(int(cases.scale.event_code or 0), decision.threshold)
        return replace(cases, assigned=assigned), decisions

    def _at_least_cost(self, cases: Cases) -> Cases:
        costs = None if self.cost is None else self.cost.matrix(cases.scale)
        if costs is None:
            raise BadOption(
                f"a threshold parts two classes, not {len(cases.scale)}",
                mend="With more classes, give cost= and threshold='cost'",
            )
        assigned = {
            name: least_cost(scores.columns, costs) if scores.columns else cases.assigned[name]
            for name, scores in cases.scores.items()
        }
        return replace(cases, assigned=assigned)

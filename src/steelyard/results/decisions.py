"""From scores to decisions: where to set the threshold, what that achieves, and when to decline.

A threshold that was chosen on some rows looks better on them than it is. So every choice comes with two values: what
it achieves on the rows at hand, and what it achieves on rows that had no part in it, found by choosing anew without
each tenth of the rows and trying the choice on that tenth.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..core.columns import as_number
from ..core.errors import BadOption, NoThreshold, quoted
from ..core.estimate import Estimate
from ..core.table import Table
from ..core.threads import chunks, over_rows
from ..families.ranking.one_against_rest import OneAgainstRest
from ..inference.settings import as_seed
from ..measures import NAMED, find, lacking, listed_names, refuse_of_class
from ..measures.counts import words_on_gains
from ..measures.registry import Measure
from ..states.statistics import CONFUSION, CONTINUUM
from .threshold_tables import Scatter, ThresholdTables, cells_at_thresholds

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Numbers, Places
    from .assessment import Assessment


LIMIT = re.compile(
    rf"\s*(?P<measure>{NAMED}\s*(?:\([^()]*\))?)\s*(?P<sign>>=|<=)\s*"
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
ALL_DIGITS = ".15g"  # 0.9999999 is not 1


class Limit(NamedTuple):
    """A condition on what a threshold achieves: sensitivity >= 0.8."""

    measure: Measure
    at_least: bool
    bound: float

    @classmethod
    def read(cls, text: str | Limit, known: Sequence[Measure] = ()) -> Limit:
        """Read a condition as users write it; one that was read already is as it is, and so are costs ``known``."""
        if isinstance(text, Limit):
            return text
        found = LIMIT.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            several = [part.strip() for part in text.split(" and ")] if isinstance(text, str) else []
            mend = f"Give several in a list: {several}" if len(several) > 1 else "Write it like 'sensitivity >= 0.8'"
            raise BadOption(f"the condition {quoted(text)} cannot be read", mend=mend)
        return cls(counted(found["measure"], known), found["sign"] == ">=", float(found["number"]))

    def met(self, values: Array) -> Marks:
        """Where it is met; an undefined value meets nothing."""
        compare = operator.ge if self.at_least else operator.le
        # A share of rows is not exactly a decimal number: 0.8 of 10 is met by 8.
        slack = 1e-12 * (1 if not self.at_least else -1)
        return np.asarray(compare(values, self.bound + slack))

    def __str__(self) -> str:
        """As it was written."""
        return f"{self.measure.label} {'>=' if self.at_least else '<='} {self.bound:{ALL_DIGITS}}"


def counted(name: str | Measure, known: Sequence[Measure] = ()) -> Measure:
    """A measure that is made of counts: these can be had at every threshold at once.

    Costs, and whatever else it needs, are those of the one of its name that is known, where nobody says others.
    """
    refuse_of_class(name)
    entry = find(name)
    same = [other for other in known if other.name == entry.name]
    if entry.needs and len(same) == 1:
        entry = same[0]
    if entry.statistic is not CONFUSION:
        if "at" in entry.parameters:
            raise BadOption(f"{entry.label} has a threshold of its own", mend="Say decision_curve() for all of them")
        why = "is made of measured values" if entry.statistic is CONTINUUM else "is the same at every threshold"
        raise BadOption(f"{entry.label} {why}", mend="Name a measure of counts, such as f1")
    if entry.needs:
        raise BadOption(f"{entry.label} needs {', '.join(entry.needs)}", mend=lacking(entry))
    return entry


def refuse_no_share(**options: Any) -> None:
    """Options that are shares lie between 0 and 1, where they are given."""
    for name, value in options.items():
        if value is not None and not 0 < as_number(value) < 1:
            raise BadOption(f"{name} is {quoted(value)}", mend="It lies between 0 and 1")


def conditions(where: Any) -> list[Any]:
    """What must hold: one condition, or several."""
    return list(where) if isinstance(where, Iterable) and not isinstance(where, str) else [where]


def written_goal(text: str) -> tuple[str, list[str], str | None] | None:
    """Return what one line of text says is to be best, what must hold, and which way is better where that is said.

    None where it is no such line.
    """
    plain = text.strip()
    if plain.startswith("best:"):
        return plain.removeprefix("best:"), [], None
    found = re.fullmatch(r"(?P<way>max|min)\s+(?P<measure>.+?)(?:\s+where\s+(?P<limits>.+))?", plain)
    if found is None:
        return None
    return found["measure"], found["limits"].split(" and ") if found["limits"] else [], found["way"]


@dataclass(frozen=True)
class Goal:
    """What a threshold is chosen for: the best value of a measure, under conditions.

    Attributes:
        measure: What is to be best.
        limits: What must hold.
        prevalence: The share of the event where the threshold will be used; that of the rows if not given.
        guarantee: The probability with which the conditions must hold for all rows to come; None to hold them against
            the rows at hand.
    """

    measure: Measure
    limits: tuple[Limit, ...] = ()
    prevalence: float | None = None
    guarantee: float | None = None

    @classmethod
    def of(
        cls,
        measure: str | Measure,
        where: Any = (),
        prevalence: Any = None,
        guarantee: Any = None,
        way: str | None = None,
        known: Sequence[Measure] = (),
    ) -> Goal:
        """Check what a user asks for; where it is said which way is better, that too."""
        entry = counted(measure, known).with_better_end()
        if way is not None and (way == "max") != (entry.better == "higher"):
            mend = f"Say {'max' if entry.better == 'higher' else 'min'} {entry.label}"
            raise BadOption(f"of {entry.label}, {entry.better} is better", mend=mend)
        limits = tuple(Limit.read(text, known) for text in conditions(where))
        refuse_no_share(prevalence=prevalence, guarantee=guarantee)
        if guarantee is not None and not limits:
            raise BadOption("a guarantee needs a condition", mend="Say where='sensitivity >= 0.8'")
        return cls(entry, limits, prevalence, guarantee)

    @classmethod
    def read(cls, text: str, known: Sequence[Measure] = ()) -> Goal:
        """Read a goal as users write it: "best:f1", "max specificity where sensitivity >= 0.8"."""
        written = written_goal(text)
        if written is None:
            raise BadOption(
                f"the threshold {quoted(text)} cannot be read",
                mend="Give a number, 'best:f1', 'cost' or 'max specificity where sensitivity >= 0.8'",
            )
        measure, where, way = written
        return cls.of(measure, where, way=way, known=known)

    @property
    def measures(self) -> list[Measure]:
        """The measure, and those of the conditions."""
        return [self.measure, *[limit.measure for limit in self.limits]]

    def choose(self, tables: ThresholdTables, allowed: Marks | None = None) -> int | None:
        """The place of the best threshold, the highest of equally good ones; None where none will do."""
        values = tables.values(self.measures)
        fit = ~np.isnan(values[0])
        if allowed is None:
            for limit, held in zip(self.limits, values[1:], strict=True):
                fit &= limit.met(held)
        else:
            fit &= allowed
        if not fit.any():
            return None
        sign = 1.0 if self.measure.better == "higher" else -1.0
        ranked = np.where(fit, sign * values[0], -np.inf)
        best = ranked.max()
        return int(np.argmax(ranked >= (best - 1e-12 * abs(best) if np.isfinite(best) else best)))

    def __str__(self) -> str:
        """In words."""
        where = f" where {' and '.join(map(str, self.limits))}" if self.limits else ""
        at = "" if self.prevalence is None else f" at prevalence {self.prevalence:{ALL_DIGITS}}"
        sure = "" if self.guarantee is None else f", guaranteed with probability {self.guarantee:{ALL_DIGITS}}"
        return f"{'highest' if self.measure.better == 'higher' else 'lowest'} {self.measure.label}{at}{where}{sure}"


FOLDS, REPEATS = 10, 5
NONE_LEFT = "without the one cluster, or row, there is nothing to choose by"
MANY_ROWS = 100_000  # from which on one round of tenths is as good as five


@dataclass(frozen=True, eq=False)
class Decision:
    """A threshold, what it was chosen for, and what it achieves.

    Attributes:
        goal: What it was chosen for.
        threshold: A row is assigned to the event when its score is this or more; NaN where no threshold will do.
        also: Scores down to this one, but not including it, would do the same as a threshold.
        value: What it achieves on the rows that it was chosen on.
        honest: The same on rows that had no part in the choice.
        limits: What it achieves where conditions were set: on the same rows, and on others.
        note: What there is to know.
        assessment: All measures at this threshold, on the rows that it was chosen on.
    """

    goal: Goal
    threshold: float
    also: float
    value: Estimate | None
    honest: Estimate | None
    limits: tuple[tuple[Estimate, Estimate], ...]
    note: str
    assessment: Assessment | None = field(repr=False, default=None)

    @property
    def found(self) -> bool:
        """Whether there is such a threshold."""
        return self.value is not None

    def refuse_none(self, name: str) -> Decision:
        """Say what stands in the way where there is no such threshold for a classifier."""
        if not self.found:
            raise NoThreshold(f"no threshold of {quoted(name)} has the {self.goal}", mend=self.note)
        return self

    def __str__(self) -> str:
        """In a few lines."""
        from ..core.text import down_to

        if self.value is None or self.honest is None:
            return f"no threshold: {self.goal}; {self.note}"
        lines = [f"threshold {down_to(self.threshold, self.also)}: {self.goal}"]
        pairs = [(self.goal.measure.label, self.value, self.honest)]
        pairs += [(str(limit), *both) for limit, both in zip(self.goal.limits, self.limits, strict=True)]
        for label, here, elsewhere in pairs:
            lines.append(f"  {label}: {here}; on rows that had no part in the choice {elsewhere}")
        return "\n".join([*lines, *([f"  {self.note}"] if self.note else [])])

    __repr__ = __str__


@dataclass(frozen=True)
class Thresholds:
    """All thresholds of the score of one class, from the highest on; at the first one no row is assigned to it."""

    one: OneAgainstRest
    prevalence: float | None = None

    @cached_property
    def scores(self) -> Array:
        """The thresholds."""
        return np.concatenate([[np.inf], self.one.ranking.thresholds])

    @property
    def unit(self) -> float:
        """What one independent row weighs."""
        return self.one.population.independent_row

    @property
    def own_weight(self) -> Array:
        """What the rows weigh, in the order of the scores."""
        return self.one.in_order(self.one.population.weights.mass)

    def tables(self) -> ThresholdTables:
        """The table at every threshold."""
        found = self.table_of(cells_at_thresholds(self.one, self.own_weight))
        return found if self.one.population.alike else replace(found, scatter=Scatter.of(self.one))

    def table_of(self, cells: Array) -> ThresholdTables:
        """Tables with the prevalence that was asked for."""
        population = self.one.population
        return ThresholdTables(cells, population.scale, self.one.code, self.unit, self.prevalence, population.freedom)

    def frame(
        self,
        measures: Sequence[str | Measure],
        level: float | None,
        known: Sequence[Measure] = (),
        stand_in: float = float("nan"),
    ) -> Table:
        """Every threshold that there can be in a row: the table there, and some measures with their intervals.

        What stands in for an undefined value was not estimated: it has no interval.
        """
        chosen, tables = [counted(name, known) for name in measures], self.tables()
        columns: dict[str, Any] = {"threshold": self.scores.tolist()}
        columns |= {name: cell.tolist() for name, cell in zip(("tp", "fn", "fp", "tn"), tables.shown, strict=True)}
        values = tables.values(chosen)
        bounds = (values, values) if level is None else tables.bounds(chosen, level)
        for place, measure in enumerate(chosen):
            columns[measure.label] = np.where(np.isnan(values[place]), stand_in, values[place]).tolist()
            if level is not None:
                columns |= {f"{measure.label}_low": bounds[0][place].tolist()}
                columns |= {f"{measure.label}_high": bounds[1][place].tolist()}
        return Table({name: column[self.first :] for name, column in columns.items()})

    @property
    def first(self) -> int:
        """The place of the highest: none lies above a score that is infinite, so that no row is assigned."""
        return int(np.isposinf(self.scores[1]))

    def guaranteed(self, goal: Goal, cells: Array) -> Marks | None:
        """Where the conditions hold for all rows to come with the probability asked for; None where none was.

        A threshold with so many rows of a class on the wrong side of it has a true error that is spread as a Beta
        variable, whatever the scores are (Wilks 1941): only the number of rows on the wrong side matters.
        """
        if goal.guarantee is None:
            return None
        if not self.one.population.alike:
            raise BadOption("a guarantee needs independent rows that weigh the same", mend="Leave guarantee= out")
        allowed = np.ones(cells.shape[1], dtype=bool)
        for limit in goal.limits:
            wrong, size, share = wrong_side(limit, cells)
            allowed &= wrong <= _most_wrong(size, share, 1 - (1 - goal.guarantee) / len(goal.limits))
        return allowed

    # --- the choice -----------------------------------------------------------------------------------------

    def choose(self, goal: Goal, weight: Array | None = None) -> int | None:
        """The place of the best threshold for a goal."""
        cells = cells_at_thresholds(self.one, self.own_weight if weight is None else weight)[:, self.first :]
        place = goal.choose(self.table_of(cells), self.guaranteed(goal, cells))
        return None if place is None else place + self.first

    def held_out(self, goal: Goal, seed: int = 0) -> Array:
        """The table of rows that had no part in the choice of the threshold by which they were assigned: (4, 1)."""
        mass, random = self.own_weight, np.random.default_rng(seed)
        repeats = REPEATS if len(mass) <= MANY_ROWS else 1
        cells = np.zeros(4)
        for _ in range(repeats):
            fold = self._folds(random)
            for number in range(FOLDS):
                out = fold == number
                if out.all():
                    continue
                place = self.choose(goal, np.where(out, 0.0, mass))
                # Where no threshold will do, no row is assigned to the class.
                cells += cells_at_thresholds(self.one, np.where(out, mass, 0.0))[:, place or 0]
        return cells[:, None] / repeats

    def _folds(self, random: np.random.Generator) -> Places:
        """Part the rows into tenths at random, each class apart; rows of one cluster stay together."""
        cluster = self.one.sides.cluster
        if cluster is not None:
            return np.asarray(random.permutation(int(cluster.max()) + 1) % FOLDS)[cluster]
        fold = np.empty(len(self.one.truth), dtype=np.int64)
        for side in (self.one.positive, ~self.one.positive):
            fold[side] = random.permutation(int(side.sum())) % FOLDS
        return fold


def threshold_table(
    assessment: Assessment, measures: Any, label: Any, prevalence: float | None, intervals: bool
) -> Table:
    """Measures of counts at all thresholds; see ``Assessment.thresholds``."""
    refuse_no_share(prevalence=prevalence)
    named, settings = listed_names(measures), assessment.settings
    if not named:
        raise BadOption("no measure is asked for", mend="Name at least one, or leave measures= out")
    every = Thresholds(assessment.event_ranking(label), prevalence)
    return every.frame(named, settings.level if intervals else None, settings.measures, settings.stand_in)


def wrong_side(limit: Limit, cells: Array) -> tuple[Array, float, float]:
    """How many rows of a class are on the wrong side of each threshold, of how many; the share that must not be."""
    tp, fn, fp, tn = cells
    sides = {"sensitivity": (fn, True), "fnr": (fn, False), "specificity": (fp, True), "fpr": (fp, False)}
    if limit.measure.name not in sides or limit.at_least != sides[limit.measure.name][1]:
        raise BadOption(
            f"{quoted(str(limit))} cannot be guaranteed",
            mend="Only sensitivity or specificity of at least, fpr or fnr of at most, so much can be",
        )
    wrong, at_least = sides[limit.measure.name]
    size = float((tp + fn)[0] if wrong is fn else (fp + tn)[0])
    return wrong, size, float(np.clip(limit.bound if at_least else 1 - limit.bound, 0.0, 1.0))


def _most_wrong(size: float, share: float, probability: float) -> int:
    """How many rows of a class may be on the wrong side of a threshold; -1 where even none is too many."""
    from scipy.special import betaincc

    wrong = np.arange(int(size))
    sure = betaincc(size - wrong, wrong + 1, share) >= probability
    return int(np.flatnonzero(sure)[-1]) if sure.any() else -1


def best_threshold(
    assessment: Assessment,
    measure: str | Measure,
    where: Any,
    prevalence: float | None,
    guarantee: float | None,
    seed: int | None,
) -> Decision:
    """Choose a threshold by a measure, or by all of a goal in one line; see ``Assessment.best_threshold``."""
    written, way = written_goal(measure) if isinstance(measure, str) else None, None
    if written is not None:
        measure, limits, way = written
        where = [*limits, *conditions(where)]
    goal = Goal.of(measure, where, prevalence, guarantee, way, assessment.settings.measures)
    return choose_threshold(assessment, goal, as_seed(seed, assessment.settings.seed))


def choose_threshold(assessment: Assessment, goal: Goal, seed: int = 0) -> Decision:
    """Choose a threshold for the event, and tell what it achieves."""
    assessment.code_of_two()
    thresholds = Thresholds(assessment.event_ranking(), goal.prevalence)
    place = thresholds.choose(goal)
    if place is None:
        return Decision(goal, float("nan"), float("nan"), None, None, (), _why_not(goal, thresholds))
    threshold = float(thresholds.scores[place])
    there = assessment.at_threshold(threshold)
    if goal.prevalence is None:
        here = [there.by(measure)[measure] for measure in goal.measures]
    else:
        here = _estimates(thresholds.tables().at(np.array([place])), goal, assessment)
    # What one independent row weighs is judged by the errors at this threshold, not by those at another one before.
    held_out = replace(thresholds.table_of(thresholds.held_out(goal, seed)), unit=there.evaluation.unit)
    elsewhere = _estimates(held_out, goal, assessment)
    below = float(thresholds.scores[place + 1]) if place + 1 < len(thresholds.scores) else float("-inf")
    limits = tuple(zip(here[1:], elsewhere[1:], strict=True))
    notes = ["no row is assigned to the event"] if place == 0 else []
    matrix = goal.measure.matrix(assessment.tally.scale)
    notes += [] if matrix is None else filter(None, [words_on_gains(assessment.tally.scale, matrix)])
    return Decision(goal, threshold, below, here[0], elsewhere[0], limits, "; ".join(notes), there)


def _estimates(tables: ThresholdTables, goal: Goal, assessment: Assessment) -> list[Estimate]:
    """The measures of a goal on one table; what stands in for an undefined value has no interval."""
    event, stand_in = assessment.tally.scale.event, assessment.settings.stand_in
    level, clustered = assessment.settings.level, ", clustered" * assessment.ranked.clustered
    values, (low, high) = tables.values(goal.measures)[:, 0], tables.bounds(goal.measures, level)
    errors, unknown = tables.errors(goal.measures)[:, 0], np.isnan(values)
    stands = "" if np.isnan(stand_in) else f"; {stand_in:g} stands in"
    reasons = [measure.undefined.replace("{class}", quoted(event)) + stands for measure in goal.measures]
    return [
        Estimate(
            float(stand_in if unknown[place] else values[place]),
            float(np.nan if unknown[place] else low[place, 0]),
            float(np.nan if unknown[place] else high[place, 0]),
            float(errors[place]),
            assessment.n,
            tables.rule(measure).method + clustered,
            measure=measure.label,
            label=event,
            note=NONE_LEFT + stands if not tables.cells.any() else reasons[place] if unknown[place] else "",
            level=level,
        )
        for place, measure in enumerate(goal.measures)
    ]


def _why_not(goal: Goal, thresholds: Thresholds) -> str:
    """What stands in the way of a goal."""
    tables = thresholds.tables()
    if goal.guarantee is not None:
        for limit in goal.limits:
            _, size, share = wrong_side(limit, cells_at_thresholds(thresholds.one, thresholds.own_weight))
            if _most_wrong(size, share, 1 - (1 - goal.guarantee) / len(goal.limits)) < 0:
                if share == 1:  # however many rows there are, one to come may be on the wrong side
                    return f"{limit} cannot be guaranteed by any number of rows"
                needed = np.ceil(np.log((1 - goal.guarantee) / len(goal.limits)) / np.log(share))
                return f"{limit} cannot be guaranteed by {size:g} rows; {needed:g} would do, all on the right side"
    values_of = dict(zip([measure.label for measure in goal.measures], tables.values(goal.measures), strict=True))
    for label, values in values_of.items():
        if np.isnan(values).all():
            return f"{label} is undefined at every threshold"
    for limit in goal.limits:
        values = values_of[limit.measure.label]
        if not limit.met(values).any():
            most = np.nanmax(values) if limit.at_least else np.nanmin(values)
            return f"{limit} is met at no threshold: the {'most' if limit.at_least else 'least'} is {most:.4g}"
    return "no threshold meets all conditions"


# --- more than two classes, and no decision at all ------------------------------------------------------------------


def least_cost(
    columns: Sequence[Numbers], costs: Array, decline: float | None = None, event: int | None = None
) -> Codes:
    """Assign every row to the class with the least expected cost; -1 where declining costs less.

    Where several classes cost as little, the event wins, or else the first of them.

    Args:
        columns: The probability of each class.
        costs: What it costs to assign a row of a class (rows) to a class (columns).
        decline: What it costs not to decide.
        event: The class that wins ties.
    """
    codes = np.empty(len(columns[0]), dtype=np.int64)

    def work(start: int, stop: int) -> None:
        for low, high in chunks(start, stop):
            expected = np.stack([column[low:high] for column in columns], axis=1).astype(np.float64) @ costs
            least, codes[low:high] = expected.min(axis=1), expected.argmin(axis=1)
            if event is not None:
                codes[low:high][expected[:, event] == least] = event
            if decline is not None:
                codes[low:high][least > decline] = -1

    over_rows(len(codes), work)
    return codes

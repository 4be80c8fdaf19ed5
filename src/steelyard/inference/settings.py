"""What a user may say about how results are computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypedDict, TypeVar

from ..core.cached import cached_property
from ..core.columns import as_number
from ..core.errors import BadOption, UnknownMeasure, quoted
from ..core.scale import listed
from ..core.suggestions import refuse_no_count, refuse_no_seed, refuse_unknown
from ..inputs.dataset import NEEDS, RESPONSE, RESPONSE_SD, SD, Available
from ..measures import choose, find
from ..measures.registry import REGISTRY, Measure
from ..measures.table_formulas import Formulas
from ..states.statistics import CALIBRATION, CONFUSION, CONTINUUM, FORECASTS, PARTITION, RANKING, Statistic

Method = Literal["delta", "plain", "bootstrap", "percentile", "bca"]
STANDARDISE = (
    "Make probabilities of them: 1 / (1 + exp(-score)) of a log odds, standardise(scores, 'softmax') of several, "
    "or 'shift' for shares of their sum; better, fit a calibration (Platt's, isotonic) on other data"
)
METHODS = ("delta", "plain", "bootstrap", "percentile", "bca")
Otherwise = TypeVar("Otherwise", int, None)
ALONE = "prediction"  # what the one classifier of ``assess`` is called
PRICED = ("cost", "expected_cost", "decision_cost")


@dataclass(frozen=True)
class Settings:
    """How results are computed: which measures, at what level, by which method.

    Attributes:
        measures: What to compute.
        level: Coverage of the intervals.
        method: "delta" (on the scale that suits a measure); "plain" (value and standard error, nothing else); or
            "bootstrap" (BCa), or one of its kinds by name: "bca", "percentile".
        replicates: How many bootstrap samples.
        seed: Where their random numbers start.
        undefined: What stands in for an undefined value: NaN, a number, or "error".
        least: Subgroups of fewer rows are not reported.
        everything: Whether nobody asked for these measures by name: they are all that there are.
    """

    measures: tuple[Measure, ...]
    level: float = 0.95
    method: Method = "delta"
    replicates: int = 10_000
    seed: int = 0
    undefined: float | Literal["error"] = float("nan")
    everything: bool = False
    least: int = 0

    def __post_init__(self) -> None:
        """Check the options."""
        refuse_level(self.level)
        refuse_unknown("method", self.method, METHODS)
        refuse_no_count("replicates", self.replicates)
        refuse_no_seed(self.seed)
        if isinstance(self.least, bool) or not (as_number(self.least) >= 0 and as_number(self.least) % 1 == 0):
            raise BadOption(f"least is {quoted(self.least)}", mend="Give a number of rows, as in least=20")
        number = isinstance(self.undefined, float) or as_number(self.undefined) < float("inf")
        if not (number or (isinstance(self.undefined, str) and self.undefined == "error")):
            raise BadOption(f"undefined is {quoted(self.undefined)}", mend="Say 'error' or give a number")
        if not self.measures:
            raise BadOption("no measure is asked for", mend="Name at least one, or leave measures= out")

    @cached_property
    def resampled(self) -> bool:
        """Whether intervals come from bootstrap samples."""
        return self.method not in ("delta", "plain")

    def made_of(self, statistic: Statistic) -> tuple[Measure, ...]:
        """The measures that are made of one statistic."""
        return self._by_statistic.get(statistic.name, ())

    @cached_property
    def _by_statistic(self) -> dict[str, tuple[Measure, ...]]:
        """The measures by what they are made of, which is asked again and again."""
        found: dict[str, list[Measure]] = {}
        for measure in self.measures:
            found.setdefault(measure.statistic.name, []).append(measure)
        return {name: tuple(measures) for name, measures in found.items()}

    @cached_property
    def by_label(self) -> dict[str, Measure]:
        """The measures by their labels."""
        return {measure.label: measure for measure in self.measures}

    @cached_property
    def asked(self) -> tuple[tuple[Measure, str], ...]:
        """The measures that were asked for by names that need a word, with these names."""
        return tuple((measure, name) for measure in self.measures for name in measure.asked)

    @cached_property
    def formulas(self) -> Formulas:
        """The measures that are made of counts."""
        return Formulas(self.made_of(CONFUSION))

    @cached_property
    def ranks_alone(self) -> bool:
        """Whether nothing but measures of ranking is asked for."""
        return len(self.made_of(RANKING)) == len(self.measures)

    @cached_property
    def costs(self) -> Measure | None:
        """The measure of cost, where costs are given."""
        return next((measure for measure in self.measures if measure.name == "cost"), None)

    @property
    def of_rows(self) -> bool:
        """Whether any measure is made of rows, not of counts."""
        return len(self.made_of(CONFUSION)) < len(self.measures)

    @property
    def of_forecasts(self) -> bool:
        """Whether measures of probability forecasts are asked for by name."""
        return not self.everything and any(map(self.made_of, (FORECASTS, CALIBRATION, PARTITION)))

    @property
    def of_ranks(self) -> bool:
        """Whether any measure is made of the order of scores."""
        return any(measure.statistic is RANKING or measure.ranks_classes for measure in self.measures)

    @property
    def of_counts(self) -> bool:
        """Whether nothing but counts is asked for."""
        return not self.everything and not self.of_rows

    def summed(self, known: Collection[str] | None) -> Settings:
        """Where nobody asked for measures by name: those of counts, and those that rows were summed for."""
        if known is None or not self.everything:
            return self
        kept = [each for each in self.measures if each.statistic is CONFUSION or each.label in known]
        return replace(self, measures=tuple(kept))

    def fitted(self, given: Available) -> Settings:
        """Leave out measures that cannot be made of what there is; one that was asked for by name is missed.

        Labels can be scored as forecasts of probability 1, if somebody asks for that; scores on another scale cannot.
        """
        if given not in self._fitted:
            self._fitted[given] = self._fit(given)
        return self._fitted[given]

    @cached_property
    def _fitted(self) -> dict[Available, Settings]:
        return {}

    def _fit(self, given: Available) -> Settings:
        missed: tuple[Measure, ...] = () if given.scored and given.kept else self.made_of(RANKING)
        if not (given.probable and given.kept) or (not given.scored and self.everything):
            ranks = given.ordered and given.kept
            missed += tuple(each for each in self.made_of(FORECASTS) if not (ranks and each.ranks_classes))
            missed += self.made_of(CALIBRATION) + self.made_of(PARTITION)
        if given.unassigned:
            missed += self.made_of(CONFUSION)
        continuous = self.made_of(CONTINUUM)
        lost = given.measured is None or given.unassigned
        missed += continuous if lost else tuple(each for each in continuous if _lacking(each, given))
        if not missed:
            return self
        if self.everything:
            # By label, which is theirs alone: to compare measures is to compare all of their facts.
            out = {measure.label for measure in missed}
            return replace(self, measures=tuple(measure for measure in self.measures if measure.label not in out))
        if given.unassigned and missed[0].statistic in (CONFUSION, CONTINUUM):
            raise _no_threshold(missed[0], given.unassigned)
        if missed[0].statistic is CONTINUUM:
            need = _lacking(missed[0], given)[0]
            raise UnknownMeasure(f"{missed[0].label} needs {need}", mend=MENDS[need])
        if not given.kept:
            raise UnknownMeasure(
                f"{missed[0].label} needs scores, and nothing but the classes that they assigned was counted",
                mend=f"Count the rows with measures=[{quoted(missed[0].label)}], or leave measures= out there",
            )
        if not given.scored:
            raise UnknownMeasure(
                f"{missed[0].label} needs scores, and there are only labels",
                mend="Give a score for the event, or one membership column a class",
            )
        raise UnknownMeasure(
            f"{missed[0].label} needs probabilities, and scores on another scale are none",
            mend=f"Give membership= if they are probabilities. {STANDARDISE}" if given.raw else STANDARDISE,
        )

    @cached_property
    def stand_in(self) -> float:
        """The number that stands in for an undefined value."""
        return float("nan") if self.undefined == "error" else float(self.undefined)


def _no_threshold(measure: Measure, names: Sequence[str]) -> UnknownMeasure:
    """The error for a measure of predicted classes where scores predict none."""
    alone = len(names) == 1 and names[0] == ALONE
    number = "0.5" if alone else f"{{{', '.join(f'{quoted(name)}: 0.5' for name in names)}}}"
    return UnknownMeasure(
        f"{measure.label} needs predicted classes, and no threshold is given for the scores"
        f"{'' if alone else ' of ' + listed(list(names), 3)}",
        mend=f"Give threshold={number}, on the scale of the scores; of more than two classes, the predicted classes",
    )


MEASURED = "a truth that was measured"
MENDS = {
    MEASURED: "Say where classes are cut: scale=Continuum([65], ['dry', 'wet'])",
    SD: "Give the standard deviation of the measurement error: sd=0.22, or one a row",
    RESPONSE_SD: "Give the standard deviation of the response around its mean, sd_response=0.3; see intrinsic_sd",
    RESPONSE: "Give response=fit_response(covariates, measured, sd), or (mean, sd) of your own model, out of fold",
}


def _lacking(measure: Measure, given: Available) -> list[str]:
    """What a measure of a continuum needs, and there is not."""
    if given.measured is None:
        return [MEASURED]
    needed = dict.fromkeys(need for name in measure.arguments for need in NEEDS.get(name, ()))
    return [need for need in needed if need not in given.measured]


def refuse_level(level: Any) -> None:
    """Raise the error for what is no coverage of intervals."""
    if not (0 < as_number(level) < 1 and (1 + as_number(level)) / 2 < 1):  # but for rounding, so it is
        raise BadOption(f"level is {quoted(level)}", mend="It lies between 0 and 1, as in level=0.95")


def as_seed(seed: Any, otherwise: Otherwise) -> int | Otherwise:
    """The seed that a user gives, or another where there is none."""
    if seed is None:
        return otherwise
    if isinstance(seed, bool) or not (as_number(seed) >= 0 and as_number(seed) % 1 == 0):
        raise BadOption(f"seed is {quoted(seed)}", mend="Give a whole number, 0 or above, or None")
    return int(seed)


class Options(TypedDict, total=False):
    """What a user may say, by name."""

    measures: Iterable[str | Measure] | None
    cost: Any
    level: float
    method: Method
    undefined: Any
    replicates: int
    seed: int
    least: int


def settle(measures: Iterable[str | Measure] | None = None, cost: Any = None, **options: Any) -> Settings:
    """Make settings of what a user says; costs bring their measure along.

    Settings by names and numbers are kept, with what follows from them: to assess small data takes less time.
    """
    names = [measures] if isinstance(measures, str | Measure) else measures
    if cost is not None:
        priced = find("cost", costs=cost)
        if names is None:
            return Settings((*choose(None), priced, find("decision_cost", costs=cost)), everything=True, **options)
        wanted = [find(name, costs=cost) if isinstance(name, str) and name in PRICED else name for name in names]
        return Settings(choose([*wanted, priced]), **options)
    plain = names is None or (isinstance(names, list | tuple) and {*map(type, names)} <= {str})
    if plain and {*map(type, options.values())} <= {str, int, float}:
        known = tuple(map(id, REGISTRY.values()))
        return _kept(known, None if names is None else tuple(map(str, names)), **options)
    return Settings(choose(names), everything=names is None, **options)


@lru_cache(maxsize=32, typed=True)
def _kept(known: tuple[int, ...], names: tuple[str, ...] | None, **options: Any) -> Settings:
    del known  # which measures there are
    return Settings(choose(names), everything=names is None, **options)

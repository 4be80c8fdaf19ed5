"""What a measure is, and the list of all of them.

A measure asks for the means it is made of by the names of its arguments. Of a class against the rest:

- ``tp``, ``fn``, ``fp``, ``tn``: the class's own 2x2 table; the measure is then computed for every class.

Of the whole table:

- ``correct``, ``true``, ``assigned``: vectors over the classes (diagonal, row sums, column sums) in the last axis;
- ``total``: the sum of all;
- ``penalty``: the sum of a matrix over the table (the matrix itself is ``matrix``).

Of the scores, for every class against the rest, from the highest score to the lowest in the last axis:

- ``positive``, ``negative``: the mass of the class, and of the rest, at each distinct score;
- ``hits``, ``alarms``: the same at each score and above.

Of probability forecasts: what one row is worth, from its forecast and its true class; ``measures/scores.py`` lists the
names.

Its keyword-only arguments are parameters. Formulas of counts are analytic (no ``abs``, ``where`` or ``max``), since
their gradients come by complex step; those of rankings bring their ``slopes`` along. No value changes when all counts
are multiplied by one number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from ..core.cached import cached_property
from ..core.columns import as_number
from ..core.errors import BadOption, UnknownMeasure, quoted
from ..core.scale import Scale, listed
from ..maths.formula_arguments import ONE_BY_ONE, STEP, offered_of_classes, slope
from ..states.statistics import CALIBRATION, CONFUSION, CONTINUUM, FORECASTS, PARTITION, RANKING, STATISTICS, Statistic

if TYPE_CHECKING:
    from ..core.typing import Array

Formula = Callable[..., Any]
Better = Literal["higher", "lower", "neither"]
Kind = TypeVar("Kind", bound=Formula)

PLAIN = (str, int, float, tuple, type(None))  # what a parameter can be to be shown
UNBOUNDED = (float("-inf"), float("inf"))
AVERAGES = ("macro", "weighted", "micro")  # the last of counts only
# The scale without ends that suits a span; of all other spans, an interval is that of a mean.
BY_SPAN = {
    (0.0, 1.0): "delta.logit",
    (0.0, 2.0): "delta.log",
    (0.0, float("inf")): "delta.log",
    (-1.0, 1.0): "delta.fisher",
    (float("-inf"), 1.0): "delta.log_of_rest",
}


class Facts(NamedTuple):
    """The facts of a measure that say where its values stand and how their intervals are made.

    One that is ``undivided`` has no values of single classes.
    """

    label: str
    per_class: bool
    undivided: bool
    interval: str
    span: tuple[float, float]


@dataclass(frozen=True)
class Measure:
    """A named formula with the facts that everything else is derived from.

    Attributes:
        name: How it is asked for.
        title: How it is shown.
        formula: The maths: means in, value out. A ratio may return its numerator and its denominator, and a proportion
            does.
        better: Which direction is better.
        span: The values that it can take.
        undefined: Why it has no value where it has none; ``{class}`` stands for the class.
        cite: Where the definition comes from.
        chance: Its value for a classifier that guesses; "1/C" for one over the number of classes.
        interval: The rule that makes its intervals, a file in ``inference/rules``; the usual one where none is named.
        counted: For measures of measured values: the share of rows among the means, near which the value stays.
        summed: For measures of forecasts: the one of which it is the sum over all classes.
        wavering: For measures that take one of two estimates, by a doubt: what the choice adds to the standard error,
            from the same as the formula; below 0 where the value falls as the doubt grows.
        latent: For measures that bound a property of the rows themselves: the mean that only estimates what these rows
            have, such as the share of wrong labels, and the mean of its square in a row. Their intervals also cover the
            bound that follows from what the rows really have.
        signed_root: For measures that are a square, and 0 where its root would be negative: the formula of that root.
        contrast: The rule that judges its differences, a file in ``inference/contrasts``; the usual one where none is
            named.
        slopes: For measures of rankings: the derivatives of the formula by the mass of the class and that of the rest.
        corners: For measures of rankings: whether only the corners of the ROC curve matter, so that rows of one side
            that stand next to each other are alike.
        balanced: For measures of rankings: whether all classes of the rest weigh the same. Such a measure stands for
            the mean over all classes even where there is an event.
        fair: For measures of rankings that are fitted to the rows which they judge: a formula for the middle of the
            interval, with what that gains taken off; of positive, negative, and what a row weighs.
        least: For measures of rankings that rate ties higher than any order of the tied: the least value that rows can
            have which are told apart only in part; of positive, negative, and where rows are mixed.
        special: Whether it is computed only where somebody asks for it: for a special purpose, or dear.
        spanned: For measures whose parameters say which values they can take: the span, from these.
        penalty: For measures of a penalty: what makes the matrix, from the scale and the parameters.
        parameters: Values of the keyword-only arguments.
        ranges: The least and the greatest number that parameters may be, where they are numbers.
        aliases: Other names for the same measure.
        cautions: Of those aliases that mean another number elsewhere: what the measure is here, by alias.
        terms: The names that its sources give it, as they are written there, and where. They are aliases, too.
        with_class: Names that mean it where a class follows, as in "CR 1"; alone they are aliases of another measure.
        asked: The names that it was asked for by and that need a word: those with a caution, or with a class.
    """

    name: str
    title: str
    formula: Formula
    better: Better
    span: tuple[float, float]
    undefined: str
    cite: str
    chance: float | Literal["1/C"] | None = None
    interval: str = ""
    counted: str | None = None
    summed: str | None = None
    wavering: Formula | None = None
    latent: tuple[str, str] | None = None
    signed_root: Formula | None = None
    contrast: str = ""
    slopes: Callable[..., tuple[Array, Array]] | None = None
    corners: bool = False
    balanced: bool = False
    fair: Formula | None = None
    least: Formula | None = None
    special: bool = False
    spanned: Callable[..., tuple[float, float]] | None = None
    penalty: Callable[..., Array] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    cautions: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    with_class: tuple[str, ...] = ()
    asked: tuple[str, ...] = field(default=(), compare=False)

    def __reduce__(self) -> tuple[type[Measure], tuple[Any, ...]]:
        """Copy and pickle the facts alone: what was derived from them is derived anew, and stays what it is."""
        facts = (getattr(self, each.name) for each in fields(self))
        return Measure, tuple(dict(fact) if isinstance(fact, Mapping) else fact for fact in facts)

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The means that the formula asks for."""
        signature = inspect.signature(self.formula).parameters.values()
        return tuple(argument.name for argument in signature if argument.kind is not argument.KEYWORD_ONLY)

    @cached_property
    def means(self) -> tuple[str, ...]:
        """The means that the formula and the interval ask for."""
        return tuple(dict.fromkeys((*self.arguments, *(self.latent or ()))))

    @cached_property
    def rooted(self) -> Measure | None:
        """The signed root as a measure of its own, for measures that are the square of one."""
        if self.signed_root is None:
            return None
        name = f"root of {self.name}"
        return replace(self, name=name, formula=self.signed_root, span=UNBOUNDED, latent=None, signed_root=None)

    @cached_property
    def statistic(self) -> Statistic:
        """What must have been collected to compute it."""
        return next(statistic for statistic in STATISTICS if statistic.offers(self.arguments))

    @cached_property
    def per_class(self) -> bool:
        """Whether it speaks of one class against the rest."""
        return set(self.arguments) <= self.statistic.of_a_class

    @cached_property
    def of_rows(self) -> bool:
        """Whether its value is the mean over the rows of what its formula says of one."""
        return self.statistic is FORECASTS and "mean" not in self.arguments

    @cached_property
    def facts(self) -> Facts:
        """What the place of its values and their intervals depend on."""
        undivided = self.penalty is not None or (self.statistic is not CONFUSION and not self.per_class)
        return Facts(self.label, self.per_class, undivided, self.interval_rule, self.span)

    @property
    def interval_rule(self) -> str:
        """The interval rule that was named, or the usual one of what it is made of and the values that it can take."""
        skewed = self.statistic in (CONTINUUM, PARTITION)
        if self.interval:
            return "shifted_wilson.unshifted" if skewed and self.interval == "wilson" else self.interval
        if skewed:
            return "hall"
        if self.statistic is CALIBRATION:
            return "bins"
        if "reference" in self.arguments:
            return "fieller"
        ended = self.of_rows and 0 == self.span[0] < self.span[1] < np.inf
        if ended or self.slopes is not None or self.spanned is not None:
            return "delta.logit"
        return BY_SPAN.get(self.span, "mean")

    @property
    def contrast_rule(self) -> str:
        """The contrast rule that was named, or the usual one of what it is made of and how its intervals are made."""
        if self.contrast:
            return self.contrast
        if self.statistic in (CONTINUUM, PARTITION):
            return "random_signs"
        if self.statistic is CALIBRATION:
            return "bins"
        if self.statistic is RANKING and self.interval_rule == "delta.logit":
            return "log_odds"
        return "unseen" if self.interval == "newcombe" else "smoothed"

    @cached_property
    def cells(self) -> Array | None:
        """What numerator and denominator take of the cells of a 2x2 table, (2, 4), where both are sums of cells.

        The formula tells when it is given tables of one row each. None where it is made of something else.
        """
        with np.errstate(divide="ignore", invalid="ignore"):  # most classes of such tables have no row
            parts = self.of(offered_of_classes(ONE_BY_ONE))
        if not isinstance(parts, tuple):
            return None
        taken, together = np.split(np.array(parts), [4], axis=1)
        adds_up = np.abs(taken @ ONE_BY_ONE[:, 4:] - together).max() <= 1e-14 * np.abs(together).max()
        return taken if adds_up else None

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """The parameters that were set to something else than the formula's own defaults."""
        defaults = {p.name: p.default for p in inspect.signature(self.formula).parameters.values()}
        return tuple(sorted(key for key, value in self.parameters.items() if not same(value, defaults[key])))

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The parameters that have no value yet, without which it cannot be computed."""
        return tuple(key for key, value in self.parameters.items() if value is None)

    @cached_property
    def label(self) -> str:
        """The name, with the parameters that were set; a matrix would say nothing there."""
        plain = [key for key in self.changed if isinstance(self.parameters[key], PLAIN)]
        shown = ", ".join(f"{key}={self.parameters[key]!r}" for key in plain)
        return f"{self.name}({shown})" if shown else self.name

    @property
    def ranks_classes(self) -> bool:
        """Whether only the order of the scores of a row matters, so that these need not be probabilities."""
        return {*self.arguments} <= {"ahead", "beside"}

    @property
    def summary(self) -> str:
        """The first line of the formula's docstring."""
        return (inspect.getdoc(self.formula) or "").partition("\n")[0]

    def caution(self, name: str, of: str = "the class named behind it") -> str:
        """Return what a reader must know who asked for it by a name with a caution, or with a class."""
        written = next((term for term in self.terms if as_alias(term) == name), name)
        return f"{written} is {self.name} here: {self.cautions.get(name) or f'that of {of}'}"

    def agrees_with(self, other: Measure) -> bool:
        """Whether the parameters that were set are those of another measure of the same name."""
        return all(same(other.parameters[key], self.parameters[key]) for key in self.changed)

    def with_better_end(self) -> Measure:
        """The measure itself, unless no value of it is better than another: then nothing can be judged by it."""
        if self.better == "neither":
            raise BadOption(f"no value of {self.label} is better than another", mend="Choose another measure")
        return self

    def loss(self, value: Any) -> Any:
        """A value, turned so that less is better."""
        return value if self.better == "lower" else -value

    def __call__(self, **means: Any) -> Any:
        """Evaluate: a ratio is divided out here, so that its parts stay at hand for its interval."""
        return self.divided(self.formula(**means, **self.parameters))

    def of(self, offered: Mapping[str, Any]) -> Any:
        """Give the formula what it asks for of all that is offered; a ratio stays in its parts."""
        return self.formula(*map(offered.__getitem__, self.arguments), **self.parameters)

    def value_of(self, offered: Mapping[str, Any]) -> Any:
        """The same, a ratio divided out."""
        result = self.of(offered)
        return result[0] / result[1] if isinstance(result, tuple) else result

    def slopes_by_name(self, offered: Mapping[str, Any], names: Collection[str]) -> dict[str, float]:
        """Return the derivatives by some of the numbers that it is offered, of those that it asks for."""
        asked = [name for name in self.arguments if name in names]
        with np.errstate(divide="ignore", invalid="ignore"):
            return {name: float(slope(self.value_of({**offered, name: offered[name] + STEP}))) for name in asked}

    def wavering_of(self, offered: Mapping[str, Any]) -> float:
        """What a choice between two estimates adds to the standard error, with the sign of its slope by the doubt."""
        if self.wavering is None:
            return 0.0
        return float(self.wavering(*map(offered.__getitem__, self.arguments), **self.parameters))

    def divided(self, result: Any) -> Any:
        """The value, from what the formula returned."""
        return result[0] / result[1] if isinstance(result, tuple) else result

    def sloping(self, **means: Any) -> tuple[Array, Array]:
        """Differentiate by the mass of the class and by that of the rest: for measures of rankings."""
        if self.slopes is None:
            raise TypeError(f"{self.name} is no measure of rankings")
        return self.slopes(**{name: means[name] for name in self._asked_by_slopes}, **self.parameters)

    @cached_property
    def _asked_by_slopes(self) -> tuple[str, ...]:
        names = () if self.slopes is None else inspect.signature(self.slopes).parameters
        return tuple(name for name in names if name not in self.parameters)

    def with_parameters(self, **parameters: Any) -> Measure:
        """Set parameters: ``find("fbeta").with_parameters(beta=0.5)``, which ``"fbeta(beta=0.5)"`` is short for."""
        for name, value in parameters.items():
            if name in self.ranges:
                low, high = self.ranges[name]
                if not (isinstance(value, Real) and low <= as_number(value) <= high):
                    raise BadOption(f"{name} is {quoted(value)}", mend=f"Give a number from {low:g} to {high:g}")
            if name not in self.parameters:
                raise UnknownMeasure(
                    f"{self.name} has no parameter {quoted(name)}",
                    mend=f"It takes {listed(list(self.parameters))}" if self.parameters else "It takes none",
                )
        known = {**self.parameters, **{name: _plain(value) for name, value in parameters.items()}}
        return replace(self, parameters=known, span=self.span if self.spanned is None else self.spanned(**known))

    def matrix(self, scale: Scale) -> Array | None:
        """The penalty matrix on a scale, for measures that have one."""
        return None if self.penalty is None else self.penalty(scale, **self.parameters)


def _plain(value: Any) -> Any:
    """A number of NumPy as the number that it is: names of measures show it, and are looked up by that."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def same(one: Any, other: Any) -> bool:
    """Whether values of parameters are the same, arrays among them; what cannot be compared is not."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    try:
        return one is other or bool(np.shape(one) == np.shape(other) and np.all(one == other))
    except Exception:  # a foreign object may raise anything
        return False


REGISTRY: dict[str, Measure] = {}
ALIASES: dict[str, str] = {}
WITH_CLASS: dict[str, str] = {}  # the measure that a name means where a class follows


def as_alias(term: str) -> str:
    """Return a name from the literature as aliases are written: type_i_error for "type I error"."""
    return term.lower().replace(" ", "_").replace("-", "_")


def _aliases_of(aliases: tuple[str, ...], facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the aliases of a measure, with those of its terms that need neither a caution nor a class."""
    terms = [each for each in facts.get("terms", ()) if not each.lower().startswith(tuple(facts.get("with_class", ())))]
    others = [as_alias(each) for each in terms]
    return tuple(dict.fromkeys((*aliases, *[each for each in others if each not in facts.get("cautions", ())])))


def measure(
    *,
    better: Better,
    undefined: str,
    cite: str,
    span: tuple[float, float] = (0.0, 1.0),
    title: str = "",
    aliases: tuple[str, ...] = (),
    **facts: Any,
) -> Callable[[Kind], Kind]:
    """Enter a formula into the list of measures under its own name."""

    def enter(formula: Kind) -> Kind:
        name = formula.__name__
        signature = inspect.signature(formula).parameters.values()
        parameters = {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY}
        entry = Measure(
            name=name,
            title=title or name.replace("_", " "),
            formula=formula,
            better=better,
            span=span,
            undefined=undefined,
            cite=cite,
            parameters=MappingProxyType(parameters),
            aliases=_aliases_of(aliases, facts),
            **facts,
        )
        _check(entry)
        REGISTRY[name] = entry
        ALIASES.update(dict.fromkeys((*entry.aliases, *entry.cautions), name))
        WITH_CLASS.update(dict.fromkeys(entry.with_class, name))
        return formula

    return enter


def proportion(**facts: Any) -> Callable[[Kind], Kind]:
    """Enter a plain proportion of rows: its formula returns numerator and denominator."""
    return measure(**{"interval": "wilson", **facts})


def _check(entry: Measure) -> None:
    if not any(statistic.offers(entry.arguments) for statistic in STATISTICS):
        kinds = [kind for each in STATISTICS for kind in (each.of_a_class, each.of_the_whole) if kind]
        offered = ", or ".join(f"some of {sorted(kind)}" for kind in kinds)
        raise UnknownMeasure(
            f"{entry.name} asks for {listed(entry.arguments) or 'nothing'}", mend=f"A formula asks for {offered}"
        )
    if (entry.statistic is RANKING) != (entry.slopes is not None):
        raise UnknownMeasure(
            f"{entry.name} has {'no ' if entry.slopes is None else ''}slopes",
            mend="Give slopes= to measures of rankings, and to no others",
        )
    if entry.statistic is RANKING and not np.isfinite(entry.span).all():
        raise UnknownMeasure(
            f"{entry.name} ranks on {entry.span}, and averages of infinite values are not defined",
            mend="Choose a form with a finite span=, such as AUC instead of its odds",
        )
    if entry.counted is not None and (entry.statistic is not CONTINUUM or entry.counted not in entry.arguments):
        raise UnknownMeasure(
            f"{entry.name} goes with {quoted(entry.counted)}",
            mend="Let counted= be an argument of the formula, and leave it out where the truth is not measured",
        )
    if not {*(entry.latent or ())} <= {*CONTINUUM.of_the_whole}:
        raise UnknownMeasure(
            f"{entry.name} has the latent means {listed(entry.latent or ())}",
            mend="Name two means of measured values, such as latent=('unsure', 'unsure')",
        )
    if entry.contrast == "ratio" and entry.span != (0.0, float("inf")):
        raise UnknownMeasure(
            f"{entry.name} is compared by its ratio on {entry.span}", mend="Such a measure spans 0 to infinity"
        )
    others = {*entry.aliases, *entry.cautions, *entry.with_class}
    taken = ({entry.name, *entry.aliases, *entry.cautions} & {*REGISTRY, *ALIASES}) | ({entry.name} & others)
    if taken:
        raise UnknownMeasure(f"there is a measure {quoted(taken.pop())} already", mend="Choose another name")


# --- the works that several files of measures cite -------------------------------------------------------------------


LECTURE = "Homrighausen, Classification metrics (lecture)"
ROSS = "Ross, Performance Assessment (lecture)"
MEVIK = "Mevik (2003), Computational Statistics & Data Analysis 46, 689-705"
SONDHAUSS = "Sondhauss & Weihs (2001), Technical Report 2001/31, SFB 475, Universität Dortmund"


def called(source: str, *names: str, at: str = "") -> dict[str, str]:
    """Return names as a work writes them, each with that work and the place there, for ``terms=``."""
    return dict.fromkeys(names, f"{source.partition(',')[0]}{', ' if at else ''}{at}")

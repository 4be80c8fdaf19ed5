"""What a measure is, and the list of all of them.

A measure asks for the means it is made of by the names of its arguments. Of a class against the rest:

- ``tp``, ``fn``, ``fp``, ``tn``: the class's own 2x2 table; the measure is then computed for every class.

Of the whole table:

- ``correct``, ``true``, ``assigned``: vectors over the classes (diagonal, row sums, column sums) in the last axis;
- ``total``: the sum of all;
- ``penalty``: the sum of a matrix over the table (the matrix itself is ``matrix``).

Its keyword-only arguments are parameters. Formulas are analytic (no ``abs``, ``where`` or ``max``), since their
gradients come by complex step, and do not change when all counts are multiplied by one number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .errors import UnknownMeasure, quoted
from .scale import Scale, listed

if TYPE_CHECKING:
    from .kinds import Array

Formula = Callable[..., Any]
Better = Literal["higher", "lower", "neither"]
Kind = TypeVar("Kind", bound=Formula)

PER_CLASS = frozenset({"tp", "fn", "fp", "tn"})
WHOLE_TABLE = frozenset({"correct", "true", "assigned", "total", "penalty", "matrix"})
UNBOUNDED = (float("-inf"), float("inf"))


@dataclass(frozen=True)
class Measure:
    """A named formula with the facts that everything else is derived from.

    Attributes:
        name: How it is asked for.
        title: How it is shown.
        formula: The maths: means in, value out. A proportion returns its numerator and its denominator.
        better: Which direction is better.
        span: The values that it can take.
        undefined: Why it has no value where it has none; ``{class}`` stands for the class.
        cite: Where the definition comes from.
        chance: Its value for a classifier that guesses; "1/C" for one over the number of classes.
        proportion: Whether it is a plain proportion of rows.
        heavy_tailed: Whether its estimate can run off to infinity, so that differences need two intervals.
        penalty: For measures of a penalty: what makes the matrix, from the scale and the parameters.
        parameters: Values of the keyword-only arguments.
        aliases: Other names for the same measure.
    """

    name: str
    title: str
    formula: Formula
    better: Better
    span: tuple[float, float]
    undefined: str
    cite: str
    chance: float | Literal["1/C"] | None = None
    proportion: bool = False
    heavy_tailed: bool = False
    penalty: Callable[..., Array] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    changed: frozenset[str] = frozenset()

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The means that the formula asks for."""
        signature = inspect.signature(self.formula).parameters.values()
        return tuple(argument.name for argument in signature if argument.kind is not argument.KEYWORD_ONLY)

    @cached_property
    def per_class(self) -> bool:
        """Whether it speaks of one class against the rest."""
        return set(self.arguments) <= PER_CLASS

    @property
    def needs(self) -> tuple[str, ...]:
        """The parameters that have no value yet, without which it cannot be computed."""
        return tuple(key for key, value in self.parameters.items() if value is None)

    @cached_property
    def label(self) -> str:
        """The name, with the parameters that were set."""
        shown = ", ".join(f"{key}={_shown(self.parameters[key])}" for key in sorted(self.changed))
        return f"{self.name}({shown})" if shown else self.name

    @property
    def summary(self) -> str:
        """The first line of the formula's docstring."""
        return (inspect.getdoc(self.formula) or "").partition("\n")[0]

    def __call__(self, **means: Any) -> Any:
        """Evaluate: a proportion is divided out here, so that its parts stay at hand for its interval."""
        result = self.formula(**means, **self.parameters)
        return result[0] / result[1] if self.proportion else result

    def with_parameters(self, **parameters: Any) -> Measure:
        """Set parameters: ``measure("fbeta").with_parameters(beta=0.5)``."""
        for name in parameters:
            if name not in self.parameters:
                raise UnknownMeasure(
                    f"{self.name} has no parameter {quoted(name)}",
                    mend=f"It takes {listed(list(self.parameters))}" if self.parameters else "It takes none",
                )
        changed = self.changed | {key for key, value in parameters.items() if value is not self.parameters[key]}
        return replace(self, parameters={**self.parameters, **parameters}, changed=changed)

    def matrix(self, scale: Scale) -> Array | None:
        """The penalty matrix on a scale, for measures that have one."""
        return None if self.penalty is None else self.penalty(scale, **self.parameters)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | bool | None) else "…"


_REGISTRY: dict[str, Measure] = {}
_ALIASES: dict[str, str] = {}


def measure(
    *,
    better: Better,
    undefined: str,
    cite: str,
    span: tuple[float, float] = (0.0, 1.0),
    title: str = "",
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
            **facts,
        )
        _check(entry)
        _REGISTRY[name] = entry
        _ALIASES.update(dict.fromkeys(entry.aliases, name))
        return formula

    return enter


def proportion(**facts: Any) -> Callable[[Kind], Kind]:
    """Enter a plain proportion of rows: its formula returns numerator and denominator."""
    return measure(proportion=True, **facts)


def _check(entry: Measure) -> None:
    asked = set(entry.arguments)
    if not asked or not (asked <= PER_CLASS or asked <= WHOLE_TABLE):
        raise UnknownMeasure(
            f"{entry.name} asks for {listed(sorted(asked))}",
            mend=f"A formula asks for some of {sorted(PER_CLASS)}, or some of {sorted(WHOLE_TABLE)}",
        )
    taken = {entry.name, *entry.aliases} & (set(_REGISTRY) | set(_ALIASES))
    if taken:
        raise UnknownMeasure(f"there is a measure {quoted(taken.pop())} already", mend="Choose another name")


def registry() -> Mapping[str, Measure]:
    """All measures by name, in the order in which they are shown."""
    from . import measures  # noqa: F401  (importing the formulas enters them)

    return MappingProxyType(_REGISTRY)


def find(name: str | Measure, **parameters: Any) -> Measure:
    """Look a measure up by its name or another name that people use for it."""
    if isinstance(name, Measure):
        return name.with_parameters(**parameters) if parameters else name
    entries = registry()
    text, in_text = _parse(name)
    key = _ALIASES.get(text, text)
    if key not in entries:
        near = get_close_matches(text, [*entries, *_ALIASES], n=1)
        raise UnknownMeasure(
            f"there is no measure {quoted(text)}",
            mend=f"Did you mean {quoted(near[0])}?" if near else "`steelyard measures` lists them all",
        )
    return entries[key].with_parameters(**in_text, **parameters)


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """Read "fbeta(beta=0.5)" as a name and its parameters, without running anything."""
    import ast

    if not isinstance(text, str):
        raise UnknownMeasure(f"{quoted(text)} is no name of a measure", mend="Give its name as text")
    name, bracket, _ = text.partition("(")
    if not bracket:
        return text.strip(), {}
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Call) and not call.args:
            return name.strip(), {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    raise UnknownMeasure(f"{quoted(text)} cannot be read", mend="Write it like fbeta(beta=0.5)")


def choose(names: Iterable[str | Measure] | None) -> tuple[Measure, ...]:
    """The measures that were asked for, or all that need no further input."""
    if names is None:
        return tuple(entry for entry in registry().values() if not entry.needs)
    chosen = [names] if isinstance(names, str | Measure) else list(names)
    entries = {entry.label: entry for entry in map(find, chosen)}
    for entry in entries.values():
        if entry.needs:
            raise UnknownMeasure(
                f"{entry.name} needs {listed(entry.needs)}", mend=f"Write {entry.name}({entry.needs[0]}=...)"
            )
    return tuple(entries.values())

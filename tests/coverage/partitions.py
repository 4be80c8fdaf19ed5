"""How often 95 % intervals of measures of partition spaces hold the truth, with all that the scaling is unsure of.

``PYTHONPATH=. python -m tests.coverage.partitions --markdown docs/coverage.md`` writes its section of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

import steelyard
from steelyard.inference.differences import Differences
from steelyard.inference.estimator import compute
from steelyard.measures.registry import Measure
from steelyard.results.comparison import Comparison
from steelyard.states.statistics import PARTITION
from tests.coverage.forecasts import BLURRED, CLASSES, OTHER, OWN, Population, shares
from tests.coverage.ranking import Cover
from tests.coverage.reporting import APART, EQUAL, PLAIN, VALUE, Key, command, everything, on_all_cores, summary
from tests.coverage.simulation import Array, standard_error

MEASURES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "partition_accuracy": ("partition_accuracy", {}),
    "separation": ("separation", {}),
    "confidence": ("confidence", {}),
    "partition_accuracy, raw": ("partition_accuracy", {"scaling": "raw"}),
    "partition_accuracy, depth 2": ("partition_accuracy", {"depth": 2}),
}
TRUTH_ROWS = 1_000_000
PAIRS = {EQUAL: (BLURRED, OTHER), APART: (OWN, BLURRED)}


def chosen(classes: int) -> dict[str, Measure]:
    """The measures, by the names that the page calls them; two classes have no second depth."""
    known = {name: steelyard.find(measure, **options) for name, (measure, options) in MEASURES.items()}
    return {name: measure for name, measure in known.items() if classes > 2 or "depth" not in name}


def compared(truth: Any, said: Mapping[str, Array], measures: Iterable[Measure]) -> Comparison:
    """All classifiers on the same rows."""
    classes = CLASSES[next(iter(said.values())).shape[1]]
    scale = steelyard.Scale(classes)
    return steelyard.compare(np.array(classes)[truth], said, scale=scale, measures=list(measures))


def populations() -> Iterator[Population]:
    """The populations of the study."""
    for rows in (200, 1000):
        for classes in CLASSES:
            for shape in ("calibrated", "overconfident", "underconfident"):
                yield from (Population(shape, prevalence, classes, rows) for prevalence in (0.5, 0.2))


@cache
def truths(shape: str, prevalence: float, classes: int, rows: int = TRUTH_ROWS) -> dict[str, dict[str, float]]:
    """What the measures tend to: their values over very many rows."""
    population, random = Population(shape, prevalence, classes, rows), np.random.default_rng(2)
    logits = population.logits(random, rows)
    reached = np.cumsum(shares(logits), axis=1)
    truth = np.minimum((random.random((rows, 1)) > reached).sum(axis=1), classes - 1)
    said = population.forecasts(logits, random)
    found: dict[str, dict[str, float]] = {}
    for name in (OWN, BLURRED):
        alone = compared(truth, {name: said[name]}, chosen(classes).values())[name].partition
        slots = {called: alone.slots[alone.overall(measure)] for called, measure in chosen(classes).items()}
        found[name] = {called: alone.value(slot) for called, slot in slots.items()}  # intervals would take long
    return found


def coverage(population: Population, repetitions: int, seed: int, rows: int = TRUTH_ROWS) -> dict[Key, Cover]:
    """Coverage of the values of one classifier, and of paired differences between two equal and two unequal ones."""
    random = np.random.default_rng(seed)
    known = truths(population.shape, population.prevalence, population.classes, rows)
    found: dict[Key, Cover] = {}
    for name, value in known[OWN].items():
        found |= {(kind, name): Cover(value) for kind in (VALUE, PLAIN)}
        found |= {(EQUAL, name): Cover(0.0), (APART, name): Cover(value - known[BLURRED][name])}
    for _ in range(repetitions):
        for key, low, high in intervals(*population.draw(random)):
            found[key].add(low, high)
    return found


def intervals(truth: Any, said: Mapping[str, Array]) -> Iterator[tuple[Key, float, float]]:
    """The bounds that ``assess``, ``assess(method="plain")`` and ``compare`` give."""
    measures = chosen(said[OWN].shape[1])
    comparison = compared(truth, said, measures.values())
    plain = replace(comparison.settings, method="plain")
    parts = {model: comparison[model].part(PARTITION) for model in said}
    own = parts[OWN].evaluation
    places = [own.overall(measure) for measure in measures.values()]
    for kind, results in ((VALUE, parts[OWN].results), (PLAIN, compute(own, plain))):
        for name, place in zip(measures, places, strict=True):
            yield (kind, name), float(results.low[place]), float(results.high[place])
    for kind, pair in PAIRS.items():
        both = [parts[model].evaluation for model in pair]
        lows, highs = Differences(both, places, comparison.settings.level).bounds()
        for name, low, high in zip(measures, lows[0], highs[0], strict=True):
            yield (kind, name), float(low), float(high)


Finding = tuple[Population, dict[Key, Cover]]


def study(repetitions: int, some: Iterable[Population], workers: int | None = None) -> list[Finding]:
    """Run populations on all cores, or on some."""
    return on_all_cores(coverage, list(some), repetitions, 271, workers)


# --- the page -------------------------------------------------------------------------------------------------

SECTION = "standardized partition spaces"
HEAD = """## Standardized partition spaces

The same for accuracy, separation and confidence in a partition space, from the populations of the section on scores of
probability forecasts. The scaling is fitted to the same rows, so that every row moves the scaled memberships of others;
the intervals know what it does to them. "Raw" is without scaling; "depth 2" scales what the second highest class takes
of what is left, too. The value that shall be covered is that over {truth_rows:,} rows.

{repetitions:,} samples were drawn from each population, so that a coverage is uncertain by about {error:.1f} points
(one standard error), and the lowest and the highest of many by more. All figures are per cent. "Below" and "above" say
how often the truth was below the interval, and above it; "width" is the interval's average width. "Plain" is
`method="plain"`: value ± 1.96 standard errors. Paired differences are those between two classifiers that both see the
logits blurred, whose values are equal; and between one that knows the logits and one that sees them blurred.

These tables are of intervals whose bound on the side where rows are rare was not yet that of one row more (see the
section on classes from a continuum). It reaches a little further since: the widths of the examples in the docs grew by
2 to 4 %, to the side of the lower bound.

`PYTHONPATH=. python -m tests.coverage.partitions --markdown docs/coverage.md` makes this section.

### Lowest and highest coverage
"""


def _in_column(classes: int, rows: int, population: Population) -> bool:
    return (population.classes, population.rows) == (classes, rows)


NAMED: dict[str, Callable[[Population], object]] = {
    "forecasts": lambda population: population.shape,
    "classes": lambda population: population.classes,
    "prevalence": lambda population: population.prevalence,
    "n": lambda population: population.rows,
}


def section(results: Sequence[Finding], repetitions: int) -> str:
    """All tables as Markdown: two classes first, since they have fewer measures."""
    head = HEAD.format(truth_rows=TRUTH_ROWS, repetitions=repetitions, error=standard_error(repetitions))
    text = [head]
    for classes in CLASSES:
        some = [(population, found) for population, found in results if population.classes == classes]
        names = list(chosen(classes))
        columns = {f"{classes} classes, n = {rows}": partial(_in_column, classes, rows) for rows in (200, 1000)}
        text += [*summary(some, names, columns), ""]
    every = [(population, found) for population, found in results if population.classes > 2]
    return "\n".join([*text, *everything(every, list(chosen(3)), NAMED)]) + "\n"


if __name__ == "__main__":
    command(SECTION, lambda repetitions, workers: study(repetitions, populations(), workers), section, 1_000)

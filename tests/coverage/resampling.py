"""How often 95 % intervals of cross-validation hold the error of the classifier that was fitted to all rows.

``PYTHONPATH=. python tests/coverage/resampling.py --markdown docs/coverage.md`` writes its section of the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from steelyard import CrossAssessment, cross_assess
from steelyard.modelling.models import named_model
from tests.coverage.simulation import Array, rewrite, standard_error, with_section

SECTION = "What cross-validation estimates"
MODELS = ("lda", "knn:5", "tree", "logistic")
FOLDS, REPEATS, NESTED_REPEATS = 10, 5, 3
TEST_ROWS = 20_000
ONCE, OFTEN = "10 folds", f"{REPEATS} times 10 folds"
WAYS = (
    (ONCE, "pooled"),
    (ONCE, "corrected"),
    (OFTEN, "pooled"),
    (OFTEN, "corrected"),
    (ONCE, "nested"),
)
Drawn = tuple[Array, Any]


# --- populations ----------------------------------------------------------------------------------------------


def normal(rows: int, random: np.random.Generator, noise: int = 3) -> Drawn:
    """Two normal classes with the same covariance: two variables tell of them, the others do not."""
    y = random.integers(2, size=rows)
    x = random.standard_normal((rows, 2 + noise))
    x[:, 0] += 1.6 * y
    x[:, 1] += 0.8 * y
    return x, y


def bent(rows: int, random: np.random.Generator) -> Drawn:
    """Two classes whose border is bent, so that no straight line parts them."""
    x = random.standard_normal((rows, 3))
    chance = 1 / (1 + np.exp(-3 * (x[:, 0] * x[:, 1] + x[:, 2] / 2)))
    return x, (random.random(rows) < chance).astype(np.int64)


def three(rows: int, random: np.random.Generator) -> Drawn:
    """Three classes, one of them rare, in four variables of unequal spread."""
    y = random.choice(3, size=rows, p=[0.5, 0.35, 0.15])
    x = random.standard_normal((rows, 4)) * (1 + 0.5 * (y == 1))[:, None]
    x[:, 0] += 1.5 * y
    x[:, 1] += 1.5 * (y == 2)
    return x, y


POPULATIONS: Mapping[str, Callable[[int, np.random.Generator], Drawn]] = {
    "normal": normal,
    "normal, 18 variables of noise": partial(normal, noise=18),
    "bent": bent,
    "three classes": three,
}


@cache
def fresh(population: str) -> Drawn:
    """Rows on which the true error of a fitted classifier is found."""
    return POPULATIONS[population](TEST_ROWS, np.random.default_rng(99))


# --- one sample -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """What one data set gives: true errors, and the bounds that every way puts around them or their differences."""

    true: Mapping[tuple[str, ...], float]
    bounds: Mapping[tuple[str, str, tuple[str, ...]], tuple[float, float]]


def one(population: str, rows: int, seed: int, with_nested: bool) -> Sample:
    """Draw a data set, and cross-validate all classifiers on it."""
    x, y = POPULATIONS[population](rows, np.random.default_rng([20_03, seed]))
    true = _true(population, x, y)
    common: dict[str, Any] = {"measures": ["error"], "training": False, "progress": False, "cv": FOLDS}
    found: dict[tuple[str, str, tuple[str, ...]], tuple[float, float]] = {}
    for plan, repeats in ((ONCE, 1), (OFTEN, REPEATS)):
        crossed = cross_assess(list(MODELS), x, y, seed=seed, repeats=repeats, **common)
        ways = [way for name, way in WAYS if name == plan and (way != "nested" or with_nested)]
        for names, way, low, high in _bounds(crossed, ways):
            found[plan, way, names] = low, high
    return Sample(true, found)


def _true(population: str, x: Array, y: Any) -> dict[tuple[str, ...], float]:
    new, right = fresh(population)
    errors = {name: float(np.mean(clone(named_model(name)).fit(x, y).predict(new) != right)) for name in MODELS}
    alone: dict[tuple[str, ...], float] = {(name,): error for name, error in errors.items()}
    return alone | {(a, b): errors[a] - errors[b] for a, b in combinations(MODELS, 2)}


def _bounds(crossed: CrossAssessment, ways: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str, float, float]]:
    options: dict[str, Any] = {"rounds": NESTED_REPEATS, "progress": False} if "nested" in ways else {}
    for row in crossed.intervals("error", ways, **options):
        yield (row["model"],), row["method"], row["low"], row["high"]
    for row in crossed.intervals("error", ways, pairs=True, **options):
        yield (row["a"], row["b"]), row["method"], row["low"], row["high"]


# --- all of them ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One population and number of rows, with all its samples."""

    population: str
    rows: int
    samples: tuple[Sample, ...]

    def coverage(self, plan: str, way: str, names: tuple[str, ...], of_all: bool = False) -> float:
        """The share of intervals that hold the error of the fit to their own rows; or that of the mean fit, in %."""
        kept = [sample for sample in self.samples if (plan, way, names) in sample.bounds]
        mean = float(np.mean([sample.true[names] for sample in self.samples]))
        held = []
        for sample in kept:
            low, high = sample.bounds[plan, way, names]
            held.append(low <= (mean if of_all else sample.true[names]) <= high)
        return 100 * float(np.mean(held)) if held else float("nan")

    def width(self, plan: str, way: str, names: tuple[str, ...]) -> float:
        """How wide the intervals are in the mean, in %."""
        bounds = [sample.bounds[plan, way, names] for sample in self.samples if (plan, way, names) in sample.bounds]
        return 100 * float(np.mean([high - low for low, high in bounds])) if bounds else float("nan")


def study(repetitions: int, nested: int, workers: int | None = None) -> list[Cell]:
    """All populations, with 100 and 400 rows; nested cross-validation for the first samples only, as it is slow."""
    cells = []
    with ProcessPoolExecutor(workers) as pool:
        for population in POPULATIONS:
            for rows in (100, 400):
                task = partial(_task, population, rows, nested)
                cells.append(Cell(population, rows, tuple(pool.map(task, range(repetitions), chunksize=4))))
                print(f"{population}, {rows} rows", flush=True)
    return cells


def _task(population: str, rows: int, nested: int, seed: int) -> Sample:
    return one(population, rows, seed, seed < nested)


# --- the page -------------------------------------------------------------------------------------------------


HEAD = """## What cross-validation estimates

Cross-validation estimates the error of the classifier that is fitted to all rows at hand. How often do its 95 %
intervals hold it? {repetitions:,} data sets were drawn from each population, so that a coverage is uncertain by about
{error:.1f} points (one standard error), with {folds} folds, once or {repeats} times. Nested cross-validation
({rounds} times {folds} folds) was done on {nested:,} of them, where it is {nested_error:.1f} points. True errors are
those on {test_rows:,} rows more; those of single fits stand in the first two tables, and in the last their mean over
all data sets. All figures are per cent, with the mean width in brackets.

Why *pooled* intervals are the default, and why folds should be dealt several times. Pooled intervals, of the rows held
out as if they were independent, are the narrowest, exist for every measure, and, where folds are dealt {repeats} times,
come nearest to 95 %: dealing anew leaves their width alone, but takes out the luck of one deal, which they know nothing
of. With one deal they hold the error of classifiers that depend much on single rows (trees) too seldom. Corrected
intervals of one deal are half as wide again and hold the truth too often; but where two classifiers nearly always
agree, their differences are 0 in every fold, and the intervals are points (the worst figures below). Over several deals
they do as well as pooled ones, a little wider. Nested ones are wider still for the same coverage, at the price of many
fits. They failed likewise where classifiers agree; since this run they are pooled intervals of the difference, widened,
which are never points, and the figures of such pairs are those of before.

`PYTHONPATH=. python tests/coverage/resampling.py --markdown docs/coverage.md` makes this section.
"""


def section(cells: Sequence[Cell], repetitions: int, nested: int) -> str:
    """What was found, as a section of the page."""
    text = [
        HEAD.format(
            repetitions=repetitions,
            folds=FOLDS,
            repeats=REPEATS,
            error=standard_error(repetitions),
            rounds=NESTED_REPEATS,
            nested=nested,
            nested_error=standard_error(max(nested, 1)),
            test_rows=TEST_ROWS,
        ),
        *_table("Errors of single classifiers", cells, [(name,) for name in MODELS]),
        *_table("Paired differences of errors", cells, list(combinations(MODELS, 2))),
        *_table("Errors, against the mean over fits to other rows", cells, [(name,) for name in MODELS], of_all=True),
    ]
    return "\n".join(text) + "\n"


def _table(title: str, cells: Sequence[Cell], targets: Sequence[tuple[str, ...]], of_all: bool = False) -> list[str]:
    heads = " | ".join(f"{way}, {plan}" for plan, way in WAYS)
    lines = [f"### {title}", "", f"| population | n | classifier | {heads} |", f"|---|---|---|{'---:|' * len(WAYS)}"]
    for cell in cells:
        for names in targets:
            shown = [f"{cell.coverage(*way, names, of_all):.1f} ({cell.width(*way, names):.0f})" for way in WAYS]
            lines.append(f"| {cell.population} | {cell.rows} | {' - '.join(names)} | {' | '.join(shown)} |")
    shares = [[cell.coverage(*way, names, of_all) for cell in cells for names in targets] for way in WAYS]
    lines.append(f"| all | | lowest | {' | '.join(f'{_of(np.min, share)}' for share in shares)} |")
    lines.append(f"| all | | mean | {' | '.join(f'{_of(np.mean, share)}' for share in shares)} |")
    lines.append(f"| all | | highest | {' | '.join(f'{_of(np.max, share)}' for share in shares)} |")
    return [*lines, ""]


def _of(summary: Callable[[Any], Any], shares: Sequence[float]) -> str:
    known = [share for share in shares if not np.isnan(share)]
    return f"{summary(known):.1f}" if known else "-"


def main() -> None:
    """Print the tables, or write them as a section of a page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--nested", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    cells = study(arguments.repetitions, arguments.nested, arguments.workers)
    text = section(cells, arguments.repetitions, arguments.nested)
    if arguments.markdown:
        rewrite(arguments.markdown, lambda old: with_section(old, SECTION, text))
    print(text)


if __name__ == "__main__":
    main()

"""How often 95 % intervals of scores that are computed if asked hold the truth, beside the study of all others.

``PYTHONPATH=. python tests/coverage/asked.py`` prints what the page on forecasts says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import steelyard
from tests.coverage.forecasts import BLURRED, OTHER, OWN, Population, populations, shares
from tests.coverage.reporting import on_all_cores

REPETITIONS, SEED = 1_000, 11
TRUTH_ROWS = 1_000_000
SHAPES = ("calibrated", "sharp")


def among_two(chances: Any, said: Any) -> Any:
    """How probable it is that the true class is among the two likeliest of three: not the least likely one."""
    return 1 - chances[np.arange(len(said)), np.argmin(said, axis=1)]


def acted_on(threshold: float) -> Callable[[Any, Any], Any]:
    """What it is expected to bring to act on rows of the last class from a probability on."""
    odds = threshold / (1 - threshold)
    return lambda chances, said: (said[:, -1] >= threshold) * (chances[:, -1] - (1 - chances[:, -1]) * odds)


# Of two classes, both are among the two likeliest.
MEASURES: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "top_k_accuracy": (3, among_two),
    "net_benefit": (2, acted_on(0.5)),
    "net_benefit(at=0.1)": (2, acted_on(0.1)),
}


def truths(measure: str, population: Population, rows: int = TRUTH_ROWS) -> dict[str, float]:
    """The values of two classifiers."""
    random = np.random.default_rng(2)
    logits = population.logits(random, rows)
    chances, said = shares(logits), population.forecasts(logits, random)
    return {name: float(MEASURES[measure][1](chances, said[name]).mean()) for name in (OWN, BLURRED)}


def coverage(
    case: tuple[str, Population], repetitions: int, seed: int, rows: int = TRUTH_ROWS
) -> tuple[float, float, float]:
    """Per cent of samples that cover: values, differences of two that are equal, and of two that are apart."""
    measure, population = case
    known, random, held = truths(measure, population, rows), np.random.default_rng(seed), np.zeros(3)
    apart = {(BLURRED, OTHER): (1, 0.0), (OWN, BLURRED): (2, known[OWN] - known[BLURRED])}
    classes = range(population.classes)
    for _ in range(repetitions):
        truth, said = population.draw(random)
        found = steelyard.compare(truth, said, measures=[measure], scale=steelyard.Scale(classes, event=classes[-1]))
        value = found[OWN][measure]
        held[0] += value.low <= known[OWN] <= value.high
        for row in found.differences(measure).to_pylist():
            if (row["a"], row["b"]) in apart:
                place, difference = apart[row["a"], row["b"]]
                held[place] += row["low"] <= difference <= row["high"]
    values, equal, unequal = (100 * held / repetitions).tolist()
    return values, equal, unequal


def cases() -> Iterator[tuple[str, Population]]:
    """The populations of the study of forecasts that have as many classes; how sure forecasts are puts none ahead."""
    for measure, (classes, _) in MEASURES.items():
        yield from ((measure, each) for each in populations() if each.classes == classes and each.shape in SHAPES)


if __name__ == "__main__":
    for case, found in on_all_cores(coverage, list(cases()), REPETITIONS, SEED, None):
        print(*case, *[f"{share:.1f}" for share in found])

"""How often 95 % intervals of ``top_k_accuracy`` hold the truth: of three classes, since of two it is always 1.

``PYTHONPATH=. python tests/coverage/top_k.py`` prints what the page on forecasts says of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import steelyard
from tests.coverage.forecasts import BLURRED, OTHER, OWN, Population, populations, shares
from tests.coverage.reporting import on_all_cores

MEASURE = "top_k_accuracy"
REPETITIONS, SEED = 1_000, 11
TRUTH_ROWS = 1_000_000


def truths(population: Population, rows: int = TRUTH_ROWS) -> dict[str, float]:
    """How often the true class is among the two likeliest of three: not the least likely one."""
    random = np.random.default_rng(2)
    logits = population.logits(random, rows)
    chances, said = shares(logits), population.forecasts(logits, random)
    return {name: 1 - float(chances[np.arange(rows), np.argmin(said[name], axis=1)].mean()) for name in (OWN, BLURRED)}


def coverage(population: Population, repetitions: int, seed: int, rows: int = TRUTH_ROWS) -> list[float]:
    """Per cent of samples that cover: values, differences of two that are equal, and of two that are apart."""
    known, random, held = truths(population, rows), np.random.default_rng(seed), np.zeros(3)
    apart = {(BLURRED, OTHER): (1, 0.0), (OWN, BLURRED): (2, known[OWN] - known[BLURRED])}
    for _ in range(repetitions):
        truth, said = population.draw(random)
        found = steelyard.compare(truth, said, measures=[MEASURE], scale=steelyard.Scale([0, 1, 2]))
        value = found[OWN][MEASURE]
        held[0] += value.low <= known[OWN] <= value.high
        for row in found.differences(MEASURE).to_pylist():
            if (row["a"], row["b"]) in apart:
                place, difference = apart[row["a"], row["b"]]
                held[place] += row["low"] <= difference <= row["high"]
    return [100 * float(share) / repetitions for share in held]


def of_three_classes() -> Iterator[Population]:
    """The populations of the study of forecasts that have three classes; how sure forecasts are puts none ahead."""
    factors = ("calibrated", "sharp")
    return (each for each in populations() if each.classes == 3 and each.shape in factors)


if __name__ == "__main__":
    for population, found in on_all_cores(coverage, list(of_three_classes()), REPETITIONS, SEED, None):
        print(population, *[f"{share:.1f}" for share in found])

"""Problems made by a seed: labels of all kinds in all that can hold them, scores, probabilities, weights and gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from .amount import FULL, cases

BATCH = 100 if FULL else 50  # problems a test: one test each would cost more than the problems themselves

TEXT = [
    "no", "yes", "Low", "mid, high", 'the "best"', "ärger", "日本", "a b", "x;y", "it's", "<b>", "=1+1", "%d", "Ω",
    "a\tb", "0-1", "c|d", "Z",
]  # fmt: skip
NUMBERS = [-(2**40), -7, -1, 0, 1, 2, 3, 10, 99, 100, 2**31, 2**53]


@dataclass(frozen=True)
class Problem:
    """True and predicted labels as lists, and weights.

    ``classes`` are all that are on the scale, sorted; ``given`` says whether the scale must be named.
    """

    truth: list[Any]
    said: list[Any]
    weight: Any
    weighted: bool
    classes: list[Any]
    given: bool

    @property
    def options(self) -> dict[str, Any]:
        """What ``assess`` is told besides the labels."""
        import steelyard as sy

        scale = {"scale": sy.Scale(self.classes)} if self.given else {}
        return scale | ({"weight": self.weight} if self.weighted else {})


def labels_of(random: np.random.Generator, size: int) -> list[Any]:
    """Some classes of one kind, sorted."""
    kinds = ["text", "numbers", "small"] + ["truths"] * (size == 2)
    kind = kinds[random.integers(len(kinds))]
    if kind == "truths":
        return [False, True]
    if kind == "small":
        return list(range(size))
    pool = TEXT if kind == "text" else NUMBERS
    return sorted(pool[place] for place in random.choice(len(pool), size, replace=False))


def weights_of(random: np.random.Generator, rows: int) -> tuple[Any, bool]:
    """No weights, whole numbers, or fractions over a wide range."""
    kind = random.integers(4)
    if kind == 0:
        return random.integers(1, 6, rows), True
    if kind == 1:
        return np.exp(random.normal(0, 1.5, rows)), True
    if kind == 2:
        return np.round(random.uniform(0.25, 4, rows) * 4) / 4, True
    return np.ones(rows), False


def problem(random: np.random.Generator, most_rows: int = 120) -> Problem:
    """Rows of a classifier that is good, bad, or silent about some classes."""
    size = int(random.integers(2, 8))
    classes = labels_of(random, size)
    rows = int(random.integers(4, most_rows))
    shares = random.dirichlet(np.full(size, random.choice([0.3, 1.0, 5.0])))
    truth = random.choice(size, rows, p=shares)
    guess = random.choice(size, rows, p=random.dirichlet(np.full(size, random.choice([0.3, 1.0, 5.0]))))
    said = np.where(random.random(rows) < random.random(), truth, guess)
    seen = sorted({*truth.tolist(), *said.tolist()})
    # Labels of which none is a true one are refused unless the classes are named.
    apart = not {*truth.tolist()} & {*said.tolist()}
    given = bool(random.random() < 0.4) or len(seen) < 2 or apart
    kept = list(range(size)) if given else seen
    weight, weighted = weights_of(random, rows)
    return Problem(
        [classes[code] for code in truth.tolist()],
        [classes[code] for code in said.tolist()],
        weight,
        weighted,
        [classes[code] for code in kept],
        given,
    )


def objects(values: list[Any]) -> Any:
    """An array of NumPy that holds the very objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


HOLDERS: tuple[Callable[[list[Any]], Any], ...] = (
    list,
    tuple,
    np.array,
    objects,
    pd.Series,
    pd.Categorical,
    lambda values: pd.Series(values).astype("category"),
    lambda values: pd.Series(pd.array(values)),
    pl.Series,
    pa.array,
    lambda values: pa.chunked_array([pa.array(values[:2]), pa.array(values[2:])]),
    lambda values: pa.array(values).dictionary_encode() if not isinstance(values[0], bool) else pa.array(values),
)
NUMBER_HOLDERS: tuple[Callable[[Any], Any], ...] = (
    lambda values: values,
    lambda values: values.tolist(),
    pd.Series,
    pl.Series,
    pa.array,
    np.asfortranarray,
    lambda values: np.repeat(values, 2)[::2],  # a view with gaps
)


def held(random: np.random.Generator, values: list[Any]) -> Any:
    """The same labels in something that can hold a column."""
    return HOLDERS[random.integers(len(HOLDERS))](values)


def numbers_held(random: np.random.Generator, values: Any) -> Any:
    """The same numbers in something that can hold a column."""
    return NUMBER_HOLDERS[random.integers(len(NUMBER_HOLDERS))](values)


def scores_of(random: np.random.Generator, truth: Any, probability: bool) -> Any:
    """Scores of an event with few, some or no ties; probabilities, or numbers on any scale."""
    score = random.normal(size=len(truth)) * random.choice([0.5, 1, 3]) + truth * random.choice([-0.5, 0.0, 1.0, 3.0])
    decimals = random.choice([0, 1, 2, 12])
    if not probability:
        return np.round(score, decimals) * random.choice([1e-6, 1.0, 1e6])
    return np.round(1 / (1 + np.exp(-score)), decimals + 1)


def shares_of(random: np.random.Generator, truth: Any, size: int) -> Any:
    """Probabilities of all classes that add up to one, with ties between rows and, now and then, within them."""
    parts = random.integers(1, int(random.choice([3, 12, 1000])), (len(truth), size)).astype(float)
    parts += random.choice([0.0, 1.0, 8.0]) * np.eye(size)[truth]
    return parts / parts.sum(axis=1, keepdims=True)


def in_batches(full: int) -> pytest.MarkDecorator:
    """A mark that runs a test over batches of problems: all of them, or a twentieth."""
    return pytest.mark.parametrize("batch", range(-(-cases(full) // BATCH)))


@contextmanager
def _told(seed: int) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"the problem with the seed {seed}")
        raise


def each(batch: int, kind: int) -> Iterator[tuple[np.random.Generator, Any]]:
    """The random numbers of each problem of a batch, and what names the problem where it fails."""
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        yield np.random.default_rng([kind, seed]), _told(seed)


def alike(found: float, expected: float, what: object = "", tolerance: float = 1e-9) -> None:
    """Equal to nine digits, or both without a value."""
    if math.isnan(found) and math.isnan(expected):
        return
    close = math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance)
    assert close, f"{what}: {found!r} here, {expected!r} there"

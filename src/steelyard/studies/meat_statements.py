"""What Mevik (2003) says of five classifiers of meat in section 6, beside what was found on the Tecator data.

The paper's samples are not public, and printed values get no verdict. Orders do: the losses of each sample are averaged
over the splits, and the interval of a difference is that of a mean over samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..maths.kernels import outside_probabilities
from .delta_method import Estimate, furthest, mean, smallest
from .meat_figures import BY_DISTANCE, BY_ERROR, PAPER, PRINTED, RANKED, WATER
from .statements import ABOVE_ZERO, Quantity, Range, Statement, chance_explains, within

if TYPE_CHECKING:
    from ..core.typing import Array
    from ..results.comparison import Comparison

    Means = Mapping[str, Mapping[str, Estimate]]
    Losses = Mapping[str, Mapping[str, Array]]

SOURCE = "Mevik 2003, section 6"
PAPERS = 103  # samples of the paper
SHORT = {BY_ERROR: "err", BY_DISTANCE: "sqerr"}
EQUAL = within(0.01)  # figures of two decimals that are printed alike
NO_REPLICATES = "the Tecator data has no repeated measurements: the study takes this figure from the paper"


def statements(comparison: Comparison, water: Array, losses: Losses) -> list[Statement]:
    """Return every statement: printed values beside ours, and orders with their verdict.

    Args:
        comparison: All classifiers on the first split.
        water: The water content of all samples.
        losses: By measure and classifier: the mean loss of each sample over the splits.
    """
    means = {measure: {name: mean(values) for name, values in by_name.items()} for measure, by_name in losses.items()}
    return [*_figures(comparison, means, _of_error(water, losses[BY_ERROR])), *_orders(means), *_disagreements(means)]


def _figures(comparison: Comparison, means: Means, of_error: list[Estimate]) -> Iterator[Statement]:
    unknown = Quantity(np.nan, np.nan, np.nan)
    yield Statement("The standard deviation of the measurements is .22%", SOURCE, "0.22", None, unknown, NO_REPLICATES)
    label = comparison[comparison.models[0]]
    for measure, name, figure in (("label_error", "err", "0.015"), ("label_sqerr", "sqerr", "3.2e-4")):
        value = label[measure]
        quantity = Quantity(value.value, value.low, value.high)
        yield Statement(f"The estimated data {name} is {figure}", SOURCE, figure, None, quantity)
    text = "Adjusted and unadjusted estimates differ by less than"
    for name, figure, adjustments in (
        ("erc", "0.01", of_error),
        ("sqerc", "0.02", [each * -(WATER.sd**2) for each in means[BY_ERROR].values()]),
    ):
        quantity = furthest(adjustments)._replace(repetitions=0)
        yield Statement(f"{text} {figure} ({name})", SOURCE, f"below {figure}", None, quantity)
    for measure in RANKED:
        for name, figure in PRINTED[measure].items():
            quantity = means[measure][name].quantity._replace(repetitions=0)
            yield Statement(f"The {SHORT[measure]} of {name} is {figure}", SOURCE, figure, None, quantity)


def _of_error(water: Array, losses: Mapping[str, Array]) -> list[Estimate]:
    """How much the adjusted error count of each classifier differs from the unadjusted one (25)."""
    label = WATER.cut(water)
    wrong = outside_probabilities(water, WATER.sd, WATER.boundaries, WATER.closed)
    weight = 1 - wrong[np.arange(len(label)), label]
    return [mean(weight * losses[name]) / mean(weight) - mean(losses[name]) for name in PRINTED[BY_ERROR]]


def _orders(means: Means) -> Iterator[Statement]:
    """The two orders by their neighbouring pairs."""
    for measure in RANKED:
        for one, other in pairwise(PRINTED[measure]):
            yield _pair(means, measure, one, other)
    yield _pair(means, BY_ERROR, "3-nn", "1-nn")
    yield _pair(means, BY_DISTANCE, "tree", "3-nn")


def _pair(means: Means, measure: str, one: str, other: str) -> Statement:
    difference, short = means[measure][other] - means[measure][one], SHORT[measure]
    if PAPER[measure][one] == PAPER[measure][other]:
        return _judged(f"{one} and {other} are equal by {short}: difference", "0", EQUAL, difference.quantity)
    return _judged(f"{one} is better than {other} by {short}: difference", "above 0", ABOVE_ZERO, difference.quantity)


def _disagreements(means: Means) -> Iterator[Statement]:
    """Pairs that the two measures put the other way round: both differences, as shares of the mean of the two."""
    for by_error, by_distance in (("qda", "lda"), ("3-nn", "1-nn")):
        shares = [
            _share(means[BY_ERROR], by_error, by_distance),
            _share(means[BY_DISTANCE], by_distance, by_error),
        ]
        text = f"{by_error} is better than {by_distance} by err and worse by sqerr: smaller relative difference"
        yield _judged(text, "above 0", ABOVE_ZERO, smallest(shares))


def _share(means: Mapping[str, Estimate], one: str, other: str) -> Estimate:
    return (means[other] - means[one]) / (means[other] + means[one]) * 2.0


def _judged(text: str, paper: str, asked: Range, quantity: Quantity) -> Statement:
    """Return a statement whose interval more samples would narrow, but not more splits."""
    statement = Statement(text, SOURCE, paper, asked, quantity)
    samples = f"about {needed:,} samples" if (needed := statement.repetitions) else "more samples"
    note = f"{samples} would settle it, more splits would not" if statement.verdict == "not settled" else ""
    because = f"these are other samples; {chance_explains(asked, quantity, PAPERS, 'samples')}"
    return replace(statement, quantity=quantity._replace(repetitions=0), note=note, reason=because)

"""What is true of a design: how frequent classes are, the least error that any classifier can have, that of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..maths.kernels import class_probabilities, expected_sqe, outside_probabilities
from .designs import Cell, Design, representatives
from .noise import Noise

if TYPE_CHECKING:
    from ..core.typing import Array

POINTS = 1 << 19
BINS = 1 << 14
FAR = 9  # standard deviations: what lies beyond cannot be seen in any average
NOTHING = 1e-13  # a share of all rows that cannot be seen either


@dataclass(frozen=True)
class Population:
    """True values, each an average over all rows that might be drawn.

    Attributes:
        frequency: Of each class.
        pmc_min: The least probability of an error that any classifier can have.
        sqerr_min: The least squared error.
        err_data: The probability of a wrong label.
        sqerr_data: The squared error of the labels.
    """

    frequency: tuple[float, ...]
    pmc_min: float
    sqerr_min: float
    err_data: float
    sqerr_data: float


@dataclass(frozen=True)
class Masses:
    """A distribution on evenly spaced values.

    Attributes:
        first: The first of them.
        step: From each to the next.
        share: How much of the distribution each of them stands for.
    """

    first: float
    step: float
    share: Array

    @classmethod
    def of(cls, values: Array, share: Array, bins: int = BINS) -> Masses:
        """Divide what each value stands for between its two neighbours, so that means stay what they are."""
        low, high = float(values.min()), float(values.max())
        place = (values - low) * ((bins - 2) / (high - low))
        whole = place.astype(np.int64)
        upper, lower = (
            np.bincount(whole, part, bins) for part in (share * (place - whole), share * (whole + 1 - place))
        )
        return cls(low, (high - low) / (bins - 2), np.add(lower, np.roll(upper, 1), dtype=np.float64))

    def plus(self, noise: Noise, sd: float) -> Masses:
        """The distribution with noise added."""
        bins = len(self.share)
        edges = self.step * (np.arange(-bins, bins) + 0.5)
        spread = 1 - noise.outside(0.0, sd, edges)
        length = 4 * bins
        share = np.fft.irfft(np.fft.rfft(self.share, length) * np.fft.rfft(spread, length), length)
        return Masses(self.first - (bins - 1) * self.step, self.step, share[: 3 * bins - 2])

    def seen(self) -> tuple[Array, Array]:
        """The values that have a share worth mentioning, and those shares."""
        places = np.flatnonzero(self.share > NOTHING)
        return np.asarray(self.first + self.step * places, dtype=np.float64), self.share[places]


def expected_responses(design: Design, points: int = POINTS) -> Masses:
    """How the expected response is distributed."""
    uniform, share = representatives(points, design.variables)
    return Masses.of(design.expected(design.x(uniform)), share)


def population(design: Design, cell: Cell, expected: Masses) -> Population:
    """Average what is known exactly, given the expected response or the response."""
    values, share = expected.seen()
    outside = design.noise.outside(values, cell.sd_response, design.boundaries)
    squared = design.noise.sqe(values, cell.sd_response, design.boundaries)
    wrong, off = _label_errors(expected.plus(design.noise, cell.sd_response), cell.sd, design)
    return Population(
        frequency=tuple((1 - share @ outside).tolist()),
        pmc_min=float(share @ outside.min(axis=1)),
        sqerr_min=float(share @ squared.min(axis=1)),
        err_data=wrong,
        sqerr_data=off,
    )


def _label_errors(responses: Masses, sd: float, design: Design) -> tuple[float, float]:
    """How many labels are wrong where responses are measured with error, and how far off labels are."""
    values, share = responses.seen()
    near = np.abs(values[:, None] - design.inner).min(axis=1) < FAR * sd
    values, share = values[near], share[near]
    # The chance of a wrong label jumps from class to class, so that a value at a boundary counts for both sides.
    ends = np.clip((np.asarray(design.boundaries) - values[:, None]) / responses.step + 0.5, 0, 1)
    wrong = np.diff(ends, axis=1) * outside_probabilities(values, sd, design.boundaries)
    off = expected_sqe(values, 0.0, design.boundaries) * class_probabilities(values, sd, design.boundaries)
    return float(share @ wrong.sum(axis=1)), float(share @ off.sum(axis=1))

"""Designs of simulations: how data arise, and what is true of them: frequencies of classes, and least errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.cached import cached_property
from ..maths.kernels import class_probabilities, expected_sqe, outside_probabilities

if TYPE_CHECKING:
    from ..core.typing import Array

STUDENT_FREEDOM = 4
# Student's variable has the variance freedom / (freedom - 2).
STUDENT_SD = math.sqrt(STUDENT_FREEDOM / (STUDENT_FREEDOM - 2))


@dataclass(frozen=True)
class ResponseNoise:
    """A distribution around 0 with a standard deviation of 1.

    Attributes:
        name: What it is called.
        quantile: Its quantile function, by which it is drawn.
        outside: The probability of a value outside each class, by mean, standard deviation and boundaries.
        sqe: The expected squared distance of a value to each class, by the same.
    """

    name: str
    quantile: Callable[[Array], Array]
    outside: Callable[[Any, Any, Any], Array]
    sqe: Callable[[Any, Any, Any], Array]


def _normal_quantile(probability: Array) -> Array:
    from scipy.special import ndtri

    return np.asarray(ndtri(probability))


def _student_quantile(probability: Array) -> Array:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(STUDENT_FREEDOM, probability) / STUDENT_SD)


def _student_outside(mean: Any, sd: Any, boundaries: Any) -> Array:
    from scipy.special import stdtr

    below, above = _places(mean, sd, boundaries)
    return np.asarray(stdtr(STUDENT_FREEDOM, below) + stdtr(STUDENT_FREEDOM, above))


def _student_sqe(mean: Any, sd: Any, boundaries: Any) -> Array:
    below, above = _places(mean, sd, boundaries)
    return np.asarray(np.square(sd / STUDENT_SD) * (_student_shortfall(below) + _student_shortfall(above)))


def _places(mean: Any, sd: Any, boundaries: Any) -> tuple[Array, Array]:
    """How far the lower ends of classes are above the mean, and the mean above their upper ends."""
    ends, centre = np.asarray(boundaries, dtype=np.float64), np.asarray(mean)[..., None]
    return (ends[:-1] - centre) * STUDENT_SD / sd, (centre - ends[1:]) * STUDENT_SD / sd


def _student_shortfall(place: Array) -> Array:
    """E[(t - u)^2; u < t] for Student's u.

    The partial moments of the first and second order are those of the density itself and of the distribution with
    two degrees of freedom less.
    """
    from scipy.special import stdtr

    freedom, finite = STUDENT_FREEDOM, np.isfinite(place)
    t = np.where(finite, place, 0.0)
    # Gamma((freedom + 1) / 2) / Gamma(freedom / 2) / sqrt(pi freedom)
    peak = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(math.pi * freedom)
    density = peak * (1 + t**2 / freedom) ** (-(freedom + 1) / 2)
    whole = stdtr(freedom, t)
    first = -(freedom + t**2) / (freedom - 1) * density
    lower = stdtr(freedom - 2, t * math.sqrt((freedom - 2) / freedom))
    second = freedom * ((freedom - 1) / (freedom - 2) * lower - whole)
    # An infinite boundary is that of an outer class: nothing falls short of it.
    return np.where(finite, t**2 * whole - 2 * t * first + second, 0.0)


NORMAL = ResponseNoise("normal", _normal_quantile, outside_probabilities, expected_sqe)
STUDENT = ResponseNoise("Student's t with 4 degrees of freedom", _student_quantile, _student_outside, _student_sqe)


# --- designs ------------------------------------------------------------------------------------------------------

INFINITE = float("inf")


class Cell(NamedTuple):
    """How much is random in the data.

    Attributes:
        sd_response: The standard deviation of the response around what the variables say of it.
        sd: The standard deviation of the measurements around the response.
    """

    sd_response: float
    sd: float


PAPER_CELLS = tuple(Cell(sd_response, sd) for sd_response in (0.15, 0.3, 0.9) for sd in (0.0, 0.15, 0.5))


@dataclass(frozen=True)
class Design:
    """How data sets are drawn.

    Attributes:
        name: What it is called.
        variables: How many there are.
        x: The variables, made from as many independent ones that are uniform from 0 to 1.
        expected: What response is expected, as a function of the variables.
        terms: What a regression of the response is linear in, besides a constant.
        boundaries: Where classes begin and end, both ends included.
        rows: The size of a data set.
        cells: What is varied.
        noise: How the response is spread around what is expected.
        folds: Of the cross-validation.
    """

    name: str
    variables: int
    x: Callable[[Array], Array] = field(repr=False)
    expected: Callable[[Array], Array] = field(repr=False)
    terms: Callable[[Array], Array] = field(repr=False)
    boundaries: tuple[float, ...]
    rows: int = 100
    cells: tuple[Cell, ...] = PAPER_CELLS
    noise: ResponseNoise = NORMAL
    folds: int = 20

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.boundaries) - 1

    @cached_property
    def inner(self) -> Array:
        """The boundaries between classes."""
        return np.asarray(self.boundaries[1:-1])


def representatives(points: int, variables: int) -> tuple[Array, Array]:
    """Points of the unit cube that stand for all others, (points, variables), and for how much each of them stands.

    They fill the cube more evenly than random ones: a Kronecker sequence, which steps by powers of the root of
    x^(variables + 1) = x + 1, the golden section for one variable. They are moved towards the sides of the cube, where
    what is rare and large comes from, and stand for less there: averages then converge as those of periodic functions.
    """
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (variables + 1))
    steps = root ** -np.arange(1.0, variables + 1)
    even = (0.5 + np.arange(1, points + 1)[:, None] * steps) % 1
    share = np.prod(even * (1 - even), axis=1)
    return even**2 * (3 - 2 * even), np.asarray(share / share.sum())


# --- the design of the paper ----------------------------------------------------------------------------------------


MEVIK = Design(
    name="mevik2003",
    variables=2,
    # Normal, with variances 2 and 1 and a covariance of 0.4.
    x=lambda uniform: NORMAL.quantile(uniform) @ np.linalg.cholesky([[2.0, 0.4], [0.4, 1.0]]).T,
    expected=lambda x: x[..., 0] + x[..., 1] + x[..., 1] ** 2,
    terms=lambda x: np.stack([x[..., 0], x[..., 1], x[..., 1] ** 2], axis=-1),
    boundaries=(-INFINITE, 0.0, 0.6, INFINITE),
)

# --- designs on which nothing was tuned -----------------------------------------------------------------------------


def _second_order(x: Array) -> Array:
    """All variables, their squares and products."""
    first, second = np.triu_indices(x.shape[-1])
    return np.concatenate([x, x[..., first] * x[..., second]], axis=-1)


WAVES = Design(
    name="waves",
    variables=3,
    x=NORMAL.quantile,
    expected=lambda x: np.sin(2 * x[..., 0]) + x[..., 1] * x[..., 2],
    terms=_second_order,
    boundaries=(-INFINITE, -0.5, 0.7, INFINITE),
)
GRADES = Design(
    name="grades",
    variables=2,
    x=lambda uniform: 4 * uniform - 2,
    expected=lambda x: 2 * x[..., 0] + np.exp(x[..., 1]),
    terms=_second_order,
    boundaries=(-INFINITE, -1.0, 0.5, 2.0, 4.0, INFINITE),
    rows=300,
)
HEAVY_TAILS = replace(MEVIK, name="heavy_tails", noise=STUDENT)
DESIGNS = {design.name: design for design in (MEVIK, WAVES, GRADES, HEAVY_TAILS)}


# --- what is true in a cell ---------------------------------------------------------------------------------------

POINTS = 1 << 19
BINS = 1 << 14
FAR = 9  # standard deviations: what lies beyond cannot be seen in any average
NOTHING = 1e-13  # a share of all rows that cannot be seen either


@dataclass(frozen=True)
class TrueRates:
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
class GriddedDistribution:
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
    def of(cls, values: Array, share: Array, bins: int = BINS) -> GriddedDistribution:
        """Divide what each value stands for between its two neighbours, so that means stay what they are."""
        low, high = float(values.min()), float(values.max())
        place = (values - low) * ((bins - 2) / (high - low))
        whole = place.astype(np.int64)
        upper, lower = (
            np.bincount(whole, part, bins) for part in (share * (place - whole), share * (whole + 1 - place))
        )
        return cls(low, (high - low) / (bins - 2), np.add(lower, np.roll(upper, 1), dtype=np.float64))

    def plus(self, noise: ResponseNoise, sd: float) -> GriddedDistribution:
        """The distribution with noise added."""
        bins = len(self.share)
        edges = self.step * (np.arange(-bins, bins) + 0.5)
        spread = 1 - noise.outside(0.0, sd, edges)
        length = 4 * bins
        share = np.fft.irfft(np.fft.rfft(self.share, length) * np.fft.rfft(spread, length), length)
        return GriddedDistribution(self.first - (bins - 1) * self.step, self.step, share[: 3 * bins - 2])

    def seen(self) -> tuple[Array, Array]:
        """The values that have a share worth mentioning, and those shares."""
        places = np.flatnonzero(self.share > NOTHING)
        return np.asarray(self.first + self.step * places, dtype=np.float64), self.share[places]


def expected_responses(design: Design, points: int = POINTS) -> GriddedDistribution:
    """How the expected response is distributed."""
    uniform, share = representatives(points, design.variables)
    return GriddedDistribution.of(design.expected(design.x(uniform)), share)


def population(design: Design, cell: Cell, expected: GriddedDistribution) -> TrueRates:
    """Average what is known exactly, given the expected response or the response."""
    values, share = expected.seen()
    outside = design.noise.outside(values, cell.sd_response, design.boundaries)
    squared = design.noise.sqe(values, cell.sd_response, design.boundaries)
    wrong, off = _label_errors(expected.plus(design.noise, cell.sd_response), cell.sd, design)
    return TrueRates(
        frequency=tuple((1 - share @ outside).tolist()),
        pmc_min=float(share @ outside.min(axis=1)),
        sqerr_min=float(share @ squared.min(axis=1)),
        err_data=wrong,
        sqerr_data=off,
    )


def _label_errors(responses: GriddedDistribution, sd: float, design: Design) -> tuple[float, float]:
    """How many labels are wrong where responses are measured with error, and how far off labels are."""
    values, share = responses.seen()
    near = np.abs(values[:, None] - design.inner).min(axis=1) < FAR * sd
    values, share = values[near], share[near]
    # The chance of a wrong label jumps from class to class, so that a value at a boundary counts for both sides.
    ends = np.clip((np.asarray(design.boundaries) - values[:, None]) / responses.step + 0.5, 0, 1)
    wrong = np.diff(ends, axis=1) * outside_probabilities(values, sd, design.boundaries)
    off = expected_sqe(values, 0.0, design.boundaries) * class_probabilities(values, sd, design.boundaries)
    return float(share @ wrong.sum(axis=1)), float(share @ off.sum(axis=1))

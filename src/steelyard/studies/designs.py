"""Designs of simulations: how data arise whose true error rates are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.cached import cached_property
from .noise import NORMAL, STUDENT, Noise

if TYPE_CHECKING:
    from ..core.typing import Array

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
    noise: Noise = NORMAL
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


def _correlated_pair(uniform: Array) -> Array:
    """Normal, with variances 2 and 1 and a covariance of 0.4."""
    normal = NORMAL.quantile(uniform)
    return np.asarray(normal @ np.linalg.cholesky([[2.0, 0.4], [0.4, 1.0]]).T)


def _parabola(x: Array) -> Array:
    return np.asarray(x[..., 0] + x[..., 1] + x[..., 1] ** 2)


def _parabola_terms(x: Array) -> Array:
    return np.stack([x[..., 0], x[..., 1], x[..., 1] ** 2], axis=-1)


MEVIK = Design(
    name="mevik2003",
    variables=2,
    x=_correlated_pair,
    expected=_parabola,
    terms=_parabola_terms,
    boundaries=(-INFINITE, 0.0, 0.6, INFINITE),
)

# --- designs on which nothing was tuned -----------------------------------------------------------------------------


def _wave(x: Array) -> Array:
    return np.asarray(np.sin(2 * x[..., 0]) + x[..., 1] * x[..., 2])


def _second_order(x: Array) -> Array:
    """All variables, their squares and products."""
    first, second = np.triu_indices(x.shape[-1])
    return np.concatenate([x, x[..., first] * x[..., second]], axis=-1)


def _ramp(x: Array) -> Array:
    return np.asarray(2 * x[..., 0] + np.exp(x[..., 1]))


def _square(uniform: Array) -> Array:
    return 4 * uniform - 2


WAVES = Design(
    name="waves",
    variables=3,
    x=NORMAL.quantile,
    expected=_wave,
    terms=_second_order,
    boundaries=(-INFINITE, -0.5, 0.7, INFINITE),
)
GRADES = Design(
    name="grades",
    variables=2,
    x=_square,
    expected=_ramp,
    terms=_second_order,
    boundaries=(-INFINITE, -1.0, 0.5, 2.0, 4.0, INFINITE),
    rows=300,
)
HEAVY_TAILS = replace(MEVIK, name="heavy_tails", noise=STUDENT)
DESIGNS = {design.name: design for design in (MEVIK, WAVES, GRADES, HEAVY_TAILS)}

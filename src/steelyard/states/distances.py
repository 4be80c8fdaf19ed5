"""How many places classes are apart, without laying out a matrix: of many thousand classes it would fill the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..core.typing import Array

MOST_LAID_OUT = 1_000  # classes: of so many, the matrix itself is made


@dataclass(frozen=True)
class Distances:
    """The matrix of the places between two classes, or of their squares, as far as sums over tables ask for it.

    Attributes:
        classes: The number of classes.
        power: 1 for places, 2 for their squares.
    """

    classes: int
    power: int

    __array_ufunc__ = None  # so that ``array @ distances`` comes here

    @property
    def T(self) -> Distances:  # noqa: N802  (as of arrays)
        """It is symmetric."""
        return self

    @property
    def steps(self) -> Array:
        """The places of the classes."""
        return np.arange(self.classes, dtype=float)

    def min(self) -> float:
        """The least distance."""
        return 0.0

    def max(self) -> float:
        """The greatest distance."""
        return float((self.classes - 1) ** self.power)

    def __getitem__(self, cells: tuple[Any, Any]) -> Array:
        """The distances of pairs of classes."""
        first, second = (np.asarray(codes).astype(float) for codes in cells)
        return np.asarray(np.abs(first - second) ** self.power)

    def __rmatmul__(self, left: Any) -> Any:
        """The product of rows of numbers with the matrix, from running sums."""
        values, steps = np.asarray(left), self.steps
        whole, moment = values.sum(axis=-1, keepdims=True), (values * steps).sum(axis=-1, keepdims=True)
        if self.power == 2:
            square = (values * steps**2).sum(axis=-1, keepdims=True)
            return square - 2 * steps * moment + steps**2 * whole
        up_to, moment_up_to = np.cumsum(values, axis=-1), np.cumsum(values * steps, axis=-1)
        return steps * (2 * up_to - whole) + moment - 2 * moment_up_to

    def total(self, power: int = 1) -> float:
        """The sum of all cells, or of a power of them."""
        apart = self.steps
        return float(2 * (apart ** (power * self.power) * (self.classes - apart)).sum())

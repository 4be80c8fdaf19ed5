"""Sums of columns of rows, from which means and variances follow, whatever is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.cached import cached_property

if TYPE_CHECKING:
    from ..core.typing import Array


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows within each true class, of some columns: (columns, classes).

    Attributes:
        shift: What is taken from each column before it is summed, so that little cancels.
        mass: What the rows weigh, (classes,).
        weighed: Sums by weight. Of a column that need not be told apart by class, all is in the first place, here and
            in what follows.
        square: Sums of squared weights.
        first: Sums by squared weight.
        second: Sums of squares by squared weight; these may be in the first place whether told apart or not.
    """

    shift: Array
    mass: Array
    weighed: Array
    square: Array
    first: Array
    second: Array

    @cached_property
    def means(self) -> Array:
        """The mean of each column."""
        return np.asarray(self.shift + self.weighed.sum(axis=1) / self.mass.sum())

    @cached_property
    def squares(self) -> Array:
        """Squared distances of each column from its mean, summed by squared weight."""
        inside = (self.shift - self.means)[:, None]
        parts = self.second + 2 * inside * self.first + inside**2 * self.square
        return np.asarray(np.maximum(parts.sum(axis=1), 0.0))

    def scatter(self, column: int, scale: float, offset: Array) -> float:
        """Squares of scale * column + offset of the class, summed by squared weight."""
        inside = offset + scale * self.shift[column]
        parts = scale**2 * self.second[column] + 2 * scale * inside * self.first[column]
        parts += inside**2 * self.square[column]
        return max(float(parts.sum()), 0.0)

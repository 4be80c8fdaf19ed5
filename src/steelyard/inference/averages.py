"""Averages over classes: the share that each class has, the mean, and how far the mean moves with the shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..measures.registry import AVERAGES

if TYPE_CHECKING:
    from ..core.typing import Array

MEANS_OF_CLASSES = AVERAGES[:2]
WEIGHTED = AVERAGES[1]


def class_weights(kind: Any, mass: Array) -> Array:
    """Return what each class counts for: as much as any other, or the mass of its rows. Kinds can be an array."""
    return np.where(np.asarray(kind) == WEIGHTED, mass, 1.0)


def class_shares(kind: str | None, mass: Array) -> Array:
    """Return the share of each class in an average over classes that all have a value."""
    weights = class_weights(kind, mass)
    return np.asarray(weights / weights.sum())


class Average(NamedTuple):
    """An average over the classes, over any leading axes of their values.

    Attributes:
        total: The mass of all classes that are in it.
        share: The share of each class in it.
        mean: The average.
        gaps: How far a row of each class moves it by adding to the share of its class.
    """

    total: Any
    share: Array
    mean: Any
    gaps: Array

    @classmethod
    def of(cls, kind: Any, values: Array, mass: Array, undefined: float) -> Self:
        """Average over the classes that have a value, or over all where something stands in for it."""
        unknown = np.isnan(values)
        weights = np.where(unknown & np.isnan(undefined), 0.0, class_weights(kind, mass))
        values = np.where(unknown, np.nan_to_num(undefined), values)
        total = weights.sum(axis=-1, keepdims=True)
        total = np.where(total > 0, total, np.nan)  # without a class, there is no average
        # An infinite value of a class that counts for nothing is left out.
        mean = np.where(weights > 0, weights * values, 0.0).sum(axis=-1, keepdims=True) / total
        moving = (np.asarray(kind) == WEIGHTED) & (weights > 0)
        return cls(total[..., 0], weights / total, mean[..., 0], np.where(moving, values - mean, 0.0) / total)

    @classmethod
    def of_both(cls, kind: Any, values: Array, mass: Array, undefined: float) -> Self:
        """Average values as they are and with the pseudo-rows, (..., 2, classes).

        Pseudo-rows make no value of a class that has none: what stands in for it was not estimated.
        """
        return cls.of(kind, np.where(np.isnan(values[..., :1, :]), np.nan, values), mass, undefined)

    def variances_at_most(self, variances: Array, class_square: Array) -> Array:
        """Return the variance if all classes, and their shares, were off together.

        Args:
            variances: Those of the classes, over any leading axes.
            class_square: The sums of squared weights within each class.
        """
        errors = np.where(self.share > 0, np.sqrt(variances), 0.0)
        return np.asarray(np.square(errors @ self.share + np.sqrt(class_square @ np.square(self.gaps))))

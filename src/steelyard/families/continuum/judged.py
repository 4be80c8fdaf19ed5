"""Rows whose truth was measured, and the classes that they were assigned to: all that formulas of them may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.cached import cached_property
from ...core.scale import Continuum
from ...maths.kernels import (
    above,
    below,
    class_probabilities,
    expected_sqe,
    outside_probabilities,
    squared_excess,
    squared_shift,
    squared_shortfall,
)

if TYPE_CHECKING:
    from ...core.typing import Array, Codes


@dataclass(frozen=True)
class Judged:
    """Some rows: what was measured, how far that may be off, what a model expected, and the class assigned.

    Attributes:
        scale: The classes and their boundaries.
        label: The class of what was measured.
        assigned: The class that a classifier assigned.
        value: What was measured.
        sd: The standard deviation of the measurement error.
        blur: That of the response around what the covariates tell.
        expected: What a response model expects of the response.
        spread: The standard deviation of the response around that.
    """

    scale: Continuum
    label: Codes
    assigned: Codes
    value: Array
    sd: Array
    blur: Array
    expected: Array
    spread: Array

    def _ends(self, codes: Codes) -> tuple[Array, Array]:
        """Where classes begin and end."""
        ends = np.array(self.scale.boundaries)
        return ends[:-1][codes], ends[1:][codes]

    def _outside(self, mean: Array, sd: Array, codes: Codes) -> Array:
        """The probability of a value outside a class."""
        (low, high), closed = self._ends(codes), self.scale.closed
        return below(mean, sd, low, closed) + above(mean, sd, high, closed)

    def _astray(self, mean: Array, sd: Array, codes: Codes) -> Array:
        """The expected squared distance of a value to a class."""
        low, high = self._ends(codes)
        return squared_shortfall(mean, sd, low) + squared_excess(mean, sd, high)

    # --- of the measured value ---------------------------------------------------------------------------------

    @cached_property
    def wrong(self) -> Array:
        """1 where the assigned class is not the label."""
        return np.asarray(self.assigned != self.label, dtype=np.float64)

    @cached_property
    def distance(self) -> Array:
        """The squared distance of the measured value to the assigned class."""
        low, high = self._ends(self.assigned)
        return np.asarray(np.square(np.maximum(low - self.value, 0.0) + np.maximum(self.value - high, 0.0)))

    @cached_property
    def unsure(self) -> Array:
        """The probability that the label is not the true class."""
        return self._outside(self.value, self.sd, self.label)

    @cached_property
    def sure(self) -> Array:
        """The probability that the label is the true class."""
        return 1 - self.unsure

    @cached_property
    def sure_wrong(self) -> Array:
        """The same where another class is assigned, and 0 elsewhere."""
        return self.sure * self.wrong

    @cached_property
    def label_distance(self) -> Array:
        """The expected squared distance to the label that measuring once more would give."""
        (low, high), value = np.array([self.scale.boundaries[:-1], self.scale.boundaries[1:]]), self.value[:, None]
        away = np.maximum(low - value, 0.0) + np.maximum(value - high, 0.0)
        chance = class_probabilities(self.value, self.sd, self.scale.boundaries, self.scale.closed)
        return np.asarray((np.square(away) * chance).sum(axis=1))

    @cached_property
    def noise(self) -> Array:
        """The variance of the measurement error where the assigned class is wrong."""
        return np.asarray(np.square(self.sd) * self.wrong)

    @cached_property
    def shift(self) -> Array:
        """The expected square of what measurement error changes of the distance to the assigned class."""
        return squared_shift(self.value, self.sd, *self._ends(self.assigned))

    @cached_property
    def shift_squared(self) -> Array:
        """The most that the expected fourth power of that change can be: see docs/continuum.md."""
        return np.asarray(3 * np.square(self.sd) * self.shift)

    # --- of a value drawn around the measured one --------------------------------------------------------------

    @cached_property
    def smoothed_wrong(self) -> Array:
        """The probability that it is not in the assigned class."""
        return self._outside(self.value, self.blur, self.assigned)

    @cached_property
    def smoothed_distance(self) -> Array:
        """Its expected squared distance to the assigned class."""
        return self._astray(self.value, self.blur, self.assigned)

    @cached_property
    def least_wrong(self) -> Array:
        """The least probability that it is not in a class."""
        outside = outside_probabilities(self.value, self.blur, self.scale.boundaries, self.scale.closed)
        return np.asarray(outside.min(axis=1))

    @cached_property
    def least_distance(self) -> Array:
        """Its least expected squared distance to a class."""
        return np.asarray(expected_sqe(self.value, self.blur, self.scale.boundaries).min(axis=1))

    # --- under a response model --------------------------------------------------------------------------------

    @cached_property
    def model_wrong(self) -> Array:
        """The probability that the response is not in the assigned class, given the covariates."""
        return self._outside(self.expected, self.spread, self.assigned)

    @cached_property
    def model_distance(self) -> Array:
        """Its expected squared distance to the assigned class."""
        return self._astray(self.expected, self.spread, self.assigned)

    @cached_property
    def model_least_wrong(self) -> Array:
        """The least probability that it is not in a class."""
        outside = outside_probabilities(self.expected, self.spread, self.scale.boundaries, self.scale.closed)
        return np.asarray(outside.min(axis=1))

    @cached_property
    def model_least_distance(self) -> Array:
        """Its least expected squared distance to a class."""
        return np.asarray(expected_sqe(self.expected, self.spread, self.scale.boundaries).min(axis=1))

    @cached_property
    def _posterior(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the response, given the covariates and the measured value."""
        model, error = np.square(self.spread), np.square(self.sd)
        share = np.divide(model, model + error, out=np.ones_like(model), where=error > 0)
        # From the nearer of the two, so that what is known exactly stays where it is, on a boundary too.
        start, end = np.where(share > 0.5, (self.value, self.expected), (self.expected, self.value))
        return start + np.minimum(share, 1 - share) * (end - start), np.sqrt(share) * self.sd

    @cached_property
    def posterior_wrong(self) -> Array:
        """The probability that the response is not in the assigned class, given these."""
        return self._outside(*self._posterior, self.assigned)

    @cached_property
    def posterior_distance(self) -> Array:
        """Its expected squared distance to the assigned class."""
        return self._astray(*self._posterior, self.assigned)

    @cached_property
    def unsure_label(self) -> Array:
        """The probability that it is not in the class of its label."""
        return self._outside(*self._posterior, self.label)

    @cached_property
    def unsure_label_distance(self) -> Array:
        """Its expected squared distance to the class of its label."""
        return self._astray(*self._posterior, self.label)

    @cached_property
    def foreseen_wrong(self) -> Array:
        """The probability that the measured value is not in the assigned class, given the covariates."""
        return self._outside(self.expected, np.hypot(self.spread, self.sd), self.assigned)

    @cached_property
    def foreseen_distance(self) -> Array:
        """Its expected squared distance to the assigned class."""
        return self._astray(self.expected, np.hypot(self.spread, self.sd), self.assigned)

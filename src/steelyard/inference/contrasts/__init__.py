"""Rules that judge differences, one file a rule. A measure names the rule that suits it: ``contrast="ratio"``.

A rule sees the evidence of one pair of classifiers, as arrays with one entry for each difference. It makes the bounds
and the p-value from the same statistic. What a rule needs beside, it asks the two sources for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...core.errors import UnknownMeasure, quoted
from ..rules import SIDES
from ..student_t import p_values
from ..tails import Tails
from ..variances import NO_ERROR

if TYPE_CHECKING:
    from ...core.typing import Array, Places


@dataclass(frozen=True)
class PairEvidence:
    """What rules see of some differences of two classifiers: arrays with one entry each.

    Attributes:
        values: The values of both, (2, differences).
        centres: The values with the pseudo-observations.
        ends: The least and the greatest value that there can be.
        variance: The variance of the difference of the centres.
        alone: Returns the variances of both, (2, differences).
        freedom: Degrees of freedom of the variance.
        tails: Returns how far the difference is from normal.
        influences: Returns the influences on both with the pseudo-observations, (differences, patterns) each.
        level: The coverage of an interval, where no critical values are given.
        critical: How many standard errors an interval reaches, where it is not for itself.
        places: Where the differences stand among the slots of the sources.
        slots: What each of them stands for.
        sources: What knows more of both classifiers.
    """

    values: Array
    centres: Array
    ends: Array
    variance: Array
    alone: Callable[[], Array]
    freedom: Array
    tails: Callable[[], Tails]
    influences: Callable[[], tuple[Array, Array]]
    level: float
    critical: Array | None
    places: Places
    slots: Sequence[Any]
    sources: tuple[Any, Any]

    @property
    def centre(self) -> Array:
        """The difference of the centres."""
        return np.asarray(self.centres[0] - self.centres[1])

    @property
    def difference(self) -> Array:
        """The difference of the values."""
        return np.asarray(self.values[0] - self.values[1])

    @property
    def error(self) -> Array:
        """The standard error of the difference of the centres."""
        return np.sqrt(self.variance)

    @property
    def shared(self) -> Array:
        """The covariance of both."""
        alone = self.alone()
        return np.asarray((alone[0] + alone[1] - self.variance) / 2)

    @property
    def statistic(self) -> Array:
        """The difference in standard errors; 0 where it is rounding alone."""
        # What is the same whatever a classifier says, as the mean share of all classes, differs by rounding.
        rounding = NO_ERROR * np.abs(self.centres).max(axis=0)
        alike = np.maximum(np.abs(self.centre), self.error) <= rounding
        return np.where(alike, 0.0, self.centre / self.error)


@dataclass(frozen=True)
class ContrastRule:
    """A way to judge differences: so many standard errors around the difference of the centres, unless it says more."""

    def bounds(self, pair: PairEvidence, reach: Array) -> Array:
        """Return the lower and the upper bounds, which reach so many standard errors: (2, differences)."""
        return np.asarray(pair.centre + SIDES * (reach * pair.error))

    def freedom(self, pair: PairEvidence) -> Array:
        """Return the degrees of freedom of the variance."""
        return pair.freedom

    def p(self, pair: PairEvidence) -> Array:
        """Return the two-sided p-values for no difference."""
        return p_values(np.nan_to_num(self.statistic(pair), nan=0.0), pair.freedom)

    def statistic(self, pair: PairEvidence) -> Array:
        """Return the statistic behind the p-values."""
        return pair.statistic


@lru_cache(maxsize=64)
def contrast(name: str) -> ContrastRule:
    """Return the rule of a name: ``ratio`` is ``RATIO`` of ``ratio.py``."""
    try:
        found = getattr(import_module(f"{__name__}.{name}"), name.upper())
    except (ModuleNotFoundError, AttributeError):
        raise UnknownMeasure(f"there is no contrast {quoted(name)}", mend="Name a rule, such as smoothed") from None
    return cast("ContrastRule", found)

"""The two kernels of classes from a continuum, for users: what they are given is checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.columns import as_floats
from ..core.errors import BadBoundaries, BadDeviation, NotNumbers, UnequalLengths, quoted
from ..core.suggestions import refuse_unknown
from ..inputs.covariates import refuse_broken
from ..maths import kernels
from ..maths.kernels import Closed

if TYPE_CHECKING:
    from ..core.typing import Array


def class_probabilities(mean: Any, sd: Any, boundaries: Any, closed: Closed = "left") -> Array:
    """The probability of a value in each class, (n, C).

    Args:
        mean: What values are expected, (n,).
        sd: Their standard deviation: one for all, or (n,).
        boundaries: Where classes begin and end, increasing, both ends included: one more than there are classes.
        closed: Which end of an interval belongs to it; it matters where the deviation is 0.
    """
    refuse_unknown("closed", closed, ("left", "right"))
    return kernels.class_probabilities(*_checked(mean, sd, boundaries), closed)


def expected_sqe(mean: Any, sd: Any, boundaries: Any) -> Array:
    """The expected squared distance of a value to the interval of each class, (n, C).

    Args:
        mean: What values are expected, (n,).
        sd: Their standard deviation: one for all, or (n,).
        boundaries: Where classes begin and end, increasing, both ends included: one more than there are classes.
    """
    with np.errstate(over="ignore"):  # the square of what is too large is infinite, and said to be
        return kernels.expected_sqe(*_checked(mean, sd, boundaries))


def _checked(mean: Any, sd: Any, boundaries: Any) -> tuple[Array, Array, Array]:
    means, deviations, ends = (_numbers(*each) for each in ((mean, "mean"), (sd, "sd"), (boundaries, "boundaries")))
    if ends.ndim != 1 or len(ends) < 2 or not (ends[1:] > ends[:-1]).all():
        raise BadBoundaries(
            f"boundaries is {quoted(boundaries)}", mend="Give increasing numbers with both ends: [-inf, 0, 0.6, inf]"
        )
    if not (deviations >= 0).all() or np.isinf(deviations).any():
        raise BadDeviation(f"sd is {quoted(sd)}", mend="A standard deviation is a finite number, 0 or above")
    if deviations.ndim and deviations.shape != means.shape:
        raise UnequalLengths(
            f"sd has {deviations.size} values, mean {means.size}", mend="Give one for all, or one each"
        )
    refuse_broken(means.ravel(), "mean")  # else a missing value would be 0 away from every class
    return means, deviations, ends


def _numbers(values: Any, name: str) -> Array:
    try:
        return as_floats(values)
    except ValueError:
        raise NotNumbers(
            f"{quoted(values)} holds no numbers", column=name, mend="Give a number, or one a row"
        ) from None

"""Tails that lose their last digit, as 1 - cdf does: where they end, and what is beyond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadNoise
from .distributions import MEND, tells_variance, told
from .tails import Tails, halving

if TYPE_CHECKING:
    from ..core.typing import Array, Marks
    from .tails import Probability

FLOOR = 1e-14  # below this, 1 - cdf has no digits left
DIGIT = 1e-17  # which only a tail can be that is not 1 - cdf
CLOSE = 1e-14
MOST_STEPS = 1_100  # of which each is twice as long: to beyond all numbers
LOST = 30_000  # times as far away as half of a tail, such a probability adds 1e-5 to the squares of that half


def end_of_digits(tails: Tails) -> Array:
    """How far below the centre the lower tail loses its last digit, as 1 - cdf does; infinite for tails that do not.

    Many distributions of SciPy have no more to tell: their ``sf`` is 1 - ``cdf``, or their ``cdf`` 1/2 and something;
    and beyond there are rounding, or quadrature that no longer finds where anything is.
    """
    reach = halving(lambda step: tails.below(tails.centre - step), len(tails.centre))
    near, far, end = np.zeros(reach.shape), np.full(reach.shape, np.inf), np.full(reach.shape, np.inf)
    fine = np.zeros(reach.shape, dtype=bool)
    for _ in range(MOST_STEPS):
        chance = tails.below(tails.centre - reach)
        fine |= (chance > 0) & (chance < DIGIT)
        end = np.where(chance >= FLOOR, end, np.minimum(end, reach))
        ahead = chance >= DIGIT
        near, far = np.where(ahead, reach, near), np.where(ahead, far, reach)
        if (fine | (near >= (1 - CLOSE) * far)).all():
            break
        # Twice as far as long as there is something, then between what is and what is not: a tail may be short.
        with np.errstate(over="ignore", invalid="ignore"):
            reach = np.where(np.isinf(far), 2 * near, near + (far - near) / 2)
    return np.where(fine, np.inf, end)


def shortened(tails: Tails, below: Array, above: Array) -> Tails:
    """Tails that end where they have no digits left."""
    low, high = tails.centre - below, tails.centre + above
    if np.isinf(low).all() and np.isinf(high).all():
        return tails

    def ended(chance: Probability, none: Array, all_of_it: Array, side: int) -> Probability:
        return lambda place: np.where(side * place < none, 0.0, np.where(side * place > all_of_it, 1.0, chance(place)))

    chances = ended(tails.below, low, high, 1), ended(tails.above, -high, -low, -1)
    return Tails(*chances, tails.centre, tails.lowest, tails.highest, FLOOR * np.isfinite([below, above]))


def is_lost(tails: Tails, end: Array) -> Marks:
    """Of which laws squares beyond the last digit of the lower tail would still count."""
    near = halving(lambda step: tails.below(tails.centre - step), len(tails.centre))
    return np.asarray((end < tails.centre - tails.lowest) & (end > LOST * near))


def beyond_digits(noise: Any, tails: Tails, lost: Sequence[Marks]) -> Array:
    """What squares beyond the last digit add, (2, laws), by what the distribution says of its variance."""
    laws = len(tails.centre)
    if not (hasattr(noise, "mean") and tells_variance(noise)):
        side, name = ("upper", "sf") if lost[1].any() else ("lower", "cdf")
        problem = f"the {side} tail is too heavy to be found as 1 - cdf"
        raise BadNoise(problem, column="noise", mend=f"Give the distribution a method {name} that tells it by itself")
    with np.errstate(all="ignore"):
        mean, variance = told(noise, laws, "mean"), told(noise, laws, "var", "variance")
        found = tails.squared_shortfall(tails.centre).value + tails.squared_excess(tails.centre).value
        # So far out, it is the same for all places.
        rest = np.where(np.isfinite(variance), variance + (mean - tails.centre) ** 2 - found, np.inf)
    both = lost[0] & lost[1] & np.isfinite(rest)
    if both.any():
        raise BadNoise("both tails are too heavy to be found as 1 - cdf", column="noise", mend=MEND)
    return np.where(lost, np.maximum(rest, 0.0), 0.0)

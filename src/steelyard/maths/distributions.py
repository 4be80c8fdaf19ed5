"""What a distribution tells, whoever wrote it: held to answer for every row, and to be a distribution.

Tails lose their last digit where they are found as 1 - cdf: where they end, and what is beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadNoise, quoted
from .tails import DistributionTails, halving

if TYPE_CHECKING:
    from ..core.typing import Array, Marks
    from .tails import Probability


NAMES_ABOVE = ("sf", "ccdf")  # what SciPy calls the probability of the upper tail, and what it calls it now
SLIP = 1e-6  # by which a probability may miss 0 or 1
MEND = "Give a number, or a distribution with cdf (and sf or ccdf): scipy.stats.t(4, scale=0.3)"


def is_one_law(below: Probability, rows: int) -> bool:
    """Whether a distribution answers for more rows than there are: then it is the same for all of them."""
    try:
        below(np.zeros(rows + 1))
    except BadNoise:
        return False
    return True


def support_of(noise: Any, rows: int) -> tuple[Array, Array]:
    """Between which values all probability lies, where the distribution says so."""
    ends = noise.support() if hasattr(noise, "support") else (-np.inf, np.inf)
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (rows,)) for end in ends)
    return low, high


def asked(noise: Any, name: str, rows: int) -> Probability:
    """A method of a distribution, held to answer for every row."""

    def ask(place: Array) -> Array:
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(getattr(noise, name)(place), dtype=np.float64)
        except Exception as error:  # a foreign object may raise anything
            problem = f"{name} of {quoted(noise)} fails ({quoted(str(error), 120)})"
            raise BadNoise(problem, column="noise", mend=MEND) from None
        if found.shape != place.shape:
            problem = f"{name} of {quoted(noise)} has the shape {found.shape} for values of the shape {place.shape}"
            raise BadNoise(problem, column="noise", mend=f"Parameters are single numbers, or have the shape ({rows},)")
        beyond = (found > 1 + SLIP) | (found < -SLIP)
        if beyond.any():
            problem = f"{name} of {quoted(noise)} is {found[beyond][0]:.4g} at {place[beyond][0]:.4g}"
            raise BadNoise(problem, column="noise", mend="Probabilities are between 0 and 1; angles are no values")
        return found

    return ask


def refuse_improbable(chance: Array, rows: int) -> None:
    """Refuse what is no probability, as parameters leave behind that a distribution cannot have."""
    broken = ~((chance >= 0) & (chance <= 1))
    if broken.any():
        row = int(np.argmax(broken))
        raise BadNoise(
            f"the probability of a value below 0 is {chance[row]}",
            column="noise",
            row=row if rows > 1 else None,
            mend="Check its parameters; where there is no noise, give the number 0",
        )


def above_of(noise: Any, rows: int) -> Probability:
    """The probability of the upper tail, by itself where the distribution tells it."""
    name = next((name for name in NAMES_ABOVE if hasattr(noise, name)), None)
    below = asked(noise, "cdf", rows)
    return asked(noise, name, rows) if name is not None else lambda place: 1 - below(place)


def told(noise: Any, rows: int, *names: str) -> Array:
    """A figure of a distribution for every row, by the first name that it has."""
    method = next(name for name in names if hasattr(noise, name))
    return np.broadcast_to(np.asarray(getattr(noise, method)(), dtype=np.float64), (rows,))


def tells_variance(noise: Any) -> bool:
    """Whether a distribution says how far it scatters."""
    return hasattr(noise, "var") or hasattr(noise, "variance")


# --- tails that lose their last digit -------------------------------------------------------------------------------


FLOOR = 1e-14  # below this, 1 - cdf has no digits left
DIGIT = 1e-17  # which only a tail can be that is not 1 - cdf
CLOSE = 1e-14
MOST_STEPS = 1_100  # of which each is twice as long: to beyond all numbers
LOST = 30_000  # times as far away as half of a tail, such a probability adds 1e-5 to the squares of that half


def end_of_digits(tails: DistributionTails) -> Array:
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


def shortened(tails: DistributionTails, below: Array, above: Array) -> DistributionTails:
    """DistributionTails that end where they have no digits left."""
    low, high = tails.centre - below, tails.centre + above
    if np.isinf(low).all() and np.isinf(high).all():
        return tails

    def ended(chance: Probability, none: Array, all_of_it: Array, side: int) -> Probability:
        return lambda place: np.where(side * place < none, 0.0, np.where(side * place > all_of_it, 1.0, chance(place)))

    chances = ended(tails.below, low, high, 1), ended(tails.above, -high, -low, -1)
    return DistributionTails(*chances, tails.centre, tails.lowest, tails.highest, FLOOR * np.isfinite([below, above]))


def is_lost(tails: DistributionTails, end: Array) -> Marks:
    """Of which laws squares beyond the last digit of the lower tail would still count."""
    near = halving(lambda step: tails.below(tails.centre - step), len(tails.centre))
    return np.asarray((end < tails.centre - tails.lowest) & (end > LOST * near))


def beyond_digits(noise: Any, tails: DistributionTails, lost: Sequence[Marks]) -> Array:
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

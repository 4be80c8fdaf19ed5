"""What a distribution tells, whoever wrote it: held to answer for every row, and to be a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadNoise, quoted

if TYPE_CHECKING:
    from ..core.typing import Array
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

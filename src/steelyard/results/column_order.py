"""Whether columns of memberships without names stand in another order than that of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ..core.scale import Label, listed

if TYPE_CHECKING:
    from ..core.typing import Array

RARE = 0.025  # how often chance alone may make some other order look better
FAR = 0.1  # of all rows, which are right in the other order and wrong in this one, net
HALVED = 0.5  # of the errors
MOST_CLASSES = 1_000  # looking for the best order of more takes seconds
MOST_LISTED = 12


def words_on_order(table: Array, units: float, classes: Sequence[Label]) -> str:
    """Return what to ask where another order of the columns fits far better, or nothing.

    ``table`` has the true classes in rows and the assigned ones in columns; ``units`` is how many rows, of equal
    weight, or clusters there are. The best order is one of C!, so chance must be that much less likely.
    """
    total = table.sum()
    if not total > 0:
        return ""
    from scipy.optimize import linear_sum_assignment

    assigned, fits = linear_sum_assignment(table.T, maximize=True)
    now, then = np.diag(table).sum() / total, table[fits, assigned].sum() / total
    moved = fits != assigned
    gained, lost = (table[fits, assigned][moved].sum() / total, np.diag(table)[moved].sum() / total)
    enough = sqrt(2 * (lgamma(len(classes) + 1) - log(RARE)))
    sure = (gained - lost) * sqrt(units) > enough * sqrt(gained + lost)
    if not sure or not (then - now >= FAR or 1 - then <= HALVED * (1 - now)):
        return ""
    order = listed([classes[int(place)] for place in fits], MOST_LISTED)
    better = f"another order of the columns fits far better: {order} (accuracy {then:.3f}, not {now:.3f})"
    return f"{better}; name the columns, or give scale=Scale([...]) in their order"

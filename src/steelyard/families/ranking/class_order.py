"""The order of rows by one score, as far as it is told by a class and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.threads import chunks
from .sided import Sided

if TYPE_CHECKING:
    from ...core.typing import Array, Places


class Ties(NamedTuple):
    """Scores that rows of the class have in common with some of the rest.

    Attributes:
        last: Where the last row of the class with such a score is; those of the rest follow.
        own: How many rows of the class have it.
        rest: How many of the rest.
    """

    last: Places
    own: Places
    rest: Places

    @classmethod
    def of(cls, rows: Sided) -> Ties:
        """Count them in the sorted scores."""
        keys = rows.alike
        pieces = chunks(0, len(keys) - 1)
        found = [np.flatnonzero(keys[low:high] ^ keys[low + 1 : high + 1] == 1) + low for low, high in pieces]
        last = np.concatenate([np.zeros(0, np.int64), *found])
        key = keys[last]
        own, rest = np.searchsorted(keys, key), np.searchsorted(keys, key + 1, side="right")
        return cls(last if rows.places is None else rows.places[last], last + 1 - own, rest - last - 1)


class Order(NamedTuple):
    """The order of rows by one score, as far as it is told by a class and the rest.

    What is not told of each row takes no memory: where there are no ties, so many of the rest are above a row of the
    class as its place is behind the number of those of the class before it.

    Attributes:
        keys: The sorted scores.
        places: Where the rows of the class are.
        ties: Where rows of the rest have the same score.
        above: How many of the rest are above the rows of the class, summed up.
        squares: Squared counts summed up: of the rest, and of the class.
    """

    keys: Places
    places: Places
    ties: Ties
    above: float
    squares: Array

    @classmethod
    def of(cls, rows: Sided, size: int) -> Order:
        """Read it off the sorted scores of a class of this size and the rest."""
        keys, ties = rows.keys, Ties.of(rows)
        places: Places = np.empty(size, np.uint32 if len(keys) <= 1 << 32 else np.int64)
        pieces, reached, total, squares, product = chunks(0, len(keys)), 0, 0, 0, 0
        steps = np.arange(pieces[0][1] if pieces else 0, dtype=np.float64)
        for low, high in pieces:
            own = np.flatnonzero(keys[low:high].astype(np.uint8) & 1 == 0)
            number, beyond, before = len(own), low - reached, steps[: len(own)]
            np.add(own, low, out=places[reached : reached + number], casting="unsafe")
            higher = own - before  # of the rest in this piece; beyond are those before it
            sums = higher.sum(), np.einsum("i,i", higher, higher), np.einsum("i,i", higher, before)
            first, second, both = map(int, sums)  # whole numbers, so that nothing is rounded here
            total += first + number * beyond
            squares += second + 2 * beyond * first + number * beyond**2
            product += both + reached * first + beyond * (number * (number - 1) // 2) + number * beyond * reached
            reached += number
        # A row of the rest with h of the class above it has h squared = 1 + 3 + ... + (2 h - 1): one term for each of
        # these, and so a row of the class gives its term to all of the rest but those above it.
        above, of_class = float(total), float(squares)
        of_rest = float((len(keys) - size) * size**2 - 2 * product - total)
        if len(ties.last):
            end = np.searchsorted(places, ties.last.astype(places.dtype)) + 1
            others = ties.last + 1 - end
            above += float(ties.own @ ties.rest) / 2
            of_class += float(ties.own @ ((others + ties.rest / 2) ** 2 - others**2.0))
            of_rest += float(ties.rest @ ((end - ties.own / 2) ** 2 - end**2.0))
        return cls(keys, places, ties, above, np.array([of_rest, of_class]))

"""Measures by counts of rows above others, where there are so few rows that pseudo-rows are felt.

Pseudo-rows are spread over the scores as all rows are: above a row there is so much more of either side as the share of
all rows above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.threads import chunks, over_rows, shared
from ...inference.row_evaluation import NOT_FOUND, Found
from ...inputs.prediction import Scores
from ...maths.ordered_scores import SORTING, Tags, ordering
from ...measures.masses import BY_COUNT, Sides, spread_of
from .counted import ways
from .one_against_rest import NEGLIGIBLE, PSEUDO_ROW, told_of

if TYPE_CHECKING:
    from ...core.typing import Array, Marks, Places


class Slopes(NamedTuple):
    """A measure of a class, and what a row of the class and one of the rest would add to it in place of each row."""

    value: float
    of_class: Array
    of_rest: Array


class Above(NamedTuple):
    """What is above each row, by the score of a class from the highest to the lowest; what is beside it counts half.

    Attributes:
        own: Where the rows of the class are.
        of_class: How much of the class is above.
        of_rest: How much of the rest.
    """

    own: Places
    of_class: Array
    of_rest: Array

    @classmethod
    def of(cls, tied: Marks, marks: Marks) -> Above:
        """Count the rows, some of which are marked as those of the class."""
        own = np.flatnonzero(marks)
        if not tied.any():
            of_class = np.cumsum(marks, dtype=np.float64)
            of_class[own] -= 0.5
            return cls(own, of_class, np.arange(0.5, len(marks)) - of_class)
        starts = np.flatnonzero(~tied)
        lengths, within = np.diff(starts, append=len(marks)), np.add.reduceat(marks, starts, dtype=np.float64)
        of_class = np.cumsum(within) - within / 2
        return cls(own, np.repeat(of_class, lengths), np.repeat(starts + lengths / 2 - of_class, lengths))

    def turned(self) -> Above:
        """The rest as the class, by the negative score."""
        rest = np.ones(len(self.of_rest), dtype=bool)
        rest[self.own] = False
        return Above(np.flatnonzero(rest), rest.sum() - self.of_rest, len(self.own) - self.of_class)

    def smoothed(self, share: float) -> Above:
        """Spread such a share of as many rows of the class, and of the rest, over all rows."""
        more = self.of_class + self.of_rest
        more *= share
        return Above(self.own, self.of_class + more, self.of_rest + more)

    def sloped(self, formula: object, row: float = 0.0) -> Slopes:
        """A measure, where rows that weigh so much were spread over all rows."""
        rows, size = len(self.of_rest), len(self.own)
        above = float(self.of_rest[self.own].sum() + row / rows * self.of_rest.sum())
        value, (constant, slope), (low, rise) = BY_COUNT[formula](above, size + row, rows - size + row)
        return Slopes(value, _line(constant, slope, self.of_rest), _line(low, rise, self.of_class))

    def influence(self, slopes: Slopes) -> tuple[Array, Array]:
        """What each row adds, and the sums of the squares of that, of the rest and of the class.

        It is written over what rows of the rest would add.
        """
        rows, own = slopes.of_rest, slopes.of_class[self.own]
        rows[self.own] = 0.0
        squares = np.array([_squared(rows), _squared(own)])
        rows[self.own] = own
        return rows, squares


def _line(constant: float, slope: float, places: Array) -> Array:
    found: Array = slope * places
    found += constant
    return found


def _squared(values: Array) -> float:
    return float(np.einsum("i,i", values, values))


@dataclass(frozen=True)
class Smoothed:
    """A measure of each class against the rest, on the rows as they are and with the pseudo-rows.

    Attributes:
        sides: The rows, one side a class, in the order of the input.
        classes: The measure of each class with its spread.
        pseudo: The mean squared influence of a pseudo-row, and the mean influence of one of the rest and of the class.
        influences: What rows add, in the order of the input: (2, classes, rows).
    """

    sides: Sides
    classes: list[Found]
    pseudo: list[tuple[float, Array]]
    influences: Array

    @classmethod
    def of(cls, formula: object, scores: Scores, sides: Sides, unit: float) -> Smoothed:
        """Sort by the score of each class."""
        truth, classes = sides.side, len(sides.sizes)
        pseudo = [(0.0, np.zeros(2)) for _ in range(classes)]
        found = cls(sides, [NOT_FOUND] * classes, pseudo, np.empty((2, classes, len(truth))))

        def work(codes: Sequence[int]) -> None:
            for code in codes:
                score = scores.columns[code if len(scores.columns) > 1 else 0]
                order, tied, own = ordering(score, Tags.marking(truth, code), code)
                above = Above.of(tied, truth[order] == code if own is None else own)
                found._enter(formula, code, order, above, unit)
                if len(scores.columns) == 1:  # the other class has the same score, turned round
                    found._enter(formula, 1 - code, order, above.turned(), unit)

        shared(range(classes) if len(scores.columns) > 1 else [scores.speaks], work, SORTING * len(truth))
        return found

    def _enter(self, formula: object, code: int, order: Places, above: Above, unit: float) -> None:
        """Write down what was found of a class."""
        sizes = np.array([len(order) - self.sides.sizes[code], self.sides.sizes[code]])
        plain = above.sloped(formula)
        self.influences[0, code][order], squares = above.influence(plain)
        variance, freedom = spread_of(squares, sizes)
        # No value moves further than the share of the mass that is added.
        if (unit / sizes).sum() < NEGLIGIBLE * np.sqrt(variance):
            self.influences[1, code] = self.influences[0, code]
            self.classes[code] = Found((plain.value, plain.value), (variance, variance), (freedom, freedom))
            return
        above = above.smoothed(unit / len(order))
        smooth = above.sloped(formula, unit)
        means = np.array([smooth.of_rest.mean(), smooth.of_class.mean()])
        square = (_squared(smooth.of_rest) + _squared(smooth.of_class)) / (2 * len(order))
        self.influences[1, code][order], squares = above.influence(smooth)
        spread, looser = told_of(variance, *spread_of(squares, sizes, pseudo=PSEUDO_ROW))
        self.pseudo[code], added = (square, means), 2 * unit**2 * square
        self.classes[code] = Found((plain.value, smooth.value), (variance, spread + added), (freedom, looser), added)

    def found(self, part: int | str) -> Found:
        """The measure with its spread, of a class or averaged over all of them."""
        if isinstance(part, int):
            return self.classes[part]
        (value, weights), (centre, _) = (self._way(part, smooth)[:2] for smooth in (False, True))
        variance, freedom = self.sides.spread(self.influence(part, smooth=False))
        if not any(found.moved for found in self.classes):
            return Found((value, value), (variance, variance), (freedom, freedom))
        spread, looser = self.sides.spread(self.influence(part, smooth=True), PSEUDO_ROW)
        added = float(np.square(weights) @ [found.added for found in self.classes])
        found = Found((value, centre), (variance, spread + added), (freedom, looser), added)
        return found.of_average(len(self.classes))

    def influence(self, part: int | str, smooth: bool) -> Array:
        """What each row adds to the measure of a class, or to its average over all of them."""
        if isinstance(part, int):
            return np.asarray(self.influences[int(smooth), part])
        _, weights, gaps = self._way(part, smooth)
        found = np.empty(len(self.sides.side))

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop, columns=len(weights)):
                np.einsum("c,cr->r", weights, self.influences[int(smooth), :, low:high], out=found[low:high])
                found[low:high] += gaps.take(self.sides.side[low:high])

        over_rows(len(found), work, len(weights))
        return found

    def _way(self, average: str, smooth: bool) -> tuple[float, Array, Array]:
        """An average, what classes weigh in it, and what a row moves it by in making its class weigh more."""
        values = np.array([found.value[int(smooth)] for found in self.classes])
        weights, gaps = ways(values, self.sides.sizes)[average]
        return float(weights @ values), weights, gaps

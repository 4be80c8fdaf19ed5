"""Measures that are told by how many rows of the other side are above each row, where all weigh the same.

A row with the same score counts half. Most of what averages over classes cost is bringing what is found in the order
of each score back to the rows: here, only counts need to come back. How the counts were found, and what is kept of
them, differs: see ``cell_counts.py`` for sums of very many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.cached import cached_property
from ...core.threads import chunks, dealt_out, over_rows, shared
from ...inference.averages import MEANS_OF_CLASSES, Average
from ...inference.row_evaluation import Found
from ...maths.ordered_scores import SORTING, Tags, count_above, ordering, write_ranks
from ...maths.sides import spread_of, sums_of_products
from ...measures.masses import BY_COUNT
from ...states.held_rows import Rows
from .one_against_rest import NEGLIGIBLE, PSEUDO_ROW, told_of, unmoved

if TYPE_CHECKING:
    from ...core.typing import Array, Codes, Places
    from ...measures.masses import Line

PAIRED = 4  # classes: products of more, two by two, take longer than looking at every row
FEW = 5  # classes: of more, tags are written down once
TOLD_APART = 46  # bits: where places and classes take more, one score in a hundred could not be told from the next


@dataclass(frozen=True)
class Counted:
    """Values and their spread, for every class against the rest and averaged over the classes.

    Attributes:
        sizes: How many rows each class has.
        units: What one count of each class stands for: a row, or half of one where scores are tied.
        above: How many of the rest are above the rows of each class, summed up.
        squares: Returns sums of squares by class: of influences on each mean, and if wanted of counts, of all rows and
            of its own.
    """

    sizes: Array
    units: Array
    above: Array
    squares: Callable[[Sequence[Mean], bool], Array]

    def found(self, formula: object, parts: Collection[int | str]) -> dict[int | str, Found]:
        """A measure with its spread: of some classes, and averaged over all of them in one or both ways."""
        rest, (values, lines) = self.sizes.sum() - self.sizes, lines_of(formula, self.sizes, self.units, self.above)
        averages = {kind: Average.of(kind, values, self.sizes, np.nan) for kind in MEANS_OF_CLASSES if kind in parts}
        means = [Mean.of(lines, average.share, average.gaps) for average in averages.values()]
        codes = [part for part in parts if isinstance(part, int)]
        *squares, every, own = self.squares(means, bool(codes))
        found: dict[int | str, Found] = {}
        for code in codes:
            constant, slope = lines[code].T
            sizes = np.array([rest[code], self.sizes[code]])
            # Of any two rows, one of the class and one of the rest, one is above the other.
            first = np.array([sizes.prod() - self.above[code], self.above[code]]) / self.units[code]
            second = np.array([every[code] - own[code], own[code]])
            both = sizes * constant**2 + 2 * constant * slope * first + slope**2 * second
            found[code] = unmoved(float(values[code]), *spread_of(both, sizes))
        for (kind, average), by_class in zip(averages.items(), squares, strict=True):
            found[kind] = unmoved(float(average.mean), *spread_of(by_class, self.sizes))
        return found


def lines_of(formula: object, sizes: Array, units: Array, above: Array) -> tuple[Array, Array]:
    """A measure of each class; and what rows add to it by their counts, as lines: (classes, sides, 2)."""
    known = [BY_COUNT[formula](*numbers) for numbers in zip(above, sizes, sizes.sum() - sizes, strict=True)]
    lines = np.array([[of_rest, of_class] for _, of_class, of_rest in known])
    lines[..., 1] *= units[:, None]
    return np.array([value for value, _, _ in known]), lines


class Mean(NamedTuple):
    """What a row adds to a weighted mean over the classes, by its true class: linear in its counts.

    Attributes:
        constant: What it adds where all counts are 0.
        slope: What each count adds, of a row of the rest.
        own: How much more, of a row of the class.
    """

    constant: Array
    slope: Array
    own: Array

    @classmethod
    def of(cls, lines: Array, weights: Array, gaps: Array) -> Mean:
        """Put the lines of all classes together: a row is of the rest to every class but its own."""
        constants, slopes = weights[:, None] * lines[..., 0], weights[:, None] * lines[..., 1]
        constant = constants[:, 0].sum() + constants[:, 1] - constants[:, 0] + gaps
        return cls(constant, slopes[:, 0], slopes[:, 1] - slopes[:, 0])

    def at(self, truth: Places, own: Array, slope: Array, counts: Places) -> Array:
        """What some rows add, by their true class, their count for it, and the slopes and counts of classes."""
        influence: Array = np.einsum("c,cr->r", slope, counts)
        influence += self.own.take(truth) * own
        influence += self.constant.take(truth)
        return influence


def squares_of_products(means: Sequence[Mean], sizes: Array, sums: Array, products: Array) -> Array:
    """Sums of squares by class: of influences on each mean, and of counts, of all rows and of its own.

    Args:
        means: What rows add to each mean.
        sizes: How many rows each class has.
        sums: The counts of the rows of each class, summed up: (true class, class).
        products: The same of their products two by two: (true class, class, class).
    """
    found = []
    for constant, slope, own in means:
        slopes = slope + np.diag(own)  # (true class, class)
        linear, square = (slopes * sums).sum(axis=1), np.einsum("ti,tij,tj->t", slopes, products, slopes)
        found.append(sizes * constant**2 + 2 * constant * linear + square)
    return np.array([*found, np.einsum("tii->i", products), np.einsum("iii->i", products)])


# --- counts of each row ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Placements:
    """How many rows of the other side are above each row, class by class, in the order of the input.

    Attributes:
        sizes: How many rows each class has.
        units: What one count of each class stands for: a row, or half of one where scores are tied.
        above: How many of the rest are above the rows of each class, summed up.
        counts: (classes, rows).
        truth: The true classes.
        ranks: Twice the rank of each row by the score of each class, less 1: (classes, rows); no rows where it was not
            asked for.
    """

    sizes: Array
    units: Array
    above: Array
    counts: Places
    truth: Codes
    ranks: Places

    @classmethod
    def of(cls, rows: Rows, model: int, sizes: Array, ranked: bool = False) -> Placements:
        """Sort by the score of each class; keep the ranks of rows among all others, too, where that is asked for."""
        columns, speaks = rows.scores[model][:2]
        counts: Places = np.empty((len(sizes), len(rows)), np.int32)
        ranks: Places = np.empty((len(sizes), len(rows) if ranked else 0), np.int32)
        above, units, tags = np.empty(len(sizes)), np.ones(len(sizes)), _tags(rows.truth, len(sizes))

        def write(code: int) -> None:  # what is made of a class is let go of before the next one is begun with
            score = columns[code if len(columns) > 1 else 0]
            order, tied, own = ordering(score, tags or Tags.marking(rows.truth, code), code)
            units[code], above[code] = count_above(order, tied, own, counts[code])
            if ranked:
                write_ranks(order, tied, ranks[code])

        codes = range(len(sizes)) if len(columns) > 1 else [speaks]
        dealt_out(codes, write, SORTING * len(rows))
        if len(columns) == 1:  # the other class has the same score, turned round
            units[1 - speaks], above[1 - speaks] = units[speaks], above[speaks]
            counts[1 - speaks] = (sizes[::-1] / units)[rows.truth] - counts[speaks]
            ranks[1 - speaks] = 2 * len(rows) - ranks[speaks]
        return cls(sizes, units, above, counts, rows.truth, ranks)

    @property
    def counted(self) -> Counted:
        """Measures that are made of these counts."""
        return Counted(self.sizes, self.units, self.above, self._squares)

    def influence(self, formula: object, part: int | str) -> Array:
        """What each row adds to a measure of one class, or averaged over all of them."""
        values, lines = lines_of(formula, self.sizes, self.units, self.above)
        weights, gaps = np.arange(len(values)) == part, 0 * values
        if isinstance(part, str):
            _, weights, _, gaps = Average.of(part, values, self.sizes, np.nan)
        used, mean = np.flatnonzero(weights), Mean.of(lines, weights, gaps)
        found = np.empty(len(self.truth))

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop, columns=3):
                truth = self.truth[low:high].astype(np.intp)
                counts = self.counts[used, low:high] if len(used) < len(weights) else self.counts[:, low:high]
                own = counts[0].astype(np.float64) if len(used) == 1 else self._own(truth, low, high)
                found[low:high] = mean.at(truth, own, mean.slope[used], counts)

        over_rows(len(found), work, len(used))
        return found

    def _own(self, truth: Places, low: int, high: int) -> Array:
        """The counts of some rows among the rest of their own class."""
        counts = self.counts.ravel().take(truth * self.counts.shape[1] + np.arange(low, high))
        return np.asarray(counts, dtype=np.float64)

    def _squares(self, means: Sequence[Mean], counted: bool) -> Array:
        if len(self.sizes) <= PAIRED:
            return squares_of_products(means, self.sizes, *self._products)
        return self._squares_of_rows(means, counted) if means or counted else np.zeros((2, len(self.sizes)))

    def _squares_of_rows(self, means: Sequence[Mean], counted: bool) -> Array:
        classes, rows = self.counts.shape

        def work(start: int, stop: int) -> Array:
            found = np.zeros((len(means) + 2, classes))
            for low, high in chunks(start, stop, columns=3):
                truth, counts = self.truth[low:high].astype(np.intp), self.counts[:, low:high]
                own = self._own(truth, low, high)
                for place, mean in enumerate(means):
                    influence = mean.at(truth, own, mean.slope, counts)
                    influence *= influence
                    found[place] += np.bincount(truth, influence, classes)
                if counted:
                    found[-2] += [np.einsum("r,r", each, each) for each in map(np.float64, counts)]
                    own *= own
                    found[-1] += np.bincount(truth, own, classes)
            return found

        return reduce(np.add, over_rows(rows, work, classes))

    @cached_property
    def _products(self) -> tuple[Array, Array]:
        """Sums of counts over the rows of each class, (classes, classes), and of their products two by two."""
        classes, rows = self.counts.shape

        def work(start: int, stop: int) -> Array:
            found = np.zeros((classes, classes + 1, classes))
            # In longer pieces than elsewhere: threads would spend their time on handing many short calls to each other.
            for low, high in chunks(start, stop, classes, parts=2):
                truth = self.truth[low:high]
                by_class = np.argsort(truth, kind="stable")
                edges = np.cumsum(np.bincount(truth, minlength=classes)).tolist()
                # With ones below the counts, one product of matrices makes both sums.
                counts = np.ones((classes + 1, high - low))
                counts[:-1] = self.counts[:, low:high].take(by_class, axis=1)
                for code, ends in enumerate(pairwise([0, *edges])):
                    own = counts[:, slice(*ends)]
                    found[code] += sums_of_products(own, own[:-1])
            return found

        found = reduce(np.add, over_rows(rows, work, classes))
        return found[:, -1], found[:, :-1]


def _tags(truth: Codes, classes: int) -> Tags | None:
    """The tags of rows for the scores of all classes; None where these would take too many bits of a score.

    The more rows there are, the more bits it takes to tell their scores apart, and to write down their places.
    """
    if 2 * len(truth).bit_length() + classes.bit_length() > TOLD_APART:
        return None
    tags = Tags.of(len(truth), truth, classes)
    return tags.kept(len(truth)) if classes > FEW else tags


# --- with the pseudo-rows, where there are so few rows that these are felt ---------------------------------------


@dataclass(frozen=True)
class Smoothed:
    """A measure of each class against the rest, on the rows as they are and with the pseudo-rows.

    Pseudo-rows are spread over the scores as all rows are: above a row there is so much more of either side as the
    share of all rows above it.

    Attributes:
        classes: The measure of each class with its spread.
        pseudo: The mean squared influence of a pseudo-row, and the mean influence of one of the rest and of the class.
        influences: What rows add, in the order of the input: (2, classes, rows).
    """

    classes: Sequence[Found]
    pseudo: Sequence[tuple[float, Array]]
    influences: Array

    @classmethod
    def of(cls, formula: object, placements: Placements, unit: float) -> Smoothed:
        """Look at each class, where a pseudo-row weighs so much."""
        influences = np.empty((2, *placements.counts.shape))

        def work(codes: Sequence[int]) -> list[tuple[int, Found, tuple[float, Array]]]:
            return [(code, *_smoothed(formula, placements, code, unit, influences[:, code])) for code in codes]

        codes = range(len(placements.sizes))
        shares = shared(codes, work, SORTING * len(placements.truth))
        found = sorted((each for share in shares for each in share), key=itemgetter(0))
        return cls([each[1] for each in found], [each[2] for each in found], influences)

    def influence(self, average: Average, truth: Codes, smooth: bool) -> Array:
        """What each row adds to an average over all classes."""
        found = np.empty(len(truth))

        def work(start: int, stop: int) -> None:
            for low, high in chunks(start, stop, columns=len(average.share)):
                rows = self.influences[int(smooth), :, low:high]
                np.einsum("c,cr->r", average.share, rows, out=found[low:high])
                found[low:high] += average.gaps.take(truth[low:high])

        over_rows(len(found), work, len(average.share))
        return found


def _smoothed(
    formula: object, placements: Placements, code: int, unit: float, out: Array
) -> tuple[Found, tuple[float, Array]]:
    """A measure of one class and what is known of its pseudo-rows; what rows add is written down, without and with."""
    own, rows = np.flatnonzero(placements.truth == code), len(placements.truth)
    sizes = np.array([rows - placements.sizes[code], placements.sizes[code]])
    above = placements.units[code] * placements.counts[code]  # of the other side
    value, of_class, of_rest = BY_COUNT[formula](placements.above[code], sizes[1], sizes[0])
    squares = _written(_line(of_rest, above), _line(of_class, above[own]), own, out[0])
    variance, freedom = spread_of(squares, sizes)
    # No value moves further than the share of the mass that is added.
    if (unit / sizes).sum() < NEGLIGIBLE * np.sqrt(variance):
        out[1] = out[0]
        return unmoved(value, variance, freedom), (0.0, np.zeros(2))
    rank = placements.ranks[code] / 2
    rest, same = rank - above, above  # of the rest and of the class, itself half: so it is for rows of the rest
    rest[own], same[own] = same[own], rest[own]
    rank *= unit / rows
    rest += rank
    same += rank
    total = float(rest[own].sum() + unit / rows * rest.sum())
    centre, of_class, of_rest = BY_COUNT[formula](total, sizes[1] + unit, sizes[0] + unit)
    by_class, by_rest = _line(of_class, rest), _line(of_rest, same)  # in place of each row
    square, means = (_squared(by_rest) + _squared(by_class)) / (2 * rows), np.array([by_rest.mean(), by_class.mean()])
    squares = _written(by_rest, by_class[own], own, out[1])
    spread, looser = told_of(variance, *spread_of(squares, sizes, pseudo=PSEUDO_ROW))
    added = 2 * unit**2 * square
    return Found((value, centre), (variance, spread + added), (freedom, looser), added), (square, means)


def _line(line: Line, places: Array) -> Array:
    found: Array = line[1] * places
    found += line[0]
    return found


def _squared(values: Array) -> float:
    return float(np.einsum("i,i", values, values))


def _written(rows: Array, of_class: Array, own: Places, out: Array) -> Array:
    """Write down what rows add; the sums of its squares, of the rest and of the class."""
    rows[own] = 0.0
    squares = np.array([_squared(rows), _squared(of_class)])
    out[:] = rows
    out[own] = of_class
    return squares

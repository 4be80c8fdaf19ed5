"""What is summed. Rows of one pattern are alike to every measure, so only patterns and their sums are kept.

A pattern is a tuple of small integers (here: part of the data, cluster, true class, class assigned by each
classifier). ``Sums`` holds the patterns that occur and, for each, how many rows it has, what they weigh, and the
sum of their squared weights, which is what variances need. Sums add, so merging, saving, parts of the data,
folds and streams need nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isclose, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.threads import chunks, over_rows
from ..inputs.dataset import ASKED, Dataset
from ..inputs.prediction import Scores
from .held_rows import Rows, counts_of, met

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Places

ROUNDING = 1e-13
MOST_CELLS = 1 << 20  # a full table up to this size is counted directly; beyond, patterns are sorted


@dataclass(frozen=True)
class PatternCounts:
    """Patterns (one a row) and their sums (count, mass, square)."""

    keys: Places
    values: Array

    def __add__(self, other: PatternCounts) -> PatternCounts:
        """Add pattern by pattern."""
        keys = np.concatenate([self.keys, other.keys])
        values = np.concatenate([self.values, other.values])
        order = np.lexsort(keys.T[::-1])
        keys, values = keys[order], values[order]
        fresh = np.ones(len(keys), dtype=bool)
        fresh[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        starts = np.flatnonzero(fresh)
        summed, here = met(values, starts)
        return PatternCounts(keys[starts][here], summed[here])

    def __neg__(self) -> PatternCounts:
        """Turn around, so that subtracting is adding."""
        return PatternCounts(self.keys, -self.values)

    def select(self, rows: Marks) -> PatternCounts:
        """Keep some of the patterns."""
        return PatternCounts(self.keys[rows], self.values[rows])


@dataclass(frozen=True)
class Statistic:
    """What is summed over rows: the means of it that formulas may ask for by name.

    Attributes:
        name: What it is called.
        of_a_class: Names of means that exist once a class.
        of_the_whole: Names of means of all rows.
    """

    name: str
    of_a_class: frozenset[str]
    of_the_whole: frozenset[str]

    def offers(self, names: Collection[str]) -> bool:
        """Whether a formula that asks for these means can be given them: of a class, or of all rows, not both."""
        return bool(names) and (set(names) <= self.of_a_class or set(names) <= self.of_the_whole)


def confusion(dataset: Dataset) -> PatternCounts:
    """Count the rows of every (slice, cluster, true class, assigned classes)."""
    rows = len(dataset)
    columns: list[AnyArray | None] = []
    sizes: list[int] = []
    for coded in (dataset.slice, dataset.group):
        columns.append(None if coded is None else coded.codes)
        sizes.append(1 if coded is None else max(len(coded.labels), 1))
    columns += [dataset.truth, *dataset.assigned.values()]
    sizes += [len(dataset.scale)] * (len(columns) - 2)
    return _tabulate(columns, sizes, rows, dataset.weight, dataset.counted)


def confusion_of(rows: Rows, assigned: Codes, classes: int) -> PatternCounts:
    """Count rows that were kept, of one classifier, where they are assigned to these classes."""
    columns = [rows.slice, rows.cluster, rows.truth, assigned]
    if rows.sums is None:
        sizes = [1 if column is None else int(column.max(initial=0)) + 1 for column in columns[:2]]
        return _tabulate(columns, [*sizes, classes, classes], len(rows), None, counted=True)
    keys = [np.zeros(len(rows), np.int64) if column is None else column.astype(np.int64) for column in columns]
    none = PatternCounts(np.zeros((0, len(keys)), np.int64), np.zeros((0, 3)))
    return none + PatternCounts(np.stack(keys, axis=1), rows.sums)


CONFUSION = Statistic(
    "confusion",
    frozenset({"tp", "fn", "fp", "tn"}),
    frozenset({"correct", "true", "assigned", "total", "penalty", "matrix"}),
)
RANKING = Statistic("ranking", frozenset({"positive", "negative", "hits", "alarms"}), frozenset())
FORECASTS = Statistic(
    "forecasts",
    frozenset({"chance", "happened"}),
    frozenset({"own", "ahead", "beside", "squares", "errors", "highest", "ties", "steps", "memberships"})
    | {"truth", "matrix", "mean", "reference"},
)
CALIBRATION = Statistic(
    "calibration",
    frozenset({"gap", "share", "noise"}),
    frozenset({"top_gap", "top_share", "top_noise"}),
)
CONTINUUM = Statistic("continuum", frozenset(), ASKED | {"classes"})
PARTITION = Statistic("partition", frozenset(), frozenset({"true_gap", "assigned_gap", "top", "corner"}))
STATISTICS = (CONFUSION, CONTINUUM, RANKING, FORECASTS, CALIBRATION, PARTITION)


def _tabulate(
    columns: Sequence[AnyArray | None],
    sizes: Sequence[int],
    rows: int,
    weight: Array | None,
    counted: bool,
) -> PatternCounts:
    cells = prod(sizes)
    if cells <= max(MOST_CELLS, 4 * rows) and cells < 2**31:
        counts, mass, square = _count_full(columns, sizes, rows, cells, weight)
        found = counts.nonzero()[0]
        keys: Places = np.array(np.unravel_index(found, sizes), dtype=np.int64).T
        counts, mass, square = counts[found], mass[found], square[found]
    else:
        keys, inverse = _distinct(columns, sizes, rows)
        counts = mass = square = _sum_by(inverse, np.ones(rows), len(keys))
        if weight is not None:
            mass, square = (_sum_by(inverse, values, len(keys)) for values in (weight, weight * weight))
    if weight is not None and counted:  # a weight of 2 is the same row twice
        counts, square = mass, mass
    return PatternCounts(keys, np.array([counts, mass, square]).T)


def _sum_by(place: Places, weight: Array, size: int) -> Array:
    """Sum weights by place."""
    return np.asarray(np.bincount(place, weight, minlength=size), dtype=np.float64)


def _count_full(
    columns: Sequence[AnyArray | None], sizes: Sequence[int], rows: int, cells: int, weight: Array | None
) -> tuple[Array, Array, Array]:
    def work(start: int, stop: int) -> Array:
        sums = np.zeros((1 if weight is None else 3, cells))
        for low, high in chunks(start, stop):
            code = _mixed_radix([None if c is None else c[low:high] for c in columns], sizes, high - low)
            sums[0] += counts_of(code, cells)
            if weight is not None:
                piece = weight[low:high]
                sums[1] += np.bincount(code, piece, minlength=cells)
                sums[2] += np.bincount(code, piece * piece, minlength=cells)
        return sums

    given = sum([column is not None for column in columns])
    # Few rows and many cells: one call, or adding up empty tables would cost more than counting.
    parts = [work(0, rows)] if cells * 4 > rows else over_rows(rows, work, given)
    total = reduce(np.add, parts)
    return (total[0], total[0], total[0]) if weight is None else (total[0], total[1], total[2])


def _mixed_radix(columns: Sequence[AnyArray | None], sizes: Sequence[int], rows: int) -> Places:
    # Small numbers are added up several times faster than large ones, and most tables have few cells.
    kind = np.min_scalar_type(prod(sizes))
    narrow = kind if kind.itemsize < np.dtype(np.int32).itemsize else np.dtype(np.int64)
    code: Places | None = None
    for column, size in zip(columns, sizes, strict=True):
        if column is not None and code is None:
            code = column.astype(narrow)
        elif column is not None and code is not None:
            code *= narrow.type(size)
            code += column.astype(narrow, copy=False)
    return np.zeros(rows, dtype=narrow) if code is None else code


def _distinct(columns: Sequence[AnyArray | None], sizes: Sequence[int], rows: int) -> tuple[Places, Places]:
    """Find the patterns by sorting, one column at a time so that codes never overflow."""
    code, width = np.zeros(rows, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if column is None:
            continue
        if width * size >= 2**62:
            code = np.unique(code, return_inverse=True)[1].astype(np.int64)
            width = int(code.max()) + 1
        code, width = code * size + column, width * size
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    keys = np.stack(
        [np.zeros(len(first), np.int64) if c is None else c[first].astype(np.int64) for c in columns], axis=1
    )
    return keys, inverse


def rows_in(counts: Array) -> float:
    """How many rows there are; parts of rows that were held out several times add up to whole ones but for rounding."""
    total = float(counts.sum())
    whole = float(np.rint(total))
    return whole if isclose(total, whole, rel_tol=1e-9) else total


@dataclass(frozen=True)
class Margins:
    """The means that count measures are made of, for one classifier, over any leading axes.

    ``correct``, ``true`` and ``assigned`` are (..., C): the diagonal of the table, its row sums, its column sums.
    """

    correct: Array
    true: Array
    assigned: Array

    def against_rest(self) -> Array:
        """Collapse to one table a class, the class against the rest: tp, fn, fp and tn, (4, ..., C)."""
        total = self.true.sum(axis=-1, keepdims=True)
        neither = total - self.true - self.assigned + self.correct
        # Sums of weights leave a rest of rounding where nothing is; 0 / 0 must stay 0 / 0.
        neither[np.abs(neither) < ROUNDING * total] = 0.0
        return np.array([self.correct, self.true - self.correct, self.assigned - self.correct, neither])


@dataclass(frozen=True)
class Patterns:
    """The patterns of one slice, laid out for evaluation.

    Attributes:
        classes: How many classes there are.
        truth: True class of each pattern.
        assigned: Class that each classifier assigned to each pattern, (models, patterns).
        count: Rows of each pattern.
        mass: Their summed weight.
        square: Their summed squared weight.
        cluster: The cluster of each pattern, numbered from 0; None where rows are independent.
    """

    classes: int
    truth: Places
    assigned: Places
    count: Array
    mass: Array
    square: Array
    cluster: Places | None

    @classmethod
    def of(cls, sums: PatternCounts, classes: int, clustered: bool) -> Patterns:
        """Lay out sums whose slice has been selected already."""
        # Laid out alike wherever they come from: products of equal numbers are then equal to the last bit.
        keys, (count, mass, square) = sums.keys, np.ascontiguousarray(sums.values.T)
        # Where a row weighs 1 or says how often it occurred, one array serves as both, which is quick to see.
        square = mass if np.array_equal(mass, square) else square
        cluster = np.unique(keys[:, 1], return_inverse=True)[1] if clustered else None
        return cls(classes, keys[:, 2], keys[:, 3:].T, count, mass, square, cluster)

    def as_rows(self) -> Rows:
        """Return the patterns as rows that occur more than once: all that labels have to say."""
        sums = np.stack([self.count, self.mass, self.square], axis=1)
        scores = tuple(Scores(assigned=assigned) for assigned in self.assigned)
        return Rows(self.truth, scores, None, self.cluster, sums)

    @property
    def clusters(self) -> int:
        """How many clusters there are; 0 where rows are independent."""
        return 0 if self.cluster is None else int(self.cluster.max()) + 1

    @property
    def sampled(self) -> bool:
        """Whether rows have sampling weights, so that sums are no numbers of rows."""
        return not np.array_equal(self.mass, self.square)

    def margins(self, model: int) -> Margins:
        """Sum up the table of one classifier."""
        assigned = self.assigned[model]
        agree = self.truth == assigned
        return Margins(
            _sum_by(self.truth[agree], self.mass[agree], self.classes),
            _sum_by(self.truth, self.mass, self.classes),
            _sum_by(assigned, self.mass, self.classes),
        )

    def table(self, model: int) -> Array:
        """The full table of one classifier: rows are true classes, columns assigned ones."""
        cell = self.truth * self.classes + self.assigned[model]
        return _sum_by(cell, self.mass, self.classes**2).reshape(self.classes, self.classes)

    def penalty(self, model: int, matrix: Array) -> float:
        """The sum of a matrix over the table of one classifier."""
        return float(self.mass @ matrix[self.truth, self.assigned[model]])


MOST_LAID_OUT = 1_000  # classes: of so many, the matrix itself is made


@dataclass(frozen=True)
class Distances:
    """The matrix of the places between two classes, or of their squares, as far as sums over tables ask for it.

    Attributes:
        classes: The number of classes.
        power: 1 for places, 2 for their squares.
    """

    classes: int
    power: int

    __array_ufunc__ = None  # so that ``array @ distances`` comes here

    @property
    def T(self) -> Distances:  # noqa: N802  (as of arrays)
        """It is symmetric."""
        return self

    @property
    def steps(self) -> Array:
        """The places of the classes."""
        return np.arange(self.classes, dtype=float)

    def min(self) -> float:
        """The least distance."""
        return 0.0

    def max(self) -> float:
        """The greatest distance."""
        return float((self.classes - 1) ** self.power)

    def __getitem__(self, cells: tuple[Any, Any]) -> Array:
        """The distances of pairs of classes."""
        first, second = (np.asarray(codes).astype(float) for codes in cells)
        return np.asarray(np.abs(first - second) ** self.power)

    def __rmatmul__(self, left: Any) -> Any:
        """The product of rows of numbers with the matrix, from running sums."""
        values, steps = np.asarray(left), self.steps
        whole, moment = values.sum(axis=-1, keepdims=True), (values * steps).sum(axis=-1, keepdims=True)
        if self.power == 2:
            square = (values * steps**2).sum(axis=-1, keepdims=True)
            return square - 2 * steps * moment + steps**2 * whole
        up_to, moment_up_to = np.cumsum(values, axis=-1), np.cumsum(values * steps, axis=-1)
        return steps * (2 * up_to - whole) + moment - 2 * moment_up_to

    def total(self, power: int = 1) -> float:
        """The sum of all cells, or of a power of them."""
        apart = self.steps
        return float(2 * (apart ** (power * self.power) * (self.classes - apart)).sum())

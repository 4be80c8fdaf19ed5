"""Rows kept one by one, with their scores, for what cannot be told from sums of patterns; and a sample of very many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Self

import numpy as np

from ..core.arrays import ODD
from ..core.cached import cached_property
from ..core.scale import Label
from ..core.threads import chunks, over_rows
from ..inputs.dataset import COLUMNS, Available, Dataset, Measured, available_from
from ..inputs.prediction import Scores

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Places

SUMS = ("count", "mass", "square")
CANCELLED = 1e-9  # of weights that were added and taken out, what rounding may leave
FEW = 16  # bytes


@dataclass(frozen=True)
class Rows:
    """Rows with their true class and the scores that each classifier gave them.

    Attributes:
        truth: Codes of the true classes.
        scores: What each classifier said in numbers.
        slice: The part of the data that each row belongs to; None where there is one part.
        cluster: The cluster of each row; None where rows are independent.
        sums: For each row how often it occurs, what it weighs and its squared weight, (rows, 3); None where all
            are 1.
        measured: The values that the true classes were cut from, where they are, and the classes assigned.
    """

    truth: Codes
    scores: tuple[Scores, ...]
    slice: Places | None = None
    cluster: Places | None = None
    sums: Array | None = None
    measured: Measured | None = None

    @classmethod
    def of(cls, dataset: Dataset, passing: bool = False) -> Rows:
        """Keep the rows of a batch; those that are only passing by need no copy."""
        weight, sums = dataset.weight, None
        if weight is not None:
            counted = (weight, weight, weight) if dataset.counted else (np.ones(len(dataset)), weight, weight * weight)
            sums = np.stack(counted).T  # columns are read one by one
        return cls(
            dataset.truth,
            tuple([_kept(said, dataset.assigned[name], passing) for name, said in dataset.scores.items()]),
            None if dataset.slice is None else dataset.slice.codes,
            None if dataset.group is None else dataset.group.codes,
            sums,
            None if dataset.measured is None else replace(dataset.measured, assigned=tuple(dataset.assigned.values())),
        )

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.truth)

    @cached_property
    def by_class(self) -> Array:
        """How many rows each class has, what they weigh, and their squared weights: (3, classes seen)."""
        size = int(self.truth.max(initial=0)) + 1

        def work(start: int, stop: int) -> Array:
            found = np.zeros((3, size))
            for low, high in chunks(start, stop):
                truth = self.truth[low:high]
                if self.sums is None:
                    found += counts_of(truth, size)
                else:
                    found += [np.bincount(truth, column, size) for column in self.sums[low:high].T]
            return found

        return np.asarray(reduce(np.add, over_rows(len(self), work)))

    def refuse_changed(self) -> Self:
        """See whether the scores are still those that were given."""
        for said in self.scores:
            said.refuse_changed()
        return self

    def muted(self, model: int, classes: int) -> Rows:
        """The rows without the scores of a classifier that are no probabilities, for those who read probabilities."""
        if not self.scores[model].raw:
            return self
        scores = [said.muted(classes) if place == model else said for place, said in enumerate(self.scores)]
        return replace(self, scores=tuple(scores))

    @cached_property
    def given(self) -> Available:
        """What there is for measures to be made of."""
        return available_from(self.scores, self.measured)

    @property
    def shape(self) -> list[tuple[int, int, bool]]:
        """How many columns each classifier has, the class that a single one speaks for, and whether they are scores."""
        return [(len(said.columns), said.speaks, said.raw) for said in self.scores]

    def columns(self) -> list[AnyArray | None]:
        """All columns but the sums, end to end."""
        scores = [column for said in self.scores for column in _columns(said)]
        measured = [] if self.measured is None else self.measured.columns()
        return [self.slice, self.cluster, self.truth, *scores, *measured]

    def with_columns(self, columns: Sequence[AnyArray | None], sums: Array | None) -> Rows:
        """Put other columns in the place of these."""
        rest = iter(columns[3:])
        scores = tuple(_filled(said, [np.asarray(next(rest)) for _ in _columns(said)]) for said in self.scores)
        measured = None if self.measured is None else self.measured.with_columns(list(rest))
        return replace(
            self,
            slice=columns[0],
            cluster=columns[1],
            truth=np.asarray(columns[2]),
            scores=scores,
            sums=sums,
            measured=measured,
        )

    def recoded(self, slices: Places, clusters: Places) -> Rows:
        """Give slices and clusters other numbers."""
        return replace(
            self,
            slice=None if self.slice is None else slices[self.slice],
            cluster=None if self.cluster is None else clusters[self.cluster],
        )

    def named(self) -> dict[str, AnyArray]:
        """All columns by name, for a file."""
        width = sum(max(size, 1) for size, *_ in self.shape)
        names = ["slice", "cluster", "truth", *[f"score{k}" for k in range(width)]]
        if self.measured is not None:
            names += [*COLUMNS, *[f"assigned{k}" for k in range(len(self.scores))]]
        found = {name: column for name, column in zip(names, self.columns(), strict=True) if column is not None}
        return found if self.sums is None else found | dict(zip(SUMS, self.sums.T, strict=True))

    @classmethod
    def from_named(cls, named: dict[str, AnyArray], shape: Sequence[Sequence[int]], sizes: Sequence[int]) -> Rows:
        """Read back what ``named`` gave, and refuse what it cannot have given."""
        scores = _scores_of(named, shape, sizes)
        sums = np.stack([named[name] for name in SUMS], axis=1) if SUMS[0] in named else None
        measured = None
        if COLUMNS[0] in named:
            assigned = [named[f"assigned{k}"] for k in range(len(shape))]
            measured = Measured(named[COLUMNS[0]]).with_columns([*[named.get(name) for name in COLUMNS], *assigned])
        rows = cls(named["truth"], scores, named.get("slice"), named.get("cluster"), sums, measured)
        rows._check_possible(sizes)
        return rows

    def _check_possible(self, sizes: Sequence[int]) -> None:
        """Look at codes and numbers that come from a file: there are so many slices, clusters, classes and so on."""
        coded = [*self.columns()[:3], *[said.assigned for said in self.scores]]
        numbers = [column for said in self.scores for column in said.columns]
        if self.sums is not None:
            numbers.append(self.sums)
        if self.measured is not None:
            coded += self.measured.assigned
            numbers += [column for _, column in self.measured.said()]
        # Behind the first three, all codes are those of classes.
        for column, most in zip(coded, [*sizes[:3], *[sizes[2]] * (len(coded) - 3)], strict=True):
            if column is not None and (column.dtype.kind not in "iu" or (column < 0).any() or (column >= most).any()):
                raise ValueError("a code that there cannot be")
        if any(column.dtype.kind != "f" or np.isnan(column).any() for column in numbers):
            raise ValueError("a score that there cannot be")

    def select(self, rows: Marks | Places) -> Rows:
        """Keep some of the rows."""
        columns = [None if column is None else column[rows] for column in self.columns()]
        return self.with_columns(columns, None if self.sums is None else self.sums[rows])

    def in_order(self) -> Rows:
        """The rows by their parts, classes and scores: where each of them stood cannot be told."""
        part, cluster, *rest = self.columns()
        keys = [column for column in (part, *rest, cluster) if column is not None]
        keys += [] if self.sums is None else list(self.sums.T)
        return self.select(np.lexsort(keys[::-1]))

    def __neg__(self) -> Rows:
        """Turn around, so that subtracting is adding."""
        return replace(self, sums=-self.filled)

    @property
    def left(self) -> int:
        """How many there are when those that were taken out have met the rows that they were."""
        return len(self) if self.sums is None else int(np.sign(self.sums[:, 0]).sum())

    def told_apart(self, weighed: bool) -> tuple[Rows, Rows]:
        """The rows that were added, and those that were taken out, as they were when they were added.

        Once rows were taken out, others are known by how often they occur. Where none of them was ever weighed, each
        stands there as often as that.
        """
        if self.sums is None:
            return self, self.select(np.zeros(0, np.int64))
        taken, times = self.sums[:, 0] < 0, np.abs(self.sums[:, 0]).astype(np.int64)
        found = []
        for marks, sign in ((~taken, 1.0), (taken, -1.0)):
            rows = np.flatnonzero(marks)
            part = self.select(rows if weighed else np.repeat(rows, times[rows]))
            found.append(replace(part, sums=None if not weighed or part.sums is None else sign * part.sums))
        return found[0], found[1]

    @property
    def filled(self) -> Array:
        """The sums, also where all are 1."""
        return np.ones((len(self), 3)) if self.sums is None else self.sums

    def __add__(self, other: Rows) -> Rows:
        """Put the rows of both together; rows that were taken out meet those that they were, and both are gone."""
        columns: list[AnyArray | None] = []
        for mine, yours in zip(self.columns(), other.columns(), strict=True):
            if mine is None and yours is None:
                columns.append(None)
                continue
            parts = [np.zeros(len(rows), np.int64) if column is None else column
                     for rows, column in ((self, mine), (other, yours))]  # fmt: skip
            columns.append(np.concatenate(parts))
        plain = self.sums is None and other.sums is None
        joined = self.with_columns(columns, None if plain else np.concatenate([self.filled, other.filled]))
        pairs = zip(joined.scores, other.scores, strict=True)
        joined = replace(joined, scores=tuple(mine._replace(free=mine.free or yours.free) for mine, yours in pairs))
        return joined if plain or joined.filled[:, 0].min(initial=1.0) > 0 else joined.settled()

    def settled(self) -> Rows:
        """Sum up rows that are alike and weigh the same; and all that are alike, where some taken out are left."""
        if not len(self):
            return self
        keys = [column for column in self.columns() if column is not None]
        weight = self.filled[:, 1] / np.where(self.filled[:, 0] == 0, 1.0, self.filled[:, 0])
        order = np.lexsort([weight, *keys[::-1]])
        parted, weight = np.ones(len(order), dtype=bool), weight[order]
        parted[1:] = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
        other = np.append(True, np.abs(np.diff(weight)) > CANCELLED * np.abs(weight[1:]))
        starts = np.flatnonzero(parted | other)
        sums, left = met(self.filled[order], starts)
        rows, group, sums = order[starts][left], np.cumsum(parted)[starts][left], sums[left]
        owing = np.isin(group, group[sums[:, 0] <= 0])
        starts = np.flatnonzero(~owing | np.append(True, group[1:] != group[:-1])[: len(group)])
        sums, left = met(sums, starts)
        rows = rows[starts][left]
        columns = [None if column is None else column[rows] for column in self.columns()]
        return self.with_columns(columns, sums[left])


def met(values: Array, starts: Places) -> tuple[Array, Marks]:
    """Sum up what is alike (count, mass, square), and tell what is left of it when what was taken out has met its like.

    Counts are whole numbers, and gone exactly. But rows that weigh something else than those that were taken out have
    yet to meet theirs, even if they are as many.
    """
    if not len(starts):
        return values, np.zeros(0, dtype=bool)
    summed = np.add.reduceat(values, starts, axis=0)
    left = summed[:, 0] != 0
    if not left.all():
        left |= np.abs(summed[:, 1]) > CANCELLED * np.add.reduceat(np.abs(values[:, 1]), starts)
    return summed, left


def counts_of(codes: Codes, size: int) -> Array:
    """How often each code occurs; few are counted one after the other, which is faster, the more so the narrower."""
    if size > FEW // codes.itemsize:
        return np.bincount(codes, minlength=size).astype(np.float64)
    found = [np.count_nonzero(codes == code) for code in range(size - 1)]
    return np.array([*found, len(codes) - sum(found)], dtype=np.float64)  # whoever is left has the last one


def _scores_of(named: dict[str, AnyArray], shape: Sequence[Sequence[int]], sizes: Sequence[int]) -> tuple[Scores, ...]:
    """What each classifier said, by the columns of a file: so many scores, or one that speaks for a class."""
    classes = sizes[2]
    fit = all(_fits(int(size), int(speaks), classes) for size, speaks, *_ in shape)
    held = sum(name.startswith("score") for name in named)
    if not fit or len(shape) != len(sizes) - 3 or sum(max(size, 1) for size, *_ in shape) != held:
        raise ValueError("scores that do not fit the classifiers")
    found, count = [], 0
    for size, speaks, *raw in shape:
        columns = [named[f"score{count + k}"] for k in range(max(size, 1))]
        said = Scores(tuple(columns), int(speaks), free=True) if size else Scores(assigned=columns[0])
        found.append(said._replace(raw=any(raw)))  # older files know of none
        count += len(columns)
    return tuple(found)


def _fits(size: int, speaks: int, classes: int) -> bool:
    """Whether so many columns, of which a single one speaks for a class, are those of so many classes."""
    return (size in (0, classes) and speaks < 0) or (size == 1 and 0 <= speaks < classes)


def _kept(said: Scores, assigned: Codes, passing: bool) -> Scores:
    """Scores that nobody can change unnoticed, or the classes in their place."""
    if not said.columns:
        return said._replace(assigned=assigned)
    return said if passing else said.sealed()


def _columns(said: Scores) -> tuple[AnyArray, ...]:
    """All columns of one classifier."""
    return said.columns if said.assigned is None else (said.assigned,)


def _filled(said: Scores, columns: Sequence[AnyArray]) -> Scores:
    """Other columns of the same kind."""
    if said.assigned is not None:
        return said._replace(assigned=columns[0])
    return said._replace(columns=tuple(columns), seal=None)


SAMPLE_SIZE = 1 << 12
MANY = 1 << 14
AT_HAND = 2  # as many numbers of a row are at hand at a time


@dataclass(frozen=True)
class Sample:
    """The rows with the least marks, and these marks: whole numbers made of the bits of a score or measured value.

    Attributes:
        marks: The marks.
        rows: The rows.
        whole: Whether these are all rows, and none was taken out.
        clusters: The labels of their clusters, as long as these are all rows.
    """

    marks: Places
    rows: Rows
    whole: bool = False
    clusters: tuple[Label, ...] = ()

    @classmethod
    def of(cls, rows: Rows, below: np.uint64 | None = None, clusters: tuple[Label, ...] = ()) -> Sample:
        """Choose from some rows; of those not below a mark, none."""
        number, found = _number(rows), []
        if below is None and len(rows) > MANY:
            # By chance twice as many as are wanted are below this; where chance has no part in it, all rows are seen.
            likely = cls.of(rows, np.uint64(2 * SAMPLE_SIZE * 2**64 // len(rows)))
            if len(likely.marks) == SAMPLE_SIZE:
                return likely
        for low, high in chunks(0, len(rows), AT_HAND) or [(0, 0)]:
            marks = _marks(number[low:high])
            here = np.arange(len(marks)) if below is None else np.flatnonzero(marks < below)
            found.append((marks[here], here + low))
        marks, chosen = (np.concatenate(parts) for parts in zip(*found, strict=True))
        some = replace(rows.select(chosen), slice=None)  # the codes of parts hold only for the batch
        return cls(marks, some, whole=below is None, clusters=clusters).cut()

    @property
    def bare(self) -> Rows:
        """The rows without their clusters."""
        return replace(self.rows, cluster=None)

    def in_order(self) -> Sample:
        """The same rows, sorted: a saved tally does not show where each of them stood."""
        rows = self.rows.in_order()
        return replace(self, marks=_marks(_number(rows)), rows=rows)

    def in_part(self) -> Sample:
        """The same rows, where others are missing: their clusters say nothing."""
        return Sample(self.marks, self.bare)

    def cut(self) -> Sample:
        """No more than so many."""
        if len(self.marks) <= SAMPLE_SIZE:
            return self if self.whole else self.in_part()
        last = np.partition(self.marks, SAMPLE_SIZE - 1)[SAMPLE_SIZE - 1]
        chosen = self.marks < last
        chosen[np.flatnonzero(self.marks == last)[: SAMPLE_SIZE - np.count_nonzero(chosen)]] = True
        return Sample(self.marks[chosen], self.bare.select(chosen))

    def __add__(self, other: Sample) -> Sample:
        """Choose from the rows of both."""
        return self.beside(other).cut().in_order()

    def beside(self, other: Sample) -> Sample:
        """The rows of both, from which to choose."""
        both = (self, other) if self.whole and other.whole else (self.in_part(), other.in_part())
        for one, rest in (both, both[::-1]):
            if not len(one.marks):
                return rest
        labels = list(dict.fromkeys([*both[0].clusters, *both[1].clusters]))
        places = {label: place for place, label in enumerate(labels)}
        rows, more = (one._with_codes(places) for one in both)
        return Sample(np.concatenate([self.marks, other.marks]), rows + more, both[0].whole, tuple(labels))

    def _with_codes(self, places: Mapping[Label, int]) -> Rows:
        """The rows with the codes that clusters have among others."""
        if self.rows.cluster is None:
            return self.rows
        codes = np.array([places[label] for label in self.clusters], np.int64)
        return replace(self.rows, cluster=codes[self.rows.cluster])

    def __neg__(self) -> Sample:
        """What is taken out leaves the others as they are."""
        return Sample(self.marks[:0], self.bare.select(np.zeros(len(self.rows), dtype=bool)))


class Sampling:
    """Chooses rows on the way through them."""

    def __init__(self) -> None:
        """Start with no rows."""
        self.found: Sample | None = None
        self.below: np.uint64 | None = None

    def add(self, rows: Rows, clusters: tuple[Label, ...] = ()) -> None:
        """Choose from some rows; not before there are many to choose from."""
        some = Sample.of(rows, self.below, clusters)
        self.found = some if self.found is None else self.found.beside(some)
        if len(self.found.marks) > (SAMPLE_SIZE if self.below is None else 2 * SAMPLE_SIZE):
            self.found = self.found.cut()
            self.below = np.uint64(self.found.marks.max())

    def state(self) -> Sample | None:
        """The rows that were chosen."""
        return None if self.found is None else self.found.cut().in_order()


def _marks(number: AnyArray) -> Places:
    """Multiplied by a large odd number, all bits of another have a say in the first ones."""
    return np.asarray(np.asarray(number, dtype=np.float64).view(np.uint64) * ODD)


def _number(rows: Rows) -> AnyArray:
    columns = [column for said in rows.scores for column in said.columns]
    if columns or rows.measured is None:
        return np.asarray(columns[0] if columns else rows.truth)
    return rows.measured.value

"""Classifiers of many small data sets at once: fitted to all rows of each, and to all rows but those of each fold.

No fit is repeated for a fold: the sums of its rows are taken away from those of all rows. What cannot be estimated
never stops a study. A class without rows in a training set is never assigned. A class with fewer rows than variables
and one, or whose covariance is singular, is given the pooled covariance by quadratic discriminant analysis. Directions
in which no class varies do not count. Where two classes are as good, the first of them is assigned. Covariances are
those of maximum likelihood, sums of squares by the number of rows, as in scikit-learn 1.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.cached import cached_property

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks

CLOSE = 20  # points of a group at the most


@dataclass(frozen=True)
class TrialPoints:
    """Points.

    Attributes:
        x: (points, variables).
    """

    x: Array

    @cached_property
    def centre(self) -> Array:
        """Their mean."""
        return np.asarray(self.x.mean(axis=0))

    @cached_property
    def away(self) -> Array:
        """How far they are from it, (variables, points)."""
        return np.ascontiguousarray((self.x - self.centre).T)

    @cached_property
    def products(self) -> Array:
        """All products of two such distances, (variables squared, points)."""
        return (self.away[:, None] * self.away).reshape(-1, len(self.x))

    @cached_property
    def groups(self) -> tuple[Codes, Array, Array]:
        """The points in groups, halved at the median of the widest variable until they are small.

        Returns:
            The points of each group, (groups, size), of which one may stand twice to fill a group up; the middle of
            each group, (groups, variables); and how far the farthest of its points is from there, (groups,).
        """
        parts: list[Codes] = [np.arange(len(self.x))]
        while max(map(len, parts)) > CLOSE:
            parts = [half for part in parts for half in _halves(self.x, part)]
        most = max(map(len, parts))
        members = np.stack([np.resize(part, most) for part in parts])
        inside = self.x[members]
        centre = (inside.min(axis=1) + inside.max(axis=1)) / 2
        radius = np.sqrt(np.square(inside - centre[:, None]).sum(axis=-1).max(axis=1))
        return members, centre, radius


def _halves(x: Array, part: Codes) -> tuple[Codes, Codes]:
    widest = np.ptp(x[part], axis=0).argmax()
    order, middle = np.argsort(x[part, widest], kind="stable"), len(part) // 2
    return part[order[:middle]], part[order[middle:]]


# --- votes of the nearest rows ---------------------------------------------------------------------------------------
#
# Points that lie close together are looked at together. A row can be among the nearest of any of them only if it is
# not much farther from their middle than the last of the nearest there. Mostly these few rows are of one class, or so
# nearly that the others cannot win, and then no distance to any point is needed.

Places = np.int16  # of classes: short, as there are many of them
AT_A_TIME = 1 << 16  # distances that stay in the cache


def highest(scores: Array | Codes) -> Codes:
    """The first class with the highest score: (sets, classes, points) to (sets, points)."""
    best, found = scores[:, 0], np.zeros((len(scores), *scores.shape[2:]), dtype=Places)
    for code in range(1, scores.shape[1]):
        # A later class has a larger code, so that the largest is that of the last one that was higher.
        np.maximum(found, (scores[:, code] > best) * Places(code), out=found)
        best = np.maximum(best, scores[:, code])
    return found


def _squared_distances(one: Array, other: Array) -> Array:
    """Between all rows of one and all rows of the other, set by set."""
    found = np.square(one[..., :, None, 0] - other[:, None, :, 0])
    for variable in range(1, other.shape[-1]):
        gap = one[..., :, None, variable] - other[:, None, :, variable]
        found += np.square(gap, out=gap)
    return found


def _last(distance: Array, number: int) -> Array:
    """The distance of the last of the nearest."""
    place = min(number, distance.shape[-1]) - 1
    return np.asarray(np.partition(distance, place, axis=-1)[..., place, None])


def _ballots(codes: Codes, classes: int) -> Array:
    """1 for the class of each row and 0 for the others, (sets, rows, classes)."""
    return np.asarray(codes[..., None] == np.arange(classes), dtype=np.float64)


# --- votes at points ------------------------------------------------------------------------------------------------


def votes(points: TrialPoints, x: Array, codes: Codes, classes: int, number: int) -> Codes:
    """The class with most votes among the rows nearest to each point, (sets, points)."""
    (sets, rows, variables), (members, centre, radius) = x.shape, points.groups
    near = _within_reach(centre, radius, x, number)
    ballots = _ballots(codes, classes)
    count = near.astype(np.float64) @ ballots
    found = np.repeat(count.argmax(axis=-1).astype(Places)[..., None], members.shape[1], axis=-1)
    # One more row, which is nowhere near and has no vote.
    x = np.concatenate([x, np.full((sets, 1, variables), np.inf)], axis=1)
    ballots = np.concatenate([ballots, np.zeros((sets, 1, classes))], axis=1)
    # Where the others are fewer than half of those who vote, they cannot win.
    doubtful = count.sum(axis=-1) - count.max(axis=-1) > (number - 1) // 2
    for set_, group, row in _pieces(near, doubtful, members.shape[1]):
        distance = _squared_distances(points.x[members[group]], x[set_[:, None], row])
        count = (distance <= _last(distance, min(number, rows))).astype(np.float64) @ ballots[set_[:, None], row]
        found[set_, group] = highest(np.swapaxes(count, 1, 2))
    assigned = np.empty((sets, len(points.x)), dtype=Places)
    assigned[:, members.ravel()] = found.reshape(sets, -1)
    return assigned


def _within_reach(centre: Array, radius: Array, x: Array, number: int) -> Marks:
    """Which rows may be among the nearest of any point of a group, (sets, groups, rows)."""
    near = np.empty((len(x), len(radius), x.shape[1]), dtype=bool)
    for place in range(len(x)):  # the distances of one set stay in the cache
        squared = _squared_distances(centre, x[place : place + 1])[0]
        reach = np.sqrt(_last(squared, number)) + 2 * radius[:, None]
        # A little more than the distance that counts, as distances are rounded.
        near[place] = squared <= np.square(reach) * (1 + 1e-9)
    return near


def _pieces(near: Marks, doubtful: Marks, points: int) -> Iterator[tuple[Codes, Codes, Codes]]:
    """Sets and groups where votes are to be counted, and the rows within reach there.

    Groups with about as many rows come together, as many as stay in the cache. The others are filled up with a row
    that is one past the last.
    """
    sets, groups = np.nonzero(doubtful)
    inside = near[sets, groups]
    size = inside.sum(axis=1)
    rows, start, order = np.nonzero(inside)[1], np.cumsum(size) - size, np.argsort(-size)
    rows = np.append(rows, near.shape[-1])
    while len(order):
        most = int(size[order[0]])
        chosen, order = np.split(order, [max(1, AT_A_TIME // (points * most))])
        places = np.arange(most)
        yield (
            sets[chosen],
            groups[chosen],
            rows[np.where(places < size[chosen, None], start[chosen, None] + places, -1)],
        )


# --- classifiers of many data sets --------------------------------------------------------------------------------

SINGULAR = 1e-10  # of the largest eigenvalue, after scaling: what is below has no digit left that can be trusted


@dataclass(frozen=True)
class DataSets:
    """Data sets of one size.

    Attributes:
        x: The variables, (sets, rows, variables).
        codes: The class of each row, from 0 on, (sets, rows).
        folds: The fold with which each row is left out, from 0 on, (sets, rows).
        classes: How many classes there are.
    """

    x: Array
    codes: Codes
    folds: Codes
    classes: int


# --- sums without each fold -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoldMoments:
    """Of each class in every training set: all rows but those of a fold; and last, all rows.

    Attributes:
        count: How many rows it has, (sets, folds + 1, classes).
        mean: Their means, with one more axis of variables.
        scatter: Sums of products of their distances to these means, with two more.
    """

    count: Array
    mean: Array
    scatter: Array

    @property
    def pooled(self) -> Array:
        """The covariance within classes, the same for all of them."""
        return np.asarray(self.scatter.sum(axis=2) / np.maximum(self.count.sum(axis=2), 1)[..., None, None])

    @property
    def covariance(self) -> Array:
        """The covariance within each class."""
        return self.scatter / np.maximum(self.count, 1)[..., None, None]


def moments(x: Array, codes: Codes, folds: Codes, classes: int) -> FoldMoments:
    """Sums of all rows, less those of each fold."""
    fold_count, (sets, rows, variables) = int(folds.max()) + 1, x.shape
    counts, sums = (_by_group(values, codes, classes) for values in (np.ones((sets, rows, 1)), x))
    centre = sums / np.maximum(counts, 1)
    # Distances to the mean of the class are small, so that what is left after taking away has its digits.
    away = x - np.take_along_axis(centre, codes[..., None], axis=1)
    products = (away[..., :, None] * away[..., None, :]).reshape(sets, rows, variables**2)
    together = np.concatenate([np.ones((sets, rows, 1)), away, products], axis=-1)
    left = _by_group(together, folds * classes + codes, fold_count * classes)
    left = left.reshape(sets, fold_count, classes, -1)
    left = np.concatenate([left, np.zeros_like(left[:, :1])], axis=1)
    rest = left.sum(axis=1, keepdims=True) - left
    count, scatter = rest[..., 0], rest[..., 1 + variables :].reshape(*rest.shape[:3], variables, variables)
    shift = rest[..., 1 : 1 + variables] / np.maximum(count, 1)[..., None]
    scatter = scatter - count[..., None, None] * shift[..., :, None] * shift[..., None, :]
    return FoldMoments(count, centre[:, None] + shift, scatter)


def _by_group(values: Array, group: Codes, groups: int) -> Array:
    """Add up rows by group: (sets, rows, columns) to (sets, groups, columns)."""
    sets, _, columns = values.shape
    cell = (group + groups * np.arange(sets)[:, None]).ravel()
    found = np.empty((sets * groups, columns))
    for column in range(columns):
        found[:, column] = np.bincount(cell, values[..., column].ravel(), sets * groups)
    return found.reshape(sets, groups, columns)


def _inverse(covariance: Array) -> tuple[Array, Array, Marks]:
    """The inverse of covariances, the logarithm of their determinant, and whether they have an inverse.

    Where not, it is the inverse among the directions in which there is variation. Variables are brought to one scale
    first, so that units of measurement do not decide what is singular.
    """
    scale = np.sqrt(np.einsum("...ii->...i", covariance).clip(0))
    scale = np.where(scale > 0, scale, 1.0)
    both = scale[..., :, None] * scale[..., None, :]
    values, vectors = np.linalg.eigh(covariance / both)
    kept = values > SINGULAR * values[..., -1:].clip(0)
    usable = np.where(kept, values, 1.0)
    inverse = (vectors * (kept / usable)[..., None, :]) @ np.swapaxes(vectors, -1, -2) / both
    return inverse, np.log(usable).sum(axis=-1) + 2 * np.log(scale).sum(axis=-1), np.asarray(kept.all(axis=-1))


# --- discriminant analysis ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Discriminants:
    """How near a row is to each class: a constant, less half its squared distance to the mean.

    Attributes:
        batch: The data.
        constant: (sets, folds + 1, classes).
        mean: With one more axis of variables.
        inverse: Of the covariance, with two more; one for all classes where it is pooled.
    """

    batch: DataSets
    constant: Array
    mean: Array
    inverse: Array

    @property
    def pooled(self) -> bool:
        """Whether all classes share their covariance."""
        return int(self.inverse.shape[2]) == 1

    def held_out(self) -> Codes:
        """The class of each row by the fit without its fold."""
        return highest(self.held_out_scores())

    def held_out_scores(self) -> Array:
        """Log probabilities of the classes by the fit without the fold of a row, up to a constant of the row.

        Returns:
            (sets, classes, rows).
        """
        sets, folds = np.arange(len(self.batch.x))[:, None], self.batch.folds
        scores = []
        for code in range(self.batch.classes):
            away = self.batch.x - self.mean[sets, folds, code]
            inverse = self.inverse[sets, folds, 0 if self.pooled else code]
            scores.append(self.constant[sets, folds, code] - np.einsum("rni,rnij,rnj->rn", away, inverse, away) / 2)
        return np.stack(scores, axis=1)

    def at(self, points: TrialPoints) -> Codes:
        """The class of each of these points by the fit to all rows."""
        # Around the middle of the points, so that no large squares cancel.
        mean, inverse = self.mean[:, -1] - points.centre, self.inverse[:, -1]
        linear = (inverse @ mean[..., None])[..., 0]
        constant = self.constant[:, -1] - (linear * mean).sum(axis=-1) / 2
        scores = linear @ points.away + constant[..., None]
        if not self.pooled:
            squares = -inverse.reshape(*inverse.shape[:2], -1) / 2
            scores += squares @ points.products
        return highest(scores)


def linear_discriminants(batch: DataSets) -> Discriminants:
    """Linear discriminant analysis; classes are as frequent as in the training set."""
    found = moments(batch.x, batch.codes, batch.folds, batch.classes)
    inverse = _inverse(found.pooled)[0]
    return Discriminants(batch, _log_frequency(found.count), found.mean, inverse[:, :, None])


def quadratic_discriminants(batch: DataSets) -> Discriminants:
    """Quadratic discriminant analysis; classes are as frequent as in the training set."""
    found = moments(batch.x, batch.codes, batch.folds, batch.classes)
    own, size, regular = _inverse(found.covariance)
    shared, shared_size, _ = (part[:, :, None] for part in _inverse(found.pooled))
    enough = regular & (found.count > batch.x.shape[-1])
    inverse = np.where(enough[..., None, None], own, shared)
    constant = _log_frequency(found.count) - np.where(enough, size, shared_size) / 2
    return Discriminants(batch, constant, found.mean, inverse)


def _log_frequency(count: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(count) - np.log(count.sum(axis=-1, keepdims=True)))


# --- neighbours and regression --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NearestNeighbours:
    """The class that most of the nearest rows have.

    All rows that are as far away as the last of the nearest vote too; of classes with as many votes, the first wins.
    """

    batch: DataSets
    number: int = 5

    def held_out(self) -> Codes:
        """The class of each row by the rows outside its fold."""
        x, folds = self.batch.x, self.batch.folds
        distance = _squared_distances(x, x)
        distance[folds[:, :, None] == folds[:, None, :]] = np.inf
        voting = (distance <= _last(distance, self.number)) & np.isfinite(distance)
        ballots = _ballots(self.batch.codes, self.batch.classes)
        return highest(np.swapaxes(voting.astype(np.float64) @ ballots, 1, 2))

    def at(self, points: TrialPoints) -> Codes:
        """The class of each of these points by all rows."""
        return votes(points, self.batch.x, self.batch.codes, self.batch.classes, self.number)


@dataclass(frozen=True)
class Regression:
    """The class whose interval holds what least squares expect of the response.

    Attributes:
        batch: The data.
        terms: What the response is expected to be linear in, besides a constant, as a function of the variables.
        coefficients: (sets, folds + 1, terms).
        constant: (sets, folds + 1).
        inner: The boundaries between classes.
    """

    batch: DataSets
    terms: Callable[[Array], Array]
    coefficients: Array
    constant: Array
    inner: Array

    def held_out(self) -> Codes:
        """The class of each row by the fit without its fold."""
        sets, folds = np.arange(len(self.batch.x))[:, None], self.batch.folds
        expected = (self.terms(self.batch.x) * self.coefficients[sets, folds]).sum(axis=-1)
        return interval(expected + self.constant[sets, folds], self.inner)

    def at(self, points: TrialPoints) -> Codes:
        """The class of each of these points by the fit to all rows."""
        expected = np.einsum("rt,pt->rp", self.coefficients[:, -1], self.terms(points.x))
        return interval(expected + self.constant[:, -1:], self.inner)


FittedClassifier = Discriminants | NearestNeighbours | Regression


def least_squares(batch: DataSets, response: Array, terms: Callable[[Array], Array], inner: Array) -> Regression:
    """Regress the response on the terms, and read the class off the fit."""
    both = np.concatenate([terms(batch.x), response[..., None]], axis=-1)
    found = moments(both, np.zeros_like(batch.codes), batch.folds, 1)
    mean, scatter = found.mean[:, :, 0], found.scatter[:, :, 0]
    coefficients = (_inverse(scatter[..., :-1, :-1])[0] @ scatter[..., :-1, -1:])[..., 0]
    constant = mean[..., -1] - (coefficients * mean[..., :-1]).sum(axis=-1)
    return Regression(batch, terms, coefficients, constant, inner)


def interval(values: Array, inner: Array) -> Codes:
    """The class of values by the boundaries between classes; a boundary belongs to the class above it."""
    found = np.zeros(values.shape, dtype=Places)
    for boundary in inner:
        found += values >= boundary
    return found

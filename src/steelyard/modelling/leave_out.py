"""Rows of which one part after the other is left out, and what is found for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Marks, Places

AT_A_TIME = 1 << 20  # numbers in one array of a chunk: 8 MiB
LITTLE = 1e-3  # of a sum of squares: where a part leaves no more than this, too many digits are gone with it
ROUNDING = 2 * float(np.finfo(np.float64).eps)  # of one number that is itself found by rounding
LOST = 1e-10  # digits that a fit itself may lose: beyond that there is no saying what it says
CLOSE = 1e-9  # of the scores: where two classes are as close as that, rounding decides between them


@dataclass(frozen=True)
class HeldOut:
    """What a classifier said of rows that it was not fitted to.

    Attributes:
        labels: The class that each row was assigned to.
        probabilities: Of each class, in the order of ``classes``; None where the classifier tells none.
        scores: What its decision function says, where it tells no probabilities; else None.
        classes: The classes, as the fitted classifier lists them.
        said: How it was found, in a few words.
        doubtful: Rows of which it cannot be told without the fit.
    """

    labels: AnyArray
    probabilities: Array | None
    scores: Array | None
    classes: AnyArray
    said: str
    doubtful: Marks

    @property
    def told(self) -> tuple[str, Array | None]:
        """The method that tells more than labels, and what was found for it."""
        if self.probabilities is not None:
            return "predict_proba", self.probabilities
        return ("", None) if self.scores is None else ("decision_function", self.scores)

    @property
    def lost(self) -> bool:
        """Whether there is no number for some row."""
        numbers = self.told[1]
        return numbers is not None and bool(np.isnan(numbers).any())


@dataclass(frozen=True)
class Leaving:
    """Rows and the parts of them that are left out, each of one fit.

    Attributes:
        x: The variables, (rows, variables).
        codes: The class of each row, from 0 on.
        labels: The classes.
        parts: The rows of every part; every row is in one of them.
    """

    x: Array
    codes: Codes
    labels: AnyArray
    parts: Sequence[Places]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.labels)

    @property
    def variables(self) -> int:
        """How many variables there are."""
        return int(self.x.shape[1])

    @cached_property
    def sizes(self) -> Codes:
        """How many rows each part has."""
        return np.array([len(part) for part in self.parts])

    @property
    def singly(self) -> bool:
        """Whether every part is one row."""
        return bool(self.sizes.max() == 1)

    @cached_property
    def part_of(self) -> Codes:
        """The part of each row."""
        found = np.empty(self.rows, dtype=np.intp)
        found[np.concatenate(self.parts)] = np.repeat(np.arange(len(self.parts)), self.sizes)
        return found

    @cached_property
    def counts(self) -> Codes:
        """How many rows each class has."""
        return np.bincount(self.codes, minlength=self.classes)

    @cached_property
    def remaining(self) -> Codes:
        """How many rows each class keeps without each part, (parts, classes)."""
        cell = self.part_of * self.classes + self.codes
        left = np.bincount(cell, minlength=len(self.parts) * self.classes)
        return self.counts - left.reshape(len(self.parts), self.classes)

    @cached_property
    def means(self) -> Array:
        """The mean of each class."""
        # Around the mean of all rows, so that a variable far from 0 does not lose digits in the sum.
        middle = self.x.mean(axis=0)
        return np.stack([middle + (self.x[self.codes == code] - middle).mean(axis=0) for code in range(self.classes)])

    @cached_property
    def away(self) -> Array:
        """How far each row is from the mean of its class."""
        return np.asarray(self.x - self.means[self.codes])

    @property
    def precise(self) -> bool:
        """Whether variables are not so far from 0, in units of their spread, that a fit loses its digits."""
        spread = self.x.std(axis=0)
        far = np.abs(self.x).max(axis=0)[spread > 0] / spread[spread > 0]
        return bool(10 * ROUNDING * far.max(initial=0.0) < LOST)

    def held_out(
        self, codes: Codes, probabilities: Array | None, scores: Array | None, doubtful: Marks, said: str
    ) -> HeldOut:
        """What was found, by the codes of the classes that rows are assigned to."""
        return HeldOut(self.labels[codes], probabilities, scores, self.labels, said, doubtful)

    def chunks(self, numbers: int) -> Iterator[Chunk]:
        """Parts in a row, as many as may be looked at together.

        Args:
            numbers: How many numbers are needed for a row.
        """
        most = max(1, AT_A_TIME // numbers)
        chunk = (np.cumsum(self.sizes) - 1) // most
        for which in np.unique(chunk):
            first, last = np.searchsorted(chunk, [which, which + 1])
            sizes, rows = self.sizes[first:last], np.concatenate(self.parts[first:last])
            starts, place = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
            yield Chunk(self, slice(int(first), int(last)), rows, starts, place)


@dataclass(frozen=True)
class Chunk:
    """Parts that are looked at together.

    Attributes:
        leaving: All rows.
        parts: Which parts.
        rows: Their rows, part after part.
        starts: Where each part starts among these.
        place: The part of each of these rows, from 0 on.
    """

    leaving: Leaving
    parts: slice
    rows: Places
    starts: Codes
    place: Codes

    def of_class(self, code: int, total: Array) -> tuple[Array, Array, Array]:
        """Of a class, how far its mean moves, its squares that remain, and how far rows are from its old mean.

        Args:
            code: The class.
            total: Its sum of squares about its mean, by variable.
        """
        gap = self.leaving.x[self.rows] - self.leaving.means[code]
        own = (self.leaving.codes[self.rows] == code)[:, None]
        shift, rest = self.without(gap * own, total, self.leaving.remaining[self.parts, code, None])
        return shift, rest, gap

    def without(self, left: Array, total: Array, remaining: Codes) -> tuple[Array, Array]:
        """How far a mean moves, and the squares that remain, (parts, variables)."""
        shift = -np.add.reduceat(left, self.starts) / remaining
        rest = total - np.add.reduceat(np.square(left), self.starts) - remaining * np.square(shift)
        return shift, np.asarray(rest.clip(0))


def known(estimator: Any, names: set[str], classes: int = 0) -> dict[str, Any] | None:
    """The parameters of an estimator, unless some of them are unknown here, or its priors are none of so many classes.

    Priors are an array, or None where they are the frequencies of the classes.
    """
    options: dict[str, Any] = estimator.get_params(deep=False)
    if not options.keys() <= names:
        return None
    priors = options.get("priors")
    if priors is None or (isinstance(priors, str) and priors == "empirical"):
        return options | {"priors": None}
    uniform = isinstance(priors, str) and priors == "uniform"
    found = np.asarray(np.full(classes, 1 / classes) if uniform else priors)
    if found.shape != (classes,) or found.dtype.kind not in "iuf":
        return None
    found = found.astype(np.float64)
    return options | {"priors": found} if found.min() > 0 and abs(found.sum() - 1) < 1e-9 else None


def shares(log: Array) -> Array:
    """Probabilities that are in proportion to exp(log); classes are in the second axis."""
    found = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def undecided(scores: Array, slack: Array | float = 0.0) -> Marks:
    """Rows whose two best classes are as good as each other, but for rounding."""
    best = np.sort(scores, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0] <= CLOSE * (1 + np.abs(best[:, 1])) + slack)

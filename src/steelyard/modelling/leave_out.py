"""Rows of which one part after the other is left out, and what is found for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cached import cached_property

if TYPE_CHECKING:
    from ..core.typing import Array, Codes, Marks, Places

AT_A_TIME = 1 << 20  # numbers in one array of a chunk: 8 MiB
LITTLE = 1e-3  # of a sum of squares: where a part leaves no more than this, too many digits are gone with it
ROUNDING = 2 * float(np.finfo(np.float64).eps)  # of one number that is itself found by rounding
LOST = 1e-10  # digits that a fit itself may lose: beyond that there is no saying what it says
CLOSE = 1e-9  # of the scores: where two classes are as close as that, rounding decides between them


@dataclass(frozen=True)
class Leaving:
    """Rows and the parts of them that are left out, each of one fit.

    Attributes:
        x: The variables, (rows, variables).
        codes: The class of each row, from 0 on.
        classes: How many classes there are.
        parts: The rows of every part; every row is in one of them.
    """

    x: Array
    codes: Codes
    classes: int
    parts: Sequence[Places]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

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

    def chunks(self, numbers: int) -> Iterator[tuple[slice, Places]]:
        """Parts in a row and the rows in them, as many as may be looked at together.

        Args:
            numbers: How many numbers are needed for a row.
        """
        most = max(1, AT_A_TIME // numbers)
        chunk = (np.cumsum(self.sizes) - 1) // most
        for which in np.unique(chunk):
            first, last = np.searchsorted(chunk, [which, which + 1])
            yield slice(int(first), int(last)), np.concatenate(self.parts[first:last])


@dataclass(frozen=True)
class Answer:
    """What was found.

    Attributes:
        codes: The class that each row is assigned to.
        probabilities: Of each class, where the classifier tells them.
        scores: What its decision function says, where it tells no probabilities.
        doubtful: Rows of which it cannot be told without the fit.
        said: How it was found, in a few words.
    """

    codes: Codes
    probabilities: Array | None
    scores: Array | None
    doubtful: Marks
    said: str


def known(estimator: Any, names: set[str]) -> dict[str, Any] | None:
    """The parameters of an estimator, unless there are some that nobody thought of here."""
    options: dict[str, Any] = estimator.get_params(deep=False)
    return options if options.keys() <= names else None


def given_priors(priors: Any, classes: int) -> Array | None:
    """Probabilities of classes that were given, unless there is anything to say against them."""
    found = np.asarray(priors)
    if found.shape != (classes,) or found.dtype.kind not in "iuf":
        return None
    found = found.astype(np.float64)
    return found if found.min() > 0 and abs(found.sum() - 1) < 1e-9 else None


def shares(log: Array) -> Array:
    """Probabilities that are in proportion to exp(log), (rows, classes)."""
    found = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def undecided(scores: Array, slack: Array | float = 0.0) -> Marks:
    """Rows whose two best classes are as good as each other, but for rounding."""
    best = np.sort(scores, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0] <= CLOSE * (1 + np.abs(best[:, 1])) + slack)

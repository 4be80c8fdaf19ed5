"""Made-up truth and predictions, labels and scores: what everybody is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["integers", "strings"]
SHARE_RIGHT = 0.8
HEAD_START = 1.5  # how far the score of the true class is ahead of the others', in standard deviations


@dataclass(frozen=True)
class Sample:
    """Rows of one true class and of one assigned class, or scores, for each classifier.

    Attributes:
        rows: How many there are.
        classes: How many classes there are.
        kind: What the labels are made of.
        seed: Where the random numbers start.
        decimals: To how many decimals a score is rounded, so that there are ties; None for no rounding.
    """

    rows: int
    classes: int
    kind: Kind = "integers"
    seed: int = 0
    decimals: int | None = None

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The true labels."""
        return self._as_labels(self._codes)

    @cached_property
    def assigned(self) -> NDArray[Any]:
        """The labels assigned by one classifier."""
        return self._as_labels(self._guess(1))

    @cached_property
    def rival(self) -> NDArray[Any]:
        """The labels assigned by another classifier."""
        return self._as_labels(self._guess(2))

    @cached_property
    def score(self) -> NDArray[np.float64]:
        """The probability of class 1 by one classifier."""
        return self._score(3)

    @cached_property
    def rival_score(self) -> NDArray[np.float64]:
        """The probability of class 1 by another classifier."""
        return self._score(4)

    @cached_property
    def memberships(self) -> NDArray[np.float64]:
        """The probability of each class: (rows, classes)."""
        found = np.random.default_rng([self.seed, 5]).standard_normal((self.rows, self.classes))
        found[np.arange(self.rows), self._codes] += HEAD_START
        np.exp(found, out=found)
        found /= found.sum(axis=1, keepdims=True)
        return found

    @cached_property
    def _codes(self) -> NDArray[np.int64]:
        return np.random.default_rng(self.seed).integers(0, self.classes, self.rows)

    def _guess(self, model: int) -> NDArray[np.int64]:
        random = np.random.default_rng([self.seed, model])
        wrong = random.integers(0, self.classes, self.rows)
        return np.where(random.random(self.rows) < SHARE_RIGHT, self._codes, wrong)

    def _score(self, model: int) -> NDArray[np.float64]:
        random = np.random.default_rng([self.seed, model])
        found = 1 / (1 + np.exp(-random.standard_normal(self.rows) - HEAD_START * (self._codes - 0.5)))
        return np.asarray(found if self.decimals is None else np.round(found, self.decimals))

    def _as_labels(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        if self.kind == "integers":
            return codes
        names = np.array([f"class {code:03d}" for code in range(self.classes)], dtype=object)
        return np.asarray(names[codes])

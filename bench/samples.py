"""Made-up truth and predictions: what everybody is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["integers", "strings"]
SHARE_RIGHT = 0.8


@dataclass(frozen=True)
class Sample:
    """Rows of one true class and of one assigned class for each classifier.

    Attributes:
        rows: How many there are.
        classes: How many classes there are.
        kind: What the labels are made of.
        seed: Where the random numbers start.
    """

    rows: int
    classes: int
    kind: Kind = "integers"
    seed: int = 0

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
    def _codes(self) -> NDArray[np.int64]:
        return np.random.default_rng(self.seed).integers(0, self.classes, self.rows)

    def _guess(self, model: int) -> NDArray[np.int64]:
        random = np.random.default_rng([self.seed, model])
        wrong = random.integers(0, self.classes, self.rows)
        return np.where(random.random(self.rows) < SHARE_RIGHT, self._codes, wrong)

    def _as_labels(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        if self.kind == "integers":
            return codes
        names = np.array([f"class {code:03d}" for code in range(self.classes)], dtype=object)
        return np.asarray(names[codes])

"""Measured responses and their covariates, checked, and dealt into parts that are left out together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import deal, distinct
from ..core.errors import BadOption, TooFewRows, quoted, refuse_length
from ..core.suggestions import refuse_no_seed
from ..inputs.covariates import design, deviations, finite_numbers, grouping
from ..inputs.misreadings import refuse_misaligned

if TYPE_CHECKING:
    from ..core.typing import Array, Places

LEAST_ROWS = 5
MEND = "Give a number of folds from 2 on, or an object with split()"


@dataclass(frozen=True)
class Observations:
    """What is known of every row.

    Attributes:
        points: The covariates, (rows, covariates).
        values: The measured responses.
        known: The variance of the measurement error of each.
        groups: Which rows belong together, as codes; None where every row stands for itself.
        seed: What decides all that is left to chance.
    """

    points: Array
    values: Array
    known: Array
    groups: Places | None = None
    seed: int = 0

    @classmethod
    def read(cls, covariates: Any, measured: Any, sd: Any, groups: Any, seed: Any) -> Observations:
        """Check what a user hands in."""
        refuse_misaligned(measured, {"covariates": covariates, "sd": sd, "groups": groups}, called="measured")
        values, points = finite_numbers(measured, "measured"), design(covariates)
        refuse_length("covariates", len(points), len(values), "measured")
        known = deviations(sd, len(values), other="measured") ** 2
        codes = None if groups is None else grouping(groups, len(values), "groups", "measured")
        refuse_no_seed(seed)
        found = cls(points, values, known, codes, int(seed))
        if found.units < LEAST_ROWS:
            problem = f"{found.units} {found.unit} are too few to learn from"
            raise TooFewRows(problem, column="measured", mend=f"Give {LEAST_ROWS} {found.unit} or more")
        return found

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.values)

    @property
    def unit(self) -> str:
        """What is left out at a time, at least."""
        return "rows" if self.groups is None else "groups"

    @property
    def units(self) -> int:
        """How many there are of these."""
        return len(self) if self.groups is None else len(distinct(self.groups))

    def folds(self, folds: Any, usual: int) -> list[Places]:
        """The rows that are left out together, by number or by a splitter; as usual where nobody asks."""
        if folds is None:
            return deal(len(self), min(usual, self.units), self.groups, self.seed)
        if hasattr(folds, "split") and not isinstance(folds, str | bytes):
            return _split(folds, self)
        if not isinstance(folds, int | np.integer) or isinstance(folds, bool) or folds < 2:
            raise BadOption(f"folds is {quoted(folds)}", mend=MEND)
        if folds > self.units:
            problem = f"{self.units} {self.unit} cannot be dealt into {folds} folds"
            raise TooFewRows(problem, mend=f"Give folds={self.units} or fewer")
        return deal(len(self), int(folds), self.groups, self.seed)


def _split(splitter: Any, rows: Observations) -> list[Places]:
    try:
        split = splitter.split(rows.points, rows.values, rows.groups)
        parts: list[Places] = [np.asarray(test, dtype=np.int64) for _, test in split]
    except Exception as error:  # a foreign object may raise anything
        problem = f"{quoted(splitter)} cannot split the rows ({quoted(str(error), 120)})"
        raise BadOption(problem, mend=MEND) from None
    counts = np.bincount(np.concatenate([np.zeros(0, dtype=np.int64), *parts]), minlength=len(rows))
    if (counts != 1).any():
        row = int(np.argmax(counts != 1))
        problem = f"{quoted(splitter)} leaves row {row} out {counts[row]} times"
        raise BadOption(problem, mend="Every row must be left out once: use KFold or GroupKFold")
    return parts

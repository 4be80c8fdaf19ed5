"""Columns as they were read: still apart, and with the rows in which something is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .coded import Coded
from .measured import Measured
from .membership import missing_rows
from .prediction import Prediction

if TYPE_CHECKING:
    from ..core.typing import Marks, Numbers


@dataclass(frozen=True)
class Raw:
    """Columns that have been read, but not yet held against each other."""

    truth: Coded
    measured: Measured | None
    predictions: Mapping[str, Prediction]
    weight: Numbers | None
    group: Coded | None
    slice: Coded | None

    def labelled(self) -> list[Coded]:
        """The columns of labels beside the predictions."""
        return [column for column in (self.truth, self.group, self.slice) if column is not None]

    def missing(self) -> Marks:
        """Mark the rows in which anything is missing."""
        marks = [column.missing() for column in self.labelled() if column.has_missing]
        found = [prediction.missing() for prediction in self.predictions.values()]
        found.append(None if self.weight is None else missing_rows([self.weight]))
        found += [] if self.measured is None else self.measured.missing()
        marks += [mark for mark in found if mark is not None]
        return np.logical_or.reduce(marks) if marks else np.zeros(len(self.truth), dtype=bool)

    def keep(self, rows: Marks) -> Raw:
        """Leave out the rows that are not marked."""
        return Raw(
            self.truth.keep(rows),
            None if self.measured is None else self.measured.keep(rows),
            {name: prediction.keep(rows) for name, prediction in self.predictions.items()},
            None if self.weight is None else self.weight[rows],
            None if self.group is None else self.group.keep(rows),
            None if self.slice is None else self.slice.keep(rows),
        )

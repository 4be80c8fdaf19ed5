"""What a tally is made of. Files hold it, and ``tally.py`` says what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.scale import Label, Scale
from ..data.digests import Source
from ..inputs.remarks import Remarks
from ..states.held_rows import Rows
from ..states.statistics import Sums, rows_in

if TYPE_CHECKING:
    from ..families.summed.recipe import Recipe
    from ..families.summed.summary import Summaries

ROUNDING = 1e-6  # sums of weights that were added in another order, or taken out again, differ in their last digits


@dataclass(frozen=True, eq=False)
class Contents:
    """The fields of a tally; the docstring of ``Tally`` describes each of them."""

    scale: Scale
    models: tuple[str, ...]
    sums: Sums
    slices: tuple[Label, ...] = ()
    groups: tuple[Label, ...] = ()
    dropped: int = 0
    scores: Rows | None = None
    reading: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()
    recipe: Recipe | None = None
    summaries: Summaries | None = None
    arrangement: tuple[Label, ...] = ()
    scored: bool = False
    published: bool = False
    where: str | None = None
    made_before: bool = False
    remarks: Remarks = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    veiled: bool = False

    @property
    def rows(self) -> float:
        """How many rows were summed (weights that count repetitions are counted as such)."""
        return rows_in(self.sums.values[:, 0])

    @property
    def tells_rows(self) -> bool:
        """Whether more than counts is known of rows."""
        return self.scores is not None or self.summaries is not None

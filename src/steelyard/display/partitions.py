"""Partition spaces as finished text: how memberships are scaled in every region, and what that shows of the rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from ..core.text import count, named, number, with_interval
from .grids import Grid, heading, measures_grid
from .rendering import drawn

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..core.table import Table
    from ..results.assessment import Assessment

PARAMETERS = ("mean", "correct", "alpha", "beta", "certainty", "scaled_alpha", "scaled_beta")


def partition_view(result: Assessment, regions: Table, rates: Table) -> list[RenderableType]:
    """The regions, how often the assignments to each class are right (CR), and the measures with their intervals."""
    cells = [
        [named(row["label"]), with_interval(row["value"], row["low"], row["high"])]
        for row in rates
        if row["value"] == row["value"]
    ]
    right = Grid(["assigned class", "correctness rate (CR)"], cells, (1,))
    return [Text(heading(result)), drawn(measures_grid(result, None)), drawn(right), *regions_view(regions)]


def regions_view(regions: Table, most: int = 60) -> Sequence[RenderableType]:
    """The highest classes of all regions, or of the first of very many; further columns are those of tables."""
    rows = []
    for row in list(regions)[:most]:
        values = [number(row[name], 4) for name in PARAMETERS]
        rows.append([named(row["region"]), count(row["n"]), *values, row["scaled_by"], row["note"]])
    headings = ["region", "n", *[name.replace("_", " ") for name in PARAMETERS], "scaled by", "note"]
    drawing = drawn(Grid(headings, rows, range(1, 2 + len(PARAMETERS))))
    left = len(regions) - most
    return [drawing, Text(f"… and {left:,} more regions: --regions has all")] if left > 0 else [drawing]

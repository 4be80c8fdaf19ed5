"""Grids on screens of any width: no number breaks; columns give way to numbers, and a list stands in for a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING

from ..core.errors import harmless
from ..core.text import rich_table
from .grids import Grid

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table as RichTable

BOUNDLESS = 1 << 20  # columns of a screen on which everything fits
FOLDED = 12  # of a long name, as much as is worth a line
INTERVAL = re.compile(r" (?=\[[^\]]* [^\]]*\])")  # the blank before it
WORDS = re.compile(r"\[[^\]]*\]|\S+")  # an interval is one


@dataclass(frozen=True)
class Fitted:
    """A grid that is drawn as far as the screen is wide."""

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Draw all columns; those that fit; or, where not even these do, a list."""
        from rich.measure import Measurement

        boundless = options.update(width=BOUNDLESS)
        for grid, breaks in self._candidates():
            head, cells = _head(grid), list(zip(grid.columns, *grid.rows, strict=True))
            most = [max(map(_length, column)) for column in cells]
            frame = Measurement.get(console, boundless, head).maximum - sum(map(_length, grid.columns))
            least = [max(_unbroken(cell, breaks) for cell in column) for column in cells]
            if sum(least) <= options.max_width - frame:
                yield _table(head, grid.rows, _shared(least, most, options.max_width - frame))
                return
        yield _list(self.grid)

    def _candidates(self) -> Iterator[tuple[Grid, bool]]:
        """What may be drawn, and whether intervals break: empty columns go before they do, and others mostly after."""
        full = self.grid
        empty = [name for name in full.spare if not any(row[full.columns.index(name)] for row in full.rows)]
        slim = reduce(Grid.without, empty, full)
        yield full, False
        yield slim, False
        for grid in accumulate(slim.spare, Grid.without, initial=slim):
            yield grid, not full.unbroken


def _head(grid: Grid) -> RichTable:
    return rich_table([harmless(name) for name in grid.columns], right=grid.right)


def _table(table: RichTable, rows: Sequence[Sequence[str]], widths: Sequence[int]) -> RichTable:
    """Rows in columns of these widths. A value and its interval that do not fit side by side stand in two lines."""
    from rich.text import Text

    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    for row in rows:
        cells = [(harmless(cell), width) for cell, width in zip(row, widths, strict=True)]
        table.add_row(*[Text(INTERVAL.sub("\n", cell) if _length(cell) > width else cell) for cell, width in cells])
    return table


def _length(cell: str) -> int:
    from rich.cells import cell_len

    return cell_len(harmless(cell))


def _unbroken(cell: str, breaks: bool) -> int:
    """The width that a cell needs at least: words may be folded, numbers may not, nor intervals unless they must."""
    words = [(word, _length(word)) for word in (str.split if breaks else WORDS.findall)(harmless(cell))]
    return max([1, *[min(width, FOLDED) if word[0].isalpha() else width for word, width in words]])


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Widths of columns for which there is room: the widest give way first, but none more than it can."""
    widths = list(most)
    while sum(widths) > room:
        place = max(range(len(widths)), key=lambda k: (widths[k] > least[k], widths[k], k))
        widths[place] -= 1
    return widths


def _list(grid: Grid) -> RenderableType:
    """The rows one below the other, each with a line for every cell."""
    from rich.text import Text

    lines = []
    for first, *others in grid.rows:
        cells = zip(grid.columns[1:], others, strict=True)
        lines += ["", harmless(first), *[f"  {harmless(name)} {harmless(cell)}" for name, cell in cells if cell]]
    return Text("\n".join([*lines, ""]))

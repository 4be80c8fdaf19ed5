"""Numbers, labels and the style of all tables as text. Everything that came from data is made harmless."""

from __future__ import annotations

import io
import math
import unicodedata
from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR, Context
from typing import TYPE_CHECKING

from .errors import harmless

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

WIDTH = 120
MOST_LINES, LAST_LINES = 60, 15  # of anything that is printed
LONGEST_NAME = 80
MOST_DECIMALS, TINY = 8, 1e-6  # below that, three digits would not be seen among so many decimals
ISOLATES = "\u2068\u2069"
FROM_THE_RIGHT = ("R", "AL", "AN")  # Hebrew, Arabic, and figures of Arabic
HUGE = 1e7  # from there on, numbers are written by their power of ten


def number(value: float, digits: int = 3) -> str:
    """Three digits after the point, or three significant ones where numbers are large or tiny."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0 or 10 ** -(digits - 1) <= abs(value) < 100:
        return f"{value:.{digits}f}"
    if 100 <= abs(value) < HUGE:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def down_to(threshold: float, below: float) -> str:
    """A threshold, with as many digits as it needs to do the same: above the next score, and no higher than it is.

    Rounded up, whoever copies it would lose the very row that it stands on; and no option reads commas of thousands.
    """
    words = number(threshold, 4).replace(",", "")
    for digits in range(4, 18):
        if not math.isfinite(threshold) or below < float(words) <= threshold:
            return words
        words = f"{float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(threshold)):#.{digits}g}".rstrip(".")
    return repr(threshold)


def p_value(value: float) -> str:
    """A p-value; of one that is very small, how small does not matter."""
    return "<0.001" if value < 0.001 else number(value)


def in_percent(level: float) -> str:
    """A level with all its digits: 99.9% is not 100%."""
    return f"{100 * level:.8g}%"


def span(low: float, high: float) -> str:
    """An interval with as many decimals as its width deserves: two digits of that, at least three decimals."""
    written = _writer(low, high) or _fixed
    return f"[{written(low)}, {written(high)}]"


def estimated(value: float, low: float, high: float) -> tuple[str, str]:
    """A value and its interval; where that is narrow, both have as many decimals: the one is seen to hold the other."""
    written = _writer(low, high) if math.isfinite(value) else None
    return (written or number)(value), span(low, high)


def with_interval(value: float, low: float, high: float) -> str:
    """Both in one."""
    return " ".join(estimated(value, low, high))


def _writer(low: float, high: float) -> Callable[[float], str] | None:
    """How numbers around a narrow interval are written; None for others, which do with three decimals."""
    width = float(high) - float(low)
    if width == 0:
        return number
    if not 0 < width < 0.01:
        return None
    decimals = 1 - math.floor(math.log10(width))
    if decimals > MOST_DECIMALS and max(abs(low), abs(high)) < TINY:
        return number
    return lambda value: f"{value:.{min(decimals, MOST_DECIMALS)}f}"


def _fixed(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else number(value)


def named(label: object) -> str:
    """A class label, not too long, in quotes where it is empty or has a space at an end, which would not be seen."""
    text = str(label)
    return shortened(harmless(label) if text and text == text.strip() else harmless(repr(text)), LONGEST_NAME)


def isolated(name: str) -> str:
    """A name in a sentence: one that is read from the right must not turn the numbers beside it around."""
    turns = any(unicodedata.bidirectional(sign) in FROM_THE_RIGHT for sign in name)
    return f"{ISOLATES[0]}{name}{ISOLATES[1]}" if turns else name


def bare(sentence: str) -> str:
    """A sentence without the marks of isolated names: they would be spelled out where it is made harmless."""
    return sentence.replace(ISOLATES[0], "").replace(ISOLATES[1], "")


def shortened(text: str, limit: int) -> str:
    """Text that is not too long: the middle is left out, because names that grow long tend to differ at their ends."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail].rstrip()}…{text[-tail:].lstrip()}"


def count(value: float) -> str:
    """A number of rows."""
    nearly = abs(value - round(value)) < 1e-6 if math.isfinite(value) else True  # sums of weights
    return f"{value:,.0f}" if nearly else f"{value:,.1f}"


def in_words(value: float, one: str, several: str = "") -> str:
    """A number of things, and what they are: one of them, or several."""
    found = count(value)
    return f"{found} {one}" if found == "1" else f"{found} {several or one + 's'}"


def rows_in_words(value: float) -> str:
    """A number of rows, and that they are rows."""
    return in_words(value, "row")


def rich_table(columns: Sequence[str], *, right: Sequence[int]) -> RichTable:
    """An empty table of the one style that all tables share."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if place in right else "left", overflow="fold")
    return table


def add_row(table: RichTable, cells: Sequence[str]) -> None:
    """Add a row as plain text: markup in data stays what it is, characters."""
    from rich.text import Text

    table.add_row(*[Text(harmless(cell)) for cell in cells])


def clipped(text: str, everything: str) -> str:
    """The first and the last lines of a long text, and where to find the rest."""
    lines = text.splitlines()
    if len(lines) <= MOST_LINES:
        return text
    first, last = MOST_LINES - LAST_LINES - 1, LAST_LINES
    between = f"… {len(lines) - first - last:,} lines left out: {everything}"
    return "\n".join([*lines[:first], between, *lines[-last:]])


def to_text(renderable: RenderableType, width: int = WIDTH) -> str:
    """Draw without colours, for print() and for files."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, no_color=True, highlight=False, legacy_windows=False)
    console.print(renderable, crop=False)  # sentences of a verdict stay in one line each
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()

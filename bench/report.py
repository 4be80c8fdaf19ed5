"""Tables on the terminal and as a Markdown page."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .results import Cell, Section

LIBRARIES = (
    *("steelyard", "numpy", "scipy", "pyarrow", "pandas"),
    *("scikit-learn", "pycm", "confidenceinterval", "torch", "torchmetrics"),
)
HOW_TO_READ = (
    "Times are milliseconds, the best of several turns that all libraries take in one process and one run. The "
    "number in brackets is a library's time divided by steelyard's: above 1×, steelyard is faster. Bold are ratios "
    "below 1×, or below what the column `wanted` asks for. Whoever is "
    "expected to need more than {budget:.0f} s for one turn is skipped, and the table says so. To measure on your own "
    "machine: `make bench` (`make bench ARGS=--quick` takes a minute)."
)
WHO_DOES_WHAT = """\
No other library computes all of it, and most compute no interval:

- **steelyard**: `assess(truth, assigned).table()`: all default measures overall, by class and averaged, each with
  standard error and interval.
- **scikit-learn**: the same values one by one, without intervals.
- **PyCM**: `ConfusionMatrix(truth, assigned)`: a wider choice of values, with intervals for accuracy and kappa.
- **confidenceinterval**: accuracy, and precision, recall and F1 (micro and macro) with analytic intervals; with two
  classes the rates of the event too.
- **torchmetrics**: a `MetricCollection` of nine metrics on tensors, without intervals; it was made before, and
  knows already which of its metrics share their sums. It is measured where it and torch are installed."""


def environment() -> list[tuple[str, str]]:
    """What was measured, and where."""
    lines = [("Python", platform.python_version()), ("cores", str(os.cpu_count()))]
    for library in LIBRARIES:
        try:
            lines.append((library, version(library)))
        except PackageNotFoundError:
            lines.append((library, "not installed"))
    return lines


def show(section: Section, console: Console) -> None:
    """Print a section."""
    table = Table(title=section.title, title_justify="left", title_style="bold", header_style="bold")
    for place, name in enumerate(section.header):
        table.add_column(name, justify="left" if place == 0 else "right")
    for row in section.rows:
        table.add_row(*[Text(cell.text, style="bold red" if cell.behind else "") for cell in row])
    console.print()
    console.print(table)
    console.print(section.text, style="dim")


def markdown(sections: Sequence[Section], budget: float) -> str:
    """All sections as a page."""
    versions = ", ".join(f"{name} {number}" for name, number in environment())
    parts = ["# Benchmarks", HOW_TO_READ.format(budget=budget), versions + ".", WHO_DOES_WHAT]
    for section in sections:
        parts += [f"## {section.title}", section.text, _markdown_table(section)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(section: Section) -> str:
    lines = [_line(section.header), _line(["---", *["---:"] * (len(section.header) - 1)])]
    lines += [_line([_marked(cell) for cell in row]) for row in section.rows]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _marked(cell: Cell) -> str:
    return f"**{cell.text}**" if cell.behind else cell.text

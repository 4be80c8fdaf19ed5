"""Measure everything, print the tables, and say where steelyard falls behind."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from .bootstrap import measure_bootstrap
from .closed_form import measure_closed_form
from .counts import measure_integers, measure_intervals, measure_strings
from .engines import measure_engines
from .forecasts import measure_forecasts
from .fresh import measure_imports, measure_memory, measure_scored_memory
from .page import measure_page
from .paired import measure_paired
from .partition import measure_partition
from .plans import FULL, QUICK, Plan
from .ranking import (
    measure_auc,
    measure_auc_bootstrap,
    measure_everything,
    measure_many_classes,
    measure_one_against_rest,
    measure_paired_auc,
    measure_thresholds,
)
from .report import environment, markdown, show
from .results import Section
from .streams import measure_streams
from .studies import measure_studies

Step = Callable[[Plan, Callable[[str], None]], Section]
FRESH = "fresh"
STEPS: dict[str, tuple[Step, ...]] = {
    "labels": (measure_integers, measure_strings, measure_intervals, measure_bootstrap, measure_paired),
    "scores": (
        measure_auc,
        measure_one_against_rest,
        measure_thresholds,
        measure_auc_bootstrap,
        measure_forecasts,
        measure_everything,
        measure_many_classes,
        measure_paired_auc,
    ),
    "studies": (measure_studies,),
    "partition": (measure_partition,),
    "closed_form": (measure_closed_form,),
    "streams": (measure_streams,),
    "engines": (measure_engines,),
    "page": (measure_page,),
}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute")
    parser.add_argument("--only", choices=[*STEPS, FRESH], help="leave the other parts out")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables as a Markdown page too")
    return parser.parse_args(arguments)


def measure(plan: Plan, console: Console, only: str | None = None) -> list[Section]:
    """Measure and print section by section; all parts, or the one that is named."""
    with console.status("") as status:

        def say(what: str) -> None:
            status.update(f"Measuring {what}")

        # A fresh process is charged with the memory of the one that started it, so these come first.
        fresh = only in (None, FRESH)
        last = [measure_memory(say), measure_scored_memory(plan, say), measure_imports(plan, say)] if fresh else []
        sections = []
        for part, steps in STEPS.items():
            for step in steps if only in (None, part) else ():
                sections.append(step(plan, say))
                show(sections[-1], console)
    for section in last:
        show(section, console)
    return [*sections, *last]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if steelyard is behind anybody anywhere, or short of what is wanted."""
    options = parse(arguments)
    # In a file or a pipe nobody's window is too narrow for the tables.
    console = Console(width=None if sys.stdout.isatty() else 160)
    plan = QUICK if options.quick else FULL
    console.print(", ".join(f"{name} {number}" for name, number in environment()))
    sections = measure(plan, console, options.only)
    if options.markdown:
        options.markdown.write_text(markdown(sections, plan.pace.budget), encoding="utf-8")
    losses = [loss for section in sections for loss in section.losses]
    console.print()
    if not losses:
        console.print("steelyard is ahead everywhere, by as much as is wanted.")
        return 0
    console.print(f"steelyard is behind, or short of what is wanted, in {len(losses)} places:", style="bold red")
    for loss in losses:
        console.print(f"  {loss}", markup=False)
    return 1


if __name__ == "__main__":
    sys.exit(main())

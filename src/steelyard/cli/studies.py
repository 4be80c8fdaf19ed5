"""The command line of the studies: what papers did, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from rich.text import Text

from .. import __version__
from ..core.errors import LONG, BadOption, UnwritableFile, quoted
from ..data.terminal import counting, show
from .options import HELD, OutputOptions
from .output import write

if TYPE_CHECKING:
    from ..core.table import Table
    from ..studies.replications import Measure

MEASURES: tuple[Measure, Measure] = ("pmc", "sqerr")

FULL = 1000
Full = Annotated[bool, Parameter(help=f"{FULL:,} repetitions, whatever number is given.")]
Seed = Annotated[int, Parameter(help="Where the random numbers start.")]

study = App(name="study", help="Run what a paper did, and hold what it printed against what comes out.")


@study.command
def mevik2003(
    *,
    repetitions: Annotated[int, Parameter(help="Data sets in each of the nine cells.")] = 100,
    full: Full = False,
    seed: Seed = 2003,
    design: Annotated[
        Literal["mevik2003", "waves", "grades", "heavy_tails"],
        Parameter(help="The paper's data, or others: another response, five classes and 300 rows, heavy tails."),
    ] = "mevik2003",
    better: Annotated[bool, Parameter(help="Estimates with a response model beside the paper's (minutes).")] = False,
    figures: Annotated[Path | None, Parameter(help="Folder to draw figures 2 to 7 into.")] = None,
    output: OutputOptions = OutputOptions(),  # noqa: B008  (frozen)
) -> int:
    """Estimates of error where classes arise from a continuum: the simulation of Mevik (2003), section 7.

    steelyard study mevik2003 --full --figures figures
    """
    from ..core.table import table_view
    from ..studies.designs import DESIGNS
    from ..studies.mevik import run
    from ..studies.simulation import gains

    _refuse_below(1, repetitions=repetitions)
    _refuse_below(0, seed=seed)
    _refuse_no_folder(figures)
    repetitions = FULL if full else repetitions
    with counting("simulating", output.quiet) as progress:
        simulation = run(repetitions, seed, figures, design=DESIGNS[design], better=better, progress=progress)
    if output.prints_tables:
        show(table_view(simulation.summary()))
        if better:
            show(Text("root mean squared errors, relative to the best of the paper's estimates in each cell:"))
            found = [gains(simulation, measure) for measure in MEASURES]
            # Names of estimates are long, and the design is the same in all rows.
            show(*[table_view(each[[name for name in each.column_names if name != "design"]]) for each in found])
    _finish(output, "mevik2003", simulation.table(), simulation.statements)
    return HELD


@study.command
def meat(
    *,
    folds: Annotated[int, Parameter(help="Segments of the cross-validation.")] = 10,
    repeats: Annotated[int, Parameter(help="Splits, to see how much rankings depend on them.")] = 20,
    full: Full = False,
    seed: Seed = 1,
    size: Annotated[int | None, Parameter(help="Samples drawn for each split; all if not given.")] = None,
    output: OutputOptions = OutputOptions(),  # noqa: B008  (frozen)
) -> int:
    """Rank five classifiers of meat by error and by squared error: Mevik (2003), section 6, on the Tecator data.

    steelyard study meat --repeats 100
    """
    from ..display.views import comparison_view
    from ..studies.meat import run

    with counting("cross-validating", output.quiet) as progress:
        found = run(folds, FULL if full else repeats, seed, size=size, progress=progress)
    if output.prints_tables:
        show(Text(str(found)), Text("\nThe first split:"), comparison_view(found.comparison, "apparent_sqerr"))
    _finish(output, "meat", found.splits, found.statements)
    return HELD


@study.command
def partitions(
    *,
    seeds: Annotated[int, Parameter(help="Data sets of 27 objects.")] = 100,
    full: Full = False,
    seed: Seed = 2001,
    figures: Annotated[Path | None, Parameter(help="Folder to draw figures 1 to 3 into.")] = None,
    output: OutputOptions = OutputOptions(),  # noqa: B008  (frozen)
) -> int:
    """Scale what three rules say of three chi-squared classes: the example of Sondhauss & Weihs (2001).

    steelyard study partitions --seeds 1000
    """
    from ..studies.partitions import run

    _refuse_no_folder(figures)
    with counting("drawing", output.quiet) as progress:
        found = run(FULL if full else seeds, seed, progress=progress)
    _finish(output, "partitions", found.draws, found.statements, found)
    if figures is not None:
        from ..studies.partitions import draw

        draw(figures, seed)
    return HELD


@study.command
def knn(
    *,
    splits: Annotated[int, Parameter(help="How often the flowers are dealt into folds.")] = 50,
    full: Full = False,
    seed: Seed = 1,
    folds: Annotated[int, Parameter(help="Folds of the cross-validation.")] = 10,
    stratified: Annotated[
        bool, Parameter(help="Whether every fold has as many flowers of each species.", negative="--no-stratified")
    ] = True,
    figures: Annotated[Path | None, Parameter(help="Folder to draw the curve into.")] = None,
    output: OutputOptions = OutputOptions(),  # noqa: B008  (frozen)
) -> int:
    """Choose the number of neighbours that tell irises apart: the example of Ross's lecture, on many splits.

    steelyard study knn --splits 200 --figures figures
    """
    from ..studies.irises import run

    _refuse_no_folder(figures)
    with counting("cross-validating", output.quiet) as progress:
        found = run(FULL if full else splits, seed, folds, stratified=stratified, progress=progress)
    _finish(output, "knn", found.splits, found.statements, found)
    if figures is not None:
        found.draw(figures)
    return HELD


def _finish(output: OutputOptions, name: str, table: Table, statements: Table, found: object = None) -> None:
    """Show what was found and the verdicts on statements of the paper; write these, and the table of all runs."""
    from ..core.table import table_view
    from ..studies.statements import shown

    if output.prints_tables and found is not None:
        show(Text(str(found)))
    if output.prints_tables and len(statements):
        show(Text("\nWhat the paper says, and what comes out here:"), table_view(shown(statements)))
    content = {"steelyard": __version__, "study": name, "results": table.to_json(), "statements": statements.to_json()}
    write(output, table, lambda: content)


def _refuse_no_folder(figures: Path | None) -> None:
    """What cannot be a folder is told of before the study, whose work would be lost."""
    if figures is not None:
        there = next(place for place in (figures, *figures.absolute().parents) if place.exists())
        if not there.is_dir():
            raise UnwritableFile(f"{quoted(str(there), LONG)} is a file", mend="Name a folder: --figures figures")


def _refuse_below(least: int, **given: int) -> None:
    for name, number in given.items():
        if number < least:
            raise BadOption(f"--{name} is {number}", mend=f"Give {least} or more")

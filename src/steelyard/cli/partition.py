"""The command line of partition spaces: memberships scaled by region, and new rows scaled by what was learned."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from .. import __version__
from ..core.errors import BadOption, harmless
from ..core.table import FORMULA, Table
from ..core.text import in_words
from ..data.terminal import complain, show, working, write_to
from ..data.whole_files import CSV, SCALED
from .messages import columns_in
from .options import HELD, DataOptions, File, assess_scores, load_file, located
from .output import head_of, note_formulas, write
from .parsing import columns

if TYPE_CHECKING:
    pass

USUAL: Mapping[str, Any] = {"scaling": "default", "depth": 1, "floor": 1, "ties": "first", "seed": 0}
OF_TRUTH = ("scale", "event", "weight", "group", "cut", "sd", "sd_response", "response")  # idle where none is read
MEASURES = ("partition_accuracy", "separation", "confidence")


def partition(
    file: File,
    *,
    membership: Annotated[str, Parameter(help="Columns of probabilities: 'p_*', or names with commas.")],
    truth: Annotated[str | None, Parameter(help="Column of the true class; needed without --learned.")] = None,
    scaling: Annotated[
        Literal["default", "literal", "klar"],
        Parameter(help="The corrected formulas, those of the paper as printed, or those of the R package klaR."),
    ] = "default",
    depth: Annotated[int, Parameter(help="How many of the highest classes a region is made of.")] = 1,
    floor: Annotated[int, Parameter(help="Observations that a region needs to be scaled on its own.")] = 1,
    ties: Annotated[
        Literal["first", "random", "joined"], Parameter(help="Where observations with tied memberships go.")
    ] = "first",
    seed: Annotated[int, Parameter(help="Where the random numbers for ties start.")] = 0,
    scaled: Annotated[
        str | None, Parameter(help="CSV file to write: the scaled memberships, one column a class.")
    ] = None,
    regions: Annotated[str | None, Parameter(help="CSV file to write: one row a region, with all parameters.")] = None,
    save: Annotated[Path | None, Parameter(help="JSON file to write: the scaling, for --learned.")] = None,
    learned: Annotated[
        Path | None, Parameter(help="JSON file of a saved scaling: scale the rows by it, and learn nothing.")
    ] = None,
    unseen: Annotated[
        Literal["error", "keep"],
        Parameter(help="With --learned: rows of a class that had no region are an error, or keep their memberships."),
    ] = "error",
    reading: DataOptions = DataOptions(),  # noqa: B008  (frozen)
) -> int:
    """Scale memberships so that they say how right the classifier is, region by region (Sondhauss & Weihs 2001).

    steelyard partition iris.csv --truth species --membership 'lda_*' --scaled scaled.csv --regions regions.csv
    """
    chosen = {"scaling": scaling, "depth": depth, "floor": floor, "ties": ties, "seed": seed}
    results = PartitionOutputs(scaled, regions, save, reading)
    if learned is not None:
        if changed := [name for name, value in chosen.items() if value != USUAL[name]]:
            mend = f"Leave --{changed[0]} out"
            raise BadOption(f"--{changed[0]} is given, and the saved scaling has its own", mend=mend)
        return _applied(file, membership, learned, unseen == "keep", truth, results)
    if truth is None:
        mend = "; ".join(["Say --truth COLUMN, or --learned scaling.json", *columns_in([file])])
        raise BadOption("partition needs --truth: column of the true class", mend=mend)
    if unseen != "error":
        raise BadOption("--unseen is for --learned", mend="Leave it out, or say --learned scaling.json")
    return _learned(file, truth, membership, chosen, results)


class PartitionOutputs:
    """Where the results of the command go."""

    def __init__(self, scaled: str | None, regions: str | None, save: Path | None, reading: DataOptions) -> None:
        """Refuse what would be mixed up on standard output."""
        self.scaled, self.regions, self.save, self.reading = scaled, regions, save, reading
        if [*reading.targets, scaled, regions].count("-") > 1:
            raise BadOption("two kinds of results on standard output", mend="Name a file for one: --scaled scaled.csv")

    @property
    def prints_tables(self) -> bool:
        """Whether standard output is free for people."""
        return self.reading.prints_tables and "-" not in (self.scaled, self.regions)

    def write(self, scaled: Callable[[], Table], regions: Table) -> None:
        """Write the files that were asked for; memberships are scaled only then."""
        safe = self.reading.csv_safe
        if self.scaled is not None:
            memberships = scaled()
            if not safe:
                note_formulas(Table({name: [] for name in memberships.column_names}))
            write_to(self.scaled, scaled_csv(memberships, safe=safe), SCALED)
        if self.regions is not None:
            if not safe:
                note_formulas(regions)
            write_to(self.regions, regions.to_csv(safe=safe), CSV)


def _learned(file: str, truth: str, membership: str, chosen: Mapping[str, Any], results: PartitionOutputs) -> int:
    """Learn a scaling from rows, and show what it makes of them."""
    from ..display.views import partition_view
    from ..measures import find
    from ..results.partition_spaces import correctness

    reading = results.reading
    labels = [find(name, **chosen).label for name in MEASURES]
    _, result = assess_scores(file, truth, membership, reading, ["accuracy", *labels])
    with working("scaling", reading.quiet):
        found = result.scaling(**chosen)
        table, rates = found.regions(), correctness(result, result.partition.scaled(**chosen))
    if results.prints_tables:
        show(*partition_view(result, table, rates))
    else:
        for note in result.tally.words_on_input:
            complain("note", note)
    results.write(lambda: result.scaled_memberships(**chosen), table)
    if results.save is not None:
        found.save(results.save)
    write(
        reading,
        result.table(),
        lambda: {
            **head_of(result),
            **chosen,
            "estimates": result.table().to_json(),
            "correctness": rates.to_json(),
            "regions": table.to_json(),
            "notes": result.notes,
        },
    )
    return HELD


def _applied(
    file: str, membership: str, learned: Path, keep: bool, truth: str | None, results: PartitionOutputs
) -> int:
    """Scale rows by a scaling that was learned before."""
    from ..data.sources import column
    from ..display.views import regions_view
    from ..families.partition.partition_scaling import PartitionScaling, admitted, memberships_table
    from ..inputs.prediction import recognise
    from ..inputs.request import membership_prediction

    reading = results.reading
    given = {"truth": truth, "save": results.save} | {name: getattr(reading, name) for name in OF_TRUTH}
    if idle := [name.replace("_", "-") for name, value in given.items() if value is not None]:
        raise BadOption(f"--{idle[0]} is given, and --learned only scales", mend=f"Leave --{idle[0]} out")
    found = PartitionScaling.load(learned)
    loaded = load_file(file, reading, None)
    with located(loaded) as table:
        named = columns(membership)
        alone = isinstance(named, str) and "*" not in named  # then it speaks for the event, or holds labels
        said = (
            recognise(column(table, named), named, found.classes, found.scale.event, as_scores=True)
            if isinstance(named, str) and alone
            else membership_prediction(table, "membership", named)
        )
        missing = said.missing() if reading.missing == "drop" else None
        said = said if missing is None else said.keep(~missing)
        made = memberships_table(found.scaled(admitted(said, found.scale), keep=keep), found.scale)
    regions, dropped = found.regions(), 0 if missing is None else int(missing.sum())
    if results.prints_tables:
        left = f", {in_words(dropped, 'row')} left out" if dropped else ""
        told = f"{in_words(len(made), 'row')} scaled by {harmless(learned)}{left}; the regions that it learned:"
        show(Text(told), *regions_view(regions))
    results.write(lambda: made, regions)
    options = dict(zip(USUAL, found.options, strict=True))
    head = {"steelyard": __version__, "rows": len(made), "dropped": dropped, "classes": list(found.classes)}
    write(reading, regions, lambda: {**head, **options, "regions": regions.to_json()})
    return HELD


def scaled_csv(table: Table, *, safe: bool = False) -> str:
    """Return scaled memberships as CSV: names in quotes, and 17 decimals, by which such a file is known again."""
    names = [f"'{name}" if safe and FORMULA.match(name) else name for name in table.column_names]
    head = io.StringIO(newline="")
    csv.writer(head, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(names)
    rows = zip(*table.columns.values(), strict=True)
    return head.getvalue() + "".join(",".join([f"{value:.17f}" for value in row]) + "\n" for row in rows)

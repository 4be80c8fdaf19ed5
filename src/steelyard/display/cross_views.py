"""Cross-validation and tuning as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import harmless
from ..core.text import add_row, estimated, number, rich_table, with_interval
from ..modelling.tuning import RESULTS
from .rendering import comparison_view

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

    from ..modelling.cross_assessment import CrossAssessment
    from ..modelling.tuning import Tuning

MOST_FAILED = 3  # candidates are told by name
MOST_CANDIDATES = 20


def cross_view(cross: CrossAssessment, measure: str | None = None) -> RenderableType:
    """How rows were held out, the classifiers side by side, and what they made of rows that they had seen."""
    from rich.console import Group
    from rich.text import Text

    parts = [
        Text(f"cross-validated: {cross.plan.words}"),
        comparison_view(cross, measure),
        training_table(cross, measure),
        *[Text(f"note: {harmless(note)}") for note in cross.remarks],
    ]
    return Group(*[part for part in parts if part is not None])


def training_table(cross: CrossAssessment, measure: str | None = None) -> RichTable:
    """The main measure on rows held out and on rows fitted to, and what it took to find it."""
    name = measure or cross.settings.measures[0].label
    seen = ["in training", "gap"] if cross.trained is not None else []
    table = rich_table(["classifier", f"{name}, held out", *seen, "by", "seconds"], right=(1, 2, 3, 5)[: 2 + len(seen)])
    for run in cross.runs:
        one = cross[run.model]
        estimate = one[name]
        cells = [with_interval(estimate.value, estimate.low, estimate.high)]
        if one.training is not None:
            gap = one.gap(name)
            cells += [number(one.training[name].value), with_interval(gap.value, gap.low, gap.high)]
        add_row(table, [run.model, *cells, run.how, f"{run.seconds:.2g}"])
    return table


def tuning_view(tuning: Tuning) -> RenderableType:
    """Candidates with their bars, the best ones if there are many, and the choice."""
    from rich.console import Group
    from rich.text import Text

    found = list(tuning.table())
    kept = {one["rank"] for one in found if one["rank"] is not None and one["rank"] <= MOST_CANDIDATES}
    shown = [row for row in found if len(found) <= MOST_CANDIDATES or row["rank"] in kept or row["chosen"]]
    names = [name for name in found[0] if name not in RESULTS]
    columns = [*names, tuning.measure.title, "interval", "se", "in training", ""]
    table = rich_table(columns, right=[*range(len(names) + 1), len(names) + 2, len(names) + 3])
    for row in shown:
        mark = "chosen" if row["chosen"] else "best" if row["rank"] == 1 and not tuning.tied else ""
        cells = [*estimated(row["value"], row["low"], row["high"]), number(row["se"]), number(row["training"]), mark]
        add_row(table, [*[str(row[name]) for name in names], *cells])
    rule = ", the first within one standard error of the best" if tuning.one_se else ""
    hidden = f"; {len(found) - len(shown):,} more in table()" if len(found) > len(shown) else ""
    if tuning.tied:
        words = f"chosen: {harmless(tuning.chosen.name)}, the first. {tuning.tied}; "
    else:
        why = f"Its value is the best of {len(found):,}, and so too good"
        words = f"chosen: {harmless(tuning.chosen.name)}{rule}. {why}: "
    head = f"{len(found):,} candidates by {tuning.measure.title}, {tuning.cross.plan.words}{hidden}"
    failed: dict[str, str] = {}
    for one in tuning.cross.failures:
        failed.setdefault(one["model"], f"{one['model']} says {one['problem']}")
    first = "; ".join([*failed.values()][:MOST_FAILED])
    told = [Text(f"note: {harmless(note)}") for note in tuning.notes if note != tuning.tied]
    told += [Text(f"note: {len(failed):,} more could not be fitted: {harmless(first)}")] if failed else []
    return Group(Text(head), table, Text(f"{words}assess(X, y) tells what tuning is worth."), *told)

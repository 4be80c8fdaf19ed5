"""What commands do with a result: print it, write it, and hold requirements against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from ..core.table import Table, json_value
from ..data.terminal import console, error_console, show, working
from ..states.statistics import CONFUSION
from .options import Given, Judged, head_of, tell_left_out, tell_verdicts, write, write_markdown, write_page

if TYPE_CHECKING:
    from ..core.estimate import Estimate
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison
    from ..results.decisions import Decision
    from .requirements import Requirement


def tell_assessment(
    result: Assessment, options: Judged, conditions: Sequence[Requirement], truth_in_rows: bool = True
) -> int:
    """Tell of one classifier."""
    from ..display.digest import assessment_digest
    from ..display.rendering import assessment_view

    with working("weighing", options.quiet):
        result.table()
        verdicts = [condition.judge(result) for condition in conditions]
    if options.prints_tables:
        show(assessment_view(result, truth_in_rows=truth_in_rows))
    write(
        options,
        result.table(),
        lambda: {
            **head_of(result),
            "confusion": result.confusion().tolist() if result.settings.made_of(CONFUSION) else None,
            "estimates": result.table().to_json(),
            "training": None if result.training is None else result.training.table().to_json(),
            "gaps": None if result.training is None else _gaps(result).to_json(),
            "chosen": [] if result.decision is None else [told_choice(result.decision, result.model)],
            "notes": result.notes,
        },
    )
    tell_left_out(options, result.tally.words_on_input)
    write_page(options, result)
    write_markdown(options, lambda: assessment_digest(result), verdicts)
    return tell_verdicts(options, verdicts)


def _gaps(result: Assessment) -> Table:
    """How far the values on test data are from those on training data."""
    names = ("measure", "class", "average")
    whole = [row for row in result.table().to_pylist() if row.get("slice") is None]
    gaps = [result.gap(row["measure"], row["average"] or row["class"]) for row in whole]
    values = {name: [getattr(gap, name) for gap in gaps] for name in ("value", "low", "high", "se")}
    return Table({name: [row[name] for row in whole] for name in names} | values)


def tell_comparison(
    result: Comparison, options: Judged, conditions: Sequence[Requirement], measure: str | None = None
) -> int:
    """Tell of several classifiers, and of the differences in one measure."""
    from ..display.digest import comparison_digest
    from ..display.rendering import comparison_view
    from ..results.verdicts import told_verdict

    shown = None if measure is None else result[result.models[0]].find(measure).label
    with working("weighing", options.quiet):
        result.table()
        verdicts = [condition.judge(result) for condition in conditions]
        view = comparison_view(result, shown) if options.prints_tables else None
    if view is not None:
        show(view)
    several = len(result.models) > 1
    write(
        options,
        result.table(),
        lambda: {
            **head_of(result[result.models[0]]),
            "estimates": result.table().to_json(),
            "differences": _differences(result, options.quiet) if several else [],
            "verdict": told_verdict(result, shown),
            "chosen": [told_choice(one, name) for name, one in result.decisions.items()],
            "notes": result.notes,
        },
    )
    tell_left_out(options, result.tally.words_on_input)
    write_page(options, result)
    write_markdown(options, lambda: comparison_digest(result, shown), verdicts)
    return tell_verdicts(options, verdicts)


def tell_choices(options: Given, chosen: Sequence[Decision]) -> None:
    """Say which thresholds were chosen, and where there is none why, even to whom wants quiet."""
    from ..display.rendering import harmless_lines

    for one in chosen:
        for_people = options.prints_tables or (one.found and "-" not in options.targets)
        (console() if for_people else error_console()).print(Text(harmless_lines(str(one))))


def told_choice(one: Decision, model: str | None = None) -> dict[str, Any]:
    """A threshold that was chosen, and what it achieves: on the rows at hand, and on rows without a part in it."""
    pairs = [] if one.value is None or one.honest is None else [(one.value, one.honest), *one.limits]
    achieved = [{"measure": here.measure, **_bounds(here), "elsewhere": _bounds(there)} for here, there in pairs]
    told = {"goal": str(one.goal), "threshold": json_value(one.threshold), "note": one.note, "achieved": achieved}
    return told if model is None else {"model": model, **told}


def _bounds(found: Estimate) -> dict[str, Any]:
    return {name: json_value(getattr(found, name)) for name in ("value", "low", "high")}


def _differences(result: Comparison, quiet: bool) -> list[dict[str, Any]]:
    """All differences; those in parts of the data, too, where there are any."""
    with working("comparing", quiet):
        rows = result.differences().to_json()
        parts = [(label, part.differences().to_json()) for label, part in result.slices.items()]
    if not parts:
        return rows
    return [{"slice": label, **row} for label, some in [(None, rows), *parts] for row in some]

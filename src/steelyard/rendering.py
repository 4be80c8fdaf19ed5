"""Results as text for a terminal and as HTML for a notebook. Everything that came from data is made harmless."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

    from .assessment import Assessment, Estimate
    from .comparison import Comparison
    from .table import Table

WIDTH = 110
MOST_CLASSES = 12  # shown in a terminal; table() has them all
ARROWS = {"higher": "↑", "lower": "↓", "neither": " "}
IN_SHORT = ("sensitivity", "specificity", "precision", "f1")


def number(value: float, digits: int = 3) -> str:
    """Three digits after the point, or three significant ones where numbers are large or tiny."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0 or 10 ** -(digits - 1) <= abs(value) < 100:
        return f"{value:.{digits}f}"
    if 100 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def span(low: float, high: float) -> str:
    """An interval with as many decimals as its width deserves, at least three."""
    width = high - low
    if not 0 < width < 0.01:
        return f"[{_fixed(low)}, {_fixed(high)}]"
    decimals = min(8, 2 - math.floor(math.log10(width)))
    return f"[{low:.{decimals}f}, {high:.{decimals}f}]"


def _fixed(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else number(value)


def harmless(value: object) -> str:
    """Text from data with everything that could act on a terminal spelled out."""
    text = str(value)
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def count(value: float) -> str:
    """A number of rows."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return number(value, 4) if isinstance(value, float) else harmless(value)


def _rich(columns: Sequence[str], *, right: Sequence[int] = (), title: str | None = None) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(
        box=box.SIMPLE_HEAD,
        title=None if title is None else Text(title),
        title_justify="left",
        pad_edge=False,
    )
    for place, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if place in right else "left", overflow="fold")
    return table


def _row(table: RichTable, cells: Sequence[str]) -> None:
    """Add a row as plain text: markup in data stays what it is, characters."""
    from rich.text import Text

    table.add_row(*[Text(harmless(cell)) for cell in cells])


def to_text(renderable: RenderableType, width: int = WIDTH) -> str:
    """Draw without colours, for print() and for files."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, no_color=True, highlight=False, legacy_windows=False)
    console.print(renderable)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


# --- assessments ----------------------------------------------------------------------------------------------


def heading(assessment: Assessment) -> str:
    """What was assessed, in one line."""
    scale = assessment.tally.scale
    parts = [f"{count(assessment.n)} rows", f"{len(scale)} classes"]
    parts += [] if scale.event is None else [f"event {harmless(scale.event)}"]
    parts += [f"{assessment.evaluation.patterns.clusters} clusters"] if assessment.tally.groups else []
    parts += [f"{assessment.dropped:,} dropped (missing)"] if assessment.dropped else []
    parts.append(f"{assessment.settings.level:.0%} intervals")
    return ", ".join(parts)


def overall_rows(assessment: Assessment) -> list[tuple[str, Estimate]]:
    """The overall estimate of every measure, with its label."""
    rows = []
    for measure in assessment.settings.measures:
        estimate = assessment[measure]
        if measure.better == "neither" and estimate.average:
            continue  # the mean prevalence is 1/C, whatever the data
        suffix = ""
        if measure.per_class:
            suffix = " (macro)" if estimate.average else f" [{harmless(estimate.label)}]"
        rows.append((f"{ARROWS[measure.better]} {_titled(measure)}{suffix}", estimate))
    return rows


def _titled(measure: Any) -> str:
    extra = str(measure.label)[len(measure.name) :]
    return f"{measure.title}{extra}"


def overall_table(assessment: Assessment) -> RichTable:
    """The main table: every measure with interval, standard error and method."""
    training = assessment.training
    columns = ["measure", "value", f"{assessment.settings.level:.0%} interval", "se", "method"]
    columns += ["training", "gap"] if training else []
    columns += ["note"]
    table = _rich(columns, right=(1, 3, 5, 6) if training else (1, 3))
    for label, estimate in overall_rows(assessment):
        row = [label, number(estimate.value), _interval(estimate), number(estimate.se), estimate.method]
        if training:
            fitted = training.estimate(training.place(estimate.measure, estimate.label or estimate.average)).value
            row += [number(fitted), number(estimate.value - fitted)]
        _row(table, [*row, estimate.note])
    return table


def _interval(estimate: Estimate) -> str:
    return span(estimate.low, estimate.high) if not math.isnan(estimate.value) else "–"


def class_table(assessment: Assessment) -> RichTable | None:
    """The main measures of every class."""
    computed = {measure.name: measure for measure in assessment.settings.measures if not measure.changed}
    shown = [computed[name] for name in IN_SHORT if name in computed]
    if not shown:
        return None
    table = _rich(["class", "rows", *[_titled(m) for m in shown]], right=range(1, 2 + len(shown)))
    sums = assessment.confusion().sum(axis=1)
    for code, label in enumerate(assessment.classes[:MOST_CLASSES]):
        cells = [f"{number(e.value)} {_interval(e)}" for e in (assessment[m, label] for m in shown)]
        _row(table, [harmless(label), count(float(sums[code])), *cells])
    hidden = len(assessment.classes) - MOST_CLASSES
    if hidden > 0:
        _row(table, [f"… {hidden} more in table()", "", *[""] * len(shown)])
    return table


def confusion_table(assessment: Assessment, truth_in_rows: bool = True) -> RichTable | None:
    """The counts; with predictions in rows, as many lectures print them, on request."""
    labels = [harmless(label) for label in assessment.classes]
    if len(labels) > MOST_CLASSES:
        return None
    counts = assessment.confusion()
    counts, sides = (counts, "true ↓  assigned →") if truth_in_rows else (counts.T, "assigned ↓  true →")
    table = _rich([sides, *labels, "all"], right=range(1, len(labels) + 2))
    for label, row in zip(labels, counts, strict=True):
        _row(table, [label, *[count(float(value)) for value in row], count(float(row.sum()))])
    _row(table, ["all", *[count(float(v)) for v in counts.sum(axis=0)], count(float(counts.sum()))])
    return table


def slice_table(assessment: Assessment) -> RichTable | None:
    """The first measure of every part of the data."""
    if assessment.slice is not None or not assessment.tally.slices:
        return None
    measures = assessment.settings.measures[:4]
    table = _rich(["slice", "rows", *[_titled(m) for m in measures]], right=range(1, 2 + len(measures)))
    for label, part in list(assessment.slices.items())[:MOST_CLASSES]:
        cells = [f"{number(e.value)} {_interval(e)}" for e in (part[m] for m in measures)]
        _row(table, [harmless(label), count(part.n), *cells])
    hidden = len(assessment.tally.slices) - MOST_CLASSES
    if hidden > 0:
        _row(table, [f"… {hidden} more in table()", "", *[""] * len(measures)])
    return table


def assessment_view(assessment: Assessment, truth_in_rows: bool = True) -> RenderableType:
    """Everything about one classifier that fits on a screen."""
    from rich.console import Group
    from rich.text import Text

    parts = [
        Text(f"{harmless(assessment.model)}: {heading(assessment)}"),
        confusion_table(assessment, truth_in_rows),
        overall_table(assessment),
        class_table(assessment),
        slice_table(assessment),
        *[Text(f"note: {harmless(note)}") for note in assessment.notes],
    ]
    return Group(*[part for part in parts if part is not None])


# --- comparisons ----------------------------------------------------------------------------------------------


def comparison_view(comparison: Comparison, measure: str | None = None) -> RenderableType:
    """Several classifiers side by side, and which of them differ."""
    from rich.console import Group
    from rich.text import Text

    first = comparison[comparison.models[0]]
    table = _rich(["measure", *[harmless(name) for name in comparison.models]])
    by_model = [overall_rows(comparison[name]) for name in comparison.models]
    for rows in zip(*by_model, strict=True):
        _row(table, [rows[0][0], *[f"{number(e.value)} {_interval(e)}" for _, e in rows]])
    name = measure or comparison.settings.measures[0].label
    return Group(
        Text(f"{len(comparison.models)} classifiers on the same {heading(first)}"),
        table,
        Text(f"differences in {name} (a - b), p-values adjusted by Holm's method"),
        differences_table(comparison, name),
        Text(comparison.verdict(name)),
    )


def differences_table(comparison: Comparison, measure: str) -> RichTable:
    """Paired differences of one measure."""
    level = f"{comparison.settings.level:.0%} interval"
    table = _rich(["a", "b", "difference", level, "p", "adjusted p"], right=(2, 4, 5))
    for row in comparison.differences(measure):
        bounds = span(row["low"], row["high"])
        p = [number(row[name]) if not row[name] < 0.001 else "<0.001" for name in ("p", "p_adjusted")]
        _row(table, [row["a"], row["b"], number(row["difference"]), bounds, *p])
    return table


# --- tidy tables ----------------------------------------------------------------------------------------------


def table_view(table: Table, title: str | None = None) -> RichTable:
    """Any tidy table, for a terminal."""
    numeric = [
        place
        for place, values in enumerate(table.columns.values())
        if any(isinstance(value, float) for value in values)
    ]
    drawn = _rich([harmless(name) for name in table.column_names], right=numeric, title=title)
    for row in zip(*table.columns.values(), strict=True):
        _row(drawn, [_cell(value) for value in row])
    return drawn


def table_text(table: Table) -> str:
    """Any tidy table as text."""
    return to_text(table_view(table), width=160)


def table_html(table: Table) -> str:
    """Any tidy table as HTML."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.column_names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in zip(*table.columns.values(), strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def assessment_html(assessment: Assessment) -> str:
    """The main table for a notebook."""
    rows = "".join(
        f"<tr><td>{html.escape(label)}</td><td style='text-align:right'>{number(e.value)}</td>"
        f"<td>{_interval(e)}</td><td>{html.escape(e.note)}</td></tr>"
        for label, e in overall_rows(assessment)
    )
    caption = html.escape(f"{harmless(assessment.model)}: {heading(assessment)}")
    head = f"<th>measure</th><th>value</th><th>{assessment.settings.level:.0%} interval</th><th>note</th>"
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def comparison_html(comparison: Comparison) -> str:
    """The side-by-side table for a notebook."""
    head = "".join(f"<th>{html.escape(harmless(name))}</th>" for name in comparison.models)
    by_model = [overall_rows(comparison[name]) for name in comparison.models]
    body = "".join(
        f"<tr><td>{html.escape(rows[0][0])}</td>"
        + "".join(f"<td>{number(e.value)} {_interval(e)}</td>" for _, e in rows)
        + "</tr>"
        for rows in zip(*by_model, strict=True)
    )
    return f"<table><thead><tr><th>measure</th>{head}</tr></thead><tbody>{body}</tbody></table>"

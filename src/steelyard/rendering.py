"""Results as text for a terminal and as HTML for a notebook. Everything that came from data is made harmless."""

from __future__ import annotations

import html
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import harmless
from .scale import Continuum
from .statistics import CONFUSION, CONTINUUM
from .text import add_row, count, named, number, rich_table, span

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

    from .assessment import Assessment
    from .comparison import Comparison
    from .estimate import Estimate
    from .registry import Measure
    from .reliability import CalibrationTest
    from .table import Table

MOST_CLASSES = 12  # shown in a terminal; table() has them all
ARROWS = {"higher": "↑", "lower": "↓", "neither": " "}
OF_SLICES = ("error", "kappa", "sensitivity", "specificity")
IN_SHORT = ("sensitivity", "specificity", "precision", "f1")


def harmless_lines(text: str) -> str:
    """Several lines, each made harmless."""
    return "\n".join(harmless(line) for line in text.split("\n"))


# --- assessments ----------------------------------------------------------------------------------------------


def heading(assessment: Assessment) -> str:
    """What was assessed, in one line."""
    scale = assessment.tally.scale
    parts = [f"{count(assessment.n)} rows", f"{len(scale)} classes"]
    parts += [] if scale.event is None else [f"event {named(scale.event)}"]
    parts += _cut(assessment)
    parts += [f"{assessment.evaluation.patterns.clusters} clusters"] if assessment.tally.groups else []
    parts += [f"{assessment.dropped:,} dropped (missing)"] if assessment.dropped else []
    parts.append(f"{assessment.settings.level:.0%} intervals")
    return ", ".join(parts)


def _cut(assessment: Assessment) -> list[str]:
    """Where classes were cut from what was measured, and how far that may be off."""
    scale, rows = assessment.tally.scale, assessment.tally.scores
    if not isinstance(scale, Continuum):
        return []
    inner = [f"{boundary:g}" for boundary in scale.boundaries if math.isfinite(boundary)]
    parts = [f"cut at {', '.join(inner[:MOST_CLASSES])}{' …' if len(inner) > MOST_CLASSES else ''}"]
    if rows is not None and rows.measured is not None and rows.measured.sd is not None:
        low, high = float(rows.measured.sd.min()), float(rows.measured.sd.max())
        parts.append(f"measured with sd {low:g}" + (f" to {high:g}" if high > low else ""))
    return parts


def overall_rows(assessment: Assessment, measures: Sequence[Measure] | None = None) -> list[tuple[str, Estimate]]:
    """The overall estimate of every measure, with its label."""
    rows = []
    for measure in assessment.settings.measures if measures is None else measures:
        estimate = assessment[measure]
        if measure.better == "neither" and estimate.average:
            continue  # the mean prevalence is 1/C, whatever the data
        suffix = ""
        if measure.per_class:
            suffix = " (macro)" if estimate.average else f" [{named(estimate.label)}]"
        rows.append((f"{ARROWS[measure.better]} {_titled(measure)}{suffix}", estimate))
    return rows


def _titled(measure: Any) -> str:
    extra = str(measure.label)[len(measure.name) :]
    return f"{measure.title}{extra}"


def overall_table(assessment: Assessment) -> RichTable:
    """The main table: every measure with interval, standard error and method."""
    others = [measure for measure in assessment.settings.measures if measure.statistic is not CONTINUUM]
    return _table_of(assessment, others or assessment.settings.measures, with_notes=True)


def continuum_table(assessment: Assessment) -> RichTable | None:
    """The measures that are made of measured values, with what they correct at their head."""
    wanted = assessment.settings.made_of(CONTINUUM)
    if not wanted or len(wanted) == len(assessment.settings.measures):
        return None
    counted = [measure for measure in assessment.settings.measures if measure.name == "error"]
    return _table_of(assessment, [*counted, *wanted], with_notes=False)


def _continuum_notes(assessment: Assessment) -> list[str]:
    """What there is to know about these, a line each: a column would be too narrow."""
    found = [(measure, assessment[measure].note) for measure in assessment.settings.made_of(CONTINUUM)]
    return [f"{_titled(measure)}: {note}" for measure, note in found if note]


def _table_of(assessment: Assessment, measures: Sequence[Measure], with_notes: bool) -> RichTable:
    training = assessment.training
    columns = ["measure", "value", f"{assessment.settings.level:.0%} interval", "se", "method"]
    columns += ["training", "gap"] if training else []
    columns += ["note"] if with_notes else []
    table = rich_table(columns, right=(1, 3, 5, 6) if training else (1, 3))
    for label, estimate in overall_rows(assessment, measures):
        row = [label, number(estimate.value), _interval(estimate), number(estimate.se), estimate.method]
        if training:
            part = estimate.label if estimate.average is None else estimate.average
            fitted = training[estimate.measure, part].value
            row += [number(fitted), number(assessment.gap(estimate.measure, part).value)]
        add_row(table, [*row, estimate.note] if with_notes else row)
    return table


def _interval(estimate: Estimate) -> str:
    return span(estimate.low, estimate.high) if not math.isnan(estimate.value) else "–"


def class_table(assessment: Assessment) -> RichTable | None:
    """The main measures of every class."""
    computed = {measure.name: measure for measure in assessment.settings.measures if not measure.changed}
    shown = [computed[name] for name in IN_SHORT if name in computed]
    if not shown:
        return None
    table = rich_table(["class", "rows", *[_titled(m) for m in shown]], right=range(1, 2 + len(shown)))
    sums = assessment.confusion().sum(axis=1)
    for code, label in enumerate(assessment.classes[:MOST_CLASSES]):
        cells = [f"{number(e.value)} {_interval(e)}" for e in (assessment[m, label] for m in shown)]
        add_row(table, [named(label), count(float(sums[code])), *cells])
    hidden = len(assessment.classes) - MOST_CLASSES
    if hidden > 0:
        add_row(table, [f"… {hidden} more in table()", "", *[""] * len(shown)])
    return table


def confusion_table(assessment: Assessment, truth_in_rows: bool = True) -> RichTable | None:
    """The counts; with predictions in rows, as many lectures print them, on request."""
    labels = [named(label) for label in assessment.classes]
    if len(labels) > MOST_CLASSES:
        return None
    counts = assessment.confusion()
    counts, sides = (counts, "true ↓  assigned →") if truth_in_rows else (counts.T, "assigned ↓  true →")
    table = rich_table([sides, *labels, "all"], right=range(1, len(labels) + 2))
    for label, row in zip(labels, counts, strict=True):
        add_row(table, [label, *[count(float(value)) for value in row], count(float(row.sum()))])
    add_row(table, ["all", *[count(float(v)) for v in counts.sum(axis=0)], count(float(counts.sum()))])
    return table


def slice_table(assessment: Assessment) -> RichTable | None:
    """The main measures of every part of the data."""
    if assessment.slice is not None or not assessment.tally.slices:
        return None
    computed = {measure.name: measure for measure in assessment.settings.measures}
    measures = [computed[name] for name in OF_SLICES if name in computed] or assessment.settings.measures[:4]
    table = rich_table(["slice", "rows", *[_titled(m) for m in measures]], right=range(1, 2 + len(measures)))
    for label, part in list(assessment.slices.items())[:MOST_CLASSES]:
        cells = [f"{number(e.value)} {_interval(e)}" for e in (part[m] for m in measures)]
        add_row(table, [named(label), count(part.n), *cells])
    hidden = len(assessment.tally.slices) - MOST_CLASSES
    if hidden > 0:
        add_row(table, [f"… {hidden} more in table()", "", *[""] * len(measures)])
    return table


def assessment_view(assessment: Assessment, truth_in_rows: bool = True) -> RenderableType:
    """Everything about one classifier that fits on a screen."""
    from rich.console import Group
    from rich.text import Text

    counted, measured = bool(assessment.settings.made_of(CONFUSION)), continuum_table(assessment)
    parts = [
        Text(f"{harmless(assessment.model)}: {heading(assessment)}"),
        None if assessment.decision is None else Text(harmless_lines(str(assessment.decision))),
        confusion_table(assessment, truth_in_rows) if counted else None,
        None if measured is None else Text("against the true values behind what was measured:"),
        measured,
        *([] if measured is None else [Text(harmless(note)) for note in _continuum_notes(assessment)]),
        None if measured is None else Text("\nagainst the classes of what was measured:"),
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
    table = rich_table(["measure", *[harmless(name) for name in comparison.models]])
    by_model = [overall_rows(comparison[name]) for name in comparison.models]
    for rows in zip(*by_model, strict=True):
        add_row(table, [rows[0][0], *[f"{number(e.value)} {_interval(e)}" for _, e in rows]])
    name = measure or comparison.settings.measures[0].label
    judged = first.find(name).better != "neither"
    many = len(comparison.models)
    title = Text(
        f"{many} classifiers on the same {heading(first)}" if many > 1 else f"1 classifier on {heading(first)}"
    )
    if len(comparison.models) == 1:
        return Group(title, table)
    chosen = [Text(f"{harmless(model)}: {harmless_lines(str(how))}") for model, how in comparison.decisions.items()]
    said = [f"{name}, {note}" for name in comparison.models for note in _continuum_notes(comparison[name])]
    return Group(
        title,
        *chosen,
        table,
        *[Text(harmless(line)) for line in said],
        Text(f"differences in {name} (a - b), p-values adjusted by Holm's method"),
        differences_table(comparison, name),
        *([Text(comparison.verdict(name).words(numbers=False))] if judged else []),
        *[Text(f"note: {harmless(note)}") for note in comparison.tally.words_on_left_out],
    )


def differences_table(comparison: Comparison, measure: str) -> RichTable:
    """Paired differences of one measure; McNemar's test beside them where it asks the same question."""
    level = f"{comparison.settings.level:.0%} interval"
    whole = bool((comparison.tally.sums.values[:, 0] % 1 == 0).all())  # rows held out several times count in part
    tested = measure in ("error", "accuracy") and not comparison.tally.groups and whole
    table = rich_table(
        ["a", "b", "difference", level, "p", "adjusted p", *(["McNemar p"] if tested else [])], right=(2, 4, 5, 6)
    )
    for row in comparison.differences(measure):
        p = [row["p"], row["p_adjusted"]]
        p += [comparison.mcnemar(row["a"], row["b"]).p] if tested else []
        shown = ["<0.001" if value < 0.001 else number(value) for value in p]
        add_row(table, [row["a"], row["b"], number(row["difference"]), span(row["low"], row["high"]), *shown])
    return table


def calibration_view(
    assessment: Assessment, parts: Mapping[str, Table], test: CalibrationTest, preview: Comparison
) -> list[RenderableType]:
    """Scores taken apart, the test of calibration, and what recalibration would bring."""
    from rich.text import Text

    views: list[RenderableType] = [Text(heading(assessment)), overall_table(assessment)]
    several = len(set(parts["brier"]["class"])) > 1
    made_of = ["value", "= miscalibration", "- discrimination", "+ uncertainty"]
    columns = ["score", "class", *made_of] if several else ["score", *made_of]
    table = rich_table(columns, right=range(1 + several, 6))
    for score, found in parts.items():
        rows = list(found)
        for start in range(0, len(rows), 4):
            cells = [f"{number(row['value'])} {span(row['low'], row['high'])}" for row in rows[start : start + 4]]
            add_row(table, [score, *([named(rows[start]["class"])] if several else []), *cells])
    unlikely = test.p < 1 - assessment.settings.level
    words = "chance alone does not explain this" if unlikely else "chance alone may explain this"
    verdict = f"calibration: {words}; p = {number(test.p)} ({test.method})"
    before, after = preview.models
    gains = rich_table(["score", "as it is", "recalibrated", "gain", "p"], right=(1, 2, 3, 4))
    for row in preview.differences():
        values = [number(preview[model][row["measure"]].value) for model in (before, after)]
        gain = f"{number(row['difference'])} {span(row['low'], row['high'])}"
        add_row(gains, [row["measure"], *values, gain, "<0.001" if row["p"] < 0.001 else number(row["p"])])
    return [*views, table, Text(verdict), gains]


def threshold_view(assessment: Assessment, found: Table, measures: Sequence[str], most: int) -> list[RenderableType]:
    """Some of the thresholds, spread over the rows that they call, with the measures there."""
    from rich.text import Text

    labels = [name for name in found.column_names if f"{name}_low" in found.column_names]
    table = rich_table(["threshold", "assigned", *labels], right=range(2 + len(labels)))
    called = [tp + fp for tp, fp in zip(found["tp"], found["fp"], strict=True)]
    for row in _spread_out(called, most):
        cells = [
            " ".join([_short(found[n][row]), _short(found[f"{n}_low"][row], found[f"{n}_high"][row])]) for n in labels
        ]
        add_row(table, [number(found["threshold"][row], 4), count(called[row]), *cells])
    hidden = len(called) - len(_spread_out(called, most))
    more = [Text(f"{hidden:,} more thresholds in between: --csv writes all")] if hidden else []
    event = named(assessment.tally.scale.event)
    return [Text(f"{heading(assessment)}; a row is assigned to {event} from the threshold on"), table, *more]


def _short(*values: float) -> str:
    """A value, or an interval, with two decimals where that is enough."""
    texts = [f"{value:.2f}" if abs(value) < 100 else number(value) for value in values]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _spread_out(called: Sequence[float], most: int) -> list[int]:
    """Rows of a table of thresholds, so that from one to the next about equally many more are called."""
    if len(called) <= most:
        return list(range(len(called)))
    places, steps = [], max(most - 1, 1)
    for step in range(steps + 1):
        places.append(bisect_left(called, called[-1] * step / steps))
    return sorted(set(places))


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

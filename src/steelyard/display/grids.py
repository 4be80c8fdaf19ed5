"""Results as grids of finished text: what terminals, notebooks and Markdown draw, each in its own way.

On screens of any width no number breaks: columns give way to numbers, and a list stands in for a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING

from ..core.errors import SteelyardError, harmless
from ..core.scale import Continuum
from ..core.text import count, estimated, in_percent, in_words, named, number, p_value, rich_table, with_interval
from ..results.verdicts import best_first
from ..states.statistics import CONTINUUM

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table as RichTable

    from ..core.estimate import Estimate
    from ..core.table import Table
    from ..measures.registry import Measure
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison

MOST_CLASSES = 12  # shown; table() has them all
MOST_NOTES = 8  # that are shown; notes has them all
MOST_REASONS = 6  # lines that tell why values are undefined
MOST_WITH_ALL = 4  # classifiers: of more, the main measures are shown
MOST_BELOW = 20  # classifiers below each other; table() has them all
MOST_BESIDE = 8  # classifiers side by side; more stand below each other
ARROWS = {"higher": "↑", "lower": "↓", "neither": " "}
OF_SLICES = ("error", "kappa", "sensitivity", "specificity")
# What a narrow screen can do without, the first of all first.
SPARE = ("note", "method", "se", "gap interval", "gap", "training")
IN_SHORT = ("sensitivity", "specificity", "precision", "f1")


@dataclass(frozen=True)
class TextGrid:
    """Rows of text below a head, drawn as far as a screen is wide. Nothing in it is harmless yet.

    Attributes:
        columns: The head.
        rows: The rows.
        right: Which columns hold numbers.
        spare: Which columns a narrow screen can do without, the first of all first.
        unbroken: Whether these go before an interval is broken in two.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    spare: Sequence[str] = ()
    unbroken: bool = False

    def without(self, name: str) -> TextGrid:
        """The same without a column."""
        gone = self.columns.index(name)
        kept = [place for place in range(len(self.columns)) if place != gone]
        rows = [[row[place] for place in kept] for row in self.rows]
        right = [kept.index(place) for place in self.right if place in kept]
        columns, spare = [self.columns[place] for place in kept], [one for one in self.spare if one != name]
        return TextGrid(columns, rows, right, spare, self.unbroken)

    def turned(self, corner: str) -> TextGrid:
        """Rows as columns, of which a narrow screen has the first."""
        (_, *columns), *rows = zip(self.columns, *self.rows, strict=True)
        return TextGrid([corner, *columns], rows, spare=columns[:0:-1], unbroken=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Draw all columns; those that fit; or, where not even these do, a list."""
        from rich.measure import Measurement

        boundless = options.update(width=BOUNDLESS)
        for grid, breaks in self._candidates():
            head = rich_table([harmless(name) for name in grid.columns], right=grid.right)
            cells = list(zip(grid.columns, *grid.rows, strict=True))
            most = [max(map(_length, column)) for column in cells]
            frame = Measurement.get(console, boundless, head).maximum - sum(map(_length, grid.columns))
            least = [max(_unbroken(cell, breaks) for cell in column) for column in cells]
            if sum(least) <= options.max_width - frame:
                yield _grid_table(head, grid.rows, _column_widths(least, most, options.max_width - frame))
                return
        yield _grid_list(self)

    def _candidates(self) -> Iterator[tuple[TextGrid, bool]]:
        """What may be drawn, and whether intervals break: empty columns go before they do, and others mostly after."""
        empty = [name for name in self.spare if not any(row[self.columns.index(name)] for row in self.rows)]
        slim = reduce(TextGrid.without, empty, self)
        yield self, False
        yield slim, False
        for grid in accumulate(slim.spare, TextGrid.without, initial=slim):
            yield grid, not self.unbroken


# --- one classifier -------------------------------------------------------------------------------------------


def heading(assessment: Assessment) -> str:
    """What was assessed, in one line."""
    scale = assessment.tally.scale
    parts = [assessment.hidden or in_words(assessment.n, "row"), f"{len(scale)} classes"]
    parts += [] if scale.event is None else [f"event {named(scale.event)}"]
    parts += _cut(assessment)
    parts += [in_words(assessment.evaluation.patterns.clusters, "cluster")] if assessment.tally.groups else []
    whole = "" if assessment.slice is None else " of all parts"  # nobody counted them part by part
    parts += [f"{assessment.dropped:,}{whole} dropped (missing)"] if assessment.dropped else []
    parts.append(f"{in_percent(assessment.settings.level)} intervals")
    return ", ".join(parts)


def _cut(assessment: Assessment) -> list[str]:
    """Where classes were cut from what was measured, and how far that may be off."""
    scale, rows = assessment.tally.scale, assessment.tally.some_rows
    if not isinstance(scale, Continuum):
        return []
    inner = [f"{boundary:g}" for boundary in scale.boundaries if math.isfinite(boundary)]
    parts = [f"cut at {', '.join(inner[:MOST_CLASSES])}{' …' if len(inner) > MOST_CLASSES else ''}"]
    if rows is not None and rows.measured is not None and rows.measured.sd is not None:
        low, high = float(rows.measured.sd.min()), float(rows.measured.sd.max())
        several = f" to {high:g}" if assessment.tally.scores is not None else " and others"  # of some rows only
        parts.append(f"measured with sd {low:g}" + (several if high > low else ""))
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
        rows.append((f"{ARROWS[measure.better]} {titled(measure)}{suffix}", estimate))
    return rows


def titled(measure: Measure) -> str:
    """The title of a measure, with the parameters that were given."""
    return f"{measure.title}{measure.label[len(measure.name) :]}"


def told(estimate: Estimate) -> list[str]:
    """Value and interval of an estimate, if there is any."""
    value, bounds = estimated(estimate.value, estimate.low, estimate.high)
    return [value, "–" if math.isnan(estimate.value) else bounds]


def both(estimate: Estimate) -> str:
    """Value and interval in one cell, or that there is none."""
    return in_one(estimate.value, estimate.low, estimate.high)


def in_one(value: float, low: float, high: float) -> str:
    """A value or a difference with its interval in one cell, or that there is none."""
    return "–" if math.isnan(value) else with_interval(value, low, high)


def measures_grid(assessment: Assessment, measures: Sequence[Measure] | None, with_notes: bool = True) -> TextGrid:
    """Every measure with interval, standard error and method; training beside, where there was any."""
    training = assessment.training
    columns = ["measure", "value", f"{in_percent(assessment.settings.level)} interval", "se", "method"]
    columns += ["training", "gap", "gap interval"] if training else []
    columns += ["note"] if with_notes else []
    rows = []
    for label, estimate in overall_rows(assessment, measures):
        row = [label, *told(estimate), number(estimate.se), estimate.method]
        if training:
            part = estimate.label if estimate.average is None else estimate.average
            row += [told(training[estimate.measure, part])[0], *told(assessment.gap(estimate.measure, part))]
        rows.append([*row, estimate.note] if with_notes else row)
    return TextGrid(columns, rows, (1, 3, 5, 6) if training else (1, 3), [name for name in SPARE if name in columns])


def continuum_notes(assessment: Assessment) -> list[str]:
    """What there is to know about measures of a continuum, a line each: a column would be too narrow."""
    found = [(measure, assessment[measure].note) for measure in assessment.settings.made_of(CONTINUUM)]
    return [f"{titled(measure)}: {note}" for measure, note in found if note]


def of_classes(assessment: Assessment, names: Sequence[str] = IN_SHORT) -> list[Measure]:
    """The main measures of single classes, and those asked for of which a mean over classes says nothing."""
    computed = {measure.name: measure for measure in assessment.settings.measures if not measure.changed}
    found = [computed[name] for name in names if name in computed]
    if assessment.settings.everything:
        return found
    return found + [one for one in computed.values() if one.per_class and one.better == "neither"]


def class_grid(assessment: Assessment) -> TextGrid | None:
    """The main measures of every class."""
    shown = of_classes(assessment)
    if not shown or assessment.hidden:
        return None
    sums = assessment.evaluation.margins.true
    rows = [
        [named(label), count(float(sums[code])), *[both(assessment[measure, label]) for measure in shown]]
        for code, label in enumerate(assessment.classes[:MOST_CLASSES])
    ]
    hidden = _more(len(assessment.classes), len(shown))
    return TextGrid(["class", size_title(assessment), *map(titled, shown)], [*rows, *hidden], range(1, 2 + len(shown)))


def size_title(assessment: Assessment) -> str:
    """What is summed up of a class: rows, or what they weigh."""
    return "weight" if assessment.evaluation.patterns.sampled else "rows"


def confusion_grid(assessment: Assessment, truth_in_rows: bool = True) -> TextGrid | None:
    """The counts; with predictions in rows, as many lectures print them, on request."""
    labels = [named(label) for label in assessment.classes]
    if len(labels) > MOST_CLASSES or assessment.hidden:
        return None
    counts = assessment.confusion()
    counts, sides = (counts, "true ↓  assigned →") if truth_in_rows else (counts.T, "assigned ↓  true →")
    whole = [[*row, row.sum()] for row in counts] + [[*counts.sum(axis=0), counts.sum()]]
    rows = [
        [label, *[count(float(value)) for value in row]] for label, row in zip([*labels, "all"], whole, strict=True)
    ]
    return TextGrid([sides, *labels, "all"], rows, range(1, len(labels) + 2))


def of_parts(assessment: Assessment, names: Sequence[str] = OF_SLICES) -> Sequence[Measure]:
    """What is shown of parts of the data: the main measures, or else as many of those asked for."""
    computed = {measure.name: measure for measure in assessment.settings.measures}
    found = [computed[name] for name in names if name in computed] if assessment.settings.everything else []
    return found or assessment.settings.measures[: len(names)]


def slice_grid(assessment: Assessment) -> TextGrid | None:
    """The main measures of every part of the data."""
    if assessment.slice is not None or not assessment.tally.slices:
        return None
    measures = of_parts(assessment)
    rows = [
        [named(label), part.size_words, *[both(part[measure]) for measure in measures]]
        for label, part in list(assessment.slices.items())[:MOST_CLASSES]
    ]
    hidden = _more(len(assessment.tally.slices), len(measures))
    return TextGrid(["slice", "rows", *map(titled, measures)], [*rows, *hidden], range(1, 2 + len(measures)))


def _more(many: int, empty: int) -> list[list[str]]:
    hidden = many - MOST_CLASSES
    return [[f"… and {hidden:,} more", "", *[""] * empty]] if hidden > 0 else []


# --- several classifiers --------------------------------------------------------------------------------------


def in_short(comparison: Comparison, measures: Sequence[Measure]) -> TextGrid:
    """Some measures of all classifiers: side by side, or many of them below each other."""
    grid = side_by_side(comparison, measures)
    return grid.turned("model") if len(comparison.models) > MOST_BESIDE else grid


def first_models(comparison: Comparison, most: int = MOST_BELOW) -> Sequence[str]:
    """The classifiers that are shown: of very many the best, by the first measure that has a better end."""
    if len(comparison.models) <= most:
        return comparison.models
    best = best_first(comparison.assessments)[1][:most]
    return [name for name in comparison.models if name in best]


def side_by_side(comparison: Comparison, measures: Sequence[Measure] | None = None) -> TextGrid:
    """Measures in rows, classifiers in columns."""
    models = first_models(comparison)
    by_model = [overall_rows(comparison[name], measures) for name in models]
    rows = [[rows[0][0], *[both(estimate) for _, estimate in rows]] for rows in zip(*by_model, strict=True)]
    hidden = len(comparison.models) - len(models)
    more = [f"… and {hidden:,} more"] if hidden else []
    return TextGrid(["measure", *models, *more], [[*row, *[""] * len(more)] for row in rows])


def some_notes(notes: Sequence[str]) -> list[str]:
    """The first of many notes, and how many more there are."""
    hidden = len(notes) - MOST_NOTES
    return [*notes[:MOST_NOTES], *([f"… and {hidden:,} more: notes has all"] if hidden > 0 else [])]


def why_undefined(comparison: Comparison, measures: Sequence[Measure] | None = None) -> list[str]:
    """Why values side by side are undefined: there is no room for it beside them."""
    found: dict[tuple[str, str], list[str]] = {}
    for model in first_models(comparison):
        for label, estimate in overall_rows(comparison[model], measures):
            if math.isnan(estimate.value) and estimate.note:
                found.setdefault((model, estimate.note), []).append(label.lstrip("↑↓ "))
    lines = [f"–: {model}, {', '.join(labels)}: {note}" for (model, note), labels in found.items()]
    hidden = [f"… and {len(lines) - MOST_REASONS:,} more, in table() and --csv"] if len(lines) > MOST_REASONS else []
    return [*lines[:MOST_REASONS], *hidden]


def differences_grid(comparison: Comparison, measure: str) -> TextGrid:
    """Paired differences of one measure; McNemar's test beside them where it asks the same question."""
    level = f"{in_percent(comparison.settings.level)} interval"
    rows, mass = comparison.tally.sums.values[:, :2].T
    # McNemar's test counts rows: those held out several times count in part, and sampling weights do not enter.
    counted = bool((rows % 1 == 0).all() and (rows == mass).all())
    tested = measure in ("error", "accuracy") and not comparison.tally.groups and counted
    tested = tested and not comparison[comparison.models[0]].hidden
    columns = ["a", "b", "difference", level, "p", "adjusted p", *(["McNemar p"] if tested else [])]
    lines, found, shown = [], list(comparison.differences(measure)), first_models(comparison)
    first = _first(comparison, measure) if len(comparison.models) > MOST_BESIDE else None
    for row in found:
        if first not in (None, row["a"], row["b"]):
            continue  # of so many pairs, nobody would see those that matter
        if not {row["a"], row["b"]} <= {first, *shown}:
            continue
        p = [row["p"], row["p_adjusted"]]
        p += [comparison.mcnemar(row["a"], row["b"]).p] if tested else []
        numbers = estimated(row["difference"], row["low"], row["high"])
        lines.append([row["a"], row["b"], *numbers, *map(p_value, p)])
    if hidden := len(found) - len(lines):
        lines.append([f"… and {hidden:,} more", *[""] * (len(columns) - 1)])
    return TextGrid(columns, lines, (2, 4, 5, 6))


def _first(comparison: Comparison, measure: str) -> str:
    """Who comes out first; the first that was given where nobody does."""
    with suppress(SteelyardError):
        return comparison.best(measure)
    return comparison.models[0]


def parts_grid(comparison: Comparison, measure: str) -> TextGrid | None:
    """One measure of all classifiers in every part of the data; of two classifiers also how they differ there."""
    if comparison.slice is not None or not comparison.tally.slices:
        return None
    models, rows = first_models(comparison, MOST_BESIDE), []
    two = len(models) == 2
    for label, part in list(comparison.slices.items())[:MOST_CLASSES]:
        row = [named(label), part[models[0]].size_words, *[both(part[model][measure]) for model in models]]
        if two:
            (found,) = part.differences(measure)
            row += [in_one(found["difference"], found["low"], found["high"]), p_value(found["p"])]
        rows.append(row)
    columns = ["slice", "rows", *models, *([f"{models[0]} - {models[1]}", "p"] if two else [])]
    return TextGrid(
        columns, [*rows, *_more(len(comparison.tally.slices), len(columns) - 2)], (1, len(columns) - 1) if two else (1,)
    )


def line_grid(line: Table) -> TextGrid:
    """In which ways forecasts are off, and how sure that is."""
    rows = [
        [
            named(row["class"]),
            row["part"],
            f"{row['ideal']:.0f}",
            with_interval(row["value"], row["low"], row["high"]),
            p_value(row["p"]),
            row["note"],
        ]
        for row in line
    ]
    found = TextGrid(["class", "calibration", "ideal", "value", "p", "note"], rows, (2, 3, 4))
    found = found if len(set(line["class"])) > 1 else found.without("class")
    return found if any(line["note"]) else found.without("note")


# --- on a screen --------------------------------------------------------------------------------------------------

BOUNDLESS = 1 << 20  # columns of a screen on which everything fits
FOLDED = 12  # of a long name, as much as is worth a line
INTERVAL = re.compile(r" (?=\[[^\]]* [^\]]*\])")  # the blank before it
WORDS = re.compile(r"\[[^\]]*\]|\S+")  # an interval is one


def _grid_table(table: RichTable, rows: Sequence[Sequence[str]], widths: Sequence[int]) -> RichTable:
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


def _column_widths(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Widths of columns for which there is room: the widest give way first, but none more than it can."""
    widths = list(most)
    while sum(widths) > room:
        place = max(range(len(widths)), key=lambda k: (widths[k] > least[k], widths[k], k))
        widths[place] -= 1
    return widths


def _grid_list(grid: TextGrid) -> RenderableType:
    """The rows one below the other, each with a line for every cell."""
    from rich.text import Text

    lines = []
    for first, *others in grid.rows:
        cells = zip(grid.columns[1:], others, strict=True)
        lines += ["", harmless(first), *[f"  {harmless(name)} {harmless(cell)}" for name, cell in cells if cell]]
    return Text("\n".join([*lines, ""]))

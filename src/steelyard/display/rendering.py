"""Results as text for a terminal. Everything that came from data is made harmless."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.errors import harmless
from ..core.text import WIDTH, count, down_to, named, number, p_value, with_interval
from ..results.verdicts import judged_first, spoken
from ..states.statistics import CONFUSION, CONTINUUM
from .digest import main_measures
from .fitting import Fitted
from .grids import (
    MOST_WITH_ALL,
    Grid,
    class_grid,
    confusion_grid,
    continuum_notes,
    differences_grid,
    heading,
    in_short,
    line_grid,
    measures_grid,
    parts_grid,
    slice_grid,
    some_notes,
    why_undefined,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from ..core.table import Table
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison
    from ..results.reliability import CalibrationTest


def harmless_lines(text: str) -> str:
    """Several lines, each made harmless."""
    return "\n".join(harmless(line) for line in text.split("\n"))


# --- assessments ----------------------------------------------------------------------------------------------


def drawn(grid: Grid) -> Fitted:
    """A grid for a terminal."""
    return Fitted(grid)


def overall_table(assessment: Assessment) -> Fitted | None:
    """The main table: every measure with interval, standard error and method; None where only classes have values."""
    others = [measure for measure in assessment.settings.measures if measure.statistic is not CONTINUUM]
    found = measures_grid(assessment, others or assessment.settings.measures)
    return drawn(found) if found.rows else None


def continuum_table(assessment: Assessment) -> Fitted | None:
    """The measures that are made of measured values, with what they correct at their head."""
    wanted = assessment.settings.made_of(CONTINUUM)
    if not wanted or len(wanted) == len(assessment.settings.measures):
        return None
    counted = [measure for measure in assessment.settings.measures if measure.name == "error"]
    return drawn(measures_grid(assessment, [*counted, *wanted], with_notes=False))


def assessment_view(assessment: Assessment, truth_in_rows: bool = True) -> RenderableType:
    """Everything about one classifier that fits on a screen."""
    from rich.console import Group
    from rich.text import Text

    counted, measured = bool(assessment.settings.made_of(CONFUSION)), continuum_table(assessment)
    grids = [
        confusion_grid(assessment, truth_in_rows) if counted else None,
        class_grid(assessment),
        slice_grid(assessment),
    ]
    counts, classes, slices = [None if grid is None else drawn(grid) for grid in grids]
    parts = [
        Text(f"{harmless(assessment.model)}: {heading(assessment)}"),
        None if assessment.decision is None else Text(harmless_lines(str(assessment.decision))),
        counts,
        None if measured is None else Text("by the values that were measured:"),
        measured,
        *([] if measured is None else [Text(harmless(note)) for note in continuum_notes(assessment)]),
        None if measured is None else Text("\nby the classes that are cut from them:"),
        overall_table(assessment),
        classes,
        slices,
        *[Text(f"note: {harmless(note)}") for note in some_notes(assessment.notes)],
    ]
    return Group(*[part for part in parts if part is not None])


@dataclass(frozen=True)
class Sentences:
    """Sentences, a line each: folded where a screen is narrow, but whole in text that is searched or copied."""

    words: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Draw the lines."""
        from rich.text import Text

        narrow = options.is_terminal or options.max_width < WIDTH
        yield Text(self.words) if narrow else Text(self.words, no_wrap=True, overflow="ignore")


# --- comparisons ----------------------------------------------------------------------------------------------


def comparison_view(comparison: Comparison, measure: str | None = None) -> RenderableType:
    """Several classifiers side by side, and which of them differ."""
    from rich.console import Group
    from rich.text import Text

    first = comparison[comparison.models[0]]
    many, everything = len(comparison.models), comparison.settings.measures
    shown = everything if many <= MOST_WITH_ALL else main_measures(comparison.settings)
    table = drawn(in_short(comparison, shown))
    more = [] if len(shown) == len(everything) else [Text(f"table() and --csv have all {len(everything)} measures")]
    name = measure or judged_first(comparison)
    said = spoken(comparison, measure)
    title = Text(
        f"{many} classifiers on the same {heading(first)}" if many > 1 else f"1 classifier on {heading(first)}"
    )
    notes = [Text(f"note: {harmless(note)}") for note in some_notes(comparison.notes)]
    parts = parts_grid(comparison, name)
    by_part: list[RenderableType] = (
        [] if parts is None else [Text(f"\n{harmless(name)} in every slice, each by itself"), drawn(parts)]
    )
    if len(comparison.models) == 1:
        return Group(title, table, *by_part, *notes)
    decided = [f"{model}: {how}" for model, how in comparison.decisions.items()]
    chosen = [Text(harmless_lines(words)) for words in some_notes(decided)]
    noted = [f"{name}, {note}" for name in comparison.models for note in continuum_notes(comparison[name])]
    return Group(
        title,
        *chosen,
        table,
        *more,
        *[Text(harmless(line)) for line in [*why_undefined(comparison, shown), *noted]],
        Text(f"differences in {name} (a - b), p-values adjusted by Holm's method"),
        drawn(differences_grid(comparison, name)),
        *([] if said is None else [Sentences(said.words())]),
        *by_part,
        *notes,
    )


def calibration_view(
    assessment: Assessment, parts: Mapping[str, Table], line: Table, test: CalibrationTest, preview: Comparison
) -> list[RenderableType]:
    """Scores taken apart, in which ways forecasts are off, the test, and what recalibration would bring."""
    from rich.text import Text

    scores = drawn(measures_grid(assessment, None))
    views: list[RenderableType] = [Text(heading(assessment)), scores]
    several = len(set(parts["brier"]["class"])) > 1
    made_of = ["value", "= miscalibration", "- discrimination", "+ uncertainty"]
    columns = ["score", "class", *made_of] if several else ["score", *made_of]
    taken = []
    for score, found in parts.items():
        rows = list(found)
        for start in range(0, len(rows), 4):
            cells = [with_interval(row["value"], row["low"], row["high"]) for row in rows[start : start + 4]]
            taken.append([score, *([named(rows[start]["class"])] if several else []), *cells])
    unlikely = test.p < 1 - assessment.settings.level
    words = "chance alone does not explain this" if unlikely else "chance alone may explain this"
    shown = p_value(test.p).replace("<", "< ")
    verdict = f"calibration: {words}; p {shown if shown.startswith('<') else f'= {shown}'} ({test.method})"
    before, after = preview.models
    gains = []
    for row in preview.differences():
        values = [number(preview[model][row["measure"]].value) for model in (before, after)]
        gain = with_interval(row["difference"], row["low"], row["high"])
        gains.append([row["measure"], *values, gain, p_value(row["p"])])
    gained = Grid(["score", "as it is", "recalibrated", "gain", "p"], gains, (1, 2, 3, 4))
    grids = [drawn(grid) for grid in (Grid(columns, taken, range(1 + several, 6)), line_grid(line))]
    return [*views, *grids, Text(verdict), drawn(gained)]


def threshold_view(assessment: Assessment, found: Table, measures: Sequence[str], most: int) -> list[RenderableType]:
    """Some of the thresholds, spread over the rows that they call, with the measures there."""
    from rich.text import Text

    labels = [name for name in found.column_names if f"{name}_low" in found.column_names]
    rows = []
    called = [tp + fp for tp, fp in zip(found["tp"], found["fp"], strict=True)]
    shown = _spread_out(called, most)
    scores = [*found["threshold"], -math.inf]  # from the highest on
    for row in shown:
        cells = [
            " ".join([_short(found[n][row]), _short(found[f"{n}_low"][row], found[f"{n}_high"][row])]) for n in labels
        ]
        rows.append([down_to(scores[row], scores[row + 1]), count(called[row]), *cells])
    table = drawn(Grid(["threshold", "assigned", *labels], rows, range(2 + len(labels))))
    hidden = len(called) - len(shown)
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
        # Sums of weights, multiplied and divided again, may come out beyond the last of them.
        places.append(bisect_left(called, min(called[-1] * step / steps, called[-1])))
    return sorted(set(places))

"""Results as text for a terminal. Everything that came from data is made harmless."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ..core.errors import harmless
from ..core.text import WIDTH, add_row, count, down_to, estimated, named, number, p_value, rich_table, with_interval
from ..results.verdicts import judged_first, spoken
from ..states.statistics import CONFUSION, CONTINUUM
from .digest import main_measures
from .grids import (
    MOST_WITH_ALL,
    TextGrid,
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
    from rich.table import Table as RichTable

    from ..core.table import Table
    from ..modelling.cross_assessment import CrossAssessment
    from ..modelling.tuning import Tuning
    from ..results.assessment import Assessment
    from ..results.comparison import Comparison
    from ..results.reliability import CalibrationTest


def harmless_lines(text: str) -> str:
    """Several lines, each made harmless."""
    return "\n".join(harmless(line) for line in text.split("\n"))


def noted(notes: Iterable[str]) -> list[Text]:
    """Notes, a line each."""
    return [Text(f"note: {harmless(note)}") for note in notes]


# --- assessments ----------------------------------------------------------------------------------------------


def assessment_view(assessment: Assessment, truth_in_rows: bool = True) -> RenderableType:
    """Everything about one classifier that fits on a screen."""
    settings = assessment.settings
    others = [measure for measure in settings.measures if measure.statistic is not CONTINUUM]
    overall = measures_grid(assessment, others or settings.measures)
    return _group(
        Text(f"{harmless(assessment.model)}: {heading(assessment)}"),
        None if assessment.decision is None else Text(harmless_lines(str(assessment.decision))),
        confusion_grid(assessment, truth_in_rows) if settings.made_of(CONFUSION) else None,
        *_by_value(assessment),
        overall if overall.rows else None,  # only classes may have values
        class_grid(assessment),
        slice_grid(assessment),
        *noted(some_notes(assessment.notes)),
    )


def _by_value(assessment: Assessment) -> list[RenderableType]:
    """The measures that are made of measured values, below the error that they correct, where others follow."""
    wanted = assessment.settings.made_of(CONTINUUM)
    if not wanted or len(wanted) == len(assessment.settings.measures):
        return []
    counted = [measure for measure in assessment.settings.measures if measure.name == "error"]
    table = measures_grid(assessment, [*counted, *wanted], with_notes=False)
    cautions = [Text(harmless(note)) for note in continuum_notes(assessment)]
    head, next_head = "by the values that were measured:", "\nby the classes that are cut from them:"
    return [Text(head), table, *cautions, Text(next_head)]


def _group(*parts: RenderableType | None) -> Group:
    """One part below the other, without those that there are not."""
    return Group(*[part for part in parts if part is not None])


@dataclass(frozen=True)
class Sentences:
    """Sentences, a line each: folded where a screen is narrow, but whole in text that is searched or copied."""

    words: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Draw the lines."""
        narrow = options.is_terminal or options.max_width < WIDTH
        yield Text(self.words) if narrow else Text(self.words, no_wrap=True, overflow="ignore")


# --- comparisons ----------------------------------------------------------------------------------------------


def comparison_view(comparison: Comparison, measure: str | None = None) -> RenderableType:
    """Several classifiers side by side, and which of them differ."""
    first = comparison[comparison.models[0]]
    many, everything = len(comparison.models), comparison.settings.measures
    shown = everything if many <= MOST_WITH_ALL else main_measures(comparison.settings)
    table = in_short(comparison, shown)
    more = None if len(shown) == len(everything) else Text(f"table() and --csv have all {len(everything)} measures")
    name = measure or judged_first(comparison)
    said = spoken(comparison, measure)
    title = Text(f"{f'{many} classifiers on the same' if many > 1 else '1 classifier on'} {heading(first)}")
    notes = noted(some_notes(comparison.notes))
    parts = parts_grid(comparison, name)
    by_part = [None if parts is None else Text(f"\n{harmless(name)} in every slice, each by itself"), parts]
    if len(comparison.models) == 1:
        return _group(title, table, *by_part, *notes)
    decided = [f"{model}: {how}" for model, how in comparison.decisions.items()]
    chosen = [Text(harmless_lines(words)) for words in some_notes(decided)]
    cautions = [f"{name}, {note}" for name in comparison.models for note in continuum_notes(comparison[name])]
    return _group(
        title,
        *chosen,
        table,
        more,
        *[Text(harmless(line)) for line in [*why_undefined(comparison, shown), *cautions]],
        Text(f"differences in {name} (a - b), p-values adjusted by Holm's method"),
        differences_grid(comparison, name),
        None if said is None else Sentences(said.words()),
        *by_part,
        *notes,
    )


def calibration_view(
    assessment: Assessment, parts: Mapping[str, Table], line: Table, test: CalibrationTest, preview: Comparison
) -> list[RenderableType]:
    """Scores taken apart, in which ways forecasts are off, the test, and what recalibration would bring."""
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
    gained = TextGrid(["score", "as it is", "recalibrated", "gain", "p"], gains, (1, 2, 3, 4))
    made = TextGrid(columns, taken, range(1 + several, 6))
    return [Text(heading(assessment)), measures_grid(assessment, None), made, line_grid(line), Text(verdict), gained]


def threshold_view(assessment: Assessment, found: Table, measures: Sequence[str], most: int) -> list[RenderableType]:
    """Some of the thresholds, spread over the rows that they call, with the measures there."""
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
    table = TextGrid(["threshold", "assigned", *labels], rows, range(2 + len(labels)))
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


# --- cross-validation and tuning ----------------------------------------------------------------------------------

MOST_FAILED = 3  # candidates are told by name
MOST_CANDIDATES = 20


def cross_view(cross: CrossAssessment, measure: str | None = None) -> RenderableType:
    """How rows were held out, the classifiers side by side, and what they made of rows that they had seen."""
    words, table = Text(f"cross-validated: {cross.plan.words}"), training_table(cross, measure)
    return Group(words, comparison_view(cross, measure), table, *noted(cross.remarks))


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
    from ..modelling.tuning import RESULTS

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
    told = noted(note for note in tuning.notes if note != tuning.tied)
    told += [Text(f"note: {len(failed):,} more could not be fitted: {harmless(first)}")] if failed else []
    return Group(Text(head), table, Text(f"{words}assess(X, y) tells what tuning is worth."), *told)


# --- partition spaces ---------------------------------------------------------------------------------------------

PARAMETERS = ("mean", "correct", "alpha", "beta", "certainty", "scaled_alpha", "scaled_beta")
MOST_REGIONS = 60


def partition_view(result: Assessment, regions: Table, rates: Table) -> list[RenderableType]:
    """The regions, how often the assignments to each class are right (CR), and the measures with their intervals."""
    cells = [
        [named(row["label"]), with_interval(row["value"], row["low"], row["high"])]
        for row in rates
        if row["value"] == row["value"]
    ]
    right = TextGrid(["assigned class", "correctness rate (CR)"], cells, (1,))
    return [Text(heading(result)), measures_grid(result, None), right, *regions_view(regions)]


def regions_view(regions: Table) -> Sequence[RenderableType]:
    """The highest classes of all regions, or of the first of very many; further columns are those of tables."""
    rows = []
    for row in list(regions)[:MOST_REGIONS]:
        values = [number(row[name], 4) for name in PARAMETERS]
        rows.append([named(row["region"]), count(row["n"]), *values, row["scaled_by"], row["note"]])
    headings = ["region", "n", *[name.replace("_", " ") for name in PARAMETERS], "scaled by", "note"]
    drawing = TextGrid(headings, rows, range(1, 2 + len(PARAMETERS)))
    left = len(regions) - MOST_REGIONS
    return [drawing, Text(f"… and {left:,} more regions: --regions has all")] if left > 0 else [drawing]

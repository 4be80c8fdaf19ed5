"""The command line of counts without rows: tallies of files, what they add up to, and published confusion tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from .. import __version__
from ..core.errors import LONG, BadOption, BadTable, harmless, quoted
from ..core.scale import listed
from ..core.text import in_words
from ..data.terminal import counting, show, working
from .options import (
    HELD,
    EngineName,
    EvaluationOptions,
    Forecasts,
    OutputOptions,
    RowOptions,
    ShownMeasure,
    Truth,
    event_in,
    labels_in,
    opened_file,
    parts_in,
    scale_in,
    with_passed,
)
from .output import tell_assessment, tell_comparison, tell_left_out, write
from .parsing import columns, label_or_word, measure_names, models, scores_in, thresholds, words

if TYPE_CHECKING:
    from ..core.scale import Label
    from ..data.paths import File
    from ..data.streams import Files
    from ..inference.settings import Settings
    from ..passes.plan import Plan
    from ..results.evaluate import Rule

MOST_NAMED = 5
BadFiles = Annotated[
    Literal["stop", "skip"], Parameter(help="Stop at a file that cannot be used, or leave it out and say so.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class TallyOptions(RowOptions):
    """What is counted."""

    assigned: Annotated[str | None, Parameter(help="Column of the class that the model assigned.")] = None
    membership: Forecasts = None
    score: Annotated[
        tuple[str, ...], Parameter(help="Column of scores on any scale; beside --model, NAME=COLUMN, once a model.")
    ] = ()
    model: Annotated[tuple[str, ...], Parameter(help="NAME=COLUMNS, once a model, where there are several.")] = ()
    threshold: Annotated[
        str | None,
        Parameter(help="Score from which on a row is assigned to the event (0.5); of several, model=0.5,other=0."),
    ] = None
    by: Annotated[str | None, Parameter(help="Column(s), with commas: sums for each part.")] = None
    measures: Annotated[
        str | None,
        Parameter(help="With commas: for which measures rows are summed; of scores, for all that are usual."),
    ] = None

    @property
    def settings(self) -> Settings | None:
        """What more than counts is asked for."""
        from ..inference.settings import settle

        found = settle(None if self.measures is None else measure_names(self.measures))
        return None if found.of_counts else found

    def rule(self, names: Iterable[str]) -> Rule:
        """How rows are assigned by their scores."""
        from ..inference.settings import settle
        from ..results.evaluate import Rule

        found = Rule.of(thresholds(self.threshold, names)[0], settle())
        if found.chooses:
            mend = "Say a number; thresholds --choose finds one"
            raise BadOption(f"--threshold {quoted(self.threshold)} is chosen by all rows", mend=mend)
        return found

    def models_in(self, files: Files, event: Label | None) -> dict[str, Any]:
        """The columns of each classifier."""
        from ..inputs.request import by_name
        from ..results.api import MODEL

        scored = None if self.model else self.score or None
        if [self.assigned, self.membership, scored, self.model or None].count(None) != 3:
            mend = "Give one of --assigned, --membership, --score and --model"
            raise BadOption("what is counted is not clear", mend=mend)
        if self.assigned is not None:
            return {MODEL: columns(self.assigned)}
        if self.membership is not None:
            return {MODEL: scores_in(files, self.membership, event, self.cut is not None)}
        if len(self.score) == 1 and not self.model:
            return {MODEL: columns(self.score[0])}
        return by_name([*models(self.model).items(), *models(self.score, "--score").items()])

    def scores(self, names: Iterable[str]) -> frozenset[str]:
        """Which classifiers gave scores on any scale."""
        alone = len(self.score) == 1 and not self.model
        return frozenset(names if alone else models(self.score, "--score"))


def tally(
    files: Annotated[tuple[str, ...], Parameter(help="Files, patterns or folders.")],
    *,
    truth: Truth,
    out: Annotated[Path, Parameter(help="Where to write the tally; with --each, the folder of tallies.")],
    each: Annotated[bool, Parameter(help="One tally for every file.")] = False,
    resume: Annotated[
        bool, Parameter(help="With --each: keep tallies made the same way of files that did not change.")
    ] = False,
    rows: Annotated[bool, Parameter(help="Write rows with scores and labels of clusters as they are.")] = False,
    bad_files: BadFiles = "stop",
    engine: EngineName = None,
    counted: TallyOptions = TallyOptions(),  # noqa: B008  (frozen)
    output: OutputOptions = OutputOptions(),  # noqa: B008  (frozen)
) -> int:
    """Count the rows of files, and save the counts to be weighed or merged later.

    steelyard tally 'monday/*.parquet' --truth grade --assigned model --scale low,mid,high --out monday.tally
    """
    from ..data.engines import started
    from ..display.views import noted
    from ..passes.plan import Plan
    from ..results.evaluate import persisting

    if resume and not each:
        raise BadOption("--resume is for --each", mend="Say --each, or leave it out")
    with started(engine) as found:
        with opened_file(list(files), counted, output) as named:
            request = _request(named, truth, counted)
            plan = replace(Plan.of(request, named, bad_files == "skip", found, counted.settings), saved=True)
            whole = None if each else persisting(plan, lambda plan: plan.tally(*plan.settled()))
        if whole is None:
            return _each(plan, named.files, out, resume, rows, files, output)
    whole.save(out, rows)
    many = len(plan.files.files)
    counts = f"{in_words(whole.rows, 'row')}, {len(whole.scale)} classes"
    if output.prints_tables:
        show(Text(f"{harmless(out)}: {counts}, {in_words(many, 'file')}"), *noted(whole.words_on_input))
    tell_left_out(output, whole.words_on_input)
    _write(output, [(str(out), whole.rows, many)], list(whole.scale.classes), whole.words_on_input)
    return HELD


def _request(files: Files, truth: str, counted: TallyOptions) -> Any:
    from ..inputs.dataset import Knowledge, refuse_kind_alone
    from ..inputs.request import Request
    from ..inputs.validate import Validator

    refuse_kind_alone(counted.weight, counted.weight_kind)
    labels = labels_in(files, truth, counted)
    event = event_in(labels, counted)
    columns = counted.models_in(files, event)
    rule, scores = counted.rule(columns), counted.scores(columns)
    door = Validator(
        scale_in(labels, counted),
        event,
        missing=counted.missing,
        weight=counted.weight,
        group=counted.group,
        by=parts_in(counted.by),
        knowledge=Knowledge(**counted.knowledge),
        weight_kind=counted.weight_kind,
        scores=scores,
        **rule.options(columns),
    )
    idle = [name for name in scores if door.threshold_of(name) is None]
    if counted.settings is None and idle:
        raise BadOption(
            "counts are of predicted classes, and no threshold is given for the scores",
            mend="Say --threshold 0.5, on the scale of the scores; or leave --measures out",
        )
    return Request(truth, columns, door, marks=counted.marks)


def _write(
    output: OutputOptions, made: Sequence[tuple[str, float, int]], classes: list[Label], left_out: list[str]
) -> None:
    """Write which tallies were made, of how many rows and files each."""
    from ..core.table import Table

    table = Table.of_rows(("tally", "rows", "files"), made)
    content = {"steelyard": __version__, "classes": classes, "tallies": table.to_json(), "left_out": left_out}
    write(output, table, lambda: content)


def _each(
    plan: Plan,
    found: Sequence[File],
    folder: Path,
    resume: bool,
    rows: bool,
    names: Sequence[str],
    output: OutputOptions,
) -> int:
    from ..core.errors import SteelyardError
    from ..inputs.remarks import on_passed
    from ..inputs.remarks import words as words_of
    from ..passes.merging import each_tally, set_aside, tally_name
    from ..results.evaluate import persisting

    def settled(plan: Plan) -> Any:
        return plan, *plan.settled()

    plan, scale, labels = persisting(plan, settled)
    made: list[tuple[str, float, int]] = []
    good: list[File] = []
    kept, faults = 0, [str(fault) for fault in plan.left_out.values()]
    passed = words_of(on_passed(plan.files.passed))
    with counting("counting", output.quiet) as shown:
        for place, (file, one) in enumerate(each_tally(plan, scale, labels, folder, resume, rows)):
            if isinstance(one, SteelyardError):
                faults.append(str(one))
                continue
            good.append(file)
            if one is None:
                kept += 1
            else:
                made.append((str(folder / tally_name(file)), one.rows, 1))
            shown(place + 1, len(plan.files.files), file.shown)
    used = {file.path for file in good}
    unused = [file for file in found if file.path not in used]
    others = [*_words_on_others(*set_aside(folder, good, names, unused)), *passed]
    if output.prints_tables:
        counted = sum(each[1] for each in made)
        tallies, left = in_words(len(made), "tally", "tallies"), in_words(len(faults), "file")
        told = f"{tallies} made of {in_words(counted, 'row')}, {kept:,} kept, {left} left out"
        notes = [*(f"left out: {fault}" for fault in faults), *(f"note: {other}" for other in others)]
        show(Text(f"{harmless(folder)}: {told}"), *[Text(harmless(note)) for note in notes])
    tell_left_out(output, [*(f"left out: {fault}" for fault in faults), *others])
    _write(output, made, list(scale.classes), [*faults, *passed])
    return HELD


def _words_on_others(gone: Sequence[tuple[Path, Path]], left: Sequence[Path]) -> list[str]:
    """What was done with tallies that the run did not make, and which there are."""
    moved = [
        f"{quoted(str(old), LONG)} is of a file that is gone or cannot be used, and is now {quoted(new.name, LONG)}"
        for old, new in gone
    ]
    if not left:
        return moved
    named = ", ".join(quoted(str(path), LONG) for path in left[:MOST_NAMED])
    more = len(left) - MOST_NAMED
    there = in_words(len(left), "tally of other files is", "tallies of other files are")
    return [*moved, f"{there} in the folder too: {named}{f' and {more:,} more' if more > 0 else ''}"]


def merge(
    tallies: Annotated[tuple[str, ...], Parameter(help="Tallies, patterns of them, or folders.")],
    *,
    out: Annotated[Path | None, Parameter(help="Write the sum of all to this file.")] = None,
    measure: ShownMeasure = None,
    allow_overlap: Annotated[
        bool, Parameter(help="Let rows count more than once where tallies share sources.")
    ] = False,
    bad_files: BadFiles = "stop",
    options: EvaluationOptions = EvaluationOptions(),  # noqa: B008  (frozen)
) -> int:
    """Add up tallies, and weigh the classifiers that they are of.

    steelyard merge monday.tally tuesday.tally --out both.tally
    """
    from ..data.paths import Listed
    from ..passes.merging import merged, tally_paths
    from ..results import api

    seen = Listed()
    paths = tally_paths(tallies, seen)
    with working("adding up", options.quiet):
        total = merged(paths, bad_files == "skip", seen, allow_overlap)
    conditions = options.conditions(list(total.models), bool(total.slices))
    if out is not None:
        total.save(out)
    result = api.compare_tally(
        total,
        **options.wanted(partial(label_or_word, total.scale.classes)),
        least=options.least,
    )
    if len(total.models) > 1:
        return tell_comparison(result, options, conditions, measure)
    return tell_assessment(result[total.models[0]], options, conditions)


# --- published confusion tables -------------------------------------------------------------------------------------


def table(
    file: Annotated[str, Parameter(help="CSV, Parquet or Arrow file: first column true class, one column a class.")],
    *,
    event: Annotated[str | None, Parameter(help="The class of interest.")] = None,
    scale: Annotated[str | None, Parameter(help="The classes in order, with commas: low,mid,high.")] = None,
    predictions_in_rows: Annotated[
        bool, Parameter(help="The first column is the assigned class, and the others are true ones.")
    ] = False,
    decimal: Annotated[str | None, Parameter(help="CSV: mark before decimals, . or ,.")] = None,
    thousands: Annotated[str | None, Parameter(help="CSV: mark between thousands, such as . or ,.")] = None,
    options: EvaluationOptions = EvaluationOptions(),  # noqa: B008  (frozen)
) -> int:
    """Weigh a classifier of which only the confusion table is known, as in a publication.

    steelyard table published.csv --event yes
    """
    from ..data.sources import load_named
    from ..data.spelling import NumberMarks
    from ..inputs.published import NamedTable, read_table
    from ..results import api

    conditions = options.conditions([api.MODEL])
    loaded = load_named(file, NumberMarks.of(decimal, thousands))
    counts = NamedTable(loaded.table)
    known, _ = read_table(counts, None, None, None)
    label = partial(label_or_word, known.classes)
    classes = None if scale is None else [label(word) for word in words(scale)]
    if classes is not None and set(classes).isdisjoint(known.classes):  # api.assess_table gives them other names
        raise BadTable(
            f"the table is about {listed(known.classes)}, not {listed(classes)}",
            mend="--scale puts its classes in order",
        )
    result = api.assess_table(
        counts,
        classes=classes,
        event=None if event is None else label(event),
        **options.wanted(label),
        truth_in_rows=not predictions_in_rows,
    )
    return tell_assessment(with_passed(result, loaded), options, conditions)

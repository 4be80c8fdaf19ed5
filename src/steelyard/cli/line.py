"""The command line: assess, compare, cv, tally, merge, thresholds, calibration, partition, study, measures and more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, CycloptsError, Parameter
from rich.text import Text

from .. import __version__
from ..core.errors import BAD_INPUT, UNFINISHED, BadOption, SteelyardError, quoted
from ..data.terminal import COMMAND, Screen, close, complain, open_closed, put_out, show, speak_unicode, working
from ..data.whole_files import FAILURES
from .cv import cv
from .demo import demo
from .messages import columns_in, mistake, told_as_typed
from .options import (
    HELD,
    NOT_HELD,
    AssessOptions,
    DataOptions,
    EngineName,
    File,
    Forecasts,
    OutputOptions,
    ShownMeasure,
    Truth,
    assess_scores,
    keywords_of,
    labels_in,
    opened_file,
)
from .output import head_of, tell_assessment, tell_choices, tell_comparison, told_choice, write
from .overwriting import protected
from .parsing import (
    columns,
    costs,
    either,
    measure_names,
    models,
    refuse_no_probabilities,
    scores_in,
    with_targets,
)
from .parsing import threshold as read_threshold
from .partition import partition
from .studies import study
from .tallies import merge, table, tally

if TYPE_CHECKING:
    from ..results.assessment import Assessment
    from ..results.decisions import Decision
    from .parsing import ReadLabel

INTERRUPTED = 130
# As libraries say it that cannot be loaded, and systems that start no more threads.
NO_MEMORY = ("failed to map segment", "annot allocate memory", "can't start new thread")

EXAMPLES = """steelyard weighs classifiers: how good each is, how sure that is, and which is better.

Try it on the data that comes with it:

    steelyard demo

A file with the true class and the class that a model assigned:

    steelyard assess predictions.csv --truth grade --assigned model

Probabilities, one column a class (the star stands for the class):

    steelyard assess predictions.parquet --truth grade --membership 'p_*'

Several models on the same rows:

    steelyard compare predictions.csv --truth grade \\
        --model lda='lda_*' --model qda='qda_*'

Where to set the threshold of a score, and what that achieves:

    steelyard thresholds predictions.csv --truth ill --score score \\
        --event yes --choose 'max specificity where sensitivity >= 0.8'

Classes cut from a value that was measured with error:

    steelyard assess meat.csv --truth water --cut 65 --sd 0.22 --assigned class

Whether probabilities mean what they say:

    steelyard calibration predictions.csv --truth grade --membership 'p_*'

Memberships scaled to say how right a classifier is, region by region:

    steelyard partition predictions.csv --truth grade --membership 'p_*' \\
        --scaled scaled.csv --regions regions.csv

Classifiers that are yet to be fitted, each row by fits that have not seen it:

    steelyard cv data.csv --target grade --models lda,qda,knn:5,tree --folds 10

A published confusion table: first column true class, one column a class:

    steelyard table published.csv --event yes

Many files: count each day by itself, and weigh all days together later:

    steelyard tally 'monday/*.parquet' --truth grade --assigned model \\
        --scale low,mid,high --out monday.tally
    steelyard merge '*.tally'

A gate: exit status 0 if it holds, 1 if not, 2 for bad input, 3 if not finished:

    steelyard assess predictions.csv --truth ill --assigned model \\
        --event yes --require 'sensitivity.low >= 0.8'
"""

app = App(
    name="steelyard",
    help=EXAMPLES,
    version=__version__,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(negative_bool=(), negative_iterable=()),  # no "--no-quiet", no "--empty-files"
)
for command in (study, demo, cv, tally, merge, table, partition):
    app.command(command)


@app.command
def assess(
    file: File,
    *,
    truth: Truth,
    assigned: Annotated[
        str | None, Parameter(help="Column of the class that the model assigned; with --cut, or of the value expected.")
    ] = None,
    membership: Annotated[
        str | None,
        Parameter(help="Columns of probabilities: 'p_*', or names with commas; one column: that of the event."),
    ] = None,
    score: Annotated[
        str | None,
        Parameter(help="Column of scores on any scale, higher for the event: for ranking, and for --threshold."),
    ] = None,
    training: Annotated[str | None, Parameter(help="File of the training data: its values stand beside.")] = None,
    engine: EngineName = None,
    predictions_in_rows: Annotated[bool, Parameter(help="Print the confusion table the other way round.")] = False,
    options: AssessOptions = AssessOptions(),  # noqa: B008  (frozen)
) -> int:
    """Weigh one classifier by every measure, each with its interval.

    steelyard assess iris.csv --truth species --membership 'lda_*'
    """
    from ..results import api

    conditions = options.conditions([api.MODEL], options.by is not None)
    with opened_file(file, options, options) as files:
        said = keywords_of(files, truth, options)
        result = api.assess(
            files,
            truth=truth,
            assigned=assigned,
            membership=scores_in(files, membership, said["event"], options.cut is not None),
            score=columns(score),
            training=training,
            on_error=options.bad_files,
            engine=engine,
            **said,
        )
    return tell_assessment(result, options, conditions, truth_in_rows=not predictions_in_rows)


@app.command
def compare(
    file: File,
    *,
    truth: Truth,
    model: Annotated[
        tuple[str, ...],
        Parameter(
            help="NAME=COLUMNS, once a model: lda='lda_*', tree=tree_class, or columns with commas. "
            "A column alone is a model of its name.",
        ),
    ] = (),
    score: Annotated[
        tuple[str, ...], Parameter(help="NAME=COLUMN, once a model: one of scores on any scale, higher for the event.")
    ] = (),
    measure: ShownMeasure = None,
    engine: EngineName = None,
    options: AssessOptions = AssessOptions(),  # noqa: B008  (frozen)
) -> int:
    """Weigh several classifiers on the same rows, and tell which of them differ.

    steelyard compare iris.csv --truth species --model lda='lda_*' --model qda='qda_*'
    """
    from ..results import api

    if not model and not score:
        mend = "; ".join(["Of scores on any scale, say --score NAME=COLUMN", *columns_in([file])])
        raise BadOption("compare needs --model: NAME=COLUMNS, once a model", mend=mend)
    chosen, scored = models(model), models(score, "--score")
    names = [*chosen, *scored]
    conditions = options.conditions(names, options.by is not None)
    with opened_file(file, options, options) as files:
        said = keywords_of(files, truth, options, names) | {"on_error": options.bad_files, "engine": engine}
        result = api.compare(files, chosen, score=scored or None, truth=truth, **said)
    return tell_comparison(result, options, conditions, measure)


@app.command
def thresholds(
    file: File,
    *,
    truth: Truth,
    membership: Forecasts = None,
    score: Annotated[
        str | None, Parameter(help="Instead: column of scores on any scale, higher for the event.")
    ] = None,
    choose: Annotated[
        tuple[str, ...], Parameter(help="What for: best:f1, cost:costs.csv, 'max A where B >= b'; can be repeated.")
    ] = (),
    guarantee: Annotated[
        float | None, Parameter(help="Probability with which conditions shall hold for all rows to come, as 0.95.")
    ] = None,
    prevalence: Annotated[
        float | None, Parameter(help="Share of the event where the threshold will be used, if other than here.")
    ] = None,
    measures: Annotated[str | None, Parameter(help="Columns of the table, with commas.")] = None,
    rows: Annotated[int, Parameter(help="How many thresholds to print; --csv writes all of them.")] = 20,
    reading: DataOptions = DataOptions(),  # noqa: B008  (frozen)
) -> int:
    """Show what every threshold of a score does, and choose one.

    steelyard thresholds ill.csv --truth ill --score score --event yes --choose best:f1
    """
    from ..display.views import threshold_view
    from ..results.assessment import SHOWN

    if rows < 1:
        raise BadOption(f"--rows is {rows}", mend="Give 1 or more")
    named = either(membership, score, columns_in([file]))
    loaded, result = assess_scores(file, truth, named, reading, ["auc"], raw=score is not None)
    wanted = SHOWN if measures is None else measure_names(measures)
    found = result.thresholds(wanted, prevalence=prevalence)
    labels = labels_in(loaded.table, truth, reading)
    chosen = [_choose(result, text, labels, prevalence, guarantee) for text in choose]
    if guarantee is not None and not any(one.goal.limits for one in chosen):
        mend = "Say of which: --choose 'max specificity where sensitivity >= 0.8'"
        raise BadOption("--guarantee is of conditions on a choice, and there are none", mend=mend)
    if reading.prints_tables:
        show(*threshold_view(result, found, wanted, rows))
    tell_choices(reading, chosen)
    write(
        reading,
        found,
        lambda: {
            **head_of(result),
            "thresholds": found.to_json(),
            "chosen": [told_choice(one) for one in chosen],
            "notes": result.tally.words_on_input,
        },
    )
    return HELD if all(one.found for one in chosen) else NOT_HELD


def _choose(
    result: Assessment, text: str, labels: ReadLabel, prevalence: float | None, guarantee: float | None
) -> Decision:
    """Choose a threshold as a user asks for it in words."""
    from ..measures import find
    from ..results.decisions import Goal, choose_threshold, written_goal

    rule, file = read_threshold(text)
    if not isinstance(rule, str) or (file is None and written_goal(rule) is None):
        mend = "Say best:f1, cost:costs.csv or 'max specificity where sensitivity >= 0.8'"
        raise BadOption(f"--choose {quoted(text)} is no goal", mend=mend)
    goal = Goal.read(rule) if file is None else Goal.of(find("cost", costs=costs(file, labels)))
    sure = guarantee if goal.limits else None
    return choose_threshold(result, Goal.of(goal.measure, goal.limits, prevalence, sure))


@app.command
def calibration(
    file: File,
    *,
    truth: Truth,
    membership: Forecasts = None,
    score: Annotated[str | None, Parameter(show=False)] = None,
    method: Annotated[
        Literal["corp", "murphy"], Parameter(help="Take scores apart by isotonic regression, or by bins.")
    ] = "corp",
    recalibrate: Annotated[
        Literal["logistic", "isotonic"], Parameter(help="How the preview recalibrates, by rows held out.")
    ] = "logistic",
    reading: DataOptions = DataOptions(),  # noqa: B008  (frozen)
) -> int:
    """Hold probabilities against what came true: scores taken apart, how far off, what recalibration would bring.

    steelyard calibration iris.csv --truth species --membership 'lda_*'
    """
    from ..display.views import calibration_view

    shown = ["brier", "log_score", "calibration_error"]
    refuse_no_probabilities(score)
    if membership is None:
        mend = "; ".join(["Say --membership COLUMNS", *columns_in([file])])
        raise BadOption("calibration needs --membership: columns of probabilities", mend=mend)
    _, result = assess_scores(file, truth, membership, reading, shown)
    with working("drawing outcomes", reading.quiet):
        parts = {score: result.decomposition(score, method=method) for score in ("brier", "log_score")}
        line, test, preview = result.calibration_line(), result.calibration_test(), result.recalibration(recalibrate)
    if reading.prints_tables:
        show(*calibration_view(result, parts, line, test, preview))
    if reading.csv is not None or reading.json is not None:
        curve = result.reliability()
        write(
            reading,
            curve,
            lambda: {
                **head_of(result),
                "estimates": result.table().to_json(),
                "decompositions": {score: found.to_json() for score, found in parts.items()},
                "line": line.to_json(),
                "test": {"statistic": test.statistic, "p": test.p, "method": test.method},
                "recalibration": preview.differences().to_json(),
                "reliability": curve.to_json(),
                "notes": result.tally.words_on_input,
            },
        )
    return HELD


@app.command
def measures(
    name: Annotated[str | None, Parameter(help="One measure, to have it explained.")] = None,
    *,
    output: OutputOptions = OutputOptions(),  # noqa: B008  (frozen)
) -> int:
    """List all measures, or explain one.

    steelyard measures kappa
    """
    from ..core.table import Table, table_view
    from ..display.listing import explain, listing
    from ..measures import find

    if name is not None:
        facts = explain(find(name))
        if output.prints_tables:
            show(*[Text(f"{key:>12}  {value}") for key, value in facts.items() if value not in (None, "")])
        write(output, Table({key: [value] for key, value in facts.items()}), lambda: facts, labelled=False)
        return HELD
    rows = listing()
    if output.prints_tables:
        show(table_view(rows))
    write(output, rows, rows.to_json, labelled=False)
    return HELD


@app.command
def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish", "powershell"], Parameter(help="The shell that is to complete words.")
    ],
) -> int:
    """Print a script that lets a shell complete commands and options.

    steelyard completion bash > ~/.local/share/bash-completion/completions/steelyard
    """
    put_out(app.generate_completion(shell=shell).rstrip() + "\n")
    return HELD


def run(words: Sequence[str], interrupted: Callable[[], bool] = lambda: False) -> int:
    """Run a command and return its exit status; errors of users come without a traceback.

    What an interrupted command fails with, as a KeyboardInterrupt may arrive as another error, is not shown.
    """
    open_closed()
    speak_unicode()
    words = tuple(words)
    running = COMMAND.set(words)
    try:
        given = with_targets(words)
        wanted, bound, _ = app.parse_args(given, console=Screen(), exit_on_error=False, print_error=False)
        with protected(bound):
            result = wanted(*bound.args, **bound.kwargs)
        put_out()
        return int(result or 0)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return INTERRUPTED if interrupted() else told(error, words)
    finally:
        COMMAND.reset(running)


def told(error: Exception, words: Sequence[str]) -> int:
    """Say what is wrong in one line, and return the exit status; what is no error of a user is raised."""
    if isinstance(error, SteelyardError):
        said = told_as_typed(error, "".join(words[:1]))
        complain("NOT HELD" if error.exit_code == NOT_HELD else "error", said)
        return error.exit_code
    starved = isinstance(error, ImportError | RuntimeError) and any(sign in str(error) for sign in NO_MEMORY)
    if starved or isinstance(error, MemoryError):
        complain("error", "there is not enough memory. Ask for fewer measures, or filter rows with --where")
        return UNFINISHED
    if isinstance(error, OSError):  # a full disk, a folder that cannot be read
        close(sys.stdout)
        complain("error", error)
        return UNFINISHED if error.errno in FAILURES else BAD_INPUT
    if isinstance(error, CycloptsError):
        complain("error", mistake(error, words))
        return BAD_INPUT
    raise error

"""The command line: assess, compare, thresholds, calibration, study, measures, demo."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.text import Text

from . import __version__
from .errors import BadOption, NoThreshold, SteelyardError, quoted
from .rendering import harmless_lines, threshold_view
from .study_commands import study
from .terminal import console, show, working, write_to
from .words import (
    columns,
    costs,
    label_reader,
    measure_names,
    models,
    number_or_column,
    numbers,
    whole_or_text,
    with_targets,
    words,
)
from .words import threshold as read_threshold

if TYPE_CHECKING:
    from .assessment import Assessment
    from .decisions import Decision
    from .requirements import Requirement
    from .scale import Scale
    from .table import Table
    from .words import ReadLabel

HELD, NOT_HELD, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

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

    steelyard thresholds predictions.csv --truth ill --membership score \\
        --event yes --choose 'max specificity where sensitivity >= 0.8'

Classes cut from a value that was measured with error:

    steelyard assess meat.csv --truth water --cut 65 --sd 0.22 --assigned class

Whether probabilities mean what they say:

    steelyard calibration predictions.csv --truth grade --membership 'p_*'

A gate: exit status 0 if it holds, 1 if not, 2 for bad input:

    steelyard assess predictions.csv --truth ill --assigned model \\
        --event yes --require 'sensitivity.low >= 0.8'
"""

app = App(name="steelyard", help=EXAMPLES, version=__version__, help_format="plaintext")
app.command(study)


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """What all commands on data understand."""

    scale: Annotated[str | None, Parameter(help="The classes in order, with commas: low,mid,high.")] = None
    event: Annotated[str | None, Parameter(help="The class of interest.")] = None
    weight: Annotated[str | None, Parameter(help="Column of weights.")] = None
    group: Annotated[str | None, Parameter(help="Column of clusters: patients, batches.")] = None
    level: Annotated[float, Parameter(help="Coverage of the intervals.")] = 0.95
    missing: Annotated[Literal["error", "drop"], Parameter(help="What to do with rows that miss a value.")] = "error"
    cut: Annotated[
        str | None, Parameter(help="Where classes are cut from a truth that was measured, with commas: 0,0.6.")
    ] = None
    closed: Annotated[
        Literal["left", "right"], Parameter(help="Which class a value on a cut belongs to: left, the one above it.")
    ] = "left"
    sd: Annotated[str | None, Parameter(help="Standard deviation of the measurement error: number or column.")] = None
    sd_response: Annotated[
        str | None, Parameter(help="That of the response around what covariates tell: number or column.")
    ] = None
    response: Annotated[
        str | None, Parameter(help="Columns of a response model's expectation and its sd, out of fold: f,f_sd.")
    ] = None
    json: Annotated[str | None, Parameter(help="Write JSON to this file; to standard output without one.")] = None
    csv: Annotated[str | None, Parameter(help="Write CSV to this file; to standard output without one.")] = None

    @property
    def prints_tables(self) -> bool:
        """Whether standard output is free for people."""
        return "-" not in (self.json, self.csv)


@Parameter(name="*")
@dataclass(frozen=True)
class Options(Reading):
    """What commands understand that weigh classifiers by all measures."""

    threshold: Annotated[
        str | None,
        Parameter(
            help="Score from which on a row is assigned to the event (0.5); or how to choose it: best:f1, "
            "cost:costs.csv, 'max specificity where sensitivity >= 0.8'."
        ),
    ] = None
    by: Annotated[str | None, Parameter(help="Column(s), with commas: results for each part too.")] = None
    cost: Annotated[
        Path | None, Parameter(help="CSV of costs: first column true class, one column an assigned class.")
    ] = None
    measures: Annotated[str | None, Parameter(help="Which measures, with commas; all if not given.")] = None
    method: Annotated[
        Literal["delta", "plain", "bootstrap", "percentile", "bca"], Parameter(help="How intervals are made.")
    ] = "delta"
    require: Annotated[
        tuple[str, ...],
        Parameter(help="A condition, as 'sensitivity[yes].low >= 0.8'; sets the exit status.", negative=""),
    ] = ()


def _columns_of(table: Any, truth: str, reading: Reading) -> dict[str, Any]:
    """Turn words into labels of the kind that the column of truth holds."""
    labels = _labels(table, truth, reading)
    return {
        "scale": _scale(labels, reading),
        "event": None if reading.event is None else labels(reading.event),
        "sd": number_or_column(reading.sd),
        "sd_response": number_or_column(reading.sd_response),
        "response": columns(reading.response),
        "weight": reading.weight,
        "group": reading.group,
        "level": reading.level,
        "missing": reading.missing,
    }


def _scale(labels: ReadLabel, reading: Reading) -> Scale | None:
    from .scale import Continuum, Scale

    named = None if reading.scale is None else [labels(word) for word in words(reading.scale)]
    if reading.cut is not None:
        return Continuum(numbers(reading.cut), named, closed=reading.closed)
    return None if named is None else Scale(named)


def _labels(table: Any, truth: str, reading: Reading) -> ReadLabel:
    """How labels are to be read; the truth does not say it where it was measured."""
    return whole_or_text if reading.cut is not None else label_reader(table, truth)


def _keywords(table: Any, truth: str, options: Options) -> dict[str, Any]:
    """The same with all that is said of measures and thresholds."""
    threshold, priced = read_threshold(options.threshold)
    cost = options.cost or priced
    by = None if options.by is None else words(options.by)
    return _columns_of(table, truth, options) | {
        "threshold": threshold,
        "by": by[0] if by is not None and len(by) == 1 else by,
        "cost": None if cost is None else costs(cost, _labels(table, truth, options)),
        "measures": None if options.measures is None else measure_names(options.measures),
        "method": options.method,
    }


def _read(file: str) -> Any:
    from .sources import read

    with working(f"reading {file}"):
        return read(file)


@app.command
def assess(
    file: Annotated[str, Parameter(help="CSV, Parquet or Arrow file, or a pattern like 'part-*.parquet'.")],
    *,
    truth: Annotated[str, Parameter(help="Column of the true class.")],
    assigned: Annotated[str | None, Parameter(help="Column of the class that the model assigned.")] = None,
    membership: Annotated[
        str | None,
        Parameter(help="Columns of probabilities: 'p_*', or names with commas; one column: score of the event."),
    ] = None,
    training: Annotated[str | None, Parameter(help="File of the training data: its values stand beside.")] = None,
    predictions_in_rows: Annotated[
        bool, Parameter(help="Print the confusion table the other way round.", negative="")
    ] = False,
    options: Options = Options(),  # noqa: B008  (frozen)
) -> int:
    """Weigh one classifier by every measure, each with its interval.

    steelyard assess iris.csv --truth species --membership 'lda_*'
    """
    from . import api
    from .rendering import assessment_view
    from .requirements import read_requirement

    conditions = [read_requirement(text, [api.MODEL]) for text in options.require]
    table = _read(file)
    result = api.assess(
        table,
        truth=truth,
        assigned=assigned,
        membership=columns(membership),
        training=None if training is None else _read(training),
        **_keywords(table, truth, options),
    )
    with working("weighing"):
        result.table()
    if options.prints_tables:
        show(assessment_view(result, truth_in_rows=not predictions_in_rows))
    _write(options, result.table(), lambda: _assessment_json(result))
    return _judge(options, conditions, {result.model: result})


@app.command
def compare(
    file: Annotated[str, Parameter(help="CSV, Parquet or Arrow file, or a pattern like 'part-*.parquet'.")],
    *,
    truth: Annotated[str, Parameter(help="Column of the true class.")],
    model: Annotated[
        tuple[str, ...],
        Parameter(
            help="NAME=COLUMNS, once a model: lda='lda_*', tree=tree_class, or columns with commas.", negative=""
        ),
    ],
    measure: Annotated[str | None, Parameter(help="The measure whose differences are shown.")] = None,
    options: Options = Options(),  # noqa: B008  (frozen)
) -> int:
    """Weigh several classifiers on the same rows, and tell which of them differ.

    steelyard compare iris.csv --truth species --model lda='lda_*' --model qda='qda_*'
    """
    from . import api
    from .rendering import comparison_view
    from .requirements import read_requirement

    chosen = models(model)
    conditions = [read_requirement(text, list(chosen)) for text in options.require]
    table = _read(file)
    result = api.compare(table, chosen, truth=truth, **_keywords(table, truth, options))
    with working("weighing"):
        result.table()
    shown = None if measure is None else result[result.models[0]].find(measure).label
    if options.prints_tables:
        show(comparison_view(result, shown))
    several = len(result.models) > 1
    _write(
        options,
        result.table(),
        lambda: {
            **_head(result[result.models[0]]),
            "estimates": result.table().to_json(),
            "differences": result.differences().to_json() if several else [],
        },
    )
    return _judge(options, conditions, {name: result[name] for name in result.models})


def _head(result: Assessment) -> dict[str, Any]:
    scale = result.tally.scale
    return {
        "steelyard": __version__,
        "rows": result.n,
        "dropped": result.dropped,
        "classes": list(scale.classes),
        "event": scale.event,
        "level": result.settings.level,
    }


def _assessment_json(result: Assessment) -> dict[str, Any]:
    return {
        **_head(result),
        "confusion": result.confusion().tolist(),
        "estimates": result.table().to_json(),
        "training": None if result.training is None else result.training.table().to_json(),
    }


def _write(options: Reading, table: Table, content: Callable[[], dict[str, Any]]) -> None:
    """Write what was asked for, where it was asked for."""
    from .table import dump

    if options.json is not None:
        write_to(options.json, dump(content()) + "\n")
    if options.csv is not None:
        write_to(options.csv, table.to_csv())


def _judge(options: Options, conditions: Sequence[Requirement], assessments: dict[str, Assessment]) -> int:
    """Hold the requirements against the results, and say how each of them fared."""
    from .errors import harmless
    from .text import number

    verdicts = [condition.judge(assessments) for condition in conditions]
    screen = console() if options.prints_tables else Console(stderr=True, highlight=False)
    for verdict in verdicts:
        word, style = ("held", "green") if verdict.held else ("NOT HELD", "bold red")
        line = Text(f"{word}: ", style=style) + Text(f"{harmless(verdict.text)}  (it is {number(verdict.value, 4)})")
        screen.print(line)
    return HELD if all(verdict.held for verdict in verdicts) else NOT_HELD


@app.command
def thresholds(
    file: Annotated[str, Parameter(help="CSV, Parquet or Arrow file, or a pattern like 'part-*.parquet'.")],
    *,
    truth: Annotated[str, Parameter(help="Column of the true class.")],
    membership: Annotated[str, Parameter(help="Column of the event's score, or columns of probabilities: 'p_*'.")],
    choose: Annotated[
        tuple[str, ...],
        Parameter(help="What for: best:f1, cost:costs.csv, 'max A where B >= b'; can be repeated.", negative=""),
    ] = (),
    guarantee: Annotated[
        float | None, Parameter(help="Probability with which conditions shall hold for all rows to come, as 0.95.")
    ] = None,
    prevalence: Annotated[
        float | None, Parameter(help="Share of the event where the threshold will be used, if other than here.")
    ] = None,
    measures: Annotated[str | None, Parameter(help="Columns of the table, with commas.")] = None,
    rows: Annotated[int, Parameter(help="How many thresholds to print; --csv writes all of them.")] = 20,
    reading: Reading = Reading(),  # noqa: B008  (frozen)
) -> int:
    """Show what every threshold of a score does, and choose one.

    steelyard thresholds ill.csv --truth ill --membership score --event yes --choose best:f1
    """
    from . import api
    from .assessment import SHOWN

    table = _read(file)
    keywords = _columns_of(table, truth, reading) | {"measures": ["auc"]}
    result = api.assess(table, truth=truth, membership=columns(membership), **keywords)
    wanted = SHOWN if measures is None else measure_names(measures)
    found = result.thresholds(wanted, prevalence=prevalence)
    labels = _labels(table, truth, reading)
    chosen = [_choose(result, text, labels, prevalence, guarantee) for text in choose]
    if reading.prints_tables:
        show(*threshold_view(result, found, wanted, rows), *[Text(harmless_lines(str(one))) for one in chosen])
    _write(
        reading,
        found,
        lambda: {
            **_head(result),
            "thresholds": found.to_json(),
            "chosen": [{"goal": str(one.goal), "threshold": one.threshold, "note": one.note} for one in chosen],
        },
    )
    return HELD if all(one.found for one in chosen) else NOT_HELD


def _choose(
    result: Assessment, text: str, labels: ReadLabel, prevalence: float | None, guarantee: float | None
) -> Decision:
    """Choose a threshold as a user asks for it in words."""
    from .decisions import choose_threshold
    from .goals import Goal
    from .measures import find

    rule, file = read_threshold(text)
    if not isinstance(rule, str):
        mend = "Say best:f1, cost:costs.csv or 'max specificity where sensitivity >= 0.8'"
        raise BadOption(f"--choose {quoted(text)} is no goal", mend=mend)
    goal = Goal.read(rule) if file is None else Goal.of(find("cost", costs=costs(file, labels)))
    sure = guarantee if goal.limits else None
    return choose_threshold(result, Goal.of(goal.measure, goal.limits, prevalence, sure))


@app.command
def calibration(
    file: Annotated[str, Parameter(help="CSV, Parquet or Arrow file, or a pattern like 'part-*.parquet'.")],
    *,
    truth: Annotated[str, Parameter(help="Column of the true class.")],
    membership: Annotated[str, Parameter(help="Columns of probabilities: 'p_*'; one column: that of the event.")],
    method: Annotated[
        Literal["corp", "murphy"], Parameter(help="Take scores apart by isotonic regression, or by bins.")
    ] = "corp",
    recalibrate: Annotated[
        Literal["logistic", "isotonic"], Parameter(help="How the preview recalibrates, by rows held out.")
    ] = "logistic",
    reading: Reading = Reading(),  # noqa: B008  (frozen)
) -> int:
    """Hold probabilities against what came true: scores taken apart, a test, what recalibration would bring.

    steelyard calibration iris.csv --truth species --membership 'lda_*'
    """
    from . import api
    from .rendering import calibration_view

    table = _read(file)
    keywords = _columns_of(table, truth, reading) | {"measures": ["brier", "log_score", "calibration_error"]}
    result = api.assess(table, truth=truth, membership=columns(membership), **keywords)
    with working("drawing outcomes"):
        parts = {score: result.decomposition(score, method=method) for score in ("brier", "log_score")}
        test, preview = result.calibration_test(), result.recalibration(recalibrate)
    if reading.prints_tables:
        show(*calibration_view(result, parts, test, preview))
    if reading.csv is not None or reading.json is not None:
        curve = result.reliability()
        _write(
            reading,
            curve,
            lambda: {
                **_head(result),
                "estimates": result.table().to_json(),
                "decompositions": {score: found.to_json() for score, found in parts.items()},
                "test": {"statistic": test.statistic, "p": test.p, "method": test.method},
                "recalibration": preview.differences().to_json(),
                "reliability": curve.to_json(),
            },
        )
    return HELD


@app.command
def measures(
    name: Annotated[str | None, Parameter(help="One measure, to have it explained.")] = None,
    *,
    json: Annotated[bool, Parameter(help="Print JSON.", negative="")] = False,
) -> int:
    """List all measures, or explain one.

    steelyard measures kappa
    """
    from .listing import explain, listing
    from .measures import find
    from .table import dump
    from .text import table_view

    if name is not None:
        entry = find(name)
        facts = explain(entry)
        if json:
            sys.stdout.write(dump(facts) + "\n")
        else:
            show(*[Text(f"{key:>12}  {value}") for key, value in facts.items() if value not in (None, "")])
        return HELD
    rows = listing()
    if json:
        sys.stdout.write(dump(rows.to_json()) + "\n")
    else:
        show(table_view(rows))
    return HELD


@app.command
def demo() -> int:
    """Compare three classifiers of irises, on data that comes with the package."""
    from . import api
    from .rendering import assessment_view, comparison_view
    from .text import table_view

    with resources.as_file(resources.files("steelyard") / "data" / "iris.csv") as file:
        models = {name: f"{name}_*" for name in ("lda", "qda", "knn")}
        result = api.compare(file, models, truth="species")
    command = "steelyard compare iris.csv --truth species " + " ".join(f"--model {m}='{m}_*'" for m in models)
    first = result.best("error")
    last = min(models, key=lambda name: result[name]["accuracy"].value)
    show(
        Text("Fisher's irises by the size of their sepals, three classifiers, each row predicted out of fold."),
        Text(f"$ {command}\n", style="bold"),
        comparison_view(result),
        Text(f"\nThe best of them alone: {first}", style="bold"),
        assessment_view(result[first]),
        Text(f"\nThe rows that decide between {first} and {last}: the ones to look at", style="bold"),
        table_view(result.deciding_rows("error", first, last, 5)),
        Text("\nNext: steelyard --help, or steelyard assess YOUR.csv --truth COLUMN --assigned COLUMN"),
    )
    return HELD


def main(tokens: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; errors of users come without a traceback."""
    from .errors import harmless

    complaint = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        given = with_targets(sys.argv[1:] if tokens is None else list(tokens))
        result = app(given, exit_on_error=False, result_action="return_value")
        sys.stdout.flush()
        return int(result or 0)
    except CycloptsError:
        return BAD_INPUT
    except NoThreshold as error:  # an answer, not a mistake
        complaint.print(Text("NOT HELD: ", style="bold red") + Text(harmless(error)))
        return NOT_HELD
    except SteelyardError as error:
        complaint.print(Text("error: ", style="bold red") + Text(harmless(error)))
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read our output has heard enough; nothing more may be written to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return HELD
    except KeyboardInterrupt:
        return INTERRUPTED

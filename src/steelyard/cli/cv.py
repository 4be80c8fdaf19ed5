"""The command line of cross-validation: classifiers by name, fitted to the columns of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from ..core.columns import as_number, as_numpy, pa
from ..core.errors import BadOption, SteelyardError, harmless
from ..core.table import Table
from ..data.terminal import show
from ..inputs.covariates import MEND, choose, matrix
from .options import AssessOptions, CrossValidationOptions, File, keywords_of, load_file, located, notes_on
from .output import head_of, tell_rest, write
from .parsing import words

if TYPE_CHECKING:
    from ..core.typing import Places
    from ..modelling.cross_assessment import CrossAssessment


@Parameter(name="*")
@dataclass(frozen=True)
class FittingOptions:
    """How rows are held out, and by what."""

    features: Annotated[
        str | None, Parameter(help="Columns to learn from, with commas or stars; all numbers and kinds if not given.")
    ] = None
    folds: Annotated[
        str, Parameter(help="How many folds; or loo, a share to hold out (0.25), bootstrap or bootstrap:500.")
    ] = "10"
    repeats: Annotated[int, Parameter(help="How often folds are made anew, with rows shuffled.")] = 1
    seed: Annotated[
        int | None, Parameter(help="Shuffle rows, random numbers starting here; in their order without one.")
    ] = None
    jobs: Annotated[int | None, Parameter(help="How many fits at once; -1 for all cores.")] = None
    intervals: Annotated[
        str | None, Parameter(help="More ways to an interval, with commas: corrected, nested, .632, .632+.")
    ] = None
    measure: Annotated[str | None, Parameter(help="The measure whose differences and intervals are shown.")] = None


def cv(
    file: File,
    *,
    target: Annotated[
        str,
        Parameter(name=["--target", "--truth"], help="Column of the true class; with --cut, of what was measured."),
    ],
    models: Annotated[
        str,
        Parameter(
            help="Classifiers, with commas: lda, qda, knn:5, bayes, centroid, logistic, ridge, tree, forest, boosting, "
            "svm, prior; with --cut also regression."
        ),
    ] = "lda,qda,knn:5,tree,logistic",
    fitting: FittingOptions = FittingOptions(),  # noqa: B008  (frozen)
    options: CrossValidationOptions = CrossValidationOptions(),  # noqa: B008  (frozen)
) -> int:
    """Cross-validate classifiers, and tell which of them differ.

    steelyard cv data.csv --target grade --models lda,qda,knn:5,tree --folds 10
    """
    from ..display.digest import comparison_digest, with_more
    from ..results.verdicts import told_verdict

    chosen = words(models)
    conditions = options.conditions(chosen)
    result, notes = _run(file, target, chosen, fitting, options)
    entry = result.settings.measures[0] if fitting.measure is None else result[result.models[0]].find(fitting.measure)
    ways = None if fitting.intervals is None else words(fitting.intervals)
    bounds = None if ways is None else result.intervals(entry, ways, n_jobs=fitting.jobs)
    verdicts = [condition.judge(result) for condition in conditions]
    if options.prints_tables:
        _show(result, entry.label, bounds, notes)
    write(
        options,
        result.table(),
        lambda: {
            **head_of(result[result.models[0]]),
            "held_out": result.plan.words,
            "estimates": result.table().to_json(),
            "training": [] if result.trained is None else result.trained.table().to_json(),
            "differences": result.differences().to_json() if len(result.models) > 1 else [],
            "verdict": told_verdict(result, entry.label),
            "intervals": [] if bounds is None else bounds.to_json(),
            "times": result.times().to_json(),
            "failures": list(result.failures),
            "notes": [*notes, *result.remarks, *result.notes],
        },
    )
    said, facts = [*notes, *result.remarks], f"cross-validated: {result.plan.words}"
    return tell_rest(options, result, lambda: with_more(comparison_digest(result, entry.label), facts, said), verdicts)


def _show(result: CrossAssessment, measure: str, bounds: Table | None, notes: Sequence[str]) -> None:
    from rich.text import Text

    from ..core.table import table_view
    from ..display.views import cross_view, noted

    show(cross_view(result, measure), *noted(notes))
    if bounds is not None:
        assumed = dict(zip(bounds["method"], bounds["assumes"], strict=True))
        shown = Table({name: bounds[name] for name in bounds.column_names if name != "assumes"})
        show(Text(f"\nways to an interval of {measure}, and what they take for granted:"), table_view(shown))
        show(*[Text(f"{method}: {harmless(words)}") for method, words in assumed.items()])


def _run(
    file: str, target: str, chosen: Sequence[str], fitting: FittingOptions, options: AssessOptions
) -> tuple[CrossAssessment, list[str]]:
    """Read the file, fit and assess; and what there is to know about the columns and rows that were used."""
    from ..modelling.models import read_models

    if options.bad_files == "skip":
        raise BadOption("--bad-files skip is not for cross-validation", mend="Leave it out, and the bad files")
    loaded = load_file(file, options, target)
    with located(loaded) as table:
        said = keywords_of(table, target, options)
        del said["decimal"], said["thousands"]  # the file was read
        if said.pop("least"):
            raise BadOption("--least is of parts of the data, and rows are left out here", mend="Leave it out")
        usual = {"weight": None, "weight_kind": "sampling", "threshold": None, "by": None}
        for name, value in usual.items():
            if said.pop(name) != value:
                mend = "Leave it out, or see `steelyard compare`"
                raise BadOption(f"--{name.replace('_', '-')} is not for cross-validation", mend=mend)
        result, notes = _crossed(table, target, read_models(list(chosen)), fitting, said)
    return result, [*notes_on(loaded), *notes]


def _crossed(
    table: Any, target: str, estimators: Mapping[str, Any], fitting: FittingOptions, said: dict[str, Any]
) -> tuple[CrossAssessment, list[str]]:
    """Fit and assess on the rows of a table, those that miss a value left out where that was said."""
    from ..modelling.cross import counted_from, cross_assess
    from ..modelling.fits import refuse_gaps

    named = {name: said.pop(name) for name in ("group", "sd", "sd_response", "response")}
    aside = [target, *[name for value in named.values() for name in _names(value)]]
    features, notes = choose(table, aside, None if fitting.features is None else words(fitting.features))
    kept, places, more = _complete(table, [*aside, *features], said.pop("missing"))
    with counted_from(places):
        variables, called = matrix(kept, features)
        refuse_gaps(estimators, variables, called, MEND)
        with _told_of({"y": target, "groups": named["group"], "sd": named["sd"], "sd_response": named["sd_response"]}):
            result = cross_assess(
                estimators,
                variables,
                _taken(kept, target),
                cv=read_folds(fitting.folds),
                repeats=fitting.repeats,
                seed=fitting.seed,
                n_jobs=fitting.jobs,
                groups=_taken(kept, named.pop("group")),
                **{name: _taken(kept, value) for name, value in named.items()},
                **said,
            )
    return result, [*notes, *more]


@contextmanager
def _told_of(columns: Mapping[str, Any]) -> Iterator[None]:
    """Columns in messages are those of the file, whatever they are taken for."""
    try:
        yield
    except SteelyardError as error:
        name = columns.get(str(error.column))
        if not isinstance(name, str):
            raise
        raise error.but(column=name) from None


def _taken(table: Any, value: Any) -> Any:
    """The columns that an option names, or what it says itself."""
    from ..data.sources import column

    if isinstance(value, list):
        return tuple(column(table, name) for name in value)
    return column(table, value) if isinstance(value, str) else value


def _names(value: Any) -> list[str]:
    """The columns that an option names."""
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []


def _complete(table: Any, names: Sequence[str], missing: str) -> tuple[Any, Places, list[str]]:
    """Rows without gaps, where those are to be dropped, and which rows of the table they are."""
    if missing != "drop":
        return table, np.arange(table.num_rows), []
    used = table.select(list(dict.fromkeys(names)))
    # Not a number is missing here as everywhere: some libraries write it where there is none.
    gaps = [as_numpy(pa.compute.is_null(column, nan_is_null=True)) for column in used.columns]
    places = np.flatnonzero(~np.any(gaps, axis=0))
    dropped = used.num_rows - len(places)
    words = "1 row that misses a value was" if dropped == 1 else f"{dropped:,} rows that miss a value were"
    note = [f"{words} dropped"] if dropped else []
    return used.take(places), places, note


def read_folds(text: str) -> Any:
    """How rows are held out, from words."""
    from ..modelling.splits import Bootstrap

    name, _, number = text.partition(":")
    if name == "bootstrap" and number.isdigit():
        return Bootstrap(int(number))
    value = as_number(text, text=True)
    if not np.isfinite(value):
        return text
    return int(value) if value == int(value) else value

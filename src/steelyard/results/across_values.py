"""The values of classifiers on many data sets, checked: every classifier has a finite number on every data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core.columns import as_number, is_missing, read_frame, refuse_twice, things_in
from ..core.errors import BadOption, MissingValues, NotNumbers, TooFewRows, UnknownMeasure, WrongShape, quoted
from ..core.scale import listed
from ..core.suggestions import refuse_unknown
from ..measures import find, refuse_of_class
from ..measures.registry import Measure
from .comparison import Comparison

if TYPE_CHECKING:
    from ..core.typing import Array

Better = Literal["lower", "higher"]
Cells = Sequence[Sequence[Any]]

FORMS = "Give {data set: {classifier: number}}, {data set: Comparison}, a data frame or a two-dimensional array"
LARGEST = 1e300  # two numbers beyond it may have no difference
COMPLETE = "Give every classifier a finite value on every data set, or leave the data set out"


@dataclass(frozen=True, eq=False)
class Values:
    """What was handed in, checked."""

    numbers: Array
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    better: Better
    title: str


def read_values(values: Any, names: Sequence[str] | None, measure: Any, better: Any) -> Values:
    """Bring any form of values into one table of numbers."""
    compared = isinstance(values, Mapping) and any(isinstance(each, Comparison) for each in values.values())
    entry, title = _entry(measure, better, compared)
    if isinstance(values, Mapping):
        if names is not None:
            raise BadOption("names are given twice", mend="The values name their classifiers: leave names= out")
        datasets, models, cells = _of_mapping(values, entry)
    elif hasattr(values, "__arrow_c_stream__"):
        datasets, models, cells = _of_frame(values, names)
    else:
        datasets, models, cells = _of_array(values, names)
    refuse_twice(models)
    _refuse_twice(datasets)
    return Values(_numbers(datasets, models, cells), tuple(datasets), tuple(models), _better(entry, better), title)


def _entry(measure: Any, better: Any, compared: bool) -> tuple[Measure | None, str]:
    """The measure, where it is one, and how it is called."""
    if measure is None:
        if compared:
            raise BadOption("comparisons hold many measures", mend="Name one: measure='error'")
        return None, ""
    refuse_of_class(measure)
    try:
        entry = find(measure)
    except UnknownMeasure:
        # Values from elsewhere may be of a measure that is not known here.
        if compared or better is None or not isinstance(measure, str):
            raise
        return None, measure
    return entry, entry.label if entry.changed else entry.title


def _better(entry: Measure | None, better: Any) -> Better:
    if better is None and entry is None:
        raise BadOption("nobody says which end is better", mend="Say better='lower' or better='higher'")
    if better is not None:
        refuse_unknown("better", better, ("lower", "higher"))
    known = better if entry is None else entry.better
    if known == "neither":
        raise BadOption(f"no value of {quoted(entry and entry.label)} is better than another", mend="Choose another")
    if better not in (None, known):
        raise BadOption(f"of {quoted(entry and entry.label)}, {known} is better", mend="Leave better= out")
    found: Better = known
    return found


# --- the forms ------------------------------------------------------------------------------------------------------


def _of_mapping(values: Mapping[Any, Any], entry: Measure | None) -> tuple[list[str], list[str], Cells]:
    """One mapping, or one comparison, a data set; all of the same classifiers, in any order."""
    datasets = [str(name) for name in values]
    rows = [_by_model(name, each, entry) for name, each in zip(datasets, values.values(), strict=True)]
    models = list(rows[0]) if rows else []
    for name, row in zip(datasets, rows, strict=True):
        missed = [model for model in models if model not in row]
        extra = [model for model in row if model not in models]
        if missed or extra:
            where, what = (name, missed[0]) if missed else (datasets[0], extra[0])
            raise MissingValues(f"data set {quoted(where)} has no value of {quoted(what)}", mend=COMPLETE)
    return datasets, models, [[row[model] for model in models] for row in rows]


def _by_model(dataset: str, values: Any, entry: Measure | None) -> dict[str, Any]:
    """The values of all classifiers on one data set."""
    if isinstance(values, Mapping):
        found = {str(model): value for model, value in values.items()}
        if len(found) < len(values):
            raise BadOption(f"two classifiers on data set {quoted(dataset)} have one name", mend="Rename one")
        return found
    if not isinstance(values, Comparison) or entry is None:
        raise WrongShape(f"data set {quoted(dataset)} holds {quoted(values)}", mend=FORMS)
    estimates = {model: values[model][entry] for model in values.models}
    for model, one in estimates.items():
        if np.isnan(one.value):
            raise MissingValues(
                f"{entry.label} of {quoted(model)} is undefined on data set {quoted(dataset)}: {one.note}",
                mend=COMPLETE,
            )
    return {model: one.value for model, one in estimates.items()}


def _of_frame(frame: Any, wanted: Sequence[str] | None) -> tuple[list[str], list[str], Cells]:
    """One row a data set; the one column of text names them."""
    import pyarrow as pa

    from ..data.sources import column

    names = [wanted] if isinstance(wanted, str) else things_in(wanted)  # once: they may come one by one
    table = read_frame(frame)
    refuse_twice(table.column_names)
    kinds = {field.name: field.type for field in table.schema}
    texts = [name for name, kind in kinds.items() if not (pa.types.is_floating(kind) or pa.types.is_integer(kind))]
    texts = [name for name in texts if names is None or name not in names]
    if len(texts) > 1 and names is None:
        raise NotNumbers(
            "it does not hold numbers", column=texts[1], mend="One column may name the data sets; or say names=[...]"
        )
    models = [name for name in table.column_names if name not in texts] if names is None else names
    columns = [column(table, name).to_pylist() for name in models]
    if texts:
        datasets = table.column(texts[0]).to_pylist()
    else:
        datasets = list(frame.index) if hasattr(frame, "reset_index") else list(range(1, table.num_rows + 1))
    return [str(name) for name in datasets], models, list(zip(*columns, strict=True))


def _of_array(values: Any, names: Sequence[str] | None) -> tuple[list[str], list[str], Cells]:
    """One row a data set, one column a classifier."""
    try:
        array = np.asarray(values)
    except Exception:  # a foreign object may raise anything
        raise WrongShape("the rows have different lengths", mend=COMPLETE) from None
    if array.ndim != 2:
        raise WrongShape(f"the values have {array.ndim} dimensions", mend=FORMS)
    if names is None:
        raise BadOption("nobody names the classifiers", mend="Say names=['lda', 'qda'], one a column")
    every = things_in(names)
    if every is None or len(every) != array.shape[1]:
        size = 1 if every is None else len(every)
        raise WrongShape(f"{size} names for {array.shape[1]} columns", mend="Name every column once")
    return [str(row + 1) for row in range(len(array))], [str(name) for name in every], array.tolist()


# --- the checks -----------------------------------------------------------------------------------------------------


def _numbers(datasets: Sequence[str], models: Sequence[str], cells: Cells) -> Array:
    """All cells as numbers; the first one that is none is named."""
    if len(models) < 2:
        raise BadOption(f"there is {'one classifier' if models else 'no classifier'}", mend="Compare at least two")
    if len(datasets) < 2:
        raise TooFewRows(f"there is {'one data set' if datasets else 'no data set'}", mend="Give at least two")
    for dataset, row in zip(datasets, cells, strict=True):
        for model, value in zip(models, row, strict=True):
            where = f"of {quoted(model)} on data set {quoted(dataset)}"
            if value is None or is_missing(value):
                raise MissingValues(f"the value {where} is missing", mend=COMPLETE)
            if not abs(as_number(value)) < LARGEST:
                raise NotNumbers(f"the value {where} is {quoted(value)}", mend=COMPLETE)
    return np.array([[as_number(value) for value in row] for row in cells])


def _refuse_twice(datasets: Sequence[str]) -> None:
    if len(set(datasets)) < len(datasets):
        twice = [name for name in dict.fromkeys(datasets) if datasets.count(name) > 1]
        raise BadOption(f"two data sets are called {listed(twice)}", mend="Give every data set its own name")

"""Columns of pandas are taken row by row only where their indexes name the rows alike."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steelyard as sy
from steelyard.core.errors import MisalignedRows

ROWS = 200
RANDOM = np.random.default_rng(7)
LABELS = RANDOM.integers(0, 2, ROWS)
SCORES = np.clip(0.6 * LABELS + 0.5 * RANDOM.random(ROWS), 0, 1)
IDS = RANDOM.permutation(np.arange(1_000, 1_000 + 3 * ROWS))[:ROWS]
BY_POSITION = "200 rows were matched by position: some columns have an index, others only count rows"

Change = Callable[["pd.Series[Any]"], "pd.Series[Any]"]

NAMES: dict[str, Any] = {
    "numbers": IDS,
    "text": [f"p{number}" for number in IDS],
    "days": pd.date_range("2024-01-01", periods=ROWS)[RANDOM.permutation(ROWS)],
    "levels": pd.MultiIndex.from_arrays([IDS % 7, IDS]),
    "twice": IDS % 50,
    "the first numbers": RANDOM.permutation(ROWS),
}


def with_another(column: pd.Series[Any]) -> pd.Series[Any]:
    """The same, its last row under a name that no row has."""
    first = column.index[0]
    others: dict[type, Any] = {str: "other", tuple: (99, -1), pd.Timestamp: pd.Timestamp("1999-01-01")}
    names = [*column.index[:-1], others.get(type(first), -1)]
    index = pd.MultiIndex.from_tuples(names) if isinstance(first, tuple) else pd.Index(names)
    return pd.Series(column.to_numpy(), index)


REORDERED: dict[str, Change] = {
    "sorted": lambda column: column.sort_index(),
    "turned": lambda column: column[::-1],
    "shuffled": lambda column: column.sample(frac=1, random_state=1),
    "one row twice": lambda column: column.iloc[[*range(ROWS - 1), 0]].sort_index(),
    "one row moved": lambda column: pd.concat([column[1:], column[:1]]),
}
RENAMED: dict[str, Change] = {
    "one row renamed": with_another,
    "one row renamed, sorted": lambda column: with_another(column).sort_index(),
    "made text": lambda column: pd.Series(column.to_numpy(), column.index.map(str)).sort_index(),
}


def named(values: Any, names: Any = IDS) -> Any:
    return pd.Series(values, index=names)


def error_of(truth: Any, said: Any, **options: Any) -> float:
    return float(sy.assess(truth, said, event=1, measures=["error"], **options)["error"])


def refused(truth: Any, said: Any) -> None:
    assert error_of(truth, truth.astype(float)) == 0
    with pytest.raises(MisalignedRows, match="column 'prediction', row"):
        error_of(truth, said)


@pytest.mark.parametrize("kind", [kind for kind in NAMES if kind != "twice"])
@pytest.mark.parametrize("other", REORDERED)
def test_rows_in_another_order_are_refused(kind: str, other: str) -> None:
    refused(named(LABELS, NAMES[kind]), REORDERED[other](named(SCORES, NAMES[kind])))


@pytest.mark.parametrize("other", REORDERED)
def test_weak_point_7_so_are_rows_whose_names_occur_twice(other: str) -> None:
    refused(named(LABELS, NAMES["twice"]), REORDERED[other](named(SCORES, NAMES["twice"])))


@pytest.mark.parametrize(("kind", "other"), [pair for pair in product(NAMES, RENAMED) if pair != ("text", "made text")])
def test_weak_point_7_rows_that_are_named_otherwise_are_refused(kind: str, other: str) -> None:
    refused(named(LABELS, NAMES[kind]), RENAMED[other](named(SCORES, NAMES[kind])))


@pytest.mark.parametrize("kind", NAMES)
def test_weak_point_7_shifted_rows_are_refused(kind: str) -> None:
    truth, said = named(LABELS, NAMES[kind]), named(SCORES, NAMES[kind])
    with pytest.raises(MisalignedRows):
        error_of(truth[:-1], said[1:])
    with pytest.raises(MisalignedRows):
        error_of(truth[1:], said[:-1])


@pytest.mark.parametrize("kind", ["counted", "counted as a column"])
def test_weak_point_7_rows_that_pandas_counted_are_not_shifted_either(kind: str) -> None:
    names = pd.RangeIndex(ROWS) if kind == "counted" else pd.Index(np.arange(ROWS))
    truth, said = named(LABELS, names), named(SCORES, names)
    for some, others in ((truth[:-1], said[1:]), (truth[5:], said[:-5])):
        with pytest.raises(MisalignedRows):
            error_of(some, others)
    for made in (said.sample(frac=1, random_state=3), said.rename(str).sort_index(), said.rename({3: 9999})[::-1]):
        with pytest.raises(MisalignedRows):
            error_of(truth, made)


def test_the_hint_done_literally_works() -> None:
    truth, said = named(LABELS), named(SCORES)
    with pytest.raises(MisalignedRows, match=r"as prediction\.loc\[truth\.index\]"):
        error_of(truth, said.sort_index())
    assert error_of(truth, said.sort_index().loc[truth.index]) == error_of(LABELS, SCORES)
    with pytest.raises(MisalignedRows, match=r"if they are, give \.to_numpy\(\), which has no index"):
        error_of(truth, said.rename({IDS[0]: 9}))
    assert error_of(truth, said.rename({IDS[0]: 9}).to_numpy()) == error_of(LABELS, SCORES)


@pytest.mark.parametrize("own", ["truth", "prediction"])
def test_rows_that_nobody_named_are_taken_by_position_with_a_note(own: str) -> None:
    """As predictions of models are, beside the labels of the rows that they are of."""
    columns: dict[str, Any] = {"truth": pd.Series(LABELS), "prediction": pd.Series(SCORES)}
    columns[own] = named(columns[own].to_numpy())
    found = sy.assess(columns["truth"], columns["prediction"], event=1, measures=["error"])
    assert float(found["error"]) == error_of(LABELS, SCORES)
    assert found.notes == [BY_POSITION]
    assert sy.assess(named(LABELS), SCORES, event=1, measures=["error"]).notes == []
    assert sy.assess(pd.Series(LABELS), pd.Series(SCORES), event=1, measures=["error"]).notes == []
    held_out = pd.Series(np.tile(LABELS, 5))[-ROWS:]  # the last of 1,000 rows, and what a model says of them
    assert sy.assess(held_out, pd.Series(SCORES), event=1, measures=["error"]).notes == [BY_POSITION]


@pytest.mark.parametrize("option", ["weight", "group", "by", "by columns"])
@pytest.mark.parametrize("truth", ["array", "column"])
def test_columns_beside_the_truth_are_compared(option: str, truth: str) -> None:
    beside: Any = named(1 + np.arange(ROWS) % 3).sort_index()
    options = {"by": {"site": beside}} if option == "by columns" else {option: beside}
    with pytest.raises(MisalignedRows, match=f"column '{option.split(maxsplit=1)[0]}"):
        error_of(LABELS if truth == "array" else named(LABELS), named(SCORES), **options)
    options = {"by": {"site": beside.loc[IDS]}} if option == "by columns" else {option: beside.loc[IDS]}
    error_of(LABELS if truth == "array" else named(LABELS), named(SCORES), **options)


@pytest.mark.parametrize("option", ["weight", "group", "by"])
def test_weak_point_8_columns_beside_an_array_are_compared_with_each_other(option: str) -> None:
    beside: Any = named(1 + np.arange(ROWS) % 3)
    for moved in (beside.sort_index(), with_another(beside), beside.rename(str)):
        with pytest.raises(MisalignedRows, match=f"column '{option}', row"):
            error_of(LABELS, named(SCORES), **{option: moved})


def test_weak_point_8_classifiers_are_compared_with_each_other() -> None:
    said = named(SCORES)
    for predictions in (
        {"a": said, "b": said.sort_index()},
        {"a": said, "b": {0: 1 - said, 1: said.sort_index()}},
        {"a": SCORES, "b": said, "c": pd.DataFrame({0: 1 - said, 1: said}).sort_index()},
        {"a": pd.Series(SCORES), "b": pd.Series(SCORES).sort_values()},
    ):
        with pytest.raises(MisalignedRows):
            sy.compare(LABELS, predictions, event=1, measures=["error"])
    both = sy.compare(LABELS, {"a": said, "b": said}, event=1, measures=["error"])
    assert both.notes == []


def test_weak_point_7_training_rows_and_measured_values_too() -> None:
    truth, said = named(LABELS), named(SCORES)
    with pytest.raises(MisalignedRows):
        error_of(truth, said, training=(truth, said.sort_index()))
    scale = sy.Continuum([0.5], ["low", "high"])
    sd = named(np.full(ROWS, 0.1)).sort_index()
    with pytest.raises(MisalignedRows, match="column 'sd'"):
        sy.assess(SCORES, named(np.where(SCORES > 0.5, "high", "low")), scale=scale, sd=sd)


@pytest.mark.parametrize("who", ["y renamed", "y shuffled", "X renamed", "groups beside X"])
def test_weak_point_7_what_is_fitted_to_is_compared_too(who: str) -> None:
    variables = pd.DataFrame({"a": SCORES, "b": RANDOM.random(ROWS)}, index=IDS)
    truth, groups = named(LABELS), named(np.arange(ROWS) // 4)
    given: dict[str, Any] = {"X": variables, "y": truth, "groups": groups}
    if who == "y renamed":
        given["y"] = truth.rename({IDS[0]: 9}).sort_index()
    elif who == "y shuffled":
        given = {"X": variables.reset_index(drop=True), "y": pd.Series(LABELS).sample(frac=1, random_state=1)}
    elif who == "X renamed":
        given["X"] = variables.rename({IDS[0]: 9})
    else:
        given |= {"y": LABELS, "groups": groups.sort_index()}
    with pytest.raises(MisalignedRows):
        sy.cross_assess("prior", **given, cv=4, measures=["error"])


@pytest.mark.parametrize("name", ["truth", "weight", "by", "prediction"])
def test_classifiers_may_be_called_like_what_stands_beside_them(name: str) -> None:
    truth, said = named(LABELS), named(SCORES)
    with pytest.raises(MisalignedRows, match=f"column '{name}'"):
        sy.compare(truth, {"a": said, name: said.sort_index()}, event=1, measures=["error"])
    with pytest.raises(MisalignedRows, match=f"column '{name}'"):
        sy.compare(LABELS, {"a": said, name: said.sort_index()}, event=1, weight=np.ones(ROWS), measures=["error"])


def test_weak_point_7_what_response_models_are_fitted_to_too() -> None:
    measured, covariates = named(SCORES[:40], IDS[:40]), pd.DataFrame({"x": SCORES[:40] + 0.1}, index=IDS[:40])
    with pytest.raises(MisalignedRows, match=r"column 'covariates', .* as covariates\.loc\[measured\.index\]"):
        sy.fit_response(covariates.sort_index(), measured, 0.1)

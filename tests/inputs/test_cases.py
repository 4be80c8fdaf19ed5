"""The door: what comes in is bound by name, checked and coded; what is wrong is named with its place and its mend."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table as write_parquet

import steelyard as sy
from steelyard import Continuum, Scale
from steelyard.core.errors import (
    AmbiguousPrediction,
    BadOption,
    BadTable,
    BadWeights,
    DuplicateColumns,
    EmptyInput,
    EventNeeded,
    MisalignedRows,
    MissingValues,
    NotNumbers,
    OneClass,
    OutsideContinuum,
    OutsideUnitInterval,
    SteelyardError,
    SumNotOne,
    SwappedArguments,
    UnboundClasses,
    UnequalLengths,
    UnknownColumn,
    UnknownLabel,
    UnreadableFile,
    UnusableLabels,
    WrongShape,
)
from steelyard.inputs.prediction import Prediction
from steelyard.inputs.validate import Validator

GRADES = ["low", "high", "medium", "medium", "low"]
CLASSES = ("low", "medium", "high")
SURE = {label: [0.8 if grade == label else 0.1 for grade in GRADES] for label in CLASSES}


class Stream:
    """The least that Arrow's protocol asks for: no columns, no names, only the stream."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def as_duckdb(columns: dict[str, Any]) -> Any:
    table = pa.table(columns)
    return duckdb.from_arrow(table)


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dictionary": dict,
    "pandas": pd.DataFrame,
    "pandas, other rows": lambda columns: pd.DataFrame(
        columns, index=list("edcba")[: len(next(iter(columns.values())))]
    ),
    "pandas, named rows": lambda columns: pd.DataFrame(columns).rename_axis("low_id"),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "bare stream": lambda columns: Stream(pa.table(columns)),
    "duckdb": as_duckdb,
}


# --- bound by name --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("order", list(itertools.permutations(CLASSES)), ids="-".join)
def test_a_perfect_classifier_is_perfect_in_any_order_of_columns(frame: str, order: tuple[str, ...]) -> None:
    prediction = FRAMES[frame]({label: SURE[label] for label in order})
    assert sy.assess(GRADES, prediction)["accuracy"].value == 1.0


@pytest.mark.parametrize("frame", [name for name in FRAMES if name != "dictionary"])
@pytest.mark.parametrize("order", list(itertools.permutations(CLASSES)), ids="-".join)
@pytest.mark.parametrize("wanted", ["p_*", ["p_low", "p_high", "p_medium"], {label: f"p_{label}" for label in CLASSES}])
def test_columns_of_a_frame_are_found_by_name(frame: str, order: tuple[str, ...], wanted: Any) -> None:
    columns = {f"p_{label}": SURE[label] for label in order}
    source = FRAMES[frame]({"other": [1] * 5, **columns, "grade": GRADES})
    assessment = sy.assess(source, truth="grade", membership=wanted)
    assert assessment["accuracy"].value == 1.0
    assert set(assessment.classes) == set(CLASSES)


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        ((0, 1, 2), ("0", "1", "2")),
        ((0, 1, 2), (0, 1, 2)),
        ((0, 1, 2), (0.0, 1.0, np.int8(2))),
        ((1, 10, 11), ("p1", "p10", "p11")),
        ((False, True), ("False", "True")),
        ((False, True), (False, True)),
        (("a", "aa", "aaa"), ("a_a", "a_aa", "a_aaa")),
        (("p", "q"), ("p_p", "p_q")),
        (("x", "y"), ("prob(x)", "prob(y)")),
        (("", "a"), ("p_", "p_a")),
        (("é", "e\u0301"), ("é", "e\u0301")),
        (("a", "a "), ("a", "a ")),
    ],
)
def test_names_are_matched_to_classes(classes: tuple[Any, ...], names: tuple[Any, ...]) -> None:
    truth = [*classes, classes[0]]
    for order in itertools.permutations(range(len(classes))):
        prediction = {names[k]: [1.0 if label == classes[k] else 0.0 for label in truth] for k in order}
        assert sy.assess(truth, prediction, scale=Scale(classes))["accuracy"].value == 1.0


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        ({"low": [1.0], "medium": [0.0]}, "class 'high' has no membership column"),
        ({"low": [1.0], "medium": [0.0], "hihg": [0.0]}, "'high' has no membership column and column 'hihg' belongs"),
        ({"low": [1.0], "medium": [0.0], "high": [0.0], "odd": [0.0]}, "column 'odd' belongs to no class"),
        (
            {"p_low": [1.0], "q_medium": [0.0], "p_high": [0.0]},
            "class 'medium' has no membership column and column 'q_m",
        ),
        ({"p_low": [1.0], "p_medium": [0.0]}, "class 'high' has no membership column. "),
        ({"p_low": [1.0], "p_medium": [0.0], "p_hihg": [0.0]}, "'high' has no membership column and column 'p_hihg' b"),
        ({"x": [1.0], "y": [0.0]}, "class 'low' has no membership column and column 'x' belongs to no class"),
    ],
)
def test_every_class_needs_its_own_column(prediction: Any, words: str) -> None:
    with pytest.raises(UnboundClasses) as caught:
        sy.assess(["low"], prediction, scale=Scale(CLASSES))
    assert words in str(caught.value)
    assert "Classes are 'low', 'medium', 'high'" in caught.value.mend


def test_a_column_that_is_bound_to_no_class_does_not_speak_for_the_event() -> None:
    truth, score = ["yes", "no", "yes", "no"], [0.1, 0.8, 0.6, 0.5]
    frame = pd.DataFrame({"truth": truth, "p_No": score})
    calls: list[Callable[[], Any]] = [
        lambda: sy.assess(truth, {"No": score}, event="yes"),
        lambda: sy.assess(truth, {"No": score}),
        lambda: sy.assess(frame, truth="truth", membership={"No": "p_No"}, event="yes"),
        lambda: sy.assess(frame, truth="truth", membership="p_*", event="yes"),
        lambda: sy.compare(frame, {"m": {"No": "p_No"}}, truth="truth", event="yes"),
    ]
    for call in calls:
        with pytest.raises(UnboundClasses, match=r"'No' is not one of the classes 'no', 'yes'. Did you mean 'no'\?"):
            call()
    assert sy.assess(truth, {"no": score}, event="yes")["auc"].value == 0.75
    assert sy.assess(truth, frame[["p_No"]], event="yes")["auc"].value == 0.25  # a frame may call it anything
    said = [label == "yes" for label in truth]
    assert sy.assess(said, {"false": score}, event=True)["auc"].value == 0.75


@pytest.mark.parametrize(
    ("wanted", "error", "words"),
    [
        ("q_*", UnknownColumn, "no column matches 'q_*'"),
        ("p_*_*", BadOption, "One star stands for the class name"),
        (["p_low", "p_low", "p_high"], UnboundClasses, "'p_low' is named twice"),
        ({"low": "p_low", "medium": "p_low", "high": "p_high"}, UnboundClasses, "'p_low' is named twice"),
        ({"low": "p_low", "medium": "p_medum", "high": "p_high"}, UnknownColumn, "Did you mean 'p_medium'?"),
        ({1: "p_low", "1": "p_medium"}, UnboundClasses, "named twice"),
        ({None: "p_low"}, UnusableLabels, "None cannot be a class label"),
        (["p_low", 3], UnknownColumn, "there is no column 3"),
        (["p_low", "p_medium"], UnboundClasses, "has no membership column"),
        ([], WrongShape, "0 membership columns for 3 classes"),
        ({}, WrongShape, "0 membership columns for 3 classes"),
        (7, BadOption, "7 names no columns"),
    ],
)
def test_membership_columns_that_cannot_be_bound_are_refused(
    wanted: Any, error: type[SteelyardError], words: str
) -> None:
    frame = pa.table({"grade": GRADES, **{f"p_{label}": SURE[label] for label in CLASSES}})
    with pytest.raises(error) as caught:
        sy.assess(frame, truth="grade", membership=wanted)
    assert words in str(caught.value)


def test_columns_that_bear_class_names_make_the_class_known() -> None:
    seen = sy.assess(["low", "high"], {"low": [1, 0], "mid": [0, 0], "high": [0, 1]})
    assert set(seen.classes) == {"low", "mid", "high"}
    assert sy.assess([0, 1], {0: [1, 0], 1: [0, 1], 2: [0, 0]}).classes == (0, 1, 2)
    assert sy.assess([True, True], {"False": [0, 0], "True": [1, 1]}).classes == (False, True)


def test_a_single_named_column_speaks_for_its_class() -> None:
    truth, sure = ["no", "yes", "no"], [0.9, 0.2, 0.8]
    for event in (None, "yes", "no"):
        assert sy.assess(truth, {"no": sure}, event=event)["accuracy"].value == 1.0
    frame = pd.DataFrame({"y": truth, "p_no": sure})
    assert sy.assess(frame, truth="y", membership={"no": "p_no"}, event="yes")["accuracy"].value == 1.0
    assert sy.assess(frame, truth="y", membership="p_no", event="no")["accuracy"].value == 1.0


# --- the forms of a prediction --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "prediction", "options", "right"),
    [
        ([0, 1, 1], [0, 1, 0], {}, 2),
        ([0, 1, 1], [0.0, 1.0, 0.0], {}, 2),
        ([0, 1, 1], np.array([0.2, 0.7, 0.4]), {}, 2),
        ([False, True, True], [0.0, 1.0, 0.0], {}, 2),
        ([False, True], np.array([0, 1]), {}, 2),
        ([0, 1, 1], [0.9, 0.1, 0.1], {"event": 0}, 3),
        ([0, 0, 0], [0.0, 0.0, 1.0], {}, 2),
        ([1, 2, 2], [1.0, 2.0, 2.0], {}, 3),
        ([1, 2, 2], [1.0, 2.0, 3.0], {}, 2),
        ([1, 2, 2], [0.0, 1.0, 1.0], {"event": 2}, 3),
        ([1, 2, 2], [1.0, 1.0, 1.0], {"event": 2, "threshold": 0.5}, 2),
        ([1, 2, 2], [1.0, 3.0, 3.0], {"scale": Scale([1, 2, 3])}, 1),
        ([0, 1, 1], [-3.0, 2.0, 5.0], {"threshold": 0}, 3),
        ([0, 1, 1], [1.0, 0.0, 0.0], {"threshold": 0.5, "event": 0}, 3),
        (["n", "y", "y"], [0.0, 1.0, 1.0], {"event": "y"}, 3),
        (["n", "y", "y"], pa.array([0.1, 0.8, 0.9]).cast(pa.decimal128(3, 2)), {"event": "y"}, 3),
        (["n", "y"], [[0.9, 0.1], [0.2, 0.8]], {}, 2),
        (["n", "y", "y"], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], {}, 2),
        (["n", "y", "y"], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], {"threshold": 0.4, "event": "y"}, 3),
        (["n", "y", "y"], {"y": [0.1, 0.4, 0.8], "n": [0.9, 0.6, 0.2]}, {"threshold": 0.4, "event": "y"}, 3),
        (["n", "y", "y"], {"y": [0.1, 0.4, 0.8], "n": [0.9, 0.6, 0.2]}, {"threshold": 0.7, "event": "n"}, 3),
        (["n", "y"], ((1, 0), (0, 1)), {}, 2),
        (["n", "y"], np.array([[0.9, 0.1], [0.2, 0.8]], order="F"), {}, 2),
        (["n", "y"], np.ma.masked_array([[0.9, 0.1], [0.2, 0.8]]), {}, 2),
        (["n", "y"], np.array([[0.9, 0.1], [0.2, 0.8]], dtype=object), {}, 2),
        (["y", "n"], [[0.9, 0.1], [0.2, 0.8]], {"scale": Scale(["y", "n"])}, 2),
    ],
)
def test_labels_scores_and_memberships_are_told_apart(truth: Any, prediction: Any, options: Any, right: int) -> None:
    assessment = sy.assess(truth, prediction, **options)
    assert np.trace(assessment.confusion()) == right
    assert assessment.n == len(truth)


@pytest.mark.parametrize(
    ("truth", "options"), [([0, 1], {"event": 0}), ([1, 2], {"event": 2}), ([0, 1], {"scale": Scale([0, 1], event=0)})]
)
def test_ones_that_could_be_labels_or_scores_are_refused(truth: Any, options: Any) -> None:
    with pytest.raises(AmbiguousPrediction, match=r"threshold=0.5") as caught:
        sy.assess(truth, [1.0, 1.0], **options)
    assert caught.value.column == "prediction"


@pytest.mark.parametrize(
    ("truth", "prediction", "options", "mend"),
    [
        (["n", "y"], [0.1, 0.9], {}, "Name the class that the score speaks for: event='y' or event='n'"),
        (["ja", "nein"], [0.1, 0.9], {}, "Name the class that the score speaks for: event='nein' or event='ja'"),
        ([1, 2], [0.1, 0.9], {}, "Name the class that the score speaks for: event=2"),
        (["a", "b", "c"], [0.1, 0.9, 0.3], {"event": "a"}, "give one column a class, or a truth that is one class"),
        (["a", "b", "c"], {"a": [0.1, 0.9, 0.3]}, {}, "give one column a class, or a truth that is one class"),
        (
            ["a", "b"],
            [[0.1, 0.9], [0.3, 0.7]],
            {"threshold": 0.5},
            "Name the class that the score speaks for: event='b'",
        ),
        (["a", "b", "c"], np.eye(3), {"threshold": 0.5, "event": "a"}, "Leave it out: the highest decides"),
    ],
)
def test_a_score_needs_an_event_and_two_classes(truth: Any, prediction: Any, options: Any, mend: str) -> None:
    with pytest.raises(EventNeeded, match=mend):
        sy.assess(truth, prediction, **options)


@pytest.mark.parametrize(
    ("prediction", "error", "words"),
    [
        (np.zeros((3, 1)), WrongShape, "(3, 1)"),
        (np.zeros((3, 2, 2)), WrongShape, "(3, 2, 2)"),
        (np.zeros((3, 0)), WrongShape, "(3, 0)"),
        ([[0.5, 0.5], [1.0]], WrongShape, "1 values, but 2 in row 0"),
        ([[0.5, 0.5], 1.0], WrongShape, "row 1"),
        (np.full((3, 4), 0.25), WrongShape, "4 membership columns for 3 classes"),
        (np.array(0.5), WrongShape, "a float is not a column"),
        ({}, WrongShape, "no columns"),
        ({"low": 0.5, "high": 0.5}, WrongShape, "a float is not a column"),
        ({1: [0.5], "1": [0.5]}, DuplicateColumns, "two columns are called '1'"),
        ({("low",): [0.5]}, UnusableLabels, "('low',) cannot be a class label"),
        ([["a", "b"], ["c", "d"]], NotNumbers, "prediction[0]"),
        (np.array([["a", 0.5]] * 3, dtype=object), NotNumbers, "'a' is not a number"),
        ({"low": ["x"], "medium": [0.5], "high": [0.5]}, NotNumbers, "prediction[low]"),
        (pd.DataFrame([[0.5, 0.5]] * 3, columns=["low", "low"]), DuplicateColumns, "called 'low'"),
        (None, BadOption, "there is no prediction"),
        ((value for value in "abc"), WrongShape, "a generator is not a column"),
        ({"a", "b"}, WrongShape, "a set is not a column"),
    ],
)
def test_what_no_prediction_looks_like_is_refused(prediction: Any, error: type[SteelyardError], words: str) -> None:
    with pytest.raises(error) as caught:
        sy.assess(["low", "medium", "high"], prediction)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("memberships", "error", "place", "row"),
    [
        ([[0.5, 0.5], [0.6, 0.6]], SumNotOne, "prediction", 1),
        ([[0.5, 0.5], [-0.5, 1.5]], OutsideUnitInterval, "prediction[0]", 1),
        ([[0.5, 0.5], [0.5, np.nan]], MissingValues, "prediction[1]", 1),
        ([[0.5, 0.5], [0.5, None]], MissingValues, "prediction[1]", 1),
        (np.ma.masked_greater(np.array([[0.5, 0.5], [0.4, 0.6]]), 0.55), MissingValues, "prediction[1]", 1),
    ],
)
def test_probabilities_are_checked(memberships: Any, error: type[SteelyardError], place: str, row: int) -> None:
    with pytest.raises(error) as caught:
        sy.assess(["a", "b"], memberships)
    assert (caught.value.column, caught.value.row) == (place, row)
    first, second = np.ma.asanyarray(memberships, dtype=float).T
    by_name = {"b": second, "a": first}
    with pytest.raises(error) as caught:
        sy.assess(["a", "b"], by_name)
    assert caught.value.row == row
    assert caught.value.column == {"prediction[0]": "prediction[a]", "prediction[1]": "prediction[b]"}.get(place, place)


# --- the truth ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "prediction", "options"),
    [
        ([0.2, 0.7], [0, 1], {}),
        ([0.2, 0.7], ["a", "b"], {}),
        ([0.2, 0.7], np.array([0.0, 1.0]), {}),
        ([[0.2, 0.8], [0.7, 0.3]], [0, 1], {}),
        (pd.DataFrame({"a": [0.2, 0.7], "b": [0.8, 0.3]}), ["a", "b"], {}),
        (["a", "b"], [0.2, 0.7], {"scale": Continuum([0.5], ["a", "b"])}),
        ([[0.2, 0.8], [0.7, 0.3]], [0.2, 0.7], {"scale": Continuum([0.5], ["a", "b"])}),
    ],
)
def test_swapped_arguments_are_noticed(truth: Any, prediction: Any, options: Any) -> None:
    with pytest.raises(SwappedArguments, match="The truth comes first"):
        sy.assess(truth, prediction, **options)


@pytest.mark.parametrize(
    ("truth", "prediction", "error"),
    [
        ([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]], WrongShape),
        ([[1], [0]], [1, 0], WrongShape),
        ([0.2, 0.7], [0.3, 0.4], UnusableLabels),
        ({"a": [0.2]}, [0], WrongShape),
        ("truth.csv", [0, 1], BadOption),
        (pd.DataFrame({"y": [0, 1]}), [0, 1], WrongShape),
    ],
)
def test_what_is_wrong_but_not_swapped_is_called_otherwise(
    truth: Any, prediction: Any, error: type[SteelyardError]
) -> None:
    with pytest.raises(error):
        sy.assess(truth, prediction)


def test_a_measured_truth_is_cut_into_classes() -> None:
    water = Continuum([65.0], ["dry", "wet"], sd=0.2)
    cases = Validator(water).validate([60, 65.0, 70], {"m": ["dry", "wet", "dry"]})
    assert cases.truth.tolist() == [0, 1, 1]
    assert cases.assigned["m"].tolist() == [0, 1, 0]
    named = Validator(water, event="wet").validate([60, 70], {"m": [0.1, 0.9]})
    assert named.scale.event == "wet"
    assert isinstance(named.scale, Continuum)
    assert (named.scale.boundaries, named.scale.sd) == (water.boundaries, water.sd)


def test_a_measured_truth_outside_the_ends_is_named_by_its_row() -> None:
    ends = Continuum([0, 1, 2], ["low", "high"])
    with pytest.raises(OutsideContinuum) as caught:
        sy.assess([0.5, np.nan, 3.0], ["low", "high", "high"], scale=ends, missing="drop")
    assert (caught.value.row, caught.value.column) == (2, "truth")


@pytest.mark.parametrize(
    ("truth", "prediction", "column"),
    [([0, 1], ["0", "b"], "prediction"), (["a", "1"], [0, 1], "truth"), ([True, False], ["a", "b"], "prediction")],
)
def test_text_and_numbers_do_not_mix(truth: Any, prediction: Any, column: str) -> None:
    with pytest.raises(UnusableLabels, match="Use one kind") as caught:
        sy.assess(truth, prediction)
    assert caught.value.column == column


@pytest.mark.parametrize("prediction", [["a", "a"], np.array(["a", "a"])])
def test_one_class_is_nothing_to_tell_apart(prediction: Any) -> None:
    with pytest.raises(OneClass, match=r"only one class is seen: 'a'.*scale=Scale"):
        sy.assess(["a", "a"], prediction)
    assert sy.assess(["a", "a"], prediction, scale=Scale(["a", "b"])).classes == ("a", "b")
    assert sy.assess(["a", "a"], prediction, event="b").classes == ("a", "b")


def test_an_event_that_nobody_has_seen_is_a_slip() -> None:
    with pytest.raises(UnknownLabel, match="the event 'yse' is not one of the classes seen, 'no', 'yes'"):
        sy.assess(["no", "yes"], ["no", "no"], event="yse")
    with pytest.raises(UnknownLabel, match="'yse' is not one of the classes"):
        sy.assess(["no", "yes"], ["no", "no"], event="yse", scale=Scale(["no", "yes"]))


@pytest.mark.parametrize("event", [["yes"], {"yes"}, 0.5, b"yes", object()])
def test_an_event_is_a_label(event: Any) -> None:
    with pytest.raises(UnusableLabels, match="cannot be a class label"):
        sy.assess(["no", "yes"], ["no", "no"], event=event)


@pytest.mark.parametrize("empty", [[], np.array([]), pd.Series([], dtype=str), pa.array([], pa.string())])
def test_no_rows_are_refused(empty: Any) -> None:
    with pytest.raises(EmptyInput, match="there is no row"):
        sy.assess(empty, empty)


# --- lengths, weights, clusters, parts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ({"prediction": ["a"]}, "prediction"),
        ({"prediction": [[0.5, 0.5]] * 3}, "prediction[0]"),
        ({"prediction": {"a": [0.5, 0.5], "b": [0.5]}}, "prediction[b]"),
        ({"weight": [1]}, "weight"),
        ({"group": [1, 2, 3]}, "group"),
        ({"by": ["x"]}, "by"),
        ({"by": {"site": ["x", "y"], "sex": ["f"]}}, "sex"),
    ],
)
def test_unequal_lengths_are_named(options: Any, column: str) -> None:
    options = {"prediction": ["a", "a"], **options}
    with pytest.raises(UnequalLengths, match="Every column needs one value a row") as caught:
        sy.assess(["a", "b"], **options)
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("weight", "error", "row", "words"),
    [
        ([1, -1, 1], BadWeights, 1, "the weight is -1"),
        ([1, 1, np.inf], BadWeights, 2, "the weight is inf"),
        ([1, np.nan, 1], MissingValues, 1, "missing='drop'"),
        ([1, None, 1], MissingValues, 1, "missing='drop'"),
        ([0, 0, 0], BadWeights, None, "all weights are zero"),
        ([1e200, 1e200, 1], BadWeights, None, "too large or too small"),
        ([1e-200, 0, 0], BadWeights, None, "too large or too small"),
        ([1e80, 1e80, 1.0], BadWeights, None, "too large or too small"),  # MCC multiplies four of them
        ([1e-80, 1e-80, 1e-81], BadWeights, None, "too large or too small"),
        (np.array([1e4000, 1, 1], dtype=np.longdouble), BadWeights, 0, "the weight is"),
        (["1", "2", "x"], NotNumbers, 2, "'x' is not a number"),
        ([1, 2, "x"], NotNumbers, 2, "'x' is text, but there was a number before"),
        ([[1, 1, 1]], WrongShape, None, "(1, 3)"),
        (1, WrongShape, None, "a int is not a column"),
    ],
)
def test_weights_that_weigh_nothing_sensible_are_refused(
    weight: Any, error: type[SteelyardError], row: int | None, words: str
) -> None:
    with pytest.raises(error) as caught:
        sy.assess(["a", "b", "a"], ["a", "b", "b"], weight=weight)
    assert words in str(caught.value)
    assert (caught.value.column, caught.value.row) == ("weight", row)


@pytest.mark.parametrize(
    ("weight", "occurred", "rows", "mass"),
    [
        ([2, 1, 0], 3, 2, 3),
        ([True, True, False], 2, 2, 2),
        (np.array([2, 1, 0], dtype=np.uint8), 3, 2, 3),
        ([2.0, 1.0, 0.0], 3, 2, 3),
        ([0.5, 1.0, 0.0], None, 2, 1.5),
        ([0.5, 1.0, 1.0], None, 3, 2.5),
    ],
)
def test_the_kind_of_weights_decides_and_not_their_type(
    weight: Any, occurred: int | None, rows: int, mass: float
) -> None:
    truth, said = ["a", "b", "a"], ["a", "b", "b"]
    sampled = sy.assess(truth, said, weight=weight)
    assert (sampled.n, sampled.confusion().sum()) == (rows, mass)
    if occurred is None:
        with pytest.raises(BadWeights, match=r"column 'weight', row 0: the weight is 0\.5, and frequency weights are"):
            sy.assess(truth, said, weight=weight, weight_kind="frequency")
        return
    counted = sy.assess(truth, said, weight=weight, weight_kind="frequency")
    assert (counted.n, counted.confusion().sum()) == (occurred, mass)


@pytest.mark.parametrize("weight", [[2, None, 3], pa.array([2, None, 3]), pd.Series([2, None, 3], dtype="Int64")])
@pytest.mark.parametrize("kind", ["sampling", "frequency"])
def test_weights_keep_their_kind_when_one_is_missing(weight: Any, kind: Any) -> None:
    cases = Validator(missing="drop", weight=weight, weight_kind=kind).validate(["a", "b", "b"], {"m": ["a", "b", "b"]})
    assert cases.counted is (kind == "frequency")
    assert cases.weight is not None
    assert cases.weight.tolist() == [2, 3]


@pytest.mark.parametrize(
    "by",
    [
        {"site": ["x", "y", "x", "y"], "sex": ["f", "f", "m", "m"]},
        pd.DataFrame({"site": ["x", "y", "x", "y"], "sex": ["f", "f", "m", "m"]}, index=[4, 3, 2, 1]),
        pl.DataFrame({"site": ["x", "y", "x", "y"], "sex": ["f", "f", "m", "m"]}),
    ],
)
def test_several_columns_are_crossed(by: Any) -> None:
    parts = sy.assess([0, 1, 0, 1], [0, 1, 1, 1], by=by).slices
    assert list(parts) == ["site=x, sex=f", "site=x, sex=m", "site=y, sex=f", "site=y, sex=m"]
    assert [part["accuracy"].value for part in parts.values()] == [1, 0, 1, 1]


def test_only_the_combinations_that_occur_are_parts() -> None:
    by = {"a": [10, 9, 10], "b": [True, True, False], "c": ["x", "x", "x"]}
    parts = sy.assess([0, 1, 1], [0, 1, 1], by=by).slices
    assert list(parts) == ["a=9, b=True, c=x", "a=10, b=False, c=x", "a=10, b=True, c=x"]
    assert sum(part.n for part in parts.values()) == 3


def test_parts_with_names_that_look_alike_stay_apart() -> None:
    by = {"a": ["1, b=2", "1"], "b": ["3", "2, b=3"]}
    parts = sy.assess([0, 1], [0, 1], by=by).slices
    assert [part.n for part in parts.values()] == [1, 1]


def test_many_columns_of_many_parts_do_not_run_over() -> None:
    rows = np.arange(3000)
    by = {f"c{k}": rows * (k + 1) for k in range(6)}
    parts = Validator(by=by).validate(rows % 2, {"m": rows % 2}).slice
    assert parts is not None
    assert len(parts.labels) == 3000
    assert parts.labels[7] == "c0=7, c1=14, c2=21, c3=28, c4=35, c5=42"


@pytest.mark.parametrize(
    ("by", "error"),
    [
        ({}, BadOption),
        ([0.5, 1.5], UnusableLabels),
        ({"a": {}}, WrongShape),
        ([[0, 1], [1, 0]], WrongShape),
        ({1: [0, 1], "1": [1, 0]}, DuplicateColumns),
        (pa.table([[0, 1], [1, 0]], names=["a", "a"]), DuplicateColumns),
        ({None: [0, 1]}, UnusableLabels),
    ],
)
def test_parts_that_are_none_are_refused(by: Any, error: type[SteelyardError]) -> None:
    with pytest.raises(error):
        sy.assess([0, 1], [0, 1], by=by)


@pytest.mark.parametrize("by", ["site", ["site"], ["site", "sex"], [0, 1, 0]])
def test_parts_and_clusters_are_columns_of_the_frame(by: Any) -> None:
    frame = pl.DataFrame(
        {
            "y": [0, 1, 1],
            "m": [0, 1, 0],
            "site": ["x", "y", "x"],
            "sex": ["f", "m", "m"],
            "who": [1, 1, 2],
            "w": [1, 2, 1],
        }
    )
    assessment = sy.assess(frame, truth="y", assigned="m", by=by, group="who", weight="w", weight_kind="frequency")
    assert sum(part.n for part in assessment.slices.values()) == assessment.n == 4
    assert assessment.tally.groups == (1, 2)


# --- missing values -------------------------------------------------------------------------------------------


GAPPY: dict[str, dict[str, Any]] = {
    "truth": {"truth": ["a", None, "b", "a"]},
    "labels": {"prediction": ["a", None, "b", "b"]},
    "memberships": {"prediction": {"a": [1, None, 0, 0], "b": [0, 1, 1, 1]}},
    "membership array": {"prediction": np.array([[1, 0], [np.nan, 1], [0, 1], [0, 1]])},
    "score": {"prediction": [0.1, np.nan, 0.9, 0.8], "event": "b"},
    "weight": {"weight": [1.0, np.nan, 1.0, 1.0]},
    "group": {"group": ["x", None, "y", "y"]},
    "by": {"by": ["x", None, "y", "y"]},
    "several by": {"by": {"s": ["x", None, "y", "y"], "t": ["u", "v", None, "v"]}},
}  # fmt: skip


@pytest.mark.parametrize("where", GAPPY)
def test_missing_values_are_refused_or_dropped_and_counted(where: str) -> None:
    given = {"truth": ["a", "b", "b", "a"], "prediction": ["a", "b", "b", "b"], **GAPPY[where]}
    truth = given.pop("truth")
    with pytest.raises(MissingValues, match="missing='drop'") as caught:
        sy.assess(truth, **given)
    assert caught.value.row == 1
    assessment = sy.assess(truth, **given, missing="drop")
    gaps = 2 if where == "several by" else 1
    assert (assessment.n, assessment.dropped) == (4 - gaps, gaps)
    assert assessment.confusion().sum() == 4 - gaps
    assert sum(part.n for part in assessment.slices.values()) in (0, 4 - gaps)


def test_dropping_is_the_same_as_leaving_out() -> None:
    truth, model = ["a", "b", "c", None, "b"], ["a", "b", None, "d", "a"]
    dropped = sy.assess(truth, model, missing="drop", by=["x", "x", "y", "z", "x"], group=[1, 2, 3, 4, 5])
    without = sy.assess(["a", "b", "b"], ["a", "b", "a"], by=["x", "x", "x"], group=[1, 2, 5])
    assert dropped.classes == without.classes == ("a", "b")
    assert dropped.tally.slices == without.tally.slices
    assert dropped.tally.groups == without.tally.groups
    assert dropped.confusion().tolist() == without.confusion().tolist()
    assert (dropped.dropped, without.dropped) == (2, 0)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"prediction": [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.6]]}, SumNotOne),
        ({"prediction": [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [-1, 2]]}, OutsideUnitInterval),
        ({"prediction": ["a", "b", "a", "c"], "scale": Scale(["a", "b"])}, UnknownLabel),
        ({"prediction": ["a", "b", "a", "a"], "weight": [1, 1, 1, -1]}, BadWeights),
    ],
)
def test_rows_are_counted_as_they_came_in(options: Any, error: type[SteelyardError]) -> None:
    with pytest.raises(error) as caught:
        sy.assess(["a", None, "b", "a"], **options, missing="drop")
    assert caught.value.row == 3
    assert "row 3" in str(caught.value)


def test_the_rows_that_were_kept_are_known() -> None:
    cases = Validator(missing="drop").validate(["a", None, "b"], {"m": ["a", "b", "b"], "n": ["a", "b", "a"]})
    assert cases.kept is not None
    assert (cases.kept.tolist(), cases.dropped, len(cases)) == ([0, 2], 1, 2)
    assert Validator(missing="drop").validate(["a", "b"], {"m": ["a", "b"]}).kept is None


def test_nothing_left_is_refused() -> None:
    with pytest.raises(EmptyInput, match="every row misses a value"):
        sy.assess(["a", None], [None, "b"], missing="drop")


# --- options and frames ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"missing": "ignore"}, "missing is 'ignore'"),
        ({"missing": None}, "missing is None"),
        ({"missing": ["drop"]}, "missing is ['drop']"),
        ({"threshold": "0.5"}, "the threshold '0.5' cannot be read"),
        ({"threshold": 0.5}, "threshold= is given, but no score"),
        ({"threshold": np.nan}, "threshold is no number"),
        ({"threshold": [0.5]}, "threshold is no number"),
        ({"scale": ["a", "b"]}, "scale is ['a', 'b']"),
        ({"scale": "ab"}, "Give scale=Scale"),
    ],
)
def test_options_outside_their_range_are_refused(options: Any, words: str) -> None:
    with pytest.raises(BadOption) as caught:
        sy.assess(["a", "b"], ["a", "b"], **options)
    assert words in str(caught.value)


def test_no_classifier_is_refused() -> None:
    with pytest.raises(EmptyInput, match="no classifier"):
        sy.compare(["a", "b"], {})


@pytest.mark.parametrize(
    ("frame", "truth", "error", "words"),
    [
        (pd.DataFrame({"grade": ["a"]}), "grad", UnknownColumn, "Did you mean 'grade'?"),
        (pd.DataFrame({"grade": ["a"]}), "zzz", UnknownColumn, "There are 'grade'"),
        (pd.DataFrame([["a", "b"]], columns=["y", "y"]), "y", DuplicateColumns, "two columns are called 'y'"),
        (pa.table([["a"], ["b"]], names=["y", "y"]), "y", DuplicateColumns, "2 columns are called 'y'"),
        (pa.table({}), "y", UnknownColumn, "There are none"),
        (pd.DataFrame({"y": [1, "a"]}), "y", UnreadableFile, "Pass only the columns that are needed"),
        (pl.LazyFrame({"y": ["a"]}), "y", UnreadableFile, "collect a lazy frame first"),
        ({"y": ["a"]}, "y", UnreadableFile, "a dict is neither a data frame nor a path"),
        (np.zeros((2, 2)), "y", UnreadableFile, "a ndarray is neither"),
        (pa.array(["a"]), "y", UnreadableFile, "neither a data frame"),
        (pl.Series(["a"]), "y", UnreadableFile, "the Series cannot be read as a table"),
    ],
)
def test_frames_that_do_not_hold_the_column_are_refused(
    frame: Any, truth: Any, error: type[SteelyardError], words: str
) -> None:
    with pytest.raises(error) as caught:
        sy.assess(frame, truth=truth, assigned=truth)
    assert words in str(caught.value)


@pytest.mark.parametrize("truth", [0, 1.5, ["grade"], ("grade",), b"grade"])
def test_a_column_is_named_by_text_alone(truth: Any) -> None:
    with pytest.raises(UnknownColumn, match="there is no column"):
        sy.assess(pd.DataFrame({"grade": ["a"]}), truth=truth, assigned="grade")


@pytest.mark.parametrize("option", ["truth", "assigned", "by"])
def test_a_name_that_cannot_be_written_names_no_column(option: str) -> None:
    frame = pa.table({"y": ["a", "b"], "p": ["a", "b"], "batch": [1, 2]})
    named: dict[str, Any] = {"truth": "y", "assigned": "p", "by": "batch", option: "\ud800"}
    with pytest.raises(UnknownColumn, match="there is no column"):
        sy.assess(frame, **named)


def test_parts_and_clusters_may_be_days_and_times(tmp_path: Path) -> None:
    early, late = datetime(2024, 1, 31), datetime(2024, 2, 1, 8, 30)
    hours = pa.array([late, early, late, early])
    frame = pa.table({"y": list("abab"), "p": list("abbb"), "hour": hours, "day": hours.cast(pa.date32())})
    frame = frame.append_column("coded", hours.cast(pa.date32()).dictionary_encode())
    write_parquet(frame.drop_columns("coded"), tmp_path / "some.parquet")
    days = ["2024-01-31", "2024-02-01"]
    for source in (frame, frame.to_pandas(), str(tmp_path / "some.parquet")):
        assert list(sy.assess(source, truth="y", assigned="p", by="day").slices) == days
        assert list(sy.assess(source, truth="y", assigned="p", by="hour").slices) == [days[0], "2024-02-01 08:30:00"]
        assert "clustered" in sy.assess(source, truth="y", assigned="p", group="day")["error"].method
    assert list(sy.assess(frame, truth="y", assigned="p", by="coded").slices) == days
    assert list(sy.assess(frame["y"], frame["p"], by=np.array(hours.cast(pa.date32()))).slices) == days
    with pytest.raises(UnusableLabels, match="date32"):
        sy.assess(frame, truth="day", assigned="day")


def test_parts_may_be_days_and_times_of_lists() -> None:
    truth, assigned = list("abab"), list("abbb")
    hours = [datetime(2024, 2, 1, 8, 30), datetime(2024, 1, 31)] * 2
    days = [hour.date() for hour in hours]
    for values in (days, tuple(days), np.array(days, object), pd.Series(days)):
        assert list(sy.assess(truth, assigned, by=values).slices) == ["2024-01-31", "2024-02-01"]
    for times in (hours, list(map(pd.Timestamp, hours)), np.array(hours, object)):
        assert list(sy.assess(truth, assigned, by=times).slices) == ["2024-01-31", "2024-02-01 08:30:00"]
    local = pd.Series(hours).dt.tz_localize("Europe/Berlin")
    assert sorted(sy.assess(truth, assigned, by=local).slices)[1] == "2024-02-01 08:30:00+0100"
    assert "clustered" in sy.assess(truth, assigned, group=days)["error"].method
    assert sy.assess(truth, assigned, by=[*days[:3], None], missing="drop").n == 3
    with pytest.raises(UnusableLabels, match="a date"):
        sy.assess(truth, assigned, by=[*days[:2], *hours[2:]])
    with pytest.raises(UnusableLabels, match="is a date"):
        sy.assess(days, assigned)


@pytest.mark.parametrize(
    ("unit", "late", "found"),
    [
        ("Y", "2024", ["2023", "2024"]),
        ("M", "2024-02", ["2024-01", "2024-02"]),
        ("W", "2024-02-01", ["2024-01-25", "2024-02-01"]),
        ("2D", "2024-02-01", ["2024-01-30", "2024-02-01"]),
        ("h", "2024-02-01T01", ["2024-02-01", "2024-02-01 01:00:00"]),
        ("15m", "2024-02-01T08:30", ["2024-02-01 08:15:00", "2024-02-01 08:30:00"]),
        ("25s", "1970-01-01T00:00:50", ["1970-01-01 00:00:25", "1970-01-01 00:00:50"]),
    ],
)
def test_times_of_numpy_may_count_in_any_unit(unit: str, late: str, found: list[str]) -> None:
    times = np.array([late] * 4, f"M8[{unit}]") - np.array([0, 1, 0, 1])
    assert list(sy.assess(list("abab"), list("abbb"), by=times).slices) == found
    times[0] = "NaT"
    assert sy.assess(list("abab"), list("abbb"), group=times, missing="drop").n == 3


def test_messages_name_the_columns_of_a_table() -> None:
    columns = (np.array([0.5, -1.0]), np.array([0.5, 2.0]))
    said = Prediction("model", columns=columns, class_names=("a", "b"), headings=("p_a", "p_b"))
    with pytest.raises(OutsideUnitInterval, match="column 'p_a', row 1"):
        Validator().validate(["a", "b"], {"model": said})
    with pytest.raises(UnknownLabel, match="column 'said', row 1"):
        Validator(Scale(["a", "b"]), headings={"model": "said"}).validate(["a", "b"], {"model": ["a", "z"]})


# --- published tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[1, 2, 3], [4, 5, 6]], "(2, 3)"),
        ([[1, 2], [3]], "numbers"),
        ([1, 2], "(2,)"),
        (5, "()"),
        ([[1, -2], [3, 4]], "row 0, column 1 is -2"),
        ([[1, 2], [np.nan, 4]], "row 1, column 0 is missing"),
        ([[1, np.inf], [3, 4]], "row 0, column 1 is inf"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        (None, "numbers"),
    ],
)
def test_a_table_of_counts_is_square_finite_and_not_negative(counts: Any, words: str) -> None:
    with pytest.raises(BadTable) as caught:
        sy.assess_table(counts)
    assert words in str(caught.value)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(EmptyInput, match="the table is empty"):
        sy.assess_table([[0, 0], [0, 0]])


def test_labels_that_share_nothing_with_the_truth_come_from_a_wrong_column() -> None:
    with pytest.raises(UnknownLabel, match="no assigned label is a true one: 'north', 'south' against 'no', 'yes'"):
        sy.assess(["no", "yes", "no"], ["north", "south", "south"])
    assert sy.assess(["no", "no"], ["yes", "yes"], scale=Scale(["no", "yes"]))["error"].value == 1


@pytest.mark.parametrize("measure", ["error", "kappa", "auc", "log_score"])
def test_a_row_that_occurred_not_once_is_no_row_and_makes_no_cluster(measure: str) -> None:
    truth, score = [0, 1, 0, 1, 1, 0, 1], [0.2, 0.7, 0.6, 0.4, 0.9, 0.1, 0.8]
    weight, group = [1, 2, 1, 0, 1, 1, 0], ["a", "a", "b", "c", "b", "d", "c"]
    kept = [place for place, times in enumerate(weight) if times]
    options: dict[str, Any] = {"event": 1, "measures": [measure], "weight_kind": "frequency"}
    whole = sy.assess(truth, score, weight=weight, group=group, **options)
    without = sy.assess(
        *[[column[place] for place in kept] for column in (truth, score)],
        weight=[weight[place] for place in kept],
        group=[group[place] for place in kept],
        **options,
    )
    assert whole[measure] == without[measure]


@pytest.mark.parametrize("given", ["arrays", "frame"])
@pytest.mark.parametrize("option", ["weight", "group", "by"])
def test_whatever_stands_beside_the_truth_must_have_its_index(option: str, given: str) -> None:
    """A column of pandas in another order is refused, also beside a frame."""
    index, back = [7, 8, 9, 10], [10, 9, 8, 7]
    truth, said = pd.Series(list("aabb"), index), pd.Series(list("abbb"), index)
    beside = pd.Series([1, 1, 2, 2], back)
    options: dict[str, Any] = {option: beside}
    with pytest.raises(MisalignedRows) as told:
        if given == "arrays":
            sy.assess(truth, said, **options)
        else:
            sy.assess(pd.DataFrame({"y": truth, "p": said}), truth="y", assigned="p", **options)
    assert told.value.column == option
    options = {option: beside[::-1]}
    assert sy.assess(truth, said, **options).n > 0


def test_rows_that_weigh_nothing_are_no_rows() -> None:
    """Neither in clusters nor in parts, and whether weights count rows or say what these stand for."""
    truth, said, group, part = [0, 1, 0, 1, 1, 0], [0.1, 0.7, 0.6, 0.8, 0.4, 0.2], [1, 1, 2, 2, 3, 3], list("aaaabb")
    for weight, kind in (([1.5, 0.5, 1.0, 2.0, 0.0, 0.0], "sampling"), ([1, 2, 1, 2, 0, 0], "frequency")):
        options: dict[str, Any] = {"weight_kind": kind}
        found = sy.assess(truth, said, weight=weight, group=group, by=part, **options)
        other = sy.assess(truth[:4], said[:4], weight=weight[:4], group=group[:4], by=part[:4], **options)
        assert list(found.slices) == ["a"]
        for column in ("value", "low", "high", "se"):
            assert found.table()[column] == pytest.approx(other.table()[column], nan_ok=True)


def test_names_of_columns_beside_arrays_are_refused() -> None:
    """They would do nothing."""
    with pytest.raises(BadOption, match="assigned= names columns, but arrays were given"):
        sy.assess(["a", "b"], ["a", "b"], assigned="x")
    with pytest.raises(BadOption, match="membership= names columns, but arrays were given"):
        sy.assess(["a", "b"], ["a", "b"], membership="x")


def test_the_column_of_a_score_that_is_given_by_class_is_named() -> None:
    """As that of any other column of a frame."""
    frame = pd.DataFrame({"ill": ["yes", "no"], "votes": [3, 1]})
    with pytest.raises(OutsideUnitInterval) as told:
        sy.assess(frame, truth="ill", membership={"yes": "votes"})
    assert told.value.column == "votes"


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_parts_a_billionth_of_a_second_apart_are_two(zone: str | None) -> None:
    """Lists of pandas' times lost what Python's own do not have, so that two parts became one."""
    times = [pd.Timestamp(f"2024-02-01 08:30:00.00000000{digit}", tz=zone) for digit in (1, 2, 0)]
    in_words = list(sy.assess([0, 1, 1], [0, 1, 1], by=pd.Series(times)).slices)
    assert len(in_words) == 3
    for values in (times, tuple(times), np.array(times, object)):
        assert list(sy.assess([0, 1, 1], [0, 1, 1], by=values).slices) == in_words

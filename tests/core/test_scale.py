"""The classes and their order, and classes cut from a continuous value."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import Continuum, Scale
from steelyard.core.errors import (
    BadBoundaries,
    BadDeviation,
    BadOption,
    DuplicateClasses,
    NotNumbers,
    OneClass,
    OutsideContinuum,
    SteelyardError,
    UnknownLabel,
    UnusableLabels,
    WrongShape,
    quoted,
)


class Grade(StrEnum):
    LOW = "low"
    HIGH = "high"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize(
    ("classes", "plain"),
    [
        (["b", "a"], ("b", "a")),
        (("b", "a"), ("b", "a")),
        (np.array(["b", "a"]), ("b", "a")),
        (np.array([3, 1], dtype=">i2"), (3, 1)),
        (pd.Series(["b", "a"], index=[7, 3]), ("b", "a")),
        (pd.Index([3, 1]), (3, 1)),
        (pl.Series([True, False]), (True, False)),
        (pa.array(["b", "a"]), ("b", "a")),
        ([2.0, -0.0], (2, 0)),
        ([np.float32(2), np.int8(1)], (2, 1)),
        ([Grade.LOW, Grade.HIGH], ("low", "high")),
        ([Level.LOW, Level.HIGH], (1, 2)),
        ([False, 1], (0, 1)),
        (["", " "], ("", " ")),
        (["é", "e\u0301"], ("é", "e\u0301")),
        ([2**64 - 1, -(2**63)], (2**64 - 1, -(2**63))),
    ],
    ids=str,
)
def test_classes_keep_their_order_and_lose_their_wrapping(classes: Any, plain: tuple[Any, ...]) -> None:
    scale = Scale(classes)
    assert scale.classes == plain
    assert [type(label) for label in scale.classes] == [type(label) for label in plain]
    assert [scale.code(label) for label in classes] == list(range(len(plain)))


@pytest.mark.parametrize(
    ("classes", "error", "words"),
    [
        ([], OneClass, "not 0"),
        (["a"], OneClass, "not 1"),
        (["a", "b", "a"], DuplicateClasses, "'a' stands on the scale twice"),
        ([1, 1.0], DuplicateClasses, "class 1 "),
        ([1, True], DuplicateClasses, "class 1 "),
        (["a", 1], UnusableLabels, "some labels are text ('a') and some are numbers (1)"),
        (["1", 1], UnusableLabels, "text"),
        ("ab", UnusableLabels, "'ab' is not a list of classes"),
        ({"a", "b"}, UnusableLabels, "is not a list"),
        (None, UnusableLabels, "None is not a list"),
        (7, UnusableLabels, "7 is not a list"),
        (["a", None], UnusableLabels, "None cannot be a class label"),
        (["a", b"b"], UnusableLabels, "b'b' cannot be"),
        ([0.5, 1.0], UnusableLabels, "0.5 cannot be"),
        ([float("nan"), 1], UnusableLabels, "nan cannot be"),
        ([float("inf"), 1], UnusableLabels, "inf cannot be"),
        ([2**64, 1], UnusableLabels, "64 bits"),
        ([10**5000, 1], UnusableLabels, "<int> cannot be"),
        ([["a"], ["b"]], UnusableLabels, "['a'] cannot be"),
        (np.eye(2), UnusableLabels, "cannot be a class label"),
        (["a", "\ud800"], UnusableLabels, r"'\ud800' cannot be"),
        (["a", pd.Timestamp("2020-01-01")], UnusableLabels, "Timestamp"),
    ],
)
def test_what_cannot_be_a_scale_is_refused(classes: Any, error: type[SteelyardError], words: str) -> None:
    with pytest.raises(error) as caught:
        Scale(classes)
    assert words in str(caught.value)
    assert caught.value.mend


@pytest.mark.parametrize(
    ("classes", "event"),
    [([0, 1], 1), ([1, 0], 1), ([False, True], True), ([True, False], True), ([0, 1, 2], None), (["0", "1"], None)],
)
def test_zero_and_one_bring_their_event(classes: list[Any], event: Any) -> None:
    found = Scale(classes).event
    assert found == event
    assert type(found) is type(event)


@pytest.mark.parametrize("event", ["yes", np.str_("yes"), pa.scalar("yes")])
def test_the_event_is_a_place_on_the_scale(event: Any) -> None:
    scale = Scale(["no", "yes"], event)
    assert (scale.event, scale.event_code) == ("yes", 1)
    assert Scale(["no", "yes"]).event_code is None


def test_an_event_can_be_named_against_the_custom() -> None:
    assert Scale([0, 1], event=0).event_code == 0


@pytest.mark.parametrize(
    ("classes", "label", "words"),
    [
        (["no", "yes"], "yse", "Did you mean 'yes'?"),
        (["no", "yes"], "perhaps", "Check the spelling"),
        (["no", "yes"], 1, "The classes are text, this is a number"),
        ([0, 1], "1", "The classes are numbers, this is text"),
        ([0, 1], 2, "2 is not one of the classes 0, 1"),
        (list(range(20)), 30, "and 12 more"),
    ],
)
def test_a_label_that_is_not_there_is_named(classes: list[Any], label: Any, words: str) -> None:
    for call in (Scale(classes).code, Scale(classes).label, lambda label: Scale(classes, label)):
        with pytest.raises(UnknownLabel, match="is not one of the classes") as caught:
            call(label)
        assert words in str(caught.value)


def test_scales_are_equal_by_classes_and_event() -> None:
    assert Scale(["a", "b"], ordered=False) == Scale(["a", "b"])
    assert Scale(["a", "b"]) != Scale(["b", "a"])
    assert Scale(["a", "b"]) != Scale(["a", "b"], "a")
    assert hash(Scale(["a", "b"])) == hash(Scale(["a", "b"]))
    others: list[Scale] = [Continuum([0], ["a", "b"]), Continuum([1], ["a", "b"], sd=1), Scale(["a", "b", "c"])]
    assert others.count(Scale(["a", "b"])) == 0
    assert others.count(Continuum([1], ["a", "b"])) == 1  # how sure a value is belongs to the rows
    assert others.count(Continuum([0], ["a", "b"])) == 1


# --- classes from a continuum ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("closed", "codes"), [("left", [0, 1, 1, 2, 2]), ("right", [0, 0, 1, 1, 2])])
def test_a_boundary_belongs_to_the_closed_side(closed: Any, codes: list[int]) -> None:
    water = Continuum([1, 2], ["low", "mid", "high"], closed=closed)
    assert list(water.boundaries) == [-np.inf, 1, 2, np.inf]
    assert water.cut([0.5, 1, 1.5, 2, 2.5]).tolist() == codes


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f4", "longdouble"])
@pytest.mark.parametrize(("closed", "codes"), [("left", [0, 1, 2, 2]), ("right", [0, 0, 1, 2])])
def test_a_boundary_is_where_it_is_in_any_precision(kind: str, closed: Any, codes: list[int]) -> None:
    """In double precision, 0.7 of single precision is less than 0.7, and 0.1 of it is more than 0.1."""
    cut = Continuum([0.1, 0.7, 1e6], ["low", "mid", "high", "top"], closed=closed)
    assert cut.cut(np.array([0, 0.1, 0.7, 2], dtype=kind)).tolist() == codes


@pytest.mark.parametrize("value", [65, np.uint8(65), np.int64(65)])
def test_whole_numbers_are_held_against_boundaries_as_they_are(value: Any) -> None:
    assert Continuum([64.99, 65.01], ["low", "mid", "high"]).cut(np.array([value])).tolist() == [1]


@pytest.mark.parametrize("closed", ["left", "right"])
def test_infinite_values_belong_to_the_open_ends(closed: Any) -> None:
    assert Continuum([0], ["low", "high"], closed=closed).cut([-np.inf, np.inf]).tolist() == [0, 1]


@pytest.mark.parametrize(("closed", "inside", "outside"), [("left", 0.0, 2.0), ("right", 2.0, 0.0)])
def test_finite_ends_are_closed_on_one_side_too(closed: Any, inside: float, outside: float) -> None:
    bounded = Continuum([0, 1, 2], ["low", "high"], closed=closed)
    assert bounded.cut([inside, 1.5]).tolist() == [int(inside > 0), 1]
    for value in (outside, -1, 3, np.inf, -np.inf):
        with pytest.raises(OutsideContinuum, match="outside") as caught:
            bounded.cut([0.5, np.nan, value])
        assert caught.value.row == 2


@pytest.mark.parametrize(
    "values", [[0.0, np.nan, 2.0], [0, None, 2], pa.array([0, None, 2]), pd.Series([0, pd.NA, 2], dtype="Int64")]
)
def test_what_is_missing_is_in_no_class(values: Any) -> None:
    assert Continuum([1], ["low", "high"]).cut(values).tolist() == [0, -1, 1]


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.floats(-5, 5), st.sampled_from(["left", "right"]))
def test_one_boundary_is_a_comparison(values: list[float], boundary: float, closed: Any) -> None:
    codes = Continuum([boundary], ["low", "high"], closed=closed).cut(values)
    expected = [value >= boundary if closed == "left" else value > boundary for value in values]
    assert codes.tolist() == expected


@pytest.mark.parametrize(
    "boundaries",
    [[2, 1], [1, 1], [1], [1, 2, 3], [], [1, np.nan], [-np.inf, 1], ["1", "2"], [None, 1], None, 5, [[1], [2]], "12"],
)
def test_boundaries_that_do_not_increase_are_refused(boundaries: Any) -> None:
    with pytest.raises(BadBoundaries, match="do not cut 3 classes") as caught:
        Continuum(boundaries, ["low", "mid", "high"])
    assert quoted(boundaries) in str(caught.value)
    assert "Give 2 increasing numbers" in caught.value.mend
    with pytest.raises(BadBoundaries, match="Give one number, or one more at each end"):
        Continuum([60, 65], classes=["dry", "wet"])


@pytest.mark.parametrize("sd", [-0.1, np.nan, np.inf, "0.2", 10**400, object()])
def test_a_deviation_is_finite_and_not_negative(sd: Any) -> None:
    with pytest.raises(BadDeviation, match="sd is"):
        Continuum([1], ["low", "high"], sd=sd)


@pytest.mark.parametrize("sd", [None, 0, 0.22, np.float32(0.5)])
def test_a_deviation_is_kept(sd: Any) -> None:
    kept = Continuum([1], ["low", "high"], sd=sd).sd
    assert kept == sd
    assert kept is None or type(kept) is float


@pytest.mark.parametrize("closed", ["both", None, ["left"], np.array(["left", "right"])])
def test_a_side_is_left_or_right(closed: Any) -> None:
    with pytest.raises(BadOption, match="closed is"):
        Continuum([1], ["low", "high"], closed=closed)


@pytest.mark.parametrize(
    ("values", "error"), [(["a"], NotNumbers), ([[0.5]], WrongShape), (np.array(["2020"], "M8[D]"), NotNumbers)]
)
def test_only_numbers_are_cut(values: Any, error: type[SteelyardError]) -> None:
    with pytest.raises(error):
        Continuum([1], ["low", "high"]).cut(values)

"""Classes from a continuum, as a user meets them: what can be said about measured values, and what comes of it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import steelyard as sy
from steelyard import (
    Assessment,
    Continuum,
    Scale,
    all_measures,
    assess,
    assess_table,
    assess_tally,
    compare,
    find,
    measure,
)
from steelyard.cli import main
from steelyard.cli.requirements import read_requirement
from steelyard.core.errors import (
    BadBoundaries,
    BadDeviation,
    BadOption,
    MissingValues,
    NotNumbers,
    OutsideContinuum,
    SteelyardError,
    UndefinedValue,
    UnequalLengths,
    UnknownColumn,
    UnknownLabel,
    UnknownMeasure,
    UnlikeTallies,
    WrongShape,
)
from steelyard.core.scale import LARGEST
from steelyard.inference.contrasts.random_signs import difference_bounds, difference_p
from steelyard.inference.tails import Tails
from steelyard.states.statistics import CONTINUUM, Patterns

ENTRIES = [entry for entry in all_measures().values() if entry.statistic is CONTINUUM]
NAMES = {entry.name for entry in ENTRIES}
USUAL = {entry.name for entry in ENTRIES if not entry.special}
NEEDS_NOTHING = {"apparent_sqerr"}
NEEDS_SD = {
    *("adjusted_error", "label_error", "adjusted_sqerr", "label_sqerr", "true_error_low", "true_error_high"),
    *("true_sqerr_low", "true_sqerr_high"),
}
NEEDS_BLUR = {"smoothed_error", "minimal_error", "smoothed_sqerr", "minimal_sqerr"}
NEEDS_MODEL = {"guarded_error", "guarded_sqerr", "model_minimal_error", "model_minimal_sqerr"}

WATER = Continuum([65.0], ["dry", "wet"])
GRADES = Continuum([0.0, 0.6], ["low", "mid", "high"])


def drawn(rows: int = 80, seed: int = 0) -> tuple[Any, Any, Any]:
    """Measured values, what a model expects, and the grades that a classifier assigned."""
    random = np.random.default_rng(seed)
    expected = 1.5 * random.standard_normal(rows)
    value = expected + random.normal(0, 0.5, rows)
    assigned = np.array(GRADES.classes)[GRADES.cut(expected + random.normal(0, 0.2, rows))]
    return value, expected, assigned


VALUE, EXPECTED, ASSIGNED = drawn()
KNOWN: dict[str, Any] = {"sd": 0.4, "sd_response": 0.3, "response": (EXPECTED, 0.3)}


def of_grades(**options: Any) -> Assessment:
    return assess(VALUE, ASSIGNED, **{"scale": GRADES, **KNOWN, **options})


def shown(found: Any) -> set[str]:
    return {row["measure"] for row in found.table()} & NAMES


# --- which measures there are ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, NEEDS_NOTHING),
        ({"sd": 0.4}, NEEDS_NOTHING | NEEDS_SD),
        ({"sd_response": 0.3}, NEEDS_NOTHING | NEEDS_BLUR),
        ({"sd": 0.4, "sd_response": 0.3}, NEEDS_NOTHING | NEEDS_SD | NEEDS_BLUR),
        (KNOWN, NEEDS_NOTHING | NEEDS_SD | NEEDS_BLUR | NEEDS_MODEL),
    ],
    ids=["nothing", "sd", "sd_response", "both", "all"],
)
def test_all_that_can_be_computed_is_computed_and_nothing_else(known: dict[str, Any], expected: set[str]) -> None:
    assert shown(assess(VALUE, ASSIGNED, scale=GRADES, **known)) == expected
    both = compare(VALUE, {"a": ASSIGNED, "b": np.roll(ASSIGNED, 1)}, scale=GRADES, **known)
    assert shown(both) == expected


def test_what_is_for_a_special_purpose_is_computed_if_asked() -> None:
    found = of_grades(sd=0.2)
    assert shown(found) == USUAL
    for name in NAMES - USUAL:
        assert math.isfinite(found[name].value), name


def test_no_measure_of_a_continuum_is_left_out_here() -> None:
    assert NEEDS_NOTHING | NEEDS_SD | NEEDS_BLUR | NEEDS_MODEL == USUAL


@pytest.mark.parametrize(
    ("name", "known", "need"),
    [
        ("label_error", {}, "sd"),
        ("smoothed_error", {"sd": 0.4}, "sd_response"),
        ("pmc-hat", {"sd": 0.4}, "sd_response"),
        ("guarded_error", {"sd": 0.4, "sd_response": 0.3}, "response"),
        ("guarded_error", {"response": (EXPECTED, 0.3)}, "sd"),
        ("model_error", {"sd": 0.4}, "response"),
    ],
)
def test_what_cannot_be_computed_says_what_it_needs(name: str, known: dict[str, Any], need: str) -> None:
    with pytest.raises(UnknownMeasure, match=rf"needs {need}\. Give ") as told:
        assess(VALUE, ASSIGNED, scale=GRADES, measures=[name], **known)
    assert find(name).name in str(told.value)
    assert f"{need}=" in told.value.mend
    later = assess(VALUE, ASSIGNED, scale=GRADES, **known)
    with pytest.raises(UnknownMeasure, match=f"needs {need}"):
        later[name]


def test_labels_cannot_be_judged_as_measured_values() -> None:
    with pytest.raises(UnknownMeasure, match=r"label_error needs a truth that was measured.*scale=Continuum"):
        assess(["a", "b"], ["a", "b"], measures=["label_error"])
    with pytest.raises(UnknownMeasure, match="needs a truth that was measured"):
        assess(["a", "b"], ["a", "b"])["label_error"]
    with pytest.raises(UnknownMeasure, match="needs a truth that was measured"):
        assess_table([[3, 1], [1, 3]], scale=WATER)["apparent_sqerr"]
    assert not shown(assess(["a", "b"], ["a", "b"]))


@pytest.mark.parametrize("name", ["sd", "sd_response", "response"])
@pytest.mark.parametrize("scale", [None, Scale(["a", "b"])])
def test_what_is_said_of_measured_values_needs_a_continuum(name: str, scale: Scale | None) -> None:
    value: dict[str, Any] = {"sd": 0.1, "sd_response": 0.1, "response": ([0.1, 0.2], 0.3)}
    with pytest.raises(BadOption, match=rf"{name} is given, but the truth was not measured.*scale=Continuum"):
        assess(["a", "b"], ["a", "b"], scale=scale, **{name: value[name]})


def test_the_apparent_error_is_the_error() -> None:
    found = of_grades()
    assert find("apparent_error") is find("erc") is find("error")
    assert found["apparent_error"] == found["erc"] == found["error"]
    assert found["error"].value == pytest.approx(np.mean(np.array(GRADES.classes)[GRADES.cut(VALUE)] != ASSIGNED))


def test_the_symbols_of_the_paper_are_other_names() -> None:
    assert find("err_data") is find("label_error")
    assert find("erc_a") is find("adjusted_error")
    assert find("pmc_hat") is find("pmc-hat") is find("smoothed_error")
    assert find("pmc_min_hat") is find("pmc_min-hat") is find("minimal_error")
    assert find("sqerc") is find("apparent_sqerr")


def test_measures_are_listed_with_what_they_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures", "--json"]) == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(listed) >= NAMES
    assert {listed[name]["of"] for name in NAMES} == {"continuum"}
    computed = {
        "apparent_sqerr": "with Continuum",
        "label_error": "with sd",
        "smoothed_error": "with sd_response",
        "guarded_error": "with sd and response",
        "apparent_rmse": "if asked",
    }
    assert {name: listed[name]["computed"] for name in computed} == computed


def test_they_speak_of_all_classes_together() -> None:
    found = of_grades()
    for part in ("low", "macro"):
        with pytest.raises(UnknownMeasure, match="It speaks of all classes together"):
            found["label_error", part]


# --- boundaries and names of classes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("boundaries", "closed", "expected"),
    [
        ([0, 0.6], "left", ("below 0", "0 to 0.6", "0.6 and above")),
        ([0, 0.6], "right", ("up to 0", "0 to 0.6", "above 0.6")),
        ([65], "right", ("up to 65", "above 65")),
        ([-math.inf, 0, 0.6, math.inf], "left", ("below 0", "0 to 0.6", "0.6 and above")),
        ([0.1 + 0.2, 1], "left", ("below 0.3", "0.3 to 1", "1 and above")),
    ],
)
def test_classes_without_names_are_named_after_their_intervals(
    boundaries: Any, closed: Any, expected: tuple[str, ...]
) -> None:
    scale = Continuum(boundaries, closed=closed)
    assert scale.classes == expected
    assert scale.named_after_intervals
    names = np.array(expected)[scale.cut([-5, 100])]
    assert assess([-5, 100], names, scale=scale).classes == expected


def test_a_value_on_a_boundary_is_where_the_names_say() -> None:
    for closed, code in (("left", 1), ("right", 0)):
        found = assess([65, 60, 70], [code, 0, 1], scale=Continuum([65], [0, 1], closed=closed), sd=0)  # type: ignore[arg-type]
        assert found["error"].value == found["apparent_sqerr"].value == 0


def test_classes_are_named_after_assigned_labels_in_the_order_of_what_was_measured() -> None:
    found = assess(VALUE, ASSIGNED, scale=Continuum([0, 0.6]), sd=0.4)
    assert found.classes == ("low", "mid", "high")
    assert any("classes in the order of what was measured: low < mid < high" in note for note in found.notes)
    assert "name them to be sure" in str(found)
    named = assess(VALUE, ASSIGNED, scale=GRADES, sd=0.4)
    assert not any("order of what was measured" in note for note in named.notes)
    for name in ("error", "weighted_kappa", "adjusted_error", "apparent_sqerr"):
        assert found[name].value == named[name].value
        assert found[name].note == named[name].note == ""


def test_whole_numbers_are_taken_in_their_order() -> None:
    codes = GRADES.cut(EXPECTED)
    found = assess(VALUE, 10 * (2 - codes), scale=Continuum([0, 0.6]))
    assert found.classes == (0, 10, 20)
    assert found["error"].value > 0.5  # since 20 stands for the lowest class here, and should not
    assert assess(VALUE, 10 * codes, scale=Continuum([0, 0.6])).classes == (0, 10, 20)
    assert assess(VALUE, EXPECTED > 0.3, scale=Continuum([0.3])).classes == (False, True)


def test_several_classifiers_name_the_classes_together() -> None:
    few = np.where(ASSIGNED == "mid", "high", ASSIGNED)
    both = compare(VALUE, {"few": few, "all": ASSIGNED}, scale=Continuum([0, 0.6]))
    assert both.tally.scale.classes == ("low", "mid", "high")
    with pytest.raises(UnknownLabel, match=r"cut 3 classes, and the classifiers know .*'low'"):
        assess(VALUE, few, scale=Continuum([0, 0.6]))


@pytest.mark.parametrize("labels", [["a"], ["a", "b"], ["a", "b", "c", "d"], [0, 1, 2, 3]])
def test_labels_that_are_too_few_or_too_many_cannot_name_the_classes(labels: list[Any]) -> None:
    assigned = np.array(labels)[np.arange(len(VALUE)) % len(labels)]
    with pytest.raises(UnknownLabel, match=r"the boundaries cut 3 classes.*classes=\[\.\.\.\]"):
        assess(VALUE, assigned, scale=Continuum([0, 0.6]))


def test_some_names_of_intervals_are_enough() -> None:
    scale = Continuum([0, 0.6])
    found = assess(VALUE, ["below 0"] * len(VALUE), scale=scale)
    assert found.classes == scale.classes


@pytest.mark.parametrize("order", [["low", "mid", "high"], ["high", "low", "mid"]])
def test_memberships_by_name_may_come_in_any_order(order: list[str]) -> None:
    shares = {name: np.where(name == ASSIGNED, 0.8, 0.1) for name in order}
    for scale in (GRADES, Continuum([0, 0.6])):
        found = assess(VALUE, shares, scale=scale, sd=0.4)
        assert found.classes == ("low", "mid", "high")
        for name in ("error", "adjusted_error", "apparent_sqerr"):
            assert found[name].value == pytest.approx(of_grades()[name].value)


def test_memberships_without_names_are_in_the_order_of_the_intervals() -> None:
    shares = np.stack([np.where(name == ASSIGNED, 0.8, 0.1) for name in GRADES.classes], axis=1)
    found = assess(VALUE, shares, scale=Continuum([0, 0.6]), sd=0.4)
    assert found.classes == ("below 0", "0 to 0.6", "0.6 and above")
    assert found["apparent_sqerr"].value == pytest.approx(of_grades()["apparent_sqerr"].value)


@pytest.mark.parametrize("boundaries", [[1, 0], [0, 0], [], [math.nan], "12", None, [None], [math.inf]])
def test_boundaries_increase(boundaries: Any) -> None:
    with pytest.raises(BadBoundaries, match=r"Give \d?\s?increasing numbers"):
        Continuum(boundaries)


def test_values_beyond_finite_ends_are_in_no_class() -> None:
    ends = Continuum([-1, 0, 0.6, 2], ["low", "mid", "high"])
    first = int(np.argmax((VALUE < -1) | (VALUE >= 2)))
    with pytest.raises(OutsideContinuum, match=r"outside -1\.0 to 2\.0.*extend=True") as told:
        assess(VALUE, ASSIGNED, scale=ends, sd=0.4)
    assert told.value.row == first
    extended = Continuum([-1, 0, 0.6, 2], ["low", "mid", "high"], extend=True)
    assert extended == GRADES
    assert assess(VALUE, ASSIGNED, scale=extended, sd=0.4)["label_error"] == of_grades()["label_error"]


def test_beyond_finite_ends_a_response_is_in_no_class_either() -> None:
    finite, open_ended = (Continuum(ends, ["a", "b"]) for ends in ([0, 1, 2], [1]))
    found = [assess([0.1, 1.5], ["a", "b"], scale=scale, sd=1)["label_error"].value for scale in (finite, open_ended)]
    assert found[0] > found[1]


# --- what can be said of values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "same",
    [
        *(0.4, np.float32(0.4), Fraction(2, 5), np.array(0.4)),
        *([0.4] * 80, np.full(80, 0.4), pd.Series([0.4] * 80), pa.array([0.4] * 80), pl.Series([0.4] * 80)),
    ],
    ids=lambda same: type(same).__module__ + "." + type(same).__name__,
)
def test_a_deviation_is_one_number_or_one_a_row(same: Any) -> None:
    for option, name in (("sd", "label_error"), ("sd_response", "smoothed_error")):
        found, expected = (of_grades(**{option: deviation})[name].value for deviation in (same, 0.4))
        assert found == pytest.approx(expected, rel=1e-6)


def test_the_deviation_of_the_scale_stands_in_where_none_is_given() -> None:
    scale = Continuum([0.0, 0.6], ["low", "mid", "high"], sd=0.4)
    assert assess(VALUE, ASSIGNED, scale=scale)["label_error"] == of_grades()["label_error"]
    told = assess(VALUE, ASSIGNED, scale=scale, sd=0.2)["label_error"]
    assert told == of_grades(sd=0.2)["label_error"]
    by_row = Continuum([0.0, 0.6], ["low", "mid", "high"], sd=np.full(80, 0.4))
    assert assess(VALUE, ASSIGNED, scale=by_row)["label_error"] == of_grades()["label_error"]


def test_deviations_that_differ_from_row_to_row_are_each_for_their_row() -> None:
    sd = np.linspace(0, 1, 80)
    found = of_grades(sd=sd)
    alone = [of_grades(sd=one)["label_error"].value for one in (0.0, 1.0)]
    assert alone[0] == 0 < found["label_error"].value < alone[1]
    singles = [slice(row, row + 1) for row in range(80)]
    rows = [assess(VALUE[one], ASSIGNED[one], scale=GRADES, sd=sd[one])["label_error"].value for one in singles]
    assert found["label_error"].value == pytest.approx(np.mean(rows))


@pytest.mark.parametrize("name", ["sd", "sd_response"])
@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, "0.2", object(), {"a": 1}, 10**400])
def test_a_deviation_is_a_number_that_is_not_negative(name: str, bad: Any) -> None:
    with pytest.raises(BadDeviation, match=rf"{name} is .*A standard deviation is a finite number, 0 or above"):
        of_grades(**{name: bad})


@pytest.mark.parametrize("name", ["sd", "sd_response"])
@pytest.mark.parametrize("bad", [-0.25, math.inf])
def test_a_bad_deviation_is_named_by_its_row(name: str, bad: float) -> None:
    column = np.full(80, 0.4)
    column[7] = bad
    with pytest.raises(BadDeviation, match=rf"column '{name}', row 7: it is {bad}\. A standard deviation") as told:
        of_grades(**{name: column})
    assert told.value.row == 7


@pytest.mark.parametrize("name", ["sd", "sd_response"])
@pytest.mark.parametrize("rows", [1, 79, 81])
def test_a_column_of_deviations_is_as_long_as_the_values(name: str, rows: int) -> None:
    with pytest.raises(UnequalLengths, match=rf"column '{name}': {rows} rows, but 'truth' has 80"):
        of_grades(**{name: np.full(rows, 0.4)})


def test_a_column_of_deviations_holds_numbers() -> None:
    with pytest.raises(NotNumbers, match="column 'sd', row 0: 'a' is not a number"):
        of_grades(sd=["a"] * 80)
    with pytest.raises(WrongShape, match="column 'sd'"):
        of_grades(sd=np.ones((80, 2)))


def test_what_is_missing_is_named_or_dropped() -> None:
    holes: dict[str, Any] = {
        "sd": [0.4 if row != 3 else None for row in range(80)],
        "sd_response": np.where(np.arange(80) == 5, np.nan, 0.3),
        "response": (np.where(np.arange(80) == 9, np.nan, EXPECTED), np.where(np.arange(80) == 11, np.nan, 0.3)),
    }
    for (name, column), row in zip(holes.items(), (3, 5, 9), strict=True):
        with pytest.raises(MissingValues, match=rf"column '{name}', row {row}: .*missing='drop'"):
            of_grades(**{name: column})
    with pytest.raises(MissingValues, match="the sd of response', row 11"):
        of_grades(response=(EXPECTED, holes["response"][1]))
    found = of_grades(**holes, missing="drop")
    assert (found.n, found.dropped) == (76, 4)
    kept = np.setdiff1d(np.arange(80), [3, 5, 9, 11])
    sure: dict[str, Any] = {"sd": 0.4, "sd_response": 0.3, "response": (EXPECTED[kept], 0.3)}
    expected = assess(VALUE[kept], ASSIGNED[kept], scale=GRADES, **sure)
    for name in USUAL:
        assert found[name] == expected[name]


def test_a_missing_value_is_named_or_dropped() -> None:
    value = np.where(np.arange(80) == 4, np.nan, VALUE)
    with pytest.raises(MissingValues, match="column 'truth', row 4"):
        assess(value, ASSIGNED, scale=GRADES, **KNOWN)
    assert assess(value, ASSIGNED, scale=GRADES, missing="drop", **KNOWN).dropped == 1


def test_measured_values_are_finite_numbers() -> None:
    for bad in (math.inf, -math.inf):
        value = np.where(np.arange(80) == 4, bad, VALUE)
        with pytest.raises(NotNumbers, match=rf"column 'truth', row 4: {bad} was measured. Measured values are finite"):
            assess(value, ASSIGNED, scale=GRADES)
    with pytest.raises(NotNumbers, match="'x' is not a number"):
        assess(["x"] * 80, ASSIGNED, scale=GRADES)


def test_what_cannot_be_squared_is_refused() -> None:
    large = 10 * LARGEST
    for attempt in (
        lambda: assess(VALUE * large, ASSIGNED, scale=GRADES),
        lambda: of_grades(sd=large),
        lambda: of_grades(sd=np.full(80, large)),
        lambda: of_grades(response=(EXPECTED * large, 0.3)),
        lambda: Continuum([large]),
    ):
        with pytest.raises(SteelyardError, match="rescale them"):
            attempt()
    found = assess(VALUE * LARGEST / 10, ASSIGNED, scale=Continuum([0, 0.06 * LARGEST], GRADES.classes), sd=LARGEST)
    assert all(math.isfinite(found[name].high) for name in shown(found))


@pytest.mark.parametrize(
    "response",
    [EXPECTED, (EXPECTED,), (EXPECTED, 0.3, 0.3), 5, "model", {"mean": EXPECTED, "sd": 0.3}],
    ids=["array", "one", "three", "number", "text", "dictionary"],
)
def test_a_response_is_a_pair(response: Any) -> None:
    with pytest.raises(BadOption, match=r"response is no pair of expected values.*Give response="):
        of_grades(response=response)


def test_a_response_in_a_frame_is_no_pair_either() -> None:
    with pytest.raises(BadOption, match="response is no pair"):
        of_grades(response=pd.DataFrame({"mean": EXPECTED, "sd": 0.3}))


@dataclass
class Response:
    """What a fitted response model brings along."""

    mean: Any
    sd: Any


def test_a_fitted_response_is_as_good_as_a_pair() -> None:
    pairs = [Response(EXPECTED, 0.3), [EXPECTED, np.full(80, 0.3)], (list(EXPECTED), pd.Series([0.3] * 80))]
    for response in pairs:
        assert of_grades(response=response)["guarded_error"] == of_grades()["guarded_error"]


def test_a_response_has_a_finite_expectation_and_a_deviation_for_every_row() -> None:
    with pytest.raises(UnequalLengths, match="column 'response': 79 rows, but 'truth' has 80"):
        of_grades(response=(EXPECTED[1:], 0.3))
    with pytest.raises(UnequalLengths, match="column 'the sd of response': 79 rows"):
        of_grades(response=(EXPECTED, np.full(79, 0.3)))
    with pytest.raises(BadDeviation, match=r"column 'response', row 2: it is inf\. Expected values are finite"):
        of_grades(response=(np.where(np.arange(80) == 2, math.inf, EXPECTED), 0.3))
    with pytest.raises(BadDeviation, match=r"the sd of response is -0\.3"):
        of_grades(response=(EXPECTED, -0.3))
    with pytest.raises(WrongShape, match="column 'response'"):
        of_grades(response=(0.0, 0.3))


@dataclass
class Estimated:
    """A standard deviation that is only estimated, and the standard error of its square."""

    sd: Any
    error: Any


def test_an_estimated_deviation_can_be_given_with_the_scale() -> None:
    guess = Estimated(0.4, 0.05)
    scale = Continuum([0, 0.6], ["low", "mid", "high"], sd=guess)
    here, there = assess(VALUE, ASSIGNED, scale=scale)["label_error"], of_grades(sd=guess)["label_error"]
    assert here == there
    assert here.se > of_grades()["label_error"].se


@pytest.mark.parametrize("error", [-0.1, math.nan, math.inf, "much", None])
def test_the_error_of_an_estimated_deviation_is_a_number(error: Any) -> None:
    with pytest.raises(BadDeviation, match="the standard error of sd squared is"):
        of_grades(sd=Estimated(0.4, error))
    with pytest.raises(BadDeviation, match=r"sd is -0\.4"):
        of_grades(sd=Estimated(-0.4, 0.1))


# --- frames ---------------------------------------------------------------------------------------------------


def frame() -> pd.DataFrame:
    rows = np.arange(80)
    columns = {"z": VALUE, "class": ASSIGNED, "s": 0.4, "blur": 0.3, "f": EXPECTED, "v": 0.3}
    return pd.DataFrame({**columns, "batch": rows // 4, "times": 1 + rows % 3, "site": rows % 2})


@pytest.mark.parametrize("make", [lambda table: table, pl.from_pandas, pa.Table.from_pandas], ids=["pd", "pl", "pa"])
def test_columns_of_a_frame_can_say_it_all(make: Any) -> None:
    options: dict[str, Any] = {"sd": "s", "sd_response": "blur", "response": ("f", "v")}
    found = assess(make(frame()), truth="z", assigned="class", scale=GRADES, **options)
    for name in USUAL:
        assert found[name] == of_grades()[name]
    both = compare(make(frame()), {"a": "class"}, truth="z", scale=GRADES, **options)
    assert both["a"]["guarded_error"].value == of_grades()["guarded_error"].value


def test_numbers_and_arrays_stand_beside_columns_of_a_frame() -> None:
    found = assess(frame(), truth="z", assigned="class", scale=GRADES, **KNOWN)
    assert found["guarded_error"] == of_grades()["guarded_error"]


def test_a_column_that_is_not_there_is_named() -> None:
    for option in ({"sd": "error"}, {"sd_response": "error"}, {"response": ("f", "error")}):
        with pytest.raises(UnknownColumn, match="there is no column 'error'"):
            assess(frame(), truth="z", assigned="class", scale=GRADES, **option)


@pytest.mark.parametrize("option", [{"sd": "s"}, {"sd_response": "s"}, {"response": ("f", "s")}], ids=str)
def test_a_bad_column_of_a_frame_is_called_by_its_own_name(option: dict[str, Any]) -> None:
    for bad, error in ((-1.0, BadDeviation), (np.nan, MissingValues), ("much", NotNumbers)):
        with pytest.raises(error, match="column 's', row 0"):
            assess(frame().assign(s=bad), truth="z", assigned="class", scale=GRADES, **option)


def test_a_bad_column_of_expectations_is_called_by_its_own_name() -> None:
    for bad, error in ((np.inf, BadDeviation), (np.nan, MissingValues)):
        with pytest.raises(error, match="column 's', row 0"):
            assess(frame().assign(s=bad), truth="z", assigned="class", scale=GRADES, response=("s", "v"))


# --- scores and thresholds ------------------------------------------------------------------------------------

CHANCE = 1 / (1 + np.exp(-3 * (EXPECTED - 0.3)))
HALVES = Continuum([0.3], ["dry", "wet"])


def assigned_at(threshold: float) -> Any:
    return np.where(threshold <= CHANCE, "wet", "dry")


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_the_classes_of_the_threshold_are_judged(threshold: float) -> None:
    options: dict[str, Any] = {"scale": HALVES, "sd": 0.4, "sd_response": 0.3}
    found = assess(VALUE, CHANCE, event="wet", threshold=threshold, **options)
    expected = assess(VALUE, assigned_at(threshold), **options)
    moved = assess(VALUE, CHANCE, event="wet", **options).at_threshold(threshold)
    for name in shown(expected):
        assert found[name].value == pytest.approx(expected[name].value), name
        assert moved[name].value == pytest.approx(expected[name].value), name


@pytest.mark.parametrize("goal", ["best:f1", "max specificity where sensitivity >= 0.99"])
def test_the_classes_of_the_chosen_threshold_are_judged(goal: str) -> None:
    low = CHANCE**4  # so low that one half is a bad threshold
    found = assess(VALUE, low, event="wet", scale=HALVES, sd=0.4, threshold=goal)
    assert found.decision is not None
    assigned, usual = (np.where(low >= threshold, "wet", "dry") for threshold in (found.decision.threshold, 0.5))
    assert (assigned != usual).any()
    expected = assess(VALUE, assigned, scale=HALVES, sd=0.4)
    assert found["apparent_sqerr"].value == pytest.approx(expected["apparent_sqerr"].value)
    assert found["adjusted_error"].value == pytest.approx(expected["adjusted_error"].value)


def test_scores_that_are_no_probabilities_are_judged_at_their_threshold() -> None:
    found = assess(VALUE, EXPECTED, event="wet", scale=HALVES, sd=0.4, threshold=0.3)
    expected = assess(VALUE, np.where(EXPECTED >= 0.3, "wet", "dry"), scale=HALVES, sd=0.4)
    assert found["adjusted_error"].value == pytest.approx(expected["adjusted_error"].value)


def test_a_threshold_is_not_chosen_by_measured_values() -> None:
    with pytest.raises(BadOption, match=r"apparent_sqerr is made of measured values.*measure of counts"):
        assess(VALUE, CHANCE, event="wet", scale=HALVES, threshold="best:apparent_sqerr")


def test_ranking_and_forecasts_stand_beside_measured_values() -> None:
    found = assess(VALUE, CHANCE, event="wet", scale=HALVES, sd=0.4)
    assert found["auc"].value > 0.9
    assert found["brier"].value < 0.25
    assert found["adjusted_error"].value < 0.5


def test_recalibrated_forecasts_are_judged_by_measured_values_too() -> None:
    found = assess(VALUE, CHANCE, event="wet", scale=HALVES, sd=0.4).recalibration()
    row = next(iter(found.differences("apparent_sqerr")))
    values = [found[name]["apparent_sqerr"].value for name in found.models]
    assert row["difference"] == pytest.approx(values[0] - values[1])
    assert values[0] == pytest.approx(assess(VALUE, CHANCE, event="wet", scale=HALVES)["apparent_sqerr"].value)


# --- parts, weights and training ------------------------------------------------------------------------------


def test_every_slice_is_what_it_is_alone() -> None:
    site = np.arange(80) % 2
    found = of_grades(by=site, sd=np.linspace(0, 1, 80))
    for label, part in found.slices.items():
        here = site == label
        known: dict[str, Any] = {"sd": np.linspace(0, 1, 80)[here], "sd_response": 0.3}
        alone = assess(VALUE[here], ASSIGNED[here], scale=GRADES, response=(EXPECTED[here], 0.3), **known)
        for name in USUAL:
            assert_allclose([part[name].value, part[name].high], [alone[name].value, alone[name].high], rtol=1e-12)
    assert {row["slice"] for row in found.table()} == {None, 0, 1}


def test_clusters_are_minded() -> None:
    found, alone = of_grades(group=np.arange(80) // 8), of_grades()
    assert found["label_error"].value == pytest.approx(alone["label_error"].value)
    assert found["label_error"].se != pytest.approx(alone["label_error"].se, rel=1e-3)
    assert found["label_error"].method == f"{alone['label_error'].method}, clustered"


def test_one_cluster_tells_nothing_about_spread() -> None:
    found = of_grades(group=np.zeros(80, int))
    assert (found["label_error"].low, found["label_error"].high) == (0, 1)
    assert (found["apparent_sqerr"].low, found["apparent_sqerr"].high) == (0, math.inf)


def test_weights_that_count_are_rows() -> None:
    times = 1 + np.arange(80) % 3
    rows = np.repeat(np.arange(80), times)
    known: dict[str, Any] = {"sd": 0.4, "sd_response": 0.3, "response": (EXPECTED[rows], 0.3)}
    found, expected = (
        of_grades(weight=times, weight_kind="frequency"),
        assess(VALUE[rows], ASSIGNED[rows], scale=GRADES, **known),
    )
    for name in USUAL:
        one, other = ([each[name].value, each[name].low, each[name].high] for each in (found, expected))
        assert_allclose(one, other, rtol=1e-9)
    assert found["label_error"].n == len(rows)


def test_training_data_stand_beside() -> None:
    value, _, assigned = drawn(60, 1)
    found = assess(VALUE, ASSIGNED, scale=GRADES, sd=0.4, training=(value, assigned))
    expected = assess(value, assigned, scale=GRADES, sd=0.4)
    assert found.training is not None
    assert found.training["label_error"] == expected["label_error"]
    gap = found.gap("adjusted_error")
    assert gap.value == pytest.approx(found["adjusted_error"].value - expected["adjusted_error"].value)
    assert gap.low < gap.value < gap.high
    assert "training" in str(found)


@pytest.mark.parametrize("by_scale", [False, True], ids=["option", "scale"])
def test_what_was_said_row_by_row_is_not_known_of_training_data(by_scale: bool) -> None:
    """Not even where there are as many rows."""
    sd = np.full(80, 0.4)
    options: dict[str, Any] = {"scale": GRADES, "sd": sd}
    if by_scale:
        options = {"scale": Continuum([0, 0.6], ["low", "mid", "high"], sd=sd)}
    found = assess(VALUE, ASSIGNED, **options, training=(VALUE, ASSIGNED))
    assert found.training is not None
    unknown = found.training["label_error"]
    assert math.isnan(unknown.value)
    assert unknown.note == "sd is not known of these rows"
    assert found.training["apparent_sqerr"].value == found["apparent_sqerr"].value
    assert math.isnan(found.gap("label_error").value)
    assert "training" in str(found)


def test_training_data_in_a_frame_have_their_own_columns() -> None:
    other = frame().iloc[:50].assign(s=0.2)
    options: dict[str, Any] = {"truth": "z", "assigned": "class", "scale": GRADES, "sd": "s"}
    found = assess(frame(), training=other, **options)
    assert found.training is not None
    assert found.training["label_error"] == assess(other, **options)["label_error"]


# --- values, intervals and notes ------------------------------------------------------------------------------


def test_a_negative_squared_error_is_told_and_has_no_root() -> None:
    found = of_grades(sd=2.0)
    negative, root = found["adjusted_sqerr"], found["adjusted_rmse"]
    assert negative.low < negative.value < 0
    assert negative.note == "negative: measurement error explains more than all of the apparent error"
    assert all(math.isnan(figure) for figure in (root.value, root.low, root.high, root.se))
    assert root.note == "the squared error is negative, and so has no root"
    assert "no root" not in negative.note
    with pytest.raises(UndefinedValue, match="adjusted_rmse is undefined: the squared error is negative"):
        of_grades(sd=2.0, undefined="error")["adjusted_rmse"]
    assert of_grades(sd=2.0, undefined=7)["adjusted_rmse"].value == 7


def test_rounding_does_not_guard_replicates_of_one_cluster() -> None:
    """Of three clusters, one of nine bootstrap samples has the same one three times: nothing scatters there."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        value, group = random.normal(size=15), random.integers(0, 3, 15)
        said = {name: np.where(value + random.normal(0, 0.6, 15) < 0, "low", "high") for name in "ab"}
        expected = value + random.normal(0, 0.4, 15)
        found = []
        for unit in (1.0, 1000.0, 0.001):
            cut, model = Continuum([0.0], ["low", "high"], sd=0.2 * unit), (expected * unit, 0.4 * unit)
            options: dict[str, Any] = {"response": model, "group": group, "method": "percentile", "replicates": 300}
            result = compare(value * unit, said, scale=cut, measures=["guarded_error"], **options)
            found.append([result.differences()["p"][0], *[result[name]["guarded_error"].high for name in "ab"]])
        assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)


def test_a_guarded_estimate_tells_which_it_is_and_why() -> None:
    found = of_grades()["guarded_error"]
    assert found.note.startswith("posterior: the model foresees ")
    assert found.value == of_grades()["posterior_error"].value
    misled = of_grades(response=(EXPECTED + 1.0, 0.3))
    assert misled["guarded_error"].note.startswith("difference: the model foresees ")
    assert "standard errors" in misled["guarded_error"].note
    assert misled["guarded_error"].value == misled["difference_error"].value
    assert misled["guarded_error(limit=100)"].value == misled["posterior_error"].value


def test_every_estimate_says_how_its_interval_was_made() -> None:
    usual = {name: of_grades()[name].method for name in USUAL}
    of_a_share = {"adjusted_error": "Wilson"}
    of_a_share |= dict.fromkeys(("true_error_low", "true_error_high", "guarded_error"), "Wilson, moved")
    of_all_rules = {name: "gamma" for name in USUAL if find(name).better == "neither"}
    assert usual == {**dict.fromkeys(USUAL, "Hall's t"), **of_a_share, **of_all_rules}
    assert {of_grades(method="plain")[name].method for name in USUAL} == {"plain"}
    boots = of_grades(method="percentile", replicates=20)
    assert boots["true_sqerr_low"].se == 0  # in every sample the least is 0
    assert {boots[name].method for name in USUAL - {"true_sqerr_low"}} == {"bootstrap, percentile"}


def test_the_adjusted_error_has_the_interval_of_as_many_trials_as_would_give_its_standard_error() -> None:
    found = of_grades()["adjusted_error"]
    reach, square = stats.t.isf(0.025, len(VALUE) - 1), found.value * (1 - found.value)
    # Wilson's bounds are where the distance from the value is so many standard errors of that bound.
    for bound in (found.low, found.high):
        error = found.se * math.sqrt(bound * (1 - bound) / square)
        assert abs(found.value - bound) == pytest.approx(reach * error, rel=1e-9)


def moved_apart(assessment: Assessment, name: str, bound: float) -> float:
    """How many standard errors a bound is from the value, were the share of errors as far from the one found."""
    found, error = assessment[name], assessment["error"].value
    falls = name == "true_error_low" and assessment["label_error"].value > error
    there = error + (bound - found.value) * (-1 if falls else 1)
    return abs(found.value - bound) / (found.se * math.sqrt(there * (1 - there) / (error * (1 - error))))


@pytest.mark.parametrize("name", ["guarded_error", "difference_error"])
@pytest.mark.parametrize("sd", [0.2, 2.5], ids=["precise", "blurred"])
def test_what_goes_with_the_error_has_the_interval_of_an_error_rate(name: str, sd: float) -> None:
    """Where the error rate would be at a bound, the value is so many standard errors away as they would be there."""
    assessment = of_grades(sd=sd)
    found, reach = assessment[name], stats.t.isf(0.025, len(VALUE) - 1)
    for bound in (found.low, found.high):
        if bound not in find(name).span:
            assert moved_apart(assessment, name, bound) == pytest.approx(reach, rel=1e-9)
    assert found.low < found.value < found.high


def wrong_labels(assessment: Assessment, level: float = 0.95) -> tuple[float, float]:
    """Between which shares the actual one of wrong labels lies, given the probability of each to be wrong."""
    share, reach = assessment["label_error"].value, stats.norm.isf((1 - level) / 2)
    variance = share * (1 - share) / len(VALUE)
    high = stats.gamma.ppf((1 + level) / 2, share**2 / variance, scale=variance / share)
    return max(share - reach * math.sqrt(variance), 0.0), high


@pytest.mark.parametrize("sd", [0.05, 0.2, 2.5], ids=["sure", "precise", "blurred"])
def test_bounds_of_the_true_error_cover_those_by_the_actual_share_of_wrong_labels(sd: float) -> None:
    """And, as a rate of all rows that might be drawn, those of an error rate: the wider one counts on either side."""
    assessment = of_grades(sd=sd)
    error, reach = assessment["error"].value, stats.t.isf(0.025, len(VALUE) - 1)
    few, many = wrong_labels(assessment)
    ends = {
        "true_error_low": (0.0 if few < error < many else min(abs(error - few), abs(error - many)),
                           max(abs(error - few), abs(error - many))),
        "true_error_high": (error + few, min(error + many, 1.0)),
    }  # fmt: skip
    for name, expected in ends.items():
        found = assessment[name]
        for bound, other, sign in zip((found.low, found.high), expected, (-1, 1), strict=True):
            assert sign * (bound - other) >= -1e-12, name
            if abs(bound - other) > 1e-12 and bound not in find(name).span:
                assert moved_apart(assessment, name, bound) == pytest.approx(reach, rel=1e-9), name
    # With many doubtful labels the actual share of wrong ones decides, with few the errors of other rows.
    assert (assessment["true_error_high"].low == pytest.approx(error + few)) == (sd == 2.5)


def test_the_posterior_error_has_the_interval_of_a_proportion() -> None:
    found = of_grades()["posterior_error"]
    trials, square = found.value * (1 - found.value) / found.se**2, stats.t.isf(0.025, len(VALUE) - 1) ** 2
    middle = (found.value + square / trials / 2) / (1 + square / trials)
    assert (found.low + found.high) / 2 == pytest.approx(middle, rel=1e-9)


def test_where_no_row_is_wrong_the_true_error_may_yet_be_more_than_labels_say() -> None:
    right = np.array(GRADES.classes)[GRADES.cut(VALUE)]
    found = assess(VALUE, right, scale=GRADES, sd=0.4)
    most, labels = found["true_error_high"], found["label_error"]
    rows, square = len(VALUE), stats.t.isf(0.025, len(VALUE) - 1) ** 2
    assert most.value == labels.value
    assert most.high >= most.value + square / (rows + square)  # Wilson's, of none in so many rows
    assert most.low < most.value


def test_shares_of_labels_have_bounds_of_a_gamma_distribution() -> None:
    assessment = of_grades()
    for name, column in (
        ("label_error", "unsure"),
        ("label_sqerr", "label_distance"),
        ("minimal_error", "least_wrong"),
    ):
        rows, found = assessment.continuum.column(column), assessment[name]
        variance = rows.var(ddof=1) / len(rows)
        more = stats.skew(rows) * math.sqrt(variance / len(rows))
        share = stats.norm.cdf(stats.t.isf(0.025, len(rows) - 1))
        for bound, at, mean, square in (
            (found.low, 1 - share, found.value, variance),
            (found.high, share, found.value + more, variance + more**2),
        ):
            assert bound == pytest.approx(stats.gamma.ppf(at, mean**2 / square, scale=square / mean), rel=1e-9), name


def test_a_measure_goes_with_one_of_its_arguments_or_with_none() -> None:
    facts: dict[str, Any] = {"better": "lower", "undefined": "there are no rows", "cite": "nobody"}

    def halved(wrong: Any) -> Any:
        return wrong / 2

    def missed(fn: Any, tp: Any) -> Any:
        return fn / (fn + tp)

    for formula, counted in ((halved, "unsure"), (missed, "fn")):
        with pytest.raises(UnknownMeasure, match=f"{formula.__name__} goes with \"?'?{counted}"):
            measure(counted=counted, **facts)(formula)
        assert formula.__name__ not in all_measures()


# --- the choice between two estimates -------------------------------------------------------------------------

SUMS = {
    "error": ("wrong", "foreseen_wrong", "doubt_wrong"),
    "sqerr": ("distance", "foreseen_distance", "doubt_distance"),
}


def wavering(assessment: Assessment, kind: str, limit: float = 1.5) -> tuple[float, Any]:
    """What choosing adds to the standard error of a guarded estimate, and what every row adds to the doubt."""
    seen, foreseen, doubt = SUMS[kind]
    gap = assessment.continuum.column(seen) - assessment.continuum.column(foreseen)
    away = gap.mean() / (gap.std(ddof=1) / math.sqrt(len(gap)))
    assert away == pytest.approx(assessment.continuum.doubt(doubt))
    taken = stats.norm.sf(limit, away) + stats.norm.cdf(-limit, away)
    apart = assessment[f"difference_{kind}"].value - assessment[f"posterior_{kind}"].value
    return math.copysign(math.sqrt(taken * (1 - taken)), away) * apart, gap


@pytest.mark.parametrize("kind", SUMS)
@pytest.mark.parametrize("off", [0.0, 0.15, 1.0])
def test_a_guarded_estimate_scatters_by_its_choice_as_well(kind: str, off: float) -> None:
    found = of_grades(response=(EXPECTED + off, 0.3))
    added, _ = wavering(found, kind)
    taken = found[f"guarded_{kind}"].note.partition(":")[0]
    assert found[f"guarded_{kind}"].se == pytest.approx(math.hypot(found[f"{taken}_{kind}"].se, added), rel=1e-9)
    assert added != 0
    sure = found[f"guarded_{kind}(limit=100)"], found[f"posterior_{kind}"]
    assert sure[0].se == sure[1].se


@pytest.mark.parametrize("kind", SUMS)
def test_two_guarded_estimates_waver_together_as_far_as_their_doubts_do(kind: str) -> None:
    other = np.array(GRADES.classes)[GRADES.cut(EXPECTED + np.random.default_rng(9).normal(0, 0.2, len(VALUE)))]
    both = compare(VALUE, {"a": ASSIGNED, "b": other}, scale=GRADES, **KNOWN)
    (one, gap), (two, other_gap) = (wavering(both[name], kind, limit=6) for name in ("a", "b"))
    together = np.corrcoef(gap, other_gap)[0, 1]
    names = f"guarded_{kind}(limit=6)", f"posterior_{kind}"  # of these doubts none is as large
    guarded, posterior = (next(iter(both.differences(name))) for name in names)
    added = one**2 + two**2 - 2 * one * two * together
    assert guarded["se"] ** 2 == pytest.approx(posterior["se"] ** 2 + added, rel=1e-9)
    assert guarded["high"] - guarded["low"] > posterior["high"] - posterior["low"]


def test_a_choice_is_a_normal_error_that_counts_three_times_in_a_pair() -> None:
    other = np.array(GRADES.classes)[GRADES.cut(EXPECTED + np.random.default_rng(9).normal(0, 0.2, len(VALUE)))]
    both = compare(VALUE, {"a": ASSIGNED, "b": other}, scale=GRADES, **KNOWN)
    (one, gap), (two, other_gap) = (wavering(both[name], "sqerr", limit=6) for name in ("a", "b"))
    chosen = 3 * (one**2 + two**2 - 2 * one * two * np.corrcoef(gap, other_gap)[0, 1])
    rows = both["a"].continuum.column("posterior_distance") - both["b"].continuum.column("posterior_distance")
    count = len(rows)
    spread = rows.var(ddof=1) / count
    once = np.ones(count)
    parts = Patterns(1, np.zeros(count, np.int64), np.zeros((0, count), np.int64), once, once, once, None)
    tails = Tails.of(parts, (rows - rows.mean())[None]).with_normal(np.array([chosen / (spread + chosen)]))
    freedom = np.array([count - 1.0])
    reach, error = np.asarray(stats.t.isf(0.025, freedom)), np.sqrt([spread + chosen])
    expected = difference_bounds(np.array([rows.mean()]), error, tails, freedom, reach)
    found = next(iter(both.differences("guarded_sqerr(limit=6)")))
    assert (found["low"], found["high"]) == pytest.approx([bound[0] for bound in expected], rel=1e-9)
    assert found["p"] == pytest.approx(difference_p(rows.mean() / error, tails, freedom)[0], rel=1e-9)


def test_clusters_waver_as_their_sums_do() -> None:
    """Copies of a row within its cluster tell nothing new of any doubt."""
    other, cluster = np.roll(ASSIGNED, 3), np.arange(len(VALUE))
    rules = {"a": ASSIGNED, "b": other}
    once = compare(VALUE, rules, scale=GRADES, group=cluster, **KNOWN)
    twice = compare(
        np.tile(VALUE, 2),
        {name: np.tile(rule, 2) for name, rule in rules.items()},
        scale=GRADES,
        group=np.tile(cluster, 2),
        **{**KNOWN, "response": (np.tile(EXPECTED, 2), 0.3)},
    )
    for name in ("guarded_error", "guarded_sqerr"):
        first, second = (next(iter(each.differences(name))) for each in (once, twice))
        assert second["se"] == pytest.approx(first["se"], rel=1e-9)


def test_a_plain_interval_is_the_value_and_its_standard_errors() -> None:
    found = of_grades(method="plain")["smoothed_error"]
    reach = 1.959963984540054 * found.se
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))


def test_a_classifier_that_was_always_right_may_err_yet() -> None:
    right = np.array(GRADES.classes)[GRADES.cut(VALUE)]
    found = assess(VALUE, right, scale=GRADES, sd=0.4)
    for name in ("error", "adjusted_error", "apparent_sqerr", "adjusted_sqerr"):
        assert found[name].value == 0
        assert found[name].high > 0
    assert found["adjusted_error"].high == pytest.approx(found["error"].high)
    assert found["apparent_rmse"].high == pytest.approx(math.sqrt(found["apparent_sqerr"].high))


def test_one_row_tells_nothing_about_spread() -> None:
    found = assess([0.1], ["low"], scale=GRADES, sd=0.4, sd_response=0.3, response=([0.2], 0.3))
    for name in USUAL:
        estimate, span = found[name], find(name).span
        assert math.isfinite(estimate.value)
        assert math.isnan(estimate.se)
        assert (estimate.low, estimate.high) == span
    assert "guarded error" in str(found)


def test_values_that_are_all_the_same_are_no_obstacle() -> None:
    found = assess([0.3] * 20, ["mid"] * 20, scale=GRADES, sd=0.4, sd_response=0.3, response=([0.2] * 20, 0.3))
    for name in USUAL:
        estimate = found[name]
        assert estimate.low <= estimate.value <= estimate.high, name
        assert math.isfinite(estimate.high), name
    for name in ("smoothed_error", "guarded_error"):
        assert found[name].low < found[name].value < found[name].high, name


def test_a_classifier_that_knows_one_class_is_judged_like_any() -> None:
    found = of_grades()
    only = assess(VALUE, ["mid"] * 80, scale=GRADES, **KNOWN)
    assert only["label_error"].value == found["label_error"].value
    assert only["minimal_error"].value == found["minimal_error"].value
    assert only["smoothed_error"].value > found["smoothed_error"].value
    assert only["apparent_sqerr"].value > found["apparent_sqerr"].value


def test_a_requirement_can_be_one_of_a_continuum() -> None:
    found = of_grades()
    assert read_requirement("apparent_sqerr.high <= 5", ["prediction"]).judge(found).held
    assert not read_requirement("guarded_error < 0.001", ["prediction"]).judge(found).held


def test_the_view_tells_where_classes_are_cut() -> None:
    text = str(of_grades())
    assert "cut at 0, 0.6" in text
    assert "measured with sd 0.4" in text
    assert "guarded error" in text
    assert "guarded error" in of_grades()._repr_html_()


# --- comparisons ----------------------------------------------------------------------------------------------


def both(**options: Any) -> Any:
    other = np.where(np.arange(80) % 5 == 0, np.roll(ASSIGNED, 1), ASSIGNED)
    return compare(VALUE, {"a": ASSIGNED, "b": other}, **{"scale": GRADES, **KNOWN, **options})


def test_what_has_a_better_end_is_compared() -> None:
    compared = {row["measure"] for row in both().differences()} & NAMES
    assert compared == {name for name in USUAL if find(name).better == "lower"}


def test_simultaneous_bands_hold_the_single_intervals() -> None:
    found = both()
    wide = {(row["model"], row["measure"]): row for row in found.table(simultaneous=True)}
    for model in ("a", "b"):
        for name in USUAL:
            row, alone = wide[model, name], found[model][name]
            assert row["value"] == alone.value
            assert row["low"] <= alone.low
            assert row["high"] >= alone.high
    assert any(wide["a", name]["high"] > 1.02 * found["a"][name].high for name in USUAL)
    single, joint = found.differences("apparent_sqerr"), found.differences("apparent_sqerr", simultaneous=True)
    assert joint["low"][0] <= single["low"][0]
    assert joint["high"][0] >= single["high"][0]


@pytest.mark.parametrize("sd", [0.4, Estimated(0.4, 0.05)], ids=["known", "estimated"])
def test_the_rows_that_decide_are_found(sd: Any) -> None:
    found = both(sd=sd)
    rows = found.deciding_rows("apparent_sqerr", "a", "b", most=5)
    assert len(rows) == 5
    differ = [row["a"] != row["b"] for row in rows]
    assert differ[0]
    top = rows["row"][0]
    kept = np.arange(80) != top
    known: dict[str, Any] = {"scale": GRADES, "measures": ["apparent_sqerr"]}
    other = np.where(np.arange(80) % 5 == 0, np.roll(ASSIGNED, 1), ASSIGNED)
    without = compare(VALUE[kept], {"a": ASSIGNED[kept], "b": other[kept]}, **known).differences()["difference"][0]
    fallen = found.differences("apparent_sqerr")["difference"][0] - without
    assert rows["effect"][0] == pytest.approx(fallen, rel=0.05)
    with pytest.raises(BadOption, match="See deciding_rows"):
        found.deciding_patterns("apparent_sqerr", "a", "b")


def test_a_comparison_says_who_is_best() -> None:
    found = both()
    assert found.best("guarded_sqerr") == "a"
    assert "by guarded sqerr" in str(found.verdict("guarded_sqerr"))
    with pytest.raises(BadOption, match="no value of label_error is better than another"):
        found.best("label_error")


@pytest.mark.parametrize("name", sorted(name for name in USUAL if find(name).better == "lower"))
def test_differences_can_be_bootstrapped(name: str) -> None:
    if name == "true_sqerr_low":  # that of one is 0, and no derivative tells that it is not in all samples
        return
    usual, drawn_one = (both(measures=[name], method=way, replicates=300).differences() for way in ("delta", "bca"))
    assert drawn_one["difference"] == usual["difference"]
    assert drawn_one["low"][0] < drawn_one["difference"][0] < drawn_one["high"][0]
    assert drawn_one["p"][0] == pytest.approx(usual["p"][0], abs=0.1)


def test_an_estimated_deviation_is_no_obstacle_to_clustered_bootstraps() -> None:
    found = of_grades(sd=Estimated(0.4, 0.05), group=np.arange(80) // 4, method="bootstrap", replicates=100)
    known = of_grades(group=np.arange(80) // 4, method="bootstrap", replicates=100)
    assert found["label_error"].low < found["label_error"].value < found["label_error"].high
    assert found["label_error"].high > known["label_error"].high


# --- tallies --------------------------------------------------------------------------------------------------


def test_rows_of_which_something_else_is_known_do_not_add_up() -> None:
    whole = of_grades().tally
    assert assess_tally([whole, whole], allow_overlap=True, measures=["label_error"])["label_error"].n == 160
    for other in (of_grades(sd=None), of_grades(response=None), of_grades(sd=Estimated(0.4, 0.1))):
        with pytest.raises(UnlikeTallies, match="Make both"):
            whole + other.tally
    moved = assess(VALUE, ASSIGNED, scale=Continuum([0, 0.7], GRADES.classes), **KNOWN)
    with pytest.raises(UnlikeTallies, match=r"cut at 0.0, 0.6, .*, those of the other cut at 0.0, 0.7"):
        whole + moved.tally


def test_a_tally_of_counts_alone_has_forgotten_what_was_measured() -> None:
    counted = of_grades(measures=["error"])
    with pytest.raises(UnknownMeasure, match="label_error was not asked for"):
        counted["label_error"]
    with pytest.raises(UnknownMeasure, match="needs a truth that was measured"):
        assess_tally(replace(counted.tally, scores=None), measures=["label_error"])


def test_what_stands_on_a_scatter_of_nothing_says_so() -> None:
    """Where measurement error exceeds all scatter, nothing is left for the response; the result tells."""
    deviation = sy.intrinsic_sd(0.1, 0.3)
    assert "exceeds all scatter" in str(deviation)
    values, scale = [0.1, 0.4, 0.7, 0.9, 0.2], sy.Continuum([0.5], classes=["low", "high"])
    found = sy.assess(values, values, scale=scale, sd=0.3, sd_response=deviation)
    assert "sd_response is 0" in found["minimal_error"].note


def test_a_negative_guarded_error_says_so() -> None:
    """As the difference error does that it is made of."""
    random = np.random.default_rng(0)
    expected = random.normal(size=200)
    measured = expected + 0.01 * random.normal(size=200)
    scale, response = sy.Continuum([0.0], classes=["low", "high"], sd=0.5), (expected, np.full(200, 0.3))
    assigned = np.where(measured >= 0, "high", "low")
    found = sy.assess(measured, assigned, scale=scale, response=response)["guarded_error"]
    assert found.value < 0
    assert "negative: measurement error explains more" in found.note


CUT = sy.Continuum([0.0], classes=["a", "b"], sd=0.05)


@pytest.mark.parametrize("wrong", [0, 1, 5])
def test_the_least_true_error_may_be_more_where_labels_are_sure(wrong: int) -> None:
    """Where there are fewer errors than doubtful labels it falls as these get more, but no further than to 0."""
    values = np.concatenate([np.linspace(-2, -0.2, 100), np.linspace(0.2, 2, 100)])
    assigned = np.where(values < 0, "a", "b")
    assigned[:wrong] = "b"
    found = sy.assess(values, assigned, scale=CUT, measures=["error", "true_error_low", "true_error_high"])
    for label in ("true_error_low", "true_error_high"):
        assert found[label].value == pytest.approx(found["error"].value, abs=1e-6)
        assert found[label].high == pytest.approx(found["error"].high, rel=0.02)
        assert found[label].low == pytest.approx(found["error"].low, rel=0.02, abs=1e-6)


def test_the_most_true_error_of_two_classes_turns_round_too() -> None:
    values = np.tile([-0.01, 0.01], 20)
    assigned = np.where(values < 0, "a", "b")
    assigned[:20] = np.where(values[:20] < 0, "b", "a")
    found = sy.assess(values, assigned, scale=CUT, measures=["error", "label_error", "true_error_high"])
    assert found["error"].value + found["label_error"].value < 1 < found["error"].high + found["label_error"].value
    assert found["true_error_high"].high == 1


VALUES = np.array([-2.0, -1.5, -1.0, 1.0, 1.2, 2.0])
RIGHT, WRONG = np.where(VALUES < 0, "a", "b"), np.where(VALUES < 0, "b", "a")
OF_CLASSIFIERS = ["adjusted_error", "apparent_sqerr", "adjusted_sqerr", "apparent_rmse"]


def test_rows_that_all_make_the_same_difference_do_not_prove_that_all_will() -> None:
    both = sy.compare(VALUES, {"one": RIGHT, "same": RIGHT.copy(), "other": WRONG}, scale=CUT)
    for label in OF_CLASSIFIERS:
        same, other, _ = both.differences(label).to_pylist()
        alone = both["one"][label]
        assert (same["low"], same["high"]) == pytest.approx((-alone.high, alone.high))
        assert same["p"] == 1
        assert other["low"] <= other["difference"] < other["high"]
    found = both.differences("adjusted_error").to_pylist()[1]
    rare = both["one"]["adjusted_error"].high
    assert (found["low"], found["high"]) == pytest.approx((-1, -1 + 2 * rare))
    assert found["p"] == pytest.approx(2 * NormalDist().cdf(-np.sqrt(6)))  # the level of an interval that ends at 0
    assert "can't be told apart" in str(both.verdict("adjusted_error", margin=0.01)) or found["p"] < 0.05
    band = both.differences("adjusted_error", simultaneous=True).to_pylist()[0]
    assert band["high"] > rare
    # What no classifier has a part in does not differ.
    assert both.differences("label_error").to_pylist()[0]["high"] == 0
    few = sy.compare(VALUES[[0, 3]], {"one": RIGHT[[0, 3]], "other": WRONG[[0, 3]]}, scale=CUT)
    assert few.differences("adjusted_error").to_pylist()[0]["high"] > 0


def test_two_that_agree_on_many_rows_hardly_differ() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=5000)
    assigned = np.where(values + random.normal(size=5000) < 0, "a", "b")
    both = sy.compare(values, {"one": assigned, "same": assigned.copy()}, scale=CUT)
    assert both.differences("adjusted_error").to_pylist()[0]["high"] == pytest.approx(0.00077, rel=0.01)
    assert "as good as each other" in str(both.verdict("adjusted_error", margin=0.01))


def test_where_no_label_can_be_right_the_adjusted_error_is_undefined() -> None:
    ends = Continuum([0, 1, 2], ["low", "high"], sd=1e20)
    found = assess([0.5, 1.5, 1.2], ["high", "low", "high"], scale=ends, measures=["adjusted_error", "label_error"])
    assert math.isnan(found["adjusted_error"].value)
    assert found["adjusted_error"].note == "there are no rows whose label may be right"
    assert found["label_error"].value == pytest.approx(1.0)


# --- an sd that was estimated ---------------------------------------------------------------------------------


def test_an_estimated_sd_moves_a_bound_as_far_as_its_own_interval_reaches() -> None:
    """Of very many rows nothing else is left, and the bound is the value at the bound of the sd."""
    values = np.tile(VALUE, 2_000)
    assigned = np.tile(ASSIGNED, 2_000)
    options: dict[str, Any] = {"scale": GRADES, "measures": ["label_error", "label_sqerr", "adjusted_sqerr"]}
    sd = sy.Deviation(0.4, 10)
    found = assess(values, assigned, sd=sd, **options)
    ends = [assess(values, assigned, sd=end, **options) for end in sd.interval()]
    for name in found:
        low, high = sorted(each[name].value for each in ends)
        rows = assess(values, assigned, sd=0.4, **options)[name]
        assert found[name].low == pytest.approx(rows.value - math.hypot(rows.value - rows.low, rows.value - low))
        assert found[name].high == pytest.approx(rows.value + math.hypot(rows.high - rows.value, high - rows.value))
        assert found[name].low == pytest.approx(low, rel=0.05)
        assert found[name].high == pytest.approx(high, rel=0.05)


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_another_level_has_the_bounds_of_the_sd_at_that_level(level: float) -> None:
    """Between known bounds by a parabola, beyond them nearly so."""
    sd = sy.Deviation(0.4, 30)
    options: dict[str, Any] = {"scale": GRADES, "measures": ["label_error", "label_sqerr"], "level": level}
    values, assigned = np.tile(VALUE, 2_000), np.tile(ASSIGNED, 2_000)
    found = assess(values, assigned, sd=sd, **options)
    ends = [assess(values, assigned, sd=end, **options) for end in sd.interval(level)]
    for name in found:
        assert found[name].low == pytest.approx(ends[0][name].value, rel=0.03)
        assert found[name].high == pytest.approx(ends[1][name].value, rel=0.03)


@pytest.mark.parametrize("freedom", [1, 2, 10, 1000])
def test_fewer_degrees_of_freedom_have_wider_bounds_and_are_reported(freedom: float) -> None:
    names = ("true_error_low", "true_error_high", "true_sqerr_low", "true_sqerr_high")
    known, guessed = (of_grades(sd=sd) for sd in (0.2, sy.Deviation(0.2, freedom)))
    more = of_grades(sd=sy.Deviation(0.2, 2 * freedom))
    for low, high in (names[:2], names[2:]):
        assert guessed[low].low <= more[low].low <= known[low].low
        assert guessed[high].high > more[high].high > known[high].high
    for name in names:
        assert guessed[name].value == known[name].value
        assert guessed[name].note == f"sd was estimated with {freedom} degrees of freedom"
        assert not known[name].note
    assert guessed["guarded_error"].note.endswith(f"; sd was estimated with {freedom} degrees of freedom")
    assert not guessed["smoothed_error"].note


def test_an_sd_of_which_nearly_nothing_is_known_bounds_nearly_nothing() -> None:
    found = of_grades(sd=sy.Deviation(0.2, 0.2), measures=["true_error_low", "true_error_high", "true_sqerr_high"])
    assert found["true_error_low"].low == 0
    assert found["true_error_high"].high > 0.5
    assert found["true_sqerr_high"].high > 1e3
    assert math.isfinite(found["true_sqerr_high"].high)


# --- bounds of the true squared error -------------------------------------------------------------------------


def test_bounds_of_the_true_squared_error_by_hand() -> None:
    """sqerr is the squared length of distances; measurement error moves their vector by as much as the shift says."""
    values, sd = np.array([-1.0, 0.1, 0.7]), 0.25
    found = assess(values, ["b", "b", "a"], scale=Continuum([0.0], ["a", "b"]), sd=sd)
    tails = [stats.norm.cdf(-0.1 / sd), stats.norm.pdf(0.1 / sd)]
    inside = sd**2 * ((1 + (0.1 / sd) ** 2) * tails[0] - 0.1 / sd * tails[1])  # E[max(0, -y)^2] around 0.1
    outside = [
        sd**2 * (stats.norm.cdf(t) - t * stats.norm.pdf(t)) + (t * sd) ** 2 * stats.norm.cdf(-t)
        for t in (1.0 / sd, 0.7 / sd)
    ]
    shift, apparent = (inside + sum(outside)) / 3, (1.0 + 0.49) / 3
    assert found.continuum.column("shift") == pytest.approx([outside[0], inside, outside[1]], rel=1e-12)
    assert found["true_sqerr_low"].value == pytest.approx((math.sqrt(apparent) - math.sqrt(shift)) ** 2, rel=1e-12)
    assert found["true_sqerr_high"].value == pytest.approx((math.sqrt(apparent) + math.sqrt(shift)) ** 2, rel=1e-12)


def test_the_least_squared_error_is_0_where_measurement_error_may_have_made_all_of_it() -> None:
    values = np.array([-0.1, 0.1, -0.05, 2.0, -2.0, 0.2])
    found = assess(values, ["b", "b", "b", "b", "a", "b"], scale=Continuum([0.0], ["a", "b"]), sd=0.5)
    assert found["apparent_sqerr"].value > 0
    assert found["true_sqerr_low"].value == found["true_sqerr_low"].low == 0
    # Its root may be above 0 in other samples.
    assert found["true_sqerr_low"].high > 0
    right = assess(values, ["a", "b", "a", "b", "a", "b"], scale=Continuum([0.0], ["a", "b"]), sd=0.5)
    assert right["apparent_sqerr"].value == 0
    assert right["true_sqerr_high"].value == pytest.approx(float(right.continuum.column("shift").mean()))


def test_the_true_squared_errors_of_rows_lie_within_the_bounds_by_their_actual_errors() -> None:
    """The inequality itself, with what measurement error really changed: it holds even for a rule that cheats."""
    random = np.random.default_rng(5)
    ends = np.array([-np.inf, 0.0, 0.6, np.inf])
    for _ in range(200):
        response = random.normal(0.3, 1.0, 12)
        value = response + random.normal(0, random.choice([0.1, 0.5, 2.0]), 12)
        codes = random.choice([GRADES.cut(value), GRADES.cut(response), random.integers(0, 3, 12)])
        far = [np.maximum(ends[codes] - y, 0) + np.maximum(y - ends[codes + 1], 0) for y in (value, response)]
        apparent, true = (float(np.mean(np.square(each))) for each in far)
        shift = float(np.mean(np.square(far[0] - far[1])))
        root, change = math.sqrt(apparent), math.sqrt(shift)
        assert (root - change) ** 2 - 1e-12 <= true or root < change
        assert true <= (root + change) ** 2 + 1e-12
        assert shift <= np.mean(np.square(value - response)) + 1e-12


def test_latent_means_are_means_of_measured_values() -> None:
    with pytest.raises(UnknownMeasure, match="has the latent means 'unsure', 'tp'"):

        @sy.measure(better="lower", latent=("unsure", "tp"), undefined="there are no rows", cite="here")
        def latent_error(unsure: Any) -> Any:
            """A measure that asks for what there is not."""
            return unsure

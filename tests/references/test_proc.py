"""Areas under ROC curves that pROC computed in R, to ten digits. The file holds inputs, outputs and the version."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import Assessment, Measure, Scale, assess, find
from steelyard.maths.ordered_scores import Ranking
from steelyard.measures.masses import Masses

CLOSE = 1e-10
CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "proc_roc.json").read_text())["cases"]
SMALL = {"perfect", "one_case_only"}  # where pROC has no standard error, or none that is above 0

# What pROC was asked for, and what it is called here. It reads ranges from the far end.
RANGES: dict[str, dict[str, Any]] = {
    "spec_1_0.9": {"specificity": (0.9, 1.0)},
    "spec_1_0.8": {"specificity": (0.8, 1.0)},
    "spec_0.8_0.6": {"specificity": (0.6, 0.8)},
    "sens_1_0.9": {"sensitivity": (0.9, 1.0)},
}

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
of_some_size = pytest.mark.parametrize(
    "case", [case for case in CASES if case["name"] not in SMALL], ids=lambda case: case["name"]
)


def assessed(case: dict[str, Any], *measures: str | Measure, **options: Any) -> Assessment:
    given = case["input"]
    assert given["direction"] == "<"  # cases score higher
    scale = Scale([given["control"], given["case"]], event=given["case"])
    score = np.array(given["score"], dtype=float)
    return assess(given["response"], score, scale=scale, threshold=0.0, measures=list(measures), **options)


def named(name: str) -> dict[str, Any]:
    return next(case for case in CASES if case["name"] == name)


def numbers(values: list[Any]) -> Any:
    """R writes infinity in words."""
    return np.array([float(value) for value in values])


def test_the_file_holds_what_is_asked_for_below() -> None:
    assert {case["name"] for case in CASES} > SMALL
    assert {case["input"]["ties"] for case in CASES} == {True, False}
    for case in CASES:
        areas = case["output"]["partial_auc"]
        assert set(areas) == {name + kind for name in RANGES for kind in ("", "_corrected")}


@every_case
def test_proc_has_the_same_area(case: dict[str, Any]) -> None:
    assert assessed(case, "auc")["auc"].value == pytest.approx(case["output"]["auc"], abs=CLOSE)


@of_some_size
def test_proc_has_the_same_variance(case: dict[str, Any]) -> None:
    found, expected = assessed(case, "auc")["auc"].se, case["output"]["delong"]
    assert found == pytest.approx(expected["se"], abs=CLOSE)
    assert found**2 == pytest.approx(expected["var"], abs=CLOSE)


@of_some_size
@pytest.mark.parametrize("level", [0.95, 0.90])
def test_proc_has_the_same_interval_when_it_is_asked_for(case: dict[str, Any], level: float) -> None:
    found = assessed(case, "auc", method="plain", level=level)["auc"]
    assert_allclose([found.low, found.value, found.high], case["output"]["delong"][f"ci{level:.0%}"[:-1]], atol=CLOSE)
    assert found.method == "plain"


@of_some_size
def test_the_usual_interval_is_another_one(case: dict[str, Any]) -> None:
    """On the logit scale, and with a t of few degrees of freedom where a class has few rows."""
    found, theirs = assessed(case, "auc")["auc"], case["output"]["delong"]["ci95"]
    middle = (found.low + found.high) / 2
    assert abs(middle - 0.5) < abs(found.value - 0.5), "it reaches further where there is room"
    assert found.high - found.low == pytest.approx(theirs[2] - theirs[0], rel=0.15)
    assert 0 < found.low < found.value < found.high < 1


@every_case
@pytest.mark.parametrize("name", list(RANGES))
def test_proc_has_the_same_partial_area(case: dict[str, Any], name: str) -> None:
    measure = find("partial_auc", **RANGES[name], corrected=False)
    found = assessed(case, measure)[measure].value
    assert found == pytest.approx(case["output"]["partial_auc"][name], abs=CLOSE)


@every_case
@pytest.mark.parametrize("name", list(RANGES))
def test_proc_has_the_same_corrected_area_where_it_has_one(case: dict[str, Any], name: str) -> None:
    """Below the area of guessing pROC has none; McClish's formula goes on, so that no value is lost."""
    measure = find("partial_auc", **RANGES[name])
    found, expected = assessed(case, measure)[measure].value, case["output"]["partial_auc"][f"{name}_corrected"]
    if expected is not None:
        assert found == pytest.approx(expected, abs=CLOSE)
        return
    low, high = (1 - end for end in reversed(next(iter(RANGES[name].values()))))
    guessed, best = (high**2 - low**2) / 2, high - low
    area = case["output"]["partial_auc"][name]
    assert area < guessed
    assert found == pytest.approx((1 + (area - guessed) / (best - guessed)) / 2, abs=CLOSE)
    assert 0 <= found < 0.5


def test_some_corrected_areas_are_missing_in_proc() -> None:
    missing = {case["name"] for case in CASES for value in case["output"]["partial_auc"].values() if value is None}
    assert missing == {"below_chance_direction_lt", "one_case_only"}


def test_a_perfect_curve_has_no_spread_here_either_but_an_honest_interval() -> None:
    case = named("perfect")
    assert case["output"]["delong"]["se"] == 0
    assert case["output"]["delong"]["ci95"] == [1, 1, 1]
    plain, usual = (assessed(case, "auc", method=method)["auc"] for method in ("plain", "delta"))
    assert (plain.se, plain.low, plain.high) == (0, 1, 1)
    assert (usual.se, usual.high) == (0, 1)
    assert 0.3 < usual.low < 0.95


def test_one_case_alone_has_no_spread_there_nor_here_and_may_be_any_value() -> None:
    case = named("one_case_only")
    assert case["output"]["delong"] == {"var": None, "se": None, "ci95": [None] * 3, "ci90": [None] * 3}
    plain, usual = (assessed(case, "auc", method=method)["auc"] for method in ("plain", "delta"))
    assert math.isnan(plain.se)
    assert math.isnan(plain.low)
    assert math.isnan(usual.se)
    assert (usual.low, usual.high) == (0, 1)


@every_case
def test_proc_draws_the_same_curve(case: dict[str, Any]) -> None:
    """It starts at the lowest threshold, and its thresholds lie between the scores; here they are the scores."""
    given, curve = case["input"], case["output"]["roc"]
    ranking = Ranking.of(np.array(given["score"], dtype=float))
    event = (np.array(given["response"]) == given["case"]).astype(float)[ranking.order]
    masses = Masses(ranking.groups.sums(event), ranking.groups.sums(1 - event))
    sensitivity = np.append(0.0, masses.hits / masses.hits[-1])
    specificity = np.append(1.0, 1 - masses.alarms / masses.alarms[-1])
    assert_allclose(sensitivity, numbers(curve["sensitivities"])[::-1], atol=CLOSE)
    assert_allclose(specificity, numbers(curve["specificities"])[::-1], atol=CLOSE)
    theirs, ours = numbers(curve["thresholds"])[::-1], ranking.thresholds
    assert (theirs[0], theirs[-1]) == (math.inf, -math.inf)
    assert_allclose(theirs[1:-1], (ours[:-1] + ours[1:]) / 2, atol=CLOSE)
    assert sorted(set(given["score"]), reverse=True) == ours.tolist()


@every_case
def test_gini_is_twice_the_area_of_proc_less_one(case: dict[str, Any]) -> None:
    auc, gini = assessed(case, "auc")["auc"], assessed(case, "gini")["accuracy_ratio"]
    assert gini.value == pytest.approx(2 * case["output"]["auc"] - 1, abs=CLOSE)
    assert gini.se == pytest.approx(2 * auc.se, nan_ok=True)
    assert (gini.low, gini.high) == pytest.approx((2 * auc.low - 1, 2 * auc.high - 1), nan_ok=True)

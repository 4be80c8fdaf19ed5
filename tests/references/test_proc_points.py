"""Points of ROC curves that pROC computed in R: all of them, the best ones, and those in between."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import Assessment, Measure, Scale, assess

CLOSE = 1e-10
CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "proc_roc.json").read_text())["cases"]
# pROC's names of measures, and ours.
NAMES = {
    "specificity": "specificity", "sensitivity": "sensitivity", "accuracy": "accuracy", "npv": "npv",
    "ppv": "precision", "precision": "precision", "fpr": "fpr", "tnr": "specificity", "fnr": "fnr",
    "tpr": "sensitivity", "recall": "sensitivity",
}  # fmt: skip
CELLS = ("tn", "tp", "fn", "fp")

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])


def numbers(values: list[Any]) -> Any:
    words = {"Inf": math.inf, "-Inf": -math.inf, "NaN": math.nan, None: math.nan}
    return np.array([words.get(value, value) for value in values], dtype=float)


def assessed(case: dict[str, Any], **options: Any) -> Assessment:
    given = case["input"]
    scale = Scale([given["control"], given["case"]], event=given["case"])
    return assess(given["response"], np.array(given["score"], float), scale=scale, threshold=0.0, **options)


def corner(fn: Any, tp: Any, fp: Any, tn: Any) -> Any:
    """How far a point is from the corner of the perfect classifier."""
    return np.sqrt((fn / (fn + tp)) ** 2 + (fp / (fp + tn)) ** 2)


CORNER = Measure("corner", "corner", corner, "lower", (0.0, 2.0), "a class has no rows", "pROC's closest.topleft")


@every_case
def test_every_point_of_the_curve(case: dict[str, Any]) -> None:
    """pROC goes from -Inf to Inf, with thresholds half-way between scores; ours are the scores, from the highest."""
    wanted, table = case["output"]["coords"]["all_local_ret"], assessed(case).thresholds([*set(NAMES.values()), CORNER])
    for theirs in CELLS:
        assert_allclose(table[theirs][::-1], numbers(wanted[theirs]), atol=CLOSE, err_msg=theirs)
    for theirs, ours in NAMES.items():
        assert_allclose(table[ours][::-1], numbers(wanted[theirs]), atol=CLOSE, err_msg=theirs)
    assert_allclose(np.square(table["corner"][::-1]), numbers(wanted["closest.topleft"]), atol=CLOSE)
    scores = table["threshold"][1:][::-1]
    middles = [-math.inf, *[(a + b) / 2 for a, b in pairwise(scores)], math.inf]
    assert_allclose(middles, numbers(wanted["threshold"]), atol=CLOSE)
    roc = assessed(case).curve("roc", band="none")
    assert_allclose(roc["sensitivity"][::-1], case["output"]["roc"]["sensitivities"], atol=CLOSE)
    assert_allclose(1 - np.array(roc["fpr"][::-1]), case["output"]["roc"]["specificities"], atol=CLOSE)


@every_case
@pytest.mark.parametrize("kind", ["best_youden", "best_closest_topleft", "best_youden_weights_cost2_prev0.3"])
def test_the_best_points(case: dict[str, Any], kind: str) -> None:
    """Where several points are equally good, pROC names all of them, and we the highest threshold.

    Weights of pROC are a prevalence, and what a miss costs where a false alarm costs 1.
    """
    wanted = case["output"]["coords"][kind]
    control, event = case["input"]["control"], case["input"]["case"]
    result = assessed(case, cost={control: {event: 1.0}, event: {control: 2.0}})
    goal, options = {
        "best_youden": ("informedness", {}),
        "best_closest_topleft": (CORNER, {}),
        "best_youden_weights_cost2_prev0.3": ("cost", {"prevalence": 0.3}),
    }[kind]
    found = result.best_threshold(goal, **options)  # type: ignore[arg-type]
    place = int(np.argmax(numbers(wanted["threshold"])))
    middle = numbers(wanted["threshold"])[place]
    # pROC's midpoint does the same as our threshold: it lies between it and the next lower score.
    assert found.also < middle <= found.threshold
    assert found.assessment is not None
    for name in ("sensitivity", "specificity", "accuracy"):
        assert_allclose(found.assessment[name].value, numbers(wanted[name])[place], atol=CLOSE)


@every_case
def test_points_in_between(case: dict[str, Any]) -> None:
    """At a specificity or sensitivity that no threshold has, pROC goes along the line between two points."""
    roc, coords = assessed(case).curve("roc", band="none"), case["output"]["coords"]
    specificity, sensitivity = 1 - np.array(roc["fpr"]), np.array(roc["sensitivity"])
    at = coords["at_spec_0.9"]
    exact = np.isclose(specificity, 0.9)
    if exact.any():  # of several points with this specificity, pROC takes one
        assert np.isclose(sensitivity[exact], at["sensitivity"][0]).any()
    else:
        found = np.interp(0.1, roc["fpr"], sensitivity)
        assert_allclose(found, at["sensitivity"][0], atol=CLOSE)
    at = coords["at_sens_0.8"]
    exact = np.isclose(sensitivity, 0.8)
    if exact.any():
        assert np.isclose(specificity[exact], at["specificity"][0]).any()
    else:
        assert_allclose(np.interp(0.8, sensitivity, specificity), at["specificity"][0], atol=CLOSE)

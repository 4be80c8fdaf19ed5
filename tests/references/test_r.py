"""Figures that R computed (caret, vcd, klaR), to ten digits. The files hold inputs, outputs and package versions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import Assessment, Scale, assess, assess_table, find, mcnemar

DATA = Path(__file__).parent / "data"
CLOSE = 1e-10


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((DATA / name).read_text())["cases"]
    return cases


CARET = load("caret_confusion.json")
KLAR = load("errormatrix.json")

# What caret calls it, and what it is called here.
BY_CLASS = {
    "Sensitivity": "sensitivity",
    "Specificity": "specificity",
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "Detection Rate": "detection_rate",
    "Detection Prevalence": "detection_prevalence",
    "Balanced Accuracy": "balanced_accuracy",
}


def assessed(case: dict[str, Any], **options: Any) -> Assessment:
    given = case["input"]
    scale = Scale(given["levels"], event=given["positive"])
    return assess(given["reference"], given["predicted"], scale=scale, **options)


def classes_of(case: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    by_class, positive = case["output"]["byClass"], case["input"]["positive"]
    return [(positive, by_class)] if positive else list(by_class.items())


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", CARET, ids=named)
def test_caret_counts_the_same_table(case: dict[str, Any]) -> None:
    assert_allclose(assessed(case).confusion().T, case["output"]["table_rows_predicted_cols_reference"])


@pytest.mark.parametrize("case", CARET, ids=named)
def test_caret_has_the_same_values(case: dict[str, Any]) -> None:
    found = assessed(case)
    assert found["accuracy"].value == pytest.approx(case["output"]["overall"]["Accuracy"], abs=CLOSE)
    for label, expected in classes_of(case):
        for theirs, ours in BY_CLASS.items():
            value = found[ours, label].value
            if expected[theirs] is not None:
                assert value == pytest.approx(expected[theirs], abs=CLOSE), (label, theirs)
            elif ours == "f1":
                # caret has no F1 where precision is undefined; on counts it is 0: nothing was found.
                assert value == 0
            else:
                assert math.isnan(value)


@pytest.mark.parametrize("case", CARET, ids=named)
def test_caret_has_the_same_predictive_values_at_any_prevalence(case: dict[str, Any]) -> None:
    found = assessed(case)
    for label, expected in classes_of(case):
        prevalence = case["input"]["prevalence"] or found["prevalence", label].value
        at = [find(f"{name}_at", prevalence=prevalence) for name in ("precision", "npv")]
        there = assessed(case, measures=at)
        for measure, theirs in zip(at, ("Pos Pred Value", "Neg Pred Value"), strict=True):
            if expected[theirs] == "NaN":
                assert math.isnan(there[measure, label].value)
            else:
                assert there[measure, label].value == pytest.approx(expected[theirs], abs=CLOSE)
        assert expected["Prevalence"] == pytest.approx(prevalence, abs=CLOSE)


@pytest.mark.parametrize("case", CARET, ids=named)
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_vcd_has_the_same_kappa_and_standard_error(case: dict[str, Any], weights: str) -> None:
    measure = find("kappa") if weights == "unweighted" else find("weighted_kappa", weights=weights)
    found, expected = assessed(case, measures=[measure])[measure], case["output"]["vcd_Kappa"][weights]
    assert found.value == pytest.approx(expected["value"], abs=CLOSE)
    assert found.se == pytest.approx(expected["ASE"], abs=CLOSE)


@pytest.mark.parametrize("case", [case for case in CARET if len(case["input"]["levels"]) == 2], ids=named)
@pytest.mark.parametrize(("theirs", "method"), [("corrected", "corrected"), ("uncorrected", "chi-squared")])
def test_r_has_the_same_mcnemar(case: dict[str, Any], theirs: str, method: str) -> None:
    table = np.array(case["output"]["table_rows_predicted_cols_reference"])
    found, expected = mcnemar(table[0, 1], table[1, 0], method), case["output"][f"mcnemar_{theirs}"]
    assert found.statistic == pytest.approx(expected["statistic"], abs=CLOSE)
    assert found.p == pytest.approx(expected["p"], abs=CLOSE)


@pytest.mark.parametrize("case", KLAR, ids=named)
def test_klar_has_the_same_error_matrix(case: dict[str, Any]) -> None:
    found = assess(case["true"], case["predicted"], scale=Scale(case["labels"][:-1]))
    assert_allclose(found.error_matrix(), case["absolute"], atol=CLOSE)
    assert_allclose(found.error_matrix(relative=True), case["relative"], atol=CLOSE)


@pytest.mark.parametrize("case", CARET, ids=named)
def test_a_published_table_gives_what_its_rows_give(case: dict[str, Any]) -> None:
    given = case["input"]
    rows = assessed(case)
    turned = case["output"]["table_rows_predicted_cols_reference"]
    table = assess_table(turned, classes=given["levels"], event=given["positive"], truth_in_rows=False)
    assert_allclose(table.results.value, rows.results.value)
    assert_allclose(table.results.low, rows.results.low)


@pytest.mark.parametrize("case", [case for case in CARET if "prevalence" not in named(case)], ids=named)
def test_the_false_omission_rate_is_the_rest_of_what_caret_calls_neg_pred_value(case: dict[str, Any]) -> None:
    found = assessed(case, measures=["false_omission_rate", "npv"])
    for label, expected in classes_of(case):
        value = float(expected["Neg Pred Value"] if expected["Neg Pred Value"] is not None else math.nan)
        rate, rest = found["false_omission_rate", label], found["npv", label]
        assert rate.value == pytest.approx(1 - value, abs=CLOSE, nan_ok=True)
        assert (rate.low, rate.high) == pytest.approx((1 - rest.high, 1 - rest.low), abs=CLOSE, nan_ok=True)

"""The same scores of forecasts as four packages of R, on the same rows; where conventions differ, by how much.

``data/scores_brier_logloss.json`` says which packages and releases. Steelyard has no Kolmogorov-Smirnov statistic
and no AU1P, so these two figures are not looked at.
"""

from __future__ import annotations

import csv
import json
import math
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import Assessment, Scale, assess

EXACT = 1e-12
CLIP = 1e-15  # what the packages of R put in the place of 0, and 1 less this in the place of 1
CLIPPED = f"log_score(clip={CLIP})"
GOLDEN = json.loads((Path(__file__).parent / "data" / "scores_brier_logloss.json").read_text(encoding="utf-8"))
BINARY: dict[str, Any] = {case["name"]: case for case in GOLDEN["binary"]}
MULTICLASS: dict[str, Any] = {case["name"]: case for case in GOLDEN["multiclass"]}

each_binary = pytest.mark.parametrize("name", list(BINARY))
each_multiclass = pytest.mark.parametrize("name", list(MULTICLASS))


def same(expected: float) -> Any:
    return pytest.approx(expected, rel=EXACT, abs=EXACT)


def binary(name: str) -> tuple[Assessment, dict[str, Any], Any, Any]:
    """An assessment, what others found, the probabilities of 1 and the true labels."""
    case = BINARY[name]
    chance, truth = (np.array(case["input"][key]) for key in ("prob_class1", "y"))
    measures = ["log_score", CLIPPED, "brier", "brier_multiclass", "spherical_score", "skill", "auc"]
    found = assess(truth, chance.astype(float), event=1, threshold=0.5, measures=measures)
    return found, case["output"], chance, truth


def multiclass(name: str) -> tuple[Assessment, dict[str, Any]]:
    case = MULTICLASS[name]
    classes, shares = case["input"]["classes"], np.array(case["input"]["membership"], dtype=float)
    measures = ["log_score", CLIPPED, "brier", "brier_multiclass", "spherical_score", "auc", "hand_till_auc", "kappa"]
    measures += ["weighted_kappa(weights='quadratic')", "balanced_accuracy"]
    found = assess(np.array(case["input"]["true"]), shares, scale=Scale(classes), measures=measures)
    return found, case["output"]


# --- the lecture's table ----------------------------------------------------------------------------------------


def test_the_lecture_scores_of_five_forecasts_come_out_of_the_file_that_is_shipped() -> None:
    """Ross prints the table twice, 4.24 as the sum of the log scores, and 0.294 as the Brier score of class 1."""
    printed = [(0.9, 0.1, 0), (0.6, 0.4, 1), (0.5, 0.5, 0), (0.2, 0.8, 1), (0.9, 0.1, 1)]
    with resources.as_file(resources.files("steelyard") / "data" / "examples" / "forecasts.csv") as file:
        found = assess(file, truth="y", membership="p_*")
        with file.open(encoding="utf-8", newline="") as lines:
            head, *rows = csv.reader(lines)
    assert head == ["p_0", "p_1", "y"]
    assert [(float(first), float(second), int(label)) for first, second, label in rows] == printed
    by_hand = -sum(math.log((first, second)[label]) for first, second, label in printed)
    assert found["log_score"].sum == same(by_hand)
    assert round(by_hand, 2) == 4.24
    assert found["brier"].value == found["Brier score"].value == same(0.294)
    assert found["brier_multiclass"].value == same(2 * 0.294)
    assert found["logarithmic score"] == found["log_score"]


# --- two classes ----------------------------------------------------------------------------------------------


@each_binary
@pytest.mark.parametrize("package", ["MLmetrics_LogLoss", "ModelMetrics_logLoss", "mlr_logloss"])
def test_the_mean_log_score_of_two_classes(name: str, package: str) -> None:
    found, expected, chance, truth = binary(name)
    theirs = expected["mean_log_loss_natural"][package]
    if package != "mlr_logloss":
        # These two clip the probability of 1, not that of the true class: where it is 1 and 0 is true, the true class
        # is left with 1 - (1 - 1e-15), which is not 1e-15 in floating point but 9.992e-16.
        rows = float(np.sum((chance == 1) & (truth == 0)))
        theirs -= rows * (math.log(CLIP) - math.log(1 - (1 - CLIP))) / len(truth)
    assert found[CLIPPED].value == same(theirs)
    if ((chance > 0) & (chance < 1)).all():
        assert found["log_score"].value == same(theirs)


@each_binary
def test_the_sum_of_log_scores_as_r_itself_finds_it(name: str) -> None:
    """Nothing is clipped there, nor here unless it is asked for: a true class that had no chance costs infinitely."""
    found, expected, _, _ = binary(name)
    assert found["log_score"].sum == same(float(expected["sum_log_loss_base_R"]))
    assert found["log_score"].value == same(float(expected["sum_log_loss_base_R"]) / found.n)


def test_conventions_on_exact_0_and_1_differ_between_packages() -> None:
    theirs = BINARY["with_exact_0_and_1"]["output"]["mean_log_loss_natural"]
    assert theirs["MLmetrics_LogLoss"] == theirs["ModelMetrics_logLoss"]
    assert theirs["MLmetrics_LogLoss"] - theirs["mlr_logloss"] == pytest.approx(1.33e-4, rel=0.01)
    found, _, _, _ = binary("with_exact_0_and_1")
    assert found["log_score"].value == math.inf
    assert found["log_score"].note == "infinite: 2 rows gave probability 0 to the true class"
    assert found[CLIPPED].note == "2 rows clipped at 1e-15"


@each_binary
def test_the_brier_score_of_two_classes(name: str) -> None:
    found, expected, _, _ = binary(name)
    theirs = expected["brier"]
    assert found["brier"].value == same(theirs["ModelMetrics_brier"])
    assert found["brier"].value == same(theirs["mlr_measureBrier"])
    # Summed over both columns it is twice as much: a measure of another name here.
    assert found["brier_multiclass"].value == same(theirs["mlr_multiclass_brier_two_columns"])


@each_binary
def test_spherical_and_quadratic_scores_of_two_classes(name: str) -> None:
    found, expected, _, _ = binary(name)
    assert found["spherical_score"].value == same(expected["mlr_spherical_SSR"])
    # mlr's quadratic score is 1 - the Brier score of all classes.
    assert 1 - found["brier_multiclass"].value == same(expected["mlr_quadratic_QSR"])


@each_binary
def test_the_scaled_brier_score_has_another_reference(name: str) -> None:
    """That of mlr is held against the mean forecast, skill against the share of the class."""
    found, expected, chance, truth = binary(name)
    brier = found["brier"].value
    assert 1 - brier / (chance.mean() * (1 - chance.mean())) == same(expected["mlr_brier_scaled"])
    assert found["skill"].value == same(1 - brier / (truth.mean() * (1 - truth.mean())))
    if name == "constant_prevalence":
        assert found["skill"].value == same(expected["mlr_brier_scaled"])
    else:
        assert found["skill"].value != pytest.approx(expected["mlr_brier_scaled"], rel=1e-3)


@each_binary
def test_the_auc_of_two_classes(name: str) -> None:
    found, expected, _, _ = binary(name)
    assert found["auc"].value == same(expected["ModelMetrics_auc"])


# --- several classes ------------------------------------------------------------------------------------------


@each_multiclass
@pytest.mark.parametrize("package", ["caret_mnLogLoss", "mlr_logloss", "MLmetrics_MultiLogLoss"])
def test_the_mean_log_score_of_several_classes(name: str, package: str) -> None:
    """All three clip memberships at 1e-15 and do not make them sum to 1 again: so does clip= here."""
    found, expected = multiclass(name)
    theirs = expected["mean_log_loss"][package]
    assert found[CLIPPED].value == same(theirs)
    assert found[CLIPPED].sum == pytest.approx(theirs * found.n, rel=EXACT)
    if name == "exact_zeros":
        assert found["log_score"].value == math.inf
        assert found["log_score"].note == "infinite: 2 rows gave probability 0 to the true class"
    else:
        assert found["log_score"].value == same(theirs)


@each_multiclass
def test_the_brier_score_of_several_classes_is_summed_over_them(name: str) -> None:
    found, expected = multiclass(name)
    assert found["brier_multiclass"].value == same(expected["brier_sum_over_classes_mlr"])
    assert found["brier"].value * len(found.classes) == same(expected["brier_sum_over_classes_mlr"])


@each_multiclass
def test_the_scores_of_mlr(name: str) -> None:
    found, expected = multiclass(name)
    assert found["spherical_score"].value == same(expected["mlr"]["SSR"])
    assert 1 - found["brier_multiclass"].value == same(expected["mlr"]["QSR"])
    assert -found[CLIPPED].value == same(expected["mlr"]["LSR"])


@each_multiclass
def test_the_areas_of_mlr(name: str) -> None:
    """mlr turns an AUC below 1/2 round, class by class or pair by pair; there are none of these here."""
    found, expected = multiclass(name)
    areas = [found["auc", label].value for label in found.classes]
    assert min(areas) > 0.5
    assert found["auc", "macro"].value == same(expected["mlr"]["AUNU"])
    assert found["auc", "weighted"].value == same(expected["mlr"]["AUNP"])
    assert found["hand_till_auc"].value == same(expected["mlr"]["AU1U"])


@each_multiclass
def test_the_agreement_of_mlr(name: str) -> None:
    found, expected = multiclass(name)
    assert found["kappa"].value == same(expected["mlr"]["KAPPA"])
    assert found["weighted_kappa(weights='quadratic')"].value == same(expected["mlr"]["WKAPPA_quadratic"])
    assert found["balanced_accuracy"].value == same(expected["mlr"]["BAC"])
    assert 1 - found["balanced_accuracy"].value == same(expected["mlr"]["BER"])

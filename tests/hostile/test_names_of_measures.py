"""Names that mean another number elsewhere, and hints that never offer the opposite."""

from __future__ import annotations

import re
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import UnknownMeasure
from steelyard.core.suggestions import nearest
from steelyard.measures import ELSEWHERE
from steelyard.measures.registry import ALIASES, REGISTRY

TRUTH = [0, 1, 0, 1, 1, 0, 1, 0]
SCORE = [0.1, 0.7, 0.6, 0.4, 0.9, 0.2, 0.8, 0.3]

MEANT = {
    "sensitivity": "true_positive_rate tpr TPR recall true-positive-rate TruePositiveRate TP_rate hit_rate sens",
    "specificity": "true_negative_rate tnr selectivity TrueNegativeRate tn_rate spec",
    "fpr": "false_positive_rate type_I_error type_1_error TypeIError type1error Type_I_error_rate fall-out fp_rate",
    "fnr": "false_negative_rate type_II_error type_2_error TypeIIError type2error miss_rate FN_rate",
    "precision": "ppv positive_predictive_value Pos_Pred_Value",
    "npv": "negative_predictive_value Neg_Pred_Value",
    "lr_positive": "positive_likelihood_ratio LR+ lr_plus PLR",
    "lr_negative": "negative_likelihood_ratio LR- lr_minus NLR",
}


@pytest.mark.parametrize("name", MEANT)
def test_rates_are_found_by_all_their_names(name: str) -> None:
    for other in MEANT[name].split():
        assert sy.find(other).name == name, other


def hint_on(name: str) -> str:
    with pytest.raises(UnknownMeasure) as told:
        sy.find(name)
    return told.value.mend


SAYS = {
    "sensitivity": {"true", "positive"},
    "specificity": {"true", "negative"},
    "fpr": {"false", "positive"},
    "fnr": {"false", "negative"},
    "precision": {"positive"},
    "npv": {"negative"},
    "lr_positive": {"positive"},
    "lr_negative": {"negative"},
}
CONTRARY = {"true": "false", "false": "true", "positive": "negative", "negative": "positive"}


def misspelled(word: str) -> set[str]:
    """One letter left out, two of them swapped, or one doubled."""
    places = range(1, len(word))
    left_out = {word[:place] + word[place + 1 :] for place in places}
    swapped = {word[: place - 1] + word[place] + word[place - 1] + word[place + 1 :] for place in places}
    return (left_out | swapped | {word[:place] + word[place:][:1] + word[place:] for place in places}) - {word}


@pytest.mark.parametrize("pair", [*product(("true", "false"), ("positive", "negative"))], ids="_".join)
@pytest.mark.parametrize("ending", ["rate", "ratio"])
def test_weak_point_11_no_hint_offers_the_opposite_rate(pair: tuple[str, str], ending: str) -> None:
    for word, other in ((pair[0], pair[1]), (pair[1], pair[0])):
        for wrong in misspelled(word):
            parts = (wrong, other) if word == pair[0] else (other, wrong)
            name = f"{parts[0]}_{parts[1]}_{ending}"
            try:
                found = {sy.find(name).name}
            except UnknownMeasure as told:
                found = {ALIASES.get(each, each) for each in re.findall("'([^']+)'", told.mend)}
            for each in found & SAYS.keys():
                assert not {CONTRARY[said] for said in pair} & SAYS[each], (name, each)


@pytest.mark.parametrize("number", ["I", "1", "II", "2", "3", "III"])
def test_weak_point_11_types_of_errors_are_not_mixed_up(number: str) -> None:
    right = {"I": "fpr", "1": "fpr", "one": "fpr", "II": "fnr", "2": "fnr", "two": "fnr"}.get(number)
    for ending in ("error", "errors", "eror", "error_rates", "mistake"):
        for sign in ("_", "-", " "):
            name = f"type{sign}{number}{sign}{ending}"
            try:
                found = {sy.find(name).name}
            except UnknownMeasure as told:
                found = {ALIASES.get(each, each) for each in re.findall("'([^']+)'", told.mend)}
            assert not found & ({"fpr", "fnr"} - {right}), (name, found)


def test_abbreviations_are_not_taken_for_each_other() -> None:
    """Each of their letters is a word."""
    known = {"tpr", "tnr", "fpr", "fnr", "ppv", "npv", "plr", "nlr", "fdr", "for"}
    for letters in product("tfpn", "pnd", "rv"):
        name = "".join(letters)
        if name in known or name in REGISTRY:
            continue
        assert not {f"'{each}'" for each in known if f"'{each}'" in hint_on(name)}, name


@pytest.mark.parametrize(
    "pair",
    [
        *[("positive", "negative"), ("true", "untrue"), ("healthy", "unhealthy"), ("with", "without")],
        *[("test_positive", "test_negative"), ("symptomatic", "asymptomatic"), ("low_risk", "high_risk")],
        *[("before_treatment", "after_treatment"), ("normal", "abnormal"), ("left_eye", "right_eye")],
    ],
)
def test_labels_and_columns_are_not_taken_for_their_opposite_either(pair: tuple[str, str]) -> None:
    for wanted, there in permutations(pair):
        assert nearest(wanted, [there]) is None
        assert nearest(wanted[:-1] + wanted[-1] * 2, [there, wanted]) in (wanted, None)
        assert nearest(wanted[:-1] + wanted[-1] * 2, ["other", wanted]) == wanted


def test_every_hint_is_a_measure_or_says_what_it_is() -> None:
    for name in [*REGISTRY, *ALIASES][::4]:
        for wrong in sorted(misspelled(name))[:2]:
            try:
                sy.find(wrong)
            except UnknownMeasure as told:
                for each in re.findall("Did you mean '([^']+)'", told.mend):
                    assert each in REGISTRY or each in ALIASES or each in ELSEWHERE


@pytest.mark.parametrize(
    "name", ["ece", "ECE", "expected_calibration_error", "Expected Calibration Error", "ece(bins=10)"]
)
def test_weak_point_11_the_ece_is_another_number(name: str) -> None:
    said = hint_on(name)
    assert "mean absolute gap in bins of equal width" in said
    assert "'calibration_error' is another number: the root mean square gap, debiased" in said
    with pytest.raises(UnknownMeasure, match="calibration_error"):
        sy.assess(TRUTH, SCORE, event=1, measures=[name])


@pytest.mark.parametrize("name", ["pr_auc", "auprc", "auc_pr", "AUPRC", "PR-AUC", "prauc"])
def test_weak_point_11_areas_under_precision_and_recall_carry_their_definition(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = "is average_precision here: the mean of precision where each row of the class is found (steps)"
    found = sy.assess(TRUTH, SCORE, event=1, measures=[name, "auc"])
    plain = sy.assess(TRUTH, SCORE, event=1, measures=["average_precision"])
    assert any(definition in note for note in found.notes)
    assert plain.notes == []
    assert definition in found[name].note
    assert (found[name].value, found["average_precision"].note) == (plain["average_precision"].value, "")
    assert definition in sy.assess(TRUTH, SCORE, event=1)[name].note
    both = sy.compare(TRUTH, {"a": SCORE, "b": np.round(SCORE)}, event=1, measures=[name])
    assert any(definition in note for note in both.notes)
    merged = sy.assess_tally(found.tally, measures=[name])
    assert any(definition in note for note in merged.notes)
    assert main(["measures", name]) == 0
    assert "trapezoids give another number" in " ".join(capsys.readouterr().out.split())


def test_names_with_a_caution_are_no_other_names_beside_it() -> None:
    for measure in REGISTRY.values():
        assert not set(measure.cautions) & set(measure.aliases)
        for alias in measure.cautions:
            found: Any = sy.find(alias)
            assert (found.name, found.asked) == (measure.name, (alias,))
            assert found.caution(alias).partition(" is ")[2].startswith(f"{measure.name} here: ")

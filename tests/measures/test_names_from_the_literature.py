"""The names that two lectures and two papers give to measures: in find, lookups, --measures and the glossary."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import BadOption, UnknownLabel, UnknownMeasure
from steelyard.core.suggestions import nearest
from steelyard.display.listing import glossary
from steelyard.measures import ELSEWHERE, SEVERAL, of_class
from steelyard.measures.registry import ALIASES, REGISTRY, as_alias

DATA = resources.files("steelyard") / "data" / "examples"
GLOSSARY = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")

# What each name means here, and what the note on it says, where it needs one.
NAMES = {
    "type I error": ("fpr", ""),
    "type II error": ("fnr", ""),
    "power": ("sensitivity", ""),
    "recall": ("sensitivity", ""),
    "misclassification rate": ("error", ""),
    "expected error rate": ("error", "had no part in fitting"),
    "Ac": ("partition_accuracy", ""),
    "AS": ("separation", ""),
    "CR": ("accuracy", ""),
    "CR 1": ("precision", "that of class"),
    "CF": ("confidence", "klaR, their group's package, prints CF"),
    "pmc": ("error", "estimates the probability of misclassification"),
    "sqe": ("apparent_sqerr", "sqe is the penalty of one row"),
    "sqerr": ("apparent_sqerr", "estimates that of the true ones"),
    "err_data": ("label_error", ""),
    "sqerr_data": ("label_sqerr", ""),
    "err_data_hat": ("label_error", ""),
    "sqerr_data_hat": ("label_sqerr", ""),
    "erc": ("error", ""),
    "erc_a": ("adjusted_error", ""),
    "sqerc": ("apparent_sqerr", ""),
    "sqerc_a": ("adjusted_sqerr", ""),
    "pmc_hat": ("smoothed_error", ""),
    "sqerr_hat": ("smoothed_sqerr", ""),
    "pmc_min": ("minimal_error", "its estimate, pmc_min_hat"),
    "sqerr_min": ("minimal_sqerr", "its estimate, sqerr_min_hat"),
    "pmc_min_hat": ("minimal_error", ""),
    "sqerr_min_hat": ("minimal_sqerr", ""),
}
each_name = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def meat() -> sy.Assessment:
    """A classifier of measured values, of which every one of these measures can be computed."""
    with resources.as_file(DATA / "meat.csv") as file:
        cut = sy.Continuum([65], ["dry", "wet"], sd=0.22)
        return sy.assess(file, truth="water", assigned="lda", scale=cut, sd_response=2.0)


@each_name
def test_find_knows_the_name_however_it_is_spelled(name: str) -> None:
    spellings = {name, name.upper(), name.lower(), name.replace(" ", "_"), name.replace(" ", "-"), f" {name} "}
    spellings |= {name.replace("_", "-")}
    for spelling in spellings - {"CR-1"}:
        assert sy.find(spelling).name == NAMES[name][0], spelling


@each_name
def test_a_lookup_gives_the_measure_and_a_word_on_the_name(name: str, meat: sy.Assessment) -> None:
    measure, said = NAMES[name]
    part = "dry" if name == "CR 1" else None
    assert meat[name].value == meat[measure, part].value
    assert said in meat[name].note
    assert (meat[name].note == meat[measure, part].note) == (not said)


def test_the_command_line_takes_all_of_them_in_one_list(capsys: pytest.CaptureFixture[str]) -> None:
    with resources.as_file(DATA / "meat.csv") as file:
        words = [
            str(file),
            "--truth",
            "water",
            "--cut",
            "65",
            "--scale",
            "dry,wet",
            "--sd",
            "0.22",
            "--assigned",
            "lda",
        ]
        words += ["--sd-response", "2", "--measures", ",".join(NAMES), "--require", "type II error < 1", "--json"]
        assert main(["assess", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["measure"] for row in found["estimates"]} == {measure for measure, _ in NAMES.values()}
    for measure, said in NAMES.values():
        notes = [note for note in found["notes"] if f" is {measure} here: " in note]
        assert not said or any(said in note for note in notes)


@each_name
def test_the_glossary_has_the_name_as_it_is_written(name: str) -> None:
    measure, said = NAMES[name]
    rows = [row for row in glossary() if row["name"] == name]
    assert [row["measure"] for row in rows] == [measure]
    assert bool(rows[0]["note"]) == bool(said)
    assert f"| `{name}` | [`{measure}`](#{measure}) |" in GLOSSARY


def test_the_glossary_has_every_name_that_is_understood_and_no_other() -> None:
    known = {*ALIASES, *ELSEWHERE, *SEVERAL}
    names = {row["name"]: row["measure"] for row in glossary()}
    rows = {name if name in known else as_alias(name): measure for name, measure in names.items()}
    assert known == set(rows) - {"cr_1"}
    for name, measure in rows.items():
        if measure:
            assert sy.find(name).name == measure
        else:
            with pytest.raises(UnknownMeasure):
                sy.find(name)


@each_name
def test_an_explanation_can_be_asked_for_by_the_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures", name]) == 0
    assert f"name  {NAMES[name][0]}\n" in capsys.readouterr().out


# --- a class behind the name ----------------------------------------------------------------------------------

TABLE = np.array([[8, 1, 1], [2, 5, 0], [0, 3, 9]])  # rows: true classes


@pytest.mark.parametrize("name", ["CR 2", "CR_2", "CR2", "cr 2", "CR b", "CR  b ", "correctness rate b"])
def test_cr_of_a_class_is_the_share_of_its_assignments_that_are_right(name: str) -> None:
    found = sy.assess_table(TABLE, scale=sy.Scale(["a", "b", "c"]))
    assert found[name].value == 5 / 9
    assert found[name].low == found["precision", "b"].low
    assert "precision here: that of class 'b'" in found[name].note
    assert ("number 2 of 'a', 'b', 'c'" in found[name].note) == ("2" in name)


@pytest.mark.parametrize("part", ["b", 2, "2"])
def test_so_is_cr_with_the_class_beside_it(part: Any) -> None:
    found = sy.assess_table(TABLE, scale=sy.Scale(["a", "b", "c"]))
    assert found["CR", part].value == found["correctness rate", part].value == 5 / 9
    assert found["accuracy", "b"].value != 5 / 9  # of the table of one class against the rest
    assert found["CR"].value == 22 / 29


def test_a_class_of_that_name_goes_before_the_place() -> None:
    found = sy.assess_table(TABLE, scale=sy.Scale([3, 1, 2]))
    for number, value in ((1, 5 / 9), (2, 9 / 10), (3, 8 / 10)):
        assert found[f"CR {number}"].value == found["CR", number].value == value
        assert found[f"CR {number}"].note == f"CR {number} is precision here: that of class {number}"
    two = sy.assess([0, 1, 1, 0, 1], [0, 1, 0, 0, 1])
    assert (two["CR 1"].value, two["CR 0"].value) == (1.0, 2 / 3)
    assert two["CR 2"].note.endswith("class 1, number 2 of 0, 1")
    logical = sy.assess([False, True, True], [True, True, True])
    assert logical["CR 1"].value == logical["CR true"].value == 2 / 3


COUNTS = strategies.integers(2, 6).flatmap(
    lambda size: strategies.lists(
        strategies.lists(strategies.integers(0, 9), min_size=size, max_size=size), min_size=size, max_size=size
    )
)


@given(COUNTS)
def test_all_cr_together_make_the_overall_one(rows: list[list[int]]) -> None:
    """Weighted by how often each class is assigned, as the paper's rates of regions are."""
    table = np.array(rows)
    if not table.sum():
        return
    found = sy.assess_table(table, scale=sy.Scale([f"class {letter}" for letter in "abcdef"[: len(table)]]))
    shares = table.sum(axis=0) / table.sum()
    parts = [share * found[f"CR {1 + place}"].value for place, share in enumerate(shares) if share]
    assert sum(parts) == pytest.approx(found["CR"].value, abs=1e-12)
    assert np.isnan([found[f"CR {1 + place}"].value for place, share in enumerate(shares) if not share]).all()


@pytest.mark.parametrize("word", ["0", "4", "d", "1.5"])
def test_a_class_that_there_is_not_is_refused_with_those_that_there_are(word: str) -> None:
    truth, said = ["a", "b", "c", "a"], ["a", "c", "c", "a"]
    found = sy.assess(truth, said)
    for call in (
        lambda: found[f"CR {word}"],
        lambda: found["CR", word],
        lambda: sy.assess(truth, said, measures=[f"CR {word}"]),
        lambda: sy.compare(truth, {"one": said, "two": said}, measures=["error", f"CR {word}"]),
    ):
        with pytest.raises(UnknownLabel, match=rf"'{word}' is not one of the classes\. .*'a', 'b', 'c'.* 1 to 3"):
            call()
    with pytest.raises(UnknownMeasure, match="names its class"):
        found["CR 1", "a"]


def test_several_names_of_one_measure_each_have_their_note() -> None:
    found = sy.assess(
        ["a", "b", "c", "a"], ["a", "c", "c", "a"], measures=["CR 1", "pmc", "CR c", "expected error rate"]
    )
    assert list(found) == ["precision", "error"]
    said = [note.partition(" is ")[0] for note in found.notes]
    assert said == ["CR 1", "CR c", "pmc", "expected error rate"]
    assert found["precision", "a"].note == ""


@pytest.mark.parametrize(
    "call",
    [
        lambda both, X, y: both.differences("CR 1"),
        lambda both, X, y: both.best("CR 1"),
        lambda both, X, y: both.verdict(["CR 1"]),
        lambda both, X, y: sy.scorer("CR 1"),
        lambda both, X, y: sy.tune("knn", {"n_neighbors": [1, 3]}, X, y, measure="CR 1"),
        lambda both, X, y: sy.permutation_test("knn", X, y, measure="CR 1"),
        lambda both, X, y: both["one"].best_threshold("CR 1"),
        lambda both, X, y: both["one"].best_threshold("power", where="CR 1 >= 0.5"),
    ],
)
def test_where_overall_values_are_judged_a_class_is_not_dropped_in_silence(call: Callable[..., Any]) -> None:
    """Asked for CR 1, an average over classes would be another number."""
    y = [0, 1, 1, 0, 1, 0]
    both = sy.compare(y, {"one": [0.1, 0.7, 0.8, 0.6, 0.9, 0.2], "two": [0.3, 0.4, 0.9, 0.1, 0.6, 0.7]}, event=1)
    with pytest.raises(UnknownMeasure, match=r"'CR 1' is precision of one class.*'precision'"):
        call(both, np.arange(12.0).reshape(6, 2), y)


def test_names_are_taken_apart_only_where_a_class_stands_behind() -> None:
    assert of_class("CR os entropy") == ("precision", "os entropy")
    for name in ("CR", "cross_entropy", "cr_oss", "critical", "CR_", "CR ", "", 3, None):
        assert of_class(name) is None


# --- conditions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        ("CR 1 > 0.9", True),
        ("CR_2.low > 0.6", False),
        ("CR[3] > 0.7", True),
        ("CR[virginica].high < 0.8", False),
        ("CR setosa >= 0.98", True),
        ("CR >= 0.8", True),
        ("type I error[versicolor] <= 0.15", True),
        ("type-II-error.high < 0.2", False),
        ("misclassification rate < 0.3", True),
    ],
)
def test_conditions_may_be_written_with_these_names(
    capsys: pytest.CaptureFixture[str], condition: str, held: bool
) -> None:
    with resources.as_file(DATA / "iris.csv") as file:
        words = ["assess", str(file), "--truth", "species", "--membership", "lda_*", "--require", condition]
        assert main(words) == (0 if held else 1)
    told = " ".join(capsys.readouterr().out.split())
    assert f"{'held' if held else 'NOT HELD'}: {condition}" in told
    if re.match("CR(_| |\\[)[0-9]", condition):
        assert re.search("is precision here: that of class '[a-z]+', number [1-3] of 'setosa'", told)


def test_conditions_on_differences_are_of_that_class(capsys: pytest.CaptureFixture[str]) -> None:
    with resources.as_file(DATA / "iris.csv") as file:
        models = [word for name in ("lda", "knn") for word in ("--model", f"{name}={name}_*")]
        compared = sy.compare(file, {"lda": "lda_*", "knn": "knn_*"}, truth="species")
        words = ["compare", str(file), "--truth", "species", *models, "--measures", "precision,error"]
        assert main([*words, "--require", "(lda - knn).CR 2 > -1", "--require", "knn.CR 2 > 0.1"]) == 0
    gap = compared["lda"]["CR 2"].value - compared["knn"]["CR 2"].value
    assert f"(it is {gap:.4f}; CR 2 is precision here" in " ".join(capsys.readouterr().out.split()).replace("−", "-")


@pytest.mark.parametrize("condition", ["1 - error > 0.1", "lda.error < 0.1", "error is low", "0error > 0.1"])
def test_conditions_that_cannot_be_read_still_cannot(capsys: pytest.CaptureFixture[str], condition: str) -> None:
    with resources.as_file(DATA / "iris.csv") as file:
        words = ["assess", str(file), "--truth", "species", "--membership", "lda_*", "--require", condition]
        assert main(words) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_thresholds_are_chosen_in_the_words_of_the_lecture() -> None:
    truth, score = [0, 1, 0, 1, 1, 0, 1, 0], [0.1, 0.7, 0.6, 0.4, 0.9, 0.2, 0.8, 0.3]
    found = sy.assess(truth, score, event=1)
    said, plain = (
        found.best_threshold(goal)
        for goal in ("max power where type I error <= 0.25", "max sensitivity where fpr <= 0.25")
    )
    assert (said.threshold, str(said)) == (plain.threshold, str(plain))


# --- hints ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("type error", {"fpr", "fnr"}),
        ("likelihood ratio", {"lr_positive", "lr_negative"}),
        ("LR", {"lr_positive", "lr_negative"}),
        ("predictive value", {"precision", "npv"}),
        ("true error count", {"true_error_low", "true_error_high", "guarded_error"}),
        ("false alarm rate", {"fpr", "precision"}),
    ],
)
def test_a_name_that_several_measures_share_is_an_error_that_lists_them(name: str, choices: set[str]) -> None:
    with pytest.raises(UnknownMeasure) as told:
        sy.find(name)
    assert set(re.findall("'([^']+)'", told.value.mend)) == choices
    assert choices <= set(REGISTRY)


@pytest.mark.parametrize(
    ("name", "opposite"),
    [
        ("classification rates", "error"),
        ("clasification rate", "error"),
        ("mis-correctness rate", "accuracy"),
        ("expected accuracy rate", "error"),
        ("correct rate", "error"),
        ("pmc_max", "minimal_error"),
        ("sqerr_max_hat", "minimal_sqerr"),
        ("type 3 error", "fpr"),
    ],
)
def test_no_hint_offers_the_opposite(name: str, opposite: str) -> None:
    with pytest.raises(UnknownMeasure) as told:
        sy.find(name)
    offered = {ALIASES.get(each, each) for each in re.findall("'([^']+)'", told.value.mend)}
    assert opposite not in offered


@pytest.mark.parametrize(
    ("wanted", "there"),
    [
        ("classified", "misclassified"),
        ("classification rate", "misclassification_rate"),
        ("mis-classified", "classified"),
        ("error_rate", "correct_rate"),
        ("accuracy_rate", "error_rate"),
    ],
)
def test_what_is_right_is_not_taken_for_what_is_wrong(wanted: str, there: str) -> None:
    assert nearest(wanted, [there]) is None
    assert nearest(there, [wanted]) is None
    assert nearest(f"{wanted}s", [wanted, there]) == wanted


def test_a_measure_of_ones_own_takes_none_of_these_names() -> None:
    for name in ("erc_a", "expected_error_rate", "type_i_error"):
        with pytest.raises(UnknownMeasure, match=f"there is a measure '{name}' already"):
            sy.measure(better="lower", undefined="never", cite="nobody", aliases=(name,))(lambda correct: correct)
    with pytest.raises(BadOption):
        sy.compare([0, 1], {"a": [0, 1], "b": [0, 1]}, measures=[])

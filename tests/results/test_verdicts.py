"""Verdicts in words: every sentence says what the table behind it says, and in the right direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import Comparison, Continuum, compare
from steelyard.core.errors import BadOption, UnknownMeasure
from steelyard.inference.differences import holm
from steelyard.results.verdicts import p_value, rounded
from tests.cases_of import drawn

COLUMNS = ["measure", "better", "a", "b", "difference", "low", "high", "p", "p_adjusted", "verdict", "note"]
SCORED = ["error", "auc", "log_score"]


def spoiled(truth: Any, share: float, seed: int) -> Any:
    """Labels of which a share is wrong."""
    random = np.random.default_rng(seed)
    return np.where(random.random(len(truth)) < share, (truth + 1) % 3, truth)


def of(**shares: float) -> Comparison:
    """Classifiers that err so often, on 400 rows of three classes."""
    truth = np.arange(400) % 3
    return compare(truth, {name: spoiled(truth, share, seed) for seed, (name, share) in enumerate(shares.items())})


def scored(**more: Any) -> Comparison:
    """A good classifier and a poor one, by scores."""
    random = np.random.default_rng(5)
    truth = random.integers(0, 2, 300)
    good, poor = (np.clip(0.5 + by * (truth - 0.5) + 0.2 * random.normal(size=300), 0.02, 0.98) for by in (0.6, 0.1))
    return compare(truth, {"poor": poor, "good": good}, event=1, **more)


# --- two classifiers --------------------------------------------------------------------------------------------


def test_the_better_one_beats_the_other_whichever_end_is_better() -> None:
    found = scored(measures=["error", "accuracy"])
    table = found.verdict(["error", "accuracy"]).table()
    assert table.column_names == COLUMNS
    assert table["verdict"] == ["b", "b"]
    assert table["difference"][0] > 0 > table["difference"][1]
    first, second = str(found.verdict(["error", "accuracy"])).split("; ")
    less, more = table.to_pylist()
    assert first == (
        f"good beats poor by error: {less['difference']:.3f} less [{less['low']:.3f}, {less['high']:.3f}], p < .001"
    )
    assert second == (
        f"by accuracy good beats poor: {-more['difference']:.3f} more "
        f"[{-more['high']:.3f}, {-more['low']:.3f}], p < .001."
    )


def test_the_order_of_the_classifiers_changes_the_table_but_not_the_words() -> None:
    turned = of(x=0.5, y=0.1), of(y=0.1, x=0.5)
    assert [each.verdict("error").table()["verdict"] for each in turned] == [["b"], ["a"]]
    assert all(each.verdict("error").words(numbers=False) == "y beats x by error." for each in turned)


def test_what_cannot_be_told_apart_is_said_with_its_interval() -> None:
    found = of(x=0.2, y=0.22)
    (row,) = found.verdict("error").table()
    assert row["verdict"] == "neither" and row["low"] < 0 < row["high"] and row["p"] > 0.05
    ahead = "x" if row["difference"] < 0 else "y"
    words = str(found.verdict("error"))
    assert words.startswith(f"x and y can't be told apart by error: {ahead} has {abs(row['difference']):.3f} less [-0.")
    assert words.endswith(f", p {p_value(row['p'], 0.05)}.")
    later = found.verdict(["kappa", "error"]).words(numbers=False)
    assert later == "x and y can't be told apart by kappa; by error they can't be told apart."


def test_two_that_are_the_same_have_no_difference() -> None:
    truth, said = drawn(100)
    verdict = compare(truth, {"x": said, "y": said}).verdict("error")
    assert verdict.table()["verdict"] == ["neither"]
    assert str(verdict).startswith("x and y can't be told apart by error: no difference [")
    assert str(verdict).endswith("], p = 1.")


# --- margins ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", [(0.2, 0.22), (0.22, 0.19)])
def test_a_margin_that_holds_the_whole_interval_makes_them_as_good(shares: tuple[float, float]) -> None:
    found = of(x=shares[0], y=shares[1])
    (row,) = found.verdict("error").table()
    reach = max(-row["low"], row["high"])
    assert found.verdict("error", margin=reach).table()["verdict"] == ["equivalent"]
    assert found.verdict("error", margin=0.999 * reach).table()["verdict"] == ["neither"]
    assert str(found.verdict("error", margin=0.5)).startswith(
        "x and y are as good as each other by error (within 0.5): "
    )


def test_what_does_not_matter_is_no_victory_however_sure() -> None:
    found = of(x=0.5, y=0.1)
    assert found.verdict("error").table()["verdict"] == ["b"]
    assert found.verdict("error", margin=0.9).table()["verdict"] == ["equivalent"]


def test_a_margin_may_be_that_of_one_measure() -> None:
    found = of(x=0.2, y=0.22)
    assert found.verdict(["error", "kappa"], margin={"error": 0.5}).table()["verdict"] == ["equivalent", "neither"]
    with pytest.raises(BadOption, match=r"there is a margin for 'mcc'\. Measures are 'error'"):
        found.verdict("error", margin={"mcc": 0.1})


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, math.inf, "wide"])
def test_a_margin_is_a_number_above_nought(margin: Any) -> None:
    with pytest.raises(BadOption, match=r"the margin is .*\. Give a number above 0"):
        of(x=0.2, y=0.3).verdict("error", margin=margin)


# --- many classifiers -------------------------------------------------------------------------------------------


def test_of_many_the_first_is_held_against_all_others() -> None:
    found = of(poor=0.5, best=0.1, near=0.11, worse=0.3)
    verdict = found.verdict("error")
    assert verdict.first == {"error": "best"}
    assert verdict.words(numbers=False) == (
        "best has the lowest error: it beats poor and worse, but can't be told apart from near "
        "(Holm over 6 comparisons)."
    )
    assert verdict.table()["verdict"] == ["b", "b", "b", "neither", "a", "a"]
    assert str(verdict).startswith("best has the lowest error: it beats poor (0.") and str(verdict).count("Holm p") == 3
    wide = found.verdict("error", margin=0.1).words(numbers=False)
    assert ": it beats poor and worse, but within 0.1 is as good as near (Holm" in wide
    assert found.verdict("accuracy").words(numbers=False).startswith("best has the highest accuracy: it beats poor")


def test_where_nobody_is_beaten_that_is_not_said() -> None:
    words = of(x=0.2, y=0.21, z=0.22).verdict("error").words(numbers=False)
    assert ", but can't be told apart from " in words and "beats" not in words and " and " in words


def test_of_very_many_only_the_names_are_said() -> None:
    words = str(of(**{f"m{k}": 0.1 + 0.08 * k for k in range(6)}).verdict("error"))
    assert words.startswith("m0 has the lowest error: it beats m") and "[" not in words
    assert all(f"m{k}" in words for k in range(6))


def test_more_than_can_be_read_are_counted() -> None:
    truth = [0, 1] * 100
    bad = {f"bad {place}": [1 - label if row % 3 else label for row, label in enumerate(truth)] for place in range(9)}
    found = compare(truth, {"good": truth, **bad}, event=1).verdict("error")
    assert str(found) == "good has the lowest error: it beats all 9 others (Holm over 45 comparisons)."
    found = compare(truth, {"good": truth, "twin": truth, **bad}, event=1).verdict("error")
    assert str(found) == (
        "good has the lowest error, as has twin: it beats 9 others, but can't be told apart from twin "
        "(Holm over 55 comparisons)."
    )


def test_whoever_has_the_same_value_as_the_first_is_named_beside_it() -> None:
    truth, worse = [0, 1] * 20, [0, 1, 1, 1] * 10
    words = compare(truth, {"a": truth, "b": worse, "c": truth, "d": truth}, event=1).verdict("error")
    assert words.words(numbers=False).startswith("a has the lowest error, as have c and d: it beats b")
    alike = compare(truth, dict.fromkeys([f"m{place}" for place in range(11)], truth), event=1).verdict("accuracy")
    said = "m0 has the highest accuracy, as have all 10 others, but can't be told apart from all 10 others"
    assert str(alike) == f"{said} (Holm over 55 comparisons)."


def test_every_measure_has_its_line() -> None:
    lines = str(of(x=0.5, y=0.1, z=0.3).verdict(["error", "kappa"])).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["y has the lowest error", "y has the highest kappa"]


# --- what is undefined ------------------------------------------------------------------------------------------


def test_what_is_undefined_is_not_compared_and_says_why() -> None:
    truth = ["a", "a", "b", "b", "b", "a"] * 10
    said = {"right": truth, "all a": ["a"] * 60, "one off": ["b", *truth[1:]]}
    two = compare(truth, {name: said[name] for name in ("right", "all a")}, event="b").verdict("precision")
    assert two.table()["verdict"] == ["undefined"]
    reason = two.table()["note"][0]
    assert reason.startswith("all a: ") and len(reason) > len("all a: ")
    assert str(two) == f"right and all a can't be compared by precision: {reason}."
    many = compare(truth, said, event="b").verdict("precision")
    assert many.words(numbers=False) == (
        "right has the highest precision, but can't be told apart from one off and can't be compared with all a."
    )
    assert f"can't be compared with all a ({reason})" in str(many)
    none = compare(truth, {name: ["a"] * 60 for name in "xyz"}, event="b").verdict("precision")
    assert str(none).startswith("nobody can be compared by precision: x: ")


def test_an_infinite_difference_has_no_interval_and_no_p_value() -> None:
    truth, said = ["a", "b"] * 4, {"sure": [0.9, 0.2] * 4, "wrong": [0.0, 0.2] * 4}
    found = compare(truth, said, event="a", measures=["log_score"]).verdict("log_score")
    reason = "4 rows to which wrong gave probability 0 decide this; no p-value"
    assert str(found) == f"sure and wrong can't be compared by log score: {reason}."
    (row,) = found.table()
    assert (row["difference"], row["verdict"], row["note"]) == (-math.inf, "undefined", reason)
    assert all(math.isnan(row[name]) for name in ("low", "high", "p", "p_adjusted"))


def test_two_infinite_values_have_no_difference() -> None:
    truth = [0, 1] * 20
    sure = [1.0, *truth[1:]]
    found = compare(truth, {"x": sure, "y": sure}, event=1, measures=["log_score"]).verdict()
    assert found.table()["note"] == ["both are infinite"]
    assert str(found) == "x and y can't be compared by log score: both are infinite."
    found = compare(truth, dict.fromkeys("xyz", sure), event=1, measures=["log_score"]).verdict()
    assert str(found) == "nobody can be compared by log score: all are infinite."


# --- the table --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["delta", "percentile"])
def test_the_table_is_that_of_the_differences(method: Any) -> None:
    found = scored(method=method, replicates=200)
    table, differences = found.verdict(SCORED).table(), found.differences(SCORED)
    for column in ("measure", "a", "b", "difference", "low", "high", "p", "p_adjusted"):
        assert table[column] == differences[column]
    assert table["p_adjusted"] == table["p"]  # one pair by each measure


def test_the_level_decides() -> None:
    truth = np.arange(400) % 3
    said = {"x": spoiled(truth, 0.2, 0), "y": spoiled(truth, 0.26, 1)}
    (p,) = compare(truth, said).differences("error")["p"]
    assert 0.001 < p < 0.5
    strict, lenient = (compare(truth, said, level=1 - p * by).verdict("error") for by in (0.99, 1.01))
    assert (strict.table()["verdict"], lenient.table()["verdict"]) == (["neither"], ["a"])


def test_the_adjusted_p_value_decides_not_the_bare_one() -> None:
    truth = np.arange(400) % 3
    said = {"x": spoiled(truth, 0.2, 0), "y": spoiled(truth, 0.26, 1)}
    (p,) = compare(truth, said).differences("error")["p"]
    level = 1 - 1.5 * p
    assert compare(truth, said, level=level).verdict(["error", "accuracy"]).table()["verdict"] == ["a", "a"]
    three = compare(truth, {**said, "z": said["x"]}, level=level).verdict("error").table()
    assert three["verdict"][0] == "neither"
    assert three["p_adjusted"] == holm(three["p"]) != three["p"]


def test_the_usual_measures_are_those_that_were_computed() -> None:
    assert list(scored().verdict().titles) == SCORED
    assert list(of(x=0.2, y=0.3).verdict().titles) == ["error"]
    assert list(scored(measures=["kappa", "prevalence"]).verdict().titles) == ["kappa"]
    value = np.linspace(0, 1, 60)
    said = {"x": (value > 0.45).astype(int), "y": (value > 0.6).astype(int)}
    assert compare(value, said, scale=Continuum([0.5], [0, 1], sd=0.1)).verdict().titles == {
        "error": "apparent error",
        "adjusted_error": "adjusted error",
        "apparent_sqerr": "apparent sqerr",
        "adjusted_sqerr": "adjusted sqerr",
    }


def test_what_cannot_be_judged_is_refused_with_a_mend() -> None:
    with pytest.raises(BadOption, match=r"a verdict needs two classifiers\. Compare at least two"):
        of(x=0.2).verdict()
    with pytest.raises(BadOption, match=r"no value of prevalence is better than another\. Choose another measure"):
        of(x=0.2, y=0.3).verdict(["error", "prevalence"])
    with pytest.raises(BadOption, match=r"no measure is named\. Name at least one"):
        of(x=0.2, y=0.3).verdict([])
    with pytest.raises(UnknownMeasure, match="erorr"):
        of(x=0.2, y=0.3).verdict("erorr")


def test_names_from_users_cannot_act() -> None:
    truth, said = drawn(100)
    found = compare(truth, {"\x1b[31mred": said, "<b>bold</b>": truth}).verdict("error")
    assert "\x1b" not in str(found) and r"\x1b[31mred" in repr(found)
    html = found._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;bold&lt;/b&gt; beats" in html


def test_a_printed_comparison_ends_with_the_verdict_on_the_measure_it_shows() -> None:
    found = of(x=0.5, y=0.1)
    assert str(found).rstrip().endswith(f"\n{found.verdict()}")
    assert str(found.verdict()).startswith("y beats x by error: ")
    truth, said = drawn(50)
    assert "beats" not in str(compare(truth, {"x": said, "y": truth}, measures=["prevalence"]))


# --- numbers in sentences ---------------------------------------------------------------------------------------


def test_numbers_have_the_digits_that_their_interval_warrants() -> None:
    assert rounded(0.5512, 0.1049, 1.0151) == ["0.55", "0.10", "1.02"]
    assert rounded(0.0123456, 0.01, 0.0146) == ["0.0123", "0.0100", "0.0146"]
    assert rounded(1234.5, -200.0, 2669.0) == ["1,234", "-200", "2,669"]
    assert rounded(-0.0001, -0.1, 0.1) == ["0.00", "-0.10", "0.10"]
    assert rounded(0.0, 0.0, 0.0) == ["0.000"] * 3
    assert rounded(5.3222968e24, 4.1e24, 6.5444e24) == ["5.32e+24", "4.1e+24", "6.54e+24"]
    assert rounded(1.2e-12, -3.456e-13, 2.7e-12) == ["1.2e-12", "-3.46e-13", "2.7e-12"]
    assert rounded(12345678.0, 12345671.0, 12345690.0) == ["12345678", "12345671", "12345690"]
    assert rounded(1e-9, 1e-300, 1e300)[1:] == ["1e-300", "1e+300"]
    assert rounded(math.inf, 1.5, math.inf) == ["∞", "1.500", "∞"]


def test_p_values_read_as_papers_print_them() -> None:
    said = {
        0.0101: "= .01",
        0.0004: "< .001",
        0.32: "= .32",
        0.5: "= .50",
        0.9996: "> .99",
        1.0: "= 1",
        0.004: "= .004",
    }
    assert {p: p_value(p, 0.05) for p in said} == said
    assert p_value(0.0496, 0.05) == "= .05" and p_value(0.0504, 0.05) == "= .0504"
    assert p_value(0.0004, 0.0001) == "= .0004" and p_value(0.00004, 0.0001) == "< .0001"


@given(st.floats(0, 1), st.sampled_from([0.1, 0.05, 0.01, 0.001]))
def test_a_p_value_is_seen_on_its_side_of_the_level(p: float, chance: float) -> None:
    sign, shown = p_value(p, chance).split()
    if sign == "=" and abs(p - chance) > 1e-8:
        assert (float(shown) <= chance) == (p <= chance)
        assert float(shown) == pytest.approx(p, abs=0.005 + 1e-12)
    elif sign == "<":
        assert p < float(shown) <= max(chance, 0.001)


@pytest.mark.parametrize(
    ("measures", "judged"),
    [
        (["accuracy", "auc", "log_score", "f1"], ["accuracy", "auc", "log_score"]),
        (["accuracy", "error", "auc"], ["error", "auc"]),
        (["f1", "accuracy"], ["accuracy"]),
    ],
)
def test_accuracy_counts_as_error_does_where_only_that_was_asked_for(measures: list[str], judged: list[str]) -> None:
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 60)
    scores = {name: 1 / (1 + np.exp(-(truth - 0.5 + random.normal(size=60)))) for name in "ab"}
    found = compare(truth, scores, event=1, measures=measures)
    assert found.verdict().table()["measure"] == judged
    assert list(dict.fromkeys(found.plot.ranking().frame()["measure"])) == judged

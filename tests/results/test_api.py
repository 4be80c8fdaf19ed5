"""The front door: what goes in, and what comes back out of a tally."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import steelyard as sy
from steelyard import Scale, SteelyardError, Tally, assess, assess_table, assess_tally, compare, compare_tally
from steelyard.core.errors import BadOption, OutsideUnitInterval, UnknownMeasure
from tests.cases_of import drawn


def test_a_saved_tally_is_assessed_like_its_rows(tmp_path: Path) -> None:
    truth, assigned = drawn(100, 3)
    found = assess(truth, assigned, level=0.9)
    found.tally.save(tmp_path / "one.tally")
    again = assess_tally(Tally.load(tmp_path / "one.tally"), level=0.9)
    assert_array_equal(again.results.value, found.results.value)
    assert_array_equal(again.results.high, found.results.high)


def test_days_add_up() -> None:
    truth, assigned = drawn(300, 3)
    scale = Scale([0, 1, 2])
    monday, tuesday = (assess(truth[part], assigned[part], scale=scale).tally for part in (slice(100), slice(100, 300)))
    assert assess_tally(monday + tuesday)["kappa"] == assess(truth, assigned, scale=scale)["kappa"]
    assert assess_tally(monday + tuesday - monday)["kappa"] == assess_tally(tuesday)["kappa"]


def test_a_tally_of_several_classifiers_needs_a_name() -> None:
    truth, first = drawn(100, 2, 0.8, 1)
    second = drawn(100, 2, 0.6, 2)[1]
    tally = compare(truth, {"x": first, "y": second}).tally
    with pytest.raises(SteelyardError, match="'x', 'y'"):
        assess_tally(tally)
    assert assess_tally(tally, "y")["error"].value == pytest.approx((truth != second).mean())
    again = compare_tally(tally, measures=["error"])
    assert again.differences("error")["difference"][0] == pytest.approx(
        (truth != first).mean() - (truth != second).mean()
    )
    with pytest.raises(SteelyardError, match="rows are not at hand"):
        again.deciding_rows("error", "x", "y")


def test_an_empty_tally_is_refused() -> None:
    with pytest.raises(SteelyardError, match="empty"):
        assess_tally(Tally.empty(Scale(["a", "b"]), ["m"]))


def test_costs_by_class_name() -> None:
    table = [[10, 2], [3, 5]]
    by_names = {"no": {"yes": 1.0}, "yes": {"no": 5.0}}
    by_pairs = {("no", "yes"): 1.0, ("yes", "no"): 5.0}
    for costs in (by_names, by_pairs, [[0, 1], [5, 0]]):
        found = assess_table(table, classes=["no", "yes"], cost=costs)
        assert found["cost"].value == pytest.approx((2 * 1 + 3 * 5) / 20)
    with pytest.raises(SteelyardError, match="no cost for true 'yes'"):
        assess_table(table, classes=["no", "yes"], cost={"no": {"yes": 1.0}})["cost"]
    with pytest.raises(SteelyardError, match="not numbers"):
        assess_table(table, cost=[["a", "b"], ["c", "d"]])["cost"]
    with pytest.raises(SteelyardError, match="cost="):
        assess_table(table)["cost"]


def test_one_cluster_says_nothing_about_spread() -> None:
    found = assess(["a", "b", "a", "b"], ["a", "a", "a", "b"], group=[1, 1, 1, 1])
    assert (found["error"].low, found["error"].high) == (0, 1)
    assert (found["kappa"].low, found["kappa"].high) == (-1, 1)
    assert any("one cluster" in note for note in found.notes)


def test_a_stand_in_has_no_interval() -> None:
    found = assess_table([[10, 2, 0], [3, 9, 0], [1, 2, 0]], undefined=0.0)["precision", 2]
    assert found.value == 0
    assert found.low != found.low


def test_whoever_asks_for_all_measures_is_told_how() -> None:
    with pytest.raises(SteelyardError, match="Name none for all that suit the data"):
        assess([0, 1], [0, 1], measures="all")


def test_keys_that_lead_nowhere() -> None:
    found = assess_table([[10, 2], [3, 5]], measures=["error", "fbeta(beta=0.5)"])
    assert found["fbeta"].measure == "fbeta(beta=0.5)"
    for key, word in [("kappa", "not asked for"), ("nonsense", "no measure"), ("precision_at", "needs 'prevalence'")]:
        with pytest.raises(SteelyardError, match=word):
            _ = found[key]
    with pytest.raises(SteelyardError, match="not one of the classes"):
        _ = found["error", "maybe"]
    with pytest.raises(SteelyardError, match="Did you mean 'kappa'"):
        assess_table([[10, 2], [3, 5]], measures=["kapa"])


def test_parameters_of_numpy_are_called_as_plain_ones() -> None:
    numbers: list[tuple[str, dict[str, Any], str]] = [
        ("fbeta", {"beta": np.int64(3)}, "fbeta(beta=3)"),
        ("fbeta", {"beta": np.float64(0.5)}, "fbeta(beta=0.5)"),
        ("partial_auc", {"specificity": (np.float64(0.8), np.float64(1.0))}, "partial_auc(specificity=(0.8, 1.0))"),
    ]
    for name, parameters, label in numbers:
        assert sy.find(name, **parameters).label == label
    found = assess_table([[10, 2], [3, 5]], measures=["fbeta", sy.find("fbeta", beta=np.int64(3))])
    assert list(found) == ["fbeta", "fbeta(beta=3)"]


def test_weighted_kappa_says_when_nobody_ordered_the_classes() -> None:
    truth, said = ["low", "mid", "high", "low"], ["low", "mid", "mid", "low"]
    assert assess(truth, said)["weighted_kappa"].note == "classes in sorted order; give a scale to order them"
    assert assess(truth, said, scale=Scale(["low", "mid", "high"]))["weighted_kappa"].note == ""


@pytest.mark.parametrize(
    "options",
    [
        {"level": None},
        {"level": 95},
        {"level": 1 - 1e-16},
        {"level": float("nan")},
        {"method": "guess"},
        {"method": None},
        {"replicates": None},
        {"replicates": 0},
        {"seed": -1},
        {"undefined": None},
        {"undefined": "zero"},
        {"measures": []},
        {"measures": False},
        {"measures": [3]},
        {"measures": ["fbeta(gamma=1)"]},
        {"measures": ["fbeta(beta=__import__('os'))"]},
    ],
    ids=str,
)
def test_bad_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(SteelyardError) as caught:
        assess_table([[3, 1], [1, 3]], **options)
    assert str(caught.value)


@pytest.mark.parametrize(
    "counts",
    [
        [[1, 2]],
        [[1, -2], [3, 4]],
        [[1, float("nan")], [3, 4]],
        [[0, 0], [0, 0]],
        [["a", "b"], ["c", "d"]],
        [["3", "1"], ["1", "3"]],
        [[1j, 1], [1, 1]],
        [[10**400, 1], [1, 1]],
        [[1e308, 1e308], [1, 1]],
        [[1, 2], [3]],
        [],
        None,
        5,
        np.ma.MaskedArray([[1, 2], [3, 4]], mask=[[True, False], [False, False]]),
    ],
    ids=lambda counts: str(counts)[:30],
)
def test_bad_tables_are_refused(counts: Any) -> None:
    with pytest.raises(SteelyardError):
        assess_table(counts)


def test_names_that_are_one_as_text_are_refused() -> None:
    with pytest.raises(SteelyardError, match="same name"):
        compare([0, 1], {1: [0, 1], "1": [0, 1]})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_predictions_has_a_classifier_in_each_column(library: str) -> None:
    columns = {"rule": ["no", "yes", "yes", "no"], "model": [0.2, 0.7, 0.4, 0.1]}
    frames = pytest.importorskip(library)
    frame = frames.table(columns) if library == "pyarrow" else frames.DataFrame(columns)
    truth = ["no", "yes", "yes", "yes"]
    found = compare(truth, frame, event="yes")
    assert found.models == ("rule", "model")
    assert found.table().to_json() == compare(truth, columns, event="yes").table().to_json()


def test_rows_of_a_frame_of_predictions_are_told_by_their_index() -> None:
    pandas = pytest.importorskip("pandas")
    truth = pandas.Series([0, 1, 1])
    said = pandas.DataFrame({"a": [0, 1, 0], "b": [1, 1, 1]}, index=[2, 0, 1])
    with pytest.raises(SteelyardError, match="index"):
        compare(truth, said)
    with pytest.raises(SteelyardError, match="no names"):
        compare(truth, said["a"])


def test_results_can_be_gone_through_and_written_as_numbers() -> None:
    """As dictionaries of measures and of classifiers, and as any number in a text."""
    found = sy.assess(["a", "b", "a"], ["a", "b", "b"])
    assert "kappa" in found
    assert "auc" not in found
    assert {name: found[name].value for name in found}["error"] == found["error"].value
    assert f"{found['error']:.3f}" == "0.333"
    assert f"{found['error']}" == str(found["error"])
    comparison = sy.compare(["a", "b", "a"], {"lda": ["a", "b", "b"], "qda": ["a", "b", "a"]})
    assert list(comparison) == ["lda", "qda"]
    assert "knn" not in comparison


def test_large_numbers_as_labels_stay_apart_in_pandas() -> None:
    """Beside values of all classes, which have no label."""
    labels = [2**53, 2**53 + 1]
    frame = sy.assess(labels, labels).table().to_pandas()
    assert set(frame["class"].dropna()) == set(labels)


def test_scores_of_ordered_classes_say_where_the_order_comes_from() -> None:
    """The order of the alphabet is seldom meant."""
    truth, said = ["low", "mid", "high"], [[0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.8, 0.1, 0.1]]
    found = sy.assess(truth, said, measures=["ranked_probability_score", "weighted_kappa"])
    assert "sorted order" in found["ranked_probability_score"].note
    named = sy.assess(truth, said, scale=sy.Scale(["low", "mid", "high"]), measures=["ranked_probability_score"])
    assert named["ranked_probability_score"].note == ""


def test_training_rows_weigh_and_belong_together_as_the_named_columns_say() -> None:
    frame = pa.table(
        {
            "t": ["a", "a", "b", "b"] * 5,
            "s": ["a", "b", "b", "b"] * 5,
            "w": [1, 9, 1, 1] * 5,
            "g": [row // 4 for row in range(20)],
        }
    )
    columns: dict[str, Any] = {"truth": "t", "assigned": "s", "measures": ["error"]}
    both = sy.assess(frame, weight="w", group="g", training=frame, **columns)
    assert both.training is not None
    assert both.training["error"].value == both["error"].value == 0.75
    assert (both.training["error"].se, both.training["error"].method) == (both["error"].se, both["error"].method)
    arrays = sy.assess(frame, weight=frame["w"].to_numpy(), training=frame, **columns)
    assert arrays.training is not None
    assert arrays.training["error"].value == 0.25  # the weights are those of other rows
    with pytest.raises(SteelyardError, match="'w'"):
        sy.assess(frame, weight="w", training=frame.drop_columns(["w"]), **columns)


def test_options_that_make_no_sense_are_refused_with_a_mend() -> None:
    truth, said = [0, 1, 0, 1, 1, 0], [0.2, 0.9, 0.6, 0.7, 0.4, 0.1]
    result, both = assess(truth, said, event=1), compare(truth, {"a": said, "b": said[::-1]}, event=1)
    for most in (-1, 0, 1.5, True):
        with pytest.raises(BadOption, match="Give a whole number, 1 or above"):
            both.deciding_rows("error", "a", "b", most=most)  # type: ignore[arg-type]
    with pytest.raises(UnknownMeasure, match="5 names no measures"):
        result.thresholds(5)  # type: ignore[arg-type]
    with pytest.raises(BadOption, match=r"share is \[\]. Say 'none', 'true', 'assigned' or 'all'"):
        result.confusion([])  # type: ignore[arg-type]
    with pytest.raises(BadOption, match=r"Say plot\.roc\(\), .* or plot\.ranking\(\)"):
        result.plot()


def test_scores_of_several_classes_are_not_said_to_need_a_threshold() -> None:
    with pytest.raises(OutsideUnitInterval) as several:
        assess([0, 1, 2], [[2.0, -1.0, 0.5], [0.1, 3.0, 0.2], [0.0, 0.0, 4.0]])
    assert "threshold" not in str(several.value)
    assert "standardise(scores, 'softmax')" in str(several.value)
    with pytest.raises(OutsideUnitInterval, match="threshold="):
        assess([0, 1, 1], [2.0, -1.0, 0.5], event=1)


def test_a_gap_to_what_is_infinite_is_infinite() -> None:
    truth = np.repeat([0, 1], 20)
    test, trained = truth.copy(), truth.copy()
    test[20:24], trained[[0, 1, 20, 21]] = 0, [1, 1, 0, 0]
    gap = sy.assess(truth, test, event=1, training=(truth, trained)).gap("lr_positive")
    assert gap.value == gap.high == np.inf
    assert -30 < gap.low < 0
    back = sy.assess(truth, trained, event=1, training=(truth, test)).gap("lr_positive")
    assert (back.value, back.low, back.high) == (-np.inf, -np.inf, -gap.low)
    none = sy.assess(truth, test, event=1, training=(truth, test)).gap("lr_positive")
    assert np.isnan([none.value, none.low, none.high]).all()


@pytest.mark.parametrize("form", [dict, np.array])
def test_costs_that_a_measure_brings_along_are_its_own(form: Any) -> None:
    forms: dict[Any, Any] = {
        dict: lambda cost: {"a": {"b": cost}, "b": {"a": 1}},
        np.array: lambda cost: np.array([[0, cost], [1, 0]]),
    }
    truth, said = ["a", "b", "a", "b", "a"], ["a", "b", "b", "b", "a"]
    dear, cheap = sy.find("cost", costs=forms[form](10)), sy.find("cost", costs=forms[form](1))
    found = assess(truth, said, cost=forms[form](1))
    assert [found[each].value for each in ("cost", dear, cheap)] == [0.2, 2.0, 0.2]
    both = compare(truth, {"said": said, "right": truth}, cost=forms[form](1))
    assert both.differences(dear)["difference"] == [2.0]
    with pytest.raises(UnknownMeasure, match="was not asked for"):
        assess(truth, said, cost=forms[form](1), measures=["cost"])[dear]


def test_a_gap_has_neither_the_sum_nor_the_certified_bounds_of_the_test_rows() -> None:
    truth, chance = ["no", "no", "yes", "yes"], [0.4, 0.2, 0.5, 0.9]
    found = assess(truth, chance, event="yes", training=(truth, [0.1, 0.1, 0.9, 0.9]))
    assert found["brier"].sum is not None
    assert (found.gap("brier").sum, found.gap("brier").certified) == (None, None)


def test_training_rows_of_several_classes_are_assigned_at_the_least_cost_too(tmp_path: Path) -> None:
    random, columns = np.random.default_rng(1), ["p_a", "p_b", "p_c"]
    truth, chances = random.choice(list("abc"), 60), random.dirichlet([1, 1, 1], 60)
    cost = {"a": {"b": 1, "c": 10}, "b": {"a": 1, "c": 1}, "c": {"a": 20, "b": 5}}
    found = assess(truth, chances, cost=cost, threshold="cost", training=(truth, chances))
    assert found.training is not None
    assert_array_equal(found.training.confusion(), found.confusion())
    file = tmp_path / "three.csv"
    rows = [",".join([label, *map(repr, row)]) for label, row in zip(truth, chances.tolist(), strict=True)]
    file.write_text("\n".join([",".join(["truth", *columns]), *rows, ""]))
    read = assess(
        file, truth="truth", membership=columns, cost=cost, threshold="cost", training=file, measures=["cost"]
    )
    assert (read["cost"].value, read.gap("cost").value) == (found["cost"].value, 0.0)


def test_what_only_single_classes_have_is_shown_by_class() -> None:
    found = str(assess(["a", "b", "c", "a"] * 10, ["a", "b", "b", "a"] * 10, measures=["prevalence"]))
    assert "0.500 [0.352, 0.648]" in found
    assert "95% interval " not in found, "a table of nothing is left out"


def test_results_are_told_apart_and_kept_in_sets() -> None:
    """They hold arrays, which == and hash would compare."""
    truth, said = ["a", "b", "b", "a"], ["a", "b", "a", "a"]
    one, two = sy.assess(truth, said), sy.assess(truth, said)
    both, again = sy.compare(truth, {"m": said, "n": truth}), sy.compare(truth, {"m": said, "n": truth})
    for first, second in ((one, two), (one.tally, two.tally), (both, again)):
        assert first != second
        assert [first, second].index(second) == 1
        assert len({first, second, first}) == 2

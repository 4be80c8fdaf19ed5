"""What must hold for every measure of counts in the registry, whatever the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from steelyard import Assessment, Scale, Tally, all_measures, assess, assess_table, compare, find
from steelyard.inference.settings import Settings, settle
from steelyard.inputs.validate import Validator
from steelyard.measures.registry import Measure
from steelyard.states.statistics import CONFUSION
from tests.cases_of import CLASSES, Labels, labelled
from tests.effort import repeats

Case = tuple[tuple[str, ...], Labels, Labels]

EXACT = 1e-12
COUNTED = {name: entry for name, entry in all_measures().items() if entry.statistic is CONFUSION}


def prepared(classes: tuple[str, ...]) -> list[Measure]:
    """All measures of counts, with what some of them need."""
    needed: dict[str, dict[str, Any]] = {
        "cost": {"costs": 1.0 + np.arange(len(classes) ** 2).reshape(len(classes), -1) - np.eye(len(classes))},
        "precision_at": {"prevalence": 0.2},
        "npv_at": {"prevalence": 0.2},
    }
    return [entry.with_parameters(**needed.get(name, {})) for name, entry in COUNTED.items()]


def settings_for(classes: tuple[str, ...]) -> Settings:
    return settle(prepared(classes))


def tallied(classes: tuple[str, ...], truth: Any, assigned: Any, **options: Any) -> Tally:
    return Tally.of(Validator(scale=Scale(classes), **options).validate(truth, {"m": assigned}))


def columns(tally: Tally, classes: tuple[str, ...], **changes: Any) -> dict[str, Any]:
    results = Assessment(tally, replace(settings_for(classes), **changes), "m").results
    return {"value": results.value, "low": results.low, "high": results.high, "se": results.errors.plain}


def assert_same(left: dict[str, Any], right: dict[str, Any], tolerance: float = 1e-9) -> None:
    for name, values in left.items():
        assert_allclose(values, right[name], rtol=tolerance, atol=1e-10, err_msg=name)


@given(labelled(), st.integers(0, 30))
def test_parts_merged_are_the_whole(case: Case, cut: int) -> None:
    classes, truth, assigned = case
    cut = min(cut, len(truth))
    whole = tallied(classes, truth, assigned)
    empty = Tally.empty(Scale(classes), ["m"])
    head = tallied(classes, truth[:cut], assigned[:cut]) if cut else empty
    tail = tallied(classes, truth[cut:], assigned[cut:]) if cut < len(truth) else empty
    for merged in (head + tail, tail + head, whole + empty, empty + whole):
        assert_array_equal(merged.sums.keys, whole.sums.keys)
        assert_array_equal(merged.sums.values, whole.sums.values)
    assert_array_equal((whole - tail).sums.values, head.sums.values)
    assert_array_equal((whole - tail).sums.keys, head.sums.keys)


@given(labelled())
def test_saving_and_loading_changes_nothing(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    classes, truth, assigned = case
    whole = tallied(classes, truth, assigned, group=np.arange(len(truth)) % 5, by=truth)
    path: Path = tmp_path_factory.mktemp("tally") / "one.tally"
    whole.save(path)
    again = Tally.load(path)
    assert again.scale == whole.scale
    assert again.slices == whole.slices
    assert_same(columns(again, classes), columns(whole, classes), EXACT)


@given(labelled(), st.integers(2, 5))
def test_a_whole_weight_is_the_row_so_many_times(case: Case, times: int) -> None:
    classes, truth, assigned = case
    weights = 1 + np.arange(len(truth)) % times
    by_weight = columns(tallied(classes, truth, assigned, weight=weights, weight_kind="frequency"), classes)
    by_rows = columns(tallied(classes, np.repeat(truth, weights), np.repeat(assigned, weights)), classes)
    assert_same(by_weight, by_rows)


@given(labelled(), st.floats(0.01, 100))
def test_the_unit_of_sampling_weights_does_not_matter(case: Case, factor: float) -> None:
    classes, truth, assigned = case
    weights = np.random.default_rng(len(truth)).uniform(0.5, 2, len(truth))
    once = columns(tallied(classes, truth, assigned, weight=weights), classes)
    scaled = columns(tallied(classes, truth, assigned, weight=weights * factor), classes)
    assert_same(once, scaled, 1e-6)


@given(labelled(), st.randoms())
def test_the_order_of_rows_does_not_matter(case: Case, random: Any) -> None:
    classes, truth, assigned = case
    order = list(range(len(truth)))
    random.shuffle(order)
    assert_same(
        columns(tallied(classes, truth, assigned), classes),
        columns(tallied(classes, truth[order], assigned[order]), classes),
        EXACT,
    )


@given(labelled(), st.randoms())
def test_relabelling_the_classes_relabels_the_result(case: Case, random: Any) -> None:
    classes, truth, assigned = case
    shuffled = list(classes)
    random.shuffle(shuffled)
    # Costs and distances belong to places on the scale, so those two measures are left out here.
    free = [measure for measure in prepared(classes) if measure.penalty is None]
    here = assess(truth, assigned, scale=Scale(classes), measures=free)
    there = assess(truth, assigned, scale=Scale(shuffled), measures=free)
    for measure in free:
        for part in [*classes, *(["macro", "weighted", "micro"] if measure.per_class else [None])]:
            one, other = here[measure, part], there[measure, part]
            assert_allclose([one.value, one.low, one.high], [other.value, other.low, other.high], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("name", list(COUNTED))
def test_a_perfect_classifier_reaches_the_better_end(name: str, size: int) -> None:
    classes = CLASSES[:size]
    entry = next(measure for measure in prepared(classes) if measure.name == name)
    if entry.name == "cost":
        entry = find("cost", costs=1 - np.eye(size))
    truth = list(classes) * 5
    found = assess(truth, truth, scale=Scale(classes), measures=[entry])[entry]
    if entry.better == "neither":
        assert found.value == pytest.approx(1 / size)
    else:
        end = 0.0 if entry.name == "cost" else entry.span[0 if entry.better == "lower" else 1]
        assert found.value == end
        assert found.low < found.high, "an all-right table still has an honest interval"


@pytest.mark.parametrize("name", [name for name, entry in COUNTED.items() if entry.chance is not None])
def test_a_guess_has_the_chance_value(name: str) -> None:
    entry = COUNTED[name]
    table = np.outer([20, 30, 50], [10, 60, 30])
    expected = 1 / 3 if entry.chance == "1/C" else entry.chance
    assert assess_table(table, measures=[name])[name].value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "parameter", "values"),
    [
        ("fbeta", "beta", (0.5, 2.0)),
        ("weighted_kappa", "weights", ("linear", "quadratic")),
        ("weighted_kappa", "weights", ("linear", [[0, 1, 1], [1, 0, 1], [1, 1, 0]])),
        ("precision_at", "prevalence", (0.1, 0.5)),
        ("npv_at", "prevalence", (0.1, 0.5)),
        ("cost", "costs", (1 - np.eye(3), 2 - 2 * np.eye(3))),
    ],
)
def test_every_parameter_changes_something(name: str, parameter: str, values: tuple[Any, Any]) -> None:
    table = [[30, 5, 2], [4, 20, 9], [1, 6, 40]]
    found = [find(name, **{parameter: value}) for value in values]
    one, other = (assess_table(table, measures=[entry])[entry].value for entry in found)
    assert one != pytest.approx(other)


def test_no_parameter_is_left_out_above() -> None:
    taken = {(name, parameter) for name, entry in COUNTED.items() for parameter in entry.parameters}
    marks = [mark for mark in test_every_parameter_changes_something.pytestmark if mark.name == "parametrize"]
    assert taken == {(name, parameter) for name, parameter, _ in marks[0].args[1]}


@given(labelled(), st.sampled_from([0.5, 0.9, 0.99]))
def test_intervals_hold_the_value_and_stay_in_the_span(case: Case, level: float) -> None:
    classes, truth, assigned = case
    results = Assessment(tallied(classes, truth, assigned), replace(settings_for(classes), level=level), "m").results
    known = ~np.isnan(results.value)
    assert (results.low[known] <= results.value[known]).all()
    assert (results.value[known] <= results.high[known]).all()
    assert np.isnan(results.low[~known]).all()
    for slot, low, high in zip(results.slots, results.low, results.high, strict=True):
        if not np.isnan(low):
            assert slot.measure.span[0] - 1e-12 <= low <= high <= slot.measure.span[1] + 1e-12


@given(labelled())
def test_a_higher_level_has_the_wider_interval(case: Case) -> None:
    classes, truth, assigned = case
    tally = tallied(classes, truth, assigned)
    narrow, wide = columns(tally, classes, level=0.8), columns(tally, classes, level=0.99)
    known = ~np.isnan(narrow["value"])
    assert (wide["low"][known] <= narrow["low"][known] + 1e-12).all()
    assert (wide["high"][known] >= narrow["high"][known] - 1e-12).all()


@given(labelled())
def test_what_is_undefined_says_why(case: Case) -> None:
    classes, truth, assigned = case
    found = assess(truth, assigned, scale=Scale(classes), measures=prepared(classes)).table()
    for row in found:
        if np.isnan(row["value"]):
            assert row["note"], row["measure"]
            assert "{class}" not in row["note"]


@given(labelled())
def test_averages_are_made_of_the_classes(case: Case) -> None:
    classes, truth, assigned = case
    entries = [measure for measure in prepared(classes) if measure.per_class]
    found = assess(truth, assigned, scale=Scale(classes), measures=entries)
    prevalence = found.confusion().sum(axis=1)
    for entry in entries:
        values = np.array([found[entry, label].value for label in classes])
        known = ~np.isnan(values)
        if not known.any() or np.isinf(values).any():
            continue
        assert found[entry, "macro"].value == pytest.approx(values[known].mean())
        if prevalence[known].sum() > 0:
            weighted = np.average(values[known], weights=prevalence[known])
            assert found[entry, "weighted"].value == pytest.approx(weighted)


@given(labelled())
def test_micro_sensitivity_is_accuracy(case: Case) -> None:
    classes, truth, assigned = case
    found = assess(truth, assigned, scale=Scale(classes))
    for name in ("sensitivity", "precision", "f1"):
        assert found[name, "micro"].value == pytest.approx(found["accuracy"].value)
    assert found["sensitivity", "weighted"].value == pytest.approx(found["accuracy"].value)


@given(labelled())
def test_a_class_and_the_rest_make_a_table_of_two(case: Case) -> None:
    classes, truth, assigned = case
    found = assess(truth, assigned, scale=Scale(classes))
    for label in classes:
        two = assess(truth == label, assigned == label, scale=Scale([False, True], event=True))
        for name in ("error", "kappa", "mcc", "balanced_accuracy", "g_mean", "sensitivity", "lr_negative", "jaccard"):
            one, other = found[name, label], two[name]
            ours, theirs = ([e.value, e.se, e.low, e.high] for e in (one, other))
            assert_allclose(ours, theirs, rtol=1e-7, atol=1e-12)


@given(labelled(), st.integers(1, 4))
def test_a_slice_is_assessed_as_if_it_were_alone(case: Case, parts: int) -> None:
    classes, truth, assigned = case
    part = np.arange(len(truth)) % parts
    together = assess(truth, assigned, scale=Scale(classes), by=part)
    for label, sliced in together.slices.items():
        alone = assess(truth[part == label], assigned[part == label], scale=Scale(classes))
        assert_array_equal(sliced.results.value, alone.results.value)
        assert_array_equal(sliced.results.high, alone.results.high)


@given(labelled(least_rows=2))
def test_clusters_of_one_row_are_independent_rows(case: Case) -> None:
    classes, truth, assigned = case
    rows = len(truth)
    alone = assess(truth, assigned, scale=Scale(classes)).results
    grouped = assess(truth, assigned, scale=Scale(classes), group=np.arange(rows)).results
    assert_array_equal(alone.value, grouped.value)
    assert_allclose(grouped.errors.plain, alone.errors.plain * np.sqrt(rows / (rows - 1)), rtol=1e-9, atol=1e-12)


@given(labelled(least_rows=2))
@settings(max_examples=repeats(10, 50))
def test_influences_are_what_one_row_more_would_change(case: Case) -> None:
    """The influence is a derivative: a thousandth of a row more, in every cell, moves every value by as much."""
    classes, truth, assigned = case
    size = len(classes)
    base = np.full((size, size), 3.0)
    for i, j in zip(truth, assigned, strict=True):
        base[classes.index(i), classes.index(j)] += 1
    entries = prepared(classes)
    evaluation = assess_table(base, classes=classes, measures=entries).evaluation
    found = evaluation.influences_at(range(len(evaluation.slots)), smooth=False)
    step = 1e-5
    for k, (i, j) in enumerate(np.ndindex(size, size)):
        up, down = base.copy(), base.copy()
        up[i, j], down[i, j] = base[i, j] + step, base[i, j] - step
        values = [assess_table(t, classes=classes, measures=entries).evaluation.values[0] for t in (up, down)]
        assert_allclose(found[:, k], (values[0] - values[1]) / (2 * step), rtol=1e-4, atol=1e-6)


@given(labelled())
def test_differences_turn_around_with_the_pair(case: Case) -> None:
    classes, truth, assigned = case
    other = np.roll(assigned, 1)
    options: dict[str, Any] = {"scale": Scale(classes), "measures": prepared(classes)}
    forth = compare(truth, {"x": assigned, "y": other}, **options).differences().columns
    back = compare(truth, {"y": other, "x": assigned}, **options).differences().columns
    assert_allclose(forth["difference"], -np.array(back["difference"]), rtol=1e-9, atol=1e-12)
    assert_allclose(forth["low"], -np.array(back["high"]), rtol=1e-7, atol=1e-9)
    assert_allclose(forth["p"], back["p"], rtol=1e-6, atol=1e-9)


@given(labelled())
def test_a_classifier_does_not_differ_from_itself(case: Case) -> None:
    classes, truth, assigned = case
    options: dict[str, Any] = {"scale": Scale(classes), "measures": prepared(classes)}
    found = compare(truth, {"x": assigned, "y": assigned}, **options).differences()
    for row in found:
        if not np.isnan(row["difference"]):
            assert row["difference"] == 0
            assert row["low"] <= 0 <= row["high"]
            assert row["p"] == pytest.approx(1)


def test_other_names_are_the_same_measure() -> None:
    pairs = {
        "recall": "sensitivity",
        "power": "sensitivity",
        "ppv": "precision",
        "misclassification_rate": "error",
        "correctness_rate": "accuracy",
    }
    for alias, name in pairs.items():
        assert find(alias) is all_measures()[name]


def test_the_names_that_others_rely_on_are_there() -> None:
    names = [
        "error",
        "accuracy",
        "sensitivity",
        "specificity",
        "precision",
        "npv",
        "fpr",
        "fnr",
        "f1",
        "fbeta",
        "kappa",
        "weighted_kappa",
        "mcc",
        "balanced_accuracy",
        "informedness",
        "g_mean",
        "jaccard",
        "cost",
        "lr_positive",
        "lr_negative",
        "diagnostic_odds_ratio",
        "prevalence",
        "detection_rate",
    ]
    assert set(names) <= set(all_measures())


@pytest.mark.parametrize(
    ("one", "other"),
    [("error", "accuracy"), ("fpr", "specificity"), ("fnr", "sensitivity")],
)
def test_one_is_what_is_left_of_the_other(one: str, other: str) -> None:
    """In value, in standard error, and in the bounds of each class."""
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, 90)
    found = assess(truth, np.where(random.random(90) < 0.6, truth, random.integers(0, 3, 90)), measures=[one, other])
    for part in (None, 0, 1, 2):
        first, second = (found[name] if part is None else found[name, part] for name in (one, other))
        assert first.value == pytest.approx(1 - second.value)
        assert first.se == pytest.approx(second.se)
        assert (first.low, first.high) == pytest.approx((1 - second.high, 1 - second.low))

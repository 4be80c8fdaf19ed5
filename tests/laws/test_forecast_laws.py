"""What must hold for every score of probability forecasts and every calibration error in the registry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from steelyard import Assessment, Scale, Tally, all_measures, assess, assess_tally, compare, find
from steelyard.families.forecasts.evaluation import ForecastEvaluation
from steelyard.inputs.validate import Validator
from steelyard.measures.registry import Measure
from steelyard.states.statistics import CALIBRATION, FORECASTS
from tests.cases_of import counted
from tests.effort import repeats

Case = tuple[Any, dict[str, Any]]

EXACT = 1e-12
CLASSES = "abcd"
COSTS = {
    "a": {"a": 0, "b": 1, "c": 4, "d": 2},
    "b": {"a": 3, "b": 0, "c": 1, "d": 1},
    "c": {"a": 5, "b": 2, "c": 0, "d": 1},
    "d": {"a": 1, "b": 7, "c": 2, "d": 0},
}
REGISTERED = [entry for entry in all_measures().values() if entry.statistic in (FORECASTS, CALIBRATION)]
CHANGED: dict[str, Measure] = {
    "log_score, clipped": find("log_score", clip=0.05),
    "skill by log score": find("skill", score="log_score"),
    "skill by ranked probabilities": find("skill", score="ranked_probability_score"),
    "skill by zero-one score": find("skill", score="zero_one_score"),
    "top_k_accuracy, three": find("top_k_accuracy", k=3),
    "net_benefit, at a fifth": find("net_benefit", at=0.2),
    "calibration_error, one bin": find("calibration_error", bins=1),
    "top_calibration_error, two bins": find("top_calibration_error", bins=2),
}
VARIANTS = {**{entry.name: entry for entry in REGISTERED}, **CHANGED}
SCORES = {name: entry for name, entry in VARIANTS.items() if entry.statistic is FORECASTS}
MEANS = {name: entry for name, entry in SCORES.items() if entry.of_rows}
FREE = {name: entry for name, entry in VARIANTS.items() if "ranked" not in name}  # of the order of classes
FEW = settings(max_examples=repeats(3, 10))  # for each of the measures

every_measure = pytest.mark.parametrize("name", list(VARIANTS))
every_score = pytest.mark.parametrize("name", list(SCORES))
every_mean = pytest.mark.parametrize("name", list(MEANS))


# --- data -----------------------------------------------------------------------------------------------------


@st.composite
def forecasts(draw: st.DrawFn, least: int = 0, most_classes: int = 4, least_share: int = 0) -> Case:
    """True labels of two to four classes, some of which may have no rows, and memberships, often with ties."""
    classes = CLASSES[: draw(st.integers(2, most_classes))]
    sizes = [draw(st.integers(least, 6)) for _ in classes]
    assume(sum(sizes) > 0)
    parts = st.lists(st.integers(least_share, 5), min_size=len(classes), max_size=len(classes)).filter(any)
    rows = np.array(draw(st.lists(parts, min_size=sum(sizes), max_size=sum(sizes))), dtype=float)
    shares = rows / rows.sum(axis=1, keepdims=True)
    return np.repeat(list(classes), sizes), dict(zip(classes, shares.T, strict=True))


def drawn(rows: int, classes: int, seed: int) -> Case:
    """True labels and memberships that favour them."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, classes, rows)
    shares = random.gamma(1.0 + np.eye(classes)[codes]) + 0.01
    shares /= shares.sum(axis=1, keepdims=True)
    return np.array(list(CLASSES))[codes], dict(zip(CLASSES[:classes], shares.T, strict=True))


def part_of(case: Case, rows: Any) -> Case:
    return case[0][rows], {label: share[rows] for label, share in case[1].items()}


def repeated(case: Case, times: Any) -> Case:
    return part_of(case, np.repeat(np.arange(len(case[0])), times))


# --- how they are assessed ------------------------------------------------------------------------------------


def priced(name: str, classes: Sequence[str]) -> Measure:
    """A measure of the list, with costs where it needs them."""
    entry = VARIANTS[name]
    if not entry.needs:
        return entry
    return find(entry.name, costs={i: {j: COSTS[i][j] for j in classes} for i in classes})


def of(case: Case, *measures: Measure | str, **options: Any) -> Assessment:
    truth, said = case
    return assess(truth, said, **{"scale": Scale(list(said)), "measures": list(measures), **options})


def tallied(case: Case, **options: Any) -> Tally:
    return Tally.of(Validator(scale=Scale(list(case[1])), **options).validate(case[0], {"m": case[1]}))


def columns(found: Assessment, measure: Measure) -> dict[str, Any]:
    results = found.part(measure.statistic).results
    return {"value": results.value, "low": results.low, "high": results.high, "se": results.errors.plain}


def assert_same(
    left: dict[str, Any], right: dict[str, Any], measure: Measure, tolerance: float = 1e-9, least: float = 1e-10
) -> None:
    """The same but for rounding; the root in a calibration error makes 1e-8 of 1e-16, and any error of that."""
    if measure.statistic is CALIBRATION and tolerance > 0:
        tolerance, least = max(tolerance, 1e-6), max(least, 1e-6)
    if measure.name == "skill" and tolerance > 0:
        least = max(least, 1e-7)  # where forecast and reference are one, the root of what rounding leaves
    told = (left["value"] > 1e-4) | (measure.statistic is not CALIBRATION)
    for name in ("value", "low", "high"):
        assert_allclose(left[name], right[name], rtol=tolerance, atol=least, err_msg=name)
    assert_allclose(left["se"][told], right["se"][told], rtol=tolerance, atol=least, err_msg="se")


# --- parts and wholes -----------------------------------------------------------------------------------------


@every_measure
@given(case=forecasts(), cut=st.integers(0, 24))
@FEW
def test_parts_merged_are_the_whole(name: str, case: Case, cut: int) -> None:
    measure, rows = priced(name, list(case[1])), np.arange(len(case[0]))
    cut, weight = min(cut, len(rows)), 1 + rows % 3
    whole, empty = tallied(case, weight=weight), Tally.empty(Scale(list(case[1])), ["m"])
    head, tail = (
        tallied(part_of(case, piece), weight=weight[piece]) if len(rows[piece]) else empty
        for piece in (slice(cut), slice(cut, None))
    )
    expected = columns(assess_tally(whole, measures=[measure]), measure)
    for merged in (head + tail, tail + head, whole + empty, empty + whole, whole + whole - whole):
        assert_same(columns(assess_tally(merged, measures=[measure]), measure), expected, measure)
    for part, left in ((tail, whole - head), (head, whole - tail)):
        if part.rows:
            found, sought = (columns(assess_tally(each, measures=[measure]), measure) for each in (left, part))
            assert_same(found, sought, measure)


@every_measure
@given(case=forecasts())
@FEW
def test_saving_and_loading_changes_nothing(tmp_path_factory: pytest.TempPathFactory, name: str, case: Case) -> None:
    measure, rows = priced(name, list(case[1])), np.arange(len(case[0]))
    whole = tallied(case, group=rows % 5, by=rows % 2, weight=0.5 + rows % 3)
    path: Path = tmp_path_factory.mktemp("tally") / "one.tally"
    whole.save(path, rows=True)  # sorted rows add up to the same but for rounding
    before, after = (assess_tally(each, measures=[measure]) for each in (whole, Tally.load(path)))
    for label in before.slices:
        pair = after.slices[label], before.slices[label]
        assert_same(columns(pair[0], measure), columns(pair[1], measure), measure, 0, 0)
    assert_same(columns(after, measure), columns(before, measure), measure, 0, 0)


@every_measure
@given(case=forecasts(), times=st.integers(2, 4))
@FEW
def test_a_whole_weight_is_the_row_so_many_times(name: str, case: Case, times: int) -> None:
    measure, weight = priced(name, list(case[1])), 1 + np.arange(len(case[0])) % times
    by_weight, by_rows = of(case, measure, **counted(weight)), of(repeated(case, weight), measure)
    assert_same(columns(by_weight, measure), columns(by_rows, measure), measure)
    assert by_weight[measure].sum == pytest.approx(by_rows[measure].sum, nan_ok=True)
    assert by_weight[measure].note == by_rows[measure].note


@given(case=forecasts())
@FEW
def test_brier_scores_of_two_classes_are_twice_that_of_one(case: Case) -> None:
    said = {"a": case[1]["a"], "b": 1 - np.asarray(case[1]["a"])}
    two = np.where(case[0] == "a", "a", "b"), said
    rows = np.arange(len(two[0]))
    for options in ({}, {"weight": 0.5 + rows % 3}, {"group": rows % 5}, {"method": "plain"}):
        found = of(two, "brier", "brier_multiclass", **options)
        once, both = found["brier", "a"], found["brier_multiclass"]
        for name in ("value", "low", "high", "se"):
            assert getattr(both, name) == pytest.approx(2 * getattr(once, name), rel=1e-9, abs=1e-12, nan_ok=True)


@every_measure
def test_weight_two_is_every_row_twice(name: str) -> None:
    case = drawn(90, 3, 1)
    measure, twice = priced(name, list(case[1])), np.full(90, 2)
    by_weight, by_rows = of(case, measure, **counted(twice)), of(repeated(case, twice), measure)
    assert_same(columns(by_weight, measure), columns(by_rows, measure), measure)


@every_measure
@given(case=forecasts(least=1))
@FEW
def test_a_row_that_weighs_nothing_is_no_row(name: str, case: Case) -> None:
    measure, rows = priced(name, list(case[1])), np.arange(len(case[0]))
    weight = np.concatenate([np.ones(len(rows), int), [0, 0]])
    more = part_of(case, np.concatenate([rows, [0, rows[-1]]]))
    assert_same(columns(of(more, measure, weight=weight), measure), columns(of(case, measure), measure), measure)


@every_measure
@given(case=forecasts(), factor=st.floats(0.01, 100))
@FEW
def test_the_unit_of_sampling_weights_does_not_matter(name: str, case: Case, factor: float) -> None:
    measure = priced(name, list(case[1]))
    weight = np.random.default_rng(len(case[0])).uniform(0.5, 2, len(case[0]))
    once, scaled = (columns(of(case, measure, weight=weight * unit), measure) for unit in (1.0, factor))
    assert_same(once, scaled, measure, 1e-6, least=1e-7)


def test_the_unit_of_sampling_weights_does_not_matter_where_pseudo_rows_are_hardly_felt() -> None:
    """Whether they are left out must not hang on the unit: rows that weigh a millionth each are as many."""
    random = np.random.default_rng(0)
    own, weight = 10.0 ** -random.uniform(0, 40, 6000), random.uniform(0.9, 1.1, 6000)
    case = np.repeat(["a", "b"], [6000, 1]), {"a": np.append(own, 0.5), "b": np.append(1 - own, 0.5)}
    weight = np.append(weight, 1.0)
    found = [of(case, "log_score", weight=weight * unit)["log_score"] for unit in (1e-6, 1.0, 1e6)]
    for other in found[1:]:
        ours, theirs = ([each.value, each.low, each.high, each.se] for each in (found[0], other))
        assert_allclose(ours, theirs, rtol=1e-7)


@every_measure
@given(case=forecasts(), random=st.randoms())
@FEW
def test_the_order_of_rows_does_not_matter(name: str, case: Case, random: Any) -> None:
    measure, order = priced(name, list(case[1])), list(range(len(case[0])))
    random.shuffle(order)
    assert_same(columns(of(case, measure), measure), columns(of(part_of(case, order), measure), measure), measure)


@pytest.mark.parametrize("name", ["log_score", "brier", "spherical_score"])
def test_the_order_of_many_rows_does_not_matter(name: str) -> None:
    """Nor do the first of them decide whether pseudo-rows are felt."""
    random = np.random.default_rng(0)
    chance = np.where(np.arange(40_000) < 6000, 0.5 + 1e-3 * random.random(40_000), random.choice([0.02, 0.98], 40_000))
    happened, order = random.random(40_000) < chance, random.permutation(40_000)
    case = np.where(happened, "b", "a"), {"a": 1 - chance, "b": chance}
    here, there = (of(each, name)[name, "b" if name == "brier" else None] for each in (case, part_of(case, order)))
    assert_allclose([here.low, here.high], [there.low, there.high], rtol=0, atol=1e-4 * here.se)


@pytest.mark.parametrize("name", list(FREE))
@given(case=forecasts(), random=st.randoms())
@FEW
def test_relabelling_the_classes_relabels_the_result(name: str, case: Case, random: Any) -> None:
    assume(name != "decision_cost" or not near_ties(case))  # of decisions that cost the same, the first is taken
    classes = list(case[1])
    measure, shuffled = priced(name, classes), random.sample(classes, len(classes))
    here, there = of(case, measure), of(case, measure, scale=Scale(shuffled))
    for part in (*classes, "macro", "weighted") if measure.per_class else (None,):
        one, other = here[measure, part], there[measure, part]
        ours, theirs = ([each.value, each.low, each.high] for each in (one, other))
        least = 1e-6 if measure.statistic is CALIBRATION else 1e-9
        assert_allclose(ours, theirs, rtol=least, atol=least)


@given(case=forecasts(), turned=st.booleans())
def test_cumulative_probabilities_may_run_from_either_end(case: Case, turned: bool) -> None:
    """The ranked probability score needs the order of the classes, but not its direction."""
    classes = list(case[1])[::-1] if turned else list(case[1])
    for name in ("ranked_probability_score", "skill by ranked probabilities"):
        measure = VARIANTS[name]
        pair = of(case, measure)[measure], of(case, measure, scale=Scale(classes))[measure]
        one, other = ([each.value, each.low, each.high, each.se] for each in pair)
        assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_another_order_of_the_classes_is_another_ranked_probability_score() -> None:
    case = drawn(60, 3, 2)
    values = [
        of(case, "ranked_probability_score", scale=Scale(list(order)))["ranked_probability_score"].value
        for order in ("abc", "bac", "acb")
    ]
    assert len({round(value, 9) for value in values}) == 3


@every_measure
@given(case=forecasts(), parts=st.integers(1, 3))
@FEW
def test_a_slice_is_assessed_as_if_it_were_alone(name: str, case: Case, parts: int) -> None:
    measure = priced(name, list(case[1]))
    part, cluster = np.arange(len(case[0])) % parts, np.arange(len(case[0])) // 2
    together = of(case, measure, by=part, group=cluster)
    for label, sliced in together.slices.items():
        here = part == label
        alone = of(part_of(case, here), measure, group=cluster[here])
        assert_same(columns(sliced, measure), columns(alone, measure), measure, EXACT)


@every_measure
@given(case=forecasts())
@FEW
def test_an_estimate_is_the_same_alone_as_in_the_table(name: str, case: Case) -> None:
    measure = priced(name, list(case[1]))
    for row in of(case, measure).table():
        if row["measure"] != measure.label:
            continue
        found = of(case, measure)[measure, row["class"] or row["average"]]
        assert_allclose(
            [found.value, found.low, found.high, found.se, found.n],
            [row["value"], row["low"], row["high"], row["se"], row["n"]],
            rtol=EXACT,
        )
        assert (found.note, found.method) == (row["note"], row["method"])


# --- what they are --------------------------------------------------------------------------------------------


def worth(name: str, row: Any, code: int, classes: Sequence[str]) -> float:
    """What one row is worth by the definition of a score."""
    happened = np.arange(len(row)) == code
    ahead = [sum(row[: k + 1]) - (code <= k) for k in range(len(row) - 1)]
    matrix = np.array([[COSTS[i][j] for j in classes] for i in classes])
    expected = [sum(row[i] * matrix[i, j] for i in range(len(row))) for j in range(len(row))]
    own = float(row[code])
    found = {
        "log_score": math.inf if own == 0 else -math.log(own),
        "log_score, clipped": -math.log(max(own, 0.05)),
        "brier": sum((row - happened) ** 2) / len(row),
        "brier_multiclass": sum((row - happened) ** 2),
        "spherical_score": own / math.sqrt(sum(row**2)),
        "ranked_probability_score": sum(step**2 for step in ahead),
        "zero_one_score": 1 - (own == max(row)) / sum(row == max(row)),
        "top_k_accuracy": min(1.0, max(0.0, (2 - sum(row > own)) / sum(row == own))),
        "top_k_accuracy, three": min(1.0, max(0.0, (3 - sum(row > own)) / sum(row == own))),
        "decision_cost": float(matrix[code, int(np.argmin(expected))]),
        "net_benefit": (int(own >= 0.5) - sum((row >= 0.5) & ~happened)) / len(row),
        "net_benefit, at a fifth": (int(own >= 0.2) - sum((row >= 0.2) & ~happened) / 4) / len(row),
    }
    return float(found[name])


def worths(name: str, case: Case) -> Any:
    truth, said = case
    classes, shares = list(said), np.stack(list(said.values()), axis=1)
    return np.array([worth(name, row, classes.index(y), classes) for row, y in zip(shares, truth, strict=True)])


@every_mean
@given(case=forecasts())
@FEW
def test_a_score_is_the_mean_over_the_rows(name: str, case: Case) -> None:
    measure = priced(name, list(case[1]))
    found, expected = of(case, measure)[measure, "macro" if measure.per_class else None], worths(name, case)
    assume(name != "decision_cost" or not near_ties(case))
    assert found.value == pytest.approx(expected.mean(), rel=EXACT, abs=EXACT)
    assert found.sum == pytest.approx(expected.sum(), rel=EXACT, abs=EXACT)


def near_ties(case: Case) -> bool:
    """Whether two decisions cost the same but for rounding, so that either may be taken."""
    classes, shares = list(case[1]), np.stack(list(case[1].values()), axis=1)
    expected = np.sort(shares @ np.array([[COSTS[i][j] for j in classes] for i in classes]), axis=1)
    return bool((expected[:, 1] - expected[:, 0] < 1e-9).any())


@every_mean
@given(case=forecasts(least=2, least_share=1))
@FEW
def test_the_standard_error_of_a_mean_is_the_textbooks(name: str, case: Case) -> None:
    assume(name != "decision_cost" or not near_ties(case))
    measure, each = priced(name, list(case[1])), worths(name, case)
    found = of(case, measure)[measure, "macro" if measure.per_class else None]
    assert found.se == pytest.approx(np.std(each, ddof=1) / math.sqrt(len(each)), rel=1e-9, abs=1e-9)
    plain = of(case, measure, method="plain")[measure, "macro" if measure.per_class else None]
    assert plain.se == found.se
    assert plain.value == found.value


@every_mean
@given(case=forecasts(least=2, least_share=1), sizes=st.integers(1, 3))
@FEW
def test_the_standard_error_under_clusters_is_that_of_their_sums(name: str, case: Case, sizes: int) -> None:
    assume(name != "decision_cost" or not near_ties(case))
    measure, each = priced(name, list(case[1])), worths(name, case)
    cluster = np.arange(len(each))[::-1] // sizes
    assume(len(set(cluster)) > 1)
    sums, clusters = np.bincount(cluster, each - each.mean()), len(set(cluster))
    expected = math.sqrt(np.square(sums).sum() * clusters / (clusters - 1)) / len(each)
    found = of(case, measure, group=cluster)[measure, "macro" if measure.per_class else None]
    assert found.se == pytest.approx(expected, rel=1e-9, abs=1e-9)


@every_mean
def test_the_standard_error_under_sampling_weights_is_linearised(name: str) -> None:
    case, weight = drawn(50, 3, 3), np.random.default_rng(3).uniform(0.5, 2, 50)
    measure, each = priced(name, list(case[1])), worths(name, case)
    found = of(case, measure, weight=weight)[measure, "macro" if measure.per_class else None]
    mean = np.average(each, weights=weight)
    expected = math.sqrt(np.square(weight * (each - mean)).sum() * 50 / 49) / weight.sum()
    assert found.value == pytest.approx(mean)
    assert found.se == pytest.approx(expected)


@pytest.mark.parametrize("score", ["brier_multiclass", "log_score", "ranked_probability_score", "zero_one_score"])
@given(case=forecasts(least=1, least_share=1))
@FEW
def test_skill_is_the_share_saved_of_the_score_of_climatology(score: str, case: Case) -> None:
    truth, said = case
    classes, measure = list(said), find("skill", score=score)
    share = np.array([np.mean(truth == label) for label in classes])
    reference = np.mean([worth(score, share, classes.index(label), classes) for label in truth])
    found = of(case, measure)[measure]
    assert found.value == pytest.approx(1 - worths(score, case).mean() / reference, rel=1e-9, abs=1e-9)


@given(case=forecasts())
def test_the_macro_brier_score_times_classes_is_that_of_all_classes(case: Case) -> None:
    found = of(case, "brier", "brier_multiclass")
    size, one, other = len(case[1]), found["brier", "macro"], found["brier_multiclass"]
    assert size * one.value == pytest.approx(other.value, rel=EXACT, abs=EXACT)
    assert size * one.se == pytest.approx(other.se, rel=1e-9, abs=1e-9, nan_ok=True)
    assert sum(found["brier", label].value for label in case[1]) == pytest.approx(other.value, rel=EXACT, abs=EXACT)


@given(case=forecasts(most_classes=2))
def test_scores_of_two_classes_are_told_by_one_of_them(case: Case) -> None:
    found = of(case, "brier", "brier_multiclass", "ranked_probability_score", "calibration_error")
    for label in case[1]:
        one = found["brier", label]
        assert found["brier_multiclass"].value == pytest.approx(2 * one.value, rel=EXACT, abs=EXACT)
        assert found["brier_multiclass"].se == pytest.approx(2 * one.se, rel=1e-9, abs=1e-9, nan_ok=True)
        assert found["ranked_probability_score"].value == pytest.approx(one.value, rel=EXACT, abs=EXACT)
        assert found["ranked_probability_score"].se == pytest.approx(one.se, rel=1e-9, abs=1e-9, nan_ok=True)


@every_measure
@given(case=forecasts(most_classes=2))
@FEW
def test_one_probability_of_two_classes_says_as_much_as_both(name: str, case: Case) -> None:
    measure = priced(name, list(case[1]))
    scale = Scale(list(case[1]), event="b")
    alone = assess(case[0], case[1]["b"], scale=scale, threshold=0.5, measures=[measure])
    assert_same(columns(alone, measure), columns(of(case, measure, scale=scale), measure), measure)


@every_measure
@given(case=forecasts(), random=st.randoms(use_true_random=False))
@FEW
def test_labels_are_memberships_of_0_and_1(name: str, case: Case, random: Any) -> None:
    truth, classes = case[0], list(case[1])
    measure, assigned = priced(name, classes), np.array([random.choice(classes) for _ in case[0]])
    sure = truth, {label: (assigned == label).astype(float) for label in classes}
    labels = assess(truth, assigned, scale=Scale(classes), measures=[measure])
    assert_same(columns(labels, measure), columns(of(sure, measure), measure), measure)
    assert labels[measure].note == of(sure, measure)[measure].note


def test_the_zero_one_score_of_labels_is_their_error() -> None:
    truth, said = drawn(80, 3, 4)
    assigned = np.array(list(said))[np.argmax(list(said.values()), axis=0)]
    found = assess(truth, assigned, measures=["zero_one_score", "error", "brier_multiclass"])
    assert found["zero_one_score"].value == pytest.approx(found["error"].value)
    assert found["brier_multiclass"].value == pytest.approx(2 * found["error"].value)


# --- the ends -------------------------------------------------------------------------------------------------


@every_measure
@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_perfect_forecast_reaches_the_better_end(name: str, size: int) -> None:
    classes = list(CLASSES[:size])
    truth, measure = np.array(classes * 6), priced(name, classes)
    found = of((truth, {label: (truth == label).astype(float) for label in classes}), measure)
    # Who acts on all rows of a class and on no other has all of its prevalence.
    ends = {"decision_cost": 0.0, "net_benefit": 1 / size}
    end = ends.get(measure.name, measure.span[0 if measure.better == "lower" else 1])
    for part in (*classes, "macro", "weighted") if measure.per_class else (None,):
        assert found[measure, part].value == pytest.approx(end, abs=1e-12)
        assert found[measure, part].low <= end <= found[measure, part].high


@every_measure
@given(case=forecasts(), level=st.sampled_from([0.5, 0.9, 0.99]))
@FEW
def test_intervals_hold_the_value_and_stay_in_the_span(name: str, case: Case, level: float) -> None:
    measure = priced(name, list(case[1]))
    found = columns(of(case, measure, level=level), measure)
    known = ~np.isnan(found["value"])
    assert not np.isnan(found["low"][known]).any()
    assert (measure.span[0] <= found["low"][known]).all()
    assert (found["low"][known] <= found["value"][known]).all()
    assert (found["value"][known] <= found["high"][known]).all()
    assert (found["high"][known] <= measure.span[1]).all()


@every_measure
@given(case=forecasts())
@FEW
def test_a_higher_level_has_the_wider_interval(name: str, case: Case) -> None:
    measure = priced(name, list(case[1]))
    narrow, wide = (columns(of(case, measure, level=level), measure) for level in (0.8, 0.99))
    known = ~np.isnan(narrow["value"])
    assert (wide["low"][known] <= narrow["low"][known] + 1e-9).all()
    assert (wide["high"][known] >= narrow["high"][known] - 1e-9).all()


@every_measure
@given(case=forecasts())
@FEW
def test_what_is_undefined_or_infinite_says_why(name: str, case: Case) -> None:
    measure = priced(name, list(case[1]))
    for row in of(case, measure).table():
        if not math.isfinite(row["value"]):
            assert row["note"], row
            assert "{class}" not in row["note"]


@pytest.mark.parametrize("score", ["brier_multiclass", "log_score", "ranked_probability_score", "zero_one_score"])
@given(case=forecasts(least=1))
@FEW
def test_the_climatological_forecast_has_no_skill(score: str, case: Case) -> None:
    truth, classes, measure = case[0], list(case[1]), find("skill", score=score)
    usual = {label: np.full(len(truth), np.mean(truth == label)) for label in classes}
    found = of((truth, usual), measure)[measure]
    assert found.value == pytest.approx(0, abs=EXACT)
    assert found.low - EXACT <= 0 <= found.high + EXACT


@given(case=forecasts(least=1, least_share=1))
@FEW
def test_a_classifier_has_no_skill_against_itself(case: Case) -> None:
    truth, said = case
    other = {label: np.roll(share, 1) for label, share in said.items()}
    options: dict[str, Any] = {"scale": Scale(list(said)), "measures": [find("skill", against="x")]}
    found = compare(truth, {"x": said, "y": other}, **options)
    assert found["x"]["skill"].value == pytest.approx(0, abs=EXACT)
    scores = [of((truth, each), "brier_multiclass")["brier_multiclass"].value for each in (said, other)]
    assert found["y"]["skill"].value == pytest.approx(1 - scores[1] / scores[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "parameter", "values"),
    [
        ("log_score", "clip", (0.0, 0.3)),
        ("decision_cost", "costs", (1 - np.eye(3), [[0, 1, 5], [2, 0, 1], [9, 1, 0]])),
        ("skill", "score", ("brier_multiclass", "log_score")),
        ("skill", "against", ("climatology", "y")),
        ("top_k_accuracy", "k", (1, 2)),
        ("net_benefit", "at", (0.2, 0.5)),
        ("calibration_error", "bins", (2, 15)),
        ("top_calibration_error", "bins", (2, 15)),
    ],
)
def test_every_parameter_changes_something(name: str, parameter: str, values: tuple[Any, Any]) -> None:
    truth, said = drawn(200, 3, 5)
    blunt = {label: share**2 / sum(each**2 for each in said.values()) for label, share in said.items()}
    entries = [find(name, **{parameter: value}) for value in values]
    options: dict[str, Any] = {"scale": Scale(list(said))}
    one, other = (
        compare(truth, {"x": blunt, "y": said}, measures=[entry], **options)["x"][entry].value for entry in entries
    )
    assert one != pytest.approx(other, rel=1e-6)


def test_no_parameter_is_left_out_above() -> None:
    taken = {(entry.name, parameter) for entry in REGISTERED for parameter in entry.parameters}
    marks = [mark for mark in test_every_parameter_changes_something.pytestmark if mark.name == "parametrize"]
    assert taken == {(name, parameter) for name, parameter, _ in marks[0].args[1]}


# --- influences -----------------------------------------------------------------------------------------------


@every_measure
@given(case=forecasts(least=2, least_share=1))
@FEW
def test_influences_of_all_rows_sum_to_nothing(name: str, case: Case) -> None:
    measure, weight = priced(name, list(case[1])), np.random.default_rng(1).uniform(0.5, 2, len(case[0]))
    evaluation: Any = of(case, measure, weight=weight).part(measure.statistic).evaluation
    for slot in evaluation.slots:
        influence = evaluation.influence(slot, False)
        if np.isfinite(influence).all():
            assert influence @ weight == pytest.approx(0, abs=1e-9 * (1 + np.abs(influence).max()))


@every_score
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("classes", [2, 3])
def test_influences_reproduce_the_standard_error(name: str, weighted: bool, classes: int) -> None:
    case, weight = drawn(40, classes, 6), np.random.default_rng(6).uniform(0.5, 2, 40) if weighted else np.ones(40)
    measure = priced(name, list(case[1]))
    part = of(case, measure, weight=weight if weighted else None).part(FORECASTS)
    evaluation: Any = part.evaluation
    for place, slot in enumerate(evaluation.slots):
        influence = evaluation.influence(slot, False)
        expected = math.sqrt(np.square(weight * influence).sum() * 40 / 39)
        assert part.results.errors.plain[place] == pytest.approx(expected, rel=1e-9), slot


@every_score
@pytest.mark.parametrize("classes", [2, 3])
def test_influences_are_what_the_weight_of_a_row_would_change(name: str, classes: int) -> None:
    """Of classes and of averages, whose weights are moved by a row too."""
    case, weight = drawn(25, classes, 7), np.random.default_rng(7).uniform(0.5, 2, 25)
    measure, step = priced(name, list(case[1])), 1e-6
    base = of(case, measure, weight=weight).forecast

    def values(weights: Any) -> Any:
        sums = np.stack([np.ones_like(weights), weights, weights**2], axis=1)
        return replace(base, rows=replace(base.rows, sums=sums), found={}, kept={}).values[0]

    changes = np.empty((len(base.slots), 25))
    for row in range(25):
        shift = step * (np.arange(25) == row)
        changes[:, row] = (values(weight + shift) - values(weight - shift)) / (2 * step)
    found = np.stack([base.influence(slot, smooth=False) for slot in base.slots])
    assert_allclose(found, changes, rtol=1e-4, atol=1e-7)


@every_score
@given(case=forecasts(least=2))
@FEW
def test_clusters_of_one_row_are_independent_rows(name: str, case: Case) -> None:
    """Exactly: both divide by one row less, n / (n - 1). Calibration errors do not: see test_forecasts."""
    measure = priced(name, list(case[1]))
    alone, grouped = of(case, measure), of(case, measure, group=np.arange(len(case[0])))
    assert_same(columns(alone, measure), columns(grouped, measure), measure)


@every_score
def test_both_ways_to_an_interval_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By sums over classes, and row by row: clusters take the second."""
    case = drawn(60, 3, 8)
    measure = priced(name, list(case[1]))
    base = of(case, measure).forecast
    again: ForecastEvaluation = replace(base, found={}, kept={})
    wanted = [base.result(slot) for slot in base.slots]
    monkeypatch.setattr(ForecastEvaluation, "closed", lambda *_: False)
    for slot, expected in zip(base.slots, wanted, strict=True):
        found = again.result(slot)
        assert_allclose(found.value, expected.value, rtol=1e-9)
        assert_allclose(found.variance, expected.variance, rtol=1e-9)


# --- differences ----------------------------------------------------------------------------------------------


@every_measure
@given(case=forecasts(least=1, least_share=1))
@FEW
def test_differences_turn_around_with_the_pair(name: str, case: Case) -> None:
    truth, said = case
    other = {label: np.roll(share, 1) for label, share in said.items()}
    options: dict[str, Any] = {"scale": Scale(list(said)), "measures": [priced(name, list(said))]}
    forth = compare(truth, {"x": said, "y": other}, **options).differences().columns
    back = compare(truth, {"y": other, "x": said}, **options).differences().columns
    least = 1e-5 if VARIANTS[name].statistic is CALIBRATION else 1e-9
    assert_allclose(forth["difference"], -np.array(back["difference"]), rtol=1e-9, atol=least)
    assert_allclose(forth["low"], -np.array(back["high"]), rtol=1e-5, atol=least)
    assert_allclose(forth["p"], back["p"], rtol=1e-4, atol=1e-6)


@every_measure
@given(case=forecasts())
@FEW
def test_a_classifier_does_not_differ_from_itself(name: str, case: Case) -> None:
    truth, said = case
    options: dict[str, Any] = {"scale": Scale(list(said)), "measures": [priced(name, list(said))]}
    for row in compare(truth, {"x": said, "y": said}, **options).differences():
        if not math.isnan(row["difference"]):
            assert row["difference"] == 0
            assert row["low"] <= 0 <= row["high"]
            assert row["p"] == pytest.approx(1)


# --- proper scores: honesty is the best policy ----------------------------------------------------------------

STRICT = {"log_score": 1, "brier_multiclass": 1, "spherical_score": -1, "ranked_probability_score": 1}
WEAK = {"zero_one_score": 1, "decision_cost": 1, "net_benefit": -1}


def expected_scores(chances: Sequence[float], said: Sequence[float]) -> dict[str, float]:
    """The expected scores of one forecast where the classes have these probabilities; lower is better."""
    classes = CLASSES[: len(chances)]
    shares = {label: np.full(len(classes), share) for label, share in zip(classes, said, strict=True)}
    entries = [priced(name, list(classes)) for name in {**STRICT, **WEAK}]
    weight = np.array(chances) if np.count_nonzero(chances) > 1 else (np.array(chances) > 0.5).astype(int)
    found = of((np.array(list(classes)), shares), *entries, weight=weight)
    signs = {**STRICT, **WEAK}
    return {entry.name: signs[entry.name] * found[entry].value for entry in entries}


def simplex(classes: int, steps: int) -> list[tuple[float, ...]]:
    """All forecasts in steps of so much."""
    counts = product(range(steps + 1), repeat=classes - 1)
    return [(*[k / steps for k in some], (steps - sum(some)) / steps) for some in counts if sum(some) <= steps]


@pytest.mark.study
@pytest.mark.parametrize(("classes", "steps"), [(2, repeats(5, 10)), (3, repeats(3, 4))])
def test_no_forecast_is_expected_to_score_better_than_the_true_probabilities(classes: int, steps: int) -> None:
    grid = simplex(classes, steps)
    for chances in grid:
        honest = expected_scores(chances, chances)
        for said in grid:
            if said == chances:
                continue
            found = expected_scores(chances, said)
            for name in STRICT:
                assert honest[name] < found[name] - 1e-9, (name, chances, said)
            for name in WEAK:
                assert honest[name] <= found[name] + EXACT, (name, chances, said)


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.5, 0.9])
def test_the_brier_score_of_a_class_is_proper_too(chance: float) -> None:
    grid = np.linspace(0, 1, 21)
    truth, weight = np.array([1, 0]), np.array([chance, 1 - chance])
    values = [
        assess(truth, np.full(2, said), event=1, threshold=0.5, measures=["brier"], weight=weight)["brier"].value
        for said in grid
    ]
    assert grid[int(np.argmin(values))] == pytest.approx(chance)
    assert_allclose(values, chance * (1 - grid) ** 2 + (1 - chance) * grid**2, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_honest_forecasts_score_best_on_many_rows(classes: int) -> None:
    random = np.random.default_rng(9)
    chances = random.dirichlet(np.ones(classes), 20_000)
    codes = (random.random((20_000, 1)) > np.cumsum(chances, axis=1)).sum(axis=1)
    distorted = {
        "honest": chances,
        "overconfident": chances**2,
        "underconfident": np.sqrt(chances),
        "biased": chances * np.arange(1, classes + 1),
        "hedged": chances + 0.2,
        "noisy": chances * random.gamma(5.0, size=chances.shape),
    }
    shares = {name: each / each.sum(axis=1, keepdims=True) for name, each in distorted.items()}
    entries = [priced(name, list(CLASSES[:classes])) for name in {**STRICT, **WEAK}]
    labels = list(CLASSES[:classes])
    found = compare(np.array(labels)[np.minimum(codes, classes - 1)], shares, scale=Scale(labels), measures=entries)
    signs = {**STRICT, **WEAK}
    for entry in entries:
        values = {name: signs[entry.name] * found[name][entry].value for name in shares}
        honest = values.pop("honest")
        for name, value in values.items():
            assert honest < value if entry.name in STRICT else honest <= value + 0.005, (entry.name, name)

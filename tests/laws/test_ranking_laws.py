"""What must hold for every measure of ranking in the registry, whatever the scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from steelyard import Assessment, Scale, Tally, all_measures, assess, assess_tally, compare, find
from steelyard.families.ranking.evaluation import Memory
from steelyard.inputs.validate import Validator
from steelyard.measures.masses import Masses
from steelyard.measures.registry import Measure
from steelyard.states.statistics import RANKING
from tests import ranking_by_hand as by_hand
from tests.cases_of import counted
from tests.effort import repeats

Binary = tuple[Any, Any]
Several = tuple[Any, dict[str, Any]]

EXACT = 1e-12
REGISTERED = [entry for entry in all_measures().values() if entry.statistic is RANKING]
RANGES: dict[str, dict[str, Any]] = {
    "specificity 0.6 to 0.8": {"specificity": (0.6, 0.8)},
    "sensitivity 0.8 to 1": {"sensitivity": (0.8, 1.0)},
    "area itself": {"corrected": False},
    "area itself, sensitivity 0.3 to 0.9": {"sensitivity": (0.3, 0.9), "corrected": False},
}
VARIANTS = {
    **{entry.name: entry for entry in REGISTERED},
    **{f"partial_auc, {name}": find("partial_auc", **parameters) for name, parameters in RANGES.items()},
}
TWO = Scale(["no", "yes"], event="yes")
FEW = settings(max_examples=repeats(3, 10))  # for each of the measures

every_measure = pytest.mark.parametrize("measure", VARIANTS.values(), ids=VARIANTS)


# --- data -----------------------------------------------------------------------------------------------------

coarse = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 3.0])
fine = st.floats(-1e6, 1e6)


@st.composite
def scored(draw: st.DrawFn, least: int = 1, most: int = 12, numbers: Any = None) -> Binary:
    """True labels with so many rows of each class at least, and a score for the event, often with ties."""
    sizes = [draw(st.integers(least, most)) for _ in TWO.classes]
    number = draw(st.sampled_from([coarse, fine])) if numbers is None else numbers
    score = draw(st.lists(number, min_size=sum(sizes), max_size=sum(sizes)))
    return np.repeat(TWO.classes, sizes), np.array(score)


@st.composite
def many_classed(draw: st.DrawFn, least: int = 0) -> Several:
    """True labels of three or four classes, some of which may have no rows, and memberships, often with ties."""
    classes = "abcd"[: draw(st.integers(3, 4))]
    sizes = [draw(st.integers(least, 6)) for _ in classes]
    assume(sum(sizes) > 0)
    parts = st.lists(st.integers(0, 5), min_size=len(classes), max_size=len(classes)).filter(any)
    rows = np.array(draw(st.lists(parts, min_size=sum(sizes), max_size=sum(sizes))), dtype=float)
    shares = rows / rows.sum(axis=1, keepdims=True)
    return np.repeat(list(classes), sizes), dict(zip(classes, shares.T, strict=True))


def drawn(rows: int, seed: int, decimals: int = 9) -> tuple[Any, Any, Any]:
    """True labels of two classes, and two scores that have something to do with them and with each other."""
    random = np.random.default_rng(seed)
    truth = np.array(["no", "yes"])[(random.random(rows) < 0.4).astype(int)]
    shared = random.normal(size=rows) + 1.2 * (truth == "yes")
    scores = [np.round(shared + scale * random.normal(size=rows), decimals) for scale in (0.3, 0.9)]
    return truth, scores[0], scores[1]


def drawn_classes(rows: int, classes: int, seed: int, decimals: int = 9) -> tuple[Any, Any]:
    """True labels of several classes, numbered, and memberships that favour them."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, rows)
    shares = np.round(random.gamma(1.0 + np.eye(classes)[truth]) + 0.01, decimals)
    return truth, shares / shares.sum(axis=1, keepdims=True)


# --- how they are assessed ------------------------------------------------------------------------------------


def of_two(truth: Any, score: Any, *measures: Measure | str, **options: Any) -> Assessment:
    return assess(truth, score, **{"scale": TWO, "threshold": 0.0, "measures": list(measures), **options})


def of_several(case: Several, *measures: Measure | str, **options: Any) -> Assessment:
    truth, said = case
    return assess(truth, said, **{"scale": Scale(list(said)), "measures": list(measures), **options})


def tallied(truth: Any, score: Any, **options: Any) -> Tally:
    return Tally.of(Validator(scale=TWO, threshold=0.0, **options).validate(truth, {"m": score}))


def columns(found: Assessment) -> dict[str, Any]:
    results = found.part(RANKING).results
    return {"value": results.value, "low": results.low, "high": results.high, "se": results.errors.plain}


def assert_same(left: dict[str, Any], right: dict[str, Any], tolerance: float = 1e-9, least: float = 1e-10) -> None:
    for name, values in left.items():
        assert_allclose(values, right[name], rtol=tolerance, atol=least, err_msg=name)


def ends(measure: Measure, *keys: Any, found: Assessment) -> list[float]:
    """The value and the interval of one estimate."""
    estimate = found[(measure, *keys)] if keys else found[measure]
    return [estimate.value, estimate.low, estimate.high]


# --- formulas and their slopes --------------------------------------------------------------------------------


@st.composite
def masses(draw: st.DrawFn) -> Masses:
    """Masses at a few scores; some may be nothing, as where no two rows tie."""
    size, random = draw(st.integers(2, 12)), np.random.default_rng(draw(st.integers(0, 2**32)))
    found = random.uniform(0.3, 2, (2, size))
    for side in found:
        side[1:][random.random(size - 1) < draw(st.sampled_from([0.0, 0.5]))] = 0.0
    return Masses(*random.permuted(found, axis=1))


def clear_of_corners(at: Masses) -> bool:
    """Where a range ends in a corner of the curve, a partial area has two slopes."""
    corners = np.concatenate([at.hits / at.hits[-1], at.alarms / at.alarms[-1]])[:, None]
    return bool((np.abs(corners - [0.1, 0.2, 0.4, 0.7, 0.8, 0.9, 0.3, 0.6]) > 1e-4).all())


def moved(at: Masses, side: str, place: int, step: float) -> Masses:
    mass = getattr(at, side).copy()
    mass[place] += step
    return replace(at, **{side: mass})


@every_measure
@given(at=masses())
@FEW
def test_slopes_are_derivatives_by_each_mass(measure: Measure, at: Masses) -> None:
    """Central differences; where no row is, there is none to be moved."""
    assume(clear_of_corners(at))
    slopes, step = at.slopes(measure, float(at.value(measure))), 1e-6
    for side, found in zip(("positive", "negative"), slopes, strict=True):
        for place in np.flatnonzero(getattr(at, side)).tolist():
            up, down = (moved(at, side, place, shift).value(measure) for shift in (step, -step))
            assert found[place] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-7), (side, place)


@every_measure
@given(at=masses(), factor=st.floats(1e-6, 1e6))
@FEW
def test_the_unit_of_masses_does_not_matter(measure: Measure, at: Masses, factor: float) -> None:
    scaled = Masses(at.positive * factor, at.negative * factor)
    assert scaled.value(measure) == pytest.approx(at.value(measure), rel=1e-9, abs=1e-12)


@every_measure
@given(at=masses())
@FEW
def test_slopes_balance_over_all_mass(measure: Measure, at: Masses) -> None:
    """Since the unit does not matter, a little more of everything changes nothing."""
    own, other = at.slopes(measure, float(at.value(measure)))
    assert own @ at.positive + other @ at.negative == pytest.approx(0, abs=1e-9)


@every_measure
@given(at=masses())
@FEW
def test_a_formula_takes_any_leading_axes(measure: Measure, at: Masses) -> None:
    """Replicates are evaluated all at once."""
    other = Masses(at.negative[::-1], at.positive[::-1])
    both = Masses(*(np.stack(pair) for pair in ((at.positive, other.positive), (at.negative, other.negative))))
    assert_allclose(both.value(measure), [at.value(measure), other.value(measure)], rtol=1e-9, atol=EXACT)


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "average_precision"])
@given(at=masses(), place=st.integers(0, 11), share=st.floats(0.1, 0.9))
@FEW
def test_a_straight_line_of_the_curve_may_be_cut_in_two(name: str, at: Masses, place: int, share: float) -> None:
    """Two scores with the same mix of classes say no more than one; precision alone is also taken in between."""
    place %= len(at.positive)
    cut = [np.insert(mass, place, mass[place] * share) for mass in (at.positive, at.negative)]
    for mass in cut:
        mass[place + 1] *= 1 - share
    assert Masses(*cut).value(VARIANTS[name]) == pytest.approx(at.value(VARIANTS[name]), abs=1e-10)


@every_measure
@pytest.mark.parametrize("seed", range(2))
def test_influences_are_what_the_weight_of_a_row_would_change(measure: Measure, seed: int) -> None:
    """Of classes and of averages, whose weights are moved by a row too."""
    truth, shares = drawn_classes(25, 3, seed, decimals=1)
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(truth))
    base = assess(truth, shares, measures=[measure], weight=weight).ranked
    step = 1e-6

    def values(weights: Any) -> Any:
        sums = np.stack([np.ones_like(weights), weights, weights**2], axis=1)
        return replace(base, rows=replace(base.rows, sums=sums), memory=Memory()).values[0]

    changes = np.empty((len(base.slots), len(truth)))
    for row in range(len(truth)):
        shift = step * (np.arange(len(truth)) == row)
        changes[:, row] = (values(weight + shift) - values(weight - shift)) / (2 * step)
    found = np.stack([base.influence(slot, smooth=False) for slot in base.slots])
    assert_allclose(found, changes, rtol=1e-4, atol=1e-7)


# --- parts and wholes -----------------------------------------------------------------------------------------


@every_measure
@given(case=scored(most=8), cut=st.integers(0, 16))
@FEW
def test_parts_merged_are_the_whole(measure: Measure, case: Binary, cut: int) -> None:
    truth, score = case
    cut = min(cut, len(truth))
    weight = 1 + np.arange(len(truth)) % 3
    whole, empty = tallied(truth, score, weight=weight), Tally.empty(TWO, ["m"])
    head, tail = (
        tallied(truth[rows], score[rows], weight=weight[rows]) if len(truth[rows]) else empty
        for rows in (slice(cut), slice(cut, None))
    )
    expected = columns(assess_tally(whole, measures=[measure]))
    for merged in (head + tail, tail + head, whole + empty, empty + whole, whole + whole - whole):
        assert_same(columns(assess_tally(merged, measures=[measure])), expected)
    for part, left in ((tail, whole - head), (head, whole - tail)):
        if part.rows:
            found, sought = (columns(assess_tally(each, measures=[measure])) for each in (left, part))
            assert_same(found, sought)
    nothing = whole - whole
    assert nothing.rows == 0
    assert nothing.scores is None or len(nothing.scores) == 0


@every_measure
@given(case=scored(least=2, most=8))
@FEW
def test_saving_and_loading_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, measure: Measure, case: Binary
) -> None:
    truth, score = case
    rows = np.arange(len(truth))
    whole = tallied(truth, score, group=rows % 5, by=rows % 2, weight=0.5 + rows % 3)
    path: Path = tmp_path_factory.mktemp("tally") / "one.tally"
    whole.save(path)
    before, after = (assess_tally(each, measures=[measure]) for each in (whole, Tally.load(path)))
    for label in before.slices:
        assert_same(columns(after.slices[label]), columns(before.slices[label]), 0)
    assert_same(columns(after), columns(before), 0)


@every_measure
@given(case=scored(most=8), times=st.integers(2, 4))
@FEW
def test_a_whole_weight_is_the_row_so_many_times(measure: Measure, case: Binary, times: int) -> None:
    truth, score = case
    weight = 1 + np.arange(len(truth)) % times
    by_weight = columns(of_two(truth, score, measure, **counted(weight)))
    by_rows = columns(of_two(np.repeat(truth, weight), np.repeat(score, weight), measure))
    assert_same(by_weight, by_rows)


@every_measure
@given(case=many_classed())
@FEW
def test_a_whole_weight_is_the_row_so_many_times_with_several_classes(measure: Measure, case: Several) -> None:
    truth, said = case
    weight = 1 + np.arange(len(truth)) % 3
    repeated = np.repeat(truth, weight), {label: np.repeat(share, weight) for label, share in said.items()}
    assert_same(columns(of_several(case, measure, **counted(weight))), columns(of_several(repeated, measure)))


@every_measure
@given(case=scored(numbers=coarse))
@FEW
def test_rows_of_one_score_and_class_may_be_one_row_that_counts_them(measure: Measure, case: Binary) -> None:
    truth, score = case
    pairs, counts = np.unique(np.array([truth == "yes", score]), axis=1, return_counts=True)
    merged = np.where(pairs[0] == 1, "yes", "no")
    by_count = columns(of_two(merged, pairs[1], measure, **counted(counts)))
    assert_same(by_count, columns(of_two(truth, score, measure)))


@every_measure
@given(case=scored(least=2))
@FEW
def test_a_row_that_weighs_nothing_is_no_row(measure: Measure, case: Binary) -> None:
    truth, score = case
    more = np.concatenate([truth, ["yes", "no"]]), np.concatenate([score, [0.5, -1.0]])
    weight = np.repeat([1, 0], [len(truth), 2])
    assert_same(columns(of_two(*more, measure, weight=weight)), columns(of_two(truth, score, measure)))


@every_measure
@given(case=many_classed(), factor=st.floats(0.01, 100))
@FEW
def test_the_unit_of_sampling_weights_does_not_matter(measure: Measure, case: Several, factor: float) -> None:
    weight = np.random.default_rng(len(case[0])).uniform(0.5, 2, len(case[0]))
    once, scaled = (columns(of_several(case, measure, weight=weight * unit)) for unit in (1.0, factor))
    assert_same(once, scaled, 1e-6, least=1e-6)  # the root of rounding, where a value is 0


@every_measure
@given(case=many_classed(), random=st.randoms())
@FEW
def test_the_order_of_rows_does_not_matter(measure: Measure, case: Several, random: Any) -> None:
    truth, said = case
    order = list(range(len(truth)))
    random.shuffle(order)
    shuffled = truth[order], {label: share[order] for label, share in said.items()}
    assert_same(columns(of_several(case, measure)), columns(of_several(shuffled, measure)), EXACT)


@every_measure
@given(case=many_classed(), random=st.randoms())
@FEW
def test_relabelling_the_classes_relabels_the_result(measure: Measure, case: Several, random: Any) -> None:
    classes = list(case[1])
    random.shuffle(classes)
    here, there = of_several(case, measure), of_several(case, measure, scale=Scale(classes))
    for part in (*classes, "macro", "weighted"):
        assert_allclose(ends(measure, part, found=here), ends(measure, part, found=there), rtol=1e-9, atol=1e-12)


@every_measure
@given(case=many_classed(), parts=st.integers(1, 3))
@FEW
def test_a_slice_is_assessed_as_if_it_were_alone(measure: Measure, case: Several, parts: int) -> None:
    truth, said = case
    part, cluster = np.arange(len(truth)) % parts, np.arange(len(truth)) // 2
    together = of_several(case, measure, by=part, group=cluster)
    for label, sliced in together.slices.items():
        here = part == label
        rows = truth[here], {name: share[here] for name, share in said.items()}
        assert_same(columns(sliced), columns(of_several(rows, measure, group=cluster[here])), EXACT)


@every_measure
@given(case=many_classed())
@FEW
def test_an_estimate_is_the_same_alone_as_in_the_table(measure: Measure, case: Several) -> None:
    """One that is looked up is computed without the others."""
    shown = of_several(case, measure).table()
    for row in shown:
        found = of_several(case, measure)[measure, row["class"] or row["average"]]
        assert_allclose(
            [found.value, found.low, found.high, found.se, found.n],
            [row["value"], row["low"], row["high"], row["se"], row["n"]],
            rtol=EXACT,
            atol=EXACT,  # bounds next to nothing are known to fewer digits
        )
        assert (found.note, found.method) == (row["note"], row["method"])


@given(case=many_classed(least=1))
@FEW
def test_two_ranges_may_be_asked_for_at_once(case: Several) -> None:
    together = of_several(case, *VARIANTS.values())
    for measure in VARIANTS.values():
        assert_array_equal(ends(measure, "a", found=together), ends(measure, "a", found=of_several(case, measure)))


# --- scores: only their order counts --------------------------------------------------------------------------

ANY = st.one_of(
    st.floats(allow_nan=False), st.integers(-20, 20).map(lambda k: 1 + k * 2.0**-52), st.sampled_from([5e-324, 1e300])
)


@every_measure
@given(case=scored(), others=st.lists(ANY, min_size=24, max_size=24, unique=True))
@FEW
def test_a_rising_map_of_the_score_changes_nothing(measure: Measure, case: Binary, others: list[float]) -> None:
    """Any floats in the same order: infinite ones, the smallest there are, and neighbours."""
    truth, score = case
    mapped = np.sort(others)[np.unique(score, return_inverse=True)[1]]
    assert_same(columns(of_two(truth, mapped, measure)), columns(of_two(truth, score, measure)), EXACT)


@given(case=scored(numbers=ANY))
def test_auc_is_the_share_of_pairs_that_are_won(case: Binary) -> None:
    found = of_two(*case, "auc")
    assert found["auc"].value == pytest.approx(by_hand.auc(*case), abs=EXACT)
    assert found["auc", "no"].value == pytest.approx(by_hand.auc(case[0], -case[1], "no"), abs=EXACT)


@given(case=scored(least=2))
def test_auc_of_the_negative_score_is_one_less_auc(case: Binary) -> None:
    truth, score = case
    straight, turned = of_two(truth, score, "auc")["auc"], of_two(truth, -score, "auc")["auc"]
    expected = [1 - straight.value, 1 - straight.high, 1 - straight.low, straight.se]
    assert_allclose([turned.value, turned.low, turned.high, turned.se], expected, rtol=1e-9, atol=1e-12)


@every_measure
@given(case=scored(numbers=st.sampled_from([-0.0, 0.0, 1.0])))
@FEW
def test_zero_and_negative_zero_tie(measure: Measure, case: Binary) -> None:
    truth, score = case
    assert_same(columns(of_two(truth, score, measure)), columns(of_two(truth, score + 0.0, measure)), 0)


@pytest.mark.parametrize(
    "rising",
    [
        [-np.inf, -1e300, -5e-324, 0.0, 5e-324, 1e300, np.inf],
        [1 + k * 2**-52 for k in range(7)],
        [-1 - k * 2**-52 for k in range(7)][::-1],
        [k * 5e-324 for k in range(-3, 4)],
    ],
    ids=["extremes", "above one", "below minus one", "around zero"],
)
def test_scores_at_the_edge_of_what_floats_can_tell_are_told_apart(rising: list[float]) -> None:
    truth = np.array(["no", "no", "yes", "no", "yes", "yes", "yes"])
    found = of_two(truth, np.array(rising), "auc", "average_precision")
    assert found["auc"].value == 11 / 12
    assert found["average_precision"].value == pytest.approx((1 + 1 + 1 + 4 / 5) / 4)


@given(case=scored(least=2), first=st.integers(0, 9), last=st.integers(1, 10))
def test_sensitivity_of_a_class_is_specificity_of_the_other(case: Binary, first: int, last: int) -> None:
    assume(first < last)
    between = (first / 10, last / 10)
    one, other = find("partial_auc", sensitivity=between), find("partial_auc", specificity=between)
    left, right = of_two(*case, one)[one, "yes"], of_two(*case, other)[other, "no"]
    assert_allclose([left.value, left.low, left.high], [right.value, right.low, right.high], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("side", ["specificity", "sensitivity"])
@given(case=scored(least=2))
@FEW
def test_partial_auc_of_the_whole_range_is_auc(side: str, corrected: bool, case: Binary) -> None:
    whole = find("partial_auc", **{side: (0.0, 1.0)}, corrected=corrected)
    assert_same(columns(of_two(*case, whole)), columns(of_two(*case, "auc")))


@pytest.mark.parametrize("method", ["delta", "plain"])
@pytest.mark.parametrize("corrected", [True, False])
@given(case=scored(least=2), first=st.integers(0, 9), last=st.integers(1, 10))
@FEW
def test_intervals_of_partial_areas_stay_among_possible_areas(
    method: Any, corrected: bool, case: Binary, first: int, last: int
) -> None:
    """No area is more than its range is wide; rescaled, the least one may be below 0, and still has an interval."""
    assume(first < last)
    measure = find("partial_auc", specificity=(first / 10, last / 10), corrected=corrected)
    found = assess(*case, scale=TWO, threshold=0.0, measures=[measure], method=method)[measure]
    wide, high, low = (last - first) / 10, 1 - first / 10, 1 - last / 10
    guessed = (high**2 - low**2) / 2
    ends = (min(0.5 - 0.5 * guessed / (wide - guessed), 0.0), 1.0) if corrected else (0.0, wide)
    assert ends[0] - EXACT <= found.low <= found.value + EXACT
    assert found.value - EXACT <= found.high <= ends[1] + EXACT


@given(case=scored(), cut=st.integers(1, 9))
def test_partial_areas_add_up_to_auc(case: Binary, cut: int) -> None:
    pieces = [(0.0, cut / 10), (cut / 10, 1.0)]
    areas = [find("partial_auc", specificity=piece, corrected=False) for piece in pieces]
    total = sum(of_two(*case, area)[area].value for area in areas)
    assert total == pytest.approx(by_hand.auc(*case))


@given(case=scored())
def test_the_corrected_area_is_mcclishs(case: Binary) -> None:
    between = {"specificity": (0.6, 0.8)}
    area, corrected = (find("partial_auc", **between, corrected=each) for each in (False, True))
    least, most = (0.4**2 - 0.2**2) / 2, 0.4 - 0.2
    expected = (1 + (of_two(*case, area)[area].value - least) / (most - least)) / 2
    assert of_two(*case, corrected)[corrected].value == pytest.approx(expected)


@given(case=scored())
def test_average_precision_is_that_of_its_definition(case: Binary) -> None:
    found = of_two(*case, "average_precision")["average_precision"].value
    assert found == pytest.approx(by_hand.average_precision(*case))


@given(case=scored(least=2))
@settings(max_examples=repeats(5, 15))
def test_h_measure_is_that_of_its_definition(case: Binary) -> None:
    """Integrated over the cost, with the best of all thresholds for each."""
    found = of_two(*case, "h_measure")["h_measure"].value
    assert found == pytest.approx(by_hand.h_measure(*case), abs=1e-6)


def test_h_measure_of_more_rows_is_that_of_its_definition() -> None:
    truth, score, _ = drawn(150, 3, decimals=1)
    found = of_two(truth, score, "h_measure")["h_measure"].value
    assert found == pytest.approx(by_hand.h_measure(truth, score), abs=1e-6)
    assert 0.1 < found < 0.9


@given(case=scored(least=2), weights=st.lists(st.floats(0.1, 9), min_size=24, max_size=24))
def test_weights_multiply_the_pairs(case: Binary, weights: list[float]) -> None:
    truth, score = case
    weight = np.array(weights)[: len(truth)]
    found = of_two(truth, score, "auc", weight=weight)["auc"].value
    assert found == pytest.approx(by_hand.weighted_auc(truth, score, weight))


# --- the ends -------------------------------------------------------------------------------------------------


@every_measure
@pytest.mark.parametrize("rows", [2, 5, 40])
def test_a_perfect_score_reaches_the_better_end_with_an_honest_interval(measure: Measure, rows: int) -> None:
    truth = np.repeat(["no", "yes"], rows)
    found = of_two(truth, np.arange(2.0 * rows), measure)[measure]
    between = measure.parameters.get("sensitivity") or measure.parameters.get("specificity", ())
    end = 1.0 if measure.parameters.get("corrected", True) else between[1] - between[0]
    assert found.value == pytest.approx(end, abs=1e-12)
    assert found.se == 0
    assert measure.span[0] < found.low < end
    assert found.high >= end - EXACT


@every_measure
def test_a_perfect_membership_is_perfect_for_every_class(measure: Measure) -> None:
    truth = np.array(list("abc") * 6)
    found = of_several((truth, {label: np.where(truth == label, 1.0, 0.0) for label in "abc"}), measure)
    best = max(ends(measure, "a", found=found)[0], 0.0)
    for part in (*"abc", "macro", "weighted"):
        value, low, _ = ends(measure, part, found=found)
        assert value == pytest.approx(best)
        assert low < value
    if measure.parameters.get("corrected", True):
        assert best == 1


@every_measure
@given(sizes=st.tuples(st.integers(1, 20), st.integers(1, 20)), score=ANY)
@FEW
def test_a_constant_score_is_a_guess(measure: Measure, sizes: tuple[int, int], score: float) -> None:
    truth = np.repeat(TWO.classes, sizes)
    found = of_two(truth, np.full(len(truth), score), measure)[measure].value
    guess = {"average_precision": sizes[1] / sum(sizes), "partial_auc": 0.5}.get(measure.name, measure.chance)
    if measure.parameters.get("corrected", True):
        assert found == pytest.approx(guess, abs=1e-12)
    else:
        whole = find("partial_auc", **{**measure.parameters, "corrected": True})
        assert of_two(truth, np.full(len(truth), score), whole)[whole].value == pytest.approx(0.5)
        assert 0 < found < 0.5


@every_measure
@pytest.mark.parametrize("only", TWO.classes)
@pytest.mark.parametrize("part", ["no", "yes", "macro", "weighted"])
def test_one_class_alone_has_no_value_and_says_why(measure: Measure, only: str, part: str) -> None:
    found = of_two(np.repeat(only, 6), np.arange(6.0), measure)[measure, part]
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.note
    assert "{class}" not in found.note


@every_measure
@given(case=many_classed())
@FEW
def test_what_is_undefined_says_why(measure: Measure, case: Several) -> None:
    for row in of_several(case, measure).table():
        if math.isnan(row["value"]):
            assert row["note"]
            assert "{class}" not in row["note"]
            assert math.isnan(row["low"])
            assert math.isnan(row["high"])


@every_measure
@given(case=many_classed())
@FEW
def test_what_stands_in_for_an_undefined_value_says_so(measure: Measure, case: Several) -> None:
    plain, filled = (of_several(case, measure, undefined=value).table() for value in (math.nan, 0.125))
    for before, after in zip(plain, filled, strict=True):
        if before["class"] is not None and math.isnan(before["value"]):
            assert after["value"] == 0.125
            assert "0.125 stands in" in after["note"]
            assert math.isnan(after["low"])


@every_measure
@pytest.mark.parametrize("alone", TWO.classes)
def test_one_row_of_a_class_has_an_interval_but_no_standard_error(measure: Measure, alone: str) -> None:
    truth = np.where(np.arange(10) == 6, alone, {"no": "yes", "yes": "no"}[alone])
    found = of_two(truth, np.arange(10.0), measure)[measure]
    assert math.isnan(found.se)
    assert measure.span[0] <= found.low <= found.value <= found.high <= measure.span[1]
    assert found.low < found.high


@every_measure
@given(case=scored(), level=st.sampled_from([0.5, 0.9, 0.99]))
@FEW
def test_intervals_hold_the_value_and_stay_in_the_span(measure: Measure, case: Binary, level: float) -> None:
    found = columns(of_two(*case, measure, level=level))
    assert not np.isnan(found["low"]).any()
    assert (measure.span[0] <= found["low"]).all()
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()
    assert (found["high"] <= measure.span[1]).all()


@every_measure
@given(case=scored())
@FEW
def test_a_higher_level_has_the_wider_interval(measure: Measure, case: Binary) -> None:
    narrow, wide = (columns(of_two(*case, measure, level=level)) for level in (0.8, 0.99))
    assert (wide["low"] <= narrow["low"] + 1e-12).all()
    assert (wide["high"] >= narrow["high"] - 1e-12).all()


@pytest.mark.parametrize(
    ("name", "parameter", "values"),
    [
        ("partial_auc", "specificity", ((0.9, 1.0), (0.6, 0.8))),
        ("partial_auc", "sensitivity", ((), (0.8, 1.0))),
        ("partial_auc", "corrected", (True, False)),
    ],
)
def test_every_parameter_changes_something(name: str, parameter: str, values: tuple[Any, Any]) -> None:
    truth, score, _ = drawn(60, 0)
    entries = [find(name, **{parameter: value}) for value in values]
    one, other = (of_two(truth, score, entry)[entry].value for entry in entries)
    assert one != pytest.approx(other)


def test_no_parameter_is_left_out_above() -> None:
    taken = {(entry.name, parameter) for entry in REGISTERED for parameter in entry.parameters}
    marks = [mark for mark in test_every_parameter_changes_something.pytestmark if mark.name == "parametrize"]
    assert taken == {(name, parameter) for name, parameter, _ in marks[0].args[1]}


@pytest.mark.parametrize("between", [(0.8, 1.0), [1.0, 0.8], np.array([0.8, 1.0])], ids=["tuple", "turned", "array"])
@pytest.mark.parametrize("side", ["specificity", "sensitivity"])
def test_a_range_may_be_given_in_any_form(side: str, between: Any) -> None:
    truth, score, _ = drawn(60, 0)
    given_so, usual = find("partial_auc", **{side: between}), find("partial_auc", **{side: (0.8, 1.0)})
    assert of_two(truth, score, given_so)[given_so].value == of_two(truth, score, usual)[usual].value


def test_the_label_says_which_range() -> None:
    labels = [measure.label for measure in VARIANTS.values()]
    assert len(set(labels)) == len(labels)


# --- several classes ------------------------------------------------------------------------------------------


@given(case=many_classed())
def test_hand_till_is_the_mean_over_ordered_pairs_of_classes(case: Several) -> None:
    truth, said = case
    assume(len(set(truth)) > 1)
    found = of_several(case, "hand_till_auc")["hand_till_auc"].value
    assert found == pytest.approx(by_hand.hand_till(truth, said))


@given(case=scored())
def test_hand_till_of_two_classes_is_auc(case: Binary) -> None:
    found = of_two(*case, "auc", "hand_till_auc")
    assert found["hand_till_auc"].value == pytest.approx(found["auc"].value, abs=EXACT)


@every_measure
@given(case=many_classed())
@FEW
def test_averages_are_made_of_the_classes(measure: Measure, case: Several) -> None:
    truth, said = case
    found = of_several(case, measure)
    values = np.array([found[measure, label].value for label in said])
    known = ~np.isnan(values)
    assume(known.any())
    prevalence = np.array([np.mean(truth == label) for label in said])
    assert found[measure, "macro"].value == pytest.approx(values[known].mean())
    expected = np.average(values[known], weights=prevalence[known])
    assert found[measure, "weighted"].value == pytest.approx(expected)
    assert found[measure].value == found[measure, "macro"].value


@given(case=many_classed(least=1))
@FEW
def test_a_class_and_the_rest_are_two_classes(case: Several) -> None:
    truth, said = case
    of_one = [entry for entry in REGISTERED if not entry.balanced]
    found = of_several(case, *of_one)
    for label, share in said.items():
        two = of_two(np.where(truth == label, "yes", "no"), share, *of_one)
        for entry in of_one:
            ours, theirs = found[entry, label], two[entry]
            assert_allclose(
                [ours.value, ours.low, ours.high, ours.se],
                [theirs.value, theirs.low, theirs.high, theirs.se],
                rtol=1e-9,
                atol=1e-12,
            )


# --- standard errors ------------------------------------------------------------------------------------------


@given(case=scored(least=2))
def test_the_standard_error_of_auc_is_delongs(case: Binary) -> None:
    truth, score = case
    found = of_two(truth, score, "auc")["auc"]
    expected = by_hand.delong(truth, by_hand.placements(truth, score))
    assert found.se == pytest.approx(math.sqrt(expected), rel=1e-9, abs=1e-12)


@given(case=scored(least=2))
def test_the_degrees_of_freedom_of_auc_are_those_of_brunner_and_munzel(case: Binary) -> None:
    truth, score = case
    placed = by_hand.placements(truth, score)
    parts = [(np.var(placed[truth == label], ddof=1) / np.sum(truth == label)) for label in TWO.classes]
    assume(sum(parts) > 1e-20)
    sizes = [np.sum(truth == label) for label in TWO.classes]
    expected = sum(parts) ** 2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    evaluation = of_two(truth, score, "auc").ranked
    slot = evaluation.slots[evaluation.places["auc", TWO.code("yes")]]
    assert evaluation.result(slot).freedom[0] == pytest.approx(expected)


@every_measure
@pytest.mark.parametrize("classes", [2, 5])
def test_clusters_have_one_degree_of_freedom_less_than_there_are(measure: Measure, classes: int) -> None:
    """However many classes their rows are of: what a cluster adds to either of them is no news of another cluster."""
    random, group = np.random.default_rng(2), np.arange(200) % 6
    truth, score = random.permutation(np.arange(200) % classes), random.dirichlet(np.ones(classes), 200)
    found = assess(truth, score, scale=Scale(range(classes)), group=group, measures=[measure]).ranked
    assert all(0 < each <= 5 for slot in found.slots for each in found.result(slot).freedom)


@given(case=scored(least=2), random=st.randoms(use_true_random=False))
def test_the_standard_error_of_a_difference_is_that_of_paired_delong(case: Binary, random: Any) -> None:
    truth, first = case
    second = np.array([each + random.choice([0.0, 0.0, 0.5, -2.0]) for each in first])
    row = compared(truth, first, second).differences("auc").to_pylist()[0]
    placed = [by_hand.placements(truth, score) for score in (first, second)]
    assert row["difference"] == pytest.approx(by_hand.auc(truth, first) - by_hand.auc(truth, second), abs=1e-12)
    assert row["se"] == pytest.approx(math.sqrt(by_hand.delong(truth, placed[0] - placed[1])), rel=1e-9, abs=1e-11)


def compared(truth: Any, first: Any, second: Any, *measures: Measure | str, **options: Any) -> Any:
    chosen = list(measures) or ["auc"]
    return compare(truth, {"x": first, "y": second}, scale=TWO, threshold=0.0, measures=chosen, **options)


@given(case=scored(least=2), sizes=st.integers(1, 4), random=st.randoms(use_true_random=False))
def test_the_standard_error_under_clusters_is_obuchowskis(case: Binary, sizes: int, random: Any) -> None:
    truth, first = case
    cluster = np.arange(len(truth)) // sizes
    random.shuffle(cluster)
    assume(min(len(set(cluster[truth == label])) for label in TWO.classes) > 1)
    second = np.roll(first, 1)
    found = compared(truth, first, second, group=cluster)
    placed = [by_hand.placements(truth, score) for score in (first, second)]
    values = [by_hand.auc(truth, score) for score in (first, second)]
    alone = by_hand.obuchowski(truth, placed[0], values[0], cluster)
    paired = by_hand.obuchowski(truth, placed[0] - placed[1], values[0] - values[1], cluster)
    expected = [math.sqrt(max(each, 0.0)) for each in (alone, paired)]
    row = found.differences("auc").to_pylist()[0]
    assert_allclose([found["x"]["auc"].se, row["se"]], expected, rtol=1e-6, atol=1e-7)


@every_measure
@given(case=scored(least=2))
@FEW
def test_clusters_of_one_row_are_independent_rows(measure: Measure, case: Binary) -> None:
    alone = columns(of_two(*case, measure))
    grouped = columns(of_two(*case, measure, group=np.arange(len(case[0]))))
    assert_same(alone, grouped)


@every_measure
@pytest.mark.parametrize("options", [{}, {"weight": True}, {"group": True}], ids=["rows", "weights", "clusters"])
def test_the_spread_of_replicates_is_the_standard_error(measure: Measure, options: dict[str, bool]) -> None:
    from steelyard.inference.bootstrap import replicate

    truth, score, _ = drawn(400, 7, decimals=2)
    columns_of = {"weight": np.random.default_rng(1).gamma(4.0, size=400), "group": np.arange(400) // 4}
    found = of_two(truth, score, measure, **{name: columns_of[name] for name in options})
    samples = replicate([found.ranked], [found.place(measure)], 1000, 0)[0]
    assert samples.shape == (1000, 1)
    assert np.std(samples) == pytest.approx(found[measure].se, rel=0.15)
    assert np.mean(samples) == pytest.approx(found[measure].value, abs=found[measure].se)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("name", [entry.name for entry in REGISTERED])
def test_the_spread_of_replicated_averages_is_their_standard_error(name: str, average: str) -> None:
    from steelyard.inference.bootstrap import replicate

    truth, shares = drawn_classes(300, 3, 5)
    found = assess(truth, shares, measures=[name])
    samples = replicate([found.ranked], [found.place(name, average)], 1000, 0)[0]
    assert np.std(samples) == pytest.approx(found[name, average].se, rel=0.15)


@every_measure
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrapped_intervals_are_near_those_of_the_delta_method(measure: Measure, method: str) -> None:
    truth, score, _ = drawn(400, 8)
    plain = of_two(truth, score, measure)[measure]
    again = of_two(truth, score, measure, method=method, replicates=2000)[measure]
    assert again.value == plain.value
    assert again.method.startswith("bootstrap")
    width = plain.high - plain.low
    assert_allclose([again.low, again.high], [plain.low, plain.high], atol=0.25 * width)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_seed_decides(method: str) -> None:
    truth, score, _ = drawn(80, 9)
    options: dict[str, Any] = {"method": method, "replicates": 300}
    one, same, other = (columns(of_two(truth, score, "auc", seed=seed, **options)) for seed in (1, 1, 2))
    assert_same(one, same, 0)
    assert one["low"].tolist() != other["low"].tolist()


def test_the_number_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, score, other = drawn(700, 10)
    found: list[Any] = []
    for several in (1, 2, 5):
        monkeypatch.setattr("steelyard.core.threads.cores", lambda several=several: several)
        both = compared(truth, score, other, "auc", "h_measure", method="bca", replicates=400)
        shown = both.differences().columns
        found.append([*columns(both["x"]).values(), shown["low"], shown["high"]])
    for again in found[1:]:
        for one, same in zip(found[0], again, strict=True):
            assert_array_equal(one, same)


def test_rows_that_weigh_nothing_are_never_drawn() -> None:
    truth, score, _ = drawn(60, 11)
    weight = np.arange(60) % 3
    found = of_two(truth, score, "auc", weight=weight, method="bca", replicates=500)["auc"]
    assert 0 < found.low < found.value < found.high < 1
    assert found.method == "bootstrap, BCa"


def test_a_perfect_score_keeps_its_honest_interval_under_the_bootstrap() -> None:
    truth = np.repeat(["no", "yes"], 12)
    found = of_two(truth, np.arange(24.0), "auc", method="bca", replicates=200)["auc"]
    assert found.low < 1 == found.high
    assert not found.method.startswith("bootstrap")


# --- differences ----------------------------------------------------------------------------------------------


@every_measure
@given(case=scored(least=2))
@FEW
def test_differences_turn_around_with_the_pair(measure: Measure, case: Binary) -> None:
    truth, first = case
    second = np.roll(first, 1)
    forth = compared(truth, first, second, measure).differences().columns
    back = compared(truth, second, first, measure).differences().columns
    assert_allclose(forth["difference"], -np.array(back["difference"]), rtol=1e-9, atol=1e-12)
    assert_allclose(forth["low"], -np.array(back["high"]), rtol=1e-7, atol=1e-9)
    assert_allclose(forth["p"], back["p"], rtol=1e-6, atol=1e-9)


@every_measure
@given(case=scored())
@example(case=(np.repeat(["no", "yes"], [1, 4]), np.array([0.25, -1.0, -1.0, 0.0, 0.25])))  # rounding below 0
@FEW
def test_a_classifier_does_not_differ_from_itself(measure: Measure, case: Binary) -> None:
    truth, score = case
    row = compared(truth, score, score.copy(), measure).differences().to_pylist()[0]
    assert row["difference"] == 0
    assert row["low"] <= 0 <= row["high"]
    assert row["p"] == pytest.approx(1)


@every_measure
@given(case=scored())
@FEW
def test_a_difference_has_an_interval_that_holds_it(measure: Measure, case: Binary) -> None:
    truth, first = case
    row = compared(truth, first, np.roll(first, 1), measure).differences().to_pylist()[0]
    width = measure.span[1] - measure.span[0]
    assert -width <= row["low"] <= row["difference"] <= row["high"] <= width
    assert 0 <= row["p"] <= 1


@every_measure
@given(case=scored(least=2))
@FEW
def test_each_classifier_is_assessed_as_if_it_were_alone(measure: Measure, case: Binary) -> None:
    truth, first = case
    both = compared(truth, first, np.roll(first, 1), measure)
    assert_same(columns(both["x"]), columns(of_two(truth, first, measure)), 0)
    assert_same(columns(both["y"]), columns(of_two(truth, np.roll(first, 1), measure)), 0)


@pytest.mark.parametrize("options", [{}, {"group": np.arange(500) // 4}], ids=["rows", "clusters"])
def test_differences_can_be_bootstrapped(options: dict[str, Any]) -> None:
    truth, first, second = drawn(500, 12)
    for name in ("auc", "average_precision"):
        plain, again = (
            compared(truth, first, second, name, method=method, replicates=1500, **options).differences().to_pylist()[0]
            for method in ("delta", "bca")
        )
        assert plain["difference"] == again["difference"]
        width = plain["high"] - plain["low"]
        assert_allclose([again["low"], again["high"]], [plain["low"], plain["high"]], atol=0.2 * width)
        assert (plain["p"] < 0.05) == (again["p"] < 0.05)


def test_bands_that_hold_at_once_are_wider() -> None:
    truth, first, second = drawn(200, 13)
    found = compared(truth, first, second, *REGISTERED, "kappa", "error")
    single, bands = found.differences(), found.differences(simultaneous=True)
    assert single["measure"] == bands["measure"]
    assert all(low < other for low, other in zip(bands["low"], single["low"], strict=True))
    assert all(high > other for high, other in zip(bands["high"], single["high"], strict=True))
    wide = found.table(simultaneous=True)
    assert len(wide) == 2 * len(found.settings.measures)
    row = next(row for row in wide if row["model"] == "y" and row["measure"] == "auc")
    assert row["low"] < found["y"]["auc"].low < found["y"]["auc"].high < row["high"]


def test_leaving_a_deciding_row_out_moves_the_difference_by_about_its_effect() -> None:
    truth, first, second = drawn(300, 14)
    found = compared(truth, first, second)
    deciding = found.deciding_rows("auc", "x", "y", 300)
    assert sum(deciding["effect"]) == pytest.approx(0, abs=1e-12)
    row = deciding.to_pylist()[0]
    keep = np.arange(300) != row["row"]
    without = compared(truth[keep], first[keep], second[keep])
    before, after = (each.differences("auc")["difference"][0] for each in (found, without))
    assert before - after == pytest.approx(row["effect"], rel=0.05)


# --- names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alias", ["auroc", "roc_auc", "c_statistic", "auc_ovr"])
def test_other_names_are_the_same_measure(alias: str) -> None:
    assert find(alias) is all_measures()["auc"]


def test_the_names_that_others_rely_on_are_there() -> None:
    names: Sequence[str] = ("auc", "hand_till_auc", "partial_auc", "average_precision", "h_measure")
    assert set(names) <= {entry.name for entry in REGISTERED}

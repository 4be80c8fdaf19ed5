"""Laws of scaled memberships: what they are for any memberships at all, and what they become with many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betainc

import steelyard as sy
from steelyard.core.errors import BadOption
from steelyard.core.typing import Array, Codes
from steelyard.families.partition.fitting import Regions, Scaling
from steelyard.families.partition.rows import TIES, Arranged, at_random, grouped, joined
from steelyard.families.partition.scaling import (
    MANY_VALUES,
    TOO_WIDE,
    BetaMap,
    BetaMoments,
    beta_map,
    matched,
    orders,
)
from steelyard.families.partition.space import Space, both_distances, corner, distances
from steelyard.maths.beta_table import LOSS, TOLERANCE, BetaTable
from tests.effort import repeats

OWN = ("default", "literal")
DEPTHS = (1, 2, 3)
COLUMNS = ("true_gap", "assigned_gap", "top")
STEP = 1e-4
each_depth = pytest.mark.parametrize("depth", DEPTHS)
each_variant = pytest.mark.parametrize("variant", OWN)


def sample(rows: int, classes: int = 4, seed: int = 1, distort: float = 0.5, certainty: float = 1.0) -> Any:
    """Memberships, classes drawn from others that are nearer to the centroid, and these others."""
    random = np.random.default_rng(seed)
    memberships = random.dirichlet(np.full(classes, certainty), rows)
    true = memberships**distort
    true /= true.sum(axis=1, keepdims=True)
    truth = (random.random(rows)[:, None] > np.cumsum(true, axis=1)[:, :-1]).sum(axis=1)
    return memberships, truth, true


def space(memberships: Any, truth: Any, variant: str = "default", **options: Any) -> Space:
    mass = options.pop("mass", np.ones(len(truth)))
    return Space(np.asarray(memberships, dtype=np.float64), np.asarray(truth), mass, variant, **options)


def fitted(rows: Space) -> Scaling:
    assert rows.scaling is not None
    return rows.scaling


def accuracy(rows: Space) -> float:
    return 1 - float(rows.column("true_gap").mean()) / corner(rows.memberships.shape[1])


def assert_on_simplex(memberships: Array) -> None:
    assert np.isfinite(memberships).all()
    assert (memberships >= 0).all()
    assert_allclose(memberships.sum(axis=1), 1, rtol=0, atol=1e-12)


def means(rows: Space, mass: Array) -> Array:
    return np.array([mass @ rows.column(name) / mass.sum() for name in COLUMNS])


def assert_influences(rows: Space, moved: Callable[[Array], Space]) -> None:
    """Of every 24th row: what its weight, a little more and a little less, does to the means of the columns."""
    number = len(rows.truth)
    expected = np.array([rows.influence(name) for name in COLUMNS]) / number
    size = np.abs(expected).mean(axis=1)
    for row in range(0, number, 24):
        more, less = (np.where(np.arange(number) == row, 1 + by, 1.0) for by in (STEP, -STEP))
        found = (means(moved(more), more) - means(moved(less), less)) / (2 * STEP)
        for column, name in enumerate(COLUMNS):
            assert found[column] == pytest.approx(expected[column, row], rel=1e-3, abs=1e-3 * size[column]), name


# --- any memberships ------------------------------------------------------------------------------------------


@st.composite
def partitions(draw: st.DrawFn) -> tuple[Array, Codes, int]:
    """Rows on the simplex: at corners, at the centroid, on edges, tied, tiny, alike, or anywhere."""
    classes = draw(st.integers(2, 5))
    rows = draw(st.integers(1, 25))
    sizes = st.sampled_from([0.0, 1e-300, 1e-20, 1e-13, 1e-9, 1e-6, 0.01, 0.2, 0.5, 1.0, 1.0 - 1e-12]) | st.floats(0, 1)
    drawn = np.array(draw(st.lists(st.lists(sizes, min_size=classes, max_size=classes), min_size=rows, max_size=rows)))
    drawn[drawn.sum(axis=1) <= 0] = 1.0
    if draw(st.booleans()):
        drawn[:] = drawn[0]
    truth = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows)))
    return drawn / drawn.sum(axis=1, keepdims=True), truth, draw(st.integers(1, classes - 1))


@given(partitions(), st.sampled_from(OWN), st.integers(1, 5), st.sampled_from(TIES))
def test_scaled_memberships_are_memberships_whatever_they_were(
    drawn: tuple[Array, Codes, int], variant: str, floor: int, ties: str
) -> None:
    memberships, truth, depth = drawn
    rows = space(memberships, truth, variant, depth=depth, floor=floor, ties=ties)
    assert_on_simplex(rows.scaled)
    for name in ("true_gap", "assigned_gap", "top"):
        assert np.isfinite(rows.column(name)).all()


def test_joined_classes_that_add_up_to_more_than_1_by_rounding() -> None:
    memberships = np.zeros((18, 4))
    memberships[:15, 3] = 1.0
    memberships[15:] = [[0, 1e-7, 0, 1 - 1e-7], [1 / 3, 0, 1 / 3, 1 / 3], [1, 0, 1e-13, 1e-13]]
    truth = np.append(np.zeros(17, np.int64), 1)
    assert np.isfinite(space(memberships, truth, ties="joined").scaled).all()


@pytest.mark.parametrize("turned", [False, True], ids=["below", "above"])
def test_tails_so_far_that_their_inverse_is_not_known(turned: bool) -> None:
    """Here SciPy's own inverse is NaN; what it inverts is not."""
    before, after = (32.6, 30.4), (4.5, 4.0)
    values = np.array([1e-7, 1e-6, 1e-5, 0.3])
    if turned:
        found = 1 - matched(1 - values, before[::-1], after[::-1])
        assert_allclose(found, matched(values, before, after), rtol=0, atol=1e-12)
    else:
        found = matched(values, before, after)
        assert_allclose(betainc(*after, found), betainc(*before, values), rtol=1e-9)


def test_a_row_far_from_all_others_of_its_region() -> None:
    memberships = np.array([[1.0, 1.0, 1.0]] * 7 + [[1.0, 1e-3, 2.22e-10], [10.0, 5.0, 2.0]])
    memberships /= memberships.sum(axis=1, keepdims=True)
    assert_on_simplex(space(memberships, np.array([0] * 7 + [1, 2]), depth=2).scaled)


@given(partitions())
def test_others_keep_their_ratios(drawn: tuple[Array, Codes, int]) -> None:
    memberships, truth, depth = drawn
    rows = space(memberships, truth, depth=depth)
    for before, after, top in zip(memberships, rows.scaled, rows.order, strict=True):
        others = [place for place in range(len(before)) if place not in top]
        if before[others].sum() > 1e-12 and after[others].sum() > 1e-290:
            shares = before[others] / before[others].sum(), after[others] / after[others].sum()
            assert_allclose(shares[1], shares[0], rtol=1e-9, atol=1e-12)


@given(partitions(), st.sampled_from(OWN))
def test_within_a_region_the_order_of_rows_is_kept(drawn: tuple[Array, Codes, int], variant: str) -> None:
    memberships, truth, _ = drawn
    rows = space(memberships, truth, variant)
    for (place,), here in grouped(rows.order, memberships.shape[1]):
        order = np.argsort(memberships[here, place], kind="stable")
        assert (np.diff(rows.scaled[here, place][order]) >= -1e-12).all()


@each_depth
def test_every_variant_stays_on_the_simplex_with_many_rows(depth: int) -> None:
    memberships, truth, _ = sample(30_000, certainty=0.05)
    assert (memberships.max(axis=1) > 1 - 1e-12).any(), "some are as good as certain"
    memberships[:100] = np.eye(4)[0]
    for variant in OWN:
        assert_on_simplex(space(memberships, truth, variant, depth=depth).scaled)
    assert_on_simplex(space(memberships, truth, "klar").scaled)


# --- what measures say at the ends ----------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 4, 7])
def test_accuracy_is_one_at_the_right_corners_and_zero_at_the_centroid(classes: int) -> None:
    truth = np.arange(3 * classes) % classes
    for variant in (*OWN, "klar", "raw"):
        assert accuracy(space(np.eye(classes)[truth], truth, variant)) == 1
    middle = np.full((len(truth), classes), 1 / classes)
    for variant in (*OWN, "klar", "raw"):
        assert accuracy(space(middle, truth, variant)) == pytest.approx(0, abs=1e-12)
        assert accuracy(space(middle, truth, variant, ties="random", seed=1)) <= 1
    for variant in (*OWN, "raw"):
        assert accuracy(space(np.eye(classes)[truth], truth, variant, ties="joined")) == 1
        assert accuracy(space(middle, truth, variant, ties="joined")) == pytest.approx(0, abs=1e-12)


def test_distances_lose_nothing_near_a_corner() -> None:
    near = np.array([[1 - 1e-10, 1e-10, 0.0], [1.0, 1e-20, 1e-30]]).T
    assert_allclose(distances(near, np.array([0, 0])), [np.sqrt(2) * 1e-10, 1e-20], rtol=1e-6)


# --- regions that cannot be scaled as others ------------------------------------------------------------------


def moments(values: list[float], target: float) -> BetaMoments:
    return BetaMoments(
        len(values), float(np.mean(values)), float(np.var(values, ddof=1)) if values[1:] else 0.0, target
    )


@each_variant
def test_degenerate_regions_take_the_share_of_the_class(variant: Any) -> None:
    for values, target, note in (
        ([0.7], 1.0, ""),
        ([0.7, 0.8], 0.0, ""),
        ([0.7], 0.5, "only one row"),
        ([0.7, 0.7, 0.7], 0.5, "all values are alike"),
        ([1.0, 1.0], 0.5, "all values are alike"),
    ):
        found = beta_map(moments(values, target), variant)
        assert (found.kind, found.level, found.note) == ("point", target, note)
    assert beta_map(BetaMoments(9, 0.5, 0.4, 0.3), "default") == BetaMap("point", level=0.3, note=TOO_WIDE)
    assert beta_map(BetaMoments(9, 0.5, 0.4, 0.3), "klar") == BetaMap("point", level=0.3, note=TOO_WIDE)


def test_a_certainty_that_is_whole_but_for_rounding_is_whole() -> None:
    # Values 1, 0.6 and 0.8 have a certainty of 0.16 / 0.04 - 1 = 3, however they are summed.
    for mean, variance in ((0.8, 0.04), (np.nextafter(0.8, 1), np.nextafter(0.04, 1)), (0.8, np.nextafter(0.04, 0))):
        assert sum(beta_map(BetaMoments(3, mean, variance, 1 / 3), "klar").scaled) == pytest.approx(3, rel=1e-12)
    assert sum(beta_map(BetaMoments(3, 0.8, 0.0401, 1 / 3), "klar").scaled) == pytest.approx(2, rel=1e-12)


def test_whoever_moves_moments_stays_on_the_step_of_the_certainty() -> None:
    here = beta_map(BetaMoments(3, 0.8, 0.04, 1 / 3), "klar")
    moved = beta_map(BetaMoments(3, 0.8, 0.0401, 1 / 3), "klar", here)
    assert moved.scaled == here.scaled
    assert moved.given != here.given


def test_values_that_are_as_they_should_be_stay_to_the_last_digit() -> None:
    values = np.array([0.8, 0.4, 0.6, 0.8, 0.4])
    for mean in (0.6, np.nextafter(0.6, 1)):
        found = beta_map(BetaMoments(5, mean, 0.04, 0.6))
        assert found.kind == "beta"
        assert_array_equal(found(values), values)


def test_the_highest_at_one_leaves_equal_shares() -> None:
    memberships = [[1.0, 0.0, 0.0], [0.8, 0.2, 0.0], [0.6, 0.1, 0.3], [1.0, 0.0, 0.0]]
    found = space(memberships, [0, 1, 0, 2]).scaled
    assert found[0, 1] == found[0, 2] == found[3, 1]
    wrong = space([[1.0, 0.0, 0.0]], [1]).scaled
    assert wrong.tolist() == [[0.0, 0.5, 0.5]]


def test_a_class_never_assigned_in_the_fit_stays_as_it_is() -> None:
    fit = fitted(space([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.2, 0.7, 0.1]], [0, 0, 1]))
    others = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    assert fit(others).tolist() == others.tolist()


# --- what the scaling is for ----------------------------------------------------------------------------------


@each_depth
@each_variant
def test_region_means_meet_the_frequencies_of_the_classes_that_are_scaled(depth: int, variant: str) -> None:
    """As far as values are what they are taken for: Beta variables, one stick of a Dirichlet variable each."""
    random = np.random.default_rng(5)
    rows, far = 30_000, random.dirichlet([5, 2, 1.5, 1], 30_000)
    memberships = -np.sort(-far, axis=1)
    memberships = np.take_along_axis(memberships, random.permuted(np.tile(np.arange(4), (rows, 1)), axis=1), axis=1)
    true = memberships**0.5 / (memberships**0.5).sum(axis=1, keepdims=True)
    truth = (random.random(rows)[:, None] > np.cumsum(true, axis=1)[:, :-1]).sum(axis=1)
    found = space(memberships, truth, variant, depth=depth)
    for prefix, here in grouped(found.order, 4):
        means = found.scaled[here].mean(axis=0)
        shares = np.bincount(truth[here], minlength=4) / len(here)
        assert_allclose(means[list(prefix)], shares[list(prefix)], rtol=0, atol=0.03 if variant == "literal" else 0.015)


def test_means_are_met_tightly_where_values_are_beta_variables() -> None:
    """Of two classes, values above one half that follow a Beta variable to many digits."""
    random = np.random.default_rng(6)
    rows = 200_000
    high = random.beta(60, 20, rows).clip(0.5000001)
    truth = np.where(random.random(rows) < high**2, 0, 1)
    found = space(np.stack([high, 1 - high], axis=1), truth)
    assert found.scaled[:, 0].mean() == pytest.approx((truth == 0).mean(), abs=2e-4)


def test_a_calibrated_rule_is_changed_little_and_less_with_more_rows() -> None:
    changes = []
    for rows in (300, 3_000, 30_000, 300_000):
        memberships, truth, _ = sample(rows, 3, seed=rows, distort=1.0, certainty=2.0)
        changes.append(float(np.abs(space(memberships, truth).scaled - memberships).mean()))
    assert changes[-1] < 0.005
    assert changes[0] > 2 * changes[1] > 2 * changes[-1]


def test_a_distorted_rule_comes_nearer_to_the_truth() -> None:
    memberships, truth, true = sample(100_000, 3, certainty=2.0)
    off = [np.abs(space(memberships, truth, depth=depth).scaled - true).mean() for depth in (1, 2)]
    assert off[1] < 0.9 * off[0] < 0.9 * 0.75 * np.abs(memberships - true).mean()


# --- pieces, other rows, weights ------------------------------------------------------------------------------


@each_depth
def test_regions_in_pieces_add_up_to_the_whole(depth: int) -> None:
    memberships, truth, _ = sample(999)
    mass = np.random.default_rng(2).random(999)
    order = orders(memberships, depth)
    whole = Regions.of(Arranged.of(memberships, order), truth, mass)
    parts = [slice(0, 10), slice(10, 500), slice(500, 999)]
    pieces = [Regions.of(Arranged.of(memberships[part], order[part]), truth[part], mass[part]) for part in parts]
    joined = pieces[0] + pieces[1] + pieces[2]
    assert joined.sums.keys() == whole.sums.keys()
    for prefix, sums in whole.sums.items():
        for ours, theirs in zip(joined.sums[prefix], sums, strict=True):
            assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-12, atol=1e-13)
    assert_allclose(Scaling(joined)(memberships), Scaling(whole)(memberships), rtol=0, atol=1e-12)


def test_threads_and_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    memberships, truth, _ = sample(50_000, 3)
    whole = space(memberships, truth, depth=2)
    expected = whole.scaled, whole.column("true_gap")
    monkeypatch.setattr("steelyard.core.threads.WORTH_A_THREAD", 1000)
    monkeypatch.setattr("steelyard.core.threads.CHUNK", 6000)
    pieces = space(memberships, truth, depth=2)
    assert_allclose(pieces.scaled, expected[0], rtol=0, atol=1e-13)
    assert_allclose(pieces.column("true_gap"), expected[1], rtol=0, atol=1e-13)


def test_what_is_fitted_to_some_rows_scales_others() -> None:
    memberships, truth, _ = sample(4_000, 3)
    half = space(memberships[:2000], truth[:2000], depth=2)
    apart = fitted(half)(memberships)
    assert_allclose(apart[:2000], half.scaled, rtol=0, atol=1e-11)
    assert_on_simplex(apart)
    one_by_one = np.concatenate([fitted(half)(memberships[[row]]) for row in range(2000, 2100)])
    assert_allclose(one_by_one, apart[2000:2100], rtol=0, atol=1e-11)


def test_no_rows_are_no_rows() -> None:
    none = space(np.empty((0, 3)), np.empty(0, dtype=int), depth=2)
    assert none.scaled.shape == (0, 3)
    assert none.column("true_gap").shape == (0,)
    assert fitted(none).regions.sums == {}


def test_rows_of_a_space_can_be_taken_out() -> None:
    memberships, truth, _ = sample(100, 3)
    rows = np.arange(0, 100, 2)
    assert (space(memberships, truth).but(rows).scaled == space(memberships[rows], truth[rows]).scaled).all()


def test_small_regions_take_the_scaling_of_wider_ones_and_it_is_said() -> None:
    memberships, truth, _ = sample(60, 4)
    deep, shallow = space(memberships, truth, depth=3, floor=10**6), space(memberships, truth)
    assert_allclose(deep.scaled, shallow.scaled, rtol=0, atol=1e-14)
    (note,) = fitted(deep).notes
    regions = len({tuple(row) for row in deep.order.tolist()})
    assert note == f"{regions} of {regions} regions have too few rows and take the scaling of a wider one"
    some = fitted(space(memberships, truth, depth=3, floor=4))
    small = [prefix for prefix, sums in some.regions.sums.items() if len(prefix) == 3 and sums.rows < 4]
    assert 0 < len(small) < regions
    assert some.notes[0].startswith(f"{len(small)} of {regions} regions")
    assert all(len(some.region(prefix)) < 3 for prefix in small)
    assert fitted(shallow).notes == []


def test_notes_say_why_regions_are_points() -> None:
    rows = space([[0.7, 0.3], [0.7, 0.3], [0.4, 0.6]], [0, 1, 1])
    assert fitted(rows).notes == ["in some regions all values are alike: their rows get the share of right ones"]


@each_depth
def test_weights_that_count_are_repeated_rows(depth: int) -> None:
    memberships, truth, _ = sample(400, 4)
    counts = np.full(400, 3)
    times = counts.astype(float)
    weighed = fitted(replace(space(memberships, truth, mass=times, depth=depth), times=times))
    repeated = fitted(space(np.repeat(memberships, counts, axis=0), np.repeat(truth, counts), depth=depth))
    for prefix, sums in weighed.regions.sums.items():
        other = repeated.regions.sums[prefix]
        assert (sums.rows, sums.mass, sums.classes.tolist()) == (other.rows, other.mass, other.classes.tolist())
        assert_allclose(sums.mean, other.mean, rtol=1e-12)
        assert_allclose(sums.scatter, other.scatter, rtol=1e-10, atol=1e-25)


def test_rows_that_weigh_nothing_have_no_say() -> None:
    memberships, truth, _ = sample(50, 3)
    here = orders(memberships, 1)[:, 0] == 0
    found = space(memberships, truth, mass=np.where(here, 0.0, 1.0))
    assert (found.scaled[here] == memberships[here]).all()
    assert_on_simplex(found.scaled)


# --- ties -----------------------------------------------------------------------------------------------------


def votes(rows: int, classes: int = 4, seed: int = 1, voters: int = 5) -> tuple[Array, Codes]:
    """Shares of a few votes, as of nearest neighbours: many are tied."""
    random = np.random.default_rng(seed)
    chance = random.dirichlet(np.ones(classes), rows)
    truth = (random.random(rows)[:, None] > np.cumsum(chance, axis=1)[:, :-1]).sum(axis=1)
    return random.multinomial(voters, chance) / voters, truth


def test_ties_go_to_the_first_class_or_are_broken_by_the_seed() -> None:
    tied = np.tile([0.4, 0.2, 0.4], (3000, 1))
    assert (orders(tied, 2) == [0, 2]).all()
    first, again, other = (at_random(tied, 2, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert np.mean(first[:, 0] == 0) == pytest.approx(0.5, abs=0.05)
    assert set(np.unique(first)) == {0, 2}
    untied, _, _ = sample(500)
    assert (at_random(untied, 3, 4) == orders(untied, 3)).all()


@each_depth
def test_random_ties_do_not_depend_on_the_order_of_rows(depth: int) -> None:
    memberships, truth = votes(500)
    mass, shuffled = np.tile([1.0, 2.0], 250), np.random.default_rng(3).permutation(500)
    found = at_random(memberships, depth, 7, truth, mass)
    moved = at_random(memberships[shuffled], depth, 7, truth[shuffled], mass[shuffled])
    whole = np.column_stack([memberships, truth, mass, found])
    again = np.column_stack([memberships[shuffled], truth[shuffled], mass[shuffled], moved])
    assert sorted(whole.tolist()) == sorted(again.tolist())
    assert (
        np.take_along_axis(memberships, found.astype(int), axis=1) == -np.sort(-memberships, axis=1)[:, :depth]
    ).all()


def test_random_ties_know_nothing_of_the_truth() -> None:
    tied, truth = np.tile([0.4, 0.4, 0.2], (6000, 1)), np.arange(6000) % 3
    found = at_random(tied, 1, 0, truth)[:, 0]
    for place in range(3):
        assert np.mean(found[truth == place] == 0) == pytest.approx(0.5, abs=0.05)


def test_classes_that_rows_are_tied_between_stand_together() -> None:
    chain = np.array([[0.4, 0.4, 0.2, 0.0], [0.1, 0.45, 0.45, 0.0], [0.2, 0.2, 0.5, 0.1], [0.0, 0.1, 0.2, 0.7]])
    order, found = joined(chain, 1)
    assert order.tolist() == [[0], [0], [0], [3]]
    assert found == {(0,): ((0, 1, 2),), (3,): ((3,),)}
    second = np.array([[0.6, 0.2, 0.2, 0.0], [0.6, 0.1, 0.0, 0.3], [0.6, 0.0, 0.3, 0.1], [0.1, 0.5, 0.4, 0.0]])
    order, found = joined(second, 2)
    assert order.tolist() == [[0, 1], [0, 3], [0, 1], [1, 2]]
    assert found[0, 1] == ((0,), (1, 2))
    assert found[0, 3] == ((0,), (3,))
    order, found = joined(np.array([[0.25, 0.25, 0.25, 0.25], [0.7, 0.3, 0.0, 0.0]]), 2)
    assert order.tolist() == [[0, 0], [0, 0]]
    assert found == {(0,): (), (0, 0): ()}, "what is joined of all classes has nothing to be scaled to"


@each_depth
def test_nothing_is_joined_where_nothing_is_tied(depth: int) -> None:
    memberships, truth, _ = sample(300)
    first, together = (space(memberships, truth, depth=depth, ties=ties) for ties in ("first", "joined"))
    assert_allclose(together.scaled, first.scaled, rtol=0, atol=1e-14)
    assert (together.assigned == first.assigned).all()
    assert fitted(together).notes == fitted(first).notes


@each_variant
def test_classes_that_stand_together_meet_their_share_and_keep_their_ratios(variant: str) -> None:
    memberships, truth, _ = sample(30_000, certainty=3.0)
    memberships[:5, :2] = memberships[:5, :2].mean(axis=1, keepdims=True) + 1
    memberships[:5] /= memberships[:5].sum(axis=1, keepdims=True)
    rows = space(memberships, truth, variant, ties="joined")
    here = rows.order[:, 0] == 0
    assert (here == (orders(memberships, 1)[:, 0] < 2)).all()
    share = np.isin(truth[here], (0, 1)).mean()
    assert rows.scaled[here][:, :2].sum(axis=1).mean() == pytest.approx(
        share, abs=0.03 if variant == "literal" else 0.01
    )
    for pair in ([0, 1], [2, 3]):
        before, after = memberships[here][:, pair], rows.scaled[here][:, pair]
        assert_allclose(after[:, 0] * before[:, 1], after[:, 1] * before[:, 0], rtol=1e-9)
    assert fitted(rows).notes == ["1 of 3 regions are made of several that rows are tied between"]


@given(partitions())
def test_joined_classes_that_are_tied_stay_tied(drawn: tuple[Array, Codes, int]) -> None:
    memberships, truth, depth = drawn
    rows = space(memberships, truth, depth=depth, ties="joined")
    tops = memberships == memberships.max(axis=1, keepdims=True)
    for marks, after in zip(tops, rows.scaled, strict=True):
        assert_allclose(after[marks], after[marks][0], rtol=1e-9, atol=1e-12)


def test_joined_classes_that_come_to_more_than_one_by_rounding_are_scaled() -> None:
    memberships = np.array([[0.0, 0.0, 0.0, 1.0]] * 15 + [[0, 1e-7, 0, 1], [1, 0, 1, 1], [1, 0, 1e-13, 1e-13]])
    memberships /= memberships.sum(axis=1, keepdims=True)
    assert memberships[:, [0, 2, 3]].sum(axis=1).max() > 1
    assert_on_simplex(space(memberships, [0] * 17 + [1], ties="joined").scaled)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("depth", [1, 2])
def test_influence_holds_with_ties(depth: int, ties: str) -> None:
    memberships, truth = votes(240, seed=3, voters=11)
    rows = space(memberships, truth, depth=depth, ties=ties, floor=25)

    def moved(mass: Array) -> Space:
        found = space(memberships, truth, depth=depth, ties=ties, floor=25, mass=mass)
        found.__dict__["placed"] = rows.placed  # which random number a row gets is another matter
        return found

    assert_influences(rows, moved)


@pytest.mark.parametrize("classes", [2, 3, 7, 300])
def test_orders_are_those_of_a_stable_sort(classes: int) -> None:
    memberships = np.random.default_rng(classes).integers(0, 4, (200, classes)).astype(float)
    for depth in {1, min(3, classes - 1), classes - 1}:
        expected = np.argsort(-memberships, axis=1, kind="stable")[:, :depth]
        assert (orders(memberships, depth) == expected).all()


def test_groups_are_all_rows_once_region_by_region() -> None:
    memberships, _, _ = sample(2000)
    order = orders(memberships, 2)
    found = dict(grouped(order, 4))
    assert sorted(found) == list(found) == [*permutations(range(4), 2)]
    assert sorted(np.concatenate(list(found.values())).tolist()) == list(range(2000))
    assert all((order[here] == prefix).all() for prefix, here in found.items())
    many = np.argsort(np.random.default_rng(3).random((50, 300)), axis=1)[:, :20]
    assert len(list(grouped(many, 300))) == 50, "more regions than any number counts"
    assert list(grouped(order[:0], 4)) == []


# --- the table ------------------------------------------------------------------------------------------------

PARAMETERS = [(a, b) for a in (0.05, 0.7, 3.0, 40.0, 2000.0) for b in (0.05, 0.9, 5.0, 300.0)]


@pytest.mark.study
@pytest.mark.parametrize("given", PARAMETERS, ids=str)
def test_the_table_is_the_map_to_twelve_digits(given: tuple[float, float]) -> None:
    random = np.random.default_rng(7)
    values = np.concatenate([random.beta(*given, 300), random.random(300), [0.0, 1e-300, 1e-12, 0.5, 1 - 1e-12, 1.0]])
    partners, first, made = PARAMETERS[::3], PARAMETERS.index(given) % 7, 0
    for scaled in [*partners[first:], *partners[:first]]:
        if made == repeats(2, 7):
            break
        table = BetaTable.of(given, scaled, float(values.min()), float(values.max()))
        if table is None:
            continue
        made += 1
        found, outside = table(values)
        assert_allclose(found[~outside], matched(values[~outside], given, scaled), rtol=0, atol=1e-12)
    assert made > 0


def test_the_table_refuses_what_it_cannot_hold() -> None:
    assert BetaTable.of((2.0, 3.0), (2.0, 3.0), 0.5, 0.5) is None
    assert BetaTable.of((1e9, 1e9), (0.01, 0.01), 0.1, 0.9) is None
    assert BetaTable.of((0.0025, 0.0078), (0.0103, 2.8e-8), 0.0, 1.0) is None, "it jumps between two nodes"
    assert TOLERANCE + LOSS < 1e-12


def test_cubics_take_the_place_of_what_they_were_made_from() -> None:
    table = BetaTable.of((10.3, 9.0), (8.5, 10.8), 0.33, 0.985)
    assert table is not None
    assert len(table.polynomials) == 4
    values = np.append(np.random.default_rng(9).uniform(0.33, 0.985, 5000), [0.33, 0.985])
    found, outside = table(values)
    assert outside.sum() <= 2, "the ends, by rounding"
    assert_allclose(found[~outside], matched(values[~outside], (10.3, 9.0), (8.5, 10.8)), rtol=0, atol=7e-13)
    sharp = BetaTable.of((0.05, 0.05), (2000.0, 300.0), 1e-10, 1 - 1e-10)
    assert sharp is not None


def test_many_values_are_mapped_as_few_are() -> None:
    values = np.random.default_rng(8).beta(6, 2, MANY_VALUES + 500)
    values[:3] = 0.0, 1.0, 1e-290
    found = BetaMap("beta", (6.0, 2.0), (3.0, 2.0), span=(0.01, 0.99))
    assert_allclose(found(values), matched(values, (6.0, 2.0), (3.0, 2.0)), rtol=0, atol=1e-12)
    assert found(values[:10]).tolist() == matched(values[:10], (6.0, 2.0), (3.0, 2.0)).tolist()


# --- influence ------------------------------------------------------------------------------------------------


@each_depth
@each_variant
def test_influence_is_what_a_little_more_weight_does(variant: str, depth: int) -> None:
    memberships, truth, _ = sample(240, 4, seed=11, certainty=1.5)
    assert_influences(
        space(memberships, truth, variant, depth=depth, floor=25),
        lambda mass: space(memberships, truth, variant, depth=depth, floor=25, mass=mass),
    )


def test_influence_of_memberships_as_given_is_what_they_differ_from_the_mean() -> None:
    memberships, truth, _ = sample(50)
    rows = space(memberships, truth, "raw")
    column = rows.column("true_gap")
    assert_allclose(rows.influence("true_gap"), column - column.mean())


# --- options --------------------------------------------------------------------------------------------------


def test_bad_options_are_refused() -> None:
    memberships, truth, _ = sample(20, 3)
    with pytest.raises(BadOption, match=r"variant is 'best'\. Say 'default', 'literal' or 'klar'"):
        _ = space(memberships, truth, "best").scaled
    with pytest.raises(BadOption, match="klaR knows depth 1 only"):
        _ = space(memberships, truth, "klar", depth=2).scaled
    with pytest.raises(BadOption, match="Give the order of the rows too"):
        fitted(space(*votes(50), ties="joined"))(memberships)
    with pytest.raises(BadOption, match="klaR joins no regions"):
        _ = space(memberships, truth, "klar", ties="joined").scaled


@pytest.mark.parametrize("sharpness", [1.0, 0.1, 0.001])
def test_both_distances_are_those_of_each(sharpness: float) -> None:
    random = np.random.default_rng(4)
    columns = random.dirichlet(np.full(4, sharpness), 500).T
    columns[:, :4] = np.eye(4)  # the corners themselves
    codes = random.integers(4, size=500).astype(np.uint8)  # as short as they come
    for one in range(4):
        found = np.empty((2, 500))
        both_distances(columns, codes, one, out=found)
        assert_allclose(found[0], distances(columns, codes), rtol=0, atol=1e-14)
        assert_allclose(found[1], distances(columns, one), rtol=0, atol=1e-14)


def test_what_is_said_of_regions_does_not_depend_on_the_order_of_rows() -> None:
    shares = np.array([[0.5, 0.3, 0.2], [0.6, 0.24, 0.16], [0.7, 0.18, 0.12]])
    truth, weight, label = np.array([1, 0, 0]), np.array([3.8, 0.432, 3.241]), "separation(depth=2)"
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        found = sy.assess(
            truth[order], shares[order], weight=weight[order], scale=sy.Scale([0, 1, 2]), measures=[label]
        )[label]
        assert found.value == pytest.approx(0.1103100600758), order
        assert not found.note, order

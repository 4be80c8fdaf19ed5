"""What must hold for every measure of partition spaces, whatever the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from steelyard import Assessment, Scale, Tally, all_measures, assess, assess_tally, compare, find, standardise
from steelyard.core.errors import BadOption, SteelyardError, UnknownMeasure
from steelyard.families.partition.rows import TIES
from steelyard.measures.registry import Measure
from steelyard.states.statistics import PARTITION
from tests.effort import repeats

NAMES = [name for name, entry in all_measures().items() if entry.statistic is PARTITION]
CLASSES = Scale(["a", "b", "c"])


def variants() -> list[Measure]:
    """All measures, with memberships as given and scaled in every way."""
    ways: list[dict[str, Any]] = [{}, {"depth": 2}, {"scaling": "raw"}, {"scaling": "literal"}, {"scaling": "klar"}]
    ways += [{"ties": "random", "seed": 3}, {"ties": "joined", "depth": 2}]
    return [find(name, **way) for name in NAMES for way in ways]


def drawn(rows: int, seed: int, sure: float = 1.5) -> tuple[Any, Any]:
    """True classes, and memberships that are surer than they should be."""
    random = np.random.default_rng(seed)
    chance = random.dirichlet([1.0, 1.5, 0.8], rows)
    truth = (random.random(rows)[:, None] > np.cumsum(chance, axis=1)).sum(axis=1).clip(0, 2)
    memberships = chance**sure
    return np.array(["a", "b", "c"])[truth], memberships / memberships.sum(axis=1, keepdims=True)


def tied(rows: int, seed: int) -> tuple[Any, Any]:
    """True classes, and the shares of five votes, many of which are tied."""
    truth, chance = drawn(rows, seed, 1.0)
    return truth, np.random.default_rng(seed).multinomial(5, chance) / 5


def judged(truth: Any, memberships: Any, **options: Any) -> Assessment:
    return assess(truth, memberships, scale=CLASSES, measures=variants(), **options)


def assert_same(one: Assessment, other: Assessment, tolerance: float = 1e-9) -> None:
    for measure in variants():
        left, right = one[measure], other[measure]
        assert_allclose(
            [left.value, left.low, left.high, left.se],
            [right.value, right.low, right.high, right.se],
            rtol=tolerance,
            atol=1e-9,
            err_msg=measure.label,
        )


@settings(max_examples=repeats(4, 15))
@given(st.integers(4, 60), st.integers(0, 10**6))
def test_a_whole_weight_is_the_row_so_many_times(rows: int, seed: int) -> None:
    truth, memberships = drawn(rows, seed)
    times = 1 + np.arange(rows) % 3
    weighed = judged(truth, memberships, weight=times, weight_kind="frequency")
    repeated = judged(np.repeat(truth, times), np.repeat(memberships, times, axis=0))
    for measure in variants():
        assert weighed[measure].value == pytest.approx(repeated[measure].value, rel=1e-9), measure.label
        assert weighed[measure].se == pytest.approx(repeated[measure].se, rel=1e-4, abs=1e-9), measure.label


@settings(max_examples=repeats(4, 15))
@given(st.integers(4, 60), st.integers(0, 10**6), st.randoms(), st.sampled_from([drawn, tied]))
def test_the_order_of_rows_does_not_matter(rows: int, seed: int, random: Any, sample: Any) -> None:
    truth, memberships = sample(rows, seed)
    order = list(range(rows))
    random.shuffle(order)
    assert_same(judged(truth, memberships), judged(truth[order], memberships[order]), 1e-4)


@settings(max_examples=repeats(4, 15))
@given(st.integers(4, 40), st.integers(0, 10**6), st.integers(1, 39), st.sampled_from([drawn, tied]))
def test_parts_merged_are_the_whole(rows: int, seed: int, cut: int, sample: Any) -> None:
    truth, memberships = sample(rows, seed)
    cut = min(cut, rows - 1)
    parts = [judged(truth[part], memberships[part]).tally for part in (slice(cut), slice(cut, None))]
    merged = assess_tally(parts[0] + parts[1], measures=variants())
    assert_same(merged, judged(truth, memberships), 1e-4)


def test_saving_and_loading_changes_nothing(tmp_path: Path) -> None:
    truth, memberships = drawn(50, 1)
    whole = judged(truth, memberships, group=np.arange(50) % 9)
    whole.tally.save(tmp_path / "one.tally")
    assert_same(assess_tally(Tally.load(tmp_path / "one.tally"), measures=variants()), whole, 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_every_interval_holds_its_value_and_stays_where_values_can_be(name: str) -> None:
    truth, memberships = drawn(60, 3)
    least = {"confidence": 0.0}.get(name, 1 - np.sqrt(2) / np.sqrt(2 / 3))
    whole = judged(truth, memberships)
    for measure in [measure for measure in variants() if measure.name == name]:
        found = whole[measure]
        assert least <= found.low <= found.value <= found.high <= 1
        assert found.se > 0
        assert found.method == "Hall's t"


@pytest.mark.parametrize("name", NAMES)
def test_a_classifier_that_is_always_right_and_sure_has_an_interval(name: str) -> None:
    truth = np.array(["a", "b", "c"] * 10)
    found = assess(truth, np.eye(3)[np.arange(30) % 3], scale=CLASSES, measures=[name])[name]
    assert found.value == 1
    assert 0.5 < found.low < 1 == found.high


def test_more_clusters_of_the_same_rows_tell_no_more() -> None:
    truth, memberships = drawn(80, 5)
    group = np.arange(80)
    alone = judged(truth, memberships, group=group)
    twice = judged(np.tile(truth, 2), np.tile(memberships, (2, 1)), group=np.tile(group, 2))
    for measure in variants():
        if measure.parameters["scaling"] == "raw":  # others also depend on how many rows a region has
            assert twice[measure].se == pytest.approx(alone[measure].se, rel=1e-9), measure.label


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_bootstrap_finds_about_the_same_spread(method: Any) -> None:
    truth, memberships = drawn(200, 7)
    for name in NAMES:
        delta = assess(truth, memberships, scale=CLASSES, measures=[name])[name]
        found = assess(truth, memberships, scale=CLASSES, measures=[name], method=method, replicates=200)[name]
        assert found.high - found.low == pytest.approx(delta.high - delta.low, rel=0.3)


def test_differences_are_paired() -> None:
    truth, memberships = drawn(150, 11)
    other = np.roll(memberships, 1, axis=1)
    both = compare(truth, {"x": memberships, "same": memberships, "off": other}, scale=CLASSES, measures=NAMES)
    for name in NAMES:
        rows = {(row["a"], row["b"]): row for row in both.differences(name)}
        assert rows["x", "same"]["difference"] == 0
        assert rows["x", "same"]["p"] == 1
        assert rows["x", "off"]["low"] <= rows["x", "off"]["difference"] <= rows["x", "off"]["high"]
    assert both.differences("partition_accuracy")["p"][1] < 0.001


@pytest.mark.study
def test_scaling_that_is_taken_for_given_would_be_too_sure() -> None:
    """The spread of many samples is that of the standard error, and not that of the rows alone."""
    values, errors = [], []
    for seed in range(repeats(60, 200)):
        found = assess(*drawn(120, seed), scale=CLASSES, measures=["separation"])["separation"]
        values.append(found.value)
        errors.append(found.se)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.2)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("separation(scaling='klaR')", "scaling is"),
        ("separation(depth=3)", "from 1 to 2"),
        ("separation(depth=0)", "depth is 0"),
        ("separation(floor=0)", "floor is 0"),
        ("separation(depth=2, scaling='klar')", "klaR knows depth 1 only. Say depth=1, or scaling='default'"),
        ("separation(ties='last')", "Say 'first', 'random' or 'joined'"),
        ("separation(ties='joined', scaling='klar')", "Say ties='first' or 'random', or scaling='default'"),
        ("separation(ties='random', seed=-1)", "seed is -1"),
        ("separation(seed=1)", "ties are not random"),
    ],
)
def test_options_that_make_no_sense_are_refused(asked: str, words: str) -> None:
    with pytest.raises(BadOption) as caught:
        print(assess(*drawn(30, 1), scale=CLASSES)[asked])
    assert words in str(caught.value)


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "scaling": ({}, {"scaling": "raw"}),
    "depth": ({}, {"depth": 2}),
    "floor": ({"depth": 2}, {"depth": 2, "floor": 30}),
    "ties": ({}, {"ties": "joined"}),
    "seed": ({"ties": "random"}, {"ties": "random", "seed": 1}),
}


@pytest.mark.parametrize("parameter", CHANGES)
@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_changes_something(name: str, parameter: str) -> None:
    entries = [find(name, **each) for each in CHANGES[parameter]]
    found = assess(*tied(150, 3), scale=CLASSES, measures=entries)
    one, other = (found[entry].value for entry in entries)
    assert one != pytest.approx(other, rel=1e-6)


def test_each_way_with_ties_is_another_and_no_parameter_is_left_out_above() -> None:
    assert all(set(find(name).parameters) == set(CHANGES) for name in NAMES)
    entries = [find("separation", ties=ties) for ties in TIES]
    found = assess(*tied(150, 3), scale=CLASSES, measures=entries)
    assert len({round(found[entry].value, 9) for entry in entries}) == 3
    assert "rows are tied between" in found[entries[2]].note


def test_scores_that_are_no_memberships_are_refused_in_words() -> None:
    with pytest.raises(UnknownMeasure, match="needs probabilities"):
        assess(["a", "b"] * 10, np.linspace(-3, 3, 20), event="b", threshold=0.0, measures=["separation"])


@pytest.mark.parametrize(("memberships", "how"), [([2.0, -1.0, 0.5], "softmax"), ([0.9, 0.8, 0.4], "shift")])
def test_memberships_that_are_no_probabilities_are_told_how_they_become_some(memberships: Any, how: str) -> None:
    truth, given = ["a", "b", "c"] * 5, np.array([np.roll(memberships, place) for place in range(15)])
    with pytest.raises(SteelyardError, match=rf"standardise\(\w+, '{how}'") as told:
        assess(truth, given, scale=CLASSES, measures=NAMES)
    zero = {"zero": 0.0} if "zero=0" in str(told.value) else {}
    assert assess(truth, standardise(given, how, **zero), scale=CLASSES, measures=NAMES)["separation"].value > -1  # type: ignore[arg-type]

"""Scaled memberships, regions and the scaling as results of their own: what they say, and other rows scaled by them."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import steelyard as sy
from steelyard.core.errors import (
    BadOption,
    DamagedFile,
    ForeignFile,
    MissingValues,
    NotNumbers,
    OutsideUnitInterval,
    SteelyardError,
    SumNotOne,
    SwappedArguments,
    TooLarge,
    UnequalLengths,
    UnknownLabel,
    UnreadableFile,
    UnwritableFile,
    WrongShape,
)
from steelyard.core.typing import Array
from steelyard.families.partition.partition_scaling import _checksum
from steelyard.families.partition.rows import by_own_lot
from tests.families.test_partition_scaling import partitions, sample, votes

SCALE = sy.Scale(["a", "b", "c"])
ROWS = np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.7, 0.1, 0.2], [0.1, 0.9, 0.0], [0.4, 0.5, 0.1], [0.2, 0.6, 0.2]])
TRUTH = ["a", "b", "a", "b", "b", "b"]


def numbers(table: sy.Table) -> Array:
    return np.asarray(table, dtype=np.float64)


def learned(**options: Any) -> sy.PartitionScaling:
    return sy.partition_scaling(ROWS, TRUTH, scale=SCALE, **options)


def named(rows: int, seed: int = 1) -> tuple[Array, list[str]]:
    """Memberships of four classes, and true classes by name."""
    memberships, truth, _ = sample(rows, seed=seed)
    return memberships, [f"c{code}" for code in truth]


# --- by hand ----------------------------------------------------------------------------------------------------


def test_regions_by_hand() -> None:
    table = sy.assess(TRUTH, ROWS, scale=SCALE).regions()
    first, second, third = table
    # Of 0.6, 0.7 and 0.8, the mean is 0.7 and the variance 0.01: alpha + beta is 0.21 / 0.01 - 1.
    assert {name: first[name] for name in ("region", "n", "weight", "scaled_by", "note")} == {
        "region": "a", "n": 3, "weight": 3, "scaled_by": "beta", "note": "",
    }  # fmt: skip
    values = [first[name] for name in ("mean", "alpha", "beta", "certainty", "correct", "scaled_alpha", "scaled_beta")]
    assert values == pytest.approx([0.7, 14, 6, 3, 2 / 3, 2, 1])
    assert (second["n"], second["correct"], second["scaled_by"]) == (3, 1, "single")
    assert second["note"] == "all assignments are right"
    assert second["scaled_beta"] == 0 < second["alpha"]
    assert (third["region"], third["n"], third["scaled_by"], third["note"]) == ("c", 0, "none", "no rows")
    assert np.isnan([third[name] for name in ("mean", "alpha", "certainty", "correct")]).all()


@pytest.mark.parametrize(
    ("rows", "truth", "expected", "why"),
    [
        ([[0.7, 0.3]], ["x"], 1.0, "all assignments are right"),
        ([[0.7, 0.3]], ["y"], 0.0, "no assignment is right"),
        ([[0.7, 0.3], [0.7, 0.3]], ["x", "y"], 0.5, "all values are alike"),
        ([[1.0, 0.0], [1.0, 0.0]], ["x", "y"], 0.5, "all values are alike"),
        ([[0.7, 0.3], [0.9, 0.1]], ["x", "x"], 1.0, "all assignments are right"),
    ],
)
def test_degenerate_regions(rows: Any, truth: Any, expected: float, why: str) -> None:
    found = sy.partition_scaling(rows, truth, scale=sy.Scale(["x", "y"]))
    assert numbers(found.transform(rows))[:, 0].tolist() == [expected] * len(rows)
    row = found.regions().to_pylist()[0]
    assert (row["scaled_by"], row["note"], row["correct"]) == ("single", why, expected)


def test_values_wider_than_any_beta_variable() -> None:
    rows, truth = [[1.0, 0, 0, 0, 0, 0], [0.2, 0.16, 0.16, 0.16, 0.16, 0.16]], ["a", "b"]
    found = sy.partition_scaling(rows, truth, scale=sy.Scale(list("abcdef")))
    row = found.regions().to_pylist()[0]
    assert (row["scaled_by"], row["note"]) == ("single", "values are spread wider than any Beta variable")
    assert np.isnan([row["alpha"], row["certainty"], row["scaled_alpha"]]).all()
    assert numbers(found.transform(rows)).tolist() == [[0.5, *[0.1] * 5]] * 2


def test_a_membership_of_one_leaves_equal_shares() -> None:
    found = sy.partition_scaling([[1.0, 0, 0], [0.8, 0.2, 0], [0.6, 0.1, 0.3]], ["a", "b", "a"], scale=SCALE)
    row = numbers(found.transform([[1.0, 0, 0]]))[0]
    assert row[1] == row[2]
    assert row.sum() == pytest.approx(1)


def test_what_is_wrong_is_told_of_memberships() -> None:
    with pytest.raises(SwappedArguments, match=r"Memberships come first: partition_scaling\(memberships, truth\)"):
        sy.partition_scaling(TRUTH, ROWS)
    with pytest.raises(OutsideUnitInterval, match=r"column 'memberships\[0\]', row 0: 80.0 is not.*Standardise them"):
        sy.partition_scaling(ROWS * 100, TRUTH, scale=SCALE)
    with pytest.raises(UnequalLengths, match=r"column 'memberships\[0\]'"):
        sy.partition_scaling(ROWS, TRUTH[1:], scale=SCALE)


# --- other rows --------------------------------------------------------------------------------------------------


@given(partitions(), st.sampled_from(["default", "literal"]), st.integers(1, 5), st.sampled_from(["first", "joined"]))
def test_transform_of_the_rows_learned_from_is_the_scaled_memberships(
    drawn: Any, scaling: str, floor: int, ties: str
) -> None:
    memberships, truth, depth = drawn
    scale = sy.Scale(list(range(memberships.shape[1])))
    chosen: dict[str, Any] = {"scaling": scaling, "depth": depth, "floor": floor, "ties": ties}
    found = sy.assess(truth, memberships, scale=scale)
    scaled = found.scaled_memberships(**chosen)
    assert scaled.column_names == [str(label) for label in scale.classes]
    assert_array_equal(numbers(found.scaling(**chosen).transform(memberships)), numbers(scaled))
    again = sy.partition_scaling(memberships, truth, scale=scale, **chosen)
    assert_array_equal(numbers(again.transform(scaled_input(memberships, scale))), numbers(scaled))
    regions = found.regions(**chosen)
    assert sum(regions["n"]) == len(truth)
    for row in regions:
        assert not row["correct"] < 0
        assert row["scaled_by"] in ("beta", "single", "joined", "wider", "none")
        assert not row["certainty"] > row["n"] or row["scaled_by"] == "wider"


def scaled_input(memberships: Array, scale: sy.Scale) -> dict[Any, Any]:
    """The same by name, in another order."""
    return dict(reversed([(label, memberships[:, place]) for place, label in enumerate(scale.classes)]))


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("ties", ["first", "random", "joined"])
def test_every_row_is_scaled_by_itself(ties: str, depth: int) -> None:
    memberships, truth = votes(300, voters=7)
    found = sy.partition_scaling(memberships[:200], truth[:200], scale=sy.Scale(range(4)), ties=ties, depth=depth)
    whole = numbers(found.transform(memberships, unseen="keep"))
    one_by_one = [numbers(found.transform(memberships[[row]], unseen="keep"))[0] for row in range(150, 250)]
    assert_allclose(one_by_one, whole[150:250], rtol=0, atol=1e-12)
    order = np.random.default_rng(1).permutation(300)
    assert_allclose(numbers(found.transform(memberships[order], unseen="keep")), whole[order], rtol=0, atol=1e-12)


def test_klar_scales_other_rows_too() -> None:
    memberships, truth = named(300)
    found = sy.assess(truth, memberships)
    assert_array_equal(numbers(found.scaling("klar").transform(memberships)), numbers(found.scaled_memberships("klar")))
    assert set(found.regions("klar")["scaled_by"]) <= {"beta", "single", "shift"}
    assert all(float(row["certainty"]).is_integer() for row in found.regions("klar"))


def test_raw_memberships_stay_as_they_are() -> None:
    memberships, truth = named(50)
    found = sy.assess(truth, memberships)
    assert_array_equal(numbers(found.scaled_memberships("raw")), memberships)
    assert_array_equal(numbers(found.scaling("raw").transform(memberships)), memberships)
    assert set(found.regions("raw")["scaled_by"]) == {"raw"}


def test_a_class_that_had_no_region_is_an_error_or_kept() -> None:
    rows = [[0.8, 0.1, 0.1], [0.2, 0.1, 0.7], [0.1, 0.2, 0.7]]
    with pytest.raises(BadOption, match=r"row 1: 'c' has the highest membership here.*say unseen='keep'"):
        learned().transform(rows)
    found = numbers(learned().transform(rows, unseen="keep"))
    assert found[1:].tolist() == rows[1:]
    assert found[0].tolist() == numbers(learned().transform(rows[:1]))[0].tolist()
    with pytest.raises(BadOption, match="unseen is 'raise'"):
        learned().transform(rows, unseen="raise")  # type: ignore[arg-type]


def test_a_deep_region_that_was_not_seen_takes_the_wider_one() -> None:
    rows = [[0.7, 0.05, 0.25]]
    deep, wide = (sy.partition_scaling(ROWS[[0, 1, 3, 4]], ["a", "b", "b", "a"], scale=SCALE, depth=k) for k in (2, 1))
    assert ("a > c") not in deep.regions()["region"]
    assert_allclose(numbers(deep.transform(rows)), numbers(wide.transform(rows)), rtol=1e-12)


def test_regions_below_the_floor_show_the_wider_scaling() -> None:
    memberships, truth = named(60)
    deep, wide = (sy.assess(truth, memberships).regions(depth=depth, floor=8) for depth in (2, 1))
    small = [row for row in deep if row["n"] < 8]
    assert small
    by_name = {row["region"]: row for row in wide}
    for row in small:
        around = by_name[row["region"].split(" > ")[0]]
        assert row["scaled_by"] == "wider"
        assert row["note"].startswith(f"fewer rows than the floor: takes the scaling of {around['region']}")
        for name in ("alpha", "beta", "certainty", "scaled_alpha"):
            assert row[name] == pytest.approx(around[name], rel=1e-12)
        assert np.isnan(row["alpha_2"])
    assert all(row["scaled_by_2"] in ("beta", "single") for row in deep if row["n"] >= 8)


def test_a_tie_that_was_not_joined_goes_to_its_first_class() -> None:
    rows = np.array([[0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.2, 0.2, 0.6]])
    found = sy.partition_scaling(rows, ["a", "b", "b", "c", "a"], scale=SCALE, ties="joined")
    assert found.regions()["region"] == ["a = b", "c"]
    assert found.regions()["scaled_by"] == ["joined", "beta"]
    tied = numbers(found.transform([[0.2, 0.4, 0.4]]))[0]
    near = numbers(found.transform([[0.2, 0.4 + 1e-12, 0.4 - 1e-12]]))[0]
    assert_allclose(tied, near, atol=1e-9)
    assert tied[1] != pytest.approx(numbers(found.transform([[0.2, 0.4 - 1e-12, 0.4 + 1e-12]]))[0][1])


def test_where_all_classes_are_joined_nothing_is_scaled() -> None:
    rows = [[0.5, 0.5], [0.7, 0.3]]
    found = sy.partition_scaling(rows, ["x", "y"], scale=sy.Scale(["x", "y"]), ties="joined")
    assert numbers(found.transform(rows)).tolist() == rows
    (row,) = found.regions()
    assert (row["region"], row["scaled_by"]) == ("x = y", "joined")
    assert row["note"] == "all classes are joined: memberships stay as they are"


def test_lots_depend_on_the_seed_and_the_row() -> None:
    memberships, truth = votes(400, voters=3)
    one, other = (
        sy.partition_scaling(memberships, truth, scale=sy.Scale(range(4)), ties="random", seed=seed) for seed in (1, 2)
    )
    rows = np.unique(memberships, axis=0)
    tied = (np.sort(rows, axis=1)[:, -1] == np.sort(rows, axis=1)[:, -2]).nonzero()[0]
    assert len(tied) > 3
    first, second = (numbers(each.transform(rows)) for each in (one, other))
    assert (first[tied] != second[tied]).any()
    untied = np.flatnonzero(np.sort(memberships, axis=1)[:, -1] > np.sort(memberships, axis=1)[:, -2])
    scaled = numbers(sy.assess(truth, memberships, scale=sy.Scale(range(4))).scaled_memberships(ties="random", seed=1))
    assert_array_equal(numbers(one.transform(memberships))[untied], scaled[untied])


def test_lots_are_fair_and_fall_alike_for_rows_that_are_alike() -> None:
    rows = np.random.default_rng(1).dirichlet([1, 1, 1], 2000)
    rows[:, 1] = rows[:, 0]
    rows /= rows.sum(axis=1, keepdims=True)
    tied = rows[rows[:, 0] > rows[:, 2]]
    one, again, other = (by_own_lot(tied, 2, seed) for seed in (1, 1, 2))
    assert_array_equal(one, again)
    assert np.mean(one[:, 0] == 0) == pytest.approx(0.5, abs=0.05)
    assert np.mean(one[:, 0] == other[:, 0]) == pytest.approx(0.5, abs=0.05)
    assert_array_equal(by_own_lot(np.concatenate([tied[::-1], tied]), 2, 1), np.concatenate([one[::-1], one]))


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ([[0.5, 0.5]], WrongShape, "2 membership columns for 3 classes. Give one column for each of 'a', 'b', 'c'"),
        ([[0.5, 0.4, 0.3]], SumNotOne, "row 0: the probabilities add up to 1.2, not 1. Standardise them as those"),
        ([[0.5, 0.5, np.nan]], MissingValues, "row 0: the value is missing. Fill it in, or leave the row out"),
        ([[0.3, 0.3, 0.4], [-0.1, 0.6, 0.5]], OutsideUnitInterval, "row 1: -0.1 is not a probability. Standardise"),
        ([[np.inf, 0, 0]], OutsideUnitInterval, "inf is not a probability"),
        ([["a", "b", "c"]], NotNumbers, "'a' is not a number"),
        ([0.3, 0.4], SteelyardError, "a single score cannot be read: 3 classes and no event. Give one column"),
        (["a", "z"], UnknownLabel, "'z' is not one of the classes 'a', 'b', 'c'"),
        ({"a": [0.5], "b": [0.5]}, SteelyardError, "class 'c' has no membership column"),
    ],
)
def test_rows_outside_the_simplex_are_refused(rows: Any, error: type[SteelyardError], said: str) -> None:
    with pytest.raises(error) as caught:
        learned().transform(rows)
    assert said in str(caught.value)


def test_memberships_in_any_form() -> None:
    expected = numbers(learned().transform(ROWS))
    by_name = {"c": ROWS[:, 2], "a": ROWS[:, 0], "b": ROWS[:, 1]}
    made: list[Any] = [pd.DataFrame(by_name), pl.DataFrame(by_name), pa.table(by_name), by_name, ROWS.tolist()]
    made.append(sy.Table({name: values.tolist() for name, values in by_name.items()}))
    for form in made:
        assert_array_equal(numbers(learned().transform(form)), expected)
        assert_array_equal(numbers(sy.partition_scaling(form, TRUTH, scale=SCALE).transform(form)), expected)
    assert learned().transform(np.zeros((0, 3))).to_pylist() == []


def test_one_probability_of_the_event() -> None:
    score, truth = np.array([0.1, 0.3, 0.4, 0.7, 0.9, 0.6]), ["no", "yes", "no", "yes", "yes", "no"]
    one = sy.partition_scaling(score, truth, event="yes")
    both = sy.partition_scaling(np.stack([1 - score, score], axis=1), truth)
    assert_allclose(numbers(one.transform(score)), numbers(both.transform(np.stack([1 - score, score], axis=1))))
    assert one.transform(score).column_names == ["no", "yes"]


# --- what rows there are ------------------------------------------------------------------------------------------


def test_weights_that_count_are_repeated_rows() -> None:
    memberships, truth = named(200)
    times = 1 + np.arange(200) % 3
    weighed = sy.assess(truth, memberships, weight=times, weight_kind="frequency")
    repeated = sy.assess(np.repeat(truth, times), np.repeat(memberships, times, axis=0))
    for one, other in zip(weighed.regions(depth=2), repeated.regions(depth=2), strict=True):
        for name, value in one.items():
            assert value == (pytest.approx(other[name], rel=1e-9) if isinstance(value, float) else other[name])
    assert len(weighed.scaled_memberships()) == 200


def test_sampling_weights_weigh_shares_and_leave_the_number_of_rows() -> None:
    weight = [1.0, 3.0, 1.0, 2.0, 2.0, 2.0]
    row = sy.assess(TRUTH, ROWS, scale=SCALE, weight=weight).regions().to_pylist()[0]
    assert (row["n"], row["weight"], row["correct"]) == (3, 5, 2 / 5)
    assert row["mean"] == pytest.approx((0.8 + 3 * 0.6 + 0.7) / 5)
    assert row["certainty"] == 3


def test_parts_have_regions_of_their_own() -> None:
    memberships, truth = named(120)
    part = ["x", "y"] * 60
    found = sy.assess(truth, memberships, by=part, least=30)
    alone = sy.assess(truth[::2], memberships[::2], scale=found.tally.scale)
    assert found.slices["x"].regions().to_csv() == alone.regions().to_csv()
    assert_array_equal(numbers(found.slices["x"].scaled_memberships()), numbers(alone.scaled_memberships()))
    hidden = sy.assess(truth, memberships, by=part, least=100).slices["x"]
    for ask in (hidden.regions, hidden.scaling, hidden.scaled_memberships):
        with pytest.raises(BadOption, match="has fewer than 100 rows"):
            ask()


def test_rows_that_were_left_out_have_no_memberships() -> None:
    memberships, truth = named(20)
    memberships[3] = np.nan
    assert len(sy.assess(truth, memberships, missing="drop").scaled_memberships()) == 19


def test_labels_are_memberships_of_one() -> None:
    truth, said = ["a", "b", "c", "a", "b", "a"], ["a", "b", "c", "b", "b", "a"]
    found = sy.assess(truth, said)
    assert found.regions()["correct"] == [1, 2 / 3, 1]
    with pytest.raises(BadOption, match=r"no row was kept\. Scale the labels themselves: result\.scaling\(\)"):
        found.scaled_memberships()
    assert numbers(found.scaling().transform(said))[3].tolist() == pytest.approx([1 / 6, 2 / 3, 1 / 6])


def test_scores_on_any_scale_are_refused() -> None:
    found = sy.assess([0, 1, 0, 1], score=[2.0, 3.0, 1.0, 0.5], event=1)
    for ask in (found.regions, found.scaling, found.scaled_memberships):
        with pytest.raises(OutsideUnitInterval, match="the scores are no probabilities"):
            ask()


def test_a_saved_tally_keeps_the_order_of_rows_where_that_was_asked_for(tmp_path: Path) -> None:
    memberships, truth = named(50)
    found = sy.assess(truth, memberships)
    for rows, path in ((False, tmp_path / "a.tally"), (True, tmp_path / "b.tally")):
        found.tally.save(path, rows=rows)
        loaded = sy.assess_tally(path)
        assert_allclose(numbers(loaded.scaling().transform(memberships)), numbers(found.scaled_memberships()))
        if rows:
            assert_array_equal(numbers(loaded.scaled_memberships()), numbers(found.scaled_memberships()))
            continue
        with pytest.raises(BadOption, match=r"does not keep the order of rows\. Scale them in batches: result\.scal"):
            loaded.scaled_memberships()


def test_cross_validated_rows_stand_in_the_order_given() -> None:
    from sklearn.naive_bayes import GaussianNB

    random = np.random.default_rng(3)
    truth = np.arange(60) % 3
    found = sy.cross_assess(GaussianNB(), random.normal(truth[:, None], 1.0, (60, 2)), truth, cv=5, progress=False)
    one = found[found.models[0]]
    raw = numbers(one.scaled_memberships("raw"))
    assert np.mean(raw.argmax(axis=1) == truth) == pytest.approx(one["accuracy"].value)


def streamed(folder: Path, memberships: Array, truth: Any, **options: Any) -> sy.Assessment:
    """The same rows in files that are not held."""
    for place, here in enumerate((slice(0, 700), slice(700, None))):
        columns = {f"p_c{k}": memberships[here, k] for k in range(memberships.shape[1])}
        pyarrow.parquet.write_table(pa.table({"truth": truth[here], **columns}), folder / f"{place}.parquet")
    found = sy.assess(folder, truth="truth", membership="p_*", **options)
    assert found.tally.summaries is not None
    return found


@pytest.mark.parametrize(("depth", "ties"), [(1, "first"), (2, "first"), (2, "joined")])
def test_streams_know_regions_and_scale_batches(
    depth: int, ties: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.passes.tally.MOST_ROWS", 500)
    monkeypatch.setattr("steelyard.results.evaluate.MOST_HELD", 0)
    memberships, codes = votes(1500, voters=9)
    truth, chosen = [f"c{code}" for code in codes], dict[str, Any](depth=depth, ties=ties)
    label = f"separation(depth={depth}, ties={ties!r})"
    found, held = streamed(tmp_path, memberships, truth, measures=[label]), sy.assess(truth, memberships)
    assert_allclose(
        numbers(found.scaling(**chosen, floor=20).transform(memberships)),
        numbers(held.scaled_memberships(**chosen, floor=20)),
        rtol=0,
        atol=1e-10,
    )
    for mine, yours in zip(found.regions(**chosen), held.regions(**chosen), strict=True):
        for name, value in mine.items():
            same = pytest.approx(yours[name], rel=1e-9, nan_ok=True) if isinstance(value, float) else yours[name]
            assert value == same, name
    with pytest.raises(BadOption, match=r"streaming does not keep the order of rows\. Scale them in batches"):
        found.scaled_memberships(**chosen)
    with pytest.raises(TooLarge) as caught:
        found.regions(depth=3)
    assert caught.value.mend == "Name a measure of them: measures=['partition_accuracy(depth=3)']"


def test_rows_of_small_files_stand_in_their_order(tmp_path: Path) -> None:
    memberships, truth = named(90)
    for place in range(3):
        here = slice(30 * place, 30 * place + 30)
        columns = {f"p_c{k}": memberships[here, k] for k in range(4)}
        pyarrow.parquet.write_table(pa.table({"truth": truth[here], **columns}), tmp_path / f"{place}.parquet")
    for options in ({}, {"engine": "local", "measures": ["partition_accuracy"]}):
        found = sy.assess(tmp_path, truth="truth", membership="p_*", **options)  # type: ignore[arg-type]
        assert_array_equal(numbers(found.scaled_memberships("raw")), memberships)


# --- options ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scaling": "best"}, "scaling is 'best'. Say 'raw', 'default', 'literal' or 'klar'"),
        ({"depth": 3}, "depth is 3. Say a whole number from 1 to 2"),
        ({"floor": 0}, "floor is 0. Say a whole number from 1 to"),
        ({"ties": "lots"}, "ties is 'lots'. Say 'first', 'random' or 'joined'"),
        ({"seed": 3}, "seed is 3, and ties are not random. Say ties='random', or leave the seed out"),
        ({"scaling": "klar", "depth": 2}, "klaR knows depth 1 only. Say depth=1, or scaling='default'"),
        ({"scaling": "klar", "ties": "joined"}, ""),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    found = sy.assess([*TRUTH, "a"], [*ROWS.tolist(), [0.4, 0.4, 0.2]], scale=SCALE)
    for ask in (found.scaled_memberships, found.regions, found.scaling):
        with pytest.raises(BadOption) as caught:
            ask(**options)
        assert said in str(caught.value)


# --- files ---------------------------------------------------------------------------------------------------------


@given(
    drawn=partitions(),
    scaling=st.sampled_from(["default", "literal"]),
    floor=st.integers(1, 4),
    ties=st.sampled_from(["first", "joined"]),
)
def test_what_is_saved_and_loaded_scales_to_the_last_digit(
    drawn: Any, scaling: str, floor: int, ties: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memberships, truth, depth = drawn
    path, scale = tmp_path_factory.getbasetemp() / "scaling.json", sy.Scale(list(range(memberships.shape[1])))
    found = sy.partition_scaling(memberships, truth, scale=scale, scaling=scaling, depth=depth, floor=floor, ties=ties)
    found.save(path)
    loaded = sy.PartitionScaling.load(path)
    assert repr(loaded) == repr(found)
    assert_array_equal(numbers(loaded.transform(memberships)), numbers(found.transform(memberships)))
    assert loaded.regions().to_csv() == found.regions().to_csv()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    memberships, truth = named(80)
    sy.partition_scaling(memberships, truth, depth=2).save(tmp_path / "s.json")
    return tmp_path / "s.json"


def rewritten(path: Path, change: Callable[[Any], Any], sealed: bool) -> None:
    facts = json.loads(path.read_text())
    change(facts)
    if sealed:
        facts.pop("sha256", None)
        facts["sha256"] = _checksum(facts)
    path.write_text(json.dumps(facts))


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a mean above 1": lambda facts: facts["regions"][0].update(mean=[1.5, 0.5]),
    "fewer numbers": lambda facts: facts["regions"][1].update(left=[1.0]),
    "text": lambda facts: facts["regions"][0].update(rows="7"),
    "true": lambda facts: facts["regions"][0].update(rows=True),
    "a negative number of rows": lambda facts: facts["regions"][0].update(rows=-1.0),
    "another number of rows": lambda facts: facts["regions"][0].update(rows=1e6),
    "a class that is not there": lambda facts: facts["regions"][0].update(region=[9]),
    "a class twice": lambda facts: facts["regions"][1].update(region=[0, 0]),
    "a region twice": lambda facts: facts["regions"].append(facts["regions"][0]),
    "a region without the wider one": lambda facts: facts["regions"].pop(0),
    "classes that do not add up": lambda facts: facts["regions"][0].update(classes=[0.0, 0.0, 0.0, 0.1]),
    "a scatter that cannot be": lambda facts: facts["regions"][0].update(scatter=[1e9]),
    "a least value above the mean": lambda facts: facts["regions"][0].update(low=[0.999999]),
    "joined, and ties are not": lambda facts: facts.update(joined=[[[0], [[0, 1]]]]),
    "one class": lambda facts: facts.update(classes=["c0"]),
    "an unknown option": lambda facts: facts.update(ties="lots"),
    "a depth that cannot be": lambda facts: facts.update(depth=7),
    "no regions": lambda facts: facts.pop("regions"),
    "a list": lambda facts: facts.update(regions=[1, 2]),
    "an event that is no class": lambda facts: facts.update(event="z"),
    "huge": lambda facts: facts["regions"][0].update(mass=10**400),
}


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_tampered_files_are_refused(change: str, sealed: bool, saved: Path) -> None:
    rewritten(saved, CHANGES[change], sealed)
    with pytest.raises(DamagedFile, match=r"can be read|was changed or cut off"):
        sy.PartitionScaling.load(saved)


def test_any_changed_number_is_noticed(saved: Path) -> None:
    text = saved.read_text()
    for place in range(0, len(text), 37):
        digit = text[place]
        if digit.isdigit():
            saved.write_text(text[:place] + str((int(digit) + 1) % 10) + text[place + 1 :])
            with pytest.raises((DamagedFile, ForeignFile)):
                sy.PartitionScaling.load(saved)
    for length in (0, 3, 60, len(text) // 2, len(text) - 5):
        saved.write_text(text[:length])
        with pytest.raises((DamagedFile, ForeignFile)):
            sy.PartitionScaling.load(saved)


def test_foreign_files_are_refused(tmp_path: Path, saved: Path) -> None:
    with pytest.raises(UnreadableFile, match="there is no file"):
        sy.PartitionScaling.load(tmp_path / "nothing.json")
    with pytest.raises(UnreadableFile, match="is no file"):
        sy.PartitionScaling.load(tmp_path)
    with pytest.raises(UnreadableFile):
        sy.PartitionScaling.load(7)  # type: ignore[arg-type]
    for text in ("", "{}", '{"my": 1}', "[]", "truth,a\n", '{"format": "steelyard tally"}'):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(ForeignFile, match="is no scaling that steelyard saved"):
            sy.PartitionScaling.load(tmp_path / "x.json")
    for name, value in (("version", 2), ("rules", "others")):
        rewritten(saved, lambda facts, name=name, value=value: facts.update({name: value}), sealed=True)  # type: ignore[misc]
        with pytest.raises(ForeignFile, match="Read it with the release that wrote it"):
            sy.PartitionScaling.load(saved)


def test_nothing_but_a_scaling_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"steelyard": "a result"}')
    with pytest.raises(
        UnwritableFile, match=r"holds something else than a steelyard partition scaling.*overwrite=True"
    ):
        learned().save(path)
    learned().save(path, overwrite=True)
    learned().save(path)
    content = json.loads(path.read_text())
    assert (content["version"], content["rules"]) == (1, "Sondhauss & Weihs (2001), version 1")
    assert len(content["sha256"]) == hashlib.sha256().digest_size * 2


# --- tables as arrays ----------------------------------------------------------------------------------------------


def test_a_table_of_numbers_is_an_array() -> None:
    table = sy.Table({"a": [1.0, None, 3], "b": [4, 5, np.float64(6)]})
    assert_array_equal(np.asarray(table), [[1, 4], [np.nan, 5], [3, 6]])
    assert np.asarray(table, dtype=np.float32).dtype == np.float32
    assert np.asarray(sy.Table({"a": [], "b": []})).shape == (0, 2)
    assert np.asarray(sy.Table({})).shape == (0, 0)
    assert_array_equal(np.ones((3, 2)) - table, 1 - np.asarray(table))  # type: ignore[operator]
    kept = np.asarray(sy.Table({"a": list(range(10_000))}))
    gc.collect()
    assert kept[:, 0].tolist() == list(range(10_000)), "the memory is still there"


def test_a_table_with_words_is_no_array_and_still_a_frame() -> None:
    table = sy.Table({"a": [1.0, 2.0], "b": ["x", "y"], "c": [True, False], "d": [3, None]})
    with pytest.raises(NotNumbers, match=r"column 'b', row 0: 'x' is not a number.*table\[\['a', 'd'\]\]"):
        np.asarray(table)
    assert np.asarray(table[["a", "d"]]).shape == (2, 2)
    assert pd.DataFrame(table).columns.tolist() == ["a", "b", "c", "d"]
    assert pd.DataFrame(table[["a"]]).columns.tolist() == ["a"]
    assert pl.DataFrame(table).columns == ["a", "b", "c", "d"]

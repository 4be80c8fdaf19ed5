"""The lecture's irises: beside R's accuracies within chance, and votes counted again by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from steelyard import cross_assess
from steelyard.cli import main
from steelyard.errors import BadOption
from steelyard.studies import irises as study
from steelyard.studies.irises import (
    NUMBERS,
    R_ERRORS,
    R_MEANS,
    R_SPLITS,
    Irises,
    Neighbours,
    accuracies,
    irises,
    one_of_the_first,
    run,
)

DATA = Path(__file__).parents[1] / "references" / "data" / "iris_knn_cv.json"
R: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
SCHEMES = {True: "stratified_createFolds", False: "random_folds"}
MOST = 4  # standard errors
SPLITS = 100


@pytest.fixture(scope="module", params=[True, False])
def found(request: pytest.FixtureRequest) -> Irises:
    return run(SPLITS, stratified=request.param)


# --- beside R -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stratified", [True, False])
def test_what_is_printed_beside_ours_is_what_r_found(stratified: bool) -> None:
    there = R[SCHEMES[stratified]]
    assert len(there["acc"]) == R_SPLITS
    assert there["k"] == list(NUMBERS)
    assert_allclose(R_MEANS[stratified], np.mean(there["acc"], axis=0), atol=5e-7)
    assert_allclose(R_ERRORS[stratified], np.std(there["acc"], axis=0, ddof=1) / math.sqrt(R_SPLITS), atol=5e-7)


def test_means_are_those_of_r_within_chance(found: Irises) -> None:
    there = R[SCHEMES[found.stratified]]
    apart = np.array(found.curve["mean"]) - there["mean"]
    z = apart / np.hypot(found.curve["se"], there["se"])
    assert np.abs(z).max() < MOST
    assert_allclose(found.curve["z"], z, atol=0.01)
    # Were ties treated in another way, all numbers would lean to one side.
    assert abs(z.mean()) < 1


def test_ties_that_went_to_the_first_class_would_be_another_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "one_of_the_first", lambda votes, random: votes.argmax(axis=-1))
    two = list(NUMBERS).index(2)
    assert run(SPLITS).curve["z"][two] < -MOST


def test_splits_scatter_as_in_r(found: Irises) -> None:
    ratio = np.array(found.curve["sd"]) / R[SCHEMES[found.stratified]]["sd"]
    assert ratio.min() > 1 / 1.6
    assert ratio.max() < 1.6


def test_with_one_row_away_r_is_right_where_it_must_be_and_nowhere_else() -> None:
    neighbours = Neighbours.of(*irises())
    rows, numbers = np.arange(150), range(1, 21)
    votes = np.stack([neighbours.votes(rows == row, numbers)[row] for row in rows])
    first = votes == votes.max(axis=-1, keepdims=True)
    may_be = first[rows, :, neighbours.codes]
    must_be = may_be & (first.sum(axis=-1) == 1)
    right = np.round(np.array(R["loo_knn_cv_k1_20"]) * 150)
    assert (must_be.sum(axis=0) <= right).all()
    assert (right <= may_be.sum(axis=0)).all()


# --- votes ----------------------------------------------------------------------------------------------------


def by_hand(x: Any, codes: Any, away: Any, row: int, number: int) -> list[int]:
    there = [(float(np.square(x[row] - x[other]).sum()), codes[other]) for other in np.flatnonzero(~away)]
    last = sorted(distance for distance, _ in there)[number - 1]
    voting = [code for distance, code in there if distance <= last + 1e-9]
    return [voting.count(code) for code in range(3)]


def test_all_that_are_as_far_away_as_the_last_vote() -> None:
    random = np.random.default_rng(5)
    x, codes = random.integers(0, 4, (40, 2)).astype(float), random.integers(0, 3, 40)
    for _ in range(5):
        away = random.random(40) < 0.3
        votes = Neighbours.of(x, codes).votes(away, (1, 3, 4))
        for row in range(40):
            assert votes[row].tolist() == [by_hand(x, codes, away, row, number) for number in (1, 3, 4)]


def test_a_class_is_drawn_among_those_with_the_most_votes() -> None:
    votes = np.tile([[2, 3, 3]], (6000, 1))
    drawn = np.bincount(one_of_the_first(votes, np.random.default_rng(0)), minlength=3)
    assert drawn[0] == 0
    assert abs(drawn[1] - 3000) < MOST * math.sqrt(1500)


def test_without_ties_it_is_the_cross_validation_of_scikit_learn() -> None:
    random = np.random.default_rng(3)
    codes = np.repeat([0, 1], 40)  # two classes and an odd number have no ties
    x = random.normal(size=(80, 3)) + codes[:, None]
    cross = cross_assess({"5": KNeighborsClassifier(5)}, x, codes, cv=8, seed=2, measures=["accuracy"])
    parts = [split.test for split in cross.plan.splits]
    held, seen = accuracies(Neighbours.of(x, codes), parts, (5,), random)
    folds = cross.folds("accuracy")
    assert_allclose(held, np.mean(folds["value"]), rtol=1e-12)
    assert_allclose(seen, np.mean(folds["training"]), rtol=1e-12)


# --- the study ------------------------------------------------------------------------------------------------


def test_the_table_sums_up_the_splits(found: Irises) -> None:
    assert len(found.splits) == SPLITS * len(NUMBERS)
    for row in found.curve:
        own = [one["accuracy"] for one in found.splits if one["k"] == row["k"]]
        assert_allclose([row["mean"], row["sd"]], [np.mean(own), np.std(own, ddof=1)])
        assert (row["min"], row["max"]) == (min(own), max(own))
        assert_allclose(row["gap"], row["training"] - row["mean"])
    assert sum(found.counts["splits"]) == len(found.splits)
    assert max(found.curve["best"]) < SPLITS, "no number of neighbours is best on all splits"


def test_training_flatters_most_where_one_neighbour_votes(found: Irises) -> None:
    assert found.curve["training"][0] == 1.0
    assert found.curve["gap"][0] == max(found.curve["gap"])
    assert "Training flatters: it has 1.000 at k = 1" in str(found)


def test_the_same_seed_gives_the_same_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    once = run(2, seed=7, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
    assert once.splits.columns == run(2, seed=7).splits.columns
    assert once.splits.columns != run(2, seed=8).splits.columns


def test_folds_are_those_of_cross_validation() -> None:
    x, codes = irises()
    cross = cross_assess(["knn:1"], x, codes, cv=10, repeats=2, seed=4, measures=["accuracy"], training=False)
    folds = cross.folds("accuracy")
    ours = run(2, seed=4).splits
    for split in range(2):
        theirs = np.mean([row["value"] for row in folds if row["repeat"] == split])
        (own,) = (row["accuracy"] for row in ours if row["split"] == split and row["k"] == 1)
        assert abs(own - theirs) < 0.01  # but for ties


def test_where_r_did_not_split_alike_nothing_stands_beside() -> None:
    five = run(1, folds=5)
    assert five.curve["r"] == five.curve["z"] == [None] * len(NUMBERS)
    assert all(math.isnan(value) for value in five.curve["sd"])
    assert "5 folds" in str(five)


@pytest.mark.parametrize("options", [{"splits": 0}, {"seed": -1}, {"folds": 1}, {"folds": 51}, {"splits": 1.5}])
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        run(**options)


def test_flowers_are_fishers() -> None:
    x, codes = irises()
    assert x.shape == (150, 4)
    assert_array_equal(np.bincount(codes), [50, 50, 50])
    assert_allclose(x.mean(axis=0), [5.843, 3.057, 3.758, 1.199], atol=5e-4)


def test_the_command_prints_writes_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "knn", "--splits", "3", "--figures", str(tmp_path)]) == 0
    assert "dealt 3 times" in capsys.readouterr().out
    assert (tmp_path / "knn.png").stat().st_size > 10_000
    assert main(["study", "knn", "--splits", "2", "--no-stratified", "--csv"]) == 0
    written = capsys.readouterr().out.splitlines()
    assert written[0] == "split,k,accuracy,training"
    assert len(written) == 1 + 2 * len(NUMBERS)
    assert main(["study", "knn", "--folds", "1"]) == 2
    assert "Give a whole number, 2 or above" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "most"), [([], 50), (["--no-stratified"], 150)])
def test_too_many_folds_are_refused_with_what_the_command_takes(
    capsys: pytest.CaptureFixture[str], options: list[str], most: int
) -> None:
    assert main(["study", "knn", "--folds", f"{most + 1}", *options]) == 2
    assert capsys.readouterr().err.endswith(f"Take {most} folds at most\n")

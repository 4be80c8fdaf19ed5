"""The lecture's irises: beside R's accuracies within chance, and votes counted again by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from steelyard import cross_assess
from steelyard.cli import main
from steelyard.core.errors import BadOption
from steelyard.studies import irises as study
from steelyard.studies.irises import (
    NUMBERS,
    R_ERRORS,
    R_MEANS,
    R_SPLITS,
    Irises,
    RankedNeighbours,
    accuracies,
    irises,
    one_of_the_first,
    run,
    scores,
)
from steelyard.studies.lecture import (
    BRIER,
    COUNT,
    LOG,
    ONE_BY_ONE,
    ONE_FOLD,
    RULES,
    TRUTH,
    NormalClasses,
    Runs,
    dealt,
    errors,
    prefers_another,
    statements,
)
from steelyard.studies.statements import statement_table

DATA = Path(__file__).parents[1] / "references" / "data" / "iris_knn_cv.json"
R: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
SCHEMES = {True: "stratified_createFolds", False: "random_folds"}
MOST = 4  # standard errors
SPLITS = 100


@pytest.fixture(scope="module", params=[True, False])
def found(request: pytest.FixtureRequest) -> Irises:
    return run(SPLITS, stratified=request.param, sets=1)


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
    assert run(SPLITS, sets=1).curve["z"][two] < -MOST


def test_splits_scatter_as_in_r(found: Irises) -> None:
    ratio = np.array(found.curve["sd"]) / R[SCHEMES[found.stratified]]["sd"]
    assert ratio.min() > 1 / 1.6
    assert ratio.max() < 1.6


def test_with_one_row_away_r_is_right_where_it_must_be_and_nowhere_else() -> None:
    neighbours = RankedNeighbours.of(*irises())
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
        votes = RankedNeighbours.of(x, codes).votes(away, (1, 3, 4))
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
    held, seen = accuracies(RankedNeighbours.of(x, codes), parts, (5,), random)
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


# --- statements -----------------------------------------------------------------------------------------------


def row(found: Irises, *words: str) -> dict[str, Any]:
    (only,) = (each for each in found.statements if all(word in each["statement"] for word in words))
    return only


@pytest.fixture(scope="module")
def population() -> NormalClasses:
    return NormalClasses.like(*irises())


def test_draws_are_like_the_irises(population: NormalClasses) -> None:
    x, codes = irises()
    rows = population.draw(400, np.random.default_rng(1))
    for code in range(3):
        own = rows[:, population.codes == code].reshape(-1, 4)
        there = x[codes == code]
        assert_allclose(own.mean(axis=0), there.mean(axis=0), atol=0.02)
        assert_allclose(np.cov(own.T), np.cov(there.T), atol=0.02)


def test_rows_of_each_class_are_dealt_evenly(population: NormalClasses) -> None:
    folds = dealt(population.codes, 3, 10, np.random.default_rng(2))
    for own in folds:
        for code in range(3):
            assert np.bincount(own[population.codes == code]).tolist() == [5] * 10
    assert (folds[0] != folds[1]).any()


def test_cross_validated_errors_are_those_of_scikit_learn(population: NormalClasses) -> None:
    sets, random = 2, np.random.default_rng(3)
    found = errors(population, sets, np.random.default_rng(3))
    x, codes = population.draw(sets, random), population.codes
    dealings = {"5-fold": dealt(codes, sets, 5, random), "10-fold": dealt(codes, sets, 10, random)}
    dealings[ONE_BY_ONE] = np.tile(np.arange(150), (sets, 1))
    models = {"lda": LinearDiscriminantAnalysis(), "1-nn": KNeighborsClassifier(1), "10-nn": KNeighborsClassifier(10)}
    assert set(models) == set(RULES)
    for name, model in models.items():
        for way, folds in dealings.items():
            for place in range(1 if way == ONE_BY_ONE else sets):
                said = cross_val_predict(model, x[place], codes, cv=PredefinedSplit(folds[place]))
                wrong = said != codes
                assert found[name][way][place] == pytest.approx(wrong.mean())
                if way == "5-fold":
                    assert found[name][ONE_FOLD][place] == pytest.approx(wrong[folds[place] == 0].mean())


def test_true_errors_are_those_of_many_rows(population: NormalClasses) -> None:
    found = errors(population, 2, np.random.default_rng(4))["lda"][TRUTH]
    rows = population.draw(2, np.random.default_rng(4))
    fresh = population.draw(4000, np.random.default_rng(5))
    for place in range(2):
        model = LinearDiscriminantAnalysis().fit(rows[place], population.codes)
        wrong = model.predict(fresh.reshape(-1, 4)) != np.tile(population.codes, 4000)
        assert abs(found[place] - wrong.mean()) < MOST * wrong.std() / math.sqrt(len(wrong)) + 0.0005


def test_ratios_of_variances_are_those_of_the_data_sets() -> None:
    splits = 3
    found = run(splits, seed=5)
    parts = [
        errors(NormalClasses.like(*irises()), 20, np.random.default_rng((5 + split, 3))) for split in range(splits)
    ]
    for name in RULES:
        pooled = {way: np.concatenate([part[name][way] for part in parts]) for way in parts[0][name]}
        for folds in ("5-fold", "10-fold"):
            ratio = pooled[ONE_BY_ONE].var() / pooled[folds].var()
            assert row(found, "has a larger variance", f"than {folds} cross-validation ({name}")[
                "value"
            ] == pytest.approx(ratio)
    truth = np.concatenate([part["lda"][TRUTH] for part in parts])
    estimates = {way: np.concatenate([part["lda"][way] for part in parts]) for way in (ONE_BY_ONE, "10-fold")}
    squares = {way: np.square(values - truth).mean() for way, values in estimates.items()}
    better = row(found, "10-fold cross-validation is often the better choice")
    assert better["value"] == pytest.approx(squares[ONE_BY_ONE] / squares["10-fold"])
    bias = (estimates[ONE_BY_ONE] - truth) / truth.mean()
    low, high = stats.t.interval(0.95, len(bias) - 1, bias.mean(), stats.sem(bias))
    unbiased = row(found, "unbiased")
    assert (unbiased["value"], unbiased["low"], unbiased["high"]) == pytest.approx((bias.mean(), low, high))


def test_scores_are_those_of_scikit_learn() -> None:
    x, codes = irises()
    folds = np.stack([np.random.default_rng(split).permutation(150) % 10 for split in range(3)])
    found = scores(x, codes, folds)
    models = {"lda": LinearDiscriminantAnalysis(), "qda": QuadraticDiscriminantAnalysis()}
    for split in range(3):
        for name, model in models.items():
            said = cross_val_predict(model, x, codes, cv=PredefinedSplit(folds[split]), method="predict_proba")
            assert found[COUNT][name][split] == pytest.approx((said.argmax(axis=1) != codes).mean())
            assert found[LOG][name][split] == pytest.approx(log_loss(codes, said), rel=1e-6)
            assert found[BRIER][name][split] == pytest.approx(np.square(said - np.eye(3)[codes]).sum(axis=1).mean())
        # Certain forecasts: each error costs 2.
        assert found[BRIER]["10-nn"][split] == pytest.approx(2 * found[COUNT]["10-nn"][split])
    assert "10-nn" not in found[LOG]


def test_another_model_is_preferred_where_it_is_none_of_those_with_the_fewest_errors() -> None:
    count = {"a": np.array([0.1, 0.1, 0.2]), "b": np.array([0.2, 0.1, 0.1]), "c": np.array([0.0, 0.0, 0.0])}
    score = {"a": np.array([0.5, 0.6, 0.1]), "b": np.array([0.4, 0.5, 0.2])}
    assert prefers_another(count, score).tolist() == [True, False, True]


def test_accuracy_of_one_number_is_that_of_all_rows_held_out() -> None:
    """With one neighbour and no ties, nothing is drawn."""
    random = np.random.default_rng(6)
    x, codes = random.normal(size=(60, 2)), random.integers(0, 3, 60)
    parts = [np.arange(60)[start::6] for start in range(6)]
    neighbours = RankedNeighbours.of(x, codes)
    held, _ = accuracies(neighbours, parts, (1,), np.random.default_rng(1))
    alone, _ = accuracies(neighbours, parts, (1,), np.random.default_rng(2), training=False)
    assert alone[0] == pytest.approx(held[0])


def test_figures_of_the_lecture_come_out_to_the_last_digit() -> None:
    found = run(1)
    assert row(found, "log score of the five")["value"] == pytest.approx(
        -sum(map(math.log, (0.9, 0.4, 0.5, 0.8, 0.1))), rel=1e-12
    )
    assert row(found, "Their Brier score")["value"] == pytest.approx((0.01 + 0.36 + 0.25 + 0.04 + 0.81) / 5)
    assert {row(found, words)["verdict"] for words in ("log score of the five", "Their Brier score")} == {"holds"}


def test_accuracies_of_the_statements_are_those_of_the_splits(found: Irises) -> None:
    held = np.reshape(found.splits["accuracy"], (SPLITS, -1))
    seen = np.reshape(found.splits["training"], (SPLITS, -1))
    best = row(found, "Of k = 1 to 10")
    share = np.isclose(held[:, 9], held.max(axis=1)).sum()
    low, high = stats.binomtest(int(share), SPLITS).proportion_ci(method="wilson")
    assert (best["value"], best["low"], best["high"]) == pytest.approx((share / SPLITS, low, high))
    for words, values in (
        (("training error", "k = 3"), seen[:, 2] - held[:, 2]),
        (("training error", "k = 10"), seen[:, 9] - held[:, 9]),
        (("training error", "mean over"), (seen - held).mean(axis=1)),
        (("in the mean over splits",), held[:, 9] - held[:, 8]),
    ):
        low, high = stats.t.interval(0.95, SPLITS - 1, values.mean(), stats.sem(values))
        ours = row(found, *words)
        assert (ours["value"], ours["low"], ours["high"]) == pytest.approx((values.mean(), low, high))


def verdicts(runs: Runs) -> dict[str, str]:
    table = statement_table(statements(runs))
    return dict(zip(table["statement"], table["verdict"], strict=True))


def made_up(right: bool) -> Runs:
    """Splits and data sets that agree with all that the lecture says, or contradict it."""
    random, sign = np.random.default_rng(1), 1 if right else -1
    held = 0.9 + 0.001 * np.arange(1, 11) * sign + random.normal(size=(30, 10)) * 1e-4
    noise, truth = random.normal(size=600), np.full(600, 0.05)
    spread = {ONE_BY_ONE: 1.0 + sign * 0.5, "5-fold": 1.0, "10-fold": 1.0, ONE_FOLD: 1.0 + sign * 0.5}
    of_rule = {way: 0.05 + (0 if right else 0.05) + 0.001 * size * noise for way, size in spread.items()}
    if not right:  # further from the truth with more folds left out
        for way in ("5-fold", "10-fold"):
            of_rule[way] += 0.05
    low, high = np.full(30, 0.1), np.full(30, 0.2)
    scored = {"lda": low, "qda": high}
    other = {"lda": high, "qda": low} if right else scored
    scores = {COUNT: scored, LOG: other, BRIER: other}
    rules = {name: of_rule | {TRUTH: truth} if name == "lda" else of_rule for name in RULES}
    return Runs(range(1, 11), held, held + sign * 0.01, held[:, 9] - sign * 0.01, scores, rules)


def test_verdicts_turn_round_with_the_data(found: Irises) -> None:
    right, wrong = verdicts(made_up(True)), verdicts(made_up(False))
    assert set(right.values()) == {"holds"}
    fixed = {text for text in right if "forecasts" in text or "Their Brier" in text}
    # Where no case is found, more splits might still have one.
    existence = {text for text in right if "may prefer" in text or "on one split" in text}
    assert {wrong[text] for text in existence} == {"not settled"}
    assert {text for text in right if wrong[text] == "does not hold"} == set(right) - fixed - existence
    named = {each["statement"] for each in found.statements}
    assert {text.split(" (share")[0] for text in right} == {text.split(" (share")[0] for text in named}


def test_the_command_ends_in_the_statements(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    made: list[int] = []

    def quick(splits: int, *_: Any, **__: Any) -> Irises:
        made.append(splits)
        return run(2, sets=2)

    monkeypatch.setattr("steelyard.studies.irises.run", quick)
    assert main(["study", "knn", "--full"]) == 0
    printed = capsys.readouterr().out.partition("What the paper says, and what comes out here:")[2]
    assert "Ross, scoring rules:" in printed
    assert main(["study", "knn", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["statements"]
    assert [row["verdict"] for row in told] == run(2, sets=2).statements["verdict"]
    assert made == [1000, 50]


def test_one_split_settles_nothing_of_means() -> None:
    settled = [each for each in run(1).statements if each["verdict"] == "does not hold"]
    assert settled == []


# --- options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"splits": 0}, {"seed": -1}, {"folds": 1}, {"folds": 51}, {"splits": 1.5}, {"sets": 0}]
)
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

"""Functions beside ``assess`` and ``compare``: what is no sensible argument is refused in words, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import steelyard as sy
from steelyard.core.errors import BadOption, SteelyardError, UnwritableFile
from tests.inputs.test_door_hostile import Rude, RudeTable

STRANGE: list[Any] = [
    None, [], "abc", b"x", 0, -1, 1, 0.5, float("nan"), float("inf"), 1e308, 10**400, True, {}, {"a": 1}, [1],
    ["a", "b", "c"], [[1, 2], [3]], [0.1, 0.9, 0.5], [1e308, 1e308, -1e308], [[0.5, 0.5], [0.2, 0.8], [1, 0]],
    np.zeros(0), np.zeros((3, 0)), np.zeros((0, 3)), np.array([1.0, np.nan, 2.0]), np.array([np.inf, 1, 2.0]),
    np.ones((3, 2)), np.ones((2, 2, 2)), np.array([1 + 2j, 3]), np.array([object(), None]), np.datetime64("2020"),
    {"a": [1, 2], "b": [3, 4]}, "é\x00\n", range(3), {1, 2}, object(), Rude(), RudeTable(),
]  # fmt: skip

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(10, 2)), np.arange(1.0, 11.0)
ROWS = RANDOM.normal(size=(40, 2))
TRUTH = (ROWS[:, 0] + 0.5 * RANDOM.normal(size=40) > 0).astype(int)
SHARES = np.array([[0.5, 0.5], [0.2, 0.8], [1, 0]])
COSTS = [[0, 1], [5, 0]]
SCALE, CUT = sy.Scale(["a", "b"]), sy.Continuum([3, 6], sd=0.5)
TREE, GRID = DecisionTreeClassifier(), {"max_depth": [1]}
SCALED = sy.partition_scaling(SHARES, ["a", "b", "a"], scale=SCALE)
BOTH = sy.compare(TRUTH, {"a": ROWS[:, 0] > 0, "b": ROWS[:, 1] > 0})

CALLS: dict[str, Callable[[Any], object]] = {
    "decide, prediction": lambda it: sy.decide(it, {"a": {"b": 1}, "b": {"a": 2}}),
    "decide, cost": lambda it: sy.decide(SHARES, it, scale=SCALE),
    "decide, decline": lambda it: sy.decide(SHARES, COSTS, scale=SCALE, decline=it),
    "decide, event": lambda it: sy.decide([0.1, 0.2], COSTS, scale=SCALE, event=it),
    "measurement_sd, values": lambda it: sy.measurement_sd(it, [1, 1, 2]),
    "measurement_sd, object_id": lambda it: sy.measurement_sd([1.0, 2.0, 3.0], it),
    "total_sd, values": lambda it: sy.total_sd(it, X),
    "total_sd, covariates": lambda it: sy.total_sd(Z, it),
    "total_sd, local": lambda it: sy.total_sd(Z, it, "local"),
    "total_sd, method": lambda it: sy.total_sd(Z, X, it),
    "total_sd, predicted": lambda it: sy.total_sd(Z, X, "residual", predicted=it),
    "total_sd, parameters": lambda it: sy.total_sd(Z, X, "residual", predicted=Z + 0.1, parameters=it),
    "intrinsic_sd, total": lambda it: sy.intrinsic_sd(it, 0.1),
    "intrinsic_sd, measurement": lambda it: sy.intrinsic_sd(1.0, it),
    "mcnemar, only_a": lambda it: sy.mcnemar(it, 3),
    "mcnemar, only_b": lambda it: sy.mcnemar(3, it),
    "mcnemar, method": lambda it: sy.mcnemar(3, 4, it),
    "class_probabilities, mean": lambda it: sy.class_probabilities(it, 0.1, [1, 2]),
    "class_probabilities, sd": lambda it: sy.class_probabilities([1.0, 2.0], it, [1, 2]),
    "class_probabilities, boundaries": lambda it: sy.class_probabilities([1.0, 2.0], 0.1, it),
    "class_probabilities, closed": lambda it: sy.class_probabilities([1.0, 2.0], 0.1, [1, 2], it),
    "expected_sqe, mean": lambda it: sy.expected_sqe(it, 0.1, [1, 2]),
    "expected_sqe, sd": lambda it: sy.expected_sqe([1.0, 2.0], it, [1, 2]),
    "expected_sqe, boundaries": lambda it: sy.expected_sqe([1.0, 2.0], 0.1, it),
    "population_errors, expected": lambda it: sy.population_errors(it, [0, 0, 2], CUT, 0.5),
    "population_errors, assigned": lambda it: sy.population_errors([1.0, 2.0, 8.0], it, CUT, 0.5),
    "population_errors, scale": lambda it: sy.population_errors([1.0, 2.0], [0, 1], it, 0.5),
    "population_errors, noise": lambda it: sy.population_errors([1.0, 2.0, 8.0], [0, 0, 2], CUT, it),
    "population_errors, weight": lambda it: sy.population_errors([1.0, 2.0, 8.0], [0, 0, 2], CUT, 0.5, it),
    "partition_scaling, memberships": lambda it: sy.partition_scaling(it, ["a", "b", "a"], scale=SCALE),
    "partition_scaling, truth": lambda it: sy.partition_scaling(SHARES, it),
    "partition_scaling, scaling": lambda it: sy.partition_scaling(SHARES, ["a", "b", "a"], scaling=it),
    "partition_scaling, depth": lambda it: sy.partition_scaling(SHARES, ["a", "b", "a"], depth=it),
    "partition_scaling, floor": lambda it: sy.partition_scaling(SHARES, ["a", "b", "a"], floor=it),
    "partition_scaling, ties": lambda it: sy.partition_scaling(SHARES, ["a", "b", "a"], ties=it),
    "partition_scaling, seed": lambda it: sy.partition_scaling(SHARES, ["a", "b", "a"], ties="random", seed=it),
    "partition_scaling, weight": lambda it: sy.partition_scaling(SHARES, ["a", "b", "a"], weight=it),
    "transform": SCALED.transform,
    "transform, unseen": lambda it: SCALED.transform(SHARES, unseen=it),
    "load a scaling": sy.PartitionScaling.load,
    "standardise, memberships": sy.standardise,
    "standardise, how": lambda it: sy.standardise(SHARES, it),
    "standardise, zero": lambda it: sy.standardise(SHARES, "shift", zero=it),
    "separability, probabilities": sy.separability,
    "separability, level": lambda it: sy.separability(SHARES, level=it),
    "membership_precision, memberships": lambda it: sy.membership_precision(it, SHARES),
    "membership_precision, probabilities": lambda it: sy.membership_precision(SHARES, it),
    "across_datasets, values": lambda it: sy.across_datasets(it, better="lower"),
    "across_datasets, names": lambda it: sy.across_datasets(SHARES, names=it, better="lower"),
    "across_datasets, measure": lambda it: sy.across_datasets(SHARES, names=["a", "b"], measure=it),
    "across_datasets, better": lambda it: sy.across_datasets(SHARES, names=["a", "b"], better=it),
    "across_datasets, level": lambda it: sy.across_datasets(SHARES, names=["a", "b"], better="lower", level=it),
    "fit_response, covariates": lambda it: sy.fit_response(it, Z, 0.5),
    "fit_response, measured": lambda it: sy.fit_response(X, it, 0.5),
    "fit_response, sd": lambda it: sy.fit_response(X, Z, it),
    "fit_response, model": lambda it: sy.fit_response(X, Z, 0.5, model=it),
    "fit_response, folds": lambda it: sy.fit_response(X, Z, 0.5, folds=it),
    "fit_response, groups": lambda it: sy.fit_response(X, Z, 0.5, groups=it),
    "fit_response, spread": lambda it: sy.fit_response(X, Z, 0.5, spread=it),
    "fit_response, seed": lambda it: sy.fit_response(X, Z, 0.5, seed=it),
    "find": sy.find,
    "find, beta": lambda it: sy.find("fbeta", beta=it),
    "scorer": sy.scorer,
    "scorer, part": lambda it: sy.scorer("f1", part=it),
    "Continuum, boundaries": sy.Continuum,
    "Continuum, classes": lambda it: sy.Continuum([1, 2], classes=it),
    "Continuum, sd": lambda it: sy.Continuum([1, 2], sd=it),
    "Continuum, closed": lambda it: sy.Continuum([1, 2], closed=it),
    "Continuum, extend": lambda it: sy.Continuum([1, 2], extend=it),
    "Scale, classes": sy.Scale,
    "Scale, event": lambda it: sy.Scale(["a", "b"], event=it),
    "tune, estimator": lambda it: sy.tune(it, GRID, ROWS, TRUTH, cv=3),
    "tune, grid": lambda it: sy.tune(TREE, it, ROWS, TRUTH, cv=3),
    "tune, X": lambda it: sy.tune(TREE, GRID, it, TRUTH, cv=3),
    "tune, y": lambda it: sy.tune(TREE, GRID, ROWS, it, cv=3),
    "tune, measure": lambda it: sy.tune(TREE, GRID, ROWS, TRUTH, measure=it, cv=3),
    "tune, cv": lambda it: sy.tune(TREE, GRID, ROWS, TRUTH, cv=it),
    "cross_assess, estimators": lambda it: sy.cross_assess(it, ROWS, TRUTH, cv=3),
    "cross_assess, repeats": lambda it: sy.cross_assess(TREE, ROWS, TRUTH, cv=3, repeats=it),
    "cross_assess, groups": lambda it: sy.cross_assess(TREE, ROWS, TRUTH, cv=3, groups=it),
    "permutation_test, measure": lambda it: sy.permutation_test(
        LogisticRegression(), ROWS, TRUTH, measure=it, cv=3, permutations=3, progress=False
    ),
    "permutation_test, seed": lambda it: sy.permutation_test(
        LogisticRegression(), ROWS, TRUTH, seed=it, cv=3, permutations=3, progress=False
    ),
    "ranking_table, comparison": lambda it: sy.ranking_table(it, "error"),
    "ranking_table, measures": lambda it: sy.ranking_table(BOTH, it),
    "differences": BOTH.differences,
    "verdict": BOTH.verdict,
    "comparison": BOTH.__getitem__,
}


def fails(*given: Any, **options: Any) -> Any:
    raise KeyError("no\x1b[31m")


class Saying:
    """A regressor that says the same of all rows."""

    def __init__(self, said: Any = None) -> None:
        self.said = said

    def fit(self, *given: Any) -> Saying:
        return self

    def predict(self, rows: Any, return_std: bool = False) -> Any:
        return self.said

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"said": self.said}

    def set_params(self, **said: Any) -> Saying:
        self.said = said["said"]
        return self


ONE = BOTH["a"]
MORE: dict[str, Callable[[Any], object]] = {
    "standardise, what a function says": lambda it: sy.standardise(SHARES, lambda rows: it),
    "fit_response, what a function says": lambda it: sy.fit_response(X, Z, 0.5, model=lambda *given: it),
    "fit_response, what it says by residuals": lambda it: sy.fit_response(
        X, Z, 0.5, model=lambda *given: it, spread="residual"
    ),
    "fit_response, what an estimator says": lambda it: sy.fit_response(X, Z, 0.5, model=Saying(it)),
    "fit_response, what it expects": lambda it: sy.fit_response(X, Z, 0.5, model=Saying(it), spread="residual"),
    "Deviation": sy.Deviation,
    "Deviation, freedom": lambda it: str(sy.Deviation(1.0, it)),
    "Deviation, method": lambda it: str(sy.Deviation(1.0, 5.0, method=it)),
    "Deviation, parts": lambda it: str(sy.Deviation(1.0, 5.0, parts=it)),
    "report, title": lambda it: ONE.report("/dev/null", title=it),
    "report, command": lambda it: ONE.report("/dev/null", command=it),
    "Tally.load": sy.Tally.load,
    "Tally.empty, scale": lambda it: sy.Tally.empty(it, ["a"]),
    "Tally.empty, models": lambda it: sy.Tally.empty(SCALE, it),
    "assess_table, truth_in_rows": lambda it: sy.assess_table([[1, 2], [3, 4]], truth_in_rows=it),
    "assess_table, counts": sy.assess_table,
    "assess, measures": lambda it: sy.assess(TRUTH, TRUTH, measures=it),
    "assessment": ONE.__getitem__,
    "cross_assess, progress": lambda it: sy.cross_assess(TREE, ROWS, TRUTH, cv=3, progress=it),
}
CALLS |= MORE


@pytest.mark.parametrize("path", [5, None, b"x", [], np.zeros(2), Rude(), "\x00", "/", "/nowhere/a.html"])
def test_what_is_no_place_for_a_file_is_refused(path: Any) -> None:
    for write in (ONE.report, ONE.tally.save):
        with pytest.raises(UnwritableFile):
            write(path)


def test_what_a_function_of_the_users_raises_is_told() -> None:
    for call in (
        lambda: sy.standardise(SHARES, fails),
        lambda: sy.fit_response(X, Z, 0.5, model=fails),
        lambda: sy.fit_response(X, Z, 0.5, model=Saying(), spread="residual", folds=Splitting()),
    ):
        with pytest.raises(SteelyardError) as told:
            call()
        assert str(told.value).isprintable()
    with pytest.raises(BadOption, match=r"fails .* fails \(KeyError") as told:
        sy.standardise(SHARES, fails)
    assert isinstance(told.value.__cause__, KeyError)


class Splitting:
    split = fails


ACROSS = sy.across_datasets(np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.4]]), names=["a", "b"], better="lower")
COUNTS: dict[str, Callable[[Any], object]] = {
    "replicates": lambda it: sy.assess(TRUTH, TRUTH, measures="error", method="bootstrap", replicates=it)["error"],
    "draws": lambda it: ACROSS.bayesian(draws=it),
    "permutations": lambda it: sy.permutation_test(TREE, ROWS, TRUTH, cv=3, permutations=it, progress=False),
    "Bootstrap": lambda it: sy.cross_assess(TREE, ROWS, TRUTH, cv=sy.Bootstrap(it)),
    "repeats": lambda it: sy.cross_assess(TREE, ROWS, TRUTH, cv=3, repeats=it),
    "n_jobs": lambda it: sy.cross_assess(TREE, ROWS, TRUTH, cv=3, n_jobs=it),
    "n_jobs of permutations": lambda it: sy.permutation_test(TREE, ROWS, TRUTH, cv=3, permutations=2, n_jobs=it),
    "k": lambda it: sy.assess(TRUTH, ROWS[:, 0] > 0, measures=[sy.find("top_k_accuracy", k=it)]).table(),
}


@pytest.mark.parametrize("name", COUNTS)
def test_what_cannot_be_done_so_often_is_refused_before_it_begins(name: str) -> None:
    for it in (2**70, 10**400, 10**9, 0, 1.5, True, "5", float("nan"), np.array([3]), [3]):
        with pytest.raises(BadOption, match=" is "):
            COUNTS[name](it)


@pytest.mark.parametrize("seed", [True, -1, 1.5, "5", float("nan"), np.array([3])])
def test_random_numbers_start_from_whole_numbers(seed: Any) -> None:
    for drawn in (lambda: ACROSS.bayesian(seed=seed), lambda: sy.assess(TRUTH, TRUTH, seed=seed)):
        with pytest.raises(BadOption, match=r"seed is .* Give a whole number, 0 or above"):
            drawn()


@pytest.mark.parametrize("cv", [3, 0.3, sy.Bootstrap(3)])
def test_a_seed_may_be_larger_than_scikit_learn_takes(cv: Any) -> None:
    assert sy.cross_assess(TREE, ROWS, TRUTH, cv=cv, seed=2**40)["DecisionTreeClassifier"].n > 0


@pytest.mark.parametrize("undefined", [10**400, np.array([1.0, 2.0]), "0", None, [1]])
def test_what_stands_in_for_undefined_values_is_a_number(undefined: Any) -> None:
    with pytest.raises(BadOption, match="undefined is "):
        sy.assess(TRUTH, TRUTH, measures=["error"], undefined=undefined)


@pytest.mark.parametrize("name", CALLS)
def test_what_makes_no_sense_is_refused_in_words(name: str) -> None:
    """Anything but a result or an error of the library's own, a warning too, fails the test."""
    for it in STRANGE:
        try:
            CALLS[name](it)
        except SteelyardError as error:
            assert str(error).isprintable(), repr(str(error))
            assert len(str(error)) < 1000

"""Intervals of what cross-validation estimates, each against its formula worked out another way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import steelyard as sy
from steelyard.core.errors import BadOption
from steelyard.modelling import cross_intervals as intervals
from steelyard.modelling.cross_intervals import ASSUMES, corrected_t, less_flattered, uninformed

X, Y = load_iris(return_X_y=True)
SEPALS = X[:, :2]
RULES = {"lda": LinearDiscriminantAnalysis(), "tree": DecisionTreeClassifier(random_state=0)}


def row_of(table: Any, **wanted: Any) -> dict[str, Any]:
    (found,) = [row for row in table if all(row[name] == value for name, value in wanted.items())]
    return dict(found)


@pytest.fixture(scope="module")
def crossed() -> sy.CrossAssessment:
    return sy.cross_assess(RULES, SEPALS, Y, cv=5, seed=1)


def test_every_way_says_what_it_takes_for_granted(crossed: sy.CrossAssessment) -> None:
    table = crossed.intervals("error")
    assert table["method"] == ["pooled", "pooled", "corrected", "corrected"]
    assert all(table["assumes"][row] == ASSUMES[method] for row, method in enumerate(table["method"]))


def test_pooled_is_the_interval_of_the_assessment(crossed: sy.CrossAssessment) -> None:
    found, estimate = row_of(crossed.intervals("kappa"), model="tree", method="pooled"), crossed["tree"]["kappa"]
    assert (found["value"], found["low"], found["high"]) == (estimate.value, estimate.low, estimate.high)


@pytest.mark.parametrize("repeats", [1, 3])
def test_corrected_t_is_that_of_nadeau_and_bengio(repeats: int) -> None:
    crossed = sy.cross_assess(RULES, SEPALS, Y, cv=5, seed=1, repeats=repeats)
    errors: dict[str, list[float]] = {name: [] for name in RULES}
    for repeat in range(repeats):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=1 + repeat).split(SEPALS, Y):
            for name, rule in RULES.items():
                predicted = clone(rule).fit(SEPALS[train], Y[train]).predict(SEPALS[test])
                errors[name].append(float(np.mean(predicted != Y[test])))
    splits = 5 * repeats
    reach = stats.t.ppf(0.975, splits - 1)

    def by_hand(values: NDArray[np.float64]) -> tuple[float, float]:
        return values.mean(), np.sqrt(values.var(ddof=1) * (1 / splits + 30 / 120))

    value, se = by_hand(np.array(errors["tree"]))
    found = row_of(crossed.intervals("error", "corrected"), model="tree")
    assert found["value"] == pytest.approx(value, abs=1e-14)
    assert found["low"] == pytest.approx(value - reach * se, abs=1e-12)
    assert found["high"] == pytest.approx(value + reach * se, abs=1e-12)
    value, se = by_hand(np.array(errors["lda"]) - np.array(errors["tree"]))
    pair = row_of(crossed.intervals("error", ["corrected"], pairs=True), a="lda", b="tree")
    assert pair["difference"] == pytest.approx(value, abs=1e-14)
    assert pair["se"] == pytest.approx(se, abs=1e-14)
    assert pair["p"] == pytest.approx(2 * stats.t.sf(abs(value / se), splits - 1), abs=1e-12)


def test_folds_that_agree_leave_nothing_to_doubt() -> None:
    same = corrected_t(np.full(10, 0.2), 1 / 9, 0.95)
    assert (same.value, same.low, same.high, same.se, same.p) == pytest.approx((0.2, 0.2, 0.2, 0, 0))
    none = corrected_t(np.zeros(10), 1 / 9, 0.95)
    assert none.p == 1


@pytest.mark.parametrize("pairs", [False, True])
def test_what_is_infinite_in_a_fold_has_no_interval_of_folds(pairs: bool) -> None:
    found = sy.cross_assess(["lda", "knn:1", "knn:3"], X[:, :2], Y, cv=3, seed=1, measures=["log_score"])
    for row in found.intervals("log_score", ["corrected", "nested"], pairs=pairs, rounds=1, progress=False):
        infinite = "knn:1" in row.values() or "knn:3" in row.values()
        assert np.isnan(row["low"]) == infinite, row


# --- nested -----------------------------------------------------------------------------------------------------


def wrong_by(name: str, train: Any, test: Any) -> NDArray[np.bool_]:
    return np.asarray(clone(RULES[name]).fit(SEPALS[train], Y[train]).predict(SEPALS[test]) != Y[test])


def rounds(repeats: int) -> Iterator[list[NDArray[np.int64]]]:
    for repeat in range(repeats):
        folds = StratifiedKFold(5, shuffle=True, random_state=2 + repeat).split(SEPALS, Y)
        yield [test for _, test in folds]


def nested_by_hand(name: str, repeats: int) -> tuple[float, float]:
    """Bates, Hastie & Tibshirani's algorithm as it stands in their paper, fold by fold; bias-free value and MSE."""
    inside, squares, noise, plain = [], [], [], []
    for parts in rounds(repeats):
        everything = np.concatenate(parts)
        out = []
        for aside in range(5):
            rest = [part for fold, part in enumerate(parts) if fold != aside]
            inner = [wrong_by(name, np.setdiff1d(np.concatenate(rest), part), part) for part in rest]
            outer = wrong_by(name, np.setdiff1d(everything, parts[aside]), parts[aside])
            within = np.concatenate(inner).mean()
            inside.append(within)
            squares.append((within - outer.mean()) ** 2)
            noise.append(outer.var(ddof=1) / len(outer))
            out.append(outer)
        plain.append(np.concatenate(out).mean())
    bias = (1 + 3 / 5) * (np.mean(inside) - np.mean(plain))
    return float(np.mean(inside) - bias), float(np.mean(squares) - np.mean(noise))


@pytest.mark.parametrize("name", RULES)
def test_nested_cross_validation_is_that_of_bates_and_others(crossed: sy.CrossAssessment, name: str) -> None:
    value, squared = nested_by_hand(name, repeats=2)
    found = row_of(crossed.intervals("error", "nested", rounds=2, progress=False), model=name)
    assert found["value"] == pytest.approx(value, abs=1e-12)
    single = crossed[name]["error"].se
    expected = np.clip(np.sqrt(max(squared, 0.0) * 4 / 5), single, np.sqrt(5) * single)
    assert found["se"] == pytest.approx(expected, rel=1e-9)
    assert found["low"] <= found["value"] <= found["high"]


def test_nested_intervals_are_no_narrower_than_pooled_ones(crossed: sy.CrossAssessment) -> None:
    found = crossed.intervals("auc", ["pooled", "nested"], rounds=2, progress=False)
    for name in RULES:
        pooled, nested = (row_of(found, model=name, method=method) for method in ("pooled", "nested"))
        assert nested["se"] >= pooled["se"]
    pairs = crossed.intervals("error", ["nested"], pairs=True, rounds=2, progress=False)
    assert len(pairs) == len(list(combinations(RULES, 2)))


def test_nested_intervals_of_few_groups_are_no_narrower_either() -> None:
    """They have the t quantile of pooled ones: with eight groups, that of seven degrees of freedom."""
    found = sy.cross_assess(["lda", "knn:5"], SEPALS, Y, groups=np.arange(150) % 8, cv=4, seed=1, progress=False)
    for measure in ("error", "auc", "brier", "kappa"):
        table = found.intervals(measure, ["pooled", "nested"], rounds=2, progress=False)
        for name in found.models:
            pooled, nested = (row_of(table, model=name, method=method) for method in ("pooled", "nested"))
            assert nested["high"] - nested["low"] >= pooled["high"] - pooled["low"] - 1e-12, measure
        (pair,) = found.intervals(measure, "nested", pairs=True, rounds=2, progress=False).to_pylist()
        assert (pair["p"] < 0.05) == (not pair["low"] <= 0 <= pair["high"]), measure


class Contrary(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Knows the class, and says it or the other one."""

    def __init__(self, right: bool = True) -> None:
        self.right = right

    def fit(self, x: Any, y: Any) -> Contrary:
        self.classes_ = np.unique(y)
        return self

    def predict(self, x: Any) -> Any:
        return self.classes_[(x[:, 0] > 0).astype(int) if self.right else (x[:, 0] <= 0).astype(int)]


def test_nested_points_are_as_sure_as_pooled_ones() -> None:
    """A plain interval may be a point, with no standard error, and the difference was then said to be no sure one."""
    truth = np.arange(30) % 2
    rules = {"right": Contrary(), "wrong": Contrary(right=False)}
    found = sy.cross_assess(rules, truth[:, None], truth, cv=3, method="plain", measures=["error"])
    for row in found.intervals("error", ["pooled", "corrected", "nested"], pairs=True, rounds=1, progress=False):
        assert [row[name] for name in ("difference", "low", "high", "p")] == [-1.0, -1.0, -1.0, 0.0], row["method"]


@pytest.mark.parametrize("bad", [0, 1.5, "x", None])
def test_rounds_are_counted(crossed: sy.CrossAssessment, bad: Any) -> None:
    with pytest.raises(BadOption, match="rounds is"):
        crossed.intervals("error", "nested", rounds=bad, progress=False)


def test_two_folds_cannot_be_nested() -> None:
    crossed = sy.cross_assess("lda", SEPALS, Y, cv=2)
    with pytest.raises(BadOption, match="2 folds leave nothing to nest"):
        crossed.intervals("error", "nested", progress=False)


# --- bootstrap --------------------------------------------------------------------------------------------------


def test_bootstrap_values_are_those_of_efron_and_tibshirani() -> None:
    crossed = sy.cross_assess(RULES, SEPALS, Y, cv=sy.Bootstrap(30), seed=2)
    table = crossed.intervals("error")
    for name, rule in RULES.items():
        wrong, times = np.zeros(150), np.zeros(150)
        for split in crossed.plan.splits:
            wrong[split.test] += wrong_by(name, split.train, split.test)
            times[split.test] += 1
        held = float(np.mean(wrong / times))
        assigned = clone(rule).fit(SEPALS, Y).predict(SEPALS)
        trained = float(np.mean(assigned != Y))
        shares = np.bincount(Y) / 150, np.bincount(assigned, minlength=3) / 150
        gamma = float((shares[0] * (1 - shares[1])).sum())
        assert row_of(table, model=name, method="out of bag")["value"] == pytest.approx(held, abs=1e-12)
        mixed = 0.368 * trained + 0.632 * held
        assert row_of(table, model=name, method=".632")["value"] == pytest.approx(mixed, abs=1e-12)
        overfit = (min(held, gamma) - trained) / (gamma - trained)
        plus = mixed + (min(held, gamma) - trained) * 0.368 * 0.632 * overfit / (1 - 0.368 * overfit)
        assert row_of(table, model=name, method=".632+")["value"] == pytest.approx(plus, abs=1e-12)
        assert uninformed(crossed, name, sy.find("error")) == pytest.approx(gamma, abs=1e-12)


@pytest.mark.parametrize("pairs", [1, 900, 2000], ids=["few rows of many", "thrice", "many"])
def test_without_information_no_answer_stands_beside_its_own_truth(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sorted_rows = np.repeat([0, 1], 150)
    apart = sorted_rows[:, None] + np.random.default_rng(0).normal(0, 0.1, (300, 1))
    found = sy.cross_assess("bayes", apart, sorted_rows, cv=sy.Bootstrap(2), measures=["error"], progress=False)
    monkeypatch.setattr(intervals, "MOST_PAIRS", pairs)
    assert uninformed(found, "bayes", sy.find("error")) == pytest.approx(0.5, abs=0.09)


@pytest.mark.parametrize(
    ("held", "trained", "none", "expected"),
    [
        (0.5, 0.0, 0.5, 0.5),  # nothing was learned: all that training says is forgotten
        (0.7, 0.0, 0.5, 0.632 * 0.7 + 0.368 * 0.5),  # worse than without information
        (0.3, 0.1, 0.5, 0.1 + 0.2 * 0.632 / (1 - 0.368 * 0.5)),  # in between
        (0.1, 0.1, 0.5, 0.1),  # nothing was overfitted
        (0.0, 0.1, 0.5, 0.0368),  # better than in training
        (0.5, 1.0, 0.5, 0.5),  # a measure of which more is better
    ],
)
def test_less_flattered_at_its_ends(held: float, trained: float, none: float, expected: float) -> None:
    assert less_flattered(held, trained, none) == pytest.approx(expected)


def test_ways_that_do_not_fit_are_refused(crossed: sy.CrossAssessment) -> None:
    with pytest.raises(BadOption, match=r"there is no interval '\.632' of this"):
        crossed.intervals("error", ".632")
    alone = sy.cross_assess("lda", SEPALS, Y, cv="loo").intervals("error")
    assert alone["method"] == ["pooled"]


def test_folds_of_one_group_each_cannot_be_nested() -> None:
    found = sy.cross_assess("lda", SEPALS, Y, groups=np.arange(150) % 12, cv=12, measures=["error"], progress=False)
    with pytest.raises(BadOption, match=r"12 folds of 12 groups.*Take fewer folds than groups"):
        found.intervals("error", "nested", rounds=1, progress=False)

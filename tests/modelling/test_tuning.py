"""Tuning by any measure, the one-standard-error rule, nested assessment, and tests against chance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import steelyard as sy
from steelyard.core.errors import BadOption, MissingValues, UnknownMeasure
from steelyard.core.table import Table
from steelyard.display.plots.levels import TuningDisplay
from steelyard.modelling.permutation_test import _orders
from tests.classifiers import Labels
from tests.effort import repeats

X, Y = load_iris(return_X_y=True)
SEPALS = X[:, :2]
GRID = {"n_neighbors": [1, 3, 5, 9, 15, 25]}


@pytest.fixture(scope="module")
def tuned() -> sy.Tuning:
    return sy.tune(KNeighborsClassifier(), GRID, SEPALS, Y, cv=5, measure="log_score")


def test_values_are_those_of_a_search() -> None:
    found = sy.tune(KNeighborsClassifier(), GRID, SEPALS, Y, cv=5, measure="accuracy")
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5, return_train_score=True).fit(SEPALS, Y)
    assert found.table()["training"] == pytest.approx(search.cv_results_["mean_train_score"], abs=1e-12)
    assert found.table()["value"] == pytest.approx(search.cv_results_["mean_test_score"], abs=1e-12)
    assert dict(found.parameters) == search.best_params_
    assert (found.fit(SEPALS, Y).predict(SEPALS) == search.predict(SEPALS)).all()


def test_a_measure_that_is_better_when_lower_is_minimised(tuned: sy.Tuning) -> None:
    values = tuned.table()["value"]
    assert tuned.best.estimate.value == min(values)
    assert [row["rank"] for row in tuned.table() if row["chosen"]] == [1]


def test_who_cannot_be_told_apart_is_not_called_the_best() -> None:
    endless = sy.tune("knn", {"n_neighbors": [1, 3]}, SEPALS, Y, cv=3, seed=1, measure="log_score")
    assert [one.estimate.value for one in endless.candidates] == [math.inf, math.inf]
    words = " ".join(str(endless).split())
    assert "chosen: n_neighbors=1, the first. log score is the same for all 2, and tells none of them apart" in words
    assert "best of" not in words


CERTAIN = "no probabilities are given: each label is scored as a forecast that gives it probability 1"


def test_labels_are_tuned_as_forecasts_of_probability_1() -> None:
    """A wrong label costs 2 over all classes: the mean is twice the error, whatever the candidate."""
    by_brier, by_error = (
        sy.tune(Labels(), GRID, SEPALS, Y, cv=5, seed=1, measure=measure) for measure in ("brier_multiclass", "error")
    )
    for column in ("value", "training"):
        twice = [2 * value for value in by_error.table()[column]]
        assert by_brier.table()[column] == pytest.approx(twice, abs=1e-12)
    assert by_brier.parameters == by_error.parameters
    assert by_brier.notes == [
        "no probabilities are given: each label is scored as a forecast that gives it probability 1"
    ]
    assert f"note: {by_brier.notes[0]}" in " ".join(str(by_brier).split())
    assert by_error.notes == []
    soft = sy.tune(KNeighborsClassifier(), GRID, SEPALS, Y, cv=5, seed=1, measure="brier_multiclass")
    assert soft.notes == []
    assert soft.best.estimate.value < by_brier.best.estimate.value


def test_tuned_labels_are_assessed_by_the_same_score() -> None:
    found = sy.tune(Labels(), {"n_neighbors": [1, 15]}, SEPALS, Y, cv=3, seed=1, measure="brier_multiclass")
    nested = found.assess(SEPALS, Y, cv=3, measures=["brier_multiclass", "error"])["tuned"]
    assert nested["brier_multiclass"].value == pytest.approx(2 * nested["error"].value, abs=1e-12)


def test_infinite_log_scores_choose_nothing_in_silence() -> None:
    found = sy.tune(Labels(), GRID, SEPALS, Y, cv=5, seed=1, measure="log_score")
    assert found.table()["value"] == [math.inf] * len(GRID["n_neighbors"])
    assert found.table()["rank"] == [1] * len(GRID["n_neighbors"])
    assert found.notes[0].startswith("log score is the same for all 6, and tells none of them apart. It is infinite")
    words = " ".join(str(found).split())
    assert f"chosen: n_neighbors=1, the first. {found.tied}" in words
    assert " best" not in words
    found.plot.curve()
    pyplot.close("all")


def test_a_finite_log_score_is_chosen_among_infinite_ones() -> None:
    """Far apart, labels never err with one neighbour; with all rows as neighbours, they err."""
    rows = np.repeat([[0.0], [100.0]], 20, axis=0) + np.arange(40)[:, None] / 100
    found = sy.tune(Labels(), {"n_neighbors": [32, 1]}, rows, np.repeat([0, 1], 20), cv=5, measure="log_score")
    assert found.table()["value"] == [math.inf, 0.0]
    assert (found.parameters, found.tied) == ({"n_neighbors": 1}, "")
    assert sy.tune(Labels(), {"n_neighbors": [1]}, rows, np.repeat([0, 1], 20), cv=5, measure="log_score").tied == ""


def test_candidates_with_and_without_probabilities_stand_side_by_side() -> None:
    found = sy.tune(SVC(random_state=0), {"C": [0.1, 10.0]}, SEPALS, Y, cv=3, measure="brier_multiclass")
    error = sy.tune(SVC(random_state=0), {"C": [0.1, 10.0]}, SEPALS, Y, cv=3)
    assert found.table()["value"] == pytest.approx([2 * value for value in error.table()["value"]], abs=1e-12)
    mixed = replace(found, cross=sy.cross_assess({"a": Labels(), "b": "lda"}, SEPALS, Y, cv=3, measures=["brier"]))
    assert [note.partition(": ")[0] for note in mixed.notes] == ["'a'"]


def test_of_equals_the_first_is_the_best_where_folds_were_dealt_several_times() -> None:
    found = sy.tune(
        "knn", {"n_neighbors": range(1, 16, repeats(2, 1))}, SEPALS, Y, cv=5, repeats=3, seed=3, training=False
    )
    wrong = [round(450 * one.estimate.value) for one in found.candidates]
    assert wrong.count(min(wrong)) > 1
    assert found.table()["rank"] == [1 + sum(other < own for other in wrong) for own in wrong]
    assert found.best is found.candidates[wrong.index(min(wrong))]


def test_one_standard_error_rule_takes_the_first_that_will_do() -> None:
    simple_first = {"n_neighbors": [90, 25, 15, 45, 1]}
    found = sy.tune(KNeighborsClassifier(), simple_first, SEPALS, Y, cv=10, one_se=True)
    best = found.best.estimate
    values = np.array(found.table()["value"])
    assert found.chosen is found.candidates[int(np.argmax(values <= best.value + best.se))]
    assert found.chosen is not found.best
    assert "the first within one standard error of the best" in str(found)


def test_without_a_standard_error_the_best_is_chosen() -> None:
    infinite = sy.tune("knn", {"n_neighbors": [1, 5]}, SEPALS, Y, cv=5, measure="log_score", one_se=True)
    assert np.isinf(infinite.best.estimate.value)
    assert infinite.chosen is infinite.best
    unsure = replace(infinite.candidates[1].estimate, value=0.5, se=float("nan"))
    found = replace(infinite, candidates=(infinite.candidates[0], replace(infinite.candidates[1], estimate=unsure)))
    assert found.chosen is found.candidates[1]


def test_what_tuning_is_worth_is_found_on_rows_that_had_no_part_in_it() -> None:
    found = sy.tune(KNeighborsClassifier(), GRID, SEPALS, Y, cv=3)
    honest = found.assess(SEPALS, Y, cv=4)["tuned"]["error"]
    wrong = np.empty(150, dtype=bool)
    for train, test in StratifiedKFold(4).split(SEPALS, Y):
        inner = sy.tune(KNeighborsClassifier(), GRID, SEPALS[train], Y[train], cv=3)
        rule = KNeighborsClassifier(**inner.parameters).fit(SEPALS[train], Y[train])
        wrong[test] = rule.predict(SEPALS[test]) != Y[test]
    assert honest.value == wrong.mean()


def test_the_search_is_an_estimator() -> None:
    rule = sy.TunedClassifier(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, cv=3)
    scores = cross_val_score(clone(rule), X, Y, cv=3)
    assert scores.min() > 0.9
    fitted = rule.fit(X, Y)
    assert fitted.predict_proba(X).shape == (150, 3)
    assert fitted.tuning_.parameters["max_depth"] in (1, 2, 3)


def _patients() -> tuple[Any, Any, Any]:
    """Forty patients with five rows each that are almost copies: the nearest neighbour of a row is its twin."""
    random = np.random.default_rng(2)
    patient, centre = np.repeat(np.arange(40), 5), random.normal(size=(40, 2))
    rows = centre[patient] + 0.05 * random.normal(size=(200, 2))
    return rows, np.where(centre[:, 0] + random.normal(size=40) > 0, "sick", "well")[patient], patient


def test_groups_stay_together_in_the_inner_search_too() -> None:
    rows, state, patient = _patients()
    found = sy.tune("knn", {"n_neighbors": [1, 55]}, rows, state, cv=5, seed=1, groups=patient)
    assert found.parameters == {"n_neighbors": 55}
    assert found.again().fit(rows, state, groups=patient).tuning_.parameters == {"n_neighbors": 55}
    honest = found.assess(rows, state)
    assert honest["tuned"]["error"].value == pytest.approx(found.best.estimate.value, abs=0.03)
    by_hand = sy.TunedClassifier(KNeighborsClassifier(), {"n_neighbors": [1, 55]}, cv=5, seed=1)
    beside = sy.cross_assess({"own": by_hand}, rows, state, cv=5, seed=1, groups=patient)
    assert beside["own"]["error"].value == honest["tuned"]["error"].value


def test_a_search_that_knew_groups_is_not_done_again_without_them() -> None:
    rows, state, patient = _patients()
    again = sy.tune("knn", {"n_neighbors": [1, 55]}, rows, state, cv=5, groups=patient).again()
    with pytest.raises(BadOption, match=r"groups had a part in the search.*fit\(X, y, groups=\.\.\.\)"):
        clone(again).fit(rows, state)


def test_measured_values_can_be_tuned_by() -> None:
    cut = sy.Continuum([0.8, 1.7], ["short", "middle", "long"], sd=0.1)
    found = sy.tune("knn", GRID, X[:, :3], X[:, 3], scale=cut, measure="adjusted_sqerr", cv=5)
    assert found.measure.name == "adjusted_sqerr"
    assert found.chosen.estimate.value == min(found.table()["value"])
    rule = found.fit(X[:, :3], X[:, 3])
    assert set(rule.predict(X[:, :3])) == {"short", "middle", "long"}
    assert found.assess(X[:, :3], X[:, 3], cv=3)["tuned"].find("adjusted_sqerr").name == "adjusted_sqerr"


@pytest.mark.parametrize(
    ("measure", "known"),
    [
        ("adjusted_error", {"sd": 0.1}),
        ("adjusted_error", {"sd": np.linspace(0.05, 0.15, 150)}),
        ("smoothed_error", {"sd_response": 0.2}),
        ("smoothed_error", {"sd_response": np.linspace(0.1, 0.3, 150)}),
        ("model_error", {"response": sy.Response(X[:, 3] + 0.05, np.full(150, 0.1))}),
    ],
)
def test_what_is_known_of_measurements_reaches_the_inner_search(measure: str, known: dict[str, Any]) -> None:
    cut, grid = sy.Continuum([0.8, 1.7], ["short", "middle", "long"]), {"n_neighbors": [1, 15]}
    found = sy.tune("knn", grid, X[:, :2], X[:, 3], scale=cut, measure=measure, cv=3, seed=1, **known)
    honest = found.assess(X[:, :2], X[:, 3])
    train, test = honest.plan.splits[0].train, honest.plan.splits[0].test
    some = {name: _rows_of(said, train) for name, said in known.items()}
    inner = sy.tune("knn", grid, X[train, :2], X[train, 3], scale=cut, measure=measure, cv=3, seed=1, **some)
    said = inner.fit(X[train, :2], X[train, 3]).predict(X[test, :2])
    assert [cut.classes[code] for code in honest.held_out(0)["tuned"].codes] == said.tolist()


def _rows_of(said: Any, rows: Any) -> Any:
    """What was said of some rows."""
    if isinstance(said, sy.Response):
        return sy.Response(said.mean[rows], said.sd[rows])
    return said[rows] if np.ndim(said) else said


def test_a_continuum_may_know_the_deviation_of_every_row() -> None:
    deviations = np.linspace(0.05, 0.15, 150)
    cut = sy.Continuum([0.8, 1.7], ["short", "middle", "long"], sd=deviations)
    options: dict[str, Any] = {"measure": "adjusted_error", "cv": 3, "seed": 1}
    found = sy.tune("knn", {"n_neighbors": [1, 15]}, X[:, :2], X[:, 3], scale=cut, **options)
    other = sy.tune(
        "knn", {"n_neighbors": [1, 15]}, X[:, :2], X[:, 3], scale=cut.but(sd=None), sd=deviations, **options
    )
    values = [one.assess(X[:, :2], X[:, 3])["tuned"]["adjusted_error"].value for one in (found, other)]
    assert values[0] == values[1]
    with pytest.raises(BadOption, match="sd had a part in the search"):
        found.again().fit(X[:, :2], X[:, 3])


def test_a_search_that_learns_labels_is_not_told_of_measurements() -> None:
    cut = sy.Continuum([0.8, 1.7], ["short", "middle", "long"], sd=0.1)
    rule = sy.TunedClassifier(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, cv=3)
    found = sy.cross_assess({"rule": rule}, X[:, :2], X[:, 3], scale=cut, cv=3, measures=["adjusted_error"])
    assert found.failures == ()


def test_grids_can_be_lists_and_hold_single_values() -> None:
    grid = [{"n_neighbors": [1, 3], "weights": "uniform"}, {"n_neighbors": [3], "weights": ["distance", "uniform"]}]
    found = sy.tune("knn", grid, SEPALS, Y, cv=3)
    assert [one.name for one in found.candidates] == [
        "n_neighbors=1, weights=uniform",
        "n_neighbors=3, weights=uniform",
        "n_neighbors=3, weights=distance",
    ]
    ordered = sy.tune("knn", {"weights": ["uniform", "distance"], "n_neighbors": [9, 1]}, SEPALS, Y, cv=3)
    assert [tuple(one.parameters.values()) for one in ordered.candidates] == [
        ("uniform", 9),
        ("uniform", 1),
        ("distance", 9),
        ("distance", 1),
    ]


def test_values_of_a_grid_may_be_arrays() -> None:
    some, others = np.array([0.2, 0.3, 0.5]), np.array([0.3, 0.3, 0.4])
    found = sy.tune("lda", {"priors": [some, others, some.copy()]}, SEPALS, Y, cv=3)
    assert [one.name for one in found.candidates] == ["priors=[0.2 0.3 0.5]", "priors=[0.3 0.3 0.4]"]
    alike = sy.tune("lda", {"priors": [some, some + np.array([1e-12, 0, -1e-12])]}, SEPALS, Y, cv=3)
    assert [one.name for one in alike.candidates] == ["priors=[0.2 0.3 0.5]", "priors=[0.2 0.3 0.5] (2)"]


@pytest.mark.parametrize(
    ("grid", "options", "message"),
    [
        ({}, {}, "as it is|empty"),
        ([], {}, "the grid is empty"),
        (7, {}, "grid is 7"),
        ("k", {}, "grid is 'k'"),
        ([3], {}, "grid is"),
        ({"neighbours": [1]}, {}, "Invalid parameter 'neighbours'"),
        (GRID, {"measure": "prevalence"}, "no value of prevalence is better"),
    ],
)
def test_bad_grids_are_refused(grid: Any, options: dict[str, Any], message: str) -> None:
    if grid == {}:
        assert sy.tune("knn", grid, SEPALS, Y, cv=3, **options).chosen.name == "as it is"
        return
    with pytest.raises(BadOption, match=message):
        sy.tune("knn", grid, SEPALS, Y, cv=3, **options)


def test_candidates_that_cannot_be_fitted_are_told() -> None:
    found = sy.tune(KNeighborsClassifier(), {"n_neighbors": [-1, 1, 5, -2]}, *load_iris(return_X_y=True), cv=3, seed=1)
    assert [one.name for one in found.candidates] == ["n_neighbors=1", "n_neighbors=5"]
    words = " ".join(str(found).split())
    assert "2 candidates by error" in words
    assert "note: 2 more could not be fitted: n_neighbors=-1 says InvalidParameterError: " in words
    assert words.index("n_neighbors=-1 says") < words.index("; n_neighbors=-2 says")


def test_the_curve_is_drawn_with_bars(tuned: sy.Tuning) -> None:
    display = tuned.plot.curve()
    assert isinstance(display, TuningDisplay)
    assert display.frame()["n_neighbors"] == GRID["n_neighbors"]
    axes = display.plot()
    assert axes.get_xlabel() == r"n_neighbors"
    assert len(axes.containers) == 1  # the bars
    with pytest.raises(BadOption, match="there is no parameter 'k'"):
        tuned.plot.curve("k")


def test_of_several_parameters_the_best_over_the_others_is_drawn() -> None:
    grid = {"n_neighbors": [1, 15], "weights": ["uniform", "distance"]}
    found = sy.tune("knn", grid, SEPALS, Y, cv=3)
    frame = found.plot.curve("weights").frame()
    for weight, value in zip(frame["weights"], frame["value"], strict=True):
        assert value == min(row["value"] for row in found.table() if row["weights"] == weight)


def test_what_is_undefined_is_not_the_best_over_the_others() -> None:
    # Whoever always says what is most frequent never says the event, and has no precision.
    grid = {"strategy": ["most_frequent", "uniform"], "random_state": [0, 1, 2]}
    truth = np.where(np.arange(60) % 3 == 0, "yes", "no")
    found = sy.tune(DummyClassifier(), grid, np.zeros((60, 1)), truth, cv=3, measure="precision", event="yes")
    frame = found.plot.curve("random_state").frame()
    assert set(frame["strategy"]) == {"uniform"}
    assert not np.isnan(frame["value"]).any()


class Constant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Says one class of all rows: that of the place that its parameter names."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def fit(self, X: Any, y: Any) -> Constant:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[self.value])


def test_a_parameter_may_be_called_like_a_result() -> None:
    truth = np.where(np.arange(40) % 4 == 0, "a", "b")
    found = sy.tune(Constant(), {"value": [0, 1]}, np.zeros((40, 1)), truth, cv=4)
    assert (found.table()["value (parameter)"], found.table()["value"]) == ([0, 1], [0.75, 0.25])
    assert found.plot.curve("value").frame()["value (parameter)"] == [0, 1]
    assert "value (parameter)" in str(found)


def curve_over(values: list[Any], ax: Axes | None = None) -> Axes:
    """A curve that rises by one from each value to the next, of which the last is chosen."""
    count = len(values)
    columns = {"k": values, "value": [*range(count)], "se": [0.1] * count, "training": [0.5] * count}
    return TuningDisplay(Table({**columns, "chosen": [False] * (count - 1) + [True]}), "k", title="error").plot(ax)


def test_lines_go_from_left_to_right_whatever_was_tried_first() -> None:
    line = curve_over([5, 1, 9, 3]).lines[0]
    assert np.array_equal(line.get_xydata(), [(1, 1), (3, 3), (5, 0), (9, 2)])


@pytest.mark.parametrize("last", [math.inf, math.nan])
def test_a_value_that_is_not_finite_has_a_place_beside_the_others(last: float) -> None:
    axes = curve_over([0.1, 1.0, last])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.1", "1.0", str(last)]
    assert np.array_equal(axes.lines[0].get_xydata(), [(0, 0), (1, 1), (2, 2)])
    assert np.array_equal(axes.collections[-1].get_offsets(), [(2, 2)])  # the ring around what was chosen


@pytest.mark.parametrize("given", [False, True])
def test_words_that_would_run_into_each_other_are_slanted(given: bool) -> None:
    axes = curve_over([f"a way with name {place:02d}" for place in range(12)], pyplot.subplots()[1] if given else None)
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    texts = axes.get_xticklabels()
    assert {text.get_rotation() for text in texts} == {40.0}
    assert min(text.get_window_extent().y0 for text in [*texts, axes.xaxis.label]) >= -1
    assert curve_over(["one", "two"]).get_xticklabels()[0].get_rotation() == 0


def test_nothing_to_draw_is_refused() -> None:
    none = Table({"k": [], "value": [], "se": [], "training": [], "chosen": []})
    with pytest.raises(BadOption, match="no candidate"):
        TuningDisplay(none, "k", title="error")


# --- against chance ---------------------------------------------------------------------------------------------


def test_what_can_be_learned_is_told_from_chance() -> None:
    found = sy.permutation_test("lda", SEPALS, Y, permutations=39, cv=5, seed=1, progress=False)
    assert found.p == 1 / 40
    assert found.estimate.value < found.by_chance.min()
    assert found.by_chance.mean() == pytest.approx(2 / 3, abs=0.03)
    assert "p = 0.025 (39 permutations)" in str(found)


@pytest.mark.study
def test_p_values_are_uniform_where_there_is_nothing_to_learn() -> None:
    random = np.random.default_rng(5)
    found = []
    for seed in range(repeats(8, 25)):
        noise, labels = random.standard_normal((40, 2)), random.integers(2, size=40)
        found.append(sy.permutation_test("bayes", noise, labels, permutations=9, cv=4, seed=seed, progress=False).p)
    assert np.mean(np.array(found) <= 0.2) < 0.45  # 0.2 or less is expected, ties make p greater
    assert 0.35 < np.mean(found) < 0.75


def test_classes_change_places_within_groups_only() -> None:
    groups, codes = np.array([0, 1, 0, 1, 2, 2, 0]), np.array([0, 1, 1, 1, 0, 1, 0])
    for order in _orders(codes, groups, 20, 0):
        assert sorted(order) == list(range(7))
        assert (groups[order] == groups).all()


def test_groups_of_one_class_change_classes_as_wholes() -> None:
    groups, codes = np.array([0, 1, 0, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 0, 0, 1])
    seen = set()
    for order in _orders(codes, groups, 50, 0):
        dealt = codes[order]
        for group in range(4):
            assert len(set(dealt[groups == group])) == 1
        assert sorted(dealt[[0, 1, 4, 6]]) == [0, 0, 1, 1]
        seen.add(tuple(dealt))
    assert len(seen) == 6


@pytest.mark.parametrize("costs", [{"a": {"b": 5}, "b": {"a": 1}}, np.array([[0.0, 5.0], [1.0, 0.0]])], ids=type)
def test_who_is_tuned_by_costs_is_assessed_by_them(costs: Any) -> None:
    some = Y > 0
    data = SEPALS[some], np.where(Y[some] > 1, "b", "a")
    found = sy.tune("knn", {"n_neighbors": [1, 5]}, *data, measure="cost", cost=costs, cv=4, progress=False)
    assert found.assess(*data)["tuned"]["cost"].value >= 0
    with pytest.raises(UnknownMeasure, match="two measures are called cost"):
        sy.assess(*data[1:], data[1], measures=[found.measure, sy.find("cost", costs={"a": {"b": 6}, "b": {"a": 1}})])


def test_who_gives_scores_gives_them_when_tuned() -> None:
    some = Y > 0
    found = sy.tune(SVC(), {"C": [0.1, 1]}, SEPALS[some], Y[some], measure="auc", event=2, cv=3, progress=False)
    assert found.assess(SEPALS[some], Y[some])["tuned"]["auc"].value > 0.5
    rule = found.again().fit(SEPALS[some], Y[some])
    alone = SVC(**found.parameters).fit(SEPALS[some], Y[some])
    np.testing.assert_array_equal(rule.decision_function(SEPALS), alone.decision_function(SEPALS))
    assert not hasattr(rule, "predict_proba")
    assert not hasattr(sy.TunedClassifier(KNeighborsClassifier(), GRID), "decision_function")


def test_candidates_and_chance_are_judged_by_one_measure() -> None:
    with pytest.raises(BadOption, match="by one measure"):
        sy.tune("knn", GRID, SEPALS, Y, measures=["kappa"])
    for option in ({"measures": ["kappa"]}, {"training": True}):
        with pytest.raises(BadOption, match=f"permutation_test takes no {next(iter(option))}="):
            sy.permutation_test("lda", SEPALS, Y, permutations=1, **option)


def test_options_of_permutation_tests_are_checked() -> None:
    with pytest.raises(BadOption, match="permutations is 0"):
        sy.permutation_test("lda", SEPALS, Y, permutations=0)
    with pytest.raises(BadOption, match="several classifiers"):
        sy.permutation_test(["lda", "qda"], SEPALS, Y)
    with pytest.raises(BadOption, match="no value of prevalence is better"):
        sy.permutation_test("lda", SEPALS, Y, measure="prevalence", permutations=1)


def test_a_tuned_classifier_leaves_no_rows_out_by_itself() -> None:
    labels = Y.astype(object)
    labels[3] = None
    rule = sy.TunedClassifier(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, cv=3)
    with pytest.raises(MissingValues, match=r"row 3: .* leave such rows out of X, y") as caught:
        rule.fit(SEPALS, labels)
    assert "missing=" not in str(caught.value)

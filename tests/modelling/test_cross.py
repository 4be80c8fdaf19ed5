"""Cross-validation: the same numbers as scikit-learn, and all that is known beside them."""

from __future__ import annotations

import tracemalloc
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import IsolationForest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import steelyard as sy
from steelyard.core.errors import (
    BadOption,
    FailedFits,
    MissingValues,
    NotNumbers,
    OneClass,
    StraddlingGroups,
    UnequalLengths,
    UnknownPart,
)
from steelyard.modelling.splits import make_plan
from tests.classifiers import Labels

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
RULES = {
    "lda": LinearDiscriminantAnalysis(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}
SHARED = {
    "accuracy": ("accuracy", 1),
    "balanced_accuracy": ("balanced_accuracy", 1),
    "precision": ("precision_macro", 1),
    "sensitivity": ("recall_macro", 1),
    "f1": ("f1_macro", 1),
    "jaccard": ("jaccard_macro", 1),
    "mcc": ("matthews_corrcoef", 1),
    "auc": ("roc_auc_ovr", 1),
    "log_score": ("neg_log_loss", -1),
}


@pytest.fixture(scope="module")
def crossed() -> sy.CrossAssessment:
    return sy.cross_assess(RULES, X, NAMES, cv=5)


class Lost(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Has no number for the first row of all that it is asked about."""

    def __init__(self, says: str = "predict_proba") -> None:
        self.says = says

    def fit(self, x: Any, y: Any) -> Lost:
        self.classes_ = np.unique(y)
        return self

    def __getattr__(self, name: str) -> Any:
        if name != self.__dict__.get("says"):
            raise AttributeError(name)
        return self.scores

    def scores(self, x: Any) -> Any:
        two = len(self.classes_) == 2 and self.says == "decision_function"
        table = np.full((len(x), 1 if two else len(self.classes_)), 1 / len(self.classes_))
        table[0] = np.nan
        return table[:, 0] if two else table

    def predict(self, x: Any) -> Any:
        return np.full(len(x), self.classes_[0])


class Broken(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails on the fold that has the first row left out."""

    def fit(self, x: Any, y: Any) -> Broken:
        if not (np.asarray(x) == X[0]).all(axis=1).any():
            raise RuntimeError("no first row\nand more to say of it")
        self.inner_ = LinearDiscriminantAnalysis().fit(x, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, x: Any) -> Any:
        return self.inner_.predict(x)


# --- as scikit-learn does ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
def test_predictions_are_those_of_cross_val_predict(crossed: sy.CrossAssessment, name: str) -> None:
    assert crossed.cases is not None
    labels = cross_val_predict(RULES[name], X, NAMES, cv=5)
    memberships = cross_val_predict(RULES[name], X, NAMES, cv=5, method="predict_proba")
    assert (np.array(crossed.tally.scale.classes)[crossed.cases.assigned[name]] == labels).all()
    assert np.array_equal(np.stack(crossed.cases.scores[name].columns, axis=1), memberships)


@cache
def validated(name: str) -> dict[str, Any]:
    """What scikit-learn finds of a classifier by all measures it has, too."""
    scoring = [scoring for scoring, _ in SHARED.values()]
    return dict(cross_validate(RULES[name], X, NAMES, cv=5, scoring=scoring, return_train_score=True))


@pytest.mark.parametrize("measure", SHARED)
@pytest.mark.parametrize("name", RULES)
def test_folds_have_the_values_of_cross_validate(crossed: sy.CrossAssessment, name: str, measure: str) -> None:
    scoring, sign = SHARED[measure]
    found = validated(name)
    clip = {"clip": np.finfo(float).eps} if measure == "log_score" else {}  # as scikit-learn does unasked
    rows = [row for row in crossed.folds(sy.find(measure, **clip)) if row["model"] == name]
    assert np.allclose([row["value"] for row in rows], sign * found[f"test_{scoring}"], rtol=0, atol=1e-14)
    assert np.allclose([row["training"] for row in rows], sign * found[f"train_{scoring}"], rtol=0, atol=1e-14)


@pytest.mark.parametrize("cv", [KFold(4, shuffle=True, random_state=2), StratifiedKFold(3), LeaveOneOut()])
def test_any_splitter_is_understood(cv: Any) -> None:
    model = QuadraticDiscriminantAnalysis()
    found = sy.cross_assess({"qda": model}, X, Y, cv=cv)
    assert found["qda"]["error"].value == np.mean(cross_val_predict(model, X, Y, cv=cv) != Y)


def test_pairs_of_rows_are_splits() -> None:
    splits = [(np.arange(0, 150, 2), np.arange(1, 150, 2)), (np.arange(150) % 2 == 1, np.arange(150) % 2 == 0)]
    found = sy.cross_assess("lda", X, Y, cv=splits)
    places = [(np.flatnonzero(np.arange(150) % 2 == k), np.flatnonzero(np.arange(150) % 2 != k)) for k in (0, 1)]
    assert found["lda"]["error"].value == np.mean(cross_val_predict(RULES["lda"], X, Y, cv=places) != Y)


def test_it_is_a_comparison(crossed: sy.CrossAssessment) -> None:
    assert isinstance(crossed, sy.Comparison)
    assert crossed.models == tuple(RULES)
    assert len(crossed.differences("error")) == 3
    by_hand = sy.compare(NAMES, {name: cross_val_predict(rule, X, NAMES, cv=5) for name, rule in RULES.items()})
    for name in RULES:
        assert crossed[name]["kappa"] == by_hand[name]["kappa"]
    rows = crossed.deciding_rows("error", "lda", "tree", 3)["row"]
    assert rows == by_hand.deciding_rows("error", "lda", "tree", 3)["row"]


def test_the_fold_of_every_row_is_known(crossed: sy.CrossAssessment) -> None:
    table = crossed.fold_of()
    folds = np.empty(150, dtype=int)
    for fold, (_, test) in enumerate(StratifiedKFold(5).split(X, Y)):
        folds[test] = fold
    assert table["row"] == list(range(150))
    assert table["fold"] == folds.tolist()


@pytest.mark.parametrize("kind", ["coo", "csc", "bsr", "lil"])
def test_sparse_matrices_of_any_kind_are_taken(kind: Any) -> None:
    dense = sy.cross_assess("knn:3", X, NAMES, cv=3, measures=["error"])
    for made in (sparse.coo_matrix, sparse.coo_array):
        found = sy.cross_assess("knn:3", made(X).asformat(kind), NAMES, cv=3, measures=["error"])
        assert found["knn:3"]["error"].value == dense["knn:3"]["error"].value


def test_frames_keep_their_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    found = sy.cross_assess({"lda": RULES["lda"]}, frame, pandas.Series(NAMES), cv=5)
    assert found["lda"]["error"] == sy.cross_assess({"lda": RULES["lda"]}, X, NAMES, cv=5)["lda"]["error"]


def test_jobs_and_progress_change_nothing(crossed: sy.CrossAssessment) -> None:
    told: list[tuple[int, int]] = []
    found = sy.cross_assess(RULES, X, NAMES, cv=5, n_jobs=2, progress=lambda done, of: told.append((done, of)))
    assert found["tree"]["error"] == crossed["tree"]["error"]
    assert told[-1] == (15, 15)


# --- training error ---------------------------------------------------------------------------------------------


def test_training_error_stands_beside_the_test_error(crossed: sy.CrossAssessment) -> None:
    scores = cross_validate(RULES["tree"], X, NAMES, cv=5, return_train_score=True)["train_score"]
    training = crossed["tree"].training
    assert training is not None
    assert training["accuracy"].value == pytest.approx(scores.mean(), abs=1e-14)  # folds are of one size here
    gap = crossed["tree"].gap("error")
    assert gap.value == crossed["tree"]["error"].value - training["error"].value


@pytest.mark.parametrize("cv", ["loo", sy.Bootstrap(20)])
def test_training_error_is_that_of_the_fit_to_all_rows_where_fits_are_many(cv: Any) -> None:
    found = sy.cross_assess({"tree": RULES["tree"]}, X, Y, cv=cv)["tree"].training
    assert found is not None
    assert found["error"].value == np.mean(clone(RULES["tree"]).fit(X, Y).predict(X) != Y)


def test_training_can_be_left_out() -> None:
    assert sy.cross_assess("lda", X, Y, cv=5, training=False)["lda"].training is None


# --- rows held out more than once -------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["error", "kappa", "auc", "log_score", "brier", "f1"])
def test_the_same_run_twice_says_no_more_than_once(measure: str) -> None:
    splits = list(StratifiedKFold(5).split(X, Y))
    once = sy.cross_assess("lda", X, Y, cv=splits)["lda"][measure]
    twice = sy.cross_assess("lda", X, Y, cv=splits + splits)["lda"][measure]
    assert twice.value == pytest.approx(once.value, abs=1e-12)
    assert twice.low == pytest.approx(once.low, rel=0.02)
    assert twice.high == pytest.approx(once.high, rel=0.02)
    assert twice.n == pytest.approx(150)


def test_repeats_shuffle_rows_and_are_averaged() -> None:
    found = sy.cross_assess("tree", X, Y, cv=5, repeats=3, seed=4)
    errors = []
    for repeat in range(3):
        folds = StratifiedKFold(5, shuffle=True, random_state=4 + repeat)
        errors.append(np.mean(cross_val_predict(DecisionTreeClassifier(random_state=0), X, Y, cv=folds) != Y))
    assert found["tree"]["error"].value == pytest.approx(np.mean(errors), abs=1e-12)
    assert found.plan.repeats == 3
    assert len(set(errors)) > 1


def test_hold_out_assesses_the_rows_held_out() -> None:
    found = sy.cross_assess("lda", X, Y, cv=0.2)
    assert found["lda"].n == 30
    assert found.folds("error")["rows"] == [30]
    again = sy.cross_assess("lda", X, Y, cv=0.2, repeats=4)
    tested = np.unique(np.concatenate([split.test for split in again.plan.splits]))
    assert again["lda"].n == pytest.approx(len(tested))


def test_bootstrap_holds_out_what_was_not_drawn() -> None:
    found = sy.cross_assess("lda", X, Y, cv=sy.Bootstrap(25), seed=3)
    assert len(found.plan.splits) == 25
    for split in found.plan.splits:
        assert len(split.train) == 150
        assert not set(split.train) & set(split.test)
        assert len(set(split.train)) + len(split.test) == 150
    wrong, times = np.zeros(150), np.zeros(150)
    for split in found.plan.splits:
        rule = clone(RULES["lda"]).fit(X[split.train], Y[split.train])
        wrong[split.test] += rule.predict(X[split.test]) != Y[split.test]
        times[split.test] += 1
    assert found["lda"]["error"].value == pytest.approx(np.mean((wrong / np.maximum(times, 1))[times > 0]), abs=1e-12)


# --- groups -----------------------------------------------------------------------------------------------------


def test_groups_stay_together_and_are_the_clusters() -> None:
    groups = np.arange(150) // 5 * 5 % 75
    found = sy.cross_assess("lda", X, Y, cv=5, groups=groups)
    for split in found.plan.splits:
        assert not set(groups[split.train]) & set(groups[split.test])
    assert "clustered" in found["lda"]["error"].method
    single = sy.cross_assess("lda", X, Y, cv="loo", groups=groups)
    assert len(single.plan.splits) == len(np.unique(groups))
    drawn = sy.cross_assess("lda", X, Y, cv=sy.Bootstrap(5), groups=groups)
    for split in drawn.plan.splits:
        assert not set(groups[split.train]) & set(groups[split.test])


def test_groups_that_straddle_are_refused() -> None:
    groups = np.arange(150) // 5
    with pytest.raises(StraddlingGroups, match=r"column 'groups', row \d+: split 0 has the group 0 on both sides"):
        sy.cross_assess("lda", X, Y, cv=KFold(3, shuffle=True, random_state=0), groups=groups)
    assert sy.cross_assess("lda", X, Y, cv=GroupKFold(3), groups=groups)["lda"].n == 150


def test_leaving_one_out_takes_no_more_memory_than_its_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    codes = (rows[:, 0] > 0).astype(np.int64)
    tracemalloc.start()
    plan = make_plan("loo", rows, codes)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3000 * 1000  # all rows of all fits would be 72 MB
    for split, (train, test) in zip(plan.splits[::500], list(LeaveOneOut().split(rows))[::500], strict=True):
        assert (split.train == train).all()
        assert (split.test == test).all()
    pairs = make_plan(LeaveOneOut(), rows[:50], codes[:50])
    assert pairs.kind == "leave one out"
    assert all(split.seen is None for split in pairs.splits)


def test_rows_to_fit_to_keep_the_order_that_they_are_given_in() -> None:
    train, test = np.array([5, 3, 2, 4]), np.array([0, 1])
    split = make_plan([(train, test)], X[:6], np.array([0, 1, 0, 1, 0, 1])).splits[0]
    assert split.train.tolist() == [5, 3, 2, 4]


# --- shorter ways -----------------------------------------------------------------------------------------------


def test_the_shorter_way_is_taken_and_said_so() -> None:
    rules = {"lda": RULES["lda"], "knn": KNeighborsClassifier(3), "tree": RULES["tree"]}
    short, long = (sy.cross_assess(rules, X[::3], NAMES[::3], cv="loo", closed=closed) for closed in (True, False))
    assert short.times()["how"] == ["closed form", "closed form", "50 fits"]
    assert long.times()["how"] == ["50 fits"] * 3
    assert any(note.startswith("lda: closed form, ") for note in short.remarks)
    for name in rules:
        for measure in ("error", "log_score", "auc"):
            assert short[name][measure].value == pytest.approx(long[name][measure].value, abs=1e-10)
    assert short["knn"].training is not None


def test_repeated_folds_are_shortened_too() -> None:
    short, long = (sy.cross_assess("qda", X, Y, cv=10, repeats=4, closed=closed) for closed in (True, False))
    assert short.times()["how"] == ["closed form"]
    assert short["qda"]["log_score"].value == pytest.approx(long["qda"]["log_score"].value, abs=1e-10)
    assert short.folds("error")["value"] == pytest.approx(long.folds("error")["value"], abs=1e-12)


# --- what classifiers say ---------------------------------------------------------------------------------------


def test_labels_count_as_predict_says_even_where_probabilities_disagree() -> None:
    class Contrary(LinearDiscriminantAnalysis):  # type: ignore[misc]
        def predict(self, x: Any) -> Any:
            return np.full(len(x), self.classes_[0])

    found = sy.cross_assess({"contrary": Contrary()}, X, Y, cv=5)
    assert found["contrary"]["error"].value == pytest.approx(2 / 3)
    assert found["contrary"]["auc"].value > 0.99
    assert "contrary: predict() and the highest probability differ in 100 rows" in found.remarks


class Standing(LinearDiscriminantAnalysis):  # type: ignore[misc]
    """Gives labels as one column, as CatBoost does of more than two classes."""

    def predict(self, X: Any) -> Any:
        return super().predict(X)[:, None]


def test_labels_may_stand_in_one_column() -> None:
    found = sy.cross_assess({"lda": LinearDiscriminantAnalysis(), "standing": Standing()}, X, Y, measures=["error"])
    assert found["standing"]["error"].value == found["lda"]["error"].value
    assert sy.scorer("error")(Standing().fit(X, Y), X, Y) == sy.scorer("error")(
        LinearDiscriminantAnalysis().fit(X, Y), X, Y
    )


def test_classifiers_without_probabilities_stand_beside_others() -> None:
    found = sy.cross_assess({"svm": SVC(), "lda": RULES["lda"]}, X, Y, cv=5)
    assert found["svm"]["auc"].value > 0.9
    assert np.isnan(found["svm"]["log_score"].value)
    assert found["lda"]["auc"].value > 0.9
    assert found.folds("auc")["value"][1] > 0.9


CERTAIN = "no probabilities are given: each label is scored as a forecast that gives it probability 1"


@pytest.mark.parametrize(
    ("rule", "cv"), [(RidgeClassifier(), 5), (RidgeClassifier(), 30), (RidgeClassifier(), "loo"), (LinearSVC(), 5)]
)
def test_without_probabilities_the_predicted_class_is_a_forecast_of_1(rule: Any, cv: Any) -> None:
    """Scored as assess scores the labels that were predicted, in closed form or not."""
    wanted = ["brier_multiclass", "brier", "log_score", "log_score(clip=0.01)", "skill", "error"]
    found = sy.cross_assess({"rule": rule}, X[:, :2], NAMES, cv=cv, measures=wanted)["rule"]
    folds = LeaveOneOut() if cv == "loo" else cv
    same = sy.assess(NAMES, cross_val_predict(rule, X[:, :2], NAMES, cv=folds), measures=wanted)
    for name in wanted:
        assert (found[name].value, found[name].low) == pytest.approx((same[name].value, same[name].low), abs=1e-12)
    assert found["log_score"].value == np.inf
    assert found["brier_multiclass"].value == pytest.approx(2 * found["error"].value, abs=1e-12)
    assert CERTAIN in found.notes
    assert found.notes == same.notes


def test_beside_probabilities_too_and_the_note_says_whose() -> None:
    found = sy.cross_assess({"ridge": RidgeClassifier(), "lda": "lda"}, X, NAMES, cv=5, measures=["brier_multiclass"])
    alone = sy.cross_assess({"lda": "lda"}, X, NAMES, cv=5, measures=["brier_multiclass"])
    assert found["lda"]["brier_multiclass"] == alone["lda"]["brier_multiclass"]
    assert found.notes == [f"ridge: {CERTAIN}"]
    assert f"note: ridge: {CERTAIN}" in str(found)
    error = found["ridge"].by("error")["error"].value
    assert found["ridge"]["brier_multiclass"].value == pytest.approx(2 * error, abs=1e-12)
    assert found["ridge"].training is not None
    assert found["ridge"].training["brier_multiclass"].value > 0
    assert np.isfinite(found.differences("brier_multiclass")["p"][0])
    assert np.isfinite(found.folds("brier_multiclass")["value"]).all()
    assert np.isfinite(found.intervals("brier_multiclass", ["corrected", "nested"], rounds=1)["value"]).all()


def test_scores_go_on_to_rank_where_that_is_asked_for() -> None:
    """Whoever asks for both gets no Brier score of labels that the scores do not belong to."""
    plain = sy.cross_assess({"svm": LinearSVC()}, X, NAMES, cv=5, measures=["auc"])["svm"]["auc"]
    both = sy.cross_assess({"svm": LinearSVC(), "lda": "lda"}, X, NAMES, cv=5, measures=["auc", "brier"])
    assert both["svm"]["auc"] == plain
    assert np.isnan(both["svm"]["brier"].value)
    with pytest.raises(sy.SteelyardError, match=r"brier needs prob.*Ask for it apart from measures of ranking"):
        sy.cross_assess({"svm": LinearSVC()}, X, NAMES, cv=5, measures=["auc", "brier"])
    everything = sy.cross_assess({"svm": LinearSVC()}, X, NAMES, cv=5)["svm"]
    assert CERTAIN not in everything.notes
    assert everything["auc"] == plain


def test_labels_are_scored_beside_the_scores_of_others() -> None:
    """Of one that gives labels alone, nothing is ranked; scores that rank are no forecasts."""
    rules = {"hard": Labels(), "svm": LinearSVC(), "lda": "lda"}
    found = sy.cross_assess(rules, X, NAMES, cv=5, measures=["auc", "log_score"])
    assert np.isnan([found["hard"]["auc"].value, found["svm"]["log_score"].value]).all()
    assert (found["hard"]["log_score"].value, found["svm"]["auc"].value > 0.9) == (np.inf, True)
    assert found.notes == [f"hard: {CERTAIN}"]


def test_scores_are_ranked_where_nobody_has_probabilities() -> None:
    two = Y > 0
    found = sy.cross_assess({"svm": SVC(), "ridge": RidgeClassifier()}, X, two, cv=5, event=True)
    expected = cross_validate(SVC(), X, two, cv=5, scoring="roc_auc")["test_score"]
    rows = [row["value"] for row in found.folds("auc") if row["model"] == "svm"]
    assert rows == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("cv", [5, 30])
def test_one_score_a_class_ranks_several_classes(cv: int) -> None:
    rules = {"ridge": RidgeClassifier(), "svm": LinearSVC()}
    found = sy.cross_assess(rules, X, NAMES, cv=cv, measures=["auc", "error"])
    for name, rule in rules.items():
        scores = cross_val_predict(rule, X, NAMES, cv=cv, method="decision_function")
        each = [roc_auc_score(label == NAMES, scores[:, place]) for place, label in enumerate(np.unique(NAMES))]
        assert found[name]["auc"].value == pytest.approx(np.mean(each), abs=1e-10)
    mixed = sy.cross_assess({**rules, "lda": "lda"}, X, NAMES, cv=5, measures=["auc"])
    alone = sy.cross_assess(rules, X, NAMES, cv=5, measures=["auc"])
    assert [mixed[name]["auc"].value for name in rules] == [alone[name]["auc"].value for name in rules]
    pairs = sy.cross_assess({"pairs": SVC(decision_function_shape="ovo")}, X, NAMES, cv=5)
    with pytest.raises(sy.SteelyardError, match="auc needs scores"):
        pairs["pairs"]["auc"]


def test_scores_of_a_class_that_a_fold_has_not_seen_are_lowest() -> None:
    rare = np.where(np.arange(150) == 149, "rare", np.where(Y > 0, "others", "setosa"))
    found = sy.cross_assess({"svm": LinearSVC()}, X, rare, cv=5, measures=["auc"])
    assert found["svm"]["auc", "setosa"].value > 0.9
    assert found["svm"]["auc", "rare"].value == pytest.approx(0.5 * 29 / 149)  # a tie with the rows of its fold


def test_measured_truth_is_cut_and_regressors_learn_it() -> None:
    width, rest = X[:, 3], X[:, :3]
    cut = sy.Continuum([0.8, 1.7], ["short", "middle", "long"], sd=0.1)
    found = sy.cross_assess(
        {"lda": RULES["lda"], "cut": sy.CutClassifier(RULES["lda"], cut), "regression": LinearRegression()},
        rest,
        width,
        scale=cut,
        cv=5,
    )
    assert found["lda"]["adjusted_error"] == found["cut"]["adjusted_error"]
    folds = list(StratifiedKFold(5).split(rest, np.digitize(width, [0.8, 1.7])))
    predicted = cross_val_predict(LinearRegression(), rest, width, cv=folds)
    right = np.digitize(predicted, [0.8, 1.7]) == np.digitize(width, [0.8, 1.7])
    assert found["regression"]["accuracy"].value == pytest.approx(right.mean())


def test_rows_without_a_label_can_be_left_out() -> None:
    labels = [None if place in (3, 70) else name for place, name in enumerate(NAMES)]
    with pytest.raises(MissingValues, match="column 'y', row 3"):
        sy.cross_assess("lda", X, labels, cv=5)
    found = sy.cross_assess(["lda", "knn:1"], X, labels, cv=5, missing="drop")
    kept = np.delete(np.arange(150), [3, 70])
    assert found["lda"].dropped == 2
    assert found["lda"]["error"] == sy.cross_assess("lda", X[kept], NAMES[kept], cv=5)["lda"]["error"]
    assert set(found.deciding_rows("error", "lda", "knn:1", 150)["row"]) == set(kept)


def test_regressors_need_to_know_where_classes_are_cut() -> None:
    with pytest.raises(BadOption, match="LinearRegression predicts numbers, not classes"):
        sy.cross_assess("regression", X, Y)


@pytest.mark.parametrize(
    ("model", "kind"),
    [(KMeans(3), "clusterer"), (IsolationForest(), "outlier detector"), (GaussianMixture(3), "density estimator")],
)
def test_what_learns_no_classes_is_refused(model: Any, kind: str) -> None:
    # The numbers of clusters are those of classes, but mean something else.
    for estimator in (model, make_pipeline(StandardScaler(), model)):
        with pytest.raises(BadOption, match=rf"'it' learns no classes \({kind}\). Give a classifier"):
            sy.cross_assess({"it": estimator}, X, Y)


def test_rows_held_out_again_decide_once() -> None:
    found = sy.cross_assess(["lda", "tree"], X[:, :2], Y, cv=5, repeats=4)
    rows = found.deciding_rows("error", "lda", "tree", 150)
    assert len(set(rows["row"])) == len(rows)
    # A row that moves the difference is shown as it was when it did so, not as it was the first time.
    even = found.differences("error")["difference"][0] / 150
    moving = [row for row in rows if abs(row["effect"] + even) > 1e-9]
    assert len(moving) > 20
    assert all((row["lda"] == row["truth"]) != (row["tree"] == row["truth"]) for row in moving)
    assert found.mcnemar("lda", "tree").method == "chi-squared"
    assert "150 rows" in str(found)


def test_parts_of_rows_that_add_up_to_whole_ones_are_counted_as_such() -> None:
    found = sy.cross_assess(["lda", "knn:5"], X[:, :2], Y, cv=5, repeats=5, seed=2, training=False)
    test = found.mcnemar("lda", "knn:5")
    assert (test.only_a, test.only_b, test.method) == (11, 5, "exact")
    rows = found.deciding_patterns("error", "lda", "knn:5")["rows"]
    assert [each for each in rows if abs(each - round(each)) < 1e-6] == [2, 49, 29, 12]


def test_names_stand_for_classifiers() -> None:
    found = sy.cross_assess(["lda", "knn:3", "knn:3"], X, Y, cv=3)
    assert found.models == ("lda", "knn:3", "knn:3 2")
    assert sy.cross_assess(RULES["lda"], X, Y, cv=3).models == ("LinearDiscriminantAnalysis",)


# --- what goes wrong --------------------------------------------------------------------------------------------


def test_one_failed_fit_is_told_and_loses_nobody_else() -> None:
    found = sy.cross_assess({"broken": Broken(), "lda": RULES["lda"]}, X, Y, cv=5)
    assert found.models == ("lda",)
    assert [dict(failure) for failure in found.failures] == [
        {"model": "broken", "repeat": 0, "fold": 0, "problem": "RuntimeError: no first row"}
    ]
    note = "broken is left out: 1 of its fits failed; the first says RuntimeError: no first row"
    assert note in found.remarks
    assert note in str(found)


class Wordy(Broken):
    """Fails with a first line of so many words."""

    def __init__(self, words: int = 50) -> None:
        self.words = words

    def fit(self, x: Any, y: Any) -> Wordy:
        raise ValueError("words " * self.words + "and what to do")


def test_what_a_fit_says_is_not_cut_off() -> None:
    found = sy.cross_assess({"short": Wordy(40), "long": Wordy(500), "lda": RULES["lda"]}, X, Y, cv=3)
    assert found.remarks[0].endswith("says ValueError: " + "words " * 40 + "and what to do")
    assert found.remarks[1].endswith("words and what to do")
    assert len(found.remarks[1]) < 400


@pytest.mark.parametrize("says", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("rows", [100, 150])
def test_a_classifier_that_is_lost_for_an_answer_is_left_out(says: str, rows: int) -> None:
    """NaN passed for a score of two classes; of more, or among probabilities, nobody was assessed."""
    found = sy.cross_assess({"lost": Lost(says), "svm": "svm"}, X[:rows], Y[:rows], cv=5)
    assert found.models == ("svm",)
    assert f"the first says MissingValues: {says} gives no number in 1 of {rows // 5} rows" in found.remarks[0]


class Unsummed(LinearDiscriminantAnalysis):  # type: ignore[misc]
    """Gives half of every probability."""

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) / 2


def test_so_is_one_whose_probabilities_are_none() -> None:
    """But where nobody asks for them, it has its counts."""
    rules = {"half": Unsummed(), "lda": RULES["lda"]}
    found = sy.cross_assess(rules, X, Y, cv=5)
    assert found.models == ("lda",)
    assert "half is left out: 5 of its fits failed; the first says SumNotOne: predict_proba gives" in found.remarks[0]
    assert "the probabilities add up to 0.5, not 1. Mend it, or" in found.remarks[0]
    assert sy.cross_assess(rules, X, Y, cv=5, measures=["error"]).models == ("half", "lda")


def test_so_is_one_that_has_a_closed_form() -> None:
    """A variance of nothing leaves no probability."""
    flat = np.column_stack([X, np.ones(len(X))])
    rules = {"bayes": GaussianNB(var_smoothing=0.0), "prior": "prior"}
    with np.errstate(all="ignore"):
        found = sy.cross_assess(rules, flat, Y, cv="loo", measures=["brier"])
    assert found.models == ("prior",)
    assert "of its fits failed; the first says MissingValues: predict_proba gives no number" in found.remarks[0]


def test_where_all_fail_that_is_an_error() -> None:
    with pytest.raises(FailedFits, match="the fit of fold 0 of 'broken' says RuntimeError: no first row"):
        sy.cross_assess({"broken": Broken()}, X, Y, cv=5)


def test_warnings_are_counted_not_printed() -> None:
    found = sy.cross_assess({"hasty": LogisticRegression(max_iter=2)}, X, Y, cv=5)
    assert any(note.startswith("hasty: 5 fits warn: ConvergenceWarning") for note in found.remarks)


def test_rare_classes_are_told_of() -> None:
    some = np.r_[0:50, 50:60, 100:103]
    found = sy.cross_assess("lda", X[some], NAMES[some], cv=5)
    assert "fewer rows than the 5 folds: 'virginica'; some folds are without them" in found.remarks
    alone = np.r_[0:50, 50:60, 100]
    found = sy.cross_assess("lda", X[alone], NAMES[alone], cv=5)
    assert "1 of 5 fits had no row of 'virginica' to learn it from" in found.remarks
    assert found["lda"]["sensitivity", "virginica"].value == 0


def test_gaps_name_row_and_column_unless_they_can_be_filled() -> None:
    gappy = X.copy()
    gappy[7, 2] = np.nan
    with pytest.raises(MissingValues, match=r"column 'X\[2\]', row 7: .* 'lda' needs all of them"):
        sy.cross_assess({"lda": RULES["lda"]}, gappy, Y)
    scaled = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    with pytest.raises(MissingValues, match=r"column 'X\[2\]', row 7: .* 'scaled' needs all of them"):
        sy.cross_assess({"scaled": scaled}, gappy, Y)
    filled = make_pipeline(SimpleImputer(), LinearDiscriminantAnalysis())
    assert sy.cross_assess({"filled": filled}, gappy, Y)["filled"].n == 150
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(gappy, columns=["a", "b", "petal", "d"])
    with pytest.raises(MissingValues, match="column 'petal', row 7"):
        sy.cross_assess({"lda": RULES["lda"]}, frame, Y)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"X": X[:-1]}, UnequalLengths, "column 'X': 149 rows, but 'y' has 150"),
        ({"X": X[:, 0]}, BadOption, r"X has the shape \(150,\)"),
        ({"y": np.zeros(150, dtype=int)}, OneClass, "only one class"),
        ({"cv": 1}, BadOption, "1 folds of 150 rows"),
        ({"cv": 51}, BadOption, "51 folds, and no class has more than 50 rows"),
        ({"cv": "often"}, BadOption, "cv is 'often'"),
        ({"cv": True}, BadOption, "cv is True"),
        ({"cv": None}, BadOption, "cv is None"),
        ({"cv": 1.5}, BadOption, "cv is 1.5"),
        ({"cv": []}, BadOption, "gives no split"),
        ({"cv": [(np.arange(149), [150])]}, BadOption, "a split names row 150 of 150"),
        ({"cv": [(np.arange(149), [3])]}, BadOption, "split 0 holds out rows that it is fitted to, row 3"),
        ({"cv": [(np.arange(149), [])]}, BadOption, "split 0 has no rows to hold out"),
        ({"cv": [np.arange(149)]}, BadOption, "a split is no pair"),
        ({"cv": [([0.5, 1.5], [3])]}, BadOption, "does not hold row numbers"),
        ({"cv": KFold(3), "repeats": 2}, BadOption, "repeats= needs a number of folds"),
        ({"repeats": 0}, BadOption, "repeats is 0"),
        ({"seed": -1}, BadOption, "seed is -1"),
        ({"estimators": {}}, BadOption, "there is no classifier"),
        ({"estimators": {"a": LinearDiscriminantAnalysis}}, BadOption, "'a' is no estimator"),
        ({"estimators": ["ldaa"]}, BadOption, "there is no classifier 'ldaa'"),
        ({"estimators": ["lda:3"]}, BadOption, "'lda:3' cannot be read"),
        ({"estimators": ["knn:0.5"]}, BadOption, "0.5 is no number"),
        ({"estimators": ["knn:inf"]}, BadOption, "inf is no number"),
        ({"estimators": {1: "lda", "1": "qda"}}, BadOption, "the same name as text"),
        ({"groups": np.arange(149)}, UnequalLengths, "column 'groups': 149 rows"),
        ({"groups": np.arange(150) // 75, "cv": 3}, BadOption, "3 folds of 2 groups"),
        ({"groups": np.zeros(150), "cv": "loo"}, BadOption, "split 0 has no rows to fit to"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    given: dict[str, Any] = {"estimators": "lda", "X": X, "y": Y, "cv": 3, **options}
    with pytest.raises(error, match=message):
        sy.cross_assess(**given)


class Plain:
    """A rule that knows nothing of scikit-learn, and does not give itself back."""

    def fit(self, x: Any, y: Any) -> None:
        self.usual = y[0]

    def predict(self, x: Any) -> Any:
        return np.full(len(x), self.usual)


def test_to_fit_and_to_predict_is_all_that_is_asked_of_a_rule() -> None:
    found = sy.cross_assess({"plain": Plain(), "lda": "lda"}, X, NAMES, cv=3)
    assert found["plain"]["error"].value == pytest.approx(2 / 3)
    cut = sy.Continuum([0.8, 1.7], ["short", "middle", "long"])
    assert sy.cross_assess({"plain": Plain()}, X[:, :3], X[:, 3], scale=cut, cv=3)["plain"].n == 150


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_rules_that_do_not_speak_of_every_row_are_named(method: str) -> None:
    class Short(LinearDiscriminantAnalysis):  # type: ignore[misc]
        pass

    setattr(Short, method, lambda rule, x: getattr(LinearDiscriminantAnalysis, method)(rule, x)[:-2])
    with pytest.raises(FailedFits, match=f"{'prediction' if method == 'predict' else method}.*48 rows, but 'X' has 50"):
        sy.cross_assess({"short": Short()}, X, NAMES, cv=3)


def test_one_class_alone_cannot_be_told_apart() -> None:
    with pytest.raises(OneClass, match="all rows are of the class 'no', and 'lda' tells classes apart"):
        sy.cross_assess("lda", X, np.full(150, "no"), scale=sy.Scale(["no", "yes"]), cv=3)
    cut = sy.Continuum([100.0], ["low", "high"])
    assert sy.cross_assess(LinearRegression(), X[:, :3], X[:, 3], scale=cut, cv=3, measures=["error"]).models


def test_too_few_rows_for_any_folds_are_told_so() -> None:
    with pytest.raises(BadOption, match=r"no class has more than 1 row.*two of a class at least"):
        sy.cross_assess("lda", X[[0, 60]], NAMES[[0, 60]], cv=2)


def test_probabilities_that_are_none_are_refused() -> None:
    class Odd(LinearDiscriminantAnalysis):  # type: ignore[misc]
        def predict_proba(self, x: Any) -> Any:
            return 2 * super().predict_proba(x)

    with pytest.raises(sy.SteelyardError, match="odd"):
        sy.cross_assess({"odd": Odd()}, X, Y, cv=3)


def test_folds_of_one_row_have_no_values_of_their_own() -> None:
    with pytest.raises(BadOption, match="every fold has one row"):
        sy.cross_assess("lda", X, Y, cv="loo").folds("error")


# --- what classifiers cannot learn from -------------------------------------------------------------------------


def patients() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(4)
    columns = {"age": random.normal(50.0, 15.0, 90), "sex": random.choice(["f", "m"], 90), "site": ["a", "b"] * 45}
    frame = pd.DataFrame(columns)
    return frame, np.where(random.random(90) < 0.3 + 0.4 * (frame.sex == "m"), "ill", "well")


def test_an_arrow_table_is_learned_from_as_an_array_is() -> None:
    x, truth = np.random.default_rng(5).normal(size=(40, 2)), ["a", "b"] * 20
    found = sy.cross_assess("lda", pa.table({"u": x[:, 0], "v": x[:, 1]}), truth, cv=4)
    assert found["lda"]["error"] == sy.cross_assess("lda", x, truth, cv=4)["lda"]["error"]
    x[3, 1] = np.nan
    with pytest.raises(MissingValues, match="column 'v', row 3"):
        sy.cross_assess("lda", pa.table({"u": x[:, 0], "v": x[:, 1]}), truth, cv=4)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_words_are_named_with_a_mend_that_works(library: Any) -> None:
    frame, truth = patients()
    with pytest.raises(NotNumbers, match=r"column 'sex': it holds words, and 'lda' learns.*\['sex', 'site'\]"):
        sy.cross_assess("lda", library(frame.to_dict("list")), truth, cv=3)
    coded = make_column_transformer((OneHotEncoder(), ["sex", "site"]), remainder="passthrough")
    found = sy.cross_assess({"coded": make_pipeline(coded, LogisticRegression())}, frame, truth, cv=3)
    assert found["coded"]["error"].value < 0.5


def test_who_does_not_look_at_the_columns_may_have_any() -> None:
    frame, truth = patients()
    frame.loc[3, "age"] = np.nan
    found = sy.cross_assess("prior", frame, truth, cv=3)
    assert found["prior"]["error"].value == pytest.approx(np.mean(truth != pd.Series(truth).mode()[0]))
    with pytest.raises(MissingValues, match="column 'age', row 3"):
        sy.cross_assess("lda", frame[["age"]], truth, cv=3)


def test_categories_are_left_to_classifiers_that_know_them() -> None:
    frame, truth = patients()
    found = sy.cross_assess("boosting", frame.assign(sex=frame.sex.astype("category"))[["age", "sex"]], truth, cv=3)
    assert 0 < found["boosting"]["error"].value < 0.6


@pytest.mark.parametrize("place", [3, -1, "first"])
def test_a_split_that_there_is_not_is_refused(place: Any) -> None:
    found = sy.cross_assess("lda", X, Y, cv=3, measures=["error"])
    assert found.fold(2)["lda"].n == 50
    with pytest.raises(UnknownPart, match="There are 0 to 2"):
        found.fold(place)


@pytest.mark.parametrize("how", [{"repeats": 3}, {"cv": sy.Bootstrap(50)}])
def test_rows_that_are_held_out_several_times_are_whole_rows(how: dict[str, Any]) -> None:
    found = sy.cross_assess("lda", X, Y, seed=1, closed=False, measures=["error"], **how)
    seen = found["lda"].training
    assert seen is not None
    assert found["lda"].n == found["lda"]["error"].n == found.tally.rows == seen.n == 150

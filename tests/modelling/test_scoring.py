"""Every measure as a score for scikit-learn: the value that assess gives, turned so that greater is better."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steelyard import Continuum, Scale, all_measures, assess, find
from steelyard.core.errors import (
    BadOption,
    MissingValues,
    NoVariance,
    UnboundClasses,
    UndefinedValue,
    UnknownLabel,
    UnknownMeasure,
    UnusableLabels,
    WrongShape,
)
from steelyard.modelling.cut_rules import CutClassifier, RegressionRule
from steelyard.modelling.scoring import Scorer, scorer
from steelyard.states.statistics import CALIBRATION, CONTINUUM, FORECASTS, RANKING

# Names that do not sort in the order of the classes: what goes by order and not by name is wrong.
THREE = Continuum([0.0, 1.0], ["low", "mid", "high"], sd=0.2)
SCORED = [name for name, entry in all_measures().items() if entry.better != "neither"]
COSTS = {true: {said: abs(i - j) * 2.0 for j, said in enumerate(THREE.classes)} for i, true in enumerate(THREE.classes)}
NEEDED: dict[str, dict[str, Any]] = {
    "cost": {"costs": COSTS},
    "decision_cost": {"costs": COSTS},
    "precision_at": {"prevalence": 0.2},
    "npv_at": {"prevalence": 0.2},
}


def measured(rows: int = 150, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    covariates = random.normal(size=(rows, 3))
    return covariates, covariates[:, 0] + covariates[:, 1] ** 2 / 2 + random.normal(0, 0.3, rows)


X, Z = measured()
Y = np.asarray(THREE.classes)[THREE.cut(Z)]


def response(covariates: Any) -> tuple[Any, Any]:
    return covariates[:, 0] + covariates[:, 1] ** 2 / 2, np.full(len(covariates), 0.3)


def options(name: str) -> dict[str, Any]:
    known = {"sd_response": 0.3, "response": response} if all_measures()[name].statistic is CONTINUUM else {}
    return NEEDED.get(name, {}) | known


def said_by(estimator: Any, name: str, covariates: Any) -> Any:
    if all_measures()[name].statistic in (RANKING, FORECASTS, CALIBRATION):
        return dict(zip(estimator.classes_, estimator.predict_proba(covariates).T, strict=True))
    return estimator.predict(covariates)


# --- all measures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORED)
def test_the_score_is_the_measure_turned_to_the_better(name: str) -> None:
    rule = CutClassifier(GaussianNB(), THREE).fit(X[::2], Z[::2])
    score = scorer(name, scale=THREE, **options(name))
    entry = find(name, **NEEDED.get(name, {}))
    known: dict[str, Any] = {"sd_response": 0.3, "response": response(X)} if entry.statistic is CONTINUUM else {}
    expected = assess(Z, said_by(rule, name, X), scale=THREE, measures=[entry], **known)[entry].value
    assert np.isfinite(expected)
    expected = expected if entry.better == "higher" else -expected
    assert score(rule, X, Z) == expected
    assert pickle.loads(pickle.dumps(score))(rule, X, Z) == expected  # noqa: S301  (our own)
    folds = cross_val_score(CutClassifier(GaussianNB(), THREE), X, Z, scoring=score, cv=2, error_score="raise")
    assert folds.shape == (2,)
    assert not np.isnan(folds).any()


@pytest.mark.parametrize("name", [name for name in SCORED if all_measures()[name].statistic is not CONTINUUM])
def test_labels_are_scored_as_well_as_measured_values(name: str) -> None:
    plain = GaussianNB().fit(X[::2], Y[::2])
    score = scorer(name, scale=Scale(THREE.classes), **options(name))
    rule = CutClassifier(GaussianNB(), THREE).fit(X[::2], Z[::2])
    assert score(plain, X, Y) == pytest.approx(scorer(name, **options(name))(rule, X, Z), rel=1e-12)
    weight = np.arange(len(Z)) % 3
    rows = np.repeat(np.arange(len(Z)), weight)
    score = scorer(name, scale=Scale(THREE.classes), weight_kind="frequency", **options(name))
    assert score(plain, X, Y, sample_weight=weight) == pytest.approx(score(plain, X[rows], Y[rows]), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in SCORED if all_measures()[name].statistic is CONTINUUM])
def test_measured_values_can_be_weighed(name: str) -> None:
    rule = CutClassifier(GaussianNB(), THREE).fit(X[::2], Z[::2])
    weight = np.arange(len(Z)) % 3
    rows = np.repeat(np.arange(len(Z)), weight)
    score = scorer(name, **options(name))
    assert score(rule, X, Z, sample_weight=weight) == pytest.approx(score(rule, X[rows], Z[rows]), rel=1e-9)


@pytest.mark.parametrize("name", [name for name in all_measures() if name not in SCORED])
def test_what_has_no_better_end_is_no_score(name: str) -> None:
    with pytest.raises(BadOption, match="no value of it is better than another"):
        scorer(name)


@pytest.mark.parametrize("name", list(NEEDED))
def test_what_a_measure_needs_is_asked_for(name: str) -> None:
    with pytest.raises(UnknownMeasure, match=f"needs '{next(iter(NEEDED[name]))}'"):
        scorer(name)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("accuracy", "accuracy"),
        ("balanced_accuracy", "balanced_accuracy"),
        ("mcc", "matthews_corrcoef"),
        ("f1", "f1_macro"),
        ("auc", "roc_auc_ovr"),
        ("hand_till_auc", "roc_auc_ovo"),
        ("log_score", "neg_log_loss"),
    ],
)
def test_scikit_learn_has_the_same_of_some(name: str, theirs: str) -> None:
    model = GaussianNB().fit(X[::2], Y[::2])
    assert scorer(name)(model, X, Y) == pytest.approx(get_scorer(theirs)(model, X, Y), abs=1e-12)


# --- in scikit-learn's tools ----------------------------------------------------------------------------------


def test_a_search_finds_what_a_measure_likes_best() -> None:
    rule = CutClassifier(KNeighborsClassifier(), THREE)
    grid = {"estimator__n_neighbors": [1, 5, 15]}
    scoring = {name: scorer(name, scale=THREE) for name in ("error", "apparent_sqerr", "brier_multiclass", "auc")}
    search = GridSearchCV(rule, grid, scoring=scoring, refit="apparent_sqerr", cv=4).fit(X, Z)
    assert search.best_index_ == int(np.argmax(search.cv_results_["mean_test_apparent_sqerr"]))
    alone = GridSearchCV(rule, grid, scoring=scorer("apparent_sqerr"), cv=4).fit(X, Z)
    assert_allclose(alone.cv_results_["mean_test_score"], search.cv_results_["mean_test_apparent_sqerr"])
    assert alone.score(X, Z) == -assess(Z, alone.predict(X), scale=THREE)["apparent_sqerr"].value
    clone(alone).fit(X, Z)
    assert cross_val_score(alone, X, Z, scoring=scorer("error"), cv=3).max() < 0, "a search is what it has found"


@pytest.mark.parametrize("several", [True, False])
def test_a_search_weighs_rows_in_its_scores_too(several: bool) -> None:
    weight = np.where(Z > 0, 1.0, 1e-6)
    rule, score = CutClassifier(GaussianNB(), THREE), scorer("accuracy")
    scoring: Any = {"a": score, "b": scorer("error")} if several else score
    search = GridSearchCV(
        rule, {"estimator__var_smoothing": [1e-9]}, scoring=scoring, refit="a" if several else True, cv=2
    )
    found = search.fit(X, Z, sample_weight=weight).cv_results_[f"split0_test_{'a' if several else 'score'}"][0]
    half = len(Z) // 2
    fitted = clone(rule).fit(X[half:], Z[half:], sample_weight=weight[half:])
    assert found == pytest.approx(score(fitted, X[:half], Z[:half], weight[:half]))
    assert found != pytest.approx(score(fitted, X[:half], Z[:half]))


@pytest.mark.parametrize("wanted", [True, False, "mass"])
def test_weights_are_routed_where_they_are_asked_for(wanted: bool | str) -> None:
    half, weight = len(Z) // 2, np.where(Z > 0, 1.0, 1e-6)
    name = "mass" if wanted == "mass" else "sample_weight"
    with sklearn.config_context(enable_metadata_routing=True):
        score = scorer("accuracy").set_score_request(sample_weight=wanted)
        rule = CutClassifier(GaussianNB(), THREE).set_fit_request(sample_weight=name)
        for scoring in (score, {"score": score}):
            found = cross_validate(rule, X, Z, scoring=scoring, cv=2, params={name: weight})["test_score"][0]
            fitted = clone(rule).fit(X[half:], Z[half:], sample_weight=weight[half:])
            expected = score(fitted, X[:half], Z[:half], weight[:half] if wanted else None)
            assert found == pytest.approx(expected)


def test_a_scorer_can_be_copied_and_told_from_others() -> None:
    water = Continuum([65.0], ["dry", "wet"], sd=0.22)
    score = scorer("apparent_sqerr", scale=water)
    assert repr(score).startswith("scorer('apparent_sqerr', scale=Continuum(classes=('dry', 'wet')")
    assert repr(score).endswith(": minus apparent sqerr")
    assert repr(scorer("fbeta", beta=0.5, part="macro")) == "scorer('fbeta(beta=0.5)', part='macro'): F-beta"
    assert repr(scorer("fbeta(beta=0.5)", event=1)) == "scorer('fbeta(beta=0.5)', event=1): F-beta"
    assert "costs={'low'" in repr(scorer("cost", costs=COSTS))
    assert repr(copy.deepcopy(score)) == repr(score)
    assert isinstance(score, Scorer)


def test_a_measure_of_ones_own_is_a_score() -> None:
    own = find("fbeta", beta=3.0)
    assert scorer(own)(GaussianNB().fit(X, Y), X, Y) == scorer("fbeta", beta=3)(GaussianNB().fit(X, Y), X, Y)


# --- classes, events and parts --------------------------------------------------------------------------------


def test_columns_are_bound_by_name() -> None:
    """A scale in another order than the estimator's classes, which are sorted."""
    model = GaussianNB().fit(X, Y)
    assert list(model.classes_) == ["high", "low", "mid"]
    for name in ("log_score", "brier_multiclass", "auc"):
        orders = [Scale(order) for order in (["low", "mid", "high"], ["mid", "high", "low"])]
        sorted_, *others = (scorer(name, scale=scale)(model, X, Y) for scale in [None, *orders])
        assert others == pytest.approx([sorted_] * 2, rel=1e-14)  # sums in another order are rounded differently
    orders = [Scale(order) for order in (["low", "mid", "high"], ["mid", "low", "high"])]
    ordered = [scorer("ranked_probability_score", scale=scale)(model, X, Y) for scale in orders]
    assert ordered[0] != ordered[1]


@pytest.mark.parametrize("name", ["sensitivity", "brier", "auc", "precision"])
def test_a_part_of_a_measure_can_be_the_score(name: str) -> None:
    model = GaussianNB().fit(X, Y)
    result = assess(Y, said_by(model, name, X), scale=Scale(["high", "low", "mid"]))
    for part in ("low", "mid", "macro", "weighted"):
        sign = -1 if name == "brier" else 1
        assert scorer(name, part=part)(model, X, Y) == pytest.approx(sign * result[name, part].value)
    assert scorer(name, event="mid")(model, X, Y) == pytest.approx(sign * result[name, "mid"].value)
    with pytest.raises(UnknownLabel, match="nowhere"):
        scorer(name, part="nowhere")(model, X, Y)


def test_the_event_of_zero_and_one_is_one() -> None:
    truth = (Z > 0.8).astype(int)
    model = GaussianNB().fit(X, truth)
    said = model.predict(X)
    assert scorer("sensitivity")(model, X, truth) == (said[truth == 1] == 1).mean()
    assert scorer("sensitivity", event=0)(model, X, truth) == (said[truth == 0] == 0).mean()
    assert scorer("f1")(model, X, truth) == pytest.approx(get_scorer("f1")(model, X, truth))
    assert scorer("auc")(model, X, truth.astype(float)) == pytest.approx(get_scorer("roc_auc")(model, X, truth))
    assert scorer("auc")(model, X, truth.astype(bool)) == pytest.approx(get_scorer("roc_auc")(model, X, truth))


def test_folds_may_miss_a_class_in_training_or_in_the_test() -> None:
    seen = Y != "mid"
    model = GaussianNB().fit(X[seen], Y[seen])
    assert scorer("accuracy")(model, X, Y) == (model.predict(X) == Y).mean()
    assert scorer("log_score")(model, X, Y) == -np.inf
    wide = {label: np.zeros(len(Y)) for label in THREE.classes}
    wide |= dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    assert scorer("brier_multiclass")(model, X, Y) == pytest.approx(
        -assess(Y, wide)["brier_multiclass"].value, rel=1e-14
    )
    whole = GaussianNB().fit(X, Y)
    only = Y == "low"
    assert scorer("accuracy")(whole, X[only], Y[only]) == (whole.predict(X[only]) == "low").mean()
    assert np.isnan(scorer("auc")(whole, X[only], Y[only]))
    assert scorer("auc", undefined=0.5)(whole, X[only], Y[only]) == 0.5
    with pytest.raises(UndefinedValue):
        scorer("auc", undefined="error")(whole, X[only], Y[only])


def test_a_score_alone_is_enough_to_rank_two_classes() -> None:
    truth = np.where(Z > 0.8, "a", "b")
    for model in (LinearSVC(), make_pipeline(StandardScaler(), LinearSVC())):
        model.fit(X, truth)
        expected = get_scorer("roc_auc")(model, X, truth)
        assert scorer("auc")(model, X, truth) == pytest.approx(expected)
        assert scorer("auc", event="a")(model, X, truth) == pytest.approx(expected)
    rule = RegressionRule(LinearRegression(), Continuum([0.8], ["low", "high"])).fit(X, Z)
    assert scorer("auc")(rule, X, Z) == pytest.approx(
        assess(Z > 0.8, rule.predict_response(X), measures=["auc"])["auc"].value
    )


def test_one_score_a_class_is_enough_to_rank_several() -> None:
    for model in (LinearSVC(), make_pipeline(StandardScaler(), SVC())):
        said = model.fit(X, Y).decision_function(X)
        each = [roc_auc_score(label == Y, said[:, place]) for place, label in enumerate(model.classes_)]
        assert scorer("auc")(model, X, Y) == pytest.approx(np.mean(each))
        assert scorer("auc", part=Y[0])(model, X, Y) == pytest.approx(each[list(model.classes_).index(Y[0])])


def test_rules_bring_their_continuum_along() -> None:
    rules: list[Any] = [
        CutClassifier(GaussianNB(), THREE),
        make_pipeline(StandardScaler(), CutClassifier(GaussianNB(), THREE)),
        RegressionRule(BayesianRidge(), THREE),
    ]
    for rule in rules:
        rule.fit(X, Z)
        for name in ("error", "adjusted_error", "brier_multiclass"):
            assert scorer(name)(rule, X, Z) == scorer(name, scale=THREE)(rule, X, Z)
    assert scorer("adjusted_error", sd=0.4)(rules[0], X, Z) != scorer("adjusted_error")(rules[0], X, Z)


def test_a_response_model_may_be_a_fitted_regressor() -> None:
    rule = CutClassifier(GaussianNB(), THREE).fit(X[::2], Z[::2])
    model = BayesianRidge().fit(X[::2], Z[::2])
    mean, told = model.predict(X, return_std=True)
    response = mean, np.sqrt(told**2 - 0.2**2)  # told is how sure a measurement is
    for name in ("guarded_error", "posterior_sqerr", "model_error"):
        expected = assess(Z, rule.predict(X), scale=THREE, response=response, measures=[name])
        assert scorer(name, response=model)(rule, X, Z) == pytest.approx(-expected[name].value, rel=1e-9)
    if_sd = assess(Z, rule.predict(X), scale=THREE, sd=0.1, response=(mean, np.sqrt(told**2 - 0.01)))
    assert scorer("guarded_error", sd=0.1, response=model)(rule, X, Z) == pytest.approx(-if_sd["guarded_error"].value)


def test_a_fitted_regressor_that_tells_less_than_measurements_scatter_leaves_no_variance() -> None:
    rule = CutClassifier(GaussianNB(), THREE).fit(X[::2], Z[::2])
    model = BayesianRidge().fit(X[::2], Z[::2])
    sure = assess(Z, rule.predict(X), scale=THREE, sd=50.0, response=(model.predict(X), 1e-6))
    found = scorer("model_error", sd=50.0, response=model)(rule, X, Z)
    assert found == pytest.approx(-sure["model_error"].value, abs=1e-3)


def test_frames_and_series_are_taken() -> None:
    frame, truth = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(Y, index=np.arange(len(Y))[::-1])
    model = GaussianNB().fit(frame, truth)
    assert scorer("kappa")(model, frame, truth) == scorer("kappa")(model, frame, Y)


# --- bad input ------------------------------------------------------------------------------------------------


def test_what_an_estimator_does_not_have_is_named() -> None:
    two = LinearSVC().fit(X, Z > 0)
    three = LinearSVC().fit(X, Y)
    for name in ("brier", "log_score", "calibration_error", "skill"):
        with pytest.raises(UnknownMeasure, match=f"{name} needs probabilities, and LinearSVC has no .*Calibrated"):
            scorer(name)(two, X, Z > 0)
    pairs = SVC(decision_function_shape="ovo").fit(X, Y)
    for name, model in (("brier_multiclass", three), ("auc", pairs)):
        with pytest.raises(UnknownMeasure, match=f"{name} needs probabilities, and {type(model).__name__}"):
            scorer(name)(model, X, Y)

    class Assigns(BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict(self, X: Any) -> Any:
            return np.where(X[:, 0] > 0, "high", "low")

    with pytest.raises(UnknownMeasure, match="auc needs scores, and Assigns has no predict_proba"):
        scorer("auc")(Assigns(), X, Y)
    assert scorer("error")(Assigns(), X, Y) == -(Assigns().predict(X) != Y).mean()

    class Nameless(Assigns):
        def predict_proba(self, X: Any) -> Any:
            return np.full((len(X), 3), 1 / 3)

    with pytest.raises(UnknownMeasure, match="Nameless has no classes_"):
        scorer("brier", scale=THREE)(Nameless(), X, Z)


def test_tables_of_another_shape_are_refused() -> None:
    class Narrow(GaussianNB):  # type: ignore[misc]
        def predict_proba(self, X: Any) -> Any:
            return super().predict_proba(X)[:, :2]

    with pytest.raises(WrongShape, match=r"\(150, 2\) for 3 classes"):
        scorer("brier")(Narrow().fit(X, Y), X, Y)


def test_numbers_are_no_classes() -> None:
    model = LinearRegression().fit(X, Z)
    for name, scale in (("error", THREE), ("apparent_sqerr", Continuum([0], [0, 1]))):
        with pytest.raises(BadOption, match=r"LinearRegression predicts numbers.*RegressionRule"):
            scorer(name, scale=scale)(model, X, Z)
    with pytest.raises(UnusableLabels, match="Continuum"):
        scorer("error")(model, X, Z)


def test_measured_values_are_not_labels() -> None:
    model = GaussianNB().fit(X, Y)
    with pytest.raises(UnusableLabels, match="Continuum"):
        scorer("error")(model, X, Z)
    with pytest.raises(UnknownMeasure, match="needs a truth that was measured"):
        scorer("apparent_sqerr")(model, X, Y)
    with pytest.raises(UnknownMeasure, match="adjusted_error needs sd"):
        scorer("adjusted_error", scale=THREE.but(sd=None))(model, X, Z)
    with pytest.raises(UnknownMeasure, match="needs sd_response"):
        scorer("smoothed_error", scale=THREE)(model, X, Z)
    with pytest.raises(UnknownMeasure, match="needs response"):
        scorer("guarded_error", scale=THREE)(model, X, Z)
    with pytest.raises(MissingValues, match="row 3"):
        scorer("error", scale=THREE)(model, X, np.where(np.arange(len(Z)) == 3, np.nan, Z))
    with pytest.raises(BadOption, match="not measured"):
        scorer("error", sd=0.2)(model, X, Y)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: scorer("eror"), UnknownMeasure, "Did you mean 'error'"),
        (lambda: scorer("error", beta=2), UnknownMeasure, "no parameter 'beta'"),
        (lambda: scorer("error", scale=["a", "b"]), BadOption, "scale is"),  # type: ignore[arg-type]
        (lambda: scorer("adjusted_error", scale=THREE, sd=np.full(150, 0.2)), BadOption, "sd is said row by row"),
        (lambda: scorer("adjusted_error", scale=THREE.but(sd=np.full(150, 0.2))), BadOption, "sd is said row by row"),
        (lambda: scorer("smoothed_error", sd_response=[0.2]), BadOption, "sd_response is said row by row"),
        (lambda: scorer("model_error", response=(Z, Z)), BadOption, "response is said row by row"),
        (lambda: scorer("model_error", response=BayesianRidge()), BadOption, r"BayesianRidge\(\), which is not fitted"),
        (lambda: scorer("model_error", response=Ridge().fit(X, Z)), NoVariance, "Ridge does not tell how sure"),
        (lambda: scorer("guarded_error", scale=THREE), UnknownMeasure, "needs response. Give response=, a function"),
        (lambda: scorer("smoothed_error"), UnknownMeasure, "needs sd_response"),
        (lambda: scorer("adjusted_error", scale=THREE.but(sd=None)), UnknownMeasure, "needs sd. Give sd=0.22"),
    ],
)
def test_bad_options_are_refused_when_the_scorer_is_made(make: Callable[[], Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_an_event_that_is_no_class_is_refused() -> None:
    with pytest.raises(UnknownLabel, match="'nope'"):
        scorer("f1", event="nope")(GaussianNB().fit(X, Y), X, Y)
    named = np.where(Z > 0, "a", "b")
    for model in (LinearSVC(), GaussianNB()):
        with pytest.raises((UnknownLabel, UnboundClasses)):
            scorer("auc", scale=Scale(["a", "b"], "b"))(model.fit(X, (Z > 0).astype(int)), X, named)


def test_a_dummy_and_a_tree_have_scores_too() -> None:
    for model in (DummyClassifier(strategy="prior"), DecisionTreeClassifier(max_depth=1)):
        found = cross_validate(model, X, Y, scoring={name: scorer(name) for name in ("brier", "kappa", "auc")}, cv=3)
        assert all(np.isfinite(found[f"test_{name}"]).all() for name in ("brier", "kappa", "auc"))

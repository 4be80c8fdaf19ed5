"""Rules that learn from measured values: scikit-learn's own tools work with y = z, and bad input is named."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from steelyard import Continuum, assess, fit_response, scorer
from steelyard.core.errors import (
    BadOption,
    BadWeights,
    MissingValues,
    NotNumbers,
    OutsideContinuum,
    SteelyardError,
    UnequalLengths,
    UnusableLabels,
    WrongShape,
)
from steelyard.maths.kernels import class_probabilities
from steelyard.modelling.cut_rules import CutClassifier, RegressionRule
from tests.effort import FULL

Data = tuple[NDArray[np.float64], NDArray[np.float64]]
THREE = Continuum([0.0, 1.0], ["low", "mid", "high"], closed="right")
# Names that do not sort in the order of the classes: what sorts them notices.
TWO = Continuum([0.3], ["wet", "dry"], closed="right")


def measured(rows: int = 120, seed: int = 0) -> Data:
    random = np.random.default_rng(seed)
    covariates = random.normal(size=(rows, 3))
    return covariates, covariates[:, 0] + covariates[:, 1] ** 2 / 2 + random.normal(0, 0.3, rows)


@pytest.fixture
def data() -> Data:
    return measured()


def labels(continuum: Continuum, values: Any) -> NDArray[Any]:
    return np.asarray(continuum.classes)[continuum.cut(values)]


# --- as scikit-learn sees them --------------------------------------------------------------------------------

DIGITS = Continuum([0.5, 1.5, 2.5], [0, 1, 2, 3])
RULES = [
    CutClassifier(LogisticRegression(), DIGITS),
    CutClassifier(DecisionTreeClassifier(random_state=0), DIGITS),
    RegressionRule(LinearRegression(), DIGITS),
    RegressionRule(BayesianRidge(), DIGITS),
    RegressionRule(Ridge(), DIGITS, spread="residual"),
    RegressionRule(DecisionTreeRegressor(random_state=0), DIGITS),
]
# Of the rules of each class, those around trees have a turn by make study.
CHECKED = [rule for rule in RULES if FULL or "Tree" not in str(rule)]
NO_CLASSIFIER = "takes all that has predict_proba for a classifier, and asks for the tags that classifiers have"


def expected_failures(rule: Any) -> dict[str, str]:
    if not hasattr(rule, "predict_proba") or not rule.__sklearn_tags__().input_tags.sparse:
        return {}
    return {"check_estimator_sparse_array": NO_CLASSIFIER, "check_estimator_sparse_matrix": NO_CLASSIFIER}


@pytest.mark.study
@pytest.mark.filterwarnings("ignore")  # the checks feed what estimators within warn of
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn_finds_nothing_to_object_to(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("rule", RULES)
def test_folds_are_not_stratified_by_what_was_measured(rule: Any) -> None:
    assert not is_classifier(rule)
    covariates, values = measured()
    whole = np.round(2 * values)  # a classifier would get folds stratified by these
    tested = cross_validate(rule, covariates, whole, cv=3, return_indices=True)["indices"]["test"]
    for found, (_, expected) in zip(tested, KFold(3).split(covariates), strict=True):
        assert_array_equal(found, expected)


def test_parameters_of_the_estimator_within_can_be_had_and_set(data: Data) -> None:
    rule = CutClassifier(KNeighborsClassifier(3), THREE)
    assert rule.get_params()["estimator__n_neighbors"] == 3
    rule.set_params(estimator__n_neighbors=1)
    copy = clone(rule).fit(*data)
    assert copy.estimator_.n_neighbors == 1
    assert copy.continuum == THREE
    assert copy.score(*data) == 1.0
    assert not hasattr(rule, "estimator_"), "a clone is fitted, not the original"
    assert not hasattr(copy.estimator, "classes_"), "what was given is left as it is"
    assert RegressionRule(Ridge(2.0), THREE).get_params()["regressor__alpha"] == 2.0


def test_scikit_learn_tools_take_measured_values_for_y(data: Data) -> None:
    covariates, values = data
    rule = CutClassifier(KNeighborsClassifier(), THREE)
    said = cross_val_predict(rule, covariates, values, cv=10)
    by_hand = np.empty_like(said)
    for train, test in KFold(10).split(covariates):
        inner = KNeighborsClassifier().fit(covariates[train], labels(THREE, values[train]))
        by_hand[test] = inner.predict(covariates[test])
    assert_array_equal(said, by_hand)
    scores = cross_val_score(rule, covariates, values, cv=10)
    assert scores.mean() == pytest.approx((said == labels(THREE, values)).mean())
    grid = GridSearchCV(rule, {"estimator__n_neighbors": [1, 5]}, cv=5).fit(covariates, values)
    assert grid.best_score_ > 0.6
    assert list(grid.classes_) == ["low", "mid", "high"]
    _, permuted, p = permutation_test_score(rule, covariates, values, cv=3, n_permutations=19)
    assert p == pytest.approx(0.05)
    assert max(permuted) < scores.mean()


@pytest.mark.parametrize("outside", [True, False])
def test_pipelines_work_around_a_rule_and_within_it(data: Data, outside: bool) -> None:
    covariates, values = data
    lda = LinearDiscriminantAnalysis()
    if outside:
        rule = make_pipeline(StandardScaler(), CutClassifier(lda, THREE))
    else:
        rule = CutClassifier(make_pipeline(StandardScaler(), lda), THREE)
    rule.fit(covariates, values)
    assert list(rule.classes_) == ["low", "mid", "high"]
    plain = make_pipeline(StandardScaler(), lda).fit(covariates, labels(THREE, values))
    assert_array_equal(rule.predict(covariates), plain.predict(covariates))
    assert cross_val_score(rule, covariates, values, cv=3).shape == (3,)


@pytest.mark.parametrize(
    "rule",
    [CutClassifier(LogisticRegression(), THREE), RegressionRule(BayesianRidge(), THREE)],
    ids=["cut", "regression"],
)
def test_probabilities_out_of_fold(rule: Any, data: Data) -> None:
    covariates, values = data
    said = cross_val_predict(rule, covariates, method="predict_proba", params={"measured": values}, cv=5)
    by_hand = np.empty((len(values), 3))
    for train, test in KFold(5).split(covariates):
        by_hand[test] = clone(rule).fit(covariates[train], values[train]).predict_proba(covariates[test])
    assert_allclose(said, by_hand)
    # Asked for probabilities of a y, scikit-learn makes ranks of it, which would be cut in the place of the values.
    with pytest.raises(BadOption, match="ranks of what was measured"):
        cross_val_predict(rule, covariates, values, method="predict_proba", cv=5)
    with pytest.raises(BadOption, match="ranks"):
        cross_val_predict(rule, covariates, np.round(values, 1), method="predict_proba", cv=2)
    with pytest.raises(BadOption, match="both y and measured"):
        rule.fit(covariates, values, measured=values)


def test_what_is_scored_has_one_value_and_one_weight_a_row(data: Data) -> None:
    covariates, values = data
    rule = RegressionRule(Ridge(), TWO).fit(covariates, values)
    assert rule.score(covariates, values, sample_weight=[2.0] * len(values)) == rule.score(covariates, values)
    with pytest.raises(UnequalLengths, match="column 'y'"):
        rule.score(covariates, values[1:])
    with pytest.raises(UnequalLengths, match="column 'sample_weight'"):
        rule.score(covariates, values, sample_weight=[1.0])
    with pytest.raises(BadWeights, match="all weights are zero"):
        rule.score(covariates, values, sample_weight=[0.0] * len(values))


def test_whole_numbers_can_be_measured(data: Data) -> None:
    covariates, values = data
    years = np.round(10 * values).astype(int)
    assert CutClassifier(KNeighborsClassifier(1), Continuum([5], ["new", "old"])).fit(covariates, years).score(
        covariates, years
    ) == pytest.approx(1.0)
    order = np.arange(len(values))
    rule = CutClassifier(DecisionTreeClassifier(), Continuum([60.0], ["first", "last"]))
    with pytest.raises(BadOption, match="as floats"):
        rule.fit(covariates, order)
    assert rule.fit(covariates, order.astype(float)).score(covariates, order) == 1.0


@pytest.mark.parametrize("rule", [CutClassifier(LogisticRegression(), TWO), RegressionRule(Ridge(), TWO)])
def test_rules_can_be_pickled(rule: Any, data: Data) -> None:
    fitted = rule.fit(*data)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  (our own)
    assert_array_equal(again.predict(data[0]), fitted.predict(data[0]))


def test_names_of_columns_are_kept(data: Data) -> None:
    frame = pd.DataFrame(data[0], columns=["a", "b", "c"])
    rule = CutClassifier(LogisticRegression(), THREE).fit(frame, pd.Series(data[1]))
    assert rule.n_features_in_ == 3
    assert list(rule.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        rule.predict(frame[["b", "a", "c"]])


# --- classifiers of cut values --------------------------------------------------------------------------------


@pytest.mark.parametrize("continuum", [TWO, THREE, Continuum([0.0, 1.0])], ids=["two", "three", "unnamed"])
@pytest.mark.parametrize(
    "inner", [LogisticRegression(), DecisionTreeClassifier(random_state=0)], ids=["logistic", "tree"]
)
def test_columns_are_in_the_order_of_the_continuum(continuum: Continuum, inner: Any, data: Data) -> None:
    covariates, values = data
    rule = CutClassifier(inner, continuum).fit(covariates, values)
    plain = clone(inner).fit(covariates, labels(continuum, values))
    assert tuple(rule.classes_) == continuum.classes
    assert_array_equal(rule.predict(covariates), plain.predict(covariates))
    by_name = dict(zip(plain.classes_, plain.predict_proba(covariates).T, strict=True))
    assert_array_equal(rule.predict_proba(covariates).T, [by_name[label] for label in continuum.classes])
    assert assess(values, rule.predict_proba(covariates), scale=continuum)["error"].value == pytest.approx(
        1 - rule.score(covariates, values)
    )


def test_the_score_of_two_classes_speaks_for_the_upper(data: Data) -> None:
    covariates, values = data
    rule = CutClassifier(LinearSVC(), TWO).fit(covariates, values)
    score = rule.decision_function(covariates)
    assert score.shape == values.shape
    assert_array_equal(np.where(score > 0, "dry", "wet"), rule.predict(covariates))
    assert_array_equal(score, -rule.estimator_.decision_function(covariates), "its second class is 'wet'")


def test_scores_of_several_classes_are_put_in_order(data: Data) -> None:
    covariates, values = data
    rule = CutClassifier(LinearSVC(), THREE).fit(covariates, values)
    assert_array_equal(rule.classes_[rule.decision_function(covariates).argmax(axis=1)], rule.predict(covariates))


def test_a_class_that_was_not_seen_in_training_has_probability_0(data: Data) -> None:
    covariates, values = data
    some = values > 0
    for inner in (LogisticRegression(), LinearSVC()):
        rule = CutClassifier(inner, THREE).fit(covariates[some], values[some])
        assert list(rule.classes_) == ["low", "mid", "high"]
        assert set(rule.predict(covariates)) == {"mid", "high"}
        score = rule.decision_function(covariates)
        assert (score[:, 0] < score[:, 1:].min(axis=1)).all()
        assert np.isfinite(score).all()
        assert_array_equal(rule.classes_[score.argmax(axis=1)], rule.predict(covariates))
    found = CutClassifier(LogisticRegression(), THREE).fit(covariates[some], values[some]).predict_proba(covariates)
    assert (found[:, 0] == 0).all()
    assert_allclose(found.sum(axis=1), 1)
    low = CutClassifier(DecisionTreeClassifier(), THREE).fit(covariates[values <= 0], values[values <= 0])
    assert_array_equal(low.predict_proba(covariates), np.tile([1.0, 0.0, 0.0], (len(values), 1)))


def test_folds_without_a_class_go_through(data: Data) -> None:
    order = np.argsort(data[1])
    covariates, values = data[0][order], data[1][order]
    # Sorted by what was measured, the first training fold has no row of the lowest class.
    low = int((values <= 0).sum())
    folds = [(np.arange(low, len(values)), np.arange(low)), (np.arange(low), np.arange(low, len(values)))]
    rule = CutClassifier(DecisionTreeClassifier(random_state=0), THREE)
    said = cross_val_predict(rule, covariates, method="predict_proba", params={"measured": values}, cv=folds)
    assert said.shape == (len(values), 3)
    assert (said[:low, 0] == 0).all()
    assert (said[low:, 0] == 1).all()


def test_methods_are_there_where_the_classifier_has_them(data: Data) -> None:
    svc = CutClassifier(LinearSVC(), TWO)
    assert not hasattr(svc, "predict_proba")
    assert hasattr(svc, "decision_function")
    tree = CutClassifier(DecisionTreeClassifier(), TWO).fit(*data)
    assert hasattr(tree, "predict_proba")
    assert not hasattr(tree, "decision_function")
    with pytest.raises(AttributeError, match="predict_proba"):
        svc.fit(*data).predict_proba(data[0])


def test_scores_of_pairs_of_classes_are_refused() -> None:
    covariates, values = measured(200)
    four = Continuum([-0.5, 0.3, 1.0], ["a", "b", "c", "d"])
    rule = CutClassifier(SVC(decision_function_shape="ovo"), four).fit(covariates, values)
    with pytest.raises(WrongShape, match="6 columns for 4 classes"):
        rule.decision_function(covariates)


def test_weights_are_passed_on(data: Data) -> None:
    covariates, values = data
    weight = np.arange(len(values)) % 3
    rows = np.repeat(np.arange(len(values)), weight)
    for rule in (CutClassifier(DecisionTreeClassifier(max_depth=2), TWO), RegressionRule(LinearRegression(), TWO)):
        weighed = clone(rule).fit(covariates, values, sample_weight=weight)
        repeated = clone(rule).fit(covariates[rows], values[rows])
        assert_array_equal(weighed.predict(covariates), repeated.predict(covariates))
        assert weighed.score(covariates, values, sample_weight=weight) == pytest.approx(
            repeated.score(covariates[rows], values[rows])
        )
    with pytest.raises(TypeError, match="sample_weight"):
        CutClassifier(LinearDiscriminantAnalysis(), TWO).fit(covariates, values, sample_weight=weight)
    pipeline = CutClassifier(make_pipeline(StandardScaler(), LogisticRegression()), TWO)
    fitted = pipeline.fit(covariates, values, logisticregression__sample_weight=weight)
    assert fitted.score(covariates, values) > 0.5


# --- regressors whose predictions are cut ----------------------------------------------------------------------


@pytest.mark.parametrize("closed", ["left", "right"])
def test_the_class_is_that_of_the_predicted_number(closed: Any, data: Data) -> None:
    covariates, values = data
    rule = RegressionRule(LinearRegression(), THREE.but(closed=closed)).fit(covariates, values)
    number = LinearRegression().fit(covariates, values).predict(covariates)
    assert_allclose(rule.predict_response(covariates), number)
    assert_array_equal(rule.predict(covariates), labels(THREE, number))
    edge = RegressionRule(DecisionTreeRegressor(), TWO.but(closed=closed)).fit([[0.0], [1.0]], [0.3, 5.0])
    assert edge.predict([[0.0]])[0] == ("dry" if closed == "left" else "wet")


def test_predictions_beyond_the_ends_are_in_the_nearest_class() -> None:
    bounded = Continuum([0, 1, 2], ["low", "high"])
    rule = RegressionRule(LinearRegression(), bounded).fit([[0.1], [1.9]], [0.1, 1.9])
    assert rule.predict([[-5.0], [0.5], [1.5], [9.0]]).tolist() == ["low", "low", "high", "high"]
    rule = RegressionRule(BayesianRidge(), bounded).fit([[0.1], [0.9], [1.5], [1.9]], [0.1, 0.9, 1.5, 1.9])
    assert_allclose(rule.predict_proba([[-5.0], [9.0]]), [[1, 0], [0, 1]], atol=1e-6)


def test_probabilities_come_from_the_predictive_deviation(data: Data) -> None:
    covariates, values = data
    process = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), optimizer=None)
    for regressor in (BayesianRidge(), process, make_pipeline(StandardScaler(), BayesianRidge())):
        rule = RegressionRule(regressor, THREE).fit(covariates, values)
        mean, sd = rule.regressor_.predict(covariates, return_std=True)
        found = rule.predict_proba(covariates)
        assert_allclose(found, class_probabilities(mean, sd, THREE.boundaries), rtol=1e-12)
        assert_allclose(found.sum(axis=1), 1)
    assert not hasattr(RegressionRule(LinearRegression(), THREE), "predict_proba")
    assert not hasattr(RegressionRule(make_pipeline(StandardScaler(), Ridge()), THREE), "predict_proba")


def test_a_search_for_the_best_regressor_tells_probabilities_too(data: Data) -> None:
    covariates, values = data
    search = GridSearchCV(make_pipeline(StandardScaler(), BayesianRidge()), {"bayesianridge__alpha_1": [1e-6, 1e-3]})
    rule = RegressionRule(search, THREE)
    assert hasattr(rule, "predict_proba")
    rule.fit(covariates, values)
    mean, sd = rule.regressor_.best_estimator_.predict(covariates, return_std=True)
    assert_allclose(rule.predict_proba(covariates), class_probabilities(mean, sd, THREE.boundaries), rtol=1e-12)
    assert not hasattr(RegressionRule(GridSearchCV(Ridge(), {"alpha": [1.0]}), THREE), "predict_proba")
    for model in (search, rule.regressor_):
        assert fit_response(covariates, values, 0.1, model=model, folds=3).sd.min() > 0


@pytest.mark.parametrize("cv", [5, np.int64(5), np.uint8(5)])
def test_any_whole_number_of_folds_has_rows_in_random_order(data: Data, cv: Any) -> None:
    order = np.argsort(data[1])
    rule = RegressionRule(Ridge(), THREE, spread="residual", cv=cv).fit(data[0][order], data[1][order])
    folds = KFold(5, shuffle=True, random_state=0)
    expected = RegressionRule(Ridge(), THREE, spread="residual", cv=folds).fit(data[0][order], data[1][order])
    assert rule.spread_ == expected.spread_


@pytest.mark.parametrize("cv", [1, 0, -2, np.int64(1), True])
def test_less_than_two_folds_leave_nothing_to_learn_from(data: Data, cv: Any) -> None:
    with pytest.raises(BadOption, match="Say how many folds, from 2 on"):
        RegressionRule(Ridge(), THREE, spread="residual", cv=cv).fit(*data)


def test_probabilities_come_from_residuals_on_request(data: Data) -> None:
    covariates, values = data
    folds = KFold(4)
    rule = RegressionRule(Ridge(), THREE, spread="residual", cv=folds).fit(covariates, values)
    said = cross_val_predict(Ridge(), covariates, values, cv=folds)
    assert rule.spread_ == pytest.approx(float(np.sqrt(np.mean((values - said) ** 2))))
    expected = class_probabilities(rule.predict_response(covariates), rule.spread_, THREE.boundaries)
    assert_allclose(rule.predict_proba(covariates), expected)
    shuffled = RegressionRule(Ridge(), THREE, spread="residual").fit(covariates, values)
    again = RegressionRule(Ridge(), THREE, spread="residual").fit(covariates, values)
    assert shuffled.spread_ == again.spread_
    # A tree that fits every row leaves no residual where it was fitted, but does out of fold.
    tree = RegressionRule(DecisionTreeRegressor(random_state=0), THREE, spread="residual").fit(covariates, values)
    assert tree.spread_ > 0.3
    few = RegressionRule(Ridge(), THREE, spread="residual").fit(covariates[:3], values[:3])
    assert few.spread_ > 0
    weight = np.where(np.abs(values - said) > 0.5, 1e-9, 1.0)
    light = RegressionRule(Ridge(), THREE, spread="residual").fit(covariates, values, sample_weight=weight)
    assert light.spread_ < rule.spread_


def test_of_two_classes_the_prediction_itself_is_a_score(data: Data) -> None:
    covariates, values = data
    rule = RegressionRule(LinearRegression(), TWO).fit(covariates, values)
    score = rule.decision_function(covariates)
    assert_allclose(score, rule.predict_response(covariates) - 0.3)
    assert_array_equal(np.where(score > 0, "dry", "wet"), rule.predict(covariates))
    assert not hasattr(RegressionRule(LinearRegression(), THREE), "decision_function")


# --- bad input ------------------------------------------------------------------------------------------------

BOTH = [CutClassifier(DecisionTreeClassifier(), THREE), RegressionRule(BayesianRidge(), THREE)]


@pytest.mark.parametrize("rule", BOTH, ids=["cut", "regression"])
def test_what_is_not_fitted_says_so(rule: Any, data: Data) -> None:
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(clone(rule), method)(data[0])
    with pytest.raises(NotFittedError):
        clone(rule).score(*data)
    with pytest.raises(NotFittedError):
        RegressionRule(Ridge(), TWO).predict_response(data[0])
    broken = clone(rule)
    with pytest.raises(ValueError, match=r"inconsistent|does not match"):
        broken.fit(data[0], data[1][:-1])
    with pytest.raises(NotFittedError):
        broken.predict(data[0])


@pytest.mark.parametrize("rule", BOTH, ids=["cut", "regression"])
@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (np.nan, MissingValues, "column 'y', row 7: the value is missing"),
        (None, MissingValues, "row 7"),
        (np.inf, NotNumbers, "row 7: it is inf"),
        ("wet", SteelyardError, "wet"),
    ],
)
def test_bad_values_are_named(rule: Any, data: Data, value: Any, error: type[Exception], text: str) -> None:
    values: Any = data[1].astype(object)
    values[7] = value
    with pytest.raises(error, match=text):
        clone(rule).fit(data[0], values)
    with pytest.raises(error, match=text):
        clone(rule).fit(*data).score(data[0], values)


@pytest.mark.parametrize("rule", BOTH, ids=["cut", "regression"])
def test_values_beyond_finite_ends_are_refused(rule: Any, data: Data) -> None:
    bounded = clone(rule).set_params(continuum=Continuum([-9, 0, 1, 9], ["low", "mid", "high"]))
    bounded.fit(*data)
    values = data[1].copy()
    values[5] = 9.5
    for act in (bounded.fit, bounded.score):
        with pytest.raises(OutsideContinuum, match=r"row 5.*extend=True"):
            act(data[0], values)
    extended = clone(rule).set_params(continuum=Continuum([-9, 0, 1, 9], ["low", "mid", "high"], extend=True))
    assert list(extended.fit(data[0], values).classes_) == ["low", "mid", "high"]


@pytest.mark.parametrize("rule", BOTH, ids=["cut", "regression"])
@pytest.mark.parametrize("continuum", [None, [0.0], "THREE", 5])
def test_a_continuum_is_a_continuum(rule: Any, continuum: Any, data: Data) -> None:
    wrong = clone(rule).set_params(continuum=continuum)
    with pytest.raises(BadOption, match=r"continuum is .*Continuum\("):
        wrong.fit(*data)
    assert "Rule" in repr(wrong) or "Cut" in repr(wrong)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (CutClassifier(None, THREE), "estimator is None. Give a classifier"),
        (CutClassifier("lda", THREE), "estimator is 'lda'"),
        (CutClassifier(StandardScaler(), THREE), "estimator is StandardScaler"),
        (CutClassifier(LogisticRegression, THREE), "estimator is <class"),
        (CutClassifier(LinearRegression(), THREE), "RegressionRule"),
        (CutClassifier(make_pipeline(StandardScaler(), Ridge()), THREE), "RegressionRule"),
        (RegressionRule(None, THREE), "regressor is None. Give a regressor"),
        (RegressionRule(LogisticRegression(), THREE), "CutClassifier is for classifiers"),
        (RegressionRule(Ridge(), THREE, spread="wide"), "spread is 'wide'"),  # type: ignore[arg-type]
        (RegressionRule(Ridge(), THREE, spread=["residual"]), "spread is"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_fitted_is_refused(rule: Any, text: str, data: Data) -> None:
    with pytest.raises(BadOption, match=text):
        rule.fit(*data)


def test_a_regressor_that_predicts_nothing_is_not_cut_in_silence(data: Data) -> None:
    class Lost(LinearRegression):  # type: ignore[misc]
        def predict(self, X: Any) -> Any:
            return np.where(np.arange(len(X)) == 4, np.nan, 0.0)

    rule = RegressionRule(Lost(), THREE).fit(*data)
    with pytest.raises(MissingValues, match="column 'prediction', row 4"):
        rule.predict(data[0])


def test_a_column_of_two_axes_is_flattened_with_a_warning(data: Data) -> None:
    with pytest.warns(UserWarning, match="column-vector"):
        rule = CutClassifier(DecisionTreeClassifier(), THREE).fit(data[0], data[1][:, None])
    assert rule.score(*data) == 1.0
    with pytest.raises(ValueError, match="1d"):
        CutClassifier(DecisionTreeClassifier(), THREE).fit(data[0], data[0])
    with pytest.raises(ValueError, match="1d"):
        CutClassifier(DecisionTreeClassifier(), THREE).fit(data[0])


def test_labels_are_no_measured_values(data: Data) -> None:
    with pytest.raises((NotNumbers, UnusableLabels), match=r"low|mid|high"):
        CutClassifier(DecisionTreeClassifier(), THREE).fit(data[0], labels(THREE, data[1]))


def test_single_precision_at_a_boundary_is_of_the_class_that_the_boundary_is_of() -> None:
    values = np.array([0.7, 0.7, 0.1, 0.9], np.float32)
    covariates, cut = np.arange(4.0)[:, None], Continuum([0.7], ["a", "b"], sd=0.0)
    rule = CutClassifier(DecisionTreeClassifier(), cut).fit(covariates, values)
    assert rule.predict(covariates).tolist() == ["b", "b", "a", "b"]
    assert rule.score(covariates, values) == scorer("accuracy", scale=cut)(rule, covariates, values) == 1.0
    names = ("error", "label_error", "true_error_low", "true_error_high", "posterior_error", "apparent_sqerr")
    found = assess(values, ["b", "b", "a", "b"], scale=cut, response=(values, 0.1), measures=names)
    assert [found[name].value for name in names] == [0.0] * len(names)  # no label can be wrong
    assert cut.in_double(values).tolist() == [0.7, 0.7, float(values[2]), float(values[3])]
    assert cut.in_double(values.astype(float)).tolist() == values.astype(float).tolist()

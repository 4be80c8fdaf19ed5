"""Classifiers by name, and the form in which estimators are handed in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.columns import as_number
from ..core.errors import BadOption, quoted
from ..core.scale import Continuum, Scale, listed
from ..core.suggestions import did_you_mean
from ..inputs.request import by_name
from .estimators import innermost, learns_no_classes, predicts_numbers
from .regressors import is_estimator


def _lda() -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def _qda() -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis()


def _neighbours(number: float = 5) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(_whole(number))


def _bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _centroid() -> Any:
    from sklearn.neighbors import NearestCentroid

    return NearestCentroid()


def _tree(depth: float | None = None) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=None if depth is None else _whole(depth), random_state=0)


def _forest(trees: float = 100) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(_whole(trees), random_state=0)


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def _logistic(strength: float = 1.0) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1000))


def _ridge(alpha: float = 1.0) -> Any:
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier(alpha)


def _machine(cost: float = 1.0) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC(C=cost))


def _frequencies() -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def _regression() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


BY_NAME: Mapping[str, tuple[Callable[..., Any], str]] = {
    "lda": (_lda, "linear discriminant analysis"),
    "qda": (_qda, "quadratic discriminant analysis"),
    "knn": (_neighbours, "k nearest neighbours; knn:5"),
    "bayes": (_bayes, "Gaussian naive Bayes"),
    "centroid": (_centroid, "nearest centroid"),
    "logistic": (_logistic, "logistic regression of standardised variables; logistic:0.1 shrinks more"),
    "ridge": (_ridge, "ridge classifier; ridge:10 shrinks more"),
    "tree": (_tree, "decision tree; tree:3 is three splits deep"),
    "forest": (_forest, "random forest; forest:500 has so many trees"),
    "boosting": (_boosting, "boosted trees"),
    "svm": (_machine, "support vector machine of standardised variables; svm:10 costs errors more"),
    "prior": (_frequencies, "class frequencies, whatever the variables: what chance does"),
    "regression": (_regression, "least squares of measured values, cut into classes"),
}


def _whole(number: float) -> int:
    if not 1 <= number < math.inf or number != int(number):
        raise BadOption(f"{number:g} is no number of them", mend="Give a whole number, 1 or above")
    return int(number)


def named_model(text: str) -> Any:
    """A classifier by its name, with a number after a colon where it takes one: ``knn:5``."""
    name, colon, number = text.strip().partition(":")
    if name not in BY_NAME:
        mend = did_you_mean(name, BY_NAME, f"There are {listed(list(BY_NAME))}")
        raise BadOption(f"there is no classifier {quoted(text)}", mend=mend)
    make = BY_NAME[name][0]
    if not colon:
        return make()
    value = as_number(number, text=True)
    if not value > 0 or not make.__code__.co_argcount:
        raise BadOption(f"{quoted(text)} cannot be read", mend=f"{name}: {BY_NAME[name][1]}")
    return make(value)


def read_models(estimators: Any) -> dict[str, Any]:
    """Estimators by name, however they are handed in."""
    if isinstance(estimators, Mapping):
        named = by_name(estimators.items())
    elif isinstance(estimators, str) or not isinstance(estimators, Sequence):
        named = {_name(estimators): estimators}
    else:
        named = {}
        for one in estimators:
            name, more = _name(one), 2
            while name in named:
                name, more = f"{_name(one)} {more}", more + 1
            named[name] = one
    if not named:
        raise BadOption("there is no classifier", mend="Give {name: estimator}")
    found = {name: named_model(one) if isinstance(one, str) else one for name, one in named.items()}
    for name, one in found.items():
        if not is_estimator(one):
            raise BadOption(
                f"{quoted(name)} is no estimator: it has no fit and predict",
                mend="Give one of scikit-learn, not fitted, and not its class: LinearDiscriminantAnalysis()",
            )
        if kind := learns_no_classes(one):
            raise BadOption(f"{quoted(name)} learns no classes ({kind})", mend="Give a classifier")
    return found


def _name(estimator: Any) -> str:
    if isinstance(estimator, str):
        return estimator
    return estimator.__name__ if isinstance(estimator, type) else type(innermost(estimator)).__name__


def rule_of(estimator: Any, scale: Scale) -> tuple[Any, bool]:
    """What is to be fitted, and whether to measured values rather than to classes."""
    from .cut_rules import RegressionRule

    if not isinstance(scale, Continuum):
        if predicts_numbers(estimator):
            raise BadOption(
                f"{type(innermost(estimator)).__name__} predicts numbers, not classes",
                mend="Say where classes are cut from them: scale=Continuum([65], ['dry', 'wet'])",
            )
        return estimator, False
    if _cuts_itself(estimator):
        return estimator, True
    return (RegressionRule(estimator, scale), True) if predicts_numbers(estimator) else (estimator, False)


def _cuts_itself(estimator: Any) -> bool:
    """Whether an estimator, or what it searches for, is made for measured values."""
    from .cut_rules import CutClassifier, RegressionRule

    searched = getattr(estimator, "estimator", estimator) if hasattr(estimator, "cv") else estimator
    rules = isinstance(innermost(searched), CutClassifier | RegressionRule)
    return rules or isinstance(getattr(estimator, "scale", None), Continuum)


def whole_rule(estimator: Any, scale: Scale | None) -> Any:
    """A rule that can be fitted to what users hand in: labels, or measured values where there is a continuum."""
    from .cut_rules import CutClassifier

    if not isinstance(scale, Continuum):
        return estimator
    rule, takes_measured = rule_of(estimator, scale)
    return rule if takes_measured else CutClassifier(rule, scale)

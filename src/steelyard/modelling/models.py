"""Classifiers by name, and the form in which estimators are handed in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ..core.columns import as_number
from ..core.errors import BadOption, quoted
from ..core.scale import Continuum, Scale, listed
from ..core.suggestions import did_you_mean
from ..inputs.request import by_name
from .estimators import innermost, is_estimator, learns_no_classes, predicts_numbers


class NamedClassifier(NamedTuple):
    """A classifier of scikit-learn that can be asked for by a name.

    Attributes:
        found_in: Its class, below sklearn.
        words: What it is, and what a number after its name says.
        number: The parameter that such a number sets; empty where it takes none.
        whole: Whether that is a whole number.
        standardised: Whether variables are standardised before.
        options: Its other parameters.
    """

    found_in: str
    words: str
    number: str = ""
    whole: bool = False
    standardised: bool = False
    options: Mapping[str, Any] = {}

    def make(self, number: float | None = None) -> Any:
        """Make one, not fitted."""
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        module, name = self.found_in.split(".")
        options = dict(self.options)
        if number is not None:
            options[self.number] = _whole(number) if self.whole else number
        estimator = getattr(import_module(f"sklearn.{module}"), name)(**options)
        return make_pipeline(StandardScaler(), estimator) if self.standardised else estimator


SEEDED = {"random_state": 0}
BY_NAME: Mapping[str, NamedClassifier] = {
    "lda": NamedClassifier("discriminant_analysis.LinearDiscriminantAnalysis", "linear discriminant analysis"),
    "qda": NamedClassifier("discriminant_analysis.QuadraticDiscriminantAnalysis", "quadratic discriminant analysis"),
    "knn": NamedClassifier("neighbors.KNeighborsClassifier", "k nearest neighbours; knn:5", "n_neighbors", whole=True),
    "bayes": NamedClassifier("naive_bayes.GaussianNB", "Gaussian naive Bayes"),
    "centroid": NamedClassifier("neighbors.NearestCentroid", "nearest centroid"),
    "logistic": NamedClassifier(
        "linear_model.LogisticRegression",
        "logistic regression of standardised variables; logistic:0.1 shrinks more",
        "C",
        standardised=True,
        options={"max_iter": 1000},
    ),
    "ridge": NamedClassifier("linear_model.RidgeClassifier", "ridge classifier; ridge:10 shrinks more", "alpha"),
    "tree": NamedClassifier(
        "tree.DecisionTreeClassifier", "decision tree; tree:3 is three splits deep", "max_depth", True, options=SEEDED
    ),
    "forest": NamedClassifier(
        "ensemble.RandomForestClassifier",
        "random forest; forest:500 has so many trees",
        "n_estimators",
        True,
        options=SEEDED,
    ),
    "boosting": NamedClassifier("ensemble.HistGradientBoostingClassifier", "boosted trees", options=SEEDED),
    "svm": NamedClassifier(
        "svm.SVC", "support vector machine of standardised variables; svm:10 costs errors more", "C", standardised=True
    ),
    "prior": NamedClassifier(
        "dummy.DummyClassifier",
        "class frequencies, whatever the variables: what chance does",
        options={"strategy": "prior"},
    ),
    "regression": NamedClassifier(
        "linear_model.LinearRegression", "least squares of measured values, cut into classes"
    ),
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
    found = BY_NAME[name]
    if not colon:
        return found.make()
    value = as_number(number, text=True)
    if not value > 0 or not found.number:
        raise BadOption(f"{quoted(text)} cannot be read", mend=f"{name}: {found.words}")
    return found.make(value)


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

"""Rules that are fitted to measured values and assign classes of a continuum, as scikit-learn knows estimators.

For scikit-learn they are no classifiers, since their y is no label: folds are not stratified by it. One of its
functions takes y for labels all the same: ``cross_val_predict`` puts their ranks into the place of y when it is asked
for probabilities. There, measured values are given as ``params={"measured": z}``, and no y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.arrays import distinct
from ..core.columns import numbers
from ..core.errors import BadOption, MissingValues, NotNumbers, WrongShape, quoted, refuse_length
from ..core.scale import Continuum
from ..core.suggestions import refuse_unknown
from ..inputs.dataset import checked_weight
from ..maths.kernels import class_probabilities
from .estimators import LOWEST, found_by_search, inner_has, is_estimator, tells_spread, where

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Places

FEW = 10  # rows of which ranks cannot be told from whole numbers that were measured


class _ContinuumRule(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """What rules share: a continuum that cuts the measured values, and the classes that it cuts them into."""

    _inner: str  # the parameter that holds the estimator within

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a fitted estimator within."""
        return hasattr(self, f"{self._inner}_")

    def __sklearn_tags__(self) -> Any:
        """Take in what the estimator within takes in."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        within = getattr(self, self._inner)
        if hasattr(within, "__sklearn_tags__"):
            tags.input_tags = get_tags(within).input_tags
        return tags

    def _measured(self, values: Any) -> tuple[Array, Places]:
        """Measured values and the codes of their classes, once they have passed every check."""
        if not isinstance(self.continuum, Continuum):
            raise BadOption(
                f"continuum is {quoted(self.continuum)}",
                mend="Say where classes are cut: Continuum([65], ['dry', 'wet'])",
            )
        measured = _finite(values, "y", self.continuum, warn=True)
        return measured, self.continuum.cut(measured)

    def _admit(self, X: Any, values: tuple[Any, Any], unfit: Callable[[Any], bool], mend: str) -> tuple[Array, Places]:
        """Let rows in to be learned from, and note what there is to know about them."""
        within = getattr(self, self._inner)
        if not is_estimator(within) or (hasattr(within, "__sklearn_tags__") and unfit(within)):
            raise BadOption(f"{self._inner} is {quoted(within)}", mend=mend)
        measured, codes = self._measured(_one_of(*values))
        validate_data(self, X, skip_check_array=True)
        self.classes_ = np.asarray(self.continuum.classes)
        # A prediction beyond the outermost boundaries is nearest to the outermost class.
        self.continuum_ = self.continuum.but(extend=True)
        return measured, codes

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are assigned to the class of their measured value."""
        check_is_fitted(self)
        codes, assigned = self._measured(y)[1], self.predict(X)
        refuse_length("y", len(codes), len(assigned), "X")
        right = assigned == self.classes_[codes]
        if sample_weight is None:
            return float(right.mean())
        weight = checked_weight(numbers(sample_weight, "sample_weight"), "sample_weight", part=False)
        refuse_length("sample_weight", len(weight), len(right), "X")
        return float(np.average(right, weights=weight))


class CutClassifier(_ContinuumRule):
    """Any classifier, fitted to the classes of measured values.

    ``CutClassifier(LinearDiscriminantAnalysis(), water).fit(X, z)``; cross-validation and searches work with y = z.

    Args:
        estimator: The classifier.
        continuum: Where the classes are cut.

    Attributes:
        estimator_: The classifier, fitted to labels.
        classes_: The classes in the order of the continuum, also those that no row is of.
        continuum_: The continuum, with outer classes that reach to infinity.
    """

    _inner = "estimator"

    def __init__(self, estimator: Any, continuum: Any) -> None:
        self.estimator = estimator
        self.continuum = continuum

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, measured: Any = None, **options: Any) -> Self:
        """Fit the classifier to the classes of what was measured.

        Args:
            X: The covariates.
            y: What was measured.
            sample_weight: What each row weighs, for classifiers that know weights.
            measured: The same as y, in its place.
            **options: Further options of the classifier's own fit.
        """
        mend = "Give a classifier; RegressionRule makes classes of what a regressor predicts"
        codes = self._admit(X, (y, measured), is_regressor, mend)[1]
        self.estimator_ = clone(self.estimator).fit(X, self.classes_[codes], **_weighed(sample_weight), **options)
        return self

    def predict(self, X: Any) -> AnyArray:
        """The class that each row is assigned to."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    @where(inner_has("predict_proba", "estimator_"))
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of the continuum; 0 for those that were not seen in training."""
        check_is_fitted(self)
        return among_all(np.asarray(self.estimator_.predict_proba(X)), self.estimator_.classes_, self.continuum_, 0.0)

    @where(inner_has("decision_function", "estimator_"))
    def decision_function(self, X: Any) -> Array:
        """A score for each class, in the order of the continuum; of two classes, one for the upper."""
        check_is_fitted(self)
        scores = np.asarray(self.estimator_.decision_function(X))
        return scores_among_all(scores, self.estimator_.classes_, self.continuum_)


def among_all(columns: Array, seen: AnyArray, continuum: Continuum, unseen: float) -> Array:
    """Put the columns of the classes that were seen in training among those of all classes."""
    if columns.shape[1] != len(seen):
        raise WrongShape(
            f"{columns.shape[1]} columns for {len(seen)} classes",
            mend="Give a classifier that has one score a class, as with decision_function_shape='ovr'",
        )
    placed = np.full((len(columns), len(continuum)), unseen)
    placed[:, [continuum.code(label) for label in seen]] = columns
    return placed


def scores_among_all(scores: Array, seen: AnyArray, continuum: Continuum) -> Array:
    """Put the scores of the classes that were seen among those of all; of two classes, keep that of the upper."""
    both = scores if scores.ndim > 1 else np.stack([-scores, scores], axis=1)
    placed = among_all(both, seen, continuum, LOWEST)
    return placed[:, 1] if len(continuum) == 2 else placed


def _knows_spread(rule: Any) -> bool:
    """Whether there is a standard deviation around what is predicted."""
    return rule.spread == "residual" or tells_spread(getattr(rule, "regressor_", rule.regressor))


class RegressionRule(_ContinuumRule):
    """The class whose interval holds what any regressor predicts.

    Predictions beyond finite outer boundaries are in the nearest class.

    Args:
        regressor: The regressor.
        continuum: Where the classes are cut.
        spread: Where the standard deviation around a prediction comes from, which probabilities need: "predictive",
            from the regressor (``predict(X, return_std=True)``); or "residual", one for all rows, from residuals out of
            fold.
        cv: The folds for these: how many, of rows in random order, or a splitter.

    Attributes:
        regressor_: The regressor, fitted to what was measured.
        spread_: The standard deviation of residuals, where that was asked for.
        classes_: The classes in the order of the continuum.
        continuum_: The continuum, with outer classes that reach to infinity.
    """

    _inner = "regressor"

    def __init__(
        self, regressor: Any, continuum: Any, *, spread: Literal["predictive", "residual"] = "predictive", cv: Any = 10
    ) -> None:
        self.regressor = regressor
        self.continuum = continuum
        self.spread = spread
        self.cv = cv

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, measured: Any = None, **options: Any) -> Self:
        """Fit the regressor to what was measured.

        Args:
            X: The covariates.
            y: What was measured.
            sample_weight: What each row weighs, for regressors that know weights.
            measured: The same as y, in its place.
            **options: Further options of the regressor's own fit.
        """
        refuse_unknown("spread", self.spread, ("predictive", "residual"))
        mend = "Give a regressor; CutClassifier is for classifiers"
        response = self._admit(X, (y, measured), is_classifier, mend)[0]
        options |= _weighed(sample_weight)
        self.regressor_ = clone(self.regressor).fit(X, response, **options)
        if self.spread == "residual":
            self.spread_ = self._residual_spread(X, response, sample_weight, options)
        return self

    def _residual_spread(self, X: Any, measured: Array, weight: Any, options: dict[str, Any]) -> float:
        if len(measured) < 2:
            raise BadOption("residuals out of fold cannot be had of one sample", mend="Say spread='predictive'")
        folds = self.cv
        if isinstance(folds, int | np.integer):
            if folds < 2:
                raise BadOption(f"cv is {quoted(folds)}", mend="Say how many folds, from 2 on, or give a splitter")
            folds = KFold(min(int(folds), len(measured)), shuffle=True, random_state=0)
        said = cross_val_predict(self.regressor, X, measured, cv=folds, params=options)
        weights = None if weight is None else np.asarray(weight, dtype=np.float64)
        return float(np.sqrt(np.average(np.square(measured - column_or_1d(said)), weights=weights)))

    def predict_response(self, X: Any) -> Array:
        """The number that the regressor predicts."""
        check_is_fitted(self)
        return _finite(self.regressor_.predict(X), "prediction", self.continuum_)

    def predict(self, X: Any) -> AnyArray:
        """The class that holds what the regressor predicts."""
        response = self.predict_response(X)
        return np.asarray(self.classes_[self.continuum_.cut(response)])

    @where(_knows_spread)
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, where what is measured is normally distributed around its prediction.

        The highest need not be that of the class which holds the prediction: a class may be narrow.
        """
        check_is_fitted(self)
        if self.spread == "residual":
            said: Any = (self.regressor_.predict(X), np.full(1, self.spread_))
        else:
            said = found_by_search(self.regressor_).predict(X, return_std=True)
        mean, sd = (_finite(column, "prediction") for column in said)
        return class_probabilities(mean, sd, self.continuum_.boundaries, self.continuum_.closed)

    @where(lambda rule: len(rule.continuum) == 2)
    def decision_function(self, X: Any) -> Array:
        """Of two classes, how far the prediction is above the boundary between them."""
        return np.asarray(self.predict_response(X) - self.continuum_.boundaries[1])


def _one_of(y: Any, measured: Any) -> Any:
    """What was measured, under whichever name it came; not its ranks."""
    if measured is not None:
        if y is not None:
            raise BadOption("both y and measured are given", mend="Give one of them")
        return measured
    if _are_ranks(y):
        raise BadOption(
            "y looks like the ranks of what was measured: cross_val_predict makes them when asked for probabilities",
            mend="Give params={'measured': z} to it and no y; or y as floats, if these are the values",
        )
    return y


def _are_ranks(y: Any) -> bool:
    """Whether whole numbers from 0 on are seldom the same and seldom leave one out."""
    whole = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind == "i"
    ranks: Places = y if whole else np.zeros(0, np.int64)
    if len(ranks) < FEW or ranks.min() < 0:
        return False
    return bool(2 * len(distinct(ranks)) > max(len(ranks), ranks.max() + 1))


def _finite(values: Any, name: str, cut: Continuum | None = None, warn: bool = False) -> Array:
    """One finite number a row, which may be cut; the first row without one is named."""
    given = numbers(column_or_1d(values, warn=warn), name)
    column = given.astype(np.float64) if cut is None else cut.in_double(given)
    missing, infinite = np.isnan(column), np.isinf(column)
    if missing.any():
        row = int(np.argmax(missing))
        raise MissingValues("the value is missing", column=name, row=row, mend="Fill it in, or leave the row out")
    if infinite.any():
        row = int(np.argmax(infinite))
        raise NotNumbers(f"it is {column[row]}", column=name, row=row, mend="Measured values are finite")
    return column


def _weighed(sample_weight: Any) -> dict[str, Any]:
    """The option of fit where there are weights, and none where there are not: many fits do not know it."""
    return {} if sample_weight is None else {"sample_weight": sample_weight}

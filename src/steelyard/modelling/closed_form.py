"""Cross-validation without a fit for every part that is left out, where the fits can be told from one.

What is found is what the fits would say, to rounding. Nothing is taken on trust: two of the fits are made and compared,
so that neither a release of scikit-learn that defines something in another way nor data that cost too many digits pass
unnoticed. Parts of which it cannot be told what a fit would say are fitted. In all other cases there is no answer, and
the fits are to be made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import SteelyardError
from .leave_out import CLOSE, Answer, Leaving

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Places

FEW = 5  # parts: with fewer, as two of them are fitted all the same, hardly anything is gained
AGREED = 1e-11  # between what was found and what a fit says: a tenth of what is promised


@dataclass(frozen=True)
class HeldOut:
    """What a classifier said of rows that it was not fitted to.

    Attributes:
        labels: The class that each row was assigned to.
        probabilities: Of each class, in the order of ``classes``; None where the classifier tells none.
        scores: What its decision function says, where it tells no probabilities; else None.
        classes: The classes, as the fitted classifier lists them.
        said: How it was found, in a few words.
    """

    labels: AnyArray
    probabilities: Array | None
    scores: Array | None
    classes: AnyArray
    said: str

    @property
    def lost(self) -> bool:
        """Whether there is no number for some row."""
        return any(told is not None and bool(np.isnan(told).any()) for told in (self.probabilities, self.scores))


def closed_form(estimator: Any, x: Array, y: AnyArray, parts: Sequence[Places]) -> HeldOut | None:
    """Every row as classified by a fit to all rows outside its part; None where there is no such shortcut.

    Args:
        estimator: A classifier of scikit-learn, or a rule over a continuum.
        x: The variables, finite, (rows, variables).
        y: The class of each row; for a rule over a continuum, what was measured.
        parts: The rows of every part; every row is in one of them. A fit is taken to see its rows in their order.
    """
    from .cut_rules import CutClassifier, RegressionRule

    if len(parts) < FEW or not all(len(part) for part in parts):
        return None
    if type(estimator) is RegressionRule:
        return _regression_rule(estimator, x, y, parts)
    if type(estimator) is CutClassifier:
        return _cut(estimator, x, y, parts)
    return _classifier(estimator, x, y, parts)


def _classifier(estimator: Any, x: Array, y: AnyArray, parts: Sequence[Places]) -> HeldOut | None:
    within, scaled = _inside(estimator, x)
    family = _families().get(type(within))
    classes, codes = np.unique(y, return_inverse=True)
    if family is None or len(classes) < 2:
        return None
    leaving = Leaving(scaled, codes, len(classes), parts)
    if leaving.remaining.min() < 1:
        return None
    answer = family(within, leaving)
    return None if answer is None else _confirmed(_Fits(estimator, x, y, parts), answer, classes)


def _families() -> dict[type, Callable[[Any, Leaving], Answer | None]]:
    """What is known about which classifier."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

    from . import discriminant
    from .least_squares import ridge_classes
    from .nearest_neighbours import nearest

    return {
        LinearDiscriminantAnalysis: discriminant.linear,
        QuadraticDiscriminantAnalysis: discriminant.quadratic,
        GaussianNB: discriminant.naive_bayes,
        NearestCentroid: discriminant.centroids,
        KNeighborsClassifier: nearest,
        RidgeClassifier: ridge_classes,
    }


def _inside(estimator: Any, x: Array) -> tuple[Any, Array]:
    """The classifier behind a scaler that makes no difference to it, and the variables on its scale."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    if type(estimator) is not Pipeline or [type(step) for _, step in estimator.steps[:-1]] != [StandardScaler]:
        return estimator, x
    scaler, last = (step for _, step in estimator.steps)
    invariant = type(last) is LinearDiscriminantAnalysis or (
        type(last) is QuadraticDiscriminantAnalysis and last.reg_param == 0
    )
    if not invariant:
        return estimator, x
    spread = x.std(axis=0) if scaler.with_std else np.ones(x.shape[1])
    return last, np.asarray((x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


# --- fits that are made all the same --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Fits:
    """The fits that are spared, as they are made where it is needed."""

    estimator: Any
    x: Array
    y: AnyArray
    parts: Sequence[Places]

    def predicted(self, place: int, method: str | None) -> tuple[AnyArray, Array | None]:
        """What the fit without a part says of its rows: labels, and what a method tells besides."""
        from sklearn.base import clone

        part, rest = self.parts[place], np.ones(len(self.y), dtype=bool)
        rest[part] = False
        fitted = clone(self.estimator).fit(self.x[rest], self.y[rest])
        told = None if method is None else np.asarray(getattr(fitted, method)(self.x[part]))
        return np.asarray(fitted.predict(self.x[part])), told

    def whole(self, reduced: np.ufunc, values: AnyArray) -> AnyArray:
        """Values of rows, put together for each part."""
        sizes = np.array([len(part) for part in self.parts])
        return np.asarray(reduced.reduceat(values[np.concatenate(self.parts)], np.cumsum(sizes) - sizes))

    def probes(self, settled: Codes, certainty: Array) -> list[int]:
        """The parts, among those that are settled, with the row farthest out and with the least certain one.

        There errors show: far out, terms are large; and certainty hides what they are off by.
        """
        spread = self.x.std(axis=0)
        out = np.square((self.x - self.x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).sum(axis=1)
        farthest, least = self.whole(np.maximum, out), self.whole(np.minimum, certainty)
        return [int(settled[np.argmax(farthest[settled])]), int(settled[np.argmin(least[settled])])]


def _confirmed(fits: _Fits, answer: Answer, classes: AnyArray) -> HeldOut | None:
    """What was found, once it has been compared with fits and filled in by fits; None where they say otherwise."""
    doubtful = fits.whole(np.logical_or, answer.doubtful)
    found = HeldOut(classes[answer.codes], answer.probabilities, answer.scores, classes, answer.said)
    if 2 * doubtful.sum() > len(doubtful):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            probes = fits.probes(np.flatnonzero(~doubtful), _certainty(found))
            if not all(_agrees(found, fits, place) for place in probes):
                return None
            _fill_in(found, fits, np.flatnonzero(doubtful))
    except Exception:  # whatever a fit raises, or warns of, it shall do so in front of the user
        return None
    return replace(found, said=f"{found.said}; {doubtful.sum()} parts fitted") if doubtful.any() else found


def _told(found: HeldOut) -> tuple[str | None, Array | None]:
    """The method that tells more than labels, and what was found for it."""
    if found.probabilities is not None:
        return "predict_proba", found.probabilities
    return (None, None) if found.scores is None else ("decision_function", found.scores)


def _certainty(found: HeldOut) -> Array:
    """How clear it is which class a row is assigned to."""
    numbers = _told(found)[1]
    if numbers is None:
        return np.zeros(len(found.labels))
    return np.asarray(np.abs(numbers) if numbers.ndim == 1 else numbers.max(axis=1))


def _agrees(found: HeldOut, fits: _Fits, place: int) -> bool:
    """Whether what was found is what the fit without a part says."""
    part, (method, numbers) = fits.parts[place], _told(found)
    labels, told = fits.predicted(place, method)
    if not np.array_equal(found.labels[part], labels):
        return False
    return numbers is None or told is None or np.allclose(numbers[part], told, rtol=AGREED, atol=AGREED)


def _fill_in(found: HeldOut, fits: _Fits, places: Codes) -> None:
    """Put what the fits without some parts say into its place."""
    method, numbers = _told(found)
    for place in places.tolist():
        part = fits.parts[place]
        found.labels[part], told = fits.predicted(place, method)
        if numbers is not None and told is not None:
            numbers[part] = told


# --- rules over a continuum -----------------------------------------------------------------------------------------


def _regression_rule(rule: Any, x: Array, y: AnyArray, parts: Sequence[Places]) -> HeldOut | None:
    """The class that holds what a linear regressor predicts."""
    from sklearn.linear_model import LinearRegression, Ridge

    from .least_squares import SAID, responses

    if rule.spread != "predictive" or type(rule.regressor) not in (LinearRegression, Ridge) or _codes(rule, y) is None:
        return None
    found = responses(rule.regressor, x, y, parts)
    if found is None:
        return None
    response, doubtful = found
    continuum = rule.continuum.but(extend=True)
    inner = np.asarray(continuum.boundaries[1:-1])
    near = np.abs(response[:, None] - inner) <= CLOSE * (1 + np.abs(inner))
    scores = response - continuum.boundaries[1] if len(continuum) == 2 else None
    answer = Answer(continuum.cut(response), None, scores, doubtful | near.any(axis=1), SAID)
    return _confirmed(_Fits(rule, x, y, parts), answer, np.asarray(continuum.classes))


def _codes(rule: Any, y: AnyArray) -> Codes | None:
    """The classes of measured values, unless there is anything wrong with them."""
    from ..core.scale import Continuum

    if not isinstance(rule.continuum, Continuum) or y.dtype.kind != "f":
        return None
    try:
        return rule.continuum.cut(y)
    except SteelyardError:
        return None


def _cut(rule: Any, x: Array, y: AnyArray, parts: Sequence[Places]) -> HeldOut | None:
    """A classifier of classes that are cut from measured values."""
    from .cut_rules import LOWEST

    codes = _codes(rule, y)
    if codes is None:
        return None
    classes = np.asarray(rule.continuum.classes)
    found = _classifier(rule.estimator, x, classes[codes], parts)
    if found is None:
        return None
    seen = [rule.continuum.code(label) for label in found.classes]
    scores = found.scores
    if scores is not None:
        both = scores if scores.ndim > 1 else np.stack([-scores, scores], axis=1)
        scores = _placed(both, seen, len(classes), LOWEST)
        scores = scores[:, 1] if len(classes) == 2 else scores
    probabilities = found.probabilities
    if probabilities is not None:
        probabilities = _placed(probabilities, seen, len(classes), 0.0)
    return replace(found, probabilities=probabilities, scores=scores, classes=classes)


def _placed(columns: Array, seen: Sequence[int], classes: int, unseen: float) -> Array:
    """Columns of the classes that were seen, among those of all classes."""
    placed = np.full((len(columns), classes), unseen)
    placed[:, seen] = columns
    return placed

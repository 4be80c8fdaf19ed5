"""Cross-validation without a fit for every part that is left out, where the fits can be told from one.

What is found is what the fits would say, to rounding. Nothing is taken on trust: two of the fits are made and compared,
so that neither a release of scikit-learn that defines something in another way nor data that cost too many digits pass
unnoticed. Parts of which it cannot be told what a fit would say are fitted. In all other cases there is no answer, and
the fits are to be made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import SteelyardError
from .leave_out import CLOSE, HeldOut, Leaving

if TYPE_CHECKING:
    from ..core.typing import AnyArray, Array, Codes, Places

FEW = 5  # parts: with fewer, as two of them are fitted all the same, hardly anything is gained
AGREED = 1e-11  # between what was found and what a fit says: a tenth of what is promised


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
    labels, codes = np.unique(y, return_inverse=True)
    if family is None or len(labels) < 2:
        return None
    leaving = Leaving(scaled, codes, labels, parts)
    if leaving.remaining.min() < 1:
        return None
    found = family(within, leaving)
    return None if found is None else _confirmed(found, estimator, x, y, parts)


def _families() -> dict[type, Callable[[Any, Leaving], HeldOut | None]]:
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


def _confirmed(found: HeldOut, estimator: Any, x: Array, y: AnyArray, parts: Sequence[Places]) -> HeldOut | None:
    """Compare what was found with two fits, and fill in what is in doubt; None where the fits say otherwise."""
    doubtful = _by_part(np.logical_or, found.doubtful, parts)
    if 2 * doubtful.sum() > len(doubtful):
        return None
    method, numbers = found.told
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for place in _probes(found, x, parts, np.flatnonzero(~doubtful)):
                labels, told = _predicted(estimator, x, y, parts[place], method)
                agrees = numbers is None or np.allclose(numbers[parts[place]], told, rtol=AGREED, atol=AGREED)
                if not (agrees and np.array_equal(found.labels[parts[place]], labels)):
                    return None
            for place in np.flatnonzero(doubtful).tolist():
                found.labels[parts[place]], told = _predicted(estimator, x, y, parts[place], method)
                if numbers is not None:
                    numbers[parts[place]] = told
    except Exception:  # whatever a fit raises, or warns of, it shall do so in front of the user
        return None
    return replace(found, said=f"{found.said}; {doubtful.sum()} parts fitted") if doubtful.any() else found


def _predicted(estimator: Any, x: Array, y: AnyArray, part: Places, method: str) -> tuple[AnyArray, AnyArray]:
    """Fit without a part, and return what the fit predicts for its rows: labels, and the numbers of a method."""
    from sklearn.base import clone

    rest = np.ones(len(y), dtype=bool)
    rest[part] = False
    fitted = clone(estimator).fit(x[rest], y[rest])
    told = getattr(fitted, method)(x[part]) if method else ()
    return np.asarray(fitted.predict(x[part])), np.asarray(told)


def _by_part(reduced: np.ufunc, values: AnyArray, parts: Sequence[Places]) -> AnyArray:
    """Put values of rows together for each part."""
    sizes = np.array([len(part) for part in parts])
    return np.asarray(reduced.reduceat(values[np.concatenate(parts)], np.cumsum(sizes) - sizes))


def _probes(found: HeldOut, x: Array, parts: Sequence[Places], settled: Codes) -> list[int]:
    """Return the parts, among those that are settled, with the row farthest out and with the least certain one.

    There errors show: far out, terms are large; and certainty hides what they are off by.
    """
    spread, numbers = x.std(axis=0), found.told[1]
    out = np.square((x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).sum(axis=1)
    certainty = np.zeros(len(x))
    if numbers is not None:
        certainty = np.abs(numbers) if numbers.ndim == 1 else numbers.max(axis=1)
    farthest, least = _by_part(np.maximum, out, parts), _by_part(np.minimum, certainty, parts)
    return [int(settled[np.argmax(farthest[settled])]), int(settled[np.argmin(least[settled])])]


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
    classes = np.asarray(continuum.classes)
    answer = HeldOut(classes[continuum.cut(response)], None, scores, classes, SAID, doubtful | near.any(axis=1))
    return _confirmed(answer, rule, x, y, parts)


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
    from .cut_rules import among_all, scores_among_all

    codes = _codes(rule, y)
    if codes is None:
        return None
    classes = np.asarray(rule.continuum.classes)
    found = _classifier(rule.estimator, x, classes[codes], parts)
    if found is None:
        return None
    scores, probabilities = found.scores, found.probabilities
    if scores is not None:
        scores = scores_among_all(scores, found.classes, rule.continuum)
    if probabilities is not None:
        probabilities = among_all(probabilities, found.classes, rule.continuum, 0.0)
    return replace(found, probabilities=probabilities, scores=scores, classes=classes)

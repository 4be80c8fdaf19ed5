"""Every measure as a score that scikit-learn's searches and cross-validation maximise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.errors import BadOption, UnknownMeasure, quoted
from ..core.scale import Continuum, Scale, listed
from ..inputs.dataset import NEEDS, RESPONSE, RESPONSE_SD, SD
from ..measures import find, of_class
from ..measures.registry import Measure
from ..results.api import assess
from ..states.statistics import CALIBRATION, CONTINUUM, FORECASTS, RANKING
from .estimators import classes_of, decisions_of, labels_of, memberships_of, refuse_silent, scale_of_estimator
from .response import response_of

KIND = "weight_kind"
KNOWN = (SD, RESPONSE_SD, RESPONSE, "undefined", KIND)  # what is said of the rows, not of the measure
UNSAID = {
    SD: "Give sd=0.22, the standard deviation of the measurement error",
    RESPONSE_SD: "Give sd_response=0.3, the standard deviation of the response around its mean",
    RESPONSE: "Give response=, a function of the covariates or a fitted regressor that knows return_std=True",
}
CALIBRATE = "Choose a classifier that has it, or wrap this one: CalibratedClassifierCV(classifier)"


def scorer(
    name: str | Measure, *, scale: Scale | None = None, event: Any = None, part: Any = None, **options: Any
) -> Scorer:
    """A measure as ``scoring=`` of scikit-learn: ``GridSearchCV(model, grid, scoring=scorer("brier"))``.

    The greater the better: a measure of which less is better is turned round. Measures of counts judge what the
    estimator predicts, those of rankings and forecasts its probabilities, all bound to the classes by their names.

    Args:
        name: The measure.
        scale: The classes; those of the estimator if not given. With a Continuum, y is what was measured.
        event: The class of interest.
        part: The class, or the average ("macro", "weighted", "micro"), whose value is the score.
        **options: Parameters of the measure (``beta=0.5``, ``costs={...}``); ``sd`` and ``sd_response``, one number
            for all rows; ``response``, a function of the covariates that gives the expected response and its standard
            deviation without the error of measuring it, or a fitted regressor (``return_std=True``), fitted to other
            rows, from whose variances that error is taken as ``fit_response`` does; ``undefined``, the score where
            the measure has no value; and ``weight_kind``, what a ``sample_weight`` means, "sampling" or "frequency".

    Returns:
        A function of an estimator, X, y and perhaps ``sample_weight``.
    """
    if found := of_class(name):
        raise UnknownMeasure(
            f"{quoted(name)} is {found.measure} of one class", mend=f"Say scorer('{found.measure}', part=...)"
        )
    entry = find(name, **{key: value for key, value in options.items() if key not in KNOWN})
    if entry.better == "neither":
        raise BadOption(
            f"{entry.label} cannot be a score: no value of it is better than another",
            mend="Choose a measure of how good a classifier is; `steelyard measures` lists them",
        )
    if entry.needs:
        raise UnknownMeasure(f"{entry.label} needs {listed(entry.needs)}", mend=f"Give {entry.needs[0]}=...")
    if scale is not None and not isinstance(scale, Scale):
        raise BadOption(f"scale is {quoted(scale)}", mend="Give scale=Scale(['low', 'high'])")
    known = {key: value for key, value in options.items() if key in KNOWN}
    _refuse_rows(known | ({SD: scale.sd} if isinstance(scale, Continuum) and SD not in known else {}))
    if entry.statistic is CONTINUUM:
        _refuse_unsaid(entry, scale, known)
    return Scorer(entry, scale, event, part, known)


def _refuse_rows(known: Mapping[str, Any]) -> None:
    """A score is of other rows each time, so that what is said row by row would be said of the wrong ones."""
    for name in (SD, RESPONSE_SD):
        if np.ndim(known.get(name, 0.0)):
            raise BadOption(f"{name} is said row by row, and folds have other rows", mend=f"Give one {name} for all")
    model = known.get(RESPONSE)
    if model is not None and not callable(model) and not hasattr(model, "predict"):
        raise BadOption(
            "response is said row by row, and folds have other rows",
            mend="Give a function of the covariates, or a fitted regressor that knows return_std=True",
        )
    if hasattr(model, "get_params") and not callable(model) and not _is_fitted(model):
        raise BadOption(f"response is {quoted(model)}, which is not fitted", mend="Fit it first, to other rows")
    if model is not None and not callable(model):
        refuse_silent(model, RESPONSE, UNSAID[RESPONSE])


def _refuse_unsaid(measure: Measure, scale: Scale | None, known: Mapping[str, Any]) -> None:
    """Raise the error for what no fold can bring: scikit-learn would make it a warning for each, and a score of NaN."""
    noted = scale is None or (isinstance(scale, Continuum) and scale.sd is not None)  # or a rule brings its own
    for need in (need for name in measure.arguments for need in NEEDS.get(name, ())):
        if need not in known and not (need == SD and noted):
            raise UnknownMeasure(f"{measure.label} needs {need}", mend=UNSAID[need])


def _is_fitted(model: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


@dataclass(frozen=True, repr=False, eq=False)
class Scorer:
    """A measure, ready to be called with an estimator, its covariates and the truth.

    Attributes:
        measure: The measure.
        scale: The classes, where they were named.
        event: The class of interest.
        part: The class or the average whose value is the score.
        known: What is said of the rows.
        requested: Whether sample weights are wanted where scikit-learn routes metadata.
    """

    measure: Measure
    scale: Scale | None = None
    event: Any = None
    part: Any = None
    known: Mapping[str, Any] = field(default_factory=dict)
    requested: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score an estimator that has been fitted."""
        scale = scale_of_estimator(estimator, y) if self.scale is None else self.scale
        known = {key: value for key, value in self.known.items() if key != KIND or sample_weight is not None}
        if RESPONSE in known:
            known[RESPONSE] = self._expected(X, y, scale)
        result = assess(
            y,
            self._said(estimator, X, scale),
            scale=scale,
            event=self.event,
            weight=sample_weight,
            measures=[self.measure],
            **known,
        )
        return -float(self.measure.loss(result[self.measure, self.part].value))

    def _expected(self, X: Any, y: Any, scale: Scale | None) -> Any:
        """What a response model expects of these rows; what regressors tell of it is of measurements, mostly."""
        model, noted = self.known[RESPONSE], scale.sd if isinstance(scale, Continuum) else None
        return model(X) if callable(model) else response_of(model, X, y, self.known.get(SD, noted) or 0.0)

    def _said(self, estimator: Any, X: Any, scale: Scale | None) -> Any:
        """What the estimator says of the rows, in the form that the measure is made of."""
        statistic = self.measure.statistic
        if statistic not in (RANKING, FORECASTS, CALIBRATION):
            return labels_of(estimator, X, scale)
        if hasattr(estimator, "predict_proba"):
            return memberships_of(estimator, X, scale)
        ranks = statistic is RANKING and hasattr(estimator, "decision_function")
        decisions = decisions_of(estimator, X, scale) if ranks and scale is not None else None
        if decisions is None or scale is None:
            needed = "scores" if statistic is RANKING and not ranks else "probabilities"
            raise UnknownMeasure(
                f"{self.measure.label} needs {needed}, and {type(estimator).__name__} has no predict_proba",
                mend=CALIBRATE,
            )
        if len(decisions) > 2:
            return decisions
        speaks = classes_of(estimator)[-1]
        return {scale.label(speaks): decisions[speaks]}

    def set_score_request(self, *, sample_weight: bool | str | None) -> Scorer:
        """The same score, with or without sample weights where scikit-learn routes metadata."""
        return replace(self, requested=sample_weight)

    def get_metadata_routing(self) -> Any:
        """What scikit-learn asks where it routes metadata."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=repr(self))
        request.score.add_request(param="sample_weight", alias=self.requested)
        return request

    def _accept_sample_weight(self) -> bool:
        """A search asks this of every scorer in a dictionary, and fails where there is no answer."""
        return True

    def __repr__(self) -> str:
        """How it was made, and what it is."""
        hidden = {key: self.measure.parameters[key] for key in self.measure.changed if key not in self.measure.label}
        named = {"scale": self.scale, "event": self.event, "part": self.part, **hidden, **self.known}
        said = [f"{key}={value!r}" for key, value in named.items() if value is not None]
        minus = "minus " if self.measure.better == "lower" else ""
        return f"scorer({', '.join([repr(self.measure.label), *said])}): {minus}{self.measure.title}"

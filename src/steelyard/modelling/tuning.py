"""Choosing the parameters of a classifier by any measure, and what the classifier so chosen is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import evened
from ..core.cached import cached_property
from ..core.columns import is_single
from ..core.errors import BadOption, MissingValues, quoted
from ..core.scale import Continuum, Scale, listed
from ..core.suggestions import with_known_options
from ..core.table import Table
from ..core.text import clipped, to_text
from ..inputs.dataset import RESPONSE, RESPONSE_SD, SD
from ..measures import refuse_of_class
from ..measures.registry import Measure, same
from ..results import accessors
from .cross import cross_assess
from .cross_assessment import CrossAssessment
from .estimators import inner_has, labels_of, where
from .models import named_model, whole_rule

if TYPE_CHECKING:
    from ..core.estimate import Estimate
    from ..core.typing import Array
    from ..results.accessors import TuningPictures

LOG = "log_score"
ROWS = ("groups", SD, RESPONSE_SD, RESPONSE)  # what may be said row by row
SEARCH = ("cv", "scale", "event", "repeats", "seed")
RESULTS = ("value", "low", "high", "se", "training", "rank", "chosen")  # columns of a table of candidates
DOING = ("training", "n_jobs", "progress")  # how it is done, whatever comes of it


@dataclass(frozen=True)
class Candidate:
    """One setting of the parameters.

    Attributes:
        name: How it is called in tables.
        parameters: The parameters.
        estimate: What the measure is on rows held out, with its interval.
        training: What it is on rows fitted to.
    """

    name: str
    parameters: Mapping[str, Any]
    estimate: Estimate
    training: float


@dataclass(frozen=True, eq=False)
class Tuning:
    """Candidates held against each other on the same folds, and the one that was chosen.

    Attributes:
        estimator: The classifier, not fitted.
        measure: By what the candidates are judged.
        candidates: In the order of the grid.
        one_se: Whether the first candidate within one standard error of the best was chosen, not the best.
        cross: The cross-validation of all candidates.
        options: How it was made, to do the same again on fewer rows.
    """

    estimator: Any
    measure: Measure
    candidates: tuple[Candidate, ...]
    one_se: bool
    cross: CrossAssessment
    options: Mapping[str, Any]

    @cached_property
    def _losses(self) -> Array:
        """The values of all candidates, turned so that less is better; equal but for rounding is equal."""
        return evened(self.measure.loss(np.array([one.estimate.value for one in self.candidates])))

    @cached_property
    def best(self) -> Candidate:
        """The candidate with the best value; the first of equals."""
        known = np.flatnonzero(~np.isnan(self._losses))
        if not len(known):
            raise BadOption(f"{self.measure.label} is undefined for every candidate", mend="Choose another measure")
        return self.candidates[int(known[np.argmin(self._losses[known])])]

    @cached_property
    def chosen(self) -> Candidate:
        """The best; or the first that is no more than one standard error worse, where there is one to be told."""
        if not self.one_se:
            return self.best
        limit = np.nanmin(self._losses) + self.best.estimate.se
        pairs = zip(self.candidates, self._losses, strict=True)
        return next((one for one, loss in pairs if loss <= limit), self.best)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that were chosen."""
        return self.chosen.parameters

    @property
    def tied(self) -> str:
        """Why the measure cannot choose, where all candidates have the same value, as infinite log scores are."""
        losses = self._losses
        if len(losses) < 2 or not (losses == losses[0]).all():
            return ""
        endless = self.measure.name == LOG and losses[0] == np.inf
        why = ". It is infinite, and measure='brier' is not" if endless else ""
        return f"{self.measure.title} is the same for all {len(losses):,}, and tells none of them apart{why}"

    @property
    def notes(self) -> list[str]:
        """What there is to know about the choice: that there was none, and how labels were scored as forecasts."""
        said = {name: self.cross[name].words_on_labels for name in self.cross.models}
        words = [note for notes in said.values() for note in notes]
        hard = [name for name, notes in said.items() if notes]
        whose = "" if len(hard) == len(said) else f"{listed(hard, 3)}: "
        return [*filter(None, [self.tied]), *[f"{whose}{note}" for note in dict.fromkeys(words)]]

    def table(self) -> Table:
        """Every candidate.

        Returns:
            A tidy table with one column a parameter, and value, low, high, se, training, rank and chosen.
        """
        names = list(dict.fromkeys(name for one in self.candidates for name in one.parameters))
        columns: dict[str, list[Any]] = {
            column_of(name): [_plain(one.parameters.get(name)) for one in self.candidates] for name in names
        }
        for name in ("value", "low", "high", "se"):
            columns[name] = [getattr(one.estimate, name) for one in self.candidates]
        columns["training"] = [one.training for one in self.candidates]
        columns["rank"] = [None if np.isnan(one) else 1 + int((self._losses < one).sum()) for one in self._losses]
        columns["chosen"] = [one is self.chosen for one in self.candidates]
        return Table(columns)

    def fit(self, X: Any, y: Any) -> Any:
        """The classifier with the chosen parameters, fitted to rows."""
        chosen = clone(self.estimator).set_params(**self.parameters)
        return whole_rule(chosen, self.options.get("scale")).fit(X, y)

    def assess(self, X: Any, y: Any, *, cv: Any = None, **options: Any) -> CrossAssessment:
        """What the classifier is worth when it is tuned anew on the rows of each fit: nested cross-validation.

        The value of the chosen candidate is the best of many, and so too good. Here no row that judges has had a part
        in choosing.

        Args:
            X: The variables.
            y: The true labels, or what was measured.
            cv: The outer folds; as many as the inner ones if not given.
            **options: As of ``cross_assess``; ``measures`` are the one that was tuned by, if not given.
        """
        outer = {name: value for name, value in self.options.items() if name not in ("cv", "repeats")}
        outer["measures"] = [self.measure]
        folds = self.options["cv"] if cv is None else cv
        return cross_assess({"tuned": self.again()}, X, y, cv=folds, **{**outer, **options})

    def again(self) -> TunedClassifier:
        """The same search as an estimator, which does it on whatever rows it is fitted to.

        What was said row by row, its ``fit`` must be told of the new rows: ``fit(X, y, groups=...)``.
        """
        grid = [dict(one.parameters) for one in self.candidates]
        told = row_wise(self.options)
        scale, used = self.options.get("scale"), {*told, *SEARCH, *DOING}
        if SD in told and isinstance(scale, Continuum):
            scale = scale.but(sd=None)
        kept: dict[str, Any] = {name: self.options[name] for name in SEARCH if name in self.options}
        kept |= {"scale": scale, "measure": self.measure, "one_se": self.one_se, "row_wise": told}
        others = {name: value for name, value in self.options.items() if name not in used}
        return TunedClassifier(self.estimator, grid, **kept, options=others or None)

    @property
    def plot(self) -> TuningPictures:
        """The curve of values with their bars: ``tuning.plot.curve()``."""
        return accessors.TuningPictures(self)

    def __str__(self) -> str:
        """Candidates and choice."""
        return clipped(to_text(accessors.tuning_view(self)), "table() has all candidates")

    __repr__ = __str__


def column_of(parameter: str) -> str:
    """The column of a parameter in the table of candidates; one that is called like a result is marked."""
    return f"{parameter} (parameter)" if parameter in RESULTS else parameter


def row_wise(options: Mapping[str, Any]) -> tuple[str, ...]:
    """What was said of each row by itself, and so holds for no others."""
    scale = options.get("scale")
    found = {SD: scale.sd} if isinstance(scale, Continuum) else {}
    found |= {name: options[name] for name in ROWS if options.get(name) is not None}
    alone = {name for name in (SD, RESPONSE_SD) if name in found and is_single(found[name])}
    return tuple(name for name in found if name not in alone)


def _plain(value: Any) -> Any:
    """A value that a table can hold."""
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, int | float | str | bool) else repr(value)


@with_known_options
def tune(
    estimator: Any,
    grid: Any,
    X: Any,
    y: Any,
    *,
    measure: str | Measure = "error",
    cv: Any = 10,
    one_se: bool = False,
    **options: Any,
) -> Tuning:
    """Choose parameters by cross-validation, by any measure that has a better end.

    Args:
        estimator: The classifier, or its name.
        grid: {parameter: values}, all of whose combinations are tried, in the order in which they are written, the
            last parameter first; or a list of such. List what is simpler first, if the choice is to be the simplest
            that will do (for nearest neighbours, many of them).
        X: The variables.
        y: The true labels; with scale=Continuum(...), what was measured.
        measure: By what candidates are judged. By a score of forecasts, a classifier that gives no probabilities is
            judged as one that gives its predicted class the probability 1.
        cv: How rows are held out; see ``cross_assess``.
        one_se: Whether to choose the first candidate that is no more than one standard error worse than the best.
        **options: scale, event, groups, repeats, seed, n_jobs, progress and others of ``cross_assess``.

    Returns:
        A Tuning: ``parameters``, ``table()``, ``notes``, ``plot.curve()``, ``fit(X, y)``; ``assess(X, y)`` tells what
        the tuned classifier is worth.
    """
    if "measures" in options:
        raise BadOption("candidates are judged by one measure", mend="Say measure= rather than measures=")
    refuse_of_class(measure)
    rule = named_model(estimator) if isinstance(estimator, str) else estimator
    settings = _read(grid)
    named = dict(zip(_names(settings), settings, strict=True))
    candidates = {name: _set(rule, parameters) for name, parameters in named.items()}
    cross = cross_assess(candidates, X, y, cv=cv, measures=[measure], **options)
    entry = cross.settings.measures[0].with_better_end()
    found = tuple(
        Candidate(name, named[name], one[entry], float("nan") if one.training is None else one.training[entry].value)
        for name, one in cross.assessments.items()
    )
    return Tuning(rule, entry, found, one_se, cross, {"cv": cv, **options})


def _read(grid: Any) -> list[dict[str, Any]]:
    """All combinations of a grid."""
    wrong = BadOption(f"grid is {quoted(grid)}", mend="Give {parameter: values}: {'n_neighbors': range(1, 11)}")
    if not isinstance(grid, Mapping | Sequence) or isinstance(grid, str):
        raise wrong
    parts = [grid] if isinstance(grid, Mapping) else list(grid)
    found: list[dict[str, Any]] = []
    for part in parts:
        if not isinstance(part, Mapping):
            raise wrong
        # A single value stands for itself.
        lists = {
            name: list(values) if hasattr(values, "__iter__") and not isinstance(values, str) else [values]
            for name, values in part.items()
        }
        every = (dict(zip(lists, values, strict=True)) for values in product(*lists.values()))
        for one in every:
            if not any(same(one, other) for other in found):
                found.append(one)
    if not found:
        raise BadOption("the grid is empty", mend="Give at least one value of a parameter")
    return found


def _names(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """What tells each candidate from the others; numbers do where words do not."""
    found: list[str] = []
    for parameters in settings:
        differ = [key for key in parameters if not all(same(parameters[key], other.get(key)) for other in settings)]
        name = ", ".join(f"{key}={parameters[key]}" for key in differ or parameters) or "as it is"
        found.append(name if name not in found else f"{name} ({1 + len(found)})")
    return found


def _set(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    try:
        return clone(estimator).set_params(**parameters)
    except ValueError as error:
        raise BadOption(str(error).split(". Valid")[0], mend=f"See {type(estimator).__name__}().get_params()") from None
    except (TypeError, AttributeError):
        raise BadOption(
            f"{quoted(estimator)} is no estimator", mend="Give one of scikit-learn's, or of its kind"
        ) from None


class TunedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A classifier that chooses its parameters on the rows that it is fitted to.

    Args:
        estimator: The classifier.
        grid: See ``tune``, as for all that follow.
        measure: By what candidates are judged.
        cv: How rows are held out.
        one_se: Whether to choose the first candidate within one standard error of the best.
        scale: The classes.
        event: The class of interest.
        repeats: How often folds are made anew.
        seed: Where random numbers start.
        row_wise: What fit must be told of every row; ``("groups",)`` where it is not to forget them.
        options: Others of ``cross_assess`` that hold for all rows: ``{"sd": 0.1}``.
    """

    def __init__(
        self,
        estimator: Any,
        grid: Any,
        measure: str | Measure = "error",
        cv: Any = 10,
        one_se: bool = False,
        scale: Scale | None = None,
        event: Any = None,
        repeats: int = 1,
        seed: int | None = None,
        row_wise: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.measure = measure
        self.cv = cv
        self.one_se = one_se
        self.scale = scale
        self.event = event
        self.repeats = repeats
        self.seed = seed
        self.row_wise = row_wise
        self.options = options

    def fit(
        self, X: Any, y: Any, *, groups: Any = None, sd: Any = None, sd_response: Any = None, response: Any = None
    ) -> Self:
        """Choose the parameters, and fit the classifier with them to all rows.

        Args:
            X: The variables.
            y: The true labels, or what was measured.
            groups: Rows that belong together; ``cross_assess`` hands on those that it is given, as what follows.
            sd: The standard deviation of the measurement error, if it was not said before for all rows.
            sd_response: That of the response around what the covariates tell, likewise.
            response: What a response model expects of each row, and the standard deviation around that.
        """
        names = ("measure", "one_se", *SEARCH)
        options = {name: getattr(self, name) for name in names} | self._told((groups, sd, sd_response, response))
        try:
            self.tuning_ = tune(self.estimator, self.grid, X, y, training=False, progress=False, **options)
        except MissingValues as error:  # a classifier leaves no rows out by itself
            raise error.mended("Fill it in, or leave such rows out of X, y and what goes with them") from None
        self.best_estimator_ = self.tuning_.fit(X, y)
        if hasattr(self.best_estimator_, "classes_"):  # one that gives labels alone need not have it
            self.classes_ = self.best_estimator_.classes_
        return self

    def _told(self, columns: Sequence[Any]) -> dict[str, Any]:
        """What is said of the rows beside X and y; what was said for all of them may know how sure it is, and stays."""
        rows = {name: column for name, column in zip(ROWS, columns, strict=True) if column is not None}
        for name in self.row_wise:
            if name not in rows:
                problem = f"{name} had a part in the search, and those of these rows are not given"
                raise BadOption(problem, mend=f"Say them again: fit(X, y, {name}=...)")
        if getattr(self.scale, SD, None) is not None:
            rows.pop(SD, None)
        return rows | dict(self.options or {})

    def predict(self, X: Any) -> Any:
        """The classes that the chosen classifier assigns."""
        check_is_fitted(self)
        return labels_of(self.best_estimator_, X, None)

    @where(inner_has("predict_proba", "best_estimator_"))
    def predict_proba(self, X: Any) -> Array:
        """The probabilities that the chosen classifier gives."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X))

    @where(inner_has("decision_function", "best_estimator_"))
    def decision_function(self, X: Any) -> Array:
        """The scores that the chosen classifier gives."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.decision_function(X))

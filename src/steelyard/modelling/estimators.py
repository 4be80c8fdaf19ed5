"""What an estimator in the style of scikit-learn says of rows, bound to classes by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..core.errors import BadOption, NoVariance, UnknownMeasure, WrongShape
from ..core.scale import Continuum, Label, Scale, plain_label
from ..inputs.categorical import in_their_order
from ..inputs.labels import encode

if TYPE_CHECKING:
    from ..core.typing import Array

LOWEST = float(np.finfo(np.float64).min)  # the score of classes that training did not have
Method = TypeVar("Method", bound=Callable[..., Any])


def scale_of_estimator(estimator: Any, y: Any) -> Scale | None:
    """The continuum that a rule cuts by, or the classes that an estimator knows and those that it does not."""
    if isinstance(cut := getattr(innermost(estimator), "continuum", None), Continuum):
        return cut
    if not hasattr(estimator, "classes_"):
        return None
    classes, true = classes_of(estimator), encode(y, "truth")
    labels = [*classes, *[label for label in true.labels if label not in classes]]
    arranged = in_their_order(labels, [true])
    return Scale(arranged or labels, ordered=bool(arranged))


def innermost(estimator: Any) -> Any:
    """What a pipeline ends in, and what a search has found."""
    while hasattr(estimator, "steps") or hasattr(estimator, "best_estimator_"):
        estimator = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator.best_estimator_
    return estimator


def found_by_search(estimator: Any) -> Any:
    """What a search has found, whose predict takes options that the search does not pass on."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    return estimator


def is_estimator(model: Any) -> bool:
    """Tell what can be fitted and asked to predict."""
    return hasattr(model, "fit") and hasattr(model, "predict") and not inspect.isclass(model)


def copy_of(estimator: Any) -> Any:
    """The same, not fitted; what is not made after scikit-learn's pattern is copied as it is."""
    from sklearn.base import clone

    return clone(estimator) if hasattr(estimator, "get_params") else deepcopy(estimator)


def predicts_numbers(estimator: Any) -> bool:
    """Whether an estimator says that it is a regressor; some say nothing."""
    from sklearn.base import is_regressor

    return hasattr(estimator, "__sklearn_tags__") and bool(is_regressor(estimator))


def tells_spread(model: Any) -> bool:
    """Whether a regressor, or the pipeline that ends in one, gives a standard deviation beside what it predicts."""
    inner = innermost(model)
    if hasattr(inner, "refit") and hasattr(inner, "estimator"):  # a search that has found nothing yet
        inner = innermost(inner.estimator)
    return "return_std" in inspect.signature(inner.predict).parameters


def refuse_silent(model: Any, name: str, mend: str) -> None:
    """Refuse a regressor that does not tell how sure it is."""
    if not tells_spread(model):
        problem = f"{type(innermost(model)).__name__} does not tell how sure its predictions are"
        raise NoVariance(problem, column=name, mend=mend)


def learns_no_classes(estimator: Any) -> str:
    """What an estimator says that it is, if it looks at nobody's classes: its own numbers could pass for labels."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return ""
    from sklearn.utils import get_tags

    kind = get_tags(estimator).estimator_type
    return kind.replace("_", " ") if kind in ("clusterer", "outlier_detector", "density_estimator") else ""


def classes_of(estimator: Any) -> list[Label]:
    """The classes that an estimator knows, in the order of its columns."""
    if not hasattr(estimator, "classes_"):
        raise UnknownMeasure(
            f"{type(estimator).__name__} has no classes_, which say what its columns are", mend="Give it that attribute"
        )
    return [plain_label(label) for label in estimator.classes_]


def labels_of(estimator: Any, X: Any, scale: Scale | None) -> Any:
    """The classes that an estimator assigns."""
    said = np.asarray(estimator.predict(X))
    if said.ndim == 2 and said.shape[1] == 1:  # as CatBoost gives them where there are more than two
        said = said[:, 0]
    if scale is not None and said.dtype.kind == "f":
        known = [label for label in scale.classes if not isinstance(label, str)]
        if not np.isin(said, known).all():
            raise BadOption(
                f"{type(estimator).__name__} predicts numbers that are no classes",
                mend="RegressionRule(regressor, continuum) assigns the class that holds the number",
            )
    return said


def memberships_of(estimator: Any, X: Any, scale: Scale | None) -> dict[Label, Array]:
    """The columns of probabilities by class; 0 for classes that training did not have."""
    classes, table = classes_of(estimator), np.asarray(estimator.predict_proba(X))
    if table.ndim != 2 or table.shape[1] != len(classes):
        raise WrongShape(
            f"predict_proba gives the shape {table.shape} for {len(classes)} classes", mend="One column a class"
        )
    columns = dict(zip(classes, table.T, strict=True))
    none = np.zeros(len(table))
    return columns | {label: none for label in scale.classes if label not in columns} if scale else columns


def decisions_of(estimator: Any, X: Any, scale: Scale) -> dict[Label, Array] | None:
    """The scores of each class against all others, by class; None where the estimator has others, or none."""
    if not hasattr(estimator, "decision_function") or not hasattr(estimator, "classes_"):
        return None
    # Scores of pairs of classes are as many as classes where these are three.
    pairs = getattr(innermost(estimator), "decision_function_shape", "ovr") == "ovo"
    if pairs and len(estimator.classes_) > 2:
        return None
    classes, table = classes_of(estimator), np.asarray(estimator.decision_function(X), dtype=np.float64)
    if len(classes) == 2 and table.ndim == 1:
        table = np.stack([-table, table], axis=1)
    if table.ndim != 2 or table.shape[1] != len(classes):
        return None
    columns: dict[Label, Array] = {label: np.full(len(table), LOWEST) for label in scale.classes}
    return columns | dict(zip(classes, table.T, strict=True))


def inner_has(method: str, fitted: str) -> Callable[[Any], bool]:
    """Whether the classifier within a rule has a method: the fitted one, or the one that was given."""
    return lambda rule: hasattr(getattr(rule, fitted, rule.estimator), method)


def where(holds: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """A method that is only there where something holds of the rule."""
    from sklearn.utils.metaestimators import available_if

    decorate: Callable[[Method], Method] = available_if(holds)
    return decorate

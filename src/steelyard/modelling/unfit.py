"""What classifiers cannot learn from is refused before any of them is fitted, with the row and the column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import MissingValues, NotNumbers, OneClass, quoted

if TYPE_CHECKING:
    from .fits import Data

FILL = "Leave the row out, or fill it in: make_pipeline(SimpleImputer(), classifier)"
FEW_VALUES = 100  # of a column, by which its kind is told


def refuse_one_class(rules: Mapping[str, tuple[Any, bool]], data: Data) -> None:
    """Say so where classifiers have nothing to tell apart; who learns measured values has."""
    learners = [name for name, (_, takes_measured) in rules.items() if not takes_measured]
    if learners and (data.y == data.y[0]).all():
        problem = f"all rows are of the class {quoted(data.y[0].item())}, and {quoted(learners[0])} tells classes apart"
        raise OneClass(problem, column="y", mend="Give rows of two classes at least")


def refuse_gaps(models: Mapping[str, Any], x: Any, names: Sequence[str] | None = None, mend: str = FILL) -> None:
    """Say where a number is missing that some classifier cannot do without."""
    found = _first_gap(x, names)
    for name, estimator in models.items() if found else ():
        if found and _is_picky(estimator, "allow_nan"):
            problem = f"a number is missing or infinite, and {quoted(name)} needs all of them"
            raise MissingValues(problem, column=found[1], row=found[0], mend=mend)


def refuse_words(models: Mapping[str, Any], x: Any) -> None:
    """Say which columns hold words that some classifier cannot learn from."""
    found = _of_words(x)
    for name, estimator in models.items() if found else ():
        # Others than scikit-learn's may learn from words without saying so.
        if type(estimator).__module__.startswith("sklearn.") and _is_picky(estimator, "string"):
            coded = f"make_column_transformer((OneHotEncoder(), {found}), remainder='passthrough')"
            mend = f"Leave such columns out, or code them: make_pipeline({coded}, classifier)"
            raise NotNumbers(f"it holds words, and {quoted(name)} learns from numbers", column=found[0], mend=mend)


def _is_picky(estimator: Any, what: str) -> bool:
    """Whether a classifier says that it cannot do with some kind of input.

    What is made of several parts may see to it in one of them, but not by bringing columns to one scale; if not, its
    fits will say so.
    """
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import get_tags

    if hasattr(estimator, "steps") and all(type(step) is StandardScaler for _, step in estimator.steps[:-1]):
        estimator = estimator.steps[-1][1]
    if hasattr(estimator, "steps") or hasattr(estimator, "estimator") or not hasattr(estimator, "__sklearn_tags__"):
        return False
    tags = get_tags(estimator)
    return not (tags.no_validation or getattr(tags.input_tags, what))


def _of_words(x: Any) -> list[str]:
    """The columns of a data frame that hold words; categories are told apart by some classifiers."""
    found = []
    for name in _names_of(x):
        column = np.asarray(x[name])
        words = column.dtype.kind in "OUT" and any(isinstance(value, str) for value in column[:FEW_VALUES])
        if words and "categor" not in str(getattr(x[name], "dtype", "")).lower():
            found.append(str(name))
    return found


def _names_of(x: Any) -> Iterable[Any]:
    """The columns of a data frame by their names; those of an Arrow table are asked for otherwise."""
    arrow = hasattr(x, "column_names") and not hasattr(x, "iloc")
    return x.column_names if arrow else getattr(x, "columns", ())


def _first_gap(x: Any, names: Sequence[str] | None) -> tuple[int, str] | None:
    """The first row and column of a table in which a number is missing or infinite; columns of text are passed over."""
    if hasattr(x, "iloc") or hasattr(x, "columns"):
        for name in _names_of(x):
            column = np.asarray(x[name])
            broken = ~np.isfinite(column) if column.dtype.kind == "f" else np.zeros(1, dtype=bool)
            if broken.any():
                return int(np.argmax(broken)), str(name)
        return None
    table = np.asarray(x) if isinstance(x, np.ndarray) else np.zeros((1, 1))
    if table.dtype.kind != "f" or np.isfinite(table).all():
        return None
    row, column = np.argwhere(~np.isfinite(table))[0]
    return int(row), f"X[{column}]" if names is None else names[column]

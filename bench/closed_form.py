"""Leave-one-out in closed form, against one fit for every row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.modelling.closed_form import closed_form

from .contestants import OURS, load
from .plans import Plan
from .ranking import SKLEARN, WANTED
from .results import Contest, Section, ratio
from .timing import Call, best_times

VARIABLES, CLASSES, FITS = 10, 3, 50
REGRESSION = "least squares"
TEXT = (
    f"Labels and probabilities (of ridge: scores) of every row by a fit to all others, {VARIABLES} variables and "
    f"{CLASSES} classes; of least squares, whose predictions are cut into classes, labels. The two fits that the "
    f"closed form is compared with are part of its time. scikit-learn makes {FITS} of the fits, each with `clone`, "
    "`fit`, `predict` and `predict_proba`, and its time is scaled up to all rows."
)


def measure_closed_form(plan: Plan, say: Callable[[str], None]) -> Section:
    """Leave-one-out for one classifier after the other."""
    section = Section("Leave-one-out", TEXT, ["classifier", OURS, WANTED, SKLEARN])
    for rows, wanted in plan.closed_form_rows.items():
        x, labels, measured = sample(rows)
        for name, estimator in classifiers().items():
            where = f"{name}, {rows:,} rows"
            say(f"{section.title}: {where}")
            y = measured if name == REGRESSION else labels
            parts = list(np.arange(rows)[:, None])
            found = closed_form(estimator, x, y, parts)
            assert found is not None, name
            calls: dict[str, Call] = {
                OURS: partial(closed_form, estimator, x, y, parts),
                SKLEARN: fits(estimator, x, y),
            }
            contest = Contest(best_times(calls, plan.pace), {}).scaled(SKLEARN, rows / FITS)
            section.add(where, contest.own(), ratio(wanted), contest.against(SKLEARN, section, where, wanted=wanted))
    return section


def classifiers() -> dict[str, Any]:
    """One of every family."""
    discriminants, neighbours, linear = (
        load(f"sklearn.{name}") for name in ("discriminant_analysis", "neighbors", "linear_model")
    )
    continuum = load("steelyard").Continuum([-1.0, 1.0], ["low", "mid", "high"])
    return {
        "LDA": discriminants.LinearDiscriminantAnalysis(),
        "QDA": discriminants.QuadraticDiscriminantAnalysis(),
        "naive Bayes": load("sklearn.naive_bayes").GaussianNB(),
        "nearest centroid": neighbours.NearestCentroid(),
        "5 neighbours": neighbours.KNeighborsClassifier(),
        "5 neighbours, weighed": neighbours.KNeighborsClassifier(weights="distance"),
        "ridge": linear.RidgeClassifier(),
        REGRESSION: load("steelyard.modelling.cut_rules").RegressionRule(linear.LinearRegression(), continuum),
    }


def sample(rows: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Variables, classes that overlap, and something measured that depends on the variables."""
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=rows)
    x = random.normal(size=(rows, VARIABLES)) + random.normal(0, 0.5, (CLASSES, VARIABLES))[labels]
    return x, labels, x.sum(axis=1) / 2 + random.normal(size=rows)


def fits(estimator: Any, x: NDArray[Any], y: NDArray[Any]) -> Call:
    """Some of the fits, as one would write them down."""
    clone, rows = load("sklearn.base").clone, np.arange(len(y))

    def loop() -> list[Any]:
        found = []
        for row in np.linspace(0, len(y) - 1, FITS).astype(int):
            fitted, point = clone(estimator).fit(x[rows != row], y[rows != row]), x[row : row + 1]
            found.append(fitted.predict(point))
            for method in ("predict_proba", "decision_function"):
                if hasattr(fitted, method):
                    found.append(getattr(fitted, method)(point))
                    break
        return found

    return loop

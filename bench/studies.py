"""The simulation of Mevik (2003), against a loop over estimators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from steelyard.studies.designs import MEVIK
from steelyard.studies.mevik import SEED, simulate
from steelyard.studies.replications import (
    CLASSIFIERS,
    Examination,
    Replications,
    examinations,
    paper_estimates,
    replications,
)

from .contestants import OURS, load
from .plans import Plan
from .ranking import SKLEARN, WANTED
from .results import Contest, Section, ratio
from .timing import Call, Unfit, best_times

TEXT = (
    "Four classifiers in 20-fold cross-validation on every data set, tried at 10,000 more rows, and all estimates of "
    "the paper. The loop calls `cross_val_predict`, `fit` and `predict` of scikit-learn for each classifier and data "
    "set; drawing the data is not counted for it. It is given one data set a cell, and its time is scaled up."
)


def measure_studies(plan: Plan, say: Callable[[str], None]) -> Section:
    """Whole simulations with some numbers of repetitions."""
    section = Section("Simulation study", TEXT, ["data sets", OURS, WANTED, SKLEARN])
    for repetitions, wanted in plan.study_repetitions.items():
        where = f"{len(MEVIK.cells)} cells × {repetitions}"
        say(f"{section.title}: {where}")
        calls: dict[str, Call] = {OURS: partial(simulate, MEVIK, repetitions)}
        absent: dict[str, str] = {}
        try:
            calls[SKLEARN] = sklearn_loop()
        except Unfit as reason:
            absent[SKLEARN] = str(reason)
        contest = Contest(best_times(calls, plan.pace), absent).scaled(SKLEARN, repetitions)
        section.add(where, contest.own(), ratio(wanted), contest.against(SKLEARN, section, where, wanted=wanted))
    return section


def sklearn_loop() -> Call:
    """One repetition of every cell, classifier by classifier."""
    models, selection = _models(), load("sklearn.model_selection")
    judges = examinations(MEVIK)
    judged = [(next(replications(MEVIK, cell, 1, SEED)), judges[cell.sd_response]) for cell in MEVIK.cells]

    def loop() -> list[Any]:
        return [_by_hand(data, examination, models, selection) for data, examination in judged]

    return loop


def _models() -> dict[str, Any]:
    discriminants, neighbours = load("sklearn.discriminant_analysis"), load("sklearn.neighbors")
    makers = (
        discriminants.LinearDiscriminantAnalysis(),
        discriminants.QuadraticDiscriminantAnalysis(),
        neighbours.KNeighborsClassifier(5),
        load("sklearn.linear_model").LinearRegression(),
    )
    return dict(zip(CLASSIFIERS, makers, strict=True))


def _by_hand(data: Replications, examination: Examination, models: dict[str, Any], selection: Any) -> Any:
    """What the simulation does with one data set, as one would write it down."""
    z, folds, (points, risk) = data.z[0], selection.KFold(MEVIK.folds), examination
    labels = np.digitize(z, MEVIK.inner)
    assigned, truth = {}, {}
    for name, model in models.items():
        by_response = name == "regression"
        x, at = data.x[0], points.x
        if by_response:
            x, at = MEVIK.terms(x), MEVIK.terms(at)
        target = z if by_response else labels
        try:
            found = selection.cross_val_predict(model, x, target, cv=folds), model.fit(x, target).predict(at)
        except np.linalg.LinAlgError:  # a class has too few rows for a covariance
            continue
        held_out, tried = (np.digitize(each, MEVIK.inner) if by_response else each for each in found)
        assigned[name] = held_out[None]
        truth[name] = risk[:, tried, np.arange(len(tried))].sum(axis=1)[None]
    own = Replications(MEVIK, data.cell, data.first, data.x, data.y, data.z, data.folds, assigned, truth)
    return list(paper_estimates(own))

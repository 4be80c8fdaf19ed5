"""Tallies that were saved before, and what they give: files of earlier versions must stay readable."""

from __future__ import annotations

from pathlib import Path

import steelyard as sy

from .problems import Problem, problems
from .storing import Pins
from .ways import outcomes, saved_whole

FOLDER = Path(__file__).parent / "tallies"
KIND = "tallies"  # the file of pins
# By name of the file: the data set, whether rows are stored as they are, and whether they were let go before.
FIXTURES = {
    "counts": ("labels of three classes, clusters and weights", False, False),
    "rows": ("forecasts of three classes", True, False),
    "rankings": ("scores, clusters", False, True),
    "forecasts": ("forecasts, weights", False, True),
    "continuum": ("continuum, clusters", False, True),
    "partition": ("partition", False, True),
}


def problem_of(name: str) -> Problem:
    """Return the data set of a saved tally."""
    return next(each for each in problems() if each.name == FIXTURES[name][0])


def path_of_tally(name: str) -> Path:
    """Return the file of a saved tally."""
    return FOLDER / f"{name}.tally"


def given_by(name: str) -> Pins:
    """Read a saved tally, and return all that it gives."""
    problem = problem_of(name)
    comparison = sy.compare_tally(path_of_tally(name), measures=problem.measures, **problem.options)
    return {f"{name}/saved/{key}": row for key, row in outcomes(comparison, str(FOLDER)).items()}


def given_by_all() -> Pins:
    """Read all saved tallies, and return all that they give."""
    return {key: row for name in FIXTURES for key, row in given_by(name).items()}


def write_tallies() -> None:
    """Save the tallies by the code of today. Those of yesterday are gone then: this is for new ones."""
    FOLDER.mkdir(exist_ok=True)
    for name, (_, rows, let_go) in FIXTURES.items():
        saved_whole(problem_of(name), path_of_tally(name), rows, let_go)

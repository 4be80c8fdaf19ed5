"""Which rows are fitted to and held out: those that were given, by the numbers that they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import steelyard as sy
from steelyard.errors import BadOption

X, Y = load_iris(return_X_y=True)
SEPALS = X[:, :2]
QUIET: dict[str, Any] = {"progress": False}


def test_rows_drawn_anew_are_fitted_to_even_where_they_are_as_many_as_the_others() -> None:
    random, rows = np.random.default_rng(0), np.arange(150)
    held = [rows[fold::25] for fold in range(25)]
    drawn = [(random.choice(np.setdiff1d(rows, test), 144), test) for test in held]
    short, long = (
        sy.cross_assess("lda", SEPALS, Y, cv=drawn, measures=["log_score"], closed=closed, **QUIET)
        for closed in (True, False)
    )
    assert short.times()["how"] == ["25 fits"]
    assert short["lda"]["log_score"] == long["lda"]["log_score"]


def test_who_learns_measured_values_needs_no_draw_of_two_classes() -> None:
    dry = sy.Continuum([50.0], ["dry", "wet"])
    found = sy.cross_assess("regression", SEPALS, X[:, 2], scale=dry, cv=sy.Bootstrap(5), measures=["error"], **QUIET)
    assert found["regression"]["error"].value == 0
    assert len(found.plan.splits) == 5


@pytest.mark.parametrize("groups", [Y, np.zeros(150)], ids=["a group a class", "one group"])
def test_draws_that_can_never_be_fitted_to_are_refused(groups: Any) -> None:
    some = Y < 2
    with pytest.raises(BadOption, match=r"^no draw of groups has two classes and leaves any out.*\. Give more groups"):
        sy.cross_assess("lda", SEPALS[some], Y[some], groups=groups[some], cv=sy.Bootstrap(5), **QUIET)

"""Which rows are fitted to and held out: those that were given, by the numbers that they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import steelyard as sy
from steelyard.core.errors import BadOption, MissingValues, StraddlingGroups

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


# --- rows that were dropped -------------------------------------------------------------------------------------


GAPPY: Any = [None if row in (5, 140) else label for row, label in enumerate(Y)]
KEPT = np.delete(np.arange(150), [5, 140])


@pytest.mark.parametrize("marked", [False, True])
def test_rows_that_are_given_are_those_that_were_handed_in(marked: bool) -> None:
    rows = np.arange(150)
    pairs = [(rows % 3 != fold, rows % 3 == fold) for fold in range(3)]
    given: Any = pairs if marked else [(np.flatnonzero(seen), np.flatnonzero(held)) for seen, held in pairs]
    found = sy.cross_assess("lda", SEPALS, GAPPY, missing="drop", cv=given, measures=["error"], **QUIET)
    of_kept = [(seen[KEPT], held[KEPT]) for seen, held in pairs]
    alone = sy.cross_assess("lda", SEPALS[KEPT], Y[KEPT], cv=of_kept, measures=["error"], **QUIET)
    assert found["lda"]["error"] == alone["lda"]["error"]
    assert found.fold_of()["row"] == KEPT.tolist()
    assert found.fold_of()["fold"] == (KEPT % 3).tolist()


def test_messages_count_the_rows_that_were_handed_in() -> None:
    options: dict[str, Any] = {"missing": "drop", **QUIET}
    gap = SEPALS.copy()
    gap[50, 1] = np.nan
    with pytest.raises(MissingValues, match="row 50: a number is missing"):
        sy.cross_assess("lda", gap, GAPPY, cv=3, **options)
    with pytest.raises(BadOption, match="it is fitted to, row 70 for one"):
        sy.cross_assess("lda", SEPALS, GAPPY, cv=[(np.arange(71), np.arange(70, 150))], **options)
    with pytest.raises(BadOption, match="names row 150 of 150"):
        sy.cross_assess("lda", SEPALS, GAPPY, cv=[(np.arange(71), [150])], **options)
    with pytest.raises(BadOption, match="split 0 has no rows to hold out"):
        sy.cross_assess("lda", SEPALS, GAPPY, cv=[(np.arange(100), [140])], **options)
    with pytest.raises(StraddlingGroups, match="row 75: split 0 has the group 7 on both sides"):
        pairs = [(np.arange(75), np.arange(75, 150))]
        sy.cross_assess("lda", SEPALS, GAPPY, groups=np.arange(150) // 10, cv=pairs, **options)


def test_chance_is_tried_on_the_rows_that_were_kept() -> None:
    options: dict[str, Any] = {"permutations": 3, "measure": "error", **QUIET}
    rows = np.arange(150)
    groups, folds = rows // 5, [(rows[rows % 3 != fold], rows[rows % 3 == fold]) for fold in range(3)]
    found = sy.permutation_test("lda", SEPALS, GAPPY, groups=groups, cv=3, missing="drop", **options)
    alone = sy.permutation_test("lda", SEPALS[KEPT], Y[KEPT], groups=groups[KEPT], cv=3, **options)
    assert found.by_chance.tolist() == alone.by_chance.tolist()
    given = sy.permutation_test("lda", SEPALS, GAPPY, cv=iter(folds), missing="drop", **options)
    of_kept = [(np.isin(KEPT, seen), np.isin(KEPT, held)) for seen, held in folds]
    assert given.by_chance.tolist() == (
        sy.permutation_test("lda", SEPALS[KEPT], Y[KEPT], cv=of_kept, **options).by_chance.tolist()
    )


@pytest.mark.parametrize("on_the_scale", [False, True])
def test_deviations_change_places_with_what_they_are_of(on_the_scale: bool) -> None:
    """Who says the same of all rows does as well by chance, whether or not large values are measured badly."""
    width = X[:, 3]
    sd = np.where(width > 1.0, 1.0, 0.01)
    scale = sy.Continuum([1.0], ["thin", "wide"], sd=sd if on_the_scale else None)
    options: dict[str, Any] = {"permutations": 5, "cv": 3, **({} if on_the_scale else {"sd": sd}), **QUIET}
    found = sy.permutation_test("prior", X[:, :2], width, scale=scale, measure="adjusted_error", **options)
    assert found.p == 1.0
    np.testing.assert_allclose(found.by_chance, found.estimate.value, rtol=1e-9)


def test_groups_change_places_with_all_that_was_measured_of_them() -> None:
    """The first row of each, here the one furthest from the boundary, does not stand for the others."""
    random = np.random.default_rng(0)
    group, side = np.repeat(np.arange(20), 4), np.repeat(np.where(np.arange(20) < 8, -1.0, 1.0), 4)
    value = side * np.tile([5.0, 1.0, 1.0, 1.0], 20)
    options: dict[str, Any] = {"scale": sy.Continuum([0.0], ["low", "high"]), "groups": group, "cv": 3, **QUIET}
    options |= {"measure": "apparent_sqerr", "permutations": 5}
    found = sy.permutation_test("prior", random.normal(size=(80, 2)), value, **options)
    assert found.p == 1.0
    np.testing.assert_allclose(found.by_chance, found.estimate.value, rtol=1e-9)


@pytest.mark.parametrize("on_the_scale", [False, True])
def test_chance_is_tried_with_what_is_known_of_the_rows_that_were_kept(on_the_scale: bool) -> None:
    width, sd = X[:, 3].copy(), np.linspace(0.05, 0.2, 150)
    width[5] = np.nan
    kept = np.delete(np.arange(150), 5)
    cut = sy.Continuum([0.8], ["narrow", "wide"])
    options: dict[str, Any] = {"measure": "adjusted_error", "permutations": 3, "cv": 3, **QUIET}
    told: dict[str, Any] = {"scale": cut.but(sd=sd)} if on_the_scale else {"scale": cut, "sd": sd}
    found = sy.permutation_test("lda", SEPALS, width, missing="drop", **told, **options)
    alone = sy.permutation_test("lda", SEPALS[kept], width[kept], scale=cut, sd=sd[kept], **options)
    assert found.by_chance.tolist() == alone.by_chance.tolist()

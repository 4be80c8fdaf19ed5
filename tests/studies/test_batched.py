"""Many fits at once assign what scikit-learn assigns one by one, and never fail where it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from steelyard.studies.classifiers import (
    DataSets,
    FittedClassifier,
    NearestNeighbours,
    TrialPoints,
    highest,
    interval,
    least_squares,
    linear_discriminants,
    quadratic_discriminants,
)
from steelyard.studies.designs import DESIGNS, GRADES, MEVIK, WAVES, Cell, Design

if TYPE_CHECKING:
    from steelyard.core.typing import Array, Codes

SETS, FOLDS, POINTS = 4, 7, 500
CELL = Cell(0.3, 0.15)
Fit = Callable[[DataSets], FittedClassifier]

each_design = pytest.mark.parametrize("design", [MEVIK, WAVES, GRADES], ids=lambda design: design.name)
each_discriminant = pytest.mark.parametrize("fit", [linear_discriminants, quadratic_discriminants])


def drawn(design: Design, seed: int = 0) -> tuple[DataSets, Array, TrialPoints]:
    """Data sets in random folds of unequal size, what was measured, and new points."""
    random = np.random.default_rng(seed)
    x = design.x(random.random((SETS, design.rows, design.variables)))
    measured = design.expected(x) + random.normal(0, CELL.sd_response + CELL.sd, x.shape[:2])
    folds = random.integers(FOLDS, size=x.shape[:2])
    batch = DataSets(x, interval(measured, design.inner), folds, design.classes)
    return batch, measured, TrialPoints(design.x(random.random((POINTS, design.variables))))


class ByRegression:
    """The rule of the paper, by scikit-learn."""

    def __init__(self, design: Design) -> None:
        self.design, self.model = design, LinearRegression()

    def fit(self, x: Array, measured: Array) -> ByRegression:
        self.model.fit(self.design.terms(x), measured)
        return self

    def predict(self, x: Array) -> Any:
        return np.digitize(self.model.predict(self.design.terms(x)), self.design.inner)


def one_by_one(model: Any, batch: DataSets, target: Any, points: TrialPoints) -> tuple[Codes, Codes]:
    """The same by a loop over data sets and folds."""
    held_out = np.empty_like(batch.codes)
    at = []
    for place, (x, folds, known) in enumerate(zip(batch.x, batch.folds, target, strict=True)):
        for fold in range(FOLDS):
            out = folds == fold
            held_out[place, out] = model.fit(x[~out], known[~out]).predict(x[out])
        at.append(model.fit(x, known).predict(points.x))
    return held_out, np.stack(at)


def assert_same(fitted: FittedClassifier, expected: tuple[Codes, Codes], points: TrialPoints) -> None:
    np.testing.assert_array_equal(fitted.held_out(), expected[0])
    np.testing.assert_array_equal(fitted.at(points), expected[1])


# --- the same labels as scikit-learn ----------------------------------------------------------------------------


@each_design
@pytest.mark.parametrize(
    ("fit", "model"),
    [
        (linear_discriminants, LinearDiscriminantAnalysis()),
        (quadratic_discriminants, QuadraticDiscriminantAnalysis()),
        (NearestNeighbours, KNeighborsClassifier(5)),
    ],
    ids=["lda", "qda", "knn"],
)
def test_classifiers_assign_what_scikit_learn_assigns(design: Design, fit: Fit, model: Any) -> None:
    batch, _, points = drawn(design)
    assert_same(fit(batch), one_by_one(model, batch, batch.codes, points), points)


@each_design
def test_regression_assigns_what_scikit_learn_assigns(design: Design) -> None:
    batch, measured, points = drawn(design)
    fitted = least_squares(batch, measured, design.terms, design.inner)
    assert_same(fitted, one_by_one(ByRegression(design), batch, measured, points), points)


@pytest.mark.parametrize("number", [1, 3, 8])
def test_any_number_of_neighbours(number: int) -> None:
    batch, _, points = drawn(WAVES, 1)
    expected = one_by_one(KNeighborsClassifier(number), batch, batch.codes, points)
    assert_same(NearestNeighbours(batch, number), expected, points)


def test_one_row_may_be_left_out_at_a_time() -> None:
    batch, _, _ = drawn(MEVIK)
    alone = replace(batch, folds=np.tile(np.arange(MEVIK.rows), (SETS, 1)))
    model = LinearDiscriminantAnalysis()
    expected = []
    for row in range(MEVIK.rows):
        rest = np.delete(np.arange(MEVIK.rows), row)
        expected.append(model.fit(batch.x[0, rest], batch.codes[0, rest]).predict(batch.x[0, [row]])[0])
    np.testing.assert_array_equal(linear_discriminants(alone).held_out()[0], expected)


# --- what does not matter ---------------------------------------------------------------------------------------


@each_discriminant
def test_units_and_origins_do_not_matter(fit: Fit) -> None:
    batch, _, points = drawn(WAVES)
    units, origin = np.array([1e-9, 1.0, 1e9]), np.array([0.0, 1e4, 3.0])
    moved = replace(batch, x=(batch.x + origin) * units)
    assert_same(fit(moved), (fit(batch).held_out(), fit(batch).at(points)), TrialPoints((points.x + origin) * units))


@each_discriminant
def test_a_variable_that_stands_twice_does_not_matter(fit: Fit) -> None:
    batch, _, points = drawn(MEVIK)
    twice = replace(batch, x=batch.x[..., [0, 1, 1]])
    expected = (linear_discriminants(batch).held_out(), linear_discriminants(batch).at(points))
    # With a singular covariance in every class, quadratic discriminants are linear ones.
    assert_same(fit(twice), expected, TrialPoints(points.x[:, [0, 1, 1]]))


@each_discriminant
def test_a_variable_that_is_the_same_everywhere_does_not_matter(fit: Fit) -> None:
    batch, _, points = drawn(MEVIK)
    constant = replace(batch, x=np.concatenate([batch.x, np.full((*batch.codes.shape, 1), 0.1)], axis=-1))
    wider = TrialPoints(np.concatenate([points.x, np.full((POINTS, 1), 0.1)], axis=-1))
    expected = linear_discriminants(batch)
    assert_same(fit(constant), (expected.held_out(), expected.at(points)), wider)


def test_how_many_sets_are_fitted_together_does_not_matter() -> None:
    batch, _, points = drawn(MEVIK)
    for place in range(SETS):
        some = slice(place, place + 1)
        one = DataSets(batch.x[some], batch.codes[some], batch.folds[some], batch.classes)
        for fit in (linear_discriminants, quadratic_discriminants, NearestNeighbours):
            np.testing.assert_array_equal(fit(one).at(points)[0], fit(batch).at(points)[place])
            np.testing.assert_array_equal(fit(one).held_out()[0], fit(batch).held_out()[place])


# --- what scikit-learn fails at ---------------------------------------------------------------------------------


def rare(members: int) -> tuple[DataSets, TrialPoints]:
    """Data sets in which the last class has so many members, all of them in fold 0."""
    batch, _, points = drawn(MEVIK)
    codes, folds = np.minimum(batch.codes, 1), batch.folds.copy()
    codes[:, :members], folds[:, :members] = 2, 0
    return replace(batch, codes=codes, folds=folds), points


@each_discriminant
def test_a_class_without_rows_is_never_assigned(fit: Fit) -> None:
    batch, points = rare(3)
    assert not (fit(batch).held_out()[batch.folds == 0] == 2).any()
    assert not (fit(replace(batch, codes=np.minimum(batch.codes, 1))).at(points) == 2).any()


@pytest.mark.parametrize("members", [1, 2])
def test_a_class_with_few_rows_has_the_pooled_covariance(members: int) -> None:
    batch, points = rare(members)
    fitted, pooled = quadratic_discriminants(batch), linear_discriminants(batch)
    np.testing.assert_allclose(fitted.inverse[:, -1, 2], pooled.inverse[:, -1, 0])
    assert (fitted.inverse[:, -1, :2] != pooled.inverse[:, -1]).all()
    assert set(np.unique(fitted.at(points))) <= {0, 1, 2}


def test_one_row_of_each_class_is_enough_not_to_fail() -> None:
    x = np.array([[[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]]])
    batch = DataSets(x, np.array([[0, 1, 2]]), np.array([[0, 1, 2]]), 3)
    for fit in (linear_discriminants, quadratic_discriminants, NearestNeighbours):
        assert set(np.unique(fit(batch).held_out())) <= {0, 1, 2}
        assert fit(batch).at(TrialPoints(x[0])).shape == (1, 3)


# --- ties -------------------------------------------------------------------------------------------------------


def test_rows_as_far_away_as_the_last_of_the_nearest_vote_too() -> None:
    random = np.random.default_rng(3)
    x, codes = random.integers(4, size=(SETS, 60, 2)).astype(float), random.integers(3, size=(SETS, 60))
    folds, points = random.integers(FOLDS, size=(SETS, 60)), random.integers(4, size=(90, 2)).astype(float)

    def vote(at: Array, rows: Array, known: Codes) -> int:
        distance = np.square(rows - at).sum(axis=1)
        voting = distance <= np.sort(distance)[4]
        return int(np.bincount(known[voting], minlength=3).argmax())

    fitted = NearestNeighbours(DataSets(x, codes, folds, 3))
    for place in range(SETS):
        np.testing.assert_array_equal(
            fitted.at(TrialPoints(points))[place], [vote(at, x[place], codes[place]) for at in points]
        )
        others = [folds[place] != fold for fold in folds[place]]
        expected = [vote(at, x[place, rest], codes[place, rest]) for at, rest in zip(x[place], others, strict=True)]
        np.testing.assert_array_equal(fitted.held_out()[place], expected)


def test_more_neighbours_than_rows_are_all_rows() -> None:
    x, codes = np.arange(4.0).reshape(1, 4, 1), np.array([[0, 1, 1, 1]])
    fitted = NearestNeighbours(DataSets(x, codes, np.array([[0, 1, 2, 3]]), 2), 9)
    assert fitted.at(TrialPoints(np.array([[0.0], [5.0]]))).tolist() == [[1, 1]]
    assert fitted.held_out().tolist() == [[1, 1, 1, 1]]


def test_the_first_of_the_highest_wins() -> None:
    scores = np.array([[[1.0, 0.0, 2.0, -np.inf], [1.0, 3.0, 2.0, 0.0], [0.0, 3.0, 5.0, 0.0]]])
    assert highest(scores).tolist() == [[0, 1, 2, 1]]


def test_a_boundary_belongs_to_the_class_above_it() -> None:
    assert interval(np.array([-1.0, 0.0, 0.3, 0.6, 7.0]), MEVIK.inner).tolist() == [0, 1, 1, 2, 2]


# --- points -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 19, 20, 21, 1000])
def test_groups_hold_all_points_within_their_radius(size: int) -> None:
    points = TrialPoints(np.random.default_rng(size).normal(size=(size, 3)))
    members, centre, radius = points.groups
    assert set(members.ravel().tolist()) == set(range(size))
    distance = np.linalg.norm(points.x[members] - centre[:, None], axis=-1)
    assert (distance <= radius[:, None] + 1e-12).all()


def test_all_designs_have_names_of_their_own() -> None:
    assert [design.name for design in DESIGNS.values()] == list(DESIGNS)

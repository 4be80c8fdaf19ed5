"""Sums of columns by products of matrices, against sums of the columns laid out row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from steelyard import Scale, assess, find
from steelyard.families.forecasts.column_sums import ColumnSums, by_class
from steelyard.families.forecasts.piece import Piece, Supposed
from steelyard.inference.averages import MEANS_OF_CLASSES
from steelyard.inference.evaluation import Slot
from steelyard.inputs.prediction import Scores
from steelyard.measures.registry import REGISTRY

ROWS = 700
WHOLE = (
    "log_score", "brier_multiclass", "spherical_score", "ranked_probability_score", "zero_one_score", "top_k_accuracy",
)  # fmt: skip


def drawn(classes: int, seed: int = 1) -> Piece:
    random = np.random.default_rng(seed)
    memberships = random.dirichlet(np.ones(classes), ROWS)
    truth = random.integers(0, classes, ROWS).astype(np.uint8)
    return Piece(Scores(tuple(memberships.T)), truth, classes)


def worth(piece: Piece, slot: Slot) -> Any:
    """As it is laid out row by row; averages by shares 1, 2, 3, ..."""
    if slot.average is None:
        return piece.worth(slot.measure, slot.code, None)
    every = np.array([piece.worth(slot.measure, code, None) for code in range(piece.classes)])
    return (shares(piece.classes) if slot.average == "weighted" else np.full(piece.classes, 1 / piece.classes)) @ every


def shares(classes: int) -> Any:
    return np.arange(1.0, classes + 1) / np.arange(1, classes + 1).sum()


def slots(classes: int) -> list[Slot]:
    brier = find("brier")
    every = [Slot(find("log_score")), *(Slot(brier, code) for code in range(classes))]
    return [*every, *(Slot(brier, None, average) for average in MEANS_OF_CLASSES), Slot(find("brier_multiclass"))]


def over(summing: ColumnSums, piece: Piece, shift: Any, weights: Any = None) -> Any:
    """In two parts, which add up."""
    each, parts = np.ones(ROWS) if weights is None else weights[1], []
    square = np.array([each[piece.truth == code].sum() for code in range(piece.classes)])
    for some in (slice(0, 300), slice(300, ROWS)):
        part = Piece(piece.said.rows(some.start, some.stop), piece.truth[some], piece.classes, more=summing.room)
        parts.append(summing.none())
        summing.add(parts[-1], part, shift, None if weights is None else tuple(one[some] for one in weights))
    return summing.told(parts[0] + parts[1], square, weights is not None)


def by_hand(piece: Piece, column: Any, weight: Any, square: Any, apart: bool) -> Any:
    """By weight, of squared weights, by squared weight: by class, or all in the first place; and squares."""
    terms = np.array([column * weight, square, column * square])
    sums = np.array([terms[:, piece.truth == code].sum(axis=1) for code in range(piece.classes)]).T
    if not apart:
        sums = np.column_stack([sums.sum(axis=1), np.zeros((3, piece.classes - 1))])
    squares = np.append((square * column**2).sum(), np.zeros(piece.classes - 1))
    return np.vstack([sums, squares])


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 17])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_columns_laid_out(classes: int, weighted: bool) -> None:
    piece, columns = drawn(classes), slots(classes)
    apart = [slot.average == "weighted" or slot.measure.name == "brier_multiclass" for slot in columns]
    shift = np.array([worth(piece, slot)[:9].mean() for slot in columns])
    weight = np.random.default_rng(2).integers(0, 4, ROWS).astype(float) if weighted else np.ones(ROWS)
    summing = ColumnSums(worth, columns, apart, shares(classes))
    found = over(summing, piece, shift, (weight, weight**2) if weighted else None)
    for place, slot in enumerate(columns):
        wanted = by_hand(piece, worth(piece, slot) - shift[place], weight, weight**2, apart[place])
        assert_allclose(found[:, place], wanted, rtol=1e-11, atol=1e-10, err_msg=str(slot))


@pytest.mark.parametrize("name", [entry.name for entry in REGISTRY.values() if entry.summed])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_a_sum_over_classes_is_theirs_in_every_row(name: str, classes: int) -> None:
    whole, piece = find(name), drawn(classes)
    parts = [piece.worth(find(whole.summed or ""), code, None) for code in range(classes)]
    assert_allclose(piece.worth(whole, None, None), np.sum(parts, axis=0), rtol=1e-13, atol=1e-15)


def supposed(piece: Piece) -> list[tuple[Supposed, Piece]]:
    """Rows of each class in turn, and the same as plain rows."""
    in_turn = Supposed.in_turn(piece.said, piece.classes)
    return [(one, Piece(piece.said, np.full(ROWS, code), piece.classes)) for code, one in enumerate(in_turn)]


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_supposed_rows_are_worth_what_rows_of_the_class_are(classes: int) -> None:
    tied = drawn(classes)
    tied = replace(tied, said=Scores(tuple(np.round(column, 1) + 0.1 for column in tied.said.columns)))
    for one, plain in [*supposed(drawn(classes)), *supposed(tied)]:
        for name in WHOLE:
            found, wanted = (each.worth(find(name), None, None) for each in (one, plain))
            assert_allclose(found, wanted, rtol=1e-14, atol=1e-15, err_msg=name)
        for code in range(classes):
            assert_allclose(one.worth(find("brier"), code, None), plain.worth(find("brier"), code, None), rtol=1e-14)
        for name, weights in (("macro", np.full(classes, 1 / classes)), ("weighted", shares(classes))):
            mean, wanted = (each.average(find("brier"), name, weights.tolist()) for each in (one, plain))
            assert_allclose(mean, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_all_classes_are_those_of_each_in_turn(classes: int, weighted: bool) -> None:
    pairs, columns = supposed(drawn(classes)), slots(classes)
    apart = [slot.average == "weighted" or slot.code == 1 for slot in columns]
    shift = np.array([worth(pairs[0][1], slot)[:9].mean() for slot in columns])
    weight = np.random.default_rng(2).integers(0, 4, ROWS).astype(float) if weighted else None
    summing = ColumnSums(worth, columns, apart, shares(classes))
    wanted = sum(over(summing, plain, shift, None if weight is None else (weight, weight)) for _, plain in pairs)
    assert_allclose(summing.over_all_classes([one for one, _ in pairs], shift, weight), wanted, rtol=1e-11, atol=1e-10)


def test_an_infinite_score_leaves_the_others_as_they_are() -> None:
    piece, columns = drawn(3), slots(3)
    piece.said.columns[piece.truth[5]][5] = 0.0
    apart = [slot.average == "weighted" for slot in columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = over(ColumnSums(worth, columns, apart, shares(3)), piece, np.zeros(len(columns)))
    assert found[0, 0, 0] == found[3, 0, 0] == np.inf
    assert np.isfinite(found[:, 1:]).all()


def test_a_mean_whose_classes_cancel_does_not_scatter() -> None:
    # Whatever class is the true one, the Brier scores of one that was given for sure and of the others add up alike.
    truth, memberships = ["b", "c", "a", "b", "a"], np.tile([1 / 3, 1 / 3, 1 / 3], (5, 1))
    found = assess(truth, memberships, scale=Scale(["a", "b", "c"]), measures=["brier"])
    part = found.part(find("brier").statistic)
    macro = part.evaluation.places["brier", "macro"]
    assert part.results.errors.plain[macro] == 0
    assert part.results.value[macro] == pytest.approx(2 / 9, rel=1e-14)


@pytest.mark.parametrize("classes", [3, 40])
def test_sums_by_class_are_those_of_its_rows(classes: int) -> None:
    piece, columns = drawn(classes), np.random.default_rng(3).normal(size=(4, ROWS))
    wanted = np.array([columns[:, piece.truth == code].sum(axis=1) for code in range(classes)]).T
    assert_allclose(by_class(piece, columns), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("first", [0.0, 0.25, 0.3])
def test_a_forecast_that_never_changes_tells_as_much_of_many_rows(first: float) -> None:
    """Which of many rows are looked at is up to their first forecast: it may be none of them, or any."""
    random, rows = np.random.default_rng(1), 70_000
    rest = (1 - first) * random.dirichlet(np.ones(3), rows)
    found = assess(random.integers(0, 4, rows), np.column_stack([np.full(rows, first), rest]), measures=["brier"])
    assert 0 < found["brier"].low < found["brier"].value < found["brier"].high

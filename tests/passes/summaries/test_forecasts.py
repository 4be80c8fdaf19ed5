"""Sums of what forecasts are worth, and the few rows that are kept, against the same rows seen at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steelyard import Scale
from steelyard.core.arrays import ODD
from steelyard.families.forecasts.evaluation import evaluation_of, scoring, serving_both
from steelyard.families.summed.recipe import Recipe
from steelyard.inference.evaluation import Slot, key_of
from steelyard.inputs.dataset import Available
from steelyard.inputs.prediction import Scores
from steelyard.measures import find
from steelyard.states.held_rows import SAMPLE_SIZE, Rows, Sample, Sampling

ROWS = 5_000


def lopsided(chance: Any, happened: Any) -> Any:
    """A score of a class that is another one for the other class."""
    return chance**2 * (1 - happened)


def some_rows(speaks: int, both: bool = False, rows: int = ROWS, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    chance = np.round(rng.random(rows), 4)
    columns = (chance, 1 - chance) if both else (chance,)
    return Rows((rng.random(rows) < chance).astype(np.uint8), (Scores(columns, -1 if both else speaks),))


@pytest.mark.parametrize("speaks", [0, 1])
@pytest.mark.parametrize("both", [False, True])
def test_a_column_that_tells_for_another_has_its_sums(speaks: int, both: bool) -> None:
    measures = (find("log_score"), find("brier"), replace(find("brier"), name="lopsided", formula=lopsided))
    shape = ((2, -1, False),) if both else ((1, speaks, False),)
    recipe = Recipe(Scale(["no", "yes"]), ("a",), shape, measures, Available(True))
    rows = some_rows(speaks, both)
    summing = scoring(recipe)
    for low in range(0, ROWS, 1_700):
        summing.add(rows.select(np.arange(low, min(low + 1_700, ROWS))))
    totals = summing.state()
    assert totals is not None
    assert serving_both(recipe) == {"brier"}
    evaluation = evaluation_of(recipe, 0, rows)
    columns = evaluation.summed_columns
    assert {key_of(slot) for slot in columns} >= {key_of(Slot(each, code)) for each in measures[1:] for code in (0, 1)}
    by_column = evaluation.sums_of(columns)
    sums, piece = by_column.none(), evaluation.piece(0, ROWS, more=by_column.room)
    with np.errstate(divide="ignore"):
        by_column.add(sums, piece, np.zeros(len(columns)))
    wanted = by_column.told(sums, evaluation.class_square, weighted=False)
    assert totals.parts[0] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("size", [100, SAMPLE_SIZE, 3 * SAMPLE_SIZE])
def test_the_same_few_rows_are_kept_however_they_come(size: int) -> None:
    rows = some_rows(1, rows=6 * SAMPLE_SIZE, seed=3)
    sampling = Sampling()
    assert sampling.state() is None
    for low in range(0, len(rows), size):
        sampling.add(rows.select(np.arange(low, min(low + size, len(rows)))))
    found, wanted = sampling.state(), Sample.of(rows).in_order()
    assert found is not None
    assert len(wanted.marks) == SAMPLE_SIZE
    assert found.marks.tolist() == wanted.marks.tolist()
    assert found.rows.truth.tolist() == wanted.rows.truth.tolist()


@pytest.mark.parametrize("distinct", [1, 3, 40_000])
def test_scores_that_occur_again_and_again_are_chosen_from_too(distinct: int) -> None:
    scores = np.linspace(0.25, 0.75, distinct)[np.arange(40_000) % distinct]
    rows = Rows(np.arange(40_000) % 2, (Scores((scores,), speaks=1),))
    found, marks = Sample.of(rows), np.sort(scores.view(np.uint64) * ODD)
    assert np.sort(found.marks).tolist() == marks[:SAMPLE_SIZE].tolist()
    assert (found.rows.scores[0].columns[0].view(np.uint64) * ODD).tolist() == found.marks.tolist()

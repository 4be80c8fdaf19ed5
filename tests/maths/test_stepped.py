"""ComplexSteps numbers: formulas cannot tell them from the whole array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import steelyard as sy
from steelyard.maths.formula_arguments import STEP, ComplexSteps, slope

PLAIN = np.array([[3.0, 0.0, 5.0, 2.0, 7.0], [3.5, 0.5, 5.5, 2.5, 7.5]])
OTHER = np.array([[4.0, 1.0, 6.0, 2.0, 9.0], [4.5, 1.5, 6.5, 2.5, 9.5]])
MATRIX = np.arange(25.0).reshape(5, 5)

FORMULAS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: np.sqrt(x * OTHER + 2 * x) / OTHER - x**2,
    "with itself": lambda x: x * x / (1 + x),
    "on the right": lambda x: OTHER / (OTHER + x),
    "by a column": lambda x: x * OTHER[:, :1],
    "sum": lambda x: (x * OTHER).sum(axis=-1),
    "sum by function": lambda x: np.sum(x / OTHER, axis=-1),
    "sum of all": lambda x: x.sum(),
    "sum kept": lambda x: x.sum(axis=-1, keepdims=True),
    "mean": lambda x: (x / OTHER).mean(axis=-1),
    "mean over steps": lambda x: x.mean(axis=0),
    "product with a zero": lambda x: (x / OTHER).prod(axis=-1),
    "product": lambda x: (x + 1).prod(axis=-1) ** (1 / x.shape[-1]),
    "product over rows": lambda x: x.prod(axis=1),
    "something else in every step": lambda x: x / x.sum(axis=-1)[..., None],
    "matrix": lambda x: (x @ MATRIX * OTHER).sum(axis=-1),
    "order": lambda x: np.flip(x, axis=-1),
    "some of the classes": lambda x: x[..., 1:].sum(axis=-1) + x[..., 0],
    "another method": lambda x: x.cumsum(axis=-1).swapaxes(0, 1),
    "running sums": lambda x: np.add.accumulate(x, axis=-1),
}


@pytest.mark.parametrize("first, steps", [(0, 5), (1, 3), (4, 1)])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_makes_the_same_of_them_as_of_the_whole_array(name: str, first: int, steps: int) -> None:
    numbers = ComplexSteps(PLAIN, PLAIN[:, first : first + steps] + STEP, first)
    whole = np.asarray(numbers)
    found, expected = np.asarray(FORMULAS[name](numbers)), FORMULAS[name](whole)
    assert found.shape == expected.shape
    assert_allclose(found.real, expected.real, rtol=1e-14)
    assert_allclose(slope(found), slope(expected), rtol=1e-13, atol=1e-13)


def test_the_whole_array_has_one_step_in_each_of_its_layers() -> None:
    numbers = ComplexSteps(PLAIN, PLAIN[:, 1:4] + STEP, 1)
    whole = np.asarray(numbers)
    assert (numbers.shape, numbers.ndim, numbers.size) == (whole.shape, whole.ndim, whole.size) == ((3, 2, 5), 3, 30)
    assert np.array_equal(whole.real, np.broadcast_to(PLAIN, (3, 2, 5)))
    assert np.array_equal(np.argwhere(whole.imag[:, 0]), [[0, 1], [1, 2], [2, 3]])


def test_slopes_of_many_classes_are_those_of_all_steps_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 20, 500)
    assigned = np.where(random.random(500) < 0.7, truth, random.integers(0, 20, 500))
    evaluation = sy.assess(truth, assigned).evaluation
    at_table = (evaluation._with_pseudo, evaluation._penalties, evaluation.matrices)
    found = evaluation.formulas.slopes_at_table(evaluation.formulas.whole, *at_table)
    monkeypatch.setattr("steelyard.measures.table_formulas.FEW_CLASSES", 20)
    assert np.abs(found).max(axis=(1, 2)).min() > 0
    laid_out = evaluation.formulas.slopes_at_table(evaluation.formulas.whole, *at_table)
    assert_allclose(found, laid_out, rtol=1e-12, atol=1e-15)


def test_nothing_is_written_in_place() -> None:
    numbers = ComplexSteps(PLAIN, PLAIN + STEP, 0)
    kept = numbers
    numbers += 1
    assert np.array_equal(kept.plain, PLAIN)
    assert np.array_equal(numbers.plain, PLAIN + 1)

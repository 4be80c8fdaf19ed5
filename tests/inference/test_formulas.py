"""Count measures evaluated all at once: as if each had been called by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import steelyard as sy
from steelyard.inference.settings import settle
from steelyard.maths.formula_arguments import CELL_STEPS, offered_of_classes, slope
from steelyard.measures import choose, find
from steelyard.measures.registry import Measure
from steelyard.measures.table_formulas import Formulas
from steelyard.states.statistics import CONFUSION

CELLS = np.array([[30.0, 8, 0, 49, 3], [4, 0, 5, 0, 2], [7, 1, 2, 0, 2], [11, 6, 9, 3, 5]])
COUNTED = [*[m for m in choose(None) if m.statistic is CONFUSION and m.penalty is None], find("fbeta(beta=0.3)")]


def squared_share(tp: Any, fn: Any) -> tuple[Any, Any]:
    """A proportion whose parts are no sums of cells."""
    return tp * tp, (tp + fn) * (tp + fn)


@pytest.mark.parametrize("measure", [*COUNTED, find("precision_at(prevalence=0.1)")], ids=lambda measure: measure.label)
def test_values_and_slopes_are_those_of_the_formula(measure: Measure) -> None:
    formulas = Formulas((measure,))
    with np.errstate(all="ignore"):
        values, _, slopes = formulas.sloping_at_classes(CELLS)
        assert_array_equal(values[0], measure.divided(measure.of(offered_of_classes(CELLS))))
        assert_array_equal(values, formulas.at_classes(CELLS))
        stepped = measure.divided(measure.of(offered_of_classes(CELLS[:, None] + CELL_STEPS)))
    known = np.isfinite(values[0])
    assert known.any()
    assert_allclose(slopes[:, 0, known], slope(stepped[:, known]), rtol=1e-12, atol=1e-15)


def test_a_formula_tells_which_cells_it_is_made_of() -> None:
    assert_array_equal(find("precision").cells, [[1, 0, 0, 0], [1, 0, 1, 0]])
    assert_array_equal(find("error").cells, [[0, 1, 1, 0], [1, 1, 1, 1]])
    assert_array_equal(find("f1").cells, [[2, 0, 0, 0], [2, 1, 1, 0]])
    assert find("mcc").cells is None
    assert find("informedness").cells is None


def test_a_ratio_of_something_else_than_sums_of_cells_is_called() -> None:
    facts: dict[str, Any] = {"better": "higher", "span": (0.0, 1.0), "undefined": "never", "cite": "none"}
    measure = Measure("squared_share", "squared share", squared_share, interval="wilson", **facts)
    assert measure.cells is None
    values, _, slopes = Formulas((measure,)).sloping_at_classes(CELLS)
    tp, fn = CELLS[:2]
    assert_allclose(values[0], (tp / (tp + fn)) ** 2, rtol=1e-14)
    assert_allclose(slopes[0, 0], 2 * tp * fn / (tp + fn) ** 3, rtol=1e-12, atol=1e-15)


def test_a_table_of_two_classes_is_that_of_the_first_class() -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 80)
    found = sy.assess(truth, np.where(random.random(80) < 0.7, truth, 1 - truth), weight=random.random(80))
    for name in ("error", "accuracy", "kappa", "mcc", "balanced_accuracy", "g_mean"):
        assert found[name].value == pytest.approx(found[name, 0].value, rel=1e-13)
        assert found[name].se == pytest.approx(found[name, 0].se, rel=1e-12)


def test_settings_that_nobody_changed_are_kept_as_long_as_there_are_the_same_measures() -> None:
    assert settle(level=0.95) is settle(level=0.95)
    assert settle(level=0.95) is not settle(level=0.9)
    assert len(settle(level=0.95).measures) == len(choose(None))
    assert settle(["f1", "kappa"]) is settle(("f1", "kappa"))
    assert settle("f1") is settle(["f1"])
    assert settle(["f1", "kappa"]) is not settle(["kappa", "f1"])
    assert settle([find("f1")]) is not settle([find("f1")])  # what is no text may change


@pytest.mark.parametrize(
    ("name", "parameter"), [(each.name, name) for each in sy.all_measures().values() for name in each.ranges]
)
def test_parameters_stay_in_their_range(name: str, parameter: str) -> None:
    low, high = sy.find(name).ranges[parameter]
    for value in (low, high, (low + high) / 2, np.float32(low), 1):
        assert sy.find(name, **{parameter: value}).parameters[parameter] == value
    for bad in (low - 1, high * 2 + 1, float("nan"), float("inf"), "x", None, [0.5], 1j):
        with pytest.raises(sy.SteelyardError, match=f"{parameter} is "):
            sy.find(name, **{parameter: bad})


@pytest.mark.parametrize("classes", [2, 3])
def test_every_slot_is_where_the_layout_says(classes: int) -> None:
    random = np.random.default_rng(4)
    truth, scores = random.integers(0, classes, 60), random.dirichlet(np.ones(classes), 60)
    found = sy.assess(truth, scores, scale=sy.Scale(range(classes)))
    for part in found.parts.values():
        slots = part.evaluation.slots
        keys = [(slot.measure.label, slot.average if slot.code is None else slot.code) for slot in slots]
        assert [part.evaluation.places[key] for key in keys] == list(range(len(slots)))
        assert len(part.evaluation.places) == len(slots)


@pytest.mark.parametrize("options", [{"replicates": 10_000.0}, {"undefined": [0]}, {"level": "much"}, {"seed": 0.0}])
def test_options_are_checked_however_like_they_are_to_those_before(options: dict[str, Any]) -> None:
    settle(replicates=10_000, seed=0)
    with pytest.raises(sy.SteelyardError):
        settle(**options)

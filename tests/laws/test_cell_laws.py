"""What cells of a score tell of very many rows is what the rows themselves tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import steelyard.families.ranking.cell_counts
import steelyard.families.ranking.evaluation
from steelyard import assess, compare
from steelyard.families.ranking.cell_counts import BITS, MANY, counted_by_cell
from steelyard.families.ranking.counted import Placements
from steelyard.maths.label_sort import CellMeans, Cells, ClassOrder, label_sorted
from steelyard.measures.ranking import auc

ROWS = 40_000


def forecasts(kind: str, classes: int = 3, rows: int = ROWS) -> tuple[Any, Any]:
    random = np.random.default_rng(classes)
    truth = random.integers(0, classes, rows)
    if kind == "unequal":
        truth = np.minimum(random.geometric(0.4, rows) - 1, classes - 1)
    score = random.standard_normal((rows, classes))
    score[np.arange(rows), truth] += 1.0
    said = np.exp(score * {"too sure": 40, "surer": 1.6}.get(kind, 1))
    said /= said.sum(axis=1, keepdims=True)
    if kind == "single precision":
        return truth, said.astype(np.float32)
    if kind == "zeros":
        said[said < 0.05] = 0.0
    decimals = {"tied": 2, "some tied": 5}.get(kind, 17)
    said = said.round(decimals)
    if kind in ("tied", "some tied", "zeros"):
        said[:, -1] = (1 - said[:, :-1].sum(axis=1)).round(min(decimals, 12))
    return truth, np.abs(said)


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MANY", "MANY_OF_ONE"):
        monkeypatch.setattr(steelyard.families.ranking.cell_counts, name, 1 << 15)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("kind", ["usual", "surer", "unequal", "tied", "some tied", "single precision", "zeros"])
def test_cells_tell_what_rows_tell(kind: str, classes: int) -> None:
    truth, said = forecasts(kind, classes)
    rows = assess(truth, said, measures=["auc"]).ranked
    cells, usual = counted_by_cell(rows.rows, 0, rows.sizes), Placements.of(rows.rows, 0, rows.sizes).counted
    assert cells is not None
    parts: list[int | str] = [*range(classes), "macro", "weighted"]
    found, wanted = cells.found(auc, parts), usual.found(auc, parts)
    for part in parts:
        assert_allclose(found[part].value, wanted[part].value, rtol=1e-14)
        exact = isinstance(part, int)
        assert_allclose(found[part].variance, wanted[part].variance, rtol=1e-11 if exact else 1e-5)
        assert_allclose(found[part].freedom, wanted[part].freedom, rtol=1e-11 if exact else 1e-5)
        assert_allclose(cells.found(auc, [part])[part].variance, found[part].variance, rtol=1e-13)


@pytest.mark.usefixtures("few_are_many")
def test_where_cells_would_be_too_wide_rows_are_told_apart() -> None:
    truth, said = forecasts("too sure")
    rows = assess(truth, said, measures=["auc"]).ranked
    assert counted_by_cell(rows.rows, 0, rows.sizes) is None
    usual = Placements.of(rows.rows, 0, rows.sizes).counted.found(auc, ["macro"])["macro"]
    assert assess(truth, said, measures=["auc"])["auc"].se == pytest.approx(np.sqrt(usual.variance[0]), rel=1e-12)


@pytest.mark.usefixtures("few_are_many")
def test_a_class_of_which_the_sample_says_nothing_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, said = forecasts("usual")
    rows = assess(truth, said, measures=["auc"]).ranked
    real, asked = steelyard.families.ranking.cell_counts._standing, list[tuple[int, int]]()

    def standing(score: Any, truth: Any, code: int) -> Any:
        asked.append((len(score), code))
        return None if code == 2 else real(score, truth, code)

    monkeypatch.setattr(steelyard.families.ranking.cell_counts, "_standing", standing)
    assert counted_by_cell(rows.rows, 0, rows.sizes) is None
    assert asked[0][0] < ROWS / 2
    assert sorted(asked[1:]) == [(ROWS, 0), (ROWS, 1), (ROWS, 2)]


@pytest.mark.usefixtures("few_are_many")
def test_scores_below_0_have_no_cells() -> None:
    truth, said = forecasts("usual")
    rows = assess(truth, said, measures=["auc"]).ranked
    scores = rows.rows.scores[0]
    for place in (0, 2):
        columns = [column if code != place else column - 0.5 for code, column in enumerate(scores.columns)]
        less = rows.rows.with_columns([None, None, truth.astype(np.uint8), *columns], None)
        assert counted_by_cell(less, 0, rows.sizes) is None


def test_few_rows_are_told_apart() -> None:
    truth, said = forecasts("usual")
    rows = assess(truth, said, measures=["auc"]).ranked
    assert ROWS < MANY
    assert counted_by_cell(rows.rows, 0, rows.sizes) is None


@pytest.mark.usefixtures("few_are_many")
def test_one_score_for_two_classes_has_no_cells() -> None:
    truth, said = forecasts("usual", 2)
    rows = assess(truth, said[:, 1], event=1, measures=["auc"]).ranked
    assert counted_by_cell(rows.rows, 0, rows.sizes) is None


@pytest.mark.usefixtures("few_are_many")
def test_influences_are_those_of_rows() -> None:
    truth, said = forecasts("usual")
    rows = assess(truth, said, measures=["auc"]).ranked
    rows.result(next(slot for slot in rows.slots if slot.average == "macro"))
    assert rows.memory.counted  # by cells, which tell nothing of single rows
    assert not rows.memory.placed
    usual = Placements.of(rows.rows, 0, rows.sizes)
    for place in (1, 3):
        slot = rows.slots[place]
        part = str(slot.average) if slot.code is None else slot.code
        assert_array_equal(rows.influence(slot, smooth=False), usual.influence(auc, part))


def test_very_many_rows_take_the_short_way_to_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, said = forecasts("usual", 3, MANY)
    short = assess(truth, said, measures=["auc"]).table()
    monkeypatch.setattr(steelyard.families.ranking.evaluation, "counted_by_cell", lambda *_: None)
    usual = assess(truth, said, measures=["auc"]).table()
    assert_array_equal(short["value"], usual["value"])
    for column in ("low", "high", "se"):
        assert_allclose(short[column], usual[column], rtol=1e-5)


@pytest.mark.usefixtures("few_are_many")
def test_classifiers_are_compared_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, said = forecasts("usual")
    other = said[:, ::-1] * 0.1 + said * 0.9

    def refuse(*_: object) -> None:
        raise AssertionError("by cells, differences could not be told")

    monkeypatch.setattr(steelyard.families.ranking.evaluation, "counted_by_cell", refuse)
    found = compare(truth, {"a": said, "b": other}, measures=["auc"]).differences("auc")
    assert np.isfinite(found["se"]).all()


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("bits", [1, 4, 13])
@given(
    scores=st.lists(st.sampled_from([0.0, -0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 3.0, np.inf]), min_size=2, max_size=40),
    data=st.data(),
)
def test_rows_stand_where_pairs_say(bits: int, precision: Any, scores: list[float], data: st.DataObject) -> None:
    """Of two with the same score, each is half above the other."""
    truth = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores))), np.uint8)
    score = np.array(scores, precision)
    rows = label_sorted(score, truth, 1)
    assert rows is not None
    found = CellMeans.of(ClassOrder.of(rows, int(truth.sum())), Cells.of(rows, bits))
    above = (score[None, :] > score[:, None]) + (score[None, :] == score[:, None]) / 2
    counts = (above * (truth[None, :] != truth[:, None])).sum(axis=1)
    assert found.above == counts[truth == 1].sum()
    assert_allclose(found.squares, [np.square(counts[truth == side]).sum() for side in (0, 1)], atol=1e-9)
    cells = found.cells.at(rows.numbers)
    assert cells.max() < found.cells.number == found.means.shape[1]
    for side in (0, 1):
        for cell in np.unique(cells[truth == side]):
            mine = counts[(truth == side) & (cells == cell)]
            assert found.means[side, cell] == pytest.approx(mine.mean(), abs=1e-9)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("bits", BITS)
def test_cells_hold_what_lies_between_their_ends(bits: int, precision: Any) -> None:
    random = np.random.default_rng(0)
    score = (random.random(5_000) ** 4).astype(precision)
    rows = label_sorted(score, np.zeros(5_000, np.uint8), 1)
    assert rows is not None
    cells = Cells.of(rows, bits)
    assert cells.number <= 2**bits + 2
    held = np.bincount(cells.at(rows.numbers), minlength=cells.number)
    assert_array_equal(np.diff(cells.ends(rows.keys))[::-1], held)

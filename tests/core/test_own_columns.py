"""Columns that lie on top of each other, and such as seem to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.core.arrays import BLOCK, checksum, frozen, own, pieces, stacked
from steelyard.core.errors import ChangedInput
from steelyard.core.threads import alone
from steelyard.inputs import prediction

MATRIX = np.arange(15.0).reshape(3, 5).copy()
TURNED = np.asfortranarray(MATRIX)


@pytest.mark.parametrize(
    ("columns", "copied"),
    [
        (list(MATRIX), False),
        ([row[1:4] for row in MATRIX], False),
        ([row[2:] for row in TURNED], False),
        (pieces(list(TURNED), 1, 4), False),
        (list(MATRIX[::-1]), True),
        ([MATRIX[1], MATRIX[0], MATRIX[2]], True),
        ([MATRIX[0, 1:], MATRIX[1, 1:], MATRIX[2, :-1]], True),
        ([TURNED[1, :-1], TURNED[2, :-1], TURNED[0, 1:]], True),
        ([row[::2] for row in MATRIX], True),
        (list(MATRIX[:2]), True),
        (list(MATRIX.astype(np.float32)), True),
        (list(np.broadcast_to(np.arange(5.0), (3, 5))), True),
        ([np.arange(5.0), np.arange(5.0)], True),
        ([np.arange(5.0)], True),
    ],
)
def test_columns_are_stacked_as_they_come(columns: list[Any], copied: bool) -> None:
    found = stacked(columns)
    assert found.tolist() == [column.tolist() for column in columns]
    assert found.dtype == np.float64
    assert np.shares_memory(found, columns[0]) is not copied


def unwritable(array: Any) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view


VIEWS = {
    "itself": lambda array: array,
    "unwritable": unwritable,
    "buffer": lambda array: unwritable(np.frombuffer(memoryview(array))),
    "pandas": lambda array: pd.Series(array, copy=False),
    "arrow": pa.array,
    "chunks": lambda array: pa.chunked_array([pa.array(array)]),
}


@pytest.mark.parametrize("view", VIEWS)
def test_scores_that_change_later_are_noticed_whoever_shows_them(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow hands the memory of pandas on as if nobody could write into it."""
    truth, scores = np.arange(40) % 2, np.linspace(0, 1, 40)
    wanted = sy.assess(truth, scores)["auc"].value
    given = scores.copy()
    copied = sy.assess(truth, VIEWS[view](given))
    frame = pd.DataFrame({"truth": truth, "score": scores})
    framed = sy.assess(frame, truth="truth", membership="score", event=1)
    monkeypatch.setattr(prediction, "WORTH_SEALING", 0)
    sealed = sy.assess(truth, VIEWS[view](given))
    given[:] = given[::-1].copy()
    frame.iloc[:, 1] = scores[::-1].copy()
    assert copied["auc"].value == wanted
    assert framed["auc"].value == wanted
    with pytest.raises(ChangedInput):
        sealed["auc"]


def test_columns_that_are_frozen_all_the_way_down_are_not_copied() -> None:
    array = np.arange(5.0)
    assert not frozen(array)
    assert not frozen(unwritable(array))
    array.setflags(write=False)
    assert frozen(array)
    assert own([array])[0] is array


@pytest.mark.parametrize("turned", [False, True])
def test_a_checksum_tells_any_two_values_apart_and_any_two_places(turned: bool) -> None:
    """Of more than one block, of more than one line, and of a line that is not a whole one."""
    random = np.random.default_rng(4)
    values = random.random(3 * (BLOCK + 20_000))
    columns = list(values.reshape(3, -1)) if turned else list(values.reshape(-1, 3).T)
    before = checksum(columns)
    with alone():
        assert checksum(columns) == before
    for one, apart in zip(random.integers(len(values), size=40), [1, 3, 4096, 8192, BLOCK] * 8, strict=True):
        other = (one + apart) % len(values)
        values[[one, other]] = values[[other, one]]
        assert checksum(columns) != before
        values[[one, other]] = values[[other, one]]
        values[one] = np.nextafter(kept := values[one], 2.0)
        assert checksum(columns) != before
        values[one] = kept
    assert checksum(columns) == before

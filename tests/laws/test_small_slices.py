"""A small part of a large table that is streamed gives what the same rows give in memory, differences too."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.testing import assert_allclose
from pyarrow import parquet

import steelyard as sy
from steelyard.core.errors import SteelyardError
from steelyard.measures.registry import REGISTRY, Measure
from steelyard.passes import tally
from steelyard.results import evaluate
from steelyard.states.held_rows import Rows
from tests.effort import in_turn

ROWS, SMALL = 900, 60
SCALE = sy.Scale(["no", "yes"], event="yes")
CUT = sy.Continuum([0.4], classes=["dry", "wet"], sd=0.2)
THREE = sy.Scale(["a", "b", "c"])


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MOST_ROWS", 300)
    monkeypatch.setattr(evaluate, "MOST_HELD", 0)


def drawn(seed: int) -> tuple[np.random.Generator, dict[str, Any]]:
    random = np.random.default_rng(seed)
    part = random.permutation(np.where(np.arange(ROWS) < SMALL, "small", "large"))
    return random, {"part": part, "weight": random.integers(1, 5, ROWS) / 2, "cluster": random.integers(0, 200, ROWS)}


def of_two_classes() -> tuple[pa.Table, dict[str, str], dict[str, Any]]:
    random, columns = drawn(1)
    truth = random.random(ROWS) < 0.4
    scores = {name: np.clip(0.3 + by * truth + 0.2 * random.standard_normal(ROWS), 0.01, 0.99) for name, by in AB}
    return (
        pa.table({**columns, "truth": np.where(truth, "yes", "no"), **scores}),
        {"a": "a", "b": "b"},
        {"scale": SCALE},
    )


def of_three_classes() -> tuple[pa.Table, dict[str, str], dict[str, Any]]:
    random, columns = drawn(2)
    truth = random.integers(0, 3, ROWS)
    for name, by in AB:
        raw = np.exp(6 * by * np.eye(3)[truth] + 0.7 * random.standard_normal((ROWS, 3)))
        shares = raw / raw.sum(axis=1, keepdims=True)
        columns |= {f"{name}_{label}": column for label, column in zip("abc", shares.T, strict=True)}
    return pa.table({**columns, "truth": np.array(list("abc"))[truth]}), {"a": "a_*", "b": "b_*"}, {"scale": THREE}


def of_a_continuum() -> tuple[pa.Table, dict[str, str], dict[str, Any]]:
    random, columns = drawn(3)
    value = 0.5 * random.standard_normal(ROWS)
    guesses = {name: np.where(value + (0.5 - by) * random.standard_normal(ROWS) > 0.4, "wet", "dry") for name, by in AB}
    return pa.table({**columns, "truth": value, **guesses}), {"a": "a", "b": "b"}, {"scale": CUT}


AB = (("a", 0.3), ("b", 0.15))
KINDS: dict[str, Callable[[], tuple[pa.Table, dict[str, str], dict[str, Any]]]] = {
    "two": of_two_classes,
    "three": of_three_classes,
    "continuum": of_a_continuum,
}


@cache
def measures_of(kind: str) -> list[str]:
    """The measures that can be had of such a table without any further input, and that have a better end."""
    table, models, given = KINDS[kind]()

    def fits(measure: Measure) -> bool:
        try:
            sy.compare(table.slice(0, 50), models, truth="truth", measures=[measure], **given)
        except SteelyardError:
            return False
        return measure.better != "neither"

    return [measure.name for measure in REGISTRY.values() if fits(measure)]


@pytest.mark.study
@pytest.mark.parametrize(
    ("kind", "extra"), in_turn([*KINDS], [{}, {"weight": "weight"}, {"group": "cluster"}]), ids=str
)
def test_a_small_slice_is_assessed_as_in_memory(tmp_path: Path, kind: str, extra: dict[str, str]) -> None:
    table, models, given = KINDS[kind]()
    measures = measures_of(kind)
    assert len(measures) > 15
    for place in range(3):
        parquet.write_table(table.slice(300 * place, 300), tmp_path / f"{place}.parquet", row_group_size=70)
    common: dict[str, Any] = {"truth": "truth", "measures": measures, **given, **extra}
    streamed = sy.compare(str(tmp_path), models, by="part", **common)
    held = sy.compare(table.filter(pc.equal(table["part"], "small")), models, **common)
    assert streamed.tally.summaries is not None
    assert held.tally.summaries is None
    small = streamed.slices["small"]
    found, wanted = small.differences(by_class=True), held.differences(by_class=True)
    assert found["measure"] == wanted["measure"]
    for column in ("difference", "low", "high", "se", "p"):
        assert_allclose(found[column], wanted[column], rtol=1e-9, atol=1e-12, err_msg=column)
    found, wanted = small.table(), held.table()
    assert [*found["measure"], *found["note"]] == [*wanted["measure"], *wanted["note"]]
    for column in ("value", "low", "high", "se"):
        assert_allclose(found[column], wanted[column], rtol=1e-9, atol=1e-12, err_msg=column)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("saved", [False, True])
def test_so_are_small_slices_of_tallies_added_in_any_order(tmp_path: Path, order: tuple[int, ...], saved: bool) -> None:
    table, models, given = of_two_classes()
    measures = ["auc", "brier", "calibration_error", "kappa"]
    common: dict[str, Any] = {"truth": "truth", "measures": measures, **given}
    tallies = []
    for place in order:
        parquet.write_table(table.slice(300 * place, 300), tmp_path / f"{place}.parquet")
        one = sy.compare(str(tmp_path / f"{place}.parquet"), models, by="part", engine="local", **common).tally
        if saved:
            one.save(tmp_path / f"{place}.tally")
            one = sy.Tally.load(tmp_path / f"{place}.tally")
        tallies.append(one)
    added = sy.compare_tally(tallies[0] + tallies[1] + tallies[2], measures=measures)
    assert added.tally.summaries is not None
    held = sy.compare(table.filter(pc.equal(table["part"], "small")), models, **common)
    found, wanted = added.slices["small"].differences(), held.differences()
    for column in ("difference", "low", "high", "se", "p"):
        assert_allclose(found[column], wanted[column], rtol=1e-9, atol=1e-12, err_msg=column)


def test_rows_that_were_taken_out_are_missed(tmp_path: Path) -> None:
    """What is left of a slice is then known by its sums alone: the rows at hand are no longer those that count."""
    table, models, given = of_two_classes()
    common: dict[str, Any] = {"truth": "truth", "measures": ["auc", "brier"], "by": "part", **given}
    tallies = []
    for place in (0, 1):
        parquet.write_table(table.slice(450 * place, 450), tmp_path / f"{place}.parquet")
        tallies.append(sy.compare(str(tmp_path / f"{place}.parquet"), models, engine="local", **common).tally)
    left = sy.compare_tally(tallies[0] + tallies[1] - tallies[1], measures=["auc", "brier"])
    first = sy.compare_tally(tallies[0], measures=["auc", "brier"])
    assert left.tally.kept_of("small") is not None
    assert left.slices["small"]["a"]["brier"].value == pytest.approx(
        first.slices["small"]["a"]["brier"].value, rel=1e-9
    )


def test_saved_rows_of_small_slices_are_sorted(tmp_path: Path) -> None:
    """A tally does not show in which order the rows stood."""
    table, models, given = of_two_classes()
    parquet.write_table(table, tmp_path / "rows.parquet")
    common: dict[str, Any] = {"truth": "truth", "measures": ["auc", "brier"], "by": "part", **given}
    made = sy.compare(str(tmp_path / "rows.parquet"), models, engine="local", **common).tally
    made.save(tmp_path / "rows.tally")
    rows = sy.Tally.load(tmp_path / "rows.tally").kept_of("small")
    assert isinstance(rows, Rows)
    assert len(rows) == SMALL
    columns = [np.asarray(column) for column in (rows.truth, *[each.columns[0] for each in rows.scores])]
    assert np.array_equal(np.lexsort(columns[::-1]), np.arange(SMALL))

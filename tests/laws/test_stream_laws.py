"""What rankings say of rows that were let go is what they say of the same rows in memory, differences too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pyarrow import parquet

import steelyard as sy
from steelyard.measures.registry import REGISTRY
from steelyard.passes import tally
from steelyard.results import evaluate
from steelyard.states.statistics import RANKING
from tests.effort import in_pairs, repeats

MEASURES = [measure.name for measure in REGISTRY.values() if measure.statistic is RANKING]
VALUES, DIFFERENCES = ["value", "low", "high", "se"], ["difference", "low", "high", "se", "p"]
BOTH = {2: {"a": "a", "b": "b"}, 3: {"a": "a_*", "b": "b_*"}}


@pytest.fixture(autouse=True)
def _no_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MOST_ROWS", 0)
    monkeypatch.setattr(evaluate, "MOST_HELD", 0)


def drawn(rows: int, classes: int, seed: int, decimals: int = 2, apart: float = 1.0) -> dict[str, Any]:
    """Two classifiers, weights and clusters; scores of two decimals are at hand in cells as they are."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.arange(rows) % classes)
    found: dict[str, Any] = {"truth": truth, "weight": random.integers(1, 5, rows) / 2, "group": truth}
    found["group"] = random.integers(0, max(rows // 5, 2), rows)
    for name, noise in (("a", 0.6), ("b", 1.0)):
        score = apart * np.eye(classes)[truth] + noise * random.standard_normal((rows, classes))
        if classes == 2:
            found[name] = (1 / (1 + np.exp(-score[:, 1]))).round(decimals)
            continue
        shares = (np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)).round(decimals)
        shares[:, -1] = np.abs((1 - shares[:, :-1].sum(axis=1)).round(max(decimals, 12)))
        found |= {f"{name}_{code}": column for code, column in enumerate(shares.T)}
    return found


def written(folder: Path, columns: dict[str, Any], order: list[int]) -> str:
    """The rows in files, whose names are in this order."""
    folder.mkdir()
    rows = np.array_split(np.arange(len(columns["truth"])), len(order))
    for name, part in zip(order, rows, strict=True):
        some = {column: values[part] for column, values in columns.items()}
        parquet.write_table(pa.table(some), folder / f"{name}.parquet", row_group_size=17)
    return str(folder)


def options(classes: int, measures: list[str], extra: dict[str, str]) -> dict[str, Any]:
    return {"truth": "truth", "measures": measures, **extra} | ({"event": 1} if classes == 2 else {})


def assert_same(found: sy.Comparison, held: sy.Comparison, least: float = 1e-12) -> None:
    assert found.tally.summaries is not None
    assert held.tally.summaries is None
    tables = ((DIFFERENCES, found.differences(), held.differences()), (VALUES, found.table(), held.table()))
    for columns, mine, yours in tables:
        for column in columns:
            assert_allclose(mine[column], yours[column], rtol=1e-9, atol=least, err_msg=column)
    for model in found.models:
        for name in found[model]:
            value = held[model][name].value
            assert found[model][name].certified == pytest.approx((value, value), rel=1e-9, abs=least, nan_ok=True)


@pytest.mark.study
@pytest.mark.parametrize(
    ("size", "classes", "named"),
    in_pairs(
        [(30, 1.0), (100, 1.0), (100, 4.0), (repeats(1000, 3000), 1.0)],
        [2, 3],
        [[], ["weight"], ["group"], ["weight", "group"]],
    ),
)
def test_streams_tell_what_memory_tells(
    tmp_path: Path, size: tuple[int, float], classes: int, named: list[str]
) -> None:
    """AUC of 100 rows had p = .1158 where it was .1237 in memory: on streams, there were no pseudo-rows."""
    rows, apart = size
    columns = drawn(rows, classes, rows, apart=apart)
    given = options(classes, MEASURES, {name: name for name in named})
    held = sy.compare(pa.table(columns), BOTH[classes], **given)
    assert_same(sy.compare(written(tmp_path / "rows", columns, [0, 1, 2]), BOTH[classes], **given), held)


@pytest.mark.parametrize("rare", [1, 2, 5])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_of_few_rows_is_as_unsure(tmp_path: Path, classes: int, rare: int) -> None:
    columns, given = drawn(600, classes, rare), options(classes, ["auc", "hand_till_auc"], {})
    columns["truth"] = np.where(columns["truth"] == 1, 0, columns["truth"])
    columns["truth"][:rare] = 1
    held = sy.compare(pa.table(columns), BOTH[classes], **given)
    assert_same(sy.compare(written(tmp_path / "rows", columns, [0, 1, 2]), BOTH[classes], **given), held)


@settings(max_examples=repeats(3, 20), deadline=None)
@given(order=st.permutations(range(4)), seed=st.integers(0, 1000))
def test_files_in_any_order_tell_the_same(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], seed: int
) -> None:
    columns, given = drawn(90, 3, seed), options(3, ["auc"], {"weight": "weight"})
    found, other = (
        sy.compare(written(tmp_path_factory.mktemp("rows") / "rows", columns, each), BOTH[3], **given)
        for each in ([0, 1, 2, 3], order)
    )
    mine, yours = found.differences(), other.differences()
    for name in DIFFERENCES:
        assert_allclose(mine[name], yours[name], rtol=1e-9, atol=1e-12, err_msg=name)


def merged(folder: Path, columns: dict[str, Any], order: list[int], given: dict[str, Any]) -> sy.Assessment:
    """The first classifier, by the sum of the tallies of three parts of the rows."""
    parts, said = Path(written(folder / "rows", columns, [0, 1, 2])), "a" if "a" in columns else "a_*"
    tallies = [sy.assess(str(parts / f"{k}.parquet"), membership=said, **given, engine="local").tally for k in order]
    return sy.assess_tally(tallies[0] + tallies[1] + tallies[2], measures=given["measures"])


@settings(max_examples=repeats(3, 20), deadline=None)
@given(order=st.permutations(range(3)), seed=st.integers(0, 1000), classes=st.sampled_from([2, 3]))
def test_tallies_in_any_order_add_up_to_memory(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], seed: int, classes: int
) -> None:
    """Averages over several scores have wider intervals: how classes go together takes another look at the rows."""
    columns, given = drawn(120, classes, seed), options(classes, MEASURES, {})
    found = merged(tmp_path_factory.mktemp("rows"), columns, order, given).table()
    held = sy.assess(pa.table(columns), membership=BOTH[classes]["a"], **given).table()
    told = [place for place, average in enumerate(held["average"]) if classes == 2 or average is None]
    for column in VALUES:
        rows = told if column != "value" else range(len(held["value"]))
        mine, yours = ([each[column][row] for row in rows] for each in (found, held))
        assert_allclose(mine, yours, rtol=1e-9, atol=1e-12, err_msg=column)


@settings(max_examples=repeats(3, 20), deadline=None)
@given(order=st.permutations(range(3)), seed=st.integers(0, 1000), classes=st.sampled_from([2, 3]))
def test_values_in_memory_lie_within_what_mixed_cells_certify(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], seed: int, classes: int
) -> None:
    """Scores are so close to each other that many rows of either side share a cell."""
    columns, given = drawn(120, classes, seed, decimals=17), options(classes, MEASURES, {})
    columns |= {name: 0.25 + 1e-7 * columns[name] for name in ("a", "a_0", "a_1") if name in columns}
    if classes == 3:
        columns["a_2"] = 1 - columns["a_0"] - columns["a_1"]
    found = merged(tmp_path_factory.mktemp("rows"), columns, order, given)
    held = sy.assess(pa.table(columns), membership=BOTH[classes]["a"], **given)
    assert any(grid.mixed.any() for grid in found.ranked.grids)
    for place in range(len(found.ranked.slots)):
        low, high = found.ranked.certified(found.ranked.slots[place]) or (np.nan, np.nan)
        assert low - 1e-12 <= held.ranked.values[0, place] <= high + 1e-12
        assert low - 1e-12 <= found.ranked.values[0, place] <= high + 1e-12


@pytest.mark.parametrize("classes", [2, 3])
def test_what_cells_leave_open_moves_differences_as_little_as_values(tmp_path: Path, classes: int) -> None:
    columns, given = drawn(400, classes, 5, decimals=17), options(classes, MEASURES, {})
    found = sy.compare(written(tmp_path / "rows", columns, [0, 1, 2]), BOTH[classes], **given)
    held = sy.compare(pa.table(columns), BOTH[classes], **given)
    mine, yours = found.differences(), held.differences()
    for row, name in enumerate(yours["measure"]):
        ends = [found[model][name].certified or (np.nan, np.nan) for model in ("a", "b")]
        open_ = sum(high - low for low, high in ends)
        assert abs(mine["difference"][row] - yours["difference"][row]) <= open_ + 1e-12
        for column in ("low", "high", "se"):
            assert abs(mine[column][row] - yours[column][row]) <= open_ + 0.02 * yours["se"][row]

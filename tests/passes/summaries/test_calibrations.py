"""Calibration of rows that were let go, held against that of rows at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.core.errors import DamagedFile, TooLarge
from steelyard.passes.tally import Tally

from .test_summed import shuffled_files, three_classes, two_classes, written

MEASURES = ["calibration_error", "calibration_error(bins=4)", "top_calibration_error"]
COLUMNS = ("value", "low", "high", "se")


def rounded(columns: dict[str, Any], decimals: int = 2) -> dict[str, Any]:
    """The same with few distinct forecasts, so that each has a cell of its own; those of all classes add up to 1."""
    found = dict(columns)
    for name in ("a", "b"):
        if name in found:
            found[name] = np.round(found[name], decimals)
    for name in ("p", "q"):
        if f"{name}_x" in found:
            found |= {f"{name}_{label}": np.round(found[f"{name}_{label}"], decimals) for label in "xy"}
            found[f"{name}_z"] = np.abs(1 - found[f"{name}_x"] - found[f"{name}_y"])
    return found


def same(found: Any, held: Any, columns: tuple[str, ...] = COLUMNS, rel: float = 1e-10) -> None:
    """See that two tables say the same."""
    assert found["measure"] == held["measure"]
    for column in columns:
        np.testing.assert_allclose(found[column], held[column], rtol=rel, atol=1e-12, err_msg=column)


def near(found: Any, held: Any, columns: tuple[str, ...] = COLUMNS, share: float = 0.05) -> None:
    """See that two tables say the same but for a share of a standard error."""
    error = np.array(held["se"], dtype=float)
    for column in columns:
        mine, yours = np.array(found[column], dtype=float), np.array(held[column], dtype=float)
        assert (np.isnan(mine) == np.isnan(yours)).all()
        assert np.nanmax(np.abs(mine - yours) / np.where(error > 0, error, 1.0)) <= share, column


EXTRAS: list[dict[str, Any]] = [
    {},
    {"weight": "weight"},
    {"weight": "times", "weight_kind": "frequency"},
    {"group": "batch"},
    {"by": "site"},
]


@pytest.mark.parametrize("extra", [*EXTRAS, {"by": "site", "group": "batch", "weight": "weight"}])
def test_few_distinct_forecasts_are_exact(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = rounded(two_classes())
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "measures": MEASURES, **extra}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    assert found.tally.summaries is not None
    same(found.table(), held.table())
    assert found.table()["note"] == held.table()["note"]
    assert found.table()["method"] == held.table()["method"]


@pytest.mark.parametrize("extra", [{}, {"weight": "weight"}, {"group": "batch"}])
def test_three_classes_and_their_averages(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = rounded(three_classes(), 3)
    given: dict[str, Any] = {"truth": "truth", "membership": "q_*", "measures": MEASURES, **extra}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    same(found.table(), held.table())


@pytest.mark.parametrize("extra", [{}, {"group": "batch"}, {"weight": "weight"}])
def test_forecasts_anywhere_are_as_good(tmp_path: Path, extra: dict[str, Any]) -> None:
    for name, columns, membership in (("two", two_classes(), "b"), ("three", three_classes(), "q_*")):
        folder = tmp_path / name
        folder.mkdir()
        given: dict[str, Any] = {"truth": "truth", "membership": membership, "measures": MEASURES, **extra}
        given |= {"event": "yes"} if name == "two" else {}
        found, held = sy.assess(written(folder, columns), **given), sy.assess(pa.table(columns), **given)
        near(found.table(), held.table())


@pytest.mark.parametrize("extra", [{}, {"by": "site"}])
def test_forecasts_close_together_are_told_apart(tmp_path: Path, extra: dict[str, Any]) -> None:
    """All of them lie in a few cells, which are parted until bins are as even as those of rows at hand."""
    columns = two_classes()
    columns["a"] = 0.3 + 1e-5 * columns["a"]
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "measures": MEASURES, **extra}
    found, held = sy.assess(written(tmp_path, columns), **given), sy.assess(pa.table(columns), **given)
    near(found.table(), held.table())


@pytest.mark.parametrize("extra", [{}, {"group": "batch"}, {"weight": "weight"}])
def test_differences(tmp_path: Path, extra: dict[str, Any]) -> None:
    for name, columns, models in (
        ("two", rounded(two_classes()), {"a": "a", "b": "b"}),
        ("three", rounded(three_classes()), {"p": "p_*", "q": "q_*"}),
    ):
        folder = tmp_path / name
        folder.mkdir()
        given: dict[str, Any] = {"truth": "truth", "measures": MEASURES, **extra}
        given |= {"event": "yes"} if name == "two" else {}
        found = sy.compare(written(folder, columns), models, **given)
        held = sy.compare(pa.table(columns), models, **given)
        same(found.table(), held.table())
        same(found.differences(), held.differences(), ("difference", "low", "high", "se", "p"), rel=1e-6)
        assert len(found.table(simultaneous=True)) == len(held.table(simultaneous=True))


def test_the_order_and_the_files_of_rows_do_not_matter(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "p_*", "measures": MEASURES, "group": "batch"}
    results = [sy.assess(folder, **given).table() for folder in shuffled_files(tmp_path, three_classes())]
    for other in results[1:]:
        same(results[0], other, rel=1e-9)


def test_labels_are_forecasts_of_1(tmp_path: Path) -> None:
    columns = two_classes()
    columns["label"] = np.where(columns["b"] > 0.5, "yes", "no")
    given: dict[str, Any] = {"truth": "truth", "event": "yes", "measures": MEASURES}
    found = sy.compare(written(tmp_path, columns), {"a": "a", "label": "label"}, **given)
    held = sy.compare(pa.table(columns), {"a": "a", "label": "label"}, **given)
    same(found["label"].table(), held["label"].table())


def test_what_needs_forecasts_says_so(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "measures": MEASURES}
    found = sy.assess(written(tmp_path, two_classes()), **given)
    with pytest.raises(TooLarge, match="too many"):
        found.reliability()
    with pytest.raises(TooLarge, match="too many"):
        found.calibration.forecast(1)


# --- tallies ----------------------------------------------------------------------------------------------------


def test_tallies_are_saved_merged_and_taken_out(tmp_path: Path) -> None:
    columns = rounded(three_classes())
    given: dict[str, Any] = {"truth": "truth", "membership": "q_*", "measures": MEASURES}
    whole = sy.assess(written(tmp_path, columns), **given)
    whole.tally.save(tmp_path / "whole.tally")
    same(sy.assess_tally(Tally.load(tmp_path / "whole.tally"), measures=MEASURES).table(), whole.table(), rel=1e-14)
    parts = [sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(3)]
    merged = sy.assess_tally(parts[0] + parts[1] + parts[2], measures=MEASURES)
    for part in ("x", "y", "z"):
        for column in COLUMNS:
            mine, yours = (getattr(each["calibration_error", part], column) for each in (merged, whole))
            assert mine == pytest.approx(yours, rel=1e-9)
    average = merged["calibration_error", "macro"]
    assert "at most" in average.note
    assert average.high >= whole["calibration_error", "macro"].high
    tallies = parts[0] + parts[1] - parts[1], parts[0]
    left, first = (sy.assess_tally(each, measures=MEASURES)["calibration_error", "x"].value for each in tallies)
    assert left == pytest.approx(first, rel=1e-9)


def test_merged_clusters_are_not_known_to_go_together(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "measures": MEASURES}
    path = written(tmp_path, rounded(two_classes()), 2)
    parts = [sy.assess(f"{path}/{place}.parquet", **given, group="batch").tally for place in range(2)]
    found = sy.assess_tally(parts[0] + parts[1], measures=MEASURES)["calibration_error"]
    assert np.isnan(found.value)
    assert "rows of a cluster" in found.note


def test_damaged_sums_are_refused(tmp_path: Path) -> None:
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "event": "yes", "measures": MEASURES}
    sy.assess(written(tmp_path, two_classes()), **given).tally.save(tmp_path / "a.tally")
    content = bytearray((tmp_path / "a.tally").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "a.tally").write_bytes(content)
    with pytest.raises(DamagedFile, match="changed or cut off"):
        Tally.load(tmp_path / "a.tally")

"""Memberships that stand in one column, a list in every row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from steelyard import Assessment, Tally, assess, assess_tally, compare
from steelyard.cli import main
from steelyard.core.errors import EmptyInput, MissingValues, UnusableLabels, WrongShape
from steelyard.data import streams
from steelyard.results import evaluate

ROWS = 300
RANDOM = np.random.default_rng(8)
MEMBERSHIPS = RANDOM.dirichlet(np.ones(3), ROWS)
TRUTH = RANDOM.choice(["a", "b", "c"], ROWS).tolist()
LISTS = MEMBERSHIPS.tolist()


def table(column: Any) -> pa.Table:
    return pa.table({"truth": TRUTH, "said": column})


def values(found: Assessment) -> dict[str, float]:
    return {name: found[name].value for name in ("accuracy", "auc", "brier", "log_score")}


FORMS = {
    "lists": table(pa.array(LISTS)),
    "large lists": table(pa.array(LISTS, pa.large_list(pa.float64()))),
    "lists of one size": table(pa.array(LISTS, pa.list_(pa.float64(), 3))),
    "in pieces": pa.concat_tables([table(pa.array(LISTS)).slice(0, 100), table(pa.array(LISTS)).slice(100)]),
    "pandas": pd.DataFrame({"truth": TRUTH, "said": LISTS}),
    "arrays in pandas": pd.DataFrame({"truth": TRUTH, "said": list(MEMBERSHIPS)}),
    "polars": pl.DataFrame({"truth": TRUTH, "said": LISTS}),
    "arrays in polars": pl.DataFrame({"truth": TRUTH, "said": MEMBERSHIPS}),
}


@pytest.mark.parametrize("form", FORMS)
def test_lists_say_what_columns_say(form: str) -> None:
    wanted = values(assess(TRUTH, MEMBERSHIPS))
    assert values(assess(FORMS[form], truth="truth", membership="said")) == wanted
    assert values(assess(FORMS[form], truth="truth", membership=["said"])) == wanted


def test_a_column_of_lists_is_a_prediction_by_itself() -> None:
    for column in (pl.Series(LISTS), pd.Series(LISTS), pd.Series(list(MEMBERSHIPS)), pd.Series(map(tuple, LISTS))):
        assert values(assess(TRUTH, column)) == values(assess(TRUTH, MEMBERSHIPS))
    left = assess(TRUTH, pd.Series([None, *LISTS[1:]]), missing="drop")
    assert values(left) == values(assess(TRUTH[1:], MEMBERSHIPS[1:]))
    both = compare(table(pa.array(LISTS)), {"one": "said"}, truth="truth")
    assert values(both["one"]) == values(assess(TRUTH, MEMBERSHIPS))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place, low in enumerate(range(0, ROWS, 100)):
        pq.write_table(table(pa.array(LISTS)).slice(low, 100), tmp_path / f"{place}.parquet")
    return tmp_path


def test_files_of_lists_are_read_and_summed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = values(assess(TRUTH, MEMBERSHIPS))
    assert values(assess(folder, truth="truth", membership="said")) == pytest.approx(wanted, rel=1e-12)
    counts = assess(folder, truth="truth", membership="said", measures=["accuracy"])
    assert counts["accuracy"].value == wanted["accuracy"]
    out = folder / "sums.tally"
    assert (
        main(["tally", str(folder / "*.parquet"), "--truth", "truth", "--membership", "said", "--out", str(out)]) == 0
    )
    assert "300 rows, 3 classes, 3 files" in capsys.readouterr().out
    assert assess_tally(Tally.load(out))["accuracy"].value == wanted["accuracy"]
    said = ["--truth", "truth", "--membership", "said"]
    assert main(["tally", str(folder / "*.parquet"), *said, "--out", str(out)]) == 0
    assert "300 rows, 3 classes, 3 files" in capsys.readouterr().out
    assert assess_tally(Tally.load(out))["accuracy"].value == wanted["accuracy"]
    assert main(["assess", str(folder / "0.parquet"), *said]) == 0


def test_large_files_of_lists_are_never_held(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "_is_large", lambda *_: True)
    monkeypatch.setattr(streams.Files, "load", lambda *_: pytest.fail("the table was held"))
    wanted = values(assess(TRUTH, MEMBERSHIPS))
    assert values(assess(folder, truth="truth", membership="said")) == pytest.approx(wanted, rel=1e-12)
    odd = table(pa.array([*LISTS[:9], [0.5, 0.5], *LISTS[10:]]))
    pq.write_table(odd, folder / "3.parquet")
    with pytest.raises(WrongShape, match=r"3\.parquet.*row 9: 2 numbers stand in one row"):
        assess(folder, truth="truth", membership="said")


def test_rows_without_a_list_are_missing() -> None:
    for kind in (pa.list_(pa.float64()), pa.list_(pa.float64(), 3)):
        some = table(pa.array([None, *LISTS[1:]], kind))
        with pytest.raises(MissingValues, match="row 0"):
            assess(some, truth="truth", membership="said")
        left = assess(some, truth="truth", membership="said", missing="drop")
        assert values(left) == values(assess(TRUTH[1:], MEMBERSHIPS[1:]))
    with pytest.raises(MissingValues, match=r"column 'said\[1\]', row 2"):
        assess(table(pa.array([*LISTS[:2], [0.5, None, 0.5], *LISTS[3:]])), truth="truth", membership="said")


# Arrow before 26 cannot read what it wrote of lists of a fixed length, where some are missing.
FIXED = [] if int(pa.__version__.split(".")[0]) < 26 else [pa.list_(pa.float64(), 3)]


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.large_list(pa.float64()), *FIXED])
def test_rows_none_of_which_has_a_list_are_missing_too(tmp_path: Path, kind: Any) -> None:
    """Such as those of a day without predictions: how rows are spread over files does not matter."""
    none = table(pa.array([None] * ROWS, kind))
    with pytest.raises(MissingValues, match="column 'said', row 0"):
        assess(none, truth="truth", membership="said")
    with pytest.raises(EmptyInput, match="every row misses a value"):
        assess(none, truth="truth", membership="said", missing="drop")
    pq.write_table(none, tmp_path / "1.parquet")
    pq.write_table(table(pa.array(LISTS, kind)), tmp_path / "2.parquet")
    for engine in (None, "local"):
        found = assess(tmp_path, truth="truth", membership="said", missing="drop", engine=engine)
        assert (found.n, found.dropped) == (ROWS, ROWS)
        with pytest.raises(MissingValues, match=r"1\.parquet', column 'said.*, row 0"):
            assess(tmp_path, truth="truth", membership="said", engine=engine)


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        ([*LISTS[:9], [0.5, 0.5], *LISTS[10:]], WrongShape, "row 9: 2 numbers stand in one row, and 3 in those before"),
        ([row[:2] for row in LISTS], WrongShape, "2 membership columns for 3 classes"),
        ([["a", "b", "c"]] * ROWS, UnusableLabels, "cannot hold class labels"),
        ([[]] * ROWS, WrongShape, "0 membership columns for 3 classes"),
    ],
)
def test_lists_that_are_no_memberships_are_refused(column: Any, error: type[Exception], message: str) -> None:
    kind = pa.list_(pa.float64()) if column[0] == [] else None
    with pytest.raises(error, match=message):
        assess(table(pa.array(column, kind)), truth="truth", membership="said")


@pytest.mark.parametrize("membership", [{"a": "said"}, {"b": "said"}, "sai*"])
def test_a_column_of_lists_speaks_for_no_single_class(membership: Any, tmp_path: Path) -> None:
    pq.write_table(FORMS["lists"], tmp_path / "a.parquet")
    for source in (FORMS["lists"], tmp_path / "a.parquet"):
        with pytest.raises(WrongShape, match=r"column 'said'.*bound to one class.*Say membership='said'"):
            assess(source, truth="truth", membership=membership)

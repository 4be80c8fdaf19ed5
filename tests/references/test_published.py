"""Confusion tables that others made, with names and without."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.core.errors import BadTable

COUNTS = [[231, 27, 3], [32, 54, 5], [1, 2, 60]]
NAMES = ["no", "perhaps", "yes"]
FRAME = pd.DataFrame(COUNTS, NAMES, NAMES)
BY_NAME = {true: dict(zip(NAMES, row, strict=True)) for true, row in zip(NAMES, COUNTS, strict=True)}


def table(counts: Any, **options: Any) -> Any:
    return sy.assess_table(counts, **options).table().to_json()


@pytest.mark.parametrize(
    "counts",
    [
        FRAME,
        BY_NAME,
        FRAME[["yes", "no", "perhaps"]],  # bound by name, whatever their order
        pd.DataFrame(COUNTS, columns=NAMES),
        pd.DataFrame(COUNTS, index=NAMES),
        pl.DataFrame(FRAME),
        pl.DataFrame(FRAME.rename_axis("truth").reset_index()),
        pa.table({"truth": NAMES, **{name: FRAME[name] for name in reversed(NAMES)}}),
        {true: {name: row[name] for name in reversed(NAMES)} for true, row in BY_NAME.items()},
    ],
)
def test_a_table_names_its_classes(counts: Any) -> None:
    chosen = isinstance(counts, dict)  # frames that are in the order of letters may have been sorted
    assert table(counts) == table(COUNTS, scale=sy.Scale(NAMES, ordered=chosen))
    turned = FRAME.loc[["yes", "perhaps", "no"]]
    assert table(turned, scale=sy.Scale(NAMES)) == table(COUNTS, classes=NAMES)
    assert table(counts, event="yes") == table(COUNTS, scale=sy.Scale(NAMES, "yes", ordered=chosen))


@pytest.mark.parametrize("kind", ["Int64", "Float64", "int64[pyarrow]"])
def test_counts_may_stand_in_columns_that_can_miss_values(kind: Any) -> None:
    assert table(FRAME.astype(kind)) == table(FRAME)
    gap = FRAME.astype(kind)
    gap.iloc[1, 2] = pd.NA
    with pytest.raises(BadTable, match="row 'perhaps', column 'yes' is missing"):
        sy.assess_table(gap)


def test_columns_of_arrow_have_texts_for_names_but_classes_may_be_numbers() -> None:
    counts = [[30, 5], [4, 40]]
    numbered = pa.table({"truth": [0, 1], "1": [5, 40], "0": [30, 4]})
    assert table(numbered) == table(counts)
    with pytest.raises(BadTable, match=r"shape \(3, 2\)"):
        sy.assess_table(pa.table({"a": [30, 4, 1], "b": [5, 40, 1]}))
    with pytest.raises(BadTable, match="row 'b', column 'a' is missing"):
        sy.assess_table(pa.table({"a": [30, None], "b": [5, 40]}))


def test_a_file_that_pandas_read_has_texts_for_columns_but_classes_may_be_numbers() -> None:
    for text, classes in (("truth,1,2\n1,30,5\n2,4,40\n", (1, 2)), ("truth,0,1\n0,30,5\n1,4,40\n", (0, 1))):
        found = sy.assess_table(pd.read_csv(StringIO(text), index_col=0))
        assert found.classes == classes
        np.testing.assert_array_equal(found.confusion(), [[30, 5], [4, 40]])
    assert sy.assess_table(pd.DataFrame([[30, 5], [4, 40]], columns=["0", "1"])).classes == ("0", "1")


def test_a_cross_table_is_its_rows() -> None:
    random = np.random.default_rng(0)
    truth, said = (np.array(NAMES)[random.integers(0, 3, 80)] for _ in range(2))
    said[said == "perhaps"] = "no"  # a class that is never assigned has no column
    crossed = pd.crosstab(truth, said)
    assert crossed.shape == (3, 2)
    found, rows = sy.assess_table(crossed), sy.assess(truth, said)
    assert found.classes == rows.classes
    np.testing.assert_array_equal(found.confusion(), rows.confusion())
    np.testing.assert_array_equal(
        sy.assess_table(pd.crosstab(said, truth), truth_in_rows=False, scale=sy.Scale(NAMES)).confusion(),
        rows.confusion(),
    )


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ([0, 0, 2, 2, 0, 2, 2], [0, 1, 2, 1, 2, 2, 0]),  # 1 is never true
        ([0, 1, 2, 1, 2, 2, 0], [0, 0, 2, 2, 0, 2, 2]),  # nor ever assigned
        ([0, 0, 2, 3, 3], [1, 2, 2, 2, 3]),  # neither side has all
        (list("aaccacc"), list("abcbcca")),
    ],
)
def test_a_class_that_one_side_lacks_keeps_its_place(truth: list[Any], said: list[Any]) -> None:
    """Where it came last, measures of ordered classes were those of another scale."""
    rows = sy.assess(truth, said)
    for found in (
        sy.assess_table(pd.crosstab(np.array(truth), np.array(said))),
        sy.assess_table(pd.crosstab(np.array(said), np.array(truth)), truth_in_rows=False),
    ):
        assert found.classes == rows.classes
        np.testing.assert_array_equal(found.confusion(), rows.confusion())
        assert found["weighted_kappa"].value == pytest.approx(rows["weighted_kappa"].value)
    named = sy.assess_table({"low": {"low": 3, "mid": 1, "high": 1}, "high": {"mid": 2, "high": 5}})
    assert named.classes == ("low", "mid", "high")


def test_other_names_for_the_same_classes() -> None:
    assert table(pd.DataFrame(COUNTS), classes=NAMES) == table(COUNTS, classes=NAMES)
    assert table(FRAME, classes=["a", "b", "c"]) == table(COUNTS, classes=["a", "b", "c"])
    assert table(pd.DataFrame(COUNTS)) == table(COUNTS)


def test_classes_that_the_table_lacks_are_empty() -> None:
    found = sy.assess_table({"no": {"no": 5, "yes": 1}, "yes": {"yes": 7}}, classes=["no", "perhaps", "yes"])
    np.testing.assert_array_equal(found.confusion(), [[5, 0, 1], [0, 0, 0], [0, 0, 7]])


@pytest.mark.parametrize(
    ("counts", "options", "why"),
    [
        (pd.crosstab([0, 1, 1], [0, 1, 0], margins=True), {}, "'All' is no class. Leave sums out"),
        ([[3, 1, 4], [2, 5, 7], [5, 6, 11]], {}, "the last row and the last column hold the sums of the others"),
        ({"a": {"a": 3, "b": 1, "Summe": 4}, "b": {"a": 2, "b": 5, "Summe": 7}}, {}, "column 'Summe' holds the sums"),
        ({"a": {"a": 3, "b": 1}, "b": {"a": 2, "b": 5}, "n": {"a": 5, "b": 6}}, {}, "row 'n' holds the sums"),
        ({"a": 3, "b": 4}, {}, "the table has no columns"),
        (pd.DataFrame([[1, 2], [3, 4]], ["a", "a"], ["a", "b"]), {}, "a class stands twice"),
        (
            pd.DataFrame([[1, 2], [3, 4]], ["a", "b"], ["b", "a"]),
            {"classes": ["x", "y"]},
            "the table is about 'a', 'b'",
        ),
        (FRAME, {"classes": ["x", "y"]}, "the table is about"),
        ({"D+": {"T+": 85, "T-": 15}, "D-": {"T+": 20, "T-": 180}}, {}, r"rows are 'D\+', 'D-'.* Name a class alike"),
        (COUNTS, {"scale": NAMES}, "scale is"),
        (pd.DataFrame([["x", "y"], ["z", "w"]], ["a", "b"], ["a", "b"]), {}, "does not hold numbers"),
        (FRAME.rename_axis("true").reset_index(), {}, r"column 'true' holds no counts.*set_index\('true'\)"),
        (FRAME.iloc[:2].rename_axis("true").reset_index(), {}, r"column 'true' holds no counts.*set_index\('true'\)"),
        ("counts.csv", {}, r"'counts.csv' is no table\. Read it first"),
        (pd.DataFrame([[1, -2], [3, 4]], ["a", "b"], ["a", "b"]), {}, "row 'a', column 'b' is -2"),
        (pd.DataFrame([[1, 2], [3, 4]], [1.5, 2.5], [1.5, 2.5]), {}, "cannot be a class label"),
        ({}, {}, "at least two classes"),
    ],
)
def test_tables_that_cannot_be_read(counts: Any, options: dict[str, Any], why: str) -> None:
    with pytest.raises(sy.SteelyardError, match=why):
        sy.assess_table(counts, **options)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("AUC", "auc"),
        ("Balanced Accuracy", "balanced_accuracy"),
        ("balanced-accuracy", "balanced_accuracy"),
        ("accuracy_score", "accuracy"),
        ("cohen_kappa_score", "kappa"),
        ("matthews_corrcoef", "mcc"),
        ("roc_auc_score", "auc"),
        ("brier_score_loss", "brier"),
        ("average_precision_score", "average_precision"),
        ("F1", "f1"),
        ("spherical_score", "spherical_score"),
        ("log_loss", "log_score"),
        ("FBeta(beta=0.5)", "fbeta"),
    ],
)
def test_names_that_others_use(name: str, meant: str) -> None:
    assert sy.find(name).name == meant


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(BadTable):
        sy.assess_table(np.zeros((2, 3)))


def test_counted_rows_are_classes_where_the_columns_are_numbers_too() -> None:
    truth, said = [0, 0, 0, 1, 1, 1], [1, 1, 1, 2, 2, 1]
    crossed = pd.crosstab(pd.Series(truth), pd.Series(said))
    for counts in (crossed, pd.DataFrame(crossed.to_numpy(), columns=[1, 2])):
        found = sy.assess_table(counts)
        assert found.classes == (0, 1, 2)
        assert found["error"].value == sy.assess(truth, said)["error"].value


def test_names_that_somebody_gave_are_not_taken_for_others() -> None:
    crossed = pd.crosstab(pd.Series(["high", "low", "low"]), pd.Series(["high", "low", "high"]))
    with pytest.raises(BadTable, match="not 'low', 'hi'"):
        sy.assess_table(crossed, classes=["low", "hi"], event="low")
    assert sy.assess_table(crossed, classes=["dry", "wet"]).classes == ("dry", "wet")


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([[0.4, 0.1], [0.1, 0.4]], "they add up to 1. Give counts: multiply them by the number of all rows"),
        ([[0.33, 0.33, 0], [0.33, 0, 0], [0, 0, 0]], "they add up to 1"),
        ([[0.9, 0.1], [0.2, 0.8]], "every row adds up to 1. Give counts: multiply each row by the number"),
        ([[1, 0, 0], [0, 0.67, 0.33], [0, 0, 0]], "every row adds up to 1"),
        (pd.DataFrame([[1, 0.3], [0, 0.7]], ["a", "b"], ["a", "b"]), "every column adds up to 1"),
    ],
)
def test_shares_are_no_counts(shares: Any, words: str) -> None:
    with pytest.raises(BadTable) as caught:
        sy.assess_table(shares)
    assert f"the cells are shares: {words}" in str(caught.value)


@pytest.mark.parametrize(
    "counts", [[[1, 0], [0, 1]], [[0, 1], [0, 0]], [[0.5, 0.1], [0.2, 0.9]], [[40.5, 9.5], [10, 40]]]
)
def test_few_rows_and_weighted_ones_are_no_shares(counts: Any) -> None:
    assert sy.assess_table(counts).n == pytest.approx(np.sum(counts))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[45.5, 4.5], [10.0, 40.0]], "they add up to 100"),
        ([[45, 5], [10, 40]], "they add up to 100"),
        ([[90, 10], [20, 80]], "every row adds up to 100"),
        ([[90.1, 9.9], [20.0, 80.0]], "every row adds up to 100"),
        ([[33.3, 33.3], [20.1, 13.4]], "they add up to 100"),
    ],
)
def test_whose_cells_look_like_per_cent_is_asked(cells: Any, words: str) -> None:
    """They pass for counts, as means over several tables of a hundred rows may be, but not without a word."""
    assert f"are the cells per cent? {words}" in str(sy.assess_table(cells))


def test_a_mark_between_thousands_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.csv").write_text('truth,a,b\na,"1,000",2\nb,3,4\n')
    assert main(["table", str(tmp_path / "table.csv")]) == 2
    assert "column 'a' holds '1,000'. Give numbers of rows, no mark between thousands" in capsys.readouterr().err


@pytest.mark.parametrize(("mark", "cell"), [(",", "1.234"), (";", "1,234")])
def test_whose_counts_look_like_thousands_is_asked(
    mark: str, cell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["truth", "a", "b"], ["a", cell, "30"], ["b", "22", "340"]
    (tmp_path / "table.csv").write_text("".join(f"{mark.join(line)}\n" for line in lines))
    assert main(["table", str(tmp_path / "table.csv"), "--json"]) == 0
    assert "is 1.234 a count of 1234?" in " ".join(json.loads(capsys.readouterr().out)["notes"])


@pytest.mark.parametrize("counts", [[[40.5, 9.5], [10, 40]], [[1.234, 3.25], [0, 2.5]], [[1.2345, 7], [0, 2.5]]])
def test_weights_are_not_taken_for_thousands(counts: Any) -> None:
    assert "a count of" not in str(sy.assess_table(counts))


@pytest.mark.parametrize("counts", [[[45, 5], [10, 41]], [[45.5, 4.5], [10.0, 41.0]]])
def test_counts_are_not_taken_for_per_cent(counts: Any) -> None:
    assert "per cent" not in str(sy.assess_table(counts))


def test_nobody_chose_the_order_of_classes_that_crosstab_sorted() -> None:
    """To weighted kappa, high < low < mid is another scale; rows are told so, and a table of them was not."""
    truth, said = ["low", "mid", "high", "low", "mid", "high"], ["low", "mid", "high", "mid", "mid", "mid"]
    found = sy.assess_table(pd.crosstab(pd.Series(truth), pd.Series(said)), measures=["weighted_kappa"])
    assert found["weighted_kappa"] == sy.assess(truth, said, measures=["weighted_kappa"])["weighted_kappa"]
    assert "classes in sorted order" in found["weighted_kappa"].note
    grades = pd.CategoricalDtype(["high", "low", "mid"], ordered=True)
    chosen = pd.crosstab(pd.Series(truth, dtype=grades), pd.Series(said, dtype=grades))
    named = pd.crosstab(pd.Series(truth), pd.Series(said)).loc[["low", "mid", "high"], ["low", "mid", "high"]]
    for counts in (chosen, named, {"a": {"a": 3, "b": 1, "c": 1}, "b": {"b": 3}, "c": {"c": 2}}):
        assert not sy.assess_table(counts, measures=["weighted_kappa"])["weighted_kappa"].note


@pytest.mark.parametrize(
    "counts", [[[5, 5], [3, 3]], [[4, 1, 5], [2, 3, 5], [0, 1, 1]], [[4, 2, 0], [1, 3, 1], [5, 5, 1]]]
)
def test_equal_counts_are_no_sums(counts: list[list[int]]) -> None:
    np.testing.assert_array_equal(sy.assess_table(counts).confusion(), counts)


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "published.csv").write_text("truth;1;2;3\n1;231;27;3\n2;32;54;5\n3;1;2;60\n")
    return str(tmp_path / "published.csv")


def test_the_command_weighs_a_table(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", file, "--event", "3", "--json", "-", "--require", "error < 0.2", "--quiet"]) == 0
    told, whole = json.loads(capsys.readouterr().out), sy.assess_table(COUNTS, classes=[1, 2, 3], event=3)
    assert told["confusion"] == COUNTS
    assert told["estimates"] == json.loads(json.dumps(whole.table().to_json()))


def test_the_command_takes_classes_in_order_and_the_other_way_round(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "costs.csv").write_text("class,1,2,3\n1,0,1,2\n2,1,0,1\n3,5,1,0\n")
    options = ["--scale", "3,2,1", "--predictions-in-rows", "--cost", str(tmp_path / "costs.csv"), "--measures", "cost"]
    assert main(["table", file, *options, "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["classes"] == [3, 2, 1]
    assert told["confusion"] == np.array(COUNTS).T[::-1, ::-1].tolist()
    assert told["estimates"][0]["value"] == pytest.approx((32 + 2 + 27 + 2 + 5 + 5 * 3) / 415)


@pytest.mark.parametrize(
    ("text", "classes", "counts"),
    [
        ("truth,a,b\na,50,3\nb,4,40\nc,5,6\n", ["a", "b", "c"], [[50, 3, 0], [4, 40, 0], [5, 6, 0]]),
        ("truth,0,1\n0,50,3\n1,4,40\n2,5,6\n", [0, 1, 2], [[50, 3, 0], [4, 40, 0], [5, 6, 0]]),
        ("truth,0,1,2\n0,50,3,1\n1,4,40,2\n", [0, 1, 2], [[50, 3, 1], [4, 40, 2], [0, 0, 0]]),
        ("truth,false,true\nfalse,50,3\ntrue,4,40\n", [False, True], [[50, 3], [4, 40]]),
    ],
)
def test_the_first_column_of_a_file_names_the_true_classes_however_many_there_are(
    text: str, classes: list[Any], counts: list[list[int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table.csv").write_text(text)
    assert main(["table", str(tmp_path / "table.csv"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["classes"], told["confusion"]) == (classes, counts)


def test_a_first_column_of_words_names_the_true_classes_however_many_there_are() -> None:
    found = sy.assess_table(pl.DataFrame({"truth": ["a", "b", "c"], "a": [50, 4, 5], "b": [3, 40, 6]}))
    assert found.classes == ("a", "b", "c")
    np.testing.assert_array_equal(found.confusion(), [[50, 3, 0], [4, 40, 0], [5, 6, 0]])


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("truth,a,b,n\na,3,1,4\nb,2,5,7\nn,5,6,11\n", (), "hold the sums"),
        ("truth,a,b\na,3,1\nb,2,5\n", ("--event", "c"), "'c' is not one of the classes"),
        ("truth,a,b,Total\na,3,1,4\nb,2,5,7\n", (), "'Total' is no class. Leave sums out"),
        ("truth,yes,no\nyes,3,1\nno,2,5\n", ("--scale", "No,Yes"), "the table is about 'yes', 'no', not 'No', 'Yes'"),
        ("truth,a,b\na,3,x\nb,2,5\n", (), "column 'b' holds 'x'. Give numbers of rows"),
        ("truth,a,b\na,75%,25%\nb,50%,50%\n", (), "column 'a' holds '75%'"),
        ("truth,a,b\na,3,\nb,2,5\n", (), "the count in row 'a', column 'b' is missing"),
        ("truth,a,b,\na,3,1,\nb,2,5,\n", (), "a column of counts has no name"),
        ("Table 2;;\ntruth;a;b\na;3;1\nb;2;5\n", (), "leave out titles"),
        ("truth,a,b\na,3,1\nb,2,5\n,,\n", (), "row 2 names no class"),
        ("truth,a,b\n", (), "One row and one column a class"),
    ],
)
def test_the_command_refuses_what_is_no_table(
    text: str, options: tuple[str, ...], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    assert main(["table", str(tmp_path / "bad.csv"), *options]) == 2
    assert why in capsys.readouterr().err

"""Rows that are taken out again where others were let go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import steelyard as sy
from steelyard.families.summed.products import Products

from .test_summed import ROWS, two_classes


@pytest.mark.parametrize("weight", [None, "times", "weight"])
def test_few_rows_are_taken_out_of_many(tmp_path: Path, weight: str | None) -> None:
    columns = two_classes(2 * ROWS)
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "weight": weight, "by": "site"}
    given |= {"weight_kind": "frequency"} if weight == "times" else {}
    given |= {"scale": sy.Scale(["no", "yes"], event="yes"), "measures": ["auc", "log_score", "calibration_error"]}
    table = pa.table(columns)
    days = [table.slice(start, size) for start, size in ((0, 400), (400, 500), (900, len(table) - 900))]
    for place, day in enumerate(days):
        parquet.write_table(day, tmp_path / f"{place}.parquet")
    few, some, many = (sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(3))
    expected = sy.assess(pa.concat_tables(days[1:]), **given)
    # Taken out of sums; of rows that are held, which are added to sums later; and before they were added.
    for left in (few + some + many - few, (few + some - few) + many, (some - few) + many + few):
        found = sy.assess_tally(left, measures=given["measures"])
        assert found.n == expected.n
        for label in (None, "north", "south"):
            ours, theirs = (each if label is None else each.slices[label] for each in (found, expected))
            assert ours["log_score"].value == pytest.approx(theirs["log_score"].value, rel=1e-9)
            assert ours["log_score"].se == pytest.approx(theirs["log_score"].se, rel=1e-6)
            assert ours["auc"].value == pytest.approx(theirs["auc"].value, abs=theirs["auc"].se / 10)


def test_rows_stay_held_where_others_are_taken_out(tmp_path: Path) -> None:
    table = pa.table(two_classes(1200))
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "scale": sy.Scale(["no", "yes"], event="yes")}
    for place, (start, size) in enumerate(((0, 400), (400, 500))):
        parquet.write_table(table.slice(start, size), tmp_path / f"{place}.parquet")
    first, second = (sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(2))
    left = sy.assess_tally(first + second - first)["auc"]
    assert left.value == pytest.approx(sy.assess(table.slice(400, 500), **given)["auc"].value, rel=1e-12)
    assert "for certain" not in left.note


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("extra", [{}, {"group": "batch"}])
def test_infinite_scores_make_no_noise(tmp_path: Path, extra: dict[str, Any]) -> None:
    columns = two_classes()
    columns["a"][:40] = 0.0
    parquet.write_table(pa.table(columns), tmp_path / "0.parquet")
    measures = ["log_score", "brier", "error"]
    found = sy.compare(str(tmp_path), {"a": "a", "b": "b"}, truth="truth", event="yes", measures=measures, **extra)
    assert found["a"]["log_score"].value == float("inf")
    assert found.differences("brier")["se"][0] > 0


def test_infinite_scores_can_be_taken_out_again(tmp_path: Path) -> None:
    columns = two_classes(2 * ROWS)
    columns["a"][:9] = np.where(columns["truth"][:9] == "yes", 0.0, 1.0)
    given: dict[str, Any] = {"truth": "truth", "membership": "a", "scale": sy.Scale(["no", "yes"], event="yes")}
    given["measures"] = ["log_score", "skill(score='log_score')", "brier"]
    for place in range(2):
        parquet.write_table(pa.table(columns).slice(ROWS * place, ROWS), tmp_path / f"{place}.parquet")
    first, second = (sy.assess(str(tmp_path / f"{place}.parquet"), **given).tally for place in range(2))
    both = sy.assess_tally(first + second, measures=given["measures"])
    assert both["log_score"].value == float("inf")
    assert both["log_score"].note == "infinite: 9 rows gave probability 0 to the true class"
    left = sy.assess_tally(first + second - first, measures=given["measures"])
    expected = sy.assess(str(tmp_path / "1.parquet"), **given)
    for name in given["measures"]:
        assert left[name].value == pytest.approx(expected[name].value, rel=1e-9)
        assert left[name].se == pytest.approx(expected[name].se, rel=1e-6)


@pytest.mark.parametrize("grouped", [{}, {"group": "person"}, {"group": "person", "weight": "weight", "by": "site"}])
def test_what_every_measure_keeps_can_be_saved(tmp_path: Path, grouped: dict[str, str]) -> None:
    random = np.random.default_rng(0)
    shares = random.dirichlet([1.0] * 3, 2 * ROWS)
    columns: dict[str, Any] = {
        f"{model}_{label}": shares[:, place] for model in "ab" for place, label in enumerate("xyz")
    }
    columns |= {"truth": random.choice(list("xyz"), 2 * ROWS), "person": random.integers(0, 60, 2 * ROWS)}
    columns |= {"weight": random.random(2 * ROWS) + 0.1, "site": random.choice(["north", "south"], 2 * ROWS)}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    asked = ["auc", "log_score", "brier", "skill", "calibration_error", "top_calibration_error", "partition_accuracy"]
    given: dict[str, Any] = {"truth": "truth", "measures": asked, **grouped}
    whole = sy.compare(str(tmp_path / "rows.parquet"), {"a": "a_*", "b": "b_*"}, **given)
    assert whole.tally.summaries is not None
    whole.tally.save(tmp_path / "rows.tally")
    back = sy.compare_tally(sy.Tally.load(tmp_path / "rows.tally"), measures=asked)
    assert back["a"].table()["value"] == pytest.approx(whole["a"].table()["value"], nan_ok=True)


@pytest.mark.parametrize("some", [slice(5, 6), slice(0, 1), slice(2, 5), slice(0, 8)])
def test_rows_that_stay_keep_their_weights(some: slice) -> None:
    """Intervals that know of skewness tell rows of weight 1 and 3 from two rows of weight 2."""
    truth, score = np.array([0, 1, 0, 1, 1, 0, 1, 0]), np.array([0.2, 0.8, 0.2, 0.8, 0.8, 0.3, 0.6, 0.7])
    weight, measure = np.array([0.5, 0.7, 3.0, 0.9, 4.0, 1.2, 1.1, 0.8]), "confidence(scaling='raw')"

    def counted(rows: slice) -> Any:
        return sy.assess(truth[rows], score[rows], weight=weight[rows], event=1, measures=[measure]).tally

    def told(tally: Any) -> list[float]:
        found = sy.assess_tally(tally, measures=[measure])[measure]
        return [found.value, found.se, found.low, found.high]

    whole, others = counted(slice(0, 8)), counted(some)
    assert told(whole + others - others) == pytest.approx(told(whole), rel=1e-9)
    if some.stop - some.start < 8:
        left = (
            counted(slice(0, some.start)) + counted(slice(some.stop, 8)) if some.start else counted(slice(some.stop, 8))
        )
        assert told(whole - others) == pytest.approx(told(left), rel=1e-9)
        assert told(others - whole + left + whole) == pytest.approx(told(whole), rel=1e-9)


def test_classifiers_that_agree_on_rows_that_were_summed_are_not_proven_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.passes.tally.MOST_ROWS", 150)
    random = np.random.default_rng(1)
    value = random.normal(size=900)
    said = np.where(value + 0.3 * random.normal(size=900) < 0, "low", "high")
    for part in range(3):
        columns = {"value": value, "one": said, "same": said}
        rows = {name: column[300 * part : 300 * (part + 1)] for name, column in columns.items()}
        parquet.write_table(pa.table(rows), tmp_path / f"{part}.parquet")
    options: dict[str, Any] = {
        "scale": sy.Continuum([0.0], classes=["low", "high"], sd=0.1),
        "measures": ["adjusted_error", "apparent_sqerr"],
    }
    held = sy.compare(value, {"one": said, "same": said.copy()}, **options)
    summed = sy.compare(tmp_path, {"one": "one", "same": "same"}, truth="value", engine="local", **options)
    assert summed.tally.summaries is not None
    for ours, theirs in zip(held.differences(), summed.differences(), strict=True):
        assert theirs["high"] == pytest.approx(ours["high"], rel=0.1), ours["measure"]
        assert theirs["low"] == -theirs["high"], ours["measure"]


def test_a_classifier_that_was_always_right_on_rows_that_were_summed_may_err_yet(tmp_path: Path) -> None:
    value = np.random.default_rng(0).normal(size=ROWS)
    options: dict[str, Any] = {"truth": "value", "assigned": "said", "sd_response": 0.2}
    options["scale"] = scale = sy.Continuum([-0.5, 0.5], classes=["a", "b", "c"], sd=0.2)
    columns = pa.table({"value": value, "said": np.array(scale.classes)[scale.cut(value)]})
    parquet.write_table(columns, tmp_path / "rows.parquet")
    right = ("apparent_sqerr", "adjusted_sqerr", "apparent_rmse")
    # Beside measures that go together, so that rounding has somewhere to go.
    options["measures"] = [*right, "adjusted_error", "label_error", "smoothed_sqerr", "true_error_low"]
    summed, held = sy.assess(tmp_path / "rows.parquet", **options), sy.assess(columns, **options)
    assert summed.tally.summaries is not None
    for name in right:
        assert summed[name].se == held[name].se == 0
        # The distance to the nearest boundary is that of a few rows.
        assert summed[name].high == pytest.approx(held[name].high, rel=0.1)
        assert summed[name].high > 0


def test_what_does_not_scatter_has_no_made_up_rows() -> None:
    influences = np.zeros((7, 50))
    influences[0] = np.random.default_rng(0).normal(size=50)
    influences[[2, 4, 6]] = influences[0] * np.array([[1.0], [-3.0], [0.7]])
    keys = tuple((0, str(place), None) for place in range(7))
    products = Products(keys, influences @ influences.T, None, 50.0)
    assert not products.factor[[1, 3, 5]].any()
    np.testing.assert_allclose(products.factor @ products.factor.T, products.sums * 50 / 49, atol=1e-12)


def test_where_no_label_can_be_right_rows_that_were_summed_say_so_too(tmp_path: Path) -> None:
    value = np.random.default_rng(0).normal(size=ROWS).clip(-5, 5)
    parquet.write_table(pa.table({"value": value, "said": np.where(value < 1, "low", "high")}), tmp_path / "0.parquet")
    scale = sy.Continuum([-9, 0, 9], ["low", "high"], sd=1e20)
    found = sy.assess(tmp_path, truth="value", assigned="said", scale=scale, measures=["adjusted_error"])
    assert found.tally.summaries is not None
    assert np.isnan(found["adjusted_error"].value)
    assert found["adjusted_error"].note == "there are no rows whose label may be right"

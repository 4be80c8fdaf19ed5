"""Curves over all thresholds: where they start and end, what they pass through, and how often their bands hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri

import steelyard as sy
from steelyard.errors import BadOption, EventNeeded, UnknownMeasure
from steelyard.ranking.curves import KINDS

TRUTH = ["up", "down", "up", "up", "down", "down"]
SCORE = [0.9, 0.8, 0.7, 0.7, 0.3, 0.2]


@pytest.fixture(scope="module")
def small() -> sy.Assessment:
    return sy.assess(TRUTH, SCORE, event="up")


def binormal(rows: int, seed: int, shift: float = 1.0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    event = random.random(rows) < 0.4
    return event, random.normal(size=rows) + shift * event


def test_every_curve_by_hand(small: sy.Assessment) -> None:
    expected = {
        "roc": {"fpr": [0, 0, 1 / 3, 1 / 3, 2 / 3, 1], "sensitivity": [0, 1 / 3, 1 / 3, 1, 1, 1]},
        "det": {"fpr": [0, 0, 1 / 3, 1 / 3, 2 / 3, 1], "fnr": [1, 2 / 3, 2 / 3, 0, 0, 0]},
        "precision_recall": {"recall": [1 / 3, 1 / 3, 1, 1, 1], "precision": [1, 1 / 2, 3 / 4, 3 / 5, 1 / 2]},
        "gain": {"share": [0, 1 / 6, 2 / 6, 4 / 6, 5 / 6, 1], "sensitivity": [0, 1 / 3, 1 / 3, 1, 1, 1]},
        "lift": {"share": [1 / 6, 2 / 6, 4 / 6, 5 / 6, 1], "lift": [2, 1, 1.5, 1.2, 1]},
    }
    assert set(expected) == set(KINDS)
    for kind, columns in expected.items():
        table = small.curve(kind, band="none")
        rows = len(next(iter(columns.values())))
        assert_allclose(table["threshold"], [np.inf, 0.9, 0.8, 0.7, 0.3, 0.2][-rows:])
        for name, values in columns.items():
            assert_allclose(table[name], values, err_msg=f"{kind} {name}")


def test_the_area_under_the_curve_is_the_auc(small: sy.Assessment) -> None:
    table = small.curve("roc", band="none")
    assert_allclose(np.trapezoid(table["sensitivity"], table["fpr"]), small["auc"].value)
    other = sy.assess(*binormal(500, 1), threshold=0.5)
    table = other.curve("roc", band="none")
    assert_allclose(np.trapezoid(table["sensitivity"], table["fpr"]), other["auc"].value)
    points = other.curve("precision_recall", band="none")
    steps = np.diff(points["recall"], prepend=0.0)
    assert_allclose(steps @ np.array(points["precision"]), other["average_precision"].value)


def test_weights_are_rows_that_repeat(small: sy.Assessment) -> None:
    weighted = sy.assess(TRUTH, SCORE, event="up", weight=[2, 1, 1, 3, 1, 1])
    again = sy.assess([*TRUTH, "up", "up", "up"], [*SCORE, 0.9, 0.7, 0.7], event="up")
    for kind in KINDS:
        left, right = weighted.curve(kind), again.curve(kind)
        for name in left.column_names:
            assert_allclose(left[name], right[name], err_msg=f"{kind} {name}")


@pytest.mark.parametrize("kind", ["roc", "precision_recall"])
def test_a_band_holds_its_curve_and_the_wider_one_the_other(kind: str) -> None:
    result = sy.assess(*binormal(300, 2), threshold=0.5)
    pointwise, simultaneous = (result.curve(kind, band=band) for band in ("pointwise", "simultaneous"))
    y = np.array(pointwise["sensitivity" if kind == "roc" else "precision"])
    for table in (pointwise, simultaneous):
        low, high = np.array(table["low"]), np.array(table["high"])
        assert (low <= y).all()
        assert (high >= y).all()
        assert low.min() >= 0
        assert high.max() <= 1
    narrow, wide = (np.subtract(table["high"], table["low"]).mean() for table in (pointwise, simultaneous))
    assert wide > 1.2 * narrow
    assert result.curve(kind)["low"] == pointwise["low"]  # the same seed, the same band


def test_bands_of_the_roc_curve_hold_the_truth() -> None:
    """The true curve of two normal scores is known. At some points the pointwise band holds it in about 95 %."""
    grid = np.array([0.05, 0.1, 0.2, 0.4, 0.6])
    true = ndtr(ndtri(grid) + 1.0)
    inside: list[Any] = []
    whole: list[Any] = []
    for seed in range(80):
        result = sy.assess(*binormal(250, seed), threshold=0.5)
        for band, found in (("pointwise", inside), ("simultaneous", whole)):
            table = result.curve("roc", band=band)  # type: ignore[arg-type]
            low, high = (np.interp(grid, table["fpr"], table[name]) for name in ("low", "high"))
            found.append((low <= true) & (true <= high))
    assert 0.89 < np.mean(inside) <= 0.99
    assert np.mean(np.all(whole, axis=1)) > 0.93


def test_a_perfect_curve_has_a_band_that_is_no_line() -> None:
    perfect = sy.assess(["no"] * 10 + ["yes"] * 10, list(np.linspace(0, 1, 20)), event="yes")
    table = perfect.curve("roc")
    assert min(low for low, up in zip(table["low"], table["sensitivity"], strict=True) if up == 1.0) < 0.95


def test_many_rows_have_a_band_too() -> None:
    result = sy.assess(*binormal(20_000, 3), threshold=0.5, measures=["auc"])
    table = result.curve("roc")
    assert len(table) == 20_001
    assert 0.005 < np.subtract(table["high"], table["low"])[5_000] < 0.05


def test_curves_of_what_has_none_are_refused() -> None:
    with pytest.raises(UnknownMeasure, match="no scores"):
        sy.assess(["a", "b"], ["a", "b"], event="a").curve()
    three = sy.assess(["a", "b", "c"], np.eye(3))
    with pytest.raises(EventNeeded):
        three.curve()
    assert len(three.curve("roc", "b")) == 3
    good = sy.assess(TRUTH, SCORE, event="up")
    with pytest.raises(BadOption, match="kind is 'calibration'"):
        good.curve("calibration")
    with pytest.raises(BadOption, match="band is 'wide'"):
        good.curve(band="wide")  # type: ignore[arg-type]


def test_one_class_alone_has_no_curve_to_speak_of() -> None:
    scale = sy.Scale(["no", "yes"], event="yes")
    table = sy.assess(["yes", "yes"], [0.2, 0.7], scale=scale).curve("roc")
    assert np.isnan(table["fpr"]).all()
    assert table["sensitivity"] == [0.0, 0.5, 1.0]


# --- pictures ---------------------------------------------------------------------------------------------------


def test_pictures_draw_what_the_tables_hold() -> None:
    import matplotlib.pyplot as plt

    truth, score = binormal(120, 4)
    shown = np.where(truth, "yes", "no")
    probability = 1 / (1 + np.exp(-score))
    result = sy.compare(shown, {"one": probability, "two": 1 - probability, "hard": shown}, event="yes")
    figure, axes = plt.subplots(2, 4)
    drawn = [
        result.plot.roc(ax=axes[0, 0]),
        result.plot.precision_recall(band="none", ax=axes[0, 1]),
        result.plot.det(ax=axes[0, 2]),
        result.plot.gain(ax=axes[0, 3]),
        result.plot.lift(ax=axes[1, 0]),
        result.plot.rejection(ax=axes[1, 1]),
        result["one"].plot.thresholds(["f1", "accuracy"], ax=axes[1, 2]),
    ]
    for display in drawn[:6]:
        assert set(display.frame()["model"]) == {"one", "two"}  # labels have no curve
    texts = [text.get_text() for text in axes[0, 0].get_legend().get_texts()]
    assert any("AUC" in text and text.startswith("one") for text in texts)
    assert drawn[0].frame()["sensitivity"][: len(truth)] == result["one"].curve("roc")["sensitivity"][: len(truth)]
    alone = result["one"].plot.roc()
    assert len(alone.frame()) == len(result["one"].curve("roc"))
    plt.close("all")
    assert figure is not None


def test_pictures_of_labels_and_of_several_thresholds_are_refused() -> None:
    hard = sy.assess(["a", "b"], ["a", "b"], event="a")
    with pytest.raises(BadOption, match="no classifier gave scores"):
        hard.plot.roc()
    both = sy.compare(TRUTH, {"x": SCORE, "y": SCORE}, event="up")
    with pytest.raises(BadOption, match="do not share a scale"):
        both.plot.thresholds()


def test_a_single_cluster_tells_as_much_as_a_single_row(tmp_path: Path) -> None:
    """Bands are as wide as can be, what must know of chance is undefined, and nothing fails."""
    found = sy.assess([0, 1, 1, 0, 1, 0], [0.1, 0.7, 0.8, 0.6, 0.2, 0.3], group=[7] * 6)
    curve = found.curve("roc")
    assert max(np.subtract(curve["high"], curve["low"])) > 0.9
    assert found.reliability()["low"][0] == 0
    assert found.calibration_test().p > 0.05
    assert np.isfinite(found.decomposition()["value"]).all()
    assert np.isnan(found["calibration_error"].value)
    assert "too few rows or clusters" in found["calibration_error"].note
    found.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_a_band_of_samples_that_all_agree_is_no_wider() -> None:
    found = sy.assess([1, 1, 0], [0.4] * 3, event=1, weight=[0.898, 0.107, 0.2456])
    band = found.curve("precision_recall", band="simultaneous")
    assert np.isfinite(band["low"]).all()
    assert np.isfinite(band["high"]).all()


def test_a_chosen_threshold_is_marked_on_the_score_that_it_is_of() -> None:
    import matplotlib.pyplot as plt

    truth, score = list("nnyynyyn"), [0.45, 0.2, 0.5, 0.9, 0.1, 0.55, 0.7, 0.3]
    found = sy.assess(truth, score, event="y", threshold="best:f1")
    assert found.decision is not None
    assert found.plot.thresholds().chosen == found.plot.thresholds(label="y").chosen == found.decision.threshold
    assert found.plot.thresholds(label="n").chosen is None
    plt.close("all")

"""Curves over all thresholds: where they start and end, what they pass through, and how often their bands hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri

import steelyard as sy
from steelyard.core.errors import BadOption, EventNeeded, OutsideUnitInterval, UnknownMeasure
from steelyard.results.curves import KINDS
from tests.effort import repeats

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
    weighted = sy.assess(TRUTH, SCORE, event="up", weight=[2, 1, 1, 3, 1, 1], weight_kind="frequency")
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


@pytest.mark.study
def test_bands_of_the_roc_curve_hold_the_truth() -> None:
    """The true curve of two normal scores is known. At some points the pointwise band holds it in about 95 %."""
    grid = np.array([0.05, 0.1, 0.2, 0.4, 0.6])
    true = ndtr(ndtri(grid) + 1.0)
    inside: list[Any] = []
    whole: list[Any] = []
    for seed in range(repeats(8, 80)):
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


# --- net benefit ----------------------------------------------------------------------------------------------


def calibrated(rows: int, seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    chance = random.beta(1.0, 2.0, rows)
    return (random.random(rows) < chance).astype(int), chance


@pytest.fixture(scope="module")
def forecasts() -> sy.Assessment:
    return sy.assess(*calibrated(300, 3), event=1)


def test_a_decision_curve_is_the_measure_at_every_threshold(forecasts: sy.Assessment) -> None:
    curve = forecasts.decision_curve()
    assert curve.column_names == ["threshold", "net_benefit", "all", "low", "high"]
    for place in (0, 10, 50, 99):
        found = forecasts[f"net_benefit(at={curve['threshold'][place]})"]
        row = [curve[name][place] for name in ("net_benefit", "low", "high")]
        assert row == pytest.approx([found.value, found.low, found.high])
    plain = forecasts.decision_curve(band="none")
    assert plain.column_names == ["threshold", "net_benefit", "all"]
    assert plain["net_benefit"] == curve["net_benefit"]


def test_net_benefit_is_made_of_the_counts_at_a_threshold(forecasts: sy.Assessment) -> None:
    curve = forecasts.decision_curve(band="none")
    for place in (5, 20, 60, 95):
        threshold = curve["threshold"][place]
        table = forecasts.at_threshold(threshold).confusion()
        hits, alarms = table[1, 1], table[0, 1]
        assert curve["net_benefit"][place] == pytest.approx((hits - alarms * threshold / (1 - threshold)) / 300)
        prevalence = table[1].sum() / 300
        everybody = prevalence - (1 - prevalence) * threshold / (1 - threshold)
        assert curve["all"][place] == pytest.approx(everybody)


def test_a_threshold_that_no_row_reaches_may_be_reached_by_others() -> None:
    """Hits and false alarms may each be as frequent as what was never seen in so many rows: about four of them."""
    truth, chance = [0, 1] * 50, [0.1, 0.3] * 50
    never = 1.9842**2 / (100 + 1.9842**2)  # by Student's t
    for at in (0.4, 0.5, 0.9):
        found = sy.assess(truth, chance, event=1)[f"net_benefit(at={at})"]
        assert found.value == 0
        assert [found.low, found.high] == pytest.approx([-never * at / (1 - at), never], rel=1e-4)
        assert found.method == "Wilson, added"
        resampled = sy.assess(truth, chance, event=1, method="bootstrap", replicates=20)[f"net_benefit(at={at})"]
        assert (resampled.low, resampled.high) == (found.low, found.high)
    three = sy.assess(list("abc") * 30, np.full((90, 3), 1 / 3), scale=sy.Scale(list("abc")))
    of_classes = [three["net_benefit", label] for label in "abc"]
    for average in ("macro", "weighted"):
        mean = three["net_benefit", average]
        assert [mean.low, mean.high] == pytest.approx([of_classes[0].low, of_classes[0].high])


def test_net_benefit_of_acting_on_all_rows_has_the_interval_of_the_prevalence(forecasts: sy.Assessment) -> None:
    share = forecasts["prevalence"]
    for at in (0.0, 0.0001):  # below all forecasts
        found, odds = forecasts[f"net_benefit(at={at})"], at / (1 - at)
        ends = [(1 + odds) * end - odds for end in (share.value, share.low, share.high)]
        assert [found.value, found.low, found.high] == pytest.approx(ends, rel=0.02)


@pytest.mark.parametrize(("hits", "alarms"), [(0.005, 0.02), (0.01, 0.01), (0.02, 0.005), (0.1, 0.03)])
@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_net_benefits_of_few_rows_are_covered(hits: float, alarms: float, at: float) -> None:
    """The delta method held the truth in 38 of 100 samples of the first of them."""
    odds, held = at / (1 - at), 0.0
    bounds: dict[tuple[int, int], sy.Estimate] = {}
    for true, false, _ in np.random.default_rng(1).multinomial(100, [hits, alarms, 1 - hits - alarms], 500).tolist():
        if (true, false) not in bounds:
            chance = np.where(np.arange(100) < true + false, 1.0, 0.0)
            truth = (np.arange(100) < true) | (np.arange(100) >= 70)
            bounds[true, false] = sy.assess(truth, chance, event=True)[f"net_benefit(at={at})"]
        found = bounds[true, false]
        held += found.low <= hits - odds * alarms <= found.high
    assert held / 500 > 0.92


def test_one_cluster_tells_nothing_about_net_benefit() -> None:
    found = sy.assess([0, 1] * 10, [0.2, 0.6] * 10, event=1, group=[1] * 20)
    for at, worst in ((0.0, 0.0), (0.5, -1.0), (0.8, -4.0)):
        assert [found[f"net_benefit(at={at})"].low, found[f"net_benefit(at={at})"].high] == pytest.approx([worst, 1.0])


def test_rows_of_single_precision_reach_their_threshold() -> None:
    truth, chance = [1, 0, 1, 0], np.array([0.7, 0.7, 0.9, 0.1])
    wide, narrow = (sy.assess(truth, each, event=1) for each in (chance, chance.astype(np.float32)))
    assert narrow["net_benefit(at=0.7)"].value == pytest.approx(wide["net_benefit(at=0.7)"].value)
    assert wide["net_benefit(at=0.7)"].value == pytest.approx((2 - 7 / 3) / 4)


@pytest.mark.study
def test_bands_that_hold_everywhere_are_wider_and_hold_as_often_as_they_say() -> None:
    _, chance = calibrated(400_000, 4)
    odds = np.arange(100) / 100 / (1 - np.arange(100) / 100)
    expected = [float(np.mean((chance >= t / 100) * (chance - (1 - chance) * odds[t]))) for t in range(100)]
    held = np.zeros(2)
    count = repeats(6, 60)
    for seed in range(count):
        one = sy.assess(*calibrated(400, 100 + seed), event=1)
        narrow, wide = one.decision_curve(), one.decision_curve(band="simultaneous")
        assert all(a <= b for a, b in zip(wide["low"], narrow["low"], strict=True))
        assert all(a >= b for a, b in zip(wide["high"], narrow["high"], strict=True))
        for place, curve in enumerate((narrow, wide)):
            low, high = np.array([curve["low"], curve["high"]])[:, :80]  # further up, few rows are left
            held[place] += bool(((low <= expected[:80]) & (expected[:80] <= high)).all())
    assert held[1] / count > 0.8 > held[0] / count


@pytest.mark.parametrize("truth", [[1], [0, 0, 0], [1, 1, 1]])
def test_bands_of_rows_that_do_not_scatter_are_those_of_single_thresholds(truth: list[int]) -> None:
    one = sy.assess(truth, [0.3] * len(truth), scale=sy.Scale([0, 1], event=1))
    narrow, wide = one.decision_curve(), one.decision_curve(band="simultaneous")
    for side in ("low", "high"):
        assert wide[side] == pytest.approx(narrow[side])


def test_rounding_does_not_decide_whether_a_threshold_is_reached() -> None:
    """1 - 0.91 is less than 0.09 by the last bits, and whoever acts from 0.09 on acts on it."""
    for percent in range(1, 100):
        at = percent / 100
        found = sy.assess([1, 0], [1 - at, 1 - at], scale=sy.Scale([0, 1], event=1), measures=[f"net_benefit(at={at})"])
        assert found[f"net_benefit(at={at})", 0].value == pytest.approx((1 - at / (1 - at)) / 2)
        both = np.array([[at, 1 - at]] * 2)
        found = sy.assess([1, 0], both, scale=sy.Scale([0, 1]), measures=[f"net_benefit(at={1 - at})"])
        assert found[f"net_benefit(at={1 - at})", 1].value == pytest.approx((1 - (1 - at) / at) / 2)


def test_decision_curves_of_classes_and_of_what_has_none() -> None:
    random = np.random.default_rng(5)
    shares = random.dirichlet([1, 1, 1], 200)
    found = sy.assess(np.array(list("abc"))[random.integers(0, 3, 200)], shares, scale=sy.Scale(list("abc")))
    assert found.decision_curve("c")["net_benefit"][30] == pytest.approx(found["net_benefit(at=0.3)", "c"].value)
    with pytest.raises(EventNeeded):
        found.decision_curve()
    with pytest.raises(BadOption, match="labels have one net benefit"):
        sy.assess([0, 1, 1], [0, 1, 0], event=1).decision_curve()
    with pytest.raises(OutsideUnitInterval):
        sy.assess([0, 1, 1], [-1.0, 2.0, 3.0], event=1, threshold=0.0).decision_curve()
    with pytest.raises(BadOption, match="band"):
        found.decision_curve("a", band="wide")  # type: ignore[arg-type]
    for at in (1, -0.1, "x", float("nan")):
        with pytest.raises(BadOption, match="at is"):
            sy.find("net_benefit", at=at)


def test_who_asks_for_it_elsewhere_is_told_where_it_is(forecasts: sy.Assessment) -> None:
    with pytest.raises(BadOption, match=r"decision_curve\(\)"):
        forecasts.thresholds(["net_benefit"])
    for name, place in {
        "calibration_slope": "calibration_line",
        "decision_curve": "decision_curve",
        "somers_d": "gini",
        "ks": "informedness",
        "quadratic_weighted_kappa": "weights='quadratic'",
        "nri": "net_benefit",
        "idi": "brier",
        "percent_agreement": "accuracy",
        "f1_macro": r"result\['f1', 'macro'\]",
        "recall[micro]": r"recall\[micro\] in --require",
        "auc_weighted": r"'auc', 'weighted'",
    }.items():
        with pytest.raises(UnknownMeasure, match=place):
            forecasts[name]
    for name in ("weighted_kappa(weights=quadratic)", "weighted_kappa(quadratic)"):  # quotes that a shell took
        with pytest.raises(UnknownMeasure, match=r"text in quotes: .*weighted_kappa\(weights='quadratic'\)"):
            sy.find(name)
    for name in ("auc_micro", "kappa_macro"):  # which nobody has
        with pytest.raises(UnknownMeasure, match="no measure") as found:
            sy.find(name)
        assert "average" not in str(found.value)

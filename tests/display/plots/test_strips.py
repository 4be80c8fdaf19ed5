"""Rows along a continuum: every row is drawn once, where it was measured, in the lane of the class assigned."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

import steelyard as sy
from steelyard.core.errors import BadOption, UnknownColumn
from steelyard.core.table import Table
from steelyard.display import plots
from steelyard.display.continuum_strip import LEAST, Strips, levels
from steelyard.maths.kernels import outside_probabilities
from tests.effort import in_turn

from .of_a_continuum import BOUNDARIES, HOSTILE, assert_readable, compared, figure_of, measured
from .test_displays import legend_texts

MARKS = Table({"assigned": ["a", "b"], "severity": ["right", "near"], "value": [0.0, 0.5], "level": [0, 0]})
ENDS = (-math.inf, 1.0, math.inf)
LONG = "the error of a classifier whose name is far too long to be shown as a whole"


def strips(rows: int, **more: Any) -> Strips:
    return Strips.of(compared(rows, **more).assessments)


def bars_of(axes: Axes) -> list[PolyCollection]:
    return [each for each in axes.collections if isinstance(each, PolyCollection)]


# --- what is drawn ----------------------------------------------------------------------------------------------


def test_every_row_is_a_mark_at_its_measured_value() -> None:
    comparison = compared(120, models=["lda", "qda"])
    value, _ = measured(120, 2)
    frame = comparison.plot.continuum().frame()
    assert frame.column_names == ["model", "assigned", "label", "severity", "value", "level"]
    assert frame["model"] == ["lda"] * 120 + ["qda"] * 120
    assert frame["value"] == [*value.tolist(), *value.tolist()]
    for name in comparison.models:
        rows = [row for row in frame if row["model"] == name]
        wrong = np.array([row["severity"] != "right" for row in rows])
        assert wrong.mean() == pytest.approx(comparison[name]["error"].value)
        ends = dict(zip(comparison[name].classes, [(-math.inf, 0.0), (0.0, 0.6), (0.6, math.inf)], strict=True))
        away = [
            max(ends[row["assigned"]][0] - row["value"], row["value"] - ends[row["assigned"]][1], 0) for row in rows
        ]
        assert np.mean(np.square(away)) == pytest.approx(comparison[name]["apparent_sqerr"].value)
        for row, distance, off in zip(rows, away, wrong, strict=True):
            steps = abs(comparison[name].classes.index(row["assigned"]) - comparison[name].classes.index(row["label"]))
            near = off and distance < 1.6448536269514722 * 0.5
            assert row["severity"] == ("near" if near else ["right", "next", "far"][steps])


def test_marks_stand_in_the_lane_of_their_class_and_touch_no_other() -> None:
    display = compared(120, models=["lda", "qda"]).plot.continuum()
    axes = display.plot()
    drawn = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert sum(len(np.asarray(line.get_xydata())) for line in drawn) == 240
    assert len({line.get_marker() for line in drawn}) == len(drawn) > 2
    places = dict(zip([text.get_text() for text in axes.get_yticklabels()][:3], axes.get_yticks()[:3], strict=True))
    assert list(places) == ["low", "mid", "high"] and sorted(places.values()) == list(places.values())
    points = {(float(x), float(y)) for line in drawn for x, y in np.asarray(line.get_xydata())}
    for row in [row for row in display.frame() if row["model"] == "lda"]:
        (y,) = [y for x, y in points if x == row["value"] and abs(y - places[row["assigned"]]) < 0.5]
        assert abs(y - places[row["assigned"]]) <= 0.45


def test_marks_on_one_level_are_apart() -> None:
    value = np.random.default_rng(2).normal(size=300)
    found = levels(value, 0.1, 50)
    for level in range(found.max() + 1):
        assert np.diff(np.sort(value[found == level])).min(initial=1.0) >= 0.1 - 1e-12
    assert (levels(np.zeros(5), 0.1, 3) == [0, 1, 2, 3, 3]).all(), "no more than there are levels"


def test_bars_count_all_rows() -> None:
    comparison = compared(5000, models=["lda", "qda"])
    frame = comparison.plot.continuum().frame()
    assert frame.column_names == ["model", "assigned", "severity", "from", "to", "rows", "foot", "top"]
    value, beliefs = measured(5000, 2)
    for name, belief in zip(comparison.models, beliefs, strict=True):
        rows, table = [row for row in frame if row["model"] == name], comparison[name].confusion()
        assert sum(row["rows"] for row in rows) == 5000
        for code, label in enumerate(comparison[name].classes):
            mine, inside = [row for row in rows if row["assigned"] == label], np.digitize(belief, [0.0, 0.6]) == code
            assert sum(row["rows"] for row in mine if row["severity"] == "right") == table[code, code]
            for row in mine:
                alike = [other["rows"] for other in mine if other["from"] == row["from"]]
                here = inside & (value >= row["from"]) & (value < row["to"])
                assert sum(alike) == here.sum()
                assert not any(row["from"] < boundary < row["to"] for boundary in (0.0, 0.6))
    assert max(frame["top"]) == 1.0 and min(frame["foot"]) == 0.0


def test_heights_are_roots_of_densities_and_a_single_row_is_seen() -> None:
    value = np.append(np.linspace(-1, 1, 200_000), 8.0)
    said = np.where(value < 0, "low", "high")
    said[-1] = "low"
    frame = sy.assess(value, said, scale=sy.Continuum([0.0], ["low", "high"])).plot.continuum().frame()
    (lone,) = [row for row in frame if row["severity"] == "next"]
    assert (lone["rows"], lone["from"] < 8.0 < lone["to"], lone["top"]) == (1.0, True, LEAST)
    dense = np.array([[row["rows"] / (row["to"] - row["from"]), row["top"]] for row in frame if row["top"] > LEAST])
    assert dense[:, 1] == pytest.approx(np.sqrt(dense[:, 0] / dense[:, 0].max()))


@pytest.mark.parametrize("step", [0.5, 1.1, 7.0])
def test_values_that_were_rounded_have_a_bar_each(step: float) -> None:
    source = np.random.default_rng(5)
    value = np.round(source.normal(0, 12, 20_000) / step) * step
    scale = sy.Continuum([-3 * step, 0.0, 5 * step], ["a", "b", "c", "d"], sd=1.0)
    said = np.array(scale.classes)[scale.cut(value + source.normal(0, 5, 20_000))]
    frame = sy.assess(value, said, scale=scale).plot.continuum().frame()
    for row in frame:
        assert len({one for one in value if row["from"] - 1e-6 <= one < row["to"] - 1e-6}) == 1
    assert sum(frame["rows"]) == 20_000


def test_a_value_far_off_does_not_make_bars_wide() -> None:
    value = np.append(np.random.default_rng(6).normal(size=5000), 60.0)
    frame = (
        sy.assess(value, np.where(value < 0, "a", "b"), scale=sy.Continuum([0.0], ["a", "b"])).plot.continuum().frame()
    )
    assert max(stop - start for start, stop in zip(frame["from"], frame["to"], strict=True)) < 0.6


def test_bars_are_drawn_as_the_table_says() -> None:
    display = compared(5000).plot.continuum()
    axes, table = display.plot(), display.strips["lda"]
    feet = {label: place for place, label in enumerate(display.classes)}
    expected = {severity: set[tuple[float, float]]() for severity in ("right", "near", "next", "far")}
    for row in table:
        for x in (row["from"], row["to"]):
            for y in (row["foot"], row["top"]):
                expected[row["severity"]].add((round(x, 6), round(feet[row["assigned"]] + 0.86 * y, 6)))
    for bars, corners in zip(bars_of(axes), expected.values(), strict=True):
        drawn = np.round(np.concatenate([np.asarray(path.vertices) for path in bars.get_paths()]), 6)
        assert {(float(x), float(y)) for x, y in drawn} == corners


def test_a_value_on_a_boundary_is_right_in_the_class_that_the_boundary_belongs_to() -> None:
    for closed, right in (("left", "high"), ("right", "low")):
        scale = sy.Continuum([1.0], ["low", "high"], closed=closed)  # type: ignore[arg-type]
        value, said = [0.0, 1.0, 1.0, 2.0], ["low", "low", "high", "high"]
        frame = sy.assess(value, said, scale=scale).plot.continuum().frame()
        assert [row["assigned"] for row in frame if row["value"] == 1.0 and row["severity"] == "right"] == [right]
        weighed = sy.assess(value, said, scale=scale, weight=[1.0, 2.5, 3.0, 1.0]).plot.continuum().frame()
        heavy = {(row["assigned"], row["severity"]): row["rows"] for row in weighed if row["rows"] > 1.0}
        assert heavy == {
            ("low", "right" if right == "low" else "next"): 2.5,
            ("high", "right" if right == "high" else "next"): 3.0,
        }


# --- how sure labels are ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sd", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_in_zones_labels_are_wrong_with_a_probability_above_five_percent(classes: int, sd: float) -> None:
    found = strips(200, classes=classes, sd=sd)
    zones = found.zones()
    places = np.linspace(*found.span, 1001)[1:-1]
    outside = outside_probabilities(places, np.full(len(places), sd), found.scale.boundaries)
    doubtful = outside.min(axis=1) > 0.05
    inside = np.zeros(len(places), dtype=bool)
    for low, high in zip(zones["from"], zones["to"], strict=True):
        inside |= (places > low) & (places < high)
    assert (doubtful == inside).all()
    assert all(low < high for low, high in zip(zones["from"], zones["to"], strict=True))
    assert all(stop < start for stop, start in zip(zones["to"], zones["from"][1:], strict=False))


@pytest.mark.parametrize("sd", [None, 0.0])
def test_without_measurement_error_nothing_is_uncertain(sd: float | None) -> None:
    display = compared(100, sd=sd).plot.continuum()
    assert not len(display.zones)
    assert set(display.frame()["severity"]) == {"right", "next", "far"}
    texts = legend_texts(display.plot())
    assert not any("label" in text or "sd" in text for text in texts)
    assert "wrong, one class off" in texts


def test_rows_with_deviations_of_their_own_share_zones_by_the_median() -> None:
    deviations = np.where(np.arange(101) < 51, 0.01, 0.6)
    display = compared(101, sd=deviations).plot.continuum()
    assert "P(label wrong) > 5 % (median sd 0.01)" in legend_texts(display.plot())
    assert display.zones["to"][0] - display.zones["from"][0] == pytest.approx(2 * 1.6448536 * 0.01)
    rows = display.frame()
    away = [abs(row["value"] - 0.6) for row in rows if row["assigned"] == "high" and row["severity"] == "near"]
    assert max(away) > 0.1, "near by the row's own deviation"


def test_the_legend_says_what_there_is_and_no_more() -> None:
    display = compared(100, classes=2).plot.continuum()
    texts = legend_texts(display.plot())
    assert texts[0] == "right" and "wrong by less than 1.64 sd" in texts and "wrong by more" in texts
    assert texts[-3:] == ["P(label wrong) > 5 % (sd 0.5)", "boundary of classes: 0.6", "interval of the assigned class"]
    exact = sy.assess([0.0, 2.0], ["low", "high"], scale=sy.Continuum([1.0], ["low", "high"])).plot.continuum()
    assert legend_texts(exact.plot()) == ["right", "boundary of classes: 1", "interval of the assigned class"]


def test_headings_hold_error_and_squared_error_with_intervals() -> None:
    comparison = compared(100, models=["lda", "qda"])
    axes = comparison.plot.continuum().plot()
    shown = [text.get_text() for text in axes.texts]
    for name in comparison.models:
        (heading,) = [text for text in shown if text.startswith(name)]
        for measure in ("error", "apparent_sqerr"):
            assert str(comparison[name][measure]) in heading
    assert shown.index("low") > 0, "classes stand above their intervals"
    few = compared(100, measures=["kappa", "label_error"])["lda"].plot.continuum()
    assert next(text.get_text() for text in few.plot().texts) == "lda"


# --- how it looks -----------------------------------------------------------------------------------------------


@pytest.mark.study
@pytest.mark.parametrize(("size", "rows"), in_turn([(2, 1), (3, 3), (5, 1), (3, 8)], [80, 3000]))
def test_names_are_readable(size: tuple[int, int], rows: int) -> None:
    classes, models = size
    axes = compared(rows, classes, [f"model {k}" for k in range(models)]).plot.continuum().plot()
    assert_readable(axes, [*axes.texts, *axes.get_yticklabels(), axes.xaxis.label, axes.yaxis.label])
    assert figure_of(axes).get_figheight() < 16


@pytest.mark.parametrize("names", [HOSTILE, [f"{LONG} {k}" for k in range(3)]])
def test_hostile_and_long_names_are_shown_as_they_are(names: list[str]) -> None:
    with matplotlib.rc_context({"text.usetex": True, "text.parse_math": False}):
        axes = compared(60, models=names, names=names).plot.continuum().plot()
    texts = [*axes.texts, *axes.get_yticklabels()]
    assert not any(text.get_usetex() for text in texts)
    assert_readable(axes, texts)
    if names is HOSTILE:
        assert next(text.get_text() for text in axes.get_yticklabels()) == r"\$\frac{1}{0\$"
        assert any(text.get_text().startswith(r" _hid\nden\x1b[31m: error") for text in axes.texts)


@pytest.mark.parametrize("layout", ["own", "constrained", None])
def test_headings_beside_long_names_of_classes_are_whole(layout: Any) -> None:
    names = ["lower than usual, by far", "in the middle of others", "higher than all of these"]
    given = None if layout == "own" else pyplot.subplots(figsize=(5, 5), layout=layout)[1]
    compared(20_000, models=["seven nearest neighbours by age"], names=names).plot.continuum(ax=given)
    axes = pyplot.gca()
    assert_readable(axes, axes.texts)


@pytest.mark.parametrize("layout", ["constrained", None])
def test_given_axes_hold_all_of_it(layout: Any) -> None:
    before = dict(matplotlib.rcParams)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5), layout=layout)
    display = compared(90, models=["lda", "qda"]).plot.continuum(ax=left)
    assert display.plot(right) is right
    assert_readable(left, [*left.texts, *left.get_yticklabels(), left.xaxis.label, left.yaxis.label])
    legend = left.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 <= left.get_window_extent().y0
    assert legend.get_window_extent().y0 >= -1
    assert figure.get_size_inches().tolist() == [12.0, 5.0]
    assert dict(matplotlib.rcParams) == before


def test_small_axes_have_bars_where_marks_would_be_too_small() -> None:
    _, axes = pyplot.subplots(3, 3)
    comparison = compared(90, models=["lda", "qda", "tree"])
    assert bars_of(axes[0, 0]) == [] and comparison.plot.continuum(ax=axes[0, 0]) and bars_of(axes[0, 0])
    assert not bars_of(comparison.plot.continuum().plot())


def test_a_million_rows_make_a_small_file() -> None:
    display = compared(1_000_000, 5).plot.continuum()
    file = io.BytesIO()
    figure_of(display.plot()).savefig(file, format="svg")
    assert len(file.getvalue()) < 400_000
    assert sum(display.frame()["rows"]) == 1_000_000
    assert len(display.frame()) < 5 * 4 * 130


# --- odd data ---------------------------------------------------------------------------------------------------


def test_one_class_and_one_value_are_enough() -> None:
    scale = sy.Continuum([1.0], ["low", "high"], sd=0.1)
    for value in ([0.5, 0.5, 0.5], [1.0, 1.0, 1.0]):
        display = sy.assess(value, ["low"] * 3, scale=scale).plot.continuum()
        low, high = display.span
        assert low < min(*value, 1.0) <= max(*value, 1.0) < high
        figure_of(display.plot())
        assert len(display.frame()) == 3


def test_ends_that_are_given_are_drawn_where_rows_are() -> None:
    scale = sy.Continuum([0.0, 65.0, 100.0], ["dry", "wet"], sd=2.0)
    axes = sy.assess([60.0, 64.0, 70.0], ["dry", "wet", "wet"], scale=scale).plot.continuum().plot()
    upright = {
        float(np.asarray(line.get_xdata())[0]) for line in axes.lines if np.ptp(np.asarray(line.get_xdata())) == 0
    }
    assert 65.0 in upright and not {0.0, 100.0} & upright


def test_parts_of_the_data_have_pictures_of_their_own() -> None:
    parts = np.where(np.arange(100) < 40, "a", "b")
    comparison = compared(100, by=parts)
    assert len(comparison.slices["a"].plot.continuum().frame()) == 40
    assert len(comparison["lda"].slices["b"].plot.continuum().frame()) == 60


def test_rows_of_unequal_weight_are_bars_of_what_they_weigh() -> None:
    weight = np.random.default_rng(3).uniform(1, 4, 100)
    comparison = compared(100, weight=weight)
    frame = comparison.plot.continuum().frame()
    assert sum(frame["rows"]) == pytest.approx(weight.sum())
    wrong = sum(row["rows"] for row in frame if row["severity"] != "right")
    assert wrong / weight.sum() == pytest.approx(comparison["lda"]["error"].value)


# --- what cannot be drawn ---------------------------------------------------------------------------------------


def test_classes_that_were_not_measured_have_no_continuum() -> None:
    plain = sy.assess(["a", "b"], ["a", "b"])
    with pytest.raises(BadOption, match=r"the truth was not measured\. Say where classes are cut: scale=Continuum"):
        plain.plot.continuum()
    few = compared(50, measures=["error"])
    assert few.plot.continuum() is not None
    counted = replace(few, tally=replace(few.tally, scores=None))
    with pytest.raises(BadOption, match=r"was not kept. Add 'apparent_sqerr' to measures=\[...\]"):
        counted.plot.continuum()


def test_tables_that_cannot_be_drawn_are_refused_at_once() -> None:
    display = plots.ContinuumDisplay({"lda": MARKS}, ["a", "b"], ENDS, (-1.0, 2.0))
    assert display.frame()["value"] == [0.0, 0.5]
    figure_of(display.plot())
    with pytest.raises(BadOption, match="no strip"):
        plots.ContinuumDisplay({}, ["a", "b"], ENDS, (-1.0, 2.0))
    with pytest.raises(BadOption, match="2 boundaries do not cut 2 classes"):
        plots.ContinuumDisplay({"lda": MARKS}, ["a", "b"], (0.0, 1.0), (-1.0, 2.0))
    with pytest.raises(UnknownColumn, match="'severity'"):
        plots.ContinuumDisplay({"lda": Table({"assigned": ["a"]})}, ["a", "b"], ENDS, (-1.0, 2.0))
    with pytest.raises(BadOption, match="labels are given for 'qda'"):
        plots.ContinuumDisplay({"lda": MARKS}, ["a", "b"], ENDS, (-1.0, 2.0), labels={"qda": "x"})


def test_boundaries_of_the_tests_are_those_of_the_scales() -> None:
    for classes, inner in BOUNDARIES.items():
        assert strips(50, classes=classes).scale.boundaries == (-math.inf, *inner, math.inf)

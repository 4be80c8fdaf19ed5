"""What is drawn is what stands in the tables."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.cbook import pts_to_prestep
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch

from steelyard import assess
from steelyard.core.errors import BadOption, EventNeeded, UnknownColumn
from steelyard.core.table import Table
from steelyard.display import plots

INFINITE, NAN = math.inf, math.nan
ROC = Table(
    {
        "threshold": [INFINITE, 0.8, 0.5, 0.1],
        "fpr": [0.0, 0.0, 0.25, 1.0],
        "sensitivity": [0.0, 0.5, 0.75, 1.0],
        "low": [0.0, 0.25, 0.5, 1.0],
        "high": [0.0, 0.75, 1.0, 1.0],
    }
)
MARK = Table(
    {"threshold": [0.5], "fpr": [0.25], "sensitivity": [0.75], "text": ["0.5"], "reached": [True], "note": [""]}
)
PRECISION_RECALL = Table(
    {
        "threshold": [INFINITE, 0.9, 0.6, 0.3],
        "recall": [0.0, 0.25, 0.5, 1.0],
        "precision": [NAN, 1.0, 0.5, 0.75],
    }
)
DET = Table({"threshold": [INFINITE, 0.8, 0.5, 0.1], "fpr": [0.0, 0.01, 0.25, 1.0], "fnr": [1.0, 0.5, 0.25, 0.0]})
GAIN = Table({"share": [0.0, 0.5, 1.0], "sensitivity": [0.0, 0.75, 1.0]})
LIFT = Table({"share": [0.0, 0.5, 1.0], "lift": [NAN, 1.5, 1.0]})
REJECTION = Table({"coverage": [0.25, 0.5, 1.0], "risk": [0.0, 0.1, 0.2], "low": [NAN] * 3, "high": [NAN] * 3})
BENEFIT = Table(
    {
        "threshold": [0.0, 0.25, 0.5, 0.75],
        "net_benefit": [0.3, 0.2, 0.1, 0.0],
        "all": [0.3, 0.0667, -0.4, -1.8],
        "low": [0.25, 0.15, 0.05, 0.0],
        "high": [0.35, 0.25, 0.15, 0.05],
    }
)
RELIABILITY = Table(
    {
        "forecast": [0.1, 0.3, 0.5, 0.9],
        "frequency": [0.0, 0.25, 0.25, 1.0],
        "rows": [4.0, 3.0, 2.0, 1.0],
        "low": [0.0, 0.125, 0.25, 0.75],
        "high": [0.25, 0.5, 0.75, 1.0],
    }
)
BARS = Table({"from": [0.0, 0.5], "to": [0.5, 1.0], "share": [0.75, 0.25]})
THRESHOLD = Table(
    {
        "threshold": [INFINITE, 0.9, 0.5, 0.1, -INFINITE],
        "sensitivity": [0.0, 0.25, 0.5, 0.75, 1.0],
        "sensitivity_low": [0.0, 0.125, 0.25, 0.5, 1.0],
        "sensitivity_high": [0.0, 0.5, 0.75, 1.0, 1.0],
        "kappa": [0.0, 0.1, 0.3, 0.2, 0.0],
    }
)
ALL: list[plots.Display] = [
    plots.RocDisplay({"a": ROC, "b": ROC}),
    plots.PrecisionRecallDisplay({"a": PRECISION_RECALL, "b": PRECISION_RECALL}, base=0.3),
    plots.DetDisplay({"a": DET, "b": DET}),
    plots.GainDisplay({"a": GAIN, "b": GAIN}),
    plots.LiftDisplay({"a": LIFT, "b": LIFT}),
    plots.RejectionDisplay({"a": REJECTION, "b": REJECTION}),
    plots.DecisionCurveDisplay({"a": BENEFIT, "b": BENEFIT}),
    plots.ThresholdDisplay({"a": THRESHOLD}, chosen=0.5),
    plots.ReliabilityDisplay({"a": RELIABILITY, "b": RELIABILITY}, bars={"a": BARS, "b": BARS}),
]


def named(display: plots.Display) -> str:
    return type(display).__name__


def pairs(array: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(array)]


def points(line: Line2D) -> list[tuple[float, float]]:
    return pairs(line.get_xydata())


def rows(table: Table, x: str, y: str) -> list[tuple[float, float]]:
    return list(zip(table[x], table[y], strict=True))


def drawn(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    return figure


def legend_of(axes: Axes) -> Legend:
    inside = axes.get_legend()
    (legend,) = drawn(axes).legends if inside is None else [inside]
    return legend


def legend_texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in legend_of(axes).get_texts()]


def many(count: int, names: Sequence[str] = ()) -> plots.RocDisplay:
    return plots.RocDisplay(dict.fromkeys(names or [f"model {index}" for index in range(count)], ROC))


@pytest.mark.parametrize("display", ALL, ids=named)
def test_every_display_draws_into_its_own_figure_or_into_given_axes(display: plots.Display) -> None:
    before = dict(matplotlib.rcParams)
    own = display.plot()
    drawn(own)
    figure, (left, right) = pyplot.subplots(1, 2)
    assert display.plot(right) is right
    assert display.plot(ax=right, band=False) is right
    drawn(right)
    assert not left.lines
    assert own.get_figure() is not figure
    assert dict(matplotlib.rcParams) == before
    assert own.get_xlabel() and own.get_ylabel()
    assert not own.spines["top"].get_visible()


@pytest.mark.parametrize("display", ALL, ids=named)
def test_frame_has_all_rows_with_the_name_before_them(display: plots.Display) -> None:
    table = next(iter(display.curves.values()))
    frame = display.frame()
    assert frame.column_names == ["model", *table.column_names]
    assert frame["model"] == [name for name in display.curves for _ in range(len(table))]
    assert frame[display.x] == table[display.x] * len(display.curves)


def test_a_column_that_only_one_table_has_is_undefined_for_the_others() -> None:
    frame = plots.GainDisplay({"a": GAIN, "b": Table({**GAIN.columns, "low": [0.0, 0.5, 1.0]})}).frame()
    assert frame.column_names == ["model", "share", "sensitivity", "low"]
    assert all(math.isnan(value) for value in frame["low"][:3])
    assert frame["low"][3:] == [0.0, 0.5, 1.0]


def test_roc() -> None:
    display = plots.RocDisplay(
        {"lda": ROC, "qda": ROC}, labels={"lda": "lda: AUC 0.912 [0.88, 0.94]"}, marks={"qda": MARK}
    )
    axes = display.plot()
    lda, qda, guessing, point = axes.lines
    assert points(lda) == points(qda) == rows(ROC, "fpr", "sensitivity")
    assert lda.get_drawstyle() == "default"
    assert (lda.get_color(), lda.get_linestyle()) != (qda.get_color(), qda.get_linestyle())
    assert points(guessing) == [(0.0, 0.0), (1.0, 1.0)]
    assert points(point) == [(0.25, 0.75)]
    assert (point.get_marker(), point.get_color()) == ("o", qda.get_color())
    assert axes.get_aspect() == 1.0
    assert legend_texts(axes) == ["lda: AUC 0.912 [0.88, 0.94]", "qda", "guessing"]


def test_bands_are_drawn_where_there_are_any_and_wanted() -> None:
    display = plots.RocDisplay({"a": ROC, "b": Table({name: ROC[name] for name in ("fpr", "sensitivity")})})
    axes = display.plot()
    (band,) = axes.collections
    corners = pairs(band.get_paths()[0].vertices)
    assert {*rows(ROC, "fpr", "low"), *rows(ROC, "fpr", "high")} <= set(corners)
    assert band.get_alpha() == 0.18
    assert not display.plot(band=False).collections
    assert not plots.RejectionDisplay({"a": REJECTION}).plot().collections


def test_an_infinite_or_missing_bound_leaves_a_gap_in_the_band() -> None:
    columns = {**REJECTION.columns, "low": [-INFINITE, 0.05, 0.1], "high": [INFINITE, 0.2, None]}
    columns |= {"coverage": [0.25, 0.5, 1.0], "risk": [0.1, 0.1, 0.2]}
    axes = plots.RejectionDisplay({"a": Table(columns)}).plot()
    drawn(axes)
    assert {(0.25, 0.1), (0.5, 0.1), (1.0, 0.2)} <= set(points(axes.lines[0]))
    assert axes.get_ylim()[1] < 1.0


@pytest.mark.parametrize("order", [1, -1])
def test_precision_holds_for_the_recall_to_the_left_of_its_point(order: int) -> None:
    table = Table({name: values[::order] for name, values in PRECISION_RECALL.columns.items()})
    axes = plots.PrecisionRecallDisplay({"lda": table}, base=0.25).plot()
    line, base = axes.lines
    assert points(line) == [(0.0, 1.0), (0.25, 1.0), (0.5, 0.5), (1.0, 0.75)]
    assert line.get_drawstyle() == "steps-pre"
    # The area below the corners that matplotlib makes of these points is the average precision.
    recall, precision = pts_to_prestep(*np.transpose(points(line)))
    assert np.trapezoid(precision, recall) == 0.25 * 1.0 + 0.25 * 0.5 + 0.5 * 0.75
    assert list(base.get_ydata()) == [0.25, 0.25]  # type: ignore[arg-type]
    assert legend_texts(axes) == ["lda", "prevalence 0.25"]


def test_the_band_of_precision_has_the_same_steps() -> None:
    columns = {**PRECISION_RECALL.columns, "low": [NAN, 0.875, 0.25, 0.5], "high": [NAN, 1.0, 0.75, 0.875]}
    (band,) = plots.PrecisionRecallDisplay({"lda": Table(columns)}).plot().collections
    assert {(0.0, 0.875), (0.25, 0.25), (0.5, 0.5), (0.5, 0.875)} <= set(pairs(band.get_paths()[0].vertices))


def test_precision_without_a_prevalence_has_no_line_for_it() -> None:
    assert len(plots.PrecisionRecallDisplay({"lda": PRECISION_RECALL}).plot().lines) == 1


def test_det_has_normal_deviate_axes_and_draws_what_is_infinitely_far_out_at_their_edges() -> None:
    axes = plots.DetDisplay({"lda": DET}).plot()
    figure = drawn(axes)
    assert set(rows(DET, "fpr", "fnr")) <= set(points(axes.lines[0]))
    assert " ".join(text.get_text() for text in axes.get_xticklabels()) == "0.1 1 5 10 20 40 60 80 95 99"
    assert axes.get_yticks().tolist() == [0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99]
    places = axes.transData.transform([(0.0, 1.0), (0.1, 0.1), (0.5, 0.5), (0.9, 0.9), (1.0, 0.0)])
    assert np.isfinite(places).all()
    assert places[0] == pytest.approx(axes.transAxes.transform((0.0, 1.0)))
    assert places[-1] == pytest.approx(axes.transAxes.transform((1.0, 0.0)))
    # The scale is symmetric about one half.
    assert places[3] - places[2] == pytest.approx(places[2] - places[1])
    assert figure.axes == [axes]


def test_gain_lift_and_rejection() -> None:
    gain, lift = plots.GainDisplay({"lda": GAIN}).plot(), plots.LiftDisplay({"lda": LIFT}).plot()
    rejection = plots.RejectionDisplay({"lda": REJECTION}).plot()
    assert [points(line) for line in gain.lines] == [rows(GAIN, "share", "sensitivity"), [(0.0, 0.0), (1.0, 1.0)]]
    assert {(0.0, 1.5), (0.5, 1.5), (1.0, 1.0)} <= set(points(lift.lines[0]))
    assert list(lift.lines[1].get_ydata()) == [1.0, 1.0]  # type: ignore[arg-type]
    (line,) = rejection.lines
    assert set(rows(REJECTION, "coverage", "risk")) <= set(points(line))


def test_risks_of_hardly_any_rows_do_not_hide_those_of_the_others() -> None:
    coverage = [0.01, 0.5, 1.0]
    few = Table({"coverage": coverage, "risk": [0.0, 0.02, 0.05], "low": [0.0] * 3, "high": [0.8, 0.04, 0.07]})
    assert 0.07 < plots.RejectionDisplay({"lda": few}).plot().get_ylim()[1] < 0.1
    assert plots.RejectionDisplay({"lda": few}).plot(band=False).get_ylim()[1] < 0.1
    none = Table({"coverage": coverage, "risk": [0.0] * 3})
    assert plots.RejectionDisplay({"lda": none}).plot().get_ylim()[1] > 0


def test_decision_curves() -> None:
    axes = plots.DecisionCurveDisplay({"lda": BENEFIT}).plot()
    curve, everybody, nobody = axes.lines
    assert points(curve) == rows(BENEFIT, "threshold", "net_benefit")
    assert points(everybody) == rows(BENEFIT, "threshold", "all")
    assert list(nobody.get_ydata()) == [0.0, 0.0]  # type: ignore[arg-type]
    assert legend_texts(axes) == ["lda", "act on all", "act on none"]
    low, high = axes.get_ylim()
    assert -0.1 < low < 0, "acting on all does not push the curve out of sight"
    assert 0.35 < high < 0.45


def test_the_legend_of_decision_curves_covers_none_of_them() -> None:
    at = [step / 100 for step in range(100)]
    everybody = [0.4 - 0.6 * x / (1 - x) for x in at]
    sharp = Table({"threshold": at, "net_benefit": [0.4 - 0.1 * x**4 for x in at], "all": everybody})
    axes = plots.DecisionCurveDisplay(dict.fromkeys(["lda", "qda", "knn"], sharp)).plot()
    drawn(axes)
    covered = legend_of(axes).get_window_extent()
    assert not any(covered.contains(*point) for point in axes.transData.transform(points(axes.lines[0])))


def test_a_decision_curve_by_which_nobody_gains_is_in_sight() -> None:
    loss = Table({"threshold": [0.0, 0.1, 0.2], "net_benefit": [0.0, -0.1, 0.0], "all": [0.0, -0.11, -0.25]})
    low, high = plots.DecisionCurveDisplay({"lda": loss}).plot().get_ylim()
    assert low < -0.1
    assert high > 0.1


def test_thresholds() -> None:
    display = plots.ThresholdDisplay({"_lda $": THRESHOLD}, chosen=0.4321, labels={"kappa": "Cohen's kappa"})
    axes = display.plot()
    drawn(axes)
    sensitivity, kappa, chosen = axes.lines
    assert points(sensitivity) == [(0.1, 0.75), (0.5, 0.5), (0.9, 0.25)]
    assert points(kappa) == [(0.1, 0.2), (0.5, 0.3), (0.9, 0.1)]
    assert list(chosen.get_xdata()) == [0.4321, 0.4321]  # type: ignore[arg-type]
    assert [text.get_text() for text in axes.texts] == ["chosen 0.4321"]
    assert len(axes.collections) == 1
    assert legend_texts(axes) == ["sensitivity", "Cohen's kappa"]
    assert axes.get_title(loc="left") == r" _lda \$"


def test_reliability() -> None:
    display = plots.ReliabilityDisplay(
        {"lda": RELIABILITY, "qda": RELIABILITY},
        labels={"lda": "lda: calibration error 0.100 [0.05, 0.15]"},
        bars={"lda": BARS, "qda": BARS},
    )
    axes = display.plot()
    drawn(axes)
    lda, qda, calibrated = axes.lines
    assert points(lda) == points(qda) == rows(RELIABILITY, "forecast", "frequency")
    assert (lda.get_color(), lda.get_linestyle()) != (qda.get_color(), qda.get_linestyle())
    assert points(calibrated) == [(0.0, 0.0), (1.0, 1.0)]
    assert len(axes.collections) == 2
    corners = pairs(axes.collections[0].get_paths()[0].vertices)
    assert {*rows(RELIABILITY, "forecast", "low"), *rows(RELIABILITY, "forecast", "high")} <= set(corners)
    assert legend_texts(axes) == ["lda: calibration error 0.100 [0.05, 0.15]", "qda", "calibrated"]
    assert not display.plot(band=False).collections


def stairs_of(axes: Axes) -> list[StepPatch]:
    """The bars above a reliability curve."""
    (above,) = axes.child_axes
    return [patch for patch in above.patches if isinstance(patch, StepPatch)]


def test_bars_above_a_reliability_curve_have_the_shares_of_the_table() -> None:
    curves = {"lda": RELIABILITY, "qda": RELIABILITY}
    axes = plots.ReliabilityDisplay(curves, bars={"lda": BARS, "qda": BARS}).plot()
    first, second = stairs_of(axes)
    for stairs in (first, second):
        values, edges, _ = stairs.get_data()
        assert (list(values), list(edges)) == ([0.75, 0.25], [0.0, 0.5, 1.0])
        assert not stairs.get_fill()
    assert first.get_edgecolor() != second.get_edgecolor()
    (alone,) = stairs_of(plots.ReliabilityDisplay(curves, bars={"qda": BARS}).plot())
    assert alone.get_fill()
    assert alone.get_facecolor()[:3] == second.get_edgecolor()[:3], "bars have the colour of their curve"
    assert not plots.ReliabilityDisplay(curves).plot().child_axes


@pytest.mark.parametrize("bars", [{"a": BARS}, {}])
def test_nothing_of_a_reliability_curve_is_cut_or_covers_another(bars: dict[str, Table]) -> None:
    axes = plots.ReliabilityDisplay({"a": RELIABILITY}, bars=bars).plot()
    figure = drawn(axes)
    whole = figure.bbox
    boxes = [axes.get_window_extent(), *[above.get_tightbbox() for above in axes.child_axes]]
    for box in boxes:
        assert box is not None
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1
        assert whole.y0 <= box.y0 and box.y1 <= whole.y1
    for above in axes.child_axes:
        assert above.get_window_extent().y0 >= axes.get_window_extent().y1
        assert above.get_xlim() == axes.get_xlim()


@pytest.mark.parametrize("chosen", [None, INFINITE, -INFINITE, NAN])
def test_a_chosen_threshold_that_has_no_place_is_not_drawn(chosen: float | None) -> None:
    axes = plots.ThresholdDisplay({"lda": THRESHOLD}, chosen=chosen).plot()
    assert len(axes.lines) == 2
    assert not axes.texts


def test_ten_classifiers_have_a_legend_outside_the_axes_and_inside_the_figure() -> None:
    display = many(10)
    axes = display.plot()
    figure = drawn(axes)
    assert legend_texts(axes) == [*display.curves, "guessing"]
    legend, frame = legend_of(axes).get_window_extent(), axes.get_window_extent()
    assert legend.y1 < frame.y0
    assert legend.y0 >= 0 and legend.x0 >= 0 and legend.x1 <= figure.bbox.width
    # The figure has grown, so that the legend takes nothing from the axes.
    assert figure.get_figheight() > 5.0 + legend.height / figure.dpi - 0.01
    assert frame.height > 0.75 * 5.0 * figure.dpi
    assert {round(band.get_alpha() or 0.0, 3) for band in axes.collections} == {0.072}


def test_a_legend_stays_inside_narrow_axes_that_were_given() -> None:
    _, given = pyplot.subplots(1, 3, figsize=(7, 2.4))
    names = ["logistic", "naive Bayes", "forest"]
    labels = {name: f"{name}: AUC 0.998 [0.987, 0.999]" for name in names}
    axes = plots.RocDisplay(dict.fromkeys(names, ROC), labels=labels).plot(given[0])
    drawn(axes)
    legend, frame = legend_of(axes).get_window_extent(), axes.get_window_extent()
    assert frame.x0 <= legend.x0 and legend.x1 <= frame.x1
    wide = plots.RocDisplay(dict.fromkeys(names, ROC), labels=labels).plot(pyplot.subplots(figsize=(6, 6))[1])
    assert legend_of(wide).get_texts()[0].get_fontsize() == 9.0


@pytest.mark.parametrize("layout", ["constrained", None])
def test_a_large_legend_in_given_axes_stays_inside_the_figure(layout: Any) -> None:
    figure, axes = pyplot.subplots(figsize=(6, 6), layout=layout)
    many(10).plot(axes)
    drawn(axes)
    legend = legend_of(axes).get_window_extent()
    assert (legend.y1 < axes.get_window_extent().y0) == (layout is not None)
    assert legend.y0 >= 0
    assert figure.get_size_inches().tolist() == [6.0, 6.0]


def test_hostile_names_are_shown_as_they_are() -> None:
    names = ["_hidden", "$\\frac{1}{0", "$x$ and $y$", "a\nb\x07", "x" * 200, ""]
    axes = many(0, names).plot()
    drawn(axes)
    assert legend_texts(axes) == [
        " _hidden",
        r"\$\frac{1}{0",
        r"\$x\$ and \$y\$",
        r"a\nb\x07",
        "x" * 26 + "…" + "x" * 13,
        "(no name)",
        "guessing",
    ]


def test_names_are_literal_whatever_the_users_settings_of_text() -> None:
    with matplotlib.rc_context({"text.usetex": True, "text.parse_math": False}):
        axes = many(0, ["50 % & $"]).plot()
    text = legend_of(axes).get_texts()[0]
    assert not text.get_usetex()
    assert text.get_parse_math()
    drawn(axes)


@pytest.mark.parametrize("kind", [plots.RocDisplay, plots.DetDisplay])
def test_a_million_points_become_a_few_thousand(kind: type[plots.Display]) -> None:
    share = np.linspace(0.0, 1.0, 1_000_000)
    table = Table({kind.x: share.tolist(), kind.y: np.sqrt(share).tolist()})
    line = points(kind({"lda": table}).plot().lines[0])
    assert 500 < len(line) < 2500
    assert (line[0], line[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert set(line) <= set(zip(table[kind.x], table[kind.y], strict=True))


def test_on_the_normal_deviate_scale_small_shares_keep_their_points() -> None:
    share = np.linspace(0.0, 1.0, 1_000_000)
    table = Table({"fpr": share.tolist(), "fnr": (1.0 - share).tolist()})
    line = points(plots.DetDisplay({"lda": table}).plot().lines[0])
    assert sum(0.0005 < fpr < 0.01 for fpr, _ in line) > 50


def test_a_table_without_rows_is_an_empty_line() -> None:
    empty = Table({"recall": [], "precision": []})
    axes = plots.PrecisionRecallDisplay({"lda": empty}).plot()
    drawn(axes)
    assert [points(line) for line in axes.lines] == [[]]
    assert legend_texts(axes) == ["lda"]


def test_what_cannot_be_drawn_is_refused_at_once() -> None:
    with pytest.raises(BadOption, match="no curve"):
        plots.RocDisplay({})
    with pytest.raises(BadOption, match="no curve"):
        plots.ThresholdDisplay({"lda": Table({"threshold": [0.5]})})
    with pytest.raises(BadOption, match="2 classifiers"):
        plots.ThresholdDisplay({"lda": THRESHOLD, "qda": THRESHOLD})
    with pytest.raises(UnknownColumn, match="'fpr'"):
        plots.RocDisplay({"lda": GAIN})
    with pytest.raises(BadOption, match="labels are given for 'ldaa'"):
        plots.RocDisplay({"lda": ROC}, labels={"ldaa": "x"})
    with pytest.raises(BadOption, match="bars are given for 'ldaa'"):
        plots.ReliabilityDisplay({"lda": RELIABILITY}, bars={"ldaa": BARS})
    with pytest.raises(UnknownColumn, match="'forecast'"):
        plots.ReliabilityDisplay({"lda": GAIN})
    with pytest.raises(BadOption, match="marks are given for 'ldaa'"):
        plots.RocDisplay({"lda": ROC}, marks={"ldaa": MARK})


def test_importing_and_making_a_display_loads_no_matplotlib() -> None:
    code = (
        "import sys; from steelyard import Table; from steelyard.display import plots;"
        "plots.RocDisplay({'a': Table({'fpr': [0], 'sensitivity': [0]})}).frame(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "steelyard.display.plots" in done.stdout.split()
    assert not any(name.split(".")[0] in {"matplotlib", "scipy"} for name in done.stdout.split())


def test_a_line_of_one_point_is_marked() -> None:
    axes = plots.RejectionDisplay({"sure": Table({"coverage": [1.0], "risk": [0.2]})}).plot()
    assert axes.lines[0].get_marker() == "o"
    axes = plots.RejectionDisplay({"unsure": Table({"coverage": [0.5, 1.0], "risk": [0.1, 0.2]})}).plot()
    assert axes.lines[0].get_marker() == "None"


def test_lift_holds_from_the_first_row_on() -> None:
    axes = plots.LiftDisplay({"tied": Table({"share": [0.4, 1.0], "lift": [1.8, 1.0]})}).plot()
    line = np.array(axes.lines[0].get_xydata())
    assert line[0].tolist() == [0.0, 1.8] and [0.4, 1.8] in line.tolist() and line[-1].tolist() == [1.0, 1.0]
    assert (line[:, 0] * line[:, 1] <= 1 + 1e-12).all()  # no more than all of the event can be found


def test_of_many_classes_one_is_drawn_and_the_message_names_the_argument() -> None:
    memberships = np.random.default_rng(1).dirichlet(np.ones(30), 300)
    many = assess(np.arange(300) % 30, memberships, measures=["auc"])
    for draw in (many.plot.roc, many.plot.reliability):
        with pytest.raises(EventNeeded, match="label=29 here"):
            draw()
        assert len(draw(label=29).curves) == 1
    few = assess(np.arange(300) % 3, memberships[:, :3] / memberships[:, :3].sum(axis=1)[:, None], measures=["auc"])
    assert len(few.plot.reliability().curves) == 3

"""Partition spaces: marks are where the library's numbers say, and everything can be read."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

import steelyard as sy
from steelyard.core.errors import BadOption, ChangedInput, OutsideUnitInterval, UnknownColumn
from steelyard.core.table import Table
from steelyard.display import plots
from steelyard.display.partition_panels import Panel, PartitionPanels
from steelyard.maths.simplex import coordinates
from steelyard.results.partition_spaces import space_of
from tests.effort import in_turn, repeats

from .of_a_continuum import HOSTILE, assert_readable, figure_of

LONG = "a class or a classifier whose name is far too long to be shown as a whole"


def said(rows: int, classes: int, seed: int = 1, strength: float = 1.4) -> tuple[Any, Any]:
    source = np.random.default_rng(seed)
    truth = source.integers(0, classes, rows)
    odds = np.exp(strength * np.eye(classes)[truth] + source.normal(size=(rows, classes)))
    return truth, odds / odds.sum(axis=1, keepdims=True)


def compared(
    rows: int, classes: int = 3, models: Sequence[str] = ("lda",), names: Sequence[Any] = (), **more: Any
) -> sy.Comparison:
    truth, first = said(rows, classes)
    labels = list(names) or [f"class {code}" for code in range(classes)]
    blurred = {name: (1 - k / 20) * first + k / 20 / classes for k, name in enumerate(models)}
    return sy.compare(np.array(labels, object)[truth], blurred, scale=sy.Scale(labels), **more)


def legend_of(axes: Axes) -> list[str]:
    figure = figure_of(axes)
    legends = [*figure.legends, *[each for each in [axes.get_legend()] if each is not None]]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


# --- what is drawn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", ["raw", "default", "literal", "klar"])
@pytest.mark.parametrize("classes", [3, 4])
def test_every_row_is_a_mark_at_its_scaled_memberships(classes: int, scaling: str) -> None:
    comparison = compared(90, classes, ["lda", "qda"])
    frame = comparison.plot.simplex(scaling).frame()
    more = ["z", "across", "up", "depth"] if classes == 4 else []
    assert frame.column_names == ["model", "truth", "assigned", "x", "y", *more]
    for name in comparison.models:
        space, rows = space_of(comparison[name], scaling), [row for row in frame if row["model"] == name]
        found = np.array([[row[axis] for axis in "xyz"[: classes - 1]] for row in rows])
        assert found == pytest.approx(coordinates(space.scaled), abs=1e-12)
        labels = np.array(comparison[name].classes, object)
        assert [row["truth"] for row in rows] == labels[space.truth].tolist()
        assert [row["assigned"] for row in rows] == labels[space.assigned].tolist()


def test_marks_are_drawn_where_the_table_says_and_wrong_ones_have_a_ring_a_gap_and_a_core() -> None:
    display = compared(90).plot.simplex()
    axes, frame = display.plot(), display.frame()
    lines = [line for line in axes.lines if line.get_linestyle() == "None" and len(np.asarray(line.get_xdata()))]
    drawn = [tuple(point) for line in lines for point in np.asarray(line.get_xydata()).tolist()]
    for row in frame:
        layers = 1 if row["truth"] == row["assigned"] else 3
        assert drawn.count((row["x"], row["y"])) == layers
    right = [line.get_color() for line in lines if line.get_zorder() < 3.03 and line.get_markeredgewidth() > 0]
    assert len(set(right)) == 3
    assert len({str(line.get_marker()) for line in lines}) == 3


def test_rows_on_a_segment_do_not_touch_and_true_classes_are_on_either_side() -> None:
    frame = compared(60, 2).plot.simplex().frame()
    points = np.array([frame["x"], frame["y"]]).T
    apart = np.abs(points[:, None] - points).max(axis=2) + np.eye(len(points))
    assert apart.min() >= 0.02 - 1e-12
    assert all((row["y"] > 0) == (row["truth"] == "class 0") for row in frame)
    many = compared(4000, 2).plot.simplex("raw").frame()
    assert many.column_names == ["model", "truth", "assigned", "from", "to", "rows", "foot", "top"]
    assert sum(many["rows"]) == 4000
    truth, memberships = said(4000, 2)
    low = sum(row["rows"] for row in many if row["truth"] == "class 0" and row["to"] < 0.3)
    edge = max(row["to"] for row in many if row["to"] < 0.3)
    assert low == ((truth == 0) & (memberships[:, 1] < edge)).sum()


def test_one_score_of_an_event_is_a_segment() -> None:
    truth, memberships = said(50, 2)
    one = sy.assess(truth, memberships[:, 1], event=1).plot.simplex("raw").frame()
    both = sy.assess(truth, memberships, scale=sy.Scale([0, 1])).plot.simplex("raw").frame()
    assert one["x"] == pytest.approx(memberships[:, 1].tolist()) and one["x"] == pytest.approx(both["x"])
    turned = sy.assess(truth, memberships[:, 0], event=0).plot.simplex("raw").frame()
    assert turned["x"] == pytest.approx(one["x"])


def test_lines_go_to_the_corners_that_the_measure_uses() -> None:
    comparison = compared(40)
    for column, words in (("truth", "accuracy"), ("assigned", "separation")):
        display = comparison.plot.simplex(lines=column)
        (panel,) = display.panels
        assert panel.lines["label"] == panel.marks[column]
        lengths = np.hypot(
            np.subtract(panel.lines["x"], panel.lines["to_x"]), np.subtract(panel.lines["y"], panel.lines["to_y"])
        )
        # The side of the triangle is 2 / sqrt(3), that of the simplex of memberships sqrt(2).
        value = 1 - lengths.mean() * np.sqrt(1.5) / np.sqrt(2 / 3)
        heading = next(text.get_text() for text in display.plot().texts if words in text.get_text())
        name = {"accuracy": "partition_accuracy"}.get(words, words)
        found = comparison["lda"][name]
        assert found.value == pytest.approx(value)
        assert heading == f"lda\n{words} {found}"
        assert comparison.plot.simplex(lines=words).panels[0].lines.columns == panel.lines.columns, "its former name"
    assert not len(comparison.plot.simplex().panels[0].lines)


def test_at_corners_stand_classes_with_precisions_and_their_intervals() -> None:
    comparison = compared(90, 3, ["lda", "qda"])
    texts = [text.get_text() for text in comparison.plot.simplex().plot().texts]
    for name in comparison.models:
        for label in comparison[name].classes:
            found = comparison[name]["precision", label]
            assert f"{label}\nCR {found.value:.3f}\n[{found.low:.3f}, {found.high:.3f}]" in texts


def test_a_class_that_is_never_assigned_has_no_rate() -> None:
    memberships = np.tile([0.5, 0.3, 0.2], (12, 1)) + np.linspace(0, 0.1, 12)[:, None] * [1, -1, 0]
    axes = sy.assess(np.arange(12) % 3, memberships, scale=sy.Scale([0, 1, 2])).plot.simplex().plot()
    assert {"1\nnever assigned", "2\nnever assigned"} <= {text.get_text() for text in axes.texts}


# --- many classes -----------------------------------------------------------------------------------------------


def test_of_many_classes_triples_are_drawn_with_what_rows_have_within_them() -> None:
    display = compared(200, 7).plot.simplex("raw")
    assert 2 <= len(display.panels) <= 6
    space = space_of(compared(200, 7)["lda"], "raw")
    frame = display.frame()
    assert frame.column_names == ["model", "corners", "truth", "assigned", "x", "y"]
    for panel in display.panels:
        codes = [int(str(label)[-1]) for label in panel.classes]
        here = np.isin(space.truth, codes) | np.isin(space.assigned, codes)
        inside = space.memberships[here][:, codes]
        expected = coordinates(inside / inside.sum(axis=1, keepdims=True))
        found = np.array([panel.marks["x"], panel.marks["y"]]).T
        assert found == pytest.approx(expected)
    axes = display.plot()
    assert any("shares within the three classes" in text.get_text() for text in axes.texts)
    assert "true class: another one" in legend_of(axes)


def test_all_classifiers_show_the_same_triples() -> None:
    panels = compared(200, 6, ["a", "b", "c"]).plot.simplex().panels
    by_model = [[panel.classes for panel in panels if panel.model == model] for model in "abc"]
    assert by_model[0] == by_model[1] == by_model[2] and len(panels) <= 6
    crowd = compared(60, 5, [f"model {k}" for k in range(8)]).plot.simplex().panels
    assert len(crowd) == 8


def test_rows_without_a_place_are_counted() -> None:
    memberships = np.eye(5)[[0, 1, 2, 3, 4, 0, 1]]
    display = sy.assess([0, 1, 2, 3, 4, 1, 4], memberships, scale=sy.Scale(range(5))).plot.simplex("raw")
    assert sum(len(panel.marks) + panel.left_out for panel in display.panels) >= 4
    assert [panel.left_out for panel in display.panels] == [0] * len(display.panels)
    lone = sy.assess([0, 0, 1, 2, 3], np.eye(5)[[3, 4, 1, 2, 3]], scale=sy.Scale(range(5))).plot.simplex("raw")
    assert all(len(panel.marks) for panel in lone.panels)


# --- many rows --------------------------------------------------------------------------------------------------


@pytest.mark.study
@pytest.mark.parametrize("classes", [2, 3, 4, 7])
def test_many_rows_make_a_small_file(classes: int) -> None:
    rows = repeats(40_000, 100_000)
    display = compared(rows, classes, ["lda", "qda"]).plot.simplex(lines="truth")
    file = io.BytesIO()
    axes = display.plot()
    figure_of(axes).savefig(file, format="svg")
    assert len(file.getvalue()) < 4_000_000
    assert [each for each in axes.collections if isinstance(each, PolyCollection)]
    if classes < 7:
        assert sum(display.frame()["rows"]) == 2 * rows


def test_weights_make_cells() -> None:
    weight = np.random.default_rng(3).uniform(1, 4, 100)
    for classes in (2, 3, 4):
        frame = compared(100, classes, weight=weight).plot.simplex().frame()
        assert sum(frame["rows"]) == pytest.approx(weight.sum())


# --- how it looks -----------------------------------------------------------------------------------------------


SIZES = [(60, 2, 2), (27, 3, 2), (500, 3, 3), (60, 4, 1), (60, 3, 11), (90, 7, 2)]


@pytest.mark.study
@pytest.mark.parametrize(("size", "lines"), in_turn(SIZES, [None, "truth"]))
def test_everything_can_be_read(size: tuple[int, int, int], lines: str | None) -> None:
    rows, classes, models = size
    axes = compared(rows, classes, [f"model {k}" for k in range(models)]).plot.simplex(lines=lines).plot()
    assert_readable(axes, axes.texts)
    figure = figure_of(axes)
    (legend,) = figure.legends
    lowest = min(text.get_window_extent().y0 for text in axes.texts)
    assert legend.get_window_extent().y1 <= lowest + 2
    assert figure.get_figheight() < 18


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("long", [False, True])
def test_hostile_and_long_names_are_shown_as_they_are(classes: int, long: bool) -> None:
    names = [f"{LONG} {k}" for k in range(4)] if long else [*HOSTILE, "{x}^_"]
    with matplotlib.rc_context({"text.usetex": True, "text.parse_math": False}):
        axes = compared(60, classes, names[:3], names[:classes]).plot.simplex(lines="assigned").plot()
    assert not any(text.get_usetex() for text in axes.texts)
    assert_readable(axes, axes.texts)
    if not long:
        assert any(text.get_text().startswith("\\$\\frac{1}{0\\$\nCR") for text in axes.texts)
        assert any(text.get_text().startswith(" _hid\\nden\\x1b[31m\nseparation") for text in axes.texts)


@pytest.mark.parametrize("layout", ["constrained", None])
def test_given_axes_hold_all_of_it(layout: Any) -> None:
    before = dict(matplotlib.rcParams)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 6), layout=layout)
    display = compared(90, 3, ["lda", "qda"]).plot.simplex(ax=left)
    assert display.plot(right) is right
    assert_readable(left, left.texts)
    legend = left.get_legend()
    assert legend is not None and legend.get_window_extent().y0 >= -1
    assert legend.get_window_extent().y1 <= left.get_window_extent().y0
    assert figure.get_size_inches().tolist() == [13.0, 6.0]
    assert dict(matplotlib.rcParams) == before


def test_the_legend_explains_what_is_drawn() -> None:
    axes = compared(40).plot.simplex(lines="assigned").plot()
    assert legend_of(axes) == [
        "true class: class 0",
        "true class: class 1",
        "true class: class 2",
        "ring: assigned class",
        "border of assigned classes",
        "border of second classes",
        "distance to the assigned class",
    ]
    assert "memberships as given" in [text.get_text() for text in compared(40).plot.simplex("raw").plot().texts]
    drawn: list[Any] = [each for each in axes.collections if isinstance(each, LineCollection)]
    assert sum(each.get_linestyle()[0][1] is not None for each in drawn) == 1, "only borders of second classes"


# --- what cannot be drawn ---------------------------------------------------------------------------------------


def test_labels_have_no_place_in_a_simplex() -> None:
    truth, memberships = said(30, 3)
    with pytest.raises(BadOption, match=r"no classifier gave scores\. Give scores or memberships"):
        sy.assess(truth, truth).plot.simplex()
    mixed = sy.compare(truth, {"labels": truth, "shares": memberships}, scale=sy.Scale([0, 1, 2])).plot.simplex()
    assert set(mixed.frame()["model"]) == {"shares"}


def test_scores_that_are_no_probabilities_are_refused_with_a_mend() -> None:
    with pytest.raises(OutsideUnitInterval, match="Make probabilities of them"):
        sy.assess([0, 1, 1], [-2.0, 3.5, 1.0], event=1, threshold=0.0).plot.simplex()


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("size", [(4.0, 5.0), (4.0, 3.5), (3.0, 6.0)])
def test_the_legend_stays_within_narrow_figures(classes: int, size: tuple[float, float]) -> None:
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    compared(60, classes, ["lda"]).plot.simplex(lines="truth", ax=axes)
    figure.canvas.draw()
    legend = axes.get_legend()
    assert legend is not None
    extent = legend.get_window_extent()
    assert extent.y0 >= -1
    assert extent.x0 >= -1
    assert extent.x1 <= figure.bbox.width


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scaling": "best"}, "scaling is 'best'. Say 'raw', 'default', 'literal' or 'klar'"),
        ({"depth": 0}, "depth is 0. Say a whole number from 1 to 2"),
        ({"depth": 3}, "depth is 3. Say a whole number from 1 to 2"),
        ({"depth": 1.5}, "depth is 1.5. Say a whole number from 1 to 2"),
        ({"lines": "true"}, "lines is 'true'. Say 'truth' or 'assigned', or leave it out"),
        ({"scaling": "klar", "depth": 2}, "klaR knows depth 1 only. Say depth=1"),
    ],
)
def test_wrong_options_are_refused_with_a_mend(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadOption, match=message):
        compared(30).plot.simplex(**options)


def test_scores_that_were_changed_are_refused() -> None:
    truth, memberships = said(400_000, 3)
    found = sy.assess(truth, memberships, measures=["error", "auc"])
    memberships[0] = memberships[0][::-1].copy()
    with pytest.raises(ChangedInput):
        found.plot.simplex()


def test_tables_that_cannot_be_drawn_are_refused_at_once() -> None:
    (panel,) = PartitionPanels.of(compared(20).assessments).panels()
    with pytest.raises(BadOption, match="no simplex"):
        plots.SimplexDisplay([])
    with pytest.raises(BadOption, match="labels are given for 'qda'"):
        plots.SimplexDisplay([panel], labels={"qda": "x"})
    bare = Panel("lda", panel.classes, Table({"truth": ["a"]}), panel.corners, panel.borders, panel.lines)
    with pytest.raises(UnknownColumn, match="'assigned'"):
        plots.SimplexDisplay([bare])
    (other,) = PartitionPanels.of(compared(20, 4).assessments).panels()
    with pytest.raises(BadOption, match="all as many"):
        plots.SimplexDisplay([panel, other])


def test_parts_of_the_data_have_pictures_of_their_own() -> None:
    parts = np.where(np.arange(100) < 40, "a", "b")
    comparison = compared(100, by=parts)
    assert len(comparison.slices["a"].plot.simplex().frame()) == 40

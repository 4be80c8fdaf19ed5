"""Estimates of the error: what is drawn and written is what the library computed."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import steelyard as sy
from steelyard.core.errors import BadOption, UnknownColumn, UnknownMeasure
from steelyard.core.table import Table
from steelyard.display import plots

from .of_a_continuum import HOSTILE, assert_readable, compared, figure_of, measured
from .test_displays import legend_texts

NAMES = ["part", "measure", "title", "value", "low", "high"]


def known(rows: int, models: list[str], **more: Any) -> sy.Comparison:
    """With all that can be known: the spread of the response, and a response model."""
    value, _ = measured(rows, len(models))
    return compared(rows, models=models, sd_response=0.3, response=(0.8 * value, np.full(rows, 0.4)), **more)


def marks(axes: Axes) -> list[tuple[float, float, Any]]:
    drawn = [line for line in axes.lines if line.get_linestyle() == "None"]
    return [(float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0]), line) for line in drawn]


def test_the_table_holds_the_numbers_of_the_library() -> None:
    comparison = known(200, ["lda", "qda"])
    frame = comparison.plot.error_bounds().frame()
    assert frame.column_names == ["model", *NAMES, "note"]
    by_part = {
        "estimate": ["error", "adjusted_error", "smoothed_error", "guarded_error"],
        "bound": ["true_error_low", "true_error_high"],
        "reference": ["label_error", "minimal_error", "model_minimal_error"],
    }
    for name in comparison.models:
        for part, measures in by_part.items():
            rows = [row for row in frame if row["model"] == name and row["part"] == part]
            assert [row["measure"] for row in rows] == measures
            for row in rows:
                found = comparison[name][row["measure"]]
                assert (row["value"], row["low"], row["high"]) == (found.value, found.low, found.high)
    guarded = [row for row in frame if row["measure"] == "guarded_error"]
    assert all(row["title"] == f"guarded error ({row['note'].partition(':')[0]})" for row in guarded)
    assert frame["title"][0] == "apparent error"


def test_estimates_lie_on_the_band_between_the_bounds() -> None:
    comparison = known(200, ["lda", "qda"])
    display = comparison.plot.error_bounds()
    axes = display.plot()
    estimates = [row for row in display.frame() if row["part"] == "estimate"]
    assert [x for x, _, _ in marks(axes)] == [row["value"] for row in estimates]
    assert [y for _, y, _ in marks(axes)] == [1, 2, 3, 4, 6, 7, 8, 9], "one line bears the name"
    ends = [np.asarray(line.get_xydata()) for line in axes.lines if line.get_linestyle() == "-"]
    assert [tuple(x for x, _ in pair) for pair in ends] == [(row["low"], row["high"]) for row in estimates]
    shapes = [line.get_marker() for _, _, line in marks(axes)]
    assert shapes[:4] == shapes[4:] and len(set(shapes)) == 4
    for name, inner, outer in zip(comparison.models, axes.collections[::2], axes.collections[1::2], strict=True):
        low, high = comparison[name]["true_error_low"], comparison[name]["true_error_high"]
        for band, reach in ((inner, (low.value, high.value)), (outer, (low.low, high.high))):
            corners = np.asarray(band.get_paths()[0].vertices)[:, 0]
            assert (corners.min(), corners.max()) == reach


def test_labels_and_lines_say_what_the_numbers_are() -> None:
    comparison = known(200, ["lda", "qda"])
    axes = comparison.plot.error_bounds().plot()
    texts = [text.get_text() for text in axes.get_yticklabels()]
    assert texts[0] == "lda" and texts[5] == "qda"
    assert texts[1] == f"apparent error  {comparison['lda']['error']}"
    legend = legend_texts(axes)
    assert legend[:2] == ["bounds of the true error", "intervals of these bounds"]
    assert legend[2] == f"label error {comparison['lda']['label_error']}"
    references = [line.get_xdata()[0] for line in axes.lines if str(line.get_label()) in legend]  # type: ignore[index]
    assert references == [comparison["qda"][f"{name}_error"].value for name in ("label", "minimal", "model_minimal")]
    assert axes.get_xlabel() == "error, with 95 % intervals"
    wide = known(60, ["lda"], level=0.9)["lda"].plot.error_bounds()
    assert wide.plot().get_xlabel() == "error, with 90 % intervals"


def test_only_what_is_known_is_drawn() -> None:
    comparison = compared(100)
    assert set(comparison.plot.error_bounds().frame()["measure"]) == {
        "error", "adjusted_error", "true_error_low", "true_error_high", "label_error",
    }  # fmt: skip
    few = known(100, ["lda"]).plot.error_bounds(["posterior_error", "model_error"])
    assert [row["measure"] for row in few.frame() if row["part"] == "estimate"] == ["posterior_error", "model_error"]
    assert known(100, ["lda"]).plot.error_bounds("error").frame()["part"].count("estimate") == 1


def test_what_is_not_known_is_missed_with_a_mend() -> None:
    with pytest.raises(UnknownMeasure, match=r"needs sd\. Give the standard deviation of the measurement error"):
        compared(50, sd=None).plot.error_bounds()
    with pytest.raises(UnknownMeasure, match=r"needs a truth that was measured\. Say where classes are cut"):
        sy.assess(["a", "b"], ["a", "b"]).plot.error_bounds()
    with pytest.raises(UnknownMeasure, match=r"posterior_error needs response\. Give response=fit_response"):
        compared(50).plot.error_bounds(["posterior_error"])
    with pytest.raises(UnknownMeasure, match="was not asked for"):
        compared(50, measures=["error", "adjusted_error"]).plot.error_bounds()


@pytest.mark.parametrize("names", [["lda"], HOSTILE, [f"model {k} with a name that is long" for k in range(8)]])
def test_names_are_readable(names: list[str]) -> None:
    with matplotlib.rc_context({"text.usetex": True}):
        axes = known(60, names).plot.error_bounds().plot()
    texts = axes.get_yticklabels()
    assert not any(text.get_usetex() for text in texts)
    assert_readable(axes, [*texts, axes.xaxis.label])
    if names is HOSTILE:
        assert texts[0].get_text() == r"\$\frac{1}{0\$"


@pytest.mark.parametrize("layout", ["constrained", None])
def test_given_axes_hold_all_of_it(layout: Any) -> None:
    figure, axes = pyplot.subplots(figsize=(8, 5), layout=layout)
    known(90, ["lda", "qda"]).plot.error_bounds(ax=axes)
    assert_readable(axes, [*axes.get_yticklabels(), axes.xaxis.label])
    legend = axes.get_legend()
    assert legend is not None
    assert 0 <= legend.get_window_extent().y0 < legend.get_window_extent().y1 <= axes.get_window_extent().y0
    assert figure.get_size_inches().tolist() == [8.0, 5.0]


def test_the_legend_below_low_axes_is_not_cut() -> None:
    _, axes = pyplot.subplots(figsize=(5, 3))
    known(90, ["lda", "qda"]).plot.error_bounds(ax=axes)
    figure_of(axes)
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y0 >= -1


def test_an_undefined_estimate_is_named_but_not_drawn() -> None:
    columns: dict[str, list[Any]] = {
        "part": ["estimate", "estimate", "bound", "bound"],
        "measure": ["a", "b", "c", "d"],
    }
    columns |= {"title": ["a", "b", "c", "d"], "value": [0.1, math.nan, 0.0, 0.3]}
    columns |= {"low": [0.0, math.nan, 0.0, 0.2], "high": [0.2, math.nan, 0.1, 0.4]}
    axes = plots.ErrorBoundsDisplay({"lda": Table(columns)}).plot()
    figure_of(axes)
    assert [x for x, _, _ in marks(axes)] == [0.1]
    assert len(axes.get_yticklabels()) == 3


def test_tables_that_cannot_be_drawn_are_refused_at_once() -> None:
    with pytest.raises(BadOption, match="no estimate"):
        plots.ErrorBoundsDisplay({})
    with pytest.raises(UnknownColumn, match="'measure'"):
        plots.ErrorBoundsDisplay({"lda": Table({"part": ["estimate"]})})

"""Classifiers by several measures: the order is that of the values, and nothing is lost on the way."""

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

from .of_a_continuum import HOSTILE, assert_readable, compared, figure_of

TRUTH = ["a", "a", "b", "b", "b", "a"]
SAID = {"all right": TRUTH, "all a": ["a"] * 6, "one off": ["a", "a", "b", "b", "a", "a"], "again": [*TRUTH]}


def texts_of(axes: Axes) -> list[Any]:
    """All that is written, and the names on the right."""
    right = [text for each in axes.child_axes for text in each.get_yticklabels()]
    return [*axes.get_xticklabels(), *axes.get_yticklabels(), *right, *axes.texts]


def test_the_table_holds_the_numbers_of_the_library_in_their_order() -> None:
    comparison = compared(150, models=["lda", "qda", "tree"])
    measures = ["error", "adjusted_error", "apparent_sqerr", "adjusted_sqerr"]
    frame = comparison.plot.ranking().frame()
    assert frame.column_names == ["model", "measure", "title", "better", "value", "low", "high", "rank", "place"]
    assert frame["measure"] == [name for name in measures for _ in range(3)]
    for row in frame:
        found = comparison[row["model"]][row["measure"]]
        assert (row["value"], row["low"], row["high"]) == (found.value, found.low, found.high)
    for measure in measures:
        rows = sorted((row for row in frame if row["measure"] == measure), key=lambda row: row["place"])
        assert [row["place"] for row in rows] == [1, 2, 3]
        assert [row["value"] for row in rows] == sorted(row["value"] for row in rows)
        assert rows[0]["model"] == comparison.best(measure)


def test_the_better_end_is_on_top_and_equal_values_have_equal_ranks() -> None:
    comparison = sy.compare(TRUTH, SAID, event="b")
    frame = comparison.plot.ranking(["error", "sensitivity"]).frame()
    error, sensitivity = (
        {row["model"]: row["rank"] for row in frame if row["measure"] == measure}
        for measure in ("error", "sensitivity")
    )
    assert error == {"all right": 1, "again": 1, "one off": 3, "all a": 4}
    assert sensitivity == {"all right": 1, "again": 1, "one off": 3, "all a": 4}
    assert sorted(row["place"] for row in frame if row["measure"] == "error") == [1, 2, 3, 4]


def test_what_is_undefined_comes_last_and_has_no_rank() -> None:
    comparison = sy.compare(TRUTH, SAID, event="b")
    frame = comparison.plot.ranking("precision").frame()
    (last,) = [row for row in frame if row["place"] == 4]
    assert (last["model"], last["rank"], math.isnan(last["value"])) == ("all a", None, True)
    assert [row["rank"] for row in frame if row["model"] != "all a"] == [1, 1, 1]
    axes = comparison.plot.ranking(["error", "precision"]).plot()
    assert "–" in [text.get_text() for text in axes.texts]
    assert "undefined" in [text.get_text() for text in axes.texts]


def test_the_usual_measures_are_those_that_were_computed() -> None:
    source = np.random.default_rng(1)
    truth = source.integers(0, 2, 60)
    score = source.uniform(size=60)
    scored = sy.compare(truth, {"a": score, "b": 1 - score}).plot.ranking()
    assert list(dict.fromkeys(scored.frame()["measure"])) == ["error", "auc", "log_score"]
    assert set(sy.compare(TRUTH, SAID).plot.ranking().frame()["measure"]) == {"error"}
    assert set(compared(60, models=["a", "b"], sd=None).plot.ranking().frame()["measure"]) == {
        "error",
        "apparent_sqerr",
    }
    twice = sy.compare(TRUTH, SAID).plot.ranking(["error", "misclassification_rate", "kappa"]).frame()
    assert list(dict.fromkeys(twice["measure"])) == ["error", "kappa"]


def test_lines_follow_the_places_and_keep_their_look() -> None:
    display = compared(150, 5, models=["lda", "qda", "tree"]).plot.ranking()
    axes, frame = display.plot(), display.frame()
    curves = axes.lines[:3]
    for line, name in zip(curves, ["lda", "qda", "tree"], strict=True):
        places = [row["place"] for row in frame if row["model"] == name]
        assert list(np.asarray(line.get_ydata())) == places and list(np.asarray(line.get_xdata())) == [0, 1, 2, 3]
    assert len({(line.get_color(), str(line.get_linestyle())) for line in curves}) == 3
    discs = axes.lines[3:]
    assert len(discs) == 12 and axes.yaxis.get_inverted()
    shown = [text.get_text() for text in axes.texts]
    for row in frame:
        assert str(row["rank"]) in shown
        assert any(text.startswith(f"{row['value']:.3f}\n[") for text in shown)
    heads = [text.get_text() for text in axes.get_xticklabels()]
    assert heads[0] == "apparent error\n(lower is better)"
    assert axes.get_xlabel() == "value and 95 % interval below each rank"


def test_names_stand_on_both_sides_where_they_end_up() -> None:
    comparison = sy.compare(["a", "b"] * 20, {"x": ["a"] * 40, "y": ["a", "b"] * 18 + ["b", "a"] * 2})
    display = plots.RankingDisplay(
        Table(
            {
                "model": ["x", "y", "x", "y"],
                "measure": ["error", "error", "kappa", "kappa"],
                "title": ["error", "error", "kappa", "kappa"],
                "better": ["lower", "lower", "higher", "higher"],
                "value": [0.1, 0.2, 0.3, 0.4],
                "low": [0.0] * 4,
                "high": [0.5] * 4,
                "rank": [1, 2, 2, 1],
                "place": [1, 2, 2, 1],
            }
        )
    )
    axes = display.plot()
    figure_of(axes)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["x", "y"]
    assert [text.get_text() for text in axes.child_axes[0].get_yticklabels()] == ["y", "x"]
    assert not comparison.plot.ranking("error").plot().child_axes


@pytest.mark.parametrize("names", [["lda", "qda"], HOSTILE, [f"model {k} with a name that is long" for k in range(8)]])
def test_names_are_readable(names: list[str]) -> None:
    with matplotlib.rc_context({"text.usetex": True}):
        axes = compared(60, models=names).plot.ranking().plot()
    texts = texts_of(axes)
    assert not any(text.get_usetex() for text in texts)
    assert_readable(axes, texts)
    if names is HOSTILE:
        assert r"\$\frac{1}{0\$" in [text.get_text() for text in texts]


def test_long_numbers_keep_to_their_columns() -> None:
    source = np.random.default_rng(1)
    truth, said = source.integers(0, 2, (2, 300_000))
    comparison = sy.compare(truth, {"a": said, "b": truth})
    _, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    comparison.plot.ranking(["error", "kappa", "f1", "mcc", "accuracy"], ax=axes)
    assert_readable(axes, texts_of(axes))


@pytest.mark.parametrize("layout", ["constrained", None])
def test_given_axes_hold_all_of_it(layout: Any) -> None:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5), layout=layout)
    display = compared(90, models=["linear discriminants", "quadratic ones"]).plot.ranking(ax=left)
    assert display.plot(right) is right
    assert_readable(left, [*texts_of(left), *texts_of(right), left.xaxis.label])
    assert figure.get_size_inches().tolist() == [12.0, 5.0]


def test_what_cannot_be_ranked_is_refused_with_a_mend() -> None:
    comparison = sy.compare(TRUTH, SAID)
    with pytest.raises(BadOption, match=r"a ranking needs two classifiers\. Compare at least two"):
        comparison["one off"].plot.ranking()
    with pytest.raises(BadOption, match=r"no value of prevalence is better than another\. Choose another measure"):
        comparison.plot.ranking(["prevalence"])
    with pytest.raises(BadOption, match=r"no measure to rank by\. Name at least one"):
        comparison.plot.ranking([])
    with pytest.raises(UnknownMeasure, match="erorr"):
        comparison.plot.ranking(["erorr"])
    with pytest.raises(UnknownMeasure, match=r"apparent_sqerr needs a truth that was measured\. Say where"):
        comparison.plot.ranking(["apparent_sqerr"])


def test_tables_that_cannot_be_drawn_are_refused_at_once() -> None:
    with pytest.raises(UnknownColumn, match="'measure'"):
        plots.RankingDisplay(Table({"model": []}))
    names = ["model", "measure", "title", "better", "value", "low", "high", "rank", "place"]
    with pytest.raises(BadOption, match="nothing to rank"):
        plots.RankingDisplay(Table({name: [] for name in names}))

"""Pictures of many data sets: what is drawn is what was found, and all of it can be read."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

import steelyard as sy
from steelyard.core.errors import BadOption, UnknownColumn
from steelyard.core.table import Table
from steelyard.display import plots

from .of_a_continuum import HOSTILE, assert_readable

LONG = [f"classifier {k} with a name that is far too long to be read" for k in range(20)]
BAR = "#0072b2"


def drawn(names: list[str], rows: int = 25, **more: Any) -> sy.AcrossDatasets:
    random = np.random.default_rng(3)
    values = random.normal(size=(rows, len(names))) + 1.5 * np.linspace(0, 1, len(names))
    return sy.across_datasets(values, names=names, better="lower", **more)


def texts_of(axes: Axes) -> list[Any]:
    """All that is written, on both sides."""
    right = [text for each in axes.child_axes for text in each.get_yticklabels()]
    return [*axes.get_xticklabels(), *axes.get_yticklabels(), *right, *axes.texts, axes.xaxis.label]


def bars_of(axes: Axes) -> list[tuple[float, float]]:
    lines = [line for line in axes.lines if to_hex(line.get_color()) == BAR and line.get_linestyle() == "-"]
    return [(float(ends.min()), float(ends.max())) for ends in (np.asarray(line.get_xdata()) for line in lines)]


@pytest.mark.parametrize("method", ["nemenyi", "wilcoxon"])
def test_bars_join_the_groups_and_stems_stand_at_the_mean_ranks(method: Any) -> None:
    found = drawn([f"m{k}" for k in range(7)])
    display = found.plot.critical_difference(method)
    axes, groups = display.plot(), found.groups(method)
    ranks = {number: [row["mean_rank"] for row in groups if row["group"] == number] for number in groups["group"]}
    assert len(ranks) > 1
    assert bars_of(axes) == [(min(each), max(each)) for each in ranks.values()]
    dots = [list(np.asarray(line.get_xdata())) for line in axes.lines if line.get_marker() == "o"]
    assert dots == list(ranks.values())
    stems = [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if len(np.asarray(line.get_xdata())) == 3]
    assert stems[:7] == found.ranks()["mean_rank"]
    frame = display.frame()
    assert frame["model"] == found.ranks()["model"] and frame["mean_rank"] == stems[:7]
    assert frame["groups"][0] == "1"


def test_the_critical_difference_is_drawn_where_it_has_room() -> None:
    found = drawn(["x", "y", "z", "w"])
    cd = found.nemenyi().critical_difference
    axes = found.plot.critical_difference().plot()
    (scale,) = [line for line in axes.lines if line.get_marker() == "|"]
    start, end = np.asarray(scale.get_xdata())
    assert end - start == pytest.approx(cd)
    assert (
        axes.texts[-1].get_text() == f"critical difference {cd:.2f}; joined: not told apart by Nemenyi's test at 95 %"
    )
    few = drawn(["x", "y", "z"], rows=2)
    assert few.nemenyi().critical_difference > 2
    assert not [line for line in few.plot.critical_difference().plot().lines if line.get_marker() == "|"]
    other = found.plot.critical_difference("wilcoxon").plot()
    assert not [line for line in other.lines if line.get_marker() == "|"]
    assert other.texts[-1].get_text() == "joined: not told apart by Wilcoxon's test with Holm's adjustment at 95 %"


def test_every_name_stands_once_beside_its_rank_with_the_better_half_on_the_left() -> None:
    found = drawn(["x", "y", "z"])
    axes = found.plot.critical_difference().plot()
    left = [text.get_text() for text in axes.get_yticklabels()]
    right = [text.get_text() for text in axes.child_axes[0].get_yticklabels()]
    assert [text.split()[0] for text in left] == found.ranks()["model"][:2]
    assert [text.split()[1] for text in right] == found.ranks()["model"][2:]
    assert left[0].split()[1] == f"{found.ranks()['mean_rank'][0]:.2f}"


@pytest.mark.parametrize("names", [["lda", "qda"], HOSTILE, LONG[:5], LONG])
@pytest.mark.parametrize("kind", ["nemenyi", "wilcoxon", "posterior"])
def test_names_are_readable(names: list[str], kind: str) -> None:
    found = drawn(names)
    with matplotlib.rc_context({"text.usetex": True}):
        if kind == "posterior":
            axes = found.plot.posterior(0.1, names[0], names[1], draws=100).plot()
        else:
            axes = found.plot.critical_difference(kind).plot()  # type: ignore[arg-type]
    texts = texts_of(axes)
    assert not any(text.get_usetex() for text in texts)
    assert_readable(axes, texts)
    if names is HOSTILE:
        assert any(r"\$\frac{1}{0\$" in text.get_text() for text in texts)


@pytest.mark.parametrize("layout", ["constrained", None])
def test_given_axes_hold_all_of_it(layout: Any) -> None:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(14, 5), layout=layout)
    found = drawn(["linear discriminants", "quadratic ones", "a tree", "neighbours"])
    found.plot.critical_difference(ax=left)
    assert found.plot.posterior(0.1, draws=100).plot(right) is right
    assert_readable(left, [*texts_of(left), *texts_of(right)])
    assert figure.get_size_inches().tolist() == [14.0, 5.0]


def test_the_parts_of_a_bar_are_the_probabilities() -> None:
    found = drawn(["x", "y", "z"])
    display = found.plot.posterior(0.2, draws=500)
    frame, axes = display.frame(), display.plot()
    assert frame.columns == found.bayesian(0.2, draws=500).columns
    widths = [[bar.get_width() for bar in part] for part in axes.containers]
    assert_allclose(widths, [frame["a_better"], frame["equivalent"], frame["b_better"]], atol=1e-12)
    starts = [[bar.get_x() for bar in part] for part in axes.containers]
    assert starts[1] == frame["a_better"]
    assert [text.get_text() for text in axes.get_yticklabels()] == frame["a"]
    assert len(found.plot.posterior(0, draws=50).plot().containers) == 2


def test_what_cannot_be_drawn_is_refused_at_once() -> None:
    ranks = Table({"model": ["x", "y"], "mean_rank": [1.2, 1.8]})
    with pytest.raises(UnknownColumn, match="'group'"):
        plots.CriticalDifferenceDisplay(ranks, Table({"model": []}))
    with pytest.raises(BadOption, match=r"groups are given for 'z', which is not drawn"):
        plots.CriticalDifferenceDisplay(ranks, Table({"group": [1], "model": ["z"], "mean_rank": [1.0]}))
    with pytest.raises(BadOption, match="nothing to rank"):
        plots.CriticalDifferenceDisplay(
            Table({"model": ["x"], "mean_rank": [1.0]}), Table({"group": [], "model": [], "mean_rank": []})
        )
    with pytest.raises(BadOption, match="no pair to draw"):
        plots.PosteriorDisplay(Table({name: [] for name in ("a", "b", "a_better", "equivalent", "b_better")}))
    with pytest.raises(BadOption, match="method is 'tukey'"):
        drawn(["x", "y"]).plot.critical_difference("tukey")  # type: ignore[arg-type]

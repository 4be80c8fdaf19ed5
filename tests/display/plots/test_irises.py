"""The picture of the irises shows the tables that it is given."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot

from steelyard.core.errors import BadOption, UnknownColumn
from steelyard.core.table import Table
from steelyard.display.plots.levels import IrisesDisplay

CURVE = Table({"k": [1, 2], "mean": [0.9, 0.8], "sd": [0.1, 0.2], "training": [1.0, 0.95], "r": [0.91, 0.79]})
COUNTS = Table({"k": [1, 1, 2], "accuracy": [0.85, 0.95, 0.8], "splits": [1, 3, 4]})


def test_points_bars_and_dots_lie_where_the_tables_say() -> None:
    display = IrisesDisplay(CURVE, COUNTS)
    axes = display.plot()
    dots, bars, beside = axes.collections
    assert np.asarray(dots.get_offsets()).tolist() == [[1, 0.85], [1, 0.95], [2, 0.8]]
    areas = np.asarray(dots.get_sizes())  # type: ignore[attr-defined]
    assert (areas / areas[0]).tolist() == pytest.approx([1, 3, 4])
    assert np.asarray(beside.get_offsets()).tolist() == [[1, 0.91], [2, 0.79]]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]  # type: ignore[attr-defined]
    assert ends == [pytest.approx([0.8, 1.0]), pytest.approx([0.6, 1.0])]
    heights = [np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()]
    assert CURVE["training"] in heights
    assert CURVE["mean"] in heights
    assert display.frame() is CURVE
    pyplot.close("all")


def test_where_nothing_stands_beside_nothing_is_drawn() -> None:
    _, ax = pyplot.subplots()
    alone = Table(CURVE.columns | {"r": [None, None]})
    assert IrisesDisplay(alone, COUNTS).plot(ax) is ax
    assert len(ax.collections) == 2
    pyplot.close("all")


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(BadOption):
        IrisesDisplay(Table({name: [] for name in CURVE.column_names}), COUNTS)
    with pytest.raises(UnknownColumn):
        IrisesDisplay(COUNTS, COUNTS)

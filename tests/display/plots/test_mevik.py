"""The figures of the simulation show the tables that they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from steelyard.core.table import Table
from steelyard.display.plots import levels as pictures
from steelyard.studies.designs import MEVIK
from steelyard.studies.mevik import (
    bias_curves,
    data_curves,
    deviation_curves,
    draw,
    high_truth,
    simulate,
    truth_curves,
)
from steelyard.studies.simulation import Simulation, averages

BIASES = {
    "one": Table({"sd": [0.0, 0.5], "bias": [0.1, -0.2], "low": [0.0, -0.3], "high": [0.2, -0.1]}),
    "other": Table({"sd": [0.0, 0.5], "bias": [0.3, 0.4], "low": [0.2, 0.3], "high": [0.4, 0.5]}),
}
BY_RESPONSE = {name: Table({"sd_response": [0.1, 0.9], "bias": [0.0, 1.0]}) for name in BIASES}
BY_TRUTH = {name: Table({"truth": [0.1, 0.2, 0.3], "bias": [0.0, 1.0, 3.0]}) for name in BIASES}


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate(MEVIK, 5, trials=500)


def heights(line: Line2D) -> list[float]:
    return [float(height) for height in np.asarray(line.get_ydata())]


def test_a_panel_shows_points_lines_and_bands() -> None:
    figure = pictures.data_biases({"pmc_min": BIASES, "sqerr_min": BIASES})
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["minimal error rate", "minimal squared error rate"]
    for axes in figure.axes:
        lines = [line for line in axes.get_lines() if line.get_label() in BIASES]
        assert [heights(line) for line in lines] == [table["bias"] for table in BIASES.values()]
        markers = [line for line in axes.get_lines() if line.get_marker() == "o"]
        assert [heights(line) for line in markers] == [table["bias"] for table in BIASES.values()]
        assert len(axes.collections) == len(BIASES)
        assert list(axes.get_xticks()) == [0.0, 0.5]


def test_curves_are_named_once_for_all_panels() -> None:
    figure = pictures.biases("pmc", BY_TRUTH, BIASES, BY_RESPONSE)
    assert [axes.get_legend() for axes in figure.axes] == [None] * 3
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "other"]


def test_the_highest_tenth_of_the_true_values_is_shaded() -> None:
    for high in (0.25, None):
        figure = pictures.biases("sqerr", BY_TRUTH, BIASES, BY_RESPONSE, high=high)
        spans = [[patch for patch in axes.patches if isinstance(patch, Rectangle)] for axes in figure.axes]
        assert list(map(len, spans)) == ([0] * 3 if high is None else [1, 0, 0])
        first = figure.axes[0]
        assert ("shaded: the highest 10%, above 0.25" in first.get_xlabel()) == (high is not None)
        if high is not None:
            (span,) = spans[0]
            assert span.get_x() == high
            assert span.get_x() + span.get_width() == pytest.approx(first.get_xlim()[1]), "up to the end of the axis"
            assert first.get_xlim()[1] > BY_TRUTH["one"]["truth"][-1]
            assert sum(np.array_equal(line.get_xdata(), [high, high]) for line in first.get_lines()) == 1
        pyplot.close(figure)


@pytest.mark.parametrize(("measure", "estimator"), [("pmc", "erc"), ("sqerr", "sqerc")])
def test_a_tenth_of_the_true_values_is_high(simulation: Simulation, measure: Any, estimator: str) -> None:
    truth = np.concatenate([series.truth for _, series in simulation.chosen(measure, estimator)])
    assert (truth > high_truth(simulation, measure)).mean() == pytest.approx(0.1, abs=1 / len(truth))


def test_deviations_start_at_0() -> None:
    tables = (
        {name: Table({by: [0.1, 0.2], "deviation": [3.0, 4.0]}) for name in BIASES} for by in ("sd", "sd_response")
    )
    figure = pictures.deviations("sqerr", *tables)
    assert [axes.get_ylim()[0] for axes in figure.axes] == [0.0, 0.0]


def test_all_figures_of_the_paper_are_written(simulation: Simulation, tmp_path: Path) -> None:
    paths = draw(simulation, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [f"mevik2003_figure{number}.png" for number in range(2, 8)]
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in paths)
    assert not pyplot.get_fignums()


def test_curves_hold_what_was_found(simulation: Simulation) -> None:
    curves = data_curves(simulation, "err_data")
    assert list(curves) == ["σ of the response 0.15", "σ of the response 0.3", "σ of the response 0.9"]
    rows = [row for row in simulation.table() if row["estimator"] == "err_data_hat" and row["sd_response"] == 0.3]
    assert curves["σ of the response 0.3"]["bias"] == [row["bias"] for row in rows]
    by_level = {(row["estimator"], row["sd"]): row for row in averages(simulation, "sqerr", "sd")}
    for curve in (bias_curves, deviation_curves):
        for estimator, table in curve(simulation, "sqerr", "sd").items():
            for row in table:
                name = "bias" if curve is bias_curves else "deviation"
                assert row[name] == by_level[estimator, row["sd"]][name]


def test_curves_by_truth_stay_where_true_values_are(simulation: Simulation) -> None:
    for table in truth_curves(simulation, "pmc").values():
        assert 0.04 < table["truth"][0] < table["truth"][-1] < 0.5

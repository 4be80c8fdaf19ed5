"""Figures 2 to 7 of Mevik (2003): biases and standard deviations of estimates of error rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...core.table import Table
from .display import Display, Line
from .style import LEGEND, MARKER, REFERENCE, TEXT_SIZE, Looks, Stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, Table]
WIDTH, HEIGHT = 4.2, 4.1
POINT: Looks = MARKER | {"markersize": 5.5}
SHADE: Looks = {"color": "0.5", "alpha": 0.12, "linewidth": 0.0, "zorder": 0.5}
TITLES = {
    "err_data": "data error rate",
    "sqerr_data": "data squared error rate",
    "pmc_min": "minimal error rate",
    "sqerr_min": "minimal squared error rate",
    "pmc": "error rate",
    "sqerr": "squared error rate",
}
OF_MEASUREMENTS, OF_RESPONSES = "σ of the measurement error", "σ of the response around f(x)"


@dataclass(frozen=True, eq=False, repr=False)
class LevelDisplay(Display):
    """What was found at some levels: points, as nothing was tried in between, with lines that guide the eye."""

    def _scale(self, axes: Axes) -> None:
        for table in self.curves.values():
            axes.set_xticks(table[self.x])

    def _draw(self, axes: Axes, line: Line, look: Stroke, alpha: float) -> None:
        super()._draw(axes, line, look, alpha)
        axes.plot(line.table[self.x], line.table[line.y], color=look.color, linestyle="none", **POINT)


@dataclass(frozen=True, eq=False, repr=False)
class BiasDisplay(LevelDisplay):
    """The bias of estimates, with its band, against the standard deviation of the measurements.

    The tables have the columns sd and bias, and may have low and high.
    """

    x = "sd"
    y = "bias"
    x_title = OF_MEASUREMENTS
    y_title = "bias"

    def _add_reference(self, axes: Axes) -> None:
        axes.axhline(0.0, **REFERENCE)


@dataclass(frozen=True, eq=False, repr=False)
class BiasByResponseDisplay(BiasDisplay):
    """The same against the standard deviation of the response: the column sd_response."""

    x = "sd_response"
    x_title = OF_RESPONSES


@dataclass(frozen=True, eq=False, repr=False)
class BiasByTruthDisplay(Display):
    """The same against what is true: the columns truth and bias.

    Attributes:
        high: Above which only a tenth of the true values lie: marked, since few values carry the curves there.
    """

    _: KW_ONLY
    high: float | None = None

    x = "truth"
    y = "bias"
    x_title = "true value"
    y_title = "bias"

    def _add_reference(self, axes: Axes) -> None:
        axes.axhline(0.0, **REFERENCE)
        if self.high is not None:
            end = axes.get_xlim()[1]
            axes.axvspan(self.high, end, **SHADE)
            axes.axvline(self.high, **REFERENCE)
            axes.set_xlim(right=end)
            axes.set_xlabel(f"{self.x_title} (shaded: the highest 10%, above {self.high:.2g})")


@dataclass(frozen=True, eq=False, repr=False)
class DeviationDisplay(LevelDisplay):
    """The standard deviation of estimates against that of the measurements: the columns sd and deviation."""

    x = "sd"
    y = "deviation"
    x_title = OF_MEASUREMENTS
    y_title = "standard deviation"

    def _add_reference(self, axes: Axes) -> None:
        axes.set_ylim(bottom=0.0)


@dataclass(frozen=True, eq=False, repr=False)
class DeviationByResponseDisplay(DeviationDisplay):
    """The same against the standard deviation of the response: the column sd_response."""

    x = "sd_response"
    x_title = OF_RESPONSES


def data_biases(curves: Mapping[str, Curves]) -> Figure:
    """Figures 2 and 3: the bias of estimates of some measures, a panel each."""
    return _panels({TITLES[measure]: BiasDisplay(each) for measure, each in curves.items()})


def biases(measure: str, by_truth: Curves, by_sd: Curves, by_response: Curves, *, high: float | None = None) -> Figure:
    """Figures 4 and 6: the bias of estimates against the truth and against both standard deviations.

    Above ``high`` only a tenth of the true values lie.
    """
    return _panels(
        {
            f"{TITLES[measure]}, by its true value": BiasByTruthDisplay(by_truth, high=high),
            "average by measurement error": BiasDisplay(by_sd),
            "average by spread of the response": BiasByResponseDisplay(by_response),
        }
    )


def deviations(measure: str, by_sd: Curves, by_response: Curves) -> Figure:
    """Figures 5 and 7: the standard deviation of estimates against both standard deviations."""
    return _panels(
        {
            f"{TITLES[measure]}, by measurement error": DeviationDisplay(by_sd),
            "by spread of the response": DeviationByResponseDisplay(by_response),
        }
    )


def _panels(displays: Mapping[str, Display]) -> Figure:
    """Pictures side by side under their titles. The curves are the same in all, and are named once below them."""
    from matplotlib import pyplot
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    size, layout = (WIDTH * len(displays), HEIGHT), ConstrainedLayoutEngine(w_pad=0.12)
    figure, places = pyplot.subplots(1, len(displays), figsize=size, layout=layout)
    for axes, (title, display) in zip(places, displays.items(), strict=True):
        display.plot(axes).set_title(title, loc="left", fontsize=TEXT_SIZE)
        axes.get_legend().remove()
    curves, names = places[0].get_legend_handles_labels()
    figure.legend(curves, names, loc="outside lower center", ncols=len(names), **LEGEND)
    return figure

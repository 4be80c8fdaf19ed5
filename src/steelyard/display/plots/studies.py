"""Pictures of the studies: figures 2 to 7 of Mevik (2003), and the accuracy of nearest neighbours over their number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...core.errors import BadOption
from ...core.table import Table
from .base import Display, Line, refuse_missing
from .style import (
    LEGEND,
    MARKER,
    REFERENCE,
    TEXT_SIZE,
    Looks,
    Stroke,
    add_legend,
    dress,
    literal_text,
    new_figure,
    stroke,
    text_colour,
)

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


# --- irises -------------------------------------------------------------------------------------------------------

SIZE = (6.8, 4.6)
LARGEST = 190.0  # points of area that the most frequent accuracy takes
DOT: Looks = {"linewidths": 0.0, "alpha": 0.3, "zorder": 2.0}
BARS: Looks = {"fmt": "o", "capsize": 3.5, "elinewidth": 1.4, "markersize": 5.0, "zorder": 3.0}
SEEN: Looks = {"marker": "s", "markersize": 3.5, "linewidth": 1.2, "zorder": 2.5}
BESIDE: Looks = {"marker": "D", "s": 70.0, "facecolors": "none", "linewidths": 1.4, "zorder": 4.0}


@dataclass(frozen=True, eq=False, repr=False)
class IrisesDisplay:
    """Means with bars of one standard deviation over splits, among dots for the splits themselves.

    Attributes:
        curve: A table with the columns k, mean, sd, training and r.
        counts: A table with the columns k, accuracy and splits: how often each accuracy came out.
    """

    curve: Table
    counts: Table

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not len(self.curve):
            raise BadOption("there is no number of neighbours to draw", mend="Give at least one")
        for table, columns in ((self.curve, ("k", "mean", "sd", "training", "r")), (self.counts, ("accuracy",))):
            refuse_missing(table, columns)

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.curve

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw into the given axes, or into a new figure."""
        with literal_text():
            own, axes = new_figure(SIZE) if ax is None else (None, ax)
            self._draw_held_out(axes)
            self._draw_beside(axes)
            axes.set(xlabel="k, the number of neighbours", ylabel="accuracy", xticks=self.curve["k"])
            dress(axes)
            add_legend(axes, "upper right", own)
        return axes

    def _draw_held_out(self, axes: Axes) -> None:
        color, most = stroke(0).color, max(self.counts["splits"])
        area = [LARGEST * count / most for count in self.counts["splits"]]
        label = "single splits, by how many they are"
        axes.scatter(self.counts["k"], self.counts["accuracy"], s=area, color=color, label=label, **DOT)
        k, mean, spread = (self.curve[name] for name in ("k", "mean", "sd"))
        axes.plot(k, mean, color=color, linewidth=1.4, zorder=2.9)
        axes.errorbar(k, mean, yerr=spread, color=color, label="held out: mean ± sd over splits", **BARS)

    def _draw_beside(self, axes: Axes) -> None:
        """What the same classifiers do in training, and what R found."""
        k, look = self.curve["k"], stroke(1)
        axes.plot(k, self.curve["training"], color=look.color, linestyle=look.linestyle, label="in training", **SEEN)
        if self.curve["r"][0] is not None:
            axes.scatter(k, self.curve["r"], edgecolors=text_colour(), label="mean over other splits, in R", **BESIDE)

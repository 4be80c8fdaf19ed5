"""Values at some levels of a parameter: of candidates in a search, of nearest neighbours, and of a simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import BadOption
from ...core.table import Table
from .base import Display, refuse_missing
from .style import (
    LEGEND,
    MARKER,
    REFERENCE,
    SMALL_SIZE,
    TEXT_SIZE,
    Looks,
    add_legend,
    canvas,
    dress,
    give_way,
    inches,
    legible,
    stroke,
    text_colour,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BARS: Looks = {"fmt": "o", "markersize": 5.0, "zorder": 3.0}
SEEN: Looks = {"marker": "s", "markersize": 3.5, "linewidth": 1.2, "zorder": 2.5}


def _draw_bars(
    axes: Axes,
    places: Sequence[Any],
    value: Sequence[float],
    spread: Sequence[float],
    training: Sequence[float],
    **bars: Any,
) -> None:
    """Values with bars on both sides of them, joined by lines, and beside them the values in training, if known."""
    color = stroke(0)["color"]
    axes.plot(places, value, color=color, linewidth=1.4, zorder=2.9)
    axes.errorbar(places, value, yerr=spread, color=color, **BARS, **bars)
    if not all(map(math.isnan, training)):
        axes.plot(places, training, label="in training", **stroke(1), **SEEN)


# --- tuning -------------------------------------------------------------------------------------------------------

TUNING = (6.4, 4.2)
CHOSEN: Looks = {"marker": "o", "s": 150.0, "facecolors": "none", "linewidths": 1.6, "zorder": 3.5}


@dataclass(frozen=True, eq=False, repr=False)
class TuningDisplay:
    """Values with bars of one standard error, over one parameter.

    Attributes:
        curve: The table, with a column of the parameter's values, and value, se, training and chosen.
        parameter: The name of that column.
        title: What the measure is called.
        limit: Where one standard error beyond the best value is; NaN where it plays no part.
    """

    curve: Table
    parameter: str
    _: KW_ONLY
    title: str
    limit: float = math.nan

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn now, not when it is drawn."""
        if not len(self.curve):
            raise BadOption("there is no candidate to draw", mend="Give at least one")
        refuse_missing(self.curve, (self.parameter, "value", "se", "training", "chosen"))

    def frame(self) -> Table:
        """The table behind the picture."""
        return self.curve

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve into the given axes, or into a new figure."""
        with canvas(ax, TUNING) as (own, axes), give_way(axes):
            self._draw(axes)
            dress(axes)
            add_legend(axes, "best", own)
        return axes

    def _draw(self, axes: Axes) -> None:
        places = self._places(axes)
        # Lines go from left to right, whatever the order in which values were tried.
        order = sorted(range(len(places)), key=places.__getitem__)
        places = [places[row] for row in order]
        value, se, training = ([self.curve[name][row] for row in order] for name in ("value", "se", "training"))
        bars: Looks = {"label": "held out, ± 1 standard error", "capsize": 3.0, "elinewidth": 1.2}
        _draw_bars(axes, places, value, se, training, **bars)
        if math.isfinite(self.limit):
            look: Looks = {"color": "0.5", "linestyle": (0, (2, 2)), "linewidth": 1.0, "zorder": 2.5}
            axes.axhline(self.limit, label="1 standard error from the best", **look)
        chosen = [place for place, row in enumerate(order) if self.curve["chosen"][row]]
        here, there = ([ones[place] for place in chosen] for ones in (places, value))
        axes.scatter(here, there, edgecolors=stroke(0)["color"], label="chosen", **CHOSEN)
        axes.set(xlabel=legible(self.parameter), ylabel=self.title)

    def _places(self, axes: Axes) -> list[Any]:
        """Numbers where they belong, on a scale of powers if they are; anything else one beside the other.

        An infinite one has no place among numbers.
        """
        values = self.curve[self.parameter]
        numbers = (isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        if all(numbers) and all(abs(value) < math.inf for value in values):
            spread = [value for value in values if value > 0]
            if len(spread) == len(values) and max(spread) > 50 * min(spread):
                axes.set_xscale("log")
            return list(values)
        words = [legible(value, 18) for value in values]
        crowded = sum(written(f"{word}  ", SMALL_SIZE) for word in words) > inches(axes)[0]
        slanted: Looks = {"rotation": 40.0, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
        axes.set_xticks(range(len(values)), words, **slanted)
        return list(range(len(values)))


# --- irises -------------------------------------------------------------------------------------------------------

IRISES = (6.8, 4.6)
LARGEST = 190.0  # points of area that the most frequent accuracy takes
DOT: Looks = {"linewidths": 0.0, "alpha": 0.3, "zorder": 2.0}
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
        with canvas(ax, IRISES) as (own, axes):
            self._draw(axes)
            axes.set(xlabel="k, the number of neighbours", ylabel="accuracy", xticks=self.curve["k"])
            dress(axes)
            add_legend(axes, "upper right", own)
        return axes

    def _draw(self, axes: Axes) -> None:
        """The splits, their means, what the same classifiers do in training, and what R found."""
        k, most = self.curve["k"], max(self.counts["splits"])
        area = [LARGEST * count / most for count in self.counts["splits"]]
        dots: Looks = {"color": stroke(0)["color"], "label": "single splits, by how many they are", **DOT}
        axes.scatter(self.counts["k"], self.counts["accuracy"], s=area, **dots)
        bars: Looks = {"label": "held out: mean ± sd over splits", "capsize": 3.5, "elinewidth": 1.4}
        _draw_bars(axes, k, self.curve["mean"], self.curve["sd"], self.curve["training"], **bars)
        if self.curve["r"][0] is not None:
            axes.scatter(k, self.curve["r"], edgecolors=text_colour(), label="mean over other splits, in R", **BESIDE)


# --- figures 2 to 7 of Mevik (2003) -------------------------------------------------------------------------------

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
AXES = {
    "sd": "σ of the measurement error",
    "sd_response": "σ of the response around f(x)",
    "truth": "true value",
    "bias": "bias",
    "deviation": "standard deviation",
}


@dataclass(frozen=True, eq=False, repr=False)
class SimulationDisplay(Display):
    """How far estimates are off, or how much they vary, with a band where the tables have one.

    At levels of a standard deviation there are points, as nothing was tried in between, and lines guide the eye.

    Attributes:
        x: The column of what they are drawn against: sd of the measurements, sd_response, or the truth itself.
        y: The column bias, or deviation.
        high: Above which only a tenth of the true values lie: marked, since few values carry the curves there.
    """

    x: str = "sd"
    y: str = "bias"
    high: float | None = None

    def _scale(self, axes: Axes) -> None:
        axes.set(xlabel=AXES[self.x], ylabel=AXES[self.y])
        for table in self.curves.values() if self.x != "truth" else ():
            axes.set_xticks(table[self.x])

    def _draw(self, axes: Axes, name: str, table: Table, look: Looks, alpha: float) -> None:
        super()._draw(axes, name, table, look, alpha)
        if self.x != "truth":
            axes.plot(table[self.x], table[self.y], **{**look, "linestyle": "none"}, **POINT)

    def _add_reference(self, axes: Axes) -> None:
        if self.y == "deviation":
            axes.set_ylim(bottom=0.0)
        else:
            axes.axhline(0.0, **REFERENCE)
        if self.high is not None:
            end = axes.get_xlim()[1]
            axes.axvspan(self.high, end, **SHADE)
            axes.axvline(self.high, **REFERENCE)
            axes.set_xlim(right=end)
            axes.set_xlabel(f"{AXES[self.x]} (shaded: the highest 10%, above {self.high:.2g})")


def data_biases(curves: Mapping[str, Curves]) -> Figure:
    """Figures 2 and 3: the bias of estimates of some measures, a panel each."""
    return _panels({TITLES[measure]: SimulationDisplay(each) for measure, each in curves.items()})


def biases(measure: str, by_truth: Curves, by_sd: Curves, by_response: Curves, *, high: float | None = None) -> Figure:
    """Figures 4 and 6: the bias of estimates against the truth and against both standard deviations.

    Above ``high`` only a tenth of the true values lie.
    """
    return _panels(
        {
            f"{TITLES[measure]}, by its true value": SimulationDisplay(by_truth, x="truth", high=high),
            "average by measurement error": SimulationDisplay(by_sd),
            "average by spread of the response": SimulationDisplay(by_response, x="sd_response"),
        }
    )


def deviations(measure: str, by_sd: Curves, by_response: Curves) -> Figure:
    """Figures 5 and 7: the standard deviation of estimates against both standard deviations."""
    return _panels(
        {
            f"{TITLES[measure]}, by measurement error": SimulationDisplay(by_sd, y="deviation"),
            "by spread of the response": SimulationDisplay(by_response, x="sd_response", y="deviation"),
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
